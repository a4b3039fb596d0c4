#include "scene/component_file.h"

#include "base/file.h"
#include "fem/body.h"
#include "mesh/mesh.h"
#include "scene/entries.h"
#include "scene/scene.h"

#include <string.h>

/* ---- the hash of the inputs ---- */

enum { COOKING = 6 }; /* grows when the same inputs become another component */

static uint64_t hash_text(uint64_t hash, const char *text) {
    return bo_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_count(uint64_t hash, uint64_t count) {
    return bo_hash_bytes(hash, &count, sizeof count);
}

static uint64_t hash_number(uint64_t hash, double value) {
    value += 0.0; /* -0 is 0 */
    return bo_hash_bytes(hash, &value, sizeof value);
}

/* Hashes the meaning of a JSON value: 20 is 20.0, the order of keys says nothing, and "$schema" is for editors. */
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

/* Those that the block does not describe: they follow from a domain's neighbours. */
static uint64_t hash_interfaces(uint64_t hash, const bough_cook_def *def) {
    for (int32_t i = 0; i < def->interface_count; i++) {
        const bough_interface_def *interface = &def->interfaces[i];
        hash = hash_count(hash_text(hash, interface->name), i == def->parent);
        hash = bo_hash_bytes(hash_count(hash, (size_t)interface->vertex_count), interface->vertices,
                             (size_t)interface->vertex_count * sizeof *interface->vertices);
        if (interface->weights)
            hash =
                bo_hash_bytes(hash, interface->weights, (size_t)interface->vertex_count * sizeof *interface->weights);
    }
    return hash;
}

static uint64_t hash_inputs(const bo_json *root, const bough_cook_job *job) {
    const bough_cook_def *def = &job->def;
    const bough_mesh *mesh = bough_body_mesh(job->body);
    size_t row = 3 * (size_t)mesh->vertex_count * sizeof(double);
    uint64_t hash = hash_count(hash_text(BO_HASH_START, bough_version()), COOKING);
    hash = hash_value(hash, root->value);
    if (!bo_json_has(root, "interfaces"))
        hash = hash_interfaces(hash, def);
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
    uint32_t basis = def->basis ? def->basis : BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES | BOUGH_BASIS_WRENCHES;
    for (int32_t i = 0; !def->basis && i < def->interface_count; i++)
        basis |= def->interfaces[i].has_load ? BOUGH_BASIS_LOADED : 0;
    return basis;
}

static json_t *describe_options(const bough_cook_def *def) {
    static const char *const elastic[] = {"automatic", "rigid", "linear", "polynomial", "cubature"};
    char kind[BO_BASIS_TEXT_SIZE];
    bo_basis_text(resolved_basis(def), kind);
    return json_pack("{s:i, s:s, s:i, s:f, s:b, s:s, s:f, s:i, s:i, s:f, s:I, s:i, s:i, s:i, s:i, s:i, s:b}", "r",
                     def->r, "kind", def->r ? kind : "rigid", "modes",
                     def->mode_count ? def->mode_count : (def->r + 1) / 2, "tolerance", def->tolerance, "keep_boundary",
                     (int)def->keep_boundary, "elastic", elastic[def->elastic + 1], "cubature_tolerance",
                     def->cubature_tolerance, "points", def->cubature_most, "training", def->training_count,
                     "amplitude", def->pose_amplitude, "seed", (json_int_t)def->seed, "wind", def->wind_count,
                     "contact", def->contact_count, "stress", def->stress_count, "stress_elements",
                     def->stress_element_count, "field", def->field_count, "int16", (int)def->surface_int16);
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
    bo_free(ctx, job->provenance); /* loads came */
    job->provenance = NULL;
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
    json_t *value = bo_json_parse(changes, strlen(changes), &error);
    if (!json_is_object(value)) {
        json_decref(value);
        return bo_fail(root->ctx, BOUGH_ERROR_ARGUMENT, "the changes to %s are not a JSON object", root->file);
    }
    int failed = json_object_update_recursive(root->value, value);
    json_decref(value);
    return failed ? bo_fail_memory(root->ctx) : BOUGH_OK;
}

/* A block of a scene has the name of its key. */
static bough_status read_name(const bo_json *root, bough_cook_job *job) {
    const char *name = root->key, *file = file_name(job->file), *dot = strrchr(file, '.');
    BO_TRY(bo_json_string(bo_json_at(root, "name"), &name));
    job->name = name ? bo_strdup(root->ctx, name)
                     : bo_strndup(root->ctx, file, dot && dot > file ? (size_t)(dot - file) : strlen(file));
    return job->name ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* First everything is checked that needs no mesh; then comes the work. */
static bough_status read_component(const bo_json *root, bough_cook_job *job) {
    if (!root->parent &&
        (bo_json_has(root, "components") || bo_json_has(root, "object") || bo_json_has(root, "objects")))
        return bo_json_fail(*root, "is a scene of several components, not a component file");
    if (!root->parent)
        BO_TRY(bo_refuse_mechanism(root));
    if (!root->parent && (bo_json_has(root, "time") || bo_json_has(root, "engine") || bo_json_has(root, "probes")))
        return bo_json_fail(*root,
                            "is a scene of one body, which bough run steps; cook wants a component file (the body "
                            "without \"time\", \"engine\" and \"probes\", with \"interfaces\" and \"basis\")");
    BO_TRY(root->parent ? bo_json_keys(*root, BO_COMPONENT_BLOCK_KEYS) : bo_json_keys(*root, BO_COMPONENT_KEYS));
    BO_TRY(bo_scene_version(*root));
    BO_TRY(read_name(root, job));
    BO_TRY(bo_component_settings(root, job));
    BO_TRY(bo_scene_body(root, NULL, &job->body, &job->load_case));
    BO_TRY(bo_component_settings(root, job));
    /* Rigid components without interfaces, and all in scenes, are meant to fly: stones, balls, letters. */
    if (!root->parent && job->def.interface_count == 0 && job->def.r > 0 && !bo_json_has(root, "fix"))
        bo_warn(root->ctx,
                "%s: has neither \"interfaces\" nor \"fix\": the component will fly free, and nothing can be attached "
                "to it",
                job->file);
    else if (job->def.parent < 0 && job->def.interface_count > 0 && !bo_json_has(root, "fix"))
        bo_warn(root->ctx,
                "%s: has no \"fix\", no \"parent\" and no interface called \"base\": the component will fly free",
                job->file);
    return bo_cook_job_seal(root, job);
}

bough_status bo_cook_job_seal(const bo_json *block, bough_cook_job *job) {
    job->def.input_hash = hash_inputs(block, job);
    return write_provenance(block->ctx, job);
}

bough_cook_job *bo_cook_job_new(bough_context *ctx, const char *file, const char *name) {
    bough_cook_job *job = BO_NEW(ctx, bough_cook_job);
    if (!job)
        return NULL;
    job->def = bough_default_cook_def();
    job->file = bo_strdup(ctx, file);
    job->name = name ? bo_strdup(ctx, name) : NULL;
    if (job->file && (job->name || !name))
        return job;
    bough_cook_job_destroy(ctx, job);
    return NULL;
}

static bough_status create_job(const bo_json *root, const char *file, bool loads_follow, bough_cook_job **out) {
    bough_cook_job *job = bo_cook_job_new(root->ctx, file, NULL);
    if (!job)
        return BOUGH_ERROR_MEMORY;
    job->loads_follow = loads_follow;
    bough_status status = read_component(root, job);
    if (status == BOUGH_OK)
        *out = job;
    else
        bough_cook_job_destroy(root->ctx, job);
    return status;
}

static bough_status load_job(bough_context *ctx, const char *path, const char *changes, bool loads_follow,
                             bough_cook_job **out) {
    *out = NULL;
    bo_json root;
    bool json = bo_equal_ignoring_case(bo_path_extension(path), "json");
    BO_TRY(json ? bo_json_load(ctx, path, &root) : describe_bare_mesh(ctx, path, &root));
    bough_status status = BOUGH_OK;
    if (changes && json_is_object(root.value))
        status = apply_changes(&root, changes);
    if (status == BOUGH_OK)
        status = create_job(&root, path, loads_follow, out);
    bo_json_free(&root);
    return status;
}

bough_status bough_cook_job_load(bough_context *ctx, const char *path, const char *changes, bough_cook_job **out) {
    return load_job(ctx, path, changes, false, out);
}

bough_status bo_cook_job_from_file(bough_context *ctx, const char *path, bough_cook_job **out) {
    return load_job(ctx, path, NULL, true, out);
}

bough_status bo_cook_job_from_block(const bo_json *block, bough_cook_job **out) {
    *out = NULL;
    size_t size = strlen(block->file) + strlen(block->key) + 32;
    char *place = BO_NEW_ARRAY(block->ctx, char, size);
    if (!place)
        return BOUGH_ERROR_MEMORY;
    snprintf(place, size, "%s: %s.%s", block->file, block->parent->key, block->key);
    bough_status status = create_job(block, place, true, out);
    bo_free(block->ctx, place);
    return status;
}

/* ---- stress points ---- */

bough_status bo_cook_job_add_stress_element(bough_context *ctx, bough_cook_job *job, int32_t element) {
    const int32_t count = job->def.stress_element_count;
    int32_t *elements = BO_NEW_ARRAY(ctx, int32_t, count + 1);
    if (!elements)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        elements[i] = job->stress_elements[i];
    elements[count] = element;
    job->def.stress_element_count = bo_sort_unique(elements, count + 1);
    if (job->def.stress_element_count > count)
        job->def.input_hash = hash_count(job->def.input_hash, (size_t)element);
    bo_free(ctx, job->stress_elements);
    job->def.stress_elements = job->stress_elements = elements;
    return BOUGH_OK;
}

/* ---- what hangs at the interfaces ---- */

static uint64_t hash_load(uint64_t hash, int32_t interface, const bough_inertia *load) {
    hash = hash_number(hash_count(hash, (size_t)interface), load->mass);
    for (int d = 0; d < 3; d++)
        hash = hash_number(hash, load->moment[d]);
    for (int d = 0; d < 9; d++)
        hash = hash_number(hash, load->inertia[d]);
    return hash;
}

bough_status bo_cook_job_add_loads(bough_context *ctx, bough_cook_job *job, const bough_inertia *loads) {
    bool any = false;
    for (int32_t i = 0; i < job->def.interface_count; i++) {
        bough_interface_def *interface = &job->interfaces[i];
        if (!interface->has_load && i != job->def.parent && loads[i].mass > 0) {
            interface->has_load = true;
            interface->load = loads[i];
            job->def.input_hash = hash_load(job->def.input_hash, i, &loads[i]);
        }
        any = any || interface->has_load;
    }
    const bool carries = job->def.interface_count > (job->def.parent >= 0);
    if (!any && carries && (job->def.basis & BOUGH_BASIS_LOADED))
        bo_warn(ctx, "%s: nothing hangs at its interfaces, so that mass-loaded modes are plain ones", job->file);
    return write_provenance(ctx, job);
}

/* ---- what is around it ---- */

void bo_cook_around_free(bough_context *ctx, bo_cook_around *around) {
    bough_load_case_destroy(ctx, around->load_case);
    bough_body_destroy(ctx, around->body);
    bo_free(ctx, around->vertices);
    bo_free(ctx, around->owner);
    bo_free(ctx, around->pulled);
    bo_free(ctx, around->beside);
    *around = (bo_cook_around){0};
}

void bo_cook_job_surround(bough_cook_job *job) {
    const bough_mesh *mesh = bough_body_mesh(job->around.body);
    uint64_t hash = bo_hash_mesh(hash_count(job->def.input_hash, (size_t)mesh->element_count), mesh);
    hash = bo_hash_bytes(hash, job->around.body->element_material, (size_t)mesh->element_count * sizeof(int32_t));
    hash = bo_hash_bytes(hash, job->around.owner, (size_t)mesh->element_count * sizeof *job->around.owner);
    job->def.input_hash = bo_hash_bytes(hash, job->around.load_case->fixed, 3 * (size_t)mesh->vertex_count);
    job->surroundings = (bough_cook_surroundings){.body = job->around.body,
                                                  .load_case = job->around.load_case,
                                                  .vertices = job->around.vertices,
                                                  .owner = job->around.owner,
                                                  .pulled = job->around.pulled,
                                                  .beside = job->around.beside};
    job->def.surroundings = &job->surroundings;
}

void bough_cook_job_destroy(bough_context *ctx, bough_cook_job *job) {
    if (!job)
        return;
    for (int32_t i = 0; i < job->def.interface_count; i++) {
        bo_free(ctx, (void *)job->interfaces[i].name);
        bo_free(ctx, (void *)job->interfaces[i].vertices);
        bo_free(ctx, (void *)job->interfaces[i].weights);
    }
    bo_cook_around_free(ctx, &job->around);
    bo_free(ctx, job->interfaces);
    bo_free(ctx, job->stress_elements);
    bo_free(ctx, job->snapshots);
    bo_free(ctx, job->columns);
    bo_free(ctx, job->provenance);
    bo_free(ctx, job->resume_path);
    bo_free(ctx, job->name);
    bo_free(ctx, job->file);
    bough_mesh_destroy(ctx, job->surface);
    bough_load_case_destroy(ctx, job->load_case);
    bough_body_destroy(ctx, job->body);
    bo_free(ctx, job);
}

const char *bough_cook_job_name(const bough_cook_job *job) {
    return job->name;
}

const bough_body *bough_cook_job_body(const bough_cook_job *job) {
    return job->body;
}

const bough_load_case *bough_cook_job_load_case(const bough_cook_job *job) {
    return job->load_case;
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

/* Warnings of cooking with the name of the file or block. */
typedef struct {
    const char *file;
    bough_context_def own; /* what the context had */
} named_warnings;

static void warn_with_name(void *user, const char *sentence) {
    const named_warnings *names = user;
    char text[BO_MESSAGE_SIZE + 512];
    snprintf(text, sizeof text, "%.500s: %s", names->file, sentence);
    names->own.warn(names->own.warn_user, text);
}

bough_status bo_cook_job_run_as(bough_context *ctx, const bough_cook_job *job, const bough_cook_def *def, double *times,
                                bough_component **component) {
    named_warnings names = {job->file, ctx->def};
    if (ctx->def.warn)
        ctx->def.warn = warn_with_name, ctx->def.warn_user = &names;
    bough_status status = bough_cook(ctx, job->body, job->load_case, def, times, component);
    ctx->def.warn = names.own.warn, ctx->def.warn_user = names.own.warn_user;
    if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY && status != BOUGH_CANCELLED)
        bo_prefix_message(ctx, "%s: ", job->file);
    return status == BOUGH_ERROR_ARGUMENT ? BOUGH_ERROR_FORMAT : status; /* the file is where it was written */
}

bough_status bough_cook_job_run(bough_context *ctx, const bough_cook_job *job, double *times,
                                bough_component **component) {
    return bo_cook_job_run_as(ctx, job, &job->def, times, component);
}
