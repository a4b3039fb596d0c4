#include "base/polar.h"

#include "base/eigen3.h"
#include "base/rotation.h"

#include <string.h>

static double largest_entry(bo_mat3 A) {
    double largest = 0;
    for (int i = 0; i < 9; i++) {
        double a = fabs(A.m[i]);
        if (!(a <= largest)) /* also takes NaN */
            largest = a;
    }
    return largest;
}

/* P = (tr(S) I - S)^-1, or false when the matrix is not safely positive definite. For eigenvalues g1 <= g2 <= g3,
 * g1 = det / (g2 g3) >= 4 det / tr^2, so the last test bounds the smallest pair sum from below. */
static bool pair_sum_inverse(bo_mat3 S, bo_mat3 *P) {
    double t = bo_trace(S);
    bo_mat3 G = bo_mat_scale(-1, S);
    G.m[0] += t, G.m[4] += t, G.m[8] += t;
    bo_mat3 cofactor = bo_cofactor(G);
    double det = G.m[0] * cofactor.m[0] + G.m[1] * cofactor.m[1] + G.m[2] * cofactor.m[2], sum = bo_trace(G);
    bool positive = G.m[0] > 0 && cofactor.m[8] > 0 && 4 * det > BO_POLAR_TOLERANCE * sum * sum * sum;
    *P = positive ? bo_mat_scale(1 / det, cofactor) : (bo_mat3){{0}};
    return positive;
}

/* Newton's step on tr(R^T A) over R exp(d~): gradient 2 skew(R^T A), Hessian -(tr(S) I - S) with S = sym(R^T A). */
static bool newton_step(bo_mat3 A, bo_quat *q, double *length) {
    bo_mat3 B = bo_mat_tmul(bo_quat_to_matrix(*q), A), P;
    if (!pair_sum_inverse(bo_sym(B), &P))
        return false;
    bo_vec3 d = bo_mat_vec(P, bo_scale(2, bo_skew(B)));
    *length = bo_norm(d);
    *q = bo_quat_mul(*q, bo_quat_exp(d));
    return true;
}

/* tr(R(q)^T A) = q^T K q for unit quaternions (w,x,y,z), so the maximum is the largest eigenvalue of K.
 * When its eigenspace has more than one dimension, the member nearest to the identity is taken. */
static bo_quat largest_quaternion(bo_mat3 A) {
    const double *a = A.m;
    double K[16] = {a[0] + a[4] + a[8], a[7] - a[5], a[2] - a[6], a[3] - a[1], 0,
                    a[0] - a[4] - a[8], a[1] + a[3], a[2] + a[6], 0,           0,
                    a[4] - a[0] - a[8], a[5] + a[7], 0,           0,           0,
                    a[8] - a[0] - a[4]};
    double V[16], q[4] = {0};
    bo_jacobi(4, K, V);
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (K[5 * i] > K[5 * best])
            best = i;
    int members = 0;
    for (int i = 0; i < 4; i++)
        if (K[5 * i] >= K[5 * best] - BO_POLAR_TOLERANCE) {
            members++;
            for (int k = 0; k < 4; k++)
                q[k] += V[i] * V[4 * k + i];
        }
    double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (members == 1 || size < 1e-12)
        for (int k = 0; k < 4; k++)
            q[k] = V[4 * k + best];
    return bo_quat_normalize((bo_quat){q[0], q[1], q[2], q[3]});
}

static bool finish(bo_mat3 A, bo_quat q, bo_mat3 *R, bo_mat3 *S) {
    bo_mat3 P;
    *R = bo_quat_to_matrix(q);
    *S = bo_sym(bo_mat_tmul(*R, A));
    return pair_sum_inverse(*S, &P);
}

bool bo_polar(bo_mat3 A, bo_mat3 *R, bo_mat3 *S) {
    double size = largest_entry(A), length;
    if (!(size > 0 && isfinite(1 / size))) {
        *R = bo_identity3();
        *S = bo_sym(A);
        return false;
    }
    bo_mat3 scaled = bo_mat_scale(1 / size, A);
    bo_quat q = largest_quaternion(scaled), polished = q;
    if (newton_step(scaled, &polished, &length) && length < 1e-3)
        q = polished;
    return finish(A, q, R, S);
}

bool bo_polar_warm(bo_mat3 A, bo_mat3 R_start, bo_mat3 *R, bo_mat3 *S, int *iterations) {
    enum { MAX_STEPS = 12 };
    bo_quat q = bo_quat_from_matrix(R_start);
    for (int step = 1; step <= MAX_STEPS; step++) {
        double length;
        if (!newton_step(A, &q, &length))
            break;
        /* quadratic convergence: a step below 1e-8 leaves an error of rounding */
        if (length < 1e-8 && finish(A, q, R, S)) {
            if (iterations)
                *iterations = step;
            return true;
        }
    }
    if (iterations)
        *iterations = -1;
    return bo_polar(A, R, S);
}

bool bo_polar_rates(bo_mat3 A, bo_mat3 R, bo_mat3 S, bo_mat3 Adot, bo_vec3 *omega, bo_mat3 *Rdot, bo_mat3 *Sdot) {
    bo_mat3 P;
    if (!pair_sum_inverse(S, &P)) {
        *omega = bo_v3(0, 0, 0);
        *Rdot = *Sdot = (bo_mat3){{0}};
        return false;
    }
    *omega = bo_mat_vec(R, bo_mat_vec(P, bo_scale(2, bo_skew(bo_mat_tmul(R, Adot)))));
    bo_mat3 W = bo_hat(*omega);
    *Rdot = bo_mat_mul(W, R);
    *Sdot = bo_sym(bo_mat_tmul(R, bo_mat_sub(Adot, bo_mat_mul(W, A))));
    return true;
}

bool bo_polar_accelerations(bo_mat3 R, bo_mat3 S, bo_mat3 Adot, bo_mat3 Addot, bo_vec3 omega, bo_mat3 Sdot,
                            bo_vec3 *omegadot, bo_mat3 *Rddot) {
    bo_mat3 P;
    if (!pair_sum_inverse(S, &P)) {
        *omegadot = bo_v3(0, 0, 0);
        *Rddot = (bo_mat3){{0}};
        return false;
    }
    /* omegadot = R P ( 2 skew(R^T (Addot - omega~ Adot)) - (tr(Sdot) I - Sdot) R^T omega ) */
    bo_mat3 W = bo_hat(omega);
    bo_vec3 drive = bo_scale(2, bo_skew(bo_mat_tmul(R, bo_mat_sub(Addot, bo_mat_mul(W, Adot)))));
    bo_vec3 body = bo_mat_tvec(R, omega);
    bo_vec3 drift = bo_sub(bo_scale(bo_trace(Sdot), body), bo_mat_vec(Sdot, body));
    *omegadot = bo_mat_vec(R, bo_mat_vec(P, bo_sub(drive, drift)));
    *Rddot = bo_mat_mul(bo_mat_add(bo_hat(*omegadot), bo_mat_mul(W, W)), R);
    return true;
}

bool bo_polar_operator(bo_mat3 R, bo_mat3 S, double Op[27]) {
    bo_mat3 P;
    if (!pair_sum_inverse(S, &P)) {
        memset(Op, 0, 27 * sizeof *Op);
        return false;
    }
    /* Adot = e_a e_b^T gives R^T Adot = r_a e_b^T with row a of R, and 2 skew(r_a e_b^T) = e_b x r_a. */
    bo_mat3 RP = bo_mat_mul(R, P);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            bo_vec3 e = bo_v3(b == 0, b == 1, b == 2), column = bo_mat_vec(RP, bo_cross(e, bo_load3(R.m + 3 * a)));
            Op[3 * a + b] = column.x, Op[9 + 3 * a + b] = column.y, Op[18 + 3 * a + b] = column.z;
        }
    return true;
}

bool bo_polar_derivative(bo_mat3 R, bo_mat3 S, bo_mat3 dA, bo_mat3 *dR) {
    bo_mat3 P;
    bool unique = pair_sum_inverse(S, &P);
    bo_vec3 turn = bo_mat_vec(P, bo_scale(2, bo_skew(bo_mat_tmul(R, dA))));
    *dR = bo_mat_mul(R, bo_hat(unique ? turn : bo_v3(0, 0, 0)));
    return unique;
}
