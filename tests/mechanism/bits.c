/* Outputs of mechanisms for tests/tree/bits.c. */
#include "../bits.h"
#include "moving.h"

/* The links of a reduced model that sways in its weight, by its own steps. */
static uint64_t sway(bough_context *ctx, const sketch *s) {
    enum { STEPS = 40 };
    moving m = start(ctx, s);
    test_weigh(m.state->gravity);
    const size_t poses = (size_t)s->def.link_count * sizeof *m.state->poses;
    uint64_t hash = MIX_START;
    for (int i = 0; i < STEPS; i++) {
        check_ok(ctx, bough_mechanism_step(ctx, m.model, m.state, 1.0 / 240));
        bough_mechanism_state_place(m.model, m.state);
        hash = mix(hash, m.state->poses, poses);
    }
    stop(ctx, m);
    return hash;
}

void tell_mechanisms(void) {
    bough_context *ctx = test_context(1);
    sketch *helical = helix(50, BOUGH_JOINT_BALL), *rungs = ladder(8, BOUGH_JOINT_HINGE);
    tell("mechanism", "helix", sway(ctx, helical));
    tell("mechanism", "ladder", sway(ctx, rungs));
    free(helical), free(rungs);
    test_random random = {23};
    uint64_t hash = MIX_START;
    for (int i = 0; i < 8; i++) {
        sketch *s = random_sketch(&random, 10 + i, i % 3);
        const uint64_t one = sway(ctx, s);
        hash = mix(hash, &one, sizeof one);
        free(s);
    }
    tell("mechanism", "random", hash);
    bough_context_destroy(ctx);
}
