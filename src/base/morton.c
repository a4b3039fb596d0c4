#include "base/morton.h"

#include <math.h>
#include <stdlib.h>

#define BITS 21 /* of each axis: three times as many fit into 64 */

typedef struct {
    uint64_t code;
    int32_t index;
} place;

static int by_code(const void *a, const void *b) {
    const place *p = a, *q = b;
    return p->code != q->code ? (p->code > q->code) - (p->code < q->code)
                              : (p->index > q->index) - (p->index < q->index);
}

/* Puts two zeros between any two of the lowest 21 bits. */
static uint64_t spread(uint64_t x) {
    x = (x | x << 32) & 0x1F00000000FFFF;
    x = (x | x << 16) & 0x1F0000FF0000FF;
    x = (x | x << 8) & 0x100F00F00F00F00F;
    x = (x | x << 4) & 0x10C30C30C30C30C3;
    return (x | x << 2) & 0x1249249249249249;
}

bough_status bo_morton_order(bough_context *ctx, int32_t count,
                             void (*point)(const void *data, int32_t index, double x[3]), const void *data,
                             int32_t *order) {
    place *places = BO_NEW_ARRAY(ctx, place, count);
    if (!places)
        return BOUGH_ERROR_MEMORY;
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY}, extent = 0, x[3];
    for (int32_t i = 0; i < count; i++) {
        point(data, i, x);
        for (int d = 0; d < 3; d++)
            lower[d] = fmin(lower[d], x[d]), upper[d] = fmax(upper[d], x[d]);
    }
    for (int d = 0; d < 3; d++)
        extent = fmax(extent, upper[d] - lower[d]);
    const double most = (1 << BITS) - 1;
    for (int32_t i = 0; i < count; i++) {
        uint64_t code = 0;
        point(data, i, x);
        for (int d = 0; d < 3; d++) {
            double t = (x[d] - lower[d]) / extent * most; /* NAN where there is no extent */
            code |= spread(t > 0 ? (uint64_t)fmin(t, most) : 0) << d;
        }
        places[i] = (place){code, i};
    }
    qsort(places, (size_t)count, sizeof *places, by_code);
    for (int32_t i = 0; i < count; i++)
        order[i] = places[i].index;
    bo_free(ctx, places);
    return BOUGH_OK;
}
