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

/* out_p += sum_k c_k rows_kp for p >= from; nine rows of length r. */
BO_INLINE void add_nine_rows(int32_t r, int32_t from, const double *c, const double *restrict rows,
                             double *restrict out) {
    const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5], c6 = c[6], c7 = c[7], c8 = c[8];
    const double *a = rows, *b = a + r, *d = b + r, *e = d + r, *f = e + r, *g = f + r, *h = g + r, *i = h + r;
    const double *j = i + r;
    for (int32_t p = from; p < r; p++)
        out[p] += (c0 * a[p] + c1 * b[p] + c2 * d[p]) + (c3 * e[p] + c4 * f[p] + c5 * g[p]) +
                  (c6 * h[p] + c7 * i[p] + c8 * j[p]);
}

/* Upper triangle of hessian += G^T (weight C) G; CG: 9 x r. Whole vectors, so a little below the diagonal too. */
BO_INLINE void add_stiffness(int32_t r, double weight, const double *C, const double *G, double *CG, double *hessian) {
    double column[9];
    memset(CG, 0, sizeof *CG * 9 * (size_t)r);
    for (int k = 0; k < 9; k++) {
        for (int m = 0; m < 9; m++)
            column[m] = weight * C[9 * k + m];
        add_nine_rows(r, 0, column, G, CG + r * k);
    }
    for (int32_t l = 0; l < r; l++) {
        for (int k = 0; k < 9; k++)
            column[k] = G[r * k + l];
        add_nine_rows(r, l & ~3, column, CG, hessian + (size_t)r * (size_t)l);
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

/* dF = sum_l v_l G_l, product_l = sum w (C dF) : G_l */
BO_MULTIVERSION static bool multiply_cubature(const bough_component *c, const double *q, const double *v,
                                              double *gradient, double *product) {
    const bough_material_points *points = &c->cubature;
    const int32_t r = c->r;
    bo_elastic elastic = {0};
    memset(gradient, 0, sizeof *gradient * (size_t)r);
    memset(product, 0, sizeof *product * (size_t)r);
    for (int32_t i = 0; i < points->count; i++) {
        const double *G = points->gradient + 9 * (size_t)r * (size_t)i, weight = points->weight[i];
        if (i == 0 || points->material[i] != points->material[i - 1])
            elastic = bo_elastic_of(&c->materials[points->material[i]]);
        bo_mat3 F, P;
        double psi, C[81], dF[9];
        for (int k = 0; k < 9; k++) {
            F.m[k] = (k % 4 == 0) + dot(r, G + r * k, q);
            dF[k] = dot(r, G + r * k, v);
        }
        if (!bo_elastic_eval(&elastic, &F, &psi, &P, C))
            return false;
        for (int k = 0; k < 9; k++) {
            add_scaled(r, gradient, weight * P.m[k], G + r * k);
            add_scaled(r, product, weight * dot(9, C + 9 * k, dF), G + r * k);
        }
    }
    return true;
}

bool bough_component_product(const bough_component *component, const double *q, const double *v, double *scratch,
                             double *gradient, double *product) {
    switch (component->elastic) {
    case BOUGH_REDUCED_POLYNOMIAL:
        bo_quartic_product(component->r, component->quartic, q, v, scratch, gradient, product);
        break;
    case BOUGH_REDUCED_CUBATURE:
        return multiply_cubature(component, q, v, gradient, product);
    case BOUGH_REDUCED_LINEAR:
        evaluate_linear(component, q, scratch, NULL, gradient, NULL);
        evaluate_linear(component, v, scratch, NULL, product, NULL);
        break;
    case BOUGH_REDUCED_RIGID:
        break;
    }
    return true;
}
