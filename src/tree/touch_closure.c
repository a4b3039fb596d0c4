/* Forces of contacts. docs/theory/tree.md, "Contact".
 *
 * Between a step without contact and the motion with it are accelerations D with
 *     (A + J^T H J) D = J^T H g
 * A: what the step was solved with, J: rows of the contacts, H: stiffness of each row, g: the accelerations that are
 * wanted. J has entries in the coordinates and the frame of one part (and of one rigid part that flies by itself, a
 * solid), so that the elimination along the tree (couple.c) goes on as before. It is repeated for those parts alone
 * that touch, with all between them and the roots: the closure. Free factors are there already; what contacts add to
 * the inertia that a part shows its parent is found as a difference. Solids border the matrix: six columns each. */
#include "tree/couple.h"
#include "tree/touch_node.h"

#include "dense/cholesky.h"

#include <math.h>
#include <string.h>

#define HARDNESS 10 /* of a contact, times the mass of its island */

/* ---- the closure ---- */

/* M = L D L^T, and what the elimination took from the frame. The factor has 1/D on its diagonal. */
static void unfold(const bough_tree_model *model, const bo_tree_work *w, bo_tree_node *node) {
    const bo_tree_part *part = &model->parts[node->part];
    const bo_tree_block *b = &model->blocks[part->block];
    const int32_t r = node->r, lane = part->lane;
    memset(node->loss, 0, sizeof node->loss);
    for (int32_t k = 0; k < r; k++) {
        node->D[k] = 1 / bo_tree_L_at(w, b, lane, k, k);
        for (int32_t i = 0; i < r; i++)
            node->L[i * r + k] = i == k ? 1 : i > k ? bo_tree_L_at(w, b, lane, i, k) : 0;
        double z[6];
        for (int d = 0; d < 6; d++) {
            node->Z[6 * k + d] = z[d] = bo_tree_Z_at(w, b, lane, k, d);
            node->Mrq[d * r + k] = bo_tree_Mrq(model, w, part, d, k);
        }
        for (int d = 0; d < 6; d++)
            for (int e = 0; e < 6; e++)
                node->loss[6 * d + e] += z[d] * z[e] / node->D[k];
    }
    for (int32_t i = 0; i < r; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int32_t k = 0; k <= j; k++)
                sum += node->L[i * r + k] * node->D[k] * node->L[j * r + k];
            node->Mqq[i * r + j] = node->Mqq[j * r + i] = sum;
        }
}

/* The frame's acceleration by those of the parent's coordinates, in the parent's axes: J = [s a + turning x arm; Op A] */
static void hang_up(const bough_tree_model *model, const bo_tree_work *w, bo_tree_node *node) {
    const bo_tree_part *part = &model->parts[node->part], *parent = &model->parts[part->parent];
    const bo_component_tables *t = &model->components[parent->component];
    const bo_face_rows *rows = &t->faces[part->face_row];
    const bo_tree_faces *at = &w->faces[part->face / 4];
    const bo_tree_frames *frames = &w->frames[part->slot / 4];
    const int32_t n = node->above;
    node->R = bo_matrix_at(frames->R, part->slot);
    node->x = bo_vector_at(frames->x, part->slot);
    const bo_vec3 arm = model->slots[part->slot / 4].shifted ? bo_vector_at(frames->arm, part->slot) : bo_v3(0, 0, 0);
    for (int32_t l = 0; l < n; l++) {
        double turn[3];
        for (int d = 0; d < 3; d++) {
            turn[d] = 0;
            for (int k = 0; k < 9; k++)
                turn[d] += BO_LANE_CONST(at->Op[9 * d + k], part->face % 4) * rows->A[k * t->n + l];
        }
        double lever[3];
        bo_store3(lever, bo_cross(bo_load3(turn), arm));
        for (int d = 0; d < 3; d++) {
            node->J[d * n + l] = parent->scale * rows->a[d * t->n + l] + lever[d];
            node->J[(3 + d) * n + l] = turn[d];
        }
    }
}

static int32_t coordinates_of(const bo_tree_part *part) {
    return part->locked ? 0 : part->r;
}

/* Columns of right-hand sides: one, and six of each solid. The columns of solids are those of the matrix: they are
 * eliminated with it, and a further right-hand side goes through the first column alone. */
static int32_t columns_of(const bo_tree_touch *touch) {
    return 1 + 6 * touch->solid_count;
}

static size_t numbers_of(int32_t r, int32_t above, int32_t columns) {
    const size_t n = (size_t)r, c = (size_t)columns;
    return 3 * n * n + 18 * n + 6 * (size_t)above + 2 * n + c * (n + 9);
}

static void share(bo_tree_node *node, int32_t columns, double **next) {
    const int32_t r = node->r, c = columns;
    struct {
        double **array;
        int32_t count;
    } const list[] = {{&node->Mqq, r * r},         {&node->more_qq, r * r}, {&node->L, r * r},
                      {&node->Mrq, 6 * r},         {&node->more_rq, 6 * r}, {&node->Z, 6 * r},
                      {&node->J, 6 * node->above}, {&node->D, r},           {&node->a, r},
                      {&node->force_q, c * r},     {&node->force, 6 * c},   {&node->turn, 3 * c}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        *list[k].array = *next, *next += list[k].count;
}

/* Marks the parts of the points and all that they hang on; solids get numbers instead. */
static void mark(const bough_tree_model *model, bo_tree_touch *touch) {
    for (int32_t i = 0; i < model->part_count; i++)
        touch->node_of[i] = -1;
    for (int32_t k = 0; k < touch->def.solid_count; k++)
        touch->place[k] = -1;
    touch->solid_count = touch->node_count = 0;
    for (size_t k = 0; k < touch->point_count; k++) {
        const bo_tree_point *point = &touch->points[k];
        const int32_t sides[2] = {point->part, point->other};
        for (int s = 0; s < 2 && !touch->islands[point->island].single; s++) {
            if (sides[s] < 0)
                continue;
            const int32_t solid = touch->solid_of[model->parts[sides[s]].user];
            if (solid >= 0 && touch->place[solid] < 0) {
                touch->place[solid] = touch->solid_count;
                touch->solids[touch->solid_count++] = sides[s];
            }
            for (int32_t i = sides[s]; solid < 0 && i >= 0 && touch->node_of[i] < 0; i = model->parts[i].parent)
                touch->node_of[i] = 0, touch->node_count++;
        }
    }
}

int32_t bo_tree_island_of(const bo_tree_touch *touch, int32_t tree) {
    while (touch->join[tree] != tree)
        tree = touch->join[tree];
    return tree;
}

/* The first of both stands for all. */
void bo_tree_join_islands(bo_tree_touch *touch, int32_t a, int32_t b) {
    a = bo_tree_island_of(touch, a), b = bo_tree_island_of(touch, b);
    touch->join[a > b ? a : b] = a > b ? b : a;
}

static int32_t island_of(const bough_tree_model *model, const bo_tree_touch *touch, int32_t part) {
    return bo_tree_island_of(touch, model->parts[part].tree);
}

static void find_islands(const bough_tree_model *model, bo_tree_touch *touch) {
    memset(touch->islands, 0, (size_t)model->levels[0].end_part * sizeof *touch->islands);
    for (int32_t i = 0; i < model->part_count && model->parts[i].parent < 0; i++) /* roots come first */
        touch->islands[bo_tree_island_of(touch, model->parts[i].tree)].mass += model->parts[i].tree_mass;
    for (size_t k = 0; k < touch->point_count; k++)
        touch->points[k].island = island_of(model, touch, touch->points[k].part);
    bo_tree_touch_find_singles(model, touch);
}

/* Coordinates of parts and joints of the trees that touch something. */
static void list_runs(const bough_tree_model *model, bo_tree_touch *touch) {
    touch->run_count = 0;
    for (int32_t i = 0; i < model->part_count; i++)
        if (touch->islands[island_of(model, touch, i)].points > 0)
            bo_tree_add_run(touch->runs, &touch->run_count, model->parts[i].offset,
                            model->parts[i].offset + model->parts[i].r);
    for (int32_t j = 0; j < model->joint_count; j++)
        if (touch->islands[island_of(model, touch, model->joints[j].part)].points > 0)
            bo_tree_add_run(touch->runs, &touch->run_count, model->joints[j].offset,
                            model->joints[j].offset + model->joints[j].count);
}

bough_status bo_tree_touch_gather(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w) {
    bo_tree_touch *touch = w->touch;
    find_islands(model, touch);
    list_runs(model, touch);
    mark(model, touch);
    const int32_t columns = columns_of(touch);
    if (touch->node_count > touch->node_capacity) {
        bo_free(ctx, touch->nodes);
        touch->nodes = BO_NEW_ARRAY(ctx, bo_tree_node, touch->node_count);
        touch->node_capacity = touch->nodes ? touch->node_count : 0;
        if (!touch->nodes)
            return BOUGH_ERROR_MEMORY;
    }
    size_t numbers = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        if (touch->node_of[i] < 0)
            continue;
        bo_tree_node *node = &touch->nodes[count];
        *node = (bo_tree_node){.part = i, .parent = -1, .r = coordinates_of(part), .joint = part->joint};
        touch->node_of[i] = count++;
        node->island = island_of(model, touch, i);
        node->free = part->free;
        if (part->parent >= 0)
            node->parent = touch->node_of[part->parent], node->above = coordinates_of(&model->parts[part->parent]);
        numbers += numbers_of(node->r, node->above, columns);
    }
    const size_t border = (size_t)(columns - 1) * (size_t)columns;
    const size_t scratch = (size_t)(columns + 6) * (size_t)(model->largest_n + 6);
    numbers += 2 * border + scratch;
    if (numbers > touch->number_capacity) {
        bo_free(ctx, touch->numbers);
        touch->numbers = BO_NEW_ARRAY(ctx, double, numbers + numbers / 4);
        touch->number_capacity = touch->numbers ? numbers + numbers / 4 : 0;
        if (!touch->numbers)
            return BOUGH_ERROR_MEMORY;
    }
    double *next = touch->numbers + 2 * border + scratch;
    for (int32_t k = 0; k < touch->node_count; k++) {
        bo_tree_node *node = &touch->nodes[k];
        share(node, columns, &next);
        unfold(model, w, node);
        if (node->parent >= 0)
            hang_up(model, w, node);
        if (node->free)
            bo_tree_unpack_six(&w->inertias[model->parts[node->part].slot / 4], model->parts[node->part].slot % 4,
                               node->inertia);
    }
    for (size_t k = 0; k < touch->point_count; k++) {
        bo_tree_point *point = &touch->points[k];
        const bool single = touch->islands[point->island].single;
        const int32_t own = single ? -1 : touch->solid_of[model->parts[point->part].user];
        point->hardness = HARDNESS * touch->islands[point->island].mass;
        point->own = own >= 0 ? touch->place[own] : -1;
        point->node = own >= 0 || single ? -1 : touch->node_of[point->part];
        const int32_t solid = point->other >= 0 ? touch->solid_of[model->parts[point->other].user] : -1;
        point->solid = solid >= 0 ? touch->place[solid] : -1;
        point->other_node = point->other >= 0 && solid < 0 ? touch->node_of[point->other] : -1;
        if (point->other_node >= 0)
            touch->islands[point->island].paired = true;
    }
    return BOUGH_OK;
}

/* Behind the border's matrix and its solution. */
static double *scratch_of(const bo_tree_touch *touch) {
    const ptrdiff_t columns = columns_of(touch);
    return touch->numbers + 2 * (columns - 1) * columns;
}

/* ---- rows ---- */

/* A row along the normal of a point (turn NULL), or along turn[0] times its first tangent and turn[1] times its second:
 * of its part, and of the solid that it touches. */
typedef struct {
    double frame[6], other[6];
    double *row; /* r */
} row_of_point;

static row_of_point row_of(const bo_tree_touch *touch, const bo_tree_point *point, const double turn[2],
                           double *scratch) {
    row_of_point row = {.row = scratch};
    const int32_t r = point->r;
    const double *first = touch->rows + point->rows + (turn ? r : 0);
    for (int d = 0; d < 6; d++) {
        row.frame[d] = turn ? turn[0] * point->frame[1][d] + turn[1] * point->frame[2][d] : point->frame[0][d];
        row.other[d] =
            turn ? turn[0] * point->other_frame[1][d] + turn[1] * point->other_frame[2][d] : point->other_frame[0][d];
    }
    for (int32_t l = 0; l < r; l++)
        row.row[l] = turn ? turn[0] * first[l] + turn[1] * first[r + l] : first[l];
    return row;
}

/* Adds h row^T row to the matrix of a node. */
static void stiffen(bo_tree_node *node, int32_t r, const double frame[6], const double *row, double h) {
    for (int d = 0; d < 6; d++) {
        const double f = h * frame[d];
        for (int e = 0; e < 6; e++)
            node->more_rr[6 * d + e] += f * frame[e];
        for (int32_t l = 0; l < r; l++)
            node->more_rq[d * r + l] += f * row[l];
    }
    for (int32_t l = 0; l < r; l++) {
        const double f = h * row[l];
        for (int32_t m = 0; m <= l; m++)
            node->more_qq[l * r + m] += f * row[m];
    }
}

/* Adds f row to a column of a node's biases. */
static void load(bo_tree_node *node, int32_t columns, int32_t column, int32_t r, const double frame[6],
                 const double *row, double f) {
    for (int d = 0; d < 6; d++)
        node->force[d * columns + column] += f * frame[d];
    for (int32_t l = 0; l < r; l++)
        node->force_q[(ptrdiff_t)l * columns + column] += f * row[l];
}

/* Adds biases -f along the axes of a point, on its part and on a solid that it touches. */
void bo_tree_touch_load(bo_tree_touch *touch, const bo_tree_point *point, const double f[3]) {
    double *S = touch->numbers;
    const int32_t columns = columns_of(touch);
    for (int k = 0; k < 3; k++) {
        if (point->node >= 0)
            load(&touch->nodes[point->node], columns, 0, point->r, point->frame[k],
                 touch->rows + point->rows + (size_t)k * (size_t)point->r, -f[k]);
        for (int d = 0; d < 6 && point->own >= 0; d++)
            S[(ptrdiff_t)(6 * point->own + d) * columns] -= f[k] * point->frame[k][d];
        for (int d = 0; d < 6 && point->solid >= 0; d++)
            S[(ptrdiff_t)(6 * point->solid + d) * columns] -= f[k] * point->other_frame[k][d];
    }
}

/* Adds h row^T row to the matrix. */
void bo_tree_touch_add_row(bo_tree_touch *touch, const bo_tree_point *point, const double turn[2], double h) {
    double *S = touch->numbers, *scratch = scratch_of(touch);
    const int32_t columns = columns_of(touch);
    const row_of_point row = row_of(touch, point, turn, scratch);
    if (point->node >= 0)
        stiffen(&touch->nodes[point->node], point->r, row.frame, row.row, h);
    for (int e = 0; e < 6 && point->node >= 0 && point->solid >= 0; e++)
        load(&touch->nodes[point->node], columns, 1 + 6 * point->solid + e, point->r, row.frame, row.row,
             h * row.other[e]);
    const int32_t sides[2] = {point->own, point->solid};
    const double *const frames[2] = {row.frame, row.other};
    for (int a = 0; a < 2; a++)
        for (int d = 0; d < 6 && sides[a] >= 0; d++)
            for (int b = 0; b < 2; b++)
                for (int e = 0; e < 6 && sides[b] >= 0; e++)
                    S[(ptrdiff_t)(6 * sides[a] + d) * columns + 1 + 6 * sides[b] + e] +=
                        h * frames[a][d] * frames[b][e];
}

/* Nothing of it is looked for in this round, or not here. */
static bool sits_out(const bo_tree_touch *touch, const bo_tree_node *node) {
    return touch->islands[node->island].balanced || touch->islands[node->island].left_out;
}

void bo_tree_touch_clear(const bough_tree_model *model, bo_tree_work *w) {
    bo_tree_touch *touch = w->touch;
    double *S = touch->numbers;
    const int32_t columns = columns_of(touch);
    for (int32_t k = 0; k < touch->node_count; k++) {
        bo_tree_node *node = &touch->nodes[k];
        const size_t r = (size_t)node->r, c = (size_t)columns;
        if (sits_out(touch, node))
            continue;
        memset(node->more_rr, 0, sizeof node->more_rr);
        memset(node->more_qq, 0, r * r * sizeof(double));
        memset(node->more_rq, 0, 6 * r * sizeof(double));
        memset(node->force_q, 0, c * r * sizeof(double));
        memset(node->force, 0, 6 * c * sizeof(double));
        memset(node->turn, 0, 3 * c * sizeof(double));
    }
    memset(S, 0, (size_t)(columns - 1) * (size_t)columns * sizeof *S);
    for (int32_t s = 0; s < touch->solid_count; s++) {
        const int32_t slot = model->parts[touch->solids[s]].slot;
        double I[36];
        bo_tree_unpack_six(&w->inertias[slot / 4], slot % 4, I);
        for (int d = 0; d < 6; d++)
            for (int e = 0; e < 6; e++)
                S[(ptrdiff_t)(6 * s + d) * columns + 1 + 6 * s + e] = e <= d ? I[6 * d + e] : I[6 * e + d];
    }
}

/* ---- towards the roots ---- */

/* Less what a solution on the way takes from the border: S -= y^T W y for `count` rows of columns, in the columns
 * that are active. */
static void take_from_border(int32_t count, int32_t columns, int32_t active, const double *y, const double *Wy,
                             double *S) {
    for (int32_t i = 1; i < columns; i++)
        for (int32_t l = 0; l < count; l++) {
            const double f = y[l * columns + i];
            for (int32_t j = 0; j < active && f != 0; j++)
                S[(ptrdiff_t)(i - 1) * columns + j] -= f * Wy[l * columns + j];
        }
}

/* L D L^T of the coordinates' matrix with contacts; D has the inverses. */
static bool factor(bo_tree_node *node) {
    const int32_t r = node->r;
    for (int32_t i = 0; i < r; i++) {
        double *row = node->L + i * r, d = node->Mqq[i * r + i] + node->more_qq[i * r + i];
        for (int32_t j = 0; j < i; j++) {
            double sum = node->Mqq[i * r + j] + node->more_qq[i * r + j];
            for (int32_t k = 0; k < j; k++)
                sum -= row[k] * node->L[j * r + k];
            row[j] = sum;
        }
        for (int32_t k = 0; k < i; k++) {
            const double l = row[k] * node->D[k];
            d -= l * row[k];
            row[k] = l;
        }
        if (!(d > 0))
            return false;
        node->D[i] = 1 / d;
    }
    return true;
}

/* The coordinates give way: Z = L^-1 Mrq^T, and the frame is left with I = more_rr - Z^T D^-1 Z + what they took without
 * contact. */
static bool eliminate(bo_tree_node *node, int32_t columns, bool matrices, double *S, double *scratch) {
    const int32_t r = node->r, active = matrices ? columns : 1;
    if (matrices) {
        if (!factor(node))
            return false;
        for (int32_t l = 0; l < r; l++)
            for (int d = 0; d < 6; d++) {
                double sum = node->Mrq[d * r + l] + node->more_rq[d * r + l];
                for (int32_t k = 0; k < l; k++)
                    sum -= node->L[l * r + k] * node->Z[6 * k + d];
                node->Z[6 * l + d] = sum;
            }
        for (int d = 0; d < 6; d++)
            for (int e = 0; e < 6; e++) {
                double sum = node->loss[6 * d + e];
                for (int32_t l = 0; l < r; l++)
                    sum -= node->Z[6 * l + d] * node->D[l] * node->Z[6 * l + e];
                node->more_rr[6 * d + e] += sum;
            }
    }
    for (int32_t l = 0; l < r; l++) {
        double *row = node->force_q + (ptrdiff_t)l * columns;
        for (int32_t k = 0; k < l; k++)
            for (int32_t c = 0; c < active; c++)
                row[c] -= node->L[l * r + k] * node->force_q[(ptrdiff_t)k * columns + c];
        for (int32_t c = 0; c < active; c++)
            scratch[(ptrdiff_t)l * columns + c] = node->D[l] * row[c];
        for (int d = 0; d < 6; d++)
            for (int32_t c = 0; c < active; c++)
                node->force[d * columns + c] -= node->Z[6 * l + d] * scratch[(ptrdiff_t)l * columns + c];
    }
    take_from_border(r, columns, active, node->force_q, scratch, S);
    return true;
}

/* The same of what turns in the joint: S = [0; T], D = S^T I S + H. */
static bool release(const bo_tree_work *w, const bough_tree_model *model, bo_tree_node *node, int32_t columns,
                    bool matrices, double *S, double *scratch) {
    const bo_tree_swing *swing = &w->swings[node->joint];
    const int count = model->joints[node->joint].count;
    const int32_t active = matrices ? columns : 1;
    if (matrices) {
        double without[9] = {0};
        for (int i = 0; i < count; i++)
            for (int j = 0; j <= i; j++) {
                for (int k = 0; k <= j; k++)
                    without[count * i + j] += swing->D[count * i + k] * swing->D[count * j + k];
                without[count * j + i] = without[count * i + j];
            }
        for (int d = 0; d < 6; d++)
            for (int k = 0; k < count; k++) {
                double sum = swing->IS[3 * d + k];
                for (int e = 0; e < 3; e++)
                    sum += node->more_rr[6 * d + 3 + e] * swing->T[3 * e + k];
                node->IS[3 * d + k] = sum;
            }
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) {
                double sum = without[count * i + j];
                for (int d = 0; d < 3; d++)
                    for (int e = 0; e < 3; e++)
                        sum += swing->T[3 * d + i] * node->more_rr[6 * (3 + d) + 3 + e] * swing->T[3 * e + j];
                node->hinge[count * i + j] = sum;
            }
        if (!bo_cholesky_factor(count, node->hinge))
            return false;
        for (int e = 0; e < 6; e++) {
            double before[3], after[3];
            for (int k = 0; k < count; k++)
                before[k] = swing->IS[3 * e + k], after[k] = node->IS[3 * e + k];
            bo_cholesky_solve(count, swing->D, before);
            bo_cholesky_solve(count, node->hinge, after);
            for (int d = 0; d < 6; d++)
                for (int k = 0; k < count; k++)
                    node->more_rr[6 * d + e] += swing->IS[3 * d + k] * before[k] - node->IS[3 * d + k] * after[k];
        }
    }
    for (int32_t c = 0; c < active; c++) {
        double u[3];
        for (int k = 0; k < count; k++) {
            u[k] = 0;
            for (int e = 0; e < 3; e++)
                u[k] -= swing->T[3 * e + k] * node->force[(3 + e) * columns + c];
            node->turn[k * columns + c] = u[k];
        }
        bo_cholesky_solve(count, node->hinge, u);
        for (int k = 0; k < count; k++)
            scratch[k * columns + c] = u[k];
        for (int d = 0; d < 6; d++)
            for (int k = 0; k < count; k++)
                node->force[d * columns + c] += node->IS[3 * d + k] * u[k];
    }
    take_from_border(count, columns, active, node->turn, scratch, S);
    return true;
}

/* Turns rows of a 6 x n matrix by R, which is in blocks of three; or by its transpose. */
static void turn_rows(bo_mat3 R, int32_t n, const double *in, double *out) {
    for (int block = 0; block < 6; block += 3)
        for (int32_t c = 0; c < n; c++) {
            const bo_vec3 v = bo_mat_vec(R, bo_v3(in[block * n + c], in[(block + 1) * n + c], in[(block + 2) * n + c]));
            out[block * n + c] = v.x, out[(block + 1) * n + c] = v.y, out[(block + 2) * n + c] = v.z;
        }
}

/* Adds X^T M to `to`, 6 x n, X = [1, -x~; 0, 1]: the torque gains x x force. */
static void shift_rows(bo_vec3 x, int32_t n, const double *M, double *to) {
    for (int32_t c = 0; c < n; c++) {
        const bo_vec3 f = bo_v3(M[c], M[n + c], M[2 * n + c]), lever = bo_cross(x, f);
        to[c] += f.x, to[n + c] += f.y, to[2 * n + c] += f.z;
        to[3 * n + c] += M[3 * n + c] + lever.x;
        to[4 * n + c] += M[4 * n + c] + lever.y;
        to[5 * n + c] += M[5 * n + c] + lever.z;
    }
}

/* The parent feels what is left on the frame. */
static void pass_up(const bo_tree_node *node, bo_tree_node *parent, int32_t columns, bool matrices, double *scratch) {
    const int32_t n = node->above;
    if (matrices) {
        double half[36], I[36], turned[36], *T = scratch; /* I = R more_rr R^T; T = I J: 6 x n */
        turn_rows(node->R, 6, node->more_rr, half);
        for (int d = 0; d < 6; d++)
            for (int e = 0; e < 6; e++)
                turned[6 * d + e] = half[6 * e + d];
        turn_rows(node->R, 6, turned, I);
        double moved[36] = {0}, other[36];
        shift_rows(node->x, 6, I, moved);
        for (int d = 0; d < 6; d++)
            for (int e = 0; e < 6; e++)
                other[6 * d + e] = moved[6 * e + d];
        shift_rows(node->x, 6, other, parent->more_rr);
        for (int d = 0; d < 6; d++)
            for (int32_t l = 0; l < n; l++) {
                double sum = 0;
                for (int e = 0; e < 6; e++)
                    sum += I[6 * d + e] * node->J[e * n + l];
                T[d * n + l] = sum;
            }
        shift_rows(node->x, n, T, parent->more_rq);
        for (int32_t l = 0; l < n; l++)
            for (int32_t m = 0; m <= l; m++)
                for (int d = 0; d < 6; d++)
                    parent->more_qq[l * n + m] += node->J[d * n + l] * T[d * n + m];
    }
    for (int32_t c = 0; c < (matrices ? columns : 1); c++) {
        double in[6], force[6], to[6] = {0};
        for (int d = 0; d < 6; d++)
            in[d] = node->force[d * columns + c];
        turn_rows(node->R, 1, in, force);
        shift_rows(node->x, 1, force, to);
        for (int d = 0; d < 6; d++)
            parent->force[d * columns + c] += to[d];
        for (int32_t l = 0; l < n; l++)
            for (int d = 0; d < 6; d++)
                parent->force_q[(ptrdiff_t)l * columns + c] += node->J[d * n + l] * force[d];
    }
}

static bool end_at_root(bo_tree_node *node, int32_t columns, bool matrices, double *S, double *scratch) {
    if (!node->free)
        return true;
    if (matrices) {
        for (int d = 0; d < 6; d++)
            for (int e = 0; e <= d; e++)
                node->root[6 * d + e] = node->inertia[6 * d + e] + node->more_rr[6 * d + e];
        if (!bo_cholesky_factor(6, node->root))
            return false;
    }
    const int32_t active = matrices ? columns : 1;
    for (int32_t c = 0; c < active; c++) {
        double x[6];
        for (int d = 0; d < 6; d++)
            x[d] = node->force[d * columns + c];
        bo_cholesky_solve(6, node->root, x);
        for (int d = 0; d < 6; d++)
            scratch[d * columns + c] = x[d];
    }
    take_from_border(6, columns, active, node->force, scratch, S);
    return true;
}

/* ---- and back ---- */

/* A column combined: the first, and those of the border times its solution. */
static double combined(const double *row, int32_t columns, const double *y) {
    double sum = row[0];
    for (int32_t c = 1; c < columns; c++)
        sum += row[c] * y[c - 1];
    return sum;
}

static void substitute(const bo_tree_touch *touch, const bough_tree_model *model, const bo_tree_work *w,
                       bo_tree_node *node, int32_t columns, const double *y) {
    const int32_t r = node->r;
    memset(node->A, 0, sizeof node->A);
    if (node->parent >= 0) {
        const bo_tree_node *parent = &touch->nodes[node->parent];
        double move[6];
        bo_store3(move, bo_add(bo_load3(parent->A), bo_cross(bo_load3(parent->A + 3), node->x)));
        memcpy(move + 3, parent->A + 3, 3 * sizeof *move);
        for (int d = 0; d < 6; d++)
            for (int32_t l = 0; l < node->above; l++)
                move[d] += node->J[d * node->above + l] * parent->a[l];
        bo_store3(node->A, bo_mat_tvec(node->R, bo_load3(move)));
        bo_store3(node->A + 3, bo_mat_tvec(node->R, bo_load3(move + 3)));
    } else if (node->free) {
        for (int d = 0; d < 6; d++)
            node->A[d] = -combined(node->force + d * columns, columns, y);
        bo_cholesky_solve(6, node->root, node->A);
    }
    if (node->joint >= 0) {
        const bo_tree_swing *swing = &w->swings[node->joint];
        const int count = model->joints[node->joint].count;
        for (int k = 0; k < count; k++) {
            node->swing[k] = combined(node->turn + k * columns, columns, y);
            for (int d = 0; d < 6; d++)
                node->swing[k] -= node->IS[3 * d + k] * node->A[d];
        }
        bo_cholesky_solve(count, node->hinge, node->swing);
        for (int e = 0; e < 3; e++)
            for (int k = 0; k < count; k++)
                node->A[3 + e] += swing->T[3 * e + k] * node->swing[k];
    }
    for (int32_t l = r - 1; l >= 0; l--) {
        double sum = combined(node->force_q + (ptrdiff_t)l * columns, columns, y);
        for (int d = 0; d < 6; d++)
            sum += node->Z[6 * l + d] * node->A[d];
        node->a[l] = -node->D[l] * sum;
        for (int32_t k = l + 1; k < r; k++)
            node->a[l] -= node->L[k * r + l] * node->a[k];
    }
}

/* The border is symmetric and positive definite; y gets its solution, in place of the matrix's first column. */
static bool solve_border(int32_t columns, double *S, double *y) {
    const int32_t n = columns - 1;
    double *M = y + n;
    for (int32_t i = 0; i < n; i++) {
        y[i] = -S[(ptrdiff_t)i * columns];
        for (int32_t j = 0; j <= i; j++)
            M[i * n + j] = S[(ptrdiff_t)i * columns + 1 + j];
    }
    if (n > 0 && !bo_cholesky_factor(n, M))
        return false;
    if (n > 0)
        bo_cholesky_solve(n, M, y);
    return true;
}

/* Accelerations of the points by the rows that were added. */
bool bo_tree_touch_eliminate(const bough_tree_model *model, bo_tree_work *w) {
    bo_tree_touch *touch = w->touch;
    double *S = touch->numbers;
    const int32_t columns = columns_of(touch);
    double *y = S + (ptrdiff_t)(columns - 1) * columns, *scratch = scratch_of(touch);
    for (int32_t k = touch->node_count - 1; k >= 0; k--) {
        bo_tree_node *node = &touch->nodes[k];
        if (sits_out(touch, node))
            continue;
        if (!eliminate(node, columns, true, S, scratch) ||
            (node->joint >= 0 && !release(w, model, node, columns, true, S, scratch)))
            return false;
        if (node->parent >= 0)
            pass_up(node, &touch->nodes[node->parent], columns, true, scratch);
        else if (!end_at_root(node, columns, true, S, scratch))
            return false;
    }
    if (!solve_border(columns, S, y))
        return false;
    for (int32_t k = 0; k < touch->node_count; k++)
        if (!sits_out(touch, &touch->nodes[k]))
            substitute(touch, model, w, &touch->nodes[k], columns, y);
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_point *point = &touch->points[i];
        if (touch->islands[point->island].balanced || touch->islands[point->island].left_out)
            continue;
        for (int k = 0; k < 3; k++) {
            const double *row = touch->rows + point->rows + (size_t)k * (size_t)point->r;
            const double *A = point->node >= 0 ? touch->nodes[point->node].A : y + 6 * point->own;
            double sum = 0;
            for (int d = 0; d < 6; d++)
                sum += point->frame[k][d] * A[d];
            for (int32_t l = 0; l < point->r; l++)
                sum += row[l] * touch->nodes[point->node].a[l];
            for (int d = 0; d < 6 && point->solid >= 0; d++)
                sum += point->other_frame[k][d] * y[6 * point->solid + d];
            point->answer[k] = sum;
        }
    }
    return true;
}

void bo_tree_touch_choose(bo_tree_touch *touch, bool all) {
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        island->finished = island->balanced = island->single || (island->paired && !all);
        island->left_out = island->few > 0 && !all;
    }
}

bool bo_tree_touch_answer(const bough_tree_model *model, bo_tree_work *w) {
    bo_tree_touch *touch = w->touch;
    bool any = false;
    bo_tree_touch_choose(touch, false);
    bo_tree_touch_answer_few(touch);
    bo_tree_touch_clear(model, w);
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_island *island = &touch->islands[touch->points[i].island];
        if (island->balanced || island->left_out)
            continue;
        bo_tree_touch_load(touch, &touch->points[i], touch->points[i].force);
        any = true;
    }
    return !any || bo_tree_touch_eliminate(model, w);
}

bool bo_tree_touch_factor(const bough_tree_model *model, bo_tree_work *w) {
    bo_tree_touch_choose(w->touch, true);
    bo_tree_touch_clear(model, w);
    return bo_tree_touch_eliminate(model, w);
}

/* ---- one tree by itself, for those who want to know what a row does to it ---- */

const double *bo_tree_node_answer(const bo_tree_touch *touch, int32_t node, int32_t *r, const double **a) {
    *r = touch->nodes[node].r, *a = touch->nodes[node].a;
    return touch->nodes[node].A;
}

int32_t bo_tree_node_island(const bo_tree_touch *touch, int32_t node, int32_t *part) {
    *part = touch->nodes[node].part;
    return touch->nodes[node].island;
}

void bo_tree_touch_load_node(bo_tree_touch *touch, int32_t node, int32_t r, const double frame[6], const double *row) {
    load(&touch->nodes[node], columns_of(touch), 0, r, frame, row, -1);
}

void bo_tree_touch_sweep(const bough_tree_model *model, bo_tree_work *w, int32_t count, const int32_t *nodes) {
    bo_tree_touch *touch = w->touch;
    const int32_t columns = columns_of(touch);
    double *S = touch->numbers, *y = S + (ptrdiff_t)(columns - 1) * columns, *scratch = scratch_of(touch);
    memset(y, 0, (size_t)(columns - 1) * sizeof *y);
    for (int32_t k = count - 1; k >= 0; k--) {
        bo_tree_node *node = &touch->nodes[nodes[k]];
        eliminate(node, columns, false, S, scratch);
        if (node->joint >= 0)
            release(w, model, node, columns, false, S, scratch);
        if (node->parent >= 0)
            pass_up(node, &touch->nodes[node->parent], columns, false, scratch);
        else
            end_at_root(node, columns, false, S, scratch);
    }
    for (int32_t k = 0; k < count; k++)
        substitute(touch, model, w, &touch->nodes[nodes[k]], columns, y);
    for (int32_t k = 0; k < count; k++) {
        bo_tree_node *node = &touch->nodes[nodes[k]];
        for (int32_t l = 0; l < node->r; l++)
            node->force_q[(ptrdiff_t)l * columns] = 0;
        for (int d = 0; d < 6; d++)
            node->force[d * columns] = node->turn[d % 3 * columns] = 0;
    }
}
