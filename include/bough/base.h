/* Status codes, the context, memory and threads: every other header includes this one.
 *
 * Rules for every function of every header, unless its own comment says otherwise:
 *
 * Ownership. A function that fills in a `bough_thing **` makes an object that belongs to the caller, who frees it with
 * bough_thing_destroy() (NULL is fine) and the context it was made with, or one with the same memory hooks. An array
 * that is handed out is freed with bough_release(). A pointer that is returned belongs to the object that was asked,
 * and lives as long as the object does. Arguments stay the caller's: they are copied, or read during the call only.
 *
 * Failure. A function that can fail returns a bough_status, and bough_message() then has one sentence for people. A
 * call that fails leaves its arguments usable and leaks nothing; its outputs must not be used. Nothing prints, exits or
 * aborts.
 *
 * Threads. A context serves one calling thread at a time; threads that work side by side have a context each. Objects
 * are not locked: two threads must not use one object at the same time unless its header says that it is immutable or
 * plain data that nobody changes meanwhile. The library starts threads of its own by the context's settings only.
 *
 * Definitions. A `bough_thing_def` comes from bough_default_thing_def(), which also sets its cookie; a def that was not
 * made like that is refused. */
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

/* Returns the text of the list above ("did not converge"); never NULL. */
BOUGH_API const char *bough_status_name(bough_status status);

typedef struct bough_context bough_context;

/* One of several independent tasks: the function does task number `index`. */
typedef void (*bough_task)(void *data, int32_t index);

/* A message of a long operation about how far it is. */
typedef struct bough_progress {
    const char *what;   /* short verb phrase: "factorising", "load step 3" */
    double fraction;    /* 0..1, or negative when unknown */
    const char *detail; /* numbers for a human, may be "" */
} bough_progress;

/* Memory, threads and callbacks of a context. Make it with bough_default_context_def(). */
typedef struct bough_context_def {
    uint32_t cookie; /* set by bough_default_context_def() */

    /* Memory. All three or none. NULL: malloc, realloc, free. Blocks are aligned like malloc's. With more
     * than one thread they are called from several at once. */
    void *(*allocate)(void *user, size_t size);
    void *(*reallocate)(void *user, void *block, size_t size);
    void (*release)(void *user, void *block);
    void *memory_user;

    /* Threads. thread_count 0: one per core; at most 1,024 are made. run_tasks, when given, replaces the context's own
     * pool: it must call task(data, i) once for each i in 0..count-1, from any threads, and return when all are done.
     * Results do not depend on the number of threads or on the order of the calls. A child process that fork() made may
     * go on with the contexts of its parent, whose threads it does not have: it does all tasks in its own. */
    int32_t thread_count;
    void (*run_tasks)(void *user, bough_task task, void *data, int32_t count);
    void *tasks_user;

    /* Called on the calling thread during long operations. Return false to cancel: the operation then ends with
     * BOUGH_CANCELLED and leaves its arguments usable. */
    bool (*progress)(void *user, const bough_progress *progress);
    void *progress_user;

    /* Takes remarks that are not errors ("12 boundary triangles match no element"). NULL: dropped. It may be called on
     * any thread that works for the call, but never twice at once, nor while `progress` runs. */
    void (*warn)(void *user, const char *sentence);
    void *warn_user;

    /* Is told the path of each file before it is read, by any thread that works for the call: what a scene needs besides
     * its own file, for example. NULL: nobody asks. */
    void (*reading)(void *user, const char *path);
    void *reading_user;

    /* Components that have been cooked are taken as they are, even if what they were made of has changed since. */
    bool takes_cooked;
    uint64_t reserved[1]; /* zeros: room for fields of later versions */
} bough_context_def;

BOUGH_API bough_context_def bough_default_context_def(void);

/* def may be NULL for the defaults. Returns NULL when memory is short or def was not made by
 * bough_default_context_def(). */
BOUGH_API bough_context *bough_context_create(const bough_context_def *def);
/* Ends the context's threads and frees it. Destroy the objects that were made with it first. */
BOUGH_API void bough_context_destroy(bough_context *ctx);

/* Returns the sentence of the last call with this context that failed; "" before any. It is one line without control
 * characters, whatever the files contain that it quotes, and is valid until the next call fails. */
BOUGH_API const char *bough_message(const bough_context *ctx);

/* Replaces the progress callback of the def from now on. Only between calls of the library. */
BOUGH_API void bough_context_set_progress(bough_context *ctx, bool (*progress)(void *, const bough_progress *),
                                          void *progress_user);

/* Replaces the reading callback of the def, likewise. */
BOUGH_API void bough_context_set_reading(bough_context *ctx, void (*reading)(void *, const char *path),
                                         void *reading_user);

/* Returns the number of threads that the context uses, the calling one included. */
BOUGH_API int32_t bough_thread_count(const bough_context *ctx);

/* Frees an array that a bough_ function allocated for the caller; NULL is fine. */
BOUGH_API void bough_release(bough_context *ctx, void *block);

/* Returns the version of the library, "0.1.0". docs/versioning.md says what it promises. */
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
