/* HTTP and WebSocket around a session: who may come in, what is served. Everything that comes in is hostile until it is
 * checked. */
#include "client.h"
#include "http.h"
#include "line.h"
#include "websocket.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    REQUEST_TIME = 8, /* s, in which a request must be complete */
    SILENCE = 30,     /* s, after which one who says nothing, not even to pings, is gone */
};

struct view_server {
    view_session *session;
    lines *lines;
    char *address, *token;
    char folder[PATH_MAX]; /* of the page's files, without links */
    bool framed;           /* pages of this computer may show the page in a frame */
    double silence;        /* s */
};

/* One who asks for something. */
typedef struct {
    const view_server *server;
    int socket;
    const http_request *request;
    unsigned char *rest; /* what came behind its head */
    size_t rest_size;
} visit;

/* ---- who may come in ---- */

/* Takes as long for a wrong token as for the right one. */
static bool is_token(const view_server *server, const char *text) {
    const size_t length = strlen(server->token), given = strlen(text);
    unsigned char differs = given != length;
    for (size_t i = 0; i < length; i++)
        differs |= (unsigned char)(server->token[i] ^ text[given > 0 ? i % given : 0]);
    return !differs;
}

static bool has_token(const visit *v) {
    char given[256] = "";
    return http_query(v->request, "token", given, sizeof given) && is_token(v->server, given);
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
    if (length >= sizeof host || atoi(port) != view_server_port(server) || port[strspn(port, "0123456789")] != 0)
        return false;
    snprintf(host, sizeof host, "%.*s", (int)length, text);
    return !strcmp(host, server->address) || !strcmp(host, "localhost") ||
           (!strcmp(server->address, "0.0.0.0") && is_numeric(host));
}

static bool comes_from_here(const visit *v) {
    const char *host = http_header(v->request, "Host"), *origin = http_header(v->request, "Origin");
    return is_own_host(v->server, host) &&
           (!origin || (!strncmp(origin, "http://", 7) && is_own_host(v->server, origin + 7)));
}

/* ---- answers ---- */

typedef struct {
    const char *type;
    bool download;
} answer;

static bool send_bytes(const visit *v, const void *bytes, size_t size) {
    return line_send(v->socket, bytes, size, REQUEST_TIME, NULL);
}

static void send_head(const visit *v, int status, const answer *a, long long size) {
    char head[1536];
    const view_server *server = v->server;
    const int port = (int)view_server_port(server);
    const int length = snprintf(
        head, sizeof head,
        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %lld\r\nConnection: close\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s"
        "Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\n"
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: "
        "blob:; media-src blob:; font-src 'self'; connect-src 'self' ws://%s:%d ws://localhost:%d; base-uri "
        "'none'; form-action 'none'; frame-ancestors %s\r\n%s%s\r\n",
        status, http_status_text(status), a->type, size, server->framed ? "" : "X-Frame-Options: DENY\r\n",
        strcmp(server->address, "0.0.0.0") ? server->address : "127.0.0.1", port, port,
        server->framed ? "http://localhost:* http://127.0.0.1:*" : "'none'",
        a->download ? "Content-Disposition: attachment\r\n" : "", status == 426 ? "Sec-WebSocket-Version: 13\r\n" : "");
    send_bytes(v, head, (size_t)length);
}

static bool wants_body(const visit *v) {
    return !v->request->method || strcmp(v->request->method, "HEAD") != 0;
}

static void send_text(const visit *v, int status, const char *text) {
    send_head(v, status, &(answer){.type = "text/plain; charset=utf-8"}, (long long)strlen(text));
    if (wants_body(v))
        send_bytes(v, text, strlen(text));
}

/* ---- files ---- */

static const char no_file[] = "there is no such file\n";

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

static void send_stream(const visit *v, FILE *file, const answer *a) {
    struct stat info;
    char buffer[16384];
    if (fstat(fileno(file), &info) || !S_ISREG(info.st_mode)) {
        send_text(v, 404, no_file);
        return;
    }
    send_head(v, 200, a, (long long)info.st_size);
    for (size_t got; wants_body(v) && (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        if (!send_bytes(v, buffer, got))
            break;
}

static void send_path(const visit *v, const char *path, bool download) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        send_text(v, 404, no_file);
        return;
    }
    send_stream(v, file, &(answer){.type = type_of(path), .download = download});
    fclose(file);
}

/* Only what lies in the viewer's own folder, however names and links are twisted. */
static void send_file(const visit *v, const char *uri) {
    char path[PATH_MAX + 512], real[PATH_MAX];
    const char *folder = v->server->folder;
    const size_t length = strlen(folder);
    bool good = is_plain(uri) && length > 0 && strlen(uri) <= 400;
    if (good) {
        snprintf(path, sizeof path, "%s%s", folder, uri);
        good = realpath(path, real) && !strncmp(real, folder, length) && real[length] == '/';
    }
    if (good)
        send_path(v, real, false);
    else
        send_text(v, 404, no_file);
}

static void send_recording(const visit *v, const char *name) {
    char *path = view_session_find_recording(v->server->session, name);
    if (path)
        send_path(v, path, true);
    else
        send_text(v, 404, "there is no such recording\n");
    free(path);
}

/* ---- requests ---- */

static void answer_page(const visit *v) {
    static const char recordings[] = "/recordings/";
    const char *uri = v->request->path;
    const bool page = !strcmp(uri, "/") || !strcmp(uri, "/index.html");
    const bool recording = !strncmp(uri, recordings, sizeof recordings - 1);
    if ((page || recording) && !has_token(v))
        send_text(v, 403, "open the address that bough view has printed, with its token\n");
    else if (recording)
        send_recording(v, uri + sizeof recordings - 1);
    else
        send_file(v, page ? "/index.html" : uri);
}

/* Says that it is a WebSocket from now on. */
static void send_welcome(const visit *v, const char *accept) {
    char head[256];
    const int length =
        snprintf(head, sizeof head,
                 "HTTP/1.1 101 %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Accept: %s\r\n%s\r\n",
                 http_status_text(101), accept,
                 http_header(v->request, "Sec-WebSocket-Protocol") ? "Sec-WebSocket-Protocol: bough.1\r\n" : "");
    send_bytes(v, head, (size_t)length);
}

static void answer_socket(const visit *v) {
    const http_request *r = v->request;
    const char *key = http_header(r, "Sec-WebSocket-Key"), *version = http_header(r, "Sec-WebSocket-Version");
    char accept[WEBSOCKET_ACCEPT_SIZE];
    view_seat *seat = NULL;
    if (strcmp(r->method, "GET") != 0 || !http_header_has(r, "Upgrade", "websocket") ||
        !http_header_has(r, "Connection", "upgrade"))
        send_text(v, 400, "this is a WebSocket\n");
    else if (!has_token(v))
        send_text(v, 403, "the token is missing or wrong\n");
    else if (!version || strcmp(version, "13") != 0)
        send_text(v, 426, "the version of WebSockets is 13\n");
    else if (!key || !websocket_accept(key, accept))
        send_text(v, 400, "the key of the WebSocket is missing or wrong\n");
    else if (http_header(r, "Sec-WebSocket-Protocol") && !http_header_has(r, "Sec-WebSocket-Protocol", "bough.1"))
        send_text(v, 400, "the protocol is bough.1\n");
    else if (!(seat = view_session_join(v->server->session)))
        send_text(v, 503, "too many are looking on\n");
    if (!seat)
        return;
    send_welcome(v, accept);
    client_serve(seat, v->socket, v->server->silence, v->rest, v->rest_size);
    view_session_leave(seat);
}

static void answer_request(const visit *v) {
    const http_request *r = v->request;
    if (!comes_from_here(v))
        send_text(v, 403, "Host or Origin is not that of this server\n");
    else if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
        send_text(v, 405, "only GET\n");
    else if (!strcmp(r->path, "/socket"))
        answer_socket(v);
    else
        answer_page(v);
}

/* Reads the head in all the time that a request may take, however slowly it comes. 0: it was complete; else the status
 * to answer with, or -1: nobody is there to be answered. */
static int read_request(visit *v, http_request *request) {
    const double until = app_seconds() + REQUEST_TIME;
    size_t size = 0, head = 0;
    while (!head) {
        if (size == HTTP_HEAD_SIZE)
            return 431;
        const ssize_t got = line_receive(v->socket, request->head + size, HTTP_HEAD_SIZE - size, until - app_seconds());
        if (got <= 0)
            return got < 0 && size > 0 ? 408 : -1;
        size += (size_t)got;
        head = http_head_length(request->head, size);
    }
    v->rest_size = size - head;
    v->rest = malloc(v->rest_size + 1);
    if (!v->rest)
        return -1;
    memcpy(v->rest, request->head + head, v->rest_size);
    return http_parse(request, head) ? 0 : 400;
}

static void serve(void *data, int socket) {
    http_request *request = calloc(1, sizeof *request);
    visit v = {.server = data, .socket = socket, .request = request};
    const int status = request ? read_request(&v, request) : -1;
    if (status == 0)
        answer_request(&v);
    else if (status > 0) {
        request->method = NULL;
        send_text(&v, status, "this is no request that can be answered\n");
    }
    if (status >= 0)
        line_part(socket);
    free(v.rest);
    free(request);
}

/* ---- starting and stopping ---- */

view_server *view_server_start(const view_server_def *def, char *reason, size_t size) {
    view_server *server = calloc(1, sizeof *server);
    snprintf(reason, size, "out of memory");
    if (!server)
        return NULL;
    server->session = def->session, server->framed = def->framed;
    server->silence = def->silence > 0 ? def->silence : SILENCE;
    server->address = strdup(def->address), server->token = strdup(def->token);
    if (!realpath(def->folder, server->folder))
        server->folder[0] = 0;
    if (server->address && server->token) {
        snprintf(reason, size, "%s:%d cannot be listened at; choose another --port or --listen", def->address,
                 (int)def->port);
        server->lines = lines_open(def->address, def->port);
    }
    if (server->lines && lines_start(server->lines, serve, server))
        return server;
    view_server_stop(server);
    return NULL;
}

int32_t view_server_port(const view_server *server) {
    return lines_port(server->lines);
}

void view_server_stop(view_server *server) {
    if (!server)
        return;
    lines_close(server->lines);
    free(server->address);
    free(server->token);
    free(server);
}
