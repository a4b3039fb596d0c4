/* The tree's mechanics from first principles: accelerations against finite differences of where all vertices are. */
#include "../reduce/cooked.h"

#include "linalg/sparse.h"
#include "tree/tree.h"

enum { MOST_PARTS = 8 };

/* Three components: a bar with two child interfaces, the same as a rigid body, and a softer one with another r. */
typedef struct {
    bough_context *ctx;
    bough_component *components[3];
    bough_part_def parts[MOST_PARTS];
    bough_model *model;
    bough_state *state;
} grove;

static bough_component *cook_limb(bough_context *ctx, int32_t r, double length) {
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
    bough_component *c;
    check_ok(ctx, bough_cook(ctx, body, &def, NULL, &c));
    bough_release(ctx, patch);
    free_ends(ctx, &ends);
    bough_body_destroy(ctx, body);
    return c;
}

static void random_rotation(test_random *random, double R[9]) {
    double a = test_uniform(random, -3, 3), b = test_uniform(random, -1, 1), c = test_uniform(random, -3, 3);
    const double x[9] = {1, 0, 0, 0, cos(a), -sin(a), 0, sin(a), cos(a)};
    const double y[9] = {cos(b), 0, sin(b), 0, 1, 0, -sin(b), 0, cos(b)};
    const double z[9] = {cos(c), -sin(c), 0, sin(c), cos(c), 0, 0, 0, 1};
    bo_mat3 X, Y, Z;
    memcpy(X.m, x, sizeof x), memcpy(Y.m, y, sizeof y), memcpy(Z.m, z, sizeof z);
    X = bo_mat_mul(Z, bo_mat_mul(Y, X));
    memcpy(R, X.m, sizeof X.m);
}

/* A random tree with scaled, turned and rigid parts; deeper than wide. */
static grove plant(uint64_t seed, int32_t part_count, bough_coupling coupling) {
    grove g = {.ctx = test_context(1)};
    test_random random = {seed};
    g.components[0] = cook_limb(g.ctx, 6, 1);
    g.components[1] = cook_limb(g.ctx, 0, 0.6);
    g.components[2] = cook_limb(g.ctx, 4, 0.8);
    for (int32_t i = 0; i < part_count; i++) {
        bough_part_def *part = &g.parts[i];
        *part = bough_default_part_def();
        part->component = i == 0 ? 0 : (int32_t)test_uniform(&random, 0, 3);
        part->parent = i - 1 - (i > 1 ? (int32_t)test_uniform(&random, 0, 2) : 0);
        part->interface = 1 + i % 2;
        part->scale = test_uniform(&random, 0.5, 1.5);
        random_rotation(&random, part->rotation);
        for (int d = 0; d < 3; d++)
            part->position[d] = test_uniform(&random, -1, 1);
    }
    bough_model_def def = bough_default_model_def();
    def.component_count = 3, def.components = (const bough_component *const *)g.components;
    def.part_count = part_count, def.parts = g.parts;
    def.coupling = coupling;
    def.gravity[2] = 0;
    check_ok(g.ctx, bough_model_create(g.ctx, &def, &g.model));
    check_ok(g.ctx, bough_state_create(g.ctx, g.model, &g.state));
    return g;
}

static void fell(grove *g) {
    bough_state_destroy(g->ctx, g->state);
    bough_model_destroy(g->ctx, g->model);
    for (int i = 0; i < 3; i++)
        bough_component_destroy(g->ctx, g->components[i]);
    bough_context_destroy(g->ctx);
}

static size_t vertex_total(const grove *g) {
    size_t total = 0;
    for (int32_t i = 0; i < bough_model_part_count(g->model); i++)
        total += (size_t)g->components[g->parts[i].component]->volume.vertex_count;
    return total;
}

/* World positions of all vertices of all parts at q. */
static void positions(grove *g, const double *q, double *x) {
    memcpy(g->state->q, q, (size_t)bough_model_size(g->model) * sizeof *q);
    check_ok(g->ctx, bough_state_update(g->ctx, g->model, g->state));
    for (int32_t i = 0; i < bough_model_part_count(g->model); i++) {
        const bough_component *c = g->components[g->parts[i].component];
        const bough_frame *frame = &g->state->frames[i];
        const double *qi = q + bough_model_offset(g->model, i);
        for (size_t v = 0; v < (size_t)c->volume.vertex_count; v++, x += 3) {
            double local[3];
            for (size_t d = 0; d < 3; d++) {
                local[d] = c->volume.position[3 * v + d];
                for (int32_t l = 0; l < c->r; l++)
                    local[d] += c->volume.U[(3 * v + d) * (size_t)c->r + (size_t)l] * qi[l];
                local[d] *= g->parts[i].scale;
            }
            for (int d = 0; d < 3; d++)
                x[d] = frame->origin[d] + frame->rotation[3 * d] * local[0] + frame->rotation[3 * d + 1] * local[1] +
                       frame->rotation[3 * d + 2] * local[2];
        }
    }
}

/* y = mass of all parts times x: their consistent mass matrices, scaled. */
static void multiply_mass(const grove *g, bough_sparse *const mass[3], const double *x, double *y) {
    for (int32_t i = 0; i < bough_model_part_count(g->model); i++) {
        int32_t component = g->parts[i].component;
        size_t n = 3 * (size_t)g->components[component]->volume.vertex_count;
        double s3 = pow(g->parts[i].scale, 3);
        bo_sparse_mul(mass[component], x, y, false);
        for (size_t k = 0; k < n; k++)
            y[k] *= s3;
        x += n, y += n;
    }
}

static bough_sparse *mass_of(bough_context *ctx, const bough_component *c) {
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

/* Accelerations without elastic forces, with the generalised force `force` (may be NULL). */
static void accelerations(grove *g, const double *q, const double *v, const double *force, double *a) {
    bo_tree_work *w = g->state->work;
    const bough_model *m = g->model;
    memset(w->p, 0, (size_t)m->size * sizeof *w->p);
    for (int32_t i = 0; i < m->part_count; i++) {
        const bo_part *part = &m->parts[i];
        double *H = w->H + w->square_offset[i];
        for (int32_t k = 0; k < part->r * part->r; k++)
            H[k] = part->scale5 * m->components[part->component].M[k];
    }
    for (int32_t k = 0; k < m->size; k++)
        w->force[k] = force ? force[k] : 0;
    check(bo_tree_move(m, w, q, v));
    bo_tree_inertia(m, w, q, v);
    check(bo_tree_solve(m, w, q, v, a));
}

/* Columns dx/dq by central differences, and x'' of q + t v. */
static void differentiate(grove *g, const double *q, const double *v, double *jacobian, double *bias) {
    size_t n = 3 * vertex_total(g), size = (size_t)bough_model_size(g->model);
    double *plus = calloc(2 * n, sizeof *plus), *minus = plus + n, *moved = calloc(size, sizeof *moved);
    const double h = 3e-5;
    for (size_t k = 0; k < size; k++) {
        memcpy(moved, q, size * sizeof *q);
        moved[k] = q[k] + h;
        positions(g, moved, plus);
        moved[k] = q[k] - h;
        positions(g, moved, minus);
        for (size_t i = 0; i < n; i++)
            jacobian[k * n + i] = (plus[i] - minus[i]) / (2 * h);
    }
    positions(g, q, bias);
    for (size_t i = 0; i < n; i++)
        bias[i] *= -2 / (h * h);
    for (int side = -1; side <= 1; side += 2) {
        for (size_t k = 0; k < size; k++)
            moved[k] = q[k] + side * h * v[k];
        positions(g, moved, plus);
        for (size_t i = 0; i < n; i++)
            bias[i] += plus[i] / (h * h);
    }
    free(plus), free(moved);
}

/* J^T m J a + J^T m x'' = f, for the a that the recursion gives. */
static void check_tree(uint64_t seed, int32_t part_count) {
    grove g = plant(seed, part_count, BOUGH_COUPLING_L3);
    size_t n = 3 * vertex_total(&g), size = (size_t)bough_model_size(g.model);
    bough_sparse *mass[3];
    for (int i = 0; i < 3; i++)
        mass[i] = mass_of(g.ctx, g.components[i]);
    double *q = calloc(4 * size, sizeof *q), *v = q + size, *f = v + size, *a = f + size;
    double *jacobian = calloc(size * n, sizeof *jacobian), *bias = calloc(3 * n, sizeof *bias);
    double *x = bias + n, *momentum = x + n;
    test_random random = {seed + 100};
    for (size_t k = 0; k < size; k++) {
        q[k] = test_uniform(&random, -0.1, 0.1);
        v[k] = test_uniform(&random, -2, 2);
        f[k] = test_uniform(&random, -10, 10);
    }
    differentiate(&g, q, v, jacobian, bias);
    accelerations(&g, q, v, f, a);
    memcpy(x, bias, n * sizeof *x);
    for (size_t k = 0; k < size; k++)
        for (size_t i = 0; i < n; i++)
            x[i] += jacobian[k * n + i] * a[k];
    multiply_mass(&g, mass, x, momentum);
    double largest = 0;
    for (size_t k = 0; k < size; k++)
        for (size_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(jacobian[k * n + i] * momentum[i]));
    for (size_t k = 0; k < size; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += jacobian[k * n + i] * momentum[i];
        check_near(sum, f[k], 1e-4 * fmax(1, 0.01 * largest)); /* differences are good to about 1e-6 */
    }
    for (int i = 0; i < 3; i++)
        bough_sparse_destroy(g.ctx, mass[i]);
    free(q), free(jacobian), free(bias);
    fell(&g);
}

static void accelerations_are_those_of_all_vertices(void **state) {
    (void)state;
    check_tree(1, 1);
    check_tree(2, 2);
    check_tree(3, 3);
    for (uint64_t seed = 4; seed < 9; seed++)
        check_tree(seed, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_are_those_of_all_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
