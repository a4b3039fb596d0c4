/* One who looks on through a WebSocket: a thread that hears what is said, and one that sends what waits in the mailbox.
 * Who says nothing, not even to pings, and who takes nothing, loses the seat. */
#include "client.h"

#include "line.h"
#include "websocket.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { GRACE = 10 }; /* s, that a message may take besides its size */

typedef struct {
    int socket;
    view_seat *seat;
    double silence;
    pthread_mutex_t writing; /* frames are whole */
    pthread_t sender;
    websocket_reader reader;
    double heard, pinged;  /* s: when a frame was complete, or a ping was sent */
    _Atomic double waited; /* s: when the client was last behind with reading: its pongs are late then */
    atomic_bool leaves;    /* of itself, or was told why not */
} client;

/* ---- sending ---- */

static bool put(client *c, int kind, const void *bytes, size_t size) {
    unsigned char head[WEBSOCKET_HEAD_SIZE];
    bool waited = false;
    pthread_mutex_lock(&c->writing);
    const bool good = line_send(c->socket, head, websocket_head(head, kind, size), GRACE, &waited) &&
                      line_send(c->socket, bytes, size, GRACE, &waited);
    pthread_mutex_unlock(&c->writing);
    if (waited)
        c->waited = app_seconds();
    return good;
}

static void say_goodbye(client *c, int code, const char *reason) {
    char payload[WEBSOCKET_CONTROL_SIZE] = {(char)(code >> 8), (char)(code & 0xff)};
    const size_t length = strnlen(reason, sizeof payload - 2);
    memcpy(payload + 2, reason, length);
    c->leaves = true;
    put(c, WEBSOCKET_CLOSE, payload, length + 2);
}

/* Waits for the socket as long as a client may take: others have threads of their own. */
static void *send_all(void *data) {
    client *c = data;
    bool good = true;
    while (good && !view_seat_is_closed(c->seat)) {
        view_message *message = view_seat_next(c->seat, 0.5);
        if (message)
            good = put(c, message->text ? WEBSOCKET_TEXT : WEBSOCKET_BINARY, message->bytes, message->size);
        view_message_drop(message);
    }
    if (good && !c->leaves)
        say_goodbye(c, WEBSOCKET_REFUSED, "messages were not read");
    view_seat_close(c->seat);
    return NULL;
}

/* ---- hearing ---- */

/* The code to close with, and why; 0: all is well. */
static int take_control(client *c, char reason[128]) {
    const websocket_reader *r = &c->reader;
    snprintf(reason, 128, "at most %d messages in a second", VIEW_RATE);
    if (!view_seat_may_send(c->seat))
        return WEBSOCKET_REFUSED;
    if (r->kind == WEBSOCKET_PING && !put(c, WEBSOCKET_PONG, r->control, r->control_size))
        return WEBSOCKET_REFUSED;
    return 0;
}

static int take_event(client *c, websocket_event event, char reason[128]) {
    const websocket_reader *r = &c->reader;
    c->heard = event == WEBSOCKET_MORE ? c->heard : app_seconds();
    switch (event) {
    case WEBSOCKET_GOT:
        return view_seat_receive(c->seat, r->text, r->size, reason);
    case WEBSOCKET_PIECE: /* counts as a message does: they cost as much */
        snprintf(reason, 128, "at most %d messages in a second", VIEW_RATE);
        return view_seat_may_send(c->seat) ? 0 : WEBSOCKET_REFUSED;
    case WEBSOCKET_CONTROL:
        return take_control(c, reason);
    case WEBSOCKET_BROKEN:
        snprintf(reason, 128, "%s", r->reason);
        return r->code;
    default:
        return 0;
    }
}

/* False: it is over. */
static bool take_bytes(client *c, const unsigned char *bytes, size_t size) {
    char reason[128];
    while (size > 0) {
        size_t taken;
        const websocket_event event = websocket_read(&c->reader, bytes, size, &taken);
        bytes += taken, size -= taken;
        if (event == WEBSOCKET_CONTROL && c->reader.kind == WEBSOCKET_CLOSE) {
            c->leaves = true;
            put(c, WEBSOCKET_CLOSE, c->reader.control, c->reader.control_size < 2 ? 0 : 2);
            return false;
        }
        const int code = take_event(c, event, reason);
        if (code) {
            say_goodbye(c, code, reason);
            return false;
        }
    }
    return true;
}

/* Pings who has been silent for a third of the time. False: it is over, which the client is told where it may still
 * hear it. */
static bool is_there(client *c) {
    const double now = app_seconds(), silent = now - fmax(c->heard, c->waited);
    if (silent > c->silence) {
        char reason[128];
        snprintf(reason, sizeof reason, "nothing was heard for %.3g s", c->silence);
        say_goodbye(c, WEBSOCKET_REFUSED, reason);
        return false;
    }
    if (silent > c->silence / 3 && now - c->pinged > c->silence / 3) {
        c->pinged = now;
        return put(c, WEBSOCKET_PING, "", 0);
    }
    return true;
}

static void hear_all(client *c) {
    unsigned char bytes[4096];
    while (!view_seat_is_closed(c->seat) && is_there(c)) {
        const ssize_t got = line_receive(c->socket, bytes, sizeof bytes, fmin(0.5, c->silence / 4));
        if (got == 0 || (got > 0 && !take_bytes(c, bytes, (size_t)got)))
            return;
    }
}

void client_serve(view_seat *seat, int socket, double silence, const unsigned char *rest, size_t rest_size) {
    client *c = calloc(1, sizeof *c);
    if (!c)
        return;
    c->socket = socket, c->seat = seat, c->silence = silence;
    c->heard = c->pinged = app_seconds();
    pthread_mutex_init(&c->writing, NULL);
    if (!line_start_thread(&c->sender, send_all, c))
        say_goodbye(c, WEBSOCKET_BUSY, "too many are looking on");
    else {
        if (take_bytes(c, rest, rest_size))
            hear_all(c);
        view_seat_close(seat);
        pthread_join(c->sender, NULL);
    }
    line_part(socket);
    pthread_mutex_destroy(&c->writing);
    free(c);
}
