/* Newton's method for systems in residual form, and where their motion starts. docs/theory/integrators.md, "Systems
 * with constraints". */
#include "time/integrator.h"

#include <math.h>
#include <string.h>

#define LEFT 1e-11    /* of the forces, and of gaps in their units: all that is asked for */
#define ROUNDED 1e-8  /* the same where no iteration finds better any more */
#define STILL 1e-14   /* of a unit of motion: a correction that means nothing */
#define FAST 0.1      /* a correction that leaves less than this of the one before serves with the same factor */
#define SHORTEST 1e-4 /* part of a correction below which the line search gives up */

typedef struct {
    bo_integrator *I;
    bo_residual_problem *P;
    double *z, *lambda, *s;                   /* where the search is */
    double *z_trial, *lambda_trial, *s_trial; /* where it looks */
    double *dz, *dlambda, *ds;                /* the correction from there */
    double *dz_next, *dlambda_next, *ds_next; /* the correction from where it looks */
    double *R, *c, *rate, *dq, *eta;          /* of the state evaluated last; q, v and a are the caller's */
    double *q, *v, *a;
    double left, gap; /* of the state evaluated last: forces and constraints, relative */
    double magnitude; /* largest that forces have been in this search */
} search;

static double unit_of(const double *units, int32_t i) {
    return units ? units[i] : 1;
}

/* The largest entry of a motion, in units. */
static double length_of(const bo_system *system, const double *x) {
    double most = 0;
    for (int32_t i = 0; i < system->size; i++)
        most = fmax(most, fabs(x[i]) / unit_of(system->units, i));
    return most;
}

static bo_instant instant_of(const search *s, const double *lambda) {
    return (bo_instant){s->P->t, s->q, s->dq, s->v, s->a, lambda};
}

/* q, v and a at z and the correction of the position. */
static void place(search *s, const double *z, const double *correction) {
    const bo_system *system = s->I->system;
    const bo_residual_problem *P = s->P;
    const int32_t n = system->size;
    for (int32_t i = 0; i < n; i++) {
        s->dq[i] = (P->dq_base ? P->dq_base[i] : 0) + P->cq * z[i] - correction[i];
        s->v[i] = (P->v_base ? P->v_base[i] : 0) + P->cv * z[i];
    }
    bo_move(s->I, P->q_base, 1, s->dq, s->q);
    const int32_t count = system->momentum_size > 0 ? system->momentum_size : n;
    if (system->momentum_size > 0 && P->ca != 0)
        system->momentum(system->data, P->t, s->q, s->v, s->a);
    else if (P->ca != 0)
        memcpy(s->a, z, (size_t)n * sizeof *z);
    for (int32_t i = 0; i < count; i++)
        s->a[i] = P->ca == 0 ? 0 : P->ca * (s->a[i] - (P->p_base ? P->p_base[i] : 0));
}

static bough_status evaluate(search *s, const double *z, const double *lambda, const double *correction) {
    const bo_system *system = s->I->system;
    const bo_residual_problem *P = s->P;
    double magnitude = 0, left = 0;
    place(s, z, correction);
    const bo_instant at = instant_of(s, lambda);
    BO_TRY(system->residual(system->data, &at, s->R, s->c, &magnitude));
    for (int32_t i = 0; i < system->size; i++)
        left = fmax(left, fabs(s->R[i]) * unit_of(system->units, i));
    s->magnitude = fmax(s->magnitude, magnitude); /* what constraints carry alone leaves nothing in the end */
    s->left = s->magnitude > 0 ? left / s->magnitude : left;
    s->gap = 0;
    for (int32_t k = 0; k < system->constraint_count; k++)
        s->gap = fmax(s->gap, fabs(s->c[k]) / unit_of(system->constraint_units, k));
    double sum = s->left + s->gap; /* fmax() passes over what is not a number */
    for (int32_t i = 0; i < system->size; i++)
        sum += 0 * s->R[i];
    for (int32_t k = 0; k < system->constraint_count; k++)
        sum += 0 * s->c[k];
    if (!isfinite(sum))
        return bo_fail(s->I->ctx, BOUGH_NOT_FINITE, "a force is not finite");
    if (!system->constraint_rate || P->cv == 0)
        return BOUGH_OK;
    system->constraint_rate(system->data, P->t, s->q, s->v, s->rate);
    for (int32_t k = 0; k < system->constraint_count; k++) /* as far as it would go in the time of the stage */
        s->gap = fmax(s->gap, fabs(s->rate[k]) * P->cq / P->cv / unit_of(system->constraint_units, k));
    return BOUGH_OK;
}

static bough_status factor(search *s, const double *lambda) {
    const bo_instant at = instant_of(s, lambda);
    s->I->factors++;
    return s->I->system->tangent(s->I->system->data, &at, s->P->ca, s->P->cv, s->P->cq);
}

/* The correction from the state evaluated last, by the factor that is kept. First
 *     A y + B nu = -R,  G y = -c / cq:   y moves position and velocity to where forces and positions are right;
 * then, where velocities obey the constraints too,
 *     A x + B eta = 0,  G (y + x) = -rate / cv:   x is for the velocity alone, so that s grows by cq x.
 * Forces stay in balance, since eta goes to lambda: A x is what x does to R, but for cq R_q x. */
static bough_status correct(search *s, double *dz, double *dlambda, double *ds) {
    const bo_system *system = s->I->system;
    const bo_residual_problem *P = s->P;
    const int32_t n = system->size, m = system->constraint_count;
    for (int32_t i = 0; i < n; i++)
        dz[i] = -s->R[i], ds[i] = 0;
    for (int32_t k = 0; k < m; k++)
        dlambda[k] = -s->c[k] / P->cq;
    BO_TRY(system->solve_tangent(system->data, dz, dlambda, dz, dlambda));
    if (m == 0 || !system->constraint_rate || P->cv == 0)
        return BOUGH_OK;
    for (int32_t k = 0; k < m; k++)
        s->eta[k] = -s->rate[k] / P->cv + s->c[k] / P->cq;
    BO_TRY(system->solve_tangent(system->data, ds, s->eta, ds, s->eta));
    for (int32_t i = 0; i < n; i++)
        dz[i] += ds[i], ds[i] *= P->cq;
    for (int32_t k = 0; k < m; k++)
        dlambda[k] += s->eta[k];
    return BOUGH_OK;
}

static void add(int32_t count, const double *x, double alpha, const double *dx, double *out) {
    for (int32_t i = 0; i < count; i++)
        out[i] = x[i] + alpha * dx[i];
}

static void move_on(search *s, double alpha, double *z, double *lambda, double *correction) {
    const bo_system *system = s->I->system;
    add(system->size, s->z, alpha, s->dz, z);
    add(system->size, s->s, alpha, s->ds, correction);
    add(system->constraint_count, s->lambda, alpha, s->dlambda, lambda);
}

static void swap(double **a, double **b) {
    double *c = *a;
    *a = *b, *b = c;
}

/* Who waits for a long search hears of it and may stop it. */
static bool goes_on(const search *s, int32_t iterations) {
    const char *what = s->I->system->what ? s->I->system->what : "step";
    return iterations <= 3 ||
           bo_progress(s->I->ctx, what, -1, "iteration %d, residual %.2e", iterations, fmax(s->left, s->gap));
}

/* The search goes to where it looked; *done: nothing is left to find. */
static void accept(search *s, double alpha, double length, double before, bool *has_correction, bool *done) {
    const bo_system *system = s->I->system;
    const double now = fmax(s->left, s->gap), next = length_of(system, s->dz_next);
    swap(&s->z, &s->z_trial), swap(&s->lambda, &s->lambda_trial), swap(&s->s, &s->s_trial);
    swap(&s->dz, &s->dz_next), swap(&s->dlambda, &s->dlambda_next), swap(&s->ds, &s->ds_next);
    const bool fast = alpha == 1 && next <= FAST * length;
    *has_correction = s->P->factored = fast;
    *done = now <= LEFT || (before <= ROUNDED && now <= ROUNDED && now > 0.5 * before) ||
            (fast && next <= s->I->def.tolerance * length_of(system, s->z));
    if (*done && fast) { /* the next correction is there already */
        move_on(s, 1, s->z, s->lambda, s->s);
        place(s, s->z, s->s);
    }
}

/* Shortens the correction until the next one, by the same factor, is shorter than it: the natural test of monotony,
 * which asks for no scales of forces. *found false: there is no such part of it. */
static bough_status search_line(search *s, double length, bool once, double before, bool *has_correction, bool *found,
                                bool *done) {
    const bo_system *system = s->I->system;
    double bound = 1;
    if (system->step_bound) {
        for (int32_t i = 0; i < system->size; i++)
            s->dq[i] = s->P->cq * s->dz[i] - s->ds[i];
        bound = system->step_bound(system->data, s->P->t, s->q, s->dq);
    }
    *found = false;
    for (double alpha = bound; alpha > SHORTEST * bound && !*found; alpha *= 0.5) {
        move_on(s, alpha, s->z_trial, s->lambda_trial, s->s_trial);
        bough_status status = evaluate(s, s->z_trial, s->lambda_trial, s->s_trial);
        if (status == BOUGH_OK)
            status = correct(s, s->dz_next, s->dlambda_next, s->ds_next);
        if (status != BOUGH_OK && status != BOUGH_NOT_FINITE)
            return status;
        /* When only multipliers are left to find, corrections of the motion are rounding, but forces get less. */
        const double now = fmax(s->left, s->gap);
        *found = status == BOUGH_OK && (length_of(system, s->dz_next) <= (1 - 0.25 * alpha) * length ||
                                        now <= (1 - 0.5 * alpha) * before || (before <= ROUNDED && now <= ROUNDED));
        if (*found)
            accept(s, alpha, length, before, has_correction, done);
        else if (once)
            break;
    }
    return BOUGH_OK;
}

static bough_status iterate(search *s, bool *has_correction, bool *done) {
    const bo_system *system = s->I->system;
    const double before = fmax(s->left, s->gap);
    const bool fresh = !s->P->factored;
    if (fresh)
        BO_TRY(factor(s, s->lambda));
    s->P->factored = true;
    if (!*has_correction)
        BO_TRY(correct(s, s->dz, s->dlambda, s->ds));
    const double length = length_of(system, s->dz);
    if (!isfinite(length))
        return bo_fail(s->I->ctx, BOUGH_NO_CONVERGENCE, "Newton's method found no direction at t = %g", s->P->t);
    if (fresh && (length <= 0.1 * s->I->def.tolerance * length_of(system, s->z) || s->P->cq * length <= STILL)) {
        move_on(s, 1, s->z, s->lambda, s->s);
        place(s, s->z, s->s);
        *done = true;
        return BOUGH_OK;
    }
    bool found;
    BO_TRY(search_line(s, length, !fresh, before, has_correction, &found, done));
    if (found)
        return BOUGH_OK;
    *has_correction = s->P->factored = false; /* an older factor has served too long */
    BO_TRY(evaluate(s, s->z, s->lambda, s->s));
    *done = before <= ROUNDED;
    if (fresh && !*done)
        return bo_fail(s->I->ctx, BOUGH_NO_CONVERGENCE, "Newton's method found no descent at t = %g", s->P->t);
    return BOUGH_OK;
}

static bough_status run(search *s) {
    bough_status status = evaluate(s, s->z, s->lambda, s->s);
    bool done = status == BOUGH_OK && fmax(s->left, s->gap) <= LEFT, has_correction = false;
    for (int32_t k = 0; status == BOUGH_OK && !done; k++) {
        if (k == s->I->def.max_iterations)
            return bo_fail(s->I->ctx, BOUGH_NO_CONVERGENCE, "Newton's method took more than %d iterations at t = %g", k,
                           s->P->t);
        if (!goes_on(s, s->I->iterations))
            return bo_fail_cancelled(s->I->ctx);
        s->I->iterations++;
        status = iterate(s, &has_correction, &done);
    }
    return status;
}

bough_status bo_solve_residual(bo_integrator *I, bo_residual_problem *P, double *z, double *lambda, double *q,
                               double *v, double *a) {
    search s = {.I = I, .P = P, .q = q, .v = v, .a = a};
    double **vectors[BO_RESIDUAL_VECTORS] = {&s.z,  &s.lambda,  &s.s,    &s.z_trial, &s.lambda_trial, &s.s_trial,
                                             &s.dz, &s.dlambda, &s.ds,   &s.dz_next, &s.dlambda_next, &s.ds_next,
                                             &s.R,  &s.c,       &s.rate, &s.dq,      &s.eta};
    const size_t mark = bo_arena_mark(&I->arena), m_bytes = (size_t)I->system->constraint_count * sizeof(double),
                 bytes = (size_t)I->system->size * sizeof(double);
    for (int i = 0; i < BO_RESIDUAL_VECTORS; i++)
        *vectors[i] = bo_take(I);
    memcpy(s.z, z, bytes);
    memset(s.s, 0, bytes);
    if (m_bytes > 0)
        memcpy(s.lambda, lambda, m_bytes);
    const bough_status status = run(&s);
    P->force_left = s.left, P->gap = s.gap;
    memcpy(z, s.z, bytes);
    if (m_bytes > 0)
        memcpy(lambda, s.lambda, m_bytes);
    bo_arena_release(&I->arena, mark);
    return status == BOUGH_ERROR_SINGULAR
               ? bo_fail(I->ctx, BOUGH_NO_CONVERGENCE, "the matrix of the time step is singular at t = %g", P->t)
               : status;
}

/* ---- stages ---- */

bough_status bo_residual_stage(bo_integrator *I, double t, const double *qh, const double *ph, double tau,
                               bo_motion *to) {
    bo_residual_problem P = {.t = t, .ca = 1 / tau, .cv = 1, .cq = tau, .q_base = qh, .p_base = ph};
    const size_t mark = bo_arena_mark(&I->arena);
    double *z = bo_take(I);
    memcpy(z, to->v, (size_t)I->system->size * sizeof *z);
    const bough_status status = bo_solve_residual(I, &P, z, to->lambda, to->q, to->v, to->a);
    bo_arena_release(&I->arena, mark);
    if (status == BOUGH_OK && I->system->momentum_size > 0)
        for (int32_t i = 0; i < I->system->momentum_size; i++)
            to->p[i] = ph[i] + tau * to->a[i];
    return status;
}

/* ---- where a motion starts ---- */

#define ALONG 0.02 /* of a step: derivatives along the motion */

/* out = d/ds of what at() gives for the motion q (+) (s v + s^2/2 w), v + s w at s = 0, to fourth order; w NULL: 0. */
typedef void (*along)(const bo_system *system, double t, const double *q, const double *v, double *out);

static void momentum_at(const bo_system *system, double t, const double *q, const double *v, double *out) {
    system->momentum(system->data, t, q, v, out);
}
static void rate_at(const bo_system *system, double t, const double *q, const double *v, double *out) {
    system->constraint_rate(system->data, t, q, v, out);
}

static void differentiate(bo_integrator *I, along at, int32_t count, double h, const bo_motion *m, const double *w,
                          double *out) {
    static const double place[4] = {-2, -1, 1, 2}, weight[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};
    const bo_system *system = I->system;
    const size_t mark = bo_arena_mark(&I->arena);
    double *q = bo_take(I), *v = bo_take(I), *dq = bo_take(I), *found = bo_take(I);
    memset(out, 0, (size_t)count * sizeof *out);
    for (int k = 0; k < 4; k++) {
        const double s = ALONG * h * place[k];
        for (int32_t i = 0; i < system->size; i++) {
            dq[i] = s * (m->v[i] + 0.5 * s * (w ? w[i] : 0));
            v[i] = m->v[i] + s * (w ? w[i] : 0);
        }
        bo_move(I, m->q, 1, dq, q);
        at(system, m->t + s, q, v, found);
        for (int32_t i = 0; i < count; i++)
            out[i] += weight[k] / (ALONG * h) * found[i];
    }
    bo_arena_release(&I->arena, mark);
}

/* A v' + B lambda = -R(v' = 0), G v' = -d/dt (rate at v' = 0) with A = R_a p_v. */
bough_status bo_start_residual(bo_integrator *I, double h, bo_motion *motion) {
    const bo_system *system = I->system;
    const int32_t m = system->constraint_count, np = system->momentum_size;
    const size_t mark = bo_arena_mark(&I->arena);
    double *R = bo_take(I), *c = bo_take(I), *w = bo_take(I), magnitude;
    if (m > 0)
        memset(motion->lambda, 0, (size_t)m * sizeof(double));
    if (np > 0) {
        system->momentum(system->data, motion->t, motion->q, motion->v, motion->p);
        differentiate(I, momentum_at, np, h, motion, NULL, motion->a);
    } else
        memset(motion->a, 0, (size_t)system->size * sizeof(double));
    const bo_instant at = {motion->t, motion->q, NULL, motion->v, motion->a, motion->lambda};
    bough_status status = system->residual(system->data, &at, R, c, &magnitude);
    if (status == BOUGH_OK)
        status = system->tangent(system->data, &at, 1, 0, 0);
    I->factors++;
    if (status == BOUGH_OK) {
        if (m > 0)
            differentiate(I, rate_at, m, h, motion, NULL, c);
        for (int32_t i = 0; i < system->size; i++)
            R[i] = -R[i];
        for (int32_t k = 0; k < m; k++)
            c[k] = -c[k];
        status = system->solve_tangent(system->data, R, c, w, c);
    }
    if (status == BOUGH_OK) {
        if (m > 0)
            memcpy(motion->lambda, c, (size_t)m * sizeof *c);
        if (np > 0)
            differentiate(I, momentum_at, np, h, motion, w, motion->a);
        else
            memcpy(motion->a, w, (size_t)system->size * sizeof *w);
    }
    bo_arena_release(&I->arena, mark);
    return status;
}

/* ---- assembly ---- */

enum { MOST_ASSEMBLY = 60 };

/* One step of Gauss and Newton towards c = 0, or towards a rate of zero; *left: how far it was. */
static bough_status assemble_once(bo_integrator *I, bool of_rate, bo_motion *motion, double *left) {
    const bo_system *system = I->system;
    const int32_t n = system->size, m = system->constraint_count;
    const size_t mark = bo_arena_mark(&I->arena);
    double *x = bo_take(I), *c = bo_take(I), magnitude;
    const bo_instant at = {motion->t, motion->q, NULL, motion->v, motion->a, motion->lambda};
    bough_status status = system->residual(system->data, &at, x, c, &magnitude);
    if (status == BOUGH_OK)
        status = system->tangent(system->data, &at, 1, 0, 0);
    if (of_rate)
        system->constraint_rate(system->data, motion->t, motion->q, motion->v, c);
    *left = 0;
    for (int32_t k = 0; k < m; k++) {
        *left = fmax(*left, fabs(c[k]) / unit_of(system->constraint_units, k));
        c[k] = -c[k];
    }
    memset(x, 0, (size_t)n * sizeof *x);
    if (status == BOUGH_OK)
        status = system->solve_tangent(system->data, x, c, x, c);
    if (status == BOUGH_OK && of_rate)
        bo_add_scaled(I, motion->v, 1, x, motion->v);
    else if (status == BOUGH_OK) {
        const double length = length_of(system, x);
        bo_move(I, motion->q, length > 0.5 ? 0.5 / length : 1, x, motion->q);
    }
    bo_arena_release(&I->arena, mark);
    return status;
}

bough_status bo_integrator_assemble(bo_integrator *I, bo_motion *motion) {
    const bo_system *system = I->system;
    double left = 0, last = INFINITY;
    if (!system->residual || system->constraint_count == 0)
        return BOUGH_OK;
    const size_t a_count = (size_t)(system->momentum_size > 0 ? system->momentum_size : system->size);
    memset(motion->a, 0, a_count * sizeof(double));
    memset(motion->lambda, 0, (size_t)system->constraint_count * sizeof(double));
    for (int k = 0; k < MOST_ASSEMBLY; k++) {
        BO_TRY(assemble_once(I, false, motion, &left));
        if (left <= 1e-13 || (left <= ROUNDED && left > 0.5 * last))
            break;
        last = left;
    }
    if (!(left <= ROUNDED))
        return bo_fail(I->ctx, BOUGH_NO_CONVERGENCE, "the constraints do not fit together: %.3g is left of the worst",
                       left);
    bo_integrator_restart(I);
    for (int k = 0; k < 2 && system->constraint_rate; k++) /* linear in v: the second for rounding */
        BO_TRY(assemble_once(I, true, motion, &left));
    return BOUGH_OK;
}
