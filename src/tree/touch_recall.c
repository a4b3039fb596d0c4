/* Forces of contacts are kept from one step to the next: what rests is found at once. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

#include "base/vec.h"

#include <math.h>
#include <string.h>

static uint64_t hash_of(int32_t part, int32_t feature, int32_t other) {
    uint64_t x = ((uint64_t)(uint32_t)part << 32) ^ ((uint64_t)(uint32_t)other << 12) ^ (uint64_t)(uint32_t)feature;
    x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
    return x ^ (x >> 29);
}

static int32_t other_of(const bough_tree_model *model, const bo_tree_point *point) {
    return point->other >= 0 ? model->parts[point->other].user : -2 - point->obstacle;
}

/* Solids of one part are told apart by their order. */
static int32_t feature_of(const bo_tree_touch *touch, const bo_tree_point *point) {
    const int32_t order = point->shape >= 0 ? touch->def.solids[point->shape].order : 0;
    return point->feature + (order & 7) * (1 << 28);
}

enum { PLACES = 4 * BO_TREE_MEMORY }; /* a power of two: most are free */

void bo_tree_touch_index(bo_tree_touch *touch) {
    for (size_t k = 0; k < PLACES; k++)
        touch->places[k] = -1;
    for (size_t i = 0; i < touch->memory_count; i++) {
        const bo_tree_memory *m = &touch->memory[i];
        size_t at = hash_of(m->part, m->feature, m->other) & (PLACES - 1);
        while (touch->places[at] >= 0)
            at = (at + 1) & (PLACES - 1);
        touch->places[at] = (int32_t)i;
    }
}

bough_status bo_tree_touch_make_memory(bough_context *ctx, bo_tree_touch *touch) {
    touch->memory = BO_NEW_ARRAY(ctx, bo_tree_memory, BO_TREE_MEMORY);
    touch->fresh = BO_NEW_ARRAY(ctx, bo_tree_memory, BO_TREE_MEMORY);
    touch->places = BO_NEW_ARRAY(ctx, int32_t, PLACES);
    if (!touch->memory || !touch->fresh || !touch->places)
        return BOUGH_ERROR_MEMORY;
    bo_tree_touch_index(touch);
    return BOUGH_OK;
}

static const bo_tree_memory *find(const bo_tree_touch *touch, int32_t part, int32_t feature, int32_t other) {
    for (size_t at = hash_of(part, feature, other) & (PLACES - 1); touch->places[at] >= 0;
         at = (at + 1) & (PLACES - 1)) {
        const bo_tree_memory *m = &touch->memory[touch->places[at]];
        if (m->part == part && m->feature == feature && m->other == other)
            return m;
    }
    return NULL;
}

bool bo_tree_touch_recall(const bough_tree_model *model, bo_tree_touch *touch) {
    bool any = false;
    for (size_t i = 0; i < touch->point_count && touch->memory_count > 0; i++) {
        bo_tree_point *point = &touch->points[i];
        const bo_tree_memory *m =
            find(touch, model->parts[point->part].user, feature_of(touch, point), other_of(model, point));
        const double normal = m ? bo_dot(bo_load3(m->force), point->axes[0]) : 0;
        if (!(normal > 0))
            continue;
        for (int k = 0; k < 3; k++)
            point->force[k] = bo_dot(bo_load3(m->force), point->axes[k]);
        point->multiplier = point->pressed = normal;
        any = true;
    }
    return any;
}

void bo_tree_touch_note(const bough_tree_model *model, bo_tree_touch *touch) {
    touch->fresh_count = 0;
    for (size_t i = 0; i < touch->point_count && touch->fresh_count < BO_TREE_MEMORY; i++) {
        const bo_tree_point *point = &touch->points[i];
        bo_vec3 force = bo_v3(0, 0, 0);
        if (!(point->force[0] > 0))
            continue;
        for (int k = 0; k < 3; k++)
            force = bo_mul_add(force, point->force[k], point->axes[k]);
        bo_tree_memory *m = &touch->fresh[touch->fresh_count++];
        *m = (bo_tree_memory){.part = model->parts[point->part].user,
                              .feature = feature_of(touch, point),
                              .other = other_of(model, point)};
        bo_store3(m->force, force);
    }
}

void bo_tree_touch_remember(bo_tree_touch *touch) {
    const bool any = touch->memory_count > 0 || touch->answered;
    touch->memory_count = touch->answered ? touch->fresh_count : 0;
    memcpy(touch->memory, touch->fresh, touch->memory_count * sizeof *touch->memory);
    if (any)
        bo_tree_touch_index(touch);
}

/* ---- contacts of trees that sleep, in snapshots ---- */

/* A contact as plain numbers. */
typedef struct bo_kept_record {
    double part, obstacle, other, gap;
    double position[3], normal[3], force[3];
} bo_kept_record;

size_t bo_tree_kept_size(const bo_tree_touch *touch) {
    return touch ? touch->kept_count * sizeof(bo_kept_record) : 0;
}

void bo_tree_save_kept(const bo_tree_touch *touch, unsigned char *bytes) {
    for (size_t i = 0; touch && i < touch->kept_count; i++) {
        const bo_tree_contact *from = &touch->kept[i];
        bo_kept_record to = {.part = from->part, .obstacle = from->obstacle, .other = from->other, .gap = from->gap};
        bo_store3(to.position, from->position);
        bo_store3(to.normal, from->normal);
        bo_store3(to.force, from->force);
        memcpy(bytes + i * sizeof to, &to, sizeof to);
    }
}

static bool is_index(double x, double end) {
    return x >= -1 && x < end && x == floor(x);
}

bough_status bo_tree_check_kept(bough_context *ctx, const bough_tree_model *model, bo_tree_touch *touch,
                                const unsigned char *bytes, size_t size) {
    const double parts = model->def.part_count;
    if (size % sizeof(bo_kept_record) != 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the snapshot has %zu bytes too many", size % sizeof(bo_kept_record));
    for (size_t at = 0; touch && at < size; at += sizeof(bo_kept_record)) {
        bo_kept_record k;
        memcpy(&k, bytes + at, sizeof k);
        const bool known = k.part >= 0 && is_index(k.part, parts) && is_index(k.other, parts) &&
                           is_index(k.obstacle, touch->def.obstacle_count) && (k.other < 0) != (k.obstacle < 0);
        if (!known || !bo_all_finite(sizeof k / sizeof(double), &k.part))
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the snapshot has a contact of things that are not there");
    }
    return touch && (!BO_RESERVE(ctx, touch->kept, touch->kept_capacity, size / sizeof(bo_kept_record) + 1) ||
                     !BO_RESERVE(ctx, touch->contacts, touch->contact_capacity, size / sizeof(bo_kept_record) + 1))
               ? BOUGH_ERROR_MEMORY
               : BOUGH_OK;
}

void bo_tree_read_kept(bo_tree_touch *touch, const unsigned char *bytes, size_t size) {
    if (!touch)
        return;
    touch->kept_count = size / sizeof(bo_kept_record);
    for (size_t i = 0; i < touch->kept_count; i++) {
        bo_kept_record k;
        memcpy(&k, bytes + i * sizeof k, sizeof k);
        touch->kept[i] = touch->contacts[i] = (bo_tree_contact){.part = (int32_t)k.part,
                                                                .obstacle = (int32_t)k.obstacle,
                                                                .other = (int32_t)k.other,
                                                                .position = bo_load3(k.position),
                                                                .normal = bo_load3(k.normal),
                                                                .force = bo_load3(k.force),
                                                                .gap = k.gap};
    }
    touch->contact_count = (int32_t)touch->kept_count;
}

static bool is_held(const bough_tree_model *model, int32_t user) {
    const int32_t part = user < 0 ? -1 : model->inside[user];
    return part >= 0 && !model->parts[part].flies;
}

bool bo_tree_touch_presses_held(const bough_tree_model *model, const bo_tree_work *w) {
    for (size_t i = 0; w->touch && i < w->touch->memory_count; i++)
        if (is_held(model, w->touch->memory[i].part) || is_held(model, w->touch->memory[i].other))
            return true;
    return false;
}
