/* Cuts the triangles of a surface until no edge is longer than wanted, without moving anything. */
#include "base/idmap.h"
#include "base/vec.h"
#include "mesh/generate.h"

#include <string.h>

#define MOST_ROUNDS 40 /* each halves the longest edges */

/* Grows as triangles are cut. */
typedef struct {
    bough_context *ctx;
    double *vertices;
    int32_t *triangles, *cut; /* before and after a round */
    size_t vertex_count, vertex_capacity, count, capacity, cut_count, cut_capacity;
    bo_idmap middles; /* edge -> the vertex in its middle */
    double longest_square;
} refining;

/* The vertex in the middle of an edge that is too long, in *middle; -1: it is not. */
static bough_status cut_edge(refining *r, int32_t a, int32_t b, int32_t *middle) {
    *middle = -1;
    const bo_vec3 x = bo_load3(r->vertices + 3 * (size_t)a), y = bo_load3(r->vertices + 3 * (size_t)b),
                  d = bo_sub(y, x);
    if (!(bo_dot(d, d) > r->longest_square))
        return BOUGH_OK;
    if (r->vertex_count >= BO_MESH_LIMIT)
        return bo_fail(r->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "so short an edge would make more than %d vertices on the surface alone", BO_MESH_LIMIT);
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    int32_t found;
    BO_TRY(bo_idmap_add(r->ctx, &r->middles, (int64_t)low << 32 | high, (int32_t)r->vertex_count, &found));
    *middle = found >= 0 ? found : (int32_t)r->vertex_count;
    if (found >= 0)
        return BOUGH_OK;
    if (!BO_RESERVE(r->ctx, r->vertices, r->vertex_capacity, 3 * r->vertex_count + 3))
        return BOUGH_ERROR_MEMORY;
    bo_store3(r->vertices + 3 * r->vertex_count++, bo_scale(0.5, bo_add(x, y)));
    return BOUGH_OK;
}

static bough_status put(refining *r, int32_t a, int32_t b, int32_t c) {
    if (!BO_RESERVE(r->ctx, r->cut, r->cut_capacity, 3 * r->cut_count + 3))
        return BOUGH_ERROR_MEMORY;
    int32_t *to = r->cut + 3 * r->cut_count++;
    to[0] = a, to[1] = b, to[2] = c;
    return BOUGH_OK;
}

/* Cuts a triangle into one, two, three or four, by which of its edges have a vertex in the middle; corners keep their
 * sense of rotation. m[i] lies between corners i and i + 1. */
static bough_status cut_triangle(refining *r, const int32_t corners[3]) {
    int32_t n[3] = {corners[0], corners[1], corners[2]}, m[3], marked = 0;
    for (int i = 0; i < 3; i++) {
        BO_TRY(cut_edge(r, n[i], n[(i + 1) % 3], &m[i]));
        marked += m[i] >= 0;
    }
    for (int turn = 0; turn < 2 && marked > 0 && marked < 3; turn++) /* the first edge is cut, the last is not */
        if (!(m[0] >= 0 && m[2] < 0)) {
            const int32_t corner = n[0], middle = m[0];
            n[0] = n[1], n[1] = n[2], n[2] = corner;
            m[0] = m[1], m[1] = m[2], m[2] = middle;
        }
    if (marked == 0)
        return put(r, n[0], n[1], n[2]);
    if (marked == 1) {
        BO_TRY(put(r, n[0], m[0], n[2]));
        return put(r, m[0], n[1], n[2]);
    }
    BO_TRY(put(r, m[0], n[1], m[1]));
    if (marked == 2) {
        BO_TRY(put(r, n[0], m[0], m[1]));
        return put(r, n[0], m[1], n[2]);
    }
    BO_TRY(put(r, n[0], m[0], m[2]));
    BO_TRY(put(r, m[0], m[1], m[2]));
    return put(r, m[2], m[1], n[2]);
}

/* All triangles once. */
static bough_status cut_all(refining *r) {
    r->cut_count = 0;
    for (size_t t = 0; t < r->count; t++) {
        BO_TRY(cut_triangle(r, r->triangles + 3 * t));
        BO_TRY(bo_mesh_go_on(r->ctx, "refining the surface", t, r->count));
    }
    int32_t *triangles = r->triangles;
    const size_t capacity = r->capacity;
    r->triangles = r->cut, r->capacity = r->cut_capacity, r->count = r->cut_count;
    r->cut = triangles, r->cut_capacity = capacity;
    bo_idmap_free(r->ctx, &r->middles);
    r->middles = (bo_idmap){0};
    return BOUGH_OK;
}

static bough_status refine(refining *r, const bough_mesh *surface) {
    if (!BO_RESERVE(r->ctx, r->vertices, r->vertex_capacity, 3 * (size_t)surface->vertex_count) ||
        !BO_RESERVE(r->ctx, r->triangles, r->capacity, 3 * (size_t)surface->element_count))
        return BOUGH_ERROR_MEMORY;
    r->vertex_count = (size_t)surface->vertex_count, r->count = (size_t)surface->element_count;
    memcpy(r->vertices, surface->vertices, 3 * r->vertex_count * sizeof *r->vertices);
    memcpy(r->triangles, surface->elements, 3 * r->count * sizeof *r->triangles);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const size_t before = r->count;
        BO_TRY(cut_all(r));
        if (r->count == before)
            return BOUGH_OK;
    }
    return bo_fail(r->ctx, BOUGH_ERROR_UNSUPPORTED, "the longest edge is too short for a surface of this size");
}

bough_status bo_surface_refine(bough_context *ctx, const bough_mesh *surface, double max_edge, bough_mesh **refined) {
    *refined = NULL;
    refining r = {.ctx = ctx, .longest_square = max_edge * max_edge};
    bough_status status = refine(&r, surface);
    if (status == BOUGH_OK)
        status = bo_mesh_alloc(ctx, BOUGH_TRI3, (double)r.vertex_count, (double)r.count, refined);
    if (status == BOUGH_OK) {
        memcpy((*refined)->vertices, r.vertices, 3 * r.vertex_count * sizeof *r.vertices);
        memcpy((*refined)->elements, r.triangles, 3 * r.count * sizeof *r.triangles);
    }
    bo_idmap_free(ctx, &r.middles);
    bo_free(ctx, r.vertices);
    bo_free(ctx, r.triangles);
    bo_free(ctx, r.cut);
    return status;
}
