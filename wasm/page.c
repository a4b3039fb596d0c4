/* The engine of a page that needs no server: the session of `bough view`, moved on by ticks, with one who looks on. The
 * worker of the page (viewer/page/worker.js) calls these functions; messages are those of docs/viewer-protocol.md. */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

/* What the worker calls. */
#define EXPORT(name) __attribute__((export_name(#name)))

static bough_context *ctx;
static view_session *session;
static view_seat *seat;
static view_message *message;
static char *sentence;

static void say(const char *text) {
    free(sentence);
    sentence = strdup(text);
}

/* Room for a text or a file, to be given back by bough_page_free(). */
EXPORT(bough_page_alloc) void *bough_page_alloc(size_t size) {
    return malloc(size);
}
EXPORT(bough_page_free) void bough_page_free(void *bytes) {
    free(bytes);
}

/* What was wrong with the last call; "" before the first failure. */
EXPORT(bough_page_message) const char *bough_page_message(void) {
    return sentence ? sentence : "";
}

/* Opens the scene; once. 0: it can be looked at. */
EXPORT(bough_page_open) int bough_page_open(const char *path, bool paused) {
    const view_session_def def = {.path = path, .choice = {.continuity = "C0"}, .paused = paused, .by_ticks = true};
    bough_context_def alone = bough_default_context_def();
    alone.takes_cooked = true; /* nobody here has changed anything since */
    ctx = bough_context_create(&alone);
    const bough_status status = ctx ? view_session_create(ctx, &def, &session) : BOUGH_ERROR_MEMORY;
    seat = status ? NULL : view_session_join(session);
    if (status || !seat)
        say(ctx ? bough_message(ctx) : "there is not enough memory");
    return seat ? 0 : 1;
}

EXPORT(bough_page_tick) void bough_page_tick(void) {
    view_session_tick(session);
}

/* The next message for the page: 0: there is none, 1: a text, 2: bytes. It stays until this is called again. */
EXPORT(bough_page_next) int bough_page_next(void) {
    view_message_drop(message);
    message = view_seat_next(seat, 0);
    return !message ? 0 : message->text ? 1 : 2;
}
EXPORT(bough_page_bytes) const void *bough_page_bytes(void) {
    return message->bytes;
}
EXPORT(bough_page_size) size_t bough_page_size(void) {
    return message->size;
}

/* Counts the steps so far. */
EXPORT(bough_page_steps) double bough_page_steps(void) {
    return (double)view_session_look(session).steps;
}

/* Tells the session what the page says. 0: it was understood. */
EXPORT(bough_page_say) int bough_page_say(const char *text, size_t size) {
    char reason[128];
    const int code = view_seat_receive(seat, text, size, reason);
    if (code)
        say(reason);
    return code;
}

/* ---- one world, no other files ---- */

bough_status view_open_file(bough_context *c, const char *path, const char *folder, char **scene, bool *at_rest) {
    (void)c, (void)folder;
    *at_rest = false;
    *scene = strdup(path);
    return *scene ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}
json_t *view_list_files(const char *path) {
    (void)path;
    return json_array();
}

/* ---- recordings: the page makes its own ---- */

bough_status view_recording_start(bough_context *c, const view_world *world, const char *folder, int32_t number,
                                  view_recording **recording) {
    (void)c, (void)world, (void)folder, (void)number;
    *recording = NULL;
    return BOUGH_ERROR_UNSUPPORTED;
}
bough_status view_recording_add(bough_context *c, const view_world *world, view_recording *recording) {
    (void)c, (void)world, (void)recording;
    return BOUGH_ERROR_UNSUPPORTED;
}
bough_status view_recording_finish(bough_context *c, view_recording *recording, json_t *names) {
    (void)c, (void)recording, (void)names;
    return BOUGH_ERROR_UNSUPPORTED;
}
void view_recording_discard(bough_context *c, view_recording *recording) {
    (void)c, (void)recording;
}
