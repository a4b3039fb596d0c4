/* The dancer beside its full-order twin, in one run: how far the hands are from where they should be, and how many times
 * longer a step takes. */
#include "tree_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP 5e-4 /* s */

/* Cells across the rods, and how many times the example's along them. "paper" has 78,057 unknowns; the dancer of Hoshyari
 * et al. 2019 has 81,552. */
typedef struct {
    const char *name;
    int along, across;
    double seconds; /* that are simulated: it waits for 0.4 s and then lifts an arm */
} grain;

typedef struct {
    size_t count;
    double *us;    /* CPU time of each step */
    double *hands; /* count x 6: positions of both */
    double iterations;
} history;

static bool refine(bough_context *ctx, const grain *g, tree_scene *files) {
    json_t *scene = json_load_file(files->path, 0, NULL), *component;
    const char *name;
    json_object_foreach(json_object_get(scene, "components"), name, component) {
        json_t *cells = json_object_get(json_object_get(component, "mesh"), "cells");
        const json_int_t along = json_integer_value(json_array_get(cells, 0));
        json_array_set_new(cells, 0, json_integer(g->along * along));
        json_array_set_new(cells, 1, json_integer(g->across));
        json_array_set_new(cells, 2, json_integer(g->across));
    }
    const bool good = scene && json_dump_file(scene, files->path, 0) == 0;
    json_decref(scene);
    return good && !bough_scene_load(ctx, files->path, &files->scene);
}

static int32_t column_of(const bough_run *run, const char *name) {
    for (int32_t c = 0; c < bough_run_column_count(run); c++)
        if (!strcmp(bough_run_column_name(run, c), name))
            return c;
    return 0;
}

static bool step_all(bough_context *ctx, bough_run *run, history *h) {
    const int32_t left = column_of(run, "left hand.x"), right = column_of(run, "right hand.x");
    bough_run_report report;
    for (size_t i = 0; i < h->count; i++) {
        const double start = app_cpu_seconds();
        if (bough_run_step(ctx, run) || app_interrupted())
            return false;
        h->us[i] = 1e6 * (app_cpu_seconds() - start);
        const double *values = bough_run_values(run);
        memcpy(h->hands + 6 * i, values + left, 3 * sizeof *values);
        memcpy(h->hands + 6 * i + 3, values + right, 3 * sizeof *values);
    }
    bough_run_look(run, &report);
    h->iterations = (double)report.iterations / (double)h->count;
    return true;
}

static bool follow(bough_context *ctx, const bough_scene *scene, const char *engine, double seconds, history *h) {
    bough_run *run = NULL;
    bough_run_def def = bough_default_run_def();
    def.live = true, def.dt = STEP, def.engine = engine;
    h->count = (size_t)lround(seconds / STEP);
    h->us = calloc(h->count, sizeof *h->us), h->hands = calloc(6 * h->count, sizeof *h->hands);
    const bool good = h->us && h->hands && !bough_run_create(ctx, scene, &def, &run) && step_all(ctx, run, h);
    bough_run_destroy(ctx, run);
    return good;
}

/* Root mean square distance between the two, over that of the twin's hand from its mean; hand: 0 or 3. */
static double deviation(const history *reduced, const history *full, size_t hand) {
    double mean[3] = {0}, apart = 0, motion = 0;
    for (size_t i = 0; i < full->count; i++)
        for (size_t d = 0; d < 3; d++)
            mean[d] += full->hands[6 * i + hand + d] / (double)full->count;
    for (size_t i = 0; i < full->count; i++)
        for (size_t d = 0; d < 3; d++) {
            const double x = full->hands[6 * i + hand + d];
            apart += pow(reduced->hands[6 * i + hand + d] - x, 2), motion += pow(x - mean[d], 2);
        }
    return sqrt(apart / motion);
}

static void report(const grain *g, history *reduced, history *full, json_t *rows) {
    const double left = deviation(reduced, full, 0), right = deviation(reduced, full, 3);
    const double us[2] = {median_of(reduced->count, reduced->us), median_of(full->count, full->us)};
    if (rows)
        json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "mesh", g->name,
                                              "seconds", g->seconds, "left", left, "right", right, "reduced_us", us[0],
                                              "full_us", us[1], "ratio", us[1] / us[0], "reduced_iterations",
                                              reduced->iterations, "full_iterations", full->iterations));
    else
        printf(
            "  %-8s over %.1f s: hands %.2g %% and %.2g %% of their motion off; a step takes %.1f us reduced, %.0f us "
            "in full (%.2f and %.2f iterations): %.0f times as long\n",
            g->name, g->seconds, 100 * left, 100 * right, us[0], us[1], reduced->iterations, full->iterations,
            us[1] / us[0]);
}

static bool compare(bough_context *ctx, const grain *g, json_t *rows) {
    tree_scene files;
    history reduced = {0}, full = {0};
    const bool good = tree_scene_make(ctx, "dancer", &files) && refine(ctx, g, &files) &&
                      follow(ctx, files.scene, NULL, g->seconds, &reduced) &&
                      follow(ctx, files.scene, "full", g->seconds, &full);
    if (good)
        report(g, &reduced, &full, rows);
    else
        bench_fail(ctx);
    free(reduced.us), free(reduced.hands), free(full.us), free(full.hands);
    tree_scene_close(&files);
    return good;
}

int bench_twin(const bench_options *options) {
    static const grain grains[] = {{"example", 1, 1, 2}, {"paper", 8, 3, 0.1}, {"between", 4, 2, 0.6}};
    bough_context *ctx = app_context(1);
    json_t *rows = options->json ? json_array() : NULL;
    bool good = true;
    for (int32_t i = 0; i < options->size + 1 && good; i++)
        good = compare(ctx, &grains[i], rows);
    return bench_end(ctx, rows, good);
}
