/* The gap between a point and an obstacle, with first and second derivatives: barriers are functions of it.
 * docs/theory/contact.md, "Gaps". */
#ifndef BO_CONTACT_GAP_H
#define BO_CONTACT_GAP_H

#include "base/context.h"
#include "base/pose.h"

#include <bough/contact.h>

/* No gap grows by more than one metre a metre, so that no obstacle is nearer than its gap says. Gaps of planes, spheres,
 * capsules and boxes are the distances themselves. NAN coordinates give a gap of NAN. */
typedef struct bo_gap {
    double d;  /* m; below 0 inside */
    bo_vec3 n; /* dd/dx: a unit vector (planes, spheres, capsules, boxes), or no longer than one */
    bo_mat3 H; /* d2d/dx2, 1/m, symmetric to the last bit */
} bo_gap;

/* ---- obstacles without memory, in their own axes ---- */

/* Kinks, where n jumps, are inside only: the middle of a sphere, the axis of a capsule, where two faces of a box are
 * equally near. One of the possible n is taken there. H of capsules and boxes jumps between their regions outside, too. */
void bo_gap_plane(bo_vec3 x, bo_gap *gap);                               /* z = 0, solid below */
void bo_gap_sphere(double radius, bo_vec3 x, bo_gap *gap);               /* about the origin */
void bo_gap_capsule(double radius, double half, bo_vec3 x, bo_gap *gap); /* its axis goes from -half to half along z */
void bo_gap_box(bo_vec3 half, bo_vec3 x, bo_gap *gap);

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

/* Signed distances of the nodes of a grid from a closed surface of triangles, all counter-clockwise from outside (or all
 * clockwise): negative inside, by winding numbers, so that small holes do no harm. The same bits for any number of
 * threads. progress() of the context may cancel it. */
bough_status bo_distances_of_surface(bough_context *ctx, int32_t vertex_count, const double *vertices,
                                     int32_t triangle_count, const int32_t *triangles, const int32_t counts[3],
                                     double cell, bo_vec3 origin, double *distances);

/* Under which a point sees a triangle with these corners, as it sees them: positive from behind. Around a closed surface
 * they add up to 4 pi for points inside, to 0 outside. */
double bo_solid_angle(bo_vec3 a, bo_vec3 b, bo_vec3 c);

/* ---- any of them, placed ---- */

typedef enum bo_obstacle_kind {
    BO_OBSTACLE_PLANE,
    BO_OBSTACLE_SPHERE,
    BO_OBSTACLE_CAPSULE,
    BO_OBSTACLE_BOX,
    BO_OBSTACLE_HEIGHT,
    BO_OBSTACLE_GRID
} bo_obstacle_kind;

typedef struct bo_obstacle {
    bo_obstacle_kind kind;
    bo_se3 pose;                    /* of its axes in the world */
    double radius;                  /* m, of spheres and capsules */
    double half;                    /* m, half the length of a capsule's axis */
    bo_vec3 halves;                 /* m, half the edges of a box */
    const bo_height_spline *height; /* belong to somebody else */
    const bo_distance_grid *grid;
} bo_obstacle;
void bo_obstacle_gap(const bo_obstacle *obstacle, bo_vec3 x, bo_gap *gap); /* in the world */
double bo_obstacle_distance(const bo_obstacle *obstacle, bo_vec3 x);       /* the gap alone, which costs less */

/* A plane, a sphere, a capsule or a box as an obstacle, in the frame of what it belongs to; false: another kind of shape,
 * which takes preparation. The def was checked. */
bool bo_obstacle_of_shape(const bough_shape_def *def, bo_obstacle *obstacle);
/* Refuses, by its name or number, what is no obstacle, shapes aside. */
bough_status bo_obstacle_check(bough_context *ctx, const bough_obstacle_def *obstacle, int32_t i);

/* An obstacle as engines know it. */
typedef struct bo_touch_obstacle {
    const char *name;  /* for messages; NULL: none */
    bo_obstacle shape; /* at rest where its pose is */
    double friction;
    int32_t thing; /* by which contacts name it */
    /* Its pose at a time; NULL: it does not move. */
    bo_se3 (*pose)(const void *data, double t);
    const void *pose_data;
} bo_touch_obstacle;

/* Conservative: the largest t <= 1 such that the gap of x + s p, 0 <= s <= t, stays above `keep` (0 to 1) of what it is
 * at x (but for rounding), or a little less; never so much that the obstacle could be passed. 0 where x is in the
 * obstacle, and where a number is not finite. The obstacle itself moves from its pose to `to` meanwhile (its origin in a
 * straight line, turning steadily the shorter way); NULL: it stays. */
double bo_obstacle_reach(const bo_obstacle *obstacle, const bo_se3 *to, bo_vec3 x, bo_vec3 p, double keep);

#endif
