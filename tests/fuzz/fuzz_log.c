/* Recordings of what was done to a tree: with checksums that are right they are replayed, and the state stays one that
 * can be used. */
#include "plot.h"

#include "tree/log.h"

static void try_bytes(const void *data, size_t size) {
    const garden *g = use_plot();
    bough_tree_log *log;
    bool same;
    if (bough_tree_log_read(g->ctx, data, size, &log) == BOUGH_OK) {
        bough_tree_log_replay(g->ctx, g->model, g->state, log, NULL, NULL, &same);
        bough_tree_log_destroy(g->ctx, log);
    }
    check_plot_steps();
}

void fuzz_one(const uint8_t *data, size_t size) {
    enum { HEAD = 72, SIZE_AT = 24 };
    try_bytes(data, size);
    if (size < HEAD)
        return;
    const uint64_t records = size - HEAD;
    unsigned char *sealed = malloc(size);
    memcpy(sealed, data, size);
    memcpy(sealed + SIZE_AT, &records, sizeof records);
    bo_log_seal(sealed, size);
    try_bytes(sealed, size);
    free(sealed);
}

void fuzz_seeds(fuzz_add *add) {
    bough_tree_log *log;
    const double push[3] = {1, 2, 3};
    const garden *g = use_plot();
    check_ok(g->ctx, bough_tree_log_start(g->ctx, g->model, g->state, &log));
    check_ok(g->ctx, bough_tree_state_add_force(g->ctx, g->model, g->state, 2, 1, push));
    check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, 1.0 / 240));
    check_ok(g->ctx, bough_tree_state_detach(g->ctx, g->model, g->state, 2));
    check_ok(g->ctx, bough_tree_advance(g->ctx, g->model, g->state, 1.0 / 240, NULL));
    check_ok(g->ctx, bough_tree_state_attach(g->ctx, g->model, g->state, 2, 0, 2));
    g->state->q[1] += 1e-3;
    check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, 1.0 / 240));
    check_ok(g->ctx, bough_tree_log_stop(g->ctx, g->model, log));
    check_ok(g->ctx, bough_tree_log_save(g->ctx, log, test_path("seed.log")));
    bough_tree_log_destroy(g->ctx, log);
    fuzz_add_file(add, test_path("seed.log"));
}
