/* Recordings of what is done to a state. docs/log-format.md
 *
 * Whatever changes a state beyond what anybody could write into it is an act, and tells the log of the state before
 * it begins and when it is done; acts within acts are part of them. What was written between acts (forces, wind,
 * factors, coordinates) the log finds by itself. */
#ifndef BO_TREE_LOG_H
#define BO_TREE_LOG_H

#include "tree/tree.h"

/* The values are those of the file. */
typedef enum bo_log_kind {
    BO_LOG_WRITE = 1, /* numbers were written into the state */
    BO_LOG_STEP,
    BO_LOG_GENTLE_STEP,
    BO_LOG_ADVANCE,
    BO_LOG_UPDATE,
    BO_LOG_COME_BACK,
    BO_LOG_CHANGE,
    BO_LOG_SNAPSHOT, /* the state became this */
    BO_LOG_INTEGRATOR,
    BO_LOG_PATCH, /* the state became that of the snapshot that differs so from its own */
    BO_LOG_KINDS
} bo_log_kind;

typedef struct bo_log_act {
    bo_log_kind kind;
    double dt;     /* steps */
    int32_t count; /* CHANGE */
    const bough_change *changes;
    size_t size;                      /* SNAPSHOT: bytes of the one to come at most */
    bool always;                      /* SNAPSHOT: it is another state also when the act fails */
    const bough_integrator_def *with; /* INTEGRATOR; NULL: none */
} bo_log_act;

/* Out of line: the state has a log. */
bough_status bo_log_begin_act(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                              const bo_log_act *act);
void bo_log_end_act(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, bough_status status);

/* Before an act; when it fails, there was no memory to record it and it must not happen. */
static inline bough_status bo_log_begin(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                        const bo_log_act *act) {
    return bo_tree_work_of(state)->log ? bo_log_begin_act(ctx, model, state, act) : BOUGH_OK;
}
/* After it; returns its status. */
static inline bough_status bo_log_end(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                      bough_status status) {
    if (bo_tree_work_of(state)->log)
        bo_log_end_act(ctx, model, state, status);
    return status;
}
/* bo_tree_come_back() as an act, for those that only look. */
bough_status bo_log_come_back(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state);
/* The state goes; its recording cannot be finished any more. */
void bo_log_lose(bough_tree_log *log);

/* Recomputes the checksum of a file in memory, after a change in place; for tests. */
void bo_log_seal(void *bytes, size_t size);

#endif
