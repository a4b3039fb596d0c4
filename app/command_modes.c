#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_OUTPUT = 'o', OPT_PICTURE = 'p', OPT_COUNT = 'n', OPT_SHAPE = 300 };

typedef struct {
    app_body_options body;
    int32_t count, shape;
    const char *output, *picture;
} arguments;

static const struct argp_option options[] = {
    {"count", OPT_COUNT, "N", 0, "number of modes (default 10)", 0},
    {"output", OPT_OUTPUT, "FILE.vtu", 0, "write the mode shapes, one field each", 0},
    {"picture", OPT_PICTURE, "FILE.png", 0, "draw a mode shape", 0},
    {"shape", OPT_SHAPE, "K", 0, "which mode to draw (default: the first flexible one)", 0},
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
    "MESH|BODY.json",
    "Natural frequencies, participation factors, effective masses and mode shapes of a body."
    "\vExamples:\n"
    "  bough modes beam.msh --young 210e9 --poisson 0.3 --density 7850 --fix 'x<0.001' -n 20\n"
    "  bough modes beam.json --json\n"
    "  bough modes beam.msh --picture mode.png --output modes.vtu\n\n"
    "Without --fix the body is free and has six modes at zero.",
    children,
    NULL,
    NULL};

static int write_shapes(bough_context *ctx, const bough_mesh *mesh, const bough_modes *modes, const char *path) {
    bough_field *fields = calloc((size_t)modes->count, sizeof *fields);
    char(*names)[48] = calloc((size_t)modes->count, sizeof *names);
    int status = fields && names ? APP_OK : app_fail_with("out of memory");
    for (int32_t k = 0; status == APP_OK && k < modes->count; k++) {
        snprintf(names[k], sizeof names[k], "mode %03d %.6g Hz", k + 1, modes->frequencies_hz[k]);
        fields[k] = (bough_field){names[k], false, 3, modes->shapes + 3 * (size_t)k * (size_t)modes->vertex_count};
    }
    if (status == APP_OK && bough_mesh_write_fields(ctx, mesh, path, fields, modes->count))
        status = app_fail(ctx);
    free(fields);
    free(names);
    return status;
}

/* A shape has no amplitude of its own: drawn with its largest displacement a tenth of the body's size. */
static int draw_shape(bough_context *ctx, const bough_mesh *mesh, const bough_modes *modes, const arguments *a) {
    int32_t k = a->shape ? a->shape - 1 : modes->rigid_count < modes->count ? modes->rigid_count : 0;
    const double *shape = modes->shapes + 3 * (size_t)k * (size_t)modes->vertex_count;
    double largest = 0, lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double *s = shape + 3 * v;
        largest = fmax(largest, sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]));
        for (int d = 0; d < 3; d++) {
            lower[d] = fmin(lower[d], mesh->vertices[3 * v + d]);
            upper[d] = fmax(upper[d], mesh->vertices[3 * v + d]);
        }
    }
    double size = hypot(hypot(upper[0] - lower[0], upper[1] - lower[1]), upper[2] - lower[2]);
    char title[64];
    snprintf(title, sizeof title, "mode %d: %.4g Hz", k + 1, modes->frequencies_hz[k]);
    double *scaled = calloc(3 * (size_t)mesh->vertex_count, sizeof *scaled);
    int status = scaled ? APP_OK : app_fail_with("out of memory");
    for (int32_t i = 0; status == APP_OK && i < 3 * mesh->vertex_count; i++)
        scaled[i] = largest > 0 ? shape[i] / largest : 0;
    if (status == APP_OK && app_picture(ctx, mesh, scaled, 0.1 * size, title, "|u| / largest", a->picture))
        status = app_fail(ctx);
    free(scaled);
    return status;
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

int command_modes(int argc, char **argv) {
    arguments a = {.body = app_default_body_options(), .count = 10};
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(a.body.threads);
    bough_body *body;
    bough_modes *modes = NULL;
    int status = app_make_body(ctx, &a.body, &body);
    double wall = app_seconds(), cpu = app_cpu_seconds();
    if (status == APP_OK && bough_body_modes(ctx, body, a.count, NULL, &modes))
        status = app_fail(ctx);
    app_clear_progress();
    if (status == APP_OK) {
        const bough_mesh *mesh = bough_body_mesh(body);
        wall = app_seconds() - wall, cpu = app_cpu_seconds() - cpu;
        if (a.body.json) {
            print_json(mesh, modes, wall, cpu);
        } else {
            printf("%d vertices, %d %s elements, %.2f s\n", mesh->vertex_count, mesh->element_count,
                   bough_element_name(mesh->type), wall);
            print_table(modes);
        }
        if (a.output)
            status = write_shapes(ctx, mesh, modes, a.output);
        if (status == APP_OK && a.picture)
            status = draw_shape(ctx, mesh, modes, &a);
    }
    bough_modes_destroy(ctx, modes);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
    return status;
}
