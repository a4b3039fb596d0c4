/* Flexible parts in a contact world: samples of their surfaces touch. */
#include "../reduce/cooked.h"

#include "build.h"

#include "multibody/multibody.h"

#include <bough/twin.h>

#define GRAVITY 9.81

/* A soft bar of 0.5 x 0.05 x 0.07 m along x, that hangs by its start. */
typedef struct {
    bough_context *ctx;
    bough_body *body;
    bough_component *component;
} soft_bar;

static soft_bar make_soft(double young, int32_t r) {
    soft_bar b = {.ctx = test_context(1)};
    bar_def def = default_bar();
    def.type = BOUGH_TET10, def.young = young, def.poisson = 0.3;
    def.size[0] = 0.5, def.size[1] = 0.05, def.size[2] = 0.07;
    def.cells[0] = 8, def.cells[1] = def.cells[2] = 1;
    b.component = cook_bar(b.ctx, def, r, &b.body);
    return b;
}
static void free_bar(soft_bar *b) {
    bough_component_destroy(b->ctx, b->component);
    bough_body_destroy(b->ctx, b->body);
    bough_context_destroy(b->ctx);
}

typedef struct {
    bough_context *ctx;
    build *b;
    bough_contact_world *world;
    double friction, restitution;
    double ball_mass; /* 0: no ball beside the ground */
    double ball_radius;
    bo_vec3 ball_at, ball_velocity;
    bool ground;
    int32_t most_contacts;
} scene;

static scene default_scene(bough_context *ctx) {
    return (scene){.ctx = ctx, .friction = 0.5, .ground = true, .ball_radius = 0.1, .most_contacts = 1000};
}

/* Puts all parts into a world, over ground at z = 0. */
static void make_world(scene *s) {
    bough_contact_shape_def touches[2] = {0};
    bough_contact_actor actor;
    bough_contact_world_def def = bough_default_contact_world_def();
    bough_obstacle_def floor = bough_default_obstacle_def();
    bough_shape_def plane = bough_default_shape_def(), round = bough_default_shape_def();
    bough_rigid_body_def ball = bough_default_rigid_body_def();
    plane.kind = BOUGH_SHAPE_PLANE, round.radius = s->ball_radius;
    floor.shape_count = 1, floor.shapes = &plane, floor.friction = s->friction;
    ball.shape_count = 1, ball.shapes = &round, ball.mass = s->ball_mass, ball.friction = s->friction;
    ball.restitution = s->restitution;
    bo_store3(ball.pose.position, s->ball_at), bo_store3(ball.twist, s->ball_velocity);
    for (int k = 0; k < 3; k++)
        ball.inertia[4 * k] = 0.4 * ball.mass * round.radius * round.radius;
    for (int32_t p = 0; p < s->b->def.part_count; p++)
        touches[p] = (bough_contact_shape_def){
            .place = s->b->def.body_count + p, .friction = s->friction, .restitution = s->restitution};
    check_ok(s->ctx,
             bough_multibody_actor_create(s->ctx, s->b->model, s->b->state, s->b->def.part_count, touches, &actor));
    def.actor_count = 1, def.actors = &actor, def.most_contacts = s->most_contacts;
    def.obstacle_count = s->ground, def.obstacles = &floor;
    def.body_count = s->ball_mass > 0, def.bodies = &ball;
    check_ok(s->ctx, bough_contact_world_create(s->ctx, &def, &s->world));
    memcpy(s->world->gravity, s->b->def.gravity, sizeof s->world->gravity);
}
static void close_scene(scene *s) {
    bough_contact_world_destroy(s->ctx, s->world);
    free_build(s->b);
}
/* As runs do: a step in which Newton's method does not end is taken in halves. */
static int halves; /* that were needed */
static void step_scene(scene *s, double dt, int depth) {
    const bough_status status = bough_contact_world_step(s->ctx, s->world, dt);
    if (status == BOUGH_NO_CONVERGENCE && depth < 6) {
        halves++;
        step_scene(s, dt / 2, depth + 1);
        step_scene(s, dt / 2, depth + 1);
    } else
        check_ok(s->ctx, status);
}
static void run_scene(scene *s, double dt, int steps) {
    for (int i = 0; i < steps; i++)
        step_scene(s, dt, 0);
}

/* A bar that nothing holds: its clamp is a body without mass. */
static build *make_flyer(const soft_bar *bar, bo_se3 at, bo_twist twist, bo_vec3 gravity) {
    build *b = start_build();
    add_body(b, 0, bo_v3(0, 0, 0), at);
    bo_store3(b->bodies[0].twist, twist.v), bo_store3(b->bodies[0].twist + 3, twist.w);
    add_part(b, bar->component, 0, at);
    b->parts[0].damping_stiffness = 2e-3;
    bo_store3(b->def.gravity, gravity);
    finish_build(b);
    return b;
}
static double deepest(const bough_contact_world *world) {
    double least = INFINITY;
    for (int32_t i = 0; i < world->contact_count; i++)
        least = fmin(least, world->contacts[i].gap);
    return -least;
}
static bo_vec3 force_on_part(const bough_contact_world *world) {
    bo_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < world->contact_count; i++) {
        check_int(world->contacts[i].sides[0].kind, BOUGH_CONTACT_OF_PART);
        check_int(world->contacts[i].sides[0].index, 0);
        sum = bo_add(sum, bo_load3(world->contacts[i].force));
    }
    return sum;
}

/* A soft bar that falls askew comes to rest on the ground, which bears its weight; no sample is ever deeper than 1 % of
 * its length. */
static void what_falls_lies_still(void **unused) {
    (void)unused;
    const double steps[] = {1. / 240, 1. / 60};
    for (int i = 0; i < 2; i++) {
        soft_bar bar = make_soft(1e7, 10);
        scene s = default_scene(bar.ctx);
        s.b = make_flyer(&bar, (bo_se3){bo_exp3(bo_v3(0.4, 0.3, 0)), bo_v3(0, 0, 0.3)}, (bo_twist){0},
                         bo_v3(0, 0, -GRAVITY));
        make_world(&s);
        double worst = 0;
        for (int k = 0; k < (int)(3 / steps[i]); k++) {
            run_scene(&s, steps[i], 1);
            worst = fmax(worst, s.world->contact_count > 0 ? deepest(s.world) : 0);
        }
        const bo_vec3 force = force_on_part(s.world);
        check_below(worst, i == 0 ? 5e-4 : 1e-3);
        check_near(force.z, bar.component->mass * GRAVITY, 1e-4);
        check_below(fabs(s.b->state->v[2]), 1e-4);
        close_scene(&s);
        free_bar(&bar);
    }
}

static double energy_in(const scene *s) {
    bough_multibody_energies e;
    bough_multibody_measure(s->b->model, s->b->state, &e);
    return e.kinetic + e.elastic + e.gravity;
}

/* Bars of hard rubber that are thrown at the ground and rub on it gain next to no energy in any step. */
static void impacts_make_next_to_no_energy(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e8, 10);
    test_random random = {7};
    double most = 0;
    for (int turn = 0; turn < 8; turn++) {
        scene s = default_scene(bar.ctx);
        s.friction = test_uniform(&random, 0, 1);
        const bo_vec3 turned = bo_v3(test_uniform(&random, -0.6, 0.6), test_uniform(&random, -0.6, 0.6), 0);
        const bo_twist twist = {bo_v3(test_uniform(&random, -1, 1), 0, test_uniform(&random, -1, 1)),
                                bo_v3(test_uniform(&random, -1, 1), test_uniform(&random, -1, 1), 1)};
        s.b = make_flyer(&bar, (bo_se3){bo_exp3(turned), bo_v3(0, 0, 0.4)}, twist, bo_v3(0, 0, -GRAVITY));
        make_world(&s);
        double before = energy_in(&s);
        const double scale = before;
        for (int k = 0; k < 240; k++) {
            run_scene(&s, 1. / 240, 1);
            const double now = energy_in(&s);
            if (s.world->contact_count > 0)
                most = fmax(most, (now - before) / scale);
            before = now;
        }
        close_scene(&s);
    }
    check_below(most, 2e-2);
    free_bar(&bar);
}

/* On a slope of tan a = 0.3 a bar sticks where mu = 0.5 and slides by g (sin a - mu cos a) where mu = 0.1. */
static void slopes_hold_or_let_slide(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7, 8);
    const double a = atan(0.3);
    for (int slides = 0; slides < 2; slides++) {
        scene s = default_scene(bar.ctx);
        s.friction = slides ? 0.1 : 0.5;
        s.b = make_flyer(&bar, (bo_se3){bo_identity3(), bo_v3(0, 0, 0.0351)}, (bo_twist){0},
                         bo_v3(GRAVITY * sin(a), 0, -GRAVITY * cos(a)));
        make_world(&s);
        run_scene(&s, 1. / 240, 120);
        const double speed = s.b->state->v[0];
        run_scene(&s, 1. / 240, 120);
        const double found = (s.b->state->v[0] - speed) / 0.5, wanted = slides ? GRAVITY * (sin(a) - 0.1 * cos(a)) : 0;
        check_near(found, wanted, 1e-4 * GRAVITY * sin(a));
        close_scene(&s);
    }
    free_bar(&bar);
}

static void add_momenta(const scene *s, bo_vec3 *linear, bo_vec3 *angular) {
    bough_multibody_energies e;
    const bough_rigid_body *ball = &s->world->bodies[0];
    const bo_vec3 mv = bo_scale(s->ball_mass, bo_load3(ball->velocity));
    const double J = 0.4 * s->ball_mass * s->ball_radius * s->ball_radius;
    bough_multibody_measure(s->b->model, s->b->state, &e);
    *linear = bo_add(bo_load3(e.momentum), mv);
    *angular = bo_add(bo_load3(e.angular_momentum), bo_cross(bo_load3(ball->pose.position), mv));
    *angular = bo_add(*angular, bo_scale(J, bo_mat_vec(bo_pose(&ball->pose).R, bo_load3(ball->spin))));
}

/* A ball hits a bar in free flight and momentum goes from one to the other. Returns by how much the sum changes, as a
 * part of it, in steps of dt. */
static double momentum_lost(const soft_bar *bar, double dt, double *angular) {
    scene s = default_scene(bar->ctx);
    s.ground = false, s.ball_mass = 0.5, s.friction = 0.5, s.restitution = 0.3;
    s.ball_at = bo_v3(0.4, 0.01, 0.16), s.ball_velocity = bo_v3(0.3, 0.1, -1);
    s.b = make_flyer(bar, bo_se3_identity(), (bo_twist){0}, bo_v3(0, 0, 0));
    make_world(&s);
    bo_vec3 p0, l0, p1, l1;
    add_momenta(&s, &p0, &l0);
    int touched = 0;
    for (int k = 0; k < (int)(0.06 / dt + 0.5); k++) {
        run_scene(&s, dt, 1);
        touched += s.world->contact_count > 0 && bo_norm(bo_load3(s.world->contacts[0].force)) > 0;
    }
    add_momenta(&s, &p1, &l1);
    check(touched > 0);
    check_below(bo_load3(s.world->bodies[0].velocity).z, 0.9);
    close_scene(&s);
    *angular = bo_norm(bo_sub(l1, l0)) / bo_norm(l0);
    return bo_norm(bo_sub(p1, p0)) / bo_norm(p0);
}

/* The ball is a body of the world, the bar is the engine's, whose velocity is that of its clamp, far from its centre of
 * mass. */
static void flying_bars_share_momentum(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7, 10);
    double angular[2];
    const double coarse = momentum_lost(&bar, 1e-3, &angular[0]), fine = momentum_lost(&bar, 1e-4, &angular[1]);
    check_below(coarse, 1e-12);
    check_below(angular[0], 1e-12);
    check_below(fine, 1e-12);
    check_below(angular[1], 1e-12);
    free_bar(&bar);
}

/* Rows are derivatives: by the rates they give the velocities, which are differences of the positions. */
static void rows_are_derivatives(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e7, 10);
    const double eps = 1e-6, axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    build *b = make_flyer(&bar, (bo_se3){bo_exp3(bo_v3(0.4, 0.3, -1)), bo_v3(1, 2, 3)}, (bo_twist){0}, bo_v3(0, 0, 0));
    const bough_multibody *m = b->model;
    const int32_t nv = m->nv, count = bar.component->contact.count;
    bo_mb_samples samples;
    test_random random = {3};
    check_ok(bar.ctx, bo_mb_samples_make(bar.ctx, m, 0, 0, bar.component, &samples));
    double *v = calloc((size_t)nv, sizeof *v), *u = b->state->u, *moved = calloc((size_t)m->nu, sizeof *u);
    double *x = calloc(12 * (size_t)count, sizeof *x), *rate = x + 3 * (size_t)count, *y = rate + 3 * (size_t)count,
           *z = y + 3 * (size_t)count, *rows = calloc(3 * (size_t)nv, sizeof *rows);
    for (int32_t k = 0; k < nv; k++)
        v[k] = test_uniform(&random, -1, 1) * (k < 6 ? 1 : 0.05);
    for (int32_t k = 7; k < m->nu; k++)
        u[k] = test_uniform(&random, -0.02, 0.02);
    bo_mb_samples_points(m, &samples, u, v, x, rate);
    bo_mb_advance(m, u, eps, v, moved);
    bo_mb_samples_points(m, &samples, moved, v, y, z);
    bo_mb_advance(m, u, -eps, v, moved);
    bo_mb_samples_points(m, &samples, moved, v, x, z);
    double by_difference = 0, by_rows = 0;
    for (int32_t i = 0; i < count; i++) {
        memset(rows, 0, 3 * (size_t)nv * sizeof *rows);
        bo_mb_samples_rows(m, &samples, u, i, axes, 1, rows);
        for (int d = 0; d < 3; d++) {
            double sum = 0;
            for (int32_t k = 0; k < nv; k++)
                sum += rows[d * nv + k] * v[k];
            by_rows = fmax(by_rows, fabs(sum - rate[3 * i + d]));
            by_difference = fmax(by_difference, fabs((y[3 * i + d] - x[3 * i + d]) / (2 * eps) - rate[3 * i + d]));
        }
    }
    bo_vec3 centre;
    double radius, speed;
    bo_mb_samples_sphere(m, &samples, u, v, &centre, &radius, &speed);
    bo_mb_samples_points(m, &samples, u, v, x, rate);
    for (int32_t i = 0; i < count; i++) {
        check(bo_norm(bo_sub(bo_load3(x + 3 * i), centre)) <= radius);
        check(bo_norm(bo_load3(rate + 3 * i)) <= speed);
    }
    check_below(by_rows, 1e-13);
    check_below(by_difference, 1e-8);
    free(v), free(moved), free(x), free(rows);
    bo_mb_samples_free(bar.ctx, &samples);
    free_build(b);
    free_bar(&bar);
}

/* A bar that is held at one end sags onto the ground: in full order and reduced, the ground bears the same force. */
static void full_order_agrees(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(3e5, 16);
    bough_full_part *full;
    double forces[2], ends[2];
    check_ok(bar.ctx, bough_full_part_create(bar.ctx, bar.body, bar.component, &full));
    for (int i = 0; i < 2; i++) {
        scene s = default_scene(bar.ctx);
        build *b = s.b = start_build();
        s.friction = 0;
        add_part(b, bar.component, BOUGH_WORLD, place_at(bo_v3(0, 0, 0.045)));
        b->parts[0].full = i ? full : NULL, b->parts[0].damping_mass = 8, b->parts[0].damping_stiffness = 2e-2;
        b->def.gravity[2] = -GRAVITY;
        finish_build(b);
        make_world(&s);
        run_scene(&s, 1. / 120, 240);
        forces[i] = force_on_part(s.world).z;
        const bough_frame_def end = {.body = b->def.body_count, .interface_index = 1, .pose = bough_default_pose()};
        bough_pose pose;
        bough_multibody_frame(b->model, b->state, &end, &pose, NULL);
        ends[i] = pose.position[2];
        close_scene(&s);
    }
    check(forces[0] > 0.1);
    check_near(forces[0], forces[1], 0.05 * forces[1]);
    check_near(ends[0], ends[1], 0.01 * 0.5);
    bough_full_part_destroy(bar.ctx, full);
    free_bar(&bar);
}

/* More contacts than allowed are refused, and the bar stays where it was. */
static void budgets_are_kept(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e6, 8);
    scene s = default_scene(bar.ctx);
    s.most_contacts = 3;
    s.b = make_flyer(&bar, (bo_se3){bo_identity3(), bo_v3(0, 0, 0.0351)}, (bo_twist){0}, bo_v3(0, 0, -GRAVITY));
    make_world(&s);
    const double z = s.b->state->u[2];
    check_fails(s.ctx, bough_contact_world_step(s.ctx, s.world, 1. / 240), BOUGH_ERROR_UNSUPPORTED,
                "most_contacts allows 3");
    check(z == s.b->state->u[2]);
    close_scene(&s);
    free_bar(&bar);
}

/* A component that was cooked without samples cannot touch. */
static void parts_need_samples(void **unused) {
    (void)unused;
    soft_bar bar = make_soft(1e6, 8);
    build *b = make_flyer(&bar, bo_se3_identity(), (bo_twist){0}, bo_v3(0, 0, 0));
    bough_component bare = *bar.component;
    bare.contact.count = 0;
    b->model->parts[0].component = &bare;
    const bough_contact_shape_def touch = {.place = 1, .friction = 0.5};
    bough_contact_actor actor;
    check_fails(bar.ctx, bough_multibody_actor_create(bar.ctx, b->model, b->state, 1, &touch, &actor),
                BOUGH_ERROR_ARGUMENT, "has no contact samples");
    free_build(b);
    free_bar(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_falls_lies_still),    cmocka_unit_test(impacts_make_next_to_no_energy),
        cmocka_unit_test(slopes_hold_or_let_slide), cmocka_unit_test(flying_bars_share_momentum),
        cmocka_unit_test(rows_are_derivatives),     cmocka_unit_test(full_order_agrees),
        cmocka_unit_test(budgets_are_kept),         cmocka_unit_test(parts_need_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
