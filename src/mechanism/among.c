/* A reduced mechanism in a contact world. docs/theory/contact.md, "Mechanisms". */
#include "contact/rows.h"
#include "contact/solve.h"
#include "mechanism/links.h"
#include "mechanism/step.h"
#include "mechanism/touches.h"

#include <string.h>

typedef struct {
    bo_touches touches; /* first */
    const bough_mechanism_model *model;
    bough_mechanism_state *state;
    double *right;      /* size: bo_mechanism_work.right as it was predicted */
    double momentum[6]; /* likewise */
} reduced;

/* ---- where places are ---- */

/* A link is at H = H_base H_base,rest^-1 (exp(t) R, p + J t): with t in axes that were the world's at rest, by z it
 * moves by exp(t) Jr(t) of its maps. The base moves along. */
static void place_link(const reduced *r, bo_touch_place *place) {
    const bough_mechanism_model *model = r->model;
    const int32_t b = model->free_base ? 6 : 0, size = b + model->rank, link = place->def.index;
    const double *z = bo_mechanism_work_of(r->state)->z + b;
    const bo_se3 rest = bo_pose(&model->rest[link]), base = bo_pose(&r->state->base),
                 moved = bo_se3_mul(base, bo_se3_inverse(bo_pose(&model->rest[model->base])));
    bo_twist t = bo_lanes_twist(bo_mechanism_lanes_of(model), link, 0);
    for (int32_t k = 0; k < model->rank; k++)
        t = bo_twist_mul_add(t, z[k], bo_lanes_twist(bo_mechanism_lanes_of(model), link, 1 + k));
    for (int32_t k = 0; k < model->motor_count; k++)
        t = bo_twist_mul_add(t, r->state->motors[k],
                             bo_lanes_twist(bo_mechanism_lanes_of(model), link, 1 + model->rank + k));
    const bo_se3 bend = bo_se3_exp(t);
    const bo_mat3 axes = bo_mat_mul(moved.R, bend.R);
    place->pose = bo_se3_mul(moved, (bo_se3){bo_mat_mul(bend.R, rest.R), bo_add(rest.t, bend.t)});
    memset(place->motion, 0, 6 * (size_t)size * sizeof(double));
    for (int32_t k = 0; k < model->rank; k++) {
        const bo_twist by = bo_se3_right_jacobian(t, bo_lanes_twist(bo_mechanism_lanes_of(model), link, 1 + k));
        bo_put_column(place->motion, size, b + k, bo_mat_vec(axes, by.v), bo_mat_vec(axes, by.w));
    }
    bo_touches_move_with_base(base, b, size, place);
}

/* H = H_base H_e0 exp(xi): by z the twist in its own axes is Jr(xi) Q_e, Jr the right Jacobian of SE(3). */
static void place_effector(const reduced *r, bo_touch_place *place) {
    const bough_mechanism_model *model = r->model;
    const bough_mechanism_state *state = r->state;
    const bo_se3 base = bo_pose(&state->base);
    const int32_t b = model->free_base ? 6 : 0, size = b + model->rank, e = place->def.index;
    place->pose = base;
    memset(place->motion, 0, 6 * (size_t)size * sizeof(double));
    if (e != BOUGH_TOUCH_BY_BASE) {
        const bough_pose pose = bough_mechanism_state_end_effector(model, state, e);
        const bo_twist xi = bo_load_twist(state->xi + 6 * (size_t)e);
        place->pose = bo_pose(&pose);
        bo_twist jacobian[6]; /* columns */
        for (int k = 0; k < 6; k++) {
            double unit[6] = {0};
            unit[k] = 1;
            jacobian[k] = bo_se3_right_jacobian(xi, bo_load_twist(unit));
        }
        for (int32_t z = 0; z < model->rank; z++) {
            bo_twist t = {{0, 0, 0}, {0, 0, 0}};
            for (int k = 0; k < 6; k++)
                t = bo_twist_mul_add(t, model->Q[(6 * (ptrdiff_t)e + k) * model->rank + z], jacobian[k]);
            bo_put_column(place->motion, size, b + z, bo_mat_vec(place->pose.R, t.v), bo_mat_vec(place->pose.R, t.w));
        }
    }
    bo_touches_move_with_base(base, b, size, place);
}

static void place(void *data, int32_t number, bough_contact_motion *motion) {
    reduced *r = data;
    bo_touch_place *at = &r->touches.places[number];
    if (at->def.kind == BOUGH_CONTACT_OF_LINK)
        place_link(r, at);
    else
        place_effector(r, at);
    bo_touches_tell(&r->touches, number, motion);
}

/* ---- the step ---- */

static bough_status begin(bough_context *ctx, void *data, double dt, bough_contact_rates *rates) {
    reduced *r = data;
    struct bo_mechanism_work *w = bo_mechanism_work_of(r->state);
    BO_TRY(bo_mechanism_predict(ctx, r->model, r->state, dt));
    memcpy(r->right, w->right, (size_t)w->size * sizeof(double));
    memcpy(r->momentum, w->momentum, sizeof r->momentum);
    r->touches.y = w->next;
    *rates = (bough_contact_rates){w->size, w->next, w->rate};
    return BOUGH_OK;
}

/* The matrix of the step. Directions that it does not allow have an answer of rounding only: 1e-18 of the largest. */
static bough_status answer(bough_context *ctx, void *data, int32_t row_count, const double *rows, double *answers,
                           double *least) {
    const bough_mechanism_model *model = ((const reduced *)data)->model;
    const struct bo_mechanism_work *m = bo_mechanism_work_of(((const reduced *)data)->state);
    double most = 0;
    (void)ctx;
    for (int32_t k = 0; k < m->size; k++)
        most =
            fmax(most, m->inverse[k * m->size + k] * (k < m->size - model->rank ? 1 : model->radius * model->radius));
    *least = 1e-18 * most;
    bo_apply_inverse(m->size, m->inverse, row_count, rows, answers);
    return BOUGH_OK;
}

static bough_status take(bough_context *ctx, void *data, double dt, const double *impulse, int32_t push_count,
                         const bough_contact_push *pushes, const double **again) {
    const reduced *r = data;
    struct bo_mechanism_work *w = bo_mechanism_work_of(r->state);
    (void)ctx, (void)push_count, (void)pushes, (void)again;
    memcpy(w->right, r->right, (size_t)w->size * sizeof(double));
    memcpy(w->momentum, r->momentum, sizeof r->momentum);
    bo_mechanism_kick(r->model, r->state, dt, impulse);
    return BOUGH_OK;
}

static bough_status check(bough_context *ctx, void *data, double dt) {
    const reduced *r = data;
    return bo_mechanism_advance(ctx, r->model, r->state, dt);
}

static void commit(void *data, double dt) {
    const reduced *r = data;
    bo_mechanism_publish(r->model, r->state, dt);
}

static const bough_contact_table table = {.begin = begin,
                                          .place = place,
                                          .rows = bo_touches_rows,
                                          .answer = answer,
                                          .take = take,
                                          .check = check,
                                          .commit = commit,
                                          .destroy = bo_touches_destroy};

bough_status bough_mechanism_actor_create(bough_context *ctx, const bough_mechanism_model *model,
                                          bough_mechanism_state *state, int32_t touch_count,
                                          const bough_touch_def *touches, bough_contact_actor *actor) {
    memset(actor, 0, sizeof *actor);
    if (!model || !state)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism needs its state, and a state its model");
    reduced *r = BO_NEW(ctx, reduced);
    const int32_t size = bo_mechanism_work_of(state)->size;
    const bo_touches_def def = {model->end_effector_count, model->link_count, size, size, touch_count, touches};
    BO_TRY(bo_touches_make(ctx, &def, &table, r, actor));
    r->model = model, r->state = state;
    r->right = r->touches.own;
    return BOUGH_OK;
}
