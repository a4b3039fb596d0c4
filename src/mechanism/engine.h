/* Mechanisms as engines, reduced to their end effectors or in full, with what is around them: what a scene says about
 * running one. */
#ifndef BO_MECHANISM_ENGINE_H
#define BO_MECHANISM_ENGINE_H

#include "engine/contacts.h"
#include "rig/motor.h"

#include <bough/mechanism.h>

#include <math.h>

typedef struct bo_mechanism_load {
    bo_spot spot;
    double force[3], torque[3]; /* N, N m in the axes of the world */
    double from, until;         /* s: acts in steps that begin in between; until INFINITY: to the end */
    int32_t curve;              /* a factor; -1: none */
} bo_mechanism_load;

static inline bool bo_load_is_steady(const bo_mechanism_load *load) {
    return load->from == 0 && load->until == INFINITY && load->curve < 0;
}

/* A load under which a pose is found about which the mechanism is reduced. */
typedef struct bo_blend_load {
    int32_t end_effector;
    double force[3], torque[3]; /* in the axes of the world */
} bo_blend_load;

typedef struct bo_blend_plan {
    int32_t points; /* at most */
    double tolerance;
    int32_t load_count;
    bo_blend_load *loads;
    int32_t random_count;
    double random_force, random_torque; /* the largest of each component */
    uint64_t seed;
} bo_blend_plan;

/* A shape by which a mechanism touches what is around it. */
typedef struct bo_mechanism_touch {
    int32_t end_effector; /* of the scene, or BOUGH_TOUCH_BY_BASE, BOUGH_TOUCH_BY_LINK */
    int32_t link;         /* BOUGH_TOUCH_BY_LINK */
    const char *name;     /* of the end effector */
    bough_shape_def shape;
    double friction;
} bo_mechanism_touch;

/* All that a scene says about running a mechanism. It outlives the engine; nothing of it is changed. */
typedef struct bo_mechanism_plan {
    const char *path; /* of the scene, for sentences */
    double gravity[3];
    double duration;                  /* s; 0: the scene does not say */
    const bo_curve *curves;           /* that motors and loads follow */
    const bough_mechanism *mechanism; /* NULL: free bodies only, and none of the next lines */
    int32_t link_count, joint_count, end_effector_count;
    const bough_rigid_body_def *links;
    const bough_joint_def *joints;
    const bough_frame_def *end_effectors;
    int32_t base;
    bool free_base;
    int32_t motor_count;
    const bo_motor *motors;
    int32_t load_count;
    const bo_mechanism_load *loads;
    int32_t body_count, obstacle_count, touch_count;
    const bough_rigid_body_def *bodies;
    const bough_obstacle_def *obstacles;
    const bo_lead *leads;  /* of the obstacles; NULL: none is led */
    int32_t most_contacts; /* of a step; 0: as many as a contact world allows */
    const bo_mechanism_touch *touches;
    bool collides; /* all of the mechanism touches, by the shapes of its file */
    bough_mechanism_method method;
    double joint_tolerance; /* of bough_run_gap.error: beyond, somebody is warned */
    int32_t kept_count;     /* end effectors of the reduced model; 0: all */
    const int32_t *kept;
    int32_t internal_modes; /* beside the end effectors; or BOUGH_INTERNAL_AUTOMATIC */
    bool has_blend;
    bo_blend_plan blend;
    int32_t probe_count;
    const bo_probe *probes;
    /* Makes the looks of links, then bodies, then obstacles: link_count + body_count + obstacle_count of them, whose
     * arrays become the engine's (bo_free). Called when somebody looks for the first time. */
    bough_status (*draw)(bough_context *ctx, const void *data, bough_look *looks);
    const void *draw_data;
} bo_mechanism_plan;

/* The same functions under two names, since scenes call the way by which a mechanism is stepped an engine. */
extern const bo_engine_kind bo_mechanism_engine, bo_full_mechanism_engine;
/* kind: one of these two. */
bough_status bo_mechanism_engine_create(bough_context *ctx, const bo_mechanism_plan *plan, const bo_engine_kind *kind,
                                        const bo_engine_settings *settings, bo_engine *engine);
/* Whether the motors take a reduced model too far from its pose in the time until then, so that the full one should
 * step it; reason: why, a sentence in so many bytes. */
bough_status bo_mechanism_prefers_full(bough_context *ctx, const bo_mechanism_plan *plan,
                                       const bo_engine_settings *settings, double until, bool *full, char *reason,
                                       size_t reason_size);

#endif
