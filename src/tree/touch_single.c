/* Forces on single parts that fly and touch obstacles with a few points: leaves and chips on the ground. docs/theory/tree.md,
 * "Contact".
 *
 * What such points do to each other is all in the factors that the step left of their part: L D L^T of its coordinates,
 * Z = L^-1 Mrq^T, and I = C C^T, the inertia that its frame is left with. With rows J = [Jq, Jr] of the points
 *     J A^-1 J^T = G^T G,   G = [D^-1/2 L^-1 Jq^T; C^-1 (Jr^T - Z^T D^-1 L^-1 Jq^T)]
 * so that projected Gauss-Seidel (contact/solve.h) finds their forces f with y = G f for the rates of a group: G^T y are
 * the accelerations of the points, and A = C^-T y_r, a = L^-T D^-1/2 (y_q - D^-1/2 Z A) those of the part. */
#include "tree/couple.h"
#include "tree/touch.h"

#include "base/simd.h"
#include "contact/solve.h"
#include "dense/cholesky.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 60, MOST_POINTS = 32 };
#define TOLERANCE 3e-3 /* of the rates without contact */

/* One part, and the numbers of its points. */
typedef struct {
    int32_t part, r;
    size_t first, count; /* points */
    double *L, *S, *Z;   /* r x r (unit), D^-1/2, r x 6 */
    double *C, *inverse; /* 6 x 6; 1 over its diagonal */
    double *y;           /* r + 6, then as many each for the solver's `before` and `impulse` */
    double *G;           /* 3 count rows of r + 6 */
} single;

typedef struct bo_tree_singles {
    size_t count, capacity, number_capacity, constraint_capacity;
    single *list;
    double *numbers;
    bo_constraint *constraints;
} bo_tree_singles;

void bo_tree_touch_free_singles(bough_context *ctx, bo_tree_touch *touch) {
    bo_tree_singles *all = touch->singles;
    if (!all)
        return;
    bo_free(ctx, all->list);
    bo_free(ctx, all->numbers);
    bo_free(ctx, all->constraints);
    bo_free(ctx, all);
}

/* A point of a part that nothing hangs on, and which hangs on nothing. */
static bool is_alone(const bough_tree_model *model, const bo_tree_point *point) {
    const bo_tree_part *part = &model->parts[point->part];
    return part->free && part->child_count == 0 && part->joint < 0 && point->other < 0 && model->def.tie_count == 0;
}

void bo_tree_touch_find_singles(const bough_tree_model *model, bo_tree_touch *touch) {
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        island->single = (island->points == 0 || island->single) && is_alone(model, &touch->points[i]);
        island->points++;
    }
    touch->single_count = 0;
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        island->single = island->single && island->points <= MOST_POINTS;
        touch->single_count += island->single;
    }
}

/* ---- rates ---- */

static size_t numbers_of(const single *it) {
    const size_t r = (size_t)it->r, n = r + 6;
    return r * r + 7 * r + 42 + 3 * n + 3 * it->count * n;
}

static void share(single *it, double **next) {
    const size_t r = (size_t)it->r, n = r + 6;
    struct {
        double **array;
        size_t count;
    } const list[] = {{&it->L, r * r},
                      {&it->S, r},
                      {&it->Z, 6 * r},
                      {&it->C, 36},
                      {&it->inverse, 6},
                      {&it->y, 3 * n},
                      {&it->G, 3 * it->count * n}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        *list[k].array = *next, *next += list[k].count;
}

/* Points of one part follow each other. */
static bool list_singles(bough_context *ctx, const bough_tree_model *model, const bo_tree_touch *touch,
                         bo_tree_singles *all) {
    size_t numbers = 0, most = 0;
    all->count = 0;
    for (size_t i = 0, end; i < touch->point_count; i = end) {
        const bo_tree_point *point = &touch->points[i];
        for (end = i + 1; end < touch->point_count && touch->points[end].part == point->part;)
            end++;
        if (!touch->islands[point->island].single)
            continue;
        if (!BO_RESERVE(ctx, all->list, all->capacity, all->count + 1))
            return false;
        const bo_tree_part *part = &model->parts[point->part];
        all->list[all->count] =
            (single){.part = point->part, .r = part->locked ? 0 : part->r, .first = i, .count = end - i};
        numbers += numbers_of(&all->list[all->count++]);
        most = end - i > most ? end - i : most;
    }
    return BO_RESERVE(ctx, all->numbers, all->number_capacity, numbers + 1) &&
           BO_RESERVE(ctx, all->constraints, all->constraint_capacity, most + 1);
}

static bool unfold(const bough_tree_model *model, const bo_tree_work *w, single *it) {
    const bo_tree_part *part = &model->parts[it->part];
    const bo_tree_block *b = &model->blocks[part->block];
    for (int32_t i = 0; i < it->r; i++) {
        for (int32_t j = 0; j < i; j++)
            it->L[i * it->r + j] = bo_tree_L_at(w, b, part->lane, i, j);
        it->S[i] = sqrt(bo_tree_L_at(w, b, part->lane, i, i));
        for (int d = 0; d < 6; d++)
            it->Z[6 * i + d] = bo_tree_Z_at(w, b, part->lane, i, d);
    }
    bo_tree_unpack_six(&w->inertias[part->slot / 4], part->slot % 4, it->C);
    if (!bo_cholesky_factor(6, it->C))
        return false;
    for (int d = 0; d < 6; d++)
        it->inverse[d] = 1 / it->C[7 * d];
    return true;
}

/* Three rows of G: from those of a point in the coordinates, and in the frame. Each lane is one of them. */
BO_MULTIVERSION
static void weigh_rows(const single *it, const bo_tree_point *point, const double *rows, bo_v4 *restrict g, double *G) {
    const int32_t r = it->r, n = r + 6;
    const double(*frame)[6] = point->frame;
    bo_v4 rest[6];
    for (int d = 0; d < 6; d++)
        rest[d] = (bo_v4){frame[0][d], frame[1][d], frame[2][d]};
    for (int32_t i = 0; i < r; i++) {
        bo_v4 sum = {rows[i], rows[r + i], rows[2 * r + i]};
        for (int32_t j = 0; j < i; j++)
            sum -= it->L[i * r + j] * g[j];
        g[i] = sum;
    }
    for (int32_t i = 0; i < r; i++) {
        const bo_v4 scaled = it->S[i] * it->S[i] * g[i];
        for (int d = 0; d < 6; d++)
            rest[d] -= it->Z[6 * i + d] * scaled;
        g[i] *= it->S[i];
    }
    for (int d = 0; d < 6; d++) {
        bo_v4 sum = rest[d];
        for (int e = 0; e < d; e++)
            sum -= it->C[6 * d + e] * g[r + e];
        g[r + d] = sum * it->inverse[d];
    }
    for (int32_t i = 0; i < n; i++)
        G[i] = g[i][0], G[n + i] = g[i][1], G[2 * n + i] = g[i][2];
}

static bool make_rows(const bough_tree_model *model, const bo_tree_work *w, bo_tree_singles *all) {
    const bo_tree_touch *touch = w->touch;
    double *next = all->numbers;
    for (size_t k = 0; k < all->count; k++) {
        single *it = &all->list[k];
        const size_t n = (size_t)it->r + 6;
        share(it, &next);
        if (!unfold(model, w, it))
            return false;
        for (size_t i = 0; i < it->count; i++) {
            const bo_tree_point *point = &touch->points[it->first + i];
            weigh_rows(it, point, touch->rows + point->rows, (bo_v4 *)(void *)w->scratch, it->G + 3 * i * n);
        }
    }
    return true;
}

/* ---- forces ---- */

static bool is_pushed(const bo_tree_touch *touch, const single *it) {
    for (size_t i = 0; i < it->count; i++)
        if (touch->push[it->first + i] > 0)
            return true;
    return false;
}

static void solve_single(bo_tree_touch *touch, const bo_tree_singles *all, const single *it, double dt, bool places) {
    const size_t n = (size_t)it->r + 6;
    memset(it->y, 0, 3 * n * sizeof *it->y);
    if (places && !is_pushed(touch, it))
        return;
    for (size_t i = 0; i < it->count; i++) {
        const bo_tree_point *point = &touch->points[it->first + i];
        bo_constraint *to = &all->constraints[i];
        *to = (bo_constraint){.groups = {0, -1}, .rows = {3 * n * i}, .speed = -point->slack};
        to->friction = places ? 0 : point->friction;
        for (int k = 0; k < 3; k++)
            to->carried[k] = point->velocity[k], to->impulse[k] = dt * point->force[k];
    }
    bo_group group = {.size = it->r + 6, .y = it->y, .before = it->y + n, .impulse = it->y + 2 * n};
    bo_contact_problem problem = {.group_count = 1,
                                  .constraint_count = (int32_t)it->count,
                                  .groups = &group,
                                  .constraints = all->constraints,
                                  .rows = it->G,
                                  .answers = it->G, /* the inverse is one */
                                  .most_rounds = MOST_ROUNDS,
                                  .tolerance = TOLERANCE,
                                  .bounce_speed = INFINITY};
    bo_contact_solve(&problem);
    for (size_t k = 0; k < n; k++)
        it->y[k] /= dt;
    for (size_t i = 0; i < it->count; i++) {
        bo_tree_point *point = &touch->points[it->first + i];
        for (size_t k = 0; k < 3; k++) {
            const double *g = it->G + (3 * i + k) * n;
            double sum = 0;
            for (size_t l = 0; l < n; l++)
                sum += g[l] * it->y[l];
            point->answer[k] = sum, point->force[k] = all->constraints[i].impulse[k] / dt;
        }
    }
}

bool bo_tree_touch_solve_singles(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w, double dt,
                                 bool again) {
    bo_tree_touch *touch = w->touch;
    if (!touch->singles && !(touch->singles = BO_NEW(ctx, bo_tree_singles)))
        return false;
    bo_tree_singles *all = touch->singles;
    if (!again && (!list_singles(ctx, model, touch, all) || !make_rows(model, w, all)))
        return false;
    for (size_t k = 0; k < all->count; k++)
        solve_single(touch, all, &all->list[k], dt, again);
    return true;
}

void bo_tree_touch_answer_singles(const bough_tree_model *model, bo_tree_work *w, double *answers) {
    const bo_tree_singles *all = w->touch->singles;
    for (size_t k = 0; k < all->count; k++) {
        const single *it = &all->list[k];
        const bo_tree_part *part = &model->parts[it->part];
        double A[6], *a = answers + part->offset;
        memcpy(A, it->y + it->r, sizeof A);
        bo_cholesky_solve_back(6, it->C, 1, A);
        for (int d = 0; d < 6; d++)
            BO_LANE(w->inertias[part->slot / 4].A[d], part->slot % 4) = A[d];
        for (int32_t i = 0; i < it->r; i++) {
            double carried = 0;
            for (int d = 0; d < 6; d++)
                carried += it->Z[6 * i + d] * A[d];
            a[i] = it->S[i] * (it->y[i] - it->S[i] * carried);
        }
        for (int32_t i = it->r - 1; i >= 0; i--)
            for (int32_t j = 0; j < i; j++)
                a[j] -= it->L[i * it->r + j] * a[i];
    }
}
