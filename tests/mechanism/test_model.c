/* Reduced models: rank, stiffness, mass, damping, frequencies. */
#include "linear_modes.h"
#include "reference.h"

typedef struct {
    bough_mechanism *mechanism;
    bough_mechanism_statics *statics;
    bough_mechanism_model *model;
} reduced;

static reduced reduce(bough_context *ctx, const sketch *s) {
    reduced r = {0};
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &r.mechanism));
    check_ok(ctx, bough_mechanism_statics_create(ctx, r.mechanism, NULL, &r.statics));
    check_ok(ctx, bough_mechanism_model_create(ctx, r.mechanism, r.statics, NULL, &r.model));
    return r;
}
static void drop(bough_context *ctx, reduced r) {
    bough_mechanism_model_destroy(ctx, r.model);
    bough_mechanism_statics_destroy(ctx, r.statics);
    bough_mechanism_destroy(ctx, r.mechanism);
}

/* Ascending, in Hz. With a free base the first six are zero. */
static void reduced_frequencies(const bough_mechanism_model *model, double *f) {
    const int b = model->free_base ? 6 : 0, n = model->rank + b;
    double *K = calloc((size_t)(n * n), sizeof *K), *M = calloc((size_t)(n * n), sizeof *M);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i >= b && j >= b)
                M[n * i + j] = model->Mz[(i - b) * model->rank + j - b];
            else if (i < b && j < b)
                M[n * i + j] = model->M_base[6 * i + j];
            else
                M[n * i + j] = model->M_coupling[(i < j ? i : j) * model->rank + (i < j ? j : i) - b];
    for (int k = b; k < n; k++)
        K[(n + 1) * k] = model->Kz[k - b];
    generalised_values(n, K, M, f);
    for (int k = 0; k < n; k++)
        f[k] = sqrt(fmax(0, f[k])) / 6.283185307179586;
    free(K);
    free(M);
}

/* C <- A B, all n x n */
static double *product(size_t n, const double *A, const double *B) {
    double *C = calloc(n * n, sizeof *C);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                C[n * i + j] += A[n * i + k] * B[n * k + j];
    return C;
}

static void ranks_masses_and_frequencies_are_those_of_the_reference(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < REFERENCE_COUNT; i++) {
        json_t *file = reference_file(i);
        if (!file) {
            bough_context_destroy(ctx);
            test_skip("the reference data ../shared is not there");
        }
        sketch *s = reference_sketch(file);
        reduced r = reduce(ctx, s);
        double whole[1];
        int rank;
        linear_frequencies(ctx, s, 1, whole, &rank);
        check_int(r.model->rank, rank);
        const size_t n = 6 * (size_t)s->def.end_effector_count;
        if (json_object_get(file, "M_guyan")) {
            /* C M C does not depend on how units are weighed where the rank is not full */
            double *M = numbers_of(file, "M_guyan", n * n), *a = product(n, r.model->C, M),
                   *expected = product(n, a, r.model->C), *b = product(n, r.model->C, r.model->M),
                   *found = product(n, b, r.model->C);
            check_below(difference(n * n, found, expected), 1e-10);
            const size_t count = json_array_size(json_object_get(file, "freq_guyan_Hz"));
            double *guyan = numbers_of(file, "freq_guyan_Hz", count), f[18];
            reduced_frequencies(r.model, f);
            for (size_t k = 0; k < count; k++)
                check_near(f[k] / guyan[k], 1, 2e-10);
            const double full = json_number_value(json_array_get(json_object_get(file, "freq_full_Hz"), 0));
            check_near(f[0] / full, 1, !strcmp(reference_names[i], "ladder_cut_hinge") ? 0.08 : 0.01);
            check_near(whole[0] / full, 1, 1e-9);
            free(M), free(a), free(expected), free(b), free(found), free(guyan);
        }
        drop(ctx, r);
        free(s);
        json_decref(file);
    }
    bough_context_destroy(ctx);
}

/* Against that of the whole mechanism. The first mode of a long coil, and of a ladder whose end effector can move in
 * one direction only, bends links between otherwise than a load at the end does. */
static void the_lowest_frequency_is_that_of_the_whole_mechanism(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    struct {
        sketch *s;
        double tolerance;
    } all[] = {{helix(30, BOUGH_JOINT_BALL), 0.05},
               {fork_of_links(3, 4, BOUGH_JOINT_BALL), 0.01},
               {fork_of_links(3, 4, BOUGH_JOINT_UNIVERSAL), 0.01},
               {ring_of_links(9, BOUGH_JOINT_BALL), 0.015},
               {ladder(5, BOUGH_JOINT_BALL), 0.01},
               {ladder(5, BOUGH_JOINT_HINGE), 0.085}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        reduced r = reduce(ctx, all[i].s);
        double f[12], full[1];
        reduced_frequencies(r.model, f);
        linear_frequencies(ctx, all[i].s, 1, full, NULL);
        check(f[0] >= full[0] * (1 - 1e-9)); /* a projection only stiffens */
        check_near(f[0] / full[0], 1, all[i].tolerance);
        drop(ctx, r);
        free(all[i].s);
    }
    bough_context_destroy(ctx);
}

/* Base and mechanism swing against each other: sheet's case of a base as heavy as the mechanism, and of a heavy one. */
static void a_free_base_swings_with_the_mechanism(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int heavy = 0; heavy < 2; heavy++) {
        sketch *s = fork_of_links(3, 4, BOUGH_JOINT_BALL);
        double held[1], full[1], f[18];
        linear_frequencies(ctx, s, 1, held, NULL);
        s->def.free_base = true;
        s->links[0].mass = heavy ? 50 : 5;
        for (int k = 0; k < 9; k += 4)
            s->links[0].inertia[k] = heavy ? 0.5 : 0.05;
        reduced r = reduce(ctx, s);
        reduced_frequencies(r.model, f);
        linear_frequencies(ctx, s, 1, full, NULL);
        check_near(f[5], 0, 1e-4);
        check_near(f[6] / full[0], 1, 0.01);
        check(fabs(full[0] / held[0] - 1) > 0.1); /* it is another frequency than with a base that is held */
        drop(ctx, r);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* With all links as end effectors nothing is condensed: every frequency is that of the whole mechanism. */
static void with_all_links_as_end_effectors_nothing_is_lost(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {15};
    for (int i = 0; i < 12; i++) {
        sketch *s = random_sketch(&random, 5, i % 3 ? 0 : 1);
        s->def.end_effector_count = 0;
        for (int32_t l = 0; l < s->def.link_count; l++)
            if (l != s->def.base)
                add_effector(s, l, random_pose(&random, 0.1));
        s->def.free_base = i % 2;
        reduced r = reduce(ctx, s);
        double f[60], full[60];
        int rank;
        reduced_frequencies(r.model, f);
        const int count = linear_frequencies(ctx, s, 60, full, &rank);
        check_int(r.model->rank, count);
        for (int k = 0; k < count; k++)
            check_near(f[(s->def.free_base ? 6 : 0) + k] / full[k], 1, 1e-10);
        drop(ctx, r);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* K = sum of Theta^T K_e Theta over the joints, D likewise, C K C = C. */
static void stiffness_is_that_of_the_springs(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {5};
    for (int i = 0; i < 30; i++) {
        sketch *s = i == 0   ? ladder(5, BOUGH_JOINT_HINGE)
                    : i == 1 ? helix(30, BOUGH_JOINT_COMPLIANT)
                             : random_sketch(&random, 5 + i % 5, i % 2);
        reduced r = reduce(ctx, s);
        const size_t n = 6 * (size_t)s->def.end_effector_count;
        const bough_mechanism *m = r.mechanism;
        double *sum = calloc(n * n, sizeof *sum), *damping = calloc(n * n, sizeof *damping),
               *theta = calloc((size_t)m->coordinate_count * n, sizeof *theta);
        for (size_t k = 0; k < (size_t)m->coordinate_count; k++)
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                    theta[n * k + b] += r.statics->coordinates[n * k + a] * r.model->K[n * a + b];
        for (int32_t j = 0; j < s->def.joint_count; j++)
            for (int p = 0; p < m->joints[j].freedoms; p++)
                for (size_t k = 0; k < n * n; k++)
                    damping[k] += theta[n * (size_t)(m->joints[j].offset + p) + k / n] * m->joints[j].damping[p] *
                                  theta[n * (size_t)(m->joints[j].offset + p) + k % n];
        for (int32_t j = 0; j < s->def.joint_count; j++)
            for (int p = 0; p < m->joints[j].freedoms; p++)
                for (int q = 0; q < m->joints[j].freedoms; q++)
                    for (size_t k = 0; k < n * n; k++)
                        sum[k] += theta[n * (size_t)(m->joints[j].offset + p) + k / n] *
                                  m->joints[j].stiffness[m->joints[j].freedoms * p + q] *
                                  theta[n * (size_t)(m->joints[j].offset + q) + k % n];
        /* inverting costs as many digits as stiffnesses are apart */
        const double apart = r.model->compliances[0] / r.model->compliances[r.model->rank - 1];
        check_below(difference(n * n, sum, r.model->K), 1e-14 * apart + 1e-12);
        check_below(difference(n * n, damping, r.model->D), 1e-14 * apart + 1e-12);
        double *CK = product(n, r.model->C, r.model->K), *C = product(n, CK, r.model->C);
        check_below(difference(n * n, C, r.model->C), 1e-8);
        free(sum), free(damping), free(theta), free(CK), free(C);
        drop(ctx, r);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* A link moves as its end effector does. */
static void end_effectors_move_as_their_links_do(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = fork_of_links(3, 4, BOUGH_JOINT_BALL);
    reduced r = reduce(ctx, s);
    const size_t n = 12;
    for (int32_t e = 0; e < 2; e++)
        for (size_t c = 0; c < n; c++) {
            double x[6];
            for (size_t k = 0; k < 6; k++)
                x[k] = r.model->Psi[(6 * (size_t)s->effectors[e].body + k) * n + c];
            bo_store_twist(x, bo_ad(bo_se3_inverse(bo_pose(&s->effectors[e].pose)), bo_load_twist(x)));
            for (int k = 0; k < 6; k++)
                check_near(x[k], (size_t)(6 * e + k) == c, 5e-9);
        }
    drop(ctx, r);
    free(s);
    bough_context_destroy(ctx);
}

/* Another choice of end effectors of the same mechanism: the static answer of one that is in both is the same. */
static void end_effectors_are_chosen_anew_without_touching_the_mechanism(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = ladder(4, BOUGH_JOINT_BALL);
    reduced r = reduce(ctx, s);
    bough_mechanism_statics *finer = NULL;
    bough_mechanism_model *model = NULL;
    const bough_frame_def chosen[] = {bo_frame_on(6, bough_default_pose()), s->effectors[0]};
    bough_mechanism_statics_def def = bough_default_mechanism_statics_def();
    def.end_effector_count = 2, def.end_effectors = chosen;
    check_ok(ctx, bough_mechanism_statics_create(ctx, r.mechanism, &def, &finer));
    check_ok(ctx, bough_mechanism_model_create(ctx, r.mechanism, finer, NULL, &model));
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            check_near(finer->C[12 * (6 + i) + 6 + j], r.statics->C[6 * i + j], 1e-12 * largest(36, r.statics->C));
    double coarse[6], fine[12], full[1];
    reduced_frequencies(r.model, coarse);
    reduced_frequencies(model, fine);
    linear_frequencies(ctx, s, 1, full, NULL);
    check(fine[0] <= coarse[0] && fine[0] >= full[0] * (1 - 1e-9));
    bough_mechanism_model_destroy(ctx, model);
    bough_mechanism_statics_destroy(ctx, finer);
    drop(ctx, r);
    free(s);
    bough_context_destroy(ctx);
}

/* A slider across hinges that are all parallel to it leaves nothing: a frame of four links that is braced. */
static void a_rigid_mechanism_is_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = new_sketch();
    add_link(s, bo_se3_identity(), 1, 1, 1, 1);
    add_link(s, at(1, 0, 0, 0, 0, 0), 1, 1, 1, 1);
    add_joint(s, BOUGH_JOINT_HINGE, 0, 1, at(0, 0, 0, 0, 0, 0), 10, 0);
    add_joint(s, BOUGH_JOINT_HINGE, 0, 1, at(0.5, 0.5, 0, 1, 0, 0), 10, 0);
    add_effector(s, 1, bo_se3_identity());
    reduced r = {0};
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &r.mechanism));
    check_ok(ctx, bough_mechanism_statics_create(ctx, r.mechanism, NULL, &r.statics));
    check_fails(ctx, bough_mechanism_model_create(ctx, r.mechanism, r.statics, NULL, &r.model), BOUGH_ERROR_SINGULAR,
                "no wrench moves");
    check(!r.model);
    drop(ctx, r);
    free(s);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_masses_and_frequencies_are_those_of_the_reference),
        cmocka_unit_test(the_lowest_frequency_is_that_of_the_whole_mechanism),
        cmocka_unit_test(a_free_base_swings_with_the_mechanism),
        cmocka_unit_test(with_all_links_as_end_effectors_nothing_is_lost),
        cmocka_unit_test(stiffness_is_that_of_the_springs),
        cmocka_unit_test(end_effectors_move_as_their_links_do),
        cmocka_unit_test(end_effectors_are_chosen_anew_without_touching_the_mechanism),
        cmocka_unit_test(a_rigid_mechanism_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
