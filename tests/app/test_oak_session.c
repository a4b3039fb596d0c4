/* The oak, cut, locked and put together again at random, and all of it once more: a thousand times in ./bough test
 * --long, and less of it, with fewer leaves, always. */
#include "program.h"

#include <bough/tree.h>

enum { BRANCHES = 41 };

typedef struct {
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
    test_random random;
    int done, refused, halved;
} session;

static int32_t any(session *s, int32_t count) {
    return (int32_t)(test_bits(&s->random) % (uint64_t)count);
}

static int32_t near_branch(session *s, int32_t part) {
    const int32_t first = any(s, BRANCHES);
    int32_t best = first;
    double least = INFINITY;
    for (int32_t i = 0; i < BRANCHES; i++) {
        const double *x = s->state->frames[part].pose.position,
                     *y = s->state->frames[(first + i) % BRANCHES].pose.position;
        const double distance = hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
        if (distance < least)
            least = distance, best = (first + i) % BRANCHES;
    }
    return best;
}

/* Cuts and locks, and mostly back again, so that there stays an oak. */
static void change(session *s) {
    static const bough_change_kind kinds[] = {BOUGH_CHANGE_DETACH, BOUGH_CHANGE_ATTACH, BOUGH_CHANGE_REATTACH,
                                              BOUGH_CHANGE_LOCK,   BOUGH_CHANGE_UNLOCK, BOUGH_CHANGE_REATTACH};
    const int32_t parts = bough_tree_model_part_count(s->model);
    const bough_part_def *now = bough_tree_state_parts(s->model, s->state);
    bough_change c = {.kind = kinds[any(s, 6)], .part = 1 + any(s, any(s, 2) ? BRANCHES : parts - 1)};
    if (c.kind == BOUGH_CHANGE_ATTACH) { /* a leaf to a branch that is near */
        c.part = BRANCHES + any(s, parts - BRANCHES);
        c.interface_index = 1 + any(s, 3);
        c.parent = near_branch(s, c.part);
    }
    for (int32_t i = 0; i < parts && c.kind == BOUGH_CHANGE_REATTACH; i++) /* one that hangs elsewhere */
        if (now[(c.part + i) % parts].parent !=
            bough_tree_model_describe(s->model)->parts[(c.part + i) % parts].parent) {
            c.part = (c.part + i) % parts;
            break;
        }
    if (bough_tree_state_change(s->ctx, s->model, s->state, 1, &c) == BOUGH_OK)
        s->done++;
    else
        s->refused++;
}

static void live(session *s, int changes) {
    const double target[3] = {1, 1, 3};
    while (s->done < changes) {
        change(s);
        check_ok(s->ctx, bough_tree_state_pull(s->ctx, s->model, s->state, 1 + any(s, 40), 0, target, 1, 0.1));
        int32_t halved;
        check_ok(s->ctx, bough_tree_advance(s->ctx, s->model, s->state, 1.0 / 240, &halved));
        s->halved += halved;
    }
    for (int32_t k = 0; k < bough_tree_model_size(s->model); k++)
        check(isfinite(s->state->q[k]) && isfinite(s->state->v[k]) && isfinite(s->state->a[k]));
}

static void changes_of_the_oak_replay_to_the_bit(void **unused) {
    (void)unused;
    const int changes = test_long() ? 1000 : 40;
    test_memory memory = {.fail_at = -1};
    bough_context *one = test_counting_context(&memory), *two = test_context(2);
    bough_tree_model *model;
    bough_tree_state *state, *other;
    bough_tree_log *log;
    bool same;
    make_cooked("oak", "oak", test_long() ? "1394" : "50");
    check_run(0, "pack", "oak/scene.json", "-o", "oak.pack");
    check_ok(one, bough_tree_model_load(one, work("oak.pack"), &model));
    check_ok(one, bough_tree_state_create(one, model, &state));
    check_ok(one, bough_tree_state_settle(one, model, state, NULL, NULL));
    session s = {one, model, state, {3}, 0, 0, 0};
    check_ok(one, bough_tree_log_start(one, model, state, &log));
    live(&s, changes);
    check_ok(one, bough_tree_log_stop(one, model, log));
    const bough_tree_log_info info = bough_tree_log_describe(log);
    printf("%d changes, %d refused, %d steps halved, %lld steps: %.2f MB\n", s.done, s.refused, s.halved,
           (long long)info.steps, 1e-6 * (double)info.size);
    check_ok(two, bough_tree_state_create(two, model, &other));
    check_ok(two, bough_tree_log_replay(two, model, other, log, NULL, NULL, &same));
    check(same);
    const size_t size = bough_tree_state_snapshot_size(model, state);
    void *a = malloc(size), *b = malloc(size);
    check_int(bough_tree_state_snapshot_size(model, other), size);
    bough_tree_state_save(model, state, a);
    bough_tree_state_save(model, other, b);
    check(memcmp(a, b, size) == 0);
    free(a), free(b);
    bough_tree_state_destroy(two, other);
    bough_tree_log_destroy(one, log);
    bough_tree_state_destroy(one, state);
    bough_tree_model_destroy(one, model);
    bough_context_destroy(one);
    bough_context_destroy(two);
    check_int(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_the_oak_replay_to_the_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
