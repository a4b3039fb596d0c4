/* Where shapes of <bough/rig.h> touch. SI units, matrices row-major. */
#ifndef BOUGH_CONTACT_H
#define BOUGH_CONTACT_H

#include <bough/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

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
