/* Trees that rest: they fall asleep, cost nothing, and wake up when something touches them. docs/theory/tree.md,
 * "Rest". */
#ifndef BO_TREE_REST_H
#define BO_TREE_REST_H

#include "tree/tree.h"

/* The model as steps see it: without the trees that sleep. Needs room for a copy. */
const bough_tree_model *bo_tree_awake(const bough_tree_model *model, bough_tree_model *room);
/* Nobody is awake. */
bool bo_tree_all_sleep(const bough_tree_model *model);

/* After a step: for how long each tree has rested. */
void bo_tree_watch_rest(const bough_tree_model *awake, bough_tree_state *state, double dt);
/* A tree of which this part is (inside number) wakes before the next step. */
void bo_tree_call(const bough_tree_model *model, bo_tree_work *work, int32_t part);
/* Before a step: trees that have rested for long fall asleep, and those that were called, or that something else has
 * happened to, wake up. model: as the program made it. Needs memory where one does. */
bough_status bo_tree_rest(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state);

#endif
