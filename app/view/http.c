#include "http.h"

#include <string.h>
#include <strings.h>

/* ---- the head ---- */

size_t http_head_length(const char *bytes, size_t size) {
    const char *end = memmem(bytes, size, "\r\n\r\n", 4);
    return end ? (size_t)(end - bytes) + 4 : 0;
}

static bool is_token(const char *text) {
    return *text && text[strspn(text, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == 0;
}

/* Ends the line at `at` and returns the next one; NULL: the line is not ended, or has a control character. */
static char *cut_line(char *at) {
    char *end = strstr(at, "\r\n");
    if (!end)
        return NULL;
    *end = 0;
    for (const char *c = at; *c; c++)
        if ((unsigned char)*c < 0x20 && *c != '\t')
            return NULL;
    return end + 2;
}

/* "GET /path?query HTTP/1.1" */
static bool parse_first(http_request *r, char *line) {
    char *path = strchr(line, ' '), *version = path ? strchr(path + 1, ' ') : NULL;
    if (!version)
        return false;
    *path++ = 0, *version++ = 0;
    char *query = strchr(path, '?');
    if (query)
        *query++ = 0;
    r->method = line, r->path = path, r->query = query ? query : "";
    return is_token(line) && path[0] == '/' && (!strcmp(version, "HTTP/1.1") || !strcmp(version, "HTTP/1.0"));
}

/* "Name: value"; lines that go on with blanks are of the past (RFC 9112, 5.2). */
static bool parse_header(http_request *r, char *line) {
    char *colon = strchr(line, ':');
    if (!colon || r->header_count == HTTP_HEADERS)
        return false;
    *colon = 0;
    char *value = colon + 1 + strspn(colon + 1, " \t"), *end = value + strlen(value);
    while (end > value && strchr(" \t", end[-1]))
        *--end = 0;
    /* one of each that we look at, so that nobody reads another than we do */
    if (!is_token(line) || (http_header(r, line) && (!strcasecmp(line, "Host") || !strcasecmp(line, "Origin"))))
        return false;
    r->headers[r->header_count].name = line;
    r->headers[r->header_count++].value = value;
    return true;
}

bool http_parse(http_request *r, size_t size) {
    r->header_count = 0;
    if (size > HTTP_HEAD_SIZE)
        return false;
    r->head[size] = 0;
    char *line = r->head, *next = strlen(line) == size ? cut_line(line) : NULL;
    if (!next || !parse_first(r, line))
        return false;
    for (line = next; (next = cut_line(line)) && *line; line = next)
        if (!parse_header(r, line))
            return false;
    return next != NULL;
}

const char *http_header(const http_request *r, const char *name) {
    for (int i = 0; i < r->header_count; i++)
        if (!strcasecmp(r->headers[i].name, name))
            return r->headers[i].value;
    return NULL;
}

static bool list_has(const char *list, const char *word) {
    const size_t wanted = strlen(word);
    while (*list) {
        list += strspn(list, ", \t");
        const size_t length = strcspn(list, ", \t");
        if (length == wanted && !strncasecmp(list, word, wanted))
            return true;
        list += length;
    }
    return false;
}

bool http_header_has(const http_request *r, const char *name, const char *word) {
    for (int i = 0; i < r->header_count; i++)
        if (!strcasecmp(r->headers[i].name, name) && list_has(r->headers[i].value, word))
            return true;
    return false;
}

/* ---- the query ---- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "%2d" is one character, unless it is NUL or no number. */
static bool decode(const char *text, size_t length, char *value, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        int c = (unsigned char)text[i];
        if (c == '%') {
            const int high = i + 2 < length ? hex_digit(text[i + 1]) : -1, low = high < 0 ? -1 : hex_digit(text[i + 2]);
            if (low < 0)
                return false;
            c = 16 * high + low, i += 2;
        }
        if (c == 0 || used + 1 >= size)
            return false;
        value[used++] = (char)c;
    }
    value[used] = 0;
    return true;
}

bool http_query(const http_request *r, const char *name, char *value, size_t size) {
    const size_t wanted = strlen(name);
    for (const char *at = r->query; *at;) {
        const size_t length = strcspn(at, "&");
        if (length > wanted && !strncmp(at, name, wanted) && at[wanted] == '=')
            return decode(at + wanted + 1, length - wanted - 1, value, size);
        at += length + (at[length] == '&');
    }
    return false;
}

const char *http_status_text(int status) {
    static const struct {
        int status;
        const char *text;
    } all[] = {{101, "Switching Protocols"},
               {200, "OK"},
               {400, "Bad Request"},
               {403, "Forbidden"},
               {404, "Not Found"},
               {405, "Method Not Allowed"},
               {408, "Request Timeout"},
               {426, "Upgrade Required"},
               {431, "Request Header Fields Too Large"},
               {503, "Service Unavailable"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].status == status)
            return all[i].text;
    return "Error";
}
