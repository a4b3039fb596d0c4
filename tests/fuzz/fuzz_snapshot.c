/* Snapshots of a tree's state: with checksums that are right they are refused, or make a state that can be stepped. */
#include "plot.h"

#include "component/image.h"

static void try_bytes(const void *data, size_t size) {
    const garden *g = use_plot();
    if (bough_tree_state_restore(g->ctx, g->model, g->state, data, size) == BOUGH_OK)
        bough_tree_step(g->ctx, g->model, g->state, 1.0 / 240);
    check_plot_steps();
}

void fuzz_one(const uint8_t *data, size_t size) {
    enum { HEAD = 32, SIZE_AT = 8, CHECKSUM_AT = 24 };
    try_bytes(data, size);
    if (size < HEAD)
        return;
    unsigned char *sealed = malloc(size);
    const uint64_t length = size, checksum = bo_image_hash(0, data + HEAD, size - HEAD);
    memcpy(sealed, data, size);
    memcpy(sealed + SIZE_AT, &length, sizeof length);
    memcpy(sealed + CHECKSUM_AT, &checksum, sizeof checksum);
    try_bytes(sealed, size);
    free(sealed);
}

void fuzz_seeds(fuzz_add *add) {
    const garden *g = use_plot();
    add(plot.start, plot.start_size);
    check_ok(g->ctx, bough_tree_state_detach(g->ctx, g->model, g->state, 2));
    check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, 1.0 / 240));
    const size_t size = bough_tree_state_snapshot_size(g->model, g->state);
    void *bytes = malloc(size);
    bough_tree_state_save(g->model, g->state, bytes);
    add(bytes, size);
    free(bytes);
}
