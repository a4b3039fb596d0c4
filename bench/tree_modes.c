#include "tree_modes.h"

#include "dense/symmetric_eigen.h"
#include "tree/tree.h"

#include <math.h>
#include <stdlib.h>

bool tree_inverse_mass(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double *inverse) {
    const size_t n = (size_t)bough_tree_model_size(model);
    double *zero = calloc(4 * n, sizeof *zero), *force = zero + n, *a = force + n, *weight = a + n;
    bool good = zero && !bo_tree_accelerations(ctx, model, state, false, zero, zero, force, weight);
    for (size_t k = 0; k < n && good; k++) {
        force[k] = 1;
        good = !bo_tree_accelerations(ctx, model, state, false, zero, zero, force, a);
        for (size_t i = 0; i < n; i++)
            inverse[i * n + k] = a[i] - weight[i];
        force[k] = 0;
    }
    free(zero);
    return good;
}

void tree_stiffness(const bough_tree_model *model, double *K) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    for (int32_t p = 0; p < def->part_count; p++) {
        const bough_component *c = def->components[def->parts[p].component];
        for (int32_t l = 0; l < c->r; l++)
            K[bough_tree_model_offset(model, p) + l] = c->K[l * (c->r + 1)];
    }
}

/* With K = G G: those of G M^-1 G y = w^2 y, x = G^-1 y. */
bool tree_vibrations(int32_t n, const double *inverse, const double *K, int32_t first, int32_t count, int32_t wanted,
                     double *hz, double *shape) {
    const size_t m = (size_t)count;
    double *A = malloc((2 * m * m + 3 * m) * sizeof *A), *V = A + m * m, *values = V + m * m;
    for (size_t e = 0; e < m * m && A; e++) {
        const size_t i = (size_t)first + e / m, j = (size_t)first + e % m;
        A[e] = sqrt(K[i] * K[j]) * 0.5 * (inverse[i * (size_t)n + j] + inverse[j * (size_t)n + i]);
    }
    const bool good = A && bo_sym_eigen(count, A, values, V, values + m);
    for (int32_t k = 0; k < wanted && good; k++)
        hz[k] = sqrt(values[k]) / (2 * M_PI);
    for (size_t i = 0; i < m && good && shape; i++)
        shape[i] = V[i * m] / sqrt(K[(size_t)first + i]);
    free(A);
    return good;
}

bool tree_lowest_modes(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, int32_t wanted,
                       double *hz, double *shape) {
    const int32_t n = bough_tree_model_size(model);
    double *inverse = malloc((size_t)n * (size_t)(n + 1) * sizeof *inverse), *K = inverse + (size_t)n * (size_t)n;
    const bool weighed = inverse && tree_inverse_mass(ctx, model, state, inverse);
    if (weighed)
        tree_stiffness(model, K);
    const bool good = weighed && tree_vibrations(n, inverse, K, 0, n, wanted, hz, shape);
    free(inverse);
    return good;
}

double crossing_frequency(int32_t count, const double *x, double dt) {
    double first = NAN, last = NAN;
    int periods = -1;
    for (int32_t i = 1; i + 1 < count; i++)
        if (x[i] < 0 && x[i + 1] >= 0) {
            last = i - x[i] / (x[i + 1] - x[i]);
            first = periods++ < 0 ? last : first;
        }
    return periods > 0 ? periods / (dt * (last - first)) : NAN;
}
