/* A step of the full mechanism in pieces, between which contact may act. docs/theory/mechanism.md, "The full
 * mechanism". */
#ifndef BO_MECHANISM_FULL_H
#define BO_MECHANISM_FULL_H

#include "mechanism/mechanism.h"
#include "time/integrator.h"

/* This part of the equations of loops, scaled to 1, keeps redundant ones regular; it vanishes at the solution. */
#define BO_LOOP_HOLD 1e-9

typedef struct bo_full_factor bo_full_factor;

struct bo_full_work {
    const bough_mechanism *mechanism;
    int32_t base_size, n, size;         /* 6 or 0; that and all coordinates; and 6 of each loop */
    double dt;                          /* 0: statics */
    bo_se3 *poses, *before;             /* links */
    bo_twist *wrenches;                 /* links: on each, then with all beyond */
    bo_twist *momenta;                  /* links: before the step, v: m v, w: about the centre of mass */
    bo_twist *pushes;                   /* links: spatial wrenches beside the loads, by what touches them */
    double *q, *q_before;               /* size: unknowns, n coordinates and 6 wrenches of each loop; n */
    double *unit;                       /* size: what each is measured in, 1 (radians) or the radius */
    double *kept, *good, *start, *goal; /* size: where a search began, has been, where it goes */
    const double *aim;                  /* size: the residual that is looked for; NULL: zero */
    double hardest;                     /* of the coordinates: force by a unit of motion, in this search */
    double *placed;                     /* n: the coordinates that the poses are of */
    bool is_placed;
    /* The matrix of Newton's method, dR/dq and so on, unscaled by bo_full_differentiate(), then factored. */
    double *A, *scale, *step, *both; /* size x size, size, size, size */
    bo_twist *columns;               /* n: motion of all that is beyond, by each coordinate, spatial */
    double *stiffness;    /* links x 36: change of the wrench on a link, then on all beyond, by its own motion */
    double part;          /* motion in a unit of the unknown of Newton's method: the step, or 1 */
    bool factored;        /* A, or tree, is of this step, a little way back at most */
    bo_full_factor *tree; /* the factor along the tree; A serves where there is none */
    bool by_tree;         /* which of them is kept */
    int32_t *pivots;
    void *memory;
    bo_system system; /* its data is the bough_full_mechanism */
    bo_integrator *method;
    double *z, *v, *rates; /* n, n, 6 links: of that */
};

/* A full mechanism as the library makes it. */
typedef struct bo_full_mechanism {
    bough_full_mechanism seen; /* first: what the user sees */
    struct bo_full_work work;
} bo_full_mechanism;
static inline struct bo_full_work *bo_full_work_of(const bough_full_mechanism *full) {
    return &((bo_full_mechanism *)(uintptr_t)full)->work;
}

/* Checks what is given, and makes the unknowns those of now. */
bough_status bo_full_begin(bough_context *ctx, bough_full_mechanism *full, double dt);
/* The unknowns at the end of the step, from where they are; when it fails they are as bo_full_begin() left them. */
bough_status bo_full_search(bough_context *ctx, bough_full_mechanism *full);
/* Moves the mechanism there. */
void bo_full_finish(bough_full_mechanism *full, double dt);
/* inverse (n x n): how much faster coordinates (of the base, then of all joints) are at the end of the step by unit
 * impulses on each, with loops closed. False: the matrix of the step is singular. */
bool bo_full_answer(bough_full_mechanism *full, double *inverse);

/* ---- between full.c and full_tangent.c ---- */

/* The residual at an instant: R (n), c (6 loops); returns the size of what R balances. Leaves poses and wrenches there.
 */
double bo_full_balance(const bough_full_mechanism *full, const bo_instant *at, double *R, double *c);
/* A (size x size) at that instant, where bo_full_balance() has just been:
 *     [ dR/dq  dR/df ]     f: the wrenches of loops
 *     [ dc/dq    0   ]
 * with momenta and damping of a step in dR/dq. rate: ca / dt of the momenta, damp: cv / cq. */
void bo_full_differentiate(const bough_full_mechanism *full, const bo_instant *at, double rate, double damp, double *A);

/* ---- parts of that ---- */

/* x with x . t = [t, s] . W for all t */
bo_twist bo_bracket_power(bo_twist s, bo_twist W);
/* Springs, limits, dampers, and the change of the columns (freedoms x freedoms), for the wrench W that a joint carries,
 * in its frame. */
void bo_full_joint_block(const bough_full_mechanism *full, int32_t joint, const bo_instant *at, bo_twist W, double damp,
                         double K[36]);
/* columns: motions by all coordinates; those of a joint that closes a loop move nothing. */
void bo_full_fill_columns(const struct bo_full_work *work, const double *q);
/* stiffness: of each link alone. */
void bo_full_fill_links(const bough_full_mechanism *full, const bo_instant *at, double rate);
/* The inverse of the right Jacobian at a gap c. */
void bo_full_invert_jacobian(bo_twist c, double inverse[36]);

/* ---- full_solve.c: the same matrix, eliminated along the tree ---- */

bough_status bo_full_factor_create(bough_context *ctx, const bough_mechanism *mechanism, int32_t base_size,
                                   bo_full_factor **factor);
void bo_full_factor_destroy(bough_context *ctx, bo_full_factor *factor);
/* Factors at an instant where bo_full_balance() has just been. *hardest: the largest diagonal entry of the joints'
 * coordinates times the square of its unit. False: a joint, or the loops, have no factor in this order; the whole
 * matrix may have one. */
bool bo_full_factor_make(const bough_full_mechanism *full, bo_full_factor *factor, const bo_instant *at, double rate,
                         double damp, double *hardest);
/* x (size: motion, then wrenches of loops) for b (size); x may be b. */
void bo_full_factor_solve(const bough_full_mechanism *full, bo_full_factor *factor, const double *b, double *x);

/* About the middle, where all spatial wrenches are. */
static inline bo_se3 bo_about_middle(const bough_mechanism *m, bo_se3 g) {
    g.t = bo_sub(g.t, m->middle);
    return g;
}

#endif
