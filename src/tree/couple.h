/* What the couplings share. */
#ifndef BO_TREE_COUPLE_H
#define BO_TREE_COUPLE_H

#include "tree/tree.h"

/* blkdiag(R,R) I blkdiag(R,R)^T: an inertia in the axes that R turns into. */
void bo_tree_turn(bo_mat3 R, const double *I, double *out);
/* Inertia and force about x become those about the origin: X^T I X, X^T p. */
void bo_tree_shift(bo_vec3 x, double I[36], double p[6]);

/* Lets the parent of part j feel the inertia I with the bias force p, both about j's origin in its axes: adds to the
 * parent's L, Mrq and p_q. I and p become those about the parent's origin in its axes, moved with the parent. */
void bo_tree_hang(const bough_model *model, bo_tree_work *work, int32_t j, double I[36], double p[6]);

/* Acceleration of part j's frame from that of its parent and the parent's coordinates (all of a). */
void bo_tree_accelerate_frame(const bough_model *model, bo_tree_work *work, int32_t j, const double *a);

/* lumped.c: solve->I and p become those of the whole subtree as one rigid body that moves with the part's frame. */
void bo_tree_compose(const bough_model *model, bo_tree_work *work);
/* Accelerations when each part feels a lump instead of what hangs on it; after bo_tree_compose() and with the roots'
 * accelerations. */
bool bo_tree_solve_lumped(const bough_model *model, bo_tree_work *work, double *a);

#endif
