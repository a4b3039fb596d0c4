/* Eigenvalues and eigenvectors of tiny symmetric matrices by Jacobi rotations. */
#ifndef BO_BASE_EIGEN3_H
#define BO_BASE_EIGEN3_H

#include "base/vec.h"

/* A = V diag(values) V^T of a symmetric A (its lower triangle is not read): ascending values, eigenvectors in the
 * columns of V, det V = +1. Also for equal eigenvalues V is orthogonal to rounding. */
void bo_eigen3(bo_mat3 A, bo_vec3 *values, bo_mat3 *V);

/* The same for n <= 4, in the order of Jacobi: A (n x n row-major, upper triangle read) is destroyed and holds the
 * eigenvalues on its diagonal afterwards, V (n x n) the eigenvectors in its columns. */
void bo_jacobi(int n, double *A, double *V);

#endif
