#include "linalg/one_thread.h"

/* CHOLMOD opens OpenMP regions of its own around copies of a few kilobytes, whose threads then spin on all cores.
 * Bough has its own threads: when an OpenMP runtime came along with CHOLMOD, its regions are kept to one thread. */
extern int omp_get_max_active_levels(void) __attribute__((weak));
extern void omp_set_max_active_levels(int levels) __attribute__((weak));
/* The same for a threaded OpenBLAS, which on a busy machine makes a factorisation many times slower. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

bo_thread_setting bo_one_thread(void) {
    bo_thread_setting before = {-1, -1};
    if (omp_get_max_active_levels && omp_set_max_active_levels) {
        before.levels = omp_get_max_active_levels();
        omp_set_max_active_levels(0);
    }
    if (openblas_get_num_threads && openblas_set_num_threads) {
        before.blas = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    return before;
}

void bo_restore_threads(bo_thread_setting before) {
    if (before.levels >= 0)
        omp_set_max_active_levels(before.levels);
    if (before.blas > 0)
        openblas_set_num_threads(before.blas);
}
