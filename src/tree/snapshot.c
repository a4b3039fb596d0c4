/* Snapshots: all that a state needs to go on with the same bits, as one block of bytes. They are for the same machine
 * and program; a model to be kept is packed (pack.c). */
#include "tree/snapshot.h"

#include "tree/change.h"
#include "tree/ledger.h"
#include "tree/log.h"
#include "tree/system.h"
#include "tree/touch.h"

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

enum { FIELDS = 22 };

/* A part's place in the tree; in plain numbers, as all of the state is. */
typedef struct bo_link {
    double parent, interface_index, free, locked, absent, joint, led, asleep;
    double rotation[9], position[3], offset[3];
} bo_link;

static bo_link link_of(const bough_part_def *part) {
    bo_link l = {.parent = part->parent,
                 .interface_index = part->interface_index,
                 .free = part->free,
                 .locked = part->locked,
                 .absent = part->absent,
                 .asleep = part->asleep,
                 .joint = part->joint ? (double)part->joint->kind : BOUGH_JOINT_WELD,
                 .led = part->track.count > 0};
    memcpy(l.rotation, part->rotation, sizeof l.rotation);
    memcpy(l.position, part->position, sizeof l.position);
    memcpy(l.offset, part->offset, sizeof l.offset);
    return l;
}

/* Everything but the links, the history of an integrator and the rotations from which the decompositions that led here
 * started: the same start makes the same bits. */
static void list_fields(const bough_tree_model *model, bough_tree_state *s, field fields[FIELDS]) {
    const size_t n = (size_t)model->size * sizeof(double), parts = (size_t)model->def.part_count;
    const size_t here = (size_t)model->part_count, ties = (size_t)model->def.tie_count;
    const field list[FIELDS] = {{&s->time, sizeof s->time},
                                {&s->wind, sizeof s->wind},
                                {s->gravity, sizeof s->gravity},
                                {&s->coupling, sizeof s->coupling},
                                {&s->passes, sizeof s->passes},
                                {&s->alpha, sizeof s->alpha},
                                {s->q, n},
                                {s->v, n},
                                {s->a, n},
                                {s->mean_a, n},
                                {&s->last_dt, sizeof s->last_dt},
                                {bo_tree_ledger_of(s), bo_ledger_size(model)},
                                {s->roots, (size_t)model->free_count * sizeof *s->roots},
                                {s->frames, parts * sizeof *s->frames},
                                {s->stiffness, 3 * parts * sizeof(double)}, /* and both dampings */
                                {s->tie_strength, ties * sizeof(double)},
                                {bo_tree_work_of(s)->tie_motion, ties * sizeof *bo_tree_work_of(s)->tie_motion},
                                {bo_tree_work_of(s)->blow, n},
                                {bo_tree_work_of(s)->blow_wrench, 6 * parts * sizeof(double)},
                                {bo_tree_work_of(s)->quiet, (parts + 3) * sizeof(double)},
                                {bo_tree_work_of(s)->force, n},
                                {bo_tree_work_of(s)->wrench, 6 * here * sizeof(double)}};
    memcpy(fields, list, sizeof list);
}

uint64_t bo_tree_shape(const bough_tree_model *model) {
    uint64_t hash = (uint64_t)model->part_count;
    for (int32_t i = 0; i < model->component_count; i++) {
        const bough_component *c = model->components[i].c;
        const uint64_t input[] = {(uint64_t)c->r, c->input_hash};
        hash = bo_image_hash(hash, input, sizeof input);
        hash = bo_image_hash(hash, &c->mass, sizeof c->mass);
    }
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const int32_t links[] = {part->component, part->parent, part->interface_index,
                                 part->offset,    part->user,   part->free};
        hash = bo_image_hash(hash, links, sizeof links);
        hash = bo_image_hash(hash, &part->scale, sizeof part->scale);
        hash = bo_image_hash(hash, &part->rest, sizeof part->rest);
        hash = bo_image_hash(hash, &part->arm, sizeof part->arm);
    }
    for (int32_t j = 0; j < model->joint_count; j++) {
        const bo_tree_joint *joint = &model->joints[j];
        const double turns[] = {joint->part, joint->count, joint->axis.x, joint->axis.y, joint->axis.z};
        hash = bo_image_hash(hash, turns, sizeof turns);
    }
    for (int32_t i = 0; i < model->def.tie_count; i++) {
        const bough_frame_def *a = &model->def.ties[i].parent, *b = &model->def.ties[i].child;
        const int32_t ends[] = {a->body, b->body, a->interface_index, b->interface_index};
        hash = bo_image_hash(hash, ends, sizeof ends);
    }
    return hash;
}

static size_t links_size(const bough_tree_model *model) {
    return (size_t)model->def.part_count * sizeof(bo_link);
}

/* Size of a snapshot of a state with the links of the model. */
static size_t size_of(const bough_tree_model *model) {
    bo_tree_work no_work = {0};
    bo_tree_state nobody = {.work = &no_work};
    field fields[FIELDS];
    size_t size = sizeof(header) + links_size(model) + (size_t)model->faces_count * 9 * sizeof(bo_v4) +
                  bo_tree_history_size(model);
    list_fields(model, &nobody.seen, fields);
    for (int f = 0; f < FIELDS; f++)
        size += fields[f].size;
    return size;
}

/* Forces of contacts stand behind all else, where the state touches something: as many as there is room for. Behind them
 * stand the contacts of trees that sleep. */
static size_t memory_size(const bough_tree_state *state) {
    return bo_tree_work_of(state)->touch ? BO_TREE_MEMORY * sizeof(bo_tree_memory) : 0;
}

static size_t touch_size(const bough_tree_state *state) {
    return memory_size(state) + bo_tree_kept_size(bo_tree_work_of(state)->touch);
}

size_t bough_tree_state_snapshot_size(const bough_tree_model *model, const bough_tree_state *state) {
    return size_of(bo_tree_now(model, state)) + touch_size(state);
}

void bo_tree_save_plain(const bough_tree_model *model, const bough_tree_state *state, void *bytes) {
    bo_tree_state view = *bo_tree_inside(state);
    field fields[FIELDS];
    model = bo_tree_now(model, state);
    header h = {.size = size_of(model) + touch_size(state), .shape = model->shape};
    unsigned char *at = (unsigned char *)bytes + sizeof h;
    for (int32_t i = 0; i < model->def.part_count; i++, at += sizeof(bo_link)) {
        const bo_link l = link_of(&model->def.parts[i]);
        memcpy(at, &l, sizeof l);
    }
    list_fields(model, &view.seen, fields);
    for (int f = 0; f < FIELDS; f++) {
        if (fields[f].size)
            memcpy(at, fields[f].data, fields[f].size);
        at += fields[f].size;
    }
    /* where the state has been changed since, the next ones start from where the last ones ended */
    const bool here = bo_tree_is_here(NULL, model, state);
    for (int32_t f = 0; f < model->faces_count; f++, at += 9 * sizeof(bo_v4))
        memcpy(at, here ? bo_tree_work_of(state)->starts + 9 * f : bo_tree_work_of(state)->faces[f].polar,
               9 * sizeof(bo_v4));
    bo_tree_history(model, bo_tree_work_of(state), at);
    at += bo_tree_history_size(model);
    for (size_t i = 0; i < memory_size(state) / sizeof(bo_tree_memory); i++, at += sizeof(bo_tree_memory)) {
        static const bo_tree_memory none = {.part = -1};
        const bo_tree_touch *touch = bo_tree_work_of(state)->touch;
        memcpy(at, i < touch->memory_count ? &touch->memory[i] : &none, sizeof none);
    }
    bo_tree_save_kept(bo_tree_work_of(state)->touch, at);
    memcpy(h.mark, plain_mark, sizeof plain_mark);
    memcpy(bytes, &h, sizeof h);
}

static uint64_t checksum_of(const void *bytes, size_t size) {
    return bo_image_hash(0, (const unsigned char *)bytes + sizeof(header), size - sizeof(header));
}

void bough_tree_state_save(const bough_tree_model *model, const bough_tree_state *state, void *bytes) {
    header h;
    bo_tree_save_plain(model, state, bytes);
    memcpy(&h, bytes, sizeof h);
    memcpy(h.mark, mark, sizeof mark);
    h.checksum = checksum_of(bytes, (size_t)h.size);
    memcpy(bytes, &h, sizeof h);
}

static bough_status check_header(bough_context *ctx, const bough_tree_model *model, const void *bytes, size_t size,
                                 bool plain) {
    header h = {.size = 0};
    if (size >= sizeof h)
        memcpy(&h, bytes, sizeof h);
    if (memcmp(h.mark, plain ? plain_mark : mark, sizeof mark) != 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "these bytes are no snapshot of a state");
    if (h.shape != model->shape)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the snapshot was taken of a state of another model");
    if (h.size != size || size < sizeof h + links_size(model))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the snapshot has %zu bytes and should have %llu", size,
                       (unsigned long long)h.size);
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

void bo_tree_number_roots(const bough_tree_model *now, bough_tree_state *state) {
    for (int32_t i = 0; i < now->part_count; i++)
        if (now->parts[i].free)
            state->roots[now->parts[i].flight].part = now->parts[i].user;
}

static void read_fields(const bough_tree_model *model, bough_tree_state *state, const void *bytes) {
    field fields[FIELDS];
    const unsigned char *at = (const unsigned char *)bytes + sizeof(header) + links_size(model);
    list_fields(model, state, fields);
    for (int f = 0; f < FIELDS; f++) {
        if (fields[f].size)
            memcpy(fields[f].data, at, fields[f].size);
        at += fields[f].size;
    }
    for (int32_t f = 0; f < model->faces_count; f++, at += 9 * sizeof(bo_v4))
        memcpy(bo_tree_work_of(state)->faces[f].polar, at, 9 * sizeof(bo_v4));
    bo_tree_work_of(state)->frames_stale = true;
    bo_tree_work_of(state)->pushed =
        any(model->size, bo_tree_work_of(state)->force) || any(6 * model->part_count, bo_tree_work_of(state)->wrench);
    bo_tree_set_history(model, state, at);
    bo_tree_number_roots(model, state); /* an index is not believed, whatever the bytes say */
}

/* -2, which no part is, for what is no index. */
static int32_t index_of(double x) {
    return x >= -1 && x < INT32_MAX ? (int32_t)x : -2;
}

/* Parts where the snapshot has them. NULL in *parts: they are there already. */
static bough_status read_links(bough_context *ctx, const bough_tree_model *base, const bough_tree_model *model,
                               const void *bytes, bough_part_def **parts) {
    const unsigned char *at = (const unsigned char *)bytes + sizeof(header);
    bool same = true;
    *parts = NULL;
    for (int32_t i = 0; i < model->def.part_count && same; i++) {
        const bo_link l = link_of(&model->def.parts[i]);
        same = memcmp(&l, at + (size_t)i * sizeof l, sizeof l) == 0;
    }
    if (same)
        return BOUGH_OK;
    bough_part_def *out = bo_tree_copy_links(ctx, model);
    if (!out)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < model->def.part_count; i++, at += sizeof(bo_link)) {
        bo_link l;
        memcpy(&l, at, sizeof l);
        out[i].parent = index_of(l.parent), out[i].interface_index = index_of(l.interface_index);
        out[i].free = l.free != 0, out[i].locked = l.locked != 0, out[i].absent = l.absent != 0;
        out[i].asleep = l.asleep != 0;
        const bough_joint_def *joint = base->def.parts[i].joint;
        out[i].joint = joint && l.joint == (double)joint->kind ? joint : NULL;
        out[i].track.count = l.led != 0 ? base->def.parts[i].track.count : 0;
        memcpy(out[i].rotation, l.rotation, sizeof l.rotation);
        memcpy(out[i].position, l.position, sizeof l.position);
        memcpy(out[i].offset, l.offset, sizeof l.offset);
    }
    *parts = out;
    return BOUGH_OK;
}

/* A state that touches nothing has no use for it. */
static void read_memory(bo_tree_touch *touch, const unsigned char *bytes, size_t size) {
    if (!touch)
        return;
    touch->memory_count = 0;
    for (size_t i = 0; i < size / sizeof(bo_tree_memory); i++) {
        bo_tree_memory m;
        memcpy(&m, bytes + i * sizeof m, sizeof m);
        if (m.part >= 0)
            touch->memory[touch->memory_count++] = m;
    }
    bo_tree_touch_index(touch);
}

static bough_status go_back(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                            const void *bytes, size_t size, bool plain) {
    bough_part_def *parts;
    bo_tree_shift shift = {0};
    BO_TRY(check_header(ctx, model, bytes, size, plain));
    BO_TRY(read_links(ctx, model, bo_tree_now(model, state), bytes, &parts));
    if (parts)
        BO_TRY(bo_tree_begin_shift(ctx, model, state, parts, &shift));
    const bough_tree_model *next = parts ? shift.own : bo_tree_now(model, state);
    const size_t expected = size_of(next), memory = size > expected ? BO_TREE_MEMORY * sizeof(bo_tree_memory) : 0;
    const unsigned char *behind = (const unsigned char *)bytes + expected, *kept = behind + memory;
    const size_t kept_size = size - expected - memory;
    bo_tree_touch *touch = bo_tree_work_of(state)->touch;
    bough_status status = BOUGH_OK;
    if (size < expected + memory)
        status = bo_fail(ctx, BOUGH_ERROR_FORMAT, "the snapshot has %zu bytes and should have %zu", size, expected);
    else
        status = bo_tree_check_kept(ctx, model, touch, kept, kept_size);
    if (status != BOUGH_OK) {
        bo_tree_drop_shift(ctx, &shift);
        return status;
    }
    if (parts)
        bo_tree_make_shift(ctx, model, state, &shift);
    read_fields(next, state, bytes);
    read_memory(touch, behind, memory);
    bo_tree_read_kept(touch, kept, kept_size);
    return BOUGH_OK;
}

static bough_status restore(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                            const void *bytes, size_t size, bool plain) {
    /* a snapshot from before the state touched something becomes larger by what it remembers of contacts */
    BO_TRY(bo_log_begin(ctx, model, state, &(bo_log_act){.kind = BO_LOG_SNAPSHOT, .size = size + memory_size(state)}));
    return bo_log_end(ctx, model, state, go_back(ctx, model, state, bytes, size, plain));
}

bough_status bough_tree_state_restore(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                      const void *bytes, size_t size) {
    return restore(ctx, model, state, bytes, size, false);
}

bough_status bo_tree_restore_plain(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   const void *bytes, size_t size) {
    return restore(ctx, model, state, bytes, size, true);
}
