/* Scenes that follow a wish. Fitting: what the material of flexible parts must be, so that a scene moves as a real
 * thing was seen to move. Derivatives of motions: how curves of motors, and constants of a model, change where things
 * go. Retargeting: curves of motors for which a flexible robot follows an animation without vibrating.
 *
 *     bough_fit_def def = bough_default_fit_def();
 *     def.marker = "weight", def.sample_count = n, def.times = times, def.positions = positions;
 *     bough_fit_scene(ctx, scene, &def, &fit);
 *     ... fit->values[0].value ...
 *     bough_fit_destroy(ctx, fit);
 *
 * Ownership, threads and failure: as <bough/base.h> says. SI units. Equations: docs/fit.md,
 * docs/theory/adjoint.md.
 */
#ifndef BOUGH_RETARGET_H
#define BOUGH_RETARGET_H

#include <bough/multibody.h>
#include <bough/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The quantities that can be fitted: name in JSON, unit, and what it is. */
#define BOUGH_FIT_LIST(X)                                                                   \
    X(YOUNG, "young", "Pa", "Young's modulus")                                              \
    X(DAMPING_MASS, "damping_mass", "1/s", "damping by mass")                               \
    X(DAMPING_STIFFNESS, "damping_stiffness", "s", "damping by stiffness")                  \
    X(START, "start", "s", "time of the measurement at which the scene begins")             \
    X(RELEASE_1, "release_1", "m", "displacement of the marker before the release")         \
    X(RELEASE_2, "release_2", "m", "the same across, in the second of the soft directions") \
    X(RELEASE_3, "release_3", "m", "the same in the third of the soft directions")

typedef enum bough_fit_kind {
#define BOUGH_FIT_ENUM(id, name, unit, about) BOUGH_FIT_##id,
    BOUGH_FIT_LIST(BOUGH_FIT_ENUM)
#undef BOUGH_FIT_ENUM
        BOUGH_FIT_KIND_COUNT
} bough_fit_kind;

typedef struct bough_fit_def {
    uint32_t cookie;
    const char *marker;      /* a probe of the scene that follows a point, or a body */
    int32_t sample_count;    /* BOUGH_FIT_FEWEST at least */
    const double *times;     /* sample_count, s, ascending */
    const double *positions; /* 3 x sample_count, m, axes of the scene */
    /* Parts whose material is fitted; they share one factor on Young's modulus and both dampings. 0: all parts. */
    int32_t part_count;
    const char *const *parts;
    bool young, damping_mass, damping_stiffness; /* what is fitted; the rest is as the scene has it */
    bool start;             /* the measurement need not begin when the scene does: that time is fitted too (default) */
    bool release;           /* the marker was pulled aside, held still and let go at the start: how far is fitted */
    bool search;            /* try Young's moduli from a third to three times the scene's first (default) */
    double dt;              /* s; 0: the scene's */
    int32_t max_iterations; /* 40 */
    uint64_t reserved[4];   /* zeros: room for fields of later versions */
} bough_fit_def;
#define BOUGH_FIT_FEWEST 8
/* Young's modulus and damping by stiffness, of all parts. */
BOUGH_API bough_fit_def bough_default_fit_def(void);

/* An estimate. Where it is not known, the sentence says why and the interval is of no use. */
typedef struct bough_fit_value {
    bough_fit_kind kind;
    const char *name, *unit; /* of the list above; the unit is "" for Young's modulus as a factor */
    double first;            /* in the scene, or where the search began */
    double value;
    double lower, upper; /* 95 % of such measurements have the truth in between; INFINITY: no limit */
    double deviation;    /* standard, of the logarithm of material constants, else of the value */
    double step_shift;   /* how much smaller steps would change the value, as deviation; NAN: not known */
    bool known;
    char reason[200]; /* why it is not; empty where it is */
} bough_fit_value;

typedef struct bough_fit {
    int32_t count;
    bough_fit_value values[BOUGH_FIT_KIND_COUNT];
    double correlation[BOUGH_FIT_KIND_COUNT * BOUGH_FIT_KIND_COUNT]; /* count x count */
    double rms;                  /* m: root mean square of the distances from marker to measurement */
    double noise;                /* m: standard deviation of one coordinate */
    double residual_correlation; /* of neighbours in time; near 0: what is left is noise; else the model is at fault */
    double first_rms;            /* m, with the values of the scene */
    int32_t sample_count, iterations, simulations;
    bool converged;
    double damping_mass, damping_stiffness; /* 1/s, s: of the parts, fitted or not */
    double factor;                          /* Young's modulus against the scene's */
    double young;                           /* Pa, of the scene; NAN: parts differ, or were not cooked here */
    double dt;                              /* s */
    double *trajectory;                     /* 3 x sample_count, m: the marker as fitted */
} bough_fit;

/* Fits a multibody scene to the measurement. Simulations run side by side on the context's threads; the result does not
 * depend on how many there are. After BOUGH_CANCELLED *fit is the best so far, or NULL; after other failures NULL. */
BOUGH_API bough_status bough_fit_scene(bough_context *ctx, const bough_scene *scene, const bough_fit_def *def,
                                       bough_fit **fit);
/* Takes NULL too. */
BOUGH_API void bough_fit_destroy(bough_context *ctx, bough_fit *fit);

/* ---- curves of motors ---- */

/* Uniform B-splines, one for each motor of a model: point_count - degree intervals of equal length. At the start the
 * first `degree` points alone act; before it and after the end a curve stays where it was there. The caller may write
 * the points. */
typedef struct bough_motor_curves {
    int32_t motor_count, point_count;
    int32_t degree;         /* 2 to 5; 3 has continuous accelerations */
    double start, duration; /* s */
    double *points;         /* motor_count x point_count: rad, m */
} bough_motor_curves;
/* Makes curves that are zero. The caller destroys them. BOUGH_ERROR_ARGUMENT where a number is out of range. */
BOUGH_API bough_status bough_motor_curves_create(bough_context *ctx, int32_t motor_count, int32_t degree,
                                                 int32_t point_count, double start, double duration,
                                                 bough_motor_curves **curves);
/* Takes NULL too. */
BOUGH_API void bough_motor_curves_destroy(bough_context *ctx, bough_motor_curves *curves);
/* Finds the points whose curves are nearest to samples, by least squares. times: sample_count, s; values: motor_count x
 * sample_count. at_rest: curves start at their first sample and at rest, for which the first `degree` points are equal.
 * When it fails some curves may have been fitted. */
BOUGH_API bough_status bough_motor_curves_fit(bough_context *ctx, bough_motor_curves *curves, int32_t sample_count,
                                              const double *times, const double *values, bool at_rest);
/* Reads the curve of a motor at time t: place, rate and acceleration; those that are NULL are left out. */
BOUGH_API void bough_motor_curves_at(const bough_motor_curves *curves, int32_t motor, double t, double *place,
                                     double *rate, double *acceleration);

/* ---- derivatives of motions ---- */

/* A frame that is to be somewhere, and how much that matters. Its share of the objective at a time is
 *   weight / 2 (position |x - x*|^2 + orientation ((a_x . b_y)^2 + (a_y . b_z)^2 + (a_z . b_x)^2))
 * with its origin x and axes b, and those that it should have, x* and a. */
typedef struct bough_tracked_frame {
    bough_frame_def frame;   /* on a rigid body, a part, or one of its interfaces */
    double position;         /* 1/m^2; 0: it may be anywhere */
    double orientation;      /* 0: it may turn as it likes */
    const double *weights;   /* step_count + 1: in time; NULL: all 1 */
    const double *positions; /* 3 x (step_count + 1), m; may be NULL where position is 0 */
    const double *rotations; /* 9 x (step_count + 1), row-major; may be NULL where orientation is 0 */
} bough_tracked_frame;

/* A share of the objective that the caller computes, at one state: adds to *value, and, where they are not NULL, to its
 * derivatives by displacements (as velocities are ordered: shifts and turns of bodies in world axes, coordinates of
 * parts), velocities and multipliers. Called for states in any order; `step` counts from 0, the start. */
typedef void (*bough_adjoint_term)(void *data, int32_t step, const double *u, const double *v, const double *lambda,
                                   double *value, double *by_displacement, double *by_velocity, double *by_multiplier);

/* The objective is the integral, by the trapezoidal rule over all steps, of the shares of tracked frames and of the
 * caller's term, and of
 *   input_weight / 2 (place - input)^2 + acceleration_weight / 2 acceleration^2 + limit_weight / 2 excess^2
 * of all motors, where an excess is that of the place in rad or m, and those of |rate|, |acceleration| and |force| over
 * their limits, beyond 1. */
typedef struct bough_adjoint_def {
    uint32_t cookie;
    double dt; /* s */
    int32_t step_count;
    int32_t tracked_count;
    const bough_tracked_frame *tracked;
    bough_adjoint_term term; /* NULL: none */
    void *term_data;
    double input_weight;        /* 1/rad^2, 1/m^2 */
    const double *input;        /* motor_count x (step_count + 1): the animation; may be NULL where the weight is 0 */
    double acceleration_weight; /* s^4/rad^2, s^4/m^2 */
    const bough_motor_limits *limits; /* motor_count; NULL: none */
    double limit_weight;
    int32_t held_points; /* of each curve, at its start: their derivatives are 0. -1: `degree` of them */
    int32_t parameter_count;
    const bough_multibody_parameter *parameters; /* constants whose derivatives are wanted */
    /* The start is an equilibrium (bough_multibody_settle()) that follows the constants: their derivatives include
     * that. Otherwise the start is as it is. */
    bool start_settles;
    double megabytes; /* the most for states that are kept; beyond it, states between a few are computed twice. 256 */
    double tolerance; /* of velocities, in each step: where Newton's method ends; 1e-10 */
    /* Derivatives by the adjoint of the differential equations, which is stepped backwards by BDF2, instead of those of
     * the steps: off by O(dt^2). It is there to be compared with; by default derivatives are exact. */
    bool continuous;
    uint64_t reserved[3]; /* zeros: room for fields of later versions */
} bough_adjoint_def;
/* 2 ms, no steps, nothing tracked. */
BOUGH_API bough_adjoint_def bough_default_adjoint_def(void);

typedef struct bough_adjoint bough_adjoint;
/* Prepares derivatives of the motion from a state by the engine's own method, in steps of equal length, without other
 * forces than those of the model. The state is copied (positions, velocities, gravity; its time is that of the first
 * step's start); so are all arrays of the def and the shape of the curves, but not model and term_data, which must
 * outlive it. One thread at a time may use it. BOUGH_ERROR_ARGUMENT where something does not fit, or where the
 * megabytes are too few. The caller destroys it. */
BOUGH_API bough_status bough_adjoint_create(bough_context *ctx, const bough_multibody *model,
                                            const bough_multibody_state *start, const bough_motor_curves *curves,
                                            const bough_adjoint_def *def, bough_adjoint **adjoint);
/* Takes NULL too. */
BOUGH_API void bough_adjoint_destroy(bough_context *ctx, bough_adjoint *adjoint);

/* Simulates with these points (motor_count x point_count) and finds the objective. A positive status is that of the
 * simulation: other points may do. */
BOUGH_API bough_status bough_adjoint_value(bough_context *ctx, bough_adjoint *adjoint, const double *points,
                                           double *value);
/* The same with the derivatives by points and parameters; either may be NULL. They have the same bits for any number of
 * threads and megabytes. */
BOUGH_API bough_status bough_adjoint_gradient(bough_context *ctx, bough_adjoint *adjoint, const double *points,
                                              double *value, double *by_points, double *by_parameters);

/* Results of the last gradient, and of the last simulation. The arrays belong to the adjoint and are overwritten by the
 * next. */
typedef struct bough_adjoint_view {
    const double *place, *rate;          /* motor_count x (step_count + 1): where motors were told to be */
    const double *by_place, *by_rate;    /* the same: derivatives by those, without terms of the curves alone */
    const double *by_start_displacement; /* as velocities: derivatives by the start, shifts and turns */
    const double *by_start_velocity;
    const double *const *paths;      /* of each tracked frame: 3 x (step_count + 1), m */
    double value, tracked_value;     /* the objective, and the share of frames and term */
    int32_t step_count, steps_again; /* steps of a simulation, and those that a gradient computes twice */
    int64_t bytes;                   /* kept for states */
} bough_adjoint_view;
/* Fills the view; before the first simulation its numbers are zeros. */
BOUGH_API void bough_adjoint_look(const bough_adjoint *adjoint, bough_adjoint_view *view);

/* ---- retargeting ---- */

/* Motors and tracked frames at equal distances of time: step k is at start + k dt. Arrays go by motor or frame first,
 * then by step. */
typedef struct bough_motion {
    double start, dt; /* s */
    double delay;     /* s: by how much it ends later than the animation, which input shaping costs */
    int32_t step_count, motor_count, frame_count;
    double *places, *rates;    /* motor_count x (step_count + 1): rad, m; where motors were told to be */
    double *forces;            /* the same: N m, N; what motors gave */
    double *positions;         /* frame_count x (step_count + 1) x 3: m */
    double *rotations;         /* frame_count x (step_count + 1) x 9: row-major */
    double *kinetic, *elastic; /* step_count + 1: J */
    double *memory;            /* all of them */
} bough_motion;
/* Takes NULL too. */
BOUGH_API void bough_motion_destroy(bough_context *ctx, bough_motion *motion);

/* Kinds of searches, names in files, and what they are. */
#define BOUGH_SEARCH_LIST(X)                               \
    X(USUAL, "usual", "the fastest that was measured")     \
    X(LBFGS, "lbfgs", "L-BFGS, which remembers 20 steps")  \
    X(BFGS, "bfgs", "BFGS: the same, which remembers all") \
    X(GAUSS_NEWTON, "gauss-newton", "Gauss-Newton, with the derivatives of all that is tracked by all control points")

typedef enum bough_search_kind {
#define BOUGH_SEARCH_ENUM(id, name, about) BOUGH_SEARCH_##id,
    BOUGH_SEARCH_LIST(BOUGH_SEARCH_ENUM)
#undef BOUGH_SEARCH_ENUM
        BOUGH_SEARCH_KIND_COUNT
} bough_search_kind;

/* The search after an iteration. */
typedef struct bough_retarget_progress {
    int32_t iteration, iterations; /* of this window; the most there may be */
    int32_t window, window_count;  /* of time: 0, 1 where all is searched at once */
    double value, first_value;     /* of the objective */
    double slope;                  /* the largest entry of its gradient */
    double deviation;              /* m: the largest distance of a tracked frame from its target */
    double first_deviation;
} bough_retarget_progress;

typedef struct bough_retarget_def {
    uint32_t cookie;
    bough_search_kind search; /* USUAL: the scene's, or the fastest */
    int32_t iterations;       /* of the search, at most; 0: the scene's */
    double tolerance; /* it ends when 5 iterations decrease the objective by less than this part; -1: the scene's */
    double dt;        /* s; 0: the scene's */
    double window, overlap; /* s; -1: the scene's. window 0: all of the animation at once */
    double megabytes;       /* for states that are kept; 256 */
    /* Called after each iteration; false ends the search, with the best so far. NULL: nobody listens. */
    bool (*tell)(void *data, const bough_retarget_progress *progress);
    void *tell_data;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_retarget_def;
/* All as the scene has it. */
BOUGH_API bough_retarget_def bough_default_retarget_def(void);

/* A multibody scene with its animation, and curves that are searched. */
typedef struct bough_retarget bough_retarget;
/* Cooks what is missing, settles the scene, finds the targets (where tracked frames are if motors move infinitely
 * slowly), and fits curves to the animation. The scene must outlive it; one thread at a time may use it. The caller
 * destroys it. BOUGH_ERROR_UNSUPPORTED for other scenes, and for those with forces or contact. */
BOUGH_API bough_status bough_retarget_create(bough_context *ctx, const bough_scene *scene,
                                             const bough_retarget_def *def, bough_retarget **retarget);
/* Takes NULL too. */
BOUGH_API void bough_retarget_destroy(bough_context *ctx, bough_retarget *retarget);
/* Begins the search with curves fitted to a table of motors, as bough_retarget_write() makes one: to go on with what an
 * earlier search found. When it fails the curves are as they were. */
BOUGH_API bough_status bough_retarget_begin(bough_context *ctx, bough_retarget *retarget, const char *path);
/* Improves the curves. After BOUGH_CANCELLED and other failures they are the best that were found. */
BOUGH_API bough_status bough_retarget_run(bough_context *ctx, bough_retarget *retarget);
/* Writes the curves as a table of motors: time, and a column for each motor, in the units of the animation. rate: rows a
 * second; 0: the scene's. The file appears when it is complete. */
BOUGH_API bough_status bough_retarget_write(bough_context *ctx, const bough_retarget *retarget, const char *path,
                                            double rate);

/* A retargeting as it stands. Arrays and strings belong to it, and stay until it runs again. */
typedef struct bough_retarget_view {
    int32_t motor_count, frame_count, step_count;
    const char *const *motors; /* names */
    const char *const *frames; /* names of what is tracked */
    const bool *slides;        /* of motors: places are m, not rad */
    const bough_motor_limits *limits;
    double dt, duration, rate; /* s, s, Hz */
    bool degrees;              /* the animation is in degrees */
    const double *weights;     /* frame_count x (step_count + 1): in time */
    const bool *pauses;        /* step_count + 1: the animation has stood still for 10 ms and will for 10 ms more */
    const bough_motion *target;
    const bough_motor_curves *input, *curves; /* fitted to the animation; the best so far */
    int32_t snaps;                            /* jumps of the targets: bough_multibody_path */
    bough_search_kind search;                 /* that was taken */
    double first_value, value; /* of the objective, before and after the search; NAN before there was one */
    int32_t iterations, gradients;
    bool converged; /* else iterations ran out, or it was cancelled */
    int64_t bytes;  /* kept for states */
} bough_retarget_view;
/* Fills the view; cannot fail. */
BOUGH_API void bough_retarget_look(const bough_retarget *retarget, bough_retarget_view *view);

/* Motors of a replay. */
typedef enum bough_replay_source {
    BOUGH_REPLAY_ANIMATION, /* the animation as it is */
    BOUGH_REPLAY_INPUT,     /* curves fitted to it, where the search began */
    BOUGH_REPLAY_CURVES,    /* the best curves */
    BOUGH_REPLAY_ZV,        /* the animation, shaped by two impulses for each of the modes that motors excite most */
    BOUGH_REPLAY_ZVD        /* likewise, by three */
} bough_replay_source;

/* A robot that need not be exactly the one that was planned with. */
typedef struct bough_replay_def {
    uint32_t cookie;
    bough_replay_source source;
    bool full;        /* parts in full order */
    bool statics;     /* infinitely slowly: equilibria, not a motion */
    bool feedback;    /* motors are corrected by how far the robot is from where it should be */
    double mass;      /* factor on the mass and inertia of tracked bodies; 1 */
    double stiffness; /* factor on the elastic forces of all parts; 1 */
    double dt; /* s; 0: that of the search, or the scene's where that fails. The motion has the steps of the search */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_replay_def;
/* The best curves, with the robot as it was planned. */
BOUGH_API bough_replay_def bough_default_replay_def(void);
/* Plays motors on a robot. The caller destroys the motion. A positive status is that of the simulation. */
BOUGH_API bough_status bough_retarget_replay(bough_context *ctx, const bough_retarget *retarget,
                                             const bough_replay_def *def, bough_motion **motion);

/* The distance of a tracked frame from where it should be, m; NAN where there are no such times. */
typedef struct bough_deviation {
    double rms, peak;
    double pause_rms, pause_peak; /* while the animation stands still: vibration */
    double end_rms, end_peak;     /* after it has come to its end */
    double tilt_rms, tilt_peak;   /* rad: the angle between the orientations */
} bough_deviation;
/* Compares a motion with another one: the target, or the equilibria of another robot. Pauses are those of the animation,
 * less the motion's delay. */
BOUGH_API void bough_motion_compare(const bough_retarget *retarget, const bough_motion *motion,
                                    const bough_motion *target, int32_t frame, bough_deviation *deviation);

#ifdef __cplusplus
}
#endif

#endif
