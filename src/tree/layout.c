/* Layout of a model in memory: parts in order, tables of components, blocks, slots and faces (tree.h). */
#include "tree/groves.h"

#include <stdlib.h>
#include <string.h>

/* ---- order ---- */

typedef struct {
    int32_t depth, grove, component, flies, parent, interface, user;
} rank;

static int by_rank(const void *a, const void *b) {
    const int32_t *p = a, *q = b;
    for (size_t k = 0; k < sizeof(rank) / sizeof(int32_t); k++)
        if (p[k] != q[k])
            return p[k] < q[k] ? -1 : 1;
    return 0;
}

/* Depth of every part; a loop is an error. */
static bough_status find_depths(bough_context *ctx, const bough_tree_model *model, rank *ranks) {
    const bough_part_def *parts = model->def.parts;
    const int32_t count = model->def.part_count;
    for (int32_t i = 0; i < count; i++)
        ranks[i] = (rank){-1, 0, parts[i].component, 0, -1, parts[i].interface_index, i};
    for (int32_t i = 0; i < count; i++) {
        int32_t depth = 0, top = i;
        while (ranks[top].depth < 0 && parts[top].parent >= 0 && depth <= count) {
            top = parts[top].parent;
            depth++;
        }
        if (depth > count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "part \"%s\" (number %d) is its own ancestor: parts must form a tree", parts[i].name, i);
        depth += ranks[top].depth < 0 ? 0 : ranks[top].depth;
        for (int32_t k = i; ranks[k].depth < 0; k = parts[k].parent) {
            ranks[k].depth = depth--;
            if (parts[k].parent < 0)
                break;
        }
    }
    return BOUGH_OK;
}

static bough_status find_groves(bough_context *ctx, const bough_tree_model *model, rank *ranks) {
    int32_t *grove_of = BO_NEW_ARRAY(ctx, int32_t, model->def.part_count);
    const bough_status status = grove_of ? bo_tree_find_groves(ctx, model, grove_of) : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < model->def.part_count && status == BOUGH_OK; i++)
        ranks[i].grove = grove_of[i];
    bo_free(ctx, grove_of);
    return status;
}

static int32_t joint_size(const bough_part_def *part) {
    return part->joint ? bough_joint_freedoms(part->joint->kind) : 0;
}

/* Coordinates in all are counted in 32 bits. */
static bough_status check_size(bough_context *ctx, const bough_tree_model *model) {
    int64_t size = 0;
    for (int32_t i = 0; i < model->def.part_count; i++)
        size += model->def.components[model->def.parts[i].component]->r + joint_size(&model->def.parts[i]);
    return size <= INT32_MAX
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a model of %lld coordinates is too large", (long long)size);
}

static void place_part(bough_tree_model *model, int32_t index, const rank *at) {
    const int32_t user = at->user;
    const bough_part_def *from = &model->def.parts[user];
    const bough_component *c = model->def.components[from->component];
    bo_tree_part *part = &model->parts[index];
    double s = from->scale;
    *part = (bo_tree_part){.component = from->component,
                           .parent = from->parent < 0 ? -1 : model->inside[from->parent],
                           .interface_index = from->interface_index,
                           .r = c->r,
                           .offset = model->offsets[user],
                           .user = user,
                           .grove = at->grove,
                           .faces = -1,
                           .joint = -1,
                           .scale = s,
                           .scale3 = s * s * s,
                           .scale4 = s * s * s * s,
                           .scale5 = s * s * s * s * s,
                           .position = bo_load3(from->position),
                           .arm = from->parent < 0 ? bo_v3(0, 0, 0) : bo_load3(from->offset),
                           .free = from->parent < 0 && (from->free || c->support == BOUGH_SUPPORT_FREE),
                           .flies = at->flies,
                           .locked = from->locked};
    part->asleep = part->parent < 0 ? part->free && from->asleep : model->parts[part->parent].asleep;
    model->has_sleepers = model->has_sleepers || part->asleep;
    memcpy(part->rest.m, from->rotation, sizeof part->rest.m);
}

/* As its root does. */
static bool does_fly(const bough_tree_model *model, const bough_part_def *part, int32_t parent) {
    if (part->parent < 0)
        return part->free || model->def.components[part->component]->support == BOUGH_SUPPORT_FREE;
    return parent >= 0 && model->parts[parent].flies;
}

/* Keeps the parts of one depth that are present (all: absent ones, too), in the order of their parents; a part goes
 * with its parent. */
static int32_t keep_present(bough_tree_model *model, rank *ranks, int32_t first, int32_t end, bool all) {
    int32_t kept = first;
    for (int32_t i = first; i < end; i++) {
        const bough_part_def *part = &model->def.parts[ranks[i].user];
        ranks[i].parent = part->parent < 0 ? -1 : model->inside[part->parent];
        ranks[i].flies = does_fly(model, part, ranks[i].parent);
        if (all || (!part->absent && (part->parent < 0 || ranks[i].parent >= 0)))
            ranks[kept++] = ranks[i];
    }
    qsort(ranks + first, (size_t)(kept - first), sizeof *ranks, by_rank);
    return kept;
}

/* Level by level, since the order within one follows that of the parents. new: coordinates get their places, in the
 * order of the parts, those of joints behind these; and the model has all parts, since absence is the state's. */
static bough_status order_parts(bough_context *ctx, bough_tree_model *model, bool new) {
    const int32_t count = model->def.part_count;
    rank *ranks = BO_NEW_ARRAY(ctx, rank, count);
    if (!ranks)
        return BOUGH_ERROR_MEMORY;
    for (int32_t user = 0; user < count; user++)
        model->inside[user] = -1;
    bough_status status = find_depths(ctx, model, ranks);
    if (status == BOUGH_OK)
        status = find_groves(ctx, model, ranks);
    if (status == BOUGH_OK)
        status = check_size(ctx, model);
    if (status == BOUGH_OK)
        qsort(ranks, (size_t)count, sizeof *ranks, by_rank);
    for (int32_t first = 0, end; first < count && status == BOUGH_OK; first = end) {
        const int32_t depth = ranks[first].depth;
        for (end = first; end < count && ranks[end].depth == depth; end++)
            ;
        const int32_t kept = keep_present(model, ranks, first, end, new);
        for (int32_t i = first; i < kept; i++) {
            const int32_t user = ranks[i].user;
            model->inside[user] = model->part_count;
            if (new) {
                model->offsets[user] = model->size;
                model->size += model->def.components[model->def.parts[user].component]->r;
            }
            place_part(model, model->part_count++, &ranks[i]);
        }
        model->level_count += kept > first;
    }
    for (int32_t user = 0; user < count && status == BOUGH_OK && new; user++) {
        model->offsets[count + user] = joint_size(&model->def.parts[user]) ? model->size : -1;
        model->size += joint_size(&model->def.parts[user]);
    }
    model->level_count += model->level_count == 0; /* one that is empty */
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        int32_t root = i;
        while (model->parts[root].parent >= 0)
            root = model->parts[root].parent;
        model->parts[root].tree_mass += part->scale3 * model->def.components[part->component]->mass;
    }
    bo_free(ctx, ranks);
    return status;
}

/* Roots are the first parts, and parents come before their children. */
static void number_trees(bough_tree_model *model) {
    for (int32_t i = 0; i < model->part_count; i++) {
        const int32_t parent = model->parts[i].parent;
        model->parts[i].tree = model->def.tie_count > 0 ? 0 : parent < 0 ? i : model->parts[parent].tree;
    }
}

/* Roots that fly are counted in the order in which the user gave them, those that sleep last. */
static void number_flights(bough_tree_model *model) {
    for (int32_t i = 0; i < model->part_count; i++)
        model->parts[i].flight = -1;
    for (int asleep = 0; asleep < 2; asleep++)
        for (int32_t user = 0; user < model->def.part_count; user++) {
            bo_tree_part *part = model->inside[user] < 0 ? NULL : &model->parts[model->inside[user]];
            if (part && part->free && part->asleep == (asleep > 0))
                part->flight = model->free_count++;
        }
    for (int32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].parent >= 0)
            model->parts[i].flight = model->parts[model->parts[i].parent].flight;
}

/* ---- tables ---- */

/* Memory in one piece: counted in a first round without a base, handed out in a second. */
typedef struct {
    char *base;
    size_t used;
} pile;

static void *take(pile *p, size_t count, size_t size) {
    void *at = p->base ? p->base + p->used : NULL;
    p->used += (count * size + 63) & ~(size_t)63; /* whole cache lines */
    return at;
}

/* to[k][l] = from[l][k], rows n long */
static double *transposed(pile *p, const bo_component_tables *t, size_t width, const double *from) {
    double *to = take(p, width * (size_t)t->n, sizeof *to);
    for (size_t l = 0; l < (size_t)t->r && to; l++)
        for (size_t k = 0; k < width; k++)
            to[k * (size_t)t->n + l] = from[l * width + k];
    return to;
}

static void fill_inertia(pile *p, bo_component_tables *t) {
    const size_t r = (size_t)t->r, n = (size_t)t->n;
    double *M = take(p, r * n, sizeof *M);
    double *W7 = take(p, 9 * r * n, sizeof *W7), *k7 = take(p, 3 * r * n, sizeof *k7);
    t->M = M, t->W7 = W7, t->k7 = k7;
    t->s = transposed(p, t, 3, t->c->s);
    t->W5 = transposed(p, t, 9, t->c->W5);
    if (!p->base)
        return;
    for (size_t i = 0; i < r; i++)
        for (size_t l = 0; l < r; l++) {
            const double *W = t->c->W7 + 9 * (l * r + i);
            M[l * n + i] = W[0] + W[4] + W[8];
            for (size_t k = 0; k < 9; k++)
                W7[(i * 9 + k) * n + l] = W[k];
            k7[(i * 3 + 0) * n + l] = W[7] - W[5];
            k7[(i * 3 + 1) * n + l] = W[2] - W[6];
            k7[(i * 3 + 2) * n + l] = W[3] - W[1];
        }
}

/* Interfaces that something can hang at: all but the one by which it hangs itself. */
static int32_t find_faces_of(const bough_component *c, int32_t *face_of) {
    int32_t count = 0;
    for (int32_t k = 0; k < c->interface_count; k++)
        face_of[k] = k == c->parent ? -1 : count++;
    return count;
}

static void fill_face_lane(const bough_interface *from, int32_t r, int32_t f, bo_v4 *rest, bo_v4 *maps) {
    for (int32_t row = 0; row < 12; row++) {
        BO_LANE(rest[12 * (f / 4) + row], f % 4) = row < 3 ? from->centre[row] : from->A[row - 3];
        for (int32_t l = 0; l < r; l++)
            BO_LANE(maps[12 * ((f / 4) * r + l) + row], f % 4) =
                row < 3 ? from->translation[3 * l + row] : from->A[9 * (l + 1) + row - 3];
    }
}

/* Lanes behind the last face repeat the first. */
static void fill_faces(pile *p, bo_component_tables *t) {
    const bough_component *c = t->c;
    int32_t *face_of = take(p, (size_t)c->interface_count, sizeof *face_of);
    t->face_of = face_of;
    t->face_count = face_of ? find_faces_of(c, face_of) : c->interface_count /* at most */;
    t->face_vectors = (t->face_count + 3) / 4;
    const size_t vectors = (size_t)t->face_vectors;
    bo_face_rows *faces = t->faces = take(p, (size_t)t->face_count, sizeof *faces);
    bo_v4 *rest = take(p, 12 * vectors, sizeof *rest), *maps = take(p, 12 * vectors * (size_t)t->r, sizeof *maps);
    t->face_rest = rest, t->face_maps = maps;
    for (int32_t k = 0; k < c->interface_count; k++) {
        const bough_interface *from = &c->interfaces[k];
        if (face_of && face_of[k] < 0)
            continue;
        const bo_face_rows rows = {transposed(p, t, 3, from->translation), transposed(p, t, 9, from->A + 9)};
        if (!face_of)
            continue;
        faces[face_of[k]] = rows;
        fill_face_lane(from, t->r, face_of[k], rest, maps);
        for (int32_t f = t->face_count; f < 4 * t->face_vectors && face_of[k] == 0; f++)
            fill_face_lane(from, t->r, f, rest, maps);
    }
}

/* V_k,l = W5 + sum_p q_p W7, N_k,l = sum_p v_p k7; all rows k of a coordinate l lie side by side. */
static void fill_bending(pile *p, bo_component_tables *t) {
    const int32_t r = t->r, n = t->n;
    double *V = take(p, bo_affine_size(9 * r, r) + bo_affine_size(3 * r, r), sizeof *V);
    t->bending = V;
    if (!V)
        return;
    double *N = V + bo_affine_size(9 * r, r);
    for (int32_t k = 0; k < 9; k++)
        for (int32_t l = 0; l < r; l++) {
            V[bo_affine_at(r, 9 * l + k, 0)] = t->W5[k * n + l];
            for (int32_t i = 0; i < r; i++) {
                V[bo_affine_at(r, 9 * l + k, 1 + i)] = t->W7[(i * 9 + k) * n + l];
                if (k < 3)
                    N[bo_affine_at(r, 3 * l + k, 1 + i)] = t->k7[(i * 3 + k) * n + l];
            }
        }
}

static void fill_tables(pile *p, bough_tree_model *model, const bool *wide) {
    for (int32_t i = 0; i < model->component_count; i++) {
        bo_component_tables *t = &model->components[i];
        *t = (bo_component_tables){.c = model->def.components[i]};
        t->r = t->c->r, t->n = bo_padded4(t->c->r);
        fill_inertia(p, t);
        fill_faces(p, t);
        if (wide[i])
            fill_bending(p, t);
        if (wide[i] && t->c->elastic == BOUGH_REDUCED_POLYNOMIAL) {
            double *tangent = take(p, bo_tangent_table_size(t->r), sizeof *tangent);
            t->tangent = tangent;
            if (tangent)
                bo_tangent_table_fill(t->c, tangent);
        }
    }
}

static bough_status make_tables(bough_context *ctx, bough_tree_model *model, const bool *wide) {
    pile p = {NULL, 64};
    fill_tables(&p, model, wide);
    model->numbers = bo_calloc(ctx, p.used, 1);
    if (!model->numbers)
        return BOUGH_ERROR_MEMORY;
    p = (pile){(char *)model->numbers + (-(uintptr_t)model->numbers & 63), 0};
    fill_tables(&p, model, wide);
    return BOUGH_OK;
}

/* ---- blocks and slots ---- */

/* Eight parts together cost as much as one to five alone: the larger r, the more, since a single one need not read the
 * tangent's table. */
static bool is_wide(int32_t r, int32_t count) {
    return r > 0 && r <= 32 && count >= (r <= 12 ? 3 : 6);
}

/* End of the parts that are of the grove, component and depth of part i, and fly or do not as it does. */
static int32_t group_end(const bough_tree_model *model, const bo_tree_level *level, int32_t i) {
    int32_t end = i;
    while (end < level->end_part && model->parts[end].grove == model->parts[i].grove &&
           model->parts[end].component == model->parts[i].component && model->parts[end].flies == model->parts[i].flies)
        end++;
    return end;
}

static void list_parents(bough_tree_model *model) {
    for (int32_t d = 0; d < model->level_count; d++) {
        bo_tree_level *level = &model->levels[d];
        level->first_parent = model->parent_count;
        for (int32_t i = level->first_part; i < level->end_part; i++)
            if (model->parts[i].child_count > 0)
                model->parents[model->parent_count++] = i;
        level->end_parent = model->parent_count;
    }
}

static void find_levels(bough_tree_model *model) {
    int32_t depth = -1;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        /* parts of one depth have parents in the level before, and these have lower numbers than the level's first */
        if (depth < 0 || (part->parent >= 0 && part->parent >= model->levels[depth].first_part)) {
            depth++;
            model->levels[depth].first_part = i;
        }
        model->levels[depth].end_part = i + 1;
    }
}

/* Cuts a level into blocks; counts when there is no memory yet. */
static void cut_level(bough_tree_model *model, bo_tree_level *level, int32_t *slot) {
    *slot = bo_padded4(*slot);
    level->first_slots = *slot / 4;
    level->first_block = model->block_count;
    for (int32_t i = level->first_part, end; i < level->end_part; i = end) {
        end = group_end(model, level, i);
        const int32_t r = model->parts[i].r;
        const int32_t lanes = is_wide(r, end - i) ? BO_WIDE : 1;
        if (lanes > 1 || (i > level->first_part && model->parts[i].grove != model->parts[i - 1].grove))
            *slot = bo_padded4(*slot);
        for (int32_t first = i; first < end; first += lanes) {
            if (model->blocks) {
                const int32_t count = end - first < lanes ? end - first : lanes, n = bo_padded4(r);
                bo_tree_block *b = &model->blocks[model->block_count];
                *b = (bo_tree_block){.component = model->parts[i].component,
                                     .r = r,
                                     .n = n,
                                     .first = first,
                                     .count = count,
                                     .lanes = lanes,
                                     .slot = *slot,
                                     .bare = true,
                                     .together = true,
                                     .flies = model->parts[i].flies};
                for (int32_t k = 0; k < BO_WIDE; k++)
                    b->scale[k] = model->parts[first + (k < count ? k : 0)].scale;
                for (int32_t k = 0; k < count; k++) {
                    bo_tree_part *part = &model->parts[first + k];
                    part->slot = *slot + k, part->block = model->block_count, part->lane = k;
                    b->bare = b->bare && part->child_count == 0;
                    b->together = b->together && part->offset == model->parts[first].offset + k * r;
                    b->locked = b->locked || part->locked;
                }
            }
            model->block_count++;
            *slot += lanes;
        }
    }
    level->end_slots = (*slot + 3) / 4;
    level->end_block = model->block_count;
}

static void cut_levels(bough_tree_model *model) {
    int32_t slot = 0;
    model->block_count = 0;
    for (int32_t d = 0; d < model->level_count; d++)
        cut_level(model, &model->levels[d], &slot);
    model->slots_count = (slot + 3) / 4;
}

static void fill_slots(bough_tree_model *model) {
    for (int32_t i = 0; i < 4 * model->slots_count; i++)
        model->slots[i / 4].part[i % 4] = -1;
    for (int32_t i = 0; i < model->part_count; i++)
        model->slots[model->parts[i].slot / 4].part[model->parts[i].slot % 4] = i;
    for (int32_t d = 0; d < model->level_count && model->part_count > 0; d++) {
        int32_t source = model->parts[model->levels[d].first_part].slot;
        for (int32_t s = 4 * model->levels[d].first_slots; s < 4 * model->levels[d].end_slots; s++) {
            bo_tree_slots *slots = &model->slots[s / 4];
            if (slots->part[s % 4] >= 0)
                source = s;
            const bo_tree_part *part = &model->parts[model->slots[source / 4].part[source % 4]];
            slots->source[s % 4] = source;
            slots->parent[s % 4] = part->parent < 0 ? -1 : model->parts[part->parent].slot;
            slots->face[s % 4] = part->face;
            slots->flies = slots->flies || part->flies;
            double offset[3];
            for (int k = 0; k < 9; k++)
                BO_LANE(slots->rest[k], s % 4) = part->rest.m[k];
            bo_store3(offset, part->arm);
            for (int k = 0; k < 3; k++) {
                BO_LANE(slots->offset[k], s % 4) = offset[k];
                slots->shifted = slots->shifted || offset[k] != 0;
            }
        }
    }
}

/* ---- children and faces ---- */

static void list_children(bough_tree_model *model) {
    int32_t next = 0;
    for (int32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].parent >= 0)
            model->parts[model->parts[i].parent].child_count++;
    for (int32_t i = 0; i < model->part_count; i++) {
        model->parts[i].first_child = next;
        next += model->parts[i].child_count;
        model->parts[i].child_count = 0;
    }
    for (int32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].parent >= 0) {
            bo_tree_part *parent = &model->parts[model->parts[i].parent];
            model->children[parent->first_child + parent->child_count++] = i;
        }
}

/* Each part that something hangs on, or that is tied, has all faces of its component. */
static bough_status find_faces(bough_context *ctx, bough_tree_model *model) {
    bool *tied = BO_NEW_ZEROS(ctx, bool, model->part_count);
    if (!tied)
        return BOUGH_ERROR_MEMORY;
    bo_tree_mark_tied(model, tied);
    for (int32_t i = 0; i < model->part_count; i++) {
        bo_tree_part *part = &model->parts[i];
        if (part->child_count > 0 || tied[i]) {
            const int32_t more = model->components[part->component].face_vectors;
            if (more > INT32_MAX / 16 - model->faces_count) {
                bo_free(ctx, tied);
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the model has too many interfaces that something hangs at");
            }
            part->faces = model->faces_count;
            model->faces_count += more;
        }
        if (part->parent >= 0) {
            const bo_tree_part *parent = &model->parts[part->parent];
            part->face_row = model->components[parent->component].face_of[part->interface_index];
            part->face = 4 * parent->faces + part->face_row;
        }
    }
    bo_free(ctx, tied);
    model->face_used = BO_NEW_ZEROS(ctx, bool, model->faces_count);
    for (int32_t i = 0; i < model->part_count && model->face_used; i++)
        if (model->parts[i].parent >= 0)
            model->face_used[model->parts[i].face / 4] = true;
    return model->face_used ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* ---- chunks ---- */

/* Microseconds, about. */
static double cost_of(const bo_tree_block *b) {
    const double r = b->r, r2 = r * r;
    return b->lanes == 1 ? 0.5 + 3e-3 * r2 + 2e-5 * r2 * r2 : b->lanes * (0.05 + 1.5e-3 * r2 + 1.2e-5 * r2 * r2);
}

/* A task of less than some microseconds is not worth handing over. */
static void cut_chunks(bough_tree_model *model) {
    double total = 0, done = 0, least = 4;
    for (int32_t b = 0; b < model->block_count; b++)
        total += cost_of(&model->blocks[b]);
    if (total / BO_TREE_CHUNKS > least)
        least = total / BO_TREE_CHUNKS;
    model->chunk_count = 0;
    for (int32_t b = 0; b < model->block_count; b++) {
        if (b == 0 || (done >= least * model->chunk_count && model->chunk_count < BO_TREE_CHUNKS))
            model->chunks[model->chunk_count++].first = b;
        done += cost_of(&model->blocks[b]);
        model->chunks[model->chunk_count - 1].end = b + 1;
    }
}

/* Room for what parts.c and couple.c need at a time. */
static void size_scratch(bough_tree_model *model) {
    for (int32_t b = 0; b < model->block_count; b++) {
        const bo_tree_block *block = &model->blocks[b];
        const size_t n = (size_t)block->n, lanes = (size_t)block->lanes;
        const bo_component_tables *t = &model->components[block->component];
        size_t elastic = bough_component_scratch(t->c) + n * n + 2 * n;
        if (lanes > 1)
            elastic += bo_tangent_scratch(block->r) + lanes * n * n;
        const size_t needed = lanes * n * 24 + elastic + n * n + 32 * n + 64;
        model->scratch_size = needed > model->scratch_size ? needed : model->scratch_size;
        model->largest_n = block->n > model->largest_n ? block->n : model->largest_n;
    }
    model->scratch_size = (model->scratch_size + 7) & ~(size_t)7;
}

/* ---- all ---- */

/* Components of which so many are there, on one level or on several, that some may stand together. */
static bough_status make_all_tables(bough_context *ctx, bough_tree_model *model) {
    int32_t *count = BO_NEW_ZEROS(ctx, int32_t, model->component_count);
    bool *wide = BO_NEW_ZEROS(ctx, bool, model->component_count);
    bough_status status = count && wide ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < model->def.part_count && status == BOUGH_OK; i++)
        count[model->def.parts[i].component]++;
    for (int32_t i = 0; i < model->component_count && status == BOUGH_OK; i++)
        wide[i] = is_wide(model->def.components[i]->r, count[i]);
    if (status == BOUGH_OK)
        status = make_tables(ctx, model, wide);
    bo_free(ctx, count);
    bo_free(ctx, wide);
    return status;
}

static bough_status make_lists(bough_context *ctx, bough_tree_model *model) {
    model->parts = BO_NEW_ZEROS(ctx, bo_tree_part, model->def.part_count);
    model->inside = BO_NEW_ARRAY(ctx, int32_t, model->def.part_count);
    model->children = BO_NEW_ARRAY(ctx, int32_t, model->def.part_count);
    model->parents = BO_NEW_ARRAY(ctx, int32_t, model->def.part_count);
    return model->parts && model->inside && model->children && model->parents ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_tree_lay_out(bough_context *ctx, bough_tree_model *model, const bough_tree_model *base) {
    BO_TRY(make_lists(ctx, model));
    if (base) {
        model->offsets = base->offsets, model->size = base->size;
        model->components = base->components, model->numbers = base->numbers;
    } else {
        model->offsets = BO_NEW_ARRAY(ctx, int32_t, 2 * (size_t)model->def.part_count);
        model->components = BO_NEW_ZEROS(ctx, bo_component_tables, model->component_count);
        if (!model->offsets || !model->components)
            return BOUGH_ERROR_MEMORY;
    }
    BO_TRY(order_parts(ctx, model, !base));
    number_flights(model);
    number_trees(model);
    model->levels = BO_NEW_ZEROS(ctx, bo_tree_level, model->level_count);
    if (!model->levels)
        return BOUGH_ERROR_MEMORY;
    list_children(model);
    find_levels(model);
    list_parents(model);
    if (!base)
        BO_TRY(make_all_tables(ctx, model));
    BO_TRY(find_faces(ctx, model));
    BO_TRY(bo_tree_list_joints(ctx, model));
    cut_levels(model); /* counts */
    model->blocks = BO_NEW_ZEROS(ctx, bo_tree_block, model->block_count);
    model->slots = BO_NEW_ZEROS(ctx, bo_tree_slots, model->slots_count);
    if (!model->blocks || !model->slots)
        return BOUGH_ERROR_MEMORY;
    cut_levels(model);
    fill_slots(model);
    BO_TRY(bo_tree_list_groves(ctx, model));
    cut_chunks(model);
    size_scratch(model);
    return bo_tree_list_ties(ctx, model, base);
}

void bo_tree_free_layout(bough_context *ctx, bough_tree_model *model) {
    bo_free(ctx, model->parts);
    bo_free(ctx, model->inside);
    bo_free(ctx, model->children);
    bo_free(ctx, model->parents);
    bo_free(ctx, model->joints);
    bo_free(ctx, model->ties);
    bo_free(ctx, model->tied);
    bo_free(ctx, model->face_used);
    bo_free(ctx, model->blocks);
    bo_free(ctx, model->slots);
    bo_free(ctx, model->levels);
    bo_tree_free_groves(ctx, model);
    bo_free(ctx, model->lump);
    bo_free(ctx, model->face_mass);
}
