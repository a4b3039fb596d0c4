/* Vibration modes of the body at rest: clamped, free, loaded, or with the interfaces held. */
#include "reduce/basis.h"

#include "linalg/eigen.h"
#include "linalg/sparse.h"

#include <string.h>

#define MODE_TOLERANCE 1e-11

typedef struct {
    const bo_cook *cook;
    const unsigned char *held;
    double *free_part; /* x without the held unknowns */
} mass_operator;

static void multiply(void *data, const double *x, double *y) {
    const mass_operator *mass = data;
    size_t n = (size_t)mass->cook->n;
    for (size_t i = 0; i < n; i++)
        mass->free_part[i] = mass->held[i] ? 0 : x[i];
    bo_cook_mass(mass->cook, mass->free_part, y, 1);
    if (mass->cook->loaded)
        bo_cook_add_loads(mass->cook, mass->free_part, y);
    for (size_t i = 0; i < n; i++)
        if (mass->held[i])
            y[i] = 0;
}

static bough_status eigen(bo_cook *cook, bo_factor *factor, const unsigned char *held, double shift, int32_t count,
                          double *values, double *vectors) {
    int32_t rank = 0;
    for (int32_t i = 0; i < cook->n; i++)
        rank += !held[i];
    if (count >= rank)
        return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                       "%d modes were asked for, but only %d unknowns are free; use a smaller r or fewer modes", count,
                       rank);
    mass_operator mass = {cook, held, BO_NEW_ARRAY(cook->ctx, double, cook->n)};
    if (!mass.free_part)
        return BOUGH_ERROR_MEMORY;
    bo_operator operator= {.multiply = multiply, .data = &mass, .size = cook->n, .rank = rank};
    bough_status status =
        bo_eigen_shift_invert(cook->ctx, factor, &operator, shift, count, MODE_TOLERANCE, values, vectors);
    bo_free(cook->ctx, mass.free_part);
    return status;
}

/* ---- factors ---- */

/* cook->factor of K + shift M. */
static bough_status factor_shifted(bo_cook *cook, double shift) {
    cook->shift = shift;
    if (shift == 0)
        return bo_factor_numeric(cook->ctx, cook->factor, cook->K);
    bough_sparse *A;
    BO_TRY(bough_body_matrix_create(cook->ctx, cook->body, &A));
    memcpy(A->values, cook->K->values, (size_t)A->column_start[A->size] * sizeof(double));
    bo_body_add_mass(cook->m, shift, A);
    bough_status status = bo_factor_numeric(cook->ctx, cook->factor, A);
    bough_sparse_destroy(cook->ctx, A);
    return status;
}

/* Translations and rotations about the centre of mass, made orthonormal in the mass. */
static bough_status rigid_motions(bo_cook *cook) {
    size_t n = (size_t)cook->n;
    double *R = cook->rigid = BO_COOK_ARRAY(cook, double, 6 * n), *product = BO_COOK_ARRAY(cook, double, n);
    if (!R || !product)
        return BOUGH_ERROR_MEMORY;
    for (size_t v = 0; v < n / 3; v++) {
        bo_vec3 x = bo_sub(bo_load3(cook->body->mesh->vertices + 3 * v), bo_load3(cook->draft.origin));
        for (size_t d = 0; d < 3 && cook->body->used[v]; d++) {
            bo_vec3 axis = {d == 0, d == 1, d == 2};
            bo_store3(R + d * n + 3 * v, axis);
            bo_store3(R + (3 + d) * n + 3 * v, bo_cross(axis, x));
        }
    }
    for (size_t d = 0; d < 6; d++)
        for (int round = 0; round < 2; round++) {
            double *x = R + d * n;
            bo_cook_mass(cook, x, product, 1);
            for (size_t e = 0; e < d; e++) {
                double part = bo_dot_n(cook->n, R + e * n, product);
                for (size_t i = 0; i < n; i++)
                    x[i] -= part * R[e * n + i];
            }
            bo_cook_mass(cook, x, product, 1);
            double norm = sqrt(bo_dot_n(cook->n, x, product));
            for (size_t i = 0; i < n; i++)
                x[i] /= norm;
        }
    return BOUGH_OK;
}

bough_status bo_cook_factor(bo_cook *cook) {
    BO_TRY(bo_factor_analyse(cook->ctx, cook->K, 3, cook->held, &cook->factor));
    if (cook->draft.support != BOUGH_SUPPORT_FREE)
        return factor_shifted(cook, 0);
    bough_body_properties p;
    BO_TRY(bough_body_measure(cook->ctx, cook->body, &p));
    BO_TRY(rigid_motions(cook));
    return factor_shifted(cook, 0.1 * bo_body_typical_eigenvalue(cook->body, &p));
}

/* ---- modes ---- */

static bough_status reserve_modes(bo_cook *cook, int32_t count) {
    cook->mode_count = count;
    cook->eigenvalues = BO_COOK_ARRAY(cook, double, count);
    cook->modes = BO_COOK_ARRAY(cook, double, (size_t)count *(size_t)cook->n);
    return cook->eigenvalues && cook->modes ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* Six rigid modes come first. What is then solved with K wants a smaller shift: a thousandth of the lowest flexible
 * eigenvalue. */
static bough_status free_modes(bo_cook *cook, int32_t count) {
    size_t n = (size_t)cook->n, all = (size_t)count + 6;
    double *values = BO_NEW_ARRAY(cook->ctx, double, all), *vectors = BO_NEW_ARRAY(cook->ctx, double, all *n);
    bough_status status = values && vectors ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = eigen(cook, cook->factor, cook->held, -cook->shift, count + 6, values, vectors);
    if (status == BOUGH_OK && !(fabs(values[5]) < 1e-6 * values[6]))
        status =
            bo_fail(cook->ctx, BOUGH_ERROR_SINGULAR,
                    "a free body should have six rigid modes, but this one has another number; is it in one piece?");
    if (status == BOUGH_OK) {
        memcpy(cook->eigenvalues, values + 6, (size_t)count * sizeof *values);
        memcpy(cook->modes, vectors + 6 * n, (size_t)count * n * sizeof *vectors);
        bo_cook_clock(cook, BOUGH_COOK_FACTOR);
        status = factor_shifted(cook, 1e-3 * values[6]);
    }
    bo_free(cook->ctx, values);
    bo_free(cook->ctx, vectors);
    return status;
}

bough_status bo_cook_modes(bo_cook *cook, int32_t count) {
    BO_TRY(reserve_modes(cook, count));
    return cook->rigid ? free_modes(cook, count)
                       : eigen(cook, cook->factor, cook->held, 0, count, cook->eigenvalues, cook->modes);
}

bough_status bo_cook_held_modes(bo_cook *cook, bo_factor *factor, const unsigned char *held, int32_t count) {
    BO_TRY(reserve_modes(cook, count));
    return eigen(cook, factor, held, 0, count, cook->eigenvalues, cook->modes);
}
