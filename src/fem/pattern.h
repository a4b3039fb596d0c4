/* The places of element contributions: the matrix pattern, the scatter positions, and an order of the elements that
 * threads can share with the same result for any number of them. */
#ifndef BO_FEM_PATTERN_H
#define BO_FEM_PATTERN_H

#include "linalg/sparse.h"

#include <bough/mesh.h>

typedef struct bo_pattern {
    bough_sparse *matrix; /* pattern of all 3x3 vertex blocks (lower triangle); its values are not used */

    /* For element e and local nodes a >= b, entry pair_count * e + a(a+1)/2 + b: position in matrix->values of the
     * top left scalar of the block (row vertex max, column vertex min). */
    int32_t pair_count;
    int32_t *scatter;

    /* Elements along a space-filling curve, cut into blocks; blocks of one colour share no vertex and may run at the
     * same time; colours run one after the other. So every sum has one fixed order. */
    int32_t *order; /* element_count */
    int32_t block_count;
    int32_t *block_start; /* block_count + 1, into order; blocks are sorted by colour */
    int32_t color_count;
    int32_t *color_start; /* color_count + 1, into blocks */
} bo_pattern;

bough_status bo_pattern_create(bough_context *ctx, const bough_mesh *mesh, bo_pattern **pattern);
void bo_pattern_destroy(bough_context *ctx, bo_pattern *pattern);

#endif
