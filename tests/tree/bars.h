/* Small trees of bars that hang on each other by their ends. */
#ifndef TESTS_TREE_BARS_H
#define TESTS_TREE_BARS_H

#include "../reduce/cooked.h"

#include "tree/tree.h"

#include "joints.h"

enum { MOST_BARS = 12 };

typedef struct {
    bough_context *ctx;
    bough_component *root, *limb, *stone; /* stone: for those who make one */
    bough_part_def parts[MOST_BARS];
    bough_tree_model_def def;
    bough_tree_model *model;
    bough_tree_state *state;
} bars;

static inline bough_component *cook_one(bough_context *ctx, int32_t r, double length, double damping, bool flies) {
    bar_def bar = default_bar();
    bar.size[0] = length;
    bar.cells[0] = 4;
    bar.damping_stiffness = damping;
    kitchen k = open_kitchen(ctx, bar, r);
    k.def.parent = flies ? -1 : 0;
    cook_in(&k);
    bough_component *c = k.c;
    k.c = NULL;
    close_kitchen(&k);
    return c;
}

/* `count` bars: each hangs on the end of the one before, but for every third, which hangs beside its brother. The def
 * can be changed before grow(). */
static inline void prepare_bars(bars *b, bough_context *ctx, int32_t count, double damping, bool flies) {
    *b = (bars){.ctx = ctx};
    b->root = cook_one(ctx, 5, 1, damping, flies);
    b->limb = cook_one(ctx, 4, 0.7, damping, false);
    for (int32_t i = 0; i < count; i++) {
        const double angle = 0.4 * i;
        bough_part_def *part = &b->parts[i];
        *part = bough_default_part_def();
        part->component = i > 0;
        part->parent = i == 0 ? -1 : i % 3 == 2 ? i - 2 : i - 1;
        part->interface_index = 1;
        part->scale = 1 - 0.05 * i;
        memcpy(part->rotation, (double[9]){cos(angle), 0, sin(angle), 0, 1, 0, -sin(angle), 0, cos(angle)},
               sizeof part->rotation);
    }
    b->def = bough_default_tree_model_def();
    test_weigh(b->def.gravity);
    b->def.component_count = 2;
    b->def.part_count = count;
}

static inline void grow_bars(bars *b) {
    const bough_component *components[2] = {b->root, b->limb};
    b->def.components = components;
    b->def.parts = b->parts;
    check_ok(b->ctx, bough_tree_model_create(b->ctx, &b->def, &b->model));
    check_ok(b->ctx, bough_tree_state_create(b->ctx, b->model, &b->state));
}

static inline void clear_bars(bars *b) {
    bough_tree_state_destroy(b->ctx, b->state);
    bough_tree_model_destroy(b->ctx, b->model);
    bough_component_destroy(b->ctx, b->root);
    bough_component_destroy(b->ctx, b->limb);
}

#endif
