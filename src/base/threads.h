/* A small deterministic thread pool. Work is cut into chunks whose borders depend on the problem only, never on the
 * number of threads; each chunk writes its own output (or its own slot of a partial sum that the caller adds up in
 * chunk order). So the same input gives the same bits for 1..N threads, whoever runs the chunks. */
#ifndef BO_BASE_THREADS_H
#define BO_BASE_THREADS_H

#include "base/context.h"

int32_t bo_core_count(void);

/* Calls task(data, i) for every i in 0..count-1 and returns when all are done. Not reentrant: a task must not call it.
 */
void bo_run_tasks(bough_context *ctx, bough_task task, void *data, int32_t count);

/* The same. While the caller waits for tasks that other threads still run, it calls watch(data) about ten times a
 * second (not when the host program runs the tasks). */
void bo_run_tasks_watched(bough_context *ctx, bough_task task, void *data, int32_t count, void (*watch)(void *data));

/* Cuts 0..count-1 into ranges of `grain` and calls range(data, begin, end, chunk) for each. */
typedef void (*bo_range_task)(void *data, int32_t begin, int32_t end, int32_t chunk);
void bo_parallel_for(bough_context *ctx, int32_t count, int32_t grain, bo_range_task range, void *data);
static inline int32_t bo_chunk_count(int32_t count, int32_t grain) {
    return count / grain + (count % grain != 0);
}

#endif
