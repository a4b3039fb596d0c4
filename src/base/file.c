#include "base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(_POSIX_MAPPED_FILES) && _POSIX_MAPPED_FILES > 0
#include <sys/mman.h>
#endif

/* WASI knows no other programs: nobody competes for a file, and a process has no number. */
#ifdef __wasi__
static bool try_lock(int file) {
    (void)file;
    return true;
}
static int keep_open(int file) {
    (void)file;
    return -1;
}
static long process_number(void) {
    return 1;
}
#else
/* Locks a file unless somebody else holds the lock; false with errno. */
static bool try_lock(int file) {
    return flock(file, LOCK_EX | LOCK_NB) == 0;
}
/* A second handle of the file, which keeps its lock. */
static int keep_open(int file) {
    return fcntl(file, F_DUPFD_CLOEXEC, 0);
}
static long process_number(void) {
    return (long)getpid();
}
#endif

/* Devices such as /dev/zero never end; anything larger that comes out of a pipe belongs into a file. */
#define STREAM_LIMIT ((size_t)1 << 30)

/* Reads all of a stream. `expected` is the size of a file, which gets one exact block; pipes have none (0). */
static bough_status read_stream(bough_context *ctx, const char *path, FILE *stream, size_t expected, bo_file *file) {
    size_t capacity = 0, wanted = expected > 0 ? expected + 1 : 65536;
    for (;;) {
        if (!BO_RESERVE(ctx, file->data, capacity, wanted))
            return BOUGH_ERROR_MEMORY;
        size_t got = fread(file->data + file->size, 1, capacity - file->size - 1, stream);
        file->size += got;
        if (got == 0)
            break;
        if (file->size + 1 == capacity && expected == 0)
            wanted = capacity * 2;
        if (wanted > STREAM_LIMIT && expected == 0)
            return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: is a pipe or device without an end; save it as a file first",
                           path);
    }
    return BOUGH_OK;
}

static void tell_reading(const bough_context *ctx, const char *path) {
    if (ctx->def.reading)
        ctx->def.reading(ctx->def.reading_user, path);
}

static bough_status read_file(bough_context *ctx, const char *path, bo_file *file) {
    *file = (bo_file){0};
    struct stat info;
    if (stat(path, &info) != 0)
        return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: is a folder, not a file", path);
    if (S_ISREG(info.st_mode) && (uintmax_t)info.st_size >= PTRDIFF_MAX)
        return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: is too large for the memory of this machine", path);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    bough_status status = read_stream(ctx, path, stream, S_ISREG(info.st_mode) ? (size_t)info.st_size : 0, file);
    if (status == BOUGH_OK && ferror(stream))
        status = bo_fail(ctx, BOUGH_ERROR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    fclose(stream);
    if (status != BOUGH_OK) {
        bo_file_free(ctx, file);
        return status;
    }
    file->data[file->size] = 0;
    return BOUGH_OK;
}

bough_status bo_file_read(bough_context *ctx, const char *path, bo_file *file) {
    tell_reading(ctx, path);
    return read_file(ctx, path, file);
}

static bough_status fail_size(bough_context *ctx, const char *path, size_t limit, const char *format) {
    return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s: is larger than %zu MB, too large for a %s file", path, limit >> 20,
                   format);
}

bough_status bo_file_read_limited(bough_context *ctx, const char *path, size_t limit, const char *format,
                                  bo_file *file) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && (size_t)info.st_size > limit)
        return fail_size(ctx, path, limit, format);
    BO_TRY(bo_file_read(ctx, path, file));
    if (file->size <= limit)
        return BOUGH_OK;
    bo_file_free(ctx, file);
    return fail_size(ctx, path, limit, format);
}

size_t bo_byte_order_mark(const bo_file *file) {
    return file->size >= 3 && memcmp(file->data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

void bo_file_free(bough_context *ctx, bo_file *file) {
    bo_free(ctx, file->data);
    *file = (bo_file){0};
}

/* Returns false when the caller should read the file instead, which also finds the words for what is wrong. A pipe is
 * not even opened: its writer would take that for a reader, and lose what it writes when it is closed again. */
static bool map_regular_file(const char *path, bo_mapping *mapping) {
#if defined(_POSIX_MAPPED_FILES) && _POSIX_MAPPED_FILES > 0
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* what it is may have changed since */
    if (file < 0)
        return false;
    void *data = MAP_FAILED;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 && (uintmax_t)info.st_size < PTRDIFF_MAX)
        data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (data == MAP_FAILED)
        return false;
    *mapping = (bo_mapping){.data = data, .size = (size_t)info.st_size, .mapped = true};
    return true;
#else
    (void)path, (void)mapping;
    return false;
#endif
}

bough_status bo_map_file(bough_context *ctx, const char *path, bo_mapping *mapping) {
    *mapping = (bo_mapping){0};
    tell_reading(ctx, path);
    if (map_regular_file(path, mapping))
        return BOUGH_OK;
    bo_file file;
    BO_TRY(read_file(ctx, path, &file));
    if (file.size == 0)
        bo_file_free(ctx, &file);
    *mapping = (bo_mapping){.data = file.data, .size = file.size};
    return BOUGH_OK;
}

void bo_unmap_file(bough_context *ctx, bo_mapping *mapping) {
#if defined(_POSIX_MAPPED_FILES) && _POSIX_MAPPED_FILES > 0
    if (mapping->mapped)
        munmap((void *)mapping->data, mapping->size);
#endif
    if (!mapping->mapped)
        bo_free(ctx, (void *)mapping->data);
    *mapping = (bo_mapping){0};
}

bool bo_file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* Bytes of a name that its temporary sibling keeps: file systems allow 255, and the rest is for the ending. */
#define MOST_NAME_KEPT 200
#define TEMPORARY_ATTEMPTS 100

/* Returns the number of bytes of the path that its sibling has too. */
static int kept_length(const char *path) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, name = strlen(path) - folder;
    return (int)(folder + (name < MOST_NAME_KEPT ? name : MOST_NAME_KEPT));
}

/* Locks a sibling. Whoever finds a sibling unlocked may remove it: its writer was killed. */
static bool lock_temporary(FILE *stream, const char *temporary) {
    struct stat ours, now;
    if (!try_lock(fileno(stream)) && errno == EWOULDBLOCK)
        return false; /* somebody took it for a leftover and is about to remove it */
    /* If the file system has no locks, nobody removes anything. */
    return fstat(fileno(stream), &ours) == 0 && stat(temporary, &now) == 0 && ours.st_ino == now.st_ino &&
           ours.st_dev == now.st_dev; /* else it was removed in between */
}

/* Opens a sibling that did not exist before: another thread may be writing the same file, a program that was killed may
 * have left one behind, and in a folder that others can write to somebody may have put a link in its place. */
static FILE *create_temporary(const char *path, char *temporary, size_t size) {
    const int length = kept_length(path);
    for (int attempt = 0; attempt < TEMPORARY_ATTEMPTS; attempt++) {
        if (attempt == 0)
            snprintf(temporary, size, "%.*s.part%ld", length, path, process_number());
        else
            snprintf(temporary, size, "%.*s.part%ld-%d", length, path, process_number(), attempt);
        FILE *stream = fopen(temporary, "wbxe"); /* e: no program that we start keeps the lock when we are gone */
        if (stream && lock_temporary(stream, temporary))
            return stream;
        if (stream)
            fclose(stream);
        else if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

/* Finds the ending of a sibling: ".part", digits, and perhaps "-" and digits. NULL: the name has no such ending. */
static const char *find_ending(const char *name) {
    const char *ending = NULL;
    for (const char *at = name; (at = strstr(at, ".part")); at++)
        ending = at;
    if (!ending || ending[5] < '0' || ending[5] > '9')
        return NULL;
    const char *rest = ending + 5 + strspn(ending + 5, "0123456789");
    if (*rest == '-')
        rest += 1 + strspn(rest + 1, "0123456789");
    return *rest == 0 ? ending : NULL;
}

static void remove_if_left(int folder, const char *name) {
    struct stat info, now;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
        return;
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return;
    /* Remove the file only if it still has this name: a writer may have renamed it because it was complete, and another
     * file may have the name by now. */
    if (try_lock(file) && fstat(file, &info) == 0 && fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        info.st_ino == now.st_ino && info.st_dev == now.st_dev)
        unlinkat(folder, name, 0);
    close(file);
}

void bo_output_remove_leftovers(const char *path, bool any) {
    char where[4096];
    const char *slash = strrchr(path, '/');
    const size_t before = slash ? (size_t)(slash - path) + 1 : 0, length = (size_t)kept_length(path) - before;
    if (before >= sizeof where)
        return;
    snprintf(where, sizeof where, "%.*s", (int)before, before ? path : "");
    DIR *folder = opendir(before ? where : ".");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *ending = find_ending(entry->d_name);
        if (ending && strncmp(entry->d_name, path + before, length) == 0 &&
            (any ? ending >= entry->d_name + length : ending == entry->d_name + length))
            remove_if_left(dirfd(folder), entry->d_name);
    }
    if (folder)
        closedir(folder);
}

bool bo_stream_sync(FILE *stream) {
    return fflush(stream) == 0 && (fsync(fileno(stream)) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP);
}

/* A name is on the disk when its folder is. If a folder cannot be synced, the file system does it or nobody can. */
void bo_sync_folder_of(const char *path) {
    char where[4096];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length >= sizeof where)
        return;
    snprintf(where, sizeof where, "%.*s", (int)length, length ? path : "");
    const int folder = open(length ? where : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    fsync(folder);
    close(folder);
}

static bough_status open_output(bough_context *ctx, const char *path, bool clean, bo_output *output) {
    *output = (bo_output){0};
    struct stat info;
    /* Names of devices stay what they are, also where they lead to files: /dev/stdout would be renamed away. */
    const bool device =
        (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) || strncmp(path, "/proc/", 6) == 0;
    const bool direct = device || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: is a folder, so no file of that name can be written", path);
    output->path = bo_strdup(ctx, path);
    if (!output->path)
        return BOUGH_ERROR_MEMORY;
    if (!direct) {
        if (clean)
            bo_output_remove_leftovers(path, false);
        size_t length = strlen(path) + 64;
        output->temporary = bo_alloc(ctx, length, 1);
        if (!output->temporary) {
            bo_output_discard(ctx, output);
            return BOUGH_ERROR_MEMORY;
        }
        output->stream = create_temporary(path, output->temporary, length);
    } else
        output->stream = fopen(path, "wb");
    if (!output->stream) {
        bough_status status = bo_fail(ctx, BOUGH_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
        if (output->temporary)
            output->temporary[0] = 0; /* it is not ours */
        bo_output_discard(ctx, output);
        return status;
    }
    return BOUGH_OK;
}

bough_status bo_output_open(bough_context *ctx, const char *path, bo_output *output) {
    return open_output(ctx, path, true, output);
}

bough_status bo_output_open_in_series(bough_context *ctx, const char *path, bo_output *output) {
    return open_output(ctx, path, false, output);
}

/* Renames the sibling unless that has been done already. */
static bool appear(bo_output *output) {
    if (!output->temporary || !output->temporary[0])
        return true;
    if (rename(output->temporary, output->path) != 0)
        return false;
    output->temporary[0] = 0; /* nothing left to remove */
    return true;
}

static bough_status fail_write(bough_context *ctx, const bo_output *output) {
    return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: cannot be written: %s", output->path,
                   errno ? strerror(errno) : "disk full or device error");
}

bough_status bo_output_publish(bough_context *ctx, bo_output *output) {
    const bool is_new = output->temporary && output->temporary[0];
    errno = 0;
    if (ferror(output->stream) || !bo_stream_sync(output->stream) || !appear(output))
        return fail_write(ctx, output);
    if (is_new)
        bo_sync_folder_of(output->path);
    return BOUGH_OK;
}

bough_status bo_output_commit(bough_context *ctx, bo_output *output) {
    bough_status status = BOUGH_OK;
    /* Keep the lock until the file has its name, or is removed: else somebody might take it for a leftover. */
    const int lock = output->temporary ? keep_open(fileno(output->stream)) : -1;
    errno = 0;
    bool good = !ferror(output->stream) && (!output->durable || bo_stream_sync(output->stream));
    good = fclose(output->stream) == 0 && good;
    output->stream = NULL;
    if (!good || !appear(output))
        status = fail_write(ctx, output);
    else if (output->durable)
        bo_sync_folder_of(output->path);
    bo_output_discard(ctx, output);
    if (lock >= 0)
        close(lock);
    return status;
}

void bo_output_discard(bough_context *ctx, bo_output *output) {
    if (output->temporary && output->temporary[0])
        remove(output->temporary); /* as long as it is locked */
    if (output->stream)
        fclose(output->stream);
    bo_free(ctx, output->temporary);
    bo_free(ctx, output->path);
    *output = (bo_output){0};
}

bough_status bo_output_finish(bough_context *ctx, bo_output *output, bo_output_writer *write, void *data) {
    const bough_status status = write(ctx, data);
    if (status == BOUGH_OK)
        return bo_output_commit(ctx, output);
    bo_output_discard(ctx, output);
    return status;
}

bough_status bo_output_flush(bough_context *ctx, bo_output *output, bo_output_writer *write, void *data) {
    bo_output next;
    BO_TRY(bo_output_open(ctx, output->path, &next));
    next.durable = true;
    const bough_status status = bo_output_finish(ctx, output, write, data);
    *output = next;
    return status;
}

const char *bo_path_extension(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(path, '.');
    return dot && (!slash || dot > slash) ? dot + 1 : "";
}

char *bo_path_replace_extension(bough_context *ctx, const char *path, const char *suffix) {
    const char *extension = bo_path_extension(path);
    size_t stem = *extension ? (size_t)(extension - path) - 1 : strlen(path);
    size_t tail = strlen(suffix);
    char *result = bo_alloc(ctx, stem + tail + 1, 1);
    if (result) {
        memcpy(result, path, stem);
        memcpy(result + stem, suffix, tail + 1);
    }
    return result;
}

char *bo_path_beside(bough_context *ctx, const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    if (name[0] == '/' || !slash)
        return bo_strdup(ctx, name);
    size_t folder = (size_t)(slash - path) + 1;
    size_t tail = strlen(name);
    char *result = bo_alloc(ctx, folder + tail + 1, 1);
    if (result) {
        memcpy(result, path, folder);
        memcpy(result + folder, name, tail + 1);
    }
    return result;
}

bool bo_equal_ignoring_case(const char *a, const char *b) {
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b))
        a++, b++;
    return tolower((unsigned char)*a) == tolower((unsigned char)*b);
}

#define WORD_LIMIT 63

static int edit_distance(const char *a, const char *b) {
    int row[WORD_LIMIT + 1];
    int length = (int)strlen(b);
    for (int j = 0; j <= length; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int above = row[j];
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            int best = diagonal + !same;
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[length];
}

const char *bo_nearest_word(const char *word, const char *const *candidates, int32_t count) {
    if (strlen(word) > WORD_LIMIT)
        return NULL;
    const char *best = NULL;
    int best_distance = (int)strlen(word) / 3 + 2; /* further away than this is another word, not a typo */
    for (int32_t i = 0; i < count; i++) {
        if (strlen(candidates[i]) > WORD_LIMIT)
            continue;
        int distance = edit_distance(word, candidates[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidates[i];
        }
    }
    return best;
}
