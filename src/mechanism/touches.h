/* The common part of the mechanisms' actors in a contact world: places with shapes, and how they move.
 * docs/theory/contact.md, "Mechanisms". */
#ifndef BO_MECHANISM_TOUCHES_H
#define BO_MECHANISM_TOUCHES_H

#include "mechanism/mechanism.h"

#include <bough/contact.h>

/* An end effector, a link, or the base: end effector BOUGH_TOUCH_BY_BASE. */
typedef struct bo_touch_place {
    bough_contact_place_def def;
    bo_se3 pose;    /* at the start of the step */
    double *motion; /* 6 x size: velocity of its origin, then spin, in the world, by the rates */
} bo_touch_place;

/* First member of an actor's data. */
typedef struct bo_touches {
    int32_t size, place_count, shape_count; /* size: of the rates */
    const double *y;                        /* size: rates without contact, in a step */
    bo_touch_place *places;
    bough_contact_place_def *defs; /* place_count */
    bough_contact_shape_def *shapes;
    double *numbers; /* all motions */
} bo_touches;

/* link_count 0: links do not touch. To be freed, also when it fails. */
bough_status bo_touches_make(bough_context *ctx, int32_t end_effector_count, int32_t link_count, int32_t size,
                             int32_t touch_count, const bough_touch_def *defs, bo_touches *touches);
void bo_touches_free(bough_context *ctx, bo_touches *touches);

/* Describes the actor, whose data begins with `touches`. */
void bo_touches_describe(const bough_contact_table *table, bo_touches *touches, bough_contact_actor *actor);
/* Says how a place moves by y, once its pose and motion are known. */
void bo_touches_tell(const bo_touches *touches, int32_t place, bough_contact_motion *motion);
/* bough_contact_table.rows */
void bo_touches_rows(const void *data, int32_t place, const double position[3], const double directions[9], double sign,
                     double *rows);

#endif
