/* Snapshots without a checksum: for copies that stay in memory, or in a file that has one of its own. */
#ifndef BO_TREE_SNAPSHOT_H
#define BO_TREE_SNAPSHOT_H

#include <bough/tree.h>

/* As bough_tree_state_save() and bough_tree_state_restore(), in as many bytes; each refuses what the other has saved.
 */
void bo_tree_save_plain(const bough_tree_model *model, const bough_tree_state *state, void *bytes);
bough_status bo_tree_restore_plain(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   const void *bytes, size_t size);
/* Roots get the numbers of their parts, whatever was written there. */
void bo_tree_number_roots(const bough_tree_model *now, bough_tree_state *state);

#endif
