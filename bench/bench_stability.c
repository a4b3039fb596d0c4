/* The rise of the energy of a tree that should keep it: by coupling, method, passes, damping and size of the step. */
#include "tree_scene.h"

#include "tree/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A trunk of 1.4 m that forks, and a twig on each limb. */
static const char fork_scene[] =
    "{\"bough\": 1, \"components\": {\"trunk\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [0.2, "
    "0.2, 1.4], \"cells\": [2, 2, 12]}, \"material\": {\"model\": \"stvk\", \"young\": 8e7, \"poisson\": 0.35, "
    "\"density\": 700}, \"interfaces\": {\"base\": {\"select\": \"z0\"}, \"tip\": {\"select\": \"z1\"}}, \"basis\": "
    "{\"r\": 14}}, \"limb\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [0.15, 0.15, 1], "
    "\"cells\": [2, 2, 10]}, \"material\": {\"model\": \"stvk\", \"young\": 8e7, \"poisson\": 0.35, \"density\": 700}, "
    "\"interfaces\": {\"base\": {\"select\": \"z0\"}, \"tip\": {\"select\": \"z1\"}}, \"basis\": {\"r\": 12}}}, "
    "\"parts\": [{\"name\": \"trunk\", \"component\": \"trunk\", \"fix\": \"base\"}, {\"name\": \"left\", "
    "\"component\": \"limb\", \"parent\": \"trunk\", \"rotate_deg\": [0, -35, 0]}, {\"name\": \"right\", "
    "\"component\": \"limb\", \"parent\": \"trunk\", \"rotate_deg\": [0, 35, 0], \"scale\": 0.9}, {\"name\": \"left "
    "twig\", \"component\": \"limb\", \"parent\": \"left\", \"rotate_deg\": [0, 30, 20], \"scale\": 0.6}, {\"name\": "
    "\"right twig\", \"component\": \"limb\", \"parent\": \"right\", \"rotate_deg\": [0, 20, -40], \"scale\": 0.6}], "
    "\"time\": {\"duration\": 1}}";

enum { RATES = 5, SECONDS = 6, TIP_PART = 3 };
static const int32_t rates[RATES] = {15, 30, 60, 120, 240};
static const double swing = 0.7;     /* m, for size 1 */
static const double blown_up = 1000; /* times the energy */

typedef struct {
    tree_scene scene;
    int32_t n, tip; /* tip: vertex of the left twig */
    double swing;   /* m: how far the lowest frequency would carry it */
    double omega;   /* the lowest, rad/s */
    double *start;  /* velocities */
} fork_bench;

typedef struct {
    bough_coupling coupling;
    double alpha;
    int32_t passes;
    double ratio; /* of damping at the lowest frequency */
} fork_case;

/* x <- (K + small M)^-1 M x, `count` times; the divisor of each iteration tends to the lowest omega^2 + small. */
static double iterate(const bo_system *s, int32_t n, int count, double *x, double *y) {
    double quotient = 0;
    for (int i = 0; i < count; i++) {
        double above = 0, below = 0;
        s->multiply(s->data, BO_MATRIX_M, x, y);
        for (int32_t k = 0; k < n; k++)
            below += x[k] * y[k];
        s->solve(s->data, y, x);
        for (int32_t k = 0; k < n; k++)
            above += x[k] * y[k];
        quotient = below / above;
        for (int32_t k = 0; k < n; k++)
            x[k] *= quotient;
    }
    return quotient;
}

/* The lowest frequency, and a mixture of low modes as velocities. */
static bool find_modes(fork_bench *b, bough_tree_state *state) {
    const double small = 1e-3;
    bo_tree_system *tree = NULL;
    double *x = malloc(2 * (size_t)b->n * sizeof *x);
    bool good = x && !bo_tree_system_create(b->scene.ctx, b->scene.model, state, &tree);
    const bo_system *s = good ? &tree->system : NULL;
    good = good && !s->enter(s->data, 0, state->q, state->v) && !s->linearise(s->data, 0, state->q, false) &&
           !s->factor(s->data, small, 0, 1);
    for (int32_t k = 0; k < b->n && good; k++)
        x[k] = b->start[k] = 1;
    if (good) {
        iterate(s, b->n, 2, b->start, x + b->n);
        b->omega = sqrt(iterate(s, b->n, 200, x, x + b->n) - small);
    }
    bo_tree_system_destroy(b->scene.ctx, tree);
    free(x);
    return good;
}

static void find_tip(fork_bench *b, const bough_tree_state *state) {
    double best = -INFINITY, x[3], v[3];
    for (int32_t i = 0; !bough_tree_state_vertex(b->scene.ctx, b->scene.model, state, TIP_PART, i, x, v); i++)
        if (x[2] > best)
            best = x[2], b->tip = i;
}

static bool speed_of_tip(fork_bench *b, bough_tree_state *state, double *speed) {
    double x[3], v[3];
    memcpy(state->v, b->start, (size_t)b->n * sizeof *state->v);
    if (bough_tree_state_update(b->scene.ctx, b->scene.model, state) ||
        bough_tree_state_vertex(b->scene.ctx, b->scene.model, state, TIP_PART, b->tip, x, v))
        return false;
    *speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    return true;
}

static bool prepare(fork_bench *b) {
    bough_tree_state *state = NULL;
    double speed = 0;
    b->n = bough_tree_model_size(b->scene.model);
    b->start = calloc((size_t)b->n, sizeof *b->start);
    bool good = b->start && !bough_tree_state_create(b->scene.ctx, b->scene.model, &state) && find_modes(b, state);
    if (good)
        find_tip(b, state);
    good = good && speed_of_tip(b, state, &speed);
    for (int32_t k = 0; k < b->n && good; k++)
        b->start[k] *= b->swing * b->omega / speed;
    if (!good)
        bench_fail(b->scene.ctx);
    bough_tree_state_destroy(b->scene.ctx, state);
    return good;
}

static bool energy_of(const fork_bench *b, bough_tree_state *state, double *energy) {
    bough_tree_energies e;
    if (bough_tree_state_energies(b->scene.ctx, b->scene.model, state, &e))
        return false;
    *energy = e.elastic + e.kinetic;
    return true;
}

/* Largest energy over the first; infinite where a step fails. */
static double worst_of(const fork_bench *b, const fork_case *c, int32_t rate) {
    bough_context *ctx = b->scene.ctx;
    bough_tree_state *state = NULL;
    double first = 0, energy = 0, most = 0;
    if (bough_tree_state_create(ctx, b->scene.model, &state))
        return INFINITY;
    state->coupling = c->coupling, state->alpha = c->alpha, state->passes = c->passes;
    for (int32_t i = 0; i < bough_tree_model_part_count(b->scene.model); i++)
        state->damping_mass[i] = 0, state->damping_stiffness[i] = 2 * c->ratio / b->omega;
    memcpy(state->v, b->start, (size_t)b->n * sizeof *state->v);
    bool good = !bough_tree_state_update(ctx, b->scene.model, state) && energy_of(b, state, &first) &&
                !bough_tree_step(ctx, b->scene.model, state, 0); /* the accelerations at the start */
    most = first;
    for (int32_t i = 0; i < SECONDS * rate && good && most < blown_up * first; i++) {
        good = !bough_tree_step(ctx, b->scene.model, state, 1.0 / rate) && energy_of(b, state, &energy);
        most = fmax(most, energy);
    }
    bough_tree_state_destroy(ctx, state);
    return good && most < blown_up * first ? most / first : INFINITY;
}

static void print_number(double x) {
    if (isfinite(x))
        printf(x < 100 ? "  %8.3f" : "  %8.0f", x);
    else
        printf("  %8s", "blows up");
}

static void run_case(const fork_bench *b, const fork_case *c, bool json, json_t *all) {
    json_t *list = json_array();
    if (!json)
        printf("%-3s  %-8s  %6d  %6.1f %%", coupling_name(c->coupling), c->alpha < 0 ? "hht" : "newmark", c->passes,
               100 * c->ratio);
    for (int r = 0; r < RATES; r++) {
        const double most = worst_of(b, c, rates[r]);
        if (json)
            json_array_append_new(list, isfinite(most) ? json_real(most) : json_null());
        else
            print_number(most);
    }
    if (!json)
        printf("\n");
    json_array_append_new(all, json_pack("{s:s, s:f, s:i, s:f, s:o}", "coupling", coupling_name(c->coupling), "alpha",
                                         c->alpha, "passes", c->passes, "damping_ratio", c->ratio, "most", list));
}

int bench_stability(const bench_options *options) {
    static const bough_coupling couplings[] = {BOUGH_COUPLING_L1, BOUGH_COUPLING_L2, BOUGH_COUPLING_L3};
    bough_context *ctx = app_context(1);
    fork_bench b = {.swing = options->size * swing};
    json_t *all = json_array();
    const bool good = tree_scene_open_text(ctx, fork_scene, &b.scene) && prepare(&b);
    if (good && !options->json)
        printf(
            "largest energy in %d s over that of the start: five parts, %d coordinates, lowest frequency %.2f Hz, tip "
            "at %.1f m/s\n%-3s  %-8s  %6s  %8s  %8s  %8s  %8s  %8s  %8s\n",
            SECONDS, b.n, b.omega / 6.283185307179586, b.swing * b.omega, "", "method", "passes", "damping", "1/15 s",
            "1/30 s", "1/60 s", "1/120 s", "1/240 s");
    for (int k = 0; k < 24 && good && !app_interrupted(); k++) {
        const fork_case c = {couplings[k / 8], k / 4 % 2 ? -0.05 : 0, 1 + k / 2 % 2, k % 2 ? 0.005 : 0};
        run_case(&b, &c, options->json, all);
    }
    if (good && options->json && !app_interrupted())
        app_print_json(json_pack("{s:f, s:o}", "lowest_frequency", b.omega / 6.283185307179586, "cases", all));
    else
        json_decref(all);
    free(b.start);
    tree_scene_close(&b.scene);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
