/* Parts of a block, side by side. Vectors of a block are n x lanes. A part alone (lanes = 1) is computed with vectors along
 * its coordinates, a wide block with vectors across its parts. */
#ifndef BO_TREE_BLOCKS_H
#define BO_TREE_BLOCKS_H

#include "tree/tree.h"

/* x of the parts of a block, side by side; zeros where there is none. */
void bo_tree_gather_block(const bough_tree_model *model, const bo_tree_block *b, const double *x, double *out);

/* bo_tree_eliminate() and bo_tree_substitute() of one block, whose accelerations stay side by side. exact: what hangs on
 * the parts is coupled by their coordinates. */
bool bo_tree_eliminate_block(bo_tree_work *work, const bo_tree_block *b, bool exact);
void bo_tree_substitute_block(const bo_tree_work *work, const bo_tree_block *b, bool exact, double *out);

#endif
