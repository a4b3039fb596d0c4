/* Systems with constraints: pendulum and slider-crank as index-2 systems. */
#include "planar.h"

typedef struct {
    double q[PLANAR_SIZE], v[PLANAR_SIZE], a[PLANAR_SIZE], lambda[PLANAR_ROWS];
} state;

static bo_motion motion_of(state *x) {
    return (bo_motion){.q = x->q, .v = x->v, .a = x->a, .lambda = x->lambda};
}

static planar make(bool crank, state *x) {
    memset(x, 0, sizeof *x);
    return crank ? planar_slider_crank(0.6, 8, x->q, x->v) : planar_pendulum(1.2, x->q, x->v);
}

static bo_integrator *integrator_of(bough_context *ctx, const bo_system *system, const char *name, double tolerance) {
    bough_integrator_def def = bough_default_integrator_def();
    bo_integrator *I;
    def.name = name, def.tolerance = tolerance;
    check_ok(ctx, bo_integrator_create(ctx, system, &def, &I));
    return I;
}

/* ---- the systems themselves ---- */

/* dR/dq, dR/dv, dR/da, dR/dlambda and dc/dq by differences, in the combination of the tangent; dc/dt likewise. */
static void tangents_are_derivatives(void **unused) {
    (void)unused;
    test_random random = {3};
    for (int crank = 0; crank < 2; crank++) {
        state x;
        planar s = make(crank, &x);
        const bo_system system = planar_system(&s);
        const int n = system.size, m = system.constraint_count;
        const double ca = 0.7, cv = 1.3, cq = 0.4;
        s.drag = 0.6;
        for (int i = 0; i < n; i++)
            x.q[i] += test_uniform(&random, -0.3, 0.3), x.v[i] = test_uniform(&random, -2, 2),
                                                        x.a[i] = test_uniform(&random, -2, 2);
        for (int r = 0; r < m; r++)
            x.lambda[r] = test_uniform(&random, -3, 3);
        for (int column = 0; column < n + m; column++) {
            double ends[2][PLANAR_ALL], unit[PLANAR_ALL] = {0}, left[PLANAR_ALL];
            const double h = 1e-6;
            for (int side = 0; side < 2; side++) {
                state y = x;
                const double d = side ? h : -h;
                if (column < n)
                    y.q[column] += cq * d, y.v[column] += cv * d, y.a[column] += ca * d;
                else
                    y.lambda[column - n] += d;
                const bo_instant at = {0, y.q, NULL, y.v, y.a, y.lambda};
                double magnitude;
                check(planar_residual(&s, &at, ends[side], ends[side] + n, &magnitude) == BOUGH_OK);
            }
            /* the factor solves for the unit column when it is given the derivative's */
            for (int i = 0; i < n + m; i++)
                left[i] = (ends[1][i] - ends[0][i]) / (2 * h) / (column < n && i >= n ? cq : 1);
            const bo_instant at = {0, x.q, NULL, x.v, x.a, x.lambda};
            check(planar_tangent(&s, &at, ca, cv, cq) == BOUGH_OK);
            planar_solve(&s, left, left + n, left, left + n);
            unit[column] = 1;
            for (int i = 0; i < n + m; i++)
                check_near(left[i], unit[i], 1e-7);
        }
    }
}

/* ---- order ---- */

typedef struct {
    double q, v, lambda;
} errors;

/* index 3: after the first step, which takes the rate to find where it starts, only positions obey the constraints. */
static errors errors_at(bough_context *ctx, bool crank, bool index_3, double drag, const char *name, double T,
                        int steps, const state *reference) {
    state x;
    planar s = make(crank, &x);
    s.drag = drag;
    bo_system system = planar_system(&s);
    bo_integrator *I = integrator_of(ctx, &system, name, 1e-12);
    bo_motion m = motion_of(&x);
    errors e = {0, 0, 0};
    for (int k = 0; k < steps; k++) {
        check_ok(ctx, bo_integrator_step(I, T / steps, &m));
        if (index_3)
            system.constraint_rate = NULL;
    }
    check(I->arena.peak <= I->arena.capacity);
    bo_integrator_destroy(ctx, I);
    for (int i = 0; i < system.size; i++) {
        e.q = fmax(e.q, fabs(x.q[i] - reference->q[i]));
        e.v = fmax(e.v, fabs(x.v[i] - reference->v[i]));
    }
    for (int r = 0; r < system.constraint_count; r++)
        e.lambda = fmax(e.lambda, fabs(x.lambda[r] - reference->lambda[r]));
    return e;
}

static state reference_of(bool crank, double drag, double T) {
    state x;
    planar s = make(crank, &x);
    s.drag = drag;
    planar_system(&s);
    planar_reference(&s, T, 20000, x.q, x.v);
    planar_accelerations(&s, x.q, x.v, x.a, x.lambda);
    return x;
}

/* Positions, velocities and multipliers all have the order, with a force that depends on the velocity. */
static void every_method_that_takes_constraints_keeps_its_order(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double T = 0.7, drag = 0.3;
    for (int index_3 = 0; index_3 < 2; index_3++)
        for (int crank = 0; crank < 2; crank++) {
            const state reference = reference_of(crank, drag, T);
            for (int32_t k = 0; k < bough_integrator_count(); k++) {
                const bough_integrator_info *info = bough_integrator_describe(k);
                if (!info->constraints)
                    continue;
                const int steps = info->order == 1 ? 1600 : 400;
                errors e[2];
                for (int level = 0; level < 2; level++)
                    e[level] = errors_at(ctx, crank, index_3, drag, info->name, T, steps << level, &reference);
                const double q = log2(e[0].q / e[1].q), v = log2(e[0].v / e[1].v), l = log2(e[0].lambda / e[1].lambda);
                printf(
                    "%-12s %-18s%s order %.2f %.2f %.2f of positions, velocities, multipliers; errors %.1e %.1e %.1e\n",
                    crank ? "slider-crank" : "pendulum", info->name, index_3 ? " (positions alone)" : "", q, v, l,
                    e[1].q, e[1].v, e[1].lambda);
                const bool stages = info->factorisations == 2; /* an inner stage whose velocity is off is remembered */
                check_near(q, info->order, 0.15);
                check_near(v, info->order, 0.15);
                check_near(l, index_3 && stages ? 1 : info->order, 0.15);
            }
        }
    bough_context_destroy(ctx);
}

/* ---- minutes ---- */

/* The most that constraints are off by in some time. */
typedef struct {
    double position, speed;
} drift;

static void look(const planar *s, double t, state *x, drift *most) {
    double c[PLANAR_ROWS], rate[PLANAR_ROWS];
    planar_constraints(s, t, x->q, c);
    planar_rate((planar *)(uintptr_t)s, t, x->q, x->v, rate);
    for (int r = 0; r < s->rows; r++) {
        most->position = fmax(most->position, fabs(c[r]));
        most->speed = fmax(most->speed, fabs(rate[r]));
    }
}

/* Five minutes with steps of 5 ms: drift in the first and in the last ten seconds, and what happens to the energy. */
static void constraints_do_not_drift_in_minutes(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int crank = 0; crank < 2; crank++)
        for (int32_t k = 0; k < bough_integrator_count(); k++) {
            const bough_integrator_info *info = bough_integrator_describe(k);
            if (!info->constraints)
                continue;
            state x;
            planar s = make(crank, &x);
            const bo_system system = planar_system(&s);
            bo_integrator *I = integrator_of(ctx, &system, info->name, 1e-9);
            bo_motion m = motion_of(&x);
            drift first = {0, 0}, last = {0, 0};
            const double before = planar_energy(&s, x.q, x.v), size = crank ? before : 0.5 * 9.81 * (1 - cos(1.2));
            const int second = 200, steps = 300 * second;
            double lost[2] = {0, 0}, iterations = 0;
            for (int i = 0; i < steps; i++) {
                check_ok(ctx, bo_integrator_step(I, 1.0 / second, &m));
                iterations += I->iterations;
                if (i < 10 * second)
                    look(&s, m.t, &x, &first);
                if (i >= steps - 10 * second)
                    look(&s, m.t, &x, &last);
                if (i + 1 == 10 * second || i + 1 == 60 * second)
                    lost[i + 1 > 10 * second] = 100 * (before - planar_energy(&s, x.q, x.v)) / size;
            }
            const double all = 100 * (before - planar_energy(&s, x.q, x.v)) / size;
            printf(
                "%-12s %-18s drift %.1e then %.1e m, %.1e then %.1e m/s; energy lost %.4f %.4f %.4f %% after 10, 60, "
                "300 s; %.2f iterations a step\n",
                crank ? "slider-crank" : "pendulum", info->name, first.position, last.position, first.speed, last.speed,
                lost[0], lost[1], all, iterations / steps);
            check_below(fmax(first.position, last.position), 1e-12);
            check_below(fmax(first.speed, last.speed), 3e-9);
            check(lost[0] > 0 && lost[1] > lost[0] && all > lost[1]);
            bo_integrator_destroy(ctx, I);
        }
    bough_context_destroy(ctx);
}

/* ---- motors ---- */

/* A crank that is driven at constant speed has no freedom left: positions and velocities are those of geometry at every
 * time, whatever the method. */
static void a_driven_crank_goes_where_it_must(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int32_t k = 0; k < bough_integrator_count(); k++) {
        const bough_integrator_info *info = bough_integrator_describe(k);
        if (!info->constraints)
            continue;
        state x = {0}, y = {0};
        const double speed = 8;
        planar s = planar_slider_crank(0.6, speed, x.q, x.v);
        s.joints[s.joint_count++] = (planar_joint){.entry = 2, .value = 0.6, .speed = speed};
        const bo_system system = planar_system(&s);
        bo_integrator *I = integrator_of(ctx, &system, info->name, 1e-10);
        bo_motion m = motion_of(&x);
        for (int i = 0; i < 200; i++)
            check_ok(ctx, bo_integrator_step(I, 0.005, &m));
        planar_slider_crank(0.6 + speed * m.t, speed, y.q, y.v);
        for (int i = 0; i < 9; i++) {
            check_near(x.q[i], y.q[i], 1e-13);
            check_near(x.v[i], y.v[i], 1e-12);
        }
        bo_integrator_destroy(ctx, I);
    }
    bough_context_destroy(ctx);
}

/* ---- steps of changing size, failures, memory ---- */

/* Steps that change by half and double from one to the next keep bdf2 at second order, multipliers too. */
static void steps_of_changing_size_keep_the_order(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double T = 0.6;
    const state reference = reference_of(true, 0, T);
    double error[2][2] = {{0}};
    for (int level = 0; level < 2; level++) {
        state x;
        planar s = make(true, &x);
        const bo_system system = planar_system(&s);
        bo_integrator *I = integrator_of(ctx, &system, "bdf2", 1e-12);
        bo_motion m = motion_of(&x);
        const int pairs = 300 << level;
        for (int i = 0; i < 2 * pairs; i++)
            check_ok(ctx, bo_integrator_step(I, T / pairs * (i % 2 ? 1. / 3 : 2. / 3), &m));
        for (int i = 0; i < 9; i++)
            error[level][0] = fmax(error[level][0], fabs(x.v[i] - reference.v[i]));
        for (int r = 0; r < s.rows; r++)
            error[level][1] = fmax(error[level][1], fabs(x.lambda[r] - reference.lambda[r]));
        bo_integrator_destroy(ctx, I);
    }
    printf("changing steps: order %.2f of velocities, %.2f of multipliers\n", log2(error[0][0] / error[1][0]),
           log2(error[0][1] / error[1][1]));
    check_near(log2(error[0][0] / error[1][0]), 2, 0.2);
    check_near(log2(error[0][1] / error[1][1]), 2, 0.2);
    bough_context_destroy(ctx);
}

/* A saved motion goes on with the same bits in another integrator. */
static void what_was_saved_goes_on(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int32_t k = 0; k < bough_integrator_count(); k++) {
        const bough_integrator_info *info = bough_integrator_describe(k);
        if (!info->constraints)
            continue;
        state x, kept, end[2];
        double history[64], t = 0;
        planar s = make(true, &x);
        const bo_system system = planar_system(&s);
        for (int second = 0; second < 2; second++) {
            bo_integrator *I = integrator_of(ctx, &system, info->name, 1e-8);
            bo_motion m = motion_of(&x);
            check(bo_integrator_history_size(I) <= 64);
            if (second)
                x = kept, m.t = t, bo_integrator_restore(I, history);
            for (int i = second ? 5 : 0; i < 10; i++) {
                if (i == 5 && !second)
                    kept = x, t = m.t, bo_integrator_save(I, history);
                check_ok(ctx, bo_integrator_step(I, 0.004, &m));
            }
            end[second] = x;
            bo_integrator_destroy(ctx, I);
        }
        if (memcmp(&end[0], &end[1], sizeof end[0]) != 0)
            fail_msg("%s does not go on as it was", info->name);
    }
    bough_context_destroy(ctx);
}

/* Steps of any size either succeed or leave all as it was, with a sentence. */
static void a_step_is_a_transaction(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    int failures = 0;
    for (int32_t k = 0; k < bough_integrator_count(); k++) {
        const bough_integrator_info *info = bough_integrator_describe(k);
        if (!info->constraints)
            continue;
        state x;
        planar s = make(true, &x);
        const bo_system system = planar_system(&s);
        bo_integrator *I = integrator_of(ctx, &system, info->name, 1e-8);
        bo_motion m = motion_of(&x);
        check_ok(ctx, bo_integrator_step(I, 1e-3, &m));
        static const double steps[] = {1e-6, 1e-3, 1e-2, 0.1, 1, 10};
        for (int i = 0; i < 18; i++) {
            const state before = x;
            double history[2][64] = {{0}};
            bo_integrator_save(I, history[0]);
            const bough_status status = bo_integrator_step(I, steps[i % 6], &m);
            if (status == BOUGH_OK) {
                for (int d = 0; d < 9; d++)
                    check(isfinite(x.q[d]) && isfinite(x.v[d]));
                continue;
            }
            failures++;
            bo_integrator_save(I, history[1]);
            check(status == BOUGH_NO_CONVERGENCE || status == BOUGH_NOT_FINITE);
            check(bough_message(ctx)[0]);
            check(memcmp(&before, &x, sizeof x) == 0 && memcmp(history[0], history[1], sizeof history[0]) == 0);
        }
        bo_integrator_destroy(ctx, I);
    }
    printf("%d steps failed\n", failures);
    bough_context_destroy(ctx);
}

/* Methods that cannot have constraints say why, when they are made. */
static void methods_that_cannot_say_so(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    state x;
    planar s = make(false, &x);
    bo_system system = planar_system(&s);
    for (int32_t k = 0; k < bough_integrator_count(); k++) {
        const bough_integrator_info *info = bough_integrator_describe(k);
        bough_integrator_def def = bough_default_integrator_def();
        bo_integrator *I;
        def.name = info->name;
        if (!info->constraints)
            check_fails(ctx, bo_integrator_create(ctx, &system, &def, &I), BOUGH_ERROR_UNSUPPORTED, info->name);
    }
    bough_integrator_def def = bough_default_integrator_def();
    bo_integrator *I;
    def.name = "trapezoidal";
    check_fails(ctx, bo_integrator_create(ctx, &system, &def, &I), BOUGH_ERROR_UNSUPPORTED, "ring");
    def.name = "rk4";
    check_fails(ctx, bo_integrator_create(ctx, &system, &def, &I), BOUGH_ERROR_UNSUPPORTED, "matrices");
    def.name = "bdf2", system.constraint_rate = NULL;
    check_fails(ctx, bo_integrator_create(ctx, &system, &def, &I), BOUGH_ERROR_UNSUPPORTED, "rate of the constraints");
    def.name = "backward-euler"; /* holds positions alone */
    check_ok(ctx, bo_integrator_create(ctx, &system, &def, &I));
    bo_motion m = motion_of(&x);
    for (int i = 0; i < 20; i++)
        check_ok(ctx, bo_integrator_step(I, 0.01, &m));
    double c[2];
    planar_constraints(&s, 0, x.q, c);
    check_below(fmax(fabs(c[0]), fabs(c[1])), 1e-10);
    bo_integrator_destroy(ctx, I);
    bough_context_destroy(ctx);
}

/* ---- where a motion starts ---- */

/* Bodies that were put down roughly are moved to where their joints are closed; what cannot be closed says so. */
static void assemblies_are_closed(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {9};
    state x;
    planar s = make(true, &x);
    const bo_system system = planar_system(&s);
    bo_integrator *I = integrator_of(ctx, &system, "bdf2", 1e-8);
    bo_motion m = motion_of(&x);
    for (int i = 0; i < 9; i++)
        x.q[i] += test_uniform(&random, -0.1, 0.1), x.v[i] += test_uniform(&random, -1, 1);
    check_ok(ctx, bo_integrator_assemble(I, &m));
    double c[PLANAR_ROWS], rate[PLANAR_ROWS];
    planar_constraints(&s, 0, x.q, c);
    planar_rate(&s, 0, x.q, x.v, rate);
    for (int r = 0; r < s.rows; r++) {
        check_below(fabs(c[r]), 1e-12);
        check_below(fabs(rate[r]), 1e-12);
    }
    check_ok(ctx, bo_integrator_step(I, 1e-3, &m));
    s.joints[0].b.x = 5; /* further than crank and rod reach, and the slider cannot leave its axis */
    s.joints[0].b.y = 3;
    const bough_status status = bo_integrator_assemble(I, &m);
    check(status != BOUGH_OK && bough_message(ctx)[0]);
    bo_integrator_destroy(ctx, I);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangents_are_derivatives),
        cmocka_unit_test(every_method_that_takes_constraints_keeps_its_order),
        cmocka_unit_test(constraints_do_not_drift_in_minutes),
        cmocka_unit_test(a_driven_crank_goes_where_it_must),
        cmocka_unit_test(steps_of_changing_size_keep_the_order),
        cmocka_unit_test(what_was_saved_goes_on),
        cmocka_unit_test(a_step_is_a_transaction),
        cmocka_unit_test(methods_that_cannot_say_so),
        cmocka_unit_test(assemblies_are_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
