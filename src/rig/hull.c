/* The convex hull of points: triangles first (each step takes the point furthest outside one of them and replaces all
 * that it sees), then faces of those that lie in one plane. docs/theory/rig.md, "Shapes". */
#include "rig/shape.h"

#include <stdlib.h>
#include <string.h>

#define SAME 1e-9 /* of the extent: points nearer to a face are not outside it */
#define FLAT 1e-6 /* of the extent: what is thinner is no solid */

typedef struct {
    int32_t corners[3], beyond[3]; /* beyond[k]: the triangle across corners[k], corners[k + 1] */
    bo_vec3 normal;
    double offset;
    int32_t outside; /* first of the points outside it; -1: none */
    bool alive, seen;
} triangle;

/* An edge around what the new point sees, and the triangle that stays beyond it. */
typedef struct {
    int32_t from, to, beyond, side;
} rim;

typedef struct {
    bough_context *ctx;
    const bo_vec3 *points;
    int32_t count;
    double same;
    int32_t *next; /* of each point: the next outside the same triangle */
    int32_t *from; /* of each point: the new triangle whose rim begins there; -1 */
    size_t triangle_count, triangle_capacity;
    triangle *triangles;
    size_t seen_count, seen_capacity;
    int32_t *seen;
    size_t rim_count, rim_capacity;
    rim *rims;
} builder;

static double height_above(const triangle *t, bo_vec3 x) {
    return bo_dot(t->normal, x) - t->offset;
}

/* The same for every order of points that lie equally far: an end of them by x, y, z is a corner of the hull, which a
 * point between others would not be. */
static bool comes_later(bo_vec3 a, bo_vec3 b) {
    return a.x != b.x ? a.x > b.x : a.y != b.y ? a.y > b.y : a.z > b.z;
}

/* ---- the first tetrahedron ---- */

/* Returns the distance of a point from a point, a line or a plane through the first `known` corners. */
static double distance_from(const builder *b, const int32_t *corners, int known, bo_vec3 x) {
    const bo_vec3 o = b->points[corners[0]], d = bo_sub(x, o);
    if (known == 1)
        return bo_norm(d);
    const bo_vec3 u = bo_normalize(bo_sub(b->points[corners[1]], o));
    if (known == 2)
        return bo_norm(bo_cross(u, d));
    return fabs(bo_dot(bo_normalize(bo_cross(u, bo_sub(b->points[corners[2]], o))), d));
}

static bough_status find_tetrahedron(const builder *b, double extent, int32_t corners[4]) {
    static const char *const flat[] = {"at one place", "on one line", "in one plane"};
    corners[0] = 0;
    for (int32_t i = 1; i < b->count; i++)
        if (comes_later(b->points[i], b->points[corners[0]]))
            corners[0] = i;
    for (int known = 1; known < 4; known++) {
        double most = 0;
        int32_t best = -1;
        for (int32_t i = 0; i < b->count; i++)
            most = fmax(most, distance_from(b, corners, known, b->points[i]));
        for (int32_t i = 0; i < b->count; i++)
            if (distance_from(b, corners, known, b->points[i]) >= most - b->same &&
                (best < 0 || comes_later(b->points[i], b->points[best])))
                best = i;
        if (!(most > FLAT * extent))
            return bo_fail(b->ctx, BOUGH_ERROR_ARGUMENT,
                           "the points of a hull lie %s; it needs four that span a solid, thicker than %g of its size",
                           flat[known - 1], FLAT);
        corners[known] = best;
    }
    return BOUGH_OK;
}

/* ---- triangles ---- */

static bough_status add_triangle(builder *b, int32_t p, int32_t q, int32_t r) {
    if (!BO_RESERVE(b->ctx, b->triangles, b->triangle_capacity, b->triangle_count + 1))
        return bo_fail_memory(b->ctx);
    const bo_vec3 o = b->points[p], cross = bo_cross(bo_sub(b->points[q], o), bo_sub(b->points[r], o));
    const bo_vec3 normal = bo_normalize(cross);
    if (!(bo_norm(cross) > 0))
        return bo_fail(b->ctx, BOUGH_ERROR_ARGUMENT,
                       "the points of a hull are too close to each other: leave out those that nearly coincide");
    b->triangles[b->triangle_count++] =
        (triangle){.corners = {p, q, r}, .normal = normal, .offset = bo_dot(normal, o), .outside = -1, .alive = true};
    return BOUGH_OK;
}

/* Gives a point to the triangle of first .. triangle_count that it is furthest outside of. */
static void hand_out(builder *b, int32_t point, size_t first) {
    double most = b->same;
    triangle *best = NULL;
    for (size_t t = first; t < b->triangle_count; t++) {
        const double h = height_above(&b->triangles[t], b->points[point]);
        if (h > most)
            most = h, best = &b->triangles[t];
    }
    if (best)
        b->next[point] = best->outside, best->outside = point;
}

static bough_status begin(builder *b, double extent) {
    int32_t c[4];
    BO_TRY(find_tetrahedron(b, extent, c));
    const bo_vec3 o = b->points[c[0]], cross = bo_cross(bo_sub(b->points[c[1]], o), bo_sub(b->points[c[2]], o));
    if (bo_dot(cross, bo_sub(b->points[c[3]], o)) > 0) {
        const int32_t swapped = c[1];
        c[1] = c[2], c[2] = swapped;
    }
    /* 0 1 2 seen from outside, and from each of its edges one to corner 3 */
    BO_TRY(add_triangle(b, c[0], c[1], c[2]));
    for (int k = 0; k < 3; k++)
        BO_TRY(add_triangle(b, c[(k + 1) % 3], c[k], c[3]));
    for (int k = 0; k < 3; k++) {
        b->triangles[0].beyond[k] = 1 + k;
        b->triangles[1 + k].beyond[0] = 0;
        b->triangles[1 + k].beyond[1] = 1 + (k + 2) % 3;
        b->triangles[1 + k].beyond[2] = 1 + (k + 1) % 3;
    }
    for (int32_t i = 0; i < b->count; i++)
        hand_out(b, i, 0);
    return BOUGH_OK;
}

static int32_t furthest_outside(const builder *b, const triangle *t) {
    double most = 0;
    int32_t best = -1;
    for (int32_t i = t->outside; i >= 0; i = b->next[i])
        most = fmax(most, height_above(t, b->points[i]));
    for (int32_t i = t->outside; i >= 0; i = b->next[i])
        if (height_above(t, b->points[i]) >= most - b->same && (best < 0 || comes_later(b->points[i], b->points[best])))
            best = i;
    return best;
}

static bool take_seen(builder *b, int32_t t) {
    if (!BO_RESERVE(b->ctx, b->seen, b->seen_capacity, b->seen_count + 1))
        return false;
    b->triangles[t].seen = true;
    b->seen[b->seen_count++] = t;
    return true;
}

/* All triangles that x is above, from one of them on, and the rim around them. */
static bough_status look(builder *b, int32_t first, bo_vec3 x) {
    b->seen_count = b->rim_count = 0;
    if (!take_seen(b, first))
        return bo_fail_memory(b->ctx);
    for (size_t i = 0; i < b->seen_count; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t here = b->seen[i], beyond = b->triangles[here].beyond[k];
            const triangle *t = &b->triangles[beyond];
            if (!t->seen && height_above(t, x) > b->same && !take_seen(b, beyond))
                return bo_fail_memory(b->ctx);
        }
    for (size_t i = 0; i < b->seen_count; i++)
        for (int k = 0; k < 3; k++) {
            const triangle *t = &b->triangles[b->seen[i]];
            const int32_t beyond = t->beyond[k];
            if (b->triangles[beyond].seen)
                continue;
            if (!BO_RESERVE(b->ctx, b->rims, b->rim_capacity, b->rim_count + 1))
                return bo_fail_memory(b->ctx);
            int side = 0;
            while (side < 2 && b->triangles[beyond].beyond[side] != b->seen[i])
                side++;
            b->rims[b->rim_count++] = (rim){t->corners[k], t->corners[(k + 1) % 3], beyond, side};
        }
    return BOUGH_OK;
}

static bough_status fail_rounding(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                   "the hull of the points cannot be told from rounding: leave out points that nearly coincide or lie "
                   "nearly in the faces of others");
}

/* New triangles from the rim to the point, instead of those that it sees. */
static bough_status put_on(builder *b, int32_t point) {
    const size_t first = b->triangle_count;
    for (size_t i = 0; i < b->rim_count; i++) {
        const rim r = b->rims[i];
        BO_TRY(add_triangle(b, r.from, r.to, point));
        b->triangles[first + i].beyond[0] = r.beyond;
        b->triangles[r.beyond].beyond[r.side] = (int32_t)(first + i);
        if (b->from[r.from] >= 0)
            return fail_rounding(b->ctx);
        b->from[r.from] = (int32_t)(first + i);
    }
    for (size_t i = 0; i < b->rim_count; i++) {
        const int32_t after = b->from[b->rims[i].to];
        if (after < 0)
            return fail_rounding(b->ctx);
        b->triangles[first + i].beyond[1] = after;
        b->triangles[after].beyond[2] = (int32_t)(first + i);
    }
    for (size_t i = 0; i < b->rim_count; i++)
        b->from[b->rims[i].from] = -1;
    for (size_t i = 0; i < b->seen_count; i++) {
        triangle *t = &b->triangles[b->seen[i]];
        t->alive = false;
        for (int32_t p = t->outside, next; p >= 0; p = next) {
            next = b->next[p];
            if (p != point)
                hand_out(b, p, first);
        }
    }
    return BOUGH_OK;
}

static bough_status enclose(builder *b) {
    for (size_t t = 0; t < b->triangle_count; t++) {
        if (!b->triangles[t].alive || b->triangles[t].outside < 0)
            continue;
        const int32_t point = furthest_outside(b, &b->triangles[t]);
        BO_TRY(look(b, (int32_t)t, b->points[point]));
        BO_TRY(put_on(b, point));
    }
    return BOUGH_OK;
}

/* ---- faces ---- */

static int32_t root(int32_t *group, int32_t t) {
    while (group[t] != t)
        t = group[t] = group[group[t]];
    return t;
}

static bool in_one_plane(const builder *b, const triangle *t, const triangle *other) {
    double off = 0;
    for (int k = 0; k < 3; k++) {
        off = fmax(off, fabs(height_above(t, b->points[other->corners[k]])));
        off = fmax(off, fabs(height_above(other, b->points[t->corners[k]])));
    }
    return bo_dot(t->normal, other->normal) > 0.5 && off <= 10 * b->same;
}

/* group[t]: one of the triangles that make up a face with t. */
static void group_triangles(const builder *b, int32_t *group) {
    const int32_t count = (int32_t)b->triangle_count;
    for (int32_t t = 0; t < count; t++)
        group[t] = t;
    for (int32_t t = 0; t < count; t++)
        for (int k = 0; k < 3 && b->triangles[t].alive; k++) {
            const int32_t other = b->triangles[t].beyond[k];
            if (in_one_plane(b, &b->triangles[t], &b->triangles[other]))
                group[root(group, t)] = root(group, other);
        }
    for (int32_t t = 0; t < count; t++)
        group[t] = root(group, t);
}

/* A side of a face: of triangles that have another face beyond. */
typedef struct {
    int32_t face, from, to;
} side;

static int by_face(const void *a, const void *b) {
    const side *x = a, *y = b;
    return x->face != y->face ? (x->face > y->face) - (x->face < y->face) : (x->from > y->from) - (x->from < y->from);
}

static int32_t gather_sides(const builder *b, const int32_t *group, side *sides) {
    int32_t count = 0;
    for (size_t t = 0; t < b->triangle_count; t++)
        for (int k = 0; k < 3 && b->triangles[t].alive; k++)
            if (group[b->triangles[t].beyond[k]] != group[t])
                sides[count++] = (side){group[t], b->triangles[t].corners[k], b->triangles[t].corners[(k + 1) % 3]};
    qsort(sides, (size_t)count, sizeof *sides, by_face);
    return count;
}

/* Puts the sides of each face in the order in which they follow each other; false where they do not. */
static bool order_sides(side *sides, int32_t count) {
    for (int32_t begin_at = 0, end; begin_at < count; begin_at = end) {
        for (end = begin_at; end < count && sides[end].face == sides[begin_at].face; end++)
            ;
        for (int32_t i = begin_at; i + 1 < end; i++) {
            int32_t k = i + 1;
            while (k < end && sides[k].from != sides[i].to)
                k++;
            if (k == end)
                return false;
            const side swapped = sides[i + 1];
            sides[i + 1] = sides[k], sides[k] = swapped;
        }
        if (end - begin_at < 3 || sides[end - 1].to != sides[begin_at].from)
            return false;
    }
    return true;
}

/* Normal by Newell's sum; the offset so that no corner of the face is outside. */
static void find_plane(bo_hull *hull, int32_t face) {
    const int32_t first = hull->face_start[face], end = hull->face_start[face + 1];
    const bo_vec3 o = hull->vertices[hull->loops[first]];
    bo_vec3 sum = {0, 0, 0};
    for (int32_t i = first + 1; i + 1 < end; i++)
        sum = bo_add(
            sum, bo_cross(bo_sub(hull->vertices[hull->loops[i]], o), bo_sub(hull->vertices[hull->loops[i + 1]], o)));
    hull->normals[face] = bo_normalize(sum);
    hull->offsets[face] = -INFINITY;
    for (int32_t i = first; i < end; i++)
        hull->offsets[face] = fmax(hull->offsets[face], bo_dot(hull->normals[face], hull->vertices[hull->loops[i]]));
}

static int by_corners(const void *a, const void *b) {
    const bo_hull_edge *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

/* Edges from the sides, each of which another face has in the other direction. */
static bool find_edges(bo_hull *hull, bo_hull_edge *halves, int32_t count) {
    for (int32_t f = 0, i = 0; f < hull->face_count; f++)
        for (int32_t first = i, end = hull->face_start[f + 1]; i < end; i++)
            halves[i] = (bo_hull_edge){hull->loops[i], hull->loops[i + 1 < end ? i + 1 : first], f, -1};
    qsort(halves, (size_t)count, sizeof *halves, by_corners);
    hull->edge_count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (halves[i].from > halves[i].to)
            continue;
        const bo_hull_edge turned = {halves[i].to, halves[i].from, 0, 0};
        const bo_hull_edge *other = bsearch(&turned, halves, (size_t)count, sizeof *halves, by_corners);
        if (!other || 2 * hull->edge_count >= count)
            return false;
        hull->edges[hull->edge_count] = halves[i];
        hull->edges[hull->edge_count++].right = other->left;
    }
    return 2 * hull->edge_count == count && hull->vertex_count - hull->edge_count + hull->face_count == 2;
}

static bough_status allocate(bough_context *ctx, bo_hull *hull, int32_t vertices, int32_t faces, int32_t sides) {
    hull->vertices = BO_NEW_ARRAY(ctx, bo_vec3, vertices);
    hull->normals = BO_NEW_ARRAY(ctx, bo_vec3, faces);
    hull->offsets = BO_NEW_ARRAY(ctx, double, faces);
    hull->face_start = BO_NEW_ARRAY(ctx, int32_t, faces + 1);
    hull->loops = BO_NEW_ARRAY(ctx, int32_t, sides);
    hull->edges = BO_NEW_ARRAY(ctx, bo_hull_edge, sides / 2 + 1);
    const bool good =
        hull->vertices && hull->normals && hull->offsets && hull->face_start && hull->loops && hull->edges;
    return good ? BOUGH_OK : bo_fail_memory(ctx);
}

/* number[point]: its corner, in the order of the points; returns how many. */
static int32_t number_corners(const builder *b, const side *sides, int32_t count, int32_t *number) {
    int32_t corners = 0;
    for (int32_t i = 0; i < b->count; i++)
        number[i] = -1;
    for (int32_t i = 0; i < count; i++)
        number[sides[i].from] = 0;
    for (int32_t i = 0; i < b->count; i++)
        if (number[i] == 0)
            number[i] = corners++;
    return corners;
}

static void find_extent(bo_hull *hull) {
    hull->middle = bo_v3(0, 0, 0);
    hull->lower = hull->upper = hull->vertices[0];
    for (int32_t i = 0; i < hull->vertex_count; i++) {
        const bo_vec3 x = hull->vertices[i];
        hull->middle = bo_mul_add(hull->middle, 1. / hull->vertex_count, x);
        hull->lower = bo_v3(fmin(hull->lower.x, x.x), fmin(hull->lower.y, x.y), fmin(hull->lower.z, x.z));
        hull->upper = bo_v3(fmax(hull->upper.x, x.x), fmax(hull->upper.y, x.y), fmax(hull->upper.z, x.z));
    }
}

static bough_status fill(const builder *b, const side *sides, int32_t count, bo_hull *hull) {
    int32_t *number = b->from; /* no longer needed */
    int32_t faces = 0;
    for (int32_t i = 0; i < count; i++)
        faces += i == 0 || sides[i].face != sides[i - 1].face;
    const int32_t corners = number_corners(b, sides, count, number);
    if (corners > BO_MOST_CORNERS)
        return bo_fail(b->ctx, BOUGH_ERROR_ARGUMENT,
                       "a hull of these points has %d corners; more than %d would be slow: simplify it", corners,
                       BO_MOST_CORNERS);
    BO_TRY(allocate(b->ctx, hull, corners, faces, count));
    hull->vertex_count = corners, hull->face_count = faces;
    for (int32_t i = 0; i < b->count; i++)
        if (number[i] >= 0)
            hull->vertices[number[i]] = b->points[i];
    find_extent(hull);
    for (int32_t i = 0, face = 0; i < count; i++) {
        if (i == 0 || sides[i].face != sides[i - 1].face)
            hull->face_start[face++] = i;
        hull->loops[i] = number[sides[i].from];
    }
    hull->face_start[faces] = count;
    for (int32_t f = 0; f < faces; f++)
        find_plane(hull, f);
    bo_hull_edge *halves = BO_NEW_ARRAY(b->ctx, bo_hull_edge, count);
    if (!halves)
        return bo_fail_memory(b->ctx);
    const bool closed = find_edges(hull, halves, count);
    bo_free(b->ctx, halves);
    return closed ? BOUGH_OK : fail_rounding(b->ctx);
}

/* No corner outside any face, by more than what makes points the same. */
static bool is_convex(const bo_hull *hull, double same) {
    for (int32_t f = 0; f < hull->face_count; f++)
        for (int32_t i = 0; i < hull->vertex_count; i++)
            if (!(bo_dot(hull->normals[f], hull->vertices[i]) <= hull->offsets[f] + 100 * same))
                return false;
    return true;
}

static bough_status find_faces(const builder *b, bo_hull *hull) {
    int32_t *group = BO_NEW_ARRAY(b->ctx, int32_t, b->triangle_count);
    side *sides = group ? BO_NEW_ARRAY(b->ctx, side, 3 * b->triangle_count) : NULL;
    if (!sides) {
        bo_free(b->ctx, group);
        return bo_fail_memory(b->ctx);
    }
    group_triangles(b, group);
    const int32_t count = gather_sides(b, group, sides);
    bough_status status = order_sides(sides, count) ? fill(b, sides, count, hull) : fail_rounding(b->ctx);
    if (status == BOUGH_OK && !is_convex(hull, b->same))
        status = fail_rounding(b->ctx);
    bo_free(b->ctx, group);
    bo_free(b->ctx, sides);
    return status;
}

/* ---- all of it ---- */

static double extent_of(int32_t count, const bo_vec3 *points) {
    double extent = 0;
    for (int32_t i = 1; i < count; i++)
        extent = fmax(extent, bo_norm(bo_sub(points[i], points[0])));
    return extent;
}

bough_status bo_hull_create(bough_context *ctx, int32_t count, const bo_vec3 *points, bo_hull *hull) {
    const double extent = extent_of(count, points);
    builder b = {.ctx = ctx, .points = points, .count = count, .same = SAME * extent};
    memset(hull, 0, sizeof *hull);
    b.next = BO_NEW_ARRAY(ctx, int32_t, count);
    b.from = BO_NEW_ARRAY(ctx, int32_t, count);
    bough_status status = b.next && b.from ? BOUGH_OK : bo_fail_memory(ctx);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        b.from[i] = b.next[i] = -1;
    if (status == BOUGH_OK)
        status = begin(&b, extent);
    if (status == BOUGH_OK)
        status = enclose(&b);
    if (status == BOUGH_OK)
        status = find_faces(&b, hull);
    bo_free(ctx, b.next);
    bo_free(ctx, b.from);
    bo_free(ctx, b.triangles);
    bo_free(ctx, b.seen);
    bo_free(ctx, b.rims);
    if (status != BOUGH_OK)
        bo_hull_destroy(ctx, hull);
    return status;
}

void bo_hull_destroy(bough_context *ctx, bo_hull *hull) {
    bo_free(ctx, hull->vertices);
    bo_free(ctx, hull->normals);
    bo_free(ctx, hull->offsets);
    bo_free(ctx, hull->face_start);
    bo_free(ctx, hull->loops);
    bo_free(ctx, hull->edges);
    memset(hull, 0, sizeof *hull);
}
