/* Live runs: somebody looks on, pulls, pokes and changes the wind and the step. */
#include "run/play.h"

/* A beam of three domains along x: held at x = 0, or flying. */
#define CHAIN(hold, more)                                                                                        \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1.5, 0.1, 0.1], 'cells': "     \
    "[15, 1, 1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49 & x<1.01'}, 'c': "             \
    "{'elements': 'x>0.99'}}, 'material': {'young': 2e6, 'poisson': 0.3, 'density': 1000}, 'basis': {'r': 14}, " \
    "'samples': {'contact': 0, 'stress': 0}" hold "}, 'time': {'dt': 0.002, 'duration': 0.1}" more "}"
#define HELD                                                                                                       \
    CHAIN(", 'fix': 'x0'", ", 'gravity': [0, 0, -1], 'probes': [{'name': 'tip', 'part': 'c', 'nearest': [1.5, 0, " \
                           "0]}]")
#define FLYING CHAIN("", ", 'gravity': [0, 0, 0]")

static bough_run_def live_def(void) {
    bough_run_def def = bough_default_run_def();
    def.live = true;
    return def;
}

static void steps(bough_context *ctx, const play *p, int count) {
    for (int k = 0; k < count; k++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}

/* Nobody does anything: the same bits as a run that is recorded. */
static void looking_on_changes_nothing(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("chain.json", HELD);
    const bough_run_def defs[2] = {bough_default_run_def(), live_def()};
    for (int full = 0; full < 2; full++) {
        double values[2][32];
        for (int live = 0; live < 2; live++) {
            bough_run_def def = defs[live];
            def.engine = full ? "full" : "tree";
            play p = begin_file(ctx, path, &def);
            steps(ctx, &p, 20);
            const int32_t count = bough_run_column_count(p.run);
            check(count <= 32);
            memcpy(values[live], bough_run_values(p.run), (size_t)count * sizeof(double));
            if (live)
                check_int(memcmp(values[0], values[1], (size_t)count * sizeof(double)), 0);
            check(values[live][BOUGH_COLUMN_KINETIC] > 0);
            end(ctx, &p);
        }
    }
    bough_context_destroy(ctx);
}

static int32_t vertex_near(const double *vertices, int32_t count, const double at[3]) {
    int32_t nearest = 0;
    double least = INFINITY;
    for (int32_t v = 0; v < count; v++) {
        double sum = 0;
        for (int d = 0; d < 3; d++)
            sum += pow(vertices[3 * v + d] - at[d], 2);
        if (sum < least)
            least = sum, nearest = v;
    }
    return nearest;
}

/* Part and vertex of the beam's far end. */
static int32_t tip_of(const play *p, int32_t *part) {
    const double at[3] = {1.5, 0, 0};
    const bough_tree_model *model;
    const bough_tree_state *now;
    const bough_mesh *mesh = bough_run_mesh(p->run);
    *part = 0;
    if (!bough_run_model(p->run, &model, &now))
        return vertex_near(mesh->vertices, mesh->vertex_count, at);
    for (int32_t i = 0; i < bough_tree_model_part_count(model); i++)
        if (!strcmp(bough_tree_model_describe(model)->parts[i].name, "c"))
            *part = i;
    const int32_t first = bough_tree_model_first_vertex(model, *part);
    const int32_t count = *part + 1 < bough_tree_model_part_count(model)
                              ? bough_tree_model_first_vertex(model, *part + 1)
                              : bough_tree_model_vertex_count(model);
    return vertex_near(mesh->vertices + 3 * first, count - first, at);
}

/* Both engines are drawn to the same place by the same spring; let go, they swing back. */
static void pulls_draw_both_engines_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("chain.json", HELD);
    double lifted[2];
    for (int full = 0; full < 2; full++) {
        bough_run_def def = live_def();
        def.engine = full ? "full" : "tree", def.integrator = "backward-euler";
        def.dt = 0.02;
        play p = begin_file(ctx, path, &def);
        int32_t part;
        const int32_t vertex = tip_of(&p, &part);
        const double target[3] = {1.5, 0, 0.3};
        check_ok(ctx, bough_run_pull(ctx, p.run, 3, part, vertex, target, 100, 5));
        steps(ctx, &p, 400);
        lifted[full] = value(&p, "tip.uz");
        print_message("lifted by %g m\n", lifted[full]);
        check(lifted[full] > 0.01);
        bough_run_release(p.run, 3);
        steps(ctx, &p, 400);
        check(value(&p, "tip.uz") < -0.01);
        end(ctx, &p);
    }
    check_near(lifted[0], lifted[1], 0.03 * lifted[1]);
    bough_context_destroy(ctx);
}

/* An impulse is what the momentum gains, once. */
static void a_poke_is_an_impulse(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = live_def();
    play p = begin_file(ctx, write_scene("flying.json", FLYING), &def);
    int32_t part;
    const int32_t vertex = tip_of(&p, &part);
    const double impulse[3] = {0.1, -0.2, 0.3};
    check_ok(ctx, bough_run_poke(ctx, p.run, part, vertex, impulse));
    for (int k = 0; k < 5; k++) {
        steps(ctx, &p, 1);
        for (int d = 0; d < 3; d++)
            check_near(bough_run_values(p.run)[BOUGH_COLUMN_MOMENTUM + d], impulse[d], 1e-12);
    }
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Time goes on by the steps that were taken; gravity and wind are those that were set, then the scene's again. */
static bool stop_at_once(void *user, const bough_progress *progress) {
    (void)progress;
    ++*(int *)user;
    return false;
}

/* A blow that no step can take is halved and halved; who waits for it can end it, and let go. */
static void a_step_in_halves_can_be_cancelled(void **state) {
    (void)state;
    int asked = 0;
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    bough_run_def run_def = live_def();
    run_def.engine = "tree";
    bough_context *calm = test_context(1);
    play p = begin_file(calm, write_scene("chain.json", HELD), &run_def);
    const double blow[3] = {0, 0, 1e9};
    def.progress = stop_at_once, def.progress_user = &asked;
    bough_context *ctx = bough_context_create(&def);
    check_ok(ctx, bough_run_step(ctx, p.run));
    check_int(asked, 0); /* whole steps ask nobody */
    check_ok(ctx, bough_run_poke(ctx, p.run, 1, 0, blow));
    check_int(bough_run_step(ctx, p.run), BOUGH_CANCELLED);
    check_int(asked, 1);
    bough_context_destroy(ctx);
    end(calm, &p);
    bough_context_destroy(calm);
}

static void steps_wind_and_gravity_change(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = live_def();
    play p = begin_file(ctx, write_scene("chain.json", HELD), &def);
    steps(ctx, &p, 5);
    check_ok(ctx, bough_run_set_dt(ctx, p.run, 0.001));
    steps(ctx, &p, 4);
    check_near(bough_run_values(p.run)[BOUGH_COLUMN_TIME], 0.014, 1e-15);
    check_near(bough_run_state(p.run)->time, 0.014, 1e-15);
    check_ok(ctx, bough_run_set_dt(ctx, p.run, 0.003));
    steps(ctx, &p, 2);
    check_near(bough_run_values(p.run)[BOUGH_COLUMN_TIME], 0.020, 1e-15);
    bough_wind wind = bough_run_state(p.run)->wind;
    wind.velocity[0] = 3;
    check_ok(ctx, bough_run_set_wind(ctx, p.run, &wind));
    check(bough_run_state(p.run)->wind.velocity[0] == 3);
    steps(ctx, &p, 1);
    check(bough_run_state(p.run)->wind.velocity[0] == 3);
    check_ok(ctx, bough_run_set_wind(ctx, p.run, NULL));
    check(bough_run_state(p.run)->wind.velocity[0] == 0);
    steps(ctx, &p, 1);
    check(bough_run_state(p.run)->wind.velocity[0] == 0);
    bough_run_state(p.run)->gravity[2] = 1;
    for (int k = 0; k < 3; k++)
        bough_run_state(p.run)->q[k] *= 1; /* it is ours to write */
    steps(ctx, &p, 200);
    check(value(&p, "tip.uz") > 0);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void what_cannot_be_done_is_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("chain.json", HELD);
    const double at[3] = {0, 0, 0}, nowhere[3] = {NAN, 0, 0};
    bough_run_def def = live_def();
    play p = begin_file(ctx, path, &def);
    check_fails(ctx, bough_run_pull(ctx, p.run, -1, 0, 0, at, 1, 1), BOUGH_ERROR_ARGUMENT, "hands 0 to 15");
    check_fails(ctx, bough_run_pull(ctx, p.run, 16, 0, 0, at, 1, 1), BOUGH_ERROR_ARGUMENT, "hands 0 to 15");
    check_fails(ctx, bough_run_pull(ctx, p.run, 0, 3, 0, at, 1, 1), BOUGH_ERROR_ARGUMENT, "no part 3");
    check_fails(ctx, bough_run_pull(ctx, p.run, 0, -1, 0, at, 1, 1), BOUGH_ERROR_ARGUMENT, "no part -1");
    check_fails(ctx, bough_run_pull(ctx, p.run, 0, 0, 1 << 20, at, 1, 1), BOUGH_ERROR_ARGUMENT, "no vertex");
    check_fails(ctx, bough_run_pull(ctx, p.run, 0, 0, 0, nowhere, 1, 1), BOUGH_ERROR_ARGUMENT, "finite place");
    check_fails(ctx, bough_run_pull(ctx, p.run, 0, 0, 0, at, -1, 1), BOUGH_ERROR_ARGUMENT, "0 or more");
    check_fails(ctx, bough_run_pull(ctx, p.run, 0, 0, 0, at, 1, -1), BOUGH_ERROR_ARGUMENT, "0 or more");
    check_ok(ctx, bough_run_pull(ctx, p.run, 0, 0, 0, at, 0, 1));
    check_ok(ctx, bough_run_pull(ctx, p.run, 0, 0, 0, at, 1, 0));
    check_fails(ctx, bough_run_poke(ctx, p.run, 0, 0, nowhere), BOUGH_ERROR_ARGUMENT, "finite");
    check_fails(ctx, bough_run_set_dt(ctx, p.run, 0), BOUGH_ERROR_ARGUMENT, "positive");
    check_fails(ctx, bough_run_advance(ctx, p.run), BOUGH_ERROR_UNSUPPORTED, "has no end");
    check_fails(ctx, bough_run_save(ctx, p.run, test_path("no")), BOUGH_ERROR_UNSUPPORTED, "checkpoints");
    bough_run_release(p.run, 99);
    end(ctx, &p);
    def.record = test_path("no.csv");
    check_ok(ctx, bough_scene_load(ctx, path, &p.scene));
    check_fails(ctx, bough_run_create(ctx, p.scene, &def, &p.run), BOUGH_ERROR_ARGUMENT, "records nothing");
    bough_scene_destroy(ctx, p.scene);
    def = bough_default_run_def();
    p = begin_file(ctx, path, &def);
    check(bough_run_state(p.run) == NULL);
    check_fails(ctx, bough_run_pull(ctx, p.run, 0, 0, 0, at, 1, 1), BOUGH_ERROR_UNSUPPORTED, "live");
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looking_on_changes_nothing),    cmocka_unit_test(pulls_draw_both_engines_alike),
        cmocka_unit_test(a_poke_is_an_impulse),          cmocka_unit_test(a_step_in_halves_can_be_cancelled),
        cmocka_unit_test(steps_wind_and_gravity_change), cmocka_unit_test(what_cannot_be_done_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
