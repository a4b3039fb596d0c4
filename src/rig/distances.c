/* Signed distances of grid nodes from a surface of triangles. A tree of boxes finds the nearest triangle, which is exact.
 * The same tree sums solid angles for the sign: branches that are far away count as one dipole each, near triangles
 * count exactly. Signs that were filled in from node to node would be quicker, but would leak through holes that are
 * wider than a cell. docs/theory/contact.md, "Gaps". */
#include "rig/splines.h"

#include "base/morton.h"
#include "base/threads.h"

/* ---- one triangle ---- */

typedef struct {
    bo_vec3 a, b, c;
} triangle;

/* Compilers call functions for fmin() and fmax(), which treat NAN specially. */
static double lesser(double a, double b) {
    return a < b ? a : b;
}
static double greater(double a, double b) {
    return a > b ? a : b;
}
static double squared(bo_vec3 v) {
    return bo_dot(v, v);
}

static double squared_from_segment(bo_vec3 x, bo_vec3 a, bo_vec3 b) {
    const bo_vec3 ab = bo_sub(b, a), ax = bo_sub(x, a);
    const double length2 = bo_dot(ab, ab), t = length2 > 0 ? bo_dot(ax, ab) / length2 : 0;
    return squared(bo_mul_add(ax, -greater(0, lesser(t, 1)), ab));
}

/* The nearest point is the foot of the perpendicular, at a + v ab + w ac, or on an edge. Triangles without area have no
 * foot. However rounded v and w are, their point is in the triangle, and no distance comes out too small. */
static double squared_from_triangle(bo_vec3 x, const triangle *t) {
    const bo_vec3 ab = bo_sub(t->b, t->a), ac = bo_sub(t->c, t->a), ax = bo_sub(x, t->a), n = bo_cross(ab, ac);
    const double nn = bo_dot(n, n), v = bo_dot(bo_cross(ax, ac), n) / nn, w = bo_dot(bo_cross(ab, ax), n) / nn;
    if (v >= 0 && w >= 0 && v + w <= 1)
        return squared(bo_mul_add(bo_mul_add(ax, -v, ab), -w, ac));
    return lesser(squared_from_segment(x, t->a, t->b),
                  lesser(squared_from_segment(x, t->b, t->c), squared_from_segment(x, t->c, t->a)));
}

/* The solid angle under which a triangle with corners a, b, c is seen from 0, positive from behind, is
 *     tan(angle / 2) = a . (b x c) / (|a| |b| |c| + a . b |c| + b . c |a| + c . a |b|) = im / re
 * (van Oosterom and Strackee 1983): twice the argument of a complex number. */
static void find_angle(bo_vec3 a, bo_vec3 b, bo_vec3 c, double *re, double *im) {
    const double la = bo_norm(a), lb = bo_norm(b), lc = bo_norm(c);
    *re = la * lb * lc + bo_dot(a, b) * lc + bo_dot(b, c) * la + bo_dot(c, a) * lb;
    *im = bo_dot(a, bo_cross(b, c));
}

double bo_solid_angle(bo_vec3 a, bo_vec3 b, bo_vec3 c) {
    double re, im;
    find_angle(a, b, c, &re, &im);
    return 2 * atan2(im, re);
}

/* Sums of solid angles. Up to three of the complex numbers, with arguments below 45 degrees, are multiplied before the
 * argument is taken, which costs most. */
typedef struct {
    double sum, x, y;
    int count; /* of numbers in x + iy */
} angles;

static void take_product(angles *to) {
    if (to->count > 0)
        to->sum += 2 * atan2(to->y, to->x);
    to->x = 1, to->y = 0, to->count = 0;
}

static void add_angle(bo_vec3 x, const triangle *t, angles *to) {
    double re, im;
    find_angle(bo_sub(t->a, x), bo_sub(t->b, x), bo_sub(t->c, x), &re, &im);
    if (!(fabs(im) <= re && re > 1e-60 && re < 1e60)) {
        to->sum += 2 * atan2(im, re);
        return;
    }
    const double product = to->x * re - to->y * im;
    to->y = to->x * im + to->y * re, to->x = product;
    if (++to->count == 3)
        take_product(to);
}

/* ---- the tree ---- */

/* Triangles in the order of a space-filling curve, halved again and again: branch k of a level with 2^level branches has
 * the triangles from count k / 2^level on. Its number is 2^level - 1 + k. */
typedef struct {
    bo_vec3 lower, upper; /* a box around its triangles */
    bo_vec3 dipole;       /* the sum of area times normal */
    bo_vec3 middle;       /* the mean of its triangles, by area */
    double area;
    double radius; /* no corner of the box is further from the middle */
} branch;

typedef struct {
    int32_t count;
    int32_t levels; /* the last one has the leaves */
    triangle *triangles;
    branch *branches; /* 2^(levels + 1) - 1 */
} tree;

enum { MOST_IN_LEAF = 4 };

static int32_t first_of(const tree *t, int32_t level, int32_t k) {
    return (int32_t)((int64_t)t->count * k >> level);
}
static branch *branch_at(const tree *t, int32_t level, int32_t k) {
    return t->branches + ((1 << level) - 1 + k);
}

static bo_vec3 least_of(bo_vec3 a, bo_vec3 b) {
    return bo_v3(lesser(a.x, b.x), lesser(a.y, b.y), lesser(a.z, b.z));
}
static bo_vec3 most_of(bo_vec3 a, bo_vec3 b) {
    return bo_v3(greater(a.x, b.x), greater(a.y, b.y), greater(a.z, b.z));
}

static branch branch_of_triangle(const triangle *t) {
    const bo_vec3 dipole = bo_scale(0.5, bo_cross(bo_sub(t->b, t->a), bo_sub(t->c, t->a)));
    return (branch){.lower = least_of(t->a, least_of(t->b, t->c)),
                    .upper = most_of(t->a, most_of(t->b, t->c)),
                    .dipole = dipole,
                    .middle = bo_scale(1.0 / 3, bo_add(t->a, bo_add(t->b, t->c))),
                    .area = bo_norm(dipole)};
}
static branch joined(const branch *a, const branch *b) {
    const double area = a->area + b->area, share = area > 0 ? b->area / area : 0.5;
    return (branch){.lower = least_of(a->lower, b->lower),
                    .upper = most_of(a->upper, b->upper),
                    .dipole = bo_add(a->dipole, b->dipole),
                    .middle = bo_mul_add(a->middle, share, bo_sub(b->middle, a->middle)),
                    .area = area};
}

static void fill_branches(tree *t) {
    for (int32_t level = t->levels; level >= 0; level--)
        for (int32_t k = 0; k < 1 << level; k++) {
            branch *b = branch_at(t, level, k);
            if (level < t->levels) {
                *b = joined(branch_at(t, level + 1, 2 * k), branch_at(t, level + 1, 2 * k + 1));
            } else {
                const int32_t begin = first_of(t, level, k), end = first_of(t, level, k + 1);
                *b = branch_of_triangle(&t->triangles[begin]);
                for (int32_t i = begin + 1; i < end; i++) {
                    const branch next = branch_of_triangle(&t->triangles[i]);
                    *b = joined(b, &next);
                }
            }
            b->radius = bo_norm(most_of(bo_sub(b->upper, b->middle), bo_sub(b->middle, b->lower)));
        }
}

typedef struct {
    const double *vertices;
    const int32_t *triangles;
} soup;

static triangle triangle_of(const soup *from, int32_t index) {
    const int32_t *v = from->triangles + 3 * (int64_t)index;
    return (triangle){bo_load3(from->vertices + 3 * (int64_t)v[0]), bo_load3(from->vertices + 3 * (int64_t)v[1]),
                      bo_load3(from->vertices + 3 * (int64_t)v[2])};
}
static void middle_of(const void *data, int32_t index, double x[3]) {
    const triangle t = triangle_of(data, index);
    bo_store3(x, bo_scale(1.0 / 3, bo_add(t.a, bo_add(t.b, t.c))));
}

static bough_status make_tree(bough_context *ctx, const soup *from, int32_t count, tree *t) {
    *t = (tree){.count = count};
    while (count >> t->levels > MOST_IN_LEAF)
        t->levels++;
    t->triangles = BO_NEW_ARRAY(ctx, triangle, count);
    t->branches = BO_NEW_ARRAY(ctx, branch, ((int64_t)2 << t->levels) - 1);
    int32_t *order = BO_NEW_ARRAY(ctx, int32_t, count);
    bough_status status = t->triangles && t->branches && order ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = bo_morton_order(ctx, count, middle_of, from, order);
    if (status == BOUGH_OK) {
        for (int32_t i = 0; i < count; i++)
            t->triangles[i] = triangle_of(from, order[i]);
        fill_branches(t);
    }
    bo_free(ctx, order);
    return status;
}
static void free_tree(bough_context *ctx, tree *t) {
    bo_free(ctx, t->triangles);
    bo_free(ctx, t->branches);
}

/* ---- distance ---- */

static double squared_from_box(bo_vec3 x, const branch *b) {
    const bo_vec3 nearest = least_of(most_of(x, b->lower), b->upper);
    return squared(bo_sub(x, nearest));
}

/* Lowers *best to the square of the distance of the nearest triangle of a branch, if that is less. */
static void look_for_nearest(const tree *t, int32_t level, int32_t k, bo_vec3 x, double *best) {
    if (level == t->levels) {
        for (int32_t i = first_of(t, level, k); i < first_of(t, level, k + 1); i++)
            *best = lesser(*best, squared_from_triangle(x, &t->triangles[i]));
        return;
    }
    const double left = squared_from_box(x, branch_at(t, level + 1, 2 * k)),
                 right = squared_from_box(x, branch_at(t, level + 1, 2 * k + 1));
    const int32_t nearer = 2 * k + (right < left), further = 4 * k + 1 - nearer;
    if (lesser(left, right) < *best)
        look_for_nearest(t, level + 1, nearer, x, best);
    if (greater(left, right) < *best)
        look_for_nearest(t, level + 1, further, x, best);
}

/* ---- winding number ---- */

/* A branch is far where its middle is this many radii away. The sum was then off by less than 0.04 of a turn around a
 * torus; the sign only asks whether it is more than half a turn. */
#define FAR 2.0

static double solid_angle_of_branch(const tree *t, int32_t level, int32_t k, bo_vec3 x) {
    const branch *b = branch_at(t, level, k);
    const bo_vec3 r = bo_sub(b->middle, x);
    const double r2 = bo_dot(r, r);
    if (r2 > FAR * FAR * b->radius * b->radius)
        return bo_dot(b->dipole, r) / (r2 * sqrt(r2));
    if (level < t->levels)
        return solid_angle_of_branch(t, level + 1, 2 * k, x) + solid_angle_of_branch(t, level + 1, 2 * k + 1, x);
    angles near = {.x = 1};
    for (int32_t i = first_of(t, level, k); i < first_of(t, level, k + 1); i++)
        add_angle(x, &t->triangles[i], &near);
    take_product(&near);
    return near.sum;
}

/* ---- all nodes ---- */

typedef struct {
    const tree *tree;
    const int32_t *counts;
    double cell;
    bo_vec3 origin;
    double *distances;
    int32_t first_row; /* of those that are done together */
} job;

#define HAIR 1e-9 /* of a bound on a distance: more than its rounding */

/* The side of a node, along a row. Solid angles are most of the work. Where one is all of a sphere or nothing of it, within
 * DECIDED, the next nodes are on the same side if no triangle is nearer than where they are: of two at most, since the
 * angle may change through a hole that is wider than a cell, but not so fast. */
typedef struct {
    bool inside;
    int32_t left; /* nodes that are on this side, too */
} verdict;

#define DECIDED 0.05
enum { MOST_ALIKE = 2 };

static verdict judge(const tree *t, bo_vec3 x, double distance, double cell) {
    const double turns = fabs(solid_angle_of_branch(t, 0, 0, x)) / (4 * M_PI);
    const bool decided = turns < DECIDED || fabs(turns - 1) < DECIDED;
    const double cells = distance / (cell * (1 + HAIR));
    return (verdict){turns > 0.5, !decided ? 0 : cells > MOST_ALIKE ? MOST_ALIKE : (int32_t)cells};
}

/* A row of nodes. The distance of one is no more than that of the node before and a cell: the search for the nearest
 * triangle starts from there. */
static void do_row(void *data, int32_t task) {
    const job *j = data;
    const int32_t row = j->first_row + task, count = j->counts[0], ny = j->counts[1];
    double *distances = j->distances + (int64_t)row * count, bound = INFINITY;
    verdict side = {false, 0};
    for (int32_t i = 0; i < count; i++) {
        const bo_vec3 x = bo_mul_add(j->origin, j->cell, bo_v3(i, row % ny, (double)(row / ny)));
        double best = bound * bound;
        look_for_nearest(j->tree, 0, 0, x, &best);
        const double distance = sqrt(best);
        if (side.left-- <= 0)
            side = judge(j->tree, x, distance, j->cell);
        distances[i] = side.inside ? -distance : distance;
        bound = (distance + j->cell) * (1 + HAIR);
    }
}

/* All rows, some at a time, so that whoever waits sees how far they are. */
static bough_status do_rows(bough_context *ctx, job *j) {
    enum { TIMES = 32 };
    const int32_t rows = j->counts[1] * j->counts[2], some = (rows + TIMES - 1) / TIMES;
    for (int32_t row = 0; row < rows; row += some) {
        if (!bo_progress(ctx, "distances from a surface", (double)row / rows, "%d triangles", j->tree->count))
            return bo_fail_cancelled(ctx);
        j->first_row = row;
        bo_run_tasks(ctx, do_row, j, some < rows - row ? some : rows - row);
    }
    return BOUGH_OK;
}

static bough_status check_surface(bough_context *ctx, int32_t vertex_count, const double *vertices,
                                  int32_t triangle_count, const int32_t *triangles) {
    if (vertex_count < 3 || triangle_count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a surface with %d vertices and %d triangles has no distance",
                       (int)vertex_count, (int)triangle_count);
    if (!bo_all_finite(3 * (int64_t)vertex_count, vertices))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a vertex of the surface is not finite");
    for (int64_t k = 0; k < 3 * (int64_t)triangle_count; k++)
        if (triangles[k] < 0 || triangles[k] >= vertex_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "triangle %d of the surface has vertex %d; there are %d vertices",
                           (int)(k / 3), (int)triangles[k], (int)vertex_count);
    return BOUGH_OK;
}

bough_status bo_distances_of_surface(bough_context *ctx, int32_t vertex_count, const double *vertices,
                                     int32_t triangle_count, const int32_t *triangles, const int32_t counts[3],
                                     double cell, bo_vec3 origin, double *distances) {
    BO_TRY(bo_distance_grid_check(ctx, counts, cell, origin));
    BO_TRY(check_surface(ctx, vertex_count, vertices, triangle_count, triangles));
    const soup from = {vertices, triangles};
    tree t;
    bough_status status = make_tree(ctx, &from, triangle_count, &t);
    if (status == BOUGH_OK)
        status = do_rows(ctx, &(job){&t, counts, cell, origin, distances, 0});
    free_tree(ctx, &t);
    return status;
}

enum { MARGIN = 4 }; /* cells around a surface */

bough_status bo_distance_grid_around(bough_context *ctx, int32_t vertex_count, const double *vertices,
                                     int32_t triangle_count, const int32_t *triangles, int32_t cells,
                                     bo_distance_grid *grid, float **nodes) {
    bo_vec3 low = bo_v3(INFINITY, INFINITY, INFINITY), high = bo_scale(-1, low);
    *grid = (bo_distance_grid){0};
    for (int32_t i = 0; i < vertex_count; i++) {
        const bo_vec3 x = bo_load3(vertices + 3 * (size_t)i);
        low = least_of(low, x), high = most_of(high, x);
    }
    const double sides[3] = {high.x - low.x, high.y - low.y, high.z - low.z};
    const double cell = greater(sides[0], greater(sides[1], sides[2])) / cells;
    if (!(cell > 0 && isfinite(cell)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a surface without size has no inside");
    int32_t counts[3];
    for (int k = 0; k < 3; k++)
        counts[k] = (int32_t)ceil(sides[k] / cell) + 2 * MARGIN + 1;
    const bo_vec3 origin = bo_mul_add(low, -(double)MARGIN * cell, bo_v3(1, 1, 1));
    const size_t count = (size_t)counts[0] * (size_t)counts[1] * (size_t)counts[2];
    double *distances = BO_NEW_ARRAY(ctx, double, count);
    if (nodes)
        *nodes = BO_NEW_ARRAY(ctx, float, count);
    if (!distances || (nodes && !*nodes)) {
        bo_free(ctx, distances);
        return bo_fail_memory(ctx);
    }
    bough_status status = bo_distances_of_surface(ctx, vertex_count, vertices, triangle_count, triangles, counts, cell,
                                                  origin, distances);
    if (status == BOUGH_OK)
        status = bo_distance_grid_make(ctx, counts, cell, origin, distances, grid);
    for (size_t k = 0; nodes && k < count && status == BOUGH_OK; k++)
        (*nodes)[k] = (float)distances[k];
    bo_free(ctx, distances);
    return status;
}
