#include "tree_scene.h"

#include "scene/scene.h"

#include "../app/example.h"

#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static bool make_folder(bough_context *ctx, tree_scene *s) {
    *s = (tree_scene){.ctx = ctx, .folder = "/tmp/bough-bench-XXXXXX"};
    if (!mkdtemp(s->folder)) {
        s->folder[0] = 0;
        app_fail_with("no temporary folder can be made in /tmp");
        return false;
    }
    snprintf(s->path, sizeof s->path, "%s/scene.json", s->folder);
    return true;
}

static bool load(tree_scene *s) {
    if (bough_scene_load(s->ctx, s->path, &s->scene) || bough_scene_model(s->ctx, s->scene, &s->model)) {
        bench_fail(s->ctx);
        return false;
    }
    app_clear_progress();
    return true;
}

static bool make_example(const char *name, int32_t leaves, tree_scene *s) {
    example e = {.folder = s->folder, .leaves = leaves < 0 ? OAK_LEAVES : leaves, .seed = 4};
    return example_make(s->ctx, name, &e) == APP_OK;
}

bool tree_scene_open(bough_context *ctx, const char *name, int32_t leaves, tree_scene *s) {
    return make_folder(ctx, s) && make_example(name, leaves, s) && load(s);
}

bool tree_scene_make(bough_context *ctx, const char *name, tree_scene *s) {
    return make_folder(ctx, s) && make_example(name, -1, s);
}

/* Goes over the scene's file; takes the changes. A null takes a key away. */
static bool change(const tree_scene *s, json_t *changes) {
    json_t *root = app_json_load(s->path), *value;
    const char *key;
    void *next;
    json_object_del(root, "wind");
    bool good = changes && !json_object_update_recursive(root, changes);
    json_object_foreach_safe(root, next, key, value) {
        if (json_is_null(value))
            json_object_del(root, key);
    }
    good = good && !json_dump_file(root, s->path, 0);
    json_decref(changes);
    json_decref(root);
    if (!good)
        app_fail_with("%s cannot be changed", s->path);
    return good;
}

/* Removes all loads and damping: nothing pulls, and no energy is lost. */
bool tree_scene_open_free(bough_context *ctx, const char *name, tree_scene *s) {
    return tree_scene_make(ctx, name, s) &&
           change(s, json_pack("{s:[i, i, i], s:b, s:{s:{s:i, s:i}}}", "gravity", 0, 0, 0, "settle", 0, "object",
                               "damping", "mass", 0, "stiffness", 0)) &&
           load(s);
}

bool tree_scene_open_changed(bough_context *ctx, const char *name, json_t *changes, tree_scene *s) {
    if (tree_scene_make(ctx, name, s))
        return change(s, changes) && load(s);
    json_decref(changes);
    return false;
}

static bool write_text(const char *text, const tree_scene *s) {
    FILE *f = fopen(s->path, "w");
    const bool written = f && fputs(text, f) >= 0;
    if (!f || fclose(f) != 0 || !written) {
        app_fail_with("%s cannot be written", s->path);
        return false;
    }
    return true;
}

bool tree_scene_write(bough_context *ctx, const char *text, tree_scene *s) {
    return make_folder(ctx, s) && write_text(text, s);
}

bool tree_scene_open_text(bough_context *ctx, const char *text, tree_scene *s) {
    return tree_scene_write(ctx, text, s) && load(s);
}

bool tree_scene_open_mesh(bough_context *ctx, const char *text, const bough_mesh *mesh, tree_scene *s) {
    char path[128];
    if (!make_folder(ctx, s))
        return false;
    snprintf(path, sizeof path, "%s/mesh.msh", s->folder);
    if (bough_mesh_write(ctx, mesh, path)) {
        bench_fail(ctx);
        return false;
    }
    return write_text(text, s) && load(s);
}

static bool copy_file(const char *from, const char *to) {
    char buffer[65536];
    size_t size;
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    bool good = out != NULL;
    while (good && (size = fread(buffer, 1, sizeof buffer, in)) > 0)
        good = fwrite(buffer, 1, size, out) == size;
    good = good && !ferror(in);
    if (out)
        good = fclose(out) == 0 && good;
    if (in)
        fclose(in);
    return good;
}

bool tree_scene_is_there(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/scene.json", folder);
    return access(path, R_OK) == 0;
}

bool tree_scene_open_copy(bough_context *ctx, const char *folder, tree_scene *s) {
    if (!make_folder(ctx, s))
        return false;
    DIR *list = opendir(folder);
    bool good = list != NULL;
    for (struct dirent *entry; good && (entry = readdir(list));) {
        char from[1024], to[1024];
        struct stat info;
        snprintf(from, sizeof from, "%s/%s", folder, entry->d_name);
        snprintf(to, sizeof to, "%s/%s", s->folder, entry->d_name);
        if (stat(from, &info) == 0 && S_ISREG(info.st_mode))
            good = copy_file(from, to);
    }
    if (list)
        closedir(list);
    if (!good)
        app_fail_with("%s cannot be copied", folder);
    return good && load(s);
}

void tree_scene_close(tree_scene *s) {
    bough_tree_model_destroy(s->ctx, s->model);
    bo_whole_destroy(s->ctx, s->whole);
    bough_scene_destroy(s->ctx, s->scene);
    if (s->folder[0])
        nftw(s->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    *s = (tree_scene){.ctx = s->ctx};
}

const char *coupling_name(bough_coupling coupling) {
    static const char *const names[] = {"L1", "L2", "L2R", "L3"};
    return names[coupling];
}

bough_tree_model *weightless_model(const tree_scene *s) {
    bough_tree_model_def def = *bough_tree_model_describe(s->model);
    bough_tree_model *model = NULL;
    memset(def.gravity, 0, sizeof def.gravity);
    if (bough_tree_model_create(s->ctx, &def, &model))
        bench_fail(s->ctx);
    return model;
}

bough_tree_state *moving_state(const tree_scene *s, const bough_tree_model *model) {
    bough_tree_state *state = NULL;
    if (bough_tree_state_create(s->ctx, model, &state) ||
        (state->root_count == 0 &&
         bough_tree_state_settle(s->ctx, model, state, NULL, NULL))) { /* what flies never does */
        bench_fail(s->ctx);
        bough_tree_state_destroy(s->ctx, state);
        return NULL;
    }
    app_clear_progress();
    const bough_wind calm = state->wind;
    state->wind.velocity[0] = 5;
    for (int i = 0; i < 240; i++)
        if (bough_tree_advance(s->ctx, model, state, 1.0 / 240, NULL)) { /* small leaves take a gust badly */
            bench_fail(s->ctx);
            bough_tree_state_destroy(s->ctx, state);
            return NULL;
        }
    state->wind = calm;
    memset(state->wind.velocity, 0, sizeof state->wind.velocity);
    return state;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_of(size_t count, double *values) {
    qsort(values, count, sizeof *values, compare);
    return count ? values[count / 2] : 0;
}

void pin_to(int32_t core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}
