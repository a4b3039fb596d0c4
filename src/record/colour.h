/* Colour spaces and light: sRGB outside, linear light inside. */
#ifndef BO_RECORD_COLOUR_H
#define BO_RECORD_COLOUR_H

#include <bough/record.h>

/* Linear light. */
typedef struct bo_rgb {
    float r, g, b;
} bo_rgb;

static inline bo_rgb bo_rgb_mix(bo_rgb a, bo_rgb b, float t) {
    return (bo_rgb){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}
static inline bo_rgb bo_rgb_scale(float s, bo_rgb a) {
    return (bo_rgb){s * a.r, s * a.g, s * a.b};
}
/* a + s b */
static inline bo_rgb bo_rgb_add(bo_rgb a, float s, bo_rgb b) {
    return (bo_rgb){a.r + s * b.r, a.g + s * b.g, a.b + s * b.b};
}

bo_rgb bo_rgb_from_srgb(const float srgb[3]);
/* One channel of sRGB, 0..1, of linear light; clamped. */
float bo_srgb_encode(float linear);

#endif
