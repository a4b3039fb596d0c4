/* How long must a steel bar be to sound a given note? A bar of a chime hangs free; its lowest bending mode is the tone,
 * whose frequency is inversely proportional to the square of the length.
 *
 *     make && ./chime 440 */
#include <bough/fem.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double width = 0.02, thickness = 0.008; /* m */

/* The lowest frequency (Hz) of a free bar of this length (m). */
static bough_status sound(bough_context *ctx, double length, double *frequency) {
    bough_box_def box = bough_default_box_def();
    box.type = BOUGH_TET10;
    box.size[0] = length, box.size[1] = width, box.size[2] = thickness;
    box.cells[0] = 24, box.cells[1] = 2, box.cells[2] = 2;
    bough_mesh *mesh;
    bough_status status = bough_mesh_generate_box(ctx, &box, &mesh);
    if (status)
        return status;

    bough_body_def def = bough_default_body_def();
    def.material.young = 200e9;
    def.material.poisson = 0.29;
    def.material.density = 7850;
    bough_body *body = NULL;
    bough_load_case *load_case = NULL; /* nothing holds it */
    bough_modes *modes = NULL;
    status = bough_body_create(ctx, mesh, &def, &body);
    if (!status)
        status = bough_load_case_create(ctx, body, &load_case);
    if (!status)
        status = bough_body_modes(ctx, body, load_case, 7, NULL, &modes); /* six of them move it as a whole */
    if (!status)
        *frequency = modes->frequencies_hz[modes->rigid_count];
    bough_modes_destroy(ctx, modes);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    return status;
}

int main(int count, char **arguments) {
    const double wanted = count == 2 ? atof(arguments[1]) : 0;
    if (!(wanted >= 20 && wanted <= 5000)) {
        fprintf(stderr, "usage: chime HERTZ, from 20 to 5000; for example chime 440\n");
        return 2;
    }
    bough_context *ctx = bough_context_create(NULL);
    if (!ctx)
        return 1;
    double length = 0.3, frequency = 0;
    bough_status status = BOUGH_OK;
    for (int i = 0; i < 3 && !status; i++) {
        status = sound(ctx, length, &frequency);
        if (!status && i < 2)
            length *= sqrt(frequency / wanted);
    }
    if (status)
        fprintf(stderr, "chime: %s (%s)\n", bough_message(ctx), bough_status_name(status));
    else
        printf("a bar of steel, %.0f x %.0f mm, %.1f mm long sounds at %.1f Hz\n", 1e3 * width, 1e3 * thickness,
               1e3 * length, frequency);
    bough_context_destroy(ctx);
    return status ? 1 : 0;
}
