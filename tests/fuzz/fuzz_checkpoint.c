/* Checkpoints of runs, with hashes that are right. */
#include "fuzz.h"

#include "run/run.h"

#include <bough/run.h>

static bough_context *ctx;
static bough_scene *scene;
static bough_run *run;

static void begin(void) {
    if (run)
        return;
    char text[] =
        "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': [2, 1, 1]}, "
        "'fix': 'x0', 'time': {'dt': 0.01, 'duration': 1}}";
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    ctx = test_context(1);
    test_write_text(test_path("scene.json"), text);
    bough_run_def def = bough_default_run_def();
    check_ok(ctx, bough_scene_load(ctx, test_path("scene.json"), &scene));
    check_ok(ctx, bough_run_create(ctx, scene, &def, &run));
}

static void try_bytes(const void *data, size_t size) {
    test_write(test_path("checkpoint"), data, size);
    if (bough_run_restore(ctx, run, test_path("checkpoint")) == BOUGH_OK)
        for (int32_t i = 0; i < bough_run_column_count(run); i++)
            check(isfinite(bough_run_values(run)[i]));
}

void fuzz_one(const uint8_t *data, size_t size) {
    begin();
    try_bytes(data, size);
    if (size < sizeof(uint64_t))
        return;
    unsigned char *sealed = malloc(size);
    const size_t hashed = size - sizeof(uint64_t);
    const uint64_t hash = bo_hash_bytes(BO_HASH_START, data, hashed);
    memcpy(sealed, data, hashed);
    memcpy(sealed + hashed, &hash, sizeof hash);
    try_bytes(sealed, size);
    free(sealed);
}

void fuzz_seeds(fuzz_add *add) {
    begin();
    check_ok(ctx, bough_run_save(ctx, run, test_path("seed.state")));
    fuzz_add_file(add, test_path("seed.state"));
}
