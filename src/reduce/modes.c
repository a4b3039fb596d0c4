/* Vibration modes of the body at rest: clamped, free, loaded, or with the interfaces held. */
#include "reduce/basis.h"

#include "dense/lu.h"
#include "linalg/blas.h"
#include "linalg/eigen.h"
#include "linalg/sparse.h"

#include <string.h>

#define MODE_TOLERANCE 1e-11
#define MOST_LOADS 64 /* of a free component */

typedef struct {
    const bo_cook *cook;
    const unsigned char *held;
    /* The factor of A = K + s M lacks the term of the loads, s Q I6 Q^T (Q: n x rank). Woodbury: (A + s Q I6 Q^T)^-1 b
     * = x - Z (1 + s I6 G)^-1 s I6 Q^T x with x = A^-1 b, Z = A^-1 Q, G = Q^T Z. */
    int32_t rank;  /* 6 x loads; 0: nothing to correct */
    double *Q, *Z; /* rank x n */
    double *B;     /* rank x rank: (1 + s I6 G)^-1 s I6 */
} mass_operator;

static void multiply(void *data, const double *x, double *y, int32_t count) {
    const mass_operator *mass = data;
    const bo_cook *cook = mass->cook;
    size_t n = (size_t)cook->n;
    bo_mass_multiply(cook->m, mass->held, cook->mass_scratch, x, y, count);
    for (size_t c = 0; c < (size_t)count && cook->loaded; c++) {
        bo_cook_add_loads(cook, x + c * n, y + c * n); /* x is zero where the component is held */
        for (size_t i = 0; i < n; i++)
            if (mass->held[i])
                y[c * n + i] = 0;
    }
}

static void correct(void *data, double *x, int32_t count) {
    const mass_operator *mass = data;
    int32_t n = mass->cook->n, rank = mass->rank;
    double motion[6 * MOST_LOADS], share[6 * MOST_LOADS];
    for (int32_t c = 0; c < count; c++, x += n) {
        bo_gemm(false, false, rank, 1, n, 1, mass->Q, n, x, 1, 0, motion, 1);
        bo_gemm(false, false, rank, 1, rank, 1, mass->B, rank, motion, 1, 0, share, 1);
        bo_gemm(true, false, n, 1, rank, -1, mass->Z, n, share, 1, 1, x, 1);
    }
}

/* Q of all loads as vectors over the whole body. */
static void spread_loads(const bo_cook *cook, double *Q) {
    size_t n = (size_t)cook->n;
    memset(Q, 0, 6 * (size_t)cook->load_count * n * sizeof *Q);
    for (int32_t k = 0; k < cook->load_count; k++) {
        const bo_cook_load *load = &cook->loads[k];
        for (size_t i = 0; i < 3 * (size_t)load->vertex_count; i++)
            for (size_t d = 0; d < 6; d++)
                Q[(6 * (size_t)k + d) * n + 3 * (size_t)load->vertices[i / 3] + i % 3] = load->Q[6 * i + d];
    }
}

static bough_status prepare_correction(bo_cook *cook, bo_factor *factor, double shift, mass_operator *mass) {
    int32_t n = cook->n, rank = mass->rank = 6 * cook->load_count;
    size_t N = (size_t)n, R = (size_t)rank;
    if (cook->load_count > MOST_LOADS)
        return bo_fail(cook->ctx, BOUGH_ERROR_UNSUPPORTED, "a free component can carry loads at %d interfaces at most",
                       MOST_LOADS);
    mass->Q = BO_NEW_ARRAY(cook->ctx, double, 2 * R * N);
    mass->B = BO_NEW_ZEROS(cook->ctx, double, 4 * R * R);
    int32_t pivots[6 * MOST_LOADS];
    if (!mass->Q || !mass->B)
        return BOUGH_ERROR_MEMORY;
    mass->Z = mass->Q + R * N;
    spread_loads(cook, mass->Q);
    BO_TRY(bo_factor_solve(cook->ctx, factor, mass->Q, mass->Z, rank));
    double *G = mass->B + R * R, *A = G + R * R, *I = A + R * R;
    bo_gemm(false, true, rank, rank, n, 1, mass->Q, n, mass->Z, n, 0, G, rank);
    for (size_t i = 0; i < R; i++)
        for (size_t d = 0; d < 6; d++)
            I[i * R + i / 6 * 6 + d] = shift * cook->loads[i / 6].I6[6 * (i % 6) + d];
    bo_gemm(false, false, rank, rank, rank, 1, I, rank, G, rank, 0, A, rank);
    for (size_t i = 0; i < R; i++)
        A[i * R + i] += 1;
    memcpy(mass->B, I, R * R * sizeof *I);
    if (!bo_lu_factor(rank, A, pivots))
        return bo_fail(cook->ctx, BOUGH_ERROR_SINGULAR, "the loads of a free component cannot be told apart");
    bo_lu_solve_many(rank, A, pivots, rank, mass->B);
    return BOUGH_OK;
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
    mass_operator mass = {.cook = cook, .held = held};
    bough_status status = shift != 0 && cook->loaded ? prepare_correction(cook, factor, -shift, &mass) : BOUGH_OK;
    const bo_operator operator= {
        .multiply = multiply, .correct = mass.rank ? correct : NULL, .data = &mass, .size = cook->n, .rank = rank};
    if (status == BOUGH_OK)
        status = bo_eigen_shift_invert(cook->ctx, factor, &operator, shift, count, MODE_TOLERANCE, values, vectors);
    bo_free(cook->ctx, mass.Q);
    bo_free(cook->ctx, mass.B);
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

/* Six rigid modes come first. */
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

bough_status bo_cook_lower_shift(bo_cook *cook) {
    if (!cook->rigid)
        return BOUGH_OK;
    bo_cook_clock(cook, BOUGH_COOK_FACTOR);
    return factor_shifted(cook, 1e-3 * cook->eigenvalues[0]);
}

bough_status bo_cook_held_modes(bo_cook *cook, bo_factor *factor, const unsigned char *held, int32_t count) {
    BO_TRY(reserve_modes(cook, count));
    return eigen(cook, factor, held, 0, count, cook->eigenvalues, cook->modes);
}
