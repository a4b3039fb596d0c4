/* Outputs of multibody systems for tests/tree/bits.c. */
#include "../bits.h"
#include "build.h"
#include "lumps.h"

enum { LINKS = 6, STEPS = 60 };

/* A chain of links whose joints are of one kind, with a flexible part at its end, falls and swings. */
static uint64_t swing_chain(bough_joint_kind kind, const char *method) {
    build *b = start_build();
    test_random random = {29};
    lump *end = make_lump(&random, 4, 0.3);
    const double length = 0.2;
    for (int i = 0; i < LINKS; i++) {
        add_link(b, 0.3, bo_v3(i * length, 0, 0), bo_v3((i + 1) * length, 0, 0.01));
        add_joint(b, kind, i - 1, i, place_along(bo_v3(i * length, 0, 0), bo_v3(0.1, 1, 0.2)));
    }
    add_part(b, &end->c, LINKS - 1, place_along(bo_v3(LINKS * length, 0, 0), bo_v3(1, 0, 0)));
    test_weigh(b->def.gravity);
    finish_build(b);
    use_method(b, method);
    uint64_t hash = MIX_START;
    for (int i = 0; i < STEPS; i++) {
        take_step(b, 1e-3);
        hash = mix(hash, b->state->u, (7 * LINKS + 4) * sizeof *b->state->u);
        hash = mix(hash, b->state->v, (6 * LINKS + 4) * sizeof *b->state->v);
    }
    free_build(b);
    free_lump(end);
    return hash;
}

void tell_multibody(void) {
    static const bough_joint_kind kinds[] = {BOUGH_JOINT_HINGE, BOUGH_JOINT_BALL, BOUGH_JOINT_UNIVERSAL,
                                             BOUGH_JOINT_CYLINDRICAL};
    _Static_assert(BOUGH_WORLD == -1, "the first link hangs on the world");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        tell("multibody", bough_joint_name(kinds[k]), swing_chain(kinds[k], NULL));
    tell("multibody", "generalised-alpha", swing_chain(BOUGH_JOINT_HINGE, "generalised-alpha"));
}
