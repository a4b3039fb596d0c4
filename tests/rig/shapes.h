/* Shapes to test with. */
#ifndef BOUGH_TEST_SHAPES_H
#define BOUGH_TEST_SHAPES_H

#include "test.h"

#include "rig/shape.h"

#ifndef BOUGH_TEST_MECHANISMS_H /* has it too */
static inline double spread(test_random *r) {
    return test_uniform(r, -1, 1);
}
#endif
/* One after the other: compilers differ in which argument of a call they compute first. */
static inline bo_vec3 random_vector(test_random *r, double reach) {
    const double z = reach * spread(r), y = reach * spread(r), x = reach * spread(r);
    return bo_v3(x, y, z);
}
static inline bo_se3 random_place(test_random *r, double reach) {
    return (bo_se3){bo_exp3(random_vector(r, 2)), random_vector(r, reach)};
}
static inline bough_pose pose_at(double x, double y, double z) {
    bough_pose pose = bough_default_pose();
    bo_store3(pose.position, bo_v3(x, y, z));
    return pose;
}

static inline bough_shape_def sphere_def(double radius) {
    bough_shape_def def = bough_default_shape_def();
    def.radius = radius;
    return def;
}
static inline bough_shape_def plane_def(void) {
    bough_shape_def def = bough_default_shape_def();
    def.kind = BOUGH_SHAPE_PLANE;
    return def;
}
/* by its edges */
static inline bough_shape_def box_def(double x, double y, double z) {
    bough_shape_def def = bough_default_shape_def();
    def.kind = BOUGH_SHAPE_BOX;
    bo_store3(def.half, bo_v3(0.5 * x, 0.5 * y, 0.5 * z));
    return def;
}
static inline bough_shape_def hull_def(int32_t count, const bo_vec3 *points) {
    bough_shape_def def = bough_default_shape_def();
    def.kind = BOUGH_SHAPE_HULL;
    def.point_count = count, def.points = &points[0].x;
    return def;
}
static inline bough_shape_def field_def(int32_t columns, int32_t rows, double cell, const double *heights) {
    bough_shape_def def = bough_default_shape_def();
    def.kind = BOUGH_SHAPE_HEIGHT_FIELD;
    def.columns = columns, def.rows = rows, def.heights = heights;
    def.cell[0] = def.cell[1] = cell;
    return def;
}

static inline bough_shape *shape_of(bough_context *ctx, bough_shape_def def) {
    bough_shape *shape = NULL;
    check_ok(ctx, bough_shape_create(ctx, &def, &shape));
    return shape;
}

/* Points on a sphere, drawn apart or together by factors. */
static inline bough_shape *random_hull(bough_context *ctx, test_random *r, int32_t count, bo_vec3 size) {
    bo_vec3 points[256];
    for (int32_t i = 0; i < count; i++) {
        const bo_vec3 p = bo_normalize(random_vector(r, 1));
        points[i] = bo_v3(size.x * p.x, size.y * p.y, size.z * p.z);
    }
    return shape_of(ctx, hull_def(count, points));
}

/* Height of a square field at a place, by the triangle there. */
static inline double height_at(int32_t n, double cell, const double *heights, double x, double y) {
    const double u = x / cell + 0.5 * (n - 1), v = y / cell + 0.5 * (n - 1);
    const int32_t i = (int32_t)floor(u), j = (int32_t)floor(v);
    const double *h = heights + n * j + i, a = u - i, b = v - j;
    return a > b ? h[0] + a * (h[1] - h[0]) + b * (h[n + 1] - h[1]) : h[0] + b * (h[n] - h[0]) + a * (h[n + 1] - h[n]);
}

#endif
