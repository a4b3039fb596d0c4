/* The tree seen by time integrators: M(q) v' = f(q) - D v with
 *     f(q) = -dE/dq - h,  h = weight, loads and forces of moving frames, kept where inertia was entered, as M is.
 * So K is that of the parts' elasticity, exactly, and f has a potential. docs/theory/tree.md, "Other integrators". */
#include "tree/system.h"

#include <math.h>
#include <string.h>

/* ---- parts alone ---- */

/* Factors of one part's elasticity and Rayleigh damping, with the state's factors and the laws of scale. */
typedef struct part_factors {
    double elastic, damping_mass, damping_stiffness;
} part_factors;

static part_factors factors_of(const bough_tree_state *state, const bo_tree_part *part) {
    const double stiffness = state->stiffness[part->user], elastic = stiffness * stiffness * part->scale3;
    return (part_factors){elastic, state->damping_mass[part->user] * part->scale5,
                          state->damping_stiffness[part->user] * elastic};
}

/* y += s A x of one part, with rows of n */
static void multiply_part(int32_t r, int32_t n, double s, const double *A, const double *x, double *y) {
    for (int32_t k = 0; k < r; k++) {
        double sum = 0;
        for (int32_t l = 0; l < r; l++)
            sum += A[k * n + l] * x[l];
        y[k] += s * sum;
    }
}

/* ---- the system ---- */

static bough_status force(void *data, double t, const double *q, double *U, double *f) {
    bo_tree_system *s = data;
    const bough_tree_model *model = s->model;
    double sum = 0, E;
    (void)t;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const part_factors by = factors_of(s->state, part);
        double *g = f + part->offset;
        if (!bough_component_evaluate(model->components[part->component].c, q + part->offset,
                                      bo_tree_work_of(s->state)->scratch, &E, g, NULL))
            return bo_fail(s->ctx, BOUGH_NOT_FINITE, "a part is turned inside out; take a smaller step");
        sum += by.elastic * E;
        for (int32_t l = 0; l < part->r; l++)
            g[l] *= -by.elastic;
    }
    for (int32_t j = 0; j < model->joint_count; j++)
        for (int32_t k = model->joints[j].offset; k < model->joints[j].offset + model->joints[j].count; k++) {
            f[k] = -model->joints[j].stiffness * q[k];
            sum -= 0.5 * f[k] * q[k];
        }
    for (int32_t k = 0; k < model->size; k++) {
        f[k] -= s->rest[k];
        sum += s->rest[k] * q[k];
    }
    if (U)
        *U = sum;
    return BOUGH_OK;
}

/* Weight and loads are in h; what is linear is without them. */
static const bo_tree_mode exact = {.coupling = BOUGH_COUPLING_L3};
static const bo_tree_mode linear = {.coupling = BOUGH_COUPLING_L3, .weightless = true, .unloaded = true};

/* After h is known the frames stand still, so that solves and products are linear. */
static bough_status enter(void *data, double t, const double *q, const double *v) {
    bo_tree_system *s = data;
    const bough_tree_model *model = s->model;
    bo_tree_work *w = bo_tree_work_of(s->state);
    (void)t;
    memcpy(s->q, s->instead_q ? s->instead_q : q, (size_t)model->size * sizeof *s->q);
    v = s->instead_v ? s->instead_v : v;
    w->frames_stale = true;
    if (!bo_tree_move(s->ctx, model, w, &exact, s->q, v))
        return bo_fail(s->ctx, BOUGH_NOT_FINITE, "an interface is crushed to a line, so that it has no frame");
    bo_tree_weigh(s->ctx, model, s->state, &exact, s->q, v);
    bo_tree_balance(s->ctx, model, w, &exact, s->zero, s->rest);
    if (!bo_tree_move(s->ctx, model, w, &exact, s->q, s->zero))
        return bo_fail(s->ctx, BOUGH_NOT_FINITE, "an interface is crushed to a line, so that it has no frame");
    return BOUGH_OK;
}

/* The stiffness at rest is positive semidefinite, and not far from the one that is not. */
static bough_status linearise(void *data, double t, const double *q, bool project) {
    bo_tree_system *s = data;
    (void)t;
    s->has_K = false;
    memcpy(s->bent, project ? s->zero : q, (size_t)s->model->size * sizeof *s->bent);
    return BOUGH_OK;
}

/* Stiffness of each part at q, r x r one after the other, without the state's factors. Not a number where a part is
 * turned inside out, which solvers notice. */
static void fill_stiffness(const bo_tree_system *s, const double *q, double *K) {
    for (int32_t i = 0; i < s->model->part_count; i++) {
        const bo_tree_part *part = &s->model->parts[i];
        const bool good = bough_component_evaluate(s->model->components[part->component].c, q + part->offset,
                                                   bo_tree_work_of(s->state)->scratch, NULL, NULL, K);
        for (int32_t k = 0; k < part->r * part->r && !good; k++)
            K[k] = NAN;
        K += part->r * part->r;
    }
}

/* Damping follows the stiffness at q, as that of the full body does. */
static bough_status damp(void *data, const double *q) {
    bo_tree_system *s = data;
    memcpy(s->damped, q, (size_t)s->model->size * sizeof *q);
    if (s->system.rayleigh_stiffness != 0) /* not a number: there is some */
        fill_stiffness(s, q, s->K_damping);
    return BOUGH_OK;
}

static void multiply_M(bo_tree_system *s, const double *x, double *y) {
    bo_tree_weigh(s->ctx, s->model, s->state, &linear, s->q, s->zero);
    bo_tree_balance(s->ctx, s->model, bo_tree_work_of(s->state), &linear, x, y);
}

static void multiply(void *data, bo_matrix which, const double *x, double *y) {
    bo_tree_system *s = data;
    const bough_tree_model *model = s->model;
    if (which == BO_MATRIX_M) {
        multiply_M(s, x, y);
        return;
    }
    if (which == BO_MATRIX_K && !s->has_K)
        fill_stiffness(s, s->bent, s->K);
    s->has_K = s->has_K || which == BO_MATRIX_K;
    memset(y, 0, (size_t)model->size * sizeof *y);
    const double *K = which == BO_MATRIX_K ? s->K : s->K_damping;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bo_component_tables *t = &model->components[part->component];
        const part_factors by = factors_of(s->state, part);
        const double *xi = x + part->offset;
        double *yi = y + part->offset;
        if (which == BO_MATRIX_D && by.damping_mass != 0)
            multiply_part(part->r, t->n, by.damping_mass, t->M, xi, yi);
        if (which == BO_MATRIX_K || by.damping_stiffness != 0)
            multiply_part(part->r, part->r, which == BO_MATRIX_K ? by.elastic : by.damping_stiffness, K, xi, yi);
        K += part->r * part->r;
    }
    for (int32_t j = 0; j < model->joint_count; j++) {
        const bo_tree_joint *joint = &model->joints[j];
        for (int32_t k = joint->offset; k < joint->offset + joint->count; k++)
            y[k] = (which == BO_MATRIX_K ? joint->stiffness : joint->damping) * x[k];
    }
}

/* One pass of the exact coupling with H for the masses of the parts and w->p for all forces, where the frames stand
 * still. fresh: H is made by the scheme at `bent`, and forces are none; else H is that of the last time. */
static bough_status solve_tree(bo_tree_system *s, bool fresh, double *x) {
    bo_tree_work *w = bo_tree_work_of(s->state);
    bo_tree_state at = *bo_tree_inside(s->state);
    at.seen.q = s->bent, at.seen.v = at.seen.a = s->zero;
    bo_tree_pass pass = {.model = s->model,
                         .state = &at.seen,
                         .work = w,
                         .mode = linear,
                         .q = s->q,
                         .v = s->zero,
                         .there = s->bent,
                         .damped = s->damped,
                         .scheme = &s->scheme,
                         .elastic = fresh,
                         .keep = fresh,
                         .solve = true,
                         .inertias = true};
    const bool good = bo_tree_prepare(s->ctx, &pass) && bo_tree_solve(s->ctx, s->model, w, &linear, x);
    return good ? BOUGH_OK
                : bo_fail(s->ctx, BOUGH_ERROR_SINGULAR,
                          "a part has lost its stiffness or is turned inside out in this step; take a smaller one");
}

/* a (M + gamma dt D + beta dt^2 K) with a step of one second */
static bough_status factor(void *data, double a, double b, double c) {
    bo_tree_system *s = data;
    s->factor_mass = a;
    s->scheme = (bo_tree_scheme){.dt = 1, .gamma = b / a, .beta = c / a, .inert = b == 0 && c == 0};
    return solve_tree(s, true, bo_tree_work_of(s->state)->next_a);
}

static bough_status solve(void *data, const double *b, double *x) {
    bo_tree_system *s = data;
    bo_tree_set_forces(s->model, bo_tree_work_of(s->state), 1 / s->factor_mass, b);
    return solve_tree(s, false, x);
}

/* ---- making ---- */

bough_status bo_tree_system_check_coupling(bough_context *ctx, const bough_tree_state *state) {
    return state->coupling == BOUGH_COUPLING_L3
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                         "integrators need the exact coupling, L3; this tree has another");
}

static bough_status check_model(bough_context *ctx, const bough_tree_model *model) {
    if (model->free_count > 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "integrators need roots that are held; a tree of this model flies, and only the tree's own step "
                       "can fly it");
    if (model->size == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "there is nothing to integrate: all parts are rigid");
    if (model->def.tie_count > 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "integrators know no ties; use the tree's own step");
    if (model->part_count < model->def.part_count)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "integrators need all parts of a model to be there");
    for (int32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].locked)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "integrators need parts that bend; part \"%s\" is locked",
                           model->def.parts[model->parts[i].user].name);
    for (int32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].joint < 0 && bough_tree_model_joint_offset(model, model->parts[i].user) >= 0)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "integrators need joints that turn; part \"%s\" does not hang in its joint",
                           model->def.parts[model->parts[i].user].name);
    for (int32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].track)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "integrators need roots that are held still; part \"%s\" has a track",
                           model->def.parts[model->parts[i].user].name);
    return BOUGH_OK;
}

void bo_tree_system_look_at_damping(bo_tree_system *s) {
    bool damped = false;
    for (int32_t i = 0; i < s->model->part_count; i++)
        damped = damped || s->state->damping_mass[i] != 0 || s->state->damping_stiffness[i] != 0;
    for (int32_t j = 0; j < s->model->joint_count; j++)
        damped = damped || s->model->joints[j].damping != 0;
    s->system.rayleigh_mass = s->system.rayleigh_stiffness = damped ? NAN : 0; /* each part has its own */
}

bough_status bo_tree_system_create(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   bo_tree_system **out) {
    *out = NULL;
    BO_TRY(bo_tree_system_check_coupling(ctx, state));
    BO_TRY(check_model(ctx, model));
    const size_t n = (size_t)model->size;
    size_t squares = 0;
    for (int32_t i = 0; i < model->part_count; i++)
        squares += (size_t)model->parts[i].r * (size_t)model->parts[i].r;
    bo_tree_system *s = BO_NEW(ctx, bo_tree_system);
    double *block = BO_NEW_ZEROS(ctx, double, 5 * n + 2 * squares);
    if (!s || !block) {
        bo_free(ctx, s);
        bo_free(ctx, block);
        return BOUGH_ERROR_MEMORY;
    }
    s->system = (bo_system){.data = s,
                            .size = model->size,
                            .position_size = model->size,
                            .has_potential = true,
                            .force = force,
                            .enter = enter,
                            .linearise = linearise,
                            .damp = damp,
                            .multiply = multiply,
                            .factor = factor,
                            .solve = solve};
    s->ctx = ctx, s->model = model, s->state = state, s->block = block;
    s->q = block, s->zero = s->q + n, s->rest = s->zero + n, s->bent = s->rest + n, s->damped = s->bent + n;
    s->K = s->damped + n, s->K_damping = s->K + squares;
    bo_tree_system_look_at_damping(s);
    *out = s;
    return BOUGH_OK;
}

void bo_tree_system_destroy(bough_context *ctx, bo_tree_system *system) {
    if (!system)
        return;
    bo_free(ctx, system->block);
    bo_free(ctx, system);
}
