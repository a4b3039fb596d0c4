/* Inside of retargeting: a scene with its animation, targets, and curves that are searched. docs/retarget.md. */
#ifndef BO_RETARGET_RETARGET_H
#define BO_RETARGET_RETARGET_H

#include "multibody/engine_inside.h"
#include "retarget/curves.h"
#include "scene/multibody_scene.h"

#include <bough/retarget.h>

struct bough_retarget {
    const bough_scene *scene;
    const bo_multibody_scene *content;
    const bo_retarget_plan *plan;
    bough_retarget_def def;
    bo_engine engine; /* the robot as it is planned with, settled */
    const bough_multibody *model;
    int32_t motor_count, frame_count, step_count;
    double dt;
    bo_retarget_track *tracks; /* frame_count; names belong to the scene */
    const char **motor_names, **frame_names;
    bool *slides;      /* of motors */
    double *weights;   /* frame_count x (step_count + 1) */
    double *input;     /* motor_count x (step_count + 1): the animation */
    bool *pauses;      /* step_count + 1 */
    int32_t last_move; /* the last step at which the animation moves; -1: it never does */
    bough_motion *target;
    bough_multibody_path path; /* of the targets */
    bough_motor_curves *first, *curves;
    double *lower, *upper; /* bounds of the points */
    bough_search_kind search;
    double first_value, value;
    int32_t iterations, gradients;
    bool converged;
    int64_t bytes;
};

static inline const multibody_engine *bo_retarget_engine(const bough_retarget *r) {
    return r->engine.data;
}
/* Samples of one motor or frame. */
static inline size_t bo_retarget_samples(const bough_retarget *r) {
    return (size_t)r->step_count + 1;
}

/* motion.c */
bough_status bo_motion_make(bough_context *ctx, const bough_retarget *r, bough_motion **motion);

#endif
