/* Files: whole or not at all. */
#include "test.h"

#include "base/file.h"

static void what_is_written_is_read_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = test_path("data.bin");
    bo_output out;
    check_ok(ctx, bo_output_open(ctx, path, &out));
    fwrite("a\0b\n", 1, 4, out.stream);
    check(!bo_file_exists(path)); /* not before it is complete */
    check_ok(ctx, bo_output_commit(ctx, &out));
    bo_file file;
    check_ok(ctx, bo_file_read(ctx, path, &file));
    check_int(file.size, 4);
    check(memcmp(file.data, "a\0b\n", 5) == 0); /* with the NUL behind it */
    bo_file_free(ctx, &file);
    bough_context_destroy(ctx);
}

static void mapped_files_are_the_files(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = test_path("mapped.bin");
    test_write(path, "a\0b\n", 4);
    bo_mapping mapping, direct;
    check_ok(ctx, bo_map_file(ctx, path, &mapping));
    check_int(mapping.size, 4);
    check(memcmp(mapping.data, "a\0b\n", 4) == 0);
    bo_output out; /* replaced as a whole: the old content stays here */
    check_ok(ctx, bo_output_open(ctx, path, &out));
    check_ok(ctx, bo_output_commit(ctx, &out));
    check(memcmp(mapping.data, "a\0b\n", 4) == 0);
    bo_unmap_file(ctx, &mapping);
    check_ok(ctx, bo_map_file(ctx, path, &mapping)); /* empty now */
    check(mapping.size == 0 && !mapping.data);
    bo_unmap_file(ctx, &mapping);
    check_ok(ctx, bo_map_file(ctx, "/dev/null", &direct)); /* cannot be mapped */
    check_int(direct.size, 0);
    bo_unmap_file(ctx, &direct);
    check_fails(ctx, bo_map_file(ctx, test_path("absent"), &mapping), BOUGH_ERROR_FILE, "absent");
    check_fails(ctx, bo_map_file(ctx, "/", &mapping), BOUGH_ERROR_FILE, "folder");
    bough_context_destroy(ctx);
}

static void discarded_output_leaves_the_old_file(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = test_path("keep.txt");
    test_write_text(path, "old");
    bo_output out;
    check_ok(ctx, bo_output_open(ctx, path, &out));
    fputs("new and half", out.stream);
    bo_output_discard(ctx, &out);
    bo_file file;
    check_ok(ctx, bo_file_read(ctx, path, &file));
    check(strcmp(file.data, "old") == 0);
    bo_file_free(ctx, &file);
    bough_context_destroy(ctx);
}

static void failures_name_the_file(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_file file;
    bo_output out;
    check_fails(ctx, bo_file_read(ctx, test_path("absent"), &file), BOUGH_ERROR_FILE, "absent");
    check_fails(ctx, bo_file_read(ctx, "/", &file), BOUGH_ERROR_FILE, "folder");
    check_fails(ctx, bo_output_open(ctx, "/", &out), BOUGH_ERROR_FILE, "folder");
    check_fails(ctx, bo_output_open(ctx, test_path("no/such/folder"), &out), BOUGH_ERROR_FILE, "no/such/folder");
    check_ok(ctx, bo_output_open(ctx, "/dev/full", &out));
    fputs("x", out.stream);
    check_fails(ctx, bo_output_commit(ctx, &out), BOUGH_ERROR_FILE, "/dev/full");
    bough_context_destroy(ctx);
}

static void paths_are_taken_apart(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check(strcmp(bo_path_extension("a.b/c"), "") == 0);
    check(strcmp(bo_path_extension("a.b/c.msh"), "msh") == 0);
    char *path = bo_path_replace_extension(ctx, "x/y.ele", ".node");
    check(strcmp(path, "x/y.node") == 0);
    bo_free(ctx, path);
    path = bo_path_beside(ctx, "x/y.json", "z.msh");
    check(strcmp(path, "x/z.msh") == 0);
    bo_free(ctx, path);
    path = bo_path_beside(ctx, "x/y.json", "/z.msh");
    check(strcmp(path, "/z.msh") == 0);
    bo_free(ctx, path);
    bough_context_destroy(ctx);
}

static void typos_get_the_nearest_word(void **state) {
    (void)state;
    const char *const words[] = {"young", "poisson", "density"};
    check(strcmp(bo_nearest_word("yuong", words, 3), "young") == 0);
    check(strcmp(bo_nearest_word("Poison", words, 3), "poisson") == 0);
    check(bo_nearest_word("temperature", words, 3) == NULL);
    char endless[500];
    memset(endless, 'y', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    check(bo_nearest_word(endless, words, 3) == NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back), cmocka_unit_test(discarded_output_leaves_the_old_file),
        cmocka_unit_test(mapped_files_are_the_files),   cmocka_unit_test(failures_name_the_file),
        cmocka_unit_test(paths_are_taken_apart),        cmocka_unit_test(typos_get_the_nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
