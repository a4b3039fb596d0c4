/* Closed surfaces to fill. */
#ifndef BOUGH_TEST_CLOSED_SURFACES_H
#define BOUGH_TEST_CLOSED_SURFACES_H

#include "test.h"

#include <bough/mesh.h>

/* A cube from x, x, x on. */
static inline bough_mesh *box_surface(bough_context *ctx, double x, double size, int32_t cells) {
    bough_box_def def = bough_default_box_def();
    for (int d = 0; d < 3; d++)
        def.origin[d] = x, def.size[d] = size, def.cells[d] = cells;
    bough_mesh *box, *surface;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &box));
    check_ok(ctx, bough_mesh_surface(ctx, box, &surface, NULL, NULL));
    bough_mesh_destroy(ctx, box);
    return surface;
}

/* Both shells in one mesh; frees them. */
static inline bough_mesh *join(bough_context *ctx, bough_mesh *a, bough_mesh *b, bool flip_b) {
    int32_t vertices = a->vertex_count + b->vertex_count, triangles = a->element_count + b->element_count;
    double *x = malloc(sizeof(double) * 3 * (size_t)vertices);
    int32_t *t = malloc(sizeof(int32_t) * 3 * (size_t)triangles);
    memcpy(x, a->vertices, sizeof(double) * 3 * (size_t)a->vertex_count);
    memcpy(x + 3 * a->vertex_count, b->vertices, sizeof(double) * 3 * (size_t)b->vertex_count);
    memcpy(t, a->elements, sizeof(int32_t) * 3 * (size_t)a->element_count);
    for (int32_t i = 0; i < 3 * b->element_count; i++) {
        int32_t from = flip_b ? i / 3 * 3 + 2 - i % 3 : i;
        t[3 * a->element_count + i] = b->elements[from] + a->vertex_count;
    }
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TRI3, vertices, x, triangles, t, &mesh));
    free(x);
    free(t);
    bough_mesh_destroy(ctx, a);
    bough_mesh_destroy(ctx, b);
    return mesh;
}

#endif
