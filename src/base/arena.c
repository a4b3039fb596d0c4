#include "base/arena.h"

#define ARENA_ALIGNMENT 64u /* one cache line, one AVX-512 register */

bough_status bo_arena_create(bough_context *ctx, bo_arena *arena, const char *name, size_t capacity) {
    *arena = (bo_arena){.name = name};
    if (capacity > PTRDIFF_MAX - ARENA_ALIGNMENT)
        return bo_fail_memory(ctx);
    arena->raw = bo_alloc(ctx, capacity + ARENA_ALIGNMENT, 1);
    if (!arena->raw)
        return BOUGH_ERROR_MEMORY;
    uintptr_t address = (uintptr_t)arena->raw;
    size_t shift = (ARENA_ALIGNMENT - address % ARENA_ALIGNMENT) % ARENA_ALIGNMENT;
    arena->block = (unsigned char *)arena->raw + shift;
    arena->capacity = capacity;
    return BOUGH_OK;
}

void bo_arena_destroy(bough_context *ctx, bo_arena *arena) {
    bo_free(ctx, arena->raw);
    *arena = (bo_arena){0};
}

void *bo_arena_take(bough_context *ctx, bo_arena *arena, size_t count, size_t size) {
    size_t bytes = 0;
    size_t begin = (arena->used + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    if (__builtin_mul_overflow(count, size, &bytes) || begin > arena->capacity || bytes > arena->capacity - begin) {
        bo_fail(ctx, BOUGH_ERROR_MEMORY, "arena \"%s\" is full: %zu of %zu bytes are in use", arena->name, arena->used,
                arena->capacity);
        return NULL;
    }
    arena->used = begin + bytes;
    if (arena->used > arena->peak)
        arena->peak = arena->used;
    return arena->block + begin;
}
