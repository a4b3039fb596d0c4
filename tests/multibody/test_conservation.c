/* Momenta and energy of rods that bend far while they fly, and of loops with a rod in them. */
#include "rods.h"

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

/* Bent by a force on the ball until that is 7 cm off, then let go while all flies and turns. */
static build *bend_and_throw(const hub *of, const rod_def *rod, const bough_component *component) {
    build *bent = make_flyer(of, rod, component, true), *b = make_flyer(of, rod, component, false);
    const double force = 0.07 * 3 * rod->young * rod_moment(rod) / pow(rod->length, 3);
    bent->state->force[6 + 1] = 0.6 * force, bent->state->force[6 + 2] = 0.8 * force;
    check_ok(bent->ctx, bough_multibody_settle(bent->ctx, bent->model, bent->state));
    const bo_vec3 tip = position_of(bent, 1);
    check_near(hypot(tip.y, tip.z), 0.07, 0.005);
    memcpy(b->state->u, bent->state->u, (size_t)bough_multibody_position_count(b->model) * sizeof(double));
    const bo_vec3 v = {0.3, -0.2, 0.4}, w = {0.5, 1, -2};
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
} losses;

static losses fly(const hub *of, const rod_def *rod, const bough_component *component, const char *method, double dt) {
    build *b = bend_and_throw(of, rod, component);
    if (method)
        use_method(b, method);
    const bough_multibody_energies start = measure(b);
    const bo_vec3 P = bo_load3(start.momentum), L = bo_load3(start.angular_momentum);
    const double E = energy_of(b);
    losses worst = {0};
    for (int i = 0; i < (int)lround(0.4 / dt); i++) {
        take_step(b, dt);
        const bough_multibody_energies now = measure(b);
        worst.momentum = fmax(worst.momentum, bo_norm(bo_sub(bo_load3(now.momentum), P)) / bo_norm(P));
        worst.angular = fmax(worst.angular, bo_norm(bo_sub(bo_load3(now.angular_momentum), L)) / bo_norm(L));
        worst.energy = fmax(worst.energy, fabs(energy_of(b) / E - 1));
        worst.drift = fmax(worst.drift, b->state->drift);
    }
    free_build(b);
    return worst;
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
                                       cmocka_unit_test(four_bars_that_bend_keep_their_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
