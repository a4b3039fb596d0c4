#include "scene/component_file.h"

#include "base/file.h"
#include "scene/entries.h"
#include "scene/scene.h"

#include <string.h>

/* ---- the hash of the inputs ---- */

static uint64_t hash_text(uint64_t hash, const char *text) {
    return bo_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_count(uint64_t hash, size_t count) {
    uint64_t wide = count;
    return bo_hash_bytes(hash, &wide, sizeof wide);
}

static uint64_t hash_number(uint64_t hash, double value) {
    value += 0.0; /* -0 is 0 */
    return bo_hash_bytes(hash, &value, sizeof value);
}

/* What a JSON value means: 20 is 20.0, the order of keys says nothing, and "$schema" is for editors. */
static uint64_t hash_value(uint64_t hash, json_t *value) {
    const char *key;
    size_t index;
    json_t *child;
    hash = hash_count(hash, json_is_integer(value) ? JSON_REAL : json_typeof(value));
    if (json_is_string(value))
        return hash_text(hash, json_string_value(value));
    if (json_is_number(value))
        return hash_number(hash, json_number_value(value));
    hash = hash_count(hash, json_array_size(value));
    json_array_foreach(value, index, child) {
        hash = hash_value(hash, child);
    }
    uint64_t members = 0; /* a sum, since that has no order */
    json_object_foreach(value, key, child) {
        if (strcmp(key, "$schema"))
            members += hash_value(hash_text(BO_HASH_START, key), child);
    }
    return hash_count(hash, members);
}

/* All that a file can say about a mesh. What counts is the mesh, not the bytes of the file, so that formats of several
 * files and meshes made by other programs need no special care. */
static uint64_t hash_whole_mesh(uint64_t hash, const bough_mesh *mesh) {
    hash = hash_count(hash_count(hash, mesh->type), (size_t)mesh->vertex_count);
    hash = bo_hash_mesh(hash_count(hash, (size_t)mesh->element_count), mesh);
    for (int32_t i = 0; i < mesh->set_count; i++) {
        const bough_set *set = &mesh->sets[i];
        hash = hash_count(hash_count(hash_text(hash, set->name), set->kind), (size_t)set->count);
        hash = bo_hash_bytes(hash, set->items, (size_t)set->count * sizeof *set->items);
    }
    for (int32_t i = 0; i < mesh->material_count; i++) {
        const bough_mesh_material *material = &mesh->materials[i];
        hash = hash_number(hash_number(hash_number(hash, material->young), material->poisson), material->density);
    }
    for (int32_t i = 0; i < mesh->region_count; i++)
        hash = hash_count(hash_text(hash, mesh->regions[i].set), (size_t)mesh->regions[i].material);
    return hash;
}

static uint64_t hash_inputs(const bo_json *root, const bough_cook_job *job) {
    const bough_cook_def *def = &job->def;
    const bough_mesh *mesh = bough_body_mesh(job->body);
    size_t row = 3 * (size_t)mesh->vertex_count * sizeof(double);
    uint64_t hash = hash_value(hash_text(BO_HASH_START, bough_version()), root->value);
    hash = hash_whole_mesh(hash, mesh);
    if (job->surface)
        hash = hash_whole_mesh(hash, job->surface);
    hash = bo_hash_bytes(hash, job->snapshots, (size_t)def->snapshot_count * row);
    return bo_hash_bytes(hash, job->columns, (size_t)def->column_count * row);
}

/* ---- provenance ---- */

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static json_t *hexadecimal(uint64_t hash) {
    return json_sprintf("%016llx", (unsigned long long)hash);
}

static json_t *valid_text(const char *text) {
    json_t *string = json_string(text);
    return string ? string : json_string("(not UTF-8)");
}

static uint32_t resolved_basis(const bough_cook_def *def) {
    uint32_t basis = def->basis ? def->basis : BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES;
    for (int32_t i = 0; !def->basis && i < def->interface_count; i++)
        basis |= def->interfaces[i].has_load ? BOUGH_BASIS_LOADED : 0;
    return basis;
}

static json_t *describe_options(const bough_cook_def *def) {
    static const char *const elastic[] = {"automatic", "rigid", "linear", "polynomial", "cubature"};
    char kind[BO_BASIS_TEXT_SIZE];
    bo_basis_text(resolved_basis(def), kind);
    return json_pack("{s:i, s:s, s:i, s:f, s:b, s:s, s:f, s:i, s:i, s:f, s:I, s:i, s:i, s:i, s:i, s:b}", "r", def->r,
                     "kind", def->r ? kind : "rigid", "modes", def->mode_count ? def->mode_count : (def->r + 1) / 2,
                     "tolerance", def->tolerance, "keep_boundary", (int)def->keep_boundary, "elastic",
                     elastic[def->elastic + 1], "cubature_tolerance", def->cubature_tolerance, "points",
                     def->cubature_most, "training", def->training_count, "amplitude", def->pose_amplitude, "seed",
                     (json_int_t)def->seed, "wind", def->wind_count, "contact", def->contact_count, "stress",
                     def->stress_count, "stress_elements", def->stress_element_count, "int16", (int)def->surface_int16);
}

static json_t *describe_mesh(const bough_mesh *mesh) {
    return json_pack("{s:s, s:i, s:i, s:o}", "type", bough_element_name(mesh->type), "vertices", mesh->vertex_count,
                     "elements", mesh->element_count, "hash", hexadecimal(hash_whole_mesh(BO_HASH_START, mesh)));
}

static bough_status write_provenance(bough_context *ctx, bough_cook_job *job) {
    json_t *root = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "program", "bough", "version", bough_version(),
                             "name", valid_text(job->name), "file", valid_text(file_name(job->file)), "mesh",
                             describe_mesh(bough_body_mesh(job->body)), "input_hash", hexadecimal(job->def.input_hash),
                             "options", describe_options(&job->def));
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(9);
    size_t size = root ? json_dumpb(root, NULL, 0, flags) : 0;
    bough_status status = size ? BOUGH_OK : bo_fail_memory(ctx);
    if (size && !(job->provenance = BO_NEW_ZEROS(ctx, char, size + 1)))
        status = BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        json_dumpb(root, job->provenance, size, flags);
    json_decref(root);
    job->def.provenance = job->provenance;
    return status;
}

/* ---- the file ---- */

/* A mesh alone is a component file that says nothing else. */
static bough_status describe_bare_mesh(bough_context *ctx, const char *path, bo_json *root) {
    *root = (bo_json){.ctx = ctx, .file = path};
    root->value = json_pack("{s:i, s:{s:s}}", "bough", BO_SCENE_VERSION, "mesh", "file", file_name(path));
    if (!root->value)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: the name of the file is not valid UTF-8", path);
    return BOUGH_OK;
}

static bough_status apply_changes(bo_json *root, const char *changes) {
    json_error_t error;
    json_t *value = json_loads(changes, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(value)) {
        json_decref(value);
        return bo_fail(root->ctx, BOUGH_ERROR_ARGUMENT, "the changes to %s are not a JSON object", root->file);
    }
    int failed = json_object_update_recursive(root->value, value);
    json_decref(value);
    return failed ? bo_fail_memory(root->ctx) : BOUGH_OK;
}

static bough_status read_name(const bo_json *root, bough_cook_job *job) {
    const char *name = NULL, *file = file_name(job->file), *dot = strrchr(file, '.');
    BO_TRY(bo_json_string(bo_json_at(root, "name"), &name));
    job->name = name ? bo_strdup(root->ctx, name)
                     : bo_strndup(root->ctx, file, dot && dot > file ? (size_t)(dot - file) : strlen(file));
    return job->name ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* First everything is checked that needs no mesh; then comes the work. */
static bough_status read_component(const bo_json *root, bough_cook_job *job) {
    if (bo_json_has(root, "components")) /* planned: cook all components of a scene */
        return bo_json_fail(bo_json_at(root, "components"), "scenes of several components cannot be cooked yet; put "
                                                            "each component into a file of its own");
    BO_TRY(bo_json_keys(*root, BO_COMPONENT_KEYS));
    BO_TRY(bo_scene_version(*root));
    BO_TRY(read_name(root, job));
    BO_TRY(bo_component_settings(root, job));
    BO_TRY(bo_scene_body(root, NULL, &job->body));
    BO_TRY(bo_component_settings(root, job));
    if (job->def.interface_count == 0 && !bo_json_has(root, "fix"))
        bo_warn(root->ctx,
                "%s: has neither \"interfaces\" nor \"fix\": the component will fly free, and nothing can be attached "
                "to it",
                job->file);
    job->def.input_hash = hash_inputs(root, job);
    return write_provenance(root->ctx, job);
}

static bough_status create_job(bough_context *ctx, const char *path, bo_json *root, const char *changes,
                               bough_cook_job **out) {
    bough_cook_job *job = BO_NEW(ctx, bough_cook_job);
    if (!job)
        return BOUGH_ERROR_MEMORY;
    job->def = bough_default_cook_def();
    job->file = bo_strdup(ctx, path);
    bough_status status = job->file ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK && changes && json_is_object(root->value))
        status = apply_changes(root, changes);
    if (status == BOUGH_OK)
        status = read_component(root, job);
    if (status == BOUGH_OK)
        *out = job;
    else
        bough_cook_job_destroy(ctx, job);
    return status;
}

bough_status bough_cook_job_load(bough_context *ctx, const char *path, const char *changes, bough_cook_job **out) {
    *out = NULL;
    bo_json root;
    bool json = bo_equal_ignoring_case(bo_path_extension(path), "json");
    BO_TRY(json ? bo_json_load(ctx, path, &root) : describe_bare_mesh(ctx, path, &root));
    bough_status status = create_job(ctx, path, &root, changes, out);
    bo_json_free(&root);
    return status;
}

void bough_cook_job_destroy(bough_context *ctx, bough_cook_job *job) {
    if (!job)
        return;
    for (int32_t i = 0; i < job->def.interface_count; i++) {
        bo_free(ctx, (void *)job->interfaces[i].name);
        bo_free(ctx, (void *)job->interfaces[i].vertices);
    }
    bo_free(ctx, job->interfaces);
    bo_free(ctx, job->stress_elements);
    bo_free(ctx, job->snapshots);
    bo_free(ctx, job->columns);
    bo_free(ctx, job->provenance);
    bo_free(ctx, job->resume_path);
    bo_free(ctx, job->name);
    bo_free(ctx, job->file);
    bough_mesh_destroy(ctx, job->surface);
    bough_body_destroy(ctx, job->body);
    bo_free(ctx, job);
}

const char *bough_cook_job_name(const bough_cook_job *job) {
    return job->name;
}

bough_body *bough_cook_job_body(const bough_cook_job *job) {
    return job->body;
}

const bough_cook_def *bough_cook_job_def(const bough_cook_job *job) {
    return &job->def;
}

bough_status bough_cook_job_set_resume_path(bough_context *ctx, bough_cook_job *job, const char *path) {
    char *copy = path ? bo_strdup(ctx, path) : NULL;
    if (path && !copy)
        return BOUGH_ERROR_MEMORY;
    bo_free(ctx, job->resume_path);
    job->def.resume_path = job->resume_path = copy;
    return BOUGH_OK;
}

bough_status bough_cook_job_run(bough_context *ctx, bough_cook_job *job, double *times, bough_component **component) {
    bough_status status = bough_cook(ctx, job->body, &job->def, times, component);
    if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY && status != BOUGH_CANCELLED)
        bo_prefix_message(ctx, "%s: ", job->file);
    return status == BOUGH_ERROR_ARGUMENT ? BOUGH_ERROR_FORMAT : status; /* the file is where it was written */
}
