/* Inside view of a scene: what the run needs to start. */
#ifndef BO_SCENE_SCENE_H
#define BO_SCENE_SCENE_H

#include "fem/drive.h"
#include "scene/assembly.h"
#include "scene/json.h"
#include "scene/mechanism_scene.h"
#include "scene/registry.h"
#include "tree/engine.h"

#include <bough/scene.h>
#include <bough/time.h>

#include <pthread.h>

/* Components that are cooked when a scene of parts is stepped for the first time. Runs of one scene on several threads
 * wait for each other there. */
typedef struct bo_scene_pantry {
    pthread_mutex_t lock;
    bough_component **components; /* as in the assembly; NULL: not cooked yet */
} bo_scene_pantry;

/* Constant once it was read: one scene serves many runs at once. */
struct bough_scene {
    const bo_scene_kind *kind;
    char *path;    /* of the file, as it was named */
    uint64_t hash; /* of the file and of all that it points to */
    const bo_scene_engine *engine;
    bool names_engine;               /* the file does, or says how it is reduced: nothing is chosen by itself */
    bool names_integrator;           /* else each engine has its own default */
    bough_integrator_def integrator; /* its name is the registry's */
    double dt, duration;             /* s; duration 0: the file does not say */
    double energy_tolerance;         /* as in bough_run_def; 0: any */
    bool settle;                     /* starts in equilibrium */
    double gravity[3];               /* m/s^2 */
    bo_drive drive;                  /* curves, and what follows them on a body */
    int32_t probe_count;
    bo_probe *probes;

    /* ---- of one body ---- */
    bough_body *body;
    bough_load_case *load_case;
    double *velocity; /* 3 vertex_count, m/s, at the start */

    /* ---- of parts ---- */
    bough_cook_plan *plan;      /* NULL: another kind */
    bough_tree_model_def model; /* coupling, alpha, passes, wind */
    bo_tree_plan tree;
    bo_scene_pantry *pantry;

    /* ---- of a mechanism ---- */
    bo_mechanism_scene *mechanism; /* NULL: another kind */

    void *content; /* of other kinds, which destroy it */
};

/* The root of a scene file, or of the scene that a URDF or MJCF file alone stands for. robot: a URDF file is a multibody
 * system, not a mechanism. To be freed unless it fails. */
bough_status bo_scene_load_root(bough_context *ctx, const char *path, bool robot, bo_json *root);
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
bough_status bo_scene_probe_name(bo_json at, const bough_scene *scene, bo_probe *probe);
/* "contact" and "against" of a probe of any scene; the run looks for the things of these names. */
bough_status bo_scene_contact_probe(bo_json at, bo_probe *probe);
/* A stress probe at one element of the body. */
bough_status bo_probe_element(bough_context *ctx, bo_probe *probe, int32_t element);
/* Element that holds the point, or is nearest to it. */
int32_t bo_nearest_element(const bough_mesh *mesh, const double point[3]);
void bo_probes_free(bough_context *ctx, int32_t count, bo_probe *probes);
void bo_scene_free_probes(bough_context *ctx, bough_scene *scene);
void bo_scene_free_forces(bough_context *ctx, bough_scene *scene);
void bo_scene_free_paint(bough_context *ctx, bough_scene *scene);

/* model.c: bough_scene_model() by other settings than the scene's. */
bough_status bo_scene_model(bough_context *ctx, const bough_scene *scene, const bough_tree_model_def *settings,
                            bough_tree_model **model);
bough_status bo_scene_make_pantry(bough_context *ctx, bough_scene *scene);
void bo_scene_free_pantry(bough_context *ctx, bough_scene *scene);
/* Cooks what is missing, whoever comes first; then components of the scene are there. */
bough_status bo_scene_cook(bough_context *ctx, const bough_scene *scene);
const bough_component *bo_scene_component_at(const bough_scene *scene, int32_t c);
/* The scene's hash goes on over what its components were made of. */
void bo_scene_hash_components(bough_scene *scene);

/* whole.c: the object of a scene of parts as one body, with the probes of the scene on it. */
typedef struct bo_whole {
    bough_body *body;
    bough_load_case *load_case;
    double *velocity; /* 3 vertex_count: zeros */
    int32_t probe_count;
    bo_probe *probes;
} bo_whole;
bough_status bo_scene_make_whole(bough_context *ctx, const bough_scene *scene, bo_whole **whole);
void bo_whole_destroy(bough_context *ctx, bo_whole *whole);
/* Fails with a sentence where the full engine does not know something that the scene has. */
bough_status bo_scene_check_whole(bough_context *ctx, const bough_scene *scene);

/* FNV-1a; begin with BO_HASH_START. */
#define BO_HASH_START 0xCBF29CE484222325u
uint64_t bo_hash_bytes(uint64_t hash, const void *data, size_t size);
/* Vertices and elements. */
uint64_t bo_hash_mesh(uint64_t hash, const bough_mesh *mesh);

#endif
