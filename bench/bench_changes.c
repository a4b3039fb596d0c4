/* The cost of changing the oak while it moves: cutting, putting back, locking and unlocking parts, and its shares. */
#include "tree_scene.h"

#include "scene/cook_plan.h"
#include "scene/scene.h"
#include "tree/change.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHANGES = 41, KINDS = 5, PIECES = 3 };

static const struct {
    const char *name;
    const char *component; /* of the part that is changed */
    bough_change_kind before, kind;
} kinds[KINDS] = {{"cut a leaf", "leaf", BOUGH_CHANGE_UNLOCK, BOUGH_CHANGE_DETACH},
                  {"cut a limb", "limb", BOUGH_CHANGE_UNLOCK, BOUGH_CHANGE_DETACH},
                  {"put a limb back", "limb", BOUGH_CHANGE_DETACH, BOUGH_CHANGE_REATTACH},
                  {"lock a branch", "branch", BOUGH_CHANGE_UNLOCK, BOUGH_CHANGE_LOCK},
                  {"unlock a branch", "branch", BOUGH_CHANGE_LOCK, BOUGH_CHANGE_UNLOCK}};
static const char *const piece_names[PIECES] = {"a step", "a new layout", "accelerations before and after"};

typedef struct {
    tree_scene scene;
    bough_tree_state *state;
    void *start; /* a snapshot of it */
    size_t start_size;
    double us[KINDS], piece_us[PIECES];
} changes_bench;

/* CPU time of this thread, as others use the machine too. */
static double cpu_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static bool begin_anew(changes_bench *b) {
    return !bough_tree_state_restore(b->scene.ctx, b->scene.model, b->state, b->start, b->start_size) &&
           !bough_tree_state_update(b->scene.ctx, b->scene.model, b->state);
}

/* Returns part number `number` of the component, counted round and round. */
static int32_t find_part(const changes_bench *b, const char *component, int32_t number) {
    const bough_tree_model_def *def = bough_tree_model_describe(b->scene.model);
    const bo_assembly *assembly = &b->scene.scene->plan->assembly;
    for (int32_t i = 0;; i = (i + 1) % def->part_count)
        if (!strcmp(assembly->components[def->parts[i].component].name, component) && number-- == 0)
            return i;
}

static bool time_changes(changes_bench *b, int kind) {
    double us[CHANGES];
    for (int32_t i = 0; i < CHANGES; i++) {
        const int32_t part = find_part(b, kinds[kind].component, 7 * i);
        const bough_change before = {.kind = kinds[kind].before, .part = part};
        const bough_change change = {.kind = kinds[kind].kind, .part = part};
        if (!begin_anew(b) || bough_tree_state_change(b->scene.ctx, b->scene.model, b->state, 1, &before))
            return false;
        const double start = cpu_us();
        if (bough_tree_state_change(b->scene.ctx, b->scene.model, b->state, 1, &change))
            return false;
        us[i] = cpu_us() - start;
    }
    b->us[kind] = median_of(CHANGES, us);
    return true;
}

static bool lay_out(changes_bench *b) {
    bough_context *ctx = b->scene.ctx;
    bo_tree_shift shift;
    bough_part_def *parts = bo_tree_copy_links(ctx, bo_tree_now(b->scene.model, b->state));
    if (!parts || bo_tree_begin_shift(ctx, b->scene.model, b->state, parts, &shift))
        return false;
    bo_tree_drop_shift(ctx, &shift);
    return true;
}

static bool do_piece(changes_bench *b, int piece) {
    if (piece == 1)
        return lay_out(b);
    for (int i = 0; i < (piece == 0 ? 1 : 2); i++)
        if (bough_tree_step(b->scene.ctx, b->scene.model, b->state, piece == 0 ? 1.0 / 240 : 0))
            return false;
    return true;
}

static bool time_piece(changes_bench *b, int piece) {
    double us[CHANGES];
    for (int32_t i = 0; i < CHANGES; i++) {
        if (!begin_anew(b))
            return false;
        const double start = cpu_us();
        if (!do_piece(b, piece))
            return false;
        us[i] = cpu_us() - start;
    }
    b->piece_us[piece] = median_of(CHANGES, us);
    return true;
}

static bool run(changes_bench *b) {
    if (!tree_scene_open(b->scene.ctx, "oak", -1, &b->scene) || !(b->state = moving_state(&b->scene, b->scene.model)))
        return false;
    b->start_size = bough_tree_state_snapshot_size(b->scene.model, b->state);
    if (!(b->start = malloc(b->start_size)))
        return false;
    bough_tree_state_save(b->scene.model, b->state, b->start);
    bool good = true;
    for (int k = 0; k < KINDS && good && !app_interrupted(); k++)
        good = time_changes(b, k);
    for (int k = 0; k < PIECES && good && !app_interrupted(); k++)
        good = time_piece(b, k);
    if (!good)
        bench_fail(b->scene.ctx);
    return good;
}

static void report(const changes_bench *b, bool json) {
    if (json) {
        json_t *all = json_object();
        for (int k = 0; k < KINDS; k++)
            json_object_set_new(all, kinds[k].name, json_real(b->us[k]));
        for (int k = 0; k < PIECES; k++)
            json_object_set_new(all, piece_names[k], json_real(b->piece_us[k]));
        app_print_json(json_pack("{s:s, s:i, s:o}", "name", "changes", "parts",
                                 (int)bough_tree_model_part_count(b->scene.model), "median_us", all));
        return;
    }
    printf("changes of the oak while it moves, median microseconds of %d, one thread\n", CHANGES);
    for (int k = 0; k < KINDS; k++)
        printf("  %-32s %8.0f\n", kinds[k].name, b->us[k]);
    printf("for comparison\n");
    for (int k = 0; k < PIECES; k++)
        printf("  %-32s %8.0f\n", piece_names[k], b->piece_us[k]);
}

int bench_changes(const bench_options *options) {
    changes_bench b = {.scene = {.ctx = app_context(1)}};
    bough_context *ctx = b.scene.ctx;
    const bool good = run(&b);
    if (good && !app_interrupted())
        report(&b, options->json);
    free(b.start);
    bough_tree_state_destroy(ctx, b.state);
    tree_scene_close(&b.scene);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
