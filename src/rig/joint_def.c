/* Descriptions of frames and joints: defaults, names, checks. */
#include "rig/joint.h"

#include "rig/body.h"

#define JOINT_COOKIE 0xB0061062u

/* ---- descriptions ---- */

bough_frame_def bough_default_frame_def(void) {
    return bo_frame_on(BOUGH_WORLD, bough_default_pose());
}

bough_joint_def bough_default_joint_def(void) {
    bough_joint_def joint = {.cookie = JOINT_COOKIE,
                             .kind = BOUGH_JOINT_HINGE,
                             .parent = bough_default_frame_def(),
                             .child = bough_default_frame_def(),
                             .limit_stiffness = 100};
    for (int k = 0; k < BO_MOST_FREEDOMS; k++)
        joint.lower[k] = -INFINITY, joint.upper[k] = INFINITY;
    return joint;
}

bough_motor_limits bough_default_motor_limits(void) {
    return (bough_motor_limits){-INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
}

static bool is_kind(bough_joint_kind kind) {
    return (int)kind >= 0 && kind < BOUGH_JOINT_KIND_COUNT;
}

int32_t bough_joint_freedoms(bough_joint_kind kind) {
#define FREEDOMS(kind, name, freedoms, about) freedoms,
    static const int32_t freedoms[] = {BOUGH_JOINT_LIST(FREEDOMS)};
    return is_kind(kind) ? freedoms[kind] : 0;
}

const char *bough_joint_name(bough_joint_kind kind) {
#define NAME(kind, name, freedoms, about) name,
    static const char *const names[] = {BOUGH_JOINT_LIST(NAME)};
    return is_kind(kind) ? names[kind] : "?";
}

bool bo_joint_is_made(const bough_joint_def *joint) {
    return joint->cookie == JOINT_COOKIE;
}

static bool good(double x) {
    return x >= 0 && isfinite(x);
}

static bough_status check_freedom(bough_context *ctx, const char *label, const bough_joint_def *joint, int k) {
    if (!joint->compliance && !good(joint->stiffness[k]))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: the stiffness of freedom %d is %g; it must be 0 or more", label,
                       k, joint->stiffness[k]);
    if (!good(joint->damping[k]))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: the damping of freedom %d is %g; it must be 0 or more", label, k,
                       joint->damping[k]);
    if (!good(joint->friction[k]))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: the friction of freedom %d is %g; it must be 0 or more", label,
                       k, joint->friction[k]);
    if (!isfinite(joint->offset[k]) || !isfinite(joint->start[k]))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its offset and its coordinates must be finite", label);
    if (!(joint->lower[k] <= joint->upper[k]))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: the lower limit of freedom %d is above the upper one", label, k);
    return BOUGH_OK;
}

bough_status bo_joint_check(bough_context *ctx, const char *label, const bough_joint_def *joint) {
    const int n = bough_joint_freedoms(joint->kind);
    if (!bo_joint_is_made(joint))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s was not made by bough_default_joint_def()", label);
    if (!is_kind(joint->kind))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: there is no joint of kind %d", label, (int)joint->kind);
    if (!bo_good_pose(&joint->parent.pose) || !bo_good_pose(&joint->child.pose))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its frames need rotation matrices and finite numbers", label);
    for (int k = 0; k < n; k++)
        BO_TRY(check_freedom(ctx, label, joint, k));
    if (!good(joint->limit_stiffness))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: the stiffness of its limits is %g; it must be 0 or more", label,
                       joint->limit_stiffness);
    if (joint->compliance && !(bo_all_finite(n * n, joint->compliance) && bo_is_positive(n, joint->compliance)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s: its compliance must be a symmetric positive definite matrix of size %d", label, n);
    return BOUGH_OK;
}

/* Gram-Schmidt from the axis of the world that is furthest from it. */
bo_mat3 bo_axes_about(bo_vec3 axis) {
    const bo_vec3 z = bo_normalize(axis);
    const double x = fabs(z.x), y = fabs(z.y), w = fabs(z.z);
    const bo_vec3 other = x <= y && x <= w ? bo_v3(1, 0, 0) : y <= w ? bo_v3(0, 1, 0) : bo_v3(0, 0, 1);
    const bo_vec3 a = bo_normalize(bo_cross(other, z)), b = bo_cross(z, a);
    return (bo_mat3){{a.x, b.x, z.x, a.y, b.y, z.y, a.z, b.z, z.z}};
}
