/* Fuzz targets: one program for each reader. A target gives fuzz_one(), which must come back from any bytes, and
 * fuzz_seeds(), good inputs to begin with. libfuzzer.c makes a libFuzzer program of it (clang, BOUGH_FUZZ=ON); replay.c
 * a test that tries the seeds and some hundreds of mutants of each, with any compiler. */
#ifndef BOUGH_FUZZ_H
#define BOUGH_FUZZ_H

#include <unistd.h>
#define TEST_FOLDERS (access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm") /* thousands of files in a second */
#include "test.h"

void fuzz_one(const uint8_t *data, size_t size);
typedef void fuzz_add(const void *data, size_t size);
void fuzz_seeds(fuzz_add *add);

/* Memory as a host program might limit it: a file that describes a large thing (a box of a million cells) is refused
 * for want of memory, and takes no minutes. */
enum { FUZZ_BUDGET = 24 << 20, FUZZ_ROOM = 16 };
typedef struct fuzz_memory {
    size_t used;
    long live;
} fuzz_memory;

static inline void *fuzz_allocate(void *user, size_t size) {
    fuzz_memory *m = user;
    if (size > FUZZ_BUDGET - m->used)
        return NULL;
    char *block = malloc(size + FUZZ_ROOM); /* its size before it */
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    m->used += size, m->live++;
    return block + FUZZ_ROOM;
}
static inline void fuzz_release(void *user, void *block) {
    fuzz_memory *m = user;
    size_t size;
    if (!block)
        return;
    memcpy(&size, (char *)block - FUZZ_ROOM, sizeof size);
    m->used -= size, m->live--;
    free((char *)block - FUZZ_ROOM);
}
static inline void *fuzz_reallocate(void *user, void *block, size_t size) {
    size_t old = 0;
    void *next = fuzz_allocate(user, size);
    if (!next || !block)
        return next;
    memcpy(&old, (char *)block - FUZZ_ROOM, sizeof old);
    memcpy(next, block, old < size ? old : size);
    fuzz_release(user, block);
    return next;
}

static inline bough_context *fuzz_context(fuzz_memory *memory) {
    bough_context_def def = bough_default_context_def();
    def.allocate = fuzz_allocate, def.reallocate = fuzz_reallocate, def.release = fuzz_release;
    def.memory_user = memory;
    def.thread_count = 1;
    *memory = (fuzz_memory){0};
    bough_context *ctx = bough_context_create(&def);
    check(ctx != NULL);
    return ctx;
}

/* Every failure has a sentence, and nothing stays behind. */
static inline void fuzz_end(bough_context *ctx, fuzz_memory *memory, bough_status status) {
    check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY ||
          (bough_message(ctx)[0] && !strchr(bough_message(ctx), '\n')));
    bough_context_destroy(ctx);
    check_int(memory->live, 0);
}

static inline void fuzz_add_text(fuzz_add *add, const char *text) {
    add(text, strlen(text));
}
/* With ' for ". */
static inline void fuzz_add_quoted(fuzz_add *add, const char *text) {
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    fuzz_add_text(add, copy);
    free(copy);
}
static inline void fuzz_add_file(fuzz_add *add, const char *path) {
    size_t size;
    unsigned char *bytes = test_read(path, &size);
    add(bytes, size);
    free(bytes);
}

#endif
