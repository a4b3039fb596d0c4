/* Curves: what motors, loads, supports and the wind follow in time. */
#ifndef BO_RIG_CURVE_H
#define BO_RIG_CURVE_H

#include "base/context.h"

/* Piecewise linear in time, constant before its first point and after its last. */
typedef struct bo_curve {
    char *name;             /* its own copy; NULL: none */
    int32_t count;          /* 1 at least */
    double *times, *values; /* count each, its own; times ascend */
} bo_curve;

/* Copies name, times and values. Where memory fails, bo_curve_free() is still owed. */
bough_status bo_curve_make(bough_context *ctx, const char *name, int32_t count, const double *times,
                           const double *values, bo_curve *curve);
void bo_curve_free(bough_context *ctx, bo_curve *curve);
/* The curve of that name; -1: there is none. */
int32_t bo_curve_find(int32_t count, const bo_curve *curves, const char *name);

double bo_curve_at(const bo_curve *curve, double t);
/* Integral from 0 to t >= 0. */
double bo_curve_integral(const bo_curve *curve, double t);
/* Derivative to the right of t. */
double bo_curve_slope(const bo_curve *curve, double t);

#endif
