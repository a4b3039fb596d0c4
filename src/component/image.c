#include "component/image.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

static const unsigned char magic[8] = {0x89, 'B', 'O', 'U', 'G', 'H', '\r', '\n'};
enum { CONTAINER_VERSION = 1 };

/* Header */
enum { AT_MAGIC = 0, AT_CONTAINER = 8, AT_COUNT = 12, AT_SIZE = 16, AT_KIND = 24, AT_VERSION = 40, AT_ZERO = 44 };
enum { AT_CHECKSUM = 56 };
/* Entry of the directory */
enum { AT_NAME = 0, AT_TYPE = 32, AT_RANK = 36, AT_DIMS = 40, AT_OFFSET = 72, AT_BYTES = 80, AT_HASH = 88 };

static bool little_endian(void) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static void put32(unsigned char *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}
static void put64(unsigned char *at, uint64_t value) {
    put32(at, (uint32_t)value);
    put32(at + 4, (uint32_t)(value >> 32));
}
static uint32_t get32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
static uint64_t get64(const unsigned char *at) {
    return get32(at) | (uint64_t)get32(at + 4) << 32;
}

static size_t element_size(uint32_t type) {
    static const unsigned char sizes[] = {0, 8, 4, 4, 2, 1};
    return type < sizeof sizes ? sizes[type] : 0;
}
static const char *type_name(uint32_t type) {
    static const char *const names[] = {"?", "f64", "f32", "i32", "i16", "u8"};
    return type <= BO_U8 ? names[type] : names[0];
}
/* size <= SIZE_MAX - 63 */
static size_t aligned(size_t size) {
    return (size + (BO_IMAGE_ALIGNMENT - 1)) & ~(size_t)(BO_IMAGE_ALIGNMENT - 1);
}

/* Odd, so that multiplication is a bijection of 64-bit words; bits of the golden ratio and of e. */
#define FACTOR 0x9E3779B97F4A7C15u
#define SPREAD 0xADF85458A2BB4A9Bu

/* A bijection of the state for every word and of the word for every state: two lanes that once differ stay different
 * as long as they are fed the same words. The shift carries high bits to low ones, which multiplication does not. */
static inline uint64_t stir(uint64_t state, uint64_t word) {
    state = (state ^ word) * FACTOR;
    return state ^ state >> 29;
}
static inline uint64_t load_word(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

uint64_t bo_image_hash(uint64_t seed, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    uint64_t a = SPREAD, b = SPREAD * 3, c = SPREAD * 5, d = SPREAD * 7;
    size_t left = size;
    for (; left >= 32; left -= 32, at += 32) {
        a = stir(a, load_word(at));
        b = stir(b, load_word(at + 8));
        c = stir(c, load_word(at + 16));
        d = stir(d, load_word(at + 24));
    }
    unsigned char rest[32] = {0};
    if (left > 0)
        memcpy(rest, at, left);
    a = stir(a, load_word(rest));
    b = stir(b, load_word(rest + 8));
    c = stir(c, load_word(rest + 16));
    d = stir(d, load_word(rest + 24));
    return stir(stir(stir(stir(stir(seed ^ SPREAD, a), b), c), d), size);
}

static uint64_t directory_hash(const unsigned char *bytes, size_t chunk_count) {
    uint64_t header = bo_image_hash(0, bytes, AT_CHECKSUM);
    return bo_image_hash(header, bytes + BO_IMAGE_HEADER_SIZE, chunk_count * BO_IMAGE_ENTRY_SIZE);
}

/* ---- writing ---- */

void bo_image_begin(bough_context *ctx, bo_image_builder *builder, const char *kind, uint32_t version) {
    *builder = (bo_image_builder){.ctx = ctx, .version = version, .status = BOUGH_OK};
    if (!little_endian())
        builder->status =
            bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "files of this kind can be written on little-endian machines only");
    else if (strlen(kind) >= sizeof builder->kind)
        builder->status = bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the file kind \"%s\" is longer than %d bytes", kind,
                                  BO_IMAGE_KIND_SIZE - 1);
    else
        memcpy(builder->kind, kind, strlen(kind));
}

/* Computes the product of the dimensions and the element size; false when it does not fit. */
static bool array_size(size_t size, int32_t rank, const uint64_t *dims, size_t *result) {
    for (int32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(size, dims[i], &size))
            return false;
    *result = size;
    return size <= SIZE_MAX / 2;
}

static bough_status add_chunk(bo_image_builder *builder, const char *name, bo_chunk_type type, int32_t rank,
                              const uint64_t *dims, const void *data) {
    bough_context *ctx = builder->ctx;
    bo_chunk_draft chunk = {.type = type, .rank = rank, .data = data};
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof chunk.name || element_size(type) == 0 || rank < 1 || rank > BO_CHUNK_MAX_RANK)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "\"%s\" has a name, type or rank that no chunk can have", name);
    memcpy(chunk.name, name, length);
    for (int32_t i = 0; i < rank; i++)
        chunk.dims[i] = dims[i];
    if (!array_size(element_size(type), rank, dims, &chunk.size))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "\"%s\" is larger than the memory of any machine", name);
    if (chunk.size == 0)
        return BOUGH_OK;
    if (!data)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "\"%s\" has no data", name);
    for (size_t i = 0; i < builder->chunk_count; i++)
        if (strcmp(builder->chunks[i].name, name) == 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "\"%s\" was added twice", name);
    if (builder->chunk_count == BO_IMAGE_MAX_CHUNKS)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "\"%s\" is one chunk too many", name);
    if (!BO_RESERVE(ctx, builder->chunks, builder->capacity, builder->chunk_count + 1))
        return BOUGH_ERROR_MEMORY;
    builder->chunks[builder->chunk_count++] = chunk;
    return BOUGH_OK;
}

void bo_image_add(bo_image_builder *builder, const char *name, bo_chunk_type type, int32_t rank, const uint64_t *dims,
                  const void *data) {
    if (builder->status == BOUGH_OK)
        builder->status = add_chunk(builder, name, type, rank, dims, data);
}

static void write_header(const bo_image_builder *builder, unsigned char *bytes, size_t size) {
    memset(bytes, 0, BO_IMAGE_HEADER_SIZE);
    memcpy(bytes + AT_MAGIC, magic, sizeof magic);
    put32(bytes + AT_CONTAINER, CONTAINER_VERSION);
    put32(bytes + AT_COUNT, (uint32_t)builder->chunk_count);
    put64(bytes + AT_SIZE, size);
    memcpy(bytes + AT_KIND, builder->kind, sizeof builder->kind);
    put32(bytes + AT_VERSION, builder->version);
}

static void write_entry(const bo_chunk_draft *chunk, unsigned char *entry, size_t offset) {
    memcpy(entry + AT_NAME, chunk->name, sizeof chunk->name);
    put32(entry + AT_TYPE, chunk->type);
    put32(entry + AT_RANK, (uint32_t)chunk->rank);
    for (int i = 0; i < BO_CHUNK_MAX_RANK; i++)
        put64(entry + AT_DIMS + 8 * i, chunk->dims[i]);
    put64(entry + AT_OFFSET, offset);
    put64(entry + AT_BYTES, chunk->size);
    put64(entry + AT_HASH, 0);
}

/* Finds where the first chunk begins and how large the whole image is. */
static bough_status measure(const bo_image_builder *builder, size_t *first, size_t *total) {
    size_t end = *first = aligned(BO_IMAGE_HEADER_SIZE + BO_IMAGE_ENTRY_SIZE * builder->chunk_count);
    for (size_t i = 0; i < builder->chunk_count; i++) {
        if (builder->chunks[i].size > SIZE_MAX / 2 - end)
            return bo_fail(builder->ctx, BOUGH_ERROR_ARGUMENT, "the file is larger than the memory of any machine");
        end = aligned(end + builder->chunks[i].size);
    }
    *total = end;
    return BOUGH_OK;
}

static void write_image(const bo_image_builder *builder, unsigned char *image, size_t first, size_t total) {
    size_t directory_end = BO_IMAGE_HEADER_SIZE + BO_IMAGE_ENTRY_SIZE * builder->chunk_count, offset = first;
    write_header(builder, image, total);
    memset(image + directory_end, 0, first - directory_end);
    for (size_t i = 0; i < builder->chunk_count; i++) {
        const bo_chunk_draft *chunk = &builder->chunks[i];
        write_entry(chunk, image + BO_IMAGE_HEADER_SIZE + BO_IMAGE_ENTRY_SIZE * i, offset);
        memcpy(image + offset, chunk->data, chunk->size);
        memset(image + offset + chunk->size, 0, aligned(chunk->size) - chunk->size);
        offset += aligned(chunk->size);
    }
    bo_image_seal(image, total);
}

bough_status bo_image_finish(bo_image_builder *builder, void **bytes, size_t *size) {
    *bytes = NULL, *size = 0;
    size_t first = 0, total = 0;
    bough_status status = builder->status;
    if (status == BOUGH_OK)
        status = measure(builder, &first, &total);
    unsigned char *image = status == BOUGH_OK ? bo_alloc(builder->ctx, total, 1) : NULL;
    if (image) {
        write_image(builder, image, first, total);
        *bytes = image, *size = total;
    } else if (status == BOUGH_OK)
        status = BOUGH_ERROR_MEMORY;
    bo_image_discard(builder);
    return status;
}

void bo_image_discard(bo_image_builder *builder) {
    bo_free(builder->ctx, builder->chunks);
    *builder = (bo_image_builder){.ctx = builder->ctx};
}

bough_status bo_image_save(bough_context *ctx, const void *bytes, size_t size, const char *path) {
    bo_output out;
    BO_TRY(bo_output_open(ctx, path, &out));
    fwrite(bytes, 1, size, out.stream);
    return bo_output_commit(ctx, &out);
}

void bo_image_seal(void *bytes, size_t size) {
    unsigned char *image = bytes;
    if (size < BO_IMAGE_HEADER_SIZE)
        return;
    size_t count = get32(image + AT_COUNT), most = (size - BO_IMAGE_HEADER_SIZE) / BO_IMAGE_ENTRY_SIZE;
    if (count > most)
        return;
    for (size_t i = 0; i < count; i++) {
        unsigned char *entry = image + BO_IMAGE_HEADER_SIZE + BO_IMAGE_ENTRY_SIZE * i;
        uint64_t offset = get64(entry + AT_OFFSET), length = get64(entry + AT_BYTES);
        if (offset <= size && length <= size - offset)
            put64(entry + AT_HASH, bo_image_hash(0, image + offset, (size_t)length));
    }
    put64(image + AT_CHECKSUM, directory_hash(image, count));
}

/* ---- reading ---- */

static bool all_zero(const unsigned char *bytes, size_t size) {
    unsigned char any = 0;
    for (size_t i = 0; i < size; i++)
        any |= bytes[i];
    return any == 0;
}

static const unsigned char *entry_of(const bo_image *image, int32_t index) {
    return image->bytes + BO_IMAGE_HEADER_SIZE + (size_t)BO_IMAGE_ENTRY_SIZE * (size_t)index;
}

/* Checks everything before the directory, in the order in which it can be trusted. */
static bough_status check_header(bough_context *ctx, const unsigned char *bytes, size_t size) {
    if (size == 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the file is empty");
    if (memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) != 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "this is not a .bough file");
    if (size < BO_IMAGE_HEADER_SIZE)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the file is cut short: it has %zu bytes and a header alone has %d",
                       size, BO_IMAGE_HEADER_SIZE);
    if (get32(bytes + AT_CONTAINER) != CONTAINER_VERSION)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the file has version %u of the .bough container, and this program reads version %d",
                       get32(bytes + AT_CONTAINER), CONTAINER_VERSION);
    uint64_t stated = get64(bytes + AT_SIZE);
    if (stated > size)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the file is cut short: it has %zu bytes of %llu", size,
                       (unsigned long long)stated);
    if (stated < size)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the file has %zu bytes and should have %llu", size,
                       (unsigned long long)stated);
    size_t count = get32(bytes + AT_COUNT);
    if (count > BO_IMAGE_MAX_CHUNKS || count > (size - BO_IMAGE_HEADER_SIZE) / BO_IMAGE_ENTRY_SIZE)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the file is damaged: its directory of %zu chunks does not fit in",
                       count);
    if (get64(bytes + AT_CHECKSUM) != directory_hash(bytes, count))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the file is damaged: the checksum of its directory is wrong");
    if (bytes[AT_KIND + BO_IMAGE_KIND_SIZE - 1] != 0 || !all_zero(bytes + AT_ZERO, AT_CHECKSUM - AT_ZERO))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the header has bytes that should be zero");
    return BOUGH_OK;
}

static bough_status check_kind(bough_context *ctx, const unsigned char *bytes, const char *kind, uint32_t version) {
    const char *found = (const char *)bytes + AT_KIND;
    if (strcmp(found, kind) != 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "this is a .bough file of another kind than \"%s\"", kind);
    if (get32(bytes + AT_VERSION) != version)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the file has version %u of \"%s\", and this program reads version %u",
                       get32(bytes + AT_VERSION), kind, version);
    return BOUGH_OK;
}

/* Printable ASCII, then zeros up to the end of the field. */
static bool name_is_sound(const unsigned char *name) {
    size_t length = 0;
    while (length < BO_CHUNK_NAME_SIZE && name[length] > ' ' && name[length] < 0x7F)
        length++;
    return length > 0 && length < BO_CHUNK_NAME_SIZE && all_zero(name + length, BO_CHUNK_NAME_SIZE - length);
}

/* Checks an entry except for its place. */
static bough_status check_entry(bough_context *ctx, const bo_image *image, int32_t index) {
    const unsigned char *entry = entry_of(image, index);
    const char *name = (const char *)entry + AT_NAME;
    if (!name_is_sound(entry + AT_NAME))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "chunk %d has a name that is not plain text", (int)index);
    for (int32_t i = 0; i < index; i++)
        if (memcmp(entry_of(image, i) + AT_NAME, name, BO_CHUNK_NAME_SIZE) == 0)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "there are two chunks named \"%s\"", name);
    uint32_t type = get32(entry + AT_TYPE), rank = get32(entry + AT_RANK);
    if (element_size(type) == 0 || rank < 1 || rank > BO_CHUNK_MAX_RANK)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" has type %u and rank %u, which do not exist", name, type, rank);
    uint64_t dims[BO_CHUNK_MAX_RANK];
    for (uint32_t i = 0; i < BO_CHUNK_MAX_RANK; i++) {
        dims[i] = get64(entry + AT_DIMS + 8 * i);
        if ((dims[i] == 0) != (i >= rank))
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" has a dimension of 0 among its %u, or one too many", name,
                           rank);
    }
    size_t size;
    if (!array_size(element_size(type), (int32_t)rank, dims, &size) || size != get64(entry + AT_BYTES))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" has another size than its dimensions say", name);
    return BOUGH_OK;
}

/* Checks that chunks follow each other without holes; `place` is where this one has to begin and becomes the place of
 * the next. */
static bough_status check_data(bough_context *ctx, const bo_image *image, int32_t index, size_t *place) {
    const unsigned char *entry = entry_of(image, index);
    const char *name = (const char *)entry + AT_NAME;
    uint64_t offset = get64(entry + AT_OFFSET), size = get64(entry + AT_BYTES);
    if (offset != *place)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" does not begin where the chunk before it ends", name);
    if (offset > image->size || size > image->size - offset)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" goes beyond the end of the file", name);
    size_t end = (size_t)(offset + size), next = aligned(end);
    if (next > image->size || !all_zero(image->bytes + end, next - end))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the bytes after \"%s\" are not zero", name);
    if (bo_image_hash(0, image->bytes + offset, (size_t)size) != get64(entry + AT_HASH))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the file is damaged: the checksum of \"%s\" is wrong", name);
    *place = next;
    return BOUGH_OK;
}

bough_status bo_image_open(bough_context *ctx, const void *bytes, size_t size, const char *kind, uint32_t version,
                           bo_image *image) {
    *image = (bo_image){0};
    if (!little_endian())
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "files of this kind can be read on little-endian machines only");
    if ((uintptr_t)bytes % 8 != 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the bytes of a file must be aligned to 8 bytes");
    BO_TRY(check_header(ctx, bytes, size));
    BO_TRY(check_kind(ctx, bytes, kind, version));
    bo_image found = {.bytes = bytes, .size = size};
    found.chunk_count = (int32_t)get32(found.bytes + AT_COUNT);
    size_t end = BO_IMAGE_HEADER_SIZE + (size_t)found.chunk_count * BO_IMAGE_ENTRY_SIZE, place = aligned(end);
    if (place > size || !all_zero(found.bytes + end, place - end))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the bytes after the directory are not zero");
    for (int32_t i = 0; i < found.chunk_count; i++) {
        BO_TRY(check_entry(ctx, &found, i));
        BO_TRY(check_data(ctx, &found, i, &place));
    }
    if (place != size)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the file goes on for %zu bytes after its last chunk", size - place);
    *image = found;
    return BOUGH_OK;
}

bo_chunk bo_image_chunk(const bo_image *image, int32_t index) {
    const unsigned char *entry = entry_of(image, index);
    bo_chunk chunk = {.name = (const char *)entry + AT_NAME,
                      .type = (bo_chunk_type)get32(entry + AT_TYPE),
                      .rank = (int32_t)get32(entry + AT_RANK),
                      .data = image->bytes + get64(entry + AT_OFFSET),
                      .size = (size_t)get64(entry + AT_BYTES)};
    for (int i = 0; i < BO_CHUNK_MAX_RANK; i++)
        chunk.dims[i] = get64(entry + AT_DIMS + 8 * i);
    return chunk;
}

bool bo_image_find(const bo_image *image, const char *name, bo_chunk *chunk) {
    for (int32_t i = 0; i < image->chunk_count; i++)
        if (strcmp((const char *)entry_of(image, i) + AT_NAME, name) == 0) {
            *chunk = bo_image_chunk(image, i);
            return true;
        }
    return false;
}

/* "f64 12 x 9" */
static const char *describe(char text[128], bo_chunk_type type, int32_t rank, const uint64_t *dims) {
    int length = snprintf(text, 128, "%s", type_name(type));
    for (int32_t i = 0; i < rank; i++)
        length += dims[i] == BO_ANY_SIZE ? snprintf(text + length, 128 - (size_t)length, "%s any number", i ? " x" : "")
                                         : snprintf(text + length, 128 - (size_t)length, "%s %llu", i ? " x" : "",
                                                    (unsigned long long)dims[i]);
    return text;
}

bough_status bo_image_get(bough_context *ctx, const bo_image *image, const char *name, bo_chunk_type type, int32_t rank,
                          uint64_t *dims, const void **data) {
    *data = NULL;
    for (int32_t i = 0; i < rank; i++)
        if (dims[i] == 0)
            return BOUGH_OK;
    bo_chunk chunk;
    if (!bo_image_find(image, name, &chunk))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" is missing", name);
    bool same = chunk.type == type && chunk.rank == rank;
    for (int32_t i = 0; i < rank && same; i++)
        same = dims[i] == BO_ANY_SIZE ? chunk.dims[i] <= INT32_MAX : chunk.dims[i] == dims[i];
    char found[128], wanted[128];
    if (!same)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" is %s and should be %s", name,
                       describe(found, chunk.type, chunk.rank, chunk.dims), describe(wanted, type, rank, dims));
    memcpy(dims, chunk.dims, sizeof *dims * (size_t)rank);
    *data = chunk.data;
    return BOUGH_OK;
}
