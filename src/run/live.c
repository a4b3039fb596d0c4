/* What a host does to a run while it goes on: pulls, pokes, another wind, another step. */
#include "run/run.h"

#include <math.h>
#include <string.h>

static bough_status check_live(bough_context *ctx, const bough_run *run) {
    return run->live ? BOUGH_OK
                     : bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                               "only a run that is live can be pulled, poked or stepped otherwise");
}

static bool are_finite(const double x[3]) {
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

/* Of a link, body or obstacle, the last of which nobody moves. */
static bough_status check_rigid(bough_context *ctx, const bough_run *run, int32_t part, int32_t vertex) {
    BO_TRY(bo_run_need_mesh(run));
    const bough_run_rigid *rigid = bough_run_rigid_at(run, part);
    if (!rigid)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no part %d, only 0 to %d", part,
                       run->engine.rigid_count - 1);
    const int32_t count = rigid->surface ? rigid->surface->vertex_count : 0;
    return vertex >= 0 && vertex < count
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part %d has no vertex %d, only %d of them", part, vertex, count);
}

/* Of a part's surface, or of the body's mesh. */
static bough_status check_vertex(bough_context *ctx, const bough_run *run, int32_t part, int32_t vertex) {
    if (run->engine.rigid_pose)
        return check_rigid(ctx, run, part, vertex);
    const bough_model *model = run->engine.model;
    const int32_t parts = model ? bough_model_part_count(model) : 1;
    if (part < 0 || part >= parts)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no part %d, only 0 to %d", part, parts - 1);
    int32_t count = model ? 0 : run->engine.mesh->vertex_count;
    if (model) {
        const bough_model_def *def = bough_model_describe(model);
        count = def->components[def->parts[part].component]->surface.vertex_count;
    }
    return vertex >= 0 && vertex < count
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part %d has no vertex %d, only %d of them", part, vertex, count);
}

bough_status bough_run_pull(bough_context *ctx, bough_run *run, int32_t hand, int32_t part, int32_t vertex,
                            const double target[3], double stiffness, double damping) {
    BO_TRY(check_live(ctx, run));
    if (hand < 0 || hand >= BOUGH_RUN_HANDS)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a run has hands 0 to %d, not %d", BOUGH_RUN_HANDS - 1, hand);
    BO_TRY(check_vertex(ctx, run, part, vertex));
    if (!are_finite(target) || !(stiffness >= 0 && isfinite(stiffness)) || !(damping >= 0 && isfinite(damping)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a pull needs a finite place, and stiffness and damping of 0 or more");
    bo_hand *to = &run->hands.pulls[hand];
    *to = (bo_hand){.holds = true, .part = part, .vertex = vertex, .stiffness = stiffness, .damping = damping};
    memcpy(to->target, target, sizeof to->target);
    return BOUGH_OK;
}

void bough_run_release(bough_run *run, int32_t hand) {
    if (hand >= 0 && hand < BOUGH_RUN_HANDS)
        run->hands.pulls[hand].holds = false;
}

bough_status bough_run_poke(bough_context *ctx, bough_run *run, int32_t part, int32_t vertex, const double impulse[3]) {
    BO_TRY(check_live(ctx, run));
    BO_TRY(check_vertex(ctx, run, part, vertex));
    if (!are_finite(impulse))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "an impulse must be finite");
    bo_hand *to = &run->hands.poke;
    *to = (bo_hand){.holds = true, .part = part, .vertex = vertex};
    memcpy(run->hands.impulse, impulse, sizeof run->hands.impulse);
    return BOUGH_OK;
}

bough_status bough_run_set_wind(bough_context *ctx, bough_run *run, const bough_wind *wind) {
    BO_TRY(check_live(ctx, run));
    if (!run->engine.model)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s knows no wind",
                       run->engine.rigid_pose ? "a mechanism" : "the full engine");
    if (wind && !(are_finite(wind->velocity) && wind->gust >= 0 && isfinite(wind->gust)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "wind must be finite, and gusts 0 or more");
    run->hands.has_wind = wind != NULL;
    if (wind)
        run->hands.wind = *wind;
    run->engine.take_hands(run->engine.data, &run->hands);
    return BOUGH_OK;
}

bough_status bough_run_set_gravity(bough_context *ctx, bough_run *run, const double gravity[3]) {
    BO_TRY(check_live(ctx, run));
    if (!are_finite(gravity))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "gravity must be finite");
    /* Whoever turns gravity changes the potential of all that has moved. */
    const double before = bough_run_values(run)[BOUGH_COLUMN_TOTAL];
    if (run->engine.weigh)
        BO_TRY(run->engine.weigh(run->engine.data, gravity));
    else
        memcpy(run->engine.gravity, gravity, 3 * sizeof *gravity);
    run->measured = NAN;
    const double change = bough_run_values(run)[BOUGH_COLUMN_TOTAL] - before;
    run->given += isfinite(change) ? change : 0;
    run->measured = NAN;
    return BOUGH_OK;
}

bough_status bough_run_set_dt(bough_context *ctx, bough_run *run, double dt) {
    BO_TRY(check_live(ctx, run));
    if (!(dt > 0 && isfinite(dt)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time step is %g s; it must be positive", dt);
    run->since_time = bo_run_time(run);
    run->since_step = run->place.step;
    run->place.unit = run->place.halvings = run->place.good = 0;
    run->dt = dt;
    return BOUGH_OK;
}

int32_t bough_run_motor_count(const bough_run *run) {
    return run->engine.motor_count;
}

bool bough_run_motor_at(const bough_run *run, int32_t i, bough_run_motor *motor) {
    const bool there = i >= 0 && i < run->engine.motor_count;
    if (there)
        run->engine.motor(run->engine.data, i, motor);
    return there;
}

bough_status bough_run_set_motor(bough_context *ctx, bough_run *run, int32_t i, double offset) {
    const int32_t count = run->engine.motor_count;
    BO_TRY(check_live(ctx, run));
    if (i < 0 || i >= count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no motor %d; the scene has %d", i, count);
    if (isinf(offset))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the offset of a motor must be finite");
    if (!run->hands.motors) {
        if (!(run->hands.motors = BO_NEW_ARRAY(ctx, double, count)))
            return BOUGH_ERROR_MEMORY;
        for (int32_t k = 0; k < count; k++)
            run->hands.motors[k] = NAN;
    }
    run->hands.motors[i] = offset;
    return BOUGH_OK;
}

bough_status bough_run_change_parts(bough_context *ctx, bough_run *run, int32_t count, const bough_change *changes) {
    BO_TRY(check_live(ctx, run));
    if (!run->engine.change)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s",
                       run->engine.rigid_pose ? "links of mechanisms stay as they are"
                                              : "the full engine has no parts");
    if (count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there cannot be %d changes", count);
    /* room first: what has happened must be told */
    if (!BO_RESERVE(ctx, run->changes, run->change_capacity, run->change_count + (size_t)count))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(run->engine.change(run->engine.data, count, changes));
    run->measured = NAN;
    return bo_run_take_changes(ctx, run);
}

bough_state *bough_run_state(bough_run *run) {
    return run->live ? run->engine.state : NULL;
}
