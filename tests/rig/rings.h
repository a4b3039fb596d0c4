/* Meshes that are not convex, to test with: surfaces of revolution about z. */
#ifndef BOUGH_TEST_RINGS_H
#define BOUGH_TEST_RINGS_H

#include "shapes.h"

enum { MOST_PROFILE = 64, MOST_ROUND = 96 };
typedef struct {
    int32_t vertex_count, triangle_count;
    double vertices[3 * MOST_PROFILE * MOST_ROUND];
    int32_t triangles[6 * MOST_PROFILE * MOST_ROUND];
} revolved;

static inline int32_t revolved_vertex(const int32_t *first, const double (*profile)[2], int32_t k, int32_t i,
                                      int32_t n) {
    return first[k] + (profile[k][0] > 0 ? i % n : 0);
}
/* profile: places (radius, z), counter-clockwise about what is inside with z upwards; closed: the last is connected with the
 * first; otherwise both are on the axis. */
static inline void revolve(int32_t count, const double (*profile)[2], bool closed, int32_t n, revolved *to) {
    int32_t first[MOST_PROFILE];
    to->vertex_count = to->triangle_count = 0;
    for (int32_t k = 0; k < count; k++) {
        first[k] = to->vertex_count;
        for (int32_t i = 0; i < (profile[k][0] > 0 ? n : 1); i++) {
            const double a = 2 * acos(-1) * i / n, r = profile[k][0];
            bo_store3(to->vertices + 3 * (ptrdiff_t)to->vertex_count++, bo_v3(r * cos(a), r * sin(a), profile[k][1]));
        }
    }
    for (int32_t k = 0; k < (closed ? count : count - 1); k++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t l = (k + 1) % count, a = revolved_vertex(first, profile, k, i, n),
                          b = revolved_vertex(first, profile, k, i + 1, n),
                          c = revolved_vertex(first, profile, l, i, n),
                          d = revolved_vertex(first, profile, l, i + 1, n);
            const int32_t two[2][3] = {{a, b, d}, {a, d, c}};
            for (int j = 0; j < 2; j++)
                if (two[j][0] != two[j][1] && two[j][1] != two[j][2] && two[j][2] != two[j][0])
                    memcpy(to->triangles + 3 * (ptrdiff_t)to->triangle_count++, two[j], sizeof two[j]);
        }
}
/* The circle of radius R about z, with a tube of radius r around it. */
static inline void make_torus(double R, double r, int32_t around, int32_t tube, revolved *to) {
    double profile[MOST_PROFILE][2];
    for (int32_t k = 0; k < tube; k++) {
        const double a = 2 * acos(-1) * k / tube;
        profile[k][0] = R + r * cos(a), profile[k][1] = r * sin(a);
    }
    revolve(tube, profile, true, around, to);
}
/* A cup that stands on z = 0: radius and height outside, and how thick it is. */
static inline void make_cup(double radius, double height, double thick, int32_t around, revolved *to) {
    const double profile[6][2] = {
        {0, 0}, {radius, 0}, {radius, height}, {radius - thick, height}, {radius - thick, thick}, {0, thick}};
    revolve(6, profile, false, around, to);
}
static inline bough_shape_mesh *mesh_of(bough_context *ctx, const revolved *from, int32_t cells) {
    bough_shape_mesh *mesh = NULL;
    check_ok(ctx, bough_shape_mesh_create(ctx, from->vertex_count, from->vertices, from->triangle_count,
                                          from->triangles, cells, &mesh));
    return mesh;
}
static inline bough_shape_def mesh_def(const bough_shape_mesh *mesh) {
    bough_shape_def def = bough_default_shape_def();
    def.kind = BOUGH_SHAPE_MESH, def.mesh = mesh;
    return def;
}
static inline bough_shape_mesh *torus_of(bough_context *ctx, double R, double r, int32_t around, int32_t tube,
                                         int32_t cells) {
    static revolved from;
    make_torus(R, r, around, tube, &from);
    return mesh_of(ctx, &from, cells);
}
static inline bough_shape_mesh *cup_of(bough_context *ctx, double radius, double height, double thick, int32_t cells) {
    static revolved from;
    make_cup(radius, height, thick, 24, &from);
    return mesh_of(ctx, &from, cells);
}

#endif
