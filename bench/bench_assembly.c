#include "bench.h"

#include "linalg/factor.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    bench_times force, tangent, analyse, numeric, solve;
    double operations;
} figures;

static bool measure(bough_context *ctx, bench_beam *beam, figures *f) {
    int32_t n = 3 * beam->mesh->vertex_count;
    double *u = calloc((size_t)n, sizeof *u), *force = calloc((size_t)n, sizeof *force), energy, entries;
    unsigned char *fixed = calloc((size_t)n, 1);
    bough_sparse *K = NULL;
    bo_factor *factor = NULL;
    bool good = u && force && fixed && !bough_body_matrix_create(ctx, beam->body, &K);
    for (int32_t i = 0; good && i < n; i++) {
        u[i] = 1e-5 * sin(i);
        fixed[i] = beam->mesh->vertices[i / 3 * 3] == 0;
    }
    for (int repeat = 0; good && repeat < 9; repeat++) {
        double t0 = app_cpu_seconds();
        good = !bough_body_evaluate(ctx, beam->body, u, false, &energy, force, NULL);
        double t1 = app_cpu_seconds();
        good = good && !bough_body_evaluate(ctx, beam->body, u, false, &energy, force, K);
        bench_add(&f->force, t1 - t0);
        bench_add(&f->tangent, app_cpu_seconds() - t1);
    }
    for (int repeat = 0; good && repeat < 3; repeat++) {
        bo_factor_destroy(ctx, factor);
        double t0 = app_cpu_seconds();
        good = !bo_factor_analyse(ctx, K, 3, fixed, &factor);
        bench_add(&f->analyse, app_cpu_seconds() - t0);
    }
    for (int repeat = 0; good && repeat < 7; repeat++) {
        double t0 = app_cpu_seconds();
        good = !bo_factor_numeric(ctx, factor, K);
        double t1 = app_cpu_seconds();
        good = good && !bo_factor_solve(ctx, factor, force, u, 1);
        bench_add(&f->numeric, t1 - t0);
        bench_add(&f->solve, app_cpu_seconds() - t1);
    }
    if (good)
        bo_factor_cost(factor, &entries, &f->operations);
    else
        app_fail(ctx);
    bo_factor_destroy(ctx, factor);
    bough_sparse_destroy(ctx, K);
    free(u);
    free(force);
    free(fixed);
    return good;
}

static void print_row(const char *what, const bench_times *t) {
    printf("  %-24s %7.4f s  (%.4f .. %.4f)\n", what, bench_median(t), bench_least(t), bench_most(t));
}

static json_t *row(const bench_times *t) {
    return json_pack("{s:f, s:f, s:f}", "median", bench_median(t), "least", bench_least(t), "most", bench_most(t));
}

/* The same number of elements as a beam, which users have, and as a cube, which is the worst case for the factor. */
int bench_assembly(const bench_options *options) {
    static const struct {
        const char *name;
        double length, h;
        int32_t along, across;
    } shapes[] = {{"beam 4 x 1 x 1", 4, 1, 60, 15}, {"cube", 1, 1, 24, 24}};
    bough_context *ctx = app_context(1);
    json_t *all = json_object();
    int status = APP_OK;
    for (size_t i = 0; i < 2 && status == APP_OK; i++) {
        bench_beam beam;
        figures f = {0};
        if (!bench_beam_create(ctx, BOUGH_TET4, shapes[i].length, shapes[i].h, shapes[i].along, shapes[i].across,
                               BOUGH_MASS_CONSISTENT, 210e9, &beam) ||
            !measure(ctx, &beam, &f)) {
            status = APP_FAILED;
        } else {
            double whole = bench_median(&f.tangent) + bench_median(&f.numeric) + bench_median(&f.solve);
            if (options->json) {
                json_object_set_new(all, shapes[i].name,
                                    json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:f, s:f}", "elements",
                                              (int)beam.mesh->element_count, "force", row(&f.force), "force_tangent",
                                              row(&f.tangent), "analyse", row(&f.analyse), "factor", row(&f.numeric),
                                              "solve", row(&f.solve), "assemble_factor_solve", whole, "factor_gflop",
                                              1e-9 * f.operations));
            } else {
                printf("%s: %d tet4, stvk, one thread, CPU seconds, median (least .. most)\n", shapes[i].name,
                       beam.mesh->element_count);
                print_row("force", &f.force);
                print_row("force + tangent", &f.tangent);
                print_row("analyse (once)", &f.analyse);
                print_row("factor", &f.numeric);
                print_row("solve", &f.solve);
                printf("  %-24s %7.4f s\n  factor: %.1f Gflop, %.1f Gflop/s\n", "assemble+factor+solve", whole,
                       1e-9 * f.operations, 1e-9 * f.operations / bench_median(&f.numeric));
            }
        }
        bench_beam_destroy(ctx, &beam);
    }
    if (options->json && status == APP_OK)
        app_print_json(all);
    else
        json_decref(all);
    bough_context_destroy(ctx);
    return status;
}
