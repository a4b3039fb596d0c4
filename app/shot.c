/* Camera, light and contents of a picture of a run. */
#include "film.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

enum { OPT_SIZE = 400, OPT_CAMERA, OPT_LOOK, OPT_FOV, OPT_COLOUR, OPT_RANGE, OPT_PAINT, OPT_BACKGROUND, OPT_CONTACTS };

static const struct argp_option options[] = {
    {"size", OPT_SIZE, "WxH", 0, "pixels (default 960x540; of animated PNG files 480x270)", 0},
    {"camera", OPT_CAMERA, "X,Y,Z", 0, "where it is seen from, m (default: from the front right, a little above)", 0},
    {"look", OPT_LOOK, "X,Y,Z", 0, "what is in the middle of the picture, m (default: the middle of the scene)", 0},
    {"fov", OPT_FOV, "DEG", 0,
     "field of view from top to bottom (default: what holds all that stands there, and at most 60)", 0},
    {"colour", OPT_COLOUR, "WHAT", 0,
     "component (default, of parts), part, displacement (default, of a body) or stress (von Mises', over each part)",
     0},
    {"range", OPT_RANGE, "N", 0, "what the last colour stands for, m or Pa (default: the largest so far)", 0},
    {"paint", OPT_PAINT, "PATTERN=RRGGBB", 0,
     "colour of components whose names, or those of their parts, match, such as leaf*=5a8f2e, and of links of "
     "mechanisms; may be given several times, and the last one wins",
     0},
    {"contacts", OPT_CONTACTS, NULL, 0,
     "arrows where things touch: the normal force (blue) and the friction (red) on one of the two", 0},
    {"background", OPT_BACKGROUND, "NAME", 0, "paper (default), white, dark or meadow", 0},
    {0},
};

app_shot_def app_default_shot(void) {
    return (app_shot_def){.width = 960, .height = 540};
}

static int choose(struct argp_state *state, const char *option, const char *text, const char *const *names,
                  const char *list) {
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    argp_error(state, "--%s: \"%s\" should be %s", option, text, list);
    return 0;
}

static void need_size(struct argp_state *state, const char *text, app_shot_def *def) {
    char first[16], *cross = strchr(text, 'x');
    const size_t length = cross ? (size_t)(cross - text) : 0;
    if (length > 0 && length < sizeof first) {
        memcpy(first, text, length);
        first[length] = 0;
        if (app_parse_int(first, 16, 8192, &def->width) && app_parse_int(cross + 1, 16, 8192, &def->height))
            return;
    }
    argp_error(state, "--size: \"%s\" should be two numbers from 16 to 8192, such as 960x540", text);
}

static void need_point(struct argp_state *state, const char *option, const char *text, double point[3]) {
    if (!app_parse_numbers(text, 3, point))
        argp_error(state, "--%s: \"%s\" should be three numbers, such as 4,-6,2", option, text);
    for (int d = 0; d < 3; d++)
        if (!(fabs(point[d]) < 1e12))
            argp_error(state, "--%s: \"%s\" is too far away", option, text);
}

static void need_paint(struct argp_state *state, char *text, app_shot_def *def) {
    char *equals = strrchr(text, '='), *end = NULL;
    const unsigned long colour = equals ? strtoul(equals + 1, &end, 16) : 0;
    if (!equals || equals == text || strlen(equals + 1) != 6 || *end || equals[1] == '-' || equals[1] == '+')
        argp_error(state, "--paint: \"%s\" should be a pattern of names and a colour, such as leaf*=5a8f2e", text);
    if (def->paint_count == APP_PAINTS)
        argp_error(state, "--paint: %d colours are enough", APP_PAINTS);
    app_paint *paint = &def->paints[def->paint_count++];
    *equals = 0;
    paint->pattern = text;
    for (int c = 0; c < 3; c++)
        paint->colour[c] = (float)(colour >> (16 - 8 * c) & 255) / 255.0f;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    static const char *const colours[] = {"component", "part", "displacement", "stress", NULL}, *const backdrops[] = {
                                                                                                    "paper", "white",
                                                                                                    "dark", "meadow",
                                                                                                    NULL};
    app_shot_def *def = state->input;
    double degrees;
    switch (key) {
    case OPT_SIZE:
        need_size(state, text, def);
        break;
    case OPT_CAMERA:
        need_point(state, "camera", text, def->eye);
        def->has_eye = true;
        break;
    case OPT_LOOK:
        need_point(state, "look", text, def->target);
        def->has_target = true;
        break;
    case OPT_FOV:
        if (!app_parse_numbers(text, 1, &degrees) || !(degrees >= 0.1 && degrees <= 150))
            argp_error(state, "--fov: \"%s\" should be a number of degrees from 0.1 to 150", text);
        def->field_of_view = degrees * M_PI / 180;
        break;
    case OPT_COLOUR:
        def->colouring = (app_colouring)(APP_COLOUR_COMPONENT + choose(state, "colour", text, colours,
                                                                       "component, part, displacement or stress"));
        break;
    case OPT_RANGE:
        def->range = app_need_positive(state, "range", text);
        break;
    case OPT_PAINT:
        need_paint(state, text, def);
        break;
    case OPT_CONTACTS:
        def->contacts = true;
        break;
    case OPT_BACKGROUND:
        def->backdrop = (app_backdrop)choose(state, "background", text, backdrops, "paper, white, dark or meadow");
        break;
    case ARGP_KEY_END:
        if (def->has_eye && def->has_target && memcmp(def->eye, def->target, sizeof def->eye) == 0)
            argp_error(state, "--camera and --look are the same point");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp app_shot_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

/* ---- what there is to see ---- */

typedef struct {
    size_t count; /* of numbers */
    float *x;
    bool held; /* these are of what is held, and others left out */
} cloud;

/* It is there, and what it hangs on is held. */
static bool is_held(const bough_tree_model_def *def, const bough_part_def *parts, int32_t part) {
    while (!parts[part].absent && parts[part].parent >= 0)
        part = parts[part].parent;
    return !parts[part].absent && !parts[part].free &&
           def->components[parts[part].component]->support != BOUGH_SUPPORT_FREE;
}

/* Parts that fly may be far away: if something is held, the camera looks at that only. */
static void keep_held(const bough_tree_model *model, const bough_tree_state *state, cloud *points) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    const bough_part_def *parts = bough_tree_state_parts(model, state);
    size_t count = 0;
    for (int32_t p = 0; p < def->part_count; p++) {
        const size_t first = 3 * (size_t)bough_tree_model_first_vertex(model, p);
        const size_t own = 3 * (size_t)def->components[def->parts[p].component]->surface.vertex_count;
        if (!is_held(def, parts, p))
            continue;
        memmove(points->x + count, points->x + first, own * sizeof *points->x);
        count += own;
    }
    points->held = count > 0;
    points->count = count > 0 ? count : points->count;
}

static bough_status find_parts(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                               cloud *points) {
    points->count = 3 * (size_t)bough_tree_model_vertex_count(model);
    points->x = malloc((points->count + 1) * sizeof *points->x);
    bough_status s = points->x ? bough_tree_state_surface(ctx, model, state, points->x, NULL) : BOUGH_ERROR_MEMORY;
    if (!s)
        keep_held(model, state, points);
    return s;
}

static bough_status find_things(bough_context *ctx, const bough_run *run, cloud *points) {
    points->held = true;
    return app_thing_points(ctx, run, &points->count, &points->x);
}

static bough_status find_body(const bough_run *run, cloud *points) {
    const bough_mesh *mesh = bough_run_mesh(run);
    const double *u = bough_run_displacement(run);
    points->count = mesh ? 3 * (size_t)mesh->vertex_count : 0;
    points->x = malloc((points->count + 1) * sizeof *points->x);
    points->held = true;
    for (size_t i = 0; i < points->count && points->x && u; i++)
        points->x[i] = (float)(mesh->vertices[i] + u[i]);
    return mesh && u && points->x ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* ---- the camera ---- */

static double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross3(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++)
        out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* Right and up in the picture; up is the world's, unless the camera looks along it. */
static void find_axes(const bough_picture_def *def, double ahead[3], double right[3], double up[3]) {
    const double other[3] = {0, 1, 0};
    for (int d = 0; d < 3; d++)
        ahead[d] = def->target[d] - def->eye[d];
    cross3(ahead, def->up, right);
    if (dot3(right, right) < 1e-18 * dot3(ahead, ahead))
        cross3(ahead, other, right);
    cross3(right, ahead, up);
}

/* The box around things has empty corners: the field of view that holds all points and a rim around them. */
static void look_closer(const cloud *points, double widest, bough_picture_def *def) {
    double ahead[3], right[3], up[3], most = 0;
    find_axes(def, ahead, right, up);
    for (size_t k = 0; k < points->count; k += 3) {
        double p[3];
        for (size_t d = 0; d < 3; d++)
            p[d] = (double)points->x[k + d] - def->eye[d];
        const double depth = dot3(p, ahead) / sqrt(dot3(ahead, ahead));
        const double across = fabs(dot3(p, right)) / sqrt(dot3(right, right)) * def->height / def->width;
        if (depth > 0)
            most = fmax(most, fmax(across, fabs(dot3(p, up)) / sqrt(dot3(up, up))) / depth);
    }
    def->field_of_view = fmax(1e-3, fmin(widest, 2 * atan(1.1 * most)));
}

/* Returns the radius of the ball around the middle of the box that holds all points. */
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

static void aim(const cloud *points, const app_shot_def *def, const double lower[3], const double upper[3],
                bough_picture_def *camera) {
    double ahead[3], shift[3];
    bough_picture_frame(camera, lower, upper);
    for (int d = 0; d < 3 && def->has_target; d++) {
        shift[d] = def->target[d] - camera->target[d];
        camera->target[d] += shift[d], camera->eye[d] += shift[d];
    }
    if (def->has_eye)
        memcpy(camera->eye, def->eye, sizeof camera->eye);
    for (int d = 0; d < 3; d++)
        ahead[d] = camera->target[d] - camera->eye[d];
    if (!(dot3(ahead, ahead) > 0)) /* --camera in the middle of the scene */
        camera->target[1] += ahead[1] = 1;
    if (def->field_of_view > 0)
        camera->field_of_view = def->field_of_view;
    else if (def->film && !points->held) /* room to turn; pictures are wider than high, and corners pass quickly */
        camera->field_of_view = 2 * atan(0.8 * radius_of(points, lower, upper) / sqrt(dot3(ahead, ahead)));
    else
        look_closer(points, def->has_eye ? 1.05 : camera->field_of_view, camera);
}

static void set_backdrop(const app_shot_def *def, bough_picture_def *camera) {
    static const float dark[2][3] = {{0.09f, 0.10f, 0.13f}, {0.20f, 0.21f, 0.24f}};
    const double low[3] = {5.5, -17, -0.5}; /* a meadow is seen by somebody who stands in it */
    if (def->backdrop == APP_BACKDROP_MEADOW) {
        app_light_meadow(camera);
        memcpy(camera->eye, low, sizeof low);
    }
    for (int c = 0; c < 3 && def->backdrop == APP_BACKDROP_DARK; c++)
        camera->background_top[c] = dark[0][c], camera->background_bottom[c] = dark[1][c];
    for (int c = 0; c < 3 && def->backdrop == APP_BACKDROP_WHITE; c++)
        camera->background_top[c] = camera->background_bottom[c] = 1;
    if (def->film && def->backdrop == APP_BACKDROP_PAPER) /* of one colour, so that little of a frame changes */
        memcpy(camera->background_top, camera->background_bottom, sizeof camera->background_top);
}

static void find_middle(const cloud *points, double middle[3]) {
    for (size_t d = 0; d < 3; d++) {
        middle[d] = 0;
        for (size_t k = d; k < points->count; k += 3)
            middle[d] += 3.0 * (double)points->x[k] / (double)points->count;
    }
}

/* Scenes that are held are shown on a ground, which stays in place while other things fall. */
static void set_camera(const cloud *points, const app_shot_def *def, app_shot *shot) {
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    bough_picture_def *camera = &shot->camera;
    for (size_t k = 0; k < points->count; k++) {
        lower[k % 3] = fmin(lower[k % 3], (double)points->x[k]);
        upper[k % 3] = fmax(upper[k % 3], (double)points->x[k]);
    }
    find_middle(points, shot->middle);
    *camera = bough_default_picture_def();
    camera->width = def->width, camera->height = def->height;
    camera->ground = points->held;
    camera->ground_height = lower[2];
    set_backdrop(def, camera);
    aim(points, def, lower, upper, camera);
    for (int d = 0; d < 3; d++) {
        shot->ground[d] = d < 2 ? 0.5 * (lower[d] + upper[d]) : lower[2];
        shot->size = fmax(shot->size, upper[d] - lower[d]);
    }
}

/* By their names, or by those of their parts. */
static void paint_styles(const bough_tree_model_def *model, const app_shot_def *def, app_part_style *styles) {
    for (int i = 0; i < def->paint_count; i++) {
        const app_paint *paint = &def->paints[i];
        char name[64];
        for (int32_t c = 0; c < model->component_count; c++) {
            app_component_name(model->components[c], name, sizeof name);
            if (fnmatch(paint->pattern, name, 0) == 0)
                memcpy(styles[c].colour, paint->colour, sizeof paint->colour);
        }
        for (int32_t p = 0; p < model->part_count; p++)
            if (model->parts[p].name && fnmatch(paint->pattern, model->parts[p].name, 0) == 0)
                memcpy(styles[model->parts[p].component].colour, paint->colour, sizeof paint->colour);
    }
}

static bough_status find_points(bough_context *ctx, const bough_run *run, cloud *points) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    if (bough_run_model(run, &model, &state))
        return find_parts(ctx, model, state, points);
    return app_has_looks(run) ? find_things(ctx, run, points) : find_body(run, points);
}

bough_status app_shot_open(bough_context *ctx, const bough_run *run, const app_shot_def *def, app_shot *shot) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    const bool parts = bough_run_model(run, &model, &state);
    cloud points = {0};
    *shot = (app_shot){.def = *def, .scale = {.range = def->range}};
    if (def->colouring == APP_COLOUR_AUTO)
        shot->def.colouring = parts || app_has_looks(run) ? APP_COLOUR_COMPONENT : APP_COLOUR_DISPLACEMENT;
    bough_status s = find_points(ctx, run, &points);
    if (!s)
        set_camera(&points, def, shot);
    shot->camera.ground = shot->camera.ground && !app_has_obstacles(run); /* which are the ground then */
    app_find_floor(run, &shot->ground[2]);
    free(points.x);
    if (!s && parts && !(shot->styles = app_choose_styles(bough_tree_model_describe(model))))
        s = BOUGH_ERROR_MEMORY;
    if (!s && parts)
        paint_styles(bough_tree_model_describe(model), def, shot->styles);
    if (!s && !parts)
        s = app_view_create(ctx, bough_run_mesh(run), &shot->view);
    return s ? s : bough_picture_create(ctx, &shot->camera, &shot->picture);
}

void app_shot_close(bough_context *ctx, app_shot *shot) {
    bough_picture_destroy(ctx, shot->picture);
    app_view_destroy(ctx, &shot->view);
    free(shot->styles);
    *shot = (app_shot){0};
}

/* ---- drawing ---- */

static bough_status draw_parts(bough_context *ctx, const bough_run *run, const bough_tree_model *model,
                               const bough_tree_state *state, app_shot *shot) {
    float *colours = NULL;
    bough_status s = BOUGH_OK;
    if (shot->def.colouring != APP_COLOUR_COMPONENT) {
        colours = malloc((3 * (size_t)bough_tree_model_vertex_count(model) + 1) * sizeof *colours);
        s = colours ? app_paint_parts(run, shot->def.colouring, &shot->scale, colours) : BOUGH_ERROR_MEMORY;
    }
    if (!s)
        s = app_tree_draw_painted(ctx, model, state, shot->styles, colours, shot->picture);
    free(colours);
    return s ? s : app_draw_beside(ctx, run, &shot->def, shot->picture);
}

static bough_status draw_body(bough_context *ctx, const bough_run *run, app_shot *shot) {
    const bough_mesh *mesh = bough_run_mesh(run);
    const double *u = bough_run_displacement(run);
    const bool shows = shot->def.colouring >= APP_COLOUR_DISPLACEMENT;
    if (!mesh || !u)
        return BOUGH_ERROR_MEMORY;
    if (!shows && app_has_looks(run))
        return app_draw_things(ctx, run, &shot->def, shot->picture);
    double *values = malloc(((size_t)mesh->vertex_count + 1) * sizeof *values);
    bough_status s = values ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (!s && shows)
        s = app_paint_body(run, shot->def.colouring, &shot->scale, values);
    if (!s)
        s = app_view_draw_values(ctx, &shot->view, shot->picture, u, shows ? values : NULL, shot->scale.largest,
                                 shot->view.surface->element_count < 20000);
    free(values);
    return s ? s : app_draw_beside(ctx, run, &shot->def, shot->picture);
}

static bough_status draw_bar(bough_context *ctx, app_shot *shot) {
    const double unit = shot->def.height / 540.0, tall = 190 * unit;
    if (shot->def.colouring < APP_COLOUR_DISPLACEMENT || !(shot->scale.largest > 0) || shot->def.height < 200)
        return BOUGH_OK;
    return bough_picture_add_colour_bar(ctx, shot->picture, 24 * unit, shot->def.height - tall - 40 * unit, 16 * unit,
                                        tall, BOUGH_COLOUR_SEQUENTIAL, 0, shot->scale.largest,
                                        shot->def.colouring == APP_COLOUR_STRESS ? "von Mises (Pa)" : "|u| (m)");
}

/* The ground gives way to what is held and sags, a bridge for one, and does not come up again. */
static void lower_ground(const cloud *points, app_shot *shot) {
    for (size_t k = 2; k < points->count && points->held; k += 3)
        shot->camera.ground_height = fmin(shot->camera.ground_height, (double)points->x[k]);
}

/* By as much as the mean of all points has moved: limbs that swing hardly shake it. */
static void follow(const cloud *points, app_shot *shot) {
    double before[3];
    memcpy(before, shot->middle, sizeof before);
    find_middle(points, shot->middle);
    for (int d = 0; d < 3; d++) {
        shot->camera.eye[d] += shot->middle[d] - before[d];
        shot->camera.target[d] += shot->middle[d] - before[d];
    }
}

/* Moves the camera of a film from frame to frame. */
static bough_status move_camera(bough_context *ctx, const bough_run *run, app_shot *shot) {
    cloud points = {0};
    if (!shot->def.film || !(shot->camera.ground || shot->def.follow))
        return BOUGH_OK;
    bough_status s = find_points(ctx, run, &points);
    if (!s && shot->camera.ground)
        lower_ground(&points, shot);
    if (!s && shot->def.follow && points.count > 0)
        follow(&points, shot);
    free(points.x);
    return s ? s : bough_picture_set_def(ctx, shot->picture, &shot->camera);
}

bough_status app_shot_take(bough_context *ctx, const bough_run *run, app_shot *shot) {
    const bough_tree_model *model;
    const bough_tree_state *state;
    bough_picture_clear(ctx, shot->picture);
    bough_status s = move_camera(ctx, run, shot);
    if (s)
        return s;
    if (shot->def.backdrop == APP_BACKDROP_MEADOW)
        s = app_meadow_draw(ctx, shot->picture, shot->ground, shot->size);
    if (!s)
        s = bough_run_model(run, &model, &state) ? draw_parts(ctx, run, model, state, shot) : draw_body(ctx, run, shot);
    if (!s)
        s = draw_bar(ctx, shot);
    if (!s && shot->def.contacts)
        s = app_draw_contacts(ctx, run, shot);
    return s ? s : bough_picture_render(ctx, shot->picture);
}
