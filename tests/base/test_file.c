/* Files: whole or not at all. */
#include "synced.h"

#include "base/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

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

/* A name of an open file, as /dev/stdout is, leads there and stays a name. */
static void outputs_go_through_names_of_open_files(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = test_path("through");
    char name[64], text[8] = {0};
    FILE *f = fopen(path, "w+b");
    check(f != NULL);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fileno(f));
    bo_output out;
    check_ok(ctx, bo_output_open(ctx, name, &out));
    fputs("hello", out.stream);
    check_ok(ctx, bo_output_commit(ctx, &out));
    check(fread(text, 1, 7, f) == 5 && strcmp(text, "hello") == 0);
    fclose(f);
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

/* Two writers of one file, a file that was left behind, and a link that somebody put there: none is written into. */
static void temporary_files_are_new(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = test_path("shared.txt");
    char link[300];
    bo_output first, second;
    test_write_text(test_path("precious.txt"), "precious");
    snprintf(link, sizeof link, "%s.part%ld", path, (long)getpid());
    check_int(symlink(test_path("precious.txt"), link), 0);
    check_ok(ctx, bo_output_open(ctx, path, &first));
    check_ok(ctx, bo_output_open(ctx, path, &second));
    fputs("first", first.stream), fputs("second", second.stream);
    check_ok(ctx, bo_output_commit(ctx, &second));
    check_ok(ctx, bo_output_commit(ctx, &first));
    bo_file file;
    check_ok(ctx, bo_file_read(ctx, path, &file));
    check(strcmp(file.data, "first") == 0);
    bo_file_free(ctx, &file);
    check_ok(ctx, bo_file_read(ctx, test_path("precious.txt"), &file));
    check(strcmp(file.data, "precious") == 0);
    bo_file_free(ctx, &file);

    char name[600]; /* the longest that file systems have: 255 bytes */
    int folder = snprintf(name, sizeof name, "%s", test_path(""));
    memset(name + folder, 'n', 255);
    name[folder + 255] = 0;
    check_ok(ctx, bo_output_open(ctx, name, &first));
    check_ok(ctx, bo_output_commit(ctx, &first));
    check(bo_file_exists(name));
    bough_context_destroy(ctx);
}

/* A reader that opens a pipe twice loses what was written in between. */
static void pipes_are_opened_once(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = test_path("pipe");
    check_int(mkfifo(path, 0600), 0);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            int out = open(path, O_WRONLY);
            _exit(write(out, "a\0b\n", 4) == 4 ? 0 : 1);
        }
        bo_mapping mapping;
        alarm(60); /* rather than to wait for ever */
        check_ok(ctx, bo_map_file(ctx, path, &mapping));
        alarm(0);
        check_int(mapping.size, 4);
        bo_unmap_file(ctx, &mapping);
        int status;
        check(waitpid(child, &status, 0) == child && status == 0);
    }
    bo_file file;
    check_fails(ctx, bo_file_read(ctx, "/dev/zero", &file), BOUGH_ERROR_FILE, "/dev/zero: is a pipe or device without");
    check(!file.data);
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

/* ---- kills and crashes ---- */

/* An output that promises to be on the disk is there, name and all; one that does not costs nothing. */
static void durable_output_is_synced_with_its_folder(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_output output;
    for (int durable = 0; durable < 2; durable++) {
        sync_count = 0;
        check_ok(ctx, bo_output_open(ctx, test_path("durable"), &output));
        output.durable = durable;
        fputs("text", output.stream);
        check_ok(ctx, bo_output_commit(ctx, &output));
        check_int(was_synced(test_path("durable")), durable);
        check_int(was_synced(test_path("")), durable);
    }
    bough_context_destroy(ctx);
}

static void published_output_is_there_and_goes_on(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_output output;
    bo_file file;
    test_write_text(test_path("published"), "before");
    check_ok(ctx, bo_output_open(ctx, test_path("published"), &output));
    fputs("one", output.stream);
    check_ok(ctx, bo_file_read(ctx, test_path("published"), &file));
    check(strcmp(file.data, "before") == 0);
    bo_file_free(ctx, &file);
    sync_count = 0;
    check_ok(ctx, bo_output_publish(ctx, &output));
    check(was_synced(test_path("published")) && was_synced(test_path("")));
    check_ok(ctx, bo_file_read(ctx, test_path("published"), &file));
    check(strcmp(file.data, "one") == 0);
    bo_file_free(ctx, &file);
    fputs(" two", output.stream);
    bo_output_discard(ctx, &output); /* closes it, and what was published stays */
    check_ok(ctx, bo_file_read(ctx, test_path("published"), &file));
    check(strcmp(file.data, "one two") == 0);
    bo_file_free(ctx, &file);
    bough_context_destroy(ctx);
}

/* Nobody holds the lock of what a killed process has left. Files of others, and of writers that live, stay. */
static void leftovers_of_the_dead_are_removed(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const left[] = {"x.npy.part123", "x.npy.part99999-7"};
    static const char *const others[] = {"x.npy.part",    "x.npy.part12a", "x.npy.party1", "y.npy.part5",
                                         "xx.npy.part5",  "x.npy.part5-a", "x.npy",        "x.npy.part5.txt",
                                         "x.npy2.part55", "part5"};
    bo_output output;
    char alive[300];
    check_ok(ctx, bo_output_open(ctx, test_path("x.npy"), &output));
    snprintf(alive, sizeof alive, "%s", output.temporary);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        test_write_text(test_path(left[i]), "");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        test_write_text(test_path(others[i]), "");
    bo_output_remove_leftovers(test_path("x.npy"), false);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        check(!bo_file_exists(test_path(left[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check(bo_file_exists(test_path(others[i])));
    check(bo_file_exists(alive));
    check_ok(ctx, bo_output_commit(ctx, &output));
    bo_output_remove_leftovers(test_path("x.npy"), true); /* and of names that begin so */
    check(!bo_file_exists(test_path("x.npy2.part55")) && bo_file_exists(test_path("y.npy.part5")));
    bo_output_remove_leftovers(test_path("no/such/folder"), false);
    bough_context_destroy(ctx);
}

/* Whoever writes a file anew clears away what was left of it; a series looks once, and not at every file. */
static void a_new_writer_clears_away_what_was_left(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_output output;
    test_write_text(test_path("z.png.part123"), "");
    check_ok(ctx, bo_output_open_in_series(ctx, test_path("z.png"), &output));
    bo_output_discard(ctx, &output);
    check(bo_file_exists(test_path("z.png.part123")));
    check_ok(ctx, bo_output_open(ctx, test_path("z.png"), &output));
    check(!bo_file_exists(test_path("z.png.part123")));
    bo_output_discard(ctx, &output);
    bough_context_destroy(ctx);
}

static char contested[256];

static void *write_often(void *data) {
    bough_context *ctx = test_context(1);
    bough_status *status = data;
    for (int i = 0; i < 500 && *status == BOUGH_OK; i++) {
        bo_output output;
        *status = bo_output_open(ctx, contested, &output);
        if (*status != BOUGH_OK)
            break;
        fputs("all of it", output.stream);
        *status = bo_output_commit(ctx, &output);
    }
    bough_context_destroy(ctx);
    return NULL;
}

/* Nobody takes what another has just begun for a leftover. */
static void many_write_the_same_file(void **state) {
    (void)state;
    enum { WRITERS = 4 };
    pthread_t writers[WRITERS];
    bough_status status[WRITERS] = {BOUGH_OK};
    snprintf(contested, sizeof contested, "%s", test_path("many.txt"));
    for (int i = 0; i < WRITERS; i++)
        check_int(pthread_create(&writers[i], NULL, write_often, &status[i]), 0);
    for (int i = 0; i < WRITERS; i++)
        check_int(pthread_join(writers[i], NULL), 0);
    for (int i = 0; i < WRITERS; i++)
        check_int(status[i], BOUGH_OK);
    unsigned char *text = test_read(contested, NULL);
    check(strcmp((char *)text, "all of it") == 0);
    free(text);
}

/* A program that was started meanwhile does not keep the lock. */
static void locks_end_with_their_process(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_output output;
    check_ok(ctx, bo_output_open(ctx, test_path("locked"), &output));
    check(fcntl(fileno(output.stream), F_GETFD) & FD_CLOEXEC);
    bo_output_discard(ctx, &output);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durable_output_is_synced_with_its_folder),
        cmocka_unit_test(published_output_is_there_and_goes_on),
        cmocka_unit_test(leftovers_of_the_dead_are_removed),
        cmocka_unit_test(a_new_writer_clears_away_what_was_left),
        cmocka_unit_test(many_write_the_same_file),
        cmocka_unit_test(locks_end_with_their_process),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(outputs_go_through_names_of_open_files),
        cmocka_unit_test(discarded_output_leaves_the_old_file),
        cmocka_unit_test(mapped_files_are_the_files),
        cmocka_unit_test(failures_name_the_file),
        cmocka_unit_test(temporary_files_are_new),
        cmocka_unit_test(pipes_are_opened_once),
        cmocka_unit_test(paths_are_taken_apart),
        cmocka_unit_test(typos_get_the_nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
