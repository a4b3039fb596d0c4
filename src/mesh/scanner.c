#include "mesh/scanner.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WORD_SHOWN BO_WORD_SHOWN

void bo_scan_begin(bo_scanner *s, bough_context *ctx, const char *path, const bo_file *file) {
    *s = (bo_scanner){.ctx = ctx, .path = path, .data = file->data, .size = file->size, .line = 1, .breaks = ""};
    s->mark = bo_byte_order_mark(file);
    s->data += s->mark;
    s->size -= s->mark;
}

bough_status bo_scan_fail(bo_scanner *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bo_vfail(s->ctx, BOUGH_ERROR_FORMAT, format, arguments);
    va_end(arguments);
    bo_prefix_message(s->ctx, "%s:%lld: ", s->path, (long long)s->line);
    return BOUGH_ERROR_FORMAT;
}

bough_status bo_scan_refuse(bo_scanner *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bo_vfail(s->ctx, BOUGH_ERROR_UNSUPPORTED, format, arguments);
    va_end(arguments);
    bo_prefix_message(s->ctx, "%s:%lld: ", s->path, (long long)s->line);
    return BOUGH_ERROR_UNSUPPORTED;
}

static bool is_blank(const bo_scanner *s, char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || (c && strchr(s->breaks, c));
}

bool bo_scan_skip_blanks(bo_scanner *s) {
    while (s->at < s->size && is_blank(s, s->data[s->at]))
        s->at++;
    if (s->comment && s->at < s->size && s->data[s->at] == s->comment)
        while (s->at < s->size && s->data[s->at] != '\n')
            s->at++;
    return s->at < s->size && s->data[s->at] != '\n';
}

bool bo_scan_skip(bo_scanner *s) {
    while (!bo_scan_skip_blanks(s)) {
        if (s->at >= s->size)
            return false;
        s->at++;
        s->line++;
    }
    return true;
}

void bo_scan_next_line(bo_scanner *s) {
    while (s->at < s->size && s->data[s->at] != '\n')
        s->at++;
    if (s->at < s->size) {
        s->at++;
        s->line++;
    }
}

bool bo_scan_line(bo_scanner *s, const char **text, size_t *length) {
    if (s->at >= s->size)
        return false;
    *text = s->data + s->at;
    size_t begin = s->at;
    while (s->at < s->size && s->data[s->at] != '\n')
        s->at++;
    size_t end = s->at;
    while (end > begin && isspace((unsigned char)s->data[end - 1]))
        end--;
    *length = end - begin;
    if (s->at < s->size) {
        s->at++;
        s->line++;
    }
    return true;
}

static bool peek_word(bo_scanner *s, const char **text, size_t *length) {
    if (!bo_scan_skip(s))
        return false;
    size_t end = s->at;
    while (end < s->size && s->data[end] != '\n' && !is_blank(s, s->data[end]) &&
           !(s->comment && s->data[end] == s->comment))
        end++;
    *text = s->data + s->at;
    *length = end - s->at;
    return true;
}

bool bo_scan_word(bo_scanner *s, const char **text, size_t *length) {
    if (!peek_word(s, text, length))
        return false;
    s->at += *length;
    return true;
}

bool bo_word_is(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

bool bo_word_is_ignoring_case(const char *text, size_t length, const char *word) {
    if (strlen(word) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (tolower((unsigned char)text[i]) != tolower((unsigned char)word[i]))
            return false;
    return true;
}

bool bo_scan_accept(bo_scanner *s, const char *word) {
    const char *text;
    size_t length;
    if (!peek_word(s, &text, &length) || !bo_word_is(text, length, word))
        return false;
    s->at += length;
    return true;
}

bool bo_parse_int(const char *text, size_t length, int64_t *value) {
    char buffer[32];
    if (length == 0 || length >= sizeof buffer)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = 0;
    char *end;
    errno = 0;
    long long parsed = strtoll(buffer, &end, 10);
    if (errno || *end || end == buffer)
        return false;
    *value = parsed;
    return true;
}

/* Numbers in files are written with a point whatever the host program's locale is. */
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool bo_parse_double(const char *text, size_t length, double *value) {
    char buffer[128];
    if (length == 0 || length >= sizeof buffer)
        return false;
    for (size_t i = 0; i < length; i++)
        buffer[i] = text[i] == 'D' || text[i] == 'd' ? 'e' : text[i];
    buffer[length] = 0;
    pthread_once(&c_locale_once, make_c_locale);
    char *end;
    *value = c_locale ? strtod_l(buffer, &end, c_locale) : strtod(buffer, &end);
    return *end == 0 && end != buffer;
}

/* The token as it is shown in sentences: cut at WORD_SHOWN characters, printable. */
static const char *show_word(char clean[WORD_SHOWN + 1], const char *text, size_t length) {
    size_t shown = length > WORD_SHOWN ? WORD_SHOWN : length;
    for (size_t i = 0; i < shown; i++)
        clean[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
    clean[shown] = 0;
    return clean;
}

void bo_scan_unknown(bo_scanner *s, const char *text, size_t length) {
    if (s->unknown_count++)
        return;
    s->unknown_line = s->line;
    show_word(s->unknown_word, text, length);
}

void bo_scan_warn_unknown(const bo_scanner *s, const char *what) {
    if (s->unknown_count == 1)
        bo_warn(s->ctx, "%s:%lld: the %s \"%s\" is unknown and was passed over", s->path, (long long)s->unknown_line,
                what, s->unknown_word);
    else if (s->unknown_count)
        bo_warn(s->ctx, "%s:%lld: the %s \"%s\" and %lld more that are unknown were passed over", s->path,
                (long long)s->unknown_line, what, s->unknown_word, (long long)s->unknown_count - 1);
}

bough_status bo_scan_fail_word(bo_scanner *s, const char *what, const char *text, size_t length) {
    char clean[WORD_SHOWN + 1];
    return bo_scan_fail(s, "expected %s, found \"%s%s\"", what, show_word(clean, text, length),
                        length > WORD_SHOWN ? "..." : "");
}

bough_status bo_scan_int(bo_scanner *s, const char *what, int64_t *value) {
    const char *text;
    size_t length;
    if (!bo_scan_word(s, &text, &length))
        return bo_scan_fail(s, "the file ends where %s should stand", what);
    return bo_parse_int(text, length, value) ? BOUGH_OK : bo_scan_fail_word(s, what, text, length);
}

bough_status bo_scan_int_range(bo_scanner *s, const char *what, int64_t lowest, int64_t highest, int64_t *value) {
    BO_TRY(bo_scan_int(s, what, value));
    if (*value < lowest || *value > highest)
        return bo_scan_fail(s, "%s is %lld, outside %lld..%lld", what, (long long)*value, (long long)lowest,
                            (long long)highest);
    return BOUGH_OK;
}

bough_status bo_scan_double(bo_scanner *s, const char *what, double *value) {
    const char *text;
    size_t length;
    if (!bo_scan_word(s, &text, &length))
        return bo_scan_fail(s, "the file ends where %s should stand", what);
    if (!bo_parse_double(text, length, value))
        return bo_scan_fail_word(s, what, text, length);
    if (!isfinite(*value))
        return bo_scan_fail(s, "%s is not a finite number", what);
    return BOUGH_OK;
}

bough_status bo_check_count(bo_scanner *s, const char *what, int64_t count, size_t min_bytes) {
    if (count < 0)
        return bo_scan_fail(s, "%s is %lld, which is negative", what, (long long)count);
    /* The last record may lack its line end, hence + 1. */
    uint64_t fits = (bo_scan_left(s) + 1) / (min_bytes ? min_bytes : 1);
    if ((uint64_t)count > fits)
        return bo_scan_fail(s, "%s is %lld, but the rest of the file has room for at most %llu", what, (long long)count,
                            (unsigned long long)fits);
    if (count > INT32_MAX / 32)
        return bo_scan_fail(s, "%s is %lld, more than Bough can index", what, (long long)count);
    return BOUGH_OK;
}

bough_status bo_scan_count(bo_scanner *s, const char *what, size_t min_bytes, int32_t *count) {
    int64_t value = 0;
    BO_TRY(bo_scan_int(s, what, &value));
    BO_TRY(bo_check_count(s, what, value, min_bytes));
    *count = (int32_t)value;
    return BOUGH_OK;
}

bough_status bo_scan_raw(bo_scanner *s, const char *what, void *value, size_t size) {
    if (bo_scan_left(s) < size)
        return bo_scan_fail(s, "the file ends in the middle of %s", what);
    memcpy(value, s->data + s->at, size);
    s->at += size;
    return BOUGH_OK;
}

bough_status bo_scan_raw_int32(bo_scanner *s, const char *what, int32_t *value) {
    uint32_t bits = 0;
    BO_TRY(bo_scan_raw(s, what, &bits, sizeof bits));
    *value = (int32_t)(s->swap ? __builtin_bswap32(bits) : bits);
    return BOUGH_OK;
}

bough_status bo_scan_raw_uint64(bo_scanner *s, const char *what, uint64_t *value) {
    BO_TRY(bo_scan_raw(s, what, value, sizeof *value));
    if (s->swap)
        *value = __builtin_bswap64(*value);
    return BOUGH_OK;
}

bough_status bo_scan_raw_float(bo_scanner *s, const char *what, float *value) {
    int32_t bits = 0;
    BO_TRY(bo_scan_raw_int32(s, what, &bits));
    memcpy(value, &bits, sizeof bits);
    if (!isfinite(*value))
        return bo_scan_fail(s, "%s is not a finite number", what);
    return BOUGH_OK;
}

bough_status bo_scan_raw_double(bo_scanner *s, const char *what, double *value) {
    uint64_t bits = 0;
    BO_TRY(bo_scan_raw_uint64(s, what, &bits));
    memcpy(value, &bits, sizeof bits);
    if (!isfinite(*value))
        return bo_scan_fail(s, "%s is not a finite number", what);
    return BOUGH_OK;
}
