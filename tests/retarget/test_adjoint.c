/* Derivatives of whole motions against differences of fourth order, and against those of an independent program. */
#include "motions.h"

#include "multibody/reference_rod.h"

enum { DIRECTIONS = 5 };

static double value_at(const problem *p, const double *points) {
    double value;
    check_ok(p->b->ctx, bough_adjoint_value(p->b->ctx, p->adjoint, points, &value));
    return value;
}

static double fourth_order(double h, const double f[4]) {
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}
static const double steps_of_difference[4] = {-2, -1, 1, 2};

/* The largest error of derivatives along random directions, against the length of the gradient along them. */
static double error_of_gradient(problem *p, double h) {
    test_random random = {5};
    const int count = POINTS * p->b->def.motor_count;
    double gradient[POINTS * MOST_MOTORS], trial[POINTS * MOST_MOTORS], value, worst = 0;
    check_ok(p->b->ctx, bough_adjoint_gradient(p->b->ctx, p->adjoint, p->curves->points, &value, gradient, NULL));
    check_near(value, value_at(p, p->curves->points), 0);
    for (int d = 0; d < DIRECTIONS; d++) {
        double direction[POINTS * MOST_MOTORS], f[4], along = 0, size = 0;
        for (int i = 0; i < count; i++) {
            direction[i] = i % POINTS < 3 ? 0 : test_uniform(&random, -1, 1);
            along += gradient[i] * direction[i], size += fabs(gradient[i] * direction[i]);
        }
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < count; i++)
                trial[i] = p->curves->points[i] + steps_of_difference[k] * h * direction[i];
            f[k] = value_at(p, trial);
        }
        worst = fmax(worst, fabs(along - fourth_order(h, f)) / size);
    }
    return worst;
}

static void gradients_are_those_of_differences(void **unused) {
    (void)unused;
    for (int i = 0; i < SYSTEMS; i++) {
        problem p;
        systems[i].fill(&p);
        finish_problem(&p);
        make_adjoint(&p);
        const double error = error_of_gradient(&p, 1e-4);
        printf("%s: gradient within %.2g of differences\n", systems[i].name, error);
        check_below(error, 1e-9);
        free_problem(&p);
    }
}

/* The excess has a corner in its slope: differences are taken of short steps, without the noise of simulations. */
static void limits_of_motors_count(void **unused) {
    (void)unused;
    problem p;
    two_rods(&p);
    finish_problem(&p);
    p.def.tracked_count = 0, p.def.input_weight = p.def.acceleration_weight = 0, p.def.limit_weight = 1;
    make_adjoint(&p);
    check(value_at(&p, p.curves->points) > 0.1);
    const double error = error_of_gradient(&p, 1e-6);
    printf("limits: gradient within %.2g of differences\n", error);
    check_below(error, 1e-8);
    free_problem(&p);
}

/* ---- the continuous adjoint ---- */

/* Kinetic energy of the second body, and how far it is away. */
static void energy_and_place(void *data, int32_t step, const double *u, const double *v, const double *lambda,
                             double *value, double *by_displacement, double *by_velocity, double *by_multiplier) {
    (void)data, (void)step, (void)lambda, (void)by_multiplier;
    for (int k = 0; k < 6; k++) {
        *value += 0.05 * v[6 + k] * v[6 + k] + (k < 3 ? 0.5 * u[7 + k] * u[7 + k] : 0);
        if (by_velocity)
            by_velocity[6 + k] += 0.1 * v[6 + k];
        if (by_displacement && k < 3)
            by_displacement[6 + k] += u[7 + k];
    }
}

/* Half the steps' length, a quarter of the error. */
static void the_continuous_adjoint_is_off_by_the_square_of_steps(void **unused) {
    (void)unused;
    if (TEST_SANITIZED)
        test_skip("thousands of steps are too slow in this build");
    static void (*const fills[])(problem *) = {one_rod, four_bars, soft_motors, geared};
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        double errors[3], of_constant[3];
        for (int refine = 0; refine < 3; refine++) {
            const int count = POINTS * MOST_MOTORS, factor = 8 << refine;
            double gradients[2][POINTS * MOST_MOTORS] = {{0}}, by_constant[2], value, largest = 0;
            for (int k = 0; k < 2; k++) {
                problem p;
                fills[i](&p);
                finish_problem(&p);
                p.parameters[0] = (bough_multibody_parameter){.kind = BOUGH_MULTIBODY_MASS, .index = 1},
                p.def.parameter_count = 1;
                p.def.tracked_count = 0, p.def.input_weight = p.def.acceleration_weight = 0, p.def.input = NULL;
                p.def.term = energy_and_place;
                p.def.dt = DT / factor, p.def.step_count = factor * STEPS, p.def.continuous = k == 1;
                make_adjoint(&p);
                check_ok(p.b->ctx, bough_adjoint_gradient(p.b->ctx, p.adjoint, p.curves->points, &value, gradients[k],
                                                          &by_constant[k]));
                free_problem(&p);
            }
            errors[refine] = 0, of_constant[refine] = fabs(by_constant[1] / by_constant[0] - 1);
            for (int j = 0; j < count; j++)
                largest = fmax(largest, fabs(gradients[0][j]));
            for (int j = 0; j < count; j++)
                errors[refine] = fmax(errors[refine], fabs(gradients[1][j] - gradients[0][j]) / largest);
        }
        printf("continuous adjoint: off by %.2g, %.2g, %.2g; by a mass %.2g, %.2g, %.2g\n", errors[0], errors[1],
               errors[2], of_constant[0], of_constant[1], of_constant[2]);
        check(errors[0] / errors[1] > 3 && errors[1] / errors[2] > 3.4 && errors[1] / errors[2] < 5);
        check_below(errors[2], 3e-4);
        if (fills[i] == one_rod ||
            fills[i] == soft_motors) /* the others go where their motors want, whatever they weigh */
            check_below(of_constant[2] / of_constant[0], 0.15);
    }
}

/* ---- constants ---- */

/* Changes a constant before the model is made. */
static void change(build *b, const bough_multibody_parameter *p, double by) {
    bough_joint_def *joint = &b->joints[p->index];
    const int last = joint->kind == BOUGH_JOINT_BALL ? 2 : p->freedom == 3 ? 5 : p->freedom; /* one about all axes */
    switch (p->kind) {
    case BOUGH_MULTIBODY_YOUNG:
        b->parts[p->index].stiffness = sqrt(pow(b->parts[p->index].stiffness, 2) + by);
        break;
    case BOUGH_MULTIBODY_DAMPING_MASS:
        b->parts[p->index].damping_mass += by;
        break;
    case BOUGH_MULTIBODY_DAMPING_STIFFNESS:
        b->parts[p->index].damping_stiffness += by;
        break;
    case BOUGH_MULTIBODY_MASS:
        b->bodies[p->index].mass += by;
        break;
    case BOUGH_MULTIBODY_JOINT_STIFFNESS:
        for (int k = p->freedom; k <= last; k++)
            joint->stiffness[k] += by;
        break;
    case BOUGH_MULTIBODY_JOINT_DAMPING:
        for (int k = p->freedom; k <= last; k++)
            joint->damping[k] += by;
        break;
    case BOUGH_MULTIBODY_MOTOR_STIFFNESS:
        b->motors[p->index].stiffness += by;
        break;
    case BOUGH_MULTIBODY_MOTOR_DAMPING:
        b->motors[p->index].damping += by;
        break;
    case BOUGH_MULTIBODY_SHAPE: /* test_shapes.c */
    case BOUGH_MULTIBODY_PARAMETER_KIND_COUNT:
        break;
    }
}

static double changed_value(void (*fill)(problem *p), bool settles, const bough_multibody_parameter *parameter,
                            double by) {
    problem p;
    fill(&p);
    p.settles = settles;
    change(p.b, parameter, by);
    finish_problem(&p);
    make_adjoint(&p);
    const double value = value_at(&p, p.curves->points);
    free_problem(&p);
    return value;
}

/* scales: lengths of the differences. */
static void check_constants(void (*fill)(problem *p), bool settles, int count,
                            const bough_multibody_parameter *parameters, const double *scales) {
    problem p;
    double found[MOST_PARAMETERS], value;
    fill(&p);
    p.settles = settles;
    finish_problem(&p);
    memcpy(p.parameters, parameters, (size_t)count * sizeof *parameters);
    p.def.parameter_count = count;
    make_adjoint(&p);
    check_ok(p.b->ctx, bough_adjoint_gradient(p.b->ctx, p.adjoint, p.curves->points, &value, NULL, found));
    for (int i = 0; i < count; i++) {
        double f[4];
        for (int k = 0; k < 4; k++)
            f[k] = changed_value(fill, settles, &parameters[i], steps_of_difference[k] * scales[i]);
        const double expected = fourth_order(scales[i], f);
        printf("constant %d of %d: %.10g, error %.2g\n", (int)parameters[i].kind, parameters[i].index, found[i],
               found[i] / expected - 1);
        check_near(found[i] / expected, 1, 1e-8);
    }
    free_problem(&p);
}

static void derivatives_by_constants_are_those_of_differences(void **unused) {
    (void)unused;
    const bough_multibody_parameter of_rod[] = {{.kind = BOUGH_MULTIBODY_YOUNG, .index = 0},
                                                {.kind = BOUGH_MULTIBODY_DAMPING_MASS, .index = 0},
                                                {.kind = BOUGH_MULTIBODY_DAMPING_STIFFNESS, .index = 0},
                                                {.kind = BOUGH_MULTIBODY_MASS, .index = 1}};
    check_constants(one_rod, false, 4, of_rod, (const double[]){1e-3, 1e-2, 2.5e-6, 1e-5});
    const bough_multibody_parameter of_springs[] = {{.kind = BOUGH_MULTIBODY_JOINT_STIFFNESS, .index = 1},
                                                    {.kind = BOUGH_MULTIBODY_JOINT_DAMPING, .index = 1},
                                                    {.kind = BOUGH_MULTIBODY_JOINT_STIFFNESS, .index = 2},
                                                    {.kind = BOUGH_MULTIBODY_JOINT_DAMPING, .index = 2},
                                                    {.kind = BOUGH_MULTIBODY_JOINT_STIFFNESS, .index = 3, .freedom = 1},
                                                    {.kind = BOUGH_MULTIBODY_JOINT_STIFFNESS, .index = 3, .freedom = 3},
                                                    {.kind = BOUGH_MULTIBODY_JOINT_DAMPING, .index = 3, .freedom = 2},
                                                    {.kind = BOUGH_MULTIBODY_MASS, .index = 2}};
    check_constants(sprung, false, 8, of_springs, (const double[]){1e-4, 1e-5, 1e-4, 1e-5, 1e-2, 1e-3, 1e-3, 1e-4});
    const bough_multibody_parameter of_motors[] = {{.kind = BOUGH_MULTIBODY_MOTOR_STIFFNESS, .index = 0},
                                                   {.kind = BOUGH_MULTIBODY_MOTOR_DAMPING, .index = 0},
                                                   {.kind = BOUGH_MULTIBODY_MOTOR_STIFFNESS, .index = 1}};
    check_constants(soft_motors, false, 3, of_motors, (const double[]){1e-2, 1e-3, 1e-1});
    /* a rod that hangs in equilibrium hangs lower where it is softer */
    check_constants(one_rod, true, 4, of_rod, (const double[]){1e-3, 1e-2, 2.5e-6, 1e-5});
    check_constants(soft_motors, true, 3, of_motors, (const double[]){1e-2, 1e-3, 1e-1});
}

/* ---- the start, and terms of the caller ---- */

/* Kinetic energy of the first body as a point, and the force in the first joint. */
static void energy_and_force(void *data, int32_t step, const double *u, const double *v, const double *lambda,
                             double *value, double *by_displacement, double *by_velocity, double *by_multiplier) {
    (void)data, (void)step;
    for (int k = 0; k < 3; k++) {
        *value += 0.5 * v[6 + k] * v[6 + k] + 1e-3 * lambda[k] * lambda[k] + 0.1 * u[7 + k] * u[7 + k];
        if (by_velocity)
            by_velocity[6 + k] += v[6 + k];
        if (by_displacement)
            by_displacement[6 + k] += 0.2 * u[7 + k];
        if (by_multiplier)
            by_multiplier[k] += 2e-3 * lambda[k];
    }
}

static void terms_of_the_caller_count(void **unused) {
    (void)unused;
    problem p;
    two_rods(&p);
    finish_problem(&p);
    p.def.term = energy_and_force;
    make_adjoint(&p);
    check_below(error_of_gradient(&p, 1e-4), 3e-10);
    free_problem(&p);
}

/* Moves all bodies and coordinates of the start, and changes their velocities. */
static double value_from(problem *p, double h, const double *direction) {
    bo_mb_state *s = bo_mb(p->b->state);
    const int32_t nv = p->b->model->nv;
    double *u = malloc((size_t)p->b->model->nu * sizeof *u), *v = malloc((size_t)nv * sizeof *v);
    double *turned = malloc((size_t)nv * sizeof *turned);
    memcpy(u, s->face.u, (size_t)p->b->model->nu * sizeof *u), memcpy(v, s->face.v, (size_t)nv * sizeof *v);
    for (int32_t i = 0; i < nv; i++)
        turned[i] = h * direction[i], s->face.v[i] += h * direction[nv + i];
    s->system.retract(s, u, turned, s->face.u);
    make_adjoint(p);
    const double value = value_at(p, p->curves->points);
    bough_adjoint_destroy(p->b->ctx, p->adjoint);
    memcpy(s->face.u, u, (size_t)p->b->model->nu * sizeof *u), memcpy(s->face.v, v, (size_t)nv * sizeof *v);
    free(u), free(v), free(turned);
    p->adjoint = NULL;
    return value;
}

static void derivatives_by_the_start_are_those_of_differences(void **unused) {
    (void)unused;
    test_random random = {8};
    problem p;
    bough_adjoint_view view;
    double direction[100], f[4], value, gradient[POINTS * MOST_MOTORS];
    one_rod(&p);
    finish_problem(&p);
    const int32_t nv = p.b->model->nv;
    for (int32_t i = 0; i < nv; i++) { /* the rod is bent, and its rates change */
        direction[i] = i < 6 ? 0 : test_uniform(&random, -0.1, 0.1);
        direction[nv + i] = i < 6 ? 0 : test_uniform(&random, -1, 1);
    }
    for (int k = 0; k < 4; k++)
        f[k] = value_from(&p, 1e-4 * steps_of_difference[k], direction);
    make_adjoint(&p);
    check_ok(p.b->ctx, bough_adjoint_gradient(p.b->ctx, p.adjoint, p.curves->points, &value, gradient, NULL));
    bough_adjoint_look(p.adjoint, &view);
    double along = 0;
    for (int32_t i = 0; i < nv; i++)
        along += view.by_start_displacement[i] * direction[i] + view.by_start_velocity[i] * direction[nv + i];
    printf("by the start: error %.2g\n", along / fourth_order(1e-4, f) - 1);
    check_near(along / fourth_order(1e-4, f), 1, 1e-9);
    free_problem(&p);
}

/* ---- memory and threads ---- */

enum { MANY_STEPS = 1000 };

static void few_megabytes_and_many_threads_change_no_bit(void **unused) {
    (void)unused;
    double gradients[3][POINTS * MOST_MOTORS], values[3], by_constant[3];
    for (int k = 0; k < 3; k++) {
        problem p;
        bough_adjoint_view view;
        four_bars(&p);
        if (k == 2) {
            bough_context_destroy(p.b->ctx);
            p.b->ctx = test_context(3);
        }
        finish_problem(&p);
        p.parameters[0] = (bough_multibody_parameter){.kind = BOUGH_MULTIBODY_MASS, .index = 3},
        p.def.parameter_count = 1;
        p.def.tracked_count = 0, p.def.input_weight = 0, p.def.input = NULL, p.def.term = energy_and_force;
        p.def.dt = STEPS * DT / MANY_STEPS, p.def.step_count = MANY_STEPS;
        p.def.tolerance = 1e-10, p.def.megabytes = k == 1 ? 0.3 : 256;
        make_adjoint(&p);
        check_ok(p.b->ctx, bough_adjoint_gradient(p.b->ctx, p.adjoint, p.curves->points, &values[k], gradients[k],
                                                  &by_constant[k]));
        bough_adjoint_look(p.adjoint, &view);
        printf("%d steps again, %lld bytes\n", view.steps_again, (long long)view.bytes);
        check(k == 1 ? view.steps_again > MANY_STEPS / 2 && view.bytes <= 300000 : view.steps_again == 0);
        check(values[k] == values[0] && by_constant[k] == by_constant[0]);
        for (int i = 0; i < POINTS; i++)
            check(gradients[k][i] == gradients[0][i]);
        free_problem(&p);
    }
}

static void what_does_not_fit_is_refused(void **unused) {
    (void)unused;
    problem p;
    one_rod(&p);
    finish_problem(&p);
    bough_context *ctx = p.b->ctx;
    bough_adjoint *none;
    const bough_adjoint_def good = p.def;
    const bough_tracked_frame frame = p.frames[0];
    const bough_multibody_parameter wrong[] = {{.kind = BOUGH_MULTIBODY_YOUNG, .index = 1},
                                               {.kind = BOUGH_MULTIBODY_MOTOR_STIFFNESS, .index = 0},
                                               {.kind = BOUGH_MULTIBODY_JOINT_STIFFNESS, .index = 0, .freedom = 1}};
    const char *const why[] = {"there are 1", "does not give way", "no spring there"};
#define refuses(sentence)                                                                                              \
    check_fails(ctx, bough_adjoint_create(ctx, p.b->model, p.b->state, p.curves, &p.def, &none), BOUGH_ERROR_ARGUMENT, \
                sentence);                                                                                             \
    p.def = good, p.frames[0] = frame
    p.def.cookie = 0;
    refuses("bough_default_adjoint_def");
    p.def.dt = 0;
    refuses("must be positive");
    p.def.step_count = 0;
    refuses("must be positive");
    p.limits[0].speed = 0;
    refuses("nothing fits");
    p.limits[0].speed = 1;
    p.def.input = NULL;
    refuses("there is no input");
    p.def.held_points = 99;
    refuses("cannot be held");
    p.def.megabytes = 0.01;
    refuses("MB at least");
    p.frames[0].positions = NULL;
    refuses("no positions");
    p.frames[0].rotations = NULL;
    refuses("no rotations");
    p.frames[0].frame.body = 9;
    refuses("tracked frame 0 lies on body 9");
    p.frames[0].position = -1;
    refuses("0 or more");
    for (int i = 0; i < 3; i++) {
        p.def.parameters = &wrong[i], p.def.parameter_count = 1;
        refuses(why[i]);
    }
    p.curves->motor_count = 2;
    refuses("curves of 2 motors");
    p.curves->motor_count = 1;
    make_adjoint(&p);
    double value = 7;
    p.curves->points[5] = NAN;
    check_fails(ctx, bough_adjoint_value(ctx, p.adjoint, p.curves->points, &value), BOUGH_NOT_FINITE, "point 5");
    p.curves->points[5] = 1e4;
    check(bough_adjoint_value(ctx, p.adjoint, p.curves->points, &value) > 0);
    check(value == 7);
    p.curves->points[5] = 0.1; /* what failed leaves nothing behind */
    const double after = value_at(&p, p.curves->points);
    bough_adjoint_destroy(ctx, p.adjoint);
    make_adjoint(&p);
    check(value_at(&p, p.curves->points) == after);
    free_problem(&p);
}

static void memory_that_fails_is_given_back(void **unused) {
    (void)unused;
    problem p;
    one_rod(&p);
    finish_problem(&p);
    for (long fail_at = 0;; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        const long live = memory.live;
        memory.calls = 0, memory.fail_at = fail_at;
        bough_adjoint *adjoint;
        const bough_status status = bough_adjoint_create(ctx, p.b->model, p.b->state, p.curves, &p.def, &adjoint);
        if (status == BOUGH_OK)
            bough_adjoint_destroy(ctx, adjoint);
        check_int(memory.live, live);
        bough_context_destroy(ctx);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
    }
    free_problem(&p);
}

/* ---- the reference ---- */

enum { REFERENCE_POINTS = 24 };

static json_t *read_json(const char *name) {
    const char *path = test_shared(name);
    json_t *json = path ? json_load_file(path, 0, NULL) : NULL;
    return json;
}

static void the_gradient_is_that_of_the_reference(void **unused) {
    (void)unused;
    static double positions[3 * (REFERENCE_STEPS + 1)];
    reference_rod *m = load_reference_rod();
    json_t *told = read_json("reference/multibody/B_gradient_onerod.json");
    if (!m || !told || !read_reference_targets(positions))
        test_skip("no reference data");
    bough_context *ctx = test_context(2);
    bough_multibody *model;
    bough_multibody_state *state;
    bough_motor_curves *curves;
    bough_adjoint *adjoint;
    check_ok(ctx, bough_multibody_create(ctx, &m->def, &model));
    check_ok(ctx, bough_multibody_state_create(ctx, model, &state));
    check_ok(ctx, bough_multibody_settle(ctx, model, state));
    check_ok(ctx, bough_motor_curves_create(ctx, 1, 3, REFERENCE_POINTS, 0, 1.6, &curves));
    for (size_t i = 0; i < REFERENCE_POINTS; i++)
        curves->points[i] = number(json_array_get(json_object_get(told, "p"), i));
    bough_tracked_frame tip = {.frame = bough_default_frame_def(), .position = 1, .positions = positions};
    tip.frame.body = 1;
    bough_adjoint_def def = bough_default_adjoint_def();
    def.step_count = REFERENCE_STEPS, def.tracked = &tip, def.tracked_count = 1;
    check_ok(ctx, bough_adjoint_create(ctx, model, state, curves, &def, &adjoint));
    double value, gradient[REFERENCE_POINTS], most = 0, worst = 0;
    check_ok(ctx, bough_adjoint_gradient(ctx, adjoint, curves->points, &value, gradient, NULL));
    for (size_t i = 0; i < REFERENCE_POINTS; i++) {
        const double x = number(json_array_get(json_object_get(told, "grad_discrete"), i));
        most = fmax(most, fabs(x)), worst = fmax(worst, fabs(gradient[i] - x));
    }
    const double objective = number(json_object_get(told, "J"));
    printf("objective within %.2g, gradient within %.2g of the reference\n", value / objective - 1, worst / most);
    check_near(value / objective, 1, 1e-9);
    check_below(worst / most, 1e-9);
    bough_adjoint_destroy(ctx, adjoint);
    bough_motor_curves_destroy(ctx, curves);
    bough_multibody_state_destroy(ctx, state);
    bough_multibody_destroy(ctx, model);
    bough_context_destroy(ctx);
    json_decref(told);
    unload_reference_rod(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_those_of_differences),
                                       cmocka_unit_test(limits_of_motors_count),
                                       cmocka_unit_test(the_continuous_adjoint_is_off_by_the_square_of_steps),
                                       cmocka_unit_test(derivatives_by_constants_are_those_of_differences),
                                       cmocka_unit_test(terms_of_the_caller_count),
                                       cmocka_unit_test(derivatives_by_the_start_are_those_of_differences),
                                       cmocka_unit_test(few_megabytes_and_many_threads_change_no_bit),
                                       cmocka_unit_test(what_does_not_fit_is_refused),
                                       cmocka_unit_test(memory_that_fails_is_given_back),
                                       cmocka_unit_test(the_gradient_is_that_of_the_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
