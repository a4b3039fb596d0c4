/* Decides whether an edge and a triangle have a point in common: by signs of determinants of the coordinates as they are,
 * without rounding (unless products of three coordinates underflow). docs/theory/contact.md, "Overlaps". */
#ifndef BO_CONTACT_EXACT_H
#define BO_CONTACT_EXACT_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- exact sums ---- */

/* A sum of doubles that do not overlap, ascending: its sign is that of the last one (Shewchuk, Adaptive precision
 * floating-point arithmetic, 1997). */
typedef struct bo_expansion {
    int count;
    double terms[128];
} bo_expansion;

static inline void bo_expansion_add(bo_expansion *sum, double b) {
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
static inline void bo_expansion_add_product(bo_expansion *sum, double a, double b, double c) {
    const double p = a * b, q = fma(a, b, -p), pc = p * c, qc = q * c;
    bo_expansion_add(sum, fma(q, c, -qc));
    bo_expansion_add(sum, qc);
    bo_expansion_add(sum, fma(p, c, -pc));
    bo_expansion_add(sum, pc);
}

static inline int bo_expansion_sign(const bo_expansion *sum) {
    const double last = sum->count ? sum->terms[sum->count - 1] : 0;
    return (last > 0) - (last < 0);
}

/* Adds sign det(a, b, c). */
static inline void bo_expansion_add_determinant(bo_expansion *sum, double sign, const double *a, const double *b,
                                                const double *c) {
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        bo_expansion_add_product(sum, sign * a[i], b[j], c[k]);
        bo_expansion_add_product(sum, -sign * a[i], b[k], c[j]);
    }
}

/* Returns the sign of det(b - a, c - a, d - a): on which side of the plane through a, b, c the point d is. The first
 * try is in floating point, and counts where it is beyond its rounding. */
static inline int bo_side_of_plane(const double *a, const double *b, const double *c, const double *d) {
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
    bo_expansion exact = {0};
    bo_expansion_add_determinant(&exact, 1, b, c, d);
    bo_expansion_add_determinant(&exact, -1, a, c, d);
    bo_expansion_add_determinant(&exact, 1, a, b, d);
    bo_expansion_add_determinant(&exact, -1, a, b, c);
    return bo_expansion_sign(&exact);
}

/* Returns on which side of the line from a to b the point c is, in the projection along an axis. */
static inline int bo_side_of_line(int axis, const double *a, const double *b, const double *c) {
    const int i = (axis + 1) % 3, k = (axis + 2) % 3;
    const double *corners[4] = {a, b, c, a};
    bo_expansion exact = {0};
    for (int n = 0; n < 3; n++) {
        bo_expansion_add_product(&exact, corners[n][i], corners[n + 1][k], 1);
        bo_expansion_add_product(&exact, -corners[n][k], corners[n + 1][i], 1);
    }
    return bo_expansion_sign(&exact);
}

/* ---- edges and triangles ---- */

/* Returns true if c, on the line through a and b, is between them, ends included. */
static inline bool bo_is_between(int axis, const double *a, const double *b, const double *c) {
    for (int n = 1; n < 3; n++) {
        const int i = (axis + n) % 3;
        if (c[i] < fmin(a[i], b[i]) || c[i] > fmax(a[i], b[i]))
            return false;
    }
    return true;
}

static inline bool bo_projections_meet(int axis, const double *p, const double *q, const double *a, const double *b) {
    const int sa = bo_side_of_line(axis, p, q, a), sb = bo_side_of_line(axis, p, q, b),
              sp = bo_side_of_line(axis, a, b, p), sq = bo_side_of_line(axis, a, b, q);
    if (sa * sb < 0 && sp * sq < 0)
        return true;
    return (sa == 0 && bo_is_between(axis, p, q, a)) || (sb == 0 && bo_is_between(axis, p, q, b)) ||
           (sp == 0 && bo_is_between(axis, a, b, p)) || (sq == 0 && bo_is_between(axis, a, b, q));
}

/* Edges in one plane meet if all their projections do: along at least one axis nothing is lost. */
static inline bool bo_edges_meet(const double *p, const double *q, const double *a, const double *b) {
    return bo_side_of_plane(p, q, a, b) == 0 && bo_projections_meet(0, p, q, a, b) &&
           bo_projections_meet(1, p, q, a, b) && bo_projections_meet(2, p, q, a, b);
}

/* Returns true if p, in the plane of a triangle, is within it, and not on its border. */
static inline bool bo_is_within(const double *p, const double *a, const double *b, const double *c) {
    for (int axis = 0; axis < 3; axis++) {
        const int side = bo_side_of_line(axis, a, b, c);
        if (side != 0)
            return bo_side_of_line(axis, a, b, p) == side && bo_side_of_line(axis, b, c, p) == side &&
                   bo_side_of_line(axis, c, a, p) == side;
    }
    return false;
}

/* Returns true if the edge from p to q and the triangle have a point in common, borders included. */
static inline bool bo_edge_meets_triangle(const double *p, const double *q, const double *a, const double *b,
                                          const double *c) {
    const int sp = bo_side_of_plane(a, b, c, p), sq = bo_side_of_plane(a, b, c, q);
    if (sp * sq > 0)
        return false;
    if (sp == 0 && sq == 0)
        return bo_is_within(p, a, b, c) || bo_edges_meet(p, q, a, b) || bo_edges_meet(p, q, b, c) ||
               bo_edges_meet(p, q, c, a);
    const int s[3] = {bo_side_of_plane(p, q, a, b), bo_side_of_plane(p, q, b, c), bo_side_of_plane(p, q, c, a)};
    return (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
}

#endif
