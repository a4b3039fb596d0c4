/* 3-vectors and 3x3 matrices by value. Matrices are row-major: m[3*i+j] = M_ij. */
#ifndef BO_BASE_VEC_H
#define BO_BASE_VEC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct bo_vec3 {
    double x, y, z;
} bo_vec3;

typedef struct bo_mat3 {
    double m[9];
} bo_mat3;

static inline bo_vec3 bo_v3(double x, double y, double z) {
    return (bo_vec3){x, y, z};
}
static inline bo_vec3 bo_load3(const double *a) {
    return (bo_vec3){a[0], a[1], a[2]};
}
static inline void bo_store3(double *a, bo_vec3 v) {
    a[0] = v.x, a[1] = v.y, a[2] = v.z;
}
static inline bo_vec3 bo_add(bo_vec3 a, bo_vec3 b) {
    return (bo_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline bo_vec3 bo_sub(bo_vec3 a, bo_vec3 b) {
    return (bo_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline bo_vec3 bo_scale(double s, bo_vec3 a) {
    return (bo_vec3){s * a.x, s * a.y, s * a.z};
}
/* a + s b */
static inline bo_vec3 bo_mul_add(bo_vec3 a, double s, bo_vec3 b) {
    return (bo_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double bo_dot(bo_vec3 a, bo_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline bo_vec3 bo_cross(bo_vec3 a, bo_vec3 b) {
    return (bo_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double bo_norm(bo_vec3 a) {
    return sqrt(bo_dot(a, a));
}
/* Zero stays zero. */
static inline bo_vec3 bo_normalize(bo_vec3 a) {
    double n = bo_norm(a);
    return n > 0 ? bo_scale(1 / n, a) : a;
}

static inline bo_mat3 bo_identity3(void) {
    return (bo_mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
}
static inline bo_mat3 bo_mat_add(bo_mat3 A, bo_mat3 B) {
    for (int i = 0; i < 9; i++)
        A.m[i] += B.m[i];
    return A;
}
static inline bo_mat3 bo_mat_sub(bo_mat3 A, bo_mat3 B) {
    for (int i = 0; i < 9; i++)
        A.m[i] -= B.m[i];
    return A;
}
static inline bo_mat3 bo_mat_scale(double s, bo_mat3 A) {
    for (int i = 0; i < 9; i++)
        A.m[i] *= s;
    return A;
}
static inline bo_mat3 bo_transpose(bo_mat3 A) {
    return (bo_mat3){{A.m[0], A.m[3], A.m[6], A.m[1], A.m[4], A.m[7], A.m[2], A.m[5], A.m[8]}};
}
/* A B */
static inline bo_mat3 bo_mat_mul(bo_mat3 A, bo_mat3 B) {
    bo_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.m[3 * i + j] = A.m[3 * i] * B.m[j] + A.m[3 * i + 1] * B.m[3 + j] + A.m[3 * i + 2] * B.m[6 + j];
    return C;
}
/* A^T B */
static inline bo_mat3 bo_mat_tmul(bo_mat3 A, bo_mat3 B) {
    bo_mat3 C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.m[3 * i + j] = A.m[i] * B.m[j] + A.m[3 + i] * B.m[3 + j] + A.m[6 + i] * B.m[6 + j];
    return C;
}
/* A v */
static inline bo_vec3 bo_mat_vec(bo_mat3 A, bo_vec3 v) {
    return (bo_vec3){A.m[0] * v.x + A.m[1] * v.y + A.m[2] * v.z, A.m[3] * v.x + A.m[4] * v.y + A.m[5] * v.z,
                     A.m[6] * v.x + A.m[7] * v.y + A.m[8] * v.z};
}
/* A^T v */
static inline bo_vec3 bo_mat_tvec(bo_mat3 A, bo_vec3 v) {
    return (bo_vec3){A.m[0] * v.x + A.m[3] * v.y + A.m[6] * v.z, A.m[1] * v.x + A.m[4] * v.y + A.m[7] * v.z,
                     A.m[2] * v.x + A.m[5] * v.y + A.m[8] * v.z};
}
static inline double bo_trace(bo_mat3 A) {
    return A.m[0] + A.m[4] + A.m[8];
}
static inline double bo_det(bo_mat3 A) {
    const double *m = A.m;
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}
/* cof(A) = d det(A) / dA = det(A) A^-T */
static inline bo_mat3 bo_cofactor(bo_mat3 A) {
    const double *m = A.m;
    return (bo_mat3){{m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6],
                      m[2] * m[7] - m[1] * m[8], m[0] * m[8] - m[2] * m[6], m[1] * m[6] - m[0] * m[7],
                      m[1] * m[5] - m[2] * m[4], m[2] * m[3] - m[0] * m[5], m[0] * m[4] - m[1] * m[3]}};
}
/* Inverse by cofactors; entries are not finite when A is singular. */
static inline bo_mat3 bo_inverse(bo_mat3 A) {
    return bo_mat_scale(1 / bo_det(A), bo_transpose(bo_cofactor(A)));
}
/* A:B = sum_ij A_ij B_ij */
static inline double bo_contract(bo_mat3 A, bo_mat3 B) {
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += A.m[i] * B.m[i];
    return sum;
}
/* a~ with a~ b = a x b */
static inline bo_mat3 bo_hat(bo_vec3 a) {
    return (bo_mat3){{0, -a.z, a.y, a.z, 0, -a.x, -a.y, a.x, 0}};
}
/* skew(A) = 1/2 (A32-A23, A13-A31, A21-A12): the vector of the antisymmetric part */
static inline bo_vec3 bo_skew(bo_mat3 A) {
    return (bo_vec3){0.5 * (A.m[7] - A.m[5]), 0.5 * (A.m[2] - A.m[6]), 0.5 * (A.m[3] - A.m[1])};
}
static inline bo_mat3 bo_sym(bo_mat3 A) {
    return bo_mat_scale(0.5, bo_mat_add(A, bo_transpose(A)));
}
/* a b^T */
static inline bo_mat3 bo_outer(bo_vec3 a, bo_vec3 b) {
    return (bo_mat3){
        {a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x, a.z * b.y, a.z * b.z}};
}

/* True if x is neither NAN nor infinite, without branches: 0 x is 0, or NAN. */
static inline bool bo_all_finite(int64_t count, const double *x) {
    double sum[4] = {0};
    int64_t k = 0;
    for (; k + 4 <= count; k += 4)
        for (int i = 0; i < 4; i++)
            sum[i] += x[k + i] * 0;
    for (; k < count; k++)
        sum[0] += x[k] * 0;
    return sum[0] + sum[1] + sum[2] + sum[3] == 0;
}

#endif
