/* The gaps of a mechanism's joints: measured while it runs, and foreseen from its motors. */
#include "mechanism/engine_inside.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>

static const char *advice(const bo_linkage *l) {
    return l->kind == &bo_reduced_linkage   ? "a model that is linear about one pose does not follow so far; use the "
                                              "engine \"full\" (--engine full), "
                                              "or \"blend\" in \"engine\""
           : l->kind == &bo_blended_linkage ? "the blend has no point near enough; give it more \"points\", or "
                                              "\"loads\" and motors as they act here, "
                                              "or use the engine \"full\" (--engine full)"
                                            : "smaller steps may help";
}

typedef struct {
    char text[96];
} label;
/* "0.012 m and 3.4 degrees", of what is worth a word. */
static label size_of(double distance, double angle) {
    const double degrees = 57.29577951308232 * angle;
    label l;
    if (degrees < 0.01)
        snprintf(l.text, sizeof l.text, "%.3g m", distance);
    else
        snprintf(l.text, sizeof l.text, "%.3g m and %.3g degrees", distance, degrees);
    return l;
}

static label label_of(const bo_mechanism_plan *m, int32_t joint) {
    label l;
    const char *name = m->joints[joint].name;
    if (name && name[0])
        snprintf(l.text, sizeof l.text, "\"%.80s\"", name);
    else
        snprintf(l.text, sizeof l.text, "%d", joint);
    return l;
}

void bo_linkage_watch(mechanism_engine *e, double t) {
    const bo_linkage *l = &e->l;
    if (!l->m->mechanism)
        return;
    const bough_mechanism_gap gap = bough_mechanism_largest_gap(l->m->mechanism, l->poses);
    e->gap = (bough_run_gap){
        gap.joint, gap.joint < 0 ? NULL : l->m->joints[gap.joint].name, gap.distance, gap.angle, gap.error, t};
    if (e->worst_gap.joint < 0 || gap.error > e->worst_gap.error)
        e->worst_gap = e->gap;
    if (gap.error <= l->m->joint_tolerance || e->warned || gap.joint < 0)
        return;
    e->warned = true;
    bo_warn(l->ctx,
            "%s: at t = %.4g s the two sides of joint %s are %s apart, more than %g of a radian or of the mechanism's "
            "radius, %.3g m: %s",
            l->m->path, t, label_of(l->m, gap.joint).text, size_of(gap.distance, gap.angle).text, l->m->joint_tolerance,
            bough_mechanism_radius(l->m->mechanism), advice(l));
}

/* ---- what motors will do ---- */

#define MOST_UNKNOWNS 150 /* of the full engine, which then still runs about in real time */
enum { EVEN_TIMES = 200, MOST_TIMES = 5000 };

/* Links of the reduced model where its springs are at rest, with the motors as they are at time t. */
static void rest_at(const bo_linkage *l, const bough_mechanism_model *model, bough_mechanism_state *state, double t) {
    const int32_t n = 6 * model->end_effector_count;
    for (int32_t i = 0; i < n; i++)
        state->xi[i] = model->rest_xi[i];
    for (int32_t k = 0; k < l->m->motor_count; k++) {
        state->motors[k] = bo_motor_offset(&l->m->motors[k], l->m->curves, t);
        for (int32_t i = 0; i < n; i++)
            state->xi[i] += state->motors[k] * model->motor_xi[(ptrdiff_t)n * k + i];
    }
    bough_mechanism_state_place(model, state);
}

static void look_at(const bo_linkage *l, const bough_mechanism_model *model, bough_mechanism_state *state, double t,
                    bough_run_gap *worst) {
    rest_at(l, model, state, t);
    const bough_mechanism_gap gap = bough_mechanism_largest_gap(l->m->mechanism, state->poses);
    if (gap.error > worst->error)
        *worst = (bough_run_gap){gap.joint, NULL, gap.distance, gap.angle, gap.error, t};
}

double bo_linkage_motors_end(const bo_linkage *l, double until) {
    double end = 0;
    for (int32_t k = 0; k < l->m->motor_count; k++) {
        const bo_curve *curve = &l->m->curves[l->m->motors[k].curve];
        end = fmax(end, curve->times[curve->count - 1]);
    }
    return fmin(end, until);
}

/* At even times, and where curves have their points. */
static void look_along(const bo_linkage *l, const bough_mechanism_model *model, bough_mechanism_state *state,
                       double until, bough_run_gap *worst) {
    const double end = bo_linkage_motors_end(l, until);
    int32_t left = MOST_TIMES;
    for (int32_t i = 0; i <= EVEN_TIMES; i++)
        look_at(l, model, state, end * i / EVEN_TIMES, worst);
    for (int32_t k = 0; k < l->m->motor_count; k++) {
        const bo_curve *curve = &l->m->curves[l->m->motors[k].curve];
        for (int32_t i = 0; i < curve->count && curve->times[i] <= end && left > 0; i++, left--)
            look_at(l, model, state, curve->times[i], worst);
    }
}

/* The full engine can do it, and is fast enough not to be a surprise. */
static bool suits_full(const bo_linkage *l) {
    const int32_t unknowns = bough_mechanism_coordinate_count(l->m->mechanism) +
                             6 * bough_mechanism_loop_count(l->m->mechanism) + (l->m->free_base ? 6 : 0);
    return unknowns <= MOST_UNKNOWNS && bo_equal_ignoring_case(l->integrator.name, "backward-euler");
}

bough_status bo_mechanism_prefers_full(bough_context *ctx, const bo_mechanism_plan *plan,
                                       const bo_engine_settings *settings, double until, bool *full, char *reason,
                                       size_t reason_size) {
    const bo_linkage l = {.ctx = ctx, .m = plan, .integrator = settings->integrator};
    bough_mechanism_model *model = NULL;
    bough_mechanism_state *state = NULL;
    bough_run_gap worst = {.joint = -1};
    *full = false;
    if (!plan->mechanism || plan->motor_count == 0 || !suits_full(&l))
        return BOUGH_OK;
    bough_status status = bo_linkage_make_model(&l, 0, &model);
    if (status == BOUGH_OK)
        status = bough_mechanism_state_create(ctx, model, &state);
    if (status == BOUGH_OK)
        look_along(&l, model, state, until, &worst);
    bough_mechanism_state_destroy(ctx, state);
    bough_mechanism_model_destroy(ctx, model);
    if (status == BOUGH_ERROR_MEMORY)
        return status;
    if (worst.joint < 0 || worst.error <= plan->joint_tolerance)
        return BOUGH_OK; /* where there is no model, its own sentence comes later */
    *full = true;
    snprintf(
        reason, reason_size,
        "the motors take the mechanism beyond what a model that is linear about one pose can follow (at t = %.4g s "
        "joint %s would be %s apart); --engine mechanism takes that model all the same",
        worst.time, label_of(plan, worst.joint).text, size_of(worst.distance, worst.angle).text);
    return BOUGH_OK;
}
