/* Dense products of large matrices (BLAS), row-major, on one thread. Rooms that need the small r x r kernels of the
 * runtime use dense/. */
#ifndef BO_LINALG_BLAS_H
#define BO_LINALG_BLAS_H

#include <stdbool.h>
#include <stdint.h>

/* C <- alpha op(A) op(B) + beta C; op(A) is m x k, op(B) k x n, C m x n; lda .. ldc are the lengths of stored rows. */
void bo_gemm(bool transpose_a, bool transpose_b, int32_t m, int32_t n, int32_t k, double alpha, const double *A,
             int32_t lda, const double *B, int32_t ldb, double beta, double *C, int32_t ldc);

/* Lower triangle of C (n x n) <- A^T A + beta C for A (k x n). */
void bo_gram(int32_t n, int32_t k, const double *A, double beta, double *C);

#endif
