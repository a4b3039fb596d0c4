/* PNG chunks and image data (ISO/IEC 15948), 8-bit RGB. */
#ifndef BO_RECORD_PNG_H
#define BO_RECORD_PNG_H

#include "base/context.h"

#include <stdio.h>

/* Pixels inside a larger RGBA image, of which the alpha is not stored. */
typedef struct bo_png_image {
    const uint8_t *rgba; /* first pixel */
    size_t stride;       /* bytes from row to row */
    int32_t width, height;
} bo_png_image;

static inline void bo_png_store32(uint8_t *bytes, uint32_t value) {
    bytes[0] = (uint8_t)(value >> 24), bytes[1] = (uint8_t)(value >> 16);
    bytes[2] = (uint8_t)(value >> 8), bytes[3] = (uint8_t)value;
}

/* Errors of the stream are left for bo_output_commit() to find. */
void bo_png_write_chunk(FILE *stream, const char type[4], const uint8_t *data, size_t size);
/* Signature and IHDR. */
void bo_png_write_header(FILE *stream, int32_t width, int32_t height);

/* Filters and compresses the image into IDAT chunks, or, when sequence is given, into the fdAT chunks of an animation,
 * which are numbered from *sequence on. may_stop: progress() of the context may cancel it; an image of a film that has begun
 * is finished, so that it stays with what was done. */
bough_status bo_png_write_image(bough_context *ctx, FILE *stream, bo_png_image image, uint32_t *sequence,
                                bool may_stop);

#endif
