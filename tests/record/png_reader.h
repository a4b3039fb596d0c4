/* A small PNG and APNG reader that believes nothing: signature, chunk order, checksums, filters, sequence numbers. */
#ifndef BOUGH_TEST_PNG_READER_H
#define BOUGH_TEST_PNG_READER_H

#include "test.h"

#include <zlib.h>

typedef struct png_frame {
    uint32_t x, y, width, height, delay_num, delay_den, dispose, blend;
    uint8_t *packed;
    size_t packed_size;
} png_frame;

typedef struct png_file {
    uint32_t width, height;
    bool animated;
    uint32_t declared_frames, frame_count;
    png_frame frames[64];
} png_file;

static inline uint32_t png_u32(const uint8_t *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline void png_append(png_frame *frame, const uint8_t *data, size_t size) {
    frame->packed = realloc(frame->packed, frame->packed_size + size);
    memcpy(frame->packed + frame->packed_size, data, size);
    frame->packed_size += size;
}

static inline void png_frame_control(png_file *png, const uint8_t *d) {
    check(png->frame_count < 64);
    png->frames[png->frame_count++] = (png_frame){.x = png_u32(d + 12),
                                                  .y = png_u32(d + 16),
                                                  .width = png_u32(d + 4),
                                                  .height = png_u32(d + 8),
                                                  .delay_num = (uint32_t)d[20] << 8 | d[21],
                                                  .delay_den = (uint32_t)d[22] << 8 | d[23],
                                                  .dispose = d[24],
                                                  .blend = d[25]};
}

static inline png_file read_png(const char *path) {
    static const uint8_t signature[8] = {137, 80, 78, 71, 13, 10, 26, 10};
    png_file png = {0};
    size_t size, at = 8;
    uint8_t *data = test_read(path, &size);
    uint32_t sequence = 0;
    bool ended = false;
    check(size > 8 && memcmp(data, signature, 8) == 0);
    while (at < size) {
        check(!ended && at + 12 <= size);
        uint32_t length = png_u32(data + at);
        const uint8_t *type = data + at + 4, *body = data + at + 8;
        check(at + 12 + length <= size);
        check_int(png_u32(body + length), crc32(0, type, length + 4));
        if (memcmp(type, "IHDR", 4) == 0) {
            png.width = png_u32(body), png.height = png_u32(body + 4);
            check(at == 8 && length == 13 && body[8] == 8 && body[9] == 2 && body[12] == 0);
        } else if (memcmp(type, "acTL", 4) == 0) {
            png.animated = true;
            png.declared_frames = png_u32(body);
        } else if (memcmp(type, "fcTL", 4) == 0) {
            check_int(png_u32(body), sequence++);
            png_frame_control(&png, body);
        } else if (memcmp(type, "IDAT", 4) == 0) {
            if (!png.animated && png.frame_count == 0)
                png.frames[png.frame_count++] = (png_frame){.width = png.width, .height = png.height};
            check_int(png.frame_count, 1);
            png_append(&png.frames[0], body, length);
        } else if (memcmp(type, "fdAT", 4) == 0) {
            check_int(png_u32(body), sequence++);
            check(png.frame_count > 1);
            png_append(&png.frames[png.frame_count - 1], body + 4, length - 4);
        } else {
            check(memcmp(type, "IEND", 4) == 0);
            ended = true;
        }
        at += 12 + length;
    }
    check(ended);
    free(data);
    return png;
}

static inline void free_png(png_file *png) {
    for (uint32_t i = 0; i < png->frame_count; i++)
        free(png->frames[i].packed);
}

static inline uint8_t png_unfilter(int filter, int left, int up, int corner) {
    int guess = left + up - corner, dl = abs(guess - left), du = abs(guess - up), dc = abs(guess - corner);
    switch (filter) {
    case 0:
        return 0;
    case 1:
        return (uint8_t)left;
    case 2:
        return (uint8_t)up;
    case 3:
        return (uint8_t)((left + up) / 2);
    default:
        check_int(filter, 4);
        return (uint8_t)(dl <= du && dl <= dc ? left : du <= dc ? up : corner);
    }
}

/* Inflates the frame and writes its pixels into an RGBA canvas of the whole picture. */
static inline void png_draw_frame(const png_file *png, uint32_t index, uint8_t *canvas) {
    const png_frame *f = &png->frames[index];
    size_t row_size = 3 * (size_t)f->width;
    uLongf size = (uLongf)((row_size + 1) * f->height);
    uint8_t *rows = malloc(size);
    check_int(uncompress(rows, &size, f->packed, (uLong)f->packed_size), Z_OK);
    check_int(size, (row_size + 1) * f->height);
    check(f->x + f->width <= png->width && f->y + f->height <= png->height);
    for (uint32_t y = 0; y < f->height; y++) {
        uint8_t *row = rows + y * (row_size + 1) + 1, *above = y > 0 ? row - row_size - 1 : NULL;
        for (size_t i = 0; i < row_size; i++) {
            int left = i >= 3 ? row[i - 3] : 0, up = above ? above[i] : 0, corner = above && i >= 3 ? above[i - 3] : 0;
            row[i] = (uint8_t)(row[i] + png_unfilter(row[-1], left, up, corner));
        }
        for (uint32_t x = 0; x < f->width; x++) {
            uint8_t *pixel = canvas + 4 * ((size_t)(f->y + y) * png->width + f->x + x);
            memcpy(pixel, row + 3 * x, 3);
            pixel[3] = 255;
        }
    }
    free(rows);
}

#endif
