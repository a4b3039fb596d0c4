/* Matrices of a body with further blocks, between vertices that no element connects: contact of a body with itself. */
#ifndef BO_FEM_JOINED_H
#define BO_FEM_JOINED_H

#include "linalg/factor.h"

/* Second derivatives by the displacements of four vertices. */
typedef struct bo_joined_block {
    int32_t vertices[4];
    double H[144]; /* 12 x 12, symmetric */
} bo_joined_block;

/* All zero bytes before the first use. */
typedef struct bo_joined {
    bough_sparse *matrix; /* NULL: there is none yet */
    int64_t *map;         /* of each entry of the body's own pattern: where it is in the matrix */
    uint64_t *keys; /* (row << 32) + column of the vertices that are connected beside those by elements, ascending */
    size_t key_count, key_capacity;
    uint64_t *wanted; /* scratch: those of the blocks */
    size_t wanted_capacity;
    bo_factor *factor;
} bo_joined;

/* Factors base + scale blocks, where base is a matrix of the body. The pattern is found anew only where blocks connect
 * vertices that the last one does not. fixed: as bo_factor_analyse() takes it. BOUGH_ERROR_SINGULAR where it is not
 * positive definite. */
bough_status bo_joined_factor(bough_context *ctx, bo_joined *joined, const bough_sparse *base, int32_t count,
                              const bo_joined_block *blocks, double scale, const unsigned char *fixed);
/* Which vertices are connected, as key_count numbers: with them, and the same blocks, factors that follow have the same
 * bits, since the order of elimination depends on the pattern. restore() refuses numbers that save() did not write and
 * leaves what was. */
void bo_joined_save(const bo_joined *joined, int32_t vertex_count, double *numbers);
bough_status bo_joined_restore(bough_context *ctx, bo_joined *joined, int32_t vertex_count, int64_t count,
                               const double *numbers);
void bo_joined_free(bough_context *ctx, bo_joined *joined);

#endif
