/* Pendulums and tops against their closed forms. */
#include "build.h"

/* The complete elliptic integral of the first kind by the arithmetic-geometric mean. */
static double elliptic_K(double k) {
    double a = 1, g = sqrt(1 - k * k);
    for (int i = 0; i < 10; i++) {
        const double mean = 0.5 * (a + g);
        g = sqrt(a * g), a = mean;
    }
    return M_PI / (2 * a);
}

static const double swing = 2, mass = 0.7, arm = 0.4, spin_inertia = 0.013;

/* It hangs from the origin, turned by `swing` about y from below. */
static build *make_pendulum(double tilt) {
    build *b = start_build();
    const bo_vec3 axis = {0, cos(tilt), sin(tilt)};
    const bo_mat3 lean = bo_exp3(bo_v3(tilt, 0, 0)), turned = bo_mat_mul(lean, bo_exp3(bo_v3(0, swing, 0)));
    const bo_vec3 inertia = {0.002, spin_inertia, 0.011};
    add_body(b, mass, inertia, (bo_se3){turned, bo_mat_vec(turned, bo_v3(0, 0, -arm))});
    add_joint(b, BOUGH_JOINT_HINGE, BOUGH_WORLD, 0, place_along(bo_v3(0, 0, 0), axis));
    b->def.gravity[2] = -9.81;
    finish_build(b);
    return b;
}
static double pendulum_rate(double g) {
    return sqrt(mass * g * arm / (spin_inertia + mass * arm * arm));
}

/* Five quarters of a period after it was let go it is below, at its greatest speed. */
static void quarter_errors(build *b, double g, int steps, double *angle, double *speed, double *energy) {
    const double w = pendulum_rate(g), period = 4 * elliptic_K(sin(swing / 2)) / w;
    renew_state(b);
    const double start = energy_of(b);
    *energy = 0;
    for (int i = 0; i < 5 * steps; i++) {
        take_step(b, period / (4 * steps));
        *energy = fmax(*energy, fabs(energy_of(b) - start));
    }
    *angle = coordinate_of(b, 0, 0) + swing;
    *speed = fabs(rate_of(b, 0, 0)) - 2 * w * sin(swing / 2);
}

static void period_is_the_elliptic_integral(void **unused) {
    (void)unused;
    build *b = make_pendulum(0);
    double angle[2], speed[2], energy[2];
    for (int i = 0; i < 2; i++)
        quarter_errors(b, 9.81, 400 << i, &angle[i], &speed[i], &energy[i]);
    check_below(fabs(angle[1]), 1e-4);
    check_below(fabs(speed[1]), 1e-3);
    check_below(energy[1] / (mass * 9.81 * arm), 1e-4);
    check_order(angle[0], angle[1], 2, 0.15);
    check_order(energy[0], energy[1], 2, 0.3);
    free_build(b);
}

/* A gate whose axis leans from the level by 1 rad feels cos(1) of the weight. */
static void a_leaning_axis_takes_its_part_of_the_weight(void **unused) {
    (void)unused;
    build *b = make_pendulum(1);
    double angle, speed, energy;
    quarter_errors(b, 9.81 * cos(1), 800, &angle, &speed, &energy);
    check_below(fabs(angle), 1e-4);
    check_below(fabs(speed), 1e-3);
    free_build(b);
}

/* The pull at the hinge: weight and centripetal force, m g cos + m l w^2 with w^2 = 2 k^2 (cos - cos(start)), less what
 * the body's own inertia leaves. */
static void the_hinge_bears_weight_and_swing(void **unused) {
    (void)unused;
    build *b = make_pendulum(0);
    const double w = pendulum_rate(9.81);
    double worst = 0;
    for (int i = 0; i < 2000; i++) {
        double wrench[6];
        take_step(b, 5e-4);
        bough_multibody_joint_wrench(b->model, b->state, 0, wrench);
        const double q = swing + coordinate_of(b, 0, 0), square = 2 * w * w * (cos(q) - cos(swing));
        const double alpha = -w * w * sin(q);
        const bo_vec3 out = {-sin(q), 0, -cos(q)},
                      along = {-cos(q), 0, sin(q)}; /* from the hinge to the centre; as q grows */
        bo_vec3 force = bo_add(bo_scale(-mass * arm * square, out), bo_scale(mass * arm * alpha, along));
        force = bo_add(force, bo_v3(0, 0, mass * 9.81));
        worst = fmax(worst, bo_norm(bo_sub(force, bo_load3(wrench))));
    }
    check_below(worst / (mass * 9.81), 1e-4);
    free_build(b);
}

/* ---- the heavy symmetric top ---- */

typedef struct {
    double mass, arm, inertia, spin_inertia; /* inertia: about the point that it stands on */
    double lean, precession, spin;           /* spin: all of the angular velocity along its axis */
} top;

/* Steady precession W: I3 w3 W - I1 W^2 cos(lean) = m g l. */
static top steady_top(double lean, double precession) {
    top t = {.mass = 0.3, .arm = 0.08, .inertia = 0.0025, .spin_inertia = 4e-4, .lean = lean, .precession = precession};
    t.spin = (t.mass * 9.81 * t.arm + t.inertia * precession * precession * cos(lean)) / (t.spin_inertia * precession);
    return t;
}

static build *make_top(const top *t) {
    build *b = start_build();
    const bo_mat3 R = bo_exp3(bo_v3(0, t->lean, 0)); /* leans to x */
    const bo_vec3 axis = {sin(t->lean), 0, cos(t->lean)}, centre = bo_scale(t->arm, axis);
    const double across = t->inertia - t->mass * t->arm * t->arm;
    add_body(b, t->mass, bo_v3(across, across, t->spin_inertia), (bo_se3){R, centre});
    const bo_vec3 w = bo_add(bo_v3(0, 0, t->precession), bo_scale(t->spin - t->precession * cos(t->lean), axis));
    bo_store3(b->bodies[0].twist, bo_mat_tvec(R, bo_cross(w, centre)));
    bo_store3(b->bodies[0].twist + 3, bo_mat_tvec(R, w));
    add_joint(b, BOUGH_JOINT_BALL, BOUGH_WORLD, 0, place_at(bo_v3(0, 0, 0)));
    b->def.gravity[2] = -9.81;
    finish_build(b);
    return b;
}

static void precession_error(const top *t, const char *method, int steps, double *angle, double *lean) {
    build *b = make_top(t);
    if (method)
        use_method(b, method);
    const double duration = M_PI / t->precession;
    run_for(b, duration, steps);
    const bo_mat3 R = axes_of_body(b, 0);
    const bo_vec3 axis = {R.m[2], R.m[5], R.m[8]}; /* half a turn later it leans to -x */
    *angle = atan2(-axis.y, -axis.x);
    *lean = acos(axis.z) - t->lean;
    free_build(b);
}

static void tops_precess_steadily(void **unused) {
    (void)unused;
    const top t = steady_top(0.5, 3);
    double angle[2], lean[2];
    for (int i = 0; i < 2; i++)
        precession_error(&t, NULL, 4000 << i, &angle[i], &lean[i]);
    check_below(fabs(angle[1]), 2e-3);
    check_below(fabs(lean[1]), 5e-05);
    check_order(angle[0], angle[1], 2, 0.3);
    precession_error(&t, "generalised-alpha", 8000, &angle[0], &lean[0]);
    check_below(fabs(angle[0]), 0.001);
    check_below(fabs(lean[0]), 2e-05);
}

/* A top that was only spun and let go nods; energy, L about the vertical and L about its own axis stay. */
static void nodding_tops_keep_their_integrals(void **unused) {
    (void)unused;
    top t = steady_top(0.5, 3);
    t.precession = 0;
    double worst[2][3] = {{0}};
    for (int round = 0; round < 2; round++) {
        build *b = make_top(&t);
        const bough_multibody_energies start = measure(b);
        const double E = energy_of(b), own = t.spin_inertia * t.spin;
        double lowest = t.lean, highest = 0;
        for (int i = 0; i < 2000 << round; i++) {
            take_step(b, 1e-3 / (1 << round) / 4);
            const bo_mat3 R = axes_of_body(b, 0);
            const bo_vec3 axis = {R.m[2], R.m[5], R.m[8]};
            const bough_multibody_energies now = measure(b);
            worst[round][0] = fmax(worst[round][0], fabs(energy_of(b) - E));
            worst[round][1] = fmax(worst[round][1], fabs(now.angular_momentum[2] - start.angular_momentum[2]));
            worst[round][2] = fmax(worst[round][2], fabs(bo_dot(bo_load3(now.angular_momentum), axis) - own));
            lowest = fmin(lowest, acos(axis.z)), highest = fmax(highest, acos(axis.z));
        }
        check(highest - lowest > 0.05 && lowest > t.lean - 1e-3);
        check_below(worst[round][0] / (t.mass * 9.81 * t.arm), 0.002);
        check_below(worst[round][1] / own, 0.0002);
        check_below(worst[round][2] / own, 1e-05);
        free_build(b);
    }
    for (int k = 0; k < 3; k++)
        check_order(worst[0][k], worst[1][k], 2, 0.5);
}

/* About the axis of middle inertia a free body tumbles (Dzhanibekov); about the others it turns steadily. Energy and
 * angular momentum stay in any case. */
static void free_bodies_tumble_about_the_middle_axis_only(void **unused) {
    (void)unused;
    for (int axis = 0; axis < 3; axis++) {
        build *b = start_build();
        add_body(b, 1, bo_v3(0.01, 0.02, 0.028), bo_se3_identity());
        b->bodies[0].twist[3 + axis] = 10, b->bodies[0].twist[3 + (axis + 1) % 3] = 1e-3;
        finish_build(b);
        const bough_multibody_energies start = measure(b);
        double lowest = 10, worst = 0;
        for (int i = 0; i < 6000; i++) {
            take_step(b, 5e-4);
            const bo_vec3 w = bo_mat_tvec(axes_of_body(b, 0), bo_load3(b->state->v + 3));
            const double along[3] = {w.x, w.y, w.z};
            lowest = fmin(lowest, along[axis]);
            const bough_multibody_energies now = measure(b);
            const bo_vec3 L = bo_load3(now.angular_momentum), L0 = bo_load3(start.angular_momentum);
            worst = fmax(worst, bo_norm(bo_sub(L, L0)) / bo_norm(L0));
            worst = fmax(worst, fabs(now.kinetic / start.kinetic - 1));
        }
        check(axis == 1 ? lowest < -9.9 : lowest > 9.99);
        check_below(worst, 0.0002);
        free_build(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(period_is_the_elliptic_integral),
        cmocka_unit_test(a_leaning_axis_takes_its_part_of_the_weight),
        cmocka_unit_test(the_hinge_bears_weight_and_swing),
        cmocka_unit_test(tops_precess_steadily),
        cmocka_unit_test(nodding_tops_keep_their_integrals),
        cmocka_unit_test(free_bodies_tumble_about_the_middle_axis_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
