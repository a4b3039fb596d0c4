#include "base/npy.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MAGIC_SIZE 6
#define OWN_HEADER_SIZE 128 /* of the files written here: a multiple of 64 with room for any shape */
#define BLOCK_NUMBERS 4096  /* numbers that are copied at a time */
static const char magic[MAGIC_SIZE + 1] = "\x93NUMPY";

/* ---- the header ---- */

/* The contents of a header, which is a Python dictionary such as {'descr': '<f8', 'fortran_order': False, 'shape': (3,
 * 4), }. */
typedef struct header {
    char type[16]; /* of the numbers, cut off when longer; "" for a record of several */
    bool fortran_order;
    int32_t rows, columns; /* of a 1-D array: rows x 1 */
    int32_t dimensions;
    size_t size; /* bytes before the numbers */
    bool has_type, has_order, has_shape;
} header;

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_blanks(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

static bool accept(cursor *c, const char *word) {
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* A string in either kind of quotes. */
static bool take_string(cursor *c, char *text, size_t room) {
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char *close = memchr(c->at + 1, *c->at, (size_t)(c->end - c->at) - 1);
    if (!close)
        return false;
    size_t length = (size_t)(close - c->at) - 1;
    length = length < room ? length : room - 1;
    memcpy(text, c->at + 1, length);
    text[length] = 0;
    c->at = close + 1;
    return true;
}

/* Counts beyond int32 become the largest int32: no file can hold so many. */
static bool take_count(cursor *c, int32_t *count) {
    skip_blanks(c);
    int64_t value = 0;
    const char *first = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        value = 10 * value + (*c->at - '0');
        value = value < INT32_MAX ? value : INT32_MAX;
    }
    bool found = c->at > first;
    accept(c, "L"); /* as Python 2 wrote long numbers */
    *count = (int32_t)value;
    return found;
}

static bool take_shape(cursor *c, header *h) {
    int32_t extent[2] = {1, 1}, other;
    if (!accept(c, "("))
        return false;
    for (bool more = true; !accept(c, ")"); h->dimensions++) {
        if (!more || !take_count(c, h->dimensions < 2 ? &extent[h->dimensions] : &other))
            return false;
        more = accept(c, ",");
    }
    h->rows = extent[0], h->columns = extent[1];
    return true;
}

static bool take_entry(cursor *c, header *h) {
    char key[16];
    if (!take_string(c, key, sizeof key) || !accept(c, ":"))
        return false;
    if (strcmp(key, "descr") == 0 && !h->has_type) {
        h->has_type = true;
        return take_string(c, h->type, sizeof h->type);
    }
    if (strcmp(key, "fortran_order") == 0 && !h->has_order) {
        h->has_order = true;
        h->fortran_order = accept(c, "True");
        return h->fortran_order || accept(c, "False");
    }
    if (strcmp(key, "shape") == 0 && !h->has_shape) {
        h->has_shape = true;
        return take_shape(c, h);
    }
    return false;
}

/* A record of several numbers has a list here; that is another kind of array, not a broken header. */
static bool is_record(const cursor *dictionary) {
    cursor c = *dictionary;
    char key[16];
    return accept(&c, "{") && take_string(&c, key, sizeof key) && strcmp(key, "descr") == 0 && accept(&c, ":") &&
           accept(&c, "[");
}

static bool take_dictionary(cursor *c, header *h) {
    if (!accept(c, "{"))
        return false;
    for (bool more = true; !accept(c, "}"); more = accept(c, ","))
        if (!more || !take_entry(c, h))
            return false;
    skip_blanks(c);
    return c->at == c->end && h->has_type && h->has_order && h->has_shape;
}

/* Checks magic and version, and sets the dictionary between `dictionary->at` and its end. */
static bough_status find_dictionary(bough_context *ctx, const char *path, const char *data, size_t size,
                                    cursor *dictionary) {
    if (size < MAGIC_SIZE + 4 || memcmp(data, magic, MAGIC_SIZE) != 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s: is not a .npy file (it does not begin as NumPy's arrays do)",
                       path);
    const unsigned char *b = (const unsigned char *)data;
    int version = b[MAGIC_SIZE], minor = b[MAGIC_SIZE + 1];
    if (version < 1 || version > 3 || minor != 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: has version %d.%d of the .npy format; 1.0 to 3.0 are known",
                       path, version, minor);
    size_t start = version == 1 ? 10 : 12, length = (size_t)b[8] | (size_t)b[9] << 8;
    if (version > 1 && size >= start)
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (size < start || length > size - start)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s: ends within its header", path);
    *dictionary = (cursor){data + start, data + start + length};
    return BOUGH_OK;
}

static bough_status parse_header(bough_context *ctx, const char *path, const char *data, size_t size, header *h) {
    *h = (header){0};
    cursor dictionary = {0};
    BO_TRY(find_dictionary(ctx, path, data, size, &dictionary));
    h->size = (size_t)(dictionary.end - data);
    if (is_record(&dictionary))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: is an array of records; one of plain numbers is needed",
                       path);
    if (!take_dictionary(&dictionary, h))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT,
                       "%s: the header does not say descr, fortran_order and shape as NumPy does", path);
    return BOUGH_OK;
}

/* ---- reading ---- */

/* Returns the bytes of one number: 8, 4, or 0 for another type. */
static size_t number_size(const header *h) {
    return strcmp(h->type, "<f8") == 0 ? 8 : strcmp(h->type, "<f4") == 0 ? 4 : 0;
}

static bough_status check_kind(bough_context *ctx, const char *path, const header *h) {
    if (strchr(h->type, 'O'))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: is an array of Python objects; one of numbers is needed",
                       path);
    if (strcmp(h->type, ">f8") == 0 || strcmp(h->type, ">f4") == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: is big-endian; save it with .astype('<f8')", path);
    if (number_size(h) == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: has numbers of type \"%s\"; float64 and float32 are read, save it with .astype('<f8')",
                       path, h->type);
    if (h->dimensions != 1 && h->dimensions != 2)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: the array has %d dimensions; 1 or 2 are read, save it with .reshape(rows, columns)", path,
                       h->dimensions);
    return BOUGH_OK;
}

static bough_status check_size(bough_context *ctx, const char *path, const header *h, size_t file_size) {
    size_t left = file_size - h->size;
    uint64_t row_size = (uint64_t)h->columns * number_size(h); /* up to 2^34: more than size_t may hold */
    /* rows that the bytes can hold: no product of the header's numbers is formed before they are known to be true */
    bool fits = row_size == 0 ? left == 0 : left % row_size == 0 && left / row_size == (uint64_t)h->rows;
    if (!fits)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s: %d x %d numbers of %zu bytes were announced, but %zu bytes follow",
                       path, h->rows, h->columns, number_size(h), left);
    return BOUGH_OK;
}

static double decode(const char *data, size_t size) {
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)(unsigned char)data[i] << (8 * i);
    if (size == 4) {
        uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bough_status decode_all(bough_context *ctx, const char *path, const header *h, const char *data,
                               double *values) {
    size_t size = number_size(h), rows = (size_t)h->rows, columns = (size_t)h->columns;
    for (size_t i = 0; i < rows && columns > 0; i++)
        for (size_t j = 0; j < columns; j++) {
            size_t place = h->fortran_order ? j * rows + i : i * columns + j;
            double value = decode(data + size * place, size);
            if (!isfinite(value))
                return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s: row %zu, column %zu (counted from 0) is not finite", path,
                               i, j);
            values[i * columns + j] = value;
        }
    return BOUGH_OK;
}

static bough_status read_values(bough_context *ctx, const char *path, const bo_file *file, header *h, double **values) {
    BO_TRY(parse_header(ctx, path, file->data, file->size, h));
    BO_TRY(check_kind(ctx, path, h));
    BO_TRY(check_size(ctx, path, h, file->size));
    *values = BO_NEW_ARRAY(ctx, double, (size_t)h->rows *(size_t)h->columns);
    if (!*values)
        return BOUGH_ERROR_MEMORY;
    return decode_all(ctx, path, h, file->data + h->size, *values);
}

bough_status bo_npy_read(bough_context *ctx, const char *path, int32_t *rows, int32_t *columns, double **values) {
    *rows = *columns = 0;
    *values = NULL;
    bo_file file;
    BO_TRY(bo_file_read(ctx, path, &file));
    header h;
    bough_status status = read_values(ctx, path, &file, &h, values);
    bo_file_free(ctx, &file);
    if (status != BOUGH_OK) {
        bo_free(ctx, *values);
        *values = NULL;
        return status;
    }
    *rows = h.rows;
    *columns = h.columns;
    return BOUGH_OK;
}

/* ---- writing ---- */

static void write_header(bo_npy_writer *writer) {
    char text[OWN_HEADER_SIZE];
    memset(text, ' ', sizeof text);
    memcpy(text, magic, MAGIC_SIZE);
    text[6] = 1, text[7] = 0;
    text[8] = (char)(OWN_HEADER_SIZE - 10), text[9] = 0;
    int length = snprintf(text + 10, sizeof text - 10, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }",
                          writer->rows, writer->columns);
    text[10 + length] = ' '; /* in place of the NUL */
    text[OWN_HEADER_SIZE - 1] = '\n';
    fwrite(text, 1, sizeof text, writer->output.stream);
}

static bough_status fail_write(bough_context *ctx, const bo_npy_writer *writer) {
    return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: cannot be written: %s", writer->output.path,
                   errno ? strerror(errno) : "disk full or device error");
}

bough_status bo_npy_open(bough_context *ctx, const char *path, int32_t columns, bo_npy_writer *writer) {
    *writer = (bo_npy_writer){.columns = columns};
    BO_TRY(bo_output_open(ctx, path, &writer->output));
    if (fseek(writer->output.stream, 0, SEEK_SET) == 0) {
        write_header(writer);
        return BOUGH_OK;
    }
    bough_status status =
        bo_fail(ctx, BOUGH_ERROR_FILE,
                "%s: is not a file; a .npy array has the number of its rows in front, and it is known last", path);
    bo_npy_discard(ctx, writer);
    return status;
}

bough_status bo_npy_append(bough_context *ctx, bo_npy_writer *writer, const double *row) {
    enum { BLOCK = 512 };
    unsigned char block[8 * BLOCK];
    if (writer->rows == INT32_MAX)
        return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: has %d rows, which is the limit", writer->output.path, INT32_MAX);
    errno = 0;
    for (int32_t begin = 0; begin < writer->columns; begin += BLOCK) {
        int32_t count = writer->columns - begin < BLOCK ? writer->columns - begin : BLOCK;
        for (int32_t i = 0; i < count; i++) {
            uint64_t bits;
            memcpy(&bits, &row[begin + i], sizeof bits);
            for (int b = 0; b < 8; b++)
                block[8 * i + b] = (unsigned char)(bits >> (8 * b));
        }
        fwrite(block, 8, (size_t)count, writer->output.stream);
    }
    if (ferror(writer->output.stream))
        return fail_write(ctx, writer);
    writer->rows++;
    return BOUGH_OK;
}

/* Write the rows first, then the header that counts them: the header never promises more rows than there are. */
bough_status bo_npy_flush(bough_context *ctx, bo_npy_writer *writer) {
    FILE *stream = writer->output.stream;
    errno = 0;
    if (!bo_stream_sync(stream) || fseek(stream, 0, SEEK_SET) != 0)
        return fail_write(ctx, writer);
    write_header(writer);
    if (fseek(stream, 0, SEEK_END) != 0)
        return fail_write(ctx, writer);
    return bo_output_publish(ctx, &writer->output);
}

bough_status bo_npy_commit(bough_context *ctx, bo_npy_writer *writer) {
    errno = 0;
    if (fseek(writer->output.stream, 0, SEEK_SET) != 0) {
        bough_status status = fail_write(ctx, writer);
        bo_npy_discard(ctx, writer);
        return status;
    }
    write_header(writer);
    return bo_output_commit(ctx, &writer->output);
}

void bo_npy_discard(bough_context *ctx, bo_npy_writer *writer) {
    bo_output_discard(ctx, &writer->output);
    *writer = (bo_npy_writer){0};
}

/* ---- continuing a file ---- */

/* Reads the old file up to its numbers; false if it cannot be continued. */
static bool find_numbers(bough_context *ctx, const char *path, FILE *old, int32_t columns, int32_t rows) {
    char start[OWN_HEADER_SIZE];
    header h;
    size_t size = fread(start, 1, sizeof start, old);
    return parse_header(ctx, path, start, size, &h) == BOUGH_OK && number_size(&h) == 8 && !h.fortran_order &&
           h.dimensions == 2 && h.columns == columns && h.rows >= rows && fseek(old, (long)h.size, SEEK_SET) == 0;
}

static bough_status copy_rows(bough_context *ctx, const char *path, FILE *old, int32_t rows, bo_npy_writer *writer) {
    size_t left = (size_t)rows * (size_t)writer->columns;
    char *block = BO_NEW_ARRAY(ctx, char, 8 * BLOCK_NUMBERS);
    if (!block)
        return BOUGH_ERROR_MEMORY;
    while (left > 0) {
        size_t count = left < BLOCK_NUMBERS ? left : BLOCK_NUMBERS;
        if (fread(block, 8, count, old) != count)
            break;
        fwrite(block, 8, count, writer->output.stream);
        left -= count;
    }
    bo_free(ctx, block);
    if (left)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s: is shorter than its header says", path);
    writer->rows = rows;
    return BOUGH_OK;
}

bough_status bo_npy_continue(bough_context *ctx, const char *path, int32_t columns, int32_t rows, bo_npy_writer *writer,
                             bool *kept) {
    *kept = false;
    BO_TRY(bo_npy_open(ctx, path, columns, writer));
    if (!writer->output.temporary) /* a device has nothing to go on with */
        return BOUGH_OK;
    FILE *old = fopen(path, "rb");
    if (!old)
        return BOUGH_OK;
    bough_status status = BOUGH_OK;
    if (find_numbers(ctx, path, old, columns, rows)) {
        status = copy_rows(ctx, path, old, rows, writer);
        *kept = status == BOUGH_OK;
    }
    fclose(old);
    if (status != BOUGH_OK)
        bo_npy_discard(ctx, writer);
    return status;
}
