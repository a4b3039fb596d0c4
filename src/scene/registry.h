/* The kinds of scenes, and the engines that step each of them: the one place where all engines are listed.
 *
 * A further engine adds its room, its part of the reader (a bo_scene_kind, or an entry in the list of one), and its
 * line in registry.c. */
#ifndef BO_SCENE_REGISTRY_H
#define BO_SCENE_REGISTRY_H

#include "engine/engine.h"
#include "scene/json.h"

#include <bough/scene.h>

/* An engine that steps one kind of scene. */
typedef struct bo_scene_engine {
    const bo_engine_kind *kind;
    const char *integrator; /* of scenes and runs that name none; NULL: the scene's default */
    /* Fails with a sentence where this engine cannot step the scene, or not by these settings. NULL: it always can. */
    bough_status (*check)(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings);
    bough_status (*create)(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                           bo_engine *engine);
} bo_scene_engine;

typedef struct bo_scene_kind {
    const char *name;   /* "body": of bough_scene_info */
    const char *things; /* "one body", "parts", "links": what such a scene has, in sentences */
    bool (*recognise)(const bo_json *root);
    bough_status (*read)(const bo_json *root, bough_scene *scene);
    /* Frees what read() put into scene->content. NULL: nothing. */
    void (*destroy)(bough_context *ctx, void *content);
    int32_t engine_count;
    const bo_scene_engine *engines; /* the first steps scenes that name none */
    /* The engine of a scene for which neither file nor run names one, with a sentence why (size BO_REASON_SIZE); until:
     * the time that is looked at. NULL: the first. */
    bough_status (*choose)(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                           double until, const bo_scene_engine **engine, char *reason);
} bo_scene_kind;
enum { BO_REASON_SIZE = 400 };

/* Adds a kind to those that files can be about, before those that are known. Not while other threads read scenes.
 * False: there are too many. */
bool bo_scene_register(const bo_scene_kind *kind);
/* The kind of a file: the first that recognises it. A file that none does is taken for a body. */
const bo_scene_kind *bo_scene_kind_of(const bo_json *root);
/* The engine of a scene by its name; NULL: there is none of that name for it. */
const bo_scene_engine *bo_scene_find_engine(const bough_scene *scene, const char *name);
/* "kind" of "engine" in a file becomes scene->engine, which stays as it is where nothing is said. */
bough_status bo_scene_read_engine(bo_json named, bough_scene *scene);

/* Makes the engine that the run names (NULL: the scene's) with settings that go over the scene's; *reason (size
 * BO_REASON_SIZE): why it was chosen, where nobody named it, else empty. until: the time that the run is to last. */
bough_status bo_scene_make_engine(bough_context *ctx, const bough_scene *scene, const char *name,
                                  const bo_engine_settings *settings, bool names_integrator, double until,
                                  bo_engine *engine, char *reason);

/* The kinds there are, each in its own file. */
extern const bo_scene_kind bo_body_scene, bo_parts_scene, bo_mechanism_scene_kind, bo_multibody_scene_kind;

#endif
