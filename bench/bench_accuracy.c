/* The flower swings far, released from rest with the velocities of its lowest mode: the full body and the couplings of
 * the tree from the same start with the same method and step, as in Figures 3 and 7 of Barbic and Zhao (2011). */
#include "tree_modes.h"
#include "whole_tree.h"

#include "fem/system.h"
#include "scene/scene.h"
#include "time/integrator.h"
#include "tree/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 240, SECONDS = 3, STEPS = RATE * SECONDS, TURN = 24, COUPLINGS = 4, RUNS = COUPLINGS + 1, PARTS = 12 };
static const double swing = 0.3; /* m: how far the lowest frequency would carry the head; the stem is 0.42 m */
/* Damping by stiffness of the lumped trees, s. Without it they gain energy until they break. */
static const double lumped_damping = 1e-4;
static const double alpha = -0.05; /* of HHT, for all */

/* Run 0 is the full body's, run c + 1 that of coupling c. */
typedef struct {
    bough_tree_state *state; /* of a tree */
    double linear;           /* lowest frequency at rest, Hz */
    double x[STEPS + 1][3];  /* of the head; NAN after a step that failed */
    double along[STEPS + 1]; /* its displacement along its first velocity */
    double seconds[STEPS];   /* of each step */
    double deviation[PARTS]; /* the most of each interface */
    double mean_square[PARTS];
} swing_run;

typedef struct {
    tree_scene scene;
    const bough_body *body;
    bo_system system;
    bo_integrator *integrator;
    bo_motion motion;
    whole_tree whole;
    int32_t n, part_count;
    int32_t head, head_vertex, mesh_vertex; /* part, vertex of its volume and of the mesh */
    double direction[3], head_speed;
    int64_t iterations; /* of Newton's method */
    double *start;      /* velocities of the tree */
    swing_run *runs;    /* RUNS */
} accuracy;

/* ---- lowest frequencies ---- */

/* Frequencies of the whole tree with the exact coupling. With a lumped coupling no part feels the motion of its
 * children, so that the frequencies are those of each part with the load it carries. */
static bool tree_frequency(accuracy *b, swing_run *r) {
    const size_t n = (size_t)b->n;
    double *inverse = malloc((n * n + n) * sizeof *inverse), *K = inverse + n * n;
    const bool exact = r->state->coupling == BOUGH_COUPLING_L3;
    bool good = inverse && tree_inverse_mass(b->scene.ctx, b->scene.model, r->state, inverse);
    r->linear = INFINITY;
    if (good)
        tree_stiffness(b->scene.model, K);
    if (good && exact)
        good = tree_vibrations(b->n, inverse, K, 0, b->n, 1, &r->linear, b->start);
    for (int32_t p = 0; p < b->part_count && good && !exact; p++) {
        double hz = NAN;
        good = tree_vibrations(b->n, inverse, K, bough_tree_model_offset(b->scene.model, p),
                               whole_tree_component(&b->whole, p)->r, 1, &hz, NULL);
        r->linear = fmin(r->linear, hz);
    }
    free(inverse);
    return good;
}

static bool full_frequency(accuracy *b) {
    bough_modes *modes = NULL;
    if (bough_body_modes(b->scene.ctx, b->body, b->scene.whole->load_case, 1, NULL, &modes))
        return false;
    b->runs[0].linear = modes->frequencies_hz[0];
    bough_modes_destroy(b->scene.ctx, modes);
    return true;
}

/* ---- the start ---- */

/* The scene's probe. */
static bool find_head(accuracy *b) {
    const bo_probe *probe = &b->scene.whole->probes[0];
    b->head = probe->part;
    b->mesh_vertex = probe->vertices[0];
    for (int32_t v = b->whole.first[b->head]; v < b->whole.first[b->head + 1]; v++)
        if (b->whole.vertex[v] == b->mesh_vertex) {
            b->head_vertex = v - b->whole.first[b->head];
            return true;
        }
    return false;
}

static bool make_trees(accuracy *b) {
    for (int c = 0; c < COUPLINGS; c++) {
        bough_tree_state *state;
        if (bough_tree_state_create(b->scene.ctx, b->scene.model, &state))
            return false;
        b->runs[c + 1].state = state;
        state->coupling = (bough_coupling)c, state->alpha = alpha, state->passes = 1;
        for (int32_t p = 0; p < b->part_count && c != BOUGH_COUPLING_L3; p++)
            state->damping_stiffness[p] = lumped_damping;
        if (c == 0 && !whole_tree_create(b->scene.model, bough_body_mesh(b->body), state, &b->whole))
            return false;
        if (!tree_frequency(b, &b->runs[c + 1]))
            return false;
    }
    return find_head(b);
}

/* The same velocities for all trees, so large that the head has `speed`. */
static bool push_trees(accuracy *b, double speed) {
    double x[3], v[3];
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < COUPLINGS; c++) {
            bough_tree_state *state = b->runs[c + 1].state;
            memcpy(state->v, b->start, (size_t)b->n * sizeof *b->start);
            if (bough_tree_state_update(b->scene.ctx, b->scene.model, state))
                return false;
        }
        whole_tree_vertex(&b->whole, b->runs[1].state, b->head, b->head_vertex, x, v);
        const double now = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int32_t k = 0; k < b->n; k++)
            b->start[k] *= speed / now;
        for (int d = 0; d < 3; d++)
            b->direction[d] = v[d] / now;
    }
    b->head_speed = speed;
    for (int c = 0; c < COUPLINGS; c++) /* the accelerations that the first step begins with */
        if (bough_tree_step(b->scene.ctx, b->scene.model, b->runs[c + 1].state, 0))
            return false;
    return true;
}

static bool make_full(accuracy *b) {
    const size_t size = 3 * (size_t)bough_body_mesh(b->body)->vertex_count;
    bough_integrator_def def = bough_default_integrator_def();
    def.name = "hht", def.alpha = alpha;
    b->motion = (bo_motion){.q = calloc(3 * size, sizeof(double))};
    if (!b->motion.q)
        return false;
    b->motion.v = b->motion.q + size, b->motion.a = b->motion.v + size;
    if (!whole_tree_velocities(&b->whole, b->runs[1].state, b->motion.v) ||
        bo_body_system_create(b->scene.ctx, b->body, b->scene.whole->load_case, &b->system))
        return false;
    bo_body_system_hold(&b->system, 0, b->motion.q, b->motion.v);
    return !bo_integrator_create(b->scene.ctx, &b->system, &def, &b->integrator);
}

static bool prepare(accuracy *b) {
    bough_context *ctx = b->scene.ctx;
    b->n = bough_tree_model_size(b->scene.model);
    b->part_count = bough_tree_model_part_count(b->scene.model);
    b->start = calloc((size_t)b->n, sizeof *b->start);
    b->runs = calloc(RUNS, sizeof *b->runs);
    if (!b->start || !b->runs || b->part_count != PARTS || bo_scene_make_whole(ctx, b->scene.scene, &b->scene.whole))
        return false;
    b->body = b->scene.whole->body;
    return make_trees(b) && full_frequency(b) && push_trees(b, swing * 2 * M_PI * b->runs[0].linear) && make_full(b);
}

/* ---- the motion ---- */

static const char *run_name(int run) {
    return run ? coupling_name((bough_coupling)(run - 1)) : "G";
}

static void look(accuracy *b, int run, int step) {
    swing_run *r = &b->runs[run];
    const double *rest = b->whole.mesh->vertices + 3 * (size_t)b->mesh_vertex;
    const double *u = r->state ? NULL : b->motion.q;
    if (r->state)
        whole_tree_vertex(&b->whole, r->state, b->head, b->head_vertex, r->x[step], NULL);
    else
        for (int d = 0; d < 3; d++)
            r->x[step][d] = rest[d] + u[3 * (size_t)b->mesh_vertex + (size_t)d];
    r->along[step] = 0;
    for (int d = 0; d < 3; d++)
        r->along[step] += b->direction[d] * (r->x[step][d] - rest[d]);
    for (int32_t p = 0; p < b->part_count; p++) {
        if (bough_tree_model_describe(b->scene.model)->parts[p].parent < 0)
            continue;
        const double found = whole_tree_deviation(&b->whole, r->state, u, p);
        r->deviation[p] = fmax(r->deviation[p], found);
        r->mean_square[p] += found * found / (STEPS + 1);
    }
}

static bool take_step(accuracy *b, int run, int step) {
    swing_run *r = &b->runs[run];
    const double start = app_seconds();
    const bough_status s = r->state ? bough_tree_advance(b->scene.ctx, b->scene.model, r->state, 1.0 / RATE, NULL)
                                    : bo_integrator_step(b->integrator, 1.0 / RATE, &b->motion);
    r->seconds[step] = app_seconds() - start;
    b->iterations += r->state ? 0 : b->integrator->iterations;
    return s == BOUGH_OK;
}

/* Steps all models in turns of a tenth of a second, so that they see the same machine. A lumped tree may break; the
 * rest of its line is missing then. False when the full body or the exact tree breaks. */
static bool run_all(accuracy *b) {
    bool broken[RUNS] = {false};
    for (int run = 0; run < RUNS; run++)
        look(b, run, 0);
    for (int turn = 0; turn < STEPS / TURN; turn++)
        for (int run = 0; run < RUNS; run++)
            for (int i = 0, step = turn * TURN; i < TURN; i++, step++) {
                if (app_interrupted())
                    return false;
                app_show_line("%.2f of %d s", (double)step / RATE, SECONDS);
                broken[run] = broken[run] || !take_step(b, run, step);
                if (broken[0] || broken[COUPLINGS])
                    return false;
                if (broken[run])
                    b->runs[run].along[step + 1] = b->runs[run].x[step + 1][0] = NAN;
                else
                    look(b, run, step + 1);
            }
    app_clear_progress();
    return true;
}

/* ---- what is told ---- */

static double swing_frequency(const swing_run *r) {
    return crossing_frequency(STEPS + 1, r->along, 1.0 / RATE);
}

static double rms_error(const accuracy *b, int run, double seconds) {
    const int count = (int)(seconds * RATE);
    double sum = 0;
    for (int i = 1; i <= count; i++)
        for (int d = 0; d < 3; d++)
            sum += pow(b->runs[run].x[i][d] - b->runs[0].x[i][d], 2);
    return sqrt(sum / count);
}

static double largest(const swing_run *r) {
    double most = 0;
    for (int i = 0; i <= STEPS; i++)
        most = fmax(most, fabs(r->along[i]));
    return most;
}

/* The exact coupling beside the full body, then the lumped ones, dashed. */
static bool write_plot(const accuracy *b, const char *folder) {
    double time[STEPS + 1];
    bough_series series[RUNS];
    char path[1024];
    bough_plot_def def = bough_default_plot_def();
    def.title = "Flower after a push along its lowest mode";
    def.x_title = "time (s)", def.y_title = "head along the push (m)";
    def.width = 900, def.height = 420;
    for (int i = 0; i <= STEPS; i++)
        time[i] = (double)i / RATE;
    for (int s = 0; s < RUNS; s++) {
        const int run = s ? RUNS - s : 0;
        series[s] = (bough_series){run ? run_name(run) : "full body (G)", STEPS + 1, time, b->runs[run].along, s > 1};
    }
    snprintf(path, sizeof path, "%s/flower-couplings.svg", folder);
    return !bough_plot_write(b->scene.ctx, &def, series, RUNS, path);
}

/* Median and the range of nine tenths of the steps, in us. On a busy machine the long steps of the full body wait for
 * other programs and the short ones of a tree do not, so the fast steps of each are compared. */
typedef struct {
    double low, median, high;
} spread;

static spread spread_of(swing_run *r) {
    spread s = {.median = 1e6 * median_of(STEPS, r->seconds)}; /* sorts them */
    s.low = 1e6 * r->seconds[STEPS / 20], s.high = 1e6 * r->seconds[STEPS - 1 - STEPS / 20];
    return s;
}

static const char *part_name(const accuracy *b, int32_t part) {
    return bough_tree_model_describe(b->scene.model)->parts[part].name;
}

static void tell(accuracy *b) {
    const double G = swing_frequency(&b->runs[0]);
    printf("flower: %d vertices, %d parts, %d coordinates; %d s, dt = 1/%d s, hht; head at %.2f m/s; full body: %.1f "
           "iterations a step\n",
           b->whole.mesh->vertex_count, b->part_count, b->n, SECONDS, RATE, b->head_speed,
           (double)b->iterations / STEPS);
    printf("      linear (Hz)  of G's   swing (Hz)  of G's   farthest (m)   rms error 1 s    2 s    3 s     us a step "
           "(5 %% .. 95 %%)  faster than G\n");
    spread full = {0};
    for (int run = 0; run < RUNS; run++) {
        swing_run *r = &b->runs[run];
        const double hz = swing_frequency(r);
        const spread s = spread_of(r);
        printf("%-4s  %10.4f  %7.3f  %10.4f  %7.3f  %12.3f  %14.4f %6.4f %6.4f  %10.1f (%.1f .. %.1f)", run_name(run),
               r->linear, r->linear / b->runs[0].linear, hz, hz / G, largest(r), rms_error(b, run, 1),
               rms_error(b, run, 2), rms_error(b, run, 3), s.median, s.low, s.high);
        run ? printf("  %.0f times\n", full.low / s.low) : printf("\n");
        full = run ? full : s;
    }
    printf("interfaces, rms distance from rigid motion in %% of their radius: largest over time, rms over time\n"
           "%-10s %18s %18s\n",
           "", "G", "L3");
    for (int32_t p = 0; p < b->part_count; p++)
        if (bough_tree_model_describe(b->scene.model)->parts[p].parent >= 0) {
            const swing_run *g = &b->runs[0], *l = &b->runs[COUPLINGS];
            printf("%-10s %8.2f  %8.2f %8.2f  %8.2f\n", part_name(b, p), 100 * g->deviation[p],
                   100 * sqrt(g->mean_square[p]), 100 * l->deviation[p], 100 * sqrt(l->mean_square[p]));
        }
}

static json_t *run_as_json(accuracy *b, int run) {
    swing_run *r = &b->runs[run];
    json_t *faces = json_object();
    for (int32_t p = 0; p < b->part_count; p++)
        if (bough_tree_model_describe(b->scene.model)->parts[p].parent >= 0)
            json_object_set_new(faces, part_name(b, p), json_real(r->deviation[p]));
    json_t *all = json_pack("{s:s, s:f}", "coupling", run_name(run), "linear_hz", r->linear);
    json_object_set_new(all, "swing_hz", app_json_number(swing_frequency(r)));
    json_object_set_new(all, "rms_error_1s", app_json_number(rms_error(b, run, 1)));
    json_object_set_new(all, "rms_error_2s", app_json_number(rms_error(b, run, 2)));
    json_object_set_new(all, "rms_error_3s", app_json_number(rms_error(b, run, 3)));
    const spread s = spread_of(r);
    json_object_set_new(all, "step_us_median", json_real(s.median));
    json_object_set_new(all, "step_us_5", json_real(s.low));
    json_object_set_new(all, "step_us_95", json_real(s.high));
    json_object_set_new(all, "speed_up", json_real(spread_of(&b->runs[0]).low / s.low));
    json_object_set_new(all, "interface_deviation", faces);
    return all;
}

static void tell_json(accuracy *b) {
    json_t *list = json_array();
    for (int run = 0; run < RUNS; run++)
        json_array_append_new(list, run_as_json(b, run));
    app_print_json(json_pack("{s:s, s:i, s:i, s:f, s:o}", "scene", "flower", "parts", b->part_count, "dofs", b->n, "dt",
                             1.0 / RATE, "runs", list));
}

static void clean_up(accuracy *b) {
    bough_context *ctx = b->scene.ctx;
    for (int run = 0; run < RUNS && b->runs; run++)
        bough_tree_state_destroy(ctx, b->runs[run].state);
    bo_integrator_destroy(ctx, b->integrator);
    bo_body_system_destroy(ctx, &b->system);
    whole_tree_destroy(&b->whole);
    free(b->motion.q), free(b->runs), free(b->start);
    tree_scene_close(&b->scene);
    bough_context_destroy(ctx);
}

int bench_accuracy(const bench_options *options) {
    if (options->folder && !app_make_folder(options->folder)) /* before any work is lost to it */
        return APP_FAILED;
    accuracy b = {.n = 0};
    const bool opened = tree_scene_open_free(app_context(1), "flower", &b.scene);
    const bool measured = opened && prepare(&b) && run_all(&b);
    const bool good = measured && (!options->folder || write_plot(&b, options->folder));
    if (opened && !good)
        bench_fail(b.scene.ctx);
    if (measured)
        options->json ? tell_json(&b) : tell(&b);
    clean_up(&b);
    return good ? APP_OK : APP_FAILED;
}
