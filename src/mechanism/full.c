/* The whole mechanism, not linearised: statics and backward Euler. docs/theory/mechanism.md, "The full mechanism".
 *
 * Unknowns are the coordinates of all joints (after a twist u of the base when it is free, H_base = H_before exp(u))
 * and a wrench f_k for each joint that closes a loop. With spatial columns s_ja of the joints and W_j the sum of the
 * wrenches on all links beyond joint j, balance of coordinate a of joint j:   K (theta - rest) + D (theta - before) / h
 * - sign_j s_ja . W_j = 0 balance of the base:                  -Ad(H_base)^T W = 0 loop k: log(X^-1 Y) = 0 where X and
 * Y are the joint's frame as the parent and as the child see it; -f_k acts on the child, f_k on the parent. Newton's
 * matrix is taken by differences: what geometry and inertia add to it needs no formulas of its own. */
#include "mechanism/full.h"

#include "dense/lu.h"

#include <string.h>

#define DIFFERENCE 1e-7 /* rad, or parts of the radius */
#define TOLERANCE 1e-11 /* of what is left of forces, and of gaps in radii */
#define ROUNDED 1e-8    /* the same where no iteration finds better any more */
#define HOLD 1e-9    /* of the equations of loops, scaled to 1: keeps redundant ones regular, and vanishes in the end */
#define LONGEST 0.5  /* rad, or parts of the radius: one iteration */
#define STIRRED 1e-6 /* rad, or parts of the radius: forces below what this much motion makes are none */
#define FAST 0.1     /* of what is left: an iteration that leaves less serves with an older matrix too */
enum { MOST_ITERATIONS = 40, MOST_PIECES = 400 };

/* ---- balance ---- */

static bo_se3 base_pose(const struct bo_full_work *w, const double *q) {
    const bo_se3 before = w->before[w->mechanism->def.base];
    return w->base_size > 0 ? bo_se3_mul(before, bo_se3_exp(bo_load_twist(q))) : before;
}

static void place(struct bo_full_work *w, const double *q) {
    const bough_mechanism *m = w->mechanism;
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

static void load_links(const bough_full_mechanism *full) {
    struct bo_full_work *w = full->work;
    const bough_mechanism *m = w->mechanism;
    for (int32_t i = 0; i < m->def.link_count; i++) {
        const bough_rigid_body_def *link = &m->links[i];
        bo_vec3 force = bo_scale(link->mass, bo_load3(full->gravity)), torque = {0, 0, 0};
        if (w->dt > 0) {
            const bo_twist now = momentum_between(link, w->before[i], w->poses[i], w->dt);
            const bo_twist change = bo_twist_mul_add(now, -1, w->momenta[i]);
            force = bo_mul_add(force, -1 / w->dt, change.v);
            torque = bo_scale(-1 / w->dt, change.w);
        }
        const bo_twist own = wrench_at(m, bo_se3_apply(w->poses[i], bo_load3(link->centre)), force, torque);
        w->wrenches[i] = bo_twist_mul_add(own, 1, w->pushes[i]);
    }
    if (w->base_size > 0) {
        const bo_vec3 x = w->poses[m->def.base].t;
        const bo_twist f = wrench_at(m, x, bo_load3(full->base_load), bo_load3(full->base_load + 3));
        w->wrenches[m->def.base] = bo_twist_mul_add(w->wrenches[m->def.base], 1, f);
    }
    for (int32_t e = 0; e < m->def.end_effector_count; e++) {
        const bough_frame_def *effector = &m->end_effectors[e];
        const bo_vec3 x = bo_se3_apply(w->poses[effector->body], bo_load3(effector->pose.position));
        const bo_twist f =
            wrench_at(m, x, bo_load3(full->loads + 6 * (size_t)e), bo_load3(full->loads + 6 * (size_t)e + 3));
        w->wrenches[effector->body] = bo_twist_mul_add(w->wrenches[effector->body], 1, f);
    }
}

static bo_se3 about_middle(const bough_mechanism *m, bo_se3 g) {
    g.t = bo_sub(g.t, m->middle);
    return g;
}

/* Of the products whose sum is the power: what rounding is measured against where they cancel. */
static double size_of_power(bo_twist a, bo_twist b) {
    return fabs(a.v.x * b.v.x) + fabs(a.v.y * b.v.y) + fabs(a.v.z * b.v.z) + fabs(a.w.x * b.w.x) + fabs(a.w.y * b.w.y) +
           fabs(a.w.z * b.w.z);
}

/* Of the coordinates of a joint, for the wrench that it carries from child to parent. */
static void balance_joint(const bough_full_mechanism *full, int32_t j, bo_twist carried, const double *q, double *out) {
    struct bo_full_work *w = full->work;
    const bough_mechanism *m = w->mechanism;
    const bo_mechanism_joint *joint = &m->joints[j];
    const int n = joint->freedoms;
    const int32_t offset = w->base_size + joint->offset;
    const double *theta = q + offset;
    const bo_se3 frame = about_middle(m, bo_joint_frame(joint, w->poses[joint->child]));
    const bo_twist local = bo_ad_transposed(frame, carried);
    bo_twist columns[BO_MOST_FREEDOMS];
    bo_joint_columns(joint->kind, theta, columns);
    for (int a = 0; a < n; a++) {
        double spring = 0;
        for (int b = 0; b < n; b++)
            spring += joint->stiffness[n * a + b] * (theta[b] - joint->at[b] - full->offsets[joint->offset + b]);
        double end;
        const double limit = bo_joint_limit(joint, a, theta[a], &end);
        if (limit > 0)
            spring += limit * (theta[a] - end);
        if (w->dt > 0)
            spring += joint->damping[a] * (theta[a] - w->q_before[offset + a]) / w->dt;
        const double load = bo_twist_dot(columns[a], local);
        out[offset + a] = spring - load;
        w->forces[joint->offset + a] = fabs(spring) + size_of_power(columns[a], local);
    }
}

/* residual (size) at the unknowns q */
static void balance(const bough_full_mechanism *full, const double *q, double *out) {
    struct bo_full_work *w = full->work;
    const bough_mechanism *m = w->mechanism;
    place(w, q);
    load_links(full);
    for (int32_t k = 0; k < m->topology.loop_count; k++) {
        const bo_mechanism_joint *joint = &m->joints[m->topology.cuts[k]];
        const bo_se3 from = bo_se3_mul(w->poses[joint->parent], joint->in_parent);
        const bo_se3 X = bo_se3_mul(from, bo_joint_pose(joint->kind, q + w->base_size + joint->offset));
        const bo_se3 Y = bo_joint_frame(joint, w->poses[joint->child]);
        const bo_twist f = bo_ad_transposed(bo_se3_inverse(about_middle(m, Y)), bo_load_twist(q + w->n + 6 * k));
        bo_store_twist(out + w->n + 6 * k, bo_se3_log(bo_se3_mul(bo_se3_inverse(X), Y)));
        w->wrenches[joint->child] = bo_twist_mul_add(w->wrenches[joint->child], -1, f);
        w->wrenches[joint->parent] = bo_twist_mul_add(w->wrenches[joint->parent], 1, f);
        balance_joint(full, m->topology.cuts[k], f, q, out);
    }
    for (int32_t k = m->def.link_count - 1; k > 0; k--) {
        const int32_t i = m->topology.order[k];
        const bo_twist beyond = w->wrenches[i], none = {{0, 0, 0}, {0, 0, 0}};
        balance_joint(full, m->topology.way[i].joint, bo_twist_mul_add(none, m->topology.way[i].sign, beyond), q, out);
        w->wrenches[m->topology.up[i]] = bo_twist_mul_add(w->wrenches[m->topology.up[i]], 1, beyond);
    }
    if (w->base_size > 0) {
        const bo_twist all = bo_ad_transposed(about_middle(m, w->poses[m->def.base]), w->wrenches[m->def.base]);
        const bo_twist none = {{0, 0, 0}, {0, 0, 0}};
        bo_store_twist(out, bo_twist_mul_add(none, -1, all));
    }
}

/* ---- Newton ---- */

/* What a coordinate is measured in: radians, or the radius. */
double bo_full_unit(const struct bo_full_work *w, int32_t k) {
    const bough_mechanism *m = w->mechanism;
    if (k < w->base_size)
        return k < 3 ? m->radius : 1;
    if (k >= w->n)
        return (k - w->n) % 6 < 3 ? m->radius : 1;
    int32_t low = 0, high = m->def.joint_count; /* the joint of the coordinate */
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (m->joints[middle].offset <= k - w->base_size)
            low = middle;
        else
            high = middle;
    }
    const bo_mechanism_joint *joint = &m->joints[low];
    return bo_joint_slides(joint->kind, k - w->base_size - joint->offset) ? m->radius : 1;
}

/* By differences; the wrenches of loops enter linearly, so that theirs are exact. */
static void differentiate(const bough_full_mechanism *full) {
    struct bo_full_work *w = full->work;
    const size_t size = (size_t)w->size;
    for (int32_t c = 0; c < w->size; c++) {
        const double h = c >= w->n ? 1 : DIFFERENCE * bo_full_unit(w, c), kept = w->q[c];
        w->q[c] = kept + h;
        balance(full, w->q, w->other);
        w->q[c] = kept - h;
        balance(full, w->q, w->first);
        w->q[c] = kept;
        for (size_t r = 0; r < size; r++)
            w->A[r * size + (size_t)c] = (w->other[r] - w->first[r]) / (2 * h);
    }
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
            most = fmax(most, fabs(w->A[k * size + c]) * w->scale[c] / bo_full_unit(w, (int32_t)k));
    for (size_t k = n; k < size; k++)
        w->scale[k] = 1 / (most > 0 ? most : 1) / bo_full_unit(w, (int32_t)k);
    for (size_t r = 0; r < size; r++)
        for (size_t c = 0; c < size; c++)
            w->A[r * size + c] *= w->scale[r] * w->scale[c];
    for (size_t k = n; k < size; k++)
        w->A[k * size + k] -= HOLD;
}

static double length_of(const struct bo_full_work *w, const double *residual) {
    double sum = 0;
    for (int32_t k = 0; k < w->size; k++)
        sum += residual[k] * residual[k] * w->scale[k] * w->scale[k];
    return sqrt(sum);
}

/* What is left of forces against their size, and gaps in radii. */
static void judge(bough_full_mechanism *full) {
    struct bo_full_work *w = full->work;
    double left = 0, size = 0, gap = 0;
    for (int32_t k = w->base_size; k < w->n; k++) {
        left = fmax(left, fabs(w->residual[k]) * bo_full_unit(w, k));
        size = fmax(size, w->forces[k - w->base_size] * bo_full_unit(w, k));
    }
    for (int32_t k = 0; k < w->base_size; k++)
        left = fmax(left, fabs(w->residual[k]) * (k < 3 ? w->mechanism->radius : 1));
    for (int32_t k = w->n; k < w->size; k++)
        gap = fmax(gap, fabs(w->residual[k]) / bo_full_unit(w, k));
    w->most = fmax(w->most, size); /* loads that loops carry alone leave nothing on the coordinates in the end */
    const double against = fmax(w->most, STIRRED * w->hardest); /* at rest and without loads there are none */
    full->residual = against > 0 ? left / against : left;
    full->gap = gap;
}

/* Searches that take long are told of. */
static bool goes_on(bough_context *ctx, bough_full_mechanism *full) {
    struct bo_full_work *w = full->work;
    w->cancelled = full->iterations > 3 &&
                   !bo_progress(ctx, w->dt > 0 ? "step of the full mechanism" : "equilibrium of the full mechanism", -1,
                                "iteration %d, residual %.2e", full->iterations, full->residual);
    return !w->cancelled;
}

static bool factor(bough_full_mechanism *full) {
    struct bo_full_work *w = full->work;
    const size_t size = (size_t)w->size;
    differentiate(full);
    for (size_t k = (size_t)w->base_size; k < (size_t)w->n; k++)
        w->hardest = fmax(w->hardest, fabs(w->A[k * size + k]) * pow(bo_full_unit(w, (int32_t)k), 2));
    equilibrate(w);
    return w->factored = bo_lu_factor(w->size, w->A, w->pivots);
}

/* Solves balance(q) = target from where q is; target is in `goal` (size) or NULL for zero. */
static bool newton(bough_context *ctx, bough_full_mechanism *full, const double *goal, double tolerance) {
    struct bo_full_work *w = full->work;
    const size_t size = (size_t)w->size;
    double last = INFINITY;
    for (int i = 0; i < MOST_ITERATIONS; i++) {
        balance(full, w->q, w->residual);
        for (size_t k = 0; k < size && goal; k++)
            w->residual[k] -= goal[k];
        judge(full);
        if (!isfinite(full->residual + full->gap))
            return false;
        const double now = fmax(full->residual, full->gap);
        if (now <= tolerance || (now <= ROUNDED && now > 0.5 * last))
            return true;
        const bool fast = now <= FAST * last;
        last = now;
        if (!goes_on(ctx, full))
            return false;
        full->iterations++;
        const bool older = w->factored && fast;
        if (!older && !factor(full))
            return false;
        const double before = length_of(w, w->residual);
        double limit = 1;
        for (size_t k = 0; k < size; k++)
            w->step[k] = -w->residual[k] * w->scale[k];
        bo_lu_solve(w->size, w->A, w->pivots, w->step);
        for (size_t k = 0; k < size; k++) {
            w->step[k] *= w->scale[k];
            if (k < (size_t)w->n && fabs(w->step[k]) > LONGEST * bo_full_unit(w, (int32_t)k))
                limit = fmin(limit, LONGEST * bo_full_unit(w, (int32_t)k) / fabs(w->step[k]));
        }
        bool shorter = false;
        for (int halving = 0; halving < 12 && !shorter; halving++, limit *= 0.5) {
            for (size_t k = 0; k < size; k++)
                w->trial[k] = w->q[k] + limit * w->step[k];
            balance(full, w->trial, w->other);
            for (size_t k = 0; k < size && goal; k++)
                w->other[k] -= goal[k];
            shorter = length_of(w, w->other) < before * (1 - 1e-4 * limit);
        }
        if (!shorter && older) {
            w->factored = false;
            continue;
        }
        if (!shorter)
            return now <= ROUNDED;
        memcpy(w->q, w->trial, size * sizeof(double));
    }
    return false;
}

/* Where Newton fails from afar, the residual at the start is taken away in pieces. */
static bool search(bough_context *ctx, bough_full_mechanism *full) {
    struct bo_full_work *w = full->work;
    const size_t size = (size_t)w->size, bytes = size * sizeof(double);
    memcpy(w->good, w->q, bytes);
    full->iterations = 0, w->most = w->hardest = 0;
    w->cancelled = false;
    if (newton(ctx, full, NULL, TOLERANCE))
        return true;
    memcpy(w->q, w->good, bytes);
    w->factored = false;
    balance(full, w->q, w->start);
    double reached = 0, piece = 0.25;
    for (int i = 0; i < MOST_PIECES && piece > 1e-4 && !w->cancelled; i++) {
        const double next = fmin(1, reached + piece);
        for (size_t k = 0; k < size; k++)
            w->goal[k] = (1 - next) * w->start[k];
        if (newton(ctx, full, next < 1 ? w->goal : NULL, next < 1 ? 1e-6 : TOLERANCE)) {
            if (next == 1)
                return true;
            reached = next, piece *= 1.5;
            memcpy(w->good, w->q, bytes);
        } else {
            piece *= 0.4;
            w->factored = false;
            memcpy(w->q, w->good, bytes);
        }
    }
    return false;
}

/* ---- settle and step ---- */

static void read_unknowns(const bough_full_mechanism *full) {
    struct bo_full_work *w = full->work;
    const bough_mechanism *m = w->mechanism;
    memset(w->q, 0, (size_t)w->base_size * sizeof(double));
    memcpy(w->q + w->base_size, full->coordinates, (size_t)m->coordinate_count * sizeof(double));
    memcpy(w->q_before, w->q, (size_t)w->n * sizeof(double));
    for (int32_t i = 0; i < m->def.link_count; i++)
        w->before[i] = bo_pose(&full->poses[i]);
}

static void write_unknowns(bough_full_mechanism *full) {
    struct bo_full_work *w = full->work;
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
    return full->work->q + full->work->n;
}

/* The unknowns of now; the wrenches of loops are those of the last search. */
static void start(bough_full_mechanism *full, double dt) {
    struct bo_full_work *w = full->work;
    read_unknowns(full);
    memcpy(w->kept, w->q, (size_t)w->size * sizeof(double));
    memset(w->pushes, 0, (size_t)w->mechanism->def.link_count * sizeof *w->pushes);
    w->dt = dt;
    w->factored = false; /* what a step comes to must not depend on the step before */
}

bough_status bo_full_search(bough_context *ctx, bough_full_mechanism *full) {
    struct bo_full_work *w = full->work;
    if (search(ctx, full))
        return BOUGH_OK;
    memcpy(w->q, w->kept, (size_t)w->size * sizeof(double));
    if (w->cancelled)
        return bo_fail_cancelled(ctx);
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "no %s of the full mechanism was found; smaller %s may help",
                   w->dt > 0 ? "step" : "equilibrium", w->dt > 0 ? "steps" : "changes of the loads");
}

/* The balance r of a step changes by A dq, and by -p / h of impulses p on the coordinates; dq / h is what they are
 * faster: A^-1 p / h^2. Symmetric but for what differences and turning leave of it. */
bool bo_full_answer(bough_full_mechanism *full, double *inverse) {
    struct bo_full_work *w = full->work;
    const size_t n = (size_t)w->n;
    if (!w->factored && !factor(full))
        return false;
    for (size_t c = 0; c < n; c++) {
        memset(w->step, 0, (size_t)w->size * sizeof(double));
        w->step[c] = w->scale[c] / (w->dt * w->dt);
        bo_lu_solve(w->size, w->A, w->pivots, w->step);
        for (size_t r = 0; r < n; r++)
            inverse[r * n + c] = w->scale[r] * w->step[r];
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < r; c++)
            inverse[r * n + c] = inverse[c * n + r] = 0.5 * (inverse[r * n + c] + inverse[c * n + r]);
    return bo_all_finite((int32_t)(n * n), inverse);
}

static bool good_inputs(const bough_full_mechanism *full) {
    const bough_mechanism *m = full->work->mechanism;
    double sum = full->gravity[0] + full->gravity[1] + full->gravity[2];
    for (int32_t k = 0; k < 6 * m->def.end_effector_count; k++)
        sum += full->loads[k];
    for (int k = 0; k < 6; k++)
        sum += full->base_load[k];
    for (int32_t k = 0; k < m->coordinate_count; k++)
        sum += full->offsets[k] + full->coordinates[k];
    for (int32_t k = 0; k < 6 * m->def.link_count; k++)
        sum += full->twists[k];
    return isfinite(sum);
}

bough_status bough_full_mechanism_settle(bough_context *ctx, bough_full_mechanism *full) {
    const bough_mechanism *m = full->work->mechanism;
    if (m->def.free_base)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism with a free base has no equilibrium");
    if (!good_inputs(full))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "loads, gravity, offsets and coordinates must be finite");
    start(full, 0);
    BO_TRY(bo_full_search(ctx, full));
    write_unknowns(full);
    memset(full->twists, 0, 6 * (size_t)m->def.link_count * sizeof(double));
    return BOUGH_OK;
}

bough_status bo_full_begin(bough_context *ctx, bough_full_mechanism *full, double dt) {
    struct bo_full_work *w = full->work;
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
    struct bo_full_work *w = full->work;
    const bough_mechanism *m = w->mechanism;
    write_unknowns(full);
    for (int32_t i = 0; i < m->def.link_count; i++) {
        const bo_se3 from = w->before[i], to = bo_pose(&full->poses[i]);
        const bo_vec3 c = bo_load3(m->links[i].centre);
        const bo_vec3 spin = bo_scale(1 / dt, bo_mat_tvec(to.R, bo_log3(bo_mat_mul(to.R, bo_transpose(from.R)))));
        const bo_vec3 v = bo_scale(1 / dt, bo_mat_tvec(to.R, bo_sub(bo_se3_apply(to, c), bo_se3_apply(from, c))));
        bo_store_twist(full->twists + 6 * (size_t)i, (bo_twist){bo_sub(v, bo_cross(spin, c)), spin});
    }
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
    if (full->work) {
        bo_free(ctx, full->work->memory);
        bo_free(ctx, full->work->poses);
        bo_free(ctx, full->work->before);
        bo_free(ctx, full->work->wrenches);
        bo_free(ctx, full->work->momenta);
        bo_free(ctx, full->work->pushes);
        bo_free(ctx, full->work->pivots);
    }
    bo_free(ctx, full->work);
    bo_free(ctx, full->coordinates);
    bo_free(ctx, full->poses);
    bo_free(ctx, full->twists);
    bo_free(ctx, full->loads);
    bo_free(ctx, full->offsets);
    bo_free(ctx, full);
}

static bool make_work(bough_context *ctx, const bough_mechanism *m, struct bo_full_work *w) {
    w->mechanism = m;
    w->base_size = m->def.free_base ? 6 : 0;
    w->n = w->base_size + m->coordinate_count;
    w->size = w->n + 6 * m->topology.loop_count;
    const size_t size = (size_t)w->size, links = (size_t)m->def.link_count;
    double *x = w->memory = BO_NEW_ZEROS(ctx, double, size *size + 13 * size);
    w->poses = BO_NEW_ZEROS(ctx, bo_se3, links);
    w->before = BO_NEW_ZEROS(ctx, bo_se3, links);
    w->wrenches = BO_NEW_ZEROS(ctx, bo_twist, links);
    w->momenta = BO_NEW_ZEROS(ctx, bo_twist, links);
    w->pushes = BO_NEW_ZEROS(ctx, bo_twist, links);
    w->pivots = BO_NEW_ARRAY(ctx, int32_t, size);
    if (!x || !w->poses || !w->before || !w->wrenches || !w->momenta || !w->pushes || !w->pivots)
        return false;
    double **const arrays[] = {&w->q,      &w->trial, &w->q_before, &w->residual, &w->other, &w->first, &w->step,
                               &w->forces, &w->scale, &w->kept,     &w->good,     &w->start, &w->goal};
    w->A = x, x += size * size;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++, x += size)
        *arrays[k] = x;
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
    bough_full_mechanism *f = BO_NEW(ctx, bough_full_mechanism);
    if (!f)
        return bo_fail_memory(ctx);
    f->work = BO_NEW(ctx, struct bo_full_work);
    f->coordinates = BO_NEW_ZEROS(ctx, double, mechanism->coordinate_count);
    f->offsets = BO_NEW_ZEROS(ctx, double, mechanism->coordinate_count);
    f->poses = BO_NEW_ARRAY(ctx, bough_pose, def->link_count);
    f->twists = BO_NEW_ZEROS(ctx, double, 6 * (size_t)def->link_count);
    f->loads = BO_NEW_ZEROS(ctx, double, 6 * (size_t)def->end_effector_count);
    if (!f->work || !f->coordinates || !f->offsets || !f->poses || !f->twists || !f->loads ||
        !make_work(ctx, mechanism, f->work)) {
        bough_full_mechanism_destroy(ctx, f);
        return bo_fail_memory(ctx);
    }
    for (int32_t j = 0; j < def->joint_count; j++)
        for (int k = 0; k < mechanism->joints[j].freedoms; k++) {
            const bo_mechanism_joint *joint = &mechanism->joints[j];
            f->coordinates[joint->offset + k] = joint->at[k];
            f->offsets[joint->offset + k] = joint->rest[k] - joint->at[k];
        }
    for (int32_t i = 0; i < def->link_count; i++)
        f->poses[i] = mechanism->links[i].pose;
    f->gravity[2] = -9.81;
    *full = f;
    return BOUGH_OK;
}
