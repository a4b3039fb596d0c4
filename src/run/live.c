/* Actions of a host on a running run: pulls, pokes, another wind, another step. */
#include "run/run.h"

#include "base/file.h"

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

/* Refuses, by the engine's title, what it cannot do: "the full engine knows no wind". */
static bough_status need(bough_context *ctx, const bough_run *run, uint32_t capability, const char *lack) {
    BO_TRY(check_live(ctx, run));
    return run->engine.kind->can & capability
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s %s", run->engine.kind->title, lack);
}

static bough_status check_thing(bough_context *ctx, const bough_run *run, int32_t thing) {
    BO_TRY(bo_engine_need_things((bo_engine *)&run->engine));
    return bough_run_thing(run, thing) ? BOUGH_OK
                                       : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no part %d, only 0 to %d", thing,
                                                 run->engine.thing_count - 1);
}

static bough_status check_vertex(bough_context *ctx, const bough_run *run, int32_t thing, int32_t vertex) {
    BO_TRY(need(ctx, run, BOUGH_CAN_PULL, "takes no hands"));
    BO_TRY(check_thing(ctx, run, thing));
    const bough_thing *of = &run->engine.things[thing];
    const int32_t count = of->vertex_count, first = of->drawing == BOUGH_DRAWN_VERTICES ? of->first_vertex : 0;
    return vertex >= first && vertex - first < count
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part %d has no vertex %d, only %d of them", thing, vertex, count);
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
    BO_TRY(need(ctx, run, BOUGH_CAN_WIND, "knows no wind"));
    if (wind && !(are_finite(wind->velocity) && wind->gust >= 0 && isfinite(wind->gust)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "wind must be finite, and gusts 0 or more");
    if (wind && !(wind->length > 0 && wind->density >= 0 && wind->drag >= 0 &&
                  isfinite(wind->length + wind->density + wind->drag)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the length of gusts must be positive, the density of the air and its drag 0 or more");
    run->hands.has_wind = wind != NULL;
    if (wind)
        run->hands.wind = *wind;
    run->engine.kind->take_hands(run->engine.data, &run->hands);
    return BOUGH_OK;
}

bough_status bough_run_set_gravity(bough_context *ctx, bough_run *run, const double gravity[3]) {
    BO_TRY(need(ctx, run, BOUGH_CAN_GRAVITY, "knows no gravity"));
    if (!are_finite(gravity))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "gravity must be finite");
    /* Whoever turns gravity changes the potential of all that has moved. */
    const double before = bough_run_values(run)[BOUGH_COLUMN_TOTAL];
    BO_TRY(run->engine.kind->set_gravity(run->engine.data, gravity));
    memcpy(run->gravity, gravity, sizeof run->gravity);
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
        run->engine.kind->motor(run->engine.data, i, motor);
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
    if (!(run->engine.kind->can & BOUGH_CAN_CHANGE))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s", run->engine.kind->things);
    if (count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there cannot be %d changes", count);
    /* room first: what has happened must be told */
    if (!BO_RESERVE(ctx, run->changes, run->change_capacity, run->change_count + (size_t)count))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(run->engine.kind->change(run->engine.data, count, changes));
    run->measured = NAN;
    return bo_run_take_changes(ctx, run);
}

/* ---- settings between steps ---- */

static bough_status paint(bough_context *ctx, bough_run *run, bo_paint what, int32_t thing, bool siblings,
                          double value) {
    BO_TRY(check_live(ctx, run));
    if (!(run->engine.kind->can & BOUGH_CAN_PAINT))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s", run->engine.kind->things);
    BO_TRY(check_thing(ctx, run, thing));
    if (run->engine.things[thing].held)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "\"%.60s\" belongs to the surroundings, which do not bend",
                       run->engine.things[thing].name);
    BO_TRY(run->engine.kind->paint(run->engine.data, what, thing, siblings, value));
    run->measured = NAN;
    return BOUGH_OK;
}

bough_status bough_run_set_stiffness(bough_context *ctx, bough_run *run, int32_t thing, bool siblings, double factor) {
    return paint(ctx, run, BO_PAINT_STIFFNESS, thing, siblings, factor);
}

bough_status bough_run_set_damping(bough_context *ctx, bough_run *run, int32_t thing, bool siblings, double ratio) {
    return paint(ctx, run, BO_PAINT_DAMPING, thing, siblings, ratio);
}

static bough_status choose(bough_context *ctx, bough_run *run, uint32_t capability, const char *lack, bo_word what,
                           const char *name) {
    BO_TRY(need(ctx, run, capability, lack));
    BO_TRY(run->engine.kind->choose(run->engine.data, what, name));
    run->measured = NAN;
    return BOUGH_OK;
}

bough_status bough_run_set_coupling(bough_context *ctx, bough_run *run, const char *name) {
    return choose(ctx, run, BOUGH_CAN_COUPLING, "couples nothing", BO_WORD_COUPLING, name);
}

bough_status bough_run_set_continuity(bough_context *ctx, bough_run *run, const char *name) {
    return choose(ctx, run, BOUGH_CAN_CONTINUITY, "joins no surfaces", BO_WORD_CONTINUITY, name);
}

bough_status bough_run_set_integrator(bough_context *ctx, bough_run *run, const char *name) {
    const char *known = NULL;
    for (int32_t i = 0; i < bough_integrator_count() && !known; i++)
        if (bo_equal_ignoring_case(bough_integrator_describe(i)->name, name))
            known = bough_integrator_describe(i)->name;
    if (!known)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no integrator \"%s\"", name);
    BO_TRY(choose(ctx, run, BOUGH_CAN_INTEGRATOR, "cannot go on with another integrator; begin anew with it",
                  BO_WORD_INTEGRATOR, known));
    run->integrator = known;
    return BOUGH_OK;
}

/* ---- looking ---- */

uint32_t bough_run_can(const bough_run *run) {
    return run->engine.kind->can;
}

void bough_run_gravity(const bough_run *run, double gravity[3]) {
    memcpy(gravity, run->gravity, sizeof run->gravity);
}

bool bough_run_wind(const bough_run *run, bough_wind *wind) {
    *wind = (bough_wind){0};
    if (!(run->engine.kind->can & BOUGH_CAN_WIND))
        return false;
    *wind = *run->engine.kind->wind(run->engine.data);
    return true;
}

/* As stiff as what is pulled would be if it swung by itself as slowly as what it hangs on, k = m (2 pi f)^2: hand and
 * thing meet half-way, and nothing is torn. Frequencies beyond these, of rigid and of very soft things, would tear or
 * not be felt. */
bough_status bough_run_spring(bough_context *ctx, const bough_run *run, int32_t thing, double *stiffness,
                              double *damping) {
    const double slowest = 0.3, fastest = 6, ratio = 0.3;
    double mass, hz;
    *stiffness = *damping = 0;
    BO_TRY(need(ctx, run, BOUGH_CAN_PULL, "takes no hands"));
    BO_TRY(check_thing(ctx, run, thing));
    run->engine.kind->feel(run->engine.data, thing, &mass, &hz);
    const double omega = 2 * M_PI * fmin(fmax(hz, slowest), fastest);
    *stiffness = mass * omega * omega;
    *damping = 2 * ratio * mass * omega;
    return BOUGH_OK;
}

bough_tree_state *bough_run_state(bough_run *run) {
    bough_tree_state *state = NULL;
    if (run->live && run->engine.kind->model)
        run->engine.kind->model(run->engine.data, &state);
    return state;
}
