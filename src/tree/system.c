/* The tree seen by time integrators: M(q) v' = f(q) - D v with
 *     f(q) = -dE/dq - h,  h = weight, loads and forces of moving frames, kept where inertia was entered, as M is.
 * So K is that of the parts' elasticity, exactly, and f has a potential. docs/theory/tree.md, "Other integrators". */
#include "tree/system.h"

#include "tree/couple.h"

#include <math.h>
#include <string.h>

/* ---- balance of forces ---- */

/* Wrench of part i on its frame (into solve->p) and forces on its coordinates, its frame accelerating by solve->A. */
static void pull_of_part(const bough_model *model, bo_tree_work *w, const double *a, int32_t i, double *y) {
    const bo_tree_part *part = &model->parts[i];
    bo_tree_solve_state *s = &w->solve[i];
    const int32_t r = part->r;
    const double *Mrq = w->Mrq + 6 * part->offset, *ai = a + part->offset;
    const double *M = model->components[part->component].M;
    for (int d = 0; d < 6; d++) {
        for (int e = 0; e < 6; e++)
            s->p[d] += s->I[6 * d + e] * s->A[e];
        for (int32_t l = 0; l < r; l++)
            s->p[d] += Mrq[d * r + l] * ai[l];
    }
    for (int32_t k = 0; k < r; k++) {
        double sum = w->p_q[part->offset + k];
        for (int d = 0; d < 6; d++)
            sum += Mrq[d * r + k] * s->A[d];
        for (int32_t l = 0; l < r; l++)
            sum += part->scale5 * M[k * r + l] * ai[l];
        y[part->offset + k] = sum;
    }
}

/* The parent of part j carries its wrench: J^T on the coordinates, X^T on the frame, in the parent's axes. */
static void pull_on_parent(const bough_model *model, bo_tree_work *w, int32_t j, double *y) {
    const bo_tree_part *parent = &model->parts[model->parts[j].parent];
    const bo_tree_motion *m = &w->motion[j];
    const double *J = w->J + w->J_offset[j], *p = w->solve[j].p;
    double *above = w->solve[model->parts[j].parent].p, pull[6];
    bo_vec3 force = bo_mat_vec(m->R, bo_load3(p)), torque = bo_mat_vec(m->R, bo_load3(p + 3));
    bo_store3(pull, force);
    bo_store3(pull + 3, torque);
    for (int32_t l = 0; l < parent->r; l++)
        for (int d = 0; d < 6; d++)
            y[parent->offset + l] += J[d * parent->r + l] * pull[d];
    bo_store3(above, bo_add(bo_load3(above), force));
    bo_store3(above + 3, bo_add(bo_load3(above + 3), bo_add(torque, bo_cross(m->x, force))));
}

void bo_tree_balance(const bough_model *model, bo_tree_work *w, const double *q, const double *v, const double *a,
                     double *y) {
    const bo_vec3 up = bo_scale(-1, bo_load3(model->def.gravity));
    memset(w->p, 0, (size_t)model->size * sizeof *w->p);
    bo_tree_own_terms(model, w, q, v);
    for (int32_t i = 0; i < model->part_count; i++) {
        if (model->parts[i].parent >= 0)
            bo_tree_accelerate_frame(model, w, i, a);
        else {
            memset(w->solve[i].A, 0, sizeof w->solve[i].A);
            bo_store3(w->solve[i].A, bo_mat_tvec(w->motion[i].world, up));
        }
        pull_of_part(model, w, a, i, y);
    }
    for (int32_t i = model->part_count - 1; i >= 0; i--)
        if (model->parts[i].parent >= 0)
            pull_on_parent(model, w, i, y);
}

/* ---- parts alone ---- */

/* Of one part: elasticity and Rayleigh's damping, with the state's factors and the laws of scale. */
typedef struct part_factors {
    double elastic, mass, damping_mass, damping_stiffness;
} part_factors;

static part_factors factors_of(const bough_state *state, const bo_tree_part *part) {
    const double stiffness = state->stiffness[part->user], elastic = stiffness * stiffness * part->scale3;
    return (part_factors){elastic, part->scale5, state->damping_mass[part->user] * part->scale5,
                          state->damping_stiffness[part->user] * elastic};
}

/* y = (s A + t B) x of one part */
static void multiply_part(int32_t r, double s, const double *A, double t, const double *B, const double *x, double *y) {
    for (int32_t k = 0; k < r; k++) {
        double sum = 0;
        for (int32_t l = 0; l < r; l++)
            sum += (s * A[k * r + l] + t * B[k * r + l]) * x[l];
        y[k] = sum;
    }
}

/* ---- the system ---- */

static bough_status force(void *data, double t, const double *q, double *U, double *f) {
    bo_tree_system *s = data;
    const bough_model *model = s->model;
    double sum = 0, E;
    (void)t;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const part_factors by = factors_of(s->state, part);
        double *g = f + part->offset;
        if (!bough_component_evaluate(model->components[part->component].c, q + part->offset, s->scratch, &E, g, NULL))
            return bo_fail(s->ctx, BOUGH_NOT_FINITE, "a part is turned inside out; take a smaller step");
        sum += by.elastic * E;
        for (int32_t l = 0; l < part->r; l++)
            g[l] *= -by.elastic;
    }
    for (int32_t k = 0; k < model->size; k++) {
        f[k] -= s->rest[k];
        sum += s->rest[k] * q[k];
    }
    if (U)
        *U = sum;
    return BOUGH_OK;
}

static bough_status enter(void *data, double t, const double *q, const double *v) {
    bo_tree_system *s = data;
    bo_tree_work *w = s->state->work;
    const size_t bytes = (size_t)s->model->size * sizeof(double);
    (void)t;
    memcpy(s->q, s->instead_q ? s->instead_q : q, bytes);
    memcpy(s->v, s->instead_v ? s->instead_v : v, bytes);
    if (!bo_tree_move(s->model, w, s->q, s->v))
        return bo_fail(s->ctx, BOUGH_NOT_FINITE, "an interface is crushed to a line, so that it has no frame");
    bo_tree_inertia(s->model, w, s->q, s->v);
    memset(s->product, 0, bytes);
    bo_tree_balance(s->model, w, s->q, s->v, s->product, s->rest);
    return BOUGH_OK;
}

/* The stiffness at rest is positive semidefinite, and not far from the one that is not. */
static bough_status linearise(void *data, double t, const double *q, bool project) {
    bo_tree_system *s = data;
    const bough_model *model = s->model;
    double *K = s->K;
    (void)t;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bough_component *c = model->components[part->component].c;
        const size_t square = (size_t)part->r * (size_t)part->r;
        const part_factors by = factors_of(s->state, part);
        if (project && square > 0)
            memcpy(K, c->K, square * sizeof *K);
        else if (!bough_component_evaluate(c, q + part->offset, s->scratch, NULL, NULL, K))
            return bo_fail(s->ctx, BOUGH_NOT_FINITE, "a part is turned inside out; take a smaller step");
        for (size_t k = 0; k < square; k++)
            K[k] *= by.elastic;
        K += square;
    }
    return BOUGH_OK;
}

/* Damping follows the stiffness at rest. */
static bough_status damp(void *data, const double *q) {
    (void)data, (void)q;
    return BOUGH_OK;
}

/* M x = (balance(s x) - h) / s, and solves likewise: with a large s the rounding of h does not count, with a power of
 * two nothing else changes. */
#define LARGE 0x1p40

static void multiply(void *data, bo_matrix which, const double *x, double *y) {
    bo_tree_system *s = data;
    const bough_model *model = s->model;
    if (which == BO_MATRIX_M) {
        for (int32_t k = 0; k < model->size; k++)
            s->product[k] = LARGE * x[k];
        bo_tree_balance(model, s->state->work, s->q, s->v, s->product, y);
        for (int32_t k = 0; k < model->size; k++)
            y[k] = (y[k] - s->rest[k]) / LARGE;
        return;
    }
    const double *K = s->K;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bo_component_tables *t = &model->components[part->component];
        const part_factors by = factors_of(s->state, part);
        const double *xi = x + part->offset;
        if (which == BO_MATRIX_K)
            multiply_part(part->r, 1, K, 0, K, xi, y + part->offset);
        else
            multiply_part(part->r, by.damping_mass, t->M, by.damping_stiffness, t->c->K, xi, y + part->offset);
        K += part->r * part->r;
    }
}

/* The solve of couple.c has M for the tree and work->H for the parts alone: (M + (b D + c K) / a) x = -(h + p). */
static bool solve_tree(bo_tree_system *s, const double *b, double *x) {
    bo_tree_work *w = s->state->work;
    for (int32_t k = 0; k < s->model->size; k++)
        w->p[k] = -(b ? LARGE / s->factor_mass * b[k] : 0) - s->rest[k];
    if (!bo_tree_solve(s->model, w, s->q, s->v, x))
        return false;
    for (int32_t k = 0; k < s->model->size; k++)
        x[k] /= LARGE;
    return true;
}

static bough_status factor(void *data, double a, double b, double c) {
    bo_tree_system *s = data;
    const bough_model *model = s->model;
    bo_tree_work *w = s->state->work;
    const double *K = s->K;
    s->factor_mass = a;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bo_component_tables *t = &model->components[part->component];
        const part_factors by = factors_of(s->state, part);
        const int32_t square = part->r * part->r;
        double *H = w->H + w->square_offset[i];
        for (int32_t k = 0; k < square; k++)
            H[k] = by.mass * t->M[k] +
                   (b * (by.damping_mass * t->M[k] + by.damping_stiffness * t->c->K[k]) + c * K[k]) / a;
        K += square;
    }
    return solve_tree(s, NULL, s->product) ? BOUGH_OK
                                           : bo_fail(s->ctx, BOUGH_ERROR_SINGULAR,
                                                     "a part has lost its stiffness in this step; take a smaller one");
}

static bough_status solve(void *data, const double *b, double *x) {
    bo_tree_system *s = data;
    return solve_tree(s, b, x) ? BOUGH_OK
                               : bo_fail(s->ctx, BOUGH_ERROR_SINGULAR,
                                         "a part has lost its stiffness in this step; take a smaller one");
}

/* ---- making ---- */

static bough_status check_model(bough_context *ctx, const bough_model *model) {
    if (model->def.coupling != BOUGH_COUPLING_L3)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "integrators need the exact coupling, L3; this model has another");
    if (model->free_count > 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "integrators need roots that are held; a tree of this model flies, and only the tree's own step "
                       "can fly it");
    if (model->size == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "there is nothing to integrate: all parts are rigid");
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
    s->system.rayleigh_mass = s->system.rayleigh_stiffness = damped ? NAN : 0; /* each part has its own */
}

bough_status bo_tree_system_create(bough_context *ctx, const bough_model *model, bough_state *state,
                                   bo_tree_system **out) {
    *out = NULL;
    BO_TRY(check_model(ctx, model));
    const size_t n = (size_t)model->size;
    size_t scratch = 0;
    for (int32_t i = 0; i < model->component_count; i++)
        scratch = (size_t)fmax((double)scratch, (double)bough_component_scratch(model->components[i].c));
    bo_tree_system *s = BO_NEW(ctx, bo_tree_system);
    double *block = BO_NEW_ZEROS(ctx, double, 4 * n + (size_t)model->square_size + scratch);
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
    s->q = block, s->v = s->q + n, s->rest = s->v + n, s->product = s->rest + n;
    s->K = s->product + n, s->scratch = s->K + model->square_size;
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
