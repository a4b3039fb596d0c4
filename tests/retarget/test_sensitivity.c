/* Steps linearised forwards against the same backwards, and the matrix of Gauss and Newton against differences. */
#include "motions.h"

#include "retarget/sensitivity.h"

enum { LANES = BO_LU_LANES, MOST = 200, ALL = POINTS * MOST_MOTORS };

/* ---- one step ---- */

static void draw_lanes(test_random *random, int32_t count, double *x) {
    for (int32_t i = 0; i < count; i++)
        x[i] = test_uniform(random, -1, 1);
}

static double product_of_lane(int32_t count, const double *y, const double *x, int lane, double *size) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += y[i] * x[LANES * i + lane], *size += fabs(y[i] * x[LANES * i + lane]);
    return sum;
}

/* <y, push x> = <pull y, x>, for changes of the beginning and of F. Returns the largest error, relative. */
static double error_of_transpose(const problem *p, int32_t step, bo_mb_forward *forward) {
    static double du_base[MOST * LANES], dv_base[MOST * LANES], dF[2 * MOST * LANES], solution[2 * MOST * LANES],
        scratch[4 * MOST * LANES], du[MOST * LANES], dv[MOST * LANES], motors[2 * MOST_MOTORS];
    double by_u[MOST], by_v[MOST], by_lambda[MOST], mu[2 * MOST], by_u_base[MOST], by_v_base[MOST], worst = 0;
    const bough_multibody *model = p->b->model;
    const int32_t nu = model->nu, nv = model->nv, nc = model->nc;
    test_random random = {(uint64_t)step};
    const bo_mb_moment at = bo_adjoint_moment(p->adjoint, step, motors);
    check(nu <= MOST && nv + nc <= MOST);
    check(bo_mb_linearise_forwards(forward, &at));
    draw_lanes(&random, nu * LANES, du_base), draw_lanes(&random, nv * LANES, dv_base);
    draw_lanes(&random, (nv + nc) * LANES, dF);
    draw_lanes(&random, nu, by_u), draw_lanes(&random, nv, by_v), draw_lanes(&random, nc, by_lambda);
    for (int32_t i = 0; i < nv + nc; i++)
        for (int l = 0; l < LANES; l++)
            solution[LANES * model->place[i] + l] = -dF[LANES * i + l];
    bo_mb_linear_push(forward, du_base, dv_base, solution, scratch, du, dv);
    bo_mb_linear_pull(&forward->linear, by_u, by_v, by_lambda, mu, by_u_base, by_v_base);
    for (int l = 0; l < LANES; l++) {
        double size = 0;
        const double changes = product_of_lane(nu, by_u_base, du_base, l, &size) +
                               product_of_lane(nv, by_v_base, dv_base, l, &size) -
                               product_of_lane(nv + nc, mu, dF, l, &size);
        double ends = product_of_lane(nu, by_u, du, l, &size) + product_of_lane(nv, by_v, dv, l, &size);
        for (int32_t i = 0; i < nc; i++)
            ends += by_lambda[i] * solution[LANES * model->place[nv + i] + l];
        worst = fmax(worst, fabs(ends - changes) / size);
    }
    return worst;
}

static void steps_forwards_are_the_transpose_of_steps_backwards(void **unused) {
    (void)unused;
    for (int i = 0; i < SYSTEMS; i++) {
        problem p;
        bo_mb_forward forward;
        double value, worst = 0;
        systems[i].fill(&p);
        finish_problem(&p);
        make_adjoint(&p);
        bough_context *ctx = p.b->ctx;
        check_ok(ctx, bo_adjoint_try(ctx, p.adjoint, p.curves->points, &value));
        check_ok(ctx, bo_mb_forward_make(ctx, p.b->model, &forward));
        for (int32_t step = 1; step <= STEPS; step += 7)
            worst = fmax(worst, error_of_transpose(&p, step, &forward));
        printf("%s: transposes within %.2g\n", systems[i].name, worst);
        check_below(worst, 3e-10);
        bo_mb_forward_free(ctx, &forward);
        free_problem(&p);
    }
}

/* ---- the matrix ---- */

static double places[MOST_TRACKED][3 * (STEPS + 1)], turns[MOST_TRACKED][9 * (STEPS + 1)];

/* Axes that frames on bodies have, all along the motion. */
static void watch_axes(void *data, int32_t step, const double *u, const double *v, const double *lambda, double *value,
                       double *by_displacement, double *by_velocity, double *by_multiplier) {
    const problem *p = data;
    (void)v, (void)lambda, (void)value, (void)by_displacement, (void)by_velocity, (void)by_multiplier;
    for (int32_t i = 0; i < p->tracked_count; i++) {
        const double *q = u + 7 * p->tracked[i] + 3;
        const bo_mat3 R = bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]});
        memcpy(turns[i] + 9 * step, R.m, sizeof R.m);
    }
}

/* All frames are to be where they are: then the residuals vanish, and the matrix has all second derivatives. */
static void wish_for_what_is(problem *p) {
    bough_adjoint_view view;
    double value;
    p->def.term = watch_axes, p->def.term_data = p;
    make_adjoint(p);
    check_ok(p->b->ctx, bough_adjoint_value(p->b->ctx, p->adjoint, p->curves->points, &value));
    bough_adjoint_look(p->adjoint, &view);
    for (int32_t i = 0; i < p->def.tracked_count; i++) {
        memcpy(places[i], view.paths[i], sizeof places[i]);
        p->frames[i].positions = places[i], p->frames[i].rotations = turns[i];
        p->frames[i].orientation = i < p->tracked_count ? 0.1 : 0; /* the axes of interfaces are not watched */
    }
    bough_adjoint_destroy(p->b->ctx, p->adjoint);
    p->def.term = NULL;
    make_adjoint(p);
}

/* The largest error of H d, against differences of gradients over h, along random directions d. */
static double error_of_matrix(problem *p, const double *H, double h) {
    static const double steps[4] = {-2, -1, 1, 2}, factors[4] = {1, -8, 8, -1};
    const int n = POINTS * p->b->def.motor_count;
    test_random random = {8};
    double worst = 0, largest = 0;
    for (int d = 0; d < 3; d++) {
        double direction[ALL], trial[ALL], g[ALL], bend[ALL] = {0}, value;
        for (int i = 0; i < n; i++)
            direction[i] = i % POINTS < 3 ? 0 : test_uniform(&random, -1, 1);
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < n; i++)
                trial[i] = p->curves->points[i] + steps[k] * h * direction[i];
            check_ok(p->b->ctx, bough_adjoint_gradient(p->b->ctx, p->adjoint, trial, &value, g, NULL));
            for (int i = 0; i < n; i++)
                bend[i] += factors[k] * g[i] / (12 * h);
        }
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++)
                sum += H[n * i + j] * direction[j];
            worst = fmax(worst, fabs(sum - bend[i])), largest = fmax(largest, fabs(sum));
        }
    }
    return worst / largest;
}

static void find_matrix(problem *p, double memory_seconds, double *H) {
    bo_sensitivity *s;
    double value;
    check_ok(p->b->ctx, bo_sensitivity_create(p->b->ctx, p->adjoint, memory_seconds, &s));
    check_ok(p->b->ctx, bo_adjoint_try(p->b->ctx, p->adjoint, p->curves->points, &value));
    check_ok(p->b->ctx, bo_sensitivity_matrix(p->b->ctx, s, H));
    bo_sensitivity_destroy(p->b->ctx, s);
}

static void the_matrix_is_that_of_differences_where_residuals_vanish(void **unused) {
    (void)unused;
    for (int i = 0; i < SYSTEMS; i++) {
        problem p;
        double H[ALL * ALL];
        systems[i].fill(&p);
        finish_problem(&p);
        p.def.input_weight = 1e-3;
        wish_for_what_is(&p);
        find_matrix(&p, 0, H);
        const double error = error_of_matrix(&p, H, 1e-4);
        printf("%s: matrix within %.2g of differences\n", systems[i].name, error);
        check_below(error, 5e-10);
        free_problem(&p);
    }
}

static void limits_of_motors_bend_the_matrix(void **unused) {
    (void)unused;
    problem p;
    double H[ALL * ALL];
    two_rods(&p);
    finish_problem(&p);
    p.def.tracked_count = 0, p.def.limit_weight = 1;
    for (int m = 0; m < MOST_MOTORS; m++) /* forces are not linear in the points */
        p.limits[m].force = INFINITY;
    make_adjoint(&p);
    find_matrix(&p, 0, H);
    const double error = error_of_matrix(&p, H, 1e-7);
    printf("limits: matrix within %.2g of differences\n", error);
    check_below(error, 1e-8);
    free_problem(&p);
}

/* Multipliers of the motors at each step. */
typedef struct {
    const bough_multibody *model;
    double forces[MOST_MOTORS][STEPS + 1];
} force_log;

static void keep_forces(void *data, int32_t step, const double *u, const double *v, const double *lambda, double *value,
                        double *by_displacement, double *by_velocity, double *by_multiplier) {
    force_log *log = data;
    (void)u, (void)v, (void)value, (void)by_displacement, (void)by_velocity, (void)by_multiplier;
    for (int32_t m = 0; m < log->model->def.motor_count; m++)
        log->forces[m][step] = lambda[bo_mb_motor_row(log->model, m)];
}

/* Products of differences of forces, in the steps in which they are beyond their limits. */
static void the_matrix_has_forces_beyond_their_limits(void **unused) {
    (void)unused;
    problem p;
    static double H[2][ALL * ALL], J[ALL][MOST_MOTORS][STEPS + 1];
    force_log at, log[2];
    double value, trial[ALL], error = 0, largest = 0;
    const double h = 1e-5;
    two_rods(&p);
    finish_problem(&p);
    const int n = POINTS * p.b->def.motor_count;
    p.def.tracked_count = 0, p.def.limit_weight = 1, p.def.term = keep_forces, p.def.term_data = &at;
    at.model = log[0].model = log[1].model = p.b->model;
    for (int k = 0; k < 2; k++) {
        for (int m = 0; m < MOST_MOTORS && k == 1; m++)
            p.limits[m].force = INFINITY;
        if (k == 1)
            bough_adjoint_destroy(p.b->ctx, p.adjoint);
        make_adjoint(&p);
        find_matrix(&p, 0, H[k]);
    }
    const force_log here = at;
    for (int i = 0; i < n; i++) {
        for (int side = 0; side < 2; side++) {
            memcpy(trial, p.curves->points, sizeof trial);
            trial[i] += (side == 0 ? -h : h) * (i % POINTS >= 3);
            check_ok(p.b->ctx, bough_adjoint_value(p.b->ctx, p.adjoint, trial, &value));
            log[side] = at;
        }
        for (int m = 0; m < p.b->def.motor_count; m++)
            for (int k = 0; k <= STEPS; k++)
                J[i][m][k] =
                    fabs(here.forces[m][k]) > 0.1 ? (log[1].forces[m][k] - log[0].forces[m][k]) / (2 * h) / 0.1 : 0;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int m = 0; m < p.b->def.motor_count; m++)
                for (int k = 1; k <= STEPS; k++)
                    sum += DT * (k == STEPS ? 0.5 : 1) * J[i][m][k] * J[j][m][k];
            error = fmax(error, fabs(H[0][n * i + j] - H[1][n * i + j] - sum)), largest = fmax(largest, fabs(sum));
        }
    printf("forces: matrix within %.2g of differences\n", error / largest);
    check(largest > 0);
    check_below(error / largest, 1e-8);
    free_problem(&p);
}

/* ---- memory and threads ---- */

enum { MANY_POINTS = 40, MANY = MANY_POINTS * MOST_MOTORS };

/* The same motion by more points. */
static void refine(problem *p) {
    const int32_t motors = p->curves->motor_count;
    double times[STEPS + 1], values[MOST_MOTORS * (STEPS + 1)];
    for (int k = 0; k <= STEPS; k++) {
        times[k] = k * DT;
        for (int32_t m = 0; m < motors; m++)
            bough_motor_curves_at(p->curves, m, times[k], &values[(STEPS + 1) * m + k], NULL, NULL);
    }
    bough_motor_curves_destroy(p->b->ctx, p->curves);
    check_ok(p->b->ctx, bough_motor_curves_create(p->b->ctx, motors, 3, MANY_POINTS, 0, STEPS * DT, &p->curves));
    check_ok(p->b->ctx, bough_motor_curves_fit(p->b->ctx, p->curves, STEPS + 1, times, values, true));
}

static double difference(const double *H, const double *other) {
    double largest = 0, error = 0;
    for (int i = 0; i < MANY * MANY; i++)
        largest = fmax(largest, fabs(H[i])), error = fmax(error, fabs(H[i] - other[i]));
    return error / largest;
}

static void few_megabytes_change_little_and_threads_no_bit(void **unused) {
    (void)unused;
    static double H[3][MANY * MANY];
    bough_adjoint_view view = {0};
    for (int k = 0; k < 3; k++) {
        problem p;
        soft_motors(&p);
        if (k == 1) {
            bough_context_destroy(p.b->ctx);
            p.b->ctx = test_context(3);
        }
        finish_problem(&p);
        refine(&p);
        const double whole = (double)view.bytes;
        p.def.megabytes = k == 2 ? 0.8e-6 * whole : 256;
        make_adjoint(&p);
        find_matrix(&p, 0, H[k]);
        bough_adjoint_look(p.adjoint, &view);
        check(k < 2 || (double)view.bytes < whole);
        printf("%lld bytes: within %.2g\n", (long long)view.bytes, difference(H[0], H[k]));
        check_below(difference(H[0], H[k]), k == 2 ? 1e-13 : 0);
        free_problem(&p);
    }
}

/* Changes of a damped system die away. */
static void a_short_memory_misses_little(void **unused) {
    (void)unused;
    problem p;
    static double all[MANY * MANY], most[MANY * MANY], few[MANY * MANY];
    soft_motors(&p);
    finish_problem(&p);
    refine(&p);
    make_adjoint(&p);
    find_matrix(&p, 0, all);
    find_matrix(&p, 10, most);
    find_matrix(&p, 0.2, few);
    printf("0.2 s of memory: within %.2g\n", difference(all, few));
    check_near(difference(all, most), 0, 0);
    check(difference(all, few) > 0);
    check_below(difference(all, few), 0.1);
    free_problem(&p);
}

static void memory_that_fails_is_given_back(void **unused) {
    (void)unused;
    problem p;
    one_rod(&p);
    finish_problem(&p);
    make_adjoint(&p);
    for (long fail_at = 0;; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        const long live = memory.live;
        memory.calls = 0, memory.fail_at = fail_at;
        bo_sensitivity *s;
        const bough_status status = bo_sensitivity_create(ctx, p.adjoint, 0, &s);
        bo_sensitivity_destroy(ctx, s);
        check_int(memory.live, live);
        bough_context_destroy(ctx);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
    }
    free_problem(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_forwards_are_the_transpose_of_steps_backwards),
                                       cmocka_unit_test(the_matrix_is_that_of_differences_where_residuals_vanish),
                                       cmocka_unit_test(limits_of_motors_bend_the_matrix),
                                       cmocka_unit_test(the_matrix_has_forces_beyond_their_limits),
                                       cmocka_unit_test(few_megabytes_change_little_and_threads_no_bit),
                                       cmocka_unit_test(a_short_memory_misses_little),
                                       cmocka_unit_test(memory_that_fails_is_given_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
