#include "mesh/generate.h"

#include <string.h>

/* Triangles of one face in positions of bo_element_face_nodes(). */
static const int32_t cut_tri[1][3] = {{0, 1, 2}};
static const int32_t cut_quad[2][3] = {{0, 1, 2}, {0, 2, 3}};
static const int32_t cut_six[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};

static int32_t cut_of(bough_element_type type, const int32_t (**cut)[3]) {
    *cut = type == BOUGH_TET4 ? cut_tri : type == BOUGH_TET10 ? cut_six : cut_quad;
    return type == BOUGH_TET4 ? 1 : type == BOUGH_TET10 ? 4 : 2;
}

/* The boundary while it is extracted. */
typedef struct boundary {
    const bough_mesh *mesh;
    int32_t *faces; /* face_count, ascending */
    int32_t face_count, nonmanifold_count;
    int32_t *triangles; /* face_count x per_face x 3, mesh vertices */
    int32_t per_face;
    int32_t *compact; /* mesh vertex -> surface vertex or -1 */
    int32_t vertex_count;
    bough_mesh *surface;
    int32_t *vertex_map, *face_map;
} boundary;

static void discard(bough_context *ctx, boundary *b) {
    bo_free(ctx, b->faces);
    bo_free(ctx, b->triangles);
    bo_free(ctx, b->compact);
    bo_free(ctx, b->vertex_map);
    bo_free(ctx, b->face_map);
    bough_mesh_destroy(ctx, b->surface);
}

static bough_status find_faces(bough_context *ctx, boundary *b) {
    int32_t total = b->mesh->element_count * bo_element_info_of(b->mesh->type)->face_count;
    int32_t *neighbours;
    BO_TRY(bo_mesh_face_neighbours(ctx, b->mesh, &neighbours, &b->nonmanifold_count));
    for (int32_t f = 0; f < total; f++)
        if (neighbours[f] < 0)
            neighbours[b->face_count++] = f; /* the list never overtakes the faces still to be read */
    b->faces = neighbours;
    return BOUGH_OK;
}

int32_t bo_mesh_cut_face(const bough_mesh *mesh, int32_t face, int32_t *out) {
    const bo_element_info *info = bo_element_info_of(mesh->type);
    const int32_t *nodes = bo_mesh_nodes(mesh, face / info->face_count);
    int32_t local[6], start = 0;
    const int32_t(*cut)[3];
    int32_t count = cut_of(mesh->type, &cut);
    bo_element_face_nodes(mesh->type, face % info->face_count, local);
    if (mesh->type == BOUGH_HEX8) /* the diagonal starts at the lowest vertex, whatever the element's numbering */
        for (int32_t c = 1; c < 4; c++)
            if (nodes[local[c]] < nodes[local[start]])
                start = c;
    for (int32_t t = 0; t < count; t++)
        for (int32_t c = 0; c < 3; c++) {
            int32_t position = mesh->type == BOUGH_HEX8 ? (cut[t][c] + start) % 4 : cut[t][c];
            out[3 * t + c] = nodes[local[position]];
        }
    return count;
}

static bough_status cut_faces(bough_context *ctx, boundary *b) {
    const int32_t(*cut)[3];
    b->per_face = cut_of(b->mesh->type, &cut);
    size_t step = 3 * (size_t)b->per_face;
    b->triangles = BO_NEW_ARRAY(ctx, int32_t, step * (size_t)b->face_count);
    b->compact = BO_NEW_ZEROS(ctx, int32_t, b->mesh->vertex_count);
    if (!b->triangles || !b->compact)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < b->face_count; i++)
        bo_mesh_cut_face(b->mesh, b->faces[i], b->triangles + step * (size_t)i);
    for (size_t i = 0; i < step * (size_t)b->face_count; i++)
        b->compact[b->triangles[i]] = 1;
    for (int32_t v = 0; v < b->mesh->vertex_count; v++)
        b->compact[v] = b->compact[v] ? b->vertex_count++ : -1;
    return BOUGH_OK;
}

static bough_status build_surface(bough_context *ctx, boundary *b) {
    BO_TRY(bo_mesh_alloc(ctx, BOUGH_TRI3, b->vertex_count, (double)b->face_count * b->per_face, &b->surface));
    int32_t triangle_count = b->surface->element_count;
    b->vertex_map = BO_NEW_ARRAY(ctx, int32_t, b->vertex_count);
    b->face_map = BO_NEW_ARRAY(ctx, int32_t, triangle_count);
    if (!b->vertex_map || !b->face_map)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < b->mesh->vertex_count; v++) {
        if (b->compact[v] < 0)
            continue;
        size_t at = (size_t)b->compact[v];
        b->vertex_map[at] = v;
        memcpy(b->surface->vertices + 3 * at, b->mesh->vertices + 3 * (size_t)v, 3 * sizeof(double));
    }
    for (size_t i = 0; i < 3 * (size_t)triangle_count; i++)
        b->surface->elements[i] = b->compact[b->triangles[i]];
    for (int32_t t = 0; t < triangle_count; t++)
        b->face_map[t] = b->faces[t / b->per_face];
    return BOUGH_OK;
}

/* items has room for all triangles and all vertices of the surface. */
static int32_t carry_set(const boundary *b, const bough_set *set, int32_t *items) {
    int32_t count = 0;
    if (set->kind == BOUGH_SET_VERTEX) {
        for (int32_t i = 0; i < set->count; i++)
            if (b->compact[set->items[i]] >= 0)
                items[count++] = b->compact[set->items[i]];
        return count;
    }
    for (int32_t i = 0, f = 0; i < set->count; i++) { /* both lists ascend */
        while (f < b->face_count && b->faces[f] < set->items[i])
            f++;
        if (f < b->face_count && b->faces[f] == set->items[i])
            for (int32_t t = 0; t < b->per_face; t++)
                items[count++] = f * b->per_face + t;
    }
    return count;
}

/* Face sets become element sets of triangles; vertex sets keep what lies on the surface. */
static bough_status carry_sets(bough_context *ctx, boundary *b) {
    int32_t room = b->surface->element_count > b->vertex_count ? b->surface->element_count : b->vertex_count;
    int32_t *items = BO_NEW_ARRAY(ctx, int32_t, room);
    if (!items)
        return BOUGH_ERROR_MEMORY;
    bough_status status = BOUGH_OK;
    for (int32_t s = 0; s < b->mesh->set_count && status == BOUGH_OK; s++) {
        const bough_set *set = &b->mesh->sets[s];
        if (set->kind == BOUGH_SET_ELEMENT)
            continue;
        int32_t count = carry_set(b, set, items);
        bough_set_kind kind = set->kind == BOUGH_SET_FACE ? BOUGH_SET_ELEMENT : BOUGH_SET_VERTEX;
        if (count)
            status = bough_mesh_add_set(ctx, b->surface, kind, set->name, items, count);
    }
    bo_free(ctx, items);
    return status;
}

static bough_status extract(bough_context *ctx, boundary *b) {
    BO_TRY(find_faces(ctx, b));
    BO_TRY(cut_faces(ctx, b));
    BO_TRY(build_surface(ctx, b));
    return carry_sets(ctx, b);
}

bough_status bough_mesh_surface(bough_context *ctx, const bough_mesh *mesh, bough_mesh **surface, int32_t **vertex_map,
                                int32_t **face_map) {
    *surface = NULL;
    if (vertex_map)
        *vertex_map = NULL;
    if (face_map)
        *face_map = NULL;
    if (mesh->type == BOUGH_TRI3)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the mesh is a surface already; only volume meshes have a boundary");
    boundary b = {.mesh = mesh};
    bough_status status = extract(ctx, &b);
    if (status == BOUGH_OK) {
        *surface = b.surface;
        b.surface = NULL;
        if (vertex_map)
            *vertex_map = b.vertex_map, b.vertex_map = NULL;
        if (face_map)
            *face_map = b.face_map, b.face_map = NULL;
    }
    discard(ctx, &b);
    return status;
}

bough_status bo_mesh_boundary(bough_context *ctx, const bough_mesh *mesh, bough_mesh **surface, int32_t *face_count,
                              int32_t *nonmanifold_count) {
    boundary b = {.mesh = mesh};
    bough_status status = extract(ctx, &b);
    *surface = status == BOUGH_OK ? b.surface : NULL;
    *face_count = b.face_count;
    *nonmanifold_count = b.nonmanifold_count;
    if (status == BOUGH_OK)
        b.surface = NULL;
    discard(ctx, &b);
    return status;
}
