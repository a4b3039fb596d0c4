/* Components of any size and with any number of interfaces, grown from random point masses: their constants are sums
 * over these, so that a tree of them can be compared with the motion of its points. */
#ifndef TESTS_TREE_GROWN_H
#define TESTS_TREE_GROWN_H

#include "test.h"

#include "component/polynomial.h"
#include "tree/tree.h"

#include "joints.h"

enum { GROWN_FACE = 4, GROWN_PANEL = 16, GROWN_SURFACE = 3, GROWN_SAMPLES = 2, GROWN_POINTS = 4 };

typedef struct {
    bough_component c;
    int32_t point_count;
    double *X, *U, *mass; /* points x 3, points x 3 x r, points */
    bough_interface *faces;
    bough_material material;
    void *pieces[32]; /* all that was allocated */
    int piece_count;
} grown;

static inline void *grown_take(grown *g, size_t count, size_t size) {
    check(g->piece_count < 32);
    return g->pieces[g->piece_count++] = calloc(count + 1, size);
}

static inline double *grown_randoms(grown *g, test_random *random, size_t count, double size) {
    double *x = grown_take(g, count, sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = test_uniform(random, -size, size);
    return x;
}

static inline void grown_inertia(grown *g) {
    bough_component *c = &g->c;
    const size_t r = (size_t)c->r;
    double *s = grown_take(g, 3 * r, sizeof *s), *W5 = grown_take(g, 9 * r, sizeof *W5);
    double *W7 = grown_take(g, 9 * r * r, sizeof *W7);
    for (size_t v = 0; v < (size_t)g->point_count; v++) {
        const double *X = g->X + 3 * v, *U = g->U + 3 * v * r, m = g->mass[v];
        c->mass += m;
        for (size_t i = 0; i < 3; i++)
            c->mc0[i] += m * X[i];
        for (size_t i = 0; i < 9; i++)
            c->Sigma0[i] += m * X[i / 3] * X[i % 3];
        for (size_t l = 0; l < r; l++) {
            for (size_t i = 0; i < 3; i++)
                s[3 * l + i] += m * U[r * i + l];
            for (size_t i = 0; i < 9; i++)
                W5[9 * l + i] += m * U[r * (i / 3) + l] * X[i % 3];
            for (size_t p = 0; p < r; p++)
                for (size_t i = 0; i < 9; i++)
                    W7[9 * (r * l + p) + i] += m * U[r * (i / 3) + l] * U[r * (i % 3) + p];
        }
    }
    c->s = s, c->W5 = W5, c->W7 = W7;
}

/* The frame of points 4 k .. 4 k + 3, by the definitions in <bough/component.h>. */
static inline void grown_face(grown *g, int32_t k, double *a, double *A) {
    const size_t r = (size_t)g->c.r;
    bough_interface *face = &g->faces[k];
    const double *X = g->X + 3 * GROWN_FACE * k, *U = g->U + 3 * GROWN_FACE * (size_t)k * r;
    double trace = 0;
    *face = (bough_interface){.name = "face", .translation = a, .A = A};
    for (size_t v = 0; v < GROWN_FACE; v++)
        for (size_t i = 0; i < 3; i++) {
            face->centre[i] += X[3 * v + i] / GROWN_FACE;
            for (size_t l = 0; l < r; l++)
                a[3 * l + i] += U[(3 * v + i) * r + l] / GROWN_FACE;
        }
    for (size_t v = 0; v < GROWN_FACE; v++)
        for (size_t i = 0; i < 9; i++) {
            const double d = (X[3 * v + i % 3] - face->centre[i % 3]) / GROWN_FACE;
            A[i] += (X[3 * v + i / 3] - face->centre[i / 3]) * d;
            trace += i % 4 == 0 ? (X[3 * v + i / 3] - face->centre[i / 3]) * d : 0;
            for (size_t l = 0; l < r; l++)
                A[9 * (l + 1) + i] += (U[(3 * v + i / 3) * r + l] - a[3 * l + i / 3]) * d;
        }
    for (size_t i = 0; i < 9 * (r + 1); i++)
        A[i] /= trace;
    face->radius = sqrt(trace);
}

/* K = stiffness (1 + B B^T / r); a quartic with random small terms beside it, or a few points of neo-Hookean. */
static inline void grown_elastic(grown *g, test_random *random, double stiffness) {
    const size_t r = (size_t)g->c.r;
    double *B = grown_randoms(g, random, r * r, 1), *K = grown_take(g, r * r, sizeof *K);
    for (size_t l = 0; l < r; l++)
        for (size_t p = 0; p <= l; p++) {
            double sum = l == p;
            for (size_t k = 0; k < r; k++)
                sum += B[r * l + k] * B[r * p + k] / (double)r;
            K[r * l + p] = K[r * p + l] = stiffness * sum;
        }
    g->c.K = K;
    if (g->c.elastic == BOUGH_REDUCED_POLYNOMIAL) {
        double *t = grown_randoms(g, random, bo_quartic_count(g->c.r), 0.1 * stiffness);
        for (int32_t a = 0; a <= g->c.r; a++) {
            t[bo_quartic_index(a, 0, 0, 0)] = 0;
            for (int32_t b = 1; b <= a; b++)
                t[bo_quartic_index(a, b, 0, 0)] = K[r * (size_t)(a - 1) + (size_t)b - 1] * (a == b ? 0.5 : 1);
        }
        g->c.quartic = t;
    } else if (g->c.elastic == BOUGH_REDUCED_CUBATURE) {
        double *weight = grown_take(g, GROWN_POINTS, sizeof *weight);
        for (int i = 0; i < GROWN_POINTS; i++)
            weight[i] = 0.3;
        g->material = bough_default_material();
        g->material.model = BOUGH_MATERIAL_NEO_HOOKEAN;
        g->material.young = stiffness;
        g->c.cubature = (bough_material_points){.count = GROWN_POINTS,
                                                .weight = weight,
                                                .element = grown_take(g, GROWN_POINTS, sizeof(int32_t)),
                                                .material = grown_take(g, GROWN_POINTS, sizeof(int32_t)),
                                                .gradient = grown_randoms(g, random, GROWN_POINTS * 9 * r, 0.2)};
        g->c.materials = &g->material, g->c.material_count = 1;
    }
}

/* One triangle to pull at, two samples for the wind. */
static inline void grown_outside(grown *g, test_random *random) {
    const size_t r = (size_t)g->c.r;
    float *position = grown_take(g, 3 * GROWN_SURFACE, sizeof *position);
    float *U = grown_take(g, GROWN_PANEL * r, sizeof *U);
    int32_t *triangle = grown_take(g, 3, sizeof *triangle), *vertex = grown_take(g, GROWN_SURFACE, sizeof *vertex);
    double *area = grown_take(g, GROWN_SAMPLES, sizeof *area);
    for (size_t i = 0; i < 3 * GROWN_SURFACE; i++) {
        position[i] = (float)test_uniform(random, -1, 1);
        for (size_t l = 0; l < r; l++)
            U[GROWN_PANEL * l + i] = (float)test_uniform(random, -0.2, 0.2);
    }
    for (int i = 0; i < 3; i++)
        triangle[i] = i, vertex[i] = -1;
    for (int i = 0; i < GROWN_SAMPLES; i++)
        area[i] = 0.1;
    g->c.surface = (bough_surface){.vertex_count = GROWN_SURFACE,
                                   .triangle_count = 1,
                                   .position = position,
                                   .triangles = triangle,
                                   .mesh_vertex = vertex,
                                   .U = r ? U : NULL};
    g->c.wind = (bough_sample_points){.count = GROWN_SAMPLES,
                                      .position = grown_randoms(g, random, 3 * GROWN_SAMPLES, 1),
                                      .normal = grown_randoms(g, random, 3 * GROWN_SAMPLES, 0.1),
                                      .area = area,
                                      .U = r ? grown_randoms(g, random, 3 * GROWN_SAMPLES * r, 0.2) : NULL};
}

/* Hangs by interface 0, where U = 0, unless it flies. To be freed with grown_free(). */
static inline grown *grow(int32_t r, int32_t face_count, bough_reduced_elastic elastic, bool flies, uint64_t seed) {
    grown *g = calloc(1, sizeof *g);
    test_random random = {seed};
    g->c = (bough_component){.r = r,
                             .elastic = r ? elastic : BOUGH_REDUCED_RIGID,
                             .support = flies ? BOUGH_SUPPORT_FREE : BOUGH_SUPPORT_INTERFACE,
                             .parent = flies ? -1 : 0,
                             .damping_mass = 0.2,
                             .damping_stiffness = 1e-3,
                             .interface_count = face_count,
                             .provenance = "{}"};
    g->point_count = GROWN_FACE * face_count + r / 3 + 6;
    const size_t points = (size_t)g->point_count, width = (size_t)r;
    g->X = grown_randoms(g, &random, 3 * points, 1);
    g->U = grown_randoms(g, &random, 3 * points * width, r > 16 ? 0.1 : 0.2);
    g->mass = grown_take(g, points, sizeof *g->mass);
    for (size_t v = 0; v < points; v++)
        g->mass[v] = test_uniform(&random, 0.5, 1);
    memset(g->U, 0, 3 * GROWN_FACE * width * sizeof *g->U);
    grown_inertia(g);
    g->faces = grown_take(g, (size_t)face_count, sizeof *g->faces);
    double *a = grown_take(g, (size_t)face_count * 3 * width, sizeof *a);
    double *A = grown_take(g, (size_t)face_count * 9 * (width + 1), sizeof *A);
    for (int32_t k = 0; k < face_count; k++)
        grown_face(g, k, a + (size_t)k * 3 * width, A + (size_t)k * 9 * (width + 1));
    g->c.interfaces = g->faces;
    grown_elastic(g, &random, 50);
    grown_outside(g, &random);
    return g;
}

static inline void grown_free(grown *g) {
    for (int i = 0; g && i < g->piece_count; i++)
        free(g->pieces[i]);
    free(g);
}

static inline void grown_rotation(test_random *random, double R[9]) {
    double q[4], square = 0;
    for (int k = 0; k < 4; k++)
        q[k] = test_uniform(random, -1, 1), square += q[k] * q[k];
    const double s = 2 / square, w = q[0], x = q[1], y = q[2], z = q[3];
    memcpy(R,
           (double[9]){1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y), s * (x * y + w * z),
                       1 - s * (x * x + z * z), s * (y * z - w * x), s * (x * z - w * y), s * (y * z + w * x),
                       1 - s * (x * x + y * y)},
           9 * sizeof *R);
}

#endif
