/* Inside view of a cook job: what a component file says, and what it points to. */
#ifndef BO_SCENE_COMPONENT_FILE_H
#define BO_SCENE_COMPONENT_FILE_H

#include "scene/json.h"

#include <bough/scene.h>

/* Arrays that bough_cook_surroundings points to. */
typedef struct bo_cook_around {
    bough_body *body; /* NULL: nothing is known of it */
    bough_load_case *load_case;
    int32_t *vertices, *owner, *pulled;
    unsigned char *beside;
} bo_cook_around;
void bo_cook_around_free(bough_context *ctx, bo_cook_around *around);

struct bough_cook_job {
    bough_body *body;
    bough_load_case *load_case;
    bough_cook_def def; /* points to what follows */
    char *file;         /* as the user named it; the place in it for a block of a scene */
    char *name;
    bough_interface_def *interfaces; /* names and vertices belong to the job */
    int32_t *stress_elements;        /* ascending */
    double *snapshots, *columns;
    bough_mesh *surface;
    char *provenance, *resume_path;
    bo_cook_around around;
    bough_cook_surroundings surroundings; /* the same */
    bool loads_follow;                    /* bo_cook_job_add_loads() will say what hangs at the interfaces */
};

/* The keys that a component file has beyond those of a body file. Without job->body they are checked only; with it the
 * same call fills job->def. */
bough_status bo_component_settings(const bo_json *root, bough_cook_job *job);

/* Those of them that an object's domains share: basis, elastic model, samples, wire, keep_volume. */
bough_status bo_cook_settings(const bo_json *block, bough_cook_job *job);

/* Jobs of a scene, whose loads follow: from a component file, or from a block of the scene under the key that becomes
 * its name. */
bough_status bo_cook_job_from_file(bough_context *ctx, const char *path, bough_cook_job **job);
bough_status bo_cook_job_from_block(const bo_json *block, bough_cook_job **job);
/* A job with nothing but the defaults, a name, and a file for messages; NULL when memory is short. */
bough_cook_job *bo_cook_job_new(bough_context *ctx, const char *file, const char *name);
/* When body, settings and interfaces are there: the hash of them and of what the block says, and the provenance. */
bough_status bo_cook_job_seal(const bo_json *block, bough_cook_job *job);
/* job->around becomes part of what is cooked, and of the hash. */
void bo_cook_job_surround(bough_cook_job *job);
/* Sets the load at each interface, about its centre; none if the mass is 0. The file's own load of an interface wins.
 * Loads go into the hash. */
bough_status bo_cook_job_add_loads(bough_context *ctx, bough_cook_job *job, const bough_inertia *loads);
/* One more stress point, before bo_cook_job_add_loads(); it goes into the hash. Nothing when the element is one. */
bough_status bo_cook_job_add_stress_element(bough_context *ctx, bough_cook_job *job, int32_t element);
/* bough_cook_job_run() by another def. */
bough_status bo_cook_job_run_as(bough_context *ctx, const bough_cook_job *job, const bough_cook_def *def, double *times,
                                bough_component **component);

/* "surface": which file to draw (surface NULL: checked only; *surface stays NULL without a file), and how. */
bough_status bo_surface_read(bo_json at, bool *int16, bough_mesh **surface);

/* "modes+mass-loaded+derivatives" for BOUGH_BASIS_... */
#define BO_BASIS_TEXT_SIZE 128
void bo_basis_text(uint32_t basis, char text[BO_BASIS_TEXT_SIZE]);

#endif
