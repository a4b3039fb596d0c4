/* The largest stress of each part, by which parts break, beside the full body's: of all its elements in that domain.
 *
 * Structures of limbs, each cut where limbs grow out of each other and away from there; under their weight, under
 * forces at their ends, and while they swing: then the largest of all times counts. The method's constants were chosen
 * with the first four in view. The others were made afterwards, to see whether what was found there holds elsewhere;
 * the last two when the method was finished. */
#include "bench_peaks.h"

#include "limbs.h"
#include "tree_scene.h"

#include "base/vec.h"

#include <bough/run.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRUCTURES = 12, FIRST_UNSEEN = 4, CUTS = 2, LOADS = 4, TEXT = 40000 };
enum { MOST_ROWS = STRUCTURES * CUTS * LOADS * LIMBS_MOST };

static const char *const cut_names[CUTS] = {"at joints", "away from joints"};
static const char *const load_names[2][LOADS] = {{"weight", "forces", "swing", NULL},
                                                 {"weight sideways", "force at one end", "couple", "swing"}};

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

/* A stocky post with a stocky arm. */
static void plant_l(limbs *l, int32_t kept) {
    limbs_plant(l, 0.25, 0.2, 3, 2, 5, (double[]){0, 0.02, 0.5}, 1);
    limbs_grow(l, &(limb_place){0, 0, 3, 5, 6, kept, {0.55, 0.05, 0.05}, 0.9});
}

/* A thin mast with long thin arms to both sides of its top. */
static void plant_t(limbs *l, int32_t kept) {
    limbs_plant(l, 0.05, 0.05, 2, 2, 36, (double[]){0, 0, 1.5}, 1);
    limbs_grow(l, &(limb_place){0, 0, 34, 36, 20, kept, {0.8, 0, -0.05}, 1});
    limbs_grow(l, &(limb_place){0, 1, 34, 36, 14, kept, {-0.55, 0.1, 0.1}, 0.7});
}

/* A spine with five teeth on one side. */
static void plant_comb(limbs *l, int32_t kept) {
    limbs_plant(l, 0.12, 0.1, 3, 3, 34, (double[]){-0.3, 0.1, 1.4}, 0.8);
    for (int32_t i = 0; i < 5; i++)
        limbs_grow(l, &(limb_place){0, 0, 4 + 6 * i, 7 + 6 * i, 9, kept, {0.35 + 0.06 * i, 0.02 * i, 0.05}, 0.8});
}

/* Four arms at one height, which share edges. */
static void plant_cross(limbs *l, int32_t kept) {
    limbs_plant(l, 0.14, 0.14, 3, 3, 20, (double[]){0, 0, 1}, 1);
    limbs_grow(l, &(limb_place){0, 0, 14, 17, 10, kept, {0.6, 0, 0.1}, 0.7});
    limbs_grow(l, &(limb_place){0, 1, 14, 17, 8, kept, {-0.5, 0, 0}, 0.7});
    limbs_grow(l, &(limb_place){0, 2, 14, 17, 7, kept, {0, 0.4, 0.2}, 0.7});
    limbs_grow(l, &(limb_place){0, 3, 14, 17, 12, kept, {0.1, -0.7, 0}, 0.7});
}

/* A trunk, boughs and twigs: four levels. */
static void plant_tree(limbs *l, int32_t kept) {
    limbs_plant(l, 0.18, 0.18, 4, 4, 18, (double[]){0, 0.1, 1.2}, 0.8);
    limbs_grow(l, &(limb_place){0, 0, 9, 12, 14, kept, {0.8, 0.1, 0.5}, 0.6});
    limbs_grow(l, &(limb_place){0, -1, 0, 2, 12, kept, {-0.35, 0, 0.8}, 0.6});
    limbs_grow(l, &(limb_place){1, 2, 7, 9, 9, kept, {0.1, 0.45, 0.2}, 0.6});
    limbs_grow(l, &(limb_place){1, -1, 0, 2, 8, kept, {0.3, -0.2, 0.3}, 0.7});
    limbs_grow(l, &(limb_place){2, 3, 6, 8, 8, kept, {-0.1, -0.4, 0.15}, 0.6});
    limbs_grow(l, &(limb_place){3, -1, 0, 2, 6, kept, {0.15, 0.3, -0.1}, 0.8});
}

/* Blades that grow along a stem, as leaves do. */
static void plant_blades(limbs *l, int32_t kept) {
    limbs_plant(l, 0.04, 0.02, 2, 2, 30, (double[]){0.05, 0, 0.6}, 0.8);
    limbs_grow(l, &(limb_place){0, 0, 8, 12, 12, kept, {0.25, 0, 0.12}, 0.5});
    limbs_grow(l, &(limb_place){0, 1, 18, 22, 12, kept, {-0.22, 0, 0.08}, 0.5});
}

/* Three arms that spread from one side of a leaning post. */
static void plant_fan(limbs *l, int32_t kept) {
    limbs_plant(l, 0.1, 0.16, 2, 4, 24, (double[]){0.4, 0, 0.9}, 0.9);
    limbs_grow(l, &(limb_place){0, 0, 5, 8, 11, kept, {0.5, -0.3, 0}, 0.6});
    limbs_grow(l, &(limb_place){0, 0, 12, 15, 12, kept, {0.6, 0, 0.15}, 0.6});
    limbs_grow(l, &(limb_place){0, 0, 19, 22, 9, kept, {0.35, 0.35, 0.2}, 0.6});
}

/* Links that bend to and fro, with a spur on each but the last. */
static void plant_zigzag(limbs *l, int32_t kept) {
    limbs_plant(l, 0.12, 0.12, 3, 3, 12, (double[]){0.3, 0, 0.6}, 0.9);
    limbs_grow(l, &(limb_place){0, -1, 0, 3, 12, kept, {-0.4, 0.1, 0.5}, 0.9});
    limbs_grow(l, &(limb_place){1, -1, 0, 3, 10, kept, {0.35, 0.1, 0.45}, 0.8});
    limbs_grow(l, &(limb_place){0, 2, 6, 9, 7, kept, {0.05, 0.35, 0}, 0.7});
    limbs_grow(l, &(limb_place){1, 3, 5, 8, 8, kept, {0, -0.4, 0.1}, 0.7});
}

static const struct {
    const char *name;
    void (*plant)(limbs *l, int32_t kept);
    double young;
    bough_element_type type;
    double force; /* N, of the largest */
    int32_t kept; /* layers between joints and cuts away from them */
    double step;  /* s: limbs take several to swing to and fro */
} structures[STRUCTURES] = {
    {"Y", plant_y, 8e6, BOUGH_TET4, 12, 2, 0.01},
    {"chain", plant_chain, 2e7, BOUGH_HEX8, 12, 2, 0.01},
    {"trunk and branches", plant_trunk, 2e7, BOUGH_HEX8, 12, 2, 0.01},
    {"bracket", plant_bracket, 1e7, BOUGH_HEX8, 12, 2, 0.01},
    {"L", plant_l, 2e6, BOUGH_TET10, 25, 1, 0.01},
    {"T", plant_t, 3e8, BOUGH_HEX8, 4, 3, 0.002},
    {"comb", plant_comb, 2e7, BOUGH_HEX8, 5, 2, 0.0025},
    {"cross", plant_cross, 1e7, BOUGH_TET4, 8, 2, 0.01},
    {"tree", plant_tree, 3e7, BOUGH_HEX8, 10, 1, 0.01},
    {"blades", plant_blades, 5e7, BOUGH_HEX8, 0.3, 1, 0.002},
    {"fan", plant_fan, 4e7, BOUGH_HEX8, 6, 2, 0.0025},
    {"zigzag", plant_zigzag, 3e7, BOUGH_HEX8, 6, 1, 0.005},
};

/* ---- one scene ---- */

static const char *const scene_text =
    "{\"bough\": 1, \"object\": {\"mesh\": {\"file\": \"mesh.msh\"}, \"sets\": {\"ground\": {\"vertices\": \"z=0\"}}, "
    "\"domains\": \"all\", \"root\": \"limb0\", \"fix\": \"ground\", \"material\": {\"model\": \"stvk\", \"young\": "
    "%g, "
    "\"poisson\": 0.35, \"density\": 700}, \"damping\": {\"mass\": 0.2, \"stiffness\": 0.001}, \"basis\": {\"r\": %d}, "
    "\"samples\": {\"wind\": 0, \"contact\": 0}}, \"gravity\": [%g, %g, %g], \"settle\": %s, \"forces\": [%s], "
    "\"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"}, \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, "
    "\"dt\": %g, \"duration\": 1}}";

static bo_vec3 vertex_of(const limbs *l, int32_t v) {
    return bo_load3(l->vertices + 3 * (size_t)v);
}

static double end_width(const limbs *l, int32_t b) {
    const limb *end = &l->limbs[b];
    return bo_norm(bo_sub(vertex_of(l, end->grid[end->layers][0][0]),
                          vertex_of(l, end->grid[end->layers][end->cells[0]][end->cells[1]])));
}

/* One force on a vertex of a limb's surface. */
static size_t write_force(const limbs *l, int32_t b, int32_t vertex, bo_vec3 f, char *text, size_t size) {
    const double *x = l->vertices + 3 * (size_t)vertex;
    return (size_t)snprintf(text, size,
                            "%s{\"part\": \"limb%d\", \"nearest\": [%.9g, %.9g, %.9g], \"force\": [%g, %g, %g]}",
                            size < TEXT ? ", " : "", b, x[0], x[1], x[2], f.x, f.y, f.z);
}

/* Distributes a force over the vertices of a limb's end: the stress at a single vertex that is pulled by itself depends
 * on the mesh. */
static size_t write_end(const limbs *l, int32_t b, bo_vec3 force, char *text, size_t size) {
    const limb *end = &l->limbs[b];
    const double shares = (end->cells[0] + 1) * (end->cells[1] + 1);
    size_t n = 0;
    for (int32_t i = 0; i <= end->cells[0]; i++)
        for (int32_t j = 0; j <= end->cells[1]; j++)
            n += write_force(l, b, end->grid[end->layers][i][j], bo_scale(1 / shares, force), text + n, size - n);
    return n;
}

/* A couple about a limb, shared out over its outer half for the same reason. */
static size_t write_couple(const limbs *l, int32_t b, double couple, char *text, size_t size) {
    const limb *end = &l->limbs[b];
    const int32_t x = end->cells[0], y = end->cells[1], first = end->layers / 2, layers = end->layers - first + 1;
    size_t n = 0;
    for (int32_t k = first; k <= end->layers; k++) {
        const int32_t(*grid)[LIMBS_ACROSS + 1] = end->grid[k];
        const bo_vec3 corner = vertex_of(l, grid[0][0]), far = vertex_of(l, grid[x][y]);
        const bo_vec3 middle = bo_scale(0.5, bo_add(corner, far));
        const bo_vec3 normal =
            bo_cross(bo_sub(vertex_of(l, grid[x][0]), corner), bo_sub(vertex_of(l, grid[0][y]), corner));
        double spread = 0;
        for (int round = 0; round < 2; round++)
            for (int32_t i = 0; i <= x; i++)
                for (int32_t j = 0; j <= y; j++) {
                    const bo_vec3 arm = bo_sub(vertex_of(l, grid[i][j]), middle);
                    if (i > 0 && i < x && j > 0 && j < y)
                        continue; /* inside */
                    if (round == 0)
                        spread += bo_dot(arm, arm);
                    else
                        n += write_force(l, b, grid[i][j],
                                         bo_scale(couple / (spread * layers * bo_norm(normal)), bo_cross(normal, arm)),
                                         text + n, size - n);
                }
    }
    return n;
}

/* At the ends of all limbs, across them and different for each; or at that of the last; or a couple on the last and a
 * smaller force at its end. What swings is let go under its weight and a force: a couple that is put on at once would
 * shake limbs faster than steps of 0.01 s show. */
static void write_forces(const limbs *l, int structure, int load, char *text, size_t size) {
    const double most = structures[structure].force;
    const int32_t last = l->limb_count - 1;
    size_t n = 0;
    text[0] = 0;
    for (int32_t b = 1; b <= last && load == 1 && structure < FIRST_UNSEEN; b++)
        n += write_end(l, b, bo_v3(most * (b % 2 ? -1 : 0.5), most * (10 - 5 * b) / 12, -most * 8 / 12), text + n,
                       size - n);
    if (structure >= FIRST_UNSEEN && load > 0)
        n = write_end(l, last,
                      bo_scale(load == 2   ? 0.3
                               : load == 3 ? -0.4
                                           : 1,
                               bo_v3(0.7 * most, -0.6 * most, -0.4 * most)),
                      text, size);
    if (structure >= FIRST_UNSEEN && load == 2)
        write_couple(l, last, most * end_width(l, last), text + n, size - n);
}

static double step_of(int structure) {
    return structures[structure].step;
}

static bool swings(int structure, int load) {
    return load == (structure >= FIRST_UNSEEN ? 3 : 2);
}

static int coordinates = 20; /* of each part; --size 2: 32 */

static void write_text(const limbs *l, int structure, int load, char *text, size_t size) {
    static const double gravity[2][LOADS][3] = {{{0, 0, -9.81}, {0, 0, -1}, {3, 1.5, -9.81}, {0}},
                                                {{6, 3, -6}, {0, 0, -1}, {0, 0, -3}, {-4, 3, -5}}};
    static char forces[TEXT];
    const double *g = gravity[structure >= FIRST_UNSEEN][load];
    write_forces(l, structure, load, forces, sizeof forces);
    snprintf(text, size, scene_text, structures[structure].young, coordinates, g[0], g[1], g[2],
             swings(structure, load) ? "false" : "true", forces, step_of(structure));
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

static bool measure(bough_context *ctx, const char *path, const limbs *l, int times, const char *engine, double step,
                    double *most) {
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    bough_run_def def = bough_default_run_def();
    def.engine = engine;
    const bool full = !strcmp(engine, "full");
    bool good = !bough_scene_load(ctx, path, &scene) && !bough_run_create(ctx, scene, &def, &run) &&
                look(ctx, run, l, times, full, most);
    for (double t = 0; t < 0.6 - 1e-9 && step > 0 && good && !app_interrupted(); t += step)
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
    const int times = structures[structure].type == BOUGH_HEX8 ? 1 : 24;
    write_text(l, structure, load, text, sizeof text);
    if (!rewrite(s->path, text) ||
        !measure(ctx, s->path, l, times, "tree", swings(structure, load) ? step_of(structure) : 0, tree) ||
        !measure(ctx, s->path, l, times, "full", swings(structure, load) ? step_of(structure) : 0, full))
        return false;
    for (int32_t p = 0; p < l->limb_count; p++)
        rows[(*count)++] = (peak_row){structure, cut, load, p, tree[p], full[p]};
    return true;
}

static bool compare_structure(bough_context *ctx, int structure, int cut, bool rest, peak_row *rows, int *count) {
    limbs *l = limbs_create();
    static char text[2 * TEXT];
    tree_scene s = {.ctx = ctx};
    if (l)
        structures[structure].plant(l, cut ? structures[structure].kept : 0);
    bough_mesh *mesh = l ? limbs_mesh(ctx, l, structures[structure].type) : NULL;
    if (mesh)
        write_text(l, structure, 0, text, sizeof text);
    bool good = mesh && tree_scene_open_mesh(ctx, text, mesh, &s);
    for (int load = 0; load < LOADS && load_names[structure >= FIRST_UNSEEN][load] && good && !app_interrupted();
         load++)
        good = (rest && swings(structure, load)) || compare(ctx, &s, l, structure, cut, load, rows, count);
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
                   cut_names[r->cut], load_names[r->structure >= FIRST_UNSEEN][r->load]);
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
                                              load_names[rows[i].structure >= FIRST_UNSEEN][rows[i].load], "part",
                                              (int)rows[i].part, "tree", rows[i].tree, "full", rows[i].full));
    return list;
}

static bench_peak_sums sum_up(const peak_row *rows, int count) {
    bench_peak_sums sums = {.parts = count};
    double errors[MOST_ROWS];
    for (int i = 0; i < count; i++) {
        errors[i] = fabs(error_of(&rows[i]));
        sums.within += errors[i] <= 0.1;
        sums.worst = fmax(sums.worst, errors[i]);
    }
    sums.median = median_of((size_t)count, errors);
    return sums;
}

bool bench_peaks_of(bough_context *ctx, bool json, bool larger, bool unseen, json_t **result) {
    static peak_row rows[MOST_ROWS];
    int count = 0;
    bool good = true;
    coordinates = larger ? 32 : 20;
    for (int structure = unseen ? FIRST_UNSEEN : 0; structure < (unseen ? STRUCTURES : FIRST_UNSEEN) && good;
         structure++)
        for (int cut = 0; cut < CUTS && good; cut++)
            good = compare_structure(ctx, structure, cut, false, rows, &count);
    if (!good)
        return false;
    const bench_peak_sums sums = sum_up(rows, count);
    if (json)
        *result = json_pack("{s:i, s:i, s:i, s:f, s:f, s:o}", "r", coordinates, "parts", count, "within_tenth",
                            sums.within, "worst", sums.worst, "median", sums.median, "rows", as_json(rows, count));
    else {
        tell(rows, count);
        printf(
            "largest stress of %d parts with r = %d: %.1f %% median error, %.1f %% worst (required 25 %%), %d within "
            "10 %% (%.0f %%; required 90 %%)\n",
            count, coordinates, 100 * sums.median, 100 * sums.worst, sums.within, 100.0 * sums.within / count);
    }
    return true;
}

bool bench_peaks_at_rest(bough_context *ctx, const char *name, bench_peak_sums *sums) {
    static peak_row rows[MOST_ROWS];
    int count = 0;
    bool good = true;
    for (int structure = 0; structure < STRUCTURES; structure++)
        for (int cut = 0; cut < CUTS && good && !strcmp(structures[structure].name, name); cut++)
            good = compare_structure(ctx, structure, cut, true, rows, &count);
    if (good && count > 0)
        *sums = sum_up(rows, count);
    return good && count > 0;
}

int bench_peaks(const bench_options *options) {
    bough_context *ctx = app_context(1);
    json_t *result = NULL;
    const bool good = bench_peaks_of(ctx, options->json, options->size > 1, true, &result);
    if (good && options->json)
        app_print_json(result);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
