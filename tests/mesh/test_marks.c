/* Traces of editors and other programs in text files: byte-order marks, letters of the other case, records that nobody
 * knows. None of it changes a mesh without a word. */
#include "hostile.h"

#include "mesh/mesh.h"

#define MARK "\xEF\xBB\xBF"

static int warning_count;
static char last_warning[400];
static void keep_warning(void *user, const char *sentence) {
    (void)user;
    snprintf(last_warning, sizeof last_warning, "%s", sentence);
    warning_count++;
}

static bough_context *listening_context(void) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    def.warn = keep_warning;
    warning_count = 0;
    return bough_context_create(&def);
}

#define CUBE_TRIANGLE_OBJ "v 1 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 1 1\nf 1 2 3\nf 2 3 5\nf 3 4 5\n"

/* One tetrahedron, or one triangle, with its corners away from the origin. */
static const struct {
    const char *file, *text;
} texts[] = {
    {"m.obj", CUBE_TRIANGLE_OBJ},
    {"m.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 2 0 0\nvertex 1 1 0\nendloop\nendfacet\n"
              "endsolid a\n"},
    {"m.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
              "element face 1\nproperty list uchar int vertex_index\nend_header\n1 0 0\n2 0 0\n1 1 0\n3 0 1 2\n"},
    {"m.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices 4\n1 0 0 0\n2 0 0 0\n1 1 0 0\n1 0 1 0\nTetrahedra 1\n"
               "1 2 3 4 7\nEnd\n"},
    {"m.veg", "*VERTICES\n4 3 0 0\n1 1 0 0\n2 2 0 0\n3 1 1 0\n4 1 0 1\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n"},
    {"m.inp",
     "*NODE\n1, 1., 0., 0.\n2, 2., 0., 0.\n3, 1., 1., 0.\n4, 1., 0., 1.\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n"},
    {"m.vtk",
     "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n1 0 0 2 0 0 1 1 0 1 0 1\n"
     "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n"},
    {"m.msh",
     "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 1 0 0\n2 2 0 0\n3 1 1 0\n4 1 0 1\n$EndNodes\n$Elements\n1\n"
     "1 4 2 0 1 1 2 3 4\n$EndElements\n"},
};

static bough_mesh *read_marked(bough_context *ctx, const char *file, const char *mark, const char *text) {
    bytes b = {0};
    put_text(&b, "%s%s", mark, text);
    bough_mesh *mesh = must_read(ctx, in_file(file), &b);
    bytes_free(&b);
    return mesh;
}

static void a_byte_order_mark_changes_no_mesh(void **state) {
    (void)state;
    bough_context *ctx = listening_context();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bough_mesh *plain = read_marked(ctx, texts[i].file, "", texts[i].text);
        bough_mesh *marked = read_marked(ctx, texts[i].file, MARK, texts[i].text);
        check(plain->vertex_count >= 3);
        check_same_mesh(plain, marked, true);
        bough_mesh_destroy(ctx, plain);
        bough_mesh_destroy(ctx, marked);
    }
    check_int(warning_count, 0);
    bough_context_destroy(ctx);
}

static void all_files_of_tetgen_may_have_a_mark(void **state) {
    (void)state;
    static const char nodes[] = MARK "4 3 0 0\n1 1 0 0\n2 2 0 0\n3 1 1 0\n4 1 0 1\n";
    static const char elements[] = MARK "1 4 0\n1 1 2 3 4\n", faces[] = MARK "1 1\n1 1 2 3 9\n";
    bough_context *ctx = listening_context();
    test_write(test_path("m.ele"), elements, sizeof elements - 1);
    test_write(test_path("m.face"), faces, sizeof faces - 1);
    bytes b = {0};
    put_text(&b, "%s", nodes);
    bough_mesh *mesh = must_read(ctx, in_file("m.node"), &b);
    check_int(mesh->vertex_count, 4);
    check_int(mesh->element_count, 1);
    check_int(mesh->set_count, 1);
    bytes_free(&b);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* Included files are opened by another way than the first. */
static void included_files_may_have_a_mark(void **state) {
    (void)state;
    static const char nodes[] = MARK "*NODE\n1, 1., 0., 0.\n2, 2., 0., 0.\n3, 1., 1., 0.\n4, 1., 0., 1.\n";
    bough_context *ctx = listening_context();
    test_write(test_path("nodes.inc"), nodes, sizeof nodes - 1);
    bough_mesh *mesh =
        read_marked(ctx, "m.inp", MARK, "*INCLUDE, INPUT=nodes.inc\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n");
    check_int(mesh->vertex_count, 4);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* 80 bytes of anything begin a binary STL file. */
static void a_binary_header_may_begin_like_a_mark(void **state) {
    (void)state;
    bough_context *ctx = listening_context();
    bytes b = {0};
    char header[80] = MARK "made by a program";
    put_raw(&b, header, sizeof header);
    put_int(&b, 1);
    for (int i = 0; i < 12; i++)
        put_float(&b, i == 3 || i == 7 || i == 11 ? 1.0f : 0.0f); /* a normal, then the unit points */
    put_raw(&b, "\0\0", 2);
    bough_mesh *mesh = must_read(ctx, in_file("m.stl"), &b);
    check_int(mesh->vertex_count, 3);
    check(mesh->vertices[0] == 1 && mesh->vertices[4] == 1 && mesh->vertices[8] == 1);
    bytes_free(&b);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void letter_case_of_obj_records_does_not_count(void **state) {
    (void)state;
    bough_context *ctx = listening_context();
    bough_mesh *lower = read_marked(ctx, "m.obj", "", "o thing\ng top\nvn 0 0 1\n" CUBE_TRIANGLE_OBJ);
    bough_mesh *upper = read_marked(ctx, "m.obj", "",
                                    "O thing\nG top\nVN 0 0 1\nV 1 0 0\nV 2 0 0\nV 2 1 0\nV 1 1 0\nV 1 1 1\n"
                                    "F 1 2 3\nF 2 3 5\nF 3 4 5\n");
    check_same_mesh(lower, upper, true);
    check_int(upper->set_count, 2);
    check_int(warning_count, 0);
    bough_mesh_destroy(ctx, lower);
    bough_mesh_destroy(ctx, upper);
    bough_context_destroy(ctx);
}

static void letter_case_of_medit_sections_does_not_count(void **state) {
    (void)state;
    bough_context *ctx = listening_context();
    bough_mesh *mesh = read_marked(ctx, "m.mesh", "",
                                   "MESHVERSIONFORMATTED 2\ndimension 3\nVERTICES 4\n1 0 0 0\n2 0 0 0\n1 1 0 0\n"
                                   "1 0 1 0\ntetrahedra 1\n1 2 3 4 7\nEND\n");
    check_int(mesh->vertex_count, 4);
    check_int(mesh->element_count, 1);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void check_warned(const char *file, const char *text, int count, const char *words) {
    bough_context *ctx = listening_context();
    bough_mesh *mesh = read_marked(ctx, file, "", text);
    check_int(warning_count, count);
    if (count && !strstr(last_warning, words))
        fail_msg("\"%s\" does not say \"%s\"", last_warning, words);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void unknown_records_are_counted_and_named(void **state) {
    (void)state;
    check_warned("m.obj", "bone a b\n" CUBE_TRIANGLE_OBJ, 1, ":1: the record \"bone\" is unknown");
    check_warned("m.obj", "bone a\n" CUBE_TRIANGLE_OBJ "bone b\nskin c\n", 1, "\"bone\" and 2 more");
    check_warned("m.obj", "s off\nVT 1 2\nmtllib a.mtl\nl 1 2\nvp 0 \\\n 1\n" CUBE_TRIANGLE_OBJ, 0, "");
    check_warned(
        "m.mesh",
        "MeshVersionFormatted 2\nDimension 3\nVertices 3\n1 0 0 0\n2 0 0 0\n1 1 0 0\nCorners 1\n1\nFeathers 2\n"
        "1 2\n3 4\nTriangles 1\n1 2 3 7\nEnd\n",
        1, ":9: the section \"Feathers\" is unknown");
    check_warned(
        "m.msh",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\nx\n$EndComments\n$Feathers\n1\n$EndFeathers\n$Nodes\n3\n"
        "1 1 0 0\n2 2 0 0\n3 1 1 0\n$EndNodes\n$Elements\n1\n1 2 2 0 1 1 2 3\n$EndElements\n",
        1, "the section \"Feathers\" is unknown");
    check_warned("m.inp",
                 "*HEADING\nx\n*NODE\n1, 1., 0., 0.\n2, 2., 0., 0.\n3, 1., 1., 0.\n4, 1., 0., 1.\n*NGEN\n1, 2, 1\n"
                 "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n*STEP\n*ANYTHING AT ALL\n*END STEP\n",
                 1, ":8: the keyword \"*NGEN\" is unknown");
}

/* Elements of these names stand before the faces, with a list and a number each; as text, and in bytes. */
static void check_ply_warned(const char *first, const char *second, int count, const char *words) {
    for (int binary = 0; binary < 2; binary++) {
        bough_context *ctx = listening_context();
        bytes b = {0};
        put_text(&b, "ply\nformat %s 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n",
                 binary ? "binary_little_endian" : "ascii");
        put_text(&b, "element %s 1\nproperty list uchar uchar a\nproperty uchar b\n", first);
        put_text(&b, "element %s 1\nproperty list uchar uchar a\nproperty uchar b\n", second);
        put_text(&b, "element face 1\nproperty list uchar uchar vertex_index\nend_header\n");
        if (binary) {
            const float corners[9] = {1, 0, 0, 2, 0, 0, 1, 1, 0};
            put_raw(&b, corners, sizeof corners);
            put_raw(&b, "\2\7\7\7\0\7\3\0\1\2", 10);
        } else {
            put_text(&b, "1 0 0\n2 0 0\n1 1 0\n2 7 7 7\n0 7\n3 0 1 2\n");
        }
        bough_mesh *mesh = must_read(ctx, in_file("m.ply"), &b);
        check(mesh->vertex_count == 3 && mesh->element_count == 1 && mesh->vertices[3] == 2);
        check_int(warning_count, count);
        if (count && !strstr(last_warning, words))
            fail_msg("\"%s\" does not say \"%s\"", last_warning, words);
        bytes_free(&b);
        bough_mesh_destroy(ctx, mesh);
        bough_context_destroy(ctx);
    }
}

static void unknown_elements_of_ply_files_are_counted_and_named(void **state) {
    (void)state;
    check_ply_warned("edge", "material", 0, "");
    check_ply_warned("edge", "tristrips", 1, "m.ply:10: the element \"tristrips\" is unknown and was passed over");
    check_ply_warned("feathers", "tristrips", 1, "m.ply:7: the element \"feathers\" and 1 more");
}

/* To leave these out would give every later vertex another number. */
static void what_may_be_a_vertex_gone_wrong_is_refused(void **state) {
    (void)state;
    static const target obj = IN_MEMORY(bo_read_obj);
    check_refused(obj, "v1 0 0\n" CUBE_TRIANGLE_OBJ, BOUGH_ERROR_FORMAT, ":1: expected a record such as v or f");
    check_refused(obj, "1 0 0\n" CUBE_TRIANGLE_OBJ, BOUGH_ERROR_FORMAT, "found \"1\"");
    check_refused(obj, "\xFE\xFFv 0 0 0\n" CUBE_TRIANGLE_OBJ, BOUGH_ERROR_FORMAT, "expected a record");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_order_mark_changes_no_mesh),
        cmocka_unit_test(all_files_of_tetgen_may_have_a_mark),
        cmocka_unit_test(included_files_may_have_a_mark),
        cmocka_unit_test(a_binary_header_may_begin_like_a_mark),
        cmocka_unit_test(letter_case_of_obj_records_does_not_count),
        cmocka_unit_test(letter_case_of_medit_sections_does_not_count),
        cmocka_unit_test(unknown_records_are_counted_and_named),
        cmocka_unit_test(unknown_elements_of_ply_files_are_counted_and_named),
        cmocka_unit_test(what_may_be_a_vertex_gone_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
