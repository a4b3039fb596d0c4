/* A scene of parts becomes a model of the tree engine. */
#include "scene/cook_plan.h"
#include "scene/joints.h"
#include "scene/scene.h"
#include "tree/touch.h"

#include <string.h>

/* ---- components ---- */

/* Cooked ones move from the plan to the scene; those that were finished stay where they are. */
static bough_status take_components(bough_context *ctx, bough_cook_plan *plan, bough_component **components) {
    int32_t item = 0;
    for (int32_t c = 0; c < plan->assembly.component_count; c++) {
        if (!plan->assembly.components[c].job)
            continue;
        bo_plan_item *cooked = &plan->items[item++]; /* items are the components to cook, in their order */
        if (!cooked->ready)
            BO_TRY(bough_component_load(ctx, cooked->output, &cooked->ready));
        components[c] = cooked->ready;
        cooked->ready = NULL;
    }
    return BOUGH_OK;
}

static void free_components(bough_context *ctx, const bough_scene *scene, bough_component **components) {
    for (int32_t c = 0; c < scene->plan->assembly.component_count; c++)
        bough_component_destroy(ctx, components[c]);
    bo_free(ctx, components);
}

bough_status bo_scene_make_pantry(bough_context *ctx, bough_scene *scene) {
    if (!(scene->pantry = BO_NEW(ctx, bo_scene_pantry)))
        return BOUGH_ERROR_MEMORY;
    pthread_mutex_init(&scene->pantry->lock, NULL);
    return BOUGH_OK;
}

void bo_scene_free_pantry(bough_context *ctx, bough_scene *scene) {
    if (!scene->pantry)
        return;
    if (scene->pantry->components)
        free_components(ctx, scene, scene->pantry->components);
    pthread_mutex_destroy(&scene->pantry->lock);
    bo_free(ctx, scene->pantry);
    scene->pantry = NULL;
}

/* As it was cooked, or, if it was finished before, as it was read. */
const bough_component *bo_scene_component_at(const bough_scene *scene, int32_t c) {
    return scene->pantry->components[c] ? scene->pantry->components[c] : scene->plan->assembly.components[c].rigid;
}

/* At every start, not only when something is cooked. */
static bough_status warn_of_joints(bough_context *ctx, const bough_scene *scene) {
    const bo_assembly *assembly = &scene->plan->assembly;
    bough_joint_forecast forecast;
    const bough_component **components = BO_NEW_ARRAY(ctx, const bough_component *, assembly->component_count);
    if (!components)
        return BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < assembly->component_count; c++)
        components[c] = bo_scene_component_at(scene, c);
    const bough_status status = bo_joints_forecast(ctx, assembly, components, scene->gravity, &forecast, NULL);
    if (status == BOUGH_OK)
        bo_joints_warn(ctx, scene->path, &forecast);
    bo_free(ctx, components);
    return status;
}

static bough_status fill_pantry(bough_context *ctx, const bough_scene *scene) {
    if (scene->pantry->components)
        return BOUGH_OK;
    bough_status cooked = bough_cook_plan_run(ctx, scene->plan, false, NULL, NULL);
    if (cooked == BOUGH_CANCELLED)
        return bo_fail(ctx, BOUGH_CANCELLED,
                       "%s: stopped while its components were cooked; those that are done are kept", scene->path);
    BO_TRY(cooked);
    bough_component **components = BO_NEW_ZEROS(ctx, bough_component *, scene->plan->assembly.component_count);
    if (!components)
        return BOUGH_ERROR_MEMORY;
    bough_status status = take_components(ctx, scene->plan, components);
    if (status == BOUGH_OK)
        scene->pantry->components = components;
    else
        free_components(ctx, scene, components);
    return status == BOUGH_OK ? warn_of_joints(ctx, scene) : status;
}

/* Others wait. */
bough_status bo_scene_cook(bough_context *ctx, const bough_scene *scene) {
    pthread_mutex_lock(&scene->pantry->lock);
    const bough_status status = fill_pantry(ctx, scene);
    pthread_mutex_unlock(&scene->pantry->lock);
    return status;
}

/* ---- the model ---- */

static bough_part_def describe(const bo_part *part) {
    bough_part_def def = bough_default_part_def();
    def.name = part->name;
    def.component = part->component;
    def.parent = part->parent;
    def.interface_index = part->interface_index;
    memcpy(def.rotation, part->rotation.m, sizeof def.rotation);
    memcpy(def.position, part->position, sizeof def.position);
    def.scale = part->scale;
    def.stiffness = part->stiffness;
    if (part->has_damping) {
        def.damping_mass = part->damping_mass;
        def.damping_stiffness = part->damping_stiffness;
    }
    def.damping_ratio = part->damping_ratio;
    def.absent = part->absent;
    def.track = part->track;
    memcpy(def.offset, part->offset, sizeof def.offset);
    def.joint = part->joint;
    def.free = part->flies;
    def.locked = part->locked;
    return def;
}

static bough_status make_model(bough_context *ctx, const bough_scene *scene, const bough_tree_model_def *settings,
                               const bough_component **components, bough_part_def *parts, bough_tree_model **model) {
    const bo_assembly *assembly = &scene->plan->assembly;
    if (!components || !parts)
        return BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < assembly->component_count; c++)
        components[c] = bo_scene_component_at(scene, c);
    for (int32_t p = 0; p < assembly->part_count; p++)
        parts[p] = describe(&assembly->parts[p]);
    bough_tree_model_def def = *settings;
    memcpy(def.gravity, scene->gravity, sizeof def.gravity);
    def.component_count = assembly->component_count;
    def.components = components;
    def.part_count = assembly->part_count;
    def.parts = parts;
    def.tie_count = assembly->tie_count;
    def.ties = assembly->ties;
    return bough_tree_model_create(ctx, &def, model);
}

bough_status bo_scene_model(bough_context *ctx, const bough_scene *scene, const bough_tree_model_def *settings,
                            bough_tree_model **model) {
    *model = NULL;
    if (scene->mechanism)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: is a mechanism, and the tree engine steps scenes of parts only; bough run steps it",
                       scene->path);
    if (scene->plan && scene->kind != &bo_parts_scene)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: has %s, and the tree engine steps scenes of parts only",
                       scene->path, scene->kind->things);
    if (!scene->plan)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: the scene has one body and no parts, so that the tree engine has nothing to step; give it "
                       "\"components\" and \"parts\", or an \"object\" with domains",
                       scene->path);
    if (scene->plan->assembly.part_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s: the scene has components, but no parts; list some under \"parts\"",
                       scene->path);
    BO_TRY(bo_scene_cook(ctx, scene));
    const bough_component **components =
        BO_NEW_ARRAY(ctx, const bough_component *, scene->plan->assembly.component_count);
    bough_part_def *parts = BO_NEW_ARRAY(ctx, bough_part_def, scene->plan->assembly.part_count);
    bough_status status = make_model(ctx, scene, settings, components, parts, model);
    bo_free(ctx, components);
    bo_free(ctx, parts);
    if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY)
        bo_prefix_message(ctx, "%s: ", scene->path);
    return status;
}

bough_status bough_scene_model(bough_context *ctx, const bough_scene *scene, bough_tree_model **model) {
    return bo_scene_model(ctx, scene, &scene->model, model);
}

bough_status bough_scene_touch(bough_context *ctx, const bough_scene *scene, const bough_tree_model *model,
                               bough_tree_state *state) {
    return scene->tree.touch ? bo_tree_state_touch(ctx, model, state, scene->tree.touch) : BOUGH_OK;
}
