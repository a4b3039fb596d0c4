/* Rotations and rigid motions: unit quaternions, SO(3) and SE(3) with their exponentials and logarithms.
 * A rotation vector w turns by |w| radians about w; a~ is the cross-product matrix of a. */
#ifndef BO_BASE_ROTATION_H
#define BO_BASE_ROTATION_H

#include "base/vec.h"

#include <stdbool.h>

/* w + x i + y j + z k; q and -q are the same rotation. */
typedef struct bo_quat {
    double w, x, y, z;
} bo_quat;

/* x -> R x + t */
typedef struct bo_se3 {
    bo_mat3 R;
    bo_vec3 t;
} bo_se3;

/* Linear part first: [v; w]. As a velocity, v is that of the point that passes the origin. */
typedef struct bo_twist {
    bo_vec3 v, w;
} bo_twist;

static inline bo_quat bo_quat_identity(void) {
    return (bo_quat){1, 0, 0, 0};
}
/* a b: first turn by b, then by a. */
static inline bo_quat bo_quat_mul(bo_quat a, bo_quat b) {
    return (bo_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline bo_quat bo_quat_conj(bo_quat q) {
    return (bo_quat){q.w, -q.x, -q.y, -q.z};
}
static inline double bo_quat_dot(bo_quat a, bo_quat b) {
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}
/* Normalises q; zero and quaternions that are not finite become the identity. */
static inline bo_quat bo_quat_normalize(bo_quat q) {
    double n = sqrt(bo_quat_dot(q, q));
    if (!(n > 0 && isfinite(n)))
        return bo_quat_identity();
    return (bo_quat){q.w / n, q.x / n, q.y / n, q.z / n};
}
/* q v q* of a unit quaternion: v + w t + u x t with t = 2 u x v */
static inline bo_vec3 bo_quat_rotate(bo_quat q, bo_vec3 v) {
    bo_vec3 u = {q.x, q.y, q.z}, t = bo_scale(2, bo_cross(u, v));
    return bo_add(bo_mul_add(v, q.w, t), bo_cross(u, t));
}

/* The rotation of q/|q|: orthogonal to rounding even when q has drifted from unit length. q must not be zero. */
bo_mat3 bo_quat_to_matrix(bo_quat q);
/* The quaternion of a rotation matrix, or of one that is slightly off; unit length, w >= 0. */
bo_quat bo_quat_from_matrix(bo_mat3 R);

/* Unit quaternion of the rotation vector w. */
bo_quat bo_quat_exp(bo_vec3 w);
/* The shortest rotation vector, |w| <= pi, of a unit quaternion. */
bo_vec3 bo_quat_log(bo_quat q);

bo_mat3 bo_exp3(bo_vec3 w);
/* |w| <= pi; at pi exactly, one of the two vectors. */
bo_vec3 bo_log3(bo_mat3 R);

/* J(w) with exp3(w + d) = exp3(J d) exp3(w) + O(d^2): takes wdot to the outer angular velocity. */
bo_mat3 bo_left_jacobian(bo_vec3 w);
/* Exists for |w| < 2 pi. */
bo_mat3 bo_left_jacobian_inverse(bo_vec3 w);

static inline bo_se3 bo_se3_identity(void) {
    return (bo_se3){bo_identity3(), {0, 0, 0}};
}
static inline bo_vec3 bo_se3_apply(bo_se3 g, bo_vec3 x) {
    return bo_add(bo_mat_vec(g.R, x), g.t);
}
/* a b: first b, then a. */
static inline bo_se3 bo_se3_mul(bo_se3 a, bo_se3 b) {
    return (bo_se3){bo_mat_mul(a.R, b.R), bo_se3_apply(a, b.t)};
}
static inline bo_se3 bo_se3_inverse(bo_se3 g) {
    return (bo_se3){bo_transpose(g.R), bo_scale(-1, bo_mat_tvec(g.R, g.t))};
}
/* Moving for unit time with the constant twist: R = exp3(w), t = J(w) v. */
bo_se3 bo_se3_exp(bo_twist twist);
bo_twist bo_se3_log(bo_se3 g);

#endif
