/* Parts that touch obstacles and stones: contact inside of a step. */
#include "bars.h"

#include "tree/touch.h"

static bo_touch_obstacle slope(double degrees, double friction) {
    const double a = degrees * acos(-1) / 180;
    return (bo_touch_obstacle){
        .name = "slope",
        .shape = {.kind = BO_OBSTACLE_PLANE, .pose = {{{cos(a), 0, sin(a), 0, 1, 0, -sin(a), 0, cos(a)}}, {0, 0, 0}}},
        .friction = friction};
}

static void touch(bars *b, const bo_touch_obstacle *obstacle, int32_t solid_count, const bo_tree_solid *solids,
                  double friction) {
    bo_tree_touch_def def = bo_default_tree_touch_def();
    def.obstacle_count = obstacle ? 1 : 0, def.obstacles = obstacle;
    def.solid_count = solid_count, def.solids = solids;
    def.friction = friction, def.rest_speed = 0;
    check_ok(b->ctx, bo_tree_state_touch(b->ctx, b->model, b->state, &def));
}

static double energy_of(bars *b) {
    bough_tree_energies e;
    check_ok(b->ctx, bough_tree_state_energies(b->ctx, b->model, b->state, &e));
    return e.kinetic + e.elastic + e.gravity;
}

static bo_vec3 sum_of_forces(const bars *b, double *deepest) {
    int32_t count;
    const bo_tree_contact *contacts = bo_tree_contacts(b->state, &count);
    bo_vec3 sum = bo_v3(0, 0, 0);
    for (int32_t i = 0; i < count; i++) {
        sum = bo_add(sum, contacts[i].force);
        *deepest = fmin(*deepest, contacts[i].gap);
    }
    return sum;
}

/* The depth of the samples of a part below z = 0, m. */
static double depth_of(const bars *b, int32_t part) {
    const bough_component *c = b->def.components[b->parts[part].component];
    const bough_frame *frame = &b->state->frames[part];
    const double *q = b->state->q + bough_tree_model_offset(b->model, part);
    double deepest = 0;
    for (int32_t k = 0; k < c->contact.count; k++) {
        double x[3];
        for (int d = 0; d < 3; d++) {
            x[d] = c->contact.position[3 * k + d];
            for (int32_t l = 0; l < c->r; l++)
                x[d] += c->contact.U[(3 * k + d) * c->r + l] * q[l];
        }
        const double *R = frame->pose.rotation, s = b->parts[part].scale;
        const double z = frame->pose.position[2] + s * (R[6] * x[0] + R[7] * x[1] + R[8] * x[2]);
        deepest = fmax(deepest, -z);
    }
    return deepest;
}

static void turn(bough_part_def *part, double angle) {
    memcpy(part->rotation, (double[9]){cos(angle), 0, sin(angle), 0, 1, 0, -sin(angle), 0, cos(angle)},
           sizeof part->rotation);
}

/* Bars that fall, one of them or several that hang on each other, lose energy only, and come to lie on the ground, which
 * bears their weight. No sample goes deeper than a hundredth of a bar, at 240 steps a second. */
static void what_falls_comes_to_rest(void **state) {
    (void)state;
    const struct {
        int32_t count;
        double rate, gain; /* of the energy of the fall, in one step */
    } cases[] = {{1, 240, 5e-3}, {1, 60, 0.05}, {3, 240, 5e-3}, {3, 1000, 5e-3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bough_context *ctx = test_context(1);
        bars b;
        const double dt = 1 / cases[k].rate;
        const bo_touch_obstacle ground = slope(0, 0.5);
        prepare_bars(&b, ctx, cases[k].count, 1e-4, true);
        b.parts[0].position[2] = 1.2;
        turn(&b.parts[0], -0.3);
        grow_bars(&b);
        b.def.components = (const bough_component *const[2]){b.root, b.limb};
        touch(&b, &ground, 0, NULL, 0.5);
        double last = energy_of(&b), gained = 0, deepest = 0, gap = 0, mass = bo_tree_work_of(b.state)->touch->mass;
        const double scale = mass * 9.81 * 1.2;
        bo_vec3 impulse = bo_v3(0, 0, 0);
        int32_t counted = 0;
        while (b.state->time < 4) {
            check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, dt, NULL));
            const double now = energy_of(&b);
            gained = fmax(gained, now - last), last = now;
            for (int32_t p = 0; p < cases[k].count; p++)
                deepest = fmax(deepest, depth_of(&b, p));
            if (b.state->time > 3)
                impulse = bo_add(impulse, sum_of_forces(&b, &gap)), counted++;
        }
        check_below(gained / scale, cases[k].gain);
        check_below(deepest, 1e-5);
        check_near(impulse.z / counted / (9.81 * mass), 1, 0.02);
        check_below(fabs(impulse.x) / counted / (9.81 * mass), 0.05);
        check_below(bough_tree_state_work(b.model, b.state, NULL), 0);
        clear_bars(&b);
        bough_context_destroy(ctx);
    }
}

/* A stiff bar that hits the ground with one end spins, and flies on with the energy that the blow has left it: its weight
 * alone acts on it then. */
static void blows_are_over_when_they_are(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    const bo_touch_obstacle ground = slope(0, 0.5);
    prepare_bars(&b, ctx, 1, 1e-4, true);
    b.parts[0].position[2] = 1.2, b.parts[0].locked = true;
    turn(&b.parts[0], -0.5);
    grow_bars(&b);
    touch(&b, &ground, 0, NULL, 0.5);
    b.state->roots[0].velocity[2] = -8;
    check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
    const double start = energy_of(&b);
    double last = start, worst = 0, spin = 0;
    int32_t hits = 0, flies = 0;
    for (int step = 0; step < 60; step++) {
        double deepest = 0;
        check_ok(ctx, bough_tree_step(ctx, b.model, b.state, 1.0 / 240));
        const bool hit = sum_of_forces(&b, &deepest).z > 0;
        const double now = energy_of(&b);
        if (!hit && hits > 0)
            worst = fmax(worst, fabs(now - last) / last), flies++;
        hits += hit, last = now;
        spin = fmax(spin, bo_norm(bo_load3(b.state->roots[0].angular_velocity)));
    }
    check(hits > 0 && flies > 5 && spin > 10 && last < 0.9 * start);
    check_below(worst, 1e-7);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

/* A stiff bar on a slope slides as Coulomb says, or holds. Two in one line do so, too, but for the creep by which friction
 * holds trees of several parts: e (1 - sqrt(1 - tan a / mu)). */
static void bars_slide_as_coulomb_says(void **state) {
    (void)state;
    const struct {
        double degrees, friction;
        int32_t count;
    } cases[] = {{15, 0.1, 1}, {30, 0.3, 1}, {45, 0.6, 1}, {20, 0.6, 1}, {30, 0.3, 2}, {20, 0.6, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bough_context *ctx = test_context(1);
        bars b;
        const double a = cases[k].degrees * acos(-1) / 180, mu = cases[k].friction, dt = 1.0 / 240;
        const bo_touch_obstacle hill = slope(cases[k].degrees, mu);
        prepare_bars(&b, ctx, cases[k].count, 1e-3, true);
        turn(&b.parts[0], a);
        turn(&b.parts[1], 0);
        b.parts[1].scale = 1;
        const double lift = 0.125 + 1e-5;
        b.parts[0].position[0] = lift * sin(a), b.parts[0].position[2] = lift * cos(a);
        grow_bars(&b);
        touch(&b, &hill, 0, NULL, mu);
        double v[3], t[3];
        for (int i = 0; i < 3; i++) {
            const double until = 0.4 + 0.2 * i;
            while (b.state->time < until - 1e-9)
                check_ok(ctx, bough_tree_step(ctx, b.model, b.state, dt));
            const double *P = b.state->roots[0].momentum;
            v[i] = (P[0] * cos(a) - P[2] * sin(a)) / b.state->roots[0].mass, t[i] = b.state->time;
        }
        const double slides = 9.81 * (sin(a) - mu * cos(a));
        if (slides > 0)
            check_near((v[2] - v[0]) / (t[2] - t[0]) / slides, 1, 5e-3);
        else if (cases[k].count == 1)
            check_below(fabs(v[2]), 1e-9);
        else
            check_near(v[2] / 1e-3, 1 - sqrt(1 - tan(a) / mu), 0.02);
        clear_bars(&b);
        bough_context_destroy(ctx);
    }
}

/* ---- stones ---- */

/* Two trees without weight: bars that hang on each other, and a rigid one that others touch as a sphere. */
static void throw_stone(bars *b, bough_context *ctx, int32_t count, double friction, double heavier) {
    prepare_bars(b, ctx, count, 0, true);
    memset(b->def.gravity, 0, sizeof b->def.gravity);
    bough_component *stone = cook_one(ctx, 0, 0.5, 0, true);
    bough_part_def *part = &b->parts[count];
    *part = bough_default_part_def();
    part->component = 2, part->scale = heavier;
    part->position[0] = 0.2, part->position[1] = 0.03, part->position[2] = 0.125 + 0.25 * heavier + 0.2;
    const bough_component *components[3] = {b->root, b->limb, stone};
    b->def.component_count = 3, b->def.components = components, b->def.parts = b->parts, b->def.part_count = count + 1;
    check_ok(ctx, bough_tree_model_create(ctx, &b->def, &b->model));
    check_ok(ctx, bough_tree_state_create(ctx, b->model, &b->state));
    b->stone = stone;
    const bo_tree_solid solid = {.part = count,
                                 .shape = {.kind = BO_OBSTACLE_SPHERE,
                                           .radius = 0.25 * heavier,
                                           .pose = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0, 0, 0}}}};
    touch(b, NULL, 1, &solid, friction);
    b->state->roots[1].velocity[2] = -2, b->state->roots[1].velocity[0] = 0.7;
    b->state->roots[1].angular_velocity[1] = 3;
    check_ok(ctx, bough_tree_state_update(ctx, b->model, b->state));
}

static void clear_stone(bars *b) {
    bough_component *stone = b->stone;
    clear_bars(b);
    bough_component_destroy(b->ctx, stone);
}

/* Things that collide keep their momenta together, linear and angular, with friction and without; energy is lost. */
static void collisions_keep_momenta(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        bough_context *ctx = test_context(1);
        bars b;
        throw_stone(&b, ctx, 1 + 2 * (k / 2), k % 2 ? 0.6 : 0, k == 3 ? 0.5 : 1);
        double P[3] = {0}, L[3] = {0}, hit = 0, before = energy_of(&b), last = before, gained = 0;
        for (int r = 0; r < 2; r++)
            for (int d = 0; d < 3; d++)
                P[d] += b.state->roots[r].momentum[d], L[d] += b.state->roots[r].angular_momentum[d];
        for (int step = 0; step < 240; step++) {
            double deepest = 0;
            check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
            hit = fmax(hit, bo_norm(sum_of_forces(&b, &deepest)));
            const double now = energy_of(&b);
            gained = fmax(gained, now - last), last = now;
        }
        check(hit > 100);
        check_below(gained / before, 0.03);
        check(last < before);
        for (int d = 0; d < 3; d++) {
            const double *p = b.state->roots[0].momentum, *q = b.state->roots[1].momentum;
            const double *l = b.state->roots[0].angular_momentum, *m = b.state->roots[1].angular_momentum;
            check_near((p[d] + q[d] - P[d]) / fabs(P[2]), 0, 1e-13);
            check_near((l[d] + m[d] - L[d]) / fabs(L[1]), 0, 1e-12);
        }
        check(fabs(b.state->roots[0].momentum[2]) > 1);
        clear_stone(&b);
        bough_context_destroy(ctx);
    }
}

/* The forces of contacts are found by an elimination of their own, with the parts that touch alone: what they foresee of
 * the points is what all parts then do. Trees with joints, offsets and parts that are locked, and stones. */
static void forces_do_what_they_were_found_for(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        bough_context *ctx = test_context(1);
        bars b;
        const bo_touch_obstacle ground = slope(0, 0.5);
        const bool flies = k % 2;
        prepare_bars(&b, ctx, 6, 1e-4, flies);
        for (int i = 1; i < 6; i++)
            b.parts[i].offset[1] = k > 1 ? 0.05 * i : 0;
        if (k > 1)
            b.parts[2].joint = hinge_about(0, 1, 0.3, 4, 0.1), b.parts[3].locked = true;
        b.parts[0].position[2] = 0.6;
        turn(&b.parts[0], -0.2);
        grow_bars(&b);
        touch(&b, &ground, 0, NULL, 0.5);
        double worst = 0;
        int32_t touched = 0;
        for (int step = 0; step < 150; step++) {
            if (bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL) != BOUGH_OK)
                break;
            const bo_tree_touch *t = bo_tree_work_of(b.state)->touch;
            if (t->point_count == 0 || !t->answered || t->pushes)
                continue;
            check(bo_tree_touch_answer(bo_tree_now(b.model, b.state), bo_tree_work_of(b.state)));
            for (size_t i = 0; i < t->point_count; i++) {
                const bo_tree_point *point = &t->points[i];
                const double is = bo_dot(point->axes[0], point->moves), foreseen = point->answer[0];
                if (point->force[0] > 0)
                    worst = fmax(worst, fabs(is - foreseen) / (1 + fabs(foreseen))), touched++;
            }
        }
        check(touched > 10);
        check_below(worst, 1e-9);
        clear_bars(&b);
        bough_context_destroy(ctx);
    }
}

/* ---- together with the rest ---- */

/* A state that is put back in the middle of a contact goes on with the same bits. */
static void snapshots_know_contacts(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    const bo_touch_obstacle ground = slope(0, 0.5);
    prepare_bars(&b, ctx, 3, 1e-4, true);
    b.parts[0].position[2] = 0.3;
    grow_bars(&b);
    touch(&b, &ground, 0, NULL, 0.5);
    for (int step = 0; step < 80 || (step < 200 && bough_tree_state_contacts(b.state, 0, NULL) == 0); step++)
        check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
    check(bough_tree_state_contacts(b.state, 0, NULL) > 0); /* bars that shake leave the ground at times */
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    unsigned char *kept = malloc(size), *first = malloc(size), *second = malloc(size);
    bough_tree_state_save(b.model, b.state, kept);
    for (int round = 0; round < 2; round++) {
        for (int step = 0; step < 40; step++)
            check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
        bough_tree_state_save(b.model, b.state, round ? second : first);
        check_ok(ctx, bough_tree_state_restore(ctx, b.model, b.state, kept, size));
    }
    check(memcmp(first, second, size) == 0);
    free(kept), free(first), free(second);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

/* A part that is cut off falls, and lies on the ground with its weight, while the rest hangs on. */
static void what_is_cut_off_lands(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    prepare_bars(&b, ctx, 3, 2e-4, false);
    b.parts[0].position[2] = 0.8;
    grow_bars(&b);
    bough_obstacle_def ground = bough_default_obstacle_def();
    bough_shape_def plane = bough_default_shape_def();
    plane.kind = BOUGH_SHAPE_PLANE;
    ground.shape_count = 1, ground.shapes = &plane;
    bough_tree_touch_def def = bough_default_tree_touch_def();
    def.obstacle_count = 1, def.obstacles = &ground;
    check_ok(ctx, bough_tree_state_touch(ctx, b.model, b.state, &def));
    check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
    const bough_change cut = {.kind = BOUGH_CHANGE_DETACH, .part = 1};
    check_ok(ctx, bough_tree_state_change(ctx, b.model, b.state, 1, &cut));
    bo_vec3 sum = bo_v3(0, 0, 0);
    double deepest = 0;
    int32_t counted = 0;
    while (b.state->time < 4) {
        check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
        if (b.state->time > 3)
            sum = bo_add(sum, sum_of_forces(&b, &deepest)), counted++;
    }
    check_int(b.state->root_count, 1);
    check_near(sum.z / counted / (9.81 * b.state->roots[0].mass), 1, 1e-5);
    check(b.state->roots[0].centre[2] > 0.05 && b.state->roots[0].centre[2] < 0.5);
    bough_run_contact contact;
    check(bough_tree_state_contacts(b.state, 1, &contact) > 0);
    check(contact.things[0] > 0 && contact.things[1] == -1);
    check_ok(ctx, bough_tree_state_touch(ctx, b.model, b.state, NULL));
    check_int(bough_tree_state_contacts(b.state, 1, &contact), 0);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

/* Things that cannot be are refused with a sentence, and leave the state as it was. */
static void wrong_contacts_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    const bo_touch_obstacle ground = slope(0, 0.5);
    prepare_bars(&b, ctx, 2, 1e-4, true);
    b.parts[0].position[2] = 0.05; /* in the ground */
    grow_bars(&b);
    bough_tree_solid solid = {.part = 0, .shape = bough_default_shape_def()};
    bough_tree_touch_def def = bough_default_tree_touch_def();
    def.solid_count = 1, def.solids = &solid;
    solid.shape.kind = BOUGH_SHAPE_PLANE;
    check_fails(ctx, bough_tree_state_touch(ctx, b.model, b.state, &def), BOUGH_ERROR_UNSUPPORTED,
                "reach parts everywhere");
    solid.shape.kind = BOUGH_SHAPE_SPHERE, solid.shape.radius = 0.1;
    solid.part = 7;
    check_int(bough_tree_state_touch(ctx, b.model, b.state, &def), BOUGH_ERROR_ARGUMENT);
    def.solid_count = 0, def.friction = -1;
    check_int(bough_tree_state_touch(ctx, b.model, b.state, &def), BOUGH_ERROR_ARGUMENT);
    check_int(bough_tree_state_touch(ctx, b.model, b.state, &(bough_tree_touch_def){0}), BOUGH_ERROR_ARGUMENT);
    bo_tree_touch_def inside = bo_default_tree_touch_def();
    inside.obstacle_count = 1, inside.obstacles = &ground, inside.most_contacts = 3;
    check_ok(ctx, bo_tree_state_touch(ctx, b.model, b.state, &inside));
    check_fails(ctx, bough_tree_step(ctx, b.model, b.state, 1.0 / 240), BOUGH_ERROR_UNSUPPORTED,
                "more than 3 points touch");
    check_near(b.state->time, 0, 0);
    touch(&b, &ground, 0, NULL, 0.5);
    b.state->coupling = BOUGH_COUPLING_L1;
    check_fails(ctx, bough_tree_step(ctx, b.model, b.state, 1.0 / 240), BOUGH_ERROR_UNSUPPORTED, "the coupling L3");
    clear_bars(&b);
    bough_context_destroy(ctx);
}

/* Energies that a step has looked at are told again only as long as they are those of the state: one that is restored,
 * pushed elsewhere, or under another weight, is measured anew. */
static void energies_are_those_of_now(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bars b;
    const bo_touch_obstacle ground = slope(0, 0.5);
    prepare_bars(&b, ctx, 3, 1e-4, true);
    b.parts[0].position[2] = 0.4;
    turn(&b.parts[0], -0.3);
    grow_bars(&b);
    b.def.components = (const bough_component *const[2]){b.root, b.limb};
    touch(&b, &ground, 0, NULL, 0.5);
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    void *bytes = malloc(size);
    int32_t told = 0;
    for (int i = 0; i < 200; i++) {
        bough_tree_energies now, anew;
        check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
        told += bo_tree_work_of(b.state)->measured;
        check_ok(ctx, bough_tree_state_energies(ctx, b.model, b.state, &now));
        bough_tree_state_save(b.model, b.state, bytes);
        check_ok(ctx, bough_tree_state_restore(ctx, b.model, b.state, bytes, size));
        check_ok(ctx, bough_tree_state_energies(ctx, b.model, b.state, &anew));
        check_near(now.kinetic, anew.kinetic, 1e-9 * anew.kinetic + 1e-15);
        check_near(now.elastic, anew.elastic, 1e-9 * anew.elastic + 1e-15);
        check_near(now.gravity, anew.gravity, 1e-12 * fabs(anew.gravity));
        for (int k = 0; k < 3; k++) {
            check_near(now.momentum[k], anew.momentum[k], 1e-9);
            check_near(now.angular_momentum[k], anew.angular_momentum[k], 1e-9);
        }
    }
    check(told > 20);
    bough_tree_energies light, heavy;
    for (int i = 0; i < 100 && !bo_tree_work_of(b.state)->measured; i++)
        check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
    check(bo_tree_work_of(b.state)->measured);
    check_ok(ctx, bough_tree_state_energies(ctx, b.model, b.state, &light));
    b.state->gravity[2] *= 2;
    check_ok(ctx, bough_tree_state_energies(ctx, b.model, b.state, &heavy));
    check_near(heavy.gravity, 2 * light.gravity, 1e-12 * fabs(light.gravity));
    b.state->gravity[2] /= 2;
    b.state->v[0] += 1;
    check_ok(ctx, bough_tree_state_energies(ctx, b.model, b.state, &heavy));
    check(heavy.kinetic > light.kinetic);
    b.state->v[0] -= 1;
    for (int i = 0; i < 3; i++)
        b.state->stiffness[i] *= 2;
    check_ok(ctx, bough_tree_state_energies(ctx, b.model, b.state, &heavy));
    check_near(heavy.elastic, 4 * light.elastic, 1e-9 * light.elastic);
    free(bytes);
    clear_bars(&b);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_falls_comes_to_rest),
                                       cmocka_unit_test(blows_are_over_when_they_are),
                                       cmocka_unit_test(bars_slide_as_coulomb_says),
                                       cmocka_unit_test(collisions_keep_momenta),
                                       cmocka_unit_test(forces_do_what_they_were_found_for),
                                       cmocka_unit_test(snapshots_know_contacts),
                                       cmocka_unit_test(what_is_cut_off_lands),
                                       cmocka_unit_test(wrong_contacts_are_refused),
                                       cmocka_unit_test(energies_are_those_of_now)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
