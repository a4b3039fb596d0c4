#include "linalg/sparse.h"

#include "base/simd.h"

#include <math.h>
#include <string.h>

bough_status bo_sparse_create(bough_context *ctx, int32_t size, int64_t entry_count, bough_sparse **out) {
    *out = NULL;
    if (entry_count > INT32_MAX)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "a matrix with %lld entries is more than Bough can index",
                       (long long)entry_count);
    bough_sparse *A = BO_NEW(ctx, bough_sparse);
    if (!A)
        return BOUGH_ERROR_MEMORY;
    A->size = size;
    A->column_start = BO_NEW_ZEROS(ctx, int32_t, (size_t)size + 1);
    A->rows = BO_NEW_ARRAY(ctx, int32_t, entry_count);
    A->values = BO_NEW_ZEROS(ctx, double, entry_count);
    if (!A->column_start || !A->rows || !A->values) {
        bough_sparse_destroy(ctx, A);
        return BOUGH_ERROR_MEMORY;
    }
    *out = A;
    return BOUGH_OK;
}

bough_status bo_sparse_create_like(bough_context *ctx, const bough_sparse *pattern, bough_sparse **out) {
    *out = NULL;
    bough_sparse *A = BO_NEW(ctx, bough_sparse);
    if (!A)
        return BOUGH_ERROR_MEMORY;
    *A = *pattern;
    A->shares_pattern = true;
    A->values = BO_NEW_ZEROS(ctx, double, pattern->column_start[pattern->size]);
    if (!A->values) {
        bo_free(ctx, A);
        return BOUGH_ERROR_MEMORY;
    }
    *out = A;
    return BOUGH_OK;
}

void bough_sparse_destroy(bough_context *ctx, bough_sparse *A) {
    if (!A)
        return;
    if (!A->shares_pattern) {
        bo_free(ctx, A->column_start);
        bo_free(ctx, A->rows);
    }
    bo_free(ctx, A->values);
    bo_free(ctx, A);
}

void bo_sparse_mul(const bough_sparse *A, const double *x, double *y, bool add) {
    if (!add)
        memset(y, 0, (size_t)A->size * sizeof *y);
    for (int32_t j = 0; j < A->size; j++) {
        int32_t begin = A->column_start[j], end = A->column_start[j + 1];
        double xj = x[j], sum = 0;
        if (begin < end)
            sum = A->values[begin] * xj; /* the diagonal */
        for (int32_t k = begin + 1; k < end; k++) {
            sum += A->values[k] * x[A->rows[k]];
            y[A->rows[k]] += A->values[k] * xj;
        }
        y[j] += sum;
    }
}

/* For constant widths the compiler keeps the inner loop in registers. */
static inline __attribute__((always_inline)) void mul_rows(const bough_sparse *A, size_t width, const double *x,
                                                           double *y) {
    memset(y, 0, width * (size_t)A->size * sizeof *y);
    for (int32_t j = 0; j < A->size; j++) {
        int32_t begin = A->column_start[j], end = A->column_start[j + 1];
        const double *xj = x + width * (size_t)j;
        double *yj = y + width * (size_t)j;
        for (size_t d = 0; d < width && begin < end; d++)
            yj[d] += A->values[begin] * xj[d];
        for (int32_t k = begin + 1; k < end; k++) {
            const double *xi = x + width * (size_t)A->rows[k];
            double *restrict yi = y + width * (size_t)A->rows[k], *restrict to = yj, value = A->values[k];
            for (size_t d = 0; d < width; d++) {
                to[d] += value * xi[d];
                yi[d] += value * xj[d];
            }
        }
    }
}

void bo_sparse_mul_rows(const bough_sparse *A, int32_t width, const double *x, double *y) {
    if (width == 3)
        mul_rows(A, 3, x, y);
    else if (width == 24)
        mul_rows(A, 24, x, y);
    else
        mul_rows(A, (size_t)width, x, y);
}

void bo_sparse_combine(bough_sparse *A, double a, double b, const bough_sparse *B) {
    for (int32_t k = 0; k < A->column_start[A->size]; k++)
        A->values[k] = a * A->values[k] + b * B->values[k];
}

double bo_sparse_largest_diagonal(const bough_sparse *A) {
    double largest = 0;
    for (int32_t j = 0; j < A->size; j++)
        if (A->column_start[j] < A->column_start[j + 1])
            largest = fmax(largest, fabs(A->values[A->column_start[j]]));
    return largest;
}

int32_t bo_sparse_find(const bough_sparse *A, int32_t column, int32_t row) {
    int32_t low = A->column_start[column], high = A->column_start[column + 1] - 1;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (A->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
