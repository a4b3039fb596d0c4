/* Multibody systems whose parts do not bend: the same scenes by the other engine. */
#include "play.h"

#include "base/vec.h"

#include <math.h>

/* A rod of 1 m and 10 kg along x, clamped to a hub of 1 kg that turns about y at one end, with a ball at the other. */
#define SWING(part, hub, duration)                                                                                     \
    "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': " \
    "[10, 1, 1]}, 'material': {'young': 2e7, 'density': 1000}, 'interfaces': {'base': {'select': 'x0'}, 'tip': "       \
    "{'select': 'x1'}}, 'basis': {'r': 12}}}, 'bodies': [{'name': 'hub', 'mass': 1, 'inertia': [0.01, 0.01, 0.01, 0, " \
    "0, 0]" hub "}, {'name': 'ball', 'position': [1, 0, 0], 'mass': 2, 'shape': {'sphere': 0.05}" hub                  \
    "}], 'parts': [{'name': 'rod', 'component': 'rod', 'clamp': 'hub'" part                                            \
    "}], 'joints': [{'name': 'grip', 'kind': 'weld', 'parent': {'part': 'rod', 'interface': 'tip'}, 'child': 'ball'}"  \
    ", {'name': 'pin', 'kind': 'hinge', 'parent': 'world', 'child': 'hub', 'position': [0, 0, 0], 'axis': [0, 1, 0]}"  \
    "], 'probes': [{'name': 'ball', 'body': 'ball'}, {'name': 'side', 'part': 'rod', 'nearest': [0.5, 0.05, 0.05]}, "  \
    "{'name': 'tip', 'part': 'rod', 'interface': 'tip'}, {'name': 'stress', 'part': 'rod', 'stress': 'max'}], "        \
    "'forces': [{'part': 'rod', 'interface': 'tip', 'force': [0, 0, -5]}, {'part': 'rod', 'nearest': [0.5, 0, 0.05], " \
    "'force': [0, 0, 5]}], 'gravity': [0, 0, -9.81], 'time': {'dt': 0.001, 'duration': " duration "}}"

static play begin_by(bough_context *ctx, const char *text, const char *engine) {
    bough_run_def def = bough_default_run_def();
    def.engine = engine;
    return begin_file(ctx, write_scene("swing.json", text), &def);
}

static double distance(const play *p, const char *a, const char *b) {
    double sum = 0;
    for (const char *c = "xyz"; *c; c++) {
        char first[40], second[40];
        snprintf(first, sizeof first, "%s.%c", a, *c), snprintf(second, sizeof second, "%s.%c", b, *c);
        const double d = value(p, first) - value(p, second);
        sum += d * d;
    }
    return sqrt(sum);
}

/* It falls as energy says, with the inertia of a bar, and keeps its shape; it has no stress. */
static void rigid_parts_swing_as_bars_do(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_by(ctx, SWING("", "", "1"), "rigid");
    const double side = distance(&p, "side", "tip");
    const double bar = 10 * (1. + 0.01) / 12 + 10 * 0.25, ball = 2 * (1 + 0.4 * 0.0025), I = 0.01 + bar + ball;
    for (int i = 0; i < 1000; i++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        const double w = hypot(value(&p, "ball.vx"), value(&p, "ball.vz"));
        check_near(0.5 * I * w * w, value(&p, "kinetic"), 1e-3);
        check_near(value(&p, "balance"), 0, 0.05);
        check_near(distance(&p, "side", "tip"), side, 1e-13);
        check_near(distance(&p, "ball", "tip"), 0, 1e-5);
        check(isnan(value(&p, "stress.von_mises")));
    }
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Parts that are made stiffer and stiffer come near to rigid ones: deflections fall with the square of the factor. */
static void rigid_is_what_stiff_comes_near_to(void **state) {
    (void)state;
    static const char *const texts[] = {
        SWING(", 'stiffness': 4, 'damping': {'mass': 0, 'stiffness': 0.001}", "", "0.3"),
        SWING(", 'stiffness': 16, 'damping': {'mass': 0, 'stiffness': 0.001}", "", "0.3")};
    bough_context *ctx = test_context(1);
    play rigid = begin_by(ctx, texts[0], "rigid");
    check_ok(ctx, bough_run_advance(ctx, rigid.run));
    double far[2];
    for (int i = 0; i < 2; i++) {
        play p = begin_by(ctx, texts[i], "multibody");
        check_ok(ctx, bough_run_advance(ctx, p.run));
        far[i] = hypot(value(&p, "ball.x") - value(&rigid, "ball.x"), value(&p, "ball.z") - value(&rigid, "ball.z"));
        end(ctx, &p);
    }
    check_below(far[0], 2e-4);
    check_below(far[1], far[0] / 8);
    end(ctx, &rigid);
    bough_context_destroy(ctx);
}

/* Things have the same names and places by both engines, and momentum at the start is the same. */
static void both_engines_begin_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *text = SWING("", ", 'spin': [0, 0, 0], 'velocity': [0, 0, 0]", "0.1");
    play a = begin_by(ctx, text, "multibody"), b = begin_by(ctx, text, "rigid");
    const int32_t count = bough_run_thing_count(a.run);
    check_int(bough_run_thing_count(b.run), count);
    for (int32_t i = 0; i < count; i++) {
        const bough_frame x = frame_of(&a, i), y = frame_of(&b, i);
        assert_string_equal(bough_run_thing(a.run, i)->name, bough_run_thing(b.run, i)->name);
        check_int(bough_run_thing(a.run, i)->vertex_count, bough_run_thing(b.run, i)->vertex_count);
        for (int k = 0; k < 3; k++)
            check_near(x.pose.position[k], y.pose.position[k], 1e-14);
    }
    static const char *const same[] = {"ball.x", "side.x", "side.z", "tip.x", "kinetic", "external"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_near(value(&a, same[i]), value(&b, same[i]), 1e-12);
    end(ctx, &a), end(ctx, &b);
    bough_context_destroy(ctx);
}

#define FLYING(forces)                                                                                                 \
    "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], "          \
    "'cells': [6, 1, 1]}, 'material': {'young': 2e9, 'density': 1000}, 'interfaces': {'base': {'select': 'x0'}}, "     \
    "'basis': {'r': 6}}}, 'bodies': [{'name': 'hub', 'mass': 1, 'inertia': [0.1, 0.1, 0.1, 0, 0, 0], 'velocity': "     \
    "[1, 2, 3], 'spin': [0.5, 1, -2]}], 'parts': [{'name': 'rod', 'component': 'rod', 'clamp': {'body': 'hub', "       \
    "'position': [0.1, 0, 0], 'rotate_deg': [0, 0, 90]}}]" forces ", 'engine': {'kind': 'multibody'}, 'time': {'dt': " \
    "0.001, 'duration': 0.1}}"

/* A hub that flies with its rod takes it along from the start, and keeps all momenta. */
static void rigid_parts_move_with_what_carries_them(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play a = begin_by(ctx, FLYING(""), "multibody"), b = begin_by(ctx, FLYING(""), "rigid");
    static const char *const momenta[] = {"momentum.x",         "momentum.y",         "momentum.z",
                                          "angular_momentum.x", "angular_momentum.y", "angular_momentum.z"};
    double before[6];
    for (int i = 0; i < 6; i++) {
        before[i] = value(&b, momenta[i]);
        check_near(before[i], value(&a, momenta[i]), 1e-12);
    }
    check_ok(ctx, bough_run_advance(ctx, a.run));
    check_ok(ctx, bough_run_advance(ctx, b.run));
    for (int i = 0; i < 6; i++) {
        check_near(value(&a, momenta[i]), before[i], 1e-11);
        check_near(value(&b, momenta[i]), before[i], 1e-11);
    }
    end(ctx, &a), end(ctx, &b);
    bough_context_destroy(ctx);
}

/* A force that begins and ends gives its impulse, to rounding; a checkpoint meanwhile goes on with the same bits. */
static void forces_on_flyers_give_their_impulses(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = test_path("flying.checkpoint"),
               *text = FLYING(", 'forces': [{'body': 'hub', 'force': [3, 0, -5], 'from': 0.02, 'until': 0.07}]");
    static const char *const engines[] = {"multibody", "rigid"};
    for (int k = 0; k < 2; k++) {
        play p = begin_by(ctx, text, engines[k]);
        const double x = value(&p, "momentum.x"), z = value(&p, "momentum.z");
        for (int i = 0; i < 50; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        check_ok(ctx, bough_run_save(ctx, p.run, path));
        bough_run_def def = bough_default_run_def();
        def.engine = engines[k], def.resume = path;
        play again = begin_file(ctx, write_scene("flying.json", text), &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_ok(ctx, bough_run_advance(ctx, again.run));
        check_near(value(&p, "momentum.x"), x + 3 * 0.05, 1e-11);
        check_near(value(&p, "momentum.z"), z - 5 * 0.05, 1e-11);
        for (int32_t c = 0; c < bough_run_column_count(p.run); c++)
            check(bough_run_values(p.run)[c] == bough_run_values(again.run)[c]);
        end(ctx, &p), end(ctx, &again);
    }
    bough_context_destroy(ctx);
}

/* Without parts there is nothing that could be rigid, or not. */
static void scenes_without_parts_have_one_engine(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_run *run;
    bough_scene_info info;
    bough_run_def def = bough_default_run_def();
    def.engine = "rigid";
    check_ok(ctx, bough_scene_load(
                      ctx,
                      write_scene(
                          "ball.json",
                          "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': "
                          "[{'name': 'a', 'mass': 1, 'shape': {'sphere': 1}}], 'time': {'dt': 0.001, 'duration': 1}}"),
                      &scene));
    check(bough_run_create(ctx, scene, &def, &run) == BOUGH_ERROR_UNSUPPORTED);
    check(strstr(bough_message(ctx), "scenes with parts that bend") != NULL);
    bough_scene_describe(ctx, scene, &info);
    check(info.engine_count == 3 && info.engines[0].suits && !info.engines[1].suits && !info.engines[2].suits);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rigid_parts_swing_as_bars_do),
                                       cmocka_unit_test(rigid_is_what_stiff_comes_near_to),
                                       cmocka_unit_test(both_engines_begin_alike),
                                       cmocka_unit_test(rigid_parts_move_with_what_carries_them),
                                       cmocka_unit_test(forces_on_flyers_give_their_impulses),
                                       cmocka_unit_test(scenes_without_parts_have_one_engine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
