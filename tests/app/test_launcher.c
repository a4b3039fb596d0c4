/* The launcher ./bough in a folder of its own, with stand-ins for the package database, CMake and Ninja that write down
 * how they were called. */
#include "test.h"

#include <sys/wait.h>

static const char *const stand_ins[][2] = {
    /* every package is installed */
    {"dpkg-query", "for p in \"$@\"; do case $p in -*) ;; *) echo \"installed $p\" ;; esac; done"},
    {"apt-get", "echo apt-get >>\"$LOG\""},
    /* cmake -S ROOT -B BUILD ... */
    {"cmake", "echo \"cmake $*\" >>\"$LOG\"; echo \"CMAKE_HOME_DIRECTORY:INTERNAL=$2\" >\"$4/CMakeCache.txt\"; "
              "touch \"$4/build.ninja\""},
    /* ninja --quiet -C BUILD TARGET: two at a time would see each other's mark */
    {"ninja", "if ! mkdir \"$3/busy\"; then echo overlap >>\"$LOG\"; fi; echo ninja >>\"$LOG\"; sleep 0.2; "
              "printf '#!/bin/sh\\necho ran \"$@\"\\n' >\"$3/bough\"; chmod +x \"$3/bough\"; rmdir \"$3/busy\""},
};

/* Runs a shell command in the test's folder with the stand-ins first in PATH; the exit status. */
static int shell(const char *format, ...) {
    char command[2048], line[3072];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line, "cd '%s' && export LOG=\"$PWD/log\" PATH=\"$PWD/bin:$PATH\" && { %s ; }", test_path(""),
             command);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int set_up(void **state) {
    (void)state;
    if (shell("rm -rf bin tree moved link log && mkdir bin 'tree' && cp '%s/bough' tree/bough", BOUGH_SOURCE_DIR))
        return -1;
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        if (shell("cat >bin/%s <<'END'\n#!/bin/sh\n%s\nEND\nchmod +x bin/%s", stand_ins[i][0], stand_ins[i][1],
                  stand_ins[i][0]))
            return -1;
    return 0;
}

static void arguments_and_exit_status_pass_through(void **state) {
    (void)state;
    check_int(shell("test \"$(tree/bough static 'a b' 2>/dev/null)\" = 'ran static a b'"), 0);
    check_int(shell("! grep -q apt-get log"), 0);
    check_int(shell("printf '#!/bin/sh\\nexit 7\\n' >bin/ninja; tree/bough x 2>/dev/null"), 1);
}

static void it_is_configured_once(void **state) {
    (void)state;
    check_int(shell("tree/bough a >/dev/null 2>&1 && tree/bough b >/dev/null 2>&1"), 0);
    check_int(shell("test $(grep -c cmake log) = 1 && test $(grep -c ninja log) = 2"), 0);
}

static void links_lead_to_it(void **state) {
    (void)state;
    check_int(shell("mkdir link && ln -s ../tree/bough link/one && ln -s \"$PWD/link/one\" link/two && "
                    "test \"$(link/two x 2>/dev/null)\" = 'ran x' && test -x tree/build/bough"),
              0);
}

/* The files of a build name the sources by their full path: a copy would go on building the original. */
static void a_copied_folder_is_configured_anew(void **state) {
    (void)state;
    check_int(shell("tree/bough a >/dev/null 2>&1 && cp -r tree moved && moved/bough a >/dev/null 2>&1"), 0);
    check_int(shell("test $(grep -c cmake log) = 2 && grep -q '^cmake -S .*/moved ' log"), 0);
}

static void two_do_not_build_at_a_time(void **state) {
    (void)state;
    if (shell("command -v flock >/dev/null"))
        skip();
    check_int(shell("tree/bough a >/dev/null 2>&1 & tree/bough b >/dev/null 2>&1; first=$?; wait $! && exit $first"),
              0);
    check_int(shell("! grep -q overlap log && test $(grep -c cmake log) = 1"), 0);
}

static void anothers_build_is_run_as_it_is(void **state) {
    (void)state;
    if (geteuid() == 0)
        skip(); /* root can write everywhere */
    check_int(shell("tree/bough a >/dev/null 2>&1 && chmod a-w tree/build && tree/bough b >/dev/null 2>&1; s=$?; "
                    "chmod u+w tree/build; exit $s"),
              0);
    check_int(shell("test $(grep -c ninja log) = 1"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(arguments_and_exit_status_pass_through, set_up),
        cmocka_unit_test_setup(it_is_configured_once, set_up),
        cmocka_unit_test_setup(links_lead_to_it, set_up),
        cmocka_unit_test_setup(a_copied_folder_is_configured_anew, set_up),
        cmocka_unit_test_setup(two_do_not_build_at_a_time, set_up),
        cmocka_unit_test_setup(anothers_build_is_run_as_it_is, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
