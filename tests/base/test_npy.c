/* NumPy files: arrays are read and written exactly, files that are cut off or mangled are refused. */
#include "test.h"

#include "base/npy.h"

/* Headers as numpy.save() writes them: padded with blanks to a multiple of 64 bytes. */
static const char float64_2x3[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"
                                  "                                                          \n";
static const char float32_fortran_2x3[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }"
    "                                                           \n";
static const char float64_3[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"
                                "                                                            \n";

static const char *write_parts(const char *name, const void *head, size_t head_size, const void *numbers, size_t size) {
    const char *path = test_path(name);
    FILE *f = fopen(path, "wb");
    check(f && fwrite(head, 1, head_size, f) == head_size && fwrite(numbers, 1, size, f) == size && fclose(f) == 0);
    return path;
}

/* A file of this version with this dictionary, unpadded. */
static const char *write_dictionary(int version, const char *dictionary, const void *numbers, size_t size) {
    char head[512] = "\x93NUMPY";
    size_t length = strlen(dictionary), start = version == 1 ? 10 : 12;
    head[6] = (char)version;
    head[8] = (char)(length & 0xff), head[9] = (char)(length >> 8);
    memcpy(head + start, dictionary, length);
    return write_parts("dictionary.npy", head, start + length, numbers, size);
}

static void check_file(bough_context *ctx, const char *path, int32_t rows, int32_t columns, const double *expected) {
    int32_t found_rows, found_columns;
    double *values;
    check_ok(ctx, bo_npy_read(ctx, path, &found_rows, &found_columns, &values));
    check_int(found_rows, rows);
    check_int(found_columns, columns);
    for (int32_t i = 0; i < rows * columns; i++)
        check_near(values[i], expected[i], 0);
    bo_free(ctx, values);
}

static void check_refused(bough_context *ctx, const char *path, bough_status status, const char *part) {
    int32_t rows, columns;
    double *values;
    check_fails(ctx, bo_npy_read(ctx, path, &rows, &columns, &values), status, part);
    check(!values);
}

static void arrays_of_numpy_are_read(void **state) {
    (void)state;
    static const double c_order[] = {1, 2, 3, 4, 5, 6.5};
    static const float by_columns[] = {1, 4, 2, 5, 3, 6.5f};
    bough_context *ctx = test_context(1);
    check_int(sizeof float64_2x3 - 1, 128);
    check_int(sizeof float32_fortran_2x3 - 1, 128);
    check_int(sizeof float64_3 - 1, 128);
    check_file(ctx, write_parts("c.npy", float64_2x3, 128, c_order, sizeof c_order), 2, 3, c_order);
    check_file(ctx, write_parts("f.npy", float32_fortran_2x3, 128, by_columns, sizeof by_columns), 2, 3, c_order);
    check_file(ctx, write_parts("1.npy", float64_3, 128, c_order, 24), 3, 1, c_order);
    for (int version = 1; version <= 3; version++)
        check_file(ctx,
                   write_dictionary(version, "{\"shape\": (3L, 2L,), 'fortran_order':False,'descr':'<f8'}\n", c_order,
                                    sizeof c_order),
                   3, 2, c_order);
    check_file(ctx, write_dictionary(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 7), }\n", "", 0), 0, 7,
               NULL);
    check_file(ctx, write_dictionary(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (7, 0), }\n", "", 0), 7, 0,
               NULL);
    bough_context_destroy(ctx);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    enum { ROWS = 7, COLUMNS = 1300 };
    static double rows[ROWS][COLUMNS];
    bough_context *ctx = test_context(1);
    test_random random = {5};
    const char *path = test_path("round.npy");
    bo_npy_writer writer;
    check_ok(ctx, bo_npy_open(ctx, path, COLUMNS, &writer));
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLUMNS; c++)
            rows[r][c] = ldexp(test_uniform(&random, -1, 1), (int)(test_bits(&random) % 1000) - 500);
        check_ok(ctx, bo_npy_append(ctx, &writer, rows[r]));
        check(!bo_file_exists(path));
    }
    check_ok(ctx, bo_npy_commit(ctx, &writer));
    check_file(ctx, path, ROWS, COLUMNS, rows[0]);

    /* the same bytes as numpy.save() for small arrays: its header has 128 bytes too */
    const double small[2][3] = {{1, 2, 3}, {4, 5, 6}};
    check_ok(ctx, bo_npy_open(ctx, path, 3, &writer));
    check_ok(ctx, bo_npy_append(ctx, &writer, small[0]));
    check_ok(ctx, bo_npy_append(ctx, &writer, small[1]));
    check_file(ctx, path, ROWS, COLUMNS, rows[0]); /* the old file is there until the new one is complete */
    check_ok(ctx, bo_npy_commit(ctx, &writer));
    bo_file file;
    check_ok(ctx, bo_file_read(ctx, path, &file));
    check_int(file.size, 128 + sizeof small);
    check_int(memcmp(file.data, float64_2x3, 128), 0);
    bo_file_free(ctx, &file);

    check_ok(ctx, bo_npy_open(ctx, path, 3, &writer));
    bo_npy_discard(ctx, &writer);
    check_file(ctx, path, 2, 3, small[0]);
    bough_context_destroy(ctx);
}

static void files_are_continued_after_the_wanted_rows(void **state) {
    (void)state;
    static const double rows[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}, other[2] = {9, 10};
    bough_context *ctx = test_context(1);
    const char *path = test_path("continue.npy");
    bo_npy_writer writer;
    bool kept;
    check_ok(ctx, bo_npy_continue(ctx, path, 2, 3, &writer, &kept));
    check(!kept);
    for (int r = 0; r < 4; r++)
        check_ok(ctx, bo_npy_append(ctx, &writer, rows[r]));
    check_ok(ctx, bo_npy_commit(ctx, &writer));

    check_ok(ctx, bo_npy_continue(ctx, path, 2, 3, &writer, &kept));
    check(kept);
    check_int(writer.rows, 3);
    check_ok(ctx, bo_npy_append(ctx, &writer, other));
    check_ok(ctx, bo_npy_commit(ctx, &writer));
    check_file(ctx, path, 4, 2, (double[]){1, 2, 3, 4, 5, 6, 9, 10});

    check_ok(ctx, bo_npy_continue(ctx, path, 3, 2, &writer, &kept)); /* other columns */
    check(!kept);
    bo_npy_discard(ctx, &writer);
    check_ok(ctx, bo_npy_continue(ctx, path, 2, 5, &writer, &kept)); /* too few rows */
    check(!kept && writer.rows == 0);
    bo_npy_discard(ctx, &writer);
    test_write(path, float64_2x3, 128);
    check_fails(ctx, bo_npy_continue(ctx, path, 3, 2, &writer, &kept), BOUGH_ERROR_FORMAT, "shorter than its header");
    bough_context_destroy(ctx);
}

static void other_arrays_are_refused(void **state) {
    (void)state;
    static const double one[] = {1, 2};
    static const struct {
        const char *dictionary;
        bough_status status;
        const char *part;
    } cases[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", BOUGH_ERROR_UNSUPPORTED, "Python objects"},
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }", BOUGH_ERROR_UNSUPPORTED, "big-endian"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", BOUGH_ERROR_UNSUPPORTED, "type \"<i8\""},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", BOUGH_ERROR_UNSUPPORTED, "records"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 2), }", BOUGH_ERROR_UNSUPPORTED, "3 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", BOUGH_ERROR_UNSUPPORTED, "0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, }", BOUGH_ERROR_FORMAT, "shape as NumPy does"},
        {"{'descr': '<f8', 'fortran_order': 1, 'shape': (2,), }", BOUGH_ERROR_FORMAT, "as NumPy does"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 2), }", BOUGH_ERROR_FORMAT, "as NumPy does"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", BOUGH_ERROR_FORMAT, "as NumPy does"},
        {"{'descr': '<f8, 'fortran_order': False, 'shape': (2,), }", BOUGH_ERROR_FORMAT, "as NumPy does"},
        {"{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", BOUGH_ERROR_FORMAT, "as NumPy"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), } x", BOUGH_ERROR_FORMAT, "as NumPy does"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'more': 1}", BOUGH_ERROR_FORMAT, "as NumPy does"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", BOUGH_ERROR_FORMAT, "16 bytes follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", BOUGH_ERROR_FORMAT, "16 bytes follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2), }", BOUGH_ERROR_FORMAT, "16 bytes follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 0), }", BOUGH_ERROR_FORMAT, "16 bytes follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967298), }", BOUGH_ERROR_FORMAT,
         "16 bytes follow"},
    };
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(ctx, write_dictionary(1, cases[i].dictionary, one, sizeof one), cases[i].status, cases[i].part);
    check_below((double)memory.largest,
                4096); /* nothing was allocated on a header's word; the context is the largest */
    check_refused(ctx, write_dictionary(4, "{}", one, sizeof one), BOUGH_ERROR_UNSUPPORTED, "version 4.0");
    for (size_t missing = 1; missing < 60; missing++)
        check_refused(ctx, write_parts("short.npy", float64_2x3, sizeof float64_2x3 - 1 - missing, one, 0),
                      BOUGH_ERROR_FORMAT, "ends within its header");
    test_write_text(test_path("text.npy"), "1, 2, 3\n");
    check_refused(ctx, test_path("text.npy"), BOUGH_ERROR_FORMAT, "is not a .npy file");
    check_refused(ctx, test_path("missing.npy"), BOUGH_ERROR_FILE, "cannot be opened");
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
}

static void numbers_that_are_none_are_refused_with_their_row(void **state) {
    (void)state;
    const double nan_in_row_1[] = {1, 2, 3, 4, NAN, 6};
    const float infinite[] = {1, 4, 2, 5, INFINITY, 6}; /* by columns */
    bough_context *ctx = test_context(1);
    check_refused(ctx, write_parts("nan.npy", float64_2x3, 128, nan_in_row_1, sizeof nan_in_row_1), BOUGH_ERROR_FORMAT,
                  "row 1, column 1");
    check_refused(ctx, write_parts("inf.npy", float32_fortran_2x3, 128, infinite, sizeof infinite), BOUGH_ERROR_FORMAT,
                  "row 0, column 2");
    bough_context_destroy(ctx);
}

/* Cut anywhere, and with any byte of the header changed: a sentence or numbers, never a crash. */
static void damaged_files_are_survived(void **state) {
    (void)state;
    static const double numbers[] = {1, 2, 3, 4, 5, 6};
    char whole[128 + sizeof numbers], changed[sizeof whole];
    memcpy(whole, float64_2x3, 128);
    memcpy(whole + 128, numbers, sizeof numbers);
    bough_context *ctx = test_context(1);
    test_random random = {9};
    int32_t rows, columns;
    double *values;
    for (size_t size = 0; size < sizeof whole; size++) {
        test_write(test_path("cut.npy"), whole, size);
        check_int(bo_npy_read(ctx, test_path("cut.npy"), &rows, &columns, &values), BOUGH_ERROR_FORMAT);
    }
    for (int i = 0; i < 3000; i++) {
        memcpy(changed, whole, sizeof whole);
        for (int k = 0; k <= i % 3; k++)
            changed[test_bits(&random) % 128] = (char)test_bits(&random);
        test_write(test_path("changed.npy"), changed, sizeof changed);
        if (bo_npy_read(ctx, test_path("changed.npy"), &rows, &columns, &values) == BOUGH_OK)
            check_below(8.0 * rows * columns, 2 * sizeof numbers);
        bo_free(ctx, values);
    }
    bough_context_destroy(ctx);
}

static void arrays_need_a_file(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_npy_writer writer;
    check_fails(ctx, bo_npy_open(ctx, test_path("no/such/folder.npy"), 3, &writer), BOUGH_ERROR_FILE,
                "cannot be written");
    int ends[2];
    char name[32];
    check_int(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    check_fails(ctx, bo_npy_open(ctx, name, 3, &writer), BOUGH_ERROR_FILE, "is not a file");
    close(ends[0]);
    close(ends[1]);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    static const double row[] = {1, 2, 3};
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bo_npy_writer writer;
        int32_t rows, columns;
        double *values = NULL;
        bool kept;
        status = bo_npy_open(ctx, test_path("memory.npy"), 3, &writer);
        if (status == BOUGH_OK)
            status = bo_npy_append(ctx, &writer, row);
        if (status == BOUGH_OK)
            status = bo_npy_commit(ctx, &writer);
        if (status == BOUGH_OK)
            status = bo_npy_continue(ctx, test_path("memory.npy"), 3, 1, &writer, &kept);
        if (status == BOUGH_OK)
            status = bo_npy_commit(ctx, &writer);
        if (status == BOUGH_OK)
            status = bo_npy_read(ctx, test_path("memory.npy"), &rows, &columns, &values);
        bo_free(ctx, values);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        check(fail_at < 100);
    }
    check_int(status, BOUGH_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_numpy_are_read),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(files_are_continued_after_the_wanted_rows),
        cmocka_unit_test(other_arrays_are_refused),
        cmocka_unit_test(numbers_that_are_none_are_refused_with_their_row),
        cmocka_unit_test(damaged_files_are_survived),
        cmocka_unit_test(arrays_need_a_file),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
