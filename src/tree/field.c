/* The field of stress over the surfaces of all parts, to be drawn. docs/theory/tree.md, "Stress". */
#include "tree/surface.h"

#include "base/simd.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { LANES = BO_FIELD_LANES, PARTS_A_TASK = 64, PLACES_A_TASK = 4096 };

bough_status bo_tree_make_fields(bough_context *ctx, const bough_tree_model *model, bo_surface_field **fields) {
    *fields = BO_NEW_ZEROS(ctx, bo_surface_field, model->def.component_count + 1);
    if (!*fields)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < model->def.component_count; i++)
        BO_TRY(bo_surface_field_make(ctx, model->def.components[i], &(*fields)[i]));
    return BOUGH_OK;
}

void bo_tree_free_fields(bough_context *ctx, const bough_tree_model *model, bo_surface_field *fields) {
    for (int32_t i = 0; fields && i < model->def.component_count; i++)
        bo_surface_field_free(ctx, &fields[i]);
    bo_free(ctx, fields);
}

typedef struct {
    const bough_tree_model *model, *now;
    const bough_tree_state *state;
    float *von_mises;
} drawing;

/* `count` parts of one component, by inside numbers; first: where their vertices go. */
static void draw_together(const drawing *d, const bo_tree_part *const part[LANES], int32_t count,
                          float *const out[LANES]) {
    const bough_component *c = d->model->components[part[0]->component].c;
    const double *q[LANES];
    double stiffness[LANES];
    for (int32_t i = 0; i < count; i++) {
        q[i] = d->state->q + part[i]->offset;
        stiffness[i] = d->state->stiffness[part[i]->user];
    }
    bo_surface_field_draw(c, &d->model->surface->fields[part[0]->component], count, q, stiffness, out);
}

static bool is_shown(const drawing *d, const bo_tree_part *part) {
    return d->model->surface->fields[part->component].count > 0 && d->now->inside[part->user] >= 0;
}

static void draw_parts(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const drawing *d = data;
    const bo_tree_part *part[LANES];
    float *out[LANES];
    int32_t count = 0;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        const bo_tree_part *p = &d->model->parts[i];
        float *to = d->von_mises + d->model->surface->first[p->user];
        if (!is_shown(d, p)) {
            memset(to, 0, (size_t)d->model->components[p->component].c->surface.vertex_count * sizeof *to);
            continue;
        }
        if (count == LANES || (count > 0 && p->component != part[0]->component)) {
            draw_together(d, part, count, out);
            count = 0;
        }
        part[count] = p, out[count++] = to;
    }
    if (count > 0)
        draw_together(d, part, count, out);
}

/* ---- seams ---- */

/* Copies of a place get the mean of those that have a stress, while nothing there has come apart. */
static void join_places(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const drawing *d = data;
    const bo_tree_seams *seams = &d->model->surface->seams;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        float sum = 0;
        int32_t count = 0, open = 0;
        for (int32_t k = seams->place_first[i]; k < seams->place_first[i + 1]; k++) {
            const int32_t part = seams->copy_part[seams->members[k]];
            open += bo_tree_seam_is_open(d->model, d->state, part);
            if (!is_shown(d, &d->model->parts[d->model->inside[part]]))
                continue;
            sum += d->von_mises[seams->copies[seams->members[k]]];
            count++;
        }
        for (int32_t k = seams->place_first[i]; k < seams->place_first[i + 1] && count > 0 && !open; k++)
            d->von_mises[seams->copies[seams->members[k]]] = sum / (float)count;
    }
}

void bough_tree_state_surface_stress(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                     float *von_mises) {
    drawing d = {model, bo_tree_now(model, state), state, von_mises};
    bo_parallel_for(ctx, model->part_count, PARTS_A_TASK, draw_parts, &d);
    if (state->continuity != BOUGH_CONTINUITY_NONE)
        bo_parallel_for(ctx, model->surface->seams.place_count, PLACES_A_TASK, join_places, &d);
}

bough_status bough_tree_state_part_surface_stress(bough_context *ctx, const bough_tree_model *model,
                                                  const bough_tree_state *state, int32_t part, float *von_mises) {
    const drawing d = {model, bo_tree_now(model, state), state, von_mises};
    BO_TRY(bo_tree_check_present(ctx, d.now, part));
    const bo_tree_part *one[LANES] = {&model->parts[model->inside[part]]};
    float *out[LANES] = {von_mises};
    if (is_shown(&d, one[0]))
        draw_together(&d, one, 1, out);
    else
        memset(von_mises, 0, (size_t)model->components[one[0]->component].c->surface.vertex_count * sizeof *von_mises);
    return BOUGH_OK;
}

BO_MULTIVERSION static void find_levels(int32_t count, const float *values, float factor, uint8_t *levels) {
    for (int32_t i = 0; i < count; i++) {
        const float level = values[i] * factor + 0.5f;
        levels[i] = (uint8_t)(level > 0 ? level < 255 ? level : 255 : 0);
    }
}

void bough_stress_levels(int32_t count, const float *von_mises, double largest, uint8_t *levels) {
    find_levels(count, von_mises, largest > 0 && isfinite(255 / largest) ? (float)(255 / largest) : 0, levels);
}
