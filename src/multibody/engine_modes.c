/* Small vibrations of the system of a run. */
#include "multibody/engine_inside.h"

#include <string.h>

/* A mode as velocities: those of the vertices are its shape. */
static bough_status show(multibody_engine *e, const bough_multibody_modes *from, double *shapes) {
    const size_t nv = (size_t)e->model->nv, vertices = (size_t)e->things[e->thing_count - 1].first_vertex +
                                                       (size_t)e->things[e->thing_count - 1].vertex_count;
    double *x = BO_NEW_ARRAY(e->ctx, double, 3 * vertices);
    bough_status status = x ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    memcpy(e->way, e->state->v, nv * sizeof *e->way);
    for (size_t k = 0; k < (size_t)from->count && status == BOUGH_OK; k++) {
        memcpy(e->state->v, from->shapes + nv * k, nv * sizeof *e->state->v);
        status = bo_multibody_surface(e, x, shapes + 3 * vertices * k);
    }
    memcpy(e->state->v, e->way, nv * sizeof *e->way);
    bo_free(e->ctx, x);
    return status;
}

bough_status bo_multibody_modes(void *data, bough_run_modes *modes) {
    multibody_engine *e = data;
    bough_multibody_modes *found;
    BO_TRY(bough_multibody_find_modes(e->ctx, e->model, e->state, modes->most, &found));
    modes->count = found->count, modes->unstable_count = found->unstable_count, modes->coordinates = found->size;
    memcpy(modes->frequencies_hz, found->frequencies_hz, (size_t)found->count * sizeof *found->frequencies_hz);
    const bough_status status = modes->shapes ? show(e, found, modes->shapes) : BOUGH_OK;
    bough_multibody_modes_destroy(e->ctx, found);
    return status;
}
