/* Smooth functions made small: L-BFGS, with a line search by the strong conditions of Wolfe, and bounds. */
#ifndef BO_RETARGET_LBFGS_H
#define BO_RETARGET_LBFGS_H

#include "base/context.h"

typedef struct bo_lbfgs {
    int32_t n;
    /* Value and gradient. A positive status, or a value that is not finite, refuses this x: the search tries nearer
     * ones. A negative status and BOUGH_CANCELLED end it. */
    bough_status (*evaluate)(bough_context *ctx, void *data, const double *x, double *value, double *gradient);
    /* Called after each iteration with the best so far, and the largest entry of the gradient that is not held by a
     * bound; false cancels. NULL: nobody listens. */
    bool (*tell)(bough_context *ctx, void *data, int32_t iteration, const double *x, double value, double slope);
    void *data;
    const double *lower, *upper; /* n; NULL: none */
    double first_step;           /* the largest change of a variable in the first iteration */
    double least_decrease;       /* of the value, relative, over `patience` iterations: less is the end */
    int32_t patience;            /* 5 where it is 0 */
    double least_slope;          /* largest entry of the gradient at the end */
    int32_t memory;              /* pairs that are kept; 20 where it is 0 */
    int32_t max_iterations;
} bo_lbfgs;

typedef struct bo_lbfgs_result {
    double value, first_value, slope;
    int32_t iterations, evaluations;
    bool converged; /* else iterations ran out, or no step was better, which `slope` judges */
} bo_lbfgs_result;

/* Improves x, which is moved between its bounds first. When it fails or is cancelled x is the best so far. */
bough_status bo_lbfgs_run(bough_context *ctx, const bo_lbfgs *problem, double *x, bo_lbfgs_result *result);

#endif
