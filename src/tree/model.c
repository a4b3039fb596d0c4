/* Models: parts in order, tables of components; states. */
#include "rig/joint.h"
#include "tree/change.h"
#include "tree/couple.h"
#include "tree/groves.h"
#include "tree/ledger.h"
#include "tree/log.h"
#include "tree/paint.h"
#include "tree/system.h"
#include "tree/touch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_COOKIE 0xB0061051u
#define MODEL_COOKIE 0xB0061052u

bough_part_def bough_default_part_def(void) {
    return (bough_part_def){.cookie = PART_COOKIE,
                            .parent = -1,
                            .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                            .scale = 1,
                            .stiffness = 1,
                            .damping_mass = NAN,
                            .damping_stiffness = NAN,
                            .damping_ratio = NAN};
}

bough_tree_model_def bough_default_tree_model_def(void) {
    return (bough_tree_model_def){
        .cookie = MODEL_COOKIE, .coupling = BOUGH_COUPLING_L3, .alpha = -0.05, .wind = bough_default_wind()};
}

bough_wind bough_default_wind(void) {
    return (bough_wind){.gust = 0.5, .length = 10, .density = 1.2, .drag = 1.2, .seed = 1};
}

/* ---- checks ---- */

static bool is_rotation(const double R[9]) {
    for (int k = 0; k < 9; k++) {
        double sum = 0;
        for (int j = 0; j < 3; j++)
            sum += R[3 * (k / 3) + j] * R[3 * (k % 3) + j];
        if (!(fabs(sum - (k / 3 == k % 3)) < 1e-6))
            return false;
    }
    bo_mat3 M;
    memcpy(M.m, R, sizeof M.m);
    return bo_det(M) > 0;
}

static const char *name_of(const bough_part_def *part, char buffer[32], int32_t index) {
    if (part->name && part->name[0])
        return part->name;
    snprintf(buffer, 32, "%d", index);
    return buffer;
}

/* Refuses settings of rig's joints that trees do not have. */
static bough_status check_turning(bough_context *ctx, const char *label, const bough_joint_def *j) {
    for (int k = 0; k < bough_joint_freedoms(j->kind); k++) {
        if (j->stiffness[k] != j->stiffness[0] || j->damping[k] != j->damping[0] || j->compliance)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s needs one stiffness and damping in all directions", label);
        if (j->offset[k] != 0 || j->friction[k] != 0 || j->lower[k] != -INFINITY || j->upper[k] != INFINITY)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: joints of trees have no offset, limits and friction",
                           label);
    }
    for (int k = 0; k < 3; k++)
        if (j->child.pose.position[k] != 0)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "%s: a part turns about its own origin; leave the position of child.pose 0", label);
    const bough_pose none = bough_default_pose();
    if (j->kind == BOUGH_JOINT_BALL && memcmp(&none, &j->child.pose, sizeof none) != 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: a ball turns in the axes of its part; leave child.pose as it is", label);
    return BOUGH_OK;
}

static bough_status check_joint(bough_context *ctx, const bough_part_def *part, const char *name) {
    const bough_joint_def *j = part->joint;
    char label[100];
    if (!j)
        return BOUGH_OK;
    snprintf(label, sizeof label, "the joint of part \"%.60s\"", name);
    BO_TRY(bo_joint_check(ctx, label, j));
    if (j->kind == BOUGH_JOINT_WELD)
        return BOUGH_OK;
    if (part->parent < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\" has a joint, but no parent to hang on", name);
    if (j->kind != BOUGH_JOINT_HINGE && j->kind != BOUGH_JOINT_BALL)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s is %s; parts of a tree hang by hinges and balls", label,
                       bough_joint_name(j->kind));
    return check_turning(ctx, label, j);
}

bough_status bo_tree_check_part(bough_context *ctx, const bough_tree_model_def *def, int32_t index) {
    const bough_part_def *part = &def->parts[index];
    char buffer[32];
    const char *name = name_of(part, buffer, index);
    if (part->cookie != PART_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part %s was not made by bough_default_part_def()", name);
    if (part->component < 0 || part->component >= def->component_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": component %d does not exist", name, part->component);
    if (part->parent < -1 || part->parent >= def->part_count || part->parent == index)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": its parent %d does not exist", name, part->parent);
    const bough_component *c = def->components[part->component];
    if (part->parent >= 0) {
        const int32_t above = def->parts[part->parent].component;
        if (above < 0 || above >= def->component_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": the component of its parent does not exist", name);
        const bough_component *parent = def->components[above];
        if (part->interface_index < 0 || part->interface_index >= parent->interface_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": its parent has no interface %d", name,
                           part->interface_index);
        if (part->interface_index == parent->parent)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\" hangs at the interface by which its parent hangs",
                           name);
        if (c->support != BOUGH_SUPPORT_INTERFACE)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "part \"%s\" has a parent, but its component was cooked as a root", name);
        if (part->free)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\" has a parent, so that it cannot fly", name);
    }
    BO_TRY(check_joint(ctx, part, name));
    if (!is_rotation(part->rotation))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": its rotation is not one", name);
    BO_TRY(bo_track_check(ctx, name, part, c));
    if (!(part->scale > 0 && isfinite(part->scale) && part->stiffness > 0 && isfinite(part->stiffness)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": scale and stiffness must be positive", name);
    if (isinf(part->damping_mass) || isinf(part->damping_stiffness) || !bo_all_finite(3, part->position) ||
        !bo_all_finite(3, part->offset))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": its position, offset and damping must be finite", name);
    if (part->damping_ratio < 0 || isinf(part->damping_ratio))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": its damping ratio must not be negative, and finite",
                       name);
    return BOUGH_OK;
}

bough_status bo_tree_check_method(bough_context *ctx, bough_coupling coupling, double alpha, int32_t passes) {
    if (!(alpha >= -1.0 / 3 && alpha <= 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "alpha must be from -1/3 to 0");
    if ((int)coupling < BOUGH_COUPLING_L1 || coupling > BOUGH_COUPLING_L3 || passes < 0 || passes > 2)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the coupling or the number of passes does not exist");
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, const bough_tree_model_def *def) {
    if (def->cookie != MODEL_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the model def was not made by bough_default_tree_model_def()");
    if (def->part_count < 1 || def->component_count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a model needs at least one part");
    if (def->tie_count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a model cannot have %d ties", def->tie_count);
    if (!bo_all_finite(3, def->gravity))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "gravity must be finite");
    BO_TRY(bo_tree_check_method(ctx, def->coupling, def->alpha, def->passes));
    for (int32_t i = 0; i < def->part_count; i++)
        BO_TRY(bo_tree_check_part(ctx, def, i));
    for (int32_t i = 0; i < def->tie_count; i++)
        BO_TRY(bo_tree_check_tie(ctx, def, i));
    return BOUGH_OK;
}

/* ---- models ---- */

static bough_status copy_numbers(bough_context *ctx, size_t count, const double **numbers) {
    double *copy = BO_NEW_ARRAY(ctx, double, count);
    if (copy && count)
        memcpy(copy, *numbers, count * sizeof *copy);
    *numbers = copy;
    return copy ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* A part that is welded has none. The part's name is the joint's. */
static bough_status copy_joint(bough_context *ctx, const bough_joint_def *from, const bough_joint_def **to) {
    if (!from || from->kind == BOUGH_JOINT_WELD)
        return BOUGH_OK;
    bough_joint_def *joint = BO_NEW(ctx, bough_joint_def);
    if (!joint)
        return BOUGH_ERROR_MEMORY;
    *joint = *from;
    joint->name = joint->parent.name = joint->child.name = NULL;
    *to = joint;
    return BOUGH_OK;
}

/* Copies all that the def points to but the components, so that it need not outlive the call. */
static bough_status copy_parts(bough_context *ctx, const bough_tree_model_def *def, bough_tree_model *model) {
    bough_part_def *parts = BO_NEW_ZEROS(ctx, bough_part_def, def->part_count);
    const bough_component **components = BO_NEW_ARRAY(ctx, const bough_component *, def->component_count);
    model->def.parts = parts;
    model->def.components = components;
    if (!parts || !components)
        return BOUGH_ERROR_MEMORY;
    memcpy(components, def->components, (size_t)def->component_count * sizeof(*components));
    for (int32_t i = 0; i < def->part_count; i++) {
        const bough_part_def *from = &def->parts[i];
        bough_part_def *part = &parts[i];
        const double scale = from->scale, stiffness = from->stiffness;
        const bough_component *c = def->components[from->component];
        const size_t keys = (size_t)from->track.count;
        *part = *from;
        part->track = (bough_track){0};
        part->joint = NULL;
        part->asleep = false;
        part->name = bo_strdup(ctx, from->name ? from->name : "");
        if (!part->name)
            return BOUGH_ERROR_MEMORY;
        BO_TRY(copy_joint(ctx, from->joint, &part->joint));
        /* frequencies go as stiffness / scale: the same ratios need alpha and 1 / beta to go with them */
        if (isnan(part->damping_mass))
            part->damping_mass = c->damping_mass * stiffness / scale;
        if (isnan(part->damping_stiffness))
            part->damping_stiffness = c->damping_stiffness * scale / stiffness;
        if (keys == 0)
            continue;
        part->track = from->track;
        bough_status status = copy_numbers(ctx, keys, &part->track.time);
        bough_status also = copy_numbers(ctx, 3 * keys, &part->track.position);
        bough_status third = copy_numbers(ctx, 4 * keys, &part->track.rotation);
        if (status || also || third)
            return BOUGH_ERROR_MEMORY;
    }
    return BOUGH_OK;
}

static bough_status copy_ties(bough_context *ctx, const bough_tree_model_def *def, bough_tree_model *model) {
    bough_joint_def *ties = BO_NEW_ZEROS(ctx, bough_joint_def, def->tie_count);
    model->def.ties = ties;
    if (!ties)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < def->tie_count; i++) {
        ties[i] = def->ties[i];
        ties[i].name = bo_strdup(ctx, def->ties[i].name ? def->ties[i].name : "");
        if (!ties[i].name)
            return BOUGH_ERROR_MEMORY;
    }
    return BOUGH_OK;
}

static void free_ties(bough_context *ctx, bough_tree_model *model) {
    for (int32_t i = 0; i < model->def.tie_count && model->def.ties; i++)
        bo_free(ctx, (void *)model->def.ties[i].name);
    bo_free(ctx, (void *)model->def.ties);
}

static void free_parts(bough_context *ctx, bough_tree_model *model) {
    bough_part_def *parts = (bough_part_def *)model->def.parts;
    for (int32_t i = 0; i < model->def.part_count && parts; i++) {
        bo_free(ctx, (void *)parts[i].name);
        bo_free(ctx, (void *)parts[i].joint);
        bo_free(ctx, (void *)parts[i].track.time);
        bo_free(ctx, (void *)parts[i].track.position);
        bo_free(ctx, (void *)parts[i].track.rotation);
    }
    bo_free(ctx, parts);
    for (int32_t i = 0; i < model->component_count && model->owns_components && model->def.components; i++)
        bough_component_destroy(ctx, (bough_component *)model->def.components[i]);
    bo_free(ctx, (void *)model->def.components);
}

bough_status bough_tree_model_create(bough_context *ctx, const bough_tree_model_def *def, bough_tree_model **out) {
    *out = NULL;
    BO_TRY(check_def(ctx, def));
    bough_tree_model *model = BO_NEW(ctx, bough_tree_model);
    if (!model)
        return BOUGH_ERROR_MEMORY;
    model->def = *def;
    model->def.parts = NULL;
    model->def.components = NULL;
    model->def.ties = NULL;
    model->component_count = def->component_count;
    bough_status status = copy_parts(ctx, def, model);
    if (status == BOUGH_OK)
        status = copy_ties(ctx, def, model);
    if (status == BOUGH_OK)
        status = bo_tree_lay_out(ctx, model, NULL);
    if (status == BOUGH_OK)
        status = bo_tree_paint_damping(ctx, model);
    if (status == BOUGH_OK)
        status = bo_tree_make_lumps(ctx, model);
    if (status == BOUGH_OK)
        status = bo_tree_make_tracks(ctx, model);
    if (status == BOUGH_OK)
        status = bo_tree_make_surface(ctx, model);
    if (status == BOUGH_OK)
        status = bo_tree_make_wind(ctx, model);
    if (status != BOUGH_OK) {
        bough_tree_model_destroy(ctx, model);
        return status;
    }
    model->shape = bo_tree_shape(model);
    *out = model;
    return BOUGH_OK;
}

void bough_tree_model_destroy(bough_context *ctx, bough_tree_model *model) {
    if (!model)
        return;
    bo_tree_free_surface(ctx, model);
    bo_tree_free_wind(ctx, model);
    bo_tree_free_tracks(ctx, model);
    bo_tree_free_layout(ctx, model);
    bo_free(ctx, model->offsets);
    bo_free(ctx, model->components);
    bo_free(ctx, model->numbers);
    free_ties(ctx, model);
    free_parts(ctx, model);
    bo_free(ctx, model);
}

const bough_tree_model_def *bough_tree_model_describe(const bough_tree_model *model) {
    return &model->def;
}
int32_t bough_tree_model_find_part(const bough_tree_model *model, const char *name) {
    for (int32_t i = 0; i < model->def.part_count; i++)
        if (!strcmp(model->def.parts[i].name, name))
            return i;
    return -1;
}

int32_t bough_tree_model_part_count(const bough_tree_model *model) {
    return model->def.part_count;
}
int32_t bough_tree_model_size(const bough_tree_model *model) {
    return model->size;
}
int32_t bough_tree_model_offset(const bough_tree_model *model, int32_t part) {
    return model->offsets[part];
}
int32_t bough_tree_model_joint_offset(const bough_tree_model *model, int32_t part) {
    return model->offsets[model->def.part_count + part];
}

/* ---- states ---- */

/* Everything at rest; lanes without a part too, so that they never make anything that is not finite. */
static void start_work(const bough_tree_model *model, bo_tree_work *w) {
    for (int32_t s = 0; s < model->slots_count; s++)
        for (int k = 0; k < 9; k += 4)
            w->frames[s].R[k] = w->frames[s].world[k] = 1 + (bo_v4){0};
    for (int32_t f = 0; f < model->faces_count; f++)
        for (int k = 0; k < 9; k += 4)
            w->faces[f].polar[k] = 1 + (bo_v4){0};
    for (int32_t i = 0; i < model->levels[0].end_part; i++) {
        const bo_tree_part *part = &model->parts[i];
        bo_tree_frames *frames = &w->frames[part->slot / 4];
        double position[3];
        bo_store3(position, part->position);
        for (int k = 0; k < 9; k++)
            BO_LANE(frames->world[k], part->slot % 4) = part->rest.m[k];
        for (int k = 0; k < 3; k++)
            BO_LANE(frames->origin[k], part->slot % 4) = position[k];
    }
}

bough_status bo_tree_make_work(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w) {
    const size_t n = (size_t)model->size, parts = (size_t)model->part_count;
    const size_t vectors = (size_t)model->vectors_size, squares = (size_t)model->squares_size;
    const size_t ties = (size_t)model->def.tie_count;
    /* a task has at least a part, a block or a vector of slots, and there are no more of these than parts */
    const size_t chunks = parts < BO_TREE_CHUNKS ? parts : BO_TREE_CHUNKS;
    enum { NUMBERS = sizeof(double) };
    const struct {
        void **array;
        size_t count;
    } fields[] = {{(void **)&w->faces, (size_t)model->faces_count * (sizeof *w->faces / NUMBERS)},
                  {(void **)&w->starts, 9 * (size_t)model->faces_count * (sizeof *w->starts / NUMBERS)},
                  {(void **)&w->frames, (size_t)model->slots_count * (sizeof *w->frames / NUMBERS)},
                  {(void **)&w->inertias, (size_t)model->slots_count * (sizeof *w->inertias / NUMBERS)},
                  {(void **)&w->swings, (size_t)model->joint_count * (sizeof *w->swings / NUMBERS)},
                  {(void **)&w->pulls, ties * (sizeof *w->pulls / NUMBERS)},
                  {(void **)&w->tie_motion, ties * (sizeof *w->tie_motion / NUMBERS)},
                  {(void **)&w->next_tie_motion, ties * (sizeof *w->tie_motion / NUMBERS)},
                  {(void **)&w->tie_system, bo_tree_tie_system_size(model)},
                  {(void **)&w->answers, bo_tree_answers_size(model)},
                  {(void **)&w->Mrq, 6 * vectors},
                  {(void **)&w->p_q, vectors},
                  {(void **)&w->Z, 8 * vectors},
                  {(void **)&w->p, vectors},
                  {(void **)&w->x, vectors},
                  {(void **)&w->L, squares},
                  {(void **)&w->H, squares},
                  {(void **)&w->force, n},
                  {(void **)&w->wrench, 6 * parts},
                  {(void **)&w->load, n},
                  {(void **)&w->load_wrench, 6 * parts},
                  {(void **)&w->sway, 3 * parts},
                  {(void **)&w->blow, n},
                  {(void **)&w->blow_wrench, 6 * (size_t)model->def.part_count},
                  {(void **)&w->quiet, (size_t)model->def.part_count + 3},
                  {(void **)&w->energies, bo_ledger_room(model)},
                  {(void **)&w->rest, n},
                  {(void **)&w->mid_q, n},
                  {(void **)&w->mid_v, n},
                  {(void **)&w->next_q, n},
                  {(void **)&w->next_v, n},
                  {(void **)&w->next_a, n},
                  {(void **)&w->scratch, chunks * model->scratch_size},
                  {(void **)&w->sets, bo_tree_grove_sets_size(ctx, model, &w->set_count)}};
    enum { FIELDS = sizeof fields / sizeof *fields, LINE = 64 / NUMBERS };
    size_t total = LINE;
    for (int f = 0; f < FIELDS; f++)
        total += (fields[f].count + LINE - 1) / LINE * LINE;
    w->numbers = BO_NEW_ZEROS(ctx, double, total);
    if (!w->numbers)
        return BOUGH_ERROR_MEMORY;
    double *next = w->numbers + (-(uintptr_t)w->numbers & 63) / NUMBERS; /* whole cache lines */
    for (int f = 0; f < FIELDS; f++) {
        *fields[f].array = next;
        next += (fields[f].count + LINE - 1) / LINE * LINE;
    }
    start_work(model, w);
    w->frames_stale = true;
    return BOUGH_OK;
}

static void start_roots(const bough_tree_model *model, bough_tree_state *state) {
    for (int32_t i = 0; i < model->levels[0].end_part; i++) {
        const bo_tree_part *part = &model->parts[i];
        if (!part->free)
            continue;
        bough_tree_root *root = &state->roots[part->flight];
        root->part = part->user;
        bo_store3(root->pose.position, part->position);
        memcpy(root->pose.rotation, part->rest.m, sizeof root->pose.rotation);
    }
}

/* Parts that are absent are left out by the state; models have all. */
static bough_status leave_out_absent(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    bool any = false;
    for (int32_t i = 0; i < model->def.part_count; i++)
        any = any || model->def.parts[i].absent;
    if (!any)
        return BOUGH_OK;
    bo_tree_shift shift;
    BO_TRY(bough_tree_state_update(ctx, model, state)); /* frames from which roots start */
    bough_part_def *parts = bo_tree_copy_links(ctx, model);
    if (!parts)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_tree_begin_shift(ctx, model, state, parts, &shift));
    bo_tree_make_shift(ctx, model, state, &shift);
    return BOUGH_OK;
}

bough_status bough_tree_state_create(bough_context *ctx, const bough_tree_model *model, bough_tree_state **out) {
    *out = NULL;
    bo_tree_state *made = BO_NEW(ctx, bo_tree_state);
    if (!made)
        return BOUGH_ERROR_MEMORY;
    bough_tree_state *state = &made->seen;
    state->q = BO_NEW_ZEROS(ctx, double, 4 * (size_t)model->size);
    state->stiffness = BO_NEW_ARRAY(ctx, double, 3 * (size_t)model->def.part_count + (size_t)model->def.tie_count);
    state->wind = model->def.wind;
    memcpy(state->gravity, model->def.gravity, sizeof state->gravity);
    state->coupling = model->def.coupling;
    state->alpha = model->def.alpha;
    state->passes = model->def.passes;
    state->frames = BO_NEW_ZEROS(ctx, bough_frame, model->def.part_count);
    made->work = BO_NEW(ctx, bo_tree_work);
    made->ledger = (struct bo_tree_ledger *)BO_NEW_ZEROS(ctx, char, bo_ledger_size(model));
    state->root_count = model->free_count;
    state->roots = BO_NEW_ZEROS(ctx, bough_tree_root, 2 * (size_t)model->free_count); /* a second time for the next */
    bough_status status = state->q && state->stiffness && state->frames && made->work && state->roots && made->ledger
                              ? BOUGH_OK
                              : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        state->damping_mass = state->stiffness + model->def.part_count;
        state->damping_stiffness = state->damping_mass + model->def.part_count;
        state->tie_strength = state->damping_stiffness + model->def.part_count;
        for (int32_t i = 0; i < model->def.tie_count; i++)
            state->tie_strength[i] = 1;
        for (int32_t i = 0; i < model->def.part_count; i++) {
            state->stiffness[i] = model->def.parts[i].stiffness;
            state->damping_mass[i] = model->def.parts[i].damping_mass;
            state->damping_stiffness[i] = model->def.parts[i].damping_stiffness;
        }
        bo_tree_work_of(state)->next_roots = state->roots + model->free_count;
        bo_tree_work_of(state)->gravity = state->gravity;
        start_roots(model, state);
        state->v = state->q + model->size;
        state->a = state->v + model->size;
        state->mean_a = state->a + model->size;
        for (int32_t i = 0; i < model->def.part_count; i++)
            bo_tree_start_joint(model, state, i);
        bo_tree_work_of(state)->surface_work = bo_tree_make_surface_work(ctx, model);
        status = bo_tree_work_of(state)->surface_work ? bo_tree_make_work(ctx, model, bo_tree_work_of(state))
                                                      : BOUGH_ERROR_MEMORY;
    }
    if (status == BOUGH_OK)
        status = leave_out_absent(ctx, model, state);
    if (status == BOUGH_OK)
        status = bough_tree_state_update(ctx, model, state);
    if (status != BOUGH_OK) {
        bough_tree_state_destroy(ctx, state);
        return status;
    }
    *out = state;
    return BOUGH_OK;
}

void bough_tree_state_destroy(bough_context *ctx, bough_tree_state *state) {
    if (!state)
        return;
    if (bo_tree_work_of(state)) {
        if (bo_tree_work_of(state)->log)
            bo_log_lose(bo_tree_work_of(state)->log);
        bo_tree_drop_integrator(ctx, bo_tree_work_of(state));
        bo_tree_touch_free(ctx, bo_tree_work_of(state)->touch);
        bo_free(ctx, bo_tree_work_of(state)->numbers);
        bo_free(ctx, bo_tree_work_of(state)->surface_work);
        bo_tree_free_own(ctx, bo_tree_work_of(state)->own);
        bo_free(ctx, bo_tree_work_of(state));
    }
    bo_free(ctx, state->q);
    bo_free(ctx, state->stiffness);
    bo_free(ctx, state->frames);
    bo_free(ctx, state->roots);
    bo_free(ctx, bo_tree_ledger_of(state));
    bo_free(ctx, state);
}
