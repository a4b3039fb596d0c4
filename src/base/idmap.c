#include "base/idmap.h"

#include <string.h>

void bo_idmap_free(bough_context *ctx, bo_idmap *map) {
    bo_free(ctx, map->keys);
    bo_free(ctx, map->values);
    *map = (bo_idmap){0};
}

/* The slot of the key, or the free slot where it belongs (open addressing; slot_count is a power of two). */
static size_t find_slot(const bo_idmap *map, int64_t key) {
    uint64_t hash = (uint64_t)key * 0x9E3779B97F4A7C15u; /* golden ratio */
    size_t slot = (size_t)(hash >> 20) & (map->slot_count - 1);
    while (map->values[slot] >= 0 && map->keys[slot] != key)
        slot = (slot + 1) & (map->slot_count - 1);
    return slot;
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
    *found = map->values[slot];
    if (*found < 0) {
        map->keys[slot] = key;
        map->values[slot] = value;
        map->used++;
    }
    return BOUGH_OK;
}

int32_t bo_idmap_find(const bo_idmap *map, int64_t key) {
    return map->slot_count ? map->values[find_slot(map, key)] : -1;
}
