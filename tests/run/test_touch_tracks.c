/* Parts on tracks that are pressed onto things: the track pays for all that contact takes. */
#include "play.h"

#include <math.h>

/* A rod hangs askew from a base that a track brings down, so that its end stands on the ground, slides away and bends. */
#define ROD(keys, time)                                                                                                \
    "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'rod', 'type': 'hex8', 'length': 0.5, 'radius': 0.03, "  \
    "'cells': [10, 2]}, 'material': {'young': 1e6, 'density': 1000}, 'damping': {'stiffness': 0.01}, 'interfaces': "   \
    "{'base': {'select': 'bottom'}}, 'basis': {'r': 8}}}, 'parts': [{'name': 'rod', 'component': 'rod', 'track': "     \
    "[" keys "]}], 'gravity': [0, 0, -9.81], 'obstacles': [{'name': 'ground', 'shape': {'plane': true}}], 'contact': " \
    "{'friction': 0}, 'probes': [{'name': 'ground', 'contact': 'ground'}], 'time': " time "}"
#define KEY(time, z, turn) "{'time': " time ", 'position': [0, 0, " z "], 'rotate_deg': [0, " turn ", 0]}"

/* Damping takes energy and contact without friction none: the balance falls, and the track does not lower the whole weight,
 * of which the ground bears a part. */
static void a_track_pays_for_what_it_presses(void **unused) {
    (void)unused;
    static const char *const texts[] = {
        ROD(KEY("0", "0.35", "110") "," KEY("2", "0.15", "110"), "{'dt': 0.004, 'duration': 2.5}"),
        ROD(KEY("0", "0.35", "110") "," KEY("2", "0.15", "110"),
            "{'integrator': 'newmark', 'dt': 0.002, 'duration': 2.5}")};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        bough_context *ctx = test_context(1);
        const bough_run_def def = bough_default_run_def();
        play p = begin_file(ctx, write_scene("pressed.json", texts[k]), &def);
        bough_run_report report;
        double least = 0, rise = 0, borne = 0, before = 0;
        for (int i = 0; bough_run_look(p.run, &report), report.steps < report.step_count; i++) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            const double balance = value(&p, "balance");
            least = fmin(least, balance), rise = fmax(rise, balance - least);
            borne -= value(&p, "ground.fz") * report.dt;
            before = balance;
        }
        printf("work %g J, balance %g J, which rises by %g J; impulse of the ground %g N s\n", value(&p, "work"),
               before, rise, borne);
        check(borne > 8);
        check_below(rise,
                    0.01 * fabs(value(&p, "work"))); /* 0.09 of it while the track let the ground work for nothing */
        check(report.retries == 0);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* The base of a rod is led down until the rod lies on the ground beside it: no step is refused for energy that the track
 * has brought. */
static void a_rod_is_laid_down(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    play p = begin_file(ctx,
                        write_scene("laid_down.json", ROD(KEY("0", "0.35", "80") "," KEY("1", "0.02", "80"),
                                                          "{'dt': 0.004, 'duration': 1.5}")),
                        &def);
    bough_run_report report;
    check_ok(ctx, bough_run_advance(ctx, p.run));
    bough_run_look(p.run, &report);
    printf("%lld steps refused; %g J done, balance %g J\n", (long long)report.retries, report.work, report.balance);
    check(value(&p, "ground.points") > 0);
    check(report.balance < 0.01 * fabs(report.work));
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_track_pays_for_what_it_presses),
                                       cmocka_unit_test(a_rod_is_laid_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
