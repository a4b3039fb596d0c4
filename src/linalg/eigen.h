/* The generalised symmetric eigenproblem K x = lambda M x near a shift. */
#ifndef BO_LINALG_EIGEN_H
#define BO_LINALG_EIGEN_H

#include "linalg/factor.h"

/* The `count` eigenvalues next above `shift` (below the whole spectrum), ascending, by Lanczos iteration (ARPACK, mode 3) with the operator
 * (K - shift M)^-1 M. `factor` is of K - shift M, positive definite; M is positive semidefinite.
 * vectors: count x size, M-orthonormal, one after the other. */
bough_status bo_eigen_shift_invert(bough_context *ctx, bo_factor *factor, const bough_sparse *M, double shift,
                                   int32_t count, double tolerance, double *values, double *vectors);

#endif
