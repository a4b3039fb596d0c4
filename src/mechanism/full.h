/* A step of the full mechanism in pieces, between which contact may act. docs/theory/mechanism.md, "The full
 * mechanism". */
#ifndef BO_MECHANISM_FULL_H
#define BO_MECHANISM_FULL_H

#include "mechanism/mechanism.h"

struct bo_full_work {
    const bough_mechanism *mechanism;
    int32_t base_size, n, size;              /* 6 or 0; that and all coordinates; and 6 of each loop */
    double dt;                               /* 0: statics */
    bo_se3 *poses, *before;                  /* links */
    bo_twist *wrenches;                      /* links: on each, then with all beyond */
    bo_twist *momenta;                       /* links: before the step, v: m v, w: about the centre of mass */
    bo_twist *pushes;                        /* links: spatial wrenches beside the loads, by what touches them */
    double *q, *trial, *q_before;            /* size: unknowns */
    double *residual, *other, *first, *step; /* size */
    double *kept, *good, *start, *goal;      /* size: where a search began, has been, where it goes */
    double most;                             /* of forces in this search */
    double hardest;                          /* of the coordinates: force by a unit of motion, in this search */
    double *forces;                          /* n: size of what is balanced */
    bool cancelled;                          /* this search */
    double *A, *scale;                       /* size x size, size: factors of the scaled matrix, and its scales */
    bool factored;                           /* A is of this step, a little way back at most */
    int32_t *pivots;
    void *memory;
};

/* Checks what is given, and makes the unknowns those of now. */
bough_status bo_full_begin(bough_context *ctx, bough_full_mechanism *full, double dt);
/* The unknowns at the end of the step, from where they are; when it fails they are as bo_full_begin() left them. */
bough_status bo_full_search(bough_context *ctx, bough_full_mechanism *full);
/* Moves the mechanism there. */
void bo_full_finish(bough_full_mechanism *full, double dt);
/* inverse (n x n): how much faster coordinates (of the base, then of all joints) are at the end of the step by unit
 * impulses on each, with loops closed. False: the matrix of the step is singular. */
bool bo_full_answer(bough_full_mechanism *full, double *inverse);
/* What coordinate k is measured in: 1 (radians), or the radius. */
double bo_full_unit(const struct bo_full_work *work, int32_t k);

#endif
