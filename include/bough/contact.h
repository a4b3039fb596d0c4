/* Shapes that touch, and what they do to each other.
 *
 * A shape is convex (sphere, box, hull) or part of the ground (plane, height field), and lies somewhere in the frame of
 * what it belongs to: an obstacle, a rigid body, the end effector of a mechanism. SI units, matrices row-major.
 */
#ifndef BOUGH_CONTACT_H
#define BOUGH_CONTACT_H

#include <bough/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bough_shape_kind {
    BOUGH_SHAPE_PLANE,       /* all below z = 0 of its frame */
    BOUGH_SHAPE_SPHERE,      /* radius */
    BOUGH_SHAPE_BOX,         /* half */
    BOUGH_SHAPE_HULL,        /* the convex hull of points */
    BOUGH_SHAPE_HEIGHT_FIELD /* all below z = height(x, y), over a rectangle about the frame's origin */
} bough_shape_kind;

typedef struct bough_shape_def {
    uint32_t cookie;
    bough_shape_kind kind;
    bough_pose frame; /* in that of what it belongs to */
    double radius;    /* m */
    double half[3];   /* m: half its edges */
    int32_t point_count;
    const double *points;  /* 3 point_count, m */
    int32_t columns, rows; /* of the heights, 2 at least: along x and y */
    double cell[2];        /* m: from one to the next */
    const double *heights; /* rows x columns, m */
} bough_shape_def;
BOUGH_API bough_shape_def bough_default_shape_def(void); /* a sphere of radius 0.1 m */

typedef struct bough_shape bough_shape;
/* Checks and copies everything; of a hull the faces are found. */
BOUGH_API bough_status bough_shape_create(bough_context *ctx, const bough_shape_def *def, bough_shape **shape);
BOUGH_API void bough_shape_destroy(bough_context *ctx, bough_shape *shape);

/* What a box, a hull or a height field looks like, in the frame of what it belongs to. */
typedef struct bough_shape_surface {
    int32_t vertex_count, triangle_count;
    double *vertices;   /* 3 vertex_count */
    int32_t *triangles; /* 3 triangle_count, counter-clockwise seen from outside */
} bough_shape_surface;
BOUGH_API bough_status bough_shape_surface_create(bough_context *ctx, const bough_shape *shape,
                                                  bough_shape_surface *surface);
BOUGH_API void bough_shape_surface_destroy(bough_context *ctx, bough_shape_surface *surface);

/* Of shapes filled with a material, in the frame of what they belong to. Where two overlap both count. */
typedef struct bough_shapes_mass {
    double mass;       /* kg */
    double centre[3];  /* m */
    double inertia[9]; /* kg m^2: about the centre of mass */
} bough_shapes_mass;
/* density in kg/m^3. The ground (planes, height fields) has no mass and is refused. */
BOUGH_API bough_status bough_shapes_weigh(bough_context *ctx, int32_t count, const bough_shape_def *shapes,
                                          double density, bough_shapes_mass *mass);

/* ---- where two shapes touch ---- */

typedef struct bough_touching {
    double on_a[3], on_b[3]; /* in the world */
    double normal[3];        /* unit, from b to a */
    double gap;              /* m: (on_a - on_b) . normal; below 0 they overlap */
    uint32_t feature;        /* of the corners, edges and faces that touch: stays while they do */
} bough_touching;

enum { BOUGH_MOST_TOUCHING = 8 };

/* Points where two shapes are nearer than `margin`, at most BOUGH_MOST_TOUCHING; returns how many. at_a, at_b: where
 * that is what they belong to. Between two parts of the ground there are none. */
BOUGH_API int32_t bough_shapes_touch(const bough_shape *a, const bough_pose *at_a, const bough_shape *b,
                                     const bough_pose *at_b, double margin, bough_touching points[BOUGH_MOST_TOUCHING]);

#ifdef __cplusplus
}
#endif

#endif
