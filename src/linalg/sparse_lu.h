/* Sparse LU factorisation (KLU), for matrices that are not symmetric or not definite, such as saddle points: analyse a
 * pattern once, refactor often. There is no LDL^T beside it: CHOLMOD's does not pivot, and a saddle point
 * [A G^T; G 0] has zeros on its diagonal.
 *
 * KLU offers no look at the context's progress() while it factors; a chain of 20,000 bodies, 100,000
 * unknowns, takes a tenth of a second (build/tests/linalg_sparse_lu). */
#ifndef BO_LINALG_SPARSE_LU_H
#define BO_LINALG_SPARSE_LU_H

#include "base/context.h"

typedef struct bo_sparse_lu bo_sparse_lu;

/* Ordering and symbolic analysis of a square matrix in compressed columns: rows of column j are rows[column_start[j] ..
 * column_start[j + 1] - 1], in any order, each once. The pattern is copied. BOUGH_ERROR_SINGULAR when no values could
 * make a matrix of this pattern regular, BOUGH_ERROR_ARGUMENT when it is no pattern. */
bough_status bo_sparse_lu_analyse(bough_context *ctx, int32_t size, const int32_t *column_start, const int32_t *rows,
                                  bo_sparse_lu **lu);
/* values: those of the pattern, in its order. The pivots of the factor before are taken again as long as they are good,
 * which is several times faster; anew: they are not, so that the bits do not depend on the matrices before.
 * BOUGH_ERROR_SINGULAR when the matrix is singular in this precision, BOUGH_NOT_FINITE when a value is not finite: lu
 * can then be given other values, but cannot solve. */
bough_status bo_sparse_lu_numeric(bough_context *ctx, bo_sparse_lu *lu, const double *values, bool anew);
/* A x = b for `count` right-hand sides stored one after the other; x may be b. progress() may cancel it between
 * right-hand sides. */
bough_status bo_sparse_lu_solve(bough_context *ctx, bo_sparse_lu *lu, const double *b, double *x, int32_t count);
void bo_sparse_lu_destroy(bough_context *ctx, bo_sparse_lu *lu);

/* Rough estimate of the reciprocal condition number, from the diagonal of U; 0 without a factor. */
double bo_sparse_lu_rcond(const bo_sparse_lu *lu);
/* Counts how often pivots have been looked for, and the entries of L and U. */
void bo_sparse_lu_cost(const bo_sparse_lu *lu, int64_t *pivotings, double *entries);

#endif
