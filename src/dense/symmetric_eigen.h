/* Eigenvalues and eigenvectors of a small dense symmetric matrix, for n up to about a hundred. */
#ifndef BO_DENSE_SYMMETRIC_EIGEN_H
#define BO_DENSE_SYMMETRIC_EIGEN_H

#include <stdbool.h>

/* A = V diag(values) V^T.
 *   A        n x n row-major, symmetric; only the lower triangle is read, all of it is destroyed
 *   values   n, ascending
 *   V        n x n row-major, eigenvector k is column k (V[n*i+k]); NULL when only values are wanted
 *   scratch  2 n doubles
 * Backward stable: errors are a few n ulp of the largest |value|. False when A is not finite (outputs are then
 * undefined) or, which has not been seen, when an eigenvalue does not converge. */
bool bo_sym_eigen(int n, double *A, double *values, double *V, double *scratch);

#endif
