/* Many parts in many ways of stepping: no memory is asked for after the second step, and the bits are the same for any
 * number of threads. */
#include "bars.h"

/* So many that faces, blocks, levels and the wind are all cut into several tasks. */
enum { PARTS = 600, LIMBS = 40, LIMB_R = 4, WARM = 2, STEPS = 6 };
static const double dt = 1.0 / 240;

typedef struct {
    const char *name;
    bough_coupling coupling;
    int32_t passes;
    bool flies, led, windy, in_halves;
} way;

static const way ways[] = {
    {"L1", BOUGH_COUPLING_L1, 1, false, false, false, false},
    {"L2", BOUGH_COUPLING_L2, 1, false, false, false, false},
    {"L2R", BOUGH_COUPLING_L2R, 1, false, false, false, false},
    {"L3", BOUGH_COUPLING_L3, 1, false, false, false, false},
    {"two passes", BOUGH_COUPLING_L3, 2, false, false, false, false},
    {"wind", BOUGH_COUPLING_L3, 1, false, false, true, false},
    {"L1 in the wind", BOUGH_COUPLING_L1, 1, false, false, true, false},
    {"a track", BOUGH_COUPLING_L3, 1, false, true, true, false},
    {"free flight", BOUGH_COUPLING_L3, 0, true, false, true, false},
    {"L2R in free flight", BOUGH_COUPLING_L2R, 2, true, false, false, false},
    {"steps in halves", BOUGH_COUPLING_L3, 1, false, false, true, true},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* Components are cooked once for all tests, with wind samples; root[1] flies. */
static struct {
    bough_context *ctx;
    bough_component *root[2], *limb, *leaf, *stone;
} larder;

static int fill_larder(void **unused) {
    (void)unused;
    larder.ctx = test_context(1);
    for (int flies = 0; flies < 2; flies++)
        larder.root[flies] = cook_one(larder.ctx, 6, 1, 1e-3, flies);
    larder.limb = cook_one(larder.ctx, LIMB_R, 0.7, 1e-3, false);
    larder.leaf = cook_one(larder.ctx, 3, 0.3, 1e-3, false);
    larder.stone = cook_one(larder.ctx, 0, 0.2, 1e-3, false);
    check(larder.leaf->wind.count > 0 && larder.stone->wind.count > 0);
    return 0;
}

static int empty_larder(void **unused) {
    (void)unused;
    bough_component *all[] = {larder.root[0], larder.root[1], larder.limb, larder.leaf, larder.stone};
    for (int i = 0; i < 5; i++)
        bough_component_destroy(larder.ctx, all[i]);
    bough_context_destroy(larder.ctx);
    return 0;
}

/* A thicket: a root, limbs of limbs, and on them leaves, and some stones. */
static bough_tree_model *plant(bough_context *ctx, const way *w) {
    static const double time[] = {0, 0.02, 0.05}, position[] = {0, 0, 0, 0.1, 0, 0.05, 0.1, 0.1, 0};
    static const double rotation[] = {1, 0, 0, 0, 1, 0.05, 0, 0, 1, 0.05, 0.1, 0};
    const bough_component *components[] = {larder.root[w->flies], larder.limb, larder.leaf, larder.stone};
    bough_part_def parts[PARTS];
    test_random random = {3};
    for (int32_t i = 0; i < PARTS; i++) {
        const double angle = test_uniform(&random, -1, 1), s = sin(angle), c = cos(angle);
        parts[i] = bough_default_part_def();
        parts[i].component = i == 0 ? 0 : i < LIMBS ? 1 : i % 16 == 0 ? 3 : 2;
        parts[i].parent = i == 0 ? -1 : i < LIMBS ? i / 3 : i % LIMBS;
        parts[i].interface_index = 1;
        parts[i].scale = test_uniform(&random, 0.5, 1);
        memcpy(parts[i].rotation, (double[9]){c, 0, s, 0, 1, 0, -s, 0, c}, sizeof parts[i].rotation);
    }
    if (w->led)
        parts[0].track = (bough_track){3, time, position, rotation};
    bough_tree_model_def def = bough_default_tree_model_def();
    test_weigh(def.gravity);
    def.component_count = 4, def.components = components;
    def.part_count = PARTS, def.parts = parts;
    def.coupling = w->coupling, def.passes = w->passes;
    def.wind.velocity[1] = w->windy ? 4 : 0;
    bough_tree_model *model;
    check_ok(ctx, bough_tree_model_create(ctx, &def, &model));
    return model;
}

typedef struct {
    const way *way;
    bough_context *ctx;
    bough_tree_model *model;
    bough_tree_state *state;
    void *snapshot;
    float *positions, *normals;
} stand;

static stand grow(bough_context *ctx, const way *w) {
    stand s = {.way = w, .ctx = ctx, .model = plant(ctx, w)};
    check_ok(ctx, bough_tree_state_create(ctx, s.model, &s.state));
    s.snapshot = malloc(bough_tree_state_snapshot_size(s.model, s.state));
    const size_t vertices = (size_t)bough_tree_model_vertex_count(s.model);
    s.positions = malloc(3 * sizeof(float) * vertices), s.normals = malloc(3 * sizeof(float) * vertices);
    for (int32_t k = 0; k < bough_tree_model_size(s.model); k++)
        s.state->v[k] = 0.05 * sin(k + 1);
    if (w->flies)
        s.state->roots[0].angular_velocity[2] = 1;
    check_ok(ctx, bough_tree_state_update(ctx, s.model, s.state));
    return s;
}

static void fell(stand *s) {
    free(s->snapshot), free(s->positions), free(s->normals);
    bough_tree_state_destroy(s->ctx, s->state);
    bough_tree_model_destroy(s->ctx, s->model);
}

/* A step of those that are refused whole: the force is far too much for one. */
static void go_in_halves(stand *s, int32_t *refused) {
    const double force[3] = {0, 2e4, 0};
    int32_t some = 0;
    check_ok(s->ctx, bough_tree_state_add_force(s->ctx, s->model, s->state, PARTS - 1, 0, force));
    check_ok(s->ctx, bough_tree_advance(s->ctx, s->model, s->state, dt, &some));
    *refused += some;
}

/* All that a host program does in a frame. */
static void go(stand *s, int32_t *refused) {
    const double target[3] = {1, 1, 2};
    bough_tree_energies energies;
    check_ok(s->ctx, bough_tree_state_pull(s->ctx, s->model, s->state, LIMBS - 1, 3, target, 20, 0.5));
    if (s->way->in_halves)
        go_in_halves(s, refused);
    else
        check_ok(s->ctx, bough_tree_step(s->ctx, s->model, s->state, dt));
    check_ok(s->ctx, bough_tree_state_surface(s->ctx, s->model, s->state, s->positions, s->normals));
    check_ok(s->ctx, bough_tree_state_energies(s->ctx, s->model, s->state, &energies));
}

static void nothing_is_allocated(void **unused) {
    (void)unused;
    for (int i = 0; i < WAYS; i++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        stand s = grow(ctx, &ways[i]);
        long calls = 0;
        int32_t refused = 0;
        for (int step = 0; step < WARM + STEPS; step++) {
            if (step == WARM)
                calls = memory.calls;
            go(&s, &refused);
            bough_tree_state_save(s.model, s.state, s.snapshot);
            check_ok(ctx, bough_tree_state_restore(ctx, s.model, s.state, s.snapshot,
                                                   bough_tree_state_snapshot_size(s.model, s.state)));
        }
        if (memory.calls != calls)
            fail_msg("%s: %ld allocations", ways[i].name, memory.calls - calls);
        check((refused > 0) == ways[i].in_halves);
        fell(&s);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
}

/* The snapshot has all that the next step depends on. */
static void threads_do_not_change_bits(void **unused) {
    (void)unused;
    static const int32_t threads[] = {1, 2, 3, 5};
    for (int i = 0; i < WAYS; i++) {
        stand first = {.way = NULL};
        for (int t = 0; t < 4; t++) {
            stand s = grow(test_context(threads[t]), &ways[i]);
            const size_t snapshot = bough_tree_state_snapshot_size(s.model, s.state);
            const size_t surface = 3 * sizeof(float) * (size_t)bough_tree_model_vertex_count(s.model);
            int32_t refused = 0;
            for (int step = 0; step < STEPS; step++)
                go(&s, &refused);
            bough_tree_state_save(s.model, s.state, s.snapshot);
            if (t == 0) {
                first = s;
                continue;
            }
            if (memcmp(s.snapshot, first.snapshot, snapshot) || memcmp(s.positions, first.positions, surface) ||
                memcmp(s.normals, first.normals, surface))
                fail_msg("%s: %d threads make other bits than one", ways[i].name, threads[t]);
            fell(&s);
            bough_context_destroy(s.ctx);
        }
        fell(&first);
        bough_context_destroy(first.ctx);
    }
}

/* A limb that hangs on a rigid root. */
static bough_tree_state *hang_limb(double scale, int32_t passes, bough_tree_model **model) {
    const bough_component *components[] = {larder.stone, larder.limb};
    bough_part_def parts[2] = {bough_default_part_def(), bough_default_part_def()};
    parts[1].component = 1, parts[1].parent = 0, parts[1].interface_index = 1, parts[1].scale = scale;
    bough_tree_model_def def = bough_default_tree_model_def();
    test_weigh(def.gravity);
    def.component_count = 2, def.components = components;
    def.part_count = 2, def.parts = parts;
    def.passes = passes;
    bough_tree_state *state;
    check_ok(larder.ctx, bough_tree_model_create(larder.ctx, &def, model));
    check_ok(larder.ctx, bough_tree_state_create(larder.ctx, *model, &state));
    return state;
}

/* One that bends by `angle` within a step that takes forces at its start, by its velocity. How many steps are refused.
 */
static int32_t bend_by(double angle, double scale, bool whole) {
    bough_tree_model *model;
    bough_context *ctx = larder.ctx;
    bough_tree_state *state = hang_limb(scale, 1, &model);
    const double *Sigma = larder.limb->Sigma0, short_dt = 1e-5; /* nothing changes its velocity within that */
    int32_t refused = 0;
    state->v[0] = angle * sqrt(Sigma[0] + Sigma[4] + Sigma[8]) / short_dt;
    check_ok(ctx, bough_tree_state_update(ctx, model, state));
    if (whole)
        check_ok(ctx, bough_tree_step(ctx, model, state, short_dt));
    else
        check_ok(ctx, bough_tree_advance(ctx, model, state, short_dt, &refused));
    check_near(state->q[0] / sqrt(Sigma[0] + Sigma[4] + Sigma[8]), angle, 5e-4 * angle);
    check_near(state->time, short_dt, 1e-15);
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    return refused;
}

static void far_bending_is_taken_in_halves(void **unused) {
    (void)unused;
    for (double scale = 0.25; scale < 5; scale *= 4) {
        check_int(bend_by(0.045, scale, false), 0);
        check_int(bend_by(0.055, scale, false), 1); /* two halves */
        check_int(bend_by(0.15, scale, false), 3);  /* four quarters: each half is tried again */
        check_int(bend_by(0.15, scale, true), 0);
    }
}

/* One that swings on as it did is foreseen however far it bends; one that is struck goes elsewhere. */
static int32_t strike(double angle, double blow, double scale) {
    bough_tree_model *model;
    bough_context *ctx = larder.ctx;
    bough_tree_state *state = hang_limb(scale, 0, &model);
    const double *Sigma = larder.limb->Sigma0, short_dt = 1e-5, size = sqrt(Sigma[0] + Sigma[4] + Sigma[8]);
    int32_t refused = 0;
    state->v[0] = angle * size / short_dt;
    check_ok(ctx, bough_tree_state_update(ctx, model, state));
    check_ok(ctx, bough_tree_step(ctx, model, state, short_dt));
    bo_tree_work_of(state)->force[0] = blow * size / (short_dt * short_dt); /* the basis is orthonormal in mass */
    bo_tree_work_of(state)->force[0] *= scale * scale * scale * scale * scale;
    bo_tree_work_of(state)->pushed = true;
    check_ok(ctx, bough_tree_advance(ctx, model, state, short_dt, &refused));
    check_below(fabs(state->q[0] / size - angle), 4 * angle + 2 * blow);
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    return refused;
}

static void blows_are_taken_in_halves(void **unused) {
    (void)unused;
    for (double scale = 0.25; scale < 5; scale *= 4) {
        check_int(strike(0.02, 0, scale), 0);
        check_int(strike(0.2, 0, scale), 0);
        check_int(strike(0, 0.1, scale), 0);
        check(strike(0, 0.3, scale) > 0);
        check(strike(0.02, 0.3, scale) > 0);
    }
}

/* Three bars that hang on each other, at rest: the way of the end of the last one after a time, in equal steps. */
static void fall(bough_coupling coupling, bool flies, double time, int32_t steps, double *moved) {
    bars b;
    bough_context *ctx = larder.ctx;
    double before[3], v[3];
    prepare_bars(&b, ctx, 3, 0, flies);
    b.def.coupling = coupling;
    grow_bars(&b);
    check_ok(ctx, bough_tree_state_vertex(ctx, b.model, b.state, 2, 0, before, v));
    for (int32_t k = 0; k < steps; k++)
        check_ok(ctx, bough_tree_step(ctx, b.model, b.state, time / steps));
    check_ok(ctx, bough_tree_state_vertex(ctx, b.model, b.state, 2, 0, moved, v));
    for (int d = 0; d < 3; d++)
        moved[d] -= before[d];
    clear_bars(&b);
}

/* Returns the share of the motion of 64 steps that one step of the same time misses. */
static double missed(bough_coupling coupling, bool flies, double time) {
    double one[3], many[3], miss = 0, whole = 0;
    fall(coupling, flies, time, 1, one);
    fall(coupling, flies, time, 64, many);
    for (int d = 0; d < 3; d++) {
        miss += (one[d] - many[d]) * (one[d] - many[d]);
        whole += many[d] * many[d];
    }
    if (flies)
        check_near(one[2], -0.5 * 9.81 * time * time, 1e-12);
    return sqrt(miss / whole);
}

/* A new state knows how weight accelerates it: its first step comes as far as many short ones, but for the error of a
 * method of second order. Had it begun without acceleration, it would come half as far. */
static void first_steps_are_as_good_as_others(void **unused) {
    (void)unused;
    for (int coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
        const double twice = missed((bough_coupling)coupling, false, 0.002);
        const double once = missed((bough_coupling)coupling, false, 0.001);
        print_message("coupling %d: misses %.2g of its way, in twice the time %.2g\n", coupling, once, twice);
        check_below(once, 0.005);
        check(twice > 3 * once);
        check_below(missed((bough_coupling)coupling, true, 0.002), 1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blows_are_taken_in_halves),      cmocka_unit_test(nothing_is_allocated),
        cmocka_unit_test(threads_do_not_change_bits),     cmocka_unit_test(first_steps_are_as_good_as_others),
        cmocka_unit_test(far_bending_is_taken_in_halves),
    };
    return cmocka_run_group_tests(tests, fill_larder, empty_larder);
}
