/* Steps of a tree by the methods of the time room. docs/theory/tree.md, "Other integrators". */
#include "tree/ledger.h"
#include "tree/log.h"
#include "tree/system.h"

#include "component/image.h"
#include "time/integrator.h"

#include <string.h>

struct bo_tree_integrator {
    bo_tree_system *system;
    bo_integrator *method;
    bo_motion next;  /* where a step is built */
    double *there_q; /* where inertia is entered in the second pass */
    double *there_v;
    double *end_q; /* of the last step: a state that stands elsewhere was put there */
    double *end_v;
    double *history; /* of the method, before the step */
    double *saved;   /* for snapshots */
    double *block;
};

/* Which method, and what one without modes saves. */
static size_t history_count(const bough_tree_model *model) {
    return 3 + 2 * (size_t)model->size;
}

/* Methods that ask for inertia at every stage need no second pass. */
static bool enters_every_stage(const bo_method *method) {
    return method->info.explicit_method && !method->uses_krylov;
}

/* The part of the step at which inertia that is the same for all of it keeps second order. For a method that carries q
 * and v alone it is the middle: what is wrong before and after it cancels. One with a balance of its own has it there:
 * BDF2 at the end, Newmark's family where generalised-alpha (Chung and Hulbert) takes the forces. */
static double place_of_inertia(const bo_integrator *method) {
    const char *needs = method->method->info.needs;
    if (method->method->carries_balance)
        return !strcmp(needs, "rho") ? 1 / (1 + method->def.rho) : !strcmp(needs, "alpha") ? 1 + method->def.alpha : 1;
    return method->method->uses_history && !method->modes && method->h_before > 0 ? 1 : 0.5;
}

void bo_tree_drop_integrator(bough_context *ctx, bo_tree_work *work) {
    bo_tree_integrator *g = work->integrator;
    if (!g)
        return;
    bo_integrator_destroy(ctx, g->method);
    bo_tree_system_destroy(ctx, g->system);
    bo_free(ctx, g->block);
    bo_free(ctx, g);
    work->integrator = NULL;
}

static bough_status fill(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                         const bough_integrator_def *def, bo_tree_integrator *g) {
    const size_t n = (size_t)model->size;
    BO_TRY(bo_tree_system_create(ctx, model, state, &g->system));
    BO_TRY(bo_integrator_create(ctx, &g->system->system, def, &g->method));
    g->block = BO_NEW_ZEROS(ctx, double, 7 * n + (size_t)bo_integrator_history_size(g->method) + history_count(model));
    if (!g->block)
        return BOUGH_ERROR_MEMORY;
    g->next = (bo_motion){.q = g->block, .v = g->block + n, .a = g->block + 2 * n};
    g->there_q = g->block + 3 * n, g->there_v = g->there_q + n;
    g->end_q = g->there_v + n, g->end_v = g->end_q + n, g->history = g->end_v + n;
    g->saved = g->history + bo_integrator_history_size(g->method);
    return BOUGH_OK;
}

void bo_tree_restart_integrator(bo_tree_work *work) {
    if (work->integrator)
        bo_integrator_restart(work->integrator->method);
}

bool bo_tree_integrator_def(const bo_tree_work *work, bough_integrator_def *def) {
    if (work->integrator)
        *def = work->integrator->method->def;
    return work->integrator != NULL;
}

static bough_status use(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                        const bough_integrator_def *def) {
    if (!def) {
        bo_tree_drop_integrator(ctx, bo_tree_work_of(state));
        return BOUGH_OK;
    }
    bo_tree_integrator *old = bo_tree_work_of(state)->integrator, *g = BO_NEW(ctx, bo_tree_integrator);
    if (!g)
        return BOUGH_ERROR_MEMORY;
    bough_status status = fill(ctx, model, state, def, g);
    bo_tree_work hand = {.integrator = status == BOUGH_OK ? old : g}; /* the one to be dropped */
    if (status == BOUGH_OK)
        bo_tree_work_of(state)->integrator = g;
    bo_tree_drop_integrator(ctx, &hand);
    return status;
}

bough_status bough_tree_state_use_integrator(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                             const bough_integrator_def *def) {
    BO_TRY(bo_log_begin(ctx, model, state, &(bo_log_act){.kind = BO_LOG_INTEGRATOR, .with = def}));
    return bo_log_end(ctx, model, state, use(ctx, bo_tree_now(model, state), state, def));
}

bough_status bo_tree_copy_integrator(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                     bo_tree_work *work) {
    const bo_tree_integrator *from = bo_tree_work_of(state)->integrator;
    if (!from)
        return BOUGH_OK;
    work->integrator = BO_NEW(ctx, bo_tree_integrator);
    return work->integrator ? fill(ctx, model, state, &from->method->def, work->integrator) : BOUGH_ERROR_MEMORY;
}

/* Makes the method forget the steps before a jump, of which it can make no use. */
static void notice_jumps(bo_tree_integrator *g, const bough_tree_state *state) {
    const size_t bytes = (size_t)g->system->model->size * sizeof(double);
    if (memcmp(g->end_q, state->q, bytes) != 0 || memcmp(g->end_v, state->v, bytes) != 0)
        bo_integrator_restart(g->method);
}

static void remember_end(bo_tree_integrator *g, const bough_tree_state *state) {
    const size_t bytes = (size_t)g->system->model->size * sizeof(double);
    memcpy(g->end_q, state->q, bytes);
    memcpy(g->end_v, state->v, bytes);
}

/* One pass from the state as it is. */
static bough_status pass(bo_tree_integrator *g, const bough_tree_state *state, double dt) {
    const size_t bytes = (size_t)g->system->model->size * sizeof(double);
    g->next.t = state->time;
    memcpy(g->next.q, state->q, bytes);
    memcpy(g->next.v, state->v, bytes);
    memcpy(g->next.a, state->a, bytes);
    if (!g->method->method->carries_balance) /* forces may have changed since the last step */
        g->method->has_acceleration = false;
    return bo_integrator_step(g->method, dt, &g->next);
}

static bough_status passes(bo_tree_integrator *g, const bough_tree_state *state, double dt) {
    const bough_tree_model *model = g->system->model;
    const double place = place_of_inertia(g->method);
    g->system->instead_q = g->system->instead_v = NULL;
    BO_TRY(pass(g, state, dt));
    if (state->passes != 2 || enters_every_stage(g->method->method))
        return BOUGH_OK;
    for (int32_t k = 0; k < model->size; k++) {
        g->there_q[k] = state->q[k] + place * (g->next.q[k] - state->q[k]);
        g->there_v[k] = state->v[k] + place * (g->next.v[k] - state->v[k]);
    }
    bo_integrator_restore(g->method, g->history);
    g->system->instead_q = g->there_q, g->system->instead_v = g->there_v;
    bough_status status = pass(g, state, dt);
    g->system->instead_q = g->system->instead_v = NULL;
    return status;
}

static void swap_in(const bough_tree_model *model, bough_tree_state *state, bo_motion *next) {
    for (int32_t k = 0; k < model->size; k++) {
        const double q = state->q[k], v = state->v[k], a = state->a[k];
        state->q[k] = next->q[k], state->v[k] = next->v[k], state->a[k] = next->a[k];
        next->q[k] = q, next->v[k] = v, next->a[k] = a;
    }
}

bough_status bo_tree_integrate(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double dt) {
    bo_tree_integrator *g = bo_tree_work_of(state)->integrator;
    g->system->ctx = g->method->ctx = ctx;
    bo_tree_system_look_at_damping(g->system);
    BO_TRY(bo_tree_check_method(ctx, state->coupling, state->alpha, state->passes));
    BO_TRY(bo_tree_system_check_coupling(ctx, state));
    BO_TRY(bo_tree_come_back(ctx, model, state)); /* so that decompositions start alike after a snapshot */
    bo_tree_take_loads(ctx, model, state, true);
    BO_TRY(bo_ledger_begin(ctx, model, state, 1));
    notice_jumps(g, state);
    bo_integrator_save(g->method, g->history);
    bough_status status = passes(g, state, dt);
    bool wrapped = false;
    if (status == BOUGH_OK) {
        if (!g->method->method->uses_acceleration)
            for (int32_t k = 0; k < model->size; k++)
                g->next.a[k] = (g->next.v[k] - state->v[k]) / dt;
        swap_in(model, state, &g->next);
        bool steered;
        wrapped = bo_tree_wrap_balls(model, state->q, state->v, state->a, NULL);
        status = bo_tree_come_back(ctx, model, state);
        if (status == BOUGH_OK)
            status = bo_ledger_end(ctx, model, state, g->next.q, dt, false, false, &steered);
        if (status == BOUGH_OK)
            bo_tree_publish_frames(ctx, model, state);
        else
            swap_in(model, state, &g->next);
    }
    if (status != BOUGH_OK) {
        bo_integrator_restore(g->method, g->history);
        return status == BOUGH_ERROR_SINGULAR ? BOUGH_NO_CONVERGENCE : status; /* a smaller step may do */
    }
    state->time += dt;
    remember_end(g, state);
    if (wrapped) /* what the method remembers is of other coordinates */
        bo_integrator_restart(g->method);
    return BOUGH_OK;
}

/* ---- snapshots ---- */

size_t bo_tree_history_size(const bough_tree_model *model) {
    return history_count(model) * sizeof(double);
}

static double mark_of(const bo_integrator *method) {
    const char *name = method->method->info.name;
    return (double)(bo_image_hash(1, name, strlen(name)) >> 12);
}

void bo_tree_history(const bough_tree_model *model, const bo_tree_work *work, void *history) {
    bo_tree_integrator *g = work->integrator;
    memset(history, 0, bo_tree_history_size(model));
    if (!g || g->method->modes)
        return;
    g->saved[0] = mark_of(g->method);
    bo_integrator_save(g->method, g->saved + 1);
    memcpy(history, g->saved, bo_tree_history_size(model));
}

void bo_tree_set_history(const bough_tree_model *model, bough_tree_state *state, const void *history) {
    bo_tree_integrator *g = bo_tree_work_of(state)->integrator;
    if (!g)
        return;
    remember_end(g, state);
    memcpy(g->saved, history, bo_tree_history_size(model));
    if (g->method->modes || g->saved[0] != mark_of(g->method))
        bo_integrator_restart(g->method);
    else
        bo_integrator_restore(g->method, g->saved + 1);
}
