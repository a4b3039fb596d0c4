/* Examples of mechanisms that touch things, for as long as their scenes last: the cost of a step of the run. And free
 * bodies alone, ten to a thousand of them: the cost of a step of their contact world. */
#include "tree_scene.h"

#include <bough/contact.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- free bodies ---- */

typedef enum { GRID, PILE } arrangement; /* side by side, each an island; or all in one heap */

static bool make_bodies(bough_context *ctx, arrangement how, int32_t count, bool islands, bough_contact_world **world) {
    bough_contact_world_def def = bough_default_contact_world_def();
    bough_rigid_body_def *bodies = calloc((size_t)count, sizeof *bodies);
    bough_obstacle_def floor = bough_default_obstacle_def();
    bough_shape_def plane = bough_default_shape_def(),
                    shapes[2] = {bough_default_shape_def(), bough_default_shape_def()};
    bough_shapes_mass mass[2];
    const int32_t side = how == GRID ? (int32_t)ceil(sqrt(count)) : 4;
    bool good = bodies;
    plane.kind = BOUGH_SHAPE_PLANE;
    floor.shape_count = 1, floor.shapes = &plane;
    shapes[0].radius = 0.08;
    shapes[1].kind = BOUGH_SHAPE_BOX, shapes[1].half[0] = 0.1, shapes[1].half[1] = 0.075, shapes[1].half[2] = 0.05;
    for (int k = 0; k < 2 && good; k++)
        good = !bough_shapes_weigh(ctx, 1, &shapes[k], 500, &mass[k]);
    for (int32_t i = 0; i < count && good; i++) {
        bough_rigid_body_def *body = &bodies[i];
        *body = bough_default_rigid_body_def();
        body->mass = mass[i % 2].mass;
        memcpy(body->inertia, mass[i % 2].inertia, sizeof body->inertia);
        body->shape_count = 1, body->shapes = &shapes[i % 2];
        const double apart = how == GRID ? 0.4 : 0.22, lean = how == GRID ? 0 : 0.02 * sin(3. * i);
        body->pose.position[0] = apart * (i % side) + lean;
        body->pose.position[1] = apart * (i / side % side) - lean;
        body->pose.position[2] = how == GRID ? 0.2 : 0.1 + 0.2 * (i / (side * side));
    }
    def.body_count = count, def.bodies = bodies, def.obstacle_count = 1, def.obstacles = &floor;
    def.islands = islands;
    good = good && !bough_contact_world_create(ctx, &def, world);
    if (good)
        (*world)->gravity[2] = -9.81;
    free(bodies);
    return good;
}

static bool measure_bodies(const bench_options *options, bough_context *ctx, arrangement how, int32_t count,
                           bool islands, json_t *rows) {
    enum { STEPS = 200 };
    bough_contact_world *world = NULL;
    double us[STEPS];
    int32_t rounds = 0;
    bool good = make_bodies(ctx, how, count, islands, &world);
    for (int i = 0; i < STEPS && good; i++) {
        const double start = app_cpu_seconds();
        good = !bough_contact_world_step(ctx, world, 0.005) && !app_interrupted();
        us[i] = 1e6 * (app_cpu_seconds() - start);
        rounds += good ? world->rounds : 0;
    }
    if (!good)
        bench_fail(ctx);
    const char *name = how == GRID ? "grid" : "pile", *search = islands ? "islands" : "one";
    if (good && options->json)
        json_array_append_new(rows, json_pack("{s:s, s:i, s:s, s:i, s:i, s:f, s:f}", "bodies", name, "count",
                                              (int)count, "search", search, "contacts", (int)world->contact_count,
                                              "islands", (int)world->island_count, "rounds", (double)rounds / STEPS,
                                              "step_us_median", median_of(STEPS, us)));
    else if (good)
        printf("  %-5s of %4d bodies, %-7s: %4d contacts, %4d islands, %5.1f rounds a step, %9.1f us\n", name,
               (int)count, search, (int)world->contact_count, (int)world->island_count, (double)rounds / STEPS,
               median_of(STEPS, us));
    bough_contact_world_destroy(ctx, world);
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
    for (int how = GRID; how <= PILE; how++)
        for (int32_t count = 10; count <= 1000 && good; count *= 10)
            for (int islands = 0; islands < 2 && good; islands++)
                good = measure_bodies(options, ctx, (arrangement)how, count, islands, rows);
    return bench_end(ctx, rows, good);
}
