#include "retarget/gauss_newton.h"

#include "retarget/box_quadratic.h"
#include "retarget/sensitivity.h"

#include <string.h>

#define FIRST_DAMPING 1e-4 /* of the diagonal */
#define LEAST_DAMPING 1e-9
#define ENOUGH 1e-4      /* part of the decrease promised by the model that a step must have */
#define NEGLIGIBLE 1e-13 /* of the value: decreases that are rounding */
#define LITTLE 0.02      /* of the least decrease */
#define FLOOR 1e-10      /* of the largest entry of the diagonal: the least that damping takes for one */
enum { USUAL_PATIENCE = 2, MOST_PATIENCE = 32, MOST_TRIALS = 25 };

typedef struct {
    bough_context *ctx;
    const bo_gauss_newton *problem;
    int32_t n;
    bo_sensitivity *sensitivity;
    double *x, *g, *trial, *step, *lowest, *highest; /* n */
    double *x_before, *g_before, *missing;           /* n */
    double *H, *S, *A; /* n x n: J^T J, an estimate of the curvature that it lacks, and the matrix of a step */
    bool *held;        /* points that are not searched */
    bool knows;        /* S tells more than it misleads: it is used */
    bo_box_quadratic box;
    double *block;
    double value, damping;
    bool foretold;   /* the last step did what the model had promised */
    double promised; /* the decrease that the model had for the last step, before damping made it shorter */
    bo_gauss_newton_result *result;
} search;

static double lower_of(const search *q, int32_t i) {
    return q->problem->lower ? q->problem->lower[i] : -INFINITY;
}
static double upper_of(const search *q, int32_t i) {
    return q->problem->upper ? q->problem->upper[i] : INFINITY;
}

static bough_status reserve(search *q) {
    const bough_adjoint *x = q->problem->adjoint;
    const int64_t n = q->n = x->motor_count * x->shape.count;
    double *block = q->block = BO_NEW_ZEROS(q->ctx, double, 9 * n + 3 * n * n);
    q->held = BO_NEW_ZEROS(q->ctx, bool, n);
    if (!block || !q->held)
        return BOUGH_ERROR_MEMORY;
    double **const arrays[] = {&q->x,       &q->g,        &q->trial,    &q->step,   &q->lowest,
                               &q->highest, &q->x_before, &q->g_before, &q->missing};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++, block += n)
        *arrays[i] = block;
    q->H = block, q->S = q->H + n * n, q->A = q->S + n * n;
    for (int32_t i = 0; i < n; i++)
        q->held[i] = i % x->shape.count < x->def.held_points;
    BO_TRY(bo_box_quadratic_make(q->ctx, q->n, &q->box));
    return bo_sensitivity_create(q->ctx, q->problem->adjoint, q->problem->memory_seconds, &q->sensitivity);
}

/* The largest entry of the gradient that no bound holds. */
static double slope_of(const search *q) {
    double most = 0;
    for (int32_t i = 0; i < q->n; i++) {
        const bool stuck = (q->x[i] <= lower_of(q, i) && q->g[i] >= 0) || (q->x[i] >= upper_of(q, i) && q->g[i] <= 0);
        most = fmax(most, stuck || q->held[i] ? 0 : fabs(q->g[i]));
    }
    return most;
}

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Learns S from the last step s and the change y of the gradient in it: (H + S) s = y, and S changes least (Dennis, Gay
 * and Welsch, 1981). Residuals that do not vanish, and terms of the caller, have curvature that H lacks. */
static void learn(search *q) {
    const int32_t n = q->n;
    double *s = q->x_before, *y = q->g_before, *r = q->missing;
    for (int32_t i = 0; i < n; i++)
        s[i] = q->x[i] - s[i], y[i] = q->held[i] ? 0 : q->g[i] - y[i];
    const double along = dot(n, s, y);
    if (!(along > 0))
        return;
    double bend = 0, found = 0;
    for (int32_t i = 0; i < n; i++) {
        r[i] = y[i] - dot(n, q->H + (int64_t)n * i, s);
        bend += s[i] * dot(n, q->S + (int64_t)n * i, s), found += s[i] * r[i];
    }
    const double size = fabs(bend) > fabs(found) ? fabs(found / bend) : 1;
    for (int64_t i = 0; i < (int64_t)n * n; i++)
        q->S[i] *= size;
    for (int32_t i = 0; i < n; i++)
        r[i] -= dot(n, q->S + (int64_t)n * i, s);
    const double twice = dot(n, s, r) / along;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            q->S[(int64_t)n * i + j] += (r[i] * y[j] + y[i] * r[j] - twice * y[i] * y[j]) / along;
}

/* A = H + damping times its diagonal. Points that nothing depends on have none. */
static void damp(search *q) {
    const int64_t n = q->n;
    double largest = 0;
    for (int32_t i = 0; i < n; i++)
        largest = fmax(largest, q->H[(n + 1) * i]);
    for (int64_t i = 0; i < n * n; i++)
        q->A[i] = q->H[i] + (q->knows ? q->S[i] : 0);
    for (int32_t i = 0; i < n; i++)
        q->A[(n + 1) * i] += q->damping * fmax(q->H[(n + 1) * i], FLOOR * largest);
    for (int32_t i = 0; i < n; i++)
        if (!(q->A[(n + 1) * i] > 0))
            q->A[(n + 1) * i] = 1;
}

/* The decrease that the model promises for the step, without its damping; with the estimate S, or without it. */
static double promised_by(const search *q, bool estimate) {
    double sum = 0;
    for (int32_t i = 0; i < q->n; i++) {
        double bend = 0;
        if (q->step[i] == 0)
            continue;
        bend += dot(q->n, q->H + (int64_t)q->n * i, q->step);
        bend += estimate ? dot(q->n, q->S + (int64_t)q->n * i, q->step) : 0;
        sum -= (q->g[i] + 0.5 * bend) * q->step[i];
    }
    return sum;
}

/* Simulates at the trial. A simulation that fails has an infinite value. */
static bough_status look(search *q, double *value) {
    q->result->simulations++;
    const bough_status status = bo_adjoint_try(q->ctx, q->problem->adjoint, q->trial, value);
    if (status < 0 || status == BOUGH_CANCELLED)
        return status;
    *value = status != BOUGH_OK || !isfinite(*value) ? INFINITY : *value;
    return BOUGH_OK;
}

/* Damping follows the ratio of the decrease that was found to the one promised. The next step uses the estimate where
 * it would have foretold this one better. */
static void adapt(search *q, double found, double promised) {
    if (found > 0.75 * promised)
        q->damping = fmax(0.05 * q->damping, LEAST_DAMPING);
    else if (found < 0.25 * promised)
        q->damping *= 4;
    q->foretold = fabs(found - promised) < 0.25 * promised;
    q->knows = fabs(promised_by(q, true) - found) < fabs(promised_by(q, false) - found);
}

/* After a step that did not help: without the estimate, then with more damping. */
static void give_way(search *q, double *harder) {
    if (!q->knows)
        q->damping *= *harder, *harder *= 1.5;
    q->knows = false;
}

static void find_bounds(search *q) {
    for (int32_t i = 0; i < q->n; i++) {
        q->lowest[i] = q->held[i] ? 0 : lower_of(q, i) - q->x[i];
        q->highest[i] = q->held[i] ? 0 : upper_of(q, i) - q->x[i];
    }
}

/* True where the matrix of the last step, which served it well, promises next to nothing for another one: a new matrix
 * costs more than all the rest. */
static bool little_is_left(search *q) {
    if (q->result->iterations == 0 || !q->foretold || !(q->problem->least_decrease > 0))
        return false;
    find_bounds(q);
    damp(q);
    return bo_box_quadratic_solve(&q->box, q->A, q->g, q->lowest, q->highest, q->step) &&
           promised_by(q, q->knows) <= LITTLE * q->problem->least_decrease * fabs(q->value);
}

/* One step; *moved: it made the value smaller. More damping makes it shorter, and turns it towards the gradient. */
static bough_status improve(search *q, bool *moved) {
    double harder = 4;
    *moved = false, q->promised = INFINITY;
    find_bounds(q);
    for (int k = 0; k < MOST_TRIALS; k++) {
        double value, promised;
        damp(q);
        if (!bo_box_quadratic_solve(&q->box, q->A, q->g, q->lowest, q->highest, q->step)) {
            give_way(q, &harder);
            continue;
        }
        promised = promised_by(q, q->knows);
        q->promised = isinf(q->promised) ? promised : q->promised;
        if (!(promised > NEGLIGIBLE * fabs(q->value)))
            return BOUGH_OK;
        for (int32_t i = 0; i < q->n; i++) /* bounds are met to the last bit */
            q->trial[i] = q->held[i] || q->step[i] == 0 ? q->x[i]
                          : q->step[i] <= q->lowest[i]  ? lower_of(q, i)
                          : q->step[i] >= q->highest[i] ? upper_of(q, i)
                                                        : q->x[i] + q->step[i];
        BO_TRY(look(q, &value));
        if (!(q->value - value > ENOUGH * promised)) {
            give_way(q, &harder);
            continue;
        }
        adapt(q, q->value - value, promised);
        memcpy(q->x_before, q->x, (size_t)q->n * sizeof *q->x);
        memcpy(q->g_before, q->g, (size_t)q->n * sizeof *q->g);
        memcpy(q->x, q->trial, (size_t)q->n * sizeof *q->x);
        q->value = value, *moved = true;
        return BOUGH_OK;
    }
    return BOUGH_OK;
}

static bough_status iterate(search *q) {
    const bo_gauss_newton *problem = q->problem;
    bo_gauss_newton_result *r = q->result;
    const int32_t patience = problem->patience < 1               ? USUAL_PATIENCE
                             : problem->patience > MOST_PATIENCE ? MOST_PATIENCE
                                                                 : problem->patience;
    double values[MOST_PATIENCE];
    for (; r->iterations < problem->max_iterations; r->iterations++) {
        bool moved;
        double *const before = &values[r->iterations % patience]; /* as many iterations ago */
        r->converged = r->slope <= problem->least_slope ||
                       (r->iterations >= patience && *before - q->value <= problem->least_decrease * fabs(*before)) ||
                       little_is_left(q);
        if (r->converged)
            return BOUGH_OK;
        *before = q->value;
        BO_TRY(bo_sensitivity_matrix(q->ctx, q->sensitivity, q->H));
        if (r->iterations > 0)
            learn(q);
        BO_TRY(improve(q, &moved));
        if (!moved) { /* nothing is left to gain, unless the model promised it */
            r->converged = q->promised <= fmax(problem->least_decrease, NEGLIGIBLE) * fabs(q->value);
            return BOUGH_OK;
        }
        BO_TRY(bo_adjoint_pull(q->ctx, problem->adjoint, q->g));
        r->slope = slope_of(q);
        if (problem->tell && !problem->tell(q->ctx, problem->data, r->iterations + 1, q->x, q->value, r->slope)) {
            r->iterations++;
            return bo_fail_cancelled(q->ctx);
        }
    }
    return BOUGH_OK;
}

static bough_status begin(search *q, const double *points) {
    for (int32_t i = 0; i < q->n; i++)
        q->x[i] = q->held[i] ? points[i] : fmin(fmax(points[i], lower_of(q, i)), upper_of(q, i));
    q->result->simulations = 1;
    BO_TRY(bo_adjoint_try(q->ctx, q->problem->adjoint, q->x, &q->value));
    if (!isfinite(q->value))
        return bo_fail(q->ctx, BOUGH_NOT_FINITE, "the objective is not finite where the search begins");
    q->result->first_value = q->value;
    BO_TRY(bo_adjoint_pull(q->ctx, q->problem->adjoint, q->g));
    q->result->slope = slope_of(q);
    return BOUGH_OK;
}

bough_status bo_gauss_newton_run(bough_context *ctx, const bo_gauss_newton *problem, double *points,
                                 bo_gauss_newton_result *result) {
    *result = (bo_gauss_newton_result){.value = INFINITY, .first_value = INFINITY};
    search q = {.ctx = ctx, .problem = problem, .value = INFINITY, .damping = FIRST_DAMPING, .result = result};
    bough_status status = reserve(&q);
    if (status == BOUGH_OK) {
        status = begin(&q, points);
        if (status == BOUGH_OK)
            status = iterate(&q);
        result->value = q.value;
        memcpy(points, q.x, (size_t)q.n * sizeof *points);
    }
    bo_sensitivity_destroy(ctx, q.sensitivity);
    bo_box_quadratic_free(ctx, &q.box);
    bo_free(ctx, q.block);
    bo_free(ctx, q.held);
    return status;
}
