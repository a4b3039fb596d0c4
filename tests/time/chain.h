/* Masses in a row, held at one end, with springs that may stiffen: a system of any size whose modes are known. */
#ifndef BOUGH_TEST_CHAIN_H
#define BOUGH_TEST_CHAIN_H

#include "test.h"

#include "time/integrator.h"

enum { MOST_MASSES = 256 };

/* Spring i pulls mass i towards mass i - 1, or the wall, by stiffness d + stiffening d^3; the last mass is driven. */
typedef struct {
    int32_t count;
    double mass, stiffness, stiffening, damping, drive, offset; /* D = damping M */
    int factors, solves;                                        /* so far */
    double k[MOST_MASSES];                                      /* of the springs, as they were kept */
    double diagonal[MOST_MASSES], beside[MOST_MASSES];          /* of K, or of the factor L D L^T */
    double *q, *v, *a, state[3 * MOST_MASSES + 3 * 8];          /* the motion */
    bo_system system;
    bo_motion motion;
} chain;

static inline double chain_stretch(const double *q, int32_t i) {
    return q[i] - (i > 0 ? q[i - 1] : 0);
}

static inline bough_status chain_force(void *data, double t, const double *q, double *U, double *f) {
    const chain *c = data;
    const double driven = c->drive * sin(9 * t + 1);
    double sum = c->offset - driven * q[c->count - 1];
    memset(f, 0, (size_t)c->count * sizeof *f);
    for (int32_t i = 0; i < c->count; i++) {
        const double d = chain_stretch(q, i), pull = (c->stiffness + c->stiffening * d * d) * d;
        sum += (0.5 * c->stiffness + 0.25 * c->stiffening * d * d) * d * d;
        f[i] -= pull;
        if (i > 0)
            f[i - 1] += pull;
    }
    f[c->count - 1] += driven;
    if (U)
        *U = sum;
    return BOUGH_OK;
}

static inline bough_status chain_linearise(void *data, double t, const double *q, bool project) {
    chain *c = data;
    (void)t, (void)project;
    for (int32_t i = 0; i < c->count; i++) {
        const double d = chain_stretch(q, i);
        c->k[i] = c->stiffness + 3 * c->stiffening * d * d;
    }
    return BOUGH_OK;
}

static inline void chain_multiply(void *data, bo_matrix which, const double *x, double *y) {
    const chain *c = data;
    for (int32_t i = 0; i < c->count; i++) {
        if (which != BO_MATRIX_K) {
            y[i] = c->mass * (which == BO_MATRIX_D ? c->damping : 1) * x[i];
            continue;
        }
        y[i] = c->k[i] * chain_stretch(x, i);
        if (i + 1 < c->count)
            y[i] -= c->k[i + 1] * chain_stretch(x, i + 1);
    }
}

static inline bough_status chain_factor(void *data, double a, double b, double s) {
    chain *c = data;
    c->factors++;
    for (int32_t i = 0; i < c->count; i++) {
        c->diagonal[i] = (a + b * c->damping) * c->mass + s * (c->k[i] + (i + 1 < c->count ? c->k[i + 1] : 0));
        c->beside[i] = 0;
        if (i > 0) {
            c->beside[i] = -s * c->k[i] / c->diagonal[i - 1];
            c->diagonal[i] += c->beside[i] * s * c->k[i];
        }
        if (!(c->diagonal[i] > 0))
            return BOUGH_ERROR_SINGULAR;
    }
    return BOUGH_OK;
}

static inline bough_status chain_solve(void *data, const double *b, double *x) {
    chain *c = data;
    c->solves++;
    for (int32_t i = 0; i < c->count; i++)
        x[i] = b[i] - (i > 0 ? c->beside[i] * x[i - 1] : 0);
    for (int32_t i = c->count - 1; i >= 0; i--)
        x[i] = x[i] / c->diagonal[i] - (i + 1 < c->count ? c->beside[i + 1] * x[i + 1] : 0);
    return BOUGH_OK;
}

/* At rest in its shape, with a push at the free end. */
static inline chain *new_chain(int32_t count, double stiffening) {
    chain *c = calloc(1, sizeof *c);
    check(count <= MOST_MASSES);
    c->count = count, c->mass = 0.5, c->stiffness = 200, c->stiffening = stiffening, c->damping = 0.3;
    c->q = c->state, c->v = c->q + count, c->a = c->v + count;
    c->v[count - 1] = 1;
    chain_linearise(c, 0, c->q, false);
    c->motion = (bo_motion){.q = c->q, .v = c->v, .a = c->a};
    c->system = (bo_system){.data = c,
                            .rayleigh_mass = c->damping,
                            .size = count,
                            .position_size = count,
                            .has_potential = true,
                            .force = chain_force,
                            .linearise = chain_linearise,
                            .damp = bo_system_keep_damping,
                            .multiply = chain_multiply,
                            .factor = chain_factor,
                            .solve = chain_solve};
    return c;
}

/* w^2 of mode j = 0, 1 ..., of springs that do not stiffen. */
static inline double chain_eigenvalue(const chain *c, int32_t j) {
    const double s = sin((2 * j + 1) * M_PI / (2 * (2 * c->count + 1)));
    return 4 * c->stiffness / c->mass * s * s;
}

static inline double chain_energy(chain *c) {
    double U, f[MOST_MASSES], sum = 0;
    chain_force(c, 0, c->q, &U, f);
    for (int32_t i = 0; i < c->count; i++)
        sum += 0.5 * c->mass * c->v[i] * c->v[i];
    return U + sum;
}

#endif
