/* Inside view of a mechanism: its joints, its spanning tree and its loops. docs/theory/mechanism.md. */
#ifndef BO_MECHANISM_MECHANISM_H
#define BO_MECHANISM_MECHANISM_H

#include "base/context.h"
#include "rig/joint.h"
#include "rig/topology.h"

#include <bough/mechanism.h>

typedef struct bo_mechanism_joint {
    bough_joint_kind kind;
    int32_t parent, child;
    int32_t freedoms, offset; /* coordinates, and where they begin among those of all joints */
    bo_se3 in_parent, in_child;
    double stiffness[36];                /* freedoms x freedoms, within the limits */
    double compliance[36];               /* its inverse, with what limits add at the reference pose */
    double lower[6], upper[6], limit[6]; /* limit: stiffness added beyond the others */
    double damping[6];
    double at[6];    /* coordinates at the reference pose */
    double rest[6];  /* where the springs are at rest */
    double slack[6]; /* where they would go from `at`, with what limits add: linear statics' offset */
} bo_mechanism_joint;

struct bough_mechanism {
    bough_mechanism_def def; /* with copies of everything */
    bough_rigid_body_def *links;
    bough_joint_def *joint_defs;
    bough_frame_def *end_effectors;
    bo_mechanism_joint *joints;
    int32_t coordinate_count;
    bo_topology topology; /* of its links, from the base */
    bo_vec3 middle;       /* of all links and joints */
    double radius;
};

/* Returns the stiffness that a limit adds to coordinate k at theta, and its rest position. */
static inline double bo_joint_limit(const bo_mechanism_joint *joint, int k, double theta, double *rest) {
    *rest = theta > joint->upper[k] ? joint->upper[k] : joint->lower[k];
    return theta > joint->upper[k] || theta < joint->lower[k] ? joint->limit[k] : 0;
}

/* Wrenches that the joints of loops carry (6 loops), from which the next search begins: part of the state, to the bit.
 */
double *bo_full_loop_wrenches(const bough_full_mechanism *full);

/* The end effectors of a def, or fallback when it gives none; checked. */
bough_status bo_check_end_effectors(bough_context *ctx, const bough_mechanism *mechanism, int32_t count,
                                    const bough_frame_def *end_effectors);

/* Returns the frame of a joint's columns now: its frame in the child, for links at `poses` (of the world). */
static inline bo_se3 bo_joint_frame(const bo_mechanism_joint *joint, bo_se3 child) {
    return bo_se3_mul(child, joint->in_child);
}

/* bough_mechanism_create_at(), with the turns of joints that go round and round which bring their coordinates nearest to
 * these (coordinate_count); NULL: none. */
bough_status bo_mechanism_create_near(bough_context *ctx, const bough_mechanism *mechanism, const bough_pose *poses,
                                      const double *nearest, bough_mechanism **moved);

#endif
