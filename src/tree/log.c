/* Recording what is done to a state, and doing it again. */
#include "tree/log.h"

#include "tree/ledger.h"
#include "tree/snapshot.h"
#include "tree/system.h"
#include "tree/touch.h"

#include "base/file.h"
#include "component/image.h"
#include "rig/joint.h"

#include <string.h>

/* ---- what can be written into a state ---- */

enum { WORD = 8 };                                /* bytes; all fields are whole words */
typedef uint64_t __attribute__((may_alias)) word; /* for bits of what they are */

typedef enum { SETTINGS, MOTION, ROOTS, FACTORS, FORCES, WRENCHES, FIELDS } field_kind;

/* Single numbers of a state, together. */
typedef struct settings {
    double time, alpha, gravity[3];
    bough_wind wind;
    int32_t coupling, passes, pushed, asked; /* asked: the next step is to look at its energies */
} settings;

static settings settings_of(const bough_tree_state *s) {
    return (settings){s->time,
                      s->alpha,
                      {s->gravity[0], s->gravity[1], s->gravity[2]},
                      s->wind,
                      (int32_t)s->coupling,
                      s->passes,
                      bo_tree_work_of(s)->pushed,
                      bo_tree_ledger_of(s)->asked != 0};
}

static void set(bough_tree_state *s, const settings *to) {
    s->time = to->time, s->alpha = to->alpha, s->wind = to->wind;
    memcpy(s->gravity, to->gravity, sizeof s->gravity);
    s->coupling = (bough_coupling)to->coupling, s->passes = to->passes;
    bo_tree_work_of(s)->pushed = to->pushed != 0;
    bo_tree_ledger_of(s)->asked = to->asked != 0;
}

typedef struct field {
    void *data;
    size_t count; /* of words */
} field;

/* Lists the fields of a state on the layout of the model. Frames are left out: they are for reading. */
static void list_fields(const bough_tree_model *now, const bough_tree_state *s, settings *single,
                        field fields[FIELDS]) {
    const size_t n = (size_t)now->size, parts = (size_t)now->def.part_count, ties = (size_t)now->def.tie_count;
    const field list[FIELDS] = {
        [SETTINGS] = {single, sizeof *single / WORD},
        [MOTION] = {s->q, 3 * n}, /* and v, a */
        [ROOTS] = {s->roots, (size_t)now->free_count * (sizeof(bough_tree_root) / WORD)},
        [FACTORS] = {s->stiffness, 3 * parts + ties}, /* and both dampings, and the strengths of ties */
        [FORCES] = {bo_tree_work_of(s)->force, n},
        [WRENCHES] = {bo_tree_work_of(s)->wrench, 6 * (size_t)now->part_count}};
    memcpy(fields, list, sizeof list);
}

/* Room that each takes whatever is detached and attached. */
static void most_words(const bough_tree_model *model, size_t most[FIELDS]) {
    const size_t n = (size_t)model->size, parts = (size_t)model->def.part_count, ties = (size_t)model->def.tie_count;
    const size_t list[FIELDS] = {
        [SETTINGS] = sizeof(settings) / WORD, [MOTION] = 3 * n, [ROOTS] = parts * (sizeof(bough_tree_root) / WORD),
        [FACTORS] = 3 * parts + ties,         [FORCES] = n,     [WRENCHES] = 6 * parts};
    memcpy(most, list, sizeof list);
}

/* ---- the recording ---- */

struct bough_tree_log {
    bough_tree_state *state; /* that is recorded; NULL: it is complete, or lost */
    const char *lost;        /* why it cannot be completed; NULL: it can, or is */
    uint64_t model;          /* hash of what decides the motion */
    uint64_t end;            /* hash of the last state */
    double start_time, end_time;
    int64_t steps;        /* that were not refused */
    unsigned char *bytes; /* records */
    size_t size, capacity;
    /* while it is recorded: */
    word *seen[FIELDS];             /* what the last act left */
    word *words;                    /* all of these */
    unsigned char *copies;          /* snapshots before and after an act that is recorded as one */
    size_t before, copies_capacity; /* bytes of the first */
    bool seen_pushed;
    int32_t depth; /* acts within acts */
    bo_log_act act;
};

/* In front of each record. */
typedef struct record_head {
    uint8_t kind;
    int8_t outcome; /* status of the act */
    uint16_t field; /* WRITE */
    uint32_t count; /* WRITE: words; CHANGE: changes; INTEGRATOR: 0 or 1 */
} record_head;

typedef struct change_record {
    int32_t kind, part, parent, interface_index;
    bough_frame frame;
} change_record;

enum { NAME_SIZE = 32 };
typedef struct integrator_record {
    char name[NAME_SIZE]; /* NUL behind it */
    double rho, alpha, beta, gamma, tolerance;
    int32_t max_iterations, mode_count, mode_refresh, krylov_limit;
} integrator_record;

_Static_assert(sizeof(record_head) == WORD && sizeof(settings) % WORD == 0 && sizeof(bough_tree_root) % WORD == 0,
               "records are whole words");
_Static_assert(sizeof(settings) == 5 * 8 + sizeof(bough_wind) + 4 * 4 && sizeof(bough_wind) == 9 * 8 &&
                   sizeof(change_record) == 4 * 4 + 18 * 8 && sizeof(integrator_record) == NAME_SIZE + 5 * 8 + 4 * 4,
               "what is written has no holes");

static bool reserve(bough_context *ctx, bough_tree_log *log, size_t more) {
    return BO_RESERVE(ctx, log->bytes, log->capacity, log->size + more);
}

static void put(bough_tree_log *log, const void *bytes, size_t size) {
    memcpy(log->bytes + log->size, bytes, size);
    log->size += size;
}

static void put_head(bough_tree_log *log, bo_log_kind kind, bough_status outcome, field_kind f, size_t count) {
    const record_head head = {(uint8_t)kind, (int8_t)outcome, (uint16_t)f, (uint32_t)count};
    put(log, &head, sizeof head);
}

static bough_status put_write(bough_context *ctx, bough_tree_log *log, field_kind f, size_t first, size_t count,
                              const word *words) {
    const uint64_t at = first;
    if (!reserve(ctx, log, sizeof(record_head) + WORD + WORD * count))
        return BOUGH_ERROR_MEMORY;
    put_head(log, BO_LOG_WRITE, BOUGH_OK, f, count);
    put(log, &at, WORD);
    put(log, words, WORD * count);
    return BOUGH_OK;
}

/* The next run of words that are not those seen, from *first on; false: there is none. A gap that is not longer than
 * what a run costs beside its words is part of it. */
static bool next_run(const word *now, const word *seen, size_t count, size_t *first, size_t *end) {
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

static bough_status put_runs(bough_context *ctx, bough_tree_log *log, field_kind f, size_t count, const word *now) {
    size_t end;
    for (size_t k = 0; next_run(now, log->seen[f], count, &k, &end); k = end)
        BO_TRY(put_write(ctx, log, f, k, end - k, now + k));
    return BOUGH_OK;
}

/* Without anything pushed all forces are zero, then and now. */
static bool is_idle(const bough_tree_log *log, const bough_tree_state *state, field_kind f) {
    return (f == FORCES || f == WRENCHES) && !bo_tree_work_of(state)->pushed && !log->seen_pushed;
}

/* Records what was written into the state since the last act. */
static bough_status note_writes(bough_context *ctx, bough_tree_log *log, const bough_tree_model *now) {
    settings single = settings_of(log->state);
    field fields[FIELDS];
    list_fields(now, log->state, &single, fields);
    for (int f = 0; f < FIELDS; f++)
        if (!is_idle(log, log->state, (field_kind)f) && fields[f].count > 0 &&
            memcmp(fields[f].data, log->seen[f], WORD * fields[f].count) != 0)
            BO_TRY(put_runs(ctx, log, (field_kind)f, fields[f].count, fields[f].data));
    return BOUGH_OK;
}

static void remember(bough_tree_log *log, const bough_tree_model *now) {
    settings single = settings_of(log->state);
    field fields[FIELDS];
    list_fields(now, log->state, &single, fields);
    for (int f = 0; f < FIELDS; f++)
        if (!is_idle(log, log->state, (field_kind)f) && fields[f].count > 0)
            memcpy(log->seen[f], fields[f].data, WORD * fields[f].count);
    if (log->seen_pushed || bo_tree_work_of(log->state)->pushed) /* parts that are gone come back without wrenches */
        memset(log->seen[WRENCHES] + fields[WRENCHES].count, 0,
               WORD * (6 * (size_t)now->def.part_count - fields[WRENCHES].count));
    log->seen_pushed = bo_tree_work_of(log->state)->pushed;
}

static size_t payload_of(const bo_log_act *act) {
    switch (act->kind) {
    case BO_LOG_STEP:
    case BO_LOG_GENTLE_STEP:
    case BO_LOG_ADVANCE:
        return sizeof(double);
    case BO_LOG_CHANGE:
        return (size_t)(act->count > 0 ? act->count : 0) * sizeof(change_record);
    case BO_LOG_SNAPSHOT:
        return 4 * sizeof(uint64_t) + act->size; /* as runs it may be two words longer */
    case BO_LOG_INTEGRATOR:
        return sizeof(integrator_record);
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
    bough_status status = note_writes(ctx, log, bo_tree_now(model, state));
    if (status == BOUGH_OK && act->kind == BO_LOG_SNAPSHOT)
        status = copy_state(ctx, log, model, act->size);
    if (status == BOUGH_OK && !reserve(ctx, log, sizeof(record_head) + payload_of(act)))
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
        change_record r = {.kind = (int32_t)c->kind, .part = c->part};
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
static void put_patch(bough_tree_log *log, const word *before, const word *after) {
    const size_t count = log->act.size / WORD;
    size_t end;
    put_head(log, BO_LOG_PATCH, BOUGH_OK, 0, 0);
    const size_t start = log->size;
    log->size += sizeof(uint64_t);
    for (size_t k = 0; next_run(after, before, count, &k, &end); k = end) {
        const uint64_t run[2] = {k, end - k};
        put(log, run, sizeof run);
        put(log, after + k, WORD * (end - k));
    }
    const uint64_t size = log->size - start - sizeof size;
    memcpy(log->bytes + start, &size, sizeof size);
}

static void put_snapshot(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model) {
    unsigned char *after = log->copies + log->before;
    log->act.size = bough_tree_state_snapshot_size(model, log->state);
    take_snapshot(ctx, log, model, after);
    if (log->before == log->act.size && log->before % WORD == 0)
        put_patch(log, (const word *)log->copies, (const word *)after);
    else
        put_whole(log, after);
}

static void put_integrator(bough_tree_log *log) {
    const bough_integrator_def *def = log->act.with;
    put_head(log, BO_LOG_INTEGRATOR, BOUGH_OK, 0, def != NULL);
    if (!def)
        return;
    integrator_record r = {.rho = def->rho,
                           .alpha = def->alpha,
                           .beta = def->beta,
                           .gamma = def->gamma,
                           .tolerance = def->tolerance,
                           .max_iterations = def->max_iterations,
                           .mode_count = def->mode_count,
                           .mode_refresh = def->mode_refresh,
                           .krylov_limit = def->krylov_limit};
    const size_t length = strlen(def->name);
    memcpy(r.name, def->name, length < NAME_SIZE ? length : NAME_SIZE - 1);
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

/* Hash of all that decides how the state moves and is no part of it. */
static uint64_t hash_model(const bough_tree_model *model, const bough_tree_state *state) {
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
    size_t most[FIELDS], total = 0;
    most_words(model, most);
    for (int f = 0; f < FIELDS; f++)
        total += most[f];
    word *next = log->words = BO_NEW_ZEROS(ctx, word, total);
    for (int f = 0; f < FIELDS && next; f++) {
        log->seen[f] = next;
        next += most[f];
    }
    return next != NULL;
}

/* The state as it is, as the last act. */
static bough_status put_state(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model) {
    log->act = (bo_log_act){.kind = BO_LOG_SNAPSHOT, .size = bough_tree_state_snapshot_size(model, log->state)};
    if (!BO_RESERVE(ctx, log->copies, log->copies_capacity, log->act.size) ||
        !reserve(ctx, log, sizeof(record_head) + payload_of(&log->act)))
        return BOUGH_ERROR_MEMORY;
    take_snapshot(ctx, log, model, log->copies);
    put_whole(log, log->copies);
    return BOUGH_OK;
}

/* A method is made anew, as it will be for a replay. It can only be made for a state that it suits, so that the state
 * comes before, and after for what the method knew. */
static bough_status put_method(bough_context *ctx, bough_tree_log *log, const bough_tree_model *model) {
    const size_t most = sizeof(record_head) + sizeof(integrator_record);
    bough_integrator_def def;
    const bool any = bo_tree_integrator_def(bo_tree_work_of(log->state), &def);
    if (!reserve(ctx, log, most))
        return BOUGH_ERROR_MEMORY;
    log->act = (bo_log_act){.kind = BO_LOG_INTEGRATOR};
    put_integrator(log);
    BO_TRY(put_state(ctx, log, model));
    if (!any)
        return BOUGH_OK;
    if (!reserve(ctx, log, most + sizeof(record_head) + payload_of(&log->act))) /* for the second as well */
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
    log->model = hash_model(model, state);
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

static bough_status hash_state(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
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

static bough_status check_complete(bough_context *ctx, const bough_tree_log *log) {
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
        return check_complete(ctx, log);
    }
    const size_t size = log->size;
    bough_status status = note_writes(ctx, log, bo_tree_now(model, log->state));
    if (status == BOUGH_OK)
        status = hash_state(ctx, model, log->state, &log->end);
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

/* ---- records, read ---- */

typedef struct record {
    record_head head;
    const unsigned char *payload;
    size_t size; /* of the payload */
} record;

/* Size of the data that follow the head; false when it is no record, or ends beyond `left` bytes. */
static bool measure(const record_head *head, const unsigned char *payload, size_t left, size_t *size) {
    uint64_t bytes = 0; /* more than size_t may hold, until it was compared with `left` */
    switch (head->kind) {
    case BO_LOG_WRITE:
        bytes = WORD + WORD * (uint64_t)head->count;
        break;
    case BO_LOG_STEP:
    case BO_LOG_GENTLE_STEP:
    case BO_LOG_ADVANCE:
        bytes = sizeof(double);
        break;
    case BO_LOG_UPDATE:
    case BO_LOG_COME_BACK:
        break;
    case BO_LOG_CHANGE:
        bytes = sizeof(change_record) * (uint64_t)head->count;
        break;
    case BO_LOG_SNAPSHOT:
    case BO_LOG_PATCH:
        if (left < sizeof bytes)
            return false;
        memcpy(&bytes, payload, sizeof bytes);
        if (bytes > left - sizeof bytes)
            return false;
        bytes += sizeof bytes;
        break;
    case BO_LOG_INTEGRATOR:
        bytes = head->count ? sizeof(integrator_record) : 0;
        break;
    default:
        return false;
    }
    *size = (size_t)bytes;
    return bytes <= left;
}

static bool is_step(bo_log_kind kind) {
    return kind == BO_LOG_STEP || kind == BO_LOG_GENTLE_STEP || kind == BO_LOG_ADVANCE;
}

/* The record at *at, which moves behind it. False: there is none. */
static bool next_record(const bough_tree_log *log, size_t *at, record *r) {
    const size_t left = log->size - *at;
    if (left < sizeof r->head)
        return false;
    memcpy(&r->head, log->bytes + *at, sizeof r->head);
    r->payload = log->bytes + *at + sizeof r->head;
    if (!measure(&r->head, r->payload, left - sizeof r->head, &r->size))
        return false;
    *at += sizeof r->head + r->size;
    return true;
}

/* ---- files ---- */

#define LOG_VERSION 2
#define BYTE_ORDER_MARK 0x01020304u
static const char magic[8] = {'b', 'o', 'u', 'g', 'h', 'l', 'o', 'g'};

typedef struct file_head {
    char magic[8];
    uint32_t version, byte_order;
    uint64_t model, size, end; /* size: of the records */
    int64_t steps;
    double start_time, end_time;
    uint64_t checksum; /* of all before and after it */
} file_head;
_Static_assert(sizeof(file_head) == 9 * 8, "the head has holes");

static uint64_t checksum_of(const file_head *head, const void *records, size_t size) {
    return bo_image_hash(bo_image_hash(0, head, offsetof(file_head, checksum)), records, size);
}

void bo_log_seal(void *bytes, size_t size) {
    file_head head;
    memcpy(&head, bytes, sizeof head);
    head.checksum = checksum_of(&head, (const char *)bytes + sizeof head, size - sizeof head);
    memcpy(bytes, &head, sizeof head);
}

static bough_status write_log(bough_context *ctx, const bough_tree_log *log, uint64_t end, double end_time,
                              const char *path) {
    bo_output output;
    file_head head = {.version = LOG_VERSION,
                      .byte_order = BYTE_ORDER_MARK,
                      .model = log->model,
                      .size = log->size,
                      .end = end,
                      .steps = log->steps,
                      .start_time = log->start_time,
                      .end_time = end_time};
    memcpy(head.magic, magic, sizeof magic);
    head.checksum = checksum_of(&head, log->bytes, log->size);
    BO_TRY(bo_output_open(ctx, path, &output));
    output.durable = true;
    fwrite(&head, sizeof head, 1, output.stream);
    fwrite(log->bytes, 1, log->size, output.stream);
    return bo_output_commit(ctx, &output);
}

bough_status bough_tree_log_save(bough_context *ctx, const bough_tree_log *log, const char *path) {
    BO_TRY(check_complete(ctx, log));
    return write_log(ctx, log, log->end, log->end_time, path);
}

bough_status bough_tree_log_flush(bough_context *ctx, const bough_tree_model *model, bough_tree_log *log,
                                  const char *path) {
    if (!log->state || log->lost)
        return bough_tree_log_save(ctx, log, path);
    const size_t size = log->size;
    uint64_t end;
    bough_status status = note_writes(ctx, log, bo_tree_now(model, log->state));
    if (status == BOUGH_OK)
        status = hash_state(ctx, model, log->state, &end);
    if (status != BOUGH_OK) {
        log->size = size;
        return status;
    }
    return write_log(ctx, log, end, log->state->time, path);
}

/* Records follow each other to the end, and as many steps are among them as the head says. */
static bough_status check_records(bough_context *ctx, const bough_tree_log *log) {
    int64_t steps = 0;
    size_t at = 0;
    record r;
    while (next_record(log, &at, &r))
        steps += is_step((bo_log_kind)r.head.kind) && r.head.outcome == BOUGH_OK;
    return at == log->size && steps == log->steps
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_FORMAT, "the recording is damaged: what is at byte %zu is no record", at);
}

static bough_status read_head(bough_context *ctx, const void *bytes, size_t size, file_head *head) {
    if (size < sizeof *head || memcmp(bytes, magic, sizeof magic) != 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "this is no recording of what was done to a state");
    memcpy(head, bytes, sizeof *head);
    if (head->version != LOG_VERSION || head->byte_order != BYTE_ORDER_MARK)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "the recording is of another version or kind of machine");
    if (head->size != size - sizeof *head)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the recording has %zu bytes and should have %llu more than %zu", size,
                       (unsigned long long)head->size, sizeof *head);
    if (head->size == 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the recording has no records, not even the state it starts from");
    if (head->checksum != checksum_of(head, (const char *)bytes + sizeof *head, size - sizeof *head))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the recording is damaged: its checksum is wrong");
    return BOUGH_OK;
}

bough_status bough_tree_log_read(bough_context *ctx, const void *bytes, size_t size, bough_tree_log **out) {
    file_head head;
    *out = NULL;
    BO_TRY(read_head(ctx, bytes, size, &head));
    bough_tree_log *log = BO_NEW(ctx, bough_tree_log);
    if (!log || !reserve(ctx, log, (size_t)head.size)) {
        bough_tree_log_destroy(ctx, log);
        return BOUGH_ERROR_MEMORY;
    }
    log->model = head.model, log->end = head.end, log->steps = head.steps;
    log->start_time = head.start_time, log->end_time = head.end_time;
    put(log, (const char *)bytes + sizeof head, (size_t)head.size);
    bough_status status = check_records(ctx, log);
    if (status == BOUGH_OK)
        *out = log;
    else
        bough_tree_log_destroy(ctx, log);
    return status;
}

bough_status bough_tree_log_load(bough_context *ctx, const char *path, bough_tree_log **log) {
    bo_mapping mapping;
    *log = NULL;
    BO_TRY(bo_map_file(ctx, path, &mapping));
    bough_status status = bough_tree_log_read(ctx, mapping.data, mapping.size, log);
    if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY)
        bo_prefix_message(ctx, "%s: ", path);
    bo_unmap_file(ctx, &mapping);
    return status;
}

/* ---- doing it again ---- */

typedef struct player {
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
} player;

static bough_status write_numbers(const player *p, const record *r) {
    const bough_tree_model *now = bo_tree_now(p->model, p->state);
    settings single = settings_of(p->state);
    field fields[FIELDS];
    uint64_t first;
    list_fields(now, p->state, &single, fields);
    memcpy(&first, r->payload, WORD);
    const size_t count = r->head.field < FIELDS ? fields[r->head.field].count : 0;
    if (first > count || r->head.count > count - first)
        return bo_fail(p->ctx, BOUGH_ERROR_FORMAT,
                       "the recording writes numbers %llu to %llu of field %d, which has %zu",
                       (unsigned long long)first, (unsigned long long)first + r->head.count, r->head.field, count);
    memcpy((uint64_t *)fields[r->head.field].data + first, r->payload + WORD, WORD * (size_t)r->head.count);
    if (r->head.field == SETTINGS)
        set(p->state, &single);
    if (r->head.field == ROOTS)
        bo_tree_number_roots(now, p->state);
    return BOUGH_OK;
}

static bough_status step(const player *p, const record *r) {
    double dt;
    memcpy(&dt, r->payload, sizeof dt);
    return r->head.kind == BO_LOG_STEP          ? bough_tree_step(p->ctx, p->model, p->state, dt)
           : r->head.kind == BO_LOG_GENTLE_STEP ? bo_tree_step_gently(p->ctx, p->model, p->state, dt)
                                                : bough_tree_advance(p->ctx, p->model, p->state, dt, NULL);
}

static bough_status change(const player *p, const record *r) {
    const int32_t count = (int32_t)(r->size / sizeof(change_record));
    bough_change *changes = BO_NEW_ZEROS(p->ctx, bough_change, count);
    if (!changes)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        change_record c;
        memcpy(&c, r->payload + (size_t)i * sizeof c, sizeof c);
        changes[i] = (bough_change){(bough_change_kind)c.kind, c.part, c.parent, c.interface_index, c.frame};
    }
    bough_status status = bough_tree_state_change(p->ctx, p->model, p->state, count, changes);
    bo_free(p->ctx, changes);
    return status;
}

static bough_status use_integrator(const player *p, const record *r) {
    bough_integrator_def def = bough_default_integrator_def();
    integrator_record i;
    if (r->head.count == 0)
        return bough_tree_state_use_integrator(p->ctx, p->model, p->state, NULL);
    memcpy(&i, r->payload, sizeof i);
    i.name[NAME_SIZE - 1] = 0;
    def.name = i.name, def.rho = i.rho, def.alpha = i.alpha, def.beta = i.beta, def.gamma = i.gamma;
    def.tolerance = i.tolerance, def.max_iterations = i.max_iterations, def.mode_count = i.mode_count;
    def.mode_refresh = i.mode_refresh, def.krylov_limit = i.krylov_limit;
    return bough_tree_state_use_integrator(p->ctx, p->model, p->state, &def);
}

/* Runs of the payload over the words of the state's own snapshot. */
static bool apply_runs(const record *r, unsigned char *words, size_t count) {
    const unsigned char *at = r->payload + sizeof(uint64_t), *end = r->payload + r->size;
    uint64_t run[2];
    while ((size_t)(end - at) >= sizeof run) {
        memcpy(run, at, sizeof run);
        at += sizeof run;
        if (run[0] > count || run[1] > count - run[0] || run[1] > (size_t)(end - at) / WORD)
            return false;
        memcpy(words + WORD * run[0], at, WORD * (size_t)run[1]);
        at += WORD * run[1];
    }
    return at == end;
}

static bough_status patch(const player *p, const record *r) {
    const size_t size = bough_tree_state_snapshot_size(p->model, p->state);
    unsigned char *bytes = bo_alloc(p->ctx, size, 1);
    if (!bytes)
        return BOUGH_ERROR_MEMORY;
    bo_tree_save_plain(p->model, p->state, bytes);
    bough_status status =
        apply_runs(r, bytes, size / WORD)
            ? bo_tree_restore_plain(p->ctx, p->model, p->state, bytes, size)
            : bo_fail(p->ctx, BOUGH_ERROR_FORMAT, "the recording writes beyond the snapshot of the state");
    bo_free(p->ctx, bytes);
    return status;
}

static bough_status repeat(const player *p, const record *r) {
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
static bool may_be_refused(const record_head *head) {
    const bo_log_kind kind = (bo_log_kind)head->kind;
    return is_step(kind) || kind == BO_LOG_UPDATE || kind == BO_LOG_COME_BACK;
}

/* Changes that came to nothing fail again where the state cannot be entered, which tells nothing new. */
static bool is_nothing(const record_head *head) {
    return head->kind == BO_LOG_CHANGE && head->count == 0;
}

bough_status bough_tree_log_replay(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   const bough_tree_log *log, bough_tree_log_watch watch, void *data, bool *same) {
    const player p = {ctx, model, state};
    bool alike = true;
    int64_t steps = 0;
    uint64_t end;
    record r;
    if (same)
        *same = false;
    BO_TRY(check_complete(ctx, log));
    if (log->model != hash_model(model, state))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the recording is of a state of another model, or of one that touches other things");
    for (size_t at = 0; next_record(log, &at, &r);) {
        const bo_log_kind kind = (bo_log_kind)r.head.kind;
        const bough_status status = repeat(&p, &r);
        if (status == BOUGH_ERROR_MEMORY || (status != BOUGH_OK && !may_be_refused(&r.head) && !is_nothing(&r.head)))
            return status;
        if (status != r.head.outcome && may_be_refused(&r.head) && alike) {
            bo_warn(ctx, "after %lld steps the replay goes another way than the recording: %s", (long long)steps,
                    status == BOUGH_OK ? "what was refused is not" : bough_message(ctx));
            alike = false;
        }
        if (!is_step(kind))
            continue;
        if (status == BOUGH_OK)
            steps++;
        if (status == BOUGH_OK && watch)
            BO_TRY(watch(data, ctx, model, state));
        if (!bo_progress(ctx, "replaying", (double)at / (double)log->size, "step %lld of %lld", (long long)steps,
                         (long long)log->steps))
            return bo_fail_cancelled(ctx);
    }
    BO_TRY(hash_state(ctx, model, state, &end));
    if (same)
        *same = alike && end == log->end;
    return BOUGH_OK;
}
