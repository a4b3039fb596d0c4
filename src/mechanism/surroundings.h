/* Inside view of surroundings. docs/theory/contact.md, "Among obstacles". */
#ifndef BO_MECHANISM_SURROUNDINGS_H
#define BO_MECHANISM_SURROUNDINGS_H

#include "contact/shape.h"
#include "contact/solve.h"
#include "contact/sweep.h"
#include "mechanism/mechanism.h"

/* Something with shapes: an end effector or the base, a body, an obstacle. */
typedef struct bo_place {
    bough_contact_kind kind;
    int32_t index;          /* of the end effector, body or obstacle */
    int32_t group;          /* -1: does not move */
    bo_se3 pose;            /* in the world */
    double *motion;         /* 6 x size of its group: velocity of its origin, then spin, in the world, by the rates */
    bo_vec3 velocity, spin; /* without contact */
} bo_place;

/* A shape, and whose. */
typedef struct bo_thing {
    bough_shape *shape;
    int32_t place;
    double friction, restitution;
    double reach; /* m: that it moves in the step */
} bo_thing;

typedef struct bo_body {
    double mass;
    bo_mat3 inertia, inverse_inertia;
    double inverse[36]; /* of (mass; inertia), for rates (velocity in the world; spin in its axes) */
    double y[6], before[6], impulse[6];
    bo_vec3 momentum; /* angular, in its axes at the start of the step, without contact */
    bough_rigid_body next;
} bo_body;

/* Two things at a point. */
typedef struct bo_meeting {
    int32_t a, b; /* things */
    uint32_t feature;
    bo_vec3 position, normal, tangents[2];
    double gap;
} bo_meeting;

/* An impulse of the last step, to begin with. */
typedef struct bo_memory_of_impulse {
    int32_t a, b;
    uint32_t feature;
    bo_vec3 impulse; /* in the world, on a */
} bo_memory_of_impulse;

struct bo_surroundings_work {
    bough_surroundings_def def;             /* without its arrays */
    int32_t end_effector_count, rank, size; /* of the model; 0: none. size: of its y */
    int32_t place_count, thing_count;
    bo_place *places;
    bo_thing *things;
    bo_box *boxes; /* thing_count */
    bo_body *bodies;
    int32_t group_count;
    bo_group *groups; /* of the mechanism, where there is one, then of the bodies */
    double *numbers;  /* all motions, and the mechanism's y and impulse */
    double *y, *impulse;
    bo_sweep sweep;
    size_t meeting_count, meeting_capacity, constraint_capacity, row_capacity, answer_capacity, contact_capacity;
    bo_meeting *meetings;
    bo_constraint *constraints;
    double *rows, *answers;
    size_t kept_count, kept_capacity;
    bo_memory_of_impulse *kept; /* ascending by a, b */
    double kept_dt;             /* of the step that they are of */
};

/* Between whom, and with which force; where it was is left open. */
static inline bough_contact bo_contact_of(const struct bo_surroundings_work *w, const bo_memory_of_impulse *kept,
                                          double dt) {
    const bo_place *p = &w->places[w->things[kept->a].place], *q = &w->places[w->things[kept->b].place];
    bough_contact c = {.kinds = {p->kind, q->kind}, .indices = {p->index, q->index}};
    bo_store3(c.force, bo_scale(1 / dt, kept->impulse));
    return c;
}

#endif
