/* Reads and writes whole files. */
#ifndef BO_BASE_FILE_H
#define BO_BASE_FILE_H

#include "base/context.h"

#include <stdio.h>

/* A file in memory. data[size] is a NUL, so that text scanners may look one byte past the end. */
typedef struct bo_file {
    char *data;
    size_t size;
} bo_file;

bough_status bo_file_read(bough_context *ctx, const char *path, bo_file *file);
/* The same for a format whose files are small: a larger one is refused before it is read. `format` is its name in the
 * sentence. */
bough_status bo_file_read_limited(bough_context *ctx, const char *path, size_t limit, const char *format,
                                  bo_file *file);
/* Returns 3 when the text begins with the byte-order mark that some editors put before UTF-8, else 0. */
size_t bo_byte_order_mark(const bo_file *file);
void bo_file_free(bough_context *ctx, bo_file *file);
bool bo_file_exists(const char *path);

/* A file to be looked at only: mapped into memory if the system can do that, read otherwise. Aligned to 16 bytes at
 * least. Changes that others write into the file meanwhile may show; a file that is replaced (bo_output) keeps its old
 * content here. */
typedef struct bo_mapping {
    const void *data; /* NULL when the file is empty */
    size_t size;
    bool mapped; /* else data is a block of the context */
} bo_mapping;

bough_status bo_map_file(bough_context *ctx, const char *path, bo_mapping *mapping);
void bo_unmap_file(bough_context *ctx, bo_mapping *mapping);

/* A file that appears under its name only when it is complete: written to a sibling, renamed by commit, removed by
 * discard. The sibling is locked while somebody writes to it. Devices, pipes and the like ("/dev/stdout", "/dev/null")
 * are written directly. Write with stdio on .stream; stream errors are collected by commit. */
typedef struct bo_output {
    FILE *stream;
    char *path, *temporary; /* temporary is NULL for direct output, "" once it has been renamed */
    bool durable;           /* set by who opened it: commit returns when file and name are on the disk itself */
} bo_output;

/* Also removes the siblings that writers of this file left when they were killed. */
bough_status bo_output_open(bough_context *ctx, const char *path, bo_output *output);
/* The same for one file of many in a folder: it leaves old siblings alone, because finding them takes a look at every
 * name in the folder. A series removes all of its own at once, when it begins: bo_output_remove_leftovers(). */
bough_status bo_output_open_in_series(bough_context *ctx, const char *path, bo_output *output);
/* Makes everything written so far appear under the file's name, on the disk itself; writing may go on. From then on
 * nothing is removed. */
bough_status bo_output_publish(bough_context *ctx, bo_output *output);
bough_status bo_output_commit(bough_context *ctx, bo_output *output);
void bo_output_discard(bough_context *ctx, bo_output *output);
/* For formats that can only be written as whole files: write(data) writes all of it to the output's stream.
 * bo_output_finish() then commits the file, or discards it if write() failed; bo_output_flush() does the same and opens
 * the output again, durable, for the next version, which replaces this file. */
typedef bough_status bo_output_writer(bough_context *ctx, void *data);
bough_status bo_output_finish(bough_context *ctx, bo_output *output, bo_output_writer *write, void *data);
bough_status bo_output_flush(bough_context *ctx, bo_output *output, bo_output_writer *write, void *data);

/* Removes the siblings that writers of `path` left when they were killed; any: those of all files whose names begin
 * so. */
void bo_output_remove_leftovers(const char *path, bool any);
/* Syncs everything written to the stream to the disk itself; does nothing if that cannot be (a pipe). On false errno
 * says why. */
bool bo_stream_sync(FILE *stream);
/* Syncs the names in the folder of this file to the disk, as far as the system can do that. */
void bo_sync_folder_of(const char *path);

/* Extension without the dot, "" when there is none; points into path. */
const char *bo_path_extension(const char *path);
/* "dir/name.ext" -> "dir/name" + suffix, to be freed with bo_free. */
char *bo_path_replace_extension(bough_context *ctx, const char *path, const char *suffix);
/* Path of `name` beside the file `path` (or `name` itself when absolute). */
char *bo_path_beside(bough_context *ctx, const char *path, const char *name);

bool bo_equal_ignoring_case(const char *a, const char *b);

/* Returns the candidate nearest to `word` in edit distance if it is near enough for "did you mean", else NULL. */
const char *bo_nearest_word(const char *word, const char *const *candidates, int32_t count);

#endif
