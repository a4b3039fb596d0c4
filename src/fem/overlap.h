/* Checks of the start of a run with contact: bodies must not overlap, and no body may cross itself. */
#ifndef BO_FEM_OVERLAP_H
#define BO_FEM_OVERLAP_H

#include "fem/engine.h"

/* Fails with BOUGH_ERROR_ARGUMENT, names and a place where at q an edge crosses a triangle (if the bodies touch each other,
 * or the body itself), one body is inside another, or an obstacle is inside a body. Vertices in obstacles are looked for
 * by bo_touch_start(). */
bough_status bo_body_check_overlap(bough_context *ctx, const bo_body_plan *plan, const double *q);

#endif
