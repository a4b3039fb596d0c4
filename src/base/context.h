/* Inside view of the context: allocation, error sentences, warnings, progress. */
#ifndef BO_BASE_CONTEXT_H
#define BO_BASE_CONTEXT_H

#include <bough/base.h>

#include <stdarg.h>

typedef struct bo_pool bo_pool;

#define BO_MESSAGE_SIZE 1024

struct bough_context {
    bough_context_def def;
    bo_pool *pool; /* NULL when one thread is enough or the host runs the tasks */
    char message[BO_MESSAGE_SIZE];
};

/* Memory through the context's hooks. Sizes are checked for overflow; NULL with a message on failure.
 * A count of zero gives a valid pointer that must be freed. Counts have 64 bits, so that one that was computed with them
 * is not cut off where size_t has 32. */
void *bo_alloc(bough_context *ctx, uint64_t count, size_t size);
void *bo_calloc(bough_context *ctx, uint64_t count, size_t size);
/* Leaves the old block untouched when it fails. */
void *bo_realloc(bough_context *ctx, void *block, uint64_t count, size_t size);
void bo_free(bough_context *ctx, void *block);
char *bo_strdup(bough_context *ctx, const char *text);
char *bo_strndup(bough_context *ctx, const char *text, size_t length);

#define BO_NEW(ctx, type) ((type *)bo_calloc((ctx), 1, sizeof(type)))
#define BO_NEW_ARRAY(ctx, type, count) ((type *)bo_alloc((ctx), (uint64_t)(count), sizeof(type)))
#define BO_NEW_ZEROS(ctx, type, count) ((type *)bo_calloc((ctx), (uint64_t)(count), sizeof(type)))

/* Keeps the sentence and returns the status, so that `return bo_fail(ctx, ...)` reads well. */
bough_status bo_fail(bough_context *ctx, bough_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bough_status bo_vfail(bough_context *ctx, bough_status status, const char *format, va_list arguments);
bough_status bo_fail_memory(bough_context *ctx);

/* Puts `prefix` before the message that the context keeps (used to add a file name to a deeper error). */
void bo_prefix_message(bough_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

void bo_warn(bough_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True: go on. False: the caller cleans up and returns bo_fail_cancelled(ctx). */
bool bo_progress(bough_context *ctx, const char *what, double fraction, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bough_status bo_fail_cancelled(bough_context *ctx);

/* Returns from the enclosing function when a call fails. */
#define BO_TRY(call)                          \
    do {                                      \
        bough_status bo_try_status_ = (call); \
        if (bo_try_status_ != BOUGH_OK)       \
            return bo_try_status_;            \
    } while (0)

/* Growable array of `type`: pushes at `count`, doubling `capacity`. False when memory is short. */
bool bo_grow(bough_context *ctx, void **block, size_t *capacity, size_t needed, size_t size);
#define BO_RESERVE(ctx, array, capacity, needed) \
    ((size_t)(needed) <= (capacity) ||           \
     bo_grow((ctx), (void **)&(array), &(capacity), (size_t)(needed), sizeof *(array)))

#endif
