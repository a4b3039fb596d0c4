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
    /* ninja -C BUILD TARGET: two at a time would see each other's mark */
    {"ninja", "if ! mkdir \"$2/busy\"; then echo overlap >>\"$LOG\"; fi; echo \"ninja $*\" >>\"$LOG\"; sleep "
              "${NINJA_SLEEPS:-0.2}; "
              "echo '[1/2] Building C object x.o'; test -z \"$NINJA_FAILS\" || { echo 'x.c:1: error: no'; exit 7; }; "
              "printf '#!/bin/sh\\necho ran \"$@\"\\n' >\"$2/bough\"; chmod +x \"$2/bough\"; rmdir \"$2/busy\""},
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
    if (shell("rm -rf bin few tree moved link log && mkdir bin 'tree' && cp '%s/bough' tree/bough", BOUGH_SOURCE_DIR))
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

/* The launcher shows errors and the progress of a build, but not every file of it. */
static void builds_tell_what_matters(void **state) {
    (void)state;
    check_int(
        shell("tree/bough x 2>err >/dev/null && grep -q 'the first time takes' err && ! grep -q 'Building C' err"), 0);
    check_int(shell("! NINJA_FAILS=1 tree/bough x 2>err >/dev/null && grep -q 'error: no' err"), 0);
    if (test_long())
        check_int(shell("rmdir tree/build/busy; NINJA_SLEEPS=11 tree/bough x 2>err && grep -q '^bough: building' err"),
                  0);
}

/* CMake may have looked before somebody installed what the Python package needs. */
static void what_python_needs_may_come_later(void **state) {
    (void)state;
    check_int(
        shell("mkdir -p tree/tests/python tree/tools && printf '#!/bin/sh\\n' >tree/tools/run_tests.sh && "
              "chmod +x tree/tools/run_tests.sh && tree/bough test python >out 2>&1 && ! grep -q bough_python log"),
        0);
    check_int(
        shell("sed -i 's/^touch.*\\|touch .*/echo bough_python_package >\"$4\\/build.ninja\"/' bin/cmake && : >log && "
              "tree/bough test python >out 2>&1 && grep -q 'cmake -S' log && "
              "grep -q '^ninja .* bough bough_python_package$' log"),
        0);
}

static void setup_explains_itself(void **state) {
    (void)state;
    check_int(shell("tree/bough setup --help >out 2>err && grep -q 'usage: ./bough setup' out && ! test -s err"), 0);
    check_int(shell("tree/bough setup -h >out && grep -q calculix out && ! test -e log"), 0);
    check_int(shell("tree/bough setup nonsense 2>err; test $? = 2 && grep -q 'there is no group' err && ! test -e log"),
              0);
}

/* Node and npm of another origin than Debian serve as well, which has no packages of them installed then. */
static void others_node_and_npm_will_do(void **state) {
    (void)state;
    check_int(shell("sed -i 's/in -\\*)/in -*|nodejs|npm)/' bin/dpkg-query && mkdir tree/viewer few && "
                    "echo 1 >tree/viewer/package-lock.json && "
                    "for p in sh sed tr mkdir dirname cat cp cmp tail grep id env readlink touch chmod; do "
                    "ln -s $(command -v $p) few/$p; done && cp bin/dpkg-query few/dpkg-query"),
              0);
    check_int(
        shell("printf '#!/bin/sh\nmkdir -p node_modules\n' >few/npm && cp few/npm few/node && chmod +x few/* && "
              "cp bin/apt-get few/apt-get && PATH=\"$PWD/few\" tree/bough setup wasm node 2>err && ! test -e log"),
        0);
    /* Each of them is looked for by itself. */
    check_int(
        shell("rm -r few/npm tree/viewer/node_modules && printf '#!/bin/sh\necho \"$*\" >>\"$LOG\"\n' >few/apt-get && "
              "ln -s $(command -v true) few/sudo; PATH=\"$PWD/few\" tree/bough setup node 2>err; "
              "grep -q 'installing npm $' err && ! grep -q nodejs err"),
        0);
}

/* The program tells users to type what they typed. */
static void the_program_knows_how_it_was_started(void **state) {
    (void)state;
    check_int(shell("tree/bough x >/dev/null 2>&1; printf '#!/bin/sh\\necho $BOUGH_LAUNCHER\\n' >tree/build/bough; "
                    "printf '#!/bin/sh\\n' >bin/ninja; test \"$(tree/bough x 2>/dev/null)\" = tree/bough"),
              0);
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
        test_skip("flock is not installed");
    check_int(shell("tree/bough a >/dev/null 2>&1 & tree/bough b >/dev/null 2>&1; first=$?; wait $! && exit $first"),
              0);
    check_int(shell("! grep -q overlap log && test $(grep -c cmake log) = 1"), 0);
}

static void anothers_build_is_run_as_it_is(void **state) {
    (void)state;
    if (geteuid() == 0)
        test_skip("root can write everywhere"); /* root can write everywhere */
    check_int(shell("tree/bough a >/dev/null 2>&1 && chmod a-w tree/build && tree/bough b >/dev/null 2>&1; s=$?; "
                    "chmod u+w tree/build; exit $s"),
              0);
    check_int(shell("test $(grep -c ninja log) = 1"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(arguments_and_exit_status_pass_through, set_up),
        cmocka_unit_test_setup(it_is_configured_once, set_up),
        cmocka_unit_test_setup(builds_tell_what_matters, set_up),
        cmocka_unit_test_setup(what_python_needs_may_come_later, set_up),
        cmocka_unit_test_setup(setup_explains_itself, set_up),
        cmocka_unit_test_setup(others_node_and_npm_will_do, set_up),
        cmocka_unit_test_setup(the_program_knows_how_it_was_started, set_up),
        cmocka_unit_test_setup(links_lead_to_it, set_up),
        cmocka_unit_test_setup(a_copied_folder_is_configured_anew, set_up),
        cmocka_unit_test_setup(two_do_not_build_at_a_time, set_up),
        cmocka_unit_test_setup(anothers_build_is_run_as_it_is, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
