/* Equilibria of systems that bend: loops that close in more than one way, and targets along the way of the motors. */
#include "rods.h"
#include "vibrations.h"

#include "base/rotation.h"

static const bo_vec3 O = {0, 0, 0}, Y = {0, 1, 0};
static const double g = 9.81;

/* ---- a loop that closes in two ways ---- */

enum { FIRST, SECOND, HAND };
static const double bar_length = 0.2, lever = 0.045;

static rod_def plastic_bar(void) {
    return (rod_def){.model = BOUGH_MATERIAL_STVK,
                     .length = bar_length,
                     .thickness = 8e-3,
                     .young = 2e9,
                     .density = 1100,
                     .cells = 16,
                     .modes = 4,
                     .r = 14};
}

static void hang_on_bar(build *b, int32_t part, bough_joint_kind kind, bo_vec3 place) {
    bough_joint_def *joint = &b->joints[b->def.joint_count++];
    *joint = bough_default_joint_def();
    joint->kind = kind;
    joint->parent.body = b->def.body_count + part, joint->parent.interface_index = 1;
    joint->child.body = HAND;
    bo_store3(joint->child.pose.position, bo_se3_apply(bo_se3_inverse(body_at_start(b, HAND)), place));
}

/* Two bars above each other, on a motor and on a hinge; the hand across their ends is held by a universal joint and a
 * ball. It may turn about the first bar, if the second one bends out of the way. */
static build *make_forearm(const bough_component *bar) {
    build *b = start_build();
    const bo_vec3 second = {0, 0, -lever}, end = {bar_length, 0, 0};
    add_body(b, 0.03, bo_v3(1e-5, 1e-5, 1e-5), place_at(O));
    add_body(b, 0.03, bo_v3(1e-5, 1e-5, 1e-5), place_at(second));
    add_body(b, 0.15, bo_v3(1e-4, 1e-4, 5e-5), place_at(bo_add(end, bo_v3(0.01, 0, -0.02))));
    add_motor(b, add_hinge(b, BOUGH_WORLD, FIRST, O, Y), 0);
    add_hinge(b, BOUGH_WORLD, SECOND, second, Y);
    add_part(b, bar, FIRST, place_at(O));
    add_part(b, bar, SECOND, place_at(second));
    hang_on_bar(b, 0, BOUGH_JOINT_UNIVERSAL, end);
    hang_on_bar(b, 1, BOUGH_JOINT_BALL, bo_add(end, second));
    b->def.gravity[2] = -g;
    finish_build(b);
    return b;
}

/* The hand is turned over, and the second bar leads to the other side of the first. */
static void turn_over(build *b) {
    const bo_mat3 half = bo_exp3(bo_v3(M_PI, 0, 0));
    const bo_vec3 x = position_of(b, HAND), end = {bar_length, 0, 0};
    const bo_quat q = bo_quat_from_matrix(half), r = bo_quat_exp(bo_v3(0, -2 * lever / bar_length, 0));
    double *hand = b->state->u + 7 * HAND, *second = b->state->u + 7 * SECOND;
    bo_store3(hand, bo_add(end, bo_mat_vec(half, bo_sub(x, end))));
    hand[3] = q.w, hand[4] = q.x, hand[5] = q.y, hand[6] = q.z;
    second[3] = r.w, second[4] = r.x, second[5] = r.y, second[6] = r.z;
}

static double slowest(build *b) {
    double squares[200];
    vibrations(b->ctx, b->model, b->state, squares);
    return squares[0];
}

/* Whoever sees such a loop end elsewhere than it was settled at the start need not look for a fault: both are minima of
 * the energy, and a step of half a second's worth of time leaves either alone. */
static void loops_of_bars_settle_in_two_ways(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const rod_def rod = plastic_bar();
    bough_component *bar = cook_rod(ctx, &rod);
    double energy[2];
    bo_vec3 hand[2];
    for (int way = 0; way < 2; way++) {
        build *b = make_forearm(bar);
        if (way == 1)
            turn_over(b);
        check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
        check(slowest(b) > 100);
        energy[way] = energy_of(b), hand[way] = position_of(b, HAND);
        run_for(b, 0.5, 500);
        check_below(bo_norm(bo_sub(position_of(b, HAND), hand[way])), 2e-14);
        check_below(fabs(energy_of(b) - energy[way]), 2e-14);
        free_build(b);
    }
    check(fabs(energy[1] - energy[0]) > 1e-3);
    check(bo_norm(bo_sub(hand[1], hand[0])) > 0.03);
    bough_component_destroy(ctx, bar);
    bough_context_destroy(ctx);
}

/* Errors of forces are measured against the weight that everything bears: a chain that hangs at rest is right at once,
 * although nothing moves that an error could be a part of. */
static void chains_at_rest_take_a_step_at_once(void **unused) {
    (void)unused;
    static const char *const methods[] = {NULL, "bdf2", "generalised-alpha", "tr-bdf2"};
    for (int m = 0; m < 4; m++) {
        build *b = start_build();
        for (int i = 0; i < 6; i++) {
            const bo_vec3 at = {0.3 * i, 0.1 * i, 0};
            add_link(b, 0.2, at, bo_add(at, bo_v3(0.3, 0.1, 0)));
            add_joint(b, BOUGH_JOINT_BALL, i - 1, i, place_at(at));
        }
        b->def.gravity[0] = g;
        finish_build(b);
        check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
        use_method(b, methods[m]);
        int most = 0;
        for (int i = 0; i < 20; i++) {
            take_step(b, 1e-3);
            most = b->state->iterations > most ? b->state->iterations : most;
        }
        check(most <= (methods[m] ? 0 : 1)); /* the engine's own looks once in any case */
        free_build(b);
    }
}

/* ---- targets of a rigid robot are its kinematics ---- */

enum { LINKS = 3 };
static const double link_length = 0.3;

static double angle_at(int32_t motor, double t) {
    return (1 - 0.3 * motor) * sin(1.5 * t + motor) - sin(motor) * (1 - 0.3 * motor);
}

static void follow_angles(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data;
    *place = angle_at(motor, time), *rate = NAN; /* equilibria do not ask */
}

/* A yaw and two pitches, one on the other. */
static build *make_arm(void) {
    build *b = start_build();
    for (int i = 0; i < LINKS; i++) {
        const bo_vec3 from = {0, 0, i * link_length}, to = {0, 0, (i + 1) * link_length};
        add_link(b, 0.5, from, to);
        add_motor(b, add_hinge(b, i - 1, i, from, i == 0 ? bo_v3(0, 0, 1) : Y), 0);
    }
    b->def.gravity[2] = -g;
    finish_build(b);
    b->state->drive = follow_angles;
    return b;
}

/* The end of the last link. */
static bo_vec3 reach_at(double t) {
    bo_vec3 x = {0, 0, link_length};
    bo_mat3 R = bo_exp3(bo_v3(0, 0, angle_at(0, t)));
    for (int i = 1; i < LINKS; i++) {
        R = bo_mat_mul(R, bo_exp3(bo_v3(0, angle_at(i, t), 0)));
        x = bo_add(x, bo_mat_vec(R, bo_v3(0, 0, link_length)));
    }
    return x;
}

static void targets_of_rigid_robots_are_their_kinematics(void **unused) {
    (void)unused;
    enum { COUNT = 121 };
    build *b = make_arm();
    bough_frame_def tip = bough_default_frame_def();
    bough_pose poses[COUNT];
    bough_multibody_path path;
    tip.body = LINKS - 1, tip.pose.position[2] = 0.5 * link_length;
    bough_targets_def def = bough_default_targets_def();
    def.from = 0.5, def.count = COUNT, def.frame_count = 1, def.frames = &tip;
    check_ok(b->ctx, bough_multibody_targets(b->ctx, b->model, b->state, &def, poses, &path));
    double worst = 0;
    for (int k = 0; k < COUNT; k++)
        worst = fmax(worst, bo_norm(bo_sub(bo_load3(poses[k].position), reach_at(0.5 + k / 30.))));
    check_below(worst, 3e-13);
    check_int(path.done, COUNT);
    check_int(path.snaps, 0);
    check_int(path.halvings, 0);
    check(path.iterations < 6 * COUNT && path.factors < 2 * COUNT); /* warm starts */
    free_build(b);
}

static bool stop_at_ten(void *user, const bough_progress *progress) {
    int *calls = user;
    return strcmp(progress->what, "targets") != 0 || ++*calls <= 9;
}

/* Whoever ends it early keeps what was done, and wrong wishes are told before anything moves. */
static void targets_end_early_and_refuse_nonsense(void **unused) {
    (void)unused;
    enum { COUNT = 30 };
    int calls = 0;
    build *b = make_arm();
    bough_context_def context = bough_default_context_def();
    context.progress = stop_at_ten, context.progress_user = &calls;
    bough_context *ctx = bough_context_create(&context);
    bough_frame_def tip = bough_default_frame_def();
    bough_pose poses[COUNT] = {0};
    bough_multibody_path path;
    tip.body = LINKS - 1, tip.pose.position[2] = 0.5 * link_length;
    bough_targets_def def = bough_default_targets_def();
    def.count = COUNT, def.frame_count = 1, def.frames = &tip;
    check_int(bough_multibody_targets(ctx, b->model, b->state, &def, poses, &path), BOUGH_CANCELLED);
    check_int(path.done, 10);
    check_below(bo_norm(bo_sub(bo_load3(poses[9].position), reach_at(9 / 30.))), 1e-12);
    check(poses[10].rotation[0] == 0);
    tip.body = LINKS;
    check_fails(b->ctx, bough_multibody_targets(b->ctx, b->model, b->state, &def, poses, NULL), BOUGH_ERROR_ARGUMENT,
                "frame 0 of the targets lies on nothing");
    tip.body = 0, def.every = 0;
    check_fails(b->ctx, bough_multibody_targets(b->ctx, b->model, b->state, &def, poses, NULL), BOUGH_ERROR_ARGUMENT,
                "a positive time between them");
    def.cookie = 0;
    check_fails(b->ctx, bough_multibody_targets(b->ctx, b->model, b->state, &def, poses, NULL), BOUGH_ERROR_ARGUMENT,
                "bough_default_targets_def()");
    check_fails(b->ctx, bough_multibody_follow(b->ctx, b->model, b->state, NAN, NULL), BOUGH_ERROR_ARGUMENT,
                "it must be finite");
    bough_context_destroy(ctx);
    free_build(b);
}

/* ---- slow motions approach their targets ---- */

/* From 0 to 1 with five derivatives that are 0 at either end. */
static double rise(double x, double *slope) {
    x = x < 0 ? 0 : x > 1 ? 1 : x;
    *slope = 2772 * pow(x * (1 - x), 5);
    return pow(x, 6) * (462 + x * (-1980 + x * (3465 + x * (-3080 + x * (1386 - 252 * x)))));
}

typedef struct {
    double duration;
} swing;

static void swing_up(void *data, int32_t motor, double time, double *place, double *rate) {
    const swing *s = data;
    (void)motor;
    *place = 1.2 * rise(time / s->duration, rate);
    *rate *= 1.2 / s->duration;
}

/* A bar on a motor, with a weight at its end. */
static build *make_swing(const rod_def *rod, const bough_component *bar, swing *s) {
    build *b = start_build();
    add_body(b, 0.1, bo_v3(1e-4, 1e-4, 1e-4), place_at(O));
    add_body(b, rod->tip_mass, bo_v3(rod->tip_inertia, rod->tip_inertia, rod->tip_inertia),
             place_at(bo_v3(rod->length, 0, 0)));
    add_part(b, bar, 0, place_at(O));
    add_motor(b, add_hinge(b, BOUGH_WORLD, 0, O, Y), 0);
    weld_tip(b, 0, 1);
    b->def.gravity[2] = -g;
    finish_build(b);
    b->state->drive = swing_up, b->state->drive_data = s;
    return b;
}

/* The largest distance of the weight from its target while the motor moves. */
static double lag_of(const rod_def *rod, const bough_component *bar, double duration) {
    enum { COUNT = 40, STEPS = 50 };
    swing s = {duration};
    build *target = make_swing(rod, bar, &s), *b = make_swing(rod, bar, &s);
    bough_multibody_path path = {0};
    double worst = 0;
    check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
    check(position_of(b, 1).z < -2e-3); /* the weight bends the bar */
    check_ok(target->ctx, bough_multibody_settle(target->ctx, target->model, target->state));
    for (int k = 1; k <= COUNT; k++) {
        run_for(b, duration / COUNT, STEPS);
        check_ok(target->ctx,
                 bough_multibody_follow(target->ctx, target->model, target->state, k * duration / COUNT, &path));
        worst = fmax(worst, bo_norm(bo_sub(position_of(b, 1), position_of(target, 1))));
    }
    check_int(path.snaps, 0);
    free_build(b), free_build(target);
    return worst;
}

static void slow_motions_approach_their_targets(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    rod_def rod = plastic_bar();
    rod.tip_mass = 0.05, rod.tip_inertia = 1e-5;
    bough_component *bar = cook_rod(ctx, &rod);
    const double fast = lag_of(&rod, bar, 2), slow = lag_of(&rod, bar, 4), slowest_of_all = lag_of(&rod, bar, 20);
    check_order(fast, slow, 2, 0.03);
    check_near(fast / slowest_of_all / 100, 1, 0.03); /* ten times slower */
    bough_component_destroy(ctx, bar);
    bough_context_destroy(ctx);
}

/* ---- snaps ---- */

/* A weight on a rod that stands on a spring, whose base the motor tilts. With theta and phi the angles of rod and base
 * against the vertical: k (theta - phi) = m g l sin theta. */
static const double weight = 1, arm = 0.5, spring = 3; /* less than m g l = 4.9: it falls to one side */

static void tilt(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data, (void)motor;
    *place = 0.2 * time - 1, *rate = 0.2;
}

static build *make_tipping_rod(void) {
    build *b = start_build();
    add_body(b, 0.2, bo_v3(1e-3, 1e-3, 1e-3), place_at(O));
    add_body(b, weight, bo_v3(1e-3, 1e-3, 1e-3), place_at(bo_v3(0, 0, arm)));
    add_motor(b, add_hinge(b, BOUGH_WORLD, 0, O, Y), 0);
    const int32_t joint = add_hinge(b, 0, 1, O, Y);
    b->joints[joint].name = "spring", b->joints[joint].stiffness[0] = spring;
    b->def.gravity[2] = -g;
    finish_build(b);
    b->state->drive = tilt;
    return b;
}

/* The tilt at which the rod can stay no more: the largest of theta - m g l / k sin theta. */
static void rods_on_springs_snap_where_their_equilibrium_ends(void **unused) {
    (void)unused;
    build *b = make_tipping_rod();
    const double ratio = weight * g * arm / spring, theta = -acos(1 / ratio), end = theta - ratio * sin(theta);
    bough_multibody_path path = {0};
    check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
    for (int k = 1; k <= 100; k++) {
        check_ok(b->ctx, bough_multibody_follow(b->ctx, b->model, b->state, 0.1 * k, &path));
        const double phi = coordinate_of(b, 0, 0), turned = phi + coordinate_of(b, 1, 0);
        check_below(fabs(spring * (turned - phi) - weight * g * arm * sin(turned)), 3e-12);
        check((turned > 0) == (path.snaps > 0));
    }
    check_int(path.snaps, 1);
    check_near(path.first.time, (end + 1) / 0.2, 0.1 / 256);
    check_int(path.first.joint, 1);
    check(path.first.turn > 1.5);
    free_build(b);
}

/* The rod stands upright and a motor makes it longer: with m g l > k it must fall to either side, although upright it
 * is still in balance. */
static void lengthen(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data, (void)motor;
    *place = 0.05 * time, *rate = 0.05;
}

static void upright_rods_that_become_too_long_give_way(void **unused) {
    (void)unused;
    const double stands = 0.2, critical = spring / (weight * g);
    build *b = start_build();
    add_body(b, 1e-3, bo_v3(1e-6, 1e-6, 1e-6), place_at(O));
    add_body(b, weight, bo_v3(1e-3, 1e-3, 1e-3), place_at(bo_v3(0, 0, stands)));
    const int32_t joint = add_hinge(b, BOUGH_WORLD, 0, O, Y);
    b->joints[joint].stiffness[0] = spring;
    add_motor(b, add_joint(b, BOUGH_JOINT_PRISMATIC, 0, 1, place_at(bo_v3(0, 0, stands))), 0);
    b->def.gravity[2] = -g;
    finish_build(b);
    b->state->drive = lengthen;
    bough_multibody_path path = {0};
    check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
    for (int k = 1; k <= 60; k++) {
        check_ok(b->ctx, bough_multibody_follow(b->ctx, b->model, b->state, 0.1 * k, &path));
        const double length = stands + 0.05 * b->state->time, turned = coordinate_of(b, 0, 0);
        check_below(fabs(spring * turned - weight * g * length * sin(turned)), 3e-12);
        check((fabs(turned) > 0.01) == (length > critical * 1.001));
    }
    check_int(path.snaps, 1);
    check_near(path.first.time, (critical - stands) / 0.05, 0.05);
    free_build(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_of_bars_settle_in_two_ways),
        cmocka_unit_test(chains_at_rest_take_a_step_at_once),
        cmocka_unit_test(targets_of_rigid_robots_are_their_kinematics),
        cmocka_unit_test(targets_end_early_and_refuse_nonsense),
        cmocka_unit_test(slow_motions_approach_their_targets),
        cmocka_unit_test(rods_on_springs_snap_where_their_equilibrium_ends),
        cmocka_unit_test(upright_rods_that_become_too_long_give_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
