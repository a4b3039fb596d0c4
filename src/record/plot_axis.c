#include "record/plot.h"

#include <math.h>
#include <string.h>

static const double value_limit = 1e300; /* beyond it, differences overflow: drawn outside of the plot */
static const double span_limit = 1e-290; /* spans below it cannot be divided */
static const double digit_limit = 1e-13; /* spans below this part of the values are lost in rounding */
static const double place_limit = 1e6;   /* lengths of the axis */

double bo_axis_scale(const bo_axis *axis, double value) {
    if (!axis->log)
        return isfinite(value) ? value : NAN;
    return value > 0 && isfinite(value) ? log10(value) : NAN;
}

double bo_axis_place(const bo_axis *axis, double scaled) {
    double t = 0.5 * (axis->hi - axis->lo), u = (0.5 * scaled - 0.5 * axis->lo) / t;
    u = u < -place_limit ? -place_limit : u > place_limit ? place_limit : u;
    return axis->from + u * (axis->to - axis->from);
}

static double clamp(double v, double limit) {
    return v < -limit ? -limit : v > limit ? limit : v;
}

/* A range about a single value: a twentieth of it, one unit about zero, a third of a decade. */
static double room_about(const bo_axis *axis, double value) {
    if (axis->log)
        return 1.0 / 3;
    return fabs(value) > span_limit ? 0.05 * fabs(value) : 1;
}

/* The smallest of 1, 2, 5 times a power of ten that is at least `raw`. */
static double nice_step(double raw, int *digit, int *exponent) {
    *exponent = (int)floor(log10(raw) + 1e-9);
    double f = raw / pow(10, *exponent);
    *digit = f <= 1 + 1e-9 ? 1 : f <= 2 + 1e-9 ? 2 : f <= 5 + 1e-9 ? 5 : 10;
    if (*digit == 10)
        *digit = 1, ++*exponent;
    return *digit * pow(10, *exponent);
}

/* An end that misses a round number by less than a hundredth of the range moves out to it. */
static double snap(double end, double span, bool upper) {
    int digit, exponent;
    double step = nice_step(span / 5, &digit, &exponent), round_end = step * round(end / step);
    bool outside = upper ? round_end > end : round_end < end;
    return outside && fabs(round_end - end) < 0.01 * span ? round_end : end;
}

void bo_axis_range(bo_axis *axis, double least, double most, double fixed_lo, double fixed_hi, double pad) {
    double limit = axis->log ? log10(value_limit) : value_limit;
    if (!(least <= most)) /* there is no data */
        least = axis->log ? -1 : 0, most = 1;
    bool free_lo = isnan(fixed_lo), free_hi = isnan(fixed_hi);
    double lo = clamp(free_lo ? least : bo_axis_scale(axis, fixed_lo), limit);
    double hi = clamp(free_hi ? most : bo_axis_scale(axis, fixed_hi), limit);
    if (!(hi - lo > fmax(span_limit, digit_limit * fmax(fabs(lo), fabs(hi))))) {
        double room = room_about(axis, free_lo ? hi : lo);
        lo = free_lo ? fmin(lo, hi) - room : lo;
        hi = free_hi ? fmax(lo, hi) + room : hi;
        if (!free_lo && !free_hi)
            lo -= room, hi += room;
    } else {
        double span = hi - lo, room = pad * span;
        lo = free_lo ? snap(lo, span, false) - room : lo;
        hi = free_hi ? snap(hi, span, true) + room : hi;
    }
    axis->lo = lo, axis->hi = hi;
}

void bo_format_fixed(char *text, size_t size, double value, int decimals) {
    char digits[32];
    decimals = decimals < 0 ? 0 : decimals > 17 ? 17 : decimals;
    long long whole = llround(value * pow(10, decimals));
    int count = 0;
    bool negative = whole < 0;
    unsigned long long rest = negative ? 0ull - (unsigned long long)whole : (unsigned long long)whole;
    do
        digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0 || count <= decimals);
    size_t at = 0;
    if (negative && at + 1 < size)
        text[at++] = '-';
    while (count > 0 && at + 1 < size) {
        if (count == decimals)
            text[at++] = '.';
        if (at + 1 < size)
            text[at++] = digits[--count];
    }
    text[at] = 0;
}

static void add_minor(bo_axis *axis, double at) {
    if (at >= axis->lo && at <= axis->hi && axis->minor_count < BO_MINOR_LIMIT)
        axis->minor[axis->minor_count++] = at;
}

/* Labels of linear ticks are integers times digit 10^exponent: exact. Large and small ones have a common factor. */
static void linear_ticks(bo_axis *axis, double lo, double hi, int count) {
    int digit, exponent;
    double step = nice_step((hi - lo) / count, &digit, &exponent);
    double slack = 1e-6 * step, first = ceil((lo - slack) / step), last = floor((hi + slack) / step);
    double largest = fmax(fabs(first), fabs(last)) * step;
    int magnitude = largest > 0 ? (int)floor(log10(largest) + 1e-9) : exponent;
    /* not where the digits that differ are far behind the point */
    bool offset = magnitude - exponent > 6 && magnitude >= -2 && magnitude < 10;
    axis->factor = !offset && (magnitude >= 5 || magnitude < -2) ? 3 * (int)floor(magnitude / 3.0) : 0;
    int decimals = axis->factor - exponent > 0 ? axis->factor - exponent : 0;
    for (double i = first; i <= last && axis->tick_count < BO_TICK_LIMIT; i++) {
        bo_tick *tick = &axis->ticks[axis->tick_count];
        double value = i * step;
        tick->at = axis->log ? log10(value) : value;
        if (axis->log && !(value > 0))
            continue;
        bo_format_fixed(tick->label, sizeof tick->label, i * digit * pow(10, exponent - axis->factor), decimals);
        tick->power[0] = 0;
        axis->tick_count++;
    }
    int parts = digit == 2 ? 4 : 5;
    for (double i = parts * (first - 1); i <= parts * (last + 1); i++)
        if (fmod(i, parts) != 0 && (!axis->log || i > 0))
            add_minor(axis, axis->log ? log10(i * step / parts) : i * step / parts);
}

/* mantissa * 10^exponent */
static void add_log_tick(bo_axis *axis, int mantissa, int exponent, bool plain) {
    double at = exponent + log10(mantissa);
    if (at < axis->lo - 1e-9 || at > axis->hi + 1e-9 || axis->tick_count >= BO_TICK_LIMIT)
        return;
    bo_tick *tick = &axis->ticks[axis->tick_count++];
    tick->at = at;
    tick->power[0] = 0;
    if (plain) {
        bo_format_fixed(tick->label, sizeof tick->label, mantissa * pow(10, exponent), exponent < 0 ? -exponent : 0);
        return;
    }
    strcpy(tick->label, mantissa == 1 ? "10" : mantissa == 2 ? "2\u00d710" : "5\u00d710");
    bo_format_fixed(tick->power, sizeof tick->power, exponent, 0);
}

static void log_ticks(bo_axis *axis, int count) {
    int first = (int)floor(axis->lo + 1e-9), last = (int)ceil(axis->hi - 1e-9), stride = 1;
    double decades = axis->hi - axis->lo;
    while (decades / stride > count + 1)
        stride = stride == 1 ? 2 : stride == 2 ? 5 : 2 * stride;
    bool plain = first >= -3 && last <= 4, dense = decades < 2;
    for (int e = first; e <= last; e++) {
        if (((e % stride) + stride) % stride != 0) {
            if (stride <= 10)
                add_minor(axis, e);
            continue;
        }
        add_log_tick(axis, 1, e, plain);
        if (dense)
            add_log_tick(axis, 2, e, plain), add_log_tick(axis, 5, e, plain);
        for (int m = 2; stride == 1 && m < 10; m++)
            if (!dense || (m != 2 && m != 5))
                add_minor(axis, e + log10(m));
    }
}

void bo_axis_ticks(bo_axis *axis, int count) {
    axis->tick_count = axis->minor_count = axis->factor = 0;
    count = count < 2 ? 2 : count > 20 ? 20 : count;
    if (!axis->log)
        linear_ticks(axis, axis->lo, axis->hi, count);
    else if (axis->hi - axis->lo < 1)
        linear_ticks(axis, pow(10, axis->lo), pow(10, axis->hi), count);
    else
        log_ticks(axis, count);
}
