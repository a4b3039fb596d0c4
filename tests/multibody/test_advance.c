/* Steps whose length suits the motion. */
#include "lumps.h"

/* A hub that a motor swings, with a flexible part on it and a weight at the end of that. */
typedef struct {
    lump *b;
    bough_multibody *model;
    bough_multibody_state *state;
} swing;

static void there_and_back(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data, (void)motor;
    const double x = fmin(fmax((time - 0.3) / 0.2, 0), 1); /* at rest before and after */
    *place = 0.5 * x * x * x * (10 - 15 * x + 6 * x * x);
    *rate = 0.5 / 0.2 * 30 * x * x * (1 - x) * (1 - x);
}

static swing start(bough_context *ctx) {
    test_random random = {21};
    swing s = {.b = make_lump(&random, 3, 0.4)};
    bough_rigid_body_def bodies[2] = {bough_default_rigid_body_def(), bough_default_rigid_body_def()};
    memcpy(bodies[1].pose.position, s.b->faces[0].centre, sizeof bodies[1].pose.position);
    bodies[1].mass = 0.2;
    bough_flexible_def part = bough_default_flexible_def();
    part.component = &s.b->c, part.clamp.body = 0;
    bough_joint_def joints[2] = {bough_default_joint_def(), bough_default_joint_def()};
    joints[0].child.body = 0;
    joints[1].kind = BOUGH_JOINT_WELD, joints[1].child.body = 1;
    joints[1].parent.body = 2, joints[1].parent.interface_index = 0;
    bough_motor_def motor = bough_default_motor_def();
    bough_multibody_def def = bough_default_multibody_def();
    def.body_count = 2, def.bodies = bodies, def.part_count = 1, def.parts = &part;
    def.joint_count = 2, def.joints = joints, def.motor_count = 1, def.motors = &motor;
    check_ok(ctx, bough_multibody_create(ctx, &def, &s.model));
    check_ok(ctx, bough_multibody_state_create(ctx, s.model, &s.state));
    s.state->drive = there_and_back;
    return s;
}

static void end(bough_context *ctx, swing *s) {
    bough_multibody_state_destroy(ctx, s->state);
    bough_multibody_destroy(ctx, s->model);
    free_lump(s->b);
}

/* A hundredfold tolerance gives about a twentieth of the error (BDF2: its square root, cubed ...), and more steps where
 * the motor moves than where everything is at rest. */
static void tolerances_are_kept(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    swing exact = start(ctx);
    for (int i = 0; i < 20000; i++)
        check_ok(ctx, bough_multibody_step(ctx, exact.model, exact.state, 5e-5));
    double errors[3];
    for (int k = 0; k < 3; k++) {
        swing s = start(ctx);
        int32_t steps[10];
        errors[k] = 0;
        for (int i = 0; i < 10; i++)
            check_ok(ctx, bough_multibody_advance(ctx, s.model, s.state, 0.1, pow(10, -4 - 2 * k), &steps[i]));
        check_near(s.state->time, 1, 1e-12);
        for (int i = 0; i < 3; i++)
            errors[k] = fmax(errors[k], fabs(s.state->u[7 + i] - exact.state->u[7 + i]));
        check(steps[2] <= 4 && steps[3] > 4 * steps[2]);
        end(ctx, &s);
    }
    check(errors[1] < 0.2 * errors[0] && errors[2] < 0.2 * errors[1]);
    check_below(errors[2], 2e-4);
    end(ctx, &exact);
    bough_context_destroy(ctx);
}

/* Forces act during all of the advance, and are gone after it. */
static void forces_last_as_long(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_rigid_body_def body = bough_default_rigid_body_def();
    bough_multibody_def def = bough_default_multibody_def();
    def.body_count = 1, def.bodies = &body;
    bough_multibody *model;
    bough_multibody_state *state;
    check_ok(ctx, bough_multibody_create(ctx, &def, &model));
    check_ok(ctx, bough_multibody_state_create(ctx, model, &state));
    for (int i = 0; i < 2; i++) {
        state->force[0] = i == 0 ? 3 : 0;
        check_ok(ctx, bough_multibody_advance(ctx, model, state, 0.5, 1e-6, NULL));
        check_near(state->v[0], 1.5, 1e-5); /* BDF2 hands a part of the last step's force on */
        check_near(state->force[0], 0, 0);
    }
    bough_multibody_state_destroy(ctx, state);
    bough_multibody_destroy(ctx, model);
    bough_context_destroy(ctx);
}

static void bad_requests_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    swing s = start(ctx);
    check_fails(ctx, bough_multibody_step(ctx, s.model, s.state, -1), BOUGH_ERROR_ARGUMENT, "must be positive");
    check_fails(ctx, bough_multibody_advance(ctx, s.model, s.state, NAN, 1e-6, NULL), BOUGH_ERROR_ARGUMENT, "positive");
    check_fails(ctx, bough_multibody_advance(ctx, s.model, s.state, 1, 0, NULL), BOUGH_ERROR_ARGUMENT, "positive");
    bough_integrator_def method = bough_default_integrator_def();
    method.name = "newmark";
    check_fails(ctx, bough_multibody_use_integrator(ctx, s.model, s.state, &method), BOUGH_ERROR_UNSUPPORTED,
                "generalised-alpha");
    method.name = "bdf2";
    check_ok(ctx, bough_multibody_use_integrator(ctx, s.model, s.state, &method));
    check_fails(ctx, bough_multibody_advance(ctx, s.model, s.state, 1, 1e-6, NULL), BOUGH_ERROR_UNSUPPORTED,
                "own method");
    check_ok(ctx, bough_multibody_use_integrator(ctx, s.model, s.state, NULL));
    check_ok(ctx, bough_multibody_advance(ctx, s.model, s.state, 0.01, 1e-6, NULL));
    end(ctx, &s);
    bough_context_destroy(ctx);
}

/* A swing of 0.45 s in so many steps by the method of this name; NULL: by its own. */
static swing swing_by(bough_context *ctx, const char *name, int steps) {
    swing s = start(ctx);
    bough_integrator_def method = bough_default_integrator_def();
    method.name = name, method.tolerance = 1e-10;
    check_ok(ctx, bough_multibody_use_integrator(ctx, s.model, s.state, name ? &method : NULL));
    for (int i = 0; i < steps; i++) {
        check_ok(ctx, bough_multibody_step(ctx, s.model, s.state, 0.45 / steps));
        if (name)
            check_below(s.state->drift, 1e-9);
    }
    check(s.state->iterations > 0);
    return s;
}
static double apart(const swing *a, const swing *b) {
    double most = 0;
    for (int32_t i = 0; i < bough_multibody_position_count(a->model); i++)
        most = fmax(most, fabs(a->state->u[i] - b->state->u[i]));
    return most;
}

/* Every method that takes constraints comes to the same end, with its order and with closed joints, and so does the own
 * method. */
static void other_methods_come_to_the_same_end(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    swing exact = swing_by(ctx, "tr-bdf2", 6400), own = swing_by(ctx, NULL, 6400);
    printf("own method           error  %.1e\n", apart(&own, &exact));
    check_below(apart(&own, &exact), 1e-5);
    for (int32_t k = 0; k < bough_integrator_count(); k++) {
        const bough_integrator_info *info = bough_integrator_describe(k);
        if (!info->constraints)
            continue;
        double errors[2];
        for (int level = 0; level < 2; level++) {
            swing s = swing_by(ctx, info->name, 200 << level);
            errors[level] = apart(&s, &exact);
            end(ctx, &s);
        }
        printf("%-20s errors %.1e %.1e\n", info->name, errors[0], errors[1]);
        check_near(log2(errors[0] / errors[1]), info->order, 0.2);
    }
    end(ctx, &exact);
    end(ctx, &own);
    bough_context_destroy(ctx);
}

/* The drift is that of the last step alone: after a coarse step a fine one has less. */
static void the_drift_is_that_of_the_last_step(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    swing s = start(ctx);
    double coarse = 0;
    for (int i = 0; i < 30; i++) {
        check_ok(ctx, bough_multibody_step(ctx, s.model, s.state, 0.02));
        coarse = fmax(coarse, s.state->drift);
    }
    for (int i = 0; i < 200; i++)
        check_ok(ctx, bough_multibody_step(ctx, s.model, s.state, 1e-3));
    printf("drift %.1e, then %.1e m\n", coarse, s.state->drift);
    check(s.state->drift < 0.5 * coarse);
    end(ctx, &s);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerances_are_kept), cmocka_unit_test(other_methods_come_to_the_same_end),
        cmocka_unit_test(the_drift_is_that_of_the_last_step), cmocka_unit_test(forces_last_as_long),
        cmocka_unit_test(bad_requests_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
