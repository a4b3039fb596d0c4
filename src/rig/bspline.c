#include "rig/bspline.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-9 /* of the duration: times that are this far outside count as inside */
/* Weight of the bends of the control polygon, as a part of the largest diagonal entry of the normal matrix. */
#define SMOOTH 1e-12

/* Weights of points first .. first + degree at x in [0, 1] of an interval of unit length, by Cox and de Boor:
 *   w^d_j = (x + d - j) / d w^(d-1)_(j-1) + (1 - x + j) / d w^(d-1)_j,   dw^d_j/dx = w^(d-1)_(j-1) - w^(d-1)_j */
static void weigh(int32_t degree, double x, double *w) {
    w[0] = 1;
    for (int32_t d = 1; d <= degree; d++)
        for (int32_t j = d; j >= 0; j--)
            w[j] = ((j > 0 ? (x + d - j) * w[j - 1] : 0) + (j < d ? (1 - x + j) * w[j] : 0)) / d;
}

/* From the weights of degree - 1 to the derivatives of those of the degree, over the length of an interval. */
static void differentiate(int32_t degree, double interval, double *w) {
    for (int32_t j = degree; j >= 0; j--)
        w[j] = ((j > 0 ? w[j - 1] : 0) - (j < degree ? w[j] : 0)) / interval;
}

void bo_bspline_at(const bo_bspline *c, double t, bo_bspline_weights *out) {
    const int32_t pieces = c->count - c->degree, degree = c->degree;
    const double interval = c->duration / pieces, late = t - c->start;
    const bool outside = late < -ROUNDING * c->duration || late > (1 + ROUNDING) * c->duration;
    const double inside = fmin(fmax(late, 0), c->duration) / interval;
    const int32_t piece = inside >= pieces ? pieces - 1 : (int32_t)inside;
    const double x = inside - piece;
    *out = (bo_bspline_weights){.first = piece};
    weigh(degree, x, out->weights[0]);
    if (outside)
        return;
    weigh(degree - 1, x, out->weights[1]);
    differentiate(degree, interval, out->weights[1]);
    weigh(degree - 2, x, out->weights[2]);
    differentiate(degree - 1, interval, out->weights[2]);
    differentiate(degree, interval, out->weights[2]);
}

/* ---- fitting ---- */

/* The lower band of a symmetric matrix: entry (i, i - k) at [(band + 1) i + k]. */
typedef struct {
    int32_t count, band;
    double *values;
} banded;

static void add_outer(banded *N, double *right, int32_t first, int32_t count, const double *w, double value) {
    for (int32_t a = 0; a < count; a++) {
        right[first + a] += w[a] * value;
        for (int32_t b = 0; b <= a; b++)
            N->values[(N->band + 1) * (first + a) + a - b] += w[a] * w[b];
    }
}

/* Points that are held leave their rows and columns to the identity. */
static void hold(banded *N, double *right, int32_t held, const double *points) {
    for (int32_t i = 0; i < N->count; i++)
        for (int32_t k = 0; k <= N->band && k <= i; k++) {
            double *entry = &N->values[(N->band + 1) * i + k];
            if (i >= held && i - k < held)
                right[i] -= *entry * points[i - k];
            if (i - k < held)
                *entry = k == 0;
        }
    for (int32_t i = 0; i < held; i++)
        right[i] = points[i];
}

static bool solve_banded(banded *N, double *x) {
    const int32_t n = N->count, w = N->band, stride = w + 1;
    double *L = N->values;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i < w ? i : w; k >= 0; k--) {
            const int32_t j = i - k;
            double sum = L[stride * i + k];
            for (int32_t m = i - w > 0 ? i - w : 0; m < j; m++)
                sum -= L[stride * i + i - m] * L[stride * j + j - m];
            if (k == 0 && !(sum > 0))
                return false;
            L[stride * i + k] = k == 0 ? sqrt(sum) : sum / L[stride * j];
        }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t m = i - w > 0 ? i - w : 0; m < i; m++)
            x[i] -= L[stride * i + i - m] * x[m];
        x[i] /= L[stride * i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t m = i + 1; m < n && m <= i + w; m++)
            x[i] -= L[stride * m + m - i] * x[m];
        x[i] /= L[stride * i];
    }
    return true;
}

static bough_status solve_fit(bough_context *ctx, const bo_bspline *c, int32_t sample_count, const double *times,
                              const double *values, int32_t held, banded *N, double *right, double *points) {
    double most = 0;
    for (int32_t s = 0; s < sample_count; s++) {
        bo_bspline_weights w;
        bo_bspline_at(c, times[s], &w);
        if (!isfinite(times[s]) || !isfinite(values[s]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "sample %d of a curve is not a finite number", s);
        add_outer(N, right, w.first, c->degree + 1, w.weights[0], values[s]);
    }
    for (int32_t i = 0; i < c->count; i++)
        most = fmax(most, N->values[(N->band + 1) * i]);
    const double s = sqrt(SMOOTH * most), bend[3] = {s, -2 * s, s};
    for (int32_t i = 0; i + 2 < c->count; i++)
        add_outer(N, right, i, 3, bend, 0);
    hold(N, right, held, points);
    if (!solve_banded(N, right))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d samples are too few for a curve of %d points", sample_count,
                       c->count);
    memcpy(points + held, right + held, (size_t)(c->count - held) * sizeof *points);
    return BOUGH_OK;
}

bough_status bo_bspline_fit(bough_context *ctx, const bo_bspline *c, int32_t sample_count, const double *times,
                            const double *values, int32_t held, double *points) {
    const int32_t band = c->degree < 2 ? 2 : c->degree;
    banded N = {c->count, band, BO_NEW_ZEROS(ctx, double, (int64_t)(band + 1) * c->count)};
    double *right = BO_NEW_ZEROS(ctx, double, c->count);
    const bough_status status = N.values && right
                                    ? solve_fit(ctx, c, sample_count, times, values, held, &N, right, points)
                                    : BOUGH_ERROR_MEMORY;
    bo_free(ctx, N.values);
    bo_free(ctx, right);
    return status;
}
