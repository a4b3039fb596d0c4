/* Inside view of a contact world. docs/theory/contact.md, "The world". */
#ifndef BO_CONTACT_WORLD_H
#define BO_CONTACT_WORLD_H

#include "contact/islands.h"
#include "contact/sweep.h"
#include "rig/shape.h"

#include <bough/contact.h>

/* Something with shapes: a place of an actor, a body, an obstacle. Those that move come first. */
typedef struct bo_place {
    bough_contact_side side;
    int32_t number;         /* of the actor's place; of others 0 */
    int32_t group;          /* -1: an obstacle, which is moved by others or not at all */
    uint32_t groups, mask;  /* bits of its filter */
    bo_se3 pose;            /* in the world */
    bo_vec3 velocity, spin; /* without contact; of an obstacle: by which it is moved */
    bo_vec3 centre;         /* of a sphere around its points, if it has some */
    double radius, speed;   /* of that; of the fastest point */
} bo_place;

/* A shape, or points of a surface, and whose. */
typedef struct bo_thing {
    bough_shape *shape; /* NULL: points */
    int32_t place;
    int32_t point_count; /* 0: a shape */
    size_t points;       /* where those begin among the world's */
    bool solid;          /* points of others touch the surface between its points */
    bool looked;         /* the points of this step are there */
    double friction, restitution;
    double reach;  /* m: that it moves in the step */
    double radius; /* m: of a sphere around it */
} bo_thing;

/* A free rigid body in a step. */
typedef struct bo_body {
    double mass;
    bo_mat3 inertia, inverse_inertia;
    double inverse[36]; /* of (mass; inertia), for rates (velocity in the world; spin in its axes) */
    double motion[36];  /* 6 x 6: velocity and spin in the world, by the rates */
    double y[6], before[6], impulse[6];
    double start[6];  /* mass times velocity, inertia times spin, at the start of the step */
    bo_vec3 momentum; /* angular, in its axes at the start of the step, without contact */
    bough_rigid_body next;
} bo_body;

/* Two things at a point. */
typedef struct bo_meeting {
    int32_t a, b;      /* things */
    int32_t points[2]; /* of things that are points: which; else -1 */
    int32_t near;      /* of the world's: the place of the side that has no point here; -1: none */
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

/* An actor in a step. Its group has the same number. */
typedef struct bo_actor {
    const bough_contact_table *table;
    void *data;
    int32_t most_rates;
    bool touches_itself;
    double *y, *without, *impulse; /* most_rates: rates, those without contact, and what contacts do */
    size_t row, end;               /* numbers of the world's rows that are its own */
    int32_t push_count;            /* in this step */
} bo_actor;

struct bo_contact_world_work {
    bough_contact_world_def def; /* without its arrays */
    int32_t actor_count, place_count, thing_count, group_count;
    bo_actor *actors;
    bo_place *places;
    bo_thing *things;
    bo_box *boxes; /* thing_count */
    bo_body *bodies;
    bo_group *groups; /* of the actors, then of the bodies */
    double *numbers;  /* rates and impulses of the actors */
    size_t point_count;
    double *positions, *velocities; /* of all points: 3 each */
    size_t ignored_count, ignored_capacity;
    uint64_t *ignored; /* (place << 32) + place, the smaller first; ascending */
    bo_sweep sweep;
    bo_islands islands;
    size_t meeting_count, meeting_capacity, constraint_capacity, row_capacity, answer_capacity, contact_capacity,
        push_capacity;
    bo_meeting *meetings;
    size_t near_count, near_capacity;
    bough_contact_near *nears;
    bo_constraint *constraints;
    double *rows, *answers;     /* of the actors, one after the other; then of the bodies, as constraints need them */
    bough_contact_push *pushes; /* of one actor */
    size_t kept_count, kept_capacity;
    bo_memory_of_impulse *kept; /* ascending by a, b */
    double kept_dt;             /* of the step that they are of */
};

/* A world with all of its inside; the part that is seen comes first. */
typedef struct bo_contact_world {
    bough_contact_world seen;
    struct bo_contact_world_work work;
} bo_contact_world;
static inline struct bo_contact_world_work *bo_world_work(const bough_contact_world *world) {
    return &((bo_contact_world *)(uintptr_t)world)->work;
}

/* Returns how far a place that moves carries a sphere of its own around x in a step. */
static inline double bo_place_reach(const bo_place *place, bo_vec3 x, double radius, double dt) {
    const bo_vec3 v = bo_add(place->velocity, bo_cross(place->spin, bo_sub(x, place->pose.t)));
    const double turn = bo_norm(place->spin);
    return dt * (bo_norm(v) + (turn > 0 ? turn * radius : 0));
}

/* bodies.c: where free bodies go. docs/theory/contact.md, "Bodies". */
void bo_body_make(const bough_rigid_body_def *def, bo_body *body, bough_rigid_body *now);
/* Rates without contact, and the motion by them. */
void bo_bodies_predict(bough_contact_world *world, double dt);
/* Finds the states after the impulses, in bo_body.next; false where they are not finite. */
bool bo_bodies_move(bough_contact_world *world, double dt);

/* meet.c: what may touch, and the points where it does. */
bough_status bo_world_meet(bough_context *ctx, struct bo_contact_world_work *work, double dt);
/* Adds a point; false: there is no memory. points: as in bo_meeting. part: how far it lies towards b, as a part of the
 * gap. It is no place of a solid surface (near = -1). */
bool bo_world_add_meeting(bough_context *ctx, struct bo_contact_world_work *work, int32_t a, int32_t b,
                          const int32_t points[2], double part, const bough_touching *at);

/* Returns how far a plane that is led comes towards something in the box of another thing; 0 for others, which have a
 * reach of their own. */
double bo_world_reach_of_plane(const struct bo_contact_world_work *work, int32_t plane, int32_t other, double dt);

/* points.c: things that are points of a surface. */
void bo_points_box(const struct bo_contact_world_work *work, double dt, bo_thing *thing, bo_box *box);
/* Adds the meetings of two things of which one is points, the other a shape, or solid. */
bough_status bo_points_meet(bough_context *ctx, struct bo_contact_world_work *work, int32_t a, int32_t b, double dt);

/* -1: there is no such place. */
int32_t bo_world_find_place(const struct bo_contact_world_work *work, bough_contact_side side);

/* A contact with its sides and its force; its position, normal and gap are left open. */
static inline bough_contact bo_contact_of(const struct bo_contact_world_work *w, const bo_memory_of_impulse *kept,
                                          double dt) {
    const bo_place *p = &w->places[w->things[kept->a].place], *q = &w->places[w->things[kept->b].place];
    bough_contact c = {.sides = {p->side, q->side}};
    bo_store3(c.force, bo_scale(1 / dt, kept->impulse));
    return c;
}

/* Returns a free body that an obstacle, where it is now, reaches into by more than a hundredth of the smaller one's
 * radius; -1: none. *depth: by so much, m. */
int32_t bo_world_body_around(const bough_contact_world *world, int32_t obstacle, double *depth);

#endif
