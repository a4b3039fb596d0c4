/* Painting: frequencies follow factors, damping ratios are those of free vibrations, and stay. */
#include "bars.h"
#include "garden.h"

#include "dense/symmetric_eigen.h"

/* ---- frequencies ---- */

/* Lowest frequency of the coordinates of part 0 in the exact tree: G M^-1 G with K = G G^T by Cholesky, from
 * accelerations under unit forces. What hangs on it must be rigid. */
static double exact_frequency(const garden *g) {
    enum { N = 8 };
    const int32_t n = bough_tree_model_size(g->model);
    const bough_part_def *part = &g->parts[0];
    const bough_component *c = g->components[part->component];
    const double elastic = pow(part->scale, 3) * pow(g->state->stiffness[0], 2);
    double zero[N] = {0}, force[N] = {0}, a[N], inverse[N][N], G[N][N] = {{0}}, A[N * N], values[N], scratch[2 * N];
    check(n <= N && n == c->r);
    for (int32_t k = 0; k < n; k++) {
        force[k] = 1;
        check_ok(g->ctx, bo_tree_accelerations(g->ctx, g->model, g->state, false, zero, zero, force, a));
        force[k] = 0;
        for (int32_t i = 0; i < n; i++)
            inverse[i][k] = a[i];
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = elastic * c->K[i * n + j];
            for (int32_t k = 0; k < j; k++)
                sum -= G[i][k] * G[j][k];
            G[i][j] = i == j ? sqrt(sum) : sum / G[j][j];
        }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            A[i * n + j] = 0;
            for (int32_t k = 0; k < n; k++)
                for (int32_t l = 0; l < n; l++)
                    A[i * n + j] += G[k][i] * inverse[k][l] * G[l][j];
        }
    check(bo_sym_eigen(n, A, values, NULL, scratch));
    return sqrt(values[0]) / (2 * M_PI);
}

/* A soft root, held or flying, that carries trees of stones. */
static garden stones(int seed, bool flies) {
    garden g = till(1);
    test_random random = {(uint64_t)seed};
    const int32_t soft = add_kind(&g, 5, 4, BOUGH_REDUCED_LINEAR, flies);
    const int32_t stone = add_kind(&g, 0, 3, BOUGH_REDUCED_RIGID, false);
    add_part(&g, &random, soft, -1, 0);
    for (int i = 0; i < seed % 4; i++) {
        add_part(&g, &random, stone, 0, 1 + i);
        add_part(&g, &random, stone, 1 + 2 * i, 1 + i % 2);
        for (int d = 0; d < 3 && seed > 4; d++) /* away from the interfaces that they move with */
            g.parts[1 + 2 * i].offset[d] = test_uniform(&random, -0.5, 0.5),
                            g.parts[2 + 2 * i].offset[d] = test_uniform(&random, -0.5, 0.5);
    }
    memset(g.def.gravity, 0, sizeof g.def.gravity);
    plant(&g);
    return g;
}

static void frequencies_are_those_of_the_exact_tree(void **state) {
    (void)state;
    for (int seed = 1; seed <= 8; seed++)
        for (int flies = 0; flies < 2; flies++) {
            garden g = stones(seed, flies);
            double hz[8], expected = exact_frequency(&g);
            check_ok(g.ctx, bough_tree_state_lowest_frequencies(g.ctx, g.model, g.state, hz));
            check_near(hz[0], expected, 1e-9 * expected);
            for (int i = 1; i < g.def.part_count; i++)
                check(hz[i] == INFINITY);
            /* a factor on frequencies is one */
            check_ok(g.ctx, bough_tree_state_set_stiffness(g.ctx, g.model, g.state, 0, 3 * g.state->stiffness[0]));
            check_near(exact_frequency(&g), 3 * expected, 1e-9 * expected);
            check_ok(g.ctx, bough_tree_state_lowest_frequencies(g.ctx, g.model, g.state, hz));
            check_near(hz[0], 3 * expected, 1e-9 * expected);
            clear(&g);
        }
}

/* ---- free vibrations ---- */

typedef struct {
    double hz, ratio;
} vibration;

/* Zero crossings and peaks of a coordinate, after `skip` of them: w_d = w sqrt(1 - z^2), and peaks fall by
 * exp(-z w t). Small steps of Newmark's method, which damps nothing itself. */
static vibration watch(bars *b, int32_t coordinate, double expected_hz, int skip) {
    enum { PERIODS = 6, STEPS = 400 };
    const double dt = 1 / (expected_hz * STEPS);
    double first = NAN, last = NAN, peak = 0, first_peak = NAN, last_peak = NAN;
    int crossings = 0, halves = -1;
    b->state->alpha = 0;
    for (int step = 0; step < (PERIODS + skip) * STEPS; step++) {
        const double before = b->state->q[coordinate];
        check_ok(b->ctx, bough_tree_step(b->ctx, b->model, b->state, dt));
        const double now = b->state->q[coordinate];
        peak = fmax(peak, fabs(now));
        if (before * now > 0 || before == 0)
            continue;
        if (crossings++ >= skip) {
            last = b->state->time - dt * now / (now - before);
            last_peak = peak;
            if (halves++ < 0)
                first = last, first_peak = peak;
        }
        peak = 0;
    }
    check(halves >= 4);
    const double w_d = M_PI * halves / (last - first), decay = log(first_peak / last_peak) / (last - first);
    return (vibration){sqrt(w_d * w_d + decay * decay) / (2 * M_PI), decay / sqrt(w_d * w_d + decay * decay)};
}

static bars lone_bar(double damping) {
    bars b;
    prepare_bars(&b, test_context(1), 1, damping, false);
    memset(b.def.gravity, 0, sizeof b.def.gravity);
    b.parts[0].scale = 1.7;
    return b;
}

static void free_bars(bars *b) {
    bough_context *ctx = b->ctx;
    clear_bars(b);
    bough_context_destroy(ctx);
}

/* Coordinate 0 is the lowest mode. */
static vibration pluck(bars *b) {
    double hz;
    check_ok(b->ctx, bough_tree_state_lowest_frequencies(b->ctx, b->model, b->state, &hz));
    memset(b->state->q, 0, 3 * (size_t)bough_tree_model_size(b->model) * sizeof(double));
    b->state->q[0] = 1e-6;
    check_ok(b->ctx, bough_tree_state_update(b->ctx, b->model, b->state));
    check_ok(b->ctx, bough_tree_step(b->ctx, b->model, b->state, 0));
    vibration seen = watch(b, 0, hz, 1);
    check_near(seen.hz, hz, 1e-3 * hz);
    return seen;
}

static void ratios_are_those_of_the_decay(void **state) {
    (void)state;
    const double dampings[2] = {0, 1e-3};
    for (int kind = 0; kind < 2; kind++)
        for (int by_mass = 0; by_mass < 2; by_mass++) {
            bars b = lone_bar(dampings[kind]);
            if (by_mass)
                b.parts[0].damping_mass = 2, b.parts[0].damping_stiffness = 0;
            b.parts[0].damping_ratio = 0.04;
            grow_bars(&b);
            check(by_mass ? b.state->damping_stiffness[0] == 0 : b.state->damping_mass[0] == 0);
            const double hz = pluck(&b).hz;
            check_near(pluck(&b).ratio, 0.04, 0.001);
            /* while it runs: the ratio is kept, whatever the stiffness */
            check_ok(b.ctx, bough_tree_state_set_stiffness(b.ctx, b.model, b.state, 0, 0.5));
            vibration soft = pluck(&b);
            check_near(soft.hz / hz, 0.5, 1e-10);
            check_near(soft.ratio, 0.04, 0.001);
            check_ok(b.ctx, bough_tree_state_set_damping_ratio(b.ctx, b.model, b.state, 0, 0.015));
            check_near(pluck(&b).ratio, 0.015, 1e-5);
            check_ok(b.ctx, bough_tree_state_set_damping_ratio(b.ctx, b.model, b.state, 0, 0));
            check_near(pluck(&b).ratio, 0, 3e-7);
            /* of the kind that the part was made with */
            check_ok(b.ctx, bough_tree_state_set_component_damping_ratio(b.ctx, b.model, b.state, 0, 0.02));
            check(by_mass ? b.state->damping_stiffness[0] == 0 : b.state->damping_mass[0] == 0);
            check_near(pluck(&b).ratio, 0.02, 1e-5);
            free_bars(&b);
        }
}

/* A root that carries: its ratio is seen in the swing of the whole, of which the root alone bends. */
static void loads_belong_to_the_frequency(void **state) {
    (void)state;
    bars b;
    prepare_bars(&b, test_context(1), 2, 0, false);
    memset(b.def.gravity, 0, sizeof b.def.gravity);
    b.parts[1].stiffness = 40; /* hardly bends */
    b.parts[0].damping_ratio = 0.05;
    grow_bars(&b);
    double hz[2];
    check_ok(b.ctx, bough_tree_state_lowest_frequencies(b.ctx, b.model, b.state, hz));
    const double bare = sqrt(b.root->K[0]) / (2 * M_PI) / b.parts[0].scale;
    check(hz[0] < 0.7 * bare);
    b.state->q[0] = 1e-6;
    check_ok(b.ctx, bough_tree_state_update(b.ctx, b.model, b.state));
    check_ok(b.ctx, bough_tree_step(b.ctx, b.model, b.state, 0));
    vibration seen = watch(&b, 0, hz[0], 6); /* higher modes are gone by then */
    check_near(seen.hz, hz[0], 0.01 * hz[0]);
    check_near(seen.ratio, 0.05, 0.0015);
    free_bars(&b);
}

static void classes_are_painted_together(void **state) {
    (void)state;
    bars b;
    prepare_bars(&b, test_context(1), 6, 1e-3, false);
    b.parts[3].damping_ratio = 0.03;
    grow_bars(&b);
    double before[6], after[6];
    const double rest[6] = {b.state->damping_stiffness[0], b.state->damping_stiffness[1]};
    check_ok(b.ctx, bough_tree_state_lowest_frequencies(b.ctx, b.model, b.state, before));
    check_ok(b.ctx, bough_tree_state_set_component_stiffness(b.ctx, b.model, b.state, 1, 0.7));
    check_ok(b.ctx, bough_tree_state_lowest_frequencies(b.ctx, b.model, b.state, after));
    for (int i = 0; i < 6; i++)
        check_near(after[i] / before[i], i == 0 ? 1 : 0.7, 1e-12);
    check_near(b.state->damping_stiffness[0], rest[0], 0);
    check_near(b.state->damping_stiffness[1], rest[1] / 0.7, 1e-15);
    check_ok(b.ctx, bough_tree_state_set_component_damping_ratio(b.ctx, b.model, b.state, 1, 0.06));
    for (int i = 1; i < 6; i++) /* z = b w / 2 */
        check_near(b.state->damping_stiffness[i] * M_PI * after[i], 0.06, 1e-12);
    check_near(b.state->damping_stiffness[0], rest[0], 0);
    free_bars(&b);
}

/* A part that comes off flies free of its seat, and shakes faster; the others of its kind stay as they were. */
static void what_flies_has_a_frequency_of_its_own(void **state) {
    (void)state;
    garden g = small_forest(false);
    double before[12], after[12];
    check_ok(g.ctx, bough_tree_state_lowest_frequencies(g.ctx, g.model, g.state, before));
    check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, 5)); /* a leaf of the second tree */
    check_ok(g.ctx, bough_tree_state_lowest_frequencies(g.ctx, g.model, g.state, after));
    check(after[5] > 1.001 * before[5]);
    for (int i = 2; i < 12; i += 3)
        check(i == 5 || fabs(after[i] / before[i] - 1) < 1e-9);
    clear(&g);
}

/* Parts that are absent keep the damping that they will come back with. */
static void what_is_absent_is_not_painted(void **state) {
    (void)state;
    garden g = small_forest(false);
    const bough_change gone = {.kind = BOUGH_CHANGE_REMOVE, .part = 5};
    g.state->damping_mass[5] = 2, g.state->damping_stiffness[5] = 3e-3;
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 1, &gone));
    check_ok(g.ctx, bough_tree_state_set_component_damping_ratio(g.ctx, g.model, g.state, 1, 0.1));
    check_fails(g.ctx, bough_tree_state_set_damping_ratio(g.ctx, g.model, g.state, 5, 0.1), BOUGH_ERROR_ARGUMENT,
                "absent");
    check(g.state->damping_mass[5] == 2 && g.state->damping_stiffness[5] == 3e-3);
    check(g.state->damping_stiffness[2] > 0);
    clear(&g);
}

/* A model made from what another says of itself is the same. */
static void defs_can_be_used_again(void **state) {
    (void)state;
    bars b = lone_bar(2e-3);
    b.parts[0].damping_ratio = 0.04;
    grow_bars(&b);
    bough_tree_model *again;
    check_ok(b.ctx, bough_tree_model_create(b.ctx, bough_tree_model_describe(b.model), &again));
    const bough_part_def *one = bough_tree_model_describe(b.model)->parts,
                         *two = bough_tree_model_describe(again)->parts;
    check_near(one->damping_mass, two->damping_mass, 0);
    check_near(one->damping_stiffness, two->damping_stiffness, 1e-15 * one->damping_stiffness);
    bough_tree_model_destroy(b.ctx, again);
    free_bars(&b);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    bars b = lone_bar(0);
    grow_bars(&b);
    bough_context *ctx = b.ctx;
    check_fails(ctx, bough_tree_state_set_stiffness(ctx, b.model, b.state, 1, 1), BOUGH_ERROR_ARGUMENT, "no part 1");
    check_fails(ctx, bough_tree_state_set_stiffness(ctx, b.model, b.state, -1, 1), BOUGH_ERROR_ARGUMENT, "no part -1");
    check_fails(ctx, bough_tree_state_set_stiffness(ctx, b.model, b.state, 0, 0), BOUGH_ERROR_ARGUMENT, "positive");
    check_fails(ctx, bough_tree_state_set_stiffness(ctx, b.model, b.state, 0, NAN), BOUGH_ERROR_ARGUMENT, "positive");
    check_fails(ctx, bough_tree_state_set_component_stiffness(ctx, b.model, b.state, 2, 1), BOUGH_ERROR_ARGUMENT,
                "no component 2");
    check_fails(ctx, bough_tree_state_set_component_stiffness(ctx, b.model, b.state, 0, INFINITY), BOUGH_ERROR_ARGUMENT,
                "positive");
    check_fails(ctx, bough_tree_state_set_damping_ratio(ctx, b.model, b.state, 7, 0), BOUGH_ERROR_ARGUMENT,
                "no part 7");
    check_fails(ctx, bough_tree_state_set_damping_ratio(ctx, b.model, b.state, 0, -0.1), BOUGH_ERROR_ARGUMENT,
                "negative");
    check_fails(ctx, bough_tree_state_set_component_damping_ratio(ctx, b.model, b.state, 9, 0), BOUGH_ERROR_ARGUMENT,
                "no component 9");
    check_fails(ctx, bough_tree_state_set_component_damping_ratio(ctx, b.model, b.state, 0, NAN), BOUGH_ERROR_ARGUMENT,
                "finite");
    check(b.state->stiffness[0] == 1 && b.state->damping_mass[0] == 0 && b.state->damping_stiffness[0] == 0);
    clear_bars(&b);
    const struct {
        double ratio;
        const char *why;
    } wrong[] = {{-0.1, "ratio"}, {INFINITY, "ratio"}};
    for (int i = 0; i < 2; i++) {
        bars w;
        prepare_bars(&w, ctx, 1, 0, false);
        const bough_component *components[2] = {w.root, w.limb};
        w.parts[0].damping_ratio = wrong[i].ratio;
        w.def.components = components, w.def.parts = w.parts;
        check_fails(ctx, bough_tree_model_create(ctx, &w.def, &w.model), BOUGH_ERROR_ARGUMENT, wrong[i].why);
        clear_bars(&w);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies_are_those_of_the_exact_tree),
        cmocka_unit_test(ratios_are_those_of_the_decay),
        cmocka_unit_test(loads_belong_to_the_frequency),
        cmocka_unit_test(classes_are_painted_together),
        cmocka_unit_test(what_flies_has_a_frequency_of_its_own),
        cmocka_unit_test(what_is_absent_is_not_painted),
        cmocka_unit_test(defs_can_be_used_again),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
