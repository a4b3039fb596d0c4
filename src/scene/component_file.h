/* Inside view of a cook job: what a component file says, and what it points to. */
#ifndef BO_SCENE_COMPONENT_FILE_H
#define BO_SCENE_COMPONENT_FILE_H

#include "scene/json.h"

#include <bough/scene.h>

struct bough_cook_job {
    bough_body *body;
    bough_cook_def def; /* points to what follows */
    char *file;         /* as the user named it */
    char *name;
    bough_interface_def *interfaces; /* names and vertices belong to the job */
    int32_t *stress_elements;
    double *snapshots, *columns;
    bough_mesh *surface;
    char *provenance, *resume_path;
};

/* The keys that a component file has beyond those of a body file. Without job->body they are checked only; with it the
 * same call fills job->def. */
bough_status bo_component_settings(const bo_json *root, bough_cook_job *job);

/* "modes+mass-loaded+derivatives" for BOUGH_BASIS_... */
#define BO_BASIS_TEXT_SIZE 128
void bo_basis_text(uint32_t basis, char text[BO_BASIS_TEXT_SIZE]);

#endif
