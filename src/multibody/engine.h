/* Multibody systems as an engine: what a scene says about running one. */
#ifndef BO_MULTIBODY_ENGINE_H
#define BO_MULTIBODY_ENGINE_H

#include "engine/contacts.h"
#include "rig/spline.h"

#include <bough/multibody.h>

/* A point of a body, or of a part: at one of its interfaces, or at a vertex of its surface. */
typedef struct bo_multibody_spot {
    bough_frame_def frame; /* its origin; bodies and parts are numbered as in <bough/multibody.h> */
    bool nearest;          /* it is the vertex of the part's surface that is nearest to `rest` at the start */
    double rest[3];        /* in the world, as the scene has it */
} bo_multibody_spot;

typedef struct bo_multibody_load {
    bo_multibody_spot spot;
    double force[3], torque[3]; /* N, N m in the axes of the world */
    double from, until;         /* s: acts in steps that begin in between; until INFINITY: to the end */
    int32_t curve;              /* a factor; -1: none */
} bo_multibody_load;

/* Two that pass through each other. */
typedef struct bo_multibody_pair {
    bough_contact_side sides[2]; /* bodies are named as links of actor 0 */
} bo_multibody_pair;

/* All that a scene says about running a multibody system. It outlives the engine; nothing of it is changed. */
typedef struct bo_multibody_plan {
    const char *path;          /* of the scene, for sentences */
    bough_multibody_def def;   /* its parts have no components yet */
    const int32_t *components; /* of the parts: number among those that the engine is made with */
    const bo_spline *drives;   /* of the motors: where they are told to be */
    double tolerance;          /* m, rad: steps are divided until each errs by less; 0: taken as they are */
    const bo_curve *curves;    /* that loads follow */
    int32_t load_count;
    const bo_multibody_load *loads;
    int32_t probe_count;
    const bo_probe *probes;
    const bo_multibody_spot *spots; /* alongside: of probes of motion */
    int32_t touch_count, obstacle_count, pass_count;
    const bough_contact_shape_def *touches; /* `place` is the body; ascending */
    const bough_obstacle_def *obstacles;    /* those that are only drawn have no shapes */
    const bo_lead *leads; /* of the obstacles; NULL: none is led */
    int32_t most_contacts; /* of a step; 0: as many as a contact world allows */
    const bo_multibody_pair *passes;
    /* Makes the looks of the rigid bodies, then of the obstacles, whose arrays become the engine's (bo_free). Called when somebody looks for
     * the first time. */
    bough_status (*draw)(bough_context *ctx, const void *data, bough_look *looks);
    const void *draw_data;
    /* Puts the place of a joint in the scene's file before the sentence of the context. NULL: there is no such place. */
    void (*point_at)(bough_context *ctx, const void *data, int32_t joint);
} bo_multibody_plan;

/* The integrator that means the engine's own steps. */
#define BO_MULTIBODY_INTEGRATOR "bdf2"

/* The second has parts that do not bend, the third parts in full order. */
extern const bo_engine_kind bo_multibody_engine, bo_rigid_multibody_engine, bo_multibody_twin_engine;
/* kind: one of these. components: constant, and outlive the engine. full (of the third; else NULL): the full order of
 * each component; the array is read, its elements become the engine's, also when it fails. */
bough_status bo_multibody_engine_create(bough_context *ctx, const bo_multibody_plan *plan, const bo_engine_kind *kind,
                                        const bough_component *const *components, bough_full_part *const *full,
                                        int32_t component_count, const bo_engine_settings *settings, bo_engine *engine);

#endif
