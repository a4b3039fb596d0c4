/* Frequencies of parts, and damping that belongs to them. */
#ifndef BO_TREE_PAINT_H
#define BO_TREE_PAINT_H

#include "tree/tree.h"

/* Lowest frequencies (rad/s, at stiffness 1) of the parts that are wanted (NULL: of all), by their outside numbers;
 * INFINITY for rigid ones. The model is laid out. */
bough_status bo_tree_frequencies(bough_context *ctx, const bough_tree_model *model, const bool *wanted, double *omega);
/* Damping of the parts in a model's def that have a damping ratio. The model is laid out. */
bough_status bo_tree_paint_damping(bough_context *ctx, bough_tree_model *model);

#endif
