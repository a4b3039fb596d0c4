/* Positions that are poses: a ball on springs in matrix form, a spinning top in residual form, with its velocities or
 * with its momenta. */
#include "test.h"

#include "base/rotation.h"
#include "dense/lu.h"
#include "time/integrator.h"

static void put_block(double *A, int columns, int row, int column, bo_mat3 B) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            A[(row + i) * columns + column + k] += B.m[3 * i + k];
}

/* ---- a ball of matrix form: place and quaternion (7 numbers), velocity of the world and spin of its own (6) ---- */

/* Two springs from points of the ball to points of the world; its inertia is the same about all axes, so that no force
 * depends on the spin. K is not symmetric where springs turn the ball. */
typedef struct {
    double K[36], A[36];
    int32_t pivots[6];
    bool symmetric; /* K is made so: the methods with modes need that */
} ball;
static const double ball_mass = 1.3, ball_inertia = 0.07, spring = 40;
static const bo_vec3 points[2] = {{0.2, 0.1, -0.1}, {-0.15, 0.2, 0.1}},
                     anchors[2] = {{0.6, 0.2, 0.1}, {-0.4, 0.5, -0.3}};

static bo_quat read_quat(const double *q) {
    return (bo_quat){q[3], q[4], q[5], q[6]};
}

static bough_status ball_force(void *data, double t, const double *q, double *U, double *f) {
    const bo_quat Q = read_quat(q);
    bo_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    (void)data, (void)t;
    if (U)
        *U = 0;
    for (int k = 0; k < 2; k++) {
        const bo_vec3 pull = bo_sub(anchors[k], bo_add(bo_load3(q), bo_quat_rotate(Q, points[k])));
        const bo_vec3 F = bo_scale(spring, pull);
        if (U)
            *U += 0.5 * spring * bo_dot(pull, pull);
        force = bo_add(force, F);
        torque = bo_add(torque, bo_cross(points[k], bo_quat_rotate(bo_quat_conj(Q), F)));
    }
    bo_store3(f, force), bo_store3(f + 3, torque);
    return BOUGH_OK;
}
static bough_status ball_linearise(void *data, double t, const double *q, bool project) {
    ball *b = data;
    const bo_mat3 R = bo_quat_to_matrix(read_quat(q));
    (void)t, (void)project;
    memset(b->K, 0, sizeof b->K);
    for (int k = 0; k < 2; k++) {
        const bo_mat3 p = bo_hat(points[k]), Rp = bo_mat_mul(R, p);
        const bo_vec3 F =
            bo_scale(spring, bo_mat_tvec(R, bo_sub(anchors[k], bo_add(bo_load3(q), bo_mat_vec(R, points[k])))));
        put_block(b->K, 6, 0, 0, bo_mat_scale(spring, bo_identity3()));
        put_block(b->K, 6, 0, 3, bo_mat_scale(-spring, Rp));
        put_block(b->K, 6, 3, 0, bo_mat_scale(-spring, bo_transpose(Rp)));
        put_block(b->K, 6, 3, 3,
                  bo_mat_scale(-1, bo_mat_add(bo_mat_mul(p, bo_hat(F)), bo_mat_scale(spring, bo_mat_mul(p, p)))));
    }
    for (int i = 0; i < 6 && b->symmetric; i++)
        for (int k = 0; k < i; k++)
            b->K[6 * i + k] = b->K[6 * k + i] = 0.5 * (b->K[6 * i + k] + b->K[6 * k + i]);
    return BOUGH_OK;
}
static void ball_multiply(void *data, bo_matrix which, const double *x, double *y) {
    const ball *b = data;
    double z[6];
    for (int i = 0; i < 6; i++) {
        z[i] = which == BO_MATRIX_M ? (i < 3 ? ball_mass : ball_inertia) * x[i] : 0;
        for (int k = 0; k < 6 && which == BO_MATRIX_K; k++)
            z[i] += b->K[6 * i + k] * x[k];
    }
    memcpy(y, z, sizeof z);
}
static bough_status ball_factor(void *data, double a, double d, double c) {
    ball *b = data;
    (void)d;
    for (int i = 0; i < 36; i++)
        b->A[i] = (i % 7 == 0 ? a * (i / 6 < 3 ? ball_mass : ball_inertia) : 0) + c * b->K[i];
    return bo_lu_factor(6, b->A, b->pivots) ? BOUGH_OK : BOUGH_ERROR_SINGULAR;
}
static bough_status ball_solve(void *data, const double *f, double *x) {
    const ball *b = data;
    memmove(x, f, 6 * sizeof *x);
    bo_lu_solve(6, b->A, b->pivots, x);
    return BOUGH_OK;
}
static void ball_retract(void *data, const double *q, const double *dq, double *out) {
    const bo_quat Q = bo_quat_normalize(bo_quat_mul(read_quat(q), bo_quat_exp(bo_load3(dq + 3))));
    (void)data;
    bo_store3(out, bo_add(bo_load3(q), bo_load3(dq)));
    out[3] = Q.w, out[4] = Q.x, out[5] = Q.y, out[6] = Q.z;
}
static void ball_difference(void *data, const double *to, const double *from, double *dq) {
    (void)data;
    const bo_vec3 turn = bo_quat_log(bo_quat_mul(bo_quat_conj(read_quat(from)), read_quat(to)));
    bo_store3(dq, bo_sub(bo_load3(to), bo_load3(from)));
    bo_store3(dq + 3, turn);
}

static void ball_run(bough_context *ctx, const char *name, bool symmetric, double T, int steps, double end[13]) {
    ball b = {.symmetric = symmetric};
    const bo_system system = {.data = &b,
                              .size = 6,
                              .position_size = 7,
                              .force = ball_force,
                              .linearise = ball_linearise,
                              .damp = bo_system_keep_damping,
                              .multiply = ball_multiply,
                              .factor = ball_factor,
                              .solve = ball_solve,
                              .retract = ball_retract,
                              .difference = ball_difference};
    bough_integrator_def def = bough_default_integrator_def();
    bo_integrator *I;
    double q[7] = {0, 0, 0, 1, 0, 0, 0}, v[6] = {0.3, -0.2, 0.5, 2, -1, 3}, a[6] = {0};
    bo_motion m = {.q = q, .v = v, .a = a};
    def.name = name, def.tolerance = 1e-12, def.mode_count = 2;
    check_ok(ctx, bo_integrator_create(ctx, &system, &def, &I));
    for (int k = 0; k < steps; k++)
        check_ok(ctx, bo_integrator_step(I, T / steps, &m));
    check_near(bo_quat_dot(read_quat(q), read_quat(q)), 1, 1e-12);
    bo_integrator_destroy(ctx, I);
    memcpy(end, q, sizeof q), memcpy(end + 7, v, sizeof v);
}

static double distance(int count, const double *a, const double *b) {
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Every method, on poses: order 1 or 2 as it is on vectors. But rk4 adds slopes that belong to different poses, which
 * is of second order only, and methods with modes or Krylov vectors need a symmetric K, which makes them of first. */
static void poses_keep_the_order(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double T = 0.6;
    double reference[13], ends[2][13];
    ball_run(ctx, "central-differences", false, T, 1 << 18, reference);
    for (int32_t k = 0; k < bough_integrator_count(); k++) {
        const bough_integrator_info *info = bough_integrator_describe(k);
        const bool modes = info->needs[0] == 'm', krylov = strcmp(info->name, "ere") == 0;
        const int steps = info->order == 1 ? 1600 : 400;
        for (int level = 0; level < 2; level++)
            ball_run(ctx, info->name, modes || krylov, T, steps << level, ends[level]);
        const double error = distance(13, ends[1], reference), order = log2(distance(13, ends[0], reference) / error);
        printf("%-20s order %.2f error %.1e\n", info->name, order, error);
        check_near(order, modes || krylov ? 1 : info->order > 2 ? 2 : info->order, 0.15);
    }
    bough_context_destroy(ctx);
}

/* ---- a top: place and rotation matrix (12 numbers), velocity of the world and spin of its own (6) ---- */

/* Its pivot, at `pivot` in its frame, stays at the origin. With momenta, m v and the angular momentum about its centre
 * in the world's axes, R has torques of the world's axes too; else those of its own. */
typedef struct {
    bool momenta, held, exact; /* exact: the tangent has the derivative of the retraction */
    double A[81];
    int32_t pivots[9];
} top;
static const double top_mass = 1.2;
static const bo_vec3 top_inertia = {0.02, 0.03, 0.012}, pivot = {0.02, 0.01, -0.3}, weight = {0, 0, -9.81 * 1.2};

static bo_mat3 rotation_of(const double *q) {
    bo_mat3 R;
    memcpy(R.m, q + 3, sizeof R.m);
    return R;
}
static bo_vec3 times_inertia(bo_vec3 w) {
    return bo_v3(top_inertia.x * w.x, top_inertia.y * w.y, top_inertia.z * w.z);
}
static bo_mat3 inertia_matrix(void) {
    return (bo_mat3){{top_inertia.x, 0, 0, 0, top_inertia.y, 0, 0, 0, top_inertia.z}};
}

static bough_status top_residual(void *data, const bo_instant *at, double *R, double *c, double *magnitude) {
    const top *s = data;
    const bo_mat3 Q = rotation_of(at->q);
    const bo_vec3 x = bo_load3(at->q), w = bo_load3(at->v + 3), a = bo_load3(at->a), b = bo_load3(at->a + 3);
    const bo_vec3 lambda = s->held ? bo_load3(at->lambda) : bo_v3(0, 0, 0), arm = bo_mat_vec(Q, pivot);
    bo_vec3 force = bo_sub(bo_add(s->momenta ? a : bo_scale(top_mass, a), lambda), weight), torque;
    if (s->momenta)
        torque = bo_add(b, bo_cross(arm, lambda));
    else
        torque =
            bo_add(bo_add(times_inertia(b), bo_cross(w, times_inertia(w))), bo_cross(pivot, bo_mat_tvec(Q, lambda)));
    if (!s->held)
        force = bo_add(force, weight); /* it flies */
    bo_store3(R, force), bo_store3(R + 3, torque);
    if (s->held)
        bo_store3(c, bo_add(x, arm));
    *magnitude = bo_norm(weight);
    return BOUGH_OK;
}
static void top_momentum(void *data, double t, const double *q, const double *v, double *p) {
    (void)data, (void)t;
    bo_store3(p, bo_scale(top_mass, bo_load3(v)));
    bo_store3(p + 3, bo_mat_vec(rotation_of(q), times_inertia(bo_load3(v + 3))));
}
static void top_rate(void *data, double t, const double *q, const double *v, double *rate) {
    (void)data, (void)t;
    bo_store3(rate, bo_add(bo_load3(v), bo_mat_vec(rotation_of(q), bo_cross(bo_load3(v + 3), pivot))));
}
static void fill_tangent(const top *s, const bo_instant *at, double ca, double cv, double cq, int n, double *A) {
    const bo_mat3 Q = rotation_of(at->q), I = inertia_matrix(), QI = bo_mat_mul(Q, I), r = bo_hat(pivot);
    const bo_vec3 w = bo_load3(at->v + 3), L = times_inertia(w);
    const bo_vec3 lambda = s->held ? bo_load3(at->lambda) : bo_v3(0, 0, 0), arm = bo_mat_vec(Q, pivot);
    /* q (+) (dq + e) = (q (+) dq) (+) T e, T the right Jacobian */
    const bo_mat3 T = at->dq && s->exact ? bo_transpose(bo_left_jacobian(bo_load3(at->dq + 3))) : bo_identity3();
    put_block(A, n, 0, 0, bo_mat_scale(ca * top_mass, bo_identity3()));
    if (s->momenta) {
        put_block(A, n, 3, 3, bo_mat_scale(ca, QI));
        put_block(A, n, 3, 3, bo_mat_scale(-ca * cq, bo_mat_mul(bo_mat_mul(Q, bo_hat(L)), T)));
        put_block(A, n, 3, 3, bo_mat_scale(cq, bo_mat_mul(bo_mat_mul(bo_hat(lambda), bo_mat_mul(Q, r)), T)));
    } else {
        put_block(A, n, 3, 3, bo_mat_scale(ca, I));
        put_block(A, n, 3, 3, bo_mat_scale(cv, bo_mat_sub(bo_mat_mul(bo_hat(w), I), bo_hat(L))));
        put_block(A, n, 3, 3, bo_mat_scale(cq, bo_mat_mul(bo_mat_mul(r, bo_hat(bo_mat_tvec(Q, lambda))), T)));
    }
    if (!s->held)
        return;
    put_block(A, n, 0, 6, bo_identity3());
    put_block(A, n, 3, 6, s->momenta ? bo_hat(arm) : bo_mat_mul(r, bo_transpose(Q)));
    put_block(A, n, 6, 0, bo_identity3());
    put_block(A, n, 6, 3, bo_mat_scale(-1, bo_mat_mul(bo_mat_mul(Q, r), T)));
}
static bough_status top_tangent(void *data, const bo_instant *at, double ca, double cv, double cq) {
    top *s = data;
    const int n = s->held ? 9 : 6;
    memset(s->A, 0, sizeof s->A);
    fill_tangent(s, at, ca, cv, cq, n, s->A);
    return bo_lu_factor(n, s->A, s->pivots) ? BOUGH_OK : BOUGH_ERROR_SINGULAR;
}
static bough_status top_solve(void *data, const double *b, const double *d, double *x, double *y) {
    const top *s = data;
    double both[9];
    memcpy(both, b, 6 * sizeof *b);
    if (s->held)
        memcpy(both + 6, d, 3 * sizeof *d);
    bo_lu_solve(s->held ? 9 : 6, s->A, s->pivots, both);
    memcpy(x, both, 6 * sizeof *b);
    if (s->held)
        memcpy(y, both + 6, 3 * sizeof *d);
    return BOUGH_OK;
}
static void top_retract(void *data, const double *q, const double *dq, double *out) {
    (void)data;
    const bo_mat3 R = bo_mat_mul(rotation_of(q), bo_exp3(bo_load3(dq + 3)));
    bo_store3(out, bo_add(bo_load3(q), bo_load3(dq)));
    memcpy(out + 3, R.m, sizeof R.m);
}
static void top_difference(void *data, const double *to, const double *from, double *dq) {
    (void)data;
    const bo_vec3 turn = bo_log3(bo_mat_tmul(rotation_of(from), rotation_of(to)));
    bo_store3(dq, bo_sub(bo_load3(to), bo_load3(from)));
    bo_store3(dq + 3, turn);
}

static bo_system top_system(top *s) {
    return (bo_system){.data = s,
                       .size = 6,
                       .position_size = 12,
                       .momentum_size = s->momenta ? 6 : 0,
                       .constraint_count = s->held ? 3 : 0,
                       .residual = top_residual,
                       .momentum = s->momenta ? top_momentum : NULL,
                       .constraint_rate = top_rate,
                       .tangent = top_tangent,
                       .solve_tangent = top_solve,
                       .retract = top_retract,
                       .difference = top_difference};
}

typedef struct {
    double q[12], v[6], a[6], lambda[3], p[6];
} state;

static state top_start(void) {
    state x = {0};
    const bo_mat3 R = bo_exp3(bo_v3(0.4, -0.2, 0.1));
    const bo_vec3 spin = {0.5, -0.3, 30}, arm = bo_mat_vec(R, pivot);
    bo_store3(x.q, bo_scale(-1, arm));
    memcpy(x.q + 3, R.m, sizeof R.m);
    bo_store3(x.v, bo_mat_vec(R, bo_cross(pivot, spin)));
    bo_store3(x.v + 3, spin);
    return x;
}

/* Euler's equations about the pivot: spin' of a state. */
static bo_vec3 spin_rate(bo_mat3 R, bo_vec3 w) {
    const bo_vec3 r = bo_scale(-1, pivot); /* of the centre from the pivot */
    const bo_mat3 J =
        bo_mat_add(inertia_matrix(),
                   bo_mat_scale(top_mass, bo_mat_sub(bo_mat_scale(bo_dot(r, r), bo_identity3()), bo_outer(r, r))));
    const bo_vec3 torque = bo_cross(r, bo_mat_tvec(R, weight));
    return bo_mat_vec(bo_inverse(J), bo_sub(torque, bo_cross(w, bo_mat_vec(J, w))));
}

static state top_reference(double T, int steps) {
    state x = top_start();
    bo_quat Q = bo_quat_from_matrix(rotation_of(x.q));
    bo_vec3 w = bo_load3(x.v + 3);
    const double h = T / steps;
    static const double at[4] = {0, 0.5, 0.5, 1}, share[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    for (int k = 0; k < steps; k++) {
        bo_quat kQ = {0, 0, 0, 0}, dQ = {0, 0, 0, 0};
        bo_vec3 kw = {0, 0, 0}, dw = {0, 0, 0};
        for (int s = 0; s < 4; s++) {
            const double c = at[s] * h;
            const bo_quat q = {Q.w + c * kQ.w, Q.x + c * kQ.x, Q.y + c * kQ.y, Q.z + c * kQ.z};
            const bo_vec3 spin = bo_mul_add(w, c, kw);
            kw = spin_rate(bo_quat_to_matrix(bo_quat_normalize(q)), spin);
            kQ = bo_quat_mul(q, (bo_quat){0, 0.5 * spin.x, 0.5 * spin.y, 0.5 * spin.z});
            dQ.w += share[s] * kQ.w, dQ.x += share[s] * kQ.x, dQ.y += share[s] * kQ.y, dQ.z += share[s] * kQ.z;
            dw = bo_mul_add(dw, share[s], kw);
        }
        Q = bo_quat_normalize((bo_quat){Q.w + h * dQ.w, Q.x + h * dQ.x, Q.y + h * dQ.y, Q.z + h * dQ.z});
        w = bo_mul_add(w, h, dw);
    }
    const bo_mat3 R = bo_quat_to_matrix(Q);
    const bo_vec3 r = bo_scale(-1, pivot), turn = spin_rate(R, w);
    const bo_vec3 a = bo_mat_vec(R, bo_add(bo_cross(turn, r), bo_cross(w, bo_cross(w, r))));
    bo_store3(x.q, bo_mat_vec(R, r));
    memcpy(x.q + 3, R.m, sizeof R.m);
    bo_store3(x.v, bo_mat_vec(R, bo_cross(w, r)));
    bo_store3(x.v + 3, w);
    bo_store3(x.lambda, bo_sub(weight, bo_scale(top_mass, a)));
    return x;
}

static state top_run(bough_context *ctx, top *s, const char *name, double T, int steps, double *iterations) {
    const bo_system system = top_system(s);
    bough_integrator_def def = bough_default_integrator_def();
    bo_integrator *I;
    state x = top_start();
    bo_motion m = {.q = x.q, .v = x.v, .a = x.a, .lambda = x.lambda, .p = x.p};
    def.name = name, def.tolerance = 1e-12;
    check_ok(ctx, bo_integrator_create(ctx, &system, &def, &I));
    *iterations = 0;
    for (int k = 0; k < steps; k++) {
        check_ok(ctx, bo_integrator_step(I, T / steps, &m));
        *iterations += (double)I->iterations / steps;
    }
    check(I->arena.peak <= I->arena.capacity);
    bo_integrator_destroy(ctx, I);
    return x;
}

/* A fast top whose tip is held: positions, velocities and the force at the tip. */
static void a_spinning_top_keeps_the_order(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double T = 0.5;
    const state reference = top_reference(T, 20000);
    for (int momenta = 0; momenta < 2; momenta++)
        for (int32_t k = 0; k < bough_integrator_count(); k++) {
            const bough_integrator_info *info = bough_integrator_describe(k);
            const bool alpha = info->needs[0]; /* these step accelerations */
            double error[2][3], iterations;
            if (!info->constraints || (momenta && alpha))
                continue;
            top s = {.momenta = momenta, .held = true, .exact = true};
            for (int level = 0; level < 2; level++) {
                const state x = top_run(ctx, &s, info->name, T, (info->order == 1 ? 8000 : 1000) << level, &iterations);
                error[level][0] = distance(12, x.q, reference.q);
                error[level][1] = distance(6, x.v, reference.v);
                error[level][2] = distance(3, x.lambda, reference.lambda);
            }
            printf("top by %s, %-18s", momenta ? "momenta   " : "velocities", info->name);
            for (int e = 0; e < 3; e++)
                printf(" %.2f (%.1e)", log2(error[0][e] / error[1][e]), error[1][e]);
            printf("; %.2f iterations a step\n", iterations);
            for (int e = 0; e < 3; e++)
                check_near(log2(error[0][e] / error[1][e]), info->order, 0.2);
        }
    bough_context_destroy(ctx);
}

/* Without the derivative of the retraction Newton's method gets there too. */
static void the_tangent_may_leave_the_retraction_out(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    double with, without;
    top s = {.held = true, .exact = true};
    const state a = top_run(ctx, &s, "bdf2", 0.2, 100, &with);
    s.exact = false;
    const state b = top_run(ctx, &s, "bdf2", 0.2, 100, &without);
    printf("%.2f iterations a step with it, %.2f without\n", with, without);
    check_below(distance(12, a.q, b.q), 1e-8);
    check_below(without, 2 * with);
    bough_context_destroy(ctx);
}

/* R, c and p by differences along dq, v and lambda. */
static void tangents_are_derivatives(void **unused) {
    (void)unused;
    test_random random = {5};
    for (int momenta = 0; momenta < 2; momenta++) {
        top s = {.momenta = momenta, .held = true, .exact = true};
        state x = top_start();
        double dq[6], base[12], A[81] = {0};
        const double ca = 0.7, cv = 1, cq = 0.4, h = 1e-6;
        memcpy(base, x.q, sizeof base);
        for (int i = 0; i < 6; i++)
            dq[i] = test_uniform(&random, -0.5, 0.5), x.v[i] = test_uniform(&random, -2, 2),
            x.a[i] = test_uniform(&random, -2, 2);
        for (int i = 0; i < 3; i++)
            x.lambda[i] = test_uniform(&random, -5, 5);
        top_retract(&s, base, dq, x.q);
        const bo_instant at = {0, x.q, dq, x.v, x.a, x.lambda};
        fill_tangent(&s, &at, ca, cv, cq, 9, A);
        for (int column = 0; column < 9; column++) {
            double ends[2][9], p[2][6], magnitude;
            for (int side = 0; side < 2; side++) {
                state y = x;
                double moved[6];
                memcpy(moved, dq, sizeof moved);
                const double d = side ? h : -h;
                if (column < 6)
                    moved[column] += cq * d, y.v[column] += cv * d, y.a[column] += momenta ? 0 : ca * d;
                else
                    y.lambda[column - 6] += d;
                top_retract(&s, base, moved, y.q);
                top_momentum(&s, 0, y.q, y.v, p[side]);
                const bo_instant there = {0, y.q, moved, y.v, y.a, y.lambda};
                check(top_residual(&s, &there, ends[side], ends[side] + 6, &magnitude) == BOUGH_OK);
            }
            for (int i = 0; i < 9; i++) {
                double slope = (ends[1][i] - ends[0][i]) / (2 * h) / (column < 6 && i >= 6 ? cq : 1);
                if (momenta && i < 6 && column < 6) /* R_a is 1 */
                    slope += ca * (p[1][i] - p[0][i]) / (2 * h);
                check_near(A[9 * i + column], slope, 1e-8);
            }
        }
    }
}

/* In free flight momenta are what they were, to rounding, whatever the step. */
static void momenta_are_kept(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int32_t k = 0; k < bough_integrator_count(); k++) {
        const bough_integrator_info *info = bough_integrator_describe(k);
        if (!info->constraints || info->needs[0])
            continue;
        top s = {.momenta = true, .exact = true};
        double iterations, before[6];
        const state start = top_start(), x = top_run(ctx, &s, info->name, 2, 400, &iterations);
        top_momentum(&s, 0, start.q, start.v, before);
        check_below(distance(6, before, x.p), 1e-12);
        double after[6];
        top_momentum(&s, 0, x.q, x.v, after);
        check_below(distance(6, before, after), 1e-12);
    }
    bough_context_destroy(ctx);
}

/* A body that turns freely about no axis of its own, by every method that takes a residual, those without constraints
 * too: differences of steps that are halved twice fall by the order. */
static void residuals_need_no_constraints(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    int methods = 0;
    for (int32_t k = 0; k < bough_integrator_count(); k++) {
        const bough_integrator_info *info = bough_integrator_describe(k);
        top s = {.exact = true};
        const bo_system system = top_system(&s);
        bough_integrator_def def = bough_default_integrator_def();
        bo_integrator *I;
        def.name = info->name;
        const bough_status status = bo_integrator_create(ctx, &system, &def, &I);
        if (status != BOUGH_OK) {
            check(!info->constraints && status == BOUGH_ERROR_UNSUPPORTED);
            continue;
        }
        bo_integrator_destroy(ctx, I);
        methods++;
        state x[3];
        double iterations;
        for (int level = 0; level < 3; level++)
            x[level] = top_run(ctx, &s, info->name, 0.2, 400 << level, &iterations);
        const double order = log2(distance(6, x[0].v, x[1].v) / distance(6, x[1].v, x[2].v));
        printf("turns freely: %-18s order %.2f\n", info->name, order);
        check_near(order, info->order, 0.1);
    }
    check_int(methods, 9);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_keep_the_order),
        cmocka_unit_test(tangents_are_derivatives),
        cmocka_unit_test(a_spinning_top_keeps_the_order),
        cmocka_unit_test(the_tangent_may_leave_the_retraction_out),
        cmocka_unit_test(momenta_are_kept),
        cmocka_unit_test(residuals_need_no_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
