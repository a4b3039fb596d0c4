/* Runs frame by frame as arrays for NumPy and as Wavefront files. docs/export.md tells what is in them. */
#include "film.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- .npz ---- */

/* Numbers of the arrays that grow, in the order in which they are added. */
enum { TIME, COLUMNS, Q, ORIGIN, ROTATION, PRESENT, DISPLACEMENT = Q };

static bough_status add_columns(bough_context *ctx, const bough_run *run, bough_npz *npz) {
    const int32_t count = bough_run_column_count(run);
    const char **names = malloc(((size_t)count + 1) * sizeof *names);
    bough_status s = names ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < count && !s; c++)
        names[c] = bough_run_column_name(run, c);
    if (!s)
        s = bough_npz_add_texts(ctx, npz, "column_names", count, names);
    free(names);
    return s;
}

static bough_status add_component_names(bough_context *ctx, const bough_tree_model_def *def, bough_npz *npz) {
    char(*texts)[64] = malloc(((size_t)def->component_count + 1) * sizeof *texts);
    const char **names = malloc(((size_t)def->component_count + 1) * sizeof *names);
    for (int32_t c = 0; c < def->component_count && texts && names; c++) {
        app_component_name(def->components[c], texts[c], sizeof texts[c]);
        names[c] = texts[c];
    }
    bough_status s = texts && names ? bough_npz_add_texts(ctx, npz, "component_names", def->component_count, names)
                                    : BOUGH_ERROR_MEMORY;
    free(texts);
    free(names);
    return s;
}

/* Adds the constant data of the parts: array `first` is their components, the next where their coordinates begin. */
static bough_status add_parts(bough_context *ctx, const bough_tree_model *model, int32_t first, bough_npz *npz) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    const char **names = malloc(((size_t)def->part_count + 1) * sizeof *names);
    bough_status s = names ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < def->part_count && !s; p++)
        names[p] = def->parts[p].name;
    if (!s)
        s = bough_npz_add_array(ctx, npz, "part_component", BOUGH_NPZ_INT32, 0, NULL);
    if (!s)
        s = bough_npz_add_array(ctx, npz, "part_q", BOUGH_NPZ_INT32, 0, NULL);
    for (int32_t p = 0; p < def->part_count && !s; p++) {
        const int32_t offset = bough_tree_model_offset(model, p);
        s = bough_npz_append(ctx, npz, first, 1, &def->parts[p].component);
        s = s ? s : bough_npz_append(ctx, npz, first + 1, 1, &offset);
    }
    if (!s)
        s = bough_npz_add_texts(ctx, npz, "part_names", def->part_count, names);
    free(names);
    return s ? s : add_component_names(ctx, def, npz);
}

static bough_status add_tree(bough_context *ctx, const bough_tree_model *model, bough_npz *npz) {
    const int32_t size = bough_tree_model_size(model), parts = bough_tree_model_part_count(model);
    const int32_t vectors[2] = {parts, 3}, matrices[3] = {parts, 3, 3};
    bough_status s = bough_npz_add_array(ctx, npz, "q", BOUGH_NPZ_FLOAT64, 1, &size);
    s = s ? s : bough_npz_add_array(ctx, npz, "origin", BOUGH_NPZ_FLOAT64, 2, vectors);
    s = s ? s : bough_npz_add_array(ctx, npz, "rotation", BOUGH_NPZ_FLOAT64, 3, matrices);
    s = s ? s : bough_npz_add_array(ctx, npz, "present", BOUGH_NPZ_INT32, 1, &parts);
    return s ? s : add_parts(ctx, model, PRESENT + 1, npz);
}

/* The array for the snapshots of a part in full order: one for all parts of a component, behind the vertices. *first: the
 * first of these parts. */
static int32_t snapshots_of(const bough_run *run, int32_t thing, int32_t *first) {
    int32_t array = DISPLACEMENT + 2;
    for (*first = 0; bough_run_thing(run, *first)->look != bough_run_thing(run, thing)->look; ++*first) {
        int32_t before = 0;
        while (bough_run_thing(run, before)->look != bough_run_thing(run, *first)->look)
            before++;
        array += before == *first && bough_run_thing(run, *first)->full_count > 0;
    }
    return array;
}

/* Snapshots to cook from; their array has the name of the first part. */
static bough_status add_snapshots(bough_context *ctx, const bough_run *run, bough_npz *npz) {
    bough_status s = BOUGH_OK;
    for (int32_t i = 0, first; i < bough_run_thing_count(run) && !s; i++) {
        const bough_thing *thing = bough_run_thing(run, i);
        char name[59]; /* letters, digits and underscores */
        snprintf(name, sizeof name, "snapshots_%s", thing->name);
        for (char *c = name; *c; c++)
            *c = isalnum((unsigned char)*c) && (unsigned char)*c < 128 ? *c : '_';
        snapshots_of(run, i, &first);
        if (thing->full_count > 0 && first == i)
            s = bough_npz_add_array(ctx, npz, name, BOUGH_NPZ_FLOAT64, 1, &thing->full_count);
    }
    return s;
}

static bough_status append_snapshots(bough_context *ctx, const bough_run *run, bough_npz *npz) {
    bough_status s = BOUGH_OK;
    for (int32_t i = 0, first; i < bough_run_thing_count(run) && !s; i++) {
        bough_thing_state now;
        if (bough_run_thing(run, i)->full_count > 0 && bough_run_thing_state(run, i, &now))
            s = bough_npz_append(ctx, npz, snapshots_of(run, i, &first), 1, now.q);
    }
    return s;
}

static bough_status add_body(bough_context *ctx, const bough_run *run, bough_npz *npz) {
    const bough_mesh *mesh = bough_run_mesh(run);
    if (!mesh)
        return BOUGH_ERROR_MEMORY;
    const int32_t shape[2] = {mesh->vertex_count, 3}, three = 3;
    bough_status s = bough_npz_add_array(ctx, npz, "displacement", BOUGH_NPZ_FLOAT64, 2, shape);
    s = s ? s : bough_npz_add_array(ctx, npz, "vertices", BOUGH_NPZ_FLOAT64, 1, &three);
    s = s ? s : bough_npz_append(ctx, npz, DISPLACEMENT + 1, mesh->vertex_count, mesh->vertices);
    return s ? s : add_snapshots(ctx, run, npz);
}

/* ---- contacts: a row for each point of each frame ---- */

static const char *const contact_count = "contact_count", *const contact_things = "contact_things";

/* Numbers of each point, f64. */
static const struct {
    const char *name;
    int32_t size; /* 0: one number */
} contact_arrays[] = {{"contact_position", 3},     {"contact_normal", 3},   {"contact_force", 3},
                      {"contact_normal_force", 0}, {"contact_friction", 3}, {"contact_gap", 0}};
enum { CONTACT_ARRAYS = sizeof contact_arrays / sizeof *contact_arrays };

static bough_status add_thing_names(bough_context *ctx, const bough_run *run, bough_npz *npz) {
    const int32_t count = bough_run_thing_count(run);
    const char **names = malloc(((size_t)count + 1) * sizeof *names);
    for (int32_t i = 0; i < count && names; i++)
        names[i] = bough_run_thing(run, i)->name;
    const bough_status s = names ? bough_npz_add_texts(ctx, npz, "thing_names", count, names) : BOUGH_ERROR_MEMORY;
    free(names);
    return s;
}

static bough_status add_contacts(bough_context *ctx, const bough_run *run, bough_npz *npz) {
    const int32_t two = 2;
    if (!(bough_run_can(run) & BOUGH_CAN_CONTACTS))
        return BOUGH_OK;
    bough_status s = bough_npz_add_array(ctx, npz, contact_count, BOUGH_NPZ_INT32, 0, NULL);
    s = s ? s : bough_npz_add_array(ctx, npz, contact_things, BOUGH_NPZ_INT32, 1, &two);
    for (int i = 0; i < CONTACT_ARRAYS && !s; i++)
        s = bough_npz_add_array(ctx, npz, contact_arrays[i].name, BOUGH_NPZ_FLOAT64, contact_arrays[i].size > 0,
                                &contact_arrays[i].size);
    return s ? s : add_thing_names(ctx, run, npz);
}

static bough_status append_contact(bough_context *ctx, const bough_run_contact *c, bough_npz *npz) {
    double normal_force = 0, friction[3];
    for (int d = 0; d < 3; d++)
        normal_force += c->force[d] * c->normal[d];
    for (int d = 0; d < 3; d++)
        friction[d] = c->force[d] - normal_force * c->normal[d];
    const double *const rows[CONTACT_ARRAYS] = {c->position, c->normal, c->force, &normal_force, friction, &c->gap};
    bough_status s = bough_npz_append(ctx, npz, bough_npz_find(npz, contact_things), 1, c->things);
    for (int i = 0; i < CONTACT_ARRAYS && !s; i++)
        s = bough_npz_append(ctx, npz, bough_npz_find(npz, contact_arrays[i].name), 1, rows[i]);
    return s;
}

static bough_status append_contacts(bough_context *ctx, const bough_run *run, bough_npz *npz) {
    if (!(bough_run_can(run) & BOUGH_CAN_CONTACTS))
        return BOUGH_OK;
    const int32_t count = bough_run_contacts(run, 0, NULL);
    bough_run_contact *list = malloc(((size_t)count + 1) * sizeof *list);
    if (!list)
        return BOUGH_ERROR_MEMORY;
    bough_run_contacts(run, count, list);
    bough_status s = bough_npz_append(ctx, npz, bough_npz_find(npz, contact_count), 1, &count);
    for (int32_t i = 0; i < count && !s; i++)
        s = append_contact(ctx, &list[i], npz);
    free(list);
    return s;
}

/* ---- all of it ---- */

bough_status app_npz_create(bough_context *ctx, const bough_run *run, const char *path, bough_npz **npz) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    const int32_t columns = bough_run_column_count(run);
    bough_status s = bough_npz_create(ctx, path, npz);
    if (s)
        return s;
    s = bough_npz_add_array(ctx, *npz, "time", BOUGH_NPZ_FLOAT64, 0, NULL);
    s = s ? s : bough_npz_add_array(ctx, *npz, "columns", BOUGH_NPZ_FLOAT64, 1, &columns);
    if (!s)
        s = bough_run_model(run, &model, &state) ? add_tree(ctx, model, *npz) : add_body(ctx, run, *npz);
    s = s ? s : add_columns(ctx, run, *npz);
    return s ? s : add_contacts(ctx, run, *npz);
}

/* Neither it nor what it hangs on is absent. */
static bool is_there(const bough_part_def *parts, int32_t part) {
    while (part >= 0 && !parts[part].absent)
        part = parts[part].parent;
    return part < 0;
}

static bough_status append_tree(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                bough_npz *npz) {
    const int32_t count = bough_tree_model_part_count(model);
    const bough_part_def *parts = bough_tree_state_parts(model, state);
    double *origin = malloc((12 * (size_t)count + 1) * sizeof *origin), *rotation = origin + 3 * (size_t)count;
    int32_t *present = malloc(((size_t)count + 1) * sizeof *present);
    bough_status s = origin && present ? bough_npz_append(ctx, npz, Q, 1, state->q) : BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < count && !s; p++) {
        memcpy(origin + 3 * (size_t)p, state->frames[p].pose.position, sizeof state->frames[p].pose.position);
        memcpy(rotation + 9 * (size_t)p, state->frames[p].pose.rotation, sizeof state->frames[p].pose.rotation);
        present[p] = is_there(parts, p);
    }
    s = s ? s : bough_npz_append(ctx, npz, ORIGIN, 1, origin);
    s = s ? s : bough_npz_append(ctx, npz, ROTATION, 1, rotation);
    s = s ? s : bough_npz_append(ctx, npz, PRESENT, 1, present);
    free(origin);
    free(present);
    return s;
}

bough_status app_npz_add(bough_context *ctx, const bough_run *run, bough_npz *npz) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    const double *values = bough_run_values(run), *u;
    bough_status s = bough_npz_append(ctx, npz, TIME, 1, &values[BOUGH_COLUMN_TIME]);
    s = s ? s : bough_npz_append(ctx, npz, COLUMNS, 1, values);
    s = s ? s : append_contacts(ctx, run, npz);
    if (s)
        return s;
    if (bough_run_model(run, &model, &state))
        return append_tree(ctx, model, state, npz);
    u = bough_run_displacement(run);
    s = u ? bough_npz_append(ctx, npz, DISPLACEMENT, 1, u) : BOUGH_ERROR_MEMORY;
    return s ? s : append_snapshots(ctx, run, npz);
}

/* ---- .obj ---- */

static bough_status write_parts(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                const char *path) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    const size_t scalars = 3 * (size_t)bough_tree_model_vertex_count(model);
    float *x = malloc((2 * scalars + 1) * sizeof *x);
    int32_t *triangles = malloc((3 * (size_t)bough_tree_model_triangle_count(model) + 1) * sizeof *triangles);
    bough_obj_group *groups = malloc(((size_t)def->part_count + 1) * sizeof *groups);
    bough_status s =
        x && triangles && groups ? bough_tree_state_surface(ctx, model, state, x, x + scalars) : BOUGH_ERROR_MEMORY;
    if (!s) {
        bough_tree_model_triangles(model, triangles);
        for (int32_t p = 0; p < def->part_count; p++)
            groups[p] =
                (bough_obj_group){def->parts[p].name, def->components[def->parts[p].component]->surface.triangle_count};
        s = bough_obj_write(ctx, path, bough_tree_model_vertex_count(model), x, x + scalars, triangles, def->part_count,
                            groups);
    }
    free(x);
    free(triangles);
    free(groups);
    return s;
}

static bough_status write_body(bough_context *ctx, const bough_run *run, const char *path) {
    const bough_mesh *mesh = bough_run_mesh(run);
    const double *u = bough_run_displacement(run);
    app_view view;
    bough_status s = mesh && u ? app_view_create(ctx, mesh, &view) : BOUGH_ERROR_MEMORY;
    if (s)
        return s;
    const int32_t count = view.surface->vertex_count;
    float *x = malloc((3 * (size_t)count + 1) * sizeof *x);
    for (int32_t v = 0; v < count && x; v++)
        for (size_t d = 0; d < 3; d++)
            x[3 * (size_t)v + d] = (float)(view.surface->vertices[3 * (size_t)v + d] +
                                           u[3 * (size_t)(view.vertex_map ? view.vertex_map[v] : v) + d]);
    const bough_obj_group all = {"body", view.surface->element_count};
    s = x ? bough_obj_write(ctx, path, count, x, NULL, view.surface->elements, 1, &all) : BOUGH_ERROR_MEMORY;
    free(x);
    app_view_destroy(ctx, &view);
    return s;
}

bough_status app_obj_write(bough_context *ctx, const bough_run *run, const char *path, int32_t frame) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    char *name;
    const int stem = (int)strlen(path) - 4; /* it ends in .obj */
    if (asprintf(&name, "%.*s_%06d.obj", stem, path, frame) < 0)
        return BOUGH_ERROR_MEMORY;
    bough_status s =
        bough_run_model(run, &model, &state) ? write_parts(ctx, model, state, name) : write_body(ctx, run, name);
    free(name);
    return s;
}
