/* The whole linearised mechanism: what wrenches on all links do, without matrices of its size, and its modes.
 * Spatial twists and wrenches as in statics.h. docs/theory/mechanism.md, "Level of detail". */
#ifndef BO_MECHANISM_FLEXIBILITY_H
#define BO_MECHANISM_FLEXIBILITY_H

#include "mechanism/statics.h"

typedef struct bo_flexibility {
    const bough_mechanism *mechanism;
    bo_spatial_joint *joints;
    double *Lam, *L; /* of the loops, and its factor */
    double
        *carried; /* 6 joints: by the last solve, on what is beyond; of joints that close loops: from child to parent */
    double *f, *pair; /* 6 loops, and twice that */
} bo_flexibility;

bough_status bo_flexibility_create(bough_context *ctx, const bough_mechanism *mechanism, bo_flexibility **flexibility);
void bo_flexibility_destroy(bough_context *ctx, bo_flexibility *flexibility);
/* Twists of the links by wrenches on them (6 links each), with the base held. */
void bo_flexibility_solve(bo_flexibility *flexibility, const double *wrenches, double *twists);
/* Momentum of the links by their twists; a held base has none. */
void bo_links_momentum(const bough_mechanism *mechanism, const double *twists, double *momentum);

/* Takes away from twists of the links (6 links) what a mode must not have. */
typedef struct bo_hold {
    void (*hold)(const void *data, double *twists);
    const void *data;
} bo_hold;

/* The `count` modes of lowest frequency, M-orthonormal: omega^2 (ascending) and twists of the links (6 links each, one
 * after the other). Of a free mechanism those that bend it, without its rigid motions. *found may be less: there are no
 * more. hold (may be NULL): of a mechanism in which something is held, and the base with it. */
bough_status bo_flexibility_modes(bough_context *ctx, bo_flexibility *flexibility, const bo_hold *hold, int32_t count,
                                  double *squares, double *twists, int32_t *found);

#endif
