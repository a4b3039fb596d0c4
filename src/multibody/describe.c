/* Descriptions of multibody systems: defaults and checks. */
#include "multibody/multibody.h"

#include "rig/body.h"
#include "rig/joint.h"

#include <string.h>

#define FLEXIBLE_COOKIE 0xB00610B0u
#define MOTOR_COOKIE 0xB00610B1u
#define GEAR_COOKIE 0xB00610B2u
#define MULTIBODY_COOKIE 0xB00610B3u

bough_flexible_def bough_default_flexible_def(void) {
    return (bough_flexible_def){.cookie = FLEXIBLE_COOKIE,
                                .clamp = bough_default_frame_def(),
                                .stiffness = 1,
                                .damping_mass = NAN,
                                .damping_stiffness = NAN};
}
bough_motor_def bough_default_motor_def(void) {
    return (bough_motor_def){.cookie = MOTOR_COOKIE, .stiffness = INFINITY, .limit = INFINITY};
}
bough_gear_def bough_default_gear_def(void) {
    return (bough_gear_def){.cookie = GEAR_COOKIE, .ratio = 1};
}
bough_multibody_def bough_default_multibody_def(void) {
    return (bough_multibody_def){.cookie = MULTIBODY_COOKIE, .baumgarte = 50, .friction_speed = 0.01};
}

/* ---- labels ---- */

bo_label bo_mb_joint_label(const bough_multibody *model, int32_t joint) {
    const int32_t def = model->joints[joint].def, joints = model->def.joint_count;
    if (def < 0)
        return bo_label_of("the clamp of part", -1 - def, model->def.parts[-1 - def].name);
    if (def >= joints)
        return bo_label_of("gear", def - joints, model->def.gears[def - joints].name);
    return bo_label_of("joint", def, model->def.joints[def].name);
}

/* ---- checks ---- */

static bool is_positive(double x) {
    return x > 0 && isfinite(x);
}
static bool is_damping(double x) {
    return isnan(x) || (x >= 0 && isfinite(x));
}

bough_status bo_mb_check_frame(bough_context *ctx, const bough_multibody_def *def, const char *label,
                               const bough_frame_def *frame) {
    const int32_t all = def->body_count + def->part_count;
    if (frame->body < BOUGH_WORLD || frame->body >= all)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s lies on body %d; there are %d bodies and %d parts, numbered in one list from 0", label,
                       frame->body, def->body_count, def->part_count);
    if (!bo_good_pose(&frame->pose))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its frames need rotation matrices and finite numbers", label);
    if (frame->body < def->body_count) {
        if (frame->interface_index >= 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s lies on an interface of a rigid body, which has none", label);
        return BOUGH_OK;
    }
    const bough_component *component = def->parts[frame->body - def->body_count].component;
    if (frame->interface_index >= component->interface_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s lies on interface %d of a part whose component has %d", label,
                       frame->interface_index, component->interface_count);
    return BOUGH_OK;
}

static bough_status check_part(bough_context *ctx, const bough_multibody_def *def, int32_t p) {
    const bough_flexible_def *part = &def->parts[p];
    const bo_label label = bo_label_of("part", p, part->name);
    if (part->cookie != FLEXIBLE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s was not made by bough_default_flexible_def()", label.text);
    if (!part->component)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s has no component", label.text);
    if (part->component->r == 0 && !part->full)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s is rigid; make it a rigid body", label.text);
    if (part->component->support == BOUGH_SUPPORT_FREE)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s was cooked to fly free; cook it with the interface by which it is clamped", label.text);
    if (part->full && (part->component->interface_count != part->full->interface_count ||
                       part->component->parent != part->full->parent))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s: its full order was made for another component, with other interfaces", label.text);
    if (!is_positive(part->stiffness) || !is_damping(part->damping_mass) || !is_damping(part->damping_stiffness))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its stiffness must be positive, its damping 0 or more",
                       label.text);
    return BOUGH_OK;
}

/* Follows the clamps from part to part. */
static bough_status check_clamps(bough_context *ctx, const bough_multibody_def *def, int32_t p) {
    int32_t at = p;
    BO_TRY(bo_mb_check_frame(ctx, def, bo_label_of("the clamp of part", p, def->parts[p].name).text,
                             &def->parts[p].clamp));
    for (int32_t steps = 0; def->parts[at].clamp.body >= def->body_count; steps++) {
        at = def->parts[at].clamp.body - def->body_count;
        if (at < 0 || at >= def->part_count)
            return BOUGH_OK; /* another part's fault, which is told of by itself */
        if (at == p || steps > def->part_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s is clamped to itself%s",
                           bo_label_of("part", p, def->parts[p].name).text,
                           steps == 0 ? "" : ", by way of other parts");
    }
    return BOUGH_OK;
}

static bool is_same(const double *x, int count) {
    for (int k = 1; k < count; k++)
        if (x[k] != x[0])
            return false;
    return true;
}

static bough_status check_joint(bough_context *ctx, const bough_multibody_def *def, int32_t j) {
    const bough_joint_def *joint = &def->joints[j];
    const bo_label label = bo_label_of("joint", j, joint->name);
    BO_TRY(bo_joint_check(ctx, label.text, joint));
    BO_TRY(bo_mb_check_frame(ctx, def, label.text, &joint->parent));
    BO_TRY(bo_mb_check_frame(ctx, def, label.text, &joint->child));
    if (joint->parent.body == joint->child.body && joint->parent.interface_index == joint->child.interface_index)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s connects something with itself", label.text);
    if (joint->compliance)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s has a matrix of compliance; give it stiffnesses instead",
                       label.text);
    const bool ball = joint->kind == BOUGH_JOINT_BALL, compliant = joint->kind == BOUGH_JOINT_COMPLIANT;
    const int first = compliant ? 3 : 0;
    if ((ball || compliant) && (!is_same(joint->stiffness + first, 3) || !is_same(joint->damping + first, 3)))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s needs the same stiffness and damping about all axes",
                       label.text);
    for (int k = 0; k < bough_joint_freedoms(joint->kind); k++)
        if ((ball || compliant || joint->kind == BOUGH_JOINT_FREE) &&
            (joint->friction[k] != 0 || isfinite(joint->lower[k]) || isfinite(joint->upper[k]) ||
             joint->offset[k] != 0))
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "%s is of a kind that has no friction, limits and offsets here", label.text);
    return BOUGH_OK;
}

static bough_status check_coordinate(bough_context *ctx, const bough_multibody_def *def, const char *label,
                                     int32_t joint, int32_t freedom) {
    if (joint < 0 || joint >= def->joint_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s names joint %d; there are %d", label, joint, def->joint_count);
    const bough_joint_kind kind = def->joints[joint].kind;
    if (freedom < 0 || freedom >= bough_joint_freedoms(kind))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s names freedom %d of a joint that has %d", label, freedom,
                       bough_joint_freedoms(kind));
    if (kind == BOUGH_JOINT_BALL || kind == BOUGH_JOINT_COMPLIANT || kind == BOUGH_JOINT_FREE)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: nothing can drive the coordinates of a joint of kind \"%s\"",
                       label, bough_joint_name(kind));
    return BOUGH_OK;
}

static bough_status check_motor(bough_context *ctx, const bough_multibody_def *def, int32_t m) {
    const bough_motor_def *motor = &def->motors[m];
    const bo_label label = bo_label_of("motor", m, motor->name);
    if (motor->cookie != MOTOR_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s was not made by bough_default_motor_def()", label.text);
    BO_TRY(check_coordinate(ctx, def, label.text, motor->joint, motor->freedom));
    if (!(motor->stiffness > 0) || !(motor->damping >= 0 && isfinite(motor->damping)) || !(motor->limit > 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its stiffness and limit must be positive, its damping 0 or more",
                       label.text);
    const bough_joint_kind kind = def->joints[motor->joint].kind;
    if (isinf(motor->stiffness) && kind != BOUGH_JOINT_HINGE && kind != BOUGH_JOINT_PRISMATIC &&
        kind != BOUGH_JOINT_CYLINDRICAL)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s drives a joint of kind \"%s\" exactly, which works for hinges, prismatic and cylindrical "
                       "joints; give it a stiffness",
                       label.text, bough_joint_name(kind));
    for (int32_t other = 0; other < m; other++)
        if (def->motors[other].joint == motor->joint && def->motors[other].freedom == motor->freedom)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s and motor %d drive the same coordinate of joint %d",
                           label.text, other, motor->joint);
    return BOUGH_OK;
}

static bough_status check_gear(bough_context *ctx, const bough_multibody_def *def, int32_t g) {
    const bough_gear_def *gear = &def->gears[g];
    const bo_label label = bo_label_of("gear", g, gear->name);
    if (gear->cookie != GEAR_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s was not made by bough_default_gear_def()", label.text);
    for (int side = 0; side < 2; side++)
        BO_TRY(check_coordinate(ctx, def, label.text, gear->joints[side], gear->freedoms[side]));
    if (gear->joints[0] == gear->joints[1] && gear->freedoms[0] == gear->freedoms[1])
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s connects a coordinate with itself", label.text);
    if (!isfinite(gear->ratio) || gear->ratio == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its ratio is %g; it must be finite and not 0", label.text,
                       gear->ratio);
    return BOUGH_OK;
}

static bool has_good_numbers(const bough_multibody_def *def) {
    return bo_all_finite(3, def->gravity) && def->baumgarte >= 0 && isfinite(def->baumgarte) &&
           is_positive(def->friction_speed);
}

/* True for a body of no mass of its own that a part is clamped to, whose mass it moves. */
static bool is_carrier(const bough_multibody_def *def, int32_t b) {
    if (def->bodies[b].mass != 0)
        return false;
    for (int k = 0; k < 9; k++)
        if (def->bodies[b].inertia[k] != 0)
            return false;
    for (int32_t p = 0; p < def->part_count; p++)
        if (def->parts[p].clamp.body == b)
            return true;
    return false;
}

static bough_status check_body(bough_context *ctx, const bough_multibody_def *def, int32_t b) {
    const bough_rigid_body_def *body = &def->bodies[b];
    return bo_rigid_body_check(ctx, bo_rigid_body_label("body", b, body).text, body, is_carrier(def, b));
}

bough_status bo_mb_check(bough_context *ctx, const bough_multibody_def *def) {
    enum { MOST = 100000 };
    if (def->cookie != MULTIBODY_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the def was not made by bough_default_multibody_def()");
    const int32_t counts[] = {def->body_count, def->part_count, def->joint_count, def->motor_count, def->gear_count};
    for (int i = 0; i < 5; i++)
        if (counts[i] < 0 || counts[i] > MOST)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "there may be up to %d bodies, parts, joints, motors and gears each, not %d", MOST,
                           counts[i]);
    if (def->body_count + def->part_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there are no bodies and no parts");
    if (!has_good_numbers(def))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "gravity must be finite, baumgarte 0 or more, friction_speed positive");
    for (int32_t b = 0; b < def->body_count; b++)
        BO_TRY(check_body(ctx, def, b));
    for (int32_t p = 0; p < def->part_count; p++)
        BO_TRY(check_part(ctx, def, p));
    for (int32_t p = 0; p < def->part_count; p++)
        BO_TRY(check_clamps(ctx, def, p));
    for (int32_t j = 0; j < def->joint_count; j++)
        BO_TRY(check_joint(ctx, def, j));
    for (int32_t m = 0; m < def->motor_count; m++)
        BO_TRY(check_motor(ctx, def, m));
    for (int32_t g = 0; g < def->gear_count; g++)
        BO_TRY(check_gear(ctx, def, g));
    return BOUGH_OK;
}
