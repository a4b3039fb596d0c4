/* The threads of a context. Where there are none (BO_ONE_THREAD), contexts have no pool, and whoever asks for threads gets
 * the caller's. */
#ifndef BO_BASE_POOL_H
#define BO_BASE_POOL_H

#include "base/context.h"

#ifdef BO_ONE_THREAD

enum { BO_HAS_THREADS = 0 };
static inline bo_pool *bo_pool_create(bough_context *ctx, int32_t thread_count) {
    (void)ctx, (void)thread_count;
    return NULL;
}
static inline void bo_pool_destroy(bough_context *ctx, bo_pool *pool) {
    (void)ctx, (void)pool;
}
static inline void bo_pool_run(bo_pool *pool, bough_task task, void *data, int32_t count, void (*watch)(void *)) {
    (void)pool, (void)watch;
    for (int32_t i = 0; i < count; i++)
        task(data, i);
}

#else

enum { BO_HAS_THREADS = 1 };
/* Creates a pool of thread_count threads, the caller's among them. NULL: no memory. */
bo_pool *bo_pool_create(bough_context *ctx, int32_t thread_count);
void bo_pool_destroy(bough_context *ctx, bo_pool *pool);
/* Calls task(data, i) for every i in 0..count-1 and returns when all are done; calls watch(data), unless it is NULL,
 * about ten times a second while the caller waits. */
void bo_pool_run(bo_pool *pool, bough_task task, void *data, int32_t count, void (*watch)(void *));

#endif
#endif
