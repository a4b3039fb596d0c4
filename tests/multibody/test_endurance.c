/* Runs of minutes: energy and drift stay bounded, and nothing is allocated. ./bough test --long: five minutes each. */
#include "rods.h"

static double duration(void) {
    return test_long() ? 300 : 20;
}

/* Everything that may creep, over a stretch of time. */
typedef struct {
    double highest, lowest; /* energy */
    double drift, norm;     /* norm: of quaternions, less 1 */
} creep;

static void look_at(const build *b, creep *c) {
    const double energy = energy_of(b);
    c->highest = fmax(c->highest, energy), c->lowest = fmin(c->lowest, energy);
    c->drift = fmax(c->drift, b->state->drift);
    for (int32_t i = 0; i < b->def.body_count; i++) {
        const double *q = b->state->u + 7 * i + 3;
        c->norm = fmax(c->norm, fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1));
    }
}

static creep watch(build *b, double seconds, double dt) {
    creep c = {.highest = -INFINITY, .lowest = INFINITY};
    for (int i = 0; i < (int)lround(seconds / dt); i++) {
        take_step(b, dt);
        look_at(b, &c);
    }
    return c;
}

/* A build whose allocations are counted. */
static build *start_counted_build(test_memory *memory) {
    build *b = start_build();
    bough_context_destroy(b->ctx);
    *memory = (test_memory){.fail_at = -1};
    b->ctx = test_counting_context(memory);
    return b;
}

static void rods_swing_for_minutes(void **unused) {
    (void)unused;
    static const struct {
        const char *method;
        double loss; /* part of the swing's energy that may be lost in a minute */
    } cases[] = {{NULL, 0.01}, {"generalised-alpha", 1e-3}};
    bough_context *ctx = test_context(1);
    const rod_def rod = default_rod();
    bough_component *component = cook_rod(ctx, &rod);
    for (int m = 0; m < 2; m++) {
        test_memory memory;
        build *b = start_counted_build(&memory);
        const bo_se3 lean = {bo_exp3(bo_v3(0, M_PI / 2 - 1, 0)), {0, 0, 0}}; /* 1 rad from where it hangs */
        const bo_se3 tip = {lean.R, bo_se3_apply(lean, bo_v3(rod.length, 0, 0))};
        add_body(b, 0.2, bo_v3(1e-3, 1e-3, 1e-3), lean);
        add_body(b, 0.1, bo_v3(2e-5, 2e-5, 2e-5), tip);
        add_hinge(b, BOUGH_WORLD, 0, bo_v3(0, 0, 0), bo_v3(0, 1, 0));
        add_part(b, component, 0, lean);
        weld_tip(b, 0, 1);
        b->def.gravity[2] = -9.81;
        finish_build(b);
        use_method(b, cases[m].method);
        const double start = energy_of(b), swing = 0.1 * 9.81 * rod.length * (1 - cos(1)), dt = 2e-3;
        const creep first = watch(b, 5, dt);
        const long calls = memory.calls;
        const creep rest = watch(b, duration() - 5, dt);
        check_int(memory.calls, calls);
        check_below((fmax(first.highest, rest.highest) - start) / swing, 1e-7);
        check_below((start - rest.lowest) / swing, cases[m].loss * duration() / 60);
        check_below(fmax(first.drift, rest.drift), 2e-5);
        check_below(rest.drift, 1.2 * first.drift + 1e-9);
        check_below(rest.norm, 1e-12);
        free_build(b);
    }
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
}

static void turn(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data, (void)motor;
    *place += 2 * M_PI * time, *rate = 2 * M_PI;
}

/* A crank and rocker in a plane: one turn each second, and each is like the one before. */
static void four_bars_turn_for_minutes(void **unused) {
    (void)unused;
    test_memory memory;
    build *b = start_counted_build(&memory);
    const bo_vec3 A = {0, 0, 0}, B = {0, 0.1, 0}, C = {0.36, 0.3, 0}, D = {0.4, 0, 0}, Z = {0, 0, 1};
    add_link(b, 0.2, A, B), add_link(b, 0.4, B, C), add_link(b, 0.3, D, C);
    add_motor(b, add_hinge(b, BOUGH_WORLD, 0, A, Z), 0);
    add_hinge(b, 0, 1, B, Z), add_hinge(b, 1, 2, C, Z), add_hinge(b, 2, BOUGH_WORLD, D, Z);
    b->def.gravity[1] = -9.81;
    finish_build(b);
    b->state->drive = turn;
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    const creep first = watch(b, 2, 2e-3);
    const double energy = energy_of(b), place = position_of(b, 2).x;
    double forces[6], now[6];
    bough_multibody_joint_wrench(b->model, b->state, 1, forces);
    const long calls = memory.calls;
    creep rest = first;
    for (int i = 2; i < (int)duration(); i++) {
        rest = watch(b, 1, 2e-3);
        b->state->time = i + 1; /* 150,000 sums of 2 ms are 0.1 ns off, which the crank would show */
        check_near(energy_of(b), energy, 1e-11 * fabs(energy));
        check_near(position_of(b, 2).x, place, 1e-8);
        bough_multibody_joint_wrench(b->model, b->state, 1, now);
        check_near(hypot(now[0] - forces[0], now[1] - forces[1]), 0, 1e-8);
    }
    check_int(memory.calls, calls);
    check_below(rest.drift, 5e-5);
    check_below(rest.drift, 1.05 * first.drift);
    check_below(rest.norm, 1e-12);
    free_build(b);
}

/* A wheel that turns a hundred thousand times: angles are still counted, and its axis has not moved. */
static void wheels_turn_on_and_on(void **unused) {
    (void)unused;
    build *b = start_build();
    add_body(b, 1, bo_v3(0.01, 0.01, 0.02), place_at(bo_v3(0.1, 0.2, 0.3)));
    add_hinge(b, BOUGH_WORLD, 0, bo_v3(0.1, 0.2, 0.3), bo_v3(1, 2, 3));
    const bo_vec3 axis = bo_scale(1 / sqrt(14), bo_v3(1, 2, 3));
    bo_store3(b->bodies[0].twist + 3, bo_scale(100, axis));
    finish_build(b);
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    const double rate = rate_of(b, 0, 0), energy = energy_of(b);
    const creep c = watch(b, duration(), 1e-3);
    check_below((c.highest - energy) / energy, 1e-8);
    check_near(rate_of(b, 0, 0) / rate, 1, 1e-8);
    check_below(c.norm, 1e-12);
    check_near(coordinate_of(b, 0, 0) / (rate * duration()), 1, 2e-3);
    check_below(c.drift, 1e-8);
    free_build(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rods_swing_for_minutes),
                                       cmocka_unit_test(four_bars_turn_for_minutes),
                                       cmocka_unit_test(wheels_turn_on_and_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
