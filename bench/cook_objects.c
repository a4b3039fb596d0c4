#include "cook_objects.h"

#include "bench.h"

#include <bough/reduce.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- objects out of bricks of cells, each brick a domain ---- */

typedef struct {
    int32_t begin[3], end[3]; /* cells */
} brick;

enum { MOST_BRICKS = 64 };

typedef struct {
    const char *name;
    int32_t brick_count, total_r;
    brick bricks[MOST_BRICKS];
    const char *paper; /* what the paper says about an object of this size */
} object;

static void add_brick(object *o, int32_t x0, int32_t y0, int32_t z0, int32_t x1, int32_t y1, int32_t z1) {
    o->bricks[o->brick_count++] = (brick){{x0, y0, z0}, {x1, y1, z1}};
}

/* Four bricks in a row, one standing on each: 8 parts, 85,440 tets. */
static object comb(void) {
    object o = {.name = "comb", .total_r = 160, .paper = "83,753 tets, 8 parts: 4.3 minutes"};
    for (int32_t i = 0; i < 4; i++)
        add_brick(&o, 16 * i, 0, 0, 16 * (i + 1), 10, 11);
    for (int32_t i = 0; i < 4; i++)
        add_brick(&o, 16 * i + 3, 0, 11, 16 * i + 13, 10, 29);
    return o;
}

/* A spine of eight bricks with two limbs of two bricks each, up and down: 40 parts, 161,280 tets. */
static object creature(void) {
    object o = {.name = "creature", .total_r = 454, .paper = "160,553 tets, 40 parts, 454 modes: 5.1 minutes"};
    for (int32_t i = 0; i < 8; i++)
        add_brick(&o, 12 * i, 0, 21, 12 * (i + 1), 8, 28);
    for (int32_t i = 0; i < 8; i++) {
        int32_t x = 12 * i + 2;
        add_brick(&o, x, 0, 28, x + 8, 8, 38);
        add_brick(&o, x, 0, 38, x + 8, 8, 49);
        add_brick(&o, x, 0, 11, x + 8, 8, 21);
        add_brick(&o, x, 0, 0, x + 8, 8, 11);
    }
    return o;
}

typedef struct {
    int32_t size[3]; /* vertices of the grid */
    int32_t *number; /* of the grid's vertices in the mesh, or -1 */
    double *vertices;
    int32_t *elements;
    int32_t vertex_count, element_count;
} builder;

static int32_t vertex_at(builder *b, int32_t x, int32_t y, int32_t z) {
    int32_t *number = &b->number[(z * b->size[1] + y) * b->size[0] + x];
    if (*number < 0) {
        double *v = b->vertices + 3 * (size_t)b->vertex_count;
        v[0] = 0.05 * x, v[1] = 0.05 * y, v[2] = 0.05 * z;
        *number = b->vertex_count++;
    }
    return *number;
}

/* Kuhn's six tets of a cell: one a way along the axes from corner to corner, so that all cells fit together. */
static void add_cell(builder *b, int32_t x, int32_t y, int32_t z) {
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    for (int t = 0; t < 6; t++) {
        int32_t at[3] = {x, y, z}, *tet = b->elements + 4 * (size_t)b->element_count++;
        tet[0] = vertex_at(b, at[0], at[1], at[2]);
        for (int k = 0; k < 3; k++) {
            at[order[t][k]]++;
            tet[k + 1] = vertex_at(b, at[0], at[1], at[2]);
        }
        if (t >= 3) { /* odd ways turn the other way round */
            int32_t swap = tet[2];
            tet[2] = tet[3];
            tet[3] = swap;
        }
    }
}

static bool write_mesh(bough_context *ctx, const object *o, const char *path, int32_t *element_count) {
    builder b = {.size = {1, 1, 1}};
    size_t cells = 0;
    for (int32_t i = 0; i < o->brick_count; i++) {
        size_t volume = 1;
        for (int d = 0; d < 3; d++) {
            b.size[d] = o->bricks[i].end[d] + 1 > b.size[d] ? o->bricks[i].end[d] + 1 : b.size[d];
            volume *= (size_t)(o->bricks[i].end[d] - o->bricks[i].begin[d]);
        }
        cells += volume;
    }
    size_t grid = (size_t)b.size[0] * (size_t)b.size[1] * (size_t)b.size[2];
    b.number = malloc(grid * sizeof *b.number);
    b.vertices = malloc(3 * grid * sizeof *b.vertices);
    b.elements = malloc(24 * cells * sizeof *b.elements);
    int32_t *items = malloc(6 * cells * sizeof *items), begin[MOST_BRICKS + 1] = {0};
    bough_mesh *mesh = NULL;
    bool good = b.number && b.vertices && b.elements && items;
    for (size_t i = 0; i < grid && good; i++)
        b.number[i] = -1;
    for (int32_t i = 0; i < o->brick_count && good; i++) {
        const brick *k = &o->bricks[i];
        for (int32_t z = k->begin[2]; z < k->end[2]; z++)
            for (int32_t y = k->begin[1]; y < k->end[1]; y++)
                for (int32_t x = k->begin[0]; x < k->end[0]; x++)
                    add_cell(&b, x, y, z);
        begin[i + 1] = b.element_count;
    }
    good = good && !bough_mesh_create(ctx, BOUGH_TET4, b.vertex_count, b.vertices, b.element_count, b.elements, &mesh);
    for (int32_t i = 0; i < o->brick_count && good; i++) {
        char name[16];
        snprintf(name, sizeof name, "part%02d", i);
        for (int32_t e = begin[i]; e < begin[i + 1]; e++)
            items[e - begin[i]] = e;
        good = !bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, name, items, begin[i + 1] - begin[i]);
    }
    *element_count = b.element_count;
    good = good && !bough_mesh_write(ctx, mesh, path);
    bough_mesh_destroy(ctx, mesh);
    free(b.number), free(b.vertices), free(b.elements), free(items);
    return good;
}

static bool write_scene(const object *o, const char *path) {
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fprintf(f,
            "{\"bough\": 1, \"object\": {\"mesh\": {\"file\": \"%s.msh\"},\n"
            " \"material\": {\"model\": \"stvk\", \"young\": 1e7, \"poisson\": 0.4, \"density\": 1000},\n"
            " \"domains\": \"all\", \"root\": \"part00\", \"fix\": \"x<0.001\",\n"
            " \"basis\": {\"total\": %d}}}\n",
            o->name, o->total_r);
    return fclose(f) == 0;
}

/* ---- cooking them ---- */

typedef struct {
    double phases[BOUGH_COOK_PHASE_COUNT];
    int32_t count, total_r;
    double worst_frequency; /* relative error of the lowest frequency */
} tally;

static void add_item(void *user, const bough_cooked *cooked) {
    tally *t = user;
    const bough_component_quality *quality = &cooked->component->quality;
    for (int i = 0; i < BOUGH_COOK_PHASE_COUNT && cooked->times; i++)
        t->phases[i] += cooked->times[i];
    t->count++;
    t->total_r += cooked->component->r;
    if (quality->mode_count > 0)
        t->worst_frequency = fmax(t->worst_frequency, quality->reduced_hz[0] / quality->full_hz[0] - 1);
}

static double peak_megabytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static void remove_outputs(const bough_cook_plan *plan) {
    for (int32_t i = 0; i < bough_cook_plan_count(plan); i++)
        remove(bough_cook_plan_item(plan, i)->output);
    rmdir(bough_cook_plan_folder(plan));
}

static void report(const object *o, int32_t elements, int32_t threads, const tally *t, const bench_times *load,
                   const bench_times *wall, bool json, json_t *all) {
    double sum = 0;
    json_t *phases = json_object();
    for (int i = 0; i < BOUGH_COOK_PHASE_COUNT; i++)
        sum += t->phases[i];
    if (!json)
        printf("%s: %d tets, %d parts, %d coordinates, %d threads: %.2f s (%.2f .. %.2f), reading and splitting %.2f s "
               "(required < 8 s; the paper: %s); peak memory %.0f MB\n",
               o->name, elements, t->count, t->total_r, threads, bench_median(wall), bench_least(wall),
               bench_most(wall), bench_median(load), o->paper, peak_megabytes());
    for (int i = 0; i < BOUGH_COOK_PHASE_COUNT; i++) {
        const char *name = bough_cook_phase_name((bough_cook_phase)i);
        json_object_set_new(phases, name, json_real(t->phases[i] / sum));
        if (!json)
            printf("  %-18s %5.1f %%\n", name, 100 * t->phases[i] / sum);
    }
    json_object_set_new(all, o->name,
                        json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:o}", "elements", (int)elements,
                                  "parts", (int)t->count, "coordinates", (int)t->total_r, "threads", (int)threads,
                                  "seconds", bench_median(wall), "seconds_least", bench_least(wall), "seconds_most",
                                  bench_most(wall), "reading_seconds", bench_median(load), "peak_megabytes",
                                  peak_megabytes(), "share_of_phases", phases));
}

static bool cook_object(const object *o, const char *folder, int32_t threads, bool json, json_t *all) {
    char mesh[512], scene[512];
    int32_t elements = 0;
    bough_context *ctx = app_context(threads);
    bench_times load = {0}, wall = {0};
    tally last = {0};
    snprintf(mesh, sizeof mesh, "%s/%s.msh", folder, o->name);
    snprintf(scene, sizeof scene, "%s/%s.json", folder, o->name);
    bool good = write_mesh(ctx, o, mesh, &elements) && write_scene(o, scene);
    for (int repeat = 0; repeat < 3 && good; repeat++) {
        bough_cook_plan *plan;
        tally t = {0};
        double start = app_seconds();
        good = !bough_cook_plan_load(ctx, scene, NULL, NULL, &plan);
        if (!good)
            break;
        double middle = app_seconds();
        good = !bough_cook_plan_run(ctx, plan, true, add_item, &t);
        bench_add(&load, middle - start);
        bench_add(&wall, app_seconds() - middle);
        last = t;
        remove_outputs(plan);
        bough_cook_plan_destroy(ctx, plan);
    }
    app_clear_progress();
    if (good)
        report(o, elements, threads, &last, &load, &wall, json, all);
    else
        app_fail(ctx);
    remove(mesh);
    remove(scene);
    bough_context_destroy(ctx);
    return good;
}

bool bench_cook_objects(bool json, json_t *all) {
    char folder[] = "/tmp/bough-bench-XXXXXX";
    if (!mkdtemp(folder))
        return app_fail_with("no temporary folder") == APP_OK;
    const object objects[] = {comb(), creature()};
    bool good = true;
    for (size_t i = 0; i < 2 && good; i++)
        good = cook_object(&objects[i], folder, 2, json, all);
    rmdir(folder);
    return good;
}
