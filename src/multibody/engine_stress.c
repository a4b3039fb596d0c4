/* Stress of the parts of a multibody system: by points, and as a field over their surfaces. */
#include "multibody/engine_inside.h"

#include <bough/material.h>

#include <string.h>

/* At one point of a part, or at that with the largest von Mises. The stiffness multiplies frequencies: stresses by its
 * square. */
void bo_multibody_measure_stress(const multibody_engine *e, int32_t part, int32_t point, double values[4]) {
    for (int k = 0; k < 4; k++)
        values[k] = NAN;
    if (bo_multibody_is_stiff(e))
        return;
    const bo_mb_part *p = &e->model->parts[part];
    const int32_t count = p->full ? p->full->element_count : p->component->stress.count;
    values[0] = -1;
    for (int32_t i = point < 0 ? 0 : point; i < (point < 0 ? count : point + 1); i++) {
        double stress[6], von_mises, principal[3] = {0}, directions[9];
        const double *q = bo_multibody_q(e, part);
        const bool sound = p->full ? p->full->kind->stress(p->full, q, i, stress)
                                   : bough_component_stress(p->component, i, q, stress, &von_mises);
        if (p->full && sound)
            von_mises = bough_von_mises(stress);
        if (sound && p->strength * von_mises <= values[0])
            continue;
        for (int k = 0; k < 6; k++)
            stress[k] *= p->strength;
        if (sound)
            bough_principal_stresses(stress, principal, directions);
        values[0] = sound ? p->strength * von_mises : NAN;
        memcpy(values + 1, principal, sizeof principal);
        if (!sound)
            return;
    }
}

/* Bodies and obstacles have none. */
bough_status bo_multibody_stresses(void *data, double *von_mises) {
    const multibody_engine *e = data;
    const int32_t bodies = e->given.body_count;
    memset(von_mises, 0, (size_t)(bo_multibody_first_obstacle(e) + e->plan->obstacle_count) * sizeof *von_mises);
    for (int32_t p = 0; p < e->given.part_count; p++) {
        double values[4];
        bo_multibody_measure_stress(e, p, -1, values);
        von_mises[bodies + p] = values[0] < 0 ? 0 : values[0];
    }
    return BOUGH_OK;
}

/* The fields of the looks, made when somebody asks for the first time. */
static bough_status make_fields(multibody_engine *e) {
    if (e->fields)
        return BOUGH_OK;
    if (!(e->fields = BO_NEW_ZEROS(e->ctx, bo_surface_field, e->look_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < e->look_count; i++)
        if (e->looks[i].component)
            BO_TRY(bo_surface_field_make(e->ctx, e->looks[i].component, &e->fields[i]));
    return BOUGH_OK;
}

void bo_multibody_drop_fields(multibody_engine *e) {
    for (int32_t i = 0; e->fields && i < e->look_count; i++)
        bo_surface_field_free(e->ctx, &e->fields[i]);
    bo_free(e->ctx, e->fields);
    e->fields = NULL;
}

bough_status bo_multibody_vertex_stresses(void *data, float *von_mises) {
    multibody_engine *e = data;
    const bough_status status = make_fields(e);
    if (status != BOUGH_OK) {
        bo_multibody_drop_fields(e);
        return status;
    }
    for (int32_t i = 0; i < e->thing_count; i++) {
        const bough_thing *thing = &e->things[i];
        const int32_t part = bo_multibody_part_of(e, i);
        float *out = von_mises + thing->first_vertex;
        if (part < 0 || e->fields[thing->look].count == 0) {
            memset(out, 0, (size_t)thing->vertex_count * sizeof *out);
            continue;
        }
        const double *q = bo_multibody_q(e, part), stiffness = e->given.parts[part].stiffness;
        bo_surface_field_draw(e->looks[thing->look].component, &e->fields[thing->look], 1, &q, &stiffness, &out);
    }
    return BOUGH_OK;
}
