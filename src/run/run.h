/* Inside view of a run. */
#ifndef BO_RUN_RUN_H
#define BO_RUN_RUN_H

#include "base/npy.h"
#include "record/series.h"
#include "record/table.h"
#include "run/engine.h"

#include <bough/run.h>

#define BO_RUN_MAX_HALVINGS 20
#define BO_RUN_UNITS (1 << BO_RUN_MAX_HALVINGS) /* of a step; its smallest part is one */

/* Where a run stands, and what it took to get there: saved with the state. */
typedef struct bo_run_place {
    int64_t step;     /* whole steps done */
    int32_t unit;     /* and this much of the next, 0 .. BO_RUN_UNITS - 1 */
    int32_t halvings; /* the next part is dt / 2^halvings */
    int32_t good;     /* parts of this size that succeeded in a row */
    int32_t deepest;  /* most halvings so far */
    int64_t iterations, retries;
    double start_energy[4];
} bo_run_place;

struct bough_run {
    bo_engine engine;
    bo_run_place place;
    double dt, duration;
    int64_t step_count;
    int32_t max_halvings;
    const char *engine_name, *coupling; /* of the lists in scene/scene.h; coupling NULL: not the tree engine */
    int32_t passes;                     /* as in the model's def */
    const char *integrator;             /* the registry's */
    uint64_t hash;                      /* of scene, integrator and dt */
    double *values;                     /* columns at the last good state */
    double *state;                      /* engine.state_size: to go back to when a step fails */
    double *trial;                      /* columns of a step that is not accepted yet */
    char *checkpoint;
    bo_table table;
    bo_series series;
    char *displacements_path; /* NULL: they are not recorded */
    bo_npy_writer displacements;
    int64_t displacement_rows; /* written by this run */
    double fps;
    bough_status (*watch)(void *data, bough_context *ctx, const bough_run *run); /* NULL: nobody looks */
    void *watch_data;
    double seconds, simulated; /* in bough_run_advance() */
};

double bo_run_time(const bough_run *run);
/* All columns at time t; an error when one is not finite. */
bough_status bo_run_measure(bough_context *ctx, bough_run *run, double t, double *values);
/* Makes the engine's displacements and velocities those of the present state. */
bough_status bo_run_show(const bough_run *run);
bool bo_run_frame_is_due(const bough_run *run);
/* A row of the table, and a frame when one is due. */
bough_status bo_run_record(bough_context *ctx, bough_run *run);

/* With the row of the present state, or after those of the frames up to now when they are there already. */
bough_status bo_run_open_displacements(bough_context *ctx, bough_run *run, const char *path, bool resumed);
bough_status bo_run_record_displacements(bough_context *ctx, bough_run *run);
/* The file appears under its name; nothing happens when none is open. */
bough_status bo_run_finish_displacements(bough_context *ctx, bough_run *run);

#endif
