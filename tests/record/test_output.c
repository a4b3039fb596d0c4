/* Files that other programs write. */
#include "test.h"

#include <bough/record.h>

static bool is_there(const char *name) {
    return access(test_path(name), F_OK) == 0;
}

/* Under another name until it is finished; what was left of earlier ones goes. */
static void a_file_appears_when_it_is_finished(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_output *output;
    test_write_text(test_path("film.webm.part12345"), "");
    check_ok(ctx, bough_output_create(ctx, test_path("film.webm"), &output));
    check(!is_there("film.webm.part12345") && !is_there("film.webm"));
    test_write_text(bough_output_name(output), "moving");
    check_ok(ctx, bough_output_finish(ctx, output));
    unsigned char *text = test_read(test_path("film.webm"), NULL);
    check(strcmp((char *)text, "moving") == 0);
    free(text);
    check_ok(ctx, bough_output_create(ctx, test_path("film.webm"), &output));
    char name[300];
    snprintf(name, sizeof name, "%s", bough_output_name(output));
    test_write_text(name, "unfinished");
    bough_output_discard(ctx, output);
    check(access(name, F_OK) != 0);
    text = test_read(test_path("film.webm"), NULL);
    check(strcmp((char *)text, "moving") == 0);
    free(text);
    bough_output_discard(ctx, NULL);
    bough_context_destroy(ctx);
}

static void only_files_are_made(void **state) {
    (void)state;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    const long live = memory.live;
    bough_output *output;
    check_fails(ctx, bough_output_create(ctx, "/dev/null", &output), BOUGH_ERROR_FILE,
                "/dev/null: is a pipe or device");
    check_fails(ctx, bough_output_create(ctx, test_path(""), &output), BOUGH_ERROR_FILE, "is a folder");
    check_fails(ctx, bough_output_create(ctx, test_path("no/such/film.mp4"), &output), BOUGH_ERROR_FILE,
                "cannot be written");
    check(output == NULL);
    for (int k = 0; k < 3; k++) {
        memory.fail_at = memory.calls + k;
        check_fails(ctx, bough_output_create(ctx, test_path("poor.mp4"), &output), BOUGH_ERROR_MEMORY, "memory");
        check_int(memory.live, live);
    }
    memory.fail_at = -1;
    check_ok(ctx, bough_output_create(ctx, test_path("poor.mp4"), &output));
    bough_output_discard(ctx, output);
    check_int(memory.live, live);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_when_it_is_finished),
        cmocka_unit_test(only_files_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
