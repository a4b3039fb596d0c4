/* How far interfaces are from rigid in the motions that matter. docs/theory/reduction.md, "Interfaces that deform". */
#include "reduce/cook.h"

#include <string.h>

/* The lowest vibrations, which most of the motion is made of. */
enum { LOOKED_AT = 3 };

/* Those that something hangs at, or where something may when nothing is known. */
static bool is_loaded(const bo_cook *cook, int32_t index) {
    return index != cook->def->parent && (cook->load_count == 0 || cook->def->interfaces[index].has_load);
}

/* What hangs there; all the same where nothing is known. */
static double mass_at(const bo_cook *cook, int32_t index) {
    const bough_interface_def *def = &cook->def->interfaces[index];
    return def->has_load ? def->load.mass : 1;
}

/* Mean square motion of the interface's vertices. */
static double motion_of(const bough_interface *face, const double *u) {
    double sum = 0;
    for (int32_t k = 0; k < face->vertex_count; k++) {
        const bo_vec3 moved = bo_load3(u + 3 * (size_t)face->vertices[k]);
        sum += face->weights[k] * bo_dot(moved, moved);
    }
    return sum;
}

/* Mean square departure from the interface's best rigid motion Q^T u. */
static double departure(const bo_cook *cook, const bough_interface *face, const double *Q, const double *u) {
    const double *X = cook->body->mesh->vertices;
    double motion[6] = {0}, off = 0;
    bo_vec3 centre = {0, 0, 0};
    for (size_t k = 0; k < (size_t)face->vertex_count; k++) {
        const size_t at = 3 * (size_t)face->vertices[k];
        centre = bo_mul_add(centre, face->weights[k], bo_load3(X + at));
        for (size_t d = 0; d < 18; d++)
            motion[d % 6] += Q[18 * k + d] * u[at + d / 6];
    }
    for (size_t k = 0; k < (size_t)face->vertex_count; k++) {
        const size_t at = 3 * (size_t)face->vertices[k];
        const bo_vec3 d = bo_sub(bo_load3(X + at), centre), moved = bo_load3(u + at);
        const bo_vec3 e = bo_sub(bo_sub(moved, bo_load3(motion)), bo_cross(bo_load3(motion + 3), d));
        off += face->weights[k] * bo_dot(e, e);
    }
    return off;
}

/* busiest: the most of mass times motion that an interface has. */
static bough_status measure(bo_cook *cook, int32_t index, const double *u, double busiest) {
    const bough_interface *face = &cook->interfaces[index];
    double *worst = &cook->draft.quality.interface_softness, found = 0;
    double *Q = BO_NEW_ARRAY(cook->ctx, double, 18 * (size_t)face->vertex_count);
    bough_status status = Q ? bo_cook_rigid_fit(cook, index, Q) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK && busiest > 0)
        found = sqrt(mass_at(cook, index) * departure(cook, face, Q, u) / busiest);
    if (status == BOUGH_OK && !(found <= *worst)) { /* which was not measured at first */
        *worst = found;
        cook->softest = index;
    }
    bo_free(cook->ctx, Q);
    return status;
}

bough_status bo_cook_rigidity(bo_cook *cook) {
    const int32_t count = cook->def->interface_count;
    for (int32_t m = 0; m < LOOKED_AT && m < cook->mode_count && cook->modes; m++) {
        const double *u = cook->modes + (size_t)m * (size_t)cook->n;
        double busiest = 0;
        for (int32_t i = 0; i < count; i++)
            if (is_loaded(cook, i))
                busiest = fmax(busiest, mass_at(cook, i) * motion_of(&cook->interfaces[i], u));
        for (int32_t i = 0; i < count; i++)
            if (is_loaded(cook, i))
                BO_TRY(measure(cook, i, u, busiest));
    }
    return BOUGH_OK;
}
