/* Changes of parts and ties: they are kept, reported, and recorded as a table. */
#include "run/run.h"

#include "base/file.h"

#include <string.h>

enum { COLUMNS = 5 };

static const bough_run_change *latest(const bough_run *run, int32_t *count) {
    *count = 0;
    return run->engine.kind->changes ? run->engine.kind->changes(run->engine.data, count) : NULL;
}

bough_status bo_run_reserve_changes(bough_context *ctx, bough_run *run) {
    int32_t count;
    latest(run, &count);
    if (run->change_count + (size_t)count > INT32_MAX)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "more has happened to parts than a run can remember");
    return count == 0 || BO_RESERVE(ctx, run->changes, run->change_capacity, run->change_count + (size_t)count)
               ? BOUGH_OK
               : BOUGH_ERROR_MEMORY;
}

/* Names are columns of a table: without what would break a line of it. */
static bough_status record(bough_context *ctx, bough_run *run, const bough_run_change *change) {
    char name[128];
    snprintf(name, sizeof name, "%s", change->name ? change->name : "");
    for (char *c = name; (c = strpbrk(c, ",\"\n\r"));)
        *c = '_';
    const double values[COLUMNS] = {change->time, 0, 0, change->stress, change->force};
    const char *const words[COLUMNS] = {NULL, change->change, name};
    return bo_table_words(ctx, &run->change_table, values, words);
}

/* None is later than the run, so that a checkpoint of now knows of all that is in the table up to now. */
bough_status bo_run_take_changes(bough_context *ctx, bough_run *run) {
    int32_t count;
    const bough_run_change *from = latest(run, &count);
    if (count == 0) /* there may be no list at all */
        return BOUGH_OK;
    bough_run_change *to = run->changes + run->change_count;
    const double now = bo_run_time(run);
    for (int32_t i = 0; i < count; i++) {
        to[i] = from[i];
        to[i].time = to[i].time < now ? to[i].time : now;
    }
    run->change_count += (size_t)count;
    if (run->tell)
        run->tell(run->tell_data, to, count);
    for (int32_t i = 0; i < count && run->change_table.stream; i++)
        BO_TRY(record(ctx, run, &to[i]));
    return BOUGH_OK;
}

bough_status bo_run_open_changes(bough_context *ctx, bough_run *run, const char *path, bool resumed) {
    static const char *const columns[COLUMNS] = {"time", "change", "part", "stress", "force"};
    bool kept;
    if (!bo_equal_ignoring_case(bo_path_extension(path), "csv"))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: what happens to parts is recorded as .csv", path);
    return resumed ? bo_table_continue(ctx, path, columns, COLUMNS, bo_run_time(run), &run->change_table, &kept)
                   : bo_table_create(ctx, path, columns, COLUMNS, &run->change_table);
}
