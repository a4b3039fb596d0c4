#include "test.h"

#include "mesh/mesh.h"

static const bough_element_type types[] = {BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8};

static bough_mesh *box(bough_context *ctx, bough_element_type type, int32_t nx, int32_t ny, int32_t nz) {
    bough_box_def def = bough_default_box_def();
    def.type = type;
    def.cells[0] = nx, def.cells[1] = ny, def.cells[2] = nz;
    def.size[0] = nx, def.size[1] = ny, def.size[2] = nz;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    return mesh;
}

/* Unit cells of a box in the order of the generator: the cell in which the element lies. */
static void cell_of(const bough_mesh *mesh, int32_t element, int32_t cell[3]) {
    int32_t corners = bough_element_corner_count(mesh->type);
    for (int d = 0; d < 3; d++) {
        double middle = 0;
        for (int32_t c = 0; c < corners; c++)
            middle += mesh->vertices[3 * bo_mesh_nodes(mesh, element)[c] + d] / corners;
        cell[d] = (int32_t)floor(middle);
    }
}

/* Cells 0..2, 3..5 and 6..8 along x. */
static int32_t *thirds(const bough_mesh *mesh) {
    int32_t *domain = test_malloc((size_t)mesh->element_count * sizeof *domain);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int32_t cell[3];
        cell_of(mesh, e, cell);
        domain[e] = cell[0] / 3;
    }
    return domain;
}

static void domains_are_the_mesh_in_parts(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++) {
        bough_mesh *mesh = box(ctx, types[t], 9, 2, 1);
        int32_t *domain = thirds(mesh), nodes = bough_element_node_count(types[t]), elements = 0;
        bough_split *split;
        check_ok(ctx, bough_mesh_split(ctx, mesh, domain, 3, &split));
        check_int(split->domain_count, 3);
        double volume = 0;
        for (int32_t d = 0; d < 3; d++) {
            const bough_domain *part = &split->domains[d];
            check_ok(ctx, bough_mesh_check(ctx, part->mesh));
            bough_mesh_report report;
            check_ok(ctx, bough_mesh_measure(ctx, part->mesh, &report));
            check_int(report.unused_vertex_count, 0);
            volume += report.volume;
            elements += part->mesh->element_count;
            check_int(part->piece_count, 1);
            check_int(part->face_piece_count, 1);
            for (int32_t v = 0; v < 3 * part->mesh->vertex_count; v++)
                check_near(part->mesh->vertices[v], mesh->vertices[3 * part->vertex_map[v / 3] + v % 3], 0);
            for (int32_t e = 0; e < part->mesh->element_count; e++) {
                check_int(domain[part->element_map[e]], d);
                check(e == 0 || part->element_map[e - 1] < part->element_map[e]);
                for (int32_t k = 0; k < nodes; k++)
                    check_int(part->vertex_map[bo_mesh_nodes(part->mesh, e)[k]],
                              bo_mesh_nodes(mesh, part->element_map[e])[k]);
            }
        }
        check_near(volume, 18, 1e-12);
        check_int(elements, mesh->element_count);
        test_free(domain);
        bough_split_destroy(ctx, split);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void interfaces_are_the_shared_faces(void **state) {
    (void)state;
    static const int32_t vertices[] = {6, 15, 6}, faces[] = {4, 4, 2}; /* of a plane of 2 x 1 cells */
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++) {
        bough_mesh *mesh = box(ctx, types[t], 9, 2, 1);
        int32_t *domain = thirds(mesh);
        bough_split *split;
        check_ok(ctx, bough_mesh_split(ctx, mesh, domain, 3, &split));
        check_int(split->interface_count, 2);
        check_int(split->touching_count, 0);
        for (int32_t i = 0; i < 2; i++) {
            const bough_domain_interface *face = &split->interfaces[i];
            check_int(face->domains[0], i);
            check_int(face->domains[1], i + 1);
            double sum = 0;
            for (int32_t k = 0; k < face->vertex_count; k++) {
                check(face->weights[k] > 0);
                sum += face->weights[k];
            }
            check_near(sum, 1, 1e-14);
            check_int(face->vertex_count, vertices[t]);
            check_int(face->face_count, faces[t]);
            check_int(face->loose_vertex_count, 0);
            check_near(face->area, 2, 1e-14);
            for (int32_t v = 0; v < face->vertex_count; v++) {
                const bough_domain *a = &split->domains[i], *b = &split->domains[i + 1];
                check_int(a->vertex_map[face->vertices[0][v]], b->vertex_map[face->vertices[1][v]]);
                check_near(a->mesh->vertices[3 * face->vertices[0][v]], 3 * (i + 1), 1e-14);
                check(v == 0 || face->vertices[0][v - 1] < face->vertices[0][v]);
            }
        }
        test_free(domain);
        bough_split_destroy(ctx, split);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

/* Four columns of cells in two diagonal pairs: 0 1 over 2 3. */
static void domains_that_share_an_edge_only_touch(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = box(ctx, BOUGH_HEX8, 2, 2, 3);
    int32_t domain[12];
    for (int32_t e = 0; e < 12; e++) {
        int32_t cell[3];
        cell_of(mesh, e, cell);
        domain[e] = cell[0] + 2 * cell[1];
    }
    bough_split *split;
    check_ok(ctx, bough_mesh_split(ctx, mesh, domain, 4, &split));
    check_int(split->interface_count, 4);
    check_int(split->touching_count, 2);
    static const int32_t touching[2][2] = {{0, 3}, {1, 2}};
    for (int i = 0; i < 2; i++) {
        check_int(split->touching[i].domains[0], touching[i][0]);
        check_int(split->touching[i].domains[1], touching[i][1]);
        check_int(split->touching[i].vertex_count, 4);
    }
    int32_t parent[4], order[4];
    check_fails(ctx, bough_mesh_domain_tree(ctx, split, 0, parent, order), BOUGH_ERROR_ARGUMENT,
                "domains 2 and 3 close a loop");
    bough_split_destroy(ctx, split);
    /* the diagonal pairs as two domains: each hangs by an edge only */
    for (int32_t e = 0; e < 12; e++)
        domain[e] = domain[e] == 1 || domain[e] == 2;
    check_ok(ctx, bough_mesh_split(ctx, mesh, domain, 2, &split));
    for (int d = 0; d < 2; d++) {
        check_int(split->domains[d].piece_count, 1);
        check_int(split->domains[d].face_piece_count, 2);
    }
    check_int(split->interface_count, 1);
    check_int(split->interfaces[0].vertex_count, 5 * 4);
    check_near(split->interfaces[0].area, 12, 1e-14);
    bough_split_destroy(ctx, split);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void pieces_of_a_domain_are_counted(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = box(ctx, BOUGH_HEX8, 5, 1, 1);
    bough_split *split;
    static const int32_t apart[] = {0, 1, 1, 1, 0}, all_one[] = {0, 0, 0, 0, 0};
    check_ok(ctx, bough_mesh_split(ctx, mesh, apart, 2, &split));
    check_int(split->domains[0].piece_count, 2);
    check_int(split->domains[0].face_piece_count, 2);
    check_int(split->domains[1].piece_count, 1);
    check_int(split->interfaces[0].vertex_count, 8);
    bough_split_destroy(ctx, split);
    check_ok(ctx, bough_mesh_split(ctx, mesh, all_one, 1, &split));
    check_int(split->interface_count, 0);
    check_int(split->domains[0].mesh->vertex_count, mesh->vertex_count);
    int32_t parent, order;
    check_ok(ctx, bough_mesh_domain_tree(ctx, split, 0, &parent, &order));
    check_int(parent, -1);
    bough_split_destroy(ctx, split);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void vertices_shared_beside_the_faces_are_loose(void **state) {
    (void)state;
    /* tets 0 and 1 share the face 0 1 2; tet 2, of tet 1's domain, touches vertex 3 of tet 0 */
    static const double vertices[][3] = {{0, 0, 0},  {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                         {0, 0, -1}, {1, 0, 1}, {0, 1, 1}, {0, 0, 2}};
    static const int32_t elements[][4] = {{0, 1, 2, 3}, {0, 2, 1, 4}, {3, 5, 6, 7}}, domain[] = {0, 1, 1};
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TET4, 8, vertices[0], 3, elements[0], &mesh));
    bough_split *split;
    check_ok(ctx, bough_mesh_split(ctx, mesh, domain, 2, &split));
    check_int(split->interfaces[0].vertex_count, 3);
    check_int(split->interfaces[0].loose_vertex_count, 1);
    check_near(split->interfaces[0].area, 0.5, 1e-16);
    check_int(split->domains[1].piece_count, 2);
    bough_split_destroy(ctx, split);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void sets_and_materials_come_along(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = box(ctx, BOUGH_HEX8, 4, 1, 1);
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "left", (int32_t[]){0, 1}, 2));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "right", (int32_t[]){2, 3}, 2));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "middle", (int32_t[]){1, 2}, 2));
    check_ok(ctx, bough_mesh_add_material(ctx, mesh, "wood", 1e9, 0.3, 700, NULL));
    check_ok(ctx, bough_mesh_add_material(ctx, mesh, "steel", 2e11, 0.3, 7800, "left"));
    check_ok(ctx, bough_mesh_add_material(ctx, mesh, "rubber", 1e6, 0.45, 1100, "right"));
    static const char *const names[] = {"right", "left"};
    int32_t *domain, count;
    check_ok(ctx, bough_mesh_domains_from_sets(ctx, mesh, names, 2, &domain, &count));
    check_int(count, 2);
    bough_split *split;
    check_ok(ctx, bough_mesh_split(ctx, mesh, domain, count, &split));
    const bough_mesh *right = split->domains[0].mesh, *left = split->domains[1].mesh;
    check_int(bough_mesh_find_set(right, BOUGH_SET_ELEMENT, "right")->count, 2);
    check(!bough_mesh_find_set(right, BOUGH_SET_ELEMENT, "left"));
    check_int(bough_mesh_find_set(right, BOUGH_SET_ELEMENT, "middle")->items[0], 0);
    check_int(bough_mesh_find_set(left, BOUGH_SET_ELEMENT, "middle")->items[0], 1);
    check(!bough_mesh_find_set(right, BOUGH_SET_VERTEX, "x0"));
    check(!bough_mesh_find_set(right, BOUGH_SET_FACE, "x0"));
    for (int32_t i = 0; i < 4; i++) {
        const bough_set *x1 = bough_mesh_find_set(right, BOUGH_SET_VERTEX, "x1");
        check_int(x1->count, 4);
        check_near(right->vertices[3 * x1->items[i]], 4, 0);
        const bough_set *y0 = bough_mesh_find_set(right, BOUGH_SET_FACE, "y0");
        check_int(y0->count, 2);
        int32_t corners[4];
        check_int(bough_element_face_corners(BOUGH_HEX8, y0->items[1] % 6, corners), 4);
        check_near(right->vertices[3 * bo_mesh_nodes(right, y0->items[1] / 6)[corners[i]] + 1], 0, 0);
    }
    check_int(right->material_count, 3);
    check_int(right->region_count, 2);
    check(strcmp(right->regions[0].set, "") == 0);
    check(strcmp(right->regions[1].set, "right") == 0);
    check(strcmp(right->materials[right->regions[1].material].name, "rubber") == 0);
    check_int(left->region_count, 2);
    check(strcmp(left->materials[left->regions[1].material].name, "steel") == 0);
    bough_release(ctx, domain);
    bough_split_destroy(ctx, split);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void sets_must_cover_every_element_once(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = box(ctx, BOUGH_HEX8, 4, 1, 1);
    int32_t *domain, count;
    check_fails(ctx, bough_mesh_domains_from_sets(ctx, mesh, NULL, 0, &domain, &count), BOUGH_ERROR_ARGUMENT,
                "no element sets");
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "trunk", (int32_t[]){0, 1}, 2));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "crown", (int32_t[]){3}, 1));
    check_fails(ctx, bough_mesh_domains_from_sets(ctx, mesh, NULL, 0, &domain, &count), BOUGH_ERROR_ARGUMENT,
                "element 2 is in none of the 2");
    check(!domain);
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "knot", (int32_t[]){1, 2}, 2));
    check_fails(ctx, bough_mesh_domains_from_sets(ctx, mesh, NULL, 0, &domain, &count), BOUGH_ERROR_ARGUMENT,
                "element 1 is in the sets \"trunk\" and \"knot\"");
    static const char *const wrong[] = {"trunc"}, *const twice[] = {"crown", "crown"};
    check_fails(ctx, bough_mesh_domains_from_sets(ctx, mesh, wrong, 1, &domain, &count), BOUGH_ERROR_ARGUMENT,
                "did you mean \"trunk\"?");
    check_fails(ctx, bough_mesh_domains_from_sets(ctx, mesh, twice, 2, &domain, &count), BOUGH_ERROR_ARGUMENT,
                "element 3 is in the sets \"crown\" and \"crown\"");
    check_fails(ctx, bough_mesh_domains_from_sets(ctx, mesh, twice, 0, &domain, &count), BOUGH_ERROR_ARGUMENT,
                "no element set was named");
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* A chain 3 - 1 - 0 - 4 - 2. */
static void trees_are_walked_breadth_first(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = box(ctx, BOUGH_TET4, 5, 1, 1);
    int32_t *domain = test_malloc((size_t)mesh->element_count * sizeof *domain);
    static const int32_t of_cell[] = {3, 1, 0, 4, 2};
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int32_t cell[3];
        cell_of(mesh, e, cell);
        domain[e] = of_cell[cell[0]];
    }
    bough_split *split;
    check_ok(ctx, bough_mesh_split(ctx, mesh, domain, 5, &split));
    int32_t parent[5], order[5];
    check_ok(ctx, bough_mesh_domain_tree(ctx, split, 0, parent, order));
    static const int32_t parents[] = {-1, 0, 4, 1, 0}, orders[] = {0, 1, 4, 3, 2};
    for (int i = 0; i < 5; i++) {
        check_int(parent[i], parents[i]);
        check_int(order[i], orders[i]);
    }
    check_fails(ctx, bough_mesh_domain_tree(ctx, split, 5, parent, order), BOUGH_ERROR_ARGUMENT, "root is domain 5");
    test_free(domain);
    bough_split_destroy(ctx, split);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void domains_apart_are_no_tree(void **state) {
    (void)state;
    static const double vertices[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                         {3, 0, 0}, {4, 0, 0}, {3, 1, 0}, {3, 0, 1}};
    static const int32_t apart[][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}}, touching[][4] = {{0, 1, 2, 3}, {1, 5, 6, 7}};
    static const int32_t domain[] = {0, 1};
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 2; i++) {
        bough_mesh *mesh;
        check_ok(ctx, bough_mesh_create(ctx, BOUGH_TET4, 8, vertices[0], 2, (i ? touching : apart)[0], &mesh));
        bough_split *split;
        int32_t parent[2], order[2];
        check_ok(ctx, bough_mesh_split(ctx, mesh, domain, 2, &split));
        check_int(split->touching_count, i);
        check_fails(ctx, bough_mesh_domain_tree(ctx, split, 1, parent, order), BOUGH_ERROR_ARGUMENT,
                    i ? "domains 0 and 1 only touch: they have vertices in common (1)" : "from domain 1 to domain 0");
        bough_split_destroy(ctx, split);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void wrong_domains_are_refused(void **state) {
    (void)state;
    static const double vertices[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 2}, {0, 0, -1}};
    static const int32_t crowded[][4] = {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 2, 1, 5}};
    bough_context *ctx = test_context(1);
    bough_mesh *mesh, *skin;
    bough_split *split;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TET4, 6, vertices[0], 3, crowded[0], &mesh));
    check_fails(ctx, bough_mesh_split(ctx, mesh, (int32_t[]){0, 0, 1}, 2, &split), BOUGH_ERROR_ARGUMENT,
                "1 faces of three or more");
    check(!split);
    check_fails(ctx, bough_mesh_split(ctx, mesh, (int32_t[]){0, 0, 2}, 2, &split), BOUGH_ERROR_ARGUMENT,
                "element 2 is in domain 2");
    check_fails(ctx, bough_mesh_split(ctx, mesh, (int32_t[]){0, 0, -1}, 2, &split), BOUGH_ERROR_ARGUMENT,
                "element 2 is in domain -1");
    check_fails(ctx, bough_mesh_split(ctx, mesh, (int32_t[]){0, 0, 2}, 3, &split), BOUGH_ERROR_ARGUMENT,
                "domain 1 has no elements");
    check_fails(ctx, bough_mesh_split(ctx, mesh, (int32_t[]){0, 0, 2}, 4, &split), BOUGH_ERROR_ARGUMENT, "3 elements");
    check_ok(ctx, bough_mesh_surface(ctx, mesh, &skin, NULL, NULL));
    check_fails(ctx, bough_mesh_split(ctx, skin, (int32_t[]){0}, 1, &split), BOUGH_ERROR_ARGUMENT, "volume meshes");
    bough_mesh_destroy(ctx, mesh);
    bough_mesh_destroy(ctx, skin);
    bough_context_destroy(ctx);
}

/* The boundary of the whole as a surface to draw: every triangle in one part, at its place. */
static void surfaces_are_cut_along_the_domains(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *mesh = box(ctx, BOUGH_TET4, 9, 2, 1), *surface, *parts[4];
    int32_t *domain = thirds(mesh), triangles = 0;
    check_ok(ctx, bough_mesh_surface(ctx, mesh, &surface, NULL, NULL));
    check_ok(ctx, bough_mesh_split_surface(ctx, mesh, domain, 4, surface, parts)); /* nothing is in the fourth */
    check(!parts[3]);
    for (int32_t d = 0; d < 3; d++) {
        triangles += parts[d]->element_count;
        for (int32_t i = 0; i < 3 * parts[d]->element_count; i++) {
            double x = parts[d]->vertices[3 * parts[d]->elements[i]];
            check(x >= 3 * d - 1 - 1e-9 &&
                  x <= 3 * d + 4 + 1e-9); /* triangles across a border reach one cell over it */
        }
        bough_mesh_destroy(ctx, parts[d]);
    }
    check_int(triangles, surface->element_count);
    bough_mesh_destroy(ctx, surface);
    /* two corners of three decide */
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TRI3, 3, (double[]){2.5, 0.5, 0.5, 3.5, 0.5, 0.5, 3.5, 1.5, 0.5}, 1,
                                    (int32_t[]){0, 1, 2}, &surface));
    check_ok(ctx, bough_mesh_split_surface(ctx, mesh, domain, 3, surface, parts));
    check(!parts[0] && parts[1] && !parts[2]);
    bough_mesh_destroy(ctx, parts[1]);
    bough_mesh_destroy(ctx, surface);
    bough_mesh_destroy(ctx, mesh);
    test_free(domain);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    bough_context *plain = test_context(1);
    bough_mesh *mesh = box(plain, BOUGH_TET10, 9, 1, 1);
    int32_t *thirds_of = thirds(mesh), *items = test_malloc((size_t)mesh->element_count * sizeof *items);
    static const char *const names[] = {"a", "b", "c"};
    for (int32_t d = 0; d < 3; d++) {
        int32_t count = 0;
        for (int32_t e = 0; e < mesh->element_count; e++)
            if (thirds_of[e] == d)
                items[count++] = e;
        check_ok(plain, bough_mesh_add_set(plain, mesh, BOUGH_SET_ELEMENT, names[d], items, count));
        check_ok(plain, bough_mesh_add_material(plain, mesh, names[d], 1, 0, 1, names[d]));
    }
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        int32_t *domain, count;
        bough_split *split = NULL;
        status = bough_mesh_domains_from_sets(ctx, mesh, names, 3, &domain, &count);
        if (status == BOUGH_OK)
            status = bough_mesh_split(ctx, mesh, domain, count, &split);
        check(status == BOUGH_OK || !split);
        bough_release(ctx, domain);
        bough_split_destroy(ctx, split);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        check(fail_at < 1000);
    }
    check_int(status, BOUGH_OK);
    test_free(thirds_of);
    test_free(items);
    bough_mesh_destroy(plain, mesh);
    bough_context_destroy(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_are_the_mesh_in_parts),
        cmocka_unit_test(interfaces_are_the_shared_faces),
        cmocka_unit_test(domains_that_share_an_edge_only_touch),
        cmocka_unit_test(pieces_of_a_domain_are_counted),
        cmocka_unit_test(vertices_shared_beside_the_faces_are_loose),
        cmocka_unit_test(sets_and_materials_come_along),
        cmocka_unit_test(sets_must_cover_every_element_once),
        cmocka_unit_test(trees_are_walked_breadth_first),
        cmocka_unit_test(domains_apart_are_no_tree),
        cmocka_unit_test(wrong_domains_are_refused),
        cmocka_unit_test(surfaces_are_cut_along_the_domains),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
