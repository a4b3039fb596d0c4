/* "robot" of multibody scenes: URDF and MJCF files, what becomes of them, sentences about what is wrong with them. */
#include "hostile.h"

#include "rig/joint.h"
#include "scene/multibody_scene.h"
#include "scene/scene.h"

#define INERTIA "<inertia ixx='0.01' iyy='0.02' izz='0.02' ixy='0' ixz='0' iyz='0'/>"
#define LINK(name, more) "<link name='" name "'><inertial><mass value='2'/>" INERTIA "</inertial>" more "</link>\n"
#define JOINT(name, type, parent, child, more) \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/>" more "</joint>\n"
#define LIMIT "<limit lower='-1' upper='1.5'/>"
#define URDF(more) "<robot name='r'>\n<link name='base'/>\n" more "</robot>"
#define MJCF(more) "<mujoco>\n" more "</mujoco>"
#define BODY(more) MJCF("<worldbody>\n<body name='a'>\n" more "</body></worldbody>")
#define MASS "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>\n"
#define OF_URDF "{'bough': 1, 'robot': {'urdf': 'r.urdf'}}"
#define OF_MJCF "{'bough': 1, 'robot': {'mjcf': 'r.xml'}}"

static void check_refused(const char *scene, const char *why) {
    write_quoted(test_path("scene.json"), scene);
    const hostile_outcome o = read_hostile(read_scene, test_path("scene.json"), -1);
    const bool told =
        o.status == BOUGH_ERROR_FORMAT || o.status == BOUGH_ERROR_UNSUPPORTED || o.status == BOUGH_ERROR_FILE;
    if (!told || !strstr(o.message, why))
        fail_msg("expected \"%s\", got %s with \"%s\"", why, bough_status_name(o.status), o.message);
}

static bough_scene *load(bough_context *ctx, const char *text) {
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, text, &scene));
    return scene;
}

static int32_t find_body(const bo_multibody_scene *m, const char *name) {
    for (int32_t b = 0; b < m->def.body_count; b++)
        if (!strcmp(m->bodies[b].name, name))
            return b;
    return -1;
}

/* ---- what files mean ---- */

static void links_become_bodies_and_joints(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_write_text(
        test_path("r.urdf"),
        URDF(LINK("a", "<visual><origin xyz='0 0 0.1'/><geometry><cylinder radius='0.1' length='0.3'/>"
                       "</geometry></visual><collision><geometry><sphere radius='0.2'/></geometry></collision>")
                 LINK("b", "<collision><geometry><box size='1 2 3'/></geometry></collision>") LINK("c", "")
                     JOINT("one", "revolute", "base", "a",
                           "<origin xyz='0 0 1'/><axis xyz='0 2 0'/>" LIMIT "<dynamics damping='0.3' friction='0.2'/>")
                         JOINT("two", "prismatic", "a", "b", "<origin xyz='1 0 0'/>" LIMIT)
                             JOINT("three", "fixed", "b", "c", "<origin xyz='0 1 0' rpy='0 0 1.5'/>")));
    bough_scene *scene =
        load(ctx, "{'bough': 1, 'robot': {'urdf': 'r.urdf', 'position': [5, 0, 0], 'touch': true, 'limit_stiffness': "
                  "70}, 'probes': [{'name': 'c', 'body': 'c'}]}");
    const bo_multibody_scene *m = scene->content;
    check_int(m->def.body_count, 2); /* the base is the world, and c part of b */
    check_int(m->def.joint_count, 2);
    const bough_joint_def *one = &m->joints[0], *two = &m->joints[1];
    check_int(one->kind, BOUGH_JOINT_HINGE);
    check_int(one->parent.body, BOUGH_WORLD);
    check_near(one->parent.pose.position[0], 5, 0);
    check_near(one->parent.pose.position[2], 1, 0);
    check_near(one->parent.pose.rotation[5], 1, 1e-15); /* its z is the joint's axis, y */
    check_near(one->damping[0], 0.3, 0);
    check_near(one->friction[0], 0.2, 0);
    check_near(one->limit_stiffness, 70, 0);
    check_near(two->upper[0], 1.5, 0);
    check_int(two->kind, BOUGH_JOINT_PRISMATIC);
    const int32_t a = find_body(m, "a"), b = find_body(m, "b");
    check_near(m->bodies[b].pose.position[0], 6, 1e-15);
    check_near(m->bodies[b].mass, 4, 0);
    check_near(m->bodies[b].centre[1], 0.5, 1e-15);
    check_int(m->shapes[a].shapes[0].form, BO_FORM_CYLINDER);
    check(m->touches[a].touches);
    check_int(m->touches[a].shapes.shapes[0].form, BO_FORM_SPHERE);
    check_int(m->shapes[b].shapes[0].form, BO_FORM_BOX); /* drawn, since nothing else is */
    check_near(m->spots[0].rest[1], 1, 1e-15);           /* where c is */
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* Mass and inertia of geoms of density 1000, from the formulas of every textbook. */
static void geoms_weigh_what_they_should(void **state) {
    (void)state;
    const double pi = 3.14159265358979323846;
    const double tube = pi * 0.01 * 0.6, ball = 4 * pi / 3 * 0.001, capsule = 1000 * (tube + ball);
    const struct {
        const char *geom;
        double mass, inertia[3], centre[3];
    } cases[] = {
        {"type='sphere' size='0.2'", 1000 * 4 * pi / 3 * 0.008, {0.4 * 0.04, 0.4 * 0.04, 0.4 * 0.04}, {0}},
        {"type='box' size='0.1 0.2 0.3' pos='1 0 0'", 1000 * 8 * 0.006, {0.13 / 3, 0.1 / 3, 0.05 / 3}, {1, 0, 0}},
        {"type='cylinder' size='0.1 0.3' density='500'",
         500 * tube,
         {(3 * 0.01 + 0.36) / 12, (3 * 0.01 + 0.36) / 12, 0.005},
         {0}},
        {"type='ellipsoid' size='0.1 0.2 0.3' mass='7'", 7, {0.13 / 5, 0.1 / 5, 0.05 / 5}, {0}},
        {"type='capsule' fromto='0 0 1 0.6 0 1' size='0.1'",
         capsule,
         {1000 * (tube * 0.005 + ball * 0.004) / capsule,
          1000 * (tube * (0.01 / 4 + 0.36 / 12) + ball * (0.004 + 0.09 + 0.375 * 0.06)) / capsule,
          1000 * (tube * (0.01 / 4 + 0.36 / 12) + ball * (0.004 + 0.09 + 0.375 * 0.06)) / capsule},
         {0.3, 0, 1}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bough_context *ctx = test_context(1);
        char text[400];
        snprintf(text, sizeof text, BODY("<freejoint/><geom %s/>"), cases[k].geom);
        test_write_text(test_path("r.xml"), text);
        bough_scene *scene = load(ctx, OF_MJCF);
        const bough_rigid_body_def *body = &((const bo_multibody_scene *)scene->content)->bodies[0];
        check_near(body->mass, cases[k].mass, 1e-13 * cases[k].mass);
        for (int d = 0; d < 3; d++) {
            check_near(body->inertia[4 * d], body->mass * cases[k].inertia[d], 1e-13 * body->mass);
            check_near(body->centre[d], cases[k].centre[d], 1e-14);
        }
        bough_scene_destroy(ctx, scene);
        bough_context_destroy(ctx);
    }
}

/* All ways to say an orientation: the same quarter of a turn about z, then a half of one about x. */
static void orientations_mean_the_same(void **state) {
    (void)state;
    static const char *const turns[] = {
        "quat='0 0.70710678118654752 0.70710678118654752 0'",
        "axisangle='1 1 0 180'",
        "euler='0 0 90' quat='1 0 0 0'",
        "xyaxes='0 3 0 2 1 0'",
    };
    for (int k = 0; k < 4; k++) {
        bough_context *ctx = test_context(1);
        char text[400];
        snprintf(text, sizeof text,
                 BODY("<freejoint/>" MASS "<body name='b' pos='1 2 3' %s><freejoint/>" MASS "</body>"), turns[k]);
        test_write_text(test_path("r.xml"), text);
        if (k == 2) {
            check_refused(OF_MJCF, "one orientation is enough");
            bough_context_destroy(ctx);
            continue;
        }
        bough_scene *scene = load(ctx, OF_MJCF);
        static const double R[9] = {0, 1, 0, 1, 0, 0, 0, 0, -1};
        for (int i = 0; i < 9; i++)
            check_near(((const bo_multibody_scene *)scene->content)->bodies[1].pose.rotation[i], R[i], 1e-15);
        check_near(scene->gravity[2], -9.81, 0); /* as MJCF has it */
        bough_scene_destroy(ctx, scene);
        bough_context_destroy(ctx);
    }
}

/* "zyx" of small letters turns with the frame, "ZYX" does not; -90 about y, which hides one axis, is no exception. */
static void euler_angles_follow_their_sequence(void **state) {
    (void)state;
    static const struct {
        const char *sequence;
        double R[9];
    } cases[] = {{"zyx", {0, 0, 1, 0, -1, 0, 1, 0, 0}}, {"ZYX", {0, 0, -1, 0, 1, 0, 1, 0, 0}}};
    for (int k = 0; k < 2; k++) {
        bough_context *ctx = test_context(1);
        char text[500];
        snprintf(
            text, sizeof text,
            MJCF("<compiler eulerseq='%s'/><worldbody><body euler='90 -90 90'><freejoint/>" MASS "</body></worldbody>"),
            cases[k].sequence);
        test_write_text(test_path("r.xml"), text);
        bough_scene *scene = load(ctx, OF_MJCF);
        /* Rz(90) Ry(-90) Rx(90), and the product the other way round */
        for (int i = 0; i < 9; i++)
            check_near(((const bo_multibody_scene *)scene->content)->bodies[0].pose.rotation[i], cases[k].R[i], 1e-15);
        bough_scene_destroy(ctx, scene);
        bough_context_destroy(ctx);
    }
}

/* A scene that `bough robot` writes is the same. */
static void written_scenes_are_the_same(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *a, *b;
    test_write_text(test_path("r.urdf"),
                    URDF(LINK("a", "") LINK("b", "") JOINT("one", "continuous", "base", "a",
                                                           "<origin xyz='0.1 0.2 0.3' rpy='1 2 3'/>")
                             JOINT("two", "revolute", "a", "b", "<origin xyz='0 0.7 0'/><axis xyz='1 2 3'/>" LIMIT)));
    write_quoted(test_path("scene.json"), "{'bough': 1, 'robot': {'urdf': 'r.urdf', 'start': {'two': 0.4}}}");
    check_ok(ctx, bough_robot_write(ctx, test_path("scene.json"), test_path("written.json")));
    check_ok(ctx, bough_scene_load(ctx, test_path("scene.json"), &a));
    check_ok(ctx, bough_scene_load(ctx, test_path("written.json"), &b));
    const bo_multibody_scene *m = a->content, *n = b->content;
    check_int(m->def.body_count, n->def.body_count);
    check_int(m->def.joint_count, n->def.joint_count);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 9; k++) {
            check_near(m->bodies[i].pose.rotation[k], n->bodies[i].pose.rotation[k], 1e-14);
            check_near(m->joints[i].child.pose.rotation[k], n->joints[i].child.pose.rotation[k], 1e-14);
        }
    check_near(n->joints[1].upper[0], 1.5, 0);
    bough_scene_destroy(ctx, a);
    bough_scene_destroy(ctx, b);
    check_fails(ctx, bough_robot_write(ctx, test_path("written.json"), test_path("again.json")), BOUGH_ERROR_ARGUMENT,
                "has no \"robot\"");
    bough_context_destroy(ctx);
}

/* ---- links that bend ---- */

#define ROD                                                                                                           \
    "'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'origin': [0, -0.05, " \
    "-0.05], 'cells': [4, 1, 1]}, 'material': {'density': 200}, 'interfaces': {'base': {'select': 'x0'}, 'tip': "     \
    "{'select': 'x1'}}, 'basis': {'r': 2}, 'samples': {'wind': 0, 'contact': 0, 'stress': 0}}}"
#define WITH(flexible) "{'bough': 1, " ROD ", 'robot': {'urdf': 'r.urdf', 'flexible': {" flexible "}}}"
#define BENDING(type, where)                                                \
    URDF(LINK("a", "") LINK("b", "") JOINT("one", type, "base", "a", LIMIT) \
             JOINT("two", "revolute", "a", "b", "<origin xyz='" where "'/>" LIMIT))

static void joints_find_the_nearest_interface(void **state) {
    (void)state;
    static const struct {
        const char *where;
        int32_t interface_index, body;
    } cases[] = {{"1.02 0 0", 1, 2}, {"0.01 0 0", -1, 0}};
    for (int k = 0; k < 2; k++) {
        bough_context *ctx = test_context(1);
        test_write_text(test_path("r.urdf"), k ? BENDING("revolute", "0.01 0 0") : BENDING("revolute", "1.02 0 0"));
        bough_scene *scene = load(ctx, WITH("'a': 'rod'"));
        const bo_multibody_scene *m = scene->content;
        check_int(m->def.part_count, 1);
        check(!strcmp(m->parts[0].name, "a") && !strcmp(m->bodies[0].name, "a.base"));
        check_near(m->bodies[0].mass, 0, 0);
        check_int(m->joints[1].parent.body, cases[k].body);
        check_int(m->joints[1].parent.interface_index, cases[k].interface_index);
        bough_scene_destroy(ctx, scene);
        bough_context_destroy(ctx);
    }
    test_write_text(test_path("r.urdf"), BENDING("revolute", "0.5 0 0"));
    check_refused(WITH("'a': 'rod'"), "joint \"two\" is 0.5 m from the nearest interface");
    bough_context *ctx = test_context(1);
    bough_scene *scene = load(ctx, WITH("'a': {'component': 'rod', 'interfaces': {'two': 'tip'}, 'stiffness': 2}"));
    const bo_multibody_scene *m = scene->content;
    check_int(m->joints[1].parent.interface_index, 1);
    check_near(m->joints[1].parent.pose.position[0], -0.5, 1e-14);
    check_near(m->parts[0].stiffness, 2, 0);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    check_refused(WITH("'a': {'component': 'rod', 'interfaces': {'two': 'tap'}}"), "did you mean \"tip\"?");
    check_refused(WITH("'a': {'component': 'rod', 'interfaces': {'one': 'tip'}}"), "carries no joint \"one\"");
    check_refused(WITH("'a': 'rood'"), "did you mean \"rod\"?");
    check_refused(WITH("'x': 'rod'"), "the robot has no link \"x\"");
}

/* ---- warnings ---- */

typedef struct {
    int count;
    char last[600];
} heard;

static void hear(void *data, const char *sentence) {
    heard *h = data;
    h->count++, snprintf(h->last, sizeof h->last, "%s", sentence);
}

static void check_warned(const char *scene, const char *part) {
    bough_context_def def = bough_default_context_def();
    heard h = {0};
    def.warn = hear, def.warn_user = &h;
    bough_context *ctx = bough_context_create(&def);
    bough_scene_destroy(ctx, load(ctx, scene));
    if (part ? !strstr(h.last, part) : h.count > 0)
        fail_msg("expected a warning \"%s\", heard %d, the last \"%s\"", part ? part : "none", h.count, h.last);
    bough_context_destroy(ctx);
}

static void warnings_tell_what_may_be_a_slip(void **state) {
    (void)state;
    test_write_text(test_path("r.urdf"), BENDING("revolute", "1 0 0")); /* 2 kg, and the mesh has as many */
    check_warned(WITH("'a': 'rod'"), NULL);
    test_write_text(test_path("r.urdf"), URDF("<link name='a'><inertial><mass value='2.3'/>" INERTIA
                                              "</inertial></link>" JOINT("one", "continuous", "base", "a", "")));
    check_warned(WITH("'a': 'rod'"), "has 2.3 kg here, and the mesh of \"rod\", which stands for it, 2 kg");
#define LOOK(file)                                                                      \
    URDF(LINK("a", "<visual><geometry><mesh filename='" file "'/></geometry></visual>") \
             JOINT("one", "continuous", "base", "a", ""))
    test_write_text(test_path("r.urdf"), LOOK("no.stl"));
    check_warned(OF_URDF, "the mesh \"no.stl\" is not drawn: it is not there");
    test_write_text(test_path("r.urdf"), LOOK("../../etc/passwd"));
    check_warned(OF_URDF, "lies outside of the file's folder");
    test_write_text(test_path("r.urdf"), LOOK("/etc/passwd"));
    check_warned(OF_URDF, "lies outside of the file's folder");
    test_write_text(test_path("r.urdf"), URDF(LINK("a", "") JOINT("one", "continuous", "base", "a", "")));
    test_write_text(test_path("motors.csv"), "time,one\n0,0\n1,90\n");
    check_warned("{'bough': 1, 'robot': {'urdf': 'r.urdf'}, 'motors': {'csv': 'motors.csv'}}",
                 "motor \"one\" is told to go to 90 rad, 14.3 turns; if these are degrees");
    check_warned("{'bough': 1, 'robot': {'urdf': 'r.urdf'}, 'motors': {'csv': 'motors.csv', 'degrees': true}}", NULL);
    test_write_text(test_path("r.urdf"), URDF(LINK("a", "") JOINT("one", "revolute", "base", "a", LIMIT)));
    test_write_text(test_path("motors.csv"), "time,one\n0,0\n\n1,60\n");
    check_refused(
        "{'bough': 1, 'robot': {'urdf': 'r.urdf'}, 'motors': {'csv': 'motors.csv'}}",
        "motors.csv:4: one is 60 at 1 s, beyond the limits of its joint, -1 to 1.5 (joint \"one\"); if these are "
        "degrees");
}

/* ---- mistakes ---- */

static void mistakes_in_scenes_are_told(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"{'bough': 1, 'robot': {}}", "needs a \"urdf\" or an \"mjcf\""},
        {"{'bough': 1, 'robot': {'urdf': 'r.urdf', 'mjcf': 'r.xml'}}", "one of them"},
        {"{'bough': 1, 'robot': {'urdf': 'no.urdf'}}", "no.urdf"},
        {"{'bough': 1, 'robot': {'urdf': 'r.urdf', 'strat': {}}}", "did you mean \"start\"?"},
        {"{'bough': 1, 'robot': {'urdf': 'r.urdf', 'start': {'x': 1}}}", "the robot has no joint \"x\""},
        {"{'bough': 1, 'robot': {'urdf': 'r.urdf', 'start': {'one': 2}}}", "beyond the limits of the joint"},
        {"{'bough': 1, 'robot': {'urdf': 'r.urdf', 'flexible': {'a': 'rod'}}}", "the scene has no \"components\""},
        {"{'bough': 1, 'robot': {'urdf': 'r.urdf'}, 'bodies': 3}", "bodies: must be a list"},
        {"{'bough': 1, 'robot': {'urdf': 'r.urdf'}, 'bodies': [{'name': 'a', 'mass': 1, 'shape': {'sphere': 1}}]}",
         "\"a\" is the name of another body or part"},
        {"{'bough': 1, 'robot': {'urdf': 'r.urdf'}, 'bodies': [{'name': 'x'}]}", "scene.json:1:54: bodies[0]: needs a"},
    };
    test_write_text(test_path("r.urdf"), URDF(LINK("a", "") JOINT("one", "revolute", "base", "a", LIMIT)));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_refused(wrong[i][0], wrong[i][1]);
}

static void mistakes_in_urdf_are_told(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {URDF("<link name='a'/>" JOINT("one", "continuous", "base", "a", "")), "r.urdf:3:1: <link>: \"a\" has no mass"},
        {URDF("<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='5' ixy='0' ixz='0' iyz='0'/>"
              "</inertial></link>" JOINT("one", "continuous", "base", "a", "")),
         "none larger than the sum of the others"},
        {URDF("<link name='a'><inertial><mass value='nan'/>" INERTIA "</inertial></link>"), "is not a number"},
        {URDF("<link name='a'><inertial><mass value='1'/><inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'/>"
              "</inertial></link>" JOINT("one", "continuous", "base", "a", "")),
         "all must be above 0"},
        {URDF(LINK("a", "") LINK("a", "")), "already"},
        {URDF(LINK("a", "") LINK("b", "") JOINT("x", "fixed", "a", "b", "") JOINT("y", "fixed", "b", "a", "")),
         "circle"},
        {URDF(LINK("a", "") JOINT("one", "continuous", "base", "a", "<mimic joint='two'/>")),
         "no joint \"two\" to mimic"},
        {URDF(LINK("a", "") JOINT("one", "continuous", "base", "a", "<mimic joint='one'/>")), "cannot mimic"},
        {URDF(LINK("a", "") JOINT("one", "screw", "base", "a", "")), "planar, floating"},
        {URDF(LINK("a", "") JOINT("one", "continuous", "base", "a", "<dynamics friction='-1'/>")), "must be 0 or more"},
        {"<!DOCTYPE r [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><robot name='&b;'/>", "r.urdf:1:"},
        {URDF("<link name='\xff\xfe'/>" JOINT("x", "fixed", "base", "\xff\xfe", "")), "UTF-8"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_write_text(test_path("r.urdf"), wrong[i][0]);
        check_refused(OF_URDF, wrong[i][1]);
    }
}

static void mistakes_in_mjcf_are_told(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"<robot/>", "r.xml:1:1: <robot>: an MJCF file is one <mujoco>"},
        {MJCF("<worldbody/>"), "has no <body>"},
        {MJCF("<actuator/><worldbody/>"), "r.xml:2:1: <actuator>: is not supported; \"motors\" of the scene"},
        {MJCF("<tendon/><worldbody/>"), "r.xml:2:1: <tendon>: is not supported in <mujoco>"},
        {MJCF("<include file='b.xml'/><worldbody/>"), "put the other file's text in its place"},
        {MJCF("<option wind='1 0 0'/><worldbody/>"), "wind is not supported"},
        {MJCF("<compiler coordinate='global'/><worldbody/>"), "Bough takes local ones"},
        {MJCF("<compiler angle='gon'/><worldbody/>"), "must be radian or degree"},
        {MJCF("<compiler eulerseq='xyw'/><worldbody/>"), "three letters"},
        {MJCF("<compiler settotalmass='3'/><worldbody/>"), "the attribute \"settotalmass\" is not known"},
        {MJCF("<default><default/></default><worldbody/>"), "attribute class is missing"},
        {MJCF("<default/><default/><worldbody/>"), "make one of both"},
        {BODY(MASS "<joint class='x'/>"), "there is no default class \"x\""},
        {BODY("<joint/>"), "\"a\" has no mass"},
        {BODY(MASS "<joint name='x'/>\n<joint name='y'/>"),
         "r.xml:6:1: <joint>: body \"a\" has a joint already, in line 5"},
        {BODY(MASS "<joint type='screw'/>"), "hinge, slide, ball, free"},
        {BODY(MASS "<joint axis='0 0 0'/>"), "axis has no direction"},
        {BODY(MASS "<joint armature='0.1'/>"), "armature is 0.1"},
        {BODY(MASS "<joint ref='1'/>"), "ref is 1"},
        {BODY(MASS "<joint range='1 -1'/>"), "1 is not below -1"},
        {BODY(MASS "<joint type='ball' range='0 1'/>"), "a range of a ball"},
        {BODY(MASS "<joint springdamper='1 1'/>"), "\"springdamper\""},
        {BODY(MASS "<joint damping='-1'/>"), "damping is -1"},
        {BODY(MASS "<composite/>"), "<composite>: is not supported in <body>"},
        {BODY("<geom type='hfield'/>"), "the type \"hfield\" is not supported"},
        {BODY("<geom type='box' size='1 2'/>"), "size of a box needs 3 numbers, not 2"},
        {BODY("<geom size='-1'/>"), "it must be above 0"},
        {BODY("<geom size='1' mass='-1'/>"), "must be 0 or more"},
        {BODY("<geom type='capsule' size='1' fromto='0 0 0 0 0 0'/>"), "fromto has no length"},
        {BODY("<geom type='mesh' mesh='m'/>"), "there is no mesh \"m\""},
        {MJCF("<asset><mesh file='m.stl'/></asset><worldbody><body><geom type='mesh' mesh='m'/></body></worldbody>"),
         "give its body an <inertial>"},
        {BODY("<inertial mass='1'/>"), "needs diaginertia or fullinertia"},
        {BODY(MASS MASS), "has one already"},
        {BODY(MASS "<body name='a'>" MASS "</body>"), "there is a body \"a\" already"},
        {BODY(MASS "<joint name='j'/><body>" MASS "<joint name='j'/></body>"), "there is a joint \"j\" already"},
        {MJCF("<worldbody><body name='a'>" MASS "<joint name='j'/></body></worldbody><equality><weld/></equality>"),
         "is not supported in <equality>"},
        {MJCF("<worldbody><body name='a'>" MASS "<joint name='j'/></body></worldbody><equality><joint joint1='j' "
              "joint2='k'/></equality>"),
         "there is no joint \"k\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_write_text(test_path("r.xml"), wrong[i][0]);
        check_refused(OF_MJCF, wrong[i][1]);
    }
}

/* ---- all of it ---- */

static void write_whole(void) {
    test_write_text(test_path("r.urdf"),
                    URDF(LINK("a", "<visual><geometry><box size='1 1 1'/></geometry></visual>") LINK("b", "")
                             LINK("c", "") JOINT("one", "continuous", "base", "a", "") JOINT(
                                 "two", "revolute", "a", "b", "<origin xyz='1 0 0'/>" LIMIT "<mimic joint='one'/>")
                                 JOINT("three", "fixed", "b", "c", "")));
    test_write_text(
        test_path("r.xml"),
        MJCF("<compiler angle='radian'/><default><geom rgba='1 0 0 1'/></default><worldbody><geom type='plane'/>"
             "<geom size='0.1'/><body name='a'><joint range='-1 1'/><geom type='ellipsoid' size='1 2 3'/><body "
             "pos='1 0 0'><joint type='ball'/><geom type='capsule' size='0.1 1'/></body></body></worldbody>"));
}

static const char *const whole[] = {WITH("'a': 'rod'"), OF_MJCF};

static void memory_may_run_out(void **state) {
    (void)state;
    write_whole();
    check_failed_allocations(read_scene, whole, 2);
}

static void mangled_scenes_are_refused_or_read(void **state) {
    (void)state;
    write_whole();
    check_mutations(read_scene, whole, 2, 6);
}

static void copy_from_example(const char *name) {
    char path[400];
    size_t size;
    snprintf(path, sizeof path, "%s/examples/bending-arm/%s", BOUGH_SOURCE_DIR, name);
    unsigned char *data = test_read(path, &size);
    test_write(test_path(name), data, size);
    free(data);
}

static void the_example_of_the_page_works(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    copy_from_example("arm.urdf");
    copy_from_example("motors.csv");
    bough_scene *scene = load(ctx, example_of_docs("# Robots from URDF and MJCF"));
    const bo_multibody_scene *m = scene->content;
    check_int(m->def.part_count, 2);
    check_int(m->def.motor_count, 3);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(links_become_bodies_and_joints),
                                       cmocka_unit_test(geoms_weigh_what_they_should),
                                       cmocka_unit_test(orientations_mean_the_same),
                                       cmocka_unit_test(euler_angles_follow_their_sequence),
                                       cmocka_unit_test(written_scenes_are_the_same),
                                       cmocka_unit_test(joints_find_the_nearest_interface),
                                       cmocka_unit_test(warnings_tell_what_may_be_a_slip),
                                       cmocka_unit_test(mistakes_in_scenes_are_told),
                                       cmocka_unit_test(mistakes_in_urdf_are_told),
                                       cmocka_unit_test(mistakes_in_mjcf_are_told),
                                       cmocka_unit_test(memory_may_run_out),
                                       cmocka_unit_test(mangled_scenes_are_refused_or_read),
                                       cmocka_unit_test(the_example_of_the_page_works)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
