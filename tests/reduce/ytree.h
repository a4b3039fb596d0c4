/* The reference tree (four domains, 648 tets) of an independent implementation, cut into bodies, and its bases. */
#ifndef TESTS_REDUCE_YTREE_H
#define TESTS_REDUCE_YTREE_H

#include "cooked.h"

#include "linalg/sparse.h"

#include <jansson.h>

enum { DOMAINS = 4, R = 10, VERTICES = 252, TETS = 648 };

typedef struct {
    bough_context *ctx;
    bough_split *split;
    bough_body *body[DOMAINS];
} tree;

static inline void read_numbers(const char *name, int count, double *values) {
    FILE *f = fopen(test_shared(name), "r");
    check(f);
    char line[4096];
    int at = 0;
    while (fgets(line, sizeof line, f)) {
        char *p = line, *end;
        for (double x; line[0] != '#' && (x = strtod(p, &end), end != p); p = end) {
            check(at < count);
            values[at++] = x;
        }
    }
    check_int(at, count);
    fclose(f);
}

static inline tree make_tree(void) {
    static double vertices[3 * VERTICES], tets[5 * TETS];
    static int32_t elements[4 * TETS], domain[TETS];
    read_numbers("reference/ytree/vertices.txt", 3 * VERTICES, vertices);
    read_numbers("reference/ytree/tets.txt", 5 * TETS, tets);
    for (int i = 0; i < TETS; i++) {
        for (int k = 0; k < 4; k++)
            elements[4 * i + k] = (int32_t)tets[5 * i + k];
        domain[i] = (int32_t)tets[5 * i + 4];
    }
    tree t = {.ctx = test_context(1)};
    bough_mesh *mesh;
    check_ok(t.ctx, bough_mesh_create(t.ctx, BOUGH_TET4, VERTICES, vertices, TETS, elements, &mesh));
    check_ok(t.ctx, bough_mesh_split(t.ctx, mesh, domain, DOMAINS, &t.split));
    bough_mesh_destroy(t.ctx, mesh);
    bough_body_def def = bough_default_body_def();
    def.material.young = 1e7, def.material.poisson = 0.4, def.material.density = 1000;
    for (int i = 0; i < DOMAINS; i++)
        check_ok(t.ctx, bough_body_create(t.ctx, t.split->domains[i].mesh, &def, &t.body[i]));
    return t;
}

static inline void free_tree(tree *t) {
    for (int i = 0; i < DOMAINS; i++)
        bough_body_destroy(t->ctx, t->body[i]);
    bough_split_destroy(t->ctx, t->split);
    bough_context_destroy(t->ctx);
}

/* Interfaces of domain i: towards its parent first (the root: the vertices at z = 0), then towards its children. */
static inline int32_t interfaces_of(const tree *t, int i, bough_interface_def *defs, int32_t *base, char names[][8]) {
    static const int parent[DOMAINS] = {-1, 0, 0, 1};
    const bough_domain *d = &t->split->domains[i];
    int32_t count = 0;
    if (i == 0) {
        int32_t found = 0;
        for (int32_t v = 0; v < d->mesh->vertex_count; v++)
            if (d->mesh->vertices[3 * v + 2] == 0)
                base[found++] = v;
        defs[count] = (bough_interface_def){.vertex_count = found, .vertices = base};
        snprintf(names[count++], 8, "base");
    }
    for (int pass = 0; pass < 2; pass++)
        for (int32_t k = 0; k < t->split->interface_count; k++) {
            const bough_domain_interface *face = &t->split->interfaces[k];
            int side = face->domains[0] == i ? 0 : face->domains[1] == i ? 1 : -1;
            if (side < 0)
                continue;
            int32_t other = face->domains[1 - side];
            if ((other == parent[i]) != (pass == 0))
                continue;
            defs[count] = (bough_interface_def){.vertex_count = face->vertex_count, .vertices = face->vertices[side]};
            snprintf(names[count++], 8, "%d", other);
        }
    for (int32_t k = 0; k < count; k++)
        defs[k].name = names[k];
    return count;
}

/* A list of lists of numbers, flattened. */
static inline int flatten(const json_t *value, double *out) {
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return 1;
    }
    int count = 0;
    for (size_t i = 0; i < json_array_size(value); i++)
        count += flatten(json_array_get(value, i), out + count);
    return count;
}
static inline void get(const json_t *object, const char *key, int count, double *out) {
    const json_t *value = json_object_get(object, key);
    check(value);
    check_int(flatten(value, out), count);
}

/* The reference's basis of domain i on the domain's own vertices, R x n. */
static inline double *read_basis(const tree *t, const char *folder, int i) {
    const bough_domain *d = &t->split->domains[i];
    size_t n = 3 * (size_t)d->mesh->vertex_count;
    double *rows = calloc(n * (R + 2), sizeof *rows), *columns = calloc(n * R, sizeof *columns);
    char name[128];
    snprintf(name, sizeof name, "reference/ytree/%s/U_%d.txt", folder, i);
    read_numbers(name, (int)n * (R + 2), rows);
    for (size_t k = 0; k < n; k++) { /* rows: global vertex, axis, values */
        int32_t local = -1;
        for (int32_t v = 0; v < d->mesh->vertex_count; v++)
            if (d->vertex_map[v] == (int32_t)rows[k * (R + 2)])
                local = v;
        check(local >= 0);
        for (size_t l = 0; l < R; l++)
            columns[l * n + 3 * (size_t)local + (size_t)rows[k * (R + 2) + 1]] = rows[k * (R + 2) + 2 + l];
    }
    free(rows);
    return columns;
}

/* T with U_ref = U T: U^T M U_ref, since U is orthonormal in the mass. */
static inline void change_of_basis(const tree *t, int i, const bough_component *c, const double *columns, double *T) {
    bough_sparse *M;
    check_ok(t->ctx, bough_body_matrix_create(t->ctx, t->body[i], &M));
    check_ok(t->ctx, bough_body_mass_matrix(t->ctx, t->body[i], M));
    size_t n = 3 * (size_t)c->volume.vertex_count;
    double *product = calloc(n, sizeof *product), turned[R];
    for (size_t l = 0; l < R; l++) {
        bo_sparse_mul(M, columns + l * n, product, false);
        project(c, product, turned);
        for (size_t a = 0; a < R; a++)
            T[a * R + l] = turned[a];
    }
    free(product);
    bough_sparse_destroy(t->ctx, M);
}

#endif
