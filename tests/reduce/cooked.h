/* A half-cooked body: a box or rod held at one end, with a basis of modes and their modal derivatives and K, so that
 * single phases of cooking can be tried. */
#ifndef BOUGH_TEST_COOKED_H
#define BOUGH_TEST_COOKED_H

#include "test.h"

#include "linalg/factor.h"
#include "mesh/mesh.h"
#include "reduce/cook.h"

#include <time.h>

typedef struct cooked {
    bough_context *ctx;
    bough_cook_def def;
    bo_cook cook;
    bough_sparse *K;
    bool derivatives;
} cooked;

static inline double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline bough_mesh *cooked_box(bough_context *ctx, bough_element_type type, int32_t along, int32_t across) {
    bough_box_def def = bough_default_box_def();
    bough_mesh *mesh;
    def.type = type;
    def.origin[0] = 0.3, def.origin[1] = -0.1;
    def.size[0] = 1, def.size[1] = 0.25, def.size[2] = 0.2;
    def.cells[0] = along, def.cells[1] = def.cells[2] = across;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    return mesh;
}

/* Second derivative of the elastic force along a shape, by central differences. */
static inline void second_force(cooked *c, const double *shape, double *force) {
    size_t n = (size_t)c->cook.n;
    double *u = calloc(n, sizeof *u), *f = calloc(n, sizeof *f), most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(shape[i]));
    double step = 1e-3 * c->cook.size / most;
    memset(force, 0, n * sizeof *force);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (size_t i = 0; i < n; i++)
            u[i] = sign * step * shape[i];
        check_ok(c->ctx, bough_body_evaluate(c->ctx, c->cook.body, u, false, NULL, f, NULL));
        for (size_t i = 0; i < n; i++)
            force[i] += f[i] / (step * step) * (c->cook.body->fixed[i] ? 0 : 1);
    }
    free(u), free(f);
}

/* Columns: modes, then (derivatives) K^-1 of the second derivative along each, scaled to their size. */
static inline void cooked_basis(cooked *c) {
    bo_cook *cook = &c->cook;
    size_t n = (size_t)cook->n, r = (size_t)cook->r;
    int32_t mode_count = c->derivatives ? cook->r / 2 : cook->r;
    bough_modes *modes;
    bo_factor *factor;
    check_ok(c->ctx, bough_body_modes(c->ctx, cook->body, mode_count, NULL, &modes));
    check_ok(c->ctx, bo_factor_analyse(c->ctx, c->K, 3, cook->body->fixed, &factor));
    check_ok(c->ctx, bo_factor_numeric(c->ctx, factor, c->K));
    double *column = calloc(n, sizeof *column);
    for (size_t l = 0; l < r; l++) {
        const double *shape = modes->shapes + l % (size_t)mode_count * n;
        memcpy(column, shape, n * sizeof *column);
        if (l >= (size_t)mode_count) {
            double size = 0, wanted = 0;
            second_force(c, shape, column);
            check_ok(c->ctx, bo_factor_solve(c->ctx, factor, column, column, 1));
            for (size_t i = 0; i < n; i++)
                size = fmax(size, fabs(column[i])), wanted = fmax(wanted, fabs(shape[i]));
            for (size_t i = 0; i < n; i++)
                column[i] *= wanted / size;
        }
        for (size_t i = 0; i < n; i++)
            cook->U[i * r + l] = column[i];
    }
    free(column);
    bo_factor_destroy(c->ctx, factor);
    bough_modes_destroy(c->ctx, modes);
}

/* U^T K U */
static inline void cooked_stiffness(cooked *c, double *K) {
    bo_cook *cook = &c->cook;
    size_t n = (size_t)cook->n, r = (size_t)cook->r;
    double *column = calloc(n, sizeof *column), *force = calloc(n, sizeof *force), *q = calloc(r, sizeof *q);
    for (size_t l = 0; l < r; l++) {
        q[l] = 1;
        bo_cook_displace(cook, q, column);
        bo_sparse_mul(c->K, column, force, false);
        bo_cook_project(cook, force, K + l * r);
        q[l] = 0;
    }
    free(column), free(force), free(q);
}

/* The mesh is destroyed. Vertices with the least x are held. */
static inline void cooked_create(bough_context *ctx, bough_mesh *mesh, const bough_body_def *body_def, int32_t r,
                                 bool derivatives, cooked *c) {
    *c = (cooked){.ctx = ctx, .derivatives = derivatives};
    bo_cook *cook = &c->cook;
    bough_mesh_report report;
    int32_t *held, held_count;
    check_ok(ctx, bough_body_create(ctx, mesh, body_def, &cook->body));
    check_ok(ctx, bough_mesh_measure(ctx, mesh, &report));
    char text[64];
    snprintf(text, sizeof text, "x<%.17g", report.lower[0] + 1e-9);
    check_ok(ctx, bough_mesh_select(ctx, mesh, text, &held, &held_count));
    check_ok(ctx, bough_body_fix(ctx, cook->body, held, held_count, BOUGH_AXES, NULL));
    bough_release(ctx, held);
    c->def = (bough_cook_def){.pose_amplitude = 0.1, .cubature_tolerance = 0.005, .cubature_most = 2000, .seed = 1};
    cook->ctx = ctx, cook->def = &c->def;
    cook->n = 3 * mesh->vertex_count, cook->r = cook->draft.r = r;
    double diagonal = 0;
    for (int d = 0; d < 3; d++) {
        diagonal += (report.upper[d] - report.lower[d]) * (report.upper[d] - report.lower[d]);
        cook->draft.origin[d] = report.lower[d] + 0.1 * d;
    }
    cook->size = sqrt(diagonal);
    bough_mesh_destroy(ctx, mesh);
    check_ok(ctx, bough_body_matrix_create(ctx, cook->body, &c->K));
    check_ok(ctx, bough_body_evaluate(ctx, cook->body, NULL, false, NULL, NULL, c->K));
    cook->U = calloc((size_t)cook->n * (size_t)r, sizeof(double));
    double *K = calloc((size_t)r * (size_t)r, sizeof *K);
    cooked_basis(c);
    cooked_stiffness(c, K);
    cook->draft.K = K;
}

/* ---- until the phase that has them is there ---- */

struct bo_cook_block {
    bo_cook_block *next;
    max_align_t content[];
};

void *bo_cook_alloc(bo_cook *cook, size_t count, size_t size) {
    bo_cook_block *block = bo_alloc(cook->ctx, 1, sizeof *block + count * size);
    if (!block)
        return NULL;
    block->next = cook->blocks;
    cook->blocks = block;
    return block->content;
}

void bo_cook_gradient(const bo_cook *cook, int32_t element, int32_t point, double *G) {
    const bough_body *body = cook->body;
    const bo_rule *rule = body->rule;
    const int32_t *nodes = bo_mesh_nodes(body->mesh, element);
    const double *inverse = body->geometry[element * rule->point_count + point].inverse;
    const size_t r = (size_t)cook->r;
    memset(G, 0, 9 * r * sizeof *G);
    for (int32_t a = 0; a < rule->node_count; a++)
        for (size_t j = 0; j < 3; j++) {
            const double *dN = rule->dN[point][a];
            double slope = dN[0] * inverse[j] + dN[1] * inverse[3 + j] + dN[2] * inverse[6 + j];
            for (size_t i = 0; i < 3; i++)
                for (size_t l = 0; l < r; l++)
                    G[(3 * i + j) * r + l] += slope * cook->U[(3 * (size_t)nodes[a] + i) * r + l];
        }
}

static inline void cooked_destroy(cooked *c) {
    bough_sparse_destroy(c->ctx, c->K);
    bough_body_destroy(c->ctx, c->cook.body);
    free(c->cook.U);
    free((void *)(uintptr_t)c->cook.draft.K);
    while (c->cook.blocks) {
        bo_cook_block *next = c->cook.blocks->next;
        bo_free(c->ctx, c->cook.blocks);
        c->cook.blocks = next;
    }
}

#endif
