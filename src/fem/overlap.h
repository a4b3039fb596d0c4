/* Checks of the start of a run with contact: bodies must not overlap, and no body may cross itself. */
#ifndef BO_FEM_OVERLAP_H
#define BO_FEM_OVERLAP_H

#include "fem/touch.h"

/* A body of a scene of several: all of them are one mesh, one behind the other. */
typedef struct bo_body_piece {
    char *name;
    int32_t first_vertex, vertex_count;
} bo_body_piece;

/* The body of a vertex; 0 where there are no pieces. Pieces ascend by their vertices. */
int32_t bo_body_piece_of(int32_t piece_count, const bo_body_piece *pieces, int32_t vertex);

/* Fails with BOUGH_ERROR_ARGUMENT, names and a place where at q an edge crosses a triangle (if the bodies touch each other,
 * or the body itself), one body is inside another, or an obstacle is inside a body, being where it is at t. Vertices in
 * obstacles are looked for by bo_touch_start(). */
bough_status bo_body_check_overlap(bough_context *ctx, const bough_mesh *mesh, const bo_touch_def *touch,
                                   int32_t piece_count, const bo_body_piece *pieces, double t, const double *q);

#endif
