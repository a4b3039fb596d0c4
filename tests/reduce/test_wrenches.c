/* Forces and torques at an interface: a slender rod of 20 coordinates answers all of them as the full body does. */
#include "cooked.h"

#include "fem/body.h"

static bar_def slender_rod(void) {
    bar_def bar = default_bar();
    bar.type = BOUGH_HEX8;
    bar.size[1] = 0.05, bar.size[2] = 0.04;
    bar.cells[0] = 24, bar.cells[1] = bar.cells[2] = 2;
    bar.poisson = 0.3;
    return bar;
}

/* Columns of the least-squares rigid motion of the tip, Q (n x 6), as dead loads and as what is measured. The face is
 * regular, so that sums over its vertices with the component's weights are enough. */
static double *tip_columns(const bough_body *body, const bough_component *c) {
    const bough_interface *face = &c->interfaces[1];
    const double *X = bough_body_mesh(body)->vertices;
    double *Q = calloc(18 * (size_t)bough_body_mesh(body)->vertex_count, sizeof *Q), C[9] = {0}, x[3] = {0};
    for (int32_t k = 0; k < face->vertex_count; k++)
        for (int d = 0; d < 3; d++)
            x[d] += face->weights[k] * X[3 * face->vertices[k] + d];
    for (int32_t k = 0; k < face->vertex_count; k++)
        for (int a = 0; a < 9; a++)
            C[a] += face->weights[k] * (X[3 * face->vertices[k] + a / 3] - x[a / 3]) *
                    (X[3 * face->vertices[k] + a % 3] - x[a % 3]);
    const double trace = C[0] + C[4] + C[8];
    for (int32_t k = 0; k < face->vertex_count; k++) {
        const size_t at = 3 * (size_t)face->vertices[k];
        const double w = face->weights[k], d[3] = {X[at] - x[0], X[at + 1] - x[1], X[at + 2] - x[2]};
        for (size_t i = 0; i < 3; i++) {
            const size_t a = (i + 1) % 3, b = (i + 2) % 3;
            Q[6 * (at + i) + i] = w;
            /* torque about i: w (e_i x d) / J_ii, J = tr C - C, which is diagonal here */
            Q[6 * (at + a) + 3 + i] = -w * d[b] / (trace - C[4 * i]);
            Q[6 * (at + b) + 3 + i] = w * d[a] / (trace - C[4 * i]);
        }
    }
    return Q;
}

/* Returns the distance of the tip along wrench d when that is as large as moves the full body by `amount` (m or rad)
 * for small displacements: full and reduced. */
static void respond(bough_context *ctx, bough_load_case *load_case, const bough_component *c, const double *Q, size_t d,
                    double size, double *full, double *reduced) {
    const size_t n = 3 * (size_t)c->volume.vertex_count;
    double *u = calloc(n, sizeof *u), *q = calloc(2 * (size_t)c->r, sizeof *q), *load = q + c->r;
    for (size_t i = 0; i < n; i++)
        load_case->point_force[i] = size * Q[6 * i + d];
    bough_static_def def = bough_default_static_def();
    def.load_steps = 4, def.tolerance = 1e-8;
    bough_static_result result;
    check_ok(ctx, bough_body_static(ctx, load_case->body, load_case, &def, u, &result));
    project(c, load_case->point_force, load);
    check(reduced_static(c, load, 20, q));
    *full = *reduced = 0;
    for (size_t i = 0; i < n; i++)
        *full += Q[6 * i + d] * u[i];
    displace(c, q, u);
    for (size_t i = 0; i < n; i++)
        *reduced += Q[6 * i + d] * u[i];
    free(u), free(q);
}

static const char *const wrench_names[] = {"pull",   "force along y",  "force along z",
                                           "torque", "moment about y", "moment about z"};
/* m, rad: small, moderate */
static const double amounts[2][6] = {{1e-5, 1e-4, 1e-4, 1e-3, 1e-4, 1e-4}, {0.03, 0.2, 0.2, 0.4, 0.4, 0.4}};

static double worst_response(bough_context *ctx, kitchen *k, const double limits[2]) {
    double worst = 0, *Q = tip_columns(k->body, k->c);
    check_ok(ctx, bough_load_case_fix(ctx, k->load_case, k->ends.vertices[0], k->ends.interfaces[0].vertex_count,
                                      BOUGH_AXES, NULL));
    for (size_t d = 0; d < 6; d++) {
        double size = 1e-6, full, reduced, stiffness = 0;
        for (int a = 0; a < 2; a++) {
            respond(ctx, k->load_case, k->c, Q, d, stiffness > 0 ? stiffness * amounts[a][d] : size, &full, &reduced);
            if (a == 0) { /* once more with the size that moves it so */
                stiffness = size / full;
                respond(ctx, k->load_case, k->c, Q, d, stiffness * amounts[a][d], &full, &reduced);
            }
            print_message("%-16s by %8.5f: %+.3f %%\n", wrench_names[d], full, 100 * (reduced / full - 1));
            worst = fmax(worst, fabs(reduced / full - 1));
            if (limits)
                check_below(fabs(reduced / full - 1), limits[a]);
        }
    }
    free(Q);
    return worst;
}

static void a_slender_rod_answers_every_wrench(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, slender_rod(), 20);
    cook_in(&k);
    worst_response(ctx, &k, (double[2]){0.03, 0.03});
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* Without columns for them a pull loses half of its way, and the report says so. */
static void the_worst_wrench_is_named_with_its_error(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, slender_rod(), 20);
    k.def.basis = BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES;
    cook_in(&k);
    const bough_component_quality *quality = &k.c->quality;
    check(quality->wrench.interface_index == 1 && !quality->wrench.torque && fabs(quality->wrench.axis[0]) > 1 - 1e-9);
    const double worst = worst_response(ctx, &k, NULL), error = quality->wrench_error;
    check(worst > 0.4);
    double *Q = tip_columns(k.body, k.c), full, reduced;
    respond(ctx, k.load_case, k.c, Q, 0, 1e-4, &full, &reduced);
    check_near(error, 1 - reduced / full, 1e-6);
    free(Q);
    close_kitchen(&k);
    k = open_kitchen(ctx, slender_rod(), 20);
    cook_in(&k);
    check_below(k.c->quality.wrench_error, 0.005);
    check_below(k.c->quality.load_error, 0.005);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* A rod at which nothing can hang is pulled and twisted at its free end. */
static void leaves_answer_at_their_free_end(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double error[2];
    for (int i = 0; i < 2; i++) {
        kitchen k = open_kitchen(ctx, slender_rod(), 20);
        k.def.interfaces = k.ends.interfaces, k.def.interface_count = 1;
        k.def.basis = i ? 0 : BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES;
        check_ok(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c));
        error[i] = k.c->quality.wrench_error;
        check_int(k.c->quality.wrench.interface_index, -1);
        check(isnan(k.c->quality.load_error)); /* nothing hangs there */
        close_kitchen(&k);
    }
    check(error[0] > 0.3);
    check_below(error[1], 0.03);
    bough_context_destroy(ctx);
}

static bar_def broad_plate(void) {
    bar_def plate = default_bar();
    plate.type = BOUGH_HEX8;
    plate.size[1] = 0.7, plate.size[2] = 0.05;
    plate.cells[0] = 12, plate.cells[1] = 10, plate.cells[2] = 1;
    return plate;
}

/* A broad plate: answers to wrenches and derivatives crowd out its fourth mode (4.5 %), unless it is kept. */
static void no_low_mode_is_lost_among_answers(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, broad_plate(), 16);
    k.def.interfaces = k.ends.interfaces, k.def.interface_count = 1;
    check_ok(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c));
    check_int(k.c->r, 16);
    check_below(bough_component_error(k.c, BOUGH_VERDICT_FREQUENCIES), 0.001);
    check_below(bough_component_error(k.c, BOUGH_VERDICT_MOTION), 0.015);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* Columns that were given stay, whatever becomes of the modes: u = U U^T M u. */
static void given_columns_are_kept_exactly(void **state) {
    (void)state;
    enum { R = 16, GIVEN = 15 };
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, broad_plate(), R);
    const bough_mesh *mesh = bough_body_mesh(k.body);
    const size_t n = 3 * (size_t)mesh->vertex_count;
    double *columns = calloc((GIVEN + 2) * n, sizeof *columns), *Mu = columns + GIVEN * n, *u = Mu + n, q[R];
    for (size_t c = 0; c < GIVEN; c++)
        for (size_t i = 0; i < n; i++)
            columns[c * n + i] = i % 3 == c % 3 ? sin((double)(1 + c) * mesh->vertices[i / 3 * 3]) : 0;
    k.def.basis = BOUGH_BASIS_COLUMNS | BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES | BOUGH_BASIS_WRENCHES;
    k.def.columns = columns, k.def.column_count = GIVEN;
    cook_in(&k);
    check_int(k.c->r, R);
    bough_sparse *M;
    check_ok(ctx, bough_body_matrix_create(ctx, k.body, &M));
    check_ok(ctx, bough_body_mass_matrix(ctx, k.body, M));
    for (size_t c = 0; c < GIVEN; c++) {
        bo_sparse_mul(M, columns + c * n, Mu, false);
        project(k.c, Mu, q);
        displace(k.c, q, u);
        for (size_t i = 0; i < n; i++)
            check_near(u[i], columns[c * n + i], 1e-8);
    }
    bough_sparse_destroy(ctx, M);
    free(columns);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* ---- what cooking must not depend on ---- */

/* A bar (its x, y and z along `axes` of the mesh, so many times as large) that carries something heavy beside its end.
 */
typedef struct {
    double scale;
    int axes[3];
    bool backwards; /* the vertices of its interfaces in another order */
    bool carries;
} variant;

static bough_component *cook_variant(bough_context *ctx, variant v) {
    const double size[3] = {1, 0.05, 0.04};
    const int32_t cells[3] = {24, 2, 2};
    bar_def bar = slender_rod();
    bough_component *c;
    for (int d = 0; d < 3; d++)
        bar.size[v.axes[d]] = v.scale * size[d], bar.cells[v.axes[d]] = cells[d];
    bough_body *body = make_bar(ctx, bar);
    bough_interface_def ends[2] = {{.name = "base"}, {.name = "tip"}};
    int32_t *vertices[2];
    for (int i = 0; i < 2; i++) {
        const char where[3] = {(char)('x' + v.axes[0]), (char)('0' + i), 0};
        check_ok(ctx, bough_mesh_select(ctx, bough_body_mesh(body), where, &vertices[i], &ends[i].vertex_count));
        for (int32_t k = 0; k < ends[i].vertex_count / 2 && v.backwards; k++) {
            const int32_t other = ends[i].vertex_count - 1 - k, kept = vertices[i][k];
            vertices[i][k] = vertices[i][other], vertices[i][other] = kept;
        }
        ends[i].vertices = vertices[i];
    }
    const double mass = 3 * pow(v.scale, 3), beside[3] = {0.1, 0.05, -0.07};
    ends[1].has_load = true;
    ends[1].load.mass = mass;
    for (int i = 0; i < 3; i++) {
        ends[1].load.moment[v.axes[i]] = mass * v.scale * beside[i];
        for (int j = 0; j < 3; j++)
            ends[1].load.inertia[3 * v.axes[i] + v.axes[j]] =
                mass * v.scale * v.scale * (i == j ? 0.02 + 0.003 * i : -beside[i] * beside[j]);
    }
    bough_cook_def def = bough_default_cook_def();
    def.interfaces = ends;
    def.interface_count = v.carries ? 2 : 1;
    def.parent = 0;
    def.r = 12;
    check_ok(ctx, bough_cook(ctx, body, NULL, &def, NULL, &c));
    bough_body_destroy(ctx, body);
    bough_release(ctx, vertices[0]);
    bough_release(ctx, vertices[1]);
    return c;
}

/* The same coordinates and errors, and 1 / scale of the frequencies. */
static void check_alike(const bough_component *a, const bough_component *b, double scale) {
    const bough_component_quality *qa = &a->quality, *qb = &b->quality;
    check_int(b->r, a->r);
    check_near(qb->wrench_error, qa->wrench_error, 1e-8);
    check_near(qb->projection_impulse, qa->projection_impulse, 1e-10);
    check_near(qb->response_gravity, qa->response_gravity, 5e-9);
    check_near(qb->projection_gravity, qa->projection_gravity, 1e-11);
    check(isnan(qb->load_error) == isnan(qa->load_error));
    if (!isnan(qa->load_error))
        check_near(qb->load_error, qa->load_error, 1e-8);
    check(qa->mode_count > 5 && qb->mode_count == qa->mode_count);
    for (int32_t k = 0; k < qa->mode_count; k++) {
        check_near(scale * qb->full_hz[k], qa->full_hz[k], 1e-8 * qa->full_hz[k]);
        check_near(scale * qb->reduced_hz[k], qa->reduced_hz[k], 1e-7 * qa->reduced_hz[k]);
    }
}

static void check_same_stress_points(const bough_component *a, const bough_component *b) {
    check(a->stress.count > 0 && b->stress.count == a->stress.count);
    check(!memcmp(a->stress.element, b->stress.element, (size_t)a->stress.count * sizeof(int32_t)));
}

/* No metre, no axes, no order of vertices: of the same stuff, ten times as large, turned, or with the vertices of its
 * interfaces listed backwards. */
static void what_is_alike_is_cooked_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int carries = 0; carries < 2; carries++) {
        const variant first = {1, {0, 1, 2}, false, carries};
        variant larger = first, turned = first, backwards = first;
        larger.scale = 10, backwards.backwards = true;
        turned.axes[0] = 1, turned.axes[1] = 2, turned.axes[2] = 0;
        bough_component *a = cook_variant(ctx, first), *b = cook_variant(ctx, larger);
        check_alike(a, b, 10);
        check_same_stress_points(a, b);
        bough_component_destroy(ctx, b);
        b = cook_variant(ctx, turned);
        check_alike(a, b, 1);
        check_int(b->stress.count, a->stress.count); /* their elements have other numbers */
        bough_component_destroy(ctx, b);
        b = cook_variant(ctx, backwards);
        check_alike(a, b, 1);
        check_same_stress_points(a, b);
        bough_component_destroy(ctx, b);
        bough_component_destroy(ctx, a);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_low_mode_is_lost_among_answers),
        cmocka_unit_test(given_columns_are_kept_exactly),
        cmocka_unit_test(what_is_alike_is_cooked_alike),
        cmocka_unit_test(a_slender_rod_answers_every_wrench),
        cmocka_unit_test(the_worst_wrench_is_named_with_its_error),
        cmocka_unit_test(leaves_answer_at_their_free_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
