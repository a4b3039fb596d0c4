/* Keeps the libraries below to one thread: Bough has its own, at a coarser level, and results must not depend on how
 * many there are. */
#ifndef BO_LINALG_ONE_THREAD_H
#define BO_LINALG_ONE_THREAD_H

typedef struct bo_thread_setting {
    int levels, blas; /* -1: nothing to restore */
} bo_thread_setting;

bo_thread_setting bo_one_thread(void);
void bo_restore_threads(bo_thread_setting before);

#endif
