/* Parts that are detached, attached, locked, removed and added while a state runs. */
#include "garden.h"

enum { ROOT = 0, LIMB = 1, TWIG = 2 };

/* Two trees that fly and one that stands: roots 0, 4 and 8, limbs on each, a twig on the first limb. */
static garden three_trees(bough_coupling coupling) {
    garden g = till(1);
    test_random random = {5};
    add_kind(&g, 5, 3, BOUGH_REDUCED_POLYNOMIAL, true);
    add_kind(&g, 4, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    for (int tree = 0; tree < 3; tree++) {
        const int32_t root = g.def.part_count;
        add_part(&g, &random, tree == 2, -1, 0);
        add_part(&g, &random, 1, root, 1);
        add_part(&g, &random, 1, root + 1, 1);
        add_part(&g, &random, 1, root, 2);
    }
    g.def.coupling = coupling;
    for (int d = 0; d < 3; d++)
        g.def.gravity[d] = 0;
    plant(&g);
    stir(&g, 6, 0.05, 0.5);
    return g;
}

static bough_tree_energies measure(garden *g) {
    bough_tree_energies e;
    check_ok(g->ctx, bough_tree_state_energies(g->ctx, g->model, g->state, &e));
    return e;
}

static double energy(const bough_tree_energies *e) {
    return e->elastic + e->kinetic + e->gravity;
}

static void check_momenta(const bough_tree_energies *a, const bough_tree_energies *b, double tolerance) {
    double size = length_of(3, a->momentum), spin = length_of(3, a->angular_momentum);
    for (int d = 0; d < 3; d++) {
        check_near(a->momentum[d], b->momentum[d], tolerance * size);
        check_near(a->angular_momentum[d], b->angular_momentum[d], tolerance * spin);
    }
}

static void change(garden *g, bough_change_kind kind, int32_t part) {
    const bough_change one = {.kind = kind, .part = part};
    check_ok(g->ctx, bough_tree_state_change(g->ctx, g->model, g->state, 1, &one));
}

static void step(garden *g, int count) {
    for (int i = 0; i < count; i++)
        check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, 1.0 / 480));
}

static void a_cut_keeps_energy_and_momenta(void **unused) {
    (void)unused;
    static const int32_t cuts[] = {LIMB, TWIG, 5, 8, 10};
    garden g = three_trees(BOUGH_COUPLING_L3);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        const bough_tree_energies before = measure(&g);
        const bough_frame was = g.state->frames[cuts[i]];
        check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, cuts[i]));
        const bough_tree_energies after = measure(&g);
        check_momenta(&before, &after, 1e-12);
        check_near(energy(&after), energy(&before), 1e-12 * energy(&before));
        for (int d = 0; d < 3; d++) {
            check_near(g.state->frames[cuts[i]].pose.position[d], was.pose.position[d], 1e-14);
            check_near(g.state->frames[cuts[i]].velocity[d], was.velocity[d], 1e-13);
        }
        step(&g, 5);
    }
    check_int(g.state->root_count, 7);
    /* nothing is held any more: momenta stay */
    const bough_tree_energies before = measure(&g);
    step(&g, 20);
    const bough_tree_energies after = measure(&g);
    check_momenta(&before, &after, 1e-12);
    clear(&g);
}

/* Trees do not feel what happens to others: neither their accelerations nor what follows from them change. */
static void a_cut_is_not_felt_elsewhere(void **unused) {
    (void)unused;
    garden g = three_trees(BOUGH_COUPLING_L3), h = three_trees(BOUGH_COUPLING_L3);
    step(&g, 6), step(&h, 6);
    check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, LIMB));
    step(&g, 2), step(&h, 2);
    double size = 0, most = 0;
    for (int32_t part = 4; part < 12; part++) /* the other two trees */
        for (int32_t l = 0; l < g.components[g.parts[part].component]->r; l++) {
            const int32_t k = bough_tree_model_offset(g.model, part) + l;
            size = fmax(size, fabs(h.state->v[k]));
            most = fmax(most, fabs(g.state->v[k] - h.state->v[k]));
        }
    print_message("velocities elsewhere differ by %.1e of the largest\n", most / size);
    check_below(most, 1e-12 * size);
    clear(&g), clear(&h);
}

/* The state of g in another garden that was made as g is now. */
static garden made_so(const garden *g) {
    garden h = *g;
    h.ctx = test_context(1);
    h.def.components = g->components, h.def.parts = bough_tree_state_parts(g->model, g->state);
    check_ok(h.ctx, bough_tree_model_create(h.ctx, &h.def, &h.model));
    check_ok(h.ctx, bough_tree_state_create(h.ctx, h.model, &h.state));
    for (int32_t i = 0; i < g->def.part_count; i++) {
        const int32_t from = bough_tree_model_offset(g->model, i), to = bough_tree_model_offset(h.model, i);
        const size_t bytes = (size_t)g->components[g->parts[i].component]->r * sizeof(double);
        memcpy(h.state->q + to, g->state->q + from, bytes);
        memcpy(h.state->v + to, g->state->v + from, bytes);
        memcpy(h.state->a + to, g->state->a + from, bytes);
    }
    check_int(h.state->root_count, g->state->root_count);
    memcpy(h.state->roots, g->state->roots, (size_t)h.state->root_count * sizeof *h.state->roots);
    check_ok(h.ctx, bough_tree_state_update(h.ctx, h.model, h.state));
    for (int32_t i = 0; i < g->def.part_count; i++) /* what steps remember of the one before */
        memcpy(h.state->mean_a + bough_tree_model_offset(h.model, i),
               g->state->mean_a + bough_tree_model_offset(g->model, i),
               (size_t)g->components[g->parts[i].component]->r * sizeof(double));
    h.state->last_dt = g->state->last_dt;
    return h;
}

static void check_same(const garden *g, const garden *h, double tolerance) {
    for (int32_t i = 0; i < g->def.part_count; i++) {
        const int32_t a = bough_tree_model_offset(g->model, i), b = bough_tree_model_offset(h->model, i);
        for (int32_t l = 0; l < g->components[g->parts[i].component]->r; l++)
            check_near(g->state->q[a + l], h->state->q[b + l], tolerance);
        if (bough_tree_state_parts(g->model, g->state)[i].absent)
            continue;
        for (int d = 0; d < 3; d++) {
            check_near(g->state->frames[i].pose.position[d], h->state->frames[i].pose.position[d], tolerance);
            check_near(g->state->frames[i].velocity[d], h->state->frames[i].velocity[d], 100 * tolerance);
        }
    }
}

/* Masses, lumps, blocks and faces follow: the changed state moves as one of a model that was made so. */
static void changed_trees_move_as_if_made_so(void **unused) {
    (void)unused;
    for (int coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
        garden g = three_trees((bough_coupling)coupling);
        const bough_change changes[] = {
            {.kind = BOUGH_CHANGE_DETACH, .part = TWIG},
            {.kind = BOUGH_CHANGE_ATTACH, .part = 5, .parent = 9, .interface_index = 1},
            {.kind = BOUGH_CHANGE_LOCK, .part = 3},
            {.kind = BOUGH_CHANGE_REMOVE, .part = 11},
            {.kind = BOUGH_CHANGE_ATTACH, .part = 7, .parent = 1, .interface_index = 2},
        };
        step(&g, 3);
        check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 5, changes));
        garden h = made_so(&g);
        check_same(&g, &h, 1e-13);
        h.state->time = g.state->time;
        g.state->wind.velocity[0] = h.state->wind.velocity[0] = 8; /* past those that fly, too */
        for (int i = 0; i < 40; i++) {
            const double push[3] = {1, 2, -3};
            check_ok(g.ctx, bough_tree_state_add_wrench(g.ctx, g.model, g.state, 6, push, push));
            check_ok(h.ctx, bough_tree_state_add_wrench(h.ctx, h.model, h.state, 6, push, push));
            step(&g, 1);
            step(&h, 1);
        }
        check_same(&g, &h, 1e-9);
        uproot(&h);
        bough_context_destroy(h.ctx);
        clear(&g);
    }
}

/* Rotation and origin of what hangs, seen from its interface. */
static void seen_from_interface(const garden *g, int32_t part, int32_t parent, int32_t interface, double out[12]) {
    const bough_component *c = g->components[g->parts[parent].component];
    const bough_frame *child = &g->state->frames[part], *above = &g->state->frames[parent];
    double centre[3];
    bo_mat3 face, Rp, Rc;
    check(bough_component_interface_frame(c, interface, g->state->q + bough_tree_model_offset(g->model, parent), centre,
                                          face.m));
    memcpy(Rp.m, above->pose.rotation, sizeof Rp.m);
    memcpy(Rc.m, child->pose.rotation, sizeof Rc.m);
    const bo_mat3 rest = bo_mat_mul(bo_transpose(face), bo_mat_mul(bo_transpose(Rp), Rc));
    memcpy(out, rest.m, sizeof rest.m);
    const bo_vec3 x = bo_mat_tvec(Rp, bo_sub(bo_load3(child->pose.position), bo_load3(above->pose.position)));
    bo_store3(out + 9, bo_mat_tvec(face, bo_sub(x, bo_scale(g->parts[parent].scale, bo_load3(centre)))));
}

/* Two trees in flight that become one: an impact in which nothing comes back. */
static void what_is_attached_stays_and_shares_its_momentum(void **unused) {
    (void)unused;
    garden g = three_trees(BOUGH_COUPLING_L3);
    check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, LIMB));
    const bough_tree_energies before = measure(&g);
    bough_frame was[12];
    memcpy(was, g.state->frames, sizeof was);
    double there[12], later[12];
    seen_from_interface(&g, LIMB, 6, 1, there);
    check_ok(g.ctx, bough_tree_state_attach(g.ctx, g.model, g.state, LIMB, 6, 1));
    const bough_tree_energies after = measure(&g);
    check_momenta(&before, &after, 1e-12);
    check(after.kinetic < 0.999 * before.kinetic);
    check_near(after.elastic, before.elastic, 1e-13 * before.elastic);
    for (int32_t i = 0; i < 12; i++)
        for (int d = 0; d < 3; d++)
            check_near(g.state->frames[i].pose.position[d], was[i].pose.position[d], 1e-13);
    /* once they move as one, nothing is left to share */
    const bough_change again[] = {{.kind = BOUGH_CHANGE_ATTACH, .part = LIMB, .parent = 6, .interface_index = 1}};
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 1, again));
    const bough_tree_energies third = measure(&g);
    check_momenta(&after, &third, 1e-12);
    check_near(third.kinetic, after.kinetic, 1e-12 * after.kinetic);
    step(&g, 50);
    seen_from_interface(&g, LIMB, 6, 1, later);
    for (int k = 0; k < 12; k++)
        check_near(later[k], there[k], 1e-12);
    /* what is off again is a root as it lies, and knows nothing of where it hung */
    check(length_of(3, bough_tree_state_parts(g.model, g.state)[LIMB].offset) > 0);
    check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, LIMB));
    const bough_part_def *limb = &bough_tree_state_parts(g.model, g.state)[LIMB];
    check(limb->parent == -1 && length_of(3, limb->offset) == 0);
    for (int d = 0; d < 3; d++)
        check_near(limb->position[d], g.state->frames[LIMB].pose.position[d], 1e-15);
    clear(&g);
}

static void what_is_reattached_goes_back(void **unused) {
    (void)unused;
    garden g = three_trees(BOUGH_COUPLING_L3);
    double there[12], later[12];
    seen_from_interface(&g, TWIG, LIMB, 1, there);
    check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, TWIG));
    step(&g, 30);
    for (int d = 0; d < 3; d++)
        g.state->roots[1].velocity[d] += 2;
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    const bough_tree_root other = g.state->roots[0];
    change(&g, BOUGH_CHANGE_REATTACH, TWIG);
    check_int(g.state->root_count, 2);
    for (int d = 0; d < 3; d++) /* it moves with what it hangs on, which feels no blow */
        check(g.state->roots[0].velocity[d] == other.velocity[d]);
    seen_from_interface(&g, TWIG, LIMB, 1, later);
    for (int k = 0; k < 12; k++)
        check_near(later[k], there[k], 1e-12);
    /* a root that was held, too */
    check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, 8));
    for (int d = 0; d < 3; d++)
        g.state->roots[2].velocity[d] = 1;
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    step(&g, 30);
    check_ok(g.ctx, bough_tree_state_attach(g.ctx, g.model, g.state, 8, -1, 0)); /* held elsewhere */
    check(fabs(g.state->frames[8].pose.position[0] - g.parts[8].position[0]) > 0.01);
    change(&g, BOUGH_CHANGE_REATTACH, 8);
    for (int d = 0; d < 3; d++) {
        check_near(g.state->frames[8].pose.position[d], g.parts[8].position[d], 0);
        check_near(g.state->frames[8].velocity[d], 0, 0);
    }
    clear(&g);
}

static void what_is_locked_keeps_its_shape(void **unused) {
    (void)unused;
    for (int coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
        garden g = three_trees((bough_coupling)coupling);
        const int32_t at = bough_tree_model_offset(g.model, LIMB), r = g.components[1]->r;
        double q[8];
        memcpy(q, g.state->q + at, (size_t)r * sizeof *q);
        const bough_tree_energies before = measure(&g);
        check_ok(g.ctx, bough_tree_state_lock(g.ctx, g.model, g.state, LIMB, true));
        const bough_tree_energies after = measure(&g);
        check(after.kinetic < before.kinetic && after.elastic == before.elastic);
        step(&g, 30);
        for (int32_t l = 0; l < r; l++)
            check(g.state->q[at + l] == q[l] && g.state->v[at + l] == 0);
        check_ok(g.ctx, bough_tree_state_lock(g.ctx, g.model, g.state, LIMB, false));
        step(&g, 3);
        check(g.state->q[at] != q[0]);
        clear(&g);
    }
}

/* All parts of a tree that flies, locked: a rigid body, whose energy stays. */
static void a_locked_tree_is_a_rigid_body(void **unused) {
    (void)unused;
    garden g = three_trees(BOUGH_COUPLING_L3);
    bough_change changes[12];
    int32_t count = 0;
    for (int32_t i = 0; i < 4; i++)
        changes[count++] = (bough_change){.kind = BOUGH_CHANGE_LOCK, .part = i};
    for (int32_t i = 4; i < 12; i += 4)
        changes[count++] = (bough_change){.kind = BOUGH_CHANGE_REMOVE, .part = i};
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, count, changes));
    const bough_tree_energies start = measure(&g);
    step(&g, 480);
    const bough_tree_energies end = measure(&g);
    check_momenta(&start, &end, 1e-12);
    check(end.elastic == start.elastic);
    check_near(end.kinetic, start.kinetic, 2e-6 * start.kinetic); /* of second order in the step */
    clear(&g);
}

static void what_is_removed_is_gone_until_it_is_added(void **unused) {
    (void)unused;
    garden g = three_trees(BOUGH_COUPLING_L3);
    change(&g, BOUGH_CHANGE_REMOVE, 4);
    check_int(g.state->root_count, 1);
    for (int32_t i = 4; i < 8; i++)
        for (int32_t l = 0; l < 4; l++) /* what is gone stands still */
            check(g.state->v[bough_tree_model_offset(g.model, i) + l] == 0 &&
                  g.state->a[bough_tree_model_offset(g.model, i) + l] == 0);
    const double up[3] = {0, 0, 1};
    float positions[64];
    check_fails(g.ctx, bough_tree_state_add_wrench(g.ctx, g.model, g.state, 6, up, up), BOUGH_ERROR_ARGUMENT, "absent");
    check_fails(g.ctx, bough_tree_state_positions(g.ctx, g.model, g.state, 6, positions), BOUGH_ERROR_ARGUMENT,
                "absent");
    check_fails(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, 6), BOUGH_ERROR_ARGUMENT, "absent");
    step(&g, 10);
    bough_change back = {.kind = BOUGH_CHANGE_ADD, .part = 4};
    back.frame = (bough_frame){{{1, 2, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0, 0, 5}, {0, 1, 0}};
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 1, &back));
    check_int(g.state->root_count, 2);
    check_fails(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 1, &back), BOUGH_ERROR_ARGUMENT,
                "there already");
    check_near(g.state->frames[4].pose.position[1], 2, 0);
    check_near(g.state->frames[4].velocity[2], 5, 1e-13);
    for (int32_t i = 4; i < 8; i++)
        for (int32_t l = 0; l < 4; l++)
            check(g.state->q[bough_tree_model_offset(g.model, i) + l] == 0);
    step(&g, 10);
    /* all of it, and nothing is left to step */
    const bough_change all[] = {
        {.kind = BOUGH_CHANGE_REMOVE, .part = 0},
        {.kind = BOUGH_CHANGE_REMOVE, .part = 4},
        {.kind = BOUGH_CHANGE_REMOVE, .part = 8},
    };
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 3, all));
    step(&g, 3);
    const bough_tree_energies none = measure(&g);
    check(none.kinetic == 0 && none.elastic == 0);
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 1, &back));
    step(&g, 3);
    clear(&g);
}

/* A part that is added moves with its parent, also when momenta are shared out: nothing else gets slower by it. */
static void what_is_added_slows_nothing_down(void **unused) {
    (void)unused;
    garden g = three_trees(BOUGH_COUPLING_L3);
    check_ok(g.ctx, bough_tree_state_lock(g.ctx, g.model, g.state, 3, true));
    change(&g, BOUGH_CHANGE_REMOVE, TWIG);
    step(&g, 3);
    bough_frame was[12];
    memcpy(was, g.state->frames, sizeof was);
    const bough_change both[2] = {{.kind = BOUGH_CHANGE_ADD, .part = TWIG}, {.kind = BOUGH_CHANGE_LOCK, .part = 3}};
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 2, both));
    for (int32_t i = 0; i < 12; i++)
        for (int d = 0; d < 3 && i != TWIG; d++) {
            check_near(g.state->frames[i].velocity[d], was[i].velocity[d], 1e-12);
            check_near(g.state->frames[i].angular_velocity[d], was[i].angular_velocity[d], 1e-12);
        }
    clear(&g);
}

/* Forces that were given before a change act in the step after it. */
static void forces_outlive_changes(void **unused) {
    (void)unused;
    garden g[2] = {three_trees(BOUGH_COUPLING_L3), three_trees(BOUGH_COUPLING_L3)};
    const double push[3] = {5, -3, 8};
    for (int late = 0; late < 2; late++) {
        for (int when = 0; when < 2; when++) {
            if (when)
                check_ok(g[late].ctx, bough_tree_state_detach(g[late].ctx, g[late].model, g[late].state, LIMB));
            for (int32_t part = 0; part < 12 && when == late; part += 2) {
                check_ok(g[late].ctx,
                         bough_tree_state_add_wrench(g[late].ctx, g[late].model, g[late].state, part, push, push));
                check_ok(g[late].ctx,
                         bough_tree_state_add_force(g[late].ctx, g[late].model, g[late].state, part, 1, push));
            }
        }
        check_ok(g[late].ctx, bough_tree_step(g[late].ctx, g[late].model, g[late].state, 0)); /* accelerations */
        step(&g[late], 1);
    }
    check_same(&g[0], &g[1], 1e-12);
    clear(&g[0]), clear(&g[1]);
}

/* Ten trees that fly, ten that stand; four parts each, one of them on another. Enough of each kind are left, whatever
 * is taken away, for parts to be computed side by side as before: alone, sums are taken in another order. */
static garden twenty_trees(bough_coupling coupling) {
    garden g = till(2);
    test_random random = {15};
    add_kind(&g, 6, 3, BOUGH_REDUCED_POLYNOMIAL, true);
    add_kind(&g, 14, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    add_kind(&g, 4, 3, BOUGH_REDUCED_CUBATURE, false);
    for (int tree = 0; tree < 20; tree++) {
        const int32_t root = g.def.part_count;
        add_part(&g, &random, tree >= 10, -1, 0);
        add_part(&g, &random, 2, root, 1);
        add_part(&g, &random, 1, root + 1, 1);
        add_part(&g, &random, 2, root, 2);
    }
    g.def.coupling = coupling;
    g.def.wind.velocity[0] = 3;
    plant(&g);
    stir(&g, 16, 0.03, 0.3);
    return g;
}

static void check_same_bits(const garden *g, const garden *h, int32_t part) {
    const size_t at = (size_t)bough_tree_model_offset(g->model, part);
    const size_t size = (size_t)g->components[g->parts[part].component]->r * sizeof(double);
    check(memcmp(g->state->q + at, h->state->q + at, size) == 0);
    check(memcmp(g->state->v + at, h->state->v + at, size) == 0);
    check(memcmp(g->state->a + at, h->state->a + at, size) == 0);
    check(memcmp(&g->state->frames[part], &h->state->frames[part], sizeof(bough_frame)) == 0);
}

static void check_others(const garden *g, const garden *h) {
    for (int32_t tree = 0; tree < 20; tree++)
        for (int32_t i = 0; i < 4 && tree != 0 && tree != 2 && tree != 11 && tree != 13; i++)
            check_same_bits(g, h, 4 * tree + i);
}

/* Whatever happens to the trees 0, 2, 11 and 13: added, removed, cut, joined, locked. */
static void other_trees_keep_their_bits(void **unused) {
    (void)unused;
    static const bough_coupling couplings[] = {BOUGH_COUPLING_L1, BOUGH_COUPLING_L3};
    for (int c = 0; c < 2; c++) {
        garden g = twenty_trees(couplings[c]), h = twenty_trees(couplings[c]);
        bough_change all[] = {{.kind = BOUGH_CHANGE_REMOVE, .part = 4 * 2},
                              {.kind = BOUGH_CHANGE_REMOVE, .part = 4 * 13},
                              {.kind = BOUGH_CHANGE_DETACH, .part = 4 * 11 + 1},
                              {.kind = BOUGH_CHANGE_LOCK, .part = 4 * 0 + 3},
                              {.kind = BOUGH_CHANGE_ATTACH, .part = 4 * 0 + 1, .parent = 4 * 11, .interface_index = 1},
                              {.kind = BOUGH_CHANGE_ADD, .part = 4 * 13},
                              {.kind = BOUGH_CHANGE_DETACH, .part = 4 * 0 + 1},
                              {.kind = BOUGH_CHANGE_REATTACH, .part = 4 * 11 + 1}};
        all[5].frame = h.state->frames[4 * 13];
        step(&g, 5), step(&h, 5);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 1, &all[i]));
            check_others(&g, &h);
            step(&g, 3), step(&h, 3);
            check_others(&g, &h);
        }
        check(memcmp(g.state->q, h.state->q, sizeof(double)) != 0);
        clear(&g), clear(&h);
    }
}

static void *snap(const garden *g, size_t *size) {
    *size = bough_tree_state_snapshot_size(g->model, g->state);
    void *bytes = malloc(*size);
    bough_tree_state_save(g->model, g->state, bytes);
    return bytes;
}

static void what_cannot_be_is_refused_and_nothing_happens(void **unused) {
    (void)unused;
    garden g = three_trees(BOUGH_COUPLING_L3);
    step(&g, 2);
    size_t size, again;
    void *before = snap(&g, &size);
    const struct {
        bough_change change;
        const char *why;
    } bad[] = {
        {{.kind = BOUGH_CHANGE_DETACH, .part = 12}, "does not exist"},
        {{.kind = BOUGH_CHANGE_DETACH, .part = -1}, "does not exist"},
        {{.kind = BOUGH_CHANGE_ATTACH, .part = LIMB, .parent = TWIG, .interface_index = 1}, "ancestor"},
        {{.kind = BOUGH_CHANGE_ATTACH, .part = LIMB, .parent = LIMB, .interface_index = 1}, "does not exist"},
        {{.kind = BOUGH_CHANGE_ATTACH, .part = LIMB, .parent = 99, .interface_index = 1}, "absent"},
        {{.kind = BOUGH_CHANGE_ATTACH, .part = LIMB, .parent = 5, .interface_index = 9}, "interface"},
        {{.kind = BOUGH_CHANGE_ATTACH, .part = LIMB, .parent = 5, .interface_index = 0}, "by which its parent hangs"},
        {{.kind = BOUGH_CHANGE_ATTACH, .part = ROOT, .parent = 5, .interface_index = 1}, "cooked as a root"},
        {{.kind = BOUGH_CHANGE_ATTACH, .part = ROOT, .parent = -1}, "cannot be held"},
        {{.kind = BOUGH_CHANGE_ADD, .part = 3}, "there already"},
        {{.kind = (bough_change_kind)77, .part = 3}, "no change of kind 77"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const bough_change list[2] = {{.kind = BOUGH_CHANGE_DETACH, .part = 6}, bad[i].change};
        check_fails(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 2, list), BOUGH_ERROR_ARGUMENT, bad[i].why);
        void *after = snap(&g, &again);
        check(size == again && memcmp(before, after, size) == 0);
        free(after);
    }
    free(before);
    clear(&g);
}

/* Hundreds of random changes with steps between them; all that is asked for can be done or is refused. */
static void change_at_random(garden *g, uint64_t seed, int count) {
    test_random random = {seed};
    for (int i = 0; i < count; i++) {
        const bough_change c = {.kind = (bough_change_kind)(test_bits(&random) % 7),
                                .part = (int32_t)(test_bits(&random) % 12),
                                .parent = (int32_t)(test_bits(&random) % 13) - 1,
                                .interface_index = (int32_t)(test_bits(&random) % 3),
                                .frame = {{{0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {1, 0, 0}, {0, 0, 1}}};
        const bough_status status = bough_tree_state_change(g->ctx, g->model, g->state, 1, &c);
        check(status == BOUGH_OK || status == BOUGH_ERROR_ARGUMENT);
        check_ok(g->ctx, bough_tree_advance(g->ctx, g->model, g->state, 1.0 / 240, NULL));
        const bough_tree_energies e = measure(g);
        check(energy(&e) < 1e6);
    }
}

static void random_changes_leave_nothing_broken_and_replay_alike(void **unused) {
    (void)unused;
    garden g = three_trees(BOUGH_COUPLING_L3);
    for (int32_t i = 0; i < 12; i++)
        g.state->damping_mass[i] = 1;
    size_t size[3];
    void *start = snap(&g, &size[0]);
    change_at_random(&g, 9, 300);
    void *end = snap(&g, &size[1]);
    /* back to where all hung as in the model, and through all of it again */
    check_ok(g.ctx, bough_tree_state_restore(g.ctx, g.model, g.state, start, size[0]));
    void *same = snap(&g, &size[2]);
    check(size[2] == size[0] && memcmp(same, start, size[0]) == 0);
    free(same);
    change_at_random(&g, 9, 300);
    same = snap(&g, &size[2]);
    check(size[2] == size[1] && memcmp(same, end, size[1]) == 0);
    free(same);
    /* the same in another state that has never been changed */
    bough_tree_state *other;
    check_ok(g.ctx, bough_tree_state_create(g.ctx, g.model, &other));
    check_ok(g.ctx, bough_tree_state_restore(g.ctx, g.model, other, end, size[1]));
    step(&g, 5);
    for (int i = 0; i < 5; i++)
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, other, 1.0 / 480));
    check(memcmp(g.state->q, other->q, (size_t)bough_tree_model_size(g.model) * sizeof(double)) == 0);
    bough_tree_state_destroy(g.ctx, other);
    free(start), free(end);
    clear(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_keeps_energy_and_momenta),
        cmocka_unit_test(a_cut_is_not_felt_elsewhere),
        cmocka_unit_test(changed_trees_move_as_if_made_so),
        cmocka_unit_test(what_is_attached_stays_and_shares_its_momentum),
        cmocka_unit_test(what_is_reattached_goes_back),
        cmocka_unit_test(what_is_locked_keeps_its_shape),
        cmocka_unit_test(a_locked_tree_is_a_rigid_body),
        cmocka_unit_test(what_is_removed_is_gone_until_it_is_added),
        cmocka_unit_test(what_is_added_slows_nothing_down),
        cmocka_unit_test(forces_outlive_changes),
        cmocka_unit_test(other_trees_keep_their_bits),
        cmocka_unit_test(what_cannot_be_is_refused_and_nothing_happens),
        cmocka_unit_test(random_changes_leave_nothing_broken_and_replay_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
