/* Flexible parts that touch each other: points of one in the bent surface of the other. */
#include "soft_bars.h"

#include <bough/twin.h>

#define GRAVITY 9.81

static double energy_in(const scene *s) {
    bough_multibody_energies e;
    bough_multibody_measure(s->b->model, s->b->state, &e);
    return e.kinetic + e.elastic + e.gravity;
}
static double deepest(const bough_contact_world *world) {
    double least = 0;
    for (int32_t i = 0; i < world->contact_count; i++)
        least = fmin(least, world->contacts[i].gap);
    return -least;
}
static double pushed(const bough_contact_world *world) {
    double sum = 0;
    for (int32_t i = 0; i < world->contact_count; i++)
        sum += bo_norm(bo_load3(world->contacts[i].force));
    return sum;
}

/* ---- forces ---- */

/* The largest rate at which contacts would see things part that move as one rigid body, all together, of the rate 1: by
 * virtual work, what unit impulses change of the momenta. start: u when the step began. */
static double torn_apart(const scene *s, const double *start, test_random *random) {
    const struct bo_contact_world_work *w = bo_world_work(s->world);
    const int32_t nv = s->b->model->nv;
    const bo_vec3 v = bo_v3(test_uniform(random, -1, 1), test_uniform(random, -1, 1), test_uniform(random, -1, 1)),
                  spin = bo_v3(test_uniform(random, -1, 1), test_uniform(random, -1, 1), test_uniform(random, -1, 1));
    double worst = 0;
    for (size_t i = 0; i < w->meeting_count; i++)
        for (int row = 0; row < 3; row++) {
            const double *J = w->rows + w->constraints[i].rows[0] + (ptrdiff_t)nv * row;
            double rate = 0;
            for (int32_t body = 0; body < s->b->def.body_count; body++) {
                const bo_vec3 c = bo_load3(start + 7 * body);
                rate += bo_dot(bo_load3(J + 6 * body), bo_add(v, bo_cross(spin, c)));
                rate += bo_dot(bo_load3(J + 6 * body + 3), spin);
            }
            worst = fmax(worst, fabs(rate));
        }
    return worst;
}

typedef struct {
    double linear, angular; /* changes, of what the moving bar had */
    double torn;            /* torn_apart() where they touched */
    double gained;          /* energy in any step, of that at the start */
    int touched;            /* steps */
} collision;

/* A bar hits another one crosswise at 1 m/s. */
static collision collide(const soft_bar *bar, double friction, double dt, double time) {
    scene s = cross_bars(bar, 0.001, friction, bo_v3(0.3, 0.2, -1));
    collision c = {0};
    test_random random = {3};
    bough_multibody_energies before, after;
    bough_multibody_measure(s.b->model, s.b->state, &before);
    double energy = energy_in(&s);
    const double first = energy;
    for (int k = 0; k < (int)(time / dt + 0.5); k++) {
        const double old = energy;
        step_scene(&s, dt, 0);
        energy = energy_in(&s);
        c.gained = fmax(c.gained, (energy - old) / first);
        c.touched += pushed(s.world) > 0;
    }
    bough_multibody_measure(s.b->model, s.b->state, &after);
    check(c.touched > 0);
    c.linear =
        bo_norm(bo_sub(bo_load3(after.momentum), bo_load3(before.momentum))) / bo_norm(bo_load3(before.momentum));
    c.angular = bo_norm(bo_sub(bo_load3(after.angular_momentum), bo_load3(before.angular_momentum))) /
                bo_norm(bo_load3(before.angular_momentum));
    close_scene(&s);
    s = cross_bars(bar, -0.0005, friction, bo_v3(0.3, 0.2, -1));
    double start[14];
    memcpy(start, s.b->state->u, sizeof start);
    step_scene(&s, dt, 0);
    check(s.world->contact_count >= 8); /* points of both */
    c.torn = torn_apart(&s, start, &random);
    close_scene(&s);
    return c;
}

/* Both bars take each impulse at one point: no motion of both as one rigid body does work on contacts, so that they
 * change neither momentum nor angular momentum, with friction or without, and steps keep both. */
static void bars_that_collide_keep_their_momenta(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7);
    for (int rubs = 0; rubs < 2; rubs++) {
        const collision c = collide(&bar, 0.6 * rubs, 1e-3, 0.02), fine = collide(&bar, 0.6 * rubs, 1e-4, 0.02);
        printf("friction %g: contacts change momenta by %.2g; steps of 1 ms by %.2g and %.2g, of 0.1 ms by %.2g and "
               "%.2g; energy rises by %.2g, %.2g\n",
               0.6 * rubs, c.torn, c.linear, c.angular, fine.linear, fine.angular, c.gained, fine.gained);
        check_below(c.torn, 1e-13);
        check_below(c.linear, 1e-12);
        check_below(c.angular, 1e-12);
        check_below(fine.linear, 1e-12);
        check_below(fine.angular, 1e-12);
        check_below(c.gained, 1e-6);
        check_below(fine.gained, 1e-6);
    }
    free_bar(&bar);
}

/* ---- rest ---- */

/* A bar falls crosswise onto one that lies on the ground, and both come to rest: the lower one bears the weight of the
 * upper, the ground that of both. No point gets deeper than 0.1 mm, and no energy is made. */
static void bars_come_to_rest_on_each_other(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7);
    scene s = {.ctx = bar.ctx, .b = start_build(), .friction = 0.5, .ground = true};
    const double dt = 1. / 240;
    add_flyer(s.b, &bar, place_at(bo_v3(0, 0, 0.5 * WIDTH)), bo_v3(0, 0, 0));
    add_flyer(s.b, &bar,
              (bo_se3){bo_exp3(bo_v3(0, 0, M_PI / 2)), bo_v3(0.5 * LENGTH, -0.5 * LENGTH, 1.5 * WIDTH + 0.02)},
              bo_v3(0, 0, 0));
    s.b->def.gravity[2] = -GRAVITY;
    finish_build(s.b);
    make_world(&s);
    double depth = 0, gained = 0, energy = energy_in(&s);
    const double fall = bar.component->mass * GRAVITY * 0.02;
    for (int k = 0; k < 480; k++) {
        const double old = energy;
        step_scene(&s, dt, 0);
        energy = energy_in(&s);
        gained = fmax(gained, (energy - old) / fall), depth = fmax(depth, deepest(s.world));
    }
    double lower = 0, ground = 0;
    for (int32_t i = 0; i < s.world->contact_count; i++) {
        const bough_contact *c = &s.world->contacts[i];
        if (c->sides[1].kind == BOUGH_CONTACT_OF_OBSTACLE)
            ground += c->force[2];
        else
            lower -= c->force[2]; /* on the first */
    }
    const double weight = bar.component->mass * GRAVITY;
    printf("depth %.2g m, energy gained in a step %.2g of the fall, forces %.6f %.6f of the weight\n", depth, gained,
           lower / weight, ground / weight);
    check_below(depth, 1e-4);
    check_below(gained, 1e-5);
    check_near(lower, weight, 1e-4 * weight);
    check_near(ground, 2 * weight, 1e-4 * weight);
    check_below(fabs(s.b->state->v[8]), 5e-6);
    close_scene(&s);
    free_bar(&bar);
}

/* ---- full order ---- */

/* Bars in full order hand over as much momentum as reduced ones: that of the lower bar after the blow, and how far its
 * clamp went. */
static void full_order_collides_alike(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7);
    bough_full_part *full[2];
    double speeds[2], ways[2];
    for (int i = 0; i < 2; i++)
        check_ok(bar.ctx, bough_full_part_create(bar.ctx, bar.body, bar.component, &full[i]));
    for (int order = 0; order < 2; order++) {
        scene s = {.ctx = bar.ctx, .b = start_build(), .friction = 0.5};
        add_flyer(s.b, &bar, bo_se3_identity(), bo_v3(0, 0, 0));
        add_flyer(s.b, &bar,
                  (bo_se3){bo_exp3(bo_v3(0, 0, M_PI / 2)), bo_v3(0.55 * LENGTH, -0.45 * LENGTH, 1.02 * WIDTH)},
                  bo_v3(0, 0, -1));
        for (int i = 0; i < 2; i++)
            s.b->parts[i].full = order ? full[i] : NULL;
        finish_build(s.b);
        make_world(&s);
        double impulse = 0;
        for (int k = 0; k < 40; k++) {
            step_scene(&s, 5e-4, 0);
            impulse += 5e-4 * pushed(s.world);
        }
        speeds[order] = impulse / bar.component->mass, ways[order] = s.b->state->u[2];
        close_scene(&s);
    }
    printf("the blow changed the speed by %.4f m/s, in full order by %.4f m/s; the clamp went %.2f and %.2f mm\n",
           speeds[0], speeds[1], 1e3 * ways[0], 1e3 * ways[1]);
    check(speeds[0] > 0.3);
    check_near(speeds[0], speeds[1], 0.1 * speeds[1]);
    check_near(ways[0], ways[1], 1e-3);
    for (int i = 0; i < 2; i++)
        bough_full_part_destroy(bar.ctx, full[i]);
    free_bar(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bars_that_collide_keep_their_momenta),
                                       cmocka_unit_test(bars_come_to_rest_on_each_other),
                                       cmocka_unit_test(full_order_collides_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
