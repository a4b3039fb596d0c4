/* Reading files that are cut short, altered, absurd or not files at all. Every read here runs under an allocator that
 * remembers its largest request, and checks that a failure has a sentence, that a success is a valid mesh, and that
 * all memory comes back. */
#ifndef BOUGH_TEST_HOSTILE_FILES_H
#define BOUGH_TEST_HOSTILE_FILES_H

#include "test.h"

#include <bough/mesh.h>

typedef struct hostile_memory {
    test_memory counts;
    size_t largest;
} hostile_memory;

static inline void *hostile_allocate(void *user, size_t size) {
    hostile_memory *m = user;
    m->largest = size > m->largest ? size : m->largest;
    return test_allocate(&m->counts, size);
}
static inline void *hostile_reallocate(void *user, void *block, size_t size) {
    hostile_memory *m = user;
    m->largest = size > m->largest ? size : m->largest;
    if (!block)
        return test_allocate(&m->counts, size);
    return test_reallocate(&m->counts, block, size);
}
static inline void hostile_release(void *user, void *block) {
    test_give_back(&((hostile_memory *)user)->counts, block);
}
static inline bough_context *hostile_context(hostile_memory *memory, long fail_at) {
    *memory = (hostile_memory){.counts = {.fail_at = fail_at}};
    bough_context_def def = bough_default_context_def();
    def.allocate = hostile_allocate, def.reallocate = hostile_reallocate, def.release = hostile_release;
    def.memory_user = memory;
    def.thread_count = 1;
    return bough_context_create(&def);
}

static inline bool hostile_mesh_is_valid(bough_context *ctx, const bough_mesh *mesh) {
    if (mesh->vertex_count < 1 || mesh->element_count < 1)
        return false;
    if (mesh->type != BOUGH_TRI3) /* flat triangles are allowed in surfaces */
        return bough_mesh_check(ctx, mesh) == BOUGH_OK;
    for (int32_t i = 0; i < 3 * mesh->element_count; i++)
        if (mesh->elements[i] < 0 || mesh->elements[i] >= mesh->vertex_count)
            return false;
    return true;
}

/* Reads the file; `bytes` is the size of all that belongs to it. */
static inline bough_status hostile_read(const char *path, size_t bytes) {
    hostile_memory memory;
    bough_context *ctx = hostile_context(&memory, -1);
    check(ctx != NULL);
    bough_mesh *mesh = NULL;
    bough_status status = bough_mesh_read(ctx, path, NULL, &mesh);
    if (status == BOUGH_OK) {
        check(mesh && hostile_mesh_is_valid(ctx, mesh));
    } else {
        check(mesh == NULL);
        check(strchr(bough_message(ctx), ':') != NULL);
    }
    check_below((double)memory.largest, 64.0 * (double)bytes + 1e6);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
    check_int(memory.counts.live, 0);
    return status;
}

/* The content, written to a file `name`, is refused with this status and a sentence that contains `part`. */
static inline void hostile_refused(const char *name, const void *data, size_t size, bough_status status,
                                   const char *part) {
    const char *path = test_path(name);
    test_write(path, data, size);
    check_int(hostile_read(path, size) == BOUGH_OK, 0);
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    check_fails(ctx, bough_mesh_read(ctx, path, NULL, &mesh), status, part);
    check(strstr(bough_message(ctx), name) != NULL);
    bough_context_destroy(ctx);
}
static inline void hostile_refused_text(const char *name, const char *text, bough_status status, const char *part) {
    hostile_refused(name, text, strlen(text), status, part);
}

/* `text` with its first `from` replaced; valid until called again. */
static inline const char *hostile_replace(const char *text, const char *from, const char *to) {
    static char result[1 << 16];
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("\"%s\" is not in the text", from);
    snprintf(result, sizeof result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return result;
}

static inline bough_mesh *hostile_read_good(bough_context *ctx, const char *name, const void *data, size_t size) {
    const char *path = test_path(name);
    test_write(path, data, size);
    bough_mesh *mesh = NULL;
    check_ok(ctx, bough_mesh_read(ctx, path, NULL, &mesh));
    return mesh;
}

static inline int hostile_try(const char *name, const void *data, size_t size, size_t more_bytes) {
    const char *path = test_path(name);
    test_write(path, data, size);
    return hostile_read(path, size + more_bytes) == BOUGH_OK;
}

static inline void hostile_truncations(const char *name, const void *data, size_t size, size_t more_bytes) {
    for (size_t cut = 0; cut < size; cut++)
        hostile_try(name, data, cut, more_bytes);
    check(hostile_try(name, data, size, more_bytes));
}

/* Bytes replaced, inserted, removed, and digits changed, which keeps the file well-formed more often. */
static inline void hostile_mutations(const char *name, const void *data, size_t size, size_t more_bytes, int count) {
    test_random r = {.state = 20260101};
    unsigned char *copy = malloc(size + 16);
    check(copy != NULL);
    for (int i = 0; i < count; i++) {
        memcpy(copy, data, size);
        size_t length = size;
        int changes = 1 + (int)(test_bits(&r) % 4);
        for (int k = 0; k < changes; k++) {
            size_t at = (size_t)(test_bits(&r) % length);
            unsigned char byte = (unsigned char)test_bits(&r);
            switch (test_bits(&r) % 5) {
            case 0:
                copy[at] = byte;
                break;
            case 1:
                memmove(copy + at + 1, copy + at, length++ - at);
                copy[at] = (unsigned char)"0123456789.-+e,*#\" \n"[byte % 20];
                break;
            case 2:
                memmove(copy + at, copy + at + 1, --length - at);
                break;
            case 3:
                copy[at] ^= (unsigned char)(1u << (byte % 8));
                break;
            default:
                for (size_t step = 0; step < length; step++, at = (at + 1) % length)
                    if (copy[at] >= '0' && copy[at] <= '9') {
                        copy[at] = (unsigned char)('0' + byte % 10);
                        break;
                    }
            }
        }
        hostile_try(name, copy, length, more_bytes);
    }
    free(copy);
}

/* Fails every allocation of a read in turn. */
static inline void hostile_allocations(const char *path) {
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 0; status != BOUGH_OK; fail_at++) {
        hostile_memory memory;
        bough_context *ctx = hostile_context(&memory, fail_at);
        bough_mesh *mesh = NULL;
        if (ctx) {
            status = bough_mesh_read(ctx, path, NULL, &mesh);
            check(status == BOUGH_OK || (status == BOUGH_ERROR_MEMORY && !mesh && bough_message(ctx)[0]));
            bough_mesh_destroy(ctx, mesh);
        }
        bough_context_destroy(ctx);
        check_int(memory.counts.live, 0);
        check(fail_at < 100000);
    }
}

/* Fails every allocation of a write in turn. */
static inline void hostile_write_allocations(const bough_mesh *mesh, const char *path) {
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 0; status != BOUGH_OK; fail_at++) {
        hostile_memory memory;
        bough_context *ctx = hostile_context(&memory, fail_at);
        remove(path);
        if (ctx) {
            status = bough_mesh_write(ctx, mesh, path);
            check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
            check((status == BOUGH_OK) == (access(path, F_OK) == 0));
        }
        bough_context_destroy(ctx);
        check_int(memory.counts.live, 0);
        check(fail_at < 100000);
    }
}

/* Not such a file at all: empty, a folder, missing, random bytes, one long line, one long token, zeros. */
static inline void hostile_nonsense(const char *name) {
    enum { LONG = 1 << 20 };
    char folder_name[64];
    hostile_refused(name, "", 0, BOUGH_ERROR_FORMAT, ":");
    snprintf(folder_name, sizeof folder_name, "folder_%s", name);
    const char *folder = test_path(folder_name);
    mkdir(folder, 0700);
    check_int(hostile_read(folder, 0), BOUGH_ERROR_FILE);
    check_int(hostile_read(test_path("missing.veg"), 0), BOUGH_ERROR_FILE);
    test_random r = {.state = 7};
    char *data = malloc(LONG);
    check(data != NULL);
    for (size_t i = 0; i < LONG; i++)
        data[i] = (char)test_bits(&r);
    hostile_refused(name, data, 4096, BOUGH_ERROR_FORMAT, ":");
    hostile_refused(name, data, LONG, BOUGH_ERROR_FORMAT, ":");
    memset(data, 0, LONG);
    hostile_refused(name, data, 4096, BOUGH_ERROR_FORMAT, ":");
    remove(test_path(name));
    free(data);
}

/* The same good text with one megabyte of `filler` put before `at`: accepted or refused, but not slow or fatal. */
static inline void hostile_long(const char *name, const char *text, const char *at, char filler) {
    enum { LONG = 1 << 20 };
    size_t size = strlen(text), before = (size_t)(strstr(text, at) - text);
    char *data = malloc(size + LONG);
    check(data != NULL && before <= size);
    memcpy(data, text, before);
    memset(data + before, filler, LONG);
    memcpy(data + before + LONG, text + before, size - before);
    hostile_try(name, data, size + LONG, 0);
    remove(test_path(name));
    free(data);
}

/* A unit cube: its corners x fastest, cut into six tets or taken as one hex. */
static inline void hostile_cube_corner(int corner, double xyz[3]) {
    xyz[0] = corner & 1, xyz[1] = corner >> 1 & 1, xyz[2] = corner >> 2;
}
static const int hostile_cube_tets[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                            {0, 5, 1, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}};
static const int hostile_cube_hex[8] = {0, 1, 3, 2, 4, 5, 7, 6};

/* Text that grows. */
typedef struct hostile_text {
    char data[1 << 15];
    size_t size;
} hostile_text;

__attribute__((format(printf, 2, 3))) static inline void hostile_print(hostile_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text->data + text->size, sizeof text->data - text->size, format, arguments);
    va_end(arguments);
    text->size += (size_t)n;
    check(text->size < sizeof text->data);
}
static inline void hostile_put(hostile_text *text, const void *data, size_t size) {
    check(text->size + size < sizeof text->data);
    memcpy(text->data + text->size, data, size);
    text->size += size;
}

static inline const bough_set *hostile_set(const bough_mesh *mesh, bough_set_kind kind, const char *name,
                                           int32_t count) {
    const bough_set *set = bough_mesh_find_set(mesh, kind, name);
    if (!set)
        fail_msg("set %s is missing", name);
    check_int(set->count, count);
    return set;
}

#endif
