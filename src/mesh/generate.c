#include "mesh/generate.h"

bough_status bo_mesh_alloc(bough_context *ctx, bough_element_type type, double vertex_count, double element_count,
                           bough_mesh **out) {
    *out = NULL;
    if (!(vertex_count <= BO_MESH_LIMIT && element_count <= BO_MESH_LIMIT))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the mesh would have %.3g vertices and %.3g elements; at most %d of each are possible",
                       vertex_count, element_count, BO_MESH_LIMIT);
    bough_mesh *mesh = BO_NEW(ctx, bough_mesh);
    if (!mesh)
        return BOUGH_ERROR_MEMORY;
    mesh->type = type;
    mesh->vertex_count = (int32_t)vertex_count;
    mesh->element_count = (int32_t)element_count;
    mesh->vertices = BO_NEW_ARRAY(ctx, double, 3 * (size_t)mesh->vertex_count);
    mesh->elements =
        BO_NEW_ARRAY(ctx, int32_t, (size_t)mesh->element_count * (size_t)bo_element_info_of(type)->node_count);
    if (!mesh->vertices || !mesh->elements) {
        bough_mesh_destroy(ctx, mesh);
        return BOUGH_ERROR_MEMORY;
    }
    *out = mesh;
    return BOUGH_OK;
}

static int32_t flagged_vertices(const bough_mesh *mesh, const uint8_t *flags, int32_t bit, int32_t *items) {
    int32_t count = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        if (flags[v] >> bit & 1)
            items[count++] = v;
    return count;
}

/* Counts only when items is NULL. */
static int32_t flagged_faces(const bough_mesh *mesh, const uint8_t *flags, int32_t bit, int32_t *items) {
    const bo_element_info *info = bo_element_info_of(mesh->type);
    int32_t count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = bo_mesh_nodes(mesh, e);
        for (int32_t f = 0; f < info->face_count; f++) {
            unsigned common = 255;
            for (int32_t c = 0; c < info->face_corner_count; c++)
                common &= flags[nodes[info->faces[f][c]]];
            if (!(common >> bit & 1))
                continue;
            if (items)
                items[count] = e * info->face_count + f;
            count++;
        }
    }
    return count;
}

static bough_status add_flag_set(bough_context *ctx, bough_mesh *mesh, const uint8_t *flags, int32_t bit,
                                 const char *name) {
    int32_t faces = flagged_faces(mesh, flags, bit, NULL);
    int32_t *items = BO_NEW_ARRAY(ctx, int32_t, faces > mesh->vertex_count ? faces : mesh->vertex_count);
    if (!items)
        return BOUGH_ERROR_MEMORY;
    bough_status status =
        bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, name, items, flagged_vertices(mesh, flags, bit, items));
    if (status == BOUGH_OK)
        status = bough_mesh_add_set(ctx, mesh, BOUGH_SET_FACE, name, items, flagged_faces(mesh, flags, bit, items));
    bo_free(ctx, items);
    return status;
}

bough_status bo_mesh_add_flag_sets(bough_context *ctx, bough_mesh *mesh, const uint8_t *flags, const char *const *names,
                                   int32_t name_count) {
    for (int32_t b = 0; b < name_count; b++)
        BO_TRY(add_flag_set(ctx, mesh, flags, b, names[b]));
    return BOUGH_OK;
}
