#include "retarget/lbfgs.h"

#include <math.h>
#include <string.h>

#define ENOUGH 1e-4 /* Armijo: part of the decrease that the slope promises */
#define FLAT 0.9    /* Wolfe: part of the slope that may be left */
#define BENT 1e-10  /* pairs with less curvature than this, relative, tell nothing */
enum { USUAL_MEMORY = 20, USUAL_PATIENCE = 5, MOST_PATIENCE = 32, MOST_TRIALS = 30 };

typedef struct {
    double t, value, slope; /* along the direction; value INFINITY: refused */
} point;

typedef struct {
    bough_context *ctx;
    const bo_lbfgs *problem;
    int32_t n, memory, pair_count, newest;
    double *x, *g, *direction, *trial, *trial_g, *best, *best_g; /* n */
    double *s, *y, *rho, *alpha;                                 /* memory x n, memory x n, memory, memory */
    bool *held;                                                  /* by bounds */
    double *block;
    double value;
    bo_lbfgs_result *result;
} search;

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double lower_of(const search *q, int32_t i) {
    return q->problem->lower ? q->problem->lower[i] : -INFINITY;
}
static double upper_of(const search *q, int32_t i) {
    return q->problem->upper ? q->problem->upper[i] : INFINITY;
}

/* ---- directions ---- */

/* -H g over the variables that are free, by the recursion over pairs, from the newest to the oldest and back. */
static void recur(search *q) {
    const int32_t n = q->n;
    double *d = q->direction;
    for (int32_t i = 0; i < n; i++)
        d[i] = q->held[i] ? 0 : -q->g[i];
    for (int32_t k = 0; k < q->pair_count; k++) {
        const int32_t at = (q->newest - k + q->memory) % q->memory;
        const double *s = q->s + (int64_t)n * at, *y = q->y + (int64_t)n * at;
        q->alpha[at] = q->rho[at] * dot(n, s, d);
        for (int32_t i = 0; i < n; i++)
            d[i] -= q->held[i] ? 0 : q->alpha[at] * y[i];
    }
    if (q->pair_count > 0) {
        const double *y = q->y + (int64_t)n * q->newest, scale = 1 / (q->rho[q->newest] * dot(n, y, y));
        for (int32_t i = 0; i < n; i++)
            d[i] *= scale;
    }
    for (int32_t k = q->pair_count - 1; k >= 0; k--) {
        const int32_t at = (q->newest - k + q->memory) % q->memory;
        const double *s = q->s + (int64_t)n * at, *y = q->y + (int64_t)n * at;
        const double beta = q->rho[at] * dot(n, y, d);
        for (int32_t i = 0; i < n; i++)
            d[i] += q->held[i] ? 0 : (q->alpha[at] - beta) * s[i];
    }
}

/* The largest entry of the gradient that no bound holds; marks the variables that are held. */
static double look_at_bounds(search *q) {
    double most = 0;
    for (int32_t i = 0; i < q->n; i++) {
        q->held[i] = (q->x[i] <= lower_of(q, i) && q->g[i] >= 0) || (q->x[i] >= upper_of(q, i) && q->g[i] <= 0);
        most = fmax(most, q->held[i] ? 0 : fabs(q->g[i]));
    }
    return most;
}

/* Variables at a bound that the direction leads outwards are held, too. Returns the slope; positive: there is none. */
static double find_direction(search *q) {
    for (bool again = true; again;) {
        again = false;
        recur(q);
        for (int32_t i = 0; i < q->n; i++) {
            const bool out = (q->x[i] <= lower_of(q, i) && q->direction[i] < 0) ||
                             (q->x[i] >= upper_of(q, i) && q->direction[i] > 0);
            if (out && !q->held[i])
                q->held[i] = again = true;
        }
    }
    return dot(q->n, q->g, q->direction);
}

/* Returns how far the direction stays within the bounds. */
static double room_ahead(const search *q) {
    double most = INFINITY;
    for (int32_t i = 0; i < q->n; i++) {
        const double d = q->direction[i], to = d > 0 ? upper_of(q, i) : lower_of(q, i);
        if (d != 0 && isfinite(to))
            most = fmin(most, (to - q->x[i]) / d);
    }
    return most;
}

/* ---- line search ---- */

/* Evaluates x + t d between the bounds, and keeps it where it is the best of this line. */
static bough_status look_ahead(search *q, double t, point *p) {
    for (int32_t i = 0; i < q->n; i++)
        q->trial[i] = fmin(fmax(q->x[i] + t * q->direction[i], lower_of(q, i)), upper_of(q, i));
    q->result->evaluations++;
    double value = NAN;
    const bough_status status = q->problem->evaluate(q->ctx, q->problem->data, q->trial, &value, q->trial_g);
    if (status < 0 || status == BOUGH_CANCELLED)
        return status;
    *p = (point){t, INFINITY, INFINITY};
    if (status != BOUGH_OK || !isfinite(value))
        return BOUGH_OK;
    p->value = value, p->slope = dot(q->n, q->trial_g, q->direction);
    if (value < q->value) {
        q->value = value;
        memcpy(q->best, q->trial, (size_t)q->n * sizeof *q->best);
        memcpy(q->best_g, q->trial_g, (size_t)q->n * sizeof *q->best_g);
    }
    return BOUGH_OK;
}

/* The least point of the cubic through two points, well between them; their middle where there is none. */
static double between(point a, point b) {
    const double way = b.t - a.t, middle = a.t + 0.5 * way;
    if (!isfinite(b.value))
        return a.t + 0.2 * way;
    const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t);
    const double square = d1 * d1 - a.slope * b.slope;
    if (!(square >= 0))
        return middle;
    const double d2 = copysign(sqrt(square), way), t = b.t - way * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
    const double share = (t - a.t) / way;
    return isfinite(share) ? a.t + fmin(fmax(share, 0.1), 0.9) * way : middle;
}

/* Nocedal and Wright, algorithms 3.5 and 3.6: `low` is the best point that decreases enough, `high` encloses with it
 * one that also is flat enough. Beyond `most` nothing is tried; a step that ends there need not be flat. *found: the
 * step is good; its end is in best, as is any point that was better than the start. */
static bough_status search_line(search *q, double start_value, double slope, double first, double most, bool *found) {
    point low = {0, start_value, slope}, high = {0};
    bool enclosed = false;
    double t = fmin(first, most);
    *found = false;
    for (int k = 0; k < MOST_TRIALS; k++) {
        point p;
        BO_TRY(look_ahead(q, t, &p));
        const bool poor = p.value > start_value + ENOUGH * t * slope || (low.t > 0 && p.value >= low.value);
        if (poor)
            high = p, enclosed = true;
        else if (fabs(p.slope) <= -FLAT * slope || (t >= most && p.slope < 0)) {
            *found = true;
            return BOUGH_OK;
        } else {
            if (enclosed ? p.slope * (high.t - low.t) >= 0 : p.slope >= 0)
                high = low, enclosed = true;
            low = p;
        }
        if (enclosed && fabs(high.t - low.t) < 1e-12 * fmax(1, t))
            break;
        t = enclosed ? between(low, high) : fmin(3 * t, most);
    }
    *found = low.t > 0; /* rounding, or many trials: it decreased enough */
    return BOUGH_OK;
}

/* The line is bent along bounds that are near, and made shorter until the value decreases enough. */
static bough_status search_bent_line(search *q, double start_value, bool *found) {
    double t = 1;
    *found = false;
    for (int k = 0; k < MOST_TRIALS; k++, t *= 0.4) {
        point p;
        double promised = 0;
        BO_TRY(look_ahead(q, t, &p));
        for (int32_t i = 0; i < q->n; i++)
            promised += q->g[i] * (q->trial[i] - q->x[i]);
        if (p.value <= start_value + ENOUGH * promised && p.value < start_value) {
            *found = true;
            return BOUGH_OK;
        }
    }
    return BOUGH_OK;
}

/* ---- iterations ---- */

static void learn(search *q) {
    const int32_t next = (q->newest + 1) % q->memory, n = q->n;
    double *s = q->s + (int64_t)n * next, *y = q->y + (int64_t)n * next;
    for (int32_t i = 0; i < n; i++)
        s[i] = q->best[i] - q->x[i], y[i] = q->best_g[i] - q->g[i];
    const double along = dot(n, s, y);
    if (along > BENT * sqrt(dot(n, s, s) * dot(n, y, y))) {
        q->newest = next, q->rho[next] = 1 / along;
        q->pair_count = q->pair_count < q->memory ? q->pair_count + 1 : q->memory;
    }
    memcpy(q->x, q->best, (size_t)n * sizeof *q->x);
    memcpy(q->g, q->best_g, (size_t)n * sizeof *q->g);
}

/* One step; *moved: it made the value smaller. Pairs that lead astray are forgotten, and the gradient is followed. */
static bough_status improve(search *q, bool *moved) {
    *moved = false;
    for (int attempt = 0; attempt < 2 && !*moved; attempt++) {
        double slope = find_direction(q);
        if (!(slope < 0) && q->pair_count > 0) {
            q->pair_count = 0;
            look_at_bounds(q);
            slope = find_direction(q);
        }
        if (!(slope < 0))
            return BOUGH_OK;
        double first = 1, largest = 0;
        for (int32_t i = 0; i < q->n; i++)
            largest = fmax(largest, fabs(q->direction[i]));
        if (q->pair_count == 0) /* the scale of the gradient means nothing */
            for (int32_t i = 0; i < q->n; i++)
                q->direction[i] *= q->problem->first_step / largest;
        if (q->pair_count == 0)
            slope *= q->problem->first_step / largest;
        const double most = room_ahead(q), start = q->value;
        bool found;
        BO_TRY(most < first ? search_bent_line(q, start, &found) : search_line(q, start, slope, first, most, &found));
        *moved = q->value < start;
        if (!*moved && q->pair_count == 0)
            return BOUGH_OK;
        if (!*moved)
            q->pair_count = 0, look_at_bounds(q);
    }
    return BOUGH_OK;
}

static bough_status reserve(search *q) {
    const int64_t n = q->n, m = q->memory;
    double *block = q->block = BO_NEW_ZEROS(q->ctx, double, 7 * n + 2 * m * n + 2 * m);
    q->held = BO_NEW_ZEROS(q->ctx, bool, n);
    if (!block || !q->held)
        return BOUGH_ERROR_MEMORY;
    double **const arrays[] = {&q->x, &q->g, &q->direction, &q->trial, &q->trial_g, &q->best, &q->best_g};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++, block += n)
        *arrays[i] = block;
    q->s = block, q->y = q->s + m * n, q->rho = q->y + m * n, q->alpha = q->rho + m;
    return BOUGH_OK;
}

static bough_status iterate(search *q) {
    const bo_lbfgs *problem = q->problem;
    bo_lbfgs_result *r = q->result;
    const int32_t patience = problem->patience < 1               ? USUAL_PATIENCE
                             : problem->patience > MOST_PATIENCE ? MOST_PATIENCE
                                                                 : problem->patience;
    double values[MOST_PATIENCE];
    for (; r->iterations < problem->max_iterations; r->iterations++) {
        bool moved;
        r->slope = look_at_bounds(q);
        if (r->slope <= problem->least_slope) {
            r->converged = true;
            return BOUGH_OK;
        }
        double *const before = &values[r->iterations % patience]; /* as many iterations ago */
        if (r->iterations >= patience && *before - q->value <= problem->least_decrease * fabs(*before)) {
            r->converged = true;
            return BOUGH_OK;
        }
        *before = q->value;
        BO_TRY(improve(q, &moved));
        if (!moved)
            return BOUGH_OK;
        learn(q);
        if (problem->tell &&
            !problem->tell(q->ctx, problem->data, r->iterations + 1, q->x, q->value, look_at_bounds(q))) {
            r->iterations++;
            return bo_fail_cancelled(q->ctx);
        }
    }
    r->slope = look_at_bounds(q);
    return BOUGH_OK;
}

bough_status bo_lbfgs_run(bough_context *ctx, const bo_lbfgs *problem, double *x, bo_lbfgs_result *result) {
    *result = (bo_lbfgs_result){.value = INFINITY, .first_value = INFINITY};
    search q = {.ctx = ctx,
                .problem = problem,
                .n = problem->n,
                .memory = problem->memory > 0 ? problem->memory : USUAL_MEMORY,
                .value = INFINITY,
                .result = result};
    bough_status status = reserve(&q);
    if (status == BOUGH_OK) {
        for (int32_t i = 0; i < q.n; i++)
            q.x[i] = q.best[i] = fmin(fmax(x[i], lower_of(&q, i)), upper_of(&q, i));
        result->evaluations = 1;
        status = problem->evaluate(ctx, problem->data, q.x, &q.value, q.g);
        if (status == BOUGH_OK && !isfinite(q.value))
            status = bo_fail(ctx, BOUGH_NOT_FINITE, "the objective is not finite where the search begins");
        result->first_value = q.value;
        if (status == BOUGH_OK)
            status = iterate(&q);
        result->value = q.value;
        memcpy(x, q.best, (size_t)q.n * sizeof *x);
    }
    bo_free(ctx, q.block);
    bo_free(ctx, q.held);
    return status;
}
