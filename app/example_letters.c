/* A word that flies: soft letters of tets, cut out along strokes, and stiff bars between them. */
#include "example.h"

#include <string.h>

/* m */
#define CUBE (1.0 / 30) /* of the tets; strokes of 0.2 m are six of them */
#define SQUARE 0.025    /* of what is drawn */
#define THICKNESS (5 * CUBE)
#define HALF_STROKE 0.1
#define GRIP 0.09 /* radius of the patch at which a link holds a letter */
#define LINK_LENGTH 0.16
#define LINK_WIDTH 0.1

enum { LETTER_R = 20, MOST_STROKES = 8, LINK_CELLS = 4, LINK_ACROSS = 2 };

/* ---- shapes ---- */

/* A bar from one corner to the other, a slanted stroke from point to point, or a bow: centre, radius, and degrees from
 * and to, counter-clockwise. */
typedef struct stroke {
    enum { NOTHING, BAR, SLANT, BOW } kind;
    double a[2], b[2], radius;
} stroke;

/* z from 0 to 1, x from 0 to width. */
typedef struct letter {
    char name[2];
    double width;
    stroke strokes[MOST_STROKES];
} letter;

/* Bars reach a little into the bows that go on with them. S is the same when it stands on its head, so that one
 * component serves both ends of the word. */
static const letter alphabet[] = {
    {"S", 0.6, {{BOW, {0.3, 0.7}, {15, 270}, 0.2}, {BOW, {0.3, 0.3}, {-165, 90}, 0.2}}},
    {"U", 0.7, {{BAR, {0, 0.32}, {0.2, 1}, 0}, {BAR, {0.5, 0.32}, {0.7, 1}, 0}, {BOW, {0.35, 0.35}, {180, 360}, 0.25}}},
    {"B",
     0.65,
     {{BAR, {0, 0}, {0.2, 1}, 0},
      {BAR, {0.1, 0.8}, {0.37, 1}, 0},
      {BAR, {0.1, 0.4}, {0.37, 0.6}, 0},
      {BAR, {0.1, 0}, {0.37, 0.2}, 0},
      {BOW, {0.35, 0.7}, {-90, 90}, 0.2},
      {BOW, {0.35, 0.3}, {-90, 90}, 0.2}}},
    {"T", 0.8, {{BAR, {0, 0.8}, {0.8, 1}, 0}, {BAR, {0.3, 0}, {0.5, 0.9}, 0}}},
    {"R",
     0.7,
     {{BAR, {0, 0}, {0.2, 1}, 0},
      {BAR, {0.1, 0.8}, {0.37, 1}, 0},
      {BAR, {0.1, 0.4}, {0.37, 0.6}, 0},
      {BOW, {0.35, 0.7}, {-90, 90}, 0.2},
      {SLANT, {0.32, 0.5}, {0.6, -0.05}, 0}}},
    {"E",
     0.6,
     {{BAR, {0, 0}, {0.2, 1}, 0},
      {BAR, {0.1, 0.8}, {0.6, 1}, 0},
      {BAR, {0.1, 0.4}, {0.5, 0.6}, 0},
      {BAR, {0.1, 0}, {0.6, 0.2}, 0}}},
};
enum { LETTERS = sizeof alphabet / sizeof *alphabet };

/* Distances are negative inside, and right near the outline. */
static double distance_to_box(double x, double z, const double lower[2], const double upper[2]) {
    const double dx = fmax(lower[0] - x, x - upper[0]), dz = fmax(lower[1] - z, z - upper[1]);
    return fmax(dx, dz) < 0 ? fmax(dx, dz) : hypot(fmax(dx, 0), fmax(dz, 0));
}

static double distance_to_slant(double x, double z, const stroke *s) {
    const double bx = s->b[0] - s->a[0], bz = s->b[1] - s->a[1], px = x - s->a[0], pz = z - s->a[1];
    const double along = fmax(0, fmin(1, (px * bx + pz * bz) / (bx * bx + bz * bz)));
    return hypot(px - along * bx, pz - along * bz) - HALF_STROKE;
}

/* A ring, cut off by the half planes before its first and beyond its last degree: in both of them, or, for more than
 * half a turn, in one. */
static double distance_to_bow(double x, double z, const stroke *s) {
    const double px = x - s->a[0], pz = z - s->a[1], first = s->b[0] * M_PI / 180, last = s->b[1] * M_PI / 180;
    const double ring = fabs(hypot(px, pz) - s->radius) - HALF_STROKE;
    const double before = px * sin(first) - pz * cos(first), beyond = pz * cos(last) - px * sin(last);
    return fmax(ring, last - first > M_PI ? fmin(before, beyond) : fmax(before, beyond));
}

static double distance_to_letter(const void *data, double x, double z) {
    const letter *l = data;
    double least = INFINITY;
    for (const stroke *s = l->strokes; s < l->strokes + MOST_STROKES && s->kind; s++)
        least = fmin(least, s->kind == BAR     ? distance_to_box(x, z, s->a, s->b)
                            : s->kind == SLANT ? distance_to_slant(x, z, s)
                                               : distance_to_bow(x, z, s));
    return fmax(least, distance_to_box(x, z, (double[]){0, 0}, (double[]){l->width, 1}));
}

static bool in_letter(const void *data, v3 place) {
    return distance_to_letter(data, place.x, place.z) < -1e-9;
}

/* Returns the place where the outline is first met at this height, from the left or from the right. */
static double edge_of(const letter *l, double z, bool from_right) {
    double x = from_right ? l->width : 0;
    while (distance_to_letter(l, x, z) > 1e-9)
        x += from_right ? -0.001 : 0.001;
    return x;
}

/* ---- the word ---- */

/* Letters to the right of the root are held at their left, and the other way round. */
static const struct {
    const char *name;
    int letter;
    bool upside_down;
} word[] = {{"S1", 0, true}, {"U", 1, false},  {"B", 2, false},  {"T", 3, false},
            {"R", 4, false}, {"E1", 5, false}, {"E2", 5, false}, {"S2", 0, false}};
enum { WORD = sizeof word / sizeof *word, ROOT = 3, LINKS = WORD - 1 };

/* Height at which link i joins letters i and i + 1. */
static const double link_height[LINKS] = {0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1};

static void write_patch(FILE *f, const letter *l, const char *name, double z, bool right, bool last) {
    fprintf(f, "\"%s\": {\"patch\": [%.4f, 0, %.4f], \"radius\": %.4f}%s", name, edge_of(l, z, right), z, GRIP,
            last ? "" : ", ");
}

static void write_substance(FILE *f, const letter *l) {
    fprintf(f,
            "    \"%s\": {\n      \"mesh\": \"%s.msh\", \"surface\": {\"file\": \"%s.obj\"},\n"
            "      \"material\": {\"model\": \"stvk\", \"young\": 1e6, \"poisson\": 0.4, \"density\": 200},\n"
            "      \"damping\": {\"mass\": 0, \"stiffness\": 0.003},\n      ",
            l->name, l->name, l->name);
}

/* By the first place where the letter is used; an S on its head is held at its right, which is then its left. */
static void write_letter(FILE *f, int index) {
    const letter *l = &alphabet[index];
    int at = WORD - 1;
    while (word[at].letter != index)
        at--;
    const bool outer = at == WORD - 1 || at == 0;
    write_substance(f, l);
    fprintf(f, "\"interfaces\": {");
    if (at == ROOT) {
        write_patch(f, l, "left", link_height[at - 1], false, false);
        write_patch(f, l, "right", link_height[at], true, true);
    } else {
        const bool left_of_root = at < ROOT;
        write_patch(f, l, "base", link_height[left_of_root ? at : at - 1], left_of_root, outer);
        if (!outer)
            write_patch(f, l, "next", link_height[left_of_root ? at - 1 : at], !left_of_root, true);
    }
    fprintf(f, "},\n      \"basis\": {\"r\": %d}, \"samples\": {\"wind\": 16}\n    },\n", LETTER_R);
}

static void write_link(FILE *f) {
    fprintf(f,
            "    \"link\": {\n      \"mesh\": {\"generate\": \"box\", \"type\": \"tet4\", \"origin\": [0, %g, %g], "
            "\"size\": [%g, %g, %g], \"cells\": [%d, %d, %d]},\n"
            "      \"material\": {\"density\": 200}, \"interfaces\": {\"base\": {\"select\": \"x0\"}, \"tip\": "
            "{\"select\": \"x1\"}}, \"basis\": {\"r\": 0}\n    }\n",
            -LINK_WIDTH / 2, -LINK_WIDTH / 2, LINK_LENGTH, LINK_WIDTH, LINK_WIDTH, LINK_CELLS, LINK_ACROSS,
            LINK_ACROSS);
}

/* From the root outwards: the link, then the letter at its tip. Links to the left point there, so that what hangs on
 * them turns back, but for an S on its head. */
static void write_next(FILE *f, int at) {
    const bool left = at < ROOT;
    const int before = left ? at + 1 : at - 1, link = left ? at : before;
    const char *side = before != ROOT ? "next" : left ? "left" : "right";
    fprintf(f,
            ",\n    {\"name\": \"link%d\", \"component\": \"link\", \"parent\": \"%s\", \"interface\": \"%s\", "
            "\"rotate_deg\": [0, %d, 0]},\n"
            "    {\"name\": \"%s\", \"component\": \"%s\", \"parent\": \"link%d\", \"rotate_deg\": [0, %d, 0]}",
            link + 1, word[before].name, side, left ? 180 : 0, word[at].name, alphabet[word[at].letter].name, link + 1,
            left && !word[at].upside_down ? 180 : 0);
}

/* It turns about its centre of mass from the start, which is beside the root, and is bent by blows at its ends and in
 * its middle that do not push it away. */
static bool write_scene(const example *e) {
    example_file file;
    if (!example_open(e, "scene.json", &file))
        return false;
    FILE *f = file.stream;
    fprintf(f, "{\n  \"bough\": 1,\n  \"name\": \"eight letters and seven links that fly\",\n  \"components\": {\n");
    for (int l = 0; l < LETTERS; l++)
        write_letter(f, l);
    write_link(f);
    fprintf(f,
            "  },\n  \"parts\": [\n    {\"name\": \"%s\", \"component\": \"%s\", \"velocity\": [0, -0.2194, 0], "
            "\"angular_velocity\": [0.25, 0, 0.5]}",
            word[ROOT].name, alphabet[word[ROOT].letter].name);
    for (int at = ROOT + 1; at < WORD; at++)
        write_next(f, at);
    for (int at = ROOT - 1; at >= 0; at--)
        write_next(f, at);
    fprintf(
        f,
        "\n  ],\n  \"forces\": [\n"
        "    {\"part\": \"%s\", \"force\": [0, -250, 110], \"from\": 0, \"until\": 0.2},\n"
        "    {\"part\": \"%s\", \"force\": [0, 500, 0], \"from\": 0, \"until\": 0.2},\n"
        "    {\"part\": \"%s\", \"force\": [0, -250, -110], \"from\": 0, \"until\": 0.2}\n  ],\n"
        "  \"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"},\n"
        "  \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, \"dt\": 0.0041666666666666666, \"duration\": 10},\n"
        "  \"probes\": [{\"name\": \"first\", \"part\": \"%s\"}, {\"name\": \"last\", \"part\": \"%s\"}]\n}\n",
        word[0].name, word[ROOT].name, word[WORD - 1].name, word[0].name, word[WORD - 1].name);
    return example_close(&file, true);
}

/* ---- meshes ---- */

static int uses_of(int index) {
    int uses = 0;
    for (int at = 0; at < WORD; at++)
        uses += word[at].letter == index;
    return uses;
}

static bough_status volume_of(bough_context *ctx, const letter *l, bough_mesh **mesh) {
    const int32_t cells[3] = {(int32_t)ceil(l->width / CUBE - 1e-9), 5, 30};
    example_grid grid;
    if (!example_grid_create(cells, CUBE, (v3){0, -THICKNESS / 2, 0}, &grid))
        return BOUGH_ERROR_MEMORY;
    example_grid_fill(&grid, in_letter, l);
    bough_status s = example_grid_mesh(ctx, &grid, BOUGH_TET4, mesh);
    example_grid_destroy(&grid);
    return s;
}

static bough_status surface_of(bough_context *ctx, const letter *l, bough_mesh **mesh) {
    const int32_t across = (int32_t)lround(l->width / SQUARE), up = (int32_t)lround(1 / SQUARE);
    const example_outline outline = {.distance = distance_to_letter,
                                     .data = l,
                                     .lower = {-SQUARE, -SQUARE},
                                     .step = SQUARE,
                                     .squares = {across + 2, up + 2},
                                     .thickness = THICKNESS};
    return example_outline_mesh(ctx, &outline, mesh);
}

static bough_status write_meshes(bough_context *ctx, example *e, int index) {
    const letter *l = &alphabet[index];
    bough_mesh *volume = NULL, *surface = NULL;
    bough_status s = volume_of(ctx, l, &volume);
    if (!s)
        s = surface_of(ctx, l, &surface);
    return example_write_pair(ctx, e, s, volume, surface, l->name, uses_of(index));
}

static bough_status count_links(bough_context *ctx, example *e) {
    bough_box_def def = bough_default_box_def();
    bough_mesh *mesh;
    memcpy(def.cells, (int32_t[]){LINK_CELLS, LINK_ACROSS, LINK_ACROSS}, sizeof def.cells);
    bough_status s = bough_mesh_generate_box(ctx, &def, &mesh);
    if (s)
        return s;
    s = example_count(ctx, e, mesh, NULL, LINKS);
    bough_mesh_destroy(ctx, mesh);
    return s;
}

int example_letters(bough_context *ctx, example *e) {
    bough_status s = count_links(ctx, e);
    for (int l = 0; l < LETTERS && !s; l++)
        s = write_meshes(ctx, e, l);
    if (s)
        return app_fail(ctx);
    e->parts = WORD + LINKS;
    e->coordinates = LETTER_R * WORD;
    return write_scene(e) ? APP_OK : APP_FAILED;
}

/* ---- letters that fall ---- */

enum { WORDS = 2, PILE_SAMPLES = 80 };

/* Two words, letter above letter, each turned and thrown a little to the side by chance. */
static bool write_pile(const example *e) {
    example_file file;
    example_random random = {e->seed};
    if (!example_open(e, "scene.json", &file))
        return false;
    FILE *f = file.stream;
    fprintf(f, "{\n  \"bough\": 1,\n  \"name\": \"letters that pile up\",\n  \"components\": {\n");
    for (int l = 0; l < LETTERS; l++) {
        write_substance(f, &alphabet[l]);
        fprintf(f, "\"basis\": {\"r\": %d}, \"samples\": {\"contact\": %d}\n    }%s\n", LETTER_R, PILE_SAMPLES,
                l + 1 < LETTERS ? "," : "");
    }
    fprintf(f, "  },\n  \"parts\": [\n");
    for (int i = 0; i < WORDS * WORD; i++) {
        double turn[3], at[2];
        for (int d = 0; d < 3; d++)
            turn[d] = example_uniform(&random, -180, 180);
        for (int d = 0; d < 2; d++)
            at[d] = example_uniform(&random, -0.4, 0.4);
        fprintf(f,
                "    {\"name\": \"%s%s\", \"component\": \"%s\", \"position\": [%.3f, %.3f, %.3f], \"rotate_deg\": "
                "[%.1f, %.1f, %.1f]}%s\n",
                word[i % WORD].name, i < WORD ? "" : "b", alphabet[word[i % WORD].letter].name, at[0], at[1],
                1 + 1.2 * i, turn[0], turn[1], turn[2], i + 1 < WORDS * WORD ? "," : "");
    }
    fprintf(f,
            "  ],\n  \"gravity\": [0, 0, -9.81],\n"
            "  \"obstacles\": [{\"name\": \"ground\", \"shape\": {\"plane\": true}, \"friction\": 0.5}],\n"
            "  \"contact\": {\"between\": true, \"friction\": 0.5},\n"
            "  \"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"},\n"
            "  \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, \"dt\": 0.0041666666666666666, \"duration\": 8},\n"
            "  \"probes\": [{\"name\": \"ground\", \"contact\": \"ground\"}]\n}\n");
    return example_close(&file, true);
}

int example_pile(bough_context *ctx, example *e) {
    bough_status s = BOUGH_OK;
    for (int l = 0; l < LETTERS && !s; l++)
        s = write_meshes(ctx, e, l);
    if (s)
        return app_fail(ctx);
    e->parts = WORDS * WORD;
    e->coordinates = LETTER_R * WORDS * WORD;
    return write_pile(e) ? APP_OK : APP_FAILED;
}
