/* The manners of the program: towards people who mistype, terminals of either kind, and programs. */
#include "program.h"

#include <pty.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

/* Runs on a terminal and presses Ctrl-C: when `word` was written three times, or NULL: when the file `made` is there. All
 * that it wrote, in `said`. */
static char said[1 << 20];
static int run_on_terminal(const char *const *words, const char *term, const char *word, const char *made) {
    char *argv[32] = {(char[]){"bough"}};
    int terminal, count = 1;
    size_t got = 0;
    for (; words[count - 1]; count++)
        argv[count] = strdup(words[count - 1]);
    mkdir(work(""), 0700);
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    check(child >= 0);
    if (child == 0) {
        setenv("TERM", term, 1);
        if (chdir(work("")) == 0)
            execv(BOUGH_PROGRAM, argv);
        _exit(127);
    }
    for (int i = 1; i < count; i++)
        free(argv[i]);
    bool pressed = false;
    fcntl(terminal, F_SETFL, O_NONBLOCK);
    int status;
    for (;;) {
        ssize_t some = read(terminal, said + got, sizeof said - 1 - got);
        got += some > 0 ? (size_t)some : 0;
        said[got] = 0;
        if (!pressed && (word ? occurrences(said, word) >= 3 : exists(made))) {
            check(write(terminal, "\x03", 1) == 1);
            pressed = true;
        }
        if (some <= 0 && waitpid(child, &status, WNOHANG) == child)
            break;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    ssize_t some;
    while ((some = read(terminal, said + got, sizeof said - 1 - got)) > 0)
        got += (size_t)some;
    said[got] = 0;
    close(terminal);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#define PENDULUM BOUGH_SOURCE_DIR "/examples/pendulum/scene.json"

/* "running 12 %  t = ...  about 5 s left" once in a line, which is written over. */
static void progress_tells_once_how_long_it_takes(void **state) {
    (void)state;
    check_int(run_on_terminal(WORDS("run", PENDULUM, "--time", "1000", "--dt", "1e-4", "--record", "a.csv"), "xterm",
                              " left", NULL),
              1);
    check(strstr(said, "\r\033[K") != NULL);
    check(strstr(said, "running") != NULL && strstr(said, " left") != NULL);
    for (char *line = strtok(said, "\r\n"); line; line = strtok(NULL, "\r\n"))
        check(occurrences(line, " left") <= 1);
}

/* Emacs' shell, a serial line: no escapes, also not at Ctrl-C. */
static void dumb_terminals_get_no_escapes(void **state) {
    (void)state;
    check_int(run_on_terminal(WORDS("run", PENDULUM, "--time", "1000", "--dt", "1e-4", "--record", "b.csv"), "dumb",
                              NULL, "b.csv"),
              1);
    check(strchr(said, '\033') == NULL);
    check(strstr(said, "stopping as soon as possible") != NULL);
    check(strstr(said, "interrupted at t = ") != NULL);
}

static void files_get_a_line_every_ten_seconds(void **state) {
    (void)state;
    if (!test_long())
        test_skip("takes minutes: ./bough test --long");
    pid_t child = start_with_output(WORDS("run", PENDULUM, "--time", "1000", "--dt", "1e-4", "--record", "a.csv"),
                                    test_path("stdout"));
    const double start = now();
    while (slurp(test_path("stderr"), err, sizeof err), occurrences(err, "... running") < 2) {
        check_below(now() - start, 120);
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    check(now() - start > 19);
    check_int(kill(child, SIGINT), 0);
    int status;
    check(waitpid(child, &status, 0) == child);
    slurp(test_path("stderr"), err, sizeof err);
    check_int(occurrences(err, "... running"), 2);
    check(strchr(err, '\033') == NULL && strchr(err, '\r') == NULL);
}

static void slips_of_the_fingers_are_understood(void **state) {
    (void)state;
    static const char *const slips[][2] = {{"vew", "view"},
                                           {"rnu", "run"},
                                           {"mechanim", "mechanism"},
                                           {"piture", "picture"},
                                           {"cok", "cook"},
                                           {"integrator", "integrators"},
                                           {"compare", "compare-integrators"},
                                           {"modez", "modes"}};
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        char words[80];
        snprintf(words, sizeof words, "did you mean \"%s\"?", slips[i][1]);
        check_mistake(2, words, slips[i][0]);
    }
    check_mistake(2, "see bough --help", "qqqq");
    check_mistake(2, "by the launcher in the folder of the sources: ./bough test", "test");
    check_mistake(2, "./bough setup", "setup");
    check_run(0, "help", "run");
    check(strncmp(out, "Usage: bough run", 16) == 0);
    check_run(0, "help");
    check(strstr(out, "usage: bough COMMAND") != NULL);
}

/* -j is --json and -t is --threads wherever they are. */
static void short_options_mean_one_thing(void **state) {
    (void)state;
    static const char *const commands[] = {
        "mesh",    "modes",     "static",  "cook",      "info",   "run",         "view",
        "replay",  "plot",      "bench",   "demo",      "pack",   "movie",       "picture",
        "damping", "materials", "example", "mechanism", "doctor", "integrators", "compare-integrators"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        check_run(0, commands[i], "--help");
        for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
            const char *j = strstr(line, "-j, "), *t = strstr(line, "-t, ");
            if (j && strncmp(j, "-j, --json", 10) != 0)
                fail_msg("bough %s: %s", commands[i], line);
            if (t && strncmp(t, "-t, --threads", 13) != 0)
                fail_msg("bough %s: %s", commands[i], line);
            if (strstr(line, "      --json") || strstr(line, "      --threads"))
                fail_msg("bough %s: %s has no short form", commands[i], line);
        }
    }
}

static void the_demo_answers_programs(void **state) {
    (void)state;
    json_t *object;
    mkdir(work(""), 0700), mkdir(work("tiny"), 0700);
    make_cooked("tiny/oak", "oak", "50");
    check_json(object, 0, "demo", "-o", "tiny", "--frames", "2", "--leaves", "50", "--json");
    check_int((int)number(object, "frames"), 2);
    check(strcmp(text(object, "film"), "tiny/oak.glb") == 0 && exists("tiny/oak.glb"));
    json_decref(object);
    setenv("BOUGH_LAUNCHER", "./bough", 1);
    check_run(0, "demo", "-o", "tiny", "--frames", "2", "--leaves", "50");
    unsetenv("BOUGH_LAUNCHER");
    check(strstr(out, "Next: ./bough view tiny/oak/scene.json, ./bough example") != NULL);
}

/* Values that a run of the same scene would record for its stress probes. */
static void statics_tell_stress_probes(void **state) {
    (void)state;
    static const char scene[] =
        "{\"bough\": 1, \"object\": {\"mesh\": {\"generate\": \"box\", \"size\": [1, 0.1, 0.1], \"cells\": [10, 1, 1]},"
        " \"material\": {\"young\": 1e6, \"poisson\": 0.3, \"density\": 1000}, \"sets\": {\"a\": {\"elements\": "
        "\"x<0.501\"},"
        " \"b\": {\"elements\": \"x>0.499\"}, \"wall\": {\"vertices\": \"x<0.001\"}}, \"domains\": [\"a\", \"b\"], "
        "\"root\":"
        " \"a\", \"fix\": \"wall\", \"basis\": {\"r\": 6}, \"samples\": {\"stress\": 8}}, \"gravity\": [0, 0, -1],"
        " \"probes\": [{\"name\": \"tip\", \"part\": \"b\"}, {\"name\": \"foot\", \"part\": \"a\", \"stress_at\": "
        "[0.05, 0.05, 0.1]}]}";
    json_t *object;
    mkdir(work(""), 0700);
    test_write(work("stress.json"), scene, sizeof scene - 1);
    check_json(object, 0, "static", "stress.json", "--json");
    const json_t *foot = json_object_get(json_object_get(object, "probes"), "foot");
    check(number(foot, "von_mises") > 10);
    check(item(foot, "principal", 0) >= item(foot, "principal", 1) &&
          item(foot, "principal", 1) >= item(foot, "principal", 2));
    check(json_object_get(json_object_get(object, "probes"), "tip") != NULL);
    json_decref(object);
    check_run(0, "static", "stress.json");
    check(strstr(out, "probe foot") != NULL && strstr(out, "von Mises") != NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_tells_once_how_long_it_takes),
        cmocka_unit_test(dumb_terminals_get_no_escapes),
        cmocka_unit_test(files_get_a_line_every_ten_seconds),
        cmocka_unit_test(slips_of_the_fingers_are_understood),
        cmocka_unit_test(short_options_mean_one_thing),
        cmocka_unit_test(the_demo_answers_programs),
        cmocka_unit_test(statics_tell_stress_probes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
