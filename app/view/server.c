/* HTTP and WebSocket around a session: who may come in, what is served, one thread for each client that is written to.
 * Everything that a client sends is hostile until it is checked. */
#include "view.h"

#include <civetweb.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct view_server {
    view_session *session;
    struct mg_context *civetweb;
    char *address, *token;
    char folder[PATH_MAX]; /* of the page's files, without links */
    int32_t port;
};

/* ---- who may come in ---- */

/* Takes as long for a wrong token as for the right one. */
static bool is_token(const view_server *server, const char *text) {
    const size_t length = strlen(server->token), given = strlen(text);
    unsigned char differs = given != length;
    for (size_t i = 0; i < length; i++)
        differs |= (unsigned char)(server->token[i] ^ text[given > 0 ? i % given : 0]);
    return !differs;
}

static bool has_token(const view_server *server, const struct mg_request_info *request) {
    char given[256] = "";
    const char *query = request->query_string;
    return query && mg_get_var(query, strlen(query), "token", given, sizeof given) > 0 && is_token(server, given);
}

static bool is_numeric(const char *host) {
    return host[strspn(host, "0123456789.")] == 0 && host[0];
}

/* "127.0.0.1:8000" or "localhost:8000". A name that somebody else's server sends a browser to is neither. Who listens
 * everywhere is known by any address, but by no name. */
static bool is_own_host(const view_server *server, const char *text) {
    char host[128];
    const char *colon = text ? strchr(text, ':') : NULL,
               *port = colon ? colon + 1 : "80"; /* which browsers leave out */
    const size_t length = text ? strcspn(text, ":") : sizeof host;
    if (length >= sizeof host || atoi(port) != server->port || port[strspn(port, "0123456789")] != 0)
        return false;
    snprintf(host, sizeof host, "%.*s", (int)length, text);
    return !strcmp(host, server->address) || !strcmp(host, "localhost") ||
           (!strcmp(server->address, "0.0.0.0") && is_numeric(host));
}

static bool comes_from_here(const view_server *server, const struct mg_connection *connection) {
    const char *host = mg_get_header(connection, "Host"), *origin = mg_get_header(connection, "Origin");
    return is_own_host(server, host) &&
           (!origin || (!strncmp(origin, "http://", 7) && is_own_host(server, origin + 7)));
}

/* ---- answers ---- */

typedef struct {
    const char *type;
    bool download;
} answer;

static void send_head(struct mg_connection *connection, const view_server *server, int status, const answer *a,
                      long long size) {
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %lld\r\nConnection: close\r\n"
              "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
              "Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n"
              "Cross-Origin-Resource-Policy: same-origin\r\n"
              "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: "
              "blob:; media-src blob:; font-src 'self'; connect-src 'self' ws://%s:%d ws://localhost:%d; base-uri "
              "'none'; form-action 'none'; frame-ancestors 'none'\r\n%s\r\n",
              status, mg_get_response_code_text(connection, status), a->type, size,
              strcmp(server->address, "0.0.0.0") ? server->address : "127.0.0.1", (int)server->port, (int)server->port,
              a->download ? "Content-Disposition: attachment\r\n" : "");
}

static bool wants_body(const struct mg_connection *connection) {
    return strcmp(mg_get_request_info(connection)->request_method, "HEAD") != 0;
}

static int send_text(struct mg_connection *connection, const view_server *server, int status, const char *text) {
    send_head(connection, server, status, &(answer){.type = "text/plain; charset=utf-8"}, (long long)strlen(text));
    if (wants_body(connection))
        mg_write(connection, text, strlen(text));
    return status;
}

/* ---- files ---- */

static const char *type_of(const char *path) {
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".json", "application/json"},
        {".woff2", "font/woff2"},
        {".wasm", "application/wasm"},
        {".csv", "text/csv; charset=utf-8"},
        {".glb", "model/gltf-binary"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (app_has_extension(path, types[i][0]))
            return types[i][1];
    return NULL;
}

/* "/a/b-1.js": plain names that do not begin with a dot, and an extension that pages have. */
static bool is_plain(const char *uri) {
    for (const char *c = uri; *c; c++) {
        const bool begins = c[0] == '/';
        if (begins && (c[1] == '.' || c[1] == '/' || c[1] == 0))
            return false;
        if (!begins && !isalnum((unsigned char)*c) && !strchr("._-@", *c))
            return false;
    }
    return uri[0] == '/' && type_of(uri) != NULL;
}

static int send_stream(struct mg_connection *connection, const view_server *server, FILE *file, const answer *a) {
    struct stat info;
    char buffer[16384];
    if (fstat(fileno(file), &info) || !S_ISREG(info.st_mode))
        return send_text(connection, server, 404, "there is no such file\n");
    send_head(connection, server, 200, a, (long long)info.st_size);
    for (size_t got; wants_body(connection) && (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        if (mg_write(connection, buffer, got) <= 0)
            break;
    return 200;
}

static int send_path(struct mg_connection *connection, const view_server *server, const char *path, bool download) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return send_text(connection, server, 404, "there is no such file\n");
    const int status = send_stream(connection, server, file, &(answer){.type = type_of(path), .download = download});
    fclose(file);
    return status;
}

/* Only what lies in the viewer's own folder, however names and links are twisted. */
static int send_file(struct mg_connection *connection, const view_server *server, const char *uri) {
    char path[PATH_MAX + 512], real[PATH_MAX];
    const size_t length = strlen(server->folder);
    if (!is_plain(uri) || length == 0 || strlen(uri) > 400)
        return send_text(connection, server, 404, "there is no such file\n");
    snprintf(path, sizeof path, "%s%s", server->folder, uri);
    if (!realpath(path, real) || strncmp(real, server->folder, length) != 0 || real[length] != '/')
        return send_text(connection, server, 404, "there is no such file\n");
    return send_path(connection, server, real, false);
}

static int send_recording(struct mg_connection *connection, const view_server *server, const char *name) {
    char *path = view_session_find_recording(server->session, name);
    const int status = path ? send_path(connection, server, path, true)
                            : send_text(connection, server, 404, "there is no such recording\n");
    free(path);
    return status;
}

/* ---- requests ---- */

static const char recordings[] = "/recordings/";

static int answer_request(struct mg_connection *connection, const view_server *server) {
    const struct mg_request_info *request = mg_get_request_info(connection);
    const char *uri = request->local_uri_raw;
    const bool page = !strcmp(uri, "/") || !strcmp(uri, "/index.html");
    const bool recording = !strncmp(uri, recordings, sizeof recordings - 1);
    if ((page || recording) && !has_token(server, request))
        return send_text(connection, server, 403, "open the address that bough view has printed, with its token\n");
    if (page)
        uri = "/index.html";
    return recording ? send_recording(connection, server, uri + sizeof recordings - 1)
                     : send_file(connection, server, uri);
}

/* ---- WebSockets ---- */

enum {
    CLOSE_PROTOCOL = 1002,
    CLOSE_KIND = 1003,
    CLOSE_LATE = 1008,
    CLOSE_SIZE = 1009,
    CLOSE_FULL = 1013,
    FINAL = 0x80,
    RESERVED = 0x70
};

typedef struct {
    struct mg_connection *connection;
    view_seat *seat;
    pthread_t sender;
    bool sends;                /* the sender runs */
    char text[VIEW_TEXT_SIZE]; /* of a message that comes in pieces */
    size_t size;
    bool in_pieces;
    atomic_bool leaves; /* of itself, or was told why not */
} client;

static void say_goodbye(struct mg_connection *connection, int code, const char *reason) {
    char payload[125] = {(char)(code >> 8), (char)(code & 0xff)};
    const size_t length = strnlen(reason, sizeof payload - 2);
    memcpy(payload + 2, reason, length);
    mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, payload, length + 2);
}

/* Waits for the socket as long as it takes: others have threads of their own. One that takes nothing for as long as a
 * request may last loses its seat; the connection itself belongs to civetweb's thread, which ends when the client does
 * or says something. */
static void *send_all(void *data) {
    client *c = data;
    bool good = true;
    while (good && !view_seat_is_closed(c->seat)) {
        view_message *message = view_seat_next(c->seat, 0.5);
        if (message)
            good =
                mg_websocket_write(c->connection, message->text ? MG_WEBSOCKET_OPCODE_TEXT : MG_WEBSOCKET_OPCODE_BINARY,
                                   (const char *)message->bytes, message->size) == (int)message->size;
        view_message_drop(message);
    }
    if (good && !c->leaves)
        say_goodbye(c->connection, CLOSE_LATE, "messages were not read");
    view_seat_close(c->seat);
    return NULL;
}

static void on_ready(struct mg_connection *connection, void *data) {
    client *c = mg_get_user_connection_data(connection);
    (void)data;
    if (!c)
        return;
    c->sends = pthread_create(&c->sender, NULL, send_all, c) == 0;
    if (!c->sends) {
        say_goodbye(connection, CLOSE_FULL, "too many are looking on");
        view_seat_close(c->seat);
    }
}

/* Whether it became a WebSocket or broke off while it asked to be one. */
static void give_up_seat(const struct mg_connection *connection) {
    client *c = mg_get_user_connection_data(connection);
    if (!c)
        return;
    mg_set_user_connection_data(connection, NULL);
    c->leaves = true;
    view_seat_close(c->seat);
    if (c->sends)
        pthread_join(c->sender, NULL);
    view_session_leave(c->seat);
    free(c);
}

/* civetweb calls this before it locks the connection to close it: the sender may still want that lock. */
static void on_close(const struct mg_connection *connection, void *data) {
    (void)data;
    give_up_seat(connection);
}

/* 0: it may become a WebSocket, and has its seat: who is let in stays. */
static int judge_socket(struct mg_connection *connection, const view_server *server) {
    const char *upgrade = mg_get_header(connection, "Upgrade");
    if (!upgrade || strcasecmp(upgrade, "websocket") != 0)
        return send_text(connection, server, 400, "this is a WebSocket\n");
    if (!has_token(server, mg_get_request_info(connection)))
        return send_text(connection, server, 403, "the token is missing or wrong\n");
    client *c = calloc(1, sizeof *c);
    if (!c || !(c->seat = view_session_join(server->session))) {
        free(c);
        return send_text(connection, server, 503, "too many are looking on\n");
    }
    c->connection = connection;
    mg_set_user_connection_data(connection, c);
    return 0;
}

/* ---- any request ---- */

static int begin_request(struct mg_connection *connection) {
    const view_server *server = mg_get_user_context_data(connection);
    const struct mg_request_info *request = mg_get_request_info(connection);
    if (!comes_from_here(server, connection))
        return send_text(connection, server, 403, "Host or Origin is not that of this server\n");
    if (strcmp(request->request_method, "GET") != 0 && strcmp(request->request_method, "HEAD") != 0)
        return send_text(connection, server, 405, "only GET\n");
    if (!request->local_uri_raw)
        return send_text(connection, server, 404, "there is no such file\n");
    return !strcmp(request->local_uri_raw, "/socket") ? judge_socket(connection, server)
                                                      : answer_request(connection, server);
}

/* A message in one piece, or the next of several. The code to close with; 0: all is well. */
static int take_text(client *c, bool first, bool last, const char *bytes, size_t size, char reason[128]) {
    snprintf(reason, 128, first ? "a message begins within another" : "a message goes on that did not begin");
    if (first == c->in_pieces)
        return CLOSE_PROTOCOL;
    if (first && last)
        return view_seat_receive(c->seat, bytes, size, reason);
    if (size > sizeof c->text - c->size) {
        snprintf(reason, 128, "messages have at most %d bytes", VIEW_TEXT_SIZE);
        return CLOSE_SIZE;
    }
    memcpy(c->text + c->size, bytes, size);
    c->size += size;
    c->in_pieces = !last;
    if (!last)
        return 0;
    const size_t whole = c->size;
    c->size = 0;
    return view_seat_receive(c->seat, c->text, whole, reason);
}

static int take_frame(client *c, int bits, const char *bytes, size_t size, char reason[128]) {
    const int kind = bits & 0x0f;
    const bool last = bits & FINAL;
    snprintf(reason, 128, "this is no frame of a client");
    if (bits & RESERVED)
        return CLOSE_PROTOCOL;
    switch (kind) {
    case MG_WEBSOCKET_OPCODE_TEXT:
    case MG_WEBSOCKET_OPCODE_CONTINUATION:
        return take_text(c, kind == MG_WEBSOCKET_OPCODE_TEXT, last, bytes, size, reason);
    case MG_WEBSOCKET_OPCODE_BINARY:
        snprintf(reason, 128, "commands are texts");
        return CLOSE_KIND;
    case MG_WEBSOCKET_OPCODE_PING:
        if (size > 125 || !last || !view_seat_may_send(c->seat))
            return CLOSE_PROTOCOL;
        return mg_websocket_write(c->connection, MG_WEBSOCKET_OPCODE_PONG, bytes, size) > 0 ? 0 : CLOSE_PROTOCOL;
    case MG_WEBSOCKET_OPCODE_PONG:
        return view_seat_may_send(c->seat) ? 0 : CLOSE_PROTOCOL;
    default:
        return CLOSE_PROTOCOL;
    }
}

/* 0 ends the connection. */
static int on_data(struct mg_connection *connection, int bits, char *bytes, size_t size, void *data) {
    client *c = mg_get_user_connection_data(connection);
    char reason[128];
    (void)data;
    if (!c || view_seat_is_closed(c->seat))
        return 0;
    if ((bits & 0x0f) == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE) {
        mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, bytes, size < 2 ? 0 : 2);
        return 0;
    }
    const int code = take_frame(c, bits, bytes, size, reason);
    if (code)
        say_goodbye(connection, code, reason);
    return code == 0;
}

static int be_silent(const struct mg_connection *connection, const char *message) {
    (void)connection, (void)message;
    return 1;
}

/* ---- starting and stopping ---- */

static bool listen_at(view_server *server, const view_server_def *def, char *reason, size_t size) {
    char ports[160];
    snprintf(ports, sizeof ports, "%s:%d", def->address, (int)def->port);
    /* Threads for all who look on, for those who load the page meanwhile, and for some who only hold the line. */
    const char *options[] = {"listening_ports",
                             ports,
                             "num_threads",
                             "96",
                             "request_timeout_ms",
                             "8000",
                             "websocket_timeout_ms",
                             "1000",
                             "tcp_nodelay",
                             "1",
                             "enable_keep_alive",
                             "no",
                             "enable_directory_listing",
                             "no",
                             "max_request_size",
                             "8192",
                             "connection_queue",
                             "64",
                             NULL};
    struct mg_callbacks callbacks = {
        .begin_request = begin_request, .connection_close = give_up_seat, .log_message = be_silent};
    struct mg_server_port bound[1] = {{0}};
    server->civetweb = mg_start(&callbacks, server, options);
    if (!server->civetweb || mg_get_server_ports(server->civetweb, 1, bound) < 1) {
        snprintf(reason, size, "%s cannot be listened at; choose another --port or --listen", ports);
        return false;
    }
    server->port = bound[0].port;
    return true;
}

view_server *view_server_start(const view_server_def *def, char *reason, size_t size) {
    static const char *names[] = {"bough.1"};
    static struct mg_websocket_subprotocols protocols = {1, names};
    view_server *server = calloc(1, sizeof *server);
    snprintf(reason, size, "out of memory");
    if (!server)
        return NULL;
    server->session = def->session;
    server->address = strdup(def->address), server->token = strdup(def->token);
    if (!realpath(def->folder, server->folder))
        server->folder[0] = 0;
    mg_init_library(MG_FEATURES_WEBSOCKET);
    if (!server->address || !server->token || !listen_at(server, def, reason, size)) {
        view_server_stop(server);
        return NULL;
    }
    mg_set_websocket_handler_with_subprotocols(server->civetweb, "/socket$", &protocols, NULL, on_ready, on_data,
                                               on_close, server);
    return server;
}

int32_t view_server_port(const view_server *server) {
    return server->port;
}

void view_server_stop(view_server *server) {
    if (!server)
        return;
    if (server->civetweb)
        mg_stop(server->civetweb);
    mg_exit_library();
    free(server->address);
    free(server->token);
    free(server);
}
