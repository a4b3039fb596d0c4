/* Snapshots: all that a state needs to go on with the same bits, as one block of bytes. They are for the same machine
 * and program; a model to be kept is packed (pack.c). */
#include "tree/snapshot.h"

#include "tree/system.h"

#include "component/image.h"

#include <string.h>

/* In front of the fields. */
typedef struct header {
    char mark[8];
    uint64_t size;     /* of the whole snapshot */
    uint64_t shape;    /* hash of what the model is made of */
    uint64_t checksum; /* of all that follows; 0 in a plain copy */
} header;

static const char mark[8] = {'b', 'o', 'u', 'g', 'h', 's', 't', '1'};
static const char plain_mark[8] = {'b', 'o', 'u', 'g', 'h', 's', 't', 'p'};

typedef struct field {
    void *data;
    size_t size; /* bytes */
} field;

enum { FIELDS = 13 };

/* Everything but the history of an integrator and the rotations from which the decompositions that led here started:
 * the same start makes the same bits. */
static void list_fields(const bough_model *model, bough_state *s, field fields[FIELDS]) {
    const size_t n = (size_t)model->size * sizeof(double), parts = (size_t)model->part_count;
    const field list[FIELDS] = {{&s->time, sizeof s->time},
                                {&s->wind, sizeof s->wind},
                                {&s->coupling, sizeof s->coupling},
                                {&s->passes, sizeof s->passes},
                                {&s->alpha, sizeof s->alpha},
                                {s->q, n},
                                {s->v, n},
                                {s->a, n},
                                {s->roots, (size_t)model->free_count * sizeof *s->roots},
                                {s->frames, parts * sizeof *s->frames},
                                {s->stiffness, 3 * parts * sizeof(double)}, /* and both dampings */
                                {s->work->force, n},
                                {s->work->wrench, 6 * parts * sizeof(double)}};
    memcpy(fields, list, sizeof list);
}

uint64_t bo_tree_shape(const bough_model *model) {
    uint64_t hash = (uint64_t)model->part_count;
    for (int32_t i = 0; i < model->component_count; i++) {
        const bough_component *c = model->components[i].c;
        const uint64_t input[] = {(uint64_t)c->r, c->input_hash};
        hash = bo_image_hash(hash, input, sizeof input);
        hash = bo_image_hash(hash, &c->mass, sizeof c->mass);
    }
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const int32_t links[] = {part->component, part->parent, part->interface, part->offset, part->user, part->free};
        hash = bo_image_hash(hash, links, sizeof links);
        hash = bo_image_hash(hash, &part->scale, sizeof part->scale);
        hash = bo_image_hash(hash, &part->rest, sizeof part->rest);
    }
    return hash;
}

size_t bough_state_snapshot_size(const bough_model *model) {
    bo_tree_work no_work = {0};
    bough_state nobody = {.work = &no_work};
    field fields[FIELDS];
    size_t size = sizeof(header) + (size_t)model->faces_count * 9 * sizeof(bo_v4) + bo_tree_history_size(model);
    list_fields(model, &nobody, fields);
    for (int f = 0; f < FIELDS; f++)
        size += fields[f].size;
    return size;
}

void bo_tree_save_plain(const bough_model *model, const bough_state *state, void *bytes) {
    bough_state view = *state;
    field fields[FIELDS];
    header h = {.size = bough_state_snapshot_size(model), .shape = model->shape};
    unsigned char *at = (unsigned char *)bytes + sizeof h;
    list_fields(model, &view, fields);
    for (int f = 0; f < FIELDS; f++) {
        if (fields[f].size)
            memcpy(at, fields[f].data, fields[f].size);
        at += fields[f].size;
    }
    /* where the state has been changed since, the next ones start from where the last ones ended */
    const bool here = bo_tree_is_here(NULL, model, state);
    for (int32_t f = 0; f < model->faces_count; f++, at += 9 * sizeof(bo_v4))
        memcpy(at, here ? state->work->starts + 9 * f : state->work->faces[f].polar, 9 * sizeof(bo_v4));
    bo_tree_history(model, state->work, at);
    memcpy(h.mark, plain_mark, sizeof plain_mark);
    memcpy(bytes, &h, sizeof h);
}

static uint64_t checksum_of(const void *bytes, size_t size) {
    return bo_image_hash(0, (const unsigned char *)bytes + sizeof(header), size - sizeof(header));
}

void bough_state_save(const bough_model *model, const bough_state *state, void *bytes) {
    header h;
    bo_tree_save_plain(model, state, bytes);
    memcpy(&h, bytes, sizeof h);
    memcpy(h.mark, mark, sizeof mark);
    h.checksum = checksum_of(bytes, (size_t)h.size);
    memcpy(bytes, &h, sizeof h);
}

static bough_status check_header(bough_context *ctx, const bough_model *model, const void *bytes, size_t size,
                                 bool plain) {
    header h = {.size = 0};
    if (size >= sizeof h)
        memcpy(&h, bytes, sizeof h);
    if (memcmp(h.mark, plain ? plain_mark : mark, sizeof mark) != 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "these bytes are no snapshot of a state");
    if (h.shape != model->shape)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the snapshot was taken of a state of another model");
    if (h.size != size || size != bough_state_snapshot_size(model))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the snapshot has %zu bytes and should have %zu", size,
                       bough_state_snapshot_size(model));
    if (!plain && h.checksum != checksum_of(bytes, size))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the snapshot is damaged: its checksum is wrong");
    return BOUGH_OK;
}

static bool any(int32_t count, const double *x) {
    for (int32_t i = 0; i < count; i++)
        if (x[i] != 0)
            return true;
    return false;
}

static void read_fields(const bough_model *model, bough_state *state, const void *bytes) {
    field fields[FIELDS];
    const unsigned char *at = (const unsigned char *)bytes + sizeof(header);
    list_fields(model, state, fields);
    for (int f = 0; f < FIELDS; f++) {
        if (fields[f].size)
            memcpy(fields[f].data, at, fields[f].size);
        at += fields[f].size;
    }
    for (int32_t f = 0; f < model->faces_count; f++, at += 9 * sizeof(bo_v4))
        memcpy(state->work->faces[f].polar, at, 9 * sizeof(bo_v4));
    state->work->elsewhere = true;
    state->work->pushed = any(model->size, state->work->force) || any(6 * model->part_count, state->work->wrench);
    bo_tree_set_history(model, state, at);
    for (int32_t i = 0; i < model->part_count; i++) /* an index is not believed, whatever the bytes say */
        if (model->parts[i].free)
            state->roots[model->parts[i].flight].part = model->parts[i].user;
}

bough_status bough_state_restore(bough_context *ctx, const bough_model *model, bough_state *state, const void *bytes,
                                 size_t size) {
    BO_TRY(check_header(ctx, model, bytes, size, false));
    read_fields(model, state, bytes);
    return BOUGH_OK;
}

bough_status bo_tree_restore_plain(bough_context *ctx, const bough_model *model, bough_state *state, const void *bytes,
                                   size_t size) {
    BO_TRY(check_header(ctx, model, bytes, size, true));
    read_fields(model, state, bytes);
    return BOUGH_OK;
}
