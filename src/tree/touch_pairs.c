/* Forces between parts that touch each other. docs/theory/tree.md, "Contact".
 *
 * Trees that touch each other share no elimination. What a force at a point does to its own tree is found by a sweep
 * over that tree alone; projected Gauss-Seidel (contact/solve.h) then finds the forces of all points together, with the
 * trees and the solids for groups. The rates of a group are a 1, which brings the velocities without contact, and the
 * velocities of the frames and coordinates of those nodes that touch something. */
#include "tree/couple.h"
#include "tree/touch.h"

#include "contact/solve.h"
#include "dense/cholesky.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 60 };
#define TOLERANCE 1e-3 /* of the rates without contact */

typedef struct bo_tree_pairs {
    int32_t group_count, count; /* of groups; of points */
    int32_t *group_of;          /* parts, inside: of a root; -1 */
    int32_t *place_of;          /* nodes: where its rates begin in those of its group; -1 */
    int32_t *order, *first;     /* nodes by groups, ascending in each; where those of a group begin: group_count + 1 */
    size_t part_capacity, node_capacity, order_capacity, first_capacity;
    bo_group *groups;
    size_t group_capacity;
    bo_constraint *constraints;
    int32_t *points; /* which point each constraint is */
    size_t constraint_capacity, points_capacity;
    double *rates; /* y, before, impulse of all groups */
    size_t rate_count, rate_capacity;
    double *rows, *answers; /* by constraints */
    size_t row_count, row_capacity, answer_capacity;
} bo_tree_pairs;

void bo_tree_touch_free_pairs(bough_context *ctx, bo_tree_touch *touch) {
    bo_tree_pairs *p = touch->pairs;
    if (!p)
        return;
    void *const blocks[] = {p->group_of, p->place_of, p->order, p->first,   p->groups, p->constraints,
                            p->points,   p->rates,    p->rows,  p->answers, p};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}

static bool is_paired(const bo_tree_touch *touch, size_t i) {
    return touch->islands[touch->points[i].island].paired;
}

/* ---- groups ---- */

/* The root that a part hangs on. Ties make one tree of all of them for the accounts of energy, but forces of contact go from
 * a part to its own root alone. */
static int32_t root_of(const bough_tree_model *model, int32_t part) {
    if (model->def.tie_count == 0)
        return model->parts[part].tree;
    while (model->parts[part].parent >= 0)
        part = model->parts[part].parent;
    return part;
}

static int32_t join_group(bo_tree_pairs *p, const bough_tree_model *model, int32_t part) {
    const int32_t root = root_of(model, part);
    if (p->group_of[root] < 0)
        p->group_of[root] = p->group_count++;
    return p->group_of[root];
}

static void visit_side(bo_tree_pairs *p, const bough_tree_model *model, bo_tree_touch *touch, int32_t part,
                       int32_t node) {
    if (part < 0)
        return;
    bo_group *group = &p->groups[join_group(p, model, part)];
    int32_t r = 0;
    const double *a;
    if (group->size == 0)
        group->size = 1;
    if (node < 0) { /* a solid */
        group->size = 7;
        return;
    }
    if (p->place_of[node] >= 0)
        return;
    bo_tree_node_answer(touch, node, &r, &a);
    p->place_of[node] = group->size;
    group->size += 6 + r;
}

/* Nodes of each group, in their order. */
static void list_nodes(bo_tree_pairs *p, const bough_tree_model *model, const bo_tree_touch *touch) {
    memset(p->first, 0, ((size_t)p->group_count + 2) * sizeof *p->first);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < touch->node_count; k++) {
            int32_t part;
            bo_tree_node_island(touch, k, &part);
            const int32_t group = p->group_of[root_of(model, part)];
            if (group < 0)
                continue;
            if (pass == 0)
                p->first[group + 2]++;
            else
                p->order[p->first[group + 1]++] = k;
        }
        for (int32_t g = 0; g < p->group_count && pass == 0; g++)
            p->first[g + 2] += p->first[g + 1];
    }
}

static bool make_groups(bough_context *ctx, const bough_tree_model *model, bo_tree_touch *touch, bo_tree_pairs *p) {
    const size_t parts = (size_t)model->part_count, nodes = (size_t)touch->node_count;
    if (!BO_RESERVE(ctx, p->group_of, p->part_capacity, parts) ||
        !BO_RESERVE(ctx, p->place_of, p->node_capacity, nodes + 1) ||
        !BO_RESERVE(ctx, p->order, p->order_capacity, nodes + 1) ||
        !BO_RESERVE(ctx, p->groups, p->group_capacity, parts) ||
        !BO_RESERVE(ctx, p->first, p->first_capacity, parts + 2))
        return false;
    for (size_t i = 0; i < parts; i++)
        p->group_of[i] = -1, p->groups[i] = (bo_group){0};
    for (size_t i = 0; i < nodes; i++)
        p->place_of[i] = -1;
    p->group_count = p->count = 0;
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_point *point = &touch->points[i];
        if (!is_paired(touch, i))
            continue;
        visit_side(p, model, touch, point->part, point->node);
        visit_side(p, model, touch, point->other, point->other_node);
        p->count++;
    }
    list_nodes(p, model, touch);
    p->rate_count = 0;
    for (int32_t g = 0; g < p->group_count; g++)
        p->rate_count += 3 * (size_t)p->groups[g].size;
    return BO_RESERVE(ctx, p->rates, p->rate_capacity, p->rate_count);
}

static void start_rates(bo_tree_pairs *p) {
    double *next = p->rates;
    memset(next, 0, p->rate_count * sizeof *next);
    for (int32_t g = 0; g < p->group_count; g++) {
        bo_group *group = &p->groups[g];
        double *before = next + group->size;
        group->y = next, group->before = before, group->impulse = before + group->size;
        group->y[0] = before[0] = 1;
        next += 3 * group->size;
    }
}

/* ---- rows ---- */

/* One side of a point: its node, or the solid. */
typedef struct {
    int32_t group, node, part, r;
    const double (*frame)[6];
    const double *rows;
} pair_side;

static int sides_of(const bo_tree_pairs *p, const bough_tree_model *model, const bo_tree_touch *touch,
                    const bo_tree_point *point, pair_side sides[2]) {
    sides[0] = (pair_side){p->group_of[root_of(model, point->part)],
                           point->node,
                           point->part,
                           point->r,
                           point->frame,
                           touch->rows + point->rows};
    if (point->other < 0)
        return 1;
    sides[1] = (pair_side){p->group_of[root_of(model, point->other)],
                           point->other_node,
                           point->other,
                           point->other_r,
                           point->other_frame,
                           touch->rows + point->other_rows};
    return 2;
}

static void put_row(const bo_tree_pairs *p, const pair_side *side, int k, double *row) {
    const int32_t at = side->node < 0 ? 1 : p->place_of[side->node];
    for (int d = 0; d < 6; d++)
        row[at + d] += side->frame[k][d];
    for (int32_t l = 0; l < side->r; l++)
        row[at + 6 + l] += side->rows[k * side->r + l];
}

/* Rates of a group by the loads that lie on its nodes. */
static void read_answer(const bough_tree_model *model, bo_tree_work *w, bo_tree_pairs *p, int32_t group,
                        double *answer) {
    bo_tree_touch *touch = w->touch;
    const int32_t *nodes = p->order + p->first[group], count = p->first[group + 1] - p->first[group];
    bo_tree_touch_sweep(model, w, count, nodes);
    for (int32_t k = 0; k < count; k++) {
        const int32_t at = p->place_of[nodes[k]];
        int32_t r;
        const double *a, *A = bo_tree_node_answer(touch, nodes[k], &r, &a);
        for (int d = 0; d < 6 && at >= 0; d++)
            answer[at + d] = A[d];
        for (int32_t l = 0; l < r && at >= 0; l++)
            answer[at + 6 + l] = a[l];
    }
}

static bool answer_of_solid(const bough_tree_model *model, const bo_tree_work *w, const pair_side *side, int k,
                            double *answer) {
    const int32_t slot = model->parts[side->part].slot;
    double I[36], x[6];
    bo_tree_unpack_six(&w->inertias[slot / 4], slot % 4, I);
    memcpy(x, side->frame[k], sizeof x);
    if (!bo_cholesky_factor(6, I))
        return false;
    bo_cholesky_solve(6, I, x);
    memcpy(answer + 1, x, sizeof x);
    return true;
}

/* Rows of one side, or of both where they are of one group, and what they do to it. */
static bool fill_side(const bough_tree_model *model, bo_tree_work *w, bo_tree_pairs *p, const pair_side *sides,
                      int count, double *rows, double *answers) {
    bo_tree_touch *touch = w->touch;
    const int32_t size = p->groups[sides[0].group].size;
    memset(rows, 0, 3 * (size_t)size * sizeof *rows);
    memset(answers, 0, 3 * (size_t)size * sizeof *answers);
    for (int k = 0; k < 3; k++, rows += size, answers += size) {
        for (int s = 0; s < count; s++) {
            put_row(p, &sides[s], k, rows);
            if (sides[s].node >= 0)
                bo_tree_touch_load_node(touch, sides[s].node, sides[s].r, sides[s].frame[k],
                                        sides[s].rows + k * sides[s].r);
            else if (!answer_of_solid(model, w, &sides[s], k, answers))
                return false;
        }
        if (sides[0].node >= 0)
            read_answer(model, w, p, sides[0].group, answers);
    }
    return true;
}

static bool make_rows(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w, bo_tree_pairs *p) {
    bo_tree_touch *touch = w->touch;
    pair_side sides[2];
    p->row_count = 0;
    if (!BO_RESERVE(ctx, p->constraints, p->constraint_capacity, (size_t)p->count) ||
        !BO_RESERVE(ctx, p->points, p->points_capacity, (size_t)p->count))
        return false;
    int32_t c = 0;
    for (size_t i = 0; i < touch->point_count; i++) {
        if (!is_paired(touch, i))
            continue;
        const int count = sides_of(p, model, touch, &touch->points[i], sides);
        const bool apart = count == 2 && sides[1].group != sides[0].group;
        bo_constraint *to = &p->constraints[c];
        *to = (bo_constraint){.groups = {sides[0].group, apart ? sides[1].group : -1}};
        for (int s = 0; s < (apart ? 2 : 1); s++)
            to->rows[s] = p->row_count, p->row_count += 3 * (size_t)p->groups[sides[s].group].size;
        p->points[c++] = (int32_t)i;
    }
    if (!BO_RESERVE(ctx, p->rows, p->row_capacity, p->row_count) ||
        !BO_RESERVE(ctx, p->answers, p->answer_capacity, p->row_count))
        return false;
    for (c = 0; c < p->count; c++) {
        const bo_constraint *to = &p->constraints[c];
        const int count = sides_of(p, model, touch, &touch->points[p->points[c]], sides);
        const bool apart = to->groups[1] >= 0;
        if (!fill_side(model, w, p, sides, apart ? 1 : count, p->rows + to->rows[0], p->answers + to->rows[0]) ||
            (apart && !fill_side(model, w, p, sides + 1, 1, p->rows + to->rows[1], p->answers + to->rows[1])))
            return false;
    }
    return true;
}

/* ---- forces ---- */

static void set_constraints(bo_tree_touch *touch, bo_tree_pairs *p, double dt, bool places) {
    for (int32_t c = 0; c < p->count; c++) {
        const bo_tree_point *point = &touch->points[p->points[c]];
        bo_constraint *to = &p->constraints[c];
        const int32_t size = p->groups[to->groups[0]].size;
        to->friction = places ? 0 : point->friction;
        to->speed = -point->slack;
        for (int k = 0; k < 3; k++) {
            p->rows[to->rows[0] + (size_t)k * (size_t)size] = point->velocity[k];
            to->impulse[k] = dt * point->force[k];
        }
    }
}

static void read_forces(bo_tree_touch *touch, const bo_tree_pairs *p, double dt) {
    for (int32_t c = 0; c < p->count; c++) {
        bo_tree_point *point = &touch->points[p->points[c]];
        const bo_constraint *from = &p->constraints[c];
        for (int k = 0; k < 3; k++) {
            double v = 0;
            for (int s = 0; s < 2 && from->groups[s] >= 0; s++) {
                const bo_group *group = &p->groups[from->groups[s]];
                const double *row = p->rows + from->rows[s] + (size_t)k * (size_t)group->size;
                for (int32_t l = 0; l < group->size; l++)
                    v += row[l] * group->y[l];
            }
            point->force[k] = from->impulse[k] / dt;
            point->answer[k] = (v - point->velocity[k]) / dt;
        }
    }
}

bool bo_tree_touch_solve_pairs(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w, double dt,
                               bool again) {
    bo_tree_touch *touch = w->touch;
    if (!touch->pairs && !(touch->pairs = BO_NEW(ctx, bo_tree_pairs)))
        return false;
    bo_tree_pairs *p = touch->pairs;
    if (!again &&
        (!bo_tree_touch_factor(model, w) || !make_groups(ctx, model, touch, p) || !make_rows(ctx, model, w, p)))
        return false;
    start_rates(p);
    set_constraints(touch, p, dt, again);
    bo_contact_problem problem = {.group_count = p->group_count,
                                  .constraint_count = p->count,
                                  .groups = p->groups,
                                  .constraints = p->constraints,
                                  .rows = p->rows,
                                  .answers = p->answers,
                                  .most_rounds = MOST_ROUNDS,
                                  .tolerance = TOLERANCE,
                                  .bounce_speed = INFINITY};
    bo_contact_solve(&problem);
    touch->rounds += problem.rounds;
    read_forces(touch, p, dt);
    return true;
}
