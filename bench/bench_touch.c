/* Examples of mechanisms that touch things, for as long as their scenes last: the cost of a step of the run. */
#include "tree_scene.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    size_t count;
    double median_us, p99_us, dt;
} figures;

/* Steps the run to its end; CPU time, since others use the machine too. */
static bool time_steps(bough_context *ctx, bough_run *run, figures *f) {
    bough_run_report report;
    bough_run_look(run, &report);
    f->dt = report.dt;
    f->count = (size_t)report.step_count;
    double *us = calloc(f->count + 1, sizeof *us);
    bool good = us && f->count > 0;
    for (size_t i = 0; i < f->count && good; i++) {
        const double start = app_cpu_seconds();
        good = !bough_run_step(ctx, run) && !app_interrupted();
        us[i] = 1e6 * (app_cpu_seconds() - start);
    }
    if (good) {
        f->median_us = median_of(f->count, us);
        f->p99_us = us[f->count * 99 / 100];
    }
    free(us);
    return good;
}

static bool measure(bough_context *ctx, const char *name, const char *engine, figures *f) {
    tree_scene files;
    bough_run *run = NULL;
    bough_run_def def = bough_default_run_def();
    def.engine = engine;
    const bool good = tree_scene_make(ctx, name, &files) && !bough_scene_load(ctx, files.path, &files.scene) &&
                      !bough_run_create(ctx, files.scene, &def, &run) && time_steps(ctx, run, f);
    if (!good)
        bench_fail(ctx);
    bough_run_destroy(ctx, run);
    tree_scene_close(&files);
    return good;
}

int bench_touch(const bench_options *options) {
    static const struct {
        const char *scene, *engine;
    } subjects[] = {{"hand", "mechanism"}, {"hand", "full"}, {"walker", "mechanism"}, {"trampoline", "mechanism"}};
    bough_context *ctx = app_context(1);
    json_t *rows = options->json ? json_array() : NULL;
    bool good = true;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects && good; i++) {
        figures f = {0};
        good = measure(ctx, subjects[i].scene, subjects[i].engine, &f);
        if (good && rows)
            json_array_append_new(rows, json_pack("{s:s, s:s, s:i, s:f, s:f, s:f}", "scene", subjects[i].scene,
                                                  "engine", subjects[i].engine, "steps", (int)f.count, "dt", f.dt,
                                                  "step_us_median", f.median_us, "step_us_p99", f.p99_us));
        else if (good)
            printf("  %-10s %-9s %5zu steps of %g ms: %7.1f us of CPU time, median; 99 %% below %.1f\n",
                   subjects[i].scene, subjects[i].engine, f.count, 1e3 * f.dt, f.median_us, f.p99_us);
    }
    return bench_end(ctx, rows, good);
}
