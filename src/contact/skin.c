/* Skins: the edges and points of a surface of triangles. */
#include "contact/near.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b) {
    const uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

/* Piece numbers of points and edges together must fit into 31 bits: there are at most 3 of each for a triangle. */
static const int32_t MOST_TRIANGLES = INT32_MAX / 6;

static bough_status check_triangles(bough_context *ctx, int32_t vertex_count, int32_t triangle_count,
                                    const int32_t *triangles) {
    if (vertex_count < 0 || triangle_count < 0 || triangle_count > MOST_TRIANGLES)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a skin of %d vertices and %d triangles cannot be made", vertex_count,
                       triangle_count);
    for (int32_t t = 0; t < triangle_count; t++) {
        const int32_t *v = triangles + 3 * (size_t)t;
        for (int i = 0; i < 3; i++) {
            if (v[i] < 0 || v[i] >= vertex_count)
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "triangle %d has vertex %d, but there are %d vertices", t,
                               v[i], vertex_count);
            if (v[i] == v[(i + 1) % 3])
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "triangle %d has vertex %d twice", t, v[i]);
        }
    }
    return BOUGH_OK;
}

/* Sorted, every edge of two triangles stands beside itself. keys: 3 for each triangle. */
static bough_status find_edges(bough_context *ctx, uint64_t *keys, bo_skin *skin) {
    const size_t count = 3 * (size_t)skin->triangle_count;
    for (size_t i = 0; i < count; i++) {
        const int32_t a = skin->triangles[i], b = skin->triangles[i % 3 == 2 ? i - 2 : i + 1];
        keys[i] = (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
    }
    qsort(keys, count, sizeof *keys, by_number);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1])
            keys[kept++] = keys[i];
    skin->edges = BO_NEW_ARRAY(ctx, int32_t, 2 * kept);
    if (!skin->edges)
        return BOUGH_ERROR_MEMORY;
    skin->edge_count = (int32_t)kept;
    for (size_t i = 0; i < kept; i++)
        skin->edges[2 * i] = (int32_t)(keys[i] >> 32), skin->edges[2 * i + 1] = (int32_t)(keys[i] & UINT32_MAX);
    return BOUGH_OK;
}

/* is_point: vertex_count zeros. */
static bough_status find_points(bough_context *ctx, unsigned char *is_point, bo_skin *skin) {
    for (size_t i = 0; i < 3 * (size_t)skin->triangle_count; i++)
        if (!is_point[skin->triangles[i]])
            is_point[skin->triangles[i]] = 1, skin->point_count++;
    skin->points = BO_NEW_ARRAY(ctx, int32_t, skin->point_count);
    if (!skin->points)
        return BOUGH_ERROR_MEMORY;
    int32_t count = 0;
    for (int32_t v = 0; v < skin->vertex_count; v++)
        if (is_point[v])
            skin->points[count++] = v;
    return BOUGH_OK;
}

bough_status bo_skin_make(bough_context *ctx, int32_t vertex_count, int32_t triangle_count, const int32_t *triangles,
                          const int32_t *body, bo_skin *skin) {
    memset(skin, 0, sizeof *skin);
    BO_TRY(check_triangles(ctx, vertex_count, triangle_count, triangles));
    skin->vertex_count = vertex_count, skin->triangle_count = triangle_count;
    const size_t corners = 3 * (size_t)triangle_count;
    skin->triangles = BO_NEW_ARRAY(ctx, int32_t, corners);
    skin->body = BO_NEW_ZEROS(ctx, int32_t, vertex_count);
    uint64_t *keys = BO_NEW_ARRAY(ctx, uint64_t, corners);
    unsigned char *is_point = BO_NEW_ZEROS(ctx, unsigned char, vertex_count);
    bough_status status = BOUGH_ERROR_MEMORY;
    if (skin->triangles && skin->body && keys && is_point) {
        if (corners)
            memcpy(skin->triangles, triangles, corners * sizeof *triangles);
        if (body && vertex_count)
            memcpy(skin->body, body, (size_t)vertex_count * sizeof *body);
        status = find_edges(ctx, keys, skin);
        if (status == BOUGH_OK)
            status = find_points(ctx, is_point, skin);
    }
    bo_free(ctx, keys);
    bo_free(ctx, is_point);
    return status;
}

void bo_skin_free(bough_context *ctx, bo_skin *skin) {
    bo_free(ctx, skin->points);
    bo_free(ctx, skin->edges);
    bo_free(ctx, skin->triangles);
    bo_free(ctx, skin->body);
    memset(skin, 0, sizeof *skin);
}
