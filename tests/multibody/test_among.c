/* Multibody systems in a contact world. */
#include "../contact/worlds.h"
#include "lumps.h"

#include "multibody/multibody.h"

static bough_rigid_body_def ball(double mass, double radius, bo_vec3 at) {
    bough_rigid_body_def body = bough_default_rigid_body_def();
    body.mass = mass;
    for (int k = 0; k < 3; k++)
        body.inertia[4 * k] = 0.4 * mass * radius * radius;
    bo_store3(body.pose.position, at);
    return body;
}

static bough_contact_shape_def round_shape(int32_t body, double radius) {
    bough_contact_shape_def shape = {.place = body, .shape = bough_default_shape_def(), .friction = 0.5};
    shape.shape.radius = radius;
    return shape;
}

typedef struct {
    bough_multibody *model;
    bough_multibody_state *state;
    bough_contact_world *world;
} scene;

/* A system with shapes, over ground at z = 0, among free bodies of the plan. */
static scene open_scene(bough_context *ctx, plan *p, const bough_multibody_def *def, int32_t count,
                        const bough_contact_shape_def *shapes) {
    scene s;
    bough_shape_def ground = bough_default_shape_def();
    ground.kind = BOUGH_SHAPE_PLANE;
    add_obstacle(p, ground, placed(0, 0, 0));
    check_ok(ctx, bough_multibody_create(ctx, def, &s.model));
    check_ok(ctx, bough_multibody_state_create(ctx, s.model, &s.state));
    check_ok(ctx, bough_multibody_actor_create(ctx, s.model, s.state, count, shapes, &p->actors[0]));
    p->def.actor_count = 1;
    s.world = make_world(ctx, p);
    bo_store3(s.world->gravity, bo_v3(0, 0, -9.81));
    return s;
}

static void close_scene(bough_context *ctx, scene *s, plan *p) {
    bough_contact_world_destroy(ctx, s->world);
    bough_multibody_state_destroy(ctx, s->state);
    bough_multibody_destroy(ctx, s->model);
    free(p);
}

static bough_multibody_def weighty(void) {
    bough_multibody_def def = bough_default_multibody_def();
    def.gravity[2] = -9.81;
    return def;
}

/* A ball that falls rests on the ground, and the ground bears its weight. */
static void what_falls_rests(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_rigid_body_def body = ball(2, 0.1, bo_v3(0, 0, 0.3));
    bough_multibody_def def = weighty();
    def.body_count = 1, def.bodies = &body;
    const bough_contact_shape_def shape = round_shape(0, 0.1);
    plan *p = new_plan();
    scene s = open_scene(ctx, p, &def, 1, &shape);
    run(ctx, s.world, 1. / 240, 480);
    check_near(s.state->u[2], 0.1, 1e-3);
    check_below(fabs(s.state->v[2]), 1e-6);
    check_int(s.world->contact_count, 1);
    check_near(s.world->contacts[0].force[2], 2 * 9.81, 1e-4);
    close_scene(ctx, &s, p);
    bough_context_destroy(ctx);
}

/* A sliding ball begins to roll: friction leaves it 5/7 of its speed. */
static void what_slides_rolls(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_rigid_body_def body = ball(1, 0.1, bo_v3(0, 0, 0.1));
    body.twist[0] = 2;
    bough_multibody_def def = weighty();
    def.body_count = 1, def.bodies = &body;
    const bough_contact_shape_def shape = round_shape(0, 0.1);
    plan *p = new_plan();
    scene s = open_scene(ctx, p, &def, 1, &shape);
    run(ctx, s.world, 1. / 500, 1000);
    check_near(s.state->v[0], 2 * 5. / 7, 2e-12);
    check_near(s.state->v[4] * 0.1, s.state->v[0], 1e-4);
    close_scene(ctx, &s, p);
    bough_context_destroy(ctx);
}

static void turn_steadily(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data, (void)motor;
    *place = 0.5 * time, *rate = 0.5;
}

/* An arm whose motor gives way to nothing hits a ball, which goes on as fast as the arm. */
static void motors_push(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_rigid_body_def body = ball(1, 0.1, bo_v3(1, 0, 0.1));
    bough_joint_def hinge = bough_default_joint_def();
    hinge.child.body = 0;
    bo_store3(hinge.child.pose.position, bo_v3(-1, 0, -0.1));
    bough_motor_def motor = bough_default_motor_def();
    bough_multibody_def def = weighty();
    def.body_count = def.joint_count = def.motor_count = 1;
    def.bodies = &body, def.joints = &hinge, def.motors = &motor;
    const bough_contact_shape_def shape = round_shape(0, 0.1);
    plan *p = new_plan();
    bough_shape_def round = bough_default_shape_def();
    round.radius = 0.1;
    add_body(ctx, p, round, 500, placed(1, 0.25, 0.1));
    scene s = open_scene(ctx, p, &def, 1, &shape);
    s.state->drive = turn_steadily;
    run(ctx, s.world, 1. / 240, 48);
    double angle;
    bough_multibody_joint_coordinates(s.model, s.state, 0, &angle, NULL);
    check_near(angle, 0.5 * 48 / 240, 1e-6);
    const bo_vec3 apart = bo_sub(place_of(s.world, 0), bo_load3(s.state->u));
    check(bo_norm(apart) > 0.2 - 2e-3);
    check_near(velocity_of(s.world, 0).y, 0.5, 0.02);
    close_scene(ctx, &s, p);
    bough_context_destroy(ctx);
}

/* A weight at the end of a flexible part lies on the ground: ground and clamp share its weight, and the part bends. */
static void flexible_parts_give_way(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {5};
    lump *b = make_lump(&random, 4, 0.4);
    bough_flexible_def part = bough_default_flexible_def();
    part.component = &b->c, part.damping_mass = 20;
    part.clamp.pose.position[2] = 0.1;
    const bo_mat3 along_x = bo_exp3(bo_v3(0, M_PI / 2, 0));
    memcpy(part.clamp.pose.rotation, along_x.m, sizeof along_x.m);
    bough_rigid_body_def body =
        ball(0.5, 0.09, bo_se3_apply((bo_se3){along_x, bo_v3(0, 0, 0.1)}, bo_load3(b->faces[0].centre)));
    bough_joint_def weld = bough_default_joint_def();
    weld.kind = BOUGH_JOINT_WELD, weld.parent.body = 1, weld.parent.interface_index = 0, weld.child.body = 0;
    memcpy(weld.child.pose.rotation, along_x.m, sizeof along_x.m);
    bough_multibody_def def = weighty();
    def.body_count = def.part_count = def.joint_count = 1;
    def.bodies = &body, def.parts = &part, def.joints = &weld;
    const bough_contact_shape_def shape = round_shape(0, 0.09);
    plan *p = new_plan();
    scene s = open_scene(ctx, p, &def, 1, &shape);
    run(ctx, s.world, 1. / 240, 960);
    check_int(s.world->contact_count, 1);
    check_near(s.state->u[2], 0.09, 1e-10);
    double wrench[6];
    bough_multibody_joint_wrench(s.model, s.state, 0, wrench);
    check_near(wrench[2] + s.world->contacts[0].force[2], 0.5 * 9.81, 2e-11);
    check(s.world->contacts[0].force[2] > 0.1);
    check_below(fabs(s.state->v[2]), 1e-12);
    close_scene(ctx, &s, p);
    free_lump(b);
    bough_context_destroy(ctx);
}

/* A world's step that fails leaves the system bit for bit. */
static void failed_steps_leave_the_state(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_rigid_body_def body = ball(2, 0.1, bo_v3(0, 0, 0.0999));
    bough_multibody_def def = weighty();
    def.body_count = 1, def.bodies = &body;
    const bough_contact_shape_def shape = round_shape(0, 0.1);
    plan *p = new_plan();
    bough_shape_def round = bough_default_shape_def();
    add_body(ctx, p, round, 500, placed(5, 0, 0.1));
    scene s = open_scene(ctx, p, &def, 1, &shape);
    run(ctx, s.world, 1. / 240, 10);
    double u[7], v[6];
    memcpy(u, s.state->u, sizeof u), memcpy(v, s.state->v, sizeof v);
    s.world->bodies[0].velocity[0] = NAN;
    check(bough_contact_world_step(ctx, s.world, 1. / 240) != BOUGH_OK);
    assert_memory_equal(u, s.state->u, sizeof u);
    assert_memory_equal(v, s.state->v, sizeof v);
    s.world->bodies[0].velocity[0] = 0;
    run(ctx, s.world, 1. / 240, 10);
    close_scene(ctx, &s, p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_falls_rests), cmocka_unit_test(what_slides_rolls),
                                       cmocka_unit_test(motors_push), cmocka_unit_test(flexible_parts_give_way),
                                       cmocka_unit_test(failed_steps_leave_the_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
