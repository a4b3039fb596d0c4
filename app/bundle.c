/* Files in a page: their list and their bytes, compressed, as text. viewer/unpack.js takes them apart. */
#include "app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct {
    char *name, *bytes;
    size_t size;
} entry;

struct app_bundle {
    entry *entries;
    size_t count, capacity;
};

app_bundle *app_bundle_new(void) {
    return calloc(1, sizeof(app_bundle));
}

void app_bundle_free(app_bundle *bundle) {
    for (size_t i = 0; bundle && i < bundle->count; i++) {
        free(bundle->entries[i].name);
        free(bundle->entries[i].bytes);
    }
    if (bundle)
        free(bundle->entries);
    free(bundle);
}

static const entry *find(const app_bundle *bundle, const char *name) {
    for (size_t i = 0; i < bundle->count; i++)
        if (!strcmp(bundle->entries[i].name, name))
            return &bundle->entries[i];
    return NULL;
}

bool app_bundle_has(const app_bundle *bundle, const char *name) {
    return find(bundle, name);
}

const char *app_bundle_find(const app_bundle *bundle, const char *name, size_t *size) {
    const entry *e = find(bundle, name);
    *size = e ? e->size : 0;
    return e ? e->bytes : NULL;
}

/* All of the stream; false: it fails, or there is no memory. */
static bool read_all(FILE *stream, entry *e) {
    size_t room = 0;
    for (;;) {
        if (e->size == room) {
            char *larger = realloc(e->bytes, room = 2 * room + 65536);
            if (!larger)
                return false;
            e->bytes = larger;
        }
        const size_t got = fread(e->bytes + e->size, 1, room - e->size, stream);
        e->size += got;
        if (got == 0)
            return !ferror(stream);
    }
}

bool app_bundle_add(app_bundle *bundle, const char *name, const char *path) {
    entry e = {.name = strdup(name)};
    FILE *stream = fopen(path, "rb");
    bool good = stream && e.name && read_all(stream, &e);
    if (!good)
        app_fail_with("%s: cannot be read: %s", path, strerror(errno));
    if (stream)
        fclose(stream);
    if (good && bundle->count == bundle->capacity) {
        entry *larger = realloc(bundle->entries, (2 * bundle->capacity + 16) * sizeof *larger);
        good = larger;
        if (larger)
            bundle->entries = larger, bundle->capacity = 2 * bundle->capacity + 16;
    }
    if (good) {
        bundle->entries[bundle->count++] = e;
        return true;
    }
    free(e.name);
    free(e.bytes);
    return false;
}

/* ---- writing ---- */

/* Three bytes become four letters; up to two wait for the next ones. */
typedef struct {
    FILE *stream;
    unsigned char waiting[3];
    int count;
} letters;

static void put_letters(letters *l, const unsigned char *bytes, size_t size) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i++) {
        l->waiting[l->count++] = bytes[i];
        if (l->count < 3)
            continue;
        const uint32_t all = (uint32_t)l->waiting[0] << 16 | (uint32_t)l->waiting[1] << 8 | l->waiting[2];
        for (int k = 3; k >= 0; k--)
            putc(alphabet[all >> 6 * k & 63], l->stream);
        l->count = 0;
    }
}

static void end_letters(letters *l) {
    static const unsigned char zeros[2] = {0};
    const int missing = l->count ? 3 - l->count : 0;
    if (missing == 0)
        return;
    /* The last letters would stand for zeros that are not there: they are overwritten by "=". */
    char last[5];
    FILE *stream = l->stream, *memory = fmemopen(last, sizeof last, "w");
    if (!memory)
        return;
    l->stream = memory;
    put_letters(l, zeros, (size_t)missing);
    fclose(memory);
    l->stream = stream;
    fwrite(last, 1, (size_t)(4 - missing), stream);
    fputs(missing == 2 ? "==" : "=", stream);
}

static bool deflate_into(letters *l, z_stream *zip, const void *bytes, size_t size, bool last) {
    unsigned char out[16384];
    const Bytef *at = bytes;
    int result = Z_OK;
    do {
        const size_t some = size < 1 << 30 ? size : 1 << 30;
        zip->next_in = (Bytef *)at, zip->avail_in = (uInt)some;
        at += some, size -= some;
        do {
            zip->next_out = out, zip->avail_out = sizeof out;
            result = deflate(zip, last && size == 0 ? Z_FINISH : Z_NO_FLUSH);
            put_letters(l, out, sizeof out - zip->avail_out);
        } while (zip->avail_out == 0);
    } while (size > 0);
    return result != Z_STREAM_ERROR && !ferror(l->stream);
}

static json_t *list_files(const app_bundle *bundle) {
    json_t *list = json_array();
    for (size_t i = 0; i < bundle->count; i++)
        json_array_append_new(list, json_pack("{s:o, s:I}", "name", app_json_text(bundle->entries[i].name), "size",
                                              (json_int_t)bundle->entries[i].size));
    return list;
}

bool app_bundle_write(const app_bundle *bundle, json_t *about, FILE *stream, size_t *bytes) {
    enum { GZIP = 16, WINDOW = 15, MEMORY = 9 };
    json_object_set_new(about, "files", list_files(bundle));
    char *list = json_dumps(about, JSON_COMPACT);
    json_decref(about);
    letters l = {.stream = stream};
    z_stream zip = {0};
    const size_t length = list ? strlen(list) : 0;
    const unsigned char head[4] = {length & 255, length >> 8 & 255, length >> 16 & 255, length >> 24 & 255};
    bool good = list && deflateInit2(&zip, 9, Z_DEFLATED, WINDOW + GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
    const bool started = good;
    *bytes = sizeof head + length;
    good = good && deflate_into(&l, &zip, head, sizeof head, false) && deflate_into(&l, &zip, list, length, false);
    for (size_t i = 0; i < bundle->count && good; i++) {
        good = deflate_into(&l, &zip, bundle->entries[i].bytes, bundle->entries[i].size, false);
        *bytes += bundle->entries[i].size;
    }
    good = good && deflate_into(&l, &zip, "", 0, true);
    end_letters(&l);
    if (started)
        deflateEnd(&zip);
    free(list);
    return good && !ferror(stream);
}
