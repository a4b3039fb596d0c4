/* Pieces of surfaces that are near each other, found with a tree of boxes. docs/theory/contact.md, "Pairs". */
#ifndef BO_CONTACT_NEAR_H
#define BO_CONTACT_NEAR_H

#include "contact/pair.h"
#include "base/context.h"

/* A surface of triangles, with its edges, each once. Its points are the vertices that are in triangles. */
typedef struct bo_skin {
    int32_t vertex_count; /* of the arrays of positions: there may be vertices that are in no triangle */
    int32_t point_count, edge_count, triangle_count;
    int32_t *points;    /* point_count, ascending */
    int32_t *edges;     /* edge_count x 2, the lower vertex first, ascending */
    int32_t *triangles; /* triangle_count x 3 */
    int32_t *body;      /* vertex_count: the body that a vertex belongs to. Pieces of one body are pairs, too */
} bo_skin;
/* body may be NULL: all is one body. The caller frees the skin, also when this fails. Vertices of triangles must be in
 * range and three different ones (BOUGH_ERROR_ARGUMENT). */
bough_status bo_skin_make(bough_context *ctx, int32_t vertex_count, int32_t triangle_count, const int32_t *triangles,
                          const int32_t *body, bo_skin *skin);
void bo_skin_free(bough_context *ctx, bo_skin *skin);

/* A pair of pieces: vertices as bo_pair_at() takes them. */
typedef struct bo_near_pair {
    bo_pair_kind kind;
    int32_t vertices[4];
} bo_near_pair;

/* Pairs that are near. All zero bytes before the first use. Memory grows as needed and is kept for the next time. */
typedef struct bo_near {
    bo_near_pair *pairs; /* count: points with triangles, then edges; by the numbers of the first piece, then of the
                            second, in the skin. Each once */
    int32_t count;
    size_t capacity;
    struct bo_near_tree *tree; /* belongs to the search */
} bo_near;

/* Finds all pairs of a point and a triangle, and of two edges, that have no vertex in common and come nearer than
 * `distance` while vertices move from x to x + p in straight lines (p NULL: they stay). x, p: vertex_count x 3. Some
 * may be among them that only seem to come near; for p NULL there are none but for rounding. The result does not depend
 * on threads, nor on what was found before.
 *   ignores  vertex_count, or NULL: a pair all of whose vertices are ignored is left out, as those that are held
 * BOUGH_NOT_FINITE where a vertex of a triangle is not finite. Nothing is found then, or when memory is short. */
bough_status bo_near_find(bough_context *ctx, const bo_skin *skin, const double *x, const double *p, double distance,
                          const unsigned char *ignores, bo_near *near);
/* Finds an edge that crosses or touches a triangle which it has no vertex in common with, by exact arithmetic: that with
 * the lowest number, and the first triangle that it meets. *edge: -1 where there is none. `near` loses its pairs. */
bough_status bo_near_crossing(bough_context *ctx, const bo_skin *skin, const double *x, bo_near *near, int32_t *edge,
                              int32_t *triangle);
void bo_near_free(bough_context *ctx, bo_near *near);

#endif
