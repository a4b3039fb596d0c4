/* Inside view of the engine of mechanisms. */
#ifndef BO_RUN_MECHANISM_ENGINE_H
#define BO_RUN_MECHANISM_ENGINE_H

#include "run/linkage.h"

/* A force that acts in a step and has no potential. */
typedef struct bo_mechanism_push {
    bo_scene_spot spot;
    bo_vec3 force, torque; /* in the axes of the world */
    bo_se3 start;          /* of what it acts on, when the step begins */
} bo_mechanism_push;

typedef struct mechanism_engine {
    bo_linkage l;
    double time;
    bool placed, moved;        /* the linkage's poses, its twists are those of its state */
    const bo_hands *hands;     /* NULL: none */
    double *before;            /* a state of the linkage, for trying */
    bo_mechanism_push *pushes; /* of the step */
    int32_t push_count;
    double motor_work;            /* J, of the step */
    double work;                  /* J, so far */
    bough_run_gap gap, worst_gap; /* of the joints: when it was measured last, and the largest */
    bool warned;                  /* that it is large */
    /* What is shown, from bo_mechanism_make_surface() on: */
    bough_run_rigid *rigids;
    int32_t *first; /* of the rigids, and one more: their first vertices in all */
    bough_mesh *surface;
    double *displacement, *velocity;
} mechanism_engine;

/* Where a rigid is, and its twist in its own axes. */
bo_se3 bo_mechanism_rigid(mechanism_engine *e, int32_t rigid, bo_twist *twist);

/* linkage_watch.c: measures how far joints are apart where the links were placed, and warns once. */
void bo_linkage_watch(mechanism_engine *e, double t);

/* All energies; external: gravity and steady forces, 0 at the reference pose. */
void bo_mechanism_energies(mechanism_engine *e, double *kinetic, double *elastic, double *external);

/* mechanism_work.c: the account of a step. The forces that act in it, once links are placed; what motors do at its
 * start, when they are driven to where they are at its end; and the sum, when it has succeeded. */
bough_status bo_mechanism_make_account(mechanism_engine *e);
void bo_mechanism_free_account(mechanism_engine *e);
void bo_mechanism_note_push(mechanism_engine *e, const bo_scene_spot *spot, bo_vec3 force, bo_vec3 torque);
void bo_mechanism_note_motors(mechanism_engine *e, void (*drive)(mechanism_engine *e, double t), double t);
void bo_mechanism_count_work(mechanism_engine *e);

/* mechanism_surface.c */
bough_status bo_mechanism_make_surface(bo_engine *engine);
bough_status bo_mechanism_show(void *data);
void bo_mechanism_free_surface(mechanism_engine *e);
/* A vertex of a rigid, in its frame; its surface has been made. */
void bo_linkage_vertex(const mechanism_engine *e, int32_t rigid, int32_t vertex, double x[3]);

#endif
