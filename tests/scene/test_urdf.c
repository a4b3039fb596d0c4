/* URDF files: poses, masses and springs of what they describe, sentences about what is wrong with them. */
#include "hostile.h"

#include "rig/joint.h"
#include "scene/scene.h"
#include "scene/xml.h"

#define INERTIAL                                                                                                   \
    "<inertial><origin xyz='0.1 0 0'/><mass value='2'/><inertia ixx='0.01' iyy='0.02' izz='0.02' ixy='0' ixz='0' " \
    "iyz='0'/></inertial>"
#define LINK(name) "<link name='" name "'>" INERTIAL "</link>\n"
#define HINGE(name, parent, child)                                                                                   \
    "<joint name='" name "' type='revolute'><parent link='" parent "'/><child link='" child                          \
    "'/><origin xyz='0.5 0 0' rpy='0 0 0'/><axis xyz='0 0 2'/><limit lower='-1' upper='1' effort='1' velocity='1'/>" \
    "<dynamics damping='0.3'/></joint>\n"
#define ARM                                                                                                          \
    "<?xml version='1.0'?>\n<robot name='arm'>\n<link name='base'/>\n" LINK("a") LINK("b") HINGE("one", "base", "a") \
        HINGE("two", "a", "b")
#define SPRINGS "{'bough': 1, 'default': {'stiffness': 50}}"

static bough_status load_with(bough_context *ctx, const char *text, const char *side, bough_urdf **urdf) {
    bough_urdf_def def = bough_default_urdf_def();
    const char *path = test_path("robot.urdf"), *beside = test_path("side.json");
    test_write_text(path, text);
    if (side)
        write_quoted(beside, side), def.dynamics = beside;
    return bough_mechanism_load_urdf(ctx, path, &def, urdf);
}

static int32_t find_link(const bough_mechanism_def *def, const char *name) {
    for (int32_t i = 0; i < def->link_count; i++)
        if (!strcmp(def->links[i].name, name))
            return i;
    fail_msg("there is no link %s", name);
    return -1;
}

/* ---- what files mean ---- */

static void check_position(const bough_pose *pose, double x, double y, double z) {
    check_near(pose->position[0], x, 1e-14);
    check_near(pose->position[1], y, 1e-14);
    check_near(pose->position[2], z, 1e-14);
}

static void poses_follow_origins_and_positions(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_urdf *urdf;
    check_ok(ctx, load_with(ctx, ARM "</robot>", SPRINGS, &urdf));
    const bough_mechanism_def *def = bough_mechanism_describe(urdf->mechanism);
    check_int(def->link_count, 3);
    check_int(def->joint_count, 2);
    check(!strcmp(urdf->name, "arm"));
    check(!strcmp(def->joints[1].name, "two"));
    check_int(def->base, find_link(def, "base"));
    check_position(&def->links[find_link(def, "a")].pose, 0.5, 0, 0);
    check_position(&def->links[find_link(def, "b")].pose, 1, 0, 0);
    check_int(def->end_effector_count, 1);
    check(!strcmp(urdf->frames[urdf->end_effectors[0]].name, "b"));
    check_near(def->joints[0].stiffness[0], 50, 0);
    check_near(def->joints[0].damping[0], 0.3, 0);
    check_near(def->joints[0].lower[0], -1, 0);
    check_near(def->joints[0].upper[0], 1, 0);
    bough_urdf_destroy(ctx, urdf);
    /* the first joint turned by 30 degrees */
    check_ok(ctx, load_with(ctx, ARM "</robot>",
                            "{'bough': 1, 'default': {'stiffness': 50, 'damping': 7},"
                            " 'joints': {'one': {'position_deg': 30, 'offset': 0.2, 'stiffness': 60, 'damping': 1}}}",
                            &urdf));
    def = bough_mechanism_describe(urdf->mechanism);
    check_position(&def->links[find_link(def, "a")].pose, 0.5, 0, 0);
    check_position(&def->links[find_link(def, "b")].pose, 0.5 + 0.5 * sqrt(0.75), 0.25, 0);
    check_near(def->joints[0].stiffness[0], 60, 0);
    check_near(def->joints[0].damping[0], 1, 0);
    check_near(def->joints[1].damping[0], 0.3, 0); /* URDF's goes over the default */
    check_near(def->joints[0].offset[0], 0.2, 0);
    bough_urdf_destroy(ctx, urdf);
    bough_context_destroy(ctx);
}

/* A force at the tip of an arm of hinges: each turns by its lever over its stiffness. */
static void compliance_of_an_arm_is_that_of_levers(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_urdf *urdf;
    check_ok(ctx, load_with(ctx,
                            ARM "<link name='tool'/><joint name='weld' type='fixed'><parent link='b'/><child "
                                "link='tool'/><origin xyz='0.4 0 0'/></joint></robot>",
                            "{'bough': 1, 'joints': {'one': {'stiffness': 50}, 'two': {'stiffness': 20}}}", &urdf));
    check(!strcmp(urdf->frames[urdf->end_effectors[0]].name, "tool"));
    bough_mechanism_statics *statics;
    check_ok(ctx, bough_mechanism_statics_create(ctx, urdf->mechanism, NULL, &statics));
    check_near(statics->C[6 * 1 + 1], 0.9 * 0.9 / 50 + 0.4 * 0.4 / 20, 1e-14);
    check_near(statics->C[6 * 5 + 5], 1.0 / 50 + 1.0 / 20, 1e-14);
    check_near(statics->C[6 * 0 + 0], 0, 1e-14);
    bough_mechanism_statics_destroy(ctx, statics);
    bough_urdf_destroy(ctx, urdf);
    bough_context_destroy(ctx);
}

/* Two balls of 1 and 3 kg, 0.4 m apart along y of the second, which is turned: one solid of 4 kg. */
static void welded_links_are_one_solid(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_urdf *urdf;
    check_ok(
        ctx,
        load_with(
            ctx,
            "<robot><link name='base'/><link name='one'><inertial><mass value='1'/><inertia ixx='0.1' iyy='0.1' "
            "izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
            "<link name='other'><inertial><origin xyz='0 0.4 0' rpy='0 0 1.5707963267948966'/><mass "
            "value='3'/><inertia "
            "ixx='0.1' iyy='0.2' izz='0.25' ixy='0' ixz='0' iyz='0'/></inertial>"
            "<visual><origin xyz='0 0.4 0'/><geometry><sphere radius='0.1'/></geometry><material name='red'/></visual>"
            "</link><material name='red'><color rgba='1 0 0 1'/></material>"
            "<joint name='hinge' type='continuous'><parent link='base'/><child link='one'/></joint>"
            "<joint name='weld' type='fixed'><parent link='one'/><child link='other'/>"
            "<origin rpy='0 0 1.5707963267948966'/></joint></robot>",
            SPRINGS, &urdf));
    const bough_mechanism_def *def = bough_mechanism_describe(urdf->mechanism);
    check_int(def->link_count, 2);
    const bough_rigid_body_def *link = &def->links[find_link(def, "one")];
    /* the other's y is -x here: its centre at x = -0.4; turned twice by 90 degrees, its axes are those of its file */
    check_near(link->mass, 4, 0);
    check_near(link->centre[0], -0.3, 1e-15);
    check_near(link->centre[1], 0, 1e-15);
    const double arm = 1 * 0.3 * 0.3 + 3 * 0.1 * 0.1, I[9] = {0.2, 0, 0, 0, 0.3 + arm, 0, 0, 0, 0.35 + arm};
    for (int k = 0; k < 9; k++)
        check_near(link->inertia[k], I[k], 1e-15);
    /* its shape is where it was */
    check_int(urdf->shape_count, 1);
    check_int(urdf->shapes[0].kind, BOUGH_URDF_SPHERE);
    check_int(urdf->shapes[0].link, find_link(def, "one"));
    check_near(urdf->shapes[0].frame.position[0], -0.4, 1e-15);
    check_near(urdf->shapes[0].colour[0], 1, 0);
    check_near(urdf->shapes[0].colour[1], 0, 0);
    /* a joint without <axis> goes about x */
    const bough_pose *frame = &def->joints[0].child.pose;
    check_near(frame->rotation[2], 1, 1e-15);
    bough_urdf_destroy(ctx, urdf);
    bough_context_destroy(ctx);
}

/* A weld that is given six stiffnesses moves. */
static void softened_welds_are_joints(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_urdf *urdf;
    check_ok(ctx, load_with(ctx,
                            ARM LINK("c") "<joint name='weld' type='fixed'><parent link='b'/><child link='c'/>"
                                          "<origin xyz='0.4 0 0'/></joint></robot>",
                            "{'bough': 1, 'default': {'stiffness': 50},"
                            " 'joints': {'weld': {'stiffness': [1000, 1000, 500, 40, 40, 40]}}}",
                            &urdf));
    const bough_mechanism_def *def = bough_mechanism_describe(urdf->mechanism);
    check_int(def->link_count, 4);
    bough_mechanism_statics *statics;
    check_ok(ctx, bough_mechanism_statics_create(ctx, urdf->mechanism, NULL, &statics));
    check_near(statics->C[0], 1.0 / 1000, 1e-15);
    check_near(statics->C[6 * 2 + 2], 1.0 / 500, 1e-15);
    bough_mechanism_statics_destroy(ctx, statics);
    bough_urdf_destroy(ctx, urdf);
    bough_context_destroy(ctx);
}

/* Positions beyond half a turn stay within their limits. */
static void limits_follow_turns(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_urdf *urdf;
    char text[4000];
    snprintf(text, sizeof text, "%s</robot>", ARM);
    char *limit = strstr(text, "lower='-1' upper='1'");
    memcpy(limit, "lower='1.' upper='9'", 20);
    check_ok(ctx, load_with(ctx, text, "{'bough': 1, 'default': {'stiffness': 50}, 'joints': {'one': {'position': 5}}}",
                            &urdf));
    const bough_mechanism_def *def = bough_mechanism_describe(urdf->mechanism);
    check_near(def->joints[0].lower[0], 1 - 2 * M_PI, 1e-14);
    check_near(def->joints[0].upper[0], 9 - 2 * M_PI, 1e-14);
    bough_mechanism_statics *statics;
    check_ok(ctx, bough_mechanism_statics_create(ctx, urdf->mechanism, NULL, &statics));
    check_near(statics->C[35], 2.0 / 50, 1e-14); /* none is stiffer by a limit */
    bough_mechanism_statics_destroy(ctx, statics);
    bough_urdf_destroy(ctx, urdf);
    bough_context_destroy(ctx);
}

/* ---- the same trees in two ways ---- */

enum { MOST = 24 };
typedef struct {
    int32_t count, parent[MOST], head[MOST], number[MOST]; /* number: of a head among links */
    int kind[MOST];                                        /* 0 revolute, 1 prismatic, 2 fixed */
    bo_se3 pose[MOST];
    bo_vec3 axis[MOST];
    double stiffness[MOST], mass[MOST];
    double xyz[MOST][3], rpy[MOST][3], position[MOST];
} tree;

static bo_mat3 about(int axis, double angle) {
    return bo_exp3(bo_v3(axis == 0 ? angle : 0, axis == 1 ? angle : 0, axis == 2 ? angle : 0));
}

static tree random_tree(test_random *r) {
    tree t = {.count = 3 + (int32_t)(test_bits(r) % (MOST - 3)), .pose = {bo_se3_identity()}};
    for (int32_t i = 1; i < t.count; i++) {
        t.parent[i] = (int32_t)(test_bits(r) % (uint64_t)i);
        t.kind[i] = i == 1 ? 0 : (int)(test_bits(r) % 3);
        for (int k = 0; k < 3; k++)
            t.xyz[i][k] = test_uniform(r, -1, 1), t.rpy[i][k] = test_uniform(r, -3, 3);
        t.axis[i] = bo_normalize(bo_v3(test_uniform(r, -1, 1), test_uniform(r, -1, 1), test_uniform(r, -1, 1)));
        t.stiffness[i] = test_uniform(r, 10, 100), t.mass[i] = test_uniform(r, 1, 2);
        t.position[i] = t.kind[i] == 2 ? 0 : test_uniform(r, -0.9, 0.9);
        const bo_se3 origin = {
            bo_mat_mul(about(2, t.rpy[i][2]), bo_mat_mul(about(1, t.rpy[i][1]), about(0, t.rpy[i][0]))),
            bo_load3(t.xyz[i])};
        bo_se3 moved = bo_se3_identity();
        if (t.kind[i] == 0)
            moved.R = bo_exp3(bo_scale(t.position[i], t.axis[i]));
        if (t.kind[i] == 1)
            moved.t = bo_scale(t.position[i], t.axis[i]);
        t.pose[i] = bo_se3_mul(bo_se3_mul(t.pose[t.parent[i]], origin), moved);
        t.head[i] = t.kind[i] == 2 ? t.head[t.parent[i]] : i;
    }
    int32_t heads = 0;
    for (int32_t i = 0; i < t.count; i++)
        t.number[i] = t.head[i] == i ? heads++ : -1;
    return t;
}

static void write_tree(const tree *t, const char *urdf, const char *side) {
    static const char *const types[] = {"revolute", "prismatic", "fixed"};
    FILE *f = fopen(urdf, "w"), *g = fopen(side, "w");
    check(f && g);
    fprintf(f, "<robot name=\"random\">\n");
    fprintf(g, "{\"bough\": 1, \"joints\": {");
    for (int32_t i = t->count - 1; i >= 0; i--) { /* the order of elements means nothing */
        if (i > 0)
            fprintf(f,
                    "<joint type=\"%s\" name=\"j%d\"><child link=\"l%d\"/><parent link=\"l%d\"/><origin rpy=\"%.17g "
                    "%.17g %.17g\" xyz=\"%.17g %.17g %.17g\"/><axis xyz=\"%.17g %.17g %.17g\"/><limit lower=\"-1\" "
                    "upper=\"1\"/></joint>\n",
                    types[t->kind[i]], i, i, t->parent[i], t->rpy[i][0], t->rpy[i][1], t->rpy[i][2], t->xyz[i][0],
                    t->xyz[i][1], t->xyz[i][2], 3 * t->axis[i].x, 3 * t->axis[i].y, 3 * t->axis[i].z);
        if (i > 1 && t->kind[i] != 2) /* the first comes last, without a comma */
            fprintf(g, "\"j%d\": {\"stiffness\": %.17g, \"position\": %.17g}, ", i, t->stiffness[i], t->position[i]);
    }
    for (int32_t i = 0; i < t->count; i++)
        fprintf(f,
                "<link name=\"l%d\"><inertial><mass value=\"%.17g\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" "
                "ixz=\"0\" iyz=\"0\"/></inertial></link>\n",
                i, t->mass[i]);
    fprintf(f, "</robot>\n");
    fprintf(g, "\"j1\": {\"stiffness\": %.17g, \"position\": %.17g}}}\n", t->stiffness[1], t->position[1]);
    fclose(f);
    fclose(g);
}

static bough_pose put(bo_se3 g) {
    bough_pose pose;
    memcpy(pose.rotation, g.R.m, sizeof pose.rotation);
    bo_store3(pose.position, g.t);
    return pose;
}

/* Joints where they are in the world, with any x and y. */
static bo_se3 joint_frame(const tree *t, int32_t i) {
    const bo_vec3 other = fabs(t->axis[i].x) < 0.7 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0);
    const bo_vec3 X = bo_normalize(bo_cross(other, t->axis[i])), Y = bo_cross(t->axis[i], X), Z = t->axis[i];
    const bo_mat3 A = {{X.x, Y.x, Z.x, X.y, Y.y, Z.y, X.z, Y.z, Z.z}};
    return bo_se3_mul(t->pose[i], (bo_se3){A, {0, 0, 0}});
}

static bough_status describe_tree(bough_context *ctx, const tree *t, bough_mechanism **m) {
    bough_mechanism_def def = bough_default_mechanism_def();
    bough_rigid_body_def links[MOST];
    bough_joint_def joints[MOST];
    for (int32_t i = 0; i < t->count; i++)
        if (t->head[i] == i) {
            links[t->number[i]] = bough_default_rigid_body_def();
            links[t->number[i]].pose = put(t->pose[i]);
            def.link_count++;
        }
    for (int32_t i = 1; i < t->count; i++) {
        if (t->kind[i] == 2)
            continue;
        bough_joint_def *joint = &joints[def.joint_count++];
        *joint = bough_default_joint_def();
        joint->kind = t->kind[i] ? BOUGH_JOINT_PRISMATIC : BOUGH_JOINT_HINGE;
        const int32_t parent = t->head[t->parent[i]];
        joint->parent.body = t->number[parent], joint->child.body = t->number[i];
        joint->parent.pose = put(bo_se3_mul(bo_se3_inverse(t->pose[parent]), joint_frame(t, i)));
        joint->child.pose = put(bo_se3_mul(bo_se3_inverse(t->pose[i]), joint_frame(t, i)));
        joint->stiffness[0] = t->stiffness[i];
    }
    def.links = links, def.joints = joints;
    return bough_mechanism_create(ctx, &def, m);
}

static void trees_and_descriptions_agree(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random r = {31};
    for (int round = 0; round < 40; round++) {
        const tree t = random_tree(&r);
        const char *path = test_path("tree.urdf"), *side = test_path("tree.json");
        write_tree(&t, path, side);
        bough_urdf_def load = bough_default_urdf_def();
        char name[16];
        int32_t at = 1;
        do /* any link that moves, welded or not */
            at = 1 + (int32_t)(test_bits(&r) % (uint64_t)(t.count - 1));
        while (t.head[at] == 0);
        snprintf(name, sizeof name, "l%d", at);
        load.dynamics = side, load.end_effector_count = 1, load.end_effectors = (const char *const[]){name};
        bough_urdf *urdf;
        bough_mechanism *other;
        check_ok(ctx, bough_mechanism_load_urdf(ctx, path, &load, &urdf));
        check_ok(ctx, describe_tree(ctx, &t, &other));
        const bough_frame_def effector =
            bo_frame_on(t.number[t.head[at]], put(bo_se3_mul(bo_se3_inverse(t.pose[t.head[at]]), t.pose[at])));
        bough_mechanism_statics_def how = bough_default_mechanism_statics_def();
        how.end_effector_count = 1, how.end_effectors = &effector;
        bough_mechanism_statics *mine, *theirs;
        check_ok(ctx, bough_mechanism_statics_create(ctx, urdf->mechanism, NULL, &mine));
        check_ok(ctx, bough_mechanism_statics_create(ctx, other, &how, &theirs));
        double most = 0;
        for (int k = 0; k < 36; k++)
            most = fmax(most, fabs(theirs->C[k]));
        for (int k = 0; k < 36; k++)
            check_near(mine->C[k], theirs->C[k], 1e-10 * most);
        bough_mechanism_statics_destroy(ctx, mine);
        bough_mechanism_statics_destroy(ctx, theirs);
        bough_mechanism_destroy(ctx, other);
        bough_urdf_destroy(ctx, urdf);
    }
    bough_context_destroy(ctx);
}

/* ---- scenes ---- */

#define TOOL                                                                                                       \
    "<link name='tool'/><joint name='weld' type='fixed'><parent link='b'/><child link='tool'/><origin xyz='0.4 0 " \
    "0'/></joint></robot>"

/* 0.9 m from the first hinge and 0.4 m from the second, both of 50 N m / rad. */
static void check_tool(bough_context *ctx, const bough_scene *scene, const char *name) {
    const bough_mechanism *m = bough_scene_mechanism(scene);
    check(m && !strcmp(bough_scene_end_effector_name(scene, 0), name));
    check_int(bough_mechanism_describe(m)->end_effector_count, 1);
    bough_mechanism_statics *statics;
    check_ok(ctx, bough_mechanism_statics_create(ctx, m, NULL, &statics));
    check_near(statics->C[7], (0.9 * 0.9 + 0.4 * 0.4) / 50, 1e-14);
    bough_mechanism_statics_destroy(ctx, statics);
}

static void robots_are_scenes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    test_write_text(test_path("thing.urdf"), ARM TOOL);
    check_fails(ctx, bough_scene_load(ctx, test_path("thing.urdf"), &scene), BOUGH_ERROR_FORMAT,
                "thing.urdf:6:1: <joint>: joint \"one\" has no stiffness");
    check_fails(ctx, bough_scene_load(ctx, test_path("nowhere.urdf"), &scene), BOUGH_ERROR_FILE, "cannot be opened");
    /* the side file that stands beside it */
    write_quoted(test_path("thing.dynamics.json"), SPRINGS);
    check_ok(ctx, bough_scene_load(ctx, test_path("thing.urdf"), &scene));
    check_tool(ctx, scene, "tool");
    const uint64_t before = scene->hash;
    bough_scene_destroy(ctx, scene);
    /* checkpoints belong to what both files say */
    write_quoted(test_path("thing.dynamics.json"), "{'bough': 1,  'default': {'stiffness': 50}}");
    check_ok(ctx, bough_scene_load(ctx, test_path("thing.urdf"), &scene));
    check(scene->hash != before);
    bough_scene_destroy(ctx, scene);
    /* in a scene, whose end effectors are added to those of the robot, or go over them; on what is welded too */
    check_ok(ctx,
             load_text(ctx, "{'bough': 1, 'urdf': 'thing.urdf', 'end_effectors': [{'name': 'tip', 'link': 'tool'}]}",
                       &scene));
    const bough_mechanism_def *def = bough_mechanism_describe(bough_scene_mechanism(scene));
    check_int(def->end_effector_count, 2);
    check_near(def->end_effectors[1].pose.position[0], 0.4, 1e-15);
    bough_scene_destroy(ctx, scene);
    check_ok(ctx, load_text(ctx,
                            "{'bough': 1, 'urdf': 'thing.urdf', 'end_effectors': [{'name': 'tool', 'link': 'tool'}],"
                            "'probes': [{'name': 'p', 'link': 'tool'}]}",
                            &scene));
    check_tool(ctx, scene, "tool");
    check_near(scene->probes[0].spot.rest[0], 1.4, 1e-15);
    bough_scene_destroy(ctx, scene);
    write_quoted(test_path("soft.json"), "{'bough': 1, 'default': {'stiffness': 25}}");
    check_ok(ctx, load_text(ctx, "{'bough': 1, 'urdf': 'thing.urdf', 'dynamics': 'soft.json'}", &scene));
    check_near(bough_mechanism_describe(bough_scene_mechanism(scene))->joints[0].stiffness[0], 25, 0);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void scenes_of_robots_tell_mistakes(void **state) {
    (void)state;
    test_write_text(test_path("thing.urdf"), ARM TOOL);
    write_quoted(test_path("thing.dynamics.json"), SPRINGS);
    check_refused_by(read_scene, "{'bough': 1, 'urdf': 'none.urdf'}", "cannot be opened");
    check_refused_by(read_scene, "{'bough': 1, 'urdf': 'thing.urdf', 'dynamics': 'none.json'}", "cannot be opened");
    check_refused_by(read_scene, "{'bough': 1, 'urdf': 'thing.urdf', 'links': []}", "leave");
    check_refused_by(read_scene, "{'bough': 1, 'links': [], 'dynamics': 'thing.dynamics.json'}", "there is none");
    check_refused_by(read_scene, "{'bough': 1, 'urdf': 'thing.urdf', 'end_effectors': [{'name': 'e', 'link': 'tol'}]}",
                     "did you mean \"tool\"?");
    check_refused_by(read_scene, "{'bough': 1,\n'urdf': 'scene.json'}", "scene.json:2:9: urdf: ");
}

static char warnings[4000];
static void hear(void *user, const char *sentence) {
    (void)user;
    const size_t used = strlen(warnings);
    snprintf(warnings + used, sizeof warnings - used, "%s\n", sentence);
}

static bough_context *listening_context(void) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1, def.warn = hear;
    warnings[0] = 0;
    return bough_context_create(&def);
}

/* A package has its description in one folder and its meshes in another. */
static void meshes_are_drawn(void **state) {
    (void)state;
    bough_context *ctx = listening_context();
    bough_scene *scene;
    char path[300];
    mkdir(test_path("urdf"), 0700);
    mkdir(test_path("meshes"), 0700);
    test_write_text(test_path("meshes/wedge.obj"),
                    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    snprintf(path, sizeof path, "%s", test_path("urdf/robot.urdf"));
    test_write_text(
        path, "<robot><link name='base'><visual><geometry><mesh filename='package://p/meshes/wedge.obj' scale='2 3 "
              "4'/></geometry></visual></link><link name='a'>" INERTIAL
              "<visual><geometry><mesh filename='gone.stl'/></geometry></visual>"
              "<collision><geometry><sphere radius='0.1'/></geometry></collision></link><link name='b'>" INERTIAL
              "<collision><geometry><capsule radius='0.1' length='0.3'/></geometry></collision></link>" HINGE(
                  "one", "base", "a") HINGE("two", "a", "b") "</robot>");
    write_quoted(test_path("urdf/robot.dynamics.json"), SPRINGS);
    check_ok(ctx, bough_scene_load(ctx, path, &scene));
    const bo_scene_shapes *shapes = scene->mechanism->link_shapes;
    check_int(shapes[0].count, 1);
    check_int(shapes[0].shapes[0].form, BO_FORM_MESH);
    double most[3] = {0};
    for (int32_t k = 0; k < 3 * shapes[0].shapes[0].mesh->vertex_count; k++)
        most[k % 3] = fmax(most[k % 3], shapes[0].shapes[0].mesh->vertices[k]);
    check_near(most[0], 2, 0);
    check_near(most[1], 3, 0);
    check_near(most[2], 4, 0);
    check_int(shapes[1].count, 0); /* nothing instead of what is to be seen and is not there */
    check(strstr(warnings, "the mesh \"gone.stl\" is not there"));
    check_int(shapes[2].count, 1); /* what collides, where nothing is to be seen */
    check_int(shapes[2].shapes[0].form, BO_FORM_CAPSULE);
    check_near(shapes[2].shapes[0].length, 0.3, 0);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    const char *const texts[] = {"{'bough': 1, 'urdf': 'urdf/robot.urdf'}"};
    check_failed_allocations(read_scene, texts, 1);
}

/* ---- what is wrong ---- */

static bough_status read_robot(bough_context *ctx, const char *path, bool *made) {
    bough_urdf_def def = bough_default_urdf_def();
    def.dynamics = test_path("springs.json");
    bough_urdf *urdf = NULL;
    const bough_status status = bough_mechanism_load_urdf(ctx, path, &def, &urdf);
    *made = urdf != NULL;
    bough_urdf_destroy(ctx, urdf);
    return status;
}

static void mistakes_are_told(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "there is no element; URDF is expected here"},
        {"robot", "robot.urdf:1:1: text outside of all elements"},
        {"<sdf/>", "<sdf>: a URDF file is one <robot>"},
        {"<robot/>", "<robot>: has no <link>"},
        {"<robot>\n  <link name='a'></lnk></robot>", "robot.urdf:2:18: </lnk> where <link> of line 2 should end"},
        {"<robot><link name='a'/>", "the file ends before <robot> of line 1 does"},
        {"<robot><link name=a/></robot>", "the value of name needs quotes"},
        {"<robot><link name='a/></robot>", "does not end; a quote is missing"},
        {"<robot><link name='a' name='b'/></robot>", "attribute name is there twice"},
        {"<robot><link name/></robot>", "\"=\" and a value are missing behind name"},
        {"<robot><link name='a'b='c'/></robot>", "a blank is missing here"},
        {"<robot><link name='a&b;'/></robot>", "entity &b; is not known"},
        {"<robot><link name='a & b'/></robot>", "write &amp;"},
        {"<robot><link name='&#0;'/></robot>", "begins no entity here"},
        {"<robot><link name='a<'/></robot>", "write &lt;"},
        {"<robot></robot><robot/>", "a second element"},
        {"</robot>", "an element ends here that did not begin"},
        {"<robot><!-- no end</robot>", "a comment begins here that does not end"},
        {"<!DOCTYPE robot><robot/>", "document types (<!DOCTYPE, <!ENTITY) are not read"},
        {"<robot xmlns:xacro='x'><xacro:macro name='m'/></robot>", "is a macro; expand the file first"},
        {"<robot><link/></robot>", "<link>: attribute name is missing"},
        {"<robot><link name=''/></robot>", "<link>: attribute name is empty"},
        {"<robot><link name='a'/><link name='a'/></robot>", "there is a link \"a\" already, in line 1"},
        {"<robot><link name='a'/><link name='b'/></robot>", "neither \"a\" nor \"b\" hangs at a joint"},
        {"<robot><link name='a'/></robot>", "has no joint that moves"},
        {ARM HINGE("one", "a", "b") "</robot>", "there is a joint \"one\" already"},
        {ARM HINGE("three", "base", "b") "</robot>", "hangs at joint \"two\" already; a URDF is a tree"},
        {ARM HINGE("three", "b", "base") "</robot>", "every link hangs at a joint, in a circle"},
        {ARM LINK("c") LINK("d") HINGE("p", "c", "d") HINGE("q", "d", "c") "</robot>", "link \"c\" hangs in a circle"},
        {ARM HINGE("three", "b", "c") "</robot>", "joint \"three\": there is no link \"c\""},
        {ARM "<link name='c'/>" HINGE("three", "b", "c") "</robot>",
         "robot.urdf:8:1: <link>: link \"c\" has no mass, nor has anything that is welded to it"},
        {"<robot><link name='a'><inertial/></link></robot>", "<inertial>: <mass value=\"...\"/> is missing"},
        {"<robot><link name='a'><inertial><mass value='-1'/></inertial></link></robot>", "a mass is not negative"},
        {"<robot><link name='a'><inertial><mass value='1e99'/></inertial></link></robot>", "\"1e99\" is not a number"},
        {"<robot><link name='a'><inertial><mass value='nan'/></inertial></link></robot>", "\"nan\" is not a number"},
        {"<robot><link name='a'><inertial><mass value='1 2'/></inertial></link></robot>", "must be 1 number"},
        {"<robot><link name='a'><inertial><mass value='1'/></inertial></link></robot>", "<inertia ixx="},
        {"<robot><link name='a'><inertial><mass value='1'/><inertia ixx='1'/></inertial></link></robot>",
         "<inertia>: attribute iyy is missing"},
        {"<robot><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='-1' ixy='0' ixz='0' "
         "iyz='0'/></inertial></link></robot>",
         "has a principal moment of -1 kg m^2"},
        {"<robot><link name='a'><inertial/><inertial/></link></robot>", "<link> has it already in line 1"},
        {ARM "<joint name='x' type='floating'/></robot>", "joint \"x\" is floating"},
        {ARM "<joint name='x' type='planar'/></robot>", "joint \"x\" is planar"},
        {ARM "<joint name='x' type='screw'/></robot>", "there are revolute, continuous, prismatic, fixed"},
        {ARM "<joint name='x' type='fixed'><mimic joint='one'/></joint></robot>", "joint \"x\" mimics another"},
        {ARM "<joint name='x' type='fixed'><child link='b'/></joint></robot>", "has no <parent link="},
        {ARM LINK("c") "<joint name='x' type='revolute'><parent link='b'/><child link='c'/></joint></robot>",
         "one without limits is of type continuous"},
        {ARM LINK("c") "<joint name='x' type='prismatic'><parent link='b'/><child link='c'/><limit lower='1' "
                       "upper='-1'/></joint></robot>",
         "the lower limit of joint \"x\", 1, is above the upper one, -1"},
        {ARM LINK(
             "c") "<joint name='x' type='continuous'><parent link='b'/><child link='c'/><axis xyz='0 0 0'/></joint>"
                  "</robot>",
         "the axis of joint \"x\" has no direction"},
        {ARM LINK("c") "<joint name='x' type='continuous'><parent link='b'/><child link='c'/><dynamics "
                       "damping='-1'/></joint></robot>",
         "the damping of joint \"x\" is -1"},
        {ARM LINK("c") "<joint name='x' type='continuous'><parent link='b'/><child link='c'/><origin xyz='0 "
                       "0'/></joint></robot>",
         "<origin>: xyz must be 3 numbers between blanks, not 2"},
        {"<robot><link name='base'><visual/></link>" LINK("a") HINGE("one", "base", "a") "</robot>",
         "has no <geometry> with a shape in it"},
        {"<robot><link name='base'><visual><geometry><box size='1 1 0'/></geometry></visual></link>" LINK("a")
             HINGE("one", "base", "a") "</robot>",
         "size is 0 m; it must be above 0"},
        {"<robot><link name='base'><visual><geometry><cone/></geometry></visual></link>" LINK("a")
             HINGE("one", "base", "a") "</robot>",
         "is no shape"},
        {"<robot><link name='base'><visual><geometry><mesh/></geometry></visual></link>" LINK("a")
             HINGE("one", "base", "a") "</robot>",
         "attribute filename is missing"},
    };
    write_quoted(test_path("springs.json"), SPRINGS);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        test_write_text(test_path("robot.urdf"), cases[k].text);
        const hostile_outcome o = read_hostile(read_robot, test_path("robot.urdf"), -1);
        const bool wrong = o.status == BOUGH_ERROR_FORMAT || o.status == BOUGH_ERROR_UNSUPPORTED;
        if (!wrong || !strstr(o.message, cases[k].why))
            fail_msg("%s: expected \"%s\", got %s with \"%s\"", cases[k].text, cases[k].why,
                     bough_status_name(o.status), o.message);
    }
}

static void mistakes_of_the_side_file_are_told(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{}", "\"bough\" is missing"},
        {"{'bough': 1}", "joint \"one\" has no stiffness, for which URDF has no word"},
        {"{'bough': 1, 'default': {'stiffness': 0}}", "must be positive"},
        {"{'bough': 1, 'default': {'stifness': 1}}", "did you mean \"stiffness\"?"},
        {"{'bough': 1, 'joints': {'one': {'stiffness': 1}}}", "joint \"two\" has no stiffness"},
        {"{'bough': 1, 'joints': {'tow': {'stiffness': 1}}}", "unknown joint \"tow\"; did you mean \"two\"?"},
        {"{'bough': 1, 'joints': []}", "must be an object, not a list"},
        {"{'bough': 1, 'joints': {'one': {'offset': 1, 'offset_deg': 1}}}", "say the same"},
        {"{'bough': 1, 'joints': {'weld': {'stiffness': 1}}}", "must be a list"},
        {"{'bough': 1, 'joints': {'weld': {}}}", "\"stiffness\" is missing"},
        {"{'bough': 1, 'joints': {'slide': {'stiffness': 1, 'offset_deg': 1}}}", "the joint is prismatic"},
        {"{'bough': 1, 'default': {'stiffness': 1}, 'end_effectors': ['q']}", "unknown link \"q\""},
        {"{'bough': 1, 'default': {'stiffness': 1}, 'end_effectors': ['base']}", "is welded to the base"},
        {"{'bough': 1, 'default': {'stiffness': 1}, 'free_base': true}", "link \"base\" has no mass"},
    };
    test_write_text(test_path("robot.urdf"),
                    ARM LINK("c")
                        LINK("d") "<joint name='weld' type='fixed'><parent link='b'/><child link='c'/></joint>"
                                  "<joint name='slide' type='prismatic'><parent link='c'/><child link='d'/>"
                                  "<limit/></joint></robot>");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        write_quoted(test_path("springs.json"), cases[k].text);
        const hostile_outcome o = read_hostile(read_robot, test_path("robot.urdf"), -1);
        if (o.status != BOUGH_ERROR_FORMAT || !strstr(o.message, cases[k].why))
            fail_msg("%s: expected \"%s\", got %s with \"%s\"", cases[k].text, cases[k].why,
                     bough_status_name(o.status), o.message);
    }
}

static void what_is_ignored_is_told(void **state) {
    (void)state;
    bough_context *ctx = listening_context();
    bough_urdf *urdf;
    check_ok(ctx, load_with(ctx,
                            ARM "<gazebo reference='a'><x/>text &amp; <![CDATA[<robot>]]></gazebo><transmission/>"
                                "<!-- <link> -- --></robot>",
                            SPRINGS, &urdf));
    check(!strcmp(warnings, ""));
    bough_urdf_destroy(ctx, urdf);
    check_ok(ctx,
             load_with(ctx,
                       ARM "<lnik name='q'/>" LINK("c") "<joint name='x' type='continuous'><parent link='b'/><child "
                                                        "link='c'/><dynamics friction='1'/></joint></robot>",
                       "{'bough': 1, 'default': {'stiffness': 50}, 'joints': {'one': {'position': 2}}}", &urdf));
    check(strstr(warnings, "robot.urdf:8:1: <lnik>: is not known here and is ignored"));
    check(strstr(warnings, "friction in joint \"x\" is ignored"));
    check(strstr(warnings, "joint \"one\" stands at 2, beyond its limits -1 and 1"));
    bough_urdf_destroy(ctx, urdf);
    bough_context_destroy(ctx);
}

/* Entities that stand for entities would be gigabytes: no document type is read at all. */
static void a_billion_laughs_are_refused(void **state) {
    (void)state;
    write_quoted(test_path("springs.json"), SPRINGS);
    test_write_text(test_path("robot.urdf"),
                    "<?xml version='1.0'?><!DOCTYPE lolz [<!ENTITY a 'lol'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>"
                    "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>]><robot name='&c;'/>");
    const hostile_outcome o = read_hostile(read_robot, test_path("robot.urdf"), -1);
    check_int(o.status, BOUGH_ERROR_FORMAT);
    check(strstr(o.message, "document types"));
    char deep[64 * 6 + 64] = "";
    for (int k = 0; k < 65; k++)
        strcat(deep, "<a>");
    test_write_text(test_path("robot.urdf"), deep);
    check(strstr(read_hostile(read_robot, test_path("robot.urdf"), -1).message, "nested deeper than 64"));
}

/* 64 MB are described by no robot; sparse files cost nothing here. */
static void large_files_are_refused(void **state) {
    (void)state;
    write_quoted(test_path("springs.json"), SPRINGS);
    test_write_text(test_path("large.urdf"), "<robot>");
    check_int(truncate(test_path("large.urdf"), (64 << 20) + 1), 0);
    check(strstr(read_hostile(read_robot, test_path("large.urdf"), -1).message,
                 "is larger than 64 MB, too large for a URDF file"));
    check_int(truncate(test_path("large.urdf"), 20), 0);
    check(strstr(read_hostile(read_robot, test_path("large.urdf"), -1).message, "is not a text in UTF-8"));
}

static void entities_mean_characters(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_xml xml;
    test_write_text(test_path("text.xml"), "\xEF\xBB\xBF<a b='&lt;&#65;&#x20AC;&amp;\n&quot;' c=\"it's\"/>");
    check_ok(ctx, bo_xml_load(ctx, test_path("text.xml"), "XML", &xml));
    check(!strcmp(bo_xml_get(&xml, xml.elements, "b"), "<A\xE2\x82\xAC& \""));
    check(!strcmp(bo_xml_get(&xml, xml.elements, "c"), "it's"));
    check(bo_xml_get(&xml, xml.elements, "d") == NULL);
    bo_xml_free(&xml);
    bough_context_destroy(ctx);
}

/* The first and the last character of each length in UTF-8, and those that XML does not have. */
static void characters_have_their_bytes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_xml xml;
    static const struct {
        const char *entity, *bytes;
    } all[] = {{"&#x20;", " "},
               {"&#x7F;", "\x7F"},
               {"&#x80;", "\xC2\x80"},
               {"&#128;", "\xC2\x80"},
               {"&#x7FF;", "\xDF\xBF"},
               {"&#x800;", "\xE0\xA0\x80"},
               {"&#xD7FF;", "\xED\x9F\xBF"},
               {"&#xE000;", "\xEE\x80\x80"},
               {"&#xFFFD;", "\xEF\xBF\xBD"},
               {"&#x10000;", "\xF0\x90\x80\x80"},
               {"&#x10FFFF;", "\xF4\x8F\xBF\xBF"}};
    static const char *const none[] = {"&#0;", "&#x1F;", "&#xD800;", "&#xDFFF;", "&#xFFFE;", "&#xFFFF;", "&#x110000;"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[64];
        snprintf(text, sizeof text, "<a b='%s'/>", all[i].entity);
        test_write_text(test_path("text.xml"), text);
        check_ok(ctx, bo_xml_load(ctx, test_path("text.xml"), "XML", &xml));
        if (strcmp(bo_xml_get(&xml, xml.elements, "b"), all[i].bytes) != 0)
            fail_msg("%s became \"%s\"", all[i].entity, bo_xml_get(&xml, xml.elements, "b"));
        bo_xml_free(&xml);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char text[64];
        snprintf(text, sizeof text, "<a b='%s'/>", none[i]);
        test_write_text(test_path("text.xml"), text);
        check_fails(ctx, bo_xml_load(ctx, test_path("text.xml"), "XML", &xml), BOUGH_ERROR_FORMAT, "no entity");
        bo_xml_free(&xml);
    }
    bough_context_destroy(ctx);
}

/* ---- mangled files ---- */

static const char whole[] =
    ARM "<link name='c'><visual><geometry><mesh filename='c.obj' scale='1 1 1'/></geometry><material name='m'><color "
        "rgba='1 0 0 1'/></material></visual></link><joint name='weld' type='fixed'><parent link='b'/><child "
        "link='c'/><origin xyz='0 0 0.1' rpy='0 1 0'/></joint></robot>\n";

static void mangled_files_do_no_harm(void **state) {
    (void)state;
    static const char letters[] = "<>/='\"&; \n0123456789.-eabclinkjot!?[]\xff\x01";
    test_random random = {7};
    write_quoted(test_path("springs.json"), SPRINGS);
    const size_t length = sizeof whole - 1;
    int loaded = 0;
    for (size_t end = 0; end < length; end += test_long() ? 1 : 7) {
        test_write(test_path("robot.urdf"), whole, end);
        loaded += read_hostile(read_robot, test_path("robot.urdf"), -1).status == BOUGH_OK;
    }
    check(loaded <= 1); /* without its last line's end */
    loaded = 0;
    for (int round = 0; round < (test_long() ? 20000 : 1500); round++) {
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        for (uint64_t k = 0; k <= test_bits(&random) % 3; k++)
            text[test_bits(&random) % length] =
                round % 10 ? letters[test_bits(&random) % (sizeof letters - 1)] : (char)test_bits(&random);
        test_write(test_path("robot.urdf"), text, length);
        loaded += read_hostile(read_robot, test_path("robot.urdf"), -1).status == BOUGH_OK;
    }
    check(loaded > 0);
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    write_quoted(test_path("springs.json"), SPRINGS);
    test_write_text(test_path("robot.urdf"), whole);
    bool done = false;
    for (long fail_at = 0; !done; fail_at++) {
        const hostile_outcome o = read_hostile(read_robot, test_path("robot.urdf"), fail_at);
        done = o.calls <= fail_at;
        check_int(o.status, done ? BOUGH_OK : BOUGH_ERROR_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_follow_origins_and_positions),
        cmocka_unit_test(compliance_of_an_arm_is_that_of_levers),
        cmocka_unit_test(welded_links_are_one_solid),
        cmocka_unit_test(softened_welds_are_joints),
        cmocka_unit_test(limits_follow_turns),
        cmocka_unit_test(trees_and_descriptions_agree),
        cmocka_unit_test(robots_are_scenes),
        cmocka_unit_test(scenes_of_robots_tell_mistakes),
        cmocka_unit_test(meshes_are_drawn),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(mistakes_of_the_side_file_are_told),
        cmocka_unit_test(what_is_ignored_is_told),
        cmocka_unit_test(a_billion_laughs_are_refused),
        cmocka_unit_test(large_files_are_refused),
        cmocka_unit_test(entities_mean_characters),
        cmocka_unit_test(characters_have_their_bytes),
        cmocka_unit_test(mangled_files_do_no_harm),
        cmocka_unit_test(memory_that_runs_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
