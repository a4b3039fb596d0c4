/* The scene of a picture or movie, and how it is stepped until there is something to see. */
#include "film.h"

#include <string.h>

enum { OPT_TIME = 300, OPT_ENGINE, OPT_COUPLING, OPT_CONTINUITY, OPT_DT, OPT_RESUME };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "the file to write", 0},
    {"time", OPT_TIME, "S", 0,
     "simulated time of the picture (default 0), or of the end of the movie (default: the scene's)", 0},
    {"engine", OPT_ENGINE, "NAME", 0,
     "of a scene of parts: tree or full, of a mechanism: mechanism or full; instead of the scene's", 0},
    {"coupling", OPT_COUPLING, "NAME", 0, "of the tree engine: L1, L2, L2R or L3, instead of the scene's", 0},
    {"continuity", OPT_CONTINUITY, "NAME", 0,
     "where parts meet: none (each by itself), C0 (no gaps) or C1 (no kinks either; default)", 0},
    {"dt", OPT_DT, "S", 0, "time step in s, instead of the scene's", 0},
    {"resume", OPT_RESUME, "FILE", 0, "begin with a checkpoint of bough run instead of the start", 0},
    {0},
};

app_take app_default_take(void) {
    app_take take = {.run = bough_default_run_def()};
    take.run.continuity = "C1";
    return take;
}

static const char *one_of(struct argp_state *state, const char *option, const char *text, const char *const *names,
                          const char *list) {
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return names[i];
    argp_error(state, "--%s: \"%s\" should be %s", option, text, list);
    return NULL;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    static const char *const couplings[] = {"L1", "L2", "L2R", "L3", NULL}, *const continuities[] = {"none", "C0", "C1",
                                                                                                     NULL};
    app_take *take = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &take->scene;
        break;
    case 'o':
        take->output = text;
        break;
    case OPT_TIME:
        if (!app_parse_numbers(text, 1, &take->run.duration) || !(take->run.duration >= 0))
            argp_error(state, "--time: \"%s\" should be a number of seconds, 0 or more", text);
        take->timed = true;
        break;
    case OPT_ENGINE:
        take->run.engine = app_parse_engine(state, text);
        break;
    case OPT_COUPLING:
        take->run.coupling = one_of(state, "coupling", text, couplings, "L1, L2, L2R or L3");
        break;
    case OPT_CONTINUITY:
        take->run.continuity = one_of(state, "continuity", text, continuities, "none, C0 or C1");
        break;
    case OPT_DT:
        take->run.dt = app_need_positive(state, "dt", text);
        break;
    case OPT_RESUME:
        take->run.resume = text;
        break;
    case ARGP_KEY_END:
        if (take->output && app_is_same_file(take->scene.path, take->output))
            argp_error(state, "\"%s\" is the scene; what is written needs another name", take->output);
        return ARGP_ERR_UNKNOWN;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp app_take_argp = {options, parse, NULL, NULL, app_scene_children, NULL, NULL};

int app_take_start(bough_context *ctx, app_take *take, bough_scene **scene, bough_run **run) {
    *scene = NULL, *run = NULL;
    if (bough_scene_load(ctx, take->scene.path, scene) || bough_run_create(ctx, *scene, &take->run, run))
        return app_fail(ctx);
    return APP_OK;
}
