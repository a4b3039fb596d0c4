/* Gaps of joints: how far they are from closed. docs/theory/mechanism.md, "Gaps". */
#include "mechanism/mechanism.h"

/* Pose of the frame in the child against the frame in the parent. */
static bo_se3 across(const bo_mechanism_joint *joint, const bough_pose *poses) {
    const bo_se3 from = bo_se3_mul(bo_pose(&poses[joint->parent]), joint->in_parent);
    return bo_se3_mul(bo_se3_inverse(from), bo_joint_frame(joint, bo_pose(&poses[joint->child])));
}

double bough_mechanism_joint_value(const bough_mechanism *mechanism, int32_t j, const bough_pose *poses) {
    const bo_mechanism_joint *joint = &mechanism->joints[j];
    double theta[BO_MOST_FREEDOMS];
    bo_joint_read(joint->kind, across(joint, poses), theta);
    return theta[0];
}

/* Computes the rest of the pose X of the child's frame in the parent's after the motion of the freedoms: F^-1 X, where
 * F is the pose at the coordinates that are read from X. |R - 1| = 2 sqrt(2) sin(angle / 2) in Frobenius' norm. */
bough_mechanism_gap bough_mechanism_joint_gap(const bough_mechanism *mechanism, int32_t j, const bough_pose *poses) {
    const bo_mechanism_joint *joint = &mechanism->joints[j];
    const bo_se3 X = across(joint, poses);
    bough_mechanism_gap gap = {.joint = j};
    double theta[BO_MOST_FREEDOMS], square = 0;
    if (joint->kind == BOUGH_JOINT_COMPLIANT)
        return gap;
    bo_joint_read(joint->kind, X, theta);
    const bo_se3 F = bo_joint_pose(joint->kind, theta);
    for (int k = 0; k < 9; k++)
        square += (X.R.m[k] - F.R.m[k]) * (X.R.m[k] - F.R.m[k]);
    gap.distance = bo_norm(bo_sub(X.t, F.t));
    gap.angle = 2 * asin(fmin(1, sqrt(square / 8)));
    gap.error = fmax(gap.distance / mechanism->radius, gap.angle);
    return gap;
}

bough_mechanism_gap bough_mechanism_largest_gap(const bough_mechanism *mechanism, const bough_pose *poses) {
    bough_mechanism_gap largest = {.joint = -1, .error = -1};
    for (int32_t j = 0; j < mechanism->def.joint_count; j++) {
        const bough_mechanism_gap gap = bough_mechanism_joint_gap(mechanism, j, poses);
        if (!(gap.error <= largest.error)) /* one that is not finite counts */
            largest = gap;
    }
    largest.error = fmax(largest.error, 0);
    return largest;
}

double bough_mechanism_constraint_error(const bough_mechanism *mechanism, const bough_pose *poses) {
    double sum = 0;
    for (int32_t j = 0; j < mechanism->def.joint_count; j++)
        sum += bough_mechanism_joint_gap(mechanism, j, poses).distance;
    return sum / mechanism->radius;
}
