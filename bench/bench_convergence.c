#include "bench.h"

#include <math.h>

#define MESHES 4

static bool first_frequency(bough_context *ctx, bough_element_type type, int32_t across, double *hz,
                            int32_t *vertices) {
    bench_beam beam;
    bough_modes *modes;
    if (!bench_beam_create(ctx, type, 1, 0.05, 20 * across, across, BOUGH_MASS_CONSISTENT, 210e9, &beam))
        return false;
    bool good = !bough_body_modes(ctx, beam.body, beam.load_case, 6, NULL, &modes);
    if (good) {
        /* Bending pairs 1, 2 and 3; the two of a pair differ a little by the mesh's diagonals: their mean. */
        for (int pair = 0; pair < 3; pair++)
            hz[pair] = 0.5 * (modes->frequencies_hz[2 * pair] + modes->frequencies_hz[2 * pair + 1]);
        *vertices = beam.mesh->vertex_count;
        bough_modes_destroy(ctx, modes);
    } else {
        app_fail(ctx);
    }
    bench_beam_destroy(ctx, &beam);
    return good;
}

int bench_convergence(const bench_options *options) {
    bough_context *ctx = app_context(1);
    double exact[3];
    int32_t vertices;
    json_t *all = json_array();
    int status = APP_OK;
    if (!first_frequency(ctx, BOUGH_TET10, 6, exact, &vertices))
        status = APP_FAILED;
    if (status == APP_OK && !options->json) {
        app_clear_progress();
        printf("steel cantilever 1 x 0.05 x 0.05 m, bending pairs 1 to 3; errors against tet10 with %d vertices\n"
               "(%.4f %.4f %.4f Hz); order between a mesh and the next finer one\n\n"
               "element  cells across  vertices   error 1    order   error 2    order   error 3    order\n",
               vertices, exact[0], exact[1], exact[2]);
    }
    static const struct {
        bough_element_type type;
        int32_t across[MESHES];
    } rows[] = {{BOUGH_TET4, {1, 2, 4, 8}}, {BOUGH_HEX8, {1, 2, 4, 8}}, {BOUGH_TET10, {1, 2, 3, 4}}};
    for (size_t r = 0; r < 3 && status == APP_OK; r++) {
        double before[3] = {0};
        for (int m = 0; m < MESHES && status == APP_OK; m++) {
            double hz[3], error[3], order[3];
            if (!first_frequency(ctx, rows[r].type, rows[r].across[m], hz, &vertices)) {
                status = APP_FAILED;
                break;
            }
            app_clear_progress();
            for (int k = 0; k < 3; k++) {
                error[k] = hz[k] / exact[k] - 1;
                order[k] = m ? log(before[k] / error[k]) / log((double)rows[r].across[m] / rows[r].across[m - 1]) : 0;
                before[k] = error[k];
            }
            if (options->json) {
                json_array_append_new(all, json_pack("{s:s, s:i, s:i, s:o, s:o}", "element",
                                                     bough_element_name(rows[r].type), "cells_across",
                                                     (int)rows[r].across[m], "vertices", (int)vertices, "errors",
                                                     app_json_numbers(error, 3), "orders", app_json_numbers(order, 3)));
                continue;
            }
            printf("%-8s %12d %9d", bough_element_name(rows[r].type), rows[r].across[m], vertices);
            for (int k = 0; k < 3; k++)
                m ? printf("  %9.2e %7.2f", error[k], order[k]) : printf("  %9.2e       -", error[k]);
            putchar('\n');
        }
    }
    if (options->json && status == APP_OK)
        app_print_json(json_pack("{s:O, s:o}", "meshes", all, "reference_hz", app_json_numbers(exact, 3)));
    json_decref(all);
    bough_context_destroy(ctx);
    return status;
}
