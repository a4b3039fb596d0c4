/* Models: parts in order, tables of components; states. */
#include "tree/system.h"

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
                            .damping_stiffness = NAN};
}

bough_model_def bough_default_model_def(void) {
    return (bough_model_def){.cookie = MODEL_COOKIE,
                             .gravity = {0, 0, -9.81},
                             .coupling = BOUGH_COUPLING_L3,
                             .alpha = -0.05,
                             .wind = bough_default_wind()};
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

static bough_status check_part(bough_context *ctx, const bough_model_def *def, int32_t index) {
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
        if (part->interface < 0 || part->interface >= parent->interface_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": its parent has no interface %d", name,
                           part->interface);
        if (part->interface == parent->parent)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\" hangs at the interface by which its parent hangs",
                           name);
        if (c->support != BOUGH_SUPPORT_INTERFACE)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "part \"%s\" has a parent, but its component was cooked as a root", name);
    }
    if (!is_rotation(part->rotation))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": its rotation is not one", name);
    BO_TRY(bo_track_check(ctx, name, part, c));
    if (!(part->scale > 0 && isfinite(part->scale) && part->stiffness > 0 && isfinite(part->stiffness)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": scale and stiffness must be positive", name);
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, const bough_model_def *def) {
    if (def->cookie != MODEL_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the model def was not made by bough_default_model_def()");
    if (def->part_count < 1 || def->component_count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a model needs at least one part");
    if (!(def->alpha >= -1.0 / 3 && def->alpha <= 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "alpha must be from -1/3 to 0");
    if ((int)def->coupling < BOUGH_COUPLING_L1 || def->coupling > BOUGH_COUPLING_L3 || def->passes < 0 ||
        def->passes > 2)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the coupling or the number of passes does not exist");
    for (int32_t i = 0; i < def->part_count; i++)
        BO_TRY(check_part(ctx, def, i));
    return BOUGH_OK;
}

/* ---- order ---- */

typedef struct {
    int32_t depth, component, user;
} rank;

static int by_depth(const void *a, const void *b) {
    const rank *p = a, *q = b;
    if (p->depth != q->depth)
        return p->depth < q->depth ? -1 : 1;
    if (p->component != q->component)
        return p->component < q->component ? -1 : 1;
    return p->user < q->user ? -1 : 1;
}

/* Depth of every part; a loop is an error. */
static bough_status find_depths(bough_context *ctx, const bough_model_def *def, rank *ranks) {
    for (int32_t i = 0; i < def->part_count; i++)
        ranks[i] = (rank){-1, def->parts[i].component, i};
    for (int32_t i = 0; i < def->part_count; i++) {
        int32_t depth = 0, top = i;
        while (ranks[top].depth < 0 && def->parts[top].parent >= 0 && depth <= def->part_count) {
            top = def->parts[top].parent;
            depth++;
        }
        if (depth > def->part_count) {
            char buffer[32];
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\" is its own ancestor: parts must form a tree",
                           name_of(&def->parts[i], buffer, i));
        }
        depth += ranks[top].depth < 0 ? 0 : ranks[top].depth;
        for (int32_t k = i; ranks[k].depth < 0; k = def->parts[k].parent) {
            ranks[k].depth = depth--;
            if (def->parts[k].parent < 0)
                break;
        }
    }
    return BOUGH_OK;
}

static void place_part(const bough_model_def *def, bough_model *model, int32_t index, int32_t user) {
    const bough_part_def *from = &def->parts[user];
    const bough_component *c = def->components[from->component];
    bo_tree_part *part = &model->parts[index];
    double s = from->scale;
    *part = (bo_tree_part){.component = from->component,
                           .parent = from->parent < 0 ? -1 : model->inside[from->parent],
                           .interface = from->interface,
                           .r = c->r,
                           .offset = model->size,
                           .user = user,
                           .scale = s,
                           .scale3 = s * s * s,
                           .scale4 = s * s * s * s,
                           .scale5 = s * s * s * s * s,
                           .position = bo_load3(from->position),
                           .free = from->parent < 0 && c->support == BOUGH_SUPPORT_FREE};
    part->flight = part->free ? model->free_count++ : part->parent < 0 ? -1 : model->parts[part->parent].flight;
    memcpy(part->rest.m, from->rotation, sizeof part->rest.m);
    model->size += c->r;
    model->square_size += (int64_t)c->r * c->r;
    model->largest_r = c->r > model->largest_r ? c->r : model->largest_r;
    size_t scratch = bough_component_scratch(c);
    model->elastic_scratch = scratch > model->elastic_scratch ? scratch : model->elastic_scratch;
}

static bough_status order_parts(bough_context *ctx, const bough_model_def *def, bough_model *model) {
    rank *ranks = BO_NEW_ARRAY(ctx, rank, def->part_count);
    if (!ranks)
        return BOUGH_ERROR_MEMORY;
    bough_status status = find_depths(ctx, def, ranks);
    if (status == BOUGH_OK) {
        qsort(ranks, (size_t)def->part_count, sizeof *ranks, by_depth);
        for (int32_t i = 0; i < def->part_count; i++)
            model->inside[ranks[i].user] = i;
        for (int32_t i = 0; i < def->part_count; i++)
            place_part(def, model, i, ranks[i].user);
    }
    bo_free(ctx, ranks);
    return status;
}

/* ---- tables ---- */

static size_t table_size(const bough_component *c) {
    size_t r = (size_t)c->r;
    return r * r + 12 * r + 12 * r * r + 12 * r * (size_t)c->interface_count;
}

/* to[k][l] = from[l][k] */
static double *transposed(double **next, size_t r, size_t width, const double *from) {
    double *to = *next;
    for (size_t l = 0; l < r; l++)
        for (size_t k = 0; k < width; k++)
            to[k * r + l] = from[l * width + k];
    *next += r * width;
    return to;
}

static void fill_tables(const bough_component *c, bo_component_tables *t, double **next) {
    size_t r = (size_t)c->r;
    *t = (bo_component_tables){.c = c, .r = c->r, .interfaces = t->interfaces};
    double *M = *next, *W7 = M + r * r, *k7 = W7 + 9 * r * r;
    *next = k7 + 3 * r * r;
    for (size_t p = 0; p < r; p++)
        for (size_t l = 0; l < r; l++) {
            const double *W = c->W7 + 9 * (l * r + p);
            M[l * r + p] = W[0] + W[4] + W[8];
            for (size_t k = 0; k < 9; k++)
                W7[(p * 9 + k) * r + l] = W[k];
            k7[(p * 3 + 0) * r + l] = W[7] - W[5];
            k7[(p * 3 + 1) * r + l] = W[2] - W[6];
            k7[(p * 3 + 2) * r + l] = W[3] - W[1];
        }
    t->M = M, t->W7 = W7, t->k7 = k7;
    t->s = transposed(next, r, 3, c->s);
    t->W5 = transposed(next, r, 9, c->W5);
    for (int32_t i = 0; i < c->interface_count; i++) {
        const bough_interface *face = &c->interfaces[i];
        memcpy(t->interfaces[i].centre, face->centre, sizeof face->centre);
        memcpy(t->interfaces[i].A0, face->A, sizeof t->interfaces[i].A0);
        t->interfaces[i].a = transposed(next, r, 3, face->translation);
        t->interfaces[i].A = transposed(next, r, 9, face->A + 9);
    }
}

static bough_status make_tables(bough_context *ctx, const bough_model_def *def, bough_model *model) {
    size_t size = 0;
    for (int32_t i = 0; i < def->component_count; i++) {
        size += table_size(def->components[i]);
        model->components[i].interfaces = BO_NEW_ARRAY(ctx, bo_interface_tables, def->components[i]->interface_count);
        if (!model->components[i].interfaces)
            return BOUGH_ERROR_MEMORY;
    }
    double *next = model->numbers = BO_NEW_ARRAY(ctx, double, size);
    if (!next)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < def->component_count; i++)
        fill_tables(def->components[i], &model->components[i], &next);
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

/* What the def points to must not have to outlive the call, but for the components. */
static bough_status copy_parts(bough_context *ctx, const bough_model_def *def, bough_model *model) {
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
        part->name = bo_strdup(ctx, from->name ? from->name : "");
        if (!part->name)
            return BOUGH_ERROR_MEMORY;
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

static void free_parts(bough_context *ctx, bough_model *model) {
    bough_part_def *parts = (bough_part_def *)model->def.parts;
    for (int32_t i = 0; i < model->part_count && parts; i++) {
        bo_free(ctx, (void *)parts[i].name);
        bo_free(ctx, (void *)parts[i].track.time);
        bo_free(ctx, (void *)parts[i].track.position);
        bo_free(ctx, (void *)parts[i].track.rotation);
    }
    bo_free(ctx, parts);
    for (int32_t i = 0; i < model->component_count && model->owns_components && model->def.components; i++)
        bough_component_destroy(ctx, (bough_component *)model->def.components[i]);
    bo_free(ctx, (void *)model->def.components);
}

bough_status bough_model_create(bough_context *ctx, const bough_model_def *def, bough_model **out) {
    *out = NULL;
    BO_TRY(check_def(ctx, def));
    bough_model *model = BO_NEW(ctx, bough_model);
    if (!model)
        return BOUGH_ERROR_MEMORY;
    model->def = *def;
    model->def.parts = NULL;
    model->def.components = NULL;
    model->component_count = def->component_count;
    model->part_count = def->part_count;
    model->components = BO_NEW_ZEROS(ctx, bo_component_tables, def->component_count);
    model->parts = BO_NEW_ZEROS(ctx, bo_tree_part, def->part_count);
    model->inside = BO_NEW_ARRAY(ctx, int32_t, def->part_count);
    bough_status status = model->components && model->parts && model->inside ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = copy_parts(ctx, def, model);
    if (status == BOUGH_OK)
        status = make_tables(ctx, def, model);
    if (status == BOUGH_OK)
        status = order_parts(ctx, def, model);
    if (status == BOUGH_OK)
        status = bo_tree_make_tracks(ctx, model);
    if (status != BOUGH_OK) {
        bough_model_destroy(ctx, model);
        return status;
    }
    *out = model;
    return BOUGH_OK;
}

void bough_model_destroy(bough_context *ctx, bough_model *model) {
    if (!model)
        return;
    for (int32_t i = 0; i < model->component_count && model->components; i++)
        bo_free(ctx, model->components[i].interfaces);
    bo_free(ctx, model->components);
    bo_tree_free_tracks(ctx, model);
    bo_free(ctx, model->parts);
    bo_free(ctx, model->inside);
    bo_free(ctx, model->numbers);
    free_parts(ctx, model);
    bo_free(ctx, model);
}

const bough_model_def *bough_model_describe(const bough_model *model) {
    return &model->def;
}
int32_t bough_model_find_part(const bough_model *model, const char *name) {
    for (int32_t i = 0; i < model->part_count; i++)
        if (!strcmp(model->def.parts[i].name, name))
            return i;
    return -1;
}

int32_t bough_model_part_count(const bough_model *model) {
    return model->part_count;
}
int32_t bough_model_size(const bough_model *model) {
    return model->size;
}
int32_t bough_model_offset(const bough_model *model, int32_t part) {
    return model->parts[model->inside[part]].offset;
}

/* ---- states ---- */

static bough_status make_work(bough_context *ctx, const bough_model *model, bo_tree_work *w) {
    size_t n = (size_t)model->size, parts = (size_t)model->part_count, square = (size_t)model->square_size;
    size_t maps = 0, r = (size_t)model->largest_r;
    w->motion = BO_NEW_ZEROS(ctx, bo_tree_motion, parts);
    w->solve = BO_NEW_ZEROS(ctx, bo_tree_solve_state, parts);
    w->J_offset = BO_NEW_ARRAY(ctx, int64_t, parts);
    w->square_offset = BO_NEW_ARRAY(ctx, int64_t, parts);
    if (!w->motion || !w->solve || !w->J_offset || !w->square_offset)
        return BOUGH_ERROR_MEMORY;
    int64_t at = 0;
    for (size_t i = 0; i < parts; i++) {
        const bo_tree_part *part = &model->parts[i];
        w->J_offset[i] = (int64_t)maps;
        maps += part->parent < 0 ? 0 : 6 * (size_t)model->parts[part->parent].r;
        w->square_offset[i] = at;
        at += (int64_t)part->r * part->r;
        w->motion[i].polar = w->motion[i].R = w->motion[i].world = bo_identity3();
        if (part->parent < 0) {
            w->motion[i].world = part->rest;
            w->motion[i].origin = part->position;
        }
    }
    const struct {
        double **array;
        size_t count;
    } fields[] = {{&w->J, maps},
                  {&w->Y, 7 * n},
                  {&w->V, 9 * n},
                  {&w->N, 3 * n},
                  {&w->Mrq, 6 * n},
                  {&w->p_q, n},
                  {&w->p, n},
                  {&w->force, n},
                  {&w->next_q, n},
                  {&w->next_v, n},
                  {&w->next_a, n},
                  {&w->H, square},
                  {&w->L, square},
                  {&w->wrench, 6 * parts},
                  {&w->load, n},
                  {&w->load_wrench, 6 * parts},
                  {&w->scratch, 6 * (r + 7) + 3 * r + r * r + model->elastic_scratch}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    size_t total = 0;
    for (int f = 0; f < FIELDS; f++)
        total += fields[f].count;
    double *next = w->block = BO_NEW_ZEROS(ctx, double, total);
    if (!next)
        return BOUGH_ERROR_MEMORY;
    for (int f = 0; f < FIELDS; f++) {
        *fields[f].array = next;
        next += fields[f].count;
    }
    return BOUGH_OK;
}

static void start_roots(const bough_model *model, bough_state *state) {
    for (int32_t i = 0; i < model->part_count && model->parts[i].parent < 0; i++) {
        const bo_tree_part *part = &model->parts[i];
        if (!part->free)
            continue;
        bough_root *root = &state->roots[part->flight];
        root->part = part->user;
        bo_store3(root->origin, part->position);
        memcpy(root->rotation, part->rest.m, sizeof root->rotation);
    }
}

bough_status bough_state_create(bough_context *ctx, const bough_model *model, bough_state **out) {
    *out = NULL;
    bough_state *state = BO_NEW(ctx, bough_state);
    if (!state)
        return BOUGH_ERROR_MEMORY;
    state->q = BO_NEW_ZEROS(ctx, double, 3 * (size_t)model->size);
    state->stiffness = BO_NEW_ARRAY(ctx, double, 3 * (size_t)model->part_count);
    state->wind = model->def.wind;
    state->frames = BO_NEW_ZEROS(ctx, bough_frame, model->part_count);
    state->work = BO_NEW(ctx, bo_tree_work);
    state->root_count = model->free_count;
    state->roots = BO_NEW_ZEROS(ctx, bough_root, 2 * (size_t)model->free_count); /* a second time for the next */
    bough_status status =
        state->q && state->stiffness && state->frames && state->work && state->roots ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        state->damping_mass = state->stiffness + model->part_count;
        state->damping_stiffness = state->damping_mass + model->part_count;
        for (int32_t i = 0; i < model->part_count; i++) {
            state->stiffness[i] = model->def.parts[i].stiffness;
            state->damping_mass[i] = model->def.parts[i].damping_mass;
            state->damping_stiffness[i] = model->def.parts[i].damping_stiffness;
        }
        state->work->next_roots = state->roots + model->free_count;
        start_roots(model, state);
        state->v = state->q + model->size;
        state->a = state->v + model->size;
        status = make_work(ctx, model, state->work);
    }
    if (status == BOUGH_OK)
        status = bough_state_update(ctx, model, state);
    if (status != BOUGH_OK) {
        bough_state_destroy(ctx, state);
        return status;
    }
    *out = state;
    return BOUGH_OK;
}

void bough_state_destroy(bough_context *ctx, bough_state *state) {
    if (!state)
        return;
    if (state->work) {
        bo_tree_drop_integrator(ctx, state->work);
        bo_free(ctx, state->work->motion);
        bo_free(ctx, state->work->solve);
        bo_free(ctx, state->work->J_offset);
        bo_free(ctx, state->work->square_offset);
        bo_free(ctx, state->work->block);
        bo_free(ctx, state->work);
    }
    bo_free(ctx, state->q);
    bo_free(ctx, state->stiffness);
    bo_free(ctx, state->frames);
    bo_free(ctx, state->roots);
    bo_free(ctx, state);
}
