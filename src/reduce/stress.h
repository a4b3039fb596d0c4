/* Inside view of how stress is recovered: loads that occur, and points where they strain most. */
#ifndef BO_REDUCE_STRESS_H
#define BO_REDUCE_STRESS_H

#include "reduce/cook.h"

/* Loads and what they bring about. Those on the body and on what hangs on it are scaled to q.K q = 1 of the component's
 * answer q, those on others to the same energy of the structure; q is zero for these. */
typedef struct bo_stress_loads {
    int32_t count;
    double *q;       /* count x r */
    double *fields;  /* n x count, row-major: displacements of the body in its frame; of the structure where it is
                      * known, else U q */
    double *seam;    /* count x BOUGH_SEAM: how the parent's interface is strained and bent */
    double *wrench;  /* count x 6: of those at an interface, about its centre */
    double *energy;  /* count: of the load before it was scaled */
    double *weight;  /* count: how much of it is to be expected, at most 1 */
    int32_t *owner;  /* count */
    int32_t *direction; /* axis of wrenches and pulls; number among its owner's where `axis` tells it */
    double *axis;    /* count x 6: of accelerations, m/s^2 and 1/s^2 */
    double unit[6];  /* in which those of one owner are orthonormal */
    double *L;       /* r x r: Cholesky factor of K */
    double *scratch; /* r */
    bool structure;  /* it is known */
} bo_stress_loads;

/* surround.c; the cook's. */
bough_status bo_cook_recover(bo_cook *cook, bo_stress_loads *loads);

#endif
