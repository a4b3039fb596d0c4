/* Loops that hold more than they need to. */
#include "build.h"

static const bo_vec3 Z = {0, 0, 1}, O = {0, 0, 0};
static const double g = 9.81;

/* Largest error of the energy over a run, against its start. */
static double energy_drift(build *b, double duration, int steps, double *drift) {
    const double start = energy_of(b);
    double worst = 0;
    *drift = 0;
    for (int i = 0; i < steps; i++) {
        take_step(b, duration / steps);
        worst = fmax(worst, fabs(energy_of(b) - start));
        *drift = fmax(*drift, b->state->drift);
    }
    return worst;
}

static void expect_redundant(const build *b, int32_t expected) {
    check_int(bough_multibody_redundant(b->model, 0, NULL), expected);
    for (int32_t i = 0; i < expected; i++) {
        int32_t joint = -1;
        bough_multibody_redundant(b->model, i, &joint);
        check(joint >= 0 && joint < b->def.joint_count);
    }
}

/* ---- Bricard's mechanism ---- */

/* Six links of 1 m and 1 kg along the edges of a cube, the last of them held, with a hinge across both links at each
 * corner. By counting it could not move; it does. */
static build *make_bricard(void) {
    static const bo_vec3 corners[6] = {{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
    build *b = start_build();
    for (int i = 0; i < 5; i++)
        add_link(b, 1, corners[i], corners[i + 1]);
    for (int i = 0; i < 6; i++) {
        const bo_vec3 before = bo_sub(corners[i], corners[(i + 5) % 6]);
        const bo_vec3 after = bo_sub(corners[(i + 1) % 6], corners[i]);
        add_hinge(b, i - 1, i == 5 ? BOUGH_WORLD : i, corners[i], bo_cross(before, after));
    }
    b->def.gravity[1] = -g;
    finish_build(b);
    return b;
}

static void bricards_mechanism_moves(void **unused) {
    (void)unused;
    build *b = make_bricard();
    expect_redundant(b, 1);
    double error[2], drift[2], fell = 0;
    for (int i = 0; i < 2; i++) {
        renew_state(b);
        error[i] = energy_drift(b, 2, 2000 << i, &drift[i]);
        for (int k = 0; k < 5; k++)
            fell = fmax(fell, fabs(coordinate_of(b, k, 0)));
    }
    check(fell > 0.5);
    check_below(error[1] / (5 * g), 5e-06);
    check_below(drift[1], 5e-07);
    check_below(error[1] / error[0], 0.27); /* second order at least */
    free_build(b);
}

/* Methods that keep to positions and velocities agree with the engine's own steps on where it is after a second. */
static void bricards_mechanism_moves_by_all_methods(void **unused) {
    (void)unused;
    static const char *const methods[] = {"bdf2", "generalised-alpha", "tr-bdf2", "sdirk"};
    build *b = make_bricard();
    run_for(b, 1, 4000);
    const bo_vec3 place = position_of(b, 2);
    check(bo_norm(bo_sub(place, bo_v3(1, -1, 0.5))) > 0.1);
    for (int m = 0; m < 4; m++) {
        renew_state(b);
        use_method(b, methods[m]);
        run_for(b, 1, 500);
        check_below(bo_norm(bo_sub(position_of(b, 2), place)), 5e-05);
        check_below(b->state->drift, 1e-9);
    }
    free_build(b);
}

/* ---- doors ---- */

/* A door on two hinges in one line: all five directions of the second are held twice. It swings as on one, about an
 * axis that leans by `lean`: a pendulum with g sin(lean). */
static build *make_door(int hinges, double lean) {
    build *b = start_build();
    const bo_mat3 R = bo_exp3(bo_v3(lean, 0, 0)); /* the axis: z, turned towards -y */
    const bo_vec3 axis = bo_mat_vec(R, Z), centre = bo_mat_vec(R, bo_v3(0.4, 0, 0));
    add_body(b, 20, bo_v3(20 * 4 / 12., 20 * 4.64 / 12, 20 * 0.64 / 12), (bo_se3){R, centre});
    for (int i = 0; i < hinges; i++)
        add_hinge(b, BOUGH_WORLD, 0, bo_scale(i == 0 ? -0.8 : 0.8 * i, axis), axis);
    b->def.gravity[2] = -g;
    finish_build(b);
    return b;
}

static void doors_swing_on_any_number_of_hinges(void **unused) {
    (void)unused;
    const double lean = 0.3;
    build *one = make_door(1, lean), *two = make_door(2, lean), *three = make_door(3, lean);
    expect_redundant(one, 0), expect_redundant(two, 5), expect_redundant(three, 10);
    /* let go a quarter of a turn from below; energy says how fast it passes there */
    const double inertia = 20 * 0.64 / 12 + 20 * 0.16, fastest = sqrt(2 * 20 * g * sin(lean) * 0.4 / inertia);
    double most = 0;
    for (int i = 0; i < 2000; i++) {
        take_step(one, 1e-3), take_step(two, 1e-3), take_step(three, 1e-3);
        const double angle = coordinate_of(one, 0, 0);
        check_near(coordinate_of(two, 0, 0), angle, 1e-6);
        check_near(coordinate_of(three, 0, 0), angle, 1e-6);
        most = fmax(most, fabs(rate_of(two, 0, 0)));
    }
    check_near(most / fastest, 1, 1e-4);
    free_build(one), free_build(two), free_build(three);
}

/* However the hinges share it, they bear the door together: its weight, and the moment of its width. */
static void hinges_share_the_weight_of_a_door(void **unused) {
    (void)unused;
    for (int hinges = 1; hinges <= 3; hinges++) {
        build *b = make_door(hinges, 0);
        run_for(b, 0.5, 500);
        bo_vec3 force = {0, 0, 0}, moment = {0, 0, 0};
        for (int i = 0; i < hinges; i++) {
            double wrench[6];
            bough_multibody_joint_wrench(b->model, b->state, i, wrench);
            check(bo_norm(bo_load3(wrench)) < 20 * 20 * g); /* none fights the others */
            const bo_vec3 at = {0, 0, i == 0 ? -0.8 : 0.8 * i};
            force = bo_add(force, bo_load3(wrench));
            moment = bo_add(moment, bo_add(bo_load3(wrench + 3), bo_cross(at, bo_load3(wrench))));
        }
        check_near(bo_norm(bo_sub(force, bo_v3(0, 0, 20 * g))), 0, 1e-9);
        check_near(bo_norm(bo_sub(moment, bo_v3(0, -20 * g * 0.4, 0))), 0, 1e-6);
        free_build(b);
    }
}

/* ---- a start from which loops look more redundant than they are ---- */

/* Parallel cranks begin in line with their rod, where the closing hinge holds less than elsewhere. The motor takes them
 * through; the rod stays level. */
static void go(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data, (void)motor;
    *place += 5 * time, *rate = 5;
}

static void slider_cranks_may_begin_at_their_dead_centre(void **unused) {
    (void)unused;
    const double r = 0.1, l = 0.3;
    build *b = start_build();
    add_link(b, 0.2, O, bo_v3(r, 0, 0));
    add_link(b, 0.3, bo_v3(r, 0, 0), bo_v3(r + l, 0, 0));
    add_body(b, 0.5, bo_v3(1e-3, 1e-3, 1e-3), place_at(bo_v3(r + l, 0, 0)));
    add_motor(b, add_hinge(b, BOUGH_WORLD, 0, O, Z), 0);
    add_hinge(b, 0, 1, bo_v3(r, 0, 0), Z);
    add_hinge(b, 1, 2, bo_v3(r + l, 0, 0), Z);
    add_joint(b, BOUGH_JOINT_PRISMATIC, BOUGH_WORLD, 2, place_along(bo_v3(r + l, 0, 0), bo_v3(1, 0, 0)));
    finish_build(b);
    b->state->drive = go;
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    double worst = 0;
    for (int i = 0; i < 2000; i++) {
        take_step(b, 1e-3);
        const double q = 5 * b->state->time, x = r * cos(q) + sqrt(l * l - pow(r * sin(q), 2));
        worst = fmax(worst, fabs(position_of(b, 2).x - x));
    }
    check_below(worst, 1e-5);
    free_build(b);
}

/* A square of four hinged links that stand in a plane, with a motor: the coupler of a parallelogram keeps its
 * direction, and every point of it goes round on the crank's circle. */
static void couplers_of_parallelograms_keep_their_direction(void **unused) {
    (void)unused;
    const double r = 0.2, l = 0.5;
    build *b = start_build();
    const bo_vec3 A = O, B = {0, 0, l}, up = {0, r, 0};
    add_link(b, 0.3, A, bo_add(A, up));
    add_link(b, 0.3, B, bo_add(B, up));
    add_link(b, 0.6, bo_add(A, up), bo_add(B, up));
    const bo_vec3 X = {1, 0, 0};
    add_hinge(b, BOUGH_WORLD, 0, A, X);
    add_hinge(b, BOUGH_WORLD, 1, B, X);
    add_hinge(b, 0, 2, bo_add(A, up), X);
    add_hinge(b, 1, 2, bo_add(B, up), X);
    add_motor(b, 0, 0);
    b->def.gravity[1] = -g;
    finish_build(b);
    expect_redundant(b, 3);
    b->state->drive = go;
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    const bo_mat3 R0 = axes_of_body(b, 2);
    double worst = 0;
    for (int i = 0; i < 2000; i++) { /* to before the links lie in line, where it might fold */
        if (5 * (b->state->time + 1e-3) > M_PI / 2 - 0.3)
            break;
        take_step(b, 1e-3);
        const double q = 5 * b->state->time;
        const bo_vec3 expected = {0, r * cos(q), 0.5 * l + r * sin(q)};
        worst = fmax(worst, bo_norm(bo_sub(position_of(b, 2), expected)));
        worst = fmax(worst, bo_norm(bo_log3(bo_mat_tmul(R0, axes_of_body(b, 2)))));
    }
    check_below(worst, 1e-5);
    free_build(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bricards_mechanism_moves),
        cmocka_unit_test(bricards_mechanism_moves_by_all_methods),
        cmocka_unit_test(doors_swing_on_any_number_of_hinges),
        cmocka_unit_test(hinges_share_the_weight_of_a_door),
        cmocka_unit_test(slider_cranks_may_begin_at_their_dead_centre),
        cmocka_unit_test(couplers_of_parallelograms_keep_their_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
