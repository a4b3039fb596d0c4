#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_OUTPUT = 'o', OPT_PICTURE = 'p', OPT_COUNT = 'n', OPT_SHAPE = 300, OPT_COUPLING, OPT_SETTLE };

typedef struct {
    app_body_options body;
    int32_t count, shape;
    const char *output, *picture, *coupling;
    bool settle;
} arguments;

static const struct argp_option options[] = {
    {"count", OPT_COUNT, "N", 0, "number of modes (default 10)", 0},
    {"output", OPT_OUTPUT, "FILE.vtu", 0, "write the mode shapes, one field each", 0},
    {"picture", OPT_PICTURE, "FILE.png", 0, "draw a mode shape", 0},
    {"shape", OPT_SHAPE, "K", 0, "which mode to draw (default: the first flexible one)", 0},
    {0, 0, 0, 0, "Scenes of parts and multibody systems:", 1},
    {"coupling", OPT_COUPLING, "L1|L2|L2R|L3", 0,
     "how parts feel what hangs on them (default: the scene's); not for multibody systems", 0},
    {"settle", OPT_SETTLE, 0, 0,
     "about the equilibrium under gravity and steady loads, with the stiffness that these "
     "add; default: about rest, without weight",
     0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->body;
        break;
    case OPT_COUNT:
        if (!app_parse_int(text, 1, 100000, &a->count))
            argp_error(state, "--count: \"%s\" should be a positive number", text);
        break;
    case OPT_SHAPE:
        if (!app_parse_int(text, 1, 100000, &a->shape))
            argp_error(state, "--shape: \"%s\" should be a mode's number, from 1", text);
        break;
    case OPT_OUTPUT:
        app_need_extension(state, "output", text, ".vtu");
        a->output = text;
        break;
    case OPT_PICTURE:
        app_need_extension(state, "picture", text, ".png");
        a->picture = text;
        break;
    case OPT_COUPLING:
        a->coupling = text;
        break;
    case OPT_SETTLE:
        a->settle = true;
        break;
    case ARGP_KEY_END:
        if (a->shape > a->count)
            argp_error(state, "--shape %d: only %d modes are computed; raise --count", a->shape, a->count);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_child children[] = {{&app_body_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    options,
    parse,
    "MESH|BODY.json|SCENE.json|ROBOT.urdf",
    "Natural frequencies and mode shapes of a body (with participation factors and effective masses), of a scene of "
    "parts, of a mechanism or of a multibody system."
    "\vExamples:\n"
    "  bough modes beam.msh --young 210e9 --poisson 0.3 --density 7850 --fix 'x<0.001' -n 20\n"
    "  bough modes beam.json --json\n"
    "  bough modes beam.msh --picture mode.png --output modes.vtu\n"
    "  bough modes tree/scene.json --settle --coupling L2 -n 5\n"
    "  bough modes robot.urdf --json\n\n"
    "Without --fix the body is free and has six modes at zero. Of trees that fly, and of free mechanisms, only modes "
    "that "
    "bend them are told.",
    children,
    NULL,
    NULL};

static int draw_shape(bough_context *ctx, const bough_mesh *mesh, const bough_modes *modes, const arguments *a) {
    int32_t k = a->shape ? a->shape - 1 : modes->rigid_count < modes->count ? modes->rigid_count : 0;
    return app_draw_mode(ctx, mesh, modes->shapes + 3 * (size_t)k * (size_t)modes->vertex_count, k,
                         modes->frequencies_hz[k], a->picture);
}

static void print_table(const bough_modes *m) {
    printf("mode   frequency (Hz)  damping   effective mass: x       y       z       rx      ry      rz\n");
    for (int32_t k = 0; k < m->count; k++) {
        printf("%4d  %15.6g  %7.4f               ", k + 1, m->frequencies_hz[k], m->damping[k]);
        for (int d = 0; d < 6; d++)
            printf("%6.2f %%", m->total_mass[d] > 0 ? 100 * m->effective_mass[6 * k + d] / m->total_mass[d] : 0.0);
        putchar('\n');
    }
    if (m->rigid_count)
        printf("%d rigid mode%s\n", m->rigid_count, m->rigid_count > 1 ? "s" : "");
}

static json_t *rows_of_six(const double *values, int32_t count) {
    json_t *list = json_array();
    for (int32_t k = 0; k < count; k++)
        json_array_append_new(list, app_json_numbers(values + 6 * (size_t)k, 6));
    return list;
}

static void print_json(const bough_mesh *mesh, const bough_modes *m, double seconds, double cpu) {
    app_print_json(json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:s, s:f, s:f}", "frequencies_hz",
        app_json_numbers(m->frequencies_hz, m->count), "damping_ratios", app_json_numbers(m->damping, m->count),
        "participation", rows_of_six(m->participation, m->count), "effective_mass",
        rows_of_six(m->effective_mass, m->count), "total_mass", app_json_numbers(m->total_mass, 6), "rigid_modes",
        (int)m->rigid_count, "vertices", (int)mesh->vertex_count, "elements", (int)mesh->element_count, "element_type",
        bough_element_name(mesh->type), "seconds", seconds, "cpu_seconds", cpu));
}

static int of_scene(const arguments *a) {
    if (app_changes_body(&a->body))
        return app_fail_with("%s: is a scene, which brings its supports and materials; leave out options about them",
                             a->body.input),
               APP_USAGE;
    return app_run_modes_scene(&(app_modes_scene){.scene = a->body.input,
                                                  .coupling = a->coupling,
                                                  .output = a->output,
                                                  .picture = a->picture,
                                                  .count = a->count,
                                                  .shape = a->shape,
                                                  .threads = a->body.threads,
                                                  .settle = a->settle,
                                                  .json = a->body.json});
}

/* A body and its load case, from a scene that keeps them or made of the options. */
typedef struct {
    bough_scene *scene;   /* or NULL, and */
    bough_body *own_body; /* what was made instead */
    bough_load_case *own_load_case;
    const bough_body *body;
    const bough_load_case *load_case;
} found_body;

static int find_body(bough_context *ctx, const arguments *a, found_body *found) {
    *found = (found_body){0};
    if (!app_is_body_scene(a->body.input)) {
        const int status = app_make_body(ctx, &a->body, &found->own_body, &found->own_load_case);
        found->body = found->own_body;
        found->load_case = found->own_load_case;
        return status;
    }
    if (app_changes_body(&a->body))
        return app_fail_with("%s: is a scene, which brings its supports and materials; leave out options about them",
                             a->body.input),
               APP_USAGE;
    if (bough_scene_load(ctx, a->body.input, &found->scene))
        return app_fail(ctx);
    found->body = bough_scene_body(found->scene);
    found->load_case = bough_scene_load_case(found->scene);
    if (!found->body)
        return app_fail_with("%s: modes are those of a body, of parts, of a mechanism or of a multibody system, and "
                             "this scene is none of "
                             "them; bough static and bough run take it",
                             a->body.input);
    return APP_OK;
}

static void free_found(bough_context *ctx, found_body *found) {
    bough_load_case_destroy(ctx, found->own_load_case);
    bough_body_destroy(ctx, found->own_body);
    bough_scene_destroy(ctx, found->scene);
}

int command_modes(int argc, char **argv) {
    arguments a = {.body = app_default_body_options(), .count = 10};
    app_parse(&parser, argc, argv, &a);
    if (app_is_scene_of_parts(a.body.input) || app_is_mechanism(a.body.input) || app_is_multibody(a.body.input))
        return of_scene(&a);
    if (a.coupling || a.settle)
        return app_fail_with("%s: --coupling and --settle are for scenes of parts and multibody systems", a.body.input),
               APP_USAGE;
    bough_context *ctx = app_context(a.body.threads);
    found_body found;
    bough_modes *modes = NULL;
    int status = find_body(ctx, &a, &found);
    double wall = app_seconds(), cpu = app_cpu_seconds();
    if (status == APP_OK && bough_body_modes(ctx, found.body, found.load_case, a.count, NULL, &modes))
        status = app_fail(ctx);
    app_clear_progress();
    if (status == APP_OK) {
        const bough_mesh *mesh = bough_body_mesh(found.body);
        wall = app_seconds() - wall, cpu = app_cpu_seconds() - cpu;
        if (a.body.json) {
            print_json(mesh, modes, wall, cpu);
        } else {
            printf("%d vertices, %d %s elements, %.2f s\n", mesh->vertex_count, mesh->element_count,
                   bough_element_name(mesh->type), wall);
            print_table(modes);
        }
        if (a.output)
            status = app_write_modes(ctx, mesh, modes->count, modes->frequencies_hz, modes->shapes, a.output);
        if (status == APP_OK && a.picture)
            status = draw_shape(ctx, mesh, modes, &a);
    }
    bough_modes_destroy(ctx, modes);
    free_found(ctx, &found);
    bough_context_destroy(ctx);
    return status;
}
