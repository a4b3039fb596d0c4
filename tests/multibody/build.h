/* Models of rigid bodies and joints, built by saying where things are in the world at the start. */
#ifndef BOUGH_TEST_BUILD_H
#define BOUGH_TEST_BUILD_H

#include "../test.h"

#include "base/pose.h"

#include <bough/multibody.h>

enum { BUILD_BODIES = 16, BUILD_PARTS = 6, BUILD_JOINTS = 24, BUILD_MOTORS = 4, BUILD_GEARS = 4 };

typedef struct {
    bough_context *ctx;
    bough_rigid_body_def bodies[BUILD_BODIES];
    bough_flexible_def parts[BUILD_PARTS];
    bough_joint_def joints[BUILD_JOINTS];
    bough_motor_def motors[BUILD_MOTORS];
    bough_gear_def gears[BUILD_GEARS];
    bough_multibody_def def;
    bough_multibody *model; /* once it is finished */
    bough_multibody_state *state;
} build;

static inline build *start_build(void) {
    build *b = calloc(1, sizeof *b);
    b->ctx = test_context(1);
    b->def = bough_default_multibody_def();
    b->def.bodies = b->bodies, b->def.parts = b->parts, b->def.joints = b->joints;
    b->def.motors = b->motors, b->def.gears = b->gears;
    return b;
}

static inline bo_se3 place_at(bo_vec3 x) {
    return (bo_se3){bo_identity3(), x};
}
/* A frame at x whose axis z is along `axis`. */
static inline bo_se3 place_along(bo_vec3 x, bo_vec3 axis) {
    const bo_vec3 z = bo_scale(1 / bo_norm(axis), axis);
    const bo_vec3 other = fabs(z.x) < 0.6 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0), y0 = bo_cross(z, other);
    const bo_vec3 y = bo_scale(1 / bo_norm(y0), y0), e = bo_cross(y, z);
    return (bo_se3){{{e.x, y.x, z.x, e.y, y.y, z.y, e.z, y.z, z.z}}, x};
}

/* inertia: about the principal axes, which are those of the place; its origin is the centre of mass. */
static inline int32_t add_body(build *b, double mass, bo_vec3 inertia, bo_se3 place) {
    bough_rigid_body_def *body = &b->bodies[b->def.body_count];
    *body = bough_default_rigid_body_def();
    body->mass = mass;
    const double I[9] = {inertia.x, 0, 0, 0, inertia.y, 0, 0, 0, inertia.z};
    memcpy(body->inertia, I, sizeof I);
    body->pose = bo_put_pose(place);
    return b->def.body_count++;
}

/* A thin rod from one place to another. */
static inline int32_t add_link(build *b, double mass, bo_vec3 from, bo_vec3 to) {
    const bo_vec3 along = bo_sub(to, from);
    const double round = mass * bo_dot(along, along) / 12;
    return add_body(b, mass, bo_v3(round, round, 0.01 * round), place_along(bo_scale(0.5, bo_add(from, to)), along));
}

/* The body, or the world, in the world at the start. */
static inline bo_se3 body_at_start(const build *b, int32_t body) {
    return body < 0 ? bo_se3_identity() : bo_pose(&b->bodies[body].pose);
}

/* Both frames of the joint are at the place in the world. */
static inline int32_t add_joint(build *b, bough_joint_kind kind, int32_t parent, int32_t child, bo_se3 place) {
    bough_joint_def *joint = &b->joints[b->def.joint_count];
    *joint = bough_default_joint_def();
    joint->kind = kind, joint->parent.body = parent, joint->child.body = child;
    joint->parent.pose = bo_put_pose(bo_se3_mul(bo_se3_inverse(body_at_start(b, parent)), place));
    joint->child.pose = bo_put_pose(bo_se3_mul(bo_se3_inverse(body_at_start(b, child)), place));
    return b->def.joint_count++;
}
static inline int32_t add_hinge(build *b, int32_t parent, int32_t child, bo_vec3 x, bo_vec3 axis) {
    return add_joint(b, BOUGH_JOINT_HINGE, parent, child, place_along(x, axis));
}

/* Exact, unless a stiffness is set afterwards. */
static inline bough_motor_def *add_motor(build *b, int32_t joint, int32_t freedom) {
    bough_motor_def *motor = &b->motors[b->def.motor_count++];
    *motor = bough_default_motor_def();
    motor->joint = joint, motor->freedom = freedom;
    return motor;
}

static inline void add_gear(build *b, int32_t first, int32_t freedom, int32_t second, int32_t second_freedom,
                            double ratio) {
    bough_gear_def *gear = &b->gears[b->def.gear_count++];
    *gear = bough_default_gear_def();
    gear->joints[0] = first, gear->freedoms[0] = freedom;
    gear->joints[1] = second, gear->freedoms[1] = second_freedom, gear->ratio = ratio;
}

/* Hangs by the interface it was cooked with, at the place in the world; rigid bodies come first. */
static inline int32_t add_part(build *b, const bough_component *component, int32_t body, bo_se3 place) {
    bough_flexible_def *part = &b->parts[b->def.part_count];
    *part = bough_default_flexible_def();
    part->component = component, part->clamp.body = body;
    part->clamp.pose = bo_put_pose(bo_se3_mul(bo_se3_inverse(body_at_start(b, body)), place));
    part->damping_mass = part->damping_stiffness = 0;
    return b->def.part_count++;
}

static inline void finish_build(build *b) {
    check_ok(b->ctx, bough_multibody_create(b->ctx, &b->def, &b->model));
    check_ok(b->ctx, bough_multibody_state_create(b->ctx, b->model, &b->state));
}
/* The state at the start again. */
static inline void renew_state(build *b) {
    bough_multibody_state_destroy(b->ctx, b->state);
    check_ok(b->ctx, bough_multibody_state_create(b->ctx, b->model, &b->state));
}
static inline void free_build(build *b) {
    bough_multibody_state_destroy(b->ctx, b->state);
    bough_multibody_destroy(b->ctx, b->model);
    bough_context_destroy(b->ctx);
    free(b);
}

static inline void take_step(build *b, double dt) {
    check_ok(b->ctx, bough_multibody_step(b->ctx, b->model, b->state, dt));
}
/* Steps of equal length, `duration` in all. */
static inline void run_for(build *b, double duration, int steps) {
    for (int i = 0; i < steps; i++)
        take_step(b, duration / steps);
}
static inline void use_method(build *b, const char *name) {
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name;
    check_ok(b->ctx, bough_multibody_use_integrator(b->ctx, b->model, b->state, name ? &def : NULL));
}

static inline double coordinate_of(const build *b, int32_t joint, int freedom) {
    double q[BOUGH_MOST_FREEDOMS];
    bough_multibody_joint_coordinates(b->model, b->state, joint, q, NULL);
    return q[freedom];
}
static inline double rate_of(const build *b, int32_t joint, int freedom) {
    double rates[BOUGH_MOST_FREEDOMS];
    bough_multibody_joint_coordinates(b->model, b->state, joint, NULL, rates);
    return rates[freedom];
}
static inline bough_multibody_energies measure(const build *b) {
    bough_multibody_energies e;
    bough_multibody_measure(b->model, b->state, &e);
    return e;
}
static inline double energy_of(const build *b) {
    const bough_multibody_energies e = measure(b);
    return e.kinetic + e.elastic + e.springs + e.gravity;
}
static inline bo_vec3 position_of(const build *b, int32_t body) {
    return bo_load3(b->state->u + 7 * body);
}
static inline bo_mat3 axes_of_body(const build *b, int32_t body) {
    const double *q = b->state->u + 7 * body + 3;
    return bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]});
}

/* Errors at two steps, the second half as long: about 2^order apart. */
#define check_order(coarse, fine, order, slack)                      \
    do {                                                             \
        const double check_order_ = log2(fabs(coarse) / fabs(fine)); \
        check_near(check_order_ - (order), 0, slack);                \
    } while (0)

#endif
