#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_STEPS = 300, OPT_TOLERANCE, OPT_PROBE, OPT_SCALE, OPT_ENGINE, OPT_ALONG, OPT_EVERY, OPT_TIME, OPT_CSV };

#define MAX_PROBES ((int)(sizeof((app_list *)NULL)->items / sizeof(char *)))

typedef struct {
    app_body_options body;
    bough_static_def def;
    app_list probes;
    const char *output, *picture, *engine, *csv;
    double scale, every, until;
    bool along;
    bool of_body; /* an option was given that is for bodies */
} arguments;

static const struct argp_option options[] = {
    {"steps", OPT_STEPS, "N", 0, "load steps to begin with (default 1; they are halved where needed)", 0},
    {"tolerance", OPT_TOLERANCE, "T", 0, "residual over applied force (default 1e-9)", 0},
    {"probe", OPT_PROBE, "SELECT", 0, "report the mean displacement of these vertices; may be repeated", 0},
    {"engine", OPT_ENGINE, "NAME", 0,
     "of a scene of parts: tree (the reduced parts), or full (the whole mesh of its object); of a mechanism: mechanism "
     "or full; of bodies with joints: multibody or full",
     0},
    {"output", 'o', "FILE.vtu", 0, "write displacement and stress", 0},
    {"picture", 'p', "FILE.png", 0, "draw the deformed body", 0},
    {"along", OPT_ALONG, NULL, 0, "of a multibody scene: the equilibrium at every time of its motors' curves", 0},
    {"every", OPT_EVERY, "S", 0, "seconds between the times of --along (default 1/30)", 0},
    {"time", OPT_TIME, "S", 0, "the last time of --along, instead of the scene's duration", 0},
    {"csv", OPT_CSV, "FILE.csv", 0,
     "table of --along, a row for each time: probes, and position (px py pz) and quaternion (qw qx qy qz) of every "
     "body "
     "and part",
     0},
    {"scale", OPT_SCALE, "S", 0, "exaggerate displacements in the picture", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    a->of_body |= key == OPT_STEPS || key == OPT_TOLERANCE || key == OPT_PROBE;
    switch (key) {
    case OPT_ENGINE:
        a->engine = app_parse_engine(state, text);
        break;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->body;
        break;
    case OPT_ALONG:
        a->along = true;
        break;
    case OPT_EVERY:
        a->every = app_need_positive(state, "every", text);
        break;
    case OPT_TIME:
        a->until = app_need_positive(state, "time", text);
        break;
    case OPT_CSV:
        app_need_extension(state, "csv", text, ".csv");
        a->csv = text;
        break;
    case ARGP_KEY_END:
        if (!a->along && (a->every > 0 || a->until > 0 || a->csv))
            argp_error(state, "--every, --time and --csv are for --along");
        if (a->along && (a->output || a->picture))
            argp_error(state, "--along writes a table (--csv), and no pictures and fields");
        break;
    case OPT_STEPS:
        if (!app_parse_int(text, 1, 1000000, &a->def.load_steps))
            argp_error(state, "--steps: \"%s\" should be a positive number", text);
        break;
    case OPT_TOLERANCE:
        if (!app_parse_numbers(text, 1, &a->def.tolerance) || a->def.tolerance <= 0)
            argp_error(state, "--tolerance: \"%s\" should be a positive number", text);
        break;
    case OPT_SCALE:
        if (!app_parse_numbers(text, 1, &a->scale))
            argp_error(state, "--scale: \"%s\" is not a number", text);
        break;
    case OPT_PROBE:
        if (a->probes.count == MAX_PROBES)
            argp_error(state, "more than %d probes", MAX_PROBES);
        a->probes.items[a->probes.count++] = text;
        break;
    case 'o':
        app_need_extension(state, "output", text, ".vtu");
        a->output = text;
        break;
    case 'p':
        app_need_extension(state, "picture", text, ".png");
        a->picture = text;
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
    "Equilibrium of a body under gravity, forces, pressures and moved supports (Newton's method with load steps), or "
    "of a scene: of bodies that touch each other and obstacles, of parts, mechanisms, or bodies with joints."
    "\vExamples:\n"
    "  bough static beam.msh --fix 'x<0.001' --gravity 0,0,-9.81 --probe 'x>0.999' --picture sag.png\n"
    "  bough static beam.msh --young 1e9 --fix x0 --force 0,0,-10@x1 --output bent.vtu\n"
    "  bough static beam.json --json\n"
    "  bough static tree/scene.json --picture sag.png\n"
    "  bough static stack/scene.json --json    (with \"obstacles\" or several \"bodies\": what lies on what)\n"
    "  bough static robot/scene.json --along --every 0.01 --csv targets.csv\n\n"
    "Ctrl-C ends early and keeps the last load step that was in equilibrium, or the rows of the table so far.",
    children,
    NULL,
    NULL};

typedef struct {
    double mean[3];
    int32_t count;
} probe;

/* With u = NULL it only makes sure, before the work begins, that every probe has vertices. */
static int measure_probes(bough_context *ctx, const bough_mesh *mesh, const double *u, const app_list *names,
                          probe *probes) {
    for (int i = 0; i < names->count; i++) {
        int32_t *vertices;
        probes[i] = (probe){0};
        if (bough_mesh_select(ctx, mesh, names->items[i], &vertices, &probes[i].count))
            return app_fail(ctx);
        for (int32_t k = 0; u && k < probes[i].count; k++)
            for (int d = 0; d < 3; d++)
                probes[i].mean[d] += u[3 * (size_t)vertices[k] + (size_t)d] / probes[i].count;
        bough_release(ctx, vertices);
    }
    return APP_OK;
}

static void print_text(const bough_mesh *mesh, const bough_static_result *r, const app_list *names, const probe *probes,
                       double seconds) {
    printf("%s after %d load step%s, %d iterations, %.2f s\n", r->converged ? "equilibrium" : "stopped", r->steps,
           r->steps == 1 ? "" : "s", r->iterations, seconds);
    if (!r->converged)
        printf("load reached           %.4g of the whole\n", r->load_fraction);
    printf("relative residual      %.2e\n", r->residual);
    printf("largest displacement   %.6g m at vertex %d (%g, %g, %g)\n", r->max_displacement, r->max_vertex,
           mesh->vertices[3 * r->max_vertex], mesh->vertices[3 * r->max_vertex + 1],
           mesh->vertices[3 * r->max_vertex + 2]);
    printf("elastic energy         %.6g J\n", r->energy);
    if (!r->stable)
        printf("the equilibrium is unstable: a small push would make the body snap elsewhere\n");
    for (int i = 0; i < names->count; i++)
        printf("probe %-16s %.9g %.9g %.9g m (mean of %d)\n", names->items[i], probes[i].mean[0], probes[i].mean[1],
               probes[i].mean[2], probes[i].count);
}

static void print_json(const bough_mesh *mesh, const bough_static_result *r, const app_list *names, const probe *probes,
                       double seconds, double cpu) {
    json_t *measured = json_object();
    for (int i = 0; i < names->count; i++) {
        json_t *name = app_json_text(names->items[i]);
        json_object_set_new(measured, json_string_value(name),
                            json_pack("{s:o, s:i}", "displacement", app_json_numbers(probes[i].mean, 3), "vertices",
                                      (int)probes[i].count));
        json_decref(name);
    }
    app_print_json(json_pack(
        "{s:b, s:i, s:i, s:f, s:o, s:o, s:i, s:o, s:b, s:o, s:i, s:i, s:s, s:f, s:f}", "converged", (int)r->converged,
        "iterations", (int)r->iterations, "load_steps", (int)r->steps, "load_fraction", r->load_fraction, "residual",
        app_json_number(r->steps ? r->residual : NAN), "max_displacement", app_json_number(r->max_displacement),
        "max_vertex", (int)r->max_vertex, "energy", app_json_number(r->energy), "stable", (int)r->stable, "probes",
        measured, "vertices", (int)mesh->vertex_count, "elements", (int)mesh->element_count, "element_type",
        bough_element_name(mesh->type), "seconds", seconds, "cpu_seconds", cpu));
}

static int write_fields(bough_context *ctx, const bough_body *body, const double *u, const char *path) {
    const bough_mesh *mesh = bough_body_mesh(body);
    size_t n = (size_t)mesh->element_count;
    double *stress = calloc(6 * n, sizeof *stress), *mises = calloc(n, sizeof *mises);
    int status = stress && mises ? APP_OK : app_fail_with("out of memory");
    if (status == APP_OK && bough_body_stress(ctx, body, u, stress, mises))
        status = app_fail(ctx);
    bough_field fields[] = {
        {"displacement", false, 3, u}, {"stress xx yy zz yz xz xy", true, 6, stress}, {"von Mises", true, 1, mises}};
    if (status == APP_OK && bough_mesh_write_fields(ctx, mesh, path, fields, 3))
        status = app_fail(ctx);
    free(stress);
    free(mises);
    return status;
}

static const char *title_of(const arguments *a) {
    static char title[80] = "equilibrium";
    if (a->scale != 1)
        snprintf(title, sizeof title, "equilibrium, displacements drawn %g times as large", a->scale);
    return title;
}

static int report(bough_context *ctx, const bough_body *body, const arguments *a, const double *u,
                  const bough_static_result *result, double seconds, double cpu) {
    const bough_mesh *mesh = bough_body_mesh(body);
    probe probes[MAX_PROBES];
    int status = measure_probes(ctx, mesh, u, &a->probes, probes);
    if (status != APP_OK)
        return status;
    if (a->body.json)
        print_json(mesh, result, &a->probes, probes, seconds, cpu);
    else
        print_text(mesh, result, &a->probes, probes, seconds);
    if (result->steps == 0)
        return status; /* nothing to show */
    if (a->output)
        status = write_fields(ctx, body, u, a->output);
    if (status == APP_OK && a->picture && app_picture(ctx, mesh, u, a->scale, title_of(a), "|u| (m)", a->picture))
        status = app_fail(ctx);
    return status;
}

static int of_scene(const arguments *a) {
    if (a->of_body || app_changes_body(&a->body))
        return app_fail_with("%s: is a scene, which brings its supports, loads and probes; leave out options "
                             "about them",
                             a->body.input),
               APP_USAGE;
    return app_run_static_scene(&(app_static_scene){.scene = a->body.input,
                                                    .engine = a->engine,
                                                    .output = a->output,
                                                    .picture = a->picture,
                                                    .title = title_of(a),
                                                    .scale = a->scale,
                                                    .threads = a->body.threads,
                                                    .json = a->body.json,
                                                    .along = a->along,
                                                    .every = a->every > 0 ? a->every : 1. / 30,
                                                    .until = a->until,
                                                    .csv = a->csv});
}

int command_static(int argc, char **argv) {
    arguments a = {.body = app_default_body_options(), .def = bough_default_static_def(), .scale = 1};
    app_parse(&parser, argc, argv, &a);
    if (app_is_scene_of_parts(a.body.input) || app_is_mechanism(a.body.input) || app_is_multibody(a.body.input) ||
        app_is_scene_of_bodies(a.body.input))
        return of_scene(&a);
    if (a.engine || a.along)
        return app_fail_with("%s: --%s", a.body.input,
                             a.engine ? "engine is for scenes of parts and mechanisms"
                                      : "along is for multibody scenes"),
               APP_USAGE;
    bough_context *ctx = app_context(a.body.threads);
    bough_body *body;
    bough_load_case *load_case;
    int status = app_make_body(ctx, &a.body, &body, &load_case);
    double *u = NULL, wall = app_seconds(), cpu = app_cpu_seconds();
    if (status == APP_OK) {
        probe probes[MAX_PROBES];
        status = measure_probes(ctx, bough_body_mesh(body), NULL, &a.probes, probes);
    }
    if (status == APP_OK) {
        u = calloc(3 * (size_t)bough_body_mesh(body)->vertex_count, sizeof *u);
        if (!u)
            status = app_fail_with("out of memory");
    }
    if (status == APP_OK) {
        bough_static_result result;
        bough_status solved = bough_body_static(ctx, body, load_case, &a.def, u, &result);
        app_clear_progress();
        if (solved)
            status = app_fail(ctx);
        /* The state reached before the failure or Ctrl-C is worth having; programs are told when there is none. */
        if (solved == BOUGH_OK || (solved > 0 && (result.steps > 0 || a.body.json))) {
            int reported = report(ctx, body, &a, u, &result, app_seconds() - wall, app_cpu_seconds() - cpu);
            status = status == APP_OK ? reported : status;
        }
    }
    free(u);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
    return status;
}
