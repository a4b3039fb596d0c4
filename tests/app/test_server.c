/* The server of bough view from inside: heads of requests, frames, and clients that say nothing. */
#include "app/sockets.h"
#include "run/play.h"

#include "../../app/view/client.h"
#include "../../app/view/http.h"
#include "../../app/view/line.h"
#include "../../app/view/websocket.h"

#include <pthread.h>

/* ---- WebSockets ---- */

/* RFC 6455, 1.3; the hash of another key was computed by coreutils. */
static void handshakes_are_answered_as_the_standard_says(void **state) {
    (void)state;
    char accept[WEBSOCKET_ACCEPT_SIZE];
    check(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==", accept));
    check(!strcmp(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    check(websocket_accept("AAAAAAAAAAAAAAAAAAAAAA==", accept));
    check(!strcmp(accept, "ICX+Yqv66kxgM0FcWaLWlFLwTAI="));
    static const char *const others[] = {"",
                                         "dGhlIHNhbXBsZSBub25jZQ=",
                                         "dGhlIHNhbXBsZSBub25jZQ===",
                                         "dGhlIHNhbXBsZSBub25jZ===",
                                         "dGhlIHNhbXBsZSBub25j Q==",
                                         "dGhlIHNhbXBsZSBub25jZQAA"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check(!websocket_accept(others[i], accept));
}

/* Everything that is read of the bytes when they come in chunks of so many, as a text. */
static void describe(const unsigned char *bytes, size_t size, size_t chunk, char *told, size_t room) {
    websocket_reader reader = {0};
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        size_t taken;
        const size_t given = size - at < chunk ? size - at : chunk;
        const websocket_event event = websocket_read(&reader, bytes + at, given, &taken);
        check(taken <= given && (taken > 0 || event == WEBSOCKET_BROKEN));
        at += taken;
        if (event == WEBSOCKET_MORE)
            continue;
        const bool control = event == WEBSOCKET_CONTROL;
        used += (size_t)snprintf(told + used, room - used, "%d/%d/%d:%.*s;", (int)event, reader.kind, reader.code,
                                 (int)(control ? reader.control_size : reader.size),
                                 control ? (const char *)reader.control : reader.text);
        check(used < room);
        if (event == WEBSOCKET_BROKEN)
            break;
    }
}

/* The places where the network cuts the bytes make no difference. */
static void frames_are_read_in_any_chunks(void **state) {
    (void)state;
    static char large[4096];
    unsigned char bytes[8192];
    char whole[10000], cut[10000];
    size_t size = 0;
    memset(large, 'x', sizeof large);
    size += write_frame(bytes + size, FINAL | TEXT, true, "hello", 5);
    size += write_frame(bytes + size, TEXT, true, "in ", 3);
    size += write_frame(bytes + size, FINAL | PING, true, "are you there", 13);
    size += write_frame(bytes + size, 0, true, "", 0);
    size += write_frame(bytes + size, FINAL | 0, true, "pieces", 6);
    size += write_frame(bytes + size, FINAL | TEXT, true, large, sizeof large);
    size += write_frame(bytes + size, FINAL | PONG, true, "", 0);
    size += write_frame(bytes + size, FINAL | CLOSE, true, "\3\350bye", 5);
    size += write_frame(bytes + size, FINAL | TEXT, false, "unmasked", 8);
    describe(bytes, size, size, whole, sizeof whole);
    char *expected;
    check(asprintf(&expected,
                   "%d/1/0:hello;%d/1/0:in ;%d/9/0:are you there;%d/0/0:in ;%d/0/0:in pieces;%d/1/0:%.4096s;%d/10/0:;"
                   "%d/8/0:\3\350bye;%d/1/1002:",
                   WEBSOCKET_GOT, WEBSOCKET_PIECE, WEBSOCKET_CONTROL, WEBSOCKET_PIECE, WEBSOCKET_GOT, WEBSOCKET_GOT,
                   large, WEBSOCKET_CONTROL, WEBSOCKET_CONTROL, WEBSOCKET_BROKEN) > 0);
    if (strncmp(whole, expected, strlen(expected)) != 0)
        fail_msg("read as \"%s\"", whole);
    free(expected);
    for (size_t chunk = 1; chunk < 40; chunk++) {
        describe(bytes, size, chunk, cut, sizeof cut);
        check(!strcmp(whole, cut));
    }
}

/* ---- HTTP ---- */

static bool parse(http_request *r, const char *text) {
    snprintf(r->head, sizeof r->head, "%s", text);
    return http_parse(r, strlen(r->head));
}

static void heads_are_cut_into_their_parts(void **state) {
    (void)state;
    static http_request r;
    char value[16];
    check(parse(&r, "GET /a/b?x=1&token=a%2db HTTP/1.1\r\nHost:  here:80 \r\nConnection: keep-alive, Upgrade\r\n\r\n"));
    check(!strcmp(r.method, "GET") && !strcmp(r.path, "/a/b") && !strcmp(http_header(&r, "host"), "here:80"));
    check(http_header_has(&r, "connection", "upgrade") && !http_header_has(&r, "connection", "grade"));
    check(http_query(&r, "token", value, sizeof value) && !strcmp(value, "a-b"));
    check(http_query(&r, "x", value, sizeof value) && !strcmp(value, "1"));
    check(!http_query(&r, "toke", value, sizeof value) && !http_query(&r, "token", value, 3));
    static const char *const others[] = {
        "",
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "G(T / HTTP/1.1\r\n\r\n",
        "GET http://elsewhere/ HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n",
        "GET / HTTP/1.1\r\nnothing\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\nb\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (parse(&r, others[i]))
            fail_msg("taken for a request: %s", others[i]);
    check(parse(&r, "GET /?token=%4 HTTP/1.1\r\n\r\n") && !http_query(&r, "token", value, sizeof value));
    check(parse(&r, "GET /?token=%00 HTTP/1.1\r\n\r\n") && !http_query(&r, "token", value, sizeof value));
}

/* ---- silence ---- */

typedef struct {
    bough_context *ctx;
    view_session *session;
    view_seat *seat;
    int lines[2]; /* ours, the server's */
    double silence;
    pthread_t thread;
} guest;

static void *serve(void *data) {
    guest *g = data;
    client_serve(g->seat, g->lines[1], g->silence, NULL, 0);
    return NULL;
}

static guest *come_in(double silence) {
    guest *g = calloc(1, sizeof *g);
    const struct timeval patience = {.tv_sec = 20};
    g->ctx = test_context(1), g->silence = silence;
    write_scene("still.json", "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], "
                              "'cells': [2, 1, 1]}, 'fix': 'x0', 'time': {'dt': 0.01, 'duration': 1}}");
    const view_session_def def = {.path = test_path("still.json"), .choice = {.continuity = "C0"}, .paused = true};
    check_ok(g->ctx, view_session_create(g->ctx, &def, &g->session));
    check((g->seat = view_session_join(g->session)) != NULL);
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, g->lines) == 0);
    setsockopt(g->lines[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    check(line_start_thread(&g->thread, serve, g));
    return g;
}

static void go(guest *g) {
    close(g->lines[0]);
    pthread_join(g->thread, NULL);
    check_int(view_session_seats_taken(g->session), 0);
    view_session_leave(g->seat);
    close(g->lines[1]);
    view_session_destroy(g->session);
    bough_context_destroy(g->ctx);
    free(g);
}

/* The kind of the next message; 0: there is none. *code: of a close. */
static int hear(const guest *g, int *code) {
    unsigned char head[10], *bytes;
    if (!get(g->lines[0], head, 2))
        return 0;
    uint64_t size = head[1] & 127;
    const size_t more = size == 126 ? 2 : size == 127 ? 8 : 0;
    check(get(g->lines[0], head + 2, more));
    for (size_t i = 0; i < more; i++)
        size = (i ? size << 8 : 0) | head[2 + i];
    bytes = malloc(size + 1);
    check(get(g->lines[0], bytes, size));
    if ((head[0] & 15) == CLOSE && size >= 2)
        *code = bytes[0] << 8 | bytes[1];
    free(bytes);
    return head[0] & 15;
}

/* Reads everything and says nothing, not even to pings. */
static void who_says_nothing_is_shown_out(void **state) {
    (void)state;
    guest *g = come_in(0.6);
    const double began = app_seconds();
    int code = 0, pings = 0, kind;
    while ((kind = hear(g, &code)) != 0 && kind != CLOSE)
        pings += kind == PING;
    check_int(code, 1008);
    check(pings >= 1);
    check(app_seconds() - began >= 0.6);
    go(g);
}

/* A frame that never ends is no word, however its bytes drip in. */
static void half_a_frame_is_silence(void **state) {
    (void)state;
    guest *g = come_in(0.6);
    const unsigned char head[] = {FINAL | TEXT, 0x80 | 100, 1, 2, 3, 4};
    const double until = app_seconds() + 20;
    put(g->lines[0], head, sizeof head);
    int code = 0;
    for (int kind = 1; kind != 0 && kind != CLOSE; kind = hear(g, &code)) {
        put(g->lines[0], "x", 1);
        check(app_seconds() < until);
    }
    check_int(code, 1008);
    go(g);
}

/* Browsers answer pings by themselves. */
static void who_answers_pings_stays(void **state) {
    (void)state;
    guest *g = come_in(0.6);
    const double until = app_seconds() + 3;
    int code = 0, answered = 0;
    while (app_seconds() < until || answered < 3) {
        const int kind = hear(g, &code);
        check(kind != 0 && kind != CLOSE);
        if (kind == PING)
            answered += send_frame(g->lines[0], FINAL | PONG, true, "", 0);
    }
    go(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshakes_are_answered_as_the_standard_says),
        cmocka_unit_test(frames_are_read_in_any_chunks),
        cmocka_unit_test(heads_are_cut_into_their_parts),
        cmocka_unit_test(who_says_nothing_is_shown_out),
        cmocka_unit_test(half_a_frame_is_silence),
        cmocka_unit_test(who_answers_pings_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
