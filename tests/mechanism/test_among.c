/* Mechanisms and free rigid bodies among obstacles: contact and friction. */
#include "moving.h"

#include "../contact/shapes.h"

/* A world that grows. */
enum { MOST = 64 };
typedef struct {
    bough_rigid_body_def bodies[MOST];
    bough_obstacle_def obstacles[MOST];
    bough_touch_def touches[MOST];
    bough_shape_def shapes[2 * MOST];
    int32_t shape_count;
    bough_surroundings_def def;
} world;

static world *new_world(void) {
    world *w = calloc(1, sizeof *w);
    w->def = bough_default_surroundings_def();
    w->def.bodies = w->bodies, w->def.obstacles = w->obstacles, w->def.touches = w->touches;
    return w;
}
static bough_rigid_body_def *add_body(bough_context *ctx, world *w, bough_shape_def shape, double density, bo_se3 g) {
    bough_rigid_body_def *body = &w->bodies[w->def.body_count++];
    bough_shapes_mass mass;
    check_ok(ctx, bough_shapes_weigh(ctx, 1, &shape, density, &mass));
    *body = bough_default_rigid_body_def();
    body->mass = mass.mass;
    memcpy(body->inertia, mass.inertia, sizeof mass.inertia);
    bo_store3(shape.frame.position, bo_sub(bo_load3(shape.frame.position), bo_load3(mass.centre)));
    body->shapes = &w->shapes[w->shape_count], body->shape_count = 1;
    w->shapes[w->shape_count++] = shape;
    body->pose = bo_put_pose(g);
    return body;
}
static bough_obstacle_def *add_obstacle(world *w, bough_shape_def shape, bo_se3 g) {
    bough_obstacle_def *obstacle = &w->obstacles[w->def.obstacle_count++];
    *obstacle = bough_default_obstacle_def();
    obstacle->shapes = &w->shapes[w->shape_count], obstacle->shape_count = 1;
    w->shapes[w->shape_count++] = shape;
    obstacle->pose = bo_put_pose(g);
    return obstacle;
}
static bough_touch_def *add_touch(world *w, int32_t effector, bough_shape_def shape) {
    bough_touch_def *touch = &w->touches[w->def.touch_count++];
    *touch = bough_default_touch_def();
    touch->end_effector = effector, touch->shape = shape;
    return touch;
}
static bough_surroundings *surround(bough_context *ctx, const bough_mechanism_model *model, const world *w) {
    bough_surroundings *s = NULL;
    check_ok(ctx, bough_surroundings_create(ctx, model, &w->def, &s));
    return s;
}
static void run_bodies(bough_context *ctx, bough_surroundings *s, double dt, int steps) {
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bough_mechanism_step_among(ctx, NULL, NULL, s, dt));
}
static bo_vec3 total_force(const bough_surroundings *s, bough_contact_kind kind, int32_t index) {
    bo_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < s->contact_count; i++)
        for (int side = 0; side < 2; side++)
            if (s->contacts[i].kinds[side] == kind && s->contacts[i].indices[side] == index)
                sum = bo_mul_add(sum, side ? -1 : 1, bo_load3(s->contacts[i].force));
    return sum;
}
static bo_vec3 place_of(const bough_surroundings *s, int32_t body) {
    return bo_load3(s->bodies[body].pose.position);
}
static bo_vec3 velocity_of(const bough_surroundings *s, int32_t body) {
    return bo_load3(s->bodies[body].velocity);
}

/* ---- rest ---- */

static void what_lies_on_the_ground_is_carried(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const bough_shape_def shapes[] = {sphere_def(0.1), box_def(0.2, 0.3, 0.1)};
    for (int i = 0; i < 2; i++)
        for (int drop = 0; drop < 2; drop++) {
            world *w = new_world();
            const double height = i ? 0.05 : 0.1;
            const bough_rigid_body_def *body =
                add_body(ctx, w, shapes[i], 500, at(0, 0, height + 0.2 * drop, 0, 0, 0.3));
            add_obstacle(w, plane_def(), bo_se3_identity());
            bough_surroundings *s = surround(ctx, NULL, w);
            run_bodies(ctx, s, 0.005, drop ? 400 : 3);
            check_near(place_of(s, 0).z, height, 1e-6);
            check_below(bo_norm(velocity_of(s, 0)), 1e-6);
            const bo_vec3 force = total_force(s, BOUGH_CONTACT_OF_BODY, 0);
            check_near(force.z, 9.81 * body->mass, 1e-5 * body->mass);
            check_below(fabs(force.x) + fabs(force.y), 1e-5 * body->mass);
            check_below(s->residual, 1e-6);
            bough_surroundings_destroy(ctx, s);
            free(w);
        }
    bough_context_destroy(ctx);
}

/* Below atan(mu) a block stays on a slope; above it slides with g (sin - mu cos). */
static void blocks_slide_as_friction_lets_them(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int field = 0; field < 2; field++)
        for (double mu = 0.2; mu < 1; mu += 0.3)
            for (int above = 0; above < 2; above++) {
                world *w = new_world();
                const double angle = atan(mu) + (above ? 0.1 : -0.02), dt = 0.002;
                const bo_se3 tilted = at(0, 0, 0, 0, angle, 0); /* down along +x of the slope */
                static double heights[100];
                add_body(ctx, w, box_def(0.2, 0.2, 0.1), 500, bo_se3_mul(tilted, at(0, 0, 0.05, 0, 0, 0.4)))->friction =
                    mu;
                add_obstacle(w, field ? field_def(10, 10, 0.5, heights) : plane_def(), tilted)->friction = mu;
                bough_surroundings *s = surround(ctx, NULL, w);
                run_bodies(ctx, s, dt, 250);
                const double speed = bo_dot(velocity_of(s, 0), bo_mat_vec(tilted.R, bo_v3(1, 0, 0)));
                const double expected = above ? 9.81 * (sin(angle) - mu * cos(angle)) * 0.5 : 0;
                check_near(speed, expected, above ? 0.01 * expected : 1e-5);
                check_near(bo_norm(velocity_of(s, 0)), fabs(speed), 1e-4);
                bough_surroundings_destroy(ctx, s);
                free(w);
            }
    bough_context_destroy(ctx);
}

static void a_stack_of_boxes_stays(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    world *w = new_world();
    enum { COUNT = 6 };
    for (int i = 0; i < COUNT; i++)
        add_body(ctx, w, box_def(0.2, 0.2, 0.2), 300, at(0.01 * (i % 2), 0, 0.1 + 0.2 * i, 0, 0, 0.2 * i));
    add_obstacle(w, plane_def(), bo_se3_identity());
    bough_surroundings *s = surround(ctx, NULL, w);
    run_bodies(ctx, s, 1. / 120, 600);
    for (int i = 0; i < COUNT; i++) {
        check_near(place_of(s, i).z, 0.1 + 0.2 * i, 1e-3);
        check_near(place_of(s, i).x, 0.01 * (i % 2), 2e-3);
        check_near(place_of(s, i).y, 0, 2e-3);
    }
    check_near(total_force(s, BOUGH_CONTACT_OF_OBSTACLE, 0).z, -COUNT * 0.008 * 300 * 9.81, 0.5);
    bough_surroundings_destroy(ctx, s);
    free(w);
    bough_context_destroy(ctx);
}

/* ---- mechanisms ---- */

/* A chain of links along x, held at one end, with a ball at the other that the ground holds up. */
static sketch *chain(int32_t count) {
    sketch *s = new_sketch();
    add_link(s, bo_se3_identity(), 1, 0.01, 0.01, 0.01);
    for (int32_t i = 1; i <= count; i++) {
        add_link(s, at(0.1 * i, 0, 0, 0, 0, 0), 0.05, 1e-4, 1e-4, 1e-4);
        add_joint(s, BOUGH_MECHANISM_BALL, i - 1, i, at(0.1 * (i - 0.5), 0, 0, 0, 0, 0), 20, 0.5);
    }
    add_effector(s, count, at(0.05, 0, 0, 0, 0, 0));
    return s;
}

/* The force is what lifts the end from where its weight alone would take it, by the compliance. */
static void the_ground_carries_an_end_effector_as_statics_say(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *sk = chain(3);
    moving alone = start(ctx, sk), m = start(ctx, sk);
    alone.state->gravity[2] = m.state->gravity[2] = -9.81;
    world *w = new_world();
    const double radius = 0.02, raised = 0.004;
    add_touch(w, 0, sphere_def(radius))->friction = 0;
    add_obstacle(w, plane_def(), at(0, 0, raised - radius, 0, 0, 0));
    bough_surroundings *s = surround(ctx, m.model, w);
    for (int i = 0; i < 4000; i++) {
        check_ok(ctx, bough_mechanism_step_among(ctx, m.model, m.state, s, 0.005));
        check_ok(ctx, bough_mechanism_step(ctx, alone.model, alone.state, 0.005));
    }
    const double lower = bough_mechanism_state_end_effector(alone.model, alone.state, 0).position[2],
                 upper = bough_mechanism_state_end_effector(m.model, m.state, 0).position[2];
    check_near(upper, raised, 1e-7);
    check(lower < raised - 0.005);
    check_int(s->contact_count, 1);
    check_near(s->contacts[0].force[2], (upper - lower) / m.statics->C[6 * 2 + 2],
               0.01 * s->contacts[0].force[2]); /* but for the turn of the axes */
    check_below(s->residual, 1e-9);
    bough_surroundings_destroy(ctx, s);
    stop(ctx, alone);
    stop(ctx, m);
    free(w);
    free(sk);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_on_the_ground_is_carried),
        cmocka_unit_test(blocks_slide_as_friction_lets_them),
        cmocka_unit_test(a_stack_of_boxes_stays),
        cmocka_unit_test(the_ground_carries_an_end_effector_as_statics_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
