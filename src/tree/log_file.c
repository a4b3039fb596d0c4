/* Recordings as files, and the records in them. docs/log-format.md */
#include "tree/log_inside.h"

#include "base/file.h"
#include "component/image.h"

#include <string.h>

/* ---- records ---- */

/* Size of the data that follow the head; false when it is no record, or ends beyond `left` bytes. */
static bool measure(const bo_log_record_head *head, const unsigned char *payload, size_t left, size_t *size) {
    uint64_t bytes = 0; /* more than size_t may hold, until it was compared with `left` */
    switch (head->kind) {
    case BO_LOG_WRITE:
        bytes = BO_LOG_WORD + BO_LOG_WORD * (uint64_t)head->count;
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
        bytes = sizeof(bo_log_change_record) * (uint64_t)head->count;
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
        bytes = head->count ? sizeof(bo_log_integrator_record) : 0;
        break;
    default:
        return false;
    }
    *size = (size_t)bytes;
    return bytes <= left;
}

bool bo_log_is_step(bo_log_kind kind) {
    return kind == BO_LOG_STEP || kind == BO_LOG_GENTLE_STEP || kind == BO_LOG_ADVANCE;
}

bool bo_log_next_record(const bough_tree_log *log, size_t *at, bo_log_record *r) {
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
    BO_TRY(bo_log_check_complete(ctx, log));
    return write_log(ctx, log, log->end, log->end_time, path);
}

bough_status bough_tree_log_flush(bough_context *ctx, const bough_tree_model *model, bough_tree_log *log,
                                  const char *path) {
    if (!log->state || log->lost)
        return bough_tree_log_save(ctx, log, path);
    const size_t size = log->size;
    uint64_t end;
    bough_status status = bo_log_note_writes(ctx, log, bo_tree_now(model, log->state));
    if (status == BOUGH_OK)
        status = bo_log_hash_state(ctx, model, log->state, &end);
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
    bo_log_record r;
    while (bo_log_next_record(log, &at, &r))
        steps += bo_log_is_step((bo_log_kind)r.head.kind) && r.head.outcome == BOUGH_OK;
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
    if (!log || !bo_log_reserve(ctx, log, (size_t)head.size)) {
        bough_tree_log_destroy(ctx, log);
        return BOUGH_ERROR_MEMORY;
    }
    log->model = head.model, log->end = head.end, log->steps = head.steps;
    log->start_time = head.start_time, log->end_time = head.end_time;
    memcpy(log->bytes, (const char *)bytes + sizeof head, (size_t)head.size);
    log->size = (size_t)head.size;
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
