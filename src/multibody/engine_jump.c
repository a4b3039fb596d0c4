/* Steps where forces jump. BDF2 goes on with the change of velocities in the step before, which is wrong there, and
 * backward Euler's method, which could begin anew, is of first order. So the step before is made up: as it would have
 * been under the forces of now. docs/theory/multibody-runs.md, "Forces that jump". */
#include "multibody/engine_inside.h"

#include <string.h>

enum { PARTS = 4 };

/* Accelerations under the forces of the state, by a short first step that is taken back. */
static bough_status try_step(multibody_engine *e, double h) {
    bo_mb_state *s = bo_mb(e->state);
    const size_t nu = (size_t)e->model->nu, nv = (size_t)e->model->nv;
    const double time = e->state->time;
    memcpy(e->start, e->state->u, nu * sizeof *e->start);
    memcpy(e->way, e->state->v, nv * sizeof *e->way);
    memcpy(e->kept_force, e->state->force, nv * sizeof *e->kept_force);
    memcpy(e->kept_coordinates, s->work.coordinates, (size_t)e->model->coordinate_count * sizeof *e->kept_coordinates);
    const bough_status status = bough_multibody_step(e->ctx, e->model, e->state, h / PARTS);
    memcpy(e->state->u, e->start, nu * sizeof *e->start);
    memcpy(e->state->v, e->way, nv * sizeof *e->way);
    memcpy(e->state->force, e->kept_force, nv * sizeof *e->kept_force);
    memcpy(s->work.coordinates, e->kept_coordinates, (size_t)e->model->coordinate_count * sizeof *e->kept_coordinates);
    e->state->time = time;
    return status;
}

/* v_before = v - h a, u_before = u - h v + h^2 a / 2. */
void bo_multibody_begin_anew(multibody_engine *e, double h) {
    bo_mb_state *s = bo_mb(e->state);
    bough_multibody_restart(e->state);
    if (s->method || try_step(e, h) != BOUGH_OK) { /* methods of `time` know how to begin */
        bough_multibody_restart(e->state);
        return;
    }
    for (int32_t i = 0; i < e->model->nv; i++) {
        s->v_before[i] = e->state->v[i] - h * s->a[i];
        e->way[i] = e->state->v[i] - 0.5 * h * s->a[i];
    }
    bo_mb_advance(e->model, e->state->u, -h, e->way, s->u_before);
    for (int32_t i = 0; i < 6 * e->model->flyer_count; i++)
        s->impulses[i] *= PARTS; /* of a whole step */
    s->h_before = h, s->factored_h = 0;
}
