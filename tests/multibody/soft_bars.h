/* Bars of rubber that fly and touch each other. */
#ifndef BOUGH_TEST_SOFT_BARS_H
#define BOUGH_TEST_SOFT_BARS_H

#include "../reduce/cooked.h"

#include "build.h"

#include "contact/world.h"
#include "multibody/multibody.h"

/* Bars of 0.3 x 0.04 x 0.04 m along x, that hang by their starts; samples every 2 cm. */
#define LENGTH 0.3
#define WIDTH 0.04

typedef struct {
    bough_context *ctx;
    bough_body *body;
    bough_component *component;
} soft_bar;

static inline soft_bar make_soft(double young) {
    soft_bar b = {.ctx = test_context(1)};
    bar_def def = default_bar();
    def.type = BOUGH_HEX8, def.young = young, def.poisson = 0.3;
    def.size[0] = LENGTH, def.size[1] = def.size[2] = WIDTH;
    def.cells[0] = 14, def.cells[1] = def.cells[2] = 2;
    kitchen k = open_kitchen(b.ctx, def, 8);
    k.def.contact_count = 200;
    cook_in(&k);
    b.component = k.c, b.body = k.body, k.c = NULL, k.body = NULL;
    close_kitchen(&k);
    return b;
}
static inline void free_bar(soft_bar *b) {
    bough_component_destroy(b->ctx, b->component);
    bough_body_destroy(b->ctx, b->body);
    bough_context_destroy(b->ctx);
}

typedef struct {
    bough_context *ctx;
    build *b;
    bough_contact_world *world;
    double friction;
    bool ground;
} scene;

static inline void make_world(scene *s) {
    bough_contact_shape_def touches[BUILD_PARTS] = {0};
    bough_contact_actor actor;
    bough_contact_world_def def = bough_default_contact_world_def();
    bough_obstacle_def floor = bough_default_obstacle_def();
    bough_shape_def plane = bough_default_shape_def();
    plane.kind = BOUGH_SHAPE_PLANE;
    floor.shape_count = 1, floor.shapes = &plane, floor.friction = s->friction;
    for (int32_t p = 0; p < s->b->def.part_count; p++)
        touches[p] = (bough_contact_shape_def){.place = s->b->def.body_count + p, .friction = s->friction};
    check_ok(s->ctx,
             bough_multibody_actor_create(s->ctx, s->b->model, s->b->state, s->b->def.part_count, touches, &actor));
    actor.touches_itself = true;
    def.actor_count = 1, def.actors = &actor;
    def.obstacle_count = s->ground, def.obstacles = &floor;
    check_ok(s->ctx, bough_contact_world_create(s->ctx, &def, &s->world));
    memcpy(s->world->gravity, s->b->def.gravity, sizeof s->world->gravity);
}
static inline void close_scene(scene *s) {
    bough_contact_world_destroy(s->ctx, s->world);
    free_build(s->b);
}

/* As runs do: a step in which Newton's method does not end is taken in halves. */
static inline void step_scene(scene *s, double dt, int depth) {
    const bough_status status = bough_contact_world_step(s->ctx, s->world, dt);
    if (status == BOUGH_NO_CONVERGENCE && depth < 6) {
        step_scene(s, dt / 2, depth + 1);
        step_scene(s, dt / 2, depth + 1);
    } else
        check_ok(s->ctx, status);
}

/* Adds a bar that nothing holds: its clamp is a body without mass. */
static inline void add_flyer(build *b, const soft_bar *bar, bo_se3 at, bo_vec3 velocity) {
    const int32_t body = add_body(b, 0, bo_v3(0, 0, 0), at);
    bo_store3(b->bodies[body].twist, bo_mat_tvec(at.R, velocity));
    b->parts[add_part(b, bar->component, body, at)].damping_stiffness = 2e-3;
}

/* One bar along x, and one along y that crosses it above, `gap` away. */
static inline scene cross_bars(const soft_bar *bar, double gap, double friction, bo_vec3 velocity) {
    scene s = {.ctx = bar->ctx, .b = start_build(), .friction = friction};
    const bo_se3 across = {bo_exp3(bo_v3(0, 0, M_PI / 2)), bo_v3(0.55 * LENGTH, -0.45 * LENGTH, WIDTH + gap)};
    add_flyer(s.b, bar, bo_se3_identity(), bo_v3(0, 0, 0));
    add_flyer(s.b, bar, across, velocity);
    finish_build(s.b);
    make_world(&s);
    return s;
}

#endif
