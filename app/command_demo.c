/* The main job, from nothing to a picture: a soft beam that bends under its own weight. */
#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    const char *folder;
    int32_t threads, frames;
} arguments;

static const struct argp_option options[] = {
    {"output", 'o', "FOLDER", 0, "where the files go (default: demo)", 0},
    {"frames", 'n', "N", 0, "load steps, each a frame of the animation (default 30)", 0},
    {"threads", 't', "N", 0, "threads (default: one per core)", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case 'o':
        a->folder = text;
        break;
    case 'n':
        if (!app_parse_int(text, 1, 1000, &a->frames))
            argp_error(state, "--frames: \"%s\" should be a number from 1 to 1000", text);
        break;
    case 't':
        if (!app_parse_int(text, 1, 256, &a->threads))
            argp_error(state, "--threads: \"%s\" should be a number from 1 to 256", text);
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "the demo takes no file; try bough static for your own");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    NULL,
    "Bends a soft beam under gravity and writes an animation, a picture and a file for ParaView."
    "\vExample:\n  bough demo -o /tmp/beam",
    NULL,
    NULL,
    NULL};

/* Every load step is one frame. */
typedef struct {
    bough_context *ctx;
    app_view view;
    bough_picture *picture;
    bough_animation *animation;
    bough_picture_def def;
    double largest;
    bough_status status;
} film;

/* The wall that holds the beam. */
static bough_status draw_wall(film *f) {
    static const int32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    double corners[24];
    for (int k = 0; k < 8; k++) {
        corners[3 * k] = k & 1 ? 0 : -0.06;
        corners[3 * k + 1] = k & 2 ? 0.22 : -0.1;
        corners[3 * k + 2] = k & 4 ? 0.2 : -0.12;
    }
    bough_surface_style style = bough_default_surface_style();
    style.colour[0] = 0.72f, style.colour[1] = 0.72f, style.colour[2] = 0.70f;
    style.gloss = 0;
    return bough_picture_add_surface(f->ctx, f->picture, corners, 8, triangles, 12, &style);
}

static bough_status draw_frame(film *f, double load, const double *u) {
    const float dark[3] = {0.15f, 0.17f, 0.2f};
    char text[96];
    snprintf(text, sizeof text, "soft beam, %3.0f %% of its weight", 100 * load);
    bough_picture_clear(f->ctx, f->picture);
    bough_status s = app_view_draw(f->ctx, &f->view, f->picture, u, 1, f->largest, true);
    if (!s)
        s = draw_wall(f);
    if (!s)
        s = bough_picture_add_label(f->ctx, f->picture, 20, 20, 13, dark, text);
    if (!s)
        s = bough_picture_add_colour_bar(f->ctx, f->picture, 20, f->def.height - 190, 14, 140, BOUGH_COLOUR_SEQUENTIAL,
                                         0, f->largest, "|u| (m)");
    if (!s)
        s = bough_picture_render(f->ctx, f->picture);
    return s ? s : bough_animation_add(f->ctx, f->animation, f->picture);
}

static bool on_step(void *user, double load, const double *u) {
    film *f = user;
    if (f->status == BOUGH_OK)
        f->status = draw_frame(f, load, u);
    return f->status == BOUGH_OK;
}

static bough_status make_body(bough_context *ctx, bough_body **body) {
    bough_box_def box = bough_default_box_def();
    box.type = BOUGH_TET10;
    box.size[0] = 1, box.size[1] = 0.12, box.size[2] = 0.08;
    box.cells[0] = 24, box.cells[1] = 3, box.cells[2] = 2;
    bough_mesh *mesh;
    bough_status s = bough_mesh_generate_box(ctx, &box, &mesh);
    if (s)
        return s;
    bough_body_def def = bough_default_body_def();
    def.material.model = BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
    def.material.young = 2e6;
    s = bough_body_create(ctx, mesh, &def, body);
    int32_t *vertices, count;
    const double gravity[3] = {0, 0, -9.81};
    if (!s)
        s = bough_mesh_select(ctx, mesh, "x0", &vertices, &count);
    if (!s) {
        s = bough_body_fix(ctx, *body, vertices, count, BOUGH_AXES, NULL);
        bough_release(ctx, vertices);
    }
    bough_mesh_destroy(ctx, mesh);
    return s ? s : bough_body_set_gravity(ctx, *body, gravity);
}

static bough_status open_film(bough_context *ctx, const bough_mesh *mesh, const char *path, film *f) {
    f->ctx = ctx;
    bough_status s = app_view_create(ctx, mesh, &f->view);
    if (s)
        return s;
    f->def = bough_default_picture_def();
    f->def.width = 720, f->def.height = 460, f->def.samples = 2;
    f->def.eye[0] = 1.2, f->def.eye[1] = -3.6, f->def.eye[2] = 1.0;
    /* Room for the bent beam from the first frame on. */
    const double lower[3] = {-0.06, -0.1, -0.7}, upper[3] = {1.0, 0.22, 0.2};
    bough_picture_frame(&f->def, lower, upper);
    f->def.ground_height = -0.78;
    f->largest = 0.8;
    s = bough_picture_create(ctx, &f->def, &f->picture);
    return s ? s : bough_animation_create(ctx, path, f->def.width, f->def.height, 15, &f->animation);
}

static void close_film(film *f) {
    if (f->animation)
        bough_animation_discard(f->ctx, f->animation);
    bough_picture_destroy(f->ctx, f->picture);
    app_view_destroy(f->ctx, &f->view);
}

static bough_status run(bough_context *ctx, bough_body *body, const arguments *a, double *u,
                        bough_static_result *result) {
    char film_path[4200], still_path[4200], vtu_path[4200]; /* a path is shorter than 4096 bytes on Linux */
    snprintf(film_path, sizeof film_path, "%s/beam-animated.png", a->folder);
    snprintf(still_path, sizeof still_path, "%s/beam.png", a->folder);
    snprintf(vtu_path, sizeof vtu_path, "%s/beam.vtu", a->folder);
    film f = {0};
    bough_status s = open_film(ctx, bough_body_mesh(body), film_path, &f);
    bough_static_def def = bough_default_static_def();
    def.load_steps = a->frames;
    def.tolerance = 1e-8;
    def.on_step = on_step, def.on_step_user = &f;
    if (!s)
        s = draw_frame(&f, 0, NULL);
    if (!s)
        s = bough_body_static(ctx, body, &def, u, result);
    for (int hold = 0; !s && hold < 15 && hold < a->frames; hold++)
        s = bough_animation_add(ctx, f.animation, f.picture);
    /* After Ctrl-C the frames made so far are kept. */
    if (f.animation && (!s || (s == BOUGH_CANCELLED && f.status == BOUGH_OK && result->steps > 0))) {
        bough_status finished = bough_animation_finish(ctx, f.animation);
        f.animation = NULL;
        s = s ? s : finished;
    }
    if (!s)
        s = bough_picture_write_png(ctx, f.picture, still_path);
    const bough_field field = {"displacement", false, 3, u};
    if (!s)
        s = bough_mesh_write_fields(ctx, bough_body_mesh(body), vtu_path, &field, 1);
    close_film(&f);
    return s;
}

int command_demo(int argc, char **argv) {
    arguments a = {.folder = "demo", .frames = 30};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    struct stat info;
    if (stat(a.folder, &info) == 0 ? !S_ISDIR(info.st_mode) : mkdir(a.folder, 0777) != 0)
        return app_fail_with("%s: is not a folder and cannot be made one", a.folder);
    bough_context *ctx = app_context(a.threads);
    bough_body *body = NULL;
    double start = app_seconds(), *u = NULL;
    bough_static_result result = {0};
    bough_status s = make_body(ctx, &body);
    if (!s) {
        const bough_mesh *mesh = bough_body_mesh(body);
        printf("A beam of soft rubber, 1 m long: %d vertices, %d quadratic tetrahedra, clamped at one end.\n",
               mesh->vertex_count, mesh->element_count);
        fflush(stdout);
        u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
        s = u ? run(ctx, body, &a, u, &result) : BOUGH_ERROR_MEMORY;
    }
    app_clear_progress();
    int status = s ? app_fail(ctx) : APP_OK;
    if (result.steps > 0)
        printf(
            "Its weight bends it by %.3f m (%d load steps, %d Newton iterations, relative residual %.1e) in %.1f s.\n",
            result.max_displacement, result.steps, result.iterations, result.residual, app_seconds() - start);
    if (status == APP_OK)
        printf("\n  %s/beam-animated.png   the bending, open it in a browser\n"
               "  %s/beam.png            the end of it\n"
               "  %s/beam.vtu            for ParaView\n\n"
               "Next: bough static --help, bough modes --help, docs/getting-started.md\n",
               a.folder, a.folder, a.folder);
    free(u);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
    return status;
}
