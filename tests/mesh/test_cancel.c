/* Filling, checking and writing large meshes can be cancelled wherever they ask, and leave nothing behind. */
#include "test.h"

#include <bough/mesh.h>

static int asked, stop_at;
static bool answer(void *user, const bough_progress *p) {
    (void)user;
    check(p->fraction >= 0 && p->fraction <= 1);
    return ++asked != stop_at;
}

/* A cube of 40^3 voxels from the surface of one with 12 cells an edge, written, read, checked. */
static bough_status make_and_write(bough_context *ctx, const bough_mesh *surface, const char *path) {
    bough_mesh *mesh, *again = NULL;
    bough_embedding *embedding;
    bough_status status = bough_mesh_voxelize(ctx, surface, 1.0 / 41, &mesh, &embedding);
    if (status == BOUGH_OK)
        status = bough_mesh_write(ctx, mesh, path);
    if (status == BOUGH_OK)
        status = bough_mesh_read(ctx, path, NULL, &again);
    bough_mesh_destroy(ctx, again);
    bough_mesh_destroy(ctx, mesh);
    bough_embedding_destroy(ctx, embedding);
    return status;
}

static void voxels_can_be_cancelled_anywhere(void **state) {
    (void)state;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    bough_box_def def = bough_default_box_def();
    def.cells[0] = def.cells[1] = def.cells[2] = 12;
    bough_mesh *box, *surface;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &box));
    check_ok(ctx, bough_mesh_surface(ctx, box, &surface, NULL, NULL));
    static const char *const files[] = {"v.msh", "v.inp", "v.obj"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        bough_context_set_progress(ctx, answer, NULL);
        asked = 0, stop_at = 0;
        check_ok(ctx, make_and_write(ctx, surface, test_path(files[f])));
        const int all = asked;
        check(all >= 8); /* at least: marking, inside, numbering, filling, checking */
        const long before = memory.live;
        for (stop_at = 1; stop_at <= all; stop_at++) {
            remove(test_path(files[f]));
            asked = 0;
            check_fails(ctx, make_and_write(ctx, surface, test_path(files[f])), BOUGH_CANCELLED, "cancelled");
            check_int(asked, stop_at);
            check_int(memory.live, before);
        }
    }
    bough_mesh_destroy(ctx, box);
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(voxels_can_be_cancelled_anywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
