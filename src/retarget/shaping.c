#include "retarget/shaping.h"

#include <math.h>

/* An impulse at time t leaves a vibration that, at any later time, is as one at 0 with the factor
 *   exp(ratio omega t) (cos omega_d t, -sin omega_d t),      omega_d = omega sqrt(1 - ratio^2)
 * Half a period later the sign is the other one, and damping has taken K = exp(-pi ratio / sqrt(1 - ratio^2)) of what
 * was there: sizes 1 and K cancel. Two such pairs, half a period apart, 1, 2 K and K^2, cancel with the derivative by
 * the frequency too. */
static bo_shaper make_one(bo_shaper_kind kind, bo_vibration v) {
    const double root = sqrt(1 - v.ratio * v.ratio), half = M_PI / (v.omega * root), K = exp(-M_PI * v.ratio / root);
    const double scale = 1 / (1 + K);
    bo_shaper s = {.count = 2, .times = {0, half}, .sizes = {scale, K * scale}};
    if (kind == BO_SHAPER_ZVD)
        s = (bo_shaper){.count = 3,
                        .times = {0, half, 2 * half},
                        .sizes = {scale * scale, 2 * K * scale * scale, pow(K * scale, 2)}};
    return s;
}

static void sort(bo_shaper *s) {
    for (int32_t i = 1; i < s->count; i++)
        for (int32_t k = i; k > 0 && s->times[k] < s->times[k - 1]; k--) {
            const double time = s->times[k], size = s->sizes[k];
            s->times[k] = s->times[k - 1], s->sizes[k] = s->sizes[k - 1];
            s->times[k - 1] = time, s->sizes[k - 1] = size;
        }
}

static bo_shaper convolve(const bo_shaper *a, const bo_shaper *b) {
    bo_shaper both = {0};
    for (int32_t i = 0; i < a->count; i++)
        for (int32_t k = 0; k < b->count; k++, both.count++)
            both.times[both.count] = a->times[i] + b->times[k], both.sizes[both.count] = a->sizes[i] * b->sizes[k];
    sort(&both);
    return both;
}

bough_status bo_shaper_make(bough_context *ctx, bo_shaper_kind kind, int32_t count, const bo_vibration *vibrations,
                            bo_shaper *shaper) {
    *shaper = (bo_shaper){.count = 1, .sizes = {1}};
    if (count < 0 || count > BO_SHAPER_MODES)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a shaper was asked for %d vibrations; it takes up to %d", count,
                       BO_SHAPER_MODES);
    for (int32_t i = 0; i < count; i++) {
        const bo_vibration v = vibrations[i];
        if (!(v.omega > 0) || !isfinite(v.omega) || !(v.ratio >= 0 && v.ratio < 1))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "vibration %d has %g rad/s and a damping ratio of %g; a shaper needs a frequency above 0 "
                           "and a ratio of 0 to below 1",
                           i, v.omega, v.ratio);
    }
    for (int32_t i = 0; i < count; i++) {
        const bo_shaper one = make_one(kind, vibrations[i]);
        *shaper = convolve(shaper, &one);
    }
    return BOUGH_OK;
}

double bo_shaper_delay(const bo_shaper *shaper) {
    return shaper->times[shaper->count - 1];
}

/* The sum of the impulses as vibrations, seen at the time of the last, against one impulse of size 1 at that time. */
double bo_shaper_leaves(const bo_shaper *shaper, bo_vibration v) {
    const double damped = v.omega * sqrt(1 - v.ratio * v.ratio), last = bo_shaper_delay(shaper);
    double c = 0, s = 0;
    for (int32_t i = 0; i < shaper->count; i++) {
        const double size = shaper->sizes[i] * exp(-v.ratio * v.omega * (last - shaper->times[i]));
        c += size * cos(damped * shaper->times[i]), s += size * sin(damped * shaper->times[i]);
    }
    return hypot(c, s);
}

void bo_shaper_at(const bo_shaper *shaper, bo_motion_at motion, void *data, int32_t motor, double t, double *place,
                  double *rate, double *acceleration) {
    double sum[3] = {0}, one[3];
    double *const to[3] = {place, rate, acceleration};
    for (int32_t i = 0; i < shaper->count; i++) {
        motion(data, motor, t - shaper->times[i], &one[0], &one[1], &one[2]);
        for (int k = 0; k < 3; k++)
            sum[k] += shaper->sizes[i] * one[k];
    }
    for (int k = 0; k < 3; k++)
        if (to[k])
            *to[k] = sum[k];
}

/* The samples at time `at`, counted in samples. */
static double between(int32_t count, const double *samples, double at) {
    if (!(at > 0))
        return samples[0];
    if (at >= count - 1)
        return samples[count - 1];
    const int32_t k = (int32_t)at;
    const double share = at - k;
    return (1 - share) * samples[k] + share * samples[k + 1];
}

void bo_shaper_apply(const bo_shaper *shaper, double dt, int32_t count, const double *samples, int32_t shaped_count,
                     double *shaped) {
    for (int32_t i = 0; i < shaped_count; i++) {
        double sum = 0;
        for (int32_t k = 0; k < shaper->count && count > 0; k++)
            sum += shaper->sizes[k] * between(count, samples, i - shaper->times[k] / dt);
        shaped[i] = sum;
    }
}
