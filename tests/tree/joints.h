/* Joints and ties to test with. Those of parts live until the program ends: parts point to theirs. */
#ifndef TESTS_TREE_JOINTS_H
#define TESTS_TREE_JOINTS_H

#include "rig/joint.h"

#include <stdlib.h>

typedef struct kept_joint {
    bough_joint_def joint;
    struct kept_joint *next;
} kept_joint;

static inline bough_joint_def *keep_joint(bough_joint_def joint) {
    static kept_joint *all;
    kept_joint *kept = calloc(1, sizeof *kept);
    kept->joint = joint, kept->next = all;
    all = kept;
    return &kept->joint;
}

static inline bough_joint_def *ball_joint(double stiffness, double damping) {
    bough_joint_def joint = bough_default_joint_def();
    joint.kind = BOUGH_JOINT_BALL;
    bo_set_springs(joint.stiffness, stiffness, stiffness);
    bo_set_springs(joint.damping, damping, damping);
    return keep_joint(joint);
}

static inline bough_joint_def *hinge_about(double x, double y, double z, double stiffness, double damping) {
    bough_joint_def *joint = ball_joint(stiffness, damping);
    joint->kind = BOUGH_JOINT_HINGE;
    joint->child.pose = bo_put_pose((bo_se3){bo_axes_about(bo_v3(x, y, z)), {0, 0, 0}});
    return joint;
}

/* Between interfaces of two parts; the second may be BOUGH_WORLD. */
static inline bough_joint_def tie_of(int32_t part, int32_t face, int32_t other, int32_t other_face, double stiffness,
                                     double turning_stiffness) {
    bough_joint_def tie = bough_default_joint_def();
    tie.kind = BOUGH_JOINT_COMPLIANT;
    tie.parent.body = part, tie.parent.interface_index = face;
    tie.child.body = other, tie.child.interface_index = other_face;
    bo_set_springs(tie.stiffness, stiffness, turning_stiffness);
    return tie;
}

#endif
