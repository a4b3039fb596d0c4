/* Curves of motors, by control points. */
#include "retarget/curves.h"

#include <math.h>

bough_status bough_motor_curves_create(bough_context *ctx, int32_t motor_count, int32_t degree, int32_t point_count,
                                       double start, double duration, bough_motor_curves **out) {
    *out = NULL;
    if (degree < BO_BSPLINE_LEAST_DEGREE || degree > BO_BSPLINE_MOST_DEGREE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "curves have degree %d; it must be %d to %d", degree,
                       BO_BSPLINE_LEAST_DEGREE, BO_BSPLINE_MOST_DEGREE);
    if (motor_count < 0 || point_count <= degree)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a curve of degree %d has %d points; it needs %d at least", degree,
                       point_count, degree + 1);
    if (!(duration > 0) || !isfinite(start) || !isfinite(duration))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "curves last %g s from %g s; they need a positive time", duration,
                       start);
    bough_motor_curves *curves = BO_NEW(ctx, bough_motor_curves);
    double *points = BO_NEW_ZEROS(ctx, double, (int64_t)motor_count *point_count);
    if (!curves || !points) {
        bo_free(ctx, curves);
        bo_free(ctx, points);
        return BOUGH_ERROR_MEMORY;
    }
    *curves = (bough_motor_curves){motor_count, point_count, degree, start, duration, points};
    *out = curves;
    return BOUGH_OK;
}

void bough_motor_curves_destroy(bough_context *ctx, bough_motor_curves *curves) {
    if (curves)
        bo_free(ctx, curves->points);
    bo_free(ctx, curves);
}

bough_status bough_motor_curves_fit(bough_context *ctx, bough_motor_curves *curves, int32_t sample_count,
                                    const double *times, const double *values, bool at_rest) {
    const bo_bspline shape = bo_curves_shape(curves);
    const int32_t held = at_rest ? curves->degree : 0;
    if (sample_count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "curves cannot be fitted to no samples");
    for (int32_t m = 0; m < curves->motor_count; m++) {
        double *points = curves->points + (int64_t)curves->point_count * m;
        const double *own = values + (int64_t)sample_count * m;
        for (int32_t i = 0; i < held; i++)
            points[i] = own[0];
        BO_TRY(bo_bspline_fit(ctx, &shape, sample_count, times, own, held, points));
    }
    return BOUGH_OK;
}

void bough_motor_curves_at(const bough_motor_curves *curves, int32_t motor, double t, double *place, double *rate,
                           double *acceleration) {
    const bo_bspline shape = bo_curves_shape(curves);
    const double *points = curves->points + (int64_t)curves->point_count * motor;
    double *const to[3] = {place, rate, acceleration};
    bo_bspline_weights w;
    bo_bspline_at(&shape, t, &w);
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int32_t j = 0; j <= curves->degree; j++)
            sum += w.weights[k][j] * points[w.first + j];
        if (to[k])
            *to[k] = sum;
    }
}
