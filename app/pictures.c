#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void app_view_destroy(bough_context *ctx, app_view *view) {
    bough_mesh_destroy(ctx, view->boundary);
    bough_release(ctx, view->vertex_map);
    free(view->edge_mask);
    free(view->deformed);
    free(view->scalars);
    *view = (app_view){0};
}

/* Edges that are edges of elements: all of a tet4's, not the diagonals of quads, the outer ones of a tet10's four
 * triangles. An inner edge of a face is shared by two triangles of that face. */
static bool edge_is_inner(const app_view *view, const int32_t *face_map, int32_t triangle, int edge) {
    const int32_t *t = view->surface->elements + 3 * triangle;
    int32_t a = t[edge], b = t[(edge + 1) % 3];
    for (int32_t other = triangle - 3; other <= triangle + 3; other++) {
        if (other == triangle || other < 0 || other >= view->surface->element_count ||
            face_map[other] != face_map[triangle])
            continue;
        const int32_t *o = view->surface->elements + 3 * other;
        int shared = 0;
        for (int k = 0; k < 3; k++)
            shared += o[k] == a || o[k] == b;
        if (shared == 2)
            return true;
    }
    return false;
}

bough_status app_view_create(bough_context *ctx, const bough_mesh *mesh, app_view *view) {
    *view = (app_view){.surface = mesh};
    int32_t *face_map = NULL;
    if (mesh->type != BOUGH_TRI3) {
        bough_status status = bough_mesh_surface(ctx, mesh, &view->boundary, &view->vertex_map, &face_map);
        if (status)
            return status;
        view->surface = view->boundary;
    }
    size_t n = (size_t)view->surface->vertex_count;
    view->edge_mask = calloc((size_t)view->surface->element_count + 1, 1);
    view->deformed = calloc(3 * n + 1, sizeof *view->deformed);
    view->scalars = calloc(n + 1, sizeof *view->scalars);
    if (!view->edge_mask || !view->deformed || !view->scalars) {
        bough_release(ctx, face_map);
        app_view_destroy(ctx, view);
        return BOUGH_ERROR_MEMORY;
    }
    for (int32_t t = 0; t < view->surface->element_count; t++)
        for (int e = 0; e < 3; e++)
            if (!face_map || !edge_is_inner(view, face_map, t, e))
                view->edge_mask[t] = (uint8_t)(view->edge_mask[t] | 1u << e);
    bough_release(ctx, face_map);
    return BOUGH_OK;
}

static const double *displacement(const app_view *view, const double *u, int32_t v) {
    return u ? u + 3 * (size_t)(view->vertex_map ? view->vertex_map[v] : v) : NULL;
}

static void deform(app_view *view, const double *u, double scale) {
    for (int32_t v = 0; v < view->surface->vertex_count; v++) {
        const double *x = view->surface->vertices + 3 * v;
        const double *d = displacement(view, u, v);
        for (int i = 0; i < 3; i++)
            view->deformed[3 * v + i] = x[i] + (d ? scale * d[i] : 0);
        view->scalars[v] = d ? sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) : 0;
    }
}

void app_view_bounds(const app_view *view, const double *u, double scale, double lower[3], double upper[3]) {
    /* by way of the triangles: a surface may have vertices that none of them uses */
    for (int32_t k = 0; k < 3 * view->surface->element_count; k++) {
        int32_t v = view->surface->elements[k];
        const double *d = displacement(view, u, v);
        for (int i = 0; i < 3; i++) {
            double x = view->surface->vertices[3 * v + i] + (d ? scale * d[i] : 0);
            lower[i] = fmin(lower[i], x);
            upper[i] = fmax(upper[i], x);
        }
    }
}

bough_status app_view_draw(bough_context *ctx, app_view *view, bough_picture *picture, const double *u, double scale,
                           double largest, bool edges) {
    deform(view, u, scale);
    bough_surface_style style = bough_default_surface_style();
    style.edges = edges;
    style.edge_mask = view->edge_mask;
    if (largest > 0) {
        style.scalars = view->scalars;
        style.scalar_max = largest;
    }
    return bough_picture_add_surface(ctx, picture, view->deformed, view->surface->vertex_count, view->surface->elements,
                                     view->surface->element_count, &style);
}

bough_status app_view_draw_values(bough_context *ctx, app_view *view, bough_picture *picture, const double *u,
                                  const double *values, double largest, bool edges) {
    deform(view, u, 1);
    bough_surface_style style = bough_default_surface_style();
    style.edges = edges, style.edge_mask = view->edge_mask;
    for (int32_t v = 0; v < view->surface->vertex_count && values; v++)
        view->scalars[v] = values[view->vertex_map ? view->vertex_map[v] : v];
    if (values)
        style.scalars = view->scalars, style.scalar_max = largest > 0 ? largest : 1;
    return bough_picture_add_surface(ctx, picture, view->deformed, view->surface->vertex_count, view->surface->elements,
                                     view->surface->element_count, &style);
}

static bough_status draw(bough_context *ctx, app_view *view, bough_picture *picture, const double *u, double scale,
                         const char *title, const char *quantity, const bough_picture_def *def, const char *path) {
    double largest = 0;
    deform(view, u, scale);
    for (int32_t v = 0; v < view->surface->vertex_count; v++)
        largest = fmax(largest, view->scalars[v]);
    const float dark[3] = {0.15f, 0.17f, 0.2f};
    double size = 15 * fmin(1, (def->width - 48) / bough_label_width(15, title)); /* a long name is made to fit */
    bough_status status = app_view_draw(ctx, view, picture, u, scale, largest, view->surface->element_count < 20000);
    if (!status)
        status = bough_picture_add_label(ctx, picture, 24, 24, size, dark, title);
    if (!status && largest > 0)
        status = bough_picture_add_colour_bar(ctx, picture, 24, def->height - 240, 16, 190, BOUGH_COLOUR_SEQUENTIAL, 0,
                                              largest, quantity);
    if (!status)
        status = bough_picture_render(ctx, picture);
    return status ? status : bough_picture_write_png(ctx, picture, path);
}

bough_status app_picture(bough_context *ctx, const bough_mesh *mesh, const double *u, double scale, const char *title,
                         const char *quantity, const char *path) {
    app_view view;
    bough_status status = app_view_create(ctx, mesh, &view);
    if (status)
        return status;
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    app_view_bounds(&view, u, scale, lower, upper);
    bough_picture_def def = bough_default_picture_def();
    bough_picture_frame(&def, lower, upper);
    bough_picture *picture;
    status = bough_picture_create(ctx, &def, &picture);
    if (!status) {
        status = draw(ctx, &view, picture, u, scale, title, quantity, &def, path);
        bough_picture_destroy(ctx, picture);
    }
    app_view_destroy(ctx, &view);
    return status;
}
