#include "dense/lu.h"

#include <float.h>
#include <math.h>

static void swap_rows(int count, double *a, double *b) {
    for (int i = 0; i < count; i++) {
        double t = a[i];
        a[i] = b[i], b[i] = t;
    }
}
static void subtract_scaled(int count, double *restrict a, double s, const double *restrict b) {
    for (int i = 0; i < count; i++)
        a[i] -= s * b[i];
}

bool bo_lu_factor(int n, double *A, int32_t *pivots) {
    double largest = 0;
    for (long i = 0; i < (long)n * n; i++)
        largest = fmax(largest, fabs(A[i]));
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[(long)n * i + k]) > fabs(A[(long)n * best + k]))
                best = i;
        pivots[k] = best;
        if (best != k)
            swap_rows(n, A + (long)n * k, A + (long)n * best);
        const double *top = A + (long)n * k;
        if (!(fabs(top[k]) > n * DBL_EPSILON * largest && isfinite(top[k])))
            return false;
        for (int i = k + 1; i < n; i++) {
            double *row = A + (long)n * i;
            row[k] /= top[k];
            subtract_scaled(n - 1 - k, row + k + 1, row[k], top + k + 1);
        }
    }
    return true;
}

void bo_lu_solve(int n, const double *LU, const int32_t *pivots, double *b) {
    bo_lu_solve_many(n, LU, pivots, 1, b);
}

void bo_lu_solve_many(int n, const double *LU, const int32_t *pivots, int count, double *B) {
    for (int k = 0; k < n; k++)
        if (pivots[k] != k)
            swap_rows(count, B + (long)count * k, B + (long)count * pivots[k]);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            subtract_scaled(count, B + (long)count * i, LU[(long)n * i + k], B + (long)count * k);
    for (int i = n - 1; i >= 0; i--) {
        double *row = B + (long)count * i, pivot = LU[(long)n * i + i];
        for (int k = i + 1; k < n; k++)
            subtract_scaled(count, row, LU[(long)n * i + k], B + (long)count * k);
        for (int j = 0; j < count; j++)
            row[j] /= pivot;
    }
}
