/* Example scenes, made and cooked in a temporary folder, as models. */
#ifndef BOUGH_BENCH_TREE_SCENE_H
#define BOUGH_BENCH_TREE_SCENE_H

#include "bench.h"

#include <bough/run.h>
#include <bough/tree.h>

typedef struct tree_scene {
    bough_context *ctx;
    char folder[64], path[96];
    bough_scene *scene;
    struct bo_whole *whole;  /* its object in one piece; NULL unless a benchmark made it */
    bough_tree_model *model; /* as the scene says */
} tree_scene;

/* leaves: of the oak; negative: as many as it has. Says what is wrong when it fails; close it in any case. */
bool tree_scene_open(bough_context *ctx, const char *name, int32_t leaves, tree_scene *scene);
/* The same of an example that is an object, without weight, wind and damping. */
bool tree_scene_open_free(bough_context *ctx, const char *name, tree_scene *scene);
/* The same without wind, with other changes to its file, which it takes. */
bool tree_scene_open_changed(bough_context *ctx, const char *name, json_t *changes, tree_scene *scene);
/* The same of the text of a scene file. */
bool tree_scene_open_text(bough_context *ctx, const char *text, tree_scene *scene);
/* The same of a folder with scene.json and the files that it names, which are copied. */
bool tree_scene_open_copy(bough_context *ctx, const char *folder, tree_scene *scene);
/* True if there is such a folder below this one. */
bool tree_scene_is_there(const char *folder);
/* The same; the scene's mesh is "mesh.msh". */
bool tree_scene_open_mesh(bough_context *ctx, const char *text, const bough_mesh *mesh, tree_scene *scene);
/* The folder and the file of an example alone: neither scene nor model. */
bool tree_scene_make(bough_context *ctx, const char *name, tree_scene *scene);
/* The same of the text of a scene file. */
bool tree_scene_write(bough_context *ctx, const char *text, tree_scene *scene);
void tree_scene_close(tree_scene *scene);

/* "L1" .. "L3" */
const char *coupling_name(bough_coupling coupling);

/* A state of the model that moves: after a second of gusts, with the wind off; by the scene's own method. */
bough_tree_state *moving_state(const tree_scene *scene, const bough_tree_model *model);
/* The scene's parts without weight; lives no longer than the scene. NULL when it fails. */
bough_tree_model *weightless_model(const tree_scene *scene);

/* Microseconds: sorts them. */
double median_of(size_t count, double *values);
/* Keeps this thread on one core. */
void pin_to(int32_t core);

#endif
