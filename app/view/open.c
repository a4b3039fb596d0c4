/* Files that can be looked at: scenes, and meshes and components, around which a scene is written. */
#include "view.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const char *const meshes[] = {"msh", "veg", "node", "ele", "mesh", "vtk", "inp", "obj", "stl", "ply", NULL};

static const char *extension_of(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot + 1 : "";
}

static bool is_mesh(const char *path) {
    bool found = false;
    for (int i = 0; meshes[i] && !found; i++)
        found = !strcasecmp(extension_of(path), meshes[i]);
    return found;
}

static bool is_component(const char *path) {
    return !strcasecmp(extension_of(path), "bough");
}

/* ---- scenes around them ---- */

static char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash ? slash + 1 : path), *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot != name)
        *dot = 0;
    return name;
}

/* One part at rest: by itself it would fly or hang, and nobody asked for weight. */
static json_t *scene_of_component(const char *path, const char *name) {
    return json_pack("{s:i, s:{s:{s:s}}, s:[{s:s, s:s}], s:[f, f, f], s:{s:f, s:f}}", "bough", 1, "components",
                     "component", "file", path, "parts", "name", name, "component", "component", "gravity", 0.0, 0.0,
                     0.0, "time", "dt", 0.005, "duration", 1.0);
}

/* Makes the scene of a volume mesh; of rubber if its file does not say more. */
static json_t *scene_of_volume(const char *path) {
    return json_pack("{s:i, s:{s:s, s:b}, s:{s:f, s:f}}", "bough", 1, "mesh", "file", path, "repair", 1, "time", "dt",
                     0.01, "duration", 1.0);
}

/* The base of a mechanism, which is held; to be one, it has a second link: a grain at one of the vertices. */
static json_t *scene_of_surface(const char *path, const char *name, const bough_mesh *mesh) {
    const double *x = mesh->vertices;
    double size = 1e-3;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        size = fmax(size, fabs(x[i]));
    json_t *links = json_pack("[{s:s, s:{s:s}}, {s:s, s:{s:f}, s:[f, f, f], s:f, s:[f, f, f, f, f, f]}]", "name", name,
                              "shape", "mesh", path, "name", "grain", "shape", "sphere", 1e-3 * size, "position", x[0],
                              x[1], x[2], "mass", 1.0, "inertia", 1.0, 1.0, 1.0, 0.0, 0.0, 0.0);
    json_t *joints = json_pack("[{s:s, s:s, s:s, s:[f, f, f], s:f}]", "kind", "prismatic", "parent", name, "child",
                               "grain", "position", x[0], x[1], x[2], "stiffness", 1e6);
    json_t *ends =
        json_pack("[{s:s, s:s, s:[f, f, f]}]", "name", "grain", "link", "grain", "position", x[0], x[1], x[2]);
    return json_pack("{s:i, s:o, s:o, s:o, s:{s:f, s:f}}", "bough", 1, "links", links, "joints", joints,
                     "end_effectors", ends, "time", "dt", 0.01, "duration", 1.0);
}

static bough_status scene_of_mesh(bough_context *ctx, const char *path, const char *name, json_t **scene) {
    bough_mesh_read_def def = bough_default_mesh_read_def();
    bough_mesh *mesh;
    def.volumes = BOUGH_VOLUME_ACCEPT;
    bough_status s = bough_mesh_read(ctx, path, &def, &mesh);
    if (s)
        return s;
    *scene = mesh->type == BOUGH_TRI3 ? scene_of_surface(path, name, mesh) : scene_of_volume(path);
    bough_mesh_destroy(ctx, mesh);
    return *scene ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* Both readers have a sentence for a file that is not there, or that is none of theirs. */
static bough_status scene_around(bough_context *ctx, const char *path, const char *name, json_t **scene) {
    bough_component *component;
    if (!is_component(path))
        return scene_of_mesh(ctx, path, name, scene);
    const bough_status s = bough_component_load(ctx, path, &component);
    if (s)
        return s;
    bough_component_destroy(ctx, component);
    *scene = scene_of_component(path, name);
    return *scene ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static bough_status write_scene(bough_context *ctx, const char *path, const char *folder, char **scene) {
    static int written; /* one session of a program writes them, one after the other */
    char *full = realpath(path, NULL), *name = base_name(path);
    json_t *json = NULL;
    bough_status s = name ? scene_around(ctx, full ? full : path, name, &json) : BOUGH_ERROR_MEMORY;
    if (!s && (asprintf(scene, "%s/shown-%d.json", folder, ++written) < 0 || json_dump_file(json, *scene, 0)))
        s = BOUGH_ERROR_FILE;
    json_decref(json);
    free(full);
    free(name);
    return s;
}

bough_status view_open_file(bough_context *ctx, const char *path, const char *folder, char **scene, bool *at_rest) {
    *at_rest = is_mesh(path) || is_component(path);
    *scene = NULL;
    if (!*at_rest) {
        *scene = strdup(path);
        return *scene ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    }
    const bough_status s = folder ? write_scene(ctx, path, folder, scene) : BOUGH_ERROR_FILE;
    if (s) {
        free(*scene);
        *scene = NULL;
    }
    return s;
}

/* ---- what there is to open ---- */

/* Folders below the first; bytes of a scene's file that is looked into; entries of folders that are looked at, so that
 * a home folder does not take minutes. */
enum { DEEPEST = 2, LARGEST = 1 << 20, MOST_ENTRIES = 2000 };

/* A scene, and not a component or some other file. */
static bool is_scene(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && info.st_size < LARGEST && app_look_at_file(path).complete;
}

static bool can_open(const char *path) {
    return is_mesh(path) || is_component(path) || (!strcasecmp(extension_of(path), "json") && is_scene(path));
}

/* Adds what is in the folder; names are those below the first one. */
static void list_folder(const char *folder, const char *below, int depth, int *left, json_t *names) {
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[2048], name[1024];
        struct stat info;
        const char *own = entries[i]->d_name;
        const bool fits = snprintf(path, sizeof path, "%s/%s", folder, own) < (int)sizeof path &&
                          snprintf(name, sizeof name, "%s%s%s", below, below[0] ? "/" : "", own) < (int)sizeof name;
        if (own[0] != '.' && fits && json_array_size(names) < VIEW_FILES && --*left > 0 && stat(path, &info) == 0) {
            if (S_ISDIR(info.st_mode) && depth < DEEPEST)
                list_folder(path, name, depth + 1, left, names);
            else if (S_ISREG(info.st_mode) && can_open(path))
                json_array_append_new(names, app_json_text(name));
        }
        free(entries[i]);
    }
    free(entries);
}

json_t *view_list_files(const char *path) {
    json_t *names = json_array();
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = 0;
    int left = MOST_ENTRIES;
    if (names && folder)
        list_folder(slash ? folder : ".", "", 0, &left, names);
    free(folder);
    return names;
}
