/* Contact of a full-order body as programs describe it, prepared for steps. */
#ifndef BO_FEM_TOUCH_DEF_H
#define BO_FEM_TOUCH_DEF_H

#include "fem/touch.h"

/* A shape of an obstacle, and what it was made into. */
typedef struct bo_made_shape {
    const bough_body_touch *touch;
    int32_t obstacle;
    bo_se3 frame; /* in its obstacle */
    bo_height_spline height;
    bough_shape_mesh *mesh; /* of a hull; NULL: none was made */
} bo_made_shape;

struct bough_body_touch {
    bo_touch_def def; /* its obstacles are `touched` */
    int32_t obstacle_count, shape_count;
    char **names; /* obstacle_count; NULL: it has none */
    bough_pose *poses;
    bo_made_shape *shapes;
    bo_touch_obstacle *touched;
    bough_obstacle_lead lead;
    void *lead_data;
};

/* Fails with BOUGH_ERROR_ARGUMENT where an obstacle is led to no pose at t, by its name. */
bough_status bo_body_touch_check_leads(bough_context *ctx, const bough_body_touch *touch, double t);

#endif
