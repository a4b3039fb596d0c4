#include "linalg/one_thread.h"

#include <pthread.h>
#include <stdbool.h>

/* CHOLMOD opens OpenMP regions of its own around copies of a few kilobytes, whose threads then spin on all cores.
 * Bough has its own threads: when an OpenMP runtime came along with CHOLMOD, its regions are kept to one thread. */
extern int omp_get_max_active_levels(void) __attribute__((weak));
extern void omp_set_max_active_levels(int levels) __attribute__((weak));
/* The same for a threaded OpenBLAS, which on a busy machine makes a factorisation many times slower. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
/* 0: built without threads. Such an OpenBLAS has no locks: calls from two threads may be given the same scratch memory,
 * and both results are wrong. (Debian's "serial" flavour is built so; its "pthread" flavour, kept to one thread, is
 * not, and lets components be cooked side by side at full speed.) */
extern int openblas_get_parallel(void) __attribute__((weak));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;
static int blas = -1; /* to be restored; -1: nothing */

/* OpenMP's setting belongs to the calling thread, that of OpenBLAS to the process. */
static _Thread_local int depth, levels;

static void begin_here(void) {
    if (depth++ == 0 && omp_get_max_active_levels && omp_set_max_active_levels) {
        levels = omp_get_max_active_levels();
        omp_set_max_active_levels(0);
    }
}

static void end_here(void) {
    if (--depth == 0 && levels > 0)
        omp_set_max_active_levels(levels);
}

void bo_one_thread_begin(void) {
    begin_here();
    pthread_mutex_lock(&lock);
    if (users++ == 0 && openblas_get_num_threads && openblas_set_num_threads) {
        blas = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void bo_one_thread_end(void) {
    pthread_mutex_lock(&lock);
    if (--users == 0 && blas > 0)
        openblas_set_num_threads(blas);
    pthread_mutex_unlock(&lock);
    end_here();
}

static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;

static bool needs_lock(void) {
    return openblas_get_parallel && openblas_get_parallel() == 0;
}

void bo_blas_begin(void) {
    bo_one_thread_begin();
    if (needs_lock())
        pthread_mutex_lock(&blas_lock);
}

void bo_blas_end(void) {
    if (needs_lock())
        pthread_mutex_unlock(&blas_lock);
    bo_one_thread_end();
}
