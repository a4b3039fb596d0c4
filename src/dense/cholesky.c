#include "dense/cholesky.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* Row by row: L_ij = (A_ij - sum_k L_ik L_jk) / L_jj runs along two rows in memory. */
bool bo_cholesky_factor(int n, double *A) {
    for (int i = 0; i < n; i++) {
        double *row = A + (long)n * i, diagonal = row[i];
        for (int j = 0; j < i; j++) {
            const double *other = A + (long)n * j;
            double sum = row[j];
            for (int k = 0; k < j; k++)
                sum -= row[k] * other[k];
            row[j] = sum / other[j];
        }
        double pivot = diagonal;
        for (int k = 0; k < i; k++)
            pivot -= row[k] * row[k];
        if (!(pivot > n * DBL_EPSILON * fabs(diagonal) && isfinite(pivot)))
            return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

void bo_cholesky_solve(int n, const double *L, double *b) {
    for (int i = 0; i < n; i++) {
        const double *row = L + (long)n * i;
        double sum = b[i];
        for (int k = 0; k < i; k++)
            sum -= row[k] * b[k];
        b[i] = sum / row[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        const double *row = L + (long)n * i;
        double x = b[i] /= row[i];
        for (int k = 0; k < i; k++)
            b[k] -= row[k] * x;
    }
}

static void subtract_scaled(int count, double *restrict a, double s, const double *restrict b) {
    for (int i = 0; i < count; i++)
        a[i] -= s * b[i];
}
static void divide(int count, double *a, double s) {
    for (int i = 0; i < count; i++)
        a[i] /= s;
}

void bo_cholesky_solve_many(int n, const double *L, int count, double *B) {
    for (int i = 0; i < n; i++) {
        double *row = B + (long)count * i;
        for (int k = 0; k < i; k++)
            subtract_scaled(count, row, L[(long)n * i + k], B + (long)count * k);
        divide(count, row, L[(long)n * i + i]);
    }
    for (int i = n - 1; i >= 0; i--) {
        double *row = B + (long)count * i;
        divide(count, row, L[(long)n * i + i]);
        for (int k = 0; k < i; k++)
            subtract_scaled(count, B + (long)count * k, L[(long)n * i + k], row);
    }
}

void bo_cholesky_congruence(int n, const double *L, double *K) {
    const size_t m = (size_t)n;
    for (int side = 0; side < 2; side++) { /* K <- L^-1 K, transposed, twice */
        for (size_t i = 0; i < m; i++)
            for (size_t c = 0; c < m; c++) {
                double sum = K[i * m + c];
                for (size_t k = 0; k < i; k++)
                    sum -= L[i * m + k] * K[k * m + c];
                K[i * m + c] = sum / L[i * m + i];
            }
        for (size_t i = 0; i < m; i++)
            for (size_t c = 0; c < i; c++) {
                const double kept = K[i * m + c];
                K[i * m + c] = K[c * m + i];
                K[c * m + i] = kept;
            }
    }
}

void bo_cholesky_solve_back(int n, const double *L, int count, double *Y) {
    const size_t m = (size_t)n, columns = (size_t)count;
    for (size_t c = 0; c < columns; c++)
        for (size_t i = m; i-- > 0;) {
            double sum = Y[i * columns + c];
            for (size_t k = i + 1; k < m; k++)
                sum -= L[k * m + i] * Y[k * columns + c];
            Y[i * columns + c] = sum / L[i * m + i];
        }
}

/* With Y = L D: Y_ij = A_ij - sum_k Y_ik L_jk, then L_ij = Y_ij / D_j and D_i = A_ii - sum_k Y_ik L_ik. */
bool bo_ldlt_factor(int n, double *A, int *negative_count) {
    int negative = 0;
    for (int i = 0; i < n; i++) {
        double *row = A + (long)n * i, largest = 0;
        for (int j = 0; j <= i; j++)
            largest = fmax(largest, fabs(row[j]));
        for (int j = 0; j < i; j++) {
            const double *other = A + (long)n * j;
            double sum = row[j];
            for (int k = 0; k < j; k++)
                sum -= row[k] * other[k];
            row[j] = sum;
        }
        double pivot = row[i];
        for (int j = 0; j < i; j++) {
            double y = row[j];
            row[j] = y / A[(long)n * j + j];
            pivot -= y * row[j];
        }
        if (!(fabs(pivot) > n * DBL_EPSILON * largest && isfinite(pivot)))
            return false;
        negative += pivot < 0;
        row[i] = pivot;
    }
    if (negative_count)
        *negative_count = negative;
    return true;
}

void bo_ldlt_solve(int n, const double *LD, double *b) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            b[i] -= LD[(long)n * i + k] * b[k];
    for (int i = 0; i < n; i++)
        b[i] /= LD[(long)n * i + i];
    for (int i = n - 1; i >= 0; i--)
        for (int k = 0; k < i; k++)
            b[k] -= LD[(long)n * i + k] * b[i];
}
