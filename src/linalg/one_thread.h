/* Keeps the libraries below to one thread: Bough has its own, at a coarser level, and results must not depend on how
 * many there are. Calls may nest and overlap on several threads: the last to end restores what the first one found. */
#ifndef BO_LINALG_ONE_THREAD_H
#define BO_LINALG_ONE_THREAD_H

void bo_one_thread_begin(void);
void bo_one_thread_end(void);

/* Around each call that ends up in BLAS: the same, and one such call at a time where the BLAS cannot bear more. Must
 * not nest. */
void bo_blas_begin(void);
void bo_blas_end(void);

#endif
