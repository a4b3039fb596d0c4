/* "shape": what links, end effectors, bodies and obstacles look like, touch with, and weigh. */
#include "scene/mechanism_scene.h"

#include "rig/joint.h"
#include "rig/shape.h"
#include "mesh/mesh.h"
#include "scene/entries.h"
#include "scene/scene.h"

#include <string.h>

#define MOST_SHAPES 1000   /* of one thing */
#define MOST_POINTS 10000  /* of a hull */
#define MOST_HEIGHTS 500   /* along one side of a height field */
#define SMALLEST_SIZE 1e-6 /* m */
#define LARGEST_SIZE 1e6   /* m */

static const bo_range sizes = {SMALLEST_SIZE, LARGEST_SIZE, false};
static const bo_range places = {-LARGEST_SIZE, LARGEST_SIZE, false};

static void free_shape(bough_context *ctx, bo_scene_shape *shape) {
    bo_free(ctx, (void *)shape->def.points);
    bo_free(ctx, (void *)shape->def.heights);
    bough_mesh_destroy(ctx, shape->mesh);
}

void bo_scene_free_shapes(bough_context *ctx, bo_scene_shapes *shapes) {
    for (int32_t i = 0; i < shapes->count; i++)
        free_shape(ctx, &shapes->shapes[i]);
    bo_free(ctx, shapes->shapes);
    *shapes = (bo_scene_shapes){0};
}

/* ---- hulls and meshes ---- */

static bough_status keep_points(bo_json at, int32_t count, double **points, bo_scene_shape *shape) {
    if (count < 4 || count > MOST_POINTS)
        return bo_json_fail(at, "a hull has 4 to %d points, not %d", MOST_POINTS, count);
    if (!(*points = BO_NEW_ARRAY(at.ctx, double, 3 * (size_t)count)))
        return BOUGH_ERROR_MEMORY;
    shape->def.points = *points, shape->def.point_count = count;
    return BOUGH_OK;
}

/* Corners of triangles; other elements are told. A file, or {"file": FILE, "scale": FACTOR, ...}. cells NULL: a file. */
static bough_status read_surface(bo_json at, bough_mesh **mesh, int32_t *cells, uint64_t *hash) {
    if (json_is_object(at.value)) {
        BO_TRY(bo_json_keys(at, BO_SHAPE_MESH_KEYS));
        BO_TRY(bo_json_integer(bo_json_at(&at, "cells"), 8, 100, cells));
        BO_TRY(bo_scene_mesh_transformed(at, "file", BOUGH_VOLUME_REFUSE, mesh));
    } else
        BO_TRY(bo_scene_mesh_file(at, BOUGH_VOLUME_REFUSE, mesh));
    *hash = bo_hash_mesh(*hash, *mesh);
    for (int64_t k = 0; k < 3 * (int64_t)(*mesh)->vertex_count; k++)
        if (!(fabs((*mesh)->vertices[k]) <= LARGEST_SIZE))
            return bo_json_fail(at, "a vertex lies at %g m; %g m is the limit", (*mesh)->vertices[k], LARGEST_SIZE);
    return (*mesh)->type == BOUGH_TRI3 ? BOUGH_OK : bo_json_fail(at, "must be a surface of triangles");
}

static bough_status read_hull(bo_json at, bo_scene_shape *shape, uint64_t *hash) {
    int32_t count;
    double *points = NULL;
    shape->def.kind = BOUGH_SHAPE_HULL;
    if (json_is_string(at.value)) {
        bough_mesh *mesh = NULL;
        bough_status status = read_surface(at, &mesh, NULL, hash);
        if (status == BOUGH_OK)
            status = keep_points(at, mesh->vertex_count, &points, shape);
        if (status == BOUGH_OK)
            memcpy(points, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof(double));
        bough_mesh_destroy(at.ctx, mesh);
        return status;
    }
    BO_TRY(bo_json_list(at, &count));
    BO_TRY(keep_points(at, count, &points, shape));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(bo_json_vec3(bo_json_item(&at, i), places, points + 3 * (size_t)i));
    return BOUGH_OK;
}

/* ---- height fields ---- */

/* 0 .. 1 at a point of a lattice */
static double lattice(int64_t x, int64_t y, uint64_t seed) {
    uint64_t h = bo_hash_bytes(BO_HASH_START, &seed, sizeof seed);
    h = bo_hash_bytes(bo_hash_bytes(h, &x, sizeof x), &y, sizeof y);
    h ^= h >> 33, h *= 0xFF51AFD7ED558CCDu, h ^= h >> 33;
    return (double)(h >> 11) * 0x1p-53;
}

/* Smooth between the points of the lattice. */
static double noise_at(double x, double y, uint64_t seed) {
    const double fx = floor(x), fy = floor(y), sx = x - fx, sy = y - fy;
    const double u = sx * sx * (3 - 2 * sx), v = sy * sy * (3 - 2 * sy);
    const int64_t i = (int64_t)fx, j = (int64_t)fy;
    return (1 - v) * ((1 - u) * lattice(i, j, seed) + u * lattice(i + 1, j, seed)) +
           v * ((1 - u) * lattice(i, j + 1, seed) + u * lattice(i + 1, j + 1, seed));
}

static bough_status make_room(bo_json at, int32_t columns, int32_t rows, const double size[2], double **heights,
                              bo_scene_shape *shape) {
    if (!(*heights = BO_NEW_ZEROS(at.ctx, double, (size_t)columns *(size_t)rows)))
        return BOUGH_ERROR_MEMORY;
    shape->def.heights = *heights;
    shape->def.columns = columns, shape->def.rows = rows;
    shape->def.cell[0] = size[0] / (columns - 1), shape->def.cell[1] = size[1] / (rows - 1);
    return BOUGH_OK;
}

static bough_status read_noise(bo_json at, const double size[2], bo_scene_shape *shape) {
    int32_t cells[2] = {32, 32}, seed = 1;
    double height = 0, length = 1, *heights;
    BO_TRY(bo_json_keys(at, BO_NOISE_KEYS));
    BO_TRY(bo_json_integers(bo_json_at(&at, "cells"), 2, 1, MOST_HEIGHTS - 1, cells));
    BO_TRY(bo_json_number(bo_json_must(&at, "height"), sizes, &height));
    BO_TRY(bo_json_number(bo_json_at(&at, "length"), sizes, &length));
    BO_TRY(bo_json_integer(bo_json_at(&at, "seed"), 0, INT32_MAX, &seed));
    BO_TRY(make_room(at, cells[0] + 1, cells[1] + 1, size, &heights, shape));
    for (int32_t j = 0; j <= cells[1]; j++)
        for (int32_t i = 0; i <= cells[0]; i++)
            heights[j * (cells[0] + 1) + i] =
                height * noise_at(i * shape->def.cell[0] / length, j * shape->def.cell[1] / length, (uint64_t)seed);
    return BOUGH_OK;
}

static bough_status read_heights(bo_json at, const double size[2], bo_scene_shape *shape) {
    int32_t rows, columns;
    double *heights = NULL;
    BO_TRY(bo_json_list(at, &rows));
    if (rows < 2 || rows > MOST_HEIGHTS)
        return bo_json_fail(at, "must have 2 to %d rows, along y, not %d", MOST_HEIGHTS, rows);
    bo_json first = bo_json_item(&at, 0);
    BO_TRY(bo_json_list(first, &columns));
    if (columns < 2 || columns > MOST_HEIGHTS)
        return bo_json_fail(first, "must have 2 to %d heights, along x, not %d", MOST_HEIGHTS, columns);
    BO_TRY(make_room(at, columns, rows, size, &heights, shape));
    for (int32_t j = 0; j < rows; j++)
        BO_TRY(bo_json_numbers(bo_json_item(&at, j), columns, places, heights + (ptrdiff_t)j * columns));
    return BOUGH_OK;
}

static bough_status read_height_field(bo_json at, bo_scene_shape *shape) {
    double size[2] = {0};
    bo_json heights = bo_json_at(&at, "heights"), noise = bo_json_at(&at, "noise");
    shape->def.kind = BOUGH_SHAPE_HEIGHT_FIELD;
    BO_TRY(bo_json_keys(at, BO_HEIGHT_FIELD_KEYS));
    BO_TRY(bo_json_numbers(bo_json_must(&at, "size"), 2, sizes, size));
    if (!heights.value == !noise.value)
        return bo_json_fail(at, "needs \"heights\" or \"noise\", one of them");
    return heights.value ? read_heights(heights, size, shape) : read_noise(noise, size, shape);
}

/* ---- one shape ---- */

static bough_status read_round(bo_json at, bo_scene_shape *shape) {
    double both[2] = {0};
    BO_TRY(bo_json_numbers(at, 2, sizes, both));
    shape->radius = both[0], shape->length = both[1];
    return bo_shape_round_hull(at.ctx, shape);
}

static bough_status read_box(bo_json at, bo_scene_shape *shape) {
    shape->def.kind = BOUGH_SHAPE_BOX;
    BO_TRY(bo_json_vec3(at, sizes, shape->def.half));
    for (int d = 0; d < 3; d++)
        shape->def.half[d] /= 2;
    return BOUGH_OK;
}

static bough_status read_plane(bo_json at, bo_scene_shape *shape) {
    bool flag = true;
    shape->def.kind = BOUGH_SHAPE_PLANE;
    if (json_is_array(at.value))
        return bo_json_numbers(at, 2, sizes, shape->size);
    BO_TRY(bo_json_flag(at, &flag));
    return flag ? BOUGH_OK : bo_json_fail(at, "must be true, or [x, y]: how large it is drawn");
}

static bough_status read_form(bo_json at, bo_scene_shape *shape, uint64_t *hash) {
    switch (shape->form) {
    case BO_FORM_SPHERE:
        shape->def.kind = BOUGH_SHAPE_SPHERE;
        return bo_json_number(at, sizes, &shape->def.radius);
    case BO_FORM_BOX:
        return read_box(at, shape);
    case BO_FORM_CAPSULE:
    case BO_FORM_CYLINDER:
        return read_round(at, shape);
    case BO_FORM_HULL:
        return read_hull(at, shape, hash);
    case BO_FORM_MESH:
        return read_surface(at, &shape->mesh, &shape->cells, hash);
    case BO_FORM_PLANE:
        return read_plane(at, shape);
    case BO_FORM_HEIGHT_FIELD:
        return read_height_field(at, shape);
    }
    return BOUGH_OK;
}

/* Checks that contact can use a shape that touches: points of a hull may lie in a plane. */
static bough_status check_contact(bo_json at, const bo_scene_shape *shape) {
    bough_shape *made = NULL;
    const bough_status status = bough_shape_create(at.ctx, &shape->def, &made);
    bough_shape_destroy(at.ctx, made);
    return bo_json_explain(at, status);
}

static bough_status read_shape(bo_json at, bo_scene_shape *shape, uint64_t *hash) {
    static const double plain[3] = {0.62, 0.66, 0.72};
    bo_se3 frame = bo_se3_identity();
    int given = -1;
    BO_TRY(bo_json_keys(at, BO_SHAPE_KEYS));
    for (int i = 0; i < BO_FORM_COUNT; i++)
        if (bo_json_has(&at, BO_FORM_NAMES[i])) {
            if (given >= 0)
                return bo_json_fail(bo_json_at(&at, BO_FORM_NAMES[i]),
                                    "is one too many beside \"%s\"; several shapes "
                                    "are a list",
                                    BO_FORM_NAMES[given]);
            given = i;
        }
    if (given < 0)
        return bo_json_fail(at, "needs one of sphere, box, capsule, cylinder, hull, mesh, plane, height_field");
    shape->form = (bo_form)given;
    shape->def = bough_default_shape_def();
    memcpy(shape->colour, plain, sizeof plain);
    BO_TRY(bo_scene_pose(&at, &frame));
    shape->def.frame = bo_put_pose(frame);
    BO_TRY(bo_json_vec3(bo_json_at(&at, "colour"), (bo_range){0, 1, false}, shape->colour));
    bo_json form = bo_json_at(&at, BO_FORM_NAMES[given]);
    BO_TRY(read_form(form, shape, hash));
    const bool round = shape->form == BO_FORM_CAPSULE || shape->form == BO_FORM_CYLINDER; /* always fit for contact */
    return shape->form != BO_FORM_MESH && !round ? check_contact(form, shape) : BOUGH_OK;
}

bough_status bo_scene_read_shapes(bo_json at, bo_scene_shapes *shapes, uint64_t *hash) {
    int32_t count = 1;
    const bool one = json_is_object(at.value);
    if (at.value && !one && !json_is_array(at.value))
        return bo_json_fail(at, "must be a shape such as {\"sphere\": 0.1}, or a list of shapes");
    if (!one)
        BO_TRY(bo_json_list(at, &count));
    if (at.value && count == 0)
        return bo_json_fail(at, "has no shape in it");
    if (count > MOST_SHAPES)
        return bo_json_fail(at, "%d shapes are too many; %d is the limit", count, MOST_SHAPES);
    if (!(shapes->shapes = BO_NEW_ZEROS(at.ctx, bo_scene_shape, count)))
        return BOUGH_ERROR_MEMORY;
    shapes->count = count;
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_shape(one ? at : bo_json_item(&at, i), &shapes->shapes[i], hash));
    return BOUGH_OK;
}

/* ---- weight ---- */

/* Volume, its first moment and its second moment (integral of x x^T), in the frame of what the shape belongs to. */
typedef struct {
    double volume;
    bo_vec3 first;
    bo_mat3 second;
} moments;

static void add_moments(moments *to, moments m) {
    to->volume += m.volume;
    to->first = bo_add(to->first, m.first);
    to->second = bo_mat_add(to->second, m.second);
}

/* Moments of a shape about its middle, with a diagonal second moment. */
static moments centred(double volume, double xx, double yy, double zz) {
    return (moments){.volume = volume, .second = {{xx, 0, 0, 0, yy, 0, 0, 0, zz}}};
}

static moments moments_of_box(const double half[3]) {
    const double v = 8 * half[0] * half[1] * half[2];
    return centred(v, v * half[0] * half[0] / 3, v * half[1] * half[1] / 3, v * half[2] * half[2] / 3);
}

static moments moments_of_cylinder(double r, double length) {
    const double v = M_PI * r * r * length;
    return centred(v, v * r * r / 4, v * r * r / 4, v * length * length / 12);
}

static moments moments_of_capsule(double r, double length) {
    double volume, across, along;
    bo_capsule_moments(r, length / 2, &volume, &across, &along);
    return centred(volume, across, across, along);
}

/* Sums the moments of the tetrahedra between the origin and the triangles: volume V/6 = det/6, first moment V (a + b +
 * c)/4, second V/20 (s s^T + a a^T + b b^T + c c^T) with s = a + b + c. */
static moments moments_of_triangles(const bo_triangles *triangles) {
    moments sum = {0};
    for (size_t t = 0; t < triangles->triangle_count; t++) {
        bo_vec3 x[3];
        for (size_t k = 0; k < 3; k++)
            x[k] = bo_load3(triangles->vertices + 3 * (size_t)triangles->corners[3 * t + k]);
        const bo_vec3 s = bo_add(x[0], bo_add(x[1], x[2]));
        const double volume = bo_dot(x[0], bo_cross(x[1], x[2])) / 6;
        bo_mat3 second = bo_outer(s, s);
        for (int k = 0; k < 3; k++)
            second = bo_mat_add(second, bo_outer(x[k], x[k]));
        add_moments(&sum, (moments){volume, bo_scale(volume / 4, s), bo_mat_scale(volume / 20, second)});
    }
    return sum;
}

/* From the shape's frame: x -> R x + t. */
static moments moved(moments m, bo_se3 g) {
    const bo_vec3 first = bo_mat_vec(g.R, m.first);
    const bo_mat3 turned = bo_mat_mul(g.R, bo_mat_mul(m.second, bo_transpose(g.R)));
    const bo_mat3 mixed = bo_mat_add(bo_outer(first, g.t), bo_outer(g.t, first));
    return (moments){m.volume, bo_mul_add(first, m.volume, g.t),
                     bo_mat_add(bo_mat_add(turned, mixed), bo_mat_scale(m.volume, bo_outer(g.t, g.t)))};
}

/* In the frame of what the shape belongs to; no volume: none, or triangles that enclose none. */
static bough_status moments_of(bough_context *ctx, const bo_scene_shape *shape, moments *m) {
    const double r = shape->def.radius, ball = 4 * M_PI / 3 * r * r * r;
    const bo_se3 frame = bo_pose(&shape->def.frame);
    bo_triangles triangles = {0};
    bough_status status = BOUGH_OK;
    *m = (moments){0};
    switch (shape->form) {
    case BO_FORM_SPHERE:
        *m = moved(centred(ball, ball * r * r / 5, ball * r * r / 5, ball * r * r / 5), frame);
        break;
    case BO_FORM_BOX:
        *m = moved(moments_of_box(shape->def.half), frame);
        break;
    case BO_FORM_CAPSULE:
        *m = moved(moments_of_capsule(shape->radius, shape->length), frame);
        break;
    case BO_FORM_CYLINDER:
        *m = moved(moments_of_cylinder(shape->radius, shape->length), frame);
        break;
    case BO_FORM_HULL:
    case BO_FORM_MESH:
        status = bo_shape_triangles(ctx, shape, 0, &triangles);
        if (status == BOUGH_OK)
            *m = moments_of_triangles(&triangles);
        bo_triangles_free(ctx, &triangles);
        break;
    case BO_FORM_PLANE:
    case BO_FORM_HEIGHT_FIELD:
        break;
    }
    return status;
}

bough_status bo_shapes_weigh(bough_context *ctx, const bo_scene_shapes *shapes, double density,
                             bough_rigid_body_def *body) {
    moments sum = {0};
    body->mass = 0;
    for (int32_t i = 0; i < shapes->count; i++) {
        moments own;
        BO_TRY(moments_of(ctx, &shapes->shapes[i], &own));
        if (!(own.volume > 0))
            return BOUGH_OK;
        add_moments(&sum, own);
    }
    if (shapes->count == 0)
        return BOUGH_OK;
    const bo_vec3 c = bo_scale(1 / sum.volume, sum.first);
    const bo_mat3 about = bo_mat_sub(sum.second, bo_mat_scale(sum.volume, bo_outer(c, c)));
    const bo_mat3 I = bo_mat_scale(density, bo_mat_sub(bo_mat_scale(bo_trace(about), bo_identity3()), about));
    body->mass = density * sum.volume;
    bo_store3(body->centre, c);
    memcpy(body->inertia, I.m, sizeof I.m);
    return BOUGH_OK;
}
