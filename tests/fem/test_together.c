/* One body is used by several threads at the same time, each with a context of its own, and each gets the bits that it
 * would have got alone. */
#include "test.h"

#include "fem/system.h"
#include "time/integrator.h"

#include <pthread.h>

enum { CASES = 3, MODES = 4, STEPS = 5 };

typedef struct {
    bough_mesh *mesh;
    bough_body *body;
    bough_load_case *load_cases[CASES]; /* a cantilever that hangs, one that is pressed, a bridge that is pulled */
    int32_t n;
} fixture;

static void hold(bough_context *ctx, bough_load_case *load_case, const char *where) {
    int32_t *vertices, count;
    check_ok(ctx, bough_mesh_select(ctx, bough_body_mesh(bough_load_case_body(load_case)), where, &vertices, &count));
    check_ok(ctx, bough_load_case_fix(ctx, load_case, vertices, count, BOUGH_AXES, NULL));
    bough_release(ctx, vertices);
}

/* Some twenty blocks of elements, so that evaluations of several threads overlap. */
static fixture make_fixture(bough_context *ctx) {
    fixture f = {0};
    bough_box_def box = bough_default_box_def();
    box.size[0] = 1, box.size[1] = box.size[2] = 0.25;
    box.cells[0] = 16, box.cells[1] = box.cells[2] = 4;
    bough_body_def def = bough_default_body_def();
    def.material.model = BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
    def.damping_stiffness = 0.001;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &f.mesh));
    check_ok(ctx, bough_body_create(ctx, f.mesh, &def, &f.body));
    f.n = 3 * f.mesh->vertex_count;
    for (int k = 0; k < CASES; k++) {
        check_ok(ctx, bough_load_case_create(ctx, f.body, &f.load_cases[k]));
        hold(ctx, f.load_cases[k], "x0");
    }
    const bough_set *top = bough_mesh_find_set(f.mesh, BOUGH_SET_FACE, "z1");
    check(top != NULL);
    check_ok(ctx, bough_load_case_set_gravity(ctx, f.load_cases[0], (double[]){0, 0, -9.81}));
    check_ok(ctx, bough_load_case_add_pressure(ctx, f.load_cases[1], top->items, top->count, 50));
    hold(ctx, f.load_cases[2], "x1");
    int32_t *middle, count;
    check_ok(ctx, bough_mesh_select(ctx, f.mesh, "x=0.5 & z1", &middle, &count));
    check_ok(ctx, bough_load_case_add_force(ctx, f.load_cases[2], middle, count, (double[]){0, 3, 20}));
    bough_release(ctx, middle);
    return f;
}

static void clean(bough_context *ctx, fixture *f) {
    for (int k = 0; k < CASES; k++)
        bough_load_case_destroy(ctx, f->load_cases[k]);
    bough_body_destroy(ctx, f->body);
    bough_mesh_destroy(ctx, f->mesh);
}

/* The work of one thread with one load case: equilibrium, vibrations about it, and steps during which gravity changes. */
typedef struct {
    const fixture *f;
    const bough_load_case *load_case;
    bough_context *ctx;
    bough_status status;
    bough_static_result result;
    double *u, *q; /* n: equilibrium; end of the motion, 3 n with velocities and accelerations */
    double hz[MODES];
} study;

static bough_status swing(study *s) {
    bo_system system;
    BO_TRY(bo_body_system_create(s->ctx, s->f->body, s->load_case, &system));
    bough_integrator_def def = bough_default_integrator_def();
    const size_t n = (size_t)s->f->n;
    bo_motion motion = {.q = s->q, .v = s->q + n, .a = s->q + 2 * n};
    double *change = calloc(n, sizeof *change);
    bo_integrator *integrator = NULL;
    def.name = "newmark";
    bough_status status = bo_integrator_create(s->ctx, &system, &def, &integrator);
    for (int i = 0; i < STEPS && status == BOUGH_OK; i++) {
        if (i == 2) {
            bo_body_system_weigh(&system, (double[]){0, 5, 0}, change);
            status = bo_integrator_jump(integrator, change, true, &motion);
        }
        if (status == BOUGH_OK)
            status = bo_integrator_step(integrator, 0.01, &motion);
    }
    free(change);
    bo_integrator_destroy(s->ctx, integrator);
    bo_body_system_destroy(s->ctx, &system);
    return status;
}

static bough_status do_study(study *s) {
    bough_modes *modes;
    BO_TRY(bough_body_static(s->ctx, s->f->body, s->load_case, NULL, s->u, &s->result));
    BO_TRY(bough_body_modes(s->ctx, s->f->body, s->load_case, MODES, s->u, &modes));
    memcpy(s->hz, modes->frequencies_hz, sizeof s->hz);
    bough_modes_destroy(s->ctx, modes);
    return swing(s);
}

static void *run_study(void *data) {
    study *s = data;
    s->status = do_study(s);
    return NULL;
}

static study make_study(const fixture *f, int load_case, int32_t threads) {
    return (study){.f = f,
                   .load_case = f->load_cases[load_case],
                   .ctx = test_context(threads),
                   .u = calloc((size_t)f->n, sizeof(double)),
                   .q = calloc(3 * (size_t)f->n, sizeof(double))};
}

static void free_study(study *s) {
    free(s->u), free(s->q);
    bough_context_destroy(s->ctx);
}

static void load_cases_of_one_body_are_solved_at_the_same_time(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    fixture f = make_fixture(ctx);
    study alone[CASES], together[2 * CASES];
    pthread_t threads[2 * CASES];
    for (int k = 0; k < CASES; k++) {
        alone[k] = make_study(&f, k, 1);
        check_ok(alone[k].ctx, do_study(&alone[k]));
        check(alone[k].result.max_displacement > 1e-4);
    }
    for (int k = 0; k < 2 * CASES; k++) {
        together[k] = make_study(&f, k % CASES, 1 + k / CASES); /* each twice: with one thread, and with two */
        check_int(pthread_create(&threads[k], NULL, run_study, &together[k]), 0);
    }
    for (int k = 0; k < 2 * CASES; k++)
        pthread_join(threads[k], NULL);
    const size_t bytes = (size_t)f.n * sizeof(double);
    for (int k = 0; k < 2 * CASES; k++) {
        const study *one = &alone[k % CASES], *other = &together[k];
        check_ok(other->ctx, other->status);
        check(!memcmp(one->u, other->u, bytes) && !memcmp(one->q, other->q, 3 * bytes));
        check(!memcmp(one->hz, other->hz, sizeof one->hz));
        check(one->result.iterations == other->result.iterations && one->result.energy == other->result.energy);
    }
    for (int k = 0; k < CASES; k++) /* and no load case has come to look like another */
        check(memcmp(alone[k].u, alone[(k + 1) % CASES].u, bytes));
    for (int k = 0; k < 2 * CASES; k++)
        free_study(&together[k]);
    for (int k = 0; k < CASES; k++)
        free_study(&alone[k]);
    clean(ctx, &f);
    bough_context_destroy(ctx);
}

static void a_load_case_of_another_body_is_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    fixture f = make_fixture(ctx), other = make_fixture(ctx);
    double *u = calloc((size_t)f.n, sizeof *u);
    bough_static_result result;
    bough_modes *modes;
    bo_system system;
    const char *why = "made for another body";
    check_fails(ctx, bough_body_static(ctx, f.body, other.load_cases[0], NULL, u, &result), BOUGH_ERROR_ARGUMENT, why);
    check_fails(ctx, bough_body_modes(ctx, f.body, other.load_cases[0], 2, NULL, &modes), BOUGH_ERROR_ARGUMENT, why);
    check_fails(ctx, bo_body_system_create(ctx, f.body, other.load_cases[0], &system), BOUGH_ERROR_ARGUMENT, why);
    check(bough_load_case_body(f.load_cases[0]) == f.body);
    free(u);
    clean(ctx, &f);
    clean(ctx, &other);
    bough_context_destroy(ctx);
}

/* Without a load case nothing holds the body, and nothing acts. */
static void no_load_case_is_one_without_supports_and_loads(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    fixture f = make_fixture(ctx);
    double *u = calloc((size_t)f.n, sizeof *u);
    bough_static_result result;
    bough_modes *modes[2];
    bough_load_case *empty;
    check_ok(ctx, bough_load_case_create(ctx, f.body, &empty));
    check_fails(ctx, bough_body_static(ctx, f.body, NULL, NULL, u, &result), BOUGH_ERROR_SINGULAR, "fix more vertices");
    check_ok(ctx, bough_body_modes(ctx, f.body, NULL, 8, NULL, &modes[0]));
    check_ok(ctx, bough_body_modes(ctx, f.body, empty, 8, NULL, &modes[1]));
    check_int(modes[0]->rigid_count, 6);
    check(!memcmp(modes[0]->shapes, modes[1]->shapes, 8 * (size_t)f.n * sizeof(double)));
    bough_load_case_forces(empty, NULL, u);
    for (int32_t i = 0; i < f.n; i++)
        check(u[i] == 0);
    for (int k = 0; k < 2; k++)
        bough_modes_destroy(ctx, modes[k]);
    bough_load_case_destroy(ctx, empty);
    free(u);
    clean(ctx, &f);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_cases_of_one_body_are_solved_at_the_same_time),
        cmocka_unit_test(a_load_case_of_another_body_is_refused),
        cmocka_unit_test(no_load_case_is_one_without_supports_and_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
