/* Every method on chains of masses of many sizes: memory, what is saved, modes. */
#include "chain.h"

#include "time/modes.h"

static bo_integrator *integrator_of(bough_context *ctx, const chain *c, const bough_integrator_def *def) {
    bo_integrator *I = NULL;
    check_ok(ctx, bo_integrator_create(ctx, &c->system, def, &I));
    return I;
}

/* A method reserves memory when it is made: enough for all its steps, from rest and with a history, after a jump of the
 * forces and a restart, whatever the size of vectors beside that of a cache line. And the chain moves on. */
static void no_method_runs_out_of_its_memory(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const int32_t sizes[] = {1, 2, 7, 8, 9, 64, 200}, modes[] = {1, 10, 30}, krylov[] = {8, 100};
    for (int32_t m = 0; m < bough_integrator_count(); m++)
        for (int k = 0; k < 7; k++)
            for (int i = 0; i < 3; i++) {
                const bough_integrator_info *info = bough_integrator_describe(m);
                bough_integrator_def def = bough_default_integrator_def();
                def.name = info->name, def.mode_count = modes[i], def.krylov_limit = krylov[i > 0];
                if (i > 0 && info->needs[0] != 'm' && strcmp(info->name, "ere") != 0)
                    continue; /* knows neither number */
                chain *c = new_chain(sizes[k], 100);
                bo_integrator *I = integrator_of(ctx, c, &def);
                double change[MOST_MASSES] = {0};
                const double before = chain_energy(c);
                for (int step = 0; step < 6; step++) {
                    check_ok(ctx, bo_integrator_step(I, 0.002, &c->motion));
                    if (step == 2)
                        check_ok(ctx, bo_integrator_jump(I, change, true, &c->motion));
                    if (step == 4)
                        bo_integrator_restart(I);
                }
                check_near(chain_energy(c), before, 0.1 * before);
                check(I->arena.peak <= I->arena.capacity);
                bo_integrator_destroy(ctx, I);
                free(c);
            }
    bough_context_destroy(ctx);
}

/* The history is as long as it says: every number of it is written, none beyond. */
static void histories_are_as_long_as_they_say(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const int32_t sizes[] = {1, 5, 40};
    for (int32_t m = 0; m < bough_integrator_count(); m++)
        for (int k = 0; k < 3; k++) {
            bough_integrator_def def = bough_default_integrator_def();
            def.name = bough_integrator_describe(m)->name, def.mode_count = 3;
            chain *c = new_chain(sizes[k], 100);
            bo_integrator *I = integrator_of(ctx, c, &def);
            for (int step = 0; step < 3; step++)
                check_ok(ctx, bo_integrator_step(I, 0.002, &c->motion));
            const int64_t size = bo_integrator_history_size(I), beyond = 8;
            double *history = malloc((size_t)(size + beyond) * sizeof *history);
            for (int64_t i = 0; i < size + beyond; i++)
                history[i] = NAN;
            bo_integrator_save(I, history);
            for (int64_t i = 0; i < size + beyond; i++)
                check(isnan(history[i]) == (i >= size));
            free(history);
            bo_integrator_destroy(ctx, I);
            free(c);
        }
    bough_context_destroy(ctx);
}

/* The modes that a hybrid keeps are those of theory, of unit mass, each with its part of the damping. */
static void modes_are_those_of_the_chain(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static const int32_t sizes[] = {1, 4, 12, 100}, counts[] = {1, 5, 20};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) {
            bough_integrator_def def = bough_default_integrator_def();
            def.name = "tr-bdf2ere", def.mode_count = counts[i];
            chain *c = new_chain(sizes[k], 0);
            bo_integrator *I = integrator_of(ctx, c, &def);
            check_ok(ctx, bo_integrator_step(I, 0.002, &c->motion));
            const bo_mode_set *set = I->modes;
            check_int(set->count, counts[i] < sizes[k] ? counts[i] : sizes[k]);
            for (int32_t j = 0; j < set->count; j++) {
                const double expected = chain_eigenvalue(c, j);
                check_near(set->lambda[j], expected, 1e-9 * expected);
                check_near(set->damping[j], c->damping, 1e-9);
                for (int32_t l = 0; l < set->count; l++) {
                    double product = 0;
                    for (int32_t e = 0; e < c->count; e++)
                        product += set->X[j][e] * set->W[l][e];
                    check_near(product, j == l, 1e-9);
                }
                for (int32_t e = 0; e < c->count; e++)
                    check_near(set->W[j][e], c->mass * set->X[j][e], 1e-12);
            }
            bo_integrator_destroy(ctx, I);
            free(c);
        }
    bough_context_destroy(ctx);
}

/* A number of the def that lies just outside of its range is refused by its name; the ends of the range are not. */
static void definitions_have_ranges(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    chain *c = new_chain(3, 0);
    bough_integrator_def def = bough_default_integrator_def();
    const struct {
        double *number;
        double lower, upper; /* that are still good */
        const char *name;
    } ranges[] = {{&def.rho, 0, 1, "rho"},
                  {&def.alpha, -1. / 3, 0, "alpha"},
                  {&def.beta, 0.001, 1, "beta"},
                  {&def.gamma, 0.5, 1, "gamma"},
                  {&def.tolerance, 1e-300, INFINITY, "tolerance"}};
    const struct {
        int32_t *number, lower, upper;
        const char *name;
    } counts[] = {{&def.max_iterations, 1, INT32_MAX, "one iteration"},
                  {&def.mode_count, 1, 200, "modes"},
                  {&def.mode_refresh, 1, INT32_MAX, "every step"},
                  {&def.krylov_limit, 8, 2000, "krylov_limit"}};
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        const double wrong[] = {ranges[k].lower - 0.002, ranges[k].upper + 0.002, NAN},
                     right[] = {ranges[k].lower, ranges[k].upper};
        for (int i = 0; i < 5; i++) {
            bo_integrator *I = NULL;
            def = bough_default_integrator_def();
            *ranges[k].number = i < 3 ? wrong[i] : right[i - 3];
            if (i < 3 && *ranges[k].number != INFINITY)
                check_fails(ctx, bo_integrator_create(ctx, &c->system, &def, &I), BOUGH_ERROR_ARGUMENT, ranges[k].name);
            else
                bo_integrator_destroy(ctx, integrator_of(ctx, c, &def));
        }
    }
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int i = 0; i < 4; i++) {
            bo_integrator *I = NULL;
            def = bough_default_integrator_def();
            *counts[k].number = i % 2 ? counts[k].upper : counts[k].lower;
            if (i >= 2 && *counts[k].number == INT32_MAX)
                continue;
            *counts[k].number += i < 2 ? 0 : i % 2 ? 1 : -1;
            if (i < 2)
                bo_integrator_destroy(ctx, integrator_of(ctx, c, &def));
            else
                check_fails(ctx, bo_integrator_create(ctx, &c->system, &def, &I), BOUGH_ERROR_ARGUMENT, counts[k].name);
        }
    free(c);
    bough_context_destroy(ctx);
}

/* ---- order ---- */

static void go(bough_context *ctx, chain *c, const char *name, double T, int steps) {
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name, def.mode_count = 2, def.tolerance = 1e-11;
    bo_integrator *I = integrator_of(ctx, c, &def);
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bo_integrator_step(I, T / steps, &c->motion));
    bo_integrator_destroy(ctx, I);
}

/* Springs that stiffen and a force that depends on time leave every method its order. */
static void driven_chains_keep_the_order(void **unused) {
    (void)unused;
    enum { COUNT = 6 };
    bough_context *ctx = test_context(1);
    const double T = 0.4;
    chain *reference = new_chain(COUNT, 4e4);
    reference->drive = 20;
    go(ctx, reference, "rk4", T, 20000);
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        const bough_integrator_info *info = bough_integrator_describe(m);
        const int steps = info->order == 1 ? 4000 : info->order == 2 ? 800 : 200;
        double error[2] = {0, 0};
        for (int level = 0; level < 2; level++) {
            chain *c = new_chain(COUNT, 4e4);
            c->drive = 20;
            go(ctx, c, info->name, T, steps << level);
            for (int i = 0; i < 2 * COUNT; i++)
                error[level] = fmax(error[level], fabs(c->state[i] - reference->state[i]) * (i < COUNT ? 20 : 1));
            free(c);
        }
        const double order = log2(error[0] / error[1]);
        printf("%-20s order %.3f error %.1e\n", info->name, order, error[1]);
        check_near(order, info->order, 0.15);
    }
    free(reference);
    bough_context_destroy(ctx);
}

/* A constant in the potential, be it so large that differences are lost in its rounding, changes no motion. */
static void the_zero_of_the_potential_is_free(void **unused) {
    (void)unused;
    enum { COUNT = 6 };
    bough_context *ctx = test_context(1);
    static const double offsets[] = {0, 1e3, -1e6, 1e9};
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        double first[2 * COUNT];
        for (int k = 0; k < 4; k++) {
            chain *c = new_chain(COUNT, 4e4);
            c->drive = 20, c->offset = offsets[k];
            go(ctx, c, bough_integrator_describe(m)->name, 0.2, 100);
            for (int i = 0; i < 2 * COUNT; i++) {
                if (k == 0)
                    first[i] = c->state[i];
                check_near(c->state[i], first[i], 1e-7);
            }
            free(c);
        }
    }
    bough_context_destroy(ctx);
}

/* A step factors and solves as often as the registry says; Newton's method twice as often where springs do not stiffen,
 * since it looks at its result. The modes of hybrids, and ere's vectors, are dear beside that. */
static void steps_cost_what_the_registry_says(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        const bough_integrator_info *info = bough_integrator_describe(m);
        if (info->needs[0] == 'm' || (info->explicit_method && info->a_stable))
            continue;
        bough_integrator_def def = bough_default_integrator_def();
        def.name = info->name;
        chain *c = new_chain(20, 0);
        bo_integrator *I = integrator_of(ctx, c, &def);
        for (int i = 0; i < 5; i++) { /* the first also finds the acceleration, or the step before */
            c->factors = c->solves = 0;
            check_ok(ctx, bo_integrator_step(I, 0.002, &c->motion));
        }
        const int looks = I->iterations > 0 ? 2 : 1;
        check_int(c->factors, looks * info->factorisations);
        check_int(c->solves, looks * info->solves);
        bo_integrator_destroy(ctx, I);
        free(c);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_method_runs_out_of_its_memory),  cmocka_unit_test(histories_are_as_long_as_they_say),
        cmocka_unit_test(modes_are_those_of_the_chain),      cmocka_unit_test(definitions_have_ranges),
        cmocka_unit_test(driven_chains_keep_the_order),      cmocka_unit_test(the_zero_of_the_potential_is_free),
        cmocka_unit_test(steps_cost_what_the_registry_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
