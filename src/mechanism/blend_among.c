/* A blend in a contact world. docs/theory/contact.md, "The full mechanism and blends". */
#include "contact/rows.h"
#include "contact/solve.h"
#include "mechanism/blend.h"
#include "mechanism/touches.h"

#include "dense/lu.h"

#include <string.h>

typedef struct {
    bo_touches touches; /* first */
    const bough_mechanism_blend *blend;
    bough_blend_state *state;
    double dt;
    int32_t nearest; /* bo_blend_predict() to bo_blend_finish() */
    bool begun;      /* bo_blend_predict() has changed the state's work */
    double *inverse; /* tracks x tracks */
    double *column;  /* tracks */
    double *f, *y;   /* tracks: bo_blend_work.f and .y as they were predicted */
} touching;

/* ---- where places are ---- */

/* H = H_base Hbar exp(xi), xi = S^-1 B z: by z the twist in its own axes is Jr(xi) S^-1 B. */
static void place_effector(const touching *t, bo_touch_place *place) {
    const struct bo_blend_work *w = bo_blend_work_of(t->state);
    const int32_t tracks = t->blend->tracks, e = place->def.index;
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

static void place(void *data, int32_t number, bough_contact_motion *motion) {
    touching *t = data;
    place_effector(t, &t->touches.places[number]);
    bo_touches_tell(&t->touches, number, motion);
}

/* ---- the step ---- */

static bough_status begin(bough_context *ctx, void *data, double dt, bough_contact_rates *rates) {
    touching *t = data;
    const struct bo_blend_work *w = bo_blend_work_of(t->state);
    const size_t size = (size_t)t->blend->tracks * sizeof(double);
    t->dt = dt, t->begun = false;
    if (t->blend->tracks != t->touches.size)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the contact world was made before the blend got its last points");
    BO_TRY(bo_blend_predict(ctx, t->blend, t->state, dt, &t->nearest));
    t->begun = true;
    memcpy(t->f, w->f, size);
    memcpy(t->y, w->y, size);
    t->touches.y = t->y;
    *rates = (bough_contact_rates){t->blend->tracks, t->y, w->rate};
    return BOUGH_OK;
}

/* (M + h D + h^2 Lambda^-1)^-1 = (Lambda (M + h D) + h^2)^-1 Lambda, which needs no inverse of Lambda. */
static bough_status answer(bough_context *ctx, void *data, int32_t row_count, const double *rows, double *answers,
                           double *least) {
    const touching *t = data;
    struct bo_blend_work *w = bo_blend_work_of(t->state);
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
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR,
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
    *least = 1e-14 * most;
    bo_apply_inverse(n, t->inverse, row_count, rows, answers);
    return BOUGH_OK;
}

static bough_status take(bough_context *ctx, void *data, double dt, const double *impulse, int32_t push_count,
                         const bough_contact_push *pushes, const double **again) {
    const touching *t = data;
    struct bo_blend_work *w = bo_blend_work_of(t->state);
    const int32_t tracks = t->blend->tracks;
    (void)ctx, (void)push_count, (void)pushes, (void)again;
    memcpy(w->f, t->f, (size_t)tracks * sizeof(double));
    memcpy(w->y, t->y, (size_t)tracks * sizeof(double));
    for (int32_t i = 0; i < tracks; i++) {
        w->f[i] += impulse[i] / dt;
        for (int32_t k = 0; k < tracks; k++)
            w->y[i] += t->inverse[i * tracks + k] * impulse[k];
    }
    return BOUGH_OK;
}

static void commit(void *data, double dt) {
    const touching *t = data;
    bo_blend_finish(t->blend, t->state, dt, t->nearest);
}

static void cancel(void *data) {
    const touching *t = data;
    if (t->begun)
        bo_blend_give_back(t->blend, t->state, BOUGH_OK);
}

static const bough_contact_table table = {.begin = begin,
                                          .place = place,
                                          .rows = bo_touches_rows,
                                          .answer = answer,
                                          .take = take,
                                          .commit = commit,
                                          .cancel = cancel,
                                          .destroy = bo_touches_destroy};

bough_status bough_blend_actor_create(bough_context *ctx, const bough_mechanism_blend *blend, bough_blend_state *state,
                                      int32_t touch_count, const bough_touch_def *touches, bough_contact_actor *actor) {
    memset(actor, 0, sizeof *actor);
    if (!blend || !state)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a blend needs its state, and a state its blend");
    const int32_t tracks = blend->tracks;
    touching *t = BO_NEW(ctx, touching);
    const bo_touches_def def = {blend->effector_count, 0, tracks, tracks * (tracks + 3), touch_count, touches};
    BO_TRY(bo_touches_make(ctx, &def, &table, t, actor));
    t->blend = blend, t->state = state;
    t->inverse = t->touches.own, t->column = t->inverse + tracks * tracks, t->f = t->column + tracks;
    t->y = t->f + tracks;
    return BOUGH_OK;
}
