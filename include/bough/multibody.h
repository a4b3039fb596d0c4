/* The multibody engine: rigid bodies and flexible parts, held together by joints and driven by motors, as one system of
 * differential equations with constraints. Loops are allowed.
 *
 * A model is a constant description, a state all that changes; one model serves many states and threads. Functions that
 * return a status other than BOUGH_OK leave a sentence in the context, and what they were to change as it was. Where a
 * function takes a model and a state, one thread at a time may use the state. SI units, matrices row-major. Equations:
 * docs/theory/multibody.md.
 */
#ifndef BOUGH_MULTIBODY_H
#define BOUGH_MULTIBODY_H

#include <bough/component.h>
#include <bough/contact.h>
#include <bough/rig.h>
#include <bough/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- description ----
 *
 * Frames name what they lie on by one list: rigid bodies 0 .. body_count - 1, then flexible parts. A frame on a part
 * lies on one of its interfaces, or (interface_index -1) on what the part is clamped to. */

/* A part in full order: all nodes of its mesh instead of a basis. Made by <bough/twin.h>. */
typedef struct bough_full_part bough_full_part;

/* A flexible part: a component that is clamped, by the interface that it was cooked to hang by, to a frame. Its
 * component must have been cooked with that support (BOUGH_SUPPORT_INTERFACE). */
typedef struct bough_flexible_def {
    uint32_t cookie;
    const char *name;                 /* NULL: none. Copied */
    const bough_component *component; /* must outlive the model */
    /* The place of the component's frame (axes of its mesh, origin at the centre of the interface by which it hangs):
     * on a rigid body, an interface of another part, or the world. */
    bough_frame_def clamp;
    double stiffness;         /* factor on frequencies: forces take its square; 1 */
    double damping_mass;      /* Rayleigh, 1/s; NAN: the component's */
    double damping_stiffness; /* s; likewise */
    /* NULL: the part moves by the coordinates of its component. Else it moves in full order, by the displacements of
     * all vertices of the mesh (x y z of each) in the axes of the component, of which interfaces, mass and damping are
     * taken; it may be a rigid one. Must outlive the model. */
    const bough_full_part *full;
    uint64_t reserved[3]; /* zeros: room for fields of later versions */
} bough_flexible_def;
/* Clamped to the world's origin, no component, stiffness 1, the component's damping, reduced. */
BOUGH_API bough_flexible_def bough_default_flexible_def(void);

/* A motor turns or moves one coordinate of a joint: exactly (stiffness INFINITY; hinges and prismatic joints), or by a
 * spring and a damper between where it is told to be and where it is, with a limit on its force. */
typedef struct bough_motor_def {
    uint32_t cookie;
    const char *name; /* NULL: none. Copied */
    int32_t joint, freedom;
    double stiffness;     /* N m / rad, N / m; INFINITY: exactly */
    double damping;       /* N m s / rad, N s / m */
    double limit;         /* N m, N: the most that a motor with a finite stiffness gives; INFINITY: any */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_motor_def;
/* Drives the first freedom of joint 0 exactly. */
BOUGH_API bough_motor_def bough_default_motor_def(void);

/* Coordinates of two joints in a fixed relation: first + ratio second stays what it is at the start. */
typedef struct bough_gear_def {
    uint32_t cookie;
    const char *name; /* NULL: none. Copied */
    int32_t joints[2], freedoms[2];
    double ratio;         /* of meshing wheels: teeth of the second over teeth of the first */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_gear_def;
/* Connects joint 0 with itself, ratio 1. */
BOUGH_API bough_gear_def bough_default_gear_def(void);

typedef struct bough_multibody_def {
    uint32_t cookie;
    int32_t body_count, part_count, joint_count, motor_count, gear_count;
    const bough_rigid_body_def
        *bodies; /* pose: where they begin; twist: how they move then, (v; w) in their own axes. Mass and inertia are
                    above 0, or all 0 where a part is clamped to the body */
    const bough_flexible_def *parts;
    /* All kinds of <bough/rig.h>. Springs, dampers, friction and limits act on the coordinates of hinges, prismatic,
     * universal, cylindrical and planar joints; balls and compliant joints have springs and dampers, the same about all
     * axes. Beyond a limit acts a spring of limit_stiffness times the joint's stiffness, or, where that is 0, of
     * limit_stiffness itself (N m / rad, N / m). `start` is not used: coordinates follow from the poses.
     * Springs are at rest at the coordinates of the start plus `offset`; limits and motors count from 0. */
    const bough_joint_def *joints;
    const bough_motor_def *motors;
    const bough_gear_def *gears;
    double gravity[3];     /* m/s^2, of new states; none unless it is set */
    double baumgarte;      /* 1/s: how fast errors of constraints decay; 50 */
    double friction_speed; /* rad/s, m/s: above it, dry friction slips; 0.01 */
    uint64_t reserved[4];  /* zeros: room for fields of later versions */
} bough_multibody_def;
/* With nothing in it. */
BOUGH_API bough_multibody_def bough_default_multibody_def(void);

typedef struct bough_multibody bough_multibody;
/* Checks and copies everything (but components), and finds in which order the equations are eliminated. Redundant
 * constraints are found and softened: bough_multibody_redundant() tells. */
BOUGH_API bough_status bough_multibody_create(bough_context *ctx, const bough_multibody_def *def,
                                              bough_multibody **model);
/* Takes NULL too. */
BOUGH_API void bough_multibody_destroy(bough_context *ctx, bough_multibody *model);
/* Returns the definition the model was made of; strings and arrays belong to the model. */
BOUGH_API const bough_multibody_def *bough_multibody_describe(const bough_multibody *model);

/* Sizes of a state: velocities, positions and multipliers. */
BOUGH_API int32_t bough_multibody_velocity_count(const bough_multibody *model);
BOUGH_API int32_t bough_multibody_position_count(const bough_multibody *model);
BOUGH_API int32_t bough_multibody_constraint_count(const bough_multibody *model);
/* Returns the place where the coordinates of a part begin among positions (and, less body_count, among velocities). */
BOUGH_API int32_t bough_multibody_part_offset(const bough_multibody *model, int32_t part);
/* Returns the place where the multipliers of a joint begin, and their number. */
BOUGH_API int32_t bough_multibody_joint_rows(const bough_multibody *model, int32_t joint, int32_t *count);
/* Returns the number of constraints that follow from others; *joint (may be NULL): the joint of the number-th. */
BOUGH_API int32_t bough_multibody_redundant(const bough_multibody *model, int32_t number, int32_t *joint);

/* ---- states ---- */

/* Called for the time of a step's end, or of its stages: where a motor is told to be, and how fast that changes. */
typedef void (*bough_motor_drive)(void *data, int32_t motor, double time, double *place, double *rate);

/* May be read, and written between steps; call bough_multibody_restart() after positions or velocities were written. */
typedef struct bough_multibody_state {
    double time;
    /* For each body the position of its origin and its quaternion (w x y z), then the coordinates of the parts. */
    double *u;
    double *v;      /* for each body velocity and angular velocity, world axes, then rates of the parts' coordinates */
    double *lambda; /* multipliers of the constraints: forces and torques in the joints */
    double gravity[3];
    double *force; /* as v: forces and torques about the origins of bodies, world axes, and on the coordinates of
                        parts; act in the next step and are zeros after it */
    bough_motor_drive drive; /* NULL: motors stay where they are at the start */
    void *drive_data;
    int32_t iterations, factors; /* of the last step: Newton's iterations, factorisations */
    double drift;                /* of the last step: the largest |C|, m and rad */
} bough_multibody_state;
/* Makes a state at the start of the model; the caller destroys it. The model must outlive it. */
BOUGH_API bough_status bough_multibody_state_create(bough_context *ctx, const bough_multibody *model,
                                                    bough_multibody_state **state);
/* Takes NULL too. */
BOUGH_API void bough_multibody_state_destroy(bough_context *ctx, bough_multibody_state *state);
/* Forgets the step before: the next step is a first one. */
BOUGH_API void bough_multibody_restart(bough_multibody_state *state);

/* Moves bodies and parts to the nearest place at which all constraints hold, and velocities likewise, with motors as
 * they are told to be at the state's time. BOUGH_NO_CONVERGENCE names the joint that misses most, and by how much. */
BOUGH_API bough_status bough_multibody_assemble(bough_context *ctx, const bough_multibody *model,
                                                bough_multibody_state *state);
/* Finds the equilibrium at the state's time, with motors as they are told to be then and all at rest. */
BOUGH_API bough_status bough_multibody_settle(bough_context *ctx, const bough_multibody *model,
                                              bough_multibody_state *state);

/* A jump from one equilibrium to another: the one before came to an end, or would not have stood a push. */
typedef struct bough_multibody_snap {
    double time;     /* s: when that was, to a 256th of the time that was to go */
    int32_t joint;   /* whose two sides moved most against each other, or else whose child moved most; -1: none */
    double turn;     /* rad: by which its two sides turned against each other */
    double distance; /* m: by which the frame of its child moved */
} bough_multibody_snap;

/* The work of following equilibria, which is added up. */
typedef struct bough_multibody_path {
    int32_t done;                     /* times of bough_multibody_targets() that were reached */
    int32_t snaps;                    /* jumps */
    bough_multibody_snap first, last; /* the first and the last of them, if there are any */
    int32_t halvings;                 /* increments of time that were halved */
    int64_t iterations, factors;      /* of Newton's method; factorisations */
} bough_multibody_path;

/* Goes from the equilibrium that the state is in (bough_multibody_settle()) to that at another time, with motors as they
 * are told to be then. Newton's method begins where the last two equilibria lead to; an increment of time that fails is
 * halved, up to 8 times, and where even that leads nowhere, or what is found is unstable, the system is settled anew
 * from there: a snap. *path (may be NULL, else zeros at first) tells. When it fails the state is the last equilibrium
 * that was found on the way. Forces on the state act, and stay. */
BOUGH_API bough_status bough_multibody_follow(bough_context *ctx, const bough_multibody *model,
                                              bough_multibody_state *state, double time, bough_multibody_path *path);

/* Equilibria at equal distances of time, and frames whose poses are asked for. */
typedef struct bough_targets_def {
    uint32_t cookie;
    double from, every; /* s: times are from + k every, k = 0 .. count - 1 */
    int32_t count;
    int32_t frame_count;
    const bough_frame_def *frames; /* on bodies, parts and interfaces, as for joints */
    uint64_t reserved[4];          /* zeros: room for fields of later versions */
} bough_targets_def;
/* From 0 on 30 times a second, none of them, without frames. */
BOUGH_API bough_targets_def bough_default_targets_def(void);
/* Settles the state at the first time and follows the equilibrium to all others; the state ends in the last one.
 * poses: count x frame_count, in the world. *path (may be NULL) is set, not added to. When it fails, or progress() of
 * the context cancels, the poses of the first path->done times are there. */
BOUGH_API bough_status bough_multibody_targets(bough_context *ctx, const bough_multibody *model,
                                               bough_multibody_state *state, const bough_targets_def *def,
                                               bough_pose *poses, bough_multibody_path *path);

/* One step by BDF2 (the first by backward Euler) with constraints on velocities. When it fails the state is what it
 * was. Allocates nothing. */
BOUGH_API bough_status bough_multibody_step(bough_context *ctx, const bough_multibody *model,
                                            bough_multibody_state *state, double dt);
/* Advances by dt in as many steps as keep the error of each below `tolerance` times the size of the model (1e-6: a
 * micrometre for a robot of a metre). Forces act during all of it. When it fails, the state is the last good one, on the
 * way. *steps (may be NULL): how many it took. */
BOUGH_API bough_status bough_multibody_advance(bough_context *ctx, const bough_multibody *model,
                                               bough_multibody_state *state, double dt, double tolerance,
                                               int32_t *steps);
/* From now on steps are those of a method of <bough/time.h> that knows constraints, which keeps positions and
 * velocities within the constraints to rounding; def NULL: those above again. */
BOUGH_API bough_status bough_multibody_use_integrator(bough_context *ctx, const bough_multibody *model,
                                                      bough_multibody_state *state, const bough_integrator_def *def);

/* ---- contact ---- */

/* Makes an actor of a contact world (<bough/contact.h>) of a state: the world's step is then its step, by the engine's
 * own method; steps in which something touches are of first order. Shapes lie on bodies, which `place` numbers, ascending;
 * contacts name them as links (BOUGH_CONTACT_OF_LINK). A shape whose `place` is the number of a part (from body_count on)
 * stands for the contact samples of the part's component, bent as the part is; of it only friction and restitution count,
 * and contacts name it as BOUGH_CONTACT_OF_PART with its number among the parts. Samples touch obstacles and shapes, not
 * other samples. BOUGH_ERROR_ARGUMENT where a component has none. Model and state must outlive the world, or the actor. The caller
 * hands the actor to a world, or destroys it. Bodies do not touch each other unless touches_itself of the actor is set
 * before it is handed over. */
BOUGH_API bough_status bough_multibody_actor_create(bough_context *ctx, const bough_multibody *model,
                                                    bough_multibody_state *state, int32_t shape_count,
                                                    const bough_contact_shape_def *shapes, bough_contact_actor *actor);

/* ---- small vibrations ---- */

typedef struct bough_multibody_modes {
    int32_t count, size;    /* size: velocities of the model */
    int32_t unstable_count; /* modes with omega^2 < 0: the system is about to fall over in that way */
    double *squares;        /* count: omega^2, 1/s^2, ascending */
    double *frequencies_hz; /* count: 0 where omega^2 < 0 */
    double *shapes;         /* count x size: as velocities, of unit modal mass */
} bough_multibody_modes;

/* Finds the `count` modes of lowest frequency (fewer where there are fewer) about the state, which should be one at rest:
 * bough_multibody_settle() makes one with gravity. Joints and exact motors hold; springs, weight and the forces in joints
 * add their stiffness; damping and forces on the state are left out. Systems that can move freely have modes of 0 Hz.
 * The matrices are full: for up to 1500 velocities. The caller destroys the modes. */
BOUGH_API bough_status bough_multibody_find_modes(bough_context *ctx, const bough_multibody *model,
                                                  bough_multibody_state *state, int32_t count,
                                                  bough_multibody_modes **modes);
/* Frees modes. Takes NULL. */
BOUGH_API void bough_multibody_modes_destroy(bough_context *ctx, bough_multibody_modes *modes);

/* ---- what a state is like ---- */

/* Finds the pose of a frame, and (v; w) of its origin, world axes; either may be NULL. */
BOUGH_API void bough_multibody_frame(const bough_multibody *model, const bough_multibody_state *state,
                                     const bough_frame_def *frame, bough_pose *pose, double twist[6]);
/* Coordinates of a joint and their rates (as many as it has); either may be NULL. */
BOUGH_API void bough_multibody_joint_coordinates(const bough_multibody *model, const bough_multibody_state *state,
                                                 int32_t joint, double *coordinates, double *rates);
/* Force and torque of the joint (constraints, springs and motors) on its child, about the origin of the child's frame,
 * world axes. */
BOUGH_API void bough_multibody_joint_wrench(const bough_multibody *model, const bough_multibody_state *state,
                                            int32_t joint, double wrench[6]);

/* Constants of a model by which whole motions can be differentiated (<bough/retarget.h>): what it is, what `index` counts,
 * and what a unit is. A joint's constants are those of one of its freedoms; a ball has them at 0, a compliant joint at 0
 * to 2 (along) and 3 (about). */
#define BOUGH_MULTIBODY_PARAMETER_LIST(X)                                                          \
    X(YOUNG, "part", "factor on the elastic forces of a part, as Young's modulus is")              \
    X(DAMPING_MASS, "part", "damping by mass, 1/s")                                                \
    X(DAMPING_STIFFNESS, "part", "damping by stiffness, s")                                        \
    X(MASS, "body", "mass of a rigid body at its centre of mass, kg; inertia about that as it is") \
    X(JOINT_STIFFNESS, "joint", "N m / rad, N / m; where it is not 0 limits get stiffer with it")  \
    X(JOINT_DAMPING, "joint", "N m s / rad, N s / m")                                              \
    X(MOTOR_STIFFNESS, "motor", "of a motor that gives way, N m / rad, N / m")                     \
    X(MOTOR_DAMPING, "motor", "likewise, N m s / rad, N s / m")                                    \
    X(SHAPE, "", "anything that shapes a model, as the length of a rod: by the difference of two models")

typedef enum bough_multibody_parameter_kind {
#define BOUGH_MULTIBODY_PARAMETER_ENUM(id, counts, about) BOUGH_MULTIBODY_##id,
    BOUGH_MULTIBODY_PARAMETER_LIST(BOUGH_MULTIBODY_PARAMETER_ENUM)
#undef BOUGH_MULTIBODY_PARAMETER_ENUM
        BOUGH_MULTIBODY_PARAMETER_KIND_COUNT
} bough_multibody_parameter_kind;

typedef struct bough_multibody_parameter {
    bough_multibody_parameter_kind kind;
    int32_t index;   /* of the part, rigid body, joint or motor */
    int32_t freedom; /* of a joint */
    /* SHAPE: the model with the constant less and with it more, by `change` in all; must outlive what uses them. Both
     * have the bodies, joints and motors of the model, and parts with as many coordinates, which mean the same
     * (bough_cook_alike() of <bough/reduce.h>). */
    const struct bough_multibody *less, *more;
    double change;
} bough_multibody_parameter;

typedef struct bough_multibody_energies {
    double kinetic, elastic, springs, gravity; /* J; springs: of joints; gravity: 0 for a mass in the world's origin */
    double momentum[3], angular_momentum[3];   /* kg m/s; kg m^2/s about the world's origin */
} bough_multibody_energies;
/* Measures energies and momenta of the whole, at the state's positions and velocities. */
BOUGH_API void bough_multibody_measure(const bough_multibody *model, const bough_multibody_state *state,
                                       bough_multibody_energies *energies);

#ifdef __cplusplus
}
#endif

#endif
