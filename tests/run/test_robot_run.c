/* Robots from URDF and MJCF as multibody systems: they move as the same bodies and joints written by hand do, and as
 * theory says. */
#include "play.h"

#include <math.h>

#define G 9.81

static play begin_text(bough_context *ctx, const char *name, const char *text) {
    const bough_run_def def = bough_default_run_def();
    return begin_file(ctx, write_scene(name, text), &def);
}

/* Steps both by `steps` and compares the columns at every tenth. */
static void check_same_motion(bough_context *ctx, play *a, play *b, int steps, const char *const *columns,
                              double slack) {
    for (int i = 0; i < steps; i++) {
        check_ok(ctx, bough_run_step(ctx, a->run));
        check_ok(ctx, bough_run_step(ctx, b->run));
        for (int c = 0; i % 10 == 9 && columns[c]; c++)
            check_near(value(a, columns[c]), value(b, columns[c]), slack);
    }
    end(ctx, a);
    end(ctx, b);
}

/* ---- a double pendulum ---- */

/* Rods of 1 kg and 0.5 kg, 1 m and 0.5 m long, hung at 2 m; the upper one is 20 degrees from hanging, the lower one 35
 * degrees from it. A camera of 0.1 kg is fixed to the lower one. */
#define CAMERA                                                                                                      \
    "<link name='camera'><inertial><origin xyz='0.02 0 0' rpy='0 0 0.5'/><mass value='0.1'/><inertia ixx='0.001' "  \
    "iyy='0.002' izz='0.0015' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='mount' type='fixed'><parent " \
    "link='lower'/><child link='camera'/><origin xyz='0 0.1 -0.5' rpy='0.3 0 0'/></joint>"
#define DOUBLE_URDF(more)                                                                                        \
    "<robot name='double'><link name='base'/>"                                                                   \
    "<link name='upper'><inertial><origin xyz='0 0 -0.5'/><mass value='1'/><inertia ixx='0.084' iyy='0.085' "    \
    "izz='0.002' ixy='0' ixz='0' iyz='0'/></inertial><visual><origin xyz='0 0 -0.5'/><geometry><box "            \
    "size='0.1 0.1 1'/></geometry></visual></link>"                                                              \
    "<link name='lower'><inertial><origin xyz='0 0 -0.25'/><mass value='0.5'/><inertia ixx='0.011' iyy='0.012' " \
    "izz='0.001' ixy='0' ixz='0' iyz='0'/></inertial></link>"                                                    \
    "<joint name='one' type='continuous'><parent link='base'/><child link='upper'/><origin xyz='0 0 2'/>"        \
    "<axis xyz='0 1 0'/></joint>"                                                                                \
    "<joint name='two' type='revolute'><parent link='upper'/><child link='lower'/><origin xyz='0 0 -1'/>"        \
    "<axis xyz='0 1 0'/><limit lower='-3' upper='3'/><dynamics damping='0.01' friction='0.002'/></joint>" more   \
    "</robot>"

/* The same in degrees, with a class for its joints. */
#define DOUBLE_MJCF                                                                                                    \
    "<mujoco><compiler angle='degree' eulerseq='XYZ'/><default><joint axis='0 2 0'/><default class='rubs'><joint "     \
    "damping='0.01' frictionloss='0.002'/></default></default><worldbody><body name='upper' pos='0 0 2'><joint "       \
    "name='one'/><inertial pos='0 0 -0.5' mass='1' diaginertia='0.084 0.085 0.002'/><geom type='box' size='0.05 0.05 " \
    "0.5' pos='0 0 -0.5'/><body name='lower' pos='0 0 -1' childclass='rubs'><joint name='two' "                        \
    "range='-171.88733853924697 "                                                                                      \
    "171.88733853924697'/><inertial pos='0 0 -0.25' mass='0.5' diaginertia='0.011 0.012 0.001'/><body name='camera' "  \
    "pos='0 0.1 -0.5' euler='17.188733853924695 0 0'><inertial pos='0.02 0 0' mass='0.1' diaginertia='0.001 0.002 "    \
    "0.0015' euler='0 0 28.64788975654116'/></body></body></body></worldbody></mujoco>"

#define STARTS "'start_deg': {'one': 20, 'two': 35}"
#define REST                                                                                               \
    ", 'gravity': [0, 0, -9.81], 'time': {'dt': 0.002, 'duration': 1, 'integrator': 'generalised-alpha', " \
    "'tolerance': 1e-10}, 'probes': [{'name': 'low', 'body': 'lower', "                                    \
    "'position': [0.5, 0, 0]}, {'name': 'two', 'joint': 'two'}, {'name': 'pin', 'joint_force': 'one'}]}"
#define DOUBLE_OF(kind) "{'bough': 1, 'robot': {'" kind "': 'double." kind "', " STARTS "}" REST

static const char *const double_columns[] = {"low.x", "low.z",  "low.vx", "low.vz", "two.value",
                                             "total", "pin.fx", "pin.fz", NULL};

#define UPPER                                                                                                \
    "{'name': 'upper', 'position': [0, 0, 2], 'rotate_deg': [0, 20, 0], 'mass': 1, 'centre': [0, 0, -0.5], " \
    "'inertia': [0.084, 0.085, 0.002, 0, 0, 0]}"
#define HINGES                                                                                                       \
    "{'name': 'one', 'kind': 'hinge', 'parent': 'world', 'child': 'upper', 'position': [0, 0, 2], 'axis': [0, 1, "   \
    "0]}, {'name': 'two', 'kind': 'hinge', 'parent': {'body': 'upper', 'position': [0, 0, -1], 'rotate_deg': [-90, " \
    "0, 0]}, 'child': {'body': 'lower', 'position': [0, 0, 0], 'rotate_deg': [-90, 0, 0]}, 'damping': 0.01, "        \
    "'friction': 0.002, 'limits': [-3, 3]}"

/* By hand: poses are written out, and the camera is a body of its own that is welded on. */
static const char *by_hand(bool camera) {
    static char text[3000], body[400] = "", weld[200] = "";
    const double a = 20 * M_PI / 180, x = -sin(a), z = 2 - cos(a), b = 55 * M_PI / 180, c = cos(0.5), s = sin(0.5);
    const double cx = x - 0.5 * sin(b), cz = z - 0.5 * cos(b); /* 0.5 m along the lower rod; 0.1 m beside it */
    if (camera) {
        snprintf(body, sizeof body,
                 ", {'name': 'camera', 'position': [%.17g, 0.1, %.17g], 'rotate_deg': [%.17g, 55, 0], 'mass': 0.1, "
                 "'centre': [0.02, 0, 0], 'inertia': [%.17g, %.17g, 0.0015, 0, 0, %.17g]}",
                 cx, cz, 0.3 * 180 / M_PI, 0.001 * c * c + 0.002 * s * s, 0.001 * s * s + 0.002 * c * c,
                 -0.001 * s * c);
        snprintf(weld, sizeof weld,
                 ", {'name': 'mount', 'kind': 'weld', 'parent': 'lower', 'child': 'camera', 'position': [%.17g, 0.1, "
                 "%.17g]}",
                 cx, cz);
    }
    snprintf(text, sizeof text,
             "{'bough': 1, 'bodies': [" UPPER
             ", {'name': 'lower', 'position': [%.17g, 0, %.17g], 'rotate_deg': [0, 55, "
             "0], 'mass': 0.5, 'centre': [0, 0, -0.25], 'inertia': [0.011, 0.012, 0.001, 0, 0, 0]}%s], 'joints': "
             "[" HINGES "%s]" REST,
             x, z, body, weld);
    return text;
}

static void a_urdf_moves_as_the_same_bodies_by_hand(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_scene("double.urdf", DOUBLE_URDF(""));
    play a = begin_text(ctx, "urdf.json", DOUBLE_OF("urdf")), b = begin_text(ctx, "hand.json", by_hand(false));
    check_same_motion(ctx, &a, &b, 500, double_columns, 1e-10);
    bough_context_destroy(ctx);
}

/* Within the error of the steps, which is another for two bodies than for one. */
static void what_is_fixed_is_welded(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_scene("double.urdf", DOUBLE_URDF(CAMERA));
    play a = begin_text(ctx, "urdf.json", DOUBLE_OF("urdf")), b = begin_text(ctx, "hand.json", by_hand(true));
    check_same_motion(ctx, &a, &b, 500, double_columns, 1e-4);
    bough_context_destroy(ctx);
}

static void mjcf_and_urdf_of_one_robot_move_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_scene("double.urdf", DOUBLE_URDF(CAMERA));
    write_scene("double.mjcf", DOUBLE_MJCF);
    play a = begin_text(ctx, "urdf.json", DOUBLE_OF("urdf")), b = begin_text(ctx, "mjcf.json", DOUBLE_OF("mjcf"));
    check_same_motion(ctx, &a, &b, 500, double_columns, 1e-9);
    bough_context_destroy(ctx);
}

/* A frame in the middle of a body and one in its joint are the same body: hinges and slides that begin elsewhere, a ball
 * and a spring. */
static void frames_do_not_matter(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
#define AT(where) \
    "'/>"         \
    "<inertial pos='" where "' mass='2' diaginertia='0.02 0.03 0.04'/>"
    write_scene("a.xml", "<mujoco><worldbody><body name='a' pos='0 0 1'><joint name='one' pos='0 0 0' axis='0 1 0' "
                         "stiffness='3' springref='20" AT(
                             "0.5 0 0") "<body name='b' pos='1 0 0'><joint name='two' "
                                        "type='slide' axis='1 0 1' damping='2" AT(
                                            "0.2 0 0") "<body name='c' pos='0.4 0 0'><joint "
                                                       "name='three' type='ball" AT(
                                                           "0.3 0.1 0") "</body></body></body></worldbody></mujoco>");
    write_scene("b.xml",
                "<mujoco><worldbody><body name='a' pos='0.5 0 1'><joint name='one' pos='-0.5 0 0' axis='0 1 0' "
                "stiffness='3' springref='20" AT(
                    "0 0 0") "<body name='b' pos='0.7 0 0'><joint name='two' type='slide' "
                             "pos='3 4 5' axis='1 0 1' damping='2" AT(
                                 "0 0 0") "<body name='c' pos='0.5 0.1 0'><joint name='three' "
                                          "type='ball' pos='-0.3 -0.1 0" AT(
                                              "0 0 0") "</body></body></body></worldbody></mujoco>");
    play p[2];
    for (int k = 0; k < 2; k++) {
        char text[900];
        snprintf(
            text, sizeof text,
            "{'bough': 1, 'robot': {'mjcf': '%c.xml', 'start_deg': {'one': 25}, 'start': {'two': 0.1}}, 'time': {'dt': "
            "0.001, 'duration': 1, 'integrator': 'generalised-alpha', 'tolerance': 1e-10}, 'probes': [{'name': 'one', "
            "'joint': 'one'}, {'name': 'two', 'joint': 'two'}, {'name': 'three', 'joint': 'three'}, {'name': 'pin', "
            "'joint_force': 'one'}]}",
            'a' + k);
        p[k] = begin_text(ctx, "frames.json", text);
    }
    check_near(value(&p[0], "one.value"), 25 * M_PI / 180, 1e-14);
    check_near(value(&p[1], "one.value"), 25 * M_PI / 180, 1e-14);
    check_near(value(&p[1], "two.value"), 0.1, 1e-14);
    /* steps of the same body about other origins have other errors */
    static const char *const columns[] = {"one.value", "two.value", "three.value", "pin.fz", NULL};
    check_same_motion(ctx, &p[0], &p[1], 200, columns, 1e-4);
    bough_context_destroy(ctx);
}

/* ---- theory ---- */

/* A rod swings about its end with w^2 = m g c / I; a quarter of a period after it was let go it hangs. */
static void a_pendulum_swings_by_its_frequency(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double inertia = 0.09 + 1.5 * 0.4 * 0.4, w = sqrt(1.5 * G * 0.4 / inertia), start = 0.02;
    char text[600];
    write_scene("rod.urdf", "<robot name='rod'><link name='base'/><link name='rod'><inertial><origin xyz='0 0 -0.4'/>"
                            "<mass value='1.5'/><inertia ixx='0.09' iyy='0.09' izz='0.01' ixy='0' ixz='0' iyz='0'/>"
                            "</inertial></link><joint name='pin' type='continuous'><parent link='base'/><child "
                            "link='rod'/><axis xyz='0 1 0'/></joint></robot>");
    snprintf(text, sizeof text,
             "{'bough': 1, 'robot': {'urdf': 'rod.urdf', 'start': {'pin': %g}}, 'gravity': [0, 0, -9.81], 'time': "
             "{'dt': %.17g, 'duration': 9, 'integrator': 'generalised-alpha', 'rho': 1}, 'probes': [{'name': 'pin', "
             "'joint': 'pin'}]}",
             start, 2 * M_PI / w / 400);
    play p = begin_text(ctx, "rod.json", text);
    for (int i = 1; i <= 400; i++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        if (i % 100 == 0) /* the period of the large swing is 1 + start^2/16 times longer */
            check_near(value(&p, "pin.value"), start * cos(i * M_PI / 200), 6e-5 * i / 400);
    }
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- links that bend ---- */

#define ROD                                                                                                          \
    "'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'origin': [0.02, -0.01, -0.01], 'size': "    \
    "[0.5, 0.02, 0.02], 'cells': [10, 1, 1]}, 'material': {'young': 1e8, 'density': 1000}, 'interfaces': {'base': "  \
    "{'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 6}, 'samples': {'wind': 0, 'contact': 0, 'stress': " \
    "0}}}"
#define HAND_MASS \
    "<inertial><mass value='0.3'/><inertia ixx='1e-4' iyy='2e-4' izz='3e-4' ixy='0' ixz='0' iyz='0'/></inertial>"
#define ARM(joint, hand)                                                                                          \
    "<robot name='arm'><link name='base'/><link name='arm'><inertial><origin xyz='0.27 0 0'/><mass value='0.2'/>" \
    "<inertia ixx='1e-4' iyy='4e-3' izz='4e-3' ixy='0' ixz='0' iyz='0'/></inertial></link><link "                 \
    "name='hand'>" HAND_MASS "</link><joint name='shoulder' type='" joint                                         \
    "'><parent link='base'/><child link='arm'/><origin xyz='0 0 1' "                                              \
    "rpy='0 0 0.4'/><axis xyz='0 1 0'/></joint><joint name='wrist' type='" hand "'><parent link='arm'/><child "   \
    "link='hand'/><origin xyz='0.55 0 0.01'/><axis xyz='0 1 0'/></joint></robot>"
#define ARM_REST                                                                                               \
    ", 'gravity': [0, 0, -9.81], 'time': {'dt': 0.001, 'duration': 0.3}, 'probes': [{'name': 'hand', 'body': " \
    "'hand'}, "                                                                                                \
    "{'name': 'tip', 'part': 'arm', 'interface': 'tip'}]}"
static const char *const arm_columns[] = {"hand.x", "hand.y", "hand.z", "hand.vz", "tip.ux", "tip.uz", "elastic", NULL};

/* The part's frame is in the centre of its base, 0.02 m from the link's; the wrist is 0.03 m beyond its tip. */
static const char *arm_by_hand(bool turns, bool welded) {
    static char text[3000];
    const double c = cos(0.4), s = sin(0.4);
    snprintf(
        text, sizeof text,
        "{'bough': 1, " ROD ", 'bodies': [%s{'name': 'hand', 'position': [%.17g, %.17g, 1.01], 'rotate_deg': [0, "
        "0, %.17g], 'mass': 0.3, 'inertia': [1e-4, 2e-4, 3e-4, 0, 0, 0]}], 'parts': [{'name': 'arm', 'component': "
        "'rod', 'clamp': {%s'position': [%.17g, %.17g, %g]%s}}], 'joints': [%s{'name': 'wrist', 'kind': '%s', "
        "'parent': {'part': 'arm', 'interface': 'tip'}, 'child': 'hand', 'position': [%.17g, %.17g, 1.01]%s}]" ARM_REST,
        turns ? "{'name': 'carrier', 'position': [0, 0, 1], 'rotate_deg': [0, 0, 22.918311805232928]}, " : "", 0.55 * c,
        0.55 * s, 0.4 * 180 / M_PI, turns ? "'body': 'carrier', " : "", turns ? 0.02 : 0.02 * c, turns ? 0 : 0.02 * s,
        turns ? 0.0 : 1.0, turns ? "" : ", 'rotate_deg': [0, 0, 22.918311805232928]",
        turns ? "{'name': 'shoulder', 'kind': 'hinge', 'parent': 'world', 'child': 'carrier', 'position': [0, 0, 1], "
                "'axis': [-0.38941834230865049, 0.92106099400288508, 0]}, "
              : "",
        welded ? "weld" : "hinge", 0.55 * c, 0.55 * s,
        welded ? "" : ", 'axis': [-0.38941834230865049, 0.92106099400288508, 0]");
    return text;
}

#define FLEXIBLE_ARM "{'bough': 1, " ROD ", 'robot': {'urdf': 'arm.urdf', 'flexible': {'arm': 'rod'}}" ARM_REST

static void a_link_that_bends_is_a_part_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *urdf;
        bool turns, welded;
    } cases[] = {{ARM("continuous", "continuous"), true, false},
                 {ARM("continuous", "fixed"), true, true},
                 {ARM("fixed", "fixed"), false, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bough_context *ctx = test_context(1);
        write_scene("arm.urdf", cases[k].urdf);
        play a = begin_text(ctx, "arm.json", FLEXIBLE_ARM);
        play b = begin_text(ctx, "hand.json", arm_by_hand(cases[k].turns, cases[k].welded));
        check_same_motion(ctx, &a, &b, 300, arm_columns, 1e-9);
        bough_context_destroy(ctx);
    }
}

/* A body without mass of its own that carries a part moves it as a light one does: in the limit of no mass. */
static void a_carrier_needs_no_mass(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double z[3];
    for (int k = 0; k < 3; k++) {
        char text[4000], mass[120];
        const char *hand = arm_by_hand(true, true), *name = strstr(hand, "'carrier'");
        snprintf(mass, sizeof mass, ", 'mass': %g, 'inertia': [%g, %g, %g, 0, 0, 0]", 2e-3 * k, 2e-6 * k, 2e-6 * k,
                 2e-6 * k);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(name + 9 - hand), hand, k > 0 ? mass : "", name + 9);
        play p = begin_text(ctx, "carrier.json", text);
        for (int i = 0; i < 200; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        z[k] = value(&p, "hand.z");
        end(ctx, &p);
    }
    check(fabs(z[2] - z[1]) > 1e-9);
    check_near(z[0], 2 * z[1] - z[2], 0.05 * fabs(z[2] - z[1]));
    bough_context_destroy(ctx);
}

/* ---- other joints ---- */

#define LINK(name)                                                                                                \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='0.01' iyy='0.02' izz='0.02' ixy='0' ixz='0' " \
    "iyz='0'/></inertial></link>"

/* q = -2 q' + 0.3, from the start on; a planar joint slides under gravity in its plane; one that floats falls. */
static void mimics_planes_and_floats_move_as_they_say(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_scene(
        "odd.urdf",
        "<robot name='odd'><link name='base'/>" LINK("a") LINK("b") LINK("c") LINK(
            "d") "<joint name='a' type='continuous'><parent link='base'/><child link='a'/><origin xyz='0 0 3'/><axis "
                 "xyz='1 0 0'/></joint><joint name='b' type='continuous'><parent link='a'/><child link='b'/><origin "
                 "xyz='0 0.5 0'/><axis xyz='1 0 0'/><mimic joint='a' multiplier='-2' offset='0.3'/></joint>"
                 "<joint name='c' type='planar'><parent link='base'/><child link='c'/><origin xyz='1 0 0'/><axis "
                 "xyz='1 0 1'/></joint><joint name='d' type='floating'><parent link='base'/><child link='d'/><origin "
                 "xyz='2 0 0'/></joint></robot>");
    play p = begin_text(ctx, "odd.json",
                        "{'bough': 1, 'robot': {'urdf': 'odd.urdf', 'start': {'a': 0.2}}, 'gravity': [0, 0, -9.81], "
                        "'time': {'dt': 0.001, 'duration': 1, 'integrator': 'generalised-alpha'}, 'probes': [{'name': "
                        "'a', 'joint': 'a'}, {'name': "
                        "'b', 'joint': 'b'}, {'name': 'c', 'body': 'c'}, {'name': 'd', 'body': 'd'}]}");
    check_near(value(&p, "a.value"), 0.2, 1e-14);
    for (int i = 0; i < 200; i++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        check_near(value(&p, "b.value"), -2 * value(&p, "a.value") + 0.3, 3e-14);
    }
    check(fabs(value(&p, "a.value") - 0.2) > 0.01);
    const double fallen = 0.5 * G * 0.04; /* along the slope of 45 degrees by half of it down, half aside */
    check_near(value(&p, "d.uz"), -fallen, 1e-13);
    check_near(value(&p, "c.uz"), -fallen / 2, 1e-13);
    check_near(value(&p, "c.ux"), fallen / 2, 1e-13);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_urdf_moves_as_the_same_bodies_by_hand),
                                       cmocka_unit_test(what_is_fixed_is_welded),
                                       cmocka_unit_test(mjcf_and_urdf_of_one_robot_move_alike),
                                       cmocka_unit_test(frames_do_not_matter),
                                       cmocka_unit_test(a_pendulum_swings_by_its_frequency),
                                       cmocka_unit_test(a_link_that_bends_is_a_part_by_hand),
                                       cmocka_unit_test(a_carrier_needs_no_mass),
                                       cmocka_unit_test(mimics_planes_and_floats_move_as_they_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
