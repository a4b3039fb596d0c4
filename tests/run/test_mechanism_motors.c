/* Mechanisms far from their pose: which engine steps them, what is said when joints come apart, blends along motors,
 * and what full and blended mechanisms touch. */
#include "play.h"

#include <math.h>

/* ---- warnings ---- */

static int warnings;
static char last_warning[1024];
static void keep_warning(void *user, const char *sentence) {
    (void)user;
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", sentence);
}
static bough_context *listening(void) {
    bough_context_def def = bough_default_context_def();
    def.warn = keep_warning, def.thread_count = 1;
    warnings = 0, last_warning[0] = 0;
    return bough_context_create(&def);
}

/* An arm of two rods of 0.3 m in a vertical plane, whose shoulder and elbow go to these degrees and back. */
#define ARM(shoulder, elbow, more)                                                                                \
    "{'bough': 1, 'links': [{'name': 'wall'},"                                                                    \
    "{'name': 'upper', 'position': [0.15, 0, 0], 'density': 1000, 'shape': {'box': [0.3, 0.03, 0.03]}},"          \
    "{'name': 'fore', 'position': [0.45, 0, 0], 'density': 1000, 'shape': {'box': [0.3, 0.03, 0.03]}}],"          \
    "'joints': [{'name': 'shoulder', 'kind': 'hinge', 'parent': 'wall', 'child': 'upper', 'position': [0, 0, 0]," \
    "'axis': [0, 1, 0], 'stiffness': 300, 'damping': 3},"                                                         \
    "{'name': 'elbow', 'kind': 'hinge', 'parent': 'upper', 'child': 'fore', 'position': [0.3, 0, 0],"             \
    "'axis': [0, 1, 0], 'stiffness': 300, 'damping': 3}],"                                                        \
    "'end_effectors': [{'name': 'hand', 'link': 'fore', 'position': [0.6, 0, 0] " more "}],"                      \
    "'curves': {'go': [[0, 0], [0.6, 1], [1.2, 0]]},"                                                             \
    "'motors': [{'joint': 'shoulder', 'curve': 'go', 'scale': " shoulder ", 'degrees': true},"                    \
    "{'joint': 'elbow', 'curve': 'go', 'scale': " elbow ", 'degrees': true}],"                                    \
    "'gravity': [0, 0, -9.81], 'time': {'dt': 0.005, 'duration': 1.2},"                                           \
    "'probes': [{'name': 'hand', 'end_effector': 'hand'}, {'name': 'e', 'joint': 'elbow'}]"
#define WIDE ARM("60", "-80", "")
#define NARROW ARM("6", "-8", "")

static play begin_text(bough_context *ctx, const char *text, const char *engine) {
    bough_run_def def = bough_default_run_def();
    def.engine = engine;
    return begin_file(ctx, write_scene("arm.json", text), &def);
}

static bough_run_report report_of(const play *p) {
    bough_run_report report;
    bough_run_look(p->run, &report);
    return report;
}

/* ---- the engine that is chosen ---- */

static void motors_that_go_far_choose_the_full_engine(void **state) {
    (void)state;
    bough_context *ctx = listening();
    play p = begin_text(ctx, WIDE "}", NULL);
    bough_run_report r = report_of(&p);
    assert_string_equal(r.engine, "full");
    check(r.reason && strstr(r.reason, "\"elbow\"") && strstr(r.reason, "--engine mechanism"));
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_below(report_of(&p).gap.error, 1e-9);
    check_int(warnings, 0);
    end(ctx, &p);
    p = begin_text(ctx, NARROW "}", NULL);
    assert_string_equal(report_of(&p).engine, "mechanism");
    check(report_of(&p).reason == NULL);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Who says which engine, or how to reduce, gets that. */
static void what_is_named_is_taken(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const texts[] = {
        WIDE ", 'engine': {'kind': 'mechanism'}}", WIDE ", 'engine': {'internal_modes': 0}}",
        WIDE ", 'engine': {'end_effectors': ['hand']}}", WIDE ", 'engine': {'blend': {}}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        play p = begin_text(ctx, texts[i], NULL);
        assert_string_equal(report_of(&p).engine, "mechanism");
        check(report_of(&p).reason == NULL);
        end(ctx, &p);
    }
    play p = begin_text(ctx, WIDE "}", "mechanism");
    assert_string_equal(report_of(&p).engine, "mechanism");
    end(ctx, &p);
    /* other tolerances, other choices; and another integrator than the full engine has */
    p = begin_text(ctx, NARROW ", 'engine': {'joint_tolerance': 1e-4}}", NULL);
    assert_string_equal(report_of(&p).engine, "full");
    end(ctx, &p);
    bough_run_def def = bough_default_run_def();
    def.integrator = "hht";
    p = begin_file(ctx, write_scene("arm.json", WIDE "}"), &def);
    assert_string_equal(report_of(&p).engine, "mechanism");
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- joints that come apart ---- */

/* About one pose the elbow opens by what a straight line and an arc differ by: a radius of 0.3 m that turns by a = 60
 * degrees about the shoulder goes 0.3 (a, a^2 ...) by the exponential, and the joint by the rigid link. */
static void joints_that_come_apart_are_named_once(void **state) {
    (void)state;
    bough_context *ctx = listening();
    play p = begin_text(ctx, WIDE "}", "mechanism");
    double most = 0;
    bough_run_gap now, worst;
    while (value(&p, "time") < 1.2 - 1e-9) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        check(bough_run_joint_gap(p.run, &now, &worst));
        most = fmax(most, now.distance);
        check_near(worst.distance, most, 1e-15);
        if (now.joint == 1)
            check_near(value(&p, "e.gap"), now.distance, 1e-12);
    }
    check(most > 0.05);
    check_int(warnings, 1);
    check(strstr(last_warning, "\"elbow\"") && strstr(last_warning, "--engine full") && strstr(last_warning, "blend"));
    const bough_run_report r = report_of(&p);
    assert_string_equal(r.gap.name, "elbow");
    check_near(r.gap.distance, most, 1e-15);
    check(r.gap.time > 0.4 && r.gap.time < 0.8);
    end(ctx, &p);
    /* what is allowed is not warned of */
    warnings = 0;
    p = begin_text(ctx, WIDE ", 'engine': {'kind': 'mechanism', 'joint_tolerance': 5}}", NULL);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_int(warnings, 0);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A probe of a joint shows its angle: where the motor went, but for what the weight bends it. */
static void probes_of_joints_show_their_coordinates(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, WIDE "}", "full");
    while (value(&p, "time") < 0.6 - 1e-9)
        check_ok(ctx, bough_run_step(ctx, p.run));
    check_near(value(&p, "e.value"), -80 * M_PI / 180, 0.03);
    check_below(value(&p, "e.gap"), 1e-12);
    check_below(value(&p, "e.tilt"), 1e-12);
    end(ctx, &p);
    bough_scene *scene;
    check_fails(ctx,
                bough_scene_load(ctx,
                                 write_scene("arm.json", "{'bough': 1, 'generate': {'Y': {}}, 'probes':"
                                                         "[{'name': 'p', 'joint': 'elbow'}]}"),
                                 &scene),
                BOUGH_ERROR_FORMAT, "unknown joint");
    bough_context_destroy(ctx);
}

/* ---- blends along motors ---- */

static double farthest(bough_context *ctx, const char *text, const char *engine, const double *expected, double *way) {
    play p = begin_text(ctx, text, engine);
    double most = 0;
    for (int i = 0; i < 240; i++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        const double x = value(&p, "hand.x"), z = value(&p, "hand.z");
        if (expected)
            most = fmax(most, hypot(x - expected[2 * i], z - expected[2 * i + 1]));
        else
            way[2 * i] = x, way[2 * i + 1] = z;
    }
    end(ctx, &p);
    return most;
}

/* Points are found along the motion, without a word about loads. */
static void blends_follow_their_motors(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static double way[480];
    farthest(ctx, WIDE "}", "full", NULL, way);
    const double one = farthest(ctx, WIDE "}", "mechanism", way, NULL),
                 some = farthest(ctx, WIDE ", 'engine': {'blend': {'points': 6}}}", NULL, way, NULL),
                 many =
                     farthest(ctx, WIDE ", 'engine': {'blend': {'points': 16, 'tolerance': 0.002}}}", NULL, way, NULL);
    check(one > 0.1);
    check_below(some, 0.2 * one);
    check_below(many, 0.05 * one);
    bough_context_destroy(ctx);
}

/* ---- what touches ---- */

#define BALL_AND_FLOOR                                                                       \
    ", 'obstacles': [{'name': 'floor', 'shape': {'plane': true}, 'position': [0, 0, -0.3]}]" \
    ", 'bodies': [{'name': 'ball', 'density': 300, 'position': [0.33, 0, -0.23], 'shape': {'sphere': 0.06}}]"
#define TOUCHING ARM("30", "0", ", 'shape': {'sphere': 0.03}, 'friction': 0.5") BALL_AND_FLOOR

/* The arm swings down onto the floor, which it cannot pass, with any engine; and pushes the ball away. */
static void all_engines_touch(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const engines[] = {"{'kind': 'full'}", "{'kind': 'mechanism', 'joint_tolerance': 1}",
                                          "{'blend': {'points': 8}, 'joint_tolerance': 1}"};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        char text[4000];
        double lowest = 1, hardest = 0;
        snprintf(text, sizeof text, "%s, 'engine': %s}", TOUCHING, engines[i]);
        play p = begin_text(ctx, text, NULL);
        while (value(&p, "time") < 1.2 - 1e-9) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            lowest = fmin(lowest, value(&p, "hand.z"));
            hardest = fmax(hardest, fabs(value(&p, "momentum.x")));
        }
        if (!(lowest < -0.26 && lowest > -0.272))
            fail_msg("%s: the hand came down to %g m", engines[i],
                     lowest); /* the sphere of 3 cm on the floor at -0.3 */
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* A shape of a link that is no end effector: the upper arm comes down on a post half way out and goes no further, by
 * both engines; the hand at its end would go on down to -0.3 m. */
static void links_touch_too(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int full = 0; full < 2; full++) {
        char text[4000];
        double lowest = 1;
        snprintf(text, sizeof text,
                 "%s, 'link_touches': [{'link': 'upper', 'shape': {'box': [0.3, 0.03, 0.03]}}],"
                 "'obstacles': [{'name': 'post', 'position': [0.15, 0, -0.065], 'shape': {'sphere': 0.03}}],"
                 "'engine': {'kind': '%s', 'joint_tolerance': 1}}",
                 ARM("30", "0", ""), full ? "full" : "mechanism");
        play p = begin_text(ctx, text, NULL);
        while (value(&p, "time") < 0.6 - 1e-9) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            lowest = fmin(lowest, value(&p, "hand.z"));
        }
        /* 2 cm under the arm at 0.15 m: 8 cm at 0.6 m, and what the elbow bends beyond */
        if (!(lowest < -0.06 && lowest > -0.2))
            fail_msg("%s: the hand came down to %g m", full ? "full" : "reduced", lowest);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* With contacts there, a checkpoint goes on with the same bits, by both engines. */
static void checkpoints_go_on_bit_by_bit(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const engines[] = {"{'kind': 'full'}", "{'blend': {'points': 5}, 'joint_tolerance': 1}"};
    for (size_t i = 0; i < 2; i++) {
        char text[4000];
        double values[60];
        snprintf(text, sizeof text, "%s, 'engine': %s}", TOUCHING, engines[i]);
        play p = begin_text(ctx, text, NULL);
        for (int k = 0; k < 120; k++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        check_ok(ctx, bough_run_save(ctx, p.run, test_path("arm.check")));
        check_ok(ctx, bough_run_advance(ctx, p.run));
        memcpy(values, bough_run_values(p.run), (size_t)bough_run_column_count(p.run) * sizeof *values);
        end(ctx, &p);
        bough_run_def def = bough_default_run_def();
        def.resume = test_path("arm.check");
        p = begin_file(ctx, test_path("arm.json"), &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check(!memcmp(values, bough_run_values(p.run), (size_t)bough_run_column_count(p.run) * sizeof *values));
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* A steady force on a free base: the momentum of the whole grows by force times time, reduced or in full. */
static void a_free_base_can_be_pushed(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int full = 0; full < 2; full++) {
        play p =
            begin_text(ctx,
                       "{'bough': 1, 'free_base': true, 'generate': {'Y': {'trunk': 2, 'arm': 2, 'stiffness': 50}},"
                       "'forces': [{'link': 'base', 'force': [0.1, 0, 0.2]}],"
                       "'time': {'dt': 0.005, 'duration': 0.5}}",
                       full ? "full" : "mechanism");
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_near(value(&p, "momentum.x"), 0.05, 1e-3);
        check_near(value(&p, "momentum.z"), 0.1, 2e-3);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* A hand that is so stiff and damped that its force at the start of a step would throw the arm around (h d / m > 2)
 * pulls the end of the arm to where it should be. */
static void stiff_hands_hold_the_full_mechanism(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.live = true, def.engine = "full";
    play p = begin_file(ctx, write_scene("arm.json", NARROW "}"), &def);
    const bough_look *surface = look_of(&p, 2);
    int32_t far = 0; /* at the end of the arm */
    for (int32_t v = 1; v < surface->vertex_count; v++)
        far = surface->vertices[3 * v] > surface->vertices[3 * far] ? v : far;
    const double *x = surface->vertices + 3 * far, target[3] = {0.45 + x[0] - 0.01, x[1], x[2] + 0.08};
    check_ok(ctx, bough_run_pull(ctx, p.run, 0, 2, far, target, 3e4, 300));
    for (int i = 0; i < 400; i++) /* and the motors are at rest again */
        check_ok(ctx, bough_run_step(ctx, p.run));
    const bough_pose pose = frame_of(&p, 2).pose;
    check_near(pose.position[2] + pose.rotation[6] * x[0] + pose.rotation[7] * x[1] + pose.rotation[8] * x[2],
               target[2], 5e-3);
    check_below(fabs(value(&p, "hand.vz")), 1e-3);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- internal modes ---- */

/* A chain whose end effector is its first link swings nearly as the whole does, since modes are added by themselves;
 * who wants none gets none. */
#define STUB(engine)                                                                                           \
    "{'bough': 1, 'generate': {'helix': {'links': 12}}, 'end_effectors': [{'name': 'stub', 'link': 'link1'}]," \
    "'time': {'dt': 0.01, 'duration': 0.1}, 'engine': " engine "}"
static void modes_are_added_where_frequencies_need_them(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, STUB("{'end_effectors': ['stub']}"), NULL);
    bough_run_report r = report_of(&p);
    check(r.internal_modes >= 1);
    check(r.frequency_error >= -1e-9 && r.frequency_error < 0.01);
    end(ctx, &p);
    p = begin_text(ctx, STUB("{'end_effectors': ['stub'], 'internal_modes': 'auto'}"), NULL);
    check_int(report_of(&p).internal_modes, r.internal_modes);
    end(ctx, &p);
    p = begin_text(ctx, STUB("{'end_effectors': ['stub'], 'internal_modes': 0}"), NULL);
    check_int(report_of(&p).internal_modes, 0);
    end(ctx, &p);
    p = begin_text(ctx, STUB("{'end_effectors': ['stub'], 'internal_modes': 3}"), NULL);
    check_int(report_of(&p).internal_modes, 3);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* An arm whose shoulder turns by 200 degrees and back, past where angles read from poses jump: the blend goes with the
 * full mechanism, and its account of energy is that one's. */
static void blends_turn_by_more_than_half_a_turn(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play full = begin_text(ctx, ARM("200", "-30", "") "}", "full"),
         blend =
             begin_text(ctx, ARM("200", "-30", "") ", 'engine': {'blend': {'points': 24, 'tolerance': 0.002}}}", NULL);
    double apart = 0, work = 0, account = 0, made = 0, least = 0;
    for (int i = 0; i < 240; i++) {
        check_ok(ctx, bough_run_step(ctx, full.run));
        check_ok(ctx, bough_run_step(ctx, blend.run));
        const double x = value(&blend, "hand.x") - value(&full, "hand.x"),
                     z = value(&blend, "hand.z") - value(&full, "hand.z");
        apart = fmax(apart, hypot(x, z)), work = fmax(work, fabs(value(&full, "work")));
        account = fmax(account, fabs(value(&blend, "balance") - value(&full, "balance")));
        made = fmax(made, value(&blend, "balance") - least), least = fmin(least, value(&blend, "balance"));
    }
    const double gap = report_of(&blend).gap.error;
    printf("hands are %.2g m apart at most, joints by %.2g; accounts by %.2g J of %.2g J; energy rose by %.2g J\n",
           apart, gap, account, work, made);
    check_below(apart, 0.03);
    check_below(gap, 0.02);
    check_below(account, 0.05 * work);
    check_below(made, 0.02 * work);
    end(ctx, &full), end(ctx, &blend);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blends_turn_by_more_than_half_a_turn),
        cmocka_unit_test(motors_that_go_far_choose_the_full_engine),
        cmocka_unit_test(what_is_named_is_taken),
        cmocka_unit_test(joints_that_come_apart_are_named_once),
        cmocka_unit_test(probes_of_joints_show_their_coordinates),
        cmocka_unit_test(blends_follow_their_motors),
        cmocka_unit_test(all_engines_touch),
        cmocka_unit_test(links_touch_too),
        cmocka_unit_test(checkpoints_go_on_bit_by_bit),
        cmocka_unit_test(a_free_base_can_be_pushed),
        cmocka_unit_test(stiff_hands_hold_the_full_mechanism),
        cmocka_unit_test(modes_are_added_where_frequencies_need_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
