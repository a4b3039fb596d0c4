/* Runs of scenes of parts: the tree engine beside the full one, resuming, refused steps, what is drawn. */
#include "test.h"

#include "run/run.h"

#include <bough/run.h>

static const char *write_scene(const char *name, const char *text) {
    const char *path = test_path(name);
    char *copy = strdup(text);
    check(copy != NULL);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    test_write_text(path, copy);
    free(copy);
    return path;
}

typedef struct {
    bough_scene *scene;
    bough_run *run;
} play;

static play begin_file(bough_context *ctx, const char *path, const bough_run_def *def) {
    play p;
    check_ok(ctx, bough_scene_load(ctx, path, &p.scene));
    check_ok(ctx, bough_run_create(ctx, p.scene, def, &p.run));
    return p;
}

static void end(bough_context *ctx, play *p) {
    bough_run_destroy(ctx, p->run);
    bough_scene_destroy(ctx, p->scene);
}

static double value(const play *p, const char *column) {
    for (int32_t c = 0; c < bough_run_column_count(p->run); c++)
        if (!strcmp(bough_run_column_name(p->run, c), column))
            return bough_run_values(p->run)[c];
    fail_msg("there is no column %s", column);
    return NAN;
}

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

static void the_young_tree_runs(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    copy_file(BOUGH_SOURCE_DIR "/examples/y-tree/scene.json", test_path("scene.json"));
    copy_file(BOUGH_SOURCE_DIR "/examples/y-tree/y.obj", test_path("y.obj"));
    bough_run_def def = bough_default_run_def();
    def.duration = 0.2;
    play p = begin_file(ctx, test_path("scene.json"), &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    bough_run_report report;
    bough_run_look(p.run, &report);
    check(!strcmp(report.engine, "tree") && !strcmp(report.coupling, "L3") && !strcmp(report.integrator, "hht"));
    check(value(&p, "elastic") > 0 && value(&p, "kinetic") > 0 && value(&p, "external") < 0);
    check(value(&p, "total") <= 0 && value(&p, "total") > -0.1 * value(&p, "elastic")); /* HHT takes a little */
    end(ctx, &p);
    /* components are cooked once */
    bough_cook_plan *plan;
    check_ok(ctx, bough_cook_plan_load(ctx, test_path("scene.json"), NULL, NULL, &plan));
    for (int32_t i = 0; i < bough_cook_plan_count(plan); i++)
        check(bough_cook_plan_item(plan, i)->up_to_date);
    bough_cook_plan_destroy(ctx, plan);
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
    check_near(value(&tree, "tip.z"), 0.1, 1e-6);
    for (int32_t c = 0; c < bough_run_column_count(tree.run); c++)
        check_near(bough_run_values(tree.run)[c], bough_run_values(full.run)[c], 1e-6);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_young_tree_runs),
        cmocka_unit_test(both_engines_move_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
