/* Bump allocator: scratch memory that is taken in order and given back all at once. The name appears in messages. */
#ifndef BO_BASE_ARENA_H
#define BO_BASE_ARENA_H

#include "base/context.h"

typedef struct bo_arena {
    const char *name;
    unsigned char *block; /* 64-byte aligned start inside `raw` */
    void *raw;
    size_t capacity, used, peak;
} bo_arena;

bough_status bo_arena_create(bough_context *ctx, bo_arena *arena, const char *name, size_t capacity);
void bo_arena_destroy(bough_context *ctx, bo_arena *arena);

/* 64-byte aligned. NULL with a message when the arena is full: its size is a promise made at set-up. */
void *bo_arena_take(bough_context *ctx, bo_arena *arena, size_t count, size_t size);

/* mark = arena.used before, release after: everything taken in between is given back. */
static inline size_t bo_arena_mark(const bo_arena *arena) {
    return arena->used;
}
static inline void bo_arena_release(bo_arena *arena, size_t mark) {
    arena->used = mark;
}

#endif
