/* Mechanisms in contact worlds that grow. */
#ifndef BOUGH_TEST_SURROUND_H
#define BOUGH_TEST_SURROUND_H

#include "moving.h"

#include "../contact/worlds.h"

static inline bough_touch_def *add_touch(plan *w, int32_t effector, bough_shape_def shape) {
    bough_touch_def *touch = &w->touches[w->touch_count++];
    *touch = bough_default_touch_def();
    touch->end_effector = effector, touch->shape = shape;
    return touch;
}
static inline bough_status create_with_weight(bough_context *ctx, const bough_contact_world_def *def,
                                              bough_contact_world **s) {
    const bough_status status = bough_contact_world_create(ctx, def, s);
    if (status == BOUGH_OK)
        test_weigh((*s)->gravity);
    return status;
}
/* The world with an actor in it, where creating that succeeded. */
static inline bough_status surround_actor(bough_context *ctx, bough_status made, bough_contact_actor *actor,
                                          const plan *w, bough_contact_world **s) {
    bough_contact_world_def def = w->def;
    *s = NULL;
    if (made != BOUGH_OK)
        return made;
    actor->touches_itself = w->touch_each_other;
    def.actor_count = 1, def.actors = actor;
    return create_with_weight(ctx, &def, s);
}
static inline bough_status try_surround(bough_context *ctx, const moving *m, const plan *w, bough_contact_world **s) {
    bough_contact_actor actor;
    if (!m)
        return create_with_weight(ctx, &w->def, s);
    const bough_status made = bough_mechanism_actor_create(ctx, m->model, m->state, w->touch_count, w->touches, &actor);
    return surround_actor(ctx, made, &actor, w, s);
}
/* m NULL: bodies among obstacles. */
static inline bough_contact_world *surround(bough_context *ctx, const moving *m, const plan *w) {
    bough_contact_world *s = NULL;
    check_ok(ctx, try_surround(ctx, m, w, &s));
    return s;
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
