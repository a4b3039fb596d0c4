/* Things described in JSON files. */
#ifndef BOUGH_SCENE_H
#define BOUGH_SCENE_H

#include <bough/fem.h>

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

#ifdef __cplusplus
}
#endif

#endif
