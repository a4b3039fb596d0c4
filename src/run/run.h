/* Inside view of a run. */
#ifndef BO_RUN_RUN_H
#define BO_RUN_RUN_H

#include "base/npy.h"
#include "engine/engine.h"
#include "record/series.h"
#include "record/table.h"
#include "scene/scene.h"

#include <bough/run.h>

#define BO_RUN_MAX_HALVINGS 20
#define BO_RUN_UNITS (1 << BO_RUN_MAX_HALVINGS) /* of a step; its smallest part is one */

/* The position of a run, and the effort to get there: saved with the state. */
typedef struct bo_run_place {
    int64_t step;     /* whole steps done */
    int32_t unit;     /* and this much of the next, 0 .. BO_RUN_UNITS - 1 */
    int32_t halvings; /* the next part is dt / 2^halvings */
    int32_t good;     /* parts of this size that succeeded in a row */
    int32_t deepest;  /* most halvings so far */
    int64_t iterations, retries;
    double start_energy[4];
    double in_play; /* J: see bough_run_def.energy_tolerance */
} bo_run_place;

/* A .npy file with one row a frame. */
typedef struct bo_run_array {
    char *path; /* NULL: it is not recorded */
    int32_t columns;
    bo_npy_writer writer;
    int64_t rows; /* written by this run */
} bo_run_array;

/* The mesh that is drawn: the engine's own, or the surfaces of all its things, gathered when somebody looks. */
typedef struct bo_run_surface {
    const bough_mesh *mesh; /* NULL: nobody has looked */
    const double *displacement, *velocity;
    bough_mesh *gathered; /* what belongs to the run; NULL: the engine has its own */
    int32_t *thing_of;    /* of each triangle; NULL: likewise */
    double *moved, *rate;
} bo_run_surface;

struct bough_run {
    bough_context *ctx; /* that the run was made with */
    bo_engine engine;
    bo_run_place place;
    double dt, duration;
    int64_t step_count;
    int32_t max_halvings;
    double energy_tolerance;     /* 0 or less: none */
    bool over_tolerance;         /* so ended the step that was tried last */
    double given;                /* J: by what a host changed between steps, of a live run */
    char reason[BO_REASON_SIZE]; /* why this engine, where nobody named one; else empty */
    const char *integrator;      /* the registry's */
    uint64_t hash;               /* of scene, engine, integrator and dt */
    double *values;              /* columns at the last good state */
    double *state;               /* to go back to when a step fails */
    int64_t state_size;          /* numbers of it */
    size_t state_capacity;
    double *trial; /* columns of a step that is not accepted yet */
    char *checkpoint;
    bo_table table;
    bo_series series;
    bo_run_array displacements, stresses;
    bo_table stress_table; /* stresses as .csv */
    double *stress;        /* time, then engine.stress_count: of the frame */
    double *von_mises;     /* of a frame of the series: engine.stress_count, then of the mesh's elements */
    bo_run_surface surface;
    double gravity[3];         /* m/s^2, as it acts in the next steps */
    bough_run_change *changes; /* all that happened */
    size_t change_count, change_capacity;
    bo_table change_table;
    void (*tell)(void *data, const bough_run_change *changes, int32_t count);
    void *tell_data;
    double fps;
    bough_status (*watch)(void *data, bough_context *ctx, const bough_run *run); /* NULL: nobody looks */
    bough_status (*flush)(void *data, bough_context *ctx, const bough_run *run); /* NULL: nobody writes */
    void *watch_data;
    double every;              /* s of wall time; INFINITY: never */
    double seconds, simulated; /* in bough_run_advance() */
    bool live;
    bo_hands hands;
    double since_time; /* steps have been of dt since then, which was the end of this step */
    int64_t since_step;
    double measured; /* time at which a live run was; NAN: at none */
    bough_run_contact overlap; /* the deepest when somebody looked last; gap 0: none */
    bool watches, crushed;     /* somebody has looked; and has told of something that is far too deep */
};

double bo_run_time(const bough_run *run);
/* All columns at time t; an error when one is not finite. */
bough_status bo_run_measure(bough_context *ctx, bough_run *run, double t, double *values);
/* account.c: work and balance of columns that were measured. */
void bo_run_account(const bough_run *run, double *values);
/* BOUGH_ENERGY_GAINED when there is more energy than the account allows. */
bough_status bo_run_check_energy(bough_context *ctx, bough_run *run, const double *values);
/* The same, with what to do about it. */
bough_status bo_run_advise(bough_context *ctx, const bough_run *run);
/* overlap.c: notes what is deepest in something else in a step that was tried, before it is taken back; and puts its name
 * behind the sentence that ends the run. False: nothing is deep in anything. */
void bo_run_note_overlap(bough_run *run);
bool bo_run_name_overlap(bough_context *ctx, bough_run *run, bough_status status);
/* After a step, or a part of it: warns of what began inside of something, and once of what is far inside. */
bough_status bo_run_watch_overlaps(bough_run *run);
/* The energy in play, once the columns are those of a state that is accepted. */
void bo_run_note_energy(bough_run *run, const double *values);

/* surface.c: what is drawn. From here on the run has a mesh; of a run that the caller may only look at, too: nobody
 * sees what it adds before. */
bough_status bo_run_need_mesh(const bough_run *run);
void bo_run_free_surface(bough_context *ctx, bough_run *run);
/* run->state becomes the engine's. */
bough_status bo_run_keep_state(bough_context *ctx, bough_run *run);
/* Makes displacements and velocities of the surface those of the present state. */
bough_status bo_run_show(const bough_run *run);
bool bo_run_frame_is_due(const bough_run *run);
/* A frame of the series. */
bough_status bo_run_record_frame(bough_context *ctx, bough_run *run);
/* A row of the table, and a frame when one is due. */
bough_status bo_run_record(bough_context *ctx, bough_run *run);

/* inputs: all that is done to the state, where the engine records it. It is saved, and goes on; it is saved, and ends;
 * nothing happens where there is none. */
bough_status bo_run_open_inputs(bough_context *ctx, bough_run *run, const char *path);
bough_status bo_run_flush_inputs(bough_run *run);
bough_status bo_run_finish_inputs(bough_run *run);
void bo_run_discard_inputs(bough_run *run);

/* changes.c: what happened to parts in the last step. First room for it, which may fail; then it counts, and is
 * recorded and told of. */
bough_status bo_run_reserve_changes(bough_context *ctx, bough_run *run);
bough_status bo_run_take_changes(bough_context *ctx, bough_run *run);
bough_status bo_run_open_changes(bough_context *ctx, bough_run *run, const char *path, bool resumed);

/* arrays.c: what has one row a frame. With the row of the present state, or after those of the frames up to now when
 * they are there already. */
bough_status bo_run_open_displacements(bough_context *ctx, bough_run *run, const char *path, bool resumed);
bough_status bo_run_open_stresses(bough_context *ctx, bough_run *run, const char *path, bool resumed);
bough_status bo_run_record_arrays(bough_context *ctx, bough_run *run);
/* The rows so far can be read; nothing happens where none is open. */
bough_status bo_run_flush_arrays(bough_context *ctx, bough_run *run);
/* Files appear under their names; nothing happens where none is open. */
bough_status bo_run_finish_arrays(bough_context *ctx, bough_run *run);
/* An earlier recording stays. */
void bo_run_discard_arrays(bough_context *ctx, bough_run *run);
void bo_run_free_arrays(bough_context *ctx, bough_run *run);

#endif
