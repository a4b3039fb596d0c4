/* Runs of scenes of parts: the tree engine beside the full one, resuming, refused steps, what is drawn. */
#include "run/play.h"

#include "run/run.h"

/* A beam of three domains along x, held at x = 0 unless `hold` is empty. */
#define CHAIN(hold, more)                                                                                        \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1.5, 0.1, 0.1], 'cells': "     \
    "[15, 1, 1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49 & x<1.01'}, 'c': "             \
    "{'elements': 'x>0.99'}}, 'material': {'young': 2e6, 'poisson': 0.3, 'density': 1000}, 'basis': {'r': 14}, " \
    "'samples': {'contact': 0, 'stress': 0}" hold "}" more "}"
#define HELD ", 'fix': 'x0'"
#define PROBES                                                                                                 \
    ", 'probes': [{'name': 'tip', 'part': 'c', 'nearest': [1.6, 0.05, 0.2]}, {'name': 'joint', 'part': 'c'}, " \
    "{'name': 'foot', 'part': 'a'}]"

/* ---- the example ---- */

static void copy_file(const char *from, const char *to) {
    static char bytes[1 << 20];
    FILE *f = fopen(from, "rb");
    check(f != NULL);
    test_write(to, bytes, fread(bytes, 1, sizeof bytes, f));
    fclose(f);
}

static const char *copy_young_tree(void) {
    copy_file(BOUGH_SOURCE_DIR "/examples/y-tree/y.obj", test_path("y.obj"));
    copy_file(BOUGH_SOURCE_DIR "/examples/y-tree/scene.json", test_path("scene.json"));
    return test_path("scene.json");
}

static void the_young_tree_runs(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    copy_young_tree();
    bough_run_def def = bough_default_run_def();
    def.duration = 0.2;
    play p = begin_file(ctx, test_path("scene.json"), &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    bough_run_report report;
    bough_run_look(p.run, &report);
    check(!strcmp(report.engine, "tree") && !strcmp(report.coupling, "L3") && !strcmp(report.integrator, "hht"));
    check(value(&p, "elastic") > 0 && value(&p, "kinetic") > 0 && value(&p, "external") < 0);
    check_below(fabs(value(&p, "balance")), 0.01 * value(&p, "elastic"));
    check_near(value(&p, "work"), 0, 1e-12); /* weight has a potential */
    end(ctx, &p);
    /* components are cooked once */
    bough_cook_plan *plan;
    check_ok(ctx, bough_cook_plan_load(ctx, test_path("scene.json"), NULL, NULL, &plan));
    for (int32_t i = 0; i < bough_cook_plan_count(plan); i++)
        check(bough_cook_plan_item(plan, i)->up_to_date);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

/* Methods of the time room lead where the engine's own step does with steps of a tenth. */
static void other_methods_move_the_young_tree(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = copy_young_tree();
    static const char *const names[] = {"hht", "tr-bdf2", "sbdf2"};
    static const double tolerances[] = {1e-4, 0.02, 3e-3}; /* along z it hums, undamped */
    double at[3][3];
    for (int k = 0; k < 3; k++) {
        bough_run_def def = bough_default_run_def();
        bough_run_report report;
        def.integrator = names[k];
        def.passes = k ? 2 : 0, def.duration = 0.3, def.dt = k == 0 ? 5e-5 : k == 1 ? 5e-4 : 2.5e-4;
        play p = begin_file(ctx, path, &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        bough_run_look(p.run, &report);
        check(!strcmp(report.engine, "tree") && !strcmp(report.integrator, names[k]));
        static const char *const columns[] = {"left tip.uy", "left tip.uz", "left tip.vy"};
        for (int c = 0; c < 3; c++) {
            at[k][c] = value(&p, columns[c]);
            print_message("%s %s: %g, off by %.1e\n", names[k], columns[c], at[k][c], at[k][c] / at[0][c] - 1);
            check_near(at[k][c], at[0][c], tolerances[c] * fabs(at[0][c]));
        }
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* ---- tree and full ---- */

static void check_same_columns(const play *a, const play *b) {
    check_int(bough_run_column_count(a->run), bough_run_column_count(b->run));
    for (int32_t c = 0; c < bough_run_column_count(a->run); c++)
        check(!strcmp(bough_run_column_name(a->run, c), bough_run_column_name(b->run, c)));
}

/* Bending under gravity from rest; all columns but the small axial ones within what 14 coordinates can show. */
static void both_engines_move_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("chain.json", CHAIN(HELD, PROBES ", 'gravity': [0, 1, -3], 'time': {'integrator': "
                                                                    "'hht', 'dt': 0.01, 'duration': 0.5}"));
    bough_run_def def = bough_default_run_def();
    play tree = begin_file(ctx, path, &def);
    def.engine = "full";
    play full = begin_file(ctx, path, &def);
    check_same_columns(&tree, &full);
    check_int(bough_run_mesh(full.run)->element_count, 15);
    check_near(value(&tree, "tip.x"), 1.5, 1e-6);
    check_near(value(&tree, "tip.z"), 0.1, 5e-8);
    for (int32_t c = 0; c < bough_run_column_count(tree.run); c++)
        check_near(bough_run_values(tree.run)[c], bough_run_values(full.run)[c], 5e-8);
    static const char *const columns[] = {"tip.uy",   "tip.uz",     "tip.vy",     "tip.vz",
                                          "joint.uz", "joint.vz",   "kinetic",    "external",
                                          "elastic",  "momentum.z", "momentum.y", "angular_momentum.y"};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    double square[COLUMNS] = {0}, size[COLUMNS] = {0};
    for (int step = 0; step < 50; step++) {
        check_ok(ctx, bough_run_step(ctx, tree.run));
        check_ok(ctx, bough_run_step(ctx, full.run));
        for (int k = 0; k < COLUMNS; k++) {
            double a = value(&tree, columns[k]), b = value(&full, columns[k]);
            square[k] += (a - b) * (a - b);
            size[k] += b * b;
        }
        check_near(value(&tree, "foot.x"), value(&full, "foot.x"), 1e-12);
        check_near(value(&tree, "foot.uz"), 0, 1e-12);
    }
    for (int k = 0; k < COLUMNS; k++) {
        print_message("%s: rms error %.3g\n", columns[k], sqrt(square[k] / size[k]));
        check_below(sqrt(square[k] / size[k]), 0.03);
    }
    end(ctx, &tree);
    end(ctx, &full);
    bough_context_destroy(ctx);
}

/* Statics of both: the sheet of a slender chain, bent by a third of its length. */
static void both_engines_settle_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("chain.json", CHAIN(HELD, PROBES ", 'gravity': [0, 0, -1], 'settle': true, 'time': "
                                                                    "{'dt': 0.01, 'duration': 0.2}"));
    bough_run_def def = bough_default_run_def();
    play tree = begin_file(ctx, path, &def);
    def.engine = "full";
    play full = begin_file(ctx, path, &def);
    print_message("tip: %g of the full body's %g m\n", value(&tree, "tip.uz") / value(&full, "tip.uz"),
                  value(&full, "tip.uz"));
    check_below(value(&full, "tip.uz"), -0.2);
    check_near(value(&tree, "tip.uz"), value(&full, "tip.uz"), 0.02 * fabs(value(&full, "tip.uz")));
    check_near(value(&tree, "elastic"), value(&full, "elastic"), 0.03 * value(&full, "elastic"));
    bough_run_report report;
    bough_run_look(tree.run, &report);
    check(report.settle_residual <= 1e-9);
    /* nothing moves from there */
    double before = value(&tree, "tip.z");
    check_ok(ctx, bough_run_advance(ctx, tree.run));
    check_near(value(&tree, "tip.z"), before, 1e-8);
    check_below(value(&tree, "kinetic"), 1e-12);
    before = value(&full, "tip.z");
    check_ok(ctx, bough_run_advance(ctx, full.run));
    check_near(value(&full, "tip.z"), before, 1e-8);
    check_below(value(&full, "kinetic"), 1e-12);
    bough_run_look(full.run, &report);
    check_int(report.retries, 0);
    end(ctx, &tree);
    end(ctx, &full);
    bough_context_destroy(ctx);
}

/* Without supports it falls: momenta are those of a stone, whatever the parts do. */
static void momenta_are_those_of_a_falling_stone(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("free.json", CHAIN("", ", 'gravity': [0, 2, -10], 'time': {'dt': 0.01, 'duration': "
                                                          "0.3}"));
    play p = begin_file(ctx, path, NULL);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const double mass = 15, t = 0.3, g[3] = {0, 2, -10}, c[3] = {0.75, 0.05 + 0.5 * 2 * t * t, 0.05 - 0.5 * 10 * t * t};
    check_near(value(&p, "momentum.x"), 0, 1e-9);
    check_near(value(&p, "momentum.y"), mass * g[1] * t, 1e-9);
    check_near(value(&p, "momentum.z"), mass * g[2] * t, 1e-9);
    check_near(value(&p, "angular_momentum.x"), mass * t * (c[1] * g[2] - c[2] * g[1]), 1e-8);
    check_near(value(&p, "angular_momentum.y"), mass * t * (c[2] * g[0] - c[0] * g[2]), 1e-8);
    check_near(value(&p, "angular_momentum.z"), mass * t * (c[0] * g[1] - c[1] * g[0]), 1e-8);
    check_near(value(&p, "kinetic"), 0.5 * mass * (4 + 100) * t * t, 2e-11);
    check_near(value(&p, "total"), 0, 2e-11);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A rigid plate that starts with a velocity and a turn about an axis of its inertia goes on so; its origin is its
 * centre of mass. */
static void what_is_thrown_flies_on(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_file(
        ctx,
        write_scene("thrown.json",
                    "{'bough': 1, 'components': {'plate': {'mesh': {'generate': 'box', 'size': [0.6, 0.4, 0.1]}, "
                    "'material': {'density': 500}, 'basis': {'r': 0}}}, 'parts': [{'name': 'held back', 'component': "
                    "'plate'}, {'name': 'plate', 'component': 'plate', 'position': [1, 2, 3], 'velocity': [2, 0, -1], "
                    "'angular_velocity': [0, 0, 3]}], 'probes': [{'name': 'plate', 'part': 'plate'}, {'name': 'other', "
                    "'part': 'held back'}], 'time': {'dt': 0.01, 'duration': 0.5}}"),
        NULL);
    const double mass = 500 * 0.6 * 0.4 * 0.1, Izz = mass * (0.36 + 0.16) / 12,
                 start[3] = {value(&p, "plate.x"), value(&p, "plate.y"), value(&p, "plate.z")};
    check_near(value(&p, "momentum.x"), 2 * mass, 1e-12);
    check_near(value(&p, "momentum.z"), -mass, 1e-12);
    check_near(value(&p, "kinetic"), 0.5 * mass * 5 + 0.5 * Izz * 9, 1e-10);
    check_near(value(&p, "angular_momentum.z"), 3 * Izz - 2 * mass * start[1], 1e-10);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "plate.x"), start[0] + 1, 1e-12);
    check_near(value(&p, "plate.y"), start[1], 1e-12);
    check_near(value(&p, "plate.z"), start[2] - 0.5, 1e-12);
    check_near(value(&p, "other.ux"), 0, 1e-15);
    check_near(value(&p, "momentum.x"), 2 * mass, 1e-12);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Momenta of any motion: the same as those that the engine keeps for a tree that flies. */
static void momenta_are_those_that_flights_keep(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {8};
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *s;
    check_ok(ctx, bough_scene_load(ctx, write_scene("free.json", CHAIN("", "")), &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    check_ok(ctx, bough_tree_state_create(ctx, model, &s));
    check_int(s->root_count, 1);
    for (int32_t k = 0; k < bough_tree_model_size(model); k++) {
        s->q[k] = test_uniform(&random, -0.01, 0.01);
        s->v[k] = test_uniform(&random, -1, 1);
    }
    for (int d = 0; d < 3; d++) {
        s->roots[0].velocity[d] = test_uniform(&random, -1, 1);
        s->roots[0].angular_velocity[d] = test_uniform(&random, -1, 1);
    }
    check_ok(ctx, bough_tree_state_update(ctx, model, s));
    bough_tree_energies e;
    check_ok(ctx, bough_tree_state_energies(ctx, model, s, &e));
    for (int d = 0; d < 3; d++) {
        check_near(e.momentum[d], s->roots[0].momentum[d], 1e-11);
        check_near(e.angular_momentum[d], s->roots[0].angular_momentum[d], 1e-11);
    }
    bough_tree_state_destroy(ctx, s);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- forces ---- */

#define CORNER "'part': 'c', 'nearest': [1.6, -1, -1]"

/* Bent aside by a force at the tip, with gravity along the beam: the tips agree as they do under gravity. */
static void both_engines_bend_alike_under_a_force(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path =
        write_scene("chain.json", CHAIN(HELD, PROBES ", 'gravity': [-1, 0, 0], 'forces': [{" CORNER ", 'force': [0, 1, "
                                                     "-2]}, {" CORNER ", 'force': [0.5, 0, -1]}], 'settle': true, "
                                                     "'time': {'dt': 0.01, 'duration': 0.2}"));
    bough_run_def def = bough_default_run_def();
    play tree = begin_file(ctx, path, &def);
    def.engine = "full";
    play full = begin_file(ctx, path, &def);
    static const char *const columns[] = {"tip.uy", "tip.uz", "joint.uz", "elastic", "external", "total"};
    static const double tolerances[] = {0.02, 0.02, 0.02, 0.03, 0.03, 0.03};
    for (int k = 0; k < 6; k++) {
        const double a = value(&tree, columns[k]), b = value(&full, columns[k]);
        print_message("%s: %g of the full body's %g\n", columns[k], a / b, b);
        check_near(a, b, tolerances[k] * fabs(b));
    }
    check_below(value(&full, "tip.uz"), -0.15);
    check_below(value(&full, "external"), -0.4);
    /* nothing moves from there */
    double before = value(&tree, "tip.z");
    check_ok(ctx, bough_run_advance(ctx, tree.run));
    check_near(value(&tree, "tip.z"), before, 1e-8);
    check_below(value(&tree, "kinetic"), 1e-12);
    before = value(&full, "tip.z");
    check_ok(ctx, bough_run_advance(ctx, full.run));
    check_near(value(&full, "tip.z"), before, 1e-8);
    end(ctx, &tree);
    end(ctx, &full);
    bough_context_destroy(ctx);
}

/* The young tree, pulled aside at its left tip instead of by gravity. */
static void both_engines_pull_the_young_tree_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static char text[8192];
    FILE *f = fopen(copy_young_tree(), "rb");
    check(f != NULL);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    char *gravity = strstr(text, "\"gravity\": [0, 3, -9.81]");
    check(gravity != NULL);
    static char pulled[9000];
    snprintf(pulled, sizeof pulled,
             "%.*s\"gravity\": [0, 0, -9.81], \"forces\": [{\"part\": \"left\", \"nearest\": "
             "[-0.75, 0, 2.15], \"force\": [0, 200, 0]}]%s",
             (int)(gravity - text), text, gravity + strlen("\"gravity\": [0, 3, -9.81]"));
    test_write_text(test_path("pulled.json"), pulled);
    bough_run_def def = bough_default_run_def();
    def.settle = true;
    play tree = begin_file(ctx, test_path("pulled.json"), &def);
    def.engine = "full";
    play full = begin_file(ctx, test_path("pulled.json"), &def);
    print_message("fork: %g of %g m, tip: %g of %g m\n", value(&tree, "fork.uy"), value(&full, "fork.uy"),
                  value(&tree, "left tip.uy"), value(&full, "left tip.uy"));
    check(value(&full, "fork.uy") > 0.01);
    check_near(value(&tree, "fork.uy"), value(&full, "fork.uy"), 0.02 * value(&full, "fork.uy"));
    check_near(value(&tree, "left tip.uy"), value(&full, "left tip.uy"), 0.1 * value(&full, "left tip.uy"));
    end(ctx, &tree);
    end(ctx, &full);
    bough_context_destroy(ctx);
}

/* Force times time, to rounding, whatever the parts do. */
static void forces_change_momenta_while_they_act(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const texts[] = {
        CHAIN("", ", 'forces': [{" CORNER ", 'force': [1, -4, 9], 'from': 0.1, 'until': 0.2}], 'time': {'dt': 0.01, "
                  "'duration': 0.3}"),
        CHAIN("", ", 'forces': [{'part': 'b', 'force': [1, -4, 9], 'from': 0.1, 'until': 0.2}], 'time': {'dt': 0.01, "
                  "'duration': 0.3}")};
    for (int k = 0; k < 2; k++) {
        play p = begin_file(ctx, write_scene("impulse.json", texts[k]), NULL);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_near(value(&p, "momentum.x"), 0.1, 1e-12);
        check_near(value(&p, "momentum.y"), -0.4, 1e-12);
        check_near(value(&p, "momentum.z"), 0.9, 1e-12);
        end(ctx, &p);
    }
    /* a torque changes what turns and nothing else */
    play p = begin_file(ctx,
                        write_scene("impulse.json", CHAIN("", ", 'forces': [{'part': 'b', 'torque': [0.3, -0.2, 0.5], "
                                                              "'from': 0.1, 'until': 0.2}], 'time': {'dt': 0.01, "
                                                              "'duration': 0.3}")),
                        NULL);
    for (int step = 0; step < 30; step++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        const double seconds = fmin(fmax(0, 0.01 * (step + 1) - 0.1), 0.1);
        check_near(value(&p, "momentum.x"), 0, 1e-12);
        check_near(value(&p, "angular_momentum.x"), 0.3 * seconds, 1e-12);
        check_near(value(&p, "angular_momentum.y"), -0.2 * seconds, 1e-12);
        check_near(value(&p, "angular_momentum.z"), 0.5 * seconds, 1e-12);
        check_near(value(&p, "external"), 0, 1e-15);
    }
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* The loads that a refused step leaves on the state do not act twice; times are judged where a step begins, also a
 * short one. */
static void refused_steps_leave_no_forces(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_file(ctx,
                        write_scene("refused.json", CHAIN("", ", 'forces': [{" CORNER ", 'force': [0, 0, 8]}, {'part': "
                                                              "'a', 'force': [8, 0, 0], 'until': 0.25}], 'time': "
                                                              "{'dt': 0.125, 'duration': 1}")),
                        NULL);
    const bo_engine *engine = &p.run->engine;
    int64_t iterations = 0;
    double *saved = calloc((size_t)engine->kind->state_size(engine->data), sizeof *saved);
    double *values = calloc((size_t)engine->column_count, sizeof *values);
    const double times[] = {0, 0.125, 0.1875, 0.21875, 0.25, 0.5};
    for (int k = 0; k < 5; k++) {
        const double h = times[k + 1] - times[k];
        engine->kind->save(engine->data, saved);
        check(engine->kind->step(engine->data, times[k], -h, &iterations) != BOUGH_OK);
        if (k % 2)
            check_ok(ctx, engine->kind->restore(engine->data, saved, engine->kind->state_size(engine->data)));
        check_ok(ctx, engine->kind->step(engine->data, times[k], h, &iterations));
        check_ok(ctx, engine->kind->measure(engine->data, times[k + 1], values));
        check_near(values[BOUGH_COLUMN_MOMENTUM], 8 * fmin(times[k + 1], 0.25), 1e-12);
        check_near(values[BOUGH_COLUMN_MOMENTUM + 2], 8 * times[k + 1], 1e-12);
    }
    free(saved);
    free(values);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Largest change of the total energy in a swing of the beam under a steady force, against the largest elastic energy.
 */
static double energy_drift(bough_context *ctx, const char *path, double dt) {
    bough_run_def def = bough_default_run_def();
    def.dt = dt;
    play p = begin_file(ctx, path, &def);
    double drift = 0, elastic = 0;
    check_near(value(&p, "external"), 0, 1e-15);
    while (value(&p, "time") < 0.5) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        drift = fmax(drift, fabs(value(&p, "total")));
        elastic = fmax(elastic, value(&p, "elastic"));
    }
    print_message("dt = %g s: drift %.2e of %g J, external %g J\n", dt, drift / elastic, elastic,
                  value(&p, "external"));
    check_below(value(&p, "external"), -0.1);
    end(ctx, &p);
    return drift / elastic;
}

static void steady_forces_keep_the_total_energy(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("steady.json", CHAIN(HELD, ", 'forces': [{" CORNER ", 'force': [1, 0.5, -2]}, "
                                                              "{'part': 'c', 'force': [0, 1, 0]}], 'engine': "
                                                              "{'passes': 2}, 'time': {'integrator': 'newmark', "
                                                              "'duration': 1}"));
    const double coarse = energy_drift(ctx, path, 2e-3), fine = energy_drift(ctx, path, 5e-4);
    check_below(fine, 2e-3);
    check_below(fine, 0.4 * coarse);
    bough_context_destroy(ctx);
}

/* The first step starts with the acceleration that the force gives: velocities grow evenly. */
static void forces_act_from_the_first_moment(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_file(ctx,
                        write_scene("start.json", CHAIN(HELD, PROBES ", 'forces': [{" CORNER ", 'force': [0, 0, -2]}], "
                                                                     "'time': {'dt': 1e-6, 'duration': 1e-5}")),
                        NULL);
    check_ok(ctx, bough_run_step(ctx, p.run));
    const double first = value(&p, "tip.vz");
    check_ok(ctx, bough_run_step(ctx, p.run));
    check_near(value(&p, "tip.vz") / first, 2, 1e-3);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void what_the_full_engine_cannot_push_is_told(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const texts[] = {
        CHAIN(HELD, ", 'forces': [{" CORNER ", 'force': [1, 0, 0]}, {'part': 'c', 'force': [1, 0, 0]}]"),
        CHAIN(HELD, ", 'forces': [{'part': 'c', 'torque': [1, 0, 0]}]"),
        CHAIN(HELD, ", 'forces': [{" CORNER ", 'force': [1, 0, 0], 'until': 3}]"),
        CHAIN(HELD, ", 'forces': [{" CORNER ", 'force': [1, 0, 0], 'from': 3}]")};
    static const char *const sentences[] = {"forces[1]: the full engine takes forces at points of the surface only",
                                            "forces[0]: the full engine takes forces at points of the surface only",
                                            "forces[0]: the full engine takes forces that act all the time only",
                                            "forces[0]: the full engine takes forces that act all the time only"};
    bough_run_def def = bough_default_run_def();
    def.engine = "full", def.duration = 1;
    for (int k = 0; k < 4; k++) {
        bough_scene *scene;
        bough_run *run;
        check_ok(ctx, bough_scene_load(ctx, write_scene("s.json", texts[k]), &scene));
        check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_FORMAT, sentences[k]);
        check(strstr(bough_message(ctx), "s.json:1:") != NULL);
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

/* ---- going on ---- */

#define SWINGING(more)                                                                                            \
    CHAIN(HELD,                                                                                                   \
          PROBES ", 'gravity': [0, 3, -9.81], 'time': {'dt': 0.01, 'duration': 0.4}, 'engine': {'kind': 'tree', " \
                 "'passes': 2}" more)
#define PUSHED                                                                    \
    ", 'settle': true, 'forces': [{" CORNER                                       \
    ", 'force': [1, -4, 9], 'from': 0.1, 'until': 0.3}, {'part': 'c', 'torque': " \
    "[1, 0, 2]}, {" CORNER ", 'force': [0, 1, 0]}]"
#define FLYING CHAIN("", ", 'gravity': [0, 2, -10], 'time': {'dt': 0.01, 'duration': 0.4}")

static void resuming_gives_the_same_bits(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *const texts[] = {SWINGING(""), SWINGING(""), SWINGING(PUSHED), SWINGING(PUSHED), FLYING};
    const char *const integrators[] = {NULL, "bdf2", NULL, "bdf2", NULL};
    for (int k = 0; k < 5; k++) {
        char path[192], checkpoint[192];
        snprintf(path, sizeof path, "%s", write_scene("resume.json", texts[k]));
        snprintf(checkpoint, sizeof checkpoint, "%s", test_path("state"));
        bough_run_def def = bough_default_run_def();
        def.integrator = integrators[k];
        play whole = begin_file(ctx, path, &def);
        check_ok(ctx, bough_run_advance(ctx, whole.run));
        def.duration = 0.17;
        def.checkpoint = checkpoint;
        play half = begin_file(ctx, path, &def);
        check_ok(ctx, bough_run_advance(ctx, half.run));
        end(ctx, &half);
        def = bough_default_run_def();
        def.integrator = integrators[k];
        def.resume = checkpoint;
        play rest = begin_file(ctx, path, &def);
        check_near(value(&rest, "time"), 0.17, 1e-12);
        check_ok(ctx, bough_run_advance(ctx, rest.run));
        check(memcmp(bough_run_values(whole.run), bough_run_values(rest.run),
                     (size_t)bough_run_column_count(whole.run) * sizeof(double)) == 0);
        const size_t bytes = 3 * (size_t)bough_run_mesh(whole.run)->vertex_count * sizeof(double);
        check(memcmp(bough_run_displacement(whole.run), bough_run_displacement(rest.run), bytes) == 0);
        check(memcmp(bough_run_velocity(whole.run), bough_run_velocity(rest.run), bytes) == 0);
        end(ctx, &whole);
        end(ctx, &rest);
    }
    /* another coupling, number of passes or engine is another run */
    bough_run_def def = bough_default_run_def();
    bough_scene *scene;
    bough_run *run;
    def.resume = test_path("state");
    check_ok(ctx, bough_scene_load(ctx, test_path("resume.json"), &scene));
    def.coupling = "L1";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_FORMAT, "of another scene");
    def.coupling = NULL, def.passes = 1;
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_FORMAT, "of another scene");
    def.passes = 0, def.engine = "full";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_FORMAT, "of another scene");
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static bough_status advance_wildly(const char *text, bough_run_report *report) {
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.energy_tolerance = -1; /* what is asked for is that steps go on */
    play p = begin_file(ctx, write_scene("wild.json", text), &def);
    bough_status status = bough_run_advance(ctx, p.run);
    bough_run_look(p.run, report);
    for (int32_t c = 0; c < bough_run_column_count(p.run); c++)
        check(isfinite(bough_run_values(p.run)[c]));
    check_near(value(&p, "time"), report->time, 1e-15);
    if (status != BOUGH_OK)
        check(strstr(bough_message(ctx), "even a step of ") &&
              strstr(bough_message(ctx), status == BOUGH_ENERGY_GAINED ? "out of nothing" : "turned inside out"));
    end(ctx, &p);
    bough_context_destroy(ctx);
    return status;
}

/* A beam that buckles under its weight has a matrix that is not definite where steps are too large; rubber that is
 * crushed has nowhere to go, and the run ends with the last state that was good. */
static void refused_steps_are_halved(void **state) {
    (void)state;
    bough_run_report report;
    check_int(advance_wildly(CHAIN(HELD, ", 'gravity': [-50, 1, 0], 'time': {'dt': 0.1, 'duration': 1}"), &report),
              BOUGH_OK);
    check(report.retries > 0 && report.smallest_dt < 0.05 && report.steps == 10);
    check_int(advance_wildly(CHAIN(HELD, ", 'gravity': [-50, 0, 0], 'forces': [{" CORNER ", 'force': [0, 5, 0]}], "
                                         "'time': {'dt': 0.1, 'duration': 1}"),
                             &report),
              BOUGH_OK);
    check(report.retries > 0 && report.smallest_dt < 0.05 && report.steps == 10);
    check_int(
        advance_wildly(
            "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.8, 0.1, 0.1], 'cells': [8, "
            "1, 1]}, 'sets': {'a': {'elements': 'x<0.41'}, 'b': {'elements': 'x>0.39'}}, 'material': {'model': "
            "'neo-hookean', 'young': 1e5, 'density': 1000}, 'basis': {'r': 4}, 'fix': 'x0'}, 'gravity': [0, 0, -8000], "
            "'time': {'dt': 0.5, 'duration': 1}}",
            &report),
        BOUGH_NO_CONVERGENCE);
    check(report.retries >= 10 && report.time < 1 && report.smallest_dt == ldexp(0.5, -10));
}

/* A stiff arm whose root is led along keys: there at their times, at rest behind the last, and the same after resuming.
 */
static void roots_follow_their_tracks(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    char path[192], checkpoint[192];
    snprintf(
        path, sizeof path, "%s",
        write_scene("led.json",
                    "{'bough': 1, 'components': {'arm': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, "
                    "0.2, 0.2], 'cells': [4, 1, 1]}, 'material': {'young': 1e9, 'density': 1000}, 'damping': "
                    "{'mass': 5, 'stiffness': 0.01}, 'interfaces': {'base': {'select': 'x0'}}, 'basis': {'r': 6}}}, "
                    "'parts': [{'name': 'arm', 'component': 'arm', 'track': [{'time': 0, 'position': [0, 0, 1]}, "
                    "{'time': 0.5, 'position': [1, 0, 1], 'rotate_deg': [0, 0, 45]}, {'time': 1, 'position': [1, "
                    "2, 1], 'rotate_deg': [0, 0, 90]}]}], 'time': {'dt': 0.01, 'duration': 2}, 'probes': [{'name': "
                    "'foot', 'part': 'arm'}, {'name': 'tip', 'part': 'arm', 'nearest': [1, 0.1, 1.1]}]}"));
    snprintf(checkpoint, sizeof checkpoint, "%s", test_path("led.state"));
    bough_run_def def = bough_default_run_def();
    def.duration = 0.5;
    def.checkpoint = checkpoint;
    play p = begin_file(ctx, path, &def);
    check_near(value(&p, "foot.z"), 1, 1e-12);
    check_near(value(&p, "tip.x"), 1, 1e-6);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "foot.x"), 1, 1e-12);
    check_near(value(&p, "foot.y"), 0, 1e-12);
    check(hypot(value(&p, "foot.vx"), value(&p, "foot.vy")) > 1);
    end(ctx, &p);
    def = bough_default_run_def();
    play whole = begin_file(ctx, path, &def);
    check_ok(ctx, bough_run_advance(ctx, whole.run));
    def.resume = checkpoint;
    play rest = begin_file(ctx, path, &def);
    check_ok(ctx, bough_run_advance(ctx, rest.run));
    check(memcmp(bough_run_values(whole.run), bough_run_values(rest.run),
                 (size_t)bough_run_column_count(whole.run) * sizeof(double)) == 0);
    check_near(value(&whole, "foot.x"), 1, 1e-12);
    check_near(value(&whole, "foot.y"), 2, 1e-12);
    check_near(value(&whole, "foot.vy"), 0, 1e-12);
    check_near(value(&whole, "tip.y"), 3, 1e-4); /* turned by 90 degrees, and nearly at rest */
    check_near(value(&whole, "tip.x"), 0.9, 1e-7);
    end(ctx, &whole);
    end(ctx, &rest);
    bough_context_destroy(ctx);
}

/* ---- what is drawn ---- */

static void the_surface_is_drawn_where_the_probes_are(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_file(ctx, write_scene("drawn.json", SWINGING("")), NULL);
    for (int step = 0; step < 20; step++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    const bough_mesh *mesh = bough_run_mesh(p.run);
    check_int(mesh->type, BOUGH_TRI3);
    check_ok(ctx, bough_mesh_check(ctx, mesh));
    const double *u = bough_run_displacement(p.run), *v = bough_run_velocity(p.run);
    int found = 0;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        const double *x = mesh->vertices + 3 * i;
        if (fabs(x[0] - 1.5) + fabs(x[1]) + fabs(x[2] - 0.1) > 1e-5)
            continue;
        found++;
        check_near(u[3 * i + 1], value(&p, "tip.uy"), 5e-7);
        check_near(u[3 * i + 2], value(&p, "tip.uz"), 5e-7);
        check_near(v[3 * i + 1], value(&p, "tip.vy"), 1e-5);
        check_near(v[3 * i + 2], value(&p, "tip.vz"), 1e-5);
    }
    check_int(found, 1);
    check(value(&p, "tip.uz") < -0.05 && fabs(value(&p, "tip.vz")) > 0.1);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* The largest distance of vertices that are one place at rest. */
static double largest_gap(const play *p) {
    const bough_mesh *mesh = bough_run_mesh(p->run);
    const double *x = mesh->vertices, *u = bough_run_displacement(p->run);
    double largest = 0;
    for (int32_t i = 0; i < mesh->vertex_count; i++)
        for (int32_t j = 0; j < i; j++) {
            double apart = 0, gap = 0;
            for (int k = 0; k < 3; k++)
                apart += fabs(x[3 * i + k] - x[3 * j + k]), gap += fabs(u[3 * i + k] - u[3 * j + k]);
            if (apart < 1e-5)
                largest = fmax(largest, gap);
        }
    return largest;
}

/* The surface has no gaps when that is asked for; the motion does not depend on it. */
static void surfaces_are_joined_when_asked_for(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("joined.json", SWINGING(""));
    static const char *const words[] = {NULL, "none", "C0", "C1"};
    double swung = 0, gap[4];
    for (int i = 0; i < 4; i++) {
        bough_run_def def = bough_default_run_def();
        def.continuity = words[i];
        play p = begin_file(ctx, path, &def);
        for (int step = 0; step < 20; step++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        gap[i] = largest_gap(&p);
        swung = i == 0 ? value(&p, "tip.uz") : swung;
        check(value(&p, "tip.uz") == swung);
        end(ctx, &p);
    }
    check(gap[0] > 1e-4 && gap[1] == gap[0]);
    check_below(gap[2], 1e-5); /* the surfaces at rest are floats */
    check_below(gap[3], 1e-5);
    bough_context_destroy(ctx);
}

/* A point of a surface that is drawn instead of the mesh follows the same material in both engines, and is pushed
 * alike. */
static void embedded_probes_agree(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char surface[] = "v 0 0.04 0.02\nv 0.3 0.04 0.02\nv 0.3 0.06 0.03\nv 0.8 0.05 0.02\nv 0.7 0.05 0.07\n"
                                  "v 0.6 0.03 0.03\nv 1.2 0.04 0.02\nv 1.42 0.06 0.03\nv 1.3 0.02 0.08\n"
                                  "f 1 2 3\nf 4 5 6\nf 7 8 9\n";
    test_write_text(test_path("drawn.obj"), surface);
    const char *path =
        write_scene("embedded.json", CHAIN(HELD ", 'surface': {'file': 'drawn.obj'}",
                                           ", 'probes': [{'name': 'tip', 'part': 'c', 'nearest': [2, 0.05, 0.05]}], "
                                           "'gravity': [0, 1, -5], 'forces': [{'part': 'c', 'nearest': [2, 0.05, "
                                           "0.05], 'force': [0, 2, 1]}], 'time': {'dt': 0.01, 'duration': 0.3}"));
    bough_run_def def = bough_default_run_def();
    play tree = begin_file(ctx, path, &def);
    def.engine = "full", def.integrator = "hht";
    play full = begin_file(ctx, path, &def);
    check_near(value(&tree, "tip.x"), 1.42, 1e-6);
    check_near(value(&full, "tip.x"), 1.42, 1e-12);
    check_ok(ctx, bough_run_advance(ctx, tree.run));
    check_ok(ctx, bough_run_advance(ctx, full.run));
    static const char *const columns[] = {"tip.ux", "tip.uy", "tip.uz"};
    check(fabs(value(&full, "tip.uz")) > 0.1);
    for (int k = 0; k < 3; k++)
        check_near(value(&tree, columns[k]), value(&full, columns[k]), 0.01 * fabs(value(&full, "tip.uz")));
    check_near(value(&tree, "external"), value(&full, "external"), 0.01 * fabs(value(&full, "external")));
    end(ctx, &tree);
    end(ctx, &full);
    bough_context_destroy(ctx);
}

/* ---- couplings, what is refused ---- */

/* Lumping what hangs at a part makes the beam swing faster or slower, but still as a beam. */
static void couplings_differ(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("coupled.json", SWINGING(""));
    static const char *const couplings[] = {"L1", "L2", "L2R", "L3"};
    double tips[4];
    for (int k = 0; k < 4; k++) {
        bough_run_def def = bough_default_run_def();
        def.coupling = couplings[k];
        def.duration = 0.2;
        play p = begin_file(ctx, path, &def);
        bough_run_report report;
        bough_run_look(p.run, &report);
        check(!strcmp(report.coupling, couplings[k]) && report.passes == 2);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        tips[k] = value(&p, "tip.uz");
        end(ctx, &p);
        for (int other = 0; other < k; other++)
            check(fabs(tips[k] - tips[other]) > 1e-5);
    }
    bough_context_destroy(ctx);
}

static double swing(bough_context *ctx, const char *path, const char *integrator) {
    bough_run_def def = bough_default_run_def();
    def.integrator = integrator;
    play p = begin_file(ctx, path, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    double tip = value(&p, "tip.uz");
    end(ctx, &p);
    return tip;
}

#define SCHEME(alpha) CHAIN(HELD, PROBES ", 'gravity': [0, 0, -1], 'time': {'dt': 0.02, 'duration': 0.4" alpha "}")

/* Newmark's method is HHT's with alpha = 0, whatever alpha the scene has for others; HHT is the default. */
static void integrators_are_those_that_were_asked_for(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double plain = swing(ctx, write_scene("scheme.json", SCHEME(", 'alpha': 0")), NULL);
    double damped = swing(ctx, write_scene("scheme.json", SCHEME(", 'alpha': -0.3")), NULL);
    check(fabs(plain - damped) > 1e-5);
    check(swing(ctx, test_path("scheme.json"), "newmark") == plain);
    check(swing(ctx, test_path("scheme.json"), "hht") == damped);
    double usual = swing(ctx, write_scene("scheme.json", SCHEME(", 'alpha': -0.05")), NULL);
    check(swing(ctx, write_scene("scheme.json", SCHEME("")), NULL) == usual);
    bough_context_destroy(ctx);
}

static void what_cannot_be_run_is_told(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_run *run;
    bough_run_def def = bough_default_run_def();
    check_ok(ctx, bough_scene_load(ctx, write_scene("s.json", SWINGING(", 'wind': {'velocity': [3, 0, 0]}")), &scene));
    def.integrator = "tr-bdf2", def.coupling = "L2R";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_UNSUPPORTED,
                "integrators need the exact coupling, L3; this tree has another");
    def.integrator = "tr-bdf3", def.coupling = NULL;
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "did you mean \"tr-bdf2\"");
    def.integrator = NULL, def.engine = "full";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_UNSUPPORTED,
                "the full engine knows no wind");
    def.engine = "half";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "there is no engine \"half\"");
    def.engine = NULL, def.coupling = "L4";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "there is no coupling \"L4\"");
    def.coupling = NULL, def.continuity = "C2";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "there is no continuity \"C2\"");
    def.continuity = NULL, def.passes = 3;
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "1 or 2 passes, not 3");
    bough_scene_destroy(ctx, scene);

    def = bough_default_run_def();
    check_ok(ctx, bough_scene_load(ctx, write_scene("s.json", FLYING), &scene));
    def.settle = true;
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "flies has no equilibrium");
    def.settle = false, def.integrator = "tr-bdf2";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_UNSUPPORTED, "only the tree's own step");
    bough_scene_destroy(ctx, scene);

    static const char body[] = "{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1]}, 'time': {'duration': 1}}";
    def = bough_default_run_def();
    def.engine = "tree";
    def.integrator = "hht";
    check_ok(ctx, bough_scene_load(ctx, write_scene("s.json", body), &scene));
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_UNSUPPORTED,
                "\"tree\" steps scenes of parts, and this one has one body");
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    char path[192];
    snprintf(path, sizeof path, "%s",
             write_scene("memory.json", SWINGING(", 'forces': [{" CORNER ", 'force': [0, 1, 0]}]")));
    for (int full = 0; full < 2; full++)
        for (long fail_at = 0, done = 0; !done; fail_at += test_long() ? 1 : 1 + fail_at / 8) {
            test_memory memory = {.fail_at = fail_at};
            bough_context *ctx = test_counting_context(&memory);
            bough_scene *scene = NULL;
            bough_run *run = NULL;
            bough_run_def def = bough_default_run_def();
            def.engine = full ? "full" : NULL;
            bough_status status = ctx ? bough_scene_load(ctx, path, &scene) : BOUGH_ERROR_MEMORY;
            if (status == BOUGH_OK)
                status = bough_run_create(ctx, scene, &def, &run);
            if (status == BOUGH_OK)
                status = bough_run_step(ctx, run);
            done = memory.calls <= fail_at;
            if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY)
                fail_msg("allocation %ld: %s", fail_at, bough_message(ctx));
            bough_run_destroy(ctx, run);
            bough_scene_destroy(ctx, scene);
            bough_context_destroy(ctx);
            check_int(memory.live, 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_young_tree_runs),
        cmocka_unit_test(other_methods_move_the_young_tree),
        cmocka_unit_test(both_engines_move_alike),
        cmocka_unit_test(both_engines_settle_alike),
        cmocka_unit_test(momenta_are_those_of_a_falling_stone),
        cmocka_unit_test(what_is_thrown_flies_on),
        cmocka_unit_test(momenta_are_those_that_flights_keep),
        cmocka_unit_test(both_engines_bend_alike_under_a_force),
        cmocka_unit_test(both_engines_pull_the_young_tree_alike),
        cmocka_unit_test(forces_change_momenta_while_they_act),
        cmocka_unit_test(refused_steps_leave_no_forces),
        cmocka_unit_test(steady_forces_keep_the_total_energy),
        cmocka_unit_test(forces_act_from_the_first_moment),
        cmocka_unit_test(what_the_full_engine_cannot_push_is_told),
        cmocka_unit_test(resuming_gives_the_same_bits),
        cmocka_unit_test(refused_steps_are_halved),
        cmocka_unit_test(roots_follow_their_tracks),
        cmocka_unit_test(the_surface_is_drawn_where_the_probes_are),
        cmocka_unit_test(surfaces_are_joined_when_asked_for),
        cmocka_unit_test(embedded_probes_agree),
        cmocka_unit_test(couplings_differ),
        cmocka_unit_test(integrators_are_those_that_were_asked_for),
        cmocka_unit_test(what_cannot_be_run_is_told),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
