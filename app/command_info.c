#include "app.h"

#include <string.h>
#include <strings.h>

typedef struct {
    const char *path;
    bool json;
    const char *picture;
    int32_t shape;
} arguments;

enum { OPT_PICTURE = 'p', OPT_SHAPE = 300 };

static const struct argp_option options[] = {
    APP_OPTION_JSON('j'),
    {"picture", OPT_PICTURE, "FILE.png", 0, "draw the surface, moved by one coordinate", 0},
    {"shape", OPT_SHAPE, "K", 0, "which coordinate to draw, from 1 (default 1)", 0},
    {0},
};

/* Other files have commands of their own. */
static void need_component(struct argp_state *state, const char *path) {
    const char *dot = strrchr(path, '.');
    if (dot && !strcasecmp(dot, ".bough"))
        return;
    if (app_is_mechanism(path))
        argp_error(state, "%s is a mechanism; bough mechanism info %s tells about it", path, path);
    if (dot && !strcasecmp(dot, ".json"))
        argp_error(state, "%s is not a cooked component; bough cook %s makes one of it", path, path);
    argp_error(state, "%s is not a component (.bough); bough mesh info %s tells about a mesh", path, path);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case 'j':
        a->json = true;
        break;
    case OPT_PICTURE:
        app_need_extension(state, "picture", text, ".png");
        a->picture = text;
        break;
    case OPT_SHAPE:
        if (!app_parse_int(text, 1, BOUGH_MAX_COORDINATES, &a->shape))
            argp_error(state, "--shape: \"%s\" should be a coordinate's number, from 1", text);
        break;
    case ARGP_KEY_ARG:
        if (a->path)
            argp_error(state, "one component file is enough");
        need_component(state, text);
        a->path = text;
        break;
    case ARGP_KEY_END:
        if (!a->path)
            argp_error(state, "name a component file (.bough)");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "COMPONENT.bough",
    "What is in a cooked component, how large and how good it is."
    "\vExamples:\n"
    "  bough info twig.bough\n"
    "  bough info twig.bough --json\n"
    "  bough info twig.bough --picture bend.png --shape 3",
    NULL,
    NULL,
    NULL,
};

int command_info(int argc, char **argv) {
    arguments a = {.shape = 1};
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(1);
    bough_component *component;
    int status = bough_component_load(ctx, a.path, &component) ? app_fail(ctx) : APP_OK;
    if (status == APP_OK && a.json)
        app_print_json(app_json_component(a.path, component));
    else if (status == APP_OK)
        app_print_card(a.path, component);
    if (status == APP_OK && a.picture)
        status = app_component_picture(ctx, component, a.shape - 1, a.picture);
    if (component)
        bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
    return status;
}
