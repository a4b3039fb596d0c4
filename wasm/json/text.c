/* JSON texts: reading and writing. */
#include "values.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- reading ---- */

enum { MOST_NESTED = 1024 };

typedef struct {
    const char *text, *at, *end;
    json_error_t *error;
    int depth;
    bool failed;
} reading;

static json_t *stop(reading *r, int code, const char *what) {
    if (!r->failed && r->error) {
        r->error->line = 1, r->error->column = 0;
        for (const char *c = r->text; c < r->at && c < r->end; c++)
            if (*c == '\n')
                r->error->line++, r->error->column = 0;
            else
                r->error->column++;
        r->error->position = (int)(r->at - r->text);
        r->error->code = code;
        snprintf(r->error->text, sizeof r->error->text, "%s", what);
    }
    r->failed = true;
    return NULL;
}

static char look(reading *r) {
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
    return r->at < r->end ? *r->at : 0;
}

static bool take(reading *r, char sign) {
    if (look(r) != sign)
        return false;
    r->at++;
    return true;
}

static int hex(reading *r) {
    int value = 0;
    for (int k = 0; k < 4; k++, r->at++) {
        const char c = r->at < r->end ? *r->at : 0;
        const int digit = c >= '0' && c <= '9'                 ? c - '0'
                          : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                               : -1;
        if (digit < 0)
            return -1;
        value = 16 * value + digit;
    }
    return value;
}

static size_t put_utf8(char *to, unsigned c) {
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800)
        return to[0] = (char)(0xC0 | c >> 6), to[1] = (char)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return to[0] = (char)(0xE0 | c >> 12), to[1] = (char)(0x80 | (c >> 6 & 63)), to[2] = (char)(0x80 | (c & 63)), 3;
    to[0] = (char)(0xF0 | c >> 18), to[1] = (char)(0x80 | (c >> 12 & 63)), to[2] = (char)(0x80 | (c >> 6 & 63));
    return to[3] = (char)(0x80 | (c & 63)), 4;
}

/* Bytes of the character at s if it is well-formed UTF-8, else 0. */
static size_t utf8_size(const unsigned char *s, size_t left) {
    const size_t size = s[0] < 0x80                   ? 1
                        : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
                        : (s[0] & 0xF0) == 0xE0       ? 3
                        : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                                      : 0;
    if (size == 0 || size > left)
        return 0;
    for (size_t k = 1; k < size; k++)
        if ((s[k] & 0xC0) != 0x80)
            return 0;
    const bool wrong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
                       (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F);
    return wrong ? 0 : size;
}

/* One escape, of which the backslash was read; false: there is none such. */
static bool read_escape(reading *r, char *to, size_t *length) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char c = r->at < r->end ? *r->at++ : 0;
    const char *known = c ? strchr(names, c) : NULL;
    if (known) {
        to[(*length)++] = values[known - names];
        return true;
    }
    int code = c == 'u' ? hex(r) : -1;
    if (code >= 0xD800 && code < 0xDC00) {
        const bool second = r->end - r->at > 2 && r->at[0] == '\\' && r->at[1] == 'u';
        r->at += second ? 2 : 0;
        const int low = second ? hex(r) : -1;
        code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : -1;
    }
    if (code <= 0 || (code >= 0xD800 && code < 0xE000))
        return false;
    *length += put_utf8(to + *length, (unsigned)code);
    return true;
}

/* A text between quotes, to be freed; NULL: there is none. */
static char *read_text(reading *r, size_t *length) {
    const char *from = ++r->at, *to = from;
    while (to < r->end && *to != '"')
        to += *to == '\\' && to + 1 < r->end ? 2 : 1;
    char *text = malloc((size_t)(to - from) + 5);
    *length = 0;
    if (!text)
        return (char *)stop(r, json_error_out_of_memory, "not enough memory");
    while (r->at < r->end && *r->at != '"' && !r->failed) {
        const unsigned char c = (unsigned char)*r->at;
        const size_t size = utf8_size((const unsigned char *)r->at, (size_t)(r->end - r->at));
        if (c < 0x20)
            stop(r, json_error_invalid_syntax, "a control character in a text");
        else if (size == 0)
            stop(r, json_error_invalid_utf8, "unable to decode a byte that is no UTF-8");
        else if (c == '\\') {
            r->at++;
            if (!read_escape(r, text, length))
                stop(r, json_error_invalid_syntax, "invalid escape");
        } else {
            memcpy(text + *length, r->at, size);
            *length += size, r->at += size;
        }
    }
    if (!r->failed && r->at >= r->end)
        stop(r, json_error_invalid_syntax, "premature end of input");
    r->at++;
    text[*length] = 0;
    if (!r->failed)
        return text;
    free(text);
    return NULL;
}

static json_t *read_number(reading *r) {
    char copy[64], *end;
    const char *from = r->at;
    const char *c = from + (from < r->end && *from == '-');
    const size_t digits = strspn(c, "0123456789");
    bool real = false;
    if (digits == 0 || (digits > 1 && *c == '0'))
        return stop(r, json_error_invalid_syntax, "invalid token");
    c += digits;
    if (*c == '.') {
        const size_t more = strspn(c + 1, "0123456789");
        if (more == 0)
            return stop(r, json_error_invalid_syntax, "invalid token");
        c += 1 + more, real = true;
    }
    if ((*c | 32) == 'e') {
        const char *exponent = c + 1 + (c[1] == '-' || c[1] == '+');
        const size_t more = strspn(exponent, "0123456789");
        if (more == 0)
            return stop(r, json_error_invalid_syntax, "invalid token");
        c = exponent + more, real = true;
    }
    if ((size_t)(c - from) >= sizeof copy && !real)
        return stop(r, json_error_invalid_syntax, "too big integer");
    errno = 0;
    json_t *value;
    if (real) {
        const double x = strtod(from, &end);
        if (!isfinite(x))
            return stop(r, json_error_invalid_syntax, "real number overflow");
        value = json_real(x);
    } else {
        const json_int_t i = strtoll(from, &end, 10);
        if (errno == ERANGE)
            return stop(r, json_error_invalid_syntax, i < 0 ? "too big negative integer" : "too big integer");
        value = json_integer(i);
    }
    r->at = c;
    return value;
}

static json_t *read_value(reading *r);

static json_t *read_object(reading *r) {
    json_t *object = json_object();
    r->at++;
    if (take(r, '}'))
        return object;
    do {
        size_t length;
        char *key = look(r) == '"' ? read_text(r, &length)
                                   : (char *)stop(r, json_error_invalid_syntax, "string or '}' expected");
        if (key && strlen(key) != length)
            stop(r, json_error_invalid_syntax, "NUL byte in object key not supported");
        if (key && json_object_get(object, key))
            stop(r, json_error_invalid_syntax, "duplicate object key");
        if (key && !r->failed && !take(r, ':'))
            stop(r, json_error_invalid_syntax, "':' expected");
        json_t *value = r->failed ? NULL : read_value(r);
        if (value)
            json_object_set_new(object, key, value);
        free(key);
    } while (!r->failed && take(r, ','));
    if (!r->failed && !take(r, '}'))
        stop(r, json_error_invalid_syntax, "'}' expected");
    if (!r->failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *read_array(reading *r) {
    json_t *array = json_array();
    r->at++;
    if (take(r, ']'))
        return array;
    do {
        json_t *value = read_value(r);
        if (value)
            json_array_append_new(array, value);
    } while (!r->failed && take(r, ','));
    if (!r->failed && !take(r, ']'))
        stop(r, json_error_invalid_syntax, "']' expected");
    if (!r->failed)
        return array;
    json_decref(array);
    return NULL;
}

static bool take_word(reading *r, const char *word) {
    const size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0)
        return false;
    r->at += size;
    return true;
}

static json_t *read_value(reading *r) {
    json_t *value = NULL;
    if (++r->depth > MOST_NESTED)
        return stop(r, json_error_invalid_syntax, "maximum parsing depth reached");
    const char c = look(r);
    if (c == '{')
        value = read_object(r);
    else if (c == '[')
        value = read_array(r);
    else if (c == '"') {
        size_t length;
        char *text = read_text(r, &length);
        value = text ? json_stringn(text, length) : NULL;
        free(text);
    } else if (c == '-' || (c >= '0' && c <= '9'))
        value = read_number(r);
    else if (c && take_word(r, "true"))
        value = json_true();
    else if (c && take_word(r, "false"))
        value = json_false();
    else if (c && take_word(r, "null"))
        value = json_null();
    else
        stop(r, json_error_invalid_syntax, c ? "unexpected token" : "premature end of input");
    r->depth--;
    return value;
}

json_t *json_loadb(const char *text, size_t size, size_t flags, json_error_t *error) {
    (void)flags;                   /* keys that come twice are refused always */
    char *copy = malloc(size + 1); /* numbers end before a zero */
    reading r = {.text = copy, .at = copy, .end = copy + size, .error = error};
    if (error)
        *error = (json_error_t){.line = -1, .column = -1};
    if (!copy)
        return stop(&r, json_error_out_of_memory, "not enough memory");
    memcpy(copy, text, size);
    copy[size] = 0;
    const char first = look(&r);
    json_t *value =
        first == '{' || first == '[' ? read_value(&r) : stop(&r, json_error_invalid_syntax, "'[' or '{' expected");
    if (value && look(&r)) {
        stop(&r, json_error_invalid_syntax, "end of file expected");
        json_decref(value);
        value = NULL;
    }
    free(copy);
    return value;
}

json_t *json_load_file(const char *path, size_t flags, json_error_t *error) {
    FILE *f = fopen(path, "rb");
    json_t *value = NULL;
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    const long size = ftell(f);
    rewind(f);
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (text && fread(text, 1, (size_t)size, f) == (size_t)size)
        value = json_loadb(text, (size_t)size, flags, error);
    free(text);
    fclose(f);
    return value;
}

/* ---- writing ---- */

typedef struct {
    char *bytes; /* NULL: only counted */
    size_t size, capacity;
    size_t flags;
    bool fixed, failed; /* fixed: the caller's, which does not grow */
} writing;

static void put(writing *w, const char *bytes, size_t size) {
    if (!w->fixed && w->size + size > w->capacity) {
        const size_t wanted = 2 * (w->size + size) + 64;
        char *grown = realloc(w->bytes, wanted);
        if (!grown) {
            w->failed = true;
            return;
        }
        w->bytes = grown, w->capacity = wanted;
    }
    if (w->size + size <= w->capacity)
        memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

static void put_text(writing *w, const char *text) {
    put(w, text, strlen(text));
}

static void new_line(writing *w, int depth, bool between) {
    const size_t indent = w->flags & 0x1F;
    if (indent) {
        put(w, "\n", 1);
        for (size_t k = 0; k < indent * (size_t)depth; k++)
            put(w, " ", 1);
    } else if (between && !(w->flags & JSON_COMPACT))
        put(w, " ", 1);
}

static void put_quoted(writing *w, const char *text, size_t length) {
    static const char names[] = "\"\\\b\f\n\r\t", escapes[] = "\"\\bfnrt";
    put(w, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        const char *known = text[i] ? strchr(names, text[i]) : NULL;
        char code[8];
        if (known)
            put(w, (const char[]){'\\', escapes[known - names]}, 2);
        else if ((unsigned char)text[i] < 0x20)
            put(w, code, (size_t)snprintf(code, sizeof code, "\\u%04X", text[i]));
        else
            put(w, text + i, 1);
    }
    put(w, "\"", 1);
}

static void put_real(writing *w, double value) {
    char text[64];
    const size_t wish = w->flags >> 11 & 0x1F;
    snprintf(text, sizeof text, "%.*g", wish ? (int)wish : 17, value);
    put_text(w, text);
    if (!strpbrk(text, ".e"))
        put_text(w, ".0");
}

static void put_value(writing *w, const json_t *json, int depth) {
    char text[32];
    switch (json->type) {
    case JSON_OBJECT:
        put(w, "{", 1);
        for (size_t i = 0; i < json_object_size(json); i++) {
            const pair *p = ((const object_value *)json)->pairs[i];
            if (i > 0)
                put(w, ",", 1);
            new_line(w, depth + 1, i > 0);
            put_quoted(w, p->key, strlen(p->key));
            put_text(w, w->flags & JSON_COMPACT ? ":" : ": ");
            put_value(w, p->value, depth + 1);
        }
        if (json_object_size(json) > 0)
            new_line(w, depth, false);
        put(w, "}", 1);
        return;
    case JSON_ARRAY:
        put(w, "[", 1);
        for (size_t i = 0; i < json_array_size(json); i++) {
            if (i > 0)
                put(w, ",", 1);
            new_line(w, depth + 1, i > 0);
            put_value(w, json_array_get(json, i), depth + 1);
        }
        if (json_array_size(json) > 0)
            new_line(w, depth, false);
        put(w, "]", 1);
        return;
    case JSON_STRING:
        put_quoted(w, json_string_value(json), json_string_length(json));
        return;
    case JSON_INTEGER:
        put(w, text, (size_t)snprintf(text, sizeof text, "%lld", json_integer_value(json)));
        return;
    case JSON_REAL:
        put_real(w, json_real_value(json));
        return;
    default:
        put_text(w, json->type == JSON_TRUE ? "true" : json->type == JSON_FALSE ? "false" : "null");
    }
}

size_t json_dumpb(const json_t *json, char *buffer, size_t size, size_t flags) {
    writing w = {.bytes = buffer, .capacity = size, .flags = flags, .fixed = true};
    if (json)
        put_value(&w, json, 0);
    return w.size;
}

char *json_dumps(const json_t *json, size_t flags) {
    writing w = {.flags = flags};
    if (!json)
        return NULL;
    put_value(&w, json, 0);
    put(&w, "", 1);
    if (!w.failed)
        return w.bytes;
    free(w.bytes);
    return NULL;
}

int json_dumpf(const json_t *json, FILE *stream, size_t flags) {
    char *text = json_dumps(json, flags);
    const int result = text && fputs(text, stream) >= 0 ? 0 : -1;
    free(text);
    return result;
}

int json_dump_file(const json_t *json, const char *path, size_t flags) {
    FILE *f = fopen(path, "wb");
    int result = f ? json_dumpf(json, f, flags) : -1;
    if (f && fclose(f) != 0)
        result = -1;
    return result;
}
