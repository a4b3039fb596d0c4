/* Matrices of a multibody system in full, and the frequencies at which it vibrates about a state. */
#ifndef BOUGH_TEST_VIBRATIONS_H
#define BOUGH_TEST_VIBRATIONS_H

#include "../test.h"

#include "multibody/multibody.h"

/* Entry (i, j) of what was unfolded, velocities before multipliers. */
static inline double entry_of(const bough_multibody *model, const double *A, int32_t i, int32_t j) {
    return A[(model->nv + model->nc) * model->place[i] + model->place[j]];
}

/* Angular frequencies squared, ascending, of small motions about the state, which is at rest; returns their number. */
static inline int32_t vibrations(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                 double *squares) {
    bough_multibody_modes *modes;
    check_ok(ctx, bough_multibody_find_modes(ctx, model, state, model->nv, &modes));
    const int32_t count = modes->count;
    memcpy(squares, modes->squares, (size_t)count * sizeof *squares);
    bough_multibody_modes_destroy(ctx, modes);
    return count;
}

#endif
