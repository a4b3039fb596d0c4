/* The largest stress of parts, by which they break, beside the full body's: what the benchmark finds. */
#include "program.h"

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
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(peaks_are_those_of_the_full_body)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
