/* Newmark's family. The balance is taken between the ends of the step, X_f = (1 - af) X1 + af X0:
 *     M ((1-am) a1 + am a0) = f(q_f) - D v_f
 *     q1 = q0 + h v0 + h^2 ((1/2-b) a0 + b a1),  v1 = v0 + h ((1-g) a0 + g a1)
 * generalised-alpha (Chung and Hulbert 1993): am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1), g = 1/2 - am + af,
 * b = (1 - am + af)^2 / 4; HHT: am = 0, af = -alpha; Newmark: am = af = 0 with b, g free. */
#include "time/integrator.h"

typedef struct {
    double am, af, beta, gamma;
} weights;

static weights of_rho(double rho) {
    weights w = {.am = (2 * rho - 1) / (rho + 1), .af = rho / (rho + 1)};
    w.gamma = 0.5 - w.am + w.af;
    w.beta = 0.25 * (1 - w.am + w.af) * (1 - w.am + w.af);
    return w;
}

static weights of_alpha(double alpha) {
    return (weights){0, -alpha, 0.25 * (1 - alpha) * (1 - alpha), 0.5 - alpha};
}

/* q1 and v1 from a1. */
static void finish(bo_integrator *I, double h, weights w, const bo_motion *from, bo_motion *to, double *dq) {
    for (int32_t i = 0; i < I->system->size; i++) {
        dq[i] = h * from->v[i] + h * h * ((0.5 - w.beta) * from->a[i] + w.beta * to->a[i]);
        to->v[i] = from->v[i] + h * ((1 - w.gamma) * from->a[i] + w.gamma * to->a[i]);
    }
    bo_move(I, from->q, 1, dq, to->q);
}

static bough_status implicit_step(bo_integrator *I, double h, weights w, const bo_motion *from, bo_motion *to) {
    const bo_system *system = I->system;
    double *dq = bo_take(I), *qb = bo_take(I), *vb = bo_take(I), *r = bo_take(I);
    for (int32_t i = 0; i < system->size; i++) {
        dq[i] = (1 - w.af) * (h * from->v[i] + h * h * (0.5 - w.beta) * from->a[i]);
        vb[i] = from->v[i] + (1 - w.af) * h * (1 - w.gamma) * from->a[i];
        to->a[i] = from->a[i];
    }
    bo_move(I, from->q, 1, dq, qb);
    BO_TRY(bo_damp_ahead(I, from->q, (1 - w.af) * h, from->v));
    system->multiply(system->data, BO_MATRIX_M, from->a, r);
    for (int32_t i = 0; i < system->size; i++)
        r[i] *= w.am;
    bo_implicit problem = {.t = from->t + (1 - w.af) * h,
                           .cm = 1 - w.am,
                           .cq = (1 - w.af) * w.beta * h * h,
                           .cv = (1 - w.af) * w.gamma * h,
                           .q_base = qb,
                           .v_base = vb,
                           .r = r};
    BO_TRY(bo_solve_implicit(I, &problem, to->a));
    finish(I, h, w, from, to, dq);
    return BOUGH_OK;
}

/* The same with f linearised at q0: f(q_f) = f(q0) - (1-af) K (q1 - q0), one solve. */
static bough_status linear_step(bo_integrator *I, double h, weights w, const bo_motion *from, bo_motion *to) {
    const bo_system *system = I->system;
    double *dq = bo_take(I), *vf = bo_take(I), *rhs = bo_take(I), *product = bo_take(I);
    const double c = 1 - w.af;
    BO_TRY(bo_damp_ahead(I, from->q, c * h, from->v));
    BO_TRY(system->linearise(system->data, from->t, from->q, false));
    BO_TRY(system->force(system->data, from->t + c * h, from->q, NULL, rhs));
    for (int32_t i = 0; i < system->size; i++) {
        dq[i] = h * from->v[i] + h * h * (0.5 - w.beta) * from->a[i];
        vf[i] = from->v[i] + c * h * (1 - w.gamma) * from->a[i];
    }
    system->multiply(system->data, BO_MATRIX_K, dq, product);
    bo_add_scaled(I, rhs, -c, product, rhs);
    system->multiply(system->data, BO_MATRIX_D, vf, product);
    bo_add_scaled(I, rhs, -1, product, rhs);
    BO_TRY(system->factor(system->data, 1, c * w.gamma * h, c * w.beta * h * h));
    I->factors++;
    BO_TRY(system->solve(system->data, rhs, to->a));
    finish(I, h, w, from, to, dq);
    return BOUGH_OK;
}

#define IMPLICIT_VECTORS (BO_IMPLICIT_VECTORS + 4)

/* In residual form (Arnold and Bruels 2007) the balance is taken at the end of the step, with v1' of its own beside the
 * acceleration a that the step is made of:
 *     R(q1, v1, v1') = 0,     (1-am) a1 + am a0 = (1-af) v1' + af v0'
 * which on linear systems is the same method. z = v1'. */
static bough_status residual_step(bo_integrator *I, double h, weights w, const bo_motion *from, bo_motion *to) {
    const int32_t n = I->system->size;
    const double share = (1 - w.af) / (1 - w.am); /* of z in a1 */
    double *dq = bo_take(I), *vb = bo_take(I), *ab = bo_take(I), *z = bo_take(I);
    for (int32_t i = 0; i < n; i++) {
        const double a0 = I->alpha_rate[i];
        ab[i] = (w.af * from->a[i] - w.am * a0) / (1 - w.am);
        dq[i] = h * from->v[i] + h * h * ((0.5 - w.beta) * a0 + w.beta * ab[i]);
        vb[i] = from->v[i] + h * ((1 - w.gamma) * a0 + w.gamma * ab[i]);
        z[i] = from->a[i];
    }
    bo_residual_problem P = {.t = to->t,
                             .ca = 1,
                             .cv = h * w.gamma * share,
                             .cq = h * h * w.beta * share,
                             .q_base = from->q,
                             .dq_base = dq,
                             .v_base = vb};
    BO_TRY(bo_solve_residual(I, &P, z, to->lambda, to->q, to->v, to->a));
    for (int32_t i = 0; i < n; i++)
        I->alpha_next[i] = ab[i] + share * z[i];
    return BOUGH_OK;
}
#define RESIDUAL_STEP_VECTORS (BO_RESIDUAL_VECTORS + 4)
#define RESIDUAL_STEP(name) .step_residual = name, .residual_vectors = RESIDUAL_STEP_VECTORS, .steps_acceleration = true

static bough_status generalised_alpha_residual(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return residual_step(I, h, of_rho(I->def.rho), from, to);
}
static bough_status hht_residual(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return residual_step(I, h, of_alpha(I->def.alpha), from, to);
}
static bough_status newmark_residual(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return residual_step(I, h, (weights){0, 0, I->def.beta, I->def.gamma}, from, to);
}

static bough_status generalised_alpha(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return implicit_step(I, h, of_rho(I->def.rho), from, to);
}

const bo_method bo_method_generalised_alpha = {
    .info = {.name = "generalised-alpha",
             .about = "second order; rho sets the damping of what is not resolved: 1 none, 0 all of it",
             .order = 2,
             .a_stable = true,
             .factorisations = 1,
             .solves = 1,
             .constraints = true,
             .needs = "rho"},
    .step = generalised_alpha,
    RESIDUAL_STEP(generalised_alpha_residual),
    .vector_count = IMPLICIT_VECTORS,
    .uses_acceleration = true,
    .carries_balance = true};

static bough_status hht(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return implicit_step(I, h, of_alpha(I->def.alpha), from, to);
}

const bo_method bo_method_hht = {.info = {.name = "hht",
                                          .about = "second order, Hilber, Hughes and Taylor's alpha method",
                                          .order = 2,
                                          .a_stable = true,
                                          .factorisations = 1,
                                          .solves = 1,
                                          .constraints = true,
                                          .needs = "alpha"},
                                 .step = hht,
                                 RESIDUAL_STEP(hht_residual),
                                 .vector_count = IMPLICIT_VECTORS,
                                 .uses_acceleration = true,
                                 .carries_balance = true};

static bough_status newmark(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return implicit_step(I, h, (weights){0, 0, I->def.beta, I->def.gamma}, from, to);
}

const bo_method bo_method_newmark = {
    .info = {.name = "newmark",
             .about = "second order with gamma 1/2, no damping; larger gamma damps and is first order",
             .order = 2,
             .a_stable = true,
             .factorisations = 1,
             .solves = 1,
             .needs = "beta, gamma"},
    .step = newmark,
    RESIDUAL_STEP(newmark_residual),
    .no_constraints = "with gamma 1/2 it does not damp what is infinitely stiff, so that multipliers would ring; take "
                      "generalised-alpha",
    .vector_count = IMPLICIT_VECTORS,
    .uses_acceleration = true,
    .carries_balance = true};

static bough_status hht_linear(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return linear_step(I, h, of_alpha(I->def.alpha), from, to);
}

const bo_method bo_method_hht_linear = {
    .info = {.name = "hht-linear",
             .about = "hht with one linear solve a step, forces linearised at its start",
             .order = 2,
             .a_stable = true,
             .factorisations = 1,
             .solves = 1,
             .needs = "alpha"},
    .step = hht_linear,
    .vector_count = 5,
    .uses_acceleration = true,
    .carries_balance = true};

static bough_status newmark_linear(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return linear_step(I, h, (weights){0, 0, I->def.beta, I->def.gamma}, from, to);
}

const bo_method bo_method_newmark_linear = {
    .info = {.name = "newmark-linear",
             .about = "newmark with one linear solve a step, forces linearised at its start",
             .order = 2,
             .a_stable = true,
             .factorisations = 1,
             .solves = 1,
             .needs = "beta, gamma"},
    .step = newmark_linear,
    .vector_count = 5,
    .uses_acceleration = true,
    .carries_balance = true};
