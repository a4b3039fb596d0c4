/* Steps of the tree engine beside its bare kernels on the same data, in turns, so that both see the same machine. */
#include "tree_scene.h"

#include "tree/tree.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, MOST_STEPS = 20000, MOST_REPEATS = 400 };

typedef struct {
    tree_scene scene;
    bough_tree_model *model; /* the scene's, without weight */
    bough_tree_state *state, *kernel_state;
    void *start;            /* a snapshot of it */
    int32_t steps, repeats; /* in a round */
    double dt;
    double *step_us; /* of all steps */
    size_t step_count;
    double kernel_us[BO_KERNEL_COUNT];
} tree_bench;

/* Not timed: the state from which all started. L1 feeds energy into an oak until a step is refused, some 26 steps on;
 * then all begins anew. */
static bool begin_anew(tree_bench *b) {
    const size_t size = bough_tree_state_snapshot_size(b->model, b->state);
    return !bough_tree_state_restore(b->scene.ctx, b->model, b->state, b->start, size) &&
           !bough_tree_state_update(b->scene.ctx, b->model, b->state);
}

static double step_once(tree_bench *b) {
    const double start = app_seconds();
    if (bough_tree_step(b->scene.ctx, b->model, b->state, b->dt))
        return NAN;
    return 1e6 * (app_seconds() - start);
}

/* The median of some runs in a row: of each, as of steps, so that what interrupts them counts alike. */
static double run_kernel(tree_bench *b, bough_context *ctx, bough_tree_state *state, int kernel) {
    double values[MOST_REPEATS];
    for (int32_t i = 0; i < b->repeats; i++) {
        const double start = app_seconds();
        bo_tree_run_kernel(ctx, b->model, state, (bo_tree_kernel)kernel);
        values[i] = 1e6 * (app_seconds() - start);
    }
    return median_of((size_t)b->repeats, values);
}

static double sum_of(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* Steps and kernels in turns. The median of each. `alone`: a context of one thread for the kernels. */
static bool measure(tree_bench *b, bough_context *alone) {
    double kernels[BO_KERNEL_COUNT][ROUNDS];
    b->step_count = 0;
    for (int round = 0; round < ROUNDS && !app_interrupted(); round++) {
        for (int k = 0; k < BO_KERNEL_COUNT; k++)
            kernels[k][round] = run_kernel(b, alone, b->kernel_state, k);
        for (int32_t i = 0; i < b->steps; i++) {
            double us = i > 0 || begin_anew(b) ? step_once(b) : NAN;
            if (isnan(us) && begin_anew(b)) /* what is refused is not counted */
                us = step_once(b);
            if (isnan(us)) {
                bench_fail(b->scene.ctx);
                return false;
            }
            b->step_us[b->step_count++] = us;
        }
    }
    for (int k = 0; k < BO_KERNEL_COUNT; k++)
        b->kernel_us[k] = median_of(ROUNDS, kernels[k]);
    return !app_interrupted();
}

/* ---- copies of the kernels at once: what the machine can do ---- */

typedef struct {
    tree_bench *bench;
    bough_context *ctx;
    bough_tree_state *state;
    int32_t core;
    atomic_bool *stop;
} copy;

static void *run_copy(void *data) {
    copy *c = data;
    pin_to(c->core);
    while (!atomic_load(c->stop))
        for (int k = 0; k < BO_KERNEL_COUNT; k++)
            bo_tree_run_kernel(c->ctx, c->bench->model, c->state, (bo_tree_kernel)k);
    return NULL;
}

/* Microseconds of all kernels while other cores run them too. */
static double kernels_beside_copies(tree_bench *b, bough_context *alone, int32_t threads) {
    enum { MOST = 16 };
    pthread_t ids[MOST];
    copy copies[MOST];
    atomic_bool stop = false;
    cpu_set_t before;
    double sum = 0, values[ROUNDS];
    int32_t count = threads - 1 < MOST ? threads - 1 : MOST, started = 0;
    pthread_getaffinity_np(pthread_self(), sizeof before, &before);
    for (; started < count; started++) {
        copy *c = &copies[started];
        *c = (copy){b, app_context(1), NULL, started + 1, &stop};
        if (bough_tree_state_create(c->ctx, b->model, &c->state))
            break;
        memcpy(c->state->q, b->kernel_state->q, (size_t)bough_tree_model_size(b->model) * sizeof(double));
        memcpy(c->state->v, b->kernel_state->v, (size_t)bough_tree_model_size(b->model) * sizeof(double));
        if (!bo_tree_prepare_kernels(c->ctx, b->model, c->state) || pthread_create(&ids[started], NULL, run_copy, c))
            break;
    }
    pin_to(0);
    for (int k = 0; k < BO_KERNEL_COUNT; k++) {
        for (int round = 0; round < ROUNDS; round++)
            values[round] = run_kernel(b, alone, b->kernel_state, k);
        sum += median_of(ROUNDS, values);
    }
    pthread_setaffinity_np(pthread_self(), sizeof before, &before);
    atomic_store(&stop, true);
    for (int32_t i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    for (int32_t i = 0; i < count && i <= started && i < MOST; i++) {
        bough_tree_state_destroy(copies[i].ctx, copies[i].state);
        bough_context_destroy(copies[i].ctx);
    }
    return started == count ? sum : NAN;
}

/* ---- what else is asked of a scene ---- */

typedef struct {
    double wind_us, surface_ms, normals_ms;
    int32_t vertices, triangles;
    double memory_mb;
} extras;

static double time_surface(tree_bench *b, float *positions, float *normals) {
    double values[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const double start = app_seconds();
        bough_tree_state_surface(b->scene.ctx, b->model, b->state, positions, normals);
        values[i] = 1e3 * (app_seconds() - start);
    }
    return median_of(ROUNDS, values);
}

/* Steps with and without wind in turns. */
static double wind_costs(tree_bench *b) {
    double with[ROUNDS * 8], without[ROUNDS * 8];
    for (int i = 0; i < ROUNDS * 8; i++) {
        if (i % 4 == 0)
            begin_anew(b);
        b->state->wind.velocity[0] = 6;
        with[i] = step_once(b);
        b->state->wind.velocity[0] = 0;
        without[i] = step_once(b);
    }
    return median_of(ROUNDS * 8, with) - median_of(ROUNDS * 8, without);
}

static size_t counted;
static void *count_allocate(void *user, size_t size) {
    (void)user;
    counted += size;
    return malloc(size);
}
static void *count_reallocate(void *user, void *block, size_t size) {
    (void)user;
    counted += size;
    return realloc(block, size);
}
static void count_release(void *user, void *block) {
    (void)user;
    free(block);
}

/* Components without what is only drawn, the model and one state: all that was ever allocated for them. */
static double megabytes(const tree_bench *b) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    def.allocate = count_allocate, def.reallocate = count_reallocate, def.release = count_release;
    bough_context *ctx = bough_context_create(&def);
    const bough_tree_model_def *from = bough_tree_model_describe(b->model);
    bough_tree_model *model = NULL;
    bough_tree_state *state = NULL;
    double sum = 0;
    for (int32_t i = 0; i < from->component_count; i++)
        sum += (double)from->components[i]->image_size;
    counted = 0;
    if (ctx && !bough_tree_model_create(ctx, from, &model) && !bough_tree_state_create(ctx, model, &state))
        sum += (double)counted;
    else
        sum = NAN;
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    bough_context_destroy(ctx);
    return 1e-6 * sum;
}

static extras measure_extras(tree_bench *b) {
    extras e = {.vertices = bough_tree_model_vertex_count(b->model),
                .triangles = bough_tree_model_triangle_count(b->model)};
    float *positions = malloc(3 * (size_t)e.vertices * sizeof *positions);
    float *normals = malloc(3 * (size_t)e.vertices * sizeof *normals);
    e.wind_us = wind_costs(b);
    if (positions && normals) {
        e.surface_ms = time_surface(b, positions, NULL);
        e.normals_ms = time_surface(b, positions, normals);
    }
    e.memory_mb = megabytes(b);
    free(positions), free(normals);
    return e;
}

/* ---- reports ---- */

typedef struct {
    double paper_us, required_us, required_ratio;
} target;

static void report(const bench_options *o, const char *name, tree_bench *b, const target *t, const extras *e,
                   double copies_us, double one_thread_us) {
    static const char *const kernels[] = {"elastic", "solve", "system", "interfaces"};
    const double median = median_of(b->step_count, b->step_us);
    const double p99 = b->step_us[b->step_count * 99 / 100], kernel = sum_of(b->kernel_us, BO_KERNEL_COUNT);
    const double p05 = b->step_us[b->step_count / 20], p95 = b->step_us[b->step_count * 95 / 100];
    /* how much faster N threads are, of how much more N copies of the kernels do */
    const double efficiency = one_thread_us / median / (o->threads * kernel / copies_us);
    json_t *parts = json_object();
    for (int k = 0; k < BO_KERNEL_COUNT; k++)
        json_object_set_new(parts, kernels[k], app_json_number(b->kernel_us[k]));
    if (o->json) {
        json_t *out = json_pack(
            "{s:s, s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:f, s:i, s:i, s:f, s:f, s:f}",
            "scene", name, "coupling", coupling_name(o->coupling), "threads", (int)o->threads, "parts",
            (int)bough_tree_model_part_count(b->model), "dofs", (int)bough_tree_model_size(b->model), "step_us_median",
            median, "step_us_p05", p05, "step_us_p95", p95, "step_us_p99", p99, "kernel_us_median", kernel,
            "kernels_us", parts, "ratio", median / kernel, "dt", b->dt, "realtime_factor", 1e6 * b->dt / median,
            "wind_us", e->wind_us, "memory_mb", e->memory_mb, "surface_vertices", (int)e->vertices, "surface_triangles",
            (int)e->triangles, "surface_ms", e->surface_ms, "surface_with_normals_ms", e->normals_ms, "paper_us",
            t->paper_us);
        if (o->threads > 1) {
            json_object_set_new(out, "one_thread_us_median", app_json_number(one_thread_us));
            json_object_set_new(out, "kernel_us_beside_copies", app_json_number(copies_us));
            json_object_set_new(out, "thread_efficiency", app_json_number(efficiency));
        }
        app_print_json(out);
        return;
    }
    printf("%s, %s, %d thread%s: %d parts, %d coordinates, dt %.5f s\n", name, coupling_name(o->coupling), o->threads,
           o->threads > 1 ? "s" : "", bough_tree_model_part_count(b->model), bough_tree_model_size(b->model), b->dt);
    printf("  step               %8.1f us median (5 %% below %.1f, 5 %% above %.1f, 1 %% above %.1f)\n", median, p05,
           p95, p99);
    printf("                     %8.1f x real time; the paper's %.0f us; required %.0f us with L1\n",
           1e6 * b->dt / median, t->paper_us, t->required_us);
    printf("  bare kernels       %8.1f us on one thread:", kernel);
    for (int k = 0; k < BO_KERNEL_COUNT; k++)
        printf(" %s %.1f%s", kernels[k], b->kernel_us[k], k + 1 < BO_KERNEL_COUNT ? "," : "\n");
    printf("  step over kernels  %8.2f, required %.1f with L1 on one thread\n", median / kernel, t->required_ratio);
    if (o->threads > 1)
        printf("  threads            %8.1f us on one; kernels beside %d copies %.1f us; %.0f %% of what copies gain\n",
               one_thread_us, o->threads - 1, copies_us, 100 * efficiency);
    printf("  wind               %8.1f us more (%.0f %%)\n", e->wind_us, 100 * e->wind_us / median);
    printf("  surface            %8.2f ms for %d vertices; with normals of %d triangles %.2f ms\n", e->surface_ms,
           e->vertices, e->triangles, e->normals_ms);
    printf("  memory             %8.1f MB: components with surfaces, model, state\n", e->memory_mb);
    json_decref(parts);
}

static int run(const bench_options *o, const char *name, const target *t) {
    bough_context *ctx = app_context(o->threads), *alone = app_context(1);
    tree_bench b = {.dt = 1.0 / 240};
    double one_thread_us = 0, copies_us = 0;
    bool good = tree_scene_open(ctx, name, -1, &b.scene);
    if (good) {
        /* without weight L1 lasts longer */
        b.model = weightless_model(&b.scene);
        b.state = b.model ? moving_state(&b.scene, b.model) : NULL;
        b.kernel_state = b.state ? moving_state(&b.scene, b.model) : NULL;
        b.start = b.state ? malloc(bough_tree_state_snapshot_size(b.model, b.state)) : NULL;
        b.step_us = malloc(MOST_STEPS * sizeof *b.step_us);
        good = b.kernel_state && b.step_us && b.start && bo_tree_prepare_kernels(alone, b.model, b.kernel_state);
    }
    if (good) {
        b.state->coupling = o->coupling, b.state->passes = 1;
        bough_tree_state_save(b.model, b.state, b.start);
        if (o->threads == 1)
            pin_to((int32_t)sched_getcpu()); /* where it is */
        const bool small = bough_tree_model_size(b.model) < 2000;
        b.steps = small ? 1000 : 100, b.repeats = small ? MOST_REPEATS : 30;
        if (o->threads > 1) { /* the same on one, first */
            b.scene.ctx = alone;
            good = measure(&b, alone);
            one_thread_us = median_of(b.step_count, b.step_us);
            copies_us = kernels_beside_copies(&b, alone, o->threads);
            b.scene.ctx = ctx;
        }
        good = good && measure(&b, alone);
    }
    if (good) {
        extras e = measure_extras(&b);
        report(o, name, &b, t, &e, copies_us, one_thread_us);
    }
    bough_tree_state_destroy(ctx, b.state);
    bough_tree_state_destroy(ctx, b.kernel_state);
    bough_tree_model_destroy(ctx, b.model);
    free(b.step_us), free(b.start);
    tree_scene_close(&b.scene);
    bough_context_destroy(alone);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}

int bench_oak(const bench_options *options) {
    return run(options, "oak", &(target){29000, 800, 1.6});
}

int bench_flower(const bench_options *options) {
    return run(options, "flower", &(target){6500, 85, 1.9});
}

int bench_dragon(const bench_options *options) {
    return run(options, "dragon", &(target){1600, 85, 1.9});
}

int bench_letters(const bench_options *options) {
    return run(options, "letters", &(target){1700, 60, 1.9});
}

int bench_station(const bench_options *options) {
    return run(options, "station", &(target){4500, 300, 1.6});
}
