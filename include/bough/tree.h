/* The tree engine: parts, each an instance of a reduced component with its own frame, hung onto each other.
 *
 * A model is a constant description, a state all that changes. Equations: docs/theory/tree.md.
 *
 * Ownership: as <bough/base.h> says. A model keeps pointers to its components, which must outlive it, unless it was
 * read from a pack. A model must outlive its states, and each is used with the model that it was made with.
 *
 * Threads: any number of them may use one model, each with states and a context of its own. A state, with its
 * recording, belongs to one thread at a time, also where it is const: looking uses its scratch. Steps give the same
 * bits for any number of threads of the context.
 *
 * Failure: BOUGH_ERROR_ARGUMENT for parts, vertices and numbers that do not exist or make no sense, BOUGH_NOT_FINITE,
 * BOUGH_NO_CONVERGENCE and BOUGH_ENERGY_GAINED where a smaller step may succeed. What changes a state is a transaction:
 * when it fails, the state is what it was, unless the function says otherwise. Steps allocate nothing after the first,
 * unless they are recorded.
 */
#ifndef BOUGH_TREE_H
#define BOUGH_TREE_H

#include <bough/component.h>
#include <bough/contact.h>
#include <bough/engine.h>
#include <bough/rig.h>
#include <bough/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The way in which a part feels the parts that hang on it. */
typedef enum bough_coupling {
    BOUGH_COUPLING_L1,  /* as a mass in the interface's centre */
    BOUGH_COUPLING_L2,  /* as a mass in its centre of mass, with torques */
    BOUGH_COUPLING_L2R, /* as a rigid body */
    BOUGH_COUPLING_L3   /* exactly */
} bough_coupling;

/* The way in which the surfaces of parts that hang on each other are joined. */
typedef enum bough_continuity {
    BOUGH_CONTINUITY_C0,  /* vertices that coincide at rest get the mean of their positions and one normal */
    BOUGH_CONTINUITY_C1,  /* also the motions of both parts are blended around an interface: no kink */
    BOUGH_CONTINUITY_NONE /* parts as they are, each with its own normals */
} bough_continuity;

/* A pose over time: cubic splines through the keys, at rest before the first and after the last. */
typedef struct bough_track {
    int32_t count;          /* of keys; 0: there is no track */
    const double *time;     /* count, s, ascending */
    const double *position; /* count x 3 */
    const double *rotation; /* count x 4: quaternions w x y z */
} bough_track;

typedef struct bough_part_def {
    uint32_t cookie;
    const char *name; /* copied; NULL: none */
    int32_t component;
    int32_t parent;           /* part, or -1 for a root */
    int32_t interface_index;  /* of the parent's component */
    double rotation[9];       /* its axes at rest, in those of the parent (of a root: of the world), row-major */
    double position[3];       /* of a root's origin */
    double offset[3];         /* of its origin from the interface's centre, in the parent's axes at rest: it moves with
                                 the interface as if they were one rigid body */
    double scale;             /* uniform, against the component */
    double stiffness;         /* factor on frequencies: forces take its square */
    double damping_mass;      /* Rayleigh, 1/s; NAN: as the component, with the same damping ratios at any scale */
    double damping_stiffness; /* s; likewise */
    /* Makes both of these as much larger or smaller as gives the part this damping ratio at the lowest frequency of
     * bough_tree_state_lowest_frequencies(); damping by stiffness where they are 0. NAN: they stay */
    double damping_ratio;
    bough_track track; /* of a root that is held: its pose in the world instead of rotation and position; copied */
    /* By which a part hangs that is not welded, for the exact coupling, L3; NULL: it is welded. Copied. A hinge about z
     * of `child.pose`, or a ball, whose coordinates are the rotation vector in the axes of the part; both turn about
     * the part's origin, against the interface that it hangs at, and start at `start`, also where nothing hangs in
     * them. Springs have one stiffness and damping in all directions and pull back to angle 0. Frames say no more than
     * where the axis is: the part says what it hangs on. */
    const bough_joint_def *joint;
    bool free;   /* a root that flies; those whose components were cooked to fly do so in any case */
    bool locked; /* it stays as it is bent: a rigid body, until it is unlocked. It has no velocities in v */
    bool absent; /* it, and what hangs on it, is not there until it is added */
    bool asleep; /* as states have it, of a root that flies: it rests, with what hangs on it, and is not stepped
                             until something touches it. Models begin awake, whatever stands here */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_part_def;
/* A root at the world's origin, welded, of scale and stiffness 1, damped as its component. */
BOUGH_API bough_part_def bough_default_part_def(void);

/* No wind; gust 0.5, length 10 m, density 1.2 kg/m^3, drag 1.2, seed 1 */
BOUGH_API bough_wind bough_default_wind(void);
/* Finds the velocity of the air at a place: the mean and the gusts. Any thread may ask. */
BOUGH_API void bough_wind_at(const bough_wind *wind, double time, const double position[3], double velocity[3]);

typedef struct bough_tree_model_def {
    uint32_t cookie;
    int32_t component_count;
    const bough_component *const *components; /* must outlive the model */
    int32_t part_count;
    const bough_part_def *parts;
    int32_t tie_count;
    /* Stiff damped springs in all six freedoms between two interfaces that meet at rest (BOUGH_JOINT_COMPLIANT): they
     * close loops, which a tree of parts cannot. Integrated implicitly with the parts; for the exact coupling, L3. The
     * parent is a part's interface, the child another part's or BOUGH_WORLD. One stiffness and damping along all axes,
     * and one about them (both 0: a ball). The child's frame is where the parent's is at rest: parts straight, joints
     * at angle 0, roots that are led at their first key; poses of both stay the default. Names are copied. */
    const bough_joint_def *ties;
    double gravity[3];       /* m/s^2; 0, as in all states and files: nothing acts unless it is named */
    bough_coupling coupling; /* this and what follows: of new states */
    double alpha;            /* of HHT, -1/3 .. 0; 0: Newmark */
    int32_t passes; /* 0: inertia and forces are taken once, where the step foresees its parts, and the energy of
                       undamped trees is looked after; for lumped couplings, trees that fly and ties as below. 1: at the
                       start of a step; 2: inertia a second time at its end (and ties until they agree with where their
                       ends go) */
    bough_wind wind;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_tree_model_def;
/* Nothing in it, and nothing acts; exact coupling, alpha -0.05, passes 0. */
BOUGH_API bough_tree_model_def bough_default_tree_model_def(void);

typedef struct bough_tree_model bough_tree_model;
/* Makes a model. Checks and copies all of the def but the components. BOUGH_ERROR_UNSUPPORTED for joints that trees do
 * not have. */
BOUGH_API bough_status bough_tree_model_create(bough_context *ctx, const bough_tree_model_def *def,
                                               bough_tree_model **model);
BOUGH_API void bough_tree_model_destroy(bough_context *ctx, bough_tree_model *model);

/* Counts the parts. */
BOUGH_API int32_t bough_tree_model_part_count(const bough_tree_model *model);
/* Counts the coordinates of all parts and joints. */
BOUGH_API int32_t bough_tree_model_size(const bough_tree_model *model);
/* Returns the place where the coordinates of a part begin in q, v and a. */
BOUGH_API int32_t bough_tree_model_offset(const bough_tree_model *model, int32_t part);
/* Returns the place where the coordinates of its joint begin; -1: it is welded. */
BOUGH_API int32_t bough_tree_model_joint_offset(const bough_tree_model *model, int32_t part);
/* Returns the definition the model was made of; strings and arrays belong to the model. */
BOUGH_API const bough_tree_model_def *bough_tree_model_describe(const bough_tree_model *model);
/* Returns the part of that name; -1: there is none. */
BOUGH_API int32_t bough_tree_model_find_part(const bough_tree_model *model, const char *name);

/* ---- packs: a model in one file, with its components (docs/pack-format.md) ---- */

/* Writes a pack. It appears under its name only when it is complete. */
BOUGH_API bough_status bough_tree_model_save(bough_context *ctx, const bough_tree_model *model, const char *path);
/* Reads a pack and checks all of it (BOUGH_ERROR_FILE, BOUGH_ERROR_FORMAT). The model owns copies of all that it needs.
 */
BOUGH_API bough_status bough_tree_model_load(bough_context *ctx, const char *path, bough_tree_model **model);
/* The same from memory. */
BOUGH_API bough_status bough_tree_model_read(bough_context *ctx, const void *bytes, size_t size,
                                             bough_tree_model **model);

/* A root that flies. Momenta are those of its whole tree about the world's origin; they follow from the velocities when
 * bough_tree_state_update() is called, and are then kept by the steps. */
typedef struct bough_tree_root {
    int32_t part;
    bough_pose pose;
    double velocity[3], angular_velocity[3];         /* of its frame, world axes */
    double acceleration[3], angular_acceleration[3]; /* likewise */
    double blow[3]; /* what forces of contact have added to its acceleration, in its own axes */
    double momentum[3], angular_momentum[3];
    double mass, centre[3]; /* of the tree */
} bough_tree_root;

/* Part of something larger: only bough_tree_state_create() makes one, and a copy of the struct is none. */
typedef struct bough_tree_state {
    double time;
    double *q, *v, *a;      /* coordinates, velocities and accelerations: bough_tree_model_size() each */
    int32_t root_count;     /* changes with what is detached and attached */
    bough_tree_root *roots; /* those that fly, in the order of their parts */
    bough_frame *frames;    /* of the parts, at the last step or bough_tree_state_update() */
    /* Factors of the parts, as in their defs, with NAN of damping replaced by its meaning; may be changed between
     * steps. */
    double *stiffness, *damping_mass, *damping_stiffness;
    double *tie_strength; /* of the ties: factors on stiffness and damping; 0: it is cut */
    bough_wind wind;
    /* As in the model's def; they too may be changed between steps. */
    double gravity[3];
    bough_coupling coupling;
    double alpha;
    int32_t passes;
    bough_continuity continuity; /* of bough_tree_state_surface() */
    /* ---- machinery ---- */
    double *mean_a; /* accelerations, in the mean of the last step */
    double
        last_dt; /* s, of the last step; 0: the next one is the first, or the first since bough_tree_state_update() */
} bough_tree_state;
/* Makes a state: the model at rest, joints at their start, with the settings of the def. */
BOUGH_API bough_status bough_tree_state_create(bough_context *ctx, const bough_tree_model *model,
                                               bough_tree_state **state);
BOUGH_API void bough_tree_state_destroy(bough_context *ctx, bough_tree_state *state);
/* After q, v or roots were changed: makes frames and momenta those of the new state. */
BOUGH_API bough_status bough_tree_state_update(bough_context *ctx, const bough_tree_model *model,
                                               bough_tree_state *state);
/* One step. A transaction: when it fails, the state is what it was. */
BOUGH_API bough_status bough_tree_step(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                       double dt);

/* From now on bough_tree_step() takes steps of a method of <bough/time.h>; NULL: the tree's own again. For exact
 * coupling and roots that are held still, without ties, where no part is locked, absent or out of its joint: changes
 * that would make it so are refused meanwhile. Inertia is that of the start of a step, which makes implicit methods
 * first order in it, or with passes = 2 that of its middle, which keeps their order; docs/theory/tree.md tells which
 * methods apply. */
BOUGH_API bough_status bough_tree_state_use_integrator(bough_context *ctx, const bough_tree_model *model,
                                                       bough_tree_state *state, const bough_integrator_def *def);

/* ---- changes while running: which part hangs where is part of the state ----
 *
 * The parts of the model, their coordinates and numbers stay; where they hang, which of them fly, are locked or are
 * absent may change between steps. Steps take the new tree as it is then laid out, as fast as if it had been made so.
 */

/* All of them in order, or, when one of them fails, none. A part that was absent before can only be added; one that was
 * there cannot be removed and added at once. Attached parts lie as they did before all of it. Where parts that meet
 * move differently, or a part that moves is locked, velocities become those that share out the momenta (a perfectly
 * plastic impact): momenta are kept, kinetic energy can only be lost; a detached part keeps both. What is added or put
 * back moves with what it hangs on. Trees that none of the changes touches go on with the same bits as without them, as
 * long as enough equal parts are left at their depth to be computed side by side (docs/theory/tree.md) and passes do
 * not change. Needs memory: on success pointers into the state, such as roots, may have changed. */
BOUGH_API bough_status bough_tree_state_change(bough_context *ctx, const bough_tree_model *model,
                                               bough_tree_state *state, int32_t count, const bough_change *changes);
/* One of these changes each. */
BOUGH_API bough_status bough_tree_state_detach(bough_context *ctx, const bough_tree_model *model,
                                               bough_tree_state *state, int32_t part);
BOUGH_API bough_status bough_tree_state_attach(bough_context *ctx, const bough_tree_model *model,
                                               bough_tree_state *state, int32_t part, int32_t parent,
                                               int32_t interface_index);
BOUGH_API bough_status bough_tree_state_lock(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                             int32_t part, bool locked);
/* Returns the parts as they are now: parents, interfaces, rotations, offsets, joints, tracks, free, locked and absent
 * as they stand. Valid until the next change, or until a snapshot is restored. */
BOUGH_API const bough_part_def *bough_tree_state_parts(const bough_tree_model *model, const bough_tree_state *state);

/* ---- painting: frequencies and damping of parts, between steps (docs/theory/tree.md) ---- */

/* Sets the factor on a part's frequencies against its component, or on those of all parts of a component. Damping
 * follows, so that ratios stay. */
BOUGH_API bough_status bough_tree_state_set_stiffness(bough_context *ctx, const bough_tree_model *model,
                                                      bough_tree_state *state, int32_t part, double factor);
BOUGH_API bough_status bough_tree_state_set_component_stiffness(bough_context *ctx, const bough_tree_model *model,
                                                                bough_tree_state *state, int32_t component,
                                                                double factor);
/* Lowest frequencies (Hz) of all parts as they are painted now: each held where it hangs (a root that flies: free),
 * with all that hangs on it at rest as one rigid body; locked ones as if they bent. INFINITY for rigid ones, 0 for
 * absent ones. */
BOUGH_API bough_status bough_tree_state_lowest_frequencies(bough_context *ctx, const bough_tree_model *model,
                                                           const bough_tree_state *state, double *hz);
/* Sets the damping ratio of a part, or of all parts of a component, at this frequency. Damping by mass and by stiffness
 * keep their shares of it; where there is none, it is by stiffness. Absent parts of a component keep theirs. */
BOUGH_API bough_status bough_tree_state_set_damping_ratio(bough_context *ctx, const bough_tree_model *model,
                                                          bough_tree_state *state, int32_t part, double ratio);
BOUGH_API bough_status bough_tree_state_set_component_damping_ratio(bough_context *ctx, const bough_tree_model *model,
                                                                    bough_tree_state *state, int32_t component,
                                                                    double ratio);

/* ---- snapshots: all that a state needs to go on with the same bits ---- */

/* Bytes that a snapshot takes: the same until something is changed. */
BOUGH_API size_t bough_tree_state_snapshot_size(const bough_tree_model *model, const bough_tree_state *state);
/* For the same program and kind of machine. Forces that are to act in the next step are included, and what an
 * integrator knows of the step before, but not the modes of hybrid ones: those begin anew. */
BOUGH_API void bough_tree_state_save(const bough_tree_model *model, const bough_tree_state *state, void *bytes);
/* Refuses snapshots of other models, and damaged ones; the state is then what it was. Parts that hung elsewhere hang
 * there again, which needs memory: pointers into the state, such as roots, may have changed. */
BOUGH_API bough_status bough_tree_state_restore(bough_context *ctx, const bough_tree_model *model,
                                                bough_tree_state *state, const void *bytes, size_t size);

/* ---- recordings: all that is done to a state, to be done again with the same bits ----
 *
 * Steps, changes and all else that moves a state are recorded as they are called, refused ones too; what is written
 * into the state between them (forces and pulls, wind, settings, factors, coordinates, roots; not frames) as the
 * numbers that differ. A recording grows in memory: 16 bytes a step, 16 for each stretch of numbers that was written
 * and 8 for each number, and a snapshot for each bough_tree_state_restore() and bough_tree_state_settle(). */
typedef struct bough_tree_log bough_tree_log;
/* Begins with a snapshot of the state, and with what that leaves out (the modes of hybrid integrators) forgotten. From
 * now on what is done to the state may need memory; where there is none, it does not happen (BOUGH_ERROR_MEMORY). */
BOUGH_API bough_status bough_tree_log_start(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                            bough_tree_log **log);
/* Ends a recording, before the state is destroyed; it is complete then, and the state may go on. */
BOUGH_API bough_status bough_tree_log_stop(bough_context *ctx, const bough_tree_model *model, bough_tree_log *log);
/* Frees a recording, also one that goes on: the state is then not recorded any more. */
BOUGH_API void bough_tree_log_destroy(bough_context *ctx, bough_tree_log *log);

typedef struct bough_tree_log_info {
    int64_t steps;               /* bough_tree_step() and bough_tree_advance() that were not refused */
    double start_time, end_time; /* of the state, s */
    size_t size;                 /* bytes */
    bool complete;
} bough_tree_log_info;
/* Describes a recording, also one that goes on. */
BOUGH_API bough_tree_log_info bough_tree_log_describe(const bough_tree_log *log);

/* Called after each step that was not refused. It may look at the state but not change it. */
typedef bough_status (*bough_tree_log_watch)(void *data, bough_context *ctx, const bough_tree_model *model,
                                             bough_tree_state *state);
/* Brings any state of the model to the start of a complete recording and does all of it again, with any number of
 * threads. watch may be NULL; a failure of it, or cancelling, ends the replay where it is. same (may be NULL): the
 * state ended with the bits that the recorded one had. It does for the same program, kind of machine and components. */
BOUGH_API bough_status bough_tree_log_replay(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                             const bough_tree_log *log, bough_tree_log_watch watch, void *data,
                                             bool *same);

/* Writes a complete recording (docs/log-format.md), which appears under its name only when all of it is there. */
BOUGH_API bough_status bough_tree_log_save(bough_context *ctx, const bough_tree_log *log, const char *path);
/* Writes one that goes on, as if it ended here. */
BOUGH_API bough_status bough_tree_log_flush(bough_context *ctx, const bough_tree_model *model, bough_tree_log *log,
                                            const char *path);
/* Reads and checks a recording (BOUGH_ERROR_FILE, BOUGH_ERROR_FORMAT). */
BOUGH_API bough_status bough_tree_log_load(bough_context *ctx, const char *path, bough_tree_log **log);
/* The same from memory. */
BOUGH_API bough_status bough_tree_log_read(bough_context *ctx, const void *bytes, size_t size, bough_tree_log **log);

/* dt of time: in one step where that works; one that is refused is taken in halves, down to dt / 1024, and what comes
 * after begins with twice the last step. Forces act during all of it. Unlike bough_tree_step() it also halves steps in
 * which a part bends by more than about 0.05 rad, which the step's linear forces are no good for. When even the
 * smallest is refused, the state is the last good one, on the way, with the forces still on it. refused (may be NULL):
 * how many were. */
BOUGH_API bough_status bough_tree_advance(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                          double dt, int32_t *refused);

/* ---- statics ---- */

typedef struct bough_tree_settle_def {
    uint32_t cookie;
    double tolerance; /* what is left of the forces, against the elastic ones and those on the state */
    int32_t max_iterations;
    /* Forces that depend on where the parts are, such as those that keep their direction: called at every q that is
     * tried, with a state that is there, without velocities and forces; adds forces to it. A failure ends the search.
     * NULL: the forces on the state turn with their parts. */
    bough_status (*push)(void *data, bough_context *ctx, const bough_tree_model *model, bough_tree_state *state);
    void *data;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_tree_settle_def;
/* Tolerance 1e-9, at most 3000 iterations, no push. */
BOUGH_API bough_tree_settle_def bough_default_tree_settle_def(void);

/* Equilibrium of trees whose roots are held, under gravity and the forces on the state, sought from q; velocities
 * become zero, forces stay (or are those that were pushed there). Trees lean on what the state touches, with a fiftieth of
 * its friction; its contacts are then those of the equilibrium. BOUGH_NO_CONVERGENCE leaves the last q. residual (may be
 * NULL): what was left. */
BOUGH_API bough_status bough_tree_state_settle(bough_context *ctx, const bough_tree_model *model,
                                               bough_tree_state *state, const bough_tree_settle_def *def,
                                               double *residual);

/* ---- small vibrations ---- */

/* Modes of a tree about a state: K x = omega^2 M x. */
typedef struct bough_tree_modes {
    int32_t count, size;    /* size: coordinates of the model */
    int32_t unstable_count; /* modes with omega^2 < 0: the tree is about to fall over in that way */
    double *squares;        /* count: omega^2, 1/s^2, ascending */
    double *frequencies_hz; /* count: 0 where omega^2 < 0 */
    double *shapes;         /* count x size: changes of q; of unit modal mass (of the part that vibrates, where the
                               coupling is not exact, L3). Of a tree that flies without the motion of its root */
} bough_tree_modes;

/* The `count` modes of lowest frequency (fewer where there are fewer) about the state's q, which should be one at rest:
 * bough_tree_state_settle() makes one with gravity. Weight, ties and the forces on the state (which turn with their
 * parts) add their stiffness. The coupling is the state's: exactly, L3, the tree vibrates as one; with the others each
 * part vibrates with what hangs on it as its load, and carries the parts further out along. Velocities, wind and
 * damping are left out. Of trees that fly the modes that bend them. */
BOUGH_API bough_status bough_tree_state_modes(bough_context *ctx, const bough_tree_model *model,
                                              bough_tree_state *state, int32_t count, bough_tree_modes **modes);
/* Frees modes. Takes NULL. */
BOUGH_API void bough_tree_modes_destroy(bough_context *ctx, bough_tree_modes *modes);

/* ---- forces: they act during the next step, or bough_tree_advance(), add up, and are gone after it ----
 *
 * A step that fails leaves them on the state, and so does one of no length (dt = 0), which finds accelerations only. */

/* World force (N) on a vertex of the part's surface. */
BOUGH_API bough_status bough_tree_state_add_force(bough_context *ctx, const bough_tree_model *model,
                                                  bough_tree_state *state, int32_t part, int32_t vertex,
                                                  const double force[3]);
/* World forces (N) on all vertices of the part's surface, vertex_count x 3, as another solver (cloth, a fluid, contact)
 * finds them. Where one is not finite, none is added. */
BOUGH_API bough_status bough_tree_state_add_surface_forces(bough_context *ctx, const bough_tree_model *model,
                                                           bough_tree_state *state, int32_t part, const float *forces);
/* World force and torque about the origin of the part's frame. */
BOUGH_API bough_status bough_tree_state_add_wrench(bough_context *ctx, const bough_tree_model *model,
                                                   bough_tree_state *state, int32_t part, const double force[3],
                                                   const double torque[3]);
/* Torque (N m) of a motor in the joint by which the part hangs: about the axis of a hinge (the first), or on the
 * coordinates of a ball. */
BOUGH_API bough_status bough_tree_state_add_joint_torque(bough_context *ctx, const bough_tree_model *model,
                                                         bough_tree_state *state, int32_t part, const double torque[3]);
/* A damped spring (N/m, N s/m) from the vertex to a point of the world. */
BOUGH_API bough_status bough_tree_state_pull(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                             int32_t part, int32_t vertex, const double target[3], double stiffness,
                                             double damping);
/* Takes all forces and pulls off the state. */
BOUGH_API void bough_tree_state_clear_forces(const bough_tree_model *model, bough_tree_state *state);

/* ---- contact ---- */

/* A part, and a shape by which others touch it: it moves with the part's frame, and what pushes on it pushes the part there. A
 * part may have several. A rigid part that flies, with nothing on it, touches obstacles and others by them, too; all others do
 * that with their samples. */
typedef struct bough_tree_solid {
    int32_t part;
    bough_shape_def
        shape; /* its frame in the part's (of a rigid one: at its centre of mass). No plane: it would reach parts
                              everywhere. A height field is a block, which ends at its rim and a tenth of its longer side
                              below its lowest place. A mesh must outlive the state */
} bough_tree_solid;

typedef struct bough_tree_touch_def {
    uint32_t cookie;
    int32_t obstacle_count, solid_count;
    const bough_obstacle_def
        *obstacles; /* of any shapes; meshes must outlive the state. Scene files know tracks, too */
    const bough_tree_solid *solids;
    double friction;       /* of all parts; of two things that touch the square root of the product counts */
    double slip_speed;     /* m/s: friction holds by creeping slower than this */
    int32_t most_contacts; /* of a step; BOUGH_ERROR_UNSUPPORTED where there are more */
    double rest_speed;     /* m/s: trees that fly and of which no point is faster for rest_time fall asleep, with what
                              they touch; they cost nothing until something touches or pushes them; 0: none does */
    double rest_time;      /* s */
    const bool *between;   /* of each component of the model: its parts touch those of others that say so, and each
                              other; not those that they hang on. NULL: none do. Needs samples and a closed surface */
    uint64_t reserved[1];  /* zeros: room for fields of later versions */
} bough_tree_touch_def;
/* Nothing to touch; friction 0.5, slip speed 1e-3 m/s, 10000 contacts, rest below 0.05 m/s for 0.5 s. */
BOUGH_API bough_tree_touch_def bough_default_tree_touch_def(void);

/* Lets the parts of a state touch obstacles and solids, with the contact samples of their components, in steps from now
 * on; what they touched before is forgotten. def NULL: nothing. Such steps need the tree's own method and the coupling
 * L3 (else BOUGH_ERROR_UNSUPPORTED). Copies all of def. Obstacles are not part of snapshots and
 * recordings: a state that is recorded cannot change them, and one that repeats a recording needs the same. */
BOUGH_API bough_status bough_tree_state_touch(bough_context *ctx, const bough_tree_model *model,
                                              bough_tree_state *state, const bough_tree_touch_def *def);
/* Lists the contacts of the last step, at most so many; returns how many there are. things: parts, or -1 less the number
 * of the obstacle. */
BOUGH_API int32_t bough_tree_state_contacts(const bough_tree_state *state, int32_t most, bough_run_contact *contacts);

/* ---- reconstruction ---- */

/* World positions of the vertices of the part's surface: vertex_count x 3. */
BOUGH_API bough_status bough_tree_state_positions(bough_context *ctx, const bough_tree_model *model,
                                                  const bough_tree_state *state, int32_t part, float *positions);

/* The surfaces of all parts as one, to be drawn: vertices and triangles of part 0, then of part 1, and so on. */
BOUGH_API int32_t bough_tree_model_vertex_count(const bough_tree_model *model);
BOUGH_API int32_t bough_tree_model_first_vertex(const bough_tree_model *model, int32_t part);
BOUGH_API int32_t bough_tree_model_triangle_count(const bough_tree_model *model);
/* triangle_count x 3 numbers of vertices of the whole. */
BOUGH_API void bough_tree_model_triangles(const bough_tree_model *model, int32_t *triangles);
/* World positions and unit normals (area-weighted; may be NULL): vertex_count x 3 each, with the state's continuity.
 * All vertices of an absent part are one point. Where the surface of a part has a vertex at the same place as its
 * parent's at rest, both get one position and one normal (but for BOUGH_CONTINUITY_NONE), so that there is no gap. Uses
 * the state's scratch: one call at a time for each state. */
BOUGH_API bough_status bough_tree_state_surface(bough_context *ctx, const bough_tree_model *model,
                                                const bough_tree_state *state, float *positions, float *normals);
/* Lists where surfaces of parts meet. The arrays belong to the model. */
BOUGH_API void bough_tree_model_seams(const bough_tree_model *model, bough_seams *seams);
/* The gap between surfaces where parts meet, before anything is joined. */
typedef struct bough_tree_gap {
    double distance;      /* m: the largest between a vertex and the vertex of the parent that it lies on at rest */
    double relative;      /* the same, of the radius of the interface */
    int32_t part, vertex; /* where; -1: no vertices coincide */
    int32_t count;        /* of vertices that lie on one of their parent's */
} bough_tree_gap;
/* Measures the gaps where the parts are now. */
BOUGH_API bough_status bough_tree_state_gap(bough_context *ctx, const bough_tree_model *model,
                                            const bough_tree_state *state, bough_tree_gap *gap);
/* World position and velocity of one vertex of the part's surface. */
BOUGH_API bough_status bough_tree_state_vertex(bough_context *ctx, const bough_tree_model *model,
                                               const bough_tree_state *state, int32_t part, int32_t vertex,
                                               double position[3], double velocity[3]);

/* ---- stress: at the stress points of the parts' components ---- */

typedef struct bough_stress {
    double cauchy[6]; /* Pa, in world axes: xx yy zz yz xz xy */
    double von_mises;
    double principal[3];  /* the largest tension first */
    double directions[9]; /* along which they act: unit vectors of the world, one after the other */
} bough_stress;
/* At stress point i of the part, by its q and stiffness factor. BOUGH_NOT_FINITE where the material is turned inside
 * out. */
BOUGH_API bough_status bough_tree_state_stress(bough_context *ctx, const bough_tree_model *model,
                                               const bough_tree_state *state, int32_t part, int32_t i,
                                               bough_stress *stress);
/* Largest von Mises' stress of each part's stress points: part_count numbers. 0 without these and for absent parts,
 * INFINITY where the material is turned inside out. Much less work than a step. */
BOUGH_API void bough_tree_state_peak_stresses(bough_context *ctx, const bough_tree_model *model,
                                              const bough_tree_state *state, double *von_mises);
/* Von Mises' stress (Pa) at every vertex of bough_tree_state_surface(), in its order: a field that is smooth over each
 * part and, but for BOUGH_CONTINUITY_NONE, the same on both sides where surfaces are joined. 0 on rigid and absent
 * parts and on those whose components tell nothing of stress, INFINITY where the material is turned inside out. For
 * pictures: what breaks a part are its peaks, above. It allocates nothing, and changes nothing. */
BOUGH_API void bough_tree_state_surface_stress(bough_context *ctx, const bough_tree_model *model,
                                               const bough_tree_state *state, float *von_mises);
/* The same for one part by itself: as many as its surface has vertices. */
BOUGH_API bough_status bough_tree_state_part_surface_stress(bough_context *ctx, const bough_tree_model *model,
                                                            const bough_tree_state *state, int32_t part,
                                                            float *von_mises);
/* Turns stresses into a byte each, to be sent to those who draw: 255 is `largest` or more, 0 none. Any thread may call
 * it. */
BOUGH_API void bough_stress_levels(int32_t count, const float *von_mises, double largest, uint8_t *levels);

/* Energies of all parts that are present. */
typedef struct bough_tree_energies {
    double elastic, kinetic, gravity; /* J; elastic: with the springs of joints and ties; gravity: 0 for a mass in the
                                         world's origin */
    double momentum[3], angular_momentum[3]; /* kg m/s, kg m^2/s about the world's origin */
} bough_tree_energies;
/* Measures energies and momenta where the parts are now. */
BOUGH_API bough_status bough_tree_state_energies(bough_context *ctx, const bough_tree_model *model,
                                                 bough_tree_state *state, bough_tree_energies *energies);
/* Work (J) done on all parts since the state was made, in steps with the exact coupling, by what has no energy above:
 * forces, wind, tracks of roots. doubt (may be NULL): by how much that may be off, J. */
BOUGH_API double bough_tree_state_work(const bough_tree_model *model, const bough_tree_state *state, double *doubt);

#ifdef __cplusplus
}
#endif

#endif
