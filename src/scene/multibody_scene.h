/* The contents of a scene file of a multibody system: bodies, parts, joints, motors and gears with their names. */
#ifndef BO_SCENE_MULTIBODY_SCENE_H
#define BO_SCENE_MULTIBODY_SCENE_H

#include "multibody/engine.h"
#include "scene/assembly.h"
#include "scene/mechanism_scene.h"

/* The contact of one body or part; a part has no shapes. */
typedef struct bo_body_touch {
    bool touches;
    bo_scene_shapes shapes; /* in its frame; none: those that are drawn */
    double friction, restitution;
} bo_body_touch;

/* A frame that retargeting tracks. */
typedef struct bo_retarget_track {
    char *name;
    bough_frame_def frame;
    double weight, orientation; /* 1/m^2 of its place; of its turns */
    int32_t curve;              /* a factor on both in time; -1: none */
} bo_retarget_track;

/* "retarget": curves of motors that do not make the system vibrate. */
typedef struct bo_retarget_plan {
    double duration, dt; /* s; duration 0: the scene's */
    double point_rate;   /* control points a second, of each motor */
    int32_t degree;
    int32_t track_count; /* 0: bodies at the ends of flexible parts */
    bo_retarget_track *tracks;
    double moving;             /* a factor on all weights while the animation moves */
    double keep, smooth;       /* weights: of the distance to the animation, 1/rad^2; of accelerations, s^4/rad^2 */
    bough_motor_limits *limits; /* of motors; none is infinite */
    double limit_weight;
    double rate; /* Hz: of the controller, for which tables are written */
    int32_t search, iterations;
    double tolerance;       /* relative decrease of the objective at which the search ends */
    double window, overlap; /* s; window 0: all at once */
} bo_retarget_plan;

typedef struct bo_multibody_scene {
    bough_multibody_def def; /* of the arrays below */
    double tolerance;        /* of the plan */
    bough_rigid_body_def *bodies;
    bo_scene_shapes *shapes; /* of bodies, in their frames */
    bo_body_touch *touches;  /* of bodies, then of parts */
    bough_flexible_def *parts;
    int32_t *components; /* of parts */
    bo_se3 *rests;       /* frames of bodies, then of the parts' components, in the world as the scene has them */
    bough_joint_def *joints;
    bough_motor_def *motors;
    bo_spline *drives; /* of motors */
    double *units;     /* of motors: rad or m, of a unit of the numbers in the file */
    bough_gear_def *gears;
    int32_t load_count;
    bo_multibody_load *loads;
    bo_multibody_spot *spots; /* of probes */
    int32_t obstacle_count;
    bo_scene_rigid *obstacles;
    bo_mesh_stock meshes; /* with which shapes touch */
    bough_obstacle_def *obstacle_defs;
    bo_lead *leads; /* of obstacles; NULL: none is led */
    bough_shape_def *shape_defs; /* of obstacles, one after the other */
    bough_contact_shape_def *touch_defs;
    bo_multibody_pair *passes;
    bo_retarget_plan retarget;
    bo_multibody_plan plan; /* the same as the engine sees it, once all was read */
} bo_multibody_scene;

enum { BO_NAMES_THING, BO_NAMES_JOINT, BO_NAMES_MOTOR, BO_NAMES_GEAR, BO_NAMES_OBSTACLE, BO_NAMES_KINDS };

typedef struct bo_multibody_reader {
    const bo_json *root;
    struct bough_scene *scene;
    const bo_assembly *assembly;
    bo_multibody_scene *m;
    json_t *names[BO_NAMES_KINDS]; /* {NAME: index}; bodies and parts are things, in one list */
} bo_multibody_reader;

/* True for a file that describes a multibody system. */
bool bo_is_multibody(const bo_json *root);
/* Reads all of one, and its components into `assembly`, whose jobs get their loads. scene NULL: it is checked only. */
bough_status bo_multibody_read(const bo_json *root, struct bough_scene *scene, bo_assembly *assembly);
void bo_multibody_scene_free(bough_context *ctx, bo_multibody_scene *m);

/* multibody_file.c: the index of what is named. */
bough_status bo_multibody_find(const bo_multibody_reader *r, bo_json at, int kind, int32_t *index);

/* multibody_file.c: a point of a body, or an interface or a vertex of a part. */
bough_status bo_multibody_read_spot(const bo_multibody_reader *r, const bo_json *at, bo_multibody_spot *spot);
/* multibody_retarget.c: "retarget". */
bough_status bo_multibody_read_retarget(const bo_multibody_reader *r, bo_json at);
void bo_multibody_free_retarget(bough_context *ctx, bo_retarget_plan *plan);
/* multibody_around.c: "touch", "friction" and "restitution" of a body; "obstacles" and "pass_through" of the scene; a
 * probe of what touches a body; the same as the engine sees it. */
bough_status bo_multibody_read_touch(const bo_multibody_reader *r, bo_json at, int32_t body);
bough_status bo_multibody_read_part_touch(const bo_multibody_reader *r, bo_json at, int32_t part);
bough_status bo_multibody_read_around(const bo_multibody_reader *r);
bough_status bo_multibody_read_touch_probe(const bo_multibody_reader *r, bo_json at, bo_probe *probe);
bough_status bo_multibody_plan_around(bough_context *ctx, bo_multibody_scene *m);
void bo_multibody_free_around(bough_context *ctx, bo_multibody_scene *m);
/* The shapes with which a body touches, if it does. */
const bo_scene_shapes *bo_multibody_touching(const bo_multibody_scene *m, int32_t body);
/* multibody_motors.c: "motors", a list or a table. */
bough_status bo_multibody_read_motors(const bo_multibody_reader *r, bo_json at);
/* multibody_hang.c: gives jobs the loads of what hangs at the interfaces of their parts. */
bough_status bo_multibody_hang(const bo_multibody_reader *r);
/* multibody_plan.c: an engine of the kind for a plan, which may differ from the scene's in its numbers. */
bough_status bo_multibody_scene_engine(bough_context *ctx, const struct bough_scene *scene,
                                       const bo_multibody_plan *plan, const bo_engine_kind *kind,
                                       const bo_engine_settings *settings, bo_engine *engine);
/* multibody_plan.c: `draw` of bo_multibody_plan; data: the bo_multibody_scene. */
bough_status bo_multibody_draw(bough_context *ctx, const void *data, bough_look *looks);
/* bo_multibody_plan.point_at */
void bo_multibody_point_at(bough_context *ctx, const void *data, int32_t joint);

#endif
