/* Compliant mechanisms: rigid links with springs in their joints, of any topology, reduced to a few end effectors.
 *
 * Description -> statics (exact compliance of the end effectors) -> model (constant: stiffness, mass, damping of the
 * end effectors, maps to all links) -> state. Equations: docs/theory/mechanism.md.
 *
 * Ownership: as <bough/base.h> says. Mechanisms, statics and models copy all that they are made of; where something
 * must outlive another, the function says so.
 *
 * Threads: mechanisms, statics, models and (while nobody adds points) blends are constant, and any number of threads
 * may use them, each with a context of its own. A state, a stepper or a full mechanism belongs to one thread at a time,
 * also where it is const: looking uses its scratch. Steps give the same bits for any number of threads of the context.
 *
 * Failure: BOUGH_ERROR_ARGUMENT, with a sentence that names the link or joint, for numbers that make no sense;
 * BOUGH_ERROR_SINGULAR and BOUGH_NOT_FINITE where masses, stiffnesses or forces are too far apart; BOUGH_NO_CONVERGENCE
 * and BOUGH_CANCELLED of searches. What fails has changed nothing. Steps allocate nothing. Numbers of links, joints and
 * end effectors must exist where a function returns no status.
 *
 * Forces (wrenches, loads) act during the next step, add up, and are gone after it; a step that fails leaves them where
 * they are. Looking for an equilibrium leaves them, too.
 *
 * Twists are (v; w) and wrenches (force; torque), both in the axes and about the origin of the link or end effector
 * that they belong to; v is the velocity of that origin. Matrices are row-major. SI units.
 */
#ifndef BOUGH_MECHANISM_H
#define BOUGH_MECHANISM_H

#include <bough/contact.h>
#include <bough/rig.h>
#include <bough/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- description ---- */

/* Links are rigid bodies of <bough/rig.h>, with their rest pose in the world; a base that is held needs no mass.
 * Shapes, twist, friction and restitution of links are not used here. Joints are those of <bough/rig.h>, too: hinges,
 * prismatic, universal, ball and compliant ones between two links, each with springs; their coordinates follow from the
 * rest poses. Limits count in the full mechanism, and in statics about a pose that is beyond; a reduced model about a
 * pose within knows none. End effectors are frames on links; their names are not kept. */
typedef struct bough_mechanism_def {
    uint32_t cookie;
    int32_t link_count;
    const bough_rigid_body_def *links;
    int32_t joint_count;
    const bough_joint_def *joints;
    int32_t end_effector_count;
    const bough_frame_def *end_effectors;
    int32_t base;         /* link */
    bool free_base;       /* it moves with its own inertia; else it is held */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_mechanism_def;
/* Nothing in it; link 0 is the base, and held. */
BOUGH_API bough_mechanism_def bough_default_mechanism_def(void);

typedef struct bough_mechanism bough_mechanism;
/* Checks everything, finds a spanning tree from the base and the joints that close loops. */
BOUGH_API bough_status bough_mechanism_create(bough_context *ctx, const bough_mechanism_def *def,
                                              bough_mechanism **mechanism);
/* The same mechanism with other rest poses (one a link), where its springs stay what they are: a linearisation point.
 */
BOUGH_API bough_status bough_mechanism_create_at(bough_context *ctx, const bough_mechanism *mechanism,
                                                 const bough_pose *poses, bough_mechanism **moved);
BOUGH_API void bough_mechanism_destroy(bough_context *ctx, bough_mechanism *mechanism);
/* Returns the definition the mechanism was made of; strings and arrays belong to the mechanism. */
BOUGH_API const bough_mechanism_def *bough_mechanism_describe(const bough_mechanism *mechanism);
/* Counts the joints that close loops. */
BOUGH_API int32_t bough_mechanism_loop_count(const bough_mechanism *mechanism);
/* Coordinates of all joints, in the order of the joints, and where those of one begin. */
BOUGH_API int32_t bough_mechanism_coordinate_count(const bough_mechanism *mechanism);
BOUGH_API int32_t bough_mechanism_coordinate_offset(const bough_mechanism *mechanism, int32_t joint);
/* Returns the radius of a sphere about the middle of all links and joints: the length that turns radians into
 * metres. */
BOUGH_API double bough_mechanism_radius(const bough_mechanism *mechanism);

/* ---- statics about the reference pose ---- */

typedef enum bough_mechanism_method {
    BOUGH_MECHANISM_EXACT,    /* spanning tree, all loops closed at once */
    BOUGH_MECHANISM_RECURSIVE /* from the base outwards, one merge at a time: exact on trees and for loops in series */
} bough_mechanism_method;

typedef struct bough_mechanism_statics_def {
    uint32_t cookie;
    bough_mechanism_method method;
    int32_t end_effector_count; /* 0: those of the description */
    const bough_frame_def *end_effectors;
    /* Coordinates (bough_mechanism_coordinate_offset()) whose springs' offsets will change while a model runs. */
    int32_t motor_count;
    const int32_t *motors;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_mechanism_statics_def;
/* Exact, for the end effectors of the description, no motors. */
BOUGH_API bough_mechanism_statics_def bough_default_mechanism_statics_def(void);

/* Answers to unit wrenches at the end effectors, with the base held; n = 6 end_effector_count columns. */
typedef struct bough_mechanism_statics {
    int32_t end_effector_count;
    bough_frame_def *end_effectors;
    double *C;           /* n x n: twists of the end effectors */
    double *twists;      /* 6 links x n: of the links */
    double *wrenches;    /* 6 joints x n: carried from child to parent, in the child's frame. What a redundant loop can
                            carry without moving anything is not determined and may be anything small */
    double *coordinates; /* coordinates x n: of the joints */
    double *offset_twists; /* 6 links: by the offsets of the joints' springs, without wrenches */
    int32_t motor_count;
    int32_t *motors;
    double *motor_twists; /* motors x 6 links: by a unit of offset of each */
} bough_mechanism_statics;
/* Finds the statics of a mechanism. def may be NULL. */
BOUGH_API bough_status bough_mechanism_statics_create(bough_context *ctx, const bough_mechanism *mechanism,
                                                      const bough_mechanism_statics_def *def,
                                                      bough_mechanism_statics **statics);
BOUGH_API void bough_mechanism_statics_destroy(bough_context *ctx, bough_mechanism_statics *statics);

/* ---- reduced model ---- */

/* As many internal modes as bring the lowest frequency within frequency_tolerance of the whole mechanism's: often none,
 * at most 16. */
enum { BOUGH_INTERNAL_AUTOMATIC = -1 };

typedef struct bough_mechanism_model_def {
    uint32_t cookie;
    /* Directions in which a unit of wrench moves the end effectors less than this times the most compliant one are
     * rigid, with radians made into metres by the radius. */
    double rank_tolerance;
    /* Modes of what is between the end effectors, with these held, that the model has beside them: none move the end
     * effectors by themselves, and statics stay exact, but frequencies come closer to the whole mechanism's. Or
     * BOUGH_INTERNAL_AUTOMATIC. 0 */
    int32_t internal_modes;
    double frequency_tolerance; /* of BOUGH_INTERNAL_AUTOMATIC; 0.01 */
    uint64_t reserved[4];       /* zeros: room for fields of later versions */
} bough_mechanism_model_def;
/* Rank tolerance 1e-8, no internal modes. */
BOUGH_API bough_mechanism_model_def bough_default_mechanism_model_def(void);

/* n = 6 end_effector_count coordinates xi; they move in the directions that the mechanism allows. The coordinates z are
 * these directions and, as the last of them, the internal modes: `rank` together. Part of something larger: only
 * bough_mechanism_model_create() makes one. */
typedef struct bough_mechanism_model {
    int32_t end_effector_count, link_count, base, rank, motor_count;
    int32_t internal_count;
    bool free_base;
    bough_frame_def *end_effectors;
    bough_pose *rest; /* of the links */
    double radius;
    double *compliances;    /* rank: of the directions, scaled, descending; then of the modes */
    double *C, *K;          /* n x n: compliance and its pseudo-inverse */
    double *M, *D;          /* n x n: consistent mass and damping */
    double *Q;              /* n x rank: the directions; zero for modes */
    double *P;              /* rank x n: the coordinates z of xi = Q z, P Q = 1 (but for modes: zero) */
    double *Psi;            /* 6 links x n: twists of the links */
    double *rest_xi;        /* n: where the springs pull them, by their offsets */
    double *rest_z;         /* rank: the same in z */
    double *rest_twists;    /* 6 links: twists beside those of Psi (xi - rest_xi) */
    double *M_base;         /* 6 x 6: of the whole mechanism, moved by the base's twist */
    double *M_coupling;     /* 6 x rank */
    double *Mz, *Dz, *Kz;   /* rank x rank, rank x rank, rank: of z */
    double *weight;         /* rank x 3: force on z by gravity in the base's axes */
    double *base_weight;    /* 6 x 3: wrench on the base by the same */
    int32_t *motors;        /* motor_count: coordinates */
    double *motor_xi;       /* motors x n: where a unit of offset of each pulls the end effectors */
    double *motor_z;        /* motors x rank: the same in z */
    double frequency_error; /* of the lowest frequency, relative to the whole mechanism's, where
                               BOUGH_INTERNAL_AUTOMATIC looked for it; else NAN */
} bough_mechanism_model;
/* Makes a reduced model from the statics of the same mechanism. def may be NULL. */
BOUGH_API bough_status bough_mechanism_model_create(bough_context *ctx, const bough_mechanism *mechanism,
                                                    const bough_mechanism_statics *statics,
                                                    const bough_mechanism_model_def *def,
                                                    bough_mechanism_model **model);
BOUGH_API void bough_mechanism_model_destroy(bough_context *ctx, bough_mechanism_model *model);

/* ---- states ---- */

/* May be read and written between steps. Part of something larger: only bough_mechanism_state_create() makes one. */
typedef struct bough_mechanism_state {
    double time;
    double *xi, *phi;      /* n: displacements and velocities of the end effectors against the base. What the mechanism
                              does not allow is dropped in the next step */
    double *wrench;        /* n: at the end effectors, in the axes that they have without xi */
    double *internal;      /* internal_count: the last of z */
    double *internal_rate; /* internal_count */
    double *load;          /* rank: on z, beside that of `wrench`: what is pushed elsewhere */
    double *motors;        /* motor_count: offsets of their springs, beside those of the description */
    double gravity[3];     /* m/s^2, in the world; 0 unless it is set */
    bough_pose base;       /* where the base is */
    double base_twist[6];  /* of a free base */
    double base_wrench[6]; /* on a free base */
    bough_pose *poses;     /* of all links, by bough_mechanism_state_place() */
} bough_mechanism_state;
/* Makes a state at the reference pose, at rest, on which nothing acts. The model must outlive it. */
BOUGH_API bough_status bough_mechanism_state_create(bough_context *ctx, const bough_mechanism_model *model,
                                                    bough_mechanism_state **state);
BOUGH_API void bough_mechanism_state_destroy(bough_context *ctx, bough_mechanism_state *state);

/* One backward Euler step. The matrix of a step is inverted anew when dt changes. */
BOUGH_API bough_status bough_mechanism_step(bough_context *ctx, const bough_mechanism_model *model,
                                            bough_mechanism_state *state, double dt);
/* Fills in `poses`, of all links. Cannot fail. */
BOUGH_API void bough_mechanism_state_place(const bough_mechanism_model *model, bough_mechanism_state *state);
/* The same on the threads of the context where links are many (thousands). Bit for bit the same poses. */
BOUGH_API void bough_mechanism_state_place_parallel(bough_context *ctx, const bough_mechanism_model *model,
                                                    bough_mechanism_state *state);
/* Returns the pose of the end effector. */
BOUGH_API bough_pose bough_mechanism_state_end_effector(const bough_mechanism_model *model,
                                                        const bough_mechanism_state *state, int32_t end_effector);
/* Adds a force and a torque, given in the axes of the world, to the wrench at the origin of an end effector. */
BOUGH_API void bough_mechanism_state_push(const bough_mechanism_model *model, bough_mechanism_state *state,
                                          int32_t end_effector, const double force[3], const double torque[3]);
/* The same at a point of any link, given in the link's frame, as the link lies now: what that does to the end effectors
 * goes to `load`, and of a free base to `base_wrench`. That the link itself gives way more than the end effectors carry
 * it along is not seen: see bough_mechanism_details(). */
BOUGH_API void bough_mechanism_state_push_link(const bough_mechanism_model *model, bough_mechanism_state *state,
                                               int32_t link, const double point[3], const double force[3],
                                               const double torque[3]);

typedef struct bough_mechanism_energies {
    double kinetic, elastic, gravity; /* J; gravity: 0 at the reference pose with the base there */
} bough_mechanism_energies;
/* Returns the energies of the model where it is. */
BOUGH_API bough_mechanism_energies bough_mechanism_state_energies(const bough_mechanism_model *model,
                                                                  const bough_mechanism_state *state);

/* ---- other integrators ---- */

/* Moves a state by any method of <bough/time.h>. The base must be held; a free one knows backward Euler only. */
typedef struct bough_mechanism_stepper bough_mechanism_stepper;
/* Makes a stepper. Model and state must outlive it. def may be NULL: the default method. BOUGH_ERROR_ARGUMENT for a
 * free base. */
BOUGH_API bough_status bough_mechanism_stepper_create(bough_context *ctx, const bough_mechanism_model *model,
                                                      bough_mechanism_state *state, const bough_integrator_def *def,
                                                      bough_mechanism_stepper **stepper);
BOUGH_API void bough_mechanism_stepper_destroy(bough_context *ctx, bough_mechanism_stepper *stepper);
/* One step, in which loads, motors and gravity are the same throughout. xi and phi may be changed in between: the
 * method then begins anew. */
BOUGH_API bough_status bough_mechanism_stepper_step(bough_context *ctx, bough_mechanism_stepper *stepper, double dt);
/* Saves and restores the memory of a method besides the state, as numbers. If the state is restored first, a run
 * continues with the same bits. */
BOUGH_API int64_t bough_mechanism_stepper_memory_size(const bough_mechanism_stepper *stepper);
BOUGH_API void bough_mechanism_stepper_save(const bough_mechanism_stepper *stepper, double *memory);
BOUGH_API void bough_mechanism_stepper_restore(bough_mechanism_stepper *stepper, const double *memory);

/* ---- level of detail ---- */

/* The `count` lowest frequencies in Hz, ascending; *found: how many there are, at most count. Of the whole linearised
 * mechanism, and of a reduced model, which has none below. Of a free mechanism those that bend it. */
BOUGH_API bough_status bough_mechanism_frequencies(bough_context *ctx, const bough_mechanism *mechanism, int32_t count,
                                                   double *frequencies, int32_t *found);
BOUGH_API bough_status bough_mechanism_model_frequencies(bough_context *ctx, const bough_mechanism_model *model,
                                                         int32_t count, double *frequencies, int32_t *found);
/* The same of the whole linearised mechanism with its shapes: twists of the links in each mode (count x links x 6: a
 * point x of the link moves with v + w cross x, in the world's axes), of unit modal mass. twists may be NULL. */
BOUGH_API bough_status bough_mechanism_modes(bough_context *ctx, const bough_mechanism *mechanism, int32_t count,
                                             double *frequencies, double *twists, int32_t *found);
/* By how much the model's lowest frequency lies above that of the whole linearised mechanism, of which it was made,
 * relative to that. */
BOUGH_API bough_status bough_mechanism_model_frequency_error(bough_context *ctx, const bough_mechanism *mechanism,
                                                             const bough_mechanism_model *model, double *error);
/* Returns how many bytes a model holds. */
BOUGH_API size_t bough_mechanism_model_memory(const bough_mechanism_model *model);

enum { BOUGH_DETAIL_FREQUENCIES = 8 };

/* The end effectors and modes to reduce a mechanism to. */
typedef struct bough_mechanism_choice {
    int32_t end_effector_count; /* 0: those of the description */
    const bough_frame_def *end_effectors;
    int32_t internal_modes; /* or BOUGH_INTERNAL_AUTOMATIC */
} bough_mechanism_choice;

typedef struct bough_mechanism_detail_def {
    uint32_t cookie;
    int32_t choice_count;
    const bough_mechanism_choice *choices;
    int32_t frequency_count; /* at most BOUGH_DETAIL_FREQUENCIES; 3 */
    int32_t load_count;      /* 0: all links */
    const int32_t *loads;    /* links that are loaded for static_error */
    int32_t steps;           /* that are timed; 0: none. 1000 */
    uint64_t reserved[4];    /* zeros: room for fields of later versions */
} bough_mechanism_detail_def;
/* No choices; 3 frequencies, all links loaded, 1000 steps timed. */
BOUGH_API bough_mechanism_detail_def bough_default_mechanism_detail_def(void);

typedef struct bough_mechanism_detail {
    int32_t size, rank;     /* coordinates of the end effectors, and directions in which they move */
    int32_t internal_modes; /* among the rank */
    size_t memory;          /* bytes */
    int32_t frequency_count;
    double frequencies[BOUGH_DETAIL_FREQUENCIES]; /* Hz */
    double full[BOUGH_DETAIL_FREQUENCIES];        /* the same of the whole mechanism */
    /* Errors of the places of all links under unit wrenches on one link after the other, with radians converted to
     * metres by the radius: rms of the difference from exact statics over that of the motion, and the largest
     * difference over the largest motion under the same wrench. */
    double static_error, static_worst;
    double step_seconds; /* median of a step of backward Euler with all links */
} bough_mechanism_detail;
/* Measures the accuracy and cost of each choice of end effectors. details: choice_count. */
BOUGH_API bough_status bough_mechanism_details(bough_context *ctx, const bough_mechanism *mechanism,
                                               const bough_mechanism_detail_def *def, bough_mechanism_detail *details);

/* ---- the full mechanism, not linearised ---- */

/* All joints' coordinates and all links' poses, with loops closed. Slow, to compare with and to find linearisation
 * points. Part of something larger: only bough_full_mechanism_create() makes one. */
typedef struct bough_full_mechanism {
    double time;
    double *coordinates; /* of all joints */
    bough_pose *poses;   /* of all links */
    double *twists;      /* 6 links, in their frames */
    /* Loads: force and torque in the world's axes. They act in the next step, and are zero after it. */
    double *loads;      /* 6 end effectors of the description: on their origins */
    double *link_loads; /* 6 links: on their origins; what acts on a base that is held moves nothing */
    double gravity[3];  /* m/s^2, in the world; 0 unless it is set */
    double *offsets;    /* of the joints' springs, as in the description; coordinates of all joints */
    double residual;    /* of the last search: what is left of forces against their size */
    double gap;         /* how far loops are from closed, in radii */
    int32_t iterations; /* of the last search */
} bough_full_mechanism;
/* Makes a full mechanism at the reference pose, at rest. The mechanism must outlive it. BOUGH_ERROR_UNSUPPORTED for
 * more than 8000 unknowns. */
BOUGH_API bough_status bough_full_mechanism_create(bough_context *ctx, const bough_mechanism *mechanism,
                                                   bough_full_mechanism **full);
BOUGH_API void bough_full_mechanism_destroy(bough_context *ctx, bough_full_mechanism *full);
/* Equilibrium from where it is (Newton), at rest. The base must be held. */
BOUGH_API bough_status bough_full_mechanism_settle(bough_context *ctx, bough_full_mechanism *full);
/* One step of backward Euler. */
BOUGH_API bough_status bough_full_mechanism_step(bough_context *ctx, bough_full_mechanism *full, double dt);

/* ---- blending: one mechanism about several poses ---- */

/* A reduced model about each of several poses (points), blended by how near the end effectors are to each. At a point
 * it is that point's model. docs/theory/mechanism.md, "Blending". */
#define BOUGH_BLEND_LIMIT 64 /* points */

typedef struct bough_mechanism_blend_def {
    uint32_t cookie;
    double power;                               /* weights fall like distance^-power; 4 */
    int32_t most_points;                        /* room for them; at most BOUGH_BLEND_LIMIT; 16 */
    const bough_mechanism_statics_def *statics; /* end effectors and motors; NULL: the default */
    const bough_mechanism_model_def *model;     /* NULL: the default */
    uint64_t reserved[4];                       /* zeros: room for fields of later versions */
} bough_mechanism_blend_def;
/* Power 4, room for 16 points. */
BOUGH_API bough_mechanism_blend_def bough_default_mechanism_blend_def(void);

typedef struct bough_mechanism_blend bough_mechanism_blend;
/* Makes a blend with one point, the mechanism's reference pose. The base must be held. The mechanism must outlive it.
 * def may be NULL. */
BOUGH_API bough_status bough_mechanism_blend_create(bough_context *ctx, const bough_mechanism *mechanism,
                                                    const bough_mechanism_blend_def *def,
                                                    bough_mechanism_blend **blend);
BOUGH_API void bough_mechanism_blend_destroy(bough_context *ctx, bough_mechanism_blend *blend);
/* One more point: poses of all links, at an equilibrium under wrenches at the end effectors (those that a
 * bough_full_mechanism has settled in). wrench (6 an end effector, in the world's axes; may be NULL): these wrenches,
 * of which directions that the mechanism does not allow cannot be found from the springs. States stay usable. */
BOUGH_API bough_status bough_mechanism_blend_add(bough_context *ctx, bough_mechanism_blend *blend,
                                                 const bough_pose *poses, const double *wrench);
/* The same where motors have gone along: motors (those of the blend's statics): their offsets at that equilibrium. */
BOUGH_API bough_status bough_mechanism_blend_add_driven(bough_context *ctx, bough_mechanism_blend *blend,
                                                        const bough_pose *poses, const double *motors,
                                                        const double *wrench);
/* Counts the points, and returns the model about one of them, which belongs to the blend. */
BOUGH_API int32_t bough_mechanism_blend_count(const bough_mechanism_blend *blend);
BOUGH_API const bough_mechanism_model *bough_mechanism_blend_model(const bough_mechanism_blend *blend, int32_t point);

/* May be read and written between steps. n = 6 end_effector_count. Part of something larger: only
 * bough_blend_state_create() makes one. */
typedef struct bough_blend_state {
    double time;
    bough_pose *effectors; /* where the end effectors are, in the base's frame */
    double *phi;           /* n: their twists against the base */
    double *wrench;        /* n: at the end effectors, in the world's axes */
    double *motors;        /* motor_count: offsets of their springs, beside those of the description */
    double gravity[3];     /* m/s^2, in the world; 0 unless it is set */
    bough_pose base;       /* where the base is */
    /* Results of the last step, bough_blend_state_settle() or _weigh(): */
    double *weights; /* most_points: of the points, sum 1 */
    double *carried; /* n: wrench that takes the blended model from its blended pose to where it is, in axes of its own
                        and scaled; the links follow it */
    /* Memory from one step to the next, along the directions of the nearest model; a copy of the state needs nothing
     * else. */
    int32_t nearest;         /* -1: nothing */
    double *rates, *springs; /* n: velocities and forces of the springs */
    double *driven;          /* motor_count: where the motors were */
    double kinetic;          /* J */
    bough_pose *poses;       /* of all links, by bough_blend_state_place() */
} bough_blend_state;
/* Makes a state at the first point, at rest, on which nothing acts. The blend must outlive it. */
BOUGH_API bough_status bough_blend_state_create(bough_context *ctx, const bough_mechanism_blend *blend,
                                                bough_blend_state **state);
BOUGH_API void bough_blend_state_destroy(bough_context *ctx, bough_blend_state *state);
/* Weights and carried wrench where the end effectors are; needed after they or their twists were changed. holding (n;
 * may be NULL): the wrench at the end effectors, in the world's axes, that holds them there. */
BOUGH_API bough_status bough_blend_state_weigh(bough_context *ctx, const bough_mechanism_blend *blend,
                                               bough_blend_state *state, double *holding);
/* One backward Euler step. */
BOUGH_API bough_status bough_blend_state_step(bough_context *ctx, const bough_mechanism_blend *blend,
                                              bough_blend_state *state, double dt);
/* Equilibrium from where it is, at rest. */
BOUGH_API bough_status bough_blend_state_settle(bough_context *ctx, const bough_mechanism_blend *blend,
                                                bough_blend_state *state);
/* Fills in `poses`, of all links. Cannot fail. */
BOUGH_API void bough_blend_state_place(const bough_mechanism_blend *blend, bough_blend_state *state);
/* elastic: 0 where all springs are at rest; gravity: 0 at the reference pose. Between points both are blended too, so
 * that their sum is only nearly what the forces do. */
BOUGH_API bough_status bough_blend_state_energies(bough_context *ctx, const bough_mechanism_blend *blend,
                                                  bough_blend_state *state, bough_mechanism_energies *energies);

/* Returns how far joints are from closed at any poses of the links: the distance between the two frames of each joint,
 * less the motion of its freedoms, summed over all joints, in radii of the mechanism. */
BOUGH_API double bough_mechanism_constraint_error(const bough_mechanism *mechanism, const bough_pose *poses);

/* The distance between the two sides of one joint, less the motion of its freedoms. Zeros for a weld that gives way in
 * all directions. */
typedef struct bough_mechanism_gap {
    int32_t joint;   /* -1: the mechanism has no joints */
    double distance; /* m: between its frame as the parent and as the child sees it */
    double angle;    /* rad: between the axes of both */
    double error;    /* the larger of the distance in radii of the mechanism and of the angle */
} bough_mechanism_gap;
/* Measures the gap of one joint at any poses of the links. */
BOUGH_API bough_mechanism_gap bough_mechanism_joint_gap(const bough_mechanism *mechanism, int32_t joint,
                                                        const bough_pose *poses);
/* Returns the first coordinate of a joint (rad or m) where its links are. */
BOUGH_API double bough_mechanism_joint_value(const bough_mechanism *mechanism, int32_t joint, const bough_pose *poses);
/* Returns the gap of the joint whose error is largest. A model that is linear about one pose, and a blend between its
 * points, lets joints come apart; the full mechanism does not. */
BOUGH_API bough_mechanism_gap bough_mechanism_largest_gap(const bough_mechanism *mechanism, const bough_pose *poses);

/* Loads under which a blend shall be good. */
typedef struct bough_workspace_def {
    uint32_t cookie;
    /* Largest wrenches at all end effectors of the description (6 each, in the world's axes), one after the other: each
     * is approached from zero. */
    int32_t load_count;
    const double *loads;
    /* More of them, random: each component within [-box, box] (6 an end effector). */
    int32_t random_count;
    const double *box;
    uint64_t seed;
    int32_t sample_count; /* on the way to each load; 12 */
    /* And a way of the motors of the blend's statics, without loads: their offsets at one place after the other, each a
     * sample. path_count x motors; NULL: none. */
    int32_t path_count;
    const double *path;
    double gravity[3]; /* 0 */
    double tolerance;  /* of bough_mechanism_constraint_error(); 0.02 */
    /* Bound on the distance between end effectors and those of the full mechanism, linear parts over the radius and
     * angular ones over pi; INFINITY: any */
    double effector_tolerance;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_workspace_def;
/* No loads, no path; seed 1. */
BOUGH_API bough_workspace_def bough_default_workspace_def(void);

typedef struct bough_workspace_report {
    bool reached;                        /* the tolerance holds at all samples */
    int32_t sample_count;                /* equilibria of the full mechanism that were found */
    int32_t lost_count;                  /* and those that were not */
    int32_t round_count;                 /* points; with each number of them: */
    double worst[BOUGH_BLEND_LIMIT];     /* constraint error, largest of all samples */
    double effectors[BOUGH_BLEND_LIMIT]; /* distance of end effectors from the full mechanism's, likewise; linear
                                            parts over the radius, angular ones over pi */
} bough_workspace_report;
/* Adds points, each where the blend is worst, until the tolerance or the most points of the blend are reached. Says how
 * far it is by progress() of the context, which may cancel. report may be NULL. */
BOUGH_API bough_status bough_mechanism_blend_create_automatic(bough_context *ctx, const bough_mechanism *mechanism,
                                                              const bough_mechanism_blend_def *def,
                                                              const bough_workspace_def *workspace,
                                                              bough_workspace_report *report,
                                                              bough_mechanism_blend **blend);

/* ---- in a contact world ---- */

/* A shape of an end effector, in its frame, of the base, or of any link. */
enum { BOUGH_TOUCH_BY_BASE = -1, BOUGH_TOUCH_BY_LINK = -2 };
typedef struct bough_touch_def {
    uint32_t cookie;
    int32_t end_effector; /* of the model; or BOUGH_TOUCH_BY_BASE; or BOUGH_TOUCH_BY_LINK: */
    int32_t link; /* the shape is of this link, in its frame. A reduced model gives way there as its end effectors
                     and modes do, and no more. Not of blends */
    bough_shape_def shape; /* no plane or height field */
    double friction;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_touch_def;
/* A sphere of radius 0.1 m about the first end effector, friction 0.5 */
BOUGH_API bough_touch_def bough_default_touch_def(void);

/* Makes the actor by which a mechanism takes part in a contact world (<bough/contact.h>), which then steps it by
 * backward Euler. The caller gives the actor to a world, or destroys it. Model and state must outlive that world; they
 * may be read and written between its steps. Arrays of the shapes must stay until the world is made. Contacts name
 * places by BOUGH_CONTACT_OF_END_EFFECTOR (BOUGH_TOUCH_BY_BASE for the base) and BOUGH_CONTACT_OF_LINK. When it fails
 * the actor is all zero bytes. */
BOUGH_API bough_status bough_mechanism_actor_create(bough_context *ctx, const bough_mechanism_model *model,
                                                    bough_mechanism_state *state, int32_t touch_count,
                                                    const bough_touch_def *touches, bough_contact_actor *actor);
/* The same with the full mechanism, whose touches are of the description's end effectors. A step without contact is
 * found first; impulses answer to its matrix there, and the step is found again under them. */
BOUGH_API bough_status bough_full_actor_create(bough_context *ctx, bough_full_mechanism *full, int32_t touch_count,
                                               const bough_touch_def *touches, bough_contact_actor *actor);
/* The same with a blend, which keeps its base where it is. BOUGH_ERROR_UNSUPPORTED where links touch. */
BOUGH_API bough_status bough_blend_actor_create(bough_context *ctx, const bough_mechanism_blend *blend,
                                                bough_blend_state *state, int32_t touch_count,
                                                const bough_touch_def *touches, bough_contact_actor *actor);

#ifdef __cplusplus
}
#endif

#endif
