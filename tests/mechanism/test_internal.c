/* Models with internal modes. */
#include "linear_modes.h"
#include "moving.h"

static sketch *subject(int i) {
    sketch *s = i % 4 == 0   ? helix(7, BOUGH_JOINT_BALL)
                : i % 4 == 1 ? ladder(4, BOUGH_JOINT_BALL)
                : i % 4 == 2 ? fork_of_links(2, 3, BOUGH_JOINT_UNIVERSAL)
                             : ring_of_links(6, BOUGH_JOINT_BALL);
    s->def.free_base = i > 3;
    for (int32_t j = 0; j < s->def.joint_count; j++)
        for (int k = 0; k < 6; k++)
            s->joints[j].damping[k] = 0.05 * (1 + (j + k) % 3);
    for (int32_t j = 0; j + 1 < s->def.joint_count && i % 4 == 2; j += 2) { /* some the other way round */
        bough_joint_def *joint = &s->joints[j];
        const bough_frame_def parent = joint->parent;
        joint->parent = joint->child, joint->child = parent;
    }
    return s;
}

/* With other end effectors and internal modes than the description says. */
static moving start_with(bough_context *ctx, const sketch *s, int32_t effectors, const bough_frame_def *list,
                         int32_t modes) {
    moving m = {0};
    bough_mechanism_statics_def how = bough_default_mechanism_statics_def();
    bough_mechanism_model_def def = bough_default_mechanism_model_def();
    how.end_effector_count = effectors, how.end_effectors = list;
    def.internal_modes = modes, def.rank_tolerance = 1e-11;
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m.mechanism));
    check_ok(ctx, bough_mechanism_statics_create(ctx, m.mechanism, &how, &m.statics));
    check_ok(ctx, bough_mechanism_model_create(ctx, m.mechanism, m.statics, &def, &m.model));
    check_ok(ctx, bough_mechanism_state_create(ctx, m.model, &m.state));
    test_weigh(m.state->gravity);
    return m;
}

/* One end effector with all internal modes, and all links as end effectors, are two ways to write down the whole
 * mechanism: inertia, damping, springs, weight and pushes on links are the same, and so is every step. */
static void all_modes_make_the_whole_mechanism(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 8; i++) {
        sketch *s = subject(i);
        bough_frame_def *all = calloc((size_t)s->def.link_count, sizeof *all);
        for (int32_t l = 1; l < s->def.link_count; l++)
            all[l - 1] = bough_default_frame_def(), all[l - 1].body = l;
        moving a = start_with(ctx, s, s->def.link_count - 1, all, 0), b = {0};
        b = start_with(ctx, s, 0, NULL, bough_mechanism_coordinate_count(a.mechanism));
        check_int(b.model->rank, a.model->rank);
        check(b.model->internal_count > 0);
        const double point[3] = {0.02, 0.01, 0}, force[3] = {0.3, 0.4, 0.5}, torque[3] = {0, 0.01, 0};
        double moved = 0;
        for (int k = 0; k < 20; k++) {
            bough_mechanism_state_push_link(a.model, a.state, 2, point, force, torque);
            bough_mechanism_state_push_link(b.model, b.state, 2, point, force, torque);
            check_ok(ctx, bough_mechanism_step(ctx, a.model, a.state, 0.003));
            check_ok(ctx, bough_mechanism_step(ctx, b.model, b.state, 0.003));
        }
        bough_mechanism_state_place(a.model, a.state);
        bough_mechanism_state_place(b.model, b.state);
        for (int32_t l = 0; l < s->def.link_count; l++)
            for (int d = 0; d < 3; d++)
                moved = fmax(moved, fabs(a.state->poses[l].position[d] - s->links[l].pose.position[d]));
        check(moved > 1e-4);
        for (int32_t l = 0; l < s->def.link_count; l++)
            check_pose(&b.state->poses[l], bo_pose(&a.state->poses[l]), 1e-8 * moved);
        const bough_mechanism_energies ea = bough_mechanism_state_energies(a.model, a.state),
                                       eb = bough_mechanism_state_energies(b.model, b.state);
        check_near(eb.kinetic, ea.kinetic, 3e-10 * ea.kinetic);
        check_near(eb.elastic, ea.elastic, 3e-10 * ea.elastic);
        check_near(eb.gravity, ea.gravity, 1e-10 * fabs(ea.gravity));
        stop(ctx, a);
        stop(ctx, b);
        free(all);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* Modes come between the end effectors: none moves them, statics of the end effectors stay what they are, and no
 * frequency gets worse with one more. */
static void modes_leave_statics_alone(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 8; i++) {
        sketch *s = subject(i);
        double full[3], before = INFINITY;
        check_int(linear_frequencies(ctx, s, 3, full, NULL), 3);
        moving plain = start_with(ctx, s, 0, NULL, 0);
        for (int32_t modes = 0; modes < 7; modes++) {
            moving m = start_with(ctx, s, 0, NULL, modes);
            const int32_t n = 6 * s->def.end_effector_count, rank = m.model->rank;
            double got[3];
            int32_t found = 0;
            check_int(m.model->internal_count, modes);
            check_int(rank, plain.model->rank + modes);
            for (int32_t p = 0; p < n; p++)
                for (int32_t k = plain.model->rank; k < rank; k++)
                    check(m.model->Q[p * rank + k] == 0 && m.model->P[k * n + p] == 0);
            check_below(difference((size_t)(n * n), m.model->K, plain.model->K), 1e-12);
            check_below(difference((size_t)(n * n), m.model->M, plain.model->M), 1e-9);
            check_below(difference((size_t)(n * n), m.model->D, plain.model->D), 1e-9);
            check_below(difference(6 * (size_t)(s->def.link_count * n), m.model->Psi, plain.model->Psi), 1e-12);
            check_ok(ctx, bough_mechanism_model_frequencies(ctx, m.model, 3, got, &found));
            check_int(found, 3);
            check(got[0] >= full[0] * (1 - 1e-9) && got[0] <= before * (1 + 1e-9));
            before = got[0];
            for (int32_t k = 0; k < modes; k++) /* with end effectors that do not move, it is one of the modes alone */
                for (int32_t q = 0; q < modes; q++)
                    check_near(m.model->Mz[(rank - modes + k) * rank + rank - modes + q], k == q, 1e-12);
            stop(ctx, m);
        }
        check_near(before, full[0], 0.01 * full[0]);
        stop(ctx, plain);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* The integrators of the time room move modes as the step of the model does; what is asked for too much is said. */
static void modes_are_stepped_and_counted(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    sketch *s = subject(0);
    moving a = start_with(ctx, s, 0, NULL, 3), b = start_with(ctx, s, 0, NULL, 3);
    bough_mechanism_stepper *stepper = NULL;
    bough_integrator_def def = bough_default_integrator_def();
    def.name = "backward-euler", def.tolerance = 1e-13;
    check_ok(ctx, bough_mechanism_stepper_create(ctx, b.model, b.state, &def, &stepper));
    for (int k = 0; k < 30; k++) {
        check_ok(ctx, bough_mechanism_step(ctx, a.model, a.state, 0.01));
        check_ok(ctx, bough_mechanism_stepper_step(ctx, stepper, 0.01));
    }
    check(largest(3, a.state->internal) > 1e-6);
    check_below(difference(3, b.state->internal, a.state->internal), 1e-8);
    check_below(difference(3, b.state->internal_rate, a.state->internal_rate), 1e-8);
    check_below(difference(6, b.state->xi, a.state->xi), 1e-8);
    bough_mechanism_stepper_destroy(ctx, stepper);
    bough_mechanism_model_def wrong = bough_default_mechanism_model_def();
    bough_mechanism_model *none = NULL;
    wrong.internal_modes = -2;
    check_fails(ctx, bough_mechanism_model_create(ctx, a.mechanism, a.statics, &wrong, &none), BOUGH_ERROR_ARGUMENT,
                "0 to 21");
    bough_mechanism_blend_def blended = bough_default_mechanism_blend_def();
    bough_mechanism_blend *blend = NULL;
    wrong.internal_modes = 1, blended.model = &wrong;
    check_fails(ctx, bough_mechanism_blend_create(ctx, a.mechanism, &blended, &blend), BOUGH_ERROR_UNSUPPORTED,
                "cannot be blended");
    wrong.internal_modes = 22;
    check_fails(ctx, bough_mechanism_model_create(ctx, a.mechanism, a.statics, &wrong, &none), BOUGH_ERROR_ARGUMENT,
                "0 to 21");
    stop(ctx, a);
    stop(ctx, b);
    free(s);
    bough_context_destroy(ctx);
}

/* As many modes as bring the lowest frequency within the tolerance, and none where it is there already: the error that
 * is told is that of the model against the whole mechanism, which is found in another way here. */
static void modes_are_chosen_by_the_lowest_frequency(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {7};
    int added = 0, enough = 0;
    for (int round = 0; round < 40; round++) {
        sketch *s = random_sketch(&r, 4 + round % 9, 0);
        s->def.free_base = round % 2;
        bough_mechanism *m = NULL;
        bough_mechanism_statics *statics = NULL;
        bough_mechanism_model *plain = NULL, *model = NULL;
        bough_mechanism_model_def def = bough_default_mechanism_model_def();
        double first[2], whole[1];
        int32_t found;
        check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
        check_ok(ctx, bough_mechanism_statics_create(ctx, m, NULL, &statics));
        check_ok(ctx, bough_mechanism_model_create(ctx, m, statics, &def, &plain));
        check(isnan(plain->frequency_error));
        def.internal_modes = BOUGH_INTERNAL_AUTOMATIC, def.frequency_tolerance = round % 5 ? 0.01 : 0.1;
        check_ok(ctx, bough_mechanism_model_create(ctx, m, statics, &def, &model));
        check_ok(ctx, bough_mechanism_model_frequencies(ctx, plain, 1, &first[0], &found));
        check_ok(ctx, bough_mechanism_model_frequencies(ctx, model, 1, &first[1], &found));
        check_ok(ctx, bough_mechanism_frequencies(ctx, m, 1, whole, &found));
        check_near(model->frequency_error, first[1] / whole[0] - 1, 1e-9);
        check_below(model->frequency_error, def.frequency_tolerance);
        check(model->frequency_error > -1e-6);
        check_int(model->internal_count > 0, first[0] / whole[0] - 1 > def.frequency_tolerance);
        added += model->internal_count > 0, enough += model->internal_count == 0;
        bough_mechanism_model_destroy(ctx, plain);
        bough_mechanism_model_destroy(ctx, model);
        bough_mechanism_statics_destroy(ctx, statics);
        bough_mechanism_destroy(ctx, m);
        free(s);
    }
    check(added >= 5 && enough >= 5);
    bough_context_destroy(ctx);
}

/* If all links are end effectors nothing is left between them: there are no modes, however many are asked for. */
static void what_is_all_held_has_no_modes(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 2; i++) {
        sketch *s = i ? ladder(4, BOUGH_JOINT_BALL) : helix(12, BOUGH_JOINT_BALL);
        bough_frame_def *all = calloc((size_t)s->def.link_count, sizeof *all);
        for (int32_t l = 1; l < s->def.link_count; l++)
            all[l - 1] = bough_default_frame_def(), all[l - 1].body = l;
        for (int32_t modes = 1; modes < 5; modes += 3) {
            moving m = start_with(ctx, s, s->def.link_count - 1, all, modes);
            check_int(m.model->internal_count, 0);
            stop(ctx, m);
        }
        free(all);
        free(s);
    }
    bough_context_destroy(ctx);
}

/* ---- memory ---- */

/* Blocks with a word of the allocator's own behind them, which nobody else may write. */
typedef struct {
    size_t size;
    double room[];
} guarded;
static const double guard = -1.2345678901234567e300;
static long broken;

static void *allocate_guarded(void *user, size_t size) {
    (void)user;
    guarded *block = malloc(sizeof *block + size + sizeof guard);
    if (!block)
        return NULL;
    block->size = size;
    memcpy((char *)block->room + size, &guard, sizeof guard);
    return block->room;
}
static void release_guarded(void *user, void *room) {
    (void)user;
    if (!room)
        return;
    guarded *block = (guarded *)((char *)room - offsetof(guarded, room));
    broken += memcmp((char *)room + block->size, &guard, sizeof guard) != 0;
    free(block);
}
static void *reallocate_guarded(void *user, void *room, size_t size) {
    void *moved = allocate_guarded(user, size);
    if (moved && room) {
        const size_t before = ((guarded *)((char *)room - offsetof(guarded, room)))->size;
        memcpy(moved, room, before < size ? before : size);
        release_guarded(user, room);
    }
    return moved;
}

/* The search for modes is as wide as there are coordinates, where these are few: 1, 2, 3 and so on. It writes to its
 * own memory only, and finds what the dense matrices say. */
static void searches_of_any_width_stay_in_their_memory(void **unused) {
    (void)unused;
    bough_context_def def = bough_default_context_def();
    def.allocate = allocate_guarded, def.reallocate = reallocate_guarded, def.release = release_guarded;
    def.thread_count = 1;
    bough_context *ctx = bough_context_create(&def);
    broken = 0;
    for (int32_t links = 1; links <= 12; links++)
        for (int32_t count = 1; count <= links; count += 2) {
            sketch *s = helix(links, BOUGH_JOINT_HINGE);
            bough_mechanism *m = NULL;
            double found_hz[12], dense[12];
            int32_t found;
            check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
            check_ok(ctx, bough_mechanism_frequencies(ctx, m, count, found_hz, &found));
            check_int(found, count);
            check(linear_frequencies(ctx, s, (int)count, dense, NULL) >= count);
            for (int32_t k = 0; k < count; k++)
                check_near(found_hz[k], dense[k], 3e-11 * dense[k]);
            bough_mechanism_destroy(ctx, m);
            free(s);
        }
    bough_context_destroy(ctx);
    check_int(broken, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_modes_make_the_whole_mechanism),
        cmocka_unit_test(modes_leave_statics_alone),
        cmocka_unit_test(modes_are_stepped_and_counted),
        cmocka_unit_test(modes_are_chosen_by_the_lowest_frequency),
        cmocka_unit_test(what_is_all_held_has_no_modes),
        cmocka_unit_test(searches_of_any_width_stay_in_their_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
