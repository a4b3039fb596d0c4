/* Cauchy stress of a material, von Mises' stress, principal stresses. */
#include "base/eigen3.h"
#include "material/elastic.h"

bool bo_elastic_cauchy(const bo_elastic *e, const bo_mat3 *F, double stress[6]) {
    static const int pick[6] = {0, 4, 8, 5, 2, 1};
    double psi;
    bo_mat3 P;
    if (!bo_elastic_eval(e, F, &psi, &P, NULL))
        return false;
    /* The stress of the linear model does not distinguish F from I. */
    if (bo_elastic_is_objective(e->model))
        P = bo_mat_scale(1 / bo_det(*F), bo_mat_mul(P, bo_transpose(*F)));
    for (int k = 0; k < 6; k++)
        stress[k] = P.m[pick[k]];
    return true;
}

double bough_von_mises(const double s[6]) {
    return sqrt(0.5 * ((s[0] - s[1]) * (s[0] - s[1]) + (s[1] - s[2]) * (s[1] - s[2]) + (s[2] - s[0]) * (s[2] - s[0])) +
                3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

void bough_principal_stresses(const double s[6], double values[3], double directions[9]) {
    bo_vec3 ascending;
    bo_mat3 V;
    bo_eigen3((bo_mat3){{s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2]}}, &ascending, &V);
    values[0] = ascending.z, values[1] = ascending.y, values[2] = ascending.x;
    for (int k = 0; k < 3 && directions; k++)
        for (int d = 0; d < 3; d++)
            directions[3 * k + d] = V.m[3 * d + 2 - k];
}
