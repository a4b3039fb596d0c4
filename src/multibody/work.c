/* Scratch of evaluations: one block of memory for all of it. */
#include "multibody/multibody.h"

#include <string.h>

/* Hands out pieces of a block, or counts what it would take. */
typedef struct {
    char *block;
    size_t used;
} stock;

static void *take(stock *s, size_t count, size_t size) {
    void *piece = s->block ? s->block + s->used : NULL;
    s->used += (count * size + 63) / 64 * 64;
    return piece;
}

static int32_t most_scratch(const bough_multibody *model) {
    size_t most = 1;
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const size_t needs = model->parts[p].full ? 0 : bough_component_scratch(model->parts[p].component);
        most = needs > most ? needs : most;
    }
    return (int32_t)most;
}

static int32_t rows_of_blocks(const bough_multibody *model) {
    int32_t sum = 0;
    for (int32_t k = 0; k < model->block_count; k++)
        sum += model->block_rows[k];
    return sum;
}

static void take_all(const bough_multibody *model, stock *s, bo_mb_work *w) {
    const size_t room = (size_t)model->room;
    w->R = take(s, (size_t)model->body_count, sizeof *w->R);
    w->shapes = take(s, (size_t)model->def.part_count, sizeof *w->shapes);
    w->turns = take(s, (size_t)model->face_count, sizeof *w->turns);
    w->places = take(s, (size_t)model->frame_count, sizeof *w->places);
    w->coordinates = take(s, (size_t)model->coordinate_count, sizeof(double));
    w->motor_place = take(s, (size_t)model->def.motor_count, sizeof(double));
    w->motor_rate = take(s, (size_t)model->def.motor_count, sizeof(double));
    w->element = take(s, (size_t)most_scratch(model), sizeof(double));
    w->blocks = take(s, room * (room + 18 * BO_MB_MOST_FRAMES + 6), sizeof(double));
    w->rhs = take(s, (size_t)rows_of_blocks(model) + 1, sizeof(double));
    w->full = take(s, (size_t)model->def.part_count, sizeof *w->full);
    w->flights = take(s, 2 * (size_t)model->flyer_count, sizeof *w->flights);
    const bool there = s->block != NULL;
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const size_t r = (size_t)model->parts[p].r;
        bo_mb_shape ignored, *shape = there ? &w->shapes[p] : &ignored;
        if (model->parts[p].full) {
            const size_t seen = (size_t)model->parts[p].seen;
            bo_mb_full none, *full = there ? &w->full[p] : &none;
            shape->gradient = take(s, r, sizeof(double));
            full->seen = take(s, seen, sizeof(double));
            full->rates = take(s, seen, sizeof(double));
            full->force = take(s, seen, sizeof(double));
            continue;
        }
        shape->Z = take(s, r, sizeof(bo_mat3));
        shape->p = take(s, r, sizeof(bo_vec3));
        shape->swirl = take(s, r, sizeof(bo_vec3));
        shape->gradient = take(s, r, sizeof(double));
        shape->Kv = take(s, r, sizeof(double));
        shape->K = take(s, r * r, sizeof(double));
        shape->dK = take(s, r * r, sizeof(double));
    }
    for (int32_t f = 0; f < model->face_count; f++) {
        const size_t r = (size_t)model->parts[model->faces[f].part].seen;
        bo_mb_turn ignored, *turn = there ? &w->turns[f] : &ignored;
        turn->Jw = take(s, r, sizeof(bo_vec3));
        turn->Jo = take(s, r, sizeof(bo_vec3));
    }
    for (int32_t f = 0; f < model->frame_count; f++) {
        const int32_t part = bo_mb_frame_part(model, f);
        const size_t r = part < 0 ? 0 : (size_t)model->parts[part].seen;
        bo_mb_place ignored, *place = there ? &w->places[f] : &ignored;
        place->L = take(s, r, sizeof(bo_vec3));
        place->Jo = take(s, r, sizeof(bo_vec3));
    }
}

bough_status bo_mb_work_make(bough_context *ctx, const bough_multibody *model, bo_mb_work *work) {
    stock s = {0};
    *work = (bo_mb_work){.lu = {.stuck = -1}, .way = 0.01 * model->length};
    take_all(model, &s, work);
    if (!(work->memory = bo_calloc(ctx, s.used + 64, 1)))
        return BOUGH_ERROR_MEMORY;
    s = (stock){.block = (char *)work->memory + (64 - (uintptr_t)work->memory % 64) % 64};
    take_all(model, &s, work);
    BO_TRY(bo_mb_full_begin(ctx, model, work));
    return bo_block_lu_make(ctx, model->block_count, model->block_rows, model->pair_count, model->pairs, &work->lu);
}

void bo_mb_work_free(bough_context *ctx, const bough_multibody *model, bo_mb_work *work) {
    bo_block_lu_free(ctx, &work->lu);
    if (work->memory)
        bo_mb_full_end(ctx, model, work);
    bo_free(ctx, work->memory);
    work->memory = NULL;
}
