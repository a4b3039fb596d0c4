#include "app.h"

#include <bough/tree.h>

#include <errno.h>
#include <string.h>

typedef struct {
    app_scene_options scene;
    const char *log, *record;
} arguments;

static const struct argp_option options[] = {
    {"record", 'r', "FILE.csv", 0, "record time, energies and momenta, one row a step", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->scene;
        break;
    case 'r':
        app_need_extension(state, "record", text, ".csv");
        a->record = text;
        break;
    case ARGP_KEY_ARG:
        if (!a->scene.path)
            return ARGP_ERR_UNKNOWN; /* it is the scene */
        if (a->log)
            argp_error(state, "a scene file and a recording are enough");
        a->log = text;
        break;
    case ARGP_KEY_NO_ARGS:
    case ARGP_KEY_END:
        if (!a->log)
            argp_error(state, "name a scene file and a recording of it");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "SCENE.json FILE.log",
    "Does again what bough run --inputs, or a program, has recorded of a scene of parts, and tells whether it ends "
    "with "
    "the same bits. It does for the same program, kind of machine and components, with any number of threads; the exit "
    "status is 1 where it does not."
    "\vExamples:\n"
    "  bough run scene.json --inputs session.log; bough replay scene.json session.log\n"
    "  bough replay scene.json session.log --record again.csv --threads 1",
    app_scene_children,
    NULL,
    NULL,
};

typedef struct {
    bough_context *ctx;
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *state;
    bough_tree_log *log;
    FILE *table;
} replay;

static bough_status write_row(void *data, bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    FILE *table = data;
    bough_tree_energies e;
    bough_status status = bough_tree_state_energies(ctx, model, state, &e);
    if (status)
        return status;
    fprintf(table, "%.17g,%.17g,%.17g,%.17g,%.17g", state->time, e.elastic, e.kinetic, e.gravity,
            e.elastic + e.kinetic + e.gravity);
    for (int d = 0; d < 6; d++)
        fprintf(table, ",%.17g", d < 3 ? e.momentum[d] : e.angular_momentum[d - 3]);
    fputc('\n', table);
    return BOUGH_OK;
}

static bool open_table(replay *r, const char *path) {
    r->table = fopen(path, "w");
    if (r->table)
        fputs("time,elastic,kinetic,gravity,total,px,py,pz,Lx,Ly,Lz\n", r->table);
    return r->table != NULL;
}

static bool close_table(replay *r) {
    const bool bad = r->table && ferror(r->table), unclosed = r->table && fclose(r->table) != 0;
    r->table = NULL;
    return !bad && !unclosed;
}

static int tell(const arguments *a, const replay *r, bool same, double seconds) {
    const bough_tree_log_info info = bough_tree_log_describe(r->log);
    const double factor = seconds > 0 ? (info.end_time - info.start_time) / seconds : 0;
    if (a->scene.json)
        app_print_json(json_pack("{s:b, s:I, s:f, s:f, s:I, s:f, s:o}", "same", (int)same, "steps",
                                 (json_int_t)info.steps, "start", info.start_time, "time", r->state->time, "bytes",
                                 (json_int_t)info.size, "seconds", seconds, "real_time_factor",
                                 app_json_number(factor)));
    else
        printf("%lld steps from t = %.6g s to %.6g s in %.2f s, %.3g x real time\nthe end is %s\n",
               (long long)info.steps, info.start_time, r->state->time, seconds, factor,
               same ? "the same, to the bit" : "another: this is another program, kind of machine or component");
    return same ? APP_OK : APP_FAILED;
}

static int execute(const arguments *a, replay *r) {
    bool same;
    bough_context *ctx = r->ctx;
    if (bough_scene_load(ctx, a->scene.path, &r->scene) || bough_scene_model(ctx, r->scene, &r->model) ||
        bough_tree_state_create(ctx, r->model, &r->state) || bough_scene_touch(ctx, r->scene, r->model, r->state) ||
        bough_tree_log_load(ctx, a->log, &r->log))
        return app_fail(ctx);
    if (a->record && !open_table(r, a->record))
        return app_fail_with("%s: cannot be written: %s", a->record, strerror(errno));
    const double start = app_seconds();
    bough_status status =
        bough_tree_log_replay(ctx, r->model, r->state, r->log, r->table ? write_row : NULL, r->table, &same);
    app_clear_progress();
    if (!close_table(r))
        return app_fail_with("%s: could not be written", a->record);
    if (status == BOUGH_CANCELLED)
        return app_fail_with("interrupted at t = %g s", r->state->time);
    if (status)
        return app_fail_with("%s: %s", a->log, bough_message(ctx));
    return tell(a, r, same, app_seconds() - start);
}

int command_replay(int argc, char **argv) {
    arguments a = {0};
    app_parse(&parser, argc, argv, &a);
    replay r = {.ctx = app_context(a.scene.threads)};
    int status = execute(&a, &r);
    bough_tree_log_destroy(r.ctx, r.log);
    bough_tree_state_destroy(r.ctx, r.state);
    bough_tree_model_destroy(r.ctx, r.model);
    bough_scene_destroy(r.ctx, r.scene);
    bough_context_destroy(r.ctx);
    return status;
}
