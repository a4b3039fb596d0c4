/* Inside of a binary glTF file that is being put together. */
#ifndef BO_RECORD_GLB_H
#define BO_RECORD_GLB_H

#include "base/file.h"

#include <bough/record.h>

#include <math.h>

/* Vertices and triangles, shared by meshes of several colours. */
typedef struct bo_glb_geometry {
    char *name;
    int32_t vertex_count, triangle_count, target_count;
    float *positions, *normals, *targets, *target_normals;
    int32_t *triangles;
    float *largest;         /* target_count: the largest |weight| in any frame; weights in the file are parts of it */
    int32_t first_accessor; /* triangles, positions, normals, then position and normal of each target */
} bo_glb_geometry;

typedef struct bo_glb_shade {
    int32_t geometry;
    float colour[3]; /* sRGB */
} bo_glb_shade;

/* The channels of a node, in the order of the file. Sizes change in steps. */
enum { BO_GLB_TRANSLATION, BO_GLB_ROTATION, BO_GLB_WEIGHTS, BO_GLB_SCALE, BO_GLB_PATHS };

typedef struct bo_glb_node {
    char *name;
    int32_t mesh;
    float scale;
    size_t weight;              /* where its weights begin among those of a frame */
    bool changes[BO_GLB_PATHS]; /* what does; the rest has one value for all frames */
    int32_t *keys;              /* the frames that are written; NULL: all of them */
    size_t key_count;
    int32_t times, outputs[BO_GLB_PATHS]; /* accessors; -1: does not change */
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
    double tolerance;
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

/* Numbers as the file has them. */
static inline int16_t bo_glb_short(float x) {
    return (int16_t)lrintf(32767 * fmaxf(-1, fminf(1, x)));
}

static inline int16_t bo_glb_rotation(const bough_glb *glb, size_t frame, size_t node, int c) {
    return bo_glb_short(glb->frames[frame].places[node].rotation[c]);
}

static inline float bo_glb_weight(const bough_glb *glb, size_t frame, const bo_glb_node *node, int32_t k) {
    return glb->frames[frame].weights[node->weight + (size_t)k] / bo_glb_geometry_of(glb, node)->largest[k];
}

/* 0 while the node is not seen. */
static inline float bo_glb_scale(const bough_glb *glb, size_t frame, size_t node) {
    return glb->frames[frame].places[node].hidden ? 0 : glb->nodes[node].scale;
}

/* The frame of a node's key. */
static inline size_t bo_glb_key(const bo_glb_node *node, size_t key) {
    return node->keys ? (size_t)node->keys[key] : key;
}

/* Finds the channels of each node that change, and the frames that it takes to show them; the largest weights must be
 * known. */
bough_status bo_glb_choose_keys(bough_context *ctx, bough_glb *glb);

/* Writes everything to the output's stream; the caller commits it. */
bough_status bo_glb_write(bough_context *ctx, bough_glb *glb);

#endif
