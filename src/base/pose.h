/* Converts the poses of public headers to rigid motions and back. */
#ifndef BO_BASE_POSE_H
#define BO_BASE_POSE_H

#include "base/rotation.h"

#include <bough/base.h>

static inline bo_se3 bo_pose(const bough_pose *pose) {
    bo_se3 g;
    for (int k = 0; k < 9; k++)
        g.R.m[k] = pose->rotation[k];
    g.t = bo_load3(pose->position);
    return g;
}
static inline bough_pose bo_put_pose(bo_se3 g) {
    bough_pose pose;
    for (int k = 0; k < 9; k++)
        pose.rotation[k] = g.R.m[k];
    bo_store3(pose.position, g.t);
    return pose;
}

/* True if the pose has a finite position and a rotation matrix that is one. */
static inline bool bo_good_pose(const bough_pose *pose) {
    for (int k = 0; k < 9; k++)
        if (!isfinite(pose->rotation[k]) || !isfinite(pose->position[k % 3]))
            return false;
    const bo_mat3 R = bo_pose(pose).R, E = bo_mat_sub(bo_mat_tmul(R, R), bo_identity3());
    return bo_contract(E, E) < 1e-12 && bo_det(R) > 0;
}

#endif
