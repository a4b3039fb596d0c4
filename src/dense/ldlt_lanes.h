/* LDL^T of small symmetric positive definite matrices, inlined into multiversioned functions (base/simd.h): of one
 * matrix with rows in whole vectors, or of eight side by side. The factor has unit L below the diagonal and 1 / D on
 * it. Pivots must be above r ulp of their diagonal entry. */
#ifndef BO_DENSE_LDLT_LANES_H
#define BO_DENSE_LDLT_LANES_H

#include "base/simd.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BO_LDLT_WIDE = 8 };

/* ---- one: rows of n, a multiple of four; what lies beyond the diagonal is used as scratch ---- */

/* scratch: 2 n doubles */
BO_INLINE bool bo_ldlt_one(int32_t r, int32_t n, double *restrict A, double *restrict scratch) {
    double *column = scratch, *diagonal = scratch + n;
    for (int32_t j = 0; j < r; j++)
        diagonal[j] = A[j * n + j];
    for (int32_t j = 0; j < r; j++) {
        const double d = A[j * n + j];
        if (!(d > r * DBL_EPSILON * diagonal[j]))
            return false;
        const double inverse = 1 / d;
        const int32_t start = (j + 1) & ~3;
        for (int32_t k = start; k <= j; k++)
            column[k] = 0;
        for (int32_t i = j + 1; i < r; i++)
            column[i] = A[i * n + j];
        for (int32_t k = r; k < n; k++)
            column[k] = 0;
        for (int32_t i = j + 1; i < r; i++) {
            const double l = column[i] * inverse;
            double *row = A + (ptrdiff_t)i * n;
            for (int32_t k = start; k <= i; k += 4)
                BO_V4(row + k) -= l * BO_V4_CONST(column + k);
            row[j] = l;
        }
        A[j * n + j] = inverse;
    }
    return true;
}

/* B (r x 8) <- L^-1 B */
BO_INLINE void bo_ldlt_forward_one(int32_t r, int32_t n, const double *restrict L, double *restrict B) {
    for (int32_t k = 1; k < r; k++) {
        const double *row = L + (ptrdiff_t)k * n;
        bo_v4 even0 = BO_V4_CONST(B + 8 * k), even1 = BO_V4_CONST(B + 8 * k + 4), odd0 = {0}, odd1 = {0};
        int32_t l = 0;
        for (; l + 1 < k; l += 2) {
            even0 -= row[l] * BO_V4_CONST(B + 8 * l), even1 -= row[l] * BO_V4_CONST(B + 8 * l + 4);
            odd0 -= row[l + 1] * BO_V4_CONST(B + 8 * l + 8), odd1 -= row[l + 1] * BO_V4_CONST(B + 8 * l + 12);
        }
        if (l < k)
            even0 -= row[l] * BO_V4_CONST(B + 8 * l), even1 -= row[l] * BO_V4_CONST(B + 8 * l + 4);
        BO_V4(B + 8 * k) = even0 + odd0;
        BO_V4(B + 8 * k + 4) = even1 + odd1;
    }
}

/* b <- L^-T b, by rows of L. b has n entries; those after entry r hold anything afterwards. */
BO_INLINE void bo_ldlt_back_one(int32_t r, int32_t n, const double *restrict L, double *restrict b) {
    for (int32_t k = r - 1; k > 0; k--) {
        const double *row = L + (ptrdiff_t)k * n, x = b[k];
        int32_t l = 0;
        for (; l + 4 <= k; l += 4)
            BO_V4(b + l) -= x * BO_V4_CONST(row + l);
        for (; l < k; l++)
            b[l] -= x * row[l];
    }
}

/* b <- L^-1 b */
BO_INLINE void bo_ldlt_forward_vector_one(int32_t r, int32_t n, const double *restrict L, double *restrict b) {
    for (int32_t k = 1; k < r; k++) {
        const double *row = L + (ptrdiff_t)k * n;
        bo_v4 sum = {0};
        double rest = b[k];
        int32_t l = 0;
        for (; l + 4 <= k; l += 4)
            sum += BO_V4_CONST(row + l) * BO_V4_CONST(b + l);
        for (; l < k; l++)
            rest -= row[l] * b[l];
        b[k] = rest - ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

/* ---- eight side by side: lower triangles packed by rows, lanes innermost ---- */

#define BO_WIDE_LOW(address) BO_V4(address)
#define BO_WIDE_HIGH(address) BO_V4((address) + 4)

/* scratch: 16 r doubles */
BO_INLINE bool bo_ldlt_wide(int32_t r, double *restrict A, double *restrict scratch) {
    enum { W = BO_LDLT_WIDE };
    double *column = scratch, *diagonal = scratch + (ptrdiff_t)W * r;
    for (int32_t j = 0; j < r; j++)
        for (int k = 0; k < W; k++)
            diagonal[W * j + k] = A[W * (j * (j + 1) / 2 + j) + k];
    bool good = true;
    for (int32_t j = 0; j < r; j++) {
        double *pivot = A + (ptrdiff_t)W * (j * (j + 1) / 2 + j);
        for (int k = 0; k < W; k++)
            good = good && pivot[k] > r * DBL_EPSILON * diagonal[W * j + k];
        const bo_v4 low = 1 / BO_WIDE_LOW(pivot), high = 1 / BO_WIDE_HIGH(pivot);
        BO_WIDE_LOW(pivot) = low, BO_WIDE_HIGH(pivot) = high;
        for (int32_t i = j + 1; i < r; i++) {
            double *row = A + (ptrdiff_t)W * (i * (i + 1) / 2);
            const bo_v4 u0 = BO_WIDE_LOW(row + W * j), u1 = BO_WIDE_HIGH(row + W * j), l0 = u0 * low, l1 = u1 * high;
            BO_WIDE_LOW(column + W * i) = u0, BO_WIDE_HIGH(column + W * i) = u1;
            BO_WIDE_LOW(row + W * j) = l0, BO_WIDE_HIGH(row + W * j) = l1;
            for (int32_t k = j + 1; k <= i; k++) {
                BO_WIDE_LOW(row + W * k) -= l0 * BO_WIDE_LOW(column + W * k);
                BO_WIDE_HIGH(row + W * k) -= l1 * BO_WIDE_HIGH(column + W * k);
            }
        }
    }
    return good;
}

/* B (r x 8 right-hand sides x lanes) <- L^-1 B */
BO_INLINE void bo_ldlt_forward_wide(int32_t r, const double *restrict L, double *restrict B) {
    enum { W = BO_LDLT_WIDE, ROW = 8 * W };
    for (int32_t k = 1; k < r; k++) {
        const double *row = L + (ptrdiff_t)W * (k * (k + 1) / 2);
        for (int h = 0; h < W; h += BO_WIDTH) { /* eight sums, whatever a register holds */
            double *b = B + (ptrdiff_t)ROW * k + h;
            bo_vw s[8];
            for (int i = 0; i < 8; i++)
                s[i] = BO_VW_CONST(b + W * i);
            for (int32_t l = 0; l < k; l++) {
                const bo_vw factor = BO_VW_CONST(row + W * l + h);
                const double *x = B + (ptrdiff_t)ROW * l + h;
                for (int i = 0; i < 8; i++)
                    s[i] -= factor * BO_VW_CONST(x + W * i);
            }
            for (int i = 0; i < 8; i++)
                BO_VW(b + W * i) = s[i];
        }
    }
}

/* b (r x lanes) <- L^-1 b */
BO_INLINE void bo_ldlt_forward_vector_wide(int32_t r, const double *restrict L, double *restrict b) {
    enum { W = BO_LDLT_WIDE };
    for (int32_t k = 1; k < r; k++) {
        const double *row = L + (ptrdiff_t)W * (k * (k + 1) / 2);
        bo_v4 s0 = BO_WIDE_LOW(b + W * k), s1 = BO_WIDE_HIGH(b + W * k);
        for (int32_t l = 0; l < k; l++) {
            s0 -= BO_V4_CONST(row + W * l) * BO_WIDE_LOW(b + W * l);
            s1 -= BO_V4_CONST(row + W * l + 4) * BO_WIDE_HIGH(b + W * l);
        }
        BO_WIDE_LOW(b + W * k) = s0, BO_WIDE_HIGH(b + W * k) = s1;
    }
}

/* b (r x lanes) <- L^-T b */
BO_INLINE void bo_ldlt_back_wide(int32_t r, const double *restrict L, double *restrict b) {
    enum { W = BO_LDLT_WIDE };
    for (int32_t k = r - 1; k > 0; k--) {
        const double *row = L + (ptrdiff_t)W * (k * (k + 1) / 2);
        const bo_v4 x0 = BO_WIDE_LOW(b + W * k), x1 = BO_WIDE_HIGH(b + W * k);
        for (int32_t l = 0; l < k; l++) {
            BO_WIDE_LOW(b + W * l) -= x0 * BO_V4_CONST(row + W * l);
            BO_WIDE_HIGH(b + W * l) -= x1 * BO_V4_CONST(row + W * l + 4);
        }
    }
}

#endif
