/* Generated boxes and rods fill their shapes, conform, and name their sides; raising the order changes no geometry. */
#include "test.h"

#include "mesh/mesh.h"

static const bough_element_type types[] = {BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8};

static bough_box_def brick(bough_element_type type, int32_t tets_per_cell) {
    bough_box_def def = bough_default_box_def();
    def.type = type;
    def.tets_per_cell = tets_per_cell;
    for (int d = 0; d < 3; d++) {
        def.origin[d] = -0.3 + 0.5 * d;
        def.size[d] = 1.5 - 0.4 * d;
        def.cells[d] = 2 + d;
    }
    return def;
}

/* Each boundary face is in one face set, and no other face is in any. */
static void check_sides_cover_boundary_once(bough_context *ctx, const bough_mesh *mesh) {
    int32_t *neighbours, nonmanifold;
    check_ok(ctx, bo_mesh_face_neighbours(ctx, mesh, &neighbours, &nonmanifold));
    check_int(nonmanifold, 0);
    int32_t faces = mesh->element_count * bough_element_face_count(mesh->type);
    int32_t *covered = calloc((size_t)faces, sizeof *covered);
    for (int32_t s = 0; s < mesh->set_count; s++)
        if (mesh->sets[s].kind == BOUGH_SET_FACE)
            for (int32_t i = 0; i < mesh->sets[s].count; i++)
                covered[mesh->sets[s].items[i]]++;
    for (int32_t f = 0; f < faces; f++)
        check_int(covered[f], neighbours[f] < 0);
    free(covered);
    bough_release(ctx, neighbours);
}

/* The boundary is a topological sphere, and encloses as much as straight-sided elements hold. */
static void check_boundary_is_a_sphere(bough_context *ctx, const bough_mesh *mesh, double volume, double tolerance) {
    bough_mesh *surface;
    bough_mesh_report report;
    check_ok(ctx, bough_mesh_surface(ctx, mesh, &surface, NULL, NULL));
    check_ok(ctx, bough_mesh_measure(ctx, surface, &report));
    check_int(report.nonmanifold_count, 0);
    check_int(report.piece_count, 1);
    check_int(report.unused_vertex_count, 0);
    /* Euler: V - E + F = 2 with E = 3 F / 2 */
    check_int(2 * surface->vertex_count - surface->element_count, 4);
    check_near(report.volume, volume, tolerance);
    bough_mesh_destroy(ctx, surface);
}

static void check_sound(bough_context *ctx, const bough_mesh *mesh, bough_mesh_report *report) {
    check_ok(ctx, bough_mesh_check(ctx, mesh));
    check_ok(ctx, bough_mesh_measure(ctx, mesh, report));
    check_int(report->inverted_count, 0);
    check_int(report->flat_count, 0);
    check_int(report->first_inverted, -1);
    check_int(report->duplicate_element_count, 0);
    check_int(report->unused_vertex_count, 0);
    check_int(report->nonmanifold_count, 0);
    check_int(report->piece_count, 1);
    check_sides_cover_boundary_once(ctx, mesh);
}

static void boxes_fill_their_shape(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++)
        for (int32_t tets = 5; tets <= 6; tets++) {
            bough_box_def def = brick(types[t], tets);
            bough_mesh *mesh;
            bough_mesh_report r;
            check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
            check_int(mesh->element_count, 24 * (types[t] == BOUGH_HEX8 ? 1 : tets));
            check_sound(ctx, mesh, &r);
            double volume = def.size[0] * def.size[1] * def.size[2];
            double area = 2 * (def.size[0] * def.size[1] + def.size[1] * def.size[2] + def.size[2] * def.size[0]);
            check_near(r.volume, volume, 1e-12);
            check_near(r.area, area, 1e-12);
            for (int d = 0; d < 3; d++) {
                check_near(r.centroid[d], def.origin[d] + def.size[d] / 2, 1e-12);
                check_near(r.lower[d], def.origin[d], 0);
                check_near(r.upper[d], def.origin[d] + def.size[d], 0);
            }
            check_boundary_is_a_sphere(ctx, mesh, volume, 1e-12);
            bough_mesh_destroy(ctx, mesh);
        }
    bough_context_destroy(ctx);
}

/* A vertex set holds all nodes of the plane, edge nodes too, and nothing else. */
static void box_sides_are_named_by_coordinate(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++) {
        bough_box_def def = brick(types[t], 5);
        bough_mesh *mesh;
        check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
        for (int side = 0; side < 6; side++) {
            int axis = side / 2;
            char name[3] = {(char)('x' + axis), (char)('0' + side % 2), 0};
            double plane = def.origin[axis] + (side % 2 ? def.size[axis] : 0);
            const bough_set *set = bough_mesh_find_set(mesh, BOUGH_SET_VERTEX, name);
            check(set && bough_mesh_find_set(mesh, BOUGH_SET_FACE, name));
            int32_t on_plane = 0;
            for (int32_t v = 0; v < mesh->vertex_count; v++)
                on_plane += fabs(mesh->vertices[3 * v + axis] - plane) < 1e-9;
            check_int(set->count, on_plane);
            for (int32_t i = 0; i < set->count; i++)
                check_near(mesh->vertices[3 * set->items[i] + axis], plane, 1e-15);
        }
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void bad_boxes_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    bough_box_def zero = {0};
    check_fails(ctx, bough_mesh_generate_box(ctx, &zero, &mesh), BOUGH_ERROR_ARGUMENT, "bough_default_box_def");
    bough_box_def def = bough_default_box_def();
    def.size[1] = 0;
    check_fails(ctx, bough_mesh_generate_box(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "size along y");
    def.size[1] = NAN;
    check_fails(ctx, bough_mesh_generate_box(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "size along y");
    def = bough_default_box_def(), def.origin[2] = INFINITY;
    check_fails(ctx, bough_mesh_generate_box(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "origin along z");
    def = bough_default_box_def(), def.cells[0] = 0;
    check_fails(ctx, bough_mesh_generate_box(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "0 cells along x");
    def = bough_default_box_def(), def.cells[0] = def.cells[1] = def.cells[2] = INT32_MAX;
    check_fails(ctx, bough_mesh_generate_box(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "at most 67108863");
    def = bough_default_box_def(), def.tets_per_cell = 7;
    check_fails(ctx, bough_mesh_generate_box(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "5 or 6 tets, not 7");
    def = bough_default_box_def(), def.type = BOUGH_TRI3;
    check_fails(ctx, bough_mesh_generate_box(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "tet4, tet10 or hex8");
    def = bough_default_box_def(), def.origin[0] = 1e20;
    check_fails(ctx, bough_mesh_generate_box(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "too far from the origin");
    check(mesh == NULL);
    bough_context_destroy(ctx);
}

static bough_rod_def rod(bough_element_type type, int32_t refinement) {
    bough_rod_def def = bough_default_rod_def();
    def.type = type;
    def.length = 2;
    def.radius = 0.5;
    def.cells_along = 2 * refinement;
    def.core_cells = refinement;
    def.rings = refinement;
    return def;
}

static void rods_of_all_proportions_are_sound(void **state) {
    (void)state;
    static const double gradings[] = {0.5, 1, 2}, tops[] = {0, 0.1, 1.5};
    static const int32_t alongs[] = {1, 3, 40};
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++)
        for (int32_t core = 1; core <= 5; core += core == 3 ? 2 : 1)
            for (int32_t rings = 1; rings <= 3; rings++)
                for (int k = 0; k < 3; k++) {
                    bough_rod_def def = rod(types[t], 1);
                    def.core_cells = core, def.rings = rings;
                    def.grading = gradings[k];
                    def.top_radius = tops[(k + core) % 3];
                    def.cells_along = alongs[(k + rings) % 3];
                    bough_mesh *mesh;
                    bough_mesh_report r;
                    check_ok(ctx, bough_mesh_generate_rod(ctx, &def, &mesh));
                    check_sound(ctx, mesh, &r);
                    bough_mesh_destroy(ctx, mesh);
                }
    bough_context_destroy(ctx);
}

static void rods_of_even_proportions_have_good_elements(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++)
        for (int32_t n = 2; n <= 5; n++) {
            bough_rod_def def = rod(types[t], n);
            def.length = 1, def.cells_along = 3 * n;
            bough_mesh *mesh;
            bough_mesh_report r;
            check_ok(ctx, bough_mesh_generate_rod(ctx, &def, &mesh));
            check_ok(ctx, bough_mesh_measure(ctx, mesh, &r));
            check_below(-r.worst_quality, types[t] == BOUGH_HEX8 ? -0.75 : -0.4);
            check_below(-r.smallest / r.largest, -0.15);
            bough_mesh_destroy(ctx, mesh);
        }
    bough_context_destroy(ctx);
}

static void rod_sides_lie_on_the_cone(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++) {
        bough_rod_def def = rod(types[t], 3);
        def.top_radius = 0.2;
        bough_mesh *mesh;
        check_ok(ctx, bough_mesh_generate_rod(ctx, &def, &mesh));
        const bough_set *side = bough_mesh_find_set(mesh, BOUGH_SET_VERTEX, "side");
        const bough_set *bottom = bough_mesh_find_set(mesh, BOUGH_SET_VERTEX, "bottom");
        const bough_set *top = bough_mesh_find_set(mesh, BOUGH_SET_VERTEX, "top");
        for (int32_t i = 0; i < side->count; i++) {
            const double *x = mesh->vertices + 3 * side->items[i];
            check_near(hypot(x[0], x[1]), 0.5 - 0.15 * x[2], 1e-15);
        }
        for (int32_t i = 0; i < bottom->count; i++)
            check_near(mesh->vertices[3 * bottom->items[i] + 2], 0, 0);
        for (int32_t i = 0; i < top->count; i++)
            check_near(mesh->vertices[3 * top->items[i] + 2], 2, 0);
        int32_t outermost = 0;
        for (int32_t v = 0; v < mesh->vertex_count; v++) {
            const double *x = mesh->vertices + 3 * v;
            outermost += fabs(hypot(x[0], x[1]) - (0.5 - 0.15 * x[2])) < 1e-12;
        }
        check_int(outermost, side->count);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

/* Error of the volume relative to pi r^2 L, times 16 per halving for tet10 and 4 for straight sides. */
static void rod_volume_converges_to_the_cylinder(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++) {
        double exact = M_PI * 0.25 * 2, error[2], order = types[t] == BOUGH_TET10 ? 4 : 2;
        for (int level = 0; level < 2; level++) {
            bough_rod_def def = rod(types[t], level ? 4 : 2);
            bough_mesh *mesh;
            bough_mesh_report r;
            check_ok(ctx, bough_mesh_generate_rod(ctx, &def, &mesh));
            check_ok(ctx, bough_mesh_measure(ctx, mesh, &r));
            error[level] = fabs(r.volume - exact) / exact;
            check_near(r.centroid[0], 0, 1e-12);
            check_near(r.centroid[1], 0, 1e-12);
            check_near(r.centroid[2], 1, 1e-12);
            bough_mesh_destroy(ctx, mesh);
        }
        check_near(log2(error[0] / error[1]), order, 0.1);
        check_below(error[1], types[t] == BOUGH_TET10 ? 2e-4 : 3e-2);
    }
    bough_context_destroy(ctx);
}

static void bad_rods_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    bough_rod_def zero = {0};
    check_fails(ctx, bough_mesh_generate_rod(ctx, &zero, &mesh), BOUGH_ERROR_ARGUMENT, "bough_default_rod_def");
    bough_rod_def def = rod(BOUGH_TET4, 1);
    def.radius = -1;
    check_fails(ctx, bough_mesh_generate_rod(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "radius -1");
    def = rod(BOUGH_TET4, 1), def.top_radius = NAN;
    check_fails(ctx, bough_mesh_generate_rod(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "top radius");
    def = rod(BOUGH_TET4, 1), def.rings = 0;
    check_fails(ctx, bough_mesh_generate_rod(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "0 rings");
    def = rod(BOUGH_TET4, 1), def.grading = 0;
    check_fails(ctx, bough_mesh_generate_rod(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "grading is 0");
    def = rod(BOUGH_TET4, 1), def.core_cells = INT32_MAX;
    check_fails(ctx, bough_mesh_generate_rod(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "at most 67108863");
    def = rod(BOUGH_TET4, 1), def.cells_along = INT32_MAX;
    check_fails(ctx, bough_mesh_generate_rod(ctx, &def, &mesh), BOUGH_ERROR_ARGUMENT, "at most 67108863");
    check(mesh == NULL);
    bough_context_destroy(ctx);
}

static void raising_the_order_keeps_volume_and_names(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_rod_def def = rod(BOUGH_TET4, 2);
    bough_mesh *mesh, *raised;
    bough_mesh_report before, after;
    check_ok(ctx, bough_mesh_generate_rod(ctx, &def, &mesh));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "half", (int32_t[]){0, 2, 4}, 3));
    check_ok(ctx, bough_mesh_add_material(ctx, mesh, "wood", 1e10, 0.3, 600, "half"));
    check_ok(ctx, bough_mesh_add_material(ctx, mesh, "cork", 1e7, 0.1, 200, "half"));
    mesh->regions[1].material = 0; /* wood twice, cork not used */
    check_ok(ctx, bough_mesh_raise_order(ctx, mesh, &raised));
    check_sound(ctx, mesh, &before);
    check_sound(ctx, raised, &after);
    check_near(after.volume, before.volume, 1e-13);
    for (int d = 0; d < 3; d++)
        check_near(after.centroid[d], before.centroid[d], 1e-13);
    check_int(raised->set_count, mesh->set_count);
    check_int(bough_mesh_find_set(raised, BOUGH_SET_ELEMENT, "half")->count, 3);
    check_int(raised->material_count, 2);
    check_int(raised->region_count, 2);
    check_int(raised->regions[1].material, 0);
    check(strcmp(raised->regions[0].set, "half") == 0);
    raised->regions[1].material = 2;
    check_fails(ctx, bough_mesh_check(ctx, raised), BOUGH_ERROR_ARGUMENT, "region 1 names material 2");
    raised->regions[1].material = 0;
    /* Nodes of the faces of a side are exactly its vertex set. */
    int32_t *vertices, count;
    check_ok(ctx, bough_mesh_select(ctx, raised, "bottom", &vertices, &count));
    for (int32_t i = 0; i < count; i++)
        check_near(raised->vertices[3 * vertices[i] + 2], 0, 0);
    check_int(count, 25 + 64); /* a disc of 25 vertices and 40 triangles has V + F - 1 edges */
    bough_release(ctx, vertices);
    bough_mesh *twice;
    check_fails(ctx, bough_mesh_raise_order(ctx, raised, &twice), BOUGH_ERROR_ARGUMENT, "only tet4");
    bough_mesh_destroy(ctx, mesh);
    bough_mesh_destroy(ctx, raised);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bough_status status = BOUGH_ERROR_MEMORY;
        for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) {
            test_memory memory = {.fail_at = fail_at};
            bough_context *ctx = test_counting_context(&memory);
            bough_mesh *mesh;
            bough_box_def box = brick(kind % 2 ? BOUGH_TET10 : BOUGH_HEX8, 5);
            bough_rod_def round = rod(kind % 2 ? BOUGH_TET10 : BOUGH_HEX8, 1);
            status = kind < 2 ? bough_mesh_generate_box(ctx, &box, &mesh) : bough_mesh_generate_rod(ctx, &round, &mesh);
            check((status == BOUGH_OK) == (mesh != NULL));
            bough_mesh_destroy(ctx, mesh);
            bough_context_destroy(ctx);
            check_int(memory.live, 0);
            check(fail_at < 500);
        }
        check_int(status, BOUGH_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_fill_their_shape),
        cmocka_unit_test(box_sides_are_named_by_coordinate),
        cmocka_unit_test(bad_boxes_are_refused),
        cmocka_unit_test(rods_of_all_proportions_are_sound),
        cmocka_unit_test(rods_of_even_proportions_have_good_elements),
        cmocka_unit_test(rod_sides_lie_on_the_cone),
        cmocka_unit_test(rod_volume_converges_to_the_cylinder),
        cmocka_unit_test(bad_rods_are_refused),
        cmocka_unit_test(raising_the_order_keeps_volume_and_names),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
