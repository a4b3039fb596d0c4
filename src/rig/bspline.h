/* Uniform B-splines: curves by control points, each of which moves a short piece of the curve only. docs/theory/rig.md,
 * "Curves by control points". */
#ifndef BO_RIG_BSPLINE_H
#define BO_RIG_BSPLINE_H

#include "base/context.h"

enum { BO_BSPLINE_LEAST_DEGREE = 2, BO_BSPLINE_MOST_DEGREE = 5 };

/* Knots are uniform and not clamped: `count - degree` intervals cover the duration. */
typedef struct bo_bspline {
    int32_t degree, count; /* count > degree: control points */
    double start, duration;
} bo_bspline;

/* The points that act at time t, and by how much: value, rate and acceleration are the sums of weights[0..2][j] times
 * point first + j, j = 0 .. degree. Before the start and after the end the curve stays where it was there, at rest. */
typedef struct bo_bspline_weights {
    int32_t first;
    double weights[3][BO_BSPLINE_MOST_DEGREE + 1];
} bo_bspline_weights;
void bo_bspline_at(const bo_bspline *curve, double t, bo_bspline_weights *out);

/* Finds the points (count) whose curve is nearest to samples, by least squares; the first `held` stay as they are. Points
 * that no sample tells of continue the bend of their neighbours. */
bough_status bo_bspline_fit(bough_context *ctx, const bo_bspline *curve, int32_t sample_count, const double *times,
                            const double *values, int32_t held, double *points);

#endif
