/* Elastic energy, force and stiffness at q. */
#include <bough/component.h>

#include "base/simd.h"
#include "component/polynomial.h"
#include "material/elastic.h"

#include <string.h>

/* Flops of a material's stress and tangent, about: those of stvk. */
enum { MATERIAL_OPERATIONS = 700 };

size_t bough_component_scratch(const bough_component *component) {
    size_t r = (size_t)component->r;
    switch (component->elastic) {
    case BOUGH_REDUCED_POLYNOMIAL:
        return bo_quartic_scratch(component->r);
    case BOUGH_REDUCED_CUBATURE:
        return 9 * r; /* C : G of one point */
    case BOUGH_REDUCED_LINEAR:
        return r;
    case BOUGH_REDUCED_RIGID:
        break;
    }
    return 1;
}

double bough_component_operations(const bough_component *component) {
    double r = component->r, points = component->cubature.count;
    switch (component->elastic) {
    case BOUGH_REDUCED_POLYNOMIAL:
        return 6 * (double)bo_quartic_count(component->r);
    case BOUGH_REDUCED_CUBATURE: /* F, gradient, C : G, half of G^T C G */
        return points * (18 * r + 18 * r + 162 * r + 9 * r * (r + 1) + MATERIAL_OPERATIONS);
    case BOUGH_REDUCED_LINEAR:
        return 2 * r * r;
    case BOUGH_REDUCED_RIGID:
        break;
    }
    return 0;
}

BO_INLINE double dot(int32_t n, const double *restrict a, const double *restrict b) {
    double sum[4] = {0};
    int32_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
BO_INLINE void add_scaled(int32_t n, double *restrict y, double s, const double *restrict x) {
    for (int32_t i = 0; i < n; i++)
        y[i] += s * x[i];
}

/* f = K q, E = q . f / 2 */
static void evaluate_linear(const bough_component *c, const double *q, double *scratch, double *energy,
                            double *gradient, double *hessian) {
    size_t r = (size_t)c->r;
    double *f = gradient ? gradient : scratch, sum = 0;
    for (size_t l = 0; l < r; l++) {
        f[l] = dot(c->r, c->K + r * l, q);
        sum += 0.5 * q[l] * f[l];
    }
    if (energy)
        *energy = sum;
    if (hessian)
        memcpy(hessian, c->K, sizeof *hessian * r * r);
}

/* Upper triangle of hessian += G^T C' G with C' = weight C; CG: 9 x r. */
BO_INLINE void add_stiffness(int32_t r, double weight, const double *C, const double *G, double *CG, double *hessian) {
    for (int k = 0; k < 9; k++) {
        double *row = CG + r * k;
        memset(row, 0, sizeof *row * (size_t)r);
        for (int m = 0; m < 9; m++)
            add_scaled(r, row, weight * C[9 * k + m], G + r * m);
    }
    for (int32_t l = 0; l < r; l++) {
        double *restrict row = hessian + (size_t)r * (size_t)l;
        const double *restrict T = CG;
        const double *g = G + l;
        for (int32_t p = l; p < r; p++)
            row[p] += g[0] * T[p] + g[r] * T[r + p] + g[2 * r] * T[2 * r + p] + g[3 * r] * T[3 * r + p] +
                      g[4 * r] * T[4 * r + p] + g[5 * r] * T[5 * r + p] + g[6 * r] * T[6 * r + p] +
                      g[7 * r] * T[7 * r + p] + g[8 * r] * T[8 * r + p];
    }
}

/* F = I + sum_l q_l G_l, E = sum w psi(F), dE/dq_l = sum w P : G_l, d2E/dq2 = sum w G^T C G */
BO_MULTIVERSION static bool evaluate_cubature(const bough_component *c, const double *q, double *scratch,
                                              double *energy, double *gradient, double *hessian) {
    const bough_material_points *points = &c->cubature;
    const int32_t r = c->r;
    double sum = 0, C[81];
    bo_elastic elastic = {0};
    if (gradient)
        memset(gradient, 0, sizeof *gradient * (size_t)r);
    if (hessian)
        memset(hessian, 0, sizeof *hessian * (size_t)r * (size_t)r);
    for (int32_t i = 0; i < points->count; i++) {
        const double *G = points->gradient + 9 * (size_t)r * (size_t)i, weight = points->weight[i];
        if (i == 0 || points->material[i] != points->material[i - 1])
            elastic = bo_elastic_of(&c->materials[points->material[i]]);
        bo_mat3 F, P;
        for (int k = 0; k < 9; k++)
            F.m[k] = (k % 4 == 0) + dot(r, G + r * k, q);
        double psi;
        if (!bo_elastic_eval(&elastic, &F, &psi, gradient ? &P : NULL, hessian ? C : NULL))
            return false;
        sum += weight * psi;
        if (gradient)
            for (int k = 0; k < 9; k++)
                add_scaled(r, gradient, weight * P.m[k], G + r * k);
        if (hessian)
            add_stiffness(r, weight, C, G, scratch, hessian);
    }
    if (hessian)
        for (int32_t l = 0; l < r; l++)
            for (int32_t p = 0; p < l; p++)
                hessian[r * l + p] = hessian[r * p + l];
    if (energy)
        *energy = sum;
    return true;
}

bool bough_component_evaluate(const bough_component *component, const double *q, double *scratch, double *energy,
                              double *gradient, double *hessian) {
    switch (component->elastic) {
    case BOUGH_REDUCED_POLYNOMIAL:
        bo_quartic_evaluate(component->r, component->quartic, q, scratch, energy, gradient, hessian);
        return true;
    case BOUGH_REDUCED_CUBATURE:
        return evaluate_cubature(component, q, scratch, energy, gradient, hessian);
    case BOUGH_REDUCED_LINEAR:
        evaluate_linear(component, q, scratch, energy, gradient, hessian);
        return true;
    case BOUGH_REDUCED_RIGID:
        break;
    }
    if (energy)
        *energy = 0;
    return true;
}
