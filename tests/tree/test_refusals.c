/* Refused calls leave no trace: steps, models, nonsense in states, lost memory. */
#include "garden.h"

typedef struct {
    double q[128], a[128], time;
    bough_frame frames[16];
    bough_tree_root roots[8];
} picture;

static void remember(const garden *g, picture *m) {
    memset(m, 0, sizeof *m);
    const size_t n = (size_t)bough_tree_model_size(g->model);
    check(n <= 64);
    memcpy(m->q, g->state->q, 2 * n * sizeof(double)); /* and v, which lies behind */
    memcpy(m->a, g->state->a, n * sizeof(double));
    memcpy(m->frames, g->state->frames, (size_t)g->def.part_count * sizeof(bough_frame));
    memcpy(m->roots, g->state->roots, (size_t)g->state->root_count * sizeof(bough_tree_root));
    m->time = g->state->time;
}

enum { LOST_STIFFNESS, NOT_FINITE_LOAD, FAR_TOO_LONG, BAD_ALPHA, BAD_PASSES, BAD_STEP, HARD_PUSH, REFUSALS };

/* Makes the next step fail, each time in another phase of it. */
static bough_status spoil(garden *g, int how, const double *long_push) {
    bough_tree_state *s = g->state;
    const double stiffness = s->stiffness[1], alpha = s->alpha;
    const int32_t passes = s->passes;
    bough_status status = BOUGH_OK;
    switch (how) {
    case LOST_STIFFNESS:
        s->stiffness[1] = NAN;
        status = bough_tree_step(g->ctx, g->model, s, 0.002);
        s->stiffness[1] = stiffness;
        break;
    case NOT_FINITE_LOAD:
        s->wind.velocity[1] = INFINITY;
        status = bough_tree_step(g->ctx, g->model, s, 0.002);
        s->wind.velocity[1] = 0;
        break;
    case FAR_TOO_LONG:
        status = bough_tree_step(g->ctx, g->model, s, 1e160);
        break;
    case BAD_ALPHA:
        s->alpha = NAN;
        status = bough_tree_step(g->ctx, g->model, s, 0.002);
        s->alpha = alpha;
        break;
    case BAD_PASSES:
        s->passes = 3;
        status = bough_tree_step(g->ctx, g->model, s, 0.002);
        s->passes = passes;
        break;
    case BAD_STEP:
        status = bough_tree_step(g->ctx, g->model, s, -1);
        break;
    case HARD_PUSH: /* through the middle of an interface: it ends as a line, or beyond all numbers */
        memcpy(bo_tree_work_of(s)->force, long_push, (size_t)bough_tree_model_size(g->model) * sizeof(double));
        bo_tree_work_of(s)->pushed = true;
        status = bough_tree_step(g->ctx, g->model, s, 0.002);
        break;
    }
    return status;
}

static void refused_steps_leave_no_trace(void **state) {
    (void)state;
    double push[64];
    for (int k = 0; k < 64; k++)
        push[k] = k % 2 ? 1e200 : -1e200;
    for (int flies = 0; flies < 2; flies++)
        for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++)
            for (int how = 0; how < REFUSALS; how++) {
                picture before, after, expected;
                garden a = small_forest(flies), b = small_forest(flies);
                garden *both[2] = {&a, &b};
                for (int k = 0; k < 2; k++) {
                    both[k]->state->coupling = coupling;
                    check_ok(both[k]->ctx, bough_tree_step(both[k]->ctx, both[k]->model, both[k]->state, 0.002));
                    if (how != HARD_PUSH)
                        load(both[k], 0, 3);
                }
                remember(&b, &before);
                check(spoil(&b, how, push) != BOUGH_OK);
                remember(&b, &after);
                check_int(memcmp(&before, &after, sizeof before), 0);
                if (how == HARD_PUSH) {
                    bough_tree_state_clear_forces(b.model, b.state);
                }
                for (int k = 0; k < 2; k++)
                    check_ok(both[k]->ctx, bough_tree_step(both[k]->ctx, both[k]->model, both[k]->state, 0.002));
                remember(&a, &expected), remember(&b, &after);
                const int32_t n = bough_tree_model_size(a.model);
                for (int32_t k = 0; k < 2 * n; k++)
                    check_near(after.q[k], expected.q[k], 1e-12 * length_of(2 * n, expected.q));
                for (int32_t i = 0; i < 12; i++)
                    for (int d = 0; d < 9; d++)
                        check_near(after.frames[i].pose.rotation[d], expected.frames[i].pose.rotation[d], 1e-12);
                clear(&a), clear(&b);
            }
}

/* A rigid root that flies has no coordinates that could tell of it. */
static void flights_beyond_numbers_are_refused(void **state) {
    (void)state;
    garden g = till(1);
    test_random random = {31};
    add_kind(&g, 0, 2, BOUGH_REDUCED_RIGID, true);
    add_part(&g, &random, 0, -1, 0);
    plant(&g);
    check_int(bough_tree_model_size(g.model), 0);
    const double much[3] = {1e308, 0, 0}, none[3] = {0};
    for (int i = 0; i < 3; i++)
        check_ok(g.ctx, bough_tree_state_add_wrench(g.ctx, g.model, g.state, 0, much, none));
    check_fails(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.01), BOUGH_NOT_FINITE, "not finite");
    bough_tree_state_clear_forces(g.model, g.state);
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.01));
    g.state->roots[0].velocity[1] = NAN;
    check(bough_tree_step(g.ctx, g.model, g.state, 0.01) != BOUGH_OK);
    clear(&g);
}

/* A program may write anything into a state between steps: it is refused or the state stays finite. */
static void nonsense_in_states_is_refused(void **state) {
    (void)state;
    static const double nonsense[] = {NAN, INFINITY, -INFINITY};
    for (int what = 0; what < 6; what++)
        for (size_t k = 0; k < sizeof nonsense / sizeof *nonsense; k++) {
            garden g = small_forest(what % 2);
            bough_tree_state *s = g.state;
            double *const places[6] = {&s->q[5],
                                       &s->v[0],
                                       &s->stiffness[2],
                                       &s->damping_mass[4],
                                       &s->damping_stiffness[0],
                                       &s->wind.velocity[2]};
            const double before = *places[what];
            *places[what] = nonsense[k];
            check(bough_tree_step(g.ctx, g.model, s, 0.002) > BOUGH_OK);
            *places[what] = before;
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, s, 0.002));
            check(isfinite(length_of(3 * bough_tree_model_size(g.model), s->q)));
            clear(&g);
        }
    garden g = small_forest(false);
    memset(g.state->stiffness, 0, (size_t)g.def.part_count * sizeof(double)); /* slack, but whole */
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.002));
    const double far[3] = {1e300, 0, 0};
    check_fails(g.ctx, bough_tree_state_pull(g.ctx, g.model, g.state, 0, 0, far, 1e300, 0), BOUGH_NOT_FINITE, "pull");
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.002));
    clear(&g);
}

/* An unstable part: beyond a certain step the matrix is not positive. That step lies between a half and a quarter here:
 * both are refused, two quarters taken, a half tried again and refused, two quarters taken. The next time nobody tries
 * more than twice what went well. */
static void refused_steps_are_halved_and_tried_again(void **state) {
    (void)state;
    garden g = till(1);
    test_random random = {81};
    add_kind(&g, 1, 1, BOUGH_REDUCED_LINEAR, false);
    bough_part_def *part = add_part(&g, &random, 0, -1, 0);
    part->damping_mass = part->damping_stiffness = 0, part->scale = part->stiffness = 1;
    bough_component *c = &g.kinds[0]->c;
    *(double *)c->K *= -1;
    g.def.alpha = 0;
    memset(g.def.gravity, 0, sizeof g.def.gravity); /* it does not move */
    plant(&g);
    const double M = c->W7[0] + c->W7[4] + c->W7[8], limit = sqrt(4 * M / -c->K[0]); /* M + dt^2 K / 4 = 0 */
    int32_t refused;
    for (int i = 0; i < 20; i++) {
        const double start = g.state->time;
        check_ok(g.ctx, bough_tree_advance(g.ctx, g.model, g.state, 3 * limit, &refused));
        check_int(refused, i == 0 ? 3 : 2);
        check_near(g.state->time, start + 3 * limit, 0); /* the same end, however it was reached */
    }
    check_ok(g.ctx, bough_tree_advance(g.ctx, g.model, g.state, 0.5 * limit, &refused));
    check_int(refused, 0);
    clear(&g);
}

/* A step of no time lets forces act, but does not use them up. */
static void forces_outlive_steps_of_no_time(void **state) {
    (void)state;
    garden g = small_forest(false);
    load(&g, 0, 3);
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0));
    check(bo_tree_work_of(g.state)->pushed);
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.001));
    check(!bo_tree_work_of(g.state)->pushed);
    clear(&g);
}

/* Forces outlive an advance that did not begin. */
static void advances_that_do_not_begin_keep_forces(void **state) {
    (void)state;
    garden g = small_forest(false);
    int32_t refused;
    load(&g, 0, 3);
    g.state->alpha = 7;
    check_fails(g.ctx, bough_tree_advance(g.ctx, g.model, g.state, 0.01, &refused), BOUGH_ERROR_ARGUMENT, "alpha");
    check(bo_tree_work_of(g.state)->pushed);
    g.state->alpha = 0;
    check_ok(g.ctx, bough_tree_advance(g.ctx, g.model, g.state, 0.01, &refused));
    check(!bo_tree_work_of(g.state)->pushed);
    clear(&g);
}

static void bad_models_are_refused(void **state) {
    (void)state;
    garden g = small_forest(false);
    uproot(&g);
    bough_tree_model *model;
    g.def.components = g.components, g.def.parts = g.parts;
#define REFUSED(place, value, word)                                                                     \
    do {                                                                                                \
        const __typeof__(place) before = place;                                                         \
        place = value;                                                                                  \
        check_fails(g.ctx, bough_tree_model_create(g.ctx, &g.def, &model), BOUGH_ERROR_ARGUMENT, word); \
        check(!model);                                                                                  \
        place = before;                                                                                 \
    } while (0)
    REFUSED(g.def.gravity[1], NAN, "gravity");
    REFUSED(g.def.gravity[0], INFINITY, "gravity");
    REFUSED(g.parts[0].position[2], NAN, "position");
    REFUSED(g.parts[1].damping_mass, INFINITY, "damping");
    REFUSED(g.parts[1].damping_stiffness, -INFINITY, "damping");
    REFUSED(g.parts[1].scale, 0, "scale");
    REFUSED(g.parts[1].stiffness, NAN, "stiffness");
    REFUSED(g.parts[1].rotation[0], NAN, "rotation");
    REFUSED(g.parts[1].interface_index, 3, "interface");
    REFUSED(g.parts[1].interface_index, 0, "interface");
    REFUSED(g.parts[1].parent, 2, "own ancestor");
    REFUSED(g.parts[0].parent, 0, "parent");
    REFUSED(g.parts[0].component, 2, "component");
    REFUSED(g.def.alpha, -0.4, "alpha");
    REFUSED(g.def.passes, 3, "passes");
    REFUSED(g.def.part_count, 0, "part");
    REFUSED(g.def.cookie, 1, "default");
    REFUSED(g.parts[3].cookie, 1, "default");
#undef REFUSED
    plant(&g);
    clear(&g);
}

/* Every allocation of a model and a state may fail: nothing is left, and the next try works. */
static void failed_allocations_leave_nothing(void **state) {
    (void)state;
    garden g = small_forest(true);
    uproot(&g);
    g.def.components = g.components, g.def.parts = g.parts;
    g.parts[4].name = "limb";
    for (long at = 0;; at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        const long live = memory.live;
        bough_tree_model *model = NULL;
        bough_tree_state *s = NULL;
        memory.fail_at = memory.calls + at;
        bough_status status = bough_tree_model_create(ctx, &g.def, &model);
        if (status == BOUGH_OK)
            status = bough_tree_state_create(ctx, model, &s);
        const bool done = memory.calls <= memory.fail_at;
        check_int(status, done ? BOUGH_OK : BOUGH_ERROR_MEMORY);
        check(!s == !done);
        memory.fail_at = -1;
        bough_tree_state_destroy(ctx, s);
        bough_tree_model_destroy(ctx, model);
        check_int(memory.live, live);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (done) {
            check(at > 20);
            break;
        }
    }
    clear(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_steps_leave_no_trace),    cmocka_unit_test(flights_beyond_numbers_are_refused),
        cmocka_unit_test(nonsense_in_states_is_refused),   cmocka_unit_test(refused_steps_are_halved_and_tried_again),
        cmocka_unit_test(forces_outlive_steps_of_no_time), cmocka_unit_test(advances_that_do_not_begin_keep_forces),
        cmocka_unit_test(bad_models_are_refused),          cmocka_unit_test(failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
