/* One format of mesh files, FUZZ_FORMAT: bytes become a sentence or a sound mesh. */
#include "fuzz.h"

#include "../mesh/hostile.h"

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)
static const char format[] = NAME_OF(FUZZ_FORMAT);

/* TetGen's elements and faces stand behind bytes 0xff. */
static void write_tetgen(const uint8_t *data, size_t size) {
    static const char *const names[] = {"mesh.node", "mesh.ele", "mesh.face"};
    for (int i = 0; i < 3; i++) {
        unlink(test_path(names[i]));
        if (!data)
            continue;
        const uint8_t *cut = i < 2 ? memchr(data, 0xff, size) : NULL;
        const size_t length = cut ? (size_t)(cut - data) : size;
        test_write(test_path(names[i]), data, length);
        data = cut ? cut + 1 : NULL;
        size -= cut ? length + 1 : length;
    }
}

void fuzz_one(const uint8_t *data, size_t size) {
    char name[64];
    fuzz_memory memory;
    bough_mesh *mesh;
    bough_context *ctx = fuzz_context(&memory);
    snprintf(name, sizeof name, "mesh.%s", format);
    if (!strcmp(format, "node"))
        write_tetgen(data, size);
    else
        test_write(test_path(name), data, size);
    bough_status status = bough_mesh_read(ctx, test_path(name), NULL, &mesh);
    if (status == BOUGH_OK)
        check_sound(ctx, mesh);
    bough_mesh_destroy(ctx, mesh);
    fuzz_end(ctx, &memory, status);
}

static void add_written(fuzz_add *add, bough_element_type type) {
    char name[64];
    bough_context *ctx = test_context(1);
    bough_box_def box = bough_default_box_def();
    bough_mesh *mesh;
    box.type = type, box.cells[0] = 2, box.cells[1] = box.cells[2] = 1;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    snprintf(name, sizeof name, "seed.%s", format);
    check_ok(ctx, bough_mesh_write(ctx, mesh, test_path(name)));
    fuzz_add_file(add, test_path(name));
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void add_medit(fuzz_add *add) {
    fuzz_add_text(add, "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 2\n"
                       "Triangles\n1\n1 2 3 5\nTetrahedra\n1\n1 2 3 4 7\nEnd\n");
}

static void add_vtk(fuzz_add *add) {
    fuzz_add_text(add, "# vtk DataFile Version 3.0\nbox\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 "
                       "0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\nCELL_DATA 1\nSCALARS a int 1\n"
                       "LOOKUP_TABLE default\n3\n");
    fuzz_add_text(add, "# vtk DataFile Version 5.1\nbox\nBINARY\nDATASET POLYDATA\nPOINTS 3 float\n\0\0");
}

static void add_ply(fuzz_add *add) {
    static const char head[] = "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty "
                               "float y\nproperty double z\nelement face 1\nproperty list uchar int vertex_indices\n"
                               "end_header\n";
    char buffer[512] = {0};
    size_t size = sizeof head - 1;
    memcpy(buffer, head, size);
    for (int i = 0; i < 3; i++, size += 16) {
        const float xy[2] = {(float)(i == 1), (float)(i == 2)};
        memcpy(buffer + size, xy, sizeof xy);
    }
    const int32_t corners[3] = {0, 1, 2};
    buffer[size++] = 3;
    memcpy(buffer + size, corners, sizeof corners);
    add(buffer, size + sizeof corners);
    fuzz_add_text(add, "ply\nformat ascii 1.0\ncomment a\nelement vertex 3\nproperty float x\nproperty float y\n"
                       "property float z\nelement face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n"
                       "1 0 0\n0 1 0\n3 0 1 2\n");
    fuzz_add_text(add, "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
                       "element tristrips 1\nproperty list int int vertex_indices\nelement material 1\nproperty uchar "
                       "red\nelement face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n"
                       "4 0 1 2 -1\n255\n3 0 1 2\n");
}

static void add_veg(fuzz_add *add) {
    fuzz_add_text(add, "*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n"
                       "*MATERIAL A\nENU, 1000, 1e6, 0.45\n*SET low\n1\n*REGION\nlow, A\n");
    fuzz_add_text(add, "*INCLUDE other.veg\n*VERTICES\n");
}

static void add_inp(fuzz_add *add) {
    fuzz_add_text(add, "*HEADING\nbox\n*NODE, NSET=all\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n*ELEMENT, "
                       "TYPE=C3D4, ELSET=e\n1, 1, 2, 3, 4\n*NSET, NSET=a, GENERATE\n1, 3, 2\n*SURFACE, NAME=s\ne, S1\n"
                       "*MATERIAL, NAME=m\n*ELASTIC\n1e6, 0.3\n*DENSITY\n1000\n*SOLID SECTION, ELSET=e, MATERIAL=m\n");
}

static void add_tetgen(fuzz_add *add) {
    fuzz_add_text(add, "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\xff"
                       "1 4 1\n1 1 2 3 4 7\n");
    fuzz_add_text(add, "4 3 0 1\n0 0 0 0 5\n1 1 0 0 5\n2 0 1 0 0\n3 0 0 1 -1\n\xff"
                       "1 4 0\n0 0 1 2 3\n\xff"
                       "3 1\n0 0 1 2 9\n1 0 1 3 0\n2 1 2 3 -4 0 -1\n");
    fuzz_add_text(add, "10 3 0 0\n1 0 0 0\n2 2 0 0\n3 0 2 0\n4 0 0 2\n5 0 1 1\n6 0 0 1\n7 1 0 0\n8 1 1 0\n9 1 0 1\n"
                       "10 0 1 0\n\xff"
                       "1 10 0\n1 1 2 3 4 5 6 7 8 9 10\n\xff"
                       "1 1\n1 1 2 3 8 10 7 3\n");
}

void fuzz_seeds(fuzz_add *add) {
    static const struct {
        const char *format;
        void (*texts)(fuzz_add *);
        bool written, surface;
    } kinds[] = {{"msh", NULL, true, false},     {"veg", add_veg, false, false}, {"mesh", add_medit, false, false},
                 {"vtk", add_vtk, false, false}, {"inp", add_inp, true, false},  {"obj", NULL, true, true},
                 {"stl", NULL, true, true},      {"ply", add_ply, false, true}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].format, format) != 0)
            continue;
        if (kinds[i].texts)
            kinds[i].texts(add);
        if (kinds[i].written) {
            add_written(add, BOUGH_TET4);
            add_written(add, BOUGH_HEX8);
        }
    }
    if (!strcmp(format, "node"))
        add_tetgen(add);
    if (!strcmp(format, "msh"))
        fuzz_add_text(add, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
                           "$EndNodes\n$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n");
    if (!strcmp(format, "obj"))
        fuzz_add_text(add, "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nusemtl a\nf 1//1 2//1 -1//1\n");
    if (!strcmp(format, "stl"))
        fuzz_add_text(add,
                      "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
                      "endfacet\nendsolid a\n");
}
