/* Running the program: a subprocess with arguments, judged by exit status, output and files. */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

/* ---- running the program ---- */

static char out[1 << 18], err[1 << 16]; /* what the last run said */

static inline void slurp(const char *path, char *text, size_t size) {
    FILE *f = fopen(path, "rb");
    check(f != NULL);
    size_t got = fread(text, 1, size - 1, f);
    check(got < size - 1);
    text[got] = 0;
    fclose(f);
}

/* Runs happen in this folder; what they say is kept outside it. */
static inline const char *work(const char *name) {
    char inner[120];
    snprintf(inner, sizeof inner, "work/%s", name);
    return test_path(inner);
}

static inline pid_t start_with_output(const char *const *words, const char *output) {
    char *argv[32] = {(char[]){"bough"}};
    int count = 1;
    for (; words[count - 1]; count++) {
        check(count < 31);
        argv[count] = strdup(words[count - 1]);
    }
    mkdir(work(""), 0700);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, test_path("stderr"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addchdir_np(&actions, work(""));
    pid_t child;
    int failed = posix_spawn(&child, BOUGH_PROGRAM, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 1; i < count; i++)
        free(argv[i]);
    check_int(failed, 0);
    return child;
}

/* Runs of more than ten seconds, on a busy machine, tell of their progress in lines that begin with "... ". */
static inline void drop_progress(void) {
    char *to = err;
    for (char *line = err, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        if (strncmp(line, "... ", 4) != 0) {
            memmove(to, line, (size_t)(end - line));
            to += end - line;
        }
    }
    *to = 0;
}

/* Exit status, or minus the signal that ended it. */
static inline int finish(pid_t child) {
    int status;
    check(waitpid(child, &status, 0) == child);
    slurp(test_path("stdout"), out, sizeof out);
    slurp(test_path("stderr"), err, sizeof err);
    drop_progress();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline int run(const char *const *words) {
    return finish(start_with_output(words, test_path("stdout")));
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The run ends with this exit status. */
#define check_run(expected, ...)                                                                                   \
    do {                                                                                                           \
        int check_s_ = run(WORDS(__VA_ARGS__));                                                                    \
        if (check_s_ != (expected))                                                                                \
            fail_msg("%s:%d: bough %s: exit status %d, expected %d; stderr: %s", __FILE__, __LINE__, #__VA_ARGS__, \
                     check_s_, (expected), err);                                                                   \
    } while (0)

static inline int line_count(const char *text) {
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* `bough example NAME` in a folder of this test, with its components cooked: by the first test of a build that wants them.
 * `leaves`: of an oak; else NULL. Its scene file. */
static inline const char *make_cooked(const char *folder, const char *name, const char *leaves) {
    char command[1200], scene[80];
    mkdir(work(""), 0700);
    snprintf(command, sizeof command, "sh '%s/tests/app/cooked.sh' '%s' '%s' %s %s %s", BOUGH_SOURCE_DIR, BOUGH_PROGRAM,
             work(folder), name, leaves ? "--leaves" : "", leaves ? leaves : "");
    if (system(command) != 0)
        fail_msg("%s failed", command);
    snprintf(scene, sizeof scene, "%s/scene.json", folder);
    return work(scene);
}

/* One sentence: a line "bough: ..."; mistakes in options may have argp's "Try ..." as a second one. */
static inline bool is_one_sentence(void) {
    size_t length = strlen(err);
    if (length < 12 || err[length - 1] != '\n')
        return false;
    if (strncmp(err, "bough: ", 7) == 0)
        return line_count(err) == 1;
    return strncmp(err, "bough ", 6) == 0 && line_count(err) == 2 && strstr(err, "\nTry `bough ") != NULL;
}

/* The run fails with this exit status and one sentence that contains `part`, and says nothing on stdout. */
#define check_mistake(expected, part, ...)                                                                      \
    do {                                                                                                        \
        check_run(expected, __VA_ARGS__);                                                                       \
        if (!is_one_sentence() || !strstr(err, (part)) || out[0])                                               \
            fail_msg("%s:%d: bough %s: expected one sentence with \"%s\", got \"%s\" and on stdout \"%.100s\"", \
                     __FILE__, __LINE__, #__VA_ARGS__, (part), err, out);                                       \
    } while (0)

/* The run's output as the one JSON object it should be; release it. */
#define check_json(object, expected, ...)                                                                   \
    do {                                                                                                    \
        check_run(expected, __VA_ARGS__);                                                                   \
        json_error_t check_e_;                                                                              \
        object = json_loads(out, JSON_REJECT_DUPLICATES, &check_e_);                                        \
        if (!json_is_object(object))                                                                        \
            fail_msg("%s:%d: bough %s: no JSON object: %s in \"%.200s\"", __FILE__, __LINE__, #__VA_ARGS__, \
                     check_e_.text, out);                                                                   \
    } while (0)

static inline double number(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("\"%s\" is missing, or not a number", key);
    return json_number_value(value);
}
static inline const char *text(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        fail_msg("\"%s\" is missing, or not a text", key);
    return json_string_value(value);
}
static inline bool truth(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        fail_msg("\"%s\" is missing, or not true or false", key);
    return json_is_true(value);
}
static inline double item(const json_t *object, const char *key, size_t index) {
    json_t *value = json_array_get(json_object_get(object, key), index);
    if (!json_is_number(value))
        fail_msg("\"%s\" has no number %zu", key, index);
    return json_number_value(value);
}

/* Items of a set in the answer of mesh info; -1 when it is not there. */
static inline int set_count(const json_t *info, const char *name, const char *kind) {
    size_t i;
    json_t *set;
    json_array_foreach(json_object_get(info, "sets"), i,
                       set) if (strcmp(text(set, "name"), name) == 0 &&
                                strcmp(text(set, "kind"), kind) == 0) return (int)number(set, "count");
    return -1;
}

static inline bool exists(const char *name) {
    return access(work(name), F_OK) == 0;
}

static inline int file_count(void) {
    DIR *folder = opendir(work(""));
    check(folder != NULL);
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Waits until a file whose name begins so (it may be written under another ending) has this many bytes. */
static inline void wait_for_file(const char *folder_name, const char *beginning, long least) {
    for (int i = 0; i < 12000; i++) {
        DIR *folder = opendir(work(folder_name));
        bool found = false;
        for (struct dirent *e; folder && !found && (e = readdir(folder));) {
            struct stat info;
            found = strncmp(e->d_name, beginning, strlen(beginning)) == 0 &&
                    fstatat(dirfd(folder), e->d_name, &info, 0) == 0 && info.st_size >= least;
        }
        if (folder)
            closedir(folder);
        if (found)
            return;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    fail_msg("%s%s* did not come to %ld bytes in two minutes", folder_name, beginning, least);
}

static inline void check_begins(const char *name, const void *beginning, size_t size, long least_size) {
    char head[64];
    struct stat info;
    FILE *f = fopen(work(name), "rb");
    if (!f)
        fail_msg("%s was not made", name);
    check(size <= sizeof head && fread(head, 1, size, f) == size);
    fclose(f);
    check(memcmp(head, beginning, size) == 0);
    check(stat(work(name), &info) == 0 && info.st_size >= least_size);
}
static inline void check_is_png(const char *name) {
    check_begins(name, "\x89PNG\r\n\x1a\n", 8, 2000);
}
static inline void check_is_vtu(const char *name) {
    check_begins(name, "<?xml", 5, 500);
}

/* The column of a recording, by its name; *count: rows. To be freed. */
static inline double *test_column(const char *path, const char *name, int *count) {
    FILE *f = fopen(path, "rb");
    check(f != NULL);
    char line[1 << 14];
    double *values = malloc(100000 * sizeof *values);
    int column = 0;
    check(values && fgets(line, sizeof line, f));
    char *at = line;
    for (; strncmp(at, name, strlen(name)) != 0 || !strchr(",\n", at[strlen(name)]); column++) {
        at = strchr(at, ',');
        check(at != NULL);
        at++;
    }
    for (*count = 0; fgets(line, sizeof line, f); (*count)++) {
        at = line;
        for (int c = 0; c < column; c++)
            at = strchr(at, ',') + 1;
        values[*count] = strtod(at, NULL);
    }
    fclose(f);
    return values;
}

#endif
