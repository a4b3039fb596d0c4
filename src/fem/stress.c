/* Cauchy stress of each element. */
#include "fem/body.h"

#include "mesh/mesh.h"

#include <string.h>

/* sigma = P F^T / J at the mean of F over the element: one state of deformation stands for it, that of a brick's
 * middle. docs/theory/elements.md, "Stress". */
bool bo_body_try_stress(const bough_body *body, int32_t element, const double *u, double sigma[6]) {
    const bo_rule *rule = body->rule;
    const int32_t *nodes = bo_mesh_nodes(body->mesh, element);
    const bo_point_geometry *g = body->geometry + (size_t)rule->point_count * (size_t)element;
    bo_mat3 sum = {{0}}, inverse;
    double volume = 0;
    for (int32_t q = 0; q < rule->point_count && u; q++) {
        memcpy(inverse.m, g[q].inverse, sizeof inverse.m);
        const bo_mat3 gradient = bo_mat_mul(bo_rule_gradient(rule, q, u, nodes), inverse);
        sum = bo_mat_add(sum, bo_mat_scale(g[q].weight, gradient));
        volume += g[q].weight;
    }
    const bo_mat3 F = u ? bo_mat_add(bo_identity3(), bo_mat_scale(1 / volume, sum)) : bo_identity3();
    return bo_elastic_cauchy(&body->elastic[body->element_material[element]], &F, sigma);
}

static bough_status fail_inverted(bough_context *ctx, int32_t element) {
    return bo_fail(ctx, BOUGH_NOT_FINITE, "element %d (counted from 0) is inverted, which its material does not allow",
                   element);
}

bough_status bo_body_element_stress(bough_context *ctx, const bough_body *body, int32_t element, const double *u,
                                    double stress[6]) {
    return bo_body_try_stress(body, element, u, stress) ? BOUGH_OK : fail_inverted(ctx, element);
}

bough_status bough_body_stress(bough_context *ctx, const bough_body *body, const double *u, double *stress,
                               double *von_mises) {
    for (int32_t e = 0; e < body->mesh->element_count; e++) {
        double s[6];
        BO_TRY(bo_body_element_stress(ctx, body, e, u, s));
        if (stress)
            memcpy(stress + 6 * (size_t)e, s, sizeof s);
        if (von_mises)
            von_mises[e] = bough_von_mises(s);
    }
    return BOUGH_OK;
}
