#include "retarget/sensitivity.h"

#include "base/simd.h"
#include "base/threads.h"

#include <string.h>

/* A column is a control point that is not held. Columns are ordered by the time at which they begin to act, first by
 * point and then by motor, so that those that are followed at a step are neighbours. LANES of them are a chunk, which
 * one task takes through several steps; TILE of them are a tile of the matrix. */
enum {
    LANES = BO_LU_LANES,
    TILE = 4 * LANES,
    STEPS = 8,          /* linearised at a time */
    ROWS_A_BLOCK = 256, /* of J, before they go into the matrix; a step may have more */
    STEPS_A_LOOK = 64   /* between two questions whether to go on */
};

/* Changes of the last two steps' ends, and scratch: nu, nv, or nv + nc rows of LANES each. */
typedef struct {
    int32_t first, last; /* steps in which it is followed; first > last: none */
    double *u[2], *v[2], *u_base, *v_base, *solution, *scratch;
    double *memory;
} chunk;

/* A residual's derivatives by positions and quaternions of one body and by coordinates of one part, or by a multiplier. */
typedef struct {
    int32_t body, part, multiplier; /* -1: none */
    double *by;                     /* 7 + most coordinates; by the multiplier: the first */
} residual;

struct bo_sensitivity {
    bough_adjoint *adjoint;
    int32_t column_count, chunk_count, tile_count;
    chunk *chunks;
    bo_mb_forward steps[STEPS];
    double *motors; /* STEPS x 2 motors */
    bool good[STEPS];
    bo_bspline_weights weights[STEPS];
    double *last_shrink;            /* bodies: of the step before those that are linearised */
    int32_t first_step, step_count; /* that are linearised */
    int32_t *tasks;                 /* chunks that are taken through these steps, or pairs of tiles */
    int32_t most_rows;              /* of J, in a step */
    residual *residuals;            /* STEPS x most_rows */
    double *residual_memory;
    double *rows_xi, *row_u; /* of one frame; of one residual */
    /* Rows of J that were not yet added to the matrix */
    double *J; /* tiles x room x TILE */
    int32_t room, row_count;
    int32_t first_row[STEPS + 1]; /* of each step that is linearised */
    int32_t first_tile, end_tile; /* that have rows other than zeros */
    double *H;                    /* tiles (i, j <= i) x TILE x TILE */
};

/* ---- making ---- */

static void find_columns(const bough_adjoint *x, double memory_seconds, bo_sensitivity *s) {
    const int32_t n = x->def.step_count, motors = x->motor_count, held = x->def.held_points;
    for (int32_t c = 0; c < s->chunk_count; c++)
        s->chunks[c].first = n + 1, s->chunks[c].last = 0;
    for (int32_t k = 1; k <= n; k++) {
        bo_bspline_weights w;
        bo_bspline_at(&x->shape, bo_adjoint_time(x, k), &w);
        for (int32_t p = w.first; p <= w.first + x->shape.degree; p++)
            for (int32_t m = 0; m < motors && p >= held; m++) {
                chunk *to = &s->chunks[((p - held) * motors + m) / LANES];
                to->first = k < to->first ? k : to->first, to->last = k;
            }
    }
    const double more = memory_seconds > 0 ? ceil(memory_seconds / x->def.dt) : n;
    for (int32_t c = 0; c < s->chunk_count; c++)
        if (s->chunks[c].last > 0)
            s->chunks[c].last = (int32_t)fmin(s->chunks[c].last + more, n);
}

static bough_status make_chunk(bough_context *ctx, const bough_multibody *model, chunk *c) {
    const size_t nu = (size_t)model->nu * LANES, nv = (size_t)model->nv * LANES;
    const size_t size = nv + (size_t)model->nc * LANES;
    double *at = c->memory = BO_NEW_ZEROS(ctx, double, 3 * nu + 3 * nv + 3 * size);
    if (!at)
        return BOUGH_ERROR_MEMORY;
    c->u[0] = at, c->u[1] = at += nu, c->u_base = at += nu;
    c->v[0] = at += nu, c->v[1] = at += nv, c->v_base = at += nv;
    c->solution = at += nv, c->scratch = at + size;
    return BOUGH_OK;
}

static int32_t most_coordinates(const bough_multibody *model) {
    int32_t most = 0;
    for (int32_t p = 0; p < model->def.part_count; p++)
        most = model->parts[p].r > most ? model->parts[p].r : most;
    return most;
}

static bough_status make_residuals(bough_context *ctx, bo_sensitivity *s) {
    const bough_multibody *model = s->adjoint->model;
    const size_t width = 7 + (size_t)most_coordinates(model), count = (size_t)(STEPS * s->most_rows);
    s->residuals = BO_NEW_ZEROS(ctx, residual, count);
    s->residual_memory = BO_NEW_ZEROS(ctx, double, count *width);
    s->rows_xi = BO_NEW_ZEROS(ctx, double, BO_TRACKED_ROWS * model->nv + model->nu);
    if (!s->residuals || !s->residual_memory || !s->rows_xi)
        return BOUGH_ERROR_MEMORY;
    s->row_u = s->rows_xi + (int64_t)BO_TRACKED_ROWS * model->nv;
    for (size_t i = 0; i < count; i++)
        s->residuals[i].by = s->residual_memory + i * width;
    return BOUGH_OK;
}

static bough_status make(bough_context *ctx, double memory_seconds, bo_sensitivity *s) {
    const bough_adjoint *x = s->adjoint;
    const int32_t points = x->shape.count - x->def.held_points;
    s->column_count = points * x->motor_count;
    s->chunk_count = bo_chunk_count(s->column_count, LANES), s->tile_count = bo_chunk_count(s->column_count, TILE);
    for (int32_t i = 0; i < x->def.tracked_count; i++)
        s->most_rows += 3 * (x->tracked[i].def.position > 0) + 3 * (x->tracked[i].def.orientation > 0);
    for (int32_t m = 0; m < x->motor_count; m++)
        s->most_rows += isfinite(x->limits[m].force);
    s->room = STEPS * s->most_rows > ROWS_A_BLOCK ? STEPS * s->most_rows : ROWS_A_BLOCK;
    const size_t tiles = (size_t)s->tile_count, pairs = tiles * (tiles + 1) / 2;
    s->chunks = BO_NEW_ZEROS(ctx, chunk, s->chunk_count);
    s->motors = BO_NEW_ZEROS(ctx, double, (size_t)STEPS * 2 * (size_t)x->motor_count);
    s->J = BO_NEW_ZEROS(ctx, double, tiles *(size_t)s->room *TILE);
    s->H = BO_NEW_ZEROS(ctx, double, pairs *TILE *TILE);
    s->last_shrink = BO_NEW_ZEROS(ctx, double, x->model->body_count);
    s->tasks = BO_NEW_ZEROS(ctx, int32_t, (size_t)s->chunk_count + 2 * pairs);
    if (!s->chunks || !s->motors || !s->J || !s->H || !s->tasks || !s->last_shrink)
        return BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < s->chunk_count; c++)
        BO_TRY(make_chunk(ctx, x->model, &s->chunks[c]));
    for (int i = 0; i < STEPS; i++)
        BO_TRY(bo_mb_forward_make(ctx, x->model, &s->steps[i]));
    find_columns(x, memory_seconds, s);
    return make_residuals(ctx, s);
}

bough_status bo_sensitivity_create(bough_context *ctx, bough_adjoint *adjoint, double memory_seconds,
                                   bo_sensitivity **out) {
    *out = NULL;
    if (!(memory_seconds >= 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "changes are to be followed for %g s; it must be 0 or more",
                       memory_seconds);
    bo_sensitivity *s = BO_NEW(ctx, bo_sensitivity);
    if (!s)
        return BOUGH_ERROR_MEMORY;
    s->adjoint = adjoint;
    const bough_status status = make(ctx, memory_seconds, s);
    if (status != BOUGH_OK) {
        bo_sensitivity_destroy(ctx, s);
        return status;
    }
    *out = s;
    return BOUGH_OK;
}

void bo_sensitivity_destroy(bough_context *ctx, bo_sensitivity *s) {
    if (!s)
        return;
    for (int32_t c = 0; s->chunks && c < s->chunk_count; c++)
        bo_free(ctx, s->chunks[c].memory);
    for (int i = 0; i < STEPS; i++)
        bo_mb_forward_free(ctx, &s->steps[i]);
    void *const blocks[] = {s->chunks,          s->motors,  s->last_shrink, s->tasks, s->residuals,
                            s->residual_memory, s->rows_xi, s->J,           s->H};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, s);
}

/* ---- steps ---- */

static void linearise_one(void *data, int32_t i) {
    bo_sensitivity *s = data;
    const bough_adjoint *x = s->adjoint;
    const int32_t step = s->first_step + i;
    const bo_mb_moment at = bo_adjoint_moment(x, step, s->motors + (int64_t)2 * x->motor_count * i);
    s->good[i] = bo_mb_linearise_forwards(&s->steps[i], &at);
    bo_bspline_at(&x->shape, bo_adjoint_time(x, step), &s->weights[i]);
}

/* Residuals of forces of motors that are beyond their limits; `at`: the first of the step. Returns how many. */
static int32_t look_at_forces(const bo_sensitivity *s, int32_t step, const double *lambda, residual *at) {
    const bough_adjoint *x = s->adjoint;
    const double weight = sqrt(bo_adjoint_weight(x, step) * x->def.limit_weight);
    int32_t count = 0;
    for (int32_t m = 0; m < x->motor_count; m++) {
        const double most = x->limits[m].force;
        const int32_t row = isfinite(most) ? bo_mb_motor_row(x->model, m) : -1;
        if (row < 0 || fabs(lambda[row]) <= most)
            continue;
        at[count].body = at[count].part = -1, at[count].multiplier = row;
        at[count++].by[0] = weight / most;
    }
    return count;
}

/* Residuals of frames and forces at the i-th of the steps that are linearised. */
static bough_status look_at_step(bough_context *ctx, bo_sensitivity *s, int32_t i) {
    const bough_adjoint *x = s->adjoint;
    const bough_multibody *model = x->model;
    const int32_t step = s->first_step + i;
    const bo_kept_step at = bo_adjoint_step(x, step);
    int32_t count = 0;
    for (int32_t f = 0; f < x->def.tracked_count; f++) {
        bo_tracked *t = &x->tracked[f];
        const int32_t found = bo_tracked_rows(model, t, step, at.u, at.v, bo_adjoint_weight(x, step), s->rows_xi);
        if (found < 0)
            return bo_fail(ctx, BOUGH_NOT_FINITE, "the interface of tracked frame %d is crushed at t = %g", f,
                           bo_adjoint_time(x, step));
        for (int32_t k = 0; k < found; k++) {
            residual *r = &s->residuals[(int64_t)s->most_rows * i + count++];
            memset(s->row_u, 0, (size_t)model->nu * sizeof *s->row_u);
            bo_mb_add_displacements(model, at.u, s->rows_xi + (int64_t)model->nv * k, s->row_u);
            r->body = t->frame.body, r->part = t->face.part, r->multiplier = -1;
            if (r->body >= 0)
                memcpy(r->by, s->row_u + 7 * r->body, 7 * sizeof *r->by);
            if (r->part >= 0)
                memcpy(r->by + 7, s->row_u + model->parts[r->part].first + model->body_count,
                       (size_t)model->parts[r->part].r * sizeof *r->by);
        }
    }
    count += look_at_forces(s, step, at.lambda, &s->residuals[(int64_t)s->most_rows * i + count]);
    s->first_row[i + 1] = s->first_row[i] + count;
    return BOUGH_OK;
}

/* Uhat = U_k-1 + history (U_k-1 - U_k-2), where step k shortened the quaternions of both, and step k - 1 that of k - 2
 * before. */
static void find_base(const bough_multibody *model, double history, const double *shrink, const double *shrink_before,
                      chunk *c) {
    for (int32_t i = 0; i < model->nu; i++) {
        const bool turns = i < 7 * model->body_count && i % 7 >= 3;
        const double now = turns ? shrink[i / 7] : 1, before = turns ? shrink_before[i / 7] : 1;
        const double a = now * (1 + history), b = now * before * history;
        const double *u = c->u[0] + (int64_t)LANES * i, *last = c->u[1] + (int64_t)LANES * i;
        double *to = c->u_base + (int64_t)LANES * i;
        for (int l = 0; l < LANES; l++)
            to[l] = a * u[l] - b * last[l];
    }
    for (int64_t i = 0; i < (int64_t)LANES * model->nv; i++)
        c->v_base[i] = (1 + history) * c->v[0][i] - history * c->v[1][i];
}

/* Minus the change of F by the points of a chunk. */
static void push_motors(const bo_sensitivity *s, int32_t number, int32_t i, double *solution) {
    const bough_adjoint *x = s->adjoint;
    const int32_t size = x->model->nv + x->model->nc;
    const bo_bspline_weights *w = &s->weights[i];
    memset(solution, 0, (size_t)size * LANES * sizeof *solution);
    for (int32_t l = 0; l < LANES && number * LANES + l < s->column_count; l++) {
        const int32_t column = number * LANES + l, motor = column % x->motor_count;
        const int32_t j = column / x->motor_count + x->def.held_points - w->first;
        if (j < 0 || j > x->shape.degree)
            continue;
        const double *by_place = s->steps[i].by_motor + (int64_t)size * 2 * motor, *by_rate = by_place + size;
        for (int32_t k = 0; k < size; k++)
            solution[(int64_t)LANES * k + l] = -(w->weights[0][j] * by_place[k] + w->weights[1][j] * by_rate[k]);
    }
}

/* to (LANES) = sum_k a_k x_k over n rows of lanes, added. */
BO_INLINE void add_rows(int32_t n, const double *a, const double *x, double *to) {
    for (int32_t k = 0; k < n; k++)
        for (int l = 0; l < LANES; l++)
            to[l] += a[k] * x[LANES * k + l];
}

BO_MULTIVERSION static void write_rows(const bo_sensitivity *s, int32_t number, int32_t i, const double *u,
                                       const double *solution) {
    const bough_multibody *model = s->adjoint->model;
    const int32_t tile = number / (TILE / LANES), within = number % (TILE / LANES) * LANES;
    for (int32_t k = s->first_row[i]; k < s->first_row[i + 1]; k++) {
        const residual *r = &s->residuals[(int64_t)s->most_rows * i + k - s->first_row[i]];
        double sum[LANES] = {0};
        if (r->body >= 0)
            add_rows(7, r->by, u + (int64_t)LANES * 7 * r->body, sum);
        if (r->part >= 0)
            add_rows(model->parts[r->part].r, r->by + 7,
                     u + (int64_t)LANES * (model->parts[r->part].first + model->body_count), sum);
        if (r->multiplier >= 0)
            add_rows(1, r->by, solution + (int64_t)LANES * model->place[model->nv + r->multiplier], sum);
        memcpy(s->J + ((int64_t)s->room * tile + k) * TILE + within, sum, sizeof sum);
    }
}

static void take_chunk(void *data, int32_t task) {
    bo_sensitivity *s = data;
    const bough_adjoint *x = s->adjoint;
    const int32_t number = s->tasks[task];
    chunk *c = &s->chunks[number];
    for (int32_t i = 0; i < s->step_count; i++) {
        const int32_t step = s->first_step + i;
        if (step < c->first || step > c->last)
            continue;
        const double *shrink = bo_adjoint_step(x, step).shrink;
        const double *before = i > 0 ? bo_adjoint_step(x, step - 1).shrink : s->last_shrink;
        find_base(x->model, step == 1 ? 0 : 1. / 3, shrink, before, c);
        push_motors(s, number, i, c->solution);
        double *u = c->u[1], *v = c->v[1];
        bo_mb_linear_push(&s->steps[i], c->u_base, c->v_base, c->solution, c->scratch, u, v);
        c->u[1] = c->u[0], c->u[0] = u, c->v[1] = c->v[0], c->v[0] = v;
        write_rows(s, number, i, u, c->solution);
    }
}

/* ---- the matrix ---- */

/* C (TILE x TILE) += A^T B for A, B (rows x TILE). */
BO_MULTIVERSION static void add_product(int32_t rows, const double *A, const double *B, double *C) {
    for (int i = 0; i < TILE; i += 4)
        for (int j = 0; j < TILE; j += 8) {
            bo_v4 sum[4][2] = {{{0}}};
            const double *a = A + i, *b = B + j;
            for (int32_t k = 0; k < rows; k++, a += TILE, b += TILE) {
                const bo_v4 b0 = BO_V4_CONST(b), b1 = BO_V4_CONST(b + 4);
                for (int r = 0; r < 4; r++)
                    sum[r][0] += a[r] * b0, sum[r][1] += a[r] * b1;
            }
            for (int r = 0; r < 4; r++) {
                BO_V4(C + TILE * (i + r) + j) += sum[r][0];
                BO_V4(C + TILE * (i + r) + j + 4) += sum[r][1];
            }
        }
}

static double *tile_at(const bo_sensitivity *s, int32_t i, int32_t j) {
    return s->H + ((int64_t)i * (i + 1) / 2 + j) * TILE * TILE;
}

static void add_tile(void *data, int32_t task) {
    const bo_sensitivity *s = data;
    const int32_t i = s->tasks[2 * task], j = s->tasks[2 * task + 1];
    add_product(s->row_count, s->J + (int64_t)s->room * TILE * i, s->J + (int64_t)s->room * TILE * j, tile_at(s, i, j));
}

/* Adds the rows of J to the matrix. */
static void flush(bough_context *ctx, bo_sensitivity *s) {
    int32_t count = 0;
    for (int32_t i = s->first_tile; i < s->end_tile; i++)
        for (int32_t j = s->first_tile; j <= i; j++, count++)
            s->tasks[2 * count] = i, s->tasks[2 * count + 1] = j;
    if (count > 0 && s->row_count > 0)
        bo_run_tasks(ctx, add_tile, s, count);
    memset(s->J, 0, (size_t)s->tile_count * (size_t)s->room * TILE * sizeof *s->J);
    s->row_count = 0, s->first_tile = s->tile_count, s->end_tile = 0;
}

/* Takes all columns through the steps from first_step on, which are kept. */
static bough_status take_steps(bough_context *ctx, bo_sensitivity *s) {
    const bough_adjoint *x = s->adjoint;
    int32_t count = 0;
    if (s->row_count + STEPS * s->most_rows > s->room)
        flush(ctx, s);
    bo_run_tasks(ctx, linearise_one, s, s->step_count);
    s->first_row[0] = s->row_count;
    for (int32_t i = 0; i < s->step_count; i++) {
        if (!s->good[i])
            return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the matrix of the time step is singular at t = %g",
                           bo_adjoint_time(x, s->first_step + i));
        BO_TRY(look_at_step(ctx, s, i));
    }
    s->row_count = s->first_row[s->step_count];
    for (int32_t c = 0; c < s->chunk_count; c++) {
        const int32_t tile = c / (TILE / LANES);
        if (s->chunks[c].first >= s->first_step + s->step_count || s->chunks[c].last < s->first_step)
            continue;
        s->tasks[count++] = c;
        s->first_tile = tile < s->first_tile ? tile : s->first_tile;
        s->end_tile = tile + 1 > s->end_tile ? tile + 1 : s->end_tile;
    }
    bo_run_tasks(ctx, take_chunk, s, count);
    memcpy(s->last_shrink, bo_adjoint_step(x, s->first_step + s->step_count - 1).shrink,
           (size_t)x->model->body_count * sizeof *s->last_shrink);
    return BOUGH_OK;
}

static void clear(bo_sensitivity *s) {
    const bough_multibody *model = s->adjoint->model;
    const size_t tiles = (size_t)s->tile_count;
    for (int32_t c = 0; c < s->chunk_count; c++)
        for (int k = 0; k < 2; k++) {
            memset(s->chunks[c].u[k], 0, (size_t)model->nu * LANES * sizeof(double));
            memset(s->chunks[c].v[k], 0, (size_t)model->nv * LANES * sizeof(double));
        }
    memset(s->H, 0, tiles * (tiles + 1) / 2 * TILE * TILE * sizeof *s->H);
    memset(s->J, 0, tiles * (size_t)s->room * TILE * sizeof *s->J);
    s->row_count = 0, s->first_tile = s->tile_count, s->end_tile = 0;
    for (int32_t b = 0; b < model->body_count; b++)
        s->last_shrink[b] = 1;
}

static bough_status follow(bough_context *ctx, bo_sensitivity *s) {
    bough_adjoint *x = s->adjoint;
    int32_t next_look = STEPS_A_LOOK;
    clear(s);
    for (int32_t segment = 0; segment <= x->kept.snapshot_count; segment++) {
        const int32_t first = segment * x->kept.segment + 1, end = first + x->kept.segment;
        BO_TRY(bo_adjoint_reach(ctx, x, segment));
        for (s->first_step = first; s->first_step < end && s->first_step <= x->def.step_count;) {
            const int32_t left = (end <= x->def.step_count ? end : x->def.step_count + 1) - s->first_step;
            s->step_count = left < STEPS ? left : STEPS;
            BO_TRY(take_steps(ctx, s));
            s->first_step += s->step_count;
            if (s->first_step < next_look)
                continue;
            next_look += STEPS_A_LOOK;
            if (!bo_progress(ctx, "sensitivities", (double)s->first_step / x->def.step_count, "step %d", s->first_step))
                return bo_fail_cancelled(ctx);
        }
    }
    flush(ctx, s);
    return BOUGH_OK;
}

static int64_t point_of(const bo_sensitivity *s, int32_t column) {
    const bough_adjoint *x = s->adjoint;
    return (int64_t)x->shape.count * (column % x->motor_count) + x->def.held_points + column / x->motor_count;
}

bough_status bo_sensitivity_matrix(bough_context *ctx, bo_sensitivity *s, double *H) {
    bough_adjoint *x = s->adjoint;
    const int64_t size = (int64_t)x->motor_count * x->shape.count;
    const int32_t again = x->steps_again; /* which counts those of gradients */
    const bough_status status = follow(ctx, s);
    x->steps_again = again;
    if (status != BOUGH_OK)
        return status;
    memset(H, 0, (size_t)(size * size) * sizeof *H);
    for (int32_t i = 0; i < s->column_count; i++)
        for (int32_t j = 0; j <= i; j++) {
            const int64_t a = point_of(s, i), b = point_of(s, j);
            H[size * a + b] = H[size * b + a] = tile_at(s, i / TILE, j / TILE)[TILE * (i % TILE) + j % TILE];
        }
    bo_adjoint_add_curvature(x, H);
    return BOUGH_OK;
}
