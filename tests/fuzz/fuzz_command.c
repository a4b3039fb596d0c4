/* Commands of those who look on, on the stack of a thread that serves one. */
#include "fuzz.h"

#include "../../app/view/line.h"
#include "../../app/view/view.h"

#include <pthread.h>

typedef struct {
    const uint8_t *data;
    size_t size;
} input;

static void *parse(void *data) {
    const input *in = data;
    view_command command;
    char reason[128];
    const view_parsed parsed = view_command_parse((const char *)in->data, in->size, &command, reason);
    check(memchr(reason, 0, sizeof reason) && (parsed == VIEW_PARSED) == !reason[0]);
    if (parsed == VIEW_PARSED) {
        check(command.what < VIEW_DO_COUNT && memchr(command.name, 0, sizeof command.name));
        for (int d = 0; d < 3; d++)
            check(isfinite(command.vector[d]));
    }
    return NULL;
}

void fuzz_one(const uint8_t *data, size_t size) {
    pthread_t thread;
    input in = {data, size};
    check(line_start_thread(&thread, parse, &in));
    pthread_join(thread, NULL);
}

void fuzz_seeds(fuzz_add *add) {
    char nested[550];
    memset(nested, '[', sizeof nested);
    add(nested, sizeof nested);
    fuzz_add_quoted(add, "{'do': 'pull', 'hand': 1, 'part': 2, 'vertex': 3, 'target': [1, 2, 3], 'stiffness': 10}");
    fuzz_add_quoted(add, "{'do': 'wind', 'velocity': [1, 2, 3], 'gust': 0.2}");
    fuzz_add_quoted(add, "{'do': 'stiffness', 'part': 1, 'factor': 2, 'siblings': true}");
    fuzz_add_quoted(add, "{'do': 'ghost', 'engine': 'full', 'coupling': 'L3'}");
    fuzz_add_quoted(add, "{'do': 'integrator', 'name': 'hht'}");
    fuzz_add_quoted(add, "{'do': 'ack', 'frame': 17}");
}
