/* Groves: trees that a step goes through from its beginning to its end before it turns to the next ones, so that what
 * it computes on the way stays in the caches. docs/theory/tree.md, "Forests".
 *
 * Within each depth the parts of a grove stand together. A grove is therefore seen through a copy of the model whose
 * levels are its own, and through a copy of the state whose work borrows one of a few sets of numbers that are of no
 * use after the step. */
#include "tree/groves.h"

#include "base/threads.h"

#include <stdatomic.h>
#include <string.h>

/* ---- which trees stand together ---- */

/* A part weighs as many numbers as it has freedoms, its frame's included; an oak of 1,435 parts weighs 20,600. Small
 * trees share a grove so that equal parts of theirs fill vectors. */
enum { FULL_GROVE = 12000, WEIGHT_OF_FRAME = 6 };

static int32_t root_of(const bough_part_def *parts, int32_t *roots, int32_t part) {
    int32_t top = part;
    while (roots[top] < 0 && parts[top].parent >= 0)
        top = parts[top].parent;
    const int32_t root = roots[top] < 0 ? top : roots[top];
    for (int32_t k = part; roots[k] < 0; k = parts[k].parent) {
        roots[k] = root;
        if (parts[k].parent < 0)
            break;
    }
    return root;
}

/* Trees that are awake become one grove, through which alone steps see the model, and those that sleep another. False:
 * none sleeps. */
static bool part_sleepers(const bough_part_def *parts, int32_t count, const int32_t *roots, int32_t *grove_of) {
    bool any = false;
    for (int32_t i = 0; i < count; i++)
        any = any || (roots[i] == i && parts[i].asleep);
    for (int32_t i = 0; i < count && any; i++)
        grove_of[i] = parts[roots[i]].asleep;
    return any;
}

bough_status bo_tree_find_groves(bough_context *ctx, const bough_tree_model *model, int32_t *grove_of) {
    const int32_t count = model->def.part_count;
    const bough_part_def *parts = model->def.parts;
    int32_t *roots = BO_NEW_ARRAY(ctx, int32_t, count);
    int64_t *weights = BO_NEW_ZEROS(ctx, int64_t, count);
    const bough_status status = roots && weights ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        roots[i] = -1;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        weights[root_of(parts, roots, i)] += model->def.components[parts[i].component]->r + WEIGHT_OF_FRAME;
    const bool sleepers = status == BOUGH_OK && part_sleepers(parts, count, roots, grove_of);
    int64_t weight = 0;
    for (int32_t i = 0, grove = 0; i < count && status == BOUGH_OK && !sleepers; i++) {
        if (roots[i] != i)
            continue;
        if (weight >= FULL_GROVE)
            grove++, weight = 0;
        grove_of[i] = grove;
        if (model->def.tie_count == 0) /* ties pull at several trees at once */
            weight += weights[i];
    }
    for (int32_t i = 0; i < count && status == BOUGH_OK && !sleepers; i++)
        grove_of[i] = grove_of[roots[i]];
    bo_free(ctx, roots);
    bo_free(ctx, weights);
    return status;
}

/* ---- lists ---- */

/* End of the parts of one depth that are of the grove of part i. */
static int32_t grove_end(const bough_tree_model *model, const bo_tree_level *level, int32_t i) {
    const int32_t grove = model->parts[i].grove;
    while (i < level->end_part && model->parts[i].grove == grove)
        i++;
    return i;
}

/* The part of a level that is of one grove: parts first to end. from: where the grove before it ended in the level's
 * lists. */
static bo_tree_level cut_out(const bough_tree_model *model, const bo_tree_level *level, int32_t first, int32_t end,
                             const bo_tree_level *from) {
    bo_tree_level cut = {.first_part = first,
                         .end_part = end,
                         .first_slots = model->parts[first].slot / 4,
                         .end_slots = end < level->end_part ? model->parts[end].slot / 4 : level->end_slots,
                         .first_block = model->parts[first].block,
                         .end_block = model->parts[end - 1].block + 1,
                         .first_parent = from ? from->end_parent : level->first_parent,
                         .first_joint = from ? from->end_joint : level->first_joint};
    for (cut.end_parent = cut.first_parent; cut.end_parent < level->end_parent && model->parents[cut.end_parent] < end;)
        cut.end_parent++;
    for (cut.end_joint = cut.first_joint; cut.end_joint < level->end_joint && model->joints[cut.end_joint].part < end;)
        cut.end_joint++;
    return cut;
}

/* Slices of all levels, level by level; counts when there is no memory yet. */
static int32_t cut_levels(bough_tree_model *model) {
    int32_t count = 0;
    for (int32_t d = 0; d < model->level_count; d++) {
        const bo_tree_level *level = &model->levels[d], *before = NULL;
        for (int32_t i = level->first_part, end; i < level->end_part; i = end, count++) {
            end = grove_end(model, level, i);
            if (!model->groves)
                continue;
            bo_tree_grove *grove = &model->groves[model->parts[i].grove];
            grove->levels[grove->level_count] = cut_out(model, level, i, end, before);
            before = &grove->levels[grove->level_count++];
        }
    }
    return count;
}

/* Parts are numbered by depth: a grove's number of levels is that of its deepest part. */
static void share_levels(bough_tree_model *model) {
    bo_tree_level *next = model->grove_levels;
    for (int32_t d = 0; d < model->level_count; d++)
        for (int32_t i = model->levels[d].first_part; i < model->levels[d].end_part; i++)
            model->groves[model->parts[i].grove].level_count = d + 1;
    for (int32_t g = 0; g < model->grove_count; g++) {
        model->groves[g].levels = next;
        next += model->groves[g].level_count;
        model->groves[g].level_count = 0;
    }
}

void bo_tree_add_run(bo_tree_run *runs, int32_t *count, int32_t first, int32_t end) {
    if (first == end)
        return;
    if (*count > 0 && runs[*count - 1].end == first)
        runs[*count - 1].end = end;
    else
        runs[(*count)++] = (bo_tree_run){first, end};
}

/* Coordinates of the parts of a grove and of its joints. At most as many runs as it has parts and joints. */
static int32_t list_runs(const bough_tree_model *model, bo_tree_grove *grove, bo_tree_run *runs) {
    grove->runs = runs;
    for (int32_t d = 0; d < grove->level_count; d++)
        for (int32_t i = grove->levels[d].first_part; i < grove->levels[d].end_part; i++)
            bo_tree_add_run(runs, &grove->run_count, model->parts[i].offset,
                            model->parts[i].offset + model->parts[i].r);
    for (int32_t d = 0; d < grove->level_count; d++)
        for (int32_t j = grove->levels[d].first_joint; j < grove->levels[d].end_joint; j++)
            bo_tree_add_run(runs, &grove->run_count, model->joints[j].offset,
                            model->joints[j].offset + model->joints[j].count);
    return grove->run_count;
}

/* Numbers of the blocks of a grove follow each other in the arrays of the work. */
static void number_blocks(bough_tree_model *model, bo_tree_grove *grove) {
    grove->vectors = model->vectors_size, grove->squares = model->squares_size;
    for (int32_t d = 0; d < grove->level_count; d++)
        for (int32_t k = grove->levels[d].first_block; k < grove->levels[d].end_block; k++) {
            bo_tree_block *b = &model->blocks[k];
            b->vectors = model->vectors_size;
            b->squares = model->squares_size;
            model->vectors_size += b->n * b->lanes;
            model->squares_size += b->lanes == 1 ? b->r * b->n : bo_padded4(b->r * (b->r + 1) / 2) * b->lanes;
        }
    const int64_t vectors = model->vectors_size - grove->vectors, squares = model->squares_size - grove->squares;
    model->grove_vectors = vectors > model->grove_vectors ? vectors : model->grove_vectors;
    model->grove_squares = squares > model->grove_squares ? squares : model->grove_squares;
}

/* Trees are in the groves, and roots that fly are counted, both in the order in which the user gave the roots. */
static void share_flights(bough_tree_model *model) {
    for (int32_t i = 0; i < model->levels[0].end_part; i++) {
        const bo_tree_part *part = &model->parts[i];
        bo_tree_grove *grove = &model->groves[part->grove];
        if (part->flight < 0)
            continue;
        if (grove->first_flight == grove->end_flight)
            grove->first_flight = part->flight, grove->end_flight = part->flight + 1;
        grove->first_flight = part->flight < grove->first_flight ? part->flight : grove->first_flight;
        grove->end_flight = part->flight >= grove->end_flight ? part->flight + 1 : grove->end_flight;
    }
}

bough_status bo_tree_list_groves(bough_context *ctx, bough_tree_model *model) {
    for (int32_t i = 0; i < model->part_count; i++)
        model->grove_count =
            model->parts[i].grove >= model->grove_count ? model->parts[i].grove + 1 : model->grove_count;
    model->grove_levels = BO_NEW_ZEROS(ctx, bo_tree_level, cut_levels(model));
    model->runs = BO_NEW_ARRAY(ctx, bo_tree_run, model->part_count + model->joint_count);
    model->groves = BO_NEW_ZEROS(ctx, bo_tree_grove, model->grove_count);
    if (!model->grove_levels || !model->runs || !model->groves)
        return BOUGH_ERROR_MEMORY;
    share_levels(model);
    cut_levels(model);
    share_flights(model);
    model->end_flight = model->free_count;
    for (int32_t g = 0, runs = 0; g < model->grove_count; g++) {
        runs += list_runs(model, &model->groves[g], model->runs + runs);
        number_blocks(model, &model->groves[g]);
    }
    return BOUGH_OK;
}

void bo_tree_free_groves(bough_context *ctx, bough_tree_model *model) {
    bo_free(ctx, model->groves);
    bo_free(ctx, model->grove_levels);
    bo_free(ctx, model->runs);
}

/* ---- one after the other ---- */

/* Numbers that a step needs for a grove and nobody needs after it. */
static size_t set_size(const bough_tree_model *model) {
    return (6 + 1 + 8 + 1 + 1) * (size_t)model->grove_vectors + 2 * (size_t)model->grove_squares + model->scratch_size;
}

static size_t in_lines(size_t count) {
    return (count + 7) & ~(size_t)7;
}

/* Threads share the groves; or each of its phases, where there are too few groves to keep all busy: 0. */
static int32_t visitor_count(const bough_context *ctx, const bough_tree_model *model) {
    const int32_t threads = bough_thread_count(ctx);
    if (model->grove_count < 2 || (threads > 1 && model->grove_count < 4 * threads))
        return 0;
    return threads < BO_TREE_CHUNKS ? threads : BO_TREE_CHUNKS;
}

size_t bo_tree_grove_sets_size(const bough_context *ctx, const bough_tree_model *model, int32_t *count) {
    *count = visitor_count(ctx, model);
    return (size_t)*count * in_lines(set_size(model));
}

/* The arrays of a set, such that the places of the grove's blocks lie in them. */
static double *borrow(double **next, size_t size, int64_t first) {
    double *array = *next;
    *next += size;
    return (double *)((uintptr_t)array - (uintptr_t)first * sizeof *array);
}

typedef struct {
    bough_context ctx; /* without threads, and with a sentence of its own */
    bough_tree_model model;
    bo_tree_state state;
    bo_tree_work work;
} view;

static void look_at(view *v, const bough_tree_model *model, bough_tree_state *state, int32_t grove, int32_t set) {
    const bo_tree_grove *g = &model->groves[grove];
    const size_t vectors = (size_t)model->grove_vectors, squares = (size_t)model->grove_squares;
    v->model = *model;
    v->model.grove = g;
    v->model.levels = g->levels;
    v->model.level_count = g->level_count;
    v->model.first_flight = g->first_flight;
    v->model.end_flight = g->end_flight;
    v->work = *bo_tree_work_of(state);
    v->state = *bo_tree_inside(state);
    v->state.work = &v->work;
    double *next = bo_tree_work_of(state)->sets + (size_t)set * in_lines(set_size(model));
    v->work.L = borrow(&next, squares, g->squares);
    v->work.H = borrow(&next, squares, g->squares);
    v->work.Mrq = borrow(&next, 6 * vectors, 6 * g->vectors);
    v->work.p_q = borrow(&next, vectors, g->vectors);
    v->work.Z = borrow(&next, 8 * vectors, 8 * g->vectors);
    v->work.p = borrow(&next, vectors, g->vectors);
    v->work.x = borrow(&next, vectors, g->vectors);
    v->work.scratch = next;
}

typedef struct {
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
    bo_tree_grove_task task;
    const void *data;
    atomic_int next;
    bough_status status[BO_TREE_CHUNKS];
    int32_t failed[BO_TREE_CHUNKS]; /* the first grove of each that did */
    char message[BO_TREE_CHUNKS][BO_MESSAGE_SIZE];
} grove_call;

static void visit_groves(void *data, int32_t set) {
    grove_call *call = data;
    view v;
    v.ctx = *call->ctx;
    v.ctx.pool = NULL, v.ctx.def.run_tasks = NULL, v.ctx.def.thread_count = 1;
    call->status[set] = BOUGH_OK;
    for (int32_t g; (g = atomic_fetch_add(&call->next, 1)) < call->model->grove_count;) {
        if (call->model->groves[g].level_count == 0) /* all of its trees are absent */
            continue;
        look_at(&v, call->model, call->state, g, set);
        const bough_status status = call->task(&v.ctx, &v.model, &v.state.seen, call->data);
        if (status == BOUGH_OK || call->status[set] != BOUGH_OK)
            continue;
        call->status[set] = status;
        call->failed[set] = g;
        memcpy(call->message[set], v.ctx.message, sizeof v.ctx.message);
    }
}

bough_status bo_tree_each_grove(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                bo_tree_grove_task task, const void *data) {
    const int32_t visitors = visitor_count(ctx, model), sets = bo_tree_work_of(state)->set_count;
    const int32_t count = visitors < sets ? visitors : sets; /* the state may be of a context with fewer threads */
    if (count == 0 || model->grove || bo_tree_work_of(state)->touch) /* trees of several groves may touch */
        return task(ctx, model, state, data);
    grove_call call = {.ctx = ctx, .model = model, .state = state, .task = task, .data = data};
    bo_run_tasks(ctx, visit_groves, &call, count);
    int32_t first = -1; /* the one that would have failed first without threads */
    for (int32_t k = 0; k < count; k++)
        if (call.status[k] != BOUGH_OK && (first < 0 || call.failed[k] < call.failed[first]))
            first = k;
    return first < 0 ? BOUGH_OK : bo_fail(ctx, call.status[first], "%s", call.message[first]);
}

typedef struct {
    const bough_tree_model *model;
    bo_range_task range;
    void *data;
} block_call;

static void call_chunk(void *data, int32_t chunk) {
    const block_call *call = data;
    call->range(call->data, call->model->chunks[chunk].first, call->model->chunks[chunk].end, chunk);
}

void bo_tree_each_block(bough_context *ctx, const bough_tree_model *model, bo_range_task range, void *data) {
    block_call call = {model, range, data};
    if (!model->grove)
        bo_run_tasks(ctx, call_chunk, &call, model->chunk_count);
    for (int32_t d = 0; d < model->level_count && model->grove; d++)
        range(data, model->levels[d].first_block, model->levels[d].end_block, 0);
}
