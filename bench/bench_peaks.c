/* The largest stress of each part, by which parts break, beside the full body's: of all its elements in that domain.
 *
 * Four structures of limbs, each cut where limbs grow out of each other and away from there; under their weight, under
 * forces at their ends, and while they swing after being let go: then the largest of all times counts. */
#include "bench_peaks.h"

#include "limbs.h"
#include "tree_scene.h"

#include <bough/run.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRUCTURES = 4, CUTS = 2, LOADS = 3, MOST_ROWS = STRUCTURES * CUTS * LOADS * LIMBS_MOST, TEXT = 40000 };

static const char *const cut_names[CUTS] = {"at joints", "away from joints"};
static const char *const load_names[LOADS] = {"weight", "forces", "swing"};

/* ---- the structures ---- */

static void plant_y(limbs *l, int32_t kept) {
    limbs_plant(l, 0.3, 0.15, 6, 3, 12, (double[]){0, 0, 1.2}, 0.9);
    limbs_grow(l, &(limb_place){0, -1, 0, 3, 12, kept, {-0.55, 0.1, 0.8}, 0.6});
    limbs_grow(l, &(limb_place){0, -1, 3, 6, 10, kept, {0.5, 0, 0.55}, 0.6});
}

/* The cuts of a chain are where it bends. Away from there limbs go on into each other. */
static void plant_chain(limbs *l, int32_t kept) {
    limbs_plant(l, 0.2, 0.2, 4, 4, 10, (double[]){0.05, 0, 0.8}, 0.85);
    limbs_grow(l, &(limb_place){0, -1, 0, 4, 10, kept, {0.35, 0.1, 0.6}, 0.8});
    limbs_grow(l, &(limb_place){1, -1, 0, 4, 10, kept, {0.45, -0.1, 0.4}, 0.75});
    limbs_grow(l, &(limb_place){2, -1, 0, 4, 10, kept, {0.3, 0, 0.45}, 0.7});
}

static void plant_trunk(limbs *l, int32_t kept) {
    limbs_plant(l, 0.24, 0.24, 4, 4, 24, (double[]){0.1, 0, 2}, 0.7);
    limbs_grow(l, &(limb_place){0, 0, 8, 10, 10, kept, {0.8, 0.05, 0.35}, 0.6});
    limbs_grow(l, &(limb_place){0, 1, 13, 15, 9, kept, {-0.6, 0, 0.4}, 0.6});
    limbs_grow(l, &(limb_place){0, 2, 17, 19, 8, kept, {0, 0.5, 0.25}, 0.6});
    limbs_grow(l, &(limb_place){0, 3, 20, 22, 7, kept, {0, -0.4, 0.2}, 0.6});
}

/* A post with a long and a short arm, and a hanger under the long one. */
static void plant_bracket(limbs *l, int32_t kept) {
    limbs_plant(l, 0.2, 0.16, 4, 3, 14, (double[]){0, 0, 1.1}, 1);
    limbs_grow(l, &(limb_place){0, 0, 11, 14, 12, kept, {0.9, 0, 0}, 0.8});
    limbs_grow(l, &(limb_place){0, 1, 11, 14, 6, kept, {-0.4, 0, 0.1}, 0.8});
    limbs_grow(l, &(limb_place){1, 3, 6, 8, 8, kept, {0, -0.45, -0.2}, 1});
}

static const struct {
    const char *name;
    void (*plant)(limbs *l, int32_t kept);
    double young;
    bool tets;
} structures[STRUCTURES] = {
    {"Y", plant_y, 8e6, true},
    {"chain", plant_chain, 2e7, false},
    {"trunk and branches", plant_trunk, 2e7, false},
    {"bracket", plant_bracket, 1e7, false},
};

/* ---- one scene ---- */

static const char *const scene_text =
    "{\"bough\": 1, \"object\": {\"mesh\": {\"file\": \"mesh.msh\"}, \"sets\": {\"ground\": {\"vertices\": \"z=0\"}}, "
    "\"domains\": \"all\", \"root\": \"limb0\", \"fix\": \"ground\", \"material\": {\"model\": \"stvk\", \"young\": %g, "
    "\"poisson\": 0.35, \"density\": 700}, \"damping\": {\"mass\": 0.2, \"stiffness\": 0.001}, \"basis\": {\"r\": %d}, "
    "\"samples\": {\"wind\": 0, \"contact\": 0}}, \"gravity\": [%g, %g, %g], \"settle\": %s, \"forces\": [%s], "
    "\"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"}, \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, "
    "\"dt\": 0.01, \"duration\": 1}}";

/* Forces at the ends of all limbs, across them and different for each, shared out over the vertices of the end: what a
 * single vertex that is pulled by itself suffers is the mesh's affair. */
static void write_forces(const limbs *l, char *text, size_t size) {
    size_t n = 0;
    text[0] = 0;
    for (int32_t b = 1; b < l->limb_count; b++) {
        const limb *end = &l->limbs[b];
        const double shares = (end->cells[0] + 1) * (end->cells[1] + 1);
        for (int32_t i = 0; i <= end->cells[0]; i++)
            for (int32_t j = 0; j <= end->cells[1]; j++) {
                const double *x = l->vertices + 3 * (size_t)end->grid[end->layers][i][j];
                n += (size_t)snprintf(
                    text + n, size - n,
                    "%s{\"part\": \"limb%d\", \"nearest\": [%.9g, %.9g, %.9g], \"force\": [%g, %g, %g]}",
                    n ? ", " : "", b, x[0], x[1], x[2], (b % 2 ? -12 : 6) / shares, (10 - 5 * b) / shares, -8 / shares);
            }
    }
}

static int coordinates = 20; /* of each part; --size 2: 32 */

static void write_text(const limbs *l, int structure, int load, char *text, size_t size) {
    static char forces[TEXT];
    forces[0] = 0;
    if (load == 1)
        write_forces(l, forces, sizeof forces);
    snprintf(text, size, scene_text, structures[structure].young, coordinates, load == 2 ? 3.0 : 0.0, load == 2 ? 1.5 : 0.0,
             load == 1 ? -1.0 : -9.81, load == 2 ? "false" : "true", forces);
}

/* Largest stress of each part, now; domain: of each element of the whole, for the full engine. */
static bool look(bough_context *ctx, const bough_run *run, const limbs *l, int times, bool full, double *most) {
    const int32_t count = bough_run_stress_count(run);
    double *now = malloc((size_t)count * sizeof *now);
    const bool good = now && !bough_run_stresses(run, now);
    for (int32_t i = 0; i < count && good; i++) {
        const int32_t part = full ? l->domain[i / times] : i;
        most[part] = fmax(most[part], now[i]);
    }
    free(now);
    (void)ctx;
    return good;
}

static bool measure(bough_context *ctx, const char *path, const limbs *l, int times, const char *engine, bool swing,
                    double *most) {
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    bough_run_def def = bough_default_run_def();
    def.engine = engine;
    const bool full = !strcmp(engine, "full");
    bool good = !bough_scene_load(ctx, path, &scene) && !bough_run_create(ctx, scene, &def, &run) &&
                look(ctx, run, l, times, full, most);
    for (int step = 0; step < 60 && swing && good && !app_interrupted(); step++)
        good = !bough_run_step(ctx, run) && look(ctx, run, l, times, full, most);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    app_clear_progress();
    return good;
}

/* ---- all ---- */

typedef struct {
    int structure, cut, load;
    int32_t part;
    double tree, full;
} peak_row;

static bool rewrite(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    const bool written = f && fputs(text, f) >= 0;
    return f && fclose(f) == 0 && written;
}

static bool compare(bough_context *ctx, const tree_scene *s, const limbs *l, int structure, int cut, int load,
                    peak_row *rows, int *count) {
    static char text[2 * TEXT];
    double tree[LIMBS_MOST] = {0}, full[LIMBS_MOST] = {0};
    const int times = structures[structure].tets ? 24 : 1;
    write_text(l, structure, load, text, sizeof text);
    if (!rewrite(s->path, text) || !measure(ctx, s->path, l, times, "tree", load == 2, tree) ||
        !measure(ctx, s->path, l, times, "full", load == 2, full))
        return false;
    for (int32_t p = 0; p < l->limb_count; p++)
        rows[(*count)++] = (peak_row){structure, cut, load, p, tree[p], full[p]};
    return true;
}

static bool compare_structure(bough_context *ctx, int structure, int cut, peak_row *rows, int *count) {
    limbs *l = limbs_create();
    static char text[2 * TEXT];
    tree_scene s = {.ctx = ctx};
    if (l)
        structures[structure].plant(l, cut ? 2 : 0);
    bough_mesh *mesh = l ? limbs_mesh(ctx, l, structures[structure].tets) : NULL;
    if (mesh)
        write_text(l, structure, 0, text, sizeof text);
    bool good = mesh && tree_scene_open_mesh(ctx, text, mesh, &s);
    for (int load = 0; load < LOADS && good && !app_interrupted(); load++)
        good = compare(ctx, &s, l, structure, cut, load, rows, count);
    if (!good)
        bench_fail(ctx);
    tree_scene_close(&s);
    bough_mesh_destroy(ctx, mesh);
    limbs_free(l);
    return good && !app_interrupted();
}

static double error_of(const peak_row *r) {
    return r->tree / r->full - 1;
}

static void tell(const peak_row *rows, int count) {
    for (int i = 0; i < count; i++) {
        const peak_row *r = &rows[i];
        if (r->part == 0)
            printf("%s, cut %s, %s: largest stress by the tree over the full body's\n ", structures[r->structure].name,
                   cut_names[r->cut], load_names[r->load]);
        printf(" %.3f", r->tree / r->full);
        if (i + 1 == count || rows[i + 1].part == 0)
            printf("\n");
    }
}

static json_t *as_json(const peak_row *rows, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i, s:f, s:f}", "structure",
                                              structures[rows[i].structure].name, "cut", cut_names[rows[i].cut], "load",
                                              load_names[rows[i].load], "part", (int)rows[i].part, "tree", rows[i].tree,
                                              "full", rows[i].full));
    return list;
}

bool bench_peaks(bough_context *ctx, bool json, bool larger, json_t **result) {
    static peak_row rows[MOST_ROWS];
    int count = 0, within = 0;
    double errors[MOST_ROWS], worst = 0;
    bool good = true;
    coordinates = larger ? 32 : 20;
    for (int structure = 0; structure < STRUCTURES && good; structure++)
        for (int cut = 0; cut < CUTS && good; cut++)
            good = compare_structure(ctx, structure, cut, rows, &count);
    for (int i = 0; i < count; i++) {
        errors[i] = fabs(error_of(&rows[i]));
        within += errors[i] <= 0.1;
        worst = fmax(worst, errors[i]);
    }
    if (good && json)
        *result = json_pack("{s:i, s:i, s:i, s:f, s:f, s:o}", "r", coordinates, "parts", count, "within_tenth", within, "worst", worst, "median",
                            median_of((size_t)count, errors), "rows", as_json(rows, count));
    else if (good) {
        tell(rows, count);
        printf("largest stress of %d parts with r = %d: %.1f %% median error, %.1f %% worst (required 25 %%), %d within 10 %% (%.0f "
               "%%; required 90 %%)\n",
               count, coordinates, 100 * median_of((size_t)count, errors), 100 * worst, within, 100.0 * within / count);
    }
    return good;
}
