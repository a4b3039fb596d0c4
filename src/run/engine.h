/* What the run loop sees of an engine: something that steps, measures itself and can be saved as numbers. */
#ifndef BO_RUN_ENGINE_H
#define BO_RUN_ENGINE_H

#include "scene/scene.h"

#include <bough/run.h>

/* What a host does to a live run. */
typedef struct bo_hand {
    bool holds;
    int32_t part, vertex; /* of the body's mesh, where there are no parts */
    double target[3];     /* m; of a poke: N */
    double stiffness, damping;
} bo_hand;
typedef struct bo_hands {
    bo_hand pulls[BOUGH_RUN_HANDS];
    bo_hand poke;      /* of the next step */
    double impulse[3]; /* of the poke, N s: its force is that of a step's length */
    bool has_wind;
    bough_wind wind;
    double *motors; /* of a mechanism: offsets that somebody chose, NAN: the scene's curve; NULL: nobody did */
} bo_hands;

typedef struct bo_engine {
    void *data;
    int32_t column_count;
    char **columns;         /* names, the fixed ones of bough/run.h first */
    const char *integrator; /* its name in the registry */
    const bool *blank;      /* of the columns: they tell of something that is absent, by NAN; NULL: of nothing */
    int64_t head_size;      /* of a state that is saved: numbers at its start that need not be finite */
    const bough_mesh *mesh; /* what is drawn; NULL: make_mesh() was not called yet */
    const double *displacement, *velocity; /* 3 vertex_count, of the present state once show() was called */
    double residual;                       /* what was left of the forces when the start was settled; NAN: it was not */

    const bough_model *model; /* of the tree engine: what is stepped, for those who look on and record; else NULL */
    bough_state *state;

    int32_t rigid_count; /* of a mechanism: what it moves, once there is a mesh */
    const bough_run_rigid *rigids;

    int32_t motor_count; /* of a mechanism */
    void (*motor)(const void *data, int32_t i, bough_run_motor *motor);

    double *gravity; /* m/s^2, as it acts in the next steps */

    bool in_pieces; /* a step may fail after a part of it was done, events in between: the run goes back then */

    int32_t stress_count;     /* of what has a stress: the parts, or the elements of the body */
    const int32_t *stress_of; /* of each element of the mesh: which of them it shows; NULL: its own */

    /* From now on they act; again after the wind was changed. NULL: they do not. */
    void (*take_hands)(void *data, const bo_hands *hands);
    /* Gravity is this from now on; NULL: it is written to `gravity`. */
    bough_status (*weigh)(void *data, const double gravity[3]);
    /* A transaction: from t to t + h, or an error and the state that was. *iterations += those of Newton's method. */
    bough_status (*step)(void *data, double t, double h, int64_t *iterations);
    /* All columns at time t but work and balance, which are the run's. */
    bough_status (*measure)(void *data, double t, double *values);
    /* J done on the system since the start by all that has no potential in the column "external"; it goes with the
     * state that is saved. *doubt: how much a single step's sum may have been off at most; INFINITY: nobody counts. */
    double (*work)(const void *data, double *doubt);
    /* So many numbers are all there is to continue with the same bits; another number after parts have changed. */
    int64_t (*state_size)(const void *data);
    void (*save)(const void *data, double *state);
    /* Refuses what another engine saved; the state is then what it was. */
    bough_status (*restore)(void *data, const double *state, int64_t size);
    /* What has happened to parts in the last step, or when the engine was made; NULL: nothing ever does. */
    const bough_run_change *(*changes)(const void *data, int32_t *count);
    /* What a host does to parts between steps; changes() tells of it. NULL: there are none. */
    bough_status (*change)(void *data, int32_t count, const bough_change *list);
    /* Makes mesh, stress_of, displacement and velocity, for which a run that is not looked at needs no memory. NULL:
     * they are there. */
    bough_status (*make_mesh)(struct bo_engine *engine);
    /* Makes displacement and velocity those of the present state, where there is a mesh; NULL: they always are. */
    bough_status (*show)(void *data);
    /* Of a mechanism: where one of the rigids is. */
    bough_pose (*rigid_pose)(void *data, int32_t i);
    /* Of a mechanism: how far its joints are apart; NULL: it has none. */
    bool (*joint_gap)(void *data, bough_run_gap *now, bough_run_gap *worst);
    /* Of a reduced mechanism: its internal modes, and the error of its lowest frequency; NULL: it is none. */
    void (*detail)(const void *data, int32_t *internal_modes, double *frequency_error);
    /* Largest von Mises' stress of each, at the present state. */
    bough_status (*stresses)(void *data, double *von_mises);
    /* Von Mises' stress at each vertex of the mesh, at the present state. */
    bough_status (*vertex_stresses)(void *data, float *von_mises);
    const char *(*stress_name)(const void *data, int32_t i); /* NULL: they have numbers only */
    void (*destroy)(bough_context *ctx, void *data);
} bo_engine;

/* How a scene is to be stepped. */
enum { BO_REASON_SIZE = 400 };
typedef struct bo_engine_def {
    bo_engine_kind kind;
    char reason[BO_REASON_SIZE]; /* a sentence: why, where nobody said which; empty: somebody did */
    bough_integrator_def integrator;
    bough_model_def model;       /* settings of the tree engine; its alpha is that of the integrator */
    bool settle;                 /* start in equilibrium */
    bough_continuity continuity; /* of what the tree engine shows */
} bo_engine_def;

bough_status bo_full_engine_create(bough_context *ctx, bough_scene *scene, const bo_engine_def *def, bo_engine *engine);
bough_status bo_tree_engine_create(bough_context *ctx, bough_scene *scene, const bo_engine_def *def, bo_engine *engine);
bough_status bo_mechanism_engine_create(bough_context *ctx, bough_scene *scene, const bo_engine_def *def,
                                        bo_engine *engine);
/* Of a scene that names no engine: the full one where its motors take the reduced one too far from its pose. `until`:
 * the time that is looked at. */
bough_status bo_mechanism_choose_engine(bough_context *ctx, const bough_scene *scene, double until, bo_engine_def *def);
/* The columns of every engine: the fixed ones of bough/run.h and those of the scene's probes. */
bough_status bo_engine_name_columns(bough_context *ctx, const bough_scene *scene, bo_engine *engine);
/* The name as the registry has it, which stays; NULL: it has none of that name. */
const char *bo_registered_integrator(const char *name);
/* Of an engine that was made, or of zero bytes. */
void bo_engine_destroy(bough_context *ctx, bo_engine *engine);

#endif
