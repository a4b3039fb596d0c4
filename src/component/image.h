/* A file as a directory of named arrays ("chunks"). Components are such files, and so are partial results of cooking.
 * Layout, byte by byte: docs/component-format.md#container
 *
 * There is exactly one way to write given chunks: they follow each other in the order of the directory, each at the
 * next multiple of 64 bytes, zeros between. So nothing can overlap, and every bit of a file is covered by a checksum or
 * is a zero that is checked. */
#ifndef BO_COMPONENT_IMAGE_H
#define BO_COMPONENT_IMAGE_H

#include "base/context.h"

/* Kinds are at most 15 bytes, names of chunks at most 31. */
enum { BO_IMAGE_KIND_SIZE = 16, BO_CHUNK_NAME_SIZE = 32, BO_CHUNK_MAX_RANK = 4, BO_IMAGE_MAX_CHUNKS = 1024 };
/* The image starts with these and with its directory; for programs that change images in place, like tests. */
enum { BO_IMAGE_HEADER_SIZE = 64, BO_IMAGE_ENTRY_SIZE = 96, BO_IMAGE_ALIGNMENT = 64 };

/* The values are those of the file. */
typedef enum bo_chunk_type { BO_F64 = 1, BO_F32 = 2, BO_I32 = 3, BO_I16 = 4, BO_U8 = 5 } bo_chunk_type;

/* Two inputs that differ within one 8-byte word only never have the same hash. */
uint64_t bo_image_hash(uint64_t seed, const void *bytes, size_t size);

/* ---- writing ---- */

typedef struct bo_chunk_draft {
    char name[BO_CHUNK_NAME_SIZE];
    bo_chunk_type type;
    int32_t rank;
    uint64_t dims[BO_CHUNK_MAX_RANK];
    const void *data;
    size_t size; /* bytes */
} bo_chunk_draft;

typedef struct bo_image_builder {
    bough_context *ctx;
    char kind[BO_IMAGE_KIND_SIZE];
    uint32_t version;
    bo_chunk_draft *chunks;
    size_t chunk_count, capacity;
    bough_status status; /* of the first failure; finish reports it */
} bo_image_builder;

void bo_image_begin(bough_context *ctx, bo_image_builder *builder, const char *kind, uint32_t version);
/* The data are read by finish and must live until then. An array with a dimension of 0 is left out. */
void bo_image_add(bo_image_builder *builder, const char *name, bo_chunk_type type, int32_t rank, const uint64_t *dims,
                  const void *data);
/* *bytes is to be freed with bo_free. The builder is empty afterwards, whatever the result. */
bough_status bo_image_finish(bo_image_builder *builder, void **bytes, size_t *size);
void bo_image_discard(bo_image_builder *builder);
/* Appears under its name only when it is complete. */
bough_status bo_image_save(bough_context *ctx, const void *bytes, size_t size, const char *path);

/* Recomputes all checksums of an image whose structure is sound, after a change in place. */
void bo_image_seal(void *bytes, size_t size);

/* ---- reading ---- */

/* A checked image; it points into the bytes and allocates nothing. */
typedef struct bo_image {
    const unsigned char *bytes;
    size_t size;
    int32_t chunk_count;
} bo_image;

typedef struct bo_chunk {
    const char *name;
    bo_chunk_type type;
    int32_t rank;
    uint64_t dims[BO_CHUNK_MAX_RANK]; /* unused ones are 0 */
    const void *data;
    size_t size;
} bo_chunk;

/* Checks structure and checksums. The bytes must be aligned to 8 and outlive the image. A wrong version, and a machine
 * that is not little-endian, are BOUGH_ERROR_UNSUPPORTED; all else that is wrong is BOUGH_ERROR_FORMAT. */
bough_status bo_image_open(bough_context *ctx, const void *bytes, size_t size, const char *kind, uint32_t version,
                           bo_image *image);
bo_chunk bo_image_chunk(const bo_image *image, int32_t index);
bool bo_image_find(const bo_image *image, const char *name, bo_chunk *chunk);

/* An expected dimension that may be anything from 1 to INT32_MAX; it is replaced by what was found. */
#define BO_ANY_SIZE UINT64_MAX
/* The data of the named chunk, which must have this type and these dimensions. Where an expected dimension is 0 the
 * array is empty: *data is NULL and the chunk is not looked for. */
bough_status bo_image_get(bough_context *ctx, const bo_image *image, const char *name, bo_chunk_type type, int32_t rank,
                          uint64_t *dims, const void **data);

#endif
