/* Cooking: how exact, how far it bends, how many cubature points, how long each phase takes. */
#include "bench.h"
#include "cook_objects.h"

#include "dense/cholesky.h"
#include "linalg/sparse.h"

#include <bough/reduce.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- bodies ---- */

/* A box that is clamped at x = 0. */
typedef struct {
    bough_body *body; /* NULL: it could not be made */
    bough_load_case *load_case;
} clamped;

static void free_clamped(bough_context *ctx, clamped *box) {
    bough_load_case_destroy(ctx, box->load_case);
    bough_body_destroy(ctx, box->body);
    *box = (clamped){0};
}

static clamped make_body(bough_context *ctx, bough_element_type type, const double size[3], const int32_t cells[3],
                         bough_material_model model) {
    bough_box_def box = bough_default_box_def();
    bough_body_def def = bough_default_body_def();
    bough_mesh *mesh = NULL;
    clamped made = {0};
    int32_t *vertices = NULL, count;
    box.type = type, box.tets_per_cell = 6;
    memcpy(box.size, size, sizeof box.size);
    memcpy(box.cells, cells, sizeof box.cells);
    def.material.model = model;
    bool good = !bough_mesh_generate_box(ctx, &box, &mesh) && !bough_body_create(ctx, mesh, &def, &made.body) &&
                !bough_mesh_select(ctx, mesh, "x0", &vertices, &count) &&
                !bough_load_case_create(ctx, made.body, &made.load_case) &&
                !bough_load_case_fix(ctx, made.load_case, vertices, count, BOUGH_AXES, NULL);
    bough_release(ctx, vertices);
    bough_mesh_destroy(ctx, mesh);
    if (!good) {
        app_fail(ctx);
        free_clamped(ctx, &made);
    }
    return made;
}

static bough_component *cook(bough_context *ctx, const clamped *box, const bough_cook_def *def, double *times) {
    bough_component *c = NULL;
    if (box->body && bough_cook(ctx, box->body, box->load_case, def, times, &c))
        app_fail(ctx);
    return c;
}

/* ---- exactness ---- */

static double random_number(uint64_t *state) { /* -1 .. 1 */
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

/* out (width numbers) = U^T in, for rows of `width` numbers */
static void project(const bough_component *c, size_t width, const double *in, double *out) {
    size_t r = (size_t)c->r;
    memset(out, 0, r * width * sizeof *out);
    for (size_t i = 0; i < 3 * (size_t)c->volume.vertex_count; i++)
        for (size_t l = 0; l < r; l++)
            for (size_t k = 0; k < width; k++)
                out[l * width + k] += c->volume.U[i * r + l] * in[i * width + k];
}

static double relative(size_t count, const double *a, double sign, const double *b) {
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        difference += (a[i] - sign * b[i]) * (a[i] - sign * b[i]);
        size += b[i] * b[i];
    }
    return sqrt(difference / size);
}

typedef struct {
    double energy, force, tangent; /* largest relative differences */
} exactness;

static bool measure_exactness(bough_context *ctx, bough_element_type type, int32_t r, int poses, exactness *worst) {
    bough_cook_def def = bough_default_cook_def();
    def.r = r, def.keep_volume = true;
    clamped box = make_body(ctx, type, (double[3]){1, 0.2, 0.25}, (int32_t[3]){5, 2, 2}, BOUGH_MATERIAL_STVK);
    bough_component *c = cook(ctx, &box, &def, NULL);
    bough_sparse *K = NULL;
    bool good = c && !bough_body_matrix_create(ctx, box.body, &K);
    size_t R = (size_t)r, n = good ? 3 * (size_t)c->volume.vertex_count : 0;
    double *u = calloc(2 * n + n * R, sizeof *u), *f = u + n, *KU = f + n;
    double *q = calloc(3 * R + 2 * R * R + (good ? bough_component_scratch(c) : 0), sizeof *q);
    double *reduced = q + R, *full = q + 2 * R, *H = q + 3 * R, *T = H + R * R, *scratch = T + R * R;
    uint64_t state = 1;
    *worst = (exactness){0};
    for (int pose = 0; pose < poses && good; pose++) {
        double E = 0, exact = 0;
        for (size_t l = 0; l < R; l++)
            q[l] = 0.6 * random_number(&state) * sqrt(c->K[0] / c->K[l * (R + 1)]);
        for (size_t i = 0; i < n; i++) {
            u[i] = 0;
            for (size_t l = 0; l < R; l++)
                u[i] += c->volume.U[i * R + l] * q[l];
        }
        good = !bough_body_evaluate(ctx, box.body, u, false, &exact, f, K) &&
               bough_component_evaluate(c, q, scratch, &E, reduced, H);
        project(c, 1, f, full);
        bo_sparse_mul_rows(K, r, c->volume.U, KU);
        project(c, R, KU, T);
        worst->energy = fmax(worst->energy, fabs(E / exact - 1));
        worst->force = fmax(worst->force, relative(R, reduced, -1, full));
        worst->tangent = fmax(worst->tangent, relative(R * R, H, 1, T));
    }
    free(u), free(q);
    bough_sparse_destroy(ctx, K);
    bough_component_destroy(ctx, c);
    free_clamped(ctx, &box);
    return good;
}

static bool bench_exactness(bough_context *ctx, bool json, json_t *all) {
    static const bough_element_type types[] = {BOUGH_TET4, BOUGH_TET10, BOUGH_HEX8};
    enum { POSES = 1000 };
    json_t *list = json_array();
    if (!json)
        printf("Polynomial against the projected full body, %d random q: largest relative differences\n", POSES);
    for (size_t i = 0; i < 3; i++)
        for (int32_t r = 20; r <= 40; r += 20) {
            exactness e;
            if (!measure_exactness(ctx, types[i], r, POSES, &e)) {
                json_decref(list);
                return false;
            }
            json_array_append_new(list,
                                  json_pack("{s:s, s:i, s:f, s:f, s:f}", "element", bough_element_name(types[i]), "r",
                                            (int)r, "energy", e.energy, "force", e.force, "tangent", e.tangent));
            if (!json)
                printf("  %-6s r = %d: energy %.1e, force %.1e, tangent %.1e   (required 1e-12)\n",
                       bough_element_name(types[i]), r, e.energy, e.force, e.tangent);
        }
    json_object_set_new(all, "exactness", list);
    return true;
}

/* ---- a beam bent far ---- */

/* Equilibrium of the component under `load` in forty steps. */
static bool reduced_static(const bough_component *c, const double *load, double *q) {
    enum { STEPS = 40, MOST_ITERATIONS = 100 };
    size_t r = (size_t)c->r;
    double *g = calloc(r + r * r + bough_component_scratch(c), sizeof *g), *H = g + r, *scratch = H + r * r;
    bool good = g != NULL;
    for (int step = 1; step <= STEPS && good; step++) {
        double before = INFINITY;
        good = false;
        for (int i = 0; i < MOST_ITERATIONS && !good; i++) {
            double residual = 0, size = 0;
            if (!bough_component_evaluate(c, q, scratch, NULL, g, H) || !bo_cholesky_factor((int)r, H))
                break;
            for (size_t l = 0; l < r; l++) {
                g[l] = load[l] * step / STEPS - g[l];
                residual += g[l] * g[l];
                size += load[l] * load[l];
            }
            good = residual < 1e-18 * size || (residual < 1e-14 * size && residual >= before);
            before = residual;
            bo_cholesky_solve((int)r, H, g);
            for (size_t l = 0; l < r && !good; l++)
                q[l] += g[l];
        }
    }
    free(g);
    return good;
}

static void tip(const bough_component *c, const double *u, double mean[3]) {
    int count = 0;
    mean[0] = mean[1] = mean[2] = 0;
    for (int32_t v = 0; v < c->volume.vertex_count; v++)
        if (c->volume.position[3 * v] > 0.999 && ++count)
            for (int d = 0; d < 3; d++)
                mean[d] += u[3 * v + d];
    for (int d = 0; d < 3; d++)
        mean[d] /= count;
}

/* Relative error of the tip of a cantilever 1 x 0.05 x 0.04 m under a dead load with P L^2 / EI = 3. */
static double deflection_error(bough_context *ctx, uint32_t kinds, int32_t modes, double full_tip[3]) {
    clamped box = make_body(ctx, BOUGH_TET10, (double[3]){1, 0.05, 0.04}, (int32_t[3]){20, 1, 1}, BOUGH_MATERIAL_STVK);
    bough_cook_def def = bough_default_cook_def();
    def.basis = kinds, def.mode_count = modes, def.r = 20, def.keep_volume = true;
    bough_component *c = cook(ctx, &box, &def, NULL);
    double error = -1;
    int32_t *end = NULL, count;
    if (c && !bough_mesh_select(ctx, bough_body_mesh(box.body), "x1", &end, &count)) {
        size_t n = 3 * (size_t)c->volume.vertex_count, r = (size_t)c->r;
        double *u = calloc(2 * n, sizeof *u), *f = u + n, *q = calloc(2 * r, sizeof *q), reduced[3];
        const double EI = bough_default_material().young * 0.05 * pow(0.04, 3) / 12;
        bough_static_def static_def = bough_default_static_def();
        bough_static_result result;
        static_def.load_steps = 8;
        const bool loaded = !bough_load_case_add_force(ctx, box.load_case, end, count, (double[3]){0, 0, 3 * EI});
        bough_load_case_forces(box.load_case, u, f);
        if (loaded && !bough_body_static(ctx, box.body, box.load_case, &static_def, u, &result)) {
            tip(c, u, full_tip);
            project(c, 1, f, q + r);
            if (reduced_static(c, q + r, q)) {
                for (size_t i = 0; i < n; i++) {
                    u[i] = 0;
                    for (size_t l = 0; l < r; l++)
                        u[i] += c->volume.U[i * r + l] * q[l];
                }
                tip(c, u, reduced);
                error = relative(3, reduced, 1, full_tip);
            }
        }
        free(u), free(q);
    }
    bough_release(ctx, end);
    bough_component_destroy(ctx, c);
    free_clamped(ctx, &box);
    return error;
}

static bool bench_deflection(bough_context *ctx, bool json, json_t *all) {
    double full[3] = {0};
    double with = deflection_error(ctx, BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES, 5, full);
    double without = deflection_error(ctx, BOUGH_BASIS_MODES, 20, full);
    if (with < 0 || without < 0)
        return app_fail_with("the bent beam did not converge") == APP_OK;
    json_object_set_new(all, "deflection",
                        json_pack("{s:o, s:f, s:f}", "full_tip", app_json_numbers(full, 3),
                                  "error_5_modes_and_derivatives", with, "error_20_modes", without));
    if (!json)
        printf("Slender beam, tip moved by (%.2f, %.2f, %.2f) m of 1 m: error with 5 modes + derivatives %.2f %% "
               "(required < 2 %%), with 20 modes %.0f %% (required > 30 %%)\n",
               full[0], full[1], full[2], 100 * with, 100 * without);
    return true;
}

/* ---- cubature ---- */

static bool bench_cubature(bough_context *ctx, bool json, json_t *all) {
    clamped box = make_body(ctx, BOUGH_TET4, (double[3]){1, 0.25, 0.25}, (int32_t[3]){24, 6, 6},
                            BOUGH_MATERIAL_STABLE_NEO_HOOKEAN);
    bough_cook_def def = bough_default_cook_def();
    double times[BOUGH_COOK_PHASE_COUNT];
    bough_component *c = cook(ctx, &box, &def, times);
    if (c) {
        const bough_component_quality *quality = &c->quality;
        json_object_set_new(all, "cubature",
                            json_pack("{s:i, s:i, s:i, s:f, s:f, s:f}", "elements",
                                      (int)bough_body_mesh(box.body)->element_count, "r", (int)c->r, "points",
                                      (int)c->cubature.count, "training_error", quality->cubature_training,
                                      "test_error", quality->cubature_test, "seconds", times[BOUGH_COOK_ELASTIC]));
        if (!json)
            printf("Cubature, stable neo-Hookean, %d tets, r = %d: %d points, force error %.2f %% in training, %.2f %% "
                   "on other poses (required < 1 %%), %.1f s\n",
                   bough_body_mesh(box.body)->element_count, c->r, c->cubature.count, 100 * quality->cubature_training,
                   100 * quality->cubature_test, times[BOUGH_COOK_ELASTIC]);
    }
    bool good = c != NULL;
    bough_component_destroy(ctx, c);
    free_clamped(ctx, &box);
    return good;
}

/* ---- one part ---- */

static bool bench_part(bough_context *ctx, bool json, json_t *all) {
    bench_times phases[BOUGH_COOK_PHASE_COUNT] = {0}, total = {0};
    clamped box = make_body(ctx, BOUGH_TET4, (double[3]){1.8, 1.0, 1.2}, (int32_t[3]){18, 10, 12}, BOUGH_MATERIAL_STVK);
    bough_cook_def def = bough_default_cook_def();
    bool good = box.body != NULL;
    for (int repeat = 0; repeat < 5 && good; repeat++) {
        double times[BOUGH_COOK_PHASE_COUNT], sum = 0;
        bough_component *c = cook(ctx, &box, &def, times);
        good = c != NULL;
        for (int i = 0; i < BOUGH_COOK_PHASE_COUNT && good; i++) {
            bench_add(&phases[i], times[i]);
            sum += times[i];
        }
        bench_add(&total, sum);
        bough_component_destroy(ctx, c);
    }
    json_t *object = json_object();
    if (good && !json)
        printf("One part of %d tets, r = 20, one thread, seconds, median (least .. most) of 5\n",
               bough_body_mesh(box.body)->element_count);
    for (int i = 0; i < BOUGH_COOK_PHASE_COUNT && good; i++) {
        json_object_set_new(object, bough_cook_phase_name((bough_cook_phase)i), json_real(bench_median(&phases[i])));
        if (!json)
            printf("  %-18s %7.3f  (%.3f .. %.3f)%s\n", bough_cook_phase_name((bough_cook_phase)i),
                   bench_median(&phases[i]), bench_least(&phases[i]), bench_most(&phases[i]),
                   i == BOUGH_COOK_ELASTIC ? "   (required < 0.4)" : "");
    }
    json_object_set_new(object, "total", json_real(bench_median(&total)));
    json_object_set_new(all, "part", object);
    if (good && !json)
        printf("  %-18s %7.3f  (%.3f .. %.3f)\n", "all", bench_median(&total), bench_least(&total), bench_most(&total));
    free_clamped(ctx, &box);
    return good;
}

int bench_cook(const bench_options *options) {
    bough_context *ctx = app_context(1);
    json_t *all = json_object();
    bool good = bench_exactness(ctx, options->json, all) && bench_deflection(ctx, options->json, all) &&
                bench_cubature(ctx, options->json, all) && bench_part(ctx, options->json, all) &&
                bench_cook_objects(options->json, all);
    if (options->json && good)
        app_print_json(all);
    else
        json_decref(all);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
