/* Equilibria of what touches: how things come to rest on each other when they are let go in something viscous.
 * docs/theory/contact.md, "Equilibria". */
#include "multibody/engine_inside.h"

#include <string.h>

#define STILL 1e-9    /* of gravity: the acceleration that is left */
#define BALANCED 1e-6 /* the same where friction and the search for impulses leave no less */
#define SHORTEST 1e-6 /* s */
#define LONGEST 10.0  /* s: steps in which nothing touches */
#define TOUCHING 0.02 /* s: others. What the search for impulses leaves open grows with the square of the step */
#define FARTHEST 0.2  /* units, in a step */

/* Obstacles on tracks are where they are at the time, and stand still. */
static bough_status place_obstacles(const multibody_engine *e, double t) {
    static const double none[3] = {0, 0, 0};
    for (int32_t i = 0; e->plan->leads && i < e->plan->obstacle_count; i++) {
        const bo_lead *lead = &e->plan->leads[i];
        if (!lead->pose)
            continue;
        const bough_pose pose = bo_put_pose(lead->pose(lead->data, t));
        BO_TRY(bough_contact_world_move(e->ctx, e->around, i, &pose, none, none));
    }
    return BOUGH_OK;
}

/* A step of length h from rest, under the loads of time t. *way: how far it goes, units. */
static bough_status step_from_rest(multibody_engine *e, double t, bool steady, double h, double *way) {
    bo_mb_state *s = bo_mb(e->state);
    bo_multibody_apply_loads(e, t, steady);
    memset(e->state->v, 0, (size_t)e->model->nv * sizeof *e->state->v);
    memcpy(e->start, e->state->u, (size_t)e->model->nu * sizeof *e->start);
    bough_multibody_restart(e->state);
    e->state->time = t;
    BO_TRY(bough_contact_world_step(e->ctx, e->around, h));
    s->system.difference(s, e->state->u, e->start, e->way);
    *way = 0;
    for (int32_t i = 0; i < e->model->nv; i++)
        *way = fmax(*way, fabs(e->way[i]) / e->model->units[i]);
    return BOUGH_OK;
}

static void go_back(multibody_engine *e) {
    memcpy(e->state->u, e->start, (size_t)e->model->nu * sizeof *e->start);
    bo_mb_keep_coordinates(e->model, &bo_mb(e->state)->work);
}

static bough_status fail_to_rest(multibody_engine *e, double way) {
    return bo_fail(
        e->ctx, BOUGH_NO_CONVERGENCE,
        "no equilibrium was found: nothing holds the system where it is (it still moves, by %.2g of its size "
        "in a step); begin without \"settle\"",
        way);
}

/* The acceleration that a way in a step from rest means, as a part of gravity. */
static double acceleration_of(const multibody_engine *e, double way, double h) {
    const double g = bo_norm(bo_load3(e->state->gravity));
    return way * e->model->length / (h * h * (g > 0 ? g : 1));
}

/* Steps of backward Euler from rest, again and again: (M / h^2 + D / h + K) dq = forces + those of contacts. The first ones
 * are the way of something heavy in honey, and as they grow, the last ones Newton's with complementarity. Steps that
 * failed are tried again much shorter, and it takes a while until they may be as long again. */
static bough_status come_to_rest(multibody_engine *e, double t, bool steady) {
    enum { MOST_STEPS = 5000, ENOUGH = 200 };
    double h = 0.01, most = LONGEST, way = 0;
    for (int k = 0, balanced = 0; k < MOST_STEPS; k++) {
        const bough_status status = step_from_rest(e, t, steady, h, &way);
        if (status != BOUGH_OK && status != BOUGH_NO_CONVERGENCE && status != BOUGH_NOT_FINITE)
            return status;
        if (status != BOUGH_OK || way > FARTHEST) {
            if (status == BOUGH_OK)
                go_back(e);
            most = 0.7 * h, h *= 0.25;
            if (h < SHORTEST)
                return status != BOUGH_OK ? status : fail_to_rest(e, way);
            continue;
        }
        const double left = acceleration_of(e, way, h);
        balanced = left <= BALANCED ? balanced + 1 : 0;
        if (h >= 0.5 * TOUCHING && (left <= STILL || balanced >= ENOUGH))
            return BOUGH_OK;
        most = fmin(1.02 * most, LONGEST);
        h = fmin(fmin(1.5 * h, most), e->around->contact_count > 0 ? TOUCHING : LONGEST);
        if (k > 3 && !bo_progress(e->ctx, "settling", -1, "step %d, %.1e of the weight is left", k, left))
            return bo_fail_cancelled(e->ctx);
    }
    return fail_to_rest(e, way);
}

/* Measures the acceleration from rest, as a part of gravity: what moves off is not in balance. */
static bough_status measure_balance(multibody_engine *e, double t, bool steady, double *residual) {
    const double h = 0.01;
    double way;
    BO_TRY(step_from_rest(e, t, steady, h, &way));
    go_back(e);
    *residual = acceleration_of(e, way, h);
    return *residual <= 10 * BALANCED ? BOUGH_OK : fail_to_rest(e, way);
}

bough_status bo_multibody_rest(multibody_engine *e, double t, bool steady, double *residual) {
    e->rest_time = t, e->rests = true;
    bough_status status = bough_multibody_assemble(e->ctx, e->model, e->state);
    if (status == BOUGH_OK)
        status = place_obstacles(e, t);
    if (status == BOUGH_OK)
        status = come_to_rest(e, t, steady);
    if (status == BOUGH_OK)
        status = measure_balance(e, t, steady, residual);
    e->rests = false;
    e->state->time = t;
    memset(e->state->v, 0, (size_t)e->model->nv * sizeof *e->state->v);
    memset(e->state->force, 0, (size_t)e->model->nv * sizeof *e->state->force);
    bough_multibody_restart(e->state);
    return status;
}
