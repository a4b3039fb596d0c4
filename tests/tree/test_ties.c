/* Ties: stiff damped springs that close loops. */
#include "garden.h"
#include "rods.h"

/* ---- answers ---- */

/* A tree with joints, locks and offsets, tied at two of its tips. */
static garden tied_tree(bool flies) {
    garden g = till(1);
    test_random random = {31};
    add_kind(&g, 5, 3, BOUGH_REDUCED_POLYNOMIAL, flies);
    add_kind(&g, 4, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    add_part(&g, &random, 0, -1, 0);
    for (int32_t i = 0; i < 6; i++)
        add_part(&g, &random, 1, i / 2, 1 + i % 2);
    g.parts[2].joint = hinge_about(1, 2, 3, 5, 0);
    g.parts[3].joint = ball_joint(5, 0);
    g.parts[4].offset[1] = 0.3;
    g.parts[1].locked = true;
    return g;
}

static bough_joint_def tie_between(int32_t a, int32_t b) {
    return tie_of(a, 1, b, b < 0 ? 0 : 1, 2e3, 50);
}

/* Forces that come afterwards change accelerations as if they had been there. */
static void accelerations_answer_to_forces(void **unused) {
    (void)unused;
    for (int flies = 0; flies < 2; flies++) {
        garden g = tied_tree(flies);
        const bough_joint_def tie = tie_between(5, 6);
        g.def.tie_count = 1, g.def.ties = &tie;
        plant(&g);
        stir(&g, 32, 0.05, 0.3);
        const int32_t n = bough_tree_model_size(g.model), parts = g.model->part_count;
        double *a = calloc((size_t)(4 * n + 12 * parts), sizeof *a), *b = a + n, *p_q = b + n, *more = p_q + n;
        double *p = more + n, *A = p + 6 * parts;
        const double force[3] = {3, -2, 5}, torque[3] = {1, 1, -2};
        const double *q = g.state->q, *v = g.state->v;
        check_ok(g.ctx, bough_tree_state_add_wrench(g.ctx, g.model, g.state, 5, force, torque));
        check_ok(g.ctx, bo_tree_accelerations(g.ctx, g.model, g.state, false, q, v, NULL, b));
        const int32_t i = g.model->inside[5];
        for (int d = 0; d < 6; d++)
            p[6 * i + d] = -bo_tree_work_of(g.state)->wrench[6 * i + d];
        bough_tree_state_clear_forces(g.model, g.state);
        check_ok(g.ctx, bo_tree_accelerations(g.ctx, g.model, g.state, false, q, v, NULL, a));
        bo_tree_respond(g.model, bo_tree_work_of(g.state), p, p_q, true, A, more);
        double worst = 0, size = 0;
        for (int32_t k = 0; k < n; k++) {
            worst = fmax(worst, fabs(b[k] - a[k] - more[k]));
            size = fmax(size, fabs(more[k]));
        }
        check(size > 0.1);
        check_below(worst, 1e-10 * size);
        free(a);
        clear(&g);
    }
}

/* ---- a tied pair in flight ---- */

static double energy_of(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                        bough_tree_energies *e) {
    check_ok(ctx, bough_tree_state_energies(ctx, model, state, e));
    return e->elastic + e->kinetic + e->gravity;
}

/* Two trees that fly, tied, after `time`: how far energy has strayed. */
static double fly_tied(double dt, double time, bool pinned) {
    garden g = till(1);
    test_random random = {7};
    add_kind(&g, 4, 3, BOUGH_REDUCED_POLYNOMIAL, true);
    for (int i = 0; i < 2; i++)
        add_part(&g, &random, 0, -1, 0);
    bough_joint_def tie = tie_between(0, pinned ? -1 : 1);
    g.def.tie_count = 1, g.def.ties = &tie;
    g.def.alpha = 0, g.def.passes = 2;
    for (int d = 0; d < 3; d++)
        g.def.gravity[d] = 0;
    plant(&g);
    stir(&g, 8, 0.02, 0.2);
    for (int i = 0; i < 2; i++)
        g.state->damping_mass[i] = g.state->damping_stiffness[i] = 0;
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0));
    bough_tree_energies start, end;
    const double E = energy_of(g.ctx, g.model, g.state, &start);
    double strayed = 0;
    for (int i = 0; i < lround(time / dt); i++) {
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
        strayed = fmax(strayed, fabs(energy_of(g.ctx, g.model, g.state, &end) / E - 1));
    }
    for (int d = 0; d < 3 && !pinned; d++) {
        check_near(end.momentum[d], start.momentum[d], 1e-12 * length_of(3, start.momentum));
        check_near(end.angular_momentum[d], start.angular_momentum[d], 1e-11 * length_of(3, start.angular_momentum));
    }
    clear(&g);
    return strayed;
}

static void what_flies_tied_keeps_momenta_and_energy(void **unused) {
    (void)unused;
    for (int pinned = 0; pinned < 2; pinned++) {
        const double coarse = fly_tied(1.0 / 1000, 0.25, pinned), fine = fly_tied(1.0 / 2000, 0.25, pinned);
        printf("%s: energy strays by %.1e, then %.1e\n", pinned ? "tied to the world" : "two, tied", coarse, fine);
        check(log2(coarse / fine) > 1.7);
        check_below(fine, 2e-5);
    }
}

/* ---- rods ---- */

typedef struct {
    bough_context *ctx;
    rod rod;
    bough_tree_model *model;
    bough_tree_state *state;
} linkage;

/* A ceiling from which rods hang by hinges about y: `columns` side by side, each of `links`. */
static linkage *assemble(int32_t columns, int32_t links, int32_t tie_count, const bough_joint_def *ties) {
    linkage *l = calloc(1, sizeof *l);
    const bough_component *components[] = {&l->rod.c};
    bough_part_def parts[16];
    bough_tree_model_def def = bough_default_tree_model_def();
    test_weigh(def.gravity);
    make_rod(&l->rod);
    l->ctx = test_context(1);
    parts[0] = bough_default_part_def();
    for (int32_t i = 0; i < columns * links; i++) {
        bough_part_def *part = &parts[1 + i];
        *part = bough_default_part_def();
        part->parent = i % links == 0 ? 0 : i, part->interface_index = 1;
        part->offset[0] = i % links == 0 ? length * (i / links) : 0;
        part->joint = hinge_about(0, -1, 0, 0, 0);
    }
    def.component_count = 1, def.components = components;
    def.part_count = 1 + columns * links, def.parts = parts;
    def.tie_count = tie_count, def.ties = ties;
    check_ok(l->ctx, bough_tree_model_create(l->ctx, &def, &l->model));
    check_ok(l->ctx, bough_tree_state_create(l->ctx, l->model, &l->state));
    return l;
}

static void take_apart(linkage *l) {
    bough_tree_state_destroy(l->ctx, l->state);
    bough_tree_model_destroy(l->ctx, l->model);
    bough_context_destroy(l->ctx);
    free(l);
}

/* A rod on a hinge whose tip a spring holds where it hangs: k l^2 sin t cos t + ... for small t a pendulum of
 * k l^2 + m g l / 2 and inertia m l^2 / 3. */
static void a_tied_pendulum_has_its_frequency(void **unused) {
    (void)unused;
    bough_joint_def tie = tie_between(1, -1);
    bo_set_springs(tie.stiffness, 400, 0);
    linkage *l = assemble(1, 1, 1, &tie);
    const double inertia = mass * (length * length / 3 + breadth * breadth / 12);
    const double omega = sqrt((tie.stiffness[0] * length * length + 0.5 * mass * weight * length) / inertia);
    l->state->alpha = 0, l->state->passes = 2;
    l->state->q[0] = 1e-3;
    check_ok(l->ctx, bough_tree_state_update(l->ctx, l->model, l->state));
    check_ok(l->ctx, bough_tree_step(l->ctx, l->model, l->state, 0));
    check_near(l->state->a[0], -omega * omega * 1e-3, 1e-6 * omega * omega * 1e-3);
    const double dt = 1e-4;
    for (int i = 0; i < 10000; i++)
        check_ok(l->ctx, bough_tree_step(l->ctx, l->model, l->state, dt));
    check_near(l->state->q[0], 1e-3 * cos(omega), 2e-7);
    take_apart(l);
}

/* A tie that only resists turning makes a hinge, without weight, a linear oscillator: a step obeys Hilber, Hughes and
 * Taylor. */
static void steps_of_a_tie_are_those_of_hht(void **unused) {
    (void)unused;
    bough_joint_def tie = tie_between(1, -1);
    bo_set_springs(tie.stiffness, 0, 30);
    bo_set_springs(tie.damping, 0, 2);
    linkage *l = assemble(1, 1, 1, &tie);
    bough_tree_model_def def = *bough_tree_model_describe(l->model);
    bough_tree_model *model;
    bough_tree_state *state;
    def.gravity[2] = 0, def.alpha = -0.2;
    check_ok(l->ctx, bough_tree_model_create(l->ctx, &def, &model));
    check_ok(l->ctx, bough_tree_state_create(l->ctx, model, &state));
    const double inertia = mass * (length * length / 3 + breadth * breadth / 12);
    state->q[0] = 0.4, state->v[0] = -3;
    check_ok(l->ctx, bough_tree_state_update(l->ctx, model, state));
    check_ok(l->ctx, bough_tree_step(l->ctx, model, state, 0));
    for (int passes = 1; passes <= 2; passes++)
        for (int i = 0; i < 5; i++) {
            const double before = 30 * state->q[0] + 2 * state->v[0];
            state->passes = passes;
            check_ok(l->ctx, bough_tree_step(l->ctx, model, state, 0.02));
            const double after = 30 * state->q[0] + 2 * state->v[0];
            check_near(inertia * state->a[0], -0.8 * after - 0.2 * before, 1e-9);
        }
    bough_tree_state_destroy(l->ctx, state);
    bough_tree_model_destroy(l->ctx, model);
    take_apart(l);
}

/* Pulled at its tip, a rod stands where the spring and its weight balance a force. */
static void tied_rods_settle(void **unused) {
    (void)unused;
    bough_joint_def tie = tie_between(1, -1);
    bo_set_springs(tie.stiffness, 400, 3);
    linkage *l = assemble(1, 1, 1, &tie);
    const double torque[3] = {20, 0, 0};
    check_ok(l->ctx, bough_tree_state_add_joint_torque(l->ctx, l->model, l->state, 1, torque));
    check_ok(l->ctx, bough_tree_state_settle(l->ctx, l->model, l->state, NULL, NULL));
    const double t = l->state->q[0];
    /* the tip is (l sin t, l (1 - cos t)) away from where it is held: k l^2 sin t */
    check_near((400 * length + 0.5 * mass * weight) * length * sin(t) + 3 * t, 20, 1e-5);
    check(t > 0.15);
    take_apart(l);
}

/* Two chains that hang side by side, joined by their lowest rods: a loop of five bars that swings for ten seconds at
 * 1/60 s. The stiffer the tie, the smaller the gap; energy never grows. */
static void loops_swing_with_ties_of_any_stiffness(void **unused) {
    (void)unused;
    static const double stiffness[] = {1e4, 1e6, 1e9, 1e12};
    double gap[4];
    for (int s = 0; s < 4; s++) {
        bough_joint_def tie = tie_between(2, 4);
        bo_set_springs(tie.stiffness, stiffness[s], 0);
        bo_set_springs(tie.damping, 1e-3 * stiffness[s], 0);
        linkage *l = assemble(2, 2, 1, &tie);
        bough_tree_energies e;
        for (int32_t k = 0; k < 4; k++) /* upper rods swing alike, lower ones stay upright: the loop stays closed */
            l->state->v[k] = k % 2 ? -5 : 5;
        check_ok(l->ctx, bough_tree_state_update(l->ctx, l->model, l->state));
        const double start = energy_of(l->ctx, l->model, l->state, &e);
        double most = 0;
        int32_t refused = 0;
        gap[s] = 0;
        for (int i = 0; i < 600; i++) {
            int32_t no;
            check_ok(l->ctx, bough_tree_advance(l->ctx, l->model, l->state, 1.0 / 60, &no));
            refused += no;
            energy_of(l->ctx, l->model, l->state, &e);
            most = fmax(most, e.kinetic + e.gravity - start); /* the tie's own is that of a gap of micrometres */
            gap[s] = fmax(gap[s], length_of(3, bo_tree_work_of(l->state)->pulls[0].e));
        }
        printf("tie of %.0e N/m: %d steps of 600 halved, gap %.1e m, energy at most %.2g J above the first\n",
               stiffness[s], refused, gap[s], most);
        check_below(most, 0.5); /* of 150 J that it swings with */
        take_apart(l);
    }
    check(gap[1] < 0.1 * gap[0]);
    check_below(gap[3], 1e-3);
}

/* A stiff tie that is torn open by 0.3 rad and snaps shut holds thousands of times the energy of the rods, in a
 * vibration that no step follows and that is lost at once. It does not come back as motion of the rods. */
static void what_a_jolt_takes_is_gone(void **unused) {
    (void)unused;
    bough_joint_def tie = tie_between(2, 4);
    bo_set_springs(tie.stiffness, 1e7, 0);
    linkage *l = assemble(2, 2, 1, &tie);
    bough_tree_energies e;
    l->state->q[0] = 0.3;
    check_ok(l->ctx, bough_tree_state_update(l->ctx, l->model, l->state));
    energy_of(l->ctx, l->model, l->state, &e);
    const double torn = e.elastic;
    double most = 0;
    for (int i = 0; i < 600; i++) {
        check_ok(l->ctx, bough_tree_advance(l->ctx, l->model, l->state, 1.0 / 60, NULL));
        energy_of(l->ctx, l->model, l->state, &e);
        most = i < 300 ? 0 : fmax(most, e.kinetic);
    }
    print_message("torn open with %.3g J, rods swing with %.3g J at most\n", torn, most);
    check(torn > 1e5);
    check_below(most, 0.02 * torn);
    take_apart(l);
}

/* Cut, a tie is nothing; a part that is removed takes its ties with it. */
static void ties_can_be_cut(void **unused) {
    (void)unused;
    bough_joint_def tie = tie_between(2, 4);
    linkage *l = assemble(2, 2, 1, &tie), *free_ones = assemble(2, 2, 0, NULL);
    linkage *both[2] = {l, free_ones};
    l->state->tie_strength[0] = 0;
    for (int k = 0; k < 2; k++) {
        both[k]->state->q[0] = 0.5, both[k]->state->passes = 2; /* what a model with ties takes by itself */
        check_ok(both[k]->ctx, bough_tree_state_update(both[k]->ctx, both[k]->model, both[k]->state));
        for (int i = 0; i < 100; i++)
            check_ok(both[k]->ctx, bough_tree_step(both[k]->ctx, both[k]->model, both[k]->state, 1.0 / 240));
    }
    for (int32_t k = 0; k < 4; k++)
        check(l->state->q[k] == free_ones->state->q[k]);
    l->state->tie_strength[0] = 1;
    check_ok(l->ctx, bough_tree_step(l->ctx, l->model, l->state, 1.0 / 240));
    check(l->state->q[0] != free_ones->state->q[0]);
    check_ok(l->ctx, bough_tree_state_detach(l->ctx, l->model, l->state, 2)); /* still tied */
    for (int i = 0; i < 50; i++)
        check_ok(l->ctx, bough_tree_step(l->ctx, l->model, l->state, 1.0 / 240));
    const bough_change gone = {.kind = BOUGH_CHANGE_REMOVE, .part = 4};
    check_ok(l->ctx, bough_tree_state_change(l->ctx, l->model, l->state, 1, &gone));
    bough_tree_energies e;
    check_ok(l->ctx, bough_tree_state_energies(l->ctx, l->model, l->state, &e));
    check(e.elastic == 0 && length_of(6, bo_tree_work_of(l->state)->tie_motion[0].force) == 0);
    for (int i = 0; i < 50; i++)
        check_ok(l->ctx, bough_tree_step(l->ctx, l->model, l->state, 1.0 / 240));
    take_apart(l);
    take_apart(free_ones);
}

/* When a change has no effect, ties keep the forces that they have: a rigid rod is locked. */
static void ties_go_on_across_changes(void **unused) {
    (void)unused;
    bough_joint_def tie = tie_between(2, 4);
    linkage *l = assemble(2, 2, 1, &tie), *same = assemble(2, 2, 1, &tie);
    linkage *both[2] = {l, same};
    for (int k = 0; k < 2; k++) {
        both[k]->state->q[0] = 0.5, both[k]->state->passes = 2; /* steps whose account of energy does not matter */
        check_ok(both[k]->ctx, bough_tree_state_update(both[k]->ctx, both[k]->model, both[k]->state));
        for (int i = 0; i < 40; i++) {
            if (k == 0 && i % 4 == 0)
                check_ok(l->ctx, bough_tree_state_lock(l->ctx, l->model, l->state, 2, i % 8 == 0));
            check_ok(both[k]->ctx, bough_tree_step(both[k]->ctx, both[k]->model, both[k]->state, 1.0 / 240));
        }
    }
    double most = 0;
    for (int32_t k = 0; k < 4; k++)
        most = fmax(most, fabs(l->state->q[k] - same->state->q[k]));
    print_message("changes of nothing: %.1e rad\n", most);
    check_below(most, 1e-8);
    take_apart(l);
    take_apart(same);
}

static void snapshots_hold_ties(void **unused) {
    (void)unused;
    bough_joint_def tie = tie_between(2, 4);
    linkage *l = assemble(2, 2, 1, &tie);
    l->state->q[0] = 0.5;
    check_ok(l->ctx, bough_tree_state_update(l->ctx, l->model, l->state));
    for (int i = 0; i < 20; i++)
        check_ok(l->ctx, bough_tree_step(l->ctx, l->model, l->state, 1.0 / 240));
    const size_t size = bough_tree_state_snapshot_size(l->model, l->state);
    void *bytes = malloc(size);
    double q[2][4];
    bough_tree_state_save(l->model, l->state, bytes);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 20; i++)
            check_ok(l->ctx, bough_tree_step(l->ctx, l->model, l->state, 1.0 / 240));
        memcpy(q[k], l->state->q, sizeof q[k]);
        check_ok(l->ctx, bough_tree_state_restore(l->ctx, l->model, l->state, bytes, size));
    }
    check(memcmp(q[0], q[1], sizeof q[0]) == 0);
    free(bytes);
    take_apart(l);
}

static void impossible_ties_are_refused(void **unused) {
    (void)unused;
    linkage *l = assemble(2, 2, 0, NULL);
    const struct {
        int32_t part[2], interface_index[2];
        double stiffness;
        const char *why;
    } bad[] = {{{-1, 2}, {0, 0}, 1, "does not exist"},
               {{1, 9}, {0, 0}, 1, "does not exist"},
               {{1, -2}, {0, 0}, 1, "does not exist"},
               {{1, 2}, {2, 0}, 1, "no interface 2"},
               {{1, 1}, {0, 1}, 1, "to itself"},
               {{1, 2}, {0, 1}, -1, "it must be 0 or more"},
               {{1, 2}, {0, 1}, NAN, "it must be 0 or more"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bough_tree_model_def def = *bough_tree_model_describe(l->model);
        bough_tree_model *model;
        bough_joint_def tie = tie_of(bad[i].part[0], bad[i].interface_index[0], bad[i].part[1],
                                     bad[i].interface_index[1], bad[i].stiffness, 0);
        def.tie_count = 1, def.ties = &tie;
        check_fails(l->ctx, bough_tree_model_create(l->ctx, &def, &model), BOUGH_ERROR_ARGUMENT, bad[i].why);
        tie.cookie = 0;
        check_fails(l->ctx, bough_tree_model_create(l->ctx, &def, &model), BOUGH_ERROR_ARGUMENT,
                    "bough_default_joint_def()");
    }
    bough_tree_model_def def = *bough_tree_model_describe(l->model);
    bough_tree_model *model;
    bough_joint_def tie;
    def.tie_count = 1, def.ties = &tie;
#define UNSUPPORTED(change, why)                                                                          \
    do {                                                                                                  \
        tie = tie_between(1, 2);                                                                          \
        change;                                                                                           \
        check_fails(l->ctx, bough_tree_model_create(l->ctx, &def, &model), BOUGH_ERROR_UNSUPPORTED, why); \
    } while (0)
    UNSUPPORTED(tie.kind = BOUGH_JOINT_BALL, "BOUGH_JOINT_COMPLIANT");
    UNSUPPORTED(tie.stiffness[1] = 3, "one stiffness and damping along all axes");
    UNSUPPORTED(tie.damping[5] = 3, "one stiffness and damping along all axes");
    UNSUPPORTED(tie.start[2] = 0.1, "no start, offset, limits and friction");
    UNSUPPORTED(tie.lower[0] = -1, "no start, offset, limits and friction");
    UNSUPPORTED(tie.child.pose.position[0] = 1, "leave the poses");
#undef UNSUPPORTED
    take_apart(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_answer_to_forces),
        cmocka_unit_test(what_flies_tied_keeps_momenta_and_energy),
        cmocka_unit_test(a_tied_pendulum_has_its_frequency),
        cmocka_unit_test(steps_of_a_tie_are_those_of_hht),
        cmocka_unit_test(tied_rods_settle),
        cmocka_unit_test(loops_swing_with_ties_of_any_stiffness),
        cmocka_unit_test(what_a_jolt_takes_is_gone),
        cmocka_unit_test(ties_can_be_cut),
        cmocka_unit_test(ties_go_on_across_changes),
        cmocka_unit_test(snapshots_hold_ties),
        cmocka_unit_test(impossible_ties_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
