/* Legacy VTK files, and the .vtu files that Bough writes. */
#include "hostile.h"

/* Builds files: numbers as text or as big-endian bytes. */
typedef struct vtk_file {
    bytes text;
    bool binary;
} vtk_file;

static void put_bytes(vtk_file *f, uint64_t bits, int size) {
    for (int i = size - 1; i >= 0; i--) {
        unsigned char byte = (unsigned char)(bits >> (8 * i));
        put_raw(&f->text, &byte, 1);
    }
}
static void put_whole(vtk_file *f, int64_t value, int size) {
    if (f->binary)
        put_bytes(f, (uint64_t)value, size);
    else
        put_text(&f->text, "%lld ", (long long)value);
}
static void put_real(vtk_file *f, double value, int size) {
    uint64_t bits = 0;
    float single = (float)value;
    uint32_t half;
    memcpy(&half, &single, sizeof half);
    memcpy(&bits, &value, sizeof bits);
    if (f->binary)
        put_bytes(f, size == 4 ? half : bits, size);
    else
        put_text(&f->text, "%g ", value);
}

typedef enum cell_mix { TETS, TETS_AND_SKIN, VOXEL, HEX, SKIN } cell_mix;

static void begin(vtk_file *f, bool binary, bool single) {
    f->binary = binary;
    f->text.size = 0;
    put_text(&f->text, "# vtk DataFile Version 3.0\ncube\n%s\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 %s\n",
             binary ? "BINARY" : "ASCII", single ? "float" : "double");
    for (int v = 0; v < 8; v++) {
        double x[3];
        unit_cube_corner(v, x);
        for (int d = 0; d < 3; d++)
            put_real(f, x[d], single ? 4 : 8);
    }
    put_text(&f->text, "\n");
}

static void put_cells(vtk_file *f, bool modern, int count, const int *sizes, int nodes[][8]) {
    int total = 0;
    for (int i = 0; i < count; i++)
        total += sizes[i];
    if (!modern) {
        put_text(&f->text, "CELLS %d %d\n", count, total + count);
        for (int i = 0; i < count; i++) {
            put_whole(f, sizes[i], 4);
            for (int k = 0; k < sizes[i]; k++)
                put_whole(f, nodes[i][k], 4);
        }
    } else {
        put_text(&f->text, "CELLS %d %d\nOFFSETS vtktypeint64\n", count + 1, total);
        for (int i = 0, at = 0; i <= count; at += i < count ? sizes[i] : 0, i++)
            put_whole(f, at, 8);
        put_text(&f->text, "\nCONNECTIVITY vtktypeint64\n");
        for (int i = 0; i < count; i++)
            for (int k = 0; k < sizes[i]; k++)
                put_whole(f, nodes[i][k], 8);
    }
    put_text(&f->text, "\n");
}

static const vtk_file *cube(cell_mix shape, bool binary, bool modern) {
    static vtk_file f;
    int sizes[16], types[16], nodes[16][8], count = 0;
    begin(&f, binary, modern);
    if (shape == TETS_AND_SKIN || shape == SKIN) {
        sizes[count] = 3, types[count] = 5, nodes[count][0] = 0, nodes[count][1] = 1, nodes[count++][2] = 3;
        sizes[count] = 2, types[count] = 3, nodes[count][0] = 0, nodes[count++][1] = 1;
    }
    if (shape == SKIN) {
        sizes[count] = 4, types[count] = 9;
        for (int i = 0; i < 4; i++)
            nodes[count][i] = unit_cube_hex[i];
        count++;
    }
    for (int e = 0; e < 6 && shape <= TETS_AND_SKIN; e++, count++) {
        sizes[count] = 4, types[count] = 10;
        for (int i = 0; i < 4; i++)
            nodes[count][i] = unit_cube_tets[e][i];
    }
    if (shape == VOXEL || shape == HEX) {
        sizes[count] = 8, types[count] = shape == VOXEL ? 11 : 12;
        for (int i = 0; i < 8; i++)
            nodes[count][i] = shape == VOXEL ? i : unit_cube_hex[i];
        count++;
    }
    put_cells(&f, modern, count, sizes, nodes);
    put_text(&f.text, "CELL_TYPES %d\n", count);
    for (int i = 0; i < count; i++)
        put_whole(&f, types[i], 4);
    put_text(&f.text, "\nPOINT_DATA 8\nSCALARS heat float 1\nLOOKUP_TABLE default\n");
    for (int i = 0; i < 8; i++)
        put_real(&f, i, 4);
    put_text(&f.text, "\nVECTORS speed double\n");
    for (int i = 0; i < 24; i++)
        put_real(&f, i, 8);
    put_text(&f.text, "\nMETADATA\nINFORMATION 0\n\nCELL_DATA %d\nSCALARS part short\nLOOKUP_TABLE default\n", count);
    for (int i = 0; i < count; i++)
        put_whole(&f, i % 2 ? -4 : 6, 2);
    put_text(&f.text, "\nFIELD more 2\nzone 1 %d int\n", count);
    for (int i = 0; i < count; i++)
        put_whole(&f, 3, 4);
    put_text(&f.text, "\nweight 1 %d float\n", count);
    for (int i = 0; i < count; i++)
        put_real(&f, 0.5, 4);
    put_text(&f.text, "\n");
    return &f;
}

static void text_and_binary_old_and_new_cells_say_the_same(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int form = 0; form < 4; form++)
        for (cell_mix shape = TETS; shape <= SKIN; shape++) {
            const vtk_file *f = cube(shape, form & 1, form & 2);
            bough_mesh *mesh = must_read(ctx, in_file("a.vtk"), &f->text);
            bool tets = shape <= TETS_AND_SKIN;
            check_int(mesh->type, tets ? BOUGH_TET4 : shape == SKIN ? BOUGH_TRI3 : BOUGH_HEX8);
            check_int(mesh->element_count, tets ? 6 : shape == SKIN ? 3 : 1);
            check(mesh->vertices[3 * 6 + 1] == 1 && mesh->vertices[3 * 6] == 0);
            check_set_count(mesh, BOUGH_SET_ELEMENT, "part_6", tets ? 3 : shape == SKIN ? 3 : 1);
            if (tets)
                check_int(check_set_count(mesh, BOUGH_SET_ELEMENT, "part_-4", 3)->items[0], 1);
            check_set_count(mesh, BOUGH_SET_ELEMENT, "zone_3", mesh->element_count);
            bough_mesh_destroy(ctx, mesh);
        }
    bough_context_destroy(ctx);
}

static void second_order_tets_keep_their_order(void **state) {
    (void)state;
    static const char text[] =
        "# vtk DataFile Version 2.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 10 double\n0 0 0 1 0 0 0 1 0 0 0 1 "
        ".5 0 0 .5 .5 0 0 .5 0 0 0 .5 .5 0 .5 0 .5 .5\nCELLS 1 11\n10 0 1 2 3 4 5 6 7 8 9\nCELL_TYPES 1\n24\n";
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = must_read_text(ctx, in_file("b.vtk"), text);
    check_int(mesh->type, BOUGH_TET10);
    for (int i = 0; i < 10; i++)
        check_int(mesh->elements[i], i);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void refused(const char *from, const char *to, bough_status status, const char *part) {
    check_refused(in_file("bad.vtk"), replaced(cube(TETS, false, false)->text.data, from, to), status, part);
}

static void wrong_content_is_refused(void **state) {
    (void)state;
    refused("# vtk", "# vtx", BOUGH_ERROR_FORMAT, "bad.vtk:1:");
    refused("ASCII", "ASKEY", BOUGH_ERROR_FORMAT, "bad.vtk:3: expected ASCII or BINARY");
    refused("UNSTRUCTURED_GRID", "POLYDATA", BOUGH_ERROR_FORMAT, "POLYDATA");
    refused("POINTS 8", "POINTS 9", BOUGH_ERROR_FORMAT, "found \"CELLS\"");
    refused("POINTS 8", "POINTS 7", BOUGH_ERROR_FORMAT, "a VTK keyword");
    refused("POINTS 8", "POINTS 2000000000", BOUGH_ERROR_FORMAT, "room for at most");
    refused("POINTS 8", "POINTS 9000000000000000000", BOUGH_ERROR_FORMAT, "room for at most");
    refused("POINTS 8", "POINTS -8", BOUGH_ERROR_FORMAT, "negative");
    refused("8 double", "8 quadruple", BOUGH_ERROR_FORMAT, "quadruple");
    refused("0 0 0 1 ", "0 0 0 nan ", BOUGH_ERROR_FORMAT, "not a finite");
    refused("0 0 0 1 ", "0 0 0 -inf ", BOUGH_ERROR_FORMAT, "not a finite");
    refused("CELLS 6 30", "CELLS 2000000000 30", BOUGH_ERROR_FORMAT, "room for at most");
    refused("CELLS 6 30", "CELLS 6 2000000000", BOUGH_ERROR_FORMAT, "room for at most");
    refused("CELLS 6 30", "CELLS 6 31", BOUGH_ERROR_FORMAT, "announced");
    refused("CELLS 6 30", "CELLS 6 29", BOUGH_ERROR_FORMAT, "does not fit");
    refused("CELLS 6 30", "CELLS 5 25", BOUGH_ERROR_FORMAT, "a VTK keyword");
    refused("4 0 1 3 7", "4 0 1 3 8", BOUGH_ERROR_FORMAT, "element 1 names vertex 8");
    refused("4 0 1 3 7", "4 0 1 3 -7", BOUGH_ERROR_FORMAT, "out of range");
    refused("4 0 1 3 7", "4 0 1 3 3", BOUGH_ERROR_FORMAT, "twice");
    refused("4 0 1 3 7", "4 0 3 1 7", BOUGH_ERROR_FORMAT, "element 1 is inverted");
    refused("4 0 1 3 7", "4 0 1 3 2", BOUGH_ERROR_FORMAT, "element 1 has no volume");
    refused("CELL_TYPES 6", "CELL_TYPES 7", BOUGH_ERROR_FORMAT, "7 entries for 6 cells");
    refused("CELL_TYPES 6\n10", "CELL_TYPES 6\n14", BOUGH_ERROR_UNSUPPORTED, "pyramid");
    refused("CELL_TYPES 6\n10", "CELL_TYPES 6\n13", BOUGH_ERROR_UNSUPPORTED, "wedge");
    refused("CELL_TYPES 6\n10", "CELL_TYPES 6\n12", BOUGH_ERROR_FORMAT, "has 4 points, not 8");
    refused("SCALARS heat float 1", "SCALARS heat float 999999999", BOUGH_ERROR_FORMAT, "outside");
    refused("CELL_DATA 6", "CELL_DATA 2000000000", BOUGH_ERROR_FORMAT, "the file ends");
    const char *text = cube(TETS, false, true)->text.data;
    check_refused(in_file("bad.vtk"), replaced(text, "\n0 4 8", "\n0 8 4"), BOUGH_ERROR_FORMAT, "out of order");
    check_refused(in_file("bad.vtk"), replaced(text, "\n0 4 8", "\n4 4 8"), BOUGH_ERROR_FORMAT, "out of order");
    check_refused(in_file("bad.vtk"), replaced(text, "CELLS 7 24", "CELLS 7 25"), BOUGH_ERROR_FORMAT,
                  "the last offset is 24");
    check_refused(in_file("bad.vtk"), replaced(text, "CELLS 7 24", "CELLS 9000000000000000000 24"), BOUGH_ERROR_FORMAT,
                  "room for at most");
    check_refused(in_file("bad.vtk"), replaced(text, "CONNECTIVITY", "CONNECTED"), BOUGH_ERROR_FORMAT,
                  "CONNECTIVITY is missing");
}

static void binary_coordinates_must_be_finite(void **state) {
    (void)state;
    for (int single = 0; single < 2; single++)
        for (int bad = 0; bad < 2; bad++) {
            const vtk_file *f = cube(TETS, true, single);
            char *at = strstr(f->text.data, single ? "float\n" : "double\n") + (single ? 6 : 7);
            static const unsigned char values[2][2][8] = {
                {{0x7f, 0xf8, 0, 0, 0, 0, 0, 0}, {0xff, 0xf0, 0, 0, 0, 0, 0, 0}},
                {{0x7f, 0xc0, 0, 0}, {0xff, 0x80, 0, 0}}};
            memcpy(at, values[single][bad], single ? 4 : 8);
            check_refused_bytes(in_file("nan.vtk"), f->text.data, f->text.size, BOUGH_ERROR_FORMAT,
                                "not a finite number");
        }
}

static void inverted_elements_can_be_flipped(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    refused("4 0 1 3 7", "4 0 3 1 7", BOUGH_ERROR_FORMAT, "element 1 is inverted");
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = BOUGH_VOLUME_REPAIR;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_read(ctx, test_path("bad.vtk"), &def, &mesh));
    check_int(mesh->elements[1], 1);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void cut_and_altered_files_are_survived(void **state) {
    (void)state;
    for (int form = 0; form < 4; form++) {
        const vtk_file *f = cube(TETS_AND_SKIN, form & 1, form & 2);
        survive_every_truncation(in_file("cut.vtk"), f->text.data, f->text.size);
        survive_mutations(in_file("cut.vtk"), f->text.data, f->text.size, 1000);
    }
}
static void failed_allocations_are_survived(void **state) {
    (void)state;
    for (int modern = 0; modern < 2; modern++) {
        const vtk_file *f = cube(TETS_AND_SKIN, true, modern);
        test_write(test_path("memory.vtk"), f->text.data, f->text.size);
        survive_failing_allocations(in_file("memory.vtk"), NULL, 0);
    }
}
static void nonsense_is_refused(void **state) {
    (void)state;
    survive_garbage(in_file("nonsense.vtk"),
                    "# vtk DataFile Version 3.0\ncube\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n");
    refuse_paths(".vtk");
    const char *text = cube(TETS, false, false)->text.data;
    survive_long_lines_at(in_file("long.vtk"), text, (const char *const[]){"cube", "part", "CELLS", NULL});
}

static void reference_meshes_are_read(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int32_t vertices, elements;
    } meshes[] = {{"meshes/ditto.vtk", 2580, 10415}, {"meshes/torus.vtk", 1036, 4436}};
    for (int i = 0; i < 2; i++) {
        const char *path = test_shared(meshes[i].name);
        if (!path)
            test_skip("the reference data ../shared is not there");
        bough_context *ctx = test_context(1);
        bough_mesh *mesh;
        check_ok(ctx, bough_mesh_read(ctx, path, NULL, &mesh));
        check_int(mesh->type, BOUGH_TET4);
        check_int(mesh->vertex_count, meshes[i].vertices);
        check_int(mesh->element_count, meshes[i].elements);
        bough_mesh_destroy(ctx, mesh);
        bough_context_destroy(ctx);
    }
}

/* ---- .vtu ---- */

static char *read_whole(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    check(f != NULL);
    char *data = malloc(1 << 20);
    check(data != NULL);
    *size = fread(data, 1, (1 << 20) - 1, f);
    data[*size] = 0;
    fclose(f);
    return data;
}

/* Bytes of the array with this Name attribute; the format's own description is followed. */
static const void *find_array(const char *data, size_t size, const char *name, uint64_t *byte_count) {
    char attribute[128];
    snprintf(attribute, sizeof attribute, "Name=\"%s\"", name);
    const char *at = strstr(data, attribute);
    if (!at)
        fail_msg("array %s is missing", name);
    uint64_t offset = strtoull(strstr(at, "offset=\"") + 8, NULL, 10);
    const char *base = strstr(data, "encoding=\"raw\">\n_") + 17;
    check((size_t)(base - data) + offset + 8 <= size);
    memcpy(byte_count, base + offset, sizeof *byte_count);
    check((size_t)(base - data) + offset + 8 + *byte_count <= size);
    return base + offset + 8;
}

static bough_mesh *two_tets(bough_context *ctx) {
    static const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    static const int32_t e[8] = {0, 1, 2, 3, 1, 2, 3, 4};
    static const int32_t low[] = {0, 1, 2}, second[] = {1};
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TET4, 5, x, 2, e, &mesh));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "a<b & \"c\"", low, 3));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "bad\x01\xff", second, 1));
    return mesh;
}

static void vtu_files_hold_fields_and_sets_where_they_say(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = two_tets(ctx);
    const double heat[5] = {1, 2, 3, 4, 5}, stress[4] = {9, 8, 7, 6};
    const bough_field fields[] = {{"heat", false, 1, heat}, {"stress", true, 2, stress}};
    check_ok(ctx, bough_mesh_write_fields(ctx, mesh, test_path("f.vtu"), fields, 2));
    size_t size;
    uint64_t byte_count;
    char *data = read_whole(test_path("f.vtu"), &size);
    check(memcmp(find_array(data, size, "heat", &byte_count), heat, sizeof heat) == 0 && byte_count == sizeof heat);
    check(memcmp(find_array(data, size, "stress", &byte_count), stress, sizeof stress) == 0 &&
          byte_count == sizeof stress);
    check(memcmp(find_array(data, size, "Points", &byte_count), mesh->vertices, 15 * sizeof(double)) == 0 &&
          byte_count == 120);
    check(memcmp(find_array(data, size, "connectivity", &byte_count), mesh->elements, 32) == 0 && byte_count == 32);
    check(memcmp(find_array(data, size, "types", &byte_count), "\x0a\x0a", 2) == 0 && byte_count == 2);
    check(memcmp(find_array(data, size, "offsets", &byte_count), (const int64_t[]){4, 8}, 16) == 0 && byte_count == 16);
    check(memcmp(find_array(data, size, "set:a&lt;b &amp; &quot;c&quot;", &byte_count), "\1\1\1\0\0", 5) == 0);
    check(memcmp(find_array(data, size, "set:bad\?\?", &byte_count), "\0\1", 2) == 0 && byte_count == 2);
    free(data);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void fields_that_cannot_be_written_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = two_tets(ctx);
    const double heat[5] = {0};
    const bough_field good = {"heat", false, 1, heat}, nameless = {"", false, 1, heat}, empty = {"x", false, 1, NULL},
                      narrow = {"x", true, 0, heat};
    check_fails(ctx, bough_mesh_write_fields(ctx, mesh, test_path("f.inp"), &good, 1), BOUGH_ERROR_UNSUPPORTED, ".vtu");
    check_fails(ctx, bough_mesh_write_fields(ctx, mesh, test_path("g.vtu"), &nameless, 1), BOUGH_ERROR_ARGUMENT,
                "name");
    check_fails(ctx, bough_mesh_write_fields(ctx, mesh, test_path("g.vtu"), &empty, 1), BOUGH_ERROR_ARGUMENT, "values");
    check_fails(ctx, bough_mesh_write_fields(ctx, mesh, test_path("g.vtu"), &narrow, 1), BOUGH_ERROR_ARGUMENT,
                "component");
    check(access(test_path("g.vtu"), F_OK) != 0);
    check_fails(ctx, bough_mesh_write_fields(ctx, mesh, "/nowhere/g.vtu", &good, 1), BOUGH_ERROR_FILE, "/nowhere");
    check_fails(ctx, bough_mesh_write_fields(ctx, mesh, "/dev/full", &good, 1), BOUGH_ERROR_UNSUPPORTED, ".vtu");
    survive_failing_allocations_of_write(mesh, test_path("plain.vtu"));
    if (access("/dev/full", W_OK) == 0 && symlink("/dev/full", test_path("full.vtu")) == 0)
        check_fails(ctx, bough_mesh_write_fields(ctx, mesh, test_path("full.vtu"), &good, 1), BOUGH_ERROR_FILE,
                    "full.vtu: cannot be written");
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_binary_old_and_new_cells_say_the_same),
        cmocka_unit_test(second_order_tets_keep_their_order),
        cmocka_unit_test(wrong_content_is_refused),
        cmocka_unit_test(binary_coordinates_must_be_finite),
        cmocka_unit_test(inverted_elements_can_be_flipped),
        cmocka_unit_test(cut_and_altered_files_are_survived),
        cmocka_unit_test(failed_allocations_are_survived),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(reference_meshes_are_read),
        cmocka_unit_test(vtu_files_hold_fields_and_sets_where_they_say),
        cmocka_unit_test(fields_that_cannot_be_written_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
