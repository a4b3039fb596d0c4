#ifndef BO_RETARGET_CURVES_H
#define BO_RETARGET_CURVES_H

#include "rig/bspline.h"

#include <bough/retarget.h>

/* All curves of one set have the same shape. */
static inline bo_bspline bo_curves_shape(const bough_motor_curves *c) {
    return (bo_bspline){c->degree, c->point_count, c->start, c->duration};
}

#endif
