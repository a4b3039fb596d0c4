#include "app.h"

#include <bough/tree.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    app_scene_options scene;
    const char *output;
} arguments;

static const struct argp_option options[] = {
    {"output", 'o', "FILE.pack", 0, "where it goes (default: beside the scene, with the extension .pack)", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->scene;
        break;
    case 'o':
        app_need_extension(state, "output", text, ".pack");
        a->output = text;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "SCENE.json",
    "Packs a scene of parts into one file, which a program can load and step with the runtime library alone "
    "(bough_tree_model_load). What is not up to date is cooked first."
    "\vExamples:\n"
    "  bough pack scene.json -o oak.pack\n"
    "  bough pack scene.json --json",
    app_scene_children,
    NULL,
    NULL,
};

/* "oak/scene.json" becomes "oak/scene.pack"; free it. */
static char *pack_name(const char *scene) {
    const char *slash = strrchr(scene, '/'), *dot = strrchr(slash ? slash : scene, '.');
    size_t length = dot ? (size_t)(dot - scene) : strlen(scene);
    char *name = malloc(length + sizeof ".pack");
    if (name)
        snprintf(name, length + sizeof ".pack", "%.*s.pack", (int)length, scene);
    return name;
}

static int tell(const arguments *a, const bough_tree_model *model, const char *path) {
    struct stat file;
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    if (stat(path, &file))
        return app_fail_with("%s was written, but is gone", path);
    if (a->scene.json)
        app_print_json(json_pack("{s:o, s:i, s:i, s:i, s:I}", "file", app_json_text(path), "parts",
                                 (int)def->part_count, "components", (int)def->component_count, "coordinates",
                                 (int)bough_tree_model_size(model), "bytes", (json_int_t)file.st_size));
    else
        printf("%s: %d parts of %d components, %d coordinates, %s\n", path, def->part_count, def->component_count,
               bough_tree_model_size(model), app_size_text((double)file.st_size));
    return APP_OK;
}

int command_pack(int argc, char **argv) {
    arguments a = {0};
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(a.scene.threads);
    bough_scene *scene = NULL;
    bough_tree_model *model = NULL;
    char *beside = pack_name(a.scene.path);
    const char *path = a.output ? a.output : beside;
    bough_status failed = bough_scene_load(ctx, a.scene.path, &scene);
    if (!failed)
        failed = bough_scene_model(ctx, scene, &model);
    app_clear_progress();
    int status = failed || !path || bough_tree_model_save(ctx, model, path) ? app_fail(ctx) : tell(&a, model, path);
    free(beside);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    return status;
}
