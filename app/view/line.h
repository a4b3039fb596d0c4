/* Sockets: a listener that serves each line on a thread of its own, and reading and writing with limited patience. */
#ifndef BOUGH_APP_VIEW_LINE_H
#define BOUGH_APP_VIEW_LINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    LINE_COUNT = 96,         /* served at once; further ones are hung up on */
    LINE_STACK = 256 * 1024, /* bytes, of a thread that serves a line or writes to it */
};

typedef struct lines lines;
/* Serves a line and says nothing more when it returns; the socket is closed then. */
typedef void line_serve(void *data, int socket);

/* address: "127.0.0.1"; port 0: any that is free. NULL: it cannot be listened there. */
lines *lines_open(const char *address, int32_t port);
/* Begins to serve; once. */
bool lines_start(lines *l, line_serve *serve, void *data);
int32_t lines_port(const lines *l);
/* Hangs up on all, and waits for their threads. */
void lines_close(lines *l);

/* 0: the other side has hung up; -1: the time is over. */
ssize_t line_receive(int socket, void *bytes, size_t size, double seconds);
/* Sends all of it, as long as the other side takes at least 100 kB in a second, after some seconds' grace. *waited (or
 * NULL): whether the other side was slower than we are. */
bool line_send(int socket, const void *bytes, size_t size, double grace, bool *waited);
/* Says that nothing more will come, and reads what is still under way for a second at most: with bytes unread the other
 * side would lose what was said to it last. */
void line_part(int socket);

/* With LINE_STACK bytes, and without the program's signals. */
bool line_start_thread(pthread_t *thread, void *(*run)(void *), void *data);

#endif
