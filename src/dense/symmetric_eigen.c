#include "dense/symmetric_eigen.h"

#include <float.h>
#include <math.h>

static double dot(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Applies H = I - beta v v^T from both sides to the symmetric m x m block B (leading dimension n, lower triangle):
 * with p = beta B v and w = p - (beta/2)(p.v) v,  H B H = B - v w^T - w v^T. */
static void reflect_both_sides(int m, double *B, int n, const double *v, double beta, double *w) {
    for (int i = 0; i < m; i++)
        w[i] = 0;
    for (int i = 0; i < m; i++) {
        const double *row = B + (long)n * i;
        double sum = row[i] * v[i], vi = v[i];
        for (int j = 0; j < i; j++) {
            sum += row[j] * v[j];
            w[j] += row[j] * vi;
        }
        w[i] += sum;
    }
    for (int i = 0; i < m; i++)
        w[i] *= beta;
    double half = 0.5 * beta * dot(m, w, v);
    for (int i = 0; i < m; i++)
        w[i] -= half * v[i];
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++)
            B[(long)n * i + j] -= v[i] * w[j] + w[i] * v[j];
}

/* Q^T A Q = tridiagonal(d, e) with Q = H_0 H_1 ... H_{n-3}. Reflector k lives in the then unused upper row k of A:
 * v_k in A[k][k+1..n-1], beta_k in A[k][k]. w: n doubles. */
static void tridiagonalize(int n, double *A, double *d, double *e, double *w) {
    for (int k = 0; k + 1 < n; k++) {
        double *v = A + (long)n * k + k + 1, *below = A + (long)n * (k + 1) + k;
        int m = n - 1 - k;
        for (int i = 0; i < m; i++)
            v[i] = below[(long)n * i];
        double tail = dot(m - 1, v + 1, v + 1), beta = 0;
        e[k] = v[0];
        if (tail > 0) {
            double length = sqrt(v[0] * v[0] + tail);
            e[k] = v[0] > 0 ? -length : length; /* the sign that does not cancel in v = x - e_k e_1 */
            v[0] -= e[k];
            beta = 2 / (v[0] * v[0] + tail);
            reflect_both_sides(m, A + (long)n * (k + 1) + k + 1, n, v, beta, w);
        }
        d[k] = A[(long)n * k + k];
        A[(long)n * k + k] = beta;
    }
    d[n - 1] = A[(long)n * n - 1];
}

/* W = Q^T, from the last reflector to the first, so that each acts on the block that is not yet the identity.
 * Row i of W is column i of Q: Q <- H_k Q is, for each row of W, row -= beta (row.v) v. */
static void accumulate(int n, const double *A, double *W) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            W[(long)n * i + j] = i == j;
    for (int k = n - 2; k >= 0; k--) {
        const double *v = A + (long)n * k + k + 1;
        double beta = A[(long)n * k + k];
        int m = n - 1 - k;
        if (beta == 0)
            continue;
        for (int i = k + 1; i < n; i++) {
            double *row = W + (long)n * i + k + 1, s = beta * dot(m, row, v);
            for (int j = 0; j < m; j++)
                row[j] -= s * v[j];
        }
    }
}

/* One implicit QR step on the unreduced block lo..hi: the first rotation is that of T - mu I with Wilkinson's shift mu
 * (the eigenvalue of the last 2x2 block nearer to its corner), the others chase the bulge down. G = [c s; -s c]. */
static void qr_step(int lo, int hi, int n, double *d, double *e, double *W) {
    double delta = 0.5 * (d[hi - 1] - d[hi]), b = e[hi - 1];
    double mu = d[hi] - b * b / (delta + (delta < 0 ? -1 : 1) * sqrt(delta * delta + b * b));
    double x = d[lo] - mu, z = e[lo];
    for (int k = lo; k < hi; k++) {
        double r = sqrt(x * x + z * z), c = r > 0 ? x / r : 1, s = r > 0 ? -z / r : 0;
        if (k > lo)
            e[k - 1] = r;
        double a = d[k], g = d[k + 1], ek = e[k];
        d[k] = c * c * a - 2 * c * s * ek + s * s * g;
        d[k + 1] = s * s * a + 2 * c * s * ek + c * c * g;
        e[k] = c * s * (a - g) + (c * c - s * s) * ek;
        x = e[k];
        if (k + 1 < hi) {
            z = -s * e[k + 1];
            e[k + 1] *= c;
        }
        if (!W)
            continue;
        double *p = W + (long)n * k, *q = p + n;
        for (int j = 0; j < n; j++) {
            double pj = p[j], qj = q[j];
            p[j] = c * pj - s * qj;
            q[j] = s * pj + c * qj;
        }
    }
}

/* Off-diagonal entries count as zero when they are lost beside the diagonal, or when their squares would vanish (the
 * matrix is scaled to size 1). */
static bool couples(const double *d, const double *e, int k) {
    return fabs(e[k]) > DBL_EPSILON * (fabs(d[k]) + fabs(d[k + 1])) && fabs(e[k]) > 1e-100;
}

static bool diagonalize(int n, double *d, double *e, double *W) {
    int hi = n - 1, patience = 40 * n;
    while (hi > 0) {
        int lo = hi;
        while (lo > 0 && couples(d, e, lo - 1))
            lo--;
        if (lo == hi)
            hi--;
        else if (patience-- > 0)
            qr_step(lo, hi, n, d, e, W);
        else
            return false;
        if (lo > 0)
            e[lo - 1] = 0;
    }
    return true;
}

static void swap_vectors(int n, double *a, double *b) {
    for (int i = 0; i < n; i++) {
        double t = a[i];
        a[i] = b[i], b[i] = t;
    }
}

/* Ascending values, then rows of eigenvectors become columns. */
static void sort_and_transpose(int n, double *values, double *V) {
    for (int i = 0; i + 1 < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++)
            if (values[j] < values[least])
                least = j;
        if (least == i)
            continue;
        swap_vectors(1, values + i, values + least);
        if (V)
            swap_vectors(n, V + (long)n * i, V + (long)n * least);
    }
    for (int i = 0; V && i < n; i++)
        for (int j = 0; j < i; j++)
            swap_vectors(1, V + (long)n * i + j, V + (long)n * j + i);
}

bool bo_sym_eigen(int n, double *A, double *values, double *V, double *scratch) {
    if (n <= 0)
        return true;
    double size = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double a = fabs(A[(long)n * i + j]);
            if (!isfinite(a))
                return false;
            size = a > size ? a : size;
        }
    /* a power of two near 1/size, so that squares neither overflow nor vanish and scaling is exact */
    int exponent = 0;
    frexp(size, &exponent);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            A[(long)n * i + j] = ldexp(A[(long)n * i + j], -exponent);
    tridiagonalize(n, A, values, scratch, scratch + n);
    if (V)
        accumulate(n, A, V);
    bool converged = diagonalize(n, values, scratch, V);
    for (int i = 0; i < n; i++)
        values[i] = ldexp(values[i], exponent);
    sort_and_transpose(n, values, V);
    return converged;
}
