/* Equilibria of what touches, by steps from rest. */
#include "engine/rest.h"

#include "base/rotation.h"

#include <math.h>

#define STILL 1e-9    /* of gravity: the acceleration that is left */
#define BALANCED 1e-6 /* the same where friction and the search for impulses leave no less */
#define SHORTEST 1e-6 /* s */
#define LONGEST 10.0  /* s: steps in which nothing touches */
#define TOUCHING 0.02 /* s: others. What the search for impulses leaves open grows with the square of the step */

static bough_status fail_to_rest(bough_context *ctx, const bo_resting *r, double way) {
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                   "no equilibrium was found: nothing holds %s where it is (it still moves, by %.2g of its size in a "
                   "step); begin without \"settle\"",
                   r->subject, way);
}

/* The acceleration that a way in a step from rest means, as a part of gravity. */
static double acceleration_of(const bo_resting *r, double way, double h) {
    const double g = bo_norm(bo_load3(r->gravity));
    return way * r->unit / (h * h * (g > 0 ? g : 1));
}

/* Steps of backward Euler from rest, again and again: (M / h^2 + D / h + K) dq = forces + those of contacts. The first ones
 * are the way of something heavy in honey, and as they grow, the last ones Newton's with complementarity. Steps that
 * failed are tried again much shorter, and it takes a while until they may be as long again. */
bough_status bo_come_to_rest(bough_context *ctx, const bo_resting *r, double *residual) {
    enum { MOST_STEPS = 5000, ENOUGH = 200 };
    double h = 0.01, most = LONGEST, way = 0;
    for (int k = 0, balanced = 0; k < MOST_STEPS; k++) {
        const bough_status status = r->step(r->data, h, &way);
        if (status != BOUGH_OK && status != BOUGH_NO_CONVERGENCE && status != BOUGH_NOT_FINITE)
            return status;
        if (status != BOUGH_OK || way > r->farthest) {
            most = 0.7 * h, h *= 0.25;
            if (h < SHORTEST)
                return status != BOUGH_OK ? status : fail_to_rest(ctx, r, way);
            continue;
        }
        *residual = acceleration_of(r, way, h);
        balanced = *residual <= BALANCED ? balanced + 1 : 0;
        if (h >= 0.5 * TOUCHING && (*residual <= STILL || balanced >= ENOUGH))
            return BOUGH_OK;
        most = fmin(1.02 * most, LONGEST);
        h = fmin(fmin(1.5 * h, most), r->world->contact_count > 0 ? TOUCHING : LONGEST);
        if (k > 3 && !bo_progress(ctx, "settling", -1, "step %d, %.1e of the weight is left", k, *residual))
            return bo_fail_cancelled(ctx);
    }
    return fail_to_rest(ctx, r, way);
}

bough_status bo_measure_rest(bough_context *ctx, const bo_resting *r, void (*go_back)(void *data), double *residual) {
    const double h = 0.01;
    double way;
    BO_TRY(r->step(r->data, h, &way));
    go_back(r->data);
    *residual = acceleration_of(r, way, h);
    return *residual <= 10 * BALANCED ? BOUGH_OK : fail_to_rest(ctx, r, way);
}
