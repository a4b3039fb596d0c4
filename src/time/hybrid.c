/* Hybrids: the lowest modes move exactly (exponential), the rest implicitly.
 *
 * With P = X W^T the projector on the modes, a step has a part in their span, the exponential increment
 *     (eq, ev) = X ((S + dC) W^T v + C X^T F,  -lambda C W^T v + S X^T F),   F = f - D v,
 * and a part in the complement, where the implicit method works with its history, all of it projected by I - P:
 *     q1 = q0 + eq + bq + tau (I - P) v1,        W^T v1 = W^T (v0 + ev)
 *     M (v1 - v0 - ev - bv) = tau [f(q1) - D v1]   but for forces W mu that hold W^T v1.
 * That constraint is what makes the methods safe with modes that are not those of the present K, where the published
 * J - J_G blows up. History in the span of the modes, as published, makes the two-step methods first order and
 * unstable. Backward Euler in the complement has tau = h and no history; BDF2 and TR-BDF2 theirs. */
#include "time/exponential.h"
#include "time/methods.h"
#include "time/modes.h"

#include <string.h>

/* Results of the complement's method. */
typedef struct {
    const double *q, *v;   /* where the step starts */
    double h;              /* of the exponential */
    double tau, t;         /* of the complement; time at its end */
    const double *dq, *dv; /* history u0 - u-, NULL: none */
    double c;              /* its weight */
    bool implicit;         /* Newton, or one linear solve */
} hybrid;

#define HYBRID_VECTORS (8 + BO_IMPLICIT_VECTORS)

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* out = s (I - P) x */
static void take_complement(const bo_integrator *I, double s, const double *x, double *out) {
    const bo_mode_set *m = I->modes;
    const int32_t n = I->system->size;
    if (x != out)
        memcpy(out, x, (size_t)n * sizeof *out);
    for (int32_t k = 0; k < m->count; k++)
        bo_add_scaled(I, out, -dot(n, m->W[k], out), m->X[k], out);
    for (int32_t i = 0; i < n; i++)
        out[i] *= s;
}

static void exponential_increment(const bo_integrator *I, double h, const double *v, const double *F, double *eq,
                                  double *ev) {
    const bo_mode_set *m = I->modes;
    const int32_t n = I->system->size;
    memset(eq, 0, (size_t)n * sizeof *eq);
    memset(ev, 0, (size_t)n * sizeof *ev);
    for (int32_t k = 0; k < m->count; k++) {
        double S, C, gq = dot(n, m->W[k], v), gv = dot(n, m->X[k], F);
        bo_mode_functions(m->lambda[k], m->damping[k], h, &S, &C);
        bo_add_scaled(I, eq, (S + m->damping[k] * C) * gq + C * gv, m->X[k], eq);
        bo_add_scaled(I, ev, -m->lambda[k] * C * gq + S * gv, m->X[k], ev);
    }
}

/* One linear solve, K kept at the start. */
static bough_status linear_complement(bo_integrator *I, const hybrid *y, const double *F, const double *eq,
                                      const double *ev, const double *bq, const double *bv, double *rhs, double *z,
                                      double *q1, double *v1) {
    const bo_system *s = I->system;
    const double tau = y->tau;
    double *dv = v1;
    s->multiply(s->data, BO_MATRIX_M, bv, rhs);
    bo_add_scaled(I, rhs, tau, F, rhs);
    take_complement(I, tau, y->v, z); /* tau vH */
    bo_add_scaled(I, z, 1, eq, z);
    bo_add_scaled(I, z, 1, bq, z); /* where the complement would stand without dv */
    bo_move(I, y->q, 1, z, q1);
    s->multiply(s->data, BO_MATRIX_K, z, dv);
    bo_add_scaled(I, rhs, -tau, dv, rhs);
    s->multiply(s->data, BO_MATRIX_D, ev, dv);
    bo_add_scaled(I, rhs, -tau, dv, rhs);
    BO_TRY(s->factor(s->data, 1, tau, tau * tau));
    I->factors++;
    BO_TRY(s->solve(s->data, rhs, dv));
    BO_TRY(bo_hold_modes(I, dv, z));
    bo_move(I, q1, tau, dv, q1);
    bo_add_scaled(I, dv, 1, y->v, v1);
    bo_add_scaled(I, v1, 1, ev, v1);
    return BOUGH_OK;
}

/* Newton's method on the constraint: z = v1 in the notation of bo_implicit. */
static bough_status implicit_complement(bo_integrator *I, const hybrid *y, const double *eq, const double *ev,
                                        const double *bq, const double *bv, double *r, double *base, double *q1,
                                        double *v1) {
    const bo_system *s = I->system;
    const double tau = y->tau;
    for (int32_t i = 0; i < s->size; i++)
        v1[i] = y->v[i] + ev[i]; /* whose modal part is the one to keep */
    for (int32_t i = 0; i < s->size; i++)
        base[i] = v1[i] + bv[i];
    s->multiply(s->data, BO_MATRIX_M, base, r);
    for (int32_t i = 0; i < s->size; i++)
        r[i] /= -tau;
    /* q1 = q0 + eq + bq + tau (I - P) v = [q0 + eq + bq - tau P v1] + tau v, as P v does not change */
    take_complement(I, 1, v1, base);
    for (int32_t i = 0; i < s->size; i++)
        base[i] = eq[i] + bq[i] - tau * (v1[i] - base[i]);
    bo_move(I, y->q, 1, base, q1);
    memcpy(base, q1, (size_t)s->position_size * sizeof *base);
    bo_add_scaled(I, v1, 1, bv, v1);
    bo_implicit problem = {.t = y->t, .cm = 1 / tau, .cq = tau, .cv = 1, .q_base = base, .r = r, .hold_modes = true};
    BO_TRY(bo_solve_implicit(I, &problem, v1));
    bo_move(I, base, tau, v1, q1);
    return BOUGH_OK;
}

static bough_status hybrid_stage(bo_integrator *I, const hybrid *y, double t0, double *q1, double *v1) {
    const bo_system *s = I->system;
    double *F = bo_take(I), *eq = bo_take(I), *ev = bo_take(I), *bq = bo_take(I), *bv = bo_take(I), *a = bo_take(I),
           *b = bo_take(I);
    bool fresh;
    BO_TRY(bo_damp_ahead(I, y->q, 0.5 * y->h, y->v)); /* for the modes */
    BO_TRY(s->linearise(s->data, t0, y->q, false));
    BO_TRY(bo_modes_refresh(I, &fresh));
    BO_TRY(bo_total_force(I, t0 + 0.5 * y->h, y->q, y->v, F));
    exponential_increment(I, y->h, y->v, F, eq, ev);
    if (y->dq) {
        take_complement(I, y->c, y->dq, bq);
        take_complement(I, y->c, y->dv, bv);
    } else {
        memset(bq, 0, (size_t)s->size * sizeof *bq);
        memset(bv, 0, (size_t)s->size * sizeof *bv);
    }
    BO_TRY(bo_damp_ahead(I, y->q, y->h, y->v)); /* for the complement */
    if (!y->implicit) /* the complement's force is that of the end of the step, the modes' that of its middle */
        BO_TRY(bo_total_force(I, y->t, y->q, y->v, F));
    return y->implicit ? implicit_complement(I, y, eq, ev, bq, bv, a, b, q1, v1)
                       : linear_complement(I, y, F, eq, ev, bq, bv, a, b, q1, v1);
}

/* ---- Euler in the complement ---- */

static bough_status siere(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    hybrid y = {.q = from->q, .v = from->v, .h = h, .tau = h, .t = to->t};
    return hybrid_stage(I, &y, from->t, to->q, to->v);
}

const bo_method bo_method_siere = {.info = {.name = "siere",
                                            .about = "exponential for the low modes, semi-implicit Euler for the rest",
                                            .order = 1,
                                            .a_stable = true,
                                            .factorisations = 2,
                                            .solves = 1,
                                            .needs = "mode_count"},
                                   .step = siere,
                                   .vector_count = HYBRID_VECTORS,
                                   .uses_modes = true};

static bough_status beere(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    hybrid y = {.q = from->q, .v = from->v, .h = h, .tau = h, .t = to->t, .implicit = true};
    return hybrid_stage(I, &y, from->t, to->q, to->v);
}

const bo_method bo_method_beere = {.info = {.name = "beere",
                                            .about = "exponential for the low modes, backward Euler for the rest",
                                            .order = 1,
                                            .a_stable = true,
                                            .factorisations = 2,
                                            .solves = 1,
                                            .needs = "mode_count"},
                                   .step = beere,
                                   .vector_count = HYBRID_VECTORS,
                                   .uses_modes = true};

/* ---- BDF2 in the complement ---- */

static bough_status two_step(bo_integrator *I, double h, const bo_motion *from, bo_motion *to, bool implicit) {
    hybrid y = {.q = from->q, .v = from->v, .h = h, .tau = h, .t = to->t, .implicit = implicit};
    double *dq = bo_take(I), *dv = bo_take(I);
    if (I->h_before > 0) {
        bo_bdf2_weights w = bo_bdf2_weights_of(h, I->h_before);
        bo_difference(I, from->q, I->q_before, dq);
        bo_add_scaled(I, from->v, -1, I->v_before, dv);
        y.dq = dq, y.dv = dv, y.c = w.history, y.tau = w.tau;
    } /* the first step is Euler's: one step of lower order does not lower the order of the whole */
    return hybrid_stage(I, &y, from->t, to->q, to->v);
}

static bough_status sbdf2ere(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return two_step(I, h, from, to, false);
}

const bo_method bo_method_sbdf2ere = {
    .info = {.name = "sbdf2ere",
             .about = "exponential for the low modes, sbdf2 for the rest; first order when modes are not refreshed",
             .order = 2,
             .a_stable = true,
             .factorisations = 2,
             .solves = 1,
             .needs = "mode_count"},
    .step = sbdf2ere,
    .vector_count = HYBRID_VECTORS + 2,
    .uses_history = true,
    .uses_modes = true};

static bough_status bdf2ere(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    return two_step(I, h, from, to, true);
}

const bo_method bo_method_bdf2ere = {
    .info = {.name = "bdf2ere",
             .about = "exponential for the low modes, bdf2 for the rest; first order when modes are not refreshed",
             .order = 2,
             .a_stable = true,
             .factorisations = 2,
             .solves = 1,
             .needs = "mode_count"},
    .step = bdf2ere,
    .vector_count = HYBRID_VECTORS + 2,
    .uses_history = true,
    .uses_modes = true};

/* ---- TR, then BDF2 in the complement ---- */

/* From u_s at the middle: tau = h/3, history (u_s - u0)/3, exponential over h/2. */
static bough_status second_half(bo_integrator *I, double h, const bo_motion *from, const double *qs, const double *vs,
                                bool implicit, bo_motion *to) {
    double *dq = bo_take(I), *dv = bo_take(I);
    bo_difference(I, qs, from->q, dq);
    bo_add_scaled(I, vs, -1, from->v, dv);
    hybrid y = {
        .q = qs, .v = vs, .h = h / 2, .tau = h / 3, .t = to->t, .dq = dq, .dv = dv, .c = 1.0 / 3, .implicit = implicit};
    return hybrid_stage(I, &y, from->t + h / 2, to->q, to->v);
}

static bough_status str_sbdf2ere(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    double *qs = bo_take(I), *vs = bo_take(I);
    BO_TRY(bo_damp_ahead(I, from->q, h / 4, from->v));
    BO_TRY(bo_linear_trapezoid(I, h / 4, from, qs, vs));
    return second_half(I, h, from, qs, vs, false, to);
}

const bo_method bo_method_str_sbdf2ere = {
    .info = {.name = "str-sbdf2ere",
             .about = "str-sbdf2 with the low modes exponential in its second half",
             .order = 2,
             .a_stable = true,
             .factorisations = 3,
             .solves = 2,
             .needs = "mode_count"},
    .step = str_sbdf2ere,
    .vector_count = HYBRID_VECTORS + 4,
    .uses_modes = true};

static bough_status tr_bdf2ere(bo_integrator *I, double h, const bo_motion *from, bo_motion *to) {
    double *qs = bo_take(I), *vs = bo_take(I), *qh = bo_take(I), *vh = bo_take(I);
    bo_move(I, from->q, h / 4, from->v, qh);
    bo_add_scaled(I, from->v, h / 4, from->a, vh);
    BO_TRY(bo_stage(I, from->t + h / 2, qh, vh, h / 4, qs, vs));
    BO_TRY(second_half(I, h, from, qs, vs, true, to));
    return bo_acceleration(I, to->t, to->q, to->v, to->a);
}

const bo_method bo_method_tr_bdf2ere = {.info = {.name = "tr-bdf2ere",
                                                 .about = "tr-bdf2 with the low modes exponential in its second half",
                                                 .order = 2,
                                                 .a_stable = true,
                                                 .factorisations = 4,
                                                 .solves = 3,
                                                 .needs = "mode_count"},
                                        .step = tr_bdf2ere,
                                        .vector_count = HYBRID_VECTORS + 6,
                                        .uses_acceleration = true,
                                        .uses_modes = true};
