/* Closed surfaces that touch: their distances on a grid, and the points by which they touch others. docs/theory/contact.md,
 * "Meshes". */
#include "rig/shape.h"

#include "base/morton.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS = 40, FEWEST_CELLS = 8, MOST_CELLS = 100 };
enum { MOST_VERTICES = 100000, MOST_TRIANGLES = 200000 };
enum { MOST_POINTS = 4000 /* that lie between corners */, MOST_PARTS = 32 /* of an edge */, MOST_IN_BALL = 4 };
#define SPACING 2.0   /* cells, between points */
#define LARGEST 1e6   /* m */
#define SMALLEST 1e-6 /* m */
#define FLAT 1e-6     /* of the box around a surface: it has no inside that could be felt */
#define SHARP 0.98    /* the cosine of the angle between triangles beside an edge that sticks out is less */

/* ---- edges ---- */

/* One side of a triangle. */
typedef struct {
    int32_t low, high; /* vertices */
    bool down;         /* it goes from high to low */
    int32_t triangle;
} side;

static int compare_sides(const void *a, const void *b) {
    const side *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    if (p->high != q->high)
        return p->high < q->high ? -1 : 1;
    if (p->down != q->down)
        return p->down ? 1 : -1;
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static void list_sides(const bough_shape_mesh *mesh, side *sides) {
    for (int32_t t = 0; t < mesh->triangle_count; t++)
        for (int32_t k = 0; k < 3; k++) {
            const int32_t a = mesh->triangles[3 * t + k], b = mesh->triangles[3 * t + (k + 1) % 3];
            sides[3 * t + k] = (side){a < b ? a : b, a < b ? b : a, a > b, t};
        }
    qsort(sides, 3 * (size_t)mesh->triangle_count, sizeof *sides, compare_sides);
}

static int32_t end_of_edge(const side *sides, int32_t first, int32_t count) {
    int32_t end = first + 1;
    while (end < count && sides[end].low == sides[first].low && sides[end].high == sides[first].high)
        end++;
    return end;
}

/* Triangles go along each edge as often in one direction as in the other. */
static bough_status check_closed(bough_context *ctx, const bough_shape_mesh *mesh, const side *sides) {
    const int32_t count = 3 * mesh->triangle_count;
    int32_t open = 0, turned = 0;
    for (int32_t first = 0, end; first < count; first = end) {
        int32_t down = 0;
        end = end_of_edge(sides, first, count);
        for (int32_t i = first; i < end; i++)
            down += sides[i].down;
        open += (end - first) % 2;
        turned += (end - first) % 2 == 0 && 2 * down != end - first && sides[first].low != sides[first].high;
    }
    if (open > 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the surface has %d open edges, so that it has no inside; close its holes", open);
    if (turned > 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "triangles beside %d edges of the surface do not look to the same side; turn them", turned);
    return BOUGH_OK;
}

/* ---- points ---- */

typedef struct {
    const bough_shape_mesh *mesh;
    const side *sides;
    double spacing;
    int32_t count;         /* of points so far */
    bo_mesh_point *points; /* NULL: they are only counted */
} sampler;

static void add_point(sampler *s, bo_vec3 x, bo_vec3 along, bool corner) {
    if (s->points)
        s->points[s->count] = (bo_mesh_point){x, along, corner};
    s->count++;
}

static bo_vec3 normal_of(const bough_shape_mesh *mesh, int32_t triangle) {
    const int32_t *v = mesh->triangles + 3 * (size_t)triangle;
    return bo_normalize(bo_cross(bo_sub(mesh->vertices[v[1]], mesh->vertices[v[0]]),
                                 bo_sub(mesh->vertices[v[2]], mesh->vertices[v[0]])));
}

/* The edge sticks out: the corner of the second triangle that is not on it is behind the first one. */
static bool sticks_out(const bough_shape_mesh *mesh, const side *a, const side *b) {
    const bo_vec3 n = normal_of(mesh, a->triangle);
    double most = 0;
    for (int k = 0; k < 3; k++)
        most =
            fmin(most, bo_dot(n, bo_sub(mesh->vertices[mesh->triangles[3 * b->triangle + k]], mesh->vertices[a->low])));
    return most < 0 && bo_dot(n, normal_of(mesh, b->triangle)) < SHARP;
}

static int32_t parts_of(const sampler *s, double length) {
    const double parts = ceil(length / s->spacing);
    return parts < MOST_PARTS ? (int32_t)fmax(parts, 1) : MOST_PARTS;
}

/* An edge that sticks out is a chain of pieces, each with a point in its middle. Others have points between their ends. */
static void sample_edge(sampler *s, const side *first, bool sharp) {
    const bo_vec3 a = s->mesh->vertices[first->low], d = bo_sub(s->mesh->vertices[first->high], a);
    const int32_t parts = parts_of(s, bo_norm(d));
    for (int32_t k = 0; k < parts && sharp; k++)
        add_point(s, bo_mul_add(a, (k + 0.5) / parts, d), bo_scale(0.5 / parts, d), false);
    for (int32_t k = 1; k < parts && !sharp; k++)
        add_point(s, bo_mul_add(a, (double)k / parts, d), bo_v3(0, 0, 0), false);
}

static void sample_triangle(sampler *s, int32_t triangle) {
    const int32_t *v = s->mesh->triangles + 3 * (size_t)triangle;
    const bo_vec3 a = s->mesh->vertices[v[0]], b = bo_sub(s->mesh->vertices[v[1]], a),
                  c = bo_sub(s->mesh->vertices[v[2]], a);
    const int32_t parts = parts_of(s, fmax(bo_norm(bo_sub(c, b)), fmax(bo_norm(b), bo_norm(c))));
    for (int32_t i = 1; i < parts; i++)
        for (int32_t j = 1; i + j < parts; j++)
            add_point(s, bo_mul_add(bo_mul_add(a, (double)i / parts, b), (double)j / parts, c), bo_v3(0, 0, 0), false);
}

static void sample_surface(sampler *s) {
    const bough_shape_mesh *mesh = s->mesh;
    const int32_t count = 3 * mesh->triangle_count;
    s->count = 0;
    for (int32_t first = 0, end, last = -1; first < count; first = end) {
        const side *edge = &s->sides[first];
        end = end_of_edge(s->sides, first, count);
        if (edge->low != last) /* each vertex has edges to higher ones, or from lower ones alone */
            add_point(s, mesh->vertices[edge->low], bo_v3(0, 0, 0), true), last = edge->low;
        if (edge->low != edge->high)
            sample_edge(s, edge, end - first != 2 || sticks_out(mesh, edge, edge + 1));
    }
    for (int32_t t = 0; t < mesh->triangle_count; t++)
        sample_triangle(s, t);
}

static void point_at(const void *data, int32_t index, double x[3]) {
    bo_store3(x, ((const bo_mesh_point *)data)[index].x);
}

/* Corners come first, those that no edge begins at among them; then what lies between. */
static bough_status find_points(bough_context *ctx, const side *sides, bough_shape_mesh *mesh) {
    sampler s = {.mesh = mesh, .sides = sides, .spacing = SPACING * mesh->grid.cell};
    for (sample_surface(&s); s.count > MOST_POINTS + mesh->vertex_count && s.spacing < 1e9; sample_surface(&s))
        s.spacing *= 1.5;
    bo_mesh_point *points = BO_NEW_ARRAY(ctx, bo_mesh_point, (size_t)s.count + (size_t)mesh->vertex_count);
    int32_t *order = BO_NEW_ARRAY(ctx, int32_t, (size_t)s.count + (size_t)mesh->vertex_count);
    bool *seen = BO_NEW_ZEROS(ctx, bool, mesh->vertex_count);
    bough_status status = points && order && seen ? BOUGH_OK : bo_fail_memory(ctx);
    if (status == BOUGH_OK) {
        s.points = points;
        sample_surface(&s);
        for (int32_t i = 0; i < 3 * mesh->triangle_count; i++)
            seen[sides[i].low] = true;
        for (int32_t i = 0; i < 3 * mesh->triangle_count; i++)
            if (!seen[sides[i].high])
                add_point(&s, mesh->vertices[sides[i].high], bo_v3(0, 0, 0), true), seen[sides[i].high] = true;
        mesh->points = BO_NEW_ARRAY(ctx, bo_mesh_point, s.count);
        status = mesh->points ? bo_morton_order(ctx, s.count, point_at, points, order) : bo_fail_memory(ctx);
    }
    for (int32_t i = 0; i < s.count && status == BOUGH_OK; i++)
        mesh->points[i] = points[order[i]];
    mesh->point_count = s.count;
    bo_free(ctx, points);
    bo_free(ctx, order);
    bo_free(ctx, seen);
    return status;
}

/* A sphere about the middle of the box around the points from `first` on. */
static bo_mesh_ball ball_around(const bo_mesh_point *points, int32_t first, int32_t end) {
    bo_vec3 low = points[first].x, high = low;
    double radius = 0;
    for (int32_t i = first; i < end; i++) {
        const bo_vec3 x = points[i].x;
        low = bo_v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = bo_v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    const bo_vec3 centre = bo_scale(0.5, bo_add(low, high));
    for (int32_t i = first; i < end; i++)
        radius = fmax(radius, bo_norm(bo_sub(points[i].x, centre)) + bo_norm(points[i].along));
    return (bo_mesh_ball){centre, radius};
}

static bough_status make_balls(bough_context *ctx, bough_shape_mesh *mesh) {
    while (mesh->point_count >> mesh->levels > MOST_IN_BALL)
        mesh->levels++;
    if (!(mesh->balls = BO_NEW_ARRAY(ctx, bo_mesh_ball, ((int64_t)2 << mesh->levels) - 1)))
        return bo_fail_memory(ctx);
    for (int32_t level = 0; level <= mesh->levels; level++)
        for (int32_t k = 0; k < 1 << level; k++)
            mesh->balls[(1 << level) - 1 + k] =
                ball_around(mesh->points, bo_mesh_first_point(mesh, level, k), bo_mesh_first_point(mesh, level, k + 1));
    return BOUGH_OK;
}

/* ---- making ---- */

static bough_status check_numbers(bough_context *ctx, int32_t vertex_count, const double *vertices,
                                  int32_t triangle_count, const int32_t *triangles, int32_t cells) {
    if (!(vertex_count >= 4 && vertex_count <= MOST_VERTICES) ||
        !(triangle_count >= 4 && triangle_count <= MOST_TRIANGLES) || !vertices || !triangles)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a mesh that touches has 4 to %d vertices and 4 to %d triangles, not %d and %d", MOST_VERTICES,
                       MOST_TRIANGLES, vertices ? vertex_count : 0, triangles ? triangle_count : 0);
    if (cells != 0 && !(cells >= FEWEST_CELLS && cells <= MOST_CELLS))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a mesh has %d to %d cells of distances along its longest side, not %d", FEWEST_CELLS,
                       MOST_CELLS, cells);
    for (size_t k = 0; k < 3 * (size_t)vertex_count; k++)
        if (!(fabs(vertices[k]) <= LARGEST))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "vertex %zu of the mesh lies at %g m; it must be within %g m",
                           k / 3, vertices[k], LARGEST);
    for (size_t k = 0; k < 3 * (size_t)triangle_count; k++)
        if (triangles[k] < 0 || triangles[k] >= vertex_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "triangle %zu of the mesh has vertex %d; there are %d vertices",
                           k / 3, triangles[k], vertex_count);
    return BOUGH_OK;
}

/* Copies the surface, so that its triangles look outwards. */
static bough_status take_surface(bough_context *ctx, const double *vertices, const int32_t *triangles,
                                 bough_shape_mesh *mesh) {
    const size_t corners = 3 * (size_t)mesh->triangle_count;
    double volume = 0;
    mesh->vertices = BO_NEW_ARRAY(ctx, bo_vec3, mesh->vertex_count);
    mesh->triangles = BO_NEW_ARRAY(ctx, int32_t, corners);
    if (!mesh->vertices || !mesh->triangles)
        return bo_fail_memory(ctx);
    mesh->lower = mesh->upper = bo_load3(vertices + 3 * (size_t)triangles[0]);
    for (int32_t i = 0; i < mesh->vertex_count; i++)
        mesh->vertices[i] = bo_load3(vertices + 3 * (size_t)i);
    for (size_t k = 0; k < corners; k++) {
        const bo_vec3 x = mesh->vertices[triangles[k]];
        mesh->triangles[k] = triangles[k];
        mesh->lower = bo_v3(fmin(mesh->lower.x, x.x), fmin(mesh->lower.y, x.y), fmin(mesh->lower.z, x.z));
        mesh->upper = bo_v3(fmax(mesh->upper.x, x.x), fmax(mesh->upper.y, x.y), fmax(mesh->upper.z, x.z));
    }
    for (size_t k = 0; k < corners; k += 3)
        volume += bo_dot(bo_sub(mesh->vertices[triangles[k]], mesh->lower),
                         bo_cross(bo_sub(mesh->vertices[triangles[k + 1]], mesh->lower),
                                  bo_sub(mesh->vertices[triangles[k + 2]], mesh->lower))) /
                  6;
    const bo_vec3 size = bo_sub(mesh->upper, mesh->lower);
    const double longest = fmax(size.x, fmax(size.y, size.z));
    if (!(longest >= SMALLEST) || !(fabs(volume) > FLAT * longest * longest * longest))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the surface encloses %g m^3 within %g m, too little to be felt",
                       fabs(volume), longest);
    for (size_t k = 0; k < corners && volume < 0; k += 3) {
        const int32_t second = mesh->triangles[k + 1];
        mesh->triangles[k + 1] = mesh->triangles[k + 2], mesh->triangles[k + 2] = second;
    }
    return BOUGH_OK;
}

/* Vertices that no triangle has are left out of the grid by giving them the place of one that has. */
static bough_status make_grid(bough_context *ctx, int32_t cells, bough_shape_mesh *mesh) {
    double *x = BO_NEW_ARRAY(ctx, double, 3 * (size_t)mesh->vertex_count);
    if (!x)
        return bo_fail_memory(ctx);
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        const bo_vec3 v = mesh->vertices[i];
        bo_store3(x + 3 * (size_t)i,
                  bo_v3(fmin(fmax(v.x, mesh->lower.x), mesh->upper.x), fmin(fmax(v.y, mesh->lower.y), mesh->upper.y),
                        fmin(fmax(v.z, mesh->lower.z), mesh->upper.z)));
    }
    const bough_status status =
        bo_distance_grid_around(ctx, mesh->vertex_count, x, mesh->triangle_count, mesh->triangles,
                                cells > 0 ? cells : CELLS, &mesh->grid, &mesh->nodes);
    bo_free(ctx, x);
    return status;
}

static bough_status make(bough_context *ctx, const double *vertices, const int32_t *triangles, int32_t cells,
                         side *sides, bough_shape_mesh *mesh) {
    BO_TRY(take_surface(ctx, vertices, triangles, mesh));
    list_sides(mesh, sides);
    BO_TRY(check_closed(ctx, mesh, sides));
    BO_TRY(make_grid(ctx, cells, mesh));
    BO_TRY(find_points(ctx, sides, mesh));
    return make_balls(ctx, mesh);
}

bough_status bough_shape_mesh_create(bough_context *ctx, int32_t vertex_count, const double *vertices,
                                     int32_t triangle_count, const int32_t *triangles, int32_t cells,
                                     bough_shape_mesh **mesh) {
    *mesh = NULL;
    BO_TRY(check_numbers(ctx, vertex_count, vertices, triangle_count, triangles, cells));
    bough_shape_mesh *made = BO_NEW(ctx, bough_shape_mesh);
    side *sides = BO_NEW_ARRAY(ctx, side, 3 * (size_t)triangle_count);
    if (made)
        made->vertex_count = vertex_count, made->triangle_count = triangle_count;
    const bough_status status =
        made && sides ? make(ctx, vertices, triangles, cells, sides, made) : bo_fail_memory(ctx);
    bo_free(ctx, sides);
    if (status != BOUGH_OK) {
        bough_shape_mesh_destroy(ctx, made);
        return status;
    }
    *mesh = made;
    return BOUGH_OK;
}

void bough_shape_mesh_destroy(bough_context *ctx, bough_shape_mesh *mesh) {
    if (!mesh)
        return;
    bo_distance_grid_free(ctx, &mesh->grid);
    bo_free(ctx, mesh->nodes);
    bo_free(ctx, mesh->vertices);
    bo_free(ctx, mesh->triangles);
    bo_free(ctx, mesh->points);
    bo_free(ctx, mesh->balls);
    bo_free(ctx, mesh);
}

/* ---- of other shapes ---- */

/* Below each place of the rim of a field there is one of the floor; they are numbered around it. */
static int32_t rim_node(const bough_shape *field, int32_t i) {
    const int32_t c = field->columns - 1, r = field->rows - 1;
    const int32_t column = i < c           ? i
                           : i < c + r     ? c
                           : i < 2 * c + r ? 2 * c + r - i
                                           : 0,
                  row = i < c           ? 0
                        : i < c + r     ? i - c
                        : i < 2 * c + r ? r
                                        : 2 * (c + r) - i;
    return row * field->columns + column;
}

/* Adds walls and a floor to the triangles of a height field. */
static bough_status close_block(bough_context *ctx, const bough_shape *field, bough_shape_surface *s) {
    const int32_t rim = 2 * (field->columns + field->rows - 2), first = s->vertex_count;
    const double sides[2] = {(field->columns - 1) * field->cell[0], (field->rows - 1) * field->cell[1]};
    const double floor = field->lowest - 0.1 * fmax(sides[0], sides[1]);
    const size_t vertices = 3 * (size_t)(first + rim + 1), corners = 3 * (size_t)(s->triangle_count + 3 * rim);
    bough_shape_surface made = {.vertices = BO_NEW_ARRAY(ctx, double, vertices),
                                .triangles = BO_NEW_ARRAY(ctx, int32_t, corners)};
    if (!made.vertices || !made.triangles) {
        bough_shape_surface_destroy(ctx, &made);
        return bo_fail_memory(ctx);
    }
    memcpy(made.vertices, s->vertices, 3 * (size_t)first * sizeof(double));
    memcpy(made.triangles, s->triangles, 3 * (size_t)s->triangle_count * sizeof(int32_t));
    made.vertex_count = first + rim + 1, made.triangle_count = s->triangle_count + 3 * rim;
    int32_t *t = made.triangles + 3 * (ptrdiff_t)s->triangle_count;
    const int32_t middle = first + rim;
    bo_store3(made.vertices + 3 * (ptrdiff_t)middle, bo_v3(0, 0, floor));
    for (int32_t i = 0; i < rim; i++, t += 9) {
        const int32_t a = rim_node(field, i), b = rim_node(field, (i + 1) % rim), c = first + i,
                      d = first + (i + 1) % rim;
        bo_vec3 x = bo_load3(made.vertices + 3 * (ptrdiff_t)a);
        x.z = floor;
        bo_store3(made.vertices + 3 * (ptrdiff_t)c, x);
        memcpy(t, (const int32_t[]){c, d, b, c, b, a, c, middle, d}, 9 * sizeof *t);
    }
    bough_shape_surface_destroy(ctx, s);
    *s = made;
    return BOUGH_OK;
}

static bough_status surface_of(bough_context *ctx, const bough_shape_def *def, bough_shape_surface *surface,
                               int32_t *cells) {
    bough_shape_def own = *def;
    bough_shape *shape;
    own.frame = bough_default_pose();
    BO_TRY(bough_shape_create(ctx, &own, &shape));
    bough_status status = bough_shape_surface_create(ctx, shape, surface);
    *cells = CELLS;
    if (status == BOUGH_OK && shape->kind == BOUGH_SHAPE_HEIGHT_FIELD) {
        const int32_t finest = shape->columns > shape->rows ? shape->columns - 1 : shape->rows - 1;
        *cells = finest < CELLS ? CELLS : finest > MOST_CELLS ? MOST_CELLS : finest;
        status = close_block(ctx, shape, surface);
    }
    bough_shape_destroy(ctx, shape);
    return status;
}

bough_status bo_shape_mesh_of(bough_context *ctx, const bough_shape_def *def, bough_shape_mesh **mesh) {
    bough_shape_surface surface = {0};
    int32_t cells = 0;
    *mesh = NULL;
    bough_status status = surface_of(ctx, def, &surface, &cells);
    if (status == BOUGH_OK)
        status = bough_shape_mesh_create(ctx, surface.vertex_count, surface.vertices, surface.triangle_count,
                                         surface.triangles, cells, mesh);
    bough_shape_surface_destroy(ctx, &surface);
    return status;
}
