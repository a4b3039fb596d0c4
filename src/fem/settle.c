/* The equilibrium that a body finds by itself: its potential falls in every step, by Newton's method with a pull back to
 * where the step begins. That pull, s M, is what holds bodies which nothing but contact holds, and it fades. */
#include "fem/settle.h"

#include "fem/body.h"
#include "fem/system.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-9 /* residual over the forces that balance each other */
#define SMALL 1e-6     /* the same, where rounding leaves no way to a smaller one */
#define SAME 1e-6      /* of the largest force of friction: by which one may still change */
#define FAR 1e3        /* sizes of the body: what went as far stays nowhere */
#define ARMIJO 1e-4
#define ROUNDING 1e-11  /* of the potential */
#define SHORTEST 1e-8   /* part of a step below which it is given up */
#define FIRST_PULL 10.  /* of a typical eigenvalue */
#define LAST_PULL 1e-7  /* the same */
#define FADES 0.1       /* of the pull is left after a full step */
#define GROWS 8.        /* times the pull after a step that was too long */
#define NEARLY 0.1      /* residual from which supports go on */
#define LEAST_LEAD 1e-5 /* of what is left of the way of supports */
enum { MOST_ITERATIONS = 2000, BETWEEN = 8 /* iterations while supports move */, STALLED = 6 };

typedef struct {
    bough_context *ctx;
    const bough_load_case *load_case;
    bo_system *system;
    bo_touch *touch;
    double t;
    const double *target;
    bo_settle_result *result;
    int32_t n;
    double *q, *start, *trial, *p, *f, *trial_f;
    double energy, norm; /* at q */
    double typical, pull, size;
    double least; /* residual so far */
    int32_t since_least;
} search;

static double dot(const search *s, const double *a, const double *b) {
    return bo_dot_n(s->n, a, b);
}

static bough_status forces_at(search *s, const double *q, double *f, double *energy, double *norm) {
    *energy = 0;
    BO_TRY(s->system->force(s->system->data, s->t, q, s->system->has_potential ? energy : NULL, f));
    *norm = sqrt(dot(s, f, f));
    return isfinite(*norm) && isfinite(*energy) ? BOUGH_OK : bo_fail(s->ctx, BOUGH_NOT_FINITE, "a force is not finite");
}

/* p = A^-1 b with A = pull M + K: where that is not positive definite, with the positive part of each element's K. */
static bough_status solve(search *s, const double *b, double *p) {
    const bo_system *system = s->system;
    BO_TRY(system->linearise(system->data, s->t, s->q, false));
    bough_status status = system->factor(system->data, s->pull, 0, 1);
    if (status == BOUGH_ERROR_SINGULAR) {
        BO_TRY(system->linearise(system->data, s->t, s->q, true));
        status = system->factor(system->data, s->pull, 0, 1);
    }
    for (; status == BOUGH_ERROR_SINGULAR && s->pull < 1e12 * s->typical;
         status = system->factor(system->data, s->pull, 0, 1))
        s->pull *= GROWS;
    BO_TRY(status);
    return system->solve(system->data, b, p);
}

/* Near equilibrium the potential is all rounding, and smaller forces are proof. Without a potential (pressure) forces at
 * the end must not have turned far against the step. */
static bool is_better(const search *s, double alpha, double energy, double norm) {
    const double slope = -dot(s, s->f, s->p);
    if (!s->system->has_potential)
        return -dot(s, s->trial_f, s->p) <= -0.5 * slope;
    const bool lost = s->result->residual <= SMALL || -slope <= ROUNDING * fabs(s->energy);
    return energy <= s->energy + ARMIJO * alpha * slope || (lost && norm < s->norm);
}

static double bound_of(const search *s, const double *p) {
    return s->system->step_bound ? s->system->step_bound(s->system->data, s->t, s->q, p) : 1;
}

/* Goes along p. *alpha: how far, 0 where no way is good; *bound: how far nothing is in the way. */
static bough_status go(search *s, bool always, double *alpha, double *bound) {
    *bound = bound_of(s, s->p);
    for (*alpha = *bound; *alpha > SHORTEST * *bound; *alpha *= 0.5) {
        double energy, norm;
        for (int32_t i = 0; i < s->n; i++)
            s->trial[i] = s->q[i] + *alpha * s->p[i];
        const bough_status status = forces_at(s, s->trial, s->trial_f, &energy, &norm);
        if (status != BOUGH_OK && status != BOUGH_NOT_FINITE)
            return status;
        if (status != BOUGH_OK || !(always || is_better(s, *alpha, energy, norm)))
            continue;
        memcpy(s->q, s->trial, (size_t)s->n * sizeof *s->q);
        memcpy(s->f, s->trial_f, (size_t)s->n * sizeof *s->f);
        s->energy = energy, s->norm = norm;
        return BOUGH_OK;
    }
    *alpha = 0;
    return BOUGH_OK;
}

static bough_status find_residual(search *s) {
    double magnitude;
    BO_TRY(bo_body_system_magnitude(s->system, s->t, s->q, &magnitude));
    s->result->residual = magnitude > 0 ? s->norm / magnitude : s->norm;
    return BOUGH_OK;
}

static void find_lost(search *s) {
    for (int32_t v = 0; v < s->n / 3 && s->result->lost < 0; v++) {
        const size_t at = 3 * (size_t)v;
        if (!(bo_norm(bo_sub(bo_load3(s->q + at), bo_load3(s->start + at))) < FAR * s->size))
            s->result->lost = v;
    }
}

/* Friction is measured by the forces at q, hence the forces anew. */
static bough_status look(search *s, double *change) {
    *change = 0;
    if (s->touch)
        BO_TRY(bo_touch_hold(s->touch, s->t, s->q, change));
    BO_TRY(forces_at(s, s->q, s->f, &s->energy, &s->norm));
    return find_residual(s);
}

static bough_status iterate(search *s, bool *done) {
    double alpha, bound, change;
    BO_TRY(solve(s, s->f, s->p));
    BO_TRY(go(s, false, &alpha, &bound));
    s->result->iterations++;
    BO_TRY(look(s, &change));
    if (!bo_progress(s->ctx, "equilibrium", 0, "iteration %d, residual %.2e", s->result->iterations,
                     s->result->residual))
        return bo_fail_cancelled(s->ctx);
    s->since_least = s->result->residual < s->least ? 0 : s->since_least + 1;
    s->least = fmin(s->least, s->result->residual);
    *done = change <= SAME &&
            (s->result->residual <= TOLERANCE || (s->since_least >= STALLED && s->result->residual <= SMALL));
    if (alpha == 1)
        s->pull = fmax(FADES * s->pull, LAST_PULL * s->typical);
    else if (alpha < bound)
        s->pull *= alpha == 0 ? GROWS * GROWS : GROWS;
    find_lost(s);
    if (s->result->lost >= 0)
        return bo_fail(s->ctx, BOUGH_NO_CONVERGENCE,
                       "there is no equilibrium: the body slides or falls away without end; hold it, or give it "
                       "more friction or something to lie on");
    return BOUGH_OK;
}

/* Until forces balance to this part, as far as so many iterations go. */
static bough_status relax(search *s, int32_t most, double enough, bool *done) {
    *done = false;
    for (int32_t i = 0; i < most && !*done && (i == 0 || s->result->residual > enough); i++)
        BO_TRY(iterate(s, done));
    return BOUGH_OK;
}

/* Moves the supports by what is left of their way, or as far as nothing is in it and no element is turned inside out;
 * all else follows by the linear response K_ff p_f = f - K_fc p_c. */
static bough_status lead(search *s, bool *there) {
    double alpha, bound, left = 0;
    for (int32_t i = 0; i < s->n; i++) {
        s->p[i] = s->load_case->fixed[i] ? s->target[i] - s->q[i] : 0;
        left = fmax(left, fabs(s->p[i]));
    }
    *there = left <= 1e-12 * s->size;
    if (*there)
        return BOUGH_OK;
    BO_TRY(s->system->linearise(s->system->data, s->t, s->q, true));
    s->system->multiply(s->system->data, BO_MATRIX_K, s->p, s->trial);
    for (int32_t i = 0; i < s->n; i++)
        s->trial[i] = s->f[i] - s->trial[i];
    BO_TRY(solve(s, s->trial, s->trial_f));
    for (int32_t i = 0; i < s->n; i++)
        s->p[i] += s->load_case->fixed[i] ? 0 : s->trial_f[i];
    BO_TRY(go(s, true, &alpha, &bound));
    for (int32_t i = 0; i < s->n && alpha == 1; i++)
        if (s->load_case->fixed[i])
            s->q[i] = s->target[i]; /* without rounding */
    s->pull = fmax(s->pull, 1e-3 * s->typical);
    return alpha >= LEAST_LEAD
               ? BOUGH_OK
               : bo_fail(s->ctx, BOUGH_NO_CONVERGENCE,
                         "there is no equilibrium: something is in the way of a support, %.3g m before it is where it "
                         "should be; move the obstacle, or displace the support less",
                         left);
}

static bough_status run(search *s) {
    bool there = false, done = false;
    double change;
    BO_TRY(look(s, &change));
    for (int32_t i = 0; i < MOST_ITERATIONS && !there; i++) {
        BO_TRY(lead(s, &there));
        if (!there)
            BO_TRY(relax(s, BETWEEN, NEARLY, &done));
    }
    done = s->norm == 0;
    while (!done && s->result->iterations < MOST_ITERATIONS) {
        BO_TRY(relax(s, MOST_ITERATIONS - s->result->iterations, 0, &done));
        if (done && s->touch && bo_touch_stiffen(s->touch, s->t, s->q)) {
            BO_TRY(look(s, &change));
            done = false, s->least = INFINITY;
        }
    }
    return done ? BOUGH_OK
                : bo_fail(s->ctx, BOUGH_NO_CONVERGENCE,
                          "no equilibrium was found in %d iterations (a residual of %.1e is left); start without "
                          "\"settle\", with damping, and let it come to rest",
                          s->result->iterations, s->result->residual);
}

bough_status bo_body_settle(bough_context *ctx, const bough_load_case *load_case, bo_system *system, bo_touch *touch,
                            double t, const double *target, double *q, bo_settle_result *result) {
    const bough_body *body = load_case->body;
    const size_t n = (size_t)system->size;
    bough_body_properties whole;
    *result = (bo_settle_result){.lost = -1};
    BO_TRY(bough_body_measure(ctx, body, &whole));
    double *memory = BO_NEW_ZEROS(ctx, double, 5 * n);
    if (!memory)
        return BOUGH_ERROR_MEMORY;
    const double typical = bo_body_typical_eigenvalue(body, &whole);
    search s = {.ctx = ctx,
                .load_case = load_case,
                .system = system,
                .touch = touch,
                .t = t,
                .target = target,
                .result = result,
                .n = system->size,
                .q = q,
                .start = memory,
                .trial = memory + n,
                .p = memory + 2 * n,
                .f = memory + 3 * n,
                .trial_f = memory + 4 * n,
                .typical = typical,
                .least = INFINITY,
                .pull = FIRST_PULL * typical,
                .size = touch ? bo_touch_size(touch) : cbrt(bo_body_volume(body))};
    memcpy(s.start, q, n * sizeof *q);
    bo_body_system_hold_by_q(system, true);
    const bough_status status = run(&s);
    bo_body_system_hold_by_q(system, false);
    bo_free(ctx, memory);
    return status;
}
