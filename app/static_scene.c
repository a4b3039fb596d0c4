/* bough static of a scene of parts, a mechanism or a multibody system: a run that is settled and never stepped. */
#include "app.h"

#include <math.h>
#include <string.h>

bough_file_info app_look_at_file(const char *path) {
    bough_context *ctx = bough_context_create(NULL);
    bough_file_info info;
    if (!ctx || !bough_file_look(ctx, path, &info))
        info = (bough_file_info){.kind = ""};
    bough_context_destroy(ctx);
    return info;
}

bool app_is_scene_of_parts(const char *path) {
    return !strcmp(app_look_at_file(path).kind, "parts");
}

bool app_is_multibody(const char *path) {
    return !strcmp(app_look_at_file(path).kind, "multibody");
}

bool app_is_body_in_contact(const char *path) {
    const bough_file_info info = app_look_at_file(path);
    return !strcmp(info.kind, "body") && info.touches;
}

bool app_is_mechanism(const char *path) {
    return !strcmp(app_look_at_file(path).kind, "mechanism");
}

typedef struct {
    double length, at[3]; /* of the largest displacement, and where that vertex is at rest */
} farthest;

static farthest find_farthest(const bough_mesh *mesh, const double *u) {
    farthest f = {0};
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double *d = u + 3 * (size_t)v;
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (length >= f.length) {
            f.length = length;
            memcpy(f.at, mesh->vertices + 3 * (size_t)v, sizeof f.at);
        }
    }
    return f;
}

enum { PROBE_COLUMNS = 9, DISPLACEMENT = 3 }; /* position, displacement, velocity */

#define MOTION ".x"
#define STRESS ".von_mises" /* then the principal stresses, the largest tension first */

/* The first column of the next probe of a kind, by how the name of that column ends, from `column` on. */
static int32_t next_probe(const bough_run *run, const char *ending, int32_t column) {
    const int32_t count = bough_run_column_count(run);
    for (; column < count; column++) {
        const char *end = strrchr(bough_run_column_name(run, column), '.');
        if (end && strcmp(end, ending) == 0)
            break;
    }
    return column;
}

/* "tip" of the column "tip.x" */
static void probe_name(const bough_run *run, int32_t column, const char *ending, char *name, size_t size) {
    const char *text = bough_run_column_name(run, column);
    snprintf(name, size, "%.*s", (int)(strlen(text) - strlen(ending)), text);
}

static void print_text(const bough_run *run, const bough_run_report *r, const farthest *f, double seconds) {
    const double *values = bough_run_values(run);
    printf("equilibrium of the %s engine after %.2f s\n", r->engine, seconds);
    printf("relative residual      %.2e\n", r->settle_residual);
    printf("largest displacement   %.6g m at (%g, %g, %g)\n", f->length, f->at[0], f->at[1], f->at[2]);
    printf("elastic energy         %.6g J\n", values[BOUGH_COLUMN_ELASTIC]);
    for (int32_t c = next_probe(run, MOTION, BOUGH_COLUMN_PROBES); c < bough_run_column_count(run);
         c = next_probe(run, MOTION, c + PROBE_COLUMNS)) {
        char name[256];
        const double *u = values + c + DISPLACEMENT;
        probe_name(run, c, MOTION, name, sizeof name);
        printf("probe %-16s %.9g %.9g %.9g m\n", name, u[0], u[1], u[2]);
    }
    for (int32_t c = next_probe(run, STRESS, BOUGH_COLUMN_PROBES); c < bough_run_column_count(run);
         c = next_probe(run, STRESS, c + 1)) {
        char name[256];
        probe_name(run, c, STRESS, name, sizeof name);
        printf("probe %-16s von Mises %.9g Pa, principal %.9g %.9g %.9g Pa\n", name, values[c], values[c + 1],
               values[c + 2], values[c + 3]);
    }
}

static void print_json(const bough_run *run, const bough_run_report *r, const farthest *f, double seconds) {
    const double *values = bough_run_values(run);
    json_t *probes = json_object();
    for (int32_t c = next_probe(run, MOTION, BOUGH_COLUMN_PROBES); c < bough_run_column_count(run);
         c = next_probe(run, MOTION, c + PROBE_COLUMNS)) {
        char name[256];
        probe_name(run, c, MOTION, name, sizeof name);
        json_object_set_new(probes, name,
                            json_pack("{s:o, s:o}", "position", app_json_numbers(values + c, 3), "displacement",
                                      app_json_numbers(values + c + DISPLACEMENT, 3)));
    }
    for (int32_t c = next_probe(run, STRESS, BOUGH_COLUMN_PROBES); c < bough_run_column_count(run);
         c = next_probe(run, STRESS, c + 1)) {
        char name[256];
        probe_name(run, c, STRESS, name, sizeof name);
        json_object_set_new(probes, name,
                            json_pack("{s:o, s:o}", "von_mises", app_json_number(values[c]), "principal",
                                      app_json_numbers(values + c + 1, 3)));
    }
    app_print_json(json_pack("{s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:f}", "converged", 1, "engine", r->engine,
                             "residual", app_json_number(r->settle_residual), "max_displacement",
                             app_json_number(f->length), "max_at", app_json_numbers(f->at, 3), "energy",
                             app_json_number(values[BOUGH_COLUMN_ELASTIC]), "probes", probes, "seconds", seconds));
}

static int report(bough_context *ctx, const app_static_scene *a, const bough_run *run, double seconds) {
    const bough_mesh *mesh = bough_run_mesh(run);
    const double *u = bough_run_displacement(run);
    bough_run_report r;
    if (!u)
        return app_fail(ctx);
    bough_run_look(run, &r);
    farthest f = find_farthest(mesh, u);
    if (a->json)
        print_json(run, &r, &f, seconds);
    else
        print_text(run, &r, &f, seconds);
    bough_field field = {"displacement", false, 3, u};
    if (a->output && bough_mesh_write_fields(ctx, mesh, a->output, &field, 1))
        return app_fail(ctx);
    if (a->picture && app_picture(ctx, mesh, u, a->scale, a->title, "|u| (m)", a->picture))
        return app_fail(ctx);
    return APP_OK;
}

int app_run_static_scene(const app_static_scene *a) {
    bough_context *ctx = app_context(a->threads);
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    bough_run_def def = bough_default_run_def();
    double began = app_seconds();
    def.settle = true;
    def.duration = 1; /* scenes need not say, and nothing is stepped */
    def.engine = a->engine;
    bough_status status = bough_scene_load(ctx, a->scene, &scene);
    if (!status)
        status = bough_run_create(ctx, scene, &def, &run);
    app_clear_progress();
    int result = APP_OK;
    if (status)
        result = app_fail(ctx);
    else if (a->along)
        result = app_follow_scene(ctx, scene, run, a);
    else
        result = report(ctx, a, run, app_seconds() - began);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    return result;
}
