/* Finds the pieces of a skin that are near each other. */
#include "contact/exact.h"
#include "contact/near_tree.h"

#include <string.h>

typedef struct search {
    bough_context *ctx;
    const bo_skin *skin;
    const double *x, *p; /* p may be NULL */
    double distance;
    const unsigned char *ignores; /* may be NULL */
    struct bo_near_tree *tree;
    bool is_short;          /* of memory */
    bool crossings;         /* edges that cross triangles are looked for, not pairs */
    int32_t edge, triangle; /* the first of these; -1: none so far */
} search;

/* ---- one pair ---- */

static bool is_wanted(const search *s, const int32_t v[4]) {
    return !s->ignores || !s->ignores[v[0]] || !s->ignores[v[1]] || !s->ignores[v[2]] || !s->ignores[v[3]];
}

static bool stays_apart(const search *s, bo_pair_kind kind, const int32_t v[4]) {
    bo_vec3 x[4], p[4];
    for (int i = 0; i < 4; i++) {
        x[i] = bo_load3(s->x + 3 * (size_t)v[i]);
        if (s->p)
            p[i] = bo_load3(s->p + 3 * (size_t)v[i]);
    }
    return bo_pair_stays_apart(kind, x, s->p ? p : NULL, s->distance);
}

/* first: the number of a point, or point_count + that of an edge; second: that of a triangle or an edge. */
static void keep_if_near(search *s, bo_pair_kind kind, const int32_t v[4], int32_t first, int32_t second) {
    struct bo_near_tree *tree = s->tree;
    if (!is_wanted(s, v) || stays_apart(s, kind, v))
        return;
    if (!BO_RESERVE(s->ctx, tree->found, tree->found_capacity, tree->found_count + 1)) {
        s->is_short = true;
        return;
    }
    tree->found[tree->found_count++] = (uint64_t)first << 32 | (uint64_t)second;
}

/* ---- two leaves ---- */

enum { MOST_PIECES = 3 * BO_NEAR_LEAF }; /* of a kind in a leaf */

/* Lists those of the boxes begin .. end-1 that overlap another one. There is no branch on it, since nobody could
 * foresee which way it goes. */
static int pick(const bo_near_box *boxes, int32_t begin, int32_t end, const bo_near_box *other,
                int32_t picked[MOST_PIECES]) {
    int count = 0;
    for (int32_t i = begin; i < end; i++) {
        picked[count] = i;
        count += bo_near_boxes_overlap(&boxes[i], other);
    }
    return count;
}

/* Points of leaf a with triangles of leaf b. */
static void meet_points(search *s, bo_near_range a, bo_near_range b) {
    const struct bo_near_tree *tree = s->tree;
    int32_t points[MOST_PIECES], triangles[MOST_PIECES];
    const int point_count = pick(tree->point_boxes, tree->point_start[a.first], tree->point_start[a.first + 1],
                                 &tree->nodes[b.node], points);
    if (point_count == 0)
        return;
    const int triangle_count = pick(tree->triangle_boxes, bo_near_first_triangle(tree, b.first),
                                    bo_near_first_triangle(tree, b.first + 1), &tree->nodes[a.node], triangles);
    for (int i = 0; i < point_count; i++)
        for (int k = 0; k < triangle_count; k++) {
            if (!bo_near_boxes_overlap(&tree->point_boxes[points[i]], &tree->triangle_boxes[triangles[k]]))
                continue;
            const int32_t point = tree->points[points[i]], v = s->skin->points[point],
                          triangle = tree->triangles[triangles[k]], *t = tree->corners + 3 * (size_t)triangle;
            if (v != t[0] && v != t[1] && v != t[2])
                keep_if_near(s, BO_PAIR_POINT_TRIANGLE, (int32_t[4]){v, t[0], t[1], t[2]}, point, triangle);
        }
}

static void meet_two_edges(search *s, int32_t i, int32_t k) {
    const struct bo_near_tree *tree = s->tree;
    const int32_t first = tree->edges[i] < tree->edges[k] ? tree->edges[i] : tree->edges[k],
                  second = tree->edges[i] + tree->edges[k] - first;
    const int32_t *e = s->skin->edges + 2 * (size_t)first, *f = s->skin->edges + 2 * (size_t)second;
    if (e[0] != f[0] && e[0] != f[1] && e[1] != f[0] && e[1] != f[1])
        keep_if_near(s, BO_PAIR_EDGES, (int32_t[4]){e[0], e[1], f[0], f[1]}, tree->point_count + first, second);
}

/* Edges of leaf a with those of leaf b, or with one another if it is the same. */
static void meet_edges(search *s, bo_near_range a, bo_near_range b) {
    const struct bo_near_tree *tree = s->tree;
    int32_t first[MOST_PIECES], second[MOST_PIECES];
    const int first_count =
        pick(tree->edge_boxes, tree->edge_start[a.first], tree->edge_start[a.first + 1], &tree->nodes[b.node], first);
    if (first_count == 0)
        return;
    const int second_count =
        pick(tree->edge_boxes, tree->edge_start[b.first], tree->edge_start[b.first + 1], &tree->nodes[a.node], second);
    for (int i = 0; i < first_count; i++)
        for (int k = a.node == b.node ? i + 1 : 0; k < second_count; k++)
            if (bo_near_boxes_overlap(&tree->edge_boxes[first[i]], &tree->edge_boxes[second[k]]))
                meet_two_edges(s, first[i], second[k]);
}

/* Edges of leaf a that cross triangles of leaf b. */
static void meet_crossings(search *s, bo_near_range a, bo_near_range b) {
    const struct bo_near_tree *tree = s->tree;
    for (int32_t i = tree->edge_start[a.first]; i < tree->edge_start[a.first + 1]; i++)
        for (int32_t k = bo_near_first_triangle(tree, b.first); k < bo_near_first_triangle(tree, b.first + 1); k++) {
            const int32_t edge = tree->edges[i], triangle = tree->triangles[k], *e = s->skin->edges + 2 * (size_t)edge,
                          *t = tree->corners + 3 * (size_t)triangle;
            const bool earlier = s->edge < 0 || edge < s->edge || (edge == s->edge && triangle < s->triangle);
            if (!earlier || !bo_near_boxes_overlap(&tree->edge_boxes[i], &tree->triangle_boxes[k]) || e[0] == t[0] ||
                e[0] == t[1] || e[0] == t[2] || e[1] == t[0] || e[1] == t[1] || e[1] == t[2])
                continue;
            if (bo_edge_meets_triangle(s->x + 3 * (size_t)e[0], s->x + 3 * (size_t)e[1], s->x + 3 * (size_t)t[0],
                                       s->x + 3 * (size_t)t[1], s->x + 3 * (size_t)t[2]))
                s->edge = edge, s->triangle = triangle;
        }
}

/* ---- the tree with itself ---- */

static void meet_leaves(search *s, bo_near_range a, bo_near_range b) {
    const bool one = a.node == b.node;
    if (s->crossings) {
        meet_crossings(s, a, b);
        if (!one)
            meet_crossings(s, b, a);
        return;
    }
    meet_points(s, a, b);
    if (!one)
        meet_points(s, b, a);
    meet_edges(s, a, b);
}

static bool overlap(const search *s, bo_near_range a, bo_near_range b) {
    return bo_near_boxes_overlap(&s->tree->nodes[a.node], &s->tree->nodes[b.node]);
}

/* Finds pairs of leaves whose boxes overlap below two nodes that do. A box around a piece is within that of its leaf,
 * so that no pair is missed; and every piece belongs to one leaf, so that none is found twice. */
static void meet(search *s, bo_near_range a, bo_near_range b) {
    if (a.count == 1 && b.count == 1) {
        meet_leaves(s, a, b);
        return;
    }
    const bool swap = a.count < b.count;
    const bo_near_range whole = swap ? a : b, left = bo_near_left(swap ? b : a), right = bo_near_right(swap ? b : a);
    if (overlap(s, left, whole) && !s->is_short)
        meet(s, left, whole);
    if (overlap(s, right, whole) && !s->is_short)
        meet(s, right, whole);
}

static void meet_itself(search *s, bo_near_range a) {
    if (a.count == 1) {
        meet_leaves(s, a, a);
        return;
    }
    const bo_near_range left = bo_near_left(a), right = bo_near_right(a);
    meet_itself(s, left);
    meet_itself(s, right);
    if (overlap(s, left, right) && !s->is_short)
        meet(s, left, right);
}

/* ---- the result ---- */

static bo_near_pair pair_of(const bo_skin *skin, int32_t first, int32_t second) {
    if (first < skin->point_count) {
        const int32_t *t = skin->triangles + 3 * (size_t)second;
        return (bo_near_pair){BO_PAIR_POINT_TRIANGLE, {skin->points[first], t[0], t[1], t[2]}};
    }
    const int32_t *e = skin->edges + 2 * (size_t)(first - skin->point_count), *f = skin->edges + 2 * (size_t)second;
    return (bo_near_pair){BO_PAIR_EDGES, {e[0], e[1], f[0], f[1]}};
}

/* Shell's sort of the second pieces of one first piece, which are few. */
static void sort_seconds(int32_t count, bo_near_pair *pairs) {
    int32_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int32_t i = gap; i < count; i++) {
            const bo_near_pair pair = pairs[i];
            int32_t k = i;
            for (; k >= gap && pairs[k - gap].vertices[0] > pair.vertices[0]; k -= gap)
                pairs[k] = pairs[k - gap];
            pairs[k] = pair;
        }
}

/* Sorts by counting how many pairs each first piece has. While seconds are sorted, vertices[0] holds their number. */
static bough_status write_pairs(search *s, bo_near *near) {
    struct bo_near_tree *tree = s->tree;
    const size_t count = tree->found_count;
    const int32_t firsts = tree->point_count + tree->edge_count;
    int32_t *starts = tree->starts;
    if (count > INT32_MAX)
        return bo_fail(s->ctx, BOUGH_ERROR_UNSUPPORTED, "more than %d pairs of pieces are near each other", INT32_MAX);
    if (!BO_RESERVE(s->ctx, near->pairs, near->capacity, count))
        return BOUGH_ERROR_MEMORY;
    memset(starts, 0, ((size_t)firsts + 1) * sizeof *starts);
    for (size_t i = 0; i < count; i++)
        starts[tree->found[i] >> 32]++;
    for (int32_t k = 0, sum = 0; k <= firsts; k++) {
        const int32_t own = starts[k];
        starts[k] = sum, sum += own;
    }
    for (size_t i = 0; i < count; i++)
        near->pairs[starts[tree->found[i] >> 32]++].vertices[0] = (int32_t)(tree->found[i] & UINT32_MAX);
    for (int32_t k = 0, begin = 0; k < firsts; begin = starts[k++]) {
        if (starts[k] > begin)
            sort_seconds(starts[k] - begin, near->pairs + begin);
        for (int32_t i = begin; i < starts[k]; i++)
            near->pairs[i] = pair_of(s->skin, k, near->pairs[i].vertices[0]);
    }
    near->count = (int32_t)count;
    return BOUGH_OK;
}

bough_status bo_near_find(bough_context *ctx, const bo_skin *skin, const double *x, const double *p, double distance,
                          const unsigned char *ignores, bo_near *near) {
    near->count = 0;
    if (!(distance >= 0) || !isfinite(distance))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "pairs cannot be nearer than a distance of %g m", distance);
    if (skin->triangle_count == 0)
        return BOUGH_OK;
    BO_TRY(bo_near_tree_make(ctx, skin, near));
    BO_TRY(bo_near_tree_fit(ctx, skin, x, p, distance / 2, near->tree));
    search s = {.ctx = ctx, .skin = skin, .x = x, .p = p, .distance = distance, .ignores = ignores, .tree = near->tree};
    s.tree->found_count = 0;
    meet_itself(&s, bo_near_all(s.tree));
    return s.is_short ? BOUGH_ERROR_MEMORY : write_pairs(&s, near);
}

bough_status bo_near_crossing(bough_context *ctx, const bo_skin *skin, const double *x, bo_near *near, int32_t *edge,
                              int32_t *triangle) {
    near->count = 0;
    *edge = *triangle = -1;
    if (skin->triangle_count == 0)
        return BOUGH_OK;
    BO_TRY(bo_near_tree_make(ctx, skin, near));
    BO_TRY(bo_near_tree_fit(ctx, skin, x, NULL, 0, near->tree));
    search s = {.ctx = ctx, .skin = skin, .x = x, .tree = near->tree, .crossings = true, .edge = -1, .triangle = -1};
    meet_itself(&s, bo_near_all(s.tree));
    *edge = s.edge, *triangle = s.triangle;
    return BOUGH_OK;
}

void bo_near_free(bough_context *ctx, bo_near *near) {
    bo_near_tree_free(ctx, near->tree);
    bo_free(ctx, near->pairs);
    memset(near, 0, sizeof *near);
}
