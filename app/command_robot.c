/* `bough robot`: a robot of another format as a scene that can be edited. */
#include "app.h"

typedef struct {
    const char *path, *output;
} arguments;

static const struct argp_option options[] = {
    {"output", 'o', "SCENE.json", 0, "write the scene there", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case 'o':
        app_need_extension(state, "output", text, ".json");
        a->output = text;
        break;
    case ARGP_KEY_ARG:
        if (a->path)
            argp_error(state, "one file is enough");
        a->path = text;
        break;
    case ARGP_KEY_END:
        if (!a->path)
            argp_error(state, "name a .urdf or .xml file, or a scene with a \"robot\"");
        if (!a->output)
            argp_error(state, "say where the scene goes: -o SCENE.json");
        if (app_is_same_file(a->output, a->path))
            argp_error(state, "--output would go over the file that is read; give it another name");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "ROBOT.urdf|ROBOT.xml|SCENE.json",
    "Writes the scene of a robot with every body and joint in it, to be edited. docs/scene-format/robot.md."
    "\vMeshes are named from the folder of the robot's file: write the scene there.\n\n"
    "Examples:\n"
    "  bough robot arm.urdf -o arm.json\n"
    "  bough run arm.json --time 2",
    NULL,
    NULL,
    NULL};

int command_robot(int argc, char **argv) {
    arguments a = {0};
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(1);
    const int result = bough_robot_write(ctx, a.path, a.output) ? app_fail(ctx) : APP_OK;
    bough_context_destroy(ctx);
    return result;
}
