/* Mechanisms from files, and their links by name. */
#include "app.h"

#include <stdlib.h>
#include <string.h>

static int load_scene(bough_context *ctx, const char *path, const char *dynamics, app_mechanism *m) {
    if (dynamics)
        return app_fail_with("--dynamics is for .urdf files; a scene names its own by \"dynamics\"");
    if (bough_scene_load(ctx, path, &m->scene))
        return app_fail(ctx);
    m->mechanism = bough_scene_mechanism(m->scene);
    return m->mechanism ? APP_OK : app_fail_with("%s: is a scene without links; a mechanism has some", path);
}

int app_mechanism_load(bough_context *ctx, const char *path, const char *dynamics, app_mechanism *m) {
    *m = (app_mechanism){0};
    if (!app_has_extension(path, ".urdf"))
        return load_scene(ctx, path, dynamics, m);
    bough_urdf_def def = bough_default_urdf_def();
    def.dynamics = dynamics;
    if (bough_mechanism_load_urdf(ctx, path, &def, &m->urdf))
        return app_fail(ctx);
    m->mechanism = m->urdf->mechanism;
    return APP_OK;
}

void app_mechanism_free(bough_context *ctx, app_mechanism *m) {
    bough_urdf_destroy(ctx, m->urdf);
    bough_scene_destroy(ctx, m->scene);
    *m = (app_mechanism){0};
}

/* Returns end effector k of the description. */
static app_effector own_effector(const app_mechanism *m, int32_t k) {
    const char *name =
        m->scene ? bough_scene_end_effector_name(m->scene, k) : m->urdf->frames[m->urdf->end_effectors[k]].name;
    return (app_effector){name ? name : "", bough_mechanism_describe(m->mechanism)->end_effectors[k]};
}

static app_effector link_effector(const app_mechanism *m, int32_t link) {
    const char *name = bough_mechanism_describe(m->mechanism)->links[link].name;
    app_effector e = {name ? name : "", bough_default_frame_def()};
    e.at.body = link;
    return e;
}

/* An end effector of the file, any <link> of a URDF, or a link. */
static bool look_up(const app_mechanism *m, const char *name, app_effector *e) {
    const bough_mechanism_def *def = bough_mechanism_describe(m->mechanism);
    for (int32_t k = 0; k < def->end_effector_count; k++) {
        *e = own_effector(m, k);
        if (!strcmp(e->name, name))
            return true;
    }
    const int32_t frame = m->urdf ? bough_urdf_find(m->urdf, name) : -1;
    if (frame >= 0) {
        *e = (app_effector){m->urdf->frames[frame].name, m->urdf->frames[frame]};
        return true;
    }
    for (int32_t i = 0; i < def->link_count; i++) {
        *e = link_effector(m, i);
        if (!strcmp(e->name, name))
            return true;
    }
    return false;
}

static int find_effector(const app_mechanism *m, const char *name, app_effector *e) {
    if (!look_up(m, name, e))
        return app_fail_with("there is no link \"%s\" for an end effector; bough mechanism info --json lists them",
                             name);
    if (e->at.body == bough_mechanism_describe(m->mechanism)->base)
        return app_fail_with("\"%s\" is the base, or welded to it; an end effector moves against it", name);
    return APP_OK;
}

static bool make_room(app_effectors *chosen, int32_t count) {
    *chosen = (app_effectors){.effectors = calloc((size_t)count + 1, sizeof *chosen->effectors),
                              .at = calloc((size_t)count + 1, sizeof *chosen->at)};
    return chosen->effectors && chosen->at;
}

static void put(app_effectors *chosen, app_effector e) {
    chosen->at[chosen->count] = e.at;
    chosen->effectors[chosen->count++] = e;
}

static int choose_named(const app_mechanism *m, char *names, app_effectors *chosen) {
    for (char *rest = names, *name; (name = strsep(&rest, ","));) {
        app_effector e = {0};
        const int status = find_effector(m, name, &e);
        if (status != APP_OK)
            return status;
        put(chosen, e);
    }
    return APP_OK;
}

/* "+3" or "+auto" at the end goes; returns its number. */
static int32_t take_modes(char *names) {
    char *plus = strrchr(names, '+');
    int32_t modes = 0;
    if (plus && !strcmp(plus + 1, "auto"))
        modes = BOUGH_INTERNAL_AUTOMATIC;
    if (plus && (modes == BOUGH_INTERNAL_AUTOMATIC || app_parse_int(plus + 1, 0, 1000, &modes)))
        *plus = 0;
    return modes;
}

int app_choose_effectors(const app_mechanism *m, const char *names, app_effectors *chosen) {
    const bough_mechanism_def *def = bough_mechanism_describe(m->mechanism);
    int32_t most = def->link_count > def->end_effector_count ? def->link_count : def->end_effector_count;
    for (const char *c = names; c && *c; c++)
        most += *c == ',';
    char *copy = strdup(names ? names : "");
    int status = make_room(chosen, most) && copy ? APP_OK : app_fail_with("out of memory");
    if (status == APP_OK)
        chosen->modes = take_modes(copy);
    if (status == APP_OK && strcmp(copy, "all") == 0) {
        for (int32_t i = 0; i < def->link_count; i++)
            if (i != def->base)
                put(chosen, link_effector(m, i));
    } else if (status == APP_OK && copy[0]) {
        status = choose_named(m, copy, chosen);
    } else if (status == APP_OK) {
        for (int32_t k = 0; k < def->end_effector_count; k++)
            put(chosen, own_effector(m, k));
    }
    free(copy);
    return status;
}

void app_free_effectors(app_effectors *chosen) {
    free(chosen->effectors);
    free(chosen->at);
    *chosen = (app_effectors){0};
}
