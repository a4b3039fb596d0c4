#include "base/idmap.h"
#include "mesh/generate.h"

#include <string.h>

/* Gives every edge of the tet4 mesh a number from 0 and notes its two ends. */
typedef struct edge_list {
    bo_idmap numbers;
    int32_t *ends; /* count x 2 */
    size_t count, capacity;
} edge_list;

static void free_edges(bough_context *ctx, edge_list *edges) {
    bo_idmap_free(ctx, &edges->numbers);
    bo_free(ctx, edges->ends);
}

static bough_status edge_number(bough_context *ctx, edge_list *edges, int32_t a, int32_t b, int32_t *number) {
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    BO_TRY(bo_idmap_add(ctx, &edges->numbers, (int64_t)low << 32 | high, (int32_t)edges->count, number));
    if (*number >= 0)
        return BOUGH_OK;
    if (!BO_RESERVE(ctx, edges->ends, edges->capacity, 2 * edges->count + 2))
        return BOUGH_ERROR_MEMORY;
    *number = (int32_t)edges->count++;
    edges->ends[2 * *number] = low;
    edges->ends[2 * *number + 1] = high;
    return BOUGH_OK;
}

/* nodes: element_count x 10, all filled. */
static bough_status number_nodes(bough_context *ctx, const bough_mesh *mesh, edge_list *edges, int32_t *nodes) {
    const bo_element_info *info = bo_element_info_of(BOUGH_TET10);
    for (int32_t e = 0; e < mesh->element_count; e++, nodes += 10) {
        memcpy(nodes, bo_mesh_nodes(mesh, e), 4 * sizeof *nodes);
        for (int32_t k = 0; k < 6; k++) {
            int32_t number;
            BO_TRY(edge_number(ctx, edges, nodes[info->edges[k][0]], nodes[info->edges[k][1]], &number));
            if (edges->count > (size_t)(BO_MESH_LIMIT - mesh->vertex_count))
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the tet10 mesh would have more than %d vertices",
                               BO_MESH_LIMIT);
            nodes[4 + k] = mesh->vertex_count + number;
        }
    }
    return BOUGH_OK;
}

static void place_vertices(const bough_mesh *mesh, const edge_list *edges, double *vertices) {
    memcpy(vertices, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof *vertices);
    double *middle = vertices + 3 * (size_t)mesh->vertex_count;
    for (size_t i = 0; i < edges->count; i++)
        for (size_t d = 0; d < 3; d++)
            middle[3 * i + d] = 0.5 * mesh->vertices[3 * (size_t)edges->ends[2 * i] + d] +
                                0.5 * mesh->vertices[3 * (size_t)edges->ends[2 * i + 1] + d];
}

/* A vertex set gains the midpoints of the edges both of whose ends it holds. */
static bough_status extend_vertex_sets(bough_context *ctx, const bough_mesh *mesh, const edge_list *edges,
                                       bough_mesh *raised) {
    uint8_t *inside = BO_NEW_ARRAY(ctx, uint8_t, mesh->vertex_count);
    int32_t *items = BO_NEW_ARRAY(ctx, int32_t, edges->count);
    bough_status status = inside && items ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t s = 0; s < mesh->set_count && status == BOUGH_OK; s++) {
        const bough_set *set = &mesh->sets[s];
        if (set->kind != BOUGH_SET_VERTEX)
            continue;
        memset(inside, 0, (size_t)mesh->vertex_count);
        for (int32_t i = 0; i < set->count; i++)
            inside[set->items[i]] = 1;
        int32_t count = 0;
        for (size_t i = 0; i < edges->count; i++)
            if (inside[edges->ends[2 * i]] && inside[edges->ends[2 * i + 1]])
                items[count++] = mesh->vertex_count + (int32_t)i;
        status = bough_mesh_add_set(ctx, raised, BOUGH_SET_VERTEX, set->name, items, count);
    }
    bo_free(ctx, inside);
    bo_free(ctx, items);
    return status;
}

static bough_status fill(bough_context *ctx, const bough_mesh *mesh, const edge_list *edges, const int32_t *nodes,
                         bough_mesh *raised) {
    place_vertices(mesh, edges, raised->vertices);
    if (mesh->element_count)
        memcpy(raised->elements, nodes, 10 * (size_t)mesh->element_count * sizeof *nodes);
    BO_TRY(bo_mesh_copy_annotations(ctx, mesh, raised));
    return extend_vertex_sets(ctx, mesh, edges, raised);
}

bough_status bough_mesh_raise_order(bough_context *ctx, const bough_mesh *mesh, bough_mesh **raised) {
    *raised = NULL;
    if (mesh->type != BOUGH_TET4)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "only tet4 meshes can be raised to tet10; this one is %s",
                       bough_element_name(mesh->type));
    edge_list edges = {0};
    bough_status status = BOUGH_ERROR_MEMORY;
    int32_t *nodes = BO_NEW_ARRAY(ctx, int32_t, 10 * (size_t)mesh->element_count);
    if (nodes)
        status = number_nodes(ctx, mesh, &edges, nodes);
    bough_mesh *result = NULL;
    if (status == BOUGH_OK)
        status =
            bo_mesh_alloc(ctx, BOUGH_TET10, mesh->vertex_count + (double)edges.count, mesh->element_count, &result);
    if (status == BOUGH_OK)
        status = fill(ctx, mesh, &edges, nodes, result);
    bo_free(ctx, nodes);
    free_edges(ctx, &edges);
    if (status != BOUGH_OK) {
        bough_mesh_destroy(ctx, result);
        return status;
    }
    *raised = result;
    return BOUGH_OK;
}
