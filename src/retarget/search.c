/* The search for curves: all of the animation at once, or in windows of time that overlap. docs/retarget.md. */
#include "retarget/gauss_newton.h"
#include "retarget/lbfgs.h"
#include "retarget/retarget.h"
#include "retarget/vibrations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIRST_STEP 0.02 /* rad, m: the largest change of a control point in the first iteration */

/* An interval of steps that is searched: curves before it are as they were found, and it begins in the state that they
 * lead to. */
typedef struct {
    bough_retarget *r;
    int32_t first, steps;  /* first: the step it begins with */
    int32_t number, count; /* among the windows */
    const bough_multibody_state *start;
    bough_adjoint *adjoint;
    bough_tracked_frame *tracked;
    double *weights;               /* of the steps, by frame */
    double *positions, *rotations; /* targets likewise */
    double *input;                 /* by motor */
    double first_value, first_deviation;
} span;

static void free_span(bough_context *ctx, span *s) {
    bough_adjoint_destroy(ctx, s->adjoint);
    void *const blocks[] = {s->tracked, s->weights, s->positions, s->rotations, s->input};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}

/* Rows of `width` numbers a step: those of the span, for each of `count` things. */
static double *cut(bough_context *ctx, const span *s, int32_t count, size_t width, const double *from) {
    const size_t all = bo_retarget_samples(s->r), own = (size_t)s->steps + 1;
    double *to = BO_NEW_ARRAY(ctx, double, (size_t)count *own *width);
    for (int32_t i = 0; to && i < count; i++)
        memcpy(to + (size_t)i * own * width, from + ((size_t)i * all + (size_t)s->first) * width,
               own * width * sizeof *to);
    return to;
}

/* Control points that act at the first step or before: the start of the span depends on them. */
static int32_t held_points(const span *s) {
    const bough_motor_curves *c = s->r->curves;
    const double interval = c->duration / (c->point_count - c->degree);
    return s->first == 0 ? c->degree : (int32_t)floor(s->first * s->r->dt / interval + 1e-9) + c->degree;
}

static bough_status make_span(bough_context *ctx, span *s) {
    bough_retarget *r = s->r;
    const size_t own = (size_t)s->steps + 1;
    s->tracked = BO_NEW_ZEROS(ctx, bough_tracked_frame, r->frame_count);
    s->weights = cut(ctx, s, r->frame_count, 1, r->weights);
    s->positions = cut(ctx, s, r->frame_count, 3, r->target->positions);
    s->rotations = cut(ctx, s, r->frame_count, 9, r->target->rotations);
    s->input = cut(ctx, s, r->motor_count, 1, r->input);
    if (!s->tracked || !s->weights || !s->positions || !s->rotations || !s->input)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < r->frame_count; i++)
        s->tracked[i] = (bough_tracked_frame){.frame = r->tracks[i].frame,
                                              .position = r->tracks[i].weight,
                                              .orientation = r->tracks[i].orientation,
                                              .weights = s->weights + (size_t)i * own,
                                              .positions = s->positions + 3 * (size_t)i * own,
                                              .rotations = s->rotations + 9 * (size_t)i * own};
    bough_adjoint_def def = bough_default_adjoint_def();
    def.dt = r->dt, def.step_count = s->steps;
    def.tracked = s->tracked, def.tracked_count = r->frame_count;
    def.input_weight = r->plan->keep, def.input = s->input, def.acceleration_weight = r->plan->smooth;
    def.limits = r->plan->limits, def.limit_weight = r->plan->limit_weight;
    def.held_points = held_points(s), def.megabytes = r->def.megabytes;
    return bough_adjoint_create(ctx, r->model, s->start, r->curves, &def, &s->adjoint);
}

/* ---- the search ---- */

static double largest_deviation(const span *s) {
    const size_t own = (size_t)s->steps + 1;
    bough_adjoint_view view;
    double most = 0;
    bough_adjoint_look(s->adjoint, &view);
    for (int32_t i = 0; i < s->r->frame_count; i++)
        for (size_t k = 0; k < own; k++) {
            double square = 0;
            for (size_t d = 0; d < 3; d++)
                square += pow(view.paths[i][3 * k + d] - s->positions[3 * ((size_t)i * own + k) + d], 2);
            most = fmax(most, square);
        }
    return sqrt(most);
}

static bough_status evaluate(bough_context *ctx, void *data, const double *x, double *value, double *gradient) {
    span *s = data;
    BO_TRY(bough_adjoint_gradient(ctx, s->adjoint, x, value, gradient, NULL));
    s->r->gradients++;
    return BOUGH_OK;
}

static int32_t iterations_of(const bough_retarget *r) {
    return r->def.iterations > 0 ? r->def.iterations : r->plan->iterations;
}

/* Sets the news for the context's progress() during the next iteration; the search may end long before all are done. */
static void spread_news(span *s, const bough_retarget_progress *p) {
    bough_adjoint *x = s->adjoint;
    const double part = 1. / p->iterations / p->window_count;
    char window[40] = "";
    if (p->window_count > 1)
        snprintf(window, sizeof window, "window %d of %d, ", p->window + 1, p->window_count);
    snprintf(x->news, sizeof x->news,
             "%siteration %d, objective %.4g of %.4g, slope %.1e, at most %.2f cm of %.2f cm off", window, p->iteration,
             p->value, p->first_value, p->slope, 100 * p->deviation, 100 * p->first_deviation);
    x->before = (double)p->window / p->window_count + p->iteration * part, x->share = part;
}

static bool tell(bough_context *ctx, void *data, int32_t iteration, const double *x, double value, double slope) {
    span *s = data;
    bough_retarget *r = s->r;
    (void)ctx;
    memcpy(r->curves->points, x, (size_t)r->motor_count * (size_t)r->curves->point_count * sizeof *x);
    const bough_retarget_progress progress = {.iteration = iteration,
                                              .iterations = iterations_of(r),
                                              .window = s->number,
                                              .window_count = s->count,
                                              .value = value,
                                              .first_value = s->first_value,
                                              .slope = slope,
                                              .deviation = largest_deviation(s),
                                              .first_deviation = s->first_deviation};
    spread_news(s, &progress);
    return !r->def.tell || r->def.tell(r->def.tell_data, &progress);
}

static double tolerance_of(const bough_retarget *r) {
    return r->def.tolerance >= 0 ? r->def.tolerance : r->plan->tolerance;
}

/* The result of a search, whichever it was. */
typedef struct {
    double first_value, value;
    int32_t iterations;
    bool converged;
} outcome;

static bough_status search_by_lbfgs(bough_context *ctx, span *s, double *x, outcome *found) {
    const bough_retarget *r = s->r;
    const bo_lbfgs search = {.n = r->motor_count * r->curves->point_count,
                             .evaluate = evaluate,
                             .tell = tell,
                             .data = s,
                             .lower = r->lower,
                             .upper = r->upper,
                             .first_step = FIRST_STEP,
                             .least_decrease = tolerance_of(r),
                             .memory = r->search == BOUGH_SEARCH_BFGS ? iterations_of(r) : 0,
                             .max_iterations = iterations_of(r)};
    bo_lbfgs_result result = {.first_value = NAN, .value = NAN};
    const bough_status status = bo_lbfgs_run(ctx, &search, x, &result);
    *found = (outcome){result.first_value, result.value, result.iterations, result.converged};
    return status;
}

/* An iteration gains as much as ten of L-BFGS, so that two are asked for ten times what five of those are. */
static bough_status search_by_gauss_newton(bough_context *ctx, span *s, double *x, outcome *found) {
    bough_retarget *r = s->r;
    const bo_gauss_newton search = {.adjoint = s->adjoint,
                                    .tell = tell,
                                    .data = s,
                                    .lower = r->lower,
                                    .upper = r->upper,
                                    .least_decrease = 10 * tolerance_of(r),
                                    .max_iterations = iterations_of(r)};
    bo_gauss_newton_result result = {.first_value = NAN, .value = NAN};
    const bough_status status = bo_gauss_newton_run(ctx, &search, x, &result);
    r->gradients += result.iterations + 1;
    *found = (outcome){result.first_value, result.value, result.iterations, result.converged};
    return status;
}

static bough_status search_span(bough_context *ctx, span *s) {
    bough_retarget *r = s->r;
    const int32_t n = r->motor_count * r->curves->point_count;
    double *x = BO_NEW_ARRAY(ctx, double, n), value;
    outcome found = {NAN, NAN, 0, false};
    bough_adjoint_view view;
    if (!x)
        return BOUGH_ERROR_MEMORY;
    memcpy(x, r->curves->points, (size_t)n * sizeof *x);
    bough_status status = bough_adjoint_value(ctx, s->adjoint, x, &value);
    if (status == BOUGH_OK) {
        s->first_value = value, s->first_deviation = largest_deviation(s);
        status = r->search == BOUGH_SEARCH_GAUSS_NEWTON ? search_by_gauss_newton(ctx, s, x, &found)
                                                        : search_by_lbfgs(ctx, s, x, &found);
    }
    if (isfinite(found.value))
        memcpy(r->curves->points, x, (size_t)n * sizeof *x);
    r->iterations += found.iterations;
    /* A search that ends by itself found nothing better within rounding. */
    r->converged = r->converged && status == BOUGH_OK && (found.converged || found.iterations < iterations_of(r));
    bough_adjoint_look(s->adjoint, &view);
    r->bytes = view.bytes > r->bytes ? view.bytes : r->bytes;
    if (s->count == 1)
        r->first_value = found.first_value, r->value = found.value;
    bo_free(ctx, x);
    return status;
}

/* ---- windows ---- */

static void drive(void *data, int32_t motor, double t, double *place, double *rate) {
    const bough_retarget *r = data;
    bough_motor_curves_at(r->curves, motor, t, place, rate, NULL);
}

/* Goes on with the curves that were found, to the step with which the next window begins. */
static bough_status go_to(bough_context *ctx, bough_retarget *r, bough_multibody_state *state, int32_t from,
                          int32_t until) {
    state->drive = drive, state->drive_data = r;
    for (int32_t k = from; k < until; k++) {
        state->time = k * r->dt;
        BO_TRY(bough_multibody_step(ctx, r->model, state, r->dt));
    }
    state->time = until * r->dt;
    return BOUGH_OK;
}

/* The objective over all steps: infinite where the simulation fails, which the curves of a window need not. */
static bough_status value_of_all(bough_context *ctx, bough_retarget *r, const bough_multibody_state *start,
                                 double *value) {
    span whole = {.r = r, .steps = r->step_count, .count = 1, .start = start};
    bough_status status = make_span(ctx, &whole);
    if (status == BOUGH_OK)
        status = bough_adjoint_value(ctx, whole.adjoint, r->curves->points, value);
    free_span(ctx, &whole);
    if (status <= 0 || status == BOUGH_CANCELLED)
        return status;
    *value = INFINITY;
    return BOUGH_OK;
}

static bough_status search_windows(bough_context *ctx, bough_retarget *r, double window, double overlap) {
    const int32_t step = (int32_t)fmax(1, round(window / r->dt)), more = (int32_t)lround(overlap / r->dt);
    const int32_t count = (r->step_count + step - 1) / step;
    bough_multibody_state *state = NULL, *start = bo_retarget_engine(r)->state;
    BO_TRY(value_of_all(ctx, r, start, &r->first_value));
    bough_status status = bo_copy_state(ctx, r->model, start, &state);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        const int32_t first = i * step, end = first + step + more;
        span s = {.r = r, .first = first, .number = i, .count = count, .start = state};
        s.steps = (end < r->step_count ? end : r->step_count) - first;
        status = make_span(ctx, &s);
        if (status == BOUGH_OK)
            status = search_span(ctx, &s);
        free_span(ctx, &s);
        if (status == BOUGH_OK && i + 1 < count)
            status = go_to(ctx, r, state, first, first + step);
    }
    if (status == BOUGH_OK)
        status = value_of_all(ctx, r, start, &r->value);
    bough_multibody_state_destroy(ctx, state);
    return status;
}

bough_status bough_retarget_run(bough_context *ctx, bough_retarget *r) {
    const double window = r->def.window >= 0 ? r->def.window : r->plan->window;
    const double overlap = r->def.overlap >= 0 ? r->def.overlap : r->plan->overlap;
    r->search = r->def.search != BOUGH_SEARCH_USUAL ? r->def.search : (bough_search_kind)r->plan->search;
    if (r->search == BOUGH_SEARCH_USUAL)
        r->search = BOUGH_SEARCH_GAUSS_NEWTON;
    r->iterations = r->gradients = 0, r->converged = true;
    if (window > 0 && window < r->step_count * r->dt)
        return search_windows(ctx, r, window, overlap);
    span s = {.r = r, .steps = r->step_count, .count = 1, .start = bo_retarget_engine(r)->state};
    bough_status status = make_span(ctx, &s);
    if (status == BOUGH_OK)
        status = search_span(ctx, &s);
    free_span(ctx, &s);
    return status;
}
