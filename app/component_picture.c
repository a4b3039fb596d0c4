#include "app.h"

#include <math.h>
#include <stdlib.h>

/* The surface of a component as a mesh. */
static bough_status surface_mesh(bough_context *ctx, const bough_surface *surface, bough_mesh **mesh) {
    size_t count = 3 * (size_t)surface->vertex_count;
    double *vertices = calloc(count + 1, sizeof *vertices);
    for (size_t i = 0; i < count && vertices; i++)
        vertices[i] = (double)surface->position[i];
    bough_status status = vertices ? bough_mesh_create(ctx, BOUGH_TRI3, surface->vertex_count, vertices,
                                                       surface->triangle_count, surface->triangles, mesh)
                                   : BOUGH_ERROR_MEMORY;
    free(vertices);
    return status;
}

/* Displacement of the surface by one coordinate, its largest being 1; the size of the surface's box. */
static bool unit_shape(const bough_component *c, int32_t coordinate, double *u, double *size) {
    size_t count = 3 * (size_t)c->surface.vertex_count;
    float *moved = calloc(count + 1, sizeof *moved);
    double *q = calloc((size_t)c->r + 1, sizeof *q), largest = 0, square = 0;
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    bool good = moved && q;
    if (good) {
        if (c->r > 0)
            q[coordinate] = 1;
        bough_component_surface_positions(c, q, moved);
        for (size_t i = 0; i < count; i++) {
            u[i] = (double)(moved[i] - c->surface.position[i]);
            lower[i % 3] = fmin(lower[i % 3], (double)c->surface.position[i]);
            upper[i % 3] = fmax(upper[i % 3], (double)c->surface.position[i]);
        }
        for (size_t i = 0; i < count; i += 3)
            largest = fmax(largest, hypot(hypot(u[i], u[i + 1]), u[i + 2]));
        for (size_t i = 0; i < count && largest > 0; i++)
            u[i] /= largest;
        for (int d = 0; d < 3; d++)
            square += (upper[d] - lower[d]) * (upper[d] - lower[d]);
        *size = sqrt(square);
    }
    free(moved);
    free(q);
    return good;
}

int app_component_picture(bough_context *ctx, const bough_component *c, int32_t coordinate, const char *path) {
    if (coordinate < 0 || coordinate >= (c->r > 0 ? c->r : 1))
        return app_fail_with("--shape %d: the component has %d coordinates", coordinate + 1, c->r);
    if (c->surface.triangle_count == 0)
        return app_fail_with("the component has no surface to draw");
    bough_mesh *mesh;
    if (surface_mesh(ctx, &c->surface, &mesh))
        return app_fail(ctx);
    double *u = calloc(3 * (size_t)mesh->vertex_count + 1, sizeof *u), size = 0;
    char title[96];
    if (c->r > 0)
        snprintf(title, sizeof title, "coordinate %d of %d: %.4g Hz on its own", coordinate + 1, c->r,
                 sqrt(c->K[(size_t)coordinate * (size_t)(c->r + 1)]) / (2 * M_PI));
    else
        snprintf(title, sizeof title, "a rigid component");
    int status = u && unit_shape(c, coordinate, u, &size) ? APP_OK : app_fail_with("out of memory");
    if (status == APP_OK && app_picture(ctx, mesh, u, 0.1 * size, title, "|u| / largest", path))
        status = app_fail(ctx);
    free(u);
    bough_mesh_destroy(ctx, mesh);
    return status;
}
