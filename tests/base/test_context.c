/* The smallest example that works, and the promises of the context: messages, hooks, memory that is all given back. */
#include "test.h"

#include "base/arena.h"
#include "base/idmap.h"
#include "base/pool.h"
#include "base/threads.h"

#ifndef BO_ONE_THREAD
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#endif

static void hello_world(void **state) {
    (void)state;
    bough_context *ctx = bough_context_create(NULL);
    check(ctx != NULL);
    check(bough_message(ctx)[0] == 0);
    check(bough_thread_count(ctx) >= 1);
    bough_context_destroy(ctx);
    bough_context_destroy(NULL);
}

static void uninitialised_def_is_caught(void **state) {
    (void)state;
    bough_context_def def;
    memset(&def, 0, sizeof def);
    check(bough_context_create(&def) == NULL);
}

static void last_message_is_kept(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check_fails(ctx, bo_fail(ctx, BOUGH_ERROR_FORMAT, "row %d", 41), BOUGH_ERROR_FORMAT, "row 41");
    bo_prefix_message(ctx, "%s: ", "a.msh");
    check(strcmp(bough_message(ctx), "a.msh: row 41") == 0);
    bough_context_destroy(ctx);
}

/* The words of a file may be meant for the terminal that shows the sentence. */
static void sentences_have_no_control_characters(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_fail(ctx, BOUGH_ERROR_FORMAT, "a\x1b[31mb\r\nc\x7f%s",
            "\xC2\x9B"
            "1m \xC3\x9B \xC2\xA0");
    check(strcmp(bough_message(ctx), "a [31mb  c   1m \xC3\x9B \xC2\xA0") == 0);
    bo_prefix_message(ctx, "x\ty\xC2\x80: ");
    check(strncmp(bough_message(ctx), "x y  : a [31mb", 14) == 0);
    bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s", "cut off \xC2");
    check(strcmp(bough_message(ctx), "cut off \xC2") == 0);
    bough_context_destroy(ctx);
}

static bool count_and_stop(void *user, const bough_progress *progress) {
    return progress->what[0] && ++*(int *)user < 2;
}

static void who_looks_on_can_change(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    int reports = 0;
    check(bo_progress(ctx, "working", 0, "%d", 1));
    bough_context_set_progress(ctx, count_and_stop, &reports);
    check(bo_progress(ctx, "working", 0, "%d", 1));
    check(!bo_progress(ctx, "working", 0, "%d", 2));
    bough_context_set_progress(ctx, NULL, NULL);
    check(bo_progress(ctx, "working", 0, "%d", 3));
    check_int(reports, 2);
    bough_context_destroy(ctx);
}

static void allocation_sizes_cannot_overflow(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check(bo_alloc(ctx, SIZE_MAX / 2, 3) == NULL);
    check(bo_calloc(ctx, SIZE_MAX, SIZE_MAX) == NULL);
    check(BO_NEW_ARRAY(ctx, double, ((int64_t)1 << 61) + 1) == NULL); /* its last 32 bits alone are a count of one */
    void *empty = bo_alloc(ctx, 0, 8);
    check(empty != NULL);
    bo_free(ctx, empty);
    bough_context_destroy(ctx);
}

static void every_failed_allocation_is_survived(void **state) {
    (void)state;
    for (long fail_at = 0; fail_at < 4; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context_def def = bough_default_context_def();
        def.allocate = test_allocate, def.reallocate = test_reallocate, def.release = test_give_back;
        def.memory_user = &memory;
        def.thread_count = 3;
        bough_context *ctx = bough_context_create(&def);
        check((ctx == NULL) == (fail_at < (BO_HAS_THREADS ? 3 : 1))); /* the context, its pool, the pool's threads */
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
}

static void arena_aligns_and_refuses(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_arena arena;
    check_ok(ctx, bo_arena_create(ctx, &arena, "scratch", 1000));
    char *a = bo_arena_take(ctx, &arena, 3, 1);
    size_t mark = bo_arena_mark(&arena);
    double *b = bo_arena_take(ctx, &arena, 10, sizeof *b);
    check(a && b && (uintptr_t)b % 64 == 0);
    check(bo_arena_take(ctx, &arena, 1000, 1) == NULL);
    check(strstr(bough_message(ctx), "scratch") != NULL);
    bo_arena_release(&arena, mark);
    check(bo_arena_take(ctx, &arena, 10, sizeof *b) == b);
    check(bo_arena_take(ctx, &arena, SIZE_MAX, 16) == NULL);
    bo_arena_destroy(ctx, &arena);
    bough_context_destroy(ctx);
}

static void add_inverse(void *data, int32_t begin, int32_t end, int32_t chunk) {
    double *partial = data, sum = 0;
    for (int32_t i = begin; i < end; i++)
        sum += 1.0 / (1 + i);
    partial[chunk] = sum;
}

static double harmonic(bough_context *ctx) {
    enum { COUNT = 100003, GRAIN = 1000 };
    double partial[COUNT / GRAIN + 1], sum = 0;
    bo_parallel_for(ctx, COUNT, GRAIN, add_inverse, partial);
    for (int32_t i = 0; i < bo_chunk_count(COUNT, GRAIN); i++)
        sum += partial[i];
    return sum;
}

static void host_tasks(void *user, bough_task task, void *data, int32_t count) {
    ++*(int *)user;
    for (int32_t i = count - 1; i >= 0; i--) /* another order on purpose */
        task(data, i);
}

static void sums_have_the_same_bits_for_any_thread_count(void **state) {
    (void)state;
    bough_context *one = test_context(1);
    double expected = harmonic(one);
    bough_context_destroy(one);
    for (int32_t threads = 2; threads <= 5; threads++) {
        bough_context *ctx = test_context(threads);
        for (int repeat = 0; repeat < 200; repeat++)
            check(harmonic(ctx) == expected);
        bough_context_destroy(ctx);
    }
    int calls = 0;
    bough_context_def def = bough_default_context_def();
    def.run_tasks = host_tasks, def.tasks_user = &calls;
    bough_context *ctx = bough_context_create(&def);
    check(harmonic(ctx) == expected);
    check_int(calls, 1);
    bough_context_destroy(ctx);
}

static void mark(void *data, int32_t i) {
    ((unsigned char *)data)[i]++;
}

/* More tasks than the pool counts at a time, and counts at which threads come too late: each is done once. */
static void every_task_is_done_once(void **state) {
    (void)state;
    enum { MOST = (1 << 20) + 5 };
    static const int32_t counts[] = {0, 1, 2, 3, 1000, (1 << 19) - 2, (1 << 19) - 1, 1 << 19, (1 << 20) - 2, MOST};
    bough_context *ctx = test_context(4);
    unsigned char *done = malloc(MOST);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        memset(done, 0, MOST);
        bo_run_tasks(ctx, mark, done, counts[k]);
        for (int32_t i = 0; i < MOST; i++)
            check_int(done[i], i < counts[k]);
    }
    free(done);
    bough_context_destroy(ctx);
}

#ifndef BO_ONE_THREAD
/* Threads stay with the parent: in its child the same contexts give the same sums, and can be destroyed. */
static void a_child_process_goes_on_with_a_context(void **state) {
    (void)state;
    bough_context *ctx = test_context(3);
    const double expected = harmonic(ctx);
    const struct timespec while_they_sleep = {.tv_nsec = 20000000};
    nanosleep(&while_they_sleep, NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        bool same = true;
        for (int repeat = 0; repeat < 20; repeat++)
            same = same && harmonic(ctx) == expected;
        bough_context_destroy(ctx);
        _exit(same ? 0 : 1);
    }
    int status = -1;
    check(waitpid(child, &status, 0) == child);
    check_int(status, 0);
    check(harmonic(ctx) == expected);
    bough_context_destroy(ctx);
}
#endif

/* Nobody has a million processors; what they would take at once is more than a machine has. */
static void threads_have_a_limit(void **state) {
    (void)state;
    bough_context *one = test_context(1), *many = test_context(1000000);
    check(harmonic(many) == harmonic(one));
    bough_context_destroy(many);
    bough_context_destroy(one);
}

static void idmap_finds_what_was_added(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_idmap map = {0};
    int32_t found;
    check_int(bo_idmap_find(&map, 5), -1);
    for (int32_t i = 0; i < 5000; i++) {
        check_ok(ctx, bo_idmap_add(ctx, &map, (int64_t)i * 1000003 - 7, i, &found));
        check_int(found, -1);
    }
    for (int32_t i = 0; i < 5000; i++)
        check_int(bo_idmap_find(&map, (int64_t)i * 1000003 - 7), i);
    check_ok(ctx, bo_idmap_add(ctx, &map, -7, 9, &found));
    check_int(found, 0);
    check_int(bo_idmap_find(&map, 1), -1);
    bo_idmap_free(ctx, &map);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_world),
        cmocka_unit_test(uninitialised_def_is_caught),
        cmocka_unit_test(last_message_is_kept),
        cmocka_unit_test(sentences_have_no_control_characters),
        cmocka_unit_test(who_looks_on_can_change),
        cmocka_unit_test(allocation_sizes_cannot_overflow),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(arena_aligns_and_refuses),
        cmocka_unit_test(sums_have_the_same_bits_for_any_thread_count),
        cmocka_unit_test(every_task_is_done_once),
#ifndef BO_ONE_THREAD
        cmocka_unit_test(a_child_process_goes_on_with_a_context),
#endif
        cmocka_unit_test(threads_have_a_limit),
        cmocka_unit_test(idmap_finds_what_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
