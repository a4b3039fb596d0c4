/* Inside view of a blend. Everything is scaled: twists by S = diag(1/r, 1/r, 1/r, 1, 1, 1) and wrenches by its inverse,
 * so that directions are orthonormal and numbers comparable. docs/theory/mechanism.md, "Blending". */
#ifndef BO_MECHANISM_BLEND_H
#define BO_MECHANISM_BLEND_H

#include "mechanism/links.h"

/* Data of one point that do not depend on the nearest model. One block of numbers, so that blending is one sum. */
typedef struct bo_blend_point {
    bough_mechanism *mechanism;
    bough_mechanism_model *model;
    int32_t rank;
    double *V;       /* n x rank: its directions, orthonormal; C = V lambda V^T */
    double *lambda;  /* rank, descending */
    double *M, *D;   /* rank x rank: of coordinates along V */
    bo_se3 *at;      /* end effectors in the base's frame */
    double *driven;  /* where its motors are */
    double *numbers; /* bo_blend_parts */
} bo_blend_point;

/* Offsets of the parts of `numbers`. */
typedef struct bo_blend_parts {
    int32_t way;    /* n: log of the end effectors against those of the middle point, not scaled */
    int32_t pull;   /* n: wrench of the springs on end effectors, with its motors where they are there */
    int32_t motors; /* motors x n: where a unit of each motor's offset takes the end effectors */
    int32_t weight; /* n x 3: wrench by gravity in the base's axes */
    int32_t energy; /* 1: of the springs */
    int32_t moment; /* 3: of mass about the base's origin, in its axes */
    int32_t count;
} bo_blend_parts;

/* Data that depend on the nearest model too: the directions of one model as tracks of that one. */
typedef struct bo_blend_pair {
    int32_t B;       /* n x tracks: the directions */
    int32_t L, M, D; /* tracks x tracks: compliance, mass, damping */
    int32_t present; /* tracks: 1 where the model has that direction */
    int32_t count;
} bo_blend_pair;

struct bough_mechanism_blend {
    const bough_mechanism *mechanism;
    double power, radius;
    int32_t most_points, count, n, effector_count, motor_count;
    int32_t tracks; /* most directions of a model */
    int32_t middle; /* the point that the others' poses are seen from */
    bough_mechanism_statics_def statics;
    bough_frame_def *effectors;
    int32_t *motors;
    bough_mechanism_model_def model;
    bo_blend_parts parts;
    bo_blend_pair pair;
    bo_blend_point *points; /* most_points */
    double *pairs;          /* count x count x pair.count: by nearest model, then model */
    int32_t *track_of;      /* count x count x n, likewise: 1 + track of each direction, negative where it is turned */
};

static inline const double *bo_blend_pair_of(const bough_mechanism_blend *blend, int32_t nearest, int32_t model) {
    return blend->pairs + ((size_t)nearest * (size_t)blend->count + (size_t)model) * (size_t)blend->pair.count;
}

static inline const int32_t *bo_blend_tracks_of(const bough_mechanism_blend *blend, int32_t nearest, int32_t model) {
    return blend->track_of + ((size_t)nearest * (size_t)blend->count + (size_t)model) * (size_t)blend->n;
}

struct bo_blend_work {
    bo_se3 *at, *rest, *next, *from;    /* end effectors: where they are, the blended pose, after a step, before one */
    double *numbers;                    /* blended, as bo_blend_parts */
    double *pair;                       /* blended, as bo_blend_pair */
    double *gram;                       /* tracks x tracks: factor of B^T B */
    double *A;                          /* tracks x tracks */
    double *xi, *force;                 /* n: scaled */
    double *way, *other, *step, *slope; /* n, n, n, n x n: of a search for equilibrium */
    double *z, *rate, *f, *pull, *y, *right, *scratch; /* tracks */
    double *kept;                                      /* n + most_points: of what a search may lose */
    double *columns; /* most_points x (n + motors): what moves the links of each model */
    int32_t *pivots;
    double *memory;
};

/* A state as the library makes it. */
typedef struct bo_blend_state {
    bough_blend_state seen; /* first: what the user sees */
    struct bo_blend_work work;
} bo_blend_state;
static inline struct bo_blend_work *bo_blend_work_of(const bough_blend_state *state) {
    return &((bo_blend_state *)(uintptr_t)state)->work;
}

/* A step in two halves, between which contact may act: rates y (tracks) at its end, with the matrices of the blend
 * there; then moves the state by them. `nearest` goes from the first to the second. When the first fails the state is
 * what it was. */
bough_status bo_blend_predict(bough_context *ctx, const bough_mechanism_blend *blend, bough_blend_state *state,
                              double dt, int32_t *nearest);
void bo_blend_finish(const bough_mechanism_blend *blend, bough_blend_state *state, double dt, int32_t nearest);
/* Weights and carried wrench as they were before bo_blend_predict(). */
bough_status bo_blend_give_back(const bough_mechanism_blend *blend, bough_blend_state *state, bough_status status);

/* Returns the distance between poses of all end effectors: the sum of the lengths of the twists between them, linear
 * parts over r, angular ones over pi. */
double bo_blend_distance(const bough_mechanism_blend *blend, const bo_se3 *from, const bo_se3 *to);
/* 1 / r of linear components, else 1 */
static inline double bo_blend_scale(const bough_mechanism_blend *blend, int32_t component) {
    return component % 6 < 3 ? 1 / blend->radius : 1;
}

/* Links of all models, each moved by its coordinates (most_points x columns), blended by their weights. */
void bo_blend_place(const bough_mechanism_blend *blend, const double *weights, const double *columns,
                    int32_t column_count, const bo_se3 *moved, bough_pose *poses);

#endif
