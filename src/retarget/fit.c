/* Material constants from a measured trajectory: parameters, windows, and what the result is worth. */
#include "base/jobs.h"
#include "retarget/least_squares.h"
#include "retarget/simulate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIT_COOKIE 0xB0061060u
/* The search begins with a little damping where the scene has none: logarithms of 0 lead nowhere. */
#define FIRST_DAMPING_MASS 0.05      /* 1/s */
#define FIRST_DAMPING_STIFFNESS 1e-4 /* s */
#define SEARCHED 25                  /* Young's moduli ... */
#define SEARCH_RANGE 3.0             /* ... from a third to three times the scene's */
#define SEARCH_GAIN 0.9              /* another modulus must leave less than this of the squares */
#define LEAST_CHANGE 1e-9            /* m: a parameter that moves the marker by less has no influence */
#define UNKNOWN 1.0                  /* standard deviation of a logarithm: not even the order of magnitude is known */
#define LEAST_STEP 0.02              /* of standard deviations: the search ends */
#define ROUGH_STEP 0.5               /* the same while only a part of the samples counts */
#define TOGETHER 0.98                /* correlation from which two parameters are told apart badly */

bough_fit_def bough_default_fit_def(void) {
    return (bough_fit_def){.cookie = FIT_COOKIE,
                           .young = true,
                           .damping_stiffness = true,
                           .start = true,
                           .search = true,
                           .max_iterations = 40};
}

/* ---- parameters ---- */

static const struct {
    const char *name, *unit, *about;
    bool logarithm;
} kinds[BOUGH_FIT_KIND_COUNT] = {
#define KIND(id, name, unit, about) \
    [BOUGH_FIT_##id] = {name, unit, about, BOUGH_FIT_##id <= BOUGH_FIT_DAMPING_STIFFNESS},
    BOUGH_FIT_LIST(KIND)
#undef KIND
};

/* Steps of logarithms: small enough for the phase of a hundred vibrations, large enough against Newton's tolerance. */
static double difference_of(bough_fit_kind kind) {
    return kind == BOUGH_FIT_YOUNG ? 1e-3 : kinds[kind].logarithm ? 1e-2 : 1e-4;
}

static double most_step_of(bough_fit_kind kind, double duration) {
    return kind == BOUGH_FIT_YOUNG ? 0.3 : kinds[kind].logarithm ? 1.5 : kind == BOUGH_FIT_START ? duration / 10 : 0.1;
}

/* A parameter may go this far from where it began. */
static double range_of(bough_fit_kind kind, double duration) {
    return kind == BOUGH_FIT_YOUNG   ? log(100)
           : kinds[kind].logarithm   ? log(1e4)
           : kind == BOUGH_FIT_START ? duration / 2
                                     : 10;
}

typedef struct {
    const bough_fit_def *def;
    bo_fit_scene scene;
    int32_t p;
    bough_fit_kind kinds[BOUGH_FIT_KIND_COUNT];
    double first[BO_MOST_PARAMETERS], x[BO_MOST_PARAMETERS];
    int32_t window; /* samples that count now: the first ones */
    int32_t simulations, iterations;
    double *runs;       /* 2 p trajectories, side by side */
    double *velocities; /* 3 sample_count */
    bo_least_squares_room room;
    bo_least_squares_result result;
    bool has_jacobian; /* of `window` samples */
} fitter;

static double *value_of(bo_fit_values *values, bough_fit_kind kind) {
    switch (kind) {
    case BOUGH_FIT_YOUNG:
        return &values->factor;
    case BOUGH_FIT_DAMPING_MASS:
        return &values->damping_mass;
    case BOUGH_FIT_DAMPING_STIFFNESS:
        return &values->damping_stiffness;
    case BOUGH_FIT_START:
        return &values->start;
    default:
        return &values->release[kind - BOUGH_FIT_RELEASE_1];
    }
}

static bo_fit_values values_at(const fitter *f, const double *x) {
    bo_fit_values values = bo_fit_scene_values(&f->scene);
    for (int32_t i = 0; i < f->p; i++)
        *value_of(&values, f->kinds[i]) = kinds[f->kinds[i]].logarithm ? exp(x[i]) : x[i];
    return values;
}

static void add(fitter *f, bough_fit_kind kind, double first) {
    f->kinds[f->p] = kind;
    f->x[f->p] = f->first[f->p] = kinds[kind].logarithm ? log(first) : first;
    f->p++;
}

/* The release begins as far aside as the marker is first seen. */
static void list_parameters(fitter *f) {
    const bough_fit_def *def = f->def;
    const bo_fit_scene *scene = &f->scene;
    if (def->young)
        add(f, BOUGH_FIT_YOUNG, 1);
    if (def->damping_mass)
        add(f, BOUGH_FIT_DAMPING_MASS, scene->damping_mass > 0 ? scene->damping_mass : FIRST_DAMPING_MASS);
    if (def->damping_stiffness)
        add(f, BOUGH_FIT_DAMPING_STIFFNESS,
            scene->damping_stiffness > 0 ? scene->damping_stiffness : FIRST_DAMPING_STIFFNESS);
    if (def->start)
        add(f, BOUGH_FIT_START, 0);
    for (int32_t k = 0; k < scene->release.count; k++) {
        double way = 0;
        for (int d = 0; d < 3; d++)
            way += scene->release.directions[k][d] * (def->positions[d] - scene->release.rest[d]);
        add(f, (bough_fit_kind)(BOUGH_FIT_RELEASE_1 + k), way);
    }
}

/* ---- residuals ---- */

static bough_status residual(bough_context *ctx, void *data, const double *x, double *r) {
    fitter *f = data;
    const bo_fit_values values = values_at(f, x);
    f->simulations++;
    BO_TRY(bo_fit_simulate(ctx, &f->scene, &values, f->scene.dt, f->window, f->def->times, r, NULL));
    for (int32_t i = 0; i < 3 * f->window; i++)
        r[i] -= f->def->positions[i];
    return BOUGH_OK;
}

typedef struct {
    fitter *f;
    const double *x;
} difference;

static double *run_of(const fitter *f, int32_t number) {
    return f->runs + 3 * (size_t)f->def->sample_count * (size_t)number;
}

/* Simulations 2 i and 2 i + 1 are on both sides of parameter i; the start needs one for its velocities only. */
static bough_status differ(bough_context *ctx, void *data, int32_t index) {
    const difference *d = data;
    fitter *f = d->f;
    const int32_t i = index / 2;
    const bool start = f->kinds[i] == BOUGH_FIT_START;
    if (start && index % 2 == 1)
        return BOUGH_OK;
    double x[BO_MOST_PARAMETERS];
    memcpy(x, d->x, (size_t)f->p * sizeof *x);
    if (!start)
        x[i] += (index % 2 == 0 ? -1 : 1) * difference_of(f->kinds[i]);
    const bo_fit_values values = values_at(f, x);
    return bo_fit_simulate(ctx, &f->scene, &values, f->scene.dt, f->window, f->def->times, run_of(f, index),
                           start ? f->velocities : NULL);
}

static bough_status jacobian(bough_context *ctx, void *data, const double *x, double *J) {
    fitter *f = data;
    difference d = {f, x};
    const int32_t n = 3 * f->window;
    BO_TRY(bo_run_jobs(ctx, differ, &d, 2 * f->p, "fitting"));
    for (int32_t i = 0; i < f->p; i++) {
        const double *before = run_of(f, 2 * i), *behind = run_of(f, 2 * i + 1);
        const bool start = f->kinds[i] == BOUGH_FIT_START;
        const double h = difference_of(f->kinds[i]);
        f->simulations += start ? 1 : 2;
        for (int32_t k = 0; k < n; k++) /* a later start: the marker is where it was before */
            J[(size_t)i * (size_t)n + (size_t)k] = start ? -f->velocities[k] : (behind[k] - before[k]) / (2 * h);
    }
    f->has_jacobian = true;
    return BOUGH_OK;
}

/* ---- the search ---- */

static double shown_young(const fitter *f, double factor) {
    return isnan(f->scene.young) ? factor : factor * f->scene.young;
}

static bool tell(bough_context *ctx, void *data, int32_t iteration, const double *x, double sum) {
    fitter *f = data;
    const bo_fit_values values = values_at(f, x);
    (void)iteration;
    f->iterations++;
    snprintf(f->scene.news, sizeof f->scene.news, "iteration %d, rms %.3g mm, Young's modulus %.5g%s", f->iterations,
             1e3 * sqrt(sum / f->window), shown_young(f, values.factor), isnan(f->scene.young) ? " times" : " Pa");
    return bo_progress(ctx, "fitting", (double)f->window / f->def->sample_count, "%s", f->scene.news);
}

/* Sum of the squared distances of the first samples from their mean. */
static double spread(const bough_fit_def *def, int32_t count) {
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double mean = 0;
        for (int32_t i = 0; i < count; i++)
            mean += def->positions[3 * i + d] / count;
        for (int32_t i = 0; i < count; i++)
            sum += (def->positions[3 * i + d] - mean) * (def->positions[3 * i + d] - mean);
    }
    return sum;
}

/* A wrong frequency is out of step after many vibrations, and the squares then have many minima; in the first quarter
 * they have fewer. Unless little happens there. */
static int32_t first_window(const bough_fit_def *def) {
    const int32_t count = def->sample_count;
    const double all = spread(def, count);
    for (int32_t part = 4; part > 1; part /= 2)
        if (count / part >= 4 * BOUGH_FIT_FEWEST && spread(def, count / part) > 0.4 / part * all)
            return count / part;
    return count;
}

typedef struct {
    fitter *f;
    double sums[SEARCHED];
} modulus_search;

static double searched(int32_t index) {
    return (2.0 * index / (SEARCHED - 1) - 1) * log(SEARCH_RANGE);
}

static bough_status try_modulus(bough_context *ctx, void *data, int32_t index) {
    modulus_search *search = data;
    const fitter *f = search->f;
    double x[BO_MOST_PARAMETERS], *positions = BO_NEW_ARRAY(ctx, double, 3 * (size_t)f->window);
    if (!positions)
        return BOUGH_ERROR_MEMORY;
    memcpy(x, f->x, sizeof x);
    x[0] += searched(index);
    const bo_fit_values values = values_at(f, x);
    const bough_status status =
        bo_fit_simulate(ctx, &f->scene, &values, f->scene.dt, f->window, f->def->times, positions, NULL);
    search->sums[index] = status == BOUGH_OK ? 0 : INFINITY;
    for (int32_t i = 0; i < 3 * f->window && status == BOUGH_OK; i++)
        search->sums[index] += (positions[i] - f->def->positions[i]) * (positions[i] - f->def->positions[i]);
    bo_free(ctx, positions);
    return status > 0 && status != BOUGH_CANCELLED ? BOUGH_OK : status;
}

/* Begins where the first samples fit best. Young's modulus is the first parameter. */
static bough_status search_modulus(bough_context *ctx, fitter *f) {
    modulus_search search = {.f = f};
    snprintf(f->scene.news, sizeof f->scene.news, "looking for Young's modulus");
    BO_TRY(bo_run_jobs(ctx, try_modulus, &search, SEARCHED, "fitting"));
    f->simulations += SEARCHED;
    int32_t best = SEARCHED / 2; /* the scene's own */
    const double own = search.sums[best], least = LEAST_CHANGE * LEAST_CHANGE * f->window;
    for (int32_t i = 0; i < SEARCHED; i++)
        if (search.sums[i] < SEARCH_GAIN * own - least && search.sums[i] < search.sums[best])
            best = i;
    f->x[0] += searched(best);
    return BOUGH_OK;
}

static bough_status search(bough_context *ctx, fitter *f) {
    const bough_fit_def *def = f->def;
    const double duration = def->times[def->sample_count - 1] - def->times[0];
    bo_least_squares problem = {.p = f->p,
                                .residual = residual,
                                .jacobian = jacobian,
                                .tell = tell,
                                .data = f,
                                .least_change = LEAST_CHANGE,
                                .max_iterations = def->max_iterations};
    for (int32_t i = 0; i < f->p; i++) {
        const double range = range_of(f->kinds[i], duration);
        problem.most_step[i] = most_step_of(f->kinds[i], duration);
        problem.lowest[i] = f->first[i] - range, problem.highest[i] = f->first[i] + range;
    }
    f->window = def->search ? first_window(def) : def->sample_count;
    if (def->search && def->young)
        BO_TRY(search_modulus(ctx, f));
    for (;; f->window = f->window < def->sample_count / 2 ? 2 * f->window : def->sample_count) {
        problem.n = 3 * f->window;
        problem.least_step = f->window < def->sample_count ? ROUGH_STEP : LEAST_STEP;
        f->has_jacobian = false;
        BO_TRY(bo_least_squares_run(ctx, &problem, &f->room, f->x, &f->result));
        if (f->window == def->sample_count)
            return BOUGH_OK;
    }
}

/* ---- what the result is worth ---- */

/* Sums over neighbours in time, of all three coordinates, against the sum of squares. */
static double neighbour_correlation(int32_t count, const double *r) {
    double with = 0, own = 0;
    for (int32_t i = 0; i < 3 * count; i++) {
        own += r[i] * r[i];
        with += i >= 3 ? r[i] * r[i - 3] : 0;
    }
    return own > 0 ? with / own : 0;
}

/* The other of two kinds of damping that are fitted, if this one has gone to nothing, which hides its influence; else
 * -1. */
static int32_t winner_over(const fitter *f, int32_t i) {
    const bough_fit_kind own = f->kinds[i],
                         other = own == BOUGH_FIT_DAMPING_MASS ? BOUGH_FIT_DAMPING_STIFFNESS : BOUGH_FIT_DAMPING_MASS;
    const bool damping = own == BOUGH_FIT_DAMPING_MASS || own == BOUGH_FIT_DAMPING_STIFFNESS;
    for (int32_t k = 0; k < f->p && damping && f->x[i] < f->first[i] - log(100); k++)
        if (f->kinds[k] == other)
            return k;
    return -1;
}

/* The sentence for a parameter of which little is known. alone: its deviation if all others were known. */
static void explain(const fitter *f, int32_t i, bool still, double alone, const bough_fit *fit, bough_fit_value *v) {
    int32_t with = -1;
    for (int32_t k = 0; k < f->p; k++)
        if (k != i && fabs(fit->correlation[i * f->p + k]) > TOGETHER &&
            (with < 0 || fabs(fit->correlation[i * f->p + k]) > fabs(fit->correlation[i * f->p + with])))
            with = k;
    if (still && winner_over(f, i) >= 0)
        snprintf(v->reason, sizeof v->reason,
                 "this motion cannot tell it from %s, which took all of it; fit one of them, or excite a second "
                 "vibration",
                 kinds[f->kinds[winner_over(f, i)]].about);
    else if (still)
        snprintf(v->reason, sizeof v->reason,
                 "it changes nothing here: the marker hardly moves, or hangs on no part that is fitted");
    else if (with >= 0 && alone < UNKNOWN)
        snprintf(v->reason, sizeof v->reason,
                 "this motion cannot tell it from %s (correlation %.4f); fit one of them, or excite a second vibration",
                 kinds[f->kinds[with]].about, fit->correlation[i * f->p + with]);
    else
        snprintf(v->reason, sizeof v->reason,
                 "its influence is lost in the noise: a tenth more of it moves the marker by %.2g mm, and %.2g mm of "
                 "noise are left",
                 1e2 * fit->noise / alone / sqrt(3.0 * f->window), 1e3 * fit->noise);
}

static void judge(const fitter *f, int32_t i, bool still, double deviation, double alone, bough_fit *fit) {
    bough_fit_value *v = &fit->values[i];
    const bough_fit_kind kind = f->kinds[i];
    const bool logarithm = kinds[kind].logarithm;
    const double range = range_of(kind, f->def->times[f->def->sample_count - 1] - f->def->times[0]);
    const double q = bo_student_95(fmax(1, 3 * f->window - f->p)) * deviation;
    const double unit = kind == BOUGH_FIT_YOUNG && !isnan(f->scene.young) ? f->scene.young : 1;
    v->kind = kind, v->name = kinds[kind].name;
    v->unit = kind == BOUGH_FIT_YOUNG && isnan(f->scene.young) ? "" : kinds[kind].unit;
    v->first = unit * (logarithm ? exp(f->first[i]) : f->first[i]);
    v->value = unit * (logarithm ? exp(f->x[i]) : f->x[i]);
    v->deviation = deviation, v->step_shift = NAN;
    v->lower = logarithm ? v->value * exp(-q) : v->value - q;
    v->upper = logarithm ? v->value * exp(q) : v->value + q;
    v->known = !still && (!logarithm || deviation < UNKNOWN) && isfinite(deviation);
    /* The interval excludes the scene's value, though that fits as well: the squares are no parabola here. */
    const double loss = (fit->first_rms * fit->first_rms - fit->rms * fit->rms) * f->window;
    const bool as_well = logarithm && fabs(f->x[i] - f->first[i]) > q && loss < 4 * f->p * fit->noise * fit->noise;
    if (!(f->x[i] > f->first[i] - 0.999 * range) && kind != BOUGH_FIT_YOUNG && logarithm)
        v->known = false, snprintf(v->reason, sizeof v->reason, "it is too small to be told from 0");
    else if (!(fabs(f->x[i] - f->first[i]) < 0.999 * range)) {
        v->known = false;
        snprintf(v->reason, sizeof v->reason, "it ran to the limit of the search: begin with a scene that is nearer");
    } else if (!v->known)
        explain(f, i, still, alone, fit, v);
    else if (as_well && f->window == f->def->sample_count) {
        v->known = false;
        snprintf(v->reason, sizeof v->reason, "the value of the scene fits as well; excite the part more strongly");
    }
    if (!v->known)
        v->lower = logarithm ? 0 : -INFINITY, v->upper = INFINITY;
}

static void judge_all(const fitter *f, double *C, bough_fit *fit) {
    bool still[BO_MOST_PARAMETERS];
    const int32_t n = 3 * f->window, p = f->p;
    const double variance = f->result.sum / fmax(1, n - p);
    bo_least_squares_covariance(n, p, f->room.J, LEAST_CHANGE, still, C);
    for (int32_t i = 0; i < p; i++)
        for (int32_t k = 0; k < p; k++)
            fit->correlation[i * p + k] =
                still[i] || still[k] ? i == k : C[i * p + k] / sqrt(C[i * p + i] * C[k * p + k]);
    for (int32_t i = 0; i < p; i++) {
        double square = 0;
        for (int32_t k = 0; k < n; k++)
            square += f->room.J[(size_t)i * (size_t)n + (size_t)k] * f->room.J[(size_t)i * (size_t)n + (size_t)k];
        judge(f, i, still[i], sqrt(variance * C[i * p + i]), sqrt(variance / square), fit);
    }
}

/* Half the step leaves a quarter of its error: what is between both is three quarters of it. */
static bough_status judge_step(bough_context *ctx, fitter *f, const double *C, bough_fit *fit) {
    const bo_fit_values values = values_at(f, f->x);
    const int32_t n = 3 * f->window;
    double *fine = run_of(f, 0), shift[BO_MOST_PARAMETERS];
    BO_TRY(bo_fit_simulate(ctx, &f->scene, &values, f->scene.dt / 2, f->window, f->def->times, fine, NULL));
    f->simulations++;
    for (int32_t i = 0; i < n; i++)
        fine[i] -= f->def->positions[i] + f->room.r[i];
    bo_least_squares_follow(n, f->p, f->room.J, C, fine, shift);
    for (int32_t i = 0; i < f->p; i++)
        if (fit->values[i].known)
            fit->values[i].step_shift = -4 * shift[i] / 3;
    return BOUGH_OK;
}

static void describe(const fitter *f, bough_fit *fit) {
    const int32_t n = 3 * f->window;
    const bo_fit_values values = values_at(f, f->x);
    fit->count = f->p, fit->sample_count = f->window, fit->iterations = f->iterations;
    fit->converged = f->result.converged && f->window == f->def->sample_count;
    fit->rms = sqrt(f->result.sum / f->window);
    fit->noise = sqrt(f->result.sum / fmax(1, n - f->p));
    fit->residual_correlation = neighbour_correlation(f->window, f->room.r);
    fit->damping_mass = values.damping_mass, fit->damping_stiffness = values.damping_stiffness;
    fit->factor = values.factor, fit->young = f->scene.young, fit->dt = f->scene.dt;
    for (int32_t i = 0; i < 3 * f->def->sample_count; i++)
        fit->trajectory[i] = i < n ? f->def->positions[i] + f->room.r[i] : NAN;
}

/* ---- fitting ---- */

static bough_status check_samples(bough_context *ctx, const bough_fit_def *def) {
    if (def->sample_count < BOUGH_FIT_FEWEST)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a fit needs at least %d samples, not %d", BOUGH_FIT_FEWEST,
                       def->sample_count);
    for (int32_t i = 0; i < def->sample_count; i++) {
        const double *x = def->positions + 3 * (size_t)i;
        if (!isfinite(def->times[i]) || !isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "sample %d is not finite", i + 1);
        if (i > 0 && !(def->times[i] > def->times[i - 1]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "times must ascend, but that of sample %d (%g s) follows %g s",
                           i + 1, def->times[i], def->times[i - 1]);
    }
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, const bough_fit_def *def) {
    if (def->cookie != FIT_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the fit def was not made by bough_default_fit_def()");
    if (!def->marker)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a fit needs a marker: a probe or a body of the scene");
    if (!def->young && !def->damping_mass && !def->damping_stiffness)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "nothing is to be fitted: neither Young's modulus nor damping");
    if (!(def->dt >= 0) || !isfinite(def->dt))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time step is %g s; it must be positive, or 0: the scene's",
                       def->dt);
    if (def->max_iterations < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a fit takes at least one iteration, not %d", def->max_iterations);
    return check_samples(ctx, def);
}

/* The best so far is kept when somebody cancels. */
static bough_status run(bough_context *ctx, fitter *f, bough_fit *fit, bool *useful) {
    const bough_fit_def *def = f->def;
    double C[BO_MOST_PARAMETERS * BO_MOST_PARAMETERS];
    BO_TRY(bo_fit_scene_make(ctx, f->scene.scene, def, &f->scene));
    list_parameters(f);
    f->runs = BO_NEW_ZEROS(ctx, double, 3 * (size_t)def->sample_count * (size_t)(2 * f->p));
    f->velocities = BO_NEW_ZEROS(ctx, double, 3 * (size_t)def->sample_count);
    fit->trajectory = BO_NEW_ZEROS(ctx, double, 3 * (size_t)def->sample_count);
    if (!f->runs || !f->velocities || !fit->trajectory)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_least_squares_make(ctx, 3 * def->sample_count, f->p, &f->room));
    f->window = def->sample_count;
    BO_TRY(residual(ctx, f, f->x, f->room.r));
    for (int32_t i = 0; i < 3 * f->window; i++)
        fit->first_rms += f->room.r[i] * f->room.r[i] / f->window;
    fit->first_rms = sqrt(fit->first_rms);
    bough_status status = search(ctx, f);
    *useful = f->has_jacobian && (status == BOUGH_OK || status == BOUGH_CANCELLED);
    if (!*useful)
        return status;
    describe(f, fit);
    judge_all(f, C, fit);
    if (status == BOUGH_OK)
        status = judge_step(ctx, f, C, fit);
    fit->simulations = f->simulations;
    return status > 0 && status != BOUGH_CANCELLED ? BOUGH_OK : status; /* steps of half the size failed: no matter */
}

bough_status bough_fit_scene(bough_context *ctx, const bough_scene *scene, const bough_fit_def *def, bough_fit **out) {
    *out = NULL;
    BO_TRY(check_def(ctx, def));
    bough_fit *fit = BO_NEW(ctx, bough_fit);
    if (!fit)
        return BOUGH_ERROR_MEMORY;
    fitter f = {.def = def, .scene = {.scene = scene}};
    bool useful = false;
    const bough_status status = run(ctx, &f, fit, &useful);
    bo_fit_scene_free(ctx, &f.scene);
    bo_least_squares_free(ctx, &f.room);
    bo_free(ctx, f.runs);
    bo_free(ctx, f.velocities);
    if (useful && (status == BOUGH_OK || status == BOUGH_CANCELLED))
        *out = fit;
    else
        bough_fit_destroy(ctx, fit);
    return status;
}

void bough_fit_destroy(bough_context *ctx, bough_fit *fit) {
    if (!fit)
        return;
    bo_free(ctx, fit->trajectory);
    bo_free(ctx, fit);
}
