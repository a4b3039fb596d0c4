/* Contact worlds that grow, and what is found in them. */
#ifndef BOUGH_TEST_WORLDS_H
#define BOUGH_TEST_WORLDS_H

#include "../rig/shapes.h"

#include <bough/mechanism.h>

enum { MOST = 512 };
typedef struct {
    bough_rigid_body_def bodies[MOST];
    bough_obstacle_def obstacles[MOST];
    bough_shape_def shapes[2 * MOST];
    bough_contact_actor actors[4];
    bough_touch_def touches[MOST]; /* of a mechanism that is to be an actor */
    int32_t shape_count, touch_count;
    bool touch_each_other; /* these touches */
    bough_contact_world_def def;
} plan;

static inline plan *new_plan(void) {
    plan *p = calloc(1, sizeof *p);
    p->def = bough_default_contact_world_def();
    p->def.bodies = p->bodies, p->def.obstacles = p->obstacles, p->def.actors = p->actors;
    return p;
}
static inline bo_se3 placed(double x, double y, double z) {
    return (bo_se3){bo_identity3(), bo_v3(x, y, z)};
}
static inline bough_rigid_body_def *add_body(bough_context *ctx, plan *p, bough_shape_def shape, double density,
                                             bo_se3 g) {
    bough_rigid_body_def *body = &p->bodies[p->def.body_count++];
    bough_shapes_mass mass;
    check_ok(ctx, bough_shapes_weigh(ctx, 1, &shape, density, &mass));
    *body = bough_default_rigid_body_def();
    body->mass = mass.mass;
    memcpy(body->inertia, mass.inertia, sizeof mass.inertia);
    bo_store3(shape.frame.position, bo_sub(bo_load3(shape.frame.position), bo_load3(mass.centre)));
    body->shapes = &p->shapes[p->shape_count], body->shape_count = 1;
    p->shapes[p->shape_count++] = shape;
    body->pose = bo_put_pose(g);
    return body;
}
static inline bough_obstacle_def *add_obstacle(plan *p, bough_shape_def shape, bo_se3 g) {
    bough_obstacle_def *obstacle = &p->obstacles[p->def.obstacle_count++];
    *obstacle = bough_default_obstacle_def();
    obstacle->shapes = &p->shapes[p->shape_count], obstacle->shape_count = 1;
    p->shapes[p->shape_count++] = shape;
    obstacle->pose = bo_put_pose(g);
    return obstacle;
}
static inline bough_contact_world *make_world(bough_context *ctx, const plan *p) {
    bough_contact_world *w = NULL;
    check_ok(ctx, bough_contact_world_create(ctx, &p->def, &w));
    test_weigh(w->gravity);
    return w;
}
static inline void run(bough_context *ctx, bough_contact_world *w, double dt, int steps) {
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bough_contact_world_step(ctx, w, dt));
}
static inline bo_vec3 place_of(const bough_contact_world *w, int32_t body) {
    return bo_load3(w->bodies[body].pose.position);
}
static inline bo_vec3 velocity_of(const bough_contact_world *w, int32_t body) {
    return bo_load3(w->bodies[body].velocity);
}
static inline bo_vec3 total_force(const bough_contact_world *w, bough_contact_kind kind, int32_t index) {
    bo_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < w->contact_count; i++)
        for (int side = 0; side < 2; side++)
            if (w->contacts[i].sides[side].kind == kind && w->contacts[i].sides[side].index == index)
                sum = bo_mul_add(sum, side ? -1 : 1, bo_load3(w->contacts[i].force));
    return sum;
}
typedef struct {
    bo_vec3 linear, angular;
} momenta;
static inline momenta momenta_of(const plan *p, const bough_contact_world *w) {
    momenta sum = {0};
    for (int32_t i = 0; i < w->body_count; i++) {
        const bo_vec3 mv = bo_scale(p->bodies[i].mass, velocity_of(w, i));
        bo_mat3 I;
        memcpy(I.m, p->bodies[i].inertia, sizeof I.m);
        sum.linear = bo_add(sum.linear, mv);
        sum.angular = bo_add(sum.angular, bo_cross(place_of(w, i), mv));
        sum.angular =
            bo_add(sum.angular, bo_mat_vec(bo_pose(&w->bodies[i].pose).R, bo_mat_vec(I, bo_load3(w->bodies[i].spin))));
    }
    return sum;
}
static inline bough_contact_side side_of(bough_contact_kind kind, int32_t index) {
    return (bough_contact_side){kind, index, -1};
}

#endif
