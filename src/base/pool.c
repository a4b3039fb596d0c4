/* The threads of a pool, by pthreads. WebAssembly is built without this file. */
#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define WATCH_NANOSECONDS 100000000 /* a tenth of a second: soon enough for a person */

/* A thread looks for work this often before it sleeps: for 100 to 200 microseconds, by how long a processor pauses. Waking it
 * takes as long on virtual machines. A step of a simulation is cut into pieces that follow each other faster than that. */
enum { PATIENCE = 4000 };

/* The ticket of the present call of bo_run_tasks: which call it is, how many tasks it has, and which task is next. All
 * are one number, so that taking a task is one atomic addition and a thread that comes late finds no task left instead
 * of a wrong one. */
enum { COUNT_BITS = 20 };
#define COUNT_LIMIT ((1 << COUNT_BITS) - 1)
#define NEXT_OF(ticket) ((int32_t)((ticket)&COUNT_LIMIT))
#define COUNT_OF(ticket) ((int32_t)((ticket) >> COUNT_BITS & COUNT_LIMIT))
#define CALL_OF(ticket) ((ticket) >> (2 * COUNT_BITS))
/* More threads than any machine has use for only cost memory. */
enum { MOST_THREADS = 1024 };

/* Tasks of one call: half of what can be counted, since every thread may take one ticket too many at the end, which
 * must not run over into the count. */
#define MOST_TASKS (COUNT_LIMIT / 2)

struct bo_pool {
    pthread_t *threads;
    int32_t worker_count; /* threads beside the caller */
    _Atomic uint64_t ticket;
    atomic_int done; /* tasks of this call */
    atomic_bool stop;
    /* The arguments of this call; constant while one of its tasks is not done. */
    bough_task task;
    void *data;
    int forks; /* when the threads began */
    /* For those who sleep: */
    pthread_mutex_t lock;
    pthread_cond_t wake; /* workers: there may be a task */
    pthread_cond_t idle; /* the caller: all may be done */
    atomic_int sleepers;
    atomic_bool caller_sleeps;
};

/* A child process that fork() makes has one thread: none of a pool's has come along. There the caller does all tasks, and
 * nothing waits for the others. */
static atomic_int forks; /* between the first process and this one; counted in the child */

static void count_fork(void) {
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, count_fork);
}

static bool has_threads(const bo_pool *pool) {
    return pool->forks == atomic_load_explicit(&forks, memory_order_relaxed);
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static bool has_task(bo_pool *pool) {
    const uint64_t ticket = atomic_load(&pool->ticket);
    return NEXT_OF(ticket) < COUNT_OF(ticket);
}

static void finish_task(bo_pool *pool, int32_t count) {
    if (atomic_fetch_add(&pool->done, 1) + 1 < count || !atomic_load(&pool->caller_sleeps))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
}

static void take_tasks(bo_pool *pool) {
    while (has_task(pool)) {
        const uint64_t ticket = atomic_fetch_add(&pool->ticket, 1);
        if (NEXT_OF(ticket) < COUNT_OF(ticket)) {
            pool->task(pool->data, NEXT_OF(ticket));
            finish_task(pool, COUNT_OF(ticket));
        }
    }
}

static void *work(void *argument) {
    bo_pool *pool = argument;
    while (!atomic_load(&pool->stop)) {
        take_tasks(pool);
        int patience = PATIENCE;
        while (patience > 0 && !has_task(pool) && !atomic_load_explicit(&pool->stop, memory_order_relaxed)) {
            relax();
            patience--;
        }
        if (patience > 0)
            continue;
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->sleepers, 1);
        while (!has_task(pool) && !atomic_load(&pool->stop))
            pthread_cond_wait(&pool->wake, &pool->lock);
        atomic_fetch_sub(&pool->sleepers, 1);
        pthread_mutex_unlock(&pool->lock);
    }
    return NULL;
}

/* Timed waits must not depend on somebody setting the clock. */
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
    thread_count = thread_count < MOST_THREADS ? thread_count : MOST_THREADS;
    pool->threads = BO_NEW_ARRAY(ctx, pthread_t, thread_count);
    if (!pool->threads) {
        bo_free(ctx, pool);
        return NULL;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pool->forks = atomic_load(&forks);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    init_monotonic(&pool->idle);
    /* Having fewer threads than asked for is slower, not wrong: continue with those that started. */
    while (pool->worker_count < thread_count - 1 &&
           pthread_create(&pool->threads[pool->worker_count], NULL, work, pool) == 0)
        pool->worker_count++;
    return pool;
}

static void wake_sleepers(bo_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

void bo_pool_destroy(bough_context *ctx, bo_pool *pool) {
    if (!pool)
        return;
    if (has_threads(pool)) {
        atomic_store(&pool->stop, true);
        wake_sleepers(pool);
        for (int32_t i = 0; i < pool->worker_count; i++)
            pthread_join(pool->threads[i], NULL);
        pthread_cond_destroy(&pool->idle);
        pthread_cond_destroy(&pool->wake);
        pthread_mutex_destroy(&pool->lock);
    }
    bo_free(ctx, pool->threads);
    bo_free(ctx, pool);
}

static void start_tasks(bo_pool *pool, bough_task task, void *data, int32_t count) {
    pool->task = task;
    pool->data = data;
    atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
    const uint64_t call = CALL_OF(atomic_load_explicit(&pool->ticket, memory_order_relaxed)) + 1;
    atomic_store(&pool->ticket, call << (2 * COUNT_BITS) | (uint64_t)count << COUNT_BITS);
    if (atomic_load(&pool->sleepers) > 0)
        wake_sleepers(pool);
}

static struct timespec next_look(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += WATCH_NANOSECONDS;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void wait_for_workers(bo_pool *pool, int32_t count, void (*watch)(void *), void *data) {
    for (int patience = PATIENCE; patience > 0; patience--) {
        if (atomic_load(&pool->done) == count)
            return;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->done) < count) {
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
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->lock);
}

/* The tasks from `first` on: the pool takes at most MOST_TASKS in a call. */
typedef struct {
    bough_task task;
    void *data;
    int32_t first;
} later_tasks;

static void call_later(void *data, int32_t i) {
    const later_tasks *later = data;
    later->task(later->data, later->first + i);
}

void bo_pool_run(bo_pool *pool, bough_task task, void *data, int32_t count, void (*watch)(void *)) {
    if (!has_threads(pool)) {
        for (int32_t i = 0; i < count; i++)
            task(data, i);
        return;
    }
    for (int32_t first = 0, some; first < count; first += some) {
        some = count - first < MOST_TASKS ? count - first : MOST_TASKS;
        later_tasks later = {task, data, first};
        start_tasks(pool, call_later, &later, some);
        take_tasks(pool);
        wait_for_workers(pool, some, watch, data);
    }
}
