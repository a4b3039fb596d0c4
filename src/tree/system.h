/* The tree as a system of the time room, and the methods of that room as steps of a tree. */
#ifndef BO_TREE_SYSTEM_H
#define BO_TREE_SYSTEM_H

#include "time/system.h"
#include "tree/tree.h"

typedef struct bo_tree_system {
    bo_system system; /* its data is this struct */
    bough_context *ctx;
    const bough_model *model;
    bough_state *state;
    const double *instead_q, *instead_v; /* not NULL: inertia is entered there, wherever the method asks for it */
    double *q, *v;                       /* where inertia was entered */
    double *rest;                        /* h(q, v) there: what the tree pulls with when no coordinate accelerates */
    double *K;                           /* r x r of each part, at the q of linearise() */
    double *product, *scratch;
    double factor_mass; /* a of the a M + b D + c K kept */
    double *block;
} bo_tree_system;

/* For exact coupling (L3) and roots that are held still; others are refused. Loads are those of work->load and
 * work->load_wrench. */
bough_status bo_tree_system_create(bough_context *ctx, const bough_model *model, bough_state *state,
                                   bo_tree_system **system);
void bo_tree_system_destroy(bough_context *ctx, bo_tree_system *system);
/* Whether damping is there, which may change between steps. */
void bo_tree_system_look_at_damping(bo_tree_system *system);

/* y = M(q) a + h(q, v) - loads, weight included: the forces on the coordinates that such accelerations ask for. After
 * bo_tree_move() and bo_tree_inertia() at q, v. */
void bo_tree_balance(const bough_model *model, bo_tree_work *work, const double *q, const double *v, const double *a,
                     double *y);

/* integrate.c: one step by the state's method. A transaction. */
bough_status bo_tree_integrate(bough_context *ctx, const bough_model *model, bough_state *state, double dt);
void bo_tree_drop_integrator(bough_context *ctx, bo_tree_work *work);
/* What methods know of the step before, for snapshots: bo_tree_history_size() bytes, zeros without a method. Set after
 * q and v; methods with modes, and others than the one that was saved, begin anew. */
size_t bo_tree_history_size(const bough_model *model);
void bo_tree_history(const bough_model *model, const bo_tree_work *work, void *history);
void bo_tree_set_history(const bough_model *model, bough_state *state, const void *history);

#endif
