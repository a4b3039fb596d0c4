/* A surface that is drawn instead of a volume mesh, cut along the mesh's domains. */
#include "mesh/mesh.h"

#include <string.h>

/* The domain of the majority of a triangle's corners; of three different ones the first. */
static int32_t domain_of_triangle(const int32_t *corners, const bough_embedding *bound, const int32_t *domain) {
    int32_t d[3];
    for (int i = 0; i < 3; i++)
        d[i] = domain[bound->elements[corners[i]]];
    return d[1] == d[2] ? d[1] : d[0];
}

/* The triangles of one domain with vertices of their own; *part is NULL when there are none. number: a place for each
 * vertex of the surface. */
static bough_status pick(bough_context *ctx, const bough_mesh *surface, const int32_t *owner, int32_t wanted,
                         int32_t *number, bough_mesh **part) {
    int32_t triangles = 0, vertices = 0;
    for (int32_t t = 0; t < surface->element_count; t++)
        triangles += owner[t] == wanted;
    *part = NULL;
    if (triangles == 0)
        return BOUGH_OK;
    int32_t *elements = BO_NEW_ARRAY(ctx, int32_t, 3 * (size_t)triangles), *to = elements;
    double *positions = BO_NEW_ARRAY(ctx, double, 9 * (size_t)triangles); /* room for corners that share nothing */
    bough_status status = elements && positions ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < surface->vertex_count; v++)
        number[v] = -1;
    for (int32_t i = 0; i < 3 * surface->element_count && status == BOUGH_OK; i++) {
        if (owner[i / 3] != wanted)
            continue;
        int32_t v = surface->elements[i];
        if (number[v] < 0) {
            memcpy(positions + 3 * (size_t)vertices, surface->vertices + 3 * (size_t)v, 3 * sizeof *positions);
            number[v] = vertices++;
        }
        *to++ = number[v];
    }
    if (status == BOUGH_OK)
        status = bough_mesh_create(ctx, BOUGH_TRI3, vertices, positions, triangles, elements, part);
    bo_free(ctx, elements);
    bo_free(ctx, positions);
    return status;
}

bough_status bough_mesh_split_surface(bough_context *ctx, const bough_mesh *volume, const int32_t *domain,
                                      int32_t domain_count, const bough_mesh *surface, bough_mesh **parts) {
    bough_embedding *bound = NULL;
    bough_bind_report report;
    for (int32_t d = 0; d < domain_count; d++)
        parts[d] = NULL;
    BO_TRY(bough_mesh_bind(ctx, volume, surface, &bound, &report));
    int32_t *owner = BO_NEW_ARRAY(ctx, int32_t, surface->element_count);
    int32_t *number = BO_NEW_ARRAY(ctx, int32_t, surface->vertex_count);
    bough_status status = owner && number ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t t = 0; t < surface->element_count && status == BOUGH_OK; t++)
        owner[t] = domain_of_triangle(surface->elements + 3 * (size_t)t, bound, domain);
    for (int32_t d = 0; d < domain_count && status == BOUGH_OK; d++)
        status = pick(ctx, surface, owner, d, number, &parts[d]);
    for (int32_t d = 0; d < domain_count && status != BOUGH_OK; d++) {
        bough_mesh_destroy(ctx, parts[d]);
        parts[d] = NULL;
    }
    bo_free(ctx, owner);
    bo_free(ctx, number);
    bough_embedding_destroy(ctx, bound);
    return status;
}
