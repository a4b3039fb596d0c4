/* Places that move as a whole: their velocities, and rows of points of them, by a matrix of motion. */
#ifndef BO_CONTACT_ROWS_H
#define BO_CONTACT_ROWS_H

#include "base/rotation.h"

/* motion: 6 x size, the velocity of a place's origin, then its spin, in the world, by the rates. */
static inline void bo_put_column(double *motion, int32_t size, int32_t column, bo_vec3 velocity, bo_vec3 spin) {
    double x[6];
    bo_store3(x, velocity), bo_store3(x + 3, spin);
    for (int r = 0; r < 6; r++)
        motion[r * size + column] = x[r];
}

static inline void bo_motion_rates(int32_t size, const double *motion, const double *y, bo_vec3 *velocity,
                                   bo_vec3 *spin) {
    double rates[6] = {0};
    for (int r = 0; r < 6; r++)
        for (int32_t k = 0; k < size; k++)
            rates[r] += motion[r * size + k] * y[k];
    *velocity = bo_load3(rates), *spin = bo_load3(rates + 3);
}

/* rows += sign (velocity of the point at r from the place's origin, along each direction d):
 * d . (v + w x r) = d . v + (r x d) . w */
static inline void bo_motion_rows(int32_t size, const double *motion, bo_vec3 r, const double directions[9],
                                  double sign, double *rows) {
    for (int i = 0; i < 3; i++, rows += size) {
        double d[6];
        const bo_vec3 direction = bo_load3(directions + 3 * i);
        bo_store3(d, direction), bo_store3(d + 3, bo_cross(r, direction));
        for (int l = 0; l < 6; l++)
            for (int32_t k = 0; k < size; k++)
                rows[k] += sign * d[l] * motion[l * size + k];
    }
}

#endif
