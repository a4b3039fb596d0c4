/* Hash map from int64 keys (node numbers in files, packed edges) to int32 values. */
#ifndef BO_BASE_IDMAP_H
#define BO_BASE_IDMAP_H

#include "base/context.h"

typedef struct bo_idmap {
    int64_t *keys;
    int32_t *values; /* -1 marks a free slot */
    size_t slot_count, used;
} bo_idmap;

void bo_idmap_free(bough_context *ctx, bo_idmap *map);
/* value must be >= 0. *found is the value already there when the key is known (then nothing changes), else -1. Keys
 * come from files: those that were made to collide are BOUGH_ERROR_FORMAT, and the map stays as it was. */
bough_status bo_idmap_add(bough_context *ctx, bo_idmap *map, int64_t key, int32_t value, int32_t *found);
/* -1 when unknown. */
int32_t bo_idmap_find(const bo_idmap *map, int64_t key);

#endif
