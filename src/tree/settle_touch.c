/* Contact in statics: where held trees lean on obstacles, on solids and on each other. docs/theory/tree.md, "Statics".
 *
 * Forces f of contacts, each along the normal and two tangents, act as loads. A step of the search (settle.c) without a
 * change of f moves points by u against what they touch; with W_ij, the acceleration in row i by a force in row j, a
 * change df makes that c = u + h^2 W df, plus the gap in normal rows. The new forces obey
 *     normal:   f >= 0, c >= 0, f c = 0;     tangents: |f| <= nu N, and c = 0 where it is less, else against c
 * It is the change that is solved for, so that W may leave out ties, and the end is exact. nu is a small part of what
 * friction is in steps: it holds what is in unstable balance, such as a branch across a round stone, and is too little to
 * make anything creep in steps; but for it there would be one equilibrium, whichever way leads there. */
#include "tree/settle_touch.h"

#include "dense/cholesky.h"
#include "tree/couple.h"
#include "tree/touch.h"

#include <math.h>
#include <string.h>

#define REACH 0.02     /* of a part's size: points that are no further away are looked at */
#define MOST_BEND 0.05 /* of a part in one step of the search: about an angle */
#define HELD 1e-6      /* of the most that samples of its component move: less is nothing */
#define PUSH_RATE 1    /* 1/s, of the size of parts: nothing is pushed out faster in a short step */
#define SOFT 1e-5      /* of the largest W_ii: by which contacts give way in a round */
#define FRICTION 0.02  /* of that in steps */
#define WRONG 1e-13    /* of the largest: forces and gaps that have the wrong sign by less are zero */
enum { NUMBERS = 7, MOST_ROUNDS = 4, MOST_EXCHANGES = 60, MOST_FAILED = 4 };
typedef enum { FREE, LOW, HIGH } place; /* of a force: between its limits, or at one of them */

struct bo_tree_lean {
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
    bo_tree_touch *touch;
    double size; /* m, of the largest part */
    bool tries;  /* the memory of contacts has forces that are not accepted yet; `fresh` has those that are */
    /* ---- of the points ---- */
    size_t capacity, W_capacity, factor_capacity, node_capacity, tree_capacity;
    size_t count;    /* of rows */
    int32_t *which;  /* 3 point + axis */
    double *numbers; /* of the rows: see below */
    double *W, *factor;
    double round;  /* added to the diagonal of W for what forces change in a round */
    int32_t *free; /* rows whose forces are between their limits */
    place *places;
    size_t free_capacity, places_capacity, which_capacity;
    int32_t *order, *first; /* nodes by trees, ascending in each; where those of a tree begin */
};

static const bo_tree_mode at_rest = {.coupling = BOUGH_COUPLING_L3, .still = true};

/* ---- points ---- */

static bo_tree_search search_of(const bo_tree_lean *lean, double h) {
    return (bo_tree_search){.ctx = lean->ctx,
                            .model = lean->model,
                            .state = lean->state,
                            .work = bo_tree_work_of(lean->state),
                            .touch = lean->touch,
                            .dt = h,
                            .still = true,
                            .reach = REACH * lean->size};
}

/* Frames at q, with velocities by which points go in one step. */
static bool go_to(const bo_tree_lean *lean, const double *q, const double *v, double of_v) {
    bo_tree_work *w = bo_tree_work_of(lean->state);
    for (int32_t k = 0; k < lean->model->size; k++)
        w->next_v[k] = v ? of_v * v[k] : 0;
    if (w->next_q != q)
        memcpy(w->next_q, q, (size_t)lean->model->size * sizeof *q);
    return bo_tree_move(lean->ctx, lean->model, w, &at_rest, q, w->next_v);
}

static bough_status crushed(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NOT_FINITE, "an interface is crushed to a line, so that it has no frame");
}

/* One side of a point: its part, and how the point moves along axis k by the part's frame and coordinates. */
typedef struct {
    int32_t part, node, r;
    const double *frame, *row;
} side;

static int sides_of(const bo_tree_touch *touch, const bo_tree_point *point, int k, side sides[2]) {
    sides[0] = (side){point->part, point->node, point->r, point->frame[k],
                      touch->rows + point->rows + (size_t)k * (size_t)point->r};
    sides[1] = (side){point->other, point->other_node, point->other_r, point->other_frame[k],
                      touch->rows + point->other_rows + (size_t)k * (size_t)point->other_r};
    return point->other < 0 ? 1 : 2;
}

static bough_status soft(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "a part has lost its stiffness in the search for an equilibrium");
}

/* Adds forces along the axes of a point to the loads. */
static void load_point(const bo_tree_lean *lean, const bo_tree_point *point, const double f[3]) {
    bo_tree_work *w = bo_tree_work_of(lean->state);
    side sides[2];
    for (int k = 0; k < 3; k++) {
        const int count = sides_of(lean->touch, point, k, sides);
        for (int s = 0; s < count; s++) {
            for (size_t d = 0; d < 6; d++)
                w->load_wrench[6 * (size_t)sides[s].part + d] += f[k] * sides[s].frame[d];
            for (int32_t l = 0; l < sides[s].r; l++)
                w->load[lean->model->parts[sides[s].part].offset + l] += f[k] * sides[s].row[l];
        }
    }
}

static void start_loads(const bo_tree_lean *lean) {
    bo_tree_work *w = bo_tree_work_of(lean->state);
    if (w->loaded)
        return;
    memset(w->load, 0, (size_t)lean->model->size * sizeof *w->load);
    memset(w->load_wrench, 0, 6 * (size_t)lean->model->part_count * sizeof *w->load_wrench);
    w->loaded = true;
}

/* A sample of a root that stands still, where it is held: no force could move it, as of a trunk on the ground. */
static bool is_held(const bo_tree_lean *lean, const bo_tree_point *point) {
    const bo_tree_part *part = &lean->model->parts[point->part];
    const double *reach = lean->touch->clouds[part->component].reach, *rows = lean->touch->rows + point->rows;
    bool held = part->parent < 0 && part->joint < 0 && point->other < 0;
    for (int32_t l = 0; l < point->r && held; l++)
        held = fabs(rows[l]) <= HELD * part->scale * reach[l];
    return held;
}

/* The points that are near where the frames are, with the forces that are known of them. */
static bough_status find_points(const bo_tree_lean *lean, double h) {
    bo_tree_touch *touch = lean->touch;
    bo_tree_search s = search_of(lean, h);
    BO_TRY(bo_tree_touch_find(&s));
    size_t kept = 0;
    for (size_t i = 0; i < touch->point_count; i++)
        if (!is_held(lean, &touch->points[i]))
            touch->points[kept++] = touch->points[i];
    touch->point_count = kept;
    bo_tree_touch_recall(lean->model, lean->touch);
    return BOUGH_OK;
}

bough_status bo_tree_lean_load(bo_tree_lean *lean, const double *q, double *off) {
    bo_tree_work *w = bo_tree_work_of(lean->state);
    if (w->next_q != q)
        memcpy(w->next_q, q, (size_t)lean->model->size * sizeof *q);
    memset(w->next_v, 0, (size_t)lean->model->size * sizeof *w->next_v);
    BO_TRY(find_points(lean, 1)); /* nothing moves */
    start_loads(lean);
    *off = 0;
    for (size_t i = 0; i < lean->touch->point_count; i++) {
        const bo_tree_point *point = &lean->touch->points[i];
        *off = fmax(*off, (point->force[0] > 0 ? fabs(point->gap) : -point->gap) / lean->size);
        if (point->force[0] > 0)
            load_point(lean, point, point->force);
    }
    return BOUGH_OK;
}

/* ---- what forces do ---- */

/* Nodes of the closure by trees. */
static bool list_nodes(bo_tree_lean *lean) {
    const int32_t trees = lean->model->levels[0].end_part, nodes = lean->touch->node_count;
    if (!BO_RESERVE(lean->ctx, lean->order, lean->node_capacity, (size_t)nodes + 1) ||
        !BO_RESERVE(lean->ctx, lean->first, lean->tree_capacity, (size_t)trees + 2))
        return false;
    memset(lean->first, 0, ((size_t)trees + 2) * sizeof *lean->first);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t k = 0; k < nodes; k++) {
            int32_t part;
            bo_tree_node_island(lean->touch, k, &part);
            const int32_t tree = lean->model->parts[part].tree;
            if (pass == 0)
                lean->first[tree + 2]++;
            else
                lean->order[lean->first[tree + 1]++] = k;
        }
        for (int32_t t = 0; t < trees && pass == 0; t++)
            lean->first[t + 2] += lean->first[t + 1];
    }
    return true;
}

/* The rows: all normals, then the tangents of points that push already. Others have no friction yet. */
static bool list_rows(bo_tree_lean *lean) {
    const size_t points = lean->touch->point_count;
    if (!BO_RESERVE(lean->ctx, lean->which, lean->which_capacity, 3 * points))
        return false;
    lean->count = 0;
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < points; i++)
            if (k == 0 || lean->touch->points[i].force[0] > 0)
                lean->which[lean->count++] = (int32_t)(3 * i) + k;
    return true;
}

static size_t point_of(const bo_tree_lean *lean, size_t row) {
    return (size_t)lean->which[row] / 3; /* and the number of its normal row */
}

static int axis_of(const bo_tree_lean *lean, size_t row) {
    return lean->which[row] % 3;
}

/* Acceleration of one side of a point along an axis, by the answer of its node. */
static double answer_of(const bo_tree_touch *touch, const side *to) {
    int32_t r;
    const double *a, *A = bo_tree_node_answer(touch, to->node, &r, &a);
    double sum = 0;
    for (int d = 0; d < 6; d++)
        sum += to->frame[d] * A[d];
    for (int32_t l = 0; l < to->r; l++) /* none of shapes, which do not bend with their parts */
        sum += to->row[l] * a[l];
    return sum;
}

/* Adds what a unit force in row i does to `tree` to its column of W. */
static void add_tree(bo_tree_lean *lean, size_t i, int32_t tree) {
    const bo_tree_touch *touch = lean->touch;
    side sides[2];
    int count = sides_of(touch, &touch->points[point_of(lean, i)], axis_of(lean, i), sides);
    for (int s = 0; s < count; s++)
        if (lean->model->parts[sides[s].part].tree == tree)
            bo_tree_touch_load_node(lean->touch, sides[s].node, sides[s].r, sides[s].frame, sides[s].row);
    bo_tree_touch_sweep(lean->model, bo_tree_work_of(lean->state), lean->first[tree + 1] - lean->first[tree],
                        lean->order + lean->first[tree]);
    for (size_t j = 0; j < lean->count; j++) {
        count = sides_of(touch, &touch->points[point_of(lean, j)], axis_of(lean, j), sides);
        for (int s = 0; s < count; s++)
            if (lean->model->parts[sides[s].part].tree == tree)
                lean->W[j * lean->count + i] += answer_of(touch, &sides[s]);
    }
}

static bough_status find_answers(bo_tree_lean *lean) {
    bo_tree_touch *touch = lean->touch;
    if (!list_rows(lean))
        return BOUGH_ERROR_MEMORY;
    const size_t n = lean->count;
    if (!BO_RESERVE(lean->ctx, lean->numbers, lean->capacity, NUMBERS * n) ||
        !BO_RESERVE(lean->ctx, lean->free, lean->free_capacity, n) ||
        !BO_RESERVE(lean->ctx, lean->places, lean->places_capacity, n) ||
        !BO_RESERVE(lean->ctx, lean->W, lean->W_capacity, n * n) ||
        !BO_RESERVE(lean->ctx, lean->factor, lean->factor_capacity, n * n))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_tree_touch_gather(lean->ctx, lean->model, bo_tree_work_of(lean->state)));
    for (size_t i = 0; i < touch->point_count; i++)
        if (touch->points[i].node < 0 || touch->points[i].solid >= 0)
            return bo_fail(lean->ctx, BOUGH_ERROR_UNSUPPORTED,
                           "no equilibrium is looked for where something leans on a solid that was made to fly and "
                           "hangs on a tree since then");
    if (!bo_tree_touch_factor(lean->model, bo_tree_work_of(lean->state)))
        return soft(lean->ctx);
    if (!list_nodes(lean))
        return BOUGH_ERROR_MEMORY;
    memset(lean->W, 0, n * n * sizeof *lean->W);
    for (size_t i = 0; i < n; i++) {
        const bo_tree_point *point = &touch->points[point_of(lean, i)];
        const int32_t tree = lean->model->parts[point->part].tree;
        add_tree(lean, i, tree);
        if (point->other >= 0 && lean->model->parts[point->other].tree != tree)
            add_tree(lean, i, lean->model->parts[point->other].tree);
    }
    return BOUGH_OK;
}

/* ---- forces ---- */

/* Numbers of the rows: c = r + W f, limits of f. */
typedef struct {
    size_t n;
    double *r, *f, *c, *low, *high, *last, *scratch; /* last: f of the round before */
} rows;
static rows rows_of(const bo_tree_lean *lean) {
    const size_t n = lean->count;
    double *x = lean->numbers;
    return (rows){n, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n, x + 5 * n, x + 6 * n};
}

/* Forces of the rows that are free, such that c is zero there; the others are at their limits. */
static bool balance(bo_tree_lean *lean, const rows *of) {
    const size_t n = of->n;
    int32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        of->f[i] = lean->places[i] == LOW ? of->low[i] : lean->places[i] == HIGH ? of->high[i] : 0;
        if (lean->places[i] == FREE)
            lean->free[count++] = (int32_t)i;
    }
    for (size_t i = 0; i < n; i++) {
        of->c[i] = of->r[i] + lean->round * (of->f[i] - of->last[i]);
        for (size_t j = 0; j < n; j++)
            of->c[i] += of->f[j] != 0 ? lean->W[i * n + j] * of->f[j] : 0;
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j <= i; j++)
            lean->factor[i * count + j] = lean->W[(size_t)lean->free[i] * n + (size_t)lean->free[j]];
        lean->factor[i * count + i] += lean->round;
        of->scratch[i] = -of->c[lean->free[i]];
    }
    if (count > 0 && !bo_cholesky_factor(count, lean->factor))
        return false;
    if (count > 0)
        bo_cholesky_solve(count, lean->factor, of->scratch);
    for (int32_t k = 0; k < count; k++) {
        of->f[lean->free[k]] = of->scratch[k], of->c[lean->free[k]] += lean->round * of->scratch[k];
        for (size_t i = 0; i < n; i++)
            of->c[i] += lean->W[i * n + (size_t)lean->free[k]] * of->scratch[k];
    }
    return true;
}

/* Finds the place of a force that is wrong where it is. */
static place better(const bo_tree_lean *lean, const rows *of, size_t i, double little_f, double little_c) {
    switch (lean->places[i]) {
    case FREE:
        return of->f[i] < of->low[i] - little_f ? LOW : of->f[i] > of->high[i] + little_f ? HIGH : FREE;
    case LOW:
        return of->c[i] < -little_c ? FREE : LOW;
    default:
        return of->c[i] > little_c ? FREE : HIGH;
    }
}

/* Finds forces within their limits, with c = 0 between them and c >= 0 or <= 0 at the lower or upper one: all that are
 * wrong are exchanged; where that does not help, the last one alone, which ends for every positive definite W (Murty). */
static bool complement(bo_tree_lean *lean, const rows *of) {
    size_t least = of->n + 1;
    int failed = 0;
    for (size_t round = 0; round < MOST_EXCHANGES + of->n; round++) {
        if (!balance(lean, of))
            return false;
        double little_c = 0, little_f = 0;
        for (size_t i = 0; i < of->n; i++)
            little_c = fmax(little_c, WRONG * fabs(of->r[i])), little_f = fmax(little_f, WRONG * fabs(of->f[i]));
        size_t wrong = 0, last = 0;
        for (size_t i = 0; i < of->n; i++)
            if (better(lean, of, i, little_f, little_c) != lean->places[i])
                wrong++, last = i;
        if (wrong == 0)
            return true;
        failed = wrong < least ? 0 : failed + 1;
        least = wrong < least ? wrong : least;
        for (size_t i = failed > MOST_FAILED ? last : 0; i <= last; i++)
            lean->places[i] = better(lean, of, i, little_f, little_c);
    }
    return true; /* nearly: the next step goes on */
}

/* The forces that are known, and where one step would lead without a change of them. */
static void start_rows(bo_tree_lean *lean, const rows *of, double h) {
    const size_t n = of->n;
    lean->round = 0;
    for (size_t i = 0; i < n * n; i++)
        lean->W[i] *= h * h;
    for (size_t i = 0; i < n; i++) {
        const bo_tree_point *point = &lean->touch->points[point_of(lean, i)];
        const int k = axis_of(lean, i);
        lean->round = fmax(lean->round, SOFT * lean->W[i * n + i]);
        of->f[i] = point->force[k];
        of->r[i] = (k == 0 ? fmax(point->gap, -PUSH_RATE * lean->size * h) : 0) + h * point->velocity[k];
        lean->places[i] = k == 0 && !(of->f[i] > 0) ? LOW : FREE;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            of->r[i] -= lean->W[i * n + j] * of->f[j];
}

/* Tangential forces are limited by the normal ones of the round before. */
static void start_round(bo_tree_lean *lean, const rows *of) {
    memcpy(of->last, of->f, of->n * sizeof *of->f);
    for (size_t i = 0; i < of->n; i++) {
        const size_t point = point_of(lean, i);
        const double most = FRICTION * lean->touch->points[point].friction * fmax(0, of->last[point]);
        const bool normal = axis_of(lean, i) == 0;
        of->low[i] = normal ? 0 : -most;
        of->high[i] = normal ? INFINITY : most;
        if (of->high[i] == 0)
            lean->places[i] = LOW;
    }
}

/* The new forces. They change less with every round, since W may be singular where there are more forces than ways in
 * which parts can give way. */
static bool find_forces(bo_tree_lean *lean, const rows *of, double h) {
    start_rows(lean, of, h);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        start_round(lean, of);
        if (!complement(lean, of))
            return false;
    }
    return true;
}

/* Adds what the forces are more than before to the loads. */
static void take_forces(const bo_tree_lean *lean, const rows *of) {
    for (size_t i = 0; i < of->n; i++) {
        bo_tree_point *point = &lean->touch->points[point_of(lean, i)];
        const int k = axis_of(lean, i);
        const double f = k == 0 ? fmax(0, of->f[i]) : of->f[i];
        double more[3] = {0};
        more[k] = f - point->force[k], point->force[k] = f;
        load_point(lean, point, more);
    }
}

/* The memory of contacts has the forces that are tried, or those that were accepted. */
static void exchange(bo_tree_lean *lean) {
    bo_tree_touch *touch = lean->touch;
    bo_tree_memory *memory = touch->memory;
    const size_t count = touch->memory_count;
    touch->memory = touch->fresh, touch->memory_count = touch->fresh_count;
    touch->fresh = memory, touch->fresh_count = count;
    bo_tree_touch_index(touch);
    lean->tries = !lean->tries;
}

bough_status bo_tree_lean_push(bo_tree_lean *lean, const double *q, const double *a, double h2) {
    bo_tree_touch *touch = lean->touch;
    const double h = sqrt(h2);
    if (!go_to(lean, q, a, h))
        return crushed(lean->ctx);
    BO_TRY(find_points(lean, h));
    if (touch->point_count > 0) {
        BO_TRY(find_answers(lean));
        const rows of = rows_of(lean);
        if (!find_forces(lean, &of, h))
            return soft(lean->ctx);
        take_forces(lean, &of);
    }
    bo_tree_touch_note(lean->model, touch);
    exchange(lean);
    return go_to(lean, q, NULL, 0) ? BOUGH_OK : crushed(lean->ctx);
}

bool bo_tree_lean_goes_far(const bo_tree_lean *lean, const double *q, const double *to) {
    for (int32_t i = 0; i < lean->model->part_count; i++) {
        const bo_tree_part *part = &lean->model->parts[i];
        const bo_component_tables *t = &lean->model->components[part->component];
        const double *Sigma = t->c->Sigma0;
        double square = 0;
        for (int32_t l = part->offset; l < part->offset + part->r; l++) {
            const int32_t k = l - part->offset;
            square += t->M[k * t->n + k] * (to[l] - q[l]) * (to[l] - q[l]);
        }
        if (!(square <= MOST_BEND * MOST_BEND * (Sigma[0] + Sigma[4] + Sigma[8])))
            return true;
    }
    return false;
}

void bo_tree_lean_accept(bo_tree_lean *lean) {
    if (lean)
        lean->tries = false;
}

void bo_tree_lean_drop(bo_tree_lean *lean) {
    if (lean && lean->tries)
        exchange(lean);
}

/* ---- from start to end ---- */

bough_status bo_tree_lean_begin(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                bo_tree_lean **lean) {
    bo_tree_touch *touch = bo_tree_work_of(state)->touch;
    *lean = NULL;
    if (!touch)
        return BOUGH_OK;
    if (!(*lean = BO_NEW(ctx, bo_tree_lean)))
        return BOUGH_ERROR_MEMORY;
    **lean = (bo_tree_lean){.ctx = ctx, .model = model, .state = state, .touch = touch};
    for (int32_t i = 0; i < model->part_count; i++)
        (*lean)->size = fmax((*lean)->size, model->parts[i].scale * touch->clouds[model->parts[i].component].radius);
    touch->memory_count = touch->fresh_count = 0;
    bo_tree_touch_index(touch);
    return BOUGH_OK;
}

/* Lists what pushes. */
static bough_status list_contacts(const bo_tree_lean *lean) {
    bo_tree_touch *touch = lean->touch;
    if (!BO_RESERVE(lean->ctx, touch->contacts, touch->contact_capacity, touch->point_count + touch->kept_count + 1))
        return BOUGH_ERROR_MEMORY;
    touch->contact_count = 0;
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_point *point = &touch->points[i];
        bo_vec3 force = bo_v3(0, 0, 0);
        for (int k = 0; k < 3; k++)
            force = bo_mul_add(force, point->force[k], point->axes[k]);
        if (point->force[0] > 0)
            touch->contacts[touch->contact_count++] =
                (bo_tree_contact){.part = lean->model->parts[point->part].user,
                                  .obstacle = point->obstacle,
                                  .other = point->other < 0 ? -1 : lean->model->parts[point->other].user,
                                  .position = point->x,
                                  .normal = point->axes[0],
                                  .force = force,
                                  .gap = point->gap};
    }
    return BOUGH_OK;
}

/* The first step goes on with the forces that the search has found, as a step does with those of the one before. */
static bough_status rest_on_contacts(bo_tree_lean *lean, const double *q) {
    bo_tree_work *w = bo_tree_work_of(lean->state);
    const size_t n = (size_t)lean->model->size;
    if (!go_to(lean, q, NULL, 0))
        return crushed(lean->ctx);
    w->loaded = false;
    double off;
    BO_TRY(bo_tree_lean_load(lean, q, &off));
    memcpy(w->blow, w->load, n * sizeof *w->blow);
    memset(w->blow_wrench, 0, 6 * (size_t)lean->model->def.part_count * sizeof *w->blow_wrench);
    for (int32_t i = 0; i < lean->model->part_count; i++)
        memcpy(w->blow_wrench + 6 * lean->model->parts[i].user, w->load_wrench + 6 * i, 6 * sizeof *w->blow_wrench);
    return list_contacts(lean);
}

bough_status bo_tree_lean_end(bo_tree_lean *lean, const double *q, bool found) {
    bough_status status = BOUGH_OK;
    if (!lean)
        return status;
    bo_tree_lean_drop(lean);
    if (found)
        status = rest_on_contacts(lean, q);
    bo_tree_work *w = bo_tree_work_of(lean->state);
    w->loaded = false;
    w->frames_stale = true;
    void *const blocks[] = {lean->numbers, lean->W,     lean->factor, lean->free, lean->places,
                            lean->which,   lean->order, lean->first,  lean};
    bough_context *ctx = lean->ctx;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    return status;
}
