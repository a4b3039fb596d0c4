/* Surfaces of shapes: triangles, seen from outside counter-clockwise. */
#include "scene/mechanism_scene.h"

#include "rig/joint.h"

#include <string.h>

enum { AROUND = 20, CAP_RINGS = 6 }; /* of round shapes */

void bo_triangles_free(bough_context *ctx, bo_triangles *triangles) {
    bo_free(ctx, triangles->vertices);
    bo_free(ctx, triangles->corners);
    bo_free(ctx, triangles->colours);
    *triangles = (bo_triangles){0};
}

/* ---- growing ---- */

typedef struct {
    bough_context *ctx;
    bo_triangles *to;
    bo_se3 frame;
    int32_t first; /* vertex of this shape */
} pencil;

static bough_status add_vertex(const pencil *p, bo_vec3 x) {
    if (!BO_RESERVE(p->ctx, p->to->vertices, p->to->vertex_capacity, 3 * (p->to->vertex_count + 1)))
        return BOUGH_ERROR_MEMORY;
    bo_store3(p->to->vertices + 3 * p->to->vertex_count++, bo_se3_apply(p->frame, x));
    return BOUGH_OK;
}

/* Adds a triangle of the shape's own vertices. */
static bough_status add_triangle(const pencil *p, int32_t a, int32_t b, int32_t c) {
    if (!BO_RESERVE(p->ctx, p->to->corners, p->to->corner_capacity, 3 * (p->to->triangle_count + 1)))
        return BOUGH_ERROR_MEMORY;
    const int32_t corners[3] = {p->first + a, p->first + b, p->first + c};
    memcpy(p->to->corners + 3 * p->to->triangle_count++, corners, sizeof corners);
    return BOUGH_OK;
}

static bough_status add_quad(const pencil *p, int32_t a, int32_t b, int32_t c, int32_t d) {
    BO_TRY(add_triangle(p, a, b, c));
    return add_triangle(p, a, c, d);
}

/* ---- shapes ---- */

static bough_status draw_box(const pencil *p, const double half[3]) {
    static const int32_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    for (int i = 0; i < 8; i++)
        BO_TRY(
            add_vertex(p, bo_v3(i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1], i & 4 ? half[2] : -half[2])));
    for (int f = 0; f < 6; f++)
        BO_TRY(add_quad(p, faces[f][0], faces[f][1], faces[f][2], faces[f][3]));
    return BOUGH_OK;
}

/* A profile (radius, z), upwards from a point of the axis to another, about z. */
static bough_status turn_profile(const pencil *p, int rings, double (*profile)[2]) {
    BO_TRY(add_vertex(p, bo_v3(0, 0, profile[0][1])));
    for (int i = 1; i + 1 < rings; i++)
        for (int k = 0; k < AROUND; k++) {
            const double a = 2 * M_PI * k / AROUND;
            BO_TRY(add_vertex(p, bo_v3(profile[i][0] * cos(a), profile[i][0] * sin(a), profile[i][1])));
        }
    BO_TRY(add_vertex(p, bo_v3(0, 0, profile[rings - 1][1])));
    const int32_t last = 1 + AROUND * (rings - 2), top = last - AROUND;
    for (int k = 0; k < AROUND; k++) {
        const int next = (k + 1) % AROUND;
        BO_TRY(add_triangle(p, 0, 1 + next, 1 + k));
        for (int i = 0; i + 3 < rings; i++) {
            const int32_t low = 1 + AROUND * i, high = low + AROUND;
            BO_TRY(add_quad(p, low + k, low + next, high + next, high + k));
        }
        BO_TRY(add_triangle(p, top + k, top + next, last));
    }
    return BOUGH_OK;
}

/* Two half balls, `length` apart. */
static bough_status draw_capsule(const pencil *p, double radius, double length) {
    enum { RINGS = 2 * (CAP_RINGS + 1) };
    double profile[RINGS][2];
    for (int i = 0; i <= CAP_RINGS; i++) {
        const double a = 0.5 * M_PI * i / CAP_RINGS;
        profile[i][0] = profile[RINGS - 1 - i][0] = radius * sin(a);
        profile[i][1] = -0.5 * length - radius * cos(a);
        profile[RINGS - 1 - i][1] = 0.5 * length + radius * cos(a);
    }
    return turn_profile(p, RINGS, profile);
}

static bough_status draw_sphere(const pencil *p, double radius) {
    enum { RINGS = 2 * CAP_RINGS + 1 };
    double profile[RINGS][2];
    for (int i = 0; i < RINGS; i++) {
        const double a = M_PI * i / (RINGS - 1);
        profile[i][0] = radius * sin(a), profile[i][1] = -radius * cos(a);
    }
    return turn_profile(p, RINGS, profile);
}

static bough_status draw_cylinder(const pencil *p, double radius, double length) {
    double profile[4][2] = {{0, -length / 2}, {radius, -length / 2}, {radius, length / 2}, {0, length / 2}};
    return turn_profile(p, 4, profile);
}

static bough_status draw_plane(const pencil *p, const double size[2], double side) {
    const double x = 0.5 * (size[0] > 0 ? size[0] : side), y = 0.5 * (size[1] > 0 ? size[1] : side);
    for (int i = 0; i < 4; i++)
        BO_TRY(add_vertex(p, bo_v3(i == 0 || i == 3 ? -x : x, i < 2 ? -y : y, 0)));
    return add_quad(p, 0, 1, 2, 3);
}

static bough_status draw_heights(const pencil *p, const bough_shape_def *def) {
    const int32_t columns = def->columns, rows = def->rows;
    for (int32_t j = 0; j < rows; j++)
        for (int32_t i = 0; i < columns; i++)
            BO_TRY(add_vertex(p, bo_v3((i - 0.5 * (columns - 1)) * def->cell[0], (j - 0.5 * (rows - 1)) * def->cell[1],
                                       def->heights[j * columns + i])));
    for (int32_t j = 0; j + 1 < rows; j++)
        for (int32_t i = 0; i + 1 < columns; i++) {
            const int32_t a = j * columns + i;
            BO_TRY(add_quad(p, a, a + 1, a + columns + 1, a + columns));
        }
    return BOUGH_OK;
}

static bough_status draw_triangles(const pencil *p, int32_t vertices, const double *x, int32_t triangles,
                                   const int32_t *corners) {
    for (size_t i = 0; i < (size_t)vertices; i++)
        BO_TRY(add_vertex(p, bo_load3(x + 3 * i)));
    for (size_t i = 0; i < (size_t)triangles; i++)
        BO_TRY(add_triangle(p, corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]));
    return BOUGH_OK;
}

/* Contact knows the faces, in the frame of what the hull belongs to. */
static bough_status draw_hull(pencil p, const bough_shape_def *def) {
    bough_shape *shape = NULL;
    bough_shape_surface surface = {0};
    BO_TRY(bough_shape_create(p.ctx, def, &shape));
    bough_status status = bough_shape_surface_create(p.ctx, shape, &surface);
    bough_shape_destroy(p.ctx, shape);
    p.frame = bo_se3_identity();
    if (status == BOUGH_OK)
        status = draw_triangles(&p, surface.vertex_count, surface.vertices, surface.triangle_count, surface.triangles);
    bough_shape_surface_destroy(p.ctx, &surface);
    return status;
}

bough_status bo_shape_triangles(bough_context *ctx, const bo_scene_shape *shape, double plane,
                                bo_triangles *triangles) {
    const pencil p = {ctx, triangles, bo_pose(&shape->def.frame), (int32_t)triangles->vertex_count};
    switch (shape->form) {
    case BO_FORM_SPHERE:
        return draw_sphere(&p, shape->def.radius);
    case BO_FORM_BOX:
        return draw_box(&p, shape->def.half);
    case BO_FORM_CAPSULE:
        return draw_capsule(&p, shape->radius, shape->length);
    case BO_FORM_CYLINDER:
        return draw_cylinder(&p, shape->radius, shape->length);
    case BO_FORM_PLANE:
        return draw_plane(&p, shape->size, plane);
    case BO_FORM_HEIGHT_FIELD:
        return draw_heights(&p, &shape->def);
    case BO_FORM_MESH:
        return draw_triangles(&p, shape->mesh->vertex_count, shape->mesh->vertices, shape->mesh->element_count,
                              shape->mesh->elements);
    case BO_FORM_HULL:
        return draw_hull(p, &shape->def);
    }
    return BOUGH_OK;
}

/* Vertices that have none yet get this colour; NULL: that of the whole. */
static bough_status paint(bough_context *ctx, bo_triangles *triangles, const double *colour) {
    if (!BO_RESERVE(ctx, triangles->colours, triangles->colour_capacity, 3 * triangles->vertex_count))
        return BOUGH_ERROR_MEMORY;
    for (; triangles->painted_count < triangles->vertex_count; triangles->painted_count++)
        for (size_t c = 0; c < 3; c++)
            triangles->colours[3 * triangles->painted_count + c] = colour ? (float)colour[c] : NAN;
    return BOUGH_OK;
}

bough_status bo_shapes_triangles(bough_context *ctx, const bo_scene_shapes *shapes, bo_se3 frame, double plane,
                                 bo_triangles *triangles) {
    for (int32_t i = 0; i < shapes->count; i++) {
        bo_scene_shape shape = shapes->shapes[i];
        shape.def.frame = bo_put_pose(bo_se3_mul(frame, bo_pose(&shape.def.frame)));
        BO_TRY(paint(ctx, triangles, NULL));
        BO_TRY(bo_shape_triangles(ctx, &shape, plane, triangles));
        BO_TRY(paint(ctx, triangles, shape.colour));
    }
    return BOUGH_OK;
}

void bo_triangles_show(bough_context *ctx, bo_triangles *triangles, const double colour[3], bough_look *look) {
    bool several = false;
    for (size_t k = 0; k < 3 * triangles->painted_count; k++) {
        float *own = &triangles->colours[k];
        *own = isnan(*own) ? (float)colour[k % 3] : *own;
        several = several || *own != (float)colour[k % 3];
    }
    look->vertex_count = (int32_t)triangles->vertex_count, look->vertices = triangles->vertices;
    look->triangle_count = (int32_t)triangles->triangle_count, look->triangles = triangles->corners;
    memcpy(look->colour, colour, sizeof look->colour);
    if (several && triangles->painted_count == triangles->vertex_count)
        look->vertex_colours = triangles->colours;
    else
        bo_free(ctx, triangles->colours);
    *triangles = (bo_triangles){0};
}
