/* The nonlinear solve behind all implicit methods. */
#include "time/modes.h"

#include "dense/cholesky.h"

#include <math.h>
#include <string.h>

#define ARMIJO 1e-4
#define SHORTEST 1e-8  /* part of a Newton step below which the line search gives up */
#define ROUNDING 1e-12 /* part of q that a step must change to mean anything */
#define NEARLY 1e-2    /* of the solution: steps after which one without a new factor may be the last */
#define CERTAIN 1e-2   /* of the tolerance: such a last step */
#define NOISE 1e-15    /* the same of the size of a system whose q is zero */

typedef struct {
    bo_integrator *I;
    const bo_implicit *P;
    double *f, *R, *p, *trial, *product, *q;
    double phi, norm; /* of the state evaluated last */
} solve;

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* R(z), its norm and the potential; q is left at q_base (+) cq z. */
static bough_status evaluate(solve *s, const double *z) {
    const bo_system *system = s->I->system;
    const bo_implicit *P = s->P;
    const int32_t n = system->size;
    double U = 0;
    bo_move(s->I, P->q_base, P->cq, z, s->q);
    BO_TRY(system->force(system->data, P->t, s->q, system->has_potential ? &U : NULL, s->f));
    system->multiply(system->data, BO_MATRIX_M, z, s->product);
    s->phi = 0.5 * P->cm * dot(n, z, s->product) + dot(n, P->r, z) + U / P->cq;
    for (int32_t i = 0; i < n; i++)
        s->R[i] = P->cm * s->product[i] + P->r[i] - s->f[i];
    for (int32_t i = 0; i < n; i++) /* the velocity that damping sees */
        s->f[i] = (P->v_base ? P->v_base[i] : 0) + P->cv * z[i];
    system->multiply(system->data, BO_MATRIX_D, s->f, s->product);
    s->phi += 0.5 * dot(n, s->f, s->product) / P->cv;
    for (int32_t i = 0; i < n; i++)
        s->R[i] += s->product[i];
    if (P->hold_modes) /* R <- (I - W X^T) R: forces that the constraint takes up do not count */
        for (int32_t k = 0; k < s->I->modes->count; k++)
            bo_add_scaled(s->I, s->R, -dot(n, s->I->modes->X[k], s->R), s->I->modes->W[k], s->R);
    s->norm = sqrt(dot(n, s->R, s->R));
    return isfinite(s->norm) && isfinite(s->phi) ? BOUGH_OK
                                                 : bo_fail(s->I->ctx, BOUGH_NOT_FINITE, "a force is not finite");
}

/* p = -A^-1 R with A at q. */
static bough_status find_direction(solve *s, bool project) {
    const bo_system *system = s->I->system;
    const bo_implicit *P = s->P;
    BO_TRY(system->linearise(system->data, P->t, s->q, project));
    BO_TRY(system->factor(system->data, P->cm, P->cv, P->cq));
    s->I->factors++;
    BO_TRY(system->solve(system->data, s->R, s->p));
    if (P->hold_modes)
        BO_TRY(bo_hold_modes(s->I, s->p, s->product));
    for (int32_t i = 0; i < system->size; i++)
        s->p[i] = -s->p[i];
    return BOUGH_OK;
}

/* A descent direction: with the true tangent, or with the projected one when that is not positive definite. */
static bough_status find_descent(solve *s, double *slope) {
    bough_status status = find_direction(s, false);
    *slope = status == BOUGH_OK ? dot(s->I->system->size, s->R, s->p) : 0;
    if (status == BOUGH_ERROR_SINGULAR || (status == BOUGH_OK && *slope > 0)) {
        status = find_direction(s, true);
        *slope = status == BOUGH_OK ? dot(s->I->system->size, s->R, s->p) : 0;
    }
    return status == BOUGH_ERROR_SINGULAR
               ? bo_fail(s->I->ctx, BOUGH_NO_CONVERGENCE, "the matrix of the time step is singular")
               : status;
}

/* Largest bound * 2^-k that lowers the potential (the residual where there is none) by Armijo's rule. */
static bough_status search_line(solve *s, double *z, double slope, double *alpha) {
    const bo_system *system = s->I->system;
    const double phi = s->phi, norm = s->norm;
    double bound = 1;
    if (system->step_bound) {
        for (int32_t i = 0; i < system->size; i++)
            s->trial[i] = s->P->cq * s->p[i];
        bound = system->step_bound(system->data, s->P->t, s->q, s->trial);
    }
    for (*alpha = bound; *alpha > SHORTEST; *alpha *= 0.5) {
        bo_add_scaled(s->I, z, *alpha, s->p, s->trial);
        bough_status status = evaluate(s, s->trial);
        if (status == BOUGH_NOT_FINITE)
            continue;
        BO_TRY(status);
        /* Near the solution the potential changes by less than its rounding; there a smaller residual is proof. */
        bool lower = s->norm <= 0.5 * norm;
        lower |=
            system->has_potential ? s->phi <= phi + ARMIJO * *alpha * slope : s->norm <= (1 - ARMIJO * *alpha) * norm;
        lower |= fabs(s->phi - phi) <= 1e-13 * fabs(phi) && s->norm <= norm;
        if (lower) {
            memcpy(z, s->trial, (size_t)system->size * sizeof *z);
            return BOUGH_OK;
        }
    }
    return bo_fail(s->I->ctx, BOUGH_NO_CONVERGENCE, "Newton's method found no descent at t = %g", s->P->t);
}

static double mass_norm(solve *s, const double *x) {
    s->I->system->multiply(s->I->system->data, BO_MATRIX_M, x, s->product);
    return sqrt(fmax(0, dot(s->I->system->size, x, s->product)));
}

/* z such that q_base (+) cq z is a part of the way `trial` from p. */
static void go_part(solve *s, double part, double *z) {
    bo_move(s->I, s->p, part, s->trial, s->f);
    bo_difference(s->I, s->f, s->P->q_base, z);
    for (int32_t i = 0; i < s->I->system->size; i++)
        z[i] /= s->P->cq;
}

/* Evaluates the first guess. Where there are obstacles it may lie beyond one: then z is shortened to where the way there,
 * from where the step began, meets none. An element that something has pressed flat may be turned inside out by the way
 * of the whole step at once: z is halved until that is not so. */
static bough_status begin_safely(solve *s, double *z) {
    const bo_system *system = s->I->system;
    if (!system->escape)
        return evaluate(s, z);
    memcpy(s->p, s->I->q_start, (size_t)system->position_size * sizeof *s->p);
    system->escape(system->data, s->P->t, s->p);
    bo_move(s->I, s->P->q_base, s->P->cq, z, s->f);
    bo_difference(s->I, s->f, s->p, s->trial);
    double part = system->step_bound(system->data, s->P->t, s->p, s->trial);
    if (part < 1)
        go_part(s, part, z);
    bough_status status = evaluate(s, z);
    for (part *= 0.5; status == BOUGH_NOT_FINITE && part > SHORTEST; part *= 0.5) {
        go_part(s, part, z);
        status = evaluate(s, z);
    }
    return status;
}

/* Matrices of what touches cost most of a step. Where the last step was a short one, its factor finds the next as well,
 * but for what the matrix has changed on it: where that next step is beyond doubt small, it is the last. */
static bool ends_with_this_factor(solve *s, double *z, double step, double size) {
    const bo_integrator *I = s->I;
    const bo_system *system = I->system;
    if (!system->escape || I->method->ends_beyond || !(step <= NEARLY * size))
        return false;
    if (system->solve(system->data, s->R, s->p) != BOUGH_OK)
        return false;
    if (!(mass_norm(s, s->p) <= CERTAIN * I->def.tolerance * size))
        return false;
    for (int32_t i = 0; i < system->size; i++)
        s->trial[i] = -s->P->cq * s->p[i];
    if (system->step_bound(system->data, s->P->t, s->q, s->trial) < 1)
        return false;
    bo_add_scaled(I, z, -1, s->p, z);
    return true;
}

bough_status bo_solve_implicit(bo_integrator *I, const bo_implicit *P, double *z) {
    solve s = {.I = I, .P = P};
    double **vectors[BO_IMPLICIT_VECTORS] = {&s.f, &s.R, &s.p, &s.trial, &s.product, &s.q};
    size_t mark = bo_arena_mark(&I->arena);
    for (int i = 0; i < BO_IMPLICIT_VECTORS; i++)
        *vectors[i] = bo_take(I);
    bough_status status = begin_safely(&s, z);
    bool done = false;
    for (int32_t k = 0; status == BOUGH_OK && !done; k++) {
        double slope, alpha = 0;
        if (k == I->def.max_iterations)
            status = bo_fail(I->ctx, BOUGH_NO_CONVERGENCE, "Newton's method took more than %d iterations at t = %g", k,
                             P->t);
        if (status == BOUGH_OK)
            status = find_descent(&s, &slope);
        if (status != BOUGH_OK)
            break;
        /* Converged when the step is a small part of the solution, or when it is lost in the rounding of the energy. */
        double step = mass_norm(&s, s.p), size = mass_norm(&s, z), scale = P->cm * size * size + fabs(s.phi);
        double phi = s.phi;
        bool lost = -slope <= 1e-28 * scale;
        /* Without an energy the line search would shorten such steps for ever, for the sake of rounding in R. */
        lost |= !I->system->has_potential && step <= 1e-3 * I->def.tolerance * size;
        /* In equilibrium the solution is zero, and no step is a small part of that. */
        lost |= P->cq * step <= fmax(ROUNDING * mass_norm(&s, s.q), NOISE * I->system->norm_of_size);
        if (!lost)
            status = search_line(&s, z, slope, &alpha);
        I->iterations++;
        /* If the potential is all rounding, the search may shorten a step that is small enough already. */
        bool settled = alpha == 1 || fabs(s.phi - phi) <= 1e-13 * fabs(phi);
        done = lost || (settled && step <= I->def.tolerance * size);
        if (status == BOUGH_OK && !done && alpha == 1)
            done = ends_with_this_factor(&s, z, step, size);
    }
    bo_arena_release(&I->arena, mark);
    return status;
}
