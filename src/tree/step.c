/* One step of a tree in time. docs/theory/tree.md, "Integration". */
#include "tree/system.h"

#include <math.h>
#include <string.h>

/* Hilber, Hughes and Taylor: q+ = qp + beta dt^2 a+, v+ = vp + gamma dt a+ */
typedef struct {
    double dt, alpha, beta, gamma;
} scheme;

/* H = M + (1 + alpha) (gamma dt D + beta dt^2 K) and p = f(q) + (1 + alpha) K (qp - q) + D ((1 + alpha) vp - alpha v),
 * with forces and stiffness at q. False when a material is inverted. */
static bool linearise(const bough_model *model, bo_tree_work *w, const bough_state *state, const scheme *h, int32_t i) {
    const bo_tree_part *part = &model->parts[i];
    const bo_component_tables *t = &model->components[part->component];
    const int32_t r = part->r;
    const double *q = state->q + part->offset, *v = state->v + part->offset, *a = state->a + part->offset;
    double *f = w->scratch, *ahead = f + r, *rate = ahead + r, *K = rate + r, *scratch = K + r * r;
    if (!bough_component_evaluate(t->c, q, scratch, NULL, f, K))
        return false;
    const double stiffness = state->stiffness[part->user], elastic = stiffness * stiffness * part->scale3;
    const double damping_mass = state->damping_mass[part->user], damping_stiff = state->damping_stiffness[part->user];
    const double mass = part->scale5, more = 1 + h->alpha;
    for (int32_t l = 0; l < r; l++) {
        ahead[l] = more * (h->dt * v[l] + h->dt * h->dt * (0.5 - h->beta) * a[l]);
        rate[l] = more * (v[l] + h->dt * (1 - h->gamma) * a[l]) - h->alpha * v[l];
    }
    double *H = w->H + w->square_offset[i], *p = w->p + part->offset;
    const double implicit_mass = more * h->gamma * h->dt * damping_mass,
                 implicit_rest = more * h->gamma * h->dt * damping_stiff * elastic,
                 implicit_now = more * h->beta * h->dt * h->dt * elastic;
    for (int32_t k = 0; k < r; k++) {
        const double *Kk = K + k * r, *Rk = t->c->K + k * r, *Mk = t->M + k * r;
        double sum = elastic * f[k];
        for (int32_t l = 0; l < r; l++) {
            sum +=
                elastic * Kk[l] * ahead[l] + (damping_mass * mass * Mk[l] + damping_stiff * elastic * Rk[l]) * rate[l];
            H[k * r + l] = mass * (1 + implicit_mass) * Mk[l] + implicit_rest * Rk[l] + implicit_now * Kk[l];
        }
        p[k] = sum;
    }
    return true;
}

static void advance(const bough_model *model, const bough_state *state, const scheme *h, bo_tree_work *w) {
    for (int32_t k = 0; k < model->size; k++) {
        const double a = w->next_a[k];
        w->next_q[k] =
            state->q[k] + h->dt * state->v[k] + h->dt * h->dt * ((0.5 - h->beta) * state->a[k] + h->beta * a);
        w->next_v[k] = state->v[k] + h->dt * ((1 - h->gamma) * state->a[k] + h->gamma * a);
    }
}

static bool all_finite(int32_t count, const double *x) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += x[i] * 0; /* 0, or NAN */
    return sum == 0;
}

static bough_status crushed(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NOT_FINITE, "an interface is crushed to a line, so that it has no frame");
}

static bough_status solve(bough_context *ctx, const bough_model *model, bo_tree_work *w, const double *q,
                          const double *v, const bough_root *roots) {
    bo_tree_place_roots(model, w, roots);
    if (!bo_tree_move(model, w, q, v))
        return crushed(ctx);
    bo_tree_inertia(model, w, q, v);
    if (!bo_tree_solve(model, w, q, v, w->next_a))
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "a part has lost its stiffness in this step; take a smaller one");
    if (!all_finite(model->size, w->next_a))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "accelerations are not finite; take a smaller step");
    return BOUGH_OK;
}

static void take_loads(const bough_model *model, bo_tree_work *w) {
    memcpy(w->load, w->force, (size_t)model->size * sizeof *w->load);
    memcpy(w->load_wrench, w->wrench, 6 * (size_t)model->part_count * sizeof *w->load_wrench);
}

bough_status bo_tree_accelerations(bough_context *ctx, const bough_model *model, bough_state *state, const double *q,
                                   const double *v, const double *force, double *a) {
    bo_tree_work *w = state->work;
    take_loads(model, w);
    memset(w->p, 0, (size_t)model->size * sizeof *w->p);
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const double *M = model->components[part->component].M;
        for (int32_t k = 0; k < part->r * part->r; k++)
            w->H[w->square_offset[i] + k] = part->scale5 * M[k];
    }
    for (int32_t k = 0; k < model->size && force; k++)
        w->load[k] += force[k];
    BO_TRY(solve(ctx, model, w, q, v, state->roots));
    memcpy(a, w->next_a, (size_t)model->size * sizeof *a);
    return BOUGH_OK;
}

static void publish_frames(const bough_model *model, bough_state *state) {
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_motion *m = &state->work->motion[i];
        bough_frame *frame = &state->frames[model->parts[i].user];
        bo_store3(frame->origin, m->origin);
        memcpy(frame->rotation, m->world.m, sizeof frame->rotation);
        bo_store3(frame->velocity, bo_mat_vec(m->world, m->v));
        bo_store3(frame->angular_velocity, bo_mat_vec(m->world, m->w));
    }
}

bough_status bough_state_update(bough_context *ctx, const bough_model *model, bough_state *state) {
    bo_tree_place_roots(model, state->work, state->roots);
    if (!bo_tree_move(model, state->work, state->q, state->v))
        return crushed(ctx);
    bo_tree_set_momenta(model, state->work, state->q, state->v, state->roots);
    publish_frames(model, state);
    return BOUGH_OK;
}

/* Frames at the end of the step; trees that fly get the velocity that their momenta ask for. */
static bough_status settle(bough_context *ctx, const bough_model *model, bo_tree_work *w) {
    bo_tree_place_roots(model, w, w->next_roots);
    if (!bo_tree_move(model, w, w->next_q, w->next_v))
        return crushed(ctx);
    if (model->free_count == 0)
        return BOUGH_OK;
    if (!bo_tree_project_momenta(model, w, w->next_q, w->next_v, w->next_roots))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "the inertia of a tree is lost; take a smaller step");
    bo_tree_place_roots(model, w, w->next_roots);
    return bo_tree_move(model, w, w->next_q, w->next_v) ? BOUGH_OK : crushed(ctx);
}

bough_status bough_step(bough_context *ctx, const bough_model *model, bough_state *state, double dt) {
    if (state->work->integrator)
        return bo_tree_integrate(ctx, model, state, dt);
    bo_tree_work *w = state->work;
    const double alpha = model->def.alpha;
    const scheme h = {dt, alpha, 0.25 * (1 - alpha) * (1 - alpha), 0.5 - alpha};
    if (!(dt >= 0 && isfinite(dt)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a step must not be negative");
    take_loads(model, w);
    for (int32_t i = 0; i < model->part_count; i++)
        if (!linearise(model, w, state, &h, i))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "a part is turned inside out; take a smaller step");
    BO_TRY(solve(ctx, model, w, state->q, state->v, state->roots));
    advance(model, state, &h, w);
    bo_tree_fly(model, w, state->frames, dt, h.gamma, state->roots, w->next_roots);
    if (model->def.passes == 2 || (model->def.passes == 0 && model->free_count)) {
        BO_TRY(solve(ctx, model, w, w->next_q, w->next_v, w->next_roots));
        advance(model, state, &h, w);
        bo_tree_fly(model, w, state->frames, dt, h.gamma, state->roots, w->next_roots);
    }
    BO_TRY(settle(ctx, model, w));
    const size_t size = (size_t)model->size * sizeof(double);
    memcpy(state->q, w->next_q, size);
    memcpy(state->v, w->next_v, size);
    memcpy(state->a, w->next_a, size);
    memcpy(state->roots, w->next_roots, (size_t)model->free_count * sizeof *state->roots);
    state->time += dt;
    if (dt > 0)
        bough_state_clear_forces(model, state);
    publish_frames(model, state);
    return BOUGH_OK;
}
