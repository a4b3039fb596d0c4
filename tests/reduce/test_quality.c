/* The report of cooking about its own result. */
#include "cooked.h"

#include "linalg/factor.h"
#include "linalg/sparse.h"

static kitchen free_and_loaded(bough_context *ctx, double unit, double mass) {
    bar_def bar = default_bar();
    for (int i = 0; i < 3; i++)
        bar.size[i] *= unit;
    kitchen k = open_kitchen(ctx, bar, 8);
    k.def.parent = -1;
    const double m = mass * unit * unit * unit, I = 0.01 * m * unit * unit;
    k.ends.interfaces[1].has_load = true;
    k.ends.interfaces[1].load = (bough_inertia){.mass = m, .inertia = {I, 0, 0, 0, I, 0, 0, 0, I}};
    return k;
}

/* A free component that carries something also moves rigidly when it vibrates. */
static void loaded_free_frequencies_agree(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (double mass = 1; mass < 1000; mass *= 30) { /* the bar: 50 kg */
        kitchen k = free_and_loaded(ctx, 1, mass);
        k.def.basis = BOUGH_BASIS_LOADED;
        cook_in(&k);
        const bough_component_quality *q = &k.c->quality;
        check_int(q->mode_count, 8);
        for (int32_t i = 0; i < 8; i++)
            check_near(q->reduced_hz[i], q->full_hz[i], 1e-9 * q->full_hz[i]);
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

/* A leaf of a centimetre and a building of a hundred metres. */
static void quality_does_not_depend_on_units(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double units[] = {1, 0.01, 100, 1e-6, 1e5};
    for (int parent = -1; parent < 1; parent++) {
        double found[5][4];
        for (int u = 0; u < 5; u++) {
            kitchen k = free_and_loaded(ctx, units[u], 50);
            k.def.parent = parent;
            cook_in(&k);
            const bough_component_quality *q = &k.c->quality;
            const double values[4] = {q->basis_error, q->projection_impulse, q->interface_deviation,
                                      q->reduced_hz[3] / q->full_hz[0]};
            memcpy(found[u], values, sizeof values);
            for (int i = 0; i < 4; i++)
                check_near(found[u][i], found[0][i], 3e-9 * found[0][i]);
            close_kitchen(&k);
        }
    }
    bough_context_destroy(ctx);
}

/* Few coordinates lock, and a plain Newton iteration leaves the equilibrium for good. */
static void weight_is_always_answered(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int32_t r = 1; r <= 10; r++) {
        kitchen k = open_kitchen(ctx, default_bar(), r);
        cook_in(&k);
        check(k.c->quality.response_gravity >= k.c->quality.projection_gravity * (1 - 1e-9));
        check_below(k.c->quality.response_gravity, r < 3 ? 0.8 : 0.2);
        check_below(k.c->quality.force_gravity, 1e-9);
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

/* The full body would be inverted where the component goes; that is no reason not to cook it. */
static void poses_beyond_the_material_are_made_smaller(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_NEO_HOOKEAN, bar.poisson = 0.45;
    kitchen k = open_kitchen(ctx, bar, 1);
    k.def.pose_amplitude = 2, k.def.cubature_most = 60;
    cook_in(&k);
    check(isfinite(k.c->quality.force_gravity) && isfinite(k.c->quality.force_impulse));
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* A bar between a clamp and a wall along which it slides: the farthest vertices are held, all or in part. */
static void blows_hit_what_can_move(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 6);
    k.def.parent = -1;
    for (int end = 0; end < 2; end++)
        check_ok(ctx, bough_load_case_fix(ctx, k.load_case, k.ends.vertices[end], k.ends.interfaces[end].vertex_count,
                                          end ? BOUGH_AXES : BOUGH_AXIS_X, NULL));
    cook_in(&k);
    check(k.c->quality.projection_impulse > 1e-3);
    check_below(k.c->quality.projection_impulse, 0.9);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* ---- blows, computed once more ---- */

typedef struct {
    bough_context *ctx;
    const bough_component *c;
    bough_sparse *M, *A; /* A = M + h^2 K */
    bo_factor *factor;
    double *rigid; /* 6 x n, orthonormal in the mass */
    size_t n;
} blow_kit;

static double mass_product(const blow_kit *b, const double *x, const double *y, double *scratch) {
    bo_sparse_mul(b->M, x, scratch, false);
    double sum = 0;
    for (size_t i = 0; i < b->n; i++)
        sum += scratch[i] * y[i];
    return sum;
}

static void take_out(const blow_kit *b, int count, double *x, double *scratch) {
    for (int k = 0; k < count; k++) {
        double part = mass_product(b, b->rigid + (size_t)k * b->n, x, scratch);
        for (size_t i = 0; i < b->n; i++)
            x[i] -= part * b->rigid[(size_t)k * b->n + i];
    }
}

static void make_rigid(blow_kit *b, double *scratch) {
    for (int k = 0; k < 6; k++) {
        double *x = b->rigid + (size_t)k * b->n;
        for (size_t v = 0; v < b->n / 3; v++) {
            const double *X = b->c->volume.position + 3 * v; /* from the centre of mass */
            int d = k % 3, e = (d + 1) % 3, f = (d + 2) % 3;
            if (k < 3)
                x[3 * v + (size_t)d] = 1;
            else
                x[3 * v + (size_t)e] = -X[f], x[3 * v + (size_t)f] = X[e];
        }
        take_out(b, k, x, scratch);
        double length = sqrt(mass_product(b, x, x, scratch));
        for (size_t i = 0; i < b->n; i++)
            x[i] /= length;
    }
}

/* rms distance of the interface's vertices from where its frame puts them, by its weights, of its radius. */
static double deviation_of(const bough_component *c, int32_t index, const double *q, const double *u) {
    const bough_interface *face = &c->interfaces[index];
    double centre[3], R[9], sum = 0;
    check(bough_component_interface_frame(c, index, q, centre, R));
    for (int32_t k = 0; k < face->vertex_count; k++) {
        const double *X = c->volume.position + 3 * face->vertices[k], *move = u + 3 * face->vertices[k];
        for (int i = 0; i < 3; i++) {
            double e = X[i] + move[i] - centre[i];
            for (int j = 0; j < 3; j++)
                e -= R[3 * i + j] * (X[j] - face->centre[j]);
            sum += face->weights[k] * e * e;
        }
    }
    return sqrt(sum) / face->radius;
}

/* A free component feels no weight, so that its report is about blows alone: (M + h^2 K) u = e, shared out by weight
 * over the first of two interfaces that carry nothing yet, h = 1 / (2 w_1), without rigid motion. What is missed counts
 * beside the largest of the three answers. */
static void blows_are_what_the_theory_says(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.cells[1] = 3;
    kitchen k = open_kitchen(ctx, bar, 8);
    k.def.parent = -1;
    cook_in(&k);
    const bough_component *c = k.c;
    size_t n = 3 * (size_t)c->volume.vertex_count;
    blow_kit b = {.ctx = ctx, .c = c, .n = n, .rigid = calloc(6 * n, sizeof(double))};
    double *u = calloc(3 * n, sizeof *u), *scratch = u + n, *shown = u + 2 * n, q[8];
    check_ok(ctx, bough_body_matrix_create(ctx, k.body, &b.M));
    check_ok(ctx, bough_body_matrix_create(ctx, k.body, &b.A));
    check_ok(ctx, bough_body_mass_matrix(ctx, k.body, b.M));
    check_ok(ctx, bough_body_evaluate(ctx, k.body, NULL, false, NULL, NULL, b.A));
    bo_sparse_combine(b.A, 0.25 / c->K[0], 1, b.M);
    check_ok(ctx, bo_factor_analyse(ctx, b.A, 3, NULL, &b.factor));
    check_ok(ctx, bo_factor_numeric(ctx, b.factor, b.A));
    make_rigid(&b, scratch);
    double missed = 0, farthest = 0, deviation = 0, size = sqrt(1 + 0.2 * 0.2 + 0.25 * 0.25);
    for (size_t d = 0; d < 3; d++) {
        memset(u, 0, n * sizeof *u);
        for (int32_t i = 0; i < c->interfaces[0].vertex_count; i++)
            u[3 * (size_t)c->interfaces[0].vertices[i] + d] = c->interfaces[0].weights[i];
        check_ok(ctx, bo_factor_solve(ctx, b.factor, u, u, 1));
        take_out(&b, 6, u, scratch);
        double moved = 0, length = sqrt(mass_product(&b, u, u, scratch));
        for (size_t v = 0; v < n; v += 3)
            moved = fmax(moved, norm_of(3, u + v));
        for (size_t i = 0; i < n; i++)
            u[i] *= 0.01 * size / moved;
        bo_sparse_mul(b.M, u, scratch, false);
        project(c, scratch, q);
        displace(c, q, shown);
        for (int32_t i = 0; i < 2; i++)
            deviation = fmax(deviation, deviation_of(c, i, q, u));
        double whole = mass_product(&b, u, u, scratch);
        for (size_t i = 0; i < n; i++)
            shown[i] -= u[i];
        missed = fmax(missed, length * sqrt(mass_product(&b, shown, shown, scratch) / whole));
        farthest = fmax(farthest, length);
    }
    check_near(c->quality.projection_impulse, missed / farthest, 1e-12 * missed / farthest);
    check_near(c->quality.interface_deviation, deviation, 1e-12 * deviation);
    check(isnan(c->quality.response_gravity));
    free(u), free(b.rigid);
    bo_factor_destroy(ctx, b.factor);
    bough_sparse_destroy(ctx, b.M);
    bough_sparse_destroy(ctx, b.A);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaded_free_frequencies_agree), cmocka_unit_test(quality_does_not_depend_on_units),
        cmocka_unit_test(weight_is_always_answered),     cmocka_unit_test(poses_beyond_the_material_are_made_smaller),
        cmocka_unit_test(blows_hit_what_can_move),       cmocka_unit_test(blows_are_what_the_theory_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
