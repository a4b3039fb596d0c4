/* Components made of point masses with random bases: integrals over them are sums, so that every constant is exact. */
#ifndef BOUGH_TEST_LUMPS_H
#define BOUGH_TEST_LUMPS_H

#include "../test.h"

#include "base/pose.h"
#include "component/polynomial.h"

#include <bough/multibody.h>

enum { LUMP_POINTS = 12, LUMP_MOST = 16, LUMP_FACES = 2 };

typedef struct {
    bough_component c;
    bough_interface faces[LUMP_FACES];
    int32_t r;
    double m[LUMP_POINTS];
    bo_vec3 X[LUMP_POINTS], Phi[LUMP_MOST][LUMP_POINTS];
    double s[3 * LUMP_MOST], W5[9 * LUMP_MOST], W7[9 * LUMP_MOST * LUMP_MOST], K[LUMP_MOST * LUMP_MOST];
    double moves[LUMP_FACES][3 * LUMP_MOST], A[LUMP_FACES][9 * (LUMP_MOST + 1)];
    double *quartic;
} lump;

static inline bo_vec3 draw3(test_random *random, double size) {
    const double x = test_uniform(random, -size, size), y = test_uniform(random, -size, size);
    return bo_v3(x, y, test_uniform(random, -size, size));
}
static inline bo_mat3 draw_rotation(test_random *random) {
    return bo_exp3(draw3(random, 2));
}

static inline void add9(double *to, double s, bo_mat3 A) {
    for (int i = 0; i < 9; i++)
        to[i] += s * A.m[i];
}

/* Interfaces are points 4 f .. 4 f + 3, with weights 1/4. The first lies in a plane. */
static inline void lump_face(lump *b, int f) {
    bough_interface *face = &b->faces[f];
    bo_vec3 centre = {0, 0, 0};
    double trace = 0;
    for (int k = 0; k < 4; k++)
        centre = bo_mul_add(centre, 0.25, b->X[4 * f + k]);
    for (int k = 0; k < 4; k++) {
        const bo_vec3 d = bo_sub(b->X[4 * f + k], centre);
        trace += 0.25 * bo_dot(d, d);
    }
    for (int l = -1; l < b->r; l++) {
        bo_vec3 mean = {0, 0, 0};
        for (int k = 0; k < 4 && l >= 0; k++)
            mean = bo_mul_add(mean, 0.25, b->Phi[l][4 * f + k]);
        for (int k = 0; k < 4; k++) {
            const bo_vec3 d = bo_sub(b->X[4 * f + k], centre), x = l < 0 ? d : bo_sub(b->Phi[l][4 * f + k], mean);
            add9(b->A[f] + 9 * (l + 1), 0.25 / trace, bo_outer(x, d));
        }
        if (l >= 0)
            bo_store3(b->moves[f] + 3 * l, mean);
    }
    *face = (bough_interface){
        .name = f == 0 ? "tip" : "side", .radius = sqrt(trace), .translation = b->moves[f], .A = b->A[f]};
    bo_store3(face->centre, centre);
}

static inline void lump_elastic(lump *b, test_random *random) {
    const int r = b->r;
    b->quartic = calloc(bo_quartic_count(r), sizeof(double));
    for (int i = 0; i < r; i++)
        for (int j = 0; j <= i; j++) {
            const double k = i == j ? test_uniform(random, 50, 80) : test_uniform(random, -3, 3);
            b->K[r * i + j] = b->K[r * j + i] = k;
            b->quartic[bo_quartic_index(i + 1, j + 1, 0, 0)] = i == j ? 0.5 * k : k;
            for (int k2 = 0; k2 <= j; k2++) {
                b->quartic[bo_quartic_index(i + 1, j + 1, k2 + 1, 0)] = test_uniform(random, -20, 20);
                for (int l = 0; l <= k2; l++)
                    b->quartic[bo_quartic_index(i + 1, j + 1, k2 + 1, l + 1)] = test_uniform(random, -20, 60);
            }
        }
}

/* about `length` long in z */
static inline lump *make_lump(test_random *random, int r, double length) {
    lump *b = calloc(1, sizeof *b);
    b->r = r;
    for (int k = 0; k < LUMP_POINTS; k++) {
        b->m[k] = test_uniform(random, 0.01, 0.03);
        b->X[k] = bo_add(draw3(random, 0.1 * length), bo_v3(0, 0, length * (k < 8 ? 1 : 0.5)));
        if (k < 4)
            b->X[k].z = length;
        for (int l = 0; l < r; l++)
            b->Phi[l][k] = draw3(random, 1);
    }
    bough_component *c = &b->c;
    for (int k = 0; k < LUMP_POINTS; k++) {
        const bo_vec3 X = b->X[k];
        c->mass += b->m[k];
        bo_store3(c->mc0, bo_mul_add(bo_load3(c->mc0), b->m[k], X));
        add9(c->Sigma0, b->m[k], bo_outer(X, X));
        for (int l = 0; l < r; l++) {
            bo_store3(b->s + 3 * l, bo_mul_add(bo_load3(b->s + 3 * l), b->m[k], b->Phi[l][k]));
            add9(b->W5 + 9 * l, b->m[k], bo_outer(b->Phi[l][k], X));
            for (int p = 0; p < r; p++)
                add9(b->W7 + 9 * (r * l + p), b->m[k], bo_outer(b->Phi[l][k], b->Phi[p][k]));
        }
    }
    lump_elastic(b, random);
    for (int f = 0; f < LUMP_FACES; f++)
        lump_face(b, f);
    c->r = r, c->elastic = BOUGH_REDUCED_POLYNOMIAL, c->parent = -1;
    c->s = b->s, c->W5 = b->W5, c->W7 = b->W7, c->K = b->K, c->quartic = b->quartic;
    c->damping_mass = 0.1, c->damping_stiffness = 1e-3;
    c->interface_count = LUMP_FACES, c->interfaces = b->faces;
    return b;
}

static inline void free_lump(lump *b) {
    free(b->quartic);
    free(b);
}

#endif
