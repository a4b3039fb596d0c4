/* Probes of contacts: what rests is borne by its weight, friction on a slope is the weight along it, two things push each
 * other with opposite forces, and obstacles are things with names. */
#include "play.h"

#include <math.h>

#define G 9.81

static play begin_text(bough_context *ctx, const char *text, bool live) {
    bough_run_def def = bough_default_run_def();
    def.live = live;
    return begin_file(ctx, write_scene("probes.json", text), &def);
}

static void advance(bough_context *ctx, play *p, int steps) {
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}

/* ---- full bodies ---- */

/* A cube of 0.1 m that weighs 1 kg, just above a plane. */
#define CUBE(gravity, obstacles, probes)                                                                             \
    "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.1, 0.1, 0.1], 'cells': [2, 2, 2]}, "        \
    "'material': {'model': 'neo-hookean', 'young': 1e6, 'poisson': 0.3, 'density': 1000}, 'damping': {'stiffness': " \
    "0.002}, 'gravity': " gravity ", 'contact': {'friction': 1}" obstacles ", 'probes': [" probes                    \
    "], 'time': {'integrator': 'backward-euler', 'dt': 0.005, 'duration': 1}}"
#define GROUND \
    ", 'obstacles': [{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, -0.0001], 'friction': 1}]"
#define ON_GROUND "{'name': 'cube', 'select': 'all'}, {'name': 'on', 'contact': 'body'}"

static void what_rests_is_borne_by_its_weight(void **unused) {
    (void)unused;
    for (int live = 0; live < 2; live++) {
        bough_context *ctx = test_context(1);
        play p = begin_text(ctx, CUBE("[0, 0, -9.81]", GROUND, ON_GROUND), live);
        advance(ctx, &p, 100);
        check_near(value(&p, "on.points"), 9, 0);
        check_near(value(&p, "on.normal"), G, 5e-6 * G);
        check_near(value(&p, "on.fz"), value(&p, "on.normal"), 1e-14 * G);
        check_below(hypot(value(&p, "on.fx"), value(&p, "on.fy")), 2e-6);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* Gravity leans by 20 degrees instead of the ground. */
static void friction_on_a_slope_is_the_weight_along_it(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double along = G * sin(20 * M_PI / 180), across = G * cos(20 * M_PI / 180);
    play p = begin_text(ctx, CUBE("[3.35521761, 0, -9.21838471]", GROUND, ON_GROUND), false);
    advance(ctx, &p, 100);
    check_near(value(&p, "on.normal"), across, 5e-6 * G);
    check_near(value(&p, "on.fx"), -along, 2e-5 * G);
    check(value(&p, "on.friction") > 0.999 * along && value(&p, "on.friction") < value(&p, "on.normal"));
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void obstacles_of_bodies_are_things(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p =
        begin_text(ctx,
                   CUBE("[0, 0, -9.81]",
                        ", 'obstacles': [{'name': 'steps', 'shape': [{'box': [1, 1, 0.1]}, {'box': [0.5, 1, 0.3]}], "
                        "'position': [0, 0, -1]}, {'name': 'ball', 'shape': {'sphere': 0.1}, 'track': [{'time': 0, "
                        "'position': [1, 0, 0]}, {'time': 0.1, 'position': [1, 0, 0.2]}]}]",
                        "{'name': 'all', 'contact': 'body', 'against': 'ball'}"),
                   false);
    check(bough_run_thing_count(p.run) == 3 && bough_run_look_count(p.run) == 2);
    check(bough_run_thing(p.run, 0)->drawing == BOUGH_DRAWN_VERTICES);
    for (int32_t i = 1; i < 3; i++) {
        const bough_thing *thing = bough_run_thing(p.run, i);
        assert_string_equal(thing->name, i == 1 ? "steps" : "ball");
        assert_string_equal(thing->kind, "obstacle");
        check(thing->held && thing->mass == 0 && thing->drawing == BOUGH_DRAWN_RIGID);
    }
    check(look_of(&p, 1)->vertex_count == 16 && look_of(&p, 1)->triangle_count == 24);
    check(bough_run_mesh(p.run)->vertex_count == 27); /* the body's alone */
    advance(ctx, &p, 20);
    check_near(frame_of(&p, 1).pose.position[2], -1, 0);
    check_near(frame_of(&p, 2).pose.position[2], 0.2, 1e-12);
    check_near(value(&p, "all.points"), 0, 0);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- rigid bodies ---- */

#define BOX(name, z, mass)                                          \
    "{'name': '" name "', 'position': [0, 0, " z "], 'mass': " mass \
    ", 'shape': {'box': [0.2, 0.2, 0.2]}, 'touch': true}"
#define STACK                                                                                                          \
    "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [" BOX("low", "0.1", "3") ", " BOX(                       \
        "high", "0.3", "2") "], 'gravity': [1, 0, -9.81], 'obstacles': [{'name': 'ground', 'shape': {'plane': "        \
                            "true}}], 'time': {'dt': 0.002, "                                                          \
                            "'duration': 1}, 'probes': [{'name': 'low_high', 'contact': 'low', 'against': 'high'}, "   \
                            "{'name': 'high_low', "                                                                    \
                            "'contact': 'high', 'against': 'low'}, {'name': 'ground', 'contact': 'ground'}, {'name': " \
                            "'low', 'contact': 'low'}]}"

static void two_things_push_each_other_with_opposite_forces(void **unused) {
    (void)unused;
    static const char *const axes[] = {"fx", "fy", "fz"};
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, STACK, false);
    advance(ctx, &p, 300);
    for (int d = 0; d < 3; d++) {
        char one[20], other[20];
        snprintf(one, sizeof one, "low_high.%s", axes[d]);
        snprintf(other, sizeof other, "high_low.%s", axes[d]);
        check_near(value(&p, one) + value(&p, other), 0, 0);
    }
    check_near(value(&p, "high_low.fz"), 2 * G, 1e-5 * G);
    check_near(value(&p, "high_low.fx"), -2, 1e-3);
    check_near(value(&p, "ground.fz"), -5 * G, 1e-5 * G);
    check_near(value(&p, "low.fz"), 3 * G, 1e-5 * G);
    check_near(value(&p, "low.normal"), 7 * G, 2e-5 * G);
    check_near(value(&p, "low.points"), value(&p, "low_high.points") + value(&p, "ground.points"), 0);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void free_bodies_of_mechanisms_are_watched_too(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p =
        begin_text(ctx,
                   "{'bough': 1, 'bodies': [{'name': 'ball', 'mass': 2, 'shape': {'sphere': 0.1}, 'position': [0, 0, "
                   "0.1]}], 'gravity': [0, 0, -9.81], 'obstacles': [{'name': 'ground', 'shape': {'plane': true}}], "
                   "'engine': {'kind': 'mechanism'}, 'time': {'dt': 0.005, 'duration': 1}, 'probes': [{'name': 'on', "
                   "'contact': 'ball', 'against': 'ground'}]}",
                   false);
    advance(ctx, &p, 20);
    check_near(value(&p, "on.points"), 1, 0);
    check_near(value(&p, "on.fz"), 2 * G, 1e-13 * G);
    check_near(value(&p, "on.normal"), 2 * G, 1e-13 * G);
    check_below(value(&p, "on.friction"), 1e-13);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- what cannot be measured ---- */

/* A bar of two domains on the ground: the reduced parts, and the whole mesh, bear the same weight. */
static void objects_are_watched_by_both_engines(void **unused) {
    (void)unused;
    static const char text[] =
        "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.4, 0.1, 0.1], 'cells': [8, 2, "
        "2]}, 'sets': {'a': {'elements': 'x<0.201'}, 'b': {'elements': 'x>0.199'}}, 'domains': ['a', 'b'], 'root': "
        "'a', "
        "'fix': 'x<0.001', 'material': {'model': 'stvk', 'young': 2e4, 'poisson': 0.3, 'density': 1000}, 'damping': "
        "{'mass': 5, 'stiffness': 0.02}, 'basis': {'r': 12}, 'samples': {'contact': 60}}, 'gravity': [0, 0, -9.81], "
        "'obstacles': [{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, -0.02], 'friction': 0.1}], "
        "'contact': {'friction': 0.1}, 'probes': [{'name': 'on', 'contact': 'ground'}], 'time': {'integrator': '%s', "
        "'dt': 0.005, 'duration': 3}}";
    bough_context *ctx = test_context(1);
    double force[2];
    for (int full = 0; full < 2; full++) {
        char scene[sizeof text + 16];
        bough_run_def def = bough_default_run_def();
        def.engine = full ? "full" : "tree";
        snprintf(scene, sizeof scene, text, full ? "backward-euler" : "hht");
        play p = begin_file(ctx, write_scene("object.json", scene), &def);
        advance(ctx, &p, 400);
        force[full] = value(&p, "on.normal");
        end(ctx, &p);
    }
    printf("the ground bears %.3f N, of the whole mesh %.3f N\n", force[0], force[1]);
    check(force[1] > 1);
    check_near(force[0] / force[1], 1, 0.1);
    bough_context_destroy(ctx);
}

static void refuse(const char *text, bough_status status, const char *sentence) {
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    bough_scene *scene;
    bough_run *run;
    check_ok(ctx, bough_scene_load(ctx, write_scene("probes.json", text), &scene));
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), status, sentence);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void what_cannot_be_watched_gets_a_sentence(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    refuse(CUBE("[0, 0, 0]", GROUND, "{'name': 'on', 'contact': 'body', 'against': 'grund'}"), BOUGH_ERROR_FORMAT,
           "the probe \"on\" watches \"grund\", which is nothing in this scene; did you mean \"ground\"?");
    refuse(CUBE("[0, 0, 0]", GROUND, "{'name': 'on', 'contact': 'xxxxxxxxx'}"), BOUGH_ERROR_FORMAT,
           "watches \"xxxxxxxxx\", which is nothing in this scene");
    refuse(
        "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 1, 1], 'cells': [1, 1, 1]}, 'material': "
        "{'model': 'stvk', 'young': 1e6, 'poisson': 0.3, 'density': 1000}, 'time': {'dt': 0.01, 'duration': 1}, "
        "'probes': [{'name': 'on', 'contact': 'body'}]}",
        BOUGH_ERROR_UNSUPPORTED, "the probe \"on\" measures contacts, and the full engine knows none in this scene");
    check_fails(ctx,
                bough_scene_load(ctx,
                                 write_scene("probes.json", CUBE("[0, 0, 0]", GROUND,
                                                                 "{'name': 'on', 'contact': 'body', 'select': 'all'}")),
                                 &scene),
                BOUGH_ERROR_FORMAT, "unknown key \"select\"");
    check_fails(ctx,
                bough_scene_load(
                    ctx, write_scene("probes.json", CUBE("[0, 0, 0]", GROUND, "{'name': 'on', 'contact': 3}")), &scene),
                BOUGH_ERROR_FORMAT, "contact");
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rests_is_borne_by_its_weight),
        cmocka_unit_test(friction_on_a_slope_is_the_weight_along_it),
        cmocka_unit_test(obstacles_of_bodies_are_things),
        cmocka_unit_test(two_things_push_each_other_with_opposite_forces),
        cmocka_unit_test(free_bodies_of_mechanisms_are_watched_too),
        cmocka_unit_test(objects_are_watched_by_both_engines),
        cmocka_unit_test(what_cannot_be_watched_gets_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
