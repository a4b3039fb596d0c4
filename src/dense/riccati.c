#include "dense/riccati.h"

#include "dense/cholesky.h"
#include "dense/lu.h"

#include <math.h>
#include <string.h>

#define HALF 0.5        /* norm of a matrix whose exponential is summed up as it is */
#define TERMS 20        /* of that sum: 0.5^20 / 20! is far below an ulp */
#define CONVERGED 1e-14 /* relative change of X */
enum { MOST_DOUBLINGS = 60 };

/* C = A B for A (a x b), B (b x c). */
static void multiply(int a, int b, int c, const double *A, const double *B, double *C) {
    memset(C, 0, (size_t)a * (size_t)c * sizeof *C);
    for (int i = 0; i < a; i++)
        for (int k = 0; k < b; k++)
            for (int j = 0; j < c; j++)
                C[(long)c * i + j] += A[(long)b * i + k] * B[(long)c * k + j];
}

/* C = A^T B for A (b x a), B (b x c). */
static void multiply_transposed(int a, int b, int c, const double *A, const double *B, double *C) {
    memset(C, 0, (size_t)a * (size_t)c * sizeof *C);
    for (int k = 0; k < b; k++)
        for (int i = 0; i < a; i++)
            for (int j = 0; j < c; j++)
                C[(long)c * i + j] += A[(long)a * k + i] * B[(long)c * k + j];
}

static double largest(long count, const double *x) {
    double most = 0, sum = 0;
    for (long i = 0; i < count; i++)
        most = fmax(most, fabs(x[i])), sum += x[i];
    return isfinite(sum) ? most : INFINITY;
}

/* ---- sampling ---- */

/* E = exp(S), by its series for S / 2^k and k squarings. S is overwritten; scratch: 2 n^2. */
static void exponential(int n, double *S, double *E, double *scratch) {
    const long square = (long)n * n;
    double *term = scratch, *next = scratch + square, norm = largest(square, S) * n;
    int squarings = 0;
    for (; norm > HALF && isfinite(norm); norm /= 2)
        squarings++;
    for (long i = 0; i < square; i++)
        S[i] = ldexp(S[i], -squarings), E[i] = term[i] = i % (n + 1) == 0;
    for (int k = 1; k <= TERMS; k++) {
        multiply(n, n, n, term, S, next);
        for (long i = 0; i < square; i++)
            term[i] = next[i] / k, E[i] += term[i];
    }
    for (int k = 0; k < squarings; k++) {
        multiply(n, n, n, E, E, next);
        memcpy(E, next, (size_t)square * sizeof *E);
    }
}

/* exp of ((A, B), (0, 0)) dt = ((Ad, Bd), (0, 1)). */
void bo_sample_system(int n, int m, const double *A, const double *B, double dt, double *Ad, double *Bd,
                      double *scratch) {
    const int all = n + m;
    const long square = (long)all * all;
    double *S = scratch, *E = scratch + square;
    memset(S, 0, (size_t)square * sizeof *S);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            S[(long)all * i + j] = dt * A[(long)n * i + j];
        for (int j = 0; j < m; j++)
            S[(long)all * i + n + j] = dt * B[(long)m * i + j];
    }
    exponential(all, S, E, scratch + 2 * square);
    for (int i = 0; i < n; i++) {
        memcpy(Ad + (long)n * i, E + (long)all * i, (size_t)n * sizeof *Ad);
        memcpy(Bd + (long)m * i, E + (long)all * i + n, (size_t)m * sizeof *Bd);
    }
}

/* ---- Riccati's equation ---- */

int64_t bo_riccati_scratch(int n, int m) {
    return 6 * (int64_t)n * n + 2 * (int64_t)n * m + (int64_t)m * m;
}

/* G = B R^-1 B^T. half, R_copy: scratch. */
static bool start_G(int n, int m, const double *B, const double *R, double *half, double *R_copy, double *G) {
    memcpy(R_copy, R, (size_t)m * (size_t)m * sizeof *R);
    if (!bo_cholesky_factor(m, R_copy))
        return false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            half[(long)n * j + i] = B[(long)m * i + j];
    bo_cholesky_solve_many(m, R_copy, n, half);
    multiply(n, m, n, B, half, G);
    return true;
}

/* L = (R + B^T X B)^-1 B^T X A. */
static bool find_gains(int n, int m, const double *A, const double *B, const double *R, const double *X, double *XB,
                       double *S, double *L) {
    multiply(n, n, m, X, B, XB); /* X is symmetric: its transpose is B^T X */
    multiply_transposed(m, n, m, B, XB, S);
    for (long i = 0; i < (long)m * m; i++)
        S[i] += R[i];
    multiply_transposed(m, n, n, XB, A, L);
    if (!bo_cholesky_factor(m, S))
        return false;
    bo_cholesky_solve_many(m, S, n, L);
    return isfinite(largest((long)m * n, L));
}

/* One doubling: with W = 1 + G H,
 *   A <- A W^-1 A,   G <- G + A W^-1 G A^T,   H <- H + A^T H W^-1 A
 * After k of them A is the closed loop over 2^k steps, and H what 2^k steps cost. Returns the change of H, or -1. */
static double double_steps(int n, double *A, double *G, double *H, double *w, int32_t *pivots) {
    const long square = (long)n * n;
    double *W = w, *WA = w + square, *WG = w + 2 * square, *next = w + 3 * square;
    multiply(n, n, n, G, H, W);
    for (int i = 0; i < n; i++)
        W[(long)(n + 1) * i] += 1;
    if (!bo_lu_factor(n, W, pivots))
        return -1;
    memcpy(WA, A, (size_t)square * sizeof *WA), memcpy(WG, G, (size_t)square * sizeof *WG);
    bo_lu_solve_many(n, W, pivots, n, WA), bo_lu_solve_many(n, W, pivots, n, WG);
    multiply(n, n, n, H, WA, W);
    multiply_transposed(n, n, n, A, W, next);
    double change = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double more = 0.5 * (next[(long)n * i + j] + next[(long)n * j + i]);
            H[(long)n * i + j] += more, change = fmax(change, fabs(more));
        }
    multiply(n, n, n, A, WG, W);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += W[(long)n * i + k] * A[(long)n * j + k];
            next[(long)n * i + j] = sum;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            G[(long)n * i + j] += 0.5 * (next[(long)n * i + j] + next[(long)n * j + i]);
    multiply(n, n, n, A, WA, next);
    memcpy(A, next, (size_t)square * sizeof *A);
    return change;
}

bool bo_riccati_solve(int n, int m, const double *A, const double *B, const double *Q, const double *R, double *X,
                      double *L, double *scratch, int32_t *pivots) {
    const long square = (long)n * n;
    double *Ak = scratch, *G = Ak + square, *work = G + square, *half = work + 4 * square, *S = half + 2L * n * m;
    if (!start_G(n, m, B, R, half, S, G))
        return false;
    memcpy(Ak, A, (size_t)square * sizeof *Ak);
    memcpy(X, Q, (size_t)square * sizeof *X);
    for (int k = 0; k < MOST_DOUBLINGS; k++) {
        const double change = double_steps(n, Ak, G, X, work, pivots);
        if (!(change >= 0) || !isfinite(largest(square, X)))
            return false;
        /* X may converge before motions that cost nothing have decayed; the closed loop has to decay too. */
        if (change <= CONVERGED * largest(square, X) && largest(square, Ak) < CONVERGED)
            return find_gains(n, m, A, B, R, X, half, S, L);
    }
    return false;
}
