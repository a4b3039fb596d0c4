/* Systems that are driven by motors, and motions of theirs that are to be like something: for derivatives of motions. */
#ifndef TEST_RETARGET_MOTIONS_H
#define TEST_RETARGET_MOTIONS_H

#include "multibody/lumps.h"
#include "multibody/rods.h"

#include "multibody/multibody.h"

#include <bough/retarget.h>

enum { STEPS = 60, POINTS = 12, MOST_TRACKED = 2, MOST_MOTORS = 2, MOST_PARAMETERS = 8 };
#define DT 0.01

/* A system, and what it is asked for. */
typedef struct {
    build *b;
    lump *lumps[2];
    bough_component *rod;                         /* NULL: none was cooked */
    int32_t tracked[MOST_TRACKED], tracked_count; /* bodies */
    bough_motor_curves *curves;
    bough_adjoint_def def;
    bough_tracked_frame frames[MOST_TRACKED];
    double weights[STEPS + 1], positions[3 * (STEPS + 1)], rotations[9 * (STEPS + 1)], input[MOST_MOTORS * (STEPS + 1)];
    bough_multibody_parameter parameters[MOST_PARAMETERS];
    bough_motor_limits limits[MOST_MOTORS];
    bool settles; /* it begins in equilibrium */
    bough_adjoint *adjoint;
} problem;

/* A body at the tip of the part that was added last. */
static inline void weld_to_tip(build *b, int32_t part, int32_t body) {
    bough_joint_def *weld = &b->joints[b->def.joint_count++];
    *weld = bough_default_joint_def();
    weld->kind = BOUGH_JOINT_WELD;
    weld->parent.body = b->def.body_count + part, weld->parent.interface_index = 0, weld->child.body = body;
}

static inline void start_problem(problem *p) {
    *p = (problem){.b = start_build()};
    test_weigh(p->b->def.gravity);
}

/* ---- systems ---- */

/* Stiff enough for the motions below. */
static inline bough_flexible_def *add_stiff_part(build *b, const lump *l, int32_t body) {
    bough_flexible_def *part = &b->parts[add_part(b, &l->c, body, place_at(bo_v3(0, 0, 0)))];
    part->stiffness = 3;
    return part;
}

static inline bo_vec3 tip_of(const lump *l) {
    return bo_load3(l->faces[0].centre);
}

/* A motor, a flexible part and a weight at its end. */
static inline void one_rod(problem *p) {
    test_random random = {11};
    start_problem(p);
    p->lumps[0] = make_lump(&random, 4, 0.5);
    const int32_t hub = add_body(p->b, 0.3, bo_v3(1e-3, 1e-3, 1e-3), place_at(bo_v3(0, 0, 0)));
    const int32_t tip = add_body(p->b, 0.1, bo_v3(2e-4, 1e-4, 3e-4), place_at(tip_of(p->lumps[0])));
    add_motor(p->b, add_hinge(p->b, BOUGH_WORLD, hub, bo_v3(0, 0, 0), bo_v3(0, 1, 0.2)), 0);
    bough_flexible_def *rod = add_stiff_part(p->b, p->lumps[0], hub);
    rod->damping_mass = 0.2, rod->damping_stiffness = 2e-3;
    weld_to_tip(p->b, 0, tip);
    p->tracked[p->tracked_count++] = tip;
}

/* A rod whose elastic forces are no polynomial: integrated at some of its elements. */
static inline void cooked_rod(problem *p) {
    start_problem(p);
    rod_def rod = default_rod();
    rod.length = 0.5, rod.thickness = 0.01, rod.cells = 10, rod.modes = 2, rod.r = 5,
    rod.model = BOUGH_MATERIAL_NEO_HOOKEAN;
    p->rod = cook_rod(p->b->ctx, &rod);
    check_int(p->rod->elastic, BOUGH_REDUCED_CUBATURE);
    const int32_t hub = add_body(p->b, 0.05, bo_v3(2e-5, 2e-5, 2e-5), place_at(bo_v3(0, 0, 0)));
    const int32_t tip = add_body(p->b, 0.1, bo_v3(2e-5, 2e-5, 2e-5), place_at(bo_v3(rod.length, 0, 0)));
    add_motor(p->b, add_hinge(p->b, BOUGH_WORLD, hub, bo_v3(0, 0, 0), bo_v3(0, 1, 0)), 0);
    p->b->parts[add_part(p->b, p->rod, hub, place_at(bo_v3(0, 0, 0)))].damping_stiffness = 2e-3;
    weld_tip(p->b, 0, tip);
    p->tracked[p->tracked_count++] = tip;
}

/* A second motor and rod at the end of the first. */
static inline void two_rods(problem *p) {
    test_random random = {12};
    one_rod(p);
    p->lumps[1] = make_lump(&random, 3, 0.3);
    const bo_vec3 elbow = bo_load3(p->b->bodies[1].pose.position);
    const int32_t hub = add_body(p->b, 0.1, bo_v3(1e-4, 1e-4, 1e-4), place_at(elbow));
    const int32_t tip = add_body(p->b, 0.05, bo_v3(1e-4, 1e-4, 1e-4), place_at(bo_add(elbow, tip_of(p->lumps[1]))));
    add_motor(p->b, add_hinge(p->b, 1, hub, elbow, bo_v3(1, 0, 0)), 0);
    add_stiff_part(p->b, p->lumps[1], hub);
    weld_to_tip(p->b, 1, tip);
    p->b->joints[1].parent.body = p->b->def.body_count; /* parts count from behind the bodies */
    p->tracked[p->tracked_count++] = tip;
}

/* Four bars in a plane: three constraints are redundant. The coupler bends. */
static inline void four_bars(problem *p) {
    test_random random = {13};
    start_problem(p);
    build *b = p->b;
    p->lumps[0] = make_lump(&random, 3, 0.6);
    const bo_vec3 axis = bo_v3(0, 1, 0), A = bo_v3(0, 0, 0), B = bo_v3(-0.15, 0, 0.1);
    const bo_vec3 C = bo_add(B, tip_of(p->lumps[0])), D = bo_v3(0.5, 0, 0.1);
    const int32_t crank = add_link(b, 0.2, A, B), root = add_body(b, 0.05, bo_v3(1e-4, 1e-4, 1e-4), place_at(B));
    const int32_t end = add_body(b, 0.05, bo_v3(1e-4, 1e-4, 1e-4), place_at(C)), rocker = add_link(b, 0.3, C, D);
    add_motor(b, add_hinge(b, BOUGH_WORLD, crank, A, axis), 0);
    add_hinge(b, crank, root, B, axis);
    add_stiff_part(b, p->lumps[0], root)->damping_stiffness = 5e-3;
    weld_to_tip(b, 0, end);
    add_hinge(b, end, rocker, C, axis);
    add_hinge(b, BOUGH_WORLD, rocker, D, axis);
    p->tracked[p->tracked_count++] = rocker;
}

/* Motors that give way, one with a limit, on a hinge and on a slide. */
static inline void soft_motors(problem *p) {
    start_problem(p);
    build *b = p->b;
    const int32_t arm = add_link(b, 0.5, bo_v3(0, 0, 0), bo_v3(0.4, 0, 0));
    const int32_t slider = add_body(b, 0.2, bo_v3(1e-3, 2e-3, 3e-3), place_at(bo_v3(0.4, 0, 0)));
    bough_motor_def *motor = add_motor(b, add_hinge(b, BOUGH_WORLD, arm, bo_v3(0, 0, 0), bo_v3(0, 1, 0)), 0);
    motor->stiffness = 40, motor->damping = 0.5, motor->limit = 4;
    motor = add_motor(
        b, add_joint(b, BOUGH_JOINT_PRISMATIC, arm, slider, place_along(bo_v3(0.4, 0, 0), bo_v3(1, 0, 0))), 0);
    motor->stiffness = 300, motor->damping = 5;
    p->tracked[p->tracked_count++] = slider;
}

/* A gear between two hinges, one of which is driven; an exact slide rides on the other. */
static inline void geared(problem *p) {
    start_problem(p);
    build *b = p->b;
    const int32_t first = add_link(b, 0.5, bo_v3(0, 0, 0), bo_v3(0.3, 0, 0));
    const int32_t second = add_link(b, 0.4, bo_v3(0.3, 0, 0), bo_v3(0.6, 0.1, 0));
    const int32_t slider = add_body(b, 0.2, bo_v3(1e-3, 2e-3, 3e-3), place_at(bo_v3(0.6, 0.1, 0)));
    const int32_t base = add_hinge(b, BOUGH_WORLD, first, bo_v3(0, 0, 0), bo_v3(0, 0.2, 1));
    const int32_t elbow = add_hinge(b, first, second, bo_v3(0.3, 0, 0), bo_v3(0, 0, 1));
    add_motor(b, base, 0);
    add_gear(b, base, 0, elbow, 0, 0.7);
    add_motor(b, add_joint(b, BOUGH_JOINT_PRISMATIC, second, slider, place_along(bo_v3(0.6, 0.1, 0), bo_v3(1, 0.3, 0))),
              0);
    p->tracked[p->tracked_count++] = slider;
}

/* Springs, dampers, friction, limits: a driven arm that carries a hinge, a ball and a compliant joint. */
static inline void sprung(problem *p) {
    start_problem(p);
    build *b = p->b;
    b->def.friction_speed = 0.2;
    const int32_t arm = add_link(b, 0.5, bo_v3(0, 0, 0), bo_v3(0.3, 0, 0));
    const int32_t flap = add_link(b, 0.2, bo_v3(0.3, 0, 0), bo_v3(0.3, 0, -0.3));
    const int32_t bob = add_link(b, 0.2, bo_v3(0.3, 0, -0.3), bo_v3(0.35, 0, -0.5));
    const int32_t box = add_body(b, 0.2, bo_v3(1e-3, 2e-3, 3e-3), place_at(bo_v3(0.35, 0.05, -0.5)));
    add_motor(b, add_hinge(b, BOUGH_WORLD, arm, bo_v3(0, 0, 0), bo_v3(0, 1, 0)), 0);
    bough_joint_def *joint = &b->joints[add_hinge(b, arm, flap, bo_v3(0.3, 0, 0), bo_v3(0, 1, 0))];
    joint->stiffness[0] = 0.8, joint->damping[0] = 0.02, joint->friction[0] = 0.03, joint->offset[0] = 0.1;
    joint->upper[0] = 0.05, joint->lower[0] = -3, joint->limit_stiffness = 3;
    joint = &b->joints[add_joint(b, BOUGH_JOINT_BALL, flap, bob, place_at(bo_v3(0.3, 0, -0.3)))];
    for (int k = 0; k < 3; k++)
        joint->stiffness[k] = 0.3, joint->damping[k] = 0.01;
    joint = &b->joints[add_joint(b, BOUGH_JOINT_COMPLIANT, bob, box, place_at(bo_v3(0.35, 0, -0.5)))];
    for (int k = 0; k < 6; k++)
        joint->stiffness[k] = k < 3 ? 60 : 2, joint->damping[k] = k < 3 ? 1 : 0.02;
    p->tracked[p->tracked_count++] = bob, p->tracked[p->tracked_count++] = box;
}

/* ---- problems ---- */

/* Motors swing; frames are to be somewhere near where they begin. */
static inline void finish_problem(problem *p) {
    test_random random = {77};
    build *b = p->b;
    finish_build(b);
    double starts[MOST_MOTORS] = {0};
    for (int32_t m = 0; m < b->def.motor_count; m++)
        starts[m] = coordinate_of(b, b->motors[m].joint, 0);
    check_ok(b->ctx, (p->settles ? bough_multibody_settle : bough_multibody_assemble)(b->ctx, b->model, b->state));
    const int32_t motors = b->def.motor_count;
    check_ok(b->ctx, bough_motor_curves_create(b->ctx, motors, 3, POINTS, 0, STEPS * DT, &p->curves));
    for (int32_t m = 0; m < motors; m++) {
        const double start = starts[m], reach = b->motors[m].joint == 0 ? 0.5 : 0.1;
        for (int i = 0; i < POINTS; i++)
            p->curves->points[POINTS * m + i] =
                start + (i < 3 ? 0 : reach * sin(0.6 * (i - 2) + m) + 0.1 * reach * test_uniform(&random, -1, 1));
        for (int k = 0; k <= STEPS; k++)
            p->input[(STEPS + 1) * m + k] = start + reach * sin(5 * k * DT);
    }
    const bo_mat3 turn = draw_rotation(&random);
    for (int k = 0; k <= STEPS; k++) {
        p->weights[k] = 1 + 0.5 * sin(0.3 * k);
        for (int i = 0; i < 3; i++)
            p->positions[3 * k + i] = b->bodies[p->tracked[0]].pose.position[i] + 0.05 * sin(0.1 * k + i);
        memcpy(p->rotations + 9 * k, turn.m, sizeof turn.m);
    }
    p->def = bough_default_adjoint_def();
    p->def.dt = DT, p->def.step_count = STEPS, p->def.tolerance = 1e-14;
    p->def.tracked = p->frames, p->def.tracked_count = p->tracked_count;
    p->def.input_weight = 1e-2, p->def.input = p->input, p->def.acceleration_weight = 1e-5;
    p->def.parameters = p->parameters, p->def.start_settles = p->settles;
    for (int32_t m = 0; m < motors; m++) /* less than what the curves ask for */
        p->limits[m] = (bough_motor_limits){-0.3, 0.02, 0.5, 6, bo_mb_motor_row(p->b->model, m) < 0 ? INFINITY : 0.1};
    p->def.limits = p->limits;
    for (int32_t i = 0; i < p->tracked_count; i++) {
        p->frames[i] = (bough_tracked_frame){bough_default_frame_def(), 1, 0.1, p->weights, p->positions, p->rotations};
        p->frames[i].frame.body = p->tracked[i];
        p->frames[i].frame.pose.position[0] = 0.1;
    }
    if (b->def.part_count > 0 && p->tracked_count == 1) { /* another interface, on which no joint is */
        bough_tracked_frame *side = &p->frames[p->def.tracked_count++];
        *side = p->frames[0];
        side->frame.body = b->def.body_count, side->frame.interface_index = 1, side->weights = NULL;
    }
}

static inline void make_adjoint(problem *p) {
    check_ok(p->b->ctx, bough_adjoint_create(p->b->ctx, p->b->model, p->b->state, p->curves, &p->def, &p->adjoint));
}

static inline void free_problem(problem *p) {
    bough_adjoint_destroy(p->b->ctx, p->adjoint);
    bough_motor_curves_destroy(p->b->ctx, p->curves);
    bough_multibody_state_destroy(p->b->ctx, p->b->state);
    bough_multibody_destroy(p->b->ctx, p->b->model);
    bough_component_destroy(p->b->ctx, p->rod);
    p->b->state = NULL, p->b->model = NULL;
    free_build(p->b);
    for (int i = 0; i < 2; i++)
        if (p->lumps[i])
            free_lump(p->lumps[i]);
}

static const struct {
    const char *name;
    void (*fill)(problem *p);
} systems[] = {
    {"one rod", one_rod}, {"two rods", two_rods}, {"four bars", four_bars}, {"motors that give way", soft_motors},
    {"gear", geared},     {"springs", sprung},    {"cubature", cooked_rod}};
enum { SYSTEMS = sizeof systems / sizeof *systems };

#endif
