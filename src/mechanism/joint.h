/* The maps of the joints: pose of the frame in the child against the frame in the parent, by the coordinates. */
#ifndef BO_MECHANISM_JOINT_H
#define BO_MECHANISM_JOINT_H

#include "base/pose.h"

#include <bough/mechanism.h>

enum { BO_MOST_FREEDOMS = 6 };

/* Ad(g) t: the twist in the frame that g leads to. */
static inline bo_twist bo_ad(bo_se3 g, bo_twist t) {
    const bo_vec3 w = bo_mat_vec(g.R, t.w);
    return (bo_twist){bo_add(bo_mat_vec(g.R, t.v), bo_cross(g.t, w)), w};
}
/* Ad(g)^T f of a wrench (v: force, w: torque) in the frame that g leads to. */
static inline bo_twist bo_ad_transposed(bo_se3 g, bo_twist f) {
    return (bo_twist){bo_mat_tvec(g.R, f.v), bo_mat_tvec(g.R, bo_sub(f.w, bo_cross(g.t, f.v)))};
}
/* Power of a wrench. */
static inline double bo_twist_dot(bo_twist a, bo_twist b) {
    return bo_dot(a.v, b.v) + bo_dot(a.w, b.w);
}
static inline bo_twist bo_twist_mul_add(bo_twist a, double s, bo_twist b) {
    return (bo_twist){bo_mul_add(a.v, s, b.v), bo_mul_add(a.w, s, b.w)};
}
static inline bo_twist bo_load_twist(const double *x) {
    return (bo_twist){bo_load3(x), bo_load3(x + 3)};
}
static inline void bo_store_twist(double *x, bo_twist t) {
    bo_store3(x, t.v), bo_store3(x + 3, t.w);
}

bo_se3 bo_joint_pose(bough_mechanism_joint_kind kind, const double *theta);
/* Columns Sb: the twist of the frame in the child, in that frame, for a unit rate of each coordinate. */
void bo_joint_columns(bough_mechanism_joint_kind kind, const double *theta, bo_twist columns[BO_MOST_FREEDOMS]);
/* The coordinates that bring the frames as close to X as the joint can; exact where it can. */
void bo_joint_read(bough_mechanism_joint_kind kind, bo_se3 X, double *theta);

/* exp(-t) d/ds exp(t + s x) at s = 0: the right Jacobian of SE(3), applied to x. */
bo_twist bo_se3_right_jacobian(bo_twist t, bo_twist x);

#endif
