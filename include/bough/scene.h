/* Things described in JSON files. */
#ifndef BOUGH_SCENE_H
#define BOUGH_SCENE_H

#include <bough/fem.h>
#include <bough/reduce.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a body file: mesh (a file beside it, or a generator), materials, supports, loads. docs/scene-format.md has
 * the keys. Every key is checked; a wrong one is one sentence "file: place: reason". */
BOUGH_API bough_status bough_body_load(bough_context *ctx, const char *path, bough_body **body);

/* A body with all that happens to it: curves, moving supports, the start, probes, engine and integrator settings. */
typedef struct bough_scene bough_scene;

/* Reads a scene file; docs/scene-format.md has the keys. */
BOUGH_API bough_status bough_scene_load(bough_context *ctx, const char *path, bough_scene **scene);
BOUGH_API void bough_scene_destroy(bough_context *ctx, bough_scene *scene);
/* Belongs to the scene. */
BOUGH_API bough_body *bough_scene_body(const bough_scene *scene);

/* A body and how to cook it: what a component file describes, with everything that it points to. */
typedef struct bough_cook_job bough_cook_job;

/* Reads a component file; docs/scene-format.md has the keys. A file whose name does not end in .json is taken for a
 * mesh with nothing else said. `changes` is a JSON object (or NULL) whose members go over those of the file, level by
 * level, before anything is checked: {"basis": {"r": 12}}. The hash of all inputs (library version, meaning of the
 * JSON, content of meshes and arrays) and the provenance are in the job's def. */
BOUGH_API bough_status bough_cook_job_load(bough_context *ctx, const char *path, const char *changes,
                                           bough_cook_job **job);
BOUGH_API void bough_cook_job_destroy(bough_context *ctx, bough_cook_job *job);
/* The file's "name", or else the name of the file without folder and extension. */
BOUGH_API const char *bough_cook_job_name(const bough_cook_job *job);
/* Both belong to the job. */
BOUGH_API bough_body *bough_cook_job_body(const bough_cook_job *job);
BOUGH_API const bough_cook_def *bough_cook_job_def(const bough_cook_job *job);
/* Where a cancelled run leaves its basis, and finds it again; NULL: nowhere (the default). The path is copied. */
BOUGH_API bough_status bough_cook_job_set_resume_path(bough_context *ctx, bough_cook_job *job, const char *path);
/* bough_cook() with messages that name the file. times: BOUGH_COOK_PHASE_COUNT seconds, or NULL. */
BOUGH_API bough_status bough_cook_job_run(bough_context *ctx, bough_cook_job *job, double *times,
                                          bough_component **component);

#ifdef __cplusplus
}
#endif

#endif
