/* A client's side of sockets and WebSockets, which may do what clients must not. */
#ifndef TEST_SOCKETS_H
#define TEST_SOCKETS_H

#include "test.h"

#include <sys/socket.h>

enum { TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10, FINAL = 0x80 };

/* False: the other side has hung up. */
static inline bool put(int line, const void *bytes, size_t size) {
    for (const char *at = bytes; size > 0;) {
        const ssize_t sent = send(line, at, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent, size -= (size_t)sent;
    }
    return true;
}

static inline bool get(int line, void *bytes, size_t size) {
    for (char *at = bytes; size > 0;) {
        const ssize_t got = recv(line, at, size, 0);
        if (got <= 0)
            return false;
        at += got, size -= (size_t)got;
    }
    return true;
}

/* Its length; `to` has room for 14 bytes more than the frame's. */
static inline size_t write_frame(unsigned char *to, int first, bool masked, const void *bytes, size_t size) {
    const unsigned char mask[4] = {1, 2, 3, 4};
    size_t length = 2;
    to[0] = (unsigned char)first, to[1] = masked ? 0x80 : 0;
    if (size < 126)
        to[1] |= (unsigned char)size;
    else if (size < 65536) {
        to[1] |= 126, to[2] = (unsigned char)(size >> 8), to[3] = (unsigned char)size, length = 4;
    } else {
        to[1] |= 127, length = 10;
        for (int i = 0; i < 8; i++)
            to[2 + i] = (unsigned char)(size >> (56 - 8 * i));
    }
    memcpy(to + length, mask, masked ? 4 : 0);
    length += masked ? 4 : 0;
    for (size_t i = 0; i < size; i++)
        to[length + i] = (unsigned char)(((const unsigned char *)bytes)[i] ^ (masked ? mask[i % 4] : 0));
    return length + size;
}

static inline bool send_frame(int line, int first, bool masked, const void *bytes, size_t size) {
    unsigned char *frame = malloc(size + 14);
    const bool good = put(line, frame, write_frame(frame, first, masked, bytes, size));
    free(frame);
    return good;
}

#endif
