/* What Bough has from other libraries, or asks of an operating system, and WebAssembly lacks: plain versions where they
 * are short, sentences where they are not. */
#include "linalg/blas.h"
#include "linalg/memory.h"
#include "linalg/one_thread.h"
#include "linalg/sparse_lu.h"

#include <bough/mesh.h>

#include <math.h>
#include <string.h>

/* ---- dense products ---- */

static double at(bool transposed, const double *A, int32_t lda, int32_t i, int32_t j) {
    return transposed ? A[(size_t)j * (size_t)lda + (size_t)i] : A[(size_t)i * (size_t)lda + (size_t)j];
}

void bo_gemm(bool transpose_a, bool transpose_b, int32_t m, int32_t n, int32_t k, double alpha, const double *A,
             int32_t lda, const double *B, int32_t ldb, double beta, double *C, int32_t ldc) {
    for (int32_t i = 0; i < m; i++) {
        double *row = C + (size_t)i * (size_t)ldc;
        for (int32_t j = 0; j < n; j++)
            row[j] = beta == 0 ? 0 : beta * row[j];
        for (int32_t l = 0; l < k; l++) {
            const double a = alpha * at(transpose_a, A, lda, i, l);
            for (int32_t j = 0; j < n; j++)
                row[j] += a * at(transpose_b, B, ldb, l, j);
        }
    }
}

void bo_gram(int32_t n, int32_t k, const double *A, double beta, double *C) {
    for (int32_t i = 0; i < n; i++) {
        double *row = C + (size_t)i * (size_t)n;
        for (int32_t j = 0; j <= i; j++)
            row[j] = beta == 0 ? 0 : beta * row[j];
        for (int32_t l = 0; l < k; l++)
            for (int32_t j = 0; j <= i; j++)
                row[j] += A[(size_t)l * (size_t)n + (size_t)i] * A[(size_t)l * (size_t)n + (size_t)j];
    }
}

/* ---- threads and memory ---- */

void bo_one_thread_begin(void) {
}
void bo_one_thread_end(void) {
}
void bo_blas_begin(void) {
}
void bo_blas_end(void) {
}

bo_memory_room bo_find_memory_room(void) {
    return (bo_memory_room){INFINITY, "this machine"};
}
bough_status bo_check_memory(bough_context *ctx, double bytes, const char *format, ...) {
    (void)ctx, (void)bytes, (void)format;
    return BOUGH_OK;
}

/* ---- what is not there ---- */

static bough_status refuse(bough_context *ctx, const char *what) {
    return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s is not part of Bough for browsers; use the program", what);
}

bough_status bough_mesh_tetrahedralize(bough_context *ctx, const bough_mesh *surface, const char *program,
                                       double max_edge, bough_mesh **mesh) {
    (void)surface, (void)program, (void)max_edge;
    *mesh = NULL;
    return refuse(ctx, "filling a surface with elements");
}

bough_status bo_sparse_lu_analyse(bough_context *ctx, int32_t size, const int32_t *column_start, const int32_t *rows,
                                  bo_sparse_lu **lu) {
    (void)size, (void)column_start, (void)rows;
    *lu = NULL;
    return refuse(ctx, "the factorisation of unsymmetric matrices");
}
bough_status bo_sparse_lu_numeric(bough_context *ctx, bo_sparse_lu *lu, const double *values, bool anew) {
    (void)lu, (void)values, (void)anew;
    return refuse(ctx, "the factorisation of unsymmetric matrices");
}
bough_status bo_sparse_lu_solve(bough_context *ctx, bo_sparse_lu *lu, const double *b, double *x, int32_t count) {
    (void)lu, (void)b, (void)x, (void)count;
    return refuse(ctx, "the factorisation of unsymmetric matrices");
}
void bo_sparse_lu_destroy(bough_context *ctx, bo_sparse_lu *lu) {
    (void)ctx, (void)lu;
}
double bo_sparse_lu_rcond(const bo_sparse_lu *lu) {
    (void)lu;
    return 0;
}
void bo_sparse_lu_cost(const bo_sparse_lu *lu, int64_t *pivotings, double *entries) {
    (void)lu;
    *pivotings = 0, *entries = 0;
}
