/* Inside view of meshes. */
#ifndef BO_MESH_MESH_H
#define BO_MESH_MESH_H

#include "base/context.h"
#include "mesh/element.h"

/* Sorts, removes repetitions, returns the new count. */
int32_t bo_sort_unique(int32_t *items, int32_t count);

/* For every face of every element: the element face on the other side (same encoding), or -1 on the boundary.
 * *nonmanifold counts faces shared by three or more elements (those beyond the first two count as boundary). Free with
 * bo_free. */
bough_status bo_mesh_face_neighbours(bough_context *ctx, const bough_mesh *mesh, int32_t **neighbours,
                                     int32_t *nonmanifold);

/* The triangles into which bough_mesh_surface() cuts a face, by vertices of the mesh: 1, 2 or 4 of them, which is
 * returned. */
int32_t bo_mesh_cut_face(const bough_mesh *mesh, int32_t face, int32_t *triangles);

/* piece[vertex] = number of its connected piece, in the order of the lowest vertices; -1 for a vertex in no element. */
bough_status bo_mesh_pieces(bough_context *ctx, const bough_mesh *mesh, int32_t *piece, int32_t *piece_count);

/* A split of one domain: the elements whose number is 0, where all others have -1. Joints and pieces by faces are left
 * out, so that a small domain of a large mesh costs little. */
bough_status bo_mesh_take_out(bough_context *ctx, const bough_mesh *mesh, const int32_t *domain, bough_split **split);

/* Finds the element face with these corners (3 or 4, any order); -1 when there is none. Made once, asked often. */
typedef struct bo_face_finder bo_face_finder;
bough_status bo_face_finder_create(bough_context *ctx, const bough_mesh *mesh, bo_face_finder **finder);
void bo_face_finder_destroy(bough_context *ctx, bo_face_finder *finder);
/* When two elements share the face, the one with the lower number. */
int32_t bo_face_finder_find(const bo_face_finder *finder, const int32_t *corners, int32_t count);

static inline const int32_t *bo_mesh_nodes(const bough_mesh *mesh, int32_t element) {
    return mesh->elements + (size_t)element * (size_t)bo_element_info_of(mesh->type)->node_count;
}

/* Called for every item of a long loop: looks now and then whether the user has cancelled it. */
#define BO_ITEMS_A_LOOK 0x10000
static inline bough_status bo_mesh_go_on(bough_context *ctx, const char *what, size_t item, size_t count) {
    if (item % BO_ITEMS_A_LOOK != BO_ITEMS_A_LOOK - 1 ||
        bo_progress(ctx, what, (double)item / (double)count, "%zu of %zu", item, count))
        return BOUGH_OK;
    return bo_fail_cancelled(ctx);
}

/* Index of the set or -1. */
int32_t bo_mesh_set_index(const bough_mesh *mesh, bough_set_kind kind, const char *name, size_t length);

/* Copies materials and regions to a mesh that has none. */
bough_status bo_mesh_copy_materials(bough_context *ctx, const bough_mesh *from, bough_mesh *to);
/* Copies sets, materials and regions from one mesh to another that has no materials yet and whose vertices, elements
 * and faces have the same numbers (the target may have more vertices). */
bough_status bo_mesh_copy_annotations(bough_context *ctx, const bough_mesh *from, bough_mesh *to);

#endif
