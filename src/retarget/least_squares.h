/* Nonlinear least squares by Levenberg and Marquardt, with what is known of the result. */
#ifndef BO_RETARGET_LEAST_SQUARES_H
#define BO_RETARGET_LEAST_SQUARES_H

#include "base/context.h"

enum { BO_MOST_PARAMETERS = 8 };

typedef struct bo_least_squares {
    int32_t n, p; /* residuals, parameters: at most BO_MOST_PARAMETERS */
    /* A positive status (or a residual that is not finite) refuses this x; a negative one ends the search. */
    bough_status (*residual)(bough_context *ctx, void *data, const double *x, double *r);
    /* p rows of n: dr/dx_i */
    bough_status (*jacobian)(bough_context *ctx, void *data, const double *x, double *J);
    /* Called after each iteration with the best so far; false cancels. NULL: nobody listens. */
    bool (*tell)(bough_context *ctx, void *data, int32_t iteration, const double *x, double sum);
    void *data;
    double most_step[BO_MOST_PARAMETERS];                           /* in one iteration */
    double lowest[BO_MOST_PARAMETERS], highest[BO_MOST_PARAMETERS]; /* x stays within */
    double least_change; /* root mean square over n: a parameter that changes r by less for a unit is left alone */
    double least_step;   /* of the parameters' standard deviations: a shorter step is the last */
    int32_t max_iterations;
} bo_least_squares;

typedef struct bo_least_squares_result {
    double sum; /* |r|^2 */
    int32_t iterations;
    bool converged;
} bo_least_squares_result;

/* Scratch of a search, and what it leaves: residual and its derivatives at the best x. */
typedef struct bo_least_squares_room {
    double *r, *trial, *J;
} bo_least_squares_room;
bough_status bo_least_squares_make(bough_context *ctx, int32_t n, int32_t p, bo_least_squares_room *room);
void bo_least_squares_free(bough_context *ctx, bo_least_squares_room *room);

/* Improves x. When it fails or is cancelled x is the best so far, and result->sum its; the room then has no J. */
bough_status bo_least_squares_run(bough_context *ctx, const bo_least_squares *problem, bo_least_squares_room *room,
                                  double *x, bo_least_squares_result *result);

/* Covariance (p x p) of the parameters for residuals of unit variance: (J J^T)^-1. still[i]: the parameter changes
 * nothing (root mean square below `least`), and its row and column are zeros. */
void bo_least_squares_covariance(int32_t n, int32_t p, const double *J, double least, bool *still, double *C);
/* d = (J J^T)^-1 J y: how parameters follow a change y of what is measured. */
void bo_least_squares_follow(int32_t n, int32_t p, const double *J, const double *C, const double *y, double *d);

/* Student's quantile for a two-sided interval of 95 %. */
double bo_student_95(double freedoms);

#endif
