/* Which file a session shows, and another one instead. All of it on the simulation's thread. */
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* The folder of "oak/scene.json", or the name of "oak.json". */
static char *name_of(const char *path) {
    char *copy = strdup(path), *name = NULL;
    if (!copy)
        return NULL;
    char *slash = strrchr(copy, '/'), *base = slash ? slash + 1 : copy, *dot = strrchr(base, '.');
    if (dot && dot != base)
        *dot = 0;
    if (slash && !strcmp(base, "scene")) {
        *slash = 0;
        base = strrchr(copy, '/') ? strrchr(copy, '/') + 1 : copy;
    }
    name = strdup(base);
    free(copy);
    return name;
}

void session_look_at_scene(view_session *s) {
    bough_scene_describe(s->ctx, s->worlds[0]->scene, &s->scene);
}

/* ---- paths ---- */

static const char *after_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The name that the file has in the list: below the folder of the first one. */
static char *name_in_list(const view_session *s, const char *path) {
    const size_t folder = (size_t)(after_folder(s->root) - s->root);
    return strdup(strncmp(path, s->root, folder) == 0 ? path + folder : after_folder(path));
}

bough_status session_take_path(view_session *s, const char *path, bool *at_rest) {
    char *scene = NULL;
    bough_status status = view_open_file(s->ctx, path, s->folder, &scene, at_rest);
    if (status)
        return status;
    char *name = name_of(path), *file = name_in_list(s, path);
    if (!name || !file) {
        free(scene), free(name), free(file);
        return BOUGH_ERROR_MEMORY;
    }
    free(s->path), free(s->name), free(s->file);
    s->path = scene, s->name = name, s->file = file;
    return BOUGH_OK;
}

/* ---- another file ---- */

typedef struct {
    char *path, *name, *file;
} shown_file;

/* Replaces the world that is shown, with everything saved and chosen in it. */
static void replace_world(view_session *s, view_world *made, bool at_rest) {
    if (s->recording)
        session_finish_recording(s, 0);
    session_drop_moments(s);
    session_drop_states(s);
    for (int k = 0; k < VIEW_LAYERS; k++) {
        view_world_destroy(s->ctx, s->worlds[k]);
        s->worlds[k] = NULL;
    }
    s->worlds[0] = made;
    s->has_wind = s->has_gravity = false;
    session_forget_steps(s);
    s->paused = at_rest;
    s->step_seconds = 0, s->retries = s->failures = 0, s->timed = 0;
    session_look_at_scene(s);
    session_hand_over(s);
    session_restart_clock(s);
}

/* Cooking what is missing takes as long as it takes; orders wait meanwhile. */
static bough_status open_path(view_session *s, const char *path) {
    const view_choice choice = {.continuity = "C0"};
    const shown_file before = {s->path, s->name, s->file};
    view_world *made = NULL;
    bool at_rest = false;
    s->path = s->name = s->file = NULL;
    bough_status status = session_take_path(s, path, &at_rest);
    if (!status)
        status = view_world_create(s->ctx, s->path, &choice, session_on_changes, s, &made);
    if (status) {
        free(s->path), free(s->name), free(s->file);
        s->path = before.path, s->name = before.name, s->file = before.file;
        return status;
    }
    free(before.path), free(before.name), free(before.file);
    replace_world(s, made, at_rest);
    return session_set_stage(s);
}

void session_open(view_session *s, uint64_t seat, const view_command *c) {
    const char *name = json_string_value(json_array_get(s->openable, c->number));
    char *path = NULL;
    if (!name) {
        session_complain(s, seat, false, "there is no file %u to be opened", c->number);
        return;
    }
    session_note(s, "opening %s; what is missing is cooked first", name);
    if (asprintf(&path, "%.*s%s", (int)(after_folder(s->root) - s->root), s->root, name) < 0)
        path = NULL;
    session_complain_if(s, seat, path ? open_path(s, path) : BOUGH_ERROR_MEMORY);
    free(path);
    session_say_settings(s);
    session_say_parts(s);
}
