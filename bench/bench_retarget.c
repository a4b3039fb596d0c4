/* Derivatives of motions: what a gradient costs beside the simulation that it differentiates, and how exact it is, and
 * what the matrix of Gauss and Newton costs, for the rods and robots of the examples. */
#include "rod_scenes.h"
#include "bench_retarget.h"

#include "multibody/engine_inside.h"
#include "retarget/sensitivity.h"
#include "scene/cook_plan.h"
#include "scene/multibody_scene.h"
#include "scene/scene.h"

#include <bough/retarget.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP 2e-3          /* s */
#define POINTS_A_SECOND 20 /* of a curve */
#define COMPARED 1.0       /* s: of the motion whose derivatives are compared with differences */
enum { SAMPLES = 400, REPEATS = 3, DIRECTIONS = 20 };

/* A system of an example with its animation; all of its bodies are to be where they begin. */
typedef struct {
    bough_context *ctx;
    tree_scene files;
    bo_engine engine;
    const bough_component **components;
    const bo_multibody_plan *plan;
    bough_motor_curves *curves;
    bough_tracked_frame *tracked;
    double *positions;
    bough_adjoint_def def;
} problem;

typedef struct {
    int32_t steps, points;
    double simulation_s, gradient_s; /* CPU, medians */
    double error;                    /* of derivatives, against differences */
    double matrix_s;                 /* CPU: of Gauss and Newton */
    double megabytes;
} figures;

static const multibody_engine *engine_of(const problem *p) {
    return p->engine.data;
}

static bool open_problem(problem *p, const bench_subject *s) {
    bough_context *ctx = p->ctx;
    const bool made = s->text ? tree_scene_write(ctx, s->text, &p->files) : tree_scene_make(ctx, s->name, &p->files);
    if (!made || bough_scene_load(ctx, p->files.path, &p->files.scene) || bo_scene_cook(ctx, p->files.scene))
        return false;
    const bough_scene *scene = p->files.scene;
    const int32_t count = scene->plan ? scene->plan->assembly.component_count : 0;
    p->plan = &((const bo_multibody_scene *)scene->content)->plan;
    p->components = calloc((size_t)count + 1, sizeof *p->components);
    for (int32_t c = 0; c < count; c++)
        p->components[c] = bo_scene_component_at(scene, c);
    const bo_engine_settings settings = {.integrator = scene->integrator, .settle = true};
    return !bo_multibody_engine_create(ctx, p->plan, &bo_multibody_engine, p->components, NULL, 0, &settings,
                                       &p->engine);
}

static bool fit_curves(problem *p, double seconds) {
    const int32_t motors = p->plan->def.motor_count;
    double times[SAMPLES], *values = calloc((size_t)motors * SAMPLES, sizeof *values);
    for (int k = 0; k < SAMPLES; k++) {
        times[k] = seconds * k / (SAMPLES - 1);
        for (int32_t m = 0; m < motors; m++)
            bo_spline_at(&p->plan->drives[m], times[k], &values[SAMPLES * m + k], NULL, NULL);
    }
    const bool good = !bough_motor_curves_create(p->ctx, motors, 3, (int32_t)(POINTS_A_SECOND * seconds) + 3, 0,
                                                 seconds, &p->curves) &&
                      !bough_motor_curves_fit(p->ctx, p->curves, SAMPLES, times, values, true);
    free(values);
    return good;
}

static void track_bodies(problem *p, double seconds) {
    const multibody_engine *e = engine_of(p);
    const int32_t count = p->plan->def.body_count, steps = (int32_t)lround(seconds / STEP);
    p->def = bough_default_adjoint_def();
    p->def.dt = STEP, p->def.step_count = steps;
    p->tracked = calloc((size_t)count, sizeof *p->tracked);
    p->positions = calloc((size_t)count * 3 * (size_t)(steps + 1), sizeof *p->positions);
    for (int32_t b = 0; b < count; b++) {
        double *to = p->positions + (size_t)b * 3 * (size_t)(steps + 1);
        for (int32_t k = 0; k <= steps; k++)
            memcpy(to + 3 * (size_t)k, e->state->u + 7 * b, 3 * sizeof *to);
        p->tracked[b] = (bough_tracked_frame){.frame = bough_default_frame_def(), .position = 1, .positions = to};
        p->tracked[b].frame.body = b;
    }
    p->def.tracked = p->tracked, p->def.tracked_count = count;
    p->def.acceleration_weight = 1e-8;
}

/* After a gradient, whose steps are kept. */
static bool time_matrix(problem *p, bough_adjoint *adjoint, double *seconds) {
    const size_t count = (size_t)(p->curves->motor_count * p->curves->point_count);
    double *H = calloc(count * count, sizeof *H);
    bo_sensitivity *s = NULL;
    bool good = !bo_sensitivity_create(p->ctx, adjoint, 0, &s);
    const double start = app_cpu_seconds();
    good = good && !bo_sensitivity_matrix(p->ctx, s, H);
    *seconds = app_cpu_seconds() - start;
    bo_sensitivity_destroy(p->ctx, s);
    free(H);
    return good;
}

static bool time_both(problem *p, figures *f) {
    const multibody_engine *e = engine_of(p);
    const size_t count = (size_t)(p->curves->motor_count * p->curves->point_count);
    double *gradient = calloc(count, sizeof *gradient), value;
    bough_adjoint *adjoint = NULL;
    bench_times simulations = {0}, gradients = {0};
    bool good = !bough_adjoint_create(p->ctx, e->model, e->state, p->curves, &p->def, &adjoint);
    for (int i = 0; i < REPEATS && good; i++) {
        const double start = app_cpu_seconds();
        good = !bough_adjoint_value(p->ctx, adjoint, p->curves->points, &value);
        const double middle = app_cpu_seconds();
        good = good && !bough_adjoint_gradient(p->ctx, adjoint, p->curves->points, &value, gradient, NULL);
        bench_add(&simulations, middle - start), bench_add(&gradients, app_cpu_seconds() - middle);
        good = good && !app_interrupted();
    }
    double matrix_s = 0;
    good = good && time_matrix(p, adjoint, &matrix_s);
    if (good) {
        bough_adjoint_view view;
        bough_adjoint_look(adjoint, &view);
        *f = (figures){.steps = p->def.step_count,
                       .points = (int32_t)count,
                       .simulation_s = bench_median(&simulations),
                       .gradient_s = bench_median(&gradients),
                       .matrix_s = matrix_s,
                       .megabytes = (double)view.bytes / 1e6};
    }
    bough_adjoint_destroy(p->ctx, adjoint);
    free(gradient);
    return good;
}

/* The derivative along a way, by differences of fourth order of simulations to rounding. */
static bool differ(problem *p, bough_adjoint *adjoint, const double *way, double h, double *trial, double *found) {
    static const double places[4] = {-2, -1, 1, 2}, factors[4] = {1, -8, 8, -1};
    const int32_t count = p->curves->motor_count * p->curves->point_count;
    double value;
    *found = 0;
    for (int k = 0; k < 4; k++) {
        for (int32_t i = 0; i < count; i++)
            trial[i] = p->curves->points[i] + places[k] * h * way[i];
        if (bough_adjoint_value(p->ctx, adjoint, trial, &value) || app_interrupted())
            return false;
        *found += factors[k] * value / (12 * h);
    }
    return true;
}

/* Along random directions. Long differences miss where motions are far from linear in their curves, short ones by
 * rounding: the second is taken where the first is not good. */
static bool compare(problem *p, figures *f) {
    static const double steps[2] = {1e-4, 1e-6};
    const double good_enough = 1e-9;
    const int32_t count = p->curves->motor_count * p->curves->point_count;
    const multibody_engine *e = engine_of(p);
    double *gradient = calloc(3 * (size_t)count, sizeof *gradient), *way = gradient + count, *trial = way + count,
           value;
    bough_adjoint *adjoint = NULL;
    p->def.tolerance = 1e-13, p->def.step_count = (int32_t)lround(COMPARED / STEP);
    bool good = !bough_adjoint_create(p->ctx, e->model, e->state, p->curves, &p->def, &adjoint) &&
                !bough_adjoint_gradient(p->ctx, adjoint, p->curves->points, &value, gradient, NULL);
    uint32_t random = 1;
    for (int d = 0; d < DIRECTIONS && good; d++) {
        double along = 0, size = 0, difference = 0, error = INFINITY;
        for (int32_t i = 0; i < count; i++) {
            random = random * 1664525u + 1013904223u;
            way[i] = i % p->curves->point_count < 3 ? 0 : random / 2147483648. - 1;
            along += gradient[i] * way[i], size += fabs(gradient[i] * way[i]);
        }
        for (int k = 0; k < 2 && good && error > good_enough; k++) {
            good = differ(p, adjoint, way, steps[k], trial, &difference);
            error = fmin(error, fabs(along - difference) / size);
        }
        f->error = fmax(f->error, error);
    }
    bough_adjoint_destroy(p->ctx, adjoint);
    free(gradient);
    return good;
}

static bool measure(bough_context *ctx, const bench_subject *s, figures *f) {
    problem p = {.ctx = ctx};
    bool good = open_problem(&p, s) && fit_curves(&p, s->smooth);
    if (good)
        track_bodies(&p, s->smooth);
    good = good && time_both(&p, f) && compare(&p, f);
    if (!good)
        bench_fail(ctx);
    bough_motor_curves_destroy(ctx, p.curves);
    bo_engine_destroy(ctx, &p.engine);
    tree_scene_close(&p.files);
    free(p.components), free(p.tracked), free(p.positions);
    return good;
}

int bench_retarget(const bench_options *options) {
    static const bench_subject subjects[] = {
        {"one-rod", one_rod_scene, 2.5, 18, true, 2.5}, {"two-rods", two_rods_scene, 2.5, 36, true, 2.5},
        {"dancer", NULL, 8.5, 240, true, 8.5},          {"bartender", NULL, 8.5, 240, false, 8.5},
        {"rapper", NULL, 10, 480, false, 4.5},          {"drummer", NULL, 10, 480, false, 10},
        {"boxer", NULL, 9.75, 480, false, 9.75}};
    bough_context *ctx = app_context(options->threads > 0 ? options->threads : 1);
    json_t *rows = options->json ? json_array() : NULL;
    bool good = true;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && good; i++) {
        figures f = {0};
        if (!(good = measure(ctx, &subjects[i], &f)))
            break;
        if (rows)
            json_array_append_new(rows, json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f}", "scene",
                                                  subjects[i].name, "steps", (int)f.steps, "points", (int)f.points,
                                                  "simulation_s", f.simulation_s, "gradient_s", f.gradient_s, "ratio",
                                                  f.gradient_s / f.simulation_s, "error", f.error, "megabytes",
                                                  f.megabytes, "matrix_s", f.matrix_s));
        else
            printf(
                "  %-10s %5d steps, %4d points: simulation %7.3f s, gradient %7.3f s, %5.2f times (required: at most "
                "2.5); error %.1e; %5.1f MB; matrix %7.3f s\n",
                subjects[i].name, (int)f.steps, (int)f.points, f.simulation_s, f.gradient_s,
                f.gradient_s / f.simulation_s, f.error, f.megabytes, f.matrix_s);
        fflush(stdout); /* the next takes a while */
    }
    bough_context_destroy(ctx);
    ctx = app_context(options->threads); /* searches take all cores */
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && good; i++)
        good = bench_search(ctx, &subjects[i], rows);
    return bench_end(ctx, rows, good);
}
