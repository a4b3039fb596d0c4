/* A tree of boxes over the triangles of a skin, of near.c. docs/theory/contact.md, "Pairs". */
#ifndef BO_CONTACT_NEAR_TREE_H
#define BO_CONTACT_NEAR_TREE_H

#include "contact/near.h"

/* Bounds of coordinates along x, y, z and the diagonal (1, 1, 1) / sqrt(3), in single precision and rounded outwards:
 * two comparisons of four lanes tell whether two boxes overlap. The diagonal leaves out many pairs of what is slanted.
 * At any address, as memory comes. */
typedef float bo_f4 __attribute__((vector_size(16), aligned(4)));
typedef struct bo_near_box {
    bo_f4 lower, upper;
} bo_near_box;

static inline bool bo_near_boxes_overlap(const bo_near_box *a, const bo_near_box *b) {
    typedef int64_t two __attribute__((vector_size(16)));
    const two all = (two)((a->lower <= b->upper) & (b->lower <= a->upper));
    return (all[0] & all[1]) == -1;
}

enum { BO_NEAR_LEAF = 8 }; /* triangles of a leaf: fewer make more nodes, more make more pairs within leaves */

/* Triangles are put into an order in which neighbours in space are mostly neighbours, and every few of them are a leaf.
 * A node of the tree is a range of leaves; its children are the halves of the range. Nodes are stored with their left
 * child behind them, and the right child behind all nodes of the left: so no node needs to know where its children are.
 * Every point and every edge belongs to one leaf, that of the first triangle which it is in. */
struct bo_near_tree {
    int32_t vertex_count, point_count, edge_count, triangle_count, leaf_count;
    int32_t *corners;     /* triangle_count x 3: a copy of those of the skin, which tells whether it is another skin */
    int32_t *triangles;   /* triangle_count: in their order */
    int32_t *point_start; /* leaf_count + 1: where the points of each leaf begin in `points` */
    int32_t *points;      /* point_count: numbers of points of the skin */
    int32_t *edge_start;  /* leaf_count + 1: the same for edges */
    int32_t *edges;
    unsigned char *taken;  /* point_count or edge_count, whichever is more: scratch */
    bo_near_box *vertices; /* vertex_count: boxes around the way of each vertex, grown; those of points only */
    bo_near_box *nodes;    /* 2 leaf_count - 1 */
    bo_near_box *triangle_boxes, *point_boxes, *edge_boxes; /* alongside `triangles`, `points` and `edges` */
    double built;    /* quality of the tree when its order was found; 0: there is no order yet */
    uint64_t *found; /* pairs, (first << 32) + second: numbers of points, or point_count + numbers of edges */
    size_t found_count, found_capacity;
    int32_t *starts; /* point_count + edge_count + 1: where the pairs of each first piece begin when they are sorted */
};

/* A node: where it is stored, and its leaves. */
typedef struct bo_near_range {
    int32_t node, first, count;
} bo_near_range;
static inline bo_near_range bo_near_left(bo_near_range a) {
    return (bo_near_range){a.node + 1, a.first, a.count / 2};
}
static inline bo_near_range bo_near_right(bo_near_range a) {
    return (bo_near_range){a.node + 2 * (a.count / 2), a.first + a.count / 2, a.count - a.count / 2};
}

static inline bo_near_range bo_near_all(const struct bo_near_tree *tree) {
    return (bo_near_range){0, 0, tree->leaf_count};
}
/* Returns where the triangles of a leaf begin. */
static inline int32_t bo_near_first_triangle(const struct bo_near_tree *tree, int32_t leaf) {
    return leaf < tree->leaf_count ? leaf * BO_NEAR_LEAF : tree->triangle_count;
}

/* Makes the tree of a skin, without order and boxes, or keeps the one that near has if the skin is the same. */
bough_status bo_near_tree_make(bough_context *ctx, const bo_skin *skin, bo_near *near);
/* Fits the boxes to what vertices do from x to x + p, grown by `margin`, and finds a new order where the present one
 * has become bad. */
bough_status bo_near_tree_fit(bough_context *ctx, const bo_skin *skin, const double *x, const double *p, double margin,
                              struct bo_near_tree *tree);
void bo_near_tree_free(bough_context *ctx, struct bo_near_tree *tree);

#endif
