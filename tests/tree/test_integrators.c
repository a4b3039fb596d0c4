/* The methods of the time room on a small tree: what they are given, their orders, stability, and agreement with the
 * tree's own step. */
#include "bars.h"

#include "time/integrator.h"
#include "tree/system.h"

#include <time.h>

enum { PARTS = 4, BUSH = 12, MOST = 64 };
static const double span = 0.1; /* s */

static void set_out(bars *b, int32_t passes, double damping) {
    prepare_bars(b, test_context(1), PARTS, damping, false);
    b->def.passes = passes;
    b->def.gravity[2] = -3;
    grow_bars(b);
}
static void go_home(bars *b) {
    bough_context *ctx = b->ctx;
    clear_bars(b);
    bough_context_destroy(ctx);
}

static void randomise(bars *b, uint64_t seed, double q_size, double v_size) {
    test_random random = {seed};
    for (int32_t k = 0; k < bough_tree_model_size(b->model); k++) {
        b->state->q[k] = test_uniform(&random, -q_size, q_size);
        b->state->v[k] = test_uniform(&random, -v_size, v_size);
    }
    check_ok(b->ctx, bough_tree_state_update(b->ctx, b->model, b->state));
}

/* From the straight tree at rest, moved on its lowest coordinates: nothing is too fast for the steps below. */
static void launch(bars *b) {
    bough_tree_state *s = b->state;
    const size_t bytes = (size_t)bough_tree_model_size(b->model) * sizeof(double);
    s->time = 0;
    memset(s->q, 0, bytes), memset(s->v, 0, bytes), memset(s->a, 0, bytes);
    for (int32_t i = 0; i < PARTS; i++)
        s->v[bough_tree_model_offset(b->model, i)] = 4, s->v[bough_tree_model_offset(b->model, i) + 1] = 2;
    check_ok(b->ctx, bough_tree_state_update(b->ctx, b->model, s));
}

static bough_integrator_def method(const char *name) {
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name;
    def.tolerance = 1e-9;
    return def;
}
static void use(bars *b, const char *name) {
    bough_integrator_def def = method(name);
    check_ok(b->ctx, bough_tree_state_use_integrator(b->ctx, b->model, b->state, &def));
}

static void run(bars *b, int steps, double time) {
    for (int i = 0; i < steps; i++)
        check_ok(b->ctx, bough_tree_step(b->ctx, b->model, b->state, time / steps));
}

/* Launched, and where it is after the span. */
static void trajectory(bars *b, int steps, double q[MOST]) {
    launch(b);
    run(b, steps, span);
    memcpy(q, b->state->q, (size_t)bough_tree_model_size(b->model) * sizeof *q);
}

static double dot(int32_t n, const double *a, const double *b) {
    double sum = 0;
    for (int32_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* ---- the system ---- */

typedef struct {
    bars b;
    bo_tree_system *tree;
    bo_system *s;
    int32_t n;
} bench;

/* A bush has so many equal limbs on its trunk that the engine takes eight at a time, and a twig on one of them. */
static void plant(bars *b) {
    prepare_bars(b, test_context(1), BUSH, 1e-3, false);
    for (int32_t i = 1; i < BUSH; i++)
        b->parts[i].parent = i == BUSH - 1 ? 4 : 0;
    b->def.gravity[2] = -3;
    grow_bars(b);
    const bo_tree_part *limb = &b->model->parts[b->model->inside[4]];
    check_int(b->model->blocks[limb->block].lanes, BO_WIDE);
}

static void open_bench(bench *k, uint64_t seed, double size) {
    const double force[3] = {2, -1, 3};
    if (seed % 2)
        set_out(&k->b, 2, 1e-3);
    else
        plant(&k->b);
    randomise(&k->b, seed, size, 3);
    k->b.state->damping_mass[1] = 0.5, k->b.state->stiffness[2] = 1.3;
    check_ok(k->b.ctx, bough_tree_state_add_force(k->b.ctx, k->b.model, k->b.state, 2, 5, force));
    check_ok(k->b.ctx, bo_tree_system_create(k->b.ctx, k->b.model, k->b.state, &k->tree));
    k->s = &k->tree->system, k->n = k->s->size;
    check(k->n <= MOST);
}
static void close_bench(bench *k) {
    bo_tree_system_destroy(k->b.ctx, k->tree);
    go_home(&k->b);
}

/* M is symmetric and v M v / 2 is the kinetic energy; products with D and K are symmetric. */
static void matrices_are_those_of_the_energies(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed < 5; seed++) {
        bench k;
        open_bench(&k, seed, 0.05);
        const double *q = k.b.state->q, *v = k.b.state->v;
        double x[MOST], y[MOST], Ax[MOST], Ay[MOST];
        test_random random = {seed + 10};
        for (int32_t i = 0; i < k.n; i++)
            x[i] = test_uniform(&random, -1, 1), y[i] = test_uniform(&random, -1, 1);
        bough_tree_energies energies;
        check_ok(k.b.ctx, bough_tree_state_energies(k.b.ctx, k.b.model, k.b.state, &energies));
        check_ok(k.b.ctx, k.s->enter(k.tree, 0, q, v));
        check_ok(k.b.ctx, k.s->linearise(k.tree, 0, q, false));
        k.s->multiply(k.tree, BO_MATRIX_M, v, Ax);
        check_near(0.5 * dot(k.n, v, Ax), energies.kinetic, 1e-12 * energies.kinetic);
        for (int which = 0; which < 3; which++) {
            k.s->multiply(k.tree, (bo_matrix)which, x, Ax);
            k.s->multiply(k.tree, (bo_matrix)which, y, Ay);
            check_near(dot(k.n, x, Ay), dot(k.n, y, Ax), 1e-12 * norm_of((size_t)k.n, Ax) * norm_of((size_t)k.n, y));
            check(dot(k.n, x, Ax) > 0);
        }
        close_bench(&k);
    }
}

static void forces_have_a_potential(void **unused) {
    (void)unused;
    bench k;
    open_bench(&k, 5, 0.05);
    const double *v = k.b.state->v, h = 1e-5;
    double q[MOST], x[MOST], f[2][MOST], Kx[MOST], middle[MOST], U[2];
    memcpy(q, k.b.state->q, sizeof(double) * (size_t)k.n);
    check_ok(k.b.ctx, k.s->enter(k.tree, 0, q, v));
    check_ok(k.b.ctx, k.s->linearise(k.tree, 0, q, false));
    check_ok(k.b.ctx, k.s->force(k.tree, 0, q, NULL, middle));
    for (int32_t i = 0; i < k.n; i++)
        x[i] = sin(i + 1);
    k.s->multiply(k.tree, BO_MATRIX_K, x, Kx);
    for (int side = 0; side < 2; side++) {
        double moved[MOST];
        for (int32_t i = 0; i < k.n; i++)
            moved[i] = q[i] + (side ? h : -h) * x[i];
        check_ok(k.b.ctx, k.s->force(k.tree, 0, moved, &U[side], f[side]));
    }
    check_near((U[1] - U[0]) / (2 * h), -dot(k.n, middle, x), 1e-7 * norm_of((size_t)k.n, middle));
    for (int32_t i = 0; i < k.n; i++)
        check_near((f[1][i] - f[0][i]) / (2 * h), -Kx[i], 3e-8 * norm_of((size_t)k.n, Kx));
    close_bench(&k);
}

/* (a M + b D + c K) x = b, with M of the whole tree. */
static void solves_undo_products_of(uint64_t seed) {
    static const double weights[][3] = {{1, 0, 0}, {1, 0.01, 1e-4}, {300, 1, 0.01}, {0.5, 0, 1}};
    bench k;
    open_bench(&k, seed, 2e-3);
    double b[MOST], x[MOST], left[MOST], part[MOST];
    check_ok(k.b.ctx, k.s->enter(k.tree, 0, k.b.state->q, k.b.state->v));
    check_ok(k.b.ctx, k.s->linearise(k.tree, 0, k.b.state->q, false));
    for (int32_t i = 0; i < k.n; i++)
        x[i] = 0.5 * k.b.state->q[i];
    check_ok(k.b.ctx, k.s->damp(k.tree, x)); /* elsewhere than K */
    for (int32_t i = 0; i < k.n; i++)
        b[i] = cos(3 * i);
    for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
        check_ok(k.b.ctx, k.s->factor(k.tree, weights[w][0], weights[w][1], weights[w][2]));
        for (int again = 0; again < 2; again++) /* one factor, many solves */
            check_ok(k.b.ctx, k.s->solve(k.tree, b, x));
        memset(left, 0, sizeof left);
        for (int which = 0; which < 3; which++) {
            k.s->multiply(k.tree, (bo_matrix)which, x, part);
            for (int32_t i = 0; i < k.n; i++)
                left[i] += weights[w][which] * part[i];
        }
        check_below(relative((size_t)k.n, left, 1, b), 1e-11);
    }
    close_bench(&k);
}

static void solves_undo_products(void **unused) {
    (void)unused;
    for (uint64_t seed = 3; seed < 5; seed++)
        solves_undo_products_of(seed);
}

/* A tree that is bent far: its tangent is not positive, the projected one is. */
static void lost_stiffness_is_noticed(void **unused) {
    (void)unused;
    bench k;
    open_bench(&k, 3, 0.3);
    check_ok(k.b.ctx, k.s->enter(k.tree, 0, k.b.state->q, k.b.state->v));
    check_ok(k.b.ctx, k.s->linearise(k.tree, 0, k.b.state->q, false));
    check_fails(k.b.ctx, k.s->factor(k.tree, 1e-3, 0, 1), BOUGH_ERROR_SINGULAR, "lost its stiffness");
    check_ok(k.b.ctx, k.s->linearise(k.tree, 0, k.b.state->q, true));
    check_ok(k.b.ctx, k.s->factor(k.tree, 1e-3, 0, 1));
    close_bench(&k);
}

/* M^-1 (f - D v) against the engine's recursion, which knows neither balance nor products. */
static void accelerations_agree(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed < 5; seed++) {
        bench k;
        open_bench(&k, seed, 0.05);
        const double *q = k.b.state->q, *v = k.b.state->v;
        double f[MOST], Dv[MOST], inner[MOST], a[MOST], expected[MOST];
        check_ok(k.b.ctx, bo_tree_accelerations(k.b.ctx, k.b.model, k.b.state, false, q, v, NULL, a)); /* takes loads */
        check_ok(k.b.ctx, k.s->enter(k.tree, 0, q, v));
        check_ok(k.b.ctx, k.s->force(k.tree, 0, q, NULL, f));
        k.s->multiply(k.tree, BO_MATRIX_D, v, Dv);
        for (int32_t i = 0; i < k.n; i++) {
            inner[i] = f[i] + k.tree->rest[i] - Dv[i]; /* elastic and damping alone */
            f[i] -= Dv[i];
        }
        check_ok(k.b.ctx, k.s->factor(k.tree, 1, 0, 0));
        check_ok(k.b.ctx, k.s->solve(k.tree, f, a));
        check_ok(k.b.ctx, bo_tree_accelerations(k.b.ctx, k.b.model, k.b.state, false, q, v, inner, expected));
        check_below(relative((size_t)k.n, a, 1, expected), 1e-10);
        close_bench(&k);
    }
}

/* ---- motion ---- */

/* With inertia evaluated twice all methods have the order that the registry says; with inertia of the start of the step
 * none falls below first order. Hybrids are accurate with damping, but lose their order: they take that of the modes as
 * diagonal. */
static void orders_are_kept(void **unused) {
    (void)unused;
    for (int32_t passes = 1; passes <= 2; passes++) {
        bars b;
        double exact[MOST], q[MOST];
        set_out(&b, passes, 1e-3);
        const size_t n = (size_t)bough_tree_model_size(b.model);
        use(&b, "rk4");
        trajectory(&b, 1500, exact);
        for (int32_t m = 0; m < bough_integrator_count(); m++) {
            const bough_integrator_info *info = bough_integrator_describe(m);
            if (!strcmp(info->name, "ere"))
                continue;
            double error[2], us = INFINITY; /* a step, the better of two */
            use(&b, info->name);
            for (int fine = 0; fine < 2; fine++) {
                const int steps = fine ? 160 : 80;
                const clock_t start = clock();
                trajectory(&b, steps, q);
                us = fmin(us, 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / steps);
                error[fine] = relative(n, q, 1, exact);
            }
            const double order = log2(error[0] / error[1]);
            const bool modes = strstr(info->name, "ere") != NULL;
            print_message("passes %d  %-20s error %.1e %.1e  order %.2f  %.0f us\n", passes, info->name, error[0],
                          error[1], order, us);
            check_below(error[1], info->order == 1 && !modes ? 5e-3 : 2e-3);
            check(modes || order > 0.9);
            if ((passes == 2 || info->explicit_method) && info->order > 1 && !modes)
                check(order > info->order - 0.25 && order < info->order + 0.6);
        }
        check_ok(b.ctx, bough_tree_state_use_integrator(b.ctx, b.model, b.state, NULL));
        const clock_t start = clock();
        trajectory(&b, 1000, q);
        print_message("passes %d  the own step: %.1f us\n", passes, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
        go_home(&b);
    }
}

/* Without damping, where ere applies. */
static void the_exponential_method_has_its_order(void **unused) {
    (void)unused;
    bars b;
    double exact[MOST], coarse[MOST], fine[MOST];
    bough_integrator_def def = method("ere");
    set_out(&b, 2, 1e-3);
    const size_t n = (size_t)bough_tree_model_size(b.model);
    check_ok(b.ctx, bough_tree_state_use_integrator(b.ctx, b.model, b.state, &def));
    check_fails(b.ctx, bough_tree_step(b.ctx, b.model, b.state, 1e-3), BOUGH_ERROR_UNSUPPORTED,
                "ere needs Rayleigh damping");
    for (int32_t i = 0; i < PARTS; i++)
        b.state->damping_stiffness[i] = 0;
    use(&b, "rk4");
    trajectory(&b, 1500, exact);
    use(&b, "ere");
    trajectory(&b, 60, coarse);
    trajectory(&b, 120, fine);
    check_near(log2(relative(n, coarse, 1, exact) / relative(n, fine, 1, exact)), 2, 0.2);
    check_below(relative(n, fine, 1, exact), 2e-4);
    go_home(&b);
}

static double energy_of(bars *b) {
    bough_tree_energies e;
    check_ok(b->ctx, bough_tree_state_energies(b->ctx, b->model, b->state, &e));
    return e.elastic + e.kinetic + e.gravity;
}

/* The exact coupling keeps energy: what is lost is the method's, and falls with its order. */
static void energy_is_kept(void **unused) {
    (void)unused;
    bars b;
    set_out(&b, 2, 0);
    double lost[2];
    use(&b, "rk4");
    for (int fine = 0; fine < 2; fine++) {
        launch(&b);
        const double before = energy_of(&b);
        run(&b, fine ? 1600 : 800, 0.4);
        lost[fine] = fabs(energy_of(&b) / before - 1);
    }
    print_message("relative energy drift of rk4 over 0.4 s: %.1e, with half the step %.1e\n", lost[0], lost[1]);
    check_below(lost[0], 1e-7);
    check_below(14 * lost[1], lost[0]);
    go_home(&b);
}

/* The tree's own step in two passes, started with the acceleration that belongs to the state. */
static void the_own_step_agrees(void **unused) {
    (void)unused;
    bars b;
    double own[MOST], other[MOST], a[MOST];
    set_out(&b, 2, 1e-3);
    const size_t n = (size_t)bough_tree_model_size(b.model);
    use(&b, "newmark"); /* leaves the acceleration at the end of a step */
    launch(&b);
    check_ok(b.ctx, bough_tree_step(b.ctx, b.model, b.state, 1e-9));
    memcpy(a, b.state->a, n * sizeof *a);
    double difference[2];
    for (int fine = 0; fine < 2; fine++) {
        const int steps = fine ? 1600 : 800;
        check_ok(b.ctx, bough_tree_state_use_integrator(b.ctx, b.model, b.state, NULL));
        launch(&b);
        memcpy(b.state->a, a, n * sizeof *a);
        run(&b, steps, span);
        memcpy(own, b.state->q, n * sizeof *own);
        use(&b, "hht-linear");
        trajectory(&b, steps, other);
        difference[fine] = relative(n, other, 1, own);
    }
    print_message("own step against hht-linear: %.1e, with half the step %.1e\n", difference[0], difference[1]);
    check_below(difference[1], 1e-4);
    check_below(1.8 * difference[1], difference[0]);
    go_home(&b);
}

/* Steps of 1/60 s with pulls that change sides: the energies of A-stable methods stay what the pulls can give. */
static void large_steps_are_stable(void **unused) {
    (void)unused;
    for (int32_t passes = 1; passes <= 2; passes++) {
        bars b;
        set_out(&b, passes, 2e-3);
        for (int32_t m = 0; m < bough_integrator_count(); m++) {
            const bough_integrator_info *info = bough_integrator_describe(m);
            if (!info->a_stable || !strcmp(info->name, "ere"))
                continue;
            use(&b, info->name);
            launch(&b);
            bough_tree_energies start;
            double most = 0, last = 0;
            check_ok(b.ctx, bough_tree_state_energies(b.ctx, b.model, b.state, &start));
            const int steps = 200;
            for (int i = 0; i < steps; i++) {
                const double target[3] = {1.5, i / 20 % 2 ? 0.4 : -0.4, 0};
                bough_tree_energies e;
                check_ok(b.ctx, bough_tree_state_pull(b.ctx, b.model, b.state, PARTS - 1, 3, target, 30, 0));
                check_ok(b.ctx, bough_tree_step(b.ctx, b.model, b.state, 1.0 / 60));
                check_ok(b.ctx, bough_tree_state_energies(b.ctx, b.model, b.state, &e));
                last = e.elastic + e.kinetic;
                most = fmax(most, last);
            }
            print_message("passes %d  %-20s at most %.3g J, at last %.3g J\n", passes, info->name, most, last);
            check_below(most, 1.5 * start.kinetic);
            check_below(last, start.kinetic);
        }
        go_home(&b);
    }
}

/* ---- manners ---- */

static void what_does_not_apply_is_told(void **unused) {
    (void)unused;
    const double t[1] = {0}, x[3] = {0}, r[4] = {1, 0, 0, 0};
    static const char *const sentences[] = {"L3", "flies", "has a track", NULL};
    bough_integrator_def def = method("si");
    for (int what = 0; what < 4; what++) {
        bars b;
        prepare_bars(&b, test_context(1), PARTS, 0, what == 1);
        if (what == 0)
            b.def.coupling = BOUGH_COUPLING_L2R;
        if (what == 2)
            b.parts[0].track = (bough_track){1, t, x, r};
        grow_bars(&b);
        if (sentences[what])
            check_fails(b.ctx, bough_tree_state_use_integrator(b.ctx, b.model, b.state, &def), BOUGH_ERROR_UNSUPPORTED,
                        sentences[what]);
        else {
            check_ok(b.ctx, bough_tree_state_use_integrator(b.ctx, b.model, b.state, &def));
            bough_integrator_def other = method("sii");
            check_fails(b.ctx, bough_tree_state_use_integrator(b.ctx, b.model, b.state, &other), BOUGH_ERROR_ARGUMENT,
                        "did you mean \"si\"");
            check(bo_tree_work_of(b.state)->integrator != NULL); /* the one before is kept */
            check_fails(b.ctx, bough_tree_step(b.ctx, b.model, b.state, -1), BOUGH_ERROR_ARGUMENT, "positive");
            b.state->coupling = BOUGH_COUPLING_L1;
            check_fails(b.ctx, bough_tree_step(b.ctx, b.model, b.state, 1e-3), BOUGH_ERROR_UNSUPPORTED, "L3");
            b.state->coupling = BOUGH_COUPLING_L3;
        }
        check_ok(b.ctx, bough_tree_state_use_integrator(b.ctx, b.model, b.state, NULL));
        check_ok(b.ctx, bough_tree_step(b.ctx, b.model, b.state, 1e-3));
        go_home(&b);
    }
}

/* An explicit method blows up under large steps; the step that fails changes nothing. */
static void failed_steps_change_nothing(void **unused) {
    (void)unused;
    bars b;
    set_out(&b, 1, 0);
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    unsigned char *before = malloc(size), *after = malloc(size);
    use(&b, "central-differences");
    launch(&b);
    bough_status status = BOUGH_OK;
    int steps = 0;
    for (; status == BOUGH_OK && steps < 10000; steps++) {
        memcpy(before, b.state->q, 3 * (size_t)bough_tree_model_size(b.model) * sizeof(double));
        status = bough_tree_step(b.ctx, b.model, b.state, 0.05);
    }
    check(status == BOUGH_ENERGY_GAINED); /* before its numbers stop being finite */
    check(memcmp(before, b.state->q, 3 * (size_t)bough_tree_model_size(b.model) * sizeof(double)) == 0);
    check_near(b.state->time, 0.05 * (steps - 1), 1e-9);
    free(before), free(after);
    go_home(&b);
}

/* The memory of methods about the step before is part of a snapshot. */
static void snapshots_go_on_alike(void **unused) {
    (void)unused;
    static const char *const names[] = {"sbdf2", "bdf2", "hht-linear", "str-sbdf2", "tr-bdf2", "rk4"};
    bars b;
    set_out(&b, 2, 1e-3);
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    unsigned char *then = malloc(size), *later = malloc(size), *again = malloc(size);
    for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
        bough_tree_state *fresh;
        bough_integrator_def def = method(names[m]);
        check_ok(b.ctx, bough_tree_state_create(b.ctx, b.model, &fresh));
        check_ok(b.ctx, bough_tree_state_use_integrator(b.ctx, b.model, fresh, &def));
        use(&b, names[m]);
        launch(&b);
        run(&b, 5, 0.01);
        bough_tree_state_save(b.model, b.state, then);
        run(&b, 5, 0.01);
        bough_tree_state_save(b.model, b.state, later);
        check_ok(b.ctx, bough_tree_state_restore(b.ctx, b.model, fresh, then, size));
        for (int i = 0; i < 5; i++)
            check_ok(b.ctx, bough_tree_step(b.ctx, b.model, fresh, 0.01 / 5));
        bough_tree_state_save(b.model, fresh, again);
        check(memcmp(later, again, size) == 0);
        bough_tree_state_destroy(b.ctx, fresh);
    }
    free(then), free(later), free(again);
    go_home(&b);
}

/* A state that was put elsewhere has no step before: it moves as a new one does. */
static void jumps_are_noticed(void **unused) {
    (void)unused;
    static const char *const names[] = {"sbdf2", "newmark"};
    for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
        bars b;
        double fresh[MOST], jumped[MOST];
        set_out(&b, 1, 1e-3);
        use(&b, names[m]);
        trajectory(&b, 20, fresh);
        randomise(&b, 9, 0.05, 1);
        run(&b, 5, 0.01);
        trajectory(&b, 20, jumped);
        check_below(relative((size_t)bough_tree_model_size(b.model), jumped, 1, fresh), 1e-12);
        go_home(&b);
    }
}

static void nothing_is_allocated_while_stepping(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    bars b;
    prepare_bars(&b, test_counting_context(&memory), PARTS, 1e-3, false);
    grow_bars(&b);
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        use(&b, bough_integrator_describe(m)->name);
        launch(&b);
        const long calls = memory.calls;
        for (int i = 0; i < 3; i++)
            bough_tree_step(b.ctx, b.model, b.state, 1e-3);
        check_int(memory.calls, calls);
    }
    clear_bars(&b);
    bough_context_destroy(b.ctx);
    check_int(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_those_of_the_energies),
        cmocka_unit_test(forces_have_a_potential),
        cmocka_unit_test(solves_undo_products),
        cmocka_unit_test(lost_stiffness_is_noticed),
        cmocka_unit_test(accelerations_agree),
        cmocka_unit_test(orders_are_kept),
        cmocka_unit_test(the_exponential_method_has_its_order),
        cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(the_own_step_agrees),
        cmocka_unit_test(large_steps_are_stable),
        cmocka_unit_test(what_does_not_apply_is_told),
        cmocka_unit_test(failed_steps_change_nothing),
        cmocka_unit_test(snapshots_go_on_alike),
        cmocka_unit_test(jumps_are_noticed),
        cmocka_unit_test(nothing_is_allocated_while_stepping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
