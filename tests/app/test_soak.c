/* The flower, shaken for millions of steps: no memory is asked for, and the bits are those of another run and of two
 * threads. */
#include "shaken.h"

#include <stdatomic.h>

static const double dt = 1.0 / 240;
static int64_t steps;

static const double most_pages = 64; /* that may come to be resident late: parts of the program itself */

enum { LOOKS = 40 };
typedef struct {
    uint64_t hash[LOOKS];
    long calls; /* of the allocator, after the second step */
    long first_pages, last_pages;
} soaked;

/* Components are read by several threads. */
typedef struct {
    atomic_long live, calls;
} counter;

static void *count_allocation(void *user, size_t size) {
    counter *c = user;
    c->calls++;
    c->live++;
    return malloc(size);
}
static void *count_reallocation(void *user, void *block, size_t size) {
    counter *c = user;
    c->calls++;
    c->live += !block;
    return realloc(block, size);
}
static void count_release(void *user, void *block) {
    ((counter *)user)->live--;
    free(block);
}

static bough_context *counting_context(counter *c, int32_t threads) {
    bough_context_def def = bough_default_context_def();
    def.allocate = count_allocation, def.reallocate = count_reallocation, def.release = count_release;
    def.memory_user = c;
    def.thread_count = threads;
    bough_context *ctx = bough_context_create(&def);
    check(ctx != NULL);
    return ctx;
}

/* Pages of this program that are in memory. */
static long resident_pages(void) {
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    check(f != NULL);
    check_int(fscanf(f, "%ld %ld", &size, &resident), 2);
    fclose(f);
    return resident;
}

static uint64_t add_to_hash(uint64_t hash, const double *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Hash of the flower's place and motion. */
static uint64_t hash_of(const shaken *s) {
    const size_t n = (size_t)bough_tree_model_size(s->model), parts = (size_t)bough_tree_model_part_count(s->model);
    uint64_t hash = add_to_hash(1, s->state->q, n);
    hash = add_to_hash(hash, s->state->v, n);
    hash = add_to_hash(hash, s->state->a, n);
    return add_to_hash(hash, (const double *)s->state->frames, parts * sizeof(bough_frame) / sizeof(double));
}

static soaked soak(const char *path, int32_t threads, const soaked *other) {
    counter memory = {0};
    shaken s = start_shaking(counting_context(&memory, threads), path, 0.2, 11);
    soaked result = {.calls = 0};
    const double start = seconds_now();
    long calls = 0;
    for (int64_t i = 1; i <= steps; i++) {
        shake(&s, dt);
        if (i == 2)
            calls = memory.calls;
        if (i % (steps / LOOKS))
            continue;
        const int64_t look = i / (steps / LOOKS) - 1;
        result.hash[look] = hash_of(&s);
        if (look == 0)
            result.first_pages = resident_pages();
        if (other && other->hash[look] != result.hash[look])
            fail_msg("%d threads lead to other bits within %lld steps", threads, (long long)i);
        if (test_long() && look % 10 == 9)
            print_message("%lld steps, %d threads: %016llx\n", (long long)i, threads,
                          (unsigned long long)result.hash[look]);
    }
    result.calls = memory.calls - calls;
    result.last_pages = resident_pages();
    print_message("%lld steps, %d threads: %.0f s, %d pulls, %lld steps refused, %ld allocations after the second, %ld "
                  "pages resident after 1/%d and %ld at the end, hash %016llx\n",
                  (long long)steps, threads, seconds_now() - start, s.pulls, (long long)s.refused, result.calls,
                  result.first_pages, LOOKS, result.last_pages, (unsigned long long)result.hash[LOOKS - 1]);
    bough_context *ctx = s.ctx;
    stop_shaking(&s);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
    return result;
}

static void nothing_drifts(void **state) {
    (void)state;
    const char *path = make_cooked("flower", "flower", NULL);
    const soaked one = soak(path, 1, NULL), two = soak(path, 2, &one);
    check(one.hash[0] != one.hash[LOOKS - 1]);
    check_int(one.calls, 0);
    check_int(two.calls, 0);
    check_below((double)(one.last_pages - one.first_pages), most_pages);
    check_below((double)(two.last_pages - two.first_pages), most_pages);
}

/* The first word: how many steps. */
int main(int count, char **words) {
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    steps = count > 1 ? atol(words[1]) / LOOKS * LOOKS : test_long() ? 4000000 : 20000;
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_drifts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
