#include "component/joints.h"

#include <math.h>
#include <string.h>

void bo_joint_monomials(double s, double t, double m[BO_JOINT_MONOMIALS]) {
    m[0] = 1, m[1] = s, m[2] = t;
    m[3] = s * s, m[4] = s * t, m[5] = t * t;
}

/* sum over directions of f^T G g */
static double product(const bo_joint_geometry *geometry, const double *f, const double *g) {
    double sum = 0;
    for (int i = 0; i < BO_JOINT_MONOMIALS; i++)
        for (int j = 0; j < BO_JOINT_MONOMIALS; j++)
            for (int d = 0; d < 3; d++)
                sum += f[3 * i + d] * geometry->moments[BO_JOINT_MONOMIALS * i + j] * g[3 * j + d];
    return sum;
}

/* The functions before they are made orthonormal: rigid motions, strains of the interface's plane, its bending, and the
 * other terms of second degree within it. Each has up to two terms: number of the monomial, direction, factor. */
static const struct {
    int monomial[2], direction[2], factor[2];
} terms[6 + BO_JOINT_FUNCTIONS] = {
    {{0}, {0}, {1}}, {{0}, {1}, {1}}, {{0}, {2}, {1}},          {{2, 1}, {0, 1}, {-1, 1}}, {{2}, {2}, {1}},
    {{1}, {2}, {1}}, {{1}, {0}, {1}}, {{2, 1}, {0, 1}, {1, 1}}, {{2}, {1}, {1}},           {{3}, {2}, {1}},
    {{4}, {2}, {1}}, {{5}, {2}, {1}}, {{3}, {0}, {1}},          {{4}, {0}, {1}},           {{5}, {0}, {1}},
    {{3}, {1}, {1}}, {{4}, {1}, {1}}, {{5}, {1}, {1}},
};

void bo_joint_functions(const bo_joint_geometry *geometry, double Z[BO_JOINT_TERMS * BO_JOINT_FUNCTIONS]) {
    double f[6 + BO_JOINT_FUNCTIONS][BO_JOINT_TERMS] = {{0}};
    for (int k = 0; k < 6 + BO_JOINT_FUNCTIONS; k++) {
        for (int term = 0; term < 2; term++)
            f[k][3 * terms[k].monomial[term] + terms[k].direction[term]] += terms[k].factor[term];
        const double before = product(geometry, f[k], f[k]);
        for (int round = 0; round < 2; round++)
            for (int j = 0; j < k; j++) {
                const double part = product(geometry, f[j], f[k]);
                for (int i = 0; i < BO_JOINT_TERMS; i++)
                    f[k][i] -= part * f[j][i];
            }
        const double left = product(geometry, f[k], f[k]);
        const double factor = left > 1e-6 * before && left > 1e-12 ? 1 / sqrt(left) : 0;
        for (int i = 0; i < BO_JOINT_TERMS; i++)
            f[k][i] *= factor;
    }
    for (int i = 0; i < BO_JOINT_TERMS; i++)
        for (int k = 0; k < BO_JOINT_FUNCTIONS; k++)
            Z[i * BO_JOINT_FUNCTIONS + k] = f[6 + k][i];
}

/* Other's coordinates are s' = a s + b t, t' = c s + d t; the coefficients of its polynomial in s, t. */
static void substitute(double a, double b, double c, double d, const double p[6], double q[6]) {
    q[0] = p[0];
    q[1] = p[1] * a + p[2] * c;
    q[2] = p[1] * b + p[2] * d;
    q[3] = p[3] * a * a + p[4] * a * c + p[5] * c * c;
    q[4] = 2 * p[3] * a * b + p[4] * (a * d + b * c) + 2 * p[5] * c * d;
    q[5] = p[3] * b * b + p[4] * b * d + p[5] * d * d;
}

void bo_joint_translate(const bo_joint_geometry *own, const bo_joint_geometry *other, bo_mat3 R, double ratio,
                        double D[BO_JOINT_FUNCTIONS * BO_JOINT_FUNCTIONS]) {
    double Z[BO_JOINT_TERMS * BO_JOINT_FUNCTIONS], Zo[BO_JOINT_TERMS * BO_JOINT_FUNCTIONS];
    bo_mat3 A, B;
    memcpy(A.m, own->axes, sizeof A.m);
    memcpy(B.m, other->axes, sizeof B.m);
    const bo_mat3 T = bo_mat_mul(bo_transpose(A), bo_mat_mul(R, B)); /* from other's local axes to own's */
    bo_joint_functions(own, Z);
    bo_joint_functions(other, Zo);
    for (int k = 0; k < BO_JOINT_FUNCTIONS; k++) {
        double seen[BO_JOINT_TERMS] = {0};
        for (int e = 0; e < 3; e++) { /* direction in other's axes */
            double p[6], q[6];
            for (int i = 0; i < 6; i++)
                p[i] = Zo[(3 * i + e) * BO_JOINT_FUNCTIONS + k];
            substitute(ratio * T.m[0], ratio * T.m[3], ratio * T.m[1], ratio * T.m[4], p, q);
            for (int i = 0; i < BO_JOINT_TERMS; i++)
                seen[i] += T.m[3 * (i % 3) + e] * q[i / 3];
        }
        for (int j = 0; j < BO_JOINT_FUNCTIONS; j++) {
            double f[BO_JOINT_TERMS];
            for (int i = 0; i < BO_JOINT_TERMS; i++)
                f[i] = Z[i * BO_JOINT_FUNCTIONS + j];
            D[j * BO_JOINT_FUNCTIONS + k] = product(own, f, seen);
        }
    }
}
