/* Stress of parts: the same as of a body of their size and stiffness, in the axes of the world; and the largest of all
 * parts, computed side by side, is the largest of the points one by one. */
#include "bars.h"
#include "garden.h"

#include "base/rotation.h"

enum { POINTS = 5, ROOTS = 7, ARMS = 23, PARTS = ROOTS * (ARMS + 1) };

/* ---- all parts at once ---- */

static int32_t points_of_each = POINTS;
enum { GAUGES = 3 };
static int32_t gauges_of_each;

/* Stress points with random gradients, of two materials of one kind; their strain may depend on that at gauges. */
static void add_points(garden *g, int32_t kind, bough_material *materials, test_random *random) {
    grown *k = g->kinds[kind];
    int32_t *material = grown_take(k, POINTS, sizeof *material);
    for (int i = 0; i < POINTS; i++)
        material[i] = i == 2;
    k->c.stress = (bough_material_points){.count = points_of_each,
                                          .position = grown_randoms(k, random, 3 * POINTS, 1),
                                          .element = grown_take(k, POINTS, sizeof(int32_t)),
                                          .material = material,
                                          .gradient = grown_randoms(k, random, POINTS * 9 * (size_t)k->c.r, 0.3)};
    if (gauges_of_each > 0)
        k->c.gauges = (bough_stress_gauges){
            .count = gauges_of_each,
            .gradient = grown_randoms(k, random, GAUGES * 9 * (size_t)k->c.r, 0.3),
            .D = grown_randoms(k, random, POINTS * 6 * (6 * (size_t)gauges_of_each + BOUGH_SEAM), 0.05)};
    k->c.materials = materials, k->c.material_count = 2;
}

/* Roots with arms of three kinds, one of them rigid: more than one task takes, and than fill whole vectors. */
static void build(garden *g, bough_material *materials) {
    test_random random = {3};
    const int32_t trunk = add_kind(g, 5, ARMS + 1, BOUGH_REDUCED_POLYNOMIAL, false);
    const int32_t kinds[] = {add_kind(g, 7, 2, BOUGH_REDUCED_POLYNOMIAL, false),
                             add_kind(g, 3, 2, BOUGH_REDUCED_LINEAR, false), add_kind(g, 0, 2, 0, false)};
    add_points(g, trunk, materials, &random);
    for (int k = 0; k < 2; k++)
        add_points(g, kinds[k], materials, &random);
    for (int32_t root = 0; root < PARTS; root += ARMS + 1) {
        add_part(g, &random, trunk, -1, 0);
        for (int32_t i = 1; i <= ARMS; i++)
            add_part(g, &random, kinds[i % 5 == 4 ? 2 : i % 2], root, i);
    }
    plant(g);
    for (int32_t l = 0; l < bough_tree_model_size(g->model); l++)
        g->state->q[l] = test_uniform(&random, -0.2, 0.2);
    for (int32_t p = 0; p < g->def.part_count; p++)
        g->state->stiffness[p] = test_uniform(&random, 0.5, 2);
    check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
}

static double largest(const garden *g, int32_t part) {
    const int32_t count = g->components[g->parts[part].component]->stress.count;
    double most = 0;
    for (int32_t i = 0; i < count; i++) {
        bough_stress s;
        check_ok(g->ctx, bough_tree_state_stress(g->ctx, g->model, g->state, part, i, &s));
        most = fmax(most, s.von_mises);
    }
    return most;
}

static void peaks_are_the_largest_of_the_points(void **state) {
    (void)state;
    for (int round = 0; round < 2 * BOUGH_MATERIAL_MODEL_COUNT; round++) {
        bough_material materials[2] = {bough_default_material(), bough_default_material()};
        for (int m = 0; m < 2; m++)
            materials[m].model = (bough_material_model)(round / 2), materials[m].young = m ? 3e5 : 1e5;
        gauges_of_each = round % 2 ? GAUGES : 0;
        double peaks[2][PARTS];
        for (int threads = 0; threads < 2; threads++) {
            garden g = till(threads ? 3 : 1);
            build(&g, materials);
            bough_tree_state_peak_stresses(g.ctx, g.model, g.state, peaks[threads]);
            for (int32_t p = 0; p < g.def.part_count; p++) {
                const double most = largest(&g, p);
                check_near(peaks[threads][p], most, 1e-11 * most);
                check(g.components[g.parts[p].component]->r == 0 ? most == 0 : most > 1e3);
                check(peaks[threads][p] == peaks[0][p]);
            }
            clear(&g);
        }
    }
    gauges_of_each = 0;
}

static void what_is_turned_inside_out_is_told(void **state) {
    (void)state;
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++) {
        bough_material materials[2] = {bough_default_material(), bough_default_material()};
        materials[0].model = materials[1].model = (bough_material_model)model;
        garden g = till(1);
        build(&g, materials);
        double *gradient = (double *)g.kinds[1]->c.stress.gradient + 3 * 9 * 7, peaks[PARTS];
        memset(gradient, 0, 9 * 7 * sizeof *gradient);
        gradient[0] = 1; /* point 3: F = diag(1 + q_0, 1, 1) */
        bough_stress s;
        const int32_t part = 2; /* of that kind */
        check_int(g.parts[part].component, 1);
        g.state->q[bough_tree_model_offset(g.model, part)] = -1.1;
        check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
        bough_tree_state_peak_stresses(g.ctx, g.model, g.state, peaks);
        check(isinf(peaks[part]) && isfinite(peaks[4]) && isfinite(peaks[0]));
        check_fails(g.ctx, bough_tree_state_stress(g.ctx, g.model, g.state, part, 3, &s), BOUGH_NOT_FINITE,
                    "inside out");
        check_fails(g.ctx, bough_tree_state_stress(g.ctx, g.model, g.state, part, POINTS, &s), BOUGH_ERROR_ARGUMENT,
                    "has no stress point 5; it has 5");
        check_fails(g.ctx, bough_tree_state_stress(g.ctx, g.model, g.state, part, -1, &s), BOUGH_ERROR_ARGUMENT,
                    "point -1");
        check_fails(g.ctx, bough_tree_state_stress(g.ctx, g.model, g.state, PARTS, 0, &s), BOUGH_ERROR_ARGUMENT,
                    "does not exist");
        check_fails(g.ctx, bough_tree_state_stress(g.ctx, g.model, g.state, -1, 0, &s), BOUGH_ERROR_ARGUMENT,
                    "does not exist");
        clear(&g);
    }
}

/* ---- the field over the surface ---- */

static int32_t vertices_of(const garden *g, int32_t part) {
    return g->components[g->parts[part].component]->surface.vertex_count;
}

/* One point tells the stress of the whole part, in any material; components of before there were fields have none. */
static void a_single_point_colours_its_part(void **state) {
    (void)state;
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++) {
        bough_material materials[2] = {bough_default_material(), bough_default_material()};
        materials[0].model = materials[1].model = (bough_material_model)model;
        float *found[2];
        for (int threads = 0; threads < 2; threads++) {
            garden g = till(threads ? 3 : 1);
            points_of_each = 1;
            build(&g, materials);
            points_of_each = POINTS;
            const size_t count = (size_t)bough_tree_model_vertex_count(g.model);
            check(count > 100);
            found[threads] = malloc(count * sizeof *found[threads]);
            g.state->continuity = BOUGH_CONTINUITY_NONE;
            bough_tree_state_surface_stress(g.ctx, g.model, g.state, found[threads]);
            for (int32_t p = 0; p < g.def.part_count; p++) {
                const double most = largest(&g, p);
                float alone[64];
                check(vertices_of(&g, p) <= 64);
                check_ok(g.ctx, bough_tree_state_part_surface_stress(g.ctx, g.model, g.state, p, alone));
                for (int32_t v = 0; v < vertices_of(&g, p); v++) {
                    const float here = found[threads][bough_tree_model_first_vertex(g.model, p) + v];
                    check_near(here, most, 2e-5 * most);
                    check(alone[v] == here);
                }
            }
            if (threads)
                check(memcmp(found[0], found[1], count * sizeof *found[0]) == 0);
            clear(&g);
        }
        free(found[0]), free(found[1]);
    }
}

static void levels_are_parts_of_the_largest(void **state) {
    (void)state;
    const float values[] = {0, 1, 50, 100, 1e9f, INFINITY};
    const uint8_t wanted[] = {0, 3, 128, 255, 255, 255};
    uint8_t levels[6];
    bough_stress_levels(6, values, 100, levels);
    check(memcmp(levels, wanted, sizeof levels) == 0);
    bough_stress_levels(6, values, 0, levels);
    check_int(levels[3], 0);
}

/* ---- a bar under its weight ---- */

typedef struct {
    bough_component *c;
    bough_tree_model *model;
    bough_tree_state *state;
} hanging_bar;

/* Settled under gravity across its length; all turned by R. */
static hanging_bar hang(bough_context *ctx, bar_def bar, double scale, double stiffness, bo_mat3 R) {
    kitchen k = open_kitchen(ctx, bar, 8);
    cook_in(&k);
    hanging_bar h = {.c = k.c};
    k.c = NULL;
    close_kitchen(&k);
    bough_part_def part = bough_default_part_def();
    part.scale = scale, part.stiffness = stiffness;
    memcpy(part.rotation, R.m, sizeof R.m);
    bough_tree_model_def def = bough_default_tree_model_def();
    const bough_component *components[1] = {h.c};
    def.component_count = def.part_count = 1;
    def.components = components, def.parts = &part;
    bo_store3(def.gravity, bo_mat_vec(R, bo_v3(0, 1, -3)));
    check_ok(ctx, bough_tree_model_create(ctx, &def, &h.model));
    check_ok(ctx, bough_tree_state_create(ctx, h.model, &h.state));
    bough_tree_settle_def settle = bough_default_tree_settle_def();
    settle.tolerance = 1e-11;
    check_ok(ctx, bough_tree_state_settle(ctx, h.model, h.state, &settle, NULL));
    return h;
}

static void drop(bough_context *ctx, hanging_bar *h) {
    bough_tree_state_destroy(ctx, h->state);
    bough_tree_model_destroy(ctx, h->model);
    bough_component_destroy(ctx, h->c);
}

static bo_mat3 matrix_of(const double s[6]) {
    return (bo_mat3){{s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2]}};
}

/* The same stresses at all points; the second turned by R. */
static void check_same_stress(bough_context *ctx, const hanging_bar *a, const hanging_bar *b, bo_mat3 R) {
    for (int32_t i = 0; i < a->c->stress.count; i++) {
        bough_stress s, t;
        check_int(a->c->stress.element[i], b->c->stress.element[i]);
        check_ok(ctx, bough_tree_state_stress(ctx, a->model, a->state, 0, i, &s));
        check_ok(ctx, bough_tree_state_stress(ctx, b->model, b->state, 0, i, &t));
        const bo_mat3 turned = bo_mat_mul(bo_mat_mul(R, matrix_of(s.cauchy)), bo_transpose(R)), T = matrix_of(t.cauchy);
        const double size = s.von_mises;
        check(size > 100);
        for (int k = 0; k < 9; k++)
            check_near(T.m[k], turned.m[k], 1e-10 * size);
        check_near(t.von_mises, size, 5e-11 * size);
        check(t.principal[0] >= t.principal[1] && t.principal[1] >= t.principal[2]);
        for (int k = 0; k < 3; k++) {
            const bo_vec3 d = bo_load3(t.directions + 3 * k);
            check_near(t.principal[k], s.principal[k], 1e-10 * size);
            check_near(bo_norm(d), 1, 1e-12);
            check_near(bo_norm(bo_sub(bo_mat_vec(T, d), bo_scale(t.principal[k], d))), 0, 2e-13 * size);
        }
    }
}

/* Also the modes of the two may differ by their sign. */
static void a_part_has_the_stress_of_a_body_like_it(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bo_mat3 straight = bo_identity3(), turned = bo_exp3(bo_v3(0.7, -0.4, 1.1));
    bar_def bar = default_bar(), large = bar, stiff = bar;
    bar.type = large.type = stiff.type = BOUGH_HEX8;
    for (int d = 0; d < 3; d++)
        large.size[d] *= 2.5;
    stiff.young *= 4;
    hanging_bar plain = hang(ctx, bar, 1, 1, straight), around = hang(ctx, bar, 1, 1, turned);
    check_same_stress(ctx, &plain, &around, turned);
    hanging_bar scaled = hang(ctx, bar, 2.5, 1, turned), as_large = hang(ctx, large, 1, 1, straight);
    check_same_stress(ctx, &as_large, &scaled, turned);
    hanging_bar factor = hang(ctx, bar, 1, 2, straight), as_stiff = hang(ctx, stiff, 1, 1, straight);
    check_same_stress(ctx, &as_stiff, &factor, straight);
    hanging_bar *const all[] = {&plain, &around, &scaled, &as_large, &factor, &as_stiff};
    for (int i = 0; i < 6; i++)
        drop(ctx, all[i]);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_are_the_largest_of_the_points),     cmocka_unit_test(what_is_turned_inside_out_is_told),
        cmocka_unit_test(a_single_point_colours_its_part),         cmocka_unit_test(levels_are_parts_of_the_largest),
        cmocka_unit_test(a_part_has_the_stress_of_a_body_like_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
