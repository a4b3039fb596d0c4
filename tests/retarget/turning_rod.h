/* A motor that turns a slender rod of steel with a weight at its end, in a vertical plane: it sags, and it vibrates. */
#ifndef TEST_RETARGET_TURNING_ROD_H
#define TEST_RETARGET_TURNING_ROD_H

#include "../multibody/rods.h"

#include "retarget/shaping.h"

enum { TIP = 1 };       /* the body that is the weight */
#define TURN (M_PI / 6) /* rad */
#define TURN_START 0.1  /* s */
#define TURN_TIME 0.4   /* s */

/* A rod as it may differ from the one that curves were made for. */
typedef struct {
    double tip_mass;        /* kg */
    double strength;        /* factor on the rod's stiffness */
    double motor_stiffness; /* N m / rad */
} variant;

static const variant nominal_rod = {0.1, 1, INFINITY};

static inline bough_component *cook_turning_rod(void) {
    bough_context *ctx = test_context(1);
    rod_def rod = default_rod();
    rod.cells = 16, rod.modes = 3, rod.r = 9, rod.wide = 1.5;
    bough_component *component = cook_rod(ctx, &rod);
    bough_context_destroy(ctx);
    return component;
}

static inline void free_turning_rod(bough_component *component) {
    bough_context *ctx = test_context(1);
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

static inline build *make_turning_rod(const bough_component *component, variant v) {
    const rod_def rod = default_rod();
    build *b = start_build();
    const double J = rod.tip_inertia;
    add_body(b, 0.05, bo_v3(2e-5, 2e-5, 2e-5), place_at(bo_v3(0, 0, 0)));
    add_body(b, v.tip_mass, bo_v3(J, J, J), place_at(bo_v3(rod.length, 0, 0)));
    bough_motor_def *motor = add_motor(b, add_hinge(b, BOUGH_WORLD, 0, bo_v3(0, 0, 0), bo_v3(0, 1, 0)), 0);
    motor->stiffness = v.motor_stiffness, motor->damping = isfinite(v.motor_stiffness) ? 0.2 : 0;
    bough_flexible_def *part = &b->parts[add_part(b, component, 0, place_at(bo_v3(0, 0, 0)))];
    part->damping_mass = 0.05, part->damping_stiffness = 2e-4, part->stiffness = sqrt(v.strength);
    weld_tip(b, 0, TIP);
    test_weigh(b->def.gravity);
    finish_build(b);
    return b;
}

/* A turn upwards with continuous accelerations, which are 0 at both ends. */
static inline void turn_at(void *data, int32_t motor, double t, double *place, double *rate, double *acceleration) {
    (void)data, (void)motor;
    const double s = fmin(fmax((t - TURN_START) / TURN_TIME, 0), 1);
    *place = -TURN * s * s * s * (10 + s * (-15 + 6 * s));
    *rate = -TURN * 30 * s * s * (1 + s * (-2 + s)) / TURN_TIME;
    *acceleration = -TURN * 60 * s * (1 + s * (-3 + 2 * s)) / (TURN_TIME * TURN_TIME);
}

/* The turn as a shaper leaves it, with corrections of the motor on top; a drive of states. */
typedef struct {
    bo_shaper shaper;
    double place, rate; /* corrections */
} shaped_turn;

static inline void drive_shaped(void *data, int32_t motor, double t, double *place, double *rate) {
    const shaped_turn *turn = data;
    bo_shaper_at(&turn->shaper, turn_at, NULL, motor, t, place, rate, NULL);
    *place += turn->place, *rate += turn->rate;
}

static inline shaped_turn plain_turn(void) {
    return (shaped_turn){.shaper = {.count = 1, .sizes = {1}}};
}

static inline void drive_with(build *b, shaped_turn *turn) {
    b->state->drive = drive_shaped, b->state->drive_data = turn;
    check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
}

/* Positions that were seen; half of their range is the size of a vibration. */
typedef struct {
    double low[3], high[3];
    int count;
} range;

static inline void widen(range *r, bo_vec3 at) {
    const double x[3] = {at.x, at.y, at.z};
    for (int k = 0; k < 3; k++) {
        r->low[k] = r->count == 0 ? x[k] : fmin(r->low[k], x[k]);
        r->high[k] = r->count == 0 ? x[k] : fmax(r->high[k], x[k]);
    }
    r->count++;
}
static inline double half_range(const range *r) {
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += pow(0.5 * (r->high[k] - r->low[k]), 2);
    return sqrt(sum);
}

#endif
