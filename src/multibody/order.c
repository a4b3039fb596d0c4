/* The order in which unknowns are eliminated: along the tree of joints from its leaves, so that the work grows with the
 * number of bodies; joints that close loops, and gears, come last. A body goes when all that hangs on it has gone, the
 * joint to its parent right after it: then the joint's rows are regular, since the six freedoms of the body stand
 * behind them. */
#include "multibody/multibody.h"

#include <string.h>

typedef struct {
    int32_t *up;           /* of each body: the joint towards the root; -1: it is one */
    int32_t *order;        /* bodies, from the roots outwards */
    bool *seen, *used;     /* bodies; joints of the tree */
    int32_t *start, *list; /* joints at each body (the last: at the world) */
    int32_t count;
} search;

static int32_t node_of(const bough_multibody *model, int32_t frame) {
    const int32_t body = model->frames[frame].body;
    return body < 0 ? model->body_count : body;
}

static bool is_edge(const bo_mb_joint *joint) {
    return joint->row_count > 0 && joint->gear[0] < 0;
}

static void list_joints(const bough_multibody *model, search *s) {
    const int32_t nodes = model->body_count + 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t j = 0; j < model->joint_count; j++)
            for (int side = 0; side < 2 && is_edge(&model->joints[j]); side++) {
                const int32_t node = node_of(model, model->joints[j].frames[side]);
                if (pass == 0)
                    s->start[node + 1]++;
                else
                    s->list[s->start[node]++] = j;
            }
        for (int32_t i = 0; i < nodes && pass == 0; i++)
            s->start[i + 1] += s->start[i];
    }
    for (int32_t i = nodes; i > 0; i--)
        s->start[i] = s->start[i - 1];
    s->start[0] = 0;
}

/* Breadth first: whatever comes before a body in `order` is not further out than it. */
static void grow(const bough_multibody *model, search *s, int32_t root) {
    const int32_t first = s->count;
    int32_t at = root, done = first;
    for (;;) {
        for (int32_t i = s->start[at]; i < s->start[at + 1]; i++) {
            const int32_t j = s->list[i];
            const int32_t a = node_of(model, model->joints[j].frames[0]),
                          b = node_of(model, model->joints[j].frames[1]);
            const int32_t other = a == at ? b : a;
            if (other == model->body_count || s->seen[other])
                continue;
            s->seen[other] = true, s->used[j] = true;
            s->up[other] = j, s->order[s->count++] = other;
        }
        if (done == s->count)
            return;
        at = s->order[done++];
    }
}

static bough_status find_tree(bough_context *ctx, const bough_multibody *model, search *s) {
    const size_t n = (size_t)model->body_count;
    if (!(s->up = BO_NEW_ARRAY(ctx, int32_t, n)) || !(s->order = BO_NEW_ARRAY(ctx, int32_t, n)) ||
        !(s->seen = BO_NEW_ZEROS(ctx, bool, n)) || !(s->used = BO_NEW_ZEROS(ctx, bool, model->joint_count)) ||
        !(s->start = BO_NEW_ZEROS(ctx, int32_t, n + 2)) ||
        !(s->list = BO_NEW_ARRAY(ctx, int32_t, 2 * model->joint_count)))
        return BOUGH_ERROR_MEMORY;
    list_joints(model, s);
    grow(model, s, model->body_count);
    for (int32_t b = 0; b < model->body_count; b++)
        if (!s->seen[b]) {
            s->seen[b] = true, s->up[b] = -1, s->order[s->count++] = b;
            grow(model, s, b);
        }
    return BOUGH_OK;
}

/* A part in full order has the coordinates that joints see and the forces on them. */
static int32_t rows_of_part(const bo_mb_part *part) {
    return part->full ? 2 * part->seen : part->r;
}

static void place_block(bough_multibody *model, int32_t *block, int32_t rows) {
    *block = model->block_count;
    model->block_rows[model->block_count++] = rows;
}

static void place_blocks(bough_multibody *model, const search *s) {
    for (int32_t i = s->count - 1; i >= 0; i--) {
        const int32_t body = s->order[i];
        for (int32_t p = 0; p < model->def.part_count; p++)
            if (model->parts[p].body == body)
                place_block(model, &model->part_block[p], rows_of_part(&model->parts[p]));
        place_block(model, &model->body_block[body], 6);
        if (s->up[body] >= 0)
            place_block(model, &model->joint_block[s->up[body]], model->joints[s->up[body]].row_count);
    }
    for (int32_t p = 0; p < model->def.part_count; p++)
        if (model->parts[p].body < 0)
            place_block(model, &model->part_block[p], rows_of_part(&model->parts[p]));
    for (int32_t j = 0; j < model->joint_count; j++)
        if (model->joints[j].row_count > 0 && model->joint_block[j] < 0)
            place_block(model, &model->joint_block[j], model->joints[j].row_count);
}

/* All blocks that a joint touches. */
static int blocks_of(const bough_multibody *model, int32_t j, int32_t blocks[2 * BO_MB_MOST_FRAMES + 1]) {
    const bo_mb_joint *joint = &model->joints[j];
    int count = 0;
    for (int32_t f = 0; f < joint->frame_count; f++) {
        const int32_t body = model->frames[joint->frames[f]].body, part = bo_mb_frame_part(model, joint->frames[f]);
        if (body >= 0)
            blocks[count++] = model->body_block[body];
        if (part >= 0)
            blocks[count++] = model->part_block[part];
    }
    if (joint->row_count > 0)
        blocks[count++] = model->joint_block[j];
    return count;
}

static bough_status list_pairs(bough_context *ctx, bough_multibody *model) {
    enum { MOST = (2 * BO_MB_MOST_FRAMES + 1) * BO_MB_MOST_FRAMES };
    model->pairs = BO_NEW_ARRAY(ctx, int32_t, 2 * ((int64_t)MOST * model->joint_count + model->def.part_count));
    if (!model->pairs)
        return BOUGH_ERROR_MEMORY;
    int32_t *to = model->pairs;
    for (int32_t p = 0; p < model->def.part_count; p++)
        if (model->parts[p].body >= 0)
            *to++ = model->part_block[p], *to++ = model->body_block[model->parts[p].body];
    for (int32_t j = 0; j < model->joint_count; j++) {
        int32_t blocks[2 * BO_MB_MOST_FRAMES + 1];
        const int count = blocks_of(model, j, blocks);
        for (int a = 0; a < count; a++)
            for (int b = 0; b < a; b++)
                *to++ = blocks[a], *to++ = blocks[b];
    }
    model->pair_count = (to - model->pairs) / 2;
    return BOUGH_OK;
}

static bough_status place_unknowns(bough_context *ctx, bough_multibody *model) {
    int32_t *first = BO_NEW_ARRAY(ctx, int32_t, model->block_count + 1);
    if (!first || !(model->place = BO_NEW_ARRAY(ctx, int32_t, model->nv + model->nc))) {
        bo_free(ctx, first);
        return BOUGH_ERROR_MEMORY;
    }
    first[0] = 0;
    for (int32_t k = 0; k < model->block_count; k++)
        first[k + 1] = first[k] + model->block_rows[k];
    for (int32_t i = 0; i < 6 * model->body_count; i++)
        model->place[i] = first[model->body_block[i / 6]] + i % 6;
    for (int32_t p = 0; p < model->def.part_count; p++)
        for (int32_t k = 0; k < model->parts[p].r; k++)
            model->place[model->parts[p].first + k] =
                model->parts[p].full ? first[model->block_count] : first[model->part_block[p]] + k;
    for (int32_t j = 0; j < model->joint_count; j++)
        for (int32_t k = 0; k < model->joints[j].row_count; k++)
            model->place[model->nv + model->joints[j].row + k] = first[model->joint_block[j]] + k;
    bo_free(ctx, first);
    return BOUGH_OK;
}

bough_status bo_mb_order(bough_context *ctx, bough_multibody *model) {
    const int32_t most = model->body_count + model->def.part_count + model->joint_count;
    search s = {0};
    bough_status status = find_tree(ctx, model, &s);
    if (status == BOUGH_OK && (!(model->body_block = BO_NEW_ARRAY(ctx, int32_t, model->body_count)) ||
                               !(model->part_block = BO_NEW_ARRAY(ctx, int32_t, model->def.part_count)) ||
                               !(model->joint_block = BO_NEW_ARRAY(ctx, int32_t, model->joint_count)) ||
                               !(model->block_rows = BO_NEW_ARRAY(ctx, int32_t, most))))
        status = BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        for (int32_t j = 0; j < model->joint_count; j++)
            model->joint_block[j] = -1;
        place_blocks(model, &s);
        for (int32_t j = 0; j < model->joint_count; j++)
            model->joints[j].closes = model->joints[j].row_count > 0 && !s.used[j];
        status = list_pairs(ctx, model);
    }
    if (status == BOUGH_OK)
        status = place_unknowns(ctx, model);
    void *const blocks[] = {s.up, s.order, s.seen, s.used, s.start, s.list};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    return status;
}
