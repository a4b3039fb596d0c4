/* The kinematics of joints: pose of the frame in the child against the frame in the parent by the coordinates, the
 * twist by their rates, and how that changes. docs/theory/rig.md, "Joints". */
#ifndef BO_RIG_JOINT_H
#define BO_RIG_JOINT_H

#include "base/context.h"
#include "base/pose.h"

#include <bough/rig.h>

enum { BO_MOST_FREEDOMS = BOUGH_MOST_FREEDOMS };

/* ---- twists and wrenches ---- */

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

/* exp(-t) d/ds exp(t + s x) at s = 0: the right Jacobian of SE(3), applied to x. */
bo_twist bo_se3_right_jacobian(bo_twist t, bo_twist x);
/* d/ds of that at t + s rate, for the same x. */
bo_twist bo_se3_right_jacobian_rate(bo_twist t, bo_twist rate, bo_twist x);

/* ---- rotation vectors: a ball turns with T phi' in the axes of its child ----
 *
 * T = 1 - a phi~ + b phi~ phi~,  a = (1 - cos t) / t^2, b = (t - sin t) / t^3, t = |phi|: the transposed left Jacobian.
 */

/* b, and the rates of a and b over phi . phi', by t^2: a = sum (-1)^k t^2k / (2 k + 2)!, b = sum (-1)^k t^2k / (2 k +
 * 3)! */
typedef struct bo_turning {
    double b, da, db;
} bo_turning;

static inline bo_turning bo_turning_of(double square) {
    enum { TERMS = 9 };
    if (square < 1) {
        bo_turning s = {1.0 / 6, 0, 0};
        double term = -1.0 / 24, power = 1; /* (-1)^k / (2 k + 2)!, t^(2 k - 2) */
        for (int k = 1; k < TERMS; k++) {
            const double next = term / (2 * k + 3);
            s.b += next * power * square;
            s.da += 2 * k * term * power;
            s.db += 2 * k * next * power;
            power *= square;
            term /= -(2.0 * k + 3) * (2 * k + 4);
        }
        return s;
    }
    const double t = sqrt(square), sine = sin(t), versine = 1 - cos(t), lag = t - sine;
    return (bo_turning){lag / (square * t), (t * sine - 2 * versine) / (square * square),
                        (t * versine - 3 * lag) / (square * square * t)};
}

/* T */
static inline bo_mat3 bo_ball_map(bo_vec3 phi) {
    return bo_transpose(bo_left_jacobian(phi));
}

/* T' phi' = -a' phi x phi' + b' phi x (phi x phi') + b phi' x (phi x phi') */
static inline bo_vec3 bo_ball_bias(bo_vec3 phi, bo_vec3 rate) {
    const bo_turning s = bo_turning_of(bo_dot(phi, phi));
    const double along = bo_dot(phi, rate);
    const bo_vec3 c = bo_cross(phi, rate);
    return bo_add(bo_scale(-s.da * along, c),
                  bo_add(bo_scale(s.db * along, bo_cross(phi, c)), bo_scale(s.b, bo_cross(rate, c))));
}

/* ---- joints ---- */

/* Pose X(q) of the frame in the child against the frame in the parent. */
bo_se3 bo_joint_pose(bough_joint_kind kind, const double *q);
/* Columns of S(q): the twist of the frame in the child, in that frame, for a unit rate of each coordinate. */
void bo_joint_columns(bough_joint_kind kind, const double *q, bo_twist columns[BO_MOST_FREEDOMS]);
/* Their rate S' while the coordinates change by `rate`; a unit rate of one coordinate gives the derivative by it. */
void bo_joint_columns_rate(bough_joint_kind kind, const double *q, const double *rate,
                           bo_twist columns[BO_MOST_FREEDOMS]);
/* S q', and S' q': what the twist of the frame in the child gains in a unit of time beside S q". */
bo_twist bo_joint_twist(bough_joint_kind kind, const double *q, const double *rate);
bo_twist bo_joint_bias(bough_joint_kind kind, const double *q, const double *rate);
/* The coordinates that bring the frames as close to X as the joint can; exact where it can. */
void bo_joint_read(bough_joint_kind kind, bo_se3 X, double *q);
/* Coordinate k is a length, not an angle. */
bool bo_joint_slides(bough_joint_kind kind, int k);

/* Axes whose z is the axis, to the bit of bo_normalize(); x and y anywhere. The axis must not be zero. */
bo_mat3 bo_axes_about(bo_vec3 axis);
/* The direction of a hinge's or prismatic joint's axis, in the child. */
static inline bo_vec3 bo_joint_axis(const bough_joint_def *joint) {
    const double *R = joint->child.pose.rotation;
    return bo_v3(R[2], R[5], R[8]);
}

static inline bough_frame_def bo_frame_on(int32_t body, bough_pose pose) {
    return (bough_frame_def){.body = body, .interface_index = -1, .pose = pose};
}

/* The frame in the parent (0) or in the child (1). */
static inline const bough_frame_def *bo_joint_end(const bough_joint_def *joint, int which) {
    return which == 0 ? &joint->parent : &joint->child;
}
/* Stiffnesses or dampings of a compliant joint, the same in all directions. */
static inline void bo_set_springs(double springs[BO_MOST_FREEDOMS], double along, double about) {
    for (int k = 0; k < BO_MOST_FREEDOMS; k++)
        springs[k] = k < 3 ? along : about;
}

bool bo_joint_is_made(const bough_joint_def *joint);
/* Refuses, by its label, what is no joint; engines ask for more. */
bough_status bo_joint_check(bough_context *ctx, const char *label, const bough_joint_def *joint);

#endif
