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

#ifdef __cplusplus
}
#endif

#endif
