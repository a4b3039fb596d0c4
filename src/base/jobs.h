/* Jobs: independent work that needs a whole context each (it calls library functions, reports progress, can fail). */
#ifndef BO_BASE_JOBS_H
#define BO_BASE_JOBS_H

#include "base/context.h"

typedef bough_status (*bo_job)(bough_context *ctx, void *data, int32_t index);

/* Runs job(sub_context, data, i) for each i in 0..count-1 by the context's threads; with one thread in this order. A
 * sub-context has one thread and the memory hooks of ctx; a single job gets ctx itself and so all threads. Results do
 * not depend on the number of threads: a job that fails does not keep others from running.
 *
 * Progress reaches the user's callback on the calling thread only: `what` and `detail` of a job that runs there (or
 * `phase` where none does), and the fraction of all jobs. When the callback cancels, all jobs' progress calls return
 * false, and jobs that have not begun are left out. Warnings pass through from any thread, one at a time.
 *
 * The status and the message are those of the failed job with the lowest index; failures win over cancellation. */
bough_status bo_run_jobs(bough_context *ctx, bo_job job, void *data, int32_t count, const char *phase);

/* For a job that calls back its user: call(data) runs while no other callback of these jobs does. `ctx` is the one the
 * job was given. */
void bo_job_call(bough_context *ctx, void (*call)(void *data), void *data);

#endif
