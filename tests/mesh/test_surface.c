/* Boundaries point outward and lead back to the mesh; the report tells the truth about good and bad meshes. */
#include "test.h"

#include "mesh/mesh.h"

static const double corners[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {5, 5, 5}};

static bough_mesh *make(bough_context *ctx, bough_element_type type, int32_t vertex_count, const double *vertices,
                        int32_t element_count, const int32_t *elements) {
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, type, vertex_count, vertices, element_count, elements, &mesh));
    return mesh;
}

static bough_mesh_report report_of(bough_context *ctx, const bough_mesh *mesh) {
    bough_mesh_report report;
    check_ok(ctx, bough_mesh_measure(ctx, mesh, &report));
    return report;
}

static bough_mesh *box(bough_context *ctx, bough_element_type type) {
    bough_box_def def = bough_default_box_def();
    def.type = type;
    def.cells[0] = 3, def.cells[1] = 2;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    return mesh;
}

static void maps_lead_back_to_the_mesh(void **state) {
    (void)state;
    static const bough_element_type types[] = {BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8};
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++) {
        bough_mesh *mesh = box(ctx, types[t]), *surface;
        int32_t *vertex_map, *face_map;
        check_ok(ctx, bough_mesh_surface(ctx, mesh, &surface, &vertex_map, &face_map));
        for (int32_t v = 0; v < surface->vertex_count; v++)
            for (int d = 0; d < 3; d++)
                check_near(surface->vertices[3 * v + d], mesh->vertices[3 * vertex_map[v] + d], 0);
        int32_t faces = bough_element_face_count(mesh->type);
        for (int32_t i = 0; i < 3 * surface->element_count; i++) {
            int32_t v = vertex_map[surface->elements[i]], element = face_map[i / 3] / faces;
            bool found = false;
            for (int32_t k = 0; k < bough_element_node_count(mesh->type); k++)
                found = found || bo_mesh_nodes(mesh, element)[k] == v;
            check(found);
        }
        bough_release(ctx, vertex_map);
        bough_release(ctx, face_map);
        bough_mesh_destroy(ctx, surface);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void sets_of_faces_become_sets_of_triangles(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const struct {
        bough_element_type type;
        int32_t x0_triangles, x0_vertices;
    } cases[] = {{BOUGH_TET4, 4, 6}, {BOUGH_TET10, 16, 15}, {BOUGH_HEX8, 4, 6}}; /* 2 x 1 cells */
    for (int t = 0; t < 3; t++) {
        bough_mesh *mesh = box(ctx, cases[t].type), *surface;
        int32_t inner = mesh->vertex_count - 1; /* in no set of the surface unless it lies there */
        check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_VERTEX, "last", &inner, 1));
        check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "solid", &inner, 0));
        check_ok(ctx, bough_mesh_surface(ctx, mesh, &surface, NULL, NULL));
        const bough_set *triangles = bough_mesh_find_set(surface, BOUGH_SET_ELEMENT, "x0");
        const bough_set *vertices = bough_mesh_find_set(surface, BOUGH_SET_VERTEX, "x0");
        check_int(triangles->count, cases[t].x0_triangles);
        check_int(vertices->count, cases[t].x0_vertices);
        for (int32_t i = 0; i < triangles->count; i++)
            for (int c = 0; c < 3; c++)
                check_near(surface->vertices[3 * surface->elements[3 * triangles->items[i] + c]], 0, 0);
        check(!bough_mesh_find_set(surface, BOUGH_SET_ELEMENT, "solid"));
        check(!bough_mesh_find_set(surface, BOUGH_SET_FACE, "x0"));
        bough_mesh_destroy(ctx, surface);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void surfaces_have_no_surface(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make(ctx, BOUGH_TRI3, 3, corners[0], 1, (int32_t[]){0, 1, 2}), *surface;
    check_fails(ctx, bough_mesh_surface(ctx, mesh, &surface, NULL, NULL), BOUGH_ERROR_ARGUMENT, "surface already");
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void one_tet_is_measured_exactly(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make(ctx, BOUGH_TET4, 4, corners[0], 1, (int32_t[]){0, 1, 2, 3});
    bough_mesh_report r = report_of(ctx, mesh);
    check_near(r.volume, 1.0 / 6, 1e-16);
    check_near(r.area, 1.5 + sqrt(3) / 2, 1e-15);
    check_near(r.centroid[1], 0.25, 1e-16);
    check_near(r.smallest, 1.0 / 6, 1e-16);
    check_near(r.largest, 1.0 / 6, 1e-16);
    check_int(r.boundary_face_count, 4);
    check_int(r.piece_count, 1);
    check_int(r.worst_element, 0);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void regular_elements_have_quality_one(void **state) {
    (void)state;
    static const double regular[][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    bough_context *ctx = test_context(1);
    bough_mesh *tet = make(ctx, BOUGH_TET4, 4, regular[0], 1, (int32_t[]){0, 2, 1, 3});
    bough_mesh *triangle = make(ctx, BOUGH_TRI3, 4, regular[0], 1, (int32_t[]){0, 1, 2});
    check_ok(ctx, bough_mesh_repair(ctx, tet, NULL));
    check_near(report_of(ctx, tet).worst_quality, 1, 1e-15);
    check_near(report_of(ctx, triangle).worst_quality, 1, 1e-15);
    bough_mesh *hex = box(ctx, BOUGH_HEX8);
    check_near(report_of(ctx, hex).worst_quality, 1, 1e-15);
    bough_mesh_destroy(ctx, tet);
    bough_mesh_destroy(ctx, triangle);
    bough_mesh_destroy(ctx, hex);
    bough_context_destroy(ctx);
}

static void every_defect_is_counted(void **state) {
    (void)state;
    static const double vertices[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {5, 5, 5}, {0, 0, -1}};
    static const int32_t elements[][4] = {
        {0, 1, 2, 3}, {0, 1, 2, 4} /* flat */, {0, 2, 1, 3} /* inverted, and the first one again */, {0, 2, 1, 6}};
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make(ctx, BOUGH_TET4, 7, vertices[0], 4, elements[0]);
    bough_mesh_report r = report_of(ctx, mesh);
    check_int(r.flat_count, 1);
    check_int(r.first_flat, 1);
    check_int(r.inverted_count, 1);
    check_int(r.first_inverted, 2);
    check_int(r.duplicate_element_count, 1);
    check_int(r.unused_vertex_count, 1);
    check_int(r.nonmanifold_count, 1); /* the face 012 of all four */
    check_int(r.piece_count, 1);
    check_near(r.worst_quality, 0, 0);
    check_int(r.worst_element, 1);
    check_near(r.smallest, -1.0 / 6, 1e-16);
    check_near(r.upper[0], 5, 0);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void separate_tets_are_two_pieces(void **state) {
    (void)state;
    static const double vertices[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                         {3, 0, 0}, {4, 0, 0}, {3, 1, 0}, {3, 0, 1}};
    static const int32_t elements[][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make(ctx, BOUGH_TET4, 8, vertices[0], 2, elements[0]);
    bough_mesh_report r = report_of(ctx, mesh);
    check_int(r.piece_count, 2);
    check_int(r.boundary_face_count, 8);
    check_near(r.centroid[0], 1.75, 1e-15);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void open_and_crowded_edges_of_surfaces_are_counted(void **state) {
    (void)state;
    static const int32_t open[][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}}, fin[][3] = {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}};
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = make(ctx, BOUGH_TRI3, 4, corners[0], 3, open[0]);
    bough_mesh_report r = report_of(ctx, mesh);
    check_int(r.nonmanifold_count, 3);
    check_near(r.volume, 0, 0);
    check_near(r.area, 1 + sqrt(3) / 2, 1e-15);
    bough_mesh_destroy(ctx, mesh);
    mesh = make(ctx, BOUGH_TRI3, 5, corners[0], 3, fin[0]);
    check_int(report_of(ctx, mesh).nonmanifold_count, 7); /* six open edges, one with three triangles */
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* A tet10 whose map is x -> x + c y z bent by its edge nodes: det J = 1, so volume and centroid are known. */
static void curved_elements_are_integrated_exactly(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *tet = make(ctx, BOUGH_TET4, 4, corners[0], 1, (int32_t[]){0, 1, 2, 3}), *mesh;
    check_ok(ctx, bough_mesh_raise_order(ctx, tet, &mesh));
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        double *x = mesh->vertices + 3 * v;
        x[0] += 0.8 * x[1] * x[2] + 0.5 * x[1] * x[1];
    }
    bough_mesh_report r = report_of(ctx, mesh);
    check_near(r.volume, 1.0 / 6, 1e-16);
    /* means over the unit tet: y z -> 1/20, y^2 -> 1/10 */
    check_near(r.centroid[0], 0.25 + 0.8 / 20 + 0.5 / 10, 1e-15);
    /* a map of full degree: det J = (1 + x)(1 + y)(1 + z), int x' det J by Dirichlet's formula */
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        for (int d = 0; d < 3; d++) {
            double *x = mesh->vertices + 3 * v + d;
            *x = d == 0 ? *x - 0.8 * x[1] * x[2] - 0.5 * x[1] * x[1] : *x;
            *x += 0.5 * *x * *x;
        }
    r = report_of(ctx, mesh);
    /* monomials over the unit tet: 1 -> 1/6, x -> 1/24, xy -> 1/120, xyz -> 1/720 */
    check_near(r.volume, 1.0 / 6 + 3.0 / 24 + 3.0 / 120 + 1.0 / 720, 1e-15);
    /* (x + x^2/2)(1 + x) = x + 3/2 x^2 + x^3/2 times (1 + y)(1 + z); x^a y^b z^c -> a! b! c! / (a + b + c + 3)! */
    double first = 1.0 / 24 + 2.0 / 120 + 1.0 / 720 + 1.5 * (2.0 / 120 + 4.0 / 720 + 2.0 / 5040) +
                   0.5 * (6.0 / 720 + 12.0 / 5040 + 6.0 / 40320);
    for (int d = 0; d < 3; d++)
        check_near(r.centroid[d], first / r.volume, 1e-15);
    bough_mesh_destroy(ctx, tet);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    bough_context *plain = test_context(1);
    bough_mesh *mesh = box(plain, BOUGH_TET10), *skin;
    check_ok(plain, bough_mesh_surface(plain, mesh, &skin, NULL, NULL));
    for (int kind = 0; kind < 3; kind++) {
        bough_status status = BOUGH_ERROR_MEMORY;
        for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) {
            test_memory memory = {.fail_at = fail_at};
            bough_context *ctx = test_counting_context(&memory);
            bough_mesh *surface = NULL;
            int32_t *vertex_map = NULL, *face_map = NULL;
            bough_mesh_report r;
            status = kind == 0 ? bough_mesh_surface(ctx, mesh, &surface, &vertex_map, &face_map)
                               : bough_mesh_measure(ctx, kind == 1 ? mesh : skin, &r);
            bough_mesh_destroy(ctx, surface);
            bough_release(ctx, vertex_map);
            bough_release(ctx, face_map);
            bough_context_destroy(ctx);
            check_int(memory.live, 0);
            check(fail_at < 500);
        }
        check_int(status, BOUGH_OK);
    }
    bough_mesh_destroy(plain, mesh);
    bough_mesh_destroy(plain, skin);
    bough_context_destroy(plain);
}

/* Counts of edges: a box of 3 x 2 x 1 hexes has 3 * 3 * 2 along x, 4 * 2 * 2 along y, 4 * 3 * 1 along z. A tet has 6,
 * and as many halves twice. */
static void every_edge_is_listed_once(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    int32_t counts[4] = {0};
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        bough_mesh *mesh = box(ctx, (bough_element_type)type);
        int32_t *edges;
        check_ok(ctx, bough_mesh_edges(ctx, mesh, &edges, &counts[type]));
        for (int32_t i = 0; i < counts[type]; i++) {
            check(edges[2 * i] < edges[2 * i + 1] && edges[2 * i + 1] < mesh->vertex_count);
            check(i == 0 || edges[2 * i - 2] < edges[2 * i] ||
                  (edges[2 * i - 2] == edges[2 * i] && edges[2 * i - 1] < edges[2 * i + 1]));
        }
        bough_release(ctx, edges);
        bough_mesh_destroy(ctx, mesh);
    }
    check_int(counts[BOUGH_HEX8], 3 * 3 * 2 + 4 * 2 * 2 + 4 * 3);
    check_int(counts[BOUGH_TET10], 2 * counts[BOUGH_TET4]);
    bough_mesh *tet = make(ctx, BOUGH_TET4, 4, corners[0], 1, (const int32_t[]){0, 1, 2, 3});
    int32_t *edges, count;
    check_ok(ctx, bough_mesh_edges(ctx, tet, &edges, &count));
    const int32_t all[] = {0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3};
    check_int(count, 6);
    check(memcmp(edges, all, sizeof all) == 0);
    bough_release(ctx, edges);
    bough_mesh_destroy(ctx, tet);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_lead_back_to_the_mesh),
        cmocka_unit_test(sets_of_faces_become_sets_of_triangles),
        cmocka_unit_test(surfaces_have_no_surface),
        cmocka_unit_test(one_tet_is_measured_exactly),
        cmocka_unit_test(regular_elements_have_quality_one),
        cmocka_unit_test(every_defect_is_counted),
        cmocka_unit_test(separate_tets_are_two_pieces),
        cmocka_unit_test(open_and_crowded_edges_of_surfaces_are_counted),
        cmocka_unit_test(curved_elements_are_integrated_exactly),
        cmocka_unit_test(every_edge_is_listed_once),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
