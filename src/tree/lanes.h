/* Numbers of four or eight parts side by side. Functions here are inlined into multiversioned ones (base/simd.h). */
#ifndef BO_TREE_LANES_H
#define BO_TREE_LANES_H

#include "base/simd.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

enum { BO_WIDE = 8 }; /* parts of a wide block */

/* In whole vectors. */
static inline int32_t bo_padded4(int32_t n) {
    return (n + 3) & ~3;
}

/* The matrix or vector in one lane; also that of a slot or face, whose lane is its number modulo four. */
static inline bo_mat3 bo_matrix_at(const bo_v4 *vectors, int32_t slot) {
    bo_mat3 M;
    for (int k = 0; k < 9; k++)
        M.m[k] = BO_LANE_CONST(vectors[k], slot % 4);
    return M;
}
static inline bo_vec3 bo_vector_at(const bo_v4 *vectors, int32_t slot) {
    return bo_v3(BO_LANE_CONST(vectors[0], slot % 4), BO_LANE_CONST(vectors[1], slot % 4),
                 BO_LANE_CONST(vectors[2], slot % 4));
}
static inline void bo_put_matrix(bo_v4 *vectors, int32_t slot, bo_mat3 M) {
    for (int k = 0; k < 9; k++)
        BO_LANE(vectors[k], slot % 4) = M.m[k];
}
static inline void bo_put_vector(bo_v4 *vectors, int32_t slot, bo_vec3 v) {
    BO_LANE(vectors[0], slot % 4) = v.x, BO_LANE(vectors[1], slot % 4) = v.y, BO_LANE(vectors[2], slot % 4) = v.z;
}

/* out = a x b */
BO_INLINE void bo_cross4(const bo_v4 *a, const bo_v4 *b, bo_v4 *out) {
    bo_v4 x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}
/* out = A B; not in place */
BO_INLINE void bo_mul4(const bo_v4 *A, const bo_v4 *B, bo_v4 *out) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}
/* out = A^T B; not in place */
BO_INLINE void bo_tmul4(const bo_v4 *A, const bo_v4 *B, bo_v4 *out) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}
/* out = A v; not in place */
BO_INLINE void bo_mulv4(const bo_v4 *A, const bo_v4 *v, bo_v4 *out) {
    for (int i = 0; i < 3; i++)
        out[i] = A[3 * i] * v[0] + A[3 * i + 1] * v[1] + A[3 * i + 2] * v[2];
}
/* out = A^T v; not in place */
BO_INLINE void bo_tmulv4(const bo_v4 *A, const bo_v4 *v, bo_v4 *out) {
    for (int i = 0; i < 3; i++)
        out[i] = A[i] * v[0] + A[3 + i] * v[1] + A[6 + i] * v[2];
}
/* Inverse of a symmetric matrix xx xy xz yy yz zz. Returns its determinant in *det. */
BO_INLINE void bo_inverse_sym4(const bo_v4 *S, bo_v4 *out, bo_v4 *det) {
    bo_v4 a = S[3] * S[5] - S[4] * S[4], b = S[2] * S[4] - S[1] * S[5], c = S[1] * S[4] - S[2] * S[3];
    bo_v4 d = S[0] * a + S[1] * b + S[2] * c, i = 1 / d;
    out[0] = a * i, out[1] = b * i, out[2] = c * i;
    out[3] = (S[0] * S[5] - S[2] * S[2]) * i;
    out[4] = (S[1] * S[2] - S[0] * S[4]) * i;
    out[5] = (S[0] * S[3] - S[1] * S[1]) * i;
    *det = d;
}
/* out = S v for S xx xy xz yy yz zz; not in place */
BO_INLINE void bo_symv4(const bo_v4 *S, const bo_v4 *v, bo_v4 *out) {
    out[0] = S[0] * v[0] + S[1] * v[1] + S[2] * v[2];
    out[1] = S[1] * v[0] + S[3] * v[1] + S[4] * v[2];
    out[2] = S[2] * v[0] + S[4] * v[1] + S[5] * v[2];
}

/* ---- affine maps of eight lanes ---- */

/* Groups of four rows: of each group its four constants, then four coefficients of each x. */
enum { BO_ROWS = 4 }; /* with eight lanes they fill the registers */

static inline size_t bo_affine_size(int32_t rows, int32_t columns) {
    return (size_t)((rows + BO_ROWS - 1) / BO_ROWS) * (size_t)(columns + 1) * BO_ROWS;
}
/* Place of the coefficient of column `column` - 1; 0: of the constant. */
static inline size_t bo_affine_at(int32_t columns, int32_t row, int32_t column) {
    return ((size_t)(row / BO_ROWS) * (size_t)(columns + 1) + (size_t)column) * BO_ROWS + (size_t)(row % BO_ROWS);
}

/* sum += c_m x_m over `count` columns, of half h of the lanes */
BO_INLINE void bo_add_columns_half(int32_t count, const double *restrict c, const double *restrict x, int h,
                                   bo_v4 sum[BO_ROWS][2]) {
    bo_v4 s0 = sum[0][h], s1 = sum[1][h], s2 = sum[2][h], s3 = sum[3][h];
    for (int32_t m = 0; m < count; m++) {
        const bo_v4 y = BO_V4_CONST(x + BO_WIDE * m + 4 * h);
        s0 += c[BO_ROWS * m] * y, s1 += c[BO_ROWS * m + 1] * y;
        s2 += c[BO_ROWS * m + 2] * y, s3 += c[BO_ROWS * m + 3] * y;
    }
    sum[0][h] = s0, sum[1][h] = s1, sum[2][h] = s2, sum[3][h] = s3;
}

/* sum += c_m x_m over `count` columns */
BO_INLINE void bo_add_columns(int32_t count, const double *restrict c, const double *restrict x,
                              bo_v4 sum[BO_ROWS][2]) {
    if (BO_SUMS < 2 * BO_ROWS) {
        bo_add_columns_half(count, c, x, 0, sum);
        bo_add_columns_half(count, c, x, 1, sum);
        return;
    }
    bo_v4 s00 = sum[0][0], s01 = sum[0][1], s10 = sum[1][0], s11 = sum[1][1];
    bo_v4 s20 = sum[2][0], s21 = sum[2][1], s30 = sum[3][0], s31 = sum[3][1];
    for (int32_t m = 0; m < count; m++) {
        const bo_v4 x0 = BO_V4_CONST(x + BO_WIDE * m), x1 = BO_V4_CONST(x + BO_WIDE * m + 4);
        const double c0 = c[BO_ROWS * m], c1 = c[BO_ROWS * m + 1], c2 = c[BO_ROWS * m + 2], c3 = c[BO_ROWS * m + 3];
        s00 += c0 * x0, s01 += c0 * x1;
        s10 += c1 * x0, s11 += c1 * x1;
        s20 += c2 * x0, s21 += c2 * x1;
        s30 += c3 * x0, s31 += c3 * x1;
    }
    sum[0][0] = s00, sum[0][1] = s01, sum[1][0] = s10, sum[1][1] = s11;
    sum[2][0] = s20, sum[2][1] = s21, sum[3][0] = s30, sum[3][1] = s31;
}

/* out (rows, in whole groups, x lanes) = map of x (columns x lanes) */
BO_INLINE void bo_affine(int32_t rows, int32_t columns, const double *restrict map, const double *restrict x,
                         double *restrict out) {
    for (int32_t row = 0; row < rows; row += BO_ROWS) {
        bo_v4 sum[BO_ROWS][2];
        for (int k = 0; k < BO_ROWS; k++)
            sum[k][0] = sum[k][1] = map[k] + (bo_v4){0};
        bo_add_columns(columns, map + BO_ROWS, x, sum);
        map += BO_ROWS * (columns + 1);
        for (int k = 0; k < BO_ROWS; k++, out += BO_WIDE) {
            BO_V4(out) = sum[k][0];
            BO_V4(out + 4) = sum[k][1];
        }
    }
}

/* ---- inertias of six freedoms: [F, C; C^T, T] as F (xx xy xz yy yz zz), C (9, row-major), T (6) ---- */

enum { BO_SIX_F = 0, BO_SIX_C = 6, BO_SIX_T = 15, BO_SIX = 21 };
/* Place of entry (d, e). */
static const int bo_six_at[6][6] = {{0, 1, 2, 6, 7, 8},     {1, 3, 4, 9, 10, 11},    {2, 4, 5, 12, 13, 14},
                                    {6, 9, 12, 15, 16, 17}, {7, 10, 13, 16, 18, 19}, {8, 11, 14, 17, 19, 20}};

/* out = I a */
BO_INLINE void bo_six_mul4(const bo_v4 *I, const bo_v4 *a, bo_v4 *out) {
    bo_v4 u[3], w[3];
    bo_symv4(I, a, u);
    bo_mulv4(I + BO_SIX_C, a + 3, w);
    for (int k = 0; k < 3; k++)
        out[k] = u[k] + w[k];
    bo_tmulv4(I + BO_SIX_C, a, u);
    bo_symv4(I + BO_SIX_T, a + 3, w);
    for (int k = 0; k < 3; k++)
        out[3 + k] = u[k] + w[k];
}
/* Q S Q^T of a symmetric S */
BO_INLINE void bo_turn_sym4(const bo_v4 *Q, const bo_v4 *S, bo_v4 *out) {
    bo_v4 T[9];
    for (int i = 0; i < 3; i++)
        bo_symv4(S, Q + 3 * i, T + 3 * i); /* rows of Q S */
    int k = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            out[k++] = T[3 * i] * Q[3 * j] + T[3 * i + 1] * Q[3 * j + 1] + T[3 * i + 2] * Q[3 * j + 2];
}
/* The inertia in the axes that Q turns into; not in place. */
BO_INLINE void bo_six_turn4(const bo_v4 *Q, const bo_v4 *I, bo_v4 *out) {
    bo_v4 T[9];
    bo_turn_sym4(Q, I, out);
    bo_turn_sym4(Q, I + BO_SIX_T, out + BO_SIX_T);
    bo_mul4(Q, I + BO_SIX_C, T);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[BO_SIX_C + 3 * i + j] = T[3 * i] * Q[3 * j] + T[3 * i + 1] * Q[3 * j + 1] + T[3 * i + 2] * Q[3 * j + 2];
}
/* Inertia and force about x become those about the origin: X^T I X, X^T p with X = [1, -x~; 0, 1].
 *   C' = C - F x~,   T' = T + x~ C + C^T x~^T - x~ F x~   (x~^T = -x~) */
BO_INLINE void bo_six_shift4(const bo_v4 *x, bo_v4 *I, bo_v4 *p) {
    const bo_v4 *F = I;
    bo_v4 *C = I + BO_SIX_C, *T = I + BO_SIX_T, G[9], t[3];
    /* rows of F x~: (row of F) x x, since (a^T x~)_j = (a x x)_j */
    const bo_v4 rows[9] = {F[0], F[1], F[2], F[1], F[3], F[4], F[2], F[4], F[5]};
    for (int i = 0; i < 3; i++)
        bo_cross4(rows + 3 * i, x, G + 3 * i);
    /* x~ (C - F x~) + (x~ C)^T: columns crossed by x */
    bo_v4 A[9], B[9];
    for (int j = 0; j < 3; j++) {
        bo_v4 c[3] = {C[j], C[3 + j], C[6 + j]}, d[3] = {C[j] - G[j], C[3 + j] - G[3 + j], C[6 + j] - G[6 + j]}, u[3];
        bo_cross4(x, d, u);
        A[j] = u[0], A[3 + j] = u[1], A[6 + j] = u[2];
        bo_cross4(x, c, u);
        B[j] = u[0], B[3 + j] = u[1], B[6 + j] = u[2];
    }
    int k = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            T[k++] += A[3 * i + j] + B[3 * j + i];
    for (int i = 0; i < 9; i++)
        C[i] -= G[i];
    bo_cross4(x, p, t);
    for (int i = 0; i < 3; i++)
        p[3 + i] += t[i];
}

#endif
