#include "rig/spline.h"

#include <math.h>

void bo_spline_free(bough_context *ctx, bo_spline *s) {
    bo_free(ctx, s->times);
    bo_free(ctx, s->values);
    bo_free(ctx, s->bends);
    *s = (bo_spline){0};
}

/* ---- making ---- */

/* Second derivatives m of the natural cubic spline through the knots:
 *   h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = 6 (slope_i - slope_{i-1}),  m = 0 at both ends. */
static void bend_naturally(int32_t n, const double *t, const double *y, double *scratch, double *m) {
    m[0] = m[n - 1] = scratch[0] = 0;
    for (int32_t i = 1; i + 1 < n; i++) {
        const double a = t[i] - t[i - 1], b = t[i + 1] - t[i];
        const double right = 6 * ((y[i + 1] - y[i]) / b - (y[i] - y[i - 1]) / a);
        const double pivot = 2 * (a + b) - a * scratch[i - 1];
        scratch[i] = b / pivot;
        m[i] = (right - a * m[i - 1]) / pivot;
    }
    for (int32_t i = n - 2; i > 0; i--)
        m[i] -= scratch[i] * m[i + 1];
}

static double first_slope(const double *t, const double *y, const double *m) {
    const double h = t[1] - t[0];
    return (y[1] - y[0]) / h - h * (2 * m[0] + m[1]) / 6;
}
static double last_slope(int32_t n, const double *t, const double *y, const double *m) {
    const double h = t[n - 1] - t[n - 2];
    return (y[n - 1] - y[n - 2]) / h + h * (m[n - 2] + 2 * m[n - 1]) / 6;
}

/* A natural spline starts and ends without acceleration. Two more knots, the second and the last but one, have the
 * values with which it starts and ends without velocity too; slopes are linear in these values. */
static void choose_ends(bo_spline *s, double *scratch) {
    const int32_t n = s->count;
    double slopes[3][2];
    for (int k = 0; k < 3; k++) {
        s->values[1] = k == 1 ? 1 : 0, s->values[n - 2] = k == 2 ? 1 : 0;
        bend_naturally(n, s->times, s->values, scratch, s->bends);
        slopes[k][0] = first_slope(s->times, s->values, s->bends);
        slopes[k][1] = last_slope(n, s->times, s->values, s->bends);
    }
    const double a = slopes[1][0] - slopes[0][0], b = slopes[2][0] - slopes[0][0];
    const double c = slopes[1][1] - slopes[0][1], d = slopes[2][1] - slopes[0][1], det = a * d - b * c;
    s->values[1] = (b * slopes[0][1] - d * slopes[0][0]) / det;
    s->values[n - 2] = (c * slopes[0][0] - a * slopes[0][1]) / det;
    bend_naturally(n, s->times, s->values, scratch, s->bends);
}

/* Knots of the curve, with one more in its first interval and one in its last. */
static void place_knots(const bo_curve *c, double scale, bo_spline *s) {
    const int32_t n = c->count;
    const double first = c->times[1] - c->times[0], last = c->times[n - 1] - c->times[n - 2], part = n == 2 ? 3 : 2;
    int32_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        if (i == n - 1)
            s->times[at] = c->times[n - 1] - last / part, s->values[at++] = 0;
        s->times[at] = c->times[i], s->values[at++] = scale * c->values[i];
        if (i == 0)
            s->times[at] = c->times[0] + first / part, s->values[at++] = 0;
    }
}

/* Widths of corners; the end knots move inwards by half of theirs. */
static void round_corners(bo_spline *s) {
    const int32_t n = s->count;
    for (int32_t i = 0; i < n; i++) {
        const double before = i > 0 ? s->times[i] - s->times[i - 1] : INFINITY;
        const double behind = i + 1 < n ? s->times[i + 1] - s->times[i] : INFINITY;
        s->bends[i] = fmin(BO_SPLINE_ROUND, 0.5 * fmin(before, behind));
    }
    s->times[0] += 0.5 * s->bends[0], s->times[n - 1] -= 0.5 * s->bends[n - 1];
}

bough_status bo_spline_make(bough_context *ctx, const bo_curve *curve, double scale, bo_spline_kind kind,
                            bo_spline *s) {
    const bool bends = kind == BO_SPLINE_THROUGH && curve->count > 1;
    const int32_t count = curve->count + (bends ? 2 : 0);
    *s = (bo_spline){kind, count, BO_NEW_ARRAY(ctx, double, count), BO_NEW_ARRAY(ctx, double, count),
                     BO_NEW_ZEROS(ctx, double, count)};
    double *scratch = BO_NEW_ARRAY(ctx, double, count);
    const bool made = s->times && s->values && s->bends && scratch;
    if (made && bends) {
        place_knots(curve, scale, s);
        choose_ends(s, scratch);
    }
    for (int32_t i = 0; made && !bends && i < count; i++)
        s->times[i] = curve->times[i], s->values[i] = scale * curve->values[i];
    if (made && kind == BO_SPLINE_LINES && count > 1)
        round_corners(s);
    bo_free(ctx, scratch);
    return made ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* ---- reading ---- */

/* The interval that holds t, which is inside. */
static int32_t interval_of(const bo_spline *s, double t) {
    int32_t low = 0, high = s->count - 1;
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        *(s->times[middle] <= t ? &low : &high) = middle;
    }
    return low;
}

/* [value, rate, acceleration] */
static void read_cubic(const bo_spline *s, int32_t i, double t, double out[3]) {
    const double h = s->times[i + 1] - s->times[i], a = (s->times[i + 1] - t) / h, b = (t - s->times[i]) / h;
    const double y0 = s->values[i], y1 = s->values[i + 1], m0 = s->bends[i], m1 = s->bends[i + 1];
    out[0] = a * y0 + b * y1 + h * h / 6 * ((a * a - 1) * a * m0 + (b * b - 1) * b * m1);
    out[1] = (y1 - y0) / h + h / 6 * ((3 * b * b - 1) * m1 - (3 * a * a - 1) * m0);
    out[2] = a * m0 + b * m1;
}

/* From rest to rest with the least jerk: 10 x^3 - 15 x^4 + 6 x^5. */
static void read_quintic(const bo_spline *s, int32_t i, double t, double out[3]) {
    const double h = s->times[i + 1] - s->times[i], x = (t - s->times[i]) / h, way = s->values[i + 1] - s->values[i];
    out[0] = s->values[i] + way * x * x * x * (10 + x * (6 * x - 15));
    out[1] = way / h * 30 * x * x * (1 - x) * (1 - x);
    out[2] = way / (h * h) * 60 * x * (1 - x) * (1 - 2 * x);
}

static double line_slope(const bo_spline *s, int32_t i) {
    return i < 0 || i + 1 >= s->count ? 0 : (s->values[i + 1] - s->values[i]) / (s->times[i + 1] - s->times[i]);
}

/* Within w/2 of a knot the speed goes from that before to that behind by 3 x^2 - 2 x^3, x = (t - t_i) / w + 1/2, so that
 * the curve is on the second line when it is through. */
static void read_lines(const bo_spline *s, int32_t i, double t, double out[3]) {
    const int32_t near = t - s->times[i] < s->times[i + 1] - t ? i : i + 1;
    const double w = s->bends[near], x = (t - s->times[near]) / w + 0.5;
    out[1] = line_slope(s, i), out[2] = 0;
    out[0] = s->values[i] + out[1] * (t - s->times[i]);
    if (!(x > 0 && x < 1))
        return;
    const double before = line_slope(s, near - 1), change = line_slope(s, near) - before;
    out[0] = s->values[near] + w * (before * (x - 0.5) + change * x * x * x * (1 - 0.5 * x));
    out[1] = before + change * x * x * (3 - 2 * x);
    out[2] = change / w * 6 * x * (1 - x);
}

void bo_spline_at(const bo_spline *s, double t, double *value, double *rate, double *acceleration) {
    const double round = s->kind == BO_SPLINE_LINES && s->count > 1 ? 0.5 : 0;
    const double start = s->times[0] - round * s->bends[0],
                 end = s->times[s->count - 1] + round * s->bends[s->count - 1];
    double out[3] = {s->values[t <= start ? 0 : s->count - 1], 0, 0};
    if (t > start && t < end)
        (s->kind == BO_SPLINE_STOPS   ? read_quintic
         : s->kind == BO_SPLINE_LINES ? read_lines
                                      : read_cubic)(s, interval_of(s, t), t, out);
    double *const to[3] = {value, rate, acceleration};
    for (int k = 0; k < 3; k++)
        if (to[k])
            *to[k] = out[k];
}
