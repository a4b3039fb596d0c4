#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodal forces as *CLOAD cards, so that both programs get the same load to the last digit. */
static char *load_cards(const bench_beam *beam) {
    int32_t n = beam->mesh->vertex_count;
    double *force = calloc(3 * (size_t)n, sizeof *force);
    char *text = malloc(4096 + 64 * (size_t)n);
    if (!force || !text) {
        free(force);
        free(text);
        return NULL;
    }
    bough_load_case_forces(beam->load_case, NULL, force);
    size_t used = (size_t)sprintf(text,
                                  "*MATERIAL, NAME=SOFT\n*ELASTIC\n1e9, 0.3\n"
                                  "*ELSET, ELSET=ALL_SOLID, GENERATE\n1, %d\n"
                                  "*SOLID SECTION, ELSET=ALL_SOLID, MATERIAL=SOFT\n*BOUNDARY\nx0, 1, 3\n"
                                  "*STEP, NLGEOM, INC=200\n*STATIC\n0.1, 1.\n"
                                  "*CONTROLS, PARAMETERS=FIELD\n1e-7, 1e-7\n*CLOAD\n",
                                  beam->mesh->element_count);
    for (int32_t v = 0; v < n; v++)
        if (force[3 * v + 2] != 0)
            used += (size_t)sprintf(text + used, "%d, 3, %.12e\n", v + 1, force[3 * v + 2]);
    sprintf(text + used, "*NODE PRINT, NSET=x1, FREQUENCY=1000\nU\n*END STEP\n");
    free(force);
    return text;
}

/* Mean of the displacements printed for the tip. */
static int read_tip(const char *dat, double mean[3]) {
    const char *at = strstr(dat, "displacements");
    int count = 0;
    memset(mean, 0, 3 * sizeof *mean);
    for (const char *next = at; next && (next = strstr(next + 1, "displacements"));)
        at = next; /* the last block is the end of the step */
    while (at && (at = strchr(at, '\n'))) {
        int node;
        double u[3];
        at++;
        if (at[strspn(at, " ")] == '\n' || sscanf(at, "%d %lf %lf %lf", &node, u, u + 1, u + 2) != 4)
            continue; /* scanf would read on behind an empty line */
        for (int d = 0; d < 3; d++)
            mean[d] += u[d];
        count++;
    }
    for (int d = 0; d < 3; d++)
        mean[d] /= count ? count : 1;
    return count;
}

int bench_static(const bench_options *options) {
    bough_context *ctx = app_context(1);
    bench_beam beam;
    int status = APP_FAILED;
    int32_t *tip = NULL, tip_count;
    const double force[3] = {0, 0, -2000};
    double *u = NULL, t0 = app_cpu_seconds(), ours[3] = {0}, theirs[3] = {0};
    bough_static_result result;
    if (!bench_beam_create(ctx, BOUGH_TET10, 1, 0.1, options->size == 1 ? 40 : 80, options->size == 1 ? 4 : 8,
                           BOUGH_MASS_CONSISTENT, 1e9, &beam)) {
        bough_context_destroy(ctx);
        return APP_FAILED;
    }
    u = calloc(3 * (size_t)beam.mesh->vertex_count, sizeof *u);
    if (!u || bough_mesh_select(ctx, beam.mesh, "x1", &tip, &tip_count) ||
        bough_load_case_add_force(ctx, beam.load_case, tip, tip_count, force) ||
        bough_body_static(ctx, beam.body, beam.load_case, NULL, u, &result)) {
        app_fail(ctx);
    } else {
        double cpu = app_cpu_seconds() - t0;
        app_clear_progress();
        for (int32_t i = 0; i < tip_count; i++)
            for (int d = 0; d < 3; d++)
                ours[d] += u[3 * (size_t)tip[i] + (size_t)d] / tip_count;
        char *cards = load_cards(&beam), *dat = NULL;
        double their_cpu = cards ? bench_calculix(ctx, beam.mesh, cards, &dat) : -1;
        bool compared = their_cpu > 0 && read_tip(dat, theirs) == tip_count;
        double difference =
            sqrt(pow(ours[0] - theirs[0], 2) + pow(ours[1] - theirs[1], 2) + pow(ours[2] - theirs[2], 2)) /
            sqrt(ours[0] * ours[0] + ours[1] * ours[1] + ours[2] * ours[2]);
        status = APP_OK;
        if (options->json) {
            app_print_json(json_pack("{s:i, s:i, s:f, s:f, s:o, s:o, s:f}", "vertices", (int)beam.mesh->vertex_count,
                                     "iterations", (int)result.iterations, "cpu_seconds", cpu, "calculix_cpu_seconds",
                                     compared ? their_cpu : -1.0, "tip", app_json_numbers(ours, 3), "calculix_tip",
                                     app_json_numbers(theirs, 3), "difference", compared ? difference : -1.0));
        } else {
            printf("stvk cantilever 1 x 0.1 x 0.1 m, %d vertices, tet10, 2000 N at the tip\n"
                   "  Bough     tip %.9f %.9f %.9f m, %d iterations, %.2f s CPU\n",
                   beam.mesh->vertex_count, ours[0], ours[1], ours[2], result.iterations, cpu);
            if (compared)
                printf("  CalculiX  tip %.9f %.9f %.9f m, %.2f s CPU\n  relative difference %.1e\n", theirs[0],
                       theirs[1], theirs[2], their_cpu, difference);
            else
                printf("  CalculiX is not installed (apt install calculix-ccx): no comparison\n");
        }
        free(cards);
        free(dat);
    }
    free(u);
    bough_release(ctx, tip);
    bench_beam_destroy(ctx, &beam);
    bough_context_destroy(ctx);
    return status;
}
