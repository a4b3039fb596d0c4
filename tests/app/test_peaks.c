/* The largest stress of parts, by which they break, beside the full body's: what the benchmark finds. */
#include "program.h"

#include "../../bench/bench_peaks.h"

/* Nine parts of ten within a tenth, none off by more than a quarter. It takes a minute or more. */
static void peaks_are_those_of_the_full_body(void **state) {
    (void)state;
    if (!test_long())
        test_skip("takes minutes: ./bough test --long");
    json_t *answer;
    check_json(answer, 0, "bench", "stress", "--json");
    const json_t *peaks = json_object_get(answer, "peaks");
    check(number(peaks, "parts") == 96);
    check(number(peaks, "within_tenth") >= 0.9 * number(peaks, "parts"));
    check_below(number(peaks, "worst"), 0.25);
    check_below(number(peaks, "median"), 0.03);
    json_decref(answer);
    check_json(answer, 0, "bench", "peaks", "--json"); /* in swings a few are farther off: docs/validation/stress.md */
    check(number(answer, "parts") == 280);
    check(number(answer, "within_tenth") >= 0.9 * number(answer, "parts"));
    check_below(number(answer, "median"), 0.03);
    json_decref(answer);
}

/* On structures that were made after the method's constants were chosen: a thin mast with two arms, and blades that
 * grow along a stem, whose feet it stretches. */
static void the_neighbours_strain_is_felt(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int within;
        double worst, median;
    } known[] = {{"T", 18, 0.09, 0.015}, {"blades", 15, 0.22, 0.032}};
    bough_context *ctx = app_context(1);
    for (int i = 0; i < 2; i++) {
        bench_peak_sums sums;
        check(bench_peaks_at_rest(ctx, known[i].name, &sums));
        print_message("%s: %d of %d parts within 10 %%, median %.2f %%, worst %.1f %%\n", known[i].name, sums.within,
                      sums.parts, 100 * sums.median, 100 * sums.worst);
        check_int(sums.parts, 18);
        check(sums.within >= known[i].within);
        check_below(sums.worst, known[i].worst);
        check_below(sums.median, known[i].median);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_neighbours_strain_is_felt),
                                       cmocka_unit_test(peaks_are_those_of_the_full_body)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
