/* The same system with parts that do not bend: each becomes a rigid body of the same number, welded to where the part is
 * clamped. Frames on bodies and parts are numbered in one list, so that all others stay what they are. */
#include "multibody/engine_inside.h"

#include "base/pose.h"
#include "rig/joint.h"

#include <string.h>

bough_frame_def bo_multibody_stiff_frame(const bough_multibody_def *def, const bough_frame_def *frame) {
    bough_frame_def stiff = *frame;
    const int32_t part = frame->body - def->body_count;
    if (part < 0 || frame->interface_index < 0)
        return stiff;
    const bo_vec3 centre = bo_load3(def->parts[part].component->interfaces[frame->interface_index].centre);
    bo_store3(stiff.pose.position, bo_add(centre, bo_load3(frame->pose.position)));
    stiff.interface_index = -1;
    return stiff;
}

/* Returns the pose of a part's frame at the start, and its twist, in its own axes, with the body that it hangs on. */
static bo_se3 start_of(const bough_multibody_def *def, int32_t part, bo_twist *twist) {
    bo_se3 g = bo_se3_identity();
    int32_t at = def->body_count + part;
    *twist = (bo_twist){0};
    while (at >= def->body_count) {
        const bough_frame_def clamp = bo_multibody_stiff_frame(def, &def->parts[at - def->body_count].clamp);
        g = bo_se3_mul(bo_pose(&clamp.pose), g);
        at = clamp.body;
    }
    if (at < 0)
        return g;
    const bo_twist t = bo_load_twist(def->bodies[at].twist);
    twist->v = bo_mat_tvec(g.R, bo_add(t.v, bo_cross(t.w, g.t)));
    twist->w = bo_mat_tvec(g.R, t.w);
    return bo_se3_mul(bo_pose(&def->bodies[at].pose), g);
}

/* The inertia about the centre of mass c: tr(S) - S with S = int X X^T - m c c^T. */
static bough_rigid_body_def body_of(const bough_multibody_def *def, int32_t part) {
    const bough_component *component = def->parts[part].component;
    bough_rigid_body_def body = bough_default_rigid_body_def();
    bo_twist twist;
    bo_mat3 S;
    const bo_vec3 c = bo_scale(1 / component->mass, bo_load3(component->mc0));
    memcpy(S.m, component->Sigma0, sizeof S.m);
    S = bo_mat_sub(S, bo_mat_scale(component->mass, bo_outer(c, c)));
    const bo_mat3 I = bo_mat_sub(bo_mat_scale(bo_trace(S), bo_identity3()), S);
    body.name = def->parts[part].name, body.mass = component->mass;
    body.pose = bo_put_pose(start_of(def, part, &twist));
    bo_store3(body.centre, c);
    memcpy(body.inertia, I.m, sizeof I.m);
    bo_store3(body.twist, twist.v);
    bo_store3(body.twist + 3, twist.w);
    return body;
}

/* Joints keep their numbers; those that stand for clamps come after them. */
static void fill(const bough_multibody_def *def, bough_rigid_body_def *bodies, bough_joint_def *joints) {
    for (int32_t b = 0; b < def->body_count; b++)
        bodies[b] = def->bodies[b];
    for (int32_t j = 0; j < def->joint_count; j++) {
        joints[j] = def->joints[j];
        joints[j].parent = bo_multibody_stiff_frame(def, &def->joints[j].parent);
        joints[j].child = bo_multibody_stiff_frame(def, &def->joints[j].child);
    }
    for (int32_t p = 0; p < def->part_count; p++) {
        bough_joint_def *weld = &joints[def->joint_count + p];
        bodies[def->body_count + p] = body_of(def, p);
        *weld = bough_default_joint_def();
        weld->name = def->parts[p].name, weld->kind = BOUGH_JOINT_WELD;
        weld->parent = bo_multibody_stiff_frame(def, &def->parts[p].clamp);
        weld->child = bo_frame_on(def->body_count + p, bough_default_pose());
    }
}

bough_status bo_multibody_make_stiff(bough_context *ctx, const bough_multibody_def *def, bough_multibody **model) {
    bough_multibody_def stiff = *def;
    bough_rigid_body_def *bodies = BO_NEW_ARRAY(ctx, bough_rigid_body_def, def->body_count + def->part_count);
    bough_joint_def *joints = BO_NEW_ARRAY(ctx, bough_joint_def, def->joint_count + def->part_count);
    bough_status status = bodies && joints ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        fill(def, bodies, joints);
        stiff.bodies = bodies, stiff.body_count = def->body_count + def->part_count;
        stiff.joints = joints, stiff.joint_count = def->joint_count + def->part_count;
        stiff.parts = NULL, stiff.part_count = 0;
        status = bough_multibody_create(ctx, &stiff, model);
    }
    bo_free(ctx, bodies);
    bo_free(ctx, joints);
    return status;
}
