#include "linalg/blas.h"

#include "linalg/one_thread.h"

#include <cblas.h>

void bo_gemm(bool transpose_a, bool transpose_b, int32_t m, int32_t n, int32_t k, double alpha, const double *A,
             int32_t lda, const double *B, int32_t ldb, double beta, double *C, int32_t ldc) {
    bo_blas_begin();
    cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans, m, n,
                k, alpha, A, lda, B, ldb, beta, C, ldc);
    bo_blas_end();
}

void bo_gram(int32_t n, int32_t k, const double *A, double beta, double *C) {
    bo_blas_begin();
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, n, k, 1, A, n, beta, C, n);
    bo_blas_end();
}
