/* Voxels fill closed surfaces, whatever their position on the grid, and carry the surface with them. */
#include "closed_surfaces.h"

/* A closed grid of nu x nv quads, two triangles each, wrapped around in both directions (torus) or with poles (sphere).
 */
static bough_mesh *torus(bough_context *ctx, double R, double r, int32_t nu, int32_t nv) {
    double *x = malloc(sizeof(double) * 3 * (size_t)(nu * nv));
    int32_t *t = malloc(sizeof(int32_t) * 6 * (size_t)(nu * nv));
    for (int32_t i = 0; i < nu; i++)
        for (int32_t j = 0; j < nv; j++) {
            double u = 2 * M_PI * i / nu, v = 2 * M_PI * j / nv;
            double *p = x + 3 * (i * nv + j);
            p[0] = (R + r * cos(v)) * cos(u), p[1] = (R + r * cos(v)) * sin(u), p[2] = r * sin(v);
            int32_t a = i * nv + j, b = (i + 1) % nu * nv + j, c = (i + 1) % nu * nv + (j + 1) % nv,
                    d = i * nv + (j + 1) % nv;
            int32_t two[6] = {a, b, c, a, c, d};
            memcpy(t + 6 * (i * nv + j), two, sizeof two);
        }
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TRI3, nu * nv, x, 2 * nu * nv, t, &mesh));
    free(x);
    free(t);
    return mesh;
}

static bough_mesh *sphere(bough_context *ctx, double r, int32_t n) {
    int32_t rows = n, columns = 2 * n, count = 0;
    double *x = malloc(sizeof(double) * 3 * (size_t)((rows - 1) * columns + 2));
    int32_t *t = malloc(sizeof(int32_t) * 6 * (size_t)(rows * columns));
    int32_t south = (rows - 1) * columns, north = south + 1;
    for (int32_t i = 1; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            double a = M_PI * i / rows, b = 2 * M_PI * j / columns, *p = x + 3 * ((i - 1) * columns + j);
            p[0] = r * sin(a) * cos(b), p[1] = r * sin(a) * sin(b), p[2] = -r * cos(a);
        }
    memcpy(x + 3 * south, (double[3]){0, 0, -r}, 3 * sizeof *x);
    memcpy(x + 3 * north, (double[3]){0, 0, r}, 3 * sizeof *x);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            int32_t k = (j + 1) % columns;
            int32_t a = i == 0 ? south : (i - 1) * columns + j, b = i == 0 ? south : (i - 1) * columns + k;
            int32_t c = i == rows - 1 ? north : i * columns + k, d = i == rows - 1 ? north : i * columns + j;
            if (a != b)
                memcpy(t + 3 * count++, (int32_t[3]){a, b, c}, 3 * sizeof *t);
            if (c != d)
                memcpy(t + 3 * count++, (int32_t[3]){a, c, d}, 3 * sizeof *t);
        }
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_TRI3, north + 1, x, count, t, &mesh));
    free(x);
    free(t);
    return mesh;
}

static void transform(bough_mesh *mesh, test_random *random) {
    double q[4], norm = 0, shift[3];
    for (int i = 0; i < 4; i++)
        q[i] = test_uniform(random, -1, 1), norm += q[i] * q[i];
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(norm);
    for (int d = 0; d < 3; d++)
        shift[d] = test_uniform(random, -3, 3);
    double w = q[0], a = q[1], b = q[2], c = q[3];
    double M[9] = {1 - 2 * (b * b + c * c), 2 * (a * b - w * c),     2 * (a * c + w * b),
                   2 * (a * b + w * c),     1 - 2 * (a * a + c * c), 2 * (b * c - w * a),
                   2 * (a * c - w * b),     2 * (b * c + w * a),     1 - 2 * (a * a + b * b)};
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        double *x = mesh->vertices + 3 * v, y[3];
        for (int d = 0; d < 3; d++)
            y[d] = M[3 * d] * x[0] + M[3 * d + 1] * x[1] + M[3 * d + 2] * x[2] + shift[d];
        memcpy(x, y, sizeof y);
    }
}

static double voxel_volume(bough_context *ctx, const bough_mesh *surface, double cell) {
    bough_mesh *mesh;
    bough_mesh_report r, s;
    check_ok(ctx, bough_mesh_voxelize(ctx, surface, cell, &mesh, NULL));
    check_ok(ctx, bough_mesh_check(ctx, mesh));
    check_ok(ctx, bough_mesh_measure(ctx, mesh, &r));
    check_ok(ctx, bough_mesh_measure(ctx, surface, &s));
    check_int(r.unused_vertex_count, 0);
    check_int(r.nonmanifold_count, 0);
    for (int d = 0; d < 3; d++) {
        check_below(s.lower[d] - r.lower[d], cell);
        check_below(r.upper[d] - s.upper[d], cell);
        check_below(r.lower[d], s.lower[d] + 1e-6 * cell);
        check_near(r.lower[d] + r.upper[d], s.lower[d] + s.upper[d], 1e-12);
    }
    check_near(r.volume, pow(cell, 3) * mesh->element_count, 1e-11 * r.volume);
    bough_mesh_destroy(ctx, mesh);
    return r.volume;
}

static void voxel_volume_converges(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int shape = 0; shape < 2; shape++) {
        bough_mesh *surface = shape ? torus(ctx, 1, 0.3, 96, 48) : sphere(ctx, 1, 48);
        test_random random = {7};
        transform(surface, &random);
        bough_mesh_report r;
        check_ok(ctx, bough_mesh_measure(ctx, surface, &r));
        check_int(r.nonmanifold_count, 0);
        double errors[3];
        for (int level = 0; level < 3; level++) {
            errors[level] = voxel_volume(ctx, surface, 0.16 / (1 << level)) / r.volume - 1;
            check(errors[level] > 0); /* all of the inside is covered */
        }
        /* a crust about one cell thick: first order */
        check_near(log2(errors[0] / errors[1]), 1, 0.25);
        check_near(log2(errors[1] / errors[2]), 1, 0.2);
        bough_mesh_destroy(ctx, surface);
    }
    bough_context_destroy(ctx);
}

/* Every cell has its middle inside or the surface in it: no cell is further from the ball than half its diagonal, and
 * no point of the ball is without a cell. Positions are random, so rays meet edges and corners in many ways. */
static void balls_are_filled_in_any_position(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {11};
    for (int repeat = 0; repeat < 20; repeat++) {
        bough_mesh *ball = sphere(ctx, 1, 16), *mesh;
        if (repeat) /* the first stays symmetric: rays run exactly through its vertices and along its edges */
            transform(ball, &random);
        double cell = repeat ? test_uniform(&random, 0.1, 0.3) : 0.125, middle[3] = {0};
        for (int32_t i = 0; i < 6; i++) /* the poles */
            middle[i % 3] += 0.5 * ball->vertices[3 * (ball->vertex_count - 2) + i];
        check_ok(ctx, bough_mesh_voxelize(ctx, ball, cell, &mesh, NULL));
        double inscribed = cos(M_PI / 16) * cos(M_PI / 16);
        int32_t inside = 0, expected = 0;
        for (int32_t e = 0; e < mesh->element_count; e++) {
            double distance = 0;
            for (int d = 0; d < 3; d++)
                distance += pow(mesh->vertices[3 * mesh->elements[8 * e] + d] + 0.5 * cell - middle[d], 2);
            check_below(sqrt(distance), 1 + 0.87 * cell);
            inside += sqrt(distance) < inscribed - 0.87 * cell;
        }
        bough_mesh_report r;
        check_ok(ctx, bough_mesh_measure(ctx, mesh, &r));
        for (double x = r.lower[0] + 0.5 * cell; x < r.upper[0]; x += cell)
            for (double y = r.lower[1] + 0.5 * cell; y < r.upper[1]; y += cell)
                for (double z = r.lower[2] + 0.5 * cell; z < r.upper[2]; z += cell)
                    expected += sqrt(pow(x - middle[0], 2) + pow(y - middle[1], 2) + pow(z - middle[2], 2)) <
                                inscribed - 0.87 * cell;
        check_int(inside, expected);
        bough_mesh_destroy(ctx, ball);
        bough_mesh_destroy(ctx, mesh);
    }
    bough_context_destroy(ctx);
}

static void aligned_boxes_are_filled_exactly(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int32_t cells = 1; cells <= 7; cells++)
        for (int32_t voxels = 1; voxels <= 7; voxels++) {
            bough_mesh *surface = box_surface(ctx, -0.2, 0.7, cells);
            check_near(voxel_volume(ctx, surface, 0.7 / voxels), 0.343, 1e-12);
            bough_mesh_destroy(ctx, surface);
        }
    bough_context_destroy(ctx);
}

static void cavities_stay_empty_and_overlaps_are_united(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *hollow = join(ctx, box_surface(ctx, 0, 1, 4), box_surface(ctx, 0.25, 0.5, 3), true);
    check_near(voxel_volume(ctx, hollow, 0.125), 1 - 0.125, 1e-12);
    bough_mesh_destroy(ctx, hollow);
    bough_mesh *overlap = join(ctx, box_surface(ctx, 0, 1, 4), box_surface(ctx, 0.5, 1, 3), false);
    check_near(voxel_volume(ctx, overlap, 0.125), 2 - 0.125, 1e-12);
    bough_mesh_destroy(ctx, overlap);
    bough_context_destroy(ctx);
}

static void orientation_does_not_matter(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *ball = sphere(ctx, 1, 12);
    double outward = voxel_volume(ctx, ball, 0.2);
    for (int32_t t = 0; t < ball->element_count; t += 3) { /* every third triangle the wrong way round */
        int32_t *n = ball->elements + 3 * t, swap = n[0];
        n[0] = n[1], n[1] = swap;
    }
    check_near(voxel_volume(ctx, ball, 0.2), outward, 0);
    bough_mesh_destroy(ctx, ball);
    bough_context_destroy(ctx);
}

/* sum_k w_k f(x_k) = f(x) for f(x) = A x + b */
static void embedding_reproduces_affine_fields(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {3};
    for (int shape = 0; shape < 3; shape++) {
        bough_mesh *surface = shape == 0   ? torus(ctx, 1, 0.3, 60, 30)
                              : shape == 1 ? sphere(ctx, 1, 30)
                                           : box_surface(ctx, 0, 1, 8);
        bough_mesh *mesh;
        bough_embedding *embedding;
        check_ok(ctx, bough_mesh_voxelize(ctx, surface, 0.125, &mesh, &embedding));
        check_int(embedding->vertex_count, surface->vertex_count);
        double A[9], b[3];
        for (int i = 0; i < 9; i++)
            A[i] = test_uniform(&random, -1, 1);
        for (int i = 0; i < 3; i++)
            b[i] = test_uniform(&random, -1, 1);
        for (int32_t v = 0; v < surface->vertex_count; v++) {
            const double *x = surface->vertices + 3 * v, *w = embedding->weights + BOUGH_MAX_ELEMENT_NODES * v;
            double rest[3] = {0}, moved[3] = {0};
            for (int k = 0; k < 8; k++) {
                check(w[k] > -1e-6 && w[k] < 1 + 1e-6); /* the vertex is in its cell */
                const double *X = mesh->vertices + 3 * mesh->elements[8 * embedding->elements[v] + k];
                for (int d = 0; d < 3; d++) {
                    rest[d] += w[k] * X[d];
                    moved[d] += w[k] * (A[3 * d] * X[0] + A[3 * d + 1] * X[1] + A[3 * d + 2] * X[2] + b[d]);
                }
            }
            check(w[8] == 0 && w[9] == 0); /* a hex has no more nodes */
            for (int d = 0; d < 3; d++) {
                check_near(rest[d], x[d], 1e-12);
                check_near(moved[d], A[3 * d] * x[0] + A[3 * d + 1] * x[1] + A[3 * d + 2] * x[2] + b[d], 1e-12);
            }
        }
        bough_embedding_destroy(ctx, embedding);
        bough_mesh_destroy(ctx, mesh);
        bough_mesh_destroy(ctx, surface);
    }
    bough_context_destroy(ctx);
}

static void bad_surfaces_and_cells_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *ball = sphere(ctx, 1, 12), *mesh;
    bough_embedding *embedding;
    check_fails(ctx, bough_mesh_voxelize(ctx, ball, 0, &mesh, &embedding), BOUGH_ERROR_ARGUMENT, "must be positive");
    check_fails(ctx, bough_mesh_voxelize(ctx, ball, NAN, &mesh, NULL), BOUGH_ERROR_ARGUMENT, "must be positive");
    check_fails(ctx, bough_mesh_voxelize(ctx, ball, 1e-4, &mesh, NULL), BOUGH_ERROR_ARGUMENT, "8e+12 cells");
    double works = 0;
    check_int(sscanf(strstr(bough_message(ctx), "with cells of "), "with cells of %lf", &works), 1);
    check(works > 2 / pow(50e6, 1.0 / 3) && works < 2.2 / pow(50e6, 1.0 / 3));
    check_fails(ctx, bough_mesh_voxelize(ctx, ball, 1e-300, &mesh, NULL), BOUGH_ERROR_ARGUMENT, "at most 50000000");
    ball->element_count -= 2;
    check_fails(ctx, bough_mesh_voxelize(ctx, ball, 0.1, &mesh, NULL), BOUGH_ERROR_ARGUMENT, "4 of its");
    ball->element_count = 0;
    check_fails(ctx, bough_mesh_voxelize(ctx, ball, 0.1, &mesh, NULL), BOUGH_ERROR_ARGUMENT, "no triangles");
    check(mesh == NULL);
    bough_mesh_destroy(ctx, ball);
    bough_box_def def = bough_default_box_def();
    bough_mesh *box;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &box));
    check_fails(ctx, bough_mesh_voxelize(ctx, box, 0.1, &mesh, NULL), BOUGH_ERROR_ARGUMENT, "this mesh is tet4");
    bough_mesh_destroy(ctx, box);
    bough_embedding_destroy(ctx, NULL);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    bough_context *plain = test_context(1);
    bough_mesh *ball = sphere(plain, 1, 8);
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bough_mesh *mesh;
        bough_embedding *embedding;
        status = bough_mesh_voxelize(ctx, ball, 0.3, &mesh, &embedding);
        check((status == BOUGH_OK) == (mesh != NULL) && (mesh != NULL) == (embedding != NULL));
        bough_mesh_destroy(ctx, mesh);
        bough_embedding_destroy(ctx, embedding);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        check(fail_at < 500);
    }
    check_int(status, BOUGH_OK);
    bough_mesh_destroy(plain, ball);
    bough_context_destroy(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(voxel_volume_converges),
        cmocka_unit_test(balls_are_filled_in_any_position),
        cmocka_unit_test(aligned_boxes_are_filled_exactly),
        cmocka_unit_test(cavities_stay_empty_and_overlaps_are_united),
        cmocka_unit_test(orientation_does_not_matter),
        cmocka_unit_test(embedding_reproduces_affine_fields),
        cmocka_unit_test(bad_surfaces_and_cells_are_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
