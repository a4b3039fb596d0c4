/* Multibody systems: steps of 0.5 ms of the rods and robots of the examples, and of chains of flexible links. */
#include "rod_scenes.h"
#include "tree_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP 5e-4 /* s: as in Hoshyari et al. 2019, table 1 */

typedef struct {
    const char *name;
    const char *text;     /* NULL: an example */
    double seconds;       /* that are simulated */
    double paper, wanted; /* steps a second */
} subject;

typedef struct {
    size_t count;
    double median_us, p99_us, mean_us, iterations;
} figures;

/* CPU time, since others use the machine too; without energies and probes. */
static bool time_run(bough_context *ctx, bough_run *run, double seconds, figures *f) {
    bough_run_report report;
    f->count = (size_t)(seconds / STEP);
    double *us = calloc(f->count + 1, sizeof *us), sum = 0;
    bool good = us && f->count > 0;
    for (size_t i = 0; i < f->count && good; i++) {
        const double start = app_cpu_seconds();
        good = !bough_run_step(ctx, run) && !app_interrupted();
        us[i] = 1e6 * (app_cpu_seconds() - start);
        sum += us[i];
    }
    bough_run_look(run, &report);
    if (good) {
        f->mean_us = sum / (double)f->count;
        f->iterations = (double)report.iterations / (double)f->count;
        f->median_us = median_of(f->count, us);
        f->p99_us = us[f->count * 99 / 100];
    }
    free(us);
    return good;
}

static bool measure(bough_context *ctx, const subject *s, figures *f) {
    tree_scene files;
    bough_run *run = NULL;
    bough_run_def def = bough_default_run_def();
    def.live = true, def.dt = STEP;
    const bool made = s->text ? tree_scene_write(ctx, s->text, &files) : tree_scene_make(ctx, s->name, &files);
    const bool good = made && !bough_scene_load(ctx, files.path, &files.scene) &&
                      !bough_run_create(ctx, files.scene, &def, &run) && time_run(ctx, run, s->seconds, f);
    if (!good)
        bench_fail(ctx);
    bough_run_destroy(ctx, run);
    tree_scene_close(&files);
    return good;
}

static void report(const subject *s, const figures *f, json_t *rows) {
    if (rows)
        json_array_append_new(rows, json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "scene", s->name,
                                              "steps", (int)f->count, "dt", STEP, "step_us_median", f->median_us,
                                              "step_us_p99", f->p99_us, "iterations", f->iterations, "steps_a_second",
                                              1e6 / f->mean_us, "required", s->wanted, "paper", s->paper));
    else
        printf("  %-10s %6.1f us a step, median; 99 %% below %6.1f; %4.2f iterations; %6.0f steps a second (required "
               "%.0f, paper %.0f)\n",
               s->name, f->median_us, f->p99_us, f->iterations, 1e6 / f->mean_us, s->wanted, s->paper);
}

/* ---- chains ---- */

/* Links of a rod and a small body, which hinges connect, hang from the world and swing. */
static char *chain_text(int32_t links) {
    char *text = malloc(4000 + 1000 * (size_t)links), *at = text;
    if (!text)
        return NULL;
    at += sprintf(
        at, "{\"bough\": 1, \"components\": {\"rod\": " ROD("0.2", "2", "4", "6", "8000", "10") "}, \"bodies\": [");
    for (int32_t i = 0; i < links; i++)
        at += sprintf(at,
                      "%s{\"name\": \"b%d\", \"position\": [%g, 0, 0], \"mass\": 0.03, \"shape\": {\"sphere\": 0.01}}",
                      i ? "," : "", i, 0.2 * i);
    at += sprintf(at, "], \"parts\": [");
    for (int32_t i = 0; i < links; i++)
        at += sprintf(at, "%s{\"name\": \"p%d\", \"component\": \"rod\", \"clamp\": {\"body\": \"b%d\"}}", i ? "," : "",
                      i, i);
    at += sprintf(at, "], \"joints\": [");
    for (int32_t i = 0; i < links; i++)
        if (i == 0)
            at += sprintf(at, "{\"name\": \"j0\", \"kind\": \"hinge\", \"parent\": \"world\", \"child\": \"b0\", "
                              "\"position\": [0, 0, 0], \"axis\": "
                              "[0, 1, 0], \"damping\": 0.01}");
        else
            at += sprintf(
                at,
                ",{\"name\": \"j%d\", \"kind\": \"hinge\", \"parent\": {\"part\": \"p%d\", \"interface\": \"tip\"}, "
                "\"child\": \"b%d\", \"position\": [%g, 0, 0], \"axis\": [0, 1, 0], \"damping\": 0.01}",
                i, i - 1, i, 0.2 * i);
    sprintf(at, "], \"gravity\": [0, 0, -9.81], \"time\": {\"dt\": 0.0005, \"duration\": 0.1}}");
    return text;
}

static bool measure_chains(bough_context *ctx, json_t *rows) {
    static const int32_t counts[] = {5, 10, 20, 50, 100, 200, 500};
    enum { COUNT = sizeof counts / sizeof *counts };
    double x[COUNT], y[COUNT], mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (int k = 0; k < COUNT; k++) {
        char *text = chain_text(counts[k]);
        const subject chain = {"chain", text, 0.1, 0, 0};
        figures f = {0};
        const bool good = text && measure(ctx, &chain, &f);
        free(text);
        if (!good)
            return false;
        x[k] = log(counts[k]), y[k] = log(f.median_us);
        mean_x += x[k] / COUNT, mean_y += y[k] / COUNT;
        if (rows)
            json_array_append_new(rows, json_pack("{s:i, s:f, s:f}", "links", (int)counts[k], "step_us_median",
                                                  f.median_us, "iterations", f.iterations));
        else
            printf("  chain of %3d links: %8.1f us a step, %5.2f a link; %4.2f iterations\n", (int)counts[k],
                   f.median_us, f.median_us / counts[k], f.iterations);
    }
    for (int k = 0; k < COUNT; k++)
        xx += (x[k] - mean_x) * (x[k] - mean_x), xy += (x[k] - mean_x) * (y[k] - mean_y);
    if (rows)
        json_array_append_new(rows, json_pack("{s:f}", "chain_exponent", xy / xx));
    else
        printf("  cost grows as the number of links to the power of %.3f (required: at most 1.1)\n", xy / xx);
    return true;
}

int bench_multibody(const bench_options *options) {
    static const subject subjects[] = {{"one-rod", one_rod_scene, 2.5, 275, 15000},
                                       {"two-rods", two_rods_scene, 2.5, 260, 9000},
                                       {"dancer", NULL, 8.5, 115, 3000},
                                       {"bartender", NULL, 8.5, 120, 3000},
                                       {"rapper", NULL, 10, 90, 2000},
                                       {"drummer", NULL, 10, 108, 2000},
                                       {"boxer", NULL, 9.75, 108, 2000}};
    bough_context *ctx = app_context(1);
    json_t *rows = options->json ? json_array() : NULL;
    bool good = true;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && good; i++) {
        figures f = {0};
        if ((good = measure(ctx, &subjects[i], &f)))
            report(&subjects[i], &f, rows);
    }
    good = good && measure_chains(ctx, rows);
    return bench_end(ctx, rows, good);
}
