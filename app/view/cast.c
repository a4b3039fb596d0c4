/* Mechanisms: their links, free bodies and obstacles are rigid parts without coordinates. */
#include "view.h"

#include <math.h>
#include <stdlib.h>

bough_status view_cast_create(view_world *w) {
    const int32_t count = bough_run_rigid_count(w->run);
    w->look_of = calloc((size_t)count + 1, sizeof *w->look_of);
    w->looks = calloc((size_t)count + 1, sizeof *w->looks);
    w->start = calloc(VIEW_POSE * (size_t)count + 1, sizeof *w->start);
    if (!w->look_of || !w->looks || !w->start)
        return BOUGH_ERROR_MEMORY;
    w->rigid_count = count;
    for (int32_t i = 0; i < count; i++) {
        const bough_pose pose = bough_run_rigid_pose(w->run, i);
        view_write_pose(pose.rotation, pose.position, w->start + VIEW_POSE * (size_t)i);
    }
    w->look_count = app_find_looks(w->run, w->look_of, w->looks);
    return BOUGH_OK;
}

static double size_of(const bough_mesh *surface) {
    double square = 0;
    for (size_t d = 0; d < 3 && surface; d++) {
        double lower = INFINITY, upper = -INFINITY;
        for (size_t v = 0; v < (size_t)surface->vertex_count; v++) {
            lower = fmin(lower, surface->vertices[3 * v + d]);
            upper = fmax(upper, surface->vertices[3 * v + d]);
        }
        square += pow(upper - lower, 2);
    }
    return sqrt(square);
}

void view_cast_shape(const view_world *w, view_shape *shape) {
    int32_t first = 0;
    for (int32_t i = 0; i < w->rigid_count; i++) {
        const bough_run_rigid *rigid = bough_run_rigid_at(w->run, i);
        shape->parts[i] = (view_shape_part){.component = w->look_of[i],
                                            .parent = rigid->parent,
                                            .scale = 1,
                                            .size = size_of(rigid->surface),
                                            .vertices = rigid->surface ? rigid->surface->vertex_count : 0,
                                            .first = first};
        first += shape->parts[i].vertices;
    }
}

void view_cast_take(const view_world *w, float *numbers) {
    for (int32_t i = 0; i < w->rigid_count; i++) {
        const bough_pose pose = bough_run_rigid_pose(w->run, i);
        view_write_pose(pose.rotation, pose.position, numbers + w->shape->parts[i].at);
    }
}
