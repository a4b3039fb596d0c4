/* Functions that the mesh generators share. */
#ifndef BO_MESH_GENERATE_H
#define BO_MESH_GENERATE_H

#include "mesh/mesh.h"

/* Face numbers and matrix sizes of meshes up to this many vertices and elements fit int32. */
#define BO_MESH_LIMIT (INT32_MAX / 32)

/* A mesh with room for these counts; the caller fills vertices and elements. Counts are double so that a product of
 * user's numbers can be given without fear of overflow; beyond BO_MESH_LIMIT they are refused. */
bough_status bo_mesh_alloc(bough_context *ctx, bough_element_type type, double vertex_count, double element_count,
                           bough_mesh **mesh);

/* An embedding of zeros, for the caller to fill. */
bough_status bo_embedding_create(bough_context *ctx, int32_t vertex_count, bough_embedding **embedding);

/* For each bit b of flags[vertex]: a vertex set names[b] of the vertices with that bit, and a face set of the faces
 * all of whose corners have it. */
bough_status bo_mesh_add_flag_sets(bough_context *ctx, bough_mesh *mesh, const uint8_t *flags, const char *const *names,
                                   int32_t name_count);

/* bough_mesh_surface() of a volume mesh, and what was counted on the way: boundary faces, and faces of three or more
 * elements. */
bough_status bo_mesh_boundary(bough_context *ctx, const bough_mesh *mesh, bough_mesh **surface, int32_t *face_count,
                              int32_t *nonmanifold_count);

/* Counts of how the edges of a triangle surface are used. A surface without odd edges separates inside from outside. */
typedef struct bo_edge_census {
    int32_t edge_count;
    int32_t open_count;         /* edges of one triangle */
    int32_t odd_count;          /* edges of an odd number of triangles */
    int32_t crowded_count;      /* edges of three or more triangles */
    int32_t inconsistent_count; /* edges not run through equally often in both directions */
} bo_edge_census;
/* A triangle surface of the same shape whose triangles are cut until no edge is longer than max_edge; its first vertices
 * are those of `surface`. Sets are left out. */
bough_status bo_surface_refine(bough_context *ctx, const bough_mesh *surface, double max_edge, bough_mesh **refined);

bough_status bo_surface_census(bough_context *ctx, const bough_mesh *surface, bo_edge_census *census);

#endif
