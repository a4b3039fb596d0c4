/* Drawing triangles into maps of numbers (shadows, depths). */
#ifndef BO_RECORD_STAMP_H
#define BO_RECORD_STAMP_H

#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

static inline int32_t bo_texel_index(double x, int32_t count) {
    return x < 0 ? 0 : x > count - 1 ? count - 1 : (int32_t)x;
}

/* Raises every texel whose centre lies in the triangle to value(data, z), where x and y of the corners count texels and
 * z is interpolated. */
static inline void bo_stamp_triangle(bo_vec3 a, bo_vec3 b, bo_vec3 c, int32_t nx, int32_t ny, float *texels,
                                     float (*value)(const void *data, double z), const void *data) {
    double area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    if (!isfinite(area) || area == 0)
        return;
    int32_t i0 = bo_texel_index(floor(fmin(a.x, fmin(b.x, c.x))), nx);
    int32_t i1 = bo_texel_index(ceil(fmax(a.x, fmax(b.x, c.x))), nx);
    int32_t j0 = bo_texel_index(floor(fmin(a.y, fmin(b.y, c.y))), ny);
    int32_t j1 = bo_texel_index(ceil(fmax(a.y, fmax(b.y, c.y))), ny);
    for (int32_t j = j0; j <= j1; j++)
        for (int32_t i = i0; i <= i1; i++) {
            double x = i + 0.5, y = j + 0.5;
            double u = ((b.x - x) * (c.y - y) - (c.x - x) * (b.y - y)) / area;
            double v = ((c.x - x) * (a.y - y) - (a.x - x) * (c.y - y)) / area;
            if (u < 0 || v < 0 || u + v > 1)
                continue;
            float z = value(data, u * a.z + v * b.z + (1 - u - v) * c.z);
            float *texel = &texels[(size_t)j * (size_t)nx + (size_t)i];
            *texel = z > *texel ? z : *texel;
        }
}

#endif
