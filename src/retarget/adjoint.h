/* Inside of the derivatives of motions: the objective, and simulations forwards and backwards.
 * docs/theory/adjoint.md. */
#ifndef BO_RETARGET_ADJOINT_H
#define BO_RETARGET_ADJOINT_H

#include "multibody/linear.h"
#include "retarget/curves.h"

/* ---- objective.c ---- */

/* A frame that is to be somewhere, where it is. */
typedef struct bo_tracked {
    bough_tracked_frame def; /* arrays are copies, or (borrows) those of another */
    bool borrows;
    bo_mb_frame frame;
    bo_mb_face face; /* part -1: none */
    bo_mb_turn turn;
    bo_mb_place place;
    bo_vec3 *arms; /* r each: arrays of turn and place */
    double *path;  /* 3 x (step_count + 1); NULL: not kept */
} bo_tracked;

/* bo_tracked_free() is owed also when it fails. */
bough_status bo_tracked_make(bough_context *ctx, const bough_multibody *model, const bough_tracked_frame *def,
                             int32_t number, int32_t step_count, bo_tracked *tracked);
/* The same frame on a model that is alike. The original must outlive it, and keeps the path. */
bough_status bo_tracked_make_alike(bough_context *ctx, const bough_multibody *model, const bo_tracked *original,
                                   bo_tracked *tracked);
void bo_tracked_free(bough_context *ctx, bo_tracked *tracked);
/* The share of the frame at a step, whose path is kept; by_xi (nv, may be NULL): `factor` times its derivatives by
 * displacements are added. v: velocities, any. False: its interface is crushed. */
bool bo_tracked_at(const bough_multibody *model, bo_tracked *tracked, int32_t step, const double *u, const double *v,
                   double factor, double *value, double *by_xi);
/* The share of the frame is half the sum of squares of residuals, up to BO_TRACKED_ROWS: finds sqrt(factor) times their
 * derivatives by displacements (rows of nv each). Returns how many there are; -1: its interface is crushed. */
enum { BO_TRACKED_ROWS = 6 };
int32_t bo_tracked_rows(const bough_multibody *model, bo_tracked *tracked, int32_t step, const double *u,
                        const double *v, double factor, double *rows);

/* ---- the whole ---- */

/* Steps that were taken: positions, velocities, velocities they began from, multipliers, coordinates of joints, and by
 * how much quaternions were shortened. */
typedef struct bo_kept {
    size_t size; /* numbers of a step */
    double *steps;
    int32_t segment;        /* steps that are kept at a time */
    int32_t snapshot_count; /* segments but the last */
    size_t snapshot_size;
    double *snapshots; /* before each segment but the last */
    int32_t now;       /* the segment that is kept, at whose end the state is; -1: none */
} bo_kept;

/* A step that is kept. */
typedef struct bo_kept_step {
    double *u, *v, *v_base, *lambda, *coordinates;
    double *shrink; /* bodies: by how much the quaternion before the step was shortened by it */
} bo_kept_step;

/* A step that is linearised, with motors as they were told to be: places, then rates. */
typedef struct bo_adjoint_lane {
    bo_mb_linear linear;
    double *motors, *v_base; /* v_base: nv */
    bool good;
} bo_adjoint_lane;

/* Both models that a shape lies between, with the frames that are tracked. */
typedef struct bo_adjoint_shape {
    bo_mb_linear linear[2];
    bo_tracked *tracked[2]; /* tracked_count each */
} bo_adjoint_shape;

struct bough_adjoint {
    const bough_multibody *model;
    bough_adjoint_def def; /* arrays are copies */
    bo_bspline shape;      /* of the curves */
    int32_t motor_count;
    bough_multibody_state *state;
    double *start_u, *start_v, *start_lambda, *start_coordinates, start_time;
    int32_t step;                                             /* that is searched: motors look at it */
    double *place, *rate, *acceleration, *by_place, *by_rate; /* motor_count x (step_count + 1) */
    double *input;
    bough_motor_limits *limits; /* motor_count */
    bo_tracked *tracked;
    const double **paths;
    bough_multibody_parameter *parameters;
    bo_adjoint_shape *shapes; /* of each parameter; empty but for shapes */
    double *by_parameters;
    bo_kept kept;
    bo_adjoint_lane *lanes;
    int32_t lane_count;
    double *by_u, *by_u_base, *by_u_next;                    /* nu */
    double *by_v, *by_v_base, *by_v_next, *by_xi, *by_start; /* nv */
    double *by_term, *by_term_rate, *by_lambda;              /* nv, nv, nc: one after the other */
    double *mu;                                              /* nv + nc */
    double *memory;
    double value, tracked_value;
    int32_t steps_again;
    /* ---- of a search ---- */
    char news[160];       /* for people who wait; empty: there is none */
    double before, share; /* of the whole work: what was done, and what a simulation is */
};

/* The part of x that lies outside of an interval. */
static inline double bo_beyond(double x, double lowest, double highest) {
    return x > highest ? x - highest : x < lowest ? x - lowest : 0;
}

/* ---- adjoint.c: a gradient in pieces ---- */

/* Simulates with these points and finds the objective, with the steps kept. */
bough_status bo_adjoint_try(bough_context *ctx, bough_adjoint *x, const double *points, double *value);
/* Finds the derivatives by the points that were tried last. */
bough_status bo_adjoint_pull(bough_context *ctx, bough_adjoint *x, double *by_points);
/* Adds the second derivatives of the shares of the curves themselves to H (points x points, all motors), with motors as
 * they were told to be last. */
void bo_adjoint_add_curvature(const bough_adjoint *x, double *H);
double bo_adjoint_time(const bough_adjoint *x, int32_t step);

/* ---- adjoint_run.c ---- */

/* Weight of a step in integrals over time. */
double bo_adjoint_weight(const bough_adjoint *x, int32_t step);
/* Chooses how many steps are kept at a time, and reserves that. */
bough_status bo_kept_make(bough_context *ctx, const bough_adjoint *x, bo_kept *kept);
void bo_kept_free(bough_context *ctx, bo_kept *kept);
/* bo_adjoint_shape_free() is owed also when it fails. */
bough_status bo_adjoint_shape_make(bough_context *ctx, const bough_adjoint *x, const bough_multibody_parameter *p,
                                   bo_adjoint_shape *shape);
void bo_adjoint_shape_free(bough_context *ctx, int32_t tracked_count, bo_adjoint_shape *shape);
/* Simulates, and sums up the shares of frames and term. keep: for bo_adjoint_backwards(). */
bough_status bo_adjoint_forwards(bough_context *ctx, bough_adjoint *x, bool keep);
/* Finds by_place, by_rate, by_parameters, and by_u, by_v of the start. */
bough_status bo_adjoint_backwards(bough_context *ctx, bough_adjoint *x);
/* Makes the steps of a segment those that are kept, after a simulation that kept steps. */
bough_status bo_adjoint_reach(bough_context *ctx, bough_adjoint *x, int32_t segment);
bo_kept_step bo_adjoint_step(const bough_adjoint *x, int32_t step);
/* A step that is kept, to be linearised. motors: places and rates of all motors, filled in. */
bo_mb_moment bo_adjoint_moment(const bough_adjoint *x, int32_t step, double *motors);

#endif
