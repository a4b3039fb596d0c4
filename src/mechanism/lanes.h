/* Four links side by side: their twists, where those take them, and what lies between two poses. For files that loop
 * over all links. */
#ifndef BO_MECHANISM_LANES_H
#define BO_MECHANISM_LANES_H

#include "mechanism/links.h"

#include <stddef.h>
#include <string.h>

/* ---- the exponential ---- */

#define BO_FAR 9.8696 /* square of half a turn, rad^2, up to which the series below are exact to rounding */

#define BO_NEAR 1.1 /* rad^2, a sixth of a turn: series are exact to rounding with fewer terms */

/* (1 - cos t) / t^2 and (t - sin t) / t^3 by x = t^2: sums of (-x)^k / (2k+2)! and (-x)^k / (2k+3)!, k = 0 .. 13 */
BO_INLINE void exponential_series(int terms, const bo_v4 *x, bo_v4 *b, bo_v4 *c) {
    enum { TERMS = 14 };
    static const double even[TERMS] = {0x1p-1,
                                       1 / 24.,
                                       1 / 720.,
                                       1 / 40320.,
                                       1 / 3628800.,
                                       1 / 479001600.,
                                       1 / 87178291200.,
                                       1 / 20922789888e3,
                                       1 / 6402373705728e3,
                                       1 / 243290200817664e4,
                                       1 / 112400072777760768e4,
                                       1 / 6.204484017332394e23,
                                       1 / 4.0329146112660565e26,
                                       1 / 3.0488834461171386e29};
    static const double odd[TERMS] = {1 / 6.,
                                      1 / 120.,
                                      1 / 5040.,
                                      1 / 362880.,
                                      1 / 39916800.,
                                      1 / 6227020800.,
                                      1 / 1307674368e3,
                                      1 / 355687428096e3,
                                      1 / 121645100408832e3,
                                      1 / 5109094217170944e4,
                                      1 / 2585201673888497664e4,
                                      1 / 1.5511210043330986e25,
                                      1 / 1.0888869450418352e28,
                                      1 / 8.841761993739702e30};
    const bo_v4 y = -*x;
    bo_v4 p = even[terms - 1] + (bo_v4){0}, q = odd[terms - 1] + (bo_v4){0};
    for (int k = terms - 2; k >= 0; k--) {
        p = p * y + even[k];
        q = q * y + odd[k];
    }
    *b = p, *c = q;
}

typedef long long bo_mask4 __attribute__((vector_size(32)));
BO_INLINE bool any4(const bo_mask4 *mask) {
    return ((*mask)[0] | (*mask)[1] | (*mask)[2] | (*mask)[3]) != 0;
}

/* For x up to half a turn. */
BO_INLINE void exponential_factors(const bo_v4 *x, bo_v4 *b, bo_v4 *c) {
    const bo_mask4 wide = (bo_mask4)(*x > BO_NEAR);
    if (any4(&wide))
        exponential_series(14, x, b, c);
    else
        exponential_series(9, x, b, c);
}

/* The same for any x > 0: sin t and 1 - cos t are those of t less whole turns. */
BO_INLINE void far_factors(const bo_v4 *x, bo_v4 *b, bo_v4 *c) {
    const double turn = 6.283185307179586, whole = 0x1.8p52; /* adding it and taking it away rounds */
    bo_v4 t;
    for (int k = 0; k < 4; k++)
        BO_LANE(t, k) = sqrt(BO_LANE_CONST(*x, k)) + 1e-30; /* of a link that stays, beside one that is far */
    const bo_v4 turns = (t / turn + whole) - whole, rest = t - turns * turn, square = rest * rest;
    exponential_factors(&square, b, c);
    const bo_v4 sine = rest * (1 - *c * square);
    *b = *b * square / (t * t);
    *c = (t - sine) / (t * t * t);
}

BO_INLINE bool is_far(const bo_v4 *x) {
    const bo_mask4 far = (bo_mask4)(*x > BO_FAR);
    return any4(&far);
}

/* R = ((1 - b x) 1 + a w~ + b w w^T) R_0,  p = p_0 + a v + b w x v + c (w . v) w,  a = 1 - c x.
 */
BO_INLINE void move4(const bo_v4 *t, const bo_rest4 *rest, bo_v4 out[12]) {
    const bo_v4 *v = t, *w = t + 3;
    const bo_v4 x = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], along = w[0] * v[0] + w[1] * v[1] + w[2] * v[2];
    bo_v4 b, c;
    if (__builtin_expect(is_far(&x), 0))
        far_factors(&x, &b, &c);
    else
        exponential_factors(&x, &b, &c);
    const bo_v4 a = 1 - c * x, d = 1 - b * x, slide = c * along;
    const bo_v4 bw[3] = {b * w[0], b * w[1], b * w[2]}, aw[3] = {a * w[0], a * w[1], a * w[2]};
    const bo_v4 xy = bw[0] * w[1], xz = bw[0] * w[2], yz = bw[1] * w[2];
    const bo_v4 E[9] = {d + bw[0] * w[0], xy - aw[2], xz + aw[1], xy + aw[2],      d + bw[1] * w[1],
                        yz - aw[0],       xz - aw[1], yz + aw[0], d + bw[2] * w[2]};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = E[3 * i] * rest->R[j] + E[3 * i + 1] * rest->R[3 + j] + E[3 * i + 2] * rest->R[6 + j];
    out[9] = rest->p[0] + a * v[0] + (bw[1] * v[2] - bw[2] * v[1]) + slide * w[0];
    out[10] = rest->p[1] + a * v[1] + (bw[2] * v[0] - bw[0] * v[2]) + slide * w[1];
    out[11] = rest->p[2] + a * v[2] + (bw[0] * v[1] - bw[1] * v[0]) + slide * w[2];
}

_Static_assert(offsetof(bough_pose, rotation) == 3 * sizeof(double) && sizeof(bough_pose) == 12 * sizeof(double),
               "scatter4() writes positions, then rotations");

/* Twelve numbers of four links, rotations and then positions, to four poses. */
BO_INLINE void scatter4(const bo_v4 *in, bough_pose *poses) {
    for (int k = 0; k < 12; k += 4) {
        const bo_v4 a = in[(k + 9) % 12], b = in[(k + 10) % 12], c = in[(k + 11) % 12], d = in[k % 12];
        const bo_v4 ab_low = __builtin_shufflevector(a, b, 0, 4, 2, 6);
        const bo_v4 ab_high = __builtin_shufflevector(a, b, 1, 5, 3, 7);
        const bo_v4 cd_low = __builtin_shufflevector(c, d, 0, 4, 2, 6);
        const bo_v4 cd_high = __builtin_shufflevector(c, d, 1, 5, 3, 7);
        double *out = (double *)poses + k;
        BO_V4(out) = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
        BO_V4(out + 12) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
        BO_V4(out + 24) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
        BO_V4(out + 36) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    }
}

/* first: what counts of the twists at z = 0, 1 or 0 */
BO_INLINE void twists4(const bo_mechanism_lanes *lanes, int32_t group, double first, const double *z, bo_v4 t[6]) {
    const bo_v4 *map = lanes->maps + (size_t)group * (size_t)(1 + lanes->rank) * 6;
    bo_v4 t0 = first * map[0], t1 = first * map[1], t2 = first * map[2];
    bo_v4 t3 = first * map[3], t4 = first * map[4], t5 = first * map[5];
    for (int32_t k = 0; k < lanes->rank; k++) {
        map += 6;
        t0 += z[k] * map[0], t1 += z[k] * map[1], t2 += z[k] * map[2];
        t3 += z[k] * map[3], t4 += z[k] * map[4], t5 += z[k] * map[5];
    }
    t[0] = t0, t[1] = t1, t[2] = t2, t[3] = t3, t[4] = t4, t[5] = t5;
}

/* Writes a group of which only `count` links may be written. */
BO_INLINE void scatter(const bo_v4 *in, int32_t count, bough_pose *poses) {
    if (count >= 4) {
        scatter4(in, poses);
    } else {
        bough_pose last[4];
        scatter4(in, last);
        memcpy(poses, last, (size_t)count * sizeof *poses);
    }
}

/* ---- the logarithm ---- */

/* t / sin t by c = cos t and s = sin t >= 0, below half a turn: t = 8 atan(tan(t/8)), the tangent by halving twice
 * tan(t/2) = s / (1 + c), and atan u = u (1 - u^2/3 + u^4/5 ...) with u below 0.4, or 0.14 up to a sixth of a turn. */
BO_INLINE void angle_over_sine(int terms, const bo_v4 *c, const bo_v4 *s, bo_v4 *out) {
    const bo_v4 g1 = 1 / (1 + *c), t1 = *s * g1;
    bo_v4 root = 1 + t1 * t1;
    for (int k = 0; k < 4; k++)
        BO_LANE(root, k) = sqrt(BO_LANE_CONST(root, k));
    const bo_v4 g2 = 1 / (1 + root), t2 = t1 * g2;
    root = 1 + t2 * t2;
    for (int k = 0; k < 4; k++)
        BO_LANE(root, k) = sqrt(BO_LANE_CONST(root, k));
    const bo_v4 g3 = 1 / (1 + root), u = t2 * g3, y = -u * u;
    bo_v4 p = 1. / (2 * terms - 1) + (bo_v4){0};
    for (int k = terms - 2; k >= 0; k--)
        p = p * y + 1. / (2 * k + 1);
    *out = 8 * g1 * g2 * g3 * p;
}

/* (1 - (t/2) cot(t/2)) / t^2 by x = t^2 below (2 pi)^2: with y = x / (2 pi)^2 it is 2 / (2 pi)^2 times the sum of
 * zeta(2k + 2) y^k; with 1 for zeta that is 1 / (1 - y), and what is left falls like (y/4)^k. */
BO_INLINE void inverse_factor(int terms, const bo_v4 *x, bo_v4 *out) {
    enum { TERMS = 15 };
    static const double zeta[TERMS] = {0.64493406684822644,   0.082323233711138192,   0.01734306198444914,
                                       0.0040773561979443394, 0.00099457512781808534, 0.0002460865533080483,
                                       6.1248135058704829e-5, 1.5282259408651872e-5,  3.8172932649998399e-6,
                                       9.5396203387279611e-7, 2.3845050272773299e-7,  5.960818905125948e-8,
                                       1.4901554828365041e-8, 3.7253340247884571e-9,  9.3132743241966818e-10};
    const double whole = 39.47841760435743; /* (2 pi)^2 */
    const bo_v4 y = *x / whole;
    bo_v4 p = zeta[terms - 1] + (bo_v4){0};
    for (int k = terms - 2; k >= 0; k--)
        p = p * y + zeta[k];
    *out = (p + 1 / (1 - y)) * (2 / whole);
}

#define BO_NEARLY_HALF_A_TURN -0.99 /* cosine below which a rotation's axis is read another way, one by one */

/* The twist t, in the world's axes, with to = [exp(w) R, p + J(w) v] for from = [R, p]. Returns false where that is not
 * good enough: beyond BO_NEARLY_HALF_A_TURN in one of the four. */
BO_INLINE bool between4(const bo_v4 from[12], const bo_v4 to[12], bo_v4 t[6]) {
    bo_v4 M[9], w[3], p[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M[3 * i + j] = to[3 * i] * from[3 * j] + to[3 * i + 1] * from[3 * j + 1] + to[3 * i + 2] * from[3 * j + 2];
    const bo_v4 c = 0.5 * (M[0] + M[4] + M[8] - 1);
    const bo_mask4 half = (bo_mask4)(c < BO_NEARLY_HALF_A_TURN), wide = (bo_mask4)(c < 0.5);
    if (__builtin_expect(any4(&half), 0))
        return false;
    const bool is_wide = any4(&wide);
    w[0] = 0.5 * (M[7] - M[5]), w[1] = 0.5 * (M[2] - M[6]), w[2] = 0.5 * (M[3] - M[1]);
    bo_v4 s = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], f, e;
    for (int k = 0; k < 4; k++)
        BO_LANE(s, k) = sqrt(BO_LANE_CONST(s, k));
    if (is_wide)
        angle_over_sine(20, &c, &s, &f);
    else
        angle_over_sine(10, &c, &s, &f);
    for (int k = 0; k < 3; k++) {
        w[k] *= f;
        p[k] = to[9 + k] - from[9 + k];
    }
    const bo_v4 x = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    if (is_wide)
        inverse_factor(15, &x, &e);
    else
        inverse_factor(8, &x, &e);
    /* J^-1 p = p - w x p / 2 + e w x (w x p) */
    const bo_v4 a[3] = {w[1] * p[2] - w[2] * p[1], w[2] * p[0] - w[0] * p[2], w[0] * p[1] - w[1] * p[0]};
    t[0] = p[0] - 0.5 * a[0] + e * (w[1] * a[2] - w[2] * a[1]);
    t[1] = p[1] - 0.5 * a[1] + e * (w[2] * a[0] - w[0] * a[2]);
    t[2] = p[2] - 0.5 * a[2] + e * (w[0] * a[1] - w[1] * a[0]);
    t[3] = w[0], t[4] = w[1], t[5] = w[2];
    return true;
}

#endif
