/* The system interface: what a time integrator needs from an engine. The integrator works with vectors; matrices stay
 * with the system, which multiplies, factors and solves. A system has one of two forms.
 *
 * Matrix form, for all methods:      M v' = f(q, t) - D v,      K = -df/dq
 * The full-order body, one reduced component and the tree have it. Held degrees of freedom are the system's business:
 * their entries of forces and solutions are zero.
 *
 * Residual form, for the fully implicit methods that info.constraints names:
 *     R(t, q, v, a, lambda) = 0,     a = d/dt p(q, v),     c(t, q) = 0
 * R is the balance of forces, lambda are the multipliers of the constraints c. Forces may depend on velocities and
 * masses on positions; nothing is assumed of the tangent, which may be unsymmetric and indefinite. */
#ifndef BO_TIME_SYSTEM_H
#define BO_TIME_SYSTEM_H

#include "base/context.h"

typedef enum bo_matrix { BO_MATRIX_M, BO_MATRIX_D, BO_MATRIX_K } bo_matrix;

/* All that a residual depends on. */
typedef struct bo_instant {
    double t;
    const double *q;      /* position_size */
    const double *dq;     /* size: q is another position moved by this; the tangent may use it, see there. NULL: none */
    const double *v;      /* size */
    const double *a;      /* momentum_size, or size: rate of p */
    const double *lambda; /* constraint_count */
} bo_instant;

typedef struct bo_system {
    void *data;
    int32_t size;          /* degrees of freedom: entries of v and of forces */
    int32_t position_size; /* entries of q; more than size where positions are poses */
    bool has_potential;    /* f = -dU/dq, so that an implicit stage minimises something */
    /* D = rayleigh_mass M + rayleigh_stiffness K; NAN where it is another. Only ere asks. */
    double rayleigh_mass, rayleigh_stiffness;
    /* |x|_M of a motion by the size of the system: steps of Newton's method that are all rounding beside it are none,
     * also where q is zero. Matrix form only; 0: not known. */
    double norm_of_size;

    /* f(q, t) without damping, and U (may be NULL; undefined where has_potential is false). BOUGH_NOT_FINITE outside of
     * a material's domain. */
    bough_status (*force)(void *data, double t, const double *q, double *U, double *f);
    /* For systems whose mass depends on the position, or forces on the velocity (gyroscopic ones, those of moving
     * frames): keeps both at this state for the calls below. Called at the start of every step and, by explicit
     * methods, at every stage; within a step implicit methods see them lagged. NULL: there is nothing of the kind. */
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
    /* The part of the way from q along dq, at most 1, that meets no obstacle of time t; NULL: 1. */
    double (*step_bound)(void *data, double t, const double *q, const double *dq);
    /* Moves q, the position at which the step began, out of the way of obstacles that are elsewhere at t: searches
     * begin there. Matrix form only; NULL: they begin anywhere. */
    void (*escape)(void *data, double t, double *q);

    /* ---- the residual form; residual is NULL in the matrix form. force ... solve and enter are not called ---- */

    int32_t momentum_size;          /* entries of p and a; 0: p is v, and a its rate */
    int32_t constraint_count;       /* entries of c and lambda; 0: none */
    const double *units;            /* size: what each entry of dq is measured in; NULL: all in 1 */
    const double *constraint_units; /* constraint_count: likewise of c */
    const char *what; /* "step of the full mechanism", for those who wait for a long search; NULL: "step" */

    /* R (size entries) and c. *magnitude: of the forces that R balances, each times its unit, the largest: rounding is
     * measured against it. BOUGH_NOT_FINITE outside of a material's domain: a shorter step is tried. */
    bough_status (*residual)(void *data, const bo_instant *at, double *R, double *c, double *magnitude);
    /* p(q, v), for systems whose momenta are to be kept exactly: those of rigid bodies in the world's axes, say. NULL:
     * p = v. */
    void (*momentum)(void *data, double t, const double *q, const double *v, double *p);
    /* G v + dc/dt with G = dc/dq: how fast the constraints change. NULL: only positions obey the constraints (index 3),
     * which backward Euler bears; with it velocities do too. */
    void (*constraint_rate)(void *data, double t, const double *q, const double *v, double *rate);
    /* Factors
     *     [ A  B ]     A = ca R_a (p_v + cq p_q) + cv R_v + cq R_q,   or ca R_a + cv R_v + cq R_q where p is v,
     *     [ G  0 ]     B = dR/dlambda, which is G^T where the constraints are obeyed
     * R_q holds the change of G^T lambda (geometric stiffness). With poses R_q and G may be multiplied by the
     * derivative of retract at dq; Newton's method gets there without it, too. BOUGH_ERROR_SINGULAR when there is no
     * factor: the step fails, and a system that knows why says so afterwards. Redundant constraints are the system's
     * business. */
    bough_status (*tangent)(void *data, const bo_instant *at, double ca, double cv, double cq);
    /* A x + B y = b, G x = d by that factor. b and d may be x and y. */
    bough_status (*solve_tangent)(void *data, const double *b, const double *d, double *x, double *y);
} bo_system;

/* linearise() and damp() of systems whose K and D are constant: nothing. */
bough_status bo_system_keep_stiffness(void *data, double t, const double *q, bool project);
bough_status bo_system_keep_damping(void *data, const double *q);

#endif
