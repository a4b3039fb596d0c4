/* Somebody who sits at a session of bough view, without sockets and without a screen. */
#ifndef TESTS_APP_VIEW_TABLE_H
#define TESTS_APP_VIEW_TABLE_H

#include "app/viewer.h"
#include "run/play.h"

#include "../../app/view/view.h"

/* A beam of three domains along x, held at x = 0. */
#define CHAIN(more)                                                                                              \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1.5, 0.1, 0.1], 'cells': "     \
    "[15, 1, 1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49 & x<1.01'}, 'c': "             \
    "{'elements': 'x>0.99'}}, 'material': {'young': 2e6, 'poisson': 0.3, 'density': 1000}, 'basis': {'r': 14}, " \
    "'samples': {'contact': 0, 'stress': 8}, 'fix': 'x0'}, 'time': {'dt': 0.002, 'duration': 0.1}" more "}"
#define HANGING CHAIN(", 'gravity': [0, 0, -1]")
#define STILL CHAIN(", 'gravity': [0, 0, 0]")
#define SIZE 1.5

typedef struct {
    bough_context *ctx;
    view_session *session;
    view_seat *seat;
    viewer seen;
    double dt;        /* of the scene's steps */
    json_t *said[16]; /* the last text of each kind */
    int frames;
    uint32_t coloured; /* by what, the last time */
    float colours[3];  /* of the parts */
    uint16_t *field;   /* shares of these, of all vertices; NULL: parts have one colour each */
    double coloured_at;
} table;

/* patience: s; 0: the session's own. */
static inline table sit_down_with(const char *scene, const char *engine, bool paused, double patience) {
    table t = {.ctx = test_context(1), .dt = 0.002};
    mkdir(test_path("recorded"), 0700);
    const view_session_def def = {.path = scene,
                                  .choice = {.engine = engine, .continuity = "C0"},
                                  .paused = paused,
                                  .patience = patience,
                                  .folder = test_path("recorded")};
    check_ok(t.ctx, view_session_create(t.ctx, &def, &t.session));
    t.seat = view_session_join(t.session);
    check(t.seat != NULL);
    return t;
}

static inline table sit_down(const char *scene, const char *engine, bool paused) {
    return sit_down_with(scene, engine, paused, 0);
}

static inline void leave(table *t) {
    view_session_leave(t->seat);
    view_session_destroy(t->session);
    viewer_drop(&t->seen);
    for (int i = 0; i < 16; i++)
        json_decref(t->said[i]);
    free(t->field);
    bough_context_destroy(t->ctx);
}

static inline json_t *said(const table *t, const char *what) {
    for (int i = 0; i < 16; i++)
        if (t->said[i] && !strcmp(json_string_value(json_object_get(t->said[i], "say")), what))
            return t->said[i];
    return NULL;
}

static inline void forget(table *t, const char *what) {
    for (int i = 0; i < 16; i++)
        if (t->said[i] && !strcmp(json_string_value(json_object_get(t->said[i], "say")), what))
            json_decref(t->said[i]), t->said[i] = NULL;
}

static inline void remember(table *t, json_t *object) {
    check(json_is_string(json_object_get(object, "say")));
    forget(t, json_string_value(json_object_get(object, "say")));
    int i = 0;
    while (t->said[i])
        i++;
    t->said[i] = object;
}

static inline void order(table *t, const char *text) {
    char copy[1024], reason[128];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const int code = view_seat_receive(t->seat, copy, strlen(copy), reason);
    if (code)
        fail_msg("%s: %d: %s", text, code, reason);
}

static inline void acknowledge(table *t) {
    char text[64];
    snprintf(text, sizeof text, "{'do': 'ack', 'frame': %u}", t->seen.frame);
    order(t, text);
}

static inline void take_colours(table *t, const unsigned char *bytes, size_t size) {
    const size_t parts = 4 * (size_t)t->seen.layers[0].part_count, field = size - 32 - parts;
    check(field == 0 || field == 2 * (size_t)t->seen.layers[0].vertex_count);
    t->coloured = word_at(bytes + 24);
    memcpy(&t->coloured_at, bytes + 16, sizeof t->coloured_at);
    check(parts <= sizeof t->colours);
    memcpy(t->colours, bytes + 32, parts);
    free(t->field);
    t->field = field ? malloc(field) : NULL;
    if (field)
        memcpy(t->field, bytes + 32 + parts, field);
}

/* One message, if there is one by then. */
static inline bool look(table *t, double seconds) {
    view_message *m = view_seat_next(t->seat, seconds);
    if (!m)
        return false;
    const uint32_t kind = m->text ? 0 : word_at(m->bytes);
    if (m->text)
        remember(t, json_loadb((const char *)m->bytes, m->size, 0, NULL));
    else if (kind == VIEW_STAGE)
        viewer_take_stage(&t->seen, m->bytes, m->size);
    else if (kind == VIEW_FRAME) {
        viewer_take_frame(&t->seen, m->bytes, m->size);
        t->frames++;
    } else if (kind == VIEW_COLOURS && word_at(m->bytes + 4) == t->seen.generation) {
        take_colours(t, m->bytes, m->size);
    } else
        check_int(kind, 0);
    view_message_drop(m);
    if (kind == VIEW_FRAME)
        acknowledge(t);
    return true;
}

/* Sanitizers make programs several times slower, and others may use the machine. */
#define look_until(t, condition)                                              \
    do {                                                                      \
        const double until_ = app_seconds() + 120;                            \
        while (!(condition)) {                                                \
            look(t, 0.1);                                                     \
            if (app_seconds() > until_)                                       \
                fail_msg("%s:%d: never: %s", __FILE__, __LINE__, #condition); \
        }                                                                     \
    } while (0)

static inline void steps(table *t, int count) {
    const double before = t->seen.layers[0].time;
    for (int k = 0; k < count; k++)
        order(t, "{'do': 'step'}");
    usleep((useconds_t)(1e6 * count / VIEW_RATE)); /* so that as many may be sent again */
    look_until(t, t->seen.layers[0].time > before + t->dt * (count - 0.5));
}

/* Nothing was complained of. */
static inline void check_silence(const table *t) {
    if (said(t, "error"))
        fail_msg("%s", json_string_value(json_object_get(said(t, "error"), "text")));
}

static inline double worst_difference(const float *a, const float *b, int32_t count) {
    double worst = 0;
    for (int32_t i = 0; i < 3 * count; i++)
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    return worst;
}

#endif
