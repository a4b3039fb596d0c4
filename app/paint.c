/* Colours of what is seen in pictures and films. */
#include "film.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float palette[][3] = {
    {0.88f, 0.86f, 0.82f}, /* warm white */
    {0.60f, 0.67f, 0.74f}, /* steel */
    {0.88f, 0.66f, 0.28f}, /* ochre */
    {0.20f, 0.36f, 0.66f}, /* blue */
    {0.78f, 0.40f, 0.28f}, /* brick */
    {0.52f, 0.64f, 0.38f}, /* moss */
    {0.36f, 0.37f, 0.42f}, /* slate */
    {0.56f, 0.40f, 0.62f}, /* violet */
};
enum { COLOURS = sizeof palette / sizeof *palette };

/* Colours of plants: the oak's wood, and its leaf. */
static const struct {
    const char *name;
    int style; /* of app_oak_styles */
} grown[] = {{"trunk", 0}, {"limb", 1}, {"bough", 2}, {"branch", 3}, {"twig", 4}, {"leaf", 5}};

void app_component_name(const bough_component *component, char *name, size_t size) {
    json_t *made = app_json_provenance(component);
    const char *text = json_string_value(json_object_get(made, "name"));
    snprintf(name, size, "%s", text ? text : "");
    json_decref(made);
}

static bool find_grown(const bough_component *component, app_part_style *style) {
    char name[64];
    app_component_name(component, name, sizeof name);
    const char *slash = strrchr(name, '/'), *own = slash ? slash + 1 : name; /* without the object that it is of */
    for (size_t i = 0; i < sizeof grown / sizeof *grown; i++)
        if (strcmp(own, grown[i].name) == 0) {
            *style = app_oak_styles[grown[i].style];
            return true;
        }
    return false;
}

app_part_style *app_choose_styles(const bough_tree_model_def *def) {
    app_part_style *styles = calloc((size_t)def->component_count + 1, sizeof *styles);
    for (int32_t c = 0; c < def->component_count && styles; c++) {
        if (find_grown(def->components[c], &styles[c]))
            continue;
        memcpy(styles[c].colour, palette[c % COLOURS], sizeof palette[0]);
        styles[c].variation = 0.06f, styles[c].gloss = 0.15f;
    }
    return styles;
}

/* Hues a golden section apart, so that neighbours in the list differ, and three lightnesses. */
static void colour_of_part(int32_t part, float colour[3]) {
    const double hue = 6 * fmod(0.61803398875 * part, 1), light = 0.86 - 0.1 * (part % 3);
    for (int c = 0; c < 3; c++) {
        const double k = fmod(hue + 5 - 2 * c, 6), away = fmax(0, fmin(fmin(k, 4 - k), 1)); /* from this channel */
        colour[c] = (float)(light * (1 - 0.58 * away));
    }
}

static void paint_part(const bough_tree_model *model, int32_t part, const float colour[3], float *colours) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    const int32_t count = def->components[def->parts[part].component]->surface.vertex_count;
    colours += 3 * (size_t)bough_tree_model_first_vertex(model, part);
    for (int32_t v = 0; v < count; v++)
        memcpy(colours + 3 * (size_t)v, colour, 3 * sizeof *colour);
}

static double length_of(const double u[3]) {
    return sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

static void widen(app_scale *scale, const double *values, int32_t count) {
    for (int32_t i = 0; i < count && !(scale->range > 0); i++)
        scale->largest = isfinite(values[i]) ? fmax(scale->largest, values[i]) : scale->largest;
    if (scale->range > 0)
        scale->largest = scale->range;
}

static void colour_at(const app_scale *scale, double value, float colour[3]) {
    bough_colour_map_at(BOUGH_COLOUR_SEQUENTIAL, scale->largest > 0 ? value / scale->largest : 0, colour);
}

/* Finds the stress of each vertex of the run's mesh; INFINITY has the last colour and does not widen the scale. */
static bough_status stresses(const bough_run *run, int32_t count, double *values) {
    float *found = malloc(((size_t)count + 1) * sizeof *found);
    bough_status s = found ? bough_run_vertex_stresses(run, found) : BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < count && !s; v++)
        values[v] = (double)found[v];
    free(found);
    return s;
}

static bough_status displacements(const bough_run *run, double *values) {
    const bough_mesh *mesh = bough_run_mesh(run);
    const double *u = bough_run_displacement(run);
    for (int32_t v = 0; mesh && u && v < mesh->vertex_count; v++)
        values[v] = length_of(u + 3 * (size_t)v);
    return mesh && u ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static bough_status paint_values(const bough_run *run, const bough_tree_model *model, app_colouring colouring,
                                 app_scale *scale, float *colours) {
    const int32_t count = bough_tree_model_vertex_count(model);
    double *values = malloc(((size_t)count + 1) * sizeof *values);
    bough_status s = !values                          ? BOUGH_ERROR_MEMORY
                     : colouring == APP_COLOUR_STRESS ? stresses(run, count, values)
                                                      : displacements(run, values);
    if (!s)
        widen(scale, values, count);
    for (int32_t v = 0; v < count && !s; v++)
        colour_at(scale, values[v], colours + 3 * (size_t)v);
    free(values);
    return s;
}

bough_status app_paint_parts(const bough_run *run, app_colouring colouring, app_scale *scale, float *colours) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    if (!bough_run_model(run, &model, &state))
        return BOUGH_ERROR_ARGUMENT;
    if (colouring == APP_COLOUR_STRESS || colouring == APP_COLOUR_DISPLACEMENT)
        return paint_values(run, model, colouring, scale, colours);
    for (int32_t p = 0; p < bough_tree_model_part_count(model); p++) {
        float colour[3];
        colour_of_part(p, colour);
        paint_part(model, p, colour, colours);
    }
    return BOUGH_OK;
}

bough_status app_paint_body(const bough_run *run, app_colouring colouring, app_scale *scale, double *values) {
    const bough_mesh *mesh = bough_run_mesh(run);
    if (!mesh)
        return BOUGH_ERROR_MEMORY;
    bough_status s =
        colouring == APP_COLOUR_STRESS ? stresses(run, mesh->vertex_count, values) : displacements(run, values);
    if (!s)
        widen(scale, values, mesh->vertex_count);
    return s;
}
