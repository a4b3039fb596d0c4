/* Models of grown components, one after the other. */
#ifndef TESTS_TREE_GARDEN_H
#define TESTS_TREE_GARDEN_H

#include "grown.h"

enum { MOST_KINDS = 8, MOST_PARTS = 4096 };

/* A model of grown components. */
typedef struct {
    bough_context *ctx;
    grown *kinds[MOST_KINDS];
    const bough_component *components[MOST_KINDS];
    bough_part_def *parts;
    bough_tree_model_def def;
    bough_tree_model *model;
    bough_tree_state *state;
} garden;

static inline garden till(int32_t threads) {
    garden g = {.ctx = test_context(threads), .parts = calloc(MOST_PARTS, sizeof *g.parts)};
    g.def = bough_default_tree_model_def();
    test_weigh(g.def.gravity);
    return g;
}

static inline int32_t add_kind(garden *g, int32_t r, int32_t faces, bough_reduced_elastic elastic, bool flies) {
    const int32_t k = g->def.component_count++;
    check(k < MOST_KINDS);
    g->kinds[k] = grow(r, faces, elastic, flies, (uint64_t)(100 * r + 10 * faces + (int)elastic));
    g->components[k] = &g->kinds[k]->c;
    return k;
}

static inline bough_part_def *add_part(garden *g, test_random *random, int32_t kind, int32_t parent,
                                       int32_t interface) {
    check(g->def.part_count < MOST_PARTS);
    bough_part_def *part = &g->parts[g->def.part_count++];
    *part = bough_default_part_def();
    part->component = kind, part->parent = parent, part->interface_index = interface;
    part->scale = test_uniform(random, 0.6, 1.4);
    part->stiffness = test_uniform(random, 0.5, 1.5);
    for (int d = 0; d < 3; d++)
        part->position[d] = test_uniform(random, -1, 1);
    grown_rotation(random, part->rotation);
    return part;
}

static inline void plant(garden *g) {
    g->def.components = g->components, g->def.parts = g->parts;
    check_ok(g->ctx, bough_tree_model_create(g->ctx, &g->def, &g->model));
    check_ok(g->ctx, bough_tree_state_create(g->ctx, g->model, &g->state));
}

/* Makes the state of a model anew with other settings. */
static inline void uproot(garden *g) {
    bough_tree_state_destroy(g->ctx, g->state);
    bough_tree_model_destroy(g->ctx, g->model);
    g->state = NULL, g->model = NULL;
}

static inline void clear(garden *g) {
    uproot(g);
    for (int k = 0; k < MOST_KINDS; k++)
        grown_free(g->kinds[k]);
    free(g->parts);
    bough_context_destroy(g->ctx);
}

static inline void stir(garden *g, uint64_t seed, double bend, double speed) {
    test_random random = {seed};
    const int32_t n = bough_tree_model_size(g->model);
    for (int32_t k = 0; k < n; k++) {
        g->state->q[k] = test_uniform(&random, -bend, bend);
        g->state->v[k] = test_uniform(&random, -speed, speed);
        g->state->a[k] = test_uniform(&random, -speed, speed);
    }
    for (int32_t k = 0; k < g->state->root_count; k++)
        for (int d = 0; d < 3; d++) {
            g->state->roots[k].velocity[d] = test_uniform(&random, -1, 1);
            g->state->roots[k].angular_velocity[d] = test_uniform(&random, -1, 1);
        }
    check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
}

static inline double length_of(int32_t n, const double *x) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static inline void load(garden *g, int32_t first, int32_t count) {
    const double push[3] = {3, -7, 5}, twist[3] = {1, 2, -1};
    for (int32_t i = first; i < first + count; i += 3) {
        check_ok(g->ctx, bough_tree_state_add_wrench(g->ctx, g->model, g->state, i, push, twist));
        check_ok(g->ctx, bough_tree_state_add_force(g->ctx, g->model, g->state, i, 2, twist));
    }
}

static inline garden small_forest(bool flies) {
    garden g = till(1);
    test_random random = {21};
    add_kind(&g, 4, 3, BOUGH_REDUCED_POLYNOMIAL, flies);
    add_kind(&g, 3, 2, BOUGH_REDUCED_CUBATURE, false);
    for (int tree = 0; tree < 4; tree++) {
        add_part(&g, &random, 0, -1, 0);
        add_part(&g, &random, 1, 3 * tree, 1);
        add_part(&g, &random, 1, 3 * tree + 1, 1);
    }
    plant(&g);
    stir(&g, 22, 0.05, 1);
    return g;
}

#endif
