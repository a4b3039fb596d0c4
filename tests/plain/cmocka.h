/* The part of cmocka that tests of the runtime use, for machines without it. A program with BOUGH_TEST=N in its environment
 * runs the test of this number and ends where that fails or is skipped, with no need for longjmp(). Without BOUGH_TEST
 * it runs each of its tests in a process of its own, and closes with cmocka's counts, which tools/run_tests.sh reads;
 * or lists them, as WebAssembly, which has no processes: wasm/tests/run_tests.mjs starts each by itself. */
#ifndef BOUGH_PLAIN_CMOCKA_H
#define BOUGH_PLAIN_CMOCKA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef __wasm__
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { TEST_PASSED = 0, TEST_FAILED = 1, TEST_SKIPPED = 77 };

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};
#define cmocka_unit_test(function) \
    { #function, function }

#define fail_msg(...)                       \
    do {                                    \
        printf(__VA_ARGS__), putchar('\n'); \
        exit(TEST_FAILED);                  \
    } while (0)
#define print_message printf
#define skip() exit(TEST_SKIPPED)
#define assert_non_null(pointer)                                         \
    do {                                                                 \
        if (!(pointer))                                                  \
            fail_msg("%s:%d: %s is NULL", __FILE__, __LINE__, #pointer); \
    } while (0)
#define assert_memory_equal(a, b, size)                                      \
    do {                                                                     \
        if (memcmp(a, b, size) != 0)                                         \
            fail_msg("%s:%d: %s and %s differ", __FILE__, __LINE__, #a, #b); \
    } while (0)

#define cmocka_run_group_tests(tests, before, after) \
    test_run_group(sizeof(tests) / sizeof *(tests), tests, before, after)

static inline int test_run_one(const struct CMUnitTest *test, int (*before)(void **), int (*after)(void **)) {
    void *state = NULL;
    if (before && before(&state) != 0)
        return TEST_FAILED;
    test->run(&state);
    return after ? after(&state) : TEST_PASSED;
}

#ifdef __wasm__
static inline int test_run_all(size_t count, const struct CMUnitTest *tests, int (*before)(void **),
                               int (*after)(void **)) {
    (void)before, (void)after;
    for (size_t i = 0; i < count; i++)
        puts(tests[i].name);
    return TEST_PASSED;
}
#else
static inline int test_run_all(size_t count, const struct CMUnitTest *tests, int (*before)(void **),
                               int (*after)(void **)) {
    int passed = 0, failed = 0, skipped = 0;
    for (size_t i = 0; i < count; i++) {
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            exit(test_run_one(&tests[i], before, after));
        int status = -1;
        if (child > 0)
            waitpid(child, &status, 0);
        const int code = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : TEST_FAILED;
        passed += code == TEST_PASSED, skipped += code == TEST_SKIPPED;
        if (code != TEST_PASSED && code != TEST_SKIPPED)
            printf("%s failed\n", tests[i].name), failed++;
    }
    printf("[  PASSED  ] %d test(s).\n[  SKIPPED ] %d test(s).\n[  FAILED  ] %d test(s).\n", passed, skipped, failed);
    return failed > 0 ? TEST_FAILED : TEST_PASSED;
}
#endif

static inline int test_run_group(size_t count, const struct CMUnitTest *tests, int (*before)(void **),
                                 int (*after)(void **)) {
    const char *wish = getenv("BOUGH_TEST");
    if (!wish)
        return test_run_all(count, tests, before, after);
    const size_t number = (size_t)atoi(wish);
    return number < count ? test_run_one(&tests[number], before, after) : TEST_FAILED;
}

#endif
