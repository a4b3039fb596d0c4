/* Springs, dampers, friction, limits and motors that give way. */
#include "build.h"

static const bo_vec3 X = {1, 0, 0}, Z = {0, 0, 1}, O = {0, 0, 0};
static const double g = 9.81;

/* A block on a guide along z; the joint's def may be changed until it is finished. */
static build *make_block(double mass, bough_joint_def **guide) {
    build *b = start_build();
    add_body(b, mass, bo_v3(0.01, 0.01, 0.01), place_at(O));
    *guide = &b->joints[add_joint(b, BOUGH_JOINT_PRISMATIC, BOUGH_WORLD, 0, place_at(O))];
    return b;
}

/* m x'' + c x' + k x = 0 from x0 at rest */
static double damped_swing(double m, double c, double k, double x0, double t) {
    const double d = c / (2 * m), w = sqrt(k / m - d * d);
    return x0 * exp(-d * t) * (cos(w * t) + d / w * sin(w * t));
}

static void springs_and_dampers_swing_as_they_should(void **unused) {
    (void)unused;
    const double m = 0.5, c = 0.6, k = 80, x0 = 0.05;
    double error[2];
    for (int i = 0; i < 2; i++) {
        bough_joint_def *guide;
        build *b = make_block(m, &guide);
        guide->stiffness[0] = k, guide->damping[0] = c, guide->offset[0] = -x0;
        finish_build(b);
        check_near(measure(b).springs, 0.5 * k * x0 * x0, 1e-15);
        error[i] = 0;
        for (int step = 0; step < 1000 << i; step++) {
            take_step(b, 1e-3 / (1 << i));
            const double x = coordinate_of(b, 0, 0) + x0;
            error[i] = fmax(error[i], fabs(x - damped_swing(m, c, k, x0, b->state->time)));
        }
        free_build(b);
    }
    check_below(error[1], 1e-4);
    check_order(error[0], error[1], 2, 0.1);
}

/* A body on a spring of each kind of joint that has some, whose frames do not lie on each other: nothing moves unless the
 * spring has an offset, whatever the frames are. */
static void springs_are_at_rest_at_the_start(void **unused) {
    (void)unused;
    static const bough_joint_kind kinds[] = {BOUGH_JOINT_HINGE,       BOUGH_JOINT_PRISMATIC, BOUGH_JOINT_UNIVERSAL,
                                             BOUGH_JOINT_CYLINDRICAL, BOUGH_JOINT_PLANAR,    BOUGH_JOINT_BALL,
                                             BOUGH_JOINT_COMPLIANT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int moved = 0; moved < (kinds[i] == BOUGH_JOINT_BALL || kinds[i] == BOUGH_JOINT_COMPLIANT ? 1 : 2);
             moved++) {
            build *b = start_build();
            add_body(b, 1, bo_v3(0.01, 0.02, 0.015), place_at(O));
            const int32_t j = add_joint(b, kinds[i], BOUGH_WORLD, 0, place_at(O));
            bough_joint_def *joint = &b->joints[j];
            const bool slides = kinds[i] == BOUGH_JOINT_PRISMATIC || kinds[i] == BOUGH_JOINT_CYLINDRICAL;
            const bo_vec3 shift = kinds[i] == BOUGH_JOINT_PLANAR || kinds[i] == BOUGH_JOINT_COMPLIANT
                                      ? bo_v3(0.1, 0.2, kinds[i] == BOUGH_JOINT_COMPLIANT ? 0.3 : 0)
                                      : bo_v3(0, 0, slides ? 0.2 : 0);
            const bo_vec3 turn = kinds[i] == BOUGH_JOINT_UNIVERSAL   ? bo_v3(0.4, 0, 0)
                                 : kinds[i] == BOUGH_JOINT_PRISMATIC ? O
                                 : kinds[i] == BOUGH_JOINT_BALL || kinds[i] == BOUGH_JOINT_COMPLIANT
                                     ? bo_v3(0.3, -0.5, 0.7)
                                     : bo_v3(0, 0, 0.6);
            joint->child.pose = bo_put_pose((bo_se3){bo_exp3(turn), shift});
            for (int k = 0; k < bough_joint_freedoms(kinds[i]); k++)
                joint->stiffness[k] = 3;
            joint->offset[0] = 0.05 * moved;
            finish_build(b);
            const double before = coordinate_of(b, j, 0);
            check_near(energy_of(b), moved * 0.5 * 3 * 0.05 * 0.05, 1e-15);
            check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
            check_near(coordinate_of(b, j, 0) - before, 0.05 * moved, 1e-12);
            check_near(energy_of(b), 0, 1e-15);
            free_build(b);
        }
}

/* A wheel on a torsion spring, wound up by three turns: angles beyond a turn count. */
static void springs_count_whole_turns(void **unused) {
    (void)unused;
    const double I = 0.02, k = 0.08, turns = 6 * M_PI, w = sqrt(k / I);
    double error[2];
    for (int i = 0; i < 2; i++) {
        build *b = start_build();
        add_body(b, 1, bo_v3(0.01, 0.01, I), place_at(O));
        const int32_t hinge = add_hinge(b, BOUGH_WORLD, 0, O, Z);
        b->joints[hinge].stiffness[0] = k, b->joints[hinge].offset[0] = -turns;
        finish_build(b);
        const double start = energy_of(b);
        check_near(start, 0.5 * k * turns * turns, 1e-12);
        run_for(b, 2, 2000 << i);
        error[i] = coordinate_of(b, hinge, 0) + turns - turns * cos(2 * w);
        check_near(energy_of(b) / start, 1, 0.0005);
        free_build(b);
    }
    check_below(fabs(error[1]), 1e-3);
    check_order(error[0], error[1], 2, 0.1);
}

/* Each of the six springs of a compliant joint gives a block its own frequency; a ball's spring one about any axis. */
static void compliant_joints_have_six_springs(void **unused) {
    (void)unused;
    const double m = 0.4, I = 0.03, x0 = 0.01;
    for (int axis = 0; axis < 7; axis++) {
        build *b = start_build();
        add_body(b, m, bo_v3(I, I, I), place_at(O));
        const bool ball = axis == 6, turns = axis >= 3;
        bough_joint_def *joint =
            &b->joints[add_joint(b, ball ? BOUGH_JOINT_BALL : BOUGH_JOINT_COMPLIANT, BOUGH_WORLD, 0, place_at(O))];
        for (int k = 0; k < 6; k++)
            joint->stiffness[k] = ball ? 7 : k < 3 ? 50 + 10 * k : 5;
        finish_build(b);
        bo_vec3 tilt = {0, 0, 0};
        if (turns) {
            double t[3] = {0};
            t[axis % 3] = x0;
            tilt = ball ? bo_v3(0.6 * x0, 0, 0.8 * x0) : bo_load3(t);
            const bo_quat q = bo_quat_exp(tilt);
            const double u[4] = {q.w, q.x, q.y, q.z};
            memcpy(b->state->u + 3, u, sizeof u);
        } else
            b->state->u[axis] = x0;
        bough_multibody_restart(b->state);
        const double w = sqrt(joint->stiffness[ball ? 0 : axis] / (turns ? I : m)), t = 1;
        run_for(b, t, 2000);
        const double expected = x0 * cos(w * t);
        if (!turns) {
            check_near(b->state->u[axis], expected, 1e-3 * x0);
        } else {
            const bo_vec3 now = bo_log3(axes_of_body(b, 0));
            check_near(bo_dot(now, tilt) / x0, expected, 1e-3 * x0);
        }
        free_build(b);
    }
}

/* ---- friction ---- */

/* A block on a slope whose friction would hold 5 N: below it creeps slower than the speed at which friction slips, above
 * it slips as the rest of the force says. */
static double slide(double pull, double duration, double *moved) {
    bough_joint_def *guide;
    build *b = make_block(2, &guide);
    guide->friction[0] = 5;
    b->def.gravity[2] = -pull / 2;
    finish_build(b);
    run_for(b, duration, 1000);
    *moved = coordinate_of(b, 0, 0);
    const double rate = rate_of(b, 0, 0);
    free_build(b);
    return rate;
}

static void friction_holds_below_and_slips_above(void **unused) {
    (void)unused;
    double moved;
    const double pull = 4, creep = -0.01 * atanh(pull / 5);
    check_near(slide(pull, 1, &moved), creep, 5e-15);
    check_below(fabs(moved), fabs(creep));
    check_near(slide(8, 1, &moved), -1.5, 0.01); /* (8 - 5) / 2 */
    check_near(moved, -0.75, 0.01);
}

/* A block that slides stops: after v / (F / m) seconds and v^2 / (2 F / m). */
static void friction_stops_what_slides(void **unused) {
    (void)unused;
    bough_joint_def *guide;
    build *b = make_block(2, &guide);
    guide->friction[0] = 5;
    b->bodies[0].twist[2] = 2;
    finish_build(b);
    run_for(b, 0.7, 1400);
    check(rate_of(b, 0, 0) > 0.2);
    run_for(b, 0.3, 600);
    check_below(fabs(rate_of(b, 0, 0)), 1e-12);
    check_near(coordinate_of(b, 0, 0), 2 * 2 / (2 * 5 / 2.0), 0.001);
    check_below(energy_of(b), 1e-12);
    free_build(b);
}

/* ---- limits ---- */

/* A weight that falls onto a stop rests in it as deep as weight over stiffness. */
static void limits_hold_a_weight(void **unused) {
    (void)unused;
    const double m = 2, stop = 4e4;
    for (int with_spring = 0; with_spring < 2; with_spring++) {
        bough_joint_def *guide;
        build *b = make_block(m, &guide);
        const double k = with_spring ? 50 : 0; /* then the stop is told as a multiple of it */
        guide->stiffness[0] = k, guide->damping[0] = 60;
        guide->lower[0] = -0.1, guide->upper[0] = 0.2;
        guide->limit_stiffness = with_spring ? stop / k : stop;
        b->def.gravity[2] = -g;
        finish_build(b);
        run_for(b, 3, 3000);
        const double deep = with_spring ? (m * g - k * 0.1) / (stop + k) : m * g / stop;
        check_near(coordinate_of(b, 0, 0), -0.1 - deep, 5e-15);
        check_near(rate_of(b, 0, 0), 0, 2e-12);
        b->state->gravity[2] = g; /* and the other way up */
        run_for(b, 3, 3000);
        const double up = with_spring ? (m * g - k * 0.2) / (stop + k) : m * g / stop;
        check_near(coordinate_of(b, 0, 0), 0.2 + up, 5e-13);
        check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
        check_near(coordinate_of(b, 0, 0), 0.2 + up, 1e-13);
        free_build(b);
    }
}

/* Without damping it leaps back as high as it came from. */
static void limits_give_back_what_they_took(void **unused) {
    (void)unused;
    bough_joint_def *guide;
    build *b = make_block(1, &guide);
    guide->lower[0] = -0.1, guide->limit_stiffness = 1e4;
    b->def.gravity[2] = -g;
    finish_build(b);
    double highest = -1, lowest = 0;
    for (int i = 0; i < 4000; i++) {
        take_step(b, 1e-4);
        const double z = coordinate_of(b, 0, 0);
        lowest = fmin(lowest, z);
        if (b->state->time > 0.2)
            highest = fmax(highest, z);
    }
    check_near(highest, 0, 5e-05);
    /* m g (0.1 + d) = k d^2 / 2 */
    const double d = (g + sqrt(g * g + 2 * 1e4 * g * 0.1)) / 1e4;
    check_near(lowest, -0.1 - d, 1e-05);
    free_build(b);
}

/* ---- motors that give way ---- */

static build *make_arm(double stiffness, double limit) {
    build *b = start_build();
    add_body(b, 0.8, bo_v3(0.01, 0.01, 0.01), place_at(bo_v3(0.25, 0, 0)));
    const int32_t hinge = add_hinge(b, BOUGH_WORLD, 0, O, bo_v3(0, 1, 0)); /* positive: downwards */
    bough_motor_def *motor = add_motor(b, hinge, 0);
    motor->stiffness = stiffness, motor->damping = 0.5, motor->limit = limit;
    b->def.gravity[2] = -g;
    finish_build(b);
    return b;
}

static void motors_lag_by_torque_over_stiffness(void **unused) {
    (void)unused;
    const double k = 40;
    build *b = make_arm(k, INFINITY);
    run_for(b, 8, 4000);
    const double lag = coordinate_of(b, 0, 0), torque = 0.8 * g * 0.25 * cos(lag);
    check_near(lag, torque / k, 1e-13);
    double wrench[6];
    bough_multibody_joint_wrench(b->model, b->state, 0, wrench);
    check_near(wrench[4], -torque, 5e-12); /* it pushes the arm up */
    check_near(wrench[2], 0.8 * g, 2e-11);
    check_near(measure(b).springs, 0.5 * k * lag * lag, 1e-7);
    free_build(b);
}

static void turn_away(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)motor, (void)time;
    *place = *(double *)data, *rate = 0;
}

/* Told to be far away, it gives its limit and no more: the arm gains speed by limit / I. */
static void motors_give_no_more_than_their_limit(void **unused) {
    (void)unused;
    double away = 400;
    build *b = make_arm(40, 1.5);
    memset(b->state->gravity, 0, sizeof b->state->gravity);
    b->state->drive = turn_away, b->state->drive_data = &away;
    run_for(b, 0.5, 1000);
    const double inertia = 0.01 + 0.8 * 0.25 * 0.25;
    check_near(rate_of(b, 0, 0) / (1.5 / inertia * 0.5), 1, 1e-3);
    double wrench[6];
    bough_multibody_joint_wrench(b->model, b->state, 0, wrench);
    check_near(fabs(wrench[4]), 1.5, 1e-6);
    free_build(b);
    /* a weight beyond the limit pulls the arm down, one below is held */
    b = make_arm(400, 0.8 * g * 0.25 * 0.9);
    run_for(b, 6, 3000);
    check(coordinate_of(b, 0, 0) > 0.4);
    free_build(b);
    b = make_arm(400, 0.8 * g * 0.25 * 1.5);
    run_for(b, 6, 3000);
    check_below(fabs(coordinate_of(b, 0, 0)), 0.02);
    free_build(b);
}

/* The energy of a motor is the work that it can give back: what it does between two places at which all is at rest. */
static void bounded_motors_keep_their_energy(void **unused) {
    (void)unused;
    double away = 0.3;
    build *b = start_build();
    add_body(b, 0.8, bo_v3(0.01, 0.01, 0.01), place_at(O));
    bough_motor_def *motor = add_motor(b, add_hinge(b, BOUGH_WORLD, 0, O, X), 0);
    motor->stiffness = 20, motor->limit = 1.5; /* 6 N m at the start, were it not for the limit */
    finish_build(b);
    b->state->drive = turn_away, b->state->drive_data = &away;
    const double start = energy_of(b);
    double worst = 0;
    for (int i = 0; i < 4000; i++) {
        take_step(b, 2.5e-4);
        worst = fmax(worst, fabs(energy_of(b) / start - 1));
    }
    check_below(worst, 1e-3);
    free_build(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_and_dampers_swing_as_they_should),
        cmocka_unit_test(springs_are_at_rest_at_the_start),
        cmocka_unit_test(springs_count_whole_turns),
        cmocka_unit_test(compliant_joints_have_six_springs),
        cmocka_unit_test(friction_holds_below_and_slips_above),
        cmocka_unit_test(friction_stops_what_slides),
        cmocka_unit_test(limits_hold_a_weight),
        cmocka_unit_test(limits_give_back_what_they_took),
        cmocka_unit_test(motors_lag_by_torque_over_stiffness),
        cmocka_unit_test(motors_give_no_more_than_their_limit),
        cmocka_unit_test(bounded_motors_keep_their_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
