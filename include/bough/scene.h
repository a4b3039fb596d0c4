/* Things described in JSON and URDF files.
 *
 * Ownership: as <bough/base.h> says. Threads: a scene and a cook job are constant once they were read; any number of
 * threads may use one, each with a context of its own. A cook plan belongs to one thread at a time. Failure:
 * BOUGH_ERROR_FILE where a file cannot be read, BOUGH_ERROR_FORMAT where what it says is wrong, each with one sentence
 * "file: place: reason"; nothing was made then.
 */
#ifndef BOUGH_SCENE_H
#define BOUGH_SCENE_H

#include <bough/fem.h>
#include <bough/mechanism.h>
#include <bough/reduce.h>
#include <bough/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lists and objects in the JSON of any file or message may be nested so deep: readers recurse, and threads with small
 * stacks read too. No format of ours needs ten. */
#define BOUGH_JSON_DEPTH 32
/* Returns how deep lists and objects are nested in the text, which need not be valid JSON: a reader goes no deeper
 * before it finds the mistake. Takes no stack and no memory. */
BOUGH_API int32_t bough_json_depth(const char *text, size_t size);

/* Reads a body file, or the body of a component file: mesh (a file beside it, or a generator) and materials become the
 * body, supports and loads its load case. Both are the caller's to destroy, the load case first; NULL when it fails.
 * docs/scene-format.md has the keys. Every key is checked; a wrong one is one sentence "file: place: reason". */
BOUGH_API bough_status bough_body_load(bough_context *ctx, const char *path, bough_body **body,
                                       bough_load_case **load_case);

/* A body with all that happens to it (curves, moving supports, the start), or parts with the wind that blows on them;
 * in both cases probes, engine and integrator settings. */
typedef struct bough_scene bough_scene;

/* Reads a scene file; docs/scene-format.md has the keys. A file whose name ends in .urdf is a scene of that mechanism
 * alone, under its weight; one that ends in .xml or .mjcf (MJCF) that of a multibody system. */
BOUGH_API bough_status bough_scene_load(bough_context *ctx, const char *path, bough_scene **scene);
BOUGH_API void bough_scene_destroy(bough_context *ctx, bough_scene *scene);

/* An engine that knows this kind of scene. */
typedef struct bough_scene_engine {
    const char *name;
    const char *label; /* for people who choose: "full FEM" */
    uint32_t can;      /* bough_capability */
    bool suits;        /* it can step this scene */
    char reason[400];  /* a sentence: why it cannot; empty where it can */
} bough_scene_engine;
enum { BOUGH_MOST_ENGINES = 8 };

/* A summary of a scene, for those who choose how to run it. Strings belong to the scene. */
typedef struct bough_scene_info {
    const char *kind;    /* "body", "parts" or "mechanism" */
    const char *things;  /* "one body", "parts", "links": what it has, in a word for people */
    const char *path;    /* of its file, as it was named */
    double gravity[3];   /* m/s^2, at the start */
    bough_wind wind;     /* at the start, of scenes of parts; else none */
    double dt, duration; /* s; duration 0: it does not say */
    const char *integrator;
    const char *engine; /* that steps it unless a run says otherwise */
    bool names_engine;  /* it says so itself; else that is the engine of its kind, or a run finds a better one */
    bool settle;        /* starts in equilibrium */
    int32_t engine_count;
    bough_scene_engine engines[BOUGH_MOST_ENGINES];
} bough_scene_info;
/* Cooks nothing and cannot fail. Any number of threads may describe one scene, each with a context of its own, whose
 * message it may leave changed. */
BOUGH_API void bough_scene_describe(bough_context *ctx, const bough_scene *scene, bough_scene_info *info);
/* Writes the scene of a robot with all its bodies, parts and joints in it, to be edited: path is a URDF or MJCF file, or
 * a multibody scene with a "robot". Files that the robot names are named from the folder of `path`, where `output`
 * should be too. Fails as bough_scene_load() does, and where the file cannot be written. */
BOUGH_API bough_status bough_robot_write(bough_context *ctx, const char *path, const char *output);

/* The subject of a file, by its first keys: enough to choose what to do with it. */
typedef struct bough_file_info {
    const char *kind; /* of the scene that it would be: "body", "parts" or "mechanism"; a constant */
    bool complete;    /* it has a version and things of that kind, and nothing that only components have */
    bool runs;        /* it says something about running: "time", "engine", "curves", "initial" or "probes" */
    bool touches;     /* it says something about contact: "obstacles", "contact", or several "bodies" with meshes */
} bough_file_info;
/* False: the file cannot be read, or is neither JSON nor URDF nor MJCF. Nothing else of it is checked. Leaves the message of the
 * context as it is. */
BOUGH_API bool bough_file_look(bough_context *ctx, const char *path, bough_file_info *info);
/* Names of all engines there are, from number 0; NULL: there are no more. */
BOUGH_API const char *bough_engine_name(int32_t number);
/* The scene's body, and what holds it and acts on it all the time (without what follows curves). Both belong to the
 * scene; NULL for a scene of parts. */
BOUGH_API const bough_body *bough_scene_body(const bough_scene *scene);
BOUGH_API const bough_load_case *bough_scene_load_case(const bough_scene *scene);
/* Returns the scene's mechanism, which belongs to it; NULL: it is not a scene of a mechanism, or of bodies only. */
BOUGH_API const bough_mechanism *bough_scene_mechanism(const bough_scene *scene);
/* Returns the name of an end effector of that mechanism's description. */
BOUGH_API const char *bough_scene_end_effector_name(const bough_scene *scene, int32_t end_effector);
/* Makes the model of a scene of parts. Cooks what is missing or out of date, as bough_cook_plan_run() does, into the
 * folder SCENE.cooked beside the scene. The components belong to the scene, so that it must outlive the model. */
BOUGH_API bough_status bough_scene_model(bough_context *ctx, const bough_scene *scene, bough_tree_model **model);
/* Lets the parts of a state of that model touch what the scene says (bough_tree_state_touch), obstacles on tracks included;
 * does nothing where it says nothing. The scene must outlive the state. */
BOUGH_API bough_status bough_scene_touch(bough_context *ctx, const bough_scene *scene, const bough_tree_model *model,
                                         bough_tree_state *state);

/* A body and how to cook it: what a component file describes, with everything that it points to. */
typedef struct bough_cook_job bough_cook_job;

/* Reads a component file; docs/scene-format.md has the keys. A file whose name does not end in .json is taken for a
 * mesh with nothing else said. `changes` is a JSON object (or NULL) whose members go over those of the file, level by
 * level, before anything is checked: {"basis": {"r": 12}}. The hash of all inputs (library version, meaning of the
 * JSON, content of meshes and arrays) and the provenance are in the job's def. */
BOUGH_API bough_status bough_cook_job_load(bough_context *ctx, const char *path, const char *changes,
                                           bough_cook_job **job);
BOUGH_API void bough_cook_job_destroy(bough_context *ctx, bough_cook_job *job);
/* Returns the file's "name", or else the name of the file without folder and extension. */
BOUGH_API const char *bough_cook_job_name(const bough_cook_job *job);
/* Body, supports and cook def of the job. All three belong to it. */
BOUGH_API const bough_body *bough_cook_job_body(const bough_cook_job *job);
BOUGH_API const bough_load_case *bough_cook_job_load_case(const bough_cook_job *job);
BOUGH_API const bough_cook_def *bough_cook_job_def(const bough_cook_job *job);
/* Sets the file in which a cancelled run leaves its basis, and finds it again; NULL: none (the default). The path is
 * copied. */
BOUGH_API bough_status bough_cook_job_set_resume_path(bough_context *ctx, bough_cook_job *job, const char *path);
/* bough_cook() with messages that name the file. times: BOUGH_COOK_PHASE_COUNT seconds, or NULL. Several threads, each
 * with its own context, may run the same job at the same time when it has no resume path. */
BOUGH_API bough_status bough_cook_job_run(bough_context *ctx, const bough_cook_job *job, double *times,
                                          bough_component **component);

/* The components to be cooked for a scene of parts, or for one component file or mesh. */
typedef struct bough_cook_plan bough_cook_plan;

typedef struct bough_cook_item {
    const char *name; /* of the component */
    int32_t element_count;
    int32_t r;          /* coordinates; with a tolerance the most, until it is cooked */
    const char *output; /* the .bough file */
    bool up_to_date;    /* the output has the hash of the inputs */
    /* As bough_cook_plan_forecast() finds them, of a scene; 0 before. */
    double share;        /* how far its parts bend of how far they move, under weight along each axis: the largest */
    bough_verdict worst; /* of the four, where errors of motion and loads are multiplied by the share */
    double error;        /* that one's; NAN: nothing was measured */
} bough_cook_item;

/* Reads a scene of parts (components of a scene, or the domains of its object; docs/scene-format.md has the keys) and
 * finds what hangs at each interface; or reads one component file or mesh as bough_cook_job_load() does. `changes`, as
 * there, and `output` (NULL: beside the input, with the extension .bough) are for one component only. The components of
 * SCENE.json go into the folder SCENE.cooked beside it, as NAME.bough. */
BOUGH_API bough_status bough_cook_plan_load(bough_context *ctx, const char *path, const char *changes,
                                            const char *output, bough_cook_plan **plan);
BOUGH_API void bough_cook_plan_destroy(bough_context *ctx, bough_cook_plan *plan);
/* Returns the folder of a scene's components; NULL when the plan is not for a scene. */
BOUGH_API const char *bough_cook_plan_folder(const bough_cook_plan *plan);
/* Counts the components. */
BOUGH_API int32_t bough_cook_plan_count(const bough_cook_plan *plan);
/* Returns an item, which belongs to the plan. */
BOUGH_API const bough_cook_item *bough_cook_plan_item(const bough_cook_plan *plan, int32_t index);

/* The cost to a scene of parts of interfaces that are treated as rigid, predicted from how the interfaces deform on
 * both sides; docs/theory/reduction.md, "Interfaces that deform". Relative to the body in one piece; 0 where nothing is
 * known. Names belong to the plan; NULL with 0. */
typedef struct bough_joint_forecast {
    double frequency;            /* of that one of the three lowest that is off most; < 0: too low */
    const char *frequency_joint; /* part at whose joint most of it comes about */
    double sag;                  /* of the work of the weight; > 0: it sags too far */
    const char *sag_joint;
} bough_joint_forecast;
/* Runs of a scene warn of more than this. */
#define BOUGH_JOINT_WARNING 0.05
/* Predicts the cost of joints for a plan of a scene all of whose components are up to date; fills in the fields of the
 * items, too. */
BOUGH_API bough_status bough_cook_plan_forecast(bough_context *ctx, bough_cook_plan *plan,
                                                bough_joint_forecast *forecast);

/* Runs of the plan then raise r, and lower the tolerance of a cubature, of each component until all that is measured of
 * it has this grade, or until that does not help any more, of which they warn. What comes out is up to date for the
 * same inputs. */
BOUGH_API void bough_cook_plan_set_grade(bough_cook_plan *plan, bough_grade grade);

/* The result of an item. */
typedef struct bough_cooked {
    int32_t index;
    const bough_component *component; /* as long as the call lasts */
    bool cooked;                      /* false: it was up to date */
    double seconds;                   /* 0 when it was up to date */
    const double *times;              /* BOUGH_COOK_PHASE_COUNT, s; NULL when it was up to date */
} bough_cooked;

/* Cooks what is not up to date, or everything with `force`; large components first, side by side on the context's
 * threads, with the same bytes for any number of them. Each output appears when it is complete. `finished`, which may
 * be NULL, is called once for each item, those that are up to date first; from any thread, but never twice at once, nor
 * while progress is reported. When one fails, the others are still cooked. After BOUGH_CANCELLED, what was finished is
 * there, and OUTPUT.part keeps the basis of what was not, for the next run. */
BOUGH_API bough_status bough_cook_plan_run(bough_context *ctx, bough_cook_plan *plan, bool force,
                                           void (*finished)(void *user, const bough_cooked *cooked), void *user);

/* ---- mechanisms from URDF, the files that robots are described in; docs/mechanisms.md ---- */

typedef enum bough_urdf_shape_kind {
    BOUGH_URDF_BOX,      /* size: its edges */
    BOUGH_URDF_CYLINDER, /* size: radius, length along z */
    BOUGH_URDF_CAPSULE,  /* size: radius, length of its cylinder along z */
    BOUGH_URDF_SPHERE,   /* size: radius */
    BOUGH_URDF_MESH      /* size: scale */
} bough_urdf_shape_kind;

typedef struct bough_urdf_shape {
    bough_urdf_shape_kind kind;
    int32_t link;     /* of the mechanism */
    bool collision;   /* else it is to be seen */
    bough_pose frame; /* in the link's */
    double size[3];   /* m */
    double colour[4]; /* red, green, blue, opacity, 0..1; opacity -1: none is given */
    const char *mesh; /* the file's name as it is written; NULL: no mesh */
} bough_urdf_shape;

typedef struct bough_urdf {
    const char *name;
    const char *dynamics; /* the side file; NULL: there was none */
    bough_mechanism *mechanism;
    int32_t frame_count;
    /* The <link>s, in the order of the file, each on a link of the mechanism: those that are welded together by fixed
     * joints are one link of it. */
    bough_frame_def *frames;
    int32_t *end_effectors; /* frames: of the end effectors of the mechanism's description */
    int32_t shape_count;
    bough_urdf_shape *shapes;
} bough_urdf;

typedef struct bough_urdf_def {
    uint32_t cookie;
    /* A JSON file with what URDF cannot say: stiffness of the joints. NULL: ROBOT.dynamics.json beside ROBOT.urdf,
     * where there is one */
    const char *dynamics;
    /* <link>s; none: those of the side file, and else the leaves of the tree */
    int32_t end_effector_count;
    const char *const *end_effectors;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_urdf_def;
/* The side file beside the robot's, its end effectors. */
BOUGH_API bough_urdf_def bough_default_urdf_def(void);

/* Reads a robot. def may be NULL. Everything is checked; what is wrong is one sentence "file:line:column: reason". */
BOUGH_API bough_status bough_mechanism_load_urdf(bough_context *ctx, const char *path, const bough_urdf_def *def,
                                                 bough_urdf **urdf);
/* Frees all of it, its mechanism too. Takes NULL. */
BOUGH_API void bough_urdf_destroy(bough_context *ctx, bough_urdf *urdf);
/* Returns the <link> of this name; -1: there is none. */
BOUGH_API int32_t bough_urdf_find(const bough_urdf *urdf, const char *name);

#ifdef __cplusplus
}
#endif

#endif
