/* Status codes, the context, allocation and threading hooks: what every other header stands on. */
#ifndef BOUGH_BASE_H
#define BOUGH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define BOUGH_API
#else
#define BOUGH_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define BOUGH_VERSION_MAJOR 0
#define BOUGH_VERSION_MINOR 1
#define BOUGH_VERSION_PATCH 0

/* One list, expanded into the enum and into bough_status_name().
 * Positive codes are recoverable: the arguments are fine, and another step size, load or patience may succeed.
 * Negative codes say that the input, the file or the machine must change first. */
#define BOUGH_STATUS_LIST(X)                                             \
    X(OK, 0, "ok")                                                       \
    X(NO_CONVERGENCE, 1, "did not converge")                             \
    X(NOT_FINITE, 2, "met a number that is not finite")                  \
    X(CANCELLED, 3, "cancelled")                                         \
    X(ENERGY_GAINED, 4, "made energy out of nothing")                    \
    X(ERROR_MEMORY, -1, "out of memory")                                 \
    X(ERROR_ARGUMENT, -2, "wrong argument")                              \
    X(ERROR_FILE, -3, "file cannot be opened, read or written")          \
    X(ERROR_FORMAT, -4, "file content is wrong")                         \
    X(ERROR_UNSUPPORTED, -5, "valid, but not supported")                 \
    X(ERROR_SINGULAR, -6, "matrix is singular or not positive definite") \
    X(ERROR_MISSING_PROGRAM, -7, "an optional helper program is not installed")

typedef enum bough_status {
#define BOUGH_STATUS_ENUM(name, value, text) BOUGH_##name = value,
    BOUGH_STATUS_LIST(BOUGH_STATUS_ENUM)
#undef BOUGH_STATUS_ENUM
} bough_status;

/* "no convergence" and so on; never NULL. */
BOUGH_API const char *bough_status_name(bough_status status);

typedef struct bough_context bough_context;

/* Work that can be cut into independent tasks: calls task(data, i) for one i. */
typedef void (*bough_task)(void *data, int32_t index);

/* What a long operation tells about itself, now and then. */
typedef struct bough_progress {
    const char *what;   /* short verb phrase: "factorising", "load step 3" */
    double fraction;    /* 0..1, or negative when unknown */
    const char *detail; /* numbers for a human, may be "" */
} bough_progress;

/* How a context gets memory, threads, and says things. Make it with bough_default_context_def(). */
typedef struct bough_context_def {
    uint32_t cookie; /* set by bough_default_context_def() */

    /* Memory. All three or none. NULL: malloc, realloc, free. Blocks are aligned like malloc's. With more
     * than one thread they are called from several at once. */
    void *(*allocate)(void *user, size_t size);
    void *(*reallocate)(void *user, void *block, size_t size);
    void (*release)(void *user, void *block);
    void *memory_user;

    /* Threads. thread_count 0: one per core. run_tasks, when given, replaces the context's own pool: it must call
     * task(data, i) once for each i in 0..count-1, from any threads, and return when all are done. Results do not
     * depend on the number of threads or on the order of the calls. */
    int32_t thread_count;
    void (*run_tasks)(void *user, bough_task task, void *data, int32_t count);
    void *tasks_user;

    /* Called on the calling thread during long operations. Return false to cancel: the operation then ends with
     * BOUGH_CANCELLED and leaves its arguments usable. */
    bool (*progress)(void *user, const bough_progress *progress);
    void *progress_user;

    /* Remarks that are not errors ("12 boundary triangles match no element"). NULL: dropped. They may come from any
     * thread that works for the call, but never two at once, nor while `progress` runs. */
    void (*warn)(void *user, const char *sentence);
    void *warn_user;
} bough_context_def;

BOUGH_API bough_context_def bough_default_context_def(void);

/* def may be NULL for the defaults. Returns NULL when memory is short or def was not made by
 * bough_default_context_def(). A context serves one calling thread at a time. */
BOUGH_API bough_context *bough_context_create(const bough_context_def *def);
BOUGH_API void bough_context_destroy(bough_context *ctx);

/* The sentence of the last failure of a call that was given this context; "" before any. One line without control
 * characters, whatever the files said that it quotes. */
BOUGH_API const char *bough_message(const bough_context *ctx);

/* Instead of those of the def, from now on: who looks on, and may cancel, can change. Between calls only. */
BOUGH_API void bough_context_set_progress(bough_context *ctx, bool (*progress)(void *, const bough_progress *),
                                          void *progress_user);

BOUGH_API int32_t bough_thread_count(const bough_context *ctx);

/* Frees an array that a bough_ function allocated for the caller; NULL is fine. */
BOUGH_API void bough_release(bough_context *ctx, void *block);

/* "0.1.0" */
BOUGH_API const char *bough_version(void);

/* ---- places ---- */

/* x -> rotation x + position */
typedef struct bough_pose {
    double position[3];
    double rotation[9]; /* row-major */
} bough_pose;
BOUGH_API bough_pose bough_default_pose(void); /* the identity */

#ifdef __cplusplus
}
#endif

#endif
