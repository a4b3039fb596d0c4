/* MEDIT's .mesh files. */
#include "hostile.h"

static const char *cube(bool hex) {
    static bytes text;
    text.size = 0;
    put_text(&text, "MeshVersionFormatted 2\nDimension\n3\nVertices\n8\n");
    for (int v = 0; v < 8; v++)
        put_text(&text, "%d %d %d %d\n", v & 1, v >> 1 & 1, v >> 2, 40 + v);
    put_text(&text, "Corners\n2\n1\n8\n");
    if (hex) {
        put_text(&text, "Quadrilaterals\n2\n1 2 4 3 6\n5 6 8 7 0\nHexahedra\n1\n");
        for (int i = 0; i < 8; i++)
            put_text(&text, "%d ", unit_cube_hex[i] + 1);
        put_text(&text, "9\n");
    } else {
        put_text(&text, "Triangles\n3\n1 2 4 6\n1 4 3 6\n5 6 8 0\nTetrahedra\n6\n");
        for (int e = 0; e < 6; e++) {
            const int *n = unit_cube_tets[e];
            put_text(&text, "%d %d %d %d %d\n", n[0] + 1, n[1] + 1, n[2] + 1, n[3] + 1, e < 2 ? 9 : 0);
        }
    }
    put_text(&text, "Ridges\n1\n1 # a comment\nEdges\n1\n1 2 0\nEnd\n");
    return text.data;
}

static void references_become_sets(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int hex = 0; hex < 2; hex++) {
        bough_mesh *mesh = must_read_text(ctx, in_file("a.mesh"), cube(hex));
        check_int(mesh->type, hex ? BOUGH_HEX8 : BOUGH_TET4);
        check_int(mesh->element_count, hex ? 1 : 6);
        check_set_count(mesh, BOUGH_SET_ELEMENT, "ref_9", hex ? 1 : 2);
        check_set_count(mesh, BOUGH_SET_FACE, "ref_6", hex ? 1 : 2);
        check_int(mesh->set_count, 2);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void a_file_without_volumes_is_a_surface(void **state) {
    (void)state;
    static const char text[] = "MeshVersionFormatted 1 Dimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n1 1 0 0\n0 1 0 0\n"
                               "Triangles 1\n1 2 3 5\nQuadrilaterals 1\n1 2 3 4 6\n";
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = must_read_text(ctx, in_file("surface.mesh"), text);
    check_int(mesh->type, BOUGH_TRI3);
    check_int(mesh->element_count, 3);
    check_set_count(mesh, BOUGH_SET_ELEMENT, "ref_5", 1);
    check_set_count(mesh, BOUGH_SET_ELEMENT, "ref_6", 2);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
    check_refused(in_file("surface.mesh"), replaced(text, "1 2 3 5", "1 2 9 5"), BOUGH_ERROR_FORMAT,
                  "surface.mesh:8: a boundary facet names a vertex outside the 4");
}

static const char curved[] = "MeshVersionFormatted 2\nDimension 3\nVertices\n10\n0 0 0 0\n2 0 0 0\n0 2 0 0\n0 0 2 0\n"
                             "1 0 0 0\n1 1 0 0\n0 1 0 0\n0 0 1 0\n1 0 1 0\n0 1 1 0\n"
                             "TrianglesP2\n1\n1 3 2 7 6 5 4\nTetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 10 8\nEnd\n";

static void second_order_tets_keep_their_edge_nodes(void **state) {
    (void)state;
    static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = must_read_text(ctx, in_file("curved.mesh"), curved);
    check_int(mesh->type, BOUGH_TET10);
    for (int e = 0; e < 6; e++)
        for (int d = 0; d < 3; d++)
            check_near(mesh->vertices[3 * mesh->elements[4 + e] + d],
                       0.5 * (mesh->vertices[3 * mesh->elements[edges[e][0]] + d] +
                              mesh->vertices[3 * mesh->elements[edges[e][1]] + d]),
                       0);
    check_set_count(mesh, BOUGH_SET_ELEMENT, "ref_8", 1);
    check_set_count(mesh, BOUGH_SET_FACE, "ref_4", 1);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
    check_refused(in_file("curved.mesh"),
                  replaced(curved, "TetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 10 8\n", "TetrahedraP2\n0\n"),
                  BOUGH_ERROR_UNSUPPORTED, "curved.mesh:17: a surface of TrianglesP2");
    check_refused(in_file("curved.mesh"), replaced(curved, "9 10 8\n", "9 11 8\n"), BOUGH_ERROR_FORMAT, "vertex 10");
}

static void refused(const char *from, const char *to, bough_status status, const char *part) {
    check_refused(in_file("bad.mesh"), replaced(cube(false), from, to), status, part);
}

static void wrong_content_is_refused_with_its_line(void **state) {
    (void)state;
    refused("MeshVersionFormatted", "MeshVersionUnformatted", BOUGH_ERROR_FORMAT, "bad.mesh:1:");
    refused("\n3\n", "\n2\n", BOUGH_ERROR_UNSUPPORTED, "2 dimensions");
    refused("Dimension\n3\n", "", BOUGH_ERROR_FORMAT, "before the Dimension");
    refused("Vertices\n8", "Vertices\n9", BOUGH_ERROR_FORMAT, "found \"Corners\"");
    refused("Vertices\n8", "Vertices\n7", BOUGH_ERROR_FORMAT, "expected a keyword");
    refused("Vertices\n8", "Vertices\n2000000000", BOUGH_ERROR_FORMAT, "room for at most");
    refused("Vertices\n8", "Vertices\n9000000000000000000", BOUGH_ERROR_FORMAT, "room for at most");
    refused("Vertices\n8", "Vertices\n-8", BOUGH_ERROR_FORMAT, "negative");
    refused("1 0 0 41", "nan 0 0 41", BOUGH_ERROR_FORMAT, "bad.mesh:7: a vertex coordinate is not a finite");
    refused("1 0 0 41", "1 inf 0 41", BOUGH_ERROR_FORMAT, "not a finite");
    refused("Tetrahedra\n6", "Tetrahedra\n7", BOUGH_ERROR_FORMAT, "found \"Ridges\"");
    refused("Tetrahedra\n6", "Tetrahedra\n5", BOUGH_ERROR_FORMAT, "expected a keyword");
    refused("Tetrahedra\n6", "Tetrahedra\n2000000000", BOUGH_ERROR_FORMAT, "room for at most");
    refused("Tetrahedra\n6", "Prisms\n6", BOUGH_ERROR_UNSUPPORTED, "Prisms");
    refused("Tetrahedra\n6", "HexahedraQ2\n6", BOUGH_ERROR_UNSUPPORTED, "HexahedraQ2");
    refused("Triangles\n3", "Triangles\n2000000000", BOUGH_ERROR_FORMAT, "room for at most");
    refused("1 2 4 8 9", "1 2 4 9 9", BOUGH_ERROR_FORMAT, "element 1 names vertex 8 (counted from 0)");
    refused("1 2 4 8 9", "0 2 4 8 9", BOUGH_ERROR_FORMAT, "a vertex number is 0");
    refused("1 2 4 8 9", "1 2 4 4 9", BOUGH_ERROR_FORMAT, "one vertex twice");
    refused("1 2 4 8 9", "1 2 4 3 9", BOUGH_ERROR_FORMAT, "element 1 has no volume");
    refused("1 2 4 8 9", "1 4 2 8 9", BOUGH_ERROR_FORMAT, "element 1 is inverted");
    bough_context *ctx = test_context(1);
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = BOUGH_VOLUME_REPAIR;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_read(ctx, test_path("bad.mesh"), &def, &mesh));
    check_int(mesh->elements[1], 1);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void cut_and_altered_files_are_survived(void **state) {
    (void)state;
    for (int hex = 0; hex < 2; hex++) {
        survive_every_truncation(in_file("cut.mesh"), cube(hex), strlen(cube(hex)));
        survive_mutations(in_file("cut.mesh"), cube(hex), strlen(cube(hex)), 1500);
    }
}
static void failed_allocations_are_survived(void **state) {
    (void)state;
    test_write_text(test_path("memory.mesh"), cube(false));
    survive_failing_allocations(in_file("memory.mesh"), NULL, 0);
}
static void nonsense_is_refused(void **state) {
    (void)state;
    survive_garbage(in_file("nonsense.mesh"), "MeshVersionFormatted 2\nDimension\n3\nVertices\n");
    refuse_paths(".mesh");
    survive_long_lines_at(in_file("long.mesh"), cube(false), (const char *const[]){"1 2 4 8 9", "Corners", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_become_sets),
        cmocka_unit_test(a_file_without_volumes_is_a_surface),
        cmocka_unit_test(second_order_tets_keep_their_edge_nodes),
        cmocka_unit_test(wrong_content_is_refused_with_its_line),
        cmocka_unit_test(cut_and_altered_files_are_survived),
        cmocka_unit_test(failed_allocations_are_survived),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
