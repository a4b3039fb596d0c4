/* A step of a blend among obstacles and free bodies. docs/theory/contact.md, "The full mechanism and blends". */
#include "mechanism/blend.h"
#include "mechanism/surroundings.h"

#include "dense/lu.h"

#include <string.h>

typedef struct {
    bough_context *ctx;
    const bough_mechanism_blend *blend;
    const bough_blend_state *state;
    double dt;
    double *inverse; /* tracks x tracks */
    double *column;  /* tracks */
} touching;

bough_status bough_blend_surroundings_create(bough_context *ctx, const bough_mechanism_blend *blend,
                                             const bough_surroundings_def *def, bough_surroundings **surroundings) {
    const size_t tracks = (size_t)blend->tracks;
    BO_TRY(bo_surroundings_make(ctx, blend->effector_count, 0, blend->tracks, def, surroundings));
    return bo_surroundings_reserve(ctx, surroundings, tracks * tracks + tracks);
}

/* H = H_base Hbar exp(xi), xi = S^-1 B z: by z the twist in its own axes is Jr(xi) S^-1 B. */
static void place_effector(const void *data, bo_place *place) {
    const touching *t = data;
    const struct bo_blend_work *w = t->state->work;
    const int32_t tracks = t->blend->tracks, e = place->index;
    const double *B = w->pair + t->blend->pair.B;
    place->pose = bo_pose(&t->state->base);
    memset(place->motion, 0, 6 * (size_t)tracks * sizeof(double));
    if (e == BOUGH_TOUCH_BY_BASE)
        return;
    place->pose = bo_se3_mul(place->pose, w->at[e]);
    const bo_twist xi = bo_se3_log(bo_se3_mul(bo_se3_inverse(w->rest[e]), w->at[e]));
    for (int32_t z = 0; z < tracks; z++) {
        double x[6];
        for (int k = 0; k < 6; k++)
            x[k] = B[(6 * e + k) * tracks + z] / bo_blend_scale(t->blend, k);
        const bo_twist by = bo_se3_right_jacobian(xi, bo_load_twist(x));
        bo_put_column(place->motion, tracks, z, bo_mat_vec(place->pose.R, by.v), bo_mat_vec(place->pose.R, by.w));
    }
}

/* (M + h D + h^2 Lambda^-1)^-1 = (Lambda (M + h D) + h^2)^-1 Lambda, which needs no inverse of Lambda. */
static bough_status answer(void *data, const double **inverse, double *least) {
    const touching *t = data;
    struct bo_blend_work *w = t->state->work;
    const int32_t n = t->blend->tracks;
    const double *L = w->pair + t->blend->pair.L, *M = w->pair + t->blend->pair.M, *D = w->pair + t->blend->pair.D;
    double most = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            double sum = i == j ? t->dt * t->dt : 0;
            for (int32_t k = 0; k < n; k++)
                sum += L[i * n + k] * (M[k * n + j] + t->dt * D[k * n + j]);
            w->A[i * n + j] = sum;
        }
    if (!bo_lu_factor(n, w->A, w->pivots))
        return bo_fail(t->ctx, BOUGH_ERROR_SINGULAR,
                       "the blended mechanism does not answer to what touches it: the matrix of its step is singular");
    for (int32_t c = 0; c < n; c++) {
        for (int32_t r = 0; r < n; r++)
            t->column[r] = L[r * n + c];
        bo_lu_solve(n, w->A, w->pivots, t->column);
        for (int32_t r = 0; r < n; r++)
            t->inverse[r * n + c] = t->column[r];
    }
    for (int32_t r = 0; r < n; r++) {
        for (int32_t c = 0; c < r; c++)
            t->inverse[r * n + c] = t->inverse[c * n + r] = 0.5 * (t->inverse[r * n + c] + t->inverse[c * n + r]);
        most = fmax(most, t->inverse[r * n + r] * t->blend->radius * t->blend->radius);
    }
    *inverse = t->inverse, *least = 1e-14 * most;
    return BOUGH_OK;
}

bough_status bough_blend_state_step_among(bough_context *ctx, const bough_mechanism_blend *blend,
                                          bough_blend_state *state, bough_surroundings *s, double dt) {
    struct bo_blend_work *w = state->work;
    double *own = s->work->own;
    const int32_t tracks = blend->tracks;
    int32_t nearest;
    BO_TRY(bo_among_check(ctx, s, blend->effector_count, own ? tracks : -2, dt));
    touching t = {ctx, blend, state, dt, own, own + (ptrdiff_t)tracks * tracks};
    const bo_mover mover = {&t, w->y, w->rate, place_effector, answer};
    BO_TRY(bo_blend_predict(ctx, blend, state, dt, &nearest));
    const bough_status status = bo_among_solve(ctx, s, &mover, dt);
    if (status != BOUGH_OK)
        return bo_blend_give_back(blend, state, status);
    for (int32_t i = 0; i < tracks && s->work->meeting_count > 0; i++) {
        w->f[i] += s->work->impulse[i] / dt;
        for (int32_t k = 0; k < tracks; k++)
            w->y[i] += t.inverse[i * tracks + k] * s->work->impulse[k];
    }
    bo_blend_finish(blend, state, dt, nearest);
    bo_among_keep(s, dt);
    return BOUGH_OK;
}
