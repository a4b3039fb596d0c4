/* Round shapes as contact worlds know them: convex hulls. */
#include "scene/mechanism_scene.h"

#include "rig/shape.h"

/* Corners of hulls lie on what they stand for. Between them a cylinder's hull is up to 1 - cos(180/16) = 1.9 % of its
 * radius within. */
enum { CYLINDER_SIDES = 16 };

double *bo_shape_new_hull(bough_context *ctx, int32_t count, bo_scene_shape *shape) {
    double *points = BO_NEW_ARRAY(ctx, double, 3 * (size_t)count);
    shape->def.kind = BOUGH_SHAPE_HULL;
    shape->def.points = points, shape->def.point_count = points ? count : 0;
    return points;
}

static double *put_ring(double *points, int sides, double radius, double z) {
    for (int i = 0; i < sides; i++, points += 3)
        bo_store3(points, bo_v3(radius * cos(2 * M_PI * i / sides), radius * sin(2 * M_PI * i / sides), z));
    return points;
}

static bough_status take_cylinder(bough_context *ctx, bo_scene_shape *shape) {
    double *points = bo_shape_new_hull(ctx, 2 * CYLINDER_SIDES, shape);
    if (!points)
        return BOUGH_ERROR_MEMORY;
    points = put_ring(points, CYLINDER_SIDES, shape->radius, -shape->length / 2);
    put_ring(points, CYLINDER_SIDES, shape->radius, shape->length / 2);
    return BOUGH_OK;
}

static bough_status take_capsule(bough_context *ctx, bo_scene_shape *shape) {
    double *points = bo_shape_new_hull(ctx, BO_CAPSULE_POINTS, shape);
    if (!points)
        return BOUGH_ERROR_MEMORY;
    bo_capsule_points(shape->radius, shape->length / 2, points);
    return BOUGH_OK;
}

bough_status bo_shape_round_hull(bough_context *ctx, bo_scene_shape *shape) {
    return shape->form == BO_FORM_CAPSULE ? take_capsule(ctx, shape) : take_cylinder(ctx, shape);
}
