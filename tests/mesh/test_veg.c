/* Vega FEM files. */
#include "hostile.h"

static const char *cube(int base) {
    static bytes text;
    text.size = 0;
    put_text(&text, "# a cube\n*VERTICES\n8 3 0 0\n");
    for (int v = 0; v < 8; v++) {
        double x[3];
        unit_cube_corner(v, x);
        put_text(&text, "%d %g %g %g\n", v + base, x[0], x[1], x[2]);
    }
    put_text(&text, "\n*ELEMENTS\nTET\n6 4 0\n");
    for (int e = 0; e < 6; e++) {
        const int *n = unit_cube_tets[e];
        put_text(&text, "%d %d %d %d %d\n", e + base, n[0] + base, n[1] + base, n[2] + base, n[3] + base);
    }
    put_text(&text, "*MATERIAL STEEL\nENU, 7800, 2e11, 0.3\n*MATERIAL RUBBER\nENU, 1000, 1e6, 0.45\n");
    put_text(&text, "*SET low\n%d, %d,\n%d\n*SET high\n%d\n", base, base + 1, base + 3, base + 5);
    put_text(&text, "*REGION\nallElements, RUBBER\n*REGION\nlow, STEEL\n");
    return text.data;
}

static void check_cube(bough_context *ctx, bough_mesh *mesh) {
    check_int(mesh->type, BOUGH_TET4);
    check_int(mesh->vertex_count, 8);
    check_int(mesh->element_count, 6);
    check(mesh->vertices[3 * 5] == 1 && mesh->vertices[3 * 5 + 1] == 0 && mesh->vertices[3 * 5 + 2] == 1);
    check_int(mesh->elements[4 * 3 + 1], 5);
    const bough_set *low = check_set_count(mesh, BOUGH_SET_ELEMENT, "low", 3);
    check(low->items[0] == 0 && low->items[1] == 1 && low->items[2] == 3);
    check_int(mesh->material_count, 2);
    check(strcmp(mesh->materials[0].name, "STEEL") == 0 && mesh->materials[0].young == 2e11 &&
          mesh->materials[0].density == 7800 && mesh->materials[1].poisson == 0.45);
    check_int(mesh->region_count, 2);
    check(mesh->regions[0].set[0] == 0 && mesh->regions[0].material == 1);
    check(strcmp(mesh->regions[1].set, "low") == 0 && mesh->regions[1].material == 0);
    bough_mesh_destroy(ctx, mesh);
}

static void numbers_may_start_at_one_or_zero(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int base = 0; base < 2; base++)
        check_cube(ctx, must_read_text(ctx, in_file("a.veg"), cube(base)));
    bough_context_destroy(ctx);
}

static void sections_may_stand_in_any_order(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *text = cube(1), *elements = strstr(text, "*ELEMENTS"), *material = strstr(text, "*MATERIAL");
    bytes turned = {0};
    put_text(&turned, "%s%.*s%.*s", material, (int)(material - elements), elements, (int)(elements - text), text);
    check_cube(ctx, must_read(ctx, in_file("b.veg"), &turned));
    bytes_free(&turned);
    bough_context_destroy(ctx);
}

static void hexes_are_read(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bytes text = {0};
    put_text(&text, "*VERTICES\n8 3 0 0\n");
    for (int v = 0; v < 8; v++)
        put_text(&text, "%d %d %d %d\n", v + 1, v & 1, v >> 1 & 1, v >> 2);
    put_text(&text, "*ELEMENTS\nCUBIC\n1 8 0\n1");
    for (int i = 0; i < 8; i++)
        put_text(&text, " %d", unit_cube_hex[i] + 1);
    bough_mesh *mesh = must_read(ctx, in_file("hex.veg"), &text);
    bytes_free(&text);
    check_int(mesh->type, BOUGH_HEX8);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void included_files_are_read_from_beside_the_including_one(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *text = cube(1), *count = strstr(text, "8 3 0 0"), *elements = strstr(text, "*ELEMENTS"),
               *material = strstr(text, "*MATERIAL");
    mkdir(test_path("sub"), 0700);
    test_write(test_path("sub/cube.node"), count, (size_t)(elements - count));
    const char *rows = strstr(elements, "6 4 0");
    test_write(test_path("sub/cube.ele"), rows, (size_t)(material - rows));
    test_write_text(test_path("sub/rest.veg"), material);
    test_write_text(test_path("sub/main.veg"), "*VERTICES\n*INCLUDE cube.node\n*ELEMENTS\nTETS\n*INCLUDE cube.ele\n"
                                               "*INCLUDE rest.veg\n");
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_read(ctx, test_path("sub/main.veg"), NULL, &mesh));
    check_cube(ctx, mesh);
    survive_failing_allocations(in_file("sub/main.veg"), NULL, 0);
    test_write_text(test_path("sub/rest.veg"), "");
    /* The sentence names the included file and its line. */
    test_write_text(test_path("sub/cube.ele"), replaced("1 4 0\n1 1 2 4 8\n", "1 2 4 8", "1 4 2 8"));
    check_fails(ctx, bough_mesh_read(ctx, test_path("sub/main.veg"), NULL, &mesh), BOUGH_ERROR_FORMAT,
                "sub/cube.ele:2: element 1 is inverted");
    bough_context_destroy(ctx);
}

/* However another folder's file is named, none of its words comes out, and nor does whether it exists. */
static void includes_stay_in_the_folder_of_the_mesh(void **state) {
    (void)state;
    char absolute[600], text[700];
    static const char outside[] = "is not in the folder of the mesh file; copy it there";
    mkdir(test_path("home"), 0700);
    mkdir(test_path("home/part"), 0700);
    test_write_text(test_path("secret.veg"), "hunter2 is the word\n");
    snprintf(absolute, sizeof absolute, "%s", test_path("secret.veg"));
    unlink(test_path("home/link.veg"));
    unlink(test_path("home/up"));
    check(symlink(absolute, test_path("home/link.veg")) == 0 && symlink("..", test_path("home/up")) == 0);
    static const char *const names[] = {"../secret.veg",         "link.veg",    "up/secret.veg",
                                        "part/../../secret.veg", "../none.veg", "/nowhere/none.veg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(text, sizeof text, "*VERTICES\n*INCLUDE %s\n", names[i]);
        check_refused(in_file("home/main.veg"), text, BOUGH_ERROR_FORMAT, outside);
    }
    snprintf(text, sizeof text, "*INCLUDE %s\n", absolute);
    check_refused(in_file("home/main.veg"), text, BOUGH_ERROR_FORMAT, outside);
    snprintf(text, sizeof text, "*NODE, INPUT=%s\n", absolute);
    check_refused(in_file("home/main.inp"), text, BOUGH_ERROR_FORMAT, outside);
    /* An included file may include what lies above it, as long as that is in the mesh's folder. */
    test_write_text(test_path("home/part/a.veg"), "*INCLUDE ../b.veg\n");
    test_write_text(test_path("home/b.veg"), "what is this\n");
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    test_write_text(test_path("home/main.veg"), "*INCLUDE part/a.veg\n");
    check_fails(ctx, bough_mesh_read(ctx, test_path("home/main.veg"), NULL, &mesh), BOUGH_ERROR_FORMAT,
                "b.veg:1: expected");
    bough_context_destroy(ctx);
}

static void files_that_include_themselves_are_refused(void **state) {
    (void)state;
    check_refused(in_file("self.veg"), "*INCLUDE self.veg\n", BOUGH_ERROR_FORMAT, "includes itself");
    check_refused(in_file("self.veg"), "*INCLUDE ./self.veg\n", BOUGH_ERROR_FORMAT, "includes itself");
    test_write_text(test_path("loop_b.veg"), "*INCLUDE loop_a.veg\n");
    check_refused(in_file("loop_a.veg"), "*INCLUDE loop_b.veg\n", BOUGH_ERROR_FORMAT, "includes itself");
    check_refused(in_file("none.veg"), "*INCLUDE absent.veg\n", BOUGH_ERROR_FORMAT, "none.veg:1: the included file");
    unlink(test_path("pipe.veg"));
    check(mkfifo(test_path("pipe.veg"), 0600) == 0);
    check_refused(in_file("dev.veg"), "*INCLUDE pipe.veg\n", BOUGH_ERROR_FORMAT, "not a regular file");
    check_refused(in_file("no.veg"), "*INCLUDE\n", BOUGH_ERROR_FORMAT, "missing");
    char name[32], text[128];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "deep%d.veg", i);
        /* twice: without a limit on the number of files this would be read a million times */
        snprintf(text, sizeof text, "*INCLUDE deep%d.veg\n*INCLUDE deep%d.veg\n", i + 1, i + 1);
        test_write_text(test_path(name), text);
    }
    check_int(survives(in_files("deep0.veg", 100), NULL, 0), BOUGH_ERROR_FORMAT);
    test_write_text(test_path("deep12.veg"), "# end\n");
    check_int(survives(in_files("deep0.veg", 100), NULL, 0), BOUGH_ERROR_FORMAT);
}

static void refused(const char *from, const char *to, bough_status status, const char *part) {
    check_refused(in_file("bad.veg"), replaced(cube(1), from, to), status, part);
}

static void wrong_content_is_refused_with_its_line(void **state) {
    (void)state;
    refused("8 3 0 0", "9 3 0 0", BOUGH_ERROR_FORMAT, "bad.veg:13: 9 vertices are announced, but only 8");
    refused("8 3 0 0", "7 3 0 0", BOUGH_ERROR_FORMAT, "bad.veg:11: expected *VERTICES");
    refused("8 3 0 0", "2000000000 3 0 0", BOUGH_ERROR_FORMAT, "bad.veg:3: the number of vertices");
    refused("8 3 0 0", "9000000000000000000 3 0 0", BOUGH_ERROR_FORMAT, "bad.veg:3:");
    refused("8 3 0 0", "60000000 3 0 0", BOUGH_ERROR_FORMAT, "are announced, but only 8");
    refused("8 3 0 0", "-8 3 0 0", BOUGH_ERROR_FORMAT, "bad.veg:3:");
    refused("8 3 0 0", "8 3 -1 0", BOUGH_ERROR_FORMAT, "a small number of extra columns");
    refused("8 3 0 0", "8 3 0 1001", BOUGH_ERROR_FORMAT, "a small number of extra columns");
    refused("8 3 0 0", "8 3 x 0", BOUGH_ERROR_FORMAT, "a small number of extra columns");
    refused("8 3 0 0", "8 2 0 0", BOUGH_ERROR_FORMAT, "2 coordinates");
    refused("6 4 0", "7 4 0", BOUGH_ERROR_FORMAT, "7 elements are announced");
    refused("6 4 0", "6 5 0", BOUGH_ERROR_FORMAT, "not 5");
    refused("TET\n", "PRISM\n", BOUGH_ERROR_FORMAT, "PRISM");
    refused("1 1 2 4 8", "1 1 2 4 9", BOUGH_ERROR_FORMAT, "vertex 9 is not defined");
    refused("1 1 2 4 8", "1 1 2 4", BOUGH_ERROR_FORMAT, "the line ends");
    refused("1 1 2 4 8", "1 1 2 4 8 8", BOUGH_ERROR_FORMAT, "too many");
    refused("1 1 2 4 8", "1 1 2 4 4", BOUGH_ERROR_FORMAT, "one vertex twice");
    refused("2 1 0 0", "2 nan 0 0", BOUGH_ERROR_FORMAT, "bad.veg:5: a vertex coordinate is not a finite number");
    refused("2 1 0 0", "2 1 -inf 0", BOUGH_ERROR_FORMAT, "not a finite number");
    refused("2 1 0 0", "2 1 1e999 0", BOUGH_ERROR_FORMAT, "not a finite number");
    refused("2 1 0 0", "1 1 0 0", BOUGH_ERROR_FORMAT, "defined twice");
    refused("1, 2,", "1, 12,", BOUGH_ERROR_FORMAT, "element 12 is not defined");
    refused("*SET low", "*SET", BOUGH_ERROR_FORMAT, "needs a name");
    refused("*SET low", "*SET lower", BOUGH_ERROR_FORMAT, "found \"low\"");
    refused("low, STEEL", "low, WOOD", BOUGH_ERROR_FORMAT, "\"WOOD\" is not defined");
    refused("ENU, 7800, 2e11, 0.3", "ENU, 7800, 2e11, 0.5", BOUGH_ERROR_FORMAT, "no stable material");
    refused("ENU, 7800, 2e11, 0.3", "ORTHOTROPIC, 1, 2, 3", BOUGH_ERROR_UNSUPPORTED, "orthotropic");
    refused("ENU, 7800, 2e11, 0.3", "ENU, 7800", BOUGH_ERROR_FORMAT, "Young's modulus");
    refused("ENU, 7800, 2e11, 0.3", "ENU, 7800, 2e11, 0.3, 1", BOUGH_ERROR_FORMAT, "1 numbers too many");
    refused("*MATERIAL RUBBER", "*MATERIAL STEEL", BOUGH_ERROR_FORMAT, "twice");
    refused("*REGION", "*REGLON", BOUGH_ERROR_FORMAT, "*REGLON");
}

static void mooney_rivlin_becomes_its_small_strain_constants(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *text = replaced(cube(1), "ENU, 7800, 2e11, 0.3", "MOONEYRIVLIN, 1000, 3, 2, 50");
    bough_mesh *mesh = must_read_text(ctx, in_file("mr.veg"), text);
    double G = 10, K = 100; /* 2 (3 + 2), 2 * 50 */
    check_near(mesh->materials[0].young, 9 * K * G / (3 * K + G), 1e-12);
    check_near(mesh->materials[0].young / (2 * (1 + mesh->materials[0].poisson)), G, 1e-12);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void inverted_elements_are_refused_or_flipped_and_flat_ones_refused(void **state) {
    (void)state;
    refused("1 1 2 4 8", "1 1 4 2 8", BOUGH_ERROR_FORMAT, "bad.veg:16: element 1 is inverted");
    bough_context *ctx = test_context(1);
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = BOUGH_VOLUME_REPAIR;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_read(ctx, test_path("bad.veg"), &def, &mesh));
    check_int(mesh->elements[1], 1);
    bough_mesh_destroy(ctx, mesh);
    refused("1 1 2 4 8", "1 1 2 4 3", BOUGH_ERROR_FORMAT, "element 1 has no volume");
    check_fails(ctx, bough_mesh_read(ctx, test_path("bad.veg"), &def, &mesh), BOUGH_ERROR_FORMAT, "no volume");
    bough_context_destroy(ctx);
}

static void cut_files_are_survived(void **state) {
    (void)state;
    survive_every_truncation(in_file("cut.veg"), cube(1), strlen(cube(1)));
}
static void altered_files_are_survived(void **state) {
    (void)state;
    survive_mutations(in_file("mutant.veg"), cube(1), strlen(cube(1)), 4000);
}
static void failed_allocations_are_survived(void **state) {
    (void)state;
    test_write_text(test_path("memory.veg"), cube(1));
    survive_failing_allocations(in_file("memory.veg"), NULL, 0);
}
static void nonsense_is_refused(void **state) {
    (void)state;
    survive_garbage(in_file("nonsense.veg"), "*VERTICES\n8 3 0 0\n");
    refuse_paths(".veg");
    survive_long_lines_at(in_file("long.veg"), cube(1), (const char *const[]){"1 1 2 4 8", "low", "*VERT", NULL});
}

static void reference_meshes_are_read(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bough_element_type type;
        int32_t vertices, elements;
    } meshes[] = {{"meshes/simpleBridge.veg", BOUGH_TET4, 4000, 12827},
                  {"meshes/simpleBridge_hex.veg", BOUGH_HEX8, 3923, 1736},
                  {"meshes/beam3.veg", BOUGH_HEX8, 208, 75},
                  {"meshes/beam3_tet.veg", BOUGH_TET4, 208, 450}};
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++) {
        const char *path = test_shared(meshes[i].name);
        if (!path) {
            bough_context_destroy(ctx);
            test_skip("the reference data ../shared is not there");
        }
        bough_mesh *mesh;
        check_ok(ctx, bough_mesh_read(ctx, path, NULL, &mesh));
        check_int(mesh->type, meshes[i].type);
        check_int(mesh->vertex_count, meshes[i].vertices);
        check_int(mesh->element_count, meshes[i].elements);
        check_int(mesh->region_count, 1);
        check(mesh->materials[0].young == 1e7 && mesh->materials[0].poisson == 0.45);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_may_start_at_one_or_zero),
        cmocka_unit_test(sections_may_stand_in_any_order),
        cmocka_unit_test(hexes_are_read),
        cmocka_unit_test(included_files_are_read_from_beside_the_including_one),
        cmocka_unit_test(includes_stay_in_the_folder_of_the_mesh),
        cmocka_unit_test(files_that_include_themselves_are_refused),
        cmocka_unit_test(wrong_content_is_refused_with_its_line),
        cmocka_unit_test(mooney_rivlin_becomes_its_small_strain_constants),
        cmocka_unit_test(inverted_elements_are_refused_or_flipped_and_flat_ones_refused),
        cmocka_unit_test(cut_files_are_survived),
        cmocka_unit_test(altered_files_are_survived),
        cmocka_unit_test(failed_allocations_are_survived),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(reference_meshes_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
