/* Functions that the commands share, from inside: options, JSON on small stacks, the progress line. */
#include "test.h"

#include "../../app/view/line.h"
#include "../../app/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

/* ---- options ---- */

static error_t run_out_of_memory(int key, char *text, struct argp_state *state) {
    (void)text, (void)state;
    return key == ARGP_KEY_INIT ? ENOMEM : ARGP_ERR_UNKNOWN;
}

/* Errors that argp returns instead of ending the program itself are not taken for success. */
static void options_that_cannot_be_read_end_the_program(void **state) {
    (void)state;
    const struct argp parser = {NULL, run_out_of_memory, NULL, NULL, NULL, NULL, NULL};
    char *argv[] = {(char[]){"bough"}, NULL}, said[200] = "";
    const char *file_name = test_path("said"); /* the folder is this process' */
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int file = open(file_name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        dup2(file, STDERR_FILENO);
        app_parse(&parser, 1, argv, NULL);
        _exit(77);
    }
    int status;
    check(waitpid(child, &status, 0) == child);
    check(WIFEXITED(status) && WEXITSTATUS(status) == APP_FAILED);
    FILE *f = fopen(file_name, "r");
    check(f && fgets(said, sizeof said, f));
    fclose(f);
    check(!strcmp(said, "bough: the options cannot be read: Cannot allocate memory\n"));
}

/* ---- JSON ---- */

static void depth_is_counted_outside_of_strings(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int depth;
    } all[] = {{"", 0},
               {"1", 0},
               {"[]", 1},
               {"[[], [[]]]", 3},
               {"{\"a\": [{}]}", 3},
               {"\"[[[[\"", 0},
               {"[\"\\\"[[\"]", 1},
               {"[\"\\\\\", [1]]", 2},
               {"]]]]}[", 1},
               {"[\"[[", 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (bough_json_depth(all[i].text, strlen(all[i].text)) != all[i].depth)
            fail_msg("%s: %d", all[i].text, bough_json_depth(all[i].text, strlen(all[i].text)));
}

/* A text as deep as may be, and as deep as a message has room for, in lists and in objects. */
static void *parse_deep(void *data) {
    static const char object[] = "{\"a\":";
    char text[VIEW_TEXT_SIZE], reason[128];
    view_command command;
    (void)data;
    memset(text, '[', sizeof text);
    check_int(view_command_parse(text, sizeof text, &command, reason), VIEW_NO_COMMAND);
    check_int(view_command_parse(text, 550, &command, reason), VIEW_NO_COMMAND);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = object[i % (sizeof object - 1)];
    check_int(view_command_parse(text, sizeof text, &command, reason), VIEW_NO_COMMAND);
    snprintf(text, sizeof text, "{\"do\": \"pause\", \"more\": %.*s%.*s}", BOUGH_JSON_DEPTH - 1,
             "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", BOUGH_JSON_DEPTH - 1,
             "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
    check_int(view_command_parse(text, strlen(text), &command, reason), VIEW_PARSED);
    return NULL;
}

static void deep_json_needs_no_deep_stack(void **state) {
    (void)state;
    pthread_t thread;
    check(line_start_thread(&thread, parse_deep, NULL));
    pthread_join(thread, NULL);
}

/* Scenes, provenance and what else the program reads for itself. */
static void deep_files_are_refused(void **state) {
    (void)state;
    enum { DEEP = 100000 };
    char *text = malloc(2 * DEEP + 1);
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    text[2 * DEEP] = 0;
    check(app_json_parse(text, 2 * DEEP) == NULL);
    test_write_text(test_path("deep.json"), text);
    check(app_json_load(test_path("deep.json")) == NULL);
    text[DEEP + 3] = 0;
    json_t *root = app_json_parse(text + DEEP - 3, 6);
    check(json_is_array(root));
    json_decref(root);
    test_write_text(test_path("marked.json"), "\xEF\xBB\xBF{\"components\": {}}");
    check(app_is_scene_of_parts(test_path("marked.json")));
    check(app_json_load(test_path("nowhere.json")) == NULL);
    free(text);
}

/* ---- the progress line ---- */

enum { THREADS = 4, LINES = 200 };

static void *show(void *data) {
    for (int i = 0; i < LINES; i++) {
        app_show_line("%s", (const char *)data);
        if (i % 8 == 0)
            app_clear_progress();
        usleep(300);
    }
    return NULL;
}

/* On a terminal, by several threads at once, as components are cooked: every line is one that somebody wrote.
 * ThreadSanitizer looks on in the continuous integration. */
static void progress_lines_are_whole(void **state) {
    (void)state;
    static const char *const words[THREADS] = {"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc",
                                               "dddddddddddddddd"};
    char got[4096], *at = got;
    pthread_t threads[THREADS];
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), kept = dup(STDERR_FILENO);
    check(terminal >= 0 && !grantpt(terminal) && !unlockpt(terminal));
    const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    check(other >= 0);
    fflush(stderr);
    dup2(other, STDERR_FILENO);
    for (int k = 0; k < THREADS; k++)
        check(pthread_create(&threads[k], NULL, show, (void *)(uintptr_t)words[k]) == 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    const ssize_t size = read(terminal, got, sizeof got - 1);
    close(other), close(terminal), close(kept);
    check(size > 0);
    got[size] = 0;
    int shown = 0;
    for (char *line; (line = strsep(&at, "\r")) != NULL;) {
        bool known = !strcmp(line, "") || !strcmp(line, "\033[K");
        for (int k = 0; k < THREADS && !known; k++)
            known = !strncmp(line, "\033[K", 3) && !strcmp(line + 3, words[k]), shown += known;
        if (!known)
            fail_msg("torn: \"%s\"", line);
    }
    check(shown >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_cannot_be_read_end_the_program),
        cmocka_unit_test(depth_is_counted_outside_of_strings),
        cmocka_unit_test(deep_json_needs_no_deep_stack),
        cmocka_unit_test(deep_files_are_refused),
        cmocka_unit_test(progress_lines_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
