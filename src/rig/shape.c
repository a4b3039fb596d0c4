/* Shapes: defaults, checks, what they look like and where they are. */
#include "rig/shape.h"

#include <string.h>

#define SHAPE_COOKIE 0xB0067001u
#define MOST_POINTS 65536
#define MOST_NODES 4096 /* of a height field, each way */
#define SMALLEST 1e-6   /* m */
#define LARGEST 1e6     /* m: beyond, rounding is as large as what touches */

bough_shape_def bough_default_shape_def(void) {
    return (bough_shape_def){
        .cookie = SHAPE_COOKIE, .kind = BOUGH_SHAPE_SPHERE, .frame = bough_default_pose(), .radius = 0.1};
}

/* ---- checks ---- */

static bool within(double x, double lower, double upper) {
    return x >= lower && x <= upper;
}

static bough_status check_numbers(bough_context *ctx, size_t count, const double *x, const char *what) {
    for (size_t k = 0; k < count; k++)
        if (!within(x[k], -LARGEST, LARGEST))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: number %zu is %g m; it must be within %g m", what, k, x[k],
                           LARGEST);
    return BOUGH_OK;
}

static bough_status check_hull(bough_context *ctx, const bough_shape_def *def) {
    if (!within(def->point_count, 4, MOST_POINTS) || !def->points)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a hull needs 4 to %d points, not %d", MOST_POINTS,
                       def->points ? def->point_count : 0);
    return check_numbers(ctx, 3 * (size_t)def->point_count, def->points, "the points of a hull");
}

static bough_status check_field(bough_context *ctx, const bough_shape_def *def) {
    if (!within(def->columns, 2, MOST_NODES) || !within(def->rows, 2, MOST_NODES) || !def->heights)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a height field needs 2 to %d heights each way, not %d x %d",
                       MOST_NODES, def->heights ? def->columns : 0, def->heights ? def->rows : 0);
    for (int k = 0; k < 2; k++)
        if (!within(def->cell[k], SMALLEST, LARGEST))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "the cells of a height field are %g x %g m; they must be %g to %g m", def->cell[0],
                           def->cell[1], SMALLEST, LARGEST);
    return check_numbers(ctx, (size_t)def->columns * (size_t)def->rows, def->heights, "the heights of a field");
}

static bough_status check_def(bough_context *ctx, const bough_shape_def *def) {
    if (!def || def->cookie != SHAPE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the shape was not made by bough_default_shape_def()");
    if (!bo_good_pose(&def->frame))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the frame of a shape needs a rotation matrix and finite numbers");
    BO_TRY(check_numbers(ctx, 3, def->frame.position, "the place of a shape"));
    switch (def->kind) {
    case BOUGH_SHAPE_PLANE:
        return BOUGH_OK;
    case BOUGH_SHAPE_SPHERE:
        if (!within(def->radius, SMALLEST, LARGEST))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the radius of a sphere is %g m; it must be %g to %g m",
                           def->radius, SMALLEST, LARGEST);
        return BOUGH_OK;
    case BOUGH_SHAPE_BOX:
        for (int k = 0; k < 3; k++)
            if (!within(def->half[k], 0.5 * SMALLEST, LARGEST))
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "an edge of a box is %g m; it must be %g to %g m",
                               2 * def->half[k], SMALLEST, 2 * LARGEST);
        return BOUGH_OK;
    case BOUGH_SHAPE_HULL:
        return check_hull(ctx, def);
    case BOUGH_SHAPE_HEIGHT_FIELD:
        return check_field(ctx, def);
    case BOUGH_SHAPE_CAPSULE:
        if (!within(def->radius, SMALLEST, LARGEST) || !within(def->half[2], 0.5 * SMALLEST, LARGEST))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "the radius of a capsule is %g m and its axis %g m long; they must be %g to %g m",
                           def->radius, 2 * def->half[2], SMALLEST, LARGEST);
        return BOUGH_OK;
    case BOUGH_SHAPE_MESH:
        return def->mesh ? BOUGH_OK
                         : bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                                   "the shape is a mesh without triangles: make one by bough_shape_mesh_create()");
    }
    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no shape of kind %d", (int)def->kind);
}

/* ---- making ---- */

/* A sphere around the middle of the box around the corners. */
static void find_sphere(bough_shape *shape) {
    const bo_hull *hull = &shape->hull;
    shape->centre = bo_scale(0.5, bo_add(hull->lower, hull->upper));
    shape->radius = 0;
    for (int32_t i = 0; i < hull->vertex_count; i++)
        shape->radius = fmax(shape->radius, bo_norm(bo_sub(hull->vertices[i], shape->centre)));
}

static bough_status make_box(bough_context *ctx, const bough_shape_def *def, bough_shape *shape) {
    bo_vec3 corners[8];
    for (int i = 0; i < 8; i++)
        corners[i] = bo_v3(i & 1 ? def->half[0] : -def->half[0], i & 2 ? def->half[1] : -def->half[1],
                           i & 4 ? def->half[2] : -def->half[2]);
    BO_TRY(bo_hull_create(ctx, 8, corners, &shape->hull));
    find_sphere(shape);
    return BOUGH_OK;
}

static bough_status make_hull(bough_context *ctx, int32_t count, const double *from, bough_shape *shape) {
    bo_vec3 *points = BO_NEW_ARRAY(ctx, bo_vec3, count);
    if (!points)
        return bo_fail_memory(ctx);
    for (int32_t i = 0; i < count; i++)
        points[i] = bo_load3(from + 3 * (size_t)i);
    const bough_status status = bo_hull_create(ctx, count, points, &shape->hull);
    bo_free(ctx, points);
    if (status == BOUGH_OK)
        find_sphere(shape);
    return status;
}

void bo_capsule_points(double radius, double half, double points[3 * BO_CAPSULE_POINTS]) {
    for (int end = -1; end <= 1; end += 2) {
        for (int ring = 0; ring < BO_CAPSULE_RINGS; ring++) {
            const double latitude = ring * M_PI / 2 / BO_CAPSULE_RINGS, r = radius * cos(latitude);
            for (int i = 0; i < BO_CAPSULE_SIDES; i++, points += 3) {
                const double angle = 2 * M_PI * i / BO_CAPSULE_SIDES;
                bo_store3(points, bo_v3(r * cos(angle), r * sin(angle), end * (half + radius * sin(latitude))));
            }
        }
        bo_store3(points, bo_v3(0, 0, end * (half + radius)));
        points += 3;
    }
}

static bough_status make_capsule(bough_context *ctx, const bough_shape_def *def, bough_shape *shape) {
    double points[3 * BO_CAPSULE_POINTS];
    bo_capsule_points(def->radius, def->half[2], points);
    shape->kind = BOUGH_SHAPE_HULL;
    return make_hull(ctx, BO_CAPSULE_POINTS, points, shape);
}

static bough_status make_field(bough_context *ctx, const bough_shape_def *def, bough_shape *shape) {
    const size_t count = (size_t)def->columns * (size_t)def->rows;
    shape->heights = BO_NEW_ARRAY(ctx, double, count);
    if (!shape->heights)
        return bo_fail_memory(ctx);
    memcpy(shape->heights, def->heights, count * sizeof(double));
    shape->columns = def->columns, shape->rows = def->rows;
    memcpy(shape->cell, def->cell, sizeof def->cell);
    shape->lowest = shape->highest = def->heights[0];
    for (size_t k = 1; k < count; k++) {
        shape->lowest = fmin(shape->lowest, def->heights[k]);
        shape->highest = fmax(shape->highest, def->heights[k]);
    }
    shape->centre.z = 0.5 * (shape->lowest + shape->highest);
    shape->radius = bo_norm(bo_v3(0.5 * (def->columns - 1) * def->cell[0], 0.5 * (def->rows - 1) * def->cell[1],
                                  0.5 * (shape->highest - shape->lowest)));
    return BOUGH_OK;
}

static void take_mesh(const bough_shape_mesh *mesh, bough_shape *shape) {
    shape->mesh = mesh;
    shape->centre = bo_scale(0.5, bo_add(mesh->lower, mesh->upper));
    for (int32_t i = 0; i < mesh->vertex_count; i++)
        shape->radius = fmax(shape->radius, bo_norm(bo_sub(mesh->vertices[i], shape->centre)));
}

static bough_status make(bough_context *ctx, const bough_shape_def *def, bough_shape *shape) {
    shape->kind = def->kind;
    shape->frame = bo_pose(&def->frame);
    switch (def->kind) {
    case BOUGH_SHAPE_PLANE:
        shape->radius = INFINITY;
        return BOUGH_OK;
    case BOUGH_SHAPE_SPHERE:
        shape->radius = def->radius;
        return BOUGH_OK;
    case BOUGH_SHAPE_BOX:
        return make_box(ctx, def, shape);
    case BOUGH_SHAPE_HULL:
        return make_hull(ctx, def->point_count, def->points, shape);
    case BOUGH_SHAPE_HEIGHT_FIELD:
        return make_field(ctx, def, shape);
    case BOUGH_SHAPE_CAPSULE:
        return make_capsule(ctx, def, shape);
    case BOUGH_SHAPE_MESH:
        take_mesh(def->mesh, shape);
        return BOUGH_OK;
    }
    return BOUGH_OK;
}

bough_status bough_shape_create(bough_context *ctx, const bough_shape_def *def, bough_shape **shape) {
    *shape = NULL;
    BO_TRY(check_def(ctx, def));
    bough_shape *made = BO_NEW(ctx, bough_shape);
    if (!made)
        return bo_fail_memory(ctx);
    const bough_status status = make(ctx, def, made);
    if (status != BOUGH_OK) {
        bough_shape_destroy(ctx, made);
        return status;
    }
    *shape = made;
    return BOUGH_OK;
}

void bough_shape_destroy(bough_context *ctx, bough_shape *shape) {
    if (!shape)
        return;
    bo_hull_destroy(ctx, &shape->hull);
    bo_free(ctx, shape->heights);
    bo_free(ctx, shape);
}

/* ---- where ---- */

void bo_shape_bounds(const bough_shape *shape, bo_se3 at, bo_vec3 *lower, bo_vec3 *upper) {
    const bo_se3 g = bo_se3_mul(at, shape->frame);
    const bo_vec3 c = shape->kind == BOUGH_SHAPE_PLANE ? g.t : bo_se3_apply(g, shape->centre);
    *lower = bo_v3(c.x - shape->radius, c.y - shape->radius, c.z - shape->radius);
    *upper = bo_v3(c.x + shape->radius, c.y + shape->radius, c.z + shape->radius);
    if (shape->mesh) { /* the box around a turned box */
        const bo_vec3 half = bo_scale(0.5, bo_sub(shape->mesh->upper, shape->mesh->lower));
        const double *R = g.R.m;
        const bo_vec3 more = bo_v3(fabs(R[0]) * half.x + fabs(R[1]) * half.y + fabs(R[2]) * half.z,
                                   fabs(R[3]) * half.x + fabs(R[4]) * half.y + fabs(R[5]) * half.z,
                                   fabs(R[6]) * half.x + fabs(R[7]) * half.y + fabs(R[8]) * half.z);
        *lower = bo_sub(c, more), *upper = bo_add(c, more);
    }
    if (shape->hull.vertex_count == 0)
        return;
    double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < shape->hull.vertex_count; i++) {
        double x[3];
        bo_store3(x, bo_se3_apply(g, shape->hull.vertices[i]));
        for (int k = 0; k < 3; k++)
            least[k] = fmin(least[k], x[k]), most[k] = fmax(most[k], x[k]);
    }
    *lower = bo_load3(least), *upper = bo_load3(most);
}

/* ---- what it looks like ---- */

static void surface_of_hull(const bough_shape *shape, bough_shape_surface *s) {
    const bo_hull *hull = &shape->hull;
    int32_t *t = s->triangles;
    for (int32_t i = 0; i < hull->vertex_count; i++)
        bo_store3(s->vertices + 3 * (size_t)i, bo_se3_apply(shape->frame, hull->vertices[i]));
    for (int32_t f = 0; f < hull->face_count; f++)
        for (int32_t i = hull->face_start[f] + 1; i + 1 < hull->face_start[f + 1]; i++, t += 3)
            t[0] = hull->loops[hull->face_start[f]], t[1] = hull->loops[i], t[2] = hull->loops[i + 1];
}

static void surface_of_mesh(const bough_shape *shape, bough_shape_surface *s) {
    for (int32_t i = 0; i < s->vertex_count; i++)
        bo_store3(s->vertices + 3 * (size_t)i, bo_se3_apply(shape->frame, shape->mesh->vertices[i]));
    memcpy(s->triangles, shape->mesh->triangles, 3 * (size_t)s->triangle_count * sizeof *s->triangles);
}

static void surface_of_field(const bough_shape *shape, bough_shape_surface *s) {
    int32_t *t = s->triangles;
    double *x = s->vertices;
    for (int32_t j = 0; j < shape->rows; j++)
        for (int32_t i = 0; i < shape->columns; i++, x += 3)
            bo_store3(x, bo_se3_apply(shape->frame, bo_field_node(shape, i, j)));
    for (int32_t j = 0; j + 1 < shape->rows; j++)
        for (int32_t i = 0; i + 1 < shape->columns; i++, t += 6) {
            const int32_t a = j * shape->columns + i, b = a + 1, c = a + shape->columns, d = c + 1;
            memcpy(t, (const int32_t[]){a, b, d, a, d, c}, 6 * sizeof *t);
        }
}

static bough_shape_surface size_of_surface(const bough_shape *shape) {
    if (shape->kind == BOUGH_SHAPE_HEIGHT_FIELD)
        return (bough_shape_surface){.vertex_count = shape->columns * shape->rows,
                                     .triangle_count = 2 * (shape->columns - 1) * (shape->rows - 1)};
    if (shape->mesh)
        return (bough_shape_surface){.vertex_count = shape->mesh->vertex_count,
                                     .triangle_count = shape->mesh->triangle_count};
    const bo_hull *hull = &shape->hull;
    return (bough_shape_surface){
        .vertex_count = hull->vertex_count,
        .triangle_count = hull->vertex_count == 0 ? 0 : hull->face_start[hull->face_count] - 2 * hull->face_count};
}

bough_status bough_shape_surface_create(bough_context *ctx, const bough_shape *shape, bough_shape_surface *surface) {
    bough_shape_surface s = size_of_surface(shape);
    memset(surface, 0, sizeof *surface);
    if (s.triangle_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "planes and spheres have no surface of triangles");
    s.vertices = BO_NEW_ARRAY(ctx, double, 3 * (size_t)s.vertex_count);
    s.triangles = BO_NEW_ARRAY(ctx, int32_t, 3 * (size_t)s.triangle_count);
    if (!s.vertices || !s.triangles) {
        bough_shape_surface_destroy(ctx, &s);
        return bo_fail_memory(ctx);
    }
    if (shape->kind == BOUGH_SHAPE_HEIGHT_FIELD)
        surface_of_field(shape, &s);
    else if (shape->mesh)
        surface_of_mesh(shape, &s);
    else
        surface_of_hull(shape, &s);
    *surface = s;
    return BOUGH_OK;
}

void bough_shape_surface_destroy(bough_context *ctx, bough_shape_surface *surface) {
    bo_free(ctx, surface->vertices);
    bo_free(ctx, surface->triangles);
    memset(surface, 0, sizeof *surface);
}
