/* Random trees of bars, with scaled, turned and rigid parts, whose vertices and masses are known. */
#ifndef TESTS_TREE_GROVE_H
#define TESTS_TREE_GROVE_H

#include "../reduce/cooked.h"

#include "linalg/sparse.h"
#include "tree/tree.h"

#include "joints.h"

enum { MOST_PARTS = 8 };

/* Three components: a bar with two child interfaces, the same as a rigid body, and a softer one with another r. */
typedef struct {
    bough_context *ctx;
    bough_component *components[3];
    bough_part_def parts[MOST_PARTS];
    bough_tree_model *model;
    bough_tree_state *state;
} grove;

static inline bough_component *cook_limb(bough_context *ctx, int32_t r, double length, bool flies) {
    bar_def bar = default_bar();
    bar.size[0] = length;
    bar.cells[0] = 4;
    bough_body *body = make_bar(ctx, bar);
    bar_ends ends = find_ends(ctx, body);
    bough_interface_def interfaces[3] = {ends.interfaces[0], ends.interfaces[1]};
    int32_t *patch, count;
    char select[64];
    snprintf(select, sizeof select, "z1 & x>%g & x<%g", 0.4 * length, 0.8 * length);
    check_ok(ctx, bough_mesh_select(ctx, bough_body_mesh(body), select, &patch, &count));
    interfaces[2] = (bough_interface_def){.name = "side", .vertex_count = count, .vertices = patch, .patch = true};
    bough_cook_def def = bar_cook_def(&ends, r);
    def.interfaces = interfaces, def.interface_count = 3;
    def.parent = flies ? -1 : 0;
    bough_component *c;
    check_ok(ctx, bough_cook(ctx, body, NULL, &def, NULL, &c));
    bough_release(ctx, patch);
    free_ends(ctx, &ends);
    bough_body_destroy(ctx, body);
    return c;
}

static inline void random_rotation(test_random *random, double R[9]) {
    double a = test_uniform(random, -3, 3), b = test_uniform(random, -1, 1), c = test_uniform(random, -3, 3);
    const double x[9] = {1, 0, 0, 0, cos(a), -sin(a), 0, sin(a), cos(a)};
    const double y[9] = {cos(b), 0, sin(b), 0, 1, 0, -sin(b), 0, cos(b)};
    const double z[9] = {cos(c), -sin(c), 0, sin(c), cos(c), 0, 0, 0, 1};
    bo_mat3 X, Y, Z;
    memcpy(X.m, x, sizeof x), memcpy(Y.m, y, sizeof y), memcpy(Z.m, z, sizeof z);
    X = bo_mat_mul(Z, bo_mat_mul(Y, X));
    memcpy(R, X.m, sizeof X.m);
}

/* A random tree with scaled, turned and rigid parts; deeper than wide. With odd seeds they stand off their interfaces.
 */
static inline grove plant_hinged(uint64_t seed, int32_t part_count, bough_coupling coupling, bool flies, bool hinges) {
    grove g = {.ctx = test_context(1)};
    test_random random = {seed};
    g.components[0] = cook_limb(g.ctx, 6, 1, flies);
    g.components[1] = cook_limb(g.ctx, 0, 0.6, false);
    g.components[2] = cook_limb(g.ctx, 4, 0.8, false);
    for (int32_t i = 0; i < part_count; i++) {
        bough_part_def *part = &g.parts[i];
        *part = bough_default_part_def();
        part->component = i == 0 ? 0 : (int32_t)test_uniform(&random, flies ? 1 : 0, 3);
        part->parent = i - 1 - (i > 1 ? (int32_t)test_uniform(&random, 0, 2) : 0);
        part->interface_index = 1 + i % 2;
        part->scale = test_uniform(&random, 0.5, 1.5);
        random_rotation(&random, part->rotation);
        for (int d = 0; d < 3; d++)
            part->position[d] = test_uniform(&random, -1, 1);
        for (int d = 0; d < 3 && i > 0 && seed % 2; d++)
            part->offset[d] = test_uniform(&random, -0.3, 0.3);
        if (i % 3 == 2 && hinges)
            part->joint = hinge_about(1, test_uniform(&random, -1, 1), 2, 0, 0);
    }
    bough_tree_model_def def = bough_default_tree_model_def();
    def.component_count = 3, def.components = (const bough_component *const *)g.components;
    def.part_count = part_count, def.parts = g.parts;
    def.coupling = coupling;
    check_ok(g.ctx, bough_tree_model_create(g.ctx, &def, &g.model));
    check_ok(g.ctx, bough_tree_state_create(g.ctx, g.model, &g.state));
    return g;
}

static inline grove plant(uint64_t seed, int32_t part_count, bough_coupling coupling, bool flies) {
    return plant_hinged(seed, part_count, coupling, flies, false);
}

static inline void fell(grove *g) {
    bough_tree_state_destroy(g->ctx, g->state);
    bough_tree_model_destroy(g->ctx, g->model);
    for (int i = 0; i < 3; i++)
        bough_component_destroy(g->ctx, g->components[i]);
    bough_context_destroy(g->ctx);
}

static inline size_t vertex_total(const grove *g) {
    size_t total = 0;
    for (int32_t i = 0; i < bough_tree_model_part_count(g->model); i++)
        total += (size_t)g->components[g->parts[i].component]->volume.vertex_count;
    return total;
}

/* y = mass of all parts times x: their consistent mass matrices, scaled. */
static inline void multiply_mass(const grove *g, bough_sparse *const mass[3], const double *x, double *y) {
    for (int32_t i = 0; i < bough_tree_model_part_count(g->model); i++) {
        int32_t component = g->parts[i].component;
        size_t n = 3 * (size_t)g->components[component]->volume.vertex_count;
        double s3 = pow(g->parts[i].scale, 3);
        bo_sparse_mul(mass[component], x, y, false);
        for (size_t k = 0; k < n; k++)
            y[k] *= s3;
        x += n, y += n;
    }
}

static inline bough_sparse *mass_of(bough_context *ctx, const bough_component *c) {
    bough_mesh *mesh;
    bough_body *body;
    bough_sparse *M, *copy;
    check_ok(ctx, bough_mesh_create(ctx, (bough_element_type)c->volume.type, c->volume.vertex_count, c->volume.position,
                                    c->volume.element_count, c->volume.elements, &mesh));
    bough_body_def def = bough_default_body_def();
    check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
    check_ok(ctx, bough_body_matrix_create(ctx, body, &M));
    check_ok(ctx, bough_body_mass_matrix(ctx, body, M));
    int32_t entries = M->column_start[M->size];
    check_ok(ctx, bo_sparse_create(ctx, M->size, entries, &copy));
    memcpy(copy->column_start, M->column_start, ((size_t)M->size + 1) * sizeof(int32_t));
    memcpy(copy->rows, M->rows, (size_t)entries * sizeof(int32_t));
    memcpy(copy->values, M->values, (size_t)entries * sizeof(double));
    bough_sparse_destroy(ctx, M);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    return copy;
}

/* Accelerations without elastic forces, with the generalised force `force` (may be NULL) beside those on the state. */
static inline void accelerations(grove *g, const double *q, const double *v, const double *force, double *a) {
    check_ok(g->ctx, bo_tree_accelerations(g->ctx, g->model, g->state, false, q, v, force, a));
    bough_tree_state_clear_forces(g->model, g->state);
}

#endif
