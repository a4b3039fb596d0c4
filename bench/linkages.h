/* Mechanisms in a few lines: a description that grows, and helices, ladders, forks and rings, for tests and benchmarks.
 */
#ifndef BOUGH_LINKAGES_H
#define BOUGH_LINKAGES_H

#include "mechanism/mechanism.h"

#include <bough/mechanism.h>

#include <stdlib.h>
#include <string.h>

enum { SKETCH_LINKS = 4096, SKETCH_JOINTS = 4096, SKETCH_EFFECTORS = 8 };

/* The kinds of joints that mechanisms have, by a number from 0 to 4. */
enum { SKETCH_KINDS = 5 };
static inline bough_joint_kind sketch_kind(int number) {
    static const bough_joint_kind kinds[SKETCH_KINDS] = {
        BOUGH_JOINT_HINGE, BOUGH_JOINT_PRISMATIC, BOUGH_JOINT_UNIVERSAL, BOUGH_JOINT_BALL, BOUGH_JOINT_COMPLIANT};
    return kinds[number];
}

/* A description that grows. */
typedef struct sketch {
    bough_rigid_body_def links[SKETCH_LINKS];
    bough_joint_def joints[SKETCH_JOINTS];
    bough_frame_def effectors[SKETCH_EFFECTORS];
    double compliances[SKETCH_JOINTS][36];
    bough_mechanism_def def;
} sketch;

static inline sketch *new_sketch(void) {
    sketch *s = calloc(1, sizeof *s);
    s->def = bough_default_mechanism_def();
    s->def.links = s->links, s->def.joints = s->joints, s->def.end_effectors = s->effectors;
    return s;
}

static inline bo_se3 at(double x, double y, double z, double wx, double wy, double wz) {
    return (bo_se3){bo_exp3(bo_v3(wx, wy, wz)), {x, y, z}};
}

static inline int32_t add_link(sketch *s, bo_se3 pose, double mass, double xx, double yy, double zz) {
    bough_rigid_body_def *link = &s->links[s->def.link_count];
    *link = bough_default_rigid_body_def();
    link->pose = bo_put_pose(pose);
    link->mass = mass;
    const double inertia[9] = {xx, 0, 0, 0, yy, 0, 0, 0, zz};
    memcpy(link->inertia, inertia, sizeof inertia);
    return s->def.link_count++;
}

/* The joint's frame is given in the world. */
static inline bough_joint_def *add_joint(sketch *s, bough_joint_kind kind, int32_t parent, int32_t child, bo_se3 frame,
                                         double stiffness, double damping) {
    bough_joint_def *joint = &s->joints[s->def.joint_count++];
    *joint = bough_default_joint_def();
    joint->kind = kind, joint->parent.body = parent, joint->child.body = child;
    joint->parent.pose = bo_put_pose(bo_se3_mul(bo_se3_inverse(bo_pose(&s->links[parent].pose)), frame));
    joint->child.pose = bo_put_pose(bo_se3_mul(bo_se3_inverse(bo_pose(&s->links[child].pose)), frame));
    for (int k = 0; k < 6; k++)
        joint->stiffness[k] = stiffness * (1 + 0.1 * k), joint->damping[k] = damping;
    return joint;
}

static inline void add_effector(sketch *s, int32_t link, bo_se3 frame) {
    s->effectors[s->def.end_effector_count++] = bo_frame_on(link, bo_put_pose(frame));
}

/* The whole of it, moved in space. */
static inline void move_sketch(sketch *s, bo_se3 g) {
    for (int32_t i = 0; i < s->def.link_count; i++)
        s->links[i].pose = bo_put_pose(bo_se3_mul(g, bo_pose(&s->links[i].pose)));
}

/* A coil of links, each turned by `turn` about the axis z against the one before; the last is the end effector. */
static inline sketch *helix(int32_t count, bough_joint_kind kind) {
    sketch *s = new_sketch();
    const double turn = 0.4, radius = 0.1, pitch = 0.02, length = 0.04;
    add_link(s, at(radius, 0, -length, 0, 0, 0), 1, 0.01, 0.01, 0.01);
    for (int32_t i = 1; i <= count; i++) {
        const double a = turn * i, b = turn * (i - 0.5);
        add_link(s, at(radius * cos(a), radius * sin(a), pitch / 6.2831853 * a, 0, 0, a), 0.05, 1e-5, 2e-5, 2e-5);
        add_joint(s, kind, i - 1, i,
                  bo_se3_mul(at(radius * cos(b), radius * sin(b), pitch / 6.2831853 * b, 0, 0, b),
                             at(0, 0, 0, kind == BOUGH_JOINT_HINGE ? i % 2 * 1.57079632679 : 0, 0, 0)),
                  200, 0.2);
    }
    add_effector(s, count, bo_se3_identity());
    return s;
}

/* Cells of two rails and a rung that the next cell stands on: 3 links and a loop each. Hinges turn about z. */
static inline sketch *ladder(int32_t cells, bough_joint_kind kind) {
    sketch *s = new_sketch();
    const double width = 0.3, height = 0.25;
    int32_t below = add_link(s, bo_se3_identity(), 1, 0.01, 0.01, 0.01);
    for (int32_t i = 0; i < cells; i++) {
        const double y = height * i;
        int32_t rails[2];
        for (int side = 0; side < 2; side++) {
            const double x = (side - 0.5) * width;
            rails[side] = add_link(s, at(x, y + 0.5 * height, 0, 0, 0, 0), 0.4, 2e-3, 2e-4, 2e-3);
            add_joint(s, kind, below, rails[side], at(x, y, 0, 0, 0, 0), 1000, 1);
        }
        below = add_link(s, at(0, y + height, 0, 0, 0, 0), 0.5, 3e-4, 4e-3, 4e-3);
        for (int side = 0; side < 2; side++)
            add_joint(s, kind, rails[side], below, at((side - 0.5) * width, y + height, 0, 0, 0, 0), 1000, 1);
    }
    add_effector(s, below, bo_se3_identity());
    return s;
}

/* A trunk that forks into two arms with an end effector each. */
static inline sketch *fork_of_links(int32_t trunk, int32_t arm, bough_joint_kind kind) {
    sketch *s = new_sketch();
    const double length = 0.15;
    add_link(s, bo_se3_identity(), 5, 0.05, 0.05, 0.05);
    for (int32_t i = 1; i <= trunk; i++) {
        add_link(s, at(0, length * (i - 0.5), 0, 0, 0, 0), 0.5, 1e-3, 1e-4, 1e-3);
        add_joint(s, kind, i - 1, i, at(0, length * (i - 1), 0, 0, 0, 0.3), 200, 0.3);
    }
    for (int side = 0; side < 2; side++) {
        int32_t from = trunk;
        const double a = side ? 0.6 : -0.6;
        for (int32_t i = 1; i <= arm; i++) {
            const bo_se3 root = at(0, length * trunk, 0, 0, 0.2 * side, a);
            const int32_t link =
                add_link(s, bo_se3_mul(root, at(0, length * (i - 0.5), 0, 0, 0, 0)), 0.4, 1e-3, 1e-4, 1e-3);
            add_joint(s, kind, from, link, bo_se3_mul(root, at(0, length * (i - 1), 0, 0, 0.3, 0)), 150, 0.1 + side);
            from = link;
        }
        add_effector(s, from, at(0, 0.5 * length, 0, 0, 0, 0));
    }
    return s;
}

/* A ring of links that begins and ends at the base; the end effector is opposite. */
static inline sketch *ring_of_links(int32_t count, bough_joint_kind kind) {
    sketch *s = new_sketch();
    const double step = 6.283185307179586 / (count + 1), radius = 0.4;
    for (int32_t i = 0; i <= count; i++)
        add_link(s, at(radius * cos(step * i), radius * sin(step * i), 0, 0, 0, step * i), 0.3, 2e-4, 2e-4, 3e-4);
    for (int32_t i = 0; i <= count; i++) {
        const double a = step * (i + 0.5);
        add_joint(s, kind, i, (i + 1) % (count + 1), at(radius * cos(a), radius * sin(a), 0, 0, 0, a), 80, 0.05);
    }
    add_effector(s, (count + 1) / 2, bo_se3_identity());
    return s;
}

#endif
