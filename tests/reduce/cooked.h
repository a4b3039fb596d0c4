/* Bodies and components for the tests of cooking. */
#ifndef TESTS_REDUCE_COOKED_H
#define TESTS_REDUCE_COOKED_H

#include "test.h"

#include "dense/cholesky.h"
#include "linalg/sparse.h"
#include "time/system.h"

#include <bough/reduce.h>

typedef struct {
    bough_element_type type;
    double size[3];
    int32_t cells[3];
    bough_material_model model;
    double young, poisson;
    bough_mass_kind mass;
    double damping_mass, damping_stiffness;
} bar_def;

static inline bar_def default_bar(void) {
    return (bar_def){.type = BOUGH_TET4,
                     .size = {1, 0.2, 0.25},
                     .cells = {6, 2, 2},
                     .model = BOUGH_MATERIAL_STVK,
                     .young = 1e6,
                     .poisson = 0.4};
}

static inline bough_body *make_bar(bough_context *ctx, bar_def def) {
    bough_box_def box = bough_default_box_def();
    bough_body_def body_def = bough_default_body_def();
    bough_mesh *mesh;
    bough_body *body;
    box.type = def.type;
    memcpy(box.size, def.size, sizeof box.size);
    memcpy(box.cells, def.cells, sizeof box.cells);
    body_def.material.model = def.model;
    body_def.material.young = def.young;
    body_def.material.poisson = def.poisson;
    body_def.mass = def.mass;
    body_def.damping_mass = def.damping_mass;
    body_def.damping_stiffness = def.damping_stiffness;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    check_ok(ctx, bough_body_create(ctx, mesh, &body_def, &body));
    bough_mesh_destroy(ctx, mesh);
    return body;
}

/* Interfaces x0 (the parent) and x1 at the ends of a bar. */
typedef struct {
    bough_interface_def interfaces[2];
    int32_t *vertices[2];
} bar_ends;

static inline bar_ends find_ends(bough_context *ctx, const bough_body *body) {
    bar_ends ends = {0};
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "x1" : "x0";
        int32_t count;
        check_ok(ctx, bough_mesh_select(ctx, bough_body_mesh(body), name, &ends.vertices[i], &count));
        ends.interfaces[i] = (bough_interface_def){.name = name, .vertex_count = count, .vertices = ends.vertices[i]};
    }
    return ends;
}
static inline void free_ends(bough_context *ctx, bar_ends *ends) {
    bough_release(ctx, ends->vertices[0]);
    bough_release(ctx, ends->vertices[1]);
}

/* Hangs by x0; the whole basis is kept. Points to `ends`, which must outlive it. */
static inline bough_cook_def bar_cook_def(const bar_ends *ends, int32_t r) {
    bough_cook_def def = bough_default_cook_def();
    def.interfaces = ends->interfaces;
    def.interface_count = 2;
    def.parent = 0;
    def.r = r;
    def.keep_volume = true;
    return def;
}

static inline bough_component *cook_bar(bough_context *ctx, bar_def bar, int32_t r, bough_body **body) {
    *body = make_bar(ctx, bar);
    bar_ends ends = find_ends(ctx, *body);
    bough_cook_def def = bar_cook_def(&ends, r);
    bough_component *component;
    check_ok(ctx, bough_cook(ctx, *body, NULL, &def, NULL, &component));
    free_ends(ctx, &ends);
    return component;
}

/* A bar with cooking options of one's own. */
typedef struct {
    bough_context *ctx;
    bough_body *body;
    bough_load_case *load_case;
    bar_ends ends;
    bough_cook_def def;
    bough_component *c;
} kitchen;

static inline kitchen open_kitchen(bough_context *ctx, bar_def bar, int32_t r) {
    kitchen k = {.ctx = ctx, .body = make_bar(ctx, bar)};
    check_ok(ctx, bough_load_case_create(ctx, k.body, &k.load_case));
    k.ends = find_ends(ctx, k.body);
    k.def = bar_cook_def(&k.ends, r);
    return k;
}
static inline void cook_in(kitchen *k) {
    k->def.interfaces = k->ends.interfaces; /* the kitchen may have moved */
    check_ok(k->ctx, bough_cook(k->ctx, k->body, k->load_case, &k->def, NULL, &k->c));
}
static inline void close_kitchen(kitchen *k) {
    bough_component_destroy(k->ctx, k->c);
    free_ends(k->ctx, &k->ends);
    bough_load_case_destroy(k->ctx, k->load_case);
    bough_body_destroy(k->ctx, k->body);
}

/* u = U q (3 vertex_count) */
static inline void displace(const bough_component *c, const double *q, double *u) {
    for (size_t i = 0; i < 3 * (size_t)c->volume.vertex_count; i++) {
        u[i] = 0;
        for (size_t l = 0; l < (size_t)c->r; l++)
            u[i] += c->volume.U[i * (size_t)c->r + l] * q[l];
    }
}
/* U^T f */
static inline void project(const bough_component *c, const double *f, double *reduced) {
    for (size_t l = 0; l < (size_t)c->r; l++) {
        reduced[l] = 0;
        for (size_t i = 0; i < 3 * (size_t)c->volume.vertex_count; i++)
            reduced[l] += c->volume.U[i * (size_t)c->r + l] * f[i];
    }
}

static inline double norm_of(size_t n, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}
/* |a - s b| / |b| */
static inline double relative(size_t n, const double *a, double s, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - s * b[i]) * (a[i] - s * b[i]);
    return sqrt(sum) / norm_of(n, b);
}

/* The part of a displacement that U cannot show, U^T M being its inverse: of its length, a plain sum. */
static inline double left_out(bough_context *ctx, const bough_body *body, const bough_component *c, const double *x) {
    size_t n = 3 * (size_t)c->volume.vertex_count;
    double *u = calloc(2 * n + (size_t)c->r, sizeof *u), *Mx = u + n, *q = Mx + n;
    bough_sparse *M;
    check_ok(ctx, bough_body_matrix_create(ctx, body, &M));
    check_ok(ctx, bough_body_mass_matrix(ctx, body, M));
    bo_sparse_mul(M, x, Mx, false);
    project(c, Mx, q);
    displace(c, q, u);
    double error = relative(n, u, 1, x);
    bough_sparse_destroy(ctx, M);
    free(u);
    return error;
}

/* Equilibrium f(q) = load by Newton's method with load steps; returns false when it does not converge. */
static inline bool reduced_static(const bough_component *c, const double *load, int steps, double *q) {
    size_t r = (size_t)c->r;
    double *scratch = calloc(bough_component_scratch(c) + 2 * r + r * r, sizeof *scratch);
    double *g = scratch + bough_component_scratch(c), *H = g + r;
    bool good = true;
    for (int step = 1; step <= steps && good; step++) {
        good = false;
        for (int iteration = 0; iteration < 100; iteration++) {
            if (!bough_component_evaluate(c, q, scratch, NULL, g, H))
                break;
            double residual = 0;
            for (size_t l = 0; l < r; l++) {
                g[l] = load[l] * step / steps - g[l];
                residual += g[l] * g[l];
            }
            if (sqrt(residual) < 1e-9 * norm_of(r, load)) {
                good = true;
                break;
            }
            if (!bo_cholesky_factor((int)r, H))
                break;
            bo_cholesky_solve((int)r, H, g);
            for (size_t l = 0; l < r; l++)
                q[l] += g[l];
        }
    }
    free(scratch);
    return good;
}

#endif
