/* The oak in its wind, cut to pieces, locked and put together again, at random: a cut keeps momenta and energy, nothing
 * leaks, and a second pass from the first snapshot gives the same bits. In the long tests all of it, a thousand times.
 */
#include "shaken.h"

enum { MOST_FLYING = 12, STEPS_BETWEEN = 3 };

typedef struct {
    int32_t cuts, locks, unlocks, reattached;
    double momentum, angular_momentum, energy; /* worst relative errors of a cut */
    uint64_t hash;
} tally;

typedef struct {
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
    test_random random;
    int32_t flying[MOST_FLYING + 1], flying_count; /* in the order in which they were cut off */
    tally tally;
} saw;

static double length3(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double distance3(const double a[3], const double b[3]) {
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return length3(d);
}

static bough_tree_energies measure(const saw *s) {
    bough_tree_energies e;
    check_ok(s->ctx, bough_tree_state_energies(s->ctx, s->model, s->state, &e));
    return e;
}

static void change(const saw *s, bough_change_kind kind, int32_t part) {
    const bough_change one = {.kind = kind, .part = part};
    check_ok(s->ctx, bough_tree_state_change(s->ctx, s->model, s->state, 1, &one));
}

/* Sums over all parts; what holds the trunk does no more in an instant than in any other. */
static void cut(saw *s, int32_t part) {
    const bough_tree_energies before = measure(s);
    change(s, BOUGH_CHANGE_DETACH, part);
    const bough_tree_energies after = measure(s);
    tally *t = &s->tally;
    t->momentum = fmax(t->momentum, distance3(after.momentum, before.momentum) / length3(before.momentum));
    t->angular_momentum = fmax(t->angular_momentum, distance3(after.angular_momentum, before.angular_momentum) /
                                                        length3(before.angular_momentum));
    t->energy =
        fmax(t->energy, fmax(fabs(after.kinetic / before.kinetic - 1), fabs(after.elastic / before.elastic - 1)));
    t->energy = fmax(t->energy, fabs(after.gravity - before.gravity) / fabs(before.gravity));
    t->cuts++;
    s->flying[s->flying_count++] = part;
}

static void put_back_the_oldest(saw *s) {
    change(s, BOUGH_CHANGE_REATTACH, s->flying[0]);
    memmove(s->flying, s->flying + 1, (size_t)--s->flying_count * sizeof *s->flying);
    s->tally.reattached++;
}

/* Picks a part of any class except the trunk. */
static int32_t any_branch_or_leaf(saw *s) {
    const bough_tree_model_def *def = bough_tree_model_describe(s->model);
    const int32_t component = (int32_t)test_uniform(&s->random, 1, def->component_count);
    int32_t i = (int32_t)test_uniform(&s->random, 0, def->part_count);
    while (def->parts[i].component != component)
        i = (i + 1) % def->part_count;
    return i;
}

static void change_something(saw *s) {
    const int32_t part = any_branch_or_leaf(s);
    const bough_part_def *now = &bough_tree_state_parts(s->model, s->state)[part];
    const double choice = test_uniform(&s->random, 0, 1);
    if (s->flying_count == MOST_FLYING || (s->flying_count > 0 && choice < 0.3)) {
        put_back_the_oldest(s);
    } else if (choice < 0.6 && now->parent >= 0) {
        cut(s, part);
    } else {
        ++*(now->locked ? &s->tally.unlocks : &s->tally.locks);
        change(s, now->locked ? BOUGH_CHANGE_UNLOCK : BOUGH_CHANGE_LOCK, part); /* `now` is gone after it */
    }
}

static uint64_t hash_numbers(uint64_t hash, const double *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        check(isfinite(x[i]));
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 0x100000001B3u;
        hash ^= hash >> 29;
    }
    return hash;
}

static void look(saw *s) {
    const int32_t size = bough_tree_model_size(s->model), parts = bough_tree_model_part_count(s->model);
    uint64_t hash = hash_numbers(s->tally.hash, s->state->q, size);
    hash = hash_numbers(hash, s->state->v, size);
    s->tally.hash = hash_numbers(hash, s->state->frames[0].pose.position, parts * (int64_t)(sizeof(bough_frame) / 8));
}

/* Changes, with steps between them. */
static tally saw_through(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, int changes,
                         const test_memory *memory) {
    saw s = {.ctx = ctx, .model = model, .state = state, .random = {11}};
    long most_blocks = 0;
    for (int i = 0; i < changes; i++) {
        change_something(&s);
        for (int k = 0; k < STEPS_BETWEEN; k++)
            check_ok(ctx, bough_tree_advance(ctx, model, state, 1.0 / 240, NULL));
        look(&s);
        /* a changed state has a model of its own, with as many blocks whatever it is like */
        most_blocks = i < 20 && memory->live > most_blocks ? memory->live : most_blocks;
        check(i < 20 || memory->live <= most_blocks);
    }
    return s.tally;
}

static void the_oak_survives_the_saw(void **unused) {
    (void)unused;
    const int changes = test_long() ? 1000 : 60;
    const char *path = make_cooked("oak", "oak", test_long() ? NULL : "50");
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    check_ok(ctx, bough_scene_load(ctx, path, &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    test_memory memory = {.fail_at = -1};
    bough_context *counting = test_counting_context(&memory);
    const long live = memory.live;
    bough_tree_state *state;
    check_ok(counting, bough_tree_state_create(counting, model, &state));
    check_ok(counting, bough_tree_state_settle(counting, model, state, NULL, NULL));
    check(state->coupling == BOUGH_COUPLING_L3);
    for (int i = 0; i < 120; i++) /* in motion */
        check_ok(counting, bough_tree_advance(counting, model, state, 1.0 / 240, NULL));
    const size_t size = bough_tree_state_snapshot_size(model, state);
    void *first = malloc(size);
    bough_tree_state_save(model, state, first);
    const tally one = saw_through(counting, model, state, changes, &memory);
    check_ok(counting, bough_tree_state_restore(counting, model, state, first, size));
    const tally two = saw_through(counting, model, state, changes, &memory);
    print_message("%d cuts, %d locks, %d unlocked, %d put back; a cut changes momentum by %.1e, angular momentum by "
                  "%.1e, energies by %.1e of it\n",
                  one.cuts, one.locks, one.unlocks, one.reattached, one.momentum, one.angular_momentum, one.energy);
    check(one.cuts > changes / 5 && one.locks > changes / 10 && one.reattached > changes / 8);
    check_below(one.momentum, 1e-12);
    check_below(one.angular_momentum, 1e-12);
    check_below(one.energy, 1e-12);
    check(one.hash == two.hash && one.cuts == two.cuts);
    free(first);
    bough_tree_state_destroy(counting, state);
    check_int(memory.live, live);
    bough_context_destroy(counting);
    check_int(memory.live, 0);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_oak_survives_the_saw)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
