/* A mechanism with its reduced model and a state of it. */
#ifndef BOUGH_TEST_MOVING_H
#define BOUGH_TEST_MOVING_H

#include "mechanisms.h"

typedef struct {
    bough_mechanism *mechanism;
    bough_mechanism_statics *statics;
    bough_mechanism_model *model;
    bough_mechanism_state *state;
} moving;

static inline moving start(bough_context *ctx, const sketch *s) {
    moving m = {0};
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m.mechanism));
    check_ok(ctx, bough_mechanism_statics_create(ctx, m.mechanism, NULL, &m.statics));
    check_ok(ctx, bough_mechanism_model_create(ctx, m.mechanism, m.statics, NULL, &m.model));
    check_ok(ctx, bough_mechanism_state_create(ctx, m.model, &m.state));
    return m;
}
static inline void stop(bough_context *ctx, moving m) {
    bough_mechanism_state_destroy(ctx, m.state);
    bough_mechanism_model_destroy(ctx, m.model);
    bough_mechanism_statics_destroy(ctx, m.statics);
    bough_mechanism_destroy(ctx, m.mechanism);
}
static inline void check_pose(const bough_pose *a, bo_se3 b, double tolerance) {
    for (int k = 0; k < 9; k++)
        check_near(a->rotation[k], b.R.m[k], tolerance);
    check_near(a->position[0], b.t.x, tolerance);
    check_near(a->position[1], b.t.y, tolerance);
    check_near(a->position[2], b.t.z, tolerance);
}

#endif
