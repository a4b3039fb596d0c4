#include "contact/near_tree.h"

#include "base/morton.h"

#include <float.h>
#include <string.h>

/* A tree whose boxes are that much larger than those of a new one, in terms of its leaves, gets a new order. */
static const double WORN = 1.5;

void bo_near_tree_free(bough_context *ctx, struct bo_near_tree *tree) {
    if (!tree)
        return;
    void *blocks[] = {tree->corners,     tree->triangles,  tree->point_start, tree->points, tree->edge_start,
                      tree->edges,       tree->taken,      tree->vertices,    tree->nodes,  tree->triangle_boxes,
                      tree->point_boxes, tree->edge_boxes, tree->found,       tree->starts};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, tree);
}

static bool is_of(const struct bo_near_tree *tree, const bo_skin *skin) {
    return tree->vertex_count == skin->vertex_count && tree->point_count == skin->point_count &&
           tree->edge_count == skin->edge_count && tree->triangle_count == skin->triangle_count &&
           memcmp(tree->corners, skin->triangles, 3 * (size_t)tree->triangle_count * sizeof *tree->corners) == 0;
}

static bool allocate(bough_context *ctx, struct bo_near_tree *tree) {
    const size_t triangles = (size_t)tree->triangle_count, points = (size_t)tree->point_count,
                 edges = (size_t)tree->edge_count, leaves = (size_t)tree->leaf_count;
    tree->corners = BO_NEW_ARRAY(ctx, int32_t, 3 * triangles);
    tree->triangles = BO_NEW_ARRAY(ctx, int32_t, triangles);
    tree->point_start = BO_NEW_ARRAY(ctx, int32_t, leaves + 1);
    tree->points = BO_NEW_ARRAY(ctx, int32_t, points);
    tree->edge_start = BO_NEW_ARRAY(ctx, int32_t, leaves + 1);
    tree->edges = BO_NEW_ARRAY(ctx, int32_t, edges);
    tree->taken = BO_NEW_ARRAY(ctx, unsigned char, points > edges ? points : edges);
    tree->vertices = BO_NEW_ARRAY(ctx, bo_near_box, tree->vertex_count);
    tree->nodes = BO_NEW_ARRAY(ctx, bo_near_box, 2 * leaves);
    tree->triangle_boxes = BO_NEW_ARRAY(ctx, bo_near_box, triangles);
    tree->point_boxes = BO_NEW_ARRAY(ctx, bo_near_box, points);
    tree->edge_boxes = BO_NEW_ARRAY(ctx, bo_near_box, edges);
    tree->starts = BO_NEW_ARRAY(ctx, int32_t, points + edges + 1);
    return tree->corners && tree->triangles && tree->point_start && tree->points && tree->edge_start && tree->edges &&
           tree->taken && tree->vertices && tree->nodes && tree->triangle_boxes && tree->point_boxes &&
           tree->edge_boxes && tree->starts;
}

bough_status bo_near_tree_make(bough_context *ctx, const bo_skin *skin, bo_near *near) {
    if (near->tree && is_of(near->tree, skin))
        return BOUGH_OK;
    bo_near_tree_free(ctx, near->tree);
    near->tree = NULL;
    struct bo_near_tree *tree = BO_NEW(ctx, struct bo_near_tree);
    if (!tree)
        return BOUGH_ERROR_MEMORY;
    tree->vertex_count = skin->vertex_count, tree->point_count = skin->point_count;
    tree->edge_count = skin->edge_count, tree->triangle_count = skin->triangle_count;
    tree->leaf_count = (skin->triangle_count + BO_NEAR_LEAF - 1) / BO_NEAR_LEAF;
    if (!allocate(ctx, tree)) {
        bo_near_tree_free(ctx, tree);
        return BOUGH_ERROR_MEMORY;
    }
    memcpy(tree->corners, skin->triangles, 3 * (size_t)tree->triangle_count * sizeof *tree->corners);
    near->tree = tree;
    return BOUGH_OK;
}

/* ---- the order ---- */

static void middle_of(const void *data, int32_t triangle, double x[3]) {
    const struct bo_near_tree *tree = data;
    bo_f4 sum = {0};
    for (int i = 0; i < 3; i++) {
        const bo_near_box *box = &tree->vertices[tree->corners[3 * (size_t)triangle + (size_t)i]];
        sum += box->lower + box->upper;
    }
    for (int d = 0; d < 3; d++)
        x[d] = (double)sum[d];
}

/* Finds the number of (a, b) among rows of `width` numbers in ascending order; b counts for a width of 2 only. It must
 * be there. */
static int32_t find_row(int32_t count, const int32_t *rows, int width, int32_t a, int32_t b) {
    int32_t low = 0, high = count - 1;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2, *row = rows + (size_t)width * (size_t)middle;
        if (row[0] < a || (row[0] == a && width == 2 && row[1] < b))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Every piece goes to the first leaf that has it. k counts triangles in their order. */
static void hand_out_points(const bo_skin *skin, struct bo_near_tree *tree) {
    int32_t count = 0;
    memset(tree->taken, 0, (size_t)tree->point_count);
    for (int32_t k = 0; k < tree->triangle_count; k++) {
        const int32_t *v = tree->corners + 3 * (size_t)tree->triangles[k];
        if (k % BO_NEAR_LEAF == 0)
            tree->point_start[k / BO_NEAR_LEAF] = count;
        for (int i = 0; i < 3; i++) {
            const int32_t point = find_row(skin->point_count, skin->points, 1, v[i], 0);
            if (!tree->taken[point])
                tree->taken[point] = 1, tree->points[count++] = point;
        }
    }
    tree->point_start[tree->leaf_count] = count;
}

static void hand_out_edges(const bo_skin *skin, struct bo_near_tree *tree) {
    int32_t count = 0;
    memset(tree->taken, 0, (size_t)tree->edge_count);
    for (int32_t k = 0; k < tree->triangle_count; k++) {
        const int32_t *v = tree->corners + 3 * (size_t)tree->triangles[k];
        if (k % BO_NEAR_LEAF == 0)
            tree->edge_start[k / BO_NEAR_LEAF] = count;
        for (int i = 0; i < 3; i++) {
            const int32_t a = v[i], b = v[(i + 1) % 3],
                          edge = find_row(skin->edge_count, skin->edges, 2, a < b ? a : b, a < b ? b : a);
            if (!tree->taken[edge])
                tree->taken[edge] = 1, tree->edges[count++] = edge;
        }
    }
    tree->edge_start[tree->leaf_count] = count;
}

static bough_status find_order(bough_context *ctx, const bo_skin *skin, struct bo_near_tree *tree) {
    BO_TRY(bo_morton_order(ctx, tree->triangle_count, middle_of, tree, tree->triangles));
    hand_out_points(skin, tree);
    hand_out_edges(skin, tree);
    return BOUGH_OK;
}

/* ---- boxes ---- */

/* Floats that are certainly below or above: two units of the last place are more than the rounding to the nearest. */
static float below(double x) {
    if (!(fabs(x) < FLT_MAX / 2))
        return x > 0 ? FLT_MAX / 2 : -INFINITY;
    return (float)x - (2 * FLT_EPSILON * fabsf((float)x) + FLT_MIN);
}
static float above(double x) {
    return -below(-x);
}

static bo_near_box around(const bo_near_box *a, const bo_near_box *b) {
    bo_near_box both = *a;
    for (int d = 0; d < 4; d++) {
        both.lower[d] = b->lower[d] < both.lower[d] ? b->lower[d] : both.lower[d];
        both.upper[d] = b->upper[d] > both.upper[d] ? b->upper[d] : both.upper[d];
    }
    return both;
}
static double size_of(const bo_near_box *a) {
    const bo_f4 size = a->upper - a->lower;
    return (double)size[0] + (double)size[1] + (double)size[2];
}

/* Returns how much a sum of coordinates that cancel may be wrong. */
static double coordinates_of(const double x[3], double along[4]) {
    static const double PART = 0.57735026918962573; /* 1 / sqrt(3) */
    along[0] = x[0], along[1] = x[1], along[2] = x[2], along[3] = PART * (x[0] + x[1] + x[2]);
    return 4 * DBL_EPSILON * (fabs(x[0]) + fabs(x[1]) + fabs(x[2]));
}

static bough_status fit_vertices(bough_context *ctx, const bo_skin *skin, const double *x, const double *p,
                                 double margin, struct bo_near_tree *tree) {
    for (int32_t i = 0; i < skin->point_count; i++) {
        const int32_t v = skin->points[i];
        bo_near_box *box = &tree->vertices[v];
        double from[4], to[4], end[3];
        for (int d = 0; d < 3; d++)
            end[d] = x[3 * (size_t)v + (size_t)d] + (p ? p[3 * (size_t)v + (size_t)d] : 0);
        const double rounding = coordinates_of(x + 3 * (size_t)v, from) + coordinates_of(end, to);
        if (!isfinite(rounding))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "vertex %d of the surface is not at a finite place", v);
        for (int d = 0; d < 4; d++) {
            box->lower[d] = below((from[d] < to[d] ? from[d] : to[d]) - margin - rounding);
            box->upper[d] = above((from[d] < to[d] ? to[d] : from[d]) + margin + rounding);
        }
    }
    return BOUGH_OK;
}

/* Returns the sum of the sizes of the boxes of nodes. */
static double fit_nodes(struct bo_near_tree *tree, bo_near_range range) {
    bo_near_box *box = &tree->nodes[range.node];
    double below_it = 0;
    if (range.count == 1) {
        const int32_t begin = bo_near_first_triangle(tree, range.first),
                      end = bo_near_first_triangle(tree, range.first + 1);
        *box = tree->triangle_boxes[begin];
        for (int32_t k = begin + 1; k < end; k++)
            *box = around(box, &tree->triangle_boxes[k]);
    } else {
        const bo_near_range left = bo_near_left(range), right = bo_near_right(range);
        below_it = fit_nodes(tree, left) + fit_nodes(tree, right);
        *box = around(&tree->nodes[left.node], &tree->nodes[right.node]);
    }
    return below_it + size_of(box);
}

/* Returns the size of all nodes in terms of their triangles: the less, the better. */
static double fit_tree(struct bo_near_tree *tree) {
    double triangles = DBL_MIN;
    for (int32_t k = 0; k < tree->triangle_count; k++) {
        const int32_t *v = tree->corners + 3 * (size_t)tree->triangles[k];
        bo_near_box *box = &tree->triangle_boxes[k];
        *box = around(&tree->vertices[v[0]], &tree->vertices[v[1]]);
        *box = around(box, &tree->vertices[v[2]]);
        triangles += size_of(box);
    }
    return fit_nodes(tree, bo_near_all(tree)) / triangles;
}

bough_status bo_near_tree_fit(bough_context *ctx, const bo_skin *skin, const double *x, const double *p, double margin,
                              struct bo_near_tree *tree) {
    BO_TRY(fit_vertices(ctx, skin, x, p, margin, tree));
    if (tree->built == 0 || fit_tree(tree) > WORN * tree->built) {
        BO_TRY(find_order(ctx, skin, tree));
        tree->built = fit_tree(tree);
    }
    for (int32_t k = 0; k < tree->point_count; k++)
        tree->point_boxes[k] = tree->vertices[skin->points[tree->points[k]]];
    for (int32_t k = 0; k < tree->edge_count; k++) {
        const int32_t *v = skin->edges + 2 * (size_t)tree->edges[k];
        tree->edge_boxes[k] = around(&tree->vertices[v[0]], &tree->vertices[v[1]]);
    }
    return BOUGH_OK;
}
