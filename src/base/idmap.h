/* Hash map from int64 keys (node numbers in files, packed edges) to int32 values. */
#ifndef BO_BASE_IDMAP_H
#define BO_BASE_IDMAP_H

#include "base/context.h"

/* In a table with open addressing, at most half full, no key lies further than this behind the slot of its hash, so
 * that no search is longer. The chance of a run of k used slots falls like 0.83^k: one of 110 is the longest to expect
 * among a billion keys, and one of 512 comes from keys that were made to collide. */
#define BO_LONGEST_SEARCH 512

typedef struct bo_idmap {
    int64_t *keys;
    int32_t *values; /* -1 marks a free slot */
    size_t slot_count, used;
} bo_idmap;

void bo_idmap_free(bough_context *ctx, bo_idmap *map);
/* value must be >= 0. *found is the value already there when the key is known (then nothing changes), else -1. Keys
 * come from files: those that were made to collide are BOUGH_ERROR_FORMAT, and the map stays as it was. */
bough_status bo_idmap_add(bough_context *ctx, bo_idmap *map, int64_t key, int32_t value, int32_t *found);
/* The hash function of the map, for tables of other things: every bit of the key changes every bit of the hash. */
uint64_t bo_hash(uint64_t key);
/* -1 when unknown. */
int32_t bo_idmap_find(const bo_idmap *map, int64_t key);

#endif
