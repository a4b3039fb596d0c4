#include "closed_surfaces.h"
#include "test.h"

#include "mesh/mesh.h"
#include "mesh/nearest.h"

#include <time.h>

static const bough_element_type types[] = {BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8};
enum { STRIDE = BOUGH_MAX_ELEMENT_NODES };

static bough_mesh *box(bough_context *ctx, bough_element_type type, int32_t cells) {
    bough_box_def def = bough_default_box_def();
    def.type = type;
    for (int d = 0; d < 3; d++)
        def.size[d] = 1, def.cells[d] = cells;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    return mesh;
}

/* Moves every vertex a little; no element inverts. */
static void shake(bough_mesh *mesh, double amount, uint64_t seed) {
    test_random random = {seed};
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] += test_uniform(&random, -amount, amount);
}

/* A surface of loose triangles with corners at random in a cube. */
static bough_mesh *scattered(bough_context *ctx, int32_t triangle_count, double lower, double upper, uint64_t seed) {
    test_random random = {seed};
    double *x = test_malloc(9 * (size_t)triangle_count * sizeof *x);
    int32_t *t = test_malloc(3 * (size_t)triangle_count * sizeof *t);
    for (int32_t i = 0; i < 9 * triangle_count; i++)
        x[i] = test_uniform(&random, lower, upper);
    for (int32_t i = 0; i < 3 * triangle_count; i++)
        t[i] = i;
    bough_mesh *surface;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TRI3, 3 * triangle_count, x, triangle_count, t, &surface));
    test_free(x);
    test_free(t);
    return surface;
}

static void check_weights(const bough_mesh *volume, const bough_embedding *embedding) {
    for (int32_t v = 0; v < embedding->vertex_count; v++) {
        double sum = 0, least = volume->type == BOUGH_TET10 ? -0.125 : 0;
        check(embedding->elements[v] >= 0 && embedding->elements[v] < volume->element_count);
        for (int k = 0; k < STRIDE; k++) {
            double w = embedding->weights[STRIDE * v + k];
            check(w >= least - 1e-9 && w <= 1 + 1e-9);
            check(w == 0 || k < bough_element_node_count(volume->type));
            sum += w;
        }
        check_near(sum, 1, 1e-14);
    }
}

/* sum_k w_k f(X_k) of the field's three components. */
static void interpolate(const bough_mesh *volume, const bough_embedding *embedding, int32_t vertex,
                        void (*field)(const double *x, double *u), double sum[3]) {
    sum[0] = sum[1] = sum[2] = 0;
    for (int32_t k = 0; k < bough_element_node_count(volume->type); k++) {
        double u[3];
        field(volume->vertices + 3 * bo_mesh_nodes(volume, embedding->elements[vertex])[k], u);
        for (int d = 0; d < 3; d++)
            sum[d] += embedding->weights[STRIDE * vertex + k] * u[d];
    }
}

static void affine(const double *x, double *u) {
    u[0] = 0.3 * x[0] - 0.7 * x[1] + 0.2 * x[2] + 0.5;
    u[1] = 0.9 * x[0] + 0.4 * x[1] - 0.6 * x[2] - 0.1;
    u[2] = -0.2 * x[0] + 0.8 * x[1] + 0.3 * x[2];
}
static void quadratic(const double *x, double *u) {
    u[0] = x[0] * x[0] - 0.5 * x[1] * x[2];
    u[1] = x[0] * x[1] + 0.3 * x[2] * x[2] - x[1];
    u[2] = 0.7 * x[1] * x[1] - x[0] * x[2] + 0.2;
}
static void itself(const double *x, double *u) {
    memcpy(u, x, 3 * sizeof *u);
}

static void check_field(const bough_mesh *volume, const bough_mesh *surface, const bough_embedding *embedding,
                        void (*field)(const double *x, double *u)) {
    for (int32_t v = 0; v < surface->vertex_count; v++) {
        double found[3], expected[3];
        interpolate(volume, embedding, v, field, found);
        field(surface->vertices + 3 * v, expected);
        for (int d = 0; d < 3; d++)
            check_near(found[d], expected[d], 1e-12);
    }
}

static void affine_fields_are_reproduced(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    for (int t = 0; t < 3; t++)
        for (int shaken = 0; shaken < 2; shaken++) {
            bough_mesh *volume = box(ctx, types[t], 5), *surface = scattered(ctx, 500, 0.05, 0.95, 7);
            if (shaken) /* straight tets stay so; hexes and tet10 become curved */
                shake(volume, types[t] == BOUGH_TET10 ? 0.008 : 0.02, 3);
            bough_embedding *embedding;
            bough_bind_report report;
            check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, &report));
            check_int(report.outside_count, 0);
            check_int(report.farthest_vertex, -1);
            check_int(report.torn_triangle_count, 0);
            check_weights(volume, embedding);
            check_field(volume, surface, embedding, affine);
            if (types[t] == BOUGH_TET10 && !shaken)
                check_field(volume, surface, embedding, quadratic);
            bough_embedding_destroy(ctx, embedding);
            bough_mesh_destroy(ctx, volume);
            bough_mesh_destroy(ctx, surface);
        }
    bough_context_destroy(ctx);
}

static void the_own_boundary_has_unit_weights(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++)
        for (int curved = 0; curved < 2; curved++) {
            bough_rod_def def = bough_default_rod_def();
            def.type = types[t];
            bough_mesh *volume, *surface;
            check_ok(ctx, bough_mesh_generate_rod(ctx, &def, &volume));
            if (curved)
                shake(volume, 0.002, 5);
            int32_t *vertex_map;
            check_ok(ctx, bough_mesh_surface(ctx, volume, &surface, &vertex_map, NULL));
            bough_embedding *embedding;
            check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, NULL));
            check_weights(volume, embedding);
            for (int32_t v = 0; v < surface->vertex_count; v++)
                for (int32_t k = 0; k < bough_element_node_count(types[t]); k++) {
                    bool same = bo_mesh_nodes(volume, embedding->elements[v])[k] == vertex_map[v];
                    check_near(embedding->weights[STRIDE * v + k], same, 1e-10);
                }
            bough_release(ctx, vertex_map);
            bough_embedding_destroy(ctx, embedding);
            bough_mesh_destroy(ctx, volume);
            bough_mesh_destroy(ctx, surface);
        }
    bough_context_destroy(ctx);
}

/* Distance to the nearest of all elements. */
static double brute_force(const bough_mesh *volume, const double *x) {
    double best = INFINITY;
    for (int32_t e = 0; e < volume->element_count; e++) {
        bo_vec3 nodes[STRIDE];
        bo_place place;
        for (int32_t k = 0; k < bough_element_node_count(volume->type); k++)
            nodes[k] = bo_load3(volume->vertices + 3 * bo_mesh_nodes(volume, e)[k]);
        best = fmin(best, bo_nearest_in_element(volume->type, nodes, bo_load3(x), &place));
    }
    return sqrt(best);
}

static void the_tree_finds_what_brute_force_finds(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    for (int t = 0; t < 3; t++) {
        bough_mesh *volume = box(ctx, types[t], 4), *surface = scattered(ctx, 100, -0.5, 1.5, 11);
        shake(volume, types[t] == BOUGH_TET10 ? 0.008 : 0.03, 13);
        bough_embedding *embedding;
        bough_bind_report report;
        check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, &report));
        check_weights(volume, embedding);
        double largest = 0;
        int32_t outside = 0;
        for (int32_t v = 0; v < surface->vertex_count; v++) {
            double y[3], distance = brute_force(volume, surface->vertices + 3 * v);
            interpolate(volume, embedding, v, itself, y);
            check_near(bo_norm(bo_sub(bo_load3(y), bo_load3(surface->vertices + 3 * v))), distance, 1e-12);
            largest = fmax(largest, distance);
            outside += distance > 1e-9;
        }
        check_int(report.outside_count, outside);
        check_near(report.largest_distance, largest, 1e-15);
        bough_embedding_destroy(ctx, embedding);
        bough_mesh_destroy(ctx, volume);
        bough_mesh_destroy(ctx, surface);
    }
    bough_context_destroy(ctx);
}

/* The nearest of a lattice of places in the element. */
static double sampled_distance2(bough_element_type type, const bo_vec3 *nodes, bo_vec3 x) {
    enum { N = 40 };
    double best = INFINITY;
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++)
            for (int k = 0; k <= N; k++) {
                if (type != BOUGH_HEX8 && i + j + k > N)
                    continue;
                double a = (double)i / N, b = (double)j / N, c = (double)k / N, w[STRIDE];
                bo_place place = {{a, b, c, 1 - a - b - c}};
                bo_shape_weights(type, &place, w);
                bo_vec3 r = bo_scale(-1, x);
                for (int n = 0; n < bough_element_node_count(type); n++)
                    r = bo_mul_add(r, w[n], nodes[n]);
                best = fmin(best, bo_dot(r, r));
            }
    return best;
}

static void no_place_of_an_element_is_nearer(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {17};
    for (int t = 0; t < 3; t++) {
        bough_mesh *volume = box(ctx, types[t], 1);
        shake(volume, 0.1, 19 + (uint64_t)t);
        for (int i = 0; i < 200; i++) {
            bo_vec3 nodes[STRIDE];
            bo_place place;
            for (int32_t k = 0; k < bough_element_node_count(volume->type); k++)
                nodes[k] = bo_load3(volume->vertices + 3 * bo_mesh_nodes(volume, i % volume->element_count)[k]);
            double x[3];
            for (int d = 0; d < 3; d++)
                x[d] = test_uniform(&random, -1, 2);
            double distance2 = bo_nearest_in_element(volume->type, nodes, bo_load3(x), &place);
            check_below(distance2, sampled_distance2(volume->type, nodes, bo_load3(x)) + 1e-14);
        }
        bough_mesh_destroy(ctx, volume);
    }
    bough_context_destroy(ctx);
}

static void count_warnings(void *user, const char *sentence) {
    check(strstr(sentence, "outside of the volume mesh"));
    ++*(int *)user;
}

/* Vertices over the top of the unit cube hang at the points below them. */
static void outside_vertices_hang_at_the_nearest_point(void **state) {
    (void)state;
    int warnings = 0;
    bough_context_def def = bough_default_context_def();
    def.warn = count_warnings, def.warn_user = &warnings, def.thread_count = 1;
    bough_context *ctx = bough_context_create(&def);
    static const int32_t triangle[] = {0, 1, 2};
    for (int t = 0; t < 3; t++)
        for (int far = 0; far < 2; far++) {
            double height = far ? 0.5 : 0.01;
            const double x[] = {0.21, 0.33, 1 + height, 0.87, 0.11, 1 + height / 2, 0.4, 0.7, 1};
            bough_mesh *volume = box(ctx, types[t], 3), *surface;
            check_ok(ctx, bough_mesh_create(ctx, BOUGH_TRI3, 3, x, 1, triangle, &surface));
            bough_embedding *embedding;
            bough_bind_report report;
            warnings = 0;
            check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, &report));
            check_int(warnings, far);
            check_int(report.outside_count, 2);
            check_int(report.farthest_vertex, 0);
            check_near(report.largest_distance, height, 1e-14);
            check_weights(volume, embedding);
            for (int32_t v = 0; v < 3; v++) {
                double y[3];
                interpolate(volume, embedding, v, itself, y);
                check_near(y[0], x[3 * v], 1e-14);
                check_near(y[1], x[3 * v + 1], 1e-14);
                check_near(y[2], 1, 1e-14);
            }
            bough_embedding_destroy(ctx, embedding);
            bough_mesh_destroy(ctx, volume);
            bough_mesh_destroy(ctx, surface);
        }
    bough_context_destroy(ctx);
}

static void tiny_and_degenerate_triangles_are_safe(void **state) {
    (void)state;
    /* a point, a needle, a sliver, a triangle of denormal size, a whole one */
    static const double x[][3] = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}, {0.5, 0.5, 0.5},        {0.1, 0.2, 0.3},
                                  {0.9, 0.2, 0.3}, {0.5, 0.2, 0.3}, {0.1, 0.1, 2},          {0.9, 0.1, 2},
                                  {0.5, 0.1, 2},   {0, 0, 0},       {1e-310, 0, 0},         {0, 1e-310, 0},
                                  {0.25, 0.5, 1},  {0.75, 0.5, 1},  {0.5, 0.500000001, 1.5}};
    int32_t triangles[15];
    for (int i = 0; i < 15; i++)
        triangles[i] = i;
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++) {
        bough_mesh *volume = box(ctx, types[t], 2), *surface;
        check_ok(ctx, bough_mesh_create(ctx, BOUGH_TRI3, 15, x[0], 5, triangles, &surface));
        surface->elements[2] = 0; /* a vertex named twice */
        bough_embedding *embedding;
        bough_bind_report report;
        check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, &report));
        check_int(report.degenerate_triangle_count, 4);
        check_int(report.torn_triangle_count, 0);
        check_weights(volume, embedding);
        for (int k = 0; k < STRIDE; k++) /* the same place is held the same way */
            check_near(embedding->weights[k], embedding->weights[STRIDE + k], 0);
        bough_embedding_destroy(ctx, embedding);
        bough_mesh_destroy(ctx, volume);
        bough_mesh_destroy(ctx, surface);
    }
    bough_context_destroy(ctx);
}

/* Two tets with a gap between them; a small triangle in its middle hangs with one corner at either. */
static void triangles_across_a_gap_are_counted(void **state) {
    (void)state;
    static const double corners[][3] = {{-2, 0, 0}, {-1, 1, -1}, {-1, -1, -1}, {-1, 0, 1},
                                        {2, 0, 0},  {1, 1, -1},  {1, -1, -1},  {1, 0, 1}};
    static const int32_t tets[][4] = {{0, 1, 2, 3}, {4, 6, 5, 7}};
    static const double small[][3] = {{-0.01, 0, 0}, {0.01, 0, 0}, {0.01, 0.01, 0}},
                        aside[][3] = {{0.01, 0, 0}, {0.02, 0, 0}, {0.01, 0.01, 0}};
    bough_context *ctx = test_context(1);
    bough_mesh *volume, *surface;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TET4, 8, corners[0], 2, tets[0], &volume));
    for (int across = 0; across < 2; across++) {
        check_ok(ctx, bough_mesh_create(ctx, BOUGH_TRI3, 3, across ? small[0] : aside[0], 1, (int32_t[]){0, 1, 2},
                                        &surface));
        bough_embedding *embedding;
        bough_bind_report report;
        check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, &report));
        check_int(report.torn_triangle_count, across);
        check_int(report.outside_count, 3);
        check_weights(volume, embedding);
        bough_embedding_destroy(ctx, embedding);
        bough_mesh_destroy(ctx, surface);
    }
    bough_mesh_destroy(ctx, volume);
    bough_context_destroy(ctx);
}

/* Elements without volume, and points so far away that squares overflow. */
static void flat_elements_and_far_points_are_safe(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int t = 0; t < 3; t++)
        for (int kind = 0; kind < 3; kind++) {
            bough_mesh *volume = box(ctx, types[t], 2);
            bough_mesh *surface = scattered(ctx, 30, kind == 1 ? -1e200 : -1, kind == 1 ? 1e200 : 2, 23);
            for (int32_t i = 0; i < 3 * volume->vertex_count && kind != 1; i++)
                if (kind == 2 || i % 3 == 2) /* all in a plane, or in a point */
                    volume->vertices[i] = 0.5;
            bough_embedding *embedding;
            bough_bind_report report;
            check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, &report));
            check_weights(volume, embedding);
            for (int32_t v = 0; v < surface->vertex_count && kind == 0; v++) {
                double y[3];
                interpolate(volume, embedding, v, itself, y);
                check_near(y[0], fmin(fmax(surface->vertices[3 * v], 0), 1), types[t] == BOUGH_TET4 ? 1e-12 : 1e-5);
            }
            bough_embedding_destroy(ctx, embedding);
            bough_mesh_destroy(ctx, volume);
            bough_mesh_destroy(ctx, surface);
        }
    bough_context_destroy(ctx);
}

static void any_number_of_threads_gives_the_same_bits(void **state) {
    (void)state;
    bough_context *one = test_context(1);
    bough_mesh *volume = box(one, BOUGH_HEX8, 6), *surface = scattered(one, 2000, -0.2, 1.2, 29);
    shake(volume, 0.02, 31);
    bough_embedding *expected, *found;
    check_ok(one, bough_mesh_bind(one, volume, surface, &expected, NULL));
    for (int32_t threads = 2; threads <= 5; threads++) {
        bough_context *ctx = test_context(threads);
        check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &found, NULL));
        size_t count = (size_t)surface->vertex_count;
        check_int(memcmp(found->elements, expected->elements, count * sizeof(int32_t)), 0);
        check_int(memcmp(found->weights, expected->weights, count * STRIDE * sizeof(double)), 0);
        bough_embedding_destroy(ctx, found);
        bough_context_destroy(ctx);
    }
    bough_embedding_destroy(one, expected);
    bough_mesh_destroy(one, volume);
    bough_mesh_destroy(one, surface);
    bough_context_destroy(one);
}

static void wrong_meshes_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *volume = box(ctx, BOUGH_TET4, 1), *surface = box_surface(ctx, 0, 1, 1);
    bough_embedding *embedding;
    check_fails(ctx, bough_mesh_bind(ctx, surface, surface, &embedding, NULL), BOUGH_ERROR_ARGUMENT, "surface too");
    check_fails(ctx, bough_mesh_bind(ctx, volume, volume, &embedding, NULL), BOUGH_ERROR_ARGUMENT, "this mesh is tet4");
    surface->vertices[4] = NAN;
    check_fails(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, NULL), BOUGH_NOT_FINITE, "vertex 1 of the surf");
    surface->vertices[4] = 0;
    int32_t elements = volume->element_count;
    volume->element_count = 0;
    check_fails(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, NULL), BOUGH_ERROR_ARGUMENT, "no elements");
    check(!embedding);
    volume->element_count = elements;
    surface->vertex_count = surface->element_count = 0;
    check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, NULL));
    check_int(embedding->vertex_count, 0);
    bough_embedding_destroy(ctx, embedding);
    bough_mesh_destroy(ctx, volume);
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    bough_context *plain = test_context(1);
    bough_mesh *volume = box(plain, BOUGH_TET10, 2), *surface = box_surface(plain, 0, 1, 3);
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bough_embedding *embedding;
        status = bough_mesh_bind(ctx, volume, surface, &embedding, NULL);
        check(status == BOUGH_OK || !embedding);
        bough_embedding_destroy(ctx, embedding);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        check(fail_at < 100);
    }
    check_int(status, BOUGH_OK);
    bough_mesh_destroy(plain, volume);
    bough_mesh_destroy(plain, surface);
    bough_context_destroy(plain);
}

/* 100,000 vertices in 300,000 tets. Trying all pairs would take many minutes of the processor's time; the limit leaves
 * room for sanitizers, and what else the machine does is not counted. */
static void large_meshes_take_about_a_second(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *volume = box(ctx, BOUGH_TET4, 39), *surface = scattered(ctx, 33333, -0.01, 1.01, 37);
    check(volume->element_count > 290000);
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    bough_embedding *embedding;
    check_ok(ctx, bough_mesh_bind(ctx, volume, surface, &embedding, NULL));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    double seconds = (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    print_message("%d vertices in %d tets: %.2f s\n", surface->vertex_count, volume->element_count, seconds);
    check_below(seconds, 30);
    check_weights(volume, embedding);
    bough_embedding_destroy(ctx, embedding);
    bough_mesh_destroy(ctx, volume);
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_fields_are_reproduced),
        cmocka_unit_test(the_own_boundary_has_unit_weights),
        cmocka_unit_test(the_tree_finds_what_brute_force_finds),
        cmocka_unit_test(no_place_of_an_element_is_nearer),
        cmocka_unit_test(outside_vertices_hang_at_the_nearest_point),
        cmocka_unit_test(tiny_and_degenerate_triangles_are_safe),
        cmocka_unit_test(triangles_across_a_gap_are_counted),
        cmocka_unit_test(flat_elements_and_far_points_are_safe),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(wrong_meshes_are_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(large_meshes_take_about_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
