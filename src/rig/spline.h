/* Curves with continuous velocity and acceleration, through the points of a curve: what motors follow that hold a
 * coordinate exactly. docs/theory/rig.md, "Smooth curves". */
#ifndef BO_RIG_SPLINE_H
#define BO_RIG_SPLINE_H

#include "rig/curve.h"

typedef enum bo_spline_kind {
    BO_SPLINE_THROUGH, /* passes through its points on the way; starts and ends at rest */
    BO_SPLINE_STOPS,   /* comes to rest at each point */
    BO_SPLINE_LINES    /* straight lines, whose corners are rounded within BO_SPLINE_ROUND */
} bo_spline_kind;

/* s: the time in which speed changes at a corner, or half the interval beside it if that is shorter. A line begins and
 * ends half of that later and earlier, so that the curve rests at its ends. */
#define BO_SPLINE_ROUND 0.02

/* Constant before its first point and after its last. Zero bytes: none. */
typedef struct bo_spline {
    bo_spline_kind kind;
    int32_t count;  /* of knots, 1 at least */
    double *times;  /* count, ascending */
    double *values; /* count */
    double *bends;  /* count: second derivatives, of THROUGH; widths of the corners, s, of LINES */
} bo_spline;

/* bo_spline_free() is owed also when it fails. Times ascend; scale: a factor on all values. */
bough_status bo_spline_make(bough_context *ctx, const bo_curve *curve, double scale, bo_spline_kind kind,
                            bo_spline *spline);
void bo_spline_free(bough_context *ctx, bo_spline *spline);
/* Value, rate and acceleration at time t; those that are NULL are left out. */
void bo_spline_at(const bo_spline *spline, double t, double *value, double *rate, double *acceleration);

#endif
