/* Bodies and loads at the edge of what makes sense: no load, loose or missing supports, unused vertices, several
 * pieces, supports that move, places far from the origin. */
#include "test.h"

#include "fem/drive.h"
#include "fem/shape.h"

#include <bough/fem.h>

static bough_mesh *make_bar(bough_context *ctx, bough_element_type type, double origin) {
    bough_box_def def = bough_default_box_def();
    def.type = type;
    def.origin[0] = origin;
    def.size[0] = 1, def.size[1] = def.size[2] = 0.25;
    def.cells[0] = 4, def.cells[1] = def.cells[2] = 2;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    return mesh;
}

static bough_body *make_body(bough_context *ctx, const bough_mesh *mesh, bough_material_model model,
                             bough_load_case **load_case) {
    bough_body_def def = bough_default_body_def();
    def.material.model = model;
    bough_body *body;
    check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
    check_ok(ctx, bough_load_case_create(ctx, body, load_case));
    return body;
}

static void hold(bough_context *ctx, bough_load_case *load_case, const char *where, int axes,
                 const double *displacement) {
    int32_t *vertices, count;
    check_ok(ctx, bough_mesh_select(ctx, bough_body_mesh(bough_load_case_body(load_case)), where, &vertices, &count));
    check_ok(ctx, bough_load_case_fix(ctx, load_case, vertices, count, axes, displacement));
    bough_release(ctx, vertices);
}

static const double gravity[3] = {0, 0, -9.81};

/* Without load a body stays at rest, and goes back to it from a bent state. */
static void no_load_means_rest(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
            bough_mesh *mesh = make_bar(ctx, (bough_element_type)type, 0);
            bough_load_case *load_case;
            bough_body *body = make_body(ctx, mesh, (bough_material_model)model, &load_case);
            double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
            bough_static_result result;
            bough_load_case *loaded;
            check_ok(ctx, bough_load_case_create(ctx, body, &loaded));
            hold(ctx, load_case, "x0", BOUGH_AXES, NULL);
            hold(ctx, loaded, "x0", BOUGH_AXES, NULL);
            check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
            check(result.converged);
            check_below(result.max_displacement, 1e-12);
            check_ok(ctx, bough_load_case_set_gravity(ctx, loaded, gravity));
            check_ok(ctx, bough_body_static(ctx, body, loaded, NULL, u, &result));
            check(result.max_displacement > 0.01);
            check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
            check_below(result.max_displacement, 1e-9);
            check_below(result.residual, 1e-9);
            free(u);
            bough_load_case_destroy(ctx, loaded);
            bough_load_case_destroy(ctx, load_case);
            bough_body_destroy(ctx, body);
            bough_mesh_destroy(ctx, mesh);
        }
    bough_context_destroy(ctx);
}

/* A body that can still turn or slide is told from a held one, also where rounding makes its tangent regular; its modes
 * say how many ways it can move, whether or not a flexible mode was asked for. */
static void loose_bodies_are_recognised(void **state) {
    (void)state;
    static const struct {
        const char *where;
        int axes, rigid;
    } cases[] = {{NULL, 0, 6},
                 {"nearest:0,0,0", BOUGH_AXES, 3},
                 {"nearest:0,0,0 | nearest:0,0.25,0", BOUGH_AXES, 1},
                 {"x0", BOUGH_AXIS_X, 3},
                 {"x0", BOUGH_AXIS_X | BOUGH_AXIS_Y, 1},
                 {"x0", BOUGH_AXES, 0}};
    bough_context *ctx = test_context(1);
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        bough_mesh *mesh = make_bar(ctx, (bough_element_type)type, 0);
        for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
            for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
                bough_load_case *load_case;
                bough_body *body = make_body(ctx, mesh, (bough_material_model)model, &load_case);
                if (cases[c].where)
                    hold(ctx, load_case, cases[c].where, cases[c].axes, NULL);
                check_ok(ctx, bough_load_case_set_gravity(ctx, load_case, gravity));
                double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
                bough_static_result result;
                check_int(bough_body_static(ctx, body, load_case, NULL, u, &result),
                          cases[c].rigid ? BOUGH_ERROR_SINGULAR : BOUGH_OK);
                if (cases[c].rigid)
                    check(strstr(bough_message(ctx), "fix more vertices") != NULL);
                free(u);
                static const int counts[] = {1, 6, 9};
                for (int k = 0; k < 3; k++) {
                    bough_modes *modes;
                    check_ok(ctx, bough_body_modes(ctx, body, load_case, counts[k], NULL, &modes));
                    check_int(modes->rigid_count, cases[c].rigid < counts[k] ? cases[c].rigid : counts[k]);
                    bough_modes_destroy(ctx, modes);
                }
                bough_load_case_destroy(ctx, load_case);
                bough_body_destroy(ctx, body);
            }
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static bough_mesh *join(bough_context *ctx, const bough_mesh *a, const bough_mesh *b) {
    size_t na = (size_t)a->vertex_count, nb = (size_t)b->vertex_count;
    size_t ea = (size_t)(a->element_count * bough_element_node_count(a->type));
    size_t eb = (size_t)(b->element_count * bough_element_node_count(b->type));
    double *x = malloc(3 * (na + nb) * sizeof *x);
    int32_t *e = malloc((ea + eb) * sizeof *e);
    memcpy(x, a->vertices, 3 * na * sizeof *x);
    memcpy(x + 3 * na, b->vertices, 3 * nb * sizeof *x);
    memcpy(e, a->elements, ea * sizeof *e);
    for (size_t i = 0; i < eb; i++)
        e[ea + i] = b->elements[i] + (int32_t)na;
    bough_mesh *mesh;
    check_ok(ctx,
             bough_mesh_create(ctx, a->type, (int32_t)(na + nb), x, a->element_count + b->element_count, e, &mesh));
    free(x);
    free(e);
    return mesh;
}

static void each_piece_has_its_own_rigid_modes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *left = make_bar(ctx, BOUGH_TET4, 0), *right = make_bar(ctx, BOUGH_TET4, 3);
    bough_mesh *both = join(ctx, left, right);
    bough_load_case *load_case;
    bough_body *body = make_body(ctx, both, BOUGH_MATERIAL_STVK, &load_case);
    bough_modes *modes;
    check_ok(ctx, bough_body_modes(ctx, body, load_case, 15, NULL, &modes));
    check_int(modes->rigid_count, 12);
    bough_modes_destroy(ctx, modes);
    hold(ctx, load_case, "x=0", BOUGH_AXES, NULL);
    check_ok(ctx, bough_body_modes(ctx, body, load_case, 8, NULL, &modes));
    check_int(modes->rigid_count, 6);
    bough_modes_destroy(ctx, modes);
    double *u = calloc(3 * (size_t)both->vertex_count, sizeof *u);
    bough_static_result result;
    check_int(bough_body_static(ctx, body, load_case, NULL, u, &result), BOUGH_ERROR_SINGULAR);
    hold(ctx, load_case, "x=3", BOUGH_AXES, NULL);
    check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
    free(u);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, both);
    bough_mesh_destroy(ctx, left);
    bough_mesh_destroy(ctx, right);
    bough_context_destroy(ctx);
}

/* Mesh programs leave vertices behind that no element uses (centres of circles): they change no result. */
static void unused_vertices_change_nothing(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make_bar(ctx, BOUGH_TET10, 0), *more;
    size_t n = (size_t)mesh->vertex_count;
    double *x = malloc(3 * (n + 2) * sizeof *x);
    memcpy(x + 3, mesh->vertices, 3 * n * sizeof *x);
    x[0] = 1e3, x[1] = x[2] = 0.1;
    x[3 * n + 3] = 0, x[3 * n + 4] = x[3 * n + 5] = 0.1; /* in the plane that is held */
    int32_t entries = 10 * mesh->element_count, *elements = malloc((size_t)entries * sizeof *elements);
    for (int32_t i = 0; i < entries; i++)
        elements[i] = mesh->elements[i] + 1;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TET10, (int32_t)n + 2, x, mesh->element_count, elements, &more));
    free(elements);
    free(x);

    double frequencies[2][8], displacement[2];
    for (int k = 0; k < 2; k++) {
        bough_load_case *load_case;
        bough_body *body = make_body(ctx, k ? more : mesh, BOUGH_MATERIAL_STVK, &load_case);
        bough_modes *modes;
        check_ok(ctx, bough_body_modes(ctx, body, load_case, 8, NULL, &modes));
        check_int(modes->rigid_count, 6);
        memcpy(frequencies[k], modes->frequencies_hz, sizeof frequencies[k]);
        bough_modes_destroy(ctx, modes);
        hold(ctx, load_case, "x=0", BOUGH_AXES, NULL);
        check_ok(ctx, bough_load_case_set_gravity(ctx, load_case, gravity));
        double *u = calloc(3 * n + 6, sizeof *u);
        bough_static_result result;
        check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
        displacement[k] = result.max_displacement;
        free(u);
        if (k) {
            int32_t unused = 0, mixed[2] = {0, 5};
            const double force[3] = {1, 2, 3};
            check_int(bough_load_case_add_force(ctx, load_case, &unused, 1, force), BOUGH_ERROR_ARGUMENT);
            bough_load_case *pushed;
            check_ok(ctx, bough_load_case_create(ctx, body, &pushed));
            check_ok(ctx, bough_load_case_add_force(ctx, pushed, mixed, 2, force));
            double *f = calloc(3 * n + 6, sizeof *f);
            bough_load_case_forces(pushed, NULL, f);
            check_near(f[15], 1, 1e-15);
            bough_load_case_destroy(ctx, pushed);
            free(f);
        }
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
    }
    for (int k = 6; k < 8; k++)
        check_near(frequencies[1][k], frequencies[0][k], 1e-9 * frequencies[0][k]);
    check_near(displacement[1], displacement[0], 1e-9);
    bough_mesh_destroy(ctx, mesh);
    bough_mesh_destroy(ctx, more);
    bough_context_destroy(ctx);
}

/* A support that moves further than one step can follow: the body is compressed until its tangent is indefinite, and
 * still ends with the support where it was told to be. */
static void supports_move_all_the_way(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++) {
        if (model == BOUGH_MATERIAL_STVK)
            continue; /* softens without limit in compression */
        bough_mesh *mesh = make_bar(ctx, BOUGH_HEX8, 0);
        bough_load_case *load_case;
        bough_body *body = make_body(ctx, mesh, (bough_material_model)model, &load_case);
        const double squash[3] = {-0.5, 0, 0};
        hold(ctx, load_case, "x0", BOUGH_AXES, NULL);
        hold(ctx, load_case, "x1", BOUGH_AXES, squash);
        double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
        bough_static_result result;
        check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
        const bough_set *end = bough_mesh_find_set(mesh, BOUGH_SET_VERTEX, "x1");
        for (int32_t i = 0; i < end->count; i++)
            check_near(u[3 * end->items[i]], -0.5, 1e-14);
        double energy;
        check_ok(ctx, bough_body_evaluate(ctx, body, u, false, &energy, NULL, NULL));
        check_near(result.energy, energy, 1e-12 * energy);
        free(u);
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

/* When a load cannot be carried, the result speaks about the state that is handed back. */
static void a_failed_load_reports_the_accepted_state(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make_bar(ctx, BOUGH_HEX8, 0);
    bough_load_case *load_case;
    bough_body *body = make_body(ctx, mesh, BOUGH_MATERIAL_STVK, &load_case);
    const double heavy[3] = {-1e5, 0, 0};
    hold(ctx, load_case, "x0", BOUGH_AXES, NULL);
    check_ok(ctx, bough_load_case_set_gravity(ctx, load_case, heavy));
    bough_static_def def = bough_default_static_def();
    def.load_steps = 10000; /* small enough for some to succeed */
    def.min_step = 1e-4;
    def.max_iterations = 6;
    double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u), energy;
    bough_static_result result;
    check_int(bough_body_static(ctx, body, load_case, &def, u, &result), BOUGH_NO_CONVERGENCE);
    check(!result.converged && result.steps > 0 && result.load_fraction < 1);
    check_ok(ctx, bough_body_evaluate(ctx, body, u, false, &energy, NULL, NULL));
    check_near(result.energy, energy, 1e-12 * energy);
    free(u);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void inertia_does_not_depend_on_the_place(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_body_properties near_origin, far;
    for (int k = 0; k < 2; k++) {
        bough_mesh *mesh = make_bar(ctx, BOUGH_HEX8, k ? 65536 : 0); /* coordinates stay exact */
        bough_load_case *load_case;
        bough_body *body = make_body(ctx, mesh, BOUGH_MATERIAL_STVK, &load_case);
        check_ok(ctx, bough_body_measure(ctx, body, k ? &far : &near_origin));
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
        bough_mesh_destroy(ctx, mesh);
    }
    check_near(far.centre[0], 65536.5, 1e-10);
    for (int i = 0; i < 9; i++)
        check_near(far.inertia[i], near_origin.inertia[i], 1e-10 * near_origin.inertia[0]);
    bough_context_destroy(ctx);
}

/* Integral of x^i y^j z^k: i! j! k! / (i + j + k + 3)! over the tet, 2^3 / ((i + 1) (j + 1) (k + 1)) over the hex for
 * even ones. */
static double monomial(bool hex, const int power[3]) {
    double value = 1;
    int sum = 0;
    for (int d = 0; d < 3; sum += power[d++]) {
        if (hex)
            value *= power[d] % 2 ? 0 : 2.0 / (power[d] + 1);
        for (int i = 2; i <= power[d] && !hex; i++)
            value *= i;
    }
    for (int i = 2; i <= sum + 3 && !hex; i++)
        value /= i;
    return value;
}

/* As many points as the degree wants and no more: exact up to it, and not one further. */
static void rules_are_exact_up_to_their_degree(void **state) {
    (void)state;
    static const double corners[2][8][3] = {
        {{0}, {1}, {0, 1}, {0, 0, 1}},
        {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}}};
    static const struct {
        bough_element_type type;
        bo_rule_kind kind;
        int points, degree;
    } known[] = {{BOUGH_TET4, BO_RULE_STIFFNESS, 1, 1},  {BOUGH_TET4, BO_RULE_MASS, 4, 2},
                 {BOUGH_HEX8, BO_RULE_STIFFNESS, 8, 3},  {BOUGH_HEX8, BO_RULE_MASS, 27, 5},
                 {BOUGH_TET10, BO_RULE_STIFFNESS, 4, 0}, {BOUGH_TET10, BO_RULE_MASS, 15, 0}};
    for (int r = 0; r < 6; r++) {
        const bo_rule *rule = bo_rule_of(known[r].type, known[r].kind);
        const bool hex = known[r].type == BOUGH_HEX8;
        double worst[2] = {0, 0}; /* up to the degree; just beyond it */
        check_int(rule->point_count, known[r].points);
        for (int code = 0; code < 343; code++) {
            const int power[3] = {code % 7, code / 7 % 7, code / 49}, sum = power[0] + power[1] + power[2];
            if (sum > known[r].degree + 1 || (sum > 0 && known[r].degree == 0)) /* tet10: its nodes are no corners */
                continue;
            double found = 0;
            for (int q = 0; q < rule->point_count; q++) {
                double value = rule->weight[q];
                for (int d = 0; d < 3; d++) {
                    double x = 0;
                    for (int a = 0; a < rule->node_count && sum > 0; a++)
                        x += rule->N[q][a] * corners[hex][a][d];
                    value *= pow(x, power[d]);
                }
                found += value;
            }
            const bool beyond = sum > known[r].degree;
            worst[beyond] = fmax(worst[beyond], fabs(found - monomial(hex, power)));
        }
        check_near(worst[0], 0, 1e-14);
        check(known[r].degree == 0 || worst[1] > 1e-4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_exact_up_to_their_degree),
        cmocka_unit_test(no_load_means_rest),
        cmocka_unit_test(loose_bodies_are_recognised),
        cmocka_unit_test(each_piece_has_its_own_rigid_modes),
        cmocka_unit_test(unused_vertices_change_nothing),
        cmocka_unit_test(supports_move_all_the_way),
        cmocka_unit_test(a_failed_load_reports_the_accepted_state),
        cmocka_unit_test(inertia_does_not_depend_on_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
