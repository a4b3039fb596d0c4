/* Poses of all links from the coordinates z of a model and the offsets of its motors: four links side by side.
 * docs/theory/mechanism.md, "Links". */
#ifndef BO_MECHANISM_LINKS_H
#define BO_MECHANISM_LINKS_H

#include "base/arena.h"
#include "base/simd.h"
#include "mechanism/mechanism.h"

/* Rest poses of four links. */
typedef struct bo_rest4 {
    bo_v4 R[9], p[3];
} bo_rest4;

typedef struct bo_mechanism_lanes {
    bo_arena arena;
    int32_t group_count, rank;
    bo_rest4 *rest; /* group_count */
    bo_v4 *maps;    /* group_count x (1 + rank) x 6: twists at z = 0, then by each z, turned into the world's axes */
} bo_mechanism_lanes;

bough_status bo_lanes_create(bough_context *ctx, int32_t link_count, int32_t rank, bo_mechanism_lanes **lanes);
void bo_lanes_destroy(bough_context *ctx, bo_mechanism_lanes *lanes);
size_t bo_lanes_memory(const bo_mechanism_lanes *lanes);
/* Twist of a link in its own axes by column (0: at z = 0; 1 + k: by z_k). */
void bo_lanes_put(bo_mechanism_lanes *lanes, int32_t link, int32_t column, bo_mat3 R, const double twist[6]);
void bo_lanes_rest(bo_mechanism_lanes *lanes, int32_t link, bo_se3 rest);
/* The same in the world's axes, read. */
bo_twist bo_lanes_twist(const bo_mechanism_lanes *lanes, int32_t link, int32_t column);
/* poses: link_count; moved (may be NULL): what all of them are moved by in the world. Many links are shared out among
 * the threads of ctx (NULL: none), with the same bits. */
void bo_lanes_place(bough_context *ctx, const bo_mechanism_lanes *lanes, int32_t link_count, const double *z,
                    const bo_se3 *moved, bough_pose *poses);

/* A reduced model as the library makes it. */
typedef struct bo_mechanism_model {
    bough_mechanism_model seen; /* first: what the user sees */
    bo_mechanism_lanes *lanes;  /* maps to the links */
} bo_mechanism_model;
static inline bo_mechanism_lanes *bo_mechanism_lanes_of(const bough_mechanism_model *model) {
    return ((bo_mechanism_model *)(uintptr_t)model)->lanes;
}

#endif
