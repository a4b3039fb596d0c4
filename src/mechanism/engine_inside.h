/* Inside view of the engine of mechanisms. */
#ifndef BO_MECHANISM_ENGINE_INSIDE_H
#define BO_MECHANISM_ENGINE_INSIDE_H

#include "mechanism/engine_linkage.h"

/* A force that acts in a step and has no potential. */
typedef struct bo_mechanism_push {
    bo_spot spot;
    bo_vec3 force, torque; /* in the axes of the world */
    bo_se3 start;          /* of what it acts on, when the step begins */
} bo_mechanism_push;

typedef struct mechanism_engine {
    bo_linkage l;
    double time;
    bool placed, moved;        /* the linkage's poses, its twists are those of its state */
    const bo_hands *hands;     /* NULL: none */
    double *before;            /* a state of the linkage, for trying */
    double *loads;             /* its loads, likewise */
    bo_mechanism_push *pushes; /* of the step */
    int32_t push_count;
    double motor_work;            /* J, of the step */
    double work;                  /* J, so far */
    bough_run_gap gap, worst_gap; /* of the joints: when it was measured last, and the largest */
    bool warned;                  /* that it is large */
    /* ---- what is shown, from bo_mechanism_gather() on: links, free bodies, obstacles ---- */
    bough_thing *things;
    bough_look *looks;
    int32_t look_count;
} mechanism_engine;

/* Returns the pose of a rigid, and its twist in its own axes. */
bo_se3 bo_mechanism_rigid(mechanism_engine *e, int32_t rigid, bo_twist *twist);

/* engine_watch.c: measures how far joints are apart where the links were placed, and warns once. */
void bo_linkage_watch(mechanism_engine *e, double t);

/* All energies; external: gravity and steady forces, 0 at the reference pose. */
void bo_mechanism_energies(mechanism_engine *e, double *kinetic, double *elastic, double *external);

/* engine_work.c: the account of a step. The forces that act in it, once links are placed; what motors do at its
 * start, when they are driven to where they are at its end; and the sum, when it has succeeded. */
bough_status bo_mechanism_make_account(mechanism_engine *e);
void bo_mechanism_free_account(mechanism_engine *e);
void bo_mechanism_note_push(mechanism_engine *e, const bo_spot *spot, bo_vec3 force, bo_vec3 torque);
void bo_mechanism_note_motors(mechanism_engine *e, void (*drive)(mechanism_engine *e, double t), double t);
void bo_mechanism_count_work(mechanism_engine *e);

/* engine_rest.c: equilibria with contact. load: places the links, and applies what acts steadily; before: of the links.
 * *residual: the acceleration that is left, as a part of gravity. */
bool bo_mechanism_can_rest(const mechanism_engine *e);
bough_status bo_mechanism_rest(mechanism_engine *e, void (*load)(mechanism_engine *e), bough_pose *before,
                               double *residual);

/* ---- engine_surface.c: links, free bodies and obstacles as things ---- */

bough_status bo_mechanism_gather(bo_engine *engine);
void bo_mechanism_look_at(void *data, int32_t thing, bough_thing_state *state);
void bo_mechanism_feel(void *data, int32_t thing, double *mass, double *frequency);
void bo_mechanism_drop_surface(mechanism_engine *e);
/* A vertex of a thing, in its frame; things have been gathered. */
void bo_mechanism_vertex(const mechanism_engine *e, int32_t thing, int32_t vertex, double x[3]);

#endif
