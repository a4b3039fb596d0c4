/* The full body as a system for the time integrators: its forces, its damping, what it weighs and what work is done on
 * it. */
#include "test.h"

#include "fem/system.h"
#include "linalg/sparse.h"

#define YOUNG 1e5
#define DENSITY 800.0
#define SIDE 0.25

typedef struct {
    bough_context *ctx;
    bough_mesh *mesh;
    bough_body *body;
    bough_load_case *load_case;
    bo_system system;
    int32_t n;
    double *q, *v, *x, *y, *z; /* n each; q and v bent and moving, 0 at what is held */
} fixture;

static double bend(const double *X, int32_t d) {
    return d == 2 ? 0.3 * X[0] * X[0] : d == 1 ? 0.05 * X[0] * X[2] : 0.02 * X[0];
}

/* A beam of 3 x 1 x 1 hexahedra with 1 m, held at x = 0 when `held`. */
static fixture make_fixture(bool held, double damping_mass, double damping_stiffness) {
    fixture f = {.ctx = test_context(1)};
    bough_box_def box = bough_default_box_def();
    box.type = BOUGH_HEX8;
    box.size[0] = 1, box.size[1] = box.size[2] = SIDE;
    box.cells[0] = 3, box.cells[1] = box.cells[2] = 1;
    bough_body_def def = bough_default_body_def();
    def.material.model = BOUGH_MATERIAL_STVK;
    def.material.young = YOUNG, def.material.poisson = 0.3, def.material.density = DENSITY;
    def.damping_mass = damping_mass, def.damping_stiffness = damping_stiffness;
    check_ok(f.ctx, bough_mesh_generate_box(f.ctx, &box, &f.mesh));
    check_ok(f.ctx, bough_body_create(f.ctx, f.mesh, &def, &f.body));
    check_ok(f.ctx, bough_load_case_create(f.ctx, f.body, &f.load_case));
    if (held) {
        int32_t *vertices, count;
        check_ok(f.ctx, bough_mesh_select(f.ctx, f.mesh, "x0", &vertices, &count));
        check_ok(f.ctx, bough_load_case_fix(f.ctx, f.load_case, vertices, count, BOUGH_AXES, NULL));
        bough_release(f.ctx, vertices);
    }
    check_ok(f.ctx, bo_body_system_create(f.ctx, f.body, f.load_case, &f.system));
    f.n = f.system.size;
    check_int(f.n, 3 * f.mesh->vertex_count);
    double **vectors[] = {&f.q, &f.v, &f.x, &f.y, &f.z};
    for (int i = 0; i < 5; i++)
        *vectors[i] = calloc((size_t)f.n, sizeof(double));
    for (int32_t i = 0; i < f.n; i++) {
        f.q[i] = bend(f.mesh->vertices + i / 3 * 3, i % 3);
        f.v[i] = f.mesh->vertices[i / 3 * 3] * sin(i);
    }
    return f;
}

/* A system sees what its load case holds when it is made. */
static void make_system_anew(fixture *f) {
    bo_body_system_destroy(f->ctx, &f->system);
    check_ok(f->ctx, bo_body_system_create(f->ctx, f->body, f->load_case, &f->system));
}

static void clean(fixture *f) {
    bo_body_system_destroy(f->ctx, &f->system);
    bough_load_case_destroy(f->ctx, f->load_case);
    bough_body_destroy(f->ctx, f->body);
    bough_mesh_destroy(f->ctx, f->mesh);
    free(f->q), free(f->v), free(f->x), free(f->y), free(f->z);
    bough_context_destroy(f->ctx);
}

static double dot(int32_t n, const double *x, const double *y) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static bool is_held(const fixture *f, int32_t i) {
    return f->mesh->vertices[i / 3 * 3] < 1e-9;
}

/* D = a M + b K, with K where the body is, for each of the two alone as well; nothing at what is held. */
static void damping_is_of_mass_and_of_stiffness(void **state) {
    (void)state;
    static const double ratios[][2] = {{0, 0}, {0.7, 0}, {0, 0.02}, {0.7, 0.02}};
    for (int k = 0; k < 4; k++) {
        fixture f = make_fixture(true, ratios[k][0], ratios[k][1]);
        double *D = calloc((size_t)f.n, sizeof *D), most = 0;
        check_ok(f.ctx, f.system.linearise(f.system.data, 0, f.q, false));
        check_ok(f.ctx, f.system.damp(f.system.data, f.q));
        for (int32_t i = 0; i < f.n; i++)
            f.x[i] = is_held(&f, i) ? 0 : cos(3 * i);
        f.system.multiply(f.system.data, BO_MATRIX_M, f.x, f.y);
        f.system.multiply(f.system.data, BO_MATRIX_K, f.x, f.z);
        f.system.multiply(f.system.data, BO_MATRIX_D, f.x, D);
        for (int32_t i = 0; i < f.n; i++)
            most = fmax(most, fabs(D[i]));
        check(k == 0 ? most == 0 : most > 0.1);
        for (int32_t i = 0; i < f.n; i++) {
            check_near(D[i], ratios[k][0] * f.y[i] + ratios[k][1] * f.z[i], 1e-13 * most);
            check(!is_held(&f, i) || (f.y[i] == 0 && f.z[i] == 0 && D[i] == 0));
        }
        /* and 2 M + 0.3 D + 0.1 K is what is solved with */
        check_ok(f.ctx, f.system.factor(f.system.data, 2, 0.3, 0.1));
        for (int32_t i = 0; i < f.n; i++)
            D[i] = 2 * f.y[i] + 0.3 * D[i] + 0.1 * f.z[i];
        check_ok(f.ctx, f.system.solve(f.system.data, D, f.y));
        for (int32_t i = 0; i < f.n; i++)
            check_near(f.y[i], f.x[i], 1e-11);
        free(D);
        clean(&f);
    }
}

/* f = -dU/dq with weight, a dead load and pushes; K = -df/dq. */
static void forces_are_slopes_of_the_potential(void **state) {
    (void)state;
    fixture f = make_fixture(true, 0, 0);
    const int32_t tip = f.mesh->vertex_count - 1, root = 0;
    check_ok(f.ctx, bough_load_case_set_gravity(f.ctx, f.load_case, (double[]){1, -2, -9.81}));
    check_ok(f.ctx, bough_load_case_add_force(f.ctx, f.load_case, &tip, 1, (double[]){3, 4, 5}));
    make_system_anew(&f);
    double *before = calloc((size_t)f.n, sizeof *before), U[2];
    check_ok(f.ctx, f.system.force(f.system.data, 0, f.q, NULL, before));
    check_ok(f.ctx, f.system.linearise(f.system.data, 0, f.q, false));
    for (int32_t i = 0; i < f.n; i++) {
        const double h = 1e-5, kept = f.q[i];
        f.q[i] = kept + h;
        check_ok(f.ctx, f.system.force(f.system.data, 0, f.q, &U[1], f.y));
        f.q[i] = kept - h;
        check_ok(f.ctx, f.system.force(f.system.data, 0, f.q, &U[0], f.z));
        f.q[i] = kept;
        if (is_held(&f, i)) {
            check(before[i] == 0);
            continue;
        }
        check_near(before[i], -(U[1] - U[0]) / (2 * h), 1e-5);
        for (int32_t k = 0; k < f.n; k++)
            f.y[k] = -(f.y[k] - f.z[k]) / (2 * h);
        memset(f.x, 0, (size_t)f.n * sizeof *f.x);
        f.x[i] = 1;
        f.system.multiply(f.system.data, BO_MATRIX_K, f.x, f.z);
        for (int32_t k = 0; k < f.n; k++)
            check_near(f.z[k], is_held(&f, k) ? 0 : f.y[k], 2e-3);
    }
    const bo_point_force pushes[] = {{tip, {0.1, 0.2, 0.3}}, {root, {7, 7, 7}}, {tip, {1, 0, 0}}};
    bo_body_system_push(&f.system, 3, pushes);
    check_ok(f.ctx, f.system.force(f.system.data, 0, f.q, NULL, f.y));
    for (int32_t i = 0; i < f.n; i++)
        check_near(f.y[i] - before[i], i < 3 * tip ? 0 : i == 3 * tip ? 1.1 : i == 3 * tip + 1 ? 0.2 : 0.3, 1e-12);
    free(before);
    clean(&f);
}

/* A rigid motion of a box that flies: v = c + w x X. */
static void measures_are_those_of_a_rigid_box(void **state) {
    (void)state;
    fixture f = make_fixture(false, 0, 0);
    const double mass = DENSITY * SIDE * SIDE, c[3] = {0.3, -0.2, 0.5}, w[3] = {0.4, 1.1, -0.6}, g[3] = {1, 2, -3};
    const double middle[3] = {0.5, SIDE / 2, SIDE / 2}, size[3] = {1, SIDE, SIDE}, go[3] = {0.1, 0.2, 0.3};
    check_ok(f.ctx, bough_load_case_set_gravity(f.ctx, f.load_case, g));
    make_system_anew(&f);
    for (int32_t i = 0; i < f.n; i++) {
        const double *X = f.mesh->vertices + i / 3 * 3;
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        f.q[i] = go[i % 3];
        f.v[i] = c[i % 3] + w[a] * X[b] - w[b] * X[a];
    }
    bo_body_measures m;
    check_ok(f.ctx, bo_body_system_measure(&f.system, f.q, f.v, &m));
    double speed[3], spin[3], kinetic = 0;
    for (int d = 0; d < 3; d++) {
        const int a = (d + 1) % 3, b = (d + 2) % 3;
        speed[d] = c[d] + w[a] * middle[b] - w[b] * middle[a];
        spin[d] = mass * (size[a] * size[a] + size[b] * size[b]) / 12 * w[d]; /* about the middle: axes are principal */
        kinetic += 0.5 * mass * speed[d] * speed[d] + 0.5 * spin[d] * w[d];
    }
    for (int d = 0; d < 3; d++) {
        const int a = (d + 1) % 3, b = (d + 2) % 3;
        check_near(m.momentum[d], mass * speed[d], 1e-11);
        check_near(m.angular_momentum[d],
                   spin[d] + mass * ((middle[a] + go[a]) * speed[b] - (middle[b] + go[b]) * speed[a]), 1e-11);
    }
    check_near(m.kinetic, kinetic, 1e-11);
    check_near(m.elastic, 0, 1e-18);
    check_near(m.external, -mass * dot(3, g, go), 1e-11);
    /* twice the weight */
    memset(f.x, 0, (size_t)f.n * sizeof *f.x);
    bo_body_system_weigh(&f.system, (double[]){2, 4, -6}, f.x);
    for (int d = 0; d < 3; d++) {
        double sum = 0;
        for (int32_t i = d; i < f.n; i += 3)
            sum += f.x[i];
        check_near(sum, mass * g[d], 1e-11);
    }
    clean(&f);
}

/* Forces by curves and pushes, with the mean of both ends, and the doubt of what another mean might give. */
static void work_is_force_times_way(void **state) {
    (void)state;
    fixture f = make_fixture(true, 0, 0);
    bo_drive drive = {0};
    const int32_t tip = f.mesh->vertex_count - 1;
    check_ok(f.ctx, bo_drive_add_curve(f.ctx, &drive, "grows", 2, (double[]){1, 3}, (double[]){2, 6}));
    check_ok(f.ctx, bo_drive_force(f.ctx, &drive, f.body, 0, &tip, 1, (double[]){0, 0, 10}));
    bo_body_system_drive(&f.system, &drive);
    bo_body_system_push(&f.system, 1, &(bo_point_force){tip, {0, 7, 0}});
    double work, doubt;
    memcpy(f.x, f.q, (size_t)f.n * sizeof *f.x);
    f.x[3 * tip + 1] += 0.02, f.x[3 * tip + 2] += 0.01;
    check_ok(f.ctx, bo_body_system_begin_work(&f.system, 1, f.q, f.v));
    check_ok(f.ctx, bo_body_system_end_work(&f.system, 2, 1, f.x, f.v, &work, &doubt));
    check_near(work, 0.5 * (20 + 40) * 0.01 + 7 * 0.02, 1e-12);
    check_near(doubt, 0.5 * (40 - 20) * 0.01, 1e-12);
    bo_body_system_drive(&f.system, NULL);
    bo_drive_free(f.ctx, &drive);
    clean(&f);
}

/* A support that moves at 2 m/s for a second. */
static void supports_follow_their_curve(void **state) {
    (void)state;
    static const double times[] = {0.25, 1.5}, way[] = {0.5, 2}, speed[] = {2, 0};
    fixture f[2] = {make_fixture(true, 0, 0), make_fixture(true, 0.5, 0)};
    bo_drive drives[2] = {{0}, {0}};
    int32_t *vertices, count;
    check_ok(f[0].ctx, bough_mesh_select(f[0].ctx, f[0].mesh, "x0", &vertices, &count));
    for (int k = 0; k < 2; k++) {
        check_ok(f[k].ctx,
                 bo_drive_add_curve(f[k].ctx, &drives[k], "goes", 3, (double[]){0, 1, 2}, (double[]){0, 1, 1}));
        check_ok(f[k].ctx, bo_drive_fix(f[k].ctx, &drives[k], f[k].load_case, 0, vertices, count, BOUGH_AXES,
                                        (double[]){0, 2, 0}));
        bo_body_system_drive(&f[k].system, &drives[k]);
    }
    bough_release(f[0].ctx, vertices);
    for (int at = 0; at < 2; at++) {
        bo_body_system_hold(&f[1].system, times[at], f[1].q, f[1].v);
        for (int32_t i = 0; i < f[1].n; i++)
            if (is_held(&f[1], i)) {
                check_near(f[1].q[i], i % 3 == 1 ? way[at] : 0, 1e-15);
                check_near(f[1].v[i], i % 3 == 1 ? speed[at] : 0, 1e-15);
            }
        /* Damping by mass pulls what is free with D v = 0.5 M v of the support, whatever q says of where that is. */
        for (int k = 0; k < 2; k++)
            check_ok(f[k].ctx, f[k].system.force(f[k].system.data, times[at], f[0].q, NULL, f[k].x));
        bough_sparse *M;
        check_ok(f[1].ctx, bough_body_matrix_create(f[1].ctx, f[1].body, &M));
        check_ok(f[1].ctx, bough_body_mass_matrix(f[1].ctx, f[1].body, M));
        for (int32_t i = 0; i < f[1].n; i++)
            f[1].y[i] = is_held(&f[1], i) ? f[1].v[i] : 0;
        bo_sparse_mul(M, f[1].y, f[1].z, false);
        for (int32_t i = 0; i < f[1].n; i++)
            check_near(f[1].x[i] - f[0].x[i], is_held(&f[1], i) ? 0 : -0.5 * f[1].z[i], 1e-10);
        bough_sparse_destroy(f[1].ctx, M);
    }
    for (int k = 0; k < 2; k++) {
        bo_body_system_drive(&f[k].system, NULL);
        bo_drive_free(f[k].ctx, &drives[k]);
        clean(&f[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damping_is_of_mass_and_of_stiffness), cmocka_unit_test(forces_are_slopes_of_the_potential),
        cmocka_unit_test(measures_are_those_of_a_rigid_box),   cmocka_unit_test(work_is_force_times_way),
        cmocka_unit_test(supports_follow_their_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
