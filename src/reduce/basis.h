/* Inside the making of a basis. Vectors are stored one after the other (count x n). */
#ifndef BO_REDUCE_BASIS_H
#define BO_REDUCE_BASIS_H

#include "reduce/cook.h"

/* A growing list of vectors. */
typedef struct bo_columns {
    int32_t count;
    double *values; /* count x n */
    size_t capacity;
} bo_columns;

/* Room for `more` vectors behind the last, which count at once; NULL when memory is short. Earlier ones may move. */
double *bo_columns_add(bo_cook *cook, bo_columns *columns, int32_t more);

/* modes.c */

/* cook->factor, and the rigid motions of a free body. */
bough_status bo_cook_factor(bo_cook *cook);
/* The lowest vibration modes into cook->modes and cook->eigenvalues. */
bough_status bo_cook_modes(bo_cook *cook, int32_t count);
/* Factors K of a free body anew with a smaller shift, a thousandth of the lowest flexible eigenvalue, once its modes
 * are known: for the solves that follow. */
bough_status bo_cook_lower_shift(bo_cook *cook);
/* As bo_cook_modes(), with more unknowns held; `factor` is of K without them. */
bough_status bo_cook_held_modes(bo_cook *cook, bo_factor *factor, const unsigned char *held, int32_t count);

/* boundary.c: six static modes of every interface but the parent's, appended to `modes`. */

/* Responses to unit forces and torques. */
bough_status bo_cook_attachment(bo_cook *cook, bo_columns *modes);
/* Responses to unit motions; with cook->modes of the body that is held at all interfaces. */
bough_status bo_cook_craig_bampton(bo_cook *cook, int32_t mode_count, bo_columns *modes);

/* derivatives.c: Phi_00, Phi_10, Phi_11, Phi_20, ... of `count` vectors. */
bough_status bo_cook_derivatives(bo_cook *cook, int32_t count, const double *seeds, double *derivatives);

/* wrenches.c */

/* Interfaces looked at, those that carry most, with six wrenches each; of so many of them also second derivatives. */
enum { BO_MOST_SITES = 16, BO_DERIVED_SITES = 4, BO_MOST_WRENCH_SHAPES = 6 * (BO_MOST_SITES + BO_DERIVED_SITES) };

/* Answers to unit forces and torques at the interfaces, scaled to the energy 1 (x.K x), then, with `derivatives`, what
 * each needs besides where it is large. *linear: how many are of the first kind. */
bough_status bo_cook_wrench_shapes(bo_cook *cook, bool derivatives, bo_columns *shapes, int32_t *linear);
/* Scales `count` of these shapes by their interfaces' shares of the load: of many small things none matters much, and
 * each turns a small patch that nothing else moves. */
void bo_cook_share_wrenches(const bo_cook *cook, int32_t linear, int32_t count, double *shapes);
/* The share of a site in all that is carried. */
double bo_cook_share_of(const bo_cook *cook, int32_t site);
/* quality.wrench_error, load_error and what it is of, from the finished U. */
bough_status bo_cook_wrench_error(bo_cook *cook);
/* The vertices farthest from the origin, with equal weights; none where they do not span a plane. */
bough_status bo_cook_free_end(bo_cook *cook, bough_interface *end);

/* to (columns x rows) = from^T, from (rows x columns) */
void bo_transpose_block(size_t rows, size_t columns, const double *from, double *to);

/* pca.c */

/* Appends the vectors to `basis` (orthonormal in the mass) as far as they are independent of it and of each other. */
bough_status bo_cook_orthonormalise(bo_cook *cook, int32_t count, const double *vectors, bo_columns *basis);
typedef struct bo_pca_def {
    int32_t most;     /* vectors of the basis */
    double tolerance; /* > 0: as few as leave less than this part of the candidates out */
    bool energy;      /* lengths are those of K, not of the mass */
} bo_pca_def;
/* The leading directions of the candidates, appended to `basis`. Of the candidates only what is orthogonal (in the
 * mass) to the basis as it was is left. In the mass norm: fills in quality.basis_error and energy_captured. */
bough_status bo_cook_pca(bo_cook *cook, bo_columns *candidates, const bo_pca_def *def, bo_columns *basis);
/* These two numbers again for the same candidates and a basis that has grown since; destroys the candidates. */
bough_status bo_cook_left_out(bo_cook *cook, bo_columns *candidates, const bo_columns *basis);

#endif
