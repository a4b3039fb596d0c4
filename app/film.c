/* Films of trees of parts: animated glTF, and animated pictures for pages. Colours by component: wood and leaves by
 * their names, others in the order of the scene. */
#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILM_WIDTH = 360, FILM_HEIGHT = 216, STILL_WIDTH = 900, STILL_HEIGHT = 560 };

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

/* What grows: the oak's wood, and its leaf. */
static const struct {
    const char *name;
    int style; /* of app_oak_styles */
} grown[] = {{"trunk", 0}, {"limb", 1}, {"bough", 2}, {"branch", 3}, {"twig", 4}, {"leaf", 5}};

static bool find_grown(const bough_component *component, app_part_style *style) {
    json_t *made = component->provenance ? json_loads(component->provenance, 0, NULL) : NULL;
    const char *name = json_string_value(json_object_get(made, "name"));
    bool found = false;
    for (size_t i = 0; i < sizeof grown / sizeof *grown && name && !found; i++)
        if ((found = strcmp(name, grown[i].name) == 0))
            *style = app_oak_styles[grown[i].style];
    json_decref(made);
    return found;
}

static bool choose_colours(const bough_model_def *def, app_film *film) {
    film->styles = calloc((size_t)def->component_count + 1, sizeof *film->styles);
    for (int32_t c = 0; c < def->component_count && film->styles; c++) {
        app_part_style *style = &film->styles[c];
        if (find_grown(def->components[c], style))
            continue;
        memcpy(style->colour, palette[c % COLOURS], sizeof palette[0]);
        style->variation = 0.06f, style->gloss = 0.15f;
    }
    return film->styles != NULL;
}

typedef struct {
    size_t count; /* of numbers */
    float *x;
    bool held; /* these are of what is held, and others left out */
} cloud;

/* It is there, and what it hangs on is held. */
static bool is_held(const bough_model_def *def, const bough_part_def *parts, int32_t part) {
    while (!parts[part].absent && parts[part].parent >= 0)
        part = parts[part].parent;
    return !parts[part].absent && !parts[part].free &&
           def->components[parts[part].component]->support != BOUGH_SUPPORT_FREE;
}

/* What flies may be far away: where something is held, that is what is looked at. */
static void keep_held(const bough_model *model, const bough_state *state, cloud *points) {
    const bough_model_def *def = bough_model_describe(model);
    const bough_part_def *parts = bough_state_parts(model, state);
    size_t count = 0;
    for (int32_t p = 0; p < def->part_count; p++) {
        const size_t first = 3 * (size_t)bough_model_first_vertex(model, p);
        const size_t own = 3 * (size_t)def->components[def->parts[p].component]->surface.vertex_count;
        if (!is_held(def, parts, p))
            continue;
        memmove(points->x + count, points->x + first, own * sizeof *points->x);
        count += own;
    }
    points->held = count > 0;
    points->count = count > 0 ? count : points->count;
}

static bough_status find_points(bough_context *ctx, const bough_model *model, const bough_state *state, cloud *points) {
    points->count = 3 * (size_t)bough_model_vertex_count(model);
    points->x = malloc((points->count + 1) * sizeof *points->x);
    bough_status s = points->x ? bough_state_surface(ctx, model, state, points->x, NULL) : BOUGH_ERROR_MEMORY;
    if (!s)
        keep_held(model, state, points);
    return s;
}

static double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross3(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++)
        out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* The box around things has empty corners: the field of view that holds all points and a rim around them. */
static void look_closer(const cloud *points, bough_picture_def *def) {
    double ahead[3], right[3], up[3], most = 0;
    for (int d = 0; d < 3; d++)
        ahead[d] = def->target[d] - def->eye[d];
    cross3(ahead, def->up, right), cross3(right, ahead, up);
    for (size_t k = 0; k < points->count; k += 3) {
        double p[3];
        for (size_t d = 0; d < 3; d++)
            p[d] = (double)points->x[k + d] - def->eye[d];
        const double depth = dot3(p, ahead) / sqrt(dot3(ahead, ahead));
        const double across = fabs(dot3(p, right)) / sqrt(dot3(right, right)) * def->height / def->width;
        most = fmax(most, fmax(across, fabs(dot3(p, up)) / sqrt(dot3(up, up))) / depth);
    }
    def->field_of_view = fmin(def->field_of_view, 2 * atan(1.1 * most));
}

/* Of the ball around the middle of the box that holds all points. */
static double radius_of(const cloud *points, const double lower[3], const double upper[3]) {
    double most = 0;
    for (size_t k = 0; k < points->count; k += 3) {
        double square = 0;
        for (size_t d = 0; d < 3; d++)
            square += pow((double)points->x[k + d] - 0.5 * (lower[d] + upper[d]), 2);
        most = fmax(most, square);
    }
    return sqrt(most);
}

/* What is held is seen on its ground. turns: what flies gets room to turn about its middle, seen from top to bottom by
 * this part of the ball that it needs; pictures are wider than high. 0: it is seen as it is. */
static void aim(const cloud *points, bool flies, double turns, bough_picture_def *def) {
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY}, ahead[3];
    for (size_t k = 0; k < points->count; k++) {
        lower[k % 3] = fmin(lower[k % 3], (double)points->x[k]);
        upper[k % 3] = fmax(upper[k % 3], (double)points->x[k]);
    }
    def->ground = !flies;
    bough_picture_frame(def, lower, upper);
    for (int d = 0; d < 3; d++)
        ahead[d] = def->target[d] - def->eye[d];
    if (turns > 0 && flies)
        def->field_of_view = 2 * atan(turns * radius_of(points, lower, upper) / sqrt(dot3(ahead, ahead)));
    else
        look_closer(points, def);
}

static bough_status open_picture(bough_context *ctx, const bough_model *model, const bough_state *state, double turns,
                                 bough_picture_def *def, app_film *film) {
    cloud points = {0};
    bough_status s = find_points(ctx, model, state, &points);
    if (!s)
        aim(&points, !points.held, turns, def);
    free(points.x);
    return s ? s : bough_picture_create(ctx, def, &film->picture);
}

static bough_picture_def canvas(int32_t width, int32_t height) {
    bough_picture_def def = bough_default_picture_def();
    def.width = width, def.height = height;
    return def;
}

static bough_status open_animation(bough_context *ctx, const bough_model *model, const bough_state *state,
                                   app_film *film) {
    bough_picture_def def = canvas(FILM_WIDTH, FILM_HEIGHT);
    /* of one colour, so that little of a frame changes */
    memcpy(def.background_top, def.background_bottom, sizeof def.background_top);
    bough_status s = open_picture(ctx, model, state, 0.72, &def, film);
    return s ? s : bough_animation_create(ctx, film->png_path, FILM_WIDTH, FILM_HEIGHT, film->fps, &film->animation);
}

bough_status app_film_add(void *data, bough_context *ctx, const bough_run *run) {
    app_film *film = data;
    const bough_model *model;
    const bough_state *state;
    bough_status s = BOUGH_OK;
    if (!bough_run_tree(run, &model, &state))
        return BOUGH_OK;
    if (film->glb_path)
        s = app_tree_glb_add(ctx, model, state, &film->glb);
    if (s || !film->png_path)
        return s;
    bough_picture_clear(ctx, film->picture);
    s = app_tree_draw(ctx, model, state, film->styles, film->picture);
    if (!s)
        s = bough_picture_render(ctx, film->picture);
    return s ? s : bough_animation_add(ctx, film->animation, film->picture);
}

bough_status app_film_open(bough_context *ctx, const bough_run *run, app_film *film) {
    const bough_model *model;
    const bough_state *state;
    bough_status s = BOUGH_OK;
    if (!bough_run_tree(run, &model, &state))
        return BOUGH_OK;
    if (!choose_colours(bough_model_describe(model), film))
        return BOUGH_ERROR_MEMORY;
    if (film->glb_path)
        s = app_tree_glb_create(ctx, model, state, film->styles, film->glb_path, &film->glb);
    if (!s && film->png_path)
        s = open_animation(ctx, model, state, film);
    return s ? s : app_film_add(film, ctx, run);
}

bough_status app_film_finish(bough_context *ctx, app_film *film) {
    bough_status s = film->glb.glb ? app_tree_glb_finish(ctx, &film->glb) : BOUGH_OK;
    if (film->animation) {
        const bough_status drawn = bough_animation_finish(ctx, film->animation);
        film->animation = NULL;
        s = s ? s : drawn;
    }
    return s;
}

void app_film_destroy(bough_context *ctx, app_film *film) {
    app_tree_glb_destroy(ctx, &film->glb);
    if (film->animation)
        bough_animation_discard(ctx, film->animation);
    bough_picture_destroy(ctx, film->picture);
    free(film->styles);
    *film = (app_film){0};
}

bough_status app_film_still(bough_context *ctx, const bough_run *run, const char *path) {
    bough_picture_def def = canvas(STILL_WIDTH, STILL_HEIGHT);
    app_film film = {0};
    const bough_model *model;
    const bough_state *state;
    if (!bough_run_tree(run, &model, &state))
        return BOUGH_OK;
    bough_status s = choose_colours(bough_model_describe(model), &film) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (!s)
        s = open_picture(ctx, model, state, 0, &def, &film);
    if (!s)
        s = app_tree_draw(ctx, model, state, film.styles, film.picture);
    if (!s)
        s = bough_picture_render(ctx, film.picture);
    if (!s)
        s = bough_picture_write_png(ctx, film.picture, path);
    app_film_destroy(ctx, &film);
    return s;
}
