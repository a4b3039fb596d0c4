#include "base/rotation.h"

bo_mat3 bo_quat_to_matrix(bo_quat q) {
    double s = 2 / bo_quat_dot(q, q);
    double wx = s * q.w * q.x, wy = s * q.w * q.y, wz = s * q.w * q.z;
    double xx = s * q.x * q.x, yy = s * q.y * q.y, zz = s * q.z * q.z;
    double xy = s * q.x * q.y, xz = s * q.x * q.z, yz = s * q.y * q.z;
    return (bo_mat3){
        {1 - (yy + zz), xy - wz, xz + wy, xy + wz, 1 - (xx + zz), yz - wx, xz - wy, yz + wx, 1 - (xx + yy)}};
}

/* The matrix gives 4 q_i q_j for all pairs. Reading them off the row of the largest component divides by no small
 * number, so that the result is accurate also at half turns. */
bo_quat bo_quat_from_matrix(bo_mat3 R) {
    const double *m = R.m;
    double ww = 1 + m[0] + m[4] + m[8], xx = 1 + m[0] - m[4] - m[8];
    double yy = 1 - m[0] + m[4] - m[8], zz = 1 - m[0] - m[4] + m[8];
    double wx = m[7] - m[5], wy = m[2] - m[6], wz = m[3] - m[1];
    double xy = m[1] + m[3], xz = m[2] + m[6], yz = m[5] + m[7];
    bo_quat q;
    if (ww >= xx && ww >= yy && ww >= zz)
        q = (bo_quat){ww, wx, wy, wz};
    else if (xx >= yy && xx >= zz)
        q = (bo_quat){wx, xx, xy, xz};
    else if (yy >= zz)
        q = (bo_quat){wy, xy, yy, yz};
    else
        q = (bo_quat){wz, xz, yz, zz};
    if (q.w < 0)
        q = (bo_quat){-q.w, -q.x, -q.y, -q.z};
    return bo_quat_normalize(q);
}

/* sin(x)/x; x^2 may underflow, x need not. */
static double sinc(double x) {
    return fabs(x) < 1e-4 ? 1 - x * x / 6 : sin(x) / x;
}

bo_quat bo_quat_exp(bo_vec3 w) {
    double half = 0.5 * bo_norm(w), s = 0.5 * sinc(half);
    return (bo_quat){cos(half), s * w.x, s * w.y, s * w.z};
}

bo_vec3 bo_quat_log(bo_quat q) {
    if (q.w < 0)
        q = (bo_quat){-q.w, -q.x, -q.y, -q.z};
    bo_vec3 u = {q.x, q.y, q.z};
    double sine = bo_norm(u);
    /* angle / sine with angle = 2 atan(sine / w); the series is exact to rounding below 1e-5 */
    double factor = sine < 1e-5 ? 2 / q.w * (1 - sine * sine / (3 * q.w * q.w)) : 2 * atan2(sine, q.w) / sine;
    return bo_scale(factor, u);
}

bo_mat3 bo_exp3(bo_vec3 w) {
    return bo_quat_to_matrix(bo_quat_exp(w));
}

bo_vec3 bo_log3(bo_mat3 R) {
    return bo_quat_log(bo_quat_from_matrix(R));
}

/* sum_k (-1)^k t^2k c_k, where the closed form would lose digits by cancellation (t <= 1). */
static double alternating_series(double t, const double *c, int count) {
    double sum = 0;
    for (int k = count - 1; k >= 0; k--)
        sum = c[k] - t * t * sum;
    return sum;
}

/* (t - sin t) / t^3 = sum (-1)^k t^2k / (2k+3)! */
static double third_order_sine(double t) {
    static const double c[] = {1 / 6.,        1 / 120.,        1 / 5040.,        1 / 362880.,
                               1 / 39916800., 1 / 6227020800., 1 / 1307674368e3, 1 / 355687428096e3};
    return fabs(t) > 1 ? (t - sin(t)) / (t * t * t) : alternating_series(t, c, 8);
}

/* (sin x - x cos x) / x^3 = sum (-1)^k x^2k (2k+2) / (2k+3)! */
static double cotangent_defect(double x) {
    static const double c[] = {1 / 3.,       1 / 30.,        1 / 840.,       1 / 45360.,
                               1 / 3991680., 1 / 518918400., 1 / 93405312e3, 1 / 22230464256e3};
    return fabs(x) > 1 ? (sin(x) - x * cos(x)) / (x * x * x) : alternating_series(x, c, 8);
}

/* I + a w~ + b w~ w~ */
static bo_mat3 rotation_polynomial(bo_vec3 w, double a, double b) {
    bo_mat3 W = bo_hat(w), M = bo_mat_add(bo_mat_scale(a, W), bo_mat_scale(b, bo_mat_mul(W, W)));
    return bo_mat_add(bo_identity3(), M);
}

/* I + (1 - cos t)/t^2 w~ + (t - sin t)/t^3 w~ w~ */
bo_mat3 bo_left_jacobian(bo_vec3 w) {
    double t = bo_norm(w), s = sinc(0.5 * t);
    return rotation_polynomial(w, 0.5 * s * s, third_order_sine(t));
}

/* I - 1/2 w~ + (1 - x cot x)/t^2 w~ w~ with x = t/2, where 1 - x cot x = x^2 cotangent_defect(x) / sinc(x) */
bo_mat3 bo_left_jacobian_inverse(bo_vec3 w) {
    double x = 0.5 * bo_norm(w);
    return rotation_polynomial(w, -0.5, 0.25 * cotangent_defect(x) / sinc(x));
}

bo_se3 bo_se3_exp(bo_twist twist) {
    return (bo_se3){bo_exp3(twist.w), bo_mat_vec(bo_left_jacobian(twist.w), twist.v)};
}

bo_twist bo_se3_log(bo_se3 g) {
    bo_vec3 w = bo_log3(g.R);
    return (bo_twist){bo_mat_vec(bo_left_jacobian_inverse(w), g.t), w};
}
