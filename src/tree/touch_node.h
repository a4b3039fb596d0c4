/* A part that touches, or on which one hangs that does. touch_closure.c. */
#ifndef BO_TREE_TOUCH_NODE_H
#define BO_TREE_TOUCH_NODE_H

#include "tree/touch.h"

struct bo_tree_node {
    int32_t part, parent; /* parent: a node; -1 */
    int32_t island;
    int32_t r;                 /* 0: locked, or it has no coordinates */
    int32_t above;             /* r of the parent */
    int32_t joint;             /* -1: none */
    bool free;                 /* a root that flies */
    bo_mat3 R;                 /* axes in the parent's */
    bo_vec3 x;                 /* origin in the parent's axes */
    double loss[36];           /* Z^T D^-1 Z without contact */
    double inertia[36];        /* of a free root, without contact: lower triangle */
    double *Mqq, *Mrq, *J;     /* without contact: r x r, 6 x r; J: 6 x above: the frame by the parent's coordinates */
    double *more_qq, *more_rq; /* that contacts add */
    double more_rr[36];
    double *L, *D, *Z;         /* factors with contact: r x r (unit), 1/D, r x 6; after gathering, without: L, D, Z */
    double *force_q, *force;   /* r x columns, 6 x columns: biases, then eliminated */
    double *turn;              /* 3 x columns, of the joint */
    double IS[18], hinge[9];   /* of the joint, with contact; hinge: Cholesky factor */
    double root[36];           /* Cholesky factor, of a free root */
    double A[6], swing[3], *a; /* answers */
};

#endif
