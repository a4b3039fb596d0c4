/* Small vibrations of trees. */
#ifndef BOUGH_BENCH_TREE_MODES_H
#define BOUGH_BENCH_TREE_MODES_H

#include "bench.h"

/* Columns of M^-1 at rest (n x n) with the state's coupling: accelerations by unit forces, without elastic ones. */
bool tree_inverse_mass(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double *inverse);
/* The diagonal of K (n), which has no other entries; parts are as their components are. */
void tree_stiffness(const bough_tree_model *model, double *K);
/* The `wanted` lowest frequencies (Hz) of K x = w^2 M x on coordinates first .. first + count - 1 of n, and the shape
 * of the first (may be NULL). */
bool tree_vibrations(int32_t n, const double *inverse, const double *K, int32_t first, int32_t count, int32_t wanted,
                     double *hz, double *shape);
/* All of these for the whole tree with the exact coupling. */
bool tree_lowest_modes(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, int32_t wanted,
                       double *hz, double *shape);

/* From the first upward crossing of zero to the last, of a series of steps of dt; NAN when there are not two. */
double crossing_frequency(int32_t count, const double *x, double dt);

#endif
