/* .npz files hold what was put into them: read back by rules of the formats alone. */
#include "npz_reader.h"
#include "synced.h"

#include "base/npy.h"

#include <bough/record.h>

static const char *const names[] = {"trunk", "", NULL, "Äste", "x\xff"};

static bool flushed; /* the file is complete after every tenth row already */

static bough_status put_together(bough_context *ctx, const char *path, int rows) {
    bough_npz *npz;
    bough_status s = bough_npz_create(ctx, path, &npz);
    if (s)
        return s;
    s = bough_npz_add_array(ctx, npz, "time", BOUGH_NPZ_FLOAT64, 0, NULL);
    s = s ? s : bough_npz_add_array(ctx, npz, "frames", BOUGH_NPZ_FLOAT32, 2, (const int32_t[]){2, 3});
    s = s ? s : bough_npz_add_texts(ctx, npz, "names", 5, names);
    s = s ? s : bough_npz_add_array(ctx, npz, "parts", BOUGH_NPZ_INT32, 1, (const int32_t[]){4});
    for (int f = 0; f < rows && !s; f++) {
        const double time[2] = {f / 3.0, -f / 7.0};
        const float frames[6] = {(float)f, 1, 2, 3, 4, 5};
        const int32_t parts[4] = {f, -1, INT32_MIN, 7};
        s = bough_npz_append(ctx, npz, 0, 2, time);
        s = s ? s : bough_npz_append(ctx, npz, 1, 1, frames);
        s = s ? s : bough_npz_append(ctx, npz, 3, 1, parts);
        if (!s && flushed && f % 10 == 9) {
            s = bough_npz_flush(ctx, npz);
            npz_file file = read_npz(path);
            check(find_array(&file, "frames").shape[0] == (size_t)f + 1);
            close_npz(&file);
        }
    }
    if (!s)
        return bough_npz_finish(ctx, npz);
    bough_npz_discard(ctx, npz);
    return s;
}

static void arrays_come_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int rows = 0; rows < 1000; rows += 333) {
        check_ok(ctx, put_together(ctx, test_path("a.npz"), rows));
        npz_file file = read_npz(test_path("a.npz"));
        npz_array time = find_array(&file, "time"), frames = find_array(&file, "frames"),
                  parts = find_array(&file, "parts");
        check(time.dimensions == 1 && frames.dimensions == 3 && parts.dimensions == 2);
        check(time.shape[0] == 2 * (size_t)rows && frames.shape[0] == (size_t)rows && parts.shape[0] == (size_t)rows);
        check(frames.shape[1] == 2 && frames.shape[2] == 3 && parts.shape[1] == 4);
        for (int f = 0; f < rows; f++) {
            check(number_at(&time, 2 * (size_t)f) == f / 3.0 && number_at(&time, 2 * (size_t)f + 1) == -f / 7.0);
            check(number_at(&frames, 6 * (size_t)f) == f && number_at(&frames, 6 * (size_t)f + 5) == 5);
            check(number_at(&parts, 4 * (size_t)f) == f && number_at(&parts, 4 * (size_t)f + 2) == INT32_MIN);
        }
        close_npz(&file);
    }
    bough_context_destroy(ctx);
}

static void flushed_files_are_complete_and_end_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    flushed = true;
    check_ok(ctx, put_together(ctx, test_path("flushed.npz"), 35));
    flushed = false;
    check_ok(ctx, put_together(ctx, test_path("plain.npz"), 35));
    bo_file a, b;
    check_ok(ctx, bo_file_read(ctx, test_path("flushed.npz"), &a));
    check_ok(ctx, bo_file_read(ctx, test_path("plain.npz"), &b));
    check(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
    bo_file_free(ctx, &a);
    bo_file_free(ctx, &b);
    bough_context_destroy(ctx);
}

/* When flush or finish return, the file is on the disk itself, with its name. */
static void files_are_on_the_disk(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = test_path("safe.npz");
    bough_npz *npz;
    sync_count = 0;
    check_ok(ctx, put_together(ctx, path, 3));
    check(was_synced(path) && was_synced(test_path("")));
    check_ok(ctx, bough_npz_create(ctx, path, &npz));
    check_ok(ctx, bough_npz_add_array(ctx, npz, "x", BOUGH_NPZ_FLOAT64, 0, NULL));
    for (int i = 0; i < 3; i++) {
        check_ok(ctx, bough_npz_append(ctx, npz, 0, 1, (const double[]){i}));
        sync_count = 0;
        check_ok(ctx, i < 2 ? bough_npz_flush(ctx, npz) : bough_npz_finish(ctx, npz));
        check(was_synced(path) && was_synced(test_path("")));
    }
    bough_context_destroy(ctx);
}

static void texts_come_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check_ok(ctx, put_together(ctx, test_path("t.npz"), 1));
    npz_file file = read_npz(test_path("t.npz"));
    npz_array texts = find_array(&file, "names");
    check_int(texts.count, 5);
    check(strcmp(texts.type, "<U5") == 0);
    check(strcmp(text_at(&texts, 0), "trunk") == 0 && text_at(&texts, 1)[0] == 0 && text_at(&texts, 2)[0] == 0);
    check(strcmp(text_at(&texts, 3), "~ste") == 0 && little(texts.data + 60, 4) == 0xc4);
    check(strcmp(text_at(&texts, 4), "x?") == 0);
    close_npz(&file);
    bough_context_destroy(ctx);
}

static void a_matrix_comes_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double A[6] = {1, -2.5, 3e-300, 4, 0.1, 6};
    int32_t rows, columns;
    double *back;
    check_ok(ctx, bough_npy_write(ctx, test_path("A.npy"), 2, 3, A));
    check_ok(ctx, bo_npy_read(ctx, test_path("A.npy"), &rows, &columns, &back));
    check_int(rows, 2);
    check_int(columns, 3);
    check(memcmp(A, back, sizeof A) == 0);
    bo_free(ctx, back);
    check_fails(ctx, bough_npy_write(ctx, test_path("B.npy"), 2, 0, A), BOUGH_ERROR_ARGUMENT, "rows of 0 numbers");
    check_fails(ctx, bough_npy_write(ctx, test_path("none/B.npy"), 2, 3, A), BOUGH_ERROR_FILE, "B.npy");
    bough_context_destroy(ctx);
}

static void mistakes_are_refused_and_leave_nothing(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_npz *npz;
    const int32_t shape[4] = {1 << 30, 1 << 30, 1 << 30, -1};
    check_fails(ctx, bough_npz_create(ctx, test_path("no/folder.npz"), &npz), BOUGH_ERROR_FILE, "folder.npz");
    check_ok(ctx, bough_npz_create(ctx, test_path("m.npz"), &npz));
    check_fails(ctx, bough_npz_add_array(ctx, npz, "../a", BOUGH_NPZ_INT32, 0, NULL), BOUGH_ERROR_ARGUMENT, "letters");
    check_fails(ctx, bough_npz_add_array(ctx, npz, "", BOUGH_NPZ_INT32, 0, NULL), BOUGH_ERROR_ARGUMENT, "letters");
    check_fails(ctx, bough_npz_add_array(ctx, npz, "a", BOUGH_NPZ_INT32, 4, shape), BOUGH_ERROR_ARGUMENT, "dimensions");
    check_fails(ctx, bough_npz_add_array(ctx, npz, "a", BOUGH_NPZ_INT32, 3, shape), BOUGH_ERROR_ARGUMENT, "size");
    check_fails(ctx, bough_npz_add_array(ctx, npz, "a", BOUGH_NPZ_INT32, 1, shape + 3), BOUGH_ERROR_ARGUMENT, "size");
    check_ok(ctx, bough_npz_add_texts(ctx, npz, "a", 1, names));
    check_fails(ctx, bough_npz_add_texts(ctx, npz, "a", 1, names), BOUGH_ERROR_ARGUMENT, "two arrays");
    check_fails(ctx, bough_npz_append(ctx, npz, 0, 1, names), BOUGH_ERROR_ARGUMENT, "no rows");
    check_fails(ctx, bough_npz_append(ctx, npz, 1, 1, names), BOUGH_ERROR_ARGUMENT, "no rows");
    check(access(test_path("m.npz"), F_OK) != 0); /* not before it is complete */
    bough_npz_discard(ctx, npz);
    check(access(test_path("m.npz"), F_OK) != 0);
    bough_context_destroy(ctx);
}

static void memory_may_be_short_at_any_time(void **state) {
    (void)state;
    long calls = 1;
    for (long fail_at = -1; fail_at < calls; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        memory.fail_at = fail_at < 0 ? -1 : memory.calls + fail_at;
        long before = memory.calls, live = memory.live;
        bough_status s = put_together(ctx, test_path("f.npz"), 40);
        if (fail_at < 0)
            calls = memory.calls - before;
        check_int(s, fail_at < 0 ? BOUGH_OK : BOUGH_ERROR_MEMORY);
        check_int(memory.live, live);
        remove(test_path("f.npz"));
        bough_context_destroy(ctx);
    }
    check(calls > 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_come_back),
        cmocka_unit_test(flushed_files_are_complete_and_end_alike),
        cmocka_unit_test(files_are_on_the_disk),
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(a_matrix_comes_back),
        cmocka_unit_test(mistakes_are_refused_and_leave_nothing),
        cmocka_unit_test(memory_may_be_short_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
