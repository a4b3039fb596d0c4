#include "mesh/mesh.h"

#include "mesh/element.h"

#include <stdlib.h>

typedef struct {
    int32_t low, high;
} edge;

static int ascending(const void *a, const void *b) {
    const edge *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->high > y->high) - (x->high < y->high);
}

static edge *put(edge *at, int32_t a, int32_t b) {
    *at = a < b ? (edge){a, b} : (edge){b, a};
    return at + 1;
}

/* Lists the edges of one element. A tet10 has halves of edges; the node of edge k is 4 + k. */
static edge *put_element(const bough_mesh *mesh, int32_t element, edge *at) {
    const bo_element_info *info = bo_element_info_of(mesh->type);
    const int32_t *nodes = bo_mesh_nodes(mesh, element);
    for (int32_t k = 0; k < info->edge_count; k++) {
        const int32_t a = nodes[info->edges[k][0]], b = nodes[info->edges[k][1]];
        if (mesh->type != BOUGH_TET10) {
            at = put(at, a, b);
            continue;
        }
        at = put(at, a, nodes[4 + k]);
        at = put(at, nodes[4 + k], b);
    }
    return at;
}

bough_status bough_mesh_edges(bough_context *ctx, const bough_mesh *mesh, int32_t **edges, int32_t *edge_count) {
    const size_t of_each = (size_t)bo_element_info_of(mesh->type)->edge_count * (mesh->type == BOUGH_TET10 ? 2 : 1);
    *edges = NULL, *edge_count = 0;
    edge *all = BO_NEW_ARRAY(ctx, edge, of_each * (size_t)mesh->element_count), *end = all;
    if (!all)
        return BOUGH_ERROR_MEMORY;
    for (int32_t e = 0; e < mesh->element_count; e++)
        end = put_element(mesh, e, end);
    qsort(all, (size_t)(end - all), sizeof *all, ascending);
    size_t count = 0;
    for (const edge *from = all; from < end; from++)
        if (count == 0 || ascending(from, &all[count - 1]) != 0)
            all[count++] = *from;
    if (count > INT32_MAX / 2) {
        bo_free(ctx, all);
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the mesh has more edges than can be numbered");
    }
    *edges = (int32_t *)all, *edge_count = (int32_t)count; /* pairs, as they lie there */
    return BOUGH_OK;
}
