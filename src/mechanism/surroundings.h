/* Inside view of surroundings. docs/theory/contact.md, "Among obstacles". */
#ifndef BO_MECHANISM_SURROUNDINGS_H
#define BO_MECHANISM_SURROUNDINGS_H

#include "rig/shape.h"
#include "contact/solve.h"
#include "contact/sweep.h"
#include "mechanism/mechanism.h"

/* Something with shapes: an end effector or the base, a body, an obstacle. */
typedef struct bo_place {
    bough_contact_kind kind;
    int32_t index;          /* of the end effector, link, body or obstacle */
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

/* The mechanism among the rest, whatever steps it. */
typedef struct bo_mover {
    void *data;
    const double *y;      /* size: rates at the end of the step without contact */
    const double *before; /* size: at its start */
    /* Pose and motion of an end effector or of the base (bo_place.index) at the start of the step. */
    void (*place)(const void *data, bo_place *place);
    /* The answer to impulses: size x size numbers, and what is none (bo_group.inverse and .least). It is asked for
     * where something meets. */
    bough_status (*answer)(void *data, const double **inverse, double *least);
} bo_mover;

struct bo_surroundings_work {
    bough_surroundings_def def; /* without its arrays */
    bool has_mechanism;
    int32_t end_effector_count, link_count, size; /* of the mechanism. size: of its y */
    int32_t place_count, thing_count;
    bo_place *places;
    bo_thing *things;
    bo_box *boxes; /* thing_count */
    bo_body *bodies;
    int32_t group_count;
    bo_group *groups; /* of the mechanism, where there is one, then of the bodies */
    double *numbers;  /* all motions, and the mechanism's y and impulse */
    double *own;      /* of what steps the mechanism; NULL: it needs nothing */
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

/* Surroundings of a mechanism with rates of this size, or of none (size -1). link_count 0: its links do not touch. */
bough_status bo_surroundings_make(bough_context *ctx, int32_t end_effector_count, int32_t link_count, int32_t size,
                                  const bough_surroundings_def *def, bough_surroundings **surroundings);
/* Room for what steps the mechanism; when there is none the surroundings are destroyed. */
bough_status bo_surroundings_reserve(bough_context *ctx, bough_surroundings **surroundings, size_t count);
/* A step of the bodies, and impulses between all; mover NULL: there is no mechanism. Impulses on the mechanism's rates
 * are then in work->impulse, those at the points in work->constraints. Bodies go on with bo_among_keep() only. */
bough_status bo_among_solve(bough_context *ctx, bough_surroundings *surroundings, const bo_mover *mover, double dt);
/* The same impulses again for other rates of the mechanism without contact, beginning with those found. */
bough_status bo_among_solve_again(bough_context *ctx, bough_surroundings *surroundings, const double *y, double dt);
void bo_among_keep(bough_surroundings *surroundings, double dt);
bough_status bo_among_check(bough_context *ctx, const bough_surroundings *surroundings, int32_t end_effector_count,
                            int32_t size, double dt);
/* The impulse at a meeting, on its first thing, N s in the world. */
bo_vec3 bo_among_impulse(const struct bo_surroundings_work *work, size_t meeting);

static inline void bo_put_column(double *motion, int32_t size, int32_t column, bo_vec3 velocity, bo_vec3 spin) {
    double x[6];
    bo_store3(x, velocity), bo_store3(x + 3, spin);
    for (int r = 0; r < 6; r++)
        motion[r * size + column] = x[r];
}

/* Between whom, and with which force; where it was is left open. */
static inline bough_contact bo_contact_of(const struct bo_surroundings_work *w, const bo_memory_of_impulse *kept,
                                          double dt) {
    const bo_place *p = &w->places[w->things[kept->a].place], *q = &w->places[w->things[kept->b].place];
    bough_contact c = {.kinds = {p->kind, q->kind}, .indices = {p->index, q->index}};
    bo_store3(c.force, bo_scale(1 / dt, kept->impulse));
    return c;
}

#endif
