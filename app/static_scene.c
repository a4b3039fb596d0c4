/* bough static of a scene: a run that is settled and never stepped. */
#include "app.h"

#include <math.h>
#include <stdlib.h>
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

bool app_is_scene_of_bodies(const char *path) {
    const bough_file_info info = app_look_at_file(path);
    return !strcmp(info.kind, "body") && (info.touches || info.runs);
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

/* ---- contact ---- */

typedef struct {
    int32_t count;
    double least;        /* m: of the gaps; INFINITY: nothing touches */
    double (*forces)[3]; /* N, on each thing; NULL: nothing touches */
} touching;

static bool look_at_contacts(const bough_run *run, touching *t) {
    const int32_t count = bough_run_can(run) & BOUGH_CAN_CONTACTS ? bough_run_contacts(run, 0, NULL) : 0;
    *t = (touching){.count = count, .least = INFINITY};
    if (count == 0)
        return true;
    bough_run_contact *list = calloc((size_t)count, sizeof *list);
    t->forces = calloc((size_t)bough_run_thing_count(run), sizeof *t->forces);
    if (list && t->forces)
        bough_run_contacts(run, count, list);
    for (int32_t i = 0; i < count && list && t->forces; i++) {
        t->least = fmin(t->least, list[i].gap);
        for (int side = 0; side < 2; side++)
            for (int d = 0; d < 3 && list[i].things[side] >= 0; d++)
                t->forces[list[i].things[side]][d] += (side ? -1 : 1) * list[i].force[d];
    }
    free(list);
    return list && t->forces;
}

static bool has_force(const touching *t, int32_t thing) {
    const double *f = t->forces[thing];
    return t->count > 0 && (f[0] != 0 || f[1] != 0 || f[2] != 0);
}

static void print_contacts(const bough_run *run, const touching *t) {
    if (t->count == 0)
        return;
    printf("contact                at %d points, smallest gap %.3g m\n", t->count, t->least);
    for (int32_t i = 0; i < bough_run_thing_count(run); i++)
        if (has_force(t, i))
            printf("force on %-13s %.9g %.9g %.9g N\n", bough_run_thing(run, i)->name, t->forces[i][0], t->forces[i][1],
                   t->forces[i][2]);
}

static json_t *json_contacts(const bough_run *run, const touching *t) {
    json_t *forces = json_object();
    for (int32_t i = 0; i < bough_run_thing_count(run) && t->count > 0; i++)
        if (has_force(t, i))
            json_object_set_new(forces, bough_run_thing(run, i)->name, app_json_numbers(t->forces[i], 3));
    return json_pack("{s:i, s:o, s:o}", "points", (int)t->count, "gap", app_json_number(t->count ? t->least : NAN),
                     "forces", forces);
}

/* ---- report ---- */

static void print_text(const bough_run *run, const bough_run_report *r, const farthest *f, const touching *t,
                       double seconds) {
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
    print_contacts(run, t);
    for (int32_t c = next_probe(run, STRESS, BOUGH_COLUMN_PROBES); c < bough_run_column_count(run);
         c = next_probe(run, STRESS, c + 1)) {
        char name[256];
        probe_name(run, c, STRESS, name, sizeof name);
        printf("probe %-16s von Mises %.9g Pa, principal %.9g %.9g %.9g Pa\n", name, values[c], values[c + 1],
               values[c + 2], values[c + 3]);
    }
}

static void print_json(const bough_run *run, const bough_run_report *r, const farthest *f, const touching *t,
                       double seconds) {
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
    app_print_json(json_pack("{s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "converged", 1, "engine", r->engine,
                             "residual", app_json_number(r->settle_residual), "max_displacement",
                             app_json_number(f->length), "max_at", app_json_numbers(f->at, 3), "energy",
                             app_json_number(values[BOUGH_COLUMN_ELASTIC]), "contact", json_contacts(run, t), "probes",
                             probes, "seconds", seconds));
}

static int report(bough_context *ctx, const app_static_scene *a, const bough_run *run, double seconds) {
    const bough_mesh *mesh = bough_run_mesh(run);
    const double *u = bough_run_displacement(run);
    bough_run_report r;
    if (!u)
        return app_fail(ctx);
    bough_run_look(run, &r);
    farthest f = find_farthest(mesh, u);
    touching t;
    if (!look_at_contacts(run, &t)) {
        free(t.forces);
        return app_fail_with("out of memory");
    }
    if (a->json)
        print_json(run, &r, &f, &t, seconds);
    else
        print_text(run, &r, &f, &t, seconds);
    free(t.forces);
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
