#include <bough/component.h>

#include "material/elastic.h"

bool bough_component_stress(const bough_component *component, int32_t i, const double *q, double stress[6],
                            double *von_mises) {
    size_t r = (size_t)component->r;
    const double *gradient = r > 0 ? component->stress.gradient + 9 * r * (size_t)i : NULL;
    bo_mat3 F = bo_identity3();
    for (size_t k = 0; k < 9; k++)
        for (size_t l = 0; l < r; l++)
            F.m[k] += gradient[r * k + l] * q[l];
    const bo_elastic elastic = bo_elastic_of(&component->materials[component->stress.material[i]]);
    double s[6];
    if (!(bo_det(F) > 0) || !bo_elastic_cauchy(&elastic, &F, s))
        return false;
    for (int k = 0; k < 6 && stress; k++)
        stress[k] = s[k];
    if (von_mises)
        *von_mises = bough_von_mises(s);
    return true;
}
