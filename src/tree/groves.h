/* Trees that a step goes through one after the other. */
#ifndef BO_TREE_GROVES_H
#define BO_TREE_GROVES_H

#include "base/threads.h"
#include "tree/tree.h"

/* The grove of every part (outside numbers), before the parts are in order. */
bough_status bo_tree_find_groves(bough_context *ctx, const bough_tree_model *model, int32_t *grove_of);
/* Groves of a model whose blocks are cut; places of the blocks' numbers. To be freed also when it fails. */
bough_status bo_tree_list_groves(bough_context *ctx, bough_tree_model *model);
void bo_tree_free_groves(bough_context *ctx, bough_tree_model *model);

/* Doubles of work->sets, and how many sets these are. */
size_t bo_tree_grove_sets_size(const bough_context *ctx, const bough_tree_model *model, int32_t *count);

/* Calls task once for each grove, with the model and the state as far as they are the grove's; or once for all, where
 * there are too few of them. The same bits in either case. A task leaves everything of the state alone that is not by
 * parts or coordinates. All groves are visited, also when one fails. */
typedef bough_status (*bo_tree_grove_task)(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                           const void *data);
bough_status bo_tree_each_grove(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                bo_tree_grove_task task, const void *data);

/* Calls range(data, begin, end, chunk) for ranges of blocks that make up the model or the grove: all in chunk 0 in a
 * grove, else by the context's threads. */
void bo_tree_each_block(bough_context *ctx, const bough_tree_model *model, bo_range_task range, void *data);

#endif
