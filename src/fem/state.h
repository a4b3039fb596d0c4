/* The motion of a full-order body: steps with and without contact, equilibria, work. Programs hold one by <bough/fem.h>,
 * and the engine stands on one. */
#ifndef BO_FEM_STATE_H
#define BO_FEM_STATE_H

#include "fem/drive.h"
#include "fem/overlap.h"
#include "fem/system.h"
#include "time/integrator.h"

typedef struct bo_body_state_plan {
    const bough_body *body;
    const bough_load_case *load_case; /* NULL: nothing holds it or acts */
    const bo_drive *drive;            /* NULL: nothing changes with time */
    const double *u, *v;              /* 3 vertex_count, at the start; NULL: zeros */
    const bo_touch_def *touch;        /* NULL: it touches nothing */
    int32_t piece_count;              /* of its bodies, for messages; 0: it is one */
    const bo_body_piece *pieces;
    bough_integrator_def integrator;
    double dt;           /* s, of the steps to come; 0: not known */
    bool settle;         /* starts in an equilibrium */
    int32_t most_pushes; /* of bo_body_state_push() */
} bo_body_state_plan;

typedef struct bo_body_state {
    bough_body_state seen; /* by programs; first */
    bough_context *ctx;
    bo_body_state_plan plan;
    const bough_body_touch *made; /* what programs call the contact; NULL: none, or the engine's */
    const bough_load_case *load_case;
    bo_system system;
    bo_integrator *integrator;
    bo_motion motion;
    bo_touch *touch;        /* NULL: it touches nothing */
    double *before;         /* the state before a step, for friction that is measured twice */
    double *middle;         /* q and v half way, of methods that end beyond their stage */
    double *change;         /* of the loads from one step to the next; scratch */
    bo_point_force *pushes; /* most_pushes; those that act */
    int32_t push_count;
    double account[2]; /* work so far, J, and the largest doubt about that of a step */
    double rests;      /* 1: it was settled, and no step was taken since */
    bool moves;        /* it has moved, or come to rest, by what touches it: where it is was not written by somebody */
} bo_body_state;

/* *residual: of the equilibrium, where it starts in one. What the plan points to must outlive the state. */
bough_status bo_body_state_make(bough_context *ctx, const bo_body_state_plan *plan, bo_body_state **state,
                                double *residual);
void bo_body_state_free(bough_context *ctx, bo_body_state *state);

/* One step from t, which the caller counts so that it does not drift, to t + h. When it fails the state is what it was.
 * *iterations += those of Newton's method. */
bough_status bo_body_state_step(bo_body_state *state, double t, double h, int64_t *iterations);
/* Other pushes from now on: at_once: a blow, or nearly what pushed before. */
bough_status bo_body_state_push(bo_body_state *state, int32_t count, const bo_point_force *pushes, bool at_once);
/* Other gravity from now on. */
bough_status bo_body_state_weigh(bo_body_state *state, const double gravity[3]);

/* All that a run saves of it, as numbers. restore() refuses what save() did not write, and leaves the state alone then. */
int64_t bo_body_state_memory_size(const bo_body_state *state);
void bo_body_state_save(const bo_body_state *state, double *memory);
bough_status bo_body_state_restore(bo_body_state *state, const double *memory, int64_t size);

#endif
