#include <bough/component.h>

#include "material/elastic.h"

#include <string.h>

/* sigma = P F^T / J; the linear model does not tell F from I in its stress. */
static bool cauchy_stress(const bo_elastic *elastic, const bo_mat3 *F, bo_mat3 *sigma) {
    double psi, J = bo_det(*F);
    bo_mat3 P;
    if (!(J > 0) || !bo_elastic_eval(elastic, F, &psi, &P, NULL))
        return false;
    *sigma = bo_elastic_is_objective(elastic->model) ? bo_mat_scale(1 / J, bo_mat_mul(P, bo_transpose(*F))) : P;
    return true;
}

bool bough_component_stress(const bough_component *component, int32_t i, const double *q, double stress[6],
                            double *von_mises) {
    size_t r = (size_t)component->r;
    const double *gradient = r > 0 ? component->stress.gradient + 9 * r * (size_t)i : NULL;
    bo_mat3 F = bo_identity3(), sigma;
    for (size_t k = 0; k < 9; k++)
        for (size_t l = 0; l < r; l++)
            F.m[k] += gradient[r * k + l] * q[l];
    bo_elastic elastic = bo_elastic_of(&component->materials[component->stress.material[i]]);
    if (!cauchy_stress(&elastic, &F, &sigma))
        return false;
    static const int pick[6] = {0, 4, 8, 5, 2, 1};
    double s[6];
    for (int k = 0; k < 6; k++)
        s[k] = sigma.m[pick[k]];
    if (stress)
        memcpy(stress, s, sizeof s);
    if (von_mises)
        *von_mises =
            sqrt(0.5 * ((s[0] - s[1]) * (s[0] - s[1]) + (s[1] - s[2]) * (s[1] - s[2]) + (s[2] - s[0]) * (s[2] - s[0])) +
                 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
    return true;
}
