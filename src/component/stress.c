#include "component/stress.h"

#include "base/eigen3.h"
#include "base/polar.h"
#include "material/elastic.h"

#include <math.h>
#include <string.h>

/* sum_l q_l gradient_l */
static bo_mat3 displacement_gradient(int32_t r, const double *gradient, const double *q) {
    bo_mat3 G = {{0}};
    for (int32_t k = 0; k < 9 * r; k++)
        G.m[k / r] += gradient[k] * q[k % r];
    return G;
}

void bo_component_gauges(const bough_component *c, const double *q, const double *seam, double *values) {
    const double quadratic = c->elastic != BOUGH_REDUCED_LINEAR;
    for (int32_t i = 0; i < c->gauges.count; i++, values += 6) {
        const bo_mat3 G = displacement_gradient(c->r, c->gauges.gradient + 9 * (size_t)i * (size_t)c->r, q);
        const bo_mat3 E = bo_mat_add(bo_sym(G), bo_mat_scale(0.5 * quadratic, bo_mat_mul(bo_transpose(G), G)));
        memcpy(values, (double[]){E.m[0], E.m[4], E.m[8], E.m[5], E.m[2], E.m[1]}, 6 * sizeof *values);
    }
    for (int k = 0; k < BOUGH_SEAM; k++)
        values[k] = seam ? seam[k] : 0;
}

/* R C^1/2 with the rotation R of F: the deformation with the strain C and the axes of F. */
static bool stretch(bo_mat3 *F, bo_mat3 C) {
    bo_mat3 R, S, V;
    bo_vec3 values;
    if (!bo_polar(*F, &R, &S))
        return false;
    bo_eigen3(C, &values, &V);
    if (!(values.x > 0))
        return false;
    const bo_vec3 roots = bo_v3(sqrt(values.x), sqrt(values.y), sqrt(values.z));
    bo_mat3 root = V;
    for (int k = 0; k < 9; k++)
        root.m[k] *= k % 3 == 0 ? roots.x : k % 3 == 1 ? roots.y : roots.z;
    *F = bo_mat_mul(R, bo_mat_mul(root, bo_transpose(V)));
    return true;
}

bool bo_component_stress_with(const bough_component *c, int32_t i, const double *q, const double *values,
                              double stress[6], double *von_mises) {
    const bo_elastic elastic = bo_elastic_of(&c->materials[c->stress.material[i]]);
    const int32_t columns = 6 * c->gauges.count + BOUGH_SEAM;
    bo_mat3 F = bo_identity3();
    if (c->r > 0)
        F = bo_mat_add(F, displacement_gradient(c->r, c->stress.gradient + 9 * (size_t)i * (size_t)c->r, q));
    if (!(bo_det(F) > 0))
        return false;
    double more[6] = {0}, s[6];
    for (int k = 0; k < 6 && c->gauges.count > 0 && values; k++)
        for (int32_t j = 0; j < columns; j++)
            more[k] += c->gauges.D[(6 * (size_t)i + (size_t)k) * (size_t)columns + (size_t)j] * values[j];
    const bo_mat3 E = {{more[0], more[5], more[4], more[5], more[1], more[3], more[4], more[3], more[2]}};
    if (elastic.model == BOUGH_MATERIAL_LINEAR)
        F = bo_mat_add(F, E);
    else if (c->gauges.count > 0 && !stretch(&F, bo_mat_add(bo_mat_mul(bo_transpose(F), F), bo_mat_scale(2, E))))
        return false;
    if (!bo_elastic_cauchy(&elastic, &F, s))
        return false;
    for (int k = 0; k < 6 && stress; k++)
        stress[k] = s[k];
    if (von_mises)
        *von_mises = bough_von_mises(s);
    return true;
}

bool bough_component_stress(const bough_component *component, int32_t i, const double *q, double stress[6],
                            double *von_mises) {
    double values[6 * BOUGH_MAX_GAUGES + BOUGH_SEAM];
    bo_component_gauges(component, q, NULL, values);
    return bo_component_stress_with(component, i, q, values, stress, von_mises);
}
