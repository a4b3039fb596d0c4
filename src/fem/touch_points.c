#include "fem/touch_points.h"

#include "contact/near.h"

#define MOST_POINTS 1e7 /* a slip in the spacing beyond */

typedef struct {
    bough_context *ctx;
    const bough_mesh *surface;
    const int32_t *map; /* vertices of the surface in the mesh */
    double spacing;
    bo_skin skin; /* for its edges */
    bo_touch_points *to;
    int32_t *first; /* edge_count + 1: points of each edge */
    double *areas;  /* alongside the points */
} finding;

static bo_vec3 at(const finding *f, int32_t vertex) {
    return bo_load3(f->surface->vertices + 3 * (size_t)vertex);
}

static double length_of(const finding *f, int32_t a, int32_t b) {
    return bo_norm(bo_sub(at(f, b), at(f, a)));
}

static int32_t intervals(const finding *f, double length) {
    const double n = f->spacing > 0 ? ceil(length / f->spacing * (1 - 1e-9)) : 1;
    return n < 1 ? 1 : n < MOST_POINTS ? (int32_t)n : (int32_t)MOST_POINTS;
}

static int32_t intervals_of_face(const finding *f, const int32_t t[3]) {
    return intervals(f, fmax(length_of(f, t[0], t[1]), fmax(length_of(f, t[1], t[2]), length_of(f, t[2], t[0]))));
}

/* ---- how many ---- */

static bough_status count_points(finding *f, double *count) {
    const bo_skin *skin = &f->skin;
    *count = f->surface->vertex_count;
    if (!(f->first = BO_NEW_ARRAY(f->ctx, int32_t, (size_t)skin->edge_count + 1)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t e = 0; e < skin->edge_count && *count < MOST_POINTS; e++) {
        f->first[e] = (int32_t)*count;
        *count += intervals(f, length_of(f, skin->edges[2 * e], skin->edges[2 * e + 1])) - 1;
    }
    if (*count < MOST_POINTS)
        f->first[skin->edge_count] = (int32_t)*count;
    for (int32_t t = 0; t < skin->triangle_count && *count < MOST_POINTS; t++) {
        const double n = intervals_of_face(f, skin->triangles + 3 * (size_t)t);
        *count += 0.5 * (n - 1) * (n - 2);
    }
    return *count < MOST_POINTS
               ? BOUGH_OK
               : bo_fail(f->ctx, BOUGH_ERROR_ARGUMENT,
                         "a spacing of %g m asks for more than %g points of contact; take a larger one", f->spacing,
                         MOST_POINTS);
}

/* ---- where ---- */

/* The heaviest vertex first. */
static bo_touch_point mean_of(const finding *f, int count, const int32_t *vertices, const double *weights) {
    bo_touch_point point = {.count = count};
    for (int k = 0; k < count; k++) {
        int i = k;
        for (; i > 0 && weights[k] > point.weights[i - 1]; i--)
            point.vertices[i] = point.vertices[i - 1], point.weights[i] = point.weights[i - 1];
        point.vertices[i] = f->map[vertices[k]], point.weights[i] = weights[k];
    }
    return point;
}

static void add(finding *f, int count, const int32_t *vertices, const double *weights) {
    f->to->points[f->to->count++] = mean_of(f, count, vertices, weights);
}

static void add_between(finding *f) {
    const bo_skin *skin = &f->skin;
    for (int32_t e = 0; e < skin->edge_count; e++) {
        const int32_t n = f->first[e + 1] - f->first[e] + 1;
        for (int32_t i = 1; i < n; i++)
            add(f, 2, skin->edges + 2 * (size_t)e, (const double[]){1 - (double)i / n, (double)i / n});
    }
    for (int32_t t = 0; t < skin->triangle_count; t++) {
        const int32_t *corners = skin->triangles + 3 * (size_t)t, n = intervals_of_face(f, corners);
        for (int32_t i = 1; i < n; i++)
            for (int32_t k = 1; i + k < n; k++)
                add(f, 3, corners, (const double[]){(double)i / n, (double)k / n, (double)(n - i - k) / n});
    }
}

/* ---- shares ---- */

static int32_t edge_between(const bo_skin *skin, int32_t a, int32_t b) {
    const int32_t lower = a < b ? a : b, upper = a + b - lower;
    int32_t low = 0, high = skin->edge_count - 1;
    while (low < high) {
        const int32_t middle = (low + high) / 2, *e = skin->edges + 2 * (size_t)middle;
        if (e[0] < lower || (e[0] == lower && e[1] < upper))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* On an even grid a point within a face has six of its triangles around it, one on an edge three, and a corner one. */
static void share_face(finding *f, int32_t t, int32_t *inner) {
    const int32_t *v = f->skin.triangles + 3 * (size_t)t, n = intervals_of_face(f, v), within = (n - 1) * (n - 2) / 2;
    const double area = 0.5 * bo_norm(bo_cross(bo_sub(at(f, v[1]), at(f, v[0])), bo_sub(at(f, v[2]), at(f, v[0]))));
    int32_t edges[3];
    double parts = 3 + 6. * within;
    for (int k = 0; k < 3; k++) {
        edges[k] = edge_between(&f->skin, v[k], v[(k + 1) % 3]);
        parts += 3 * (f->first[edges[k] + 1] - f->first[edges[k]]);
    }
    for (int k = 0; k < 3; k++) {
        f->areas[v[k]] += area / parts;
        for (int32_t i = f->first[edges[k]]; i < f->first[edges[k] + 1]; i++)
            f->areas[i] += area * 3 / parts;
    }
    for (int32_t i = 0; i < within; i++)
        f->areas[(*inner)++] += area * 6 / parts;
}

static bough_status find(finding *f) {
    double count, total = 0;
    BO_TRY(bo_skin_make(f->ctx, f->surface->vertex_count, f->surface->element_count, f->surface->elements, NULL,
                        &f->skin));
    BO_TRY(count_points(f, &count));
    f->to->points = BO_NEW_ARRAY(f->ctx, bo_touch_point, (size_t)count);
    f->to->shares = f->areas = BO_NEW_ZEROS(f->ctx, double, (size_t)count);
    if (!f->to->points || !f->areas)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < f->surface->vertex_count; v++)
        add(f, 1, &v, (const double[]){1});
    f->to->vertex_count = f->to->count;
    add_between(f);
    int32_t inner = f->first[f->skin.edge_count];
    for (int32_t t = 0; t < f->skin.triangle_count; t++)
        share_face(f, t, &inner);
    for (int32_t i = 0; i < f->to->count; i++)
        total += f->areas[i];
    for (int32_t i = 0; i < f->to->count; i++)
        f->areas[i] *= f->to->vertex_count / total;
    return BOUGH_OK;
}

bough_status bo_touch_points_find(bough_context *ctx, const bough_mesh *mesh, double spacing, bo_touch_points *points) {
    bough_mesh *surface = NULL;
    int32_t *map = NULL;
    *points = (bo_touch_points){0};
    BO_TRY(bough_mesh_surface(ctx, mesh, &surface, &map, NULL));
    finding f = {.ctx = ctx, .surface = surface, .map = map, .spacing = spacing, .to = points};
    const bough_status status = find(&f);
    bo_skin_free(ctx, &f.skin);
    bo_free(ctx, f.first);
    bough_mesh_destroy(ctx, surface);
    bough_release(ctx, map);
    return status;
}

void bo_touch_points_free(bough_context *ctx, bo_touch_points *points) {
    bo_free(ctx, points->points);
    bo_free(ctx, points->shares);
    *points = (bo_touch_points){0};
}
