#include "mechanism/joint.h"

#include <float.h>

int32_t bough_mechanism_freedoms(bough_mechanism_joint_kind kind) {
    static const int32_t freedoms[] = {1, 1, 2, 3, 6};
    return (int)kind >= 0 && kind <= BOUGH_MECHANISM_FIXED ? freedoms[kind] : 0;
}

static bo_mat3 turn(int axis, double angle) {
    double w[3] = {0};
    w[axis] = angle;
    return bo_exp3(bo_load3(w));
}

bo_se3 bo_joint_pose(bough_mechanism_joint_kind kind, const double *theta) {
    bo_se3 g = bo_se3_identity();
    switch (kind) {
    case BOUGH_MECHANISM_HINGE:
        g.R = turn(2, theta[0]);
        break;
    case BOUGH_MECHANISM_PRISMATIC:
        g.t.z = theta[0];
        break;
    case BOUGH_MECHANISM_UNIVERSAL:
        g.R = bo_mat_mul(turn(0, theta[0]), turn(1, theta[1]));
        break;
    case BOUGH_MECHANISM_BALL:
        g.R = bo_exp3(bo_load3(theta));
        break;
    case BOUGH_MECHANISM_FIXED:
        g = bo_se3_exp(bo_load_twist(theta));
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

static bo_twist unit(int k) {
    double x[6] = {0};
    x[k] = 1;
    return bo_load_twist(x);
}

void bo_joint_columns(bough_mechanism_joint_kind kind, const double *theta, bo_twist columns[BO_MOST_FREEDOMS]) {
    switch (kind) {
    case BOUGH_MECHANISM_HINGE:
        columns[0] = unit(5);
        break;
    case BOUGH_MECHANISM_PRISMATIC:
        columns[0] = unit(2);
        break;
    case BOUGH_MECHANISM_UNIVERSAL: /* Ry(t2)^T ex, ey */
        columns[0] = (bo_twist){{0, 0, 0}, bo_mat_tvec(turn(1, theta[1]), bo_v3(1, 0, 0))};
        columns[1] = unit(4);
        break;
    case BOUGH_MECHANISM_BALL: { /* the right Jacobian of SO(3) is the transposed left one */
        const bo_mat3 J = bo_left_jacobian(bo_load3(theta));
        for (int k = 0; k < 3; k++)
            columns[k] = (bo_twist){{0, 0, 0}, bo_load3(J.m + 3 * k)};
        break;
    }
    case BOUGH_MECHANISM_FIXED:
        for (int k = 0; k < 6; k++)
            columns[k] = bo_se3_right_jacobian(bo_load_twist(theta), unit(k));
        break;
    }
}

void bo_joint_read(bough_mechanism_joint_kind kind, bo_se3 X, double *theta) {
    const double *m = X.R.m;
    switch (kind) {
    case BOUGH_MECHANISM_HINGE:
        theta[0] = atan2(m[3] - m[1], m[0] + m[4]);
        break;
    case BOUGH_MECHANISM_PRISMATIC:
        theta[0] = X.t.z;
        break;
    case BOUGH_MECHANISM_UNIVERSAL: /* Rx Ry = [c2 0 s2; s1 s2  c1  -s1 c2; -c1 s2  s1  c1 c2] */
        theta[0] = atan2(m[7], m[4]);
        theta[1] = atan2(m[2], m[0]);
        break;
    case BOUGH_MECHANISM_BALL:
        bo_store3(theta, bo_log3(X.R));
        break;
    case BOUGH_MECHANISM_FIXED:
        bo_store_twist(theta, bo_se3_log(X));
        break;
    }
}
