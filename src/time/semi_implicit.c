/* Semi-implicit methods: each stage is one Newton step, (I - tau J) d = b, which in second-order form reads
 *     (M + tau D + tau^2 K) dv = M bv - tau K bq,   dq = bq + tau dv.
 * F = f - D v. Forces that depend on time are taken in the middle of the interval that a stage's slope stands for. */
#include "time/integrator.h"
#include "time/methods.h"

/* ---- semi-implicit Euler ---- */

static bough_status si(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    const bo_system *system = I->system;
    double *b = bo_take(I), *dq = bo_take(I), *dv = bo_take(I);
    BO_TRY(system->linearise(system->data, from->t, from->q, false));
    BO_TRY(bo_total_force(I, to->t, from->q, from->v, b));
    for (int32_t i = 0; i < system->size; i++) {
        b[i] *= h;
        dq[i] = h * from->v[i];
    }
    BO_TRY(bo_linear_stage(I, h, true, dq, b, dq, dv));
    bo_move(I, from->q, 1, dq, to->q);
    bo_add_scaled(I, from->v, 1, dv, to->v);
    return BOUGH_OK;
}

const bo_method bo_method_si = {.info = {.name = "si",
                                         .about = "semi-implicit Euler: backward Euler with one linear solve a step",
                                         .order = 1,
                                         .a_stable = true,
                                         .l_stable = true,
                                         .factorisations = 1,
                                         .solves = 1,
                                         .needs = ""},
                                .step = si,
                                .vector_count = 4};

/* ---- two stages: STR-SBDF2 and S-SDIRK ---- */

/* b = c (u_s - u0) + tau F(u_s): the right-hand side of a second stage, from u_s on. */
static bough_status second_stage(bo_integrator *I, double tau, double c, bool factor, const bo_motion *from,
                                 const double *qs, const double *vs, bo_motion *to) {
    const bo_system *system = I->system;
    double *b = bo_take(I), *dq = bo_take(I), *dv = bo_take(I);
    BO_TRY(bo_total_force(I, to->t, qs, vs, b));
    bo_add_scaled(I, vs, -1, from->v, dv);
    system->multiply(system->data, BO_MATRIX_M, dv, dq);
    for (int32_t i = 0; i < system->size; i++)
        b[i] = tau * b[i] + c * dq[i];
    bo_difference(I, qs, from->q, dq);
    for (int32_t i = 0; i < system->size; i++)
        dq[i] = c * dq[i] + tau * vs[i];
    BO_TRY(bo_linear_stage(I, tau, factor, dq, b, dq, dv));
    bo_move(I, qs, 1, dq, to->q);
    bo_add_scaled(I, vs, 1, dv, to->v);
    return BOUGH_OK;
}

bough_status bo_linear_trapezoid(bo_integrator *I, double tau, const bo_motion *from, double *qs, double *vs) {
    const bo_system *system = I->system;
    double *b = bo_take(I), *dq = bo_take(I);
    BO_TRY(system->linearise(system->data, from->t, from->q, false));
    BO_TRY(bo_total_force(I, from->t + tau, from->q, from->v, b));
    for (int32_t i = 0; i < system->size; i++) {
        b[i] *= 2 * tau;
        dq[i] = 2 * tau * from->v[i];
    }
    BO_TRY(bo_linear_stage(I, tau, true, dq, b, dq, vs));
    bo_move(I, from->q, 1, dq, qs);
    bo_add_scaled(I, from->v, 1, vs, vs);
    return BOUGH_OK;
}

static bough_status str_sbdf2(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    const bo_system *system = I->system;
    double *qs = bo_take(I), *vs = bo_take(I);
    BO_TRY(bo_linear_trapezoid(I, h / 4, from, qs, vs));
    BO_TRY(system->linearise(system->data, from->t + h / 2, qs, false));
    return second_stage(I, h / 3, 1.0 / 3, true, from, qs, vs, to);
}

const bo_method bo_method_str_sbdf2 = {.info = {.name = "str-sbdf2",
                                                .about = "second order: tr-bdf2 with one linear solve a stage",
                                                .order = 2,
                                                .a_stable = true,
                                                .l_stable = true,
                                                .factorisations = 2,
                                                .solves = 2,
                                                .needs = ""},
                                       .step = str_sbdf2,
                                       .vector_count = 8};

static bough_status s_sdirk(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    /* tau = g h / 2 with g = 2 - sqrt 2; c = 2b/g = (1 + sqrt 2)/2 */
    const double tau = (1 - 0.70710678118654752440) * h, c = 0.5 * (1 + 1.41421356237309504880);
    double *qs = bo_take(I), *vs = bo_take(I);
    BO_TRY(bo_linear_trapezoid(I, tau, from, qs, vs));
    return second_stage(I, tau, c - 1, false, from, qs, vs, to); /* the same K, the same factor */
}

const bo_method bo_method_s_sdirk = {
    .info = {.name = "s-sdirk",
             .about = "second order: sdirk with linear solves, one factorisation for both stages",
             .order = 2,
             .a_stable = true,
             .l_stable = true,
             .factorisations = 1,
             .solves = 2,
             .needs = ""},
    .step = s_sdirk,
    .vector_count = 8};

/* ---- SBDF2 ---- */

static bough_status sbdf2(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    if (I->h_before == 0)
        return s_sdirk(I, h, from, to);
    const bo_system *system = I->system;
    bo_bdf2_weights w = bo_bdf2_weights_of(h, I->h_before);
    double *b = bo_take(I), *dq = bo_take(I), *dv = bo_take(I);
    BO_TRY(bo_damp_ahead(I, from->q, h, from->v));
    BO_TRY(system->linearise(system->data, from->t, from->q, false));
    BO_TRY(bo_total_force(I, to->t, from->q, from->v, b));
    bo_add_scaled(I, from->v, -1, I->v_before, dv);
    system->multiply(system->data, BO_MATRIX_M, dv, dq);
    for (int32_t i = 0; i < system->size; i++)
        b[i] = w.tau * b[i] + w.history * dq[i];
    bo_difference(I, from->q, I->q_before, dq);
    for (int32_t i = 0; i < system->size; i++)
        dq[i] = w.history * dq[i] + w.tau * from->v[i];
    BO_TRY(bo_linear_stage(I, w.tau, true, dq, b, dq, dv));
    bo_move(I, from->q, 1, dq, to->q);
    bo_add_scaled(I, from->v, 1, dv, to->v);
    return BOUGH_OK;
}

const bo_method bo_method_sbdf2 = {
    .info = {.name = "sbdf2",
             .about = "second order: bdf2 with one linear solve a step; begins with a step of s-sdirk",
             .order = 2,
             .a_stable = true,
             .l_stable = true,
             .factorisations = 1,
             .solves = 1,
             .needs = ""},
    .step = sbdf2,
    .vector_count = 8,
    .uses_history = true};
