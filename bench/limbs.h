/* Meshes of limbs that grow out of each other, made of bricks, which benchmarks cut into parts. */
#ifndef BOUGH_BENCH_LIMBS_H
#define BOUGH_BENCH_LIMBS_H

#include "bench.h"

enum { LIMBS_MOST = 8, LIMBS_LAYERS = 40, LIMBS_ACROSS = 8 };

/* Vertices of a limb: of each layer a grid of (cells[0] + 1) x (cells[1] + 1). */
typedef struct limb {
    int32_t cells[2], layers;
    int32_t grid[LIMBS_LAYERS + 1][LIMBS_ACROSS + 1][LIMBS_ACROSS + 1];
} limb;

typedef struct limbs {
    double *vertices;
    int32_t *bricks, *domain; /* of each brick: its limb, or the one below in its first layers */
    int32_t vertex_count, brick_count, limb_count;
    limb limbs[LIMBS_MOST];
} limbs;

/* To be freed; NULL without memory. */
limbs *limbs_create(void);
void limbs_free(limbs *l);

/* A limb on the ground around the origin: size across, length and cells; it gets narrower by `taper` and leans to `end`.
 */
void limbs_plant(limbs *l, double width, double depth, int32_t across, int32_t deep, int32_t layers,
                 const double end[3], double taper);

/* The place where a limb grows out of another: at its top, of which it takes cells i0 to i1 - 1 across (all of them
 * deep), or at a side (0: +x, 1: -x, 2: +y, 3: -y), on its layers i0 to i1. `kept` of its first layers belong to the
 * limb below, which is where it is cut. */
typedef struct limb_place {
    int32_t below;
    int side; /* -1: the top */
    int32_t i0, i1;
    int32_t layers, kept;
    double reach[3]; /* from the middle of the patch to that of the limb's end, m */
    double taper;    /* width of its end over that of its foot */
} limb_place;
void limbs_grow(limbs *l, const limb_place *place);

/* With element sets limb0, limb1, ... and the vertex set ground. Tets: 24 of each brick. */
bough_mesh *limbs_mesh(bough_context *ctx, const limbs *l, bough_element_type type);

#endif
