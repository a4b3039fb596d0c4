#include "film.h"

#include <math.h>
#include <sys/stat.h>

enum { OPT_FPS = 500, OPT_SPEED, OPT_FROM, OPT_FOLLOW };

typedef struct {
    app_take take;
    app_film film; /* of its reel */
    double fps, speed, from;
} arguments;

static const struct argp_option options[] = {
    {"fps", OPT_FPS, "N", 0, "pictures a second (default 12 in .png, 30 in .webm and .mp4)", 0},
    {"speed", OPT_SPEED, "FACTOR", 0, "simulated seconds in a second of the movie (default 1); 0.2 is slow motion", 0},
    {"from", OPT_FROM, "S", 0, "simulated time at which the movie begins (default 0)", 0},
    {"follow", OPT_FOLLOW, NULL, 0, "the camera goes along with what walks or flies away; the ground stays", 0},
    {0},
};

/* Films for pages are small: an animated PNG keeps all that changes in each frame. */
static void choose_defaults(arguments *a) {
    const bool png = app_has_extension(a->take.output, ".png");
    app_shot_def *shot = &a->film.shot_def;
    if (a->fps == 0)
        a->fps = png ? 12 : 30;
    if (shot->width == 0)
        shot->width = png ? 480 : 960, shot->height = png ? 270 : 540;
    shot->film = true;
    a->film.reel_paths[0] = a->take.output, a->film.reel_count = 1, a->film.fps = a->fps;
    a->take.run.fps = a->fps / a->speed;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->take;
        state->child_inputs[1] = &a->film.shot_def;
        break;
    case OPT_FPS:
        a->fps = app_need_positive(state, "fps", text);
        if (!(a->fps >= 0.1 && a->fps <= 600))
            argp_error(state, "--fps: \"%s\" should be a number from 0.1 to 600", text);
        break;
    case OPT_SPEED:
        a->speed = app_need_positive(state, "speed", text);
        break;
    case OPT_FROM:
        if (!app_parse_numbers(text, 1, &a->from) || !(a->from >= 0))
            argp_error(state, "--from: \"%s\" should be a number of seconds, 0 or more", text);
        break;
    case OPT_FOLLOW:
        a->film.shot_def.follow = true;
        break;
    case ARGP_KEY_END:
        if (!a->take.output || !app_is_reel(a->take.output))
            argp_error(state, "name the movie: --output FILE.png, FILE.webm or FILE.mp4");
        if (a->take.timed && a->take.run.duration == 0)
            argp_error(state, "--time: a movie of 0 s has nothing that moves; bough picture shows one moment");
        if (a->take.run.duration > 0 && a->from >= a->take.run.duration)
            argp_error(state, "--from: the movie begins at %g s, after its end at %g s", a->from, a->take.run.duration);
        choose_defaults(a);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&app_take_argp, 0, NULL, 0}, {&app_shot_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    options,
    parse,
    "SCENE.json",
    "Steps a scene and makes a film of it, without a display: an animated PNG, or WebM or MP4 by the program ffmpeg. "
    "The "
    "camera stands still, unless it is to --follow, and is aimed at what there is when the film begins."
    "\vExamples:\n"
    "  bough movie letters/scene.json --time 5 -o letters.png\n"
    "  bough movie storm/scene.json --from 4.4 --time 6.4 --background meadow -o storm.webm\n"
    "  bough movie walker/scene.json --time 10 --follow -o walker.webm\n"
    "  bough movie examples/beam/scene.json --speed 0.1 --colour stress --range 1e4 -o beam.mp4\n\n"
    "Ctrl-C ends the film early and keeps it.",
    children,
    NULL,
    NULL,
};

/* bough_run_def.watch: frames before --from are not drawn, and with the first one the film begins. */
static bough_status look(void *data, bough_context *ctx, const bough_run *run) {
    arguments *a = data;
    if (bough_run_values(run)[BOUGH_COLUMN_TIME] < a->from * (1 - 1e-9))
        return BOUGH_OK;
    return a->film.frames == 0 ? app_film_begin(ctx, run, &a->film) : app_film_add(&a->film, ctx, run);
}

static int tell(const arguments *a, double start, double end, double seconds) {
    struct stat info = {0};
    const app_shot_def *shot = &a->film.shot_def;
    stat(a->take.output, &info);
    if (a->take.scene.json)
        app_print_json(json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:i, s:i, s:I, s:f}", "file", a->take.output, "frames",
                                 a->film.frames, "from", start, "time", end, "fps", a->fps, "speed", a->speed, "width",
                                 shot->width, "height", shot->height, "bytes", (json_int_t)info.st_size, "seconds",
                                 seconds));
    else
        printf("%s: %d pictures of %d x %d, t = %.4g to %.4g s, %s, in %.1f s\n", a->take.output, a->film.frames,
               shot->width, shot->height, start, end, app_size_text((double)info.st_size), seconds);
    return APP_OK;
}

/* Keeps the frames made before Ctrl-C, or before a step that failed. */
static int shoot(bough_context *ctx, arguments *a, bough_run *run) {
    const double start = app_seconds(), first = fmax(a->from, bough_run_values(run)[BOUGH_COLUMN_TIME]);
    bough_status s = app_film_prepare(ctx, run, &a->film);
    if (!s)
        s = look(a, ctx, run);
    if (!s)
        s = bough_run_advance(ctx, run);
    app_clear_progress();
    const double end = bough_run_values(run)[BOUGH_COLUMN_TIME];
    const bool kept = s == BOUGH_OK || s == BOUGH_CANCELLED || s == BOUGH_NO_CONVERGENCE || s == BOUGH_NOT_FINITE;
    int status = s == BOUGH_OK          ? APP_OK
                 : s == BOUGH_CANCELLED ? app_fail_with("interrupted at t = %g s after %d pictures%s", end,
                                                        a->film.frames, a->film.frames ? ", which are kept" : "")
                                        : app_film_fail(ctx, &a->film);
    if (!kept)
        return status;
    if (a->film.frames == 0)
        return status != APP_OK
                   ? status
                   : app_fail_with("the movie would begin at %g s, after the end of the scene at %g s", a->from, end);
    if (app_film_finish(ctx, &a->film))
        return app_film_fail(ctx, &a->film);
    tell(a, first, end, app_seconds() - start);
    return status;
}

int command_movie(int argc, char **argv) {
    arguments a = {.take = app_default_take(), .film = app_default_film(), .speed = 1};
    a.film.shot_def.width = 0; /* not given */
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(a.take.scene.threads);
    bough_scene *scene;
    bough_run *run;
    a.take.run.watch = look, a.take.run.watch_data = &a;
    int status = app_take_start(ctx, &a.take, &scene, &run);
    if (status == APP_OK)
        status = app_shot_check(run, &a.film.shot_def);
    if (status == APP_OK)
        status = shoot(ctx, &a, run);
    app_film_destroy(ctx, &a.film);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    return status;
}
