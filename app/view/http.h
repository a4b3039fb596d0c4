/* The heads of HTTP/1.1 requests, without sockets. */
#ifndef BOUGH_APP_VIEW_HTTP_H
#define BOUGH_APP_VIEW_HTTP_H

#include "view.h"

enum { HTTP_HEAD_SIZE = 8192, HTTP_HEADERS = 64 };

typedef struct http_request {
    char head[HTTP_HEAD_SIZE + 1];     /* as it came, then cut into texts */
    const char *method, *path, *query; /* query: "" where there is none; neither is decoded */
    struct {
        const char *name, *value;
    } headers[HTTP_HEADERS];
    int header_count;
} http_request;

/* Bytes of the head with the empty line at its end; 0: it is not complete. */
size_t http_head_length(const char *bytes, size_t size);
/* Cuts request->head, which has so many bytes; false: it is no request. */
bool http_parse(http_request *request, size_t size);
/* NULL: it has none of this name. */
const char *http_header(const http_request *request, const char *name);
/* Whether a header is a list, separated by commas, with this word; case does not count. */
bool http_header_has(const http_request *request, const char *name, const char *word);
/* The value of a variable of the query, decoded; false: there is none, or it is too long. */
bool http_query(const http_request *request, const char *name, char *value, size_t size);
const char *http_status_text(int status);

#endif
