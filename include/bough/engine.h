/* The common side of all engines: the things that they move, the hands of a host, and reports of what happened.
 * <bough/run.h> steps a scene by any of them.
 *
 * Nothing in this header allocates or fails. Strings and arrays that a struct points to belong to the engine, and stay
 * valid until its run is destroyed unless a comment says otherwise.
 */
#ifndef BOUGH_ENGINE_H
#define BOUGH_ENGINE_H

#include <bough/component.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A place and how it moves, in world axes. */
typedef struct bough_frame {
    bough_pose pose;
    double velocity[3], angular_velocity[3]; /* of its origin, m/s; rad/s */
} bough_frame;

/* ---- things: what an engine moves, and what it looks like ---- */

typedef enum bough_drawing {
    BOUGH_DRAWN_RIGID,   /* by its look, placed by its frame: x = o + R X */
    BOUGH_DRAWN_MODES,   /* by its look's component, placed by its frame, with coordinates q: x = o + s R (X + U q) */
    BOUGH_DRAWN_VERTICES /* by the mesh of the run (bough_run_mesh()), every vertex by itself */
} bough_drawing;

/* The surface that one or several things have. */
typedef struct bough_look {
    const bough_component *component; /* of BOUGH_DRAWN_MODES: its surface and U, and none of the arrays below */
    int32_t vertex_count, triangle_count;
    const double *vertices;      /* 3 vertex_count, in the thing's axes, m */
    const int32_t *triangles;    /* 3 triangle_count, counter-clockwise seen from outside */
    double colour[3];            /* red, green, blue, 0 .. 1 */
    const float *vertex_colours; /* 3 vertex_count, of a look whose shapes have several colours; else NULL */
} bough_look;

typedef struct bough_thing {
    const char *name; /* never NULL */
    const char *kind; /* "part", "body", "link", "free body", "obstacle": a word for people */
    int32_t parent;   /* the thing that it hangs on at the start; -1: none */
    bough_drawing drawing;
    int32_t look;                       /* number of its look; -1 where every vertex is drawn by itself */
    double scale;                       /* s of BOUGH_DRAWN_MODES; else 1 */
    double stiffness;                   /* factor on its frequencies at the start */
    double mass;                        /* kg, without what hangs on it; 0: nothing moves it */
    bough_pose rest;                    /* of its frame, in the world */
    bool held;                          /* it belongs to the surroundings: neither steps nor hands move it */
    int32_t first_vertex, vertex_count; /* where its surface lies in bough_run_mesh(); all of a mesh that is its own */
    /* Not 0: a part in full order, BOUGH_DRAWN_MODES without a basis. q has as many numbers: displacements of the vertices of its
     * volume mesh (x y z of each) in its own axes. bough_run_positions() has its surface. */
    int32_t full_count;
} bough_thing;

/* A thing as it is now. */
typedef struct bough_thing_state {
    bough_frame frame;
    const double *q;  /* coordinates of BOUGH_DRAWN_MODES, valid until the next step; else NULL */
    int32_t parent;   /* what it hangs on now; -1: nothing */
    bool there;       /* neither it nor what it hangs on was removed, or is yet to come */
    bool removed;     /* it was itself removed, or is yet to come */
    bool loose;       /* it hangs, or is held, otherwise than at the start */
    bool locked;      /* it keeps its shape */
    double stiffness; /* factor on its frequencies; 1 unless somebody chose another */
} bough_thing_state;

/* Places where vertices of several things lie on each other at rest, for those who join surfaces themselves. */
typedef struct bough_seams {
    int32_t place_count, copy_count;
    const int32_t *place_first; /* place_count + 1: where its copies begin in members */
    const int32_t *members;     /* numbers of copies, place by place */
    const int32_t *copy_vertex; /* copy_count: vertex of the whole, ascending */
    const int32_t *copy_part;   /* copy_count: thing */
} bough_seams;

/* ---- what engines can do: a set of bits ---- */

typedef enum bough_capability {
    BOUGH_CAN_PULL = 1 << 0,        /* hands pull and poke things */
    BOUGH_CAN_GRAVITY = 1 << 1,     /* gravity can be changed between steps */
    BOUGH_CAN_WIND = 1 << 2,        /* wind blows on things */
    BOUGH_CAN_CHANGE = 1 << 3,      /* things are cut off, put back, locked and removed */
    BOUGH_CAN_PAINT = 1 << 4,       /* stiffness and damping of a thing can be changed */
    BOUGH_CAN_MOTORS = 1 << 5,      /* somebody may take over motors, where the scene has some */
    BOUGH_CAN_STRESS = 1 << 6,      /* stress is known */
    BOUGH_CAN_DEVIATION = 1 << 7,   /* it is known how far interfaces are from rigid */
    BOUGH_CAN_COUPLING = 1 << 8,    /* there are couplings to choose from, also between steps */
    BOUGH_CAN_CONTINUITY = 1 << 9,  /* surfaces of things that meet can be joined */
    BOUGH_CAN_INTEGRATOR = 1 << 10, /* another integrator can go on from the present state */
    BOUGH_CAN_INPUTS = 1 << 11,     /* all that is done to it can be recorded for a replay */
    BOUGH_CAN_GAPS = 1 << 12,       /* it is known how far the two sides of joints are apart */
    BOUGH_CAN_CONTACTS = 1 << 13,   /* it is known where things touch */
    BOUGH_CAN_FOLLOW = 1 << 14,     /* equilibria are known at all times of the motors' curves */
    BOUGH_CAN_JOINTS = 1 << 15,     /* it is known where joints are, and with what forces they hold */
    BOUGH_CAN_MODES = 1 << 16       /* small vibrations about the present state can be found */
} bough_capability;
/* "pull", "gravity", ...: the name of the bit of this number, from 0; NULL: there are no more. */
BOUGH_API const char *bough_capability_name(int32_t number);

/* ---- hands and wind ---- */

enum { BOUGH_RUN_HANDS = 16 }; /* that a live run has */

/* Air that flows past things. */
typedef struct bough_wind {
    double velocity[3]; /* mean, m/s */
    double gust;        /* turbulence: rms of the gusts over the mean speed */
    double length;      /* m: size of the largest gusts */
    double density;     /* of the air, kg/m^3 */
    double drag;        /* coefficient */
    uint64_t seed;      /* the same seed, the same gusts */
    double lead;        /* s: the gusts are those of this much later; a mean that changes carried them elsewhere than a
                           steady one would have. Packs do not hold it */
} bough_wind;

/* ---- changes between steps ---- */

typedef enum bough_change_kind {
    BOUGH_CHANGE_DETACH,   /* flies on, with what hangs on it, with the motion it has; also a root that was held */
    BOUGH_CHANGE_ATTACH,   /* hangs from now on at this interface of `parent`, or (parent -1) is held, as it lies now */
    BOUGH_CHANGE_REATTACH, /* goes back to where the model has it, and moves with what it hangs on */
    BOUGH_CHANGE_LOCK,     /* keeps its shape from now on */
    BOUGH_CHANGE_UNLOCK,   /* bends again */
    BOUGH_CHANGE_REMOVE,   /* it and what hangs on it is gone */
    BOUGH_CHANGE_ADD       /* is there again, with what hangs on it, at rest: where it hangs, or as the root `frame` */
} bough_change_kind;

typedef struct bough_change {
    bough_change_kind kind;
    int32_t part;
    int32_t parent, interface_index; /* ATTACH */
    bough_frame frame;               /* ADD of a root; velocities are of one that flies */
} bough_change;

/* Something that happened to a thing or a tie (scene files, "events" and "break"; or by hand). */
typedef struct bough_run_change {
    double time;        /* s */
    const char *change; /* "break", "detach", "attach", "reattach", "lock", "unlock", "remove", "add", "wind"; to a tie:
                           "cut_tie", "join_tie" or "break_tie" */
    int32_t part, tie;  /* number of the one or the other; -1: it is none of these */
    const char *name;   /* of the part or tie; NULL: wind */
    double stress; /* the part's largest von Mises, Pa, then; NAN: of a scene in which no part breaks, or of a tie */
    double force;  /* that the tie pulled with until then, N; NAN: of a part */
} bough_run_change;

/* ---- motors and joints ---- */

/* A motor that somebody may take over: the offset of a joint's spring, which else follows a curve of the scene, or a
 * torque in a joint, which else is 0. */
typedef struct bough_run_motor {
    const char *joint;      /* name of the joint, or of the part that hangs in it; NULL: none */
    int32_t freedom;        /* of the joint, from 0 */
    const char *unit;       /* "rad" or "m": an offset; "N m": a torque */
    double lowest, highest; /* of what makes sense: the joint's limits, somewhat beyond what the curve reaches, or a
                               torque that turns the spring by a radian or holds what hangs there out level */
    double offset;          /* or torque, now */
    bool held;              /* somebody has taken it over */
} bough_run_motor;

/* The distance between the two sides of a joint, less what its freedoms can do: the error of a model that is linear
 * about one pose, or blended between several, far from them. */
typedef struct bough_run_gap {
    int32_t joint;          /* in the order of the scene; -1: there is none */
    const char *name;       /* of the joint; NULL: it has none */
    double distance, angle; /* m and rad */
    double error;           /* the larger of distance over the mechanism's radius, and angle */
    double time;            /* s: when */
} bough_run_gap;

/* A jump from one equilibrium to another, which came to an end or would not have stood a push. */
typedef struct bough_run_snap {
    double time;      /* s: when */
    int32_t joint;    /* whose two sides moved most against each other, in the order of the scene; -1: there is none */
    const char *name; /* of the joint; NULL: it has none */
    double turn, distance; /* rad by which its sides turned against each other; m by which its child moved */
} bough_run_snap;

/* A joint, where it is now, and the force with which it holds what hangs in it. */
typedef struct bough_run_joint {
    const char *name;           /* NULL: it has none */
    const char *kind;           /* "hinge", ...: a word for people */
    int32_t things[2];          /* parent and child; -1: the world */
    bough_pose pose;            /* of its frame on the child, in the world: hinges turn about z */
    double force[3], torque[3]; /* N, N m: on the child, about that frame's origin, in the world */
} bough_run_joint;

/* ---- small vibrations ---- */

typedef struct bough_run_modes {
    int32_t most;           /* wanted; the arrays, which are the caller's, have room for so many */
    double *frequencies_hz; /* most: 0 where it does not swing */
    double *shapes;         /* most x 3 vertices of bough_run_mesh(): how they move; NULL: nobody wants to see them */
    int32_t count;          /* found: those of lowest frequency */
    int32_t unstable_count; /* among them: there it falls over instead of swinging */
    int32_t coordinates;    /* of the system that vibrates */
} bough_run_modes;

/* ---- contacts ---- */

/* A point of the last step where two things touched, or nearly. */
typedef struct bough_run_contact {
    int32_t things[2];  /* their numbers, the same where a body touches itself; -1: something that is no thing */
    double position[3]; /* in the world, when the step began */
    double normal[3];   /* unit, from the second to the first */
    double gap;         /* m; below 0: they overlapped */
    double force[3];    /* N: on the first, in the world */
} bough_run_contact;

/* ---- measurements ---- */

/* The first columns of every engine's measurements; probes follow. */
enum {
    BOUGH_COLUMN_TIME,
    BOUGH_COLUMN_ELASTIC, /* J */
    BOUGH_COLUMN_KINETIC,
    BOUGH_COLUMN_EXTERNAL, /* potential of gravity and of forces that never change, zero at rest */
    BOUGH_COLUMN_TOTAL,
    BOUGH_COLUMN_MOMENTUM,             /* 3, kg m/s */
    BOUGH_COLUMN_ANGULAR_MOMENTUM = 8, /* 3, kg m^2/s about the origin */
    BOUGH_COLUMN_WORK = 11,            /* J, done since the start by all that has no potential in the column before:
                                        * wind, hands, motors, supports that move, forces that change, events */
    BOUGH_COLUMN_BALANCE, /* total - total at the start - work: falls by what damping takes, and should not rise */
    BOUGH_COLUMN_PROBES
};

#ifdef __cplusplus
}
#endif

#endif
