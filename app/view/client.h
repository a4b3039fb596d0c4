/* A client of a session through a WebSocket. */
#ifndef BOUGH_APP_VIEW_CLIENT_H
#define BOUGH_APP_VIEW_CLIENT_H

#include "view.h"

/* Serves the one who sits there until one side has had enough: after `silence` seconds without a word. `rest`: what has
 * come behind the handshake. The seat is closed then, but is the caller's, as the socket is. */
void client_serve(view_seat *seat, int socket, double silence, const unsigned char *rest, size_t rest_size);

#endif
