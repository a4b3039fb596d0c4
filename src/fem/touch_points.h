/* The points of a surface that touch obstacles: its vertices, and, where they are too far apart, points between them on
 * edges and faces. */
#ifndef BO_FEM_TOUCH_POINTS_H
#define BO_FEM_TOUCH_POINTS_H

#include "base/context.h"
#include "base/pose.h"

#include <bough/mesh.h>

/* At the mean of 1 to 3 vertices of one element: x = sum weights x_k. The first has the largest weight. */
typedef struct bo_touch_point {
    int32_t count, vertices[3];
    double weights[3];
} bo_touch_point;

typedef struct bo_touch_points {
    int32_t count, vertex_count; /* the first are vertices */
    bo_touch_point *points;
    double *shares; /* of the surface: areas around the points over the mean of those around vertices alone */
} bo_touch_points;

/* spacing, m: points on one edge, and on faces, are no further apart than this at rest; 0: vertices only. The caller frees
 * them, also when this fails. */
bough_status bo_touch_points_find(bough_context *ctx, const bough_mesh *mesh, double spacing, bo_touch_points *points);
void bo_touch_points_free(bough_context *ctx, bo_touch_points *points);

/* The mean of a vector that vertices have, at a point. */
static inline bo_vec3 bo_touch_mean(const bo_touch_point *point, const double *of_vertices) {
    bo_vec3 mean = bo_load3(of_vertices + 3 * (size_t)point->vertices[0]);
    if (point->count == 1)
        return mean;
    mean = bo_scale(point->weights[0], mean);
    for (int k = 1; k < point->count; k++)
        mean = bo_mul_add(mean, point->weights[k], bo_load3(of_vertices + 3 * (size_t)point->vertices[k]));
    return mean;
}

/* The way back: to->vertices += weights f. */
static inline void bo_touch_share(const bo_touch_point *point, bo_vec3 f, double *to) {
    for (int k = 0; k < point->count; k++) {
        double *at = to + 3 * (size_t)point->vertices[k];
        bo_store3(at, bo_mul_add(bo_load3(at), point->weights[k], f));
    }
}

#endif
