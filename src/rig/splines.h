/* Ground and solids as functions of a point: heights over a rectangle, and signed distances on a grid, both twice continuously
 * differentiable, with the gap between a point and what they stand for. docs/theory/contact.md, "Gaps". */
#ifndef BO_RIG_SPLINES_H
#define BO_RIG_SPLINES_H

#include "base/context.h"
#include "base/vec.h"

/* No gap grows by more than one metre a metre, so that no obstacle is nearer than its gap says. Gaps of planes, spheres,
 * capsules and boxes are the distances themselves. NAN coordinates give a gap of NAN. */
typedef struct bo_gap {
    double d;  /* m; below 0 inside */
    bo_vec3 n; /* dd/dx: a unit vector (planes, spheres, capsules, boxes), or no longer than one */
    bo_mat3 H; /* d2d/dx2, 1/m, symmetric to the last bit */
} bo_gap;

/* ---- splines: twice continuously differentiable ---- */

/* Heights over a rectangle of the plane x, y, interpolated by bicubic B-splines. Outside the rectangle the ground goes on
 * as it was at the rim, and is rounded off to a constant height within two cells. */
typedef struct bo_height_spline {
    int32_t columns, rows;
    double cell[2];         /* m; the middle of the rectangle is at the origin */
    double *coefficients;   /* (rows + 2) x (columns + 2), of the nodes and of one more all around */
    double steepest;        /* a bound on the slope, which divides the gap: gap = (z - h) / sqrt(1 + steepest^2) */
    double bend;            /* 1/m: a bound on the gap's second derivative in any direction */
    double lowest, highest; /* m: bounds on h */
} bo_height_spline;
/* heights: columns x rows of them, at least 2 x 2, heights[row columns + column]. Interpolates them; plane ground stays
 * plane. The caller frees it, also when it fails. */
bough_status bo_height_spline_make(bough_context *ctx, int32_t columns, int32_t rows, const double cell[2],
                                   const double *heights, bo_height_spline *spline);
void bo_height_spline_free(bough_context *ctx, bo_height_spline *spline);
void bo_gap_height(const bo_height_spline *spline, bo_vec3 x, bo_gap *gap);

/* Signed distances on a grid, interpolated by tricubic B-splines and divided by `steepest`, so that the gap grows by no
 * more than one metre a metre. Beyond the grid's box it is made of the gap G at the nearest point of the box and the way
 * e there: border + sqrt((G - border)^2 + e^2). That is continuous; n and H jump at the faces of the box. */
typedef struct bo_distance_grid {
    int32_t counts[3];    /* of nodes along each axis */
    double cell;          /* m, between neighbours */
    bo_vec3 origin;       /* m, where the first node is */
    double *coefficients; /* (counts + 2) of them along each axis, x fastest */
    double steepest;      /* a bound on the spline's slope, at least 1 */
    double bend;          /* 1/m: a bound on the gap's second derivative in any direction, within the box */
    double border; /* m: no more than 0 and than the gap on the faces of the box; 0 where the obstacle is well in it */
} bo_distance_grid;
/* Refuses grids with fewer than 2 nodes along an axis, with too many to be numbered, or with numbers that are not finite. */
bough_status bo_distance_grid_check(bough_context *ctx, const int32_t counts[3], double cell, bo_vec3 origin);
/* distances: one for each node, x fastest. The caller frees it, also when it fails. */
bough_status bo_distance_grid_make(bough_context *ctx, const int32_t counts[3], double cell, bo_vec3 origin,
                                   const double *distances, bo_distance_grid *grid);
void bo_distance_grid_free(bough_context *ctx, bo_distance_grid *grid);
void bo_gap_grid(const bo_distance_grid *grid, bo_vec3 x, bo_gap *gap);
/* The distance itself, as the spline has it: `steepest` times the gap within the box. It may grow by more than one metre a
 * metre. */
void bo_grid_distance(const bo_distance_grid *grid, bo_vec3 x, bo_gap *distance);
/* The same without the second derivatives, and the number alone, which cost less. */
void bo_grid_slope(const bo_distance_grid *grid, bo_vec3 x, bo_gap *distance);
double bo_grid_value(const bo_distance_grid *grid, bo_vec3 x);

/* Signed distances of the nodes of a grid from a closed surface of triangles, all counter-clockwise from outside (or all
 * clockwise): negative inside, by winding numbers, so that small holes do no harm. The same bits for any number of
 * threads. progress() of the context may cancel it. */
bough_status bo_distances_of_surface(bough_context *ctx, int32_t vertex_count, const double *vertices,
                                     int32_t triangle_count, const int32_t *triangles, const int32_t counts[3],
                                     double cell, bo_vec3 origin, double *distances);

/* The grid of distances around a closed surface: `cells` of them along its longest side, and four around it. The caller frees
 * it, also when it fails. nodes: NULL, or where the distances of its nodes go, which the caller frees, too. */
bough_status bo_distance_grid_around(bough_context *ctx, int32_t vertex_count, const double *vertices,
                                     int32_t triangle_count, const int32_t *triangles, int32_t cells,
                                     bo_distance_grid *grid, float **nodes);

/* Under which a point sees a triangle with these corners, as it sees them: positive from behind. Around a closed surface
 * they add up to 4 pi for points inside, to 0 outside. */
double bo_solid_angle(bo_vec3 a, bo_vec3 b, bo_vec3 c);

#endif
