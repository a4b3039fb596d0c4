/* Objectives of motions made small by the method of Gauss and Newton, damped as by Levenberg and Marquardt, with
 * bounds. Each iteration costs a gradient and the sensitivities of all points, and there are few of them.
 * docs/theory/adjoint.md, "Gauss-Newton". */
#ifndef BO_RETARGET_GAUSS_NEWTON_H
#define BO_RETARGET_GAUSS_NEWTON_H

#include "retarget/adjoint.h"

typedef struct bo_gauss_newton {
    bough_adjoint *adjoint; /* whose objective it is; the caller's term counts by its gradient, not by its curvature */
    /* Called after each iteration with the best so far, and the largest entry of the gradient that is not held by a
     * bound; false cancels. NULL: nobody listens. */
    bool (*tell)(bough_context *ctx, void *data, int32_t iteration, const double *x, double value, double slope);
    void *data;
    const double *lower, *upper; /* of points, as they are ordered; NULL: none. Held points stay where they are. */
    double memory_seconds;       /* as bo_sensitivity_create() has it; 0: exact */
    double least_decrease;       /* of the value, relative, over `patience` iterations: less is the end */
    int32_t patience;            /* 2 where it is 0 */
    double least_slope;          /* largest entry of the gradient at the end */
    int32_t max_iterations;
} bo_gauss_newton;

typedef struct bo_gauss_newton_result {
    double value, first_value, slope;
    int32_t iterations, simulations; /* there is one gradient more than iterations */
    bool converged;                  /* else iterations ran out, or no step was better, which `slope` judges */
} bo_gauss_newton_result;

/* Improves points (motors x points), which are moved between their bounds first. A simulation that fails counts as
 * infinitely bad. When it fails or is cancelled the points are the best so far. */
bough_status bo_gauss_newton_run(bough_context *ctx, const bo_gauss_newton *problem, double *points,
                                 bo_gauss_newton_result *result);

#endif
