/* Polar decomposition A = R S with its time derivatives (Barbic & Zhao 2011, Eq. 5-9).
 *
 * R is the proper rotation that maximises tr(R^T A), S = R^T A is symmetric. With the eigenvalues s1 >= s2 >= |s3| of S
 * this holds for every A, also of rank 2 or with a negative determinant (then s3 < 0). R is unique, and smooth in A,
 * exactly when all pair sums s_i + s_j are positive, which is when G = tr(S) I - S is positive definite.
 * P = G^-1 carries all derivatives. Angular velocities are in outer axes: Rdot = omega~ R. */
#ifndef BO_BASE_POLAR_H
#define BO_BASE_POLAR_H

#include "base/vec.h"

#include <stdbool.h>

/* Pair sums below this fraction of their total count as zero: R is then lost in rounding or not unique. */
#define BO_POLAR_TOLERANCE 1e-10

/* Returns false when R is not unique; R is then the maximiser nearest to the identity (A = 0: the identity) and can be
 * used, but has no derivatives. When A is not finite: false, and R = I. */
bool bo_polar(bo_mat3 A, bo_mat3 *R, bo_mat3 *S);

/* The same result by Newton's iteration from a rotation nearby, for example that of the last step. The result is
 * checked to be the maximum; where the iteration ends elsewhere, the cold start takes over. *iterations (may be NULL)
 * counts Newton's steps, or is -1 after a cold start. */
bool bo_polar_warm(bo_mat3 A, bo_mat3 R_start, bo_mat3 *R, bo_mat3 *S, int *iterations);

/* The functions below return false, with zeros, when the pair sums of S forbid derivatives. */

/* omega, Rdot, Sdot from Adot (Eq. 7). */
bool bo_polar_rates(bo_mat3 A, bo_mat3 R, bo_mat3 S, bo_mat3 Adot, bo_vec3 *omega, bo_mat3 *Rdot, bo_mat3 *Sdot);

/* omegadot, Rddot from Addot and the results of bo_polar_rates (Eq. 9). */
bool bo_polar_accelerations(bo_mat3 R, bo_mat3 S, bo_mat3 Adot, bo_mat3 Addot, bo_vec3 omega, bo_mat3 Sdot,
                            bo_vec3 *omegadot, bo_mat3 *Rddot);

/* Op (3 x 9, row-major) with omega = Op vec(Adot), where vec lists Adot row by row. */
bool bo_polar_operator(bo_mat3 R, bo_mat3 S, double Op[27]);

/* dR for the change dA: dR = R [P 2 skew(R^T dA)]~ */
bool bo_polar_derivative(bo_mat3 R, bo_mat3 S, bo_mat3 dA, bo_mat3 *dR);

#endif
