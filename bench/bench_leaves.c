/* The cost of a step by the number of parts: oaks of the same 41 branches with more and more leaves. */
#include "tree_scene.h"

#include "tree/tree.h"

#include <bough/record.h>

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* The first oak has bare branches: the cost of every oak before its leaves. */
enum { SIZES = 8, METHODS = 2, ROUNDS = 12, MOST_STEPS = 41 };
static const int32_t leaf_counts[SIZES] = {0, 100, 300, 1000, 3000, 10000, 30000, 100000};
static const bough_coupling methods[METHODS] = {BOUGH_COUPLING_L1, BOUGH_COUPLING_L3};
static const double dt = 1.0 / 240;

typedef struct {
    int32_t leaves, parts, coordinates;
    int32_t faces;      /* interfaces whose frames are followed: those that any part of a component has something on */
    double us[METHODS]; /* of a step: the least of the rounds' medians */
} oak_costs;

/* CPU time of this thread: others who use the machine change it less than wall time. */
static double cpu_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Every step begins with the same state: lumped couplings feed energy into a tree that bends under its weight. NAN: one
 * failed. */
static double time_steps(const tree_scene *s, bough_tree_state *state, const void *start, int32_t steps) {
    const size_t size = bough_tree_state_snapshot_size(s->model, state);
    const bough_coupling coupling = state->coupling;
    double us[MOST_STEPS];
    for (int32_t i = 0; i < steps; i++) {
        if (bough_tree_state_restore(s->ctx, s->model, state, start, size) ||
            bough_tree_state_update(s->ctx, s->model, state))
            return NAN;
        state->coupling = coupling;
        const double before = cpu_us();
        if (bough_tree_step(s->ctx, s->model, state, dt))
            return NAN;
        us[i] = cpu_us() - before;
    }
    return median_of((size_t)steps, us);
}

static bool measure(bough_context *ctx, int32_t leaves, oak_costs *costs) {
    tree_scene s;
    bough_tree_state *state = NULL;
    void *start = NULL;
    bool good = tree_scene_open(ctx, "oak", leaves, &s);
    if (good && (state = moving_state(&s, s.model)))
        start = malloc(bough_tree_state_snapshot_size(s.model, state));
    good = start != NULL;
    if (good) {
        const int32_t wish = 41000 / (leaves + 1000);
        *costs = (oak_costs){leaves,
                             bough_tree_model_part_count(s.model),
                             bough_tree_model_size(s.model),
                             4 * s.model->faces_count,
                             {0}};
        state->passes = 1;
        bough_tree_state_save(s.model, state, start);
        for (int k = 0; k < ROUNDS * METHODS && good; k++) {
            double *least = &costs->us[k % METHODS];
            state->coupling = methods[k % METHODS];
            const double us = time_steps(&s, state, start, wish < 3 ? 3 : wish);
            *least = k < METHODS || us < *least ? us : *least;
            good = !isnan(us);
        }
        if (!good)
            bench_fail(ctx);
    }
    free(start);
    bough_tree_state_destroy(ctx, state);
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

typedef struct {
    double constant, per_leaf, exponent; /* us = constant + per_leaf leaves^exponent */
} fit;

/* Least squares of relative errors; the exponent by trying. */
static fit fit_all(const oak_costs *costs, int method) {
    fit best = {0};
    double least = INFINITY;
    for (double p = 0.5; p < 1.5; p += 0.001) {
        double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0, error = 0;
        for (int i = 1; i < SIZES; i++) {
            const double a = 1 / costs[i].us[method], b = a * pow(costs[i].leaves, p);
            aa += a * a, ab += a * b, bb += b * b, a1 += a, b1 += b;
        }
        const double det = aa * bb - ab * ab, c = (a1 * bb - b1 * ab) / det, k = (b1 * aa - a1 * ab) / det;
        for (int i = 1; i < SIZES; i++)
            error += pow((c + k * pow(costs[i].leaves, p)) / costs[i].us[method] - 1, 2);
        if (error < least)
            least = error, best = (fit){c, k, p};
    }
    return best;
}

static void report(const oak_costs *costs) {
    printf("us of a step, one thread, CPU time; a leaf: what the oak costs more than its branches, for each leaf\n");
    printf("%8s %8s %12s %11s %10s %10s %8s %8s\n", "leaves", "parts", "coordinates", "interfaces", "L1", "L3",
           "a leaf", "a leaf");
    for (int i = 0; i < SIZES; i++) {
        const oak_costs *c = &costs[i];
        printf("%8d %8d %12d %11d %10.1f %10.1f", c->leaves, c->parts, c->coordinates, c->faces, c->us[0], c->us[1]);
        for (int m = 0; m < METHODS && c->leaves; m++)
            printf(" %8.3f", (c->us[m] - costs[0].us[m]) / c->leaves);
        printf("\n");
    }
    for (int m = 0; m < METHODS; m++) {
        const fit f = fit_all(costs, m);
        printf("%s: %.0f us + %.3f us leaves^%.3f (required 0.95 to 1.05); exponent of all %.3f, of all less bare "
               "branches "
               "%.3f\n",
               coupling_name(methods[m]), f.constant, f.per_leaf, f.exponent, exponent(costs, m, 0),
               exponent(costs, m, costs[0].us[m]));
    }
}

static void report_json(const oak_costs *costs) {
    json_t *sizes = json_array(), *fits = json_array();
    for (int i = 0; i < SIZES; i++) {
        const oak_costs *c = &costs[i];
        json_array_append_new(sizes, json_pack("{s:i, s:i, s:i, s:i, s:f, s:f}", "leaves", (int)c->leaves, "parts",
                                               (int)c->parts, "dofs", (int)c->coordinates, "interfaces", (int)c->faces,
                                               "L1_step_us_median", c->us[0], "L3_step_us_median", c->us[1]));
    }
    for (int m = 0; m < METHODS; m++) {
        const fit f = fit_all(costs, m);
        json_array_append_new(fits, json_pack("{s:s, s:f, s:f, s:f, s:f, s:f}", "coupling", coupling_name(methods[m]),
                                              "constant_us", f.constant, "per_leaf_us", f.per_leaf, "exponent",
                                              f.exponent, "exponent_of_all", exponent(costs, m, 0),
                                              "exponent_less_bare_branches", exponent(costs, m, costs[0].us[m])));
    }
    app_print_json(json_pack("{s:s, s:i, s:o, s:o}", "scene", "oak", "threads", 1, "sizes", sizes, "fits", fits));
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
        bench_fail(ctx);
        good = false;
    }
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
