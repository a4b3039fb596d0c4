/* Forests: trees that are stepped one after the other move as they do all at once, and as each does alone. */
#include "garden.h"

enum { TREES = 36, PARTS = 99 /* load() takes every third */, GROVES = 8, STAYING = 10 };

/* Every third tree flies; some parts hang by joints. The tree `only` alone, or all (-1). */
static garden plant_forest(int32_t threads, bool joints, int32_t only) {
    garden g = till(threads);
    add_kind(&g, 24, 4, BOUGH_REDUCED_LINEAR, false);
    add_kind(&g, 24, 3, BOUGH_REDUCED_LINEAR, false);
    add_kind(&g, 0, 3, BOUGH_REDUCED_RIGID, true);
    add_kind(&g, 5, 2, BOUGH_REDUCED_POLYNOMIAL, false);
    for (int32_t tree = 0; tree < TREES; tree++) {
        test_random random = {(uint64_t)tree + 1};
        if (only >= 0 && tree != only)
            continue;
        const int32_t root = g.def.part_count;
        add_part(&g, &random, tree % 3 == 1 ? 2 : 0, -1, 0);
        for (int32_t i = 1; i < PARTS; i++) {
            bough_part_def *part =
                add_part(&g, &random, i % 10 == 9 ? 3 : 1, root + (i < 30 ? 0 : i / 4), i < 30 ? 1 + i % 2 : 1);
            part->scale = 1;
            if (joints && i % 13 == 5)
                part->joint = hinge_about(1, 2, 3, 500, 0);
        }
    }
    plant(&g);
    return g;
}

static void *snap_forest(const garden *g, size_t *size) {
    *size = bough_tree_state_snapshot_size(g->model, g->state);
    void *bytes = malloc(*size);
    bough_tree_state_save(g->model, g->state, bytes);
    return bytes;
}

/* Parts before `end` are pushed. */
static void steps_of(garden *g, int32_t count, int32_t end) {
    for (int32_t k = 0; k < count; k++) {
        load(g, 0, end);
        check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, 0.0005));
    }
}

static void steps(garden *g, int32_t count) {
    steps_of(g, count, g->def.part_count);
}

/* All couplings, wind, coordinates that the host writes, cuts and locks. One thread takes the groves one by one, two
 * share them, five are too many for so few groves and share each phase. */
static void groves_change_no_bit(void **unused) {
    (void)unused;
    static const int32_t threads[] = {1, 2, 5};
    void *snapshots[3];
    size_t sizes[3];
    for (int way = 0; way < 3; way++) {
        garden g = plant_forest(threads[way], false, -1);
        if (way == 0)
            check_int(g.model->grove_count, GROVES);
        for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
            g.state->coupling = coupling;
            steps(&g, 1);
        }
        g.state->wind.velocity[0] = 2;
        steps(&g, 1);
        g.state->wind.velocity[0] = 0;
        g.state->q[7] += 0.01, g.state->v[bough_tree_model_size(g.model) - 3] += 0.02;
        g.state->roots[3].velocity[1] += 0.5;
        steps(&g, 1);
        check_ok(g.ctx, bough_tree_state_lock(g.ctx, g.model, g.state, 210, true));
        check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, 650));
        check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, 2005));
        for (int32_t tree = STAYING; tree < 20; tree++) { /* a grove is empty then */
            const bough_change gone = {.kind = BOUGH_CHANGE_REMOVE, .part = tree * PARTS};
            check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 1, &gone));
        }
        steps_of(&g, 2, STAYING * PARTS);
        g.state->passes = 2;
        steps_of(&g, 1, STAYING * PARTS);
        snapshots[way] = snap_forest(&g, &sizes[way]);
        check(length_of(bough_tree_model_size(g.model), g.state->q) > 1e-3);
        clear(&g);
        check_int(sizes[way], sizes[0]);
        check_int(memcmp(snapshots[way], snapshots[0], sizes[0]), 0);
    }
    for (int way = 0; way < 3; way++)
        free(snapshots[way]);
}

static void trees_of_a_forest_move_as_each_alone(void **unused) {
    (void)unused;
    garden forest = plant_forest(1, true, -1);
    steps(&forest, 5);
    for (int32_t tree = 0; tree < TREES; tree += 5) {
        garden alone = plant_forest(1, true, tree);
        check(alone.model->grove_count == 1);
        steps(&alone, 5);
        for (int32_t i = 0; i < PARTS; i++) {
            const bough_frame *one = &alone.state->frames[i], *same = &forest.state->frames[tree * PARTS + i];
            for (int d = 0; d < 3; d++) {
                check_near(same->pose.position[d], one->pose.position[d], 1e-11);
                check_near(same->velocity[d], one->velocity[d], 1e-9);
            }
            const double *q = alone.state->q + bough_tree_model_offset(alone.model, i);
            const double *other = forest.state->q + bough_tree_model_offset(forest.model, tree * PARTS + i);
            for (int32_t l = 0; l < alone.model->parts[alone.model->inside[i]].r; l++)
                check_near(other[l], q[l], 1e-11);
        }
        clear(&alone);
    }
    clear(&forest);
}

static void *copy_of(const void *from, size_t size) {
    void *copy = malloc(size);
    memcpy(copy, from, size);
    return copy;
}

/* One tree that cannot be stepped refuses the step of all, with the same sentence whoever finds it. */
static void a_refused_step_leaves_all_trees_alone(void **unused) {
    (void)unused;
    char sentence[256] = "";
    for (int32_t threads = 1; threads <= 2; threads++) {
        garden g = plant_forest(threads, true, -1);
        steps(&g, 2);
        const int32_t bent = bough_tree_model_offset(g.model, 2709); /* of the polynomial kind */
        const size_t size = (size_t)bough_tree_model_size(g.model) * sizeof(double);
        const size_t frames = (size_t)g.def.part_count * sizeof(bough_frame);
        double *q = copy_of(g.state->q, size), *v = copy_of(g.state->v, size);
        bough_frame *where = copy_of(g.state->frames, frames);
        g.state->v[bent] = 1e200;
        check(bough_tree_step(g.ctx, g.model, g.state, 0.0005) != BOUGH_OK);
        if (threads == 1)
            snprintf(sentence, sizeof sentence, "%s", bough_message(g.ctx));
        check(sentence[0] != '\0');
        check_int(strcmp(bough_message(g.ctx), sentence), 0);
        g.state->v[bent] = v[bent];
        check_int(memcmp(g.state->q, q, size), 0);
        check_int(memcmp(g.state->v, v, size), 0);
        check_int(memcmp(g.state->frames, where, frames), 0);
        steps(&g, 1);
        free(q), free(v), free(where);
        clear(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groves_change_no_bit),
        cmocka_unit_test(trees_of_a_forest_move_as_each_alone),
        cmocka_unit_test(a_refused_step_leaves_all_trees_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
