/* Component files: as they come, and with checksums that are right. What is accepted can be asked everything. */
#include "fuzz.h"

#include "../component/draft.h"

#include "component/image.h"

static void use(const bough_component *c) {
    const size_t r = (size_t)c->r;
    double *q = calloc(r + 1, sizeof *q), *g = malloc(sizeof *g * (r + 1)), *H = malloc(sizeof *H * (r * r + 1));
    double *scratch = malloc(sizeof *scratch * bough_component_scratch(c)), E, centre[3], R[9], s[6];
    float *positions = malloc(sizeof *positions * (3 * (size_t)c->surface.vertex_count + 1));
    bough_component_evaluate(c, q, scratch, &E, g, H);
    for (int32_t i = 0; i < c->interface_count; i++)
        bough_component_interface_frame(c, i, q, centre, R);
    for (int32_t i = 0; i < c->stress.count; i++)
        bough_component_stress(c, i, q, s, &E);
    bough_component_surface_positions(c, q, positions);
    free(q), free(g), free(H), free(scratch), free(positions);
}

static void try_bytes(const void *data, size_t size) {
    fuzz_memory memory;
    bough_component *c;
    bough_context *ctx = fuzz_context(&memory);
    const bough_status status = bough_component_read(ctx, data, size, &c);
    if (status == BOUGH_OK)
        use(c);
    bough_component_destroy(ctx, c);
    fuzz_end(ctx, &memory, status);
}

void fuzz_one(const uint8_t *data, size_t size) {
    try_bytes(data, size);
    if (size < BO_IMAGE_HEADER_SIZE)
        return;
    unsigned char *sealed = malloc(size);
    memcpy(sealed, data, size);
    bo_image_seal(sealed, size);
    try_bytes(sealed, size);
    free(sealed);
}

void fuzz_seeds(fuzz_add *add) {
    static const struct {
        int32_t r;
        bough_reduced_elastic elastic;
        bough_material_model model;
        uint64_t seed;
    } kinds[] = {{0, BOUGH_REDUCED_RIGID, BOUGH_MATERIAL_STVK, 1},
                 {1, BOUGH_REDUCED_POLYNOMIAL, BOUGH_MATERIAL_STVK, 2},
                 {2, BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_COROTATED, 3},
                 {2, BOUGH_REDUCED_LINEAR, BOUGH_MATERIAL_NEO_HOOKEAN, 4}};
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        draft *d = draft_make(kinds[i].r, kinds[i].elastic, kinds[i].model, kinds[i].seed);
        bough_component *c = draft_pack(ctx, d);
        add(c->image, c->image_size);
        bough_component_destroy(ctx, c);
        draft_free(d);
    }
    bough_context_destroy(ctx);
}
