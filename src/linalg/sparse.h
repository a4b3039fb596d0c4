/* Symmetric sparse matrices: the lower triangle, column by column, rows ascending. */
#ifndef BO_LINALG_SPARSE_H
#define BO_LINALG_SPARSE_H

#include "base/context.h"

#include <bough/linalg.h>

/* Values zero; the caller fills in column_start and rows. */
bough_status bo_sparse_create(bough_context *ctx, int32_t size, int64_t entry_count, bough_sparse **matrix);
/* Same pattern (shared with `pattern`, which must outlive it), values zero. */
bough_status bo_sparse_create_like(bough_context *ctx, const bough_sparse *pattern, bough_sparse **matrix);

/* y = A x, or y += when add is true. */
void bo_sparse_mul(const bough_sparse *A, const double *x, double *y, bool add);
/* y_i = sum over j of A_ij x_j, where each x_j is a row of `width` numbers (3 times the number of vectors when the same
 * A stands for x, y and z of each vertex): A is read once for all. */
void bo_sparse_mul_rows(const bough_sparse *A, int32_t width, const double *x, double *y);
/* A <- a A + b B with B of the same pattern. */
void bo_sparse_combine(bough_sparse *A, double a, double b, const bough_sparse *B);

/* Largest absolute value on the diagonal. */
double bo_sparse_largest_diagonal(const bough_sparse *A);
/* Returns where an entry that is there stands among the values. */
int32_t bo_sparse_find(const bough_sparse *A, int32_t column, int32_t row);

#endif
