#include "scene/registry.h"

#include "base/file.h"
#include "scene/scene.h"

#include <stdio.h>
#include <string.h>

enum { MOST_KINDS = 16, MOST_NAMES = 32 };

/* The last takes what no other recognises. */
static const bo_scene_kind *kinds[MOST_KINDS] = {&bo_multibody_scene_kind, &bo_mechanism_scene_kind, &bo_parts_scene,
                                                 &bo_body_scene};
static int32_t kind_count = 4;

bool bo_scene_register(const bo_scene_kind *kind) {
    if (kind_count == MOST_KINDS)
        return false;
    memmove(kinds + 1, kinds, (size_t)kind_count++ * sizeof *kinds);
    kinds[0] = kind;
    return true;
}

const bo_scene_kind *bo_scene_kind_of(const bo_json *root) {
    int32_t i = 0;
    while (i < kind_count - 1 && !kinds[i]->recognise(root))
        i++;
    return kinds[i];
}

/* ---- engines by name ---- */

/* Names of all engines, each once; returns how many. */
static int32_t list_names(const char **names) {
    int32_t count = 0;
    for (int32_t k = kind_count - 1; k >= 0; k--)
        for (int32_t i = 0; i < kinds[k]->engine_count && count < MOST_NAMES; i++) {
            const char *name = kinds[k]->engines[i].kind->name;
            int32_t known = 0;
            while (known < count && strcmp(names[known], name) != 0)
                known++;
            if (known == count)
                names[count++] = name;
        }
    return count;
}

const char *bough_engine_name(int32_t number) {
    const char *names[MOST_NAMES];
    return number >= 0 && number < list_names(names) ? names[number] : NULL;
}

const bo_scene_engine *bo_scene_find_engine(const bough_scene *scene, const char *name) {
    for (int32_t i = 0; i < scene->kind->engine_count; i++)
        if (bo_equal_ignoring_case(scene->kind->engines[i].kind->name, name))
            return &scene->kind->engines[i];
    return NULL;
}

/* "parts", or "parts or links": the scenes that an engine of this name steps. */
static void name_scenes(const char *engine, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int32_t k = kind_count - 1; k >= 0; k--)
        for (int32_t i = 0; i < kinds[k]->engine_count && used < size; i++)
            if (bo_equal_ignoring_case(kinds[k]->engines[i].kind->name, engine)) {
                const int written =
                    snprintf(text + used, size - used, "%s%s", used > 0 ? " or " : "", kinds[k]->things);
                used += written > 0 ? (size_t)written : 0;
            }
}

bough_status bo_scene_read_engine(bo_json named, bough_scene *scene) {
    const char *names[MOST_NAMES];
    int32_t choice = -1;
    char text[128];
    BO_TRY(bo_json_choice(named, names, list_names(names), &choice));
    if (choice < 0)
        return BOUGH_OK;
    const bo_scene_engine *engine = bo_scene_find_engine(scene, names[choice]);
    name_scenes(names[choice], text, sizeof text);
    if (!engine)
        return bo_json_fail(named, "\"%s\" is for scenes of %s, and this one has %s", names[choice], text,
                            scene->kind->things);
    scene->engine = engine;
    scene->names_engine = true;
    return BOUGH_OK;
}

/* ---- making ---- */

static bough_status find_engine(bough_context *ctx, const bough_scene *scene, const char *name,
                                const bo_scene_engine **engine) {
    const char *names[MOST_NAMES];
    const int32_t count = list_names(names);
    int32_t known = 0;
    char text[128];
    if ((*engine = bo_scene_find_engine(scene, name)))
        return BOUGH_OK;
    while (known < count && !bo_equal_ignoring_case(names[known], name))
        known++;
    if (known == count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no engine \"%s\"", name);
    name_scenes(name, text, sizeof text);
    return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: the engine \"%s\" steps scenes of %s, and this one has %s",
                   scene->path, names[known], text, scene->kind->things);
}

/* Every engine takes a continuity, and those whose surfaces are never joined have nothing to do for it. */
static bough_status check_continuity(bough_context *ctx, const char *word) {
    int32_t i = 0;
    while (word && bo_continuity_names[i] && !bo_equal_ignoring_case(word, bo_continuity_names[i]))
        i++;
    return word && !bo_continuity_names[i] ? bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no continuity \"%s\"", word)
                                           : BOUGH_OK;
}

/* A setting that nobody would heed is a mistake. */
static bough_status check_settings(bough_context *ctx, const bough_scene *scene, const bo_scene_engine *engine,
                                   const bo_engine_settings *settings) {
    BO_TRY(check_continuity(ctx, settings->continuity));
    const char *what = settings->coupling ? "a coupling was" : settings->passes ? "passes were" : NULL;
    if (what && !(engine->kind->can & BOUGH_CAN_COUPLING))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: %s chosen, which the engine \"%s\" does not have",
                       scene->path, what, engine->kind->name);
    return engine->check ? engine->check(ctx, scene, settings) : BOUGH_OK;
}

bough_status bo_scene_make_engine(bough_context *ctx, const bough_scene *scene, const char *name,
                                  const bo_engine_settings *given, bool names_integrator, double until,
                                  bo_engine *engine, char *reason) {
    bo_engine_settings settings = *given;
    const bo_scene_engine *chosen = scene->engine;
    reason[0] = 0;
    if (name)
        BO_TRY(find_engine(ctx, scene, name, &chosen));
    if (!names_integrator && chosen->integrator)
        settings.integrator.name = chosen->integrator;
    BO_TRY(check_settings(ctx, scene, chosen, &settings));
    if (!name && !scene->names_engine && scene->kind->choose)
        BO_TRY(scene->kind->choose(ctx, scene, &settings, until, &chosen, reason));
    return chosen->create(ctx, scene, &settings, engine);
}

/* ---- describing ---- */

void bough_scene_describe(bough_context *ctx, const bough_scene *scene, bough_scene_info *info) {
    *info = (bough_scene_info){.kind = scene->kind->name,
                               .things = scene->kind->things,
                               .path = scene->path,
                               .dt = scene->dt,
                               .duration = scene->duration,
                               .integrator = scene->integrator.name,
                               .engine = scene->engine->kind->name,
                               .names_engine = scene->names_engine,
                               .settle = scene->settle};
    memcpy(info->gravity, scene->gravity, sizeof info->gravity);
    info->wind = scene->tree.wind;
    for (int32_t i = 0; i < scene->kind->engine_count && i < BOUGH_MOST_ENGINES; i++) {
        const bo_scene_engine *engine = &scene->kind->engines[i];
        const bo_engine_settings settings = {.integrator = scene->integrator};
        bough_scene_engine *to = &info->engines[info->engine_count++];
        *to = (bough_scene_engine){
            .name = engine->kind->name, .label = engine->kind->label, .can = engine->kind->can, .suits = true};
        if (engine->check && engine->check(ctx, scene, &settings) != BOUGH_OK) {
            to->suits = false;
            snprintf(to->reason, sizeof to->reason, "%s", bough_message(ctx));
        }
    }
}
