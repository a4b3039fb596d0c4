/* Seams, where surfaces of parts meet: vertices of a child that lie on vertices of its parent at rest.
 * docs/theory/tree.md, "Surfaces". */
#include "tree/surface.h"

#include "base/idmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Positions are floats: they differ by 1e-7 of the size of their part, and those of a scene file by a little more. */
#define TOLERANCE_CHILD 1e-5
#define TOLERANCE_PARENT 1e-6

/* Vertices of a cut lie within this many radii (rms of the interface) of its centre. */
#define REACH 8

/* A vertex meets no more vertices of its parent than this; several where the parent's surface is cut for its textures.
 */
enum { MOST_MEETINGS = 4 };

/* Cells along the longest side of a component's grid. */
#define CELLS 128

/* The surface of one component: its vertices in a grid, to be found as a parent's, and those near the interface by
 * which it hangs, which look for them. */
typedef struct {
    const bough_surface *surface;
    double corner[3], far_corner[3], size, cell;
    int32_t *head, *next; /* slot -> a vertex, vertex -> the next in its slot; -1 ends */
    size_t slots;
    int32_t rim_count;
    int32_t *rim;
} outline;

typedef struct {
    int32_t child, parent; /* vertices of the whole */
} pair;

typedef struct {
    pair *list;
    size_t count, capacity;
} pairs;

/* ---- outlines of components ---- */

static size_t slot_of(const outline *o, const int64_t cell[3]) {
    return (size_t)bo_hash((uint64_t)(cell[0] + 4 * CELLS * (cell[1] + 4 * CELLS * cell[2]))) & (o->slots - 1);
}

static int64_t cell_of(const outline *o, int axis, double x) {
    return (int64_t)floor((x - o->corner[axis]) / o->cell);
}

static void find_box(outline *o) {
    for (int k = 0; k < 3; k++)
        o->corner[k] = INFINITY, o->far_corner[k] = -INFINITY;
    for (size_t i = 0; i < 3 * (size_t)o->surface->vertex_count; i++) {
        o->corner[i % 3] = fmin(o->corner[i % 3], (double)o->surface->position[i]);
        o->far_corner[i % 3] = fmax(o->far_corner[i % 3], (double)o->surface->position[i]);
    }
    for (int k = 0; k < 3 && o->surface->vertex_count > 0; k++)
        o->size = fmax(o->size, o->far_corner[k] - o->corner[k]);
    o->cell = o->size / CELLS;
}

static bough_status fill_grid(bough_context *ctx, outline *o) {
    const int32_t count = o->surface->vertex_count;
    for (o->slots = 1; o->slots < (size_t)count;)
        o->slots *= 2;
    o->head = BO_NEW_ARRAY(ctx, int32_t, o->slots);
    o->next = BO_NEW_ARRAY(ctx, int32_t, count);
    if (!o->head || !o->next)
        return BOUGH_ERROR_MEMORY;
    memset(o->head, 0xff, o->slots * sizeof *o->head);
    for (int32_t v = count - 1; v >= 0; v--) {
        int64_t cell[3];
        for (int k = 0; k < 3; k++)
            cell[k] = cell_of(o, k, (double)o->surface->position[3 * (size_t)v + (size_t)k]);
        const size_t slot = slot_of(o, cell);
        o->next[v] = o->head[slot];
        o->head[slot] = v;
    }
    return BOUGH_OK;
}

/* The interface by which a component hangs is centred on its origin. */
static bough_status find_rim(bough_context *ctx, const bough_component *c, outline *o) {
    o->rim = BO_NEW_ARRAY(ctx, int32_t, o->surface->vertex_count);
    if (!o->rim)
        return BOUGH_ERROR_MEMORY;
    const double reach = c->parent >= 0 ? REACH * c->interfaces[c->parent].radius : 0;
    for (int32_t v = 0; v < o->surface->vertex_count; v++) {
        const float *x = o->surface->position + 3 * (size_t)v;
        if (bo_norm(bo_v3((double)x[0], (double)x[1], (double)x[2])) <= reach)
            o->rim[o->rim_count++] = v;
    }
    return BOUGH_OK;
}

static bough_status draw_outlines(bough_context *ctx, const bough_tree_model *model, outline *outlines) {
    for (int32_t i = 0; i < model->component_count; i++) {
        outline *o = &outlines[i];
        o->surface = &model->components[i].c->surface;
        find_box(o);
        if (!(o->size > 0))
            continue;
        BO_TRY(fill_grid(ctx, o));
        BO_TRY(find_rim(ctx, model->components[i].c, o));
    }
    return BOUGH_OK;
}

static void free_outlines(bough_context *ctx, int32_t count, outline *outlines) {
    for (int32_t i = 0; i < count && outlines; i++) {
        bo_free(ctx, outlines[i].head);
        bo_free(ctx, outlines[i].next);
        bo_free(ctx, outlines[i].rim);
    }
    bo_free(ctx, outlines);
}

/* ---- pairs ---- */

static bough_status add_pair(bough_context *ctx, pairs *p, int32_t child, int32_t parent) {
    if (!BO_RESERVE(ctx, p->list, p->capacity, p->count + 1))
        return BOUGH_ERROR_MEMORY;
    p->list[p->count++] = (pair){child, parent};
    return BOUGH_OK;
}

static double distance_to(const outline *o, int32_t v, const double x[3]) {
    const float *y = o->surface->position + 3 * (size_t)v;
    return bo_norm(bo_v3((double)y[0] - x[0], (double)y[1] - x[1], (double)y[2] - x[2]));
}

/* Pairs `child` with the vertices of the outline within `tolerance` (at most a cell) of x. */
static bough_status look_around(bough_context *ctx, const outline *o, const double x[3], double tolerance,
                                int32_t child, int32_t parent_first, pairs *p) {
    int64_t lower[3], upper[3], cell[3];
    int met = 0;
    for (int k = 0; k < 3; k++) {
        if (!(x[k] >= o->corner[k] - tolerance && x[k] <= o->far_corner[k] + tolerance))
            return BOUGH_OK;
        lower[k] = cell_of(o, k, x[k] - tolerance);
        upper[k] = cell_of(o, k, x[k] + tolerance);
    }
    for (cell[0] = lower[0]; cell[0] <= upper[0]; cell[0]++)
        for (cell[1] = lower[1]; cell[1] <= upper[1]; cell[1]++)
            for (cell[2] = lower[2]; cell[2] <= upper[2]; cell[2]++)
                for (int32_t v = o->head[slot_of(o, cell)]; v >= 0 && met < MOST_MEETINGS; v = o->next[v])
                    if (distance_to(o, v, x) <= tolerance && ++met)
                        BO_TRY(add_pair(ctx, p, child, parent_first + v));
    return BOUGH_OK;
}

/* The rim of part j in the unscaled axes of its parent, at rest: centre + (s_j / s_i) R^ X. */
static bough_status pair_part(bough_context *ctx, const bough_tree_model *model, const outline *outlines,
                              const int32_t *first, int32_t j, pairs *p) {
    const bo_tree_part *part = &model->parts[j], *parent = &model->parts[part->parent];
    const outline *mine = &outlines[part->component], *theirs = &outlines[parent->component];
    if (!(mine->size > 0 && theirs->size > 0))
        return BOUGH_OK;
    const double ratio = part->scale / parent->scale;
    const bo_vec3 centre = bo_load3(model->components[parent->component].c->interfaces[part->interface_index].centre);
    const double tolerance = fmin(TOLERANCE_CHILD * ratio * mine->size + TOLERANCE_PARENT * theirs->size, theirs->cell);
    for (int32_t i = 0; i < mine->rim_count; i++) {
        const int32_t v = mine->rim[i];
        const float *X = mine->surface->position + 3 * (size_t)v;
        double x[3];
        bo_store3(x,
                  bo_mul_add(centre, ratio, bo_mat_vec(part->rest, bo_v3((double)X[0], (double)X[1], (double)X[2]))));
        BO_TRY(look_around(ctx, theirs, x, tolerance, first[part->user] + v, first[parent->user], p));
    }
    return BOUGH_OK;
}

static bough_status find_pairs(bough_context *ctx, const bough_tree_model *model, const int32_t *first, pairs *p) {
    outline *outlines = BO_NEW_ZEROS(ctx, outline, model->component_count);
    bough_status status = outlines ? draw_outlines(ctx, model, outlines) : BOUGH_ERROR_MEMORY;
    for (int32_t j = 0; j < model->part_count && status == BOUGH_OK; j++)
        if (bo_tree_is_welded(&model->parts[j]))
            status = pair_part(ctx, model, outlines, first, j, p);
    free_outlines(ctx, model->component_count, outlines);
    return status;
}

/* ---- places ---- */

static int ascending(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int32_t copy_of(const bo_tree_seams *seams, int32_t vertex) {
    const int32_t *found = bsearch(&vertex, seams->copies, (size_t)seams->copy_count, sizeof *seams->copies, ascending);
    return (int32_t)(found - seams->copies);
}

/* copies: all vertices of pairs, once each. */
static bough_status collect_copies(bough_context *ctx, const pairs *p, bo_tree_seams *seams) {
    seams->copies = BO_NEW_ARRAY(ctx, int32_t, 2 * p->count);
    seams->copy_part = BO_NEW_ARRAY(ctx, int32_t, 2 * p->count);
    if (!seams->copies || !seams->copy_part)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < p->count; i++)
        seams->copies[2 * i] = p->list[i].child, seams->copies[2 * i + 1] = p->list[i].parent;
    qsort(seams->copies, 2 * p->count, sizeof *seams->copies, ascending);
    for (size_t i = 0; i < 2 * p->count; i++)
        if (i == 0 || seams->copies[i] != seams->copies[i - 1])
            seams->copies[seams->copy_count++] = seams->copies[i];
    return BOUGH_OK;
}

static void find_part_copies(const bough_tree_model *model, const int32_t *first, bo_tree_seams *seams) {
    int32_t copy = 0;
    for (int32_t i = 0; i <= model->part_count; i++) {
        while (copy < seams->copy_count && seams->copies[copy] < first[i])
            seams->copy_part[copy++] = i - 1;
        seams->part_first[i] = copy;
    }
}

/* The smallest copy of a place, by a forest in which everyone points to a smaller one. */
static int32_t smallest(int32_t *forest, int32_t copy) {
    while (forest[copy] != copy)
        copy = forest[copy] = forest[forest[copy]];
    return copy;
}

static void join(int32_t *forest, int32_t a, int32_t b) {
    a = smallest(forest, a), b = smallest(forest, b);
    forest[a > b ? a : b] = a > b ? b : a;
}

/* Numbers places in the order of their smallest copies and lists their members: a counting sort. */
static void list_places(bo_tree_seams *seams, int32_t *forest) {
    const int32_t count = seams->copy_count;
    for (int32_t c = 0; c < count; c++)
        forest[c] = smallest(forest, c);
    for (int32_t c = 0; c < count; c++) /* now the place's number: that of a smaller copy is known */
        forest[c] = forest[c] == c ? seams->place_count++ : forest[forest[c]];
    memset(seams->place_first, 0, ((size_t)count + 2) * sizeof *seams->place_first);
    int32_t *first = seams->place_first;
    for (int32_t c = 0; c < count; c++)
        first[forest[c] + 2]++;
    for (int32_t place = 0; place < seams->place_count; place++)
        first[place + 2] += first[place + 1];
    for (int32_t c = 0; c < count; c++)
        seams->members[first[forest[c] + 1]++] = c;
}

static bough_status form_places(bough_context *ctx, const pairs *p, bo_tree_seams *seams) {
    int32_t *forest = BO_NEW_ARRAY(ctx, int32_t, seams->copy_count);
    seams->place_first = BO_NEW_ARRAY(ctx, int32_t, (size_t)seams->copy_count + 2);
    seams->members = BO_NEW_ARRAY(ctx, int32_t, seams->copy_count);
    if (forest && seams->place_first && seams->members) {
        for (int32_t c = 0; c < seams->copy_count; c++)
            forest[c] = c;
        for (size_t i = 0; i < p->count; i++)
            join(forest, copy_of(seams, p->list[i].child), copy_of(seams, p->list[i].parent));
        list_places(seams, forest);
    }
    bo_free(ctx, forest);
    return forest && seams->place_first && seams->members ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_tree_find_seams(bough_context *ctx, const bough_tree_model *model, const int32_t *first,
                                bo_tree_seams *seams) {
    pairs p = {0};
    seams->part_first = BO_NEW_ARRAY(ctx, int32_t, (size_t)model->part_count + 1);
    bough_status status = seams->part_first ? find_pairs(ctx, model, first, &p) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = collect_copies(ctx, &p, seams);
    if (status == BOUGH_OK) {
        find_part_copies(model, first, seams);
        status = form_places(ctx, &p, seams);
    }
    bo_free(ctx, p.list);
    return status;
}

void bo_tree_free_seams(bough_context *ctx, bo_tree_seams *seams) {
    bo_free(ctx, seams->copies);
    bo_free(ctx, seams->copy_part);
    bo_free(ctx, seams->part_first);
    bo_free(ctx, seams->place_first);
    bo_free(ctx, seams->members);
}
