#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODES 20

/* The MODE NO block of a .dat file: number, eigenvalue, frequency (rad/time), frequency (cycles/time), imaginary. */
static int read_frequencies(const char *dat, double *hz) {
    const char *at = strstr(dat, "E I G E N V A L U E   O U T P U T");
    int found = 0;
    while (at && found < MODES && (at = strchr(at, '\n'))) {
        int mode;
        double eigenvalue, radians, cycles;
        if (sscanf(++at, "%d %lf %lf %lf", &mode, &eigenvalue, &radians, &cycles) == 4 && mode == found + 1)
            hz[found++] = cycles;
    }
    return found;
}

static const char cards[] =
    "*MATERIAL, NAME=STEEL\n*ELASTIC\n210e9, 0.3\n*DENSITY\n7850\n"
    "*ELSET, ELSET=ALL_SOLID, GENERATE\n1, %d\n*SOLID SECTION, ELSET=ALL_SOLID, MATERIAL=STEEL\n"
    "*BOUNDARY\nx0, 1, 3\n*STEP\n*FREQUENCY\n20\n*NODE FILE\nU\n*END STEP\n";

typedef struct {
    double ours, ours_wall, theirs; /* CPU seconds; theirs negative without CalculiX */
    double difference;              /* largest relative one with the reduced mass */
    double mass_difference;         /* of the exact mass against theirs */
    double exact_hz[MODES], reduced_hz[MODES], their_hz[MODES];
} figures;

static bool solve(bough_context *ctx, bough_element_type type, int32_t along, int32_t across, bough_mass_kind mass,
                  double *hz, double *cpu, double *wall, bench_beam *beam) {
    double t0 = app_cpu_seconds(), w0 = app_seconds();
    bough_modes *modes;
    if (!bench_beam_create(ctx, type, 1, 0.05, along, across, mass, 210e9, beam))
        return false;
    if (bough_body_modes(ctx, beam->body, beam->load_case, MODES, NULL, &modes)) {
        app_fail(ctx);
        bench_beam_destroy(ctx, beam);
        return false;
    }
    *cpu = app_cpu_seconds() - t0;
    *wall = app_seconds() - w0;
    memcpy(hz, modes->frequencies_hz, MODES * sizeof *hz);
    bough_modes_destroy(ctx, modes);
    return true;
}

static bool measure(bough_context *ctx, bough_element_type type, int32_t along, int32_t across, figures *f,
                    bough_mesh **mesh) {
    bench_beam beam;
    double unused;
    bench_times times = {0}, walls = {0};
    for (int repeat = 0; repeat < 3; repeat++) {
        if (!solve(ctx, type, along, across, BOUGH_MASS_CONSISTENT, f->exact_hz, &f->ours, &f->ours_wall, &beam))
            return false;
        bench_add(&times, f->ours);
        bench_add(&walls, f->ours_wall);
        bench_beam_destroy(ctx, &beam);
    }
    f->ours = bench_median(&times);
    f->ours_wall = bench_median(&walls);
    if (!solve(ctx, type, along, across, BOUGH_MASS_REDUCED, f->reduced_hz, &unused, &unused, &beam))
        return false;
    char text[sizeof cards + 32], *dat;
    snprintf(text, sizeof text, cards, beam.mesh->element_count);
    f->theirs = bench_calculix(ctx, beam.mesh, text, &dat);
    int found = dat ? read_frequencies(dat, f->their_hz) : 0;
    free(dat);
    for (int k = 0; k < found; k++) {
        f->difference = fmax(f->difference, fabs(f->reduced_hz[k] / f->their_hz[k] - 1));
        f->mass_difference = fmax(f->mass_difference, fabs(f->exact_hz[k] / f->their_hz[k] - 1));
    }
    if (found < MODES)
        f->theirs = -1;
    *mesh = beam.mesh;
    beam.mesh = NULL;
    bench_beam_destroy(ctx, &beam);
    return true;
}

int bench_modes(const bench_options *options) {
    /* About 30,000 nodes, or 88,000. */
    static const struct {
        bough_element_type type;
        int32_t along[2], across[2];
    } rows[] = {{BOUGH_TET10, {92, 140}, {6, 9}}, {BOUGH_TET4, {170, 250}, {12, 18}}};
    bough_context *ctx = app_context(1);
    json_t *all = json_object();
    int status = APP_OK;
    for (size_t i = 0; i < 2 && status == APP_OK; i++) {
        figures f = {0};
        bough_mesh *mesh;
        int s = options->size - 1;
        if (!measure(ctx, rows[i].type, rows[i].along[s], rows[i].across[s], &f, &mesh)) {
            status = APP_FAILED;
            break;
        }
        app_clear_progress();
        if (options->json) {
            json_object_set_new(all, bough_element_name(rows[i].type),
                                json_pack("{s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:o}", "vertices",
                                          (int)mesh->vertex_count, "elements", (int)mesh->element_count, "cpu_seconds",
                                          f.ours, "wall_seconds", f.ours_wall, "calculix_cpu_seconds", f.theirs,
                                          "largest_difference", f.difference, "largest_difference_exact_mass",
                                          f.mass_difference, "frequencies_hz", app_json_numbers(f.exact_hz, MODES)));
        } else {
            printf("%s: %d vertices, %d elements, %d modes: %.2f s CPU (median of 3, with set-up)\n",
                   bough_element_name(rows[i].type), mesh->vertex_count, mesh->element_count, MODES, f.ours);
            if (f.theirs > 0)
                printf("  CalculiX on the same mesh, one thread: %.2f s CPU, %.1f times as long\n"
                       "  largest relative difference: %.1e with CalculiX' mass quadrature, %.1e with the exact mass\n",
                       f.theirs, f.theirs / f.ours, f.difference, f.mass_difference);
            else
                printf("  CalculiX is not installed (apt install calculix-ccx): no comparison\n");
            printf("  first frequencies: %.4f %.4f %.4f Hz\n", f.exact_hz[0], f.exact_hz[2], f.exact_hz[4]);
        }
        bough_mesh_destroy(ctx, mesh);
    }
    if (options->json && status == APP_OK)
        app_print_json(all);
    else
        json_decref(all);
    bough_context_destroy(ctx);
    return status;
}
