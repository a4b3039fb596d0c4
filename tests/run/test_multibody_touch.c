/* Multibody systems from files that touch their surroundings: who bears which weight, friction, what is at rest stays,
 * and contact together with motors, loops, limits and parts that bend. */
#include "play.h"

#include "base/vec.h"

#include <math.h>

#define G 9.81
#define GROUND "{'name': 'ground', 'shape': {'plane': true}}"
#define SCENE(bodies, more, dt, duration)                                                                           \
    "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [" bodies                                              \
    "], 'gravity': [0, 0, -9.81], 'obstacles': [" GROUND "], 'time': {'dt': " dt ", 'duration': " duration "}" more \
    "}"

static play begin_text(bough_context *ctx, const char *text) {
    const bough_run_def def = bough_default_run_def();
    return begin_file(ctx, write_scene("touching.json", text), &def);
}

static void advance(bough_context *ctx, play *p, int steps) {
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}

/* The sum of the forces of the last step on a thing. No force leaves its cone: friction is at most mu times normal. */
static bo_vec3 force_on(const play *p, int32_t thing, double mu) {
    bough_run_contact contacts[32];
    bo_vec3 sum = {0, 0, 0};
    const int32_t count = bough_run_contacts(p->run, 32, contacts);
    for (int32_t i = 0; i < count; i++) {
        const bough_run_contact *c = &contacts[i];
        const bo_vec3 f = bo_load3(c->force), n = bo_load3(c->normal);
        const double normal = bo_dot(f, n);
        check(normal >= -1e-12);
        check_below(bo_norm(bo_mul_add(f, -normal, n)), mu * normal + 1e-6);
        check(c->things[0] != c->things[1]);
        for (int side = 0; side < 2; side++)
            if (c->things[side] == thing)
                sum = bo_mul_add(sum, side ? -1 : 1, f);
    }
    return sum;
}

/* ---- what rests ---- */

/* A rod of 2 kg that turns about a hinge at 0.5 m and has a ball at its end. */
#define ROD(mu)                                                                                                   \
    "{'name': 'rod', 'position': [0.5, 0, 0.5], 'mass': 2, 'shape': [{'box': [1, 0.06, 0.06]}, {'sphere': 0.08, " \
    "'position': [0.5, 0, 0]}], 'touch': {'sphere': 0.08, 'position': [0.5, 0, 0]}, 'centre': [0, 0, 0], "        \
    "'inertia': [0.01, 0.17, 0.17, 0, 0, 0], 'friction': " mu "}"
#define PIN(more)                                                                                                      \
    "'joints': [{'name': 'pin', 'kind': 'hinge', 'parent': 'world', 'child': 'rod', 'position': [0, 0, 0.5], 'axis': " \
    "[0, 1, 0]" more "}]"
#define PROBES                                                                                                     \
    "'probes': [{'name': 'rod', 'body': 'rod'}, {'name': 'pin', 'joint_force': 'pin'}, {'name': 'push', 'touch': " \
    "'rod'}]"
#define LEVER_OF(mu, joint, dt, duration) SCENE(ROD(mu), ", " PIN(joint) ", " PROBES, dt, duration)
#define LEVER(joint, dt, duration) LEVER_OF("0.5", joint, dt, duration)

/* A rod that falls about its hinge comes to rest on the ground; hinge and ground bear its weight, and neither turns it.
 * What energy is lost does not come back. */
static void a_rod_that_falls_rests_on_the_ground(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, LEVER("", "0.002", "3"));
    double balance = 0;
    for (int i = 0; i < 1500; i++) {
        advance(ctx, &p, 1);
        check_below(value(&p, "balance") - balance, 1e-7);
        balance = value(&p, "balance");
    }
    const bo_vec3 push = bo_v3(value(&p, "push.fx"), value(&p, "push.fy"), value(&p, "push.fz"));
    const bo_vec3 reported = force_on(&p, 0, 0.5);
    check_near(bo_norm(bo_sub(push, reported)), 0, 1e-12);
    check_near(value(&p, "pin.fz") + push.z, 2 * G, 2e-12);
    check_near(value(&p, "pin.fx") + push.x, 0, 1e-12);
    const bo_vec3 middle = bo_v3(value(&p, "rod.x"), 0, value(&p, "rod.z") - 0.5);
    const bo_vec3 foot = bo_mul_add(bo_scale(2, middle), -0.08, bo_v3(0, 0, 1)); /* the lowest point of the ball */
    const bo_vec3 turn = bo_add(bo_cross(foot, push), bo_cross(middle, bo_v3(0, 0, -2 * G)));
    check_near(turn.y, 0, 1e-7);
    check_near(2 * middle.z + 0.5, 0.08, 5e-8); /* the ball lies on the ground */
    check_below(value(&p, "kinetic"), 1e-25);
    check_below(balance, -4);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- friction ---- */

/* A box that is pushed along the ground by f, of weight 2 g and friction 0.5: it stays, or moves as what is left says. */
#define SLED(force, dt, duration)                                                                                   \
    SCENE("{'name': 'sled', 'position': [0, 0, 0.1], 'mass': 2, 'shape': {'box': [0.4, 0.4, 0.2]}, 'touch': true}", \
          ", 'forces': [{'body': 'sled', 'position': [0, 0, 0], 'force': [" force ", 0, 0]}], 'probes': [{'name': " \
          "'sled', 'body': 'sled'}]",                                                                               \
          dt, duration)

static void friction_holds_and_brakes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, SLED("9", "0.002", "1"));
    advance(ctx, &p, 500);
    check_near(value(&p, "sled.x"), 0, 1e-15);
    check_near(force_on(&p, 0, 0.5).x, -9, 1e-12);
    end(ctx, &p);
    p = begin_text(ctx, SLED("12", "0.002", "1"));
    advance(ctx, &p, 500);
    const double a = (12 - 0.5 * 2 * G) / 2;
    check_near(value(&p, "sled.vx"), a, 1e-10);
    check_near(force_on(&p, 0, 0.5).x, -0.5 * 2 * G, 1e-12);
    check_near(force_on(&p, 0, 0.5).z, 2 * G, 1e-12);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Five minutes later all lies where it lay: a rod on ground without friction, which bears half of it, and a box that
 * friction alone holds. */
static void what_rests_stays(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, LEVER_OF("0", "", "0.01", "400"));
    advance(ctx, &p, 1000);
    const double x = value(&p, "rod.x"), z = value(&p, "rod.z");
    advance(ctx, &p, 30000);
    check_near(value(&p, "rod.x"), x, 1e-14);
    check_near(value(&p, "rod.z"), z, 1e-14);
    check_near(value(&p, "push.fz"), G, 2e-12);
    check_near(value(&p, "pin.fz"), G, 1e-12);
    end(ctx, &p);
    p = begin_text(ctx, SLED("9", "0.01", "400"));
    advance(ctx, &p, 30000);
    check_near(value(&p, "sled.x"), 0, 1e-13);
    check_near(value(&p, "sled.z"), 0.1, 1e-14);
    check_near(force_on(&p, 0, 0.5).x, -9, 1e-12);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- bodies that touch each other ---- */

#define BALL(name, x, z, more) \
    "{'name': '" name "', 'position': [" x ", 0, " z "], 'mass': 1, 'shape': {'sphere': 0.1}, 'touch': true" more "}"

/* The ground bears three balls in a column, the second of them two. */
static void lower_bodies_bear_upper_ones(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p =
        begin_text(ctx, SCENE(BALL("a", "0", "0.1", "") "," BALL("b", "0", "0.3", "") "," BALL("c", "0", "0.5", ""), "",
                              "0.005", "1"));
    advance(ctx, &p, 200);
    check_near(force_on(&p, 3, 0.5).z, -3 * G, 1e-12); /* the ground comes after the bodies */
    check_near(force_on(&p, 0, 0.5).z, G, 1e-12);
    check_near(force_on(&p, 2, 0.5).z, G, 1e-12);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A ball flies at another one and gives it its speed, unless a joint connects them or the scene names the pair. */
static void neighbours_and_named_pairs_pass_through(void **state) {
    (void)state;
    static const char joined[] =
        ", 'joints': [{'name': 'j', 'kind': 'planar', 'parent': 'a', 'child': 'b', 'position': [0, 0, 5]}]";
    static const char *const more[] = {joined, ", 'pass_through': [['a', 'b']]", ""};
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 3; i++) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [" BALL("a", "0", "5", "") "," BALL(
                "b", "0.3", "5",
                ", 'velocity': [-1, 0, 0], 'restitution': 1") "], 'time': {'dt': 0.005, 'duration': 1}%s, 'probes': "
                                                              "[{'name': 'a', 'body': 'a'}, {'name': 'b', "
                                                              "'body': 'b'}]}",
            more[i]);
        play p = begin_text(ctx, text);
        advance(ctx, &p, 50);
        check_near(value(&p, "a.vx"), i < 2 ? 0 : -1, 1e-12);
        check_near(value(&p, "b.vx"), i < 2 ? -1 : 0, 1e-12);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* ---- together with what else there is ---- */

/* A motor that gives way presses the rod on the ground: N times the lever is its torque and that of the weight. */
static void motors_press(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, SCENE(ROD("0.5"),
                                   ", " PIN("") ", 'curves': {'down': [[0, 0], [0.5, 60]]}, 'motors': [{'joint': "
                                                "'pin', 'curve': 'down', 'degrees': true, "
                                                "'stiffness': 100, 'damping': 5}], 'probes': [{'name': 'rod', 'body': "
                                                "'rod'}, {'name': 'push', 'touch': 'rod'}, "
                                                "{'name': 'motor', 'motor': 'pin'}]",
                                   "0.002", "3"));
    advance(ctx, &p, 1500);
    const double x = value(&p, "rod.x"), arm_z = 2 * (value(&p, "rod.z") - 0.5) - 0.08;
    const double torque = value(&p, "motor.effort");
    check_near(torque, 100 * (M_PI / 3 - value(&p, "motor.value")), 1e-11);
    /* about y: z fx - x fz of the push, x times the weight, and the motor */
    check_near(arm_z * value(&p, "push.fx") - 2 * x * value(&p, "push.fz") + x * 2 * G + torque, 0, 1e-5);
    check(value(&p, "push.fz") > 2 * G);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Limits of the hinge hold the rod above the ground; nothing touches. */
static void limits_hold_before_the_ground(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, LEVER(", 'damping': 20, 'limits_deg': [-90, 10], 'limit_stiffness': 1e4", "0.002", "3"));
    advance(ctx, &p, 1500);
    check_int(bough_run_contacts(p.run, 0, NULL), 0);
    check_near(value(&p, "pin.fz"), 2 * G, 1e-10);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Three bars that hang at two hinges in a loop swing down until the lowest lies on the ground: hinges and ground bear
 * all. */
#define BAR(name, x, z, turn, more)                                                                                    \
    "{'name': '" name "', 'position': [" x ", 0, " z "], 'rotate_deg': [0, " turn ", 0], 'mass': 1, 'shape': {'box': " \
    "[0.5, 0.04, 0.04]}" more "}"
#define TURN(name, a, b, x, z)                                                                             \
    "{'name': '" name "', 'kind': 'hinge', 'parent': '" a "', 'child': '" b "', 'position': [" x ", 0, " z \
    "], 'axis': [0, 1, 0], 'damping': 0.05}"
#define BARS                                                                                                   \
    BAR("left", "0.176776695", "0.273223305", "45", "")                                                        \
    "," BAR("right", "0.676776695", "0.273223305", "45", "") "," BAR("low", "0.603553391", "0.096446609", "0", \
                                                                     ", 'touch': true")
#define TURNS                                                \
    TURN("a", "world", "left", "0", "0.45")                  \
    "," TURN("b", "world", "right", "0.5", "0.45") "," TURN( \
        "c", "left", "low", "0.353553391", "0.096446609") "," TURN("d", "right", "low", "0.853553391", "0.096446609")
static void loops_rest_too(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, SCENE(BARS,
                                   ", 'joints': [" TURNS
                                   "], 'probes': [{'name': 'a', 'joint_force': 'a'}, {'name': 'b', 'joint_force': "
                                   "'b'}, {'name': 'push', 'touch': 'low'}, {'name': 'low', 'body': 'low'}]",
                                   "0.002", "2"));
    advance(ctx, &p, 1000);
    check_near(value(&p, "low.z"), 0.02, 1e-8);
    check(value(&p, "push.fz") > 5);
    check_near(value(&p, "a.fz") + value(&p, "b.fz") + value(&p, "push.fz"), 3 * G, 1e-9);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A ball at the end of a rod that bends lies on the ground: the rod bears what the ground does not. */
static void parts_that_bend_lay_their_load_down(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': "
                             "[1, 0.1, 0.1], 'cells': [10, 1, 1]}, "
                             "'material': {'young': 2e6, 'density': 1000}, "
                             "'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 12}}}, "
                             "'bodies': [{'name': 'ball', 'position': [1, 0.05, 0.05], 'mass': 1, 'shape': {'sphere': "
                             "0.05}, 'touch': true}], 'parts': [{'name': 'rod', "
                             "'component': 'rod', 'clamp': {'position': [0, 0.05, 0.05]}, 'damping': {'mass': 2, "
                             "'stiffness': 0.01}}], 'joints': [{'name': "
                             "'grip', 'kind': 'weld', 'parent': {'part': 'rod', "
                             "'interface': 'tip'}, 'child': 'ball'}], 'obstacles': [{'name': 'ground', 'shape': "
                             "{'plane': true}, 'position': [0, 0, -0.1]}], 'probes': [{'name': 'ball', 'body': "
                             "'ball'}, {'name': 'grip', 'joint_force': 'grip'}, {'name': 'push', 'touch': 'ball'}], "
                             "'gravity': [0, 0, -9.81], 'time': {'dt': 0.002, 'duration': 4}}");
    advance(ctx, &p, 2000);
    check_near(value(&p, "ball.z"), -0.05, 2e-11);
    check_near(value(&p, "grip.fz") + value(&p, "push.fz"), G, 2e-11);
    check(value(&p, "push.fz") > 1);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- runs ---- */

/* A checkpoint in the middle of an impact goes on with the same bits. */
static void checkpoints_keep_contacts(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = test_path("touching.checkpoint");
    play a = begin_text(ctx, LEVER("", "0.002", "1"));
    int i = 0;
    for (; bough_run_contacts(a.run, 0, NULL) == 0; i++)
        advance(ctx, &a, 1);
    advance(ctx, &a, 5);
    check_ok(ctx, bough_run_save(ctx, a.run, path));
    bough_run_def def = bough_default_run_def();
    def.resume = path;
    play b = begin_file(ctx, test_path("touching.json"), &def);
    for (; i < 400; i++) {
        advance(ctx, &a, 1);
        advance(ctx, &b, 1);
        for (int32_t c = 0; c < bough_run_column_count(a.run); c++)
            check(bough_run_values(a.run)[c] == bough_run_values(b.run)[c]);
    }
    end(ctx, &a), end(ctx, &b);
    bough_context_destroy(ctx);
}

/* Other integrators are refused by name; what nothing holds has no equilibrium, and that is said. */
static void what_contact_cannot_do_is_said(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    bough_scene *scene;
    bough_run *run;
    check_ok(ctx, bough_scene_load(ctx, write_scene("touching.json", LEVER("", "0.002", "1")), &scene));
    def.integrator = "tr-bdf2";
    check(bough_run_create(ctx, scene, &def, &run) == BOUGH_ERROR_UNSUPPORTED);
    check(strstr(bough_message(ctx), "bodies that touch are stepped by \"bdf2\", not by \"tr-bdf2\"") != NULL);
    bough_scene_destroy(ctx, scene);
    char text[4000];
    snprintf(
        text, sizeof text, "%s",
        SCENE("{'name': 'sled', 'position': [0, 0, 0.1], 'mass': 2, 'shape': {'box': [0.4, 0.4, 0.2]}, 'touch': true, "
              "'friction': 0.1}",
              ", 'settle': true", "0.002", "1"));
    char *gravity = strstr(text, "[0, 0, -9.81]");
    memcpy(gravity, "[3, 0, -9.81]", strlen("[3, 0, -9.81]")); /* steeper than friction holds */
    check_ok(ctx, bough_scene_load(ctx, write_scene("sliding.json", text), &scene));
    def.integrator = NULL;
    check(bough_run_create(ctx, scene, &def, &run) == BOUGH_NO_CONVERGENCE);
    check(strstr(bough_message(ctx), "no equilibrium was found: nothing holds the system where it is") != NULL);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- parts ---- */

#define SOFT_BAR                                                                                                       \
    "{'bough': 1, 'components': {'bar': {'mesh': {'generate': 'box', 'type': 'tet10', 'size': [0.3, 0.05, 0.05], "     \
    "'cells': [6, 1, 1]}, 'material': {'young': 1e7, 'poisson': 0.3, 'density': 1000}, 'interfaces': {'base': "        \
    "{'select': 'x0'}}, 'basis': {'r': 8, 'kind': 'modes+derivatives'}, 'damping': {'stiffness': 0.002}, 'samples': "  \
    "{'contact': 60}}}, 'bodies': [{'name': 'end', 'position': [0, 0, 0.04], 'rotate_deg': [0, 2, 0], 'mass': 0.1, "   \
    "'inertia': [1e-4, 1e-4, 1e-4, 0, 0, 0]}], 'parts': "                                                              \
    "[{'name': 'bar', 'component': 'bar', 'clamp': 'end', 'touch': true, 'friction': 0.4}], 'joints': [], 'gravity': " \
    "[0, 0, -9.81], 'obstacles': [" GROUND "], 'time': {'dt': 0.005, 'duration': 2}, 'probes': [{'name': 'push', "     \
    "'touch': 'bar'}]}"

/* A bar that falls lies on the ground, which bears its weight, whether it bends or not, reduced and in full order; contacts
 * name the part. */
static void parts_lie_on_the_ground(void **state) {
    (void)state;
    static const char *const engines[] = {"multibody", "rigid", "full"};
    for (int k = 0; k < 3; k++) {
        bough_context *ctx = test_context(1);
        bough_run_def def = bough_default_run_def();
        def.engine = engines[k];
        play p = begin_file(ctx, write_scene("bar.json", SOFT_BAR), &def);
        advance(ctx, &p, 200);
        const double weight = (0.3 * 0.05 * 0.05 * 1000 + 0.1) * G;
        check_near(value(&p, "push.fz"), weight, 1e-7 * weight);
        bough_run_contact contacts[60];
        const int32_t count = bough_run_contacts(p.run, 60, contacts);
        check(count > 3);
        for (int32_t i = 0; i < count; i++)
            check_int(contacts[i].things[0], 1);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* ---- equilibria ---- */

/* A rod that is let go slowly lies on the ground where one that fell came to rest, and stays there. */
static void what_settles_rests_on_the_ground(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play fell = begin_text(ctx, LEVER_OF("0", "", "0.002", "3")),
         p = begin_text(ctx, LEVER_OF("0", "", "0.002", "3, 'integrator': 'bdf2'}, 'settle': true, 'curves': {"));
    advance(ctx, &fell, 1500);
    check_near(value(&p, "rod.z"), value(&fell, "rod.z"), 1e-9);
    check_near(value(&p, "push.fz"), value(&fell, "push.fz"), 1e-5);
    const double z = value(&p, "rod.z");
    advance(ctx, &p, 100);
    check_near(value(&p, "rod.z"), z, 1e-8);
    check_near(value(&p, "push.fz"), value(&fell, "push.fz"), 1e-9);
    check_below(value(&p, "kinetic"), 1e-12);
    end(ctx, &fell), end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A bar of soft rubber that is held at one end and sags onto a stone: its equilibrium is where a damped run ends. */
#define SAGGING(settle)                                                                                              \
    "{'bough': 1, 'components': {'bar': {'mesh': {'generate': 'box', 'type': 'tet10', 'size': [0.3, 0.05, 0.05], "   \
    "'cells': [6, 1, 1]}, 'material': {'young': 1e6, 'poisson': 0.3, 'density': 1000}, 'interfaces': {'base': "      \
    "{'select': 'x0'}}, 'basis': {'r': 8, 'kind': 'modes+derivatives'}, 'damping': {'stiffness': 0.01}, 'samples': " \
    "{'contact': 60}}}, 'bodies': [], 'parts': [{'name': 'bar', 'component': 'bar', 'clamp': {'body': 'world', "     \
    "'position': [0, 0, 0.04]}, 'touch': true, 'friction': 0}], 'joints': [], 'gravity': [0, 0, -9.81], "            \
    "'obstacles': [{'name': 'stone', 'shape': {'sphere': 0.02}, 'position': [0.2, 0, -0.012]}], 'time': {'dt': "     \
    "0.004, 'duration': 4}" settle ", 'probes': [{'name': 'push', 'touch': 'bar'}, {'name': 'tip', 'part': 'bar', "  \
    "'nearest': [0.3, 0, 0.04]}]}"

static void parts_settle_on_stones(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play fell = begin_text(ctx, SAGGING("")), p = begin_text(ctx, SAGGING(", 'settle': true"));
    advance(ctx, &fell, 1000);
    check_near(value(&p, "tip.uz"), value(&fell, "tip.uz"), 1e-8);
    check_below(value(&p, "tip.uz"), -0.01);
    advance(ctx, &p, 20);
    check_near(value(&p, "tip.uz"), value(&fell, "tip.uz"), 1e-8);
    check(value(&p, "push.fz") > 0.3);
    check_near(value(&p, "push.fz"), value(&fell, "push.fz"), 1e-5);
    end(ctx, &fell), end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A bar that flies, soft or not, settles on the ground, which bears its weight from the first step on. */
static void free_bars_settle_on_the_ground(void **state) {
    (void)state;
    static const char *const engines[] = {"multibody", "rigid"};
    for (int k = 0; k < 2; k++) {
        bough_context *ctx = test_context(1);
        bough_run_def def = bough_default_run_def();
        def.engine = engines[k], def.settle = true;
        play p = begin_file(ctx, write_scene("bar.json", SOFT_BAR), &def);
        const double weight = (0.3 * 0.05 * 0.05 * 1000 + 0.1) * G;
        for (int i = 0; i < 20; i++) {
            advance(ctx, &p, 1);
            check_near(value(&p, "push.fz"), weight, 1e-3 * weight);
            check_below(value(&p, "kinetic"), 1e-9);
        }
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* ---- parts and parts ---- */

#define COMPONENT(name, size, cells, young, samples)                                                           \
    "'" name "': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': " size ", 'cells': " cells               \
    "}, 'material': {'young': " young ", 'poisson': 0.3, 'density': 1000}, 'interfaces': {'base': {'select': " \
    "'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 6}, 'damping': {'stiffness': 0.004}, 'samples': "         \
    "{'contact': " samples "}}"
#define JAW(name, y) \
    "{'name': '" name "', 'position': [0, " y ", 0], 'mass': 0.05, 'inertia': [1e-5, 1e-5, 1e-5, 0, 0, 0]}"
#define SLIDE(name, axis)                                                         \
    "{'name': '" name "', 'kind': 'prismatic', 'parent': 'palm', 'child': '" name \
    "', 'position': [0, 0, 0], 'axis': " axis "}"
#define GRIPPER                                                                                                        \
    "{'bough': 1, 'components': {" COMPONENT(                                                                          \
        "finger", "[0.12, 0.02, 0.02]", "[8, 2, 2]", "5e6",                                                            \
        "100") ", " COMPONENT("block", "[0.04, 0.04, 0.04]", "[3, 3, 3]", "3e5",                                       \
                              "60") "}, 'bodies': [{'name': 'palm', 'mass': 0.2, 'inertia': [1e-4, 1e-4, 1e-4, 0, 0, " \
                                    "0]}, " JAW("left", "0.05") ", " JAW(                                              \
                                        "right", "-0.05") ", {'name': 'core', 'position': "                            \
                                                          "[0.07, 0, 0]}], 'parts': "                                  \
                                                          "[{'name': 'finger1', 'component': "                         \
                                                          "'finger', 'clamp': 'left', "                                \
                                                          "'touch': true, 'friction': 0.8}, "                          \
                                                          "{'name': 'finger2', "                                       \
                                                          "'component': 'finger', 'clamp': "                           \
                                                          "'right', 'touch': true, "                                   \
                                                          "'friction': 0.8}, {'name': "                                \
                                                          "'block', 'component': 'block', "                            \
                                                          "'clamp': 'core', 'touch': true, "                           \
                                                          "'friction': 0.8}], "                                        \
                                                          "'joints': [{'name': 'lift', "                               \
                                                          "'kind': 'prismatic', 'parent': "                            \
                                                          "'world', 'child': 'palm', "                                 \
                                                          "'position': [0, 0, 0], 'axis': "                            \
                                                          "[0, 0, 1]}, " SLIDE(                                        \
                                                              "left",                                                  \
                                                              "[0, "                                                   \
                                                              "-1, "                                                   \
                                                              "0]") ", " SLIDE("right",                                \
                                                                               "[0, 1, 0]") "], 'curves': "            \
                                                                                            "{'close': [[0, "          \
                                                                                            "0], [0.3, "               \
                                                                                            "0.032]], 'up': "          \
                                                                                            "[[0, 0], "                \
                                                                                            "[0.4, 0], [0.9, "         \
                                                                                            "0.05], [2, "              \
                                                                                            "0.05]]}, "                \
                                                                                            "'motors': "               \
                                                                                            "[{'joint': "              \
                                                                                            "'lift', 'curve': "        \
                                                                                            "'up', 'between': "        \
                                                                                            "'stops'}, "               \
                                                                                            "{'joint': "               \
                                                                                            "'left', "                 \
                                                                                            "'curve': "                \
                                                                                            "'close', "                \
                                                                                            "'stiffness': "            \
                                                                                            "500, 'damping': "         \
                                                                                            "20}, {'joint': "          \
                                                                                            "'right', "                \
                                                                                            "'curve': "                \
                                                                                            "'close', "                \
                                                                                            "'stiffness': "            \
                                                                                            "500, 'damping': "         \
                                                                                            "20}], "                   \
                                                                                            "'obstacles': "            \
                                                                                            "[{'name': "               \
                                                                                            "'table', "                \
                                                                                            "'shape': "                \
                                                                                            "{'plane': true}, "        \
                                                                                            "'position': [0, "         \
                                                                                            "0, -0.02]}], "            \
                                                                                            "'gravity': [0, "          \
                                                                                            "0, -9.81], "              \
                                                                                            "'time': "                 \
                                                                                            "{'dt': 0.005, "           \
                                                                                            "'duration': 2}, "         \
                                                                                            "'probes': "               \
                                                                                            "[{'name': "               \
                                                                                            "'block', "                \
                                                                                            "'part': 'block', "        \
                                                                                            "'nearest': "              \
                                                                                            "[0.09, 0, "               \
                                                                                            "0.02]}, {'name': "        \
                                                                                            "'hold', "                 \
                                                                                            "'touch': "                \
                                                                                            "'block'}]%s}"

/* Two soft fingers close on a soft block, lift it by 50 mm and hold it: friction bears its weight, and the fingers press
 * from both sides. Where the scene lets the block pass through them it stays on the table. */
static void soft_fingers_lift_a_soft_block(void **state) {
    (void)state;
    const double weight = 0.04 * 0.04 * 0.04 * 1000 * G;
    for (int passes = 0; passes < 2; passes++) {
        char text[6000];
        bough_context *ctx = test_context(1);
        snprintf(text, sizeof text, GRIPPER,
                 passes ? ", 'pass_through': [['block', 'finger1'], ['block', 'finger2']]" : "");
        play p = begin_text(ctx, text);
        const double z = value(&p, "block.z");
        advance(ctx, &p, 300);
        printf("the block rose by %.2f mm, at %.2g m/s; force on it %.4f of its weight\n",
               1e3 * (value(&p, "block.z") - z), value(&p, "block.vz"), value(&p, "hold.fz") / weight);
        check_near(value(&p, "block.z") - z, passes ? 0 : 0.05, 2e-3);
        check_near(value(&p, "hold.fz"), weight, 1e-5 * weight);
        static bough_run_contact contacts[200];
        const int32_t count = bough_run_contacts(p.run, 200, contacts);
        double sides[2] = {0, 0};
        for (int32_t i = 0; i < count; i++) {
            const int32_t *things = contacts[i].things; /* bodies, then fingers 4, 5 and the block 6, then the table */
            if (!passes)
                check(things[0] < 6 && things[1] == 6);
            if (things[0] < 6)
                sides[things[0] - 4] += contacts[i].force[1];
        }
        check(passes ? sides[0] == 0 && sides[1] == 0 : sides[0] > 1 && sides[1] < -1);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* A bar that is clamped to the tip of another one, and one that a weld holds there, overlap it and do not touch it. */
static void parts_that_hang_on_each_other_do_not_touch(void **state) {
    (void)state;
    static const char *const hung[] = {
        "'bodies': [], 'parts': [{'name': 'a', 'component': 'bar', 'touch': true}, {'name': 'b', 'component': 'bar', "
        "'touch': true, 'clamp': {'part': 'a', 'interface': 'tip', 'position': [-0.05, 0, 0]}}], 'joints': []",
        "'bodies': [{'name': 'start', 'position': [0.25, 0, 0]}], 'parts': [{'name': 'a', 'component': 'bar', 'touch': "
        "true}, {'name': 'b', 'component': 'bar', 'touch': true, 'clamp': 'start'}], 'joints': [{'name': 'weld', "
        "'kind': 'weld', 'parent': {'part': 'a', 'interface': 'tip'}, 'child': {'part': 'b', 'interface': 'tip'}, "
        "'position': [0.3, 0, 0]}]"};
    for (int i = 0; i < 2; i++) {
        char text[4000];
        bough_context *ctx = test_context(1);
        snprintf(text, sizeof text,
                 "{'bough': 1, 'engine': {'kind': 'multibody'}, 'components': {" COMPONENT(
                     "bar", "[0.3, 0.03, 0.03]", "[8, 2, 2]", "1e7",
                     "90") "}, %s, 'gravity': [0, 0, -9.81], 'time': {'dt': 0.005, "
                           "'duration': 1}}",
                 hung[i]);
        play p = begin_text(ctx, text);
        for (int k = 0; k < 20; k++) {
            advance(ctx, &p, 1);
            check_int(bough_run_contacts(p.run, 0, NULL), 0);
        }
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* ---- obstacles that are led ---- */

#define LED(shape, keys, more)                                                                                      \
    "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [{'name': 'box', 'position': [0, 0, 0.1], 'mass': 2, " \
    "'shape': {'box': [0.2, 0.2, 0.2]}, 'touch': true}], 'obstacles': [{'name': 'led', 'shape': " shape             \
    ", 'track': [" keys "]}" more "], 'gravity': [0, 0, -9.81], 'time': {'dt': 0.005, 'duration': 2}, 'probes': "   \
    "[{'name': 'box', 'body': 'box'}, {'name': 'push', 'touch': 'box'}]}"

/* A lift raises a box with the acceleration of its track: the push is m (g + a), its work the box's energy, and the lift
 * is seen where it is. */
static void lifts_raise_what_lies_on_them(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, LED("{'box': [1, 1, 0.2], 'position': [0, 0, -0.1]}",
                                 "{'time': 0, 'position': [0, 0, 0]}, {'time': 1, 'position': [0, 0, 0.5]}", ""));
    double most = 0;
    for (int i = 0; i < 300; i++) {
        const double v = value(&p, "box.vz");
        advance(ctx, &p, 1);
        most = fmax(most, fabs(value(&p, "push.fz") - 2 * (G + (value(&p, "box.vz") - v) / 0.005)));
    }
    bough_thing_state lift;
    check(bough_run_thing_state(p.run, 1, &lift));
    check_below(most, 1e-9);
    check(fabs(value(&p, "box.z") - 0.6) < 1e-6);
    check_near(lift.frame.pose.position[2], 0.5, 1e-14);
    check_near(value(&p, "work"), 2 * G * 0.5, 0.02 * G);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A belt takes a box along by friction until it is as fast as the belt; a ram pushes one that would lie still. */
static void belts_and_rams_take_things_along(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, LED("{'plane': true}",
                                 "{'time': 0, 'position': [0, 0, 0]}, {'time': 1, 'position': [3, 0, 0]}, {'time': 2, "
                                 "'position': [6, 0, 0]}, {'time': 3, 'position': [9, 0, 0]}",
                                 ""));
    advance(ctx, &p, 20);
    check_near(value(&p, "box.vx"), 0.1 * 0.5 * G, 1e-8); /* it slips, and friction pulls */
    advance(ctx, &p, 280);
    const double x = value(&p, "box.x");
    bough_thing_state belt;
    check(bough_run_thing_state(p.run, 1, &belt));
    const double start = belt.frame.pose.position[0];
    advance(ctx, &p, 20);
    check(bough_run_thing_state(p.run, 1, &belt));
    check_near(value(&p, "box.x") - x, belt.frame.pose.position[0] - start, 1e-10);
    end(ctx, &p);
    p = begin_text(ctx,
                   LED("{'box': [0.2, 0.2, 0.2]}",
                       "{'time': 0, 'position': [-0.5, 0, 0.1]}, {'time': 1, 'position': [0.3, 0, 0.1]}", ", " GROUND));
    advance(ctx, &p, 300);
    check_near(value(&p, "box.x"), 0.5, 5e-8); /* it is thrown a little when the ram slows down */
    check_near(value(&p, "box.z"), 0.1, 1e-9);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void tracks_are_refused_where_they_make_no_sense(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_fails(ctx,
                bough_scene_load(ctx,
                                 write_scene("led.json", LED("{'sphere': 1}",
                                                             "{'time': 0, 'position': [0, 0, 0]}], "
                                                             "'position': [0, 0, 0], 'friction': "
                                                             "0.5}, {'name': 'x', 'shape': "
                                                             "{'sphere': 1}, 'track': [",
                                                             "")),
                                 &scene),
                BOUGH_ERROR_FORMAT, "says where the obstacle is");
    bough_context_destroy(ctx);
}

/* ---- the budget of a step ---- */

/* A box that stands on four corners, among free bodies or as a multibody system. */
#define STANDING(engine, more)                                                                   \
    "{'bough': 1, " engine                                                                       \
    "'bodies': [{'name': 'box', 'mass': 1, 'inertia': [0.01, 0.01, 0.01, 0, 0, 0], 'position': " \
    "[0, 0, 0.1], 'shape': {'box': [0.2, 0.2, 0.2]}" more

static void steps_have_a_budget_of_contacts(void **state) {
    (void)state;
#define REST(budget) \
    "'gravity': [0, 0, -9.81], 'obstacles': [" GROUND "], 'time': {'dt': 0.005, 'duration': 1}" budget "}"
#define ALIKE(budget)                                                                         \
    {                                                                                         \
        STANDING("", "}], " REST(budget)),                                                    \
            STANDING("'engine': {'kind': 'multibody'}, ", ", 'touch': true}], " REST(budget)) \
    }
    static const char *const enough[] = ALIKE(", 'contact': {'most_contacts': 4}");
    static const char *const too_few[] = ALIKE(", 'contact': {'most_contacts': 3}");
    static const char *const none[] = ALIKE(", 'contact': {'most_contacts': 0}");
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    for (int i = 0; i < 2; i++) {
        play p = begin_text(ctx, enough[i]);
        advance(ctx, &p, 10);
        end(ctx, &p);
        p = begin_text(ctx, too_few[i]);
        check_fails(ctx, bough_run_step(ctx, p.run), BOUGH_ERROR_UNSUPPORTED,
                    "4 contacts in one step, and most_contacts allows 3");
        end(ctx, &p);
        check_fails(ctx, bough_scene_load(ctx, write_scene("budget.json", none[i]), &scene), BOUGH_ERROR_FORMAT,
                    "most_contacts");
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_lie_on_the_ground),
                                       cmocka_unit_test(soft_fingers_lift_a_soft_block),
                                       cmocka_unit_test(what_settles_rests_on_the_ground),
                                       cmocka_unit_test(parts_settle_on_stones),
                                       cmocka_unit_test(free_bars_settle_on_the_ground),
                                       cmocka_unit_test(parts_that_hang_on_each_other_do_not_touch),
                                       cmocka_unit_test(lifts_raise_what_lies_on_them),
                                       cmocka_unit_test(belts_and_rams_take_things_along),
                                       cmocka_unit_test(tracks_are_refused_where_they_make_no_sense),
                                       cmocka_unit_test(a_rod_that_falls_rests_on_the_ground),
                                       cmocka_unit_test(friction_holds_and_brakes),
                                       cmocka_unit_test(what_rests_stays),
                                       cmocka_unit_test(lower_bodies_bear_upper_ones),
                                       cmocka_unit_test(neighbours_and_named_pairs_pass_through),
                                       cmocka_unit_test(motors_press),
                                       cmocka_unit_test(limits_hold_before_the_ground),
                                       cmocka_unit_test(loops_rest_too),
                                       cmocka_unit_test(parts_that_bend_lay_their_load_down),
                                       cmocka_unit_test(checkpoints_keep_contacts),
                                       cmocka_unit_test(steps_have_a_budget_of_contacts),
                                       cmocka_unit_test(what_contact_cannot_do_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
