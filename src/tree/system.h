/* The tree as a system of the time room, and the methods of that room as steps of a tree. */
#ifndef BO_TREE_SYSTEM_H
#define BO_TREE_SYSTEM_H

#include "time/system.h"
#include "tree/tree.h"

typedef struct bo_tree_system {
    bo_system system; /* its data is this struct */
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
    const double *instead_q, *instead_v; /* not NULL: inertia is entered there, wherever the method asks for it */
    double *q;                           /* where inertia was entered, and where the frames stand */
    double *zero;                        /* velocities there, once h is known */
    double *rest;                        /* h(q, v): what the tree pulls with when no coordinate accelerates */
    double *bent;                        /* q of linearise(); all zero where it was to be positive */
    double *K;                           /* r x r of each part there, once it is asked for */
    bool has_K;
    double *damped;        /* q of damp() */
    double *K_damping;     /* as K, at that q, where there is damping */
    bo_tree_scheme scheme; /* of the a M + b D + c K kept */
    double factor_mass;    /* a of it */
    double *block;
} bo_tree_system;

/* For exact coupling (L3) and roots that are held still; others are refused. Loads are those of work->load and
 * work->load_wrench. */
bough_status bo_tree_system_create(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   bo_tree_system **system);
void bo_tree_system_destroy(bough_context *ctx, bo_tree_system *system);
/* Look again at what may change between steps: whether there is damping; and the coupling, of which all but one are
 * refused. */
void bo_tree_system_look_at_damping(bo_tree_system *system);
bough_status bo_tree_system_check_coupling(bough_context *ctx, const bough_tree_state *state);

/* integrate.c: one step by the state's method. A transaction. */
bough_status bo_tree_integrate(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double dt);
/* The state's method, if there is one, for another layout of its parts: into work. */
bough_status bo_tree_copy_integrator(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                     bo_tree_work *work);
/* Forces have jumped: what the state's method, if it has one, remembers of steps before is of no use. */
void bo_tree_restart_integrator(bo_tree_work *work);
/* The def that the state's method was made of; false: it has none. */
bool bo_tree_integrator_def(const bo_tree_work *work, bough_integrator_def *def);
void bo_tree_drop_integrator(bough_context *ctx, bo_tree_work *work);
/* The memory that methods have of the step before, for snapshots: bo_tree_history_size() bytes, zeros without a method.
 * Set it after q and v; methods with modes, and others than the one that was saved, begin anew. */
size_t bo_tree_history_size(const bough_tree_model *model);
void bo_tree_history(const bough_tree_model *model, const bo_tree_work *work, void *history);
void bo_tree_set_history(const bough_tree_model *model, bough_tree_state *state, const void *history);

#endif
