/* Inside view of a scene: what the run needs to start. */
#ifndef BO_SCENE_SCENE_H
#define BO_SCENE_SCENE_H

#include "fem/drive.h"
#include "scene/assembly.h"
#include "scene/json.h"
#include "scene/mechanism_scene.h"

#include <bough/scene.h>
#include <bough/time.h>

/* Motion of a point of the body (the mean of vertices), the stress of one element, or motion of a point of a part. */
typedef struct bo_scene_probe {
    char *name;
    int32_t count, *vertices;         /* NULL: of a part whose body was not made */
    double *weights;                  /* of the vertices; NULL: they are all the same */
    double rest[3];                   /* where the point is at rest */
    bool stress;                      /* a stress probe */
    int32_t element_count, *elements; /* of a stress probe: the one that is stressed most counts; NULL as vertices */
    int32_t part;                     /* of a scene of parts */
    bool at_surface;    /* at the vertex of its surface that is nearest to `rest`; else at its frame's origin */
    bool most;          /* a stress probe at all points of its part; else at the one that is nearest to `rest` */
    int32_t element;    /* of a stress probe at a point: of the mesh of the part's domain; -1: not known */
    bo_scene_spot spot; /* of a mechanism */
    bool touch;         /* of a mechanism: what pushes on the end effector, a force */
    int32_t end_effector;
    bool of_joint; /* of a mechanism: the first coordinate of a joint, and how far its sides are apart */
    int32_t joint;
} bo_scene_probe;

/* Motion: position, displacement, velocity; stress: von Mises, principal values; touch: force; joint: coordinate,
 * distance, angle. */
static inline int bo_probe_columns(const bo_scene_probe *probe) {
    return probe->stress ? 4 : probe->touch || probe->of_joint ? 3 : 9;
}

/* On a part, in world axes. */
typedef struct bo_scene_force {
    int32_t part;
    bool at_surface;            /* as of a probe; else at its frame's origin */
    double rest[3];             /* likewise */
    double force[3], torque[3]; /* N, N m */
    double from, until;         /* s: acts in steps that begin in between; until INFINITY: to the end */
} bo_scene_force;

/* A part whose stiffness follows a curve. */
typedef struct bo_scene_painted {
    int32_t part, curve; /* of the drive */
    double stiffness;    /* at a curve value of 1 */
} bo_scene_painted;

/* What events do: one of bough_change_kind to parts, or one of these to ties, or another wind. */
enum { BO_EVENT_CUT_TIE = BOUGH_CHANGE_ADD + 1, BO_EVENT_JOIN_TIE, BO_EVENT_WIND, BO_EVENT_KINDS };
#define BO_EVENT_NAMES                                                                                               \
    ((const char *const[]){"detach", "attach", "reattach", "lock", "unlock", "remove", "add", "cut_tie", "join_tie", \
                           "wind"})

/* What happens at a time. */
typedef struct bo_scene_event {
    double time;
    int32_t order; /* in the file, which decides among those of one time */
    int32_t kind;
    int32_t part_count, *parts;
    int32_t tie_count, *ties;
    int32_t parent, interface; /* ATTACH; parent -1: the world */
    bool placed, turned;       /* ADD: a root has the origin, the rotation of `pose`; else where the scene has it */
    bough_frame frame;
    bough_wind wind;
} bo_scene_event;
/* What a part bears. */
typedef struct bo_scene_strength {
    double stress; /* von Mises' that breaks it off, Pa; INFINITY: none does */
    bool lock;     /* it then flies on as a rigid body, as it is bent */
} bo_scene_strength;
/* What a tie bears; INFINITY: all. */
typedef struct bo_scene_tie_strength {
    double force, torque; /* N, N m */
} bo_scene_tie_strength;

static inline bool bo_force_is_steady(const bo_scene_force *force) {
    return force->from == 0 && force->until == INFINITY;
}

typedef enum bo_engine_kind { BO_ENGINE_FULL, BO_ENGINE_TREE, BO_ENGINE_MECHANISM } bo_engine_kind;
#define BO_ENGINE_COUNT 3
#define BO_ENGINE_KINDS ((const char *const[]){"full", "tree", "mechanism"}) /* as in bo_engine_kind */
#define BO_COUPLINGS ((const char *const[]){"L1", "L2", "L2R", "L3"})        /* as in bough_coupling */

struct bough_scene {
    bough_body *body; /* of a scene of parts: NULL until bo_scene_make_whole() */
    bo_drive drive;
    bough_integrator_def integrator; /* its name is the registry's */
    double dt, duration;             /* s; duration 0: the file does not say */
    double energy_tolerance;         /* as in bough_run_def; 0: any */
    double *velocity;                /* 3 vertex_count, m/s, at the start */
    int32_t probe_count;
    bo_scene_probe *probes;
    uint64_t hash; /* of the file and of all that it points to */
    char *path;    /* of the file, as it was named */

    /* ---- of a scene of parts ---- */
    bough_cook_plan *plan; /* NULL: a scene of one body */
    bo_engine_kind engine;
    bool names_integrator; /* else each engine has its own default */
    bough_model_def model; /* gravity, coupling, alpha, passes, wind */
    bool settle;           /* starts in equilibrium */
    int32_t force_count;
    bo_scene_force *forces;
    int32_t painted_count;
    bo_scene_painted *painted;
    int32_t wind_curve; /* of the drive: a factor on the wind's velocity; -1: none */
    int32_t event_count;
    bo_scene_event *events;              /* in the order in which they happen */
    bo_scene_strength *strength;         /* of the parts; NULL: none breaks */
    bo_scene_tie_strength *tie_strength; /* of the ties; NULL: none breaks */
    double remove_below;          /* m: trees that fly are removed where their centre of mass sinks below this height */
    bough_component **components; /* as in the assembly, once they are cooked; NULL before */

    /* ---- of a mechanism, whose gravity is the model's ---- */
    bo_mechanism_scene *mechanism; /* NULL: it is none */
};

/* "curves" */
bough_status bo_scene_curves(bo_json at, bo_drive *drive);
/* The curve that is named; *curve stays where none is. */
bough_status bo_scene_choose_curve(bo_json at, const bo_drive *drive, int32_t *curve);
/* "time": goes over the scene's integrator, dt and duration, which hold the defaults. */
bough_status bo_scene_time(bo_json at, bough_scene *scene);

/* settings.c: what a scene of parts says about running it, which needs no parts; then its forces and probes, which name
 * them. */
bough_scene bo_scene_defaults(void);
bough_status bo_scene_settings(const bo_json *root, bough_scene *scene);
bough_status bo_scene_part_forces(bo_json at, const bo_assembly *assembly, bough_scene *scene);
bough_status bo_scene_part_probes(bo_json at, const bo_assembly *assembly, bough_scene *scene);
/* "wind" goes over *wind. */
bough_status bo_scene_wind(bo_json at, bough_wind *wind);

/* mechanism_file.c */
bool bo_is_mechanism(const bo_json *root);
bough_status bo_refuse_mechanism(const bo_json *root); /* where a body is needed */
bough_status bo_scene_read_mechanism(const bo_json *root, bough_scene *scene);

/* events.c: "events", "break" and "remove_below". */
bough_status bo_scene_events(const bo_json *root, const bo_assembly *assembly, bough_scene *scene);
void bo_scene_free_events(bough_context *ctx, bough_scene *scene);

/* A probe's name, unique among those before it. */
bough_status bo_scene_probe_name(bo_json at, const bough_scene *scene, bo_scene_probe *probe);
/* A stress probe at one element of the body. */
bough_status bo_probe_element(bough_context *ctx, bo_scene_probe *probe, int32_t element);
/* Element that holds the point, or is nearest to it. */
int32_t bo_nearest_element(const bough_mesh *mesh, const double point[3]);
void bo_scene_free_probes(bough_context *ctx, bough_scene *scene);
void bo_scene_free_forces(bough_context *ctx, bough_scene *scene);
void bo_scene_free_paint(bough_context *ctx, bough_scene *scene);

/* model.c: bough_scene_model() by other settings than the scene's. */
bough_status bo_scene_model(bough_context *ctx, bough_scene *scene, const bough_model_def *settings,
                            bough_model **model);
void bo_scene_free_components(bough_context *ctx, bough_scene *scene);
/* whole.c: the body of a scene's object as one piece, and its forces and probes on it. */
bough_status bo_scene_make_whole(bough_context *ctx, bough_scene *scene);

/* FNV-1a; begin with BO_HASH_START. */
#define BO_HASH_START 0xCBF29CE484222325u
uint64_t bo_hash_bytes(uint64_t hash, const void *data, size_t size);
/* Vertices and elements. */
uint64_t bo_hash_mesh(uint64_t hash, const bough_mesh *mesh);

#endif
