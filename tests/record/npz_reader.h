/* .npz files read by the rules of zip and .npy alone. Numbers are widened to double. */
#ifndef TEST_NPZ_READER_H
#define TEST_NPZ_READER_H

#include "test.h"

#include <zlib.h>

typedef struct {
    unsigned char *bytes;
    size_t size;
} npz_file;

typedef struct {
    char type[16];
    int dimensions;
    size_t shape[4], count; /* count: of all numbers, or of texts */
    const unsigned char *data;
} npz_array;

static inline uint32_t little(const unsigned char *p, int bytes) {
    uint32_t x = 0;
    for (int b = 0; b < bytes; b++)
        x |= (uint32_t)p[b] << 8 * b;
    return x;
}

static inline npz_file read_npz(const char *path) {
    npz_file file = {0};
    file.bytes = test_read(path, &file.size);
    check(file.size >= 22 && little(file.bytes + file.size - 22, 4) == 0x06054b50);
    return file;
}

static inline npz_array parse_npy(const unsigned char *p, size_t size) {
    npz_array a = {.count = 1};
    check(size >= 64 && memcmp(p, "\x93NUMPY\x01\x00", 8) == 0 && (10 + little(p + 8, 2)) % 64 == 0);
    const char *text = (const char *)p + 10, *shape = strstr(text, "'shape': (") + 10;
    check(sscanf(text, "{'descr': '%15[^']', 'fortran_order': False, 'shape': (", a.type) == 1);
    while (*shape != ')') {
        char *end;
        check(a.dimensions < 4);
        a.shape[a.dimensions] = strtoul(shape, &end, 10);
        a.count *= a.shape[a.dimensions++];
        check(end > shape && *end == ',');
        shape = end[1] == ' ' ? end + 2 : end + 1;
    }
    a.data = p + 10 + little(p + 8, 2);
    size_t item = a.type[1] == 'U' ? 4 * strtoul(a.type + 2, NULL, 10) : (size_t)(a.type[2] - '0');
    check(size == 10 + little(p + 8, 2) + item * a.count);
    return a;
}

/* The array of that name; fails when there is none. */
static inline npz_array find_array(const npz_file *file, const char *name) {
    const unsigned char *tail = file->bytes + file->size - 22, *entry = file->bytes + little(tail + 16, 4);
    char wanted[80];
    snprintf(wanted, sizeof wanted, "%s.npy", name);
    check((size_t)(entry - file->bytes) + little(tail + 12, 4) + 22 == file->size);
    for (uint32_t i = 0; i < little(tail + 10, 2); i++, entry += 46 + little(entry + 28, 2)) {
        check(little(entry, 4) == 0x02014b50);
        const unsigned char *head = file->bytes + little(entry + 42, 4);
        const size_t length = little(head + 26, 2), size = little(head + 18, 4);
        check(little(head, 4) == 0x04034b50 && memcmp(head + 14, entry + 16, 12) == 0);
        check(memcmp(head + 4, entry + 6, 10) == 0 && little(head + 6, 2) == 0 && little(head + 28, 2) == 0);
        if (length != strlen(wanted) || memcmp(head + 30, wanted, length) != 0)
            continue;
        check(little(head + 8, 2) == 0 && little(head + 14, 4) == crc32(0, head + 30 + length, (uInt)size));
        return parse_npy(head + 30 + length, size);
    }
    fail_msg("there is no array \"%s\"", name);
    return (npz_array){0};
}

static inline double number_at(const npz_array *a, size_t i) {
    check(i < a->count);
    if (strcmp(a->type, "<f8") == 0) {
        double x;
        memcpy(&x, a->data + 8 * i, sizeof x);
        return x;
    }
    float x;
    int32_t n;
    memcpy(&x, a->data + 4 * i, sizeof x), memcpy(&n, a->data + 4 * i, sizeof n);
    return strcmp(a->type, "<f4") == 0 ? (double)x : n;
}

/* ASCII, up to the first zero. */
static inline const char *text_at(const npz_array *a, size_t i) {
    static char text[128];
    const size_t letters = strtoul(a->type + 2, NULL, 10);
    check(a->type[1] == 'U' && i < a->count && letters < sizeof text);
    memset(text, 0, sizeof text);
    for (size_t k = 0; k < letters && k < sizeof text - 1; k++) {
        const uint32_t letter = little(a->data + 4 * (i * letters + k), 4);
        text[k] = letter < 128 ? (char)letter : '~';
    }
    return text;
}

static inline void close_npz(npz_file *file) {
    free(file->bytes);
}

#endif
