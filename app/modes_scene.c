/* bough modes of a scene of parts, a mechanism or a multibody system, and what it shares with modes of bodies. */
#include "app.h"

#include <bough/mechanism.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool app_is_body_scene(const char *path) {
    return app_look_at_file(path).runs;
}

int app_write_modes(bough_context *ctx, const bough_mesh *mesh, int32_t count, const double *frequencies,
                    const double *shapes, const char *path) {
    bough_field *fields = calloc((size_t)count, sizeof *fields);
    char(*names)[48] = calloc((size_t)count, sizeof *names);
    int status = fields && names ? APP_OK : app_fail_with("out of memory");
    for (int32_t k = 0; status == APP_OK && k < count; k++) {
        snprintf(names[k], sizeof names[k], "mode %03d %.6g Hz", k + 1, frequencies[k]);
        fields[k] = (bough_field){names[k], false, 3, shapes + 3 * (size_t)k * (size_t)mesh->vertex_count};
    }
    if (status == APP_OK && bough_mesh_write_fields(ctx, mesh, path, fields, count))
        status = app_fail(ctx);
    free(fields);
    free(names);
    return status;
}

int app_draw_mode(bough_context *ctx, const bough_mesh *mesh, const double *shape, int32_t mode, double frequency,
                  const char *path) {
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
    snprintf(title, sizeof title, "mode %d: %.4g Hz", mode + 1, frequency);
    double *scaled = calloc(3 * (size_t)mesh->vertex_count, sizeof *scaled);
    int status = scaled ? APP_OK : app_fail_with("out of memory");
    for (int32_t i = 0; status == APP_OK && i < 3 * mesh->vertex_count; i++)
        scaled[i] = largest > 0 ? shape[i] / largest : 0;
    if (status == APP_OK && app_picture(ctx, mesh, scaled, 0.1 * size, title, "|u| / largest", path))
        status = app_fail(ctx);
    free(scaled);
    return status;
}

/* ---- what was found ---- */

typedef struct {
    const char *engine, *coupling; /* coupling NULL: it has none */
    bool at_reference;             /* of a mechanism: about its reference pose */
    int32_t count, unstable, coordinates;
    double *hz;
    int32_t reduced_count; /* of a mechanism with end effectors: what is left by its reduction */
    double *reduced;
    double *shapes;  /* count x 3 vertices of the run's mesh; NULL: nobody wants to see them */
    double residual; /* of settling; NAN: about rest */
} found;

static void free_found(found *f) {
    free(f->hz);
    free(f->reduced);
    free(f->shapes);
}

static bool make_found(found *f, int32_t count, const bough_mesh *mesh) {
    f->hz = calloc((size_t)count, sizeof *f->hz);
    f->reduced = calloc((size_t)count, sizeof *f->reduced);
    f->shapes = mesh ? calloc((size_t)count * 3 * (size_t)mesh->vertex_count, sizeof *f->shapes) : NULL;
    return f->hz && f->reduced && (!mesh || f->shapes);
}

static void print_found(const found *f) {
    const char *about = isnan(f->residual) ? "about rest, without weight" : "about its equilibrium";
    if (f->at_reference)
        printf("mechanism, about its reference pose\n");
    else if (f->coupling)
        printf("tree of %d coordinates, coupling %s, %s\n", f->coordinates, f->coupling, about);
    else
        printf("%d velocities, %s\n", f->coordinates, about);
    printf("mode   frequency (Hz)%s\n", f->reduced_count ? "   reduced to its end effectors (Hz)" : "");
    for (int32_t k = 0; k < f->count; k++) {
        printf("%4d  %15.6g", k + 1, f->hz[k]);
        if (k < f->reduced_count)
            printf("   %15.6g", f->reduced[k]);
        putchar('\n');
    }
    if (f->unstable)
        printf("%d of them unstable: there it falls over instead of swinging\n", f->unstable);
}

static void print_found_json(const found *f, double seconds) {
    json_t *object =
        json_pack("{s:s, s:o, s:i, s:f}", "engine", f->engine, "frequencies_hz", app_json_numbers(f->hz, f->count),
                  "unstable_modes", (int)f->unstable, "seconds", seconds);
    if (f->coupling)
        json_object_set_new(object, "coupling", json_string(f->coupling));
    if (!f->at_reference) {
        json_object_set_new(object, "coordinates", json_integer(f->coordinates));
        json_object_set_new(object, "settled", json_boolean(!isnan(f->residual)));
        json_object_set_new(object, "settle_residual", app_json_number(f->residual));
    } else {
        json_object_set_new(object, "reduced_frequencies_hz", app_json_numbers(f->reduced, f->reduced_count));
    }
    app_print_json(object);
}

/* ---- trees ---- */

/* A mode as velocities: those of the vertices are its shape, to first order and exactly. */
static int show_tree(bough_context *ctx, bough_run *run, const bough_tree_model *model, bough_tree_state *state,
                     const bough_tree_modes *modes, found *f) {
    const bough_mesh *mesh = bough_run_mesh(run);
    const size_t n = 3 * (size_t)mesh->vertex_count, size = (size_t)modes->size;
    for (int32_t k = 0; k < modes->count && f->shapes; k++) {
        memcpy(state->v, modes->shapes + (size_t)k * size, size * sizeof *state->v);
        if (bough_tree_state_update(ctx, model, state))
            return app_fail(ctx);
        const double *velocity = bough_run_velocity(run);
        if (!velocity)
            return app_fail(ctx);
        memcpy(f->shapes + (size_t)k * n, velocity, n * sizeof *velocity);
    }
    return APP_OK;
}

static int find_in_tree(bough_context *ctx, const app_modes_scene *a, bough_run *run, found *f) {
    const bough_tree_model *model;
    const bough_tree_state *constant;
    bough_tree_modes *modes = NULL;
    if (!bough_run_model(run, &model, &constant))
        return app_fail_with("%s: has no tree to find modes of", a->scene);
    bough_tree_state *state = bough_run_state(run);
    if (!a->settle)
        memset(state->gravity, 0, sizeof state->gravity);
    if (bough_tree_state_modes(ctx, model, state, a->count, &modes))
        return app_fail(ctx);
    app_clear_progress();
    int status = APP_OK;
    const bough_mesh *mesh = a->output || a->picture ? bough_run_mesh(run) : NULL;
    if ((a->output || a->picture) && !mesh)
        status = app_fail(ctx);
    else if (!make_found(f, modes->count, mesh))
        status = app_fail_with("out of memory");
    if (status == APP_OK) {
        f->count = modes->count, f->unstable = modes->unstable_count, f->coordinates = modes->size;
        memcpy(f->hz, modes->frequencies_hz, (size_t)modes->count * sizeof *f->hz);
        if (mesh)
            status = show_tree(ctx, run, model, state, modes, f);
    }
    bough_tree_modes_destroy(ctx, modes);
    return status;
}

/* ---- mechanisms ---- */

/* The rigids' surfaces follow each other in the run's mesh, as they are at rest. */
static void show_links(const bough_run *run, const bough_mesh *mesh, const double *twists, int32_t link_count,
                       found *f) {
    const size_t n = 3 * (size_t)mesh->vertex_count;
    for (int32_t k = 0; k < f->count; k++) {
        size_t at = 0;
        for (int32_t i = 0; i < link_count; i++) { /* they are the first things of a run */
            const int32_t vertices = bough_run_thing(run, i)->vertex_count;
            for (int32_t v = 0; v < vertices && at + 3 <= n; v++, at += 3) {
                const double *t = twists + 6 * ((size_t)k * (size_t)link_count + (size_t)i);
                const double *x = mesh->vertices + at;
                double *u = f->shapes + (size_t)k * n + at;
                u[0] = t[0] + t[4] * x[2] - t[5] * x[1];
                u[1] = t[1] + t[5] * x[0] - t[3] * x[2];
                u[2] = t[2] + t[3] * x[1] - t[4] * x[0];
            }
        }
    }
}

static int find_reduced(bough_context *ctx, const bough_mechanism *mechanism, found *f) {
    bough_mechanism_statics *statics = NULL;
    bough_mechanism_model *model = NULL;
    if (bough_mechanism_describe(mechanism)->end_effector_count == 0)
        return APP_OK;
    int status = bough_mechanism_statics_create(ctx, mechanism, NULL, &statics) ||
                         bough_mechanism_model_create(ctx, mechanism, statics, NULL, &model) ||
                         bough_mechanism_model_frequencies(ctx, model, f->count, f->reduced, &f->reduced_count)
                     ? app_fail(ctx)
                     : APP_OK;
    bough_mechanism_model_destroy(ctx, model);
    bough_mechanism_statics_destroy(ctx, statics);
    return status;
}

static int find_in_mechanism(bough_context *ctx, const app_modes_scene *a, const bough_scene *scene, bough_run *run,
                             found *f) {
    const bough_mechanism *mechanism = bough_scene_mechanism(scene);
    const bough_mesh *mesh = run ? bough_run_mesh(run) : NULL;
    if (!mechanism)
        return app_fail_with("%s: has rigid bodies only, and nothing that vibrates", a->scene);
    if (run && !mesh)
        return app_fail(ctx);
    const int32_t links = bough_mechanism_describe(mechanism)->link_count;
    double *twists = calloc((size_t)a->count * 6 * (size_t)links, sizeof *twists);
    int status = twists && make_found(f, a->count, mesh) ? APP_OK : app_fail_with("out of memory");
    if (status == APP_OK && bough_mechanism_modes(ctx, mechanism, a->count, f->hz, twists, &f->count))
        status = app_fail(ctx);
    if (status == APP_OK)
        status = find_reduced(ctx, mechanism, f);
    if (status == APP_OK && mesh)
        show_links(run, mesh, twists, links, f);
    free(twists);
    return status;
}

/* ---- whatever finds its modes itself ---- */

static int find_in_run(bough_context *ctx, const app_modes_scene *a, bough_run *run, found *f) {
    const double none[3] = {0};
    const bough_mesh *mesh = a->output || a->picture ? bough_run_mesh(run) : NULL;
    if ((a->output || a->picture) && !mesh)
        return app_fail(ctx);
    if (!make_found(f, a->count, mesh))
        return app_fail_with("out of memory");
    bough_run_modes modes = {.most = a->count, .frequencies_hz = f->hz, .shapes = f->shapes};
    if ((isnan(f->residual) && bough_run_set_gravity(ctx, run, none)) || bough_run_find_modes(ctx, run, &modes))
        return app_fail(ctx);
    f->count = modes.count, f->unstable = modes.unstable_count, f->coordinates = modes.coordinates;
    return APP_OK;
}

/* ---- all ---- */

static int report(bough_context *ctx, const app_modes_scene *a, const bough_run *run, const found *f, double seconds) {
    app_clear_progress();
    if (a->json)
        print_found_json(f, seconds);
    else
        print_found(f);
    const int32_t k = a->shape ? a->shape - 1 : 0;
    if ((a->output || a->picture) && f->count == 0)
        return app_fail_with("%s: has no mode to show", a->scene);
    if (a->picture && k >= f->count)
        return app_fail_with("--shape %d: there are only %d modes", a->shape, f->count);
    const bough_mesh *mesh = f->shapes ? bough_run_mesh(run) : NULL;
    int status = APP_OK;
    if (a->output)
        status = app_write_modes(ctx, mesh, f->count, f->hz, f->shapes, a->output);
    if (status == APP_OK && a->picture)
        status =
            app_draw_mode(ctx, mesh, f->shapes + 3 * (size_t)k * (size_t)mesh->vertex_count, k, f->hz[k], a->picture);
    return status;
}

/* The engine of the scene, which finds modes itself, or the tree's: its state is ours. */
static int make_run(bough_context *ctx, const app_modes_scene *a, const bough_scene *scene, found *f, bough_run **run) {
    bough_run_def def = bough_default_run_def();
    bough_run_report r;
    def.engine = f->at_reference || app_is_multibody(a->scene) ? NULL : "tree";
    def.coupling = a->coupling, def.settle = a->settle;
    def.live = true;
    if (bough_run_create(ctx, scene, &def, run))
        return app_fail(ctx);
    bough_run_look(*run, &r);
    if (!f->at_reference)
        f->engine = r.engine, f->coupling = r.coupling;
    f->residual = a->settle || !f->coupling ? r.settle_residual : NAN;
    return APP_OK;
}

int app_run_modes_scene(const app_modes_scene *a) {
    bough_context *ctx = app_context(a->threads);
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    found f = {.engine = "mechanism", .at_reference = app_is_mechanism(a->scene), .residual = NAN};
    double began = app_seconds();
    int status = APP_OK;
    if (a->coupling && (f.at_reference || app_is_multibody(a->scene))) {
        app_fail_with("%s: --coupling is for scenes of parts", a->scene);
        status = APP_USAGE;
    } else if (f.at_reference && a->settle) {
        app_fail_with("%s: --settle is for scenes of parts and multibody systems", a->scene);
        status = APP_USAGE;
    } else if (bough_scene_load(ctx, a->scene, &scene))
        status = app_fail(ctx);
    if (status == APP_OK && (!f.at_reference || a->output || a->picture))
        status = make_run(ctx, a, scene, &f, &run);
    if (status == APP_OK)
        status = f.at_reference                         ? find_in_mechanism(ctx, a, scene, run, &f)
                 : bough_run_can(run) & BOUGH_CAN_MODES ? find_in_run(ctx, a, run, &f)
                                                        : find_in_tree(ctx, a, run, &f);
    if (status == APP_OK)
        status = report(ctx, a, run, &f, app_seconds() - began);
    free_found(&f);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    return status;
}
