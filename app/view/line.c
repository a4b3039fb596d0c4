#include "line.h"

#include "../app.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct line {
    lines *all;
    pthread_t thread;
    int socket;         /* -1: none */
    bool started, done; /* there is a thread; it has ended, and waits to be joined */
} line;

struct lines {
    line_serve *serve;
    void *data;
    int socket, bell[2]; /* listens; a byte for bell[0] ends it */
    int32_t port;
    pthread_t listener;
    bool listening;
    pthread_mutex_t lock; /* of what follows */
    bool stop;
    line line[LINE_COUNT];
};

/* ---- one line ---- */

/* Until there is something to read or to write; false: the time is over. */
static bool wait_for(int socket, short what, double until) {
    struct pollfd p = {.fd = socket, .events = what};
    for (;;) {
        const double left = until - app_seconds();
        const int ready = poll(&p, 1, left > 0 ? (int)ceil(1000 * fmin(left, 60)) : 0);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready > 0;
        if (left <= 0)
            return false;
    }
}

ssize_t line_receive(int socket, void *bytes, size_t size, double seconds) {
    const double until = app_seconds() + seconds;
    while (wait_for(socket, POLLIN, until)) {
        const ssize_t got = recv(socket, bytes, size, MSG_DONTWAIT);
        if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return got > 0 ? got : 0;
    }
    return -1;
}

bool line_send(int socket, const void *bytes, size_t size, double grace, bool *waited) {
    static const double least_rate = 1e5; /* bytes in a second */
    const double until = app_seconds() + grace + (double)size / least_rate;
    for (const char *at = bytes; size > 0;) {
        const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            at += sent, size -= (size_t)sent;
            continue;
        }
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return false;
        if (waited)
            *waited = true;
        if (!wait_for(socket, POLLOUT, until))
            return false;
    }
    return true;
}

void line_part(int socket) {
    const double until = app_seconds() + 1;
    char rest[4096];
    shutdown(socket, SHUT_WR);
    for (double left = 1; left > 0 && line_receive(socket, rest, sizeof rest, left) > 0; left = until - app_seconds())
        ;
}

/* ---- all lines ---- */

static void *serve_line(void *data) {
    line *one = data;
    lines *l = one->all;
    l->serve(l->data, one->socket);
    pthread_mutex_lock(&l->lock);
    close(one->socket);
    one->socket = -1, one->done = true;
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

bool line_start_thread(pthread_t *thread, void *(*run)(void *), void *data) {
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, LINE_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
    const bool started = pthread_create(thread, &attributes, run, data) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

/* Under the lock. Threads that have ended make place. */
static line *free_line(lines *l) {
    for (int i = 0; i < LINE_COUNT; i++) {
        line *one = &l->line[i];
        if (one->started && one->done)
            pthread_join(one->thread, NULL), one->started = false;
        if (!one->started)
            return one;
    }
    return NULL;
}

static void take_line(lines *l, int handle) {
    const int one = 1;
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    pthread_mutex_lock(&l->lock);
    line *place = l->stop ? NULL : free_line(l);
    if (place) {
        *place = (line){.all = l, .socket = handle};
        place->started = line_start_thread(&place->thread, serve_line, place);
    }
    const bool taken = place && place->started;
    pthread_mutex_unlock(&l->lock);
    if (!taken)
        close(handle);
}

static void *listen_all(void *data) {
    lines *l = data;
    struct pollfd p[2] = {{.fd = l->socket, .events = POLLIN}, {.fd = l->bell[0], .events = POLLIN}};
    while (poll(p, 2, -1) >= 0 || errno == EINTR) {
        if (p[1].revents)
            break;
        const int handle = p[0].revents ? accept4(l->socket, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (handle >= 0)
            take_line(l, handle);
        else if (p[0].revents)
            usleep(20000); /* no handles are left, for example: the one who waits is still there then */
    }
    return NULL;
}

static bool listen_at(lines *l, const char *address, int32_t port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof at;
    const int one = 1;
    l->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->socket < 0 || inet_pton(AF_INET, address, &at.sin_addr) != 1)
        return false;
    setsockopt(l->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one); /* else it is busy for a minute after each end */
    if (bind(l->socket, (const struct sockaddr *)&at, sizeof at) || listen(l->socket, 64) ||
        getsockname(l->socket, (struct sockaddr *)&at, &size) || pipe2(l->bell, O_CLOEXEC))
        return false;
    l->port = ntohs(at.sin_port);
    return true;
}

lines *lines_open(const char *address, int32_t port) {
    lines *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->socket = l->bell[0] = l->bell[1] = -1;
    pthread_mutex_init(&l->lock, NULL);
    if (listen_at(l, address, port))
        return l;
    lines_close(l);
    return NULL;
}

bool lines_start(lines *l, line_serve *serve, void *data) {
    l->serve = serve, l->data = data;
    l->listening = line_start_thread(&l->listener, listen_all, l);
    return l->listening;
}

int32_t lines_port(const lines *l) {
    return l->port;
}

void lines_close(lines *l) {
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    for (int i = 0; i < LINE_COUNT; i++)
        if (l->line[i].started && l->line[i].socket >= 0)
            shutdown(l->line[i].socket, SHUT_RDWR);
    pthread_mutex_unlock(&l->lock);
    if (l->listening && write(l->bell[1], "", 1) == 1)
        pthread_join(l->listener, NULL);
    for (int i = 0; i < LINE_COUNT; i++)
        if (l->line[i].started)
            pthread_join(l->line[i].thread, NULL);
    for (int i = 0; i < 2; i++)
        if (l->bell[i] >= 0)
            close(l->bell[i]);
    if (l->socket >= 0)
        close(l->socket);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
