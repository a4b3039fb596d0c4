/* Integrators on a nonlinear beam of finite elements. */
#include "test.h"

#include "fem/system.h"
#include "time/integrator.h"

typedef struct {
    bough_mesh *mesh;
    bough_body *body;
    bough_load_case *load_case;
    bo_system system;
    int32_t n;
    double *q, *v, *a;
    bo_motion motion;
} beam;

/* A soft beam of 4 x 1 x 1 hexahedra, clamped at x = 0 unless free. */
static double young = 1e5; /* Pa */

static beam make_beam(bough_context *ctx, bough_material_model model, bool clamped, double damping_stiffness) {
    beam b = {0};
    bough_box_def box = bough_default_box_def();
    box.type = BOUGH_HEX8;
    box.size[0] = 1, box.size[1] = box.size[2] = 0.25;
    box.cells[0] = 4, box.cells[1] = box.cells[2] = 1;
    bough_body_def def = bough_default_body_def();
    def.material.model = model;
    def.material.young = young, def.material.poisson = 0.4;
    def.damping_stiffness = damping_stiffness;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &b.mesh));
    check_ok(ctx, bough_body_create(ctx, b.mesh, &def, &b.body));
    check_ok(ctx, bough_load_case_create(ctx, b.body, &b.load_case));
    if (clamped) {
        int32_t *vertices, count;
        check_ok(ctx, bough_mesh_select(ctx, b.mesh, "x0", &vertices, &count));
        check_ok(ctx, bough_load_case_fix(ctx, b.load_case, vertices, count, BOUGH_AXES, NULL));
        bough_release(ctx, vertices);
    }
    check_ok(ctx, bo_body_system_create(ctx, b.body, b.load_case, &b.system));
    b.n = b.system.size;
    b.q = calloc((size_t)b.n, sizeof(double));
    b.v = calloc((size_t)b.n, sizeof(double));
    b.a = calloc((size_t)b.n, sizeof(double));
    b.motion = (bo_motion){.q = b.q, .v = b.v, .a = b.a};
    return b;
}

static void free_beam(bough_context *ctx, beam *b) {
    bo_body_system_destroy(ctx, &b->system);
    bough_load_case_destroy(ctx, b->load_case);
    bough_body_destroy(ctx, b->body);
    bough_mesh_destroy(ctx, b->mesh);
    free(b->q), free(b->v), free(b->a);
}

/* Bending and stretching at once; smooth, so that no method is punished for what it cannot see. */
static void kick(beam *b, double speed) {
    for (int32_t k = 0; k < b->n / 3; k++) {
        double x = b->mesh->vertices[3 * k];
        b->v[3 * k] = 0.2 * speed * x, b->v[3 * k + 2] = speed * x * x;
    }
}

static double energy(bough_context *ctx, beam *b) {
    double U, *w = calloc((size_t)b->n, sizeof *w), T = 0;
    check_ok(ctx, b->system.force(b->system.data, 0, b->q, &U, w));
    b->system.multiply(b->system.data, BO_MATRIX_M, b->v, w);
    for (int32_t i = 0; i < b->n; i++)
        T += 0.5 * b->v[i] * w[i];
    free(w);
    return U + T;
}

static void run(bough_context *ctx, beam *b, const char *name, double T, int steps, double *end) {
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name, def.rho = 0.5, def.tolerance = 1e-11;
    bo_integrator *I;
    check_ok(ctx, bo_integrator_create(ctx, &b->system, &def, &I));
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bo_integrator_step(I, T / steps, &b->motion));
    check(I->arena.peak <= I->arena.capacity);
    for (int32_t i = 0; i < b->n; i++)
        end[i] = b->q[i], end[b->n + i] = 0.05 * b->v[i];
    bo_integrator_destroy(ctx, I);
}

/* Order on the nonlinear beam, against a fine reference by another method of second order or better. */
static void check_orders(bough_material_model model, double damping) {
    bough_context *ctx = test_context(1);
    const double T = 0.05;
    enum { SIZE = 2 * 60 };
    double reference[SIZE], ends[2][SIZE];
    {
        beam b = make_beam(ctx, model, true, damping);
        check_int(b.n, 60);
        kick(&b, 2);
        run(ctx, &b, damping > 0 ? "ere" : "rk4", T, damping > 0 ? 2000 : 3000, reference);
        free_beam(ctx, &b);
    }
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        const bough_integrator_info *info = bough_integrator_describe(m);
        bool hybrid = info->needs[0] == 'm'; /* dear: new modes every step */
        if (info->order > 2 || (hybrid && model == BOUGH_MATERIAL_STABLE_NEO_HOOKEAN && !test_long()) ||
            (damping > 0 && (hybrid || (info->explicit_method && !info->a_stable))))
            continue;
        double error[2] = {0, 0};
        for (int level = 0; level < 2; level++) {
            beam b = make_beam(ctx, model, true, damping);
            kick(&b, 2);
            run(ctx, &b, info->name, T, (info->order == 2 ? 200 : hybrid ? 300 : 500) << level, ends[level]);
            for (int i = 0; i < 2 * b.n; i++)
                error[level] += pow(ends[level][i] - reference[i], 2);
            free_beam(ctx, &b);
        }
        double order = 0.5 * log2(error[0] / error[1]);
        printf("%-20s %-20s order %.3f error %.1e\n", bough_material_name(model), info->name, order, sqrt(error[1]));
        check_near(order, info->order, 0.1);
    }
    bough_context_destroy(ctx);
}

static void orders_on_a_stvk_beam(void **state) {
    (void)state;
    check_orders(BOUGH_MATERIAL_STVK, 0);
}

static void orders_on_a_stable_neo_hookean_beam(void **state) {
    (void)state;
    check_orders(BOUGH_MATERIAL_STABLE_NEO_HOOKEAN, 0);
}

static void stiffness_damping_keeps_the_order(void **state) {
    (void)state;
    check_orders(BOUGH_MATERIAL_STVK, 2e-3);
}

/* With modes kept from the start the second-order hybrids are first order, but they do not blow up. */
static void frozen_modes_are_safe(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const names[] = {"siere", "beere", "sbdf2ere", "bdf2ere", "str-sbdf2ere", "tr-bdf2ere"};
    for (int m = 0; m < 6; m++) {
        beam b = make_beam(ctx, BOUGH_MATERIAL_STABLE_NEO_HOOKEAN, true, 0);
        kick(&b, 3);
        double before = energy(ctx, &b);
        bough_integrator_def def = bough_default_integrator_def();
        def.name = names[m], def.mode_refresh = 1000000;
        bo_integrator *I;
        check_ok(ctx, bo_integrator_create(ctx, &b.system, &def, &I));
        for (int i = 0; i < 300; i++)
            check_ok(ctx, bo_integrator_step(I, 0.01, &b.motion));
        printf("%-14s frozen modes, 3 s: energy %.3f of the start\n", names[m], energy(ctx, &b) / before);
        check_below(energy(ctx, &b), 1.5 * before);
        bo_integrator_destroy(ctx, I);
        free_beam(ctx, &b);
    }
    bough_context_destroy(ctx);
}

/* A free body keeps its linear and angular momentum with the midpoint rule. */
static void midpoint_keeps_momentum(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    beam b = make_beam(ctx, BOUGH_MATERIAL_STVK, false, 0);
    for (int32_t k = 0; k < b.n / 3; k++) {
        const double *x = b.mesh->vertices + 3 * k;
        b.v[3 * k] = 1 - x[1], b.v[3 * k + 1] = x[0] + x[2] * x[2], b.v[3 * k + 2] = 2 * x[0] * x[0];
    }
    double P[2][3], L[2][3], *p = calloc((size_t)b.n, sizeof *p), before = energy(ctx, &b), end[2 * 60];
    for (int side = 0; side < 2; side++) {
        b.system.multiply(b.system.data, BO_MATRIX_M, b.v, p);
        memset(P[side], 0, sizeof P[side]);
        memset(L[side], 0, sizeof L[side]);
        for (int32_t k = 0; k < b.n / 3; k++) {
            double x[3];
            for (int d = 0; d < 3; d++) {
                x[d] = b.mesh->vertices[3 * k + d] + b.q[3 * k + d];
                P[side][d] += p[3 * k + d];
            }
            for (int d = 0; d < 3; d++)
                L[side][d] += x[(d + 1) % 3] * p[3 * k + (d + 2) % 3] - x[(d + 2) % 3] * p[3 * k + (d + 1) % 3];
        }
        if (side == 0)
            run(ctx, &b, "midpoint", 2, 400, end);
    }
    for (int d = 0; d < 3; d++) {
        check_near(P[1][d] / 100, P[0][d] / 100, 1e-10);
        check_near(L[1][d] / 100, L[0][d] / 100, 1e-10);
    }
    check_near(energy(ctx, &b) / before, 1, 0.01);
    free(p);
    free_beam(ctx, &b);
    bough_context_destroy(ctx);
}

/* A hundred thousand steps of the midpoint rule: the energy stays within 1 % and has no trend. */
static void midpoint_keeps_energy_for_long(void **state) {
    (void)state;
    if (!test_long())
        test_skip("takes minutes: ./bough test --long");
    bough_context *ctx = test_context(1);
    beam b = make_beam(ctx, BOUGH_MATERIAL_STVK, true, 0);
    kick(&b, 0.5);
    bough_integrator_def def = bough_default_integrator_def();
    def.name = "midpoint", def.tolerance = 1e-9;
    bo_integrator *I;
    check_ok(ctx, bo_integrator_create(ctx, &b.system, &def, &I));
    double start = energy(ctx, &b), half[2] = {0, 0};
    for (int i = 0; i < 100000; i++) {
        check_ok(ctx, bo_integrator_step(I, 0.002, &b.motion));
        double e = energy(ctx, &b) / start;
        check_near(e, 1, 0.01);
        half[i >= 50000] += e / 50000;
    }
    printf("mean energy of the two halves: %.6f %.6f\n", half[0], half[1]);
    check_near(half[1], half[0], 1e-3);
    bo_integrator_destroy(ctx, I);
    free_beam(ctx, &b);
    bough_context_destroy(ctx);
}

/* Any step size on soft and stiff bodies: a step either succeeds with finite numbers or leaves the state alone. */
static void a_step_is_a_transaction(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const double steps[] = {1e-6, 1e-3, 1e-2, 0.1, 1};
    for (int32_t m = 0; m < bough_integrator_count(); m++)
        for (int model = 0; model < 4; model++) {
            young = model < 2 ? 1e5 : 1e10;
            beam b = make_beam(ctx, model % 2 ? BOUGH_MATERIAL_NEO_HOOKEAN : BOUGH_MATERIAL_STVK, true, 0);
            kick(&b, 20);
            bough_integrator_def def = bough_default_integrator_def();
            def.name = bough_integrator_describe(m)->name;
            bo_integrator *I;
            check_ok(ctx, bo_integrator_create(ctx, &b.system, &def, &I));
            double q[60], v[60];
            for (int s = 0; s < 5; s++)
                for (int repeat = 0; repeat < 3; repeat++) {
                    double t = b.motion.t;
                    memcpy(q, b.q, sizeof q);
                    memcpy(v, b.v, sizeof v);
                    bough_status status = bo_integrator_step(I, steps[s], &b.motion);
                    if (status == BOUGH_OK) {
                        for (int i = 0; i < 60; i++)
                            check(isfinite(b.q[i]) && isfinite(b.v[i]));
                        check_near(b.motion.t, t + steps[s], 1e-12);
                    } else {
                        check(memcmp(q, b.q, sizeof q) == 0 && memcmp(v, b.v, sizeof v) == 0 && b.motion.t == t);
                        check(bough_message(ctx)[0]);
                    }
                }
            bo_integrator_destroy(ctx, I);
            free_beam(ctx, &b);
        }
    young = 1e5;
    bough_context_destroy(ctx);
}

/* Steps go on from what was saved with the same bits, in another integrator, whatever a method keeps from step to step;
 * modes are renewed every third step. */
static void what_was_saved_goes_on(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        beam b = make_beam(ctx, BOUGH_MATERIAL_STVK, true, 0);
        kick(&b, 2);
        bough_integrator_def def = bough_default_integrator_def();
        def.name = bough_integrator_describe(m)->name, def.mode_refresh = 3;
        bo_integrator *I;
        double kept[3][60], history[4096], end[2][180];
        check_int(b.n, 60);
        for (int second = 0; second < 2; second++) {
            check_ok(ctx, bo_integrator_create(ctx, &b.system, &def, &I));
            if (second) {
                bo_integrator_restore(I, history);
                memcpy(b.q, kept[0], sizeof kept[0]), memcpy(b.v, kept[1], sizeof kept[1]);
                memcpy(b.a, kept[2], sizeof kept[2]);
                b.motion.t = 5e-4;
            }
            for (int i = second ? 5 : 0; i < 10; i++) {
                if (i == 5 && !second) {
                    check(bo_integrator_history_size(I) <= 4096);
                    bo_integrator_save(I, history);
                    memcpy(kept[0], b.q, sizeof kept[0]), memcpy(kept[1], b.v, sizeof kept[1]);
                    memcpy(kept[2], b.a, sizeof kept[2]);
                    b.motion.t = 5e-4;
                }
                check_ok(ctx, bo_integrator_step(I, 1e-4, &b.motion));
            }
            memcpy(end[second], b.q, 480), memcpy(end[second] + 60, b.v, 480), memcpy(end[second] + 120, b.a, 480);
            bo_integrator_destroy(ctx, I);
        }
        if (memcmp(end[0], end[1], sizeof end[0]) != 0)
            fail_msg("%s does not go on as it was", def.name);
        free_beam(ctx, &b);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_on_a_stvk_beam),
        cmocka_unit_test(orders_on_a_stable_neo_hookean_beam),
        cmocka_unit_test(stiffness_damping_keeps_the_order),
        cmocka_unit_test(frozen_modes_are_safe),
        cmocka_unit_test(midpoint_keeps_momentum),
        cmocka_unit_test(midpoint_keeps_energy_for_long),
        cmocka_unit_test(a_step_is_a_transaction),
        cmocka_unit_test(what_was_saved_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
