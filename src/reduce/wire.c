/* The edges of the volume mesh with their rows of the basis, for those who want to see the mesh that was cooked. */
#include "reduce/cook.h"

#include "mesh/mesh.h"

#include <string.h>

/* Besides those of the surface: of more nothing can be seen but a blot, and U would take most of the file. */
enum { MOST_VERTICES = 20000 };

/* number[mesh vertex]: of the surface, or behind it; returns how many there are behind it. */
static int32_t number_vertices(const bo_cook *cook, int32_t *number) {
    const bough_surface *surface = &cook->draft.surface;
    const int32_t vertex_count = cook->body->mesh->vertex_count;
    int32_t behind = 0;
    for (int32_t v = 0; v < vertex_count; v++)
        number[v] = -1;
    for (int32_t i = 0; i < surface->vertex_count; i++)
        if (surface->mesh_vertex[i] >= 0)
            number[surface->mesh_vertex[i]] = i;
    for (int32_t v = 0; v < vertex_count; v++)
        if (number[v] < 0)
            number[v] = surface->vertex_count + behind++;
    return behind;
}

static void fill_vertices(const bo_cook *cook, const int32_t *number, float *position, float *U) {
    const bough_mesh *mesh = cook->body->mesh;
    const size_t width = 3 * (size_t)cook->r;
    for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
        const int32_t behind = number[v] - cook->draft.surface.vertex_count;
        if (behind < 0)
            continue;
        for (size_t d = 0; d < 3; d++)
            position[3 * (size_t)behind + d] = (float)(mesh->vertices[3 * v + d] - cook->draft.origin[d]);
        for (size_t i = 0; i < width; i++)
            U[width * (size_t)behind + i] = (float)cook->U[width * v + i];
    }
}

static bough_status fill_wire(bo_cook *cook, int32_t *number) {
    bough_wire *wire = &cook->draft.wire;
    const int32_t behind = number_vertices(cook, number);
    int32_t *edges, count;
    if (behind > MOST_VERTICES)
        return BOUGH_OK;
    float *position = BO_COOK_ARRAY(cook, float, 3 * (size_t)behind);
    float *U = BO_COOK_ARRAY(cook, float, 3 * (size_t)cook->r * (size_t)behind);
    if (!position || !U)
        return BOUGH_ERROR_MEMORY;
    fill_vertices(cook, number, position, U);
    BO_TRY(bough_mesh_edges(cook->ctx, cook->body->mesh, &edges, &count));
    int32_t *ends = BO_COOK_ARRAY(cook, int32_t, 2 * (size_t)count);
    for (size_t i = 0; i < 2 * (size_t)count && ends; i++)
        ends[i] = number[edges[i]];
    bo_free(cook->ctx, edges);
    *wire = (bough_wire){.vertex_count = behind,
                         .edge_count = ends ? count : 0,
                         .position = behind > 0 ? position : NULL,
                         .U = behind > 0 && cook->r > 0 ? U : NULL,
                         .edges = ends};
    return ends ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_cook_wire(bo_cook *cook) {
    if (!cook->def->wire)
        return BOUGH_OK;
    int32_t *number = BO_NEW_ARRAY(cook->ctx, int32_t, cook->body->mesh->vertex_count);
    const bough_status status = number ? fill_wire(cook, number) : BOUGH_ERROR_MEMORY;
    bo_free(cook->ctx, number);
    return status;
}
