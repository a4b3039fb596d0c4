/* Broken files for readers: cut off, changed, absurd, not files at all, and read while memory runs out. A reader must
 * answer every one with a sentence or a sound mesh, give back all memory and never ask for much more than the file is
 * large. */
#ifndef BOUGH_TEST_HOSTILE_H
#define BOUGH_TEST_HOSTILE_H

#include "test.h"

#include "mesh/formats.h"

/* ---- files made by code ---- */

typedef struct bytes {
    char *data; /* a zero stands behind the last byte */
    size_t size, capacity;
    bool swap; /* binary values in the other byte order */
} bytes;

static inline void put_raw(bytes *b, const void *data, size_t size) {
    if (b->size + size + 1 > b->capacity) {
        b->capacity = 2 * (b->size + size + 1);
        b->data = realloc(b->data, b->capacity);
        check(b->data != NULL);
    }
    if (size)
        memcpy(b->data + b->size, data, size);
    b->size += size;
    b->data[b->size] = 0;
}
__attribute__((format(printf, 2, 3))) static inline void put_text(bytes *b, const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    check(length >= 0);
    put_raw(b, text, (size_t)length);
    free(text);
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

/* `text` with its first `from` replaced; valid until called again. */
static inline const char *replaced(const char *text, const char *from, const char *to) {
    static char result[1 << 16];
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("\"%s\" is not in the text", from);
    snprintf(result, sizeof result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return result;
}

/* A unit cube: its corners x fastest, cut into six tets or taken as one hex. */
static inline void unit_cube_corner(int corner, double xyz[3]) {
    xyz[0] = corner & 1, xyz[1] = corner >> 1 & 1, xyz[2] = corner >> 2;
}
static const int unit_cube_tets[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                         {0, 5, 1, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}};
static const int unit_cube_hex[8] = {0, 1, 3, 2, 4, 5, 7, 6};

/* ---- reading ---- */

/* Who reads the bytes: one format's reader from memory, in a block of exactly their size, so that sanitizers see a
 * look beyond it; or bough_mesh_read() from a file of this name in the temporary folder, where formats of several
 * files need it. */
typedef struct target {
    bo_mesh_reader reader; /* NULL: bough_mesh_read() */
    const char *file;      /* its name in sentences, too */
    size_t more;           /* size of the other files that belong to it */
} target;

#define IN_MEMORY(format_reader) \
    { .reader = (format_reader), .file = "file.x" }

static inline target in_files(const char *name, size_t more) {
    return (target){.file = name, .more = more};
}
static inline target in_file(const char *name) {
    return in_files(name, 0);
}

static inline bough_status read_in_memory(bough_context *ctx, bo_mesh_reader reader, const void *data, size_t size,
                                          const bough_mesh_read_def *def, bough_mesh **mesh) {
    bo_file file = {malloc(size + 1), size};
    check(file.data != NULL);
    if (size)
        memcpy(file.data, data, size);
    file.data[size] = 0;
    bo_scanner scanner;
    bo_builder builder;
    bo_scan_begin(&scanner, ctx, "file.x", &file);
    bo_builder_begin(&builder, ctx, "file.x");
    bough_status status = reader(&scanner, &builder);
    if (status == BOUGH_OK)
        status = bo_builder_finish(&builder, def, mesh);
    else
        bo_builder_discard(&builder);
    free(file.data);
    return status;
}
/* data NULL: what the file holds already. */
static inline bough_status read_policy(bough_context *ctx, target t, const void *data, size_t size,
                                       bough_volume_policy volumes, bough_mesh **mesh) {
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = volumes;
    *mesh = NULL;
    if (t.reader)
        return read_in_memory(ctx, t.reader, data, size, &def, mesh);
    if (data)
        test_write(test_path(t.file), data, size);
    return bough_mesh_read(ctx, test_path(t.file), &def, mesh);
}
static inline bough_status read_bytes(bough_context *ctx, target t, const bytes *b, bough_mesh **mesh) {
    return read_policy(ctx, t, b->data, b->size, BOUGH_VOLUME_REFUSE, mesh);
}
static inline bough_mesh *must_read(bough_context *ctx, target t, const bytes *b) {
    bough_mesh *mesh;
    check_ok(ctx, read_bytes(ctx, t, b, &mesh));
    return mesh;
}
static inline bough_mesh *must_read_text(bough_context *ctx, target t, const char *text) {
    bough_mesh *mesh;
    check_ok(ctx, read_policy(ctx, t, text, strlen(text), BOUGH_VOLUME_REFUSE, &mesh));
    return mesh;
}

static inline void check_sound(bough_context *ctx, const bough_mesh *mesh) {
    check(mesh && mesh->vertex_count > 0 && mesh->element_count > 0);
    if (mesh->type != BOUGH_TRI3) /* flat triangles are allowed in surfaces */
        check_ok(ctx, bough_mesh_check(ctx, mesh));
    int32_t entries = mesh->element_count * bough_element_node_count(mesh->type);
    for (int32_t i = 0; i < entries; i++)
        check(mesh->elements[i] >= 0 && mesh->elements[i] < mesh->vertex_count);
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++)
        check(isfinite(mesh->vertices[i]));
}

/* A sentence that names the file and a place, or a sound mesh; no leak; no large request. The sentence is copied. */
static inline bough_status survives_saying(target t, const void *data, size_t size, char sentence[512]) {
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    check(ctx != NULL);
    bough_mesh *mesh;
    bough_status status = read_policy(ctx, t, data, size, BOUGH_VOLUME_REFUSE, &mesh);
    snprintf(sentence, 512, "%s", bough_message(ctx));
    if (status == BOUGH_OK)
        check_sound(ctx, mesh);
    else if (mesh || (t.reader ? strncmp(sentence, "file.x:", 7) != 0 : !strchr(sentence, ':')))
        fail_msg("status %d with the message \"%s\"", (int)status, sentence);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
    check_below((double)memory.largest, 64.0 * (double)(size + t.more) + (1 << 20));
    return status;
}
static inline bough_status survives(target t, const void *data, size_t size) {
    char sentence[512];
    return survives_saying(t, data, size, sentence);
}

/* The content is refused with this status and a sentence that contains `part`. */
#define check_refused_bytes(t, data, size, expected_status, part)                                        \
    do {                                                                                                 \
        char check_m_[512];                                                                              \
        bough_status check_s_ = survives_saying((t), (data), (size), check_m_);                          \
        if (check_s_ != (expected_status) || !strstr(check_m_, (part)) || !strstr(check_m_, (t).file))   \
            fail_msg("%s:%d: expected %s with \"%s\", got %s with \"%s\"", __FILE__, __LINE__,           \
                     bough_status_name(expected_status), (part), bough_status_name(check_s_), check_m_); \
    } while (0)
#define check_refused(t, text, status, part)                              \
    do {                                                                  \
        const char *check_t_ = (text);                                    \
        check_refused_bytes(t, check_t_, strlen(check_t_), status, part); \
    } while (0)

/* ---- all kinds of trouble ---- */

static inline void survive_every_truncation(target t, const void *data, size_t size) {
    for (size_t cut = 0; cut < size; cut++)
        survives(t, data, cut);
    check_int(survives(t, data, size), BOUGH_OK);
}

/* Alters one place; *size may grow by 16. Digits among the choices keep the file well-formed more often. */
static inline void mutate(test_random *random, char *data, size_t *size) {
    size_t at = (size_t)(test_bits(random) % *size), length = 1 + (size_t)(test_bits(random) % 16);
    length = length < *size - at ? length : *size - at;
    unsigned byte = (unsigned)(test_bits(random) & 255);
    switch (test_bits(random) % 7) {
    case 0: /* a piece is cut out, but never all of it */
        length = length < *size ? length : length - 1;
        memmove(data + at, data + at + length, *size - at - length);
        *size -= length;
        break;
    case 1: /* a piece stands twice */
        memmove(data + at + length, data + at, *size - at);
        *size += length;
        break;
    case 2: /* a character is put in */
        memmove(data + at + 1, data + at, *size - at);
        data[at] = "0123456789.-+e,*#\"$/ \n"[byte % 22];
        *size += 1;
        break;
    case 3: /* or replaced */
        data[at] = "0123456789.-+e,*#\"$/ \n"[byte % 22];
        break;
    case 4:
        data[at] = (char)((unsigned char)data[at] ^ (1u << byte % 8));
        break;
    case 5:
        data[at] = (char)byte;
        break;
    default: /* the next digit is another one */
        for (size_t step = 0; step < *size; step++, at = (at + 1) % *size)
            if (data[at] >= '0' && data[at] <= '9') {
                data[at] = (char)('0' + byte % 10);
                break;
            }
    }
}
static inline void survive_mutations(target t, const void *data, size_t size, int count) {
    count *= test_long() ? 20 : 1;
    test_random random = {20260101 + size};
    char *changed = malloc(size + 4 * 16);
    check(changed != NULL);
    for (int i = 0; i < count; i++) {
        size_t now = size;
        memcpy(changed, data, size);
        for (uint64_t changes = 1 + test_bits(&random) % 4; changes > 0; changes--)
            mutate(&random, changed, &now);
        survives(t, changed, now);
    }
    free(changed);
}

/* Every allocation fails once; in the end the file is read. data NULL: what the file holds already. */
static inline void survive_failing_allocations(target t, const void *data, size_t size) {
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 0; status != BOUGH_OK; fail_at++) {
        check(fail_at < 100000);
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        if (ctx) {
            bough_mesh *mesh;
            status = read_policy(ctx, t, data, size, BOUGH_VOLUME_REFUSE, &mesh);
            check(status == BOUGH_OK || (status == BOUGH_ERROR_MEMORY && !mesh && bough_message(ctx)[0]));
            bough_mesh_destroy(ctx, mesh);
        }
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
}

/* The same for a writer, which leaves no half of a file behind. */
static inline void survive_failing_allocations_of_write(const bough_mesh *mesh, const char *path) {
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 0; status != BOUGH_OK; fail_at++) {
        check(fail_at < 100000);
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        remove(path);
        if (ctx) {
            status = bough_mesh_write(ctx, mesh, path);
            check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
            check((status == BOUGH_OK) == (access(path, F_OK) == 0));
        }
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
}

/* A megabyte of one character put between two texts: a long line and a long word. */
static inline void survive_long_line(target t, const char *before, char filling, const char *after) {
    enum { LONG = 1 << 20 };
    bytes b = {0};
    char *line = malloc(LONG);
    check(line != NULL);
    memset(line, filling, LONG);
    put_raw(&b, before, strlen(before));
    put_raw(&b, line, LONG);
    put_raw(&b, after, strlen(after));
    survives(t, b.data, b.size);
    free(line);
    bytes_free(&b);
}
/* The same before each of these words (up to NULL) of a good text. */
static inline void survive_long_lines_at(target t, const char *text, const char *const *words) {
    static const char fillings[] = {'a', '1', ' ', '\n', '\0', '#', '"', '*', ','};
    for (; *words; words++) {
        const char *at = strstr(text, *words);
        check(at != NULL);
        char *before = strndup(text, (size_t)(at - text));
        check(before != NULL);
        for (size_t i = 0; i < sizeof fillings; i++)
            survive_long_line(t, before, fillings[i], at);
        free(before);
    }
}

/* Not such a file at all: empty, zeros, another format, random bytes alone and behind a good beginning. */
static inline void survive_garbage(target t, const char *magic) {
    test_random random = {77};
    static const char zeros[4096];
    check_refused_bytes(t, "", 0, BOUGH_ERROR_FORMAT, ":");
    check_refused_bytes(t, zeros, 1, BOUGH_ERROR_FORMAT, ":");
    check_refused_bytes(t, zeros, sizeof zeros, BOUGH_ERROR_FORMAT, ":");
    check_refused(t, "\n\n  \n", BOUGH_ERROR_FORMAT, ":");
    check_refused(t, "PK\003\004 this is another format\n", BOUGH_ERROR_FORMAT, ":");
    for (int i = 0; i < 101; i++) {
        bytes b = {0};
        if (i % 2)
            put_raw(&b, magic, strlen(magic));
        for (int k = 0; k < (i < 100 ? 512 : 1 << 17); k++)
            put_size(&b, test_bits(&random));
        check(survives(t, b.data, b.size) != BOUGH_OK);
        bytes_free(&b);
    }
}

/* Checks paths at which there is no file to read: nothing, or a folder. */
static inline void refuse_paths(const char *extension) {
    char missing[64], folder[64];
    snprintf(missing, sizeof missing, "missing%s", extension);
    snprintf(folder, sizeof folder, "folder%s", extension);
    check_refused_bytes(in_file(missing), NULL, 0, BOUGH_ERROR_FILE, ":");
    mkdir(test_path(folder), 0700);
    check_refused_bytes(in_file(folder), NULL, 0, BOUGH_ERROR_FILE, "is a folder");
}

/* ---- comparing ---- */

static inline const bough_set *check_set_count(const bough_mesh *mesh, bough_set_kind kind, const char *name,
                                               int32_t count) {
    const bough_set *set = bough_mesh_find_set(mesh, kind, name);
    if (!set)
        fail_msg("there is no set \"%s\"", name);
    check_int(set->count, count);
    return set;
}
static inline void check_set(const bough_mesh *mesh, bough_set_kind kind, const char *name, int32_t count,
                             const int32_t *items) {
    const bough_set *set = check_set_count(mesh, kind, name, count);
    for (int32_t i = 0; i < count; i++)
        check_int(set->items[i], items[i]);
}
#define ITEMS(...)                                                               \
    (int32_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (int32_t[]) { \
        __VA_ARGS__                                                              \
    }

/* Vertices, elements and sets to the bit; sets in the same order where asked for. */
static inline void check_same_mesh(const bough_mesh *a, const bough_mesh *b, bool same_order) {
    check_int(a->type, b->type);
    check_int(a->vertex_count, b->vertex_count);
    check_int(a->element_count, b->element_count);
    check(memcmp(a->vertices, b->vertices, 3 * (size_t)a->vertex_count * sizeof *a->vertices) == 0);
    size_t entries = (size_t)a->element_count * (size_t)bough_element_node_count(a->type);
    check(memcmp(a->elements, b->elements, entries * sizeof *a->elements) == 0);
    check_int(a->set_count, b->set_count);
    for (int32_t i = 0; i < a->set_count; i++) {
        check_set(b, a->sets[i].kind, a->sets[i].name, a->sets[i].count, a->sets[i].items);
        check(!same_order || (a->sets[i].kind == b->sets[i].kind && strcmp(a->sets[i].name, b->sets[i].name) == 0));
    }
}

#endif
