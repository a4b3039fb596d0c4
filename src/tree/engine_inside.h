/* Inside view of the tree engine, for its own files. */
#ifndef BO_TREE_ENGINE_INSIDE_H
#define BO_TREE_ENGINE_INSIDE_H

#include "tree/engine.h"
#include "tree/engine_changes.h"
#include "tree/engine_motors.h"

typedef struct tree_engine {
    bough_context *ctx;
    const bo_tree_plan *plan;
    bough_tree_model *model;
    bough_tree_state *state;
    bo_tree_changes changes;
    bo_tree_motors motors;
    const bo_hands *hands;    /* NULL: none */
    bool *blank;              /* of the columns: of probes of absent parts */
    double largest_step;      /* so far, s */
    bool refused;             /* the last step was, for energy that it made */
    double rest_gravity;      /* potential of the parts at rest, J */
    double start_steady;      /* potential of the steady forces at the start, J */
    int32_t *vertices;        /* of the probes: vertex of the part's surface; -1: its frame's origin */
    int32_t *points;          /* of the stress probes: stress point; -1: all */
    double *rest;             /* probes x 3: where they are at rest */
    int32_t *pushed;          /* of the forces: vertex, as of the probes */
    double *pushed_rest;      /* forces x 3: where they act at rest */
    float *positions, *rates; /* of the largest part */
    bough_tree_log *inputs;   /* NULL: none, or saved */
    char *inputs_path;
    /* ---- what is shown, from bo_tree_gather() on ---- */
    bough_thing *things; /* the parts, then obstacles */
    bough_look *looks;   /* of the components, then of obstacles */
    int32_t look_count;
    float *joined; /* of all parts; NULL: nobody asked for them yet */
} tree_engine;

static inline bool bo_tree_is_there(const tree_engine *e, int32_t part) {
    return bo_part_is_there(e->model, e->state, part);
}

static inline const bough_component *bo_tree_component_of(const tree_engine *e, int32_t part) {
    const bough_tree_model_def *def = bough_tree_model_describe(e->model);
    return def->components[def->parts[part].component];
}

/* ---- engine_touch.c: how things touch at the start ---- */

/* Refuses scenes in which parts are to touch, and none can. */
bough_status bo_tree_check_samples(const tree_engine *e);
/* Warns of the part that is deepest inside of an obstacle or a solid. */
void bo_tree_warn_of_overlaps(const tree_engine *e);

/* ---- engine_surface.c: parts as things, and their surfaces ---- */

/* Writes the positions of a part's surface in a state to e->positions; those of an absent part as it rests in its
 * frame. */
bough_status bo_tree_positions_of(const tree_engine *e, const bough_tree_state *state, int32_t part);
bough_status bo_tree_gather(bo_engine *engine);
void bo_tree_look_at(void *data, int32_t thing, bough_thing_state *state);
bough_status bo_tree_rest_surface(void *data, double *x);
bough_status bo_tree_surface(void *data, double *x, double *v);
bough_status bo_tree_positions(void *data, int32_t thing, float *x);
void bo_tree_seams(const void *data, bough_seams *seams);
void bo_tree_feel(void *data, int32_t thing, double *mass, double *frequency);
void bo_tree_deviations(void *data, float *of_things);
void bo_tree_drop_surface(tree_engine *e);

#endif
