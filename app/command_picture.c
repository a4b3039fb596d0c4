#include "film.h"

#include <math.h>

typedef struct {
    app_take take;
    app_shot_def shot;
} arguments;

static error_t parse(int key, char *text, struct argp_state *state) {
    (void)text;
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->take;
        state->child_inputs[1] = &a->shot;
        break;
    case ARGP_KEY_END:
        if (!a->take.output)
            argp_error(state, "name the picture: --output FILE.png");
        app_need_extension(state, "output", a->take.output, ".png");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&app_take_argp, 0, NULL, 0}, {&app_shot_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    NULL,
    parse,
    "SCENE.json",
    "Steps a scene to a time and draws it, without a display."
    "\vExamples:\n"
    "  bough picture oak/scene.json --time 4 --background meadow -o oak.png\n"
    "  bough picture examples/beam/scene.json --time 0.2 --colour stress -o beam.png\n"
    "  bough picture bridge/scene.json --time 0.7 --camera 3,-20,4 --size 1920x1080 -o bridge.png\n\n"
    "bough movie makes films.",
    children,
    NULL,
    NULL,
};

/* To the time that was asked for. */
static int advance(bough_context *ctx, const arguments *a, bough_run *run, double time) {
    const double now = bough_run_values(run)[BOUGH_COLUMN_TIME];
    if (time > 0 && now > time * (1 + 1e-9))
        return app_fail_with("%s is of t = %g s, after --time %g", a->take.run.resume, now, time);
    if (time == 0 || now >= time * (1 - 1e-9))
        return APP_OK;
    const bough_status s = bough_run_advance(ctx, run);
    app_clear_progress();
    if (s == BOUGH_CANCELLED)
        return app_fail_with("interrupted at t = %g s; nothing was drawn", bough_run_values(run)[BOUGH_COLUMN_TIME]);
    return s ? app_fail(ctx) : APP_OK;
}

static int draw(bough_context *ctx, const arguments *a, const bough_run *run, app_shot *shot) {
    bough_status s = app_shot_open(ctx, run, &a->shot, shot);
    if (!s)
        s = app_shot_take(ctx, run, shot);
    if (!s)
        s = bough_picture_write_png(ctx, shot->picture, a->take.output);
    app_clear_progress();
    return s ? app_fail(ctx) : APP_OK;
}

static json_t *json_camera(const bough_picture_def *camera) {
    return json_pack("{s:o, s:o, s:f}", "camera", app_json_numbers(camera->eye, 3), "look",
                     app_json_numbers(camera->target, 3), "fov", camera->field_of_view * 180 / M_PI);
}

static void tell(const arguments *a, const bough_run *run, const app_shot *shot, double seconds) {
    const double time = bough_run_values(run)[BOUGH_COLUMN_TIME];
    const bough_picture_def *c = &shot->camera;
    if (a->take.scene.json)
        app_print_json(json_pack("{s:s, s:f, s:i, s:i, s:o, s:f, s:f}", "file", a->take.output, "time", time, "width",
                                 c->width, "height", c->height, "view", json_camera(c), "largest", shot->scale.largest,
                                 "seconds", seconds));
    else
        printf("%s: t = %.6g s, %d x %d, --camera %.4g,%.4g,%.4g --look %.4g,%.4g,%.4g --fov %.3g\n", a->take.output,
               time, c->width, c->height, c->eye[0], c->eye[1], c->eye[2], c->target[0], c->target[1], c->target[2],
               c->field_of_view * 180 / M_PI);
}

int command_picture(int argc, char **argv) {
    arguments a = {.take = app_default_take(), .shot = app_default_shot()};
    app_parse(&parser, argc, argv, &a);
    const double time = a.take.run.duration, start = app_seconds();
    if (time == 0)
        a.take.run.duration = 1; /* of a run that is not advanced */
    bough_context *ctx = app_context(a.take.scene.threads);
    bough_scene *scene;
    bough_run *run;
    app_shot shot = {0};
    int status = app_take_start(ctx, &a.take, &scene, &run);
    if (status == APP_OK)
        status = app_shot_check(run, &a.shot);
    if (status == APP_OK)
        status = advance(ctx, &a, run, time);
    if (status == APP_OK)
        status = draw(ctx, &a, run, &shot);
    if (status == APP_OK)
        tell(&a, run, &shot, app_seconds() - start);
    app_shot_close(ctx, &shot);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    return status;
}
