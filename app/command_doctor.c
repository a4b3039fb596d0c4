#include "app.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs that Bough can use when they are there. */
static const struct {
    const char *name, *package, *what_for;
} programs[] = {
    {"gmsh", "gmsh", "meshing surfaces: bough mesh generate tets"},
    {"tetgen", "tetgen", "meshing surfaces: bough mesh generate tets"},
    {"ffmpeg", "ffmpeg", "films in .webm and .mp4: bough movie"},
    {"ccx", "calculix-ccx", "comparison in bough bench modes, bough bench static"},
    {"clang", "clang", "second compiler of the continuous integration"},
};

static bool find_program(const char *name, char *found, size_t size) {
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        snprintf(found, size, "%.*s/%s", (int)length, path, name);
        if (access(found, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

int command_doctor(int argc, char **argv) {
    bool json = app_wants_json(argc, argv,
                               "What Bough found on this machine, and which optional helpers are missing."
                               "\vExample:\n  bough doctor --json");
    bough_context *ctx = app_context(0);
    json_t *helpers = json_object();
    if (!json)
        printf("bough %s, %d threads\n", bough_version(), bough_thread_count(ctx));
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        char found[1024];
        bool there = find_program(programs[i].name, found, sizeof found);
        if (json)
            json_object_set_new(helpers, programs[i].name, json_boolean(there));
        else if (there)
            printf("  %-8s %s\n", programs[i].name, found);
        else
            printf("  %-8s not installed (apt install %s); only for %s\n", programs[i].name, programs[i].package,
                   programs[i].what_for);
    }
    if (json)
        app_print_json(json_pack("{s:s, s:i, s:o}", "version", bough_version(), "threads", (int)bough_thread_count(ctx),
                                 "programs", helpers));
    else
        json_decref(helpers);
    bough_context_destroy(ctx);
    return APP_OK;
}
