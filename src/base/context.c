#include "base/context.h"
#include "base/pool.h"
#include "base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_COOKIE 0xB0061001u

static void *default_allocate(void *user, size_t size) {
    (void)user;
    return malloc(size);
}

static void *default_reallocate(void *user, void *block, size_t size) {
    (void)user;
    return realloc(block, size);
}

static void default_release(void *user, void *block) {
    (void)user;
    free(block);
}

const char *bough_version(void) {
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
    return TEXT(BOUGH_VERSION_MAJOR) "." TEXT(BOUGH_VERSION_MINOR) "." TEXT(BOUGH_VERSION_PATCH);
#undef TEXT
#undef TEXT_
}

const char *bough_status_name(bough_status status) {
    switch (status) {
#define STATUS_CASE(name, value, text) \
    case BOUGH_##name:                 \
        return text;
        BOUGH_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

bough_context_def bough_default_context_def(void) {
    bough_context_def def = {0};
    def.cookie = CONTEXT_COOKIE;
    def.allocate = default_allocate;
    def.reallocate = default_reallocate;
    def.release = default_release;
    return def;
}

bough_context *bough_context_create(const bough_context_def *def) {
    bough_context_def defaults = bough_default_context_def();
    bough_context_def used = def ? *def : defaults;
    if (used.cookie != CONTEXT_COOKIE)
        return NULL;
    if (!used.allocate && !used.reallocate && !used.release) {
        used.allocate = defaults.allocate;
        used.reallocate = defaults.reallocate;
        used.release = defaults.release;
    }
    if (!used.allocate || !used.reallocate || !used.release || used.thread_count < 0)
        return NULL;

    bough_context *ctx = used.allocate(used.memory_user, sizeof *ctx);
    if (!ctx)
        return NULL;
    memset(ctx, 0, sizeof *ctx);
    ctx->def = used;
    if (!used.run_tasks) {
        if (ctx->def.thread_count == 0)
            ctx->def.thread_count = bo_core_count();
        if (ctx->def.thread_count > 1 && BO_HAS_THREADS) {
            ctx->pool = bo_pool_create(ctx, ctx->def.thread_count);
            if (!ctx->pool) {
                used.release(used.memory_user, ctx);
                return NULL;
            }
        }
    } else if (ctx->def.thread_count == 0) {
        ctx->def.thread_count = bo_core_count();
    }
    return ctx;
}

void bough_context_destroy(bough_context *ctx) {
    if (!ctx)
        return;
    bo_pool_destroy(ctx, ctx->pool);
    ctx->def.release(ctx->def.memory_user, ctx);
}

const char *bough_message(const bough_context *ctx) {
    return ctx ? ctx->message : "no context: bough_context_create() failed or was not called";
}

int32_t bough_thread_count(const bough_context *ctx) {
    return ctx->def.thread_count;
}

static bool size_product(uint64_t count, size_t size, size_t *bytes) {
    return !__builtin_mul_overflow(count, size, bytes) && *bytes <= PTRDIFF_MAX;
}

void *bo_alloc(bough_context *ctx, uint64_t count, size_t size) {
    size_t bytes = 0;
    void *block = NULL;
    if (size_product(count, size, &bytes))
        block = ctx->def.allocate(ctx->def.memory_user, bytes ? bytes : 1);
    if (!block)
        bo_fail_memory(ctx);
    return block;
}

/* The system hands out large blocks as zeros, and backs each page with memory only when it is first touched. Pages that
 * are never used take no memory, and pages that are used need one pass less. */
void *bo_calloc(bough_context *ctx, uint64_t count, size_t size) {
    size_t bytes = 0;
    if (ctx->def.allocate == default_allocate && size_product(count, size, &bytes)) {
        void *block = calloc(bytes ? bytes : 1, 1);
        if (!block)
            bo_fail_memory(ctx);
        return block;
    }
    void *block = bo_alloc(ctx, count, size);
    if (block)
        memset(block, 0, (size_t)count * size);
    return block;
}

void *bo_realloc(bough_context *ctx, void *block, uint64_t count, size_t size) {
    if (!block)
        return bo_alloc(ctx, count, size);
    size_t bytes = 0;
    void *moved = NULL;
    if (size_product(count, size, &bytes))
        moved = ctx->def.reallocate(ctx->def.memory_user, block, bytes ? bytes : 1);
    if (!moved)
        bo_fail_memory(ctx);
    return moved;
}

void bo_free(bough_context *ctx, void *block) {
    if (block)
        ctx->def.release(ctx->def.memory_user, block);
}

void bough_release(bough_context *ctx, void *block) {
    bo_free(ctx, block);
}

char *bo_strndup(bough_context *ctx, const char *text, size_t length) {
    char *copy = bo_alloc(ctx, length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *bo_strdup(bough_context *ctx, const char *text) {
    return bo_strndup(ctx, text, strlen(text));
}

bool bo_grow(bough_context *ctx, void **block, size_t *capacity, size_t needed, size_t size) {
    size_t wanted = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (wanted < needed)
        wanted = needed;
    void *moved = bo_realloc(ctx, *block, wanted, size);
    if (!moved)
        return false;
    *block = moved;
    *capacity = wanted;
    return true;
}

/* Error sentences quote files, and files may contain control characters; a sentence must be one line that terminals can
 * show. Control characters are the bytes below the blank, 7F, and U+0080 to U+009F, which are C2 80 to C2 9F in
 * UTF-8. */
static void strip_controls(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == 0x7F)
            *c = ' ';
        else if (c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0)
            c[0] = c[1] = ' ';
}

bough_status bo_vfail(bough_context *ctx, bough_status status, const char *format, va_list arguments) {
    vsnprintf(ctx->message, sizeof ctx->message, format, arguments);
    strip_controls(ctx->message);
    return status;
}

bough_status bo_fail(bough_context *ctx, bough_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bo_vfail(ctx, status, format, arguments);
    va_end(arguments);
    return status;
}

bough_status bo_fail_memory(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_ERROR_MEMORY, "out of memory");
}

void bo_prefix_message(bough_context *ctx, const char *format, ...) {
    char old[BO_MESSAGE_SIZE];
    memcpy(old, ctx->message, sizeof old);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(ctx->message, sizeof ctx->message, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < sizeof ctx->message)
        snprintf(ctx->message + length, sizeof ctx->message - (size_t)length, "%s", old);
    strip_controls(ctx->message);
}

void bo_warn(bough_context *ctx, const char *format, ...) {
    if (!ctx->def.warn)
        return;
    char sentence[BO_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    strip_controls(sentence);
    ctx->def.warn(ctx->def.warn_user, sentence);
}

void bough_context_set_progress(bough_context *ctx, bool (*progress)(void *, const bough_progress *),
                                void *progress_user) {
    ctx->def.progress = progress, ctx->def.progress_user = progress_user;
}

void bough_context_set_reading(bough_context *ctx, void (*reading)(void *, const char *path), void *reading_user) {
    ctx->def.reading = reading, ctx->def.reading_user = reading_user;
}

bool bo_progress(bough_context *ctx, const char *what, double fraction, const char *format, ...) {
    if (!ctx->def.progress)
        return true;
    char detail[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    strip_controls(detail);
    bough_progress progress = {what, fraction, detail};
    return ctx->def.progress(ctx->def.progress_user, &progress);
}

bough_status bo_fail_cancelled(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_CANCELLED, "cancelled");
}

bough_pose bough_default_pose(void) {
    return (bough_pose){.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}
