/* Equilibrium of a body that touches: obstacles, other bodies, itself. docs/theory/contact.md, "Equilibrium". */
#ifndef BO_FEM_SETTLE_H
#define BO_FEM_SETTLE_H

#include "fem/touch.h"
#include "time/system.h"

typedef struct bo_settle_result {
    double residual; /* of the forces that balance each other */
    int32_t iterations;
    int32_t lost; /* a vertex that went away without end, so that there is no equilibrium; -1: none did */
} bo_settle_result;

/* Moves q, a state in which supports are not displaced and nothing overlaps, to an equilibrium under the forces of the time t,
 * with supports where `target` (3 vertex_count) has them. Friction holds points near to where they began to touch. Never
 * passes through anything on the way.
 * Barriers become stiffer where they must. system: of the body, with this contact (NULL: it touches nothing). On failure
 * q is where the search has ended. */
bough_status bo_body_settle(bough_context *ctx, const bough_load_case *load_case, bo_system *system, bo_touch *touch,
                            double t, const double *target, double *q, bo_settle_result *result);

#endif
