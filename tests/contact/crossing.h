/* Decides exactly whether surfaces of triangles cross: by signs of determinants of the coordinates as they are, without
 * rounding (unless products of three coordinates underflow). Knows nothing of pairs and their distances. */
#ifndef BOUGH_TEST_CROSSING_H
#define BOUGH_TEST_CROSSING_H

#include "contact/near.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ---- exact sums ---- */

/* A sum of doubles that do not overlap, ascending: its sign is that of the last one (Shewchuk, Adaptive precision
 * floating-point arithmetic, 1997). */
typedef struct expansion {
    int count;
    double terms[128];
} expansion;

static inline void expansion_add(expansion *sum, double b) {
    int kept = 0;
    for (int i = 0; i < sum->count; i++) {
        const double a = sum->terms[i], s = a + b, bv = s - a, rest = (a - (s - bv)) + (b - bv); /* a + b = s + rest */
        if (rest != 0)
            sum->terms[kept++] = rest;
        b = s;
    }
    if (b != 0 || kept == 0)
        sum->terms[kept++] = b;
    sum->count = kept;
}

/* Adds a b c: with a b = p + q, it is p c + q c, each of them a product and its rounding. */
static inline void expansion_add_product(expansion *sum, double a, double b, double c) {
    const double p = a * b, q = fma(a, b, -p), pc = p * c, qc = q * c;
    expansion_add(sum, fma(q, c, -qc));
    expansion_add(sum, qc);
    expansion_add(sum, fma(p, c, -pc));
    expansion_add(sum, pc);
}

static inline int expansion_sign(const expansion *sum) {
    const double last = sum->count ? sum->terms[sum->count - 1] : 0;
    return (last > 0) - (last < 0);
}

static inline const double *crossing_at(const double *x, int32_t vertex) {
    return x + 3 * (size_t)vertex;
}

/* Adds sign det(a, b, c). */
static inline void expansion_add_determinant(expansion *sum, double sign, const double *a, const double *b,
                                             const double *c) {
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        expansion_add_product(sum, sign * a[i], b[j], c[k]);
        expansion_add_product(sum, -sign * a[i], b[k], c[j]);
    }
}

/* Returns the sign of det(b - a, c - a, d - a): on which side of the plane through a, b, c the point d is. The first
 * try is in floating point, and counts where it is beyond its rounding. */
static inline int side_of_plane(const double *a, const double *b, const double *c, const double *d) {
    double u[3][3], sum = 0, size = 0;
    for (int i = 0; i < 3; i++)
        u[0][i] = b[i] - a[i], u[1][i] = c[i] - a[i], u[2][i] = d[i] - a[i];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double p = u[1][j] * u[2][k], q = u[1][k] * u[2][j];
        sum += u[0][i] * (p - q), size += fabs(u[0][i]) * (fabs(p) + fabs(q));
    }
    if (fabs(sum) > 16 * DBL_EPSILON * size)
        return (sum > 0) - (sum < 0);
    expansion exact = {0};
    expansion_add_determinant(&exact, 1, b, c, d);
    expansion_add_determinant(&exact, -1, a, c, d);
    expansion_add_determinant(&exact, 1, a, b, d);
    expansion_add_determinant(&exact, -1, a, b, c);
    return expansion_sign(&exact);
}

/* Returns on which side of the line from a to b the point c is, in the projection along an axis. */
static inline int side_of_line(int axis, const double *a, const double *b, const double *c) {
    const int i = (axis + 1) % 3, k = (axis + 2) % 3;
    const double *corners[4] = {a, b, c, a};
    expansion exact = {0};
    for (int n = 0; n < 3; n++) {
        expansion_add_product(&exact, corners[n][i], corners[n + 1][k], 1);
        expansion_add_product(&exact, -corners[n][k], corners[n + 1][i], 1);
    }
    return expansion_sign(&exact);
}

/* ---- edges and triangles ---- */

/* Returns true if c, on the line through a and b, is between them, ends included. */
static inline bool is_between(int axis, const double *a, const double *b, const double *c) {
    for (int n = 1; n < 3; n++) {
        const int i = (axis + n) % 3;
        if (c[i] < fmin(a[i], b[i]) || c[i] > fmax(a[i], b[i]))
            return false;
    }
    return true;
}

static inline bool projections_meet(int axis, const double *p, const double *q, const double *a, const double *b) {
    const int sa = side_of_line(axis, p, q, a), sb = side_of_line(axis, p, q, b), sp = side_of_line(axis, a, b, p),
              sq = side_of_line(axis, a, b, q);
    if (sa * sb < 0 && sp * sq < 0)
        return true;
    return (sa == 0 && is_between(axis, p, q, a)) || (sb == 0 && is_between(axis, p, q, b)) ||
           (sp == 0 && is_between(axis, a, b, p)) || (sq == 0 && is_between(axis, a, b, q));
}

/* Edges in one plane meet if all their projections do: along at least one axis nothing is lost. */
static inline bool edges_meet(const double *p, const double *q, const double *a, const double *b) {
    return side_of_plane(p, q, a, b) == 0 && projections_meet(0, p, q, a, b) && projections_meet(1, p, q, a, b) &&
           projections_meet(2, p, q, a, b);
}

/* Returns true if p, in the plane of a triangle, is within it, and not on its border. */
static inline bool is_within(const double *p, const double *a, const double *b, const double *c) {
    for (int axis = 0; axis < 3; axis++) {
        const int side = side_of_line(axis, a, b, c);
        if (side != 0)
            return side_of_line(axis, a, b, p) == side && side_of_line(axis, b, c, p) == side &&
                   side_of_line(axis, c, a, p) == side;
    }
    return false;
}

/* Returns true if the edge from p to q and the triangle have a point in common, borders included. */
static inline bool edge_meets_triangle(const double *p, const double *q, const double *a, const double *b,
                                       const double *c) {
    const int sp = side_of_plane(a, b, c, p), sq = side_of_plane(a, b, c, q);
    if (sp * sq > 0)
        return false;
    if (sp == 0 && sq == 0)
        return is_within(p, a, b, c) || edges_meet(p, q, a, b) || edges_meet(p, q, b, c) || edges_meet(p, q, c, a);
    const int s[3] = {side_of_plane(p, q, a, b), side_of_plane(p, q, b, c), side_of_plane(p, q, c, a)};
    return (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
}

/* ---- surfaces ---- */

typedef struct crossing_piece {
    double lower[3], upper[3];
    int32_t number;
} crossing_piece;

static inline int crossing_by_lower(const void *a, const void *b) {
    const double p = ((const crossing_piece *)a)->lower[0], q = ((const crossing_piece *)b)->lower[0];
    return (p > q) - (p < q);
}

static inline void crossing_boxes(int32_t count, int corners, const int32_t *vertices, const double *x,
                                  crossing_piece *pieces) {
    for (int32_t n = 0; n < count; n++) {
        pieces[n].number = n;
        for (int i = 0; i < 3; i++) {
            double *lower = &pieces[n].lower[i], *upper = &pieces[n].upper[i];
            *lower = INFINITY, *upper = -INFINITY;
            for (int k = 0; k < corners; k++) {
                const double at = x[3 * (size_t)vertices[(size_t)corners * (size_t)n + (size_t)k] + (size_t)i];
                *lower = fmin(*lower, at), *upper = fmax(*upper, at);
            }
        }
    }
    qsort(pieces, (size_t)count, sizeof *pieces, crossing_by_lower);
}

static inline bool crossing_of(const bo_skin *skin, const double *x, const crossing_piece *edge,
                               const crossing_piece *triangle) {
    for (int i = 0; i < 3; i++)
        if (edge->lower[i] > triangle->upper[i] || triangle->lower[i] > edge->upper[i])
            return false;
    const int32_t *e = skin->edges + 2 * (size_t)edge->number, *t = skin->triangles + 3 * (size_t)triangle->number;
    for (int i = 0; i < 3; i++)
        if (e[0] == t[i] || e[1] == t[i])
            return false;
    return edge_meets_triangle(crossing_at(x, e[0]), crossing_at(x, e[1]), crossing_at(x, t[0]), crossing_at(x, t[1]),
                               crossing_at(x, t[2]));
}

/* Counts the edges that cross or touch triangles without a vertex in common, each edge once for each triangle; -1: there
 * was no memory. */
static inline int count_crossings(const bo_skin *skin, const double *x) {
    crossing_piece *edges = malloc(((size_t)skin->edge_count + 1) * sizeof *edges),
                   *triangles = malloc(((size_t)skin->triangle_count + 1) * sizeof *triangles);
    if (!edges || !triangles) {
        free(edges), free(triangles);
        return -1;
    }
    crossing_boxes(skin->edge_count, 2, skin->edges, x, edges);
    crossing_boxes(skin->triangle_count, 3, skin->triangles, x, triangles);
    double widest = 0;
    for (int32_t k = 0; k < skin->triangle_count; k++)
        widest = fmax(widest, triangles[k].upper[0] - triangles[k].lower[0]);
    int count = 0;
    for (int32_t n = 0, first = 0; n < skin->edge_count; n++) {
        while (first < skin->triangle_count && triangles[first].lower[0] < edges[n].lower[0] - 1.001 * widest)
            first++;
        for (int32_t k = first; k < skin->triangle_count && triangles[k].lower[0] <= edges[n].upper[0]; k++)
            count += crossing_of(skin, x, &edges[n], &triangles[k]);
    }
    free(edges), free(triangles);
    return count;
}

#endif
