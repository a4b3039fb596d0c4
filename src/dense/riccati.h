/* Linear systems that are sampled, and their best feedback: small, dense, row-major, without allocation.
 * docs/theory/feedback.md, "The regulator". */
#ifndef BO_DENSE_RICCATI_H
#define BO_DENSE_RICCATI_H

#include <stdbool.h>
#include <stdint.h>

/* x' = A x + B u with u held for a time dt takes x to Ad x + Bd u. A, Ad: n x n; B, Bd: n x m; scratch: 4 (n + m)^2. */
void bo_sample_system(int n, int m, const double *A, const double *B, double dt, double *Ad, double *Bd,
                      double *scratch);

/* The feedback u = -L x that makes the sum over all steps of x^T Q x + u^T R u smallest for x <- A x + B u:
 *   X = A^T X A - A^T X B (R + B^T X B)^-1 B^T X A + Q,      L = (R + B^T X B)^-1 B^T X A
 * with X the stabilising solution. Q (n x n) is symmetric and positive semidefinite, R (m x m) symmetric and positive
 * definite. X: n x n; L: m x n; scratch: bo_riccati_scratch(); pivots: n or m, whichever is more. False: R is not
 * positive definite, something is not finite, or there is no stabilising solution: a motion that does not decay is out
 * of reach of u, or costs nothing. */
bool bo_riccati_solve(int n, int m, const double *A, const double *B, const double *Q, const double *R, double *X,
                      double *L, double *scratch, int32_t *pivots);
/* Returns how many doubles that takes. */
int64_t bo_riccati_scratch(int n, int m);

#endif
