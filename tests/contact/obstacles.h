/* Obstacles of all kinds to test gaps with. */
#ifndef BOUGH_TEST_OBSTACLES_H
#define BOUGH_TEST_OBSTACLES_H

#include "../rig/shapes.h"

#include "contact/gap.h"

enum { KINDS = 6, COLUMNS = 9, ROWS = 7, NODES = 15 };

typedef struct {
    bough_context *ctx;
    bo_height_spline height;
    bo_distance_grid grid; /* of an ellipsoid; steeper than distances are */
    bo_obstacle all[KINDS];
} samples;

static inline double to_ellipsoid(bo_vec3 x) {
    return bo_norm(bo_v3(x.x, 1.2 * x.y, 1.5 * x.z)) - 0.6;
}
static inline bo_vec3 node_of(const int32_t counts[3], double cell, bo_vec3 origin, int32_t n) {
    return bo_mul_add(origin, cell,
                      bo_v3(n % counts[0], n / counts[0] % counts[1], (double)(n / counts[0] / counts[1])));
}

static inline void make_samples(samples *t) {
    test_random r = {17};
    const int32_t counts[3] = {NODES, NODES - 1, NODES - 2};
    const double cell[2] = {0.25, 0.3};
    const bo_vec3 origin = {-1, -0.9, -0.8};
    static double heights[COLUMNS * ROWS], distances[NODES * NODES * NODES];
    t->ctx = test_context(1);
    for (int i = 0; i < COLUMNS * ROWS; i++)
        heights[i] = 0.2 * spread(&r);
    for (int32_t i = 0; i < counts[0] * counts[1] * counts[2]; i++)
        distances[i] = to_ellipsoid(node_of(counts, 0.14, origin, i));
    check_ok(t->ctx, bo_height_spline_make(t->ctx, COLUMNS, ROWS, cell, heights, &t->height));
    check_ok(t->ctx, bo_distance_grid_make(t->ctx, counts, 0.14, origin, distances, &t->grid));
    for (int k = 0; k < KINDS; k++)
        t->all[k] = (bo_obstacle){.kind = (bo_obstacle_kind)k,
                                  .pose = random_place(&r, 1),
                                  .radius = 0.3,
                                  .half = 0.4,
                                  .halves = {0.5, 0.3, 0.2},
                                  .height = &t->height,
                                  .grid = &t->grid};
}
static inline void free_samples(samples *t) {
    bo_height_spline_free(t->ctx, &t->height);
    bo_distance_grid_free(t->ctx, &t->grid);
    bough_context_destroy(t->ctx);
}

static inline double gap_at(const bo_obstacle *obstacle, bo_vec3 x) {
    bo_gap gap;
    bo_obstacle_gap(obstacle, x, &gap);
    return gap.d;
}
static inline bo_vec3 normal_at(const bo_obstacle *obstacle, bo_vec3 x) {
    bo_gap gap;
    bo_obstacle_gap(obstacle, x, &gap);
    return gap.n;
}

/* A random point around an obstacle of ours, in its axes. */
static inline bo_vec3 around(test_random *r, const bo_obstacle *obstacle) {
    const double reach = obstacle->kind == BO_OBSTACLE_HEIGHT || obstacle->kind == BO_OBSTACLE_GRID ? 1.6 : 0.7;
    return random_vector(r, reach);
}

#endif
