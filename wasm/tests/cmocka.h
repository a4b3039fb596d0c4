/* What the tests of the runtime use of cmocka, for WebAssembly, which has no longjmp(): a program lists its tests, or runs
 * the one whose number it is given, and ends where that fails or is skipped. run_tests.mjs starts each by itself. */
#ifndef BOUGH_WASM_CMOCKA_H
#define BOUGH_WASM_CMOCKA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
#define assert_non_null(pointer)                                               \
    do {                                                                       \
        if (!(pointer))                                                        \
            fail_msg("%s:%d: %s is NULL", __FILE__, __LINE__, #pointer);       \
    } while (0)
#define assert_memory_equal(a, b, size)                                        \
    do {                                                                       \
        if (memcmp(a, b, size) != 0)                                           \
            fail_msg("%s:%d: %s and %s differ", __FILE__, __LINE__, #a, #b);   \
    } while (0)

#define cmocka_run_group_tests(tests, before, after) \
    test_run_one(sizeof(tests) / sizeof *(tests), tests, before, after)

static inline int test_run_one(size_t count, const struct CMUnitTest *tests, int (*before)(void **),
                               int (*after)(void **)) {
    const char *wish = getenv("BOUGH_TEST");
    void *state = NULL;
    if (!wish) {
        for (size_t i = 0; i < count; i++)
            puts(tests[i].name);
        return TEST_PASSED;
    }
    const size_t number = (size_t)atoi(wish);
    if (number >= count || (before && before(&state) != 0))
        return TEST_FAILED;
    tests[number].run(&state);
    return after ? after(&state) : TEST_PASSED;
}

#endif
