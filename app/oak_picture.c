/* Pictures of the oak and of the forest: meadow, sky, sun from the left. */
#include "app.h"

#include <math.h>
#include <string.h>

/* Five classes of branches, then the leaf. */
#define BARK_COLOUR 0.46f, 0.38f, 0.30f
const app_part_style app_oak_styles[6] = {
    {{BARK_COLOUR}, 0.12f, 0}, {{BARK_COLOUR}, 0.12f, 0}, {{BARK_COLOUR}, 0.12f, 0},
    {{BARK_COLOUR}, 0.12f, 0}, {{BARK_COLOUR}, 0.12f, 0}, {{0.42f, 0.61f, 0.20f}, 0.5f, 0.12f},
};

#define BARK \
    { {BARK_COLOUR}, 0.12f, 0 }
const app_part_style app_forest_styles[18] = {
    BARK, BARK, BARK, BARK, BARK, {{0.42f, 0.61f, 0.20f}, 0.5f, 0.12f}, /* oak */
    BARK, BARK, BARK, BARK, BARK, {{0.23f, 0.42f, 0.20f}, 0.4f, 0.2f},  /* holm oak */
    BARK, BARK, BARK, BARK, BARK, {{0.74f, 0.44f, 0.14f}, 0.5f, 0.12f}, /* red oak */
};

static const double origin[3] = {0};

/* The sky just over the horizon. */
static const float haze[3] = {0.72f, 0.81f, 0.92f};

/* A round meadow that fades into the haze from `clear` m on; its height waves a little, its green too. */
static bough_status draw_meadow(bough_context *ctx, bough_picture *picture, const double middle[3], double radius,
                                double clear) {
    enum { RINGS = 60, SECTORS = 120, VERTICES = RINGS * SECTORS };
    static double vertices[VERTICES][3];
    static float colours[VERTICES][3];
    static int32_t triangles[2 * VERTICES][3];
    int32_t count = 0;
    for (int32_t i = 0; i < RINGS; i++)
        for (int32_t k = 0; k < SECTORS; k++) {
            double r = radius * pow((double)i / (RINGS - 1), 2.2), angle = 2 * M_PI * k / SECTORS;
            double x = r * cos(angle), y = r * sin(angle);
            double patches = sin(1.3 * x + 0.7 * sin(0.9 * y)) * sin(1.1 * y + 0.8 * sin(0.7 * x));
            float far = (float)fmin(1, fmax(0, (r - clear) / (0.75 * radius - clear))),
                  light = (float)(1 + 0.1 * patches);
            const float grass[3] = {0.40f * light, 0.53f * light, 0.22f * light};
            int32_t v = i * SECTORS + k, next = i * SECTORS + (k + 1) % SECTORS;
            vertices[v][0] = middle[0] + x, vertices[v][1] = middle[1] + y;
            vertices[v][2] = middle[2] + 0.03 * patches * fmin(1, r / 3);
            for (int c = 0; c < 3; c++)
                colours[v][c] = grass[c] + (haze[c] - grass[c]) * sqrtf(far);
            if (i + 1 < RINGS) {
                int32_t *one = triangles[count++], *two = triangles[count++];
                one[0] = v, one[1] = v + SECTORS, one[2] = next + SECTORS;
                two[0] = v, two[1] = next + SECTORS, two[2] = next;
            }
        }
    bough_surface_style style = bough_default_surface_style();
    style.vertex_colours = colours[0];
    style.gloss = 0, style.crease_angle = M_PI, style.casts_shadow = false;
    return bough_picture_add_surface(ctx, picture, vertices[0], VERTICES, triangles[0], count, &style);
}

bough_status app_meadow_draw(bough_context *ctx, bough_picture *picture, const double middle[3], double size) {
    return draw_meadow(ctx, picture, middle, 11 * size, 1.1 * size);
}

void app_light_meadow(bough_picture_def *def) {
    def->light[0] = -0.75, def->light[1] = -0.6, def->light[2] = 1;
    def->ground = false;
    def->background_top[0] = 0.36f, def->background_top[1] = 0.60f, def->background_top[2] = 0.88f;
    def->background_bottom[0] = 0.90f, def->background_bottom[1] = 0.93f, def->background_bottom[2] = 0.95f;
}

static bough_picture_def canvas(int32_t width, int32_t height) {
    bough_picture_def def = bough_default_picture_def();
    def.width = width, def.height = height, def.samples = 3;
    app_light_meadow(&def);
    return def;
}

static void look(const double eye[3], const double target[3], double field_of_view, bough_picture_def *def) {
    memcpy(def->eye, eye, sizeof def->eye);
    memcpy(def->target, target, sizeof def->target);
    def->field_of_view = field_of_view;
}

bough_status app_oak_picture(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                             int32_t width, const char *path) {
    bough_picture_def def = canvas(width, width * 9 / 10);
    bough_picture *picture;
    look((const double[3]){5.5, -17, 3.4}, (const double[3]){0.2, 0, 4.1}, 0.56, &def);
    bough_status s = bough_picture_create(ctx, &def, &picture);
    if (s)
        return s;
    s = draw_meadow(ctx, picture, origin, 90, 9);
    if (!s)
        s = app_tree_draw(ctx, model, state, app_oak_styles, picture);
    if (!s)
        s = bough_picture_render(ctx, picture);
    if (!s)
        s = bough_picture_write_png(ctx, picture, path);
    bough_picture_destroy(ctx, picture);
    return s;
}

/* From above the crowns, over all of it. */
bough_picture_def app_forest_view(int32_t width) {
    bough_picture_def def = canvas(width, width * 7 / 15);
    look((const double[3]){-26, -80, 22}, (const double[3]){0, -2, 3.5}, 0.47, &def);
    return def;
}

bough_status app_forest_draw(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                             bough_picture *picture) {
    bough_picture_clear(ctx, picture);
    bough_status s = draw_meadow(ctx, picture, origin, 700, 80);
    if (!s)
        s = app_tree_draw(ctx, model, state, app_forest_styles, picture);
    return s ? s : bough_picture_render(ctx, picture);
}
