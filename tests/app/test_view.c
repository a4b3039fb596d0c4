/* bough view over sockets: clients of all kinds, most of them bad. Whatever they do, the simulation goes on, memory
 * stays what it was, and a good client is served. */
#include "app/program.h"
#include "app/sockets.h"
#include "app/viewer.h"
#include "run/play.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#define SCENE                                                                                                    \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1.5, 0.1, 0.1], 'cells': "     \
    "[15, 1, 1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49 & x<1.01'}, 'c': "             \
    "{'elements': 'x>0.99'}}, 'material': {'young': 2e6, 'poisson': 0.3, 'density': 1000}, 'basis': {'r': 14}, " \
    "'samples': {'contact': 0, 'stress': 0}, 'fix': 'x0'}, 'time': {'dt': 0.002, 'duration': 0.1}, 'gravity': "  \
    "[0, 0, -1]}"

/* ---- the server ---- */

static struct {
    pid_t process;
    int port;
    char token[64];
} server;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for_address(void) {
    const double until = now() + 120;
    json_t *told = NULL;
    while (!told) {
        char line[1024];
        check(now() < until && waitpid(server.process, NULL, WNOHANG) == 0);
        usleep(20000);
        slurp(test_path("stdout"), line, sizeof line);
        told = strchr(line, '\n') ? json_loads(line, 0, NULL) : NULL;
    }
    server.port = (int)number(told, "port");
    snprintf(server.token, sizeof server.token, "%s", text(told, "token"));
    check(strstr(text(told, "url"), server.token) && strlen(server.token) == 32);
    json_decref(told);
}

/* AddressSanitizer keeps 256 MB of what was freed, for all that tests can see in use. */
static void keep_little(void) {
    const char *before = getenv("ASAN_OPTIONS");
    char options[512];
    snprintf(options, sizeof options, "%s:quarantine_size_mb=1:thread_local_quarantine_size_kb=64",
             before ? before : "");
    setenv("ASAN_OPTIONS", options, 1);
}

static int start_server(void **state) {
    (void)state;
    keep_little();
    write_scene("chain.json", SCENE);
    mkdir(test_path("page"), 0700);
    mkdir(test_path("page/parts"), 0700);
    test_write_text(test_path("page/index.html"), "<html><script type=\"module\" src=\"parts/a.js\"></script></html>");
    test_write_text(test_path("page/parts/a.js"), "export const a = 1;\n");
    test_write_text(test_path("page/.hidden.js"), "secret\n");
    test_write_text(test_path("page/notes.txt"), "secret\n");
    test_write_text(test_path("secret.js"), "secret\n");
    if (symlink(test_path("secret.js"), test_path("page/link.js")) != 0)
        check_int(errno, EEXIST);
    char scene[512], page[512];
    snprintf(scene, sizeof scene, "%s", test_path("chain.json"));
    snprintf(page, sizeof page, "%s", test_path("page"));
    server.process =
        start_with_output(WORDS("view", scene, "--json", "--threads", "1", "--viewer", page), test_path("stdout"));
    wait_for_address();
    return 0;
}

/* A test, since cmocka counts no failures of what is done after tests. */
static void the_server_ends_in_order(void **state) {
    (void)state;
    kill(server.process, SIGINT);
    const int status = finish(server.process);
    if (status)
        fail_msg("it ended with %d: %s", status, err);
}

static long resident_kb(void) {
    char path[64], line[256];
    long kb = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)server.process);
    FILE *f = fopen(path, "r");
    check(f != NULL);
    while (fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %ld", &kb);
    fclose(f);
    return kb;
}

/* Files and lines that the server holds. */
static int open_handles(void) {
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)server.process);
    DIR *folder = opendir(path);
    check(folder != NULL);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2; /* "." and ".." */
}

/* ---- sockets ---- */

static int dial(void) {
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)server.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int line = socket(AF_INET, SOCK_STREAM, 0);
    const struct timeval patience = {.tv_sec = 20};
    setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(line, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    check(line >= 0 && connect(line, (const struct sockaddr *)&to, sizeof to) == 0);
    return line;
}

/* The status of the answer, and all of it in `out`; 0: none. last_error: 0 where the line ended in order. */
static int last_error;
static int ask(const char *request) {
    const int line = dial();
    size_t size = 0;
    int status = 0;
    put(line, request, strlen(request));
    ssize_t got = 0;
    while (size < sizeof out - 1 && (got = recv(line, out + size, sizeof out - 1 - size, 0)) > 0)
        size += (size_t)got;
    last_error = got < 0 ? errno : 0;
    out[size] = 0;
    close(line);
    sscanf(out, "HTTP/1.1 %d", &status);
    return status;
}

static int fetch_with(const char *method, const char *path, const char *host, const char *more) {
    char request[2048], own[64];
    snprintf(own, sizeof own, "127.0.0.1:%d", server.port);
    snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method, path, host ? host : own,
             more ? more : "");
    return ask(request);
}

static int fetch(const char *path) {
    return fetch_with("GET", path, NULL, NULL);
}

/* ---- WebSockets ---- */

typedef struct {
    int line;
    viewer seen;
    int frames, code; /* code: with which it was closed */
    char reason[126]; /* why */
    json_t *last;     /* text */
} client;

#define UPGRADE                                                                                    \
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: bough.1\r\n"

/* Up to the end of the head. */
static int open_socket(const char *token, const char *host, const char *more, client *c) {
    char request[2048], own[64], head[4096];
    size_t size = 0;
    int status = 0;
    *c = (client){.line = dial()};
    snprintf(own, sizeof own, "127.0.0.1:%d", server.port);
    snprintf(request, sizeof request, "GET /socket?token=%s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n", token, host ? host : own,
             UPGRADE, more ? more : "");
    put(c->line, request, strlen(request));
    for (head[0] = 0; size < sizeof head - 1 && !strstr(head, "\r\n\r\n") && get(c->line, head + size, 1);)
        head[++size] = 0;
    sscanf(head, "HTTP/1.1 %d", &status);
    return status;
}

static void hang_up(client *c) {
    close(c->line);
    viewer_drop(&c->seen);
    json_decref(c->last);
    *c = (client){.line = -1};
}

/* Others may be about to leave. */
static void come_in(client *c) {
    const double until = now() + 10;
    int status;
    while ((status = open_socket(server.token, NULL, NULL, c)) == 503 && now() < until) {
        hang_up(c);
        usleep(5000);
    }
    check_int(status, 101);
}

static bool put_frame(const client *c, int first, const void *bytes, size_t size) {
    return send_frame(c->line, first, true, bytes, size);
}

static bool tell(const client *c, const char *words) {
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return put_frame(c, FINAL | TEXT, copy, strlen(copy));
}

static void take(client *c, int kind, unsigned char *bytes, size_t size) {
    char words[64];
    if (kind == TEXT) {
        json_decref(c->last);
        check((c->last = json_loadb((const char *)bytes, size, 0, NULL)) != NULL);
    } else if (kind == CLOSE) {
        c->code = size >= 2 ? bytes[0] << 8 | bytes[1] : 1005;
        snprintf(c->reason, sizeof c->reason, "%.*s", size > 2 ? (int)size - 2 : 0, (const char *)bytes + 2);
    } else if (kind == BINARY && word_at(bytes) == 1)
        viewer_take_stage(&c->seen, bytes, size);
    else if (kind == BINARY && word_at(bytes) == 2) {
        viewer_take_frame(&c->seen, bytes, size);
        c->frames++;
        snprintf(words, sizeof words, "{'do': 'ack', 'frame': %u}", c->seen.frame);
        tell(c, words);
    }
}

/* One message; its kind, or 0: the other side has hung up. */
static int hear(client *c) {
    unsigned char head[10];
    if (!get(c->line, head, 2))
        return 0;
    check(!(head[1] & 0x80)); /* servers do not mask */
    uint64_t size = head[1] & 127;
    const int more = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (!get(c->line, head + 2, (size_t)more))
        return 0;
    for (int i = 0; i < more; i++)
        size = (i ? size << 8 : 0) | head[2 + i];
    unsigned char *bytes = malloc(size + 1);
    const int kind = get(c->line, bytes, size) ? head[0] & 15 : 0;
    if (kind)
        take(c, kind, bytes, size);
    free(bytes);
    return kind;
}

/* Hears until it is hung up on; the code, or 0. */
static int hear_the_end(client *c) {
    while (hear(c) != 0)
        ;
    return c->code;
}

/* A good client: gets the stage, frames whose time goes on, and moves something. */
static void check_good_client(void) {
    client c;
    come_in(&c);
    const double until = now() + 20;
    while (c.frames < 2 && now() < until)
        check(hear(&c));
    check_int(c.seen.layers[0].part_count, 3);
    const double time = c.seen.layers[0].time;
    while (c.seen.layers[0].time < time + 0.1 && now() < until)
        check(hear(&c));
    check(c.seen.layers[0].time >= time + 0.1);
    check(tell(&c, "{'do': 'pick', 'part': 1}"));
    while (!(c.last && !strcmp(text(c.last, "say"), "pick")) && now() < until)
        check(hear(&c));
    check(!strcmp(text(c.last, "name"), "b"));
    hang_up(&c);
}

/* ---- HTTP ---- */

static void pages_need_the_token(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "/?token=%s", server.token);
    check_int(fetch(path), 200);
    check(strstr(out, "<script type=\"module\" src=\"parts/a.js\">"));
    check(strstr(out, "Content-Security-Policy: default-src 'none'") && strstr(out, "X-Content-Type-Options: nosniff"));
    check(strstr(out, "X-Frame-Options: DENY") && strstr(out, "frame-ancestors 'none'"));
    check(strstr(out, "Cache-Control: no-store"));
    check_int(fetch("/"), 403);
    check_int(fetch("/index.html"), 403);
    check_int(fetch("/?token="), 403);
    check_int(fetch("/?token=00000000000000000000000000000000"), 403);
    snprintf(path, sizeof path, "/?token=%.31s", server.token);
    check_int(fetch(path), 403);
    snprintf(path, sizeof path, "/?token=%s0", server.token);
    check_int(fetch(path), 403);
    snprintf(path, sizeof path, "/recordings/recording-1.csv?token=%s", server.token);
    check_int(fetch(path), 404);
    check_int(fetch("/recordings/recording-1.csv"), 403);
}

/* Scripts are served, and nothing else: however it is spelt. */
static void only_the_viewers_files_are_served(void **state) {
    (void)state;
    static const char *const others[] = {
        "/parts",
        "/parts/",
        "/parts/b.js",
        "/.hidden.js",
        "/notes.txt",
        "/link.js",
        "/../secret.js",
        "/parts/../../secret.js",
        "/%2e%2e/secret.js",
        "/..%2fsecret.js",
        "/parts/%2e%2e/%2e%2e/secret.js",
        "/..\\secret.js",
        "//etc/passwd",
        "/parts/..%00/a.js",
        "/parts//a.js",
        "/%2fetc%2fpasswd",
        "/etc/passwd",
    };
    check_int(fetch("/parts/a.js"), 200);
    check(strstr(out, "text/javascript") && strstr(out, "export const a"));
    check_int(fetch_with("HEAD", "/parts/a.js", NULL, NULL), 200);
    check(!strstr(out, "export"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const int status = fetch(others[i]);
        if (strstr(out, "secret\n") || strstr(out, "root:") || status != 404)
            fail_msg("%s: %d: %.200s", others[i], status, out);
    }
    check_int(fetch_with("POST", "/parts/a.js", NULL, "Content-Length: 0\r\n"), 405);
    check_int(fetch_with("PUT", "/parts/a.js", NULL, "Content-Length: 0\r\n"), 405);
    check_int(fetch_with("DELETE", "/parts/a.js", NULL, NULL), 405);
}

/* A request that is too long is answered and the connection closed in order, however much of it was never read; so is
 * one that is no request. */
static void long_and_odd_requests_are_told(void **state) {
    (void)state;
    enum { LONG = 100000 };
    char *request = malloc(LONG + 1);
    check(request != NULL);
    memset(request, 'x', LONG);
    request[LONG] = 0;
    memcpy(request, "GET / HTTP/1.1\r\nX: ", 19);
    check_int(ask(request), 431);
    check_int(last_error, 0);
    check_int(ask("these are words\r\n\r\n"), 400);
    check_int(ask("GET / HTTP/1.1\r\nno header\r\n\r\n"), 400);
    check_int(last_error, 0);
    free(request);
    check_good_client();
}

static void others_hosts_are_refused(void **state) {
    (void)state;
    char own[64], more[128];
    snprintf(own, sizeof own, "localhost:%d", server.port);
    check_int(fetch_with("GET", "/parts/a.js", own, NULL), 200);
    static const char *const hosts[] = {"evil.example", "127.0.0.1", "127.0.0.1:1", "", "127.0.0.1.evil.example:80"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        check_int(fetch_with("GET", "/parts/a.js", hosts[i], NULL) == 200, false);
    snprintf(own, sizeof own, "evil.example:%d", server.port);
    check_int(fetch_with("GET", "/parts/a.js", own, NULL), 403);
    client c;
    check_int(open_socket(server.token, own, NULL, &c), 403);
    hang_up(&c);
    check_int(open_socket(server.token, NULL, "Origin: http://evil.example\r\n", &c), 403);
    hang_up(&c);
    check_int(open_socket(server.token, NULL, "Origin: null\r\n", &c), 403);
    hang_up(&c);
    snprintf(more, sizeof more, "Origin: http://127.0.0.1:%d\r\n", server.port);
    check_int(open_socket(server.token, NULL, more, &c), 101);
    hang_up(&c);
    check_int(open_socket("", NULL, NULL, &c), 403);
    hang_up(&c);
    check_int(open_socket("0123456789abcdef0123456789abcdef", NULL, NULL, &c), 403);
    hang_up(&c);
    check_good_client();
}

/* ---- bad clients ---- */

typedef struct {
    const char *what;
    int code; /* with which it is shown out */
    int first;
    const char *bytes;
    size_t size;
} mischief;

static void bad_frames_are_refused(void **state) {
    (void)state;
    static char large[200000], nested[550];
    memset(large, ' ', sizeof large);
    memset(nested, '[', sizeof nested);
    const mischief all[] = {
        {"binary", 1003, FINAL | BINARY, "abc", 3},
        {"too large", 1009, FINAL | TEXT, large, 5000},
        {"much too large", 1009, FINAL | TEXT, large, sizeof large},
        {"nested", 1008, FINAL | TEXT, nested, sizeof nested},
        {"a long ping", 1002, FINAL | PING, large, 126},
        {"a ping in pieces", 1002, PING, "x", 1},
        {"no JSON", 1008, FINAL | TEXT, "hello", 5},
        {"nothing", 1008, FINAL | TEXT, "", 0},
        {"no UTF-8", 1008, FINAL | TEXT, "{\"do\": \"\xff\xfe\"}", 13},
        {"zeros", 1008, FINAL | TEXT, "\0\0\0\0", 4},
        {"reserved bits", 1002, FINAL | 0x40 | TEXT, "{\"do\": \"pause\"}", 15},
        {"unknown kind", 1002, FINAL | 5, "x", 1},
        {"continuation of nothing", 1002, FINAL | 0, "x", 1},
        {"not a number", 1008, FINAL | TEXT, "{\"do\": \"dt\", \"seconds\": NaN}", 28},
        {"endless number", 1008, FINAL | TEXT, "{\"do\": \"dt\", \"seconds\": 1e999}", 30},
        {"wrong kind", 1008, FINAL | TEXT, "{\"do\": \"cut\", \"part\": \"1\"}", 26},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        client c;
        come_in(&c);
        put_frame(&c, all[i].first, all[i].bytes, all[i].size);
        const int code = hear_the_end(&c);
        if (code != all[i].code)
            fail_msg("%s: closed with %d, not %d", all[i].what, code, all[i].code);
        if (i == 0 ? strcmp(c.reason, "commands are texts") != 0 : !c.reason[0])
            fail_msg("%s: closed because \"%s\"", all[i].what, c.reason);
        hang_up(&c);
    }
    check_good_client();
}

/* A frame is refused by its head: nobody waits for its bytes, and none is kept. */
static void heads_are_judged_before_their_bytes(void **state) {
    (void)state;
    enum { CLIENTS = 8 };
    static const struct {
        const char *what;
        unsigned char bytes[16];
        size_t size;
        int code;
    } all[] = {{"2 GB", {FINAL | TEXT, 0xff, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5}, 15, 1009},
               {"1 MB", {FINAL | TEXT, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0, 1, 2, 3, 4}, 14, 1009},
               {"too large with others", {TEXT, 0xfe, 0x10, 0x01, 1, 2, 3, 4}, 8, 1009},
               {"unmasked", {FINAL | TEXT, 15}, 2, 1002},
               {"a length in too many bytes", {FINAL | TEXT, 0xfe, 0, 15, 1, 2, 3, 4}, 8, 1002},
               {"a length without end", {FINAL | TEXT, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, 14, 1002}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        client clients[CLIENTS];
        for (int k = 0; k < CLIENTS; k++) {
            come_in(&clients[k]);
            put(clients[k].line, all[i].bytes, all[i].size);
        }
        for (int k = 0; k < CLIENTS; k++) {
            const int code = hear_the_end(&clients[k]);
            if (code != all[i].code)
                fail_msg("%s: closed with %d, not %d", all[i].what, code, all[i].code);
            hang_up(&clients[k]);
        }
    }
}

/* The bytes of a refused message are not kept: the server's memory stays as it was. */
static void large_frames_take_no_memory(void **state) {
    (void)state;
    static char bytes[1 << 20];
    const unsigned char head[] = {FINAL | TEXT, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4};
    client clients[8];
    check_good_client();
    const long before = resident_kb();
    for (int k = 0; k < 8; k++) {
        come_in(&clients[k]);
        put(clients[k].line, head, sizeof head);
        for (int i = 0; i < 16 && put(clients[k].line, bytes, sizeof bytes); i++)
            ;
        check_below((double)(resident_kb() - before), 16000);
    }
    for (int k = 0; k < 8; k++)
        hang_up(&clients[k]);
    check_good_client();
}

/* However little each brings. */
static void pieces_are_counted(void **state) {
    (void)state;
    client c;
    come_in(&c);
    put_frame(&c, TEXT, "", 0);
    for (int i = 0; i < 200 && put_frame(&c, 0, "", 0); i++)
        ;
    check_int(hear_the_end(&c), 1008);
    hang_up(&c);
}

/* A text in pieces is a text; too large in pieces is too large. */
static void pieces_are_put_together(void **state) {
    (void)state;
    client c;
    const double until = now() + 20;
    static char blank[3000];
    come_in(&c);
    put_frame(&c, TEXT, "{\"do\": \"pi", 10);
    put_frame(&c, FINAL | PING, "x", 1); /* between pieces, as is allowed */
    put_frame(&c, 0, "ck\", \"par", 9);
    put_frame(&c, FINAL | 0, "t\": 2}", 6);
    bool answered = false;
    while (!(c.last && !strcmp(text(c.last, "say"), "pick")) && now() < until) {
        const int kind = hear(&c);
        check(kind);
        answered |= kind == PONG;
    }
    check(answered && !strcmp(text(c.last, "name"), "c"));
    memset(blank, ' ', sizeof blank);
    put_frame(&c, TEXT, blank, sizeof blank);
    put_frame(&c, FINAL | 0, blank, sizeof blank);
    check_int(hear_the_end(&c), 1009);
    hang_up(&c);
}

static void floods_end(void **state) {
    (void)state;
    client c;
    come_in(&c);
    for (int i = 0; i < 3000 && tell(&c, "{'do': 'gravity', 'acceleration': [0, 0, -1]}"); i++)
        ;
    check_int(hear_the_end(&c) == 0 || c.code == 1008, true); /* or it is gone before the reason is read */
    hang_up(&c);
    check_good_client();
}

static uint64_t random_state = 3;
static unsigned char random_byte(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned char)(random_state >> 56);
}

/* Random bytes instead of requests and of frames, and requests that break off. */
static void noise_is_survived(void **state) {
    (void)state;
    for (int k = 0; k < 40; k++) {
        unsigned char noise[600];
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = random_byte();
        if (k % 2) {
            const int line = dial();
            put(line, noise, sizeof noise);
            close(line);
        } else {
            client c;
            if (open_socket(server.token, NULL, NULL, &c) == 101) {
                noise[1] |= 0x80, noise[1] &= (unsigned char)~1u; /* no length that takes long to send */
                put(c.line, noise, sizeof noise);
                shutdown(c.line, SHUT_WR);
            }
            hang_up(&c);
        }
    }
    client c;
    come_in(&c);
    const unsigned char half[] = {FINAL | TEXT, 0x80 | 126, 0x0f}; /* a head that breaks off */
    put(c.line, half, sizeof half);
    hang_up(&c);
    come_in(&c);
    const unsigned char huge[] = {FINAL | TEXT, 0x80 | 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff,
                                  0xff,         0xff,       1,    2,    3,    4,    5};
    put(c.line, huge, sizeof huge);
    hear_the_end(&c); /* without waiting for all of it */
    hang_up(&c);
    check_good_client();
}

/* Who never reads keeps a seat, but holds up nobody. */
static void sleepers_hold_up_nobody(void **state) {
    (void)state;
    client sleepers[4];
    const long before = resident_kb();
    for (int i = 0; i < 4; i++) {
        come_in(&sleepers[i]);
        const int small = 4096;
        setsockopt(sleepers[i].line, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        for (int k = 1; k < 400; k++) { /* they say that they draw */
            char words[64];
            snprintf(words, sizeof words, "{'do': 'ack', 'frame': %d}", k);
            tell(&sleepers[i], words);
        }
    }
    client awake;
    come_in(&awake);
    while (awake.frames < 150)
        check(hear(&awake));
    hang_up(&awake);
    check_good_client();
    check_below((double)(resident_kb() - before), 16000);
    for (int i = 0; i < 4; i++)
        hang_up(&sleepers[i]);
}

/* Who asks to be let in with words that are no good is refused, and takes nobody's seat. */
static void seats_are_given_back(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        char request[512];
        snprintf(request, sizeof request,
                 "GET /socket?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
                 "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n",
                 server.token, server.port,
                 i % 2 ? "Sec-WebSocket-Version: 1\r\n"
                       : "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: other\r\n");
        const int line = dial();
        put(line, request, strlen(request));
        close(line);
    }
    client all[8];
    for (int i = 0; i < 8; i++)
        come_in(&all[i]);
    for (int i = 0; i < 8; i++)
        hang_up(&all[i]);
    check_good_client();
}

/* Fifty who connect: eight are let in, the others are told; those who only hold the line keep nobody out. */
static void crowds_are_survived(void **state) {
    (void)state;
    enum { CROWD = 50, SEATS = 8 };
    client crowd[CROWD];
    int lines[CROWD], refused = 0;
    for (int i = 0; i < SEATS; i++)
        come_in(&crowd[i]);
    for (int i = SEATS; i < CROWD; i++)
        refused += open_socket(server.token, NULL, NULL, &crowd[i]) == 503;
    for (int i = 0; i < CROWD; i++)
        hang_up(&crowd[i]);
    check_int(refused, CROWD - SEATS);
    for (int i = 0; i < CROWD; i++)
        lines[i] = dial();
    const double until = now() + 20;
    while (open_handles() < CROWD) {
        check(now() < until);
        usleep(5000);
    }
    check_good_client();
    for (int i = 0; i < CROWD; i++)
        close(lines[i]);
}

/* All of it again and again: memory stays what it was. */
static void memory_is_flat(void **state) {
    (void)state;
    client c;
    long before = 0;
    for (int round = 0; round < 12; round++) {
        bad_frames_are_refused(NULL);
        noise_is_survived(NULL);
        for (int i = 0; i < 10; i++) {
            come_in(&c);
            tell(&c, i % 2 ? "{'do': 'continuity', 'name': 'C1'}" : "{'do': 'continuity', 'name': 'C0'}");
            tell(&c, "{'do': 'reset'}");
            while (c.frames < 1)
                check(hear(&c));
            hang_up(&c);
        }
        if (round == 3)
            before = resident_kb();
    }
    const long after = resident_kb();
    print_message("resident: %ld kB, then %ld kB\n", before, after);
    check_below((double)(after - before), 3000);
    check_good_client();
}

static void recordings_are_fetched(void **state) {
    (void)state;
    client c;
    char path[160];
    const double until = now() + 30;
    come_in(&c);
    tell(&c, "{'do': 'record', 'on': true}");
    while (c.frames < 30)
        check(hear(&c));
    tell(&c, "{'do': 'record', 'on': false}");
    while (!(c.last && !strcmp(text(c.last, "say"), "recorded")) && now() < until)
        check(hear(&c));
    snprintf(path, sizeof path, "/recordings/recording-1.csv?token=%s", server.token);
    check_int(fetch(path), 200);
    check(strstr(out, "text/csv") && strstr(out, "\r\n\r\ntime,elastic,"));
    check_int(fetch("/recordings/recording-1.csv"), 403);
    snprintf(path, sizeof path, "/recordings/../chain.json?token=%s", server.token);
    check(fetch(path) != 200);
    hang_up(&c);
}

/* ---- the command ---- */

static void mistakes_are_told(void **state) {
    (void)state;
    char scene[512];
    snprintf(scene, sizeof scene, "%s", test_path("chain.json"));
    check_mistake(2, "name a scene file", "view");
    check_mistake(2, "--token", "view", scene, "--listen", "0.0.0.0");
    check_mistake(2, "at least 16", "view", scene, "--token", "short");
    check_mistake(2, "--listen", "view", scene, "--listen", "everywhere", "--token", "0123456789abcdef");
    check_mistake(2, "--listen", "view", scene, "--listen", "999.1.1.1", "--token", "0123456789abcdef");
    check_mistake(2, "--port", "view", scene, "--port", "99999");
    check_mistake(2, "--engine", "view", scene, "--engine", "steam");
    check_mistake(1, "nowhere.json", "view", "nowhere.json");
}

/* A port that somebody listens at is told of, and Ctrl-C leaves nothing behind. */
static void it_ends_as_it_should(void **state) {
    (void)state;
    char port[16], scene[512];
    setenv("TMPDIR", work(""), 1);
    start_server(NULL);
    const int files = file_count();
    snprintf(port, sizeof port, "%d", server.port);
    snprintf(scene, sizeof scene, "%s", test_path("chain.json"));
    check_good_client();
    the_server_ends_in_order(NULL);
    check_int(file_count(), files - 1);
    start_server(NULL);
    snprintf(port, sizeof port, "%d", server.port);
    const pid_t first = server.process;
    server.process = start_with_output(WORDS("view", scene, "--port", port, "--no-browser"), test_path("stdout2"));
    int status;
    check(waitpid(server.process, &status, 0) == server.process);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    server.process = first;
    kill(server.process, SIGTERM);
    check_int(finish(server.process), 0);
    check_int(file_count(), files - 1);
    unsetenv("TMPDIR");
}

/* While it cooks it cannot end at once: a second Ctrl-C removes its folder all the same. What was killed leaves its
 * folder to the next one. */
static void nothing_stays_behind(void **state) {
    (void)state;
    char left[600], other[600];
    setenv("TMPDIR", work(""), 1);
    start_server(NULL);
    const int files = file_count();
    kill(server.process, SIGSTOP); /* so that both signals are there before it can end by itself */
    kill(server.process, SIGINT);
    kill(server.process, SIGCONT);
    kill(server.process, SIGINT);
    int status;
    check(waitpid(server.process, &status, 0) == server.process);
    check_int(file_count(), files - 1);
    start_server(NULL);
    kill(server.process, SIGKILL);
    check(waitpid(server.process, &status, 0) == server.process);
    check_int(file_count(), files);
    snprintf(left, sizeof left, "%s/bough-view-%ld-abcdef", work(""), (long)getpid()); /* of somebody who lives */
    snprintf(other, sizeof other, "%s/bough-view-mine", work(""));
    check(mkdir(left, 0700) == 0 && mkdir(other, 0700) == 0);
    start_server(NULL);
    check_int(file_count(), files + 2);
    the_server_ends_in_order(NULL);
    check(access(left, F_OK) == 0 && access(other, F_OK) == 0);
    check(rmdir(left) == 0 && rmdir(other) == 0);
    check_int(file_count(), files - 1);
    unsetenv("TMPDIR");
}

/* It is told before anything is cooked. */
static void a_busy_port_is_told_at_once(void **state) {
    (void)state;
    char port[16], fresh[512];
    start_server(NULL);
    snprintf(port, sizeof port, "%d", server.port);
    snprintf(fresh, sizeof fresh, "%s", write_scene("fresh.json", SCENE));
    check_mistake(1, "choose another --port", "view", fresh, "--port", port, "--no-browser");
    check(access(test_path("fresh.cooked"), F_OK) != 0);
    the_server_ends_in_order(NULL);
}

int main(void) {
    const struct CMUnitTest served[] = {
        cmocka_unit_test(pages_need_the_token),
        cmocka_unit_test(only_the_viewers_files_are_served),
        cmocka_unit_test(long_and_odd_requests_are_told),
        cmocka_unit_test(others_hosts_are_refused),
        cmocka_unit_test(bad_frames_are_refused),
        cmocka_unit_test(heads_are_judged_before_their_bytes),
        cmocka_unit_test(large_frames_take_no_memory),
        cmocka_unit_test(pieces_are_counted),
        cmocka_unit_test(pieces_are_put_together),
        cmocka_unit_test(floods_end),
        cmocka_unit_test(noise_is_survived),
        cmocka_unit_test(sleepers_hold_up_nobody),
        cmocka_unit_test(seats_are_given_back),
        cmocka_unit_test(crowds_are_survived),
        cmocka_unit_test(recordings_are_fetched),
        cmocka_unit_test(memory_is_flat),
        cmocka_unit_test(the_server_ends_in_order),
    };
    const struct CMUnitTest alone[] = {
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(it_ends_as_it_should),
        cmocka_unit_test(nothing_stays_behind),
        cmocka_unit_test(a_busy_port_is_told_at_once),
    };
    const int failed = cmocka_run_group_tests(served, start_server, NULL);
    return failed + cmocka_run_group_tests(alone, NULL, NULL);
}
