/* One random, well-shaped element of each type, and bodies made of it. */
#ifndef TEST_RANDOM_ELEMENT_H
#define TEST_RANDOM_ELEMENT_H

#include "test.h"

#include <bough/fem.h>

static inline bough_mesh *random_element(bough_context *ctx, test_random *r, bough_element_type type) {
    static const double tet[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    static const double hex[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    double x[10][3];
    int32_t nodes[10], n = bough_element_node_count(type);
    for (int32_t a = 0; a < n; a++) {
        nodes[a] = a;
        for (int d = 0; d < 3; d++) {
            double at = type == BOUGH_HEX8 ? hex[a][d]
                        : a < 4            ? tet[a][d]
                                           : 0.5 * (tet[edges[a - 4][0]][d] + tet[edges[a - 4][1]][d]);
            x[a][d] = at + test_uniform(r, -0.05, 0.05);
        }
    }
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, type, n, &x[0][0], 1, nodes, &mesh));
    return mesh;
}

#endif
