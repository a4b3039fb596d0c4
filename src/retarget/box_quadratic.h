/* The least point of a quadratic function within bounds. */
#ifndef BO_RETARGET_BOX_QUADRATIC_H
#define BO_RETARGET_BOX_QUADRATIC_H

#include "base/context.h"

typedef struct bo_box_quadratic {
    int32_t n;
    double *L;                               /* n x n: factor over the variables that are free */
    double *slope, *way, *next, *next_slope; /* n */
    int32_t *free;                           /* n */
    bool *held, *factored;                   /* n: held now; and where L was factored */
    double *memory;
} bo_box_quadratic;

/* bo_box_quadratic_free() is owed also when it fails. */
bough_status bo_box_quadratic_make(bough_context *ctx, int32_t n, bo_box_quadratic *box);
void bo_box_quadratic_free(bough_context *ctx, bo_box_quadratic *box);

/* x with the least g . x + x . A x / 2 between lowest <= 0 and highest >= 0, for a symmetric positive definite A (n x
 * n). False: it is not positive definite in this precision. */
bool bo_box_quadratic_solve(bo_box_quadratic *box, const double *A, const double *g, const double *lowest,
                            const double *highest, double *x);

#endif
