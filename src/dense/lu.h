/* Small dense LU factorisation with partial pivoting, in place, row-major, without allocation. */
#ifndef BO_DENSE_LU_H
#define BO_DENSE_LU_H

#include <stdbool.h>
#include <stdint.h>

/* P A = L U for A (n x n): unit L below the diagonal, U on and above. Row k was exchanged with row pivots[k] (n
 * entries). False at a pivot within n ulp of the largest entry of A: singular in this precision, or not finite. */
bool bo_lu_factor(int n, double *A, int32_t *pivots);
/* b <- A^-1 b */
void bo_lu_solve(int n, const double *LU, const int32_t *pivots, double *b);
/* B <- A^-1 B for B (n x count, row-major). */
void bo_lu_solve_many(int n, const double *LU, const int32_t *pivots, int count, double *B);

#endif
