/* bough retarget on the examples of robots: what their pages say of vibrations, and of a glass that spills. */
#include "program.h"

static void copy_example(const char *name) {
    char from[400];
    size_t size;
    snprintf(from, sizeof from, "%s/examples/%s/scene.json", BOUGH_SOURCE_DIR, name);
    unsigned char *text = test_read(from, &size);
    mkdir(work(""), 0700);
    test_write(work("scene.json"), text, size);
    free(text);
}

/* cm: a deviation in the answer of bough retarget. */
static double deviation(const json_t *answer, const char *way, const char *body, const char *which) {
    const json_t *of = json_object_get(json_object_get(json_object_get(answer, "deviations"), way), body);
    check(json_is_real(json_object_get(of, which)));
    return 100 * json_number_value(json_object_get(of, which));
}

static void one_rod_stands_still_in_the_pauses(void **state) {
    (void)state;
    if (TEST_SANITIZED)
        test_skip("dozens of simulations are too slow in this build");
    copy_example("one-rod");
    check_run(0, "retarget", "scene.json", "--json");
    json_t *answer = json_loads(out, 0, NULL);
    check(answer && json_is_true(json_object_get(answer, "converged")));
    check_near(deviation(answer, "animation", "weight", "pause_rms"), 17.5, 0.2);
    check_below(deviation(answer, "retargeted", "weight", "pause_rms"), 0.04);
    check_below(deviation(answer, "retargeted", "weight", "rms"), 0.12);
    check(deviation(answer, "ZVD", "weight", "rms") > 1);
    json_decref(answer);
}

static void two_rods_stand_still_at_the_end(void **state) {
    (void)state;
    if (TEST_SANITIZED)
        test_skip("dozens of simulations are too slow in this build");
    copy_example("two-rods");
    check_run(0, "retarget", "scene.json", "--json");
    json_t *answer = json_loads(out, 0, NULL);
    check(answer && json_is_true(json_object_get(answer, "converged")));
    check_near(deviation(answer, "animation", "weight", "end_rms"), 5.4, 0.2);
    check_below(deviation(answer, "retargeted", "weight", "end_rms"), 0.05);
    check_below(deviation(answer, "retargeted", "motor", "end_rms"), 0.05);
    check_below(deviation(answer, "retargeted", "weight", "end_peak"), 0.25);
    json_decref(answer);
}

/* ---- the glass ---- */

/* Degrees between the axis of the glass and gravity as the drink feels it, at most: the surface of the drink is tilted
 * by so much against the rim, if it follows at once. */
static double largest_tilt(const char *record) {
    static const char *const names[] = {"surface.x", "surface.y",  "surface.z",  "bottom.x",  "bottom.y",
                                        "bottom.z",  "surface.vx", "surface.vy", "surface.vz"};
    double *x[9], most = 0;
    int rows;
    double *t = test_column(work(record), "time", &rows);
    for (int k = 0; k < 9; k++)
        x[k] = test_column(work(record), names[k], &rows);
    for (int i = 1; i + 1 < rows; i++) {
        double axis = 0, felt = 0, both = 0;
        for (int d = 0; d < 3; d++) {
            const double up = x[d][i] - x[3 + d][i],
                         a = (x[6 + d][i + 1] - x[6 + d][i - 1]) / (t[i + 1] - t[i - 1]) + (d == 2 ? 9.81 : 0);
            axis += up * up, felt += a * a, both += up * a;
        }
        most = fmax(most, acos(fmin(both / sqrt(axis * felt), 1)));
    }
    for (int k = 0; k < 9; k++)
        free(x[k]);
    free(t);
    return most * 180 / M_PI;
}

/* The glass is 60 mm wide and filled to 25 mm below its rim: it spills when the surface tilts by more than 40 degrees.
 * The first place of the bar; with --long, all of them. */
static void the_bartender_spills_nothing(void **state) {
    (void)state;
    const double spills = atan(0.025 / 0.03) * 180 / M_PI, seconds = test_long() ? 8.5 : 2.2;
    if (TEST_SANITIZED)
        test_skip("dozens of simulations are too slow in this build");
    mkdir(work(""), 0700);
    check_run(0, "example", "bartender", "-o", "bar");
    json_t *scene = json_load_file(work("bar/scene.json"), 0, NULL);
    json_object_set_new(json_object_get(scene, "time"), "duration", json_real(seconds));
    check(json_dump_file(scene, work("bar/short.json"), 0) == 0);
    json_decref(scene);
    check_run(0, "run", "bar/short.json", "--record", "before.csv");
    check_run(0, "retarget", "bar/short.json", "--scene", "bar/calm.json");
    check_run(0, "run", "bar/calm.json", "--record", "after.csv");
    const double before = largest_tilt("before.csv"), after = largest_tilt("after.csv");
    print_message("the drink tilts by %.1f degrees before and %.1f after; it spills at %.1f\n", before, after, spills);
    check(before > spills);
    check_below(after, spills);
    check_near(before, test_long() ? 76 : 46.1, 1);
    check_near(after, test_long() ? 33 : 25.7, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_rod_stands_still_in_the_pauses),
                                       cmocka_unit_test(two_rods_stand_still_at_the_end),
                                       cmocka_unit_test(the_bartender_spills_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
