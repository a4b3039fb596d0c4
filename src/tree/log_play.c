/* Doing again what was recorded. */
#include "tree/log_inside.h"

#include "tree/snapshot.h"
#include "tree/system.h"

#include <string.h>

typedef struct player {
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
} player;

static bough_status write_numbers(const player *p, const bo_log_record *r) {
    const bough_tree_model *now = bo_tree_now(p->model, p->state);
    bo_log_settings single = bo_log_settings_of(p->state);
    bo_log_field fields[BO_LOG_FIELDS];
    uint64_t first;
    bo_log_list_fields(now, p->state, &single, fields);
    memcpy(&first, r->payload, BO_LOG_WORD);
    const size_t count = r->head.field < BO_LOG_FIELDS ? fields[r->head.field].count : 0;
    if (first > count || r->head.count > count - first)
        return bo_fail(p->ctx, BOUGH_ERROR_FORMAT,
                       "the recording writes numbers %llu to %llu of field %d, which has %zu",
                       (unsigned long long)first, (unsigned long long)first + r->head.count, r->head.field, count);
    memcpy((uint64_t *)fields[r->head.field].data + first, r->payload + BO_LOG_WORD,
           BO_LOG_WORD * (size_t)r->head.count);
    if (r->head.field == BO_LOG_SETTINGS)
        bo_log_set(p->state, &single);
    if (r->head.field == BO_LOG_ROOTS)
        bo_tree_number_roots(now, p->state);
    return BOUGH_OK;
}

static bough_status step(const player *p, const bo_log_record *r) {
    double dt;
    memcpy(&dt, r->payload, sizeof dt);
    return r->head.kind == BO_LOG_STEP          ? bough_tree_step(p->ctx, p->model, p->state, dt)
           : r->head.kind == BO_LOG_GENTLE_STEP ? bo_tree_step_gently(p->ctx, p->model, p->state, dt)
                                                : bough_tree_advance(p->ctx, p->model, p->state, dt, NULL);
}

static bough_status change(const player *p, const bo_log_record *r) {
    const int32_t count = (int32_t)(r->size / sizeof(bo_log_change_record));
    bough_change *changes = BO_NEW_ZEROS(p->ctx, bough_change, count);
    if (!changes)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        bo_log_change_record c;
        memcpy(&c, r->payload + (size_t)i * sizeof c, sizeof c);
        changes[i] = (bough_change){(bough_change_kind)c.kind, c.part, c.parent, c.interface_index, c.frame};
    }
    bough_status status = bough_tree_state_change(p->ctx, p->model, p->state, count, changes);
    bo_free(p->ctx, changes);
    return status;
}

static bough_status use_integrator(const player *p, const bo_log_record *r) {
    bough_integrator_def def = bough_default_integrator_def();
    bo_log_integrator_record i;
    if (r->head.count == 0)
        return bough_tree_state_use_integrator(p->ctx, p->model, p->state, NULL);
    memcpy(&i, r->payload, sizeof i);
    i.name[BO_LOG_NAME_SIZE - 1] = 0;
    def.name = i.name, def.rho = i.rho, def.alpha = i.alpha, def.beta = i.beta, def.gamma = i.gamma;
    def.tolerance = i.tolerance, def.max_iterations = i.max_iterations, def.mode_count = i.mode_count;
    def.mode_refresh = i.mode_refresh, def.krylov_limit = i.krylov_limit;
    return bough_tree_state_use_integrator(p->ctx, p->model, p->state, &def);
}

/* Runs of the payload over the words of the state's own snapshot. */
static bool apply_runs(const bo_log_record *r, unsigned char *words, size_t count) {
    const unsigned char *at = r->payload + sizeof(uint64_t), *end = r->payload + r->size;
    uint64_t run[2];
    while ((size_t)(end - at) >= sizeof run) {
        memcpy(run, at, sizeof run);
        at += sizeof run;
        if (run[0] > count || run[1] > count - run[0] || run[1] > (size_t)(end - at) / BO_LOG_WORD)
            return false;
        memcpy(words + BO_LOG_WORD * run[0], at, BO_LOG_WORD * (size_t)run[1]);
        at += BO_LOG_WORD * run[1];
    }
    return at == end;
}

static bough_status patch(const player *p, const bo_log_record *r) {
    const size_t size = bough_tree_state_snapshot_size(p->model, p->state);
    unsigned char *bytes = bo_alloc(p->ctx, size, 1);
    if (!bytes)
        return BOUGH_ERROR_MEMORY;
    bo_tree_save_plain(p->model, p->state, bytes);
    bough_status status =
        apply_runs(r, bytes, size / BO_LOG_WORD)
            ? bo_tree_restore_plain(p->ctx, p->model, p->state, bytes, size)
            : bo_fail(p->ctx, BOUGH_ERROR_FORMAT, "the recording writes beyond the snapshot of the state");
    bo_free(p->ctx, bytes);
    return status;
}

static bough_status repeat(const player *p, const bo_log_record *r) {
    switch (r->head.kind) {
    case BO_LOG_WRITE:
        return write_numbers(p, r);
    case BO_LOG_UPDATE:
        return bough_tree_state_update(p->ctx, p->model, p->state);
    case BO_LOG_COME_BACK:
        return bo_log_come_back(p->ctx, p->model, p->state);
    case BO_LOG_CHANGE:
        return change(p, r);
    case BO_LOG_SNAPSHOT:
        return bo_tree_restore_plain(p->ctx, p->model, p->state, r->payload + sizeof(uint64_t),
                                     r->size - sizeof(uint64_t));
    case BO_LOG_PATCH:
        return patch(p, r);
    case BO_LOG_INTEGRATOR:
        return use_integrator(p, r);
    default:
        return step(p, r);
    }
}

/* Acts that may be refused, and then leave something of what was tried. */
static bool may_be_refused(const bo_log_record_head *head) {
    const bo_log_kind kind = (bo_log_kind)head->kind;
    return bo_log_is_step(kind) || kind == BO_LOG_UPDATE || kind == BO_LOG_COME_BACK;
}

/* Changes that came to nothing fail again where the state cannot be entered, which tells nothing new. */
static bool is_nothing(const bo_log_record_head *head) {
    return head->kind == BO_LOG_CHANGE && head->count == 0;
}

bough_status bough_tree_log_replay(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   const bough_tree_log *log, bough_tree_log_watch watch, void *data, bool *same) {
    const player p = {ctx, model, state};
    bool alike = true;
    int64_t steps = 0;
    uint64_t end;
    bo_log_record r;
    if (same)
        *same = false;
    BO_TRY(bo_log_check_complete(ctx, log));
    if (log->model != bo_log_hash_model(model, state))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the recording is of a state of another model, or of one that touches other things");
    for (size_t at = 0; bo_log_next_record(log, &at, &r);) {
        const bo_log_kind kind = (bo_log_kind)r.head.kind;
        const bough_status status = repeat(&p, &r);
        if (status == BOUGH_ERROR_MEMORY || (status != BOUGH_OK && !may_be_refused(&r.head) && !is_nothing(&r.head)))
            return status;
        if (status != r.head.outcome && may_be_refused(&r.head) && alike) {
            bo_warn(ctx, "after %lld steps the replay goes another way than the recording: %s", (long long)steps,
                    status == BOUGH_OK ? "what was refused is not" : bough_message(ctx));
            alike = false;
        }
        if (!bo_log_is_step(kind))
            continue;
        if (status == BOUGH_OK)
            steps++;
        if (status == BOUGH_OK && watch)
            BO_TRY(watch(data, ctx, model, state));
        if (!bo_progress(ctx, "replaying", (double)at / (double)log->size, "step %lld of %lld", (long long)steps,
                         (long long)log->steps))
            return bo_fail_cancelled(ctx);
    }
    BO_TRY(bo_log_hash_state(ctx, model, state, &end));
    if (same)
        *same = alike && end == log->end;
    return BOUGH_OK;
}
