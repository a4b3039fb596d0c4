/* Sparse Cholesky factorisation (CHOLMOD): analyse a pattern once, refactor often, solve for many right-hand sides. */
#ifndef BO_LINALG_FACTOR_H
#define BO_LINALG_FACTOR_H

#include "linalg/sparse.h"

typedef struct bo_factor bo_factor;

/* Fill-reducing ordering and symbolic factorisation of A's pattern, which is made of full block x block blocks (3: one
 * block a vertex; 1: any pattern). A is not kept. `fixed` (a byte for each unknown, may be NULL) marks unknowns that
 * are held: they are left out of the factor. */
bough_status bo_factor_analyse(bough_context *ctx, const bough_sparse *A, int32_t block, const unsigned char *fixed,
                               bo_factor **factor);
/* A must have the analysed pattern. BOUGH_ERROR_SINGULAR when its free part is not positive definite: the factor can
 * then be given another matrix, but cannot solve. */
bough_status bo_factor_numeric(bough_context *ctx, bo_factor *factor, const bough_sparse *A);
/* A_ff x_f = b_f for the free unknowns, x = b for the held ones, for `count` right-hand sides stored one after the
 * other; x may be b. */
bough_status bo_factor_solve(bough_context *ctx, bo_factor *factor, const double *b, double *x, int32_t count);
void bo_factor_destroy(bough_context *ctx, bo_factor *factor);

/* Rough estimate of the reciprocal condition number, from the factor's diagonal. */
double bo_factor_rcond(bo_factor *factor);
/* Entries in L, and floating-point operations of one numeric factorisation. */
void bo_factor_cost(const bo_factor *factor, double *entries, double *operations);

#endif
