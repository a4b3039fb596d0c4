/* Scenes in texts, and runs of them. */
#ifndef TESTS_RUN_PLAY_H
#define TESTS_RUN_PLAY_H

#include "test.h"

#include <bough/run.h>

/* Texts are written with ' for ". */
static inline const char *write_scene(const char *name, const char *text) {
    const char *path = test_path(name);
    char *copy = strdup(text);
    check(copy != NULL);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    test_write_text(path, copy);
    free(copy);
    return path;
}

typedef struct {
    bough_scene *scene;
    bough_run *run;
} play;

static inline play begin_file(bough_context *ctx, const char *path, const bough_run_def *def) {
    play p;
    check_ok(ctx, bough_scene_load(ctx, path, &p.scene));
    check_ok(ctx, bough_run_create(ctx, p.scene, def, &p.run));
    return p;
}

static inline void end(bough_context *ctx, play *p) {
    bough_run_destroy(ctx, p->run);
    bough_scene_destroy(ctx, p->scene);
}

/* The surface of a rigid thing, in its own axes, and where it is now. */
static inline const bough_look *look_of(const play *p, int32_t thing) {
    return bough_run_thing_look(p->run, bough_run_thing(p->run, thing)->look);
}

static inline bough_frame frame_of(const play *p, int32_t thing) {
    bough_thing_state now;
    check(bough_run_thing_state(p->run, thing, &now));
    return now.frame;
}

static inline double value(const play *p, const char *column) {
    for (int32_t c = 0; c < bough_run_column_count(p->run); c++)
        if (!strcmp(bough_run_column_name(p->run, c), column))
            return bough_run_values(p->run)[c];
    fail_msg("there is no column %s", column);
    return NAN;
}

#endif
