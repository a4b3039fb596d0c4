/* Commands of the program that run within a target. */
#ifndef BOUGH_FUZZ_COMMAND_LINE_H
#define BOUGH_FUZZ_COMMAND_LINE_H

#include "fuzz.h"

#include "../../app/app.h"

/* The command writes to streams in memory: sanitizers, which write to the terminal itself, stay heard. It says one
 * sentence, or complains by one. Returns its status. */
static inline int fuzz_command(app_command command, int count, char **words) {
    FILE *const out = stdout, *const err = stderr;
    char *said = NULL, *complained = NULL;
    size_t size;
    stdout = open_memstream(&said, &size);
    stderr = open_memstream(&complained, &size);
    const int status = command(count, words);
    fclose(stdout), fclose(stderr);
    stdout = out, stderr = err;
    const char *sentence = status == APP_OK ? said : complained, *end = strchr(sentence, '\n');
    check((status == APP_OK || status == APP_FAILED) && !*(status == APP_OK ? complained : said));
    check(end && end > sentence && !end[1]);
    free(said), free(complained);
    return status;
}

#endif
