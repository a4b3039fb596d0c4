/* What a time integrator sees of the thing it moves: vectors, and products and solves with matrices it never sees.
 *
 *     M v' = f(q, t) - D v,      K = -df/dq
 *
 * The full-order body, one reduced component and the tree are each one `system`. Held degrees of freedom are the
 * system's business: their entries of forces and solutions are zero. */
#ifndef BO_TIME_SYSTEM_H
#define BO_TIME_SYSTEM_H

#include "base/context.h"

typedef enum bo_matrix { BO_MATRIX_M, BO_MATRIX_D, BO_MATRIX_K } bo_matrix;

typedef struct bo_system {
    void *data;
    int32_t size;          /* degrees of freedom: entries of v and of forces */
    int32_t position_size; /* entries of q; more than size where positions are poses */
    bool has_potential;    /* f = -dU/dq, so that an implicit stage minimises something */
    /* D = rayleigh_mass M + rayleigh_stiffness K; NAN where it is another. Only ere asks. */
    double rayleigh_mass, rayleigh_stiffness;

    /* f(q, t) without damping, and U (may be NULL; undefined where has_potential is false). BOUGH_NOT_FINITE outside of
     * a material's domain. */
    bough_status (*force)(void *data, double t, const double *q, double *U, double *f);
    /* Where the mass depends on the position, or forces on the velocity (gyroscopic ones, those of moving frames):
     * keeps both at this state for the calls below. Called at the start of every step and, by explicit methods, at
     * every stage; within a step implicit methods see them lagged. NULL: there is nothing of the kind. */
    bough_status (*enter)(void *data, double t, const double *q, const double *v);
    /* Keeps K at q for the calls below; project: made positive semidefinite. */
    bough_status (*linearise)(void *data, double t, const double *q, bool project);
    /* Keeps D for the calls below, with the stiffness at q where damping follows it. */
    bough_status (*damp)(void *data, const double *q);
    /* y = M x, D x, K x */
    void (*multiply)(void *data, bo_matrix which, const double *x, double *y);
    /* Factors a M + b D + c K. BOUGH_ERROR_SINGULAR when it is not positive definite. */
    bough_status (*factor)(void *data, double a, double b, double c);
    bough_status (*solve)(void *data, const double *b, double *x);
    /* out = q moved by dq (size entries); NULL: q + dq. out may be q. */
    void (*retract)(void *data, const double *q, const double *dq, double *out);
    /* dq with retract(from, dq) = to; NULL: to - from. */
    void (*difference)(void *data, const double *to, const double *from, double *dq);
    /* The part of the way along dq, at most 1, that meets no obstacle; NULL: 1. */
    double (*step_bound)(void *data, const double *q, const double *dq);
} bo_system;

/* linearise() and damp() of systems whose K and D are constant: nothing. */
bough_status bo_system_keep_stiffness(void *data, double t, const double *q, bool project);
bough_status bo_system_keep_damping(void *data, const double *q);

#endif
