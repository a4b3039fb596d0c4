/* A forest: a hundred oaks of three species, each of which is cooked once. */
#include "example_oak.h"

enum { SPECIES = 3, TREES = 100, MOST_TRIES = 10000 };

static const char *const names[SPECIES] = {"oak", "holm", "red"};

/* m: where trunks may stand, and how far apart at least, for trees of scale 1: crowns, about 6 m wide, touch. */
#define FOREST_WIDTH 84
#define FOREST_DEPTH 60
#define APART 5.2

typedef struct {
    int32_t species;
    double x, y, turn, scale;
} tree;

/* Seen from far away, leaves need few triangles. */
static void describe(uint64_t seed, oak_species species[SPECIES]) {
    for (int k = 0; k < SPECIES; k++) {
        species[k] = oak_common();
        species[k].seed = seed + (uint64_t)k;
        species[k].detail = oak_seen_far;
    }
    oak_species *holm = &species[1], *red = &species[2];
    holm->about = "a holm oak", red->about = "a red oak";
    holm->length = 0.8, holm->girth = 0.9, holm->stiffness = 1.3; /* low and dense, with small hard leaves */
    holm->leaf = 0.85, holm->leaf_density = 110;
    red->length = 1.2, red->girth = 1.1, red->lift = 0.3; /* tall and upright, with large leaves */
    red->leaf = 1.15;
}

static bool has_room(const tree *trees, int32_t count, const tree *t) {
    for (int32_t i = 0; i < count; i++)
        if (hypot(trees[i].x - t->x, trees[i].y - t->y) < APART * 0.5 * (trees[i].scale + t->scale))
            return false;
    return true;
}

/* In a random place each, not too near to others; where there is none left, as it comes. Species take turns. */
static void plant(uint64_t seed, tree trees[TREES]) {
    example_random random = {seed};
    for (int32_t i = 0; i < TREES; i++) {
        tree *t = &trees[i];
        t->species = i % SPECIES;
        t->turn = example_uniform(&random, 0, 360);
        t->scale = example_uniform(&random, 0.75, 1.25);
        for (int k = 0; k < MOST_TRIES; k++) {
            t->x = example_uniform(&random, -0.5 * FOREST_WIDTH, 0.5 * FOREST_WIDTH);
            t->y = example_uniform(&random, -0.5 * FOREST_DEPTH, 0.5 * FOREST_DEPTH);
            if (has_room(trees, i, t))
                break;
        }
    }
}

static bool write_scene(const example *e, const tree *trees) {
    example_file file;
    if (!example_open(e, "scene.json", &file))
        return false;
    FILE *f = file.stream;
    fprintf(f, "{\n  \"bough\": 1,\n  \"name\": \"a forest of %d oaks\",\n  \"objects\": {", TREES);
    for (int k = 0; k < SPECIES; k++)
        fprintf(f, "%s\n    \"%s\": {\"scene\": \"%s/scene.json\"}", k ? "," : "", names[k], names[k]);
    fprintf(f, "\n  },\n  \"place\": [");
    for (int32_t i = 0; i < TREES; i++)
        fprintf(f,
                "%s\n    {\"object\": \"%s\", \"position\": [%.2f, %.2f, 0], \"rotate_deg\": [0, 0, %.1f], "
                "\"scale\": %.3f}",
                i ? "," : "", names[trees[i].species], trees[i].x, trees[i].y, trees[i].turn, trees[i].scale);
    fprintf(f, "\n  ],\n  \"gravity\": [0, 0, -9.81],\n"
               "  \"wind\": {\"velocity\": [6, 0, 0], \"gust\": 0.5, \"drag\": 0.4, \"seed\": 7},\n"
               "  \"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"},\n"
               "  \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, \"dt\": 0.0041666666666666666, "
               "\"duration\": 10},\n  \"settle\": true,\n"
               "  \"probes\": [{\"name\": \"leader\", \"part\": \"oak1/b40\"}]\n}\n");
    return example_close(&file, true);
}

/* A species in its own folder; what it has is counted for all its trees. */
static int make_species(bough_context *ctx, const oak_species *species, const char *name, int32_t trees, example *e) {
    char folder[EXAMPLE_PATH];
    example one = {.folder = folder, .leaves = e->leaves};
    example_path(e, name, folder);
    if (!app_make_folder(folder) || oak_make(ctx, species, &one) != APP_OK)
        return APP_FAILED;
    e->parts += trees * one.parts, e->coordinates += trees * one.coordinates;
    e->vertices += trees * one.vertices, e->elements += trees * one.elements;
    e->surface_vertices += trees * one.surface_vertices, e->surface_triangles += trees * one.surface_triangles;
    return APP_OK;
}

int example_forest(bough_context *ctx, example *e) {
    oak_species species[SPECIES];
    tree trees[TREES];
    if (e->leaves > FOREST_MOST_LEAVES)
        return app_fail_with("--leaves: an oak of the forest can have %d leaves at most, since a scene has at most "
                             "2,000,000 parts",
                             FOREST_MOST_LEAVES);
    describe(e->seed, species);
    plant(e->seed, trees);
    for (int k = 0; k < SPECIES; k++) {
        int32_t count = 0;
        for (int32_t i = 0; i < TREES; i++)
            count += trees[i].species == k;
        if (make_species(ctx, &species[k], names[k], count, e) != APP_OK)
            return APP_FAILED;
    }
    return write_scene(e, trees) ? APP_OK : APP_FAILED;
}
