/* The gap between a point and an obstacle, with first and second derivatives: barriers are functions of it.
 * docs/theory/contact.md, "Gaps". */
#ifndef BO_CONTACT_GAP_H
#define BO_CONTACT_GAP_H

#include "base/pose.h"
#include "rig/splines.h"

#include <bough/contact.h>

/* ---- obstacles without memory, in their own axes ---- */

/* Kinks, where n jumps, are inside only: the middle of a sphere, the axis of a capsule, where two faces of a box are
 * equally near. One of the possible n is taken there. H of capsules and boxes jumps between their regions outside, too. */
void bo_gap_plane(bo_vec3 x, bo_gap *gap);                               /* z = 0, solid below */
void bo_gap_sphere(double radius, bo_vec3 x, bo_gap *gap);               /* about the origin */
void bo_gap_capsule(double radius, double half, bo_vec3 x, bo_gap *gap); /* its axis goes from -half to half along z */
void bo_gap_box(bo_vec3 half, bo_vec3 x, bo_gap *gap);

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
/* The distance as far as it is known, m: of heights and grids, whose gaps are smaller, to first order. *n (unless NULL): the
 * unit normal of the surface there. */
double bo_obstacle_near(const bo_obstacle *obstacle, bo_vec3 x, bo_vec3 *n);

/* A place on the surface of a ball that is nearer to the obstacle of a grid than all places around it. In the grid's axes. */
typedef struct bo_ball_place {
    bo_vec3 out;     /* unit: from there to the middle of the ball */
    double gap;      /* m: the distance there, not the gap */
    int32_t feature; /* stays while the ball rolls a little; below 16 */
} bo_ball_place;
enum { BO_MOST_BALL_PLACES = 8 };
/* All such places that are nearer than `within`, but for some of more than eight. radius 0: the point itself. The gap of the
 * middle less the radius would be too small where the ball is large, and in a corner there is more than one place. */
int32_t bo_ball_on_grid(const bo_distance_grid *grid, bo_vec3 centre, double radius, double within,
                        bo_ball_place places[BO_MOST_BALL_PLACES]);

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
