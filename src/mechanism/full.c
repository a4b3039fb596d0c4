/* The whole mechanism, not linearised: statics and backward Euler, as a system of the time room in residual form.
 * docs/theory/mechanism.md, "The full mechanism".
 *
 * Unknowns are the coordinates of all joints (after a twist u of the base when it is free, H_base = H_before exp(u))
 * and, as multipliers, a wrench f_k for each joint that closes a loop. With spatial columns s_ja of the joints and W_j
 * the sum of the wrenches on all links beyond joint j,
 *     balance of coordinate a of joint j:   K (theta - rest) + D theta' - sign_j s_ja . W_j = 0
 *     balance of the base:                  -Ad(H_base)^T W = 0
 *     loop k:                               log(X^-1 Y) = 0
 * where X and Y are the joint's frame as the parent and as the child see it; -f_k acts on the child, f_k on the parent.
 * Momenta of the links are those of the way that they have gone in the step. */
#include "mechanism/full.h"

#include "dense/lu.h"

#include <string.h>

#define LONGEST 0.5  /* rad, or parts of the radius: one iteration */
#define STIRRED 1e-6 /* rad, or parts of the radius: forces below what this much motion makes are none */
enum { MOST_ITERATIONS = 40, MOST_PIECES = 400 };

/* ---- balance ---- */

static bo_se3 base_pose(const struct bo_full_work *w, const double *q) {
    const bo_se3 before = w->before[w->mechanism->def.base];
    return w->base_size > 0 ? bo_se3_mul(before, bo_se3_exp(bo_load_twist(q))) : before;
}

static void place(struct bo_full_work *w, const double *q) {
    const bough_mechanism *m = w->mechanism;
    const size_t bytes = (size_t)w->n * sizeof *q;
    if (w->is_placed && memcmp(w->placed, q, bytes) == 0)
        return;
    memcpy(w->placed, q, bytes);
    w->is_placed = true;
    w->poses[m->def.base] = base_pose(w, q);
    for (int32_t k = 1; k < m->def.link_count; k++) {
        const int32_t i = m->topology.order[k];
        const bo_mechanism_joint *joint = &m->joints[m->topology.way[i].joint];
        const bo_se3 J = bo_se3_mul(joint->in_parent, bo_joint_pose(joint->kind, q + w->base_size + joint->offset));
        const bo_se3 child = bo_se3_mul(J, bo_se3_inverse(joint->in_child));
        w->poses[i] =
            bo_se3_mul(w->poses[m->topology.up[i]], m->topology.way[i].sign > 0 ? child : bo_se3_inverse(child));
    }
}

/* About the middle, where all spatial wrenches are. */
static bo_twist wrench_at(const bough_mechanism *m, bo_vec3 x, bo_vec3 force, bo_vec3 torque) {
    return (bo_twist){force, bo_add(torque, bo_cross(bo_sub(x, m->middle), force))};
}

/* m v and I w in the world's axes of a link that went from `from` to `to`. */
static bo_twist momentum_between(const bough_rigid_body_def *link, bo_se3 from, bo_se3 to, double dt) {
    const bo_vec3 c = bo_load3(link->centre);
    const bo_vec3 v = bo_scale(1 / dt, bo_sub(bo_se3_apply(to, c), bo_se3_apply(from, c)));
    const bo_vec3 spin = bo_scale(1 / dt, bo_log3(bo_mat_mul(to.R, bo_transpose(from.R))));
    bo_mat3 I;
    memcpy(I.m, link->inertia, sizeof I.m);
    return (bo_twist){bo_scale(link->mass, v), bo_mat_vec(to.R, bo_mat_vec(bo_sym(I), bo_mat_tvec(to.R, spin)))};
}

static void load_links(const bough_full_mechanism *full, const double *rates) {
    struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    for (int32_t i = 0; i < m->def.link_count; i++) {
        const bough_rigid_body_def *link = &m->links[i];
        const bo_twist change = bo_load_twist(rates + 6 * (size_t)i);
        const bo_vec3 force = bo_sub(bo_scale(link->mass, bo_load3(full->gravity)), change.v);
        const bo_twist own =
            wrench_at(m, bo_se3_apply(w->poses[i], bo_load3(link->centre)), force, bo_scale(-1, change.w));
        const bo_twist load = bo_load_twist(full->link_loads + 6 * (size_t)i);
        w->wrenches[i] = bo_twist_mul_add(own, 1, w->pushes[i]);
        w->wrenches[i] = bo_twist_mul_add(w->wrenches[i], 1, wrench_at(m, w->poses[i].t, load.v, load.w));
    }
    for (int32_t e = 0; e < m->def.end_effector_count; e++) {
        const bough_frame_def *effector = &m->end_effectors[e];
        const bo_vec3 x = bo_se3_apply(w->poses[effector->body], bo_load3(effector->pose.position));
        const bo_twist f =
            wrench_at(m, x, bo_load3(full->loads + 6 * (size_t)e), bo_load3(full->loads + 6 * (size_t)e + 3));
        w->wrenches[effector->body] = bo_twist_mul_add(w->wrenches[effector->body], 1, f);
    }
}

/* The sum of what the power is a sum of, without signs: rounding is measured against it where they cancel. */
static double size_of_power(bo_twist a, bo_twist b) {
    return fabs(a.v.x * b.v.x) + fabs(a.v.y * b.v.y) + fabs(a.v.z * b.v.z) + fabs(a.w.x * b.w.x) + fabs(a.w.y * b.w.y) +
           fabs(a.w.z * b.w.z);
}

/* Rows of the coordinates of a joint, for the wrench that it carries from child to parent. Returns the size of what
 * they balance. */
static double balance_joint(const bough_full_mechanism *full, int32_t j, bo_twist carried, const bo_instant *at,
                            double *R) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    const bo_mechanism_joint *joint = &m->joints[j];
    const int n = joint->freedoms;
    const int32_t offset = w->base_size + joint->offset;
    const double *theta = at->q + offset;
    const bo_se3 frame = bo_about_middle(m, bo_joint_frame(joint, w->poses[joint->child]));
    const bo_twist local = bo_ad_transposed(frame, carried);
    bo_twist columns[BO_MOST_FREEDOMS];
    double most = 0;
    bo_joint_columns(joint->kind, theta, columns);
    for (int a = 0; a < n; a++) {
        double spring = joint->damping[a] * at->v[offset + a];
        for (int b = 0; b < n; b++)
            spring += joint->stiffness[n * a + b] * (theta[b] - joint->at[b] - full->offsets[joint->offset + b]);
        double end;
        const double limit = bo_joint_limit(joint, a, theta[a], &end);
        if (limit > 0)
            spring += limit * (theta[a] - end);
        R[offset + a] = spring - bo_twist_dot(columns[a], local);
        most = fmax(most, (fabs(spring) + size_of_power(columns[a], local)) * w->unit[offset + a]);
    }
    return most;
}

double bo_full_balance(const bough_full_mechanism *full, const bo_instant *at, double *R, double *c) {
    struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    const bo_twist none = {{0, 0, 0}, {0, 0, 0}};
    double most = 0;
    place(w, at->q);
    load_links(full, at->a);
    for (int32_t k = 0; k < m->topology.loop_count; k++) {
        const bo_mechanism_joint *joint = &m->joints[m->topology.cuts[k]];
        const bo_se3 from = bo_se3_mul(w->poses[joint->parent], joint->in_parent);
        const bo_se3 X = bo_se3_mul(from, bo_joint_pose(joint->kind, at->q + w->base_size + joint->offset));
        const bo_se3 Y = bo_joint_frame(joint, w->poses[joint->child]);
        const bo_twist f = bo_ad_transposed(bo_se3_inverse(bo_about_middle(m, Y)), bo_load_twist(at->lambda + 6 * k));
        bo_store_twist(c + 6 * k, bo_se3_log(bo_se3_mul(bo_se3_inverse(X), Y)));
        w->wrenches[joint->child] = bo_twist_mul_add(w->wrenches[joint->child], -1, f);
        w->wrenches[joint->parent] = bo_twist_mul_add(w->wrenches[joint->parent], 1, f);
        most = fmax(most, balance_joint(full, m->topology.cuts[k], f, at, R));
    }
    for (int32_t k = m->def.link_count - 1; k > 0; k--) {
        const int32_t i = m->topology.order[k];
        const bo_twist beyond = w->wrenches[i];
        most = fmax(most, balance_joint(full, m->topology.way[i].joint,
                                        bo_twist_mul_add(none, m->topology.way[i].sign, beyond), at, R));
        w->wrenches[m->topology.up[i]] = bo_twist_mul_add(w->wrenches[m->topology.up[i]], 1, beyond);
    }
    if (w->base_size > 0) {
        const bo_twist all = bo_ad_transposed(bo_about_middle(m, w->poses[m->def.base]), w->wrenches[m->def.base]);
        bo_store_twist(R, bo_twist_mul_add(none, -1, all));
    }
    return most;
}

/* ---- the system ---- */

static bough_status residual(void *data, const bo_instant *at, double *R, double *c, double *magnitude) {
    const bough_full_mechanism *full = data;
    const struct bo_full_work *w = bo_full_work_of(full);
    *magnitude = fmax(bo_full_balance(full, at, R, c), STIRRED * w->hardest); /* at rest, without loads: no forces */
    for (int32_t k = 0; k < w->n && w->aim; k++)
        R[k] -= w->aim[k];
    for (int32_t k = w->n; k < w->size && w->aim; k++)
        c[k - w->n] -= w->aim[k];
    return BOUGH_OK;
}

static void momentum(void *data, double t, const double *q, const double *v, double *p) {
    struct bo_full_work *w = bo_full_work_of(data);
    (void)t, (void)v;
    place(w, q);
    for (int32_t i = 0; i < w->mechanism->def.link_count; i++)
        bo_store_twist(p + 6 * (size_t)i, momentum_between(&w->mechanism->links[i], w->before[i], w->poses[i], w->dt));
}

/* Unknowns and equations scaled to 1: those of coordinates by their own stiffness, those of loops by the largest. */
static void equilibrate(struct bo_full_work *w) {
    const size_t size = (size_t)w->size, n = (size_t)w->n;
    for (size_t k = 0; k < n; k++) {
        const double d = fabs(w->A[k * size + k]);
        w->scale[k] = d > 0 ? 1 / sqrt(d) : 1;
    }
    double most = 0;
    for (size_t k = n; k < size; k++)
        for (size_t c = 0; c < n; c++)
            most = fmax(most, fabs(w->A[k * size + c]) * w->scale[c] / w->unit[k]);
    for (size_t k = n; k < size; k++)
        w->scale[k] = 1 / (most > 0 ? most : 1) / w->unit[k];
    for (size_t r = 0; r < size; r++)
        for (size_t c = 0; c < size; c++)
            w->A[r * size + c] *= w->scale[r] * w->scale[c];
    for (size_t k = n; k < size; k++)
        w->A[k * size + k] -= BO_LOOP_HOLD;
}

static bough_status tangent(void *data, const bo_instant *at, double ca, double cv, double cq) {
    bough_full_mechanism *full = data;
    struct bo_full_work *w = bo_full_work_of(full);
    const size_t size = (size_t)w->size;
    const double rate = w->dt > 0 ? ca / w->dt : 0, damp = cv / cq;
    w->part = cq;
    bo_full_balance(full, at, w->step, w->step + w->n);
    w->by_tree = w->tree && bo_full_factor_make(full, w->tree, at, rate, damp, &w->hardest);
    if (w->by_tree)
        return BOUGH_OK;
    bo_full_differentiate(full, at, rate, damp, w->A);
    for (size_t k = (size_t)w->base_size; k < (size_t)w->n; k++)
        w->hardest = fmax(w->hardest, fabs(w->A[k * size + k]) * w->unit[k] * w->unit[k]);
    equilibrate(w);
    return bo_lu_factor(w->size, w->A, w->pivots) ? BOUGH_OK : BOUGH_ERROR_SINGULAR;
}

/* both (size): motion and wrenches of loops by what they are to balance, in place */
static void solve_both(const bough_full_mechanism *full, double *both) {
    const struct bo_full_work *w = bo_full_work_of(full);
    if (w->by_tree) {
        bo_full_factor_solve(full, w->tree, both, both);
        return;
    }
    for (int32_t k = 0; k < w->size; k++)
        both[k] *= w->scale[k];
    bo_lu_solve(w->size, w->A, w->pivots, both);
    for (int32_t k = 0; k < w->size; k++)
        both[k] *= w->scale[k];
}

/* The unknown is the rate, the matrix is that of the motion: x = motion / part. */
static bough_status solve_tangent(void *data, const double *b, const double *d, double *x, double *y) {
    const bough_full_mechanism *full = data;
    const struct bo_full_work *w = bo_full_work_of(full);
    memcpy(w->both, b, (size_t)w->n * sizeof *b);
    for (int32_t k = w->n; k < w->size; k++)
        w->both[k] = d[k - w->n] * w->part;
    solve_both(full, w->both);
    for (int32_t k = 0; k < w->n; k++)
        x[k] = w->both[k] / w->part;
    if (w->size > w->n)
        memcpy(y, w->both + w->n, (size_t)(w->size - w->n) * sizeof *y);
    return BOUGH_OK;
}

static double step_bound(void *data, double t, const double *q, const double *dq) {
    const struct bo_full_work *w = bo_full_work_of(data);
    double limit = 1;
    (void)t, (void)q;
    for (int32_t k = 0; k < w->n; k++)
        if (fabs(dq[k]) > LONGEST * w->unit[k])
            limit = fmin(limit, LONGEST * w->unit[k] / fabs(dq[k]));
    return limit;
}

/* ---- the search ---- */

/* A stage of backward Euler, or statics, from where q is, with the residual at `aim`. */
static bough_status newton(bough_full_mechanism *full, const double *aim) {
    struct bo_full_work *w = bo_full_work_of(full);
    const bool moves = w->dt > 0;
    bo_residual_problem P = {.t = full->time + w->dt,
                             .ca = moves ? 1 / w->dt : 0,
                             .cv = moves ? 1 : 0,
                             .cq = moves ? w->dt : 1,
                             .q_base = w->q_before,
                             .p_base = (const double *)w->momenta,
                             .factored = w->factored};
    for (int32_t k = 0; k < w->n; k++)
        w->z[k] = (w->q[k] - w->q_before[k]) / P.cq;
    w->aim = aim;
    const bough_status status = bo_solve_residual(w->method, &P, w->z, w->q + w->n, w->q, w->v, w->rates);
    w->aim = NULL;
    w->factored = P.factored;
    full->residual = P.force_left, full->gap = P.gap, full->iterations = w->method->iterations;
    return status;
}

/* When Newton's method fails from afar, takes the residual of the start away in pieces. */
static bough_status search(bough_full_mechanism *full) {
    struct bo_full_work *w = bo_full_work_of(full);
    const size_t size = (size_t)w->size, bytes = size * sizeof(double);
    memcpy(w->good, w->q, bytes);
    w->method->iterations = 0, w->hardest = 0;
    bough_status status = newton(full, NULL);
    if (status == BOUGH_OK || status == BOUGH_CANCELLED)
        return status;
    memcpy(w->q, w->good, bytes);
    w->factored = false;
    memset(w->v, 0, (size_t)w->n * sizeof(double));
    memset(w->rates, 0, 6 * (size_t)w->mechanism->def.link_count * sizeof(double));
    if (w->dt > 0) {
        momentum(full, 0, w->q, w->v, w->rates);
        for (int32_t i = 0; i < 6 * w->mechanism->def.link_count; i++)
            w->rates[i] = (w->rates[i] - ((const double *)w->momenta)[i]) / w->dt;
        for (int32_t k = 0; k < w->n; k++)
            w->v[k] = (w->q[k] - w->q_before[k]) / w->dt;
    }
    const bo_instant at = {full->time, w->q, NULL, w->v, w->rates, w->q + w->n};
    bo_full_balance(full, &at, w->start, w->start + w->n);
    double reached = 0, piece = 0.25;
    for (int i = 0; i < MOST_PIECES && piece > 1e-4 && status != BOUGH_CANCELLED; i++) {
        const double next = fmin(1, reached + piece);
        for (size_t k = 0; k < size; k++)
            w->goal[k] = (1 - next) * w->start[k];
        status = newton(full, next < 1 ? w->goal : NULL);
        if (status == BOUGH_OK) {
            if (next == 1)
                return BOUGH_OK;
            reached = next, piece *= 1.5;
            memcpy(w->good, w->q, bytes);
        } else {
            piece *= 0.4;
            w->factored = false;
            memcpy(w->q, w->good, bytes);
        }
    }
    return status == BOUGH_OK ? BOUGH_NO_CONVERGENCE : status;
}

/* ---- settle and step ---- */

static void read_unknowns(const bough_full_mechanism *full) {
    struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    memset(w->q, 0, (size_t)w->base_size * sizeof(double));
    memcpy(w->q + w->base_size, full->coordinates, (size_t)m->coordinate_count * sizeof(double));
    memcpy(w->q_before, w->q, (size_t)w->n * sizeof(double));
    for (int32_t i = 0; i < m->def.link_count; i++)
        w->before[i] = bo_pose(&full->poses[i]);
    w->is_placed = false; /* the base is placed from where it was */
}

static void write_unknowns(bough_full_mechanism *full) {
    struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    place(w, w->q);
    memcpy(full->coordinates, w->q + w->base_size, (size_t)m->coordinate_count * sizeof(double));
    for (int32_t i = 0; i < m->def.link_count; i++) {
        bo_se3 H = w->poses[i];
        H.R = bo_quat_to_matrix(bo_quat_from_matrix(H.R));
        full->poses[i] = bo_put_pose(H);
    }
}

double *bo_full_loop_wrenches(const bough_full_mechanism *full) {
    return bo_full_work_of(full)->q + bo_full_work_of(full)->n;
}

/* The unknowns of now; the wrenches of loops are those of the last search. */
static void start(bough_full_mechanism *full, double dt) {
    struct bo_full_work *w = bo_full_work_of(full);
    read_unknowns(full);
    memcpy(w->kept, w->q, (size_t)w->size * sizeof(double));
    memset(w->pushes, 0, (size_t)w->mechanism->def.link_count * sizeof *w->pushes);
    w->dt = dt;
    w->factored = false; /* what a step comes to must not depend on the step before */
}

bough_status bo_full_search(bough_context *ctx, bough_full_mechanism *full) {
    struct bo_full_work *w = bo_full_work_of(full);
    w->method->ctx = ctx; /* of this call */
    w->system.what = w->dt > 0 ? "step of the full mechanism" : "equilibrium of the full mechanism";
    const bough_status status = search(full);
    if (status == BOUGH_OK)
        return BOUGH_OK;
    memcpy(w->q, w->kept, (size_t)w->size * sizeof(double));
    if (status == BOUGH_CANCELLED)
        return status;
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "no %s of the full mechanism was found; smaller %s may help",
                   w->dt > 0 ? "step" : "equilibrium", w->dt > 0 ? "steps" : "changes of the loads");
}

/* The balance r of a step changes by A dq, and by -p / h of impulses p on the coordinates; dq / h is what they are
 * faster: A^-1 p / h^2. Symmetric but for what turning leaves of it. */
bool bo_full_answer(bough_full_mechanism *full, double *inverse) {
    struct bo_full_work *w = bo_full_work_of(full);
    const size_t n = (size_t)w->n;
    if (!w->factored) {
        const bo_instant at = {full->time + w->dt, w->q, NULL, w->v, w->rates, w->q + w->n};
        w->factored = tangent(full, &at, 1 / w->dt, 1, w->dt) == BOUGH_OK;
        if (!w->factored)
            return false;
    }
    for (size_t c = 0; c < n; c++) {
        memset(w->both, 0, (size_t)w->size * sizeof(double));
        w->both[c] = 1 / (w->dt * w->dt);
        solve_both(full, w->both);
        for (size_t r = 0; r < n; r++)
            inverse[r * n + c] = w->both[r];
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < r; c++)
            inverse[r * n + c] = inverse[c * n + r] = 0.5 * (inverse[r * n + c] + inverse[c * n + r]);
    return bo_all_finite((int32_t)(n * n), inverse);
}

static bool good_inputs(const bough_full_mechanism *full) {
    const bough_mechanism *m = bo_full_work_of(full)->mechanism;
    double sum = full->gravity[0] + full->gravity[1] + full->gravity[2];
    for (int32_t k = 0; k < 6 * m->def.end_effector_count; k++)
        sum += full->loads[k];
    for (int32_t k = 0; k < m->coordinate_count; k++)
        sum += full->offsets[k] + full->coordinates[k];
    for (int32_t k = 0; k < 6 * m->def.link_count; k++)
        sum += full->twists[k] + full->link_loads[k];
    return isfinite(sum);
}

bough_status bough_full_mechanism_settle(bough_context *ctx, bough_full_mechanism *full) {
    const bough_mechanism *m = bo_full_work_of(full)->mechanism;
    if (m->def.free_base)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism with a free base has no equilibrium");
    if (!good_inputs(full))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "loads, gravity, offsets and coordinates must be finite");
    start(full, 0);
    memset(bo_full_work_of(full)->momenta, 0, (size_t)m->def.link_count * sizeof *bo_full_work_of(full)->momenta);
    BO_TRY(bo_full_search(ctx, full));
    write_unknowns(full);
    memset(full->twists, 0, 6 * (size_t)m->def.link_count * sizeof(double));
    return BOUGH_OK;
}

bough_status bo_full_begin(bough_context *ctx, bough_full_mechanism *full, double dt) {
    struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    if (!(dt > 0 && isfinite(dt)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the step of a mechanism is %g s; it must be above 0", dt);
    if (!good_inputs(full))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "loads, gravity, offsets, coordinates and twists must be finite");
    for (int32_t i = 0; i < m->def.link_count; i++) {
        const bo_twist t = bo_load_twist(full->twists + 6 * (size_t)i);
        const bo_mat3 R = bo_pose(&full->poses[i]).R;
        const bo_vec3 v = bo_mat_vec(R, bo_add(t.v, bo_cross(t.w, bo_load3(m->links[i].centre))));
        bo_mat3 I;
        memcpy(I.m, m->links[i].inertia, sizeof I.m);
        w->momenta[i] = (bo_twist){bo_scale(m->links[i].mass, v), bo_mat_vec(R, bo_mat_vec(bo_sym(I), t.w))};
    }
    start(full, dt);
    return BOUGH_OK;
}

void bo_full_finish(bough_full_mechanism *full, double dt) {
    struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    write_unknowns(full);
    for (int32_t i = 0; i < m->def.link_count; i++) {
        const bo_se3 from = w->before[i], to = bo_pose(&full->poses[i]);
        const bo_vec3 c = bo_load3(m->links[i].centre);
        const bo_vec3 spin = bo_scale(1 / dt, bo_mat_tvec(to.R, bo_log3(bo_mat_mul(to.R, bo_transpose(from.R)))));
        const bo_vec3 v = bo_scale(1 / dt, bo_mat_tvec(to.R, bo_sub(bo_se3_apply(to, c), bo_se3_apply(from, c))));
        bo_store_twist(full->twists + 6 * (size_t)i, (bo_twist){bo_sub(v, bo_cross(spin, c)), spin});
    }
    memset(full->loads, 0, 6 * (size_t)m->def.end_effector_count * sizeof(double));
    memset(full->link_loads, 0, 6 * (size_t)m->def.link_count * sizeof(double));
    full->time += dt;
}

bough_status bough_full_mechanism_step(bough_context *ctx, bough_full_mechanism *full, double dt) {
    BO_TRY(bo_full_begin(ctx, full, dt));
    BO_TRY(bo_full_search(ctx, full));
    bo_full_finish(full, dt);
    return BOUGH_OK;
}

/* ---- making ---- */

void bough_full_mechanism_destroy(bough_context *ctx, bough_full_mechanism *full) {
    if (!full)
        return;
    struct bo_full_work *w = bo_full_work_of(full);
    bo_integrator_destroy(ctx, w->method);
    bo_full_factor_destroy(ctx, w->tree);
    bo_free(ctx, w->memory);
    bo_free(ctx, w->poses);
    bo_free(ctx, w->before);
    bo_free(ctx, w->wrenches);
    bo_free(ctx, w->momenta);
    bo_free(ctx, w->pushes);
    bo_free(ctx, w->columns);
    bo_free(ctx, w->pivots);
    bo_free(ctx, full->coordinates);
    bo_free(ctx, full->poses);
    bo_free(ctx, full->twists);
    bo_free(ctx, full->loads);
    bo_free(ctx, full->link_loads);
    bo_free(ctx, full->offsets);
    bo_free(ctx, full);
}

/* Units of all unknowns: radians, or the radius. */
static void fill_units(struct bo_full_work *w) {
    const bough_mechanism *m = w->mechanism;
    for (int32_t k = 0; k < w->size; k++)
        w->unit[k] = (k < w->base_size ? k < 3 : k >= w->n && (k - w->n) % 6 < 3) ? m->radius : 1;
    for (int32_t j = 0; j < m->def.joint_count; j++)
        for (int a = 0; a < m->joints[j].freedoms; a++)
            if (bo_joint_slides(m->joints[j].kind, a))
                w->unit[w->base_size + m->joints[j].offset + a] = m->radius;
}

static bough_status make_system(bough_context *ctx, bough_full_mechanism *full) {
    struct bo_full_work *w = bo_full_work_of(full);
    w->system = (bo_system){.data = full,
                            .size = w->n,
                            .position_size = w->n,
                            .momentum_size = 6 * w->mechanism->def.link_count,
                            .constraint_count = 6 * w->mechanism->topology.loop_count,
                            .units = w->unit,
                            .constraint_units = w->unit + w->n,
                            .residual = residual,
                            .momentum = momentum,
                            .tangent = tangent,
                            .solve_tangent = solve_tangent,
                            .step_bound = step_bound};
    bough_integrator_def def = bough_default_integrator_def();
    def.name = "backward-euler", def.tolerance = 1e-12, def.max_iterations = MOST_ITERATIONS;
    return bo_integrator_create(ctx, &w->system, &def, &w->method);
}

static bool make_work(bough_context *ctx, const bough_mechanism *m, struct bo_full_work *w) {
    w->mechanism = m;
    w->base_size = m->def.free_base ? 6 : 0;
    w->n = w->base_size + m->coordinate_count;
    w->size = w->n + 6 * m->topology.loop_count;
    const size_t size = (size_t)w->size, links = (size_t)m->def.link_count;
    double *x = w->memory = BO_NEW_ZEROS(ctx, double, size *size + 13 * size + 42 * links);
    w->poses = BO_NEW_ZEROS(ctx, bo_se3, links);
    w->before = BO_NEW_ZEROS(ctx, bo_se3, links);
    w->wrenches = BO_NEW_ZEROS(ctx, bo_twist, links);
    w->momenta = BO_NEW_ZEROS(ctx, bo_twist, links);
    w->pushes = BO_NEW_ZEROS(ctx, bo_twist, links);
    w->columns = BO_NEW_ZEROS(ctx, bo_twist, size);
    w->pivots = BO_NEW_ARRAY(ctx, int32_t, size);
    if (!x || !w->poses || !w->before || !w->wrenches || !w->momenta || !w->pushes || !w->columns || !w->pivots)
        return false;
    double **const arrays[] = {&w->q,      &w->q_before, &w->unit, &w->kept, &w->good, &w->start, &w->goal,
                               &w->placed, &w->scale,    &w->step, &w->z,    &w->v,    &w->both};
    w->A = x, x += size * size;
    w->stiffness = x, x += 36 * links;
    w->rates = x, x += 6 * links;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++, x += size)
        *arrays[k] = x;
    fill_units(w);
    return true;
}

bough_status bough_full_mechanism_create(bough_context *ctx, const bough_mechanism *mechanism,
                                         bough_full_mechanism **full) {
    *full = NULL;
    const bough_mechanism_def *def = &mechanism->def;
    if (mechanism->coordinate_count + 6 * mechanism->topology.loop_count > 8000)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the full mechanism has %d coordinates and %d loops; 8000 unknowns are supported",
                       mechanism->coordinate_count, mechanism->topology.loop_count);
    bo_full_mechanism *made = BO_NEW(ctx, bo_full_mechanism);
    if (!made)
        return bo_fail_memory(ctx);
    bough_full_mechanism *f = &made->seen;
    f->coordinates = BO_NEW_ZEROS(ctx, double, mechanism->coordinate_count);
    f->offsets = BO_NEW_ZEROS(ctx, double, mechanism->coordinate_count);
    f->poses = BO_NEW_ARRAY(ctx, bough_pose, def->link_count);
    f->twists = BO_NEW_ZEROS(ctx, double, 6 * (size_t)def->link_count);
    f->loads = BO_NEW_ZEROS(ctx, double, 6 * (size_t)def->end_effector_count);
    f->link_loads = BO_NEW_ZEROS(ctx, double, 6 * (size_t)def->link_count);
    if (!f->coordinates || !f->offsets || !f->poses || !f->twists || !f->loads || !f->link_loads ||
        !make_work(ctx, mechanism, &made->work)) {
        bough_full_mechanism_destroy(ctx, f);
        return bo_fail_memory(ctx);
    }
    bough_status status = bo_full_factor_create(ctx, mechanism, made->work.base_size, &made->work.tree);
    if (status == BOUGH_OK)
        status = make_system(ctx, f);
    if (status != BOUGH_OK) {
        bough_full_mechanism_destroy(ctx, f);
        return status;
    }
    for (int32_t j = 0; j < def->joint_count; j++)
        for (int k = 0; k < mechanism->joints[j].freedoms; k++) {
            const bo_mechanism_joint *joint = &mechanism->joints[j];
            f->coordinates[joint->offset + k] = joint->at[k];
            f->offsets[joint->offset + k] = joint->rest[k] - joint->at[k];
        }
    for (int32_t i = 0; i < def->link_count; i++)
        f->poses[i] = mechanism->links[i].pose;
    *full = f;
    return BOUGH_OK;
}
