/* The surface to draw with its rows of the basis, and the volume mesh when it is wanted. */
#include "reduce/cook.h"

#include "base/morton.h"
#include "mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

enum { PANEL = 16, LARGEST_INT16 = 32767 };

/* Either the boundary of the volume (vertex_map) or a surface bound to it (embedding). */
typedef struct {
    const bough_mesh *mesh;
    const int32_t *vertex_map; /* the cook's */
    bough_embedding *embedding;
    int32_t *vertex_order, *vertex_place; /* order[new] = old, place[old] = new */
    int32_t *triangle_order;
} drawn;

static void discard(bough_context *ctx, drawn *d) {
    bough_embedding_destroy(ctx, d->embedding);
    bo_free(ctx, d->vertex_order);
    bo_free(ctx, d->vertex_place);
    bo_free(ctx, d->triangle_order);
}

static bough_status bind_surface(bo_cook *cook, drawn *d) {
    bough_bind_report report;
    d->mesh = cook->def->surface;
    BO_TRY(bough_mesh_bind(cook->ctx, cook->body->mesh, d->mesh, &d->embedding, &report));
    if (report.torn_triangle_count > 0)
        bo_warn(cook->ctx, "%d triangles of the surface bridge a gap in the volume mesh and may be drawn torn",
                report.torn_triangle_count);
    return BOUGH_OK;
}

static bough_status find_surface(bo_cook *cook, drawn *d) {
    if (cook->def->surface)
        return bind_surface(cook, d);
    BO_TRY(bo_cook_boundary(cook));
    d->mesh = cook->boundary;
    d->vertex_map = cook->boundary_vertices;
    return BOUGH_OK;
}

/* ---- order ---- */

static void vertex_point(const void *data, int32_t v, double x[3]) {
    const bough_mesh *mesh = data;
    memcpy(x, mesh->vertices + 3 * (size_t)v, 3 * sizeof *x);
}

static void triangle_point(const void *data, int32_t triangle, double x[3]) {
    const bough_mesh *mesh = data;
    const int32_t *c = mesh->elements + 3 * (size_t)triangle;
    for (size_t d = 0; d < 3; d++)
        x[d] = (mesh->vertices[3 * (size_t)c[0] + d] + mesh->vertices[3 * (size_t)c[1] + d] +
                mesh->vertices[3 * (size_t)c[2] + d]) /
               3;
}

static bough_status choose_order(bough_context *ctx, drawn *d) {
    const int32_t vertex_count = d->mesh->vertex_count, triangle_count = d->mesh->element_count;
    d->vertex_order = BO_NEW_ARRAY(ctx, int32_t, vertex_count);
    d->vertex_place = BO_NEW_ARRAY(ctx, int32_t, vertex_count);
    d->triangle_order = BO_NEW_ARRAY(ctx, int32_t, triangle_count);
    if (!d->vertex_order || !d->vertex_place || !d->triangle_order)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_morton_order(ctx, vertex_count, vertex_point, d->mesh, d->vertex_order));
    BO_TRY(bo_morton_order(ctx, triangle_count, triangle_point, d->mesh, d->triangle_order));
    for (int32_t i = 0; i < vertex_count; i++)
        d->vertex_place[d->vertex_order[i]] = i;
    return BOUGH_OK;
}

/* ---- content ---- */

static bough_status fill_geometry(bo_cook *cook, const drawn *d) {
    bough_surface *surface = &cook->draft.surface;
    const size_t vertex_count = (size_t)d->mesh->vertex_count, triangle_count = (size_t)d->mesh->element_count;
    float *position = BO_COOK_ARRAY(cook, float, 3 * vertex_count);
    int32_t *triangles = BO_COOK_ARRAY(cook, int32_t, 3 * triangle_count);
    int32_t *mesh_vertex = BO_COOK_ARRAY(cook, int32_t, vertex_count);
    if (!position || !triangles || !mesh_vertex)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < vertex_count; i++) {
        const size_t old = (size_t)d->vertex_order[i];
        mesh_vertex[i] = d->vertex_map ? d->vertex_map[old] : -1;
        for (size_t k = 0; k < 3; k++)
            position[3 * i + k] = (float)(d->mesh->vertices[3 * old + k] - cook->draft.origin[k]);
    }
    for (size_t t = 0; t < triangle_count; t++)
        for (size_t c = 0; c < 3; c++)
            triangles[3 * t + c] = d->vertex_place[d->mesh->elements[3 * (size_t)d->triangle_order[t] + c]];
    surface->vertex_count = d->mesh->vertex_count, surface->triangle_count = d->mesh->element_count;
    surface->position = position, surface->triangles = triangles, surface->mesh_vertex = mesh_vertex;
    return BOUGH_OK;
}

/* The three rows of U of a surface vertex. */
static void basis_rows(const bo_cook *cook, const drawn *d, int32_t old, double *rows) {
    const size_t width = 3 * (size_t)cook->r;
    if (d->vertex_map) {
        memcpy(rows, cook->U + width * (size_t)d->vertex_map[old], width * sizeof *rows);
        return;
    }
    const size_t node_count = (size_t)bough_element_node_count(cook->body->mesh->type);
    const int32_t *nodes = bo_mesh_nodes(cook->body->mesh, d->embedding->elements[old]);
    memset(rows, 0, width * sizeof *rows);
    for (size_t a = 0; a < node_count; a++) {
        const double weight = d->embedding->weights[BOUGH_MAX_ELEMENT_NODES * (size_t)old + a];
        const double *from = cook->U + width * (size_t)nodes[a];
        for (size_t i = 0; i < width; i++)
            rows[i] += weight * from[i];
    }
}

/* Place in the panels of scalar i, coordinate l. */
static size_t panel_index(size_t r, size_t i, size_t l) {
    return (i / PANEL * r + l) * PANEL + i % PANEL;
}

static size_t panel_entries(const bo_cook *cook, const drawn *d) {
    const size_t scalars = 3 * (size_t)d->mesh->vertex_count;
    return (scalars + PANEL - 1) / PANEL * PANEL * (size_t)cook->r;
}

static bough_status fill_float(bo_cook *cook, const drawn *d) {
    const size_t entries = panel_entries(cook, d), r = (size_t)cook->r;
    double rows[3 * BOUGH_MAX_COORDINATES];
    float *U = BO_COOK_ARRAY(cook, float, entries);
    if (!U)
        return BOUGH_ERROR_MEMORY;
    memset(U, 0, entries * sizeof *U);
    for (size_t v = 0; v < (size_t)d->mesh->vertex_count; v++) {
        basis_rows(cook, d, d->vertex_order[v], rows);
        for (size_t k = 0; k < 3; k++)
            for (size_t l = 0; l < r; l++)
                U[panel_index(r, 3 * v + k, l)] = (float)rows[k * r + l];
    }
    cook->draft.surface.U = U;
    return BOUGH_OK;
}

/* Steps of each coordinate: its largest displacement on the surface is the largest whole number. */
static void find_scales(const bo_cook *cook, const drawn *d, float *scale) {
    const size_t r = (size_t)cook->r;
    double rows[3 * BOUGH_MAX_COORDINATES], most[BOUGH_MAX_COORDINATES] = {0};
    for (int32_t v = 0; v < d->mesh->vertex_count; v++) {
        basis_rows(cook, d, v, rows);
        for (size_t i = 0; i < 3 * r; i++)
            most[i % r] = fmax(most[i % r], fabs(rows[i]));
    }
    for (size_t l = 0; l < r; l++)
        scale[l] = (float)(most[l] / LARGEST_INT16);
}

static int16_t rounded(double value, float scale) {
    double whole = scale > 0 ? rint(value / (double)scale) : 0;
    return (int16_t)fmax(-LARGEST_INT16, fmin(LARGEST_INT16, whole));
}

static bough_status fill_int16(bo_cook *cook, const drawn *d) {
    const size_t entries = panel_entries(cook, d), r = (size_t)cook->r;
    double rows[3 * BOUGH_MAX_COORDINATES];
    int16_t *U16 = BO_COOK_ARRAY(cook, int16_t, entries);
    float *scale = BO_COOK_ARRAY(cook, float, r);
    if (!U16 || !scale)
        return BOUGH_ERROR_MEMORY;
    find_scales(cook, d, scale);
    memset(U16, 0, entries * sizeof *U16);
    for (size_t v = 0; v < (size_t)d->mesh->vertex_count; v++) {
        basis_rows(cook, d, d->vertex_order[v], rows);
        for (size_t k = 0; k < 3; k++)
            for (size_t l = 0; l < r; l++)
                U16[panel_index(r, 3 * v + k, l)] = rounded(rows[k * r + l], scale[l]);
    }
    cook->draft.surface.U16 = U16;
    cook->draft.surface.scale = scale;
    return BOUGH_OK;
}

static bough_status fill_volume(bo_cook *cook) {
    const bough_mesh *mesh = cook->body->mesh;
    double *position = BO_COOK_ARRAY(cook, double, 3 * (size_t)mesh->vertex_count);
    if (!position)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        position[i] = mesh->vertices[i] - cook->draft.origin[i % 3];
    cook->draft.volume = (bough_component_volume){.type = (int32_t)mesh->type,
                                                  .vertex_count = mesh->vertex_count,
                                                  .element_count = mesh->element_count,
                                                  .position = position,
                                                  .elements = mesh->elements,
                                                  .U = cook->r > 0 ? cook->U : NULL};
    return BOUGH_OK;
}

bough_status bo_cook_surface(bo_cook *cook) {
    drawn d = {0};
    bough_status status = find_surface(cook, &d);
    if (status == BOUGH_OK)
        status = choose_order(cook->ctx, &d);
    if (status == BOUGH_OK)
        status = fill_geometry(cook, &d);
    if (status == BOUGH_OK && cook->r > 0)
        status = cook->def->surface_int16 ? fill_int16(cook, &d) : fill_float(cook, &d);
    discard(cook->ctx, &d);
    if (status == BOUGH_OK && cook->def->keep_volume)
        status = fill_volume(cook);
    return status;
}
