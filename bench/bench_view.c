/* The cost of showing the oak: one client over a real socket, sixty frames a second. */
#include "tree_scene.h"

#include "../app/view/view.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP = 3, MEASURED = 20, MOST_FRAMES = 4096 }; /* s */
static const char token[] = "0123456789abcdef0123456789abcdef";

typedef struct {
    int line;
    double start; /* of what is measured */
    double end;   /* wall, s */
    size_t stage; /* bytes of it */
    double frames, bytes, texts, text_bytes, parts;
    double times[MOST_FRAMES]; /* between frames, s */
    double last;               /* wall, of a frame */
    double cpu;                /* of the client, s */
    bool failed;
} client;

static bool get(int line, void *bytes, size_t size) {
    for (char *at = bytes; size > 0;) {
        const ssize_t got = recv(line, at, size, 0);
        if (got <= 0)
            return false;
        at += got, size -= (size_t)got;
    }
    return true;
}

static bool open_socket(int32_t port, client *c) {
    char text[512];
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int size = snprintf(text, sizeof text,
                              "GET /socket?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
                              "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: bough.1\r\n\r\n",
                              token, (int)port);
    c->line = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(c->line, (const struct sockaddr *)&to, sizeof to) || send(c->line, text, (size_t)size, 0) != size)
        return false;
    for (size_t i = 0; i < sizeof text && get(c->line, text + i, 1); i++)
        if (i >= 3 && !memcmp(text + i - 3, "\r\n\r\n", 4))
            return !strncmp(text, "HTTP/1.1 101", 12);
    return false;
}

/* A text of less than 126 bytes, masked with zeros. */
static bool acknowledge(const client *c, uint32_t frame) {
    char message[64] = {(char)0x81};
    const int size = snprintf(message + 6, sizeof message - 6, "{\"do\": \"ack\", \"frame\": %u}", frame);
    message[1] = (char)(0x80 | size);
    return send(c->line, message, (size_t)size + 6, MSG_NOSIGNAL) > 0;
}

/* NULL: the line is dead. */
static unsigned char *hear(const client *c, size_t *size, bool *text) {
    unsigned char head[10];
    if (!get(c->line, head, 2))
        return NULL;
    const size_t length = head[1] & 127, more = length == 126 ? 2 : length == 127 ? 8 : 0;
    *size = more ? 0 : length, *text = (head[0] & 15) == 1;
    if (!get(c->line, head + 2, more))
        return NULL;
    for (size_t i = 0; i < more; i++)
        *size = *size << 8 | head[2 + i];
    unsigned char *bytes = malloc(*size + 1);
    if (bytes && get(c->line, bytes, *size))
        return bytes;
    free(bytes);
    return NULL;
}

static bool take(client *c, const unsigned char *bytes, size_t size, bool text, double now) {
    uint32_t kind = 0, frame = 0, parts = 0;
    if (!text)
        memcpy(&kind, bytes, sizeof kind);
    c->stage = kind == VIEW_STAGE ? size : c->stage;
    if (kind == VIEW_FRAME) {
        memcpy(&frame, bytes + 24, sizeof frame), memcpy(&parts, bytes + 32, sizeof parts);
        if (now >= c->start && c->frames < MOST_FRAMES) {
            c->times[(int)c->frames] = now - c->last;
            c->frames++, c->bytes += (double)size, c->parts += parts;
        }
        c->last = now;
        return acknowledge(c, frame);
    }
    if (text && now >= c->start)
        c->texts++, c->text_bytes += (double)size;
    return true;
}

static double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *look_on(void *data) {
    client *c = data;
    double cpu = NAN, now;
    while ((now = app_seconds()) < c->end && !app_interrupted()) {
        size_t size;
        bool text;
        if (isnan(cpu) && now >= c->start)
            cpu = thread_seconds();
        unsigned char *bytes = hear(c, &size, &text);
        if (!bytes || !take(c, bytes, size, text, app_seconds())) {
            c->failed = true;
            free(bytes);
            return NULL;
        }
        free(bytes);
    }
    c->cpu = thread_seconds() - cpu;
    return NULL;
}

typedef struct {
    client client;
    double load, client_load, real_time, step_us, step_us_99;
    int32_t parts;
} outcome;

/* load: CPU time of all threads except the client's, over one core. */
static bool measure(view_session *session, int32_t port, outcome *o) {
    pthread_t thread;
    client *c = &o->client;
    c->start = app_seconds() + WARM_UP, c->end = c->start + MEASURED;
    if (!open_socket(port, c) || pthread_create(&thread, NULL, look_on, c))
        return false;
    while (app_seconds() < c->start && !app_interrupted())
        usleep(10000);
    const double cpu = app_cpu_seconds(), wall = app_seconds(), time = view_session_look(session).time;
    while (app_seconds() < c->end && !app_interrupted())
        usleep(50000);
    const view_figures f = view_session_look(session);
    const double passed = app_seconds() - wall, used = app_cpu_seconds() - cpu;
    pthread_join(thread, NULL);
    close(c->line);
    o->client_load = c->cpu / passed;
    o->load = used / passed - o->client_load;
    o->real_time = (f.time - time) / passed;
    o->step_us = f.step_us, o->step_us_99 = f.step_us_99;
    return !c->failed && !app_interrupted();
}

static bool serve(bough_context *ctx, const char *path, outcome *o) {
    view_session *session;
    char reason[256];
    const view_session_def def = {.path = path, .choice = {.continuity = "C0"}};
    if (view_session_create(ctx, &def, &session)) {
        bench_fail(ctx);
        return false;
    }
    view_server *server =
        view_server_start(&(view_server_def){.session = session, .address = "127.0.0.1", .token = token, .folder = "."},
                          reason, sizeof reason);
    const bool good = server && measure(session, view_server_port(server), o);
    if (!server)
        app_fail_with("%s", reason);
    else if (!good && !app_interrupted())
        app_fail_with("the client was hung up on");
    view_server_stop(server);
    view_session_destroy(session);
    return good;
}

static void report(const outcome *o, double late) {
    const client *c = &o->client;
    printf("the oak, %d parts, looked at by one client for %d s; one thread for its steps\n", o->parts, (int)MEASURED);
    printf("stage                  %s\n", app_size_text((double)c->stage));
    printf("frames                 %.1f a second, %s each, %.0f parts in each\n", c->frames / MEASURED,
           app_size_text(c->bytes / c->frames), c->parts / c->frames);
    printf("bytes                  %.2f MB/s (required: less than 6)\n", (c->bytes + c->text_bytes) / MEASURED / 1e6);
    printf("between frames         %.1f ms (median), %.1f ms (99 %%)\n",
           1e3 * median_of((size_t)c->frames, (double *)c->times), late);
    printf("a step                 %.0f us (median), %.0f us (99 %%)\n", o->step_us, o->step_us_99);
    printf("real-time factor       %.3f\n", o->real_time);
    printf("server                 %.0f %% of one core (required: less than 50 %%); the client %.0f %%\n",
           100 * o->load, 100 * o->client_load);
}

static void report_json(const outcome *o, double late) {
    const client *c = &o->client;
    app_print_json(json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "scene", "oak", "parts",
                             (int)o->parts, "stage_bytes", (double)c->stage, "frames_per_second", c->frames / MEASURED,
                             "bytes_per_frame", c->bytes / c->frames, "bytes_per_second",
                             (c->bytes + c->text_bytes) / MEASURED, "parts_per_frame", c->parts / c->frames,
                             "frame_ms_99", late, "step_us_median", o->step_us, "step_us_99", o->step_us_99,
                             "real_time_factor", o->real_time, "load", o->load));
}

int bench_view(const bench_options *options) {
    bough_context *ctx = app_context(1);
    tree_scene s;
    outcome *o = calloc(1, sizeof *o);
    bool good = o && tree_scene_open(ctx, "oak", -1, &s);
    if (good) {
        o->parts = bough_tree_model_part_count(s.model);
        good = serve(ctx, s.path, o);
    }
    if (o)
        tree_scene_close(&s);
    if (good) {
        median_of((size_t)o->client.frames, o->client.times); /* sorts them */
        const double late = 1e3 * o->client.times[(int)(0.99 * (o->client.frames - 1))];
        (options->json ? report_json : report)(o, late);
    }
    free(o);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
