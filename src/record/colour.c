#include "record/colour.h"

#include <math.h>

static float srgb_decode(float s) {
    if (!(s > 0))
        return 0;
    if (s > 1)
        s = 1;
    return s <= 0.04045f ? s / 12.92f : powf((s + 0.055f) / 1.055f, 2.4f);
}

float bo_srgb_encode(float linear) {
    if (!(linear > 0))
        return 0;
    if (linear >= 1)
        return 1;
    return linear <= 0.0031308f ? 12.92f * linear : 1.055f * powf(linear, 1 / 2.4f) - 0.055f;
}

bo_rgb bo_rgb_from_srgb(const float srgb[3]) {
    return (bo_rgb){srgb_decode(srgb[0]), srgb_decode(srgb[1]), srgb_decode(srgb[2])};
}

/* OKLab (L lightness, C chroma, h hue in rad) to linear sRGB: the cubes of three cone responses, mixed. */
static bo_rgb from_oklch(double L, double C, double h) {
    double a = C * cos(h), b = C * sin(h);
    double l = L + 0.3963377774 * a + 0.2158037573 * b;
    double m = L - 0.1055613458 * a - 0.0638541728 * b;
    double s = L - 0.0894841775 * a - 1.2914855480 * b;
    l = l * l * l, m = m * m * m, s = s * s * s;
    return (bo_rgb){(float)(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                    (float)(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                    (float)(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

/* Lightness rises evenly, so that the map also reads in grey; the hue turns from violet through teal to yellow. */
static bo_rgb sequential(double t) {
    double degree = 3.14159265358979324 / 180;
    double chroma = 0.125 - 0.15 * t * (1 - t) + 0.045 * t * t * t; /* inside what sRGB can show */
    return from_oklch(0.31 + 0.60 * t, chroma, (302 - 196 * pow(t, 1.1)) * degree);
}

/* Lightness falls evenly from the middle to both ends. */
static bo_rgb diverging(double t) {
    double side = fabs(2 * t - 1), hue = t < 0.5 ? 4.45 : 0.52;
    return from_oklch(0.95 - 0.47 * side, 0.005 + 0.15 * pow(side, 0.85), hue);
}

void bough_colour_map_at(bough_colour_map map, double t, float colour[3]) {
    colour[0] = colour[1] = colour[2] = 0.6f;
    if (isnan(t))
        return;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    bo_rgb c = map == BOUGH_COLOUR_DIVERGING ? diverging(t) : sequential(t);
    colour[0] = bo_srgb_encode(c.r), colour[1] = bo_srgb_encode(c.g), colour[2] = bo_srgb_encode(c.b);
}
