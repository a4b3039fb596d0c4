/* Moments of live runs, and motors that somebody takes over. */
#include "run/play.h"

#include <math.h>

/* A beam of two domains along x, held at x = 0, that falls. */
#define BEAM                                                                                                       \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': [10, 1, " \
    "1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49'}}, 'material': {'young': 2e6, "         \
    "'poisson': 0.3, 'density': 1000}, 'basis': {'r': 10}, 'samples': {'contact': 0, 'stress': 0}, 'fix': 'x0'}, " \
    "'time': {'dt': 0.002, 'duration': 0.1}, 'gravity': [0, 0, -9.81], 'probes': [{'name': 'tip', 'part': 'b', "   \
    "'nearest': [1, 0, 0]}]}"
/* Two rods along x on hinges about y, the second of which has a motor. */
#define ROD(name, x) \
    "{'name': '" name "', 'position': [" x ", 0, 0], 'density': 1000, 'shape': {'box': [0.2, 0.02, 0.02]}}"
#define HINGE(name, parent, child, x)                                                                                \
    "{'name': '" name "', 'kind': 'hinge', 'parent': '" parent "', 'child': '" child "', 'position': [" x ", 0, 0]," \
    "'axis': [0, 1, 0], 'stiffness': 50, 'damping': 0.2}"
#define ARM_WITH(more)                                                                                               \
    "{'bough': 1, 'links': [{'name': 'wall'}," ROD("a", "0.1") "," ROD("b", "0.3") "], 'joints': [" HINGE(           \
        "h1", "wall", "a",                                                                                           \
        "0") "," HINGE("h2", "a", "b",                                                                               \
                       "0.2") "], 'end_effectors': [{'name': 'tip', 'link': 'b', '"                                  \
                              "position': [0.4, 0, 0]}], 'probes': [{'name': 'tip', 'end_effector': 'tip'}], "       \
                              "'curves': {'still': [[0, 0], [1, 0]]}, 'motors': [{'joint': 'h2', 'curve': 'still'}]" \
                              ", 'time': {'dt': 0.01, 'duration': 1}" more "}"
#define ARM ARM_WITH("")
#define BLENDED_ARM ARM_WITH(", 'engine': {'blend': {'points': 3, 'random': {'count': 2, 'force': 1}}}")

/* Two rods along x; the second hangs at the first in a hinge about y, with a spring of 5 N m / rad. */
#define PENDULUM                                                                                                    \
    "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.5, 0.05, 0.05], "   \
    "'cells': [5, 1, 1]}, 'material': {'young': 1e9, 'poisson': 0.3, 'density': 500}, 'interfaces': {'base': "      \
    "{'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 6}, 'samples': {'contact': 0, 'stress': 0}}}, "     \
    "'parts': [{'name': 'a', 'component': 'rod'}, {'name': 'b', 'component': 'rod', 'parent': 'a', 'joint': "       \
    "{'kind': 'hinge', 'axis': [0, 1, 0], 'stiffness': 5, 'damping': 0.5}}], 'gravity': [0, 0, 0], 'time': {'dt': " \
    "0.005, 'duration': 1}, 'probes': [{'name': 'tip', 'part': 'b', 'nearest': [1, 0, 0]}]}"

static play begin(bough_context *ctx, const char *text, const char *engine) {
    bough_run_def def = bough_default_run_def();
    def.live = true, def.engine = engine;
    return begin_file(ctx, write_scene("moments.json", text), &def);
}

static void steps(bough_context *ctx, const play *p, int count) {
    for (int k = 0; k < count; k++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}

/* From a moment on a run goes as it went the first time, to the bit, and so does another run of the scene. */
static void a_run_goes_on_from_a_moment(void **state) {
    (void)state;
    static const struct {
        const char *text, *engine;
    } cases[] = {{BEAM, "tree"}, {BEAM, "full"}, {ARM, "mechanism"}, {ARM, "full"}};
    bough_context *ctx = test_context(1);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double first[32], again[32];
        bough_moment *moment;
        play p = begin(ctx, cases[c].text, cases[c].engine);
        const size_t size = (size_t)bough_run_column_count(p.run) * sizeof *first;
        const int32_t tip = BOUGH_COLUMN_PROBES;
        check(size <= sizeof first);
        if (bough_run_motor_count(p.run) > 0)
            check_ok(ctx, bough_run_set_motor(ctx, p.run, 0, 0.3)); /* so that it moves */
        steps(ctx, &p, 10);
        check_ok(ctx, bough_run_keep(ctx, p.run, &moment));
        check_near(bough_moment_time(moment), bough_run_values(p.run)[BOUGH_COLUMN_TIME], 0);
        check(bough_moment_size(moment) > 50);
        steps(ctx, &p, 15);
        memcpy(first, bough_run_values(p.run), size);
        check_ok(ctx, bough_run_return(ctx, p.run, moment));
        check_near(bough_run_values(p.run)[BOUGH_COLUMN_TIME], bough_moment_time(moment), 0);
        check(fabs(bough_run_values(p.run)[tip + 2] - first[tip + 2]) > 1e-4);
        steps(ctx, &p, 15);
        memcpy(again, bough_run_values(p.run), size);
        check_int(memcmp(first, again, size), 0);
        end(ctx, &p);

        p = begin(ctx, cases[c].text, cases[c].engine);
        if (bough_run_motor_count(p.run) > 0)
            check_ok(ctx, bough_run_set_motor(ctx, p.run, 0, 0.3));
        check_ok(ctx, bough_run_return(ctx, p.run, moment));
        steps(ctx, &p, 15);
        check_int(memcmp(first, bough_run_values(p.run), size), 0);
        end(ctx, &p);
        bough_moment_destroy(ctx, moment);
    }
    bough_context_destroy(ctx);
}

/* Parts that were cut since then hang again. */
static void cuts_are_undone(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin(ctx, BEAM, "tree");
    bough_moment *moment;
    const bough_tree_model *model;
    const bough_tree_state *now;
    check(bough_run_model(p.run, &model, &now));
    check_ok(ctx, bough_run_keep(ctx, p.run, &moment));
    check_ok(ctx, bough_tree_state_detach(ctx, model, bough_run_state(p.run), 1));
    steps(ctx, &p, 5);
    check_int(bough_tree_state_parts(model, bough_run_state(p.run))[1].parent, -1);
    check_ok(ctx, bough_run_return(ctx, p.run, moment));
    check_int(bough_tree_state_parts(model, bough_run_state(p.run))[1].parent, 0);
    steps(ctx, &p, 5);
    bough_moment_destroy(ctx, moment);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void moments_of_others_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play tree = begin(ctx, BEAM, "tree"), full = begin(ctx, BEAM, "full");
    bough_moment *moment;
    check_ok(ctx, bough_run_keep(ctx, tree.run, &moment));
    steps(ctx, &full, 2);
    check_int(bough_run_return(ctx, full.run, moment), BOUGH_ERROR_UNSUPPORTED);
    check(strstr(bough_message(ctx), "tree"));
    check_near(bough_run_values(full.run)[BOUGH_COLUMN_TIME], 0.004, 1e-12);
    bough_moment_destroy(ctx, moment);
    end(ctx, &full);
    const bough_run_def def = bough_default_run_def(); /* not live */
    end(ctx, &tree);
    play p = begin_file(ctx, write_scene("moments.json", BEAM), &def);
    check_int(bough_run_keep(ctx, p.run, &moment), BOUGH_ERROR_UNSUPPORTED);
    check(moment == NULL);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* The second rod turns by what the motor is set to, about y: its end sinks by 0.2 sin t. Given back, it is straight. */
static void a_motor_that_is_taken_over_moves_the_arm(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const struct {
        const char *text, *engine;
    } cases[] = {{ARM, "mechanism"}, {ARM, "full"}, {BLENDED_ARM, "mechanism"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        play p = begin(ctx, cases[c].text, cases[c].engine);
        bough_run_motor motor;
        check_int(bough_run_motor_count(p.run), 1);
        check(bough_run_motor_at(p.run, 0, &motor) && !bough_run_motor_at(p.run, 1, &motor));
        check(!strcmp(motor.joint, "h2") && !strcmp(motor.unit, "rad") && !motor.held && motor.offset == 0);
        check(motor.lowest < 0 && motor.highest > 0);
        check_ok(ctx, bough_run_set_motor(ctx, p.run, 0, 0.02));
        steps(ctx, &p, 400);
        check(bough_run_motor_at(p.run, 0, &motor) && motor.held);
        check_near(motor.offset, 0.02, 0);
        check_near(value(&p, "tip.uz"), -0.2 * sin(0.02), 1e-9 * 0.004);
        check_ok(ctx, bough_run_set_motor(ctx, p.run, 0, NAN));
        steps(ctx, &p, 400);
        check_near(value(&p, "tip.uz"), 0, 1e-12);
        check_int(bough_run_set_motor(ctx, p.run, 1, 0), BOUGH_ERROR_ARGUMENT);
        check_int(bough_run_set_motor(ctx, p.run, 0, INFINITY), BOUGH_ERROR_ARGUMENT);
        end(ctx, &p);
    }
    play beam = begin(ctx, BEAM, "tree");
    check_int(bough_run_motor_count(beam.run), 0);
    check_int(bough_run_set_motor(ctx, beam.run, 0, 0), BOUGH_ERROR_ARGUMENT);
    end(ctx, &beam);
    bough_context_destroy(ctx);
}

/* A rod on a hinge with a spring and no weight turns by torque / stiffness; given back, it is straight again. */
static void a_torque_turns_a_part_in_its_joint(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin(ctx, PENDULUM, "tree");
    bough_run_motor motor;
    check_int(bough_run_motor_count(p.run), 1);
    check(bough_run_motor_at(p.run, 0, &motor) && !strcmp(motor.joint, "b") && !strcmp(motor.unit, "N m"));
    check(motor.highest >= 5 && motor.lowest == -motor.highest && !motor.held);
    check_ok(ctx, bough_run_set_motor(ctx, p.run, 0, 0.5));
    steps(ctx, &p, 600);
    print_message("tip at %g, %g\n", value(&p, "tip.ux"), value(&p, "tip.uz"));
    const double turned = hypot(value(&p, "tip.ux"), value(&p, "tip.uz"));
    check_near(turned, 2 * 0.5 * sin(0.5 * 0.1), 0.02 * 0.05); /* the chord of 0.1 rad, half a metre away */
    check_ok(ctx, bough_run_set_motor(ctx, p.run, 0, NAN));
    steps(ctx, &p, 600);
    check_near(value(&p, "tip.ux"), 0, 1e-6);
    check_near(value(&p, "tip.uz"), 0, 1e-6);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A part that was cut off, or set on again, which is a weld, has no joint: its motor turns nothing, and the run goes
 * on. */
static void motors_turn_nothing_where_there_is_no_joint(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin(ctx, PENDULUM, "tree");
    const bough_change changes[] = {{.kind = BOUGH_CHANGE_DETACH, .part = 1},
                                    {.kind = BOUGH_CHANGE_ATTACH, .part = 1, .parent = 0, .interface_index = 1}};
    check_ok(ctx, bough_run_set_motor(ctx, p.run, 0, 0.5));
    for (int i = 0; i < 2; i++) {
        check_ok(ctx, bough_run_change_parts(ctx, p.run, 1, &changes[i]));
        steps(ctx, &p, 100);
        check_near(value(&p, "tip.ux"), 0, 1e-9);
        check_near(value(&p, "tip.uz"), 0, 1e-9);
    }
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_goes_on_from_a_moment),
        cmocka_unit_test(cuts_are_undone),
        cmocka_unit_test(moments_of_others_are_refused),
        cmocka_unit_test(a_motor_that_is_taken_over_moves_the_arm),
        cmocka_unit_test(a_torque_turns_a_part_in_its_joint),
        cmocka_unit_test(motors_turn_nothing_where_there_is_no_joint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
