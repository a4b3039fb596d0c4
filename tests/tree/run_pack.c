/* run_pack PACK STEPS: steps a pack, whose last part is pulled for the first half, and prints its coordinates and
 * velocities with all digits. Tests of the npm package compare what WebAssembly makes of the same. */
#include <bough/tree.h>

#include <stdio.h>
#include <stdlib.h>

static bough_status run(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, int steps) {
    static const double target[3] = {1, 0.5, 1};
    const int32_t last = bough_tree_model_part_count(model) - 1;
    bough_status status = BOUGH_OK;
    for (int i = 0; i < steps && !status; i++) {
        if (i < steps / 2)
            status = bough_tree_state_pull(ctx, model, state, last, 0, target, 100, 1);
        if (!status)
            status = bough_tree_advance(ctx, model, state, 1.0 / 240, NULL);
    }
    return status;
}

int main(int argc, char **argv) {
    const int steps = argc == 3 ? atoi(argv[2]) : 0;
    if (steps < 1) {
        fprintf(stderr, "usage: run_pack PACK STEPS\n");
        return 2;
    }
    bough_context *ctx = bough_context_create(NULL);
    bough_tree_model *model = NULL;
    bough_tree_state *state = NULL;
    bough_status status = bough_tree_model_load(ctx, argv[1], &model);
    if (!status)
        status = bough_tree_state_create(ctx, model, &state);
    if (!status)
        status = run(ctx, model, state, steps);
    for (int32_t i = 0; !status && i < bough_tree_model_size(model); i++)
        printf("%.17g %.17g\n", state->q[i], state->v[i]);
    if (status)
        fprintf(stderr, "%s\n", bough_message(ctx));
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    bough_context_destroy(ctx);
    return status ? 1 : 0;
}
