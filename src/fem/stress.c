/* Cauchy stress of each element. */
#include "fem/body.h"

#include "mesh/mesh.h"

#include <string.h>

/* sigma = P F^T / J, averaged over the element with the quadrature weights. */
static bool element_stress(const bough_body *body, int32_t element, const double *u, double sigma[6]) {
    const bo_rule *rule = body->rule;
    const bo_elastic *elastic = &body->elastic[body->element_material[element]];
    const int32_t *nodes = bo_mesh_nodes(body->mesh, element);
    double volume = 0;
    memset(sigma, 0, 6 * sizeof *sigma);
    for (int32_t q = 0; q < rule->point_count; q++) {
        const bo_point_geometry *g = &body->geometry[(size_t)rule->point_count * (size_t)element + (size_t)q];
        bo_mat3 F = bo_identity3(), P, inverse;
        memcpy(inverse.m, g->inverse, sizeof inverse.m);
        if (u)
            F = bo_mat_add(F, bo_mat_mul(bo_rule_gradient(rule, q, u, nodes), inverse));
        double psi;
        if (!bo_elastic_eval(elastic, &F, &psi, &P, NULL))
            return false;
        /* The linear model does not tell F from I in its stress. */
        bo_mat3 s =
            bo_elastic_is_objective(elastic->model) ? bo_mat_scale(1 / bo_det(F), bo_mat_mul(P, bo_transpose(F))) : P;
        static const int pick[6] = {0, 4, 8, 5, 2, 1};
        for (int k = 0; k < 6; k++)
            sigma[k] += g->weight * s.m[pick[k]];
        volume += g->weight;
    }
    for (int k = 0; k < 6; k++)
        sigma[k] /= volume;
    return true;
}

static double von_mises_of(const double s[6]) {
    return sqrt(0.5 * ((s[0] - s[1]) * (s[0] - s[1]) + (s[1] - s[2]) * (s[1] - s[2]) + (s[2] - s[0]) * (s[2] - s[0])) +
                3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

static bough_status fail_inverted(bough_context *ctx, int32_t element) {
    return bo_fail(ctx, BOUGH_NOT_FINITE, "element %d (counted from 0) is inverted, which its material does not allow",
                   element);
}

bough_status bo_body_element_von_mises(bough_context *ctx, const bough_body *body, int32_t element, const double *u,
                                       double *von_mises) {
    double s[6];
    if (!element_stress(body, element, u, s))
        return fail_inverted(ctx, element);
    *von_mises = von_mises_of(s);
    return BOUGH_OK;
}

bough_status bough_body_stress(bough_context *ctx, bough_body *body, const double *u, double *stress,
                               double *von_mises) {
    for (int32_t e = 0; e < body->mesh->element_count; e++) {
        double s[6];
        if (!element_stress(body, e, u, s))
            return fail_inverted(ctx, e);
        if (stress)
            memcpy(stress + 6 * (size_t)e, s, sizeof s);
        if (von_mises)
            von_mises[e] = von_mises_of(s);
    }
    return BOUGH_OK;
}
