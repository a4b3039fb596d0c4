/* The generalised symmetric eigenproblem K x = lambda M x near a shift. */
#ifndef BO_LINALG_EIGEN_H
#define BO_LINALG_EIGEN_H

#include "linalg/factor.h"

/* y = M x for a positive semidefinite matrix of size n that the caller keeps as it likes. */
typedef struct bo_operator {
    /* For `count` vectors stored one after the other; y is not x. */
    void (*multiply)(void *data, const double *x, double *y, int32_t count);
    void *data;
    int32_t size;
    int32_t rank; /* at most; M x = 0 on the rest */
    /* For a factor of a matrix that differs from K - shift M by a low rank: turns its solutions x (count vectors) into
     * those of K - shift M. NULL: the factor is that of K - shift M. */
    void (*correct)(void *data, double *x, int32_t count);
} bo_operator;

/* The `count` eigenvalues next above `shift`, which is below the whole spectrum, ascending, by block Lanczos iteration
 * with the operator (K - shift M)^-1 M. `factor` is of K - shift M, positive definite. `tolerance`: relative error
 * of values - shift; the vectors are right to about a thousandth of its square root.
 * vectors: count x size, M-orthonormal, one after the other.
 * Several threads may solve problems at the same time, each with its own context, factor and operator. */
bough_status bo_eigen_shift_invert(bough_context *ctx, bo_factor *factor, const bo_operator *M, double shift,
                                   int32_t count, double tolerance, double *values, double *vectors);

#endif
