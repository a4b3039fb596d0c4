/* A zip file whose members, "NAME.npy", are stored as they are: numbers hardly shrink, and NumPy reads them faster.
 * Zip: for each member a local head and its bytes; at the end a directory of all members, and where it begins. */
#include "base/npy.h"

#include <bough/record.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { NAME_LIMIT = 64, HEADER = 128, TEXT = -1 };
#define SUFFIX ".npy"

typedef struct array {
    char name[NAME_LIMIT]; /* with the suffix */
    int type;              /* bough_npz_type, or TEXT */
    int32_t dimensions, shape[BOUGH_NPZ_DIMENSION_LIMIT];
    int32_t letters; /* of each text */
    size_t rows, row_size;
    unsigned char *bytes;
    size_t size, capacity;
    /* in the file */
    uint64_t offset;
    uint32_t checksum;
} array;

struct bough_npz {
    bo_output output;
    array *arrays;
    size_t count, capacity;
};

static void destroy(bough_context *ctx, bough_npz *npz) {
    for (size_t i = 0; i < npz->count; i++)
        bo_free(ctx, npz->arrays[i].bytes);
    bo_free(ctx, npz->arrays);
    bo_free(ctx, npz);
}

bough_status bough_npz_create(bough_context *ctx, const char *path, bough_npz **npz) {
    *npz = NULL;
    bough_npz *n = BO_NEW(ctx, bough_npz);
    if (!n)
        return BOUGH_ERROR_MEMORY;
    bough_status status = bo_output_open(ctx, path, &n->output);
    n->output.durable = true;
    if (status == BOUGH_OK)
        *npz = n;
    else
        bo_free(ctx, n);
    return status;
}

void bough_npz_discard(bough_context *ctx, bough_npz *npz) {
    if (!npz)
        return;
    bo_output_discard(ctx, &npz->output);
    destroy(ctx, npz);
}

/* ---- arrays ---- */

static bool is_word(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return name && name[0] && name[strspn(name, letters)] == 0 && strlen(name) < NAME_LIMIT - sizeof SUFFIX;
}

static bough_status add(bough_context *ctx, bough_npz *npz, const char *name, array **out) {
    if (!is_word(name))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the name of an array is up to %zu letters, digits and underscores, not \"%s\"",
                       NAME_LIMIT - sizeof SUFFIX - 1, name ? name : "");
    if (bough_npz_find(npz, name) >= 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there are two arrays with the name \"%s\"", name);
    if (!BO_RESERVE(ctx, npz->arrays, npz->capacity, npz->count + 1))
        return BOUGH_ERROR_MEMORY;
    *out = &npz->arrays[npz->count];
    **out = (array){0};
    memcpy((*out)->name, name, strlen(name));
    strcat((*out)->name, SUFFIX);
    return BOUGH_OK;
}

bough_status bough_npz_add_array(bough_context *ctx, bough_npz *npz, const char *name, bough_npz_type type,
                                 int32_t dimension_count, const int32_t *shape) {
    array *a;
    if (dimension_count < 0 || dimension_count > BOUGH_NPZ_DIMENSION_LIMIT)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "rows have 0 to %d dimensions, not %d", BOUGH_NPZ_DIMENSION_LIMIT,
                       dimension_count);
    BO_TRY(add(ctx, npz, name, &a));
    a->type = (int)type, a->dimensions = dimension_count;
    a->row_size = type == BOUGH_NPZ_FLOAT64 ? 8 : 4;
    for (int32_t d = 0; d < dimension_count; d++) {
        a->shape[d] = shape[d];
        if (shape[d] < 0 || __builtin_mul_overflow(a->row_size, (size_t)shape[d], &a->row_size))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: %d is no size of a row", name, shape[d]);
    }
    npz->count++;
    return BOUGH_OK;
}

int32_t bough_npz_find(const bough_npz *npz, const char *name) {
    const size_t length = strlen(name);
    for (size_t i = 0; i < npz->count; i++)
        if (strncmp(npz->arrays[i].name, name, length) == 0 && strcmp(npz->arrays[i].name + length, SUFFIX) == 0)
            return (int32_t)i;
    return -1;
}

bough_status bough_npz_append(bough_context *ctx, bough_npz *npz, int32_t number, int32_t row_count, const void *rows) {
    if (number < 0 || (size_t)number >= npz->count || npz->arrays[number].type == TEXT || row_count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "array %d takes no rows", number);
    array *a = &npz->arrays[number];
    size_t size;
    if (__builtin_mul_overflow(a->row_size, (size_t)row_count, &size) || size > SIZE_MAX / 4 - a->size)
        return bo_fail_memory(ctx);
    if (!BO_RESERVE(ctx, a->bytes, a->capacity, a->size + size))
        return BOUGH_ERROR_MEMORY;
    if (size > 0)
        memcpy(a->bytes + a->size, rows, size);
    a->size += size, a->rows += (size_t)row_count;
    return BOUGH_OK;
}

/* ---- texts: NumPy has them as UTF-32, all of one length ---- */

/* Returns the next letter of a UTF-8 text; '?' for bytes that are none. */
static uint32_t next_letter(const unsigned char **text) {
    const unsigned char *s = *text;
    const int more = s[0] < 0x80 ? 0 : s[0] >> 5 == 6 ? 1 : s[0] >> 4 == 14 ? 2 : s[0] >> 3 == 30 ? 3 : -1;
    uint32_t letter = more == 0 ? s[0] : more > 0 ? s[0] & (0x3fu >> more) : '?';
    *text = s + 1;
    for (int i = 1; i <= more; i++) {
        if (s[i] >> 6 != 2)
            return '?';
        letter = letter << 6 | (s[i] & 0x3fu);
        *text = s + i + 1;
    }
    return letter > 0x10ffff ? '?' : letter;
}

static int32_t letter_count(const char *text) {
    int32_t count = 0;
    for (const unsigned char *s = (const unsigned char *)text; s && *s; count++)
        next_letter(&s);
    return count;
}

bough_status bough_npz_add_texts(bough_context *ctx, bough_npz *npz, const char *name, int32_t count,
                                 const char *const *texts) {
    array *a;
    if (count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: there cannot be %d texts", name, count);
    BO_TRY(add(ctx, npz, name, &a));
    a->type = TEXT, a->letters = 1, a->rows = (size_t)count;
    for (int32_t i = 0; i < count; i++) {
        const int32_t letters = letter_count(texts[i]);
        a->letters = letters > a->letters ? letters : a->letters;
    }
    a->row_size = 4 * (size_t)a->letters, a->size = a->row_size * a->rows;
    if (!(a->bytes = BO_NEW_ZEROS(ctx, unsigned char, a->size)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        unsigned char *to = a->bytes + a->row_size * (size_t)i;
        for (const unsigned char *s = (const unsigned char *)texts[i]; s && *s; to += 4) {
            const uint32_t letter = next_letter(&s);
            for (int b = 0; b < 4; b++)
                to[b] = (unsigned char)(letter >> 8 * b & 255);
        }
    }
    npz->count++;
    return BOUGH_OK;
}

/* ---- the file ---- */

static void put(unsigned char **at, uint64_t value, int bytes) {
    for (int b = 0; b < bytes; b++)
        *(*at)++ = (unsigned char)(value >> 8 * b & 255);
}

/* A dictionary of Python, filled up with blanks so that numbers begin at a multiple of 64. */
static void write_header(const array *a, unsigned char header[HEADER + 1]) {
    char type[16], shape[80], *to = shape;
    if (a->type == TEXT)
        snprintf(type, sizeof type, "<U%d", a->letters);
    else
        snprintf(type, sizeof type, "%s",
                 a->type == BOUGH_NPZ_FLOAT64   ? "<f8"
                 : a->type == BOUGH_NPZ_FLOAT32 ? "<f4"
                                                : "<i4");
    to += sprintf(to, "%zu,", a->rows);
    for (int32_t d = 0; d < a->dimensions; d++)
        to += sprintf(to, " %d,", a->shape[d]);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = HEADER - 10, header[9] = 0;
    const int length = snprintf((char *)header + 10, HEADER - 10,
                                "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    memset(header + 10 + length, ' ', (size_t)(HEADER - 11 - length));
    header[HEADER - 1] = '\n';
}

/* Writes the part that the local head and the directory have in common, except for the version of the maker before
 * it. */
static unsigned char *put_common(unsigned char *at, const array *a) {
    put(&at, 20, 2), put(&at, 0, 2), put(&at, 0, 2); /* version 2.0, no flags, stored */
    put(&at, 0, 2), put(&at, 0x21, 2);               /* the first of January 1980: the same run, the same bytes */
    put(&at, a->checksum, 4), put(&at, HEADER + a->size, 4), put(&at, HEADER + a->size, 4);
    put(&at, strlen(a->name), 2), put(&at, 0, 2);
    return at;
}

static uint32_t checksum_of(const unsigned char *header, const array *a) {
    uLong sum = crc32(crc32(0, NULL, 0), header, HEADER);
    for (size_t done = 0; done < a->size;) {
        const size_t part = a->size - done < 1u << 30 ? a->size - done : 1u << 30;
        sum = crc32(sum, a->bytes + done, (uInt)part);
        done += part;
    }
    return (uint32_t)sum;
}

static uint64_t write_member(FILE *f, array *a, uint64_t offset) {
    unsigned char header[HEADER + 1], head[64], *at = head;
    write_header(a, header);
    a->checksum = checksum_of(header, a), a->offset = offset;
    put(&at, 0x04034b50, 4);
    at = put_common(at, a);
    fwrite(head, 1, (size_t)(at - head), f);
    fputs(a->name, f);
    fwrite(header, 1, HEADER, f);
    if (a->size > 0) /* else there are no bytes at all */
        fwrite(a->bytes, 1, a->size, f);
    return offset + (size_t)(at - head) + strlen(a->name) + HEADER + a->size;
}

static uint64_t write_entry(FILE *f, const array *a) {
    unsigned char head[64], *at = head;
    put(&at, 0x02014b50, 4), put(&at, 20, 2);
    at = put_common(at, a);
    put(&at, 0, 2), put(&at, 0, 2), put(&at, 0, 2), put(&at, 0, 4); /* no comment, disk 0, attributes */
    put(&at, a->offset, 4);
    fwrite(head, 1, (size_t)(at - head), f);
    fputs(a->name, f);
    return (size_t)(at - head) + strlen(a->name);
}

static bough_status write_file(bough_context *ctx, void *data) {
    const bough_npz *npz = data;
    FILE *f = npz->output.stream;
    uint64_t size = 0, directory = 0;
    for (size_t i = 0; i < npz->count; i++)
        size += npz->arrays[i].size + HEADER + 4 * NAME_LIMIT;
    if (size > UINT32_MAX || npz->count >= UINT16_MAX)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: would have more than the 4 GB that zip files hold; record fewer frames", npz->output.path);
    size = 0;
    for (size_t i = 0; i < npz->count; i++)
        size = write_member(f, &npz->arrays[i], size);
    for (size_t i = 0; i < npz->count; i++)
        directory += write_entry(f, &npz->arrays[i]);
    unsigned char tail[32], *at = tail;
    put(&at, 0x06054b50, 4), put(&at, 0, 2), put(&at, 0, 2);
    put(&at, npz->count, 2), put(&at, npz->count, 2), put(&at, directory, 4), put(&at, size, 4), put(&at, 0, 2);
    fwrite(tail, 1, (size_t)(at - tail), f);
    return BOUGH_OK;
}

bough_status bough_npz_flush(bough_context *ctx, bough_npz *npz) {
    return bo_output_flush(ctx, &npz->output, write_file, npz);
}

bough_status bough_npz_finish(bough_context *ctx, bough_npz *npz) {
    const bough_status status = bo_output_finish(ctx, &npz->output, write_file, npz);
    destroy(ctx, npz);
    return status;
}

/* ---- one matrix ---- */

bough_status bough_npy_write(bough_context *ctx, const char *path, int32_t rows, int32_t columns,
                             const double *values) {
    if (rows < 0 || columns < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: no array has %d rows of %d numbers", path, rows, columns);
    bo_npy_writer writer;
    BO_TRY(bo_npy_open(ctx, path, columns, &writer));
    for (int32_t i = 0; i < rows; i++) {
        const bough_status status = bo_npy_append(ctx, &writer, values + (size_t)i * (size_t)columns);
        if (status != BOUGH_OK) {
            bo_npy_discard(ctx, &writer);
            return status;
        }
    }
    return bo_npy_commit(ctx, &writer);
}
