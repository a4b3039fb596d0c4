/* Broken files for readers: cut off, changed, absurd, and read while memory runs out. A reader must answer every one
 * with a sentence or a sound mesh, give back all memory and never ask for much more than the file is large. */
#ifndef BOUGH_TEST_HOSTILE_H
#define BOUGH_TEST_HOSTILE_H

#include "test.h"

#include "mesh/formats.h"

/* ---- files made by code ---- */

typedef struct bytes {
    char *data;
    size_t size, capacity;
    bool swap; /* binary values in the other byte order */
} bytes;

static inline void put_raw(bytes *b, const void *data, size_t size) {
    if (!size)
        return;
    if (b->size + size > b->capacity) {
        b->capacity = 2 * (b->size + size);
        b->data = realloc(b->data, b->capacity);
        check(b->data != NULL);
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}
__attribute__((format(printf, 2, 3))) static inline void put_text(bytes *b, const char *format, ...) {
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    check(length >= 0 && (size_t)length < sizeof text);
    put_raw(b, text, (size_t)length);
}
static inline void put_value(bytes *b, const void *value, size_t size) {
    char turned[8];
    for (size_t i = 0; i < size; i++)
        turned[i] = ((const char *)value)[b->swap ? size - 1 - i : i];
    put_raw(b, turned, size);
}
static inline void put_int(bytes *b, int32_t value) {
    put_value(b, &value, sizeof value);
}
static inline void put_size(bytes *b, uint64_t value) {
    put_value(b, &value, sizeof value);
}
static inline void put_double(bytes *b, double value) {
    put_value(b, &value, sizeof value);
}
static inline void put_float(bytes *b, float value) {
    put_value(b, &value, sizeof value);
}
static inline void bytes_free(bytes *b) {
    free(b->data);
    *b = (bytes){0};
}

/* ---- reading from memory ---- */

typedef struct sized_memory {
    test_memory base;
    size_t largest; /* request */
} sized_memory;

static inline void *sized_allocate(void *user, size_t size) {
    sized_memory *m = user;
    m->largest = size > m->largest ? size : m->largest;
    return test_allocate(&m->base, size);
}
static inline void *sized_reallocate(void *user, void *block, size_t size) {
    sized_memory *m = user;
    m->largest = size > m->largest ? size : m->largest;
    return test_reallocate(&m->base, block, size);
}
static inline void sized_give_back(void *user, void *block) {
    test_give_back(&((sized_memory *)user)->base, block);
}
static inline bough_context *sized_context(sized_memory *memory) {
    bough_context_def def = bough_default_context_def();
    def.allocate = sized_allocate, def.reallocate = sized_reallocate, def.release = sized_give_back;
    def.memory_user = memory;
    def.thread_count = 1;
    return bough_context_create(&def);
}

/* The block has exactly the promised size, so that sanitizers see a look beyond it. */
static inline bough_status read_policy(bough_context *ctx, bo_mesh_reader reader, const void *data, size_t size,
                                       bough_volume_policy volumes, bough_mesh **mesh) {
    bo_file file = {malloc(size + 1), size};
    check(file.data != NULL);
    if (size)
        memcpy(file.data, data, size);
    file.data[size] = 0;
    bo_scanner scanner;
    bo_builder builder;
    bo_scan_begin(&scanner, ctx, "file.x", &file);
    bo_builder_begin(&builder, ctx, "file.x");
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = volumes;
    *mesh = NULL;
    bough_status status = reader(&scanner, &builder);
    if (status == BOUGH_OK)
        status = bo_builder_finish(&builder, &def, mesh);
    else
        bo_builder_discard(&builder);
    free(file.data);
    return status;
}
static inline bough_status read_bytes(bough_context *ctx, bo_mesh_reader reader, const bytes *b, bough_mesh **mesh) {
    return read_policy(ctx, reader, b->data, b->size, BOUGH_VOLUME_REFUSE, mesh);
}
static inline bough_status read_text(bough_context *ctx, bo_mesh_reader reader, const char *text, bough_mesh **mesh) {
    return read_policy(ctx, reader, text, strlen(text), BOUGH_VOLUME_REFUSE, mesh);
}

/* The text is refused with a sentence that contains `part`. */
#define check_refused(reader, text, status, part)                                                               \
    do {                                                                                                        \
        bough_context *refused_ctx_ = test_context(1);                                                          \
        bough_mesh *refused_mesh_;                                                                              \
        check_fails(refused_ctx_, read_text(refused_ctx_, (reader), (text), &refused_mesh_), (status), (part)); \
        check(refused_mesh_ == NULL);                                                                           \
        bough_context_destroy(refused_ctx_);                                                                    \
    } while (0)

static inline void check_sound(bough_context *ctx, const bough_mesh *mesh) {
    check(mesh->vertex_count > 0 && mesh->element_count > 0);
    if (mesh->type != BOUGH_TRI3)
        check_ok(ctx, bough_mesh_check(ctx, mesh));
    int32_t entries = mesh->element_count * bough_element_node_count(mesh->type);
    for (int32_t i = 0; i < entries; i++)
        check(mesh->elements[i] >= 0 && mesh->elements[i] < mesh->vertex_count);
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++)
        check(isfinite(mesh->vertices[i]));
}

/* A sentence that names the file, or a sound mesh; no leak; no large request. */
static inline bough_status check_survives(bo_mesh_reader reader, const void *data, size_t size) {
    sized_memory memory = {.base.fail_at = -1};
    bough_context *ctx = sized_context(&memory);
    bough_mesh *mesh;
    bough_status status = read_policy(ctx, reader, data, size, BOUGH_VOLUME_REFUSE, &mesh);
    if (status == BOUGH_OK)
        check_sound(ctx, mesh);
    else if (mesh || strncmp(bough_message(ctx), "file.x:", 7) != 0)
        fail_msg("status %d with the message \"%s\"", (int)status, bough_message(ctx));
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
    check_int(memory.base.live, 0);
    check(memory.largest <= 64 * size + (1 << 20));
    return status;
}

static inline void survive_every_truncation(bo_mesh_reader reader, const bytes *b) {
    for (size_t size = 0; size < b->size; size++)
        check_survives(reader, b->data, size);
}

/* Changes a few bytes, or cuts out or repeats a piece. */
static inline void survive_mutations(bo_mesh_reader reader, const bytes *b, int count, uint64_t seed) {
    test_random random = {seed};
    char *changed = malloc(2 * b->size);
    check(changed != NULL);
    for (int i = 0; i < count; i++) {
        size_t size = b->size;
        memcpy(changed, b->data, size);
        size_t at = test_bits(&random) % size, length = 1 + test_bits(&random) % 16;
        length = length < size - at ? length : size - at;
        switch (test_bits(&random) % 6) {
        case 0:
            memmove(changed + at, changed + at + length, size - at - length);
            size -= length;
            break;
        case 1:
            memmove(changed + at + length, changed + at, size - at);
            size += length;
            break;
        case 2:
            changed[at] = "0123456789-. \n$/"[test_bits(&random) % 16];
            break;
        case 3:
            changed[at] = (char)((unsigned char)changed[at] ^ (1u << test_bits(&random) % 8));
            break;
        default:
            for (size_t k = 1 + test_bits(&random) % 4; k > 0; k--)
                changed[test_bits(&random) % size] = (char)test_bits(&random);
        }
        check_survives(reader, changed, size);
    }
    free(changed);
}

/* Every allocation fails once; in the end the file is read. */
static inline void survive_failing_allocations(bo_mesh_reader reader, const bytes *b) {
    for (long fail_at = 0;; fail_at++) {
        check(fail_at < 10000);
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bough_status status = BOUGH_ERROR_MEMORY;
        if (ctx) {
            bough_mesh *mesh;
            status = read_bytes(ctx, reader, b, &mesh);
            check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
            bough_mesh_destroy(ctx, mesh);
        }
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (status == BOUGH_OK)
            break;
    }
}

/* A megabyte of one character put between two texts: a long line and a long word. */
static inline void survive_long_line(bo_mesh_reader reader, const char *before, char filling, const char *after) {
    enum { LONG = 1 << 20 };
    bytes b = {0};
    char *line = malloc(LONG);
    check(line != NULL);
    memset(line, filling, LONG);
    put_raw(&b, before, strlen(before));
    put_raw(&b, line, LONG);
    put_raw(&b, after, strlen(after));
    check_survives(reader, b.data, b.size);
    free(line);
    bytes_free(&b);
}

static inline void survive_garbage(bo_mesh_reader reader, const char *magic) {
    test_random random = {77};
    check(check_survives(reader, "", 0) != BOUGH_OK);
    check(check_survives(reader, "\0", 1) != BOUGH_OK);
    check(check_survives(reader, "\n\n  \n", 5) != BOUGH_OK);
    check(check_survives(reader, "PK\003\004 this is another format\n", 29) != BOUGH_OK);
    for (int i = 0; i < 100; i++) {
        bytes b = {0};
        if (i % 2)
            put_raw(&b, magic, strlen(magic));
        for (int k = 0; k < 512; k++)
            put_size(&b, test_bits(&random));
        check(check_survives(reader, b.data, b.size) != BOUGH_OK);
        bytes_free(&b);
    }
}

/* The same through the public door: what is at the path is no file to read. */
static inline void refuse_paths(const char *missing, const char *folder, const char *empty) {
    bough_context *ctx = test_context(1);
    bough_mesh *mesh;
    check_fails(ctx, bough_mesh_read(ctx, test_path(missing), NULL, &mesh), BOUGH_ERROR_FILE, missing);
    mkdir(test_path(folder), 0700);
    check_fails(ctx, bough_mesh_read(ctx, test_path(folder), NULL, &mesh), BOUGH_ERROR_FILE, "is a folder");
    test_write_text(test_path(empty), "");
    check_fails(ctx, bough_mesh_read(ctx, test_path(empty), NULL, &mesh), BOUGH_ERROR_FORMAT, empty);
    check(mesh == NULL);
    bough_context_destroy(ctx);
}

/* ---- comparing ---- */

static inline void check_same_mesh(const bough_mesh *a, const bough_mesh *b) {
    check_int(a->type, b->type);
    check_int(a->vertex_count, b->vertex_count);
    check_int(a->element_count, b->element_count);
    check(memcmp(a->vertices, b->vertices, 3 * (size_t)a->vertex_count * sizeof *a->vertices) == 0);
    size_t entries = (size_t)a->element_count * (size_t)bough_element_node_count(a->type);
    check(memcmp(a->elements, b->elements, entries * sizeof *a->elements) == 0);
    check_int(a->set_count, b->set_count);
    for (int32_t i = 0; i < a->set_count; i++) {
        check(strcmp(a->sets[i].name, b->sets[i].name) == 0);
        check_int(a->sets[i].kind, b->sets[i].kind);
        check_int(a->sets[i].count, b->sets[i].count);
        check(memcmp(a->sets[i].items, b->sets[i].items, (size_t)a->sets[i].count * sizeof(int32_t)) == 0);
    }
}

static inline void check_set(const bough_mesh *mesh, bough_set_kind kind, const char *name, int32_t count,
                             const int32_t *items) {
    const bough_set *set = bough_mesh_find_set(mesh, kind, name);
    if (!set)
        fail_msg("there is no set \"%s\"", name);
    check_int(set->count, count);
    for (int32_t i = 0; i < count; i++)
        check_int(set->items[i], items[i]);
}
#define ITEMS(...)                                                               \
    (int32_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (int32_t[]) { \
        __VA_ARGS__                                                              \
    }

#endif
