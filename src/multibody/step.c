/* Steps by BDF2 with constraints on velocities. docs/theory/multibody.md, "Steps".
 *
 *   (U - Uhat) / h = T(U) V,   R(U, V, (V - Vhat) / h, lambda) = 0,   dC/dt + alpha C = 0
 * with h = 2/3 dt and Uhat = (4 U_p - U_pp) / 3 for equal steps; the first is backward Euler's. The first equation has
 * the closed solution bo_mb_advance(), so that V and lambda are the unknowns of Newton's method. A factor of the matrix
 * is kept as long as corrections shrink fast. */
#include "multibody/multibody.h"

#include <string.h>

/* Errors of velocities add up step by step: corrections below this part of the largest velocity are the last. */
#define CLOSE 1e-10
#define STILL 1e-12   /* units a second: a correction that means nothing */
#define ROUNDED 1e-11 /* units: a correction of positions that is the last where corrections do not get smaller */
#define SLOW 0.2      /* a correction that leaves more than this of the one before asks for a new factor */
#define WORSE 1.5  /* a correction that is longer than the one before by this shows that an old factor leads astray */
#define SURE 1e-5  /* of the largest multiplier: a correction of multipliers that is the last */
#define FAR 0.05   /* of a unit: gaps of joints that no step makes which went well */
#define APART 1e-3 /* 1/s: a speed, in units, at which a soft row gives way that is not held by rounding alone */
#define MOST_ITERATIONS 30
enum { MOST_FOR_MULTIPLIERS = 2 }; /* iterations after velocities are right */

typedef struct {
    double h;       /* of the implicit equation */
    double history; /* part of the last step's change that is added to the base */
} weights;

static weights weights_of(double dt, double before) {
    if (before == 0)
        return (weights){dt, 0};
    const double w = dt / before;
    return (weights){dt * (1 + w) / (1 + 2 * w), w * w / (1 + 2 * w)};
}

typedef struct {
    bough_context *ctx;
    const bough_multibody *model;
    bo_mb_state *s;
    bo_mb_drive drive;
    double h;
} step;

static bough_status evaluate(const step *x) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    bo_mb_advance(model, x->s->u_base, x->h, s->v_next, s->u_next);
    for (int32_t i = 0; i < model->nv; i++)
        s->a_next[i] = (s->v_next[i] - x->s->v_base[i]) / x->h;
    if (!bo_mb_evaluate(model, &s->work, &x->drive, s->u_next, s->v_next, s->a_next, s->lambda_next, s->residual, s->c,
                        s->rate))
        return bo_fail(x->ctx, BOUGH_NOT_FINITE, "a part was turned inside out at t = %g", x->drive.time);
    double sum = 0;
    for (int32_t i = 0; i < model->nv; i++)
        sum += 0 * s->residual[i];
    for (int32_t i = 0; i < model->nc; i++) {
        s->rate[i] += model->def.baumgarte * s->c[i];
        sum += 0 * s->rate[i];
    }
    if (isnan(sum))
        return bo_fail(x->ctx, BOUGH_NOT_FINITE, "a force or the command of a motor is not finite at t = %g",
                       x->drive.time);
    return BOUGH_OK;
}

bough_status bo_mb_fail_singular(bough_context *ctx, const bo_mb_state *s, double time) {
    const bough_multibody *model = s->model;
    for (int32_t j = 0; j < model->joint_count; j++)
        if (model->joint_block[j] == s->work.lu.stuck)
            return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "%s holds what others hold already at t = %g",
                           bo_mb_joint_label(model, j).text, time);
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the matrix of the time step is singular at t = %g", time);
}

static bough_status factor(const step *x) {
    bo_mb_state *s = x->s;
    const double h = x->h;
    s->face.factors++;
    s->factored_h = 0;
    bo_mb_tangent(x->model, &s->work, &x->drive, s->u_next, s->v_next, s->a_next, s->lambda_next, 1 / h, 1, h, h,
                  x->model->def.baumgarte, false);
    if (!bo_mb_factor(&s->work))
        return bo_mb_fail_singular(x->ctx, s, x->drive.time);
    s->factored_h = h;
    return BOUGH_OK;
}

/* True where the corrections of the multipliers are small. Velocities do not tell: where motors leave no freedom, they
 * are right at once. */
static bool multipliers_are_sure(int32_t count, double sure, const double *corrections, const double *lambda) {
    double most = 0, correction = 0;
    for (int32_t i = 0; i < count; i++)
        most = fmax(most, fabs(lambda[i])), correction = fmax(correction, fabs(corrections[i]));
    return correction <= sure * most;
}

/* Goes back to where the search began, if it came by an old factor. False: it had a new one from the start. */
static bool begin_again(const step *x, bool *old) {
    bo_mb_state *s = x->s;
    if (!*old)
        return false;
    *old = false;
    s->factored_h = 0;
    memcpy(s->v_next, s->v_start, (size_t)x->model->nv * sizeof(double));
    memcpy(s->lambda_next, s->lambda_start, (size_t)x->model->nc * sizeof(double));
    return true;
}

static bough_status iterate(const step *x) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    double before = INFINITY;
    bool old = s->factored_h == x->h;
    int more = 0;
    memcpy(s->v_start, s->v_next, (size_t)model->nv * sizeof(double));
    memcpy(s->lambda_start, s->lambda_next, (size_t)model->nc * sizeof(double));
    for (int32_t k = 0; k < MOST_ITERATIONS; k++) {
        BO_TRY(evaluate(x));
        const bool fresh = s->factored_h != x->h;
        if (fresh)
            BO_TRY(factor(x));
        s->face.iterations++;
        bo_mb_solve(model, &s->work, s->residual, s->rate, s->residual, s->rate);
        const double length = bo_mb_length_of(model, s->residual),
                     enough = s->exact * (CLOSE * bo_mb_length_of(model, s->v_next) + STILL);
        const double shrinks = length / before;
        if (!isfinite(length) || (old && shrinks > WORSE)) {
            if (!begin_again(x, &old))
                return bo_fail(x->ctx, BOUGH_NO_CONVERGENCE, "Newton's method found no step at t = %g", x->drive.time);
            before = INFINITY;
            continue;
        }
        for (int32_t i = 0; i < model->nv; i++)
            s->v_next[i] -= s->residual[i];
        for (int32_t i = 0; i < model->nc; i++)
            s->lambda_next[i] -= s->rate[i];
        const bool rounded = isfinite(before) && shrinks > 0.5 && length * x->h <= ROUNDED;
        if (length <= enough || rounded || (isfinite(before) && length * shrinks <= 0.1 * enough)) {
            if (multipliers_are_sure(model->nc, s->exact * SURE, s->rate, s->lambda_next) ||
                more == MOST_FOR_MULTIPLIERS)
                return BOUGH_OK;
            if (++more == MOST_FOR_MULTIPLIERS)
                s->factored_h = 0;
            continue;
        }
        if (shrinks > SLOW)
            s->factored_h = 0;
        before = length;
    }
    return bo_fail(x->ctx, BOUGH_NO_CONVERGENCE, "Newton's method took more than %d iterations at t = %g",
                   MOST_ITERATIONS, x->drive.time);
}

/* Velocities that obey the constraints do not tell whether positions do: Newton's method may have ended far away. */
static bough_status check_gaps(const step *x) {
    double most = 0;
    for (int32_t i = 0; i < x->model->nc; i++)
        most = fmax(most, fabs(x->s->c[i]));
    if (most > FAR * fmin(1, x->model->length) && most > 2 * x->s->face.drift)
        return bo_fail(x->ctx, BOUGH_NO_CONVERGENCE, "joints came apart by %.2g m or rad at t = %g", most,
                       x->drive.time);
    return BOUGH_OK;
}

/* Rows that are soft because others hold what they hold give way where the others will not have it so. */
static bough_status check_soft_rows(const step *x) {
    for (int32_t j = 0; j < x->model->joint_count; j++) {
        const bo_mb_joint *joint = &x->model->joints[j];
        for (int32_t i = 0; i < joint->row_count; i++)
            if (fabs(joint->soft[i] * x->s->lambda_next[joint->row + i]) > APART * fmin(1, x->model->length))
                return bo_fail(x->ctx, BOUGH_NO_CONVERGENCE,
                               "%s is torn apart at t = %g: other joints or motors hold it elsewhere",
                               bo_mb_joint_label(x->model, j).text, x->drive.time);
    }
    return BOUGH_OK;
}

/* BDF2 shortens quaternions. Both that it goes on from are scaled alike, which changes nothing but their length. */
static void normalise(int32_t body_count, double *u, double *u_before) {
    for (int32_t b = 0; b < body_count; b++) {
        double *q = u + 7 * b + 3, *before = u_before + 7 * b + 3;
        const double scale = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++)
            q[k] *= scale, before[k] *= scale;
    }
}

/* Guesses of a velocity after the time r h_before: as it is, along the line through the last two, and along the parabola
 * that also has the slope of the last. */
static void guess(const bo_mb_state *s, int32_t i, double r, double guesses[3]) {
    const double v = s->face.v[i], change = v - s->v_before[i], slope = s->a[i] * s->h_before;
    guesses[0] = v, guesses[1] = v + r * change, guesses[2] = v + r * slope + r * r * (slope - change);
}

/* The best of the guesses of this step is taken in the next: vibrations that steps cannot follow are not to be led on. */
static void learn(bo_mb_state *s, double r) {
    for (int32_t i = 0; i < s->model->nv; i++) {
        double guesses[3];
        guess(s, i, r, guesses);
        int best = 0;
        for (int k = 1; k < 3; k++)
            best = fabs(guesses[k] - s->v_next[i]) < fabs(guesses[best] - s->v_next[i]) ? k : best;
        s->trust[i] = best;
    }
}

static void foresee(const bough_multibody *model, bo_mb_state *s, double r, double history) {
    const bough_multibody_state *state = &s->face;
    for (int32_t i = 0; i < model->nu; i++)
        s->u_base[i] = state->u[i] + history * (state->u[i] - s->u_before[i]);
    for (int32_t i = 0; i < model->nv; i++) {
        double guesses[3];
        guess(s, i, r, guesses);
        s->v_base[i] = state->v[i] + history * (state->v[i] - s->v_before[i]);
        s->v_guess[i] = guesses[2], s->v_next[i] = guesses[(int)s->trust[i]];
    }
    for (int32_t i = 0; i < model->nc; i++)
        s->lambda_next[i] = state->lambda[i] + (s->knows_lambda ? r * (state->lambda[i] - s->lambda_before[i]) : 0);
}

void bo_mb_accept_step(bo_mb_state *s, double dt) {
    const bough_multibody *model = s->model;
    bough_multibody_state *state = &s->face;
    learn(s, s->h_before > 0 ? dt / s->h_before : 0);
    bo_mb_advance(model, s->u_base, s->h, s->v_next, s->u_next);
    bo_mb_mend_momenta(s, dt);
    for (int32_t i = 0; i < model->nv; i++)
        s->a[i] = (s->v_next[i] - s->v_base[i]) / s->h;
    bo_mb_keep_coordinates(model, &s->work);
    state->drift = 0;
    for (int32_t i = 0; i < model->nc; i++)
        state->drift = fmax(state->drift, fabs(s->c[i]));
    memcpy(s->u_before, state->u, (size_t)model->nu * sizeof(double));
    memcpy(s->v_before, state->v, (size_t)model->nv * sizeof(double));
    memcpy(state->u, s->u_next, (size_t)model->nu * sizeof(double));
    normalise(model->body_count, state->u, s->u_before);
    memcpy(state->v, s->v_next, (size_t)model->nv * sizeof(double));
    bo_mb_remember_momenta(s);
    memcpy(s->lambda_before, state->lambda, (size_t)model->nc * sizeof(double));
    memcpy(state->lambda, s->lambda_next, (size_t)model->nc * sizeof(double));
    s->knows_lambda = s->h_before > 0; /* those of a first step are not near those that follow */
    memset(state->force, 0, (size_t)model->nv * sizeof(double));
    state->time += dt;
    s->h_before = dt;
}

bough_status bo_mb_search_step(bough_context *ctx, bo_mb_state *s, double dt) {
    const step x = {ctx, s->model, s, bo_mb_drive_at(s, s->face.time + dt), s->h};
    BO_TRY(iterate(&x));
    BO_TRY(check_gaps(&x));
    return check_soft_rows(&x);
}

bough_status bo_mb_find_step(bough_context *ctx, bo_mb_state *s, double dt, bool first) {
    const bough_multibody *model = s->model;
    const bough_multibody_state *state = &s->face;
    const weights w = weights_of(dt, first ? 0 : s->h_before);
    s->h = w.h;
    foresee(model, s, first || s->h_before == 0 ? 0 : dt / s->h_before, w.history);
    bough_status status = bo_mb_search_step(ctx, s, dt);
    if (status == BOUGH_NO_CONVERGENCE && s->h_before > 0) { /* the guess may have been too bold */
        memcpy(s->v_next, state->v, (size_t)model->nv * sizeof(double));
        memcpy(s->lambda_next, state->lambda, (size_t)model->nc * sizeof(double));
        s->factored_h = 0;
        status = bo_mb_search_step(ctx, s, dt);
    }
    if (status != BOUGH_OK)
        s->factored_h = 0;
    return status;
}

static bool good_time(double dt) {
    return dt > 0 && isfinite(dt);
}

bough_status bough_multibody_step(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                  double dt) {
    (void)model;
    bo_mb_state *s = bo_mb(state);
    if (!good_time(dt))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time step is %g s; it must be positive", dt);
    state->iterations = state->factors = 0;
    if (s->method)
        return bo_mb_method_step(ctx, s, dt);
    BO_TRY(bo_mb_find_step(ctx, s, dt, false));
    bo_mb_accept_step(s, dt);
    return BOUGH_OK;
}

/* ---- steps of a length that suits the motion ---- */

#define SHORTEST 1e-7 /* of the time to go: steps that are refused at this length end the advance */

/* The error of a step, as a displacement in units. With equal steps the guess misses by V''' dt^3 / 3 and BDF2 by
 * 2/9 V''' dt^3: two thirds of what the step corrected. First steps are of first order, and miss by half of it. */
static double error_of(const bough_multibody *model, const bo_mb_state *s, double dt) {
    double most = 0;
    for (int32_t i = 0; i < model->nv; i++)
        most = fmax(most, fabs(s->v_next[i] - s->v_guess[i]) / model->units[i]);
    return (s->h_before > 0 ? 2. / 3 : 0.5) * most * dt;
}

bough_status bough_multibody_advance(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                     double dt, double tolerance, int32_t *steps) {
    bo_mb_state *s = bo_mb(state);
    const double end = state->time + dt;
    int32_t count = 0, iterations = 0, factors = 0;
    if (!good_time(dt) || !(tolerance > 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time to go and the tolerance must be positive");
    if (s->method)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "steps adapt themselves only by the engine's own method");
    memcpy(s->force_kept, state->force, (size_t)model->nv * sizeof(double));
    double next = s->suits > 0 ? s->suits : fmin(dt, 1e-4);
    while (state->time < end - SHORTEST * dt) {
        const double left = end - state->time, h = next >= left ? left : left < 2 * next ? 0.5 * left : next;
        state->iterations = state->factors = 0;
        const bough_status status = bo_mb_find_step(ctx, s, h, false);
        iterations += state->iterations, factors += state->factors;
        if (status != BOUGH_OK && status != BOUGH_NO_CONVERGENCE && status != BOUGH_NOT_FINITE)
            return status;
        const double error = status == BOUGH_OK ? error_of(model, s, h) / tolerance : INFINITY;
        const double factor = error > 0 ? 0.9 / cbrt(error) : 2;
        next = h * (status != BOUGH_OK ? 0.25 : factor < 0.2 ? 0.2 : factor > 2 ? 2 : factor);
        if (error <= 1) {
            bo_mb_accept_step(s, h);
            s->suits = next, count++;
            if (h < left)
                memcpy(state->force, s->force_kept, (size_t)model->nv * sizeof(double));
        } else if (next < SHORTEST * dt)
            return status != BOUGH_OK ? status
                                      : bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                                                "no step is short enough for the tolerance at t = %g", state->time);
    }
    state->iterations = iterations, state->factors = factors;
    if (steps)
        *steps = count;
    return BOUGH_OK;
}
