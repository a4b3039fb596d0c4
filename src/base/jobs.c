#include "base/jobs.h"

#include "base/threads.h"

#include <pthread.h>
#include <stdio.h>

typedef struct {
    bough_context *ctx; /* the caller's */
    bo_job job;
    void *data;
    const char *phase;
    int32_t count;
    pthread_t caller;

    pthread_mutex_t lock; /* of what follows */
    double *fractions;    /* count: how far each job is */
    int32_t finished;
    int32_t unfinished; /* jobs that were cancelled or left out */
    bool cancelled;     /* by the user */
    int32_t worst;      /* failed job with the lowest index; count: none */
    bough_status status;
    char message[BO_MESSAGE_SIZE];

    pthread_mutex_t talk; /* held while a callback of the user runs */
} job_list;

/* The user data of a sub-context's callbacks. */
typedef struct {
    job_list *list;
    int32_t index;
} job_slot;

/* ---- progress ---- */

static double fraction_of_all(job_list *list) {
    double sum = 0;
    pthread_mutex_lock(&list->lock);
    for (int32_t i = 0; i < list->count; i++)
        sum += list->fractions[i];
    pthread_mutex_unlock(&list->lock);
    return sum / list->count;
}

static bool is_cancelled(job_list *list) {
    pthread_mutex_lock(&list->lock);
    bool cancelled = list->cancelled;
    pthread_mutex_unlock(&list->lock);
    return cancelled;
}

static void report(job_list *list, const char *what, const char *detail) {
    const bough_context_def *def = &list->ctx->def;
    bough_progress progress = {what, fraction_of_all(list), detail};
    if (!def->progress || is_cancelled(list))
        return;
    pthread_mutex_lock(&list->talk);
    bool go_on = def->progress(def->progress_user, &progress);
    pthread_mutex_unlock(&list->talk);
    if (go_on)
        return;
    pthread_mutex_lock(&list->lock);
    list->cancelled = true;
    pthread_mutex_unlock(&list->lock);
}

static void report_count(void *data) {
    job_list *list = data;
    char detail[64];
    pthread_mutex_lock(&list->lock);
    snprintf(detail, sizeof detail, "%d of %d done", list->finished, list->count);
    pthread_mutex_unlock(&list->lock);
    report(list, list->phase, detail);
}

static bool on_progress(void *user, const bough_progress *progress) {
    const job_slot *slot = user;
    job_list *list = slot->list;
    if (progress->fraction >= 0) {
        pthread_mutex_lock(&list->lock);
        list->fractions[slot->index] = progress->fraction < 1 ? progress->fraction : 1;
        pthread_mutex_unlock(&list->lock);
    }
    if (pthread_equal(pthread_self(), list->caller))
        report(list, progress->what, progress->detail);
    return !is_cancelled(list);
}

static void on_warning(void *user, const char *sentence) {
    const job_slot *slot = user;
    const bough_context_def *def = &slot->list->ctx->def;
    pthread_mutex_lock(&slot->list->talk);
    def->warn(def->warn_user, sentence);
    pthread_mutex_unlock(&slot->list->talk);
}

/* ---- running ---- */

static bough_context *create_sub_context(job_list *list, job_slot *slot) {
    bough_context_def def = list->ctx->def;
    def.thread_count = 1;
    def.run_tasks = NULL;
    def.progress = on_progress;
    def.progress_user = slot;
    def.warn = def.warn ? on_warning : NULL;
    def.warn_user = slot;
    return bough_context_create(&def);
}

static void finish_job(job_list *list, int32_t index, bough_status status, const char *message) {
    pthread_mutex_lock(&list->lock);
    list->fractions[index] = 1;
    list->finished++;
    list->unfinished += status == BOUGH_CANCELLED;
    if (status != BOUGH_OK && status != BOUGH_CANCELLED && index < list->worst) {
        list->worst = index;
        list->status = status;
        snprintf(list->message, sizeof list->message, "%s", message);
    }
    pthread_mutex_unlock(&list->lock);
}

static void run_job(void *data, int32_t index) {
    job_list *list = data;
    job_slot slot = {list, index};
    if (is_cancelled(list)) {
        finish_job(list, index, BOUGH_CANCELLED, "");
        return;
    }
    bough_context *sub = create_sub_context(list, &slot);
    if (sub)
        finish_job(list, index, list->job(sub, list->data, index), sub->message);
    else
        finish_job(list, index, BOUGH_ERROR_MEMORY, "out of memory");
    bough_context_destroy(sub);
    if (pthread_equal(pthread_self(), list->caller))
        report_count(list);
}

bough_status bo_run_jobs(bough_context *ctx, bo_job job, void *data, int32_t count, const char *phase) {
    if (count == 1)
        return job(ctx, data, 0);
    job_list list = {.ctx = ctx, .job = job, .data = data, .phase = phase, .count = count, .worst = count};
    list.caller = pthread_self();
    list.fractions = BO_NEW_ZEROS(ctx, double, count);
    if (!list.fractions)
        return BOUGH_ERROR_MEMORY;
    pthread_mutex_init(&list.lock, NULL);
    pthread_mutex_init(&list.talk, NULL);
    bo_run_tasks_watched(ctx, run_job, &list, count, report_count);
    pthread_mutex_destroy(&list.talk);
    pthread_mutex_destroy(&list.lock);
    bo_free(ctx, list.fractions);
    if (list.worst < count)
        return bo_fail(ctx, list.status, "%s", list.message);
    return list.unfinished ? bo_fail_cancelled(ctx) : BOUGH_OK;
}

void bo_job_call(bough_context *ctx, void (*call)(void *data), void *data) {
    if (ctx->def.progress != on_progress) { /* a single job, whose context is the user's */
        call(data);
        return;
    }
    job_list *list = ((const job_slot *)ctx->def.progress_user)->list;
    pthread_mutex_lock(&list->talk);
    call(data);
    pthread_mutex_unlock(&list->talk);
}
