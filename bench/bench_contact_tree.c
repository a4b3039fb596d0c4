/* Parts of trees in contact: what contact costs the oak, letters that pile up, and a branch that rests on a stone beside
 * the same branch in full order. */
#include "bench_contact.h"
#include "tree_scene.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool open_run(bough_context *ctx, const tree_scene *files, bough_scene **scene, const char *engine,
                     bough_run **run) {
    bough_run_def def = bough_default_run_def();
    def.engine = engine;
    return !bough_scene_load(ctx, files->path, scene) && !bough_run_create(ctx, *scene, &def, run);
}

static double time_step(bough_context *ctx, bough_run *run, bool *good) {
    const double start = app_cpu_seconds();
    *good = *good && !bough_run_step(ctx, run) && !app_interrupted();
    return 1e6 * (app_cpu_seconds() - start);
}

static int32_t pushing(const bough_run *run) {
    enum { MOST = 8192 };
    bough_run_contact *contacts = calloc(MOST, sizeof *contacts);
    int32_t found = contacts ? bough_run_contacts(run, MOST, contacts) : 0, count = 0;
    for (int32_t i = 0; i < found && i < MOST; i++)
        count += contacts[i].force[0] != 0 || contacts[i].force[1] != 0 || contacts[i].force[2] != 0;
    free(contacts);
    return count;
}

/* ---- the oak ---- */

enum { MOST_STEPS = 600 };

/* The same scene with and without contact, step by step side by side; steps with `least` to `most` contacts count. */
static bool compare(bough_context *ctx, const char *name, json_t *changes, int32_t steps, int32_t least, int32_t most,
                    const char *what, json_t *rows) {
    tree_scene files[2] = {0};
    bough_scene *scenes[2] = {NULL, NULL};
    bough_run *runs[2] = {NULL, NULL};
    json_t *without = json_pack("{s:n, s:n, s:n}", "obstacles", "contact", "probes");
    if (changes)
        json_object_update_missing(without, changes);
    bool good = tree_scene_open_changed(ctx, name, changes ? json_incref(changes) : json_object(), &files[0]) &&
                tree_scene_open_changed(ctx, name, without, &files[1]);
    for (int k = 0; k < 2 && good; k++)
        good = open_run(ctx, &files[k], &scenes[k], NULL, &runs[k]);
    double us[2][MOST_STEPS], points[MOST_STEPS];
    size_t count = 0;
    for (int32_t i = 0; i < steps && good; i++) {
        double now[2];
        for (int k = 0; k < 2; k++)
            now[k] = time_step(ctx, runs[k], &good);
        const int32_t contacts = good ? pushing(runs[0]) : 0;
        if (contacts < least || contacts > most || count == MOST_STEPS)
            continue;
        us[0][count] = now[0], us[1][count] = now[1], points[count++] = contacts;
    }
    if (good && count > 0) {
        const double with = median_of(count, us[0]), alone = median_of(count, us[1]), mean = median_of(count, points);
        if (rows)
            json_array_append_new(rows, json_pack("{s:s, s:i, s:f, s:f, s:f, s:f}", "tree", what, "steps", (int)count,
                                                  "contacts", mean, "step_us", with, "without_us", alone, "ratio",
                                                  with / alone));
        else
            printf("  %s: %.0f contacts, %.0f us a step, without contact %.0f us: %.2f times (%d steps)\n", what, mean,
                   with, alone, with / alone, (int)count);
    }
    for (int k = 0; k < 2; k++) {
        bough_run_destroy(ctx, runs[k]);
        bough_scene_destroy(ctx, scenes[k]);
        tree_scene_close(&files[k]);
    }
    json_decref(changes);
    return good;
}

static bool bench_crown(bough_context *ctx, json_t *rows) {
    json_t *leaves =
        json_pack("{s:[{s:i, s:s}, {s:i, s:s}]}", "events", "time", 0, "lock", "l*", "time", 0, "detach", "l*");
    return compare(ctx, "ball", NULL, 480, 5, 400, "the oak with a ball in its crown", rows) &&
           compare(ctx, "ball", leaves, 300, 400, 600, "its leaves, cut off, land on the ground", rows);
}

/* ---- letters ---- */

static bool bench_pile(bough_context *ctx, json_t *rows) {
    tree_scene files = {0};
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    bough_run_report report;
    bool good =
        tree_scene_open_changed(ctx, "pile", json_object(), &files) && open_run(ctx, &files, &scene, NULL, &run);
    double deepest = 0, seconds = 0, worst = 0;
    int32_t most = 0, steps = 0;
    bough_run_look(run, &report);
    while (good && steps < report.step_count) {
        bough_run_contact contacts[2048];
        const double us = time_step(ctx, run, &good);
        const int32_t count = bough_run_contacts(run, 2048, contacts);
        for (int32_t i = 0; i < count && i < 2048; i++)
            deepest = fmax(deepest, -contacts[i].gap);
        most = count > most ? count : most;
        seconds += 1e-6 * us, worst = fmax(worst, us), steps++;
    }
    if (good && rows)
        json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:i, s:f, s:f}", "tree", "pile", "simulated_s",
                                              steps * report.dt, "cpu_s", seconds, "most_contacts", (int)most,
                                              "deepest_m", deepest, "slowest_us", worst));
    else if (good)
        printf(
            "  16 letters pile up: %g s take %.2f s of one core (%.2f times real time, slowest step %.1f ms), at most "
            "%d contacts, deepest %.2g m\n",
            steps * report.dt, seconds, steps * report.dt / seconds, 1e-3 * worst, (int)most, deepest);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    tree_scene_close(&files);
    return good;
}

/* ---- a branch on a stone ---- */

/* A branch of three domains that sags onto a sphere and beyond it. */
static const char branch[] =
    "{\"bough\": 1, \"object\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"origin\": [0, -0.04, -0.04], "
    "\"size\": [1.5, 0.08, 0.08], \"cells\": [30, 2, 2]}, \"sets\": {\"a\": {\"elements\": \"x<0.501\"}, \"b\": "
    "{\"elements\": \"x>0.499 & x<1.001\"}, \"c\": {\"elements\": \"x>0.999\"}}, \"domains\": [\"a\", \"b\", \"c\"], "
    "\"root\": \"a\", \"fix\": \"x<0.001\", \"material\": {\"model\": \"stvk\", \"young\": 4e6, \"poisson\": 0.3, "
    "\"density\": 700}, \"damping\": {\"mass\": 2, \"stiffness\": 0.004}, \"basis\": {\"r\": 20}, \"samples\": "
    "{\"contact\": 300}}, \"gravity\": [0, 0, -9.81], \"obstacles\": [{\"name\": \"stone\", \"shape\": {\"sphere\": "
    "0.3}, "
    "\"position\": [1.0, 0, -0.5], \"friction\": 0.3}], \"contact\": {\"friction\": 0.3}, \"probes\": [{\"name\": "
    "\"middle\", \"part\": \"b\", \"nearest\": [0.75, 0, 0.04]}, {\"name\": \"end\", \"part\": \"c\", \"nearest\": "
    "[1.5, 0, 0.04]}, {\"name\": \"stone\", \"contact\": \"stone\"}], \"time\": {\"integrator\": \"%s\", \"dt\": "
    "0.0041666666666666666, \"duration\": 4}}";

typedef struct {
    double middle[3], end[3], force;
} pose;

static double column(const bough_run *run, const double *values, const char *name) {
    for (int32_t i = 0; i < bough_run_column_count(run); i++)
        if (strcmp(bough_run_column_name(run, i), name) == 0)
            return values[i];
    return NAN;
}

static bool rest_pose(bough_context *ctx, const char *engine, pose *p) {
    static const char axes[3][2] = {"x", "y", "z"};
    tree_scene files = {0};
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    bough_run_report report;
    char text[sizeof branch + 64], name[16];
    const double *values = NULL;
    snprintf(text, sizeof text, branch, strcmp(engine, "full") == 0 ? "backward-euler" : "hht");
    bool good = tree_scene_open_text(ctx, text, &files) && open_run(ctx, &files, &scene, engine, &run);
    if (good)
        bough_run_look(run, &report);
    for (int64_t i = 0; good && i < report.step_count; i++)
        time_step(ctx, run, &good);
    if (good)
        values = bough_run_values(run);
    for (int d = 0; d < 3 && good; d++) {
        snprintf(name, sizeof name, "middle.%s", axes[d]);
        p->middle[d] = column(run, values, name);
        snprintf(name, sizeof name, "end.%s", axes[d]);
        p->end[d] = column(run, values, name);
    }
    p->force = good ? column(run, values, "stone.normal") : NAN;
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    tree_scene_close(&files);
    return good;
}

static double distance(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static bool bench_branch(bough_context *ctx, json_t *rows) {
    pose reduced, full;
    if (!rest_pose(ctx, "tree", &reduced) || !rest_pose(ctx, "full", &full))
        return false;
    const double middle = distance(reduced.middle, full.middle) / 1.5, end = distance(reduced.end, full.end) / 1.5;
    if (rows)
        json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "tree", "branch", "middle", middle,
                                              "end", end, "end_z", reduced.end[2], "force", reduced.force, "full_force",
                                              full.force));
    else
        printf(
            "  a branch on a stone: its end at z = %.4f m (full order %.4f), off by %.2f %% of its length (middle %.2f "
            "%%); force %.2f N (full order %.2f)\n",
            reduced.end[2], full.end[2], 100 * end, 100 * middle, reduced.force, full.force);
    return true;
}

bool bench_contact_tree(bough_context *ctx, json_t *rows) {
    return bench_branch(ctx, rows) && bench_pile(ctx, rows) && bench_crown(ctx, rows);
}

int bench_contact_trees(const bench_options *options) {
    bough_context *ctx = app_context(1);
    json_t *rows = options->json ? json_array() : NULL;
    setvbuf(stdout, NULL, _IOLBF, 0); /* it takes minutes */
    const bool good = bench_contact_tree(ctx, rows);
    if (!good)
        bench_fail(ctx);
    return bench_end(ctx, rows, good);
}
