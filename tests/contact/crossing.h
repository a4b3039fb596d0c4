/* Decides exactly whether surfaces of triangles cross, by contact/exact.h. Knows nothing of pairs and their distances, nor
 * of the search for them. */
#ifndef BOUGH_TEST_CROSSING_H
#define BOUGH_TEST_CROSSING_H

#include "contact/exact.h"
#include "contact/near.h"

#include <stdlib.h>

static inline const double *crossing_at(const double *x, int32_t vertex) {
    return x + 3 * (size_t)vertex;
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
    return bo_edge_meets_triangle(crossing_at(x, e[0]), crossing_at(x, e[1]), crossing_at(x, t[0]),
                                  crossing_at(x, t[1]), crossing_at(x, t[2]));
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
