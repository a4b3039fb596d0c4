/* Low modes of the system at the present state, for the hybrid integrators. */
#ifndef BO_TIME_MODES_H
#define BO_TIME_MODES_H

#include "time/integrator.h"

/* K x_i = lambda_i M x_i with X^T M X = I and W = M X; the first `count` of `width` vectors are used, the rest guard
 * the iteration. */
struct bo_mode_set {
    int32_t count, width;
    double *lambda, *damping; /* width; damping_i = x_i^T D x_i */
    double **X, **W;          /* width vectors each */
    double *dense;            /* 4 width^2 + 2 width */
    bool known;               /* X may serve as a start */
    int32_t age;              /* steps since the last refresh */
};

/* Return how many vectors, and how many doubles besides, a set takes from the arena. */
int32_t bo_mode_vectors(int32_t size, int32_t count);
size_t bo_mode_bytes(int32_t size, int32_t count);
bough_status bo_modes_take(bo_integrator *I);

/* A set as numbers, for checkpoints: restored, the next refresh gives the same bits. */
int64_t bo_modes_history_size(const bo_integrator *I);
void bo_modes_save(const bo_integrator *I, double *history);
void bo_modes_restore(bo_integrator *I, const double *history);

/* Brings the set up to date for K kept before (by linearise) when its age asks for it; *fresh tells whether it did. */
bough_status bo_modes_refresh(bo_integrator *I, bool *fresh);

/* With A factored and y = A^-1 r: makes it the solution of A y = r + W mu, W^T y = 0, which is
 * y - Z (W^T Z)^-1 W^T y with Z = A^-1 W. z is scratch. */
bough_status bo_hold_modes(bo_integrator *I, double *y, double *z);

#endif
