/* A feedback keeps a rod from vibrating that is not quite the one its curves were made for. */
#include "turning_rod.h"

#include "retarget/feedback.h"

#define DT 2e-3
#define DEGREE (M_PI / 180)
enum { TURNED = 355, EARLY = TURNED + 50, LATE = TURNED + 250, STEPS = LATE + 500 }; /* the shaped turn ends first */

static const variant other_rod = {0.105, 0.9, INFINITY}; /* 5 % more weight, 10 % less stiffness */

typedef struct {
    bough_component *component;
    build *nominal;
    shaped_turn turn; /* of the nominal rod: ZV for its modes */
    bo_feedback *feedback;
} setup;

static bough_frame_def tip_frame(void) {
    bough_frame_def tip = bough_default_frame_def();
    tip.body = TIP;
    return tip;
}

/* wishes: weights and patience; NULL: those that are usual. */
static setup open_setup(variant v, const bo_feedback_def *wishes) {
    setup s = {.component = cook_turning_rod(), .turn = plain_turn()};
    build *b = s.nominal = make_turning_rod(s.component, v);
    const bough_frame_def tip = tip_frame();
    bo_vibration found[BO_SHAPER_MODES];
    int32_t count;
    drive_with(b, &s.turn);
    check_ok(b->ctx,
             bo_vibrations_to_shape(b->ctx, b->model, b->state, TURN_START + 0.5 * TURN_TIME, 1, &tip, &count, found));
    check_ok(b->ctx, bo_shaper_make(b->ctx, BO_SHAPER_ZV, count, found, &s.turn.shaper));
    bo_feedback_def def = wishes ? *wishes : bo_default_feedback_def();
    def.every = 0.2, def.pose_count = 5, def.frame_count = 1, def.frames = &tip, def.dt = DT;
    check_ok(b->ctx, bo_feedback_design(b->ctx, b->model, b->state, &def, &s.feedback));
    for (int32_t k = 0; k < s.feedback->pose_count; k++) {
        check(s.feedback->mode_counts[k] > 0);
        check_below(s.feedback->radius[k], exp(-DT / 0.5)); /* decays within half a second */
    }
    return s;
}

static void close_setup(setup *s) {
    bo_feedback_destroy(s->nominal->ctx, s->feedback);
    free_build(s->nominal);
    free_turning_rod(s->component);
}

typedef struct {
    double early, late;  /* m: vibration of the tip from 0.1 to 0.5 s after the turn, and from 0.5 to 1.5 s */
    double added;        /* m: late, of its distance from the tip of the nominal rod */
    double most, in_end; /* rad: the largest correction, and the largest in the last 0.2 s */
} outcome;

static void push_tip(build *b, double speed) {
    b->state->v[6 * TIP + 2] = speed;
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    bough_multibody_restart(b->state);
}

/* A plant and the nominal rod side by side. */
static outcome run_plant(setup *s, variant v, bool feedback, double speed) {
    build *a = s->nominal, *b = make_turning_rod(s->component, v);
    shaped_turn turn = s->turn;
    bo_correction c;
    outcome o = {0};
    range early = {0}, late = {0}, added = {0};
    check_ok(b->ctx, bo_correction_make(b->ctx, s->feedback, &c));
    renew_state(a);
    drive_with(a, &s->turn), drive_with(b, &turn);
    if (speed != 0)
        push_tip(b, speed);
    for (int k = 0; k < STEPS; k++) {
        if (feedback)
            bo_feedback_command(s->feedback, k * DT, a->state->u, a->state->v, b->state->u, b->state->v, &c);
        turn.place = c.place[0], turn.rate = c.rate[0];
        take_step(a, DT), take_step(b, DT);
        o.most = fmax(o.most, fabs(turn.place));
        if (k >= STEPS - 100)
            o.in_end = fmax(o.in_end, fabs(turn.place));
        if (k >= EARLY)
            widen(k < LATE ? &early : &late, position_of(b, TIP));
        if (k >= LATE)
            widen(&added, bo_sub(position_of(b, TIP), position_of(a, TIP)));
    }
    o.early = half_range(&early), o.late = half_range(&late), o.added = half_range(&added);
    bo_correction_free(b->ctx, &c);
    free_build(b);
    return o;
}

static void print_outcome(const char *name, const outcome *o) {
    printf("%s: vibrates by %.4f cm until half a second after the turn, then by %.4f cm (%.4f cm against the nominal "
           "rod); "
           "correction up to %.4f deg, %.4f deg in the end\n",
           name, 100 * o->early, 100 * o->late, 100 * o->added, o->most / DEGREE, o->in_end / DEGREE);
}

static void another_rod_is_kept_from_vibrating(void **unused) {
    (void)unused;
    setup s = open_setup(nominal_rod, NULL);
    const outcome nominal = run_plant(&s, nominal_rod, false, 0);
    const outcome without = run_plant(&s, other_rod, false, 0), with = run_plant(&s, other_rod, true, 0);
    print_outcome("the nominal rod", &nominal);
    print_outcome("another rod", &without);
    print_outcome("another rod with feedback", &with);
    check_below(with.early, without.early / 2);
    check_below(with.late, without.late / 6);
    check_below(with.added, without.added / 10);
    check_below(with.most, 2 * DEGREE);     /* near its curve, */
    check_below(with.in_end, 0.1 * DEGREE); /* and on it, though the heavier tip sags */
    close_setup(&s);
}

static void the_nominal_rod_is_left_alone(void **unused) {
    (void)unused;
    setup s = open_setup(nominal_rod, NULL);
    const outcome same = run_plant(&s, nominal_rod, true, 0);
    print_outcome("the nominal rod with feedback", &same);
    check_below(same.most, 1e-9);
    close_setup(&s);
}

/* The tip begins at half a metre a second. */
static void a_push_dies_away(void **unused) {
    (void)unused;
    setup s = open_setup(nominal_rod, NULL);
    const outcome without = run_plant(&s, nominal_rod, false, 0.5), with = run_plant(&s, nominal_rod, true, 0.5);
    print_outcome("a push", &without);
    print_outcome("a push with feedback", &with);
    check_below(with.added, without.added / 200);
    check_below(with.most, 2 * DEGREE);
    check_below(with.in_end, 1e-3 * DEGREE);
    close_setup(&s);
}

/* Without an end of patience the sag of a heavier tip keeps the motor away from its curve. */
static void constant_differences_are_left_alone(void **unused) {
    (void)unused;
    bo_feedback_def def = bo_default_feedback_def();
    def.patience = INFINITY;
    setup s = open_setup(nominal_rod, &def);
    const outcome with = run_plant(&s, other_rod, true, 0);
    print_outcome("another rod with endless patience", &with);
    check_near(with.in_end, 0.56 * DEGREE, 0.2 * DEGREE);
    close_setup(&s);
}

static void weights_matter_little(void **unused) {
    (void)unused;
    if (TEST_SANITIZED)
        test_skip("more runs of the kind above are too slow in this build");
    double least = INFINITY, most = 0;
    for (int i = 0; i < 4; i++) {
        bo_feedback_def def = bo_default_feedback_def();
        def.place = i % 2 ? 10 : 0.1, def.effort = i / 2 ? 10 : 0.1;
        setup s = open_setup(nominal_rod, &def);
        const outcome with = run_plant(&s, other_rod, true, 0);
        least = fmin(least, with.late), most = fmax(most, with.late);
        close_setup(&s);
    }
    printf("weights from 0.1 to 10: vibration from %.4f cm to %.4f cm\n", 100 * least, 100 * most);
    check_below(most, 0.006);
}

/* Frequencies a fifth lower, and a quarter higher, than those of the design. */
static void very_different_rods_are_held_too(void **unused) {
    (void)unused;
    if (TEST_SANITIZED)
        test_skip("more runs of the kind above are too slow in this build");
    const variant rods[2] = {{0.12, 0.75, INFINITY}, {0.08, 1.3, INFINITY}};
    setup s = open_setup(nominal_rod, NULL);
    for (int i = 0; i < 2; i++) {
        const outcome without = run_plant(&s, rods[i], false, 0), with = run_plant(&s, rods[i], true, 0);
        print_outcome(i ? "a light rod" : "a heavy rod", &without);
        print_outcome(i ? "a light rod with feedback" : "a heavy rod with feedback", &with);
        check_below(with.late, without.late / 3);
        check_below(with.in_end, 0.2 * DEGREE);
    }
    close_setup(&s);
}

/* A motor that gives way by a degree or so under the weight. */
static void motors_that_give_way_are_told_likewise(void **unused) {
    (void)unused;
    const variant soft = {0.1, 1, 40}, other = {0.105, 0.9, 40};
    setup s = open_setup(soft, NULL);
    const outcome without = run_plant(&s, other, false, 0), with = run_plant(&s, other, true, 0);
    print_outcome("with a soft motor", &without);
    print_outcome("with a soft motor and feedback", &with);
    check_below(with.late, without.late / 4);
    check_below(with.added, without.added / 6);
    check_below(with.most, 2 * DEGREE);
    check_below(with.in_end, 0.1 * DEGREE);
    close_setup(&s);
}

/* ---- two motors ---- */

/* A second motor at the end of the rod turns a second one about another axis. */
static build *make_two_rods(const bough_component *component, double tip_mass) {
    const double length = default_rod().length;
    const bo_vec3 small = bo_v3(2e-5, 2e-5, 2e-5);
    build *b = start_build();
    add_body(b, 0.05, small, place_at(bo_v3(0, 0, 0)));
    add_body(b, 0.05, small, place_at(bo_v3(length, 0, 0)));
    add_body(b, 0.05, small, place_at(bo_v3(length, 0, 0)));
    add_body(b, tip_mass, small, place_at(bo_v3(2 * length, 0, 0)));
    add_motor(b, add_hinge(b, BOUGH_WORLD, 0, bo_v3(0, 0, 0), bo_v3(0, 1, 0)), 0);
    add_motor(b, add_hinge(b, 1, 2, bo_v3(length, 0, 0), bo_v3(0, 0.3, 1)), 0);
    for (int k = 0; k < 2; k++) {
        bough_flexible_def *part = &b->parts[add_part(b, component, 2 * k, place_at(bo_v3(k * length, 0, 0)))];
        part->damping_stiffness = 2e-4, part->stiffness = 5 - 2 * k;
        weld_tip(b, k, 2 * k + 1);
    }
    test_weigh(b->def.gravity);
    finish_build(b);
    return b;
}

static void stay(void *data, int32_t motor, double t, double *place, double *rate) {
    const bo_correction *c = data;
    (void)t;
    *place = c->place[motor], *rate = c->rate[motor];
}

/* The distance of the tip from its place at rest, root mean square in the last 0.2 s of one, after a push. */
static double push_two(build *b, const bo_feedback *f, const double *u, const double *v, double *in_end) {
    bo_correction c;
    check_ok(b->ctx, bo_correction_make(b->ctx, f, &c));
    renew_state(b);
    b->state->drive = stay, b->state->drive_data = &c;
    check_ok(b->ctx, bough_multibody_settle(b->ctx, b->model, b->state));
    const bo_vec3 rest = position_of(b, 3);
    double sum = 0;
    bo_store3(b->state->v + 6 * 3, bo_v3(0, 0.3, 0.3));
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    bough_multibody_restart(b->state);
    *in_end = 0;
    for (int k = 0; k < 1000; k++) {
        if (u)
            bo_feedback_command(f, k * f->dt, u, v, b->state->u, b->state->v, &c);
        take_step(b, f->dt);
        const bo_vec3 d = bo_sub(position_of(b, 3), rest);
        sum += k >= 800 ? bo_dot(d, d) : 0;
        for (int m = 0; m < 2; m++)
            *in_end = k >= 800 ? fmax(*in_end, fabs(c.place[m])) : 0;
    }
    bo_correction_free(b->ctx, &c);
    return sqrt(sum / 200);
}

/* Modes of both rods together, and a plant whose tip is 5 % heavier. */
static void two_motors_work_together(void **unused) {
    (void)unused;
    bough_component *component = cook_turning_rod();
    build *a = make_two_rods(component, 0.1), *b = make_two_rods(component, 0.105);
    bough_frame_def tip = bough_default_frame_def();
    bo_feedback_def def = bo_default_feedback_def();
    bo_feedback *f;
    tip.body = 3;
    def.frames = &tip, def.frame_count = 1, def.dt = 1e-3;
    check_ok(a->ctx, bough_multibody_settle(a->ctx, a->model, a->state));
    check_ok(a->ctx, bo_feedback_design(a->ctx, a->model, a->state, &def, &f));
    double ignored, in_end;
    const double without = push_two(b, f, NULL, NULL, &ignored);
    const double with = push_two(b, f, a->state->u, a->state->v, &in_end);
    printf(
        "two motors, %d modes, radius %.5f: %.4f cm without, %.4f cm with feedback; correction %.4f deg in the end\n",
        f->mode_counts[0], f->radius[0], 100 * without, 100 * with, in_end / DEGREE);
    check_below(with, without / 20);
    check_below(in_end, 0.02 * DEGREE);
    bo_feedback_destroy(a->ctx, f);
    free_build(a), free_build(b);
    free_turning_rod(component);
}

/* ---- refusals ---- */

static void wrong_wishes_are_refused(void **unused) {
    (void)unused;
    bough_component *component = cook_turning_rod();
    build *b = make_turning_rod(component, nominal_rod);
    bo_feedback *f;
    bo_feedback_def def = bo_default_feedback_def();
    def.pose_count = 0;
    check_fails(b->ctx, bo_feedback_design(b->ctx, b->model, b->state, &def, &f), BOUGH_ERROR_ARGUMENT, "a pose");
    def = bo_default_feedback_def(), def.dt = 0;
    check_fails(b->ctx, bo_feedback_design(b->ctx, b->model, b->state, &def, &f), BOUGH_ERROR_ARGUMENT, "above 0");
    def = bo_default_feedback_def(), def.effort = NAN;
    check_fails(b->ctx, bo_feedback_design(b->ctx, b->model, b->state, &def, &f), BOUGH_ERROR_ARGUMENT, "weights");
    def = bo_default_feedback_def(), def.patience = 0;
    check_fails(b->ctx, bo_feedback_design(b->ctx, b->model, b->state, &def, &f), BOUGH_ERROR_ARGUMENT, "patience");
    def = bo_default_feedback_def(), def.mode_count = 17;
    check_fails(b->ctx, bo_feedback_design(b->ctx, b->model, b->state, &def, &f), BOUGH_ERROR_ARGUMENT, "1 to 16");
    check(f == NULL);
    free_build(b);
    free_turning_rod(component);
}

static void memory_may_run_out(void **unused) {
    (void)unused;
    bough_component *component = cook_turning_rod();
    build *b = make_turning_rod(component, nominal_rod);
    bo_feedback_def def = bo_default_feedback_def();
    bool done = false;
    for (long at = 0; !done; at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        const long before = memory.live;
        bo_feedback *f;
        memory.fail_at = memory.calls + at;
        const bough_status status = bo_feedback_design(ctx, b->model, b->state, &def, &f);
        done = memory.calls <= memory.fail_at;
        memory.fail_at = -1;
        if (done)
            check_ok(ctx, status);
        else
            check_int(status, BOUGH_ERROR_MEMORY);
        bo_feedback_destroy(ctx, f);
        check_int(memory.live, before);
        bough_context_destroy(ctx);
    }
    free_build(b);
    free_turning_rod(component);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_rod_is_kept_from_vibrating),
                                       cmocka_unit_test(the_nominal_rod_is_left_alone),
                                       cmocka_unit_test(a_push_dies_away),
                                       cmocka_unit_test(constant_differences_are_left_alone),
                                       cmocka_unit_test(weights_matter_little),
                                       cmocka_unit_test(very_different_rods_are_held_too),
                                       cmocka_unit_test(motors_that_give_way_are_told_likewise),
                                       cmocka_unit_test(two_motors_work_together),
                                       cmocka_unit_test(wrong_wishes_are_refused),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
