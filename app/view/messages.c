#include "view.h"

#include <stdlib.h>
#include <string.h>

view_message *view_message_new(size_t size, bool text) {
    view_message *m = malloc(sizeof *m + size + 1);
    if (m)
        atomic_init(&m->holders, 1), m->text = text, m->size = size;
    return m;
}

view_message *view_message_hold(view_message *m) {
    if (m)
        atomic_fetch_add(&m->holders, 1);
    return m;
}

void view_message_drop(view_message *m) {
    if (m && atomic_fetch_sub(&m->holders, 1) == 1)
        free(m);
}

view_message *view_message_json(json_t *object) {
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(9);
    const size_t size = object ? json_dumpb(object, NULL, 0, flags) : 0;
    view_message *m = size > 0 ? view_message_new(size, true) : NULL;
    if (m)
        json_dumpb(object, (char *)m->bytes, size, flags);
    json_decref(object);
    return m;
}

void view_write_head(unsigned char *bytes, uint32_t kind, uint32_t generation, uint32_t json_size) {
    const uint32_t head[4] = {kind, generation, json_size, 0};
    memcpy(bytes, head, sizeof head);
}
