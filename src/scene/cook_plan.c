#include "scene/cook_plan.h"

#include "base/file.h"
#include "scene/joints.h"

#include <string.h>

/* ---- where components go ---- */

#define NAME_LIMIT 100 /* bytes of a file name, without number and extension; file systems take 255 */

/* Letters, digits, '.', '-', '_' and what is not ASCII stay; a leading dot would hide the file. */
static void write_safe_name(const char *name, char *out) {
    size_t length = strnlen(name, NAME_LIMIT);
    while (length < strlen(name) && length > 0 && (name[length] & 0xC0) == 0x80)
        length--; /* do not cut a UTF-8 character */
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80);
        out[i] = letter || c == '-' || c == '_' || (c == '.' && i > 0) ? c : '_';
    }
    out[length] = 0;
}

static bool is_taken(const bough_cook_plan *plan, int32_t before, const char *path) {
    for (int32_t i = 0; i < before; i++)
        if (bo_equal_ignoring_case(plan->items[i].output, path)) /* some file systems do not tell a from A */
            return true;
    return false;
}

/* Two names that are the same as file names get numbers. */
static bough_status choose_output(bough_context *ctx, bough_cook_plan *plan, int32_t index) {
    bo_plan_item *item = &plan->items[index];
    char name[NAME_LIMIT + 1];
    size_t size = strlen(plan->folder) + NAME_LIMIT + 32;
    write_safe_name(item->shown.name, name);
    item->output = BO_NEW_ARRAY(ctx, char, size);
    if (!item->output)
        return BOUGH_ERROR_MEMORY;
    snprintf(item->output, size, "%s/%s.bough", plan->folder, name);
    for (int number = 2; is_taken(plan, index, item->output); number++)
        snprintf(item->output, size, "%s/%s-%d.bough", plan->folder, name, number);
    return BOUGH_OK;
}

/* ---- items ---- */

/* Components that are missing, damaged, or of another version are cooked anew. */
static void look_at_output(bough_context *ctx, bo_plan_item *item) {
    bough_component *component;
    if (!bo_file_exists(item->output) || bough_component_load(ctx, item->output, &component) != BOUGH_OK)
        return;
    item->shown.up_to_date = ctx->def.takes_cooked || component->input_hash == item->job->def.input_hash;
    if (item->shown.up_to_date) {
        item->ready = component;
        item->shown.r = component->r;
    } else {
        bough_component_destroy(ctx, component);
    }
}

static bough_status list_items(bough_context *ctx, bough_cook_plan *plan, const char *output) {
    plan->items = BO_NEW_ZEROS(ctx, bo_plan_item, plan->assembly.component_count);
    if (!plan->items)
        return BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < plan->assembly.component_count; c++) {
        const bo_scene_component *component = &plan->assembly.components[c];
        bo_plan_item *item = &plan->items[plan->item_count];
        if (!component->job)
            continue;
        item->job = component->job;
        item->shown.name = component->name;
        item->shown.element_count = bough_body_mesh(item->job->body)->element_count;
        item->shown.r = item->job->def.r;
        plan->item_count++;
        BO_TRY(plan->folder                              ? choose_output(ctx, plan, plan->item_count - 1)
               : (item->output = bo_strdup(ctx, output)) ? BOUGH_OK
                                                         : BOUGH_ERROR_MEMORY);
        item->shown.output = item->output;
        look_at_output(ctx, item);
    }
    return BOUGH_OK;
}

/* ---- loading ---- */

static bough_status read_scene(const bo_json *root, bough_scene *scene, bough_cook_plan *plan) {
    BO_TRY(bo_assembly_read(root, scene, &plan->assembly));
    BO_TRY(bo_json_vec3(bo_json_at(root, "gravity"), BO_ANY, plan->gravity));
    plan->folder = bo_path_replace_extension(root->ctx, root->file, ".cooked");
    return plan->folder ? list_items(root->ctx, plan, NULL) : BOUGH_ERROR_MEMORY;
}

static bough_status load_scene(const bo_json *root, const char *changes, const char *output, bough_cook_plan *plan) {
    if (changes || output)
        return bo_fail(root->ctx, BOUGH_ERROR_ARGUMENT,
                       "%s: is a scene of several components; changes and an output are for one component", root->file);
    return read_scene(root, NULL, plan);
}

static bough_status load_one(bough_context *ctx, const char *path, const char *changes, const char *output,
                             bough_cook_plan *plan) {
    bo_scene_component *component = plan->assembly.components = BO_NEW_ZEROS(ctx, bo_scene_component, 1);
    if (!component)
        return BOUGH_ERROR_MEMORY;
    plan->assembly.component_count = 1;
    BO_TRY(bough_cook_job_load(ctx, path, changes, &component->job));
    component->name = bo_strdup(ctx, component->job->name);
    char *beside = bo_path_replace_extension(ctx, path, ".bough");
    bough_status status =
        component->name && beside ? list_items(ctx, plan, output ? output : beside) : BOUGH_ERROR_MEMORY;
    bo_free(ctx, beside);
    return status;
}

static bough_status load(bough_context *ctx, const char *path, const char *changes, const char *output,
                         bough_cook_plan *plan) {
    if (bo_equal_ignoring_case(bo_path_extension(path), "json")) {
        bo_json root;
        BO_TRY(bo_json_load(ctx, path, &root));
        bool scene = bo_is_assembly(&root);
        bough_status status = scene ? load_scene(&root, changes, output, plan) : BOUGH_OK;
        bo_json_free(&root);
        if (scene)
            return status;
    }
    return load_one(ctx, path, changes, output, plan);
}

bough_status bo_cook_plan_read(const bo_json *root, bough_scene *scene, bough_cook_plan **out) {
    *out = NULL;
    bough_cook_plan *plan = BO_NEW(root->ctx, bough_cook_plan);
    if (!plan)
        return BOUGH_ERROR_MEMORY;
    bough_status status = read_scene(root, scene, plan);
    if (status == BOUGH_OK)
        *out = plan;
    else
        bough_cook_plan_destroy(root->ctx, plan);
    return status;
}

bough_status bough_cook_plan_load(bough_context *ctx, const char *path, const char *changes, const char *output,
                                  bough_cook_plan **out) {
    *out = NULL;
    bough_cook_plan *plan = BO_NEW(ctx, bough_cook_plan);
    if (!plan)
        return BOUGH_ERROR_MEMORY;
    bough_status status = load(ctx, path, changes, output, plan);
    if (status == BOUGH_OK)
        *out = plan;
    else
        bough_cook_plan_destroy(ctx, plan);
    return status;
}

void bough_cook_plan_destroy(bough_context *ctx, bough_cook_plan *plan) {
    if (!plan)
        return;
    for (int32_t i = 0; i < plan->item_count; i++) {
        bough_component_destroy(ctx, plan->items[i].ready);
        bo_free(ctx, plan->items[i].output);
    }
    bo_free(ctx, plan->items);
    bo_free(ctx, plan->folder);
    bo_assembly_free(ctx, &plan->assembly);
    bo_free(ctx, plan);
}

/* ---- looking ---- */

bough_status bough_cook_plan_forecast(bough_context *ctx, bough_cook_plan *plan, bough_joint_forecast *forecast) {
    const bo_assembly *assembly = &plan->assembly;
    *forecast = (bough_joint_forecast){0};
    if (!plan->folder)
        return BOUGH_OK;
    const bough_component **components = BO_NEW_ZEROS(ctx, const bough_component *, assembly->component_count);
    double *share = BO_NEW_ZEROS(ctx, double, assembly->component_count);
    bough_status status = components && share ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t c = 0, item = 0; c < assembly->component_count && status == BOUGH_OK; c++) {
        if (!assembly->components[c].job) {
            components[c] = assembly->components[c].rigid;
            continue;
        }
        bo_plan_item *cooked = &plan->items[item++];
        if (!cooked->ready)
            status = bough_component_load(ctx, cooked->output, &cooked->ready);
        components[c] = cooked->ready;
    }
    if (status == BOUGH_OK)
        status = bo_joints_forecast(ctx, assembly, components, plan->gravity, forecast, share);
    for (int32_t c = 0, item = 0; c < assembly->component_count && status == BOUGH_OK; c++)
        if (assembly->components[c].job) {
            bough_cook_item *shown = &plan->items[item++].shown;
            shown->share = share[c] > 0 ? share[c] : 1; /* 0: of a tree that is too large to look at */
            shown->worst = bough_component_worst_in_scene(components[c], shown->share, &shown->error);
        }
    bo_free(ctx, components);
    bo_free(ctx, share);
    return status;
}

void bough_cook_plan_set_grade(bough_cook_plan *plan, bough_grade grade) {
    plan->grade = grade;
}

const char *bough_cook_plan_folder(const bough_cook_plan *plan) {
    return plan->folder;
}

int32_t bough_cook_plan_count(const bough_cook_plan *plan) {
    return plan->item_count;
}

const bough_cook_item *bough_cook_plan_item(const bough_cook_plan *plan, int32_t index) {
    return index >= 0 && index < plan->item_count ? &plan->items[index].shown : NULL;
}
