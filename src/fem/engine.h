/* The full-order body as an engine: the truth that other engines are compared with. */
#ifndef BO_FEM_ENGINE_H
#define BO_FEM_ENGINE_H

#include "engine/surroundings.h"
#include "fem/drive.h"
#include "fem/overlap.h"

/* A scene's body and all that happens to it. It outlives the engine, which changes nothing of it. */
typedef struct bo_body_plan {
    const bough_body *body;
    const bough_load_case *load_case; /* what holds it and acts on it all the time */
    const bo_drive *drive;
    const double *velocity;           /* 3 vertex_count, m/s, at the start */
    const struct bo_touch_def *touch; /* obstacles; NULL: it touches nothing */
    bo_surroundings around;           /* `thing` of bo_touch_def.obstacles is one of these */
    int32_t piece_count;              /* 0: it is one body */
    const bo_body_piece *pieces;
    int32_t probe_count;
    const bo_probe *probes;
    /* The owner of all this, if it was made for this engine alone, which then releases it; else NULL. */
    void *owner;
    void (*release)(bough_context *ctx, void *owner);
} bo_body_plan;

extern const bo_engine_kind bo_body_engine;
/* Takes over the plan's owner, also when it fails. */
bough_status bo_body_engine_create(bough_context *ctx, const bo_body_plan *plan, const bo_engine_settings *settings,
                                   bo_engine *engine);

#endif
