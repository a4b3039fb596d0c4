/* Small dense Cholesky and LDL^T factorisations, in place, row-major, without allocation. */
#ifndef BO_DENSE_CHOLESKY_H
#define BO_DENSE_CHOLESKY_H

#include <stdbool.h>

/* A = L L^T of a symmetric positive definite A (n x n; the upper triangle is neither read nor written). L replaces the
 * lower triangle. False, with the work half done, at a pivot that is not above n ulp of its diagonal entry: A is not
 * positive definite in this precision, or not finite. */
bool bo_cholesky_factor(int n, double *A);
/* b <- A^-1 b */
void bo_cholesky_solve(int n, const double *L, double *b);
/* B <- A^-1 B for B (n x count, row-major). */
void bo_cholesky_solve_many(int n, const double *L, int count, double *B);

/* For K x = lambda M x with M = L L^T, which is (L^-1 K L^-T) y = lambda y with x = L^-T y: K <- L^-1 K L^-T of a
 * symmetric K, whose entries are all read and written ... */
void bo_cholesky_congruence(int n, const double *L, double *K);
/* ... and the columns of Y (n x count) become L^-T Y. */
void bo_cholesky_solve_back(int n, const double *L, int count, double *Y);

/* A = L D L^T with unit L below the diagonal and D on it, for matrices that may be indefinite. There is no pivoting:
 * every leading block must be regular (as in quasi-definite saddle points). False at a pivot within n ulp of the
 * largest entry of its row in the lower triangle. *negative_count (may be NULL) is the number of negative eigenvalues.
 */
bool bo_ldlt_factor(int n, double *A, int *negative_count);
/* b <- A^-1 b */
void bo_ldlt_solve(int n, const double *LD, double *b);

#endif
