/* Changes of which part hangs where, made while a state runs. */
#ifndef BO_TREE_CHANGE_H
#define BO_TREE_CHANGE_H

#include "tree/tree.h"

/* A state about to stand on another layout: all that has to be made before nothing can fail any more. */
typedef struct bo_tree_shift {
    bough_tree_model *own;
    bo_tree_work work;
    bough_tree_root *roots;
    int32_t root_count;
} bo_tree_shift;

/* A copy of the parts as they are now, to be changed and handed to bo_tree_begin_shift(); NULL: no memory. */
bough_part_def *bo_tree_copy_links(bough_context *ctx, const bough_tree_model *now);
/* The layout in which parts hang as `parts` says, which is checked and taken over, also when it fails. Warm starts and
 * forces are carried over, and so are the roots that fly already; others start where and as their frames move. */
bough_status bo_tree_begin_shift(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                 bough_part_def *parts, bo_tree_shift *shift);
/* Nothing happened. */
void bo_tree_drop_shift(bough_context *ctx, bo_tree_shift *shift);
/* The state stands on it; frames are to be moved there. */
void bo_tree_make_shift(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                        bo_tree_shift *shift);

/* Changes that the engine makes of itself: roots that fly fall asleep, or wake up (rest.c). */
enum { BO_CHANGE_REST = BOUGH_CHANGE_ADD + 1, BO_CHANGE_WAKE };
/* As bough_tree_state_change(), of these two kinds alone; not recorded. */
bough_status bo_tree_rest_some(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                               int32_t count, const bough_change *changes);

#endif
