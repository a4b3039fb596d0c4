/* Files that cancelled cooking left behind, with checksums that are right: cooking continues with them, starts anew or
 * fails with a sentence. */
#include "fuzz.h"

#include "../reduce/cooked.h"

#include "component/image.h"

static kitchen open_small_kitchen(bough_context *ctx) {
    bar_def bar = default_bar();
    bar.cells[0] = bar.cells[1] = bar.cells[2] = 1;
    kitchen k = open_kitchen(ctx, bar, 3);
    k.def.input_hash = 0x1234;
    k.def.wind_count = k.def.contact_count = k.def.stress_count = k.def.field_count = 0;
    return k;
}

static void try_bytes(const void *data, size_t size) {
    fuzz_memory memory;
    bough_context *ctx = fuzz_context(&memory);
    kitchen k = open_small_kitchen(ctx);
    k.def.interfaces = k.ends.interfaces;
    k.def.resume_path = test_path("bar.part");
    test_write(k.def.resume_path, data, size);
    const bough_status status = bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c);
    if (status == BOUGH_OK) {
        bough_component *again;
        check(k.c->r > 0 && k.c->r <= k.def.r);
        check_ok(ctx, bough_component_read(ctx, k.c->image, k.c->image_size, &again));
        bough_component_destroy(ctx, again);
    }
    close_kitchen(&k);
    fuzz_end(ctx, &memory, status);
}

/* Broken checksums are tried by fuzz_component. */
void fuzz_one(const uint8_t *data, size_t size) {
    unsigned char *sealed = malloc(size ? size : 1);
    memcpy(sealed, data, size);
    if (size >= BO_IMAGE_HEADER_SIZE)
        bo_image_seal(sealed, size);
    try_bytes(sealed, size);
    free(sealed);
}

/* The right hash, and arrays that need not fit each other: all values are the same. */
static void add_forged(fuzz_add *add, uint64_t value_count, uint64_t mode_count, uint64_t r, double value) {
    enum { N = 24, MOST = 30 };
    const uint64_t hash = 0x1234, eight = sizeof hash, two = 2;
    double values[N * MOST];
    for (int i = 0; i < N * MOST; i++)
        values[i] = value;
    bough_context *ctx = test_context(1);
    bo_image_builder builder;
    void *bytes;
    size_t size;
    bo_image_begin(ctx, &builder, "bough-partial", 1);
    bo_image_add(&builder, "hash", BO_U8, 1, &eight, &hash);
    bo_image_add(&builder, "eigenvalues", BO_F64, 1, &value_count, values);
    bo_image_add(&builder, "U", BO_F64, 2, (uint64_t[]){N, r}, values);
    bo_image_add(&builder, "errors", BO_F64, 1, &two, values);
    bo_image_add(&builder, "modes", BO_F64, 2, (uint64_t[]){mode_count, N}, values);
    check_ok(ctx, bo_image_finish(&builder, &bytes, &size));
    add(bytes, size);
    bo_free(ctx, bytes);
    bough_context_destroy(ctx);
}

static void add_all_forged(fuzz_add *add) {
    static const double values[] = {0, 1, 1e300, INFINITY};
    static const uint64_t counts[][3] = {{0, 0, 3},   {0, 3, 0}, {0, 3, 3}, {3, 0, 3}, {2, 2, 2},
                                         {24, 24, 3}, {1, 1, 1}, {3, 2, 3}, {3, 3, 4}, {30, 30, 3}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++)
            add_forged(add, counts[j][0], counts[j][1], counts[j][2], values[i]);
}

static int patience;
static bool impatient(void *user, const bough_progress *progress) {
    (void)user, (void)progress;
    return patience-- != 0;
}

/* All moments at which cooking can be cancelled: the files that differ in size, as they hold other things. */
void fuzz_seeds(fuzz_add *add) {
    add_all_forged(add);
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    def.progress = impatient;
    bough_context *ctx = bough_context_create(&def);
    patience = -1;
    kitchen k = open_small_kitchen(ctx);
    size_t last_size = 0;
    k.def.interfaces = k.ends.interfaces;
    k.def.resume_path = test_path("seed.part");
    for (int stop = 0;; stop++) {
        size_t size = 0;
        patience = stop;
        unlink(k.def.resume_path);
        const bough_status status = bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_CANCELLED);
        if (access(k.def.resume_path, R_OK) == 0)
            free(test_read(k.def.resume_path, &size));
        if (size != last_size)
            fuzz_add_file(add, k.def.resume_path);
        last_size = size;
    }
    check(last_size > 0);
    patience = -1;
    close_kitchen(&k);
    bough_context_destroy(ctx);
}
