#include "swinging_beam.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 12

/* CPU seconds of a step; negative when the method cannot take it. */
static double time_step(bough_context *ctx, const char *name, double young, int32_t *factors) {
    swinging_beam b;
    bo_integrator *I = NULL;
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name, def.krylov_limit = 1500;
    bench_times times = {0};
    bough_status s = swinging_beam_create(ctx, young, &b);
    if (!s)
        s = bo_integrator_create(ctx, &b.system, &def, &I);
    bo_motion motion = {.q = b.q, .v = b.v, .a = b.a};
    for (int i = 0; !s && i < STEPS; i++) {
        double start = app_cpu_seconds();
        s = bo_integrator_step(I, 0.01, &motion);
        bench_add(&times, app_cpu_seconds() - start);
        *factors = I ? I->factors : 0;
    }
    bo_integrator_destroy(ctx, I);
    swinging_beam_destroy(ctx, &b);
    return s ? -1 : bench_median(&times);
}

/* The least that a semi-implicit step must do: assemble, factor, solve. */
static double time_parts(bough_context *ctx, double young) {
    swinging_beam b;
    bench_times times = {0};
    bough_status s = swinging_beam_create(ctx, young, &b);
    for (int i = 0; !s && i < STEPS; i++) {
        double start = app_cpu_seconds(), U;
        s = b.system.linearise(b.system.data, 0, b.q, false);
        if (!s)
            s = b.system.force(b.system.data, 0, b.q, &U, b.w);
        if (!s)
            s = b.system.factor(b.system.data, 1, 0.01, 1e-4);
        if (!s)
            s = b.system.solve(b.system.data, b.w, b.w);
        bench_add(&times, app_cpu_seconds() - start);
    }
    swinging_beam_destroy(ctx, &b);
    return s ? -1 : bench_median(&times);
}

int bench_stiffness(const bench_options *options) {
    static const char *const methods[] = {"ere", "siere", "si", "s-sdirk", "tr-bdf2"};
    enum { METHODS = sizeof methods / sizeof *methods };
    bough_context *ctx = app_context(1);
    json_t *all = json_array();
    if (!options->json) {
        printf("soft beam, 2,560 tets, h = 0.01 s: ms of CPU a step (median of %d)\n    E (Pa)", STEPS);
        for (int m = 0; m < METHODS; m++)
            printf("  %10s", methods[m]);
        printf("  assemble+factor+solve\n");
    }
    for (double young = 1e5; young < 2e9; young *= 10) {
        json_t *row = json_pack("{s:f}", "young", young);
        if (!options->json)
            printf("%10.0e", young);
        for (int m = 0; m < METHODS; m++) {
            int32_t factors = 0;
            double ms = 1e3 * time_step(ctx, methods[m], young, &factors);
            json_object_set_new(row, methods[m], ms < 0 ? json_null() : json_real(ms));
            if (!options->json)
                ms < 0 ? printf("  %10s", "-") : printf("  %10.1f", ms);
            fflush(stdout);
        }
        double least = 1e3 * time_parts(ctx, young);
        json_object_set_new(row, "assemble_factor_solve", json_real(least));
        if (!options->json)
            printf("  %10.1f\n", least);
        json_array_append_new(all, row);
    }
    if (options->json)
        app_print_json(json_pack("{s:o}", "ms_per_step", all));
    else
        json_decref(all);
    bough_context_destroy(ctx);
    return APP_OK;
}
