/* Closed surfaces are filled with tets by gmsh or tetgen where these are installed; without them the message helps. */
#include "closed_surfaces.h"

#include "mesh/generate.h"

#include <dirent.h>

static int entries_of(const char *path) {
    DIR *folder = opendir(path);
    check(folder != NULL);
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

/* Temporary files go to an own folder, which must be empty again afterwards. */
static const char *scratch(void) {
    const char *path = test_path("scratch");
    mkdir(path, 0700);
    setenv("TMPDIR", path, 1);
    return path;
}

/* False: the program is not installed. */
static bool fill(bough_context *ctx, const bough_mesh *surface, const char *program, double edge, bough_mesh **mesh) {
    const bough_status status = bough_mesh_tetrahedralize(ctx, surface, program, edge, mesh);
    if (status != BOUGH_ERROR_MISSING_PROGRAM)
        check_ok(ctx, status);
    return status == BOUGH_OK;
}

/* A box, one with a cavity, two of them: how many were filled. gmsh follows the edges of the surface, and lets tets
 * grow towards the middle: by `growth` they may be larger than the regular one. */
static int fill_surfaces(const char *program, double growth) {
    static const double volumes[] = {1, 0.875, 9};
    bough_context *ctx = test_context(1);
    const char *folder = scratch();
    int filled = 0;
    for (int shape = 0; shape < 3; shape++) {
        bough_mesh *surface = box_surface(ctx, 0, 1, 2), *mesh;
        if (shape == 1)
            surface = join(ctx, surface, box_surface(ctx, 0.25, 0.5, 2), true);
        if (shape == 2)
            surface = join(ctx, surface, box_surface(ctx, 3, 2, 2), false);
        const bool found = fill(ctx, surface, program, 0.3, &mesh);
        check_int(entries_of(folder), 0);
        if (found) {
            bough_mesh_report r;
            check_ok(ctx, bough_mesh_check(ctx, mesh));
            check_ok(ctx, bough_mesh_measure(ctx, mesh, &r));
            check_int(mesh->type, BOUGH_TET4);
            check_int(mesh->set_count, 0);
            check_near(r.volume, volumes[shape], 1e-10);
            check_int(r.piece_count, shape == 2 ? 2 : 1);
            check_int(r.nonmanifold_count, 0);
            check_int(r.unused_vertex_count, 0);
            check_below(r.largest, 0.3 * 0.3 * 0.3 * M_SQRT2 / 12 * growth);
            bough_mesh_destroy(ctx, mesh);
            filled++;
        }
        bough_mesh_destroy(ctx, surface);
    }
    bough_context_destroy(ctx);
    return filled;
}

static void surfaces_are_filled_by_gmsh(void **state) {
    (void)state;
    if (!fill_surfaces("gmsh", 3))
        test_skip("gmsh is not installed: ./bough setup tools");
}

static void surfaces_are_filled_by_tetgen(void **state) {
    (void)state;
    if (!fill_surfaces("tetgen", 1.2))
        test_skip("tetgen is not installed: ./bough setup tools");
}

/* Half the edge, eight times as many tets. */
static bool fill_ever_finer(const char *program) {
    static const double edges[] = {0.3, 0.15, 0.075};
    bough_context *ctx = test_context(1);
    scratch();
    bough_mesh *surface = box_surface(ctx, 0, 1, 2), *mesh;
    double before = 0;
    for (int e = 0; e < 3 && fill(ctx, surface, program, edges[e], &mesh); e++) {
        bough_mesh_report r;
        check_ok(ctx, bough_mesh_measure(ctx, mesh, &r));
        check_near(r.volume, 1, 1e-10);
        check(e == 0 || mesh->element_count > 4 * before);
        before = mesh->element_count;
        bough_mesh_destroy(ctx, mesh);
    }
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
    return before > 0;
}

static void finer_edges_make_more_tets_by_gmsh(void **state) {
    (void)state;
    if (!fill_ever_finer("gmsh"))
        test_skip("gmsh is not installed: ./bough setup tools");
}

static void finer_edges_make_more_tets_by_tetgen(void **state) {
    (void)state;
    if (!fill_ever_finer("tetgen"))
        test_skip("tetgen is not installed: ./bough setup tools");
}

/* Needs no program: what gmsh is given. */
static void surfaces_are_cut_until_their_edges_are_short(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_mesh *surface = join(ctx, box_surface(ctx, 0, 1, 2), box_surface(ctx, 0.25, 0.5, 2), true), *fine;
    bough_mesh_report coarse_report, report;
    check_ok(ctx, bough_mesh_measure(ctx, surface, &coarse_report));
    for (double edge = 2; edge > 0.05; edge *= 0.6) {
        bo_edge_census census;
        int32_t *edges, edge_count;
        double longest = 0;
        check_ok(ctx, bo_surface_refine(ctx, surface, edge, &fine));
        check_ok(ctx, bo_surface_census(ctx, fine, &census));
        check_int(census.odd_count, 0); /* still closed, and oriented as before */
        check_int(census.inconsistent_count, 0);
        check_ok(ctx, bough_mesh_measure(ctx, fine, &report));
        check_near(report.volume, coarse_report.volume, 1e-12);
        check_near(report.area, coarse_report.area, 1e-11);
        check_ok(ctx, bough_mesh_edges(ctx, fine, &edges, &edge_count));
        for (int32_t i = 0; i < edge_count; i++) {
            double square = 0;
            for (int d = 0; d < 3; d++)
                square += pow(fine->vertices[3 * edges[2 * i] + d] - fine->vertices[3 * edges[2 * i + 1] + d], 2);
            longest = fmax(longest, sqrt(square));
        }
        check(longest <= edge * (1 + 1e-12));
        check(memcmp(fine->vertices, surface->vertices, 3 * (size_t)surface->vertex_count * sizeof(double)) == 0);
        bough_release(ctx, edges);
        bough_mesh_destroy(ctx, fine);
    }
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
}

static void missing_programs_are_named(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *folder = scratch();
    bough_mesh *surface = box_surface(ctx, 0, 1, 2), *mesh;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", folder, 1);
    check_fails(
        ctx, bough_mesh_tetrahedralize(ctx, surface, NULL, 0, &mesh), BOUGH_ERROR_MISSING_PROGRAM,
        "neither gmsh nor tetgen is installed: install gmsh or tetgen (Debian: apt install tetgen) or use voxels");
    check_fails(ctx, bough_mesh_tetrahedralize(ctx, surface, "gmsh", 0, &mesh), BOUGH_ERROR_MISSING_PROGRAM,
                "gmsh is not installed");
    setenv("PATH", path, 1);
    free(path);
    check(mesh == NULL);
    check_int(entries_of(folder), 0);
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
}

/* A stand-in for tetgen that fails as told. */
static void failing_programs_are_quoted(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *folder = scratch(), *bin = test_path("bin"), *program = test_path("bin/tetgen");
    mkdir(bin, 0700);
    test_write_text(program, "#!/bin/sh\necho reading\necho 'facet 7 crosses facet 9' >&2\necho\nexit 3\n");
    chmod(program, 0700);
    char *path = strdup(getenv("PATH")), joined[4096];
    snprintf(joined, sizeof joined, "%s:%s", bin, path);
    setenv("PATH", joined, 1);
    bough_mesh *surface = box_surface(ctx, 0, 1, 2), *mesh;
    check_fails(
        ctx, bough_mesh_tetrahedralize(ctx, surface, "tetgen", 0, &mesh), BOUGH_ERROR_ARGUMENT,
        "tetgen could not fill the surface, most often because it cuts through itself: facet 7 crosses facet 9");
    test_write_text(program, "#!/bin/sh\nexit 0\n");
    check_fails(ctx, bough_mesh_tetrahedralize(ctx, surface, "tetgen", 0, &mesh), BOUGH_ERROR_ARGUMENT,
                "it said nothing");
    check_int(entries_of(folder), 0);
    setenv("PATH", path, 1);
    free(path);
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
}

static bool refuse(void *user, const bough_progress *progress) {
    (void)user, (void)progress;
    return false;
}

static void meshing_can_be_cancelled(void **state) {
    (void)state;
    const char *folder = scratch(), *bin = test_path("slow"), *program = test_path("slow/tetgen");
    mkdir(bin, 0700);
    test_write_text(program, "#!/bin/sh\nexec sleep 60\n");
    chmod(program, 0700);
    char *path = strdup(getenv("PATH")), joined[4096];
    snprintf(joined, sizeof joined, "%s:%s", bin, path);
    setenv("PATH", joined, 1);
    bough_context_def def = bough_default_context_def();
    def.progress = refuse;
    bough_context *ctx = bough_context_create(&def);
    bough_mesh *surface = box_surface(ctx, 0, 1, 2), *mesh;
    check_int(bough_mesh_tetrahedralize(ctx, surface, "tetgen", 0, &mesh), BOUGH_CANCELLED);
    check_int(entries_of(folder), 0);
    setenv("PATH", path, 1);
    free(path);
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    scratch();
    bough_mesh *surface = box_surface(ctx, 0, 1, 2), *mesh;
    check_fails(ctx, bough_mesh_tetrahedralize(ctx, surface, "rm", 0, &mesh), BOUGH_ERROR_ARGUMENT,
                "\"gmsh\" or \"tetgen\", not \"rm\"");
    check_fails(ctx, bough_mesh_tetrahedralize(ctx, surface, NULL, -1, &mesh), BOUGH_ERROR_ARGUMENT, "longest edge");
    check_fails(ctx, bough_mesh_tetrahedralize(ctx, surface, NULL, NAN, &mesh), BOUGH_ERROR_ARGUMENT, "longest edge");
    surface->element_count--;
    check_fails(ctx, bough_mesh_tetrahedralize(ctx, surface, NULL, 0, &mesh), BOUGH_ERROR_ARGUMENT,
                "3 of its 72 edges");
    setenv("TMPDIR", "/nonexistent", 1);
    surface->element_count++;
    check_fails(ctx, bough_mesh_tetrahedralize(ctx, surface, NULL, 0, &mesh), BOUGH_ERROR_FILE,
                "no temporary folder can be made in /nonexistent");
    check(mesh == NULL);
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    bough_context *plain = test_context(1);
    const char *folder = scratch();
    bough_mesh *surface = box_surface(plain, 0, 1, 2);
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bough_mesh *mesh;
        status = bough_mesh_tetrahedralize(ctx, surface, "tetgen", 0, &mesh);
        bough_mesh_destroy(ctx, mesh);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        check_int(entries_of(folder), 0);
        check(fail_at < 500);
    }
    check(status == BOUGH_OK || status == BOUGH_ERROR_MISSING_PROGRAM);
    bough_mesh_destroy(plain, surface);
    bough_context_destroy(plain);
    if (status == BOUGH_ERROR_MISSING_PROGRAM)
        test_skip("tetgen is not installed: ./bough setup tools");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_are_filled_by_gmsh),
        cmocka_unit_test(surfaces_are_filled_by_tetgen),
        cmocka_unit_test(finer_edges_make_more_tets_by_gmsh),
        cmocka_unit_test(finer_edges_make_more_tets_by_tetgen),
        cmocka_unit_test(surfaces_are_cut_until_their_edges_are_short),
        cmocka_unit_test(missing_programs_are_named),
        cmocka_unit_test(failing_programs_are_quoted),
        cmocka_unit_test(meshing_can_be_cancelled),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
