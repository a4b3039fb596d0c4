/* Joints of every kind against closed forms of what they connect. */
#include "build.h"

static const bo_vec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1}, O = {0, 0, 0};

/* A motor that turns or moves at a constant rate. */
static void go_steadily(void *data, int32_t motor, double time, double *place, double *rate) {
    const double *rates = data;
    *place += rates[motor] * time, *rate = rates[motor];
}

/* ---- slider and crank ---- */

enum { CRANK, ROD, SLIDER };
enum { MAIN, PIN, WRIST, GUIDE };
static const double radius = 0.1, reach = 0.3, speed = 20, gravity = 9.81;
static const double crank_mass = 0.2, rod_mass = 0.3, slider_mass = 0.5;

/* Angles of crank and rod, the slider's place, and their first two derivatives, at a time. */
typedef struct {
    double q, f[3], x[3];
} crank_motion;

static crank_motion crank_at(double t) {
    crank_motion m = {.q = 0.4 + speed * t};
    const double s = radius * sin(m.q) / reach, ds = radius * cos(m.q) / reach * speed, dds = -s * speed * speed;
    const double c = sqrt(1 - s * s);
    m.f[0] = -asin(s), m.f[1] = -ds / c, m.f[2] = -(dds / c + ds * ds * s / (c * c * c));
    m.x[0] = radius * cos(m.q) + reach * c;
    m.x[1] = -radius * sin(m.q) * speed - reach * sin(m.f[0]) * m.f[1];
    m.x[2] = -radius * cos(m.q) * speed * speed - reach * (cos(m.f[0]) * m.f[1] * m.f[1] + sin(m.f[0]) * m.f[2]);
    return m;
}

static build *make_slider_crank(void) {
    build *b = start_build();
    const crank_motion m = crank_at(0);
    const bo_vec3 pin = {radius * cos(m.q), radius * sin(m.q), 0}, wrist = {m.x[0], 0, 0};
    add_link(b, crank_mass, O, pin);
    add_link(b, rod_mass, pin, wrist);
    add_body(b, slider_mass, bo_v3(1e-3, 1e-3, 1e-3), place_at(wrist));
    add_motor(b, add_hinge(b, BOUGH_WORLD, CRANK, O, Z), 0);
    add_hinge(b, CRANK, ROD, pin, Z);
    add_hinge(b, ROD, SLIDER, wrist, Z);
    add_joint(b, BOUGH_JOINT_PRISMATIC, BOUGH_WORLD, SLIDER, place_along(wrist, X));
    b->def.gravity[1] = -gravity;
    finish_build(b);
    static double rates[] = {20};
    b->state->drive = go_steadily, b->state->drive_data = rates;
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state)); /* velocities */
    return b;
}

static double slider_error(const char *method, int steps, double *speed_error) {
    build *b = make_slider_crank();
    if (method)
        use_method(b, method);
    double worst = 0;
    *speed_error = 0;
    for (int i = 0; i < steps; i++) {
        take_step(b, 0.3 / steps);
        const crank_motion m = crank_at(b->state->time);
        worst = fmax(worst, fabs(position_of(b, SLIDER).x - m.x[0]));
        *speed_error = fmax(*speed_error, fabs(b->state->v[6 * SLIDER] - m.x[1]));
    }
    free_build(b);
    return worst;
}

static void sliders_follow_the_crank(void **unused) {
    (void)unused;
    double error[2], rate_error[2];
    for (int i = 0; i < 2; i++)
        error[i] = slider_error(NULL, 600 << i, &rate_error[i]);
    check_below(error[1], 1e-4 * radius);
    check_below(rate_error[1], 1e-3 * radius * speed);
    check_order(error[0], error[1], 2, 0.3);
    /* methods that keep to the constraints themselves are exact */
    check_below(slider_error("generalised-alpha", 300, rate_error), 1e-13);
    check_below(rate_error[0], 1e-12);
}

/* Newton and Euler from the slider inwards: forces that the joints exert on their children, and the motor's torque. */
typedef struct {
    double wrist[2], pin[2], torque;
} loads;

static loads loads_at(double t) {
    const crank_motion m = crank_at(t);
    const double c = cos(m.f[0]), s = sin(m.f[0]), cq = cos(m.q), sq = sin(m.q), w2 = speed * speed;
    const double arm = 0.5 * reach;
    const double ax = -radius * cq * w2 - arm * (c * m.f[1] * m.f[1] + s * m.f[2]);
    const double ay = -radius * sq * w2 + arm * (-s * m.f[1] * m.f[1] + c * m.f[2]);
    loads l;
    l.wrist[0] = slider_mass * m.x[2];
    l.pin[0] = rod_mass * ax + l.wrist[0];
    /* about the rod's centre: I f'' = (-arm) x pin + arm x (-wrist), pin_y - wrist_y = m (ay + g) */
    const double inertia = rod_mass * reach * reach / 12, all = rod_mass * (ay + gravity);
    const double turn = inertia * m.f[2] - arm * s * (l.pin[0] + l.wrist[0]); /* = -arm c (pin_y + wrist_y) */
    const double sum = -turn / (arm * c);
    l.pin[1] = 0.5 * (sum + all), l.wrist[1] = 0.5 * (sum - all);
    l.torque = crank_mass * gravity * 0.5 * radius * cq + radius * (cq * l.pin[1] - sq * l.pin[0]);
    return l;
}

static double load_error(int steps, double *torque_error) {
    build *b = make_slider_crank();
    double worst = 0, wrench[6];
    *torque_error = 0;
    for (int i = 0; i < steps; i++) {
        take_step(b, 0.3 / steps);
        if (b->state->time < 0.1) /* multipliers of the first steps follow from a guess */
            continue;
        const loads l = loads_at(b->state->time);
        bough_multibody_joint_wrench(b->model, b->state, WRIST, wrench);
        worst = fmax(worst, hypot(wrench[0] - l.wrist[0], wrench[1] - l.wrist[1]));
        bough_multibody_joint_wrench(b->model, b->state, PIN, wrench);
        worst = fmax(worst, hypot(wrench[0] - l.pin[0], wrench[1] - l.pin[1]));
        bough_multibody_joint_wrench(b->model, b->state, MAIN, wrench);
        *torque_error = fmax(*torque_error, fabs(wrench[5] - l.torque));
    }
    free_build(b);
    return worst;
}

static void joints_bear_what_inverse_dynamics_says(void **unused) {
    (void)unused;
    double error[2], torque[2];
    for (int i = 0; i < 2; i++)
        error[i] = load_error(750 << i, &torque[i]);
    const double scale = slider_mass * radius * speed * speed;
    check_below(error[1] / scale, 1e-3);
    check_below(torque[1] / (scale * radius), 1e-4);
    check_order(error[0], error[1], 2, 0.1);
    check_order(torque[0], torque[1], 2, 0.2);
}

/* ---- gears ---- */

static int32_t add_wheel(build *b, double inertia, bo_vec3 at, bo_vec3 axis) {
    const int32_t wheel = add_body(b, 1, bo_v3(0.7 * inertia, 0.7 * inertia, inertia), place_along(at, axis));
    return add_hinge(b, BOUGH_WORLD, wheel, at, axis);
}

/* A torque on the first of two wheels: (I1 + I2 / n^2) a = torque; the second turns n times slower, the other way. */
static void gears_share_a_torque(void **unused) {
    (void)unused;
    build *b = start_build();
    const double I1 = 0.02, I2 = 0.3, ratio = 2.5, torque = 0.4;
    const int32_t first = add_wheel(b, I1, O, Z), second = add_wheel(b, I2, bo_v3(0.3, 0, 0), bo_v3(0, 1, 1));
    add_gear(b, first, 0, second, 0, ratio);
    finish_build(b);
    const double alpha = torque / (I1 + I2 / (ratio * ratio)), dt = 1e-3;
    for (int method = 0; method < 2; method++) {
        renew_state(b);
        use_method(b, method ? "generalised-alpha" : NULL);
        for (int i = 0; i < 2000; i++) {
            b->state->force[5] = torque;
            take_step(b, dt);
        }
        const double t = b->state->time;
        check_near(rate_of(b, first, 0), alpha * t, method ? 1e-9 : 2e-4);
        check_near(coordinate_of(b, first, 0), 0.5 * alpha * t * t, 0.0005);
        check_near(coordinate_of(b, first, 0) + ratio * coordinate_of(b, second, 0), 0, method ? 1e-9 : 1e-5);
        check(coordinate_of(b, first, 0) > 10); /* angles go on beyond a turn */
    }
    free_build(b);
}

/* A rack that falls and turns a pinion: a = g / (1 + I / (m r^2)). */
static void racks_turn_pinions(void **unused) {
    (void)unused;
    build *b = start_build();
    const double I = 0.02, m = 2, r = 0.15;
    const int32_t pinion = add_wheel(b, I, O, Y);
    const int32_t rack = add_body(b, m, bo_v3(0.1, 0.1, 0.1), place_at(bo_v3(r, 0, 0)));
    const int32_t guide = add_joint(b, BOUGH_JOINT_PRISMATIC, BOUGH_WORLD, rack, place_at(bo_v3(r, 0, 0)));
    add_gear(b, guide, 0, pinion, 0, r);
    b->def.gravity[2] = -gravity;
    finish_build(b);
    use_method(b, "generalised-alpha");
    run_for(b, 1, 500);
    check_near(rate_of(b, guide, 0), -gravity / (1 + I / (m * r * r)), 5e-11);
    check_near(rate_of(b, pinion, 0), -rate_of(b, guide, 0) / r, 5e-10);
    free_build(b);
}

/* A nut on a screw of pitch 2 pi p: both coordinates of one cylindrical joint, a = g / (1 + I / (m p^2)). */
static void nuts_sink_on_screws(void **unused) {
    (void)unused;
    build *b = start_build();
    const double I = 3e-4, m = 0.5, p = 0.01;
    const int32_t nut = add_body(b, m, bo_v3(I, I, I), place_at(O));
    const int32_t screw = add_joint(b, BOUGH_JOINT_CYLINDRICAL, BOUGH_WORLD, nut, place_at(O));
    add_gear(b, screw, 0, screw, 1, -p);
    b->def.gravity[2] = -gravity;
    finish_build(b);
    const double rate = -gravity / (1 + I / (m * p * p));
    double error[2];
    for (int i = 0; i < 3; i++) {
        renew_state(b);
        use_method(b, i == 2 ? "generalised-alpha" : NULL);
        run_for(b, 1, 1000 << i);
        if (i < 2) { /* quaternions turn slower than they should, by (w dt)^2 / 12 */
            error[i] = rate_of(b, screw, 0) - rate;
            check_below(fabs(error[i] / rate), 3e-3);
            continue;
        }
        check_near(rate_of(b, screw, 0), rate, 5e-12);
        check_near(rate_of(b, screw, 1), rate / p, 1e-09);
        check_near(coordinate_of(b, screw, 0), p * coordinate_of(b, screw, 1), 1e-11);
    }
    check_order(error[0], error[1], 2, 0.1);
    free_build(b);
}

/* ---- distances ---- */

/* Two weights on a string turn about each other: the string pulls with (m1 m2 / (m1 + m2)) w^2 L. */
static void a_string_pulls_with_the_centripetal_force(void **unused) {
    (void)unused;
    build *b = start_build();
    const double m[2] = {0.3, 0.8}, L = 0.9, w = 4;
    for (int i = 0; i < 2; i++) {
        const double x = i == 0 ? -L * m[1] / (m[0] + m[1]) : L * m[0] / (m[0] + m[1]);
        add_body(b, m[i], bo_v3(1e-3, 1e-3, 1e-3), place_at(bo_v3(x, 0, 0)));
        b->bodies[i].twist[1] = w * x;
    }
    bough_joint_def *string = &b->joints[add_joint(b, BOUGH_JOINT_DISTANCE, 0, 1, place_at(O))];
    string->parent.pose = string->child.pose = bough_default_pose();
    finish_build(b);
    double wrench[6];
    run_for(b, 2, 4000);
    bough_multibody_joint_wrench(b->model, b->state, 0, wrench);
    const double pull = m[0] * m[1] / (m[0] + m[1]) * w * w * L;
    check_near(bo_norm(bo_load3(wrench)) / pull, 1, 2e-5);
    const bo_vec3 apart = bo_sub(position_of(b, 1), position_of(b, 0));
    check_near(bo_norm(apart), L, 5e-08);
    check_near(bo_dot(apart, bo_load3(wrench)) / (L * pull), -1, 1e-4); /* inwards */
    check_near(remainder(atan2(apart.y, apart.x) - w * 2, 2 * M_PI), 0, 1e-3);
    free_build(b);
}

/* A weight on a string that is let go at 60 degrees pulls at its lowest point with m g (3 - 2 cos 60) = 2 m g. */
static void a_weight_on_a_string_pulls_twice(void **unused) {
    (void)unused;
    build *b = start_build();
    const double L = 0.5, m = 0.2, start = M_PI / 3;
    add_body(b, m, bo_v3(1e-3, 1e-3, 1e-3), place_at(bo_v3(L * sin(start), 0, -L * cos(start))));
    bough_joint_def *string = &b->joints[add_joint(b, BOUGH_JOINT_DISTANCE, BOUGH_WORLD, 0, place_at(O))];
    string->child.pose = bough_default_pose();
    b->def.gravity[2] = -gravity;
    finish_build(b);
    double most = 0, lowest = 0, wrench[6];
    for (int i = 0; i < 4000; i++) {
        take_step(b, 2.5e-4);
        bough_multibody_joint_wrench(b->model, b->state, 0, wrench);
        most = fmax(most, bo_norm(bo_load3(wrench))), lowest = fmin(lowest, position_of(b, 0).z);
    }
    check_near(most / (m * gravity), 2, 2e-05);
    check_near(lowest, -L, 1e-6);
    check_near(bo_norm(bo_load3(b->state->v + 3)), 0, 1e-12); /* it does not turn */
    free_build(b);
}

/* ---- Cardan's joint ---- */

/* Two shafts at the angle c: tan(out) = cos(c) tan(in), speeds in the ratio cos(c) / (1 - sin^2(c) sin^2(in)), and
 * torques in the inverse one. */
static void cardan_joints_turn_unevenly(void **unused) {
    (void)unused;
    build *b = start_build();
    const double c = 0.7;
    double rates[] = {5};
    const bo_vec3 out = {sin(c), 0, cos(c)}, e = {cos(c), 0, -sin(c)};
    add_body(b, 1, bo_v3(0.01, 0.01, 0.01), place_at(bo_v3(0, 0, -0.3)));
    add_body(b, 1, bo_v3(0.01, 0.01, 0.02), place_along(bo_scale(0.3, out), out));
    const int32_t in_joint = add_hinge(b, BOUGH_WORLD, 0, bo_v3(0, 0, -0.3), Z);
    /* x across both shafts, y across the second */
    const bo_se3 cross = {{{Y.x, -e.x, out.x, Y.y, -e.y, out.y, Y.z, -e.z, out.z}}, O};
    add_joint(b, BOUGH_JOINT_UNIVERSAL, 0, 1, cross);
    const int32_t out_joint = add_hinge(b, BOUGH_WORLD, 1, bo_scale(0.3, out), out);
    add_motor(b, in_joint, 0);
    finish_build(b);
    b->state->drive = go_steadily, b->state->drive_data = rates;
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    double worst = 0, worst_ratio = 0, worst_torque = 0, slowest = INFINITY, fastest = 0;
    for (int i = 0; i < 4000; i++) {
        take_step(b, 5e-4);
        const double in = rates[0] * b->state->time, ratio = cos(c) / (1 - pow(sin(c) * sin(in), 2));
        const double found = rate_of(b, out_joint, 0) / rates[0];
        const double angle = coordinate_of(b, out_joint, 0);
        worst = fmax(worst, fabs(sin(angle) * cos(in) - cos(c) * sin(in) * cos(angle)));
        worst_ratio = fmax(worst_ratio, fabs(found - ratio));
        slowest = fmin(slowest, found), fastest = fmax(fastest, found);
        /* d ratio / dt, for what the motor has to give: I2 ratio ratio' w^2 */
        const double slope = cos(c) * pow(sin(c), 2) * sin(2 * in) / pow(1 - pow(sin(c) * sin(in), 2), 2);
        double wrench[6];
        bough_multibody_joint_wrench(b->model, b->state, in_joint, wrench);
        if (i > 100)
            worst_torque = fmax(worst_torque, fabs(wrench[5] - 0.02 * ratio * slope * rates[0] * rates[0]));
    }
    check_below(worst, 1e-5);
    check_below(worst_ratio, 1e-4);
    check_below(worst_torque, 0.0005);
    check_near(slowest, cos(c), 5e-05);
    check_near(fastest, 1 / cos(c), 1e-4);
    free_build(b);
}

/* ---- sliding ---- */

/* A bead on an arm that turns at w: r = r0 cosh(w t), and the arm pushes it sideways with 2 m w r'. */
static void beads_fly_out_along_turning_arms(void **unused) {
    (void)unused;
    double error[2];
    for (int round = 0; round < 2; round++) {
        build *b = start_build();
        double rates[] = {3};
        const double r0 = 0.1, m = 0.25;
        add_body(b, 1, bo_v3(0.01, 0.01, 0.01), place_at(O));
        add_body(b, m, bo_v3(1e-3, 1e-3, 1e-3), place_at(bo_v3(r0, 0, 0)));
        add_motor(b, add_hinge(b, BOUGH_WORLD, 0, O, Z), 0);
        const int32_t slide = add_joint(b, BOUGH_JOINT_PRISMATIC, 0, 1, place_along(bo_v3(r0, 0, 0), X));
        finish_build(b);
        b->state->drive = go_steadily, b->state->drive_data = rates;
        check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
        run_for(b, 0.8, 800 << round);
        const double t = b->state->time, w = rates[0];
        double wrench[6];
        bough_multibody_joint_wrench(b->model, b->state, slide, wrench);
        error[round] = coordinate_of(b, slide, 0) - r0 * (cosh(w * t) - 1);
        check_near(rate_of(b, slide, 0) / (r0 * w * sinh(w * t)), 1, 1e-4);
        const bo_vec3 side = {-sin(w * t), cos(w * t), 0};
        const double push = 2 * m * w * r0 * w * sinh(w * t);
        check_near(bo_dot(bo_load3(wrench), side) / push, 1, 1e-3);
        check_near(bo_norm(bo_load3(wrench)) / push, 1, 1e-3); /* and not along */
        free_build(b);
    }
    check_below(fabs(error[1]), 1e-5);
    check_order(error[0], error[1], 2, 0.3);
}

/* Down a plane that leans by c: g sin(c) along, m g cos(c) across; what turns goes on turning. */
static void pucks_slide_down_planes(void **unused) {
    (void)unused;
    build *b = start_build();
    const double c = 0.4, m = 0.6, spin = 7;
    const bo_vec3 normal = {sin(c), 0, cos(c)}, down = {cos(c), 0, -sin(c)};
    const bo_se3 place = place_along(bo_v3(0.2, 0.1, 0.5), normal);
    add_body(b, m, bo_v3(0.01, 0.01, 0.02), place);
    b->bodies[0].twist[5] = spin;
    const int32_t puck = add_joint(b, BOUGH_JOINT_PLANAR, BOUGH_WORLD, 0, place);
    b->def.gravity[2] = -gravity;
    finish_build(b);
    run_for(b, 1, 1000);
    double wrench[6];
    bough_multibody_joint_wrench(b->model, b->state, puck, wrench);
    check_near(bo_dot(bo_load3(wrench), normal), m * gravity * cos(c), 1e-9);
    check_near(bo_norm(bo_load3(wrench)), m * gravity * cos(c), 1e-9);
    check_near(bo_dot(bo_load3(b->state->v), down), gravity * sin(c), 5e-12);
    check_near(rate_of(b, puck, 2), spin, 5e-12);
    check_near(coordinate_of(b, puck, 2), spin, 1e-3);
    check_near(bo_dot(bo_sub(position_of(b, 0), place.t), normal), 0, 1e-13);
    free_build(b);
}

/* Along and about its axis nothing holds a sleeve; across it bears the weight, with the moment of its overhang. */
static void sleeves_slide_and_turn(void **unused) {
    (void)unused;
    build *b = start_build();
    const double m = 0.6, out = 0.3;
    add_body(b, m, bo_v3(0.02, 0.02, 0.01), place_along(bo_v3(out, 0, 0), X));
    b->bodies[0].twist[2] = 0.8, b->bodies[0].twist[5] = 6;
    const int32_t sleeve = add_joint(b, BOUGH_JOINT_CYLINDRICAL, BOUGH_WORLD, 0, place_along(O, X));
    b->def.gravity[2] = -gravity;
    finish_build(b);
    run_for(b, 1, 1000);
    double wrench[6];
    bough_multibody_joint_wrench(b->model, b->state, sleeve, wrench);
    check_near(coordinate_of(b, sleeve, 0), 0.8, 5e-12);
    check_near(coordinate_of(b, sleeve, 1), 6, 0.0005);
    check_near(wrench[2], m * gravity, 1e-9);
    check_near(bo_norm(bo_load3(wrench)), m * gravity, 1e-9);
    check_near(wrench[4], -m * gravity * out, 2e-5); /* about the child's frame, `out` behind its centre */
    free_build(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliders_follow_the_crank),
        cmocka_unit_test(joints_bear_what_inverse_dynamics_says),
        cmocka_unit_test(gears_share_a_torque),
        cmocka_unit_test(racks_turn_pinions),
        cmocka_unit_test(nuts_sink_on_screws),
        cmocka_unit_test(a_string_pulls_with_the_centripetal_force),
        cmocka_unit_test(a_weight_on_a_string_pulls_twice),
        cmocka_unit_test(cardan_joints_turn_unevenly),
        cmocka_unit_test(beads_fly_out_along_turning_arms),
        cmocka_unit_test(pucks_slide_down_planes),
        cmocka_unit_test(sleeves_slide_and_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
