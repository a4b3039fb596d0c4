#include "swinging_beam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A soft beam, fixed at both ends, swings for five seconds under gravity: how much energy does each method lose?
 * Without loss none; 6.6 J is all there is to lose. */
static const struct {
    const char *name;
    double rho, reference; /* J, of an independent implementation */
} rows[] = {
    {"midpoint", 0, -0.002},
    {"trapezoidal", 0, 0.004},
    {"generalised-alpha", 0.8, 0.007},
    {"tr-bdf2", 0, 0.029},
    {"sdirk", 0, 0.030},
    {"str-sbdf2ere", 0, 0.044},
    {"str-sbdf2", 0, 0.064},
    {"beere", 0, 0.158},
    {"s-sdirk", 0, 0.168},
    {"generalised-alpha", 0.5, 0.189},
    {"sbdf2ere", 0, 0.441},
    {"siere", 0, 0.479},
    {"bdf2", 0, 1.06},
    {"sbdf2", 0, 1.45},
    {"backward-euler", 0, 6.597},
    {"si", 0, 6.597},
    {"ere", 0, NAN},
    {"tr-bdf2ere", 0, NAN},
    {"bdf2ere", 0, NAN},
    {"hht", 0, NAN},
};

static bough_status run(bough_context *ctx, const char *name, double rho, double *lost, double *seconds) {
    swinging_beam b;
    bo_integrator *I = NULL;
    bough_integrator_def def = bough_default_integrator_def();
    def.name = name, def.rho = rho;
    bough_status s = swinging_beam_create(ctx, 1e5, &b);
    double before = 0, after = 0, start = app_cpu_seconds();
    if (!s)
        s = swinging_beam_energy(&b, &before);
    if (!s)
        s = bo_integrator_create(ctx, &b.system, &def, &I);
    bo_motion motion = {.q = b.q, .v = b.v, .a = b.a};
    for (int i = 0; !s && i < 500; i++)
        s = app_interrupted() ? BOUGH_CANCELLED : bo_integrator_step(I, 0.01, &motion);
    if (!s)
        s = swinging_beam_energy(&b, &after);
    *lost = before - after;
    *seconds = app_cpu_seconds() - start;
    bo_integrator_destroy(ctx, I);
    swinging_beam_destroy(ctx, &b);
    return s;
}

int bench_energy(const bench_options *options) {
    bough_context *ctx = app_context(1);
    json_t *all = json_array();
    int status = APP_OK;
    if (!options->json)
        printf("soft beam 1 x 0.125 x 0.125 m, 2,560 tets, fixed at both ends, h = 0.01 s, 5 s\n"
               "method                   energy lost (J)   reference   ms per step\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == APP_OK; i++) {
        double lost, seconds;
        char name[48];
        snprintf(name, sizeof name, rows[i].rho > 0 ? "%s %.1f" : "%s", rows[i].name, rows[i].rho);
        if (run(ctx, rows[i].name, rows[i].rho, &lost, &seconds)) {
            printf("%-24s %s\n", name, bough_message(ctx));
            continue;
        }
        if (options->json) {
            json_array_append_new(all, json_pack("{s:s, s:f, s:f, s:f}", "method", name, "energy_lost", lost,
                                                 "reference", isnan(rows[i].reference) ? -1 : rows[i].reference,
                                                 "ms_per_step", 2 * seconds));
        } else {
            printf("%-24s %15.4f", name, lost);
            isnan(rows[i].reference) ? printf("           -") : printf("   %9.3f", rows[i].reference);
            printf("   %11.1f\n", 2 * seconds);
            fflush(stdout);
        }
    }
    if (options->json && status == APP_OK)
        app_print_json(json_pack("{s:o}", "energy", all));
    else
        json_decref(all);
    bough_context_destroy(ctx);
    return status;
}
