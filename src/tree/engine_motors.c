#include "tree/engine_motors.h"

#include "tree/engine_changes.h"

#include <math.h>

static int32_t freedoms_of(const bough_joint_def *joint) {
    return joint ? bough_joint_freedoms(joint->kind) : 0;
}

void bo_tree_motors_find(const bough_tree_model *model, bo_tree_motors *motors) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    motors->count = 0;
    for (int32_t p = 0; p < def->part_count; p++)
        for (int32_t k = 0; def->parts[p].parent >= 0 && k < freedoms_of(def->parts[p].joint); k++)
            if (motors->count < BO_MOST_TREE_MOTORS) {
                motors->part[motors->count] = p, motors->freedom[motors->count] = k;
                motors->count++;
            }
}

/* Returns how far the surface reaches from the origin, about which the part turns. */
static double reach_of(const bough_component *c, double scale) {
    double square = 0;
    for (size_t v = 0; v < (size_t)c->surface.vertex_count; v++) {
        double sum = 0;
        for (size_t d = 0; d < 3; d++)
            sum += pow((double)c->surface.position[3 * v + d], 2);
        square = fmax(square, sum);
    }
    return scale * sqrt(square);
}

/* Returns the mass of the part and of everything that hangs on it. */
static double mass_on(const bough_tree_model_def *def, int32_t part) {
    double mass = 0;
    for (int32_t p = part; p < def->part_count; p++) {
        int32_t at = p;
        while (at > part)
            at = def->parts[at].parent;
        if (at == part)
            mass += def->components[def->parts[p].component]->mass * pow(def->parts[p].scale, 3);
    }
    return mass;
}

/* As much as turns the joint's spring by a radian, or holds what hangs there out level on the earth. */
static double largest_torque(const bough_tree_model *model, int32_t part) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    const bough_part_def *p = &def->parts[part];
    const double weight = 9.81 * mass_on(def, part) * reach_of(def->components[p->component], p->scale);
    return fmax(fmax(p->joint->stiffness[0], weight), 1e-9);
}

void bo_tree_motors_look(const bo_tree_motors *motors, const bough_tree_model *model, const bo_hands *hands, int32_t i,
                         bough_run_motor *out) {
    const double most = largest_torque(model, motors->part[i]);
    *out = (bough_run_motor){.joint = bough_tree_model_describe(model)->parts[motors->part[i]].name,
                             .freedom = motors->freedom[i],
                             .unit = "N m",
                             .lowest = -most,
                             .highest = most,
                             .offset = bo_hands_hold_motor(hands, i) ? hands->motors[i] : 0,
                             .held = bo_hands_hold_motor(hands, i)};
}

bough_status bo_tree_motors_push(const bo_tree_motors *motors, bough_context *ctx, const bough_tree_model *model,
                                 bough_tree_state *state, const bo_hands *hands) {
    const bough_part_def *parts = bough_tree_state_parts(model, state);
    for (int32_t i = 0; i < motors->count; i++) {
        const int32_t part = motors->part[i];
        double torque[3] = {0, 0, 0};
        if (!bo_hands_hold_motor(hands, i) || parts[part].parent < 0 || !parts[part].joint ||
            !bo_part_is_there(model, state, part))
            continue;
        torque[motors->freedom[i]] = hands->motors[i];
        BO_TRY(bough_tree_state_add_joint_torque(ctx, model, state, part, torque));
    }
    return BOUGH_OK;
}
