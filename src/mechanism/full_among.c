/* A step of the full mechanism among obstacles and free bodies. docs/theory/contact.md, "The full mechanism and
 * blends". */
#include "mechanism/full.h"
#include "mechanism/surroundings.h"

#include "dense/cholesky.h"

#include <string.h>

enum { MOST_ROUNDS = 6 };
#define SETTLED 1e-7 /* of the impulses: a round that changes them less is the last */

typedef struct {
    bough_context *ctx;
    bough_full_mechanism *full;
    double *y, *before; /* n */
    double *last;       /* n: impulses on the coordinates, of which the unknowns are */
    double *inverse;    /* n x n */
} touching;

bough_status bough_full_surroundings_create(bough_context *ctx, const bough_full_mechanism *full,
                                            const bough_surroundings_def *def, bough_surroundings **surroundings) {
    const int32_t n = full->work->n;
    BO_TRY(bo_surroundings_make(ctx, full->work->mechanism->def.end_effector_count,
                                full->work->mechanism->def.link_count, n, def, surroundings));
    return bo_surroundings_reserve(ctx, surroundings, (size_t)n * (size_t)n + 3 * (size_t)n);
}

/* ---- rates ---- */

/* Rates of a joint's coordinates by the twists of its links: sum_a column_a rate_a is the twist of the child against
 * the parent, which has no other part where the joint is closed. */
static void read_rates(const bough_full_mechanism *full, int32_t j, double *rates) {
    const bo_mechanism_joint *joint = &full->work->mechanism->joints[j];
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
    const struct bo_full_work *w = t->full->work;
    const bough_mechanism *m = w->mechanism;
    for (int32_t k = 0; k < w->base_size; k++)
        t->before[k] = t->full->twists[6 * (ptrdiff_t)m->def.base + k];
    for (int32_t j = 0; j < m->def.joint_count; j++)
        read_rates(t->full, j, t->before + w->base_size + m->joints[j].offset);
}

/* Rates by the unknowns; less what impulses did to them, as the matrix says: rates without contact. */
static void fill_rates(touching *t, double dt) {
    const struct bo_full_work *w = t->full->work;
    for (int32_t k = 0; k < w->n; k++)
        t->y[k] = (k < w->base_size ? w->q[k] : w->q[k] - w->q_before[k]) / dt;
}
static void take_back(touching *t) {
    const size_t n = (size_t)t->full->work->n;
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
            t->y[r] -= t->inverse[r * n + c] * t->last[c];
}

/* ---- what the contact sees ---- */

static int32_t link_of(const bough_mechanism *m, const bo_place *place) {
    return place->kind == BOUGH_CONTACT_OF_LINK  ? place->index
           : place->index == BOUGH_TOUCH_BY_BASE ? m->def.base
                                                 : m->end_effectors[place->index].link;
}

/* By the joints on the way to the base, whose columns turn what is beyond them; by a free base's twist in its axes. */
static void place_effector(const void *data, bo_place *place) {
    const struct bo_full_work *w = ((const touching *)data)->full->work;
    const bough_mechanism *m = w->mechanism;
    const bool of_effector = place->kind == BOUGH_CONTACT_OF_END_EFFECTOR && place->index != BOUGH_TOUCH_BY_BASE;
    const int32_t link = link_of(m, place);
    const bo_se3 base = w->before[m->def.base];
    place->pose = w->before[link];
    if (of_effector)
        place->pose = bo_se3_mul(place->pose, bo_pose(&m->end_effectors[place->index].frame));
    memset(place->motion, 0, 6 * (size_t)w->n * sizeof(double));
    for (int32_t i = link; m->up[i] >= 0; i = m->up[i]) {
        const bo_mechanism_joint *joint = &m->joints[m->way[i].joint];
        const bo_se3 frame = bo_joint_frame(joint, w->before[joint->child]);
        bo_twist columns[BO_MOST_FREEDOMS];
        bo_joint_columns(joint->kind, w->q_before + w->base_size + joint->offset, columns);
        for (int a = 0; a < joint->freedoms; a++) {
            const bo_vec3 spin = bo_scale(m->way[i].sign, bo_mat_vec(frame.R, columns[a].w));
            const bo_vec3 v = bo_scale(m->way[i].sign, bo_mat_vec(frame.R, columns[a].v));
            bo_put_column(place->motion, w->n, w->base_size + joint->offset + a,
                          bo_add(v, bo_cross(spin, bo_sub(place->pose.t, frame.t))), spin);
        }
    }
    for (int k = 0; k < w->base_size; k++) {
        const bo_vec3 axis = bo_v3(base.R.m[k % 3], base.R.m[3 + k % 3], base.R.m[6 + k % 3]);
        const bo_vec3 r = bo_sub(place->pose.t, base.t);
        bo_put_column(place->motion, w->n, k, k < 3 ? axis : bo_cross(axis, r), k < 3 ? bo_v3(0, 0, 0) : axis);
    }
}

/* Where loops hold a direction, its answer is what keeps their equations regular: 1e-9 of others. */
static bough_status answer(void *data, const double **inverse, double *least) {
    touching *t = data;
    const struct bo_full_work *w = t->full->work;
    const size_t n = (size_t)w->n;
    double most = 0;
    if (!bo_full_answer(t->full, t->inverse))
        return bo_fail(t->ctx, BOUGH_ERROR_SINGULAR,
                       "the full mechanism does not answer to what touches it: the matrix of its step is singular");
    for (size_t k = 0; k < n; k++) {
        const double length = w->mechanism->radius / w->unit[k]; /* of what turns; 1 of what slides */
        most = fmax(most, t->inverse[k * n + k] * length * length);
    }
    *inverse = t->inverse, *least = w->mechanism->loop_count > 0 ? 1e-8 * most : 1e-14 * most;
    return BOUGH_OK;
}

/* ---- the step ---- */

/* Forces of the impulses, as spatial wrenches that stay for all of the step; and the coordinates that they lead to,
 * from where those before them did. Returns by how much impulses have changed. */
static double push(touching *t, const struct bo_surroundings_work *s, double dt) {
    struct bo_full_work *w = t->full->work;
    const bough_mechanism *m = w->mechanism;
    const size_t n = (size_t)w->n;
    double changed = 0, most = 0;
    memset(w->pushes, 0, (size_t)m->def.link_count * sizeof *w->pushes);
    for (size_t i = 0; i < s->meeting_count; i++) {
        const bo_vec3 f = bo_scale(1 / dt, bo_among_impulse(s, i));
        const bo_twist wrench = {f, bo_cross(bo_sub(s->meetings[i].position, m->middle), f)};
        for (int side = 0; side < 2; side++) {
            const bo_place *place = &s->places[s->things[side ? s->meetings[i].b : s->meetings[i].a].place];
            if (place->kind != BOUGH_CONTACT_OF_END_EFFECTOR && place->kind != BOUGH_CONTACT_OF_LINK)
                continue;
            const int32_t link = link_of(m, place);
            w->pushes[link] = bo_twist_mul_add(w->pushes[link], side ? -1 : 1, wrench);
        }
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
            w->q[r] += dt * t->inverse[r * n + c] * (s->impulse[c] - t->last[c]);
    for (size_t k = 0; k < n; k++) {
        const double unit = w->unit[k];
        changed = fmax(changed, fabs(s->impulse[k] - t->last[k]) * unit);
        most = fmax(most, fabs(s->impulse[k]) * unit);
        t->last[k] = s->impulse[k];
    }
    return most > 0 ? changed / most : 0;
}

/* The matrix by which impulses are found is symmetric, the mechanism's own not quite: bodies that rest would creep by
 * the difference, a part of the speed that they gain in a step of free fall. So impulses are found again from where
 * they led to, until they stay. */
static bough_status touch(touching *t, bough_surroundings *s, double dt) {
    bough_full_mechanism *full = t->full;
    memset(t->last, 0, (size_t)full->work->n * sizeof(double));
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const int32_t iterations = full->iterations;
        const double changed = push(t, s->work, dt);
        BO_TRY(bo_full_search(t->ctx, full));
        full->iterations += iterations;
        if (changed <= SETTLED || round == MOST_ROUNDS - 1)
            break;
        fill_rates(t, dt);
        take_back(t);
        BO_TRY(bo_among_solve_again(t->ctx, s, t->y, dt));
    }
    return BOUGH_OK;
}

static bough_status step(touching *t, bough_surroundings *s, double dt) {
    bough_full_mechanism *full = t->full;
    const bo_mover mover = {t, t->y, t->before, place_effector, answer};
    BO_TRY(bo_full_begin(t->ctx, full, dt));
    BO_TRY(bo_full_search(t->ctx, full));
    fill_before(t);
    fill_rates(t, dt);
    BO_TRY(bo_among_solve(t->ctx, s, &mover, dt));
    if (s->work->meeting_count > 0)
        BO_TRY(touch(t, s, dt));
    bo_full_finish(full, dt);
    bo_among_keep(s, dt);
    return BOUGH_OK;
}

bough_status bough_full_mechanism_step_among(bough_context *ctx, bough_full_mechanism *full, bough_surroundings *s,
                                             double dt) {
    struct bo_full_work *w = full->work;
    double *own = s->work->own;
    BO_TRY(bo_among_check(ctx, s, w->mechanism->def.end_effector_count, own ? w->n : -2, dt));
    const ptrdiff_t n = w->n;
    touching t = {ctx, full, own, own + n, own + 2 * n, own + 3 * n};
    const bough_status status = step(&t, s, dt);
    if (status != BOUGH_OK)
        memcpy(w->q, w->kept, (size_t)w->size * sizeof(double));
    return status;
}
