/* Scene files of mechanisms: what they say, every mistake one sentence, nothing crashes or leaks. */
#include "hostile.h"

#include "scene/entries.h"
#include "scene/scene.h"

#define BASE "{'name': 'base'}"
#define ARM \
    "{'name': 'arm', 'position': [1, 0, 0], 'mass': 2, 'inertia': [3, 4, 5, 0.1, 0.2, 0.3], 'centre': [0.1, 0, 0]}"
#define ELBOW \
    "{'name': 'elbow', 'kind': 'hinge', 'parent': 'base', 'child': 'arm', 'position': [0.5, 0, 0], 'stiffness': 7}"
#define TIP "{'name': 'tip', 'link': 'arm', 'position': [2, 0, 0]}"
#define SCENE_OF(links, joints, effectors, more) \
    "{'bough': 1, 'links': [" links "], 'joints': [" joints "], 'end_effectors': [" effectors "]" more "}"
#define SCENE(more) SCENE_OF(BASE "," ARM, ELBOW, TIP, more)
#define WITH_LINK(link) SCENE_OF(BASE "," link, ELBOW, TIP, "")
#define WITH_JOINT(joint) SCENE_OF(BASE "," ARM, joint, TIP, "")
#define JOINT(more) "{'kind': 'hinge', 'parent': 'base', 'child': 'arm', 'position': [0.5, 0, 0], " more "}"
#define WITH_SHAPE(shape) WITH_LINK("{'name': 'arm', 'density': 1000, 'shape': " shape "}")

static void check_refused(const char *text, const char *why) {
    check_refused_by(read_scene, text, why);
}

static bough_scene *load(bough_context *ctx, const char *text) {
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, text, &scene));
    return scene;
}

static void hello_mechanism(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene = load(ctx, SCENE(""));
    const bo_mechanism_scene *m = scene->mechanism;
    check(!strcmp(scene->engine->kind->name, "mechanism"));
    check(strcmp(scene->integrator.name, "backward-euler") == 0);
    check_int(m->link_count, 2);
    check_near(m->links[1].mass, 2, 0);
    static const double inertia[9] = {3, 0.3, 0.2, 0.3, 4, 0.1, 0.2, 0.1, 5};
    for (int k = 0; k < 9; k++)
        check_near(m->links[1].inertia[k], inertia[k], 0);
    check_near(m->links[1].centre[0], 0.1, 0);
    check_near(m->joints[0].stiffness[0], 7, 0);
    check_near(m->joints[0].parent.pose.position[0], 0.5, 0);
    check_near(m->joints[0].child.pose.position[0], -0.5, 0);
    check_near(m->end_effectors[0].pose.position[0], 1, 0);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void settings_are_passed_on(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene = load(
        ctx,
        "{'bough': 1, 'links': [{'name': 'a', 'mass': 1, 'inertia': [1, 1, 1, 0, 0, 0]}, {'name': 'b'}],"
        "'base': 'b', 'joints': [{'name': 'j', 'kind': 'universal', 'parent': 'a', 'child': 'b', 'position': [0, 0, 0],"
        "'rotate_deg': [0, 0, 90], 'stiffness': [1, 2], 'damping': 3, 'offset_deg': [0, 90],"
        "'limits_deg': [[-90, 90], [-180, 0]], 'limit_stiffness': 5}, {'kind': 'fixed', 'parent': 'b', 'child': 'a',"
        "'position': [0, 0, 0], 'compliance': [[2, 1, 0, 0, 0, 0], [1, 2, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0],"
        "[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]}],"
        "'end_effectors': [{'name': 'x', 'link': 'a'}, {'name': 'y', 'link': 'a', 'shape': {'sphere': 0.1},"
        "'friction': 0.7}], 'curves': {'c': [[0, 1], [1, 2]]}, 'gravity': [0, 0, -1],"
        "'motors': [{'joint': 'j', 'freedom': 1, 'curve': 'c', 'degrees': true, 'scale': 2}],"
        "'forces': [{'end_effector': 'x', 'torque': [1, 2, 3], 'from': 1, 'until': 2, 'curve': 'c'}],"
        "'probes': [{'name': 'p', 'link': 'a', 'position': [1, 2, 3]}, {'name': 'q', 'touch': 'y'}],"
        "'obstacles': [{'name': 'floor', 'shape': {'plane': true}, 'position': [0, 0, -5], 'friction': 0.2}],"
        "'engine': {'kind': 'full', 'method': 'recursive', 'end_effectors': ['y']}, 'settle': true,"
        "'time': {'integrator': 'hht', 'dt': 0.5, 'duration': 3}}");
    const bo_mechanism_scene *m = scene->mechanism;
    check_int(m->base, 1);
    check(!strcmp(scene->engine->kind->name, "full"));
    check_int(m->method, BOUGH_MECHANISM_RECURSIVE);
    check(m->kept_count == 1 && m->kept[0] == 1);
    check(scene->settle && strcmp(scene->integrator.name, "hht") == 0);
    const bough_joint_def *j = &m->joints[0];
    check_int(j->kind, BOUGH_JOINT_UNIVERSAL);
    check(j->stiffness[1] == 2 && j->damping[1] == 3 && j->limit_stiffness == 5);
    check_near(j->offset[1], M_PI / 2, 1e-15);
    check_near(j->lower[1], -M_PI, 1e-15);
    check_near(j->upper[0], M_PI / 2, 1e-15);
    check_near(j->child.pose.rotation[3], 1, 1e-15);
    check(m->joints[1].compliance[1] == 1 && m->joints[1].compliance[35] == 1);
    check_near(m->motors[0].scale, M_PI / 90, 1e-15);
    check_int(m->motors[0].freedom, 1);
    check(m->loads[0].from == 1 && m->loads[0].until == 2 && m->loads[0].curve == 0 && m->loads[0].torque[1] == 2);
    check(scene->probes[0].spot.at[2] == 3 && scene->probes[1].kind == BO_PROBE_TOUCH);
    check_near(m->effectors[1].touch.friction, 0.7, 0);
    check_near(m->obstacles[0].pose.position[2], -5, 0);
    check_near(scene->gravity[2], -1, 0);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- weights by density: closed forms ---- */

typedef struct {
    double mass, centre[3], inertia[9];
} weight;

static weight weight_of(bough_context *ctx, const char *shape) {
    char text[2000];
    snprintf(text, sizeof text, WITH_SHAPE("%s"), shape);
    bough_scene *scene = load(ctx, text);
    const bough_rigid_body_def *link = &scene->mechanism->links[1];
    weight w = {.mass = link->mass};
    memcpy(w.centre, link->centre, sizeof w.centre);
    memcpy(w.inertia, link->inertia, sizeof w.inertia);
    bough_scene_destroy(ctx, scene);
    return w;
}

static void check_weight(weight w, double mass, double x, double xx, double yy, double zz) {
    check_near(w.mass, mass, 1e-9 * mass);
    check_near(w.centre[0], x, 1e-9);
    check_near(w.inertia[0], xx, 1e-9 * xx);
    check_near(w.inertia[4], yy, 1e-9 * yy);
    check_near(w.inertia[8], zz, 1e-9 * zz);
}

static void densities_weigh_shapes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double ball = 1000 * 4 * M_PI / 3 * 0.001, rod = 1000 * M_PI * 0.01 * 0.5;
    check_weight(weight_of(ctx, "{'box': [0.1, 0.2, 0.3]}"), 6, 0, 6 * 0.13 / 12, 6 * 0.1 / 12, 6 * 0.05 / 12);
    check_weight(weight_of(ctx, "{'box': [0.1, 0.2, 0.3], 'position': [2, 0, 0], 'rotate_deg': [0, 90, 0]}"), 6, 2,
                 6 * 0.05 / 12, 6 * 0.1 / 12, 6 * 0.13 / 12);
    check_weight(weight_of(ctx, "{'sphere': 0.1}"), ball, 0, ball * 0.004, ball * 0.004, ball * 0.004);
    const double across = rod * (3 * 0.01 + 0.25) / 12;
    check_weight(weight_of(ctx, "{'cylinder': [0.1, 0.5]}"), rod, 0, across, across, rod * 0.005);
    /* two half balls whose middles lie 3/8 r beyond the ends: m r^2 (2/5 - 9/64) each about these, and far away */
    const double end = 0.25 + 0.0375, caps = ball * (0.01 * (0.4 - 9.0 / 64) + end * end);
    check_weight(weight_of(ctx, "{'capsule': [0.1, 0.5]}"), rod + ball, 0, across + caps, across + caps,
                 rod * 0.005 + ball * 0.004);
    static const char *const hull = "{'hull': [[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0], [0.1, 0.2, 0], [0, 0, 0.3],"
                                    "[0.1, 0, 0.3], [0, 0.2, 0.3], [0.1, 0.2, 0.3], [0.05, 0.1, 0.1]]}";
    check_weight(weight_of(ctx, hull), 6, 0.05, 6 * 0.13 / 12, 6 * 0.1 / 12, 6 * 0.05 / 12);
    /* two balls: parallel axes */
    const double two = 2 * ball * 0.004 + 2 * ball * 0.25;
    check_weight(weight_of(ctx, "[{'sphere': 0.1, 'position': [1, 0, 0]}, {'sphere': 0.1, 'position': [2, 0, 0]}]"),
                 2 * ball, 1.5, 2 * ball * 0.004, two, two);
    /* a mass instead of a density keeps the shape's form */
    bough_scene *scene = load(ctx, WITH_LINK("{'name': 'arm', 'mass': 3, 'shape': {'sphere': 0.1}}"));
    check_near(scene->mechanism->links[1].inertia[0], 3 * 0.004, 1e-12);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* Bodies are described from their centres of mass; their surfaces stay where they were. */
static void bodies_are_moved_to_their_middles(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene =
        load(ctx, SCENE(", 'bodies': [{'name': 'b', 'density': 1, 'position': [0, 5, 0], 'rotate_deg': [0, 0, 90],"
                        "'shape': {'box': [1, 1, 1], 'position': [2, 0, 0]}, 'spin': [1, 2, 3],"
                        "'velocity': [0, 0, 1], 'restitution': 0.5}]"));
    const bo_scene_rigid *b = &scene->mechanism->bodies[0];
    check_near(b->mass, 1, 1e-12);
    check_near(b->pose.position[1], 7, 1e-12);
    check_near(b->shapes.shapes[0].def.frame.position[0], 0, 1e-12);
    check(b->spin[2] == 3 && b->velocity[2] == 1 && b->restitution == 0.5);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void generators_make_what_they_say(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const struct {
        const char *text;
        int32_t links, joints, effectors, loops;
    } all[] = {
        {"{'bough': 1, 'generate': {'helix': {'links': 20, 'joint': 'hinge'}}}", 21, 20, 1, 0},
        {"{'bough': 1, 'generate': {'ladder': {'cells': 5}}}", 16, 20, 1, 5},
        {"{'bough': 1, 'generate': {'Y': {'trunk': 3, 'arm': 4}}}", 12, 11, 2, 0},
        {"{'bough': 1, 'generate': {'ring': {'links': 9, 'mass': 2, 'stiffness': 5, 'damping': 0}}}", 10, 10, 1, 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bough_scene *scene = load(ctx, all[i].text);
        const bo_mechanism_scene *m = scene->mechanism;
        check_int(m->link_count, all[i].links);
        check_int(m->joint_count, all[i].joints);
        check_int(m->end_effector_count, all[i].effectors);
        check_int(bough_mechanism_loop_count(m->mechanism), all[i].loops);
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

static void robots_are_read(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_write_text(
        test_path("robot.urdf"),
        "<robot name=\"r\"><link name=\"foot\"/><link name=\"leg\"><inertial><mass value=\"2\"/>"
        "<inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial>"
        "<visual><origin xyz=\"0 0 1\"/><geometry><cylinder radius=\"0.1\" length=\"2\"/></geometry></visual>"
        "<visual><geometry><box size=\"0.2 0.4 0.6\"/></geometry></visual>"
        "<visual><geometry><sphere radius=\"0.3\"/></geometry></visual></link>"
        "<joint name=\"knee\" type=\"continuous\"><parent link=\"foot\"/><child link=\"leg\"/>"
        "<origin xyz=\"0 0 1\"/><axis xyz=\"0 1 0\"/><dynamics damping=\"0.5\"/></joint></robot>");
    test_write_text(test_path("side.json"), "{\"bough\": 1, \"joints\": {\"knee\": {\"stiffness\": 9}}}");
    bough_scene *scene;
    const bough_status status = load_text(ctx,
                                          "{'bough': 1, 'urdf': 'robot.urdf', 'dynamics': 'side.json',"
                                          "'probes': [{'name': 'p', 'link': 'leg'}], 'end_effectors': [{'name': 'top',"
                                          "'link': 'leg', 'position': [0, 0, 3]}]}",
                                          &scene);
    check_ok(ctx, status);
    const bo_mechanism_scene *m = scene->mechanism;
    check_int(m->link_count, 2);
    check_near(m->joints[0].stiffness[0], 9, 0);
    const bo_scene_shape *shapes = m->link_shapes[1].shapes;
    check_int(m->link_shapes[1].count, 3);
    check_int(shapes[0].form, BO_FORM_CYLINDER);
    check(shapes[0].radius == 0.1 && shapes[0].length == 2 && shapes[0].def.frame.position[2] == 1);
    check(shapes[1].form == BO_FORM_BOX && shapes[1].def.kind == BOUGH_SHAPE_BOX);
    for (int d = 0; d < 3; d++)
        check_near(shapes[1].def.half[d], 0.1 * (d + 1), 1e-15);
    check(shapes[2].form == BO_FORM_SPHERE && shapes[2].def.kind == BOUGH_SHAPE_SPHERE && shapes[2].def.radius == 0.3);
    check_int(m->end_effector_count, 2);
    bough_scene_destroy(ctx, scene);
    check_refused("{'bough': 1, 'urdf': 'robot2.urdf'}", "robot2.urdf");
    check_refused("{'bough': 1, 'urdf': 'robot.urdf', 'generate': {'Y': {}}}", "one too many");
    check_refused(SCENE(", 'dynamics': 'side.json'"), "is for the joints of a \"urdf\"");
    bough_context_destroy(ctx);
}

/* ---- mistakes ---- */

static void wrong_links_are_told(void **state) {
    (void)state;
    check_refused("{'bough': 1, 'links': 5}", "links: must be a list");
    check_refused("{'bough': 1, 'links': []}", "two links at least");
    check_refused("{'bough': 1, 'links': [" BASE "]}", "two links at least");
    check_refused("{'bough': 2, 'links': [" BASE "," ARM "]}", "bough");
    check_refused(SCENE(", 'linkz': 1"), "unknown key \"linkz\"; did you mean \"links\"?");
    check_refused(SCENE(", 'mesh': 'x.obj'"), "unknown key \"mesh\"");
    check_refused(SCENE(", 'parts': []"), "unknown key \"parts\"");
    check_refused(SCENE(", 'base': 'bas'"), "unknown link \"bas\"; did you mean \"base\"?");
    check_refused(SCENE(", 'free_base': 1"), "free_base: must be true or false");
    check_refused(SCENE(", 'free_base': true"), "links[0]: needs a \"mass\"");
    check_refused(WITH_LINK("{'mass': 1}"), "links[1]: \"name\" is missing");
    check_refused(WITH_LINK("{'name': 'base'}"), "\"base\" is the name of another link already");
    check_refused(WITH_LINK("{'name': 'arm'}"), "links[1]: needs a \"mass\", or a \"density\"");
    check_refused(WITH_LINK("{'name': 'arm', 'mass': 1}"), "links[1]: \"inertia\" is missing");
    check_refused(WITH_LINK("{'name': 'arm', 'mass': 0}"), "links[1].mass: must be positive");
    check_refused(WITH_LINK("{'name': 'arm', 'mass': 1e40}"), "mass");
    check_refused(WITH_LINK("{'name': 'arm', 'mass': 1, 'inertia': [1, 1, 1]}"), "inertia");
    check_refused(WITH_LINK("{'name': 'arm', 'mass': 1, 'inertia': [1, 1, 9, 0, 0, 0]}"), "is no body's inertia");
    check_refused(WITH_LINK("{'name': 'arm', 'mass': 1, 'inertia': [0, 0, 0, 0, 0, 0]}"), "is no body's inertia");
    check_refused(WITH_LINK("{'name': 'arm', 'density': 1}"), "needs a \"shape\"");
    check_refused(WITH_LINK("{'name': 'arm', 'density': 1, 'mass': 1, 'shape': {'sphere': 1}}"), "follows from the");
    check_refused(WITH_LINK("{'name': 'arm', 'density': 1, 'shape': {'plane': true}}"), "has no volume");
    check_refused(WITH_LINK("{'name': 'arm', 'positon': [1, 2, 3]}"),
                  "unknown key \"positon\"; did you mean \"position\"?");
    check_refused(SCENE_OF(BASE "," ARM ", {'name': 'lost', 'density': 1, 'shape': {'sphere': 1}}", ELBOW, TIP, ""),
                  "lost");
}

static void wrong_joints_are_told(void **state) {
    (void)state;
    check_refused(SCENE_OF(BASE "," ARM, "", TIP, ""), "joints");
    check_refused(WITH_JOINT(ELBOW "," ELBOW), "\"elbow\" is the name of another joint already");
    check_refused(WITH_JOINT("{'kind': 'hing'}"), "did you mean \"hinge\"?");
    check_refused(
        WITH_JOINT("{'kind': 'hinge', 'parent': 'base', 'child': 'base', 'position': [0, 0, 0], 'stiffness': 1}"),
        "is the parent too");
    check_refused(WITH_JOINT("{'kind': 'hinge', 'parent': 'base', 'child': 'leg', 'position': [0, 0, 0]}"),
                  "unknown link \"leg\"");
    check_refused(WITH_JOINT("{'kind': 'hinge', 'parent': 'base', 'child': 'arm', 'stiffness': 1}"),
                  "\"position\" is missing");
    check_refused(WITH_JOINT(JOINT("'damping': 1")), "needs a \"stiffness\" or a \"compliance\"");
    check_refused(WITH_JOINT(JOINT("'stiffness': 0")), "stiffness: must be positive");
    check_refused(WITH_JOINT(JOINT("'stiffness': [1, 2]")), "stiffness");
    check_refused(WITH_JOINT(JOINT("'stiffness': 1, 'damping': -1")), "damping: must not be negative");
    check_refused(WITH_JOINT(JOINT("'stiffness': 1, 'compliance': [[1]]")), "give one of them");
    check_refused(WITH_JOINT(JOINT("'compliance': [[1, 2]]")), "compliance[0]");
    check_refused(WITH_JOINT(JOINT("'compliance': [[1], [2]]")), "must have 1 rows");
    check_refused(WITH_JOINT(JOINT("'compliance': [[-1]]")), "positive definite");
    check_refused(WITH_JOINT(JOINT("'stiffness': 1, 'axis': [0, 0, 0]")), "must have a direction");
    check_refused(WITH_JOINT(JOINT("'stiffness': 1, 'axis': [0, 0, 1], 'rotate_deg': [0, 0, 1]")), "leave it or");
    check_refused(WITH_JOINT("{'kind': 'ball', 'parent': 'base', 'child': 'arm', 'position': [0, 0, 0], 'stiffness': 1,"
                             "'axis': [0, 0, 1]}"),
                  "is for hinges and prismatic joints");
    check_refused(WITH_JOINT(JOINT("'stiffness': 1, 'offset': 1, 'offset_deg': 1")), "give one of them");
    check_refused(WITH_JOINT(JOINT("'stiffness': 1, 'limits': [1, -1]")), "must be [lower, upper]");
    check_refused(WITH_JOINT(JOINT("'stiffness': 1, 'limits': [[1, 2], [1, 2]]")), "one for each freedom");
    check_refused(WITH_JOINT(JOINT("'stiffness': 1, 'limit_stiffness': -1")), "must not be negative");
    check_refused(WITH_JOINT("{'kind': 'prismatic', 'parent': 'base', 'child': 'arm', 'position': [0, 0, 0],"
                             "'stiffness': 1, 'offset_deg': 1}"),
                  "is for joints that only turn");
}

static void wrong_things_are_told(void **state) {
    (void)state;
    check_refused(SCENE_OF(BASE "," ARM, ELBOW, "{'name': 't', 'link': 'base'}", ""), "is the base");
    check_refused(SCENE_OF(BASE "," ARM, ELBOW, TIP "," TIP, ""), "another end effector already");
    check_refused(SCENE_OF(BASE "," ARM, ELBOW, "{'name': 't', 'link': 'arm', 'shape': {'plane': true}}", ""),
                  "are for obstacles");
    check_refused(SCENE(", 'base_touch': {}"), "\"shape\" is missing");
    check_refused(SCENE(", 'base_touch': {'shape': {'sphere': 1}, 'friction': -1}"), "must not be negative");
    check_refused(SCENE(", 'motors': [{'joint': 'elbow'}]"), "\"curve\" is missing");
    check_refused(SCENE(", 'motors': [{'joint': 'elbow', 'curve': 'c'}]"), "the scene has no \"curves\"");
    check_refused(SCENE(", 'motors': [{'joint': 'elbo', 'curve': 'c'}]"), "did you mean \"elbow\"?");
    check_refused(SCENE(", 'curves': {'c': [[0, 0]]}, 'motors': [{'joint': 'elbow', 'curve': 'c', 'freedom': 1}]"),
                  "freedom: must be from 0 to 0");
    check_refused(SCENE(", 'curves': {'c': [[0, 0]]}, 'motors': [{'joint': 'elbow', 'curve': 'c'},"
                        "{'joint': 'elbow', 'curve': 'c'}]"),
                  "another motor moves this joint already");
    check_refused(SCENE(", 'forces': [{'force': [1, 2, 3]}]"), "needs a \"link\", an \"end_effector\" or a \"body\"");
    check_refused(SCENE(", 'forces': [{'link': 'arm', 'end_effector': 'tip', 'force': [1, 2, 3]}]"), "one too many");
    check_refused(SCENE(", 'forces': [{'link': 'arm'}]"), "needs a \"force\" or a \"torque\"");
    check_refused(SCENE(", 'forces': [{'body': 'x', 'force': [1, 2, 3]}]"), "unknown body \"x\"; there are none");
    check_refused(SCENE(", 'forces': [{'link': 'arm', 'force': [1, 2, 3], 'from': 2, 'until': 1}]"), "must be after");
    check_refused(SCENE(", 'probes': [{'name': 'p', 'link': 'arm'}, {'name': 'p', 'link': 'arm'}]"), "another probe");
    check_refused(SCENE(", 'probes': [{'name': 'p', 'touch': 'tip'}]"), "has no \"shape\"");
    check_refused(SCENE(", 'probes': [{'name': 'p', 'part': 'tip'}]"), "unknown key \"part\"");
    check_refused(SCENE(", 'engine': {'kind': 'tree'}"), "is for scenes of parts");
    check_refused(SCENE(", 'engine': {'coupling': 'L3'}"), "unknown key \"coupling\"");
    check_refused(SCENE(", 'engine': {'method': 'exakt'}"), "did you mean \"exact\"?");
    check_refused(SCENE(", 'engine': {'end_effectors': ['tip', 'tip']}"), "is named twice");
    check_refused(SCENE(", 'engine': {'blend': {}}"), "needs \"loads\" or \"random\"");
    check_refused(SCENE(", 'engine': {'blend': {'points': 65}}"), "points: must be from 1 to 64");
    check_refused(SCENE(", 'engine': {'blend': {'loads': [{'end_effector': 'tip'}]}}"), "needs a \"force\"");
    check_refused(SCENE(", 'engine': {'blend': {'random': {'count': 3}}}"), "above 0");
    check_refused(SCENE(", 'engine': {'blend': {'random': {'count': 3, 'force': 1}}, 'end_effectors': ['tip']}"),
                  "cannot be chosen beside");
    check_refused(SCENE(", 'bodies': [{'name': 'b', 'shape': {'sphere': 1}}]"), "needs a \"mass\"");
    check_refused(SCENE(", 'bodies': [{'name': 'b', 'density': 1}]"), "shape");
    check_refused(SCENE(", 'bodies': [{'name': 'b', 'density': 1, 'shape': {'plane': true}}]"), "are for obstacles");
    check_refused(SCENE(", 'bodies': [{'name': 'b', 'density': 1, 'shape': {'sphere': 1}, 'restitution': 2}]"),
                  "must be from 0 to 1");
    check_refused(SCENE(", 'obstacles': [{'name': 'o', 'shape': {'mesh': 'x.obj'}}]"), "x.obj");
    check_refused(SCENE(", 'obstacles': [{'shape': {'plane': true}}]"), "\"name\" is missing");
    check_refused("{'bough': 1, 'generate': {}}", "needs one of helix");
    check_refused("{'bough': 1, 'generate': {'spiral': {}}}", "unknown key \"spiral\"");
    check_refused("{'bough': 1, 'generate': {'helix': {'links': 1000000}}}", "links: must be from 1 to 10000");
    check_refused("{'bough': 1, 'generate': {'helix': {}}, 'links': []}", "is made by \"generate\"");
    check_refused("{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1]}, 'engine': {'kind': 'mechanism'}}",
                  "is for scenes of links");
}

static void wrong_shapes_are_told(void **state) {
    (void)state;
    check_refused(WITH_SHAPE("{}"), "needs one of sphere, box");
    check_refused(WITH_SHAPE("{'sphere': 1, 'box': [1, 1, 1]}"), "one too many");
    check_refused(WITH_SHAPE("{'sphere': 0}"), "sphere: must be from");
    check_refused(WITH_SHAPE("{'sphere': 1e9}"), "sphere: must be from");
    check_refused(WITH_SHAPE("{'ball': 1}"), "unknown key \"ball\"");
    check_refused(WITH_SHAPE("{'box': [1, 1]}"), "box");
    check_refused(WITH_SHAPE("{'capsule': 1}"), "capsule");
    check_refused(WITH_SHAPE("{'plane': false}"), "must be true");
    check_refused(WITH_SHAPE("{'hull': [[0, 0, 0], [1, 0, 0]]}"), "4 to");
    check_refused(WITH_SHAPE("{'hull': [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}"), "hull");
    check_refused(WITH_SHAPE("{'hull': 'nothing.obj'}"), "nothing.obj");
    check_refused(WITH_SHAPE("{'sphere': 1, 'colour': [1, 1, 2]}"), "colour");
    check_refused(WITH_SHAPE("{'height_field': {'size': [1, 1]}}"), "needs \"heights\" or \"noise\"");
    check_refused(WITH_SHAPE("{'height_field': {'size': [1, 1], 'heights': [[1, 2]]}}"), "2 to 500 rows");
    check_refused(WITH_SHAPE("{'height_field': {'size': [1, 1], 'heights': [[1, 2], [1]]}}"), "heights[1]");
    check_refused(WITH_SHAPE("{'height_field': {'size': [1, 1], 'noise': {'cells': [9999, 1], 'height': 1}}}"),
                  "cells");
}

/* A sentence about many names lists the first ones. */
static void long_lists_of_names_are_cut_short(void **state) {
    (void)state;
    char text[8192];
    int used = snprintf(text, sizeof text, "{'bough': 1, 'links': [{'name': 'base'}");
    for (int i = 0; i < 40; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         ", {'name': 'a rather long name %02d', 'mass': 1, 'inertia': [1, 1, 1, 0, 0, 0]}", i);
    snprintf(text + used, sizeof text - (size_t)used,
             "], 'joints': [], 'end_effectors': [{'name': 'tip', 'link': 'qqq'}]}");
    check_refused(text, "a rather long name 12, ");
    check_refused(text, " ...");
}

#define HILL(more)                                                                                           \
    SCENE(", 'obstacles': [{'name': 'hill', 'shape': {'height_field': {'size': [6, 10], 'noise': {'cells': " \
          "[3, 5], 'height': 0.5" more "}}}}]")

/* As many cells as it says over all of its size, not flat, the same each time, and others for another seed. */
static void hills_are_as_large_as_they_say(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scenes[3] = {load(ctx, HILL("")), load(ctx, HILL("")), load(ctx, HILL(", 'seed': 0"))};
    const bough_shape_def *hills[3];
    for (int i = 0; i < 3; i++)
        hills[i] = &scenes[i]->mechanism->obstacles[0].shapes.shapes[0].def;
    check(hills[0]->columns == 4 && hills[0]->rows == 6 && hills[0]->cell[0] == 2 && hills[0]->cell[1] == 2);
    double most = 0, other = 0;
    for (int k = 0; k < 4 * 6; k++) {
        most = fmax(most, fabs(hills[0]->heights[k]));
        other = fmax(other, fabs(hills[2]->heights[k] - hills[0]->heights[k]));
        check(hills[0]->heights[k] == hills[1]->heights[k]);
    }
    check(most > 0.01 && most <= 0.5 && other > 0.01);
    for (int line = 0; line < 4 + 6; line++) { /* columns, then rows: none is flat */
        double least = INFINITY, largest = -INFINITY;
        for (int k = 0; k < 4 * 6; k++)
            if (line < 4 ? k % 4 == line : k / 4 == line - 4) {
                least = fmin(least, hills[0]->heights[k]);
                largest = fmax(largest, hills[0]->heights[k]);
            }
        check(largest - least > 0.01);
    }
    for (int i = 0; i < 3; i++)
        bough_scene_destroy(ctx, scenes[i]);
    bough_context_destroy(ctx);
}

/* ---- anything ---- */

#define RICH                                                                                                          \
    "{'bough': 1, 'links': [" BASE "," ARM ", {'name': 'hand', 'position': [2, 0, 0], 'density': 1000,"               \
    "'shape': [{'box': [0.2, 0.1, 0.1]}, {'hull': [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}]}],"                  \
    "'joints': [" ELBOW                                                                                               \
    ", {'name': 'wrist', 'kind': 'ball', 'parent': 'arm', 'child': 'hand', 'position': [1.5, 0, 0],"                  \
    "'compliance': [[1, 0, 0], [0, 1, 0], [0, 0, 1]], 'limits': [[-1, 1], [-1, 1], [-1, 1]]}],"                       \
    "'end_effectors': [{'name': 'tip', 'link': 'hand', 'shape': {'sphere': 0.1}, 'friction': 1}],"                    \
    "'curves': {'c': [[0, 0], [1, 1]]}, 'motors': [{'joint': 'wrist', 'freedom': 2, 'curve': 'c'}],"                  \
    "'forces': [{'end_effector': 'tip', 'force': [1, 2, 3], 'curve': 'c'}],"                                          \
    "'bodies': [{'name': 'ball', 'density': 10, 'shape': {'sphere': 0.2}}],"                                          \
    "'obstacles': [{'name': 'hill', 'shape': {'height_field': {'size': [1, 1], 'noise': {'cells': [3, 3], 'height': " \
    "1}}}}],"                                                                                                         \
    "'probes': [{'name': 'p', 'body': 'ball'}, {'name': 'q', 'touch': 'tip'}],"                                       \
    "'engine': {'end_effectors': ['tip']}, 'time': {'dt': 0.1}}"

static const char *const rich_texts[] = {RICH,
                                         "{'bough': 1, 'generate': {'ladder': {'cells': 2, 'cell': [0.3, 0.2]}}}"};

static void truncations_and_mutations_do_no_harm(void **state) {
    (void)state;
    check_mutations(read_scene, rich_texts, 2, 1);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    check_failed_allocations(read_scene, rich_texts, 2);
}

static void the_examples_work(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene = load(ctx, example_of_docs("## Mechanisms"));
    check_int(scene->mechanism->body_count, 1);
    bough_scene_destroy(ctx, scene);
    static const struct {
        const char *file;
        int32_t links;
    } examples[] = {{"helix/scene", 51},    {"helix/scene100", 101},   {"helix/scene400", 401}, {"ladder/scene", 37},
                    {"ladder/scene48", 49}, {"y-mechanism/scene", 19}, {"loop/scene", 24},      {"arm/scene", 20}};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/examples/%s.json", BOUGH_SOURCE_DIR, examples[i].file);
        check_ok(ctx, bough_scene_load(ctx, path, &scene));
        check_int(scene->mechanism->link_count, examples[i].links);
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_mechanism),
        cmocka_unit_test(settings_are_passed_on),
        cmocka_unit_test(densities_weigh_shapes),
        cmocka_unit_test(bodies_are_moved_to_their_middles),
        cmocka_unit_test(generators_make_what_they_say),
        cmocka_unit_test(robots_are_read),
        cmocka_unit_test(wrong_links_are_told),
        cmocka_unit_test(wrong_joints_are_told),
        cmocka_unit_test(wrong_things_are_told),
        cmocka_unit_test(wrong_shapes_are_told),
        cmocka_unit_test(hills_are_as_large_as_they_say),
        cmocka_unit_test(long_lists_of_names_are_cut_short),
        cmocka_unit_test(truncations_and_mutations_do_no_harm),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(the_examples_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
