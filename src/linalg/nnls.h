/* Non-negative least squares with few non-zeros: min |G x - b|, x >= 0 (Lawson and Hanson 1974, chapter 23), ended as
 * soon as the residual is small enough. */
#ifndef BO_LINALG_NNLS_H
#define BO_LINALG_NNLS_H

#include "base/context.h"

typedef struct bo_nnls {
    int32_t rows, columns;
    const float *G;   /* column after column, rows numbers each: float, because G is what fills the memory */
    const double *b;  /* rows */
    double tolerance; /* ends when |G x - b| <= tolerance |b| */
    int32_t most;     /* ends when so many columns are in use */
    /* Told before each pass over the columns: columns in use, |G x - b| / |b|, how far (0 .. 1). False cancels. May be
     * NULL. */
    bool (*report)(void *user, int32_t count, double error, double within);
    void *user;
} bo_nnls;

typedef struct bo_nnls_result {
    int32_t count;   /* columns in use */
    int32_t *active; /* count: which, in the order in which they came in */
    double *x;       /* count: their factors, positive */
    double residual; /* |G x - b| / |b|: above the tolerance when `most` was reached or no column can lower it */
} bo_nnls_result;

/* The least-squares problem of the active columns is solved in double precision. The same bits for any number of
 * threads. To be freed with bo_nnls_free(). */
bough_status bo_nnls_solve(bough_context *ctx, const bo_nnls *problem, bo_nnls_result *result);
void bo_nnls_free(bough_context *ctx, bo_nnls_result *result);

#endif
