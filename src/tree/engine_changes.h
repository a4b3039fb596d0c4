/* Changes of the parts and ties of a scene while the tree engine steps it: events at their times, and breaking. */
#ifndef BO_TREE_ENGINE_CHANGES_H
#define BO_TREE_ENGINE_CHANGES_H

#include "tree/engine.h"

typedef struct bo_tree_changes {
    const bo_tree_plan *plan;
    const bough_tree_model *model;
    int32_t next;          /* the first event that has not happened */
    bough_change *list;    /* 2 part_count */
    double *stress;        /* part_count; NULL: no part breaks */
    bough_run_change *log; /* of the last step */
    size_t log_count, log_capacity;
    /* J of the state as the run measures it, and what changes have added to it so far. */
    bough_status (*energy)(void *data, double *energy);
    void *energy_data;
    double given;
} bo_tree_changes;

/* To be freed, also when it fails. */
bough_status bo_changes_make(bough_context *ctx, const bo_tree_plan *plan, const bough_tree_model *model,
                             bo_tree_changes *changes);
void bo_changes_free(bough_context *ctx, bo_tree_changes *changes);

/* When the next event happens; INFINITY: none does. */
double bo_changes_next_time(const bo_tree_changes *changes);
/* All events up to time t. Parts that are not there to be changed are left out, and ties that are so already. */
bough_status bo_changes_happen(bough_context *ctx, bo_tree_changes *changes, bough_tree_state *state, double t);
/* Makes the changes of a host between steps: all of them or, if one is impossible, none. */
bough_status bo_changes_by_hand(bough_context *ctx, bo_tree_changes *changes, bough_tree_state *state, int32_t count,
                                const bough_change *list);
/* Parts and ties that bear more than their strength break, and trees that have fallen far enough are removed. */
bough_status bo_changes_break(bough_context *ctx, bo_tree_changes *changes, bough_tree_state *state);
/* The wind of time t. */
bough_wind bo_changes_wind(const bo_tree_changes *changes, double t);

/* The part is there: neither it nor what it hangs on is absent. */
bool bo_part_is_there(const bough_tree_model *model, const bough_tree_state *state, int32_t part);

#endif
