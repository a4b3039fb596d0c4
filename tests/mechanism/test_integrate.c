/* Reduced mechanisms moved by the integrators of the time room. */
#include "moving.h"

#include "dense/symmetric_eigen.h"

#include <bough/time.h>

/* A helix of 50 links, damped alike everywhere (which ere needs), released from a bend under a load. */
static sketch *soft_helix(double damping) {
    sketch *s = helix(50, BOUGH_JOINT_BALL);
    for (int32_t j = 0; j < s->def.joint_count; j++)
        for (int k = 0; k < 6; k++)
            s->joints[j].damping[k] = damping * s->joints[j].stiffness[k];
    return s;
}
static void bend(moving m) {
    static const double xi[6] = {0.02, -0.01, 0.03, 0.1, -0.05, 0.02};
    memcpy(m.state->xi, xi, sizeof xi);
    m.state->gravity[0] = 0.3;
}
/* A step with the same force as all others. */
static void step_pulled(bough_context *ctx, moving m, bough_mechanism_stepper *stepper, double h) {
    m.state->wrench[2] = 0.1;
    check_ok(ctx, bough_mechanism_stepper_step(ctx, stepper, h));
}
static bough_integrator_def method_at(int32_t i) {
    bough_integrator_def def = bough_default_integrator_def();
    def.name = bough_integrator_describe(i)->name;
    def.tolerance = 1e-13;
    def.mode_count = 2;
    return def;
}

/* Returns the place of the end effector after `time`, by a method. */
static void run_method(bough_context *ctx, const sketch *s, const bough_integrator_def *def, double time, int steps,
                       double xi[6]) {
    moving m = start(ctx, s);
    bough_mechanism_stepper *stepper = NULL;
    bend(m);
    check_ok(ctx, bough_mechanism_stepper_create(ctx, m.model, m.state, def, &stepper));
    for (int k = 0; k < steps; k++)
        step_pulled(ctx, m, stepper, time / steps);
    check_near(m.state->time, time, 1e-12);
    memcpy(xi, m.state->xi, 6 * sizeof *xi);
    bough_mechanism_stepper_destroy(ctx, stepper);
    stop(ctx, m);
}

/* The highest frequency of the model, rad/s. */
static double highest(bough_context *ctx, const sketch *s) {
    moving m = start(ctx, s);
    const int32_t n = m.model->rank;
    double A[36], scratch[12], values[6];
    check_int(n, 6);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            A[n * i + j] = m.model->Mz[n * i + j] / sqrt(m.model->Kz[i] * m.model->Kz[j]);
    check(bo_sym_eigen(n, A, values, NULL, scratch));
    stop(ctx, m);
    return 1 / sqrt(values[0]);
}

/* All of them come to the same motion when steps get short, each with its order. */
static void every_method_converges_with_its_order(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = soft_helix(2e-4);
    const double time = 12 / highest(ctx, s);
    double exact[6], worst = 0;
    bough_integrator_def def = method_at(0);
    def.name = "rk4";
    run_method(ctx, s, &def, time, 4000, exact);
    check(largest(6, exact) > 1e-3);
    for (int32_t i = 0; i < bough_integrator_count(); i++) {
        const bough_integrator_info *info = bough_integrator_describe(i);
        double error[2], xi[6];
        def = method_at(i);
        for (int k = 0; k < 2; k++) {
            run_method(ctx, s, &def, time, (info->order > 2 ? 40 : info->order > 1 ? 320 : 4000) << k, xi);
            error[k] = difference(6, xi, exact);
        }
        const double order = log2(error[0] / error[1]);
        worst = fmax(worst, error[1]);
        if (strcmp(info->name, "ere") == 0)
            check_below(error[0], 1e-9); /* exact here, where everything is linear */
        else
            check_near(order, info->order, 0.05 * info->order);
    }
    check_below(worst, 0.05);
    free(s);
    bough_context_destroy(ctx);
}

/* Steps of backward Euler are those of bough_mechanism_step(), with motors and loads on links. */
static void backward_euler_is_the_step_of_the_model(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = fork_of_links(2, 3, BOUGH_JOINT_BALL);
    for (int32_t j = 0; j < s->def.joint_count; j++)
        s->joints[j].offset[0] = 0.01;
    moving a = start(ctx, s), b = start(ctx, s);
    bough_mechanism_stepper *stepper = NULL;
    bough_integrator_def def = method_at(0);
    check(!strcmp(def.name, "backward-euler"));
    check_ok(ctx, bough_mechanism_stepper_create(ctx, b.model, b.state, &def, &stepper));
    const double point[3] = {0.1, 0, 0}, force[3] = {1, 2, 3}, torque[3] = {0.1, 0, 0};
    for (int k = 0; k < 50; k++) {
        moving both[2] = {a, b};
        for (int i = 0; i < 2; i++) {
            both[i].state->gravity[1] = -9;
            both[i].state->wrench[3] = 0.1 * k;
            if (k == 20)
                bough_mechanism_state_push_link(both[i].model, both[i].state, 2, point, force, torque);
        }
        check_ok(ctx, bough_mechanism_step(ctx, a.model, a.state, 0.01));
        check_ok(ctx, bough_mechanism_stepper_step(ctx, stepper, 0.01));
        check_below(difference(12, b.state->xi, a.state->xi), 1e-9);
        check_below(difference(12, b.state->phi, a.state->phi), 1e-9);
    }
    bough_mechanism_stepper_destroy(ctx, stepper);
    stop(ctx, a);
    stop(ctx, b);
    free(s);
    bough_context_destroy(ctx);
}

/* Without damping the midpoint rule and Newmark's keep what energy there is, whatever the step. */
static void energy_is_kept_without_damping(void **unused) {
    (void)unused;
    static const char *const keepers[] = {"midpoint", "newmark", "trapezoidal", "newmark-linear"};
    bough_context *ctx = test_context(1);
    sketch *s = soft_helix(0);
    for (size_t i = 0; i < sizeof keepers / sizeof *keepers; i++) {
        moving m = start(ctx, s);
        bough_mechanism_stepper *stepper = NULL;
        bough_integrator_def def = method_at(0);
        def.name = keepers[i];
        bend(m);
        check_ok(ctx, bough_mechanism_stepper_create(ctx, m.model, m.state, &def, &stepper));
        bough_mechanism_energies e = bough_mechanism_state_energies(m.model, m.state);
        /* the load's own: -w . xi */
        const double first = e.kinetic + e.elastic + e.gravity - 0.1 * m.state->xi[2];
        double most = 0;
        for (int k = 0; k < 3000; k++) {
            step_pulled(ctx, m, stepper, 0.02);
            e = bough_mechanism_state_energies(m.model, m.state);
            most = fmax(most, fabs(e.kinetic + e.elastic + e.gravity - 0.1 * m.state->xi[2] - first));
        }
        check_below(most, 1e-8 * first);
        bough_mechanism_stepper_destroy(ctx, stepper);
        stop(ctx, m);
    }
    free(s);
    bough_context_destroy(ctx);
}

/* A run that is saved in the middle and taken up by another stepper goes on with the same bits. */
static void memory_is_all_that_a_run_needs(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = soft_helix(2e-4);
    const double h = 0.05 / highest(ctx, s);
    for (int32_t i = 0; i < bough_integrator_count(); i++) {
        const bough_integrator_def def = method_at(i);
        moving a = start(ctx, s), b = start(ctx, s);
        bough_mechanism_stepper *one = NULL, *two = NULL;
        bend(a);
        bend(b);
        check_ok(ctx, bough_mechanism_stepper_create(ctx, a.model, a.state, &def, &one));
        check_ok(ctx, bough_mechanism_stepper_create(ctx, b.model, b.state, &def, &two));
        for (int k = 0; k < 7; k++)
            step_pulled(ctx, a, one, h * (1 + 0.1 * k));
        double *memory = calloc((size_t)bough_mechanism_stepper_memory_size(one), sizeof *memory);
        bough_mechanism_stepper_save(one, memory);
        memcpy(b.state->xi, a.state->xi, 6 * sizeof(double));
        memcpy(b.state->phi, a.state->phi, 6 * sizeof(double));
        b.state->time = a.state->time;
        check_int(bough_mechanism_stepper_memory_size(two), bough_mechanism_stepper_memory_size(one));
        bough_mechanism_stepper_restore(two, memory);
        for (int k = 0; k < 7; k++) {
            step_pulled(ctx, a, one, h);
            step_pulled(ctx, b, two, h);
        }
        check(!memcmp(a.state->xi, b.state->xi, 6 * sizeof(double)));
        check(!memcmp(a.state->phi, b.state->phi, 6 * sizeof(double)));
        check(a.state->time == b.state->time);
        free(memory);
        bough_mechanism_stepper_destroy(ctx, one);
        bough_mechanism_stepper_destroy(ctx, two);
        stop(ctx, a);
        stop(ctx, b);
    }
    free(s);
    bough_context_destroy(ctx);
}

/* A state that was put elsewhere is where the method goes on from, without what it remembers of before. */
static void a_state_that_jumps_begins_anew(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = soft_helix(2e-4);
    bough_integrator_def def = method_at(0);
    def.name = "bdf2";
    moving a = start(ctx, s), b = start(ctx, s);
    bough_mechanism_stepper *one = NULL, *two = NULL;
    check_ok(ctx, bough_mechanism_stepper_create(ctx, a.model, a.state, &def, &one));
    check_ok(ctx, bough_mechanism_stepper_create(ctx, b.model, b.state, &def, &two));
    a.state->phi[2] = 1;
    for (int k = 0; k < 5; k++)
        check_ok(ctx, bough_mechanism_stepper_step(ctx, one, 1e-3));
    memset(a.state->phi, 0, 6 * sizeof(double));
    bend(a);
    bend(b);
    for (int k = 0; k < 5; k++) {
        step_pulled(ctx, a, one, 1e-3);
        step_pulled(ctx, b, two, 1e-3);
    }
    check(!memcmp(a.state->xi, b.state->xi, 6 * sizeof(double)));
    bough_mechanism_stepper_destroy(ctx, one);
    bough_mechanism_stepper_destroy(ctx, two);
    stop(ctx, a);
    stop(ctx, b);
    free(s);
    bough_context_destroy(ctx);
}

static void what_cannot_be_is_said(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    sketch *s = fork_of_links(2, 3, BOUGH_JOINT_BALL);
    bough_mechanism_stepper *stepper = NULL;
    bough_integrator_def def = bough_default_integrator_def();
    moving m = start(ctx, s);
    def.name = "ere"; /* its joints are damped differently */
    check_ok(ctx, bough_mechanism_stepper_create(ctx, m.model, m.state, &def, &stepper));
    check_fails(ctx, bough_mechanism_stepper_step(ctx, stepper, 0.01), BOUGH_ERROR_UNSUPPORTED, "damping");
    bough_mechanism_stepper_destroy(ctx, stepper);
    def.name = "none";
    check_fails(ctx, bough_mechanism_stepper_create(ctx, m.model, m.state, &def, &stepper), BOUGH_ERROR_ARGUMENT,
                "none");
    check_ok(ctx, bough_mechanism_stepper_create(ctx, m.model, m.state, NULL, &stepper));
    m.state->wrench[0] = 1;
    const long calls = memory.calls;
    check_ok(ctx, bough_mechanism_stepper_step(ctx, stepper, 0.01));
    const double x = m.state->xi[0];
    check(x != 0);
    check_fails(ctx, bough_mechanism_stepper_step(ctx, stepper, -1), BOUGH_ERROR_ARGUMENT, "positive");
    m.state->wrench[3] = NAN;
    check_fails(ctx, bough_mechanism_stepper_step(ctx, stepper, 0.01), BOUGH_NOT_FINITE, "not finite");
    check(m.state->xi[0] == x && m.state->time == 0.01);
    m.state->wrench[3] = 0;
    check_ok(ctx, bough_mechanism_stepper_step(ctx, stepper, 0.02));
    check_int(memory.calls, calls);
    bough_mechanism_stepper_destroy(ctx, stepper);
    stop(ctx, m);
    s->def.free_base = true;
    m = start(ctx, s);
    check_fails(ctx, bough_mechanism_stepper_create(ctx, m.model, m.state, NULL, &stepper), BOUGH_ERROR_ARGUMENT,
                "free base moves by backward Euler");
    check(!stepper);
    stop(ctx, m);
    check_int(memory.live, 1); /* the context */
    free(s);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_converges_with_its_order),
        cmocka_unit_test(backward_euler_is_the_step_of_the_model),
        cmocka_unit_test(energy_is_kept_without_damping),
        cmocka_unit_test(memory_is_all_that_a_run_needs),
        cmocka_unit_test(a_state_that_jumps_begins_anew),
        cmocka_unit_test(what_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
