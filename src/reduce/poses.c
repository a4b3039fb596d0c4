/* Repeatable random poses, and the two products with the basis. */
#include "reduce/cook.h"

#include "base/simd.h"
#include "base/vec.h"

#include <string.h>

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_bits(bo_pose_random *random) {
    uint64_t z = (random->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double bo_pose_uniform(bo_pose_random *random) {
    return (double)((next_bits(random) >> 11) + 1) * 0x1p-53;
}

/* Box and Muller's transform; its second number is not used, so that the state is all there is to remember. */
static double next_gaussian(bo_pose_random *random) {
    double radius = sqrt(-2 * log(bo_pose_uniform(random)));
    return radius * cos(2 * M_PI * bo_pose_uniform(random));
}

BO_MULTIVERSION static void multiply(int32_t n, int32_t r, const double *restrict U, const double *restrict q,
                                     double *restrict u) {
    enum { LANES = 8 };
    for (int32_t i = 0; i < n; i++) {
        const double *row = U + (size_t)i * (size_t)r;
        double lane[LANES] = {0}, sum = 0;
        int32_t l = 0;
        for (; l + LANES <= r; l += LANES)
            for (int32_t k = 0; k < LANES; k++)
                lane[k] += row[l + k] * q[l + k];
        for (; l < r; l++)
            sum += row[l] * q[l];
        for (int32_t k = 0; k < LANES; k++)
            sum += lane[k];
        u[i] = sum;
    }
}

BO_MULTIVERSION static void multiply_transposed(int32_t n, int32_t r, const double *restrict U,
                                                const double *restrict f, double *restrict reduced) {
    for (int32_t l = 0; l < r; l++)
        reduced[l] = 0;
    for (int32_t i = 0; i < n; i++) {
        const double *row = U + (size_t)i * (size_t)r, force = f[i];
        for (int32_t l = 0; l < r; l++)
            reduced[l] += force * row[l];
    }
}

void bo_cook_displace(const bo_cook *cook, const double *q, double *u) {
    multiply(cook->n, cook->r, cook->U, q, u);
}

void bo_cook_project(const bo_cook *cook, const double *f, double *reduced) {
    multiply_transposed(cook->n, cook->r, cook->U, f, reduced);
}

double bo_cook_largest(const bo_cook *cook, const double *u) {
    double most = 0;
    for (int32_t v = 0; v < cook->n / 3; v++)
        most = fmax(most, bo_norm(bo_load3(u + 3 * (size_t)v)));
    return most;
}

static void scale(int32_t count, double factor, double *a) {
    for (int32_t i = 0; i < count; i++)
        a[i] *= factor;
}

bough_status bo_cook_shrink(bo_cook *cook, double *q, double *u) {
    enum { MOST_HALVINGS = 60 };
    bough_status status = BOUGH_OK;
    for (int halving = 0; halving < MOST_HALVINGS; halving++) {
        status = bough_body_evaluate(cook->ctx, cook->body, u, false, NULL, NULL, NULL);
        if (status != BOUGH_NOT_FINITE)
            return status;
        scale(cook->r, 0.5, q);
        scale(cook->n, 0.5, u);
    }
    return status;
}

/* q is made as long as its largest displacement should be, a random part of the amplitude. */
static void stretch(bo_cook *cook, bo_pose_random *random, double *q, double *u) {
    const double wanted = (0.1 + 0.9 * bo_pose_uniform(random)) * cook->def->pose_amplitude * cook->size;
    bo_cook_displace(cook, q, u);
    const double found = bo_cook_largest(cook, u), factor = found > 0 ? wanted / found : 1;
    scale(cook->r, factor, q);
    scale(cook->n, factor, u);
}

static double stiffness_of(const bo_cook *cook, int32_t l) {
    double stiffness = cook->draft.K[(size_t)l * (size_t)(cook->r + 1)];
    return stiffness > 0 ? stiffness : 1;
}

bough_status bo_cook_pose(bo_cook *cook, bo_pose_random *random, double *q) {
    /* 1/2 K_ll q_l^2 is the same on average for all l, however the columns of U are scaled. */
    for (int32_t l = 0; l < cook->r; l++)
        q[l] = next_gaussian(random) / sqrt(stiffness_of(cook, l));
    double *u = BO_NEW_ARRAY(cook->ctx, double, cook->n);
    if (!u)
        return BOUGH_ERROR_MEMORY;
    stretch(cook, random, q, u);
    bough_status status = bo_cook_shrink(cook, q, u);
    bo_free(cook->ctx, u);
    return status;
}

bough_status bo_cook_settled_pose(bo_cook *cook, const bough_component *like, bo_pose_random *random, double *q) {
    const size_t r = (size_t)cook->r;
    double *u = BO_NEW_ARRAY(cook->ctx, double, cook->n);
    double *load = BO_NEW_ARRAY(cook->ctx, double, r + bo_equilibrium_scratch(like));
    bough_status status = u && load ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        for (int32_t l = 0; l < cook->r; l++)
            q[l] = next_gaussian(random) / stiffness_of(cook, l);
        stretch(cook, random, q, u);
        for (int32_t l = 0; l < cook->r; l++)
            load[l] = q[l] * stiffness_of(cook, l);
        memset(q, 0, r * sizeof *q);
        bool found = bo_reduced_equilibrium(like, load, q, load + r);
        bo_cook_displace(cook, q, u);
        status = found ? bo_cook_shrink(cook, q, u) : bo_cook_pose(cook, random, q);
    }
    bo_free(cook->ctx, u);
    bo_free(cook->ctx, load);
    return status;
}
