/* A run: a scene stepped through time, with probes, recordings and checkpoints.
 *
 *     bough_scene_load(ctx, "beam.json", &scene);
 *     bough_run_def def = bough_default_run_def();
 *     def.record = "beam.csv";
 *     bough_run_create(ctx, scene, &def, &run);
 *     bough_run_advance(ctx, run);
 *     bough_run_destroy(ctx, run);
 *     bough_scene_destroy(ctx, scene);
 *
 * Threads: a run belongs to one thread at a time, also where it is const: looking may measure and gather. Runs of one
 * scene may go on side by side, each with a context of its own.
 *
 * Ownership: as <bough/base.h> says. Whatever a function returns by pointer belongs to the run, and lives until the run
 * is destroyed, or until the next step where the function says so.
 *
 * Failure: BOUGH_ERROR_UNSUPPORTED, with the engine's name, for what the engine cannot do; BOUGH_ERROR_ARGUMENT for
 * numbers, names and vertices that do not exist, and nothing has changed then.
 */
#ifndef BOUGH_RUN_H
#define BOUGH_RUN_H

#include <bough/scene.h>
#include <bough/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bough_run bough_run;

typedef struct bough_run_def {
    uint32_t cookie;
    const char *engine;        /* one of those that bough_scene_describe() lists; NULL: the scene's */
    const char *coupling;      /* of engines with BOUGH_CAN_COUPLING: "L1", "L2", "L2R" or "L3"; NULL: the scene's */
    int32_t passes;            /* of the same engines: 1 or 2; 0: the scene's */
    const char *continuity;    /* of surfaces that meet, in frames, displacements and pictures: "none" (each part by
                                * itself), "C0" or "C1", as bough_continuity; NULL: none */
    const char *integrator;    /* NULL: the scene's */
    double dt, duration;       /* s; 0: the scene's */
    int32_t max_halvings;      /* of a step that fails, 0..20 (default 10) */
    double energy_tolerance;   /* how much more energy there may be than the start and the work done account for, as a
                                * part of the energy in play: the largest kinetic + |change of elastic| + |change of
                                * external| + |work| so far. A step that ends with more fails with BOUGH_ENERGY_GAINED.
                                * 0: the scene's (0.05 where it says nothing); negative: any. A live run does not look */
    const char *record;        /* .csv of all columns, one row a step; NULL: none */
    const char *displacements; /* .npy of the displacements, one row of 3 x vertex_count a frame; readable after
                                * `every`, and when bough_run_advance() returns or the run is destroyed; NULL: none */
    const char *stresses;      /* .csv or .npy of von Mises' stress (Pa) of each part, the largest of its stress points,
                                * or of each element of a body, one row a frame; the .csv has the time before them, the
                                * .npy appears as that of the displacements; NULL: none */
    const char *frames;        /* folder of a .vtu series with its index frames.pvd; made when missing; NULL: none */
    const char *inputs; /* all that is done to a scene of parts, for bough_tree_log_replay() (<bough/tree.h>); written
                                * after `every`, when bough_run_advance() returns, however it ends, or the run is
                                * destroyed; NULL: none */
    const char
        *changes; /* .csv of what happens to parts and ties: time, change, part (or tie), stress, force; NULL: none */
    double fps;   /* frames and displacements per second of simulated time (default 30) */
    const char *checkpoint; /* written by bough_run_advance() at its end, however it ends, and before that `every` so
                             * often; NULL: none */
    double every;           /* s of wall time after which bough_run_advance() writes the checkpoint and makes recordings
                             * readable up to then, so that a run that is killed leaves them; 0: 60; negative: only at
                             * the end */
    const char *resume;     /* a checkpoint of this scene to go on from; NULL: from the start */
    /* Called when a frame is due, after what is recorded; a failure ends the run. NULL: nobody looks. */
    bough_status (*watch)(void *data, bough_context *ctx, const bough_run *run);
    void *watch_data;
    /* Called with watch_data whenever recordings are made readable, before the checkpoint is written. NULL: nobody
     * writes. */
    bough_status (*flush)(void *data, bough_context *ctx, const bough_run *run);
    /* Called after steps in which something happened to parts, and for what happens at the start. NULL: nobody asks. */
    void (*tell)(void *data, const bough_run_change *changes, int32_t count);
    void *tell_data;
    bool settle; /* start in equilibrium under gravity and what else acts steadily, also when the scene does not say so
                  */
    bool live;   /* for somebody who looks on and takes a hand in it, as a viewer does: only bough_run_step(), without
                  * recordings, checkpoints and a duration; energies and probes are measured when they are asked for */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_run_def;

/* All as the scene has it, nothing recorded; 10 halvings, 30 frames a second. */
BOUGH_API bough_run_def bough_default_run_def(void);

/* Makes a run at the start of the scene. The scene must outlive it; it may serve others at the same time, also on other
 * threads. What the def names is opened here and what it shows at the start is recorded; after resuming, rows and
 * frames of a recording that is already there and lies before the checkpoint are kept. */
BOUGH_API bough_status bough_run_create(bough_context *ctx, const bough_scene *scene, const bough_run_def *def,
                                        bough_run **run);
/* Completes the recordings and frees the run; what cannot be written is warned of. Takes NULL. */
BOUGH_API void bough_run_destroy(bough_context *ctx, bough_run *run);

/* One step of dt. Where it fails it is taken in halves, up to max_halvings times, with a warning; the parts grow again
 * when all goes well. When even the smallest part fails, the state is that of the last part that succeeded. In a live
 * run the context's progress callback may also cancel a step that is being halved. */
BOUGH_API bough_status bough_run_step(bough_context *ctx, bough_run *run);
/* Steps until the duration is reached or progress() of the context cancels. Recordings are complete and the checkpoint
 * is written when it returns, whatever the status. */
BOUGH_API bough_status bough_run_advance(bough_context *ctx, bough_run *run);

/* Goes from the equilibrium that the run is in (bough_run_def.settle) to that at another time, with motors as the scene's
 * curves have them then, and forces as they act then: the quasi-static motion. Values, things and surfaces are then those
 * there; the account of work is not kept. *snaps (may be NULL): how often the system jumped to another equilibrium on the
 * way, *last (may be NULL): the last time it did. When it fails, or progress() cancels, the run is in the last
 * equilibrium on the way. Unsupported without BOUGH_CAN_FOLLOW, or when the run was not settled. */
BOUGH_API bough_status bough_run_follow(bough_context *ctx, bough_run *run, double time, int32_t *snaps,
                                        bough_run_snap *last);

/* ---- hands: what is done to a live run between its steps. The work of one that is refused is not begun. ---- */

/* From now on a damped spring (N/m, N s/m) pulls the vertex of a thing (`part`, bough_run_thing()) to a place in the
 * world; the same hand may move on or take hold of something else. Vertices are those of the thing's look, or of the
 * mesh where each is drawn by itself. */
BOUGH_API bough_status bough_run_pull(bough_context *ctx, bough_run *run, int32_t hand, int32_t part, int32_t vertex,
                                      const double target[3], double stiffness, double damping);
/* The hand lets go; one that holds nothing may do so, too. */
BOUGH_API void bough_run_release(bough_run *run, int32_t hand);
/* An impulse (N s) during the next step, however long that is. */
BOUGH_API bough_status bough_run_poke(bough_context *ctx, bough_run *run, int32_t part, int32_t vertex,
                                      const double impulse[3]);
/* From now on this wind blows instead of the scene's; NULL: that again. */
BOUGH_API bough_status bough_run_set_wind(bough_context *ctx, bough_run *run, const bough_wind *wind);
/* From now on this gravity (m/s^2) acts instead of the scene's. */
BOUGH_API bough_status bough_run_set_gravity(bough_context *ctx, bough_run *run, const double gravity[3]);
/* From now on steps have this length, s. */
BOUGH_API bough_status bough_run_set_dt(bough_context *ctx, bough_run *run, double dt);
/* Changes where things hang, or whether they bend, between steps; bough_run_changes() and recordings know of it. All of
 * the changes or, when one of them fails, none. Unsupported without BOUGH_CAN_CHANGE. */
BOUGH_API bough_status bough_run_change_parts(bough_context *ctx, bough_run *run, int32_t count,
                                              const bough_change *changes);
/* The factor on a thing's frequencies, or its damping ratio; siblings: of all that have its look. The energy that this
 * gives counts as work. Unsupported without BOUGH_CAN_PAINT. */
BOUGH_API bough_status bough_run_set_stiffness(bough_context *ctx, bough_run *run, int32_t thing, bool siblings,
                                               double factor);
BOUGH_API bough_status bough_run_set_damping(bough_context *ctx, bough_run *run, int32_t thing, bool siblings,
                                             double ratio);
/* Another coupling, continuity or integrator by its name, from the next step on. What cannot be chosen is refused, and
 * the run goes on as before. Unsupported without BOUGH_CAN_COUPLING, _CONTINUITY, _INTEGRATOR. */
BOUGH_API bough_status bough_run_set_coupling(bough_context *ctx, bough_run *run, const char *name);
BOUGH_API bough_status bough_run_set_continuity(bough_context *ctx, bough_run *run, const char *name);
BOUGH_API bough_status bough_run_set_integrator(bough_context *ctx, bough_run *run, const char *name);

/* Returns the set of things that the engine can do (bough_capability). */
BOUGH_API uint32_t bough_run_can(const bough_run *run);
/* The gravity that acts in the next steps, m/s^2. */
BOUGH_API void bough_run_gravity(const bough_run *run, double gravity[3]);
/* The wind that blows now; false: the engine knows none. */
BOUGH_API bool bough_run_wind(const bough_run *run, bough_wind *wind);
/* Stiffness (N/m) and damping (N s/m) of a hand's spring that moves a thing without tearing at it. */
BOUGH_API bough_status bough_run_spring(bough_context *ctx, const bough_run *run, int32_t thing, double *stiffness,
                                        double *damping);
/* The state that is stepped, of a live run whose engine steps one of <bough/tree.h>. What the functions above change is
 * to be changed by them, so that the run knows. NULL: another engine, or not live. */
BOUGH_API bough_tree_state *bough_run_state(bough_run *run);

/* ---- motors ---- */

/* Counts the motors that somebody may take over: those of the scene, or the first 64 freedoms of joints between parts.
 */
BOUGH_API int32_t bough_run_motor_count(const bough_run *run);
/* Describes a motor; false: there is none of that number. */
BOUGH_API bool bough_run_motor_at(const bough_run *run, int32_t i, bough_run_motor *motor);
/* Takes a motor over from the next step on, in its unit; NAN: it is the scene's again. */
BOUGH_API bough_status bough_run_set_motor(bough_context *ctx, bough_run *run, int32_t i, double offset);

/* Moments of a live run in memory, to go back to: the state with all that was done to parts, but not hands, motors that
 * somebody holds, and the time step. They outlive the run, and suit other runs of the same scene with the same engine
 * and integrator; what does not fit is refused, and the run stays where it was. */
typedef struct bough_moment bough_moment;
/* Keeps the present moment, which belongs to the caller; and takes a run back to one. */
BOUGH_API bough_status bough_run_keep(bough_context *ctx, const bough_run *run, bough_moment **moment);
BOUGH_API bough_status bough_run_return(bough_context *ctx, bough_run *run, const bough_moment *moment);
/* Returns when it was (s), and how large it is (bytes). */
BOUGH_API double bough_moment_time(const bough_moment *moment);
BOUGH_API size_t bough_moment_size(const bough_moment *moment);
/* Frees a moment. Takes NULL. */
BOUGH_API void bough_moment_destroy(bough_context *ctx, bough_moment *moment);

/* Writes a checkpoint, complete on disk when the name appears; and goes on from one. One of another scene, integrator
 * or step is refused (BOUGH_ERROR_FORMAT), and so is one that was damaged: the run then stays where it was. Live runs
 * write none (BOUGH_ERROR_UNSUPPORTED). */
BOUGH_API bough_status bough_run_save(bough_context *ctx, const bough_run *run, const char *path);
BOUGH_API bough_status bough_run_restore(bough_context *ctx, bough_run *run, const char *path);

/* ---- looking ---- */

/* Counts the columns of recordings. */
BOUGH_API int32_t bough_run_column_count(const bough_run *run);
/* "time", "elastic", ..., "tip.x": as in the head of the recording. */
BOUGH_API const char *bough_run_column_name(const bough_run *run, int32_t column);
/* column_count values of the present state; valid until the next step. */
BOUGH_API const double *bough_run_values(const bough_run *run);

/* Returns the mesh that the run moves: that of a body, or the surfaces of all parts or rigids at rest, one after the
 * other, which are gathered when somebody looks for the first time. NULL: they are too many, or there is no memory for
 * them; the context of the run tells. */
BOUGH_API const bough_mesh *bough_run_mesh(const bough_run *run);
/* 3 x vertex_count of this mesh, m and m/s; they belong to the run and are valid until the next step. NULL: as above.
 */
BOUGH_API const double *bough_run_displacement(const bough_run *run);
BOUGH_API const double *bough_run_velocity(const bough_run *run);

/* Things: what the engine moves, gathered when somebody looks for the first time. They belong to the run. 0 and NULL:
 * there is none of that number, or no memory for them; the context of the run tells. */
BOUGH_API int32_t bough_run_thing_count(const bough_run *run);
BOUGH_API const bough_thing *bough_run_thing(const bough_run *run, int32_t thing);
BOUGH_API int32_t bough_run_look_count(const bough_run *run);
BOUGH_API const bough_look *bough_run_thing_look(const bough_run *run, int32_t look);
/* The thing as it is now; false: there is none of that number. */
BOUGH_API bool bough_run_thing_state(const bough_run *run, int32_t thing, bough_thing_state *state);
/* Positions of the vertices of a thing that is drawn by modes, or (thing -1) of all things with their surfaces joined
 * as the continuity says: 3 x vertex_count, m. Unsupported where nothing is drawn by modes. */
BOUGH_API bough_status bough_run_positions(bough_context *ctx, const bough_run *run, int32_t thing, float *positions);
/* Lists the places in which surfaces of things meet; empty if they never do. */
BOUGH_API void bough_run_seams(const bough_run *run, bough_seams *seams);

/* The joint whose error is largest now, and the largest since the run was made; either may be NULL. False: the engine
 * does not know, or there are no joints. It is measured whenever energies and probes are: each step, or each look at a
 * live run. When it exceeds "joint_tolerance" of the scene's engine for the first time, the context is warned. */
BOUGH_API bool bough_run_joint_gap(const bough_run *run, bough_run_gap *now, bough_run_gap *worst);

/* Lists the points where things touched in the last step, at most `most`; contacts may be NULL where that is 0. Returns
 * how many there are; 0 without BOUGH_CAN_CONTACTS. Allocates nothing but scratch for the most that was asked for. */
BOUGH_API int32_t bough_run_contacts(const bough_run *run, int32_t most, bough_run_contact *contacts);

/* Lists the joints as they are now, at most `most`, with the forces of the last step; joints may be NULL where that is 0.
 * Returns how many there are; 0 without BOUGH_CAN_JOINTS. Allocates nothing. */
BOUGH_API int32_t bough_run_joints(const bough_run *run, int32_t most, bough_run_joint *joints);

/* Finds the small vibrations of a live run about its present state, which should be one at rest; the caller sets `most` and
 * the arrays of *modes. BOUGH_ERROR_UNSUPPORTED without BOUGH_CAN_MODES. */
BOUGH_API bough_status bough_run_find_modes(bough_context *ctx, bough_run *run, bough_run_modes *modes);

/* Returns the number of things that have a stress: the parts, or the elements of the body; 0: nothing has. */
BOUGH_API int32_t bough_run_stress_count(const bough_run *run);
/* Largest von Mises' stress (Pa) of each of them now, as in bough_run_def.stresses. */
BOUGH_API bough_status bough_run_stresses(const bough_run *run, double *von_mises);
/* Von Mises' stress (Pa) at each vertex of bough_run_mesh(), to colour it: of parts the field of
 * bough_tree_state_surface_stress(), of a body the mean of the elements around the vertex. Unsupported without
 * BOUGH_CAN_STRESS. */
BOUGH_API bough_status bough_run_vertex_stresses(const bough_run *run, float *von_mises);

/* All that happened to parts since the run was made, in order; valid until the next step. */
BOUGH_API const bough_run_change *bough_run_changes(const bough_run *run, int32_t *count);

/* Measures for each thing how far the interfaces at which something hangs are from rigid. Unsupported without
 * BOUGH_CAN_DEVIATION. */
BOUGH_API bough_status bough_run_deviations(const bough_run *run, float *of_things);

/* The model and the state that are stepped, where they are those of <bough/tree.h>; both belong to the run. False: they
 * are not. */
BOUGH_API bool bough_run_model(const bough_run *run, const bough_tree_model **model, const bough_tree_state **state);

typedef struct bough_run_report {
    const char *engine;     /* its name */
    uint32_t can;           /* bough_capability */
    const char *reason;     /* a sentence: why this engine, where neither the scene nor the run said; NULL: one did */
    const char *coupling;   /* NULL: the engine has none */
    int32_t passes;         /* likewise; 0: as suits it */
    double settle_residual; /* what was left of the forces when the start was settled; NAN: it was not */
    const char *integrator;
    double time, dt, duration;                            /* s */
    int64_t steps, step_count;                            /* done since the start of the scene, in all */
    int64_t iterations;                                   /* of Newton's method */
    int64_t retries;                                      /* steps or parts of steps that failed and were halved */
    double smallest_dt;                                   /* s, of the parts that were taken */
    double start_energy[4];                               /* elastic, kinetic, external, total */
    double energy[4];                                     /* now */
    double work, balance;                                 /* J, as in the columns of these names */
    int64_t rows, frames, displacement_rows, stress_rows; /* recorded by this run */
    double seconds, simulated_time;                       /* wall clock and s in bough_run_advance() */
    bough_run_gap gap;                                    /* the largest so far; joint -1: nobody knows */
    int32_t internal_modes;                               /* of a reduced model; else 0 */
    double frequency_error; /* of a reduced model's lowest frequency against the whole one's; NAN: not known */
} bough_run_report;
/* Fills in the report of the run as it is now. Cannot fail. */
BOUGH_API void bough_run_look(const bough_run *run, bough_run_report *report);

#ifdef __cplusplus
}
#endif

#endif
