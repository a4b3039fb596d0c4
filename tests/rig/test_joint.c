/* The kinematics of all kinds of joints, against finite differences. */
#include "test.h"

#include "rig/joint.h"

static bo_twist difference(bo_twist a, bo_twist b, double over) {
    const bo_twist d = bo_twist_mul_add(a, -1, b);
    return (bo_twist){bo_scale(1 / over, d.v), bo_scale(1 / over, d.w)};
}

static double size_of(bo_twist t) {
    return sqrt(bo_twist_dot(t, t));
}

/* Random coordinates of a joint; in every third case turns are tiny, in every other third up to 3 rad. */
static void draw(test_random *r, int round, double q[BO_MOST_FREEDOMS]) {
    const double reach = round % 3 == 0 ? 1e-5 : round % 3 == 1 ? 1.5 : 0.5;
    for (int k = 0; k < BO_MOST_FREEDOMS; k++)
        q[k] = test_uniform(r, -reach, reach);
}

static void step(const double *q, const double *along, double h, double *to) {
    for (int k = 0; k < BO_MOST_FREEDOMS; k++)
        to[k] = q[k] + h * along[k];
}

/* X(q)^-1 dX: the columns are the twists by unit rates. */
static void columns_are_derivatives_of_poses(void **unused) {
    (void)unused;
    test_random random = {1};
    const double h = 1e-5;
    for (int kind = 0; kind < BOUGH_JOINT_KIND_COUNT; kind++)
        for (int round = 0; round < 60; round++) {
            double q[BO_MOST_FREEDOMS], more[BO_MOST_FREEDOMS], less[BO_MOST_FREEDOMS];
            bo_twist columns[BO_MOST_FREEDOMS];
            draw(&random, round, q);
            bo_joint_columns((bough_joint_kind)kind, q, columns);
            const bo_se3 back = bo_se3_inverse(bo_joint_pose((bough_joint_kind)kind, q));
            for (int k = 0; k < bough_joint_freedoms((bough_joint_kind)kind); k++) {
                double unit[BO_MOST_FREEDOMS] = {0};
                unit[k] = 1;
                step(q, unit, h, more), step(q, unit, -h, less);
                const bo_twist a = bo_se3_log(bo_se3_mul(back, bo_joint_pose((bough_joint_kind)kind, more)));
                const bo_twist b = bo_se3_log(bo_se3_mul(back, bo_joint_pose((bough_joint_kind)kind, less)));
                check_below(size_of(difference(difference(a, b, 2 * h), columns[k], 1)), 2e-9);
            }
        }
}

static void rates_of_columns_are_their_derivatives(void **unused) {
    (void)unused;
    test_random random = {2};
    const double h = 1e-5;
    for (int kind = 0; kind < BOUGH_JOINT_KIND_COUNT; kind++)
        for (int round = 0; round < 60; round++) {
            double q[BO_MOST_FREEDOMS], rate[BO_MOST_FREEDOMS], more[BO_MOST_FREEDOMS], less[BO_MOST_FREEDOMS];
            bo_twist a[BO_MOST_FREEDOMS], b[BO_MOST_FREEDOMS], told[BO_MOST_FREEDOMS];
            draw(&random, round, q), draw(&random, 1, rate);
            step(q, rate, h, more), step(q, rate, -h, less);
            bo_joint_columns((bough_joint_kind)kind, more, a);
            bo_joint_columns((bough_joint_kind)kind, less, b);
            bo_joint_columns_rate((bough_joint_kind)kind, q, rate, told);
            for (int k = 0; k < bough_joint_freedoms((bough_joint_kind)kind); k++)
                check_below(size_of(difference(difference(a[k], b[k], 2 * h), told[k], 1)), 2e-9);
        }
}

/* While the coordinates move steadily the twist changes by the bias alone. */
static void the_bias_is_the_twist_s_rate(void **unused) {
    (void)unused;
    test_random random = {3};
    const double h = 1e-5;
    for (int kind = 0; kind < BOUGH_JOINT_KIND_COUNT; kind++)
        for (int round = 0; round < 60; round++) {
            const bough_joint_kind joint = (bough_joint_kind)kind;
            double q[BO_MOST_FREEDOMS], rate[BO_MOST_FREEDOMS], more[BO_MOST_FREEDOMS], less[BO_MOST_FREEDOMS];
            draw(&random, round, q), draw(&random, 1, rate);
            step(q, rate, h, more), step(q, rate, -h, less);
            const bo_twist found =
                difference(bo_joint_twist(joint, more, rate), bo_joint_twist(joint, less, rate), 2 * h);
            check_below(size_of(difference(found, bo_joint_bias(joint, q, rate), 1)), 5e-9);
            if (joint == BOUGH_JOINT_BALL) { /* which the tree has in closed form, likewise its map */
                const bo_vec3 phi = bo_load3(q), turning = bo_load3(rate);
                check_below(bo_norm(bo_sub(found.w, bo_ball_bias(phi, turning))), 5e-9);
                check_below(bo_norm(bo_sub(bo_joint_twist(joint, q, rate).w, bo_mat_vec(bo_ball_map(phi), turning))),
                            1e-14);
            }
        }
}

static void coordinates_are_read_back(void **unused) {
    (void)unused;
    test_random random = {4};
    for (int kind = 0; kind < BOUGH_JOINT_KIND_COUNT; kind++)
        for (int round = 0; round < 60; round++) {
            double q[BO_MOST_FREEDOMS], read[BO_MOST_FREEDOMS];
            draw(&random, round, q);
            bo_joint_read((bough_joint_kind)kind, bo_joint_pose((bough_joint_kind)kind, q), read);
            for (int k = 0; k < bough_joint_freedoms((bough_joint_kind)kind); k++)
                check_near(read[k], q[k], 1e-13);
        }
}

/* Poses by one coordinate alone: a coordinate that slides turns nothing. */
static void coordinates_that_slide_turn_nothing(void **unused) {
    (void)unused;
    for (int kind = 0; kind < BOUGH_JOINT_KIND_COUNT; kind++)
        for (int k = 0; k < bough_joint_freedoms((bough_joint_kind)kind); k++) {
            double q[BO_MOST_FREEDOMS] = {0};
            q[k] = 0.3;
            const bo_twist moved = bo_se3_log(bo_joint_pose((bough_joint_kind)kind, q));
            const bool slides = bo_joint_slides((bough_joint_kind)kind, k);
            check_near(bo_norm(moved.v), slides ? 0.3 : 0, 1e-15);
            check_near(bo_norm(moved.w), slides ? 0 : 0.3, 1e-15);
        }
}

static void axes_are_right_handed_and_end_in_the_axis(void **unused) {
    (void)unused;
    test_random random = {5};
    for (int round = 0; round < 200; round++) {
        const double x = test_uniform(&random, -3, 3), y = test_uniform(&random, -3, 3),
                     z = test_uniform(&random, -3, 3);
        const bo_vec3 axis = round == 0 ? bo_v3(0, -3, 0) : bo_v3(x, y, z), unit = bo_normalize(axis);
        const bo_mat3 R = bo_axes_about(axis), E = bo_mat_sub(bo_mat_tmul(R, R), bo_identity3());
        check_below(sqrt(bo_contract(E, E)), 1e-14);
        check_near(bo_det(R), 1, 1e-14);
        check(R.m[2] == unit.x && R.m[5] == unit.y && R.m[8] == unit.z); /* to the bit */
    }
}

static void bad_joints_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const bough_joint_def good = bough_default_joint_def();
    const double flat[1] = {0};
    bough_joint_def bad;
    check_ok(ctx, bo_joint_check(ctx, "joint 0", &good));
#define REFUSED(change, part)                                                               \
    do {                                                                                    \
        bad = good;                                                                         \
        change;                                                                             \
        check_fails(ctx, bo_joint_check(ctx, "joint 0", &bad), BOUGH_ERROR_ARGUMENT, part); \
    } while (0)
    REFUSED(bad.cookie = 0, "bough_default_joint_def");
    REFUSED(bad.kind = BOUGH_JOINT_KIND_COUNT, "no joint of kind");
    REFUSED(bad.kind = (bough_joint_kind)-1, "no joint of kind");
    REFUSED(bad.parent.pose.rotation[0] = 2, "rotation matrices");
    REFUSED(bad.child.pose.position[1] = NAN, "rotation matrices");
    REFUSED(bad.stiffness[0] = -1, "the stiffness of freedom 0 is -1");
    REFUSED(bad.damping[0] = INFINITY, "the damping of freedom 0");
    REFUSED(bad.friction[0] = NAN, "the friction of freedom 0");
    REFUSED(bad.start[0] = NAN, "must be finite");
    REFUSED(bad.offset[0] = INFINITY, "must be finite");
    REFUSED((bad.lower[0] = 1, bad.upper[0] = 0), "the lower limit of freedom 0");
    REFUSED(bad.limit_stiffness = -1, "the stiffness of its limits");
    REFUSED(bad.compliance = flat, "positive definite");
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_derivatives_of_poses),
        cmocka_unit_test(rates_of_columns_are_their_derivatives),
        cmocka_unit_test(the_bias_is_the_twist_s_rate),
        cmocka_unit_test(coordinates_are_read_back),
        cmocka_unit_test(coordinates_that_slide_turn_nothing),
        cmocka_unit_test(axes_are_right_handed_and_end_in_the_axis),
        cmocka_unit_test(bad_joints_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
