/* A step of the engine's own method, linearised where it was taken: its adjoint. docs/theory/adjoint.md.
 *
 * A step solves F(V, lambda) = (R; C' + alpha C) = 0 with U = advance(Uhat, V), a = (V - Vhat) / h. Displacements xi of
 * U change F by K xi, accelerations by M; A is Newton's matrix, exact at the solution. */
#ifndef BO_MULTIBODY_LINEAR_H
#define BO_MULTIBODY_LINEAR_H

#include "multibody/multibody.h"

/* A step that was taken: its end, its length, and where motors were told to be. */
typedef struct bo_mb_moment {
    const double *u, *v, *lambda;
    const double *v_base;
    const double *coordinates; /* of joints, near which angles are looked for */
    const double *place, *rate;
    const double *gravity;
    double h; /* of the implicit equation */
} bo_mb_moment;

/* Scratch for one step at a time; a thread needs its own. */
typedef struct bo_mb_linear {
    const bough_multibody *model;
    bo_mb_work work; /* everything at the end of the step; lu: A */
    bo_mb_moment at;
    bo_mb_drive drive;
    double *K;             /* as the values of lu */
    double *a, *R, *c;     /* nv, nv, nc */
    double *rate, *zeros;  /* nc, nv */
    double *rhs, *product; /* nv + nc, in the order of the blocks */
    int32_t *owner;        /* of each block: its body; -1: a part; -2: a joint */
    double *memory;
} bo_mb_linear;

/* bo_mb_linear_free() is owed also when it fails. */
bough_status bo_mb_linear_make(bough_context *ctx, const bough_multibody *model, bo_mb_linear *linear);
void bo_mb_linear_free(bough_context *ctx, bo_mb_linear *linear);

/* Linearises about the moment, whose arrays must stay until the next. False: the matrix is singular or a part inverted.
 * Writes nothing but *linear. */
bool bo_mb_linearise(bo_mb_linear *linear, const bo_mb_moment *at);

/* From the derivatives of a number by the end of the step (by_u: nu, as positions and quaternions are kept; by_v: nv;
 * by_lambda: nc) to those by what it began from, Uhat (nu) and Vhat (nv). mu (nv + nc): minus the derivative by F. */
void bo_mb_linear_pull(bo_mb_linear *linear, const double *by_u, const double *by_v, const double *by_lambda,
                       double *mu, double *by_u_base, double *by_v_base);

/* mu . dF by place and rate of a motor. */
void bo_mb_linear_by_motor(bo_mb_linear *linear, int32_t motor, const double *mu, double *by_place, double *by_rate);
/* Adds dF by the place, or the rate, of a motor to dF (nv + nc). */
void bo_mb_linear_add_motor(bo_mb_linear *linear, int32_t motor, bool rate, double *dF);
/* mu . dF by a constant of the model; 0 for shapes. */
double bo_mb_linear_by_parameter(bo_mb_linear *linear, const bough_multibody_parameter *parameter, const double *mu);

/* mu . F at the moment, or mu . (R; C) of an equilibrium, as the model of `linear` has it, without linearising: the
 * difference of two models is the derivative by what shapes them. NAN: a part is inverted or an interface crushed. */
double bo_mb_residual_along(bo_mb_linear *linear, const bo_mb_moment *at, bool equilibrium, const double *mu);

/* The same as bo_mb_linearise(), with the mass matrix over h (as the values of lu). */
bool bo_mb_linearise_with_mass(bo_mb_linear *linear, const bo_mb_moment *at, double *mass);
/* (1 - h/2 w)^-1: a step takes the quaternion of its base to its end by it, from the left. */
bo_quat bo_mb_linear_turn(const bo_mb_linear *linear, int32_t body);

/* The same about an equilibrium (velocities of the moment are zeros): mu is minus the derivative by (R; C). False:
 * there is none that would follow. */
bool bo_mb_linearise_equilibrium(bo_mb_linear *linear, const bo_mb_moment *at);
bool bo_mb_linear_pull_equilibrium(bo_mb_linear *linear, const double *by_xi, double *mu);

/* From the derivatives by displacements (nv) at positions u to those by positions and quaternions as they are kept,
 * added to `by_u` (nu). */
void bo_mb_add_displacements(const bough_multibody *model, const double *u, const double *by_xi, double *by_u);
/* And back: by_xi (nv) is what they say of displacements. */
void bo_mb_to_displacements(const bough_multibody *model, const double *u, const double *by_u, double *by_xi);

/* ---- linear_push.c: forwards, BO_LU_LANES changes side by side ---- */

/* A step, linearised: read by any number of threads. */
typedef struct bo_mb_forward {
    bo_mb_linear linear;
    double *mass;        /* M / h, as the values of lu */
    bo_sparse_rows rows; /* (-K | M / h), in the order of the blocks */
    bool *joint;         /* of each block: its unknowns are multipliers */
    double *by_motor;    /* motors x 2 x (nv + nc): dF by place and by rate, in the order of the blocks */
    double *scratch;     /* nv + nc */
} bo_mb_forward;
/* bo_mb_forward_free() is owed also when it fails. */
bough_status bo_mb_forward_make(bough_context *ctx, const bough_multibody *model, bo_mb_forward *forward);
void bo_mb_forward_free(bough_context *ctx, bo_mb_forward *forward);
/* As bo_mb_linearise(). */
bool bo_mb_linearise_forwards(bo_mb_forward *forward, const bo_mb_moment *at);

/* From changes of Uhat (nu x lanes, as positions and quaternions are kept) and Vhat (nv x lanes) to those of the end,
 * du and dv, which are other arrays. solution ((nv + nc) x lanes, in the order of the blocks): minus the change of F by
 * all else; becomes the changes of velocities and multipliers. scratch: 2 (nv + nc) x lanes; multipliers' rows are not
 * read. The transpose of bo_mb_linear_pull(). */
void bo_mb_linear_push(const bo_mb_forward *forward, const double *du_base, const double *dv_base, double *solution,
                       double *scratch, double *du, double *dv);

#endif
