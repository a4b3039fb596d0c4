/* Jobs with contexts of their own: order, failures, cancellation, warnings, memory. */
#include "test.h"

#include "base/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { JOBS = 12 };

static void nap(long milliseconds) {
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
}

/* State that jobs share with the test. */
typedef struct {
    atomic_int begun;
    int order[JOBS]; /* order[k]: the job that began as number k */
    double results[JOBS];
    bool fails[JOBS];
    pthread_t caller;
    /* of the callbacks, which never run at the same time */
    int reports, warnings, calls;
    bool inside;
    double last_fraction;
    int cancel_after; /* reports; 0: never */
} record;

static void enter(record *r) {
    check(!r->inside);
    r->inside = true;
    nap(1);
    r->inside = false;
}

static void note_call(void *user) {
    record *r = user;
    enter(r);
    r->calls++;
}

static bool note_progress(void *user, const bough_progress *p) {
    record *r = user;
    check(pthread_equal(pthread_self(), r->caller));
    check(p->fraction >= r->last_fraction && p->fraction <= 1);
    r->last_fraction = p->fraction;
    enter(r);
    r->reports++;
    return !r->cancel_after || r->reports < r->cancel_after;
}

static void note_warning(void *user, const char *sentence) {
    record *r = user;
    check(strstr(sentence, "remark") != NULL);
    enter(r);
    r->warnings++;
}

static bough_status sum_job(bough_context *ctx, void *data, int32_t index) {
    record *r = data;
    r->order[atomic_fetch_add(&r->begun, 1)] = index;
    check_int(bough_thread_count(ctx), 1);
    double *terms = BO_NEW_ARRAY(ctx, double, 1000), sum = 0;
    if (!terms)
        return BOUGH_ERROR_MEMORY;
    for (int i = 0; i < 1000; i++)
        sum += terms[i] = 1.0 / (i + index + 1);
    bo_free(ctx, terms);
    bo_warn(ctx, "remark %d", index);
    for (int i = 1; i <= 4; i++)
        if (!bo_progress(ctx, "summing", i / 4.0, "job %d", index))
            return bo_fail_cancelled(ctx);
    if (r->fails[index])
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "job %d failed", index);
    r->results[index] = sum;
    bo_job_call(ctx, note_call, r);
    return BOUGH_OK;
}

static bough_context *context_of(record *r, int32_t threads) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = threads;
    def.progress = note_progress, def.progress_user = r;
    def.warn = note_warning, def.warn_user = r;
    r->caller = pthread_self();
    bough_context *ctx = bough_context_create(&def);
    check(ctx != NULL);
    return ctx;
}

static void results_do_not_depend_on_the_number_of_threads(void **state) {
    (void)state;
    record first = {0};
    for (int32_t threads = 1; threads <= 4; threads++) {
        record r = {0};
        bough_context *ctx = context_of(&r, threads);
        check_ok(ctx, bo_run_jobs(ctx, sum_job, &r, JOBS, "working"));
        check_int(r.begun, JOBS);
        check_int(r.warnings, JOBS);
        check_int(r.calls, JOBS);
        if (threads == 1) {
            first = r;
            check_int(r.reports, 5 * JOBS); /* those of the jobs, and one after each */
            check_near(r.last_fraction, 1, 1e-15);
        }
        for (int i = 0; i < JOBS; i++) {
            check(r.results[i] == first.results[i]);
            check(threads > 1 || r.order[i] == i);
        }
        bough_context_destroy(ctx);
    }
}

static void the_failure_of_the_lowest_index_is_told_and_others_finish(void **state) {
    (void)state;
    for (int32_t threads = 1; threads <= 4; threads++) {
        record r = {.fails = {[4] = true, [9] = true}};
        bough_context *ctx = context_of(&r, threads);
        check_fails(ctx, bo_run_jobs(ctx, sum_job, &r, JOBS, "working"), BOUGH_ERROR_FORMAT, "job 4 failed");
        for (int i = 0; i < JOBS; i++)
            check((r.results[i] > 0) == !r.fails[i]);
        bough_context_destroy(ctx);
    }
}

/* Goes on until it is told to stop. The calling thread, which is told first, then waits, so that the others come to
 * what is left. */
static bough_status endless_job(bough_context *ctx, void *data, int32_t index) {
    record *r = data;
    r->order[atomic_fetch_add(&r->begun, 1)] = index;
    for (int i = 0; i < 6000; i++, nap(10))
        if (!bo_progress(ctx, "waiting", 0.5, "%s", "")) {
            nap(pthread_equal(pthread_self(), r->caller) ? 100 : 0);
            return bo_fail_cancelled(ctx);
        }
    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "nobody has cancelled job %d", index);
}

/* Finished jobs stay done, running jobs stop, and no more begin. */
static void cancelling_stops_all_jobs(void **state) {
    (void)state;
    record alone = {.cancel_after = 7}; /* in the second job: each reports five times */
    bough_context *ctx = context_of(&alone, 1);
    check_fails(ctx, bo_run_jobs(ctx, sum_job, &alone, JOBS, "working"), BOUGH_CANCELLED, "");
    check(alone.begun == 2 && alone.results[0] > 0 && alone.results[1] == 0);
    check_int(alone.reports, 7);
    bough_context_destroy(ctx);
    for (int32_t threads = 1; threads <= 4; threads++) {
        record r = {.cancel_after = 7};
        ctx = context_of(&r, threads);
        check_fails(ctx, bo_run_jobs(ctx, endless_job, &r, JOBS, "working"), BOUGH_CANCELLED, "");
        check(r.begun >= 1 && r.begun <= threads); /* each thread has one that does not end by itself */
        check_int(r.reports, 7);                   /* nobody is asked again */
        bough_context_destroy(ctx);
    }
}

static void a_failure_wins_over_cancellation(void **state) {
    (void)state;
    record r = {.fails = {[1] = true}, .cancel_after = 12};
    bough_context *ctx = context_of(&r, 1);
    check_fails(ctx, bo_run_jobs(ctx, sum_job, &r, JOBS, "working"), BOUGH_ERROR_FORMAT, "job 1 failed");
    check_int(r.begun, 3);
    bough_context_destroy(ctx);
}

/* The calling thread is done as soon as another one is at work; nobody but it can ask the user. */
static atomic_int at_work;
static bough_status patient_job(bough_context *ctx, void *data, int32_t index) {
    record *r = data;
    bool here = pthread_equal(pthread_self(), r->caller);
    (void)index;
    if (here) {
        for (int i = 0; i < 6000 && !at_work; i++)
            nap(10);
        return at_work ? BOUGH_OK : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "no other thread has taken the other job");
    }
    at_work = 1;
    for (int i = 0; i < 6000; i++, nap(10))
        if (!bo_progress(ctx, "waiting", 0.5, "%s", ""))
            return bo_fail_cancelled(ctx);
    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "nobody has cancelled the job");
}

static void a_caller_without_a_job_of_its_own_can_still_cancel(void **state) {
    (void)state;
    record r = {.cancel_after = 4};
    bough_context *ctx = context_of(&r, 3);
    at_work = 0;
    check_fails(ctx, bo_run_jobs(ctx, patient_job, &r, 2, "working"), BOUGH_CANCELLED, "");
    check_int(r.reports, 4);
    bough_context_destroy(ctx);
}

static bough_status whole_context_job(bough_context *ctx, void *data, int32_t index) {
    *(bough_context **)data = ctx;
    return index == 0 ? BOUGH_OK : BOUGH_ERROR_ARGUMENT;
}

static void a_single_job_has_the_context_itself(void **state) {
    (void)state;
    bough_context *ctx = test_context(3), *seen = NULL;
    check_ok(ctx, bo_run_jobs(ctx, whole_context_job, &seen, 0, "nothing"));
    check(seen == NULL);
    check_ok(ctx, bo_run_jobs(ctx, whole_context_job, &seen, 1, "one"));
    check(seen == ctx);
    bough_context_destroy(ctx);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    for (long fail_at = 1;; fail_at++) {
        record r = {0};
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bough_status status = bo_run_jobs(ctx, sum_job, &r, 3, "working");
        bool failed = memory.calls > fail_at;
        check(status == (failed ? BOUGH_ERROR_MEMORY : BOUGH_OK));
        check(!failed || strstr(bough_message(ctx), "memory"));
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (!failed)
            break;
        check(fail_at < 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(the_failure_of_the_lowest_index_is_told_and_others_finish),
        cmocka_unit_test(cancelling_stops_all_jobs),
        cmocka_unit_test(a_failure_wins_over_cancellation),
        cmocka_unit_test(a_caller_without_a_job_of_its_own_can_still_cancel),
        cmocka_unit_test(a_single_job_has_the_context_itself),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
