/* Contact: the points where shapes of <bough/rig.h> touch, and the world in which they push each other.
 *
 * A contact world holds obstacles, free rigid bodies and actors. It steps the bodies itself. An actor is whoever else
 * takes part: a mechanism, later a tree or a full body. It steps itself, and offers the world a small table of
 * functions: where its shapes are, how points of them move by its rates, and what impulses do to these rates.
 * docs/theory/contact.md has the equations. SI units, matrices row-major.
 *
 * Threads: a world, with all that its actors use, belongs to one thread at a time. Several worlds may be stepped at
 * once, each with a context of its own. Steps give the same bits for any number of threads of the context.
 */
#ifndef BOUGH_CONTACT_H
#define BOUGH_CONTACT_H

#include <bough/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bough_touching {
    double on_a[3], on_b[3]; /* in the world */
    double normal[3];        /* unit, from b to a */
    double gap;              /* m: (on_a - on_b) . normal; below 0 they overlap */
    uint32_t feature;        /* of the corners, edges and faces that touch: stays while they do */
} bough_touching;

enum { BOUGH_MOST_TOUCHING = 8 };

/* Points where two shapes are nearer than `margin`, at most BOUGH_MOST_TOUCHING; returns how many. at_a, at_b: where
 * that is what they belong to. Between two parts of the ground there are none. Allocates nothing, keeps nothing and
 * cannot fail; any number of threads may call it. */
BOUGH_API int32_t bough_shapes_touch(const bough_shape *a, const bough_pose *at_a, const bough_shape *b,
                                     const bough_pose *at_b, double margin, bough_touching points[BOUGH_MOST_TOUCHING]);

/* ---- who takes part ---- */

typedef struct bough_obstacle_def {
    uint32_t cookie;
    const char *name; /* for messages; NULL: none */
    bough_pose pose;
    int32_t shape_count;
    const bough_shape_def *shapes; /* frames in the obstacle's */
    double friction;               /* of two that touch: the square root of the product */
    uint64_t reserved[4];          /* zeros: room for fields of later versions */
} bough_obstacle_def;
/* At the world's origin, no shapes, friction 0.5 */
BOUGH_API bough_obstacle_def bough_default_obstacle_def(void);

/* The state of a free rigid body. May be read and written between steps. */
typedef struct bough_rigid_body {
    bough_pose pose;
    double velocity[3]; /* of the centre of mass, in the world */
    double spin[3];     /* rad/s, in its own axes */
    double force[3];    /* on the centre of mass, in the world: in the next step. Gone after it, unless it fails */
    double torque[3];   /* in the world; likewise */
} bough_rigid_body;

typedef enum bough_contact_kind {
    BOUGH_CONTACT_OF_OBSTACLE,
    BOUGH_CONTACT_OF_BODY,
    BOUGH_CONTACT_OF_END_EFFECTOR, /* of an actor: an end effector of a mechanism, or its base: -1 */
    BOUGH_CONTACT_OF_LINK,         /* of an actor: any link */
    BOUGH_CONTACT_OF_PART          /* of an actor: anything else */
} bough_contact_kind;

/* One of the two that touch. */
typedef struct bough_contact_side {
    bough_contact_kind kind;
    int32_t index; /* of the obstacle or the body; of an actor's place: what the actor calls it */
    int32_t actor; /* its number in the world; -1: an obstacle or a body */
} bough_contact_side;

/* A point of the last step where two things touched, or nearly. */
typedef struct bough_contact {
    bough_contact_side sides[2];
    double position[3]; /* in the world, when the step began */
    double normal[3];   /* from the second to the first */
    double gap;         /* m; below 0: they overlapped */
    double force[3];    /* N: on the first, in the world */
} bough_contact;

/* ---- actors ---- */

/* Rates y of an actor in one step. The arrays belong to the actor; the world copies y and reads `before` until the step
 * ends. */
typedef struct bough_contact_rates {
    int32_t size;         /* at most bough_contact_actor.most_rates */
    const double *y;      /* size: at the end of the step, without contact */
    const double *before; /* size: at its start */
} bough_contact_rates;

/* Pose of an actor's place at the start of a step, and its motion without contact. */
typedef struct bough_contact_motion {
    bough_pose pose;    /* of the frame that the shapes of the place lie in, in the world */
    double velocity[3]; /* of its origin, in the world, by the rates y */
    double spin[3];     /* rad/s, in the world */
    double centre[3];   /* of a place with points only: a sphere around them, in the world, */
    double radius;      /* m, */
    double speed;       /* m/s: and a bound on how fast they move by the rates y */
} bough_contact_motion;

/* A force on an actor at one point. */
typedef struct bough_contact_push {
    int32_t place;      /* of the actor */
    int32_t point;      /* of the place's points; -1: any other point of the place */
    double position[3]; /* in the world, when the step began */
    double force[3];    /* N: on the actor, in the world, for the whole step */
} bough_contact_push;

enum { BOUGH_CONTACT_MOST_NEAR = 12 };

/* The place of a surface that a point is near, and how it moves: as the mean of points of that surface. */
typedef struct bough_contact_near {
    double gap;       /* m; below 0: the point is inside */
    double normal[3]; /* of the surface there, outwards, in the world */
    int32_t point_count;
    int32_t points[BOUGH_CONTACT_MOST_NEAR]; /* of the place's points */
    double weights[BOUGH_CONTACT_MOST_NEAR]; /* their sum is 1 */
} bough_contact_near;

/* The functions of an actor. The world calls them in the order in which they stand here; A is the matrix of the actor's
 * step, by which an impulse p changes its rates by A^-1 p. A function that returns a status other than BOUGH_OK puts a
 * sentence into the context; the world then cancels the step of all actors. All are called by the thread that steps the
 * world, one at a time; they may use the threads of the context. */
typedef struct bough_contact_table {
    /* Begins a step: finds the rates without contact. Whatever an observer sees of the actor stays as it is. */
    bough_status (*begin)(bough_context *ctx, void *data, double dt, bough_contact_rates *rates);
    /* Says where a place is. Called once a step for each place. */
    void (*place)(void *data, int32_t place, bough_contact_motion *motion);
    /* Adds `sign` times the derivative by the rates (rows: 3 x size) of the velocity, along three unit vectors
     * (directions: 3 x 3), of the point of a place that is at `position` of the world. */
    void (*rows)(const void *data, int32_t place, const double position[3], const double directions[9], double sign,
                 double *rows);
    /* Says where the points of a place are (count x 3, in the world, at the start of the step), and their velocities by
     * the rates y. Called at most once a step for each place with points, and only where something is near the sphere
     * around them. NULL, as the next one: the actor has no points. */
    void (*points)(void *data, int32_t place, int32_t count, double *positions, double *velocities);
    /* Adds the same rows as above for one of the points. */
    void (*point_rows)(const void *data, int32_t place, int32_t point, const double directions[9], double sign,
                       double *rows);
    /* Says how near a point of the world is to the surface that the points of a solid place are of, at the start of the
     * step. Returns false where it is further than `within`; *near is not used then. NULL, as the next one: no place is
     * solid. */
    bool (*near)(void *data, int32_t place, const double position[3], double within, bough_contact_near *near);
    /* Adds the same rows as above for a point at `position` that moves as `near` says. */
    void (*near_rows)(const void *data, int32_t place, const bough_contact_near *near, const double position[3],
                      const double directions[9], double sign, double *rows);
    /* answers = rows A^-1, row by row (row_count x size; A is symmetric). *least (1/kg): directions in which a unit
     * impulse changes rates by less are rigid, and no impulse is looked for along them; 0 unless it is set. Called
     * once, and only in steps in which the actor may touch something (in worlds without islands: in which anything
     * touches). */
    bough_status (*answer)(bough_context *ctx, void *data, int32_t row_count, const double *rows, double *answers,
                           double *least);
    /* Takes the impulses on the rates (size) that belong to `pushes`. They are those of the whole step: they replace
     * what was taken before in the same step. Where the actor finds that A was not right, it sets *again to rates
     * without contact (size, its own) that are right with these impulses: the world looks for impulses from there, and
     * calls it again. Otherwise it leaves *again NULL. Called only where `answer` was. */
    bough_status (*take)(bough_context *ctx, void *data, double dt, const double *impulse, int32_t push_count,
                         const bough_contact_push *pushes, const double **again);
    /* Last chance to refuse the step. Nothing fails after this. NULL: there is nothing to check. */
    bough_status (*check)(bough_context *ctx, void *data, double dt);
    /* Moves the actor to the end of the step. */
    void (*commit)(void *data, double dt);
    /* Puts back whatever `begin` and what followed it changed; the actor is as it was before `begin`. Called also where
     * `begin` itself failed. NULL: nothing changes before `commit`. */
    void (*cancel)(void *data);
    /* Frees data. NULL: it stays the caller's. */
    void (*destroy)(bough_context *ctx, void *data);
} bough_contact_table;

typedef struct bough_contact_place_def {
    bough_contact_kind kind; /* not of an obstacle or a body */
    int32_t index;           /* by which contacts name the place */
} bough_contact_place_def;

typedef struct bough_contact_shape_def {
    int32_t place;         /* of the actor */
    int32_t number;        /* by which messages name the shape */
    bough_shape_def shape; /* no ground; its frame in that of the place */
    double friction;       /* of two that touch: the square root of the product */
    double restitution;    /* 0 .. 1, of two that touch: the larger */
    int32_t point_count;   /* above 0: `shape` is not used. The place touches with so many points of its surface, which
                              may move against each other: bough_contact_table.points. They touch obstacles and convex
                              shapes, and what is solid */
    bool solid;            /* with points: other points touch their surface, too, by bough_contact_table.near */
} bough_contact_shape_def;

/* An actor to be. Functions of other headers fill it, such as bough_mechanism_actor_create(). */
typedef struct bough_contact_actor {
    uint32_t cookie;
    const bough_contact_table *table; /* stays where it is as long as the world */
    void *data;                       /* first argument of all functions of the table */
    int32_t most_rates;               /* that it has in any step */
    int32_t place_count, shape_count;
    const bough_contact_place_def *places;
    const bough_contact_shape_def *shapes; /* ascending by place */
    const char *shape_name;                /* for messages; "shape" */
    bool touches_itself;                   /* its places touch each other; false: they pass through each other */
    uint64_t reserved[4];                  /* zeros: room for fields of later versions */
} bough_contact_actor;
/* No table, no places. */
BOUGH_API bough_contact_actor bough_default_contact_actor(void);
/* Frees what an actor has that was not given to a world, by its table. Takes one that is all zero bytes, too, and
 * leaves it so. */
BOUGH_API void bough_contact_actor_destroy(bough_context *ctx, bough_contact_actor *actor);

/* ---- the world ---- */

typedef struct bough_contact_world_def {
    uint32_t cookie;
    int32_t obstacle_count, body_count, actor_count;
    const bough_obstacle_def *obstacles;
    const bough_rigid_body_def *bodies; /* free ones: their origin is their centre of mass */
    bough_contact_actor *actors;        /* the world takes them over */
    double margin;           /* how near things are looked at, beside what they move in a step: parts of the smaller
                                one's radius; 0.05 */
    double correction;       /* part of an overlap that is undone in a step; 0.2 */
    double push_speed;       /* m/s: but not faster than this, or than what falls so far, and among bodies and obstacles
                                only as far as there is energy for it; 0.2 */
    double bounce_speed;     /* m/s: slower impacts do not bounce; 0.02 */
    int32_t most_rounds;     /* of the search for impulses; 200 */
    double tolerance;        /* of that search, against the speeds at which things would meet; 1e-5 */
    bool islands;            /* impulses of things that hang together by contacts are looked for on their own, whatever
                                happens elsewhere; true. false: in one search for all, which ends by the worst of them */
    int32_t contact_reserve; /* contacts for which there is room from the start; 0 */
    int32_t most_contacts;   /* the budget: a step in which more points than that are near each other is refused with
                                BOUGH_ERROR_UNSUPPORTED; 100000 */
    uint64_t reserved[4];    /* zeros: room for fields of later versions */
} bough_contact_world_def;
/* With nothing in it. */
BOUGH_API bough_contact_world_def bough_default_contact_world_def(void);

/* Part of something larger: only bough_contact_world_create() makes one. */
typedef struct bough_contact_world {
    double gravity[3]; /* m/s^2, on the bodies; 0 unless it is set. That on actors is their own affair */
    int32_t body_count;
    bough_rigid_body *bodies; /* may be read and written between steps */
    int32_t contact_count;
    bough_contact *contacts; /* of the last step */
    int32_t island_count;    /* of the last step: groups of things that hang together by contacts */
    int32_t rounds;          /* of the last step's search: those of the island that needed most */
    double residual;         /* m/s: by which it missed what speeds and impulses should be to each other */
} bough_contact_world;

/* Makes a world; the caller destroys it. Checks and copies all of the def. Actors are taken over, also when it fails:
 * those of the def are all zero bytes afterwards (unless their count, or the def itself, makes no sense). Whatever an
 * actor uses (a model, a state) must outlive the world. BOUGH_ERROR_ARGUMENT, with a sentence that names the thing,
 * where a number is out of range. */
BOUGH_API bough_status bough_contact_world_create(bough_context *ctx, const bough_contact_world_def *def,
                                                  bough_contact_world **world);
/* Destroys the actors too, by their tables. Takes NULL. */
BOUGH_API void bough_contact_world_destroy(bough_context *ctx, bough_contact_world *world);

/* One step of the bodies and all actors, with contact and friction. A transaction: when it fails nothing has moved.
 * BOUGH_NOT_FINITE where a force or a velocity was no number; what actors return. Allocates only while there are more
 * contacts than ever before, and than contact_reserve. */
BOUGH_API bough_status bough_contact_world_step(bough_context *ctx, bough_contact_world *world, double dt);

/* Filters. Two things touch where the mask of each has one of the other's groups (bits; at first each is in group 1 and
 * has all bits in its mask), and where the pair is not ignored. Both may be set between steps and stay; they are part
 * of the description, and not saved with the state. who: an obstacle, a body, or a place of an actor by its kind, index
 * and actor. BOUGH_ERROR_ARGUMENT where there is no such thing; nothing has changed then. */
BOUGH_API bough_status bough_contact_world_filter(bough_context *ctx, bough_contact_world *world,
                                                  bough_contact_side who, uint32_t groups, uint32_t mask);
BOUGH_API bough_status bough_contact_world_ignore(bough_context *ctx, bough_contact_world *world, bough_contact_side a,
                                                  bough_contact_side b, bool ignore);

/* Puts an obstacle to another pose, and says how it moves in the steps from now on: velocity of its origin, and spin in
 * rad/s, both in the world. What it touches is pushed and taken along; nothing pushes the obstacle. Steps do not change
 * its pose: whoever moves an obstacle says before each step where it is. Not saved with the state.
 * BOUGH_ERROR_ARGUMENT where there is no such obstacle, the pose is none, or a number is not finite; nothing has changed
 * then. */
BOUGH_API bough_status bough_contact_world_move(bough_context *ctx, bough_contact_world *world, int32_t obstacle,
                                                const bough_pose *pose, const double velocity[3], const double spin[3]);

/* The body must exist. */
BOUGH_API bough_pose bough_contact_world_body_pose(const bough_contact_world *world, int32_t body);
/* (v; w) in the body's axes. The body must exist. */
BOUGH_API void bough_contact_world_body_twist(const bough_contact_world *world, int32_t body, double twist[6]);

/* All of the world that changes, but for its actors, as numbers: a run that is put back goes on with the same bits. The
 * caller provides the memory. How many numbers there are changes with the contacts, which are among them. */
BOUGH_API int64_t bough_contact_world_memory_size(const bough_contact_world *world);
BOUGH_API void bough_contact_world_save(const bough_contact_world *world, double *memory);
/* BOUGH_ERROR_FORMAT for numbers that were not saved from a world with the same bodies and shapes; nothing has changed
 * then. */
BOUGH_API bough_status bough_contact_world_restore(bough_context *ctx, bough_contact_world *world, int64_t size,
                                                   const double *memory);

#ifdef __cplusplus
}
#endif

#endif
