/* Coming to rest: what touches is let go in something viscous. For engines whose contacts are those of a contact world;
 * docs/theory/contact.md, "Equilibria". */
#ifndef BO_ENGINE_REST_H
#define BO_ENGINE_REST_H

#include "base/context.h"

#include <bough/contact.h>

typedef struct bo_resting {
    /* Takes a step of length h that begins at rest. *way: how far it goes, units; further than `farthest`: it leaves
     * everything where it was, as a step does that fails. */
    bough_status (*step)(void *data, double h, double *way);
    void *data;
    double farthest;                  /* units, in a step: directions of contacts are those of its start */
    double unit;                      /* m */
    double gravity[3];                /* m/s^2 */
    const bough_contact_world *world; /* whose contacts are looked at */
    const char *subject;              /* "the system": in the sentence that it does not come to rest */
} bo_resting;

/* Steps until nothing moves any more. *residual: the largest acceleration that is left, as a part of gravity. Fails with
 * BOUGH_NO_CONVERGENCE where nothing holds it, and when it is cancelled. */
bough_status bo_come_to_rest(bough_context *ctx, const bo_resting *resting, double *residual);
/* Takes a single step from rest, without leaving where it is, and fails where what moves off is not in balance.
 * go_back(): undoes a step. */
bough_status bo_measure_rest(bough_context *ctx, const bo_resting *resting, void (*go_back)(void *data),
                             double *residual);

#endif
