/* Checksums as zlib has them. Nothing is compressed here: pictures are refused. */
#ifndef BOUGH_WASM_ZLIB_H
#define BOUGH_WASM_ZLIB_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned char Bytef;
typedef unsigned int uInt;
typedef unsigned long uLong;
typedef struct {
    const Bytef *next_in;
    Bytef *next_out;
    uInt avail_in, avail_out;
    void *zalloc, *zfree, *opaque;
} z_stream;
#define Z_NULL NULL
enum { Z_OK = 0, Z_STREAM_END = 1, Z_BUF_ERROR = -5, Z_MEM_ERROR = -4, Z_NO_FLUSH = 0, Z_FINISH = 4 };

static inline uLong crc32(uLong crc, const Bytef *bytes, uInt size) {
    uint32_t c = ~(uint32_t)crc;
    for (uInt i = 0; bytes && i < size; i++) {
        c ^= bytes[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    }
    return bytes ? (uint32_t)~c : 0;
}
static inline int deflateInit(z_stream *stream, int level) {
    return (void)stream, (void)level, Z_MEM_ERROR;
}
static inline int deflate(z_stream *stream, int mode) {
    return (void)stream, (void)mode, Z_MEM_ERROR;
}
static inline int deflateEnd(z_stream *stream) {
    return (void)stream, Z_OK;
}

#endif
