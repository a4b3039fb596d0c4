/* WebSocket (RFC 6455) without sockets: the answer to a handshake, frames of clients taken apart byte by byte, heads of
 * frames to clients. A frame is judged by its head, before any of its bytes is kept. */
#ifndef BOUGH_APP_VIEW_WEBSOCKET_H
#define BOUGH_APP_VIEW_WEBSOCKET_H

#include "view.h"

enum {
    WEBSOCKET_CONTINUATION = 0,
    WEBSOCKET_TEXT = 1,
    WEBSOCKET_BINARY = 2,
    WEBSOCKET_CLOSE = 8,
    WEBSOCKET_PING = 9,
    WEBSOCKET_PONG = 10,
    /* why a connection is closed (7.4.1) */
    WEBSOCKET_WRONG = 1002,     /* no frame that clients send */
    WEBSOCKET_NO_TEXT = 1003,   /* binary */
    WEBSOCKET_REFUSED = 1008,   /* what is not allowed */
    WEBSOCKET_TOO_LARGE = 1009, /* a message */
    WEBSOCKET_BUSY = 1013,      /* no more clients */
    WEBSOCKET_CONTROL_SIZE = 125,
    WEBSOCKET_PIECES = 64,      /* of one message, at most */
    WEBSOCKET_HEAD_SIZE = 10,   /* of a frame to a client, at most */
    WEBSOCKET_ACCEPT_SIZE = 29, /* of the answer to a handshake, with its NUL */
};

typedef enum websocket_event {
    WEBSOCKET_MORE,    /* bytes are wanted */
    WEBSOCKET_GOT,     /* a text is complete: text, size */
    WEBSOCKET_PIECE,   /* one of several of a text is complete */
    WEBSOCKET_CONTROL, /* a ping, a pong or a close: kind, control, control_size */
    WEBSOCKET_BROKEN,  /* code and reason tell what is wrong; nothing more can be read */
} websocket_event;

/* The bytes that a client has sent so far. Begins as zeros. */
typedef struct websocket_reader {
    char text[VIEW_TEXT_SIZE]; /* of the message, as far as it has come */
    size_t size;
    bool in_pieces; /* the message goes on after this frame */
    int pieces;
    unsigned char control[WEBSOCKET_CONTROL_SIZE]; /* what a ping, a pong or a close has to say */
    size_t control_size;
    int kind; /* of the frame */
    /* The frame that is being read. */
    unsigned char head[14]; /* with the mask at the end */
    size_t head_size, head_length;
    size_t length, got; /* of its bytes */
    bool final, complete;
    int code;
    const char *reason;
} websocket_reader;

/* Goes on with these bytes up to the next event; *taken: how many of them it has used. */
websocket_event websocket_read(websocket_reader *reader, const unsigned char *bytes, size_t size, size_t *taken);
/* Writes the head of a whole frame to a client; its length. */
size_t websocket_head(unsigned char head[WEBSOCKET_HEAD_SIZE], int kind, size_t size);
/* Computes the server's answer to the client's key; false: it is no key. */
bool websocket_accept(const char *key, char accept[WEBSOCKET_ACCEPT_SIZE]);

#endif
