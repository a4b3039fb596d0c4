/* "generate": linkages of any length in a few numbers. */
#include "scene/mechanism_scene.h"

#include "rig/joint.h"
#include "scene/entries.h"

#include <stdio.h>
#include <string.h>

#define MOST_MADE 10000 /* links */

/* Parameters of all generators. */
typedef struct {
    bough_context *ctx;
    bo_mechanism_scene *m;
    bough_joint_kind kind; /* of the joints */
    double stiffness, damping, mass;
} maker;

static bo_se3 at_place(double x, double y, double z, bo_vec3 turn) {
    return (bo_se3){bo_exp3(turn), {x, y, z}};
}
static bo_se3 at_point(double x, double y, double z) {
    return at_place(x, y, z, bo_v3(0, 0, 0));
}

/* A rod along one of its axes (0, 1, 2) of that length, a fifth as thick. */
static bough_status add_rod(const maker *k, const char *what, int32_t number, bo_se3 pose, int axis, double length) {
    bough_rigid_body_def link = bough_default_rigid_body_def();
    char name[40];
    const double l = length * length, thick = l / 25;
    snprintf(name, sizeof name, number < 0 ? "%s" : "%s%d", what, number);
    link.name = name, link.mass = k->mass, link.pose = bo_put_pose(pose);
    memset(link.inertia, 0, sizeof link.inertia);
    for (int d = 0; d < 3; d++)
        link.inertia[4 * d] = k->mass * (d == axis ? 2 * thick : l + thick) / 12;
    return bo_mechanism_add_link(k->ctx, k->m, &link);
}

static bough_status connect(const maker *k, int32_t parent, int32_t child, bo_se3 frame) {
    bough_joint_def joint = bough_default_joint_def();
    char name[40];
    snprintf(name, sizeof name, "joint%d", k->m->joint_count + 1);
    joint.name = name, joint.kind = k->kind;
    joint.parent.body = parent, joint.child.body = child;
    for (int i = 0; i < 6; i++)
        joint.stiffness[i] = k->stiffness, joint.damping[i] = k->damping;
    bo_mechanism_place_joint(k->m, frame, &joint);
    return bo_mechanism_add_joint(k->ctx, k->m, &joint);
}

static bough_status read_common(const bo_json *at, maker *k) {
    BO_TRY(bo_scene_joint_kind(bo_json_at(at, "joint"), &k->kind));
    BO_TRY(bo_json_number(bo_json_at(at, "stiffness"), BO_POSITIVE, &k->stiffness));
    BO_TRY(bo_json_number(bo_json_at(at, "damping"), BO_NOT_NEGATIVE, &k->damping));
    return bo_json_number(bo_json_at(at, "mass"), BO_POSITIVE, &k->mass);
}

/* A coil about z, each link turned against the one before. */
static bough_status make_helix(bo_json at, maker *k) {
    int32_t count = 50;
    double radius = 0.1, pitch = 0.05, turn = 22.5;
    BO_TRY(bo_json_keys(at, BO_HELIX_KEYS));
    BO_TRY(read_common(&at, k));
    BO_TRY(bo_json_integer(bo_json_at(&at, "links"), 1, MOST_MADE, &count));
    BO_TRY(bo_json_number(bo_json_at(&at, "radius"), (bo_range){1e-4, 1e4, false}, &radius));
    BO_TRY(bo_json_number(bo_json_at(&at, "pitch"), (bo_range){-1e4, 1e4, false}, &pitch));
    BO_TRY(bo_json_number(bo_json_at(&at, "turn_deg"), (bo_range){1, 120, false}, &turn));
    const double step = turn * M_PI / 180, rise = pitch / (2 * M_PI), length = hypot(radius * step, rise * step);
    for (int32_t i = 0; i <= count; i++) {
        const double a = step * i, b = step * (i - 0.5);
        BO_TRY(add_rod(k, i ? "link" : "base", i ? i : -1,
                       at_place(radius * cos(a), radius * sin(a), rise * a, bo_v3(0, 0, a)), 1, length));
        const bo_se3 frame = at_place(radius * cos(b), radius * sin(b), rise * b, bo_v3(0, 0, b));
        /* hinges alternate, so that the coil moves in all directions */
        const bo_se3 turned = at_place(0, 0, 0, bo_v3(k->kind == BOUGH_JOINT_HINGE ? i % 2 * M_PI / 2 : 0, 0, 0));
        if (i > 0)
            BO_TRY(connect(k, i - 1, i, bo_se3_mul(frame, turned)));
    }
    return bo_mechanism_add_end_effector(k->ctx, k->m, "tip", count, bo_pose(&k->m->links[count].pose));
}

/* Cells of two rails and a rung that the next cell stands on, along y: three links and a loop each. */
static bough_status make_ladder(bo_json at, maker *k) {
    int32_t cells = 12;
    double size[2] = {0.3, 0.25};
    BO_TRY(bo_json_keys(at, BO_LADDER_KEYS));
    BO_TRY(read_common(&at, k));
    BO_TRY(bo_json_integer(bo_json_at(&at, "cells"), 1, MOST_MADE / 3, &cells));
    BO_TRY(bo_json_numbers(bo_json_at(&at, "cell"), 2, (bo_range){1e-4, 1e4, false}, size));
    BO_TRY(add_rod(k, "base", -1, bo_se3_identity(), 0, size[0]));
    for (int32_t i = 0, below = 0; i < cells; i++) {
        const double y = size[1] * i, top = y + size[1];
        for (int side = 0; side < 2; side++) {
            const double x = (side - 0.5) * size[0];
            BO_TRY(add_rod(k, side ? "right" : "left", i + 1, at_point(x, 0.5 * (y + top), 0), 1, size[1]));
            BO_TRY(connect(k, below, below + 1 + side, at_point(x, y, 0)));
        }
        BO_TRY(add_rod(k, "rung", i + 1, at_point(0, top, 0), 0, size[0]));
        for (int side = 0; side < 2; side++)
            BO_TRY(connect(k, below + 1 + side, below + 3, at_point((side - 0.5) * size[0], top, 0)));
        below += 3;
    }
    const int32_t last = k->m->link_count - 1;
    return bo_mechanism_add_end_effector(k->ctx, k->m, "top", last, bo_pose(&k->m->links[last].pose));
}

/* A chain from `from`, along y of `root`; the last link is the newest. */
static bough_status add_chain(const maker *k, const char *name, int32_t from, int32_t count, bo_se3 root,
                              double length) {
    for (int32_t i = 0; i < count; i++) {
        BO_TRY(add_rod(k, name, i + 1, bo_se3_mul(root, at_point(0, length * (i + 0.5), 0)), 1, length));
        BO_TRY(connect(k, from, k->m->link_count - 1, bo_se3_mul(root, at_point(0, length * i, 0))));
        from = k->m->link_count - 1;
    }
    return BOUGH_OK;
}

/* A trunk along y that forks into two arms with an end effector each. */
static bough_status make_y(bo_json at, maker *k) {
    int32_t trunk = 6, arm = 6;
    double length = 0.15, spread = 35;
    BO_TRY(bo_json_keys(at, BO_Y_KEYS));
    BO_TRY(read_common(&at, k));
    BO_TRY(bo_json_integer(bo_json_at(&at, "trunk"), 1, MOST_MADE / 3, &trunk));
    BO_TRY(bo_json_integer(bo_json_at(&at, "arm"), 1, MOST_MADE / 3, &arm));
    BO_TRY(bo_json_number(bo_json_at(&at, "length"), (bo_range){1e-4, 1e4, false}, &length));
    BO_TRY(bo_json_number(bo_json_at(&at, "spread_deg"), (bo_range){1, 170, false}, &spread));
    BO_TRY(add_rod(k, "base", -1, at_point(0, -0.5 * length, 0), 1, length));
    BO_TRY(add_chain(k, "trunk", 0, trunk, bo_se3_identity(), length));
    for (int side = 0; side < 2; side++) {
        const double a = (side ? -1 : 1) * spread * M_PI / 180;
        const bo_se3 root = at_place(0, length * trunk, 0, bo_v3(0, 0, a));
        BO_TRY(add_chain(k, side ? "right" : "left", trunk, arm, root, length));
        BO_TRY(bo_mechanism_add_end_effector(k->ctx, k->m, side ? "right" : "left", k->m->link_count - 1,
                                             bo_se3_mul(root, at_point(0, length * arm, 0))));
    }
    return BOUGH_OK;
}

/* A ring about z that begins and ends at the base; the end effector is opposite. */
static bough_status make_ring(bo_json at, maker *k) {
    int32_t count = 11;
    double radius = 0.4;
    BO_TRY(bo_json_keys(at, BO_RING_KEYS));
    BO_TRY(read_common(&at, k));
    BO_TRY(bo_json_integer(bo_json_at(&at, "links"), 3, MOST_MADE, &count));
    BO_TRY(bo_json_number(bo_json_at(&at, "radius"), (bo_range){1e-4, 1e4, false}, &radius));
    const double step = 2 * M_PI / (count + 1);
    for (int32_t i = 0; i <= count; i++) {
        const double a = step * i;
        BO_TRY(add_rod(k, i ? "link" : "base", i ? i : -1,
                       at_place(radius * cos(a), radius * sin(a), 0, bo_v3(0, 0, a)), 1, radius * step));
    }
    for (int32_t i = 0; i <= count; i++) {
        const double a = step * (i + 0.5);
        BO_TRY(connect(k, i, (i + 1) % (count + 1), at_place(radius * cos(a), radius * sin(a), 0, bo_v3(0, 0, a))));
    }
    const int32_t far = (count + 1) / 2;
    return bo_mechanism_add_end_effector(k->ctx, k->m, "far", far, bo_pose(&k->m->links[far].pose));
}

bough_status bo_mechanism_generate(bo_json at, bo_mechanism_scene *m) {
    static const struct {
        const char *name;
        bough_status (*make)(bo_json at, maker *k);
    } makers[] = {{"helix", make_helix}, {"ladder", make_ladder}, {"Y", make_y}, {"ring", make_ring}};
    maker k = {.ctx = at.ctx, .m = m, .kind = BOUGH_JOINT_BALL, .stiffness = 100, .damping = 0.1, .mass = 0.05};
    BO_TRY(bo_json_keys(at, BO_GENERATE_KEYS));
    if (json_object_size(at.value) != 1)
        return bo_json_fail(at, "needs one of helix, ladder, Y, ring");
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (bo_json_has(&at, makers[i].name))
            return makers[i].make(bo_json_at(&at, makers[i].name), &k);
    return BOUGH_OK;
}
