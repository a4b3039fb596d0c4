/* The engine interface: a table of functions that every engine fills in its own room, and the face that it shows to
 * whoever steps it. `run`, recordings and the viewer know engines by this header only; scene/registry.c lists them. */
#ifndef BO_ENGINE_ENGINE_H
#define BO_ENGINE_ENGINE_H

#include "base/context.h"
#include "engine/probe.h"

#include <bough/engine.h>
#include <bough/time.h>

struct bough_mesh;
struct bough_tree_model;
struct bough_tree_state;

/* ---- hands: what a host does to a live run; the run owns them, the engine reads them in each step ---- */

typedef struct bo_hand {
    bool holds;
    int32_t part, vertex; /* of the part's surface; of the mesh where every vertex is drawn by itself */
    double target[3];     /* m; of a poke: N */
    double stiffness, damping;
} bo_hand;

typedef struct bo_hands {
    bo_hand pulls[BOUGH_RUN_HANDS];
    bo_hand poke;      /* of the next step */
    double impulse[3]; /* of the poke, N s: its force is that of a step's length */
    bool has_wind;
    bough_wind wind;
    double *motors; /* offsets that somebody chose, NAN: the scene's curve; NULL: nobody did */
} bo_hands;

/* The motor is held by somebody. */
static inline bool bo_hands_hold_motor(const bo_hands *hands, int32_t motor) {
    return hands && hands->motors && hands->motors[motor] == hands->motors[motor];
}

/* ---- settings that can be changed between steps ---- */

typedef enum bo_paint { BO_PAINT_STIFFNESS, BO_PAINT_DAMPING } bo_paint;
typedef enum bo_word { BO_WORD_COUPLING, BO_WORD_CONTINUITY, BO_WORD_INTEGRATOR } bo_word;

/* Facts that an engine reports beside its measurements. */
typedef struct bo_engine_report {
    const char *coupling;   /* NULL: it has none */
    int32_t passes;         /* 0: as suits it */
    int32_t internal_modes; /* of a reduced model */
    double frequency_error; /* of a reduced model's lowest frequency; NAN: not known */
} bo_engine_report;

/* ---- the table ---- */

typedef struct bo_engine bo_engine;

/* Functions that may be NULL say so. `data` is the engine's own. Thread rule of all of them: one caller at a time for
 * each engine; engines of the same scene share nothing that changes. */
typedef struct bo_engine_kind {
    const char *name;   /* "tree": in files, commands and reports */
    const char *label;  /* "full FEM": offered to people who choose between engines */
    const char *title;  /* "the tree engine": begins sentences */
    const char *things; /* "parts stay together in ...": why things cannot be changed; NULL: they can */
    uint32_t can;       /* bough_capability, all of them */

    void (*destroy)(bough_context *ctx, void *data);

    /* Takes a step from t to t + h, or returns an error and leaves the state that was (see in_pieces).
     * *iterations += those of Newton's method. */
    bough_status (*step)(void *data, double t, double h, int64_t *iterations);
    /* Fills all columns at time t but work and balance, which are the run's. */
    bough_status (*measure)(void *data, double t, double *values);
    /* Returns J done on the system since the start by all that has no potential in the column "external"; it goes with
     * the state that is saved. *doubt: how much a single step's sum may have been off at most; INFINITY: nobody counts.
     */
    double (*work)(const void *data, double *doubt);

    /* So many numbers are all there is to continue with the same bits; another number after things have changed, or after
     * something has touched. */
    int64_t (*state_size)(const void *data);
    void (*save)(const void *data, double *state);
    /* Refuses what another engine saved; the state is then what it was. */
    bough_status (*restore)(void *data, const double *state, int64_t size);

    /* Makes engine->things and engine->looks, which a run that nobody looks at needs no memory for. */
    bough_status (*gather)(bo_engine *engine);
    void (*look_at)(void *data, int32_t thing, bough_thing_state *state);
    /* Positions at rest of all vertices of all things, one after the other. NULL: the engine has a mesh of its own, or
     * all its things are rigid, and are placed by their frames. */
    bough_status (*rest_surface)(void *data, double *x);
    /* The same now, and their velocities. NULL: likewise. */
    bough_status (*surface)(void *data, double *x, double *v);
    /* Positions of the vertices of one thing, or (thing -1) of all with their surfaces joined as the continuity says.
     * NULL: nothing is drawn by modes. */
    bough_status (*positions)(void *data, int32_t thing, float *x);
    /* Vertices that coincide at rest. NULL: nothing is joined. */
    void (*seams)(const void *data, bough_seams *seams);

    /* BOUGH_CAN_PULL, _WIND, _MOTORS: from now on these hands act; again after the wind was changed. */
    void (*take_hands)(void *data, const bo_hands *hands);
    /* BOUGH_CAN_PULL: the mass (kg) and the frequency (Hz) that a hand feels which takes hold of the thing. */
    void (*feel)(void *data, int32_t thing, double *mass, double *frequency);
    /* BOUGH_CAN_MOTORS */
    void (*motor)(const void *data, int32_t i, bough_run_motor *motor);
    /* BOUGH_CAN_GRAVITY: sets it, m/s^2, from the next step on. */
    bough_status (*set_gravity)(void *data, const double gravity[3]);
    /* BOUGH_CAN_WIND: the wind that blows now. */
    const bough_wind *(*wind)(const void *data);
    /* BOUGH_CAN_CHANGE: what a host does to things between steps. changes() tells of it. */
    bough_status (*change)(void *data, int32_t count, const bough_change *list);
    /* Lists all that happened to things in the last step, by change(), or when the engine was made. NULL: nothing ever
     * does. */
    const bough_run_change *(*changes)(const void *data, int32_t *count);
    /* BOUGH_CAN_PAINT: of the thing, or of all that have its look. */
    bough_status (*paint)(void *data, bo_paint what, int32_t thing, bool siblings, double value);
    /* BOUGH_CAN_COUPLING, _CONTINUITY, _INTEGRATOR: chooses another by its name, in any case of letters, or fails with
     * a sentence and leaves what was. */
    bough_status (*choose)(void *data, bo_word what, const char *name);
    /* BOUGH_CAN_STRESS: largest von Mises' stress of each of stress_count, at the present state. */
    bough_status (*stresses)(void *data, double *von_mises);
    /* BOUGH_CAN_STRESS: von Mises' stress at each vertex of the mesh, at the present state. */
    bough_status (*vertex_stresses)(void *data, float *von_mises);
    /* BOUGH_CAN_DEVIATION: how far the interfaces at which something hangs are from rigid, of each thing. */
    void (*deviations)(void *data, float *of_things);
    /* BOUGH_CAN_GAPS: how far joints are apart; false: there are none. */
    bool (*joint_gap)(void *data, bough_run_gap *now, bough_run_gap *worst);
    /* BOUGH_CAN_FOLLOW: goes from the equilibrium that it is in to that at time t. *snaps: how often it jumped on the
     * way; *last: the last of them. When it fails it is in one on the way. */
    bough_status (*follow)(void *data, double t, int32_t *snaps, bough_run_snap *last);
    /* BOUGH_CAN_CONTACTS: lists the contacts of the last step, at most so many; returns how many there are. */
    int32_t (*contacts)(const void *data, int32_t most, bough_run_contact *contacts);
    /* BOUGH_CAN_JOINTS: lists the joints as they are now, at most so many; returns how many there are. */
    int32_t (*joints)(const void *data, int32_t most, bough_run_joint *joints);
    /* BOUGH_CAN_MODES: fills what was found. Things have been gathered if there are shapes. */
    bough_status (*modes)(void *data, bough_run_modes *modes);
    /* BOUGH_CAN_INPUTS: begins to record to a file all that is done; saves it so far; ends (kept: saves it first). */
    bough_status (*start_inputs)(void *data, const char *path);
    bough_status (*flush_inputs)(void *data);
    bough_status (*end_inputs)(void *data, bool kept);
    /* NULL: there is nothing to tell. */
    void (*report)(const void *data, bo_engine_report *report);
    /* The model and the state that are stepped, where they are those of <bough/tree.h>; NULL: they are not. */
    const struct bough_tree_model *(*model)(const void *data, struct bough_tree_state **state);
} bo_engine_kind;

/* Contacts of one moment. Zero bytes: none. */
typedef struct bo_contact_list {
    bough_run_contact *items;
    int32_t count;
    size_t capacity;
} bo_contact_list;

/* An engine that was made. Zero bytes: none. */
struct bo_engine {
    const bo_engine_kind *kind;
    void *data;
    int32_t column_count;
    char **columns;         /* names, the fixed ones of bough/engine.h first */
    const bool *blank;      /* of the columns: they tell of something that is absent, by NAN; NULL: of nothing */
    const char *integrator; /* its name in the registry of <bough/time.h> */
    int64_t head_size;      /* of a state that is saved: numbers at its start that need not be finite */
    double residual;        /* what was left of the forces when the start was settled; NAN: it was not */
    bool in_pieces;         /* a step may fail after a part of it was done, events in between: the run goes back then */
    bool overlaps;              /* things may begin in each other, or be led there, and the engine itself does not tell */
    int32_t motor_count;

    int32_t thing_count, look_count; /* 0 until gather() */
    const bough_thing *things;
    const bough_look *looks;

    /* The mesh of an engine whose vertices are drawn by themselves, and its motion; else NULL. */
    const struct bough_mesh *mesh;
    const double *displacement, *velocity;

    int32_t stress_count; /* of what has a stress: the things, or the elements of the mesh */

    /* ---- probes of contacts: contacts.h ---- */
    int32_t probe_count;
    const bo_probe *probes;
    int32_t *watched; /* 2 probe_count: the things of each probe of contacts, -1: any; NULL: no probe is one */
    bo_contact_list contacts;
};

/* The choices of a host about stepping a scene; each engine heeds those it can. */
typedef struct bo_engine_settings {
    bough_integrator_def integrator;
    const char *coupling, *continuity; /* NULL: the scene's */
    int32_t passes;                    /* 0: the scene's */
    bool settle;                       /* start in equilibrium */
    double dt;                         /* s: that steps will have; 0: not known */
} bo_engine_settings;

/* Names the columns: the fixed ones of bough/engine.h, then those of the probes. */
bough_status bo_engine_name_columns(bough_context *ctx, bo_engine *engine, int32_t count, const bo_probe *probes);
/* The name as the registry of <bough/time.h> has it, which stays; NULL: it has none of that name. */
const char *bo_registered_integrator(const char *name);
/* Gathers the things of the engine, once. */
bough_status bo_engine_need_things(bo_engine *engine);
/* Frees looks whose arrays are their own, and the list of them. Takes NULL where count is 0. */
void bo_looks_free(bough_context *ctx, int32_t count, bough_look *looks);
/* Accepts an engine that was created, or one that is all zero bytes. */
void bo_engine_destroy(bough_context *ctx, bo_engine *engine);

#endif
