/* Multibody systems from files: what theory says of pendulums, motors, gears and rods, what is accounted for, and runs
 * that go on from a checkpoint. */
#include "play.h"

#include <math.h>

#define G 9.81

static play begin_text(bough_context *ctx, const char *text, const bough_run_def *given) {
    bough_run_def def = given ? *given : bough_default_run_def();
    return begin_file(ctx, write_scene("system.json", text), &def);
}

/* A ball of 2 kg and 0.1 m radius at 0.5 m from the hinge, about which it swings in the plane of x and z. */
#define BALL "{'name': 'ball', 'position': [0.5, 0, 0], 'mass': 2, 'shape': {'sphere': 0.1}}"
#define HINGE(more)                                                                                              \
    "{'name': 'hinge', 'kind': 'hinge', 'parent': 'world', 'child': 'ball', 'position': [0, 0, 0], 'axis': [0, " \
    "-1, 0]" more "}"
#define PENDULUM(joint, more)                                                                                     \
    "{'bough': 1, 'bodies': [" BALL                                                                               \
    "], 'joints': [" HINGE(joint) "], 'gravity': [0, 0, -9.81], 'time': {'dt': "                                  \
                                  "0.001, 'duration': 1}, 'probes': [{'name': 'ball', 'body': 'ball'}, {'name': " \
                                  "'angle', 'joint': 'hinge'}, "                                                  \
                                  "{'name': 'pin', 'joint_force': 'hinge'}" more "}"
static const double arm = 0.5, mass = 2, inertia = 2 * (0.25 + 0.4 * 0.01);

/* ---- pendulums ---- */

/* Let go while it is level, it falls as energy says: w^2 = 2 m g l sin(angle) / I. */
static void a_pendulum_falls_as_it_should(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, PENDULUM("", "]"), NULL);
    double lowest = 0;
    for (int i = 0; i < 1000; i++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        const double z = value(&p, "ball.z"), v = hypot(value(&p, "ball.vx"), value(&p, "ball.vz"));
        check_near(0.5 * inertia * v * v / (arm * arm), -mass * G * z, 0.02);
        check_near(value(&p, "angle.value"), atan2(z, value(&p, "ball.x")), 1e-3);
        check_below(fabs(value(&p, "balance")), 0.02);
        lowest = fmin(lowest, z);
    }
    check_near(lowest, -arm, 1e-4);
    bough_run_report report;
    bough_run_look(p.run, &report);
    check_below(report.gap.distance, 1e-4);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A spring in the hinge holds it where its torque is that of the weight; the hinge bears the weight. */
static void a_pendulum_settles_on_its_spring(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, PENDULUM(", 'stiffness': 30, 'damping': 1", "], 'settle': true"), NULL);
    const double angle = value(&p, "angle.value");
    check_near(30 * angle, -mass * G * arm * cos(angle), 1e-7);
    check_near(value(&p, "pin.fz"), mass * G, 2e-12);
    check_near(value(&p, "pin.fx"), 0, 1e-12);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "angle.value"), angle, 1e-8);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- motors ---- */

#define LIFT(more)                                                                                               \
    PENDULUM("", ", {'name': 'motor', 'motor': 'hinge'}], 'curves': {'up': [[0.1, 0], [0.7, 90]]}, 'motors': [{" \
                 "'joint': 'hinge', 'curve': 'up', 'degrees': true" more "}]")

/* A motor that lifts the ball by a quarter of a turn does the work of the weight, with and without a spring between. */
static void motors_lift_and_their_work_is_counted(void **state) {
    (void)state;
    static const char *const texts[] = {LIFT(""), LIFT(", 'between': 'stops'"),
                                        LIFT(", 'stiffness': 20000, 'damping': 200")};
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 3; i++) {
        play p = begin_text(ctx, texts[i], NULL);
        check_near(value(&p, "motor.value"), 0, 1e-12);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_near(value(&p, "ball.z"), arm, 2e-12);
        check_near(value(&p, "ball.x"), 0, 1e-10);
        check_near(value(&p, "motor.value"), M_PI / 2, 2e-10);
        check_near(value(&p, "work"), mass * G * arm, 0.01);
        check_near(value(&p, "balance"), 0, 0.01);
        check_near(value(&p, "motor.effort"), 0, 2e-7); /* the weight is above the hinge */
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Held level by a motor, its torque is m g l; one that may give less lets the ball sink. */
static void motors_give_what_they_can(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx,
                        PENDULUM("", ", {'name': 'motor', 'motor': 'hinge'}], 'curves': {'stay': [[0, 0]]}, 'motors': "
                                     "[{'joint': 'hinge', 'curve': 'stay'}]"),
                        NULL);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "motor.effort"), mass * G * arm, 1e-6);
    end(ctx, &p);
    p = begin_text(ctx,
                   PENDULUM("", ", {'name': 'motor', 'motor': 'hinge'}], 'curves': {'stay': [[0, 0]]}, 'motors': "
                                "[{'joint': 'hinge', 'curve': 'stay', 'stiffness': 500, 'damping': 5, 'limit': 5}]"),
                   NULL);
    for (int i = 0; i < 300; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    check_below(value(&p, "angle.value"), -0.3);
    check_near(value(&p, "motor.effort"), 5, 1e-3);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* The same points in a table and in a curve are the same motion, to the bit. */
static void tables_drive_as_curves_do(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_write_text(test_path("motors.csv"), "time, \"hinge\"\n0,0\n0.3,20\n0.5,-10\n1,30\n");
    play a = begin_text(ctx, PENDULUM("", "], 'motors': {'csv': 'motors.csv', 'degrees': true}"), NULL);
    play b = begin_text(ctx,
                        PENDULUM("", "], 'curves': {'c': [[0, 0], [0.3, 20], [0.5, -10], [1, 30]]}, 'motors': "
                                     "[{'joint': 'hinge', 'curve': 'c', 'degrees': true}]"),
                        NULL);
    for (int i = 0; i < 1000; i++) {
        check_ok(ctx, bough_run_step(ctx, a.run));
        check_ok(ctx, bough_run_step(ctx, b.run));
        check(value(&a, "ball.z") == value(&b, "ball.z"));
        if (i == 299)
            check_near(value(&a, "angle.value"), 20 * M_PI / 180, 1e-4);
    }
    end(ctx, &a), end(ctx, &b);
    bough_context_destroy(ctx);
}

/* A hand on the slider takes the motor over without a jump, and lets it go again. */
static void hands_take_motors_over(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.live = true;
    play p = begin_text(ctx,
                        PENDULUM("", "], 'curves': {'stay': [[0, 0.2]]}, 'motors': [{'joint': 'hinge', 'curve': "
                                     "'stay'}]"),
                        &def);
    bough_run_motor motor;
    check(bough_run_motor_at(p.run, 0, &motor));
    assert_string_equal(motor.unit, "rad");
    check_near(motor.offset, 0.2, 1e-12);
    check_ok(ctx, bough_run_step(ctx, p.run));
    check_near(value(&p, "angle.value"), 0.2, 1e-9);
    check_ok(ctx, bough_run_set_motor(ctx, p.run, 0, 0.8));
    double last = 0.2;
    for (int i = 0; i < 1500; i++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        check_below(fabs(value(&p, "angle.value") - last), 0.02);
        last = value(&p, "angle.value");
    }
    check_near(last, 0.8, 1e-4);
    check_ok(ctx, bough_run_set_motor(ctx, p.run, 0, NAN));
    for (int i = 0; i < 1500; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    check_near(value(&p, "angle.value"), 0.2, 1e-4);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Two wheels that mesh turn against each other, the larger one slower. */
static void gears_mesh(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(
        ctx,
        "{'bough': 1, 'bodies': [{'name': 'a', 'mass': 1, 'shape': {'cylinder': [0.1, 0.02]}}, {'name': 'b', "
        "'position': [0.3, 0, 0], 'mass': 4, 'shape': {'cylinder': [0.2, 0.02]}}], 'joints': [{'name': 'ha', 'kind': "
        "'hinge', 'parent': 'world', 'child': 'a', 'position': [0, 0, 0]}, {'name': 'hb', 'kind': 'hinge', 'parent': "
        "'world', 'child': 'b', 'position': [0.3, 0, 0]}], 'gears': [{'joints': ['ha', 'hb'], 'ratio': 2}], 'forces': "
        "[{'body': 'a', 'torque': [0, 0, 0.5]}], 'time': {'dt': 0.002, 'duration': 1}, 'probes': [{'name': 'a', "
        "'joint': 'ha'}, {'name': 'b', 'joint': 'hb'}]}",
        NULL);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const double felt = 0.5 * 0.01 + 0.5 * 4 * 0.04 / 4; /* inertia at the first wheel */
    check_near(value(&p, "a.value"), 0.5 * 0.5 / felt, 0.05);
    check_near(value(&p, "b.value"), -0.5 * value(&p, "a.value"), 1e-4);
    check_near(value(&p, "work"), 0.5 * value(&p, "a.value"), 1e-9);
    check_below(fabs(value(&p, "balance")), 0.02 * value(&p, "work"));
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- flexible parts ---- */

#define ROD                                                                                                         \
    "'components': {'rod': {'mesh': {'generate': 'box', 'type': 'tet10', 'size': [0.5, 0.01, 0.01], 'cells': [12, " \
    "1, 1]}, 'material': {'model': 'stvk', 'young': 2e9, 'poisson': 0.3, 'density': 1000}, 'interfaces': {'base': " \
    "{'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 10, 'kind': 'mass-loaded+derivatives'}}}"
#define TIP "{'name': 'weight', 'position': [0.5, 0.005, 0.005], 'mass': 0.02, 'shape': {'sphere': 0.01}}"
#define GRIP "{'name': 'grip', 'kind': 'weld', 'parent': {'part': 'rod', 'interface': 'tip'}, 'child': 'weight'}"
#define HELD_ROD(more)                                                                                           \
    "{'bough': 1, " ROD ", 'bodies': [" TIP "], 'parts': [{'name': 'rod', 'component': 'rod', 'clamp': "         \
    "{'position': [0, 0.005, 0.005]}}], 'joints': [" GRIP "], 'time': {'dt': 0.002, 'duration': 0.5}, 'probes':" \
    "[{'name': 'weight', 'body': 'weight'}, {'name': 'tip', 'part': 'rod', 'nearest': [0.5, 0, 0]}, {'name': "   \
    "'top', 'part': 'rod', 'stress': 'max'}, {'name': 'grip', 'joint_force': 'grip'}]" more "}"

/* Forces at the body, at the interface and at a vertex of the end bend the rod as F l^3 / (3 E I); in full order, too. */
static void a_rod_bends_as_a_beam(void **state) {
    (void)state;
    static const char *const at[] = {"'body': 'weight'", "'part': 'rod', 'interface': 'tip'",
                                     "'part': 'rod', 'nearest': [0.5, 0.005, 0.005]"};
    bough_context *ctx = test_context(1);
    const double E = 2e9, I = 1e-8 / 12, l = 0.5, F = 0.05;
    for (int i = 0; i < 6; i++) {
        char text[4000];
        bough_run_def def = bough_default_run_def();
        def.engine = i < 3 ? NULL : "full";
        snprintf(text, sizeof text, "%s", HELD_ROD(", 'settle': true, 'forces': [{@, 'force': [0, 0, -0.05]}]"));
        char *mark = strchr(text, '@'), rest[200];
        snprintf(rest, sizeof rest, "%s", mark + 1);
        snprintf(mark, sizeof text - (size_t)(mark - text), "%s%s", at[i % 3], rest);
        play p = begin_text(ctx, text, &def);
        check_near(value(&p, "weight.uz"), -F * l * l * l / (3 * E * I), 0.02 * F * l * l * l / (3 * E * I));
        check_near(value(&p, "tip.uz"), value(&p, "weight.uz"), 1e-5);
        check_near(value(&p, "grip.fz"), i % 3 == 0 ? F : 0, 1e-8); /* the rod holds the weight against it */
        const double stress = F * l * 0.005 / I;                    /* at the surface, above the mean of any element */
        check(value(&p, "top.von_mises") > 0.3 * stress && value(&p, "top.von_mises") < stress);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Let go, it swings with 2 pi f = sqrt(3 E I / l^3 / (m + 33/140 of the rod)) and loses next to nothing. */
static void a_rod_swings_as_a_beam(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, HELD_ROD(", 'forces': [{'body': 'weight', 'force': [0, 0, -1], 'until': 0.01}]"), NULL);
    const double k = 3 * 2e9 * (1e-8 / 12) / 0.125, hz = sqrt(k / (0.02 + 33.0 / 140 * 0.05)) / (2 * M_PI);
    double crossings[2] = {0}, before = 0, pushed = 0;
    int count = 0;
    for (int i = 0; i < 250; i++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        const double z = value(&p, "weight.z") - 0.005, t = value(&p, "time");
        if (before < 0 && z >= 0 && t > 0.02) {
            crossings[count > 0] = t - 0.002 * z / (z - before);
            count++;
        }
        before = z;
        pushed = i == 10 ? value(&p, "balance") : pushed;
        if (i > 10)
            check_near(value(&p, "balance"), pushed, 0.1 * value(&p, "work")); /* high modes fade */
    }
    check(count >= 2);
    check_near((count - 1) / (crossings[1] - crossings[0]), hz, 0.02 * hz);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- checkpoints ---- */

#define ARM                                                                                                     \
    "{'bough': 1, " ROD ", 'bodies': [{'name': 'hub', 'position': [0, 0.005, 0.005], 'mass': 0.1, 'shape': "    \
    "{'sphere': 0.02}}, " TIP "], 'parts': [{'name': 'rod', 'component': 'rod', 'clamp': 'hub'}], 'joints': ["  \
    "{'name': 'shoulder', 'kind': 'hinge', 'parent': 'world', 'child': 'hub', 'position': [0, 0.005, 0.005], "  \
    "'axis': [0, 1, 0]}, " GRIP "], 'curves': {'turn': [[0, 0], [0.2, 1], [0.4, 0]]}, 'motors': [{'joint': "    \
    "'shoulder', 'curve': 'turn', 'scale': 0.5}], 'gravity': [0, 0, -9.81], 'time': {'dt': 0.002, 'duration': " \
    "0.4}, 'probes': [{'name': 'weight', 'body': 'weight'}, {'name': 'motor', 'motor': 'shoulder'}]}"

static void runs_resume_to_the_same_bits(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const integrators[] = {NULL, "tr-bdf2", "generalised-alpha"};
    for (int i = 0; i < 3; i++) {
        bough_run_def def = bough_default_run_def();
        def.integrator = integrators[i];
        play whole = begin_text(ctx, ARM, &def);
        check_ok(ctx, bough_run_advance(ctx, whole.run));
        play first = begin_text(ctx, ARM, &def);
        for (int k = 0; k < 77; k++)
            check_ok(ctx, bough_run_step(ctx, first.run));
        check_ok(ctx, bough_run_save(ctx, first.run, test_path("half.state")));
        end(ctx, &first);
        def.resume = test_path("half.state");
        play second = begin_text(ctx, ARM, &def);
        check_ok(ctx, bough_run_advance(ctx, second.run));
        for (int32_t c = 0; c < bough_run_column_count(whole.run); c++)
            if (bough_run_values(whole.run)[c] != bough_run_values(second.run)[c])
                fail_msg("%s differs", bough_run_column_name(whole.run, c));
        end(ctx, &whole), end(ctx, &second);
    }
    bough_context_destroy(ctx);
}

/* ---- assembly ---- */

#define CRANK(x)                                                                                        \
    "{'bough': 1, 'bodies': [" BALL                                                                     \
    "], 'joints': [" HINGE("") ", {'name': 'far', 'kind': 'ball', 'parent': "                           \
                               "{'body': 'world', 'position': [" x                                      \
                               ", 0, 0]}, 'child': {'body': 'ball', 'position': [0, 0, 0]}}], 'time': " \
                               "{'duration': 0.1}, 'probes': [{'name': 'ball', 'body': 'ball'}]}"

/* Ends with frames of their own are brought together, where that is possible. */
static void systems_are_assembled_or_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    bough_scene *scene;
    bough_run *run;
    play p = begin_text(ctx, CRANK("0.5"), NULL);
    end(ctx, &p);
    check_ok(ctx, bough_scene_load(ctx, write_scene("apart.json", CRANK("0.9")), &scene));
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_NO_CONVERGENCE, "misses by");
    check(strstr(bough_message(ctx), "apart.json") && strstr(bough_message(ctx), "joint"));
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* A rod that bends under a weight at its end is stressed as beams are: M c / I at its sides, nothing in the middle of its
 * height, and less towards the end. Bodies have no stress. */
static void stress_is_a_field_over_parts(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(
        ctx,
        "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'tet10', 'size': [1, 0.1, 0.1], "
        "'cells': [20, 2, 2]}, 'material': {'young': 2e9, 'poisson': 0.3, 'density': 1}, 'interfaces': {'base': "
        "{'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 12}}}, 'bodies': [{'name': 'ball', "
        "'position': [1, 0, 0], 'mass': 10, 'shape': {'sphere': 0.05}}], 'parts': [{'name': 'rod', 'component': "
        "'rod'}], 'joints': [{'name': 'grip', 'kind': 'weld', 'parent': {'part': 'rod', 'interface': 'tip'}, "
        "'child': 'ball'}], 'gravity': [0, 0, -9.81], 'settle': true, 'time': {'dt': 0.001, 'duration': 1}}",
        NULL);
    check_int(bough_run_thing_count(p.run), 2);
    const bough_mesh *mesh = bough_run_mesh(p.run);
    float *found = calloc((size_t)mesh->vertex_count, sizeof *found);
    check(found && bough_run_can(p.run) & BOUGH_CAN_STRESS);
    check_ok(ctx, bough_run_vertex_stresses(p.run, found));
    int32_t seen = 0;
    double least = 2, most = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * (size_t)v;
        if (v < bough_run_thing(p.run, 0)->vertex_count)
            check(found[v] == 0);
        else if (fabs(x[2]) > 0.049 && fabs(x[1]) < 0.04 && x[0] > 0.25 && x[0] < 0.75) {
            const double I = 0.1 * 1e-3 / 12, expected = 10 * G * (1 - x[0]) * 0.05 / I;
            const double share =
                (double)found[v] / expected; /* points are means over elements, inside of the surface */
            least = fmin(least, share), most = fmax(most, share);
            seen++;
        }
    }
    check(seen >= 10);
    printf("%g to %g of a beam's\n", least, most);
    check(least > 0.5 && most < 1.05);
    double peaks[2];
    check_int(bough_run_stress_count(p.run), 2);
    check_ok(ctx, bough_run_stresses(p.run, peaks));
    check(peaks[0] == 0);
    const double share = peaks[1] / (10 * G * 0.05 / (0.1 * 1e-3 / 12)); /* at the clamp */
    check(share > 0.5 && share < 1.05);
    free(found);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

#define PLUMB(z)                                                                                                      \
    "{'bough': 1, 'bodies': [{'name': 'ball', 'position': [0, 0, " z                                                  \
    "], 'mass': 2, 'shape': {'sphere': 0.1}}], 'joints': [{'name': 'hinge', 'kind': 'hinge', 'parent': 'world', "     \
    "'child': 'ball', 'position': [0, 0, 0], 'axis': [0, 1, 0]}], 'gravity': [0, 0, -9.81], 'settle': true, 'time': " \
    "{'dt': 0.001, 'duration': 1}}"

/* A pendulum that hangs swings with sqrt(m g l / I); one that stands on its hinge falls over; on a spring, level, the
 * weight adds to the stiffness where it turns back. */
static void pendulums_have_modes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.live = true;
    double hz[3];
    bough_run_modes modes = {.most = 3, .frequencies_hz = hz};
    play p = begin_text(ctx, PLUMB("-0.5"), &def);
    const bough_mesh *mesh = bough_run_mesh(p.run);
    modes.shapes = calloc(9 * (size_t)mesh->vertex_count, sizeof *modes.shapes);
    check(modes.shapes && bough_run_can(p.run) & BOUGH_CAN_MODES);
    check_ok(ctx, bough_run_find_modes(ctx, p.run, &modes));
    check_int(modes.count, 1); /* its only freedom */
    check_int(modes.unstable_count, 0);
    check_near(hz[0], sqrt(mass * G * arm / inertia) / (2 * M_PI), 1e-13);
    double farthest = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        farthest = fmax(farthest, fabs(modes.shapes[3 * v]));
    check_near(farthest, (arm + 0.1) / sqrt(inertia), 1e-13); /* of unit modal mass */
    free(modes.shapes);
    modes.shapes = NULL;
    end(ctx, &p);
    p = begin_text(ctx, PLUMB("0.5"), &def);
    check_ok(ctx, bough_run_find_modes(ctx, p.run, &modes));
    check_int(modes.unstable_count, 1);
    check(hz[0] == 0);
    end(ctx, &p);
    p = begin_text(ctx, PENDULUM(", 'stiffness': 30", "], 'settle': true"), &def);
    check_ok(ctx, bough_run_find_modes(ctx, p.run, &modes));
    const double angle = value(&p, "angle.value");
    check_near(hz[0], sqrt((30 - mass * G * arm * sin(angle)) / inertia) / (2 * M_PI), 1e-12);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- steps that adapt ---- */

#define SWING(engine)                                                                                                 \
    "{'bough': 1, 'bodies': [" BALL "], 'joints': [" HINGE(                                                           \
        "") "], 'gravity': [0, 0, -9.81], 'time': {'dt': 0.05, 'duration': 2}, 'engine': {'kind': 'multibody'" engine \
            "}, 'probes': [{'name': 'ball', 'body': 'ball'}]}"

/* Energy that a pendulum has lost after 2 s, in parts of what it swings with. Checkpoints are in the middle of it. */
static double lost(bough_context *ctx, const char *text, bool resume) {
    bough_run_def def = bough_default_run_def();
    def.energy_tolerance = -1;
    play p = begin_text(ctx, text, &def);
    for (int i = 0; i < 20; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    if (resume) {
        check_ok(ctx, bough_run_save(ctx, p.run, test_path("half.state")));
        end(ctx, &p);
        def.resume = test_path("half.state");
        p = begin_text(ctx, text, &def);
    }
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const double all = -value(&p, "total") / (mass * G * arm); /* it began with none */
    end(ctx, &p);
    return all;
}

/* Two tolerances, a thousand apart: the error of a second-order method follows its step, which follows the cube root of
 * the tolerance. */
static void steps_adapt_to_a_tolerance(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double coarse = lost(ctx, SWING(""), false), fine = lost(ctx, SWING(", 'tolerance': 1e-5"), false),
                 finer = lost(ctx, SWING(", 'tolerance': 1e-8"), false);
    print_message("lost: %.2g with steps of 50 ms, %.2g and %.2g with tolerances\n", coarse, fine, finer);
    check(fabs(fine) < 0.2 * fabs(coarse) && fabs(finer) < 0.1 * fabs(fine));
    check(lost(ctx, SWING(", 'tolerance': 1e-5"), true) == fine); /* to the same bits */
    bough_run_def def = bough_default_run_def();
    def.integrator = "tr-bdf2";
    bough_scene *scene;
    bough_run *run;
    check_ok(ctx, bough_scene_load(ctx, write_scene("system.json", SWING(", 'tolerance': 1e-5")), &scene));
    check(bough_run_create(ctx, scene, &def, &run) == BOUGH_ERROR_UNSUPPORTED);
    check(strstr(bough_message(ctx), "not for \"tr-bdf2\""));
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- full order ---- */

/* The weight's way over the whole run, 200 steps of 3. */
static void follow(bough_context *ctx, const char *engine, const char *integrator, double *way) {
    bough_run_def def = bough_default_run_def();
    def.engine = engine, def.integrator = integrator;
    play p = begin_text(ctx, ARM, &def);
    for (int i = 0; i < 200; i++, way += 3) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        way[0] = value(&p, "weight.x"), way[1] = value(&p, "weight.y"), way[2] = value(&p, "weight.z");
    }
    end(ctx, &p);
}

static double rms(int count, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum / count);
}

static void arms_swing_as_their_twins(void **state) {
    (void)state;
    static const char *const integrators[] = {NULL, "tr-bdf2", "generalised-alpha"};
    static double reduced[600], full[600], rest[600];
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 600; i++)
        rest[i] = i % 3 == 0 ? 0.5 : 0.005;
    for (int i = 0; i < 3; i++) {
        follow(ctx, NULL, integrators[i], reduced);
        follow(ctx, "full", integrators[i], full);
        check_below(rms(600, reduced, full) / rms(600, full, rest), 2e-3);
    }
    bough_context_destroy(ctx);
}

/* The factor of the last step is not kept: the next one is another way to the same solution. */
static void twins_go_on_from_checkpoints(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.engine = "full";
    play whole = begin_text(ctx, ARM, &def);
    check_ok(ctx, bough_run_advance(ctx, whole.run));
    def.duration = 0.2, def.checkpoint = test_path("twin.state");
    play half = begin_text(ctx, ARM, &def);
    check_ok(ctx, bough_run_advance(ctx, half.run));
    end(ctx, &half);
    def.duration = 0.4, def.checkpoint = NULL, def.resume = test_path("twin.state");
    play rest = begin_text(ctx, ARM, &def);
    check_ok(ctx, bough_run_advance(ctx, rest.run));
    for (int i = 0; i < 3; i++) {
        static const char *const columns[] = {"weight.x", "weight.z", "motor.effort"};
        check(fabs(value(&rest, columns[i]) - value(&whole, columns[i])) < 1e-9); /* rounding, as a rule */
    }
    end(ctx, &rest), end(ctx, &whole);
    bough_context_destroy(ctx);
}

static void bodies_with_joints_have_three_engines(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, ARM, NULL);
    bough_scene_info info;
    bough_scene_describe(ctx, p.scene, &info);
    check_int(info.engine_count, 3);
    check(strcmp(info.engines[1].name, "full") == 0 && info.engines[1].suits);
    end(ctx, &p);
    p = begin_text(ctx, HELD_ROD(", 'engine': {'kind': 'full'}"), NULL);
    bough_scene_describe(ctx, p.scene, &info);
    check(strcmp(info.kind, "multibody") == 0 && strcmp(info.engine, "full") == 0);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pendulum_falls_as_it_should),
                                       cmocka_unit_test(a_pendulum_settles_on_its_spring),
                                       cmocka_unit_test(motors_lift_and_their_work_is_counted),
                                       cmocka_unit_test(motors_give_what_they_can),
                                       cmocka_unit_test(tables_drive_as_curves_do),
                                       cmocka_unit_test(hands_take_motors_over),
                                       cmocka_unit_test(gears_mesh),
                                       cmocka_unit_test(a_rod_bends_as_a_beam),
                                       cmocka_unit_test(a_rod_swings_as_a_beam),
                                       cmocka_unit_test(runs_resume_to_the_same_bits),
                                       cmocka_unit_test(systems_are_assembled_or_refused),
                                       cmocka_unit_test(stress_is_a_field_over_parts),
                                       cmocka_unit_test(pendulums_have_modes),
                                       cmocka_unit_test(steps_adapt_to_a_tolerance),
                                       cmocka_unit_test(arms_swing_as_their_twins),
                                       cmocka_unit_test(twins_go_on_from_checkpoints),
                                       cmocka_unit_test(bodies_with_joints_have_three_engines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
