/* The full mechanism in a contact world. docs/theory/contact.md, "The full mechanism and blends". */
#include "contact/rows.h"
#include "contact/solve.h"
#include "mechanism/full.h"
#include "mechanism/touches.h"

#include "dense/cholesky.h"

#include <string.h>

enum { MOST_ROUNDS = 6 };
#define SETTLED 1e-7 /* of the impulses: a round that changes them less is the last */

typedef struct {
    bo_touches touches; /* first */
    bough_full_mechanism *full;
    int round;          /* of searches under impulses, in this step */
    double *y, *before; /* n */
    double *last;       /* n: impulses on the coordinates, of which the unknowns are */
    double *inverse;    /* n x n */
} touching;

/* ---- rates ---- */

/* Rates of a joint's coordinates by the twists of its links: sum_a column_a rate_a is the twist of the child against
 * the parent, which has no other part where the joint is closed. */
static void read_rates(const bough_full_mechanism *full, int32_t j, double *rates) {
    const bo_mechanism_joint *joint = &bo_full_work_of(full)->mechanism->joints[j];
    const bo_se3 child = bo_pose(&full->poses[joint->child]), parent = bo_pose(&full->poses[joint->parent]);
    const bo_twist by =
        bo_ad(bo_se3_mul(bo_se3_inverse(child), parent), bo_load_twist(full->twists + 6 * (size_t)joint->parent));
    bo_twist t = bo_twist_mul_add(bo_load_twist(full->twists + 6 * (size_t)joint->child), -1, by);
    bo_twist columns[BO_MOST_FREEDOMS];
    double A[36];
    const int n = joint->freedoms;
    t = bo_ad(bo_se3_inverse(joint->in_child), t);
    bo_joint_columns(joint->kind, full->coordinates + joint->offset, columns);
    for (int a = 0; a < n; a++) {
        rates[a] = bo_twist_dot(columns[a], t);
        for (int b = 0; b < n; b++)
            A[n * a + b] = bo_twist_dot(columns[a], columns[b]);
    }
    if (bo_cholesky_factor(n, A))
        bo_cholesky_solve(n, A, rates);
}

static void fill_before(touching *t) {
    const struct bo_full_work *w = bo_full_work_of(t->full);
    const bough_mechanism *m = w->mechanism;
    for (int32_t k = 0; k < w->base_size; k++)
        t->before[k] = t->full->twists[6 * (ptrdiff_t)m->def.base + k];
    for (int32_t j = 0; j < m->def.joint_count; j++)
        read_rates(t->full, j, t->before + w->base_size + m->joints[j].offset);
}

/* Rates by the unknowns; less what impulses did to them, as the matrix says: rates without contact. */
static void fill_rates(touching *t, double dt) {
    const struct bo_full_work *w = bo_full_work_of(t->full);
    for (int32_t k = 0; k < w->n; k++)
        t->y[k] = (k < w->base_size ? w->q[k] : w->q[k] - w->q_before[k]) / dt;
}
static void take_back(touching *t) {
    const size_t n = (size_t)bo_full_work_of(t->full)->n;
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
            t->y[r] -= t->inverse[r * n + c] * t->last[c];
}

/* ---- what the contact world sees ---- */

static int32_t link_of(const bough_mechanism *m, const bo_touch_place *place) {
    return place->def.kind == BOUGH_CONTACT_OF_LINK  ? place->def.index
           : place->def.index == BOUGH_TOUCH_BY_BASE ? m->def.base
                                                     : m->end_effectors[place->def.index].body;
}

/* By the joints on the way to the base, whose columns turn what is beyond them; by a free base's twist in its axes. */
static void place_link(const touching *t, bo_touch_place *place) {
    const struct bo_full_work *w = bo_full_work_of(t->full);
    const bough_mechanism *m = w->mechanism;
    const bool of_effector =
        place->def.kind == BOUGH_CONTACT_OF_END_EFFECTOR && place->def.index != BOUGH_TOUCH_BY_BASE;
    const int32_t link = link_of(m, place);
    const bo_se3 base = w->before[m->def.base];
    place->pose = w->before[link];
    if (of_effector)
        place->pose = bo_se3_mul(place->pose, bo_pose(&m->end_effectors[place->def.index].pose));
    memset(place->motion, 0, 6 * (size_t)w->n * sizeof(double));
    for (int32_t i = link; m->topology.up[i] >= 0; i = m->topology.up[i]) {
        const bo_mechanism_joint *joint = &m->joints[m->topology.way[i].joint];
        const bo_se3 frame = bo_joint_frame(joint, w->before[joint->child]);
        bo_twist columns[BO_MOST_FREEDOMS];
        bo_joint_columns(joint->kind, w->q_before + w->base_size + joint->offset, columns);
        for (int a = 0; a < joint->freedoms; a++) {
            const bo_vec3 spin = bo_scale(m->topology.way[i].sign, bo_mat_vec(frame.R, columns[a].w));
            const bo_vec3 v = bo_scale(m->topology.way[i].sign, bo_mat_vec(frame.R, columns[a].v));
            bo_put_column(place->motion, w->n, w->base_size + joint->offset + a,
                          bo_add(v, bo_cross(spin, bo_sub(place->pose.t, frame.t))), spin);
        }
    }
    bo_touches_move_with_base(base, w->base_size, w->n, place);
}

static void place(void *data, int32_t number, bough_contact_motion *motion) {
    touching *t = data;
    place_link(t, &t->touches.places[number]);
    bo_touches_tell(&t->touches, number, motion);
}

/* A direction that loops hold still has a small answer, 1e-9 of others: that of the term that keeps the equations of
 * loops regular. */
static bough_status answer(bough_context *ctx, void *data, int32_t row_count, const double *rows, double *answers,
                           double *least) {
    const touching *t = data;
    const struct bo_full_work *w = bo_full_work_of(t->full);
    const size_t n = (size_t)w->n;
    double most = 0;
    if (!bo_full_answer(t->full, t->inverse))
        return bo_fail(ctx, BOUGH_ERROR_SINGULAR,
                       "the full mechanism does not answer to what touches it: the matrix of its step is singular");
    for (size_t k = 0; k < n; k++) {
        const double length = w->mechanism->radius / w->unit[k]; /* of what turns; 1 of what slides */
        most = fmax(most, t->inverse[k * n + k] * length * length);
    }
    *least = w->mechanism->topology.loop_count > 0 ? 1e-8 * most : 1e-14 * most;
    bo_apply_inverse(w->n, t->inverse, row_count, rows, answers);
    return BOUGH_OK;
}

/* ---- the step ---- */

static bough_status begin(bough_context *ctx, void *data, double dt, bough_contact_rates *rates) {
    touching *t = data;
    BO_TRY(bo_full_begin(ctx, t->full, dt));
    BO_TRY(bo_full_search(ctx, t->full));
    fill_before(t);
    fill_rates(t, dt);
    memset(t->last, 0, (size_t)bo_full_work_of(t->full)->n * sizeof(double));
    t->round = 0, t->touches.y = t->y;
    *rates = (bough_contact_rates){bo_full_work_of(t->full)->n, t->y, t->before};
    return BOUGH_OK;
}

/* Pushes become spatial wrenches that stay for all of the step; and the coordinates go where the impulses lead to, from
 * where those before them did. Returns by how much impulses have changed. */
static double push(touching *t, double dt, const double *impulse, int32_t push_count,
                   const bough_contact_push *pushes) {
    struct bo_full_work *w = bo_full_work_of(t->full);
    const bough_mechanism *m = w->mechanism;
    const size_t n = (size_t)w->n;
    double changed = 0, most = 0;
    memset(w->pushes, 0, (size_t)m->def.link_count * sizeof *w->pushes);
    for (int32_t i = 0; i < push_count; i++) {
        const bo_vec3 f = bo_load3(pushes[i].force);
        const bo_twist wrench = {f, bo_cross(bo_sub(bo_load3(pushes[i].position), m->middle), f)};
        const int32_t link = link_of(m, &t->touches.places[pushes[i].place]);
        w->pushes[link] = bo_twist_mul_add(w->pushes[link], 1, wrench);
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
            w->q[r] += dt * t->inverse[r * n + c] * (impulse[c] - t->last[c]);
    for (size_t k = 0; k < n; k++) {
        const double unit = w->unit[k];
        changed = fmax(changed, fabs(impulse[k] - t->last[k]) * unit);
        most = fmax(most, fabs(impulse[k]) * unit);
        t->last[k] = impulse[k];
    }
    return most > 0 ? changed / most : 0;
}

/* The matrix by which impulses are found is symmetric, the mechanism's own not quite: bodies that rest would creep by
 * the difference, a part of the speed that they gain in a step of free fall. So impulses are found again from where
 * they led to, until they stay. */
static bough_status take(bough_context *ctx, void *data, double dt, const double *impulse, int32_t push_count,
                         const bough_contact_push *pushes, const double **again) {
    touching *t = data;
    const int32_t iterations = t->full->iterations;
    const double changed = push(t, dt, impulse, push_count, pushes);
    BO_TRY(bo_full_search(ctx, t->full));
    t->full->iterations += iterations;
    if (changed <= SETTLED || t->round++ == MOST_ROUNDS - 1)
        return BOUGH_OK;
    fill_rates(t, dt);
    take_back(t);
    *again = t->y;
    return BOUGH_OK;
}

static void commit(void *data, double dt) {
    const touching *t = data;
    bo_full_finish(t->full, dt);
}

static void cancel(void *data) {
    struct bo_full_work *w = bo_full_work_of(((const touching *)data)->full);
    memcpy(w->q, w->kept, (size_t)w->size * sizeof(double));
}

static const bough_contact_table table = {.begin = begin,
                                          .place = place,
                                          .rows = bo_touches_rows,
                                          .answer = answer,
                                          .take = take,
                                          .commit = commit,
                                          .cancel = cancel,
                                          .destroy = bo_touches_destroy};

bough_status bough_full_actor_create(bough_context *ctx, bough_full_mechanism *full, int32_t touch_count,
                                     const bough_touch_def *touches, bough_contact_actor *actor) {
    memset(actor, 0, sizeof *actor);
    const struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism_def *def = &w->mechanism->def;
    const int32_t n = w->n;
    touching *t = BO_NEW(ctx, touching);
    const bo_touches_def own = {def->end_effector_count, def->link_count, n, n * n + 3 * n, touch_count, touches};
    BO_TRY(bo_touches_make(ctx, &own, &table, t, actor));
    t->full = full;
    t->y = t->touches.own, t->before = t->y + n, t->last = t->before + n, t->inverse = t->last + n;
    return BOUGH_OK;
}
