/* Heads of requests, their headers and queries, and the keys of handshakes. */
#include "fuzz.h"

#include "../../app/view/http.h"
#include "../../app/view/websocket.h"

void fuzz_one(const uint8_t *data, size_t size) {
    http_request *r = calloc(1, sizeof *r);
    char value[32], accept[WEBSOCKET_ACCEPT_SIZE];
    const size_t head = http_head_length((const char *)data, size);
    if (head > 0 && head <= HTTP_HEAD_SIZE) {
        memcpy(r->head, data, head);
        if (http_parse(r, head)) {
            check(r->path[0] == '/' && r->method[0] && r->header_count <= HTTP_HEADERS);
            check(!http_query(r, "token", value, sizeof value) || strlen(value) < sizeof value);
            http_header_has(r, "Connection", "upgrade");
            const char *key = http_header(r, "Sec-WebSocket-Key");
            check(!key || !websocket_accept(key, accept) || strlen(accept) == 28);
        }
    }
    free(r);
}

void fuzz_seeds(fuzz_add *add) {
    fuzz_add_text(add, "GET /socket?token=0123%2d4567&x=1 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nOrigin: "
                       "http://127.0.0.1:8000\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\nrest");
    fuzz_add_text(add, "HEAD / HTTP/1.0\r\n\r\n");
}
