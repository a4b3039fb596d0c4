/* .obj, .stl and .ply surfaces: what the forms of each format mean, what is written comes back, broken files are
 * answered. */
#include "hostile.h"

static const target obj = IN_MEMORY(bo_read_obj);
static const target stl = IN_MEMORY(bo_read_stl);
static const target ply = IN_MEMORY(bo_read_ply);

/* A square pyramid, outward. */
static const double points[5][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 0.75}};
static const int32_t triangles[6][3] = {{0, 2, 1}, {0, 3, 2}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};

static bough_mesh *make_pyramid(bough_context *ctx) {
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TRI3, 5, points[0], 6, triangles[0], &mesh));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "base", (int32_t[]){0, 1}, 2));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "even", (int32_t[]){0, 2, 4}, 3));
    return mesh;
}

/* The corners lie where the pyramid's lie, whatever the numbers of the vertices are. */
static void check_pyramid(const bough_mesh *mesh) {
    check_int(mesh->type, BOUGH_TRI3);
    check_int(mesh->vertex_count, 5);
    check_int(mesh->element_count, 6);
    for (int i = 0; i < 18; i++)
        for (int d = 0; d < 3; d++)
            check(mesh->vertices[3 * mesh->elements[i] + d] == points[triangles[i / 3][i % 3]][d]);
}

/* ---- obj ---- */

static bytes make_obj(void) {
    bytes b = {0};
    put_text(&b, "# a pyramid\nmtllib x.mtl\no my pyramid\nvn 0 0 1\nvt 0 0\n");
    for (int v = 0; v < 4; v++)
        put_text(&b, "v %g %g %g\n", points[v][0], points[v][1], points[v][2]);
    put_text(&b, "g base\nf 1/1/1 4/1/1 3/1/1 2/1/1\nv 0.5 0.5 0.75 1.0 # tip\ng side south\nusemtl bark\n"
                 "f 1 2 -1\ng side\nf 2//1 3//1 5//1\n\nf 3/1 \\\n 4/1 5/1 # remark\ng\nusemtl\nf -2 -5 -1\r\n");
    return b;
}

static void all_forms_of_obj_faces_are_read(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bytes b = make_obj();
    bough_mesh *mesh = must_read(ctx, obj, &b);
    check_int(mesh->vertex_count, 5);
    check_int(mesh->element_count, 6);
    /* The fan of the base begins with another triangle than the pyramid's. */
    static const int32_t base[6] = {0, 3, 2, 0, 2, 1};
    check(memcmp(mesh->elements, base, sizeof base) == 0);
    check(memcmp(mesh->elements + 6, triangles[2], 12 * sizeof(int32_t)) == 0);
    check(memcmp(mesh->vertices, points, sizeof points) == 0);
    check_set(mesh, BOUGH_SET_ELEMENT, "my pyramid", ITEMS(0, 1, 2, 3, 4, 5));
    check_set(mesh, BOUGH_SET_ELEMENT, "base", ITEMS(0, 1));
    check_set(mesh, BOUGH_SET_ELEMENT, "side", ITEMS(2, 3, 4));
    check_set(mesh, BOUGH_SET_ELEMENT, "south", ITEMS(2));
    check_set(mesh, BOUGH_SET_ELEMENT, "bark", ITEMS(2, 3, 4));
    check_int(mesh->set_count, 5);
    bough_mesh_destroy(ctx, mesh);
    bytes_free(&b);
    bough_context_destroy(ctx);
}

#define THREE "v 0 0 0\nv 1 0 0\nv 0 1 0\n"

static void wrong_obj_files_are_refused(void **state) {
    (void)state;
    check_refused(obj, THREE "f 1 2 4\n", BOUGH_ERROR_FORMAT, "file.x:4: element 1 names vertex 3");
    check_refused(obj, THREE "f 1 2 -4\n", BOUGH_ERROR_FORMAT, "file.x:4: a face names vertex -4");
    check_refused(obj, THREE "f 1 2 0\n", BOUGH_ERROR_FORMAT, "count from 1");
    check_refused(obj, THREE "f 1 2 -9223372036854775808\n", BOUGH_ERROR_FORMAT, "names vertex");
    check_refused(obj, THREE "f 1 2 9223372036854775807\n", BOUGH_ERROR_FORMAT, "does not exist");
    check_refused(obj, THREE "f 1 2 9223372036854775808\n", BOUGH_ERROR_FORMAT, "not the number");
    check_refused(obj, THREE "f 1 2 /3\n", BOUGH_ERROR_FORMAT, "not the number");
    check_refused(obj, THREE "f 1 2\n", BOUGH_ERROR_FORMAT, "file.x:4: a face has 2 corners");
    check_refused(obj, THREE "f\n", BOUGH_ERROR_FORMAT, "a face has 0 corners");
    check_refused(obj, "v 0 0\nv 1 1 1\n", BOUGH_ERROR_FORMAT, "file.x:1: a vertex needs three");
    check_refused(obj, "v 0 0 nan\n", BOUGH_ERROR_FORMAT, "file.x:1: a vertex coordinate is not a finite");
    check_refused(obj, "v 0 0 -1e400\n", BOUGH_ERROR_FORMAT, "not a finite");
    check_refused(obj, "v 0 0 x\n", BOUGH_ERROR_FORMAT, "expected a vertex coordinate, found \"x\"");
    check_refused(obj, THREE, BOUGH_ERROR_FORMAT, "has no elements");
    check_refused(obj, "f 1 2 3\n", BOUGH_ERROR_FORMAT, "has no vertices");
    bytes b = {0};
    put_text(&b, "g");
    for (int i = 0; i < 65; i++)
        put_text(&b, " g%d", i);
    put_text(&b, "\n%c", 0);
    check_refused(obj, b.data, BOUGH_ERROR_FORMAT, "more than 64 groups");
    bytes_free(&b);
}

static int warning_count;
static void count_warning(void *user, const char *sentence) {
    (void)user;
    check(strstr(sentence, "file.x: 2 triangles name a vertex twice") != NULL);
    warning_count++;
}

static void collapsed_triangles_are_dropped(void **state) {
    (void)state;
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    def.warn = count_warning;
    bough_context *ctx = bough_context_create(&def);
    bough_mesh *mesh = must_read_text(ctx, obj, THREE "g a\nf 1 2 2\nf 1 2 3\nf 1 1 2\n");
    check_int(warning_count, 1);
    check_int(mesh->element_count, 1);
    check_set(mesh, BOUGH_SET_ELEMENT, "a", ITEMS(0));
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
    check_refused(obj, THREE "f 1 1 1\n", BOUGH_ERROR_FORMAT, "has no elements");
}

static void obj_comes_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make_pyramid(ctx), *back;
    for (int i = 0; i < 15; i++)
        mesh->vertices[i] += 1e-17 + i / 3.0;
    const char *path = test_path("pyramid.obj");
    check_ok(ctx, bough_mesh_write(ctx, mesh, path));
    check_ok(ctx, bough_mesh_read(ctx, path, NULL, &back));
    check_same_mesh(mesh, back, true);
    bough_mesh_destroy(ctx, back);
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "two words", (int32_t[]){5}, 1));
    check_ok(ctx, bough_mesh_write(ctx, mesh, path));
    check_ok(ctx, bough_mesh_read(ctx, path, NULL, &back));
    check_set(back, BOUGH_SET_ELEMENT, "two_words", ITEMS(5));
    bough_mesh_destroy(ctx, back);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* ---- stl ---- */

static void put_stl_facets(bytes *b) {
    for (int t = 0; t < 6; t++) {
        put_text(b, " facet normal %s 0 1\n  outer loop\n", t ? "0" : "nan");
        for (int i = 0; i < 3; i++) {
            const double *x = points[triangles[t][i]];
            put_text(b, "   vertex %s%g %e %g\n", x[0] == 0 && t % 2 ? "-" : "", x[0], x[1], x[2]);
        }
        put_text(b, "  endloop\n endfacet\n");
        if (t == 1)
            put_text(b, "endsolid the base\n\nsolid\n");
    }
}

static bytes make_text_stl(void) {
    bytes b = {0};
    put_text(&b, "solid the base\n");
    put_stl_facets(&b);
    put_text(&b, "endsolid\n");
    return b;
}

static bytes make_binary_stl(const char *header) {
    bytes b = {.swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__};
    char block[80] = {0};
    memcpy(block, header, strlen(header));
    put_raw(&b, block, sizeof block);
    put_int(&b, 6);
    for (int t = 0; t < 6; t++) {
        for (int d = 0; d < 3; d++)
            put_float(&b, NAN);
        for (int i = 0; i < 9; i++)
            put_float(&b, (float)points[triangles[t][i / 3]][i % 3]);
        put_raw(&b, "ab", 2);
    }
    return b;
}

static void both_kinds_of_stl_are_read(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bytes b = make_text_stl();
    bough_mesh *mesh = must_read(ctx, stl, &b);
    check_pyramid(mesh);
    check_int(mesh->set_count, 1);
    check_set(mesh, BOUGH_SET_ELEMENT, "the base", ITEMS(0, 1));
    bough_mesh_destroy(ctx, mesh);
    bytes_free(&b);
    const char *headers[] = {"", "solid although binary", "anything"};
    for (int i = 0; i < 3; i++) {
        b = make_binary_stl(headers[i]);
        mesh = must_read(ctx, stl, &b);
        check_pyramid(mesh);
        check_int(mesh->set_count, 0);
        bough_mesh_destroy(ctx, mesh);
        bytes_free(&b);
    }
    bough_context_destroy(ctx);
}

static void wrong_stl_files_are_refused(void **state) {
    (void)state;
#define FACET(x) "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 " x "\nendloop\nendfacet\n"
    check_refused(stl, "solid a\n" FACET("nan") "endsolid\n", BOUGH_ERROR_FORMAT, "file.x:6: a corner");
    check_refused(stl, "solid a\n" FACET("inf") "endsolid\n", BOUGH_ERROR_FORMAT, "not a finite");
    check_refused(stl, "solid a\n" FACET("0\nvertex 1 1 1") "endsolid\n", BOUGH_ERROR_FORMAT, "\"endloop\"");
    check_refused(stl, "solid a\n" FACET("0"), BOUGH_ERROR_FORMAT, "before \"endsolid\"");
    check_refused(stl, "solid a\nendsolid\n" FACET("0"), BOUGH_ERROR_FORMAT, "expected \"solid\"");
    check_refused(stl, "solid a\nfacet normal 0 0\nouter loop\n", BOUGH_ERROR_FORMAT, "\"outer loop\"");
    check_refused(stl, "solid a\nendsolid a\n", BOUGH_ERROR_FORMAT, "has no vertices");
    check_refused(stl, "what is this\n", BOUGH_ERROR_FORMAT, "neither begins");
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    static const uint32_t counts[] = {0, 5, 7, 2000000000u, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        bytes b = make_binary_stl("binary");
        bytes count = {.swap = b.swap};
        put_int(&count, (int32_t)counts[i]);
        memcpy(b.data + 80, count.data, 4);
        check_fails(ctx, read_bytes(ctx, stl, &b, &mesh), BOUGH_ERROR_FORMAT, "has 384");
        survives(stl, b.data, b.size);
        bytes_free(&count);
        bytes_free(&b);
    }
    bytes b = make_binary_stl("solid"), nan = {.swap = b.swap};
    put_float(&nan, INFINITY);
    memcpy(b.data + 84 + 12, nan.data, 4);
    check_fails(ctx, read_bytes(ctx, stl, &b, &mesh), BOUGH_ERROR_FORMAT, "not a finite");
    bytes_free(&nan);
    bytes_free(&b);
    bough_context_destroy(ctx);
}

static void stl_comes_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make_pyramid(ctx), *back;
    const char *path = test_path("pyramid.stl");
    check_ok(ctx, bough_mesh_write(ctx, mesh, path));
    check_ok(ctx, bough_mesh_read(ctx, path, NULL, &back));
    check_pyramid(back);
    bough_mesh_destroy(ctx, back);
    mesh->vertices[7] = 1e300;
    check_fails(ctx, bough_mesh_write(ctx, mesh, path), BOUGH_ERROR_UNSUPPORTED, "vertex 2 lies at 1e+300");
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* ---- ply ---- */

static const char ply_names[3][24] = {"ascii", "binary_little_endian", "binary_big_endian"};
#define PLY_COUNT 3

static void put_ply_header(bytes *b, const char *format) {
    put_text(b,
             "ply\nformat %s 1.0\ncomment by hand\nobj_info none\nelement camera 1\nproperty list uchar double view\n"
             "property short unit\nelement face 5\nproperty uchar red\n"
             "property list uint8 int vertex_indices\nproperty list ushort float32 texcoord\n"
             "element nothing 9000000000000000000\n"
             "element vertex 5\nproperty double z\nproperty float x\nproperty float64 y\nproperty float quality\n"
             "end_header\n",
             format);
}

static const int ply_faces[5][5] = {{4, 0, 3, 2, 1}, {3, 0, 1, 4}, {3, 1, 2, 4}, {3, 2, 3, 4}, {3, 3, 0, 4}};

static bytes make_text_ply(void) {
    bytes b = {0};
    put_ply_header(&b, "ascii");
    put_text(&b, "2 0.5 nan -3\n");
    for (int i = 0; i < 5; i++) {
        put_text(&b, "255 %d", ply_faces[i][0]);
        for (int k = 1; k <= ply_faces[i][0]; k++)
            put_text(&b, " %d", ply_faces[i][k]);
        put_text(&b, " 1 inf\n");
    }
    for (int v = 0; v < 5; v++)
        put_text(&b, "%g %g %g nan\n", points[v][2], points[v][0], points[v][1]);
    return b;
}

static void put_byte(bytes *b, int value) {
    unsigned char byte = (unsigned char)value;
    put_raw(b, &byte, 1);
}

static bytes make_binary_ply(int kind) {
    bytes b = {.swap = (kind == 1) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)};
    put_ply_header(&b, ply_names[kind]);
    const int16_t unit = -3, one = 1;
    put_byte(&b, 2), put_double(&b, 0.5), put_double(&b, NAN), put_value(&b, &unit, 2);
    for (int i = 0; i < 5; i++) {
        put_byte(&b, 255), put_byte(&b, ply_faces[i][0]);
        for (int k = 1; k <= ply_faces[i][0]; k++)
            put_int(&b, ply_faces[i][k]);
        put_value(&b, &one, 2), put_float(&b, INFINITY);
    }
    for (int v = 0; v < 5; v++)
        put_double(&b, points[v][2]), put_float(&b, (float)points[v][0]), put_double(&b, points[v][1]),
            put_float(&b, NAN);
    return b;
}

static bytes make_ply(int kind) {
    return kind ? make_binary_ply(kind) : make_text_ply();
}

static void all_kinds_of_ply_are_read(void **state) {
    (void)state;
    static const int32_t expected[6][3] = {{0, 3, 2}, {0, 2, 1}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
    bough_context *ctx = test_context(1);
    for (int kind = 0; kind < PLY_COUNT; kind++) {
        bytes b = make_ply(kind);
        bough_mesh *mesh = must_read(ctx, ply, &b);
        check_int(mesh->vertex_count, 5);
        check_int(mesh->element_count, 6);
        check(memcmp(mesh->vertices, points, sizeof points) == 0);
        check(memcmp(mesh->elements, expected, sizeof expected) == 0);
        bough_mesh_destroy(ctx, mesh);
        bytes_free(&b);
    }
    bough_context_destroy(ctx);
}

#define PLY(vertices, faces)                                                                                     \
    "ply\nformat ascii 1.0\nelement vertex " vertices "\nproperty float x\nproperty float y\nproperty float z\n" \
    "element face " faces "\nproperty list uchar int vertex_index\nend_header\n"

static void wrong_ply_files_are_refused(void **state) {
    (void)state;
#define P3 "0 0 0\n1 0 0\n0 1 0\n"
    check_refused(ply, PLY("3", "1") P3 "3 0 1 3\n", BOUGH_ERROR_FORMAT, "element 1 names vertex 3");
    check_refused(ply, PLY("3", "1") P3 "3 0 1 -1\n", BOUGH_ERROR_FORMAT, "file.x:13: a face names vertex -1");
    check_refused(ply, PLY("3", "1") P3 "3 0 1 1.5\n", BOUGH_ERROR_FORMAT, "names vertex 1.5");
    check_refused(ply, PLY("3", "1") P3 "3 0 1 9e18\n", BOUGH_ERROR_FORMAT, "does not exist");
    check_refused(ply, PLY("3", "1") P3 "3 0 1 nan\n", BOUGH_ERROR_FORMAT, "does not exist");
    check_refused(ply, PLY("3", "1") P3 "2 0 1\n", BOUGH_ERROR_FORMAT, "a face has 2 corners");
    check_refused(ply, PLY("3", "1") P3 "-3 0 1\n", BOUGH_ERROR_FORMAT, "count of a list");
    check_refused(ply, PLY("3", "1") P3 "2000000000 0 1 2\n", BOUGH_ERROR_FORMAT, "room for at most");
    check_refused(ply, PLY("3", "1") P3 "9e18 0 1 2\n", BOUGH_ERROR_FORMAT, "count of a list");
    check_refused(ply, PLY("3", "1") "0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", BOUGH_ERROR_FORMAT,
                  "file.x:11: vertex coordinate is not a finite");
    check_refused(ply, PLY("3", "1") "0 0 0\n1 inf 0\n0 1 0\n3 0 1 2\n", BOUGH_ERROR_FORMAT, "not a finite");
    check_refused(ply, PLY("2", "1") P3 "3 0 1 2\n", BOUGH_ERROR_FORMAT, "a face has 0 corners");
    check_refused(ply, PLY("3", "1") P3 "3 0 1 2\n3 0 1 2\n", BOUGH_ERROR_FORMAT, "more data than its header");
    check_refused(ply, PLY("3", "2") P3 "3 0 1 2\n", BOUGH_ERROR_FORMAT, "the file ends in the middle");
    check_refused(ply, PLY("3", "x") P3, BOUGH_ERROR_FORMAT, "file.x:7: an element line needs");
    check_refused(ply, PLY("-1", "1"), BOUGH_ERROR_FORMAT, "an element line needs");
    check_refused(ply, PLY("2000000000", "1") P3, BOUGH_ERROR_FORMAT, "room for at most");
    check_refused(ply, PLY("9000000000000000000", "1") P3, BOUGH_ERROR_FORMAT, "room for at most");
    check_refused(ply, "ply\nformat ascii 2.0\n", BOUGH_ERROR_FORMAT, "not 1.0");
    check_refused(ply, "ply\nformat gzip 1.0\n", BOUGH_ERROR_FORMAT, "file.x:2: the format is not");
    check_refused(ply, "ply\nproperty int x\n", BOUGH_ERROR_FORMAT, "before the first element");
    check_refused(ply, "ply\nelement vertex 1\nproperty quad x\n", BOUGH_ERROR_FORMAT, "unknown type");
    check_refused(ply, "ply\nelement face 1\nproperty list float int vertex_index\n", BOUGH_ERROR_FORMAT,
                  "not an integer");
    check_refused(ply, "ply\nelement vertex 1\nproperty float x\nproperty float x\n", BOUGH_ERROR_FORMAT,
                  "declared twice");
    check_refused(ply, "ply\nelement vertex 1\nproperty float x\nend_header\n", BOUGH_ERROR_FORMAT,
                  "no properties x, y and z");
    check_refused(ply, "ply\nelement face 1\nend_header\n", BOUGH_ERROR_FORMAT, "no list vertex_indices");
    check_refused(ply, "ply\nend_header\n", BOUGH_ERROR_FORMAT, "no format");
    check_refused(ply, "ply\nwhat\n", BOUGH_ERROR_FORMAT, "unknown kind");
    check_refused(ply, "plyformat\n", BOUGH_ERROR_FORMAT, "is not a PLY file");
}

/* Each 4 bytes of a binary file are overwritten with absurd integers in turn. */
static void absurd_binary_counts_allocate_nothing(void **state) {
    (void)state;
    static const uint32_t values[] = {2000000000u, UINT32_MAX, 0x80000000u, 0};
    for (int kind = 0; kind < 3; kind++) {
        bytes b = kind ? make_ply(kind) : make_binary_stl("x");
        char *copy = malloc(b.size);
        for (size_t at = 0; at + 4 <= b.size; at++)
            for (int v = 0; v < 4; v++) {
                memcpy(copy, b.data, b.size);
                memcpy(copy + at, &values[v], 4);
                survives(kind ? ply : stl, copy, b.size);
            }
        free(copy);
        bytes_free(&b);
    }
}

/* ---- all of them ---- */

static const bo_mesh_reader readers[] = {bo_read_obj, bo_read_stl, bo_read_stl, bo_read_stl,
                                         bo_read_ply, bo_read_ply, bo_read_ply};
#define FILE_COUNT 7

static bytes make_file(int i) {
    switch (i) {
    case 0:
        return make_obj();
    case 1:
        return make_text_stl();
    case 2:
        return make_binary_stl("binary");
    case 3:
        return make_binary_stl("solid");
    default:
        return make_ply(i - 4);
    }
}

static void truncated_files_are_survived(void **state) {
    (void)state;
    for (int i = 0; i < FILE_COUNT; i++) {
        bytes b = make_file(i);
        survive_every_truncation((target)IN_MEMORY(readers[i]), b.data, b.size);
        bytes_free(&b);
    }
}

static void changed_files_are_survived(void **state) {
    (void)state;
    for (int i = 0; i < FILE_COUNT; i++) {
        bytes b = make_file(i);
        survive_mutations((target)IN_MEMORY(readers[i]), b.data, b.size, 4000);
        bytes_free(&b);
    }
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    for (int i = 0; i < FILE_COUNT; i++) {
        bytes b = make_file(i);
        survive_failing_allocations((target)IN_MEMORY(readers[i]), b.data, b.size);
        bytes_free(&b);
    }
}

static void long_lines_are_survived(void **state) {
    (void)state;
    static const struct {
        bo_mesh_reader reader;
        const char *before;
    } cases[] = {
        {bo_read_obj, ""},
        {bo_read_obj, "v "},
        {bo_read_obj, THREE "f 1 2 3 "},
        {bo_read_obj, THREE "f 1 2 3/"},
        {bo_read_obj, "g "},
        {bo_read_obj, THREE "usemtl a"},
        {bo_read_stl, ""},
        {bo_read_stl, "solid "},
        {bo_read_stl, "solid a\n"},
        {bo_read_stl, "solid a\nfacet normal 1 2 3\nouter loop\nvertex 0 0 "},
        {bo_read_ply, "ply"},
        {bo_read_ply, "ply\ncomment "},
        {bo_read_ply, "ply\nelement "},
        {bo_read_ply, "ply\nelement vertex "},
        {bo_read_ply, "ply\nelement vertex 1\nproperty int "},
        {bo_read_ply, PLY("3", "1") "0 0 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        target reader = IN_MEMORY(cases[i].reader);
        survive_long_line(reader, cases[i].before, 'a', "\n");
        survive_long_line(reader, cases[i].before, '1', "\nf 1 2 3\n");
        survive_long_line(reader, cases[i].before, ' ', "7\n");
        survive_long_line(reader, cases[i].before, '\\', "\n");
        survive_long_line(reader, cases[i].before, '\n', "end_header\n");
        survive_long_line(reader, cases[i].before, 0, "");
    }
    /* One polygon with many corners on one line. */
    bytes b = {0};
    put_text(&b, THREE "f");
    for (int i = 0; i < 250000; i++)
        put_text(&b, " %d", 1 + i % 3);
    check(survives(obj, b.data, b.size) == BOUGH_OK);
    bytes_free(&b);
}

static void other_things_are_refused(void **state) {
    (void)state;
    survive_garbage(obj, THREE "f ");
    survive_garbage(stl, "solid ");
    survive_garbage(ply, "ply\nformat binary_little_endian 1.0\nelement vertex 99\nproperty float x\n"
                         "property float y\nproperty float z\nend_header\n");
    refuse_paths(".obj");
    refuse_paths(".stl");
    refuse_paths(".ply");
}

static void writers_survive_failing_allocations(void **state) {
    (void)state;
    static const char *const names[] = {"fails.obj", "fails.stl"};
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make_pyramid(ctx);
    for (int i = 0; i < 2; i++)
        survive_failing_allocations_of_write(mesh, test_path(names[i]));
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void reference_surface_reads(void **state) {
    (void)state;
    const char *path = test_shared("meshes/simpleBridge.obj");
    if (!path)
        test_skip("the reference data ../shared is not there");
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_read(ctx, path, NULL, &mesh));
    check_int(mesh->type, BOUGH_TRI3);
    check_int(mesh->vertex_count, 4000);
    check_int(mesh->element_count, 7058);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_of_obj_faces_are_read),
        cmocka_unit_test(wrong_obj_files_are_refused),
        cmocka_unit_test(collapsed_triangles_are_dropped),
        cmocka_unit_test(obj_comes_back),
        cmocka_unit_test(both_kinds_of_stl_are_read),
        cmocka_unit_test(wrong_stl_files_are_refused),
        cmocka_unit_test(stl_comes_back),
        cmocka_unit_test(all_kinds_of_ply_are_read),
        cmocka_unit_test(wrong_ply_files_are_refused),
        cmocka_unit_test(absurd_binary_counts_allocate_nothing),
        cmocka_unit_test(truncated_files_are_survived),
        cmocka_unit_test(changed_files_are_survived),
        cmocka_unit_test(failing_allocations_leak_nothing),
        cmocka_unit_test(long_lines_are_survived),
        cmocka_unit_test(other_things_are_refused),
        cmocka_unit_test(writers_survive_failing_allocations),
        cmocka_unit_test(reference_surface_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
