/* Momenta and energy of rods that bend far while they fly, and of loops with a rod in them. */
#include "rods.h"

#include "multibody/multibody.h"

static const bo_vec3 O = {0, 0, 0};

/* ---- hub, rod and ball, in free flight ---- */

typedef struct {
    double mass;
    bo_vec3 inertia;
} hub;
static const hub heavy = {1, {0.4, 0.6, 0.5}}, light = {0.5, {1e-3, 1e-3, 1e-3}};

static build *make_flyer(const hub *of, const rod_def *rod, const bough_component *component, bool held) {
    build *b = start_build();
    const double J = rod->tip_inertia;
    add_body(b, of->mass, of->inertia, place_at(O));
    add_body(b, rod->tip_mass, bo_v3(J, J, J), place_at(bo_v3(rod->length, 0, 0)));
    add_part(b, component, 0, place_at(O));
    weld_tip(b, 0, 1);
    if (held)
        add_joint(b, BOUGH_JOINT_WELD, BOUGH_WORLD, 0, place_at(O));
    finish_build(b);
    return b;
}

/* Bent by a force on the ball until that is 7 cm off, then let go while all flies and turns, `spin` times 2.3 rad/s. */
static build *bend_and_throw(const hub *of, const rod_def *rod, const bough_component *component, double spin) {
    build *bent = make_flyer(of, rod, component, true), *b = make_flyer(of, rod, component, false);
    const double force = 0.07 * 3 * rod->young * rod_moment(rod) / pow(rod->length, 3);
    bent->state->force[6 + 1] = 0.6 * force, bent->state->force[6 + 2] = 0.8 * force;
    check_ok(bent->ctx, bough_multibody_settle(bent->ctx, bent->model, bent->state));
    const bo_vec3 tip = position_of(bent, 1);
    check_near(hypot(tip.y, tip.z), 0.07, 0.005);
    memcpy(b->state->u, bent->state->u, (size_t)bough_multibody_position_count(b->model) * sizeof(double));
    const bo_vec3 v = {0.3, -0.2, 0.4}, w = {0.5 * spin, spin, -2 * spin};
    for (int i = 0; i < 2; i++) {
        bo_store3(b->state->v + 6 * i, bo_add(v, bo_cross(w, position_of(b, i))));
        bo_store3(b->state->v + 6 * i + 3, w);
    }
    bough_multibody_restart(b->state);
    free_build(bent);
    return b;
}

typedef struct {
    double momentum, angular, energy, drift; /* largest relative errors of a flight */
    double highest, last;                    /* energy over that of the start */
    bo_vec3 end;                             /* where the ball is */
} losses;

static losses watch_flight(build *b, double duration, double dt) {
    const bough_multibody_energies start = measure(b);
    const bo_vec3 P = bo_load3(start.momentum), L = bo_load3(start.angular_momentum);
    const double E = energy_of(b);
    losses worst = {0};
    for (int i = 0; i < (int)lround(duration / dt); i++) {
        take_step(b, dt);
        const bough_multibody_energies now = measure(b);
        worst.momentum = fmax(worst.momentum, bo_norm(bo_sub(bo_load3(now.momentum), P)) / bo_norm(P));
        worst.angular = fmax(worst.angular, bo_norm(bo_sub(bo_load3(now.angular_momentum), L)) / bo_norm(L));
        worst.last = energy_of(b) / E, worst.highest = fmax(worst.highest, worst.last);
        worst.energy = fmax(worst.energy, fabs(worst.last - 1));
        worst.drift = fmax(worst.drift, b->state->drift);
    }
    worst.end = position_of(b, 1);
    free_build(b);
    return worst;
}

static losses fly(const hub *of, const rod_def *rod, const bough_component *component, const char *method, double dt) {
    build *b = bend_and_throw(of, rod, component, 1);
    if (method)
        use_method(b, method);
    return watch_flight(b, 0.4, dt);
}

static losses fly_with_momenta(const hub *of, const rod_def *rod, const bough_component *component, double dt) {
    build *b = bend_and_throw(of, rod, component, 1);
    bo_mb_keep_momenta(bo_mb(b->state));
    return watch_flight(b, 0.4, dt);
}

static void bent_rods_keep_their_momenta_in_flight(void **unused) {
    (void)unused;
    static const char *const methods[] = {NULL, "bdf2", "generalised-alpha", "tr-bdf2", "sdirk"};
    bough_context *ctx = test_context(1);
    const rod_def rod = default_rod();
    bough_component *component = cook_rod(ctx, &rod);
    for (int m = 0; m < 5; m++) {
        const losses x = fly(&heavy, &rod, component, methods[m], 5e-4);
        check_below(x.momentum, 1e-5);
        check_below(x.angular, 1e-5);
        check_below(x.energy, 1e-5);
        check_below(x.drift, m == 0 ? 1e-5 : 1e-7);
        if (m > 0)
            continue;
        const losses fine = fly(&heavy, &rod, component, methods[m], 2.5e-4);
        check_order(x.momentum, fine.momentum, 2, 0.1);
        check_order(x.angular, fine.angular, 2, 0.1);
        check_order(x.energy, fine.energy, 2, 0.1);
    }
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

/* A light hub is shaken by the rod, at 13 Hz: the engine's own steps lose more, momenta by second order. Methods of
 * second order with one step do better. */
static void light_hubs_lose_more(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const rod_def rod = default_rod();
    bough_component *component = cook_rod(ctx, &rod);
    const losses coarse = fly(&light, &rod, component, NULL, 2.5e-4),
                 fine = fly(&light, &rod, component, NULL, 1.25e-4);
    check_order(coarse.momentum, fine.momentum, 2, 0.1);
    check_order(coarse.angular, fine.angular, 2, 0.1);
    check_below(fine.momentum, 1e-5);
    check_below(fine.angular, 1e-5);
    check_below(fine.energy, 1e-4);
    static const char *const methods[] = {"generalised-alpha", "tr-bdf2", "sdirk"};
    for (int m = 0; m < 3; m++) {
        const losses x = fly(&light, &rod, component, methods[m], 2.5e-4);
        check_below(x.momentum, 1e-5);
        check_below(x.angular, 1e-5);
        check_below(x.energy, 1e-5);
    }
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

#define ROUNDED 1e-11

/* As runs do it: momenta are kept to rounding, the motion is still of second order, and no more energy is lost. */
static void runs_keep_momenta_to_rounding(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const rod_def rod = default_rod();
    bough_component *component = cook_rod(ctx, &rod);
    const hub *const hubs[] = {&heavy, &light};
    for (int h = 0; h < 2; h++) {
        losses x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = fly_with_momenta(hubs[h], &rod, component, 2.5e-4 / (1 << i));
            check_below(x[i].momentum, ROUNDED);
            check_below(x[i].angular, ROUNDED);
        }
        check_order(bo_norm(bo_sub(x[1].end, x[0].end)), bo_norm(bo_sub(x[2].end, x[1].end)), 2, 0.1);
        check_order(x[1].energy, x[2].energy, 2, 0.1);
        check_below(x[0].energy, 1.01 * fly(hubs[h], &rod, component, NULL, 2.5e-4).energy);
    }
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

/* At 18 rad/s in steps of 1 ms; a minute by BDF2 alone changes the angular momentum of the light hub by 70 %. The first
 * step, which is of first order, may add a little energy. */
static void spinning_hubs_make_no_energy(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const rod_def rod = default_rod();
    bough_component *component = cook_rod(ctx, &rod);
    const hub *const hubs[] = {&heavy, &light};
    for (int h = 0; h < 2; h++) {
        build *b = bend_and_throw(hubs[h], &rod, component, 8);
        bo_mb_keep_momenta(bo_mb(b->state));
        const losses x = watch_flight(b, test_long() ? 60 : 3, 1e-3);
        check_below(x.momentum, ROUNDED);
        check_below(x.angular, test_long() ? 1e-9 : ROUNDED * 10);
        check_below(x.highest, 1 + 2e-4);
        check(x.last < 1 && x.last > 0.99);
    }
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

/* A rod alone, whose inertia about its axis is 1 / 20,000 of that across, flies and turns at 10 rad/s. Turned or spun by
 * what steps leave of its momenta, it does not begin to roll: its spin about the axis stays 1 rad/s. */
static void slender_rods_do_not_begin_to_roll(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const rod_def rod = default_rod();
    bough_component *component = cook_rod(ctx, &rod);
    build *b = start_build();
    add_body(b, 0, O, place_at(O));
    b->parts[add_part(b, component, 0, place_at(O))].damping_stiffness = 2e-4;
    const bo_vec3 w = {1, 10, 0.5};
    bo_store3(b->bodies[0].twist, bo_add(bo_v3(0.3, 0.2, 0.1), bo_cross(w, bo_v3(-0.5 * rod.length, 0, 0))));
    bo_store3(b->bodies[0].twist + 3, w);
    finish_build(b);
    bo_mb_keep_momenta(bo_mb(b->state));
    const bough_multibody_energies start = measure(b);
    double least = 1;
    for (int i = 0; i < 500; i++) {
        take_step(b, 1e-3);
        const bo_mat3 R = axes_of_body(b, 0);
        least = fmin(least, bo_dot(bo_load3(b->state->v + 3), bo_mat_vec(R, bo_v3(1, 0, 0))));
    }
    const bough_multibody_energies now = measure(b);
    check_below(1 - least, 1e-3);
    check_below(bo_norm(bo_sub(bo_load3(now.angular_momentum), bo_load3(start.angular_momentum))) /
                    bo_norm(bo_load3(start.angular_momentum)),
                ROUNDED);
    free_build(b);
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

/* ---- a four-bar in space whose coupler bends ---- */

enum { CRANK, STUB, ROCKER };

static build *make_four_bar(const rod_def *rod, const bough_component *component) {
    build *b = start_build();
    const bo_vec3 P = {0.2, 0, 0}, along = {0.8, 0.36, 0.48}, Q = bo_mul_add(P, rod->length, along);
    const bo_vec3 arm = {0.1, 0.2, -0.45}, B = bo_add(Q, arm);
    const bo_vec3 y0 = bo_cross(bo_v3(0, 0, 1), along), y = bo_scale(1 / bo_norm(y0), y0), z = bo_cross(along, y);
    const bo_se3 lies = {{{along.x, y.x, z.x, along.y, y.y, z.y, along.z, y.z, z.z}}, P};
    add_link(b, 0.3, O, P);
    add_body(b, 0.05, bo_v3(1e-4, 1e-4, 1e-4), lies);
    add_link(b, 0.4, B, Q);
    add_hinge(b, BOUGH_WORLD, CRANK, O, bo_v3(0, 0.3, 1));
    add_joint(b, BOUGH_JOINT_UNIVERSAL, CRANK, STUB, place_along(P, along)); /* turns about what is across the rod */
    add_hinge(b, BOUGH_WORLD, ROCKER, B, bo_cross(arm, bo_v3(0, 1, 0)));
    const int32_t part = add_part(b, component, STUB, lies), joint = b->def.joint_count++;
    bough_joint_def *ball = &b->joints[joint];
    *ball = bough_default_joint_def();
    ball->kind = BOUGH_JOINT_BALL;
    ball->parent.body = b->def.body_count + part, ball->parent.interface_index = 1;
    ball->child.body = ROCKER;
    bo_store3(ball->child.pose.position, bo_se3_apply(bo_se3_inverse(body_at_start(b, ROCKER)), Q));
    b->def.gravity[1] = 9.81;
    finish_build(b);
    return b;
}

static void four_bars_that_bend_keep_their_energy(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    rod_def rod = default_rod();
    rod.tip_mass = 0;
    bough_component *component = cook_rod(ctx, &rod);
    double error[2] = {0}, drift[2] = {0}, most = 0, bends = 0;
    for (int i = 0; i < 2; i++) {
        build *b = make_four_bar(&rod, component);
        check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
        const double start = energy_of(b);
        for (int k = 0; k < 2000 << i; k++) {
            take_step(b, 5e-4 / (1 << i));
            const bough_multibody_energies e = measure(b);
            error[i] = fmax(error[i], fabs(energy_of(b) - start));
            drift[i] = fmax(drift[i], b->state->drift);
            most = fmax(most, e.kinetic), bends = fmax(bends, e.elastic);
        }
        free_build(b);
    }
    check(most > 0.1 && bends > 1e-3);
    check_below(error[1] / most, 1e-3);
    check_order(error[0], error[1], 2, 0.2);
    check_below(drift[0], 1e-5);
    check_order(drift[0], drift[1], 2, 0.2);
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bent_rods_keep_their_momenta_in_flight),
                                       cmocka_unit_test(light_hubs_lose_more),
                                       cmocka_unit_test(runs_keep_momenta_to_rounding),
                                       cmocka_unit_test(spinning_hubs_make_no_energy),
                                       cmocka_unit_test(slender_rods_do_not_begin_to_roll),
                                       cmocka_unit_test(four_bars_that_bend_keep_their_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
