/* Fully implicit methods made of stages M (v - vh) = tau [f(qh + tau v) - D v]. The acceleration at the end of a stage
 * is (v - vh) / tau, free of charge. */
#include "time/integrator.h"
#include "time/methods.h"

#include <math.h>
#include <string.h>

/* The momenta of a motion: p, or v. */
static double *momenta(const bo_integrator *I, const bo_motion *m) {
    return I->system->momentum_size > 0 ? m->p : m->v;
}
static int32_t momentum_count(const bo_integrator *I) {
    return I->system->momentum_size > 0 ? I->system->momentum_size : I->system->size;
}
/* A motion of scratch, for a stage; v and lambda are those of `like`. */
static bo_motion take_motion(bo_integrator *I, const bo_motion *like) {
    const bo_motion m = {like->t, bo_take(I), bo_take(I), bo_take(I), bo_take(I), bo_take(I)};
    memcpy(m.v, like->v, (size_t)I->system->size * sizeof *m.v);
    if (I->system->constraint_count > 0)
        memcpy(m.lambda, like->lambda, (size_t)I->system->constraint_count * sizeof *m.lambda);
    return m;
}
enum { MOTION_VECTORS = 5 };

/* ---- backward Euler ---- */

static bough_status backward_euler(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return bo_stage(I, to->t, from->q, from->v, h, to->q, to->v);
}

static bough_status backward_euler_residual(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return bo_residual_stage(I, to->t, from->q, momenta(I, from), h, to);
}

const bo_method bo_method_backward_euler = {.info = {.name = "backward-euler",
                                                     .about = "first order, strong damping, the most robust",
                                                     .order = 1,
                                                     .a_stable = true,
                                                     .l_stable = true,
                                                     .factorisations = 1,
                                                     .solves = 1,
                                                     .constraints = true,
                                                     .needs = ""},
                                            .step = backward_euler,
                                            .step_residual = backward_euler_residual,
                                            .residual_vectors = BO_RESIDUAL_STAGE_VECTORS,
                                            .ends_at_stage = true,
                                            .vector_count = BO_STAGE_VECTORS};

/* ---- trapezoidal rule, implicit midpoint ---- */

/* The stage that starts half way along the tangent: qh = q0 + tau v0, vh = v0 + tau a0. */
static bough_status tangent_stage(bo_integrator *I, double t, double tau, const bo_motion *from, double *qh, double *vh,
                                  double *q, double *v) {
    bo_move(I, from->q, tau, from->v, qh);
    bo_add_scaled(I, from->v, tau, from->a, vh);
    return bo_stage(I, t, qh, vh, tau, q, v);
}

static void stage_acceleration(const bo_integrator *I, double tau, const double *v, const double *vh, double *a) {
    for (int32_t i = 0; i < I->system->size; i++)
        a[i] = (v[i] - vh[i]) / tau;
}

static bough_status trapezoidal(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    double *qh = bo_take(I), *vh = bo_take(I);
    BO_TRY(tangent_stage(I, to->t, 0.5 * h, from, qh, vh, to->q, to->v));
    stage_acceleration(I, 0.5 * h, to->v, vh, to->a);
    return BOUGH_OK;
}

/* The same in residual form: momenta in the place of velocities. */
static bough_status tangent_stage_residual(bo_integrator *I, double tau, const bo_motion *from, double *qh, double *ph,
                                           bo_motion *to) {
    const double *p = momenta(I, from);
    bo_move(I, from->q, tau, from->v, qh);
    for (int32_t i = 0; i < momentum_count(I); i++)
        ph[i] = p[i] + tau * from->a[i];
    return bo_residual_stage(I, from->t + 2 * tau, qh, ph, tau, to);
}

static bough_status trapezoidal_residual(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    double *qh = bo_take(I), *ph = bo_take(I);
    return tangent_stage_residual(I, 0.5 * h, from, qh, ph, to);
}

#define RINGING "it does not damp what is infinitely stiff, so that multipliers would ring; take bdf2 or tr-bdf2"

const bo_method bo_method_trapezoidal = {
    .info = {.name = "trapezoidal",
             .about = "second order, no damping; the same as Newmark with beta 1/4, gamma 1/2",
             .order = 2,
             .a_stable = true,
             .factorisations = 1,
             .solves = 1,
             .needs = ""},
    .step = trapezoidal,
    .step_residual = trapezoidal_residual,
    .no_constraints = RINGING,
    .residual_vectors = BO_RESIDUAL_STAGE_VECTORS + 2,
    .vector_count = BO_STAGE_VECTORS + 2,
    .uses_acceleration = true};

/* Half a step of backward Euler to the middle, then on by the same tangent: q1 = q0 + h vm, v1 = 2 vm - v0. */
static bough_status midpoint(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    double *vm = bo_take(I);
    memcpy(vm, I->guess ? I->guess : from->v, (size_t)I->system->size * sizeof *vm);
    BO_TRY(bo_stage_from(I, from->t + 0.5 * h, from->q, from->v, 0.5 * h, to->q, vm));
    bo_move(I, from->q, h, vm, to->q);
    for (int32_t i = 0; i < I->system->size; i++)
        to->v[i] = 2 * vm[i] - from->v[i];
    return BOUGH_OK;
}

/* v1 = 2 vm - v0 holds where p is v; of momenta p1 = p0 + h a, and no stage finds the v1 that they belong to. */
static bough_status midpoint_residual(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    bo_motion middle = take_motion(I, from);
    double *dq = bo_take(I);
    BO_TRY(bo_residual_stage(I, from->t + 0.5 * h, from->q, from->v, 0.5 * h, &middle));
    for (int32_t i = 0; i < I->system->size; i++) {
        dq[i] = h * middle.v[i];
        to->v[i] = 2 * middle.v[i] - from->v[i];
        to->a[i] = middle.a[i];
    }
    bo_move(I, from->q, 1, dq, to->q);
    return BOUGH_OK;
}

const bo_method bo_method_midpoint = {.info = {.name = "midpoint",
                                               .about = "second order, symplectic: keeps momentum and, nearly, energy",
                                               .order = 2,
                                               .a_stable = true,
                                               .factorisations = 1,
                                               .solves = 1,
                                               .needs = ""},
                                      .step = midpoint,
                                      .step_residual = midpoint_residual,
                                      .no_constraints = "it knows forces in the middle of a step only, where "
                                                        "constraints would hold and not at its end; take bdf2 or "
                                                        "tr-bdf2",
                                      .steps_acceleration = true,
                                      .ends_beyond = true,
                                      .residual_vectors = BO_RESIDUAL_STAGE_VECTORS + MOTION_VECTORS + 1,
                                      .vector_count = BO_STAGE_VECTORS + 1};

/* ---- two stages: TR-BDF2 and SDIRK ---- */

/* Stage 1 ends at u_s, stage 2 starts at u0 + c (u_s - u0). */
static bough_status two_stages(bo_integrator *I, const bo_motion *from, bo_motion *to, double tau1, double c,
                               double tau2) {
    double *qh = bo_take(I), *vh = bo_take(I), *qs = bo_take(I), *vs = bo_take(I), *dq = bo_take(I);
    BO_TRY(tangent_stage(I, from->t + 2 * tau1, tau1, from, qh, vh, qs, vs));
    bo_difference(I, qs, from->q, dq);
    bo_move(I, from->q, c, dq, qh);
    for (int32_t i = 0; i < I->system->size; i++)
        vh[i] = from->v[i] + c * (vs[i] - from->v[i]);
    BO_TRY(bo_stage(I, to->t, qh, vh, tau2, to->q, to->v));
    stage_acceleration(I, tau2, to->v, vh, to->a);
    return BOUGH_OK;
}

static bough_status two_stages_residual(bo_integrator *I, const bo_motion *from, bo_motion *to, double tau1, double c,
                                        double tau2) {
    double *qh = bo_take(I), *ph = bo_take(I), *dq = bo_take(I);
    bo_motion at = take_motion(I, from);
    BO_TRY(tangent_stage_residual(I, tau1, from, qh, ph, &at));
    const double *p0 = momenta(I, from), *ps = momenta(I, &at);
    bo_difference(I, at.q, from->q, dq);
    bo_move(I, from->q, c, dq, qh);
    for (int32_t i = 0; i < momentum_count(I); i++)
        ph[i] = p0[i] + c * (ps[i] - p0[i]);
    memcpy(to->v, at.v, (size_t)I->system->size * sizeof *to->v);
    if (I->system->constraint_count > 0)
        memcpy(to->lambda, at.lambda, (size_t)I->system->constraint_count * sizeof *to->lambda);
    return bo_residual_stage(I, to->t, qh, ph, tau2, to);
}
#define TWO_STAGES_VECTORS (BO_RESIDUAL_STAGE_VECTORS + 3 + MOTION_VECTORS)

static bough_status tr_bdf2_residual(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return two_stages_residual(I, from, to, h / 4, 4.0 / 3, h / 3);
}

static bough_status tr_bdf2(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return two_stages(I, from, to, h / 4, 4.0 / 3, h / 3);
}

const bo_method bo_method_tr_bdf2 = {
    .info = {.name = "tr-bdf2",
             .about = "second order, damps only what it cannot resolve: a good default",
             .order = 2,
             .a_stable = true,
             .l_stable = true,
             .factorisations = 2,
             .solves = 2,
             .constraints = true,
             .needs = ""},
    .step = tr_bdf2,
    .step_residual = tr_bdf2_residual,
    .residual_vectors = TWO_STAGES_VECTORS,
    .ends_at_stage = true,
    .vector_count = BO_STAGE_VECTORS + 5,
    .uses_acceleration = true};

static bough_status sdirk(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    const double tau = (1 - M_SQRT1_2) * h;
    return two_stages(I, from, to, tau, 0.5 * (1 + M_SQRT2), tau);
}

static bough_status sdirk_residual(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    const double tau = (1 - M_SQRT1_2) * h;
    return two_stages_residual(I, from, to, tau, 0.5 * (1 + M_SQRT2), tau);
}

const bo_method bo_method_sdirk = {
    .info = {.name = "sdirk",
             .about = "second order, both stages with the same matrix; damps a little more than tr-bdf2",
             .order = 2,
             .a_stable = true,
             .l_stable = true,
             .factorisations = 2,
             .solves = 2,
             .constraints = true,
             .needs = ""},
    .step = sdirk,
    .step_residual = sdirk_residual,
    .residual_vectors = TWO_STAGES_VECTORS,
    .ends_at_stage = true,
    .vector_count = BO_STAGE_VECTORS + 5,
    .uses_acceleration = true};

/* ---- BDF2 ---- */

bo_bdf2_weights bo_bdf2_weights_of(double h, double h_before) {
    double w = h / h_before;
    return (bo_bdf2_weights){w * w / (1 + 2 * w), h * (1 + w) / (1 + 2 * w)};
}

static bough_status bdf2(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    if (I->h_before == 0) { /* no history: one step of SDIRK */
        bo_motion start = {.t = from->t, .q = from->q, .v = from->v, .a = bo_take(I)};
        BO_TRY(bo_acceleration(I, from->t, from->q, from->v, start.a));
        return sdirk(I, h, &start, to);
    }
    bo_bdf2_weights b = bo_bdf2_weights_of(h, I->h_before);
    double *qh = bo_take(I), *vh = bo_take(I), *dq = bo_take(I);
    bo_difference(I, from->q, I->q_before, dq);
    bo_move(I, from->q, b.history, dq, qh);
    for (int32_t i = 0; i < I->system->size; i++)
        vh[i] = from->v[i] + b.history * (from->v[i] - I->v_before[i]);
    return bo_stage(I, to->t, qh, vh, b.tau, to->q, to->v);
}

static bough_status bdf2_residual(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    if (I->h_before == 0) { /* no history: one step of SDIRK */
        bo_motion start = {from->t, from->q, from->v, bo_take(I), bo_take(I), bo_take(I)};
        BO_TRY(bo_start_residual(I, h, &start));
        return sdirk_residual(I, h, &start, to);
    }
    const bo_bdf2_weights b = bo_bdf2_weights_of(h, I->h_before);
    const double *p0 = momenta(I, from), *before = I->system->momentum_size > 0 ? I->p_before : I->v_before;
    double *qh = bo_take(I), *ph = bo_take(I), *dq = bo_take(I);
    bo_difference(I, from->q, I->q_before, dq);
    bo_move(I, from->q, b.history, dq, qh);
    for (int32_t i = 0; i < momentum_count(I); i++)
        ph[i] = p0[i] + b.history * (p0[i] - before[i]);
    return bo_residual_stage(I, to->t, qh, ph, b.tau, to);
}

const bo_method bo_method_bdf2 = {
    .info = {.name = "bdf2",
             .about = "second order, two steps, moderate damping; begins with a step of sdirk",
             .order = 2,
             .a_stable = true,
             .l_stable = true,
             .factorisations = 1,
             .solves = 1,
             .constraints = true,
             .needs = ""},
    .step = bdf2,
    .step_residual = bdf2_residual,
    .residual_vectors = TWO_STAGES_VECTORS + 3,
    .ends_at_stage = true,
    .vector_count = BO_STAGE_VECTORS + 6,
    .uses_history = true};
