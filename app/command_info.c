#include "app.h"

#include <string.h>
#include <strings.h>

typedef struct {
    const char *path;
    bool json;
} arguments;

static const struct argp_option options[] = {
    {"json", 'j', 0, 0, "print one JSON object instead of text", 0},
    {0},
};

/* Other files have commands of their own. */
static void need_component(struct argp_state *state, const char *path) {
    const char *dot = strrchr(path, '.');
    if (dot && !strcasecmp(dot, ".bough"))
        return;
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
    "  bough info twig.bough --json",
    NULL,
    NULL,
    NULL,
};

int command_info(int argc, char **argv) {
    arguments a = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    bough_context *ctx = app_context(1);
    bough_component *component;
    int status = bough_component_load(ctx, a.path, &component) ? app_fail(ctx) : APP_OK;
    if (status == APP_OK && a.json)
        app_print_json(app_json_component(a.path, component));
    else if (status == APP_OK)
        app_print_card(a.path, component);
    if (status == APP_OK)
        bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
    return status;
}
