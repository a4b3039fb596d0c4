/* Helpers of all tests: cmocka, a context, comparisons that print their values on one line, random numbers, a folder
 * for files, the reference data when it is there, and an allocator that fails on demand. */
#ifndef BOUGH_TEST_H
#define BOUGH_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bough/base.h>

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sanitizers make code several times slower, and take address space and memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif

/* A failing check prints file:line, the expressions and their values, then ends the test. */
/* Gives a model, a state or a world the weight that things have on Earth. */
static inline void test_weigh(double gravity[3]) {
    gravity[0] = gravity[1] = 0, gravity[2] = -9.81;
}

#define check(condition)                                                         \
    do {                                                                         \
        if (!(condition))                                                        \
            fail_msg("%s:%d: check(%s) failed", __FILE__, __LINE__, #condition); \
    } while (0)

#define check_int(actual, expected)                                                                       \
    do {                                                                                                  \
        long long check_a_ = (long long)(actual), check_b_ = (long long)(expected);                       \
        if (check_a_ != check_b_)                                                                         \
            fail_msg("%s:%d: %s = %lld, expected %lld", __FILE__, __LINE__, #actual, check_a_, check_b_); \
    } while (0)

/* With BOUGH_SLACK=FILE every limit adds the share of it that was used to the file, as often as that grows by half:
 * tools/slack.sh lists those that allow far more than they need. */
static inline double test_slack(double worst, double used, double allowed, const char *file, int line) {
    static const char *path;
    static bool asked;
    if (!asked)
        path = getenv("BOUGH_SLACK"), asked = true;
    if (!path || !(allowed > 0) || !(used >= 0) || used / allowed <= 1.5 * worst)
        return worst;
    FILE *f = fopen(path, "a");
    if (f)
        fprintf(f, "%s:%d %.3g %.3g\n", file, line, used, allowed), fclose(f);
    return used / allowed;
}

/* |actual - expected| <= tolerance, absolute. */
#define check_near(actual, expected, tolerance)                                                                \
    do {                                                                                                       \
        static double check_worst_ = -1;                                                                       \
        double check_a_ = (actual), check_b_ = (expected), check_t_ = (tolerance);                             \
        check_worst_ = test_slack(check_worst_, fabs(check_a_ - check_b_), check_t_, __FILE__, __LINE__);      \
        if (!(fabs(check_a_ - check_b_) <= check_t_))                                                          \
            fail_msg("%s:%d: %s = %.17g, expected %.17g, difference %.3g > %.3g", __FILE__, __LINE__, #actual, \
                     check_a_, check_b_, fabs(check_a_ - check_b_), check_t_);                                 \
    } while (0)

/* actual <= limit, and a number. */
#define check_below(actual, limit)                                                                                 \
    do {                                                                                                           \
        static double check_worst_ = -1;                                                                           \
        double check_a_ = (actual), check_b_ = (limit);                                                            \
        check_worst_ = test_slack(check_worst_, check_a_, check_b_, __FILE__, __LINE__);                           \
        if (!(check_a_ <= check_b_))                                                                               \
            fail_msg("%s:%d: %s = %.6g, should be at most %.6g", __FILE__, __LINE__, #actual, check_a_, check_b_); \
    } while (0)

#define check_ok(ctx, call)                                                                        \
    do {                                                                                           \
        bough_status check_s_ = (call);                                                            \
        if (check_s_ != BOUGH_OK)                                                                  \
            fail_msg("%s:%d: %s: %s (%s)", __FILE__, __LINE__, #call, bough_status_name(check_s_), \
                     bough_message(ctx));                                                          \
    } while (0)

/* The call fails with this status and a message that contains `part`. */
#define check_fails(ctx, call, expected_status, part)                                                              \
    do {                                                                                                           \
        bough_status check_s_ = (call);                                                                            \
        if (check_s_ != (expected_status) || !strstr(bough_message(ctx), (part)))                                  \
            fail_msg("%s:%d: %s: expected %s with \"%s\", got %s with \"%s\"", __FILE__, __LINE__, #call,          \
                     bough_status_name(expected_status), (part), bough_status_name(check_s_), bough_message(ctx)); \
    } while (0)

static inline bough_context *test_context(int32_t threads) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = threads;
    bough_context *ctx = bough_context_create(&def);
    if (!ctx)
        fail_msg("no context");
    return ctx;
}

/* Skips the test that is running and says why; tools/run_tests.sh gathers these lines. */
#define test_skip(...)               \
    do {                             \
        fputs("skipped: ", stdout);  \
        printf(__VA_ARGS__);         \
        printf(" (%s)\n", __func__); \
        fflush(stdout);              \
        skip();                      \
    } while (0)

/* True in ./bough test --long: more random states, comparisons that take minutes. */
static inline bool test_long(void) {
    const char *wish = getenv("BOUGH_LONG");
    return wish && wish[0] == '1';
}

/* Repeatable random numbers (splitmix64). */
typedef struct test_random {
    uint64_t state;
} test_random;

static inline uint64_t test_bits(test_random *r) {
    uint64_t z = (r->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
/* Uniform in [lower, upper). */
static inline double test_uniform(test_random *r, double lower, double upper) {
    return lower + (upper - lower) * (double)(test_bits(r) >> 11) * 0x1p-53;
}

#ifndef TEST_FOLDERS
#define TEST_FOLDERS "/tmp"
#endif
/* The temporary folder of this program, made when first asked for and removed at exit. */
static char test_folder[64];
static pid_t test_folder_owner; /* a forked child leaves it alone */

static inline int test_remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}
static inline void test_remove_folder(void) {
    enum { OPEN_FOLDERS = 16 };
    if (getpid() == test_folder_owner)
        nftw(test_folder, test_remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
static inline void test_make_folder(void) {
    snprintf(test_folder, sizeof test_folder, "%s/bough-test-XXXXXX", TEST_FOLDERS);
    if (!mkdtemp(test_folder))
        fail_msg("no temporary folder");
    test_folder_owner = getpid();
    atexit(test_remove_folder);
}

/* Path of a file in the temporary folder; valid until called 8 times more. */
static inline const char *test_path(const char *name) {
    static char paths[8][192];
    static int next;
    if (!test_folder[0])
        test_make_folder();
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_folder, name);
    return path;
}

static inline void test_write(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        fail_msg("cannot write %s", path);
}
static inline void test_write_text(const char *path, const char *text) {
    test_write(path, text, strlen(text));
}

/* All of a file, with a zero behind it, to be freed; size may be NULL. */
static inline unsigned char *test_read(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot read %s", path);
    fseek(f, 0, SEEK_END);
    const size_t length = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = calloc(1, length + 1);
    if (!bytes || fread(bytes, 1, length, f) != length)
        fail_msg("cannot read all of %s", path);
    fclose(f);
    if (size)
        *size = length;
    return bytes;
}

/* Path of a file of the reference data beside the repository, or NULL when it is not there (then skip()). */
static inline const char *test_shared(const char *name) {
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/../shared/%s", BOUGH_SOURCE_DIR, name);
    return access(path, R_OK) == 0 ? path : NULL;
}

/* Counts live blocks, remembers the largest request and fails the allocation number `fail_at` (from 0; negative:
 * never). */
typedef struct test_memory {
    long live, calls, fail_at;
    size_t largest;
} test_memory;

static inline void *test_allocate(void *user, size_t size) {
    test_memory *m = user;
    m->largest = size > m->largest ? size : m->largest;
    if (m->calls++ == m->fail_at)
        return NULL;
    void *block = malloc(size);
    m->live += block != NULL;
    return block;
}
static inline void *test_reallocate(void *user, void *block, size_t size) {
    test_memory *m = user;
    if (!block)
        return test_allocate(user, size);
    m->largest = size > m->largest ? size : m->largest;
    return m->calls++ == m->fail_at ? NULL : realloc(block, size);
}
static inline void test_give_back(void *user, void *block) {
    ((test_memory *)user)->live--;
    free(block);
}
static inline bough_context *test_counting_context(test_memory *memory) {
    bough_context_def def = bough_default_context_def();
    def.allocate = test_allocate, def.reallocate = test_reallocate, def.release = test_give_back;
    def.memory_user = memory;
    def.thread_count = 1;
    return bough_context_create(&def);
}

#endif
