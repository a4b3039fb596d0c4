/* Joints of parts that a host may turn: a torque for each freedom. */
#ifndef BO_TREE_ENGINE_MOTORS_H
#define BO_TREE_ENGINE_MOTORS_H

#include "tree/engine.h"

enum { BO_MOST_TREE_MOTORS = 64 }; /* of the first joints: nobody holds more */

typedef struct bo_tree_motors {
    int32_t count;
    int32_t part[BO_MOST_TREE_MOTORS], freedom[BO_MOST_TREE_MOTORS];
} bo_tree_motors;

void bo_tree_motors_find(const bough_tree_model *model, bo_tree_motors *motors);
void bo_tree_motors_look(const bo_tree_motors *motors, const bough_tree_model *model, const bo_hands *hands, int32_t i,
                         bough_run_motor *out);
/* Adds the torques that somebody holds to the forces of the next step; of what was cut off or removed: none. */
bough_status bo_tree_motors_push(const bo_tree_motors *motors, bough_context *ctx, const bough_tree_model *model,
                                 bough_tree_state *state, const bo_hands *hands);

#endif
