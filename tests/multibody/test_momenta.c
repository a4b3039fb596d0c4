/* Momenta of what nothing holds: kept in flight, in blows and while it rubs, changed by the impulses of forces. */
#include "soft_bars.h"

#include <bough/twin.h>

#define ROUNDED 1e-11 /* of a momentum, over thousands of steps; the method's own error would be 1e-3 to 1e-7 */

static bo_vec3 momentum_of(const build *b) {
    return bo_load3(measure(b).momentum);
}
static bo_vec3 spin_of(const build *b) {
    return bo_load3(measure(b).angular_momentum);
}
static double off(bo_vec3 x, bo_vec3 from) {
    return bo_norm(bo_sub(x, from)) / bo_norm(from);
}

/* ---- which bodies fly together ---- */

static void what_joints_connect_flies_together(void **unused) {
    (void)unused;
    build *b = start_build();
    enum { ALONE, HELD, HANGS, A, B, SPRUNG, TOWED, BODIES };
    for (int i = 0; i < BODIES; i++)
        add_body(b, 1, bo_v3(1, 1, 1), place_at(bo_v3(i, 0, 0)));
    add_hinge(b, BOUGH_WORLD, HELD, bo_v3(1, 0, 0), bo_v3(0, 0, 1));
    add_hinge(b, HELD, HANGS, bo_v3(2, 0, 0), bo_v3(0, 0, 1));
    add_hinge(b, B, A, bo_v3(3, 0, 0), bo_v3(0, 0, 1));
    const int32_t spring = add_joint(b, BOUGH_JOINT_COMPLIANT, BOUGH_WORLD, SPRUNG, place_at(bo_v3(5, 0, 0)));
    b->joints[spring].stiffness[0] = 1;
    add_joint(b, BOUGH_JOINT_FREE, BOUGH_WORLD, TOWED, place_at(bo_v3(6, 0, 0)));
    finish_build(b);
    static const int32_t flyers[BODIES] = {0, -1, -1, 1, 1, -1, 2};
    check_int(b->model->flyer_count, 3);
    for (int i = 0; i < BODIES; i++)
        check_int(b->model->flyer[i], flyers[i]);
    free_build(b);
}

/* ---- flyers that collide ---- */

/* Adds a hub that flies and turns, with a bar along x of its axes, and a second one on a hinge with a spring, along -x. */
static void add_winged(build *b, const soft_bar *bar, bo_se3 at, bo_vec3 velocity, bo_vec3 spin) {
    const bo_se3 right = bo_se3_mul(at, place_at(bo_v3(0.03, 0, 0))),
                 left = bo_se3_mul(at, (bo_se3){bo_exp3(bo_v3(0, 0, M_PI)), bo_v3(-0.03, 0, 0)});
    const int32_t hub = add_body(b, 0.5, bo_v3(1e-3, 2e-3, 3e-3), at),
                  wing = add_body(b, 0.2, bo_v3(2e-4, 2e-4, 2e-4), left);
    const int32_t hinge = add_hinge(b, hub, wing, left.t, bo_mat_vec(at.R, bo_v3(0, 1, 0)));
    b->joints[hinge].stiffness[0] = 5, b->joints[hinge].damping[0] = 0.02;
    for (int k = 0; k < 2; k++) {
        const int32_t body = k ? wing : hub;
        const bo_se3 g = body_at_start(b, body);
        bo_store3(b->bodies[body].twist, bo_mat_tvec(g.R, bo_add(velocity, bo_cross(spin, bo_sub(g.t, at.t)))));
        bo_store3(b->bodies[body].twist + 3, bo_mat_tvec(g.R, spin));
        b->parts[add_part(b, bar->component, body, k ? left : right)].damping_stiffness = 1e-3;
    }
}

static scene meet_in_flight(const soft_bar *bar, double friction) {
    scene s = {.ctx = bar->ctx, .b = start_build(), .friction = friction};
    const bo_se3 above = {bo_exp3(bo_v3(0.2, 0, M_PI / 2)), bo_v3(0.15, 0.1, 0.2)};
    add_winged(s.b, bar, bo_se3_identity(), bo_v3(0.1, 0, 0.1), bo_v3(1, 2, -1));
    add_winged(s.b, bar, above, bo_v3(0, 0.2, -1), bo_v3(0.5, -1, 2));
    finish_build(s.b);
    make_world(&s);
    return s;
}

/* Two hubs with a bar each that is fixed to them, and one that swings on a hinge, fly at each other, collide, rub, and
 * fly on. The angular momentum is that about the origin of the world. */
static void winged_hubs_that_collide_keep_their_momenta(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7);
    for (int rubs = 0; rubs < 2; rubs++) {
        scene s = meet_in_flight(&bar, 0.6 * rubs);
        const bo_vec3 P = momentum_of(s.b), L = spin_of(s.b);
        const double first = energy_of(s.b);
        double linear = 0, angular = 0, energy = first, gained = 0;
        int touched = 0;
        for (int k = 0; k < 2000; k++) {
            const double old = energy;
            step_scene(&s, 1e-3, 0);
            touched += s.world->contact_count > 0;
            energy = energy_of(s.b), gained = fmax(gained, (energy - old) / first);
            linear = fmax(linear, off(momentum_of(s.b), P)), angular = fmax(angular, off(spin_of(s.b), L));
        }
        printf("friction %g: momenta change by %.2g and %.2g, energy rises by %.2g in a step; %d touch\n", 0.6 * rubs,
               linear, angular, gained, touched);
        check(touched >= 10 && touched < 200);
        check_below(linear, ROUNDED);
        check_below(angular, ROUNDED);
        check_below(gained, 1e-7);
        check(energy < 0.95 * first);
        close_scene(&s);
    }
    free_bar(&bar);
}

/* The same of bars in full order. */
static void full_order_keeps_its_momenta(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7);
    bough_full_part *full[2];
    scene s = {.ctx = bar.ctx, .b = start_build(), .friction = 0.5};
    add_flyer(s.b, &bar, bo_se3_identity(), bo_v3(0.1, 0, 0));
    add_flyer(s.b, &bar, (bo_se3){bo_exp3(bo_v3(0, 0, M_PI / 2)), bo_v3(0.55 * LENGTH, -0.45 * LENGTH, 1.1 * WIDTH)},
              bo_v3(0, 0, -1));
    for (int i = 0; i < 2; i++) {
        check_ok(bar.ctx, bough_full_part_create(bar.ctx, bar.body, bar.component, &full[i]));
        s.b->parts[i].full = full[i];
    }
    finish_build(s.b);
    make_world(&s);
    const bo_vec3 P = momentum_of(s.b), L = spin_of(s.b);
    int touched = 0;
    for (int k = 0; k < 12; k++) {
        step_scene(&s, 1e-3, 0);
        touched += s.world->contact_count > 0;
    }
    check(touched > 3 && touched < 12);
    check_below(off(momentum_of(s.b), P), ROUNDED);
    check_below(off(spin_of(s.b), L), ROUNDED);
    close_scene(&s);
    for (int i = 0; i < 2; i++)
        bough_full_part_destroy(bar.ctx, full[i]);
    free_bar(&bar);
}

/* ---- forces ---- */

static build *winged_in_flight(const soft_bar *bar) {
    build *b = start_build();
    add_winged(b, bar, bo_se3_identity(), bo_v3(0.3, -0.2, 0.1), bo_v3(1, 2, -1));
    finish_build(b);
    bo_mb_keep_momenta(bo_mb(b->state));
    return b;
}

/* A force of sin(8 t) on the hub, in one second: its impulse, and its torque, are of second order. */
static bo_vec3 push_by_curve(const soft_bar *bar, int steps, bo_vec3 *spin) {
    build *b = winged_in_flight(bar);
    for (int k = 0; k < steps; k++) {
        const bo_vec3 force = bo_scale(sin(8 * (k + 1.0) / steps), bo_v3(1, 2, -1));
        bo_store3(b->state->force, force);
        take_step(b, 1.0 / steps);
    }
    const bo_vec3 p = momentum_of(b);
    *spin = spin_of(b);
    free_build(b);
    return p;
}

static void impulses_of_forces_count(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7);
    build *b = winged_in_flight(&bar);
    const bo_vec3 P = momentum_of(b), g = {0.5, 0, -2}, force = {0.1, 0.2, -0.3};
    double mass = 0;
    for (int32_t i = 0; i < b->def.body_count; i++)
        mass += b->bodies[i].mass + bar.component->mass;
    bo_store3(b->state->gravity, g);
    for (int k = 0; k < 500; k++) {
        bo_store3(b->state->force, force);
        take_step(b, 1e-3);
    }
    /* Weight and a steady force: exactly. */
    check_below(off(momentum_of(b), bo_mul_add(P, 0.5, bo_mul_add(force, mass, g))), ROUNDED);
    const bo_vec3 pushed = bo_mul_add(P, (1 - cos(8)) / 8, bo_v3(1, 2, -1));
    bo_vec3 L[3], p[3];
    for (int i = 0; i < 3; i++)
        p[i] = push_by_curve(&bar, 250 << i, &L[i]);
    check_order(bo_norm(bo_sub(p[1], pushed)), bo_norm(bo_sub(p[2], pushed)), 2, 0.1);
    check_order(bo_norm(bo_sub(L[1], L[0])), bo_norm(bo_sub(L[2], L[1])), 2, 0.1);
    free_build(b);
    free_bar(&bar);
}

/* Velocities that somebody changes between steps count from there on, not those that the last step led to. */
static void kicks_are_not_undone(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7);
    build *b = winged_in_flight(&bar);
    const bo_vec3 kick = {0.5, 0, -1};
    run_for(b, 0.01, 10);
    for (int32_t i = 0; i < b->def.body_count; i++)
        bo_store3(b->state->v + 6 * i, bo_add(bo_load3(b->state->v + 6 * i), kick));
    const bo_vec3 P = momentum_of(b);
    run_for(b, 0.01, 10);
    check_below(off(momentum_of(b), P), ROUNDED);
    free_build(b);
    free_bar(&bar);
}

/* ---- snapshots ---- */

/* Changes of momenta in the last step are part of the state. */
static void snapshots_go_on_with_the_same_bits(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7);
    build *b = winged_in_flight(&bar);
    bo_mb_state *s = bo_mb(b->state);
    bo_store3(b->state->gravity, bo_v3(0.5, 0, -2));
    run_for(b, 0.02, 20);
    double *kept = calloc(bo_mb_snapshot_size(s), sizeof *kept);
    bo_mb_snapshot_save(s, kept);
    const size_t nu = (size_t)b->model->nu, nv = (size_t)b->model->nv;
    double *u = calloc(nu + nv, sizeof *u);
    for (int round = 0; round < 2; round++) {
        run_for(b, 0.02, 20);
        if (round == 1)
            check(!memcmp(u, b->state->u, nu * sizeof *u) && !memcmp(u + nu, b->state->v, nv * sizeof *u));
        memcpy(u, b->state->u, nu * sizeof *u), memcpy(u + nu, b->state->v, nv * sizeof *u);
        memset(s->impulses, 0, bo_mb_momenta_size(b->model) * sizeof *s->impulses);
        bo_mb_snapshot_restore(s, kept);
    }
    free(kept), free(u);
    free_build(b);
    free_bar(&bar);
}

/* Guesses and pivots choose what a step reads: a snapshot has no others than there are. */
static void forged_indices_do_not_fit(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7);
    build *b = winged_in_flight(&bar);
    bo_mb_state *s = bo_mb(b->state);
    run_for(b, 0.02, 20);
    const size_t size = bo_mb_snapshot_size(s), pivots = size - (size_t)s->work.lu.size;
    double *kept = calloc(size, sizeof *kept);
    bo_mb_snapshot_save(s, kept);
    bo_mb_array arrays[BO_MB_ARRAYS];
    bo_mb_list_arrays(s, arrays);
    size_t trust = 0;
    for (int i = 0; arrays[i].numbers != s->trust; i++)
        trust += arrays[i].count;
    check(bo_mb_numbers_fit(s, kept, kept + pivots));
    const double wrong[] = {-1, 0.5, 1e9, NAN, INFINITY};
    const size_t places[] = {trust, trust + (size_t)b->model->nv - 1, pivots, size - 1};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            const double right = kept[places[p]];
            kept[places[p]] = wrong[w];
            check(!bo_mb_numbers_fit(s, kept, kept + pivots));
            kept[places[p]] = right;
        }
    check(bo_mb_numbers_fit(s, kept, kept + pivots));
    free(kept);
    free_build(b);
    free_bar(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_joints_connect_flies_together),
                                       cmocka_unit_test(winged_hubs_that_collide_keep_their_momenta),
                                       cmocka_unit_test(full_order_keeps_its_momenta),
                                       cmocka_unit_test(impulses_of_forces_count),
                                       cmocka_unit_test(kicks_are_not_undone),
                                       cmocka_unit_test(snapshots_go_on_with_the_same_bits),
                                       cmocka_unit_test(forged_indices_do_not_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
