/* Meshes that are not convex touch: rings, cups, and what goes through or into them. */
#include "../rig/rings.h"
#include "worlds.h"

#define DT (1. / 240)

static double energy_of(const plan *p, const bough_contact_world *w) {
    double sum = 0;
    for (int32_t i = 0; i < w->body_count; i++) {
        const bo_vec3 v = velocity_of(w, i), spin = bo_load3(w->bodies[i].spin);
        bo_mat3 I;
        memcpy(I.m, p->bodies[i].inertia, sizeof I.m);
        sum += 0.5 * p->bodies[i].mass * bo_dot(v, v) + 0.5 * bo_dot(spin, bo_mat_vec(I, spin));
        sum -= p->bodies[i].mass * bo_dot(bo_load3(w->gravity), place_of(w, i));
    }
    return sum;
}

/* Steps; returns by how much the energy rose above its lowest before, in all. */
static double run_down(bough_context *ctx, const plan *p, bough_contact_world *w, double dt, int steps) {
    double least = energy_of(p, w), rise = 0;
    for (int i = 0; i < steps; i++) {
        check_ok(ctx, bough_contact_world_step(ctx, w, dt));
        const double now = energy_of(p, w);
        check(isfinite(now));
        rise = fmax(rise, now - least), least = fmin(least, now);
    }
    return rise;
}

/* A ring of radius R and its tube weigh 2 pi^2 R r^2, but for the corners that are cut off. */
static void rings_weigh_what_they_should(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double R = 0.4, r = 0.1, V = 2 * acos(-1) * acos(-1) * R * r * r;
    bough_shape_mesh *mesh = torus_of(ctx, R, r, 96, 48, 16);
    bough_shape_def def = mesh_def(mesh);
    bough_shapes_mass mass;
    bo_store3(def.frame.position, bo_v3(1, 2, 3));
    check_ok(ctx, bough_shapes_weigh(ctx, 1, &def, 1000, &mass));
    check_near(mass.mass / (1000 * V), 1, 6e-3);
    check_near(mass.centre[2], 3, 1e-12);
    check_near(mass.inertia[8] / (mass.mass * (R * R + 0.75 * r * r)), 1, 3e-3);
    check_near(mass.inertia[0] / (mass.mass * (0.5 * R * R + 0.625 * r * r)), 1, 3e-3);
    bough_shape_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* Balls of all sizes around a ring are as far from it as two circles are; those inside of it leave by the nearest way. */
static void balls_know_how_far_a_ring_is(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double R = 0.4, r = 0.1;
    test_random random = {3};
    bough_shape_mesh *mesh = torus_of(ctx, R, r, 96, 48, 40);
    bough_shape *ring = shape_of(ctx, mesh_def(mesh));
    double worst = 0, turned = 0;
    for (int k = 0; k < 300; k++) {
        const double radius = pow(10, test_uniform(&random, -2, -0.3)), angle = test_uniform(&random, 0, 6.28),
                     around = test_uniform(&random, 0, 6.28), gap = test_uniform(&random, -0.02, 0.05);
        const double away = r + radius + gap, axis = R + away * cos(around);
        if (axis < 1.05 * radius) /* the other side of the ring is nearer */
            continue;
        const bo_vec3 x = bo_v3(axis * cos(angle), axis * sin(angle), away * sin(around)),
                      n = bo_v3(cos(around) * cos(angle), cos(around) * sin(angle), sin(around));
        bough_shape *ball = shape_of(ctx, sphere_def(radius));
        const bough_pose at = pose_at(x.x, x.y, x.z), here = bough_default_pose();
        bough_touching points[BOUGH_MOST_TOUCHING];
        const int32_t count = bough_shapes_touch(ball, &at, ring, &here, 0.1, points);
        double off = INFINITY, turn = 2;
        for (int32_t i = 0; i < count; i++)
            if (fabs(points[i].gap - gap) < off)
                off = fabs(points[i].gap - gap), turn = 1 - bo_dot(bo_load3(points[i].normal), n);
        worst = fmax(worst, off), turned = fmax(turned, turn);
        bough_shape_destroy(ctx, ball);
    }
    printf("gaps of balls are off by %.2g m, normals by %.2g rad\n", worst, sqrt(2 * turned));
    check_below(worst, 2e-3); /* the corners of the ring are 1.5e-3 m further out than its faces */
    check_below(sqrt(2 * turned), 0.1);
    bough_shape_destroy(ctx, ring);
    bough_shape_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* A ball that flies through the hole of a ring touches nothing; by the ring's hull it would be stopped. A larger one is. */
static void a_ball_flies_through_a_ring(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_shape_mesh *mesh = torus_of(ctx, 0.4, 0.1, 32, 16, 24);
    for (int large = 0; large < 2; large++)
        for (int free_ring = 0; free_ring < 2; free_ring++) {
            plan *p = new_plan();
            bough_rigid_body_def *ball =
                add_body(ctx, p, sphere_def(large ? 0.33 : 0.28), 500, (bo_se3){bo_identity3(), bo_v3(0.005, 0, 1)});
            ball->twist[2] = -4;
            if (free_ring)
                add_body(ctx, p, mesh_def(mesh), 500, bo_se3_identity());
            else
                add_obstacle(p, mesh_def(mesh), bo_se3_identity());
            bough_contact_world *w = make_world(ctx, p);
            memset(w->gravity, 0, sizeof w->gravity);
            run(ctx, w, DT, 240);
            if (large) {
                check(velocity_of(w, 0).z > -3.9);
                check(free_ring ? velocity_of(w, 1).z < -0.1 : place_of(w, 0).z > 0.1);
            } else {
                check_near(place_of(w, 0).z, -3, 1e-9);
                check_near(place_of(w, 0).x, 0.005, 1e-12);
            }
            bough_contact_world_destroy(ctx, w);
            free(p);
        }
    bough_shape_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* A cup catches what falls into it: a ball, a box, a hull, another ring. All come to rest in it, its bottom bears their weight,
 * and nothing makes energy, for minutes. */
static void a_cup_catches_what_falls_into_it(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const bo_vec3 corners[] = {
        {-0.08, -0.06, -0.05}, {0.09, -0.05, -0.05}, {0.07, 0.08, -0.04}, {-0.06, 0.07, -0.05}, {0.02, 0.01, 0.09}};
    bough_shape_mesh *cup = cup_of(ctx, 0.5, 0.5, 0.06, 32), *ring = torus_of(ctx, 0.1, 0.04, 16, 10, 16);
    const bough_shape_def shapes[] = {sphere_def(0.1), box_def(0.2, 0.15, 0.1), hull_def(5, corners), mesh_def(ring)};
    for (int k = 0; k < 4; k++) {
        plan *p = new_plan();
        add_body(ctx, p, shapes[k], 800, (bo_se3){bo_exp3(bo_v3(0.4, 0.3, 0.2)), bo_v3(0.2, 0.1, 0.8)})->friction = 0.4;
        add_obstacle(p, mesh_def(cup), bo_se3_identity());
        bough_contact_world *w = make_world(ctx, p);
        const double start = energy_of(p, w), rise = run_down(ctx, p, w, DT, 240 * 6);
        check_below(rise / start, 1e-9); /* nanometres are lifted for nothing */
        const bo_vec3 x = place_of(w, 0);
        check(hypot(x.x, x.y) < 0.44 && x.z > 0.06 && x.z < 0.2);
        check_below(bo_norm(velocity_of(w, 0)), k == 0 ? 0.02 : 1e-3); /* a ball rolls on */
        check_near(total_force(w, BOUGH_CONTACT_OF_BODY, 0).z / (9.81 * p->bodies[0].mass), 1, 0.01);
        for (int32_t i = 0; i < w->contact_count; i++)
            check(w->contacts[i].gap > -1e-3);
        bough_contact_world_destroy(ctx, w);
        free(p);
    }
    bough_shape_mesh_destroy(ctx, cup);
    bough_shape_mesh_destroy(ctx, ring);
    bough_context_destroy(ctx);
}

/* A ring over a peg hangs on it and swings, less and less. */
static void a_ring_hangs_on_a_peg(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_shape_mesh *mesh = torus_of(ctx, 0.2, 0.03, 24, 8, 24);
    bo_vec3 corners[24];
    for (int i = 0; i < 24; i++)
        corners[i] = bo_v3(0.05 * cos(i / 2 * acos(-1) / 6), i % 2 ? 0.3 : -0.3, 0.05 * sin(i / 2 * acos(-1) / 6));
    plan *p = new_plan();
    const bo_mat3 upright = bo_exp3(bo_v3(acos(-1) / 2, 0, 0));
    add_body(ctx, p, mesh_def(mesh), 1000, (bo_se3){upright, bo_v3(0.05, 0, -0.1)})->friction = 0.5;
    add_obstacle(p, hull_def(24, corners), bo_se3_identity());
    bough_contact_world *w = make_world(ctx, p);
    const double rise = run_down(ctx, p, w, DT, 240 * (test_long() ? 300 : 8));
    check_below(rise / (9.81 * p->bodies[0].mass), 1e-8); /* m */
    check_near(place_of(w, 0).z, -0.12, 0.01);            /* R - r below the top of the peg */
    check_below(fabs(place_of(w, 0).x), 0.05);
    check_below(bo_norm(velocity_of(w, 0)), 0.2); /* it swings on for long */
    check_near(total_force(w, BOUGH_CONTACT_OF_BODY, 0).z / (9.81 * p->bodies[0].mass), 1, 0.1);
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_shape_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* Two rings, one through the other, stay together when they are pulled apart, and keep their momenta. */
static void linked_rings_stay_linked(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_shape_mesh *mesh = torus_of(ctx, 0.2, 0.04, 24, 10, 32);
    plan *p = new_plan();
    add_body(ctx, p, mesh_def(mesh), 1000, bo_se3_identity())->twist[0] = -0.5;
    add_body(ctx, p, mesh_def(mesh), 1000, (bo_se3){bo_exp3(bo_v3(acos(-1) / 2, 0, 0)), bo_v3(0.2, 0, 0)})->twist[0] =
        1;
    bough_contact_world *w = make_world(ctx, p);
    memset(w->gravity, 0, sizeof w->gravity);
    const momenta before = momenta_of(p, w);
    const double start = energy_of(p, w), rise = run_down(ctx, p, w, DT, 240 * 3);
    const momenta after = momenta_of(p, w);
    check_below(rise / start, 1e-12);
    check_below(bo_norm(bo_sub(place_of(w, 0), place_of(w, 1))), 0.4);
    check_below(bo_norm(bo_sub(after.linear, before.linear)), 1e-13);
    check_below(bo_norm(bo_sub(after.angular, before.angular)), 1e-13);
    check(energy_of(p, w) < 0.9 * start);
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_shape_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* A cup that is led upwards and sideways takes a ball along; hills and planes bear a ring. */
static void led_cups_carry_and_hills_bear(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static double heights[81];
    for (int i = 0; i < 81; i++)
        heights[i] = 0.05 * cos(1.3 * (i % 9)) * cos(0.9 * (i / 9));
    bough_shape_mesh *cup = cup_of(ctx, 0.3, 0.3, 0.05, 24), *ring = torus_of(ctx, 0.2, 0.06, 16, 10, 20);
    plan *p = new_plan();
    add_body(ctx, p, sphere_def(0.1), 500, placed(0, 0, 0.2))->friction = 0.5;
    add_body(ctx, p, mesh_def(ring), 500, (bo_se3){bo_exp3(bo_v3(0.5, 0.2, 0)), bo_v3(3, 0, 0.4)})->friction = 0.5;
    add_body(ctx, p, mesh_def(ring), 500, (bo_se3){bo_exp3(bo_v3(1.4, 0.2, 0)), bo_v3(-3, 0, 0.4)})->friction = 0.5;
    add_obstacle(p, mesh_def(cup), bo_se3_identity());
    add_obstacle(p, field_def(9, 9, 0.25, heights), placed(3, 0, 0));
    add_obstacle(p, plane_def(), placed(0, 0, -0.2));
    bough_contact_world *w = make_world(ctx, p);
    double t = 0;
    for (int k = 0; k < 240 * 4; k++, t += DT) {
        const double x = 0.2 * (1 - cos(t)), v = 0.2 * sin(t);
        const bough_pose pose = pose_at(x, 0, x);
        check_ok(ctx, bough_contact_world_move(ctx, w, 0, &pose, (double[3]){v, 0, v}, (double[3]){0}));
        run(ctx, w, DT, 1);
    }
    check_near(place_of(w, 0).z, 0.2 * (1 - cos(t)) + 0.15, 1e-4);
    check_below(fabs(place_of(w, 0).x - 0.2 * (1 - cos(t))), 0.2);
    check(place_of(w, 1).z > -0.05 && place_of(w, 1).z < 0.15);
    check_near(place_of(w, 2).z, -0.2 + 0.06, 5e-3); /* it lies on a side of its tube */
    check_below(bo_norm(velocity_of(w, 2)), 1e-3);
    for (int32_t i = 0; i < w->contact_count; i++)
        check(w->contacts[i].gap > -5e-4);
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_shape_mesh_destroy(ctx, cup);
    bough_shape_mesh_destroy(ctx, ring);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_weigh_what_they_should), cmocka_unit_test(balls_know_how_far_a_ring_is),
        cmocka_unit_test(a_ball_flies_through_a_ring),  cmocka_unit_test(a_cup_catches_what_falls_into_it),
        cmocka_unit_test(a_ring_hangs_on_a_peg),        cmocka_unit_test(linked_rings_stay_linked),
        cmocka_unit_test(led_cups_carry_and_hills_bear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
