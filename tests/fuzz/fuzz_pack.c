/* Packs: as they come, and with checksums that are right, in the file and in the components inside. What is accepted
 * can be stepped. */
#include "fuzz.h"

#include "../component/draft.h"
#include "../tree/joints.h"

#include "component/image.h"

#include <bough/tree.h>

static void try_bytes(const void *data, size_t size) {
    fuzz_memory memory;
    bough_tree_model *model;
    bough_tree_state *state = NULL;
    bough_context *ctx = fuzz_context(&memory);
    bough_status status = bough_tree_model_read(ctx, data, size, &model);
    if (status == BOUGH_OK)
        status = bough_tree_state_create(ctx, model, &state);
    if (status == BOUGH_OK)
        bough_tree_step(ctx, model, state, 1.0 / 240);
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    fuzz_end(ctx, &memory, status);
}

/* Files within the file, wherever one seems to begin. */
static void seal_components(unsigned char *bytes, size_t size) {
    static const unsigned char magic[8] = {0x89, 'B', 'O', 'U', 'G', 'H', '\r', '\n'};
    for (size_t at = BO_IMAGE_HEADER_SIZE; at + BO_IMAGE_HEADER_SIZE < size; at += 8) {
        uint64_t length;
        memcpy(&length, bytes + at + 16, sizeof length);
        if (!memcmp(bytes + at, magic, 8) && length >= BO_IMAGE_HEADER_SIZE && length <= size - at)
            bo_image_seal(bytes + at, (size_t)length);
    }
}

void fuzz_one(const uint8_t *data, size_t size) {
    try_bytes(data, size);
    if (size < BO_IMAGE_HEADER_SIZE)
        return;
    unsigned char *sealed = malloc(size);
    memcpy(sealed, data, size);
    seal_components(sealed, size);
    bo_image_seal(sealed, size);
    try_bytes(sealed, size);
    free(sealed);
}

/* Two trees of small components, one of them led, with a hinge and a tie. */
void fuzz_seeds(fuzz_add *add) {
    enum { KINDS = 2, PARTS = 3 };
    static const double time[2] = {0, 1}, position[6] = {0, 0, 0, 0.2, 0, 0.1}, rotation[8] = {1, 0, 0, 0, 1, 0, 0, 0};
    bough_context *ctx = test_context(1);
    draft *drafts[KINDS];
    bough_component *components[KINDS];
    bough_part_def parts[PARTS];
    bough_tree_model_def def = bough_default_tree_model_def();
    bough_tree_model *model;
    for (int i = 0; i < KINDS; i++) {
        drafts[i] = draft_make(i, i ? BOUGH_REDUCED_POLYNOMIAL : BOUGH_REDUCED_RIGID, BOUGH_MATERIAL_STVK, 1);
        drafts[i]->c.volume = (bough_component_volume){0};
        components[i] = draft_pack(ctx, drafts[i]);
    }
    for (int i = 0; i < PARTS; i++) {
        parts[i] = bough_default_part_def();
        parts[i].component = i > 0, parts[i].parent = i == 1 ? 0 : -1, parts[i].interface_index = i == 1;
        parts[i].position[1] = i;
    }
    parts[1].joint = hinge_about(1, 2, 3, 5, 0);
    parts[2].track = (bough_track){2, time, position, rotation};
    bough_joint_def tie = tie_of(1, 1, 2, 1, 30, 0);
    def.component_count = KINDS, def.components = (const bough_component *const *)components;
    def.part_count = PARTS, def.parts = parts, def.tie_count = 1, def.ties = &tie;
    check_ok(ctx, bough_tree_model_create(ctx, &def, &model));
    check_ok(ctx, bough_tree_model_save(ctx, model, test_path("seed.pack")));
    fuzz_add_file(add, test_path("seed.pack"));
    bough_tree_model_destroy(ctx, model);
    for (int i = 0; i < KINDS; i++) {
        bough_component_destroy(ctx, components[i]);
        draft_free(drafts[i]);
    }
    bough_context_destroy(ctx);
}
