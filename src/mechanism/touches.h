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
    double *own;     /* zeros to begin with, for the actor that has these touches */
} bo_touches;

typedef struct bo_touches_def {
    int32_t end_effector_count;
    int32_t link_count;     /* 0: links do not touch */
    int32_t size, own_size; /* of the rates; of bo_touches.own */
    int32_t touch_count;
    const bough_touch_def *touches;
} bo_touches_def;
/* Makes an actor. data begins with bo_touches, all zero bytes, and is the actor's from then on; where this fails it is
 * freed. NULL: there was no memory for it, and this fails with that. */
bough_status bo_touches_make(bough_context *ctx, const bo_touches_def *def, const bough_contact_table *table,
                             void *data, bough_contact_actor *actor);
/* bough_contact_table.destroy */
void bo_touches_destroy(bough_context *ctx, void *data);

/* Puts a free base's twist (base_size 6; else it is held: 0) in its axes into the first columns of a place's motion. */
void bo_touches_move_with_base(bo_se3 base, int32_t base_size, int32_t size, bo_touch_place *place);
/* Says how a place moves by y, once its pose and motion are known. */
void bo_touches_tell(const bo_touches *touches, int32_t place, bough_contact_motion *motion);
/* bough_contact_table.rows */
void bo_touches_rows(const void *data, int32_t place, const double position[3], const double directions[9], double sign,
                     double *rows);

#endif
