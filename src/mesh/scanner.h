/* Reads text and binary values out of a file in memory. Every failure is one sentence "file:line: reason". */
#ifndef BO_MESH_SCANNER_H
#define BO_MESH_SCANNER_H

#include "base/file.h"

#define BO_WORD_SHOWN 40 /* characters of a wrong token shown in a message */

typedef struct bo_scanner {
    bough_context *ctx;
    const char *path;
    const char *data; /* data[size] == 0 */
    size_t size, at;
    int64_t line;                        /* of `at`, from 1 */
    const char *breaks;                  /* characters besides white space that separate tokens, for example "," */
    char comment;                        /* the rest of a line behind it is skipped; 0: none */
    bool swap;                           /* binary values have the other byte order */
    size_t mark;                         /* bytes of a byte-order mark before `data`, which is no part of the text */
    int64_t unknown_count, unknown_line; /* records passed over because nobody knows them; the first one's line */
    char unknown_word[BO_WORD_SHOWN + 1];
} bo_scanner;

/* Starts after a byte-order mark, if the file has one. */
void bo_scan_begin(bo_scanner *s, bough_context *ctx, const char *path, const bo_file *file);

/* Fails with "path:line: reason" and BOUGH_ERROR_FORMAT. */
bough_status bo_scan_fail(bo_scanner *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with BOUGH_ERROR_UNSUPPORTED: the file is right, but Bough cannot use it. */
bough_status bo_scan_refuse(bo_scanner *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "expected WHAT, found "TEXT"", with TEXT shortened and made printable. */
bough_status bo_scan_fail_word(bo_scanner *s, const char *what, const char *text, size_t length);

/* Counts a record that the reader does not know and passes over. */
void bo_scan_unknown(bo_scanner *s, const char *text, size_t length);
/* Gives one warning about all of them, if there are any. `what` names the kind ("section"). */
void bo_scan_warn_unknown(const bo_scanner *s, const char *what);

/* Skips white space, separators and comments. skip_blanks stays on the line. False at the end of the file (of the
 * line). */
bool bo_scan_skip(bo_scanner *s);
bool bo_scan_skip_blanks(bo_scanner *s);
/* Goes to the start of the next line. */
void bo_scan_next_line(bo_scanner *s);
/* Takes the rest of the line without its end (and without trailing blanks) and goes to the next line.
 * Returns false at the end of the file. The text is not NUL-terminated. */
bool bo_scan_line(bo_scanner *s, const char **text, size_t *length);

/* The next token, across lines; not NUL-terminated. False at the end of the file. */
bool bo_scan_word(bo_scanner *s, const char **text, size_t *length);
/* True, and taken, when the next token is `word` (letter case counts). */
bool bo_scan_accept(bo_scanner *s, const char *word);

/* Numbers, across lines. `what` names the thing in messages ("vertex coordinate"). Doubles must be finite. */
bough_status bo_scan_int(bo_scanner *s, const char *what, int64_t *value);
bough_status bo_scan_int_range(bo_scanner *s, const char *what, int64_t lowest, int64_t highest, int64_t *value);
bough_status bo_scan_double(bo_scanner *s, const char *what, double *value);
/* Converts a token to a number; false when it is not one. Accepts Fortran exponents (1.0D+3). */
bool bo_parse_double(const char *text, size_t length, double *value);
bool bo_parse_int(const char *text, size_t length, int64_t *value);

/* Reads a count of items of which each takes at least min_bytes of the rest of the file: a larger one cannot be true
 * and is refused before anything is allocated. The result fits int32. */
bough_status bo_scan_count(bo_scanner *s, const char *what, size_t min_bytes, int32_t *count);
bough_status bo_check_count(bo_scanner *s, const char *what, int64_t count, size_t min_bytes);

/* Binary values at `at`, in the file's byte order. */
bough_status bo_scan_raw(bo_scanner *s, const char *what, void *value, size_t size);
bough_status bo_scan_raw_int32(bo_scanner *s, const char *what, int32_t *value);
bough_status bo_scan_raw_uint64(bo_scanner *s, const char *what, uint64_t *value);
bough_status bo_scan_raw_float(bo_scanner *s, const char *what, float *value);
bough_status bo_scan_raw_double(bo_scanner *s, const char *what, double *value);

/* Number of bytes left. */
static inline size_t bo_scan_left(const bo_scanner *s) {
    return s->size - s->at;
}
bool bo_word_is(const char *text, size_t length, const char *word);
bool bo_word_is_ignoring_case(const char *text, size_t length, const char *word);

#endif
