/* Equilibria of a scene: at its start, and along the curves of its motors. */
#include "multibody/engine_inside.h"

#include <string.h>

/* The forces that are left, against the weight of everything at the length of the whole. */
static double residual_of(const multibody_engine *e) {
    const bo_mb_state *s = bo_mb(e->state);
    bough_multibody_energies ignored;
    double mass = 0, most = 0;
    bough_multibody_measure(e->model, e->state, &ignored);
    for (int32_t b = 0; b < e->model->def.body_count; b++)
        mass += e->model->bodies[b].mass;
    for (int32_t p = 0; p < e->model->def.part_count; p++)
        mass += e->model->parts[p].mass;
    for (int32_t i = 0; i < e->model->nv; i++)
        most = fmax(most, fabs(s->residual[i]) * e->model->units[i]);
    const double g = bo_norm(bo_load3(e->state->gravity));
    return most / (mass * (g > 0 ? g : 1) * e->model->length);
}

/* Arms of forces follow what they move, so that an equilibrium is looked for again until nothing moves. path NULL: it is
 * settled from wherever it is, under steady forces; else followed, under those that act at time t. */
static bough_status find_equilibrium(multibody_engine *e, double t, bough_multibody_path *path) {
    enum { ROUNDS = 100 };
    bo_mb_state *s = bo_mb(e->state);
    for (int round = 0; round < ROUNDS; round++) {
        double way = 0;
        bo_multibody_apply_loads(e, t, !path);
        memcpy(e->start, e->state->u, (size_t)e->model->nu * sizeof *e->start);
        BO_TRY(path ? bough_multibody_follow(e->ctx, e->model, e->state, t, path)
                    : bough_multibody_settle(e->ctx, e->model, e->state));
        s->system.difference(s, e->state->u, e->start, e->way);
        for (int32_t i = 0; i < e->model->nv; i++)
            way = fmax(way, fabs(e->way[i]) / e->model->units[i]);
        if (way <= 1e-11 || e->plan->load_count == 0)
            return BOUGH_OK;
    }
    return bo_fail(e->ctx, BOUGH_NO_CONVERGENCE,
                   "no equilibrium was found: the forces move the system too far; begin without \"settle\"");
}

bough_status bo_multibody_settle(multibody_engine *e, double *residual) {
    if (e->around)
        return bo_multibody_rest(e, 0, true, residual);
    BO_TRY(find_equilibrium(e, 0, NULL));
    *residual = residual_of(e);
    memset(e->state->force, 0, (size_t)e->model->nv * sizeof *e->state->force);
    return BOUGH_OK;
}

bough_status bo_multibody_follow(void *data, double t, int32_t *snaps, bough_run_snap *last) {
    multibody_engine *e = data;
    bough_multibody_path path = {0};
    double residual;
    const bough_status status = e->around ? bo_multibody_rest(e, t, false, &residual) : find_equilibrium(e, t, &path);
    memset(e->state->force, 0, (size_t)e->model->nv * sizeof *e->state->force);
    e->has_power = false, e->acting = BO_MULTIBODY_OTHER_FORCES;
    *snaps = path.snaps;
    if (path.snaps > 0) {
        const int32_t j = path.last.joint;
        *last = (bough_run_snap){path.last.time, j, j >= 0 ? e->model->def.joints[j].name : NULL, path.last.turn,
                                 path.last.distance};
    }
    if (status == BOUGH_OK)
        bo_multibody_watch_gaps(e);
    return status;
}
