/* Small vibrations of a multibody system about a state at rest. docs/theory/multibody.md, "Vibrations".
 *
 *   M x'' + K x - J^T y = 0,   J x = 0
 * with M, K and J of the step's matrix at the state: K has the forces in joints and the weight among its terms. In an
 * orthonormal basis N of what J leaves free, N^T K N z = omega^2 N^T M N z. */
#include "multibody/multibody.h"

#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"

#include <string.h>

#define FOLLOWS 1e-8  /* of the length of a row: what is left of one that follows from others */
enum { MOST = 1500 }; /* velocities, of which the matrices are full */

typedef struct {
    bough_context *ctx;
    const bough_multibody *model;
    bo_mb_state *s;
    int32_t n, size;      /* velocities; and multipliers */
    double *full;         /* size x size, in the order of elimination */
    double *M, *K, *J;    /* n x n, n x n, nc x n, in units */
    double *basis;        /* n x n: rows */
    double *half, *shape; /* n x n */
    int32_t held, rest;
} search;

/* Entries of velocities are in units, so that lengths, angles and coordinates weigh alike. */
static bough_status take_matrices(search *x, double ca, double cq, double *out) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    const bo_mb_drive drive = bo_mb_drive_at(s, s->face.time);
    if (!bo_mb_evaluate(model, &s->work, &drive, s->face.u, s->zeros, s->zeros, s->face.lambda, s->residual, s->c,
                        s->rate))
        return bo_fail(x->ctx, BOUGH_NOT_FINITE, "a part is turned inside out");
    bo_mb_tangent(model, &s->work, &drive, s->face.u, s->zeros, s->zeros, s->face.lambda, ca, 0, cq, 0, 0, true);
    bo_block_lu_unfold(&s->work.lu, x->full);
    for (int32_t i = 0; i < x->n; i++)
        for (int32_t j = 0; j < x->n; j++)
            out[(size_t)x->n * (size_t)i + (size_t)j] =
                model->units[i] * model->units[j] *
                x->full[(size_t)x->size * (size_t)model->place[i] + (size_t)model->place[j]];
    for (int32_t k = 0; k < model->nc; k++)
        for (int32_t j = 0; j < x->n; j++)
            x->J[(size_t)x->n * (size_t)k + (size_t)j] =
                model->units[j] * x->full[(size_t)x->size * (size_t)model->place[x->n + k] + (size_t)model->place[j]];
    return BOUGH_OK;
}

static double product(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Takes away what v has along the rows of the basis, twice for rounding, and returns the length that is left. */
static double leave_out(const search *x, int32_t count, double *v) {
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < count; k++) {
            const double *row = x->basis + (size_t)x->n * (size_t)k, along = product(x->n, row, v);
            for (int32_t i = 0; i < x->n; i++)
                v[i] -= along * row[i];
        }
    return sqrt(product(x->n, v, v));
}

/* Adds what v, which stands behind the rows of the basis, has that is new. */
static void extend(const search *x, int32_t *count) {
    double *v = x->basis + (size_t)x->n * (size_t)*count;
    const double length = sqrt(product(x->n, v, v)), left = leave_out(x, *count, v);
    if (!(left > FOLLOWS * length))
        return;
    for (int32_t i = 0; i < x->n; i++)
        v[i] /= left;
    ++*count;
}

/* The basis: of the rows of J, then of what they leave free. */
static void split_space(search *x) {
    const size_t n = (size_t)x->n;
    int32_t count = 0;
    for (int32_t k = 0; k < x->model->nc && count < x->n; k++) {
        memcpy(x->basis + n * (size_t)count, x->J + n * (size_t)k, n * sizeof(double));
        extend(x, &count);
    }
    x->held = count, x->rest = x->n - count;
    for (int32_t k = 0; k < x->n && count < x->n; k++) {
        double *v = x->basis + n * (size_t)count;
        memset(v, 0, n * sizeof *v);
        v[k] = 1;
        extend(x, &count);
    }
}

/* A <- N^T (A + A^T) / 2 N, rest x rest. */
static void restrict_to(search *x, double *A) {
    const size_t n = (size_t)x->n, rest = (size_t)x->rest;
    const double *N = x->basis + n * (size_t)x->held;
    for (size_t a = 0; a < rest; a++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += N[n * a + i] * 0.5 * (A[n * i + j] + A[n * j + i]);
            x->half[n * a + j] = sum;
        }
    for (size_t a = 0; a < rest; a++)
        for (size_t b = 0; b < rest; b++)
            A[rest * a + b] = product(x->n, x->half + n * a, N + n * b);
}

static bough_status make_modes(bough_context *ctx, int32_t count, int32_t size, bough_multibody_modes **modes) {
    bough_multibody_modes *m = BO_NEW(ctx, bough_multibody_modes);
    if (!m)
        return BOUGH_ERROR_MEMORY;
    *modes = m;
    m->count = count, m->size = size;
    m->squares = BO_NEW_ZEROS(ctx, double, count);
    m->frequencies_hz = BO_NEW_ZEROS(ctx, double, count);
    m->shapes = BO_NEW_ZEROS(ctx, double, (size_t)count *(size_t)size);
    return m->squares && m->frequencies_hz && m->shapes ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

void bough_multibody_modes_destroy(bough_context *ctx, bough_multibody_modes *modes) {
    if (!modes)
        return;
    bo_free(ctx, modes->squares);
    bo_free(ctx, modes->frequencies_hz);
    bo_free(ctx, modes->shapes);
    bo_free(ctx, modes);
}

/* x = D N L^-T y, with D the units. */
static void fill(const search *x, const double *squares, bough_multibody_modes *m) {
    const size_t n = (size_t)x->n, rest = (size_t)x->rest;
    const double *N = x->basis + n * (size_t)x->held, largest = fabs(squares[rest - 1]);
    for (size_t k = 0; k < (size_t)m->count; k++) {
        m->squares[k] = squares[k];
        m->frequencies_hz[k] = squares[k] > 0 ? sqrt(squares[k]) / (2 * M_PI) : 0;
        m->unstable_count += squares[k] < -1e-9 * largest;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t a = 0; a < rest; a++)
                sum += N[n * a + i] * x->shape[rest * a + k];
            m->shapes[n * k + i] = x->model->units[i] * sum;
        }
    }
}

static bough_status find(search *x, double *squares, double *scratch) {
    BO_TRY(take_matrices(x, 1, 0, x->M));
    BO_TRY(take_matrices(x, 0, 1, x->K));
    split_space(x);
    if (x->rest == 0)
        return BOUGH_OK;
    restrict_to(x, x->M);
    restrict_to(x, x->K);
    if (!bo_cholesky_factor(x->rest, x->M))
        return bo_fail(x->ctx, BOUGH_ERROR_SINGULAR, "something that can move has no mass");
    bo_cholesky_congruence(x->rest, x->M, x->K);
    if (!bo_sym_eigen(x->rest, x->K, squares, x->shape, scratch))
        return bo_fail(x->ctx, BOUGH_NOT_FINITE, "the matrices of small vibrations are not finite");
    bo_cholesky_solve_back(x->rest, x->M, x->rest, x->shape);
    return BOUGH_OK;
}

bough_status bough_multibody_find_modes(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                        int32_t count, bough_multibody_modes **modes) {
    search x = {.ctx = ctx, .model = model, .s = bo_mb(state), .n = model->nv, .size = model->nv + model->nc};
    const size_t n = (size_t)x.n, size = (size_t)x.size, nc = (size_t)model->nc;
    *modes = NULL;
    if (x.n > MOST)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the system has %d velocities; its small vibrations are found for up to %d", x.n, MOST);
    double *block = BO_NEW_ZEROS(ctx, double, size *size + 5 * n * n + nc * n + 12 * n + 64);
    if (!block)
        return BOUGH_ERROR_MEMORY;
    x.full = block, x.M = x.full + size * size, x.K = x.M + n * n, x.basis = x.K + n * n, x.half = x.basis + n * n;
    x.shape = x.half + n * n, x.J = x.shape + n * n;
    double *squares = x.J + nc * n, *scratch = squares + n;
    bough_status status = find(&x, squares, scratch);
    x.s->factored_h = 0; /* the factor of the last step is gone */
    if (status == BOUGH_OK)
        status = make_modes(ctx, count < x.rest ? count : x.rest, x.n, modes);
    if (status == BOUGH_OK && x.rest > 0)
        fill(&x, squares, *modes);
    bo_free(ctx, block);
    if (status != BOUGH_OK) {
        bough_multibody_modes_destroy(ctx, *modes);
        *modes = NULL;
    }
    return status;
}
