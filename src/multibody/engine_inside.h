/* Inside view of the multibody engine of runs, for its own files. */
#ifndef BO_MULTIBODY_ENGINE_INSIDE_H
#define BO_MULTIBODY_ENGINE_INSIDE_H

#include "component/field.h"
#include "multibody/engine.h"
#include "multibody/multibody.h"

/* The places where motors are told to be. A hand that takes one over, or lets it go, does not make it jump: the
 * difference fades. */
typedef struct bo_multibody_guides {
    double *goals;  /* of motors: where a hand holds them in this step; NAN: the curve does */
    double *places; /* where they were told to be at the end of the last step */
    double *strays; /* what is added, at the start of the step, to where they should be */
    double since;   /* s: the start of the step */
} bo_multibody_guides;

/* A point that is measured, or at which a force acts. */
typedef struct bo_multibody_place {
    bough_frame_def frame;
    int32_t vertex; /* of the part's surface; -1: it is the frame's origin */
    double rest[3]; /* in the world at the start */
} bo_multibody_place;

typedef struct multibody_engine {
    bough_context *ctx;
    const bo_multibody_plan *plan;
    bough_multibody_def given; /* the plan's, with components; the model's has no parts where they are rigid */
    bough_multibody *model;
    bough_full_part **full; /* of components; NULL: parts are reduced */
    int32_t full_count;
    bough_multibody_state *state;
    bough_contact_world *around; /* NULL: nothing touches */
    const bo_hands *hands;       /* NULL: none */
    bo_multibody_guides guides;
    bo_multibody_place *probe_places, *load_places;
    int32_t *stress_points; /* of probes of stress; -1: all */
    bool *blank;            /* of the columns: the stress of rigid parts, which there is not */
    bough_pose *part_rests; /* of the frames of parts */
    double rest_time;       /* s: the time at which everything stands still, while it comes to rest: */
    bool rests;
    double rest_gravity; /* potential at the start of the scene, J */
    double acting;       /* forces of the last step: forces_at() */
    /* ---- the account ---- */
    double work, power, doubt; /* J so far; W of the motors at the end of the last step; J, see bo_engine_kind.work */
    bool has_power;            /* there was a step, and `power` is its */
    double *push;              /* nv: what acts in the step and has no potential */
    double *start;             /* nu: positions at the start of the step */
    double *way;               /* nv */
    bough_run_gap gap, worst_gap;
    /* ---- scratch ---- */
    double *unit; /* nv: zeros but for one that is tried */
    double *kept_force, *kept_coordinates;
    double *columns; /* nv for each force of a hand */
    float *positions, *rates;
    /* ---- what is shown, from bo_multibody_gather() on: bodies, then parts, then obstacles ---- */
    bough_thing *things;
    bough_look *looks;
    int32_t look_count, thing_count;
    bo_surface_field *fields; /* of looks, from the first time that somebody asks for stress on */
} multibody_engine;

static inline const bough_multibody_def *bo_multibody_def_of(const multibody_engine *e) {
    return &e->given;
}
static inline bool bo_multibody_is_stiff(const multibody_engine *e) {
    return e->model->def.part_count < e->given.part_count;
}
/* -1: the thing is no part that bends. */
static inline int32_t bo_multibody_part_of(const multibody_engine *e, int32_t thing) {
    const int32_t part = thing - e->model->def.body_count;
    return part >= 0 && part < e->model->def.part_count ? part : -1;
}
static inline int32_t bo_multibody_first_obstacle(const multibody_engine *e) {
    return e->model->def.body_count + e->model->def.part_count;
}
static inline const double *bo_multibody_q(const multibody_engine *e, int32_t part) {
    return e->state->u + e->model->parts[part].first + e->model->body_count;
}

/* The vertex of the mesh that a vertex of the surface is; -1: none. */
static inline ptrdiff_t bo_multibody_vertex_of(const bough_component *c, int32_t vertex) {
    return c->surface.mesh_vertex[vertex];
}

#define BO_MULTIBODY_OTHER_FORCES (-1.0) /* of `acting`: none that a step had */

/* ---- engine.c ---- */

/* Applies the loads that act steadily, or in a step that begins at t. Steady forces have a potential, torques have
 * none: what has none goes to e->push as well. */
void bo_multibody_apply_loads(multibody_engine *e, double t, bool steady);
/* Measures how far joints are apart where the system was evaluated last. */
void bo_multibody_watch_gaps(multibody_engine *e);

/* ---- engine_statics.c ---- */

/* Settles under the forces that act steadily; *residual: what is left of forces, as a part of the weight. */
bough_status bo_multibody_settle(multibody_engine *e, double *residual);
/* As in bo_engine_kind. */
bough_status bo_multibody_follow(void *data, double t, int32_t *snaps, bough_run_snap *last);

/* ---- engine_rest.c: equilibria of what touches ---- */

/* Lets everything come to rest at time t, under loads that act steadily, or then; *residual: the largest acceleration
 * that is left, as a part of gravity. */
bough_status bo_multibody_rest(multibody_engine *e, double t, bool steady, double *residual);

/* ---- engine_points.c: points, and forces on them ---- */

/* The frame of a body, or of a part's component, in the world; twist: (v; w) of its origin, world axes. */
bo_se3 bo_multibody_thing(const multibody_engine *e, int32_t thing, bo_twist *twist);
/* Position and velocity of a spot; vertex: of the part's surface, or -1. */
void bo_multibody_point(const multibody_engine *e, const bough_frame_def *frame, int32_t vertex, double x[3],
                        double v[3]);
/* Adds a force and a torque at a spot to forces on all velocities. */
void bo_multibody_push(multibody_engine *e, const bough_frame_def *frame, int32_t vertex, bo_vec3 force, bo_vec3 torque,
                       double *forces);
/* The vertex of a part's surface that is nearest to a point of the world, at the start. */
int32_t bo_multibody_nearest(const multibody_engine *e, int32_t part, const double point[3]);
/* A vertex of a thing in its frame, at rest; things have been gathered, unless it is a part. */
void bo_multibody_vertex(const multibody_engine *e, int32_t thing, int32_t vertex, double x[3]);
/* Adds the forces of the hands in a step of length h to `forces`. */
bough_status bo_multibody_pull(multibody_engine *e, double h, double *forces);

/* ---- engine_around.c: contact ---- */

/* Makes e->around, where something touches. */
bough_status bo_multibody_make_around(multibody_engine *e);
bough_status bo_multibody_step_among(multibody_engine *e, double h);
int32_t bo_multibody_contacts(const void *data, int32_t most, bough_run_contact *contacts);
/* Finds the contact force on a body or a part in the last step, N in the world. */
void bo_multibody_touch(const multibody_engine *e, int32_t thing, double force[3]);

/* ---- engine_stiff.c: parts that do not bend ---- */

/* Makes a model in which the parts of `def` are rigid bodies of the same numbers. */
bough_status bo_multibody_make_stiff(bough_context *ctx, const bough_multibody_def *def, bough_multibody **model);
/* The same place of such a body. */
bough_frame_def bo_multibody_stiff_frame(const bough_multibody_def *def, const bough_frame_def *frame);

/* ---- engine_jump.c ---- */

/* The step to come, of length h, is under other forces than the one before; they are set. */
void bo_multibody_begin_anew(multibody_engine *e, double h);

/* ---- engine_motors.c ---- */

bough_status bo_multibody_make_guides(multibody_engine *e);
void bo_multibody_free_guides(multibody_engine *e);
/* Hears, where a step begins, what hands say about motors. */
void bo_multibody_guide(multibody_engine *e, double t);
/* bough_motor_drive */
void bo_multibody_drive(void *data, int32_t motor, double time, double *place, double *rate);
void bo_multibody_look_at_motor(const void *data, int32_t i, bough_run_motor *motor);
/* Force or torque of a motor on its coordinate, where the system was evaluated last; *rate: of the coordinate. */
double bo_multibody_motor_force(const multibody_engine *e, int32_t motor, double *rate);
/* J in the springs of motors that give way, which are no energy of the system. */
double bo_multibody_motor_energy(const multibody_engine *e);

/* ---- engine_surface.c ---- */

bough_status bo_multibody_gather(bo_engine *engine);
void bo_multibody_look_at(void *data, int32_t thing, bough_thing_state *state);
bough_status bo_multibody_rest_surface(void *data, double *x);
bough_status bo_multibody_surface(void *data, double *x, double *v);
bough_status bo_multibody_positions(void *data, int32_t thing, float *x);
void bo_multibody_feel(void *data, int32_t thing, double *mass, double *frequency);
void bo_multibody_drop_surface(multibody_engine *e);

/* ---- engine_stress.c ---- */

/* Von Mises' and principal stresses at a point of a part, or (point -1) at that with the largest; -1: it has none. */
void bo_multibody_measure_stress(const multibody_engine *e, int32_t part, int32_t point, double values[4]);
bough_status bo_multibody_stresses(void *data, double *von_mises);
bough_status bo_multibody_vertex_stresses(void *data, float *von_mises);
void bo_multibody_drop_fields(multibody_engine *e);

/* ---- engine_modes.c ---- */

bough_status bo_multibody_modes(void *data, bough_run_modes *modes);

/* ---- engine_state.c: saving ---- */

int64_t bo_multibody_state_size(const void *data);
void bo_multibody_save(const void *data, double *state);
bough_status bo_multibody_restore(void *data, const double *state, int64_t size);

#endif
