/* Scenes of parts: how they are read, and the engines that step them. */
#include "scene/scene.h"

#include "base/file.h"
#include "fem/engine.h"
#include "scene/cook_plan.h"
#include "scene/parts_touch.h"

#include <string.h>

/* ---- reading ---- */

void bo_scene_hash_components(bough_scene *scene) {
    const bo_assembly *assembly = &scene->plan->assembly;
    scene->hash = bo_hash_bytes(scene->hash, &assembly->files, sizeof(uint64_t));
    for (int32_t c = 0; c < assembly->component_count; c++) {
        const bo_scene_component *component = &assembly->components[c];
        if (component->job)
            scene->hash = bo_hash_bytes(scene->hash, &component->job->def.input_hash, sizeof(uint64_t));
        else
            scene->hash = bo_hash_bytes(scene->hash, component->rigid->image, component->rigid->image_size);
    }
}

/* Collects all that the tree engine needs to know beside the model. */
static bough_status finish_plan(bough_context *ctx, bough_scene *scene) {
    const bo_assembly *assembly = &scene->plan->assembly;
    scene->tree.wind = scene->model.wind;
    scene->tree.curves = scene->drive.curves;
    scene->tree.probe_count = scene->probe_count, scene->tree.probes = scene->probes;
    if (!(scene->tree.starts = BO_NEW_ZEROS(ctx, bo_tree_start, assembly->part_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < assembly->part_count; p++) {
        bo_tree_start *start = &scene->tree.starts[p];
        memcpy(start->velocity, assembly->parts[p].velocity, sizeof start->velocity);
        memcpy(start->angular_velocity, assembly->parts[p].angular_velocity, sizeof start->angular_velocity);
    }
    return BOUGH_OK;
}

static bough_status read_parts(const bo_json *root, bough_scene *scene) {
    BO_TRY(bo_scene_make_pantry(root->ctx, scene));
    BO_TRY(bo_cook_plan_read(root, scene, &scene->plan));
    bo_scene_hash_components(scene);
    bo_parts_touch *touch = NULL;
    const bough_status read = bo_parts_touch_read(root, &scene->plan->assembly, &scene->hash, &touch);
    scene->content = touch; /* also where it failed */
    BO_TRY(read);
    scene->tree.touch = touch ? &touch->def : NULL;
    scene->tree.around = bo_body_touch_around(touch ? touch->around : NULL);
    return finish_plan(root->ctx, scene);
}

/* ---- the tree engine ---- */

static bough_status choose_word(bough_context *ctx, const char *what, const char *word, const char *const *words,
                                int32_t *choice) {
    for (int32_t i = 0; word && words[i]; i++)
        if (bo_equal_ignoring_case(word, words[i])) {
            *choice = i;
            return BOUGH_OK;
        }
    return word ? bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no %s \"%s\"", what, word) : BOUGH_OK;
}

/* The scene's settings, and what the run says otherwise. */
static bough_status choose_settings(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                                    bough_tree_model_def *model, bough_continuity *continuity) {
    int32_t coupling = (int32_t)scene->model.coupling, joined = BOUGH_CONTINUITY_NONE;
    BO_TRY(choose_word(ctx, "coupling", settings->coupling, bo_coupling_names, &coupling));
    BO_TRY(choose_word(ctx, "continuity", settings->continuity, bo_continuity_names, &joined));
    *model = scene->model;
    model->coupling = (bough_coupling)coupling;
    model->passes = settings->passes ? settings->passes : model->passes;
    model->alpha = bo_tree_alpha(&settings->integrator);
    *continuity = (bough_continuity)joined;
    return BOUGH_OK;
}

/* Told now, and not at the first step. */
static bough_status check_tree(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings) {
    bough_tree_model_def model;
    bough_continuity continuity;
    BO_TRY(choose_settings(ctx, scene, settings, &model, &continuity));
    return model.coupling != BOUGH_COUPLING_L3 && bo_assembly_needs_exact(&scene->plan->assembly)
               ? bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: joints and ties need the exact coupling, L3", scene->path)
               : BOUGH_OK;
}

static bough_status create_tree(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                                bo_engine *engine) {
    bough_tree_model_def def;
    bough_continuity continuity;
    bough_tree_model *model;
    BO_TRY(choose_settings(ctx, scene, settings, &def, &continuity));
    BO_TRY(bo_scene_model(ctx, scene, &def, &model));
    return bo_tree_engine_create(ctx, &scene->tree, model, continuity, settings, engine);
}

/* ---- the full engine: the object in one piece ---- */

static bough_status check_full(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings) {
    (void)settings;
    return bo_scene_check_whole(ctx, scene);
}

static void release_whole(bough_context *ctx, void *whole) {
    bo_whole_destroy(ctx, whole);
}

static bough_status create_full(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                                bo_engine *engine) {
    bo_whole *whole;
    const bo_parts_touch *touch = scene->content;
    BO_TRY(bo_scene_make_whole(ctx, scene, &whole));
    if (touch && (touch->def.solid_count > 0 || touch->between))
        bo_warn(ctx, "%s: the full engine knows neither \"solids\" nor \"between\": parts touch the obstacles alone",
                scene->path);
    const bo_body_plan plan = {.body = whole->body,
                               .load_case = whole->load_case,
                               .drive = &scene->drive,
                               .velocity = whole->velocity,
                               .touch = touch ? &touch->around->made->def : NULL,
                               .around = bo_body_touch_around(touch ? touch->around : NULL),
                               .probe_count = whole->probe_count,
                               .probes = whole->probes,
                               .owner = whole,
                               .release = release_whole};
    return bo_body_engine_create(ctx, &plan, settings, engine);
}

/* ---- the kind ---- */

static void destroy(bough_context *ctx, void *content) {
    bo_parts_touch_free(ctx, content);
}

static const bo_scene_engine engines[] = {
    {.kind = &bo_tree_engine, .integrator = "hht", .check = check_tree, .create = create_tree},
    {.kind = &bo_body_engine, .check = check_full, .create = create_full}};

const bo_scene_kind bo_parts_scene = {.name = "parts",
                                      .things = "parts",
                                      .recognise = bo_is_assembly,
                                      .read = read_parts,
                                      .destroy = destroy,
                                      .engine_count = 2,
                                      .engines = engines};
