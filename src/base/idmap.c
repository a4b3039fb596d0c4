#include "base/idmap.h"

#include <string.h>

void bo_idmap_free(bough_context *ctx, bo_idmap *map) {
    bo_free(ctx, map->keys);
    bo_free(ctx, map->values);
    *map = (bo_idmap){0};
}

#define NO_SLOT SIZE_MAX

/* The finaliser of splitmix64 (Steele, Lea and Flood 2014): every bit of the key changes every bit of the hash with a
 * probability near 1/2, so that multiples of a power of two spread like any other keys. There is no random seed,
 * because the same file must give the same run. */
uint64_t bo_hash(uint64_t key) {
    uint64_t z = key;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Returns the slot of the key, or the free slot where it belongs, or NO_SLOT when neither is near enough (open
 * addressing; slot_count is a power of two). */
static size_t find_slot(const bo_idmap *map, int64_t key) {
    size_t slot = (size_t)bo_hash((uint64_t)key);
    for (size_t i = 0; i <= BO_LONGEST_SEARCH; i++, slot++) {
        slot &= map->slot_count - 1;
        if (map->values[slot] < 0 || map->keys[slot] == key)
            return slot;
    }
    return NO_SLOT;
}

static bough_status fail_colliding(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_ERROR_FORMAT,
                   "numbers of vertices or elements: too many of them have the same hash; "
                   "number them another way");
}

static bough_status grow(bough_context *ctx, bo_idmap *map) {
    bo_idmap bigger = {.slot_count = map->slot_count ? map->slot_count * 2 : 64, .used = map->used};
    bigger.keys = BO_NEW_ARRAY(ctx, int64_t, bigger.slot_count);
    bigger.values = BO_NEW_ARRAY(ctx, int32_t, bigger.slot_count);
    if (!bigger.keys || !bigger.values) {
        bo_idmap_free(ctx, &bigger);
        return BOUGH_ERROR_MEMORY;
    }
    memset(bigger.values, 0xff, bigger.slot_count * sizeof *bigger.values);
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->values[i] >= 0) {
            size_t slot = find_slot(&bigger, map->keys[i]);
            if (slot == NO_SLOT) {
                bo_idmap_free(ctx, &bigger);
                return fail_colliding(ctx);
            }
            bigger.keys[slot] = map->keys[i];
            bigger.values[slot] = map->values[i];
        }
    bo_idmap_free(ctx, map);
    *map = bigger;
    return BOUGH_OK;
}

bough_status bo_idmap_add(bough_context *ctx, bo_idmap *map, int64_t key, int32_t value, int32_t *found) {
    if (map->used * 2 >= map->slot_count)
        BO_TRY(grow(ctx, map));
    size_t slot = find_slot(map, key);
    if (slot == NO_SLOT)
        return fail_colliding(ctx);
    *found = map->values[slot];
    if (*found < 0) {
        map->keys[slot] = key;
        map->values[slot] = value;
        map->used++;
    }
    return BOUGH_OK;
}

int32_t bo_idmap_find(const bo_idmap *map, int64_t key) {
    size_t slot = map->slot_count ? find_slot(map, key) : NO_SLOT;
    return slot == NO_SLOT ? -1 : map->values[slot];
}
