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

#ifdef __cplusplus
}
#endif

#endif
