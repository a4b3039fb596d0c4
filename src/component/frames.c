#include <bough/component.h>

#include "base/polar.h"

#include <string.h>

bool bough_component_interface_frame(const bough_component *component, int32_t interface_index, const double *q,
                                     double centre[3], double rotation[9]) {
    const bough_interface *face = &component->interfaces[interface_index];
    bo_vec3 x = bo_load3(face->centre);
    bo_mat3 A, R, S;
    memcpy(A.m, face->A, sizeof A.m);
    for (size_t l = 0; l < (size_t)component->r; l++) {
        x = bo_mul_add(x, q[l], bo_load3(face->translation + 3 * l));
        for (int i = 0; i < 9; i++)
            A.m[i] += q[l] * face->A[9 * (l + 1) + (size_t)i];
    }
    bool unique = bo_polar(A, &R, &S);
    bo_store3(centre, x);
    memcpy(rotation, R.m, sizeof R.m);
    return unique;
}
