/* Contact in the search for an equilibrium: settle.c. docs/theory/tree.md, "Statics". */
#ifndef BO_TREE_SETTLE_TOUCH_H
#define BO_TREE_SETTLE_TOUCH_H

#include "tree/tree.h"

/* Contact of one search. The forces that were accepted are in the memory of the state's contacts (touch.h). */
typedef struct bo_tree_lean bo_tree_lean;

/* *lean NULL: the state touches nothing. */
bough_status bo_tree_lean_begin(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                bo_tree_lean **lean);
/* With the frames at q and without velocities, after the loads were taken: adds the forces of the contacts to the loads.
 * *off: the largest error of their gaps, over the size of the parts. */
bough_status bo_tree_lean_load(bo_tree_lean *lean, const double *q, double *off);
/* With accelerations a of (M + h^2 K) a = -gradient at q, and the factors of that: finds forces such that q + h^2 a goes
 * into nothing, and adds what they are more than before to the loads. The frames are at q without velocities again.
 * The forces are tried from now on, until they are accepted or dropped. */
bough_status bo_tree_lean_push(bo_tree_lean *lean, const double *q, const double *a, double h2);
/* The way from q to `to` bends a part so far that it could pass what it should meet. */
bool bo_tree_lean_goes_far(const bo_tree_lean *lean, const double *q, const double *to);
/* lean NULL: nothing to do. */
void bo_tree_lean_accept(bo_tree_lean *lean);
void bo_tree_lean_drop(bo_tree_lean *lean);
/* Frees it. With the frames at q and found: the contacts become those of the state, which rests on them. */
bough_status bo_tree_lean_end(bo_tree_lean *lean, const double *q, bool found);

#endif
