/* Statics of a tree. docs/theory/tree.md, "Statics". */
#include "tree/couple.h"

#include <math.h>
#include <string.h>

#define SETTLE_COOKIE 0xB0061053u

bough_settle_def bough_default_settle_def(void) {
    return (bough_settle_def){.cookie = SETTLE_COOKIE, .tolerance = 1e-9, .max_iterations = 500};
}

/* Elastic forces into work->p, and M + h^2 K into work->H; false when a material is inverted. */
static bool linearise(const bough_model *model, const bough_state *state, const double *q, double h2) {
    bo_tree_work *w = state->work;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bo_component_tables *t = &model->components[part->component];
        const int32_t r = part->r;
        double *K = w->scratch, *scratch = K + r * r, *H = w->H + w->square_offset[i];
        const double stiffness = state->stiffness[part->user], elastic = stiffness * stiffness * part->scale3;
        if (!bough_component_evaluate(t->c, q + part->offset, scratch, NULL, w->p + part->offset, K))
            return false;
        for (int32_t l = 0; l < r; l++)
            w->p[part->offset + l] *= elastic;
        for (int32_t k = 0; k < r * r; k++)
            H[k] = part->scale5 * t->M[k] + h2 * elastic * K[k];
    }
    return true;
}

/* Gradient of the potential: what a part feels when nothing accelerates but for gravity, its subtree hanging as a rigid
 * body. Returns the length of the gradient over that of the elastic forces; after bo_tree_move() and linearise(). */
static double unbalanced(const bough_model *model, bo_tree_work *w, const double *q, const double *zero) {
    bo_tree_inertia(model, w, q, zero);
    bo_tree_own_terms(model, w, q, zero);
    bo_tree_compose(model, w);
    double left = 0, size = 0;
    for (int32_t j = 0; j < model->part_count; j++)
        if (model->parts[j].parent >= 0) {
            double I[36], p[6];
            memcpy(I, w->solve[j].I, sizeof I);
            memcpy(p, w->solve[j].p, sizeof p);
            bo_tree_hang(model, w, j, I, p);
        }
    bo_vec3 up = bo_scale(-1, bo_load3(model->def.gravity));
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        double A[3];
        bo_store3(A, bo_mat_tvec(w->motion[i].world, up));
        for (int32_t l = 0; l < part->r; l++) {
            double g = w->p_q[part->offset + l];
            for (int d = 0; d < 3; d++)
                g += w->Mrq[6 * part->offset + d * part->r + l] * A[d];
            left += g * g;
            size +=
                w->p[part->offset + l] * w->p[part->offset + l] + w->load[part->offset + l] * w->load[part->offset + l];
        }
    }
    return size > 0 ? sqrt(left / size) : left > 0 ? INFINITY : 0;
}

static bool look(const bough_model *model, const bough_state *state, const double *q, const double *zero, double h2,
                 double *residual) {
    bo_tree_work *w = state->work;
    if (!bo_tree_move(model, w, q, zero) || !linearise(model, state, q, h2))
        return false;
    *residual = unbalanced(model, w, q, zero);
    return isfinite(*residual) || *residual == INFINITY;
}

/* Steps (M + h^2 K) a = -g, q += h^2 a, with h growing while it helps: the inertia of the whole tree keeps first steps
 * small where they would bend it too far. K is that of the parts alone, so that the last digits come one by one. */
static bough_status search(bough_context *ctx, const bough_model *model, bough_state *state,
                           const bough_settle_def *def, double *residual) {
    bo_tree_work *w = state->work;
    const size_t bytes = (size_t)model->size * sizeof(double);
    double *zero = state->v, h2 = 1e-4, next;
    if (!look(model, state, state->q, zero, h2, residual))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "the search for an equilibrium begins with a part turned inside out");
    for (int32_t i = 0; i < def->max_iterations; i++) {
        if (*residual <= def->tolerance)
            return BOUGH_OK;
        if (!bo_progress(ctx, "settling", -1, "residual %.2e", *residual))
            return bo_fail_cancelled(ctx);
        bool good = look(model, state, state->q, zero, h2, &next) && bo_tree_solve(model, w, state->q, zero, w->next_a);
        for (int32_t k = 0; k < model->size && good; k++)
            w->next_q[k] = state->q[k] + h2 * w->next_a[k];
        good = good && look(model, state, w->next_q, zero, h2, &next) && next < 1.5 * *residual;
        h2 = good ? fmin(4 * h2, 1e12) : 0.1 * h2;
        if (good) {
            memcpy(state->q, w->next_q, bytes);
            *residual = next;
        }
    }
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "no equilibrium was found in %d iterations; %.2g of the forces are left",
                   def->max_iterations, *residual);
}

bough_status bough_state_settle(bough_context *ctx, const bough_model *model, bough_state *state,
                                const bough_settle_def *def, double *residual) {
    bough_settle_def defaults = bough_default_settle_def();
    double left = 0;
    def = def ? def : &defaults;
    if (def->cookie != SETTLE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the settle def was not made by bough_default_settle_def()");
    if (model->free_count > 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a tree that flies has no equilibrium");
    memset(state->v, 0, (size_t)model->size * sizeof(double));
    memset(state->a, 0, (size_t)model->size * sizeof(double));
    memcpy(state->work->load, state->work->force, (size_t)model->size * sizeof(double));
    memcpy(state->work->load_wrench, state->work->wrench, 6 * (size_t)model->part_count * sizeof(double));
    bough_status status = search(ctx, model, state, def, &left);
    if (residual)
        *residual = left;
    bough_status updated = bough_state_update(ctx, model, state);
    return status != BOUGH_OK ? status : updated;
}
