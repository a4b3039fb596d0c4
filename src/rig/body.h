/* Checks of rigid bodies, and how messages name the things of a description. */
#ifndef BO_RIG_BODY_H
#define BO_RIG_BODY_H

#include "base/context.h"
#include "base/pose.h"

#include <bough/rig.h>

enum { BO_MOST_SHAPES = 100000 }; /* of one body or obstacle */

/* "link 3" or "link 3 (elbow)" */
typedef struct bo_label {
    char text[96];
} bo_label;
bo_label bo_label_of(const char *what, int32_t index, const char *name);

/* The body's label, also where it was not made by bough_default_rigid_body_def(). */
bo_label bo_rigid_body_label(const char *what, int32_t index, const bough_rigid_body_def *body);
/* Refuses, by its label, what is no rigid body. One that is held needs no mass and no inertia. Shapes are only counted:
 * bough_shape_create() checks each. */
bough_status bo_rigid_body_check(bough_context *ctx, const char *label, const bough_rigid_body_def *body, bool held);

bough_status bo_check_friction(bough_context *ctx, const char *label, double friction);
bough_status bo_check_shape_count(bough_context *ctx, const char *label, int32_t count, const bough_shape_def *shapes);

/* Symmetric to 1e-9 of its largest entry, and positive definite; n is 6 at most. */
bool bo_is_positive(int n, const double *A);

#endif
