/* NumPy arrays. */
#include "fuzz.h"

#include "base/npy.h"

void fuzz_one(const uint8_t *data, size_t size) {
    fuzz_memory memory;
    int32_t rows = 0, columns = 0;
    double *values = NULL;
    bough_context *ctx = fuzz_context(&memory);
    test_write(test_path("array.npy"), data, size);
    const bough_status status = bo_npy_read(ctx, test_path("array.npy"), &rows, &columns, &values);
    for (int64_t i = 0; status == BOUGH_OK && i < (int64_t)rows * columns; i++)
        check(isfinite(values[i]));
    bo_free(ctx, values);
    fuzz_end(ctx, &memory, status);
}

void fuzz_seeds(fuzz_add *add) {
    static const char *const kinds[] = {"'<f8', 'fortran_order': False, 'shape': (2, 2), }",
                                        "'<f4', 'fortran_order': True, 'shape': (2, 4), }",
                                        "'<f8', 'fortran_order': False, 'shape': (4,), }"};
    bough_context *ctx = test_context(1);
    bo_npy_writer writer;
    const double row[3] = {1, 2.5, -3};
    check_ok(ctx, bo_npy_open(ctx, test_path("seed.npy"), 3, &writer));
    check_ok(ctx, bo_npy_append(ctx, &writer, row));
    check_ok(ctx, bo_npy_append(ctx, &writer, row));
    check_ok(ctx, bo_npy_commit(ctx, &writer));
    fuzz_add_file(add, test_path("seed.npy"));
    bough_context_destroy(ctx);
    for (int i = 0; i < 3; i++) {
        char bytes[128 + 32] = "\x93NUMPY\1\0\x76\0";
        const int length = snprintf(bytes + 10, 118, "{'descr': %s", kinds[i]);
        memset(bytes + 10 + length, ' ', (size_t)(117 - length));
        bytes[127] = '\n';
        add(bytes, sizeof bytes);
    }
}
