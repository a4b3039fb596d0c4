/* Impulses at points of contact with friction: projected Gauss-Seidel. docs/theory/contact.md, "Impulses". */
#ifndef BO_CONTACT_SOLVE_H
#define BO_CONTACT_SOLVE_H

#include "base/context.h"
#include "base/vec.h"

/* A group of rates y that move together: an impulse p changes them by A^-1 p. */
typedef struct bo_group {
    int32_t size;
    const double *inverse;  /* size x size: A^-1, symmetric; NULL: `answers` of its rows are given */
    double *y;              /* size: without contact; changed */
    const double *before;   /* size: at the start of the step */
    double *impulse;        /* size: by all contacts */
    double least;           /* 1/kg: directions with less than that are rigid, and no impulse is looked for */
    const double *momentum; /* size: A times `before`; NULL: energy is not known, and not looked at */
    double by_forces;       /* J: half of f . A f, f what forces change of the rates in the step */
    bool counted;           /* by the solver */
} bo_group;

/* A point where the first of two groups must not come nearer to the second along the normal. */
typedef struct bo_constraint {
    int32_t groups[2]; /* -1: does not move */
    size_t rows[2];    /* where 3 x size numbers of each begin: rate along the normal and two tangents */
    double friction, restitution;
    double speed;      /* m/s: apart, at least this; above 0 it undoes an overlap */
    double carried[3]; /* m/s: what the rates are when all groups rest, since the second one is led by others */
    double impulse[3]; /* N s: along the normal and two tangents; a first guess, then the answer */
    /* by the solver */
    double W[9];    /* 1/kg: rates by unit impulses, 3 x 3 */
    double hold[3]; /* kg: the inverse of its part along the tangents, if it has one (`holds`) */
    double hardest; /* kg: 1 over the largest eigenvalue of that part; 0: nothing moves along them */
    double press;   /* kg: 1 / W[0]; 0: nothing moves along the normal */
    bool holds;
    double approach;
    double change[3], drift[3]; /* of the impulse: by the last visit, and the direction of the search */
    double wanted;              /* speed, before energy was looked at */
    double plain[3], plain_rates[3], plain_speed; /* before the last search: impulse, rates at the point, speed */
    double without[3];                            /* rates at the point at the end of the step, without contact */
    double lever[3];                              /* twice the rates at its start, less those */
} bo_constraint;

typedef struct bo_contact_problem {
    int32_t group_count, constraint_count;
    bo_group *groups;
    bo_constraint *constraints;
    const int32_t *order; /* constraint_count: those that take part, in the order in which they are visited; NULL: all
                             in their order */
    const double *rows;   /* what bo_constraint.rows counts in */
    double *answers;      /* as many: A^-1 times them; by the solver where the group has an inverse */
    int32_t most_rounds;
    double tolerance;    /* of the rates without contact: a round that changes them less is the last */
    double bounce_speed; /* m/s: slower approaches do not bounce */
    int32_t rounds;      /* that were needed */
    double residual;     /* m/s: by which rates miss what they should be */
} bo_contact_problem;

/* Impulses of the groups (group_count) are set to zero first, then those of the constraints are added to those of the
 * groups that they name. */
void bo_contact_solve(bo_contact_problem *p);

/* answers = rows A^-1 by rows, of a symmetric inverse (n x n). row_count: a multiple of 3. */
void bo_apply_inverse(int32_t n, const double *inverse, int32_t row_count, const double *rows, double *answers);

#endif
