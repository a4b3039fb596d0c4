/* A hundred oaks stepped as one batch beside single oaks of the same species, in turns, so that both see the same
 * machine. Work on one thread is measured by its CPU time: a step of the forest is longer than the time slices of a
 * busy machine. */
#include "tree_scene.h"

#include <malloc.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { SPECIES = 3, ROUNDS = 15, FOREST_STEPS = 3, OAK_STEPS = 60, WARM_STEPS = 60, CHANGES = 5 };
static const double dt = 1.0 / 240;

/* A model that is stepped, and the state that every round begins from. */
typedef struct {
    const bough_tree_model *model;
    bough_tree_state *state;
    void *start;
    double us[ROUNDS * OAK_STEPS];
    size_t count;
    double median, p05;
} subject;

typedef struct {
    bough_context *ctx, *alone; /* alone: of one thread */
    tree_scene scene;
    bough_tree_model *forest_model, *oak_models[SPECIES];
    subject forest, oaks[SPECIES];
    subject *threaded; /* the forest on several threads; NULL: on one only */
    int32_t trees;
    double model_s, state_s, model_mb, state_mb;
    double remove_ms, add_ms;
} forest_bench;

/* ---- memory: what is held ---- */

static size_t held;
static void *count_allocate(void *user, size_t size) {
    void *block = malloc(size);
    (void)user;
    held += block ? malloc_usable_size(block) : 0;
    return block;
}
static void *count_reallocate(void *user, void *block, size_t size) {
    const size_t before = block ? malloc_usable_size(block) : 0;
    void *next = realloc(block, size);
    (void)user;
    if (next)
        held += malloc_usable_size(next) - before;
    return next;
}
static void count_release(void *user, void *block) {
    (void)user;
    held -= block ? malloc_usable_size(block) : 0;
    free(block);
}

static bool measure_making(forest_bench *b) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    def.allocate = count_allocate, def.reallocate = count_reallocate, def.release = count_release;
    bough_context *ctx = bough_context_create(&def);
    bough_tree_model *model = NULL;
    bough_tree_state *state = NULL;
    held = 0;
    const double start = app_cpu_seconds();
    bool good = ctx && !bough_tree_model_create(ctx, bough_tree_model_describe(b->forest_model), &model);
    const double made = app_cpu_seconds();
    b->model_mb = 1e-6 * (double)held;
    good = good && !bough_tree_state_create(ctx, model, &state);
    b->model_s = made - start, b->state_s = app_cpu_seconds() - made;
    b->state_mb = 1e-6 * (double)held - b->model_mb;
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    bough_context_destroy(ctx);
    return good;
}

/* ---- subjects ---- */

/* The parts of tree `tree`, which follow each other, as a model of their own. */
static bough_tree_model *make_alone(const forest_bench *b, int32_t tree) {
    bough_tree_model_def def = *bough_tree_model_describe(b->forest_model);
    const int32_t count = def.part_count / b->trees, first = tree * count;
    bough_part_def *parts = malloc((size_t)count * sizeof *parts);
    bough_tree_model *model = NULL;
    if (!parts)
        return NULL;
    memcpy(parts, def.parts + first, (size_t)count * sizeof *parts);
    for (int32_t i = 0; i < count; i++)
        parts[i].parent -= parts[i].parent >= 0 ? first : 0;
    def.parts = parts, def.part_count = count;
    if (bough_tree_model_create(b->alone, &def, &model))
        bench_fail(b->alone);
    free(parts);
    return model;
}

/* In motion after a gust, with the wind off. */
static bool begin(const forest_bench *b, const bough_tree_model *model, bough_coupling coupling, subject *s) {
    s->model = model;
    if (!model || bough_tree_state_create(b->ctx, model, &s->state))
        return false;
    s->state->wind.velocity[0] = 5;
    for (int i = 0; i < WARM_STEPS; i++)
        if (bough_tree_advance(b->ctx, model, s->state, dt, NULL))
            return false;
    memset(s->state->wind.velocity, 0, sizeof s->state->wind.velocity);
    s->state->coupling = coupling, s->state->passes = 1;
    if (!(s->start = malloc(bough_tree_state_snapshot_size(model, s->state))))
        return false;
    bough_tree_state_save(model, s->state, s->start);
    return true;
}

static void end(const forest_bench *b, subject *s) {
    bough_tree_state_destroy(b->ctx, s->state);
    free(s->start);
}

/* Not timed. L1 feeds energy into oaks until a step is refused; then all begins anew. */
static bool begin_anew(bough_context *ctx, subject *s) {
    return !bough_tree_state_restore(ctx, s->model, s->state, s->start,
                                     bough_tree_state_snapshot_size(s->model, s->state)) &&
           !bough_tree_state_update(ctx, s->model, s->state);
}

static bool take_steps(bough_context *ctx, subject *s, int steps, double (*clock)(void)) {
    for (int i = 0, refused = 0; i < steps && !app_interrupted();) {
        const double start = clock();
        if (!bough_tree_step(ctx, s->model, s->state, dt)) {
            s->us[s->count++] = 1e6 * (clock() - start);
            i++, refused = 0;
        } else if (refused++ || !begin_anew(ctx, s))
            return false;
    }
    return true;
}

static void sum_up(subject *s) {
    s->median = median_of(s->count, s->us);
    s->p05 = s->us[s->count / 20];
}

static bool measure(forest_bench *b) {
    bool good = begin_anew(b->alone, &b->forest);
    for (int round = 0; round < ROUNDS && good && !app_interrupted(); round++) {
        good = take_steps(b->alone, &b->forest, FOREST_STEPS, app_cpu_seconds);
        for (int k = 0; k < SPECIES && good; k++)
            good = take_steps(b->alone, &b->oaks[k], OAK_STEPS, app_cpu_seconds);
    }
    sum_up(&b->forest);
    for (int k = 0; k < SPECIES; k++)
        sum_up(&b->oaks[k]);
    if (!good && !app_interrupted())
        bench_fail(b->alone);
    return good && !app_interrupted();
}

static bool measure_threaded(forest_bench *b) {
    b->threaded->model = b->forest.model, b->threaded->state = b->forest.state, b->threaded->start = b->forest.start;
    const bool good =
        begin_anew(b->ctx, b->threaded) && take_steps(b->ctx, b->threaded, ROUNDS * FOREST_STEPS, app_seconds);
    sum_up(b->threaded);
    return good && !app_interrupted();
}

/* One oak goes and comes back. */
static bool measure_changes(forest_bench *b) {
    const int32_t root = bough_tree_model_describe(b->forest_model)->part_count / b->trees;
    bough_tree_state *state = b->forest.state;
    double remove[CHANGES], add[CHANGES];
    bough_change change = {.part = root, .frame = state->frames[root]};
    bool good = begin_anew(b->alone, &b->forest);
    for (int i = 0; i < CHANGES && good; i++) {
        double start = app_cpu_seconds();
        change.kind = BOUGH_CHANGE_REMOVE;
        good = !bough_tree_state_change(b->alone, b->forest_model, state, 1, &change);
        remove[i] = 1e3 * (app_cpu_seconds() - start);
        start = app_cpu_seconds();
        change.kind = BOUGH_CHANGE_ADD;
        good = good && !bough_tree_state_change(b->alone, b->forest_model, state, 1, &change);
        add[i] = 1e3 * (app_cpu_seconds() - start);
    }
    b->remove_ms = median_of(CHANGES, remove), b->add_ms = median_of(CHANGES, add);
    return good;
}

/* ---- reports ---- */

static void report(const bench_options *o, const forest_bench *b) {
    struct rusage usage;
    double alone = 0, alone_p05 = 0;
    const double oak = b->forest.median / b->trees, oak_p05 = b->forest.p05 / b->trees;
    const double fastest = b->threaded ? b->threaded->median : b->forest.median;
    getrusage(RUSAGE_SELF, &usage);
    for (int k = 0; k < SPECIES; k++)
        alone += b->oaks[k].median / SPECIES, alone_p05 += b->oaks[k].p05 / SPECIES;
    if (o->json) {
        json_t *out = json_pack(
            "{s:s, s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "scene", "forest",
            "coupling", coupling_name(o->coupling), "trees", (int)b->trees, "parts",
            (int)bough_tree_model_part_count(b->forest_model), "dofs", (int)bough_tree_model_size(b->forest_model),
            "dt", dt, "step_us_median", b->forest.median, "step_us_p05", b->forest.p05, "oak_us_median", oak,
            "oak_us_p05", oak_p05, "oak_alone_us_median", alone, "oak_alone_us_p05", alone_p05, "ratio", oak / alone,
            "ratio_p05", oak_p05 / alone_p05, "realtime_factor", 1e6 * dt / b->forest.median);
        json_object_update_new(
            out, json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "threads", (int)o->threads,
                           "threaded_us_median", fastest, "threaded_realtime_factor", 1e6 * dt / fastest, "model_s",
                           b->model_s, "state_s", b->state_s, "model_mb", b->model_mb, "state_mb", b->state_mb,
                           "peak_mb", 1e-3 * (double)usage.ru_maxrss, "remove_ms", b->remove_ms, "add_ms", b->add_ms));
        app_print_json(out);
        return;
    }
    printf("forest, %s: %d oaks, %d parts, %d coordinates, dt %.5f s\n", coupling_name(o->coupling), b->trees,
           bough_tree_model_part_count(b->forest_model), bough_tree_model_size(b->forest_model), dt);
    printf("  step               %10.1f us of CPU time, median (5 %% below %.1f), one thread: %.3f x real time\n",
           b->forest.median, b->forest.p05, 1e6 * dt / b->forest.median);
    printf("  an oak in it       %10.1f us (5 %% below %.1f)\n", oak, oak_p05);
    printf("  one oak alone      %10.1f us (5 %% below %.1f), mean of the three species\n", alone, alone_p05);
    printf("  ratio              %10.3f (of the fastest 5 %%: %.3f), required 1.25\n", oak / alone,
           oak_p05 / alone_p05);
    if (b->threaded)
        printf("  on %d threads       %10.1f us of wall time, median (5 %% below %.1f): %.3f x real time\n", o->threads,
               b->threaded->median, b->threaded->p05, 1e6 * dt / fastest);
    printf("  making             %10.2f s for the model, %.2f s for a state\n", b->model_s, b->state_s);
    printf("  memory             %10.1f MB of the model, %.1f MB of a state; at most %.1f MB in this run\n",
           b->model_mb, b->state_mb, 1e-3 * (double)usage.ru_maxrss);
    printf("  a change           %10.1f ms to remove an oak, %.1f ms to add it\n", b->remove_ms, b->add_ms);
}

int bench_forest(const bench_options *o) {
    forest_bench *b = calloc(1, sizeof *b);
    subject threaded = {0};
    if (!b)
        return app_fail_with("there is no memory");
    b->ctx = app_context(o->threads), b->alone = app_context(1);
    b->trees = 100;
    b->threaded = o->threads > 1 ? &threaded : NULL;
    bool good = tree_scene_open(b->ctx, "forest", -1, &b->scene) && (b->forest_model = weightless_model(&b->scene));
    good = good && measure_making(b);
    for (int k = 0; k < SPECIES && good; k++)
        good = (b->oak_models[k] = make_alone(b, k)) && begin(b, b->oak_models[k], o->coupling, &b->oaks[k]);
    good = good && begin(b, b->forest_model, o->coupling, &b->forest);
    if (good && o->threads == 1)
        pin_to((int32_t)sched_getcpu()); /* where it is */
    good = good && measure(b) && (!b->threaded || measure_threaded(b)) && measure_changes(b);
    if (good)
        report(o, b);
    else if (!app_interrupted())
        bench_fail(b->ctx);
    end(b, &b->forest);
    for (int k = 0; k < SPECIES; k++) {
        end(b, &b->oaks[k]);
        bough_tree_model_destroy(b->alone, b->oak_models[k]);
    }
    bough_tree_model_destroy(b->ctx, b->forest_model);
    tree_scene_close(&b->scene);
    bough_context_destroy(b->alone);
    bough_context_destroy(b->ctx);
    free(b);
    return good ? APP_OK : APP_FAILED;
}
