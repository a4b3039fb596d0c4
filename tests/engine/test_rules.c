/* Rules that hold for every state of the library alike: how long forces live, and that nothing acts unless it is named.
 */
#include "mechanism/moving.h"
#include "tree/bars.h"

#include <bough/bough.h>

/* One of the ways to step something. Functions of the table know which arrays of it they use. */
typedef struct {
    bough_context *ctx;
    sketch *s;
    bars bars;
    moving m;
    bough_mechanism_stepper *stepper;
    bough_full_mechanism *full;
    bough_mechanism_blend *blend;
    bough_blend_state *blended;
    bough_contact_world *world;
} thing;

typedef struct {
    const char *name;
    void (*make)(thing *t);
    double *(*gravity)(thing *t);
    void (*push)(thing *t, const double force[3]);
    void (*clear)(thing *t); /* writes zeros where forces are kept */
    bough_status (*step)(thing *t, double dt);
    void (*look)(thing *t, double seen[6]); /* where it is, and how it moves */
} subject;

/* ---- trees ---- */

static void make_tree(thing *t) {
    prepare_bars(&t->bars, t->ctx, 3, 1e-3, false);
    const bough_tree_model_def def = bough_default_tree_model_def();
    memcpy(t->bars.def.gravity, def.gravity, sizeof def.gravity);
    grow_bars(&t->bars);
}
static void make_integrated_tree(thing *t) {
    make_tree(t);
    const bough_integrator_def def = bough_default_integrator_def();
    check_ok(t->ctx, bough_tree_state_use_integrator(t->ctx, t->bars.model, t->bars.state, &def));
}
static double *gravity_of_tree(thing *t) {
    return t->bars.state->gravity;
}
static void push_tree(thing *t, const double force[3]) {
    check_ok(t->ctx, bough_tree_state_add_force(t->ctx, t->bars.model, t->bars.state, 2, 7, force));
}
static void clear_tree(thing *t) {
    bough_tree_state_clear_forces(t->bars.model, t->bars.state);
}
static bough_status step_tree(thing *t, double dt) {
    return bough_tree_step(t->ctx, t->bars.model, t->bars.state, dt);
}
static bough_status advance_tree(thing *t, double dt) {
    return bough_tree_advance(t->ctx, t->bars.model, t->bars.state, dt, NULL);
}
static void look_at_tree(thing *t, double seen[6]) {
    check_ok(t->ctx, bough_tree_state_vertex(t->ctx, t->bars.model, t->bars.state, 2, 7, seen, seen + 3));
}

/* ---- mechanisms ---- */

static void make_mechanism(thing *t) {
    t->s = fork_of_links(2, 3, BOUGH_JOINT_BALL);
    check_ok(t->ctx, bough_mechanism_create(t->ctx, &t->s->def, &t->m.mechanism));
}
static void make_reduced(thing *t) {
    make_mechanism(t);
    check_ok(t->ctx, bough_mechanism_statics_create(t->ctx, t->m.mechanism, NULL, &t->m.statics));
    check_ok(t->ctx, bough_mechanism_model_create(t->ctx, t->m.mechanism, t->m.statics, NULL, &t->m.model));
    check_ok(t->ctx, bough_mechanism_state_create(t->ctx, t->m.model, &t->m.state));
}
static void make_integrated(thing *t) {
    make_reduced(t);
    check_ok(t->ctx, bough_mechanism_stepper_create(t->ctx, t->m.model, t->m.state, NULL, &t->stepper));
}
static double *gravity_of_reduced(thing *t) {
    return t->m.state->gravity;
}
/* At an end effector, and on a link. */
static void push_reduced(thing *t, const double force[3]) {
    const double none[3] = {0};
    bough_mechanism_state_push(t->m.model, t->m.state, 0, force, none);
    bough_mechanism_state_push_link(t->m.model, t->m.state, 2, none, force, none);
}
static void clear_reduced(thing *t) {
    memset(t->m.state->wrench, 0, 6 * (size_t)t->m.model->end_effector_count * sizeof(double));
    memset(t->m.state->load, 0, (size_t)t->m.model->rank * sizeof(double));
    memset(t->m.state->base_wrench, 0, sizeof t->m.state->base_wrench);
}
static bough_status step_reduced(thing *t, double dt) {
    return bough_mechanism_step(t->ctx, t->m.model, t->m.state, dt);
}
static bough_status step_integrated(thing *t, double dt) {
    return bough_mechanism_stepper_step(t->ctx, t->stepper, dt);
}
static void look_at_reduced(thing *t, double seen[6]) {
    memcpy(seen, t->m.state->xi, 3 * sizeof(double));
    memcpy(seen + 3, t->m.state->phi, 3 * sizeof(double));
}

/* Its base flies, and is pushed too. */
static void make_flying(thing *t) {
    t->s = fork_of_links(2, 3, BOUGH_JOINT_BALL);
    t->s->def.free_base = true;
    check_ok(t->ctx, bough_mechanism_create(t->ctx, &t->s->def, &t->m.mechanism));
    check_ok(t->ctx, bough_mechanism_statics_create(t->ctx, t->m.mechanism, NULL, &t->m.statics));
    check_ok(t->ctx, bough_mechanism_model_create(t->ctx, t->m.mechanism, t->m.statics, NULL, &t->m.model));
    check_ok(t->ctx, bough_mechanism_state_create(t->ctx, t->m.model, &t->m.state));
}
static void push_base(thing *t, const double force[3]) {
    for (int d = 0; d < 3; d++)
        t->m.state->base_wrench[d] += force[d];
}
static void look_at_base(thing *t, double seen[6]) {
    memcpy(seen, t->m.state->base.position, 3 * sizeof(double));
    memcpy(seen + 3, t->m.state->base_twist, 3 * sizeof(double));
}

static void make_blended(thing *t) {
    make_mechanism(t);
    check_ok(t->ctx, bough_mechanism_blend_create(t->ctx, t->m.mechanism, NULL, &t->blend));
    check_ok(t->ctx, bough_blend_state_create(t->ctx, t->blend, &t->blended));
}
static double *gravity_of_blended(thing *t) {
    return t->blended->gravity;
}
static void push_blended(thing *t, const double force[3]) {
    for (int d = 0; d < 3; d++)
        t->blended->wrench[d] += force[d];
}
static void clear_blended(thing *t) {
    memset(t->blended->wrench, 0, 6 * (size_t)t->s->def.end_effector_count * sizeof(double));
}
static bough_status step_blended(thing *t, double dt) {
    return bough_blend_state_step(t->ctx, t->blend, t->blended, dt);
}
static void look_at_blended(thing *t, double seen[6]) {
    memcpy(seen, t->blended->effectors[0].position, 3 * sizeof(double));
    memcpy(seen + 3, t->blended->phi, 3 * sizeof(double));
}

static void make_full(thing *t) {
    make_mechanism(t);
    check_ok(t->ctx, bough_full_mechanism_create(t->ctx, t->m.mechanism, &t->full));
}
static double *gravity_of_full(thing *t) {
    return t->full->gravity;
}
static void push_full(thing *t, const double force[3]) {
    for (int d = 0; d < 3; d++)
        t->full->loads[d] += force[d];
}
static void clear_full(thing *t) {
    memset(t->full->loads, 0, 6 * (size_t)t->s->def.end_effector_count * sizeof(double));
}
static bough_status step_full(thing *t, double dt) {
    return bough_full_mechanism_step(t->ctx, t->full, dt);
}
static void look_at_full(thing *t, double seen[6]) {
    const int32_t link = t->s->effectors[0].body;
    memcpy(seen, t->full->poses[link].position, 3 * sizeof(double));
    memcpy(seen + 3, t->full->twists + 6 * (size_t)link, 3 * sizeof(double));
}

/* ---- contact worlds: a body alone, and actors ---- */

static void make_body(thing *t) {
    bough_contact_world_def def = bough_default_contact_world_def();
    const bough_rigid_body_def body = bough_default_rigid_body_def();
    def.body_count = 1, def.bodies = &body;
    check_ok(t->ctx, bough_contact_world_create(t->ctx, &def, &t->world));
}
static void surround(thing *t, bough_contact_actor actor) {
    bough_contact_world_def def = bough_default_contact_world_def();
    def.actor_count = 1, def.actors = &actor;
    check_ok(t->ctx, bough_contact_world_create(t->ctx, &def, &t->world));
}
static void make_reduced_actor(thing *t) {
    bough_contact_actor actor;
    const bough_touch_def touch = bough_default_touch_def();
    make_reduced(t);
    check_ok(t->ctx, bough_mechanism_actor_create(t->ctx, t->m.model, t->m.state, 1, &touch, &actor));
    surround(t, actor);
}
static void make_blended_actor(thing *t) {
    bough_contact_actor actor;
    const bough_touch_def touch = bough_default_touch_def();
    make_blended(t);
    check_ok(t->ctx, bough_blend_actor_create(t->ctx, t->blend, t->blended, 1, &touch, &actor));
    surround(t, actor);
}
static void make_full_actor(thing *t) {
    bough_contact_actor actor;
    const bough_touch_def touch = bough_default_touch_def();
    make_full(t);
    check_ok(t->ctx, bough_full_actor_create(t->ctx, t->full, 1, &touch, &actor));
    surround(t, actor);
}
static double *gravity_of_world(thing *t) {
    return t->world->gravity;
}
static void push_body(thing *t, const double force[3]) {
    for (int d = 0; d < 3; d++)
        t->world->bodies[0].force[d] += force[d], t->world->bodies[0].torque[d] += force[d];
}
static void clear_body(thing *t) {
    memset(t->world->bodies[0].force, 0, sizeof t->world->bodies[0].force);
    memset(t->world->bodies[0].torque, 0, sizeof t->world->bodies[0].torque);
}
static bough_status step_world(thing *t, double dt) {
    return bough_contact_world_step(t->ctx, t->world, dt);
}
static void look_at_body(thing *t, double seen[6]) {
    memcpy(seen, t->world->bodies[0].velocity, 3 * sizeof(double));
    memcpy(seen + 3, t->world->bodies[0].spin, 3 * sizeof(double));
}

/* ---- all of them ---- */

static const subject subjects[] = {
    {"a tree", make_tree, gravity_of_tree, push_tree, clear_tree, step_tree, look_at_tree},
    {"a tree, advanced", make_tree, gravity_of_tree, push_tree, clear_tree, advance_tree, look_at_tree},
    {"a tree by an integrator", make_integrated_tree, gravity_of_tree, push_tree, clear_tree, step_tree, look_at_tree},
    {"a reduced mechanism", make_reduced, gravity_of_reduced, push_reduced, clear_reduced, step_reduced,
     look_at_reduced},
    {"a reduced mechanism by an integrator", make_integrated, gravity_of_reduced, push_reduced, clear_reduced,
     step_integrated, look_at_reduced},
    {"a free base", make_flying, gravity_of_reduced, push_base, clear_reduced, step_reduced, look_at_base},
    {"a blend", make_blended, gravity_of_blended, push_blended, clear_blended, step_blended, look_at_blended},
    {"a full mechanism", make_full, gravity_of_full, push_full, clear_full, step_full, look_at_full},
    {"a body", make_body, gravity_of_world, push_body, clear_body, step_world, look_at_body},
    {"a reduced mechanism among others", make_reduced_actor, gravity_of_reduced, push_reduced, clear_reduced,
     step_world, look_at_reduced},
    {"a blend among others", make_blended_actor, gravity_of_blended, push_blended, clear_blended, step_world,
     look_at_blended},
    {"a full mechanism among others", make_full_actor, gravity_of_full, push_full, clear_full, step_world,
     look_at_full},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static thing make(const subject *kind) {
    thing t = {.ctx = test_context(1)};
    print_message("%s\n", kind->name);
    kind->make(&t);
    return t;
}

static void drop(thing *t) {
    bough_contact_world_destroy(t->ctx, t->world);
    bough_full_mechanism_destroy(t->ctx, t->full);
    bough_blend_state_destroy(t->ctx, t->blended);
    bough_mechanism_blend_destroy(t->ctx, t->blend);
    bough_mechanism_stepper_destroy(t->ctx, t->stepper);
    stop(t->ctx, t->m);
    if (t->bars.model)
        clear_bars(&t->bars);
    free(t->s);
    bough_context_destroy(t->ctx);
}

static const double force[3] = {0.4, -0.3, 0.5};
static const double dt = 0.002;

/* Pushed once, it steps twice; or something happens before each of the steps. */
typedef void (*deed)(const subject *kind, thing *t);
static void try_twice(const subject *kind, deed first, deed second, double seen[6]) {
    thing t = make(kind);
    if (first)
        first(kind, &t);
    check_ok(t.ctx, kind->step(&t, dt));
    if (second)
        second(kind, &t);
    check_ok(t.ctx, kind->step(&t, dt));
    kind->look(&t, seen);
    drop(&t);
}

static void push(const subject *kind, thing *t) {
    kind->push(t, force);
}
static void push_in_halves(const subject *kind, thing *t) {
    const double half[3] = {0.5 * force[0], 0.5 * force[1], 0.5 * force[2]};
    kind->push(t, half);
    kind->push(t, half);
}
static void clear(const subject *kind, thing *t) {
    kind->clear(t);
}
static void push_and_fail(const subject *kind, thing *t) {
    double *g = kind->gravity(t);
    const double kept = g[1];
    kind->push(t, force);
    check(kind->step(t, -1) != BOUGH_OK);
    g[1] = NAN;
    check(kind->step(t, dt) != BOUGH_OK);
    g[1] = kept;
}

static bool same(const double a[6], const double b[6]) {
    return !memcmp(a, b, 6 * sizeof *a);
}

static void forces_act_in_one_step_and_are_gone(void **unused) {
    (void)unused;
    for (int i = 0; i < SUBJECTS; i++) {
        double once[6], cleared[6], twice[6], never[6];
        try_twice(&subjects[i], push, NULL, once);
        try_twice(&subjects[i], push, clear, cleared);
        try_twice(&subjects[i], push, push, twice);
        try_twice(&subjects[i], NULL, NULL, never);
        check(same(once, cleared));
        check(!same(once, twice));
        check(!same(once, never));
    }
}

static void forces_add_up(void **unused) {
    (void)unused;
    for (int i = 0; i < SUBJECTS; i++) {
        double once[6], halves[6];
        try_twice(&subjects[i], push, NULL, once);
        try_twice(&subjects[i], push_in_halves, NULL, halves);
        for (int k = 0; k < 6; k++)
            check_near(halves[k], once[k], 1e-12);
    }
}

static void a_step_that_fails_keeps_the_forces(void **unused) {
    (void)unused;
    for (int i = 0; i < SUBJECTS; i++) {
        double once[6], late[6];
        try_twice(&subjects[i], push, NULL, once);
        try_twice(&subjects[i], push_and_fail, NULL, late);
        check(same(once, late));
    }
}

static void nothing_acts_unless_it_is_named(void **unused) {
    (void)unused;
    for (int i = 0; i < SUBJECTS; i++) {
        thing t = make(&subjects[i]);
        double before[6], after[6];
        const double *g = subjects[i].gravity(&t);
        check(g[0] == 0 && g[1] == 0 && g[2] == 0);
        subjects[i].look(&t, before);
        for (int k = 0; k < 10; k++)
            check_ok(t.ctx, subjects[i].step(&t, dt));
        subjects[i].look(&t, after);
        for (int k = 0; k < 6; k++)
            check_near(after[k], before[k], 1e-12);
        subjects[i].gravity(&t)[2] = -9.81;
        check_ok(t.ctx, subjects[i].step(&t, dt));
        subjects[i].look(&t, after);
        check(!same(before, after));
        drop(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_act_in_one_step_and_are_gone),
        cmocka_unit_test(forces_add_up),
        cmocka_unit_test(a_step_that_fails_keeps_the_forces),
        cmocka_unit_test(nothing_acts_unless_it_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
