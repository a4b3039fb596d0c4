/* Inside of a binary glTF file that is being put together. */
#ifndef BO_RECORD_GLB_H
#define BO_RECORD_GLB_H

#include "base/file.h"

#include <bough/record.h>

/* Vertices and triangles, shared by meshes of several colours. */
typedef struct bo_glb_geometry {
    char *name;
    int32_t vertex_count, triangle_count, target_count;
    float *positions, *normals, *targets;
    int32_t *triangles;
    float *largest;         /* target_count: the largest |weight| in any frame; weights in the file are parts of it */
    int32_t first_accessor; /* triangles, positions, normals, then the targets */
} bo_glb_geometry;

typedef struct bo_glb_shade {
    int32_t geometry;
    float colour[3]; /* sRGB */
} bo_glb_shade;

typedef struct bo_glb_node {
    char *name;
    int32_t mesh;
    float scale;
    size_t weight;                                    /* where its weights begin among those of a frame */
    int32_t translation, rotation, morphing, scaling; /* accessors; -1: does not change */
} bo_glb_node;

/* A node in one frame. */
typedef struct bo_glb_place {
    float translation[3];
    float rotation[4]; /* x y z w */
    bool hidden;
} bo_glb_place;

typedef struct bo_glb_frame {
    float time;
    bo_glb_place *places; /* node_count */
    float *weights;       /* weight_count */
} bo_glb_frame;

struct bough_glb {
    bo_output output;
    bool z_up;
    bo_glb_geometry *geometries;
    size_t geometry_count, geometry_capacity;
    bo_glb_shade *meshes;
    size_t mesh_count, mesh_capacity;
    bo_glb_node *nodes;
    size_t node_count, node_capacity;
    size_t weight_count; /* of all nodes */
    bo_glb_frame *frames;
    size_t frame_count, frame_capacity;
};

static inline const bo_glb_geometry *bo_glb_geometry_of(const bough_glb *glb, const bo_glb_node *node) {
    return &glb->geometries[glb->meshes[node->mesh].geometry];
}

/* Writes everything to the output's stream; the caller commits it. */
bough_status bo_glb_write(bough_context *ctx, bough_glb *glb);

#endif
