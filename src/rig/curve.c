#include "rig/curve.h"

#include <string.h>

bough_status bo_curve_make(bough_context *ctx, const char *name, int32_t count, const double *times,
                           const double *values, bo_curve *curve) {
    *curve = (bo_curve){name ? bo_strdup(ctx, name) : NULL, count, BO_NEW_ARRAY(ctx, double, count),
                        BO_NEW_ARRAY(ctx, double, count)};
    if ((name && !curve->name) || !curve->times || !curve->values)
        return bo_fail_memory(ctx);
    memcpy(curve->times, times, (size_t)count * sizeof *times);
    memcpy(curve->values, values, (size_t)count * sizeof *values);
    return BOUGH_OK;
}

void bo_curve_free(bough_context *ctx, bo_curve *curve) {
    bo_free(ctx, curve->name);
    bo_free(ctx, curve->times);
    bo_free(ctx, curve->values);
    *curve = (bo_curve){0};
}

int32_t bo_curve_find(int32_t count, const bo_curve *curves, const char *name) {
    for (int32_t c = 0; c < count; c++)
        if (curves[c].name && !strcmp(curves[c].name, name))
            return c;
    return -1;
}

/* The segment that begins at or before t, -1 before the first point; the last point has no segment. */
static int32_t segment_of(const bo_curve *c, double t) {
    int32_t low = -1, high = c->count;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (c->times[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double bo_curve_slope(const bo_curve *c, double t) {
    int32_t i = segment_of(c, t);
    return i < 0 || i == c->count - 1 ? 0 : (c->values[i + 1] - c->values[i]) / (c->times[i + 1] - c->times[i]);
}

double bo_curve_at(const bo_curve *c, double t) {
    int32_t i = segment_of(c, t);
    if (i < 0)
        return c->values[0];
    return c->values[i] + (i == c->count - 1 ? 0 : (t - c->times[i]) * bo_curve_slope(c, t));
}

/* Trapezia between 0, the points on the way, and t. */
double bo_curve_integral(const bo_curve *c, double t) {
    double from = 0, value = bo_curve_at(c, 0), sum = 0;
    for (int32_t i = segment_of(c, 0) + 1; i <= c->count && from < t; i++) {
        const bool last = i == c->count || c->times[i] >= t;
        const double to = last ? t : c->times[i], next = last ? bo_curve_at(c, t) : c->values[i];
        sum += 0.5 * (to - from) * (value + next);
        from = to, value = next;
    }
    return sum;
}
