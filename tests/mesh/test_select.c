/* Choosing vertices by names and coordinates, and the sentences that help when that goes wrong. */
#include "test.h"

#include <bough/mesh.h>

/* A unit cube of 4 x 4 x 4 cells with x = 0, 0.25, ... and a few sets with odd names. */
static bough_mesh *cube(bough_context *ctx, bough_element_type type) {
    bough_box_def def = bough_default_box_def();
    def.type = type;
    def.cells[0] = def.cells[1] = def.cells[2] = 4;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    const int32_t items[] = {7, 3};
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "a-b_c.d:e", items, 2));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "box:odd", items, 1));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "two words", items, 2));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "nothing", items, 0));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "first", (int32_t[]){0}, 1));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_FACE, "one face", (int32_t[]){0}, 1));
    return mesh;
}

static int32_t count_of(bough_context *ctx, const bough_mesh *mesh, const char *expression) {
    int32_t *vertices, count;
    check_ok(ctx, bough_mesh_select(ctx, mesh, expression, &vertices, &count));
    for (int32_t i = 1; i < count; i++)
        check(vertices[i - 1] < vertices[i]);
    bough_release(ctx, vertices);
    return count;
}

static void coordinates_choose_half_spaces_and_planes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = cube(ctx, BOUGH_HEX8);
    check_int(count_of(ctx, mesh, "all"), 125);
    check_int(count_of(ctx, mesh, "x<0.25"), 25);
    check_int(count_of(ctx, mesh, "x<=0.25"), 50);
    check_int(count_of(ctx, mesh, "x<=0.2499999999"), 50); /* closed half spaces contain their plane */
    check_int(count_of(ctx, mesh, "x<0.2500000001"), 50);
    check_int(count_of(ctx, mesh, " y >= 1 "), 25);
    check_int(count_of(ctx, mesh, "y>0.75"), 25);
    check_int(count_of(ctx, mesh, "z=0.5"), 25);
    check_int(count_of(ctx, mesh, "z==0.5000000001"), 25); /* the plane is 1e-9 diagonals thick */
    check_int(count_of(ctx, mesh, "x>-1e0"), 125);
    check_int(count_of(ctx, mesh, "box:0,0,0,0.25,0.25,1"), 20);
    check_int(count_of(ctx, mesh, "box: 0, 0, 0, .25, .25, 1 & z=1"), 4);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void and_binds_tighter_than_or(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = cube(ctx, BOUGH_HEX8);
    check_int(count_of(ctx, mesh, "x=0 | y=0 & z=0"), 25 + 5 - 1);
    check_int(count_of(ctx, mesh, "(x=0 | y=0) & z=0"), 9);
    check_int(count_of(ctx, mesh, "x0&y0&z0|x1&y1&z1"), 2);
    check_int(count_of(ctx, mesh, "((((x0))))&((y0|y1))"), 10);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void names_mean_vertices_of_sets_of_any_kind(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = cube(ctx, BOUGH_HEX8), *tets = cube(ctx, BOUGH_TET10);
    check_int(count_of(ctx, mesh, "a-b_c.d:e"), 2);
    check_int(count_of(ctx, mesh, "box:odd"), 1);
    check_int(count_of(ctx, mesh, "two words"), 2);
    check_int(count_of(ctx, mesh, "\"two words\" | x0"), 27);
    check_int(count_of(ctx, mesh, "first"), 8);
    check_int(count_of(ctx, mesh, "one face"), 4);
    check_int(count_of(ctx, tets, "first"), 10);
    check_int(count_of(ctx, tets, "one face"), 6);
    check_int(count_of(ctx, tets, "x0"), 81); /* corner and edge nodes: a 9 x 9 grid */
    bough_mesh_destroy(ctx, mesh);
    bough_mesh_destroy(ctx, tets);
    bough_context_destroy(ctx);
}

static void single_vertices_are_found_by_number_and_place(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = cube(ctx, BOUGH_HEX8);
    int32_t *vertices, count;
    check_ok(ctx, bough_mesh_select(ctx, mesh, "vertex:17", &vertices, &count));
    check_int(count, 1);
    check_int(vertices[0], 17);
    bough_release(ctx, vertices);
    check_ok(ctx, bough_mesh_select(ctx, mesh, "nearest:0.3,0,-2", &vertices, &count));
    check_int(count, 1);
    check_int(vertices[0], 1);
    bough_release(ctx, vertices);
    check_ok(ctx, bough_mesh_select(ctx, mesh, "nearest:0.125,0,0", &vertices, &count));
    check_int(vertices[0], 0); /* of two equally near ones the first */
    bough_release(ctx, vertices);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void mistakes_are_pointed_at(void **state) {
    (void)state;
    static const struct {
        const char *expression, *message;
    } cases[] = {
        {"x<abc", "column 3: expected a number, found \"abc\""},
        {"x<", "expected a number at the end"},
        {"x<1e999", "column 3: expected a number"},
        {"x<0.5.5", "column 3: expected a number"},
        {"x0 &", "at the end"},
        {"", "at the end"},
        {"x0 y0", "column 4: expected '&', '|' or the end, found \"y0\""},
        {"(x0", "closing parenthesis at the end"},
        {"x0)", "column 3"},
        {"nearest:1,2", "expected a comma at the end"},
        {"box:1,2,3,4,5", "expected a comma"},
        {"vertex:125", "vertex 125 does not exist; there are 125"},
        {"vertex:-1", "vertex -1 does not exist"},
        {"vertex:q", "column 8: expected a vertex number"},
        {"\"two words", "a closing quote"},
        {"fisrt", "did you mean \"first\"? (sets: x0, x1, y0, y1, z0, z1, a-b_c.d:e"},
        {"elephantine", "there is no set \"elephantine\" (sets: x0"},
        {"x>3", "contains no vertex; x ranges from 0 to 1"},
        {"x>3 & y<2", "x ranges from 0 to 1, y ranges from 0 to 1"},
        {"nothing", "contains no vertex"},
    };
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = cube(ctx, BOUGH_HEX8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t *vertices, count;
        check_fails(ctx, bough_mesh_select(ctx, mesh, cases[i].expression, &vertices, &count), BOUGH_ERROR_ARGUMENT,
                    cases[i].message);
        check(vertices == NULL && count == 0);
    }
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = cube(ctx, BOUGH_HEX8);
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH + 1);
    memset(text, '(', DEPTH);
    text[DEPTH] = 0;
    int32_t *vertices, count;
    check_fails(ctx, bough_mesh_select(ctx, mesh, text, &vertices, &count), BOUGH_ERROR_ARGUMENT, "deeper than 64");
    free(text);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    static const char *const expressions[] = {"x0 & y0 | x=1 & (z0 | y1)", "fisrt", "nearest:0,0,0"};
    bough_context *plain = test_context(1);
    bough_mesh *mesh = cube(plain, BOUGH_TET10);
    for (int i = 0; i < 3; i++) {
        bough_status status = BOUGH_ERROR_MEMORY;
        for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) { /* 0 is the context itself */
            test_memory memory = {.fail_at = fail_at};
            bough_context *ctx = test_counting_context(&memory);
            int32_t *vertices, count;
            status = bough_mesh_select(ctx, mesh, expressions[i], &vertices, &count);
            bough_release(ctx, vertices);
            bough_context_destroy(ctx);
            check_int(memory.live, 0);
            check(fail_at < 20);
        }
        check_int(status, i == 1 ? BOUGH_ERROR_ARGUMENT : BOUGH_OK);
    }
    bough_mesh_destroy(plain, mesh);
    bough_context_destroy(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_choose_half_spaces_and_planes),
        cmocka_unit_test(and_binds_tighter_than_or),
        cmocka_unit_test(names_mean_vertices_of_sets_of_any_kind),
        cmocka_unit_test(single_vertices_are_found_by_number_and_place),
        cmocka_unit_test(mistakes_are_pointed_at),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
