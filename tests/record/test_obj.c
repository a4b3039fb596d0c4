/* Wavefront files hold the surface that was put into them. */
#include "test.h"

#include <bough/mesh.h>
#include <bough/record.h>

static const float positions[5][3] = {{0, 0, 0}, {1.5f, 0, 0}, {0, 1e-7f, 0}, {0, 0, -3}, {1, 1, 1}};
static const float normals[5][3] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {0, 0, -1}, {0.6f, 0.8f, 0}};
static const int32_t triangles[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 4}, {2, 1, 4}};
static const bough_obj_group groups[3] = {{"a leaf", 1}, {NULL, 1}, {"b", 2}};

static void a_surface_comes_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int n = 0; n < 2; n++) {
        bough_mesh *mesh;
        check_ok(ctx, bough_obj_write(ctx, test_path("a.obj"), 5, positions[0], n ? normals[0] : NULL, triangles[0], 3,
                                      groups));
        check_ok(ctx, bough_mesh_read(ctx, test_path("a.obj"), NULL, &mesh));
        check_int(mesh->vertex_count, 5);
        check_int(mesh->element_count, 4);
        for (int i = 0; i < 15; i++)
            check((float)mesh->vertices[i] == positions[i / 3][i % 3]);
        for (int i = 0; i < 12; i++)
            check_int(mesh->elements[i], triangles[i / 3][i % 3]);
        check_int(bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, "a_leaf")->count, 1);
        check_int(bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, "1")->items[0], 1);
        check_int(bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, "b")->items[1], 3);
        bough_mesh_destroy(ctx, mesh);
    }
    FILE *f = fopen(test_path("a.obj"), "r");
    char line[80];
    int found = 0;
    while (f && fgets(line, sizeof line, f))
        found += !strcmp(line, "vn 0.6 0.8 0\n") || !strcmp(line, "f 2//2 4//4 5//5\n");
    fclose(f);
    check_int(found, 2);
    bough_context_destroy(ctx);
}

static void mistakes_are_refused_and_leave_nothing(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const float bad[5][3] = {{0, NAN, 0}};
    const bough_obj_group wrong = {"x", -1};
    const char *path = test_path("b.obj");
    check_fails(ctx, bough_obj_write(ctx, path, 5, bad[0], NULL, triangles[0], 3, groups), BOUGH_NOT_FINITE,
                "vertex 0");
    check_fails(ctx, bough_obj_write(ctx, path, 5, positions[0], bad[0], triangles[0], 3, groups), BOUGH_NOT_FINITE,
                "vertex 0");
    check_fails(ctx, bough_obj_write(ctx, path, 4, positions[0], NULL, triangles[0], 3, groups), BOUGH_ERROR_ARGUMENT,
                "vertex 4 does not exist");
    check_fails(ctx, bough_obj_write(ctx, path, 5, positions[0], NULL, triangles[0], 1, &wrong), BOUGH_ERROR_ARGUMENT,
                "-1 triangles");
    check_fails(ctx, bough_obj_write(ctx, test_path("no/b.obj"), 5, positions[0], NULL, triangles[0], 3, groups),
                BOUGH_ERROR_FILE, "no/b.obj");
    check(access(path, F_OK) != 0);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_surface_comes_back),
        cmocka_unit_test(mistakes_are_refused_and_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
