/* The oak, the flower, the dragon and the bridge in their wind, letters, station and ring adrift in one, pulled hard
 * for ten minutes of their time: steps that are refused can be taken in halves, and energies stay bounded. Seconds
 * instead of minutes, and an oak with few leaves, in the short run. */
#include "shaken.h"

static bool all_finite(int32_t count, const double *x) {
    for (int32_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* Elastic, kinetic and of height: against the equilibrium if `rest` is its. */
static double energy_above(shaken *s, double rest) {
    const int32_t n = bough_tree_model_size(s->model);
    bough_tree_energies e;
    check(all_finite(n, s->state->q) && all_finite(n, s->state->v) && all_finite(n, s->state->a));
    check_ok(s->ctx, bough_tree_state_energies(s->ctx, s->model, s->state, &e));
    return e.elastic + e.kinetic + e.gravity - rest;
}

typedef struct {
    double most[2]; /* J, in the first and in the second half */
    double mean[2];
} energies;

enum { LOOKS_A_SECOND = 20 };

static energies watch(shaken *s, int32_t rate, double duration) {
    const double rest = energy_above(s, 0);
    const int32_t steps = (int32_t)(rate * duration);
    energies e = {.most = {0}};
    for (int32_t i = 0; i < steps; i++) {
        shake(s, 1.0 / rate);
        if ((i + 1) % (rate / LOOKS_A_SECOND))
            continue;
        const double energy = energy_above(s, rest);
        const int half = i >= steps / 2;
        e.most[half] = fmax(e.most[half], energy);
        e.mean[half] += 2 * energy / (LOOKS_A_SECOND * duration);
    }
    return e;
}

static void check_tied(const char *name, const char *leaves, double reach, int32_t rate, double strength) {
    const double duration = test_long() ? 600 : 5;
    bough_context *ctx = test_context(1);
    shaken s = start_shaking_tied(ctx, make_cooked(name, name, test_long() ? NULL : leaves), reach, 5, strength);
    const double start = seconds_now();
    const energies e = watch(&s, rate, duration);
    print_message(
        "%s, ties x %g, 1/%d s: %.0f s in %.0f s, %d pulls of up to %.3g J, %lld steps refused; energies up to %.3g J "
        "(mean %.3g) in the first half, %.3g J (%.3g) in the second\n",
        name, strength, rate, duration, seconds_now() - start, s.pulls, s.most_work, (long long)s.refused, e.most[0],
        e.mean[0], e.most[1], e.mean[1]);
    stop_shaking(&s);
    bough_context_destroy(ctx);
    /* several pulls may act before what the first one gave is damped away, but not more and more of them */
    check_below(fmax(e.most[0], e.most[1]), 4 * (s.most_work + s.flight));
    if (test_long())
        check_below(e.mean[1], e.mean[0] + 0.5 * fabs(e.mean[0])); /* an arch may stay below its equilibrium */
}

static void check_bounded(const char *name, const char *leaves, double reach, int32_t rate) {
    check_tied(name, leaves, reach, rate, 1);
}

static void the_flower_at_60(void **state) {
    (void)state;
    check_bounded("flower", NULL, 0.2, 60);
}
static void the_flower_at_240(void **state) {
    (void)state;
    check_bounded("flower", NULL, 0.2, 240);
}
static void the_oak_at_60(void **state) {
    (void)state;
    check_bounded("oak", "50", 0.5, 60);
}
static void the_oak_at_240(void **state) {
    (void)state;
    check_bounded("oak", "50", 0.5, 240);
}
/* It takes seconds to cook. */
static void the_dragon_at_60(void **state) {
    (void)state;
    if (!test_long())
        test_skip("takes minutes: ./bough test --long");
    check_bounded("dragon", NULL, 0.4, 60);
}
static void the_dragon_at_240(void **state) {
    (void)state;
    if (!test_long())
        test_skip("takes minutes: ./bough test --long");
    check_bounded("dragon", NULL, 0.4, 240);
}
static void letters_at_60(void **state) {
    (void)state;
    check_bounded("letters", NULL, 0.5, 60);
}
static void letters_at_240(void **state) {
    (void)state;
    check_bounded("letters", NULL, 0.5, 240);
}
static void the_station_at_60(void **state) {
    (void)state;
    check_bounded("station", NULL, 5, 60);
}
static void the_station_at_240(void **state) {
    (void)state;
    check_bounded("station", NULL, 5, 240);
}
/* Loops, with ties from soft to far stiffer than needed. */
static const double strengths[] = {0.01, 1, 100};
static void check_loop(const char *name, double reach, int32_t rate) {
    for (int i = 0; i < 3; i++)
        check_tied(name, NULL, reach, rate, strengths[i]);
}
static void the_bridge_at_60(void **state) {
    (void)state;
    check_loop("bridge", 0.5, 60);
}
static void the_bridge_at_240(void **state) {
    (void)state;
    check_loop("bridge", 0.5, 240);
}
static void the_ring_at_60(void **state) {
    (void)state;
    check_loop("ring", 0.3, 60);
}
static void the_ring_at_240(void **state) {
    (void)state;
    check_loop("ring", 0.3, 240);
}

/* The first word chooses tests: 'the_oak*'. */
int main(int count, char **words) {
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    if (count > 1)
        cmocka_set_test_filter(words[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flower_at_60),   cmocka_unit_test(the_flower_at_240), cmocka_unit_test(the_oak_at_60),
        cmocka_unit_test(the_oak_at_240),     cmocka_unit_test(the_dragon_at_60),  cmocka_unit_test(the_dragon_at_240),
        cmocka_unit_test(letters_at_60),      cmocka_unit_test(letters_at_240),    cmocka_unit_test(the_station_at_60),
        cmocka_unit_test(the_station_at_240), cmocka_unit_test(the_bridge_at_60),  cmocka_unit_test(the_bridge_at_240),
        cmocka_unit_test(the_ring_at_60),     cmocka_unit_test(the_ring_at_240),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
