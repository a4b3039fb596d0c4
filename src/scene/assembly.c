#include "scene/assembly.h"

#include "fem/engine.h"

#include "base/file.h"
#include "base/jobs.h"
#include "scene/entries.h"
#include "scene/multibody_scene.h"
#include "scene/scene.h"

#include <string.h>

bool bo_is_assembly(const bo_json *root) {
    return bo_json_has(root, "components") || bo_json_has(root, "parts") || bo_json_has(root, "object") ||
           bo_json_has(root, "objects") || bo_json_has(root, "place");
}

void bo_assembly_free(bough_context *ctx, bo_assembly *assembly) {
    for (int32_t i = 0; i < assembly->component_count; i++) {
        bo_free(ctx, assembly->components[i].name);
        bough_cook_job_destroy(ctx, assembly->components[i].job);
        bough_component_destroy(ctx, assembly->components[i].rigid);
    }
    for (int32_t i = 0; i < assembly->part_count; i++) {
        bo_free(ctx, assembly->parts[i].name);
        bo_free(ctx, (void *)assembly->parts[i].track.time);
        bo_free(ctx, assembly->parts[i].joint);
    }
    for (int32_t i = 0; i < assembly->tie_count; i++)
        bo_free(ctx, (void *)assembly->ties[i].name);
    bo_free(ctx, assembly->ties);
    bo_free(ctx, assembly->components);
    bo_free(ctx, assembly->parts);
    *assembly = (bo_assembly){0};
}

/* ---- components ---- */

static bough_status name_components(bo_json at, bo_assembly *assembly) {
    const char *key;
    json_t *value;
    if (!json_is_object(at.value))
        return bo_json_fail(at, "must be an object of named components");
    if (json_object_size(at.value) == 0)
        return bo_json_fail(at, "names no component");
    assembly->components = BO_NEW_ZEROS(at.ctx, bo_scene_component, json_object_size(at.value));
    if (!assembly->components)
        return BOUGH_ERROR_MEMORY;
    json_object_foreach(at.value, key, value) {
        bo_json item = bo_json_at(&at, key);
        if (!key[0])
            return bo_json_fail(item, "a component needs a name");
        if (!json_is_object(value))
            return bo_json_fail(item, "must be an object");
        if (!(assembly->components[assembly->component_count].name = bo_strdup(at.ctx, key)))
            return BOUGH_ERROR_MEMORY;
        assembly->component_count++;
    }
    return BOUGH_OK;
}

/* A file beside the scene, which is a finished component or says how to cook one. */
static bough_status load_component(bo_json at, bool finished, bo_scene_component *component) {
    const char *name = NULL;
    BO_TRY(bo_json_string(at, &name));
    char *path = bo_path_beside(at.ctx, at.file, name);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    bough_status status = finished ? bough_component_load(at.ctx, path, &component->rigid)
                                   : bo_cook_job_from_file(at.ctx, path, &component->job);
    bo_free(at.ctx, path);
    return bo_json_explain(at, status);
}

static bough_status read_component(bo_json at, bo_scene_component *component) {
    if (bo_json_has(&at, "cook")) {
        BO_TRY(bo_json_keys(at, BO_COOK_COMPONENT_KEYS));
        return load_component(bo_json_at(&at, "cook"), false, component);
    }
    if (bo_json_has(&at, "file")) {
        BO_TRY(bo_json_keys(at, BO_READY_COMPONENT_KEYS));
        return load_component(bo_json_at(&at, "file"), true, component);
    }
    return bo_cook_job_from_block(&at, &component->job);
}

static bough_status read_components(bo_json at, bo_assembly *assembly) {
    for (int32_t i = 0; i < assembly->component_count; i++)
        BO_TRY(read_component(bo_json_at(&at, assembly->components[i].name), &assembly->components[i]));
    return BOUGH_OK;
}

/* ---- inertia and interfaces of each, before anything is cooked ---- */

static bough_status measure_one(bough_context *ctx, void *data, int32_t index) {
    const bo_assembly *assembly = data;
    bo_scene_component *component = &assembly->components[index];
    if (!component->job)
        return BOUGH_OK;
    bough_cook_def def = component->job->def;
    const int32_t contact_count = assembly->keeps_samples ? def.contact_count : 0;
    def.r = 0;
    def.basis = 0;
    def.tolerance = 0;
    def.elastic = -1;
    def.wind_count = def.stress_count = def.stress_element_count = def.field_count = 0;
    def.contact_count = contact_count;
    def.surroundings = NULL;
    def.surface = NULL;
    def.wire = def.keep_volume = false;
    def.provenance = def.resume_path = NULL;
    return bo_cook_job_run_as(ctx, component->job, &def, NULL, &component->rigid);
}

static bough_status measure(bough_context *ctx, bo_assembly *assembly) {
    return bo_run_jobs(ctx, measure_one, assembly, assembly->component_count, "measuring");
}

/* ---- the file ---- */

bough_status bo_assembly_of_object(bo_json object, bo_assembly *assembly) {
    BO_TRY(bo_object_read(object, assembly));
    BO_TRY(measure(object.ctx, assembly));
    for (int32_t p = 0; p < assembly->part_count; p++) /* roots stay where the mesh has them */
        if (assembly->parts[p].parent < 0)
            memcpy(assembly->parts[p].position, assembly->components[p].rigid->origin, 3 * sizeof(double));
    return BOUGH_OK;
}

bough_status bo_assembly_of_components(const bo_json *holder, bo_assembly *assembly) {
    bo_json components = bo_json_at(holder, "components");
    BO_TRY(name_components(components, assembly));
    BO_TRY(read_components(components, assembly));
    return measure(holder->ctx, assembly);
}

bough_status bo_assembly_of_parts(const bo_json *holder, bo_assembly *assembly) {
    bo_json components = bo_json_must(holder, "components"), parts = bo_json_at(holder, "parts");
    if (!components.value)
        return bo_json_fail(*holder, "\"components\" is missing");
    BO_TRY(name_components(components, assembly));
    BO_TRY(bo_parts_read(parts, assembly));
    BO_TRY(read_components(components, assembly));
    if (assembly->part_count == 0 && !bo_json_has(holder, "objects"))
        return BOUGH_OK;
    BO_TRY(measure(holder->ctx, assembly));
    return bo_parts_attach(parts, assembly);
}

static bough_status read_object(const bo_json *root, bo_assembly *assembly) {
    static const char *const others[] = {"components", "parts", "objects", "place"};
    for (int i = 0; i < 4; i++)
        if (bo_json_has(root, others[i]))
            return bo_json_fail(bo_json_at(root, others[i]),
                                "the scene has an \"object\", whose domains are its components and parts; several go "
                                "under \"objects\"");
    BO_TRY(bo_assembly_of_object(bo_json_at(root, "object"), assembly));
    assembly->is_object = true;
    return bo_assembly_hang(root->ctx, assembly);
}

static bough_status read_assembly(const bo_json *root, bo_assembly *assembly) {
    if (bo_json_has(root, "place"))
        return bo_json_fail(bo_json_at(root, "place"), "there are no \"objects\" to be placed");
    BO_TRY(bo_assembly_of_parts(root, assembly));
    return assembly->part_count ? bo_assembly_hang(root->ctx, assembly) : BOUGH_OK;
}

bool bo_assembly_needs_exact(const bo_assembly *assembly) {
    bool jointed = false;
    for (int32_t p = 0; p < assembly->part_count && !jointed; p++)
        jointed = assembly->parts[p].joint != NULL;
    return jointed || assembly->tie_count > 0;
}

/* Told here, and not when the scene is stepped. */
static bough_status check_engine(const bo_json *root, const bough_scene *scene, const bo_assembly *assembly) {
    bo_json engine = bo_json_at(root, "engine");
    if (!bo_assembly_needs_exact(assembly))
        return BOUGH_OK;
    if (scene->engine->kind == &bo_body_engine)
        return bo_json_fail(bo_json_at(&engine, "kind"), "the full engine steps the mesh as it is, and knows no "
                                                         "\"ties\"; close the loop in the mesh, or use \"tree\"");
    return scene->model.coupling == BOUGH_COUPLING_L3
               ? BOUGH_OK
               : bo_json_fail(bo_json_at(&engine, "coupling"), "joints and ties need the exact coupling, \"L3\"");
}

static bough_status read_all(const bo_json *root, bough_scene *scene, bo_assembly *assembly) {
    BO_TRY(bo_scene_settings(root, scene));
    BO_TRY(bo_json_has(root, "object")    ? read_object(root, assembly)
           : bo_json_has(root, "objects") ? bo_objects_read(root, assembly)
                                          : read_assembly(root, assembly));
    BO_TRY(bo_ties_read(bo_json_at(root, "ties"), assembly));
    BO_TRY(check_engine(root, scene, assembly));
    BO_TRY(bo_paint_read(bo_json_at(root, "paint"), assembly, scene));
    BO_TRY(bo_scene_events(root, assembly, scene));
    BO_TRY(bo_scene_part_forces(bo_json_at(root, "forces"), assembly, scene));
    return bo_scene_part_probes(bo_json_at(root, "probes"), assembly, scene);
}

bough_status bo_assembly_read(const bo_json *root, bough_scene *scene, bo_assembly *assembly) {
    *assembly = (bo_assembly){0};
    if (bo_is_multibody(root))
        return bo_multibody_read(root, scene, assembly);
    if (scene)
        return read_all(root, scene, assembly);
    bough_scene checked = bo_scene_defaults();
    checked.kind = &bo_parts_scene, checked.engine = &bo_parts_scene.engines[0];
    bough_status status = read_all(root, &checked, assembly);
    bo_scene_free_forces(root->ctx, &checked);
    bo_scene_free_probes(root->ctx, &checked);
    bo_scene_free_paint(root->ctx, &checked);
    bo_scene_free_events(root->ctx, &checked);
    bo_drive_free(root->ctx, &checked.drive);
    return status;
}
