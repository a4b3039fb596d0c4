#include "base/threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define WATCH_NANOSECONDS 100000000 /* a tenth of a second: soon enough for a person */

struct bo_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* workers wait for a new generation */
    pthread_cond_t idle; /* the caller waits for busy == 0 */
    pthread_t *threads;
    int32_t worker_count; /* threads beside the caller */
    uint64_t generation;
    int32_t busy;
    bool stop;
    bough_task task;
    void *data;
    int32_t count;
    atomic_int next; /* which task is taken next: the only thing threads race for; results do not depend on it */
};

int32_t bo_core_count(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 256 ? 256 : (int32_t)cores;
}

static void take_tasks(bo_pool *pool) {
    for (;;) {
        int i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (i >= pool->count)
            return;
        pool->task(pool->data, i);
    }
}

static void *work(void *argument) {
    bo_pool *pool = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && pool->generation == seen)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->stop)
            break;
        seen = pool->generation;
        pthread_mutex_unlock(&pool->lock);
        take_tasks(pool);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Waits with a limit must not depend on somebody setting the clock. */
static void init_monotonic(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bo_pool *bo_pool_create(bough_context *ctx, int32_t thread_count) {
    bo_pool *pool = BO_NEW(ctx, bo_pool);
    if (!pool)
        return NULL;
    pool->threads = BO_NEW_ARRAY(ctx, pthread_t, thread_count);
    if (!pool->threads) {
        bo_free(ctx, pool);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    init_monotonic(&pool->idle);
    /* Fewer threads than asked for is slower, not wrong: go on with those that started. */
    while (pool->worker_count < thread_count - 1 &&
           pthread_create(&pool->threads[pool->worker_count], NULL, work, pool) == 0)
        pool->worker_count++;
    return pool;
}

void bo_pool_destroy(bough_context *ctx, bo_pool *pool) {
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int32_t i = 0; i < pool->worker_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    bo_free(ctx, pool->threads);
    bo_free(ctx, pool);
}

static void start_tasks(bo_pool *pool, bough_task task, void *data, int32_t count) {
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->data = data;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->busy = pool->worker_count;
    pool->generation++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static struct timespec next_look(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += WATCH_NANOSECONDS;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void wait_for_workers(bo_pool *pool, void (*watch)(void *), void *data) {
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0) {
        if (!watch) {
            pthread_cond_wait(&pool->idle, &pool->lock);
            continue;
        }
        struct timespec limit = next_look();
        if (pthread_cond_timedwait(&pool->idle, &pool->lock, &limit) == ETIMEDOUT) {
            pthread_mutex_unlock(&pool->lock);
            watch(data);
            pthread_mutex_lock(&pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

void bo_run_tasks_watched(bough_context *ctx, bough_task task, void *data, int32_t count, void (*watch)(void *)) {
    if (count <= 0)
        return;
    if (ctx->def.run_tasks && count > 1) {
        ctx->def.run_tasks(ctx->def.tasks_user, task, data, count);
        return;
    }
    bo_pool *pool = ctx->pool;
    if (!pool || count == 1) {
        for (int32_t i = 0; i < count; i++)
            task(data, i);
        return;
    }
    start_tasks(pool, task, data, count);
    take_tasks(pool);
    wait_for_workers(pool, watch, data);
}

void bo_run_tasks(bough_context *ctx, bough_task task, void *data, int32_t count) {
    bo_run_tasks_watched(ctx, task, data, count, NULL);
}

typedef struct {
    bo_range_task range;
    void *data;
    int32_t count, grain;
} range_call;

static void call_range(void *data, int32_t chunk) {
    const range_call *call = data;
    int32_t begin = chunk * call->grain;
    int32_t end = call->count - begin < call->grain ? call->count : begin + call->grain;
    call->range(call->data, begin, end, chunk);
}

void bo_parallel_for(bough_context *ctx, int32_t count, int32_t grain, bo_range_task range, void *data) {
    range_call call = {range, data, count, grain};
    bo_run_tasks(ctx, call_range, &call, bo_chunk_count(count, grain));
}
