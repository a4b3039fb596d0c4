/* Samples of a part near planes and solids: most cannot touch in a step, and are told apart before the part is bent.
 * docs/theory/tree.md, "Contact". */
#ifndef BO_TREE_TOUCH_PLANES_H
#define BO_TREE_TOUCH_PLANES_H

#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

/* A plane as a part has it. From a place y, in the part's axes and the component's size, it is `height` + `up` . y away,
 * and the part's frame carries y away from it at `rise` + `turn` . y. */
typedef struct bo_tree_plane {
    double within; /* m: nothing that is further away touches */
    double height, rise;
    bo_vec3 up, turn;
    double slack; /* m/s: by which samples may go away slower than that, since the part bends and the plane moves */
} bo_tree_plane;

/* A sphere around a thing: places of a part that are further than `within` from its centre, both in the part's axes and
 * the component's size, are too far away from the thing. */
typedef struct bo_tree_ball {
    bo_vec3 centre;
    double within;
} bo_tree_ball;

/* Planes, and what touches them in a step of length dt: what is nearer than `margin`, or nearer than `reach` where it is
 * led in the step after. And balls. */
typedef struct bo_tree_planes {
    int32_t count, ball_count;
    const bo_tree_plane *planes;
    const bo_tree_ball *balls;
    double dt, reach, margin;
    double scale; /* of the part */
} bo_tree_planes;

/* No sample within `around` (m) of a place touches one of them. */
bool bo_tree_planes_clear(const bo_tree_planes *all, const double *place, double around);
/* The same of each of `count` places (a multiple of four; all x, all y, all z): close, where that is not so. */
void bo_tree_planes_look(const bo_tree_planes *all, size_t count, const double *places, double around, bool *close);

#endif
