/* TetGen's pairs of files. */
#include "hostile.h"

typedef struct pair {
    bytes node, ele, face;
} pair;

/* The cube, with edge nodes when `second` (in TetGen's order 23 03 01 12 13 02). */
static const pair *cube(int base, bool second) {
    static const int edges[6][2] = {{2, 3}, {0, 3}, {0, 1}, {1, 2}, {1, 3}, {0, 2}};
    static pair p;
    int edge_node[8][8] = {{0}}, count = 8;
    double x[64][3];
    for (int v = 0; v < 8; v++)
        unit_cube_corner(v, x[v]);
    p.node.size = p.ele.size = p.face.size = 0;
    put_text(&p.ele, "# tets\n6 %d 1\n", second ? 10 : 4);
    for (int e = 0; e < 6; e++) {
        const int *n = unit_cube_tets[e];
        put_text(&p.ele, "  %d  %d %d %d %d", e + base, n[0] + base, n[1] + base, n[2] + base, n[3] + base);
        for (int k = 0; k < 6 && second; k++) {
            int a = n[edges[k][0]], b = n[edges[k][1]];
            if (!edge_node[a][b]) {
                edge_node[a][b] = edge_node[b][a] = count;
                for (int d = 0; d < 3; d++)
                    x[count][d] = (x[a][d] + x[b][d]) / 2;
                count++;
            }
            put_text(&p.ele, " %d", edge_node[a][b] + base);
        }
        put_text(&p.ele, "  %d\n", e < 2 ? 7 : 8);
    }
    put_text(&p.node, "%d 3 1 1 # with an attribute and markers\n", count);
    for (int v = 0; v < count; v++)
        put_text(&p.node, "%d %g %g %g  0.5  %d\n", v + base, x[v][0], x[v][1], x[v][2], x[v][2] == 0 ? 5 : 0);
    if (!second)
        put_text(&p.face, "3 1\n%d %d %d %d 3\n%d %d %d %d 3\n%d %d %d %d 0\n", base, base, 1 + base, 3 + base,
                 1 + base, base, 3 + base, 2 + base, 2 + base, 4 + base, 5 + base, 7 + base);
    return &p;
}

static void write_pair(const pair *p, const char *stem) {
    char name[64];
    snprintf(name, sizeof name, "%s.node", stem);
    test_write(test_path(name), p->node.data, p->node.size);
    snprintf(name, sizeof name, "%s.ele", stem);
    test_write(test_path(name), p->ele.data, p->ele.size);
    snprintf(name, sizeof name, "%s.face", stem);
    if (p->face.size)
        test_write(test_path(name), p->face.data, p->face.size);
}

static void either_file_leads_to_the_other(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 4; i++) {
        write_pair(cube(i / 2, false), "a");
        bough_mesh *mesh;
        check_ok(ctx, bough_mesh_read(ctx, test_path(i % 2 ? "a.ele" : "a.node"), NULL, &mesh));
        check_int(mesh->type, BOUGH_TET4);
        check_int(mesh->vertex_count, 8);
        check_int(mesh->element_count, 6);
        check_set_count(mesh, BOUGH_SET_VERTEX, "marker_5", 4);
        check_set_count(mesh, BOUGH_SET_ELEMENT, "region_7", 2);
        check_int(check_set_count(mesh, BOUGH_SET_ELEMENT, "region_8", 4)->items[0], 2);
        check_set_count(mesh, BOUGH_SET_FACE, "marker_3", 2);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void check_midpoints(const bough_mesh *mesh) {
    static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    check_int(mesh->type, BOUGH_TET10);
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++) {
                const int32_t *n = mesh->elements + 10 * (size_t)e;
                const double *x = mesh->vertices + d;
                check_near(x[3 * n[4 + k]], (x[3 * n[edges[k][0]]] + x[3 * n[edges[k][1]]]) / 2, 1e-12);
            }
}

static void edge_nodes_lie_on_their_edges(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_pair(cube(0, true), "second");
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_read(ctx, test_path("second.ele"), NULL, &mesh));
    check_midpoints(mesh);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void output_of_the_program_is_read(void **state) {
    (void)state;
    if (system("tetgen -h > /dev/null 2>&1; test $? -ne 127") != 0)
        test_skip("tetgen is not installed, or cannot do this: ./bough setup tools");
    static const char poly[] = "8 3 0 1\n1 0 0 0 5\n2 1 0 0 5\n3 1 1 0 0\n4 0 1 0 0\n5 0 0 1 7\n6 1 0 1 7\n7 1 1 1 7\n"
                               "8 0 1 1 7\n6 1\n1 0 1\n4 1 2 3 4\n1 0 2\n4 5 6 7 8\n1 0 3\n4 1 2 6 5\n1 0 4\n"
                               "4 2 3 7 6\n1 0 5\n4 3 4 8 7\n1 0 6\n4 4 1 5 8\n0\n1\n1 .5 .5 .5 3 -1\n";
    test_write_text(test_path("program.poly"), poly);
    char command[512];
    snprintf(command, sizeof command, "tetgen -pqa0.01o2A %s > /dev/null 2>&1", test_path("program.poly"));
    if (system(command) != 0)
        test_skip("tetgen is not installed, or cannot do this: ./bough setup tools");
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_read(ctx, test_path("program.1.node"), NULL, &mesh));
    check_midpoints(mesh);
    check_set_count(mesh, BOUGH_SET_ELEMENT, "region_3", mesh->element_count);
    check(bough_mesh_find_set(mesh, BOUGH_SET_FACE, "marker_6") != NULL);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void refused(const char *from, const char *to, const char *part) {
    const pair *p = cube(1, false);
    bool node = strstr(p->node.data, from) != NULL;
    write_pair(p, "bad");
    const char *text = replaced(node ? p->node.data : p->ele.data, from, to);
    check_refused(in_file(node ? "bad.node" : "bad.ele"), text, BOUGH_ERROR_FORMAT, part);
}

static void wrong_content_is_refused_with_its_line(void **state) {
    (void)state;
    refused("8 3 1 1", "9 3 1 1", "bad.node:10: the file ends where vertex should stand");
    refused("8 3 1 1", "7 3 1 1", "goes on behind its 7");
    refused("8 3 1 1", "2000000000 3 1 1", "room for at most");
    refused("8 3 1 1", "9000000000000000000 3 1 1", "room for at most");
    refused("8 3 1 1", "99000000000000000000 3 1 1", "bad.node:1: expected");
    refused("8 3 1 1", "-1 3 1 1", "negative");
    refused("8 3 1 1", "8 2 1 1", "2 coordinates");
    refused("8 3 1 1", "8 3 0 1", "bad.node:2:"); /* the attribute is taken for a marker */
    refused("8 3 1 1", "8 3 1 0", "bad.node:2: expected vertex 2");
    refused("8 3 1 1", "8 3 999999999 1", "outside");
    refused("2 1 0 0", "2 nan 0 0", "not a finite number");
    refused("2 1 0 0", "2 1 0 inf", "not a finite number");
    refused("2 1 0 0", "5 1 0 0", "expected vertex 2, found 5");
    refused("1 0 0 0", "3 0 0 0", "expected vertex 0, found 3");
    refused("6 4 1", "7 4 1", "the file ends");
    refused("6 4 1", "5 4 1", "goes on behind its 5");
    refused("6 4 1", "6 5 1", "5 nodes");
    refused("6 4 1", "2000000000 4 1", "room for at most");
    refused("1  1 2 4 8", "1  1 2 4 9", "bad.ele:3: a vertex number is 9, outside 1..8");
    refused("1  1 2 4 8", "1  0 2 4 8", "outside 1..8");
    refused("1  1 2 4 8", "1  1 2 4 4", "one vertex twice");
    refused("1  1 2 4 8", "1  1 4 2 8", "bad.ele:3: element 1 is inverted");
    refused("1  1 2 4 8", "1  1 2 4 3", "has no volume");
}

static void inverted_elements_can_be_flipped(void **state) {
    (void)state;
    refused("1  1 2 4 8", "1  1 4 2 8", "inverted");
    bough_context *ctx = test_context(1);
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = BOUGH_VOLUME_REPAIR;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_read(ctx, test_path("bad.ele"), &def, &mesh));
    check_int(mesh->elements[1], 1);
    bough_mesh_destroy(ctx, mesh);
    /* Named through the other file, the sentence still points at the element's own line. */
    check_fails(ctx, bough_mesh_read(ctx, test_path("bad.node"), NULL, &mesh), BOUGH_ERROR_FORMAT, "bad.ele:3:");
    bough_context_destroy(ctx);
}

static void a_missing_partner_is_named(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    test_write_text(test_path("alone.node"), "1 3 0 0\n1 0 0 0\n");
    check_fails(ctx, bough_mesh_read(ctx, test_path("alone.node"), NULL, &mesh), BOUGH_ERROR_FILE, "alone.ele");
    test_write_text(test_path("lonely.ele"), "1 4 0\n1 1 2 3 4\n");
    check_fails(ctx, bough_mesh_read(ctx, test_path("lonely.ele"), NULL, &mesh), BOUGH_ERROR_FILE, "lonely.node");
    bough_context_destroy(ctx);
}

static void too_many_markers_name_no_sets(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    bough_context *ctx = test_context(1);
    FILE *f = fopen(test_path("many.node"), "w");
    check(f != NULL);
    fprintf(f, "%d 3 0 1\n", COUNT);
    for (int i = 0; i < COUNT; i++)
        fprintf(f, "%d %d %d %d %d\n", i, i == 1 ? 1 : 0, i == 2 ? 1 : 0, i == 3 ? 1 : 0, i + 1);
    fclose(f);
    test_write_text(test_path("many.ele"), "1 4 0\n0 0 1 2 3\n");
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_read(ctx, test_path("many.ele"), NULL, &mesh));
    check_int(mesh->set_count, 1000);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void cut_and_altered_files_are_survived(void **state) {
    (void)state;
    const pair *p = cube(1, false);
    size_t all = p->node.size + p->ele.size + p->face.size;
    write_pair(p, "cut");
    survive_every_truncation(in_files("cut.node", all), p->node.data, p->node.size);
    survive_mutations(in_files("cut.node", all), p->node.data, p->node.size, 1500);
    write_pair(p, "cut");
    survive_every_truncation(in_files("cut.ele", all), p->ele.data, p->ele.size);
    survive_mutations(in_files("cut.ele", all), p->ele.data, p->ele.size, 1500);
    write_pair(p, "cut");
    for (size_t i = 0; i < p->face.size; i++) {
        test_write(test_path("cut.face"), p->face.data, i);
        survives(in_files("cut.ele", all), NULL, 0);
    }
}

static void failed_allocations_are_survived(void **state) {
    (void)state;
    write_pair(cube(1, false), "memory");
    survive_failing_allocations(in_file("memory.node"), NULL, 0);
    survive_failing_allocations(in_file("memory.ele"), NULL, 0);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    const pair *p = cube(1, false);
    write_pair(p, "nonsense");
    survive_garbage(in_file("nonsense.ele"), "6 4 1\n");
    refuse_paths(".ele");
    write_pair(p, "nonsense");
    survive_garbage(in_file("nonsense.node"), "8 3 1 1\n");
    refuse_paths(".node");
    write_pair(p, "nonsense");
    survive_long_lines_at(in_file("nonsense.node"), p->node.data, (const char *const[]){"2 1 0 0", "8 3 1 1", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(either_file_leads_to_the_other),   cmocka_unit_test(edge_nodes_lie_on_their_edges),
        cmocka_unit_test(output_of_the_program_is_read),    cmocka_unit_test(wrong_content_is_refused_with_its_line),
        cmocka_unit_test(inverted_elements_can_be_flipped), cmocka_unit_test(a_missing_partner_is_named),
        cmocka_unit_test(too_many_markers_name_no_sets),    cmocka_unit_test(cut_and_altered_files_are_survived),
        cmocka_unit_test(failed_allocations_are_survived),  cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
