#include "base/eigen3.h"

/* One rotation J in the plane (p,q) that makes (J^T A J)_pq = 0. With theta = (A_qq - A_pp) / (2 A_pq) the smaller root
 * of t^2 + 2 theta t - 1 = 0 is the tangent; c and s follow. Both triangles of A are kept. */
static void rotate(int n, double *A, double *V, int p, int q) {
    double apq = A[n * p + q], theta = (A[n * q + q] - A[n * p + p]) / (2 * apq);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    double c = 1 / sqrt(1 + t * t), s = t * c;
    A[n * p + p] -= t * apq;
    A[n * q + q] += t * apq;
    A[n * p + q] = A[n * q + p] = 0;
    for (int k = 0; k < n; k++) {
        if (k != p && k != q) {
            double akp = A[n * k + p], akq = A[n * k + q];
            A[n * k + p] = A[n * p + k] = c * akp - s * akq;
            A[n * k + q] = A[n * q + k] = s * akp + c * akq;
        }
        double vkp = V[n * k + p], vkq = V[n * k + q];
        V[n * k + p] = c * vkp - s * vkq;
        V[n * k + q] = s * vkp + c * vkq;
    }
}

void bo_jacobi(int n, double *A, double *V) {
    enum { MAX_SWEEPS = 32 }; /* 4 to 6 suffice; the limit only guards against values that are not finite */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            V[n * i + j] = i == j;
            if (j < i)
                A[n * i + j] = A[n * j + i];
        }
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        int rotations = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double off = fabs(A[n * p + q]);
                if (off == 0)
                    continue;
                if (off < 1e-17 * (fabs(A[n * p + p]) + fabs(A[n * q + q]))) {
                    A[n * p + q] = A[n * q + p] = 0;
                    continue;
                }
                rotate(n, A, V, p, q);
                rotations++;
            }
        if (rotations == 0)
            return;
    }
}

void bo_eigen3(bo_mat3 A, bo_vec3 *values, bo_mat3 *V) {
    double X[9];
    bo_jacobi(3, A.m, X);
    int order[3] = {0, 1, 2};
    for (int i = 1; i < 3; i++)
        for (int j = i; j > 0 && A.m[4 * order[j]] < A.m[4 * order[j - 1]]; j--) {
            int other = order[j];
            order[j] = order[j - 1], order[j - 1] = other;
        }
    *values = bo_v3(A.m[4 * order[0]], A.m[4 * order[1]], A.m[4 * order[2]]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            V->m[3 * i + j] = X[3 * i + order[j]];
    if (bo_det(*V) < 0)
        for (int i = 0; i < 3; i++)
            V->m[3 * i] = -V->m[3 * i];
}
