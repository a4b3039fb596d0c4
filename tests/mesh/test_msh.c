/* Gmsh files: every flavour gives the same mesh, what is written comes back, and broken files are answered. */
#include "hostile.h"

static const target msh = IN_MEMORY(bo_read_msh);

#include "base/idmap.h"

#include <inttypes.h>

/* ---- one mesh in all flavours ---- */

/* Two tets on a common face, a vertex in no element; "second" shares its tet with "all". */
static const double points[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1.25}, {3, 3, 3}};
static const int32_t tets[2][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}};
static const int64_t node_tags[6] = {1, 2, 30, 4, 5, 600};
static const char names_section[] = "$PhysicalNames\n5\n0 3 \"tip\"\n2 1 \"base\"\n3 1 \"all\"\n3 2 \"the second\"\n"
                                    "1 8 \"ridge\"\n$EndPhysicalNames\n";

typedef struct flavour {
    int version;
    bool binary, swap;
} flavour;
static const flavour flavours[] = {{2, false, false}, {2, true, false}, {2, true, true},
                                   {4, false, false}, {4, true, false}, {4, true, true}};
#define FLAVOUR_COUNT (sizeof flavours / sizeof *flavours)

static void put_header(bytes *b, flavour f) {
    put_text(b, "$MeshFormat\n%s %d 8\n", f.version == 2 ? "2.2" : "4.1", f.binary);
    if (f.binary) {
        put_int(b, 1);
        put_text(b, "\n");
    }
    put_text(b, "$EndMeshFormat\n%s", names_section);
}

/* Writes as text, or as int32 when wide is false, or as 8 bytes. */
static void put_number(bytes *b, flavour f, bool wide, int64_t value) {
    if (!f.binary)
        put_text(b, "%" PRId64 " ", value);
    else if (wide)
        put_size(b, (uint64_t)value);
    else
        put_int(b, (int32_t)value);
}
static void put_point(bytes *b, flavour f, const double *x) {
    for (int d = 0; d < 3; d++)
        if (f.binary)
            put_double(b, x[d]);
        else
            put_text(b, "%.17g ", x[d]);
}
static void put_end(bytes *b, flavour f) {
    if (!f.binary)
        put_text(b, "\n");
}

static void put_element2(bytes *b, flavour f, int number, int type, int physical, int count, const int32_t *nodes) {
    if (f.binary) {
        put_int(b, type), put_int(b, 1), put_int(b, 2), put_int(b, number);
    } else {
        put_text(b, "%d %d 2 ", number, type);
    }
    put_number(b, f, false, physical);
    put_number(b, f, false, 1);
    for (int i = 0; i < count; i++)
        put_number(b, f, false, node_tags[nodes[i]]);
    put_end(b, f);
}

static bytes make_msh2(flavour f) {
    bytes b = {.swap = f.swap};
    put_header(&b, f);
    put_text(&b, "$Nodes\n6\n");
    for (int v = 0; v < 6; v++) {
        put_number(&b, f, false, node_tags[v]);
        put_point(&b, f, points[v]);
        put_end(&b, f);
    }
    put_text(&b, "%s$EndNodes\n$Elements\n8\n", f.binary ? "\n" : "");
    put_element2(&b, f, 1, 15, 3, 1, (int32_t[]){4});
    put_element2(&b, f, 2, 1, 8, 2, (int32_t[]){0, 3});
    put_element2(&b, f, 3, 2, 1, 3, (int32_t[]){1, 0, 2});
    put_element2(&b, f, 4, 2, 0, 3, (int32_t[]){0, 1, 3});
    put_element2(&b, f, 5, 4, 1, 4, tets[0]);
    put_element2(&b, f, 6, 4, 1, 4, tets[1]);
    put_element2(&b, f, 7, 4, 2, 4, tets[1]);
    put_element2(&b, f, 8, 15, 0, 1, (int32_t[]){1});
    put_text(&b, "%s$EndElements\n", f.binary ? "\n" : "");
    return b;
}

static void put_entity(bytes *b, flavour f, int dim, int tag, int count, const int *physical) {
    put_number(b, f, false, tag);
    put_point(b, f, points[0]);
    if (dim)
        put_point(b, f, points[5]);
    put_number(b, f, true, count);
    for (int i = 0; i < count; i++)
        put_number(b, f, false, physical[i]);
    if (dim) {
        put_number(b, f, true, 1);
        put_number(b, f, false, -7);
    }
    put_end(b, f);
}

static void put_numbers(bytes *b, flavour f, int64_t a, int64_t c, int64_t d, int64_t e, bool all_wide) {
    put_number(b, f, all_wide, a), put_number(b, f, all_wide, c), put_number(b, f, all_wide, d);
    put_number(b, f, true, e);
    put_end(b, f);
}

static void put_element4(bytes *b, flavour f, int tag, int count, const int32_t *nodes) {
    put_number(b, f, true, tag);
    for (int i = 0; i < count; i++)
        put_number(b, f, true, node_tags[nodes[i]]);
    put_end(b, f);
}

static bytes make_msh4(flavour f) {
    bytes b = {.swap = f.swap};
    put_header(&b, f);
    put_text(&b, "$Entities\n");
    put_numbers(&b, f, 1, 1, 2, 2, true);
    put_entity(&b, f, 0, 1, 1, (int[]){3});
    put_entity(&b, f, 1, 5, 1, (int[]){-8});
    put_entity(&b, f, 2, 1, 1, (int[]){1});
    put_entity(&b, f, 2, 2, 0, NULL);
    put_entity(&b, f, 3, 1, 1, (int[]){1});
    put_entity(&b, f, 3, 2, 2, (int[]){1, 2});
    put_text(&b, "%s$EndEntities\n$Nodes\n", f.binary ? "\n" : "");
    put_numbers(&b, f, 2, 6, 1, 600, true);
    put_numbers(&b, f, 2, 1, 1, 2, false); /* parametric: two more coordinates */
    put_number(&b, f, true, node_tags[0]), put_number(&b, f, true, node_tags[1]);
    for (int v = 0; v < 2; v++) {
        put_point(&b, f, points[v]);
        if (f.binary)
            put_double(&b, 0.5), put_double(&b, 0.25);
        else
            put_text(&b, "0.5 0.25 ");
    }
    put_end(&b, f);
    put_numbers(&b, f, 3, 1, 0, 4, false);
    for (int v = 2; v < 6; v++)
        put_number(&b, f, true, node_tags[v]);
    for (int v = 2; v < 6; v++)
        put_point(&b, f, points[v]);
    put_end(&b, f);
    put_text(&b, "%s$EndNodes\n$Elements\n", f.binary ? "\n" : "");
    put_numbers(&b, f, 6, 6, 1, 6, true);
    put_numbers(&b, f, 0, 1, 15, 1, false), put_element4(&b, f, 1, 1, (int32_t[]){4});
    put_numbers(&b, f, 1, 5, 1, 1, false), put_element4(&b, f, 2, 2, (int32_t[]){0, 3});
    put_numbers(&b, f, 2, 1, 2, 1, false), put_element4(&b, f, 3, 3, (int32_t[]){1, 0, 2});
    put_numbers(&b, f, 2, 2, 2, 1, false), put_element4(&b, f, 4, 3, (int32_t[]){0, 1, 3});
    put_numbers(&b, f, 3, 1, 4, 1, false), put_element4(&b, f, 5, 4, tets[0]);
    put_numbers(&b, f, 3, 2, 4, 1, false), put_element4(&b, f, 6, 4, tets[1]);
    put_text(&b, "%s$EndElements\n", f.binary ? "\n" : "");
    return b;
}

static bytes make_flavour(size_t i) {
    return flavours[i].version == 2 ? make_msh2(flavours[i]) : make_msh4(flavours[i]);
}

static void one_tetrahedron_reads(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    const char *path = test_path("one.msh");
    test_write_text(path, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
                          "$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n");
    check_ok(ctx, bough_mesh_read(ctx, path, NULL, &mesh));
    check_int(mesh->type, BOUGH_TET4);
    check_int(mesh->vertex_count, 4);
    check_int(mesh->element_count, 1);
    check_int(mesh->set_count, 0);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void all_flavours_give_the_same_mesh(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < FLAVOUR_COUNT; i++) {
        bytes b = make_flavour(i);
        bough_mesh *mesh = must_read(ctx, msh, &b);
        check_int(mesh->type, BOUGH_TET4);
        check_int(mesh->vertex_count, 6);
        check(memcmp(mesh->vertices, points, sizeof points) == 0);
        check_int(mesh->element_count, 2);
        check(memcmp(mesh->elements, tets, sizeof tets) == 0);
        check_int(mesh->set_count, 5);
        check_set(mesh, BOUGH_SET_VERTEX, "tip", ITEMS(4));
        check_set(mesh, BOUGH_SET_VERTEX, "ridge", ITEMS(0, 3));
        check_set(mesh, BOUGH_SET_FACE, "base", ITEMS(0));
        check_set(mesh, BOUGH_SET_ELEMENT, "all", ITEMS(0, 1));
        check_set(mesh, BOUGH_SET_ELEMENT, "the second", ITEMS(1));
        bough_mesh_destroy(ctx, mesh);
        bytes_free(&b);
    }
    bough_context_destroy(ctx);
}

/* ---- meanings ---- */

#define V22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define V41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES4 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
#define ELEMENT(line) "$Elements\n1\n" line "\n$EndElements\n"

static void groups_without_names_are_called_by_their_tags(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = must_read_text(ctx, msh,
                                      V22 NODES4 "$Elements\n4\n1 15 2 7 1 2\n2 1 2 7 1 1 3\n3 2 2 -12 1 1 2 3\n"
                                                 "4 4 2 9000000000000000000 1 1 2 3 4\n$EndElements\n");
    check_set(mesh, BOUGH_SET_VERTEX, "physical_7", ITEMS(1));
    check_set(mesh, BOUGH_SET_VERTEX, "physical_curve_7", ITEMS(0, 2));
    check_set(mesh, BOUGH_SET_FACE, "physical_12", ITEMS(0));
    check_set(mesh, BOUGH_SET_ELEMENT, "physical_9000000000000000000", ITEMS(0));
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void file_of_triangles_is_a_surface(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = must_read_text(ctx, msh,
                                      V22 "$PhysicalNames\n1\n2 1 \"skin\"\n$EndPhysicalNames\n" NODES4
                                          "$Elements\n3\n1 2 2 1 1 1 2 3\n2 2 2 2 1 1 2 4\n3 2 2 1 1 1 2 4\n"
                                          "$EndElements\n");
    check_int(mesh->type, BOUGH_TRI3);
    check_int(mesh->element_count, 2);
    check_set(mesh, BOUGH_SET_ELEMENT, "skin", ITEMS(0, 1));
    check_set(mesh, BOUGH_SET_ELEMENT, "physical_2", ITEMS(1));
    bough_mesh_destroy(ctx, mesh);

    mesh = must_read_text(ctx, msh,
                          V22 "$Nodes\n6\n1 0 0 0\n2 2 0 0\n3 0 2 0\n4 1 0 0\n5 1 1 0\n6 0 1 0\n$EndNodes\n"
                              "$Elements\n2\n1 9 0 1 2 3 4 5 6\n2 3 2 4 1 1 4 5 6\n$EndElements\n");
    check_int(mesh->element_count, 6);
    double area = 0;
    for (int32_t e = 0; e < 4; e++)
        area += bo_element_volume(BOUGH_TRI3, mesh->vertices, bo_mesh_nodes(mesh, e));
    check_near(area, 2, 1e-15);
    check_set(mesh, BOUGH_SET_ELEMENT, "physical_4", ITEMS(4, 5));
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void edge_nodes_of_tet10_take_their_places(void **state) {
    (void)state;
    static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int gmsh_edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {2, 3}, {1, 3}};
    bough_context *ctx = test_context(1);
    bytes b = {0};
    put_text(&b, V22 "$Nodes\n10\n");
    for (int i = 0; i < 10; i++) {
        const double *p = corner[i < 4 ? i : gmsh_edges[i - 4][0]], *q = corner[i < 4 ? i : gmsh_edges[i - 4][1]];
        put_text(&b, "%d %g %g %g\n", i + 1, (p[0] + q[0]) / 2, (p[1] + q[1]) / 2, (p[2] + q[2]) / 2);
    }
    put_text(&b, "$EndNodes\n" ELEMENT("1 11 2 0 1 1 2 3 4 5 6 7 8 9 10"));
    bough_mesh *mesh = must_read(ctx, msh, &b);
    check_int(mesh->type, BOUGH_TET10);
    const bo_element_info *info = bo_element_info_of(BOUGH_TET10);
    for (int e = 0; e < 6; e++)
        for (int d = 0; d < 3; d++)
            check(mesh->vertices[3 * mesh->elements[4 + e] + d] ==
                  (corner[info->edges[e][0]][d] + corner[info->edges[e][1]][d]) / 2);
    bough_mesh_destroy(ctx, mesh);
    bytes_free(&b);
    bough_context_destroy(ctx);
}

static void entities_may_be_missing_and_tags_are_any_integers(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = must_read_text(
        ctx, msh,
        "$Comments\nby hand $End\n$EndComments\n" V41 "$Nodes\n1 4 1 9\n3 0 0 4\n9223372036854775807\n"
        "-9223372036854775808\n0\n-1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n$Surface\n1 2 3\n$EndSurface\n"
        "$Elements\n1 1 1 1\n3 0 4 1\n-5 9223372036854775807 -9223372036854775808 0 -1\n$EndElements\n");
    check_int(mesh->element_count, 1);
    check_int(mesh->elements[3], 3);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void unknown_sections_are_skipped(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bytes b = make_flavour(4);
    bytes with = {0};
    put_raw(&with, b.data, b.size);
    put_text(&with, "$NodeData\n1\n\"u\"\n");
    put_raw(&with, "$\0\n$Nodes\n\xff$EndNodeData", 24);
    put_text(&with, "\n$EndNodeData\n$Empty\n$EndEmpty\n");
    bough_mesh *mesh = must_read(ctx, msh, &with);
    bough_mesh_destroy(ctx, mesh);
    put_text(&with, "$Periodic\n1\n$EndPeriod\n");
    check_fails(ctx, read_bytes(ctx, msh, &with, &mesh), BOUGH_ERROR_FORMAT, "$Periodic has no $EndPeriodic");
    bytes_free(&with);
    bytes_free(&b);
    bough_context_destroy(ctx);
}

/* ---- refusals ---- */

static void other_elements_and_versions_are_refused(void **state) {
    (void)state;
    check_refused(msh, V22 NODES4 ELEMENT("1 6 0 1 2 3 4 1 2"), BOUGH_ERROR_UNSUPPORTED, "6-node prism");
    check_refused(msh, V22 NODES4 ELEMENT("1 7 0 1 2 3 4 1"), BOUGH_ERROR_UNSUPPORTED, "pyramid");
    check_refused(msh, V22 NODES4 ELEMENT("1 29 0 1"), BOUGH_ERROR_UNSUPPORTED, "20-node tetrahedron");
    check_refused(msh, V22 NODES4 ELEMENT("1 -4 0 1"), BOUGH_ERROR_UNSUPPORTED, "type -4 (unknown)");
    check_refused(msh, V22 NODES4 "$Elements\n2\n1 4 0 1 2 3 4\n2 5 0 1 2 3 4 1 2 3 4\n$EndElements\n",
                  BOUGH_ERROR_FORMAT, "mixes tet4 and hex8");
    check_refused(msh, "$NOD\n1\n1 0 0 0\n$ENDNOD\n", BOUGH_ERROR_UNSUPPORTED, "version 1");
    check_refused(msh, "$MeshFormat\n4 0 8\n$EndMeshFormat\n", BOUGH_ERROR_UNSUPPORTED, "version 4 ");
    check_refused(msh, "$MeshFormat\n3 0 8\n$EndMeshFormat\n", BOUGH_ERROR_UNSUPPORTED, "version 3 ");
    check_refused(msh, "$MeshFormat\n4.1 1 4\n$EndMeshFormat\n", BOUGH_ERROR_UNSUPPORTED, "data size 4");
    check_refused(msh, "$MeshFormat\n4.1 2 8\n$EndMeshFormat\n", BOUGH_ERROR_FORMAT, "file.x:2: the file type");
    check_refused(msh, "$MeshFormat\n4.1 1 8\nabcd\n$EndMeshFormat\n", BOUGH_ERROR_FORMAT, "integer 1");
    check_refused(msh, NODES4, BOUGH_ERROR_FORMAT, "$MeshFormat must be the first");
    check_refused(msh, "# vtk DataFile\n", BOUGH_ERROR_FORMAT, "file.x:1: is not a Gmsh file");
}

static void counts_that_do_not_match_are_refused(void **state) {
    (void)state;
    check_refused(msh, V22 "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n", BOUGH_ERROR_FORMAT,
                  "$EndNodes is missing");
    check_refused(msh, V22 "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n", BOUGH_ERROR_FORMAT,
                  "file.x:10: expected a node number");
    check_refused(msh, V22 "$Nodes\n9\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n", BOUGH_ERROR_FORMAT,
                  "the number of nodes is 9, but the rest of the file has room for at most");
    check_refused(msh, V22 "$Nodes\n3\n1 0 0 0\n2 1 0 0\n$EndNodes\n", BOUGH_ERROR_FORMAT,
                  "file.x:8: expected a node number in $Nodes, found \"$EndNodes\"");
    check_refused(msh, V22 NODES4 "$Elements\n2\n1 4 0 1 2 3 4\n$EndElements\n", BOUGH_ERROR_FORMAT,
                  "expected an element number");
    check_refused(msh, V22 NODES4 "$Elements\n1\n1 4 0 1 2 3 4\n2 4 0 1 2 3 4\n$EndElements\n", BOUGH_ERROR_FORMAT,
                  "$EndElements is missing");
    check_refused(msh, V22 NODES4 ELEMENT("1 4 1 1 2 3 4"), BOUGH_ERROR_FORMAT, "expected an element's node");
    check_refused(msh, V41 "$Nodes\n1 2 1 2\n3 1 0 1\n1\n0 0 0\n$EndNodes\n", BOUGH_ERROR_FORMAT,
                  "1 nodes more than its blocks");
    check_refused(msh, V41 "$Nodes\n1 1 1 2\n3 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n", BOUGH_ERROR_FORMAT,
                  "more nodes than it announces");
    check_refused(msh, V41 "$Elements\n0 1 1 1\n$EndElements\n", BOUGH_ERROR_FORMAT, "1 elements more than its blocks");
    check_refused(msh, V41 "$Elements\n1 1 1 1\n2 1 4 1\n1 1 2 3 4\n$EndElements\n", BOUGH_ERROR_FORMAT,
                  "have dimension 3, but their block");
    check_refused(msh, V41 "$Elements\n1 1 1 1\n4 1 4 1\n1 1 2 3 4\n$EndElements\n", BOUGH_ERROR_FORMAT,
                  "outside 0..3");
    check_refused(msh, V22 NODES4, BOUGH_ERROR_FORMAT, "has no elements");
    check_refused(msh, V22, BOUGH_ERROR_FORMAT, "has no vertices");
    check_refused(msh, V22 V22, BOUGH_ERROR_FORMAT, "stands twice");
}

static void indices_out_of_range_are_refused(void **state) {
    (void)state;
    check_refused(msh, V22 NODES4 ELEMENT("1 4 0 1 2 3 5"), BOUGH_ERROR_FORMAT, "file.x:13: vertex 5 is not defined");
    check_refused(msh, V22 NODES4 ELEMENT("1 4 0 1 2 3 -9223372036854775808"), BOUGH_ERROR_FORMAT, "is not defined");
    check_refused(msh, V22 NODES4 ELEMENT("1 4 0 1 2 3 9223372036854775808"), BOUGH_ERROR_FORMAT, "expected");
    check_refused(msh, V22 NODES4 ELEMENT("1 4 0 1 2 3 3"), BOUGH_ERROR_FORMAT, "one vertex twice");
    check_refused(msh, V22 "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n", BOUGH_ERROR_FORMAT, "defined twice");
    check_refused(msh, V22 "$PhysicalNames\n1\n4 1 \"a\"\n$EndPhysicalNames\n", BOUGH_ERROR_FORMAT, "outside 0..3");
    check_refused(msh, V22 "$PhysicalNames\n2\n3 1 \"a\"\n3 1 \"b\"\n$EndPhysicalNames\n", BOUGH_ERROR_FORMAT,
                  "named twice");
    check_refused(msh, V41 "$Entities\n0 0 0 2\n1 0 0 0 1 1 1 0 0\n1 0 0 0 1 1 1 0 0\n$EndEntities\n",
                  BOUGH_ERROR_FORMAT, "defined twice");
    check_refused(msh, V41 "$Entities\n0 0 0 0\n$EndEntities\n$PhysicalNames\n1\n3 1 \"a\"\n$EndPhysicalNames\n",
                  BOUGH_ERROR_FORMAT, "must stand before");
}

static void coordinates_must_be_finite(void **state) {
    (void)state;
    check_refused(msh, V22 "$Nodes\n1\n1 0 nan 0\n$EndNodes\n", BOUGH_ERROR_FORMAT,
                  "file.x:6: a node coordinate in $Nodes is not a finite number");
    check_refused(msh, V22 "$Nodes\n1\n1 0 0 -inf\n$EndNodes\n", BOUGH_ERROR_FORMAT, "not a finite");
    check_refused(msh, V22 "$Nodes\n1\n1 1e999 0 0\n$EndNodes\n", BOUGH_ERROR_FORMAT, "not a finite");
    bough_context *ctx = test_context(1);
    for (size_t i = 1; i < FLAVOUR_COUNT; i++) {
        if (!flavours[i].binary)
            continue;
        bytes b = make_flavour(i), one = {.swap = flavours[i].swap}, nan = {.swap = flavours[i].swap};
        put_double(&one, 1.25);
        put_double(&nan, NAN);
        char *at = memmem(b.data, b.size, one.data, 8);
        check(at != NULL);
        memcpy(at, nan.data, 8);
        bough_mesh *mesh;
        check_fails(ctx, read_bytes(ctx, msh, &b, &mesh), BOUGH_ERROR_FORMAT, "$Nodes is not a finite");
        bytes_free(&b), bytes_free(&one), bytes_free(&nan);
    }
    bough_context_destroy(ctx);
}

static void inverted_elements_are_named_or_repaired(void **state) {
    (void)state;
    static const char inverted[] = V22 NODES4 ELEMENT("1 4 0 2 1 3 4");
    static const char flat[] =
        V22 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n$EndNodes\n" ELEMENT("1 4 0 1 2 3 4");
    check_refused(msh, inverted, BOUGH_ERROR_FORMAT, "file.x:13: element 1 is inverted");
    check_refused(msh, flat, BOUGH_ERROR_FORMAT, "file.x:13: element 1 has no volume");
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    check_ok(ctx, read_policy(ctx, msh, inverted, strlen(inverted), BOUGH_VOLUME_REPAIR, &mesh));
    check_ok(ctx, bough_mesh_check(ctx, mesh));
    bough_mesh_destroy(ctx, mesh);
    check_fails(ctx, read_policy(ctx, msh, flat, strlen(flat), BOUGH_VOLUME_REPAIR, &mesh), BOUGH_ERROR_FORMAT,
                "element 1 has no volume");
    check_ok(ctx, read_policy(ctx, msh, flat, strlen(flat), BOUGH_VOLUME_ACCEPT, &mesh));
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void absurd_counts_allocate_nothing(void **state) {
    (void)state;
    static const char *const counts[] = {"2000000000", "9000000000000000000", "-1", "99999999999999999999", "1e9"};
    static const char *const texts[] = {V22 "$Nodes\n%s\n1 0 0 0\n$EndNodes\n",
                                        V22 NODES4 "$Elements\n%s\n1 4 0 1 2 3 4\n$EndElements\n",
                                        V22 NODES4 "$Elements\n1\n1 4 %s 1 2 3 4\n$EndElements\n",
                                        V22 "$PhysicalNames\n%s\n3 1 \"a\"\n$EndPhysicalNames\n",
                                        V41 "$Nodes\n%s 1 1 1\n3 1 0 1\n1\n0 0 0\n$EndNodes\n",
                                        V41 "$Nodes\n1 %s 1 1\n3 1 0 1\n1\n0 0 0\n$EndNodes\n",
                                        V41 "$Nodes\n1 1 1 1\n3 1 0 %s\n1\n0 0 0\n$EndNodes\n",
                                        V41 "$Elements\n%s 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n",
                                        V41 "$Elements\n1 %s 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n",
                                        V41 "$Elements\n1 1 1 1\n3 1 4 %s\n1 1 2 3 4\n$EndElements\n",
                                        V41 "$Entities\n%s 0 0 0\n1 0 0 0 0\n$EndEntities\n",
                                        V41 "$Entities\n0 0 0 %s\n1 0 0 0 0 0 0 0 0\n$EndEntities\n",
                                        V41 "$Entities\n1 0 0 0\n1 0 0 0 %s\n$EndEntities\n",
                                        V41 "$Entities\n0 0 0 1\n1 0 0 0 0 0 0 0 %s\n$EndEntities\n"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            char text[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            int length = snprintf(text, sizeof text, texts[t], counts[c]);
#pragma GCC diagnostic pop
            check(survives(msh, text, (size_t)length) != BOUGH_OK);
        }
}

/* Each 4 or 8 bytes of a binary file are overwritten with absurd integers in turn. */
static void absurd_binary_counts_allocate_nothing(void **state) {
    (void)state;
    static const uint64_t values[] = {2000000000u, 9000000000000000000u, UINT64_MAX, 0};
    for (size_t i = 1; i < FLAVOUR_COUNT; i++) {
        if (!flavours[i].binary)
            continue;
        bytes b = make_flavour(i);
        char *copy = malloc(b.size);
        for (size_t at = 0; at + 8 <= b.size; at++)
            for (int v = 0; v < 8; v++) {
                bytes value = {.swap = flavours[i].swap};
                if (v % 2)
                    put_int(&value, (int32_t)values[v / 2]);
                else
                    put_size(&value, values[v / 2]);
                memcpy(copy, b.data, b.size);
                memcpy(copy + at, value.data, value.size);
                survives(msh, copy, b.size);
                bytes_free(&value);
            }
        free(copy);
        bytes_free(&b);
    }
}

static void groups_cannot_multiply_a_file(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    bytes b = {0};
    put_text(&b, V41 "$Entities\n0 0 0 1\n1 0 0 0 1 1 1 300");
    for (int i = 1; i <= 300; i++)
        put_text(&b, " %d", i);
    put_text(&b, " 0\n$EndEntities\n");
    check_fails(ctx, read_bytes(ctx, msh, &b, &mesh), BOUGH_ERROR_FORMAT, "300 physical groups");
    bytes_free(&b);
    put_text(&b, V22 "$PhysicalNames\n20000\n");
    for (int i = 0; i < 20000; i++)
        put_text(&b, "3 %d \"g%d\"\n", i, i);
    check_fails(ctx, read_bytes(ctx, msh, &b, &mesh), BOUGH_ERROR_FORMAT, "sets");
    bytes_free(&b);
    bough_context_destroy(ctx);
}

static void long_lines_are_survived(void **state) {
    (void)state;
    static const char *const before[] = {"",
                                         "$",
                                         V22 "$",
                                         V22,
                                         V22 "$Nodes\n",
                                         V22 "$Nodes\n1\n1 0 ",
                                         V22 "$PhysicalNames\n1\n3 1 ",
                                         V22 "$PhysicalNames\n1\n3 1 \"",
                                         V41 "$Foo\n",
                                         V22 NODES4 "$Elements\n1\n1 4 ",
                                         V41 "$Nodes\n1 4 1 ",
                                         "$MeshFormat\n"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        survive_long_line(msh, before[i], 'a', "\n");
        survive_long_line(msh, before[i], '1', "");
        survive_long_line(msh, before[i], ' ', "7\n");
        survive_long_line(msh, before[i], '"', "\n$EndFoo\n");
        survive_long_line(msh, before[i], '\n', "$EndNodes\n");
    }
}

static void other_things_than_msh_files_are_refused(void **state) {
    (void)state;
    survive_garbage(msh, V22);
    survive_garbage(msh, "$MeshFormat\n4.1 1 8\n\1\0\0\0");
    refuse_paths(".msh");
}

static void truncated_files_are_survived(void **state) {
    (void)state;
    for (size_t i = 0; i < FLAVOUR_COUNT; i++) {
        bytes b = make_flavour(i);
        survive_every_truncation(msh, b.data, b.size);
        bytes_free(&b);
    }
}

static void changed_files_are_survived(void **state) {
    (void)state;
    for (size_t i = 0; i < FLAVOUR_COUNT; i++) {
        bytes b = make_flavour(i);
        survive_mutations(msh, b.data, b.size, 4000);
        bytes_free(&b);
    }
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < FLAVOUR_COUNT; i++) {
        bytes b = make_flavour(i);
        survive_failing_allocations(msh, b.data, b.size);
        bytes_free(&b);
    }
}

/* ---- writing ---- */

enum { CELLS = 3, SIDE = CELLS + 1 };

/* The cube's corners by their bits (x, y, z) in hex8 order. */
static const int hex_corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
/* Six tets around the diagonal 0-6. */
static const int cell_tets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};

typedef struct draft {
    double vertices[3 * 2000];
    int32_t elements[10 * 200];
    int32_t vertex_count, element_count;
} draft;

static int32_t midpoint(bough_context *ctx, draft *d, bo_idmap *edges, int32_t a, int32_t b) {
    int32_t low = a < b ? a : b, high = a < b ? b : a, found;
    check_ok(ctx, bo_idmap_add(ctx, edges, (int64_t)low << 32 | high, d->vertex_count, &found));
    if (found >= 0)
        return found;
    for (int k = 0; k < 3; k++)
        d->vertices[3 * d->vertex_count + k] = (d->vertices[3 * a + k] + d->vertices[3 * b + k]) / 2;
    return d->vertex_count++;
}

static void draft_cell(bough_context *ctx, draft *d, bo_idmap *edges, bough_element_type type, const int32_t *hex) {
    const bo_element_info *info = bo_element_info_of(type);
    for (int t = 0; t < (type == BOUGH_HEX8 ? 1 : 6); t++) {
        int32_t *nodes = d->elements + info->node_count * d->element_count++;
        for (int i = 0; i < info->corner_count; i++)
            nodes[i] = hex[type == BOUGH_HEX8 ? i : cell_tets[t][i]];
        for (int e = 0; type == BOUGH_TET10 && e < 6; e++)
            nodes[4 + e] = midpoint(ctx, d, edges, nodes[info->edges[e][0]], nodes[info->edges[e][1]]);
    }
}

/* A shaken block of cells; for TRI3 the tets' first faces. */
static bough_mesh *make_block(bough_context *ctx, bough_element_type type) {
    draft *d = calloc(1, sizeof *d);
    bo_idmap edges = {0};
    test_random random = {5};
    for (int v = 0; v < SIDE * SIDE * SIDE; v++) {
        const int at[3] = {v % SIDE, v / SIDE % SIDE, v / SIDE / SIDE};
        for (int k = 0; k < 3; k++)
            d->vertices[3 * v + k] = at[k] / 3.0 + test_uniform(&random, -0.02, 0.02);
    }
    d->vertex_count = SIDE * SIDE * SIDE;
    for (int c = 0; c < CELLS * CELLS * CELLS; c++) {
        int32_t hex[8];
        for (int i = 0; i < 8; i++)
            hex[i] = c % CELLS + hex_corners[i][0] + SIDE * (c / CELLS % CELLS + hex_corners[i][1]) +
                     SIDE * SIDE * (c / CELLS / CELLS + hex_corners[i][2]);
        if (type == BOUGH_TRI3)
            memcpy(d->elements + 3 * d->element_count++, hex, 3 * sizeof *hex);
        else
            draft_cell(ctx, d, &edges, type, hex);
    }
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, type, d->vertex_count, d->vertices, d->element_count, d->elements, &mesh));
    if (type != BOUGH_TRI3)
        check_ok(ctx, bough_mesh_check(ctx, mesh));
    bo_idmap_free(ctx, &edges);
    free(d);
    return mesh;
}

static void add_pattern(bough_context *ctx, bough_mesh *mesh, bough_set_kind kind, const char *name, int32_t count,
                        const int32_t *from, int32_t step) {
    int32_t items[2000], n = 0;
    for (int32_t i = 0; i < count; i += step)
        items[n++] = from ? from[i] : i;
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, kind, name, items, n));
}

static void add_sets(bough_context *ctx, bough_mesh *mesh) {
    add_pattern(ctx, mesh, BOUGH_SET_ELEMENT, "every third", mesh->element_count, NULL, 3);
    add_pattern(ctx, mesh, BOUGH_SET_VERTEX, "all", mesh->vertex_count, NULL, 1);
    add_pattern(ctx, mesh, BOUGH_SET_ELEMENT, "every second \"one\"", mesh->element_count, NULL, 2);
    add_pattern(ctx, mesh, BOUGH_SET_VERTEX, "5th", mesh->vertex_count, NULL, 5);
    add_pattern(ctx, mesh, BOUGH_SET_VERTEX, "none", 0, NULL, 1);
    add_pattern(ctx, mesh, BOUGH_SET_ELEMENT, "  \xc3\xa4 ", mesh->element_count, NULL, 50);
    if (mesh->type == BOUGH_TRI3)
        return;
    int32_t *neighbours, nonmanifold, boundary[2000], count = 0;
    check_ok(ctx, bo_mesh_face_neighbours(ctx, mesh, &neighbours, &nonmanifold));
    for (int32_t f = 0; f < mesh->element_count * bough_element_face_count(mesh->type); f++)
        if (neighbours[f] < 0)
            boundary[count++] = f;
    bo_free(ctx, neighbours);
    add_pattern(ctx, mesh, BOUGH_SET_FACE, "all", count, boundary, 1);
    add_pattern(ctx, mesh, BOUGH_SET_FACE, "some", count, boundary, 4);
    add_pattern(ctx, mesh, BOUGH_SET_FACE, "one", 1, boundary, 1);
}

static void what_is_written_comes_back(void **state) {
    (void)state;
    static const bough_element_type types[] = {BOUGH_TRI3, BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8};
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 4; i++)
        for (int with_sets = 0; with_sets < 2; with_sets++) {
            bough_mesh *mesh = make_block(ctx, types[i]), *back;
            if (with_sets)
                add_sets(ctx, mesh);
            mesh->vertices[0] = -0.0, mesh->vertices[1] = 1e-310, mesh->vertices[2] = -1.0 / 3000;
            const char *path = test_path("block.msh");
            check_ok(ctx, bough_mesh_write(ctx, mesh, path));
            check_ok(ctx, bough_mesh_read(ctx, path, NULL, &back));
            check_same_mesh(mesh, back, true);
            bough_mesh_destroy(ctx, back);
            bough_mesh_destroy(ctx, mesh);
        }
    bough_context_destroy(ctx);
}

/* For other readers, who may look at more than ours does: every element has a tag of its own, 1 to the number that is
 * announced, and triangles of tet10 have their middle nodes between their corners. */
static void what_is_written_keeps_the_rules_of_the_format(void **state) {
    (void)state;
    static const bough_element_type types[] = {BOUGH_TRI3, BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8};
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 4; i++) {
        bough_mesh *mesh = make_block(ctx, types[i]);
        add_sets(ctx, mesh);
        check_ok(ctx, bough_mesh_write(ctx, mesh, test_path("rules.msh")));
        FILE *f = fopen(test_path("rules.msh"), "r");
        char line[400];
        long blocks, total, least, most, middles = 0;
        while (fgets(line, sizeof line, f) && strcmp(line, "$Elements\n") != 0)
            continue;
        check(fscanf(f, "%ld %ld %ld %ld", &blocks, &total, &least, &most) == 4);
        check(total >= mesh->element_count && least == 1 && most == total);
        bool *seen = calloc((size_t)total + 1, sizeof *seen);
        for (long b = 0, written = 0; b < blocks; b++) {
            long dimension, entity, kind, count;
            check(fscanf(f, "%ld %ld %ld %ld", &dimension, &entity, &kind, &count) == 4);
            check((written += count) <= total);
            for (long e = 0; e < count; e++) {
                long tag, nodes[10];
                const int node_count = kind == 15               ? 1
                                       : kind == 2              ? 3
                                       : kind == 3 || kind == 4 ? 4
                                       : kind == 5              ? 8
                                       : kind == 9              ? 6
                                                                : 10;
                check(fscanf(f, "%ld", &tag) == 1 && tag >= 1 && tag <= total && !seen[tag]);
                seen[tag] = true;
                for (int n = 0; n < node_count; n++)
                    check(fscanf(f, "%ld", &nodes[n]) == 1 && nodes[n] >= 1 && nodes[n] <= mesh->vertex_count);
                for (int n = 0; n < 9 && kind == 9; n++, middles++) {
                    const double *x = mesh->vertices + n % 3;
                    check_near(x[3 * (nodes[3 + n / 3] - 1)],
                               0.5 * (x[3 * (nodes[n / 3] - 1)] + x[3 * (nodes[(n / 3 + 1) % 3] - 1)]), 1e-12);
                }
            }
        }
        check(types[i] == BOUGH_TET10 ? middles > 100 : middles == 0);
        check(fscanf(f, "%399s", line) == 1 && !strcmp(line, "$EndElements"));
        fclose(f);
        free(seen);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void writing_fails_cleanly(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make_block(ctx, BOUGH_HEX8);
    add_sets(ctx, mesh);
    const char *path = test_path("fails.msh");
    survive_failing_allocations_of_write(mesh, path);
    check_fails(ctx, bough_mesh_write(ctx, mesh, test_path("no/such/folder.msh")), BOUGH_ERROR_FILE, "folder.msh");
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "two\nlines", NULL, 0));
    check_fails(ctx, bough_mesh_write(ctx, mesh, path), BOUGH_ERROR_UNSUPPORTED, "line break");
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* ---- files from elsewhere ---- */

static void reference_meshes_read(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int32_t vertices, elements;
    } meshes[] = {{"meshes/bunny.msh", 4670, 19379},
                  {"meshes/Armadillo13K.msh", 13230, 54985},
                  {"meshes/hammer.msh", 2705, 9683}};
    bough_context *ctx = test_context(1);
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = BOUGH_VOLUME_REPAIR;
    int found = 0;
    for (int i = 0; i < 3; i++) {
        const char *path = test_shared(meshes[i].name);
        if (!path)
            continue;
        found++;
        bough_mesh *mesh;
        check_ok(ctx, bough_mesh_read(ctx, path, &def, &mesh));
        check_int(mesh->type, BOUGH_TET4);
        check_int(mesh->vertex_count, meshes[i].vertices);
        check_int(mesh->element_count, meshes[i].elements);
        check_ok(ctx, bough_mesh_check(ctx, mesh));
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
    if (!found)
        test_skip("the reference data ../shared is not there");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tetrahedron_reads),
        cmocka_unit_test(all_flavours_give_the_same_mesh),
        cmocka_unit_test(groups_without_names_are_called_by_their_tags),
        cmocka_unit_test(file_of_triangles_is_a_surface),
        cmocka_unit_test(edge_nodes_of_tet10_take_their_places),
        cmocka_unit_test(entities_may_be_missing_and_tags_are_any_integers),
        cmocka_unit_test(unknown_sections_are_skipped),
        cmocka_unit_test(other_elements_and_versions_are_refused),
        cmocka_unit_test(counts_that_do_not_match_are_refused),
        cmocka_unit_test(indices_out_of_range_are_refused),
        cmocka_unit_test(coordinates_must_be_finite),
        cmocka_unit_test(inverted_elements_are_named_or_repaired),
        cmocka_unit_test(absurd_counts_allocate_nothing),
        cmocka_unit_test(absurd_binary_counts_allocate_nothing),
        cmocka_unit_test(groups_cannot_multiply_a_file),
        cmocka_unit_test(long_lines_are_survived),
        cmocka_unit_test(other_things_than_msh_files_are_refused),
        cmocka_unit_test(truncated_files_are_survived),
        cmocka_unit_test(changed_files_are_survived),
        cmocka_unit_test(failing_allocations_leak_nothing),
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(what_is_written_keeps_the_rules_of_the_format),
        cmocka_unit_test(writing_fails_cleanly),
        cmocka_unit_test(reference_meshes_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
