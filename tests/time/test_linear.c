/* Integrators on a single oscillator, where everything about them is known. */
#include "test.h"

#include "time/integrator.h"

/* q'' = -w^2 q - d q' */
typedef struct {
    double stiffness, damping, A;
} oscillator;

static bough_status force(void *data, double t, const double *q, double *U, double *f) {
    const oscillator *o = data;
    (void)t;
    if (U)
        *U = 0.5 * o->stiffness * q[0] * q[0];
    f[0] = -o->stiffness * q[0];
    return BOUGH_OK;
}
static void multiply(void *data, bo_matrix which, const double *x, double *y) {
    const oscillator *o = data;
    y[0] = x[0] * (which == BO_MATRIX_M ? 1 : which == BO_MATRIX_D ? o->damping : o->stiffness);
}
static bough_status factor(void *data, double a, double b, double c) {
    oscillator *o = data;
    o->A = a + b * o->damping + c * o->stiffness;
    return o->A > 0 ? BOUGH_OK : BOUGH_ERROR_SINGULAR;
}
static bough_status solve(void *data, const double *b, double *x) {
    x[0] = b[0] / ((oscillator *)data)->A;
    return BOUGH_OK;
}

static bo_system system_of(oscillator *o) {
    return (bo_system){.data = o,
                       .rayleigh_mass = o->damping,
                       .size = 1,
                       .position_size = 1,
                       .has_potential = true,
                       .force = force,
                       .linearise = bo_system_keep_stiffness,
                       .damp = bo_system_keep_damping,
                       .multiply = multiply,
                       .factor = factor,
                       .solve = solve};
}

static double damping_of(bough_context *ctx, const char *name, double rho, double hw) {
    bough_integrator_def def = bough_default_integrator_def();
    double d;
    def.name = name, def.rho = rho;
    check_ok(ctx, bough_integrator_damping(ctx, &def, hw, &d));
    return d;
}

/* d/w = -2 ln rho / (hw): numerical damping over frequency. */
static void damping_curves_are_those_of_theory(void **state) {
    (void)state;
    static const double hw[10] = {0.1, 0.5, 1, 2, 3, 5, 10, 20, 50, 100};
    static const struct {
        const char *name;
        double rho, d[10];
    } rows[] = {
        {"backward-euler", 0, {0.0995, 0.446, 0.693, 0.805, 0.768, 0.652, 0.462, 0.300, 0.156, 0.0921}},
        {"bdf2", 0, {0.000488, 0.0386, 0.138, 0.271, 0.313, 0.307, 0.240, 0.163, 0.0865, 0.0510}},
        {"tr-bdf2", 0, {6.93e-6, 0.000832, 0.00590, 0.0318, 0.0662, 0.119, 0.156, 0.141, 0.0923, 0.0599}},
        {"sdirk", 0, {7.35e-6, 0.000882, 0.00626, 0.0338, 0.0702, 0.125, 0.162, 0.144, 0.0936, 0.0606}},
        {"generalised-alpha", 0, {0.000962, 0.0635, 0.196, 0.347, 0.384, 0.368, 0.283, 0.192, 0.102, 0.0608}},
        {"generalised-alpha", 0.5, {3.68e-5, 0.00396, 0.0215, 0.0649, 0.0882, 0.0961, 0.0764, 0.0489, 0.0232, 0.0124}},
    };
    bough_context *ctx = test_context(1);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int k = 0; k < 10; k++) {
            double d = damping_of(ctx, rows[r].name, rows[r].rho, hw[k]);
            if (!(fabs(d / rows[r].d[k] - 1) < 6e-3))
                fail_msg("%s rho %g hw %g: d/w = %.4g, expected %.3g", rows[r].name, rows[r].rho, hw[k], d,
                         rows[r].d[k]);
        }
    static const char *const undamped[] = {"trapezoidal", "midpoint", "newmark"};
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < 10; k++)
            check_near(damping_of(ctx, undamped[m], 1, hw[k]), 0, 1e-9);
    /* On a linear system a semi-implicit method is its implicit sibling. */
    static const char *const pairs[][2] = {{"si", "backward-euler"}, {"sbdf2", "bdf2"},
                                           {"str-sbdf2", "tr-bdf2"}, {"s-sdirk", "sdirk"},
                                           {"hht-linear", "hht"},    {"newmark-linear", "newmark"}};
    for (int p = 0; p < 6; p++)
        for (int k = 0; k < 10; k++)
            check_near(damping_of(ctx, pairs[p][0], 1, hw[k]), damping_of(ctx, pairs[p][1], 1, hw[k]), 1e-9);
    bough_context_destroy(ctx);
}

/* ere and the hybrids of a single mode keep energy at any step; their curves are zero. */
static void exponentials_do_not_damp(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const names[] = {"ere", "siere", "beere", "sbdf2ere", "bdf2ere"};
    for (int m = 0; m < 5; m++)
        for (double hw = 0.1; hw < 200; hw *= 3)
            check_near(damping_of(ctx, names[m], 1, hw), 0, 1e-8);
    bough_context_destroy(ctx);
}

/* Damped oscillation from q = 1: the error at t = 2 falls with the method's order. */
static double error_at(bough_context *ctx, const char *name, int steps) {
    const double w2 = 9, d = 0.4, T = 2;
    oscillator o = {.stiffness = w2, .damping = d};
    bo_system system = system_of(&o);
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name, def.tolerance = 1e-13;
    bo_integrator *I;
    check_ok(ctx, bo_integrator_create(ctx, &system, &def, &I));
    double q = 1, v = 0, a = 0;
    bo_motion m = {.q = &q, .v = &v, .a = &a};
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bo_integrator_step(I, T / steps, &m));
    check(I->arena.peak <= I->arena.capacity);
    bo_integrator_destroy(ctx, I);
    double s = d / 2, w = sqrt(w2 - s * s);
    double q_exact = exp(-s * T) * (cos(w * T) + s / w * sin(w * T)), v_exact = -exp(-s * T) * w2 / w * sin(w * T);
    return hypot(q - q_exact, (v - v_exact) / w);
}

static void every_method_has_its_order(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int32_t i = 0; i < bough_integrator_count(); i++) {
        const bough_integrator_info *info = bough_integrator_describe(i);
        int steps = info->order > 2 ? 60 : 400; /* coarse where rounding would show */
        double order = log2(error_at(ctx, info->name, steps) / error_at(ctx, info->name, 2 * steps));
        printf("%-20s order %.3f\n", info->name, order);
        /* One degree of freedom is one mode, which these move exactly; what is left is rounding. */
        if (strcmp(info->name, "ere") == 0 || (info->needs[0] == 'm' && info->name[0] != 't' && info->name[1] != 't')) {
            check_below(error_at(ctx, info->name, 40), 1e-12);
            continue;
        }
        check_near(order, info->order, 0.1);
    }
    bough_context_destroy(ctx);
}

/* ---- a mass that depends on the position, and the force on the velocity that comes with it ---- */

/* L = (1 + q^2) v^2 / 2 - k q^2 / 2:  (1 + q^2) a = -k q - q v^2 */
typedef struct {
    double stiffness, mass, bias, A;
} bead;

static bough_status bead_enter(void *data, double t, const double *q, const double *v) {
    bead *b = data;
    (void)t;
    b->mass = 1 + q[0] * q[0];
    b->bias = -q[0] * v[0] * v[0];
    return BOUGH_OK;
}
static bough_status bead_force(void *data, double t, const double *q, double *U, double *f) {
    const bead *b = data;
    (void)t;
    if (U)
        *U = 0.5 * b->stiffness * q[0] * q[0] - b->bias * q[0];
    f[0] = -b->stiffness * q[0] + b->bias;
    return BOUGH_OK;
}
static void bead_multiply(void *data, bo_matrix which, const double *x, double *y) {
    const bead *b = data;
    y[0] = x[0] * (which == BO_MATRIX_M ? b->mass : which == BO_MATRIX_D ? 0 : b->stiffness);
}
static bough_status bead_factor(void *data, double a, double b, double c) {
    bead *o = data;
    (void)b;
    o->A = a * o->mass + c * o->stiffness;
    return BOUGH_OK;
}
static bough_status bead_solve(void *data, const double *b, double *x) {
    x[0] = b[0] / ((const bead *)data)->A;
    return BOUGH_OK;
}

/* Error of the energy at t = 1. */
static double bead_error(bough_context *ctx, const char *name, int steps) {
    bead b = {.stiffness = 4};
    const bo_system system = {.data = &b,
                              .size = 1,
                              .position_size = 1,
                              .has_potential = true,
                              .enter = bead_enter,
                              .force = bead_force,
                              .linearise = bo_system_keep_stiffness,
                              .damp = bo_system_keep_damping,
                              .multiply = bead_multiply,
                              .factor = bead_factor,
                              .solve = bead_solve};
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name;
    bo_integrator *I;
    check_ok(ctx, bo_integrator_create(ctx, &system, &def, &I));
    double q = 1, v = 0.5, a = 0, before = 0.5 * (1 + q * q) * v * v + 2 * q * q;
    bo_motion m = {.q = &q, .v = &v, .a = &a};
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bo_integrator_step(I, 1.0 / steps, &m));
    bo_integrator_destroy(ctx, I);
    return fabs(0.5 * (1 + q * q) * v * v + 2 * q * q - before);
}

/* Explicit methods see the mass of every stage and keep their order; the others see it lagged, which is first order. */
static void masses_may_depend_on_the_position(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check_near(log2(bead_error(ctx, "rk4", 40) / bead_error(ctx, "rk4", 80)), 4, 0.3);
    check_below(bead_error(ctx, "rk4", 400), 1e-9);
    static const char *const lagged[] = {"backward-euler", "si", "bdf2", "hht-linear"};
    for (int m = 0; m < 4; m++)
        check_near(log2(bead_error(ctx, lagged[m], 1000) / bead_error(ctx, lagged[m], 2000)), 1, 0.1);
    bough_context_destroy(ctx);
}

static void wrong_definitions_are_explained(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    oscillator o = {.stiffness = 1};
    bo_system system = system_of(&o);
    bough_integrator_def def = bough_default_integrator_def();
    bo_integrator *I;
    def.name = "trbdf2";
    check_fails(ctx, bo_integrator_create(ctx, &system, &def, &I), BOUGH_ERROR_ARGUMENT, "did you mean \"tr-bdf2\"");
    def = bough_default_integrator_def();
    def.rho = 2;
    check_fails(ctx, bo_integrator_create(ctx, &system, &def, &I), BOUGH_ERROR_ARGUMENT, "rho");
    def.cookie = 0;
    check_fails(ctx, bo_integrator_create(ctx, &system, &def, &I), BOUGH_ERROR_ARGUMENT, "default");
    def = bough_default_integrator_def();
    check_ok(ctx, bo_integrator_create(ctx, &system, &def, &I));
    static const double wrong[] = {0, -1, NAN, INFINITY};
    double q = 1, v = 0, a = 0;
    bo_motion motion = {.q = &q, .v = &v, .a = &a};
    for (int i = 0; i < 4; i++)
        check_fails(ctx, bo_integrator_step(I, wrong[i], &motion), BOUGH_ERROR_ARGUMENT, "time step");
    bo_integrator_destroy(ctx, I);
    bough_context_destroy(ctx);
}

/* ---- a wall: a force of 100 N drives a particle towards q = 1, where U = -k log(1 - q) holds it ---- */

typedef struct {
    double A, curvature;
    int bounds, beyond; /* times that a bound was asked for, and that a force was wanted beyond the wall */
} wall;
enum { DRIVE = 100 };
static const double softness = 0.1;

static bough_status wall_force(void *data, double t, const double *q, double *U, double *f) {
    wall *w = data;
    (void)t;
    for (int i = 0; i < 2; i++)
        if (q[i] >= 1) {
            w->beyond++;
            return BOUGH_NOT_FINITE;
        }
    if (U)
        *U = -DRIVE * q[0] - softness * log(1 - q[0]) + 0.5 * q[1] * q[1];
    f[0] = DRIVE - softness / (1 - q[0]);
    f[1] = -q[1];
    return BOUGH_OK;
}
static bough_status wall_linearise(void *data, double t, const double *q, bool project) {
    (void)t, (void)project;
    ((wall *)data)->curvature = softness / ((1 - q[0]) * (1 - q[0]));
    return BOUGH_OK;
}
static void wall_multiply(void *data, bo_matrix which, const double *x, double *y) {
    const double k[2] = {((wall *)data)->curvature, 1};
    for (int i = 0; i < 2; i++)
        y[i] = x[i] * (which == BO_MATRIX_M ? 1 : which == BO_MATRIX_D ? 0 : k[i]);
}
static bough_status wall_factor(void *data, double a, double b, double c) {
    (void)b;
    ((wall *)data)->A = a + c * ((wall *)data)->curvature;
    return BOUGH_OK;
}
static bough_status wall_solve(void *data, const double *b, double *x) {
    x[0] = b[0] / ((wall *)data)->A;
    x[1] = b[1] / 2;
    return BOUGH_OK;
}
static double wall_bound(void *data, double t, const double *q, const double *dq) {
    (void)t;
    ((wall *)data)->bounds++;
    return dq[0] > 0.9 * (1 - q[0]) ? 0.9 * (1 - q[0]) / dq[0] : 1;
}

/* Newton's steps would go far beyond the wall; none goes further than the system's bound. */
static void steps_end_before_obstacles(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    wall w = {0};
    const bo_system system = {.data = &w,
                              .size = 2,
                              .position_size = 2,
                              .has_potential = true,
                              .force = wall_force,
                              .linearise = wall_linearise,
                              .damp = bo_system_keep_damping,
                              .multiply = wall_multiply,
                              .factor = wall_factor,
                              .solve = wall_solve,
                              .step_bound = wall_bound};
    bough_integrator_def def = bough_default_integrator_def();
    bo_integrator *integrator;
    double q[2] = {0, 0}, v[2] = {0, 0}, a[2] = {0, 0};
    bo_motion motion = {.q = q, .v = v, .a = a};
    def.name = "backward-euler", def.tolerance = 1e-12;
    check_ok(ctx, bo_integrator_create(ctx, &system, &def, &integrator));
    check_ok(ctx, bo_integrator_step(integrator, 1, &motion));
    check(w.bounds > 0);
    check_int(w.beyond, 0);
    check(q[0] > 0.9 && q[0] < 1);
    check_near(v[0], DRIVE - softness / (1 - q[0]), 1e-9);
    bo_integrator_destroy(ctx, integrator);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damping_curves_are_those_of_theory), cmocka_unit_test(exponentials_do_not_damp),
        cmocka_unit_test(every_method_has_its_order),         cmocka_unit_test(masses_may_depend_on_the_position),
        cmocka_unit_test(wrong_definitions_are_explained),    cmocka_unit_test(steps_end_before_obstacles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
