#include "linalg/nnls.h"

#include "base/simd.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum {
    LANES = 16,         /* sums that run side by side, so that they fit into registers */
    COLUMNS_A_TASK = 64 /* of the gradient */
};

/* A column whose part across the active ones is below this (of its length, squared) adds nothing but rounding. */
#define LEAST_PIVOT 1e-12
/* The gradient is computed in float: a cosine between column and residual below this is zero. */
#define LEAST_COSINE 1e-6
/* Columns that come in together must differ: largest cosine between any two of them. */
#define LARGEST_LIKENESS 0.5

enum { OUT, IN, BARRED };

typedef struct {
    bough_context *ctx;
    const bo_nnls *problem;
    int32_t count, most;
    int32_t *active; /* count */
    double *x;       /* count: the solution so far */
    double *z;       /* count: least squares of the active columns, of any sign */
    double *right;   /* count: G_a . b */
    double *L;       /* Gram matrix of the active columns = L L^T; packed, row i begins at i (i + 1) / 2 */
    double *residual;
    double residual_norm, b_norm;
    float *direction;     /* residual over its norm */
    float *cosine;        /* columns: of the angle between column and residual */
    float *length;        /* columns */
    unsigned char *state; /* columns: OUT, IN, or BARRED: came in and went out without use since the last success */
} solver;

static double *row_of(const solver *s, int32_t i) {
    return s->L + (size_t)i * (size_t)(i + 1) / 2;
}
static const float *column_of(const solver *s, int32_t j) {
    return s->problem->G + (size_t)j * (size_t)s->problem->rows;
}

BO_MULTIVERSION static float dot_float(int32_t n, const float *restrict a, const float *restrict b) {
    float lane[LANES] = {0}, sum = 0;
    int32_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int32_t k = 0; k < LANES; k++)
            lane[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum += a[i] * b[i];
    for (int32_t k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

BO_MULTIVERSION static double dot_exact(int32_t n, const float *restrict a, const float *restrict b) {
    double lane[LANES] = {0}, sum = 0;
    int32_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int32_t k = 0; k < LANES; k++)
            lane[k] += (double)a[i + k] * (double)b[i + k];
    for (; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    for (int32_t k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

static double dot_mixed(int32_t n, const float *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

BO_MULTIVERSION static void subtract_column(int32_t n, double factor, const float *restrict a, double *restrict y) {
    for (int32_t i = 0; i < n; i++)
        y[i] -= factor * (double)a[i];
}

static double norm(int32_t n, const double *a) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

/* ---- the active set and the factor of its Gram matrix ---- */

/* Appends a column. False when it depends on the active ones. */
static bool enter(solver *s, int32_t column) {
    const int32_t rows = s->problem->rows, k = s->count;
    const float *g = column_of(s, column);
    double *row = row_of(s, k), whole = dot_exact(rows, g, g), pivot = whole;
    for (int32_t i = 0; i < k; i++) {
        const double *other = row_of(s, i);
        double sum = dot_exact(rows, g, column_of(s, s->active[i]));
        for (int32_t j = 0; j < i; j++)
            sum -= row[j] * other[j];
        row[i] = sum / other[i];
        pivot -= row[i] * row[i];
    }
    if (!(pivot > LEAST_PIVOT * whole))
        return false;
    row[k] = sqrt(pivot);
    s->right[k] = dot_mixed(rows, g, s->problem->b);
    s->active[k] = column;
    s->x[k] = 0;
    s->state[column] = IN;
    s->count++;
    return true;
}

/* Without row `at` L has one entry too many in each row below; rotations of neighbouring columns bring it back. */
static void downdate(solver *s, int32_t at) {
    for (int32_t c = at; c + 1 < s->count; c++) {
        const double *corner = row_of(s, c + 1);
        const double length = hypot(corner[c], corner[c + 1]), cosine = corner[c] / length,
                     sine = corner[c + 1] / length;
        for (int32_t i = c + 1; i < s->count; i++) {
            double *row = row_of(s, i), left = row[c], right = row[c + 1];
            row[c] = cosine * left + sine * right;
            row[c + 1] = cosine * right - sine * left;
        }
    }
    for (int32_t i = at; i + 1 < s->count; i++)
        memmove(row_of(s, i), row_of(s, i + 1), (size_t)(i + 1) * sizeof(double));
}

static void leave(solver *s, int32_t at) {
    downdate(s, at);
    s->state[s->active[at]] = BARRED;
    s->count--;
    for (int32_t i = at; i < s->count; i++) {
        s->active[i] = s->active[i + 1];
        s->x[i] = s->x[i + 1];
        s->right[i] = s->right[i + 1];
    }
}

/* z = (G_a^T G_a)^-1 G_a^T b */
static void solve_active(solver *s) {
    for (int32_t i = 0; i < s->count; i++) {
        const double *row = row_of(s, i);
        double sum = s->right[i];
        for (int32_t j = 0; j < i; j++)
            sum -= row[j] * s->z[j];
        s->z[i] = sum / row[i];
    }
    for (int32_t i = s->count - 1; i >= 0; i--) {
        const double *row = row_of(s, i);
        s->z[i] /= row[i];
        for (int32_t j = 0; j < i; j++)
            s->z[j] -= row[j] * s->z[i];
    }
}

/* Goes from x towards z as far as all stay non-negative, drops what became zero, until z itself is positive. A column
 * that has just come in and would turn negative goes at once (a step of zero). At least one of them stays: the residual
 * falls along z - x, so that the gradient's product with the new part of z is positive. */
static void settle(solver *s) {
    while (s->count > 0) {
        double step = 1;
        solve_active(s);
        for (int32_t i = 0; i < s->count; i++)
            if (s->z[i] <= 0)
                step = fmin(step, s->x[i] > 0 ? s->x[i] / (s->x[i] - s->z[i]) : 0);
        bool dropped = false;
        for (int32_t i = s->count - 1; i >= 0; i--) {
            bool blocks = s->z[i] <= 0 && (s->x[i] <= 0 || s->x[i] / (s->x[i] - s->z[i]) <= step);
            s->x[i] = blocks ? 0 : s->x[i] + step * (s->z[i] - s->x[i]);
            dropped |= blocks;
        }
        for (int32_t i = s->count - 1; i >= 0 && dropped; i--)
            if (s->z[i] <= 0 && s->x[i] <= 0)
                leave(s, i);
        if (!dropped)
            return;
    }
}

/* ---- which columns to take in ---- */

static void compute_cosines(void *data, int32_t begin, int32_t end, int32_t chunk) {
    solver *s = data;
    (void)chunk;
    for (int32_t j = begin; j < end; j++)
        s->cosine[j] = s->length[j] > 0 ? dot_float(s->problem->rows, column_of(s, j), s->direction) / s->length[j] : 0;
}

static void compute_lengths(void *data, int32_t begin, int32_t end, int32_t chunk) {
    solver *s = data;
    (void)chunk;
    for (int32_t j = begin; j < end; j++)
        s->length[j] = (float)sqrt(dot_exact(s->problem->rows, column_of(s, j), column_of(s, j)));
}

static void update_residual(solver *s) {
    const int32_t rows = s->problem->rows;
    memcpy(s->residual, s->problem->b, (size_t)rows * sizeof *s->residual);
    for (int32_t i = 0; i < s->count; i++)
        subtract_column(rows, s->x[i], column_of(s, s->active[i]), s->residual);
    s->residual_norm = norm(rows, s->residual);
    for (int32_t i = 0; i < rows; i++)
        s->direction[i] = (float)(s->residual[i] / s->residual_norm);
}

static int32_t best_column(const solver *s) {
    int32_t best = -1;
    float most = (float)LEAST_COSINE;
    for (int32_t j = 0; j < s->problem->columns; j++)
        if (s->state[j] == OUT && s->cosine[j] > most)
            most = s->cosine[j], best = j;
    return best;
}

/* Like one of the columns that came in since there were `old`. */
static bool resembles(const solver *s, int32_t column, int32_t old) {
    for (int32_t i = old; i < s->count; i++) {
        int32_t other = s->active[i];
        float cosine = dot_float(s->problem->rows, column_of(s, column), column_of(s, other));
        if (cosine > (float)LARGEST_LIKENESS * s->length[column] * s->length[other])
            return true;
    }
    return false;
}

/* Takes in the column nearest to the residual, and with it, far from the goal, some more that are about as near: a
 * pass over all columns is what costs. Returns how many came in. */
static int32_t take_in(solver *s) {
    const int32_t old = s->count, columns = s->problem->columns;
    const bool near = s->residual_norm < 3 * s->problem->tolerance * s->b_norm;
    int32_t wanted = near ? 1 : 1 + s->count / 16, tries = 4 * wanted;
    float enough = 0;
    if (wanted > s->most - old)
        wanted = s->most - old;
    bo_parallel_for(s->ctx, columns, COLUMNS_A_TASK, compute_cosines, s);
    while (s->count < old + wanted && tries-- > 0) {
        int32_t j = best_column(s);
        if (j < 0 || s->cosine[j] < enough)
            break;
        if (s->count == old)
            enough = 0.7f * s->cosine[j];
        if (resembles(s, j, old) || !enter(s, j))
            s->cosine[j] = 0; /* not now */
    }
    return s->count - old;
}

static void unbar(solver *s) {
    for (int32_t j = 0; j < s->problem->columns; j++)
        if (s->state[j] == BARRED)
            s->state[j] = OUT;
}

/* The error falls about exponentially. */
static double how_far(const bo_nnls *problem, double error) {
    double goal = problem->tolerance > 1e-9 ? problem->tolerance : 1e-9;
    return goal < 1 ? fmax(0, fmin(1, log(error) / log(goal))) : 0;
}

static bough_status iterate(solver *s) {
    const bo_nnls *p = s->problem;
    bo_parallel_for(s->ctx, p->columns, COLUMNS_A_TASK, compute_lengths, s);
    s->b_norm = norm(p->rows, p->b);
    update_residual(s);
    while (s->residual_norm > p->tolerance * s->b_norm && s->count < s->most) {
        const double before = s->residual_norm, error = before / s->b_norm;
        if (p->report && !p->report(p->user, s->count, error, how_far(p, error)))
            return bo_fail_cancelled(s->ctx);
        if (take_in(s) == 0)
            return BOUGH_OK; /* no column points along the residual: this is the solution */
        settle(s);
        update_residual(s);
        if (s->residual_norm < before * (1 - 1e-9))
            unbar(s);
    }
    return BOUGH_OK;
}

static bough_status allocate(solver *s) {
    bough_context *ctx = s->ctx;
    const size_t rows = (size_t)s->problem->rows, columns = (size_t)s->problem->columns, most = (size_t)s->most;
    s->active = BO_NEW_ARRAY(ctx, int32_t, most);
    s->x = BO_NEW_ARRAY(ctx, double, most);
    s->z = BO_NEW_ARRAY(ctx, double, most);
    s->right = BO_NEW_ARRAY(ctx, double, most);
    s->L = BO_NEW_ARRAY(ctx, double, most *(most + 1) / 2);
    s->residual = BO_NEW_ARRAY(ctx, double, rows);
    s->direction = BO_NEW_ARRAY(ctx, float, rows);
    s->cosine = BO_NEW_ARRAY(ctx, float, columns);
    s->length = BO_NEW_ARRAY(ctx, float, columns);
    s->state = BO_NEW_ZEROS(ctx, unsigned char, columns);
    bool all = s->active && s->x && s->z && s->right && s->L && s->residual && s->direction && s->cosine && s->length &&
               s->state;
    return all ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static void discard(solver *s) {
    bo_free(s->ctx, s->active);
    bo_free(s->ctx, s->x);
    bo_free(s->ctx, s->z);
    bo_free(s->ctx, s->right);
    bo_free(s->ctx, s->L);
    bo_free(s->ctx, s->residual);
    bo_free(s->ctx, s->direction);
    bo_free(s->ctx, s->cosine);
    bo_free(s->ctx, s->length);
    bo_free(s->ctx, s->state);
}

bough_status bo_nnls_solve(bough_context *ctx, const bo_nnls *problem, bo_nnls_result *result) {
    solver s = {.ctx = ctx, .problem = problem, .most = problem->most};
    *result = (bo_nnls_result){0};
    if (s.most > problem->rows)
        s.most = problem->rows;
    if (s.most > problem->columns)
        s.most = problem->columns;
    bough_status status = allocate(&s);
    if (status == BOUGH_OK)
        status = iterate(&s);
    if (status == BOUGH_OK) {
        *result = (bo_nnls_result){s.count, s.active, s.x, s.b_norm > 0 ? s.residual_norm / s.b_norm : 0};
        s.active = NULL, s.x = NULL;
    }
    discard(&s);
    return status;
}

void bo_nnls_free(bough_context *ctx, bo_nnls_result *result) {
    bo_free(ctx, result->active);
    bo_free(ctx, result->x);
    *result = (bo_nnls_result){0};
}
