#include "rig/joint.h"

#include <float.h>

static bo_mat3 turn(int axis, double angle) {
    double w[3] = {0};
    w[axis] = angle;
    return bo_exp3(bo_load3(w));
}

bo_se3 bo_joint_pose(bough_joint_kind kind, const double *q) {
    bo_se3 g = bo_se3_identity();
    switch (kind) {
    case BOUGH_JOINT_HINGE:
        g.R = turn(2, q[0]);
        break;
    case BOUGH_JOINT_PRISMATIC:
        g.t.z = q[0];
        break;
    case BOUGH_JOINT_UNIVERSAL:
        g.R = bo_mat_mul(turn(0, q[0]), turn(1, q[1]));
        break;
    case BOUGH_JOINT_BALL:
        g.R = bo_exp3(bo_load3(q));
        break;
    case BOUGH_JOINT_COMPLIANT:
        g = bo_se3_exp(bo_load_twist(q));
        break;
    case BOUGH_JOINT_FREE:
        g = (bo_se3){bo_exp3(bo_load3(q + 3)), bo_load3(q)};
        break;
    case BOUGH_JOINT_CYLINDRICAL:
        g = (bo_se3){turn(2, q[1]), bo_v3(0, 0, q[0])};
        break;
    case BOUGH_JOINT_PLANAR:
        g = (bo_se3){turn(2, q[2]), bo_v3(q[0], q[1], 0)};
        break;
    case BOUGH_JOINT_DISTANCE:
    case BOUGH_JOINT_WELD:
    case BOUGH_JOINT_KIND_COUNT:
        break;
    }
    return g;
}

/* [a, b] of twists: ad(a) b */
static bo_twist bracket(bo_twist a, bo_twist b) {
    return (bo_twist){bo_add(bo_cross(a.w, b.v), bo_cross(a.v, b.w)), bo_cross(a.w, b.w)};
}

/* sum_k (-ad t)^k x / (k + 1)!, which converges for all t; turns of a joint are at most pi, where it takes about 25
 * terms. */
bo_twist bo_se3_right_jacobian(bo_twist t, bo_twist x) {
    enum { MOST_TERMS = 200 };
    bo_twist sum = x;
    for (int k = 1; k < MOST_TERMS; k++) {
        const bo_twist next = bracket(t, x);
        const double s = -1. / (k + 1);
        x = (bo_twist){bo_scale(s, next.v), bo_scale(s, next.w)};
        sum = bo_twist_mul_add(sum, 1, x);
        if (!(bo_twist_dot(x, x) > DBL_EPSILON * DBL_EPSILON * 1e-4 * bo_twist_dot(sum, sum)))
            break;
    }
    return sum;
}

/* The derivative of that series, term by term. */
bo_twist bo_se3_right_jacobian_rate(bo_twist t, bo_twist rate, bo_twist x) {
    enum { MOST_TERMS = 200 };
    bo_twist dx = {{0, 0, 0}, {0, 0, 0}}, sum = dx;
    for (int k = 1; k < MOST_TERMS; k++) {
        const bo_twist next = bracket(t, x), change = bo_twist_mul_add(bracket(rate, x), 1, bracket(t, dx));
        const double s = -1. / (k + 1);
        x = (bo_twist){bo_scale(s, next.v), bo_scale(s, next.w)};
        dx = (bo_twist){bo_scale(s, change.v), bo_scale(s, change.w)};
        sum = bo_twist_mul_add(sum, 1, dx);
        if (k > 1 && !(bo_twist_dot(dx, dx) > DBL_EPSILON * DBL_EPSILON * 1e-4 * bo_twist_dot(sum, sum)))
            break;
    }
    return sum;
}

/* T' x = -a' phi x x - a phi' x x + b' phi x (phi x x) + b (phi' x (phi x x) + phi x (phi' x x)) */
static bo_vec3 ball_map_rate(bo_vec3 phi, bo_vec3 rate, bo_vec3 x) {
    const bo_turning s = bo_turning_of(bo_dot(phi, phi));
    const double half = 0.5 * bo_norm(phi), sinc = half < 1e-4 ? 1 - half * half / 6 : sin(half) / half;
    const double along = bo_dot(phi, rate), a = 0.5 * sinc * sinc;
    const bo_vec3 c = bo_cross(phi, x), d = bo_cross(rate, x);
    const bo_vec3 first = bo_add(bo_scale(-s.da * along, c), bo_scale(-a, d));
    const bo_vec3 second = bo_add(bo_cross(rate, c), bo_cross(phi, d));
    return bo_add(first, bo_add(bo_scale(s.db * along, bo_cross(phi, c)), bo_scale(s.b, second)));
}

static bo_twist unit(int k) {
    double x[6] = {0};
    x[k] = 1;
    return bo_load_twist(x);
}

void bo_joint_columns(bough_joint_kind kind, const double *q, bo_twist columns[BO_MOST_FREEDOMS]) {
    switch (kind) {
    case BOUGH_JOINT_HINGE:
        columns[0] = unit(5);
        break;
    case BOUGH_JOINT_PRISMATIC:
        columns[0] = unit(2);
        break;
    case BOUGH_JOINT_UNIVERSAL: /* Ry(t2)^T ex, ey */
        columns[0] = (bo_twist){{0, 0, 0}, bo_mat_tvec(turn(1, q[1]), bo_v3(1, 0, 0))};
        columns[1] = unit(4);
        break;
    case BOUGH_JOINT_BALL: { /* the right Jacobian of SO(3) is the transposed left one */
        const bo_mat3 J = bo_left_jacobian(bo_load3(q));
        for (int k = 0; k < 3; k++)
            columns[k] = (bo_twist){{0, 0, 0}, bo_load3(J.m + 3 * k)};
        break;
    }
    case BOUGH_JOINT_COMPLIANT:
        for (int k = 0; k < 6; k++)
            columns[k] = bo_se3_right_jacobian(bo_load_twist(q), unit(k));
        break;
    case BOUGH_JOINT_FREE: { /* R^T e, and as a ball */
        const bo_mat3 R = bo_exp3(bo_load3(q + 3)), J = bo_left_jacobian(bo_load3(q + 3));
        for (int k = 0; k < 3; k++) {
            columns[k] = (bo_twist){bo_load3(R.m + 3 * k), {0, 0, 0}};
            columns[3 + k] = (bo_twist){{0, 0, 0}, bo_load3(J.m + 3 * k)};
        }
        break;
    }
    case BOUGH_JOINT_CYLINDRICAL:
        columns[0] = unit(2), columns[1] = unit(5);
        break;
    case BOUGH_JOINT_PLANAR: { /* Rz(t3)^T ex, ey; ez */
        const bo_mat3 R = turn(2, q[2]);
        for (int k = 0; k < 2; k++)
            columns[k] = (bo_twist){bo_load3(R.m + 3 * k), {0, 0, 0}};
        columns[2] = unit(5);
        break;
    }
    case BOUGH_JOINT_DISTANCE:
    case BOUGH_JOINT_WELD:
    case BOUGH_JOINT_KIND_COUNT:
        break;
    }
}

static bo_vec3 unit3(int k) {
    return bo_v3(k == 0, k == 1, k == 2);
}

void bo_joint_columns_rate(bough_joint_kind kind, const double *q, const double *rate,
                           bo_twist columns[BO_MOST_FREEDOMS]) {
    for (int k = 0; k < bough_joint_freedoms(kind); k++)
        columns[k] = (bo_twist){{0, 0, 0}, {0, 0, 0}};
    switch (kind) {
    case BOUGH_JOINT_UNIVERSAL: /* Ry(t2)^T ex = (cos t2, 0, sin t2) */
        columns[0].w = bo_v3(-rate[1] * sin(q[1]), 0, rate[1] * cos(q[1]));
        break;
    case BOUGH_JOINT_BALL:
        for (int k = 0; k < 3; k++)
            columns[k].w = ball_map_rate(bo_load3(q), bo_load3(rate), unit3(k));
        break;
    case BOUGH_JOINT_COMPLIANT:
        for (int k = 0; k < 6; k++)
            columns[k] = bo_se3_right_jacobian_rate(bo_load_twist(q), bo_load_twist(rate), unit(k));
        break;
    case BOUGH_JOINT_FREE: { /* (R^T e)' = R^T e x w, w the angular velocity in the child's axes */
        const bo_vec3 phi = bo_load3(q + 3), turning = bo_load3(rate + 3), w = bo_mat_vec(bo_ball_map(phi), turning);
        const bo_mat3 R = bo_exp3(phi);
        for (int k = 0; k < 3; k++) {
            columns[k].v = bo_cross(bo_load3(R.m + 3 * k), w);
            columns[3 + k].w = ball_map_rate(phi, turning, unit3(k));
        }
        break;
    }
    case BOUGH_JOINT_PLANAR: { /* (R^T e)' = R^T e x w */
        const bo_mat3 R = turn(2, q[2]);
        for (int k = 0; k < 2; k++)
            columns[k].v = bo_cross(bo_load3(R.m + 3 * k), bo_v3(0, 0, rate[2]));
        break;
    }
    case BOUGH_JOINT_CYLINDRICAL:
    case BOUGH_JOINT_DISTANCE:
    case BOUGH_JOINT_WELD:
    case BOUGH_JOINT_HINGE:
    case BOUGH_JOINT_PRISMATIC:
    case BOUGH_JOINT_KIND_COUNT:
        break;
    }
}

static bo_twist sum_of(int count, const bo_twist *columns, const double *by) {
    bo_twist sum = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < count; k++)
        sum = bo_twist_mul_add(sum, by[k], columns[k]);
    return sum;
}

bo_twist bo_joint_twist(bough_joint_kind kind, const double *q, const double *rate) {
    bo_twist columns[BO_MOST_FREEDOMS];
    bo_joint_columns(kind, q, columns);
    return sum_of(bough_joint_freedoms(kind), columns, rate);
}

bo_twist bo_joint_bias(bough_joint_kind kind, const double *q, const double *rate) {
    bo_twist columns[BO_MOST_FREEDOMS];
    bo_joint_columns_rate(kind, q, rate, columns);
    return sum_of(bough_joint_freedoms(kind), columns, rate);
}

bool bo_joint_slides(bough_joint_kind kind, int k) {
    return kind == BOUGH_JOINT_PRISMATIC || (kind == BOUGH_JOINT_CYLINDRICAL && k == 0) ||
           (kind == BOUGH_JOINT_PLANAR && k < 2) ||
           ((kind == BOUGH_JOINT_COMPLIANT || kind == BOUGH_JOINT_FREE) && k < 3);
}

void bo_joint_read(bough_joint_kind kind, bo_se3 X, double *q) {
    const double *m = X.R.m;
    switch (kind) {
    case BOUGH_JOINT_HINGE:
        q[0] = atan2(m[3] - m[1], m[0] + m[4]);
        break;
    case BOUGH_JOINT_PRISMATIC:
        q[0] = X.t.z;
        break;
    case BOUGH_JOINT_UNIVERSAL: /* Rx Ry = [c2 0 s2; s1 s2  c1  -s1 c2; -c1 s2  s1  c1 c2] */
        q[0] = atan2(m[7], m[4]);
        q[1] = atan2(m[2], m[0]);
        break;
    case BOUGH_JOINT_BALL:
        bo_store3(q, bo_log3(X.R));
        break;
    case BOUGH_JOINT_COMPLIANT:
        bo_store_twist(q, bo_se3_log(X));
        break;
    case BOUGH_JOINT_FREE:
        bo_store3(q, X.t), bo_store3(q + 3, bo_log3(X.R));
        break;
    case BOUGH_JOINT_CYLINDRICAL:
        q[0] = X.t.z, q[1] = atan2(m[3] - m[1], m[0] + m[4]);
        break;
    case BOUGH_JOINT_PLANAR:
        q[0] = X.t.x, q[1] = X.t.y, q[2] = atan2(m[3] - m[1], m[0] + m[4]);
        break;
    case BOUGH_JOINT_DISTANCE:
    case BOUGH_JOINT_WELD:
    case BOUGH_JOINT_KIND_COUNT:
        break;
    }
}
