#include "base/threads.h"

#include "base/pool.h"

#include <unistd.h>

#ifdef BO_ONE_THREAD

int32_t bo_core_count(void) {
    return 1;
}

#else

int32_t bo_core_count(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 256 ? 256 : (int32_t)cores;
}

#endif

void bo_run_tasks_watched(bough_context *ctx, bough_task task, void *data, int32_t count, void (*watch)(void *)) {
    if (count <= 0)
        return;
    if (ctx->def.run_tasks && count > 1) {
        ctx->def.run_tasks(ctx->def.tasks_user, task, data, count);
        return;
    }
    if (ctx->pool && count > 1) {
        bo_pool_run(ctx->pool, task, data, count, watch);
        return;
    }
    for (int32_t i = 0; i < count; i++)
        task(data, i);
}

void bo_run_tasks(bough_context *ctx, bough_task task, void *data, int32_t count) {
    bo_run_tasks_watched(ctx, task, data, count, NULL);
}

typedef struct {
    bo_range_task range;
    void *data;
    int32_t count, grain;
} range_call;

static void call_range(void *data, int32_t chunk) {
    const range_call *call = data;
    int32_t begin = chunk * call->grain;
    int32_t end = call->count - begin < call->grain ? call->count : begin + call->grain;
    call->range(call->data, begin, end, chunk);
}

void bo_parallel_for(bough_context *ctx, int32_t count, int32_t grain, bo_range_task range, void *data) {
    range_call call = {range, data, count, grain};
    bo_run_tasks(ctx, call_range, &call, bo_chunk_count(count, grain));
}
