/* What a step costs by the number of parts: oaks of the same 41 branches with more and more leaves. */
#include "tree_scene.h"

#include <bough/record.h>

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* The first has bare branches: what every oak costs before its leaves. */
enum { SIZES = 8, METHODS = 2, MOST_STEPS = 201 };
static const int32_t leaf_counts[SIZES] = {0, 100, 300, 1000, 3000, 10000, 30000, 100000};
static const bough_coupling methods[METHODS] = {BOUGH_COUPLING_L1, BOUGH_COUPLING_L3};
static const double dt = 1.0 / 240;

typedef struct {
    int32_t leaves, parts, coordinates;
    double us[METHODS]; /* of a step, median */
} oak_costs;

/* Of this thread: others who use the machine cost it less than they do wall time. */
static double cpu_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Every step begins with the same state: lumped couplings feed energy into a tree that bends under its weight. NAN: one
 * failed. */
static double time_steps(const tree_scene *s, bough_state *state, const void *start, int32_t steps) {
    const size_t size = bough_state_snapshot_size(s->model);
    const bough_coupling coupling = state->coupling;
    double us[MOST_STEPS];
    for (int32_t i = 0; i < steps; i++) {
        if (bough_state_restore(s->ctx, s->model, state, start, size) || bough_state_update(s->ctx, s->model, state))
            return NAN;
        state->coupling = coupling;
        const double before = cpu_us();
        if (bough_step(s->ctx, s->model, state, dt))
            return NAN;
        us[i] = cpu_us() - before;
    }
    return median_of((size_t)steps, us);
}

static bool measure(bough_context *ctx, int32_t leaves, oak_costs *costs) {
    tree_scene s;
    bough_state *state = NULL;
    void *start = NULL;
    bool good = tree_scene_open(ctx, "oak", leaves, &s);
    if (good && (state = moving_state(&s)))
        start = malloc(bough_state_snapshot_size(s.model));
    good = start != NULL;
    if (good) {
        const int32_t wish = 200000 / (leaves + 1000) | 1;
        *costs = (oak_costs){leaves, bough_model_part_count(s.model), bough_model_size(s.model), {0}};
        state->passes = 1;
        bough_state_save(s.model, state, start);
        for (int m = 0; m < METHODS && good; m++) {
            state->coupling = methods[m];
            costs->us[m] = time_steps(&s, state, start, wish < 9 ? 9 : wish);
            good = !isnan(costs->us[m]);
        }
        if (!good)
            app_fail(ctx);
    }
    free(start);
    bough_state_destroy(ctx, state);
    tree_scene_close(&s);
    return good;
}

/* Slope of log(us - less) over log(leaves), by least squares. */
static double exponent(const oak_costs *costs, int method, double less) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 1; i < SIZES; i++) {
        const double u = log(costs[i].leaves), v = log(costs[i].us[method] - less);
        n++, x += u, y += v, xx += u * u, xy += u * v;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

static void report(const oak_costs *costs) {
    printf("us of a step, one thread, CPU time; a leaf: what the oak costs more than its branches, for each leaf\n");
    printf("%8s %8s %12s %10s %10s %8s %8s\n", "leaves", "parts", "coordinates", "L1", "L3", "a leaf", "a leaf");
    for (int i = 0; i < SIZES; i++) {
        const oak_costs *c = &costs[i];
        printf("%8d %8d %12d %10.1f %10.1f", c->leaves, c->parts, c->coordinates, c->us[0], c->us[1]);
        for (int m = 0; m < METHODS && c->leaves; m++)
            printf(" %8.3f", (c->us[m] - costs[0].us[m]) / c->leaves);
        printf("\n");
    }
    for (int m = 0; m < METHODS; m++)
        printf("%s: exponent %.3f; without what the branches cost %.3f, required 0.95 to 1.05\n",
               coupling_name(methods[m]), exponent(costs, m, 0), exponent(costs, m, costs[0].us[m]));
}

static void report_json(const oak_costs *costs) {
    json_t *sizes = json_array(), *exponents = json_array();
    for (int i = 0; i < SIZES; i++)
        json_array_append_new(sizes,
                              json_pack("{s:i, s:i, s:i, s:f, s:f}", "leaves", (int)costs[i].leaves, "parts",
                                        (int)costs[i].parts, "dofs", (int)costs[i].coordinates, "L1_step_us_median",
                                        costs[i].us[0], "L3_step_us_median", costs[i].us[1]));
    for (int m = 0; m < METHODS; m++)
        json_array_append_new(exponents, json_pack("{s:s, s:f, s:f}", "coupling", coupling_name(methods[m]), "exponent",
                                                   exponent(costs, m, 0), "exponent_without_branches",
                                                   exponent(costs, m, costs[0].us[m])));
    app_print_json(json_pack("{s:s, s:i, s:o, s:o}", "scene", "oak", "threads", 1, "sizes", sizes, "fits", exponents));
}

static bool plot(bough_context *ctx, const oak_costs *costs, const char *path) {
    double x[SIZES], y[2 * METHODS][SIZES];
    bough_series series[2 * METHODS];
    static const char *const names[] = {"L1", "L1 without the branches", "L3", "L3 without the branches"};
    for (int k = 0; k < 2 * METHODS; k++) {
        for (int i = 1; i < SIZES; i++) {
            x[i] = costs[i].leaves;
            y[k][i] = costs[i].us[k / 2] - (k % 2 ? costs[0].us[k / 2] : 0);
        }
        series[k] = (bough_series){names[k], SIZES - 1, x + 1, y[k] + 1, k % 2};
    }
    bough_plot_def def = bough_default_plot_def();
    def.title = "A step of the oak", def.x_title = "leaves", def.y_title = "µs";
    def.log_x = def.log_y = true;
    return !bough_plot_write(ctx, &def, series, 2 * METHODS, path);
}

int bench_leaves(const bench_options *options) {
    bough_context *ctx = app_context(1);
    oak_costs costs[SIZES];
    bool good = true;
    for (int i = 0; i < SIZES && good; i++)
        good = measure(ctx, leaf_counts[i], &costs[i]) && !app_interrupted();
    if (good)
        (options->json ? report_json : report)(costs);
    if (good && options->plot && !plot(ctx, costs, options->plot)) {
        app_fail(ctx);
        good = false;
    }
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
