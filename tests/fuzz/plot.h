/* A small model for readers of what trees leave behind: a led root, a hinge, a ball and a tie. */
#ifndef BOUGH_FUZZ_PLOT_H
#define BOUGH_FUZZ_PLOT_H

#include "fuzz.h"

#include "../tree/garden.h"

/* The model and its state, made once, and a snapshot of the state at rest, which is restored after each input. */
static struct {
    garden g;
    bough_joint_def tie;
    void *start;
    size_t start_size;
} plot;

static inline void make_plot(garden *g, bough_joint_def *tie) {
    static const double time[2] = {0, 1}, position[6] = {0, 0, 0, 0.2, 0, 0.1}, rotation[8] = {1, 0, 0, 0, 1, 0, 0, 0};
    test_random random = {5};
    *g = till(1);
    add_kind(g, 2, 3, BOUGH_REDUCED_POLYNOMIAL, true);
    add_kind(g, 1, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    add_part(g, &random, 0, -1, 0);
    add_part(g, &random, 1, 0, 1)->joint = hinge_about(1, 2, 3, 5, 0);
    add_part(g, &random, 1, 0, 2)->joint = ball_joint(5, 0);
    add_part(g, &random, 1, -1, 0)->track = (bough_track){2, time, position, rotation};
    *tie = tie_of(1, 1, 2, 1, 2e3, 0);
    g->def.tie_count = 1, g->def.ties = tie;
    plant(g);
}

static inline garden *use_plot(void) {
    garden *g = &plot.g;
    if (!g->ctx) {
        make_plot(g, &plot.tie);
        plot.start_size = bough_tree_state_snapshot_size(g->model, g->state);
        plot.start = malloc(plot.start_size);
        bough_tree_state_save(g->model, g->state, plot.start);
    }
    return g;
}

/* Whatever was done to the state: at rest again it can be stepped. */
static inline void check_plot_steps(void) {
    garden *g = &plot.g;
    check_ok(g->ctx, bough_tree_state_restore(g->ctx, g->model, g->state, plot.start, plot.start_size));
    check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, 1.0 / 240));
}

#endif
