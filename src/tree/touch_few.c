/* Forces on islands with few points, as of one thing that lies in a crown. docs/theory/tree.md, "Contact".
 *
 * The search for forces takes many steps, and an elimination along the tree for each is mostly about what does not
 * change. What few points do to each other is better known once: with the factors that the step left, a force at a
 * point is handed up from its part to the root, and leaves y = D^-1/2 L^-1 p_q with each part on the way, C^-1 p with
 * the joints and with a root that flies. Sums of products of these, where two ways meet, are
 *     W = J A^-1 J^T
 * and with the derivatives K = B^T B of the laws a step of Newton's method is y+ = W (f - K y+), f its forces at y+ = 0:
 *     y+ = W (f - B^T z),   (1 + B W B^T) z = B W f */
#include "tree/couple.h"
#include "tree/touch_node.h"

#include "base/simd.h"
#include "dense/cholesky.h"

#include <math.h>
#include <string.h>

enum { MOST_POINTS = 24, MOST_ROWS = 3 * MOST_POINTS };

/* An island, its points in `order`, and its W: 3 count x 3 count. */
typedef struct {
    int32_t island;
    size_t first, count, matrix;
} few_points;

/* A place that the way of a point to the root passes: a node of the closure, or node_count + i: solid i. */
typedef struct {
    int32_t at, size;
    size_t y; /* where its `size` vectors begin in ys, a lane for each row of the point */
} stop;

typedef struct bo_tree_few {
    size_t count, capacity, order_capacity, number_capacity, stop_capacity, y_capacity, stop_count, y_count;
    few_points *list;
    size_t *order;
    double *numbers; /* all W */
    stop *stops;
    double *ys;
} bo_tree_few;

void bo_tree_touch_free_few(bough_context *ctx, bo_tree_touch *touch) {
    bo_tree_few *all = touch->few;
    if (!all)
        return;
    void *const blocks[] = {all->list, all->order, all->numbers, all->stops, all->ys, all};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}

static bool list_islands(bough_context *ctx, bo_tree_touch *touch, bo_tree_few *all) {
    size_t points = 0, numbers = 0;
    all->count = 0;
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        if (island->few > 0 || island->single || island->paired || island->points > MOST_POINTS)
            continue;
        if (!BO_RESERVE(ctx, all->list, all->capacity, all->count + 1))
            return false;
        const size_t count = (size_t)island->points;
        all->list[all->count++] = (few_points){.island = touch->points[i].island, .first = points, .matrix = numbers};
        island->few = (int32_t)all->count;
        points += count, numbers += 9 * count * count;
    }
    if (!BO_RESERVE(ctx, all->order, all->order_capacity, points + 1) ||
        !BO_RESERVE(ctx, all->numbers, all->number_capacity, numbers + 1))
        return false;
    for (size_t i = 0; i < touch->point_count; i++) {
        const int32_t number = touch->islands[touch->points[i].island].few;
        if (number > 0)
            all->order[all->list[number - 1].first + all->list[number - 1].count++] = i;
    }
    return true;
}

/* ---- ways to the root ---- */

static bo_v4 *add_stop(bough_context *ctx, bo_tree_few *all, int32_t at, int32_t most) {
    if (!BO_RESERVE(ctx, all->stops, all->stop_capacity, all->stop_count + 1) ||
        !BO_RESERVE(ctx, all->ys, all->y_capacity, all->y_count + 4 * (size_t)most))
        return NULL;
    all->stops[all->stop_count] = (stop){.at = at, .y = all->y_count};
    return (bo_v4 *)(void *)(all->ys + all->y_count);
}

static void end_stop(bo_tree_few *all, int32_t size) {
    all->stops[all->stop_count++].size = size;
    all->y_count += 4 * (size_t)size;
}

/* y = C^-1 b of a lower C, n x n. */
static void solve_lower(int n, const double *C, const bo_v4 *b, bo_v4 *y) {
    for (int k = 0; k < n; k++) {
        bo_v4 sum = b[k];
        for (int j = 0; j < k; j++)
            sum -= C[n * k + j] * y[j];
        y[k] = sum / C[(n + 1) * k];
    }
}

/* The coordinates give way: p_q becomes L^-1 p_q, and p what is left on the frame. */
BO_MULTIVERSION
static void give_way(const bo_tree_node *node, bo_v4 *restrict p_q, bo_v4 p[6], bo_v4 *restrict y) {
    const int32_t r = node->r;
    for (int32_t l = 0; l < r; l++) {
        const double *L = node->L + l * r, *Z = node->Z + 6 * l;
        bo_v4 sum = p_q[l];
        for (int32_t k = 0; k < l; k++)
            sum -= L[k] * p_q[k];
        const bo_v4 yielding = sum / node->D[l];
        p_q[l] = sum, y[l] = sum / sqrt(node->D[l]);
        for (int d = 0; d < 6; d++)
            p[d] -= Z[d] * yielding;
    }
}

/* So does what turns in a joint. */
static void turn(const bo_tree_swing *swing, int count, bo_v4 p[6], bo_v4 *y) {
    bo_v4 t[3], h[3];
    for (int k = 0; k < count; k++)
        t[k] = swing->T[k] * p[3] + swing->T[3 + k] * p[4] + swing->T[6 + k] * p[5];
    solve_lower(count, swing->D, t, y);
    for (int k = count - 1; k >= 0; k--) {
        h[k] = y[k];
        for (int j = k + 1; j < count; j++)
            h[k] -= swing->D[count * j + k] * h[j];
        h[k] /= swing->D[(count + 1) * k];
    }
    for (int d = 0; d < 6; d++)
        for (int k = 0; k < count; k++)
            p[d] -= swing->IS[3 * d + k] * h[k];
}

/* The parent feels what is left on the frame, at its own frame and at its coordinates. */
BO_MULTIVERSION
static void hand_up(const bo_tree_node *node, bo_v4 *restrict p_q, bo_v4 p[6]) {
    const double *R = node->R.m, *J = node->J;
    const int32_t n = node->above;
    const bo_vec3 x = node->x;
    bo_v4 f[6];
    for (int d = 0; d < 6; d++) {
        const bo_v4 *from = p + d / 3 * 3;
        f[d] = R[d % 3 * 3] * from[0] + R[d % 3 * 3 + 1] * from[1] + R[d % 3 * 3 + 2] * from[2];
    }
    for (int32_t l = 0; l < n; l++) {
        bo_v4 sum = J[l] * f[0];
        for (int d = 1; d < 6; d++)
            sum += J[d * n + l] * f[d];
        p_q[l] = sum;
    }
    memcpy(p, f, sizeof f);
    p[3] += x.y * f[2] - x.z * f[1], p[4] += x.z * f[0] - x.x * f[2], p[5] += x.x * f[1] - x.y * f[0];
}

static bool pass_solid(bough_context *ctx, const bough_tree_model *model, const bo_tree_work *w, bo_tree_few *all,
                       int32_t solid, const double frame[3][6]) {
    const bo_tree_touch *touch = w->touch;
    if (solid < 0)
        return true;
    bo_v4 *y = add_stop(ctx, all, touch->node_count + solid, 6);
    const int32_t slot = model->parts[touch->solids[solid]].slot;
    double I[36];
    bo_v4 p[6];
    bo_tree_unpack_six(&w->inertias[slot / 4], slot % 4, I);
    if (!y || !bo_cholesky_factor(6, I))
        return false;
    for (int d = 0; d < 6; d++)
        p[d] = (bo_v4){frame[0][d], frame[1][d], frame[2][d]};
    solve_lower(6, I, p, y);
    end_stop(all, 6);
    return true;
}

/* The way of a point, from the largest number down. */
static bool climb(bough_context *ctx, const bough_tree_model *model, const bo_tree_work *w, bo_tree_few *all,
                  const bo_tree_point *point, bo_v4 *p_q) {
    const bo_tree_touch *touch = w->touch;
    const double *rows = touch->rows + point->rows;
    bo_v4 p[6];
    const bool later = point->own < point->solid;
    if (!pass_solid(ctx, model, w, all, later ? point->solid : point->own, later ? point->other_frame : point->frame) ||
        !pass_solid(ctx, model, w, all, later ? point->own : point->solid, later ? point->frame : point->other_frame))
        return false;
    for (int d = 0; d < 6; d++)
        p[d] = (bo_v4){point->frame[0][d], point->frame[1][d], point->frame[2][d]};
    for (int32_t l = 0; l < point->r && point->node >= 0; l++)
        p_q[l] = (bo_v4){rows[l], rows[point->r + l], rows[2 * point->r + l]};
    for (int32_t at = point->node; at >= 0; at = touch->nodes[at].parent) {
        const bo_tree_node *node = &touch->nodes[at];
        const int turns = node->joint >= 0 ? model->joints[node->joint].count : 0;
        bo_v4 *y = add_stop(ctx, all, at, node->r + 9);
        if (!y)
            return false;
        give_way(node, p_q, p, y);
        if (turns > 0)
            turn(&w->swings[node->joint], turns, p, y + node->r);
        if (node->free)
            solve_lower(6, node->root, p, y + node->r + turns);
        end_stop(all, node->r + turns + (node->free ? 6 : 0));
        if (node->parent >= 0)
            hand_up(node, p_q, p);
    }
    return true;
}

/* ---- matrices ---- */

/* Sums of products of two stops: to + x y^T */
BO_MULTIVERSION
static void add_products(int32_t size, const bo_v4 *x, const bo_v4 *y, bo_v4 to[3]) {
    bo_v4 a = to[0], b = to[1], c = to[2];
    for (int32_t k = 0; k < size; k++) {
        a += x[k][0] * y[k];
        b += x[k][1] * y[k];
        c += x[k][2] * y[k];
    }
    to[0] = a, to[1] = b, to[2] = c;
}

/* Sums of products over all places that the ways of two points share, each way a range of stops. */
static void meet(const bo_tree_few *all, const size_t one[2], const size_t other[2], bo_v4 to[3]) {
    memset(to, 0, 3 * sizeof *to);
    for (size_t i = one[0], j = other[0]; i < one[1] && j < other[1];) {
        const stop *a = &all->stops[i], *b = &all->stops[j];
        if (a->at == b->at)
            add_products(a->size, (const bo_v4 *)(const void *)(all->ys + a->y),
                         (const bo_v4 *)(const void *)(all->ys + b->y), to);
        i += a->at >= b->at, j += b->at >= a->at;
    }
}

static bool fill_matrix(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w, bo_tree_few *all,
                        const few_points *it) {
    const size_t n = 3 * it->count;
    double *W = all->numbers + it->matrix;
    bo_v4 *p_q = (bo_v4 *)(void *)w->scratch;
    size_t ways[MOST_POINTS][2];
    all->stop_count = all->y_count = 0;
    for (size_t i = 0; i < it->count; i++) {
        ways[i][0] = all->stop_count;
        if (!climb(ctx, model, w, all, &w->touch->points[all->order[it->first + i]], p_q))
            return false;
        ways[i][1] = all->stop_count;
        for (size_t j = 0; j <= i; j++) {
            bo_v4 block[3];
            meet(all, ways[i], ways[j], block);
            for (size_t k = 0; k < 3; k++)
                for (size_t l = 0; l < 3; l++)
                    W[(3 * i + k) * n + 3 * j + l] = W[(3 * j + l) * n + 3 * i + k] = block[k][l];
        }
    }
    return true;
}

bool bo_tree_touch_weigh_few(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w) {
    bo_tree_touch *touch = w->touch;
    if (!touch->few && !(touch->few = BO_NEW(ctx, bo_tree_few)))
        return false;
    if (!list_islands(ctx, touch, touch->few))
        return false;
    for (int32_t k = 0; k < touch->node_count; k++) {
        bo_tree_node *node = &touch->nodes[k];
        if (!node->free || touch->islands[node->island].few == 0)
            continue;
        memcpy(node->root, node->inertia, sizeof node->root);
        if (!bo_cholesky_factor(6, node->root))
            return false;
    }
    for (size_t k = 0; k < touch->few->count; k++)
        if (!fill_matrix(ctx, model, w, touch->few, &touch->few->list[k]))
            return false;
    return true;
}

/* ---- answers ---- */

/* y = W f. It is symmetric: sums of columns, each by itself. */
BO_MULTIVERSION
static void multiply(size_t n, const double *restrict W, const double *restrict f, double *restrict y) {
    memset(y, 0, n * sizeof *y);
    for (size_t k = 0; k < n; k++, W += n)
        for (size_t i = 0; i < n && f[k] != 0; i++)
            y[i] += f[k] * W[i];
}

static void set_answers(bo_tree_touch *touch, const few_points *it, const double *f) {
    double y[MOST_ROWS];
    multiply(3 * it->count, touch->few->numbers + it->matrix, f, y);
    for (size_t i = 0; i < it->count; i++)
        memcpy(touch->points[touch->few->order[it->first + i]].answer, y + 3 * i, 3 * sizeof *y);
}

void bo_tree_touch_answer_few(bo_tree_touch *touch) {
    for (size_t k = 0; k < touch->few->count; k++) {
        const few_points *it = &touch->few->list[k];
        double f[MOST_ROWS];
        for (size_t i = 0; i < it->count; i++)
            memcpy(f + 3 * i, touch->points[touch->few->order[it->first + i]].force, 3 * sizeof *f);
        if (!touch->islands[it->island].balanced)
            set_answers(touch, it, f);
    }
}

/* A row of B: of point i, along its normal, the way it slides, or across. */
typedef struct {
    size_t point;
    double along[3];
} stiff_row;

static size_t list_rows(const bo_tree_touch *touch, const few_points *it, stiff_row *rows, double *f) {
    size_t count = 0;
    for (size_t i = 0; i < it->count; i++) {
        const bo_tree_point *point = &touch->points[touch->few->order[it->first + i]];
        const double *u = point->law_slide, *K = point->law_stiff;
        const double ways[3][3] = {{1, 0, 0}, {0, u[0], u[1]}, {0, -u[1], u[0]}};
        memcpy(f + 3 * i, point->law_force, 3 * sizeof *f);
        for (int k = 0; k < 3; k++) {
            double along = 0;
            if (!(K[k] > 0))
                continue;
            rows[count].point = i;
            for (int d = 0; d < 3; d++) {
                rows[count].along[d] = sqrt(K[k]) * ways[k][d];
                along += ways[k][d] * point->last_answer[d];
            }
            for (int d = 0; d < 3; d++)
                f[3 * i + (size_t)d] += K[k] * along * ways[k][d];
            count++;
        }
    }
    return count;
}

/* 1 + B W B^T, the lower triangle, and B W f. */
static void reduce(size_t n, const double *W, size_t count, const stiff_row *rows, const double *f, double *M,
                   double *z) {
    double y[MOST_ROWS], BW[MOST_ROWS];
    multiply(n, W, f, y);
    for (size_t a = 0; a < count; a++) {
        const stiff_row *row = &rows[a];
        const double *first = W + 3 * row->point * n;
        for (size_t k = 0; k < n; k++)
            BW[k] = row->along[0] * first[k] + row->along[1] * first[n + k] + row->along[2] * first[2 * n + k];
        z[a] = 0;
        for (size_t d = 0; d < 3; d++)
            z[a] += row->along[d] * y[3 * row->point + d];
        for (size_t b = 0; b <= a; b++) {
            const double *other = BW + 3 * rows[b].point, *along = rows[b].along;
            M[a * count + b] = (a == b) + along[0] * other[0] + along[1] * other[1] + along[2] * other[2];
        }
    }
}

bool bo_tree_touch_improve_few(bo_tree_touch *touch) {
    stiff_row rows[MOST_ROWS];
    double M[MOST_ROWS * MOST_ROWS], f[MOST_ROWS], z[MOST_ROWS];
    for (size_t k = 0; k < touch->few->count; k++) {
        const few_points *it = &touch->few->list[k];
        if (touch->islands[it->island].balanced)
            continue;
        const size_t count = list_rows(touch, it, rows, f);
        reduce(3 * it->count, touch->few->numbers + it->matrix, count, rows, f, M, z);
        if (!bo_cholesky_factor((int)count, M))
            return false;
        bo_cholesky_solve((int)count, M, z);
        for (size_t a = 0; a < count; a++)
            for (size_t d = 0; d < 3; d++)
                f[3 * rows[a].point + d] -= z[a] * rows[a].along[d];
        set_answers(touch, it, f);
    }
    return true;
}
