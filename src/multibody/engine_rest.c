/* Equilibria of multibody systems that touch something. */
#include "engine/rest.h"
#include "multibody/engine_inside.h"

#include <string.h>

#define FARTHEST 0.2 /* units, in a step */

typedef struct {
    multibody_engine *e;
    double t;
    bool steady; /* the loads */
} resting_system;

static void go_back(void *data) {
    const multibody_engine *e = ((const resting_system *)data)->e;
    memcpy(e->state->u, e->start, (size_t)e->model->nu * sizeof *e->start);
    bo_mb_keep_coordinates(e->model, &bo_mb(e->state)->work);
}

/* As in bo_resting, under the loads of time t. */
static bough_status step_from_rest(void *data, double h, double *way) {
    const resting_system *r = data;
    multibody_engine *e = r->e;
    bo_mb_state *s = bo_mb(e->state);
    bo_multibody_apply_loads(e, r->t, r->steady);
    memset(e->state->v, 0, (size_t)e->model->nv * sizeof *e->state->v);
    memcpy(e->start, e->state->u, (size_t)e->model->nu * sizeof *e->start);
    bough_multibody_restart(e->state);
    e->state->time = r->t;
    BO_TRY(bough_contact_world_step(e->ctx, e->around, h));
    s->system.difference(s, e->state->u, e->start, e->way);
    *way = 0;
    for (int32_t i = 0; i < e->model->nv; i++)
        *way = fmax(*way, fabs(e->way[i]) / e->model->units[i]);
    if (*way > FARTHEST)
        go_back(data);
    return BOUGH_OK;
}

static bough_status come_to_rest(resting_system *system, double *residual) {
    multibody_engine *e = system->e;
    bo_resting resting = {.step = step_from_rest,
                          .data = system,
                          .farthest = FARTHEST,
                          .unit = e->model->length,
                          .world = e->around,
                          .subject = "the system"};
    memcpy(resting.gravity, e->state->gravity, sizeof resting.gravity);
    BO_TRY(bough_multibody_assemble(e->ctx, e->model, e->state));
    BO_TRY(bo_world_stand(e->ctx, e->around, e->plan->obstacle_count, e->plan->leads, system->t));
    BO_TRY(bo_come_to_rest(e->ctx, &resting, residual));
    return bo_measure_rest(e->ctx, &resting, go_back, residual);
}

bough_status bo_multibody_rest(multibody_engine *e, double t, bool steady, double *residual) {
    resting_system system = {e, t, steady};
    bo_mb_state *s = bo_mb(e->state);
    const bool keeps = s->keeps; /* momenta of steps from rest mean nothing */
    e->rest_time = t, e->rests = true, s->keeps = false;
    const bough_status status = come_to_rest(&system, residual);
    e->rests = false, s->keeps = keeps;
    e->state->time = t;
    memset(e->state->v, 0, (size_t)e->model->nv * sizeof *e->state->v);
    memset(e->state->force, 0, (size_t)e->model->nv * sizeof *e->state->force);
    bough_multibody_restart(e->state);
    return status;
}
