/* Roots that are led: a pose over time from keys. docs/theory/tree.md, "Tracks". */
#ifndef BO_TREE_TRACK_H
#define BO_TREE_TRACK_H

#include "base/context.h"
#include "base/vec.h"

#include <bough/tree.h>

/* In world axes. */
typedef struct bo_track_pose {
    bo_vec3 position;
    bo_mat3 rotation;
    bo_vec3 velocity, angular_velocity;
    bo_vec3 acceleration, angular_acceleration;
} bo_track_pose;

typedef struct bo_spline bo_spline;

/* The track of a part, if it has one: on a root that is held, with times and quaternions that can be. */
bough_status bo_track_check(bough_context *ctx, const char *name, const bough_part_def *part,
                            const bough_component *component);
/* Checks, and computes all coefficients; the keys are not needed afterwards. */
bough_status bo_track_make(bough_context *ctx, const bough_track *track, bo_spline **spline);
void bo_track_free(bough_context *ctx, bo_spline *spline);
/* Before the first key and after the last: their poses, at rest. */
void bo_track_at(const bo_spline *spline, double t, bo_track_pose *pose);

/* The splines of all parts of a model that have tracks. */
bough_status bo_tree_make_tracks(bough_context *ctx, bough_tree_model *model);
/* They lead the roots that are held, as these are laid out now. */
void bo_tree_lay_tracks(bough_tree_model *model);
void bo_tree_free_tracks(bough_context *ctx, bough_tree_model *model);

#endif
