/* Inside view of a part in full order. */
#ifndef BO_TWIN_TWIN_H
#define BO_TWIN_TWIN_H

#include "fem/body.h"
#include "linalg/factor.h"
#include "multibody/full.h"

#include <bough/twin.h>

/* One interface: how far the vertices lie from its centre at rest. */
typedef struct bo_twin_face {
    int32_t count;
    const int32_t *vertices; /* the component's */
    const double *weights;
    bo_vec3 *arms; /* count: (X - centre) / radius^2 */
} bo_twin_face;

typedef struct bo_twin {
    bough_full_part face;
    const bough_body *body;
    const bough_component *component;
    int32_t vertex_count;
    bo_vec3 *X;          /* vertices at rest, in the component's frame */
    bough_sparse *m;     /* mass of pairs of vertices */
    double *weight;      /* vertex_count: row sums of m */
    unsigned char *held; /* 3 vertex_count */
    bo_twin_face *faces; /* of the interfaces */
} bo_twin;

/* Scratch of one state. */
typedef struct bo_twin_work {
    bough_context *ctx;
    const bo_twin *twin;
    bough_sparse *K, *A;
    bo_factor *factor;
    bool knows_K;     /* K is that of the last forces */
    bo_vec3 *y;       /* positions from the body's origin */
    bo_vec3 *inertia; /* m (accelerations) */
    bo_vec3 *a, *b;   /* vertex_count each */
    double *columns;  /* (6 + seen) x size: (C, B^T), then A^-1 of it */
    double *D;        /* 6 x size */
    double *z;        /* size: A^-1 of the right-hand side */
} bo_twin_work;

extern const bo_mb_full_kind bo_twin_kind;

/* forces.c */
void bo_twin_measure(void *scratch, const bo_mb_full_motion *motion, bo_mb_sums *sums);
bool bo_twin_forces(void *scratch, const bo_mb_full_motion *motion, bo_vec3 *force, bo_vec3 *torque, double *rows,
                    double *gradient);
/* Acceleration in the world less gravity, in the component's axes, of a point at y that moves by v and a. */
bo_vec3 bo_twin_acceleration(const bo_mb_full_motion *motion, bo_vec3 y, bo_vec3 v, bo_vec3 a);
/* out = m x */
void bo_twin_mass(const bo_twin *twin, const bo_vec3 *x, bo_vec3 *out);

/* matrix.c */
bool bo_twin_factor(void *scratch, const bo_mb_full_motion *motion, double ca, double cv, double cq, bo_mat3 gamma,
                    double *T);
void bo_twin_solve(void *scratch, const double *b, double *t);
void bo_twin_correct(void *scratch, const double *t, double *x);

#endif
