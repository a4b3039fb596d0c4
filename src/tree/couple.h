/* Functions that the couplings share. */
#ifndef BO_TREE_COUPLE_H
#define BO_TREE_COUPLE_H

#include "tree/tree.h"

/* Work on the blocks of a level, or on vectors of its slots, by the context's threads where it is worth it. `each` is
 * called with a scratch of its own. */
typedef struct bo_tree_sweep {
    bough_context *ctx;
    const bough_tree_model *model;
    bo_tree_work *work;
    const bo_tree_mode *mode;
    double *a; /* out: accelerations of the coordinates */
    bool bad[BO_TREE_CHUNKS];
} bo_tree_sweep;
typedef bool (*bo_tree_each)(bo_tree_sweep *sweep, int32_t index, double *scratch);
bool bo_tree_for_each(bo_tree_sweep *sweep, int32_t first, int32_t end, int32_t grain, bo_tree_each each);

/* Lets part i feel what hangs on it: up_I, up_p of its children are added to L, Mrq and p_q. */
void bo_tree_hang(const bough_tree_model *model, bo_tree_work *work, int32_t i, double *scratch);

/* The same for all parts at once: for lumps, which do not depend on each other. */
void bo_tree_hang_all(bo_tree_sweep *sweep);

/* Accelerations of the roots; false when the inertia of one that flies is singular. */
bool bo_tree_set_roots(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode);

/* Factors that the exact coupling leaves of a part's coordinates, in the block b: L (unit, with 1 / D on its diagonal) and
 * Z = L^-1 Mrq^T. */
static inline double bo_tree_L_at(const bo_tree_work *work, const bo_tree_block *b, int32_t lane, int32_t i,
                                  int32_t j) {
    const double *L = work->L + b->squares;
    return L[b->lanes == 1 ? (ptrdiff_t)i * b->n + j : (ptrdiff_t)BO_WIDE * (i * (i + 1) / 2 + j) + lane];
}
static inline double bo_tree_Z_at(const bo_tree_work *work, const bo_tree_block *b, int32_t lane, int32_t l, int d) {
    const double *Z = work->Z + 8 * b->vectors;
    return Z[b->lanes == 1 ? 8 * l + d : BO_WIDE * (8 * l + d) + lane];
}

/* The lower triangle of the inertia in a lane (36, row-major). */
void bo_tree_unpack_six(const bo_tree_inertias *s, int32_t lane, double I[36]);

/* lumped.c */

/* p of every part: the forces from outside on it alone, as a bias (with the opposite sign). */
void bo_tree_take_wrenches(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode);
/* I and p of each part become the sums over its subtree, as of one rigid body that moves with the part's frame. */
void bo_tree_compose(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode);
/* After these: up_I, up_p of all parts from what their subtrees look like to their parents (L1: up_p has the forces on
 * them already); and p of the roots gains what a rigid body's turning adds. */
void bo_tree_lump(const bough_tree_model *model, bo_tree_work *work, bough_coupling coupling);

/* L1: up_p of all parts gets the forces from outside on their subtrees. */
void bo_tree_sum_forces(const bough_tree_model *model, bo_tree_work *work);
/* Constants of L1, when the model is made. */
bough_status bo_tree_make_lumps(bough_context *ctx, bough_tree_model *model);
/* L1: the forces of what hangs on the parts of a block, whose frames' accelerations are known: into p_q. */
void bo_tree_drag(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode, int32_t block,
                  double *scratch);

/* respond.c */

/* Forces on the coordinates of a part by a wrench at the centre of one of its interfaces, in its axes: J^T [force;
 * torque] with J = [scale a; Op A], added to p_q. */
void bo_tree_face_forces(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part,
                         int32_t face, int32_t face_row, bo_vec3 force, bo_vec3 torque, double *p_q);
/* Acceleration of that centre and of its axes by those of the coordinates: J a */
void bo_tree_face_gain(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part, int32_t face,
                       int32_t face_row, const double *a, bo_vec3 *gain, bo_vec3 *turn);

#endif
