/* The tree as an engine: what a scene says about running a model of parts, and what happens to them meanwhile. */
#ifndef BO_TREE_ENGINE_H
#define BO_TREE_ENGINE_H

#include "engine/surroundings.h"
#include "rig/curve.h"

#include <bough/tree.h>

#include <math.h>

/* A force and a torque on a part, in world axes. */
typedef struct bo_tree_force {
    int32_t part;
    bool at_surface;            /* at the vertex of its surface that is nearest to `rest`; else at its frame's origin */
    double rest[3];             /* where it acts at rest */
    double force[3], torque[3]; /* N, N m */
    double from, until;         /* s: acts in steps that begin in between; until INFINITY: to the end */
} bo_tree_force;

static inline bool bo_force_is_steady(const bo_tree_force *force) {
    return force->from == 0 && force->until == INFINITY;
}

/* A part whose stiffness follows a curve. */
typedef struct bo_tree_painted {
    int32_t part, curve;
    double stiffness; /* at a curve value of 1 */
} bo_tree_painted;

/* Kinds of events: one of bough_change_kind to parts, or one of these to ties, or another wind. */
enum { BO_EVENT_CUT_TIE = BOUGH_CHANGE_ADD + 1, BO_EVENT_JOIN_TIE, BO_EVENT_WIND, BO_EVENT_KINDS };
#define BO_EVENT_NAMES                                                                                               \
    ((const char *const[]){"detach", "attach", "reattach", "lock", "unlock", "remove", "add", "cut_tie", "join_tie", \
                           "wind"})

/* Something that happens at a time. */
typedef struct bo_tree_event {
    double time;
    int32_t order; /* in the file, which decides among those of one time */
    int32_t kind;
    int32_t part_count, *parts;
    int32_t tie_count, *ties;
    int32_t parent, interface_index; /* ATTACH; parent -1: the world */
    bool placed, turned; /* ADD: a root has the origin, the rotation of `frame`; else where the scene has it */
    bough_frame frame;
    bough_wind wind;
} bo_tree_event;

/* The strength of a part. */
typedef struct bo_tree_strength {
    double stress; /* von Mises' that breaks it off, Pa; INFINITY: none does */
    bool lock;     /* it then flies on as a rigid body, as it is bent */
} bo_tree_strength;

/* The strength of a tie; INFINITY: no limit. */
typedef struct bo_tie_strength {
    double force, torque; /* N, N m */
} bo_tie_strength;

/* Velocities with which a root that flies begins. */
typedef struct bo_tree_start {
    double velocity[3], angular_velocity[3];
} bo_tree_start;

/* All that a scene says about running its parts. It outlives the engine; nothing of it is changed. */
typedef struct bo_tree_plan {
    bough_wind wind;
    int32_t wind_curve;     /* a factor on the wind's velocity; -1: none */
    const bo_curve *curves; /* that wind and paint follow */
    int32_t force_count;
    bo_tree_force *forces;
    int32_t painted_count;
    bo_tree_painted *painted;
    int32_t event_count;
    bo_tree_event *events;         /* in the order in which they happen */
    bo_tree_strength *strength;    /* of the parts; NULL: none breaks */
    bo_tie_strength *tie_strength; /* of the ties; NULL: none breaks */
    double remove_below;   /* m: trees that fly are removed where their centre of mass sinks below this height */
    bo_tree_start *starts; /* of the parts */
    const struct bo_tree_touch_def *touch; /* NULL: nothing touches */
    bo_surroundings around;                /* `thing` of its obstacles is one of these */
    int32_t probe_count;
    const bo_probe *probes;
} bo_tree_plan;

extern const char *const bo_coupling_names[];   /* as bough_coupling; NULL ends */
extern const char *const bo_continuity_names[]; /* as bough_continuity; NULL ends */

extern const bo_engine_kind bo_tree_engine;
/* Takes over the model, also when it fails. The model has the coupling, the passes and the alpha of its settings. */
bough_status bo_tree_engine_create(bough_context *ctx, const bo_tree_plan *plan, bough_tree_model *model,
                                   bough_continuity continuity, const bo_engine_settings *settings, bo_engine *engine);
/* The alpha of the tree's own step for this integrator. */
double bo_tree_alpha(const bough_integrator_def *integrator);

#endif
