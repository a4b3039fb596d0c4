/* Contact worlds that grow, and what is found in them. */
#ifndef BOUGH_TEST_WORLD_H
#define BOUGH_TEST_WORLD_H

#include "moving.h"

#include "../rig/shapes.h"

/* A world that grows. */
enum { MOST = 64 };
typedef struct {
    bough_rigid_body_def bodies[MOST];
    bough_obstacle_def obstacles[MOST];
    bough_touch_def touches[MOST];
    bough_shape_def shapes[2 * MOST];
    int32_t shape_count, touch_count;
    bool touch_each_other;
    bough_contact_world_def def;
} world;

static inline world *new_world(void) {
    world *w = calloc(1, sizeof *w);
    w->def = bough_default_contact_world_def();
    w->def.bodies = w->bodies, w->def.obstacles = w->obstacles;
    return w;
}
static inline bough_rigid_body_def *add_body(bough_context *ctx, world *w, bough_shape_def shape, double density,
                                             bo_se3 g) {
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
static inline bough_obstacle_def *add_obstacle(world *w, bough_shape_def shape, bo_se3 g) {
    bough_obstacle_def *obstacle = &w->obstacles[w->def.obstacle_count++];
    *obstacle = bough_default_obstacle_def();
    obstacle->shapes = &w->shapes[w->shape_count], obstacle->shape_count = 1;
    w->shapes[w->shape_count++] = shape;
    obstacle->pose = bo_put_pose(g);
    return obstacle;
}
static inline bough_touch_def *add_touch(world *w, int32_t effector, bough_shape_def shape) {
    bough_touch_def *touch = &w->touches[w->touch_count++];
    *touch = bough_default_touch_def();
    touch->end_effector = effector, touch->shape = shape;
    return touch;
}
/* The world with an actor in it, where creating that succeeded. */
static inline bough_status surround_actor(bough_context *ctx, bough_status made, bough_contact_actor *actor,
                                          const world *w, bough_contact_world **s) {
    bough_contact_world_def def = w->def;
    *s = NULL;
    if (made != BOUGH_OK)
        return made;
    actor->touches_itself = w->touch_each_other;
    def.actor_count = 1, def.actors = actor;
    return bough_contact_world_create(ctx, &def, s);
}
static inline bough_status try_surround(bough_context *ctx, const moving *m, const world *w, bough_contact_world **s) {
    bough_contact_actor actor;
    if (!m)
        return bough_contact_world_create(ctx, &w->def, s);
    const bough_status made = bough_mechanism_actor_create(ctx, m->model, m->state, w->touch_count, w->touches, &actor);
    return surround_actor(ctx, made, &actor, w, s);
}
/* m NULL: bodies among obstacles. */
static inline bough_contact_world *surround(bough_context *ctx, const moving *m, const world *w) {
    bough_contact_world *s = NULL;
    check_ok(ctx, try_surround(ctx, m, w, &s));
    return s;
}
static inline bo_vec3 total_force(const bough_contact_world *s, bough_contact_kind kind, int32_t index) {
    bo_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < s->contact_count; i++)
        for (int side = 0; side < 2; side++)
            if (s->contacts[i].sides[side].kind == kind && s->contacts[i].sides[side].index == index)
                sum = bo_mul_add(sum, side ? -1 : 1, bo_load3(s->contacts[i].force));
    return sum;
}
static inline bo_vec3 place_of(const bough_contact_world *s, int32_t body) {
    return bo_load3(s->bodies[body].pose.position);
}
static inline bo_vec3 velocity_of(const bough_contact_world *s, int32_t body) {
    return bo_load3(s->bodies[body].velocity);
}

/* A chain of links along x, held at one end, with a ball at the other that the ground holds up. */
static inline sketch *chain(int32_t count) {
    sketch *s = new_sketch();
    add_link(s, bo_se3_identity(), 1, 0.01, 0.01, 0.01);
    for (int32_t i = 1; i <= count; i++) {
        add_link(s, at(0.1 * i, 0, 0, 0, 0, 0), 0.05, 1e-4, 1e-4, 1e-4);
        add_joint(s, BOUGH_JOINT_BALL, i - 1, i, at(0.1 * (i - 0.5), 0, 0, 0, 0, 0), 20, 0.5);
    }
    add_effector(s, count, at(0.05, 0, 0, 0, 0, 0));
    return s;
}

#endif
