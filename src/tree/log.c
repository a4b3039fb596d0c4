/* Recording what is done to a state. log_file.c writes and reads recordings, log_play.c does it again. */
#include "tree/log_inside.h"

#include "tree/ledger.h"
#include "tree/snapshot.h"
#include "tree/system.h"
#include "tree/touch.h"

#include "component/image.h"
#include "rig/joint.h"

#include <string.h>

/* ---- what can be written into a state ---- */

bo_log_settings bo_log_settings_of(const bough_tree_state *s) {
    return (bo_log_settings){s->time,
                             s->alpha,
                             {s->gravity[0], s->gravity[1], s->gravity[2]},
                             s->wind,
                             (int32_t)s->coupling,
                             s->passes,
                             bo_tree_work_of(s)->pushed,
                             bo_tree_ledger_of(s)->asked != 0};
}

void bo_log_set(bough_tree_state *s, const bo_log_settings *to) {
    s->time = to->time, s->alpha = to->alpha, s->wind = to->wind;
    memcpy(s->gravity, to->gravity, sizeof s->gravity);
    s->coupling = (bough_coupling)to->coupling, s->passes = to->passes;
    bo_tree_work_of(s)->pushed = to->pushed != 0;
    bo_tree_ledger_of(s)->asked = to->asked != 0;
}

void bo_log_list_fields(const bough_tree_model *now, const bough_tree_state *s, bo_log_settings *single,
                        bo_log_field fields[BO_LOG_FIELDS]) {
    const size_t n = (size_t)now->size, parts = (size_t)now->def.part_count, ties = (size_t)now->def.tie_count;
    const bo_log_field list[BO_LOG_FIELDS] = {
        [BO_LOG_SETTINGS] = {single, sizeof *single / BO_LOG_WORD},
        [BO_LOG_MOTION] = {s->q, 3 * n}, /* and v, a */
        [BO_LOG_ROOTS] = {s->roots, (size_t)now->free_count * (sizeof(bough_tree_root) / BO_LOG_WORD)},
        [BO_LOG_FACTORS] = {s->stiffness, 3 * parts + ties}, /* and both dampings, and the strengths of ties */
        [BO_LOG_FORCES] = {bo_tree_work_of(s)->force, n},
        [BO_LOG_WRENCHES] = {bo_tree_work_of(s)->wrench, 6 * (size_t)now->part_count}};
    memcpy(fields, list, sizeof list);
}

/* Room that each takes whatever is detached and attached. */
static void most_words(const bough_tree_model *model, size_t most[BO_LOG_FIELDS]) {
    const size_t n = (size_t)model->size, parts = (size_t)model->def.part_count, ties = (size_t)model->def.tie_count;
    const size_t list[BO_LOG_FIELDS] = {[BO_LOG_SETTINGS] = sizeof(bo_log_settings) / BO_LOG_WORD,
                                        [BO_LOG_MOTION] = 3 * n,
                                        [BO_LOG_ROOTS] = parts * (sizeof(bough_tree_root) / BO_LOG_WORD),
                                        [BO_LOG_FACTORS] = 3 * parts + ties,
                                        [BO_LOG_FORCES] = n,
                                        [BO_LOG_WRENCHES] = 6 * parts};
    memcpy(most, list, sizeof list);
}

/* ---- the recording ---- */

bool bo_log_reserve(bough_context *ctx, bough_tree_log *log, size_t more) {
    return BO_RESERVE(ctx, log->bytes, log->capacity, log->size + more);
}

static void put(bough_tree_log *log, const void *bytes, size_t size) {
    memcpy(log->bytes + log->size, bytes, size);
    log->size += size;
}

static void put_head(bough_tree_log *log, bo_log_kind kind, bough_status outcome, bo_log_field_kind f, size_t count) {
    const bo_log_record_head head = {(uint8_t)kind, (int8_t)outcome, (uint16_t)f, (uint32_t)count};
    put(log, &head, sizeof head);
}

static bough_status put_write(bough_context *ctx, bough_tree_log *log, bo_log_field_kind f, size_t first, size_t count,
                              const bo_log_word *words) {
    const uint64_t at = first;
    if (!bo_log_reserve(ctx, log, sizeof(bo_log_record_head) + BO_LOG_WORD + BO_LOG_WORD * count))
        return BOUGH_ERROR_MEMORY;
    put_head(log, BO_LOG_WRITE, BOUGH_OK, f, count);
    put(log, &at, BO_LOG_WORD);
    put(log, words, BO_LOG_WORD * count);
    return BOUGH_OK;
}

/* The next run of words that are not those seen, from *first on; false: there is none. A gap that is not longer than
 * what a run costs beside its words is part of it. */
static bool next_run(const bo_log_word *now, const bo_log_word *seen, size_t count, size_t *first, size_t *end) {
    enum { GAP = 2, MOST = INT32_MAX };
    size_t k = *first;
    while (k < count && now[k] == seen[k])
        k++;
    *first = k;
    *end = k + 1;
    for (size_t i = *end; i < count && i - *end <= GAP && i - k < MOST; i++)
        if (now[i] != seen[i])
            *end = i + 1;
    return k < count;
}

static bough_status put_runs(bough_context *ctx, bough_tree_log *log, bo_log_field_kind f, size_t count,
                             const bo_log_word *now) {
    size_t end;
    for (size_t k = 0; next_run(now, log->seen[f], count, &k, &end); k = end)
        BO_TRY(put_write(ctx, log, f, k, end - k, now + k));
    return BOUGH_OK;
}

/* Without anything pushed all forces are zero, then and now. */
static bool is_idle(const bough_tree_log *log, const bough_tree_state *state, bo_log_field_kind f) {
    return (f == BO_LOG_FORCES || f == BO_LOG_WRENCHES) && !bo_tree_work_of(state)->pushed && !log->seen_pushed;
}

bough_status bo_log_note_writes(bough_context *ctx, bough_tree_log *log, const bough_tree_model *now) {
    bo_log_settings single = bo_log_settings_of(log->state);
    bo_log_field fields[BO_LOG_FIELDS];
    bo_log_list_fields(now, log->state, &single, fields);
    for (int f = 0; f < BO_LOG_FIELDS; f++)
        if (!is_idle(log, log->state, (bo_log_field_kind)f) && fields[f].count > 0 &&
            memcmp(fields[f].data, log->seen[f], BO_LOG_WORD * fields[f].count) != 0)
            BO_TRY(put_runs(ctx, log, (bo_log_field_kind)f, fields[f].count, fields[f].data));
    return BOUGH_OK;
}

static void remember(bough_tree_log *log, const bough_tree_model *now) {
    bo_log_settings single = bo_log_settings_of(log->state);
    bo_log_field fields[BO_LOG_FIELDS];
    bo_log_list_fields(now, log->state, &single, fields);
    for (int f = 0; f < BO_LOG_FIELDS; f++)
        if (!is_idle(log, log->state, (bo_log_field_kind)f) && fields[f].count > 0)
            memcpy(log->seen[f], fields[f].data, BO_LOG_WORD * fields[f].count);
    if (log->seen_pushed || bo_tree_work_of(log->state)->pushed) /* parts that are gone come back without wrenches */
        memset(log->seen[BO_LOG_WRENCHES] + fields[BO_LOG_WRENCHES].count, 0,
               BO_LOG_WORD * (6 * (size_t)now->def.part_count - fields[BO_LOG_WRENCHES].count));
    log->seen_pushed = bo_tree_work_of(log->state)->pushed;
}

static size_t payload_of(const bo_log_act *act) {
    switch (act->kind) {
    case BO_LOG_STEP:
    case BO_LOG_GENTLE_STEP:
    case BO_LOG_ADVANCE:
        return sizeof(double);
    case BO_LOG_CHANGE:
        return (size_t)(act->count > 0 ? act->count : 0) * sizeof(bo_log_change_record);
    case BO_LOG_SNAPSHOT:
        return 4 * sizeof(uint64_t) + act->size; /* as runs it may be two words longer */
    case BO_LOG_INTEGRATOR:
        return sizeof(bo_log_integrator_record);
    default:
        return 0;
    }
}

/* The state before an act that is recorded by what it leaves, and room for that. */
static bough_status copy_state(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model, size_t size) {
    log->before = bough_tree_state_snapshot_size(model, log->state);
    if (!BO_RESERVE(ctx, log->copies, log->copies_capacity, log->before + size))
        return BOUGH_ERROR_MEMORY;
    bo_tree_save_plain(model, log->state, log->copies);
    return BOUGH_OK;
}

bough_status bo_log_begin_act(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                              const bo_log_act *act) {
    bough_tree_log *log = bo_tree_work_of(state)->log;
    if (log->depth++ > 0 || log->lost)
        return BOUGH_OK;
    const size_t size = log->size;
    bough_status status = bo_log_note_writes(ctx, log, bo_tree_now(model, state));
    if (status == BOUGH_OK && act->kind == BO_LOG_SNAPSHOT)
        status = copy_state(ctx, log, model, act->size);
    if (status == BOUGH_OK && !bo_log_reserve(ctx, log, sizeof(bo_log_record_head) + payload_of(act)))
        status = BOUGH_ERROR_MEMORY;
    if (status != BOUGH_OK) {
        log->size = size;
        log->depth--;
        return status;
    }
    log->act = *act;
    return BOUGH_OK;
}

static void put_step(bough_tree_log *log, bough_status status) {
    if (status == BOUGH_ERROR_MEMORY)
        log->lost = "memory ran out within a step";
    log->steps += status == BOUGH_OK;
    put_head(log, log->act.kind, status, 0, 0);
    put(log, &log->act.dt, sizeof log->act.dt);
}

/* Changes that fail do what none at all do. */
static void put_changes(bough_tree_log *log, bough_status status) {
    const int32_t count = status == BOUGH_OK && log->act.count > 0 ? log->act.count : 0;
    put_head(log, BO_LOG_CHANGE, BOUGH_OK, 0, (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        const bough_change *c = &log->act.changes[i];
        bo_log_change_record r = {.kind = (int32_t)c->kind, .part = c->part};
        if (c->kind == BOUGH_CHANGE_ATTACH)
            r.parent = c->parent, r.interface_index = c->interface_index;
        if (c->kind == BOUGH_CHANGE_ADD)
            r.frame = c->frame;
        put(log, &r, sizeof r);
    }
}

/* Takes a snapshot, and drops from the state what it leaves out, so that both go on alike. */
static void take_snapshot(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model, void *bytes) {
    bo_tree_save_plain(model, log->state, bytes);
    if (bo_tree_restore_plain(ctx, model, log->state, bytes, log->act.size) != BOUGH_OK)
        log->lost = "a snapshot could not be taken"; /* all is where it was: there is nothing that could fail */
}

static void put_whole(bough_tree_log *log, const void *bytes) {
    const uint64_t size = log->act.size;
    put_head(log, BO_LOG_SNAPSHOT, BOUGH_OK, 0, 0);
    put(log, &size, sizeof size);
    put(log, bytes, log->act.size);
}

/* Writes the differences of two snapshots: mostly few, where a state is put back to where it was before a step. */
static void put_patch(bough_tree_log *log, const bo_log_word *before, const bo_log_word *after) {
    const size_t count = log->act.size / BO_LOG_WORD;
    size_t end;
    put_head(log, BO_LOG_PATCH, BOUGH_OK, 0, 0);
    const size_t start = log->size;
    log->size += sizeof(uint64_t);
    for (size_t k = 0; next_run(after, before, count, &k, &end); k = end) {
        const uint64_t run[2] = {k, end - k};
        put(log, run, sizeof run);
        put(log, after + k, BO_LOG_WORD * (end - k));
    }
    const uint64_t size = log->size - start - sizeof size;
    memcpy(log->bytes + start, &size, sizeof size);
}

static void put_snapshot(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model) {
    unsigned char *after = log->copies + log->before;
    log->act.size = bough_tree_state_snapshot_size(model, log->state);
    take_snapshot(ctx, log, model, after);
    if (log->before == log->act.size && log->before % BO_LOG_WORD == 0)
        put_patch(log, (const bo_log_word *)log->copies, (const bo_log_word *)after);
    else
        put_whole(log, after);
}

static void put_integrator(bough_tree_log *log) {
    const bough_integrator_def *def = log->act.with;
    put_head(log, BO_LOG_INTEGRATOR, BOUGH_OK, 0, def != NULL);
    if (!def)
        return;
    bo_log_integrator_record r = {.rho = def->rho,
                                  .alpha = def->alpha,
                                  .beta = def->beta,
                                  .gamma = def->gamma,
                                  .tolerance = def->tolerance,
                                  .max_iterations = def->max_iterations,
                                  .mode_count = def->mode_count,
                                  .mode_refresh = def->mode_refresh,
                                  .krylov_limit = def->krylov_limit};
    const size_t length = strlen(def->name);
    memcpy(r.name, def->name, length < BO_LOG_NAME_SIZE ? length : BO_LOG_NAME_SIZE - 1);
    put(log, &r, sizeof r);
}

static void put_act(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model, bough_status status) {
    switch (log->act.kind) {
    case BO_LOG_STEP:
    case BO_LOG_GENTLE_STEP:
    case BO_LOG_ADVANCE:
        put_step(log, status);
        break;
    case BO_LOG_CHANGE:
        put_changes(log, status);
        break;
    case BO_LOG_SNAPSHOT:
        if (status == BOUGH_OK || log->act.always)
            put_snapshot(ctx, log, model);
        break;
    case BO_LOG_INTEGRATOR:
        if (status == BOUGH_OK)
            put_integrator(log);
        break;
    default:
        put_head(log, log->act.kind, status, 0, 0);
        break;
    }
}

void bo_log_end_act(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, bough_status status) {
    bough_tree_log *log = bo_tree_work_of(state)->log;
    if (log->depth == 1 && !log->lost) {
        put_act(ctx, log, model, status);
        remember(log, bo_tree_now(model, state));
    }
    log->depth--;
}

bough_status bo_log_come_back(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    const bough_tree_model *now = bo_tree_now(model, state);
    if (!bo_tree_work_of(state)->log || bo_tree_is_here(ctx, now, state))
        return bo_tree_come_back(ctx, now, state);
    BO_TRY(bo_log_begin(ctx, model, state, &(bo_log_act){.kind = BO_LOG_COME_BACK}));
    return bo_log_end(ctx, model, state, bo_tree_come_back(ctx, now, state));
}

/* ---- from start to stop ---- */

static uint64_t hash_part(uint64_t hash, const bough_part_def *part) {
    const bough_joint_def welded = {.kind = BOUGH_JOINT_WELD}, *joint = part->joint ? part->joint : &welded;
    const bo_vec3 axis = bo_joint_axis(joint);
    const double numbers[] = {(double)joint->kind, joint->stiffness[0], joint->damping[0], axis.x, axis.y, axis.z};
    const size_t keys = (size_t)part->track.count;
    hash = bo_image_hash(hash, numbers, sizeof numbers);
    hash = bo_image_hash(hash, joint->start, 3 * sizeof(double)); /* what comes back begins there */
    hash = bo_image_hash(hash, part->position, sizeof part->position);
    hash = bo_image_hash(hash, part->offset, sizeof part->offset);
    if (keys == 0)
        return hash;
    hash = bo_image_hash(hash, part->track.time, keys * sizeof(double));
    hash = bo_image_hash(hash, part->track.position, 3 * keys * sizeof(double));
    return bo_image_hash(hash, part->track.rotation, 4 * keys * sizeof(double));
}

uint64_t bo_log_hash_model(const bough_tree_model *model, const bough_tree_state *state) {
    const bough_tree_model_def *def = &model->def;
    uint64_t hash = bo_image_hash(model->shape, def->gravity, sizeof def->gravity);
    for (int32_t i = 0; i < def->part_count; i++)
        hash = hash_part(hash, &def->parts[i]);
    for (int32_t i = 0; i < def->tie_count; i++) {
        const bough_joint_def *tie = &def->ties[i];
        const double numbers[] = {tie->parent.body,           tie->child.body,   tie->parent.interface_index,
                                  tie->child.interface_index, tie->stiffness[0], tie->damping[0],
                                  tie->stiffness[3],          tie->damping[3]};
        hash = bo_image_hash(hash, numbers, sizeof numbers);
    }
    return bo_tree_touch_hash(bo_tree_work_of(state)->touch, hash);
}

static bool make_words(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model) {
    size_t most[BO_LOG_FIELDS], total = 0;
    most_words(model, most);
    for (int f = 0; f < BO_LOG_FIELDS; f++)
        total += most[f];
    bo_log_word *next = log->words = BO_NEW_ZEROS(ctx, bo_log_word, total);
    for (int f = 0; f < BO_LOG_FIELDS && next; f++) {
        log->seen[f] = next;
        next += most[f];
    }
    return next != NULL;
}

/* The state as it is, as the last act. */
static bough_status put_state(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model) {
    log->act = (bo_log_act){.kind = BO_LOG_SNAPSHOT, .size = bough_tree_state_snapshot_size(model, log->state)};
    if (!BO_RESERVE(ctx, log->copies, log->copies_capacity, log->act.size) ||
        !bo_log_reserve(ctx, log, sizeof(bo_log_record_head) + payload_of(&log->act)))
        return BOUGH_ERROR_MEMORY;
    take_snapshot(ctx, log, model, log->copies);
    put_whole(log, log->copies);
    return BOUGH_OK;
}

/* A method is made anew, as it will be for a replay. It can only be made for a state that it suits, so that the state
 * comes before, and after for what the method knew. */
static bough_status put_method(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model) {
    const size_t most = sizeof(bo_log_record_head) + sizeof(bo_log_integrator_record);
    bough_integrator_def def;
    const bool any = bo_tree_integrator_def(bo_tree_work_of(log->state), &def);
    if (!bo_log_reserve(ctx, log, most))
        return BOUGH_ERROR_MEMORY;
    log->act = (bo_log_act){.kind = BO_LOG_INTEGRATOR};
    put_integrator(log);
    BO_TRY(put_state(ctx, log, model));
    if (!any)
        return BOUGH_OK;
    if (!bo_log_reserve(ctx, log,
                        most + sizeof(bo_log_record_head) + payload_of(&log->act))) /* for the second as well */
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bough_tree_state_use_integrator(ctx, model, log->state, &def));
    BO_TRY(bo_tree_restore_plain(ctx, model, log->state, log->copies, log->act.size));
    log->act.with = &def;
    put_integrator(log);
    return put_state(ctx, log, model);
}

bough_status bough_tree_log_start(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                  bough_tree_log **out) {
    *out = NULL;
    if (bo_tree_work_of(state)->log)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the state is recorded already; stop that recording first");
    bough_tree_log *log = BO_NEW(ctx, bough_tree_log);
    if (!log)
        return BOUGH_ERROR_MEMORY;
    log->state = state;
    log->model = bo_log_hash_model(model, state);
    log->start_time = state->time;
    bough_status status = make_words(ctx, log, model) ? put_method(ctx, log, model) : BOUGH_ERROR_MEMORY;
    if (status != BOUGH_OK) {
        log->state = NULL;
        bough_tree_log_destroy(ctx, log);
        return status;
    }
    remember(log, bo_tree_now(model, state));
    bo_tree_work_of(state)->log = log;
    *out = log;
    return BOUGH_OK;
}

void bo_log_lose(bough_tree_log *log) {
    log->state = NULL;
    log->lost = "the state was destroyed before the recording was stopped";
}

bough_status bo_log_hash_state(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                               uint64_t *hash) {
    const size_t size = bough_tree_state_snapshot_size(model, state);
    void *bytes = bo_alloc(ctx, size, 1);
    if (!bytes)
        return BOUGH_ERROR_MEMORY;
    bo_tree_save_plain(model, state, bytes);
    *hash = bo_image_hash(0, bytes, size);
    bo_free(ctx, bytes);
    return BOUGH_OK;
}

bough_status bo_log_check_complete(bough_context *ctx, const bough_tree_log *log) {
    if (log->lost)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the recording cannot be used: %s", log->lost);
    if (log->state)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the recording goes on; stop it first");
    return BOUGH_OK;
}

static void let_go(bough_context *ctx, bough_tree_log *log) {
    if (log->state)
        bo_tree_work_of(log->state)->log = NULL;
    log->state = NULL;
    bo_free(ctx, log->words);
    bo_free(ctx, log->copies);
    log->words = NULL, log->copies = NULL;
}

bough_status bough_tree_log_stop(bough_context *ctx, const bough_tree_model *model, bough_tree_log *log) {
    if (!log->state || log->lost) {
        if (log->lost)
            let_go(ctx, log);
        return bo_log_check_complete(ctx, log);
    }
    const size_t size = log->size;
    bough_status status = bo_log_note_writes(ctx, log, bo_tree_now(model, log->state));
    if (status == BOUGH_OK)
        status = bo_log_hash_state(ctx, model, log->state, &log->end);
    if (status != BOUGH_OK) {
        log->size = size;
        return status;
    }
    log->end_time = log->state->time;
    let_go(ctx, log);
    return BOUGH_OK;
}

void bough_tree_log_destroy(bough_context *ctx, bough_tree_log *log) {
    if (!log)
        return;
    let_go(ctx, log);
    bo_free(ctx, log->bytes);
    bo_free(ctx, log);
}

bough_tree_log_info bough_tree_log_describe(const bough_tree_log *log) {
    return (bough_tree_log_info){.steps = log->steps,
                                 .start_time = log->start_time,
                                 .end_time = log->state ? log->state->time : log->end_time,
                                 .size = log->size,
                                 .complete = !log->state && !log->lost};
}
