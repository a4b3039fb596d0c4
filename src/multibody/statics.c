/* Assembly and equilibrium. docs/theory/multibody.md, "Statics". */
#include "multibody/multibody.h"

#include <string.h>

#define CLOSED 1e-12   /* m, rad: constraints that hold */
#define TOLERATED 1e-8 /* the same where no search finds better any more */
#define STIFF 0.05     /* s */
enum { MOST_ASSEMBLY = 60, MOST_SETTLING = 400 };

typedef struct {
    bough_context *ctx;
    const bough_multibody *model;
    bo_mb_state *s;
    bo_mb_drive drive;
} search;

static bough_status evaluate(const search *x, const double *u, const double *v, const double *lambda) {
    bo_mb_state *s = x->s;
    if (!bo_mb_evaluate(x->model, &s->work, &x->drive, u, v, s->zeros, lambda, s->residual, s->c, s->rate))
        return bo_fail(x->ctx, BOUGH_NOT_FINITE, "a part was turned inside out");
    return BOUGH_OK;
}

/* The largest entry and where it is. */
static double largest(int32_t count, const double *x, int32_t *where) {
    double most = 0;
    for (int32_t i = 0; i < count; i++)
        if (fabs(x[i]) > most || isnan(x[i]))
            most = isnan(x[i]) ? INFINITY : fabs(x[i]), *where = i;
    return most;
}

static bough_status fail_apart(const search *x, double gap, int32_t row) {
    const bough_multibody *model = x->model;
    int32_t j = 0;
    while (j + 1 < model->joint_count && model->joints[j + 1].row <= row)
        j++;
    x->s->apart = model->joints[j].def;
    const bool turns =
        model->joints[j].gear[0] >= 0 || (model->joints[j].row_count > 3 && row - model->joints[j].row >= 3);
    return bo_fail(x->ctx, BOUGH_NO_CONVERGENCE, "the parts do not fit together: %s misses by %.3g %s",
                   bo_mb_joint_label(model, j).text, gap, turns ? "rad" : "m");
}

/* The shortest motion, in the metric of the masses, by which constraints (or their rates) would hold: M x - J^T y = 0,
 * J x = -d. Where parts are in full order the metric is M + STIFF^2 K: vertices of an interface weigh next to nothing,
 * and would be torn off. */
static bough_status shortest(const search *x, const double *u, const double *v, const double *d, double *move,
                             double *multipliers) {
    bo_mb_state *s = x->s;
    bo_mb_tangent(x->model, &s->work, &x->drive, u, v, s->zeros, s->zeros_c, 1, 0,
                  x->model->in_full ? STIFF * STIFF : 0, 0, 0, true);
    if (!bo_mb_factor(&s->work))
        return bo_fail(x->ctx, BOUGH_NO_CONVERGENCE, "the constraints cannot be told apart where they are now");
    memset(move, 0, (size_t)x->model->nv * sizeof *move);
    bo_mb_solve(x->model, &s->work, move, d, move, multipliers);
    return BOUGH_OK;
}

static bough_status close_positions(const search *x, double *u) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    double last = INFINITY, gap = 0;
    int32_t where = 0;
    for (int k = 0; k < MOST_ASSEMBLY; k++) {
        BO_TRY(evaluate(x, u, s->zeros, s->zeros_c));
        gap = largest(model->nc, s->c, &where);
        if (gap <= CLOSED || (gap <= TOLERATED && gap > 0.5 * last))
            return BOUGH_OK;
        last = gap;
        BO_TRY(shortest(x, u, s->zeros, s->c, s->a_next, s->rate));
        double length = 0;
        for (int32_t i = 0; i < model->nv; i++)
            length = fmax(length, fabs(s->a_next[i]) / model->units[i]);
        if (!isfinite(length))
            break;
        bo_mb_advance(model, u, length > 0.3 ? -0.3 / length : -1, s->a_next, s->u_next);
        memcpy(u, s->u_next, (size_t)model->nu * sizeof *u);
    }
    return fail_apart(x, gap, where);
}

void bo_mb_normalise(const bough_multibody *model, double *u) {
    for (int32_t b = 0; b < model->body_count; b++) {
        double *q = u + 7 * b + 3;
        const double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++)
            q[k] /= n;
    }
}

bough_status bough_multibody_assemble(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state) {
    bo_mb_state *s = bo_mb(state);
    const search x = {ctx, model, s, bo_mb_drive_at(s, state->time)};
    double *u = s->u_base, *v = s->v_base;
    memcpy(u, state->u, (size_t)model->nu * sizeof *u);
    memcpy(v, state->v, (size_t)model->nv * sizeof *v);
    BO_TRY(close_positions(&x, u));
    bo_mb_normalise(model, u);
    for (int k = 0; k < 2; k++) { /* linear in v: the second time for rounding */
        BO_TRY(evaluate(&x, u, v, s->zeros_c));
        memcpy(s->c, s->rate, (size_t)model->nc * sizeof *s->c);
        BO_TRY(shortest(&x, u, v, s->c, s->a_next, s->rate));
        for (int32_t i = 0; i < model->nv; i++)
            v[i] -= s->a_next[i];
    }
    BO_TRY(evaluate(&x, u, v, s->zeros_c));
    memcpy(state->u, u, (size_t)model->nu * sizeof *u);
    memcpy(state->v, v, (size_t)model->nv * sizeof *v);
    bo_mb_keep_coordinates(model, &s->work);
    bough_multibody_restart(state);
    return BOUGH_OK;
}

/* ---- equilibrium ---- */

/* The largest force that is left, times its unit, or gap times the weight of the whole. */
static double imbalance(const bough_multibody *model, const bo_mb_state *s, double weight) {
    double most = 0, sum = 0;
    for (int32_t i = 0; i < model->nv; i++)
        most = fmax(most, fabs(s->residual[i]) * model->units[i]), sum += s->residual[i];
    for (int32_t i = 0; i < model->nc; i++)
        most = fmax(most, fabs(s->c[i]) * weight), sum += s->c[i];
    return isfinite(sum) ? most : INFINITY;
}

static double weight_of(const bough_multibody *model, const bough_multibody_state *state) {
    double mass = 0;
    for (int32_t b = 0; b < model->def.body_count; b++)
        mass += model->bodies[b].mass;
    for (int32_t p = 0; p < model->def.part_count; p++)
        mass += model->parts[p].mass;
    const double g = bo_norm(bo_load3(state->gravity));
    double most = mass * (g > 0 ? g : 1) * model->length;
    for (int32_t i = 0; i < model->nv; i++)
        most = fmax(most, fabs(state->force[i]) * model->units[i]);
    return most;
}

/* One step from u, lambda to u_next, lambda_trial; residual and c are those there. *before and *after: lengths of the
 * step, and of the one that the same factor would take next. */
static void try_settling(const search *x, const double *u, const double *lambda, double tau, double *before,
                         double *after) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    *after = INFINITY;
    bo_mb_tangent(model, &s->work, &x->drive, u, s->zeros, s->zeros, lambda, 1 / (tau * tau), 0, 1, 0, 0, true);
    if (!bo_mb_factor(&s->work))
        return;
    bo_mb_solve(model, &s->work, s->residual, s->c, s->a_next, s->rate);
    *before = bo_mb_length_of(model, s->a_next);
    bo_mb_advance(model, u, -1, s->a_next, s->u_next);
    for (int32_t i = 0; i < model->nc; i++)
        s->lambda_trial[i] = lambda[i] - s->rate[i];
    if (!isfinite(*before) || evaluate(x, s->u_next, s->zeros, s->lambda_trial) != BOUGH_OK)
        return;
    bo_mb_solve(model, &s->work, s->residual, s->c, s->a_next, s->rate);
    *after = bo_mb_length_of(model, s->a_next);
}

/* Steps (M / tau^2 + K) x - J^T y = -R, J x = -c with a growing time tau: at first the way of something heavy and
 * strongly damped, in the end Newton's. A step after which the next would be longer is tried with a shorter time.
 * Forces do not tell: a slender rod that bends is stretched at first, which takes a large force and a small step. */
bough_status bough_multibody_settle(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state) {
    bo_mb_state *s = bo_mb(state);
    const search x = {ctx, model, s, bo_mb_drive_at(s, state->time)};
    const double weight = weight_of(model, state);
    double *u = s->u_base, *lambda = s->lambda_next, tau = 0.05, left, last_good = INFINITY;
    memcpy(u, state->u, (size_t)model->nu * sizeof *u);
    memcpy(lambda, state->lambda, (size_t)model->nc * sizeof *lambda);
    BO_TRY(close_positions(&x, u));
    BO_TRY(evaluate(&x, u, s->zeros, lambda));
    left = imbalance(model, s, weight);
    for (int k = 0; left > 1e-12 * weight; k++) {
        if (k == MOST_SETTLING || tau < 1e-9) {
            if (left <= 1e-8 * weight)
                break;
            return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "no equilibrium was found: %.2g of the weight is left",
                           left / weight);
        }
        if (k > 3 && !bo_progress(ctx, "settling", -1, "iteration %d, %.1e is left", k, left / weight))
            return bo_fail_cancelled(ctx);
        double before = 0, after;
        try_settling(&x, u, lambda, tau, &before, &after);
        const double now = isfinite(after) ? imbalance(model, s, weight) : INFINITY;
        if (now <= 1e-8 * weight && now > 0.5 * left && left <= 1e-8 * weight && now >= last_good)
            break; /* rounding */
        if (!(after <= 1.5 * before || now <= fmax(left, 1e-6 * weight))) {
            tau *= 0.25;
            BO_TRY(evaluate(&x, u, s->zeros, lambda));
            continue;
        }
        memcpy(u, s->u_next, (size_t)model->nu * sizeof *u);
        memcpy(lambda, s->lambda_trial, (size_t)model->nc * sizeof *lambda);
        last_good = fmin(last_good, now), left = now;
        tau *= after <= before ? 3 : 1;
    }
    bo_mb_normalise(model, u);
    memcpy(state->u, u, (size_t)model->nu * sizeof *u);
    memcpy(state->lambda, lambda, (size_t)model->nc * sizeof *lambda);
    memset(state->v, 0, (size_t)model->nv * sizeof *state->v);
    memset(s->a, 0, (size_t)model->nv * sizeof *s->a);
    bo_mb_keep_coordinates(model, &s->work);
    bough_multibody_restart(state);
    return BOUGH_OK;
}
