#include "record/png.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    CHUNK_SIZE = 1 << 16,
    FILTER_COUNT = 5,
    CHANNELS = 3,
    ROWS_AT_ONCE = 64 /* between two looks whether to go on */
};

/* The buffer in which compressed bytes gather until they fill a chunk. The first four bytes are kept for fdAT's
 * number. */
typedef struct image_writer {
    bough_context *ctx; /* that is asked whether to go on; NULL: none is */
    bool cancelled;
    FILE *stream;
    uint32_t *sequence;
    z_stream zip;
    uint8_t chunk[4 + CHUNK_SIZE];
} image_writer;

void bo_png_write_chunk(FILE *stream, const char type[4], const uint8_t *data, size_t size) {
    uint8_t head[8], foot[4];
    bo_png_store32(head, (uint32_t)size);
    memcpy(head + 4, type, 4);
    uLong crc = crc32(0, head + 4, 4);
    if (size > 0)
        crc = crc32(crc, data, (uInt)size);
    bo_png_store32(foot, (uint32_t)crc);
    fwrite(head, 1, sizeof head, stream);
    if (size > 0)
        fwrite(data, 1, size, stream);
    fwrite(foot, 1, sizeof foot, stream);
}

void bo_png_write_header(FILE *stream, int32_t width, int32_t height) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    /* bit depth 8, colour type 2 (RGB), deflate, adaptive filters, not interlaced */
    uint8_t header[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0};
    bo_png_store32(header, (uint32_t)width);
    bo_png_store32(header + 4, (uint32_t)height);
    fwrite(signature, 1, sizeof signature, stream);
    bo_png_write_chunk(stream, "IHDR", header, sizeof header);
}

static void *zip_alloc(void *ctx, uInt count, uInt size) {
    return bo_alloc(ctx, count, size);
}
static void zip_free(void *ctx, void *block) {
    bo_free(ctx, block);
}

static void flush_chunk(image_writer *w) {
    size_t size = CHUNK_SIZE - w->zip.avail_out;
    if (size > 0 && w->sequence) {
        bo_png_store32(w->chunk, (*w->sequence)++);
        bo_png_write_chunk(w->stream, "fdAT", w->chunk, 4 + size);
    } else if (size > 0) {
        bo_png_write_chunk(w->stream, "IDAT", w->chunk + 4, size);
    }
    w->zip.next_out = w->chunk + 4;
    w->zip.avail_out = CHUNK_SIZE;
}

static bool compress_bytes(image_writer *w, uint8_t *bytes, size_t size, int mode) {
    w->zip.next_in = bytes;
    w->zip.avail_in = (uInt)size;
    for (;;) {
        int result = deflate(&w->zip, mode);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return false;
        if (w->zip.avail_out > 0 && (mode != Z_FINISH || result == Z_STREAM_END))
            return true;
        flush_chunk(w);
    }
}

/* Returns whichever of left, up and upper left is nearest to left + up - upper left. */
static uint8_t paeth(int left, int up, int corner) {
    int guess = left + up - corner, dl = abs(guess - left), du = abs(guess - up), dc = abs(guess - corner);
    return (uint8_t)(dl <= du && dl <= dc ? left : du <= dc ? up : corner);
}

static uint8_t predict(int filter, int left, int up, int corner) {
    switch (filter) {
    case 1:
        return (uint8_t)left;
    case 2:
        return (uint8_t)up;
    case 3:
        return (uint8_t)((left + up) / 2);
    case 4:
        return paeth(left, up, corner);
    default:
        return 0;
    }
}

/* Writes filter type and filtered row; returns the sum of their signed sizes, by which the best filter is guessed. */
static uint64_t filter_row(int filter, const uint8_t *row, const uint8_t *above, size_t size, uint8_t *out) {
    uint64_t sum = 0;
    *out++ = (uint8_t)filter;
    for (size_t i = 0; i < size; i++) {
        int left = i < CHANNELS ? 0 : row[i - CHANNELS], corner = i < CHANNELS ? 0 : above[i - CHANNELS];
        out[i] = (uint8_t)(row[i] - predict(filter, left, above[i], corner));
        sum += (uint64_t)abs((int8_t)out[i]);
    }
    return sum;
}

static void copy_rgb(uint8_t *rgb, const uint8_t *rgba, int32_t width) {
    for (int32_t x = 0; x < width; x++)
        memcpy(rgb + 3 * x, rgba + 4 * x, 3);
}

/* rows: two rows of RGB, then the filtered candidates */
static bool write_rows(image_writer *w, bo_png_image image, uint8_t *rows) {
    size_t size = CHANNELS * (size_t)image.width;
    uint8_t *row = rows, *above = rows + size, *filtered = rows + 2 * size;
    memset(above, 0, size);
    for (int32_t y = 0; y < image.height; y++) {
        w->cancelled = w->ctx && (y + 1) % ROWS_AT_ONCE == 0 &&
                       !bo_progress(w->ctx, "writing", -1, "row %d of %d", y + 1, image.height);
        if (w->cancelled)
            return false;
        copy_rgb(row, image.rgba + image.stride * (size_t)y, image.width);
        int best = 0;
        uint64_t best_sum = UINT64_MAX;
        for (int filter = 0; filter < FILTER_COUNT; filter++) {
            uint64_t sum = filter_row(filter, row, above, size, filtered + (size_t)filter * (size + 1));
            if (sum < best_sum)
                best_sum = sum, best = filter;
        }
        if (!compress_bytes(w, filtered + (size_t)best * (size + 1), size + 1, Z_NO_FLUSH))
            return false;
        uint8_t *other = row;
        row = above, above = other;
    }
    return compress_bytes(w, NULL, 0, Z_FINISH);
}

bough_status bo_png_write_image(bough_context *ctx, FILE *stream, bo_png_image image, uint32_t *sequence,
                                bool may_stop) {
    size_t size = CHANNELS * (size_t)image.width;
    image_writer *w = BO_NEW(ctx, image_writer);
    uint8_t *rows = w ? BO_NEW_ARRAY(ctx, uint8_t, 2 * size + FILTER_COUNT * (size + 1)) : NULL;
    bool done = false;
    if (rows) {
        w->ctx = may_stop ? ctx : NULL, w->stream = stream, w->sequence = sequence;
        w->zip.zalloc = zip_alloc, w->zip.zfree = zip_free, w->zip.opaque = ctx;
        if (deflateInit(&w->zip, 6) == Z_OK) {
            w->zip.next_out = w->chunk + 4, w->zip.avail_out = CHUNK_SIZE;
            done = write_rows(w, image, rows);
            flush_chunk(w);
            deflateEnd(&w->zip);
        }
    }
    const bool cancelled = w && w->cancelled;
    bo_free(ctx, rows);
    bo_free(ctx, w);
    return done ? BOUGH_OK : cancelled ? bo_fail_cancelled(ctx) : bo_fail_memory(ctx);
}
