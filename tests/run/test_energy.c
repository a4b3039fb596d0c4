/* The account of a run's energy: total = total at the start + work - what damping takes, whatever acts. */
#include "run/play.h"

static play begin(bough_context *ctx, const char *text, const bough_run_def *def) {
    return begin_file(ctx, write_scene("energy.json", text), def);
}

#define BAR "'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.25, 0.25], 'cells': [4, 1, 1]}"
#define SOFT "'material': {'model': 'stvk', 'young': 1e5, 'poisson': 0.3, 'density': 1000}"
#define CURVES "'curves': {'shake': [[0, 0], [0.1, 1], [0.3, -1], [0.4, 0]], 'pulse': [[0.05, 0], [0.1, 1], [0.2, 0]]}"

/* Loads on undamped bars that start at rest. */
static const char *const driven_bars[] = {
    "{" BAR ", " SOFT ", " CURVES ", 'fix': {'select': 'x0', 'displacement': [0.05, 0.1, 0], 'curve': 'shake'},"
    "'time': {'integrator': 'midpoint', 'dt': 0.0005, 'duration': 0.5}}",
    "{" BAR ", " SOFT ", " CURVES ", 'fix': 'x0', 'forces': [{'select': 'x1', 'force': [5, 20, 40], 'curve': 'pulse'}],"
    "'gravity': [0, 0, -2], 'time': {'integrator': 'trapezoidal', 'dt': 0.001, 'duration': 0.5}}",
    "{" BAR ", " SOFT ", " CURVES ", 'fix': 'x0', 'pressures': [{'faces': 'z1', 'pressure': 500, 'curve': 'pulse'}],"
    "'time': {'integrator': 'midpoint', 'dt': 0.001, 'duration': 0.5}}",
    "{" BAR ", " SOFT ", 'fix': 'x0', 'pressures': [{'faces': 'z1', 'pressure': 100}],"
    "'time': {'integrator': 'midpoint', 'dt': 0.001, 'duration': 0.5}}",
};

/* Neither more nor less: what was done to an undamped bar is in it, all the way. */
static void all_work_is_found_in_the_energies(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof driven_bars / sizeof *driven_bars; i++) {
        play p = begin(ctx, driven_bars[i], NULL);
        double most = 0, off = 0;
        check(value(&p, "work") == 0 && value(&p, "balance") == 0);
        bough_run_report report;
        do {
            check_ok(ctx, bough_run_step(ctx, p.run));
            most = fmax(most, fabs(value(&p, "work")));
            off = fmax(off, fabs(value(&p, "balance")));
            bough_run_look(p.run, &report);
            check_near(report.balance, report.energy[3] - report.start_energy[3] - report.work, 1e-9);
        } while (report.steps < report.step_count);
        print_message("bar %zu: work up to %g J, balance within %g J\n", i, most, off);
        check(most > 0.1);
        check_below(off, 1e-3 * most);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Damping takes: the balance of a body that is shaken falls and never rises by more than a step's error. */
static void damping_is_what_the_balance_loses(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin(ctx,
                   "{" BAR ", " SOFT ", " CURVES ", 'damping': {'mass': 2, 'stiffness': 1e-3},"
                   "'fix': {'select': 'x0', 'displacement': [0.05, 0.1, 0], 'curve': 'shake'},"
                   "'time': {'integrator': 'midpoint', 'dt': 0.001, 'duration': 2}}",
                   NULL);
    double least = 0, rise = 0;
    for (int i = 0; i < 2000; i++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        rise = fmax(rise, value(&p, "balance") - least);
        least = fmin(least, value(&p, "balance"));
    }
    print_message("work %g J, balance %g J, rise %g J\n", value(&p, "work"), least, rise);
    check(value(&p, "work") > 0.5);
    check_near(value(&p, "balance"), -value(&p, "work"), 0.1 * value(&p, "work")); /* nearly all of it is gone */
    check_below(rise, 2e-3 * value(&p, "work"));
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- mechanisms ---- */

#define LINKS                                                                                                      \
    "'bough': 1, 'links': [{'name': 'foot'}, {'name': 'a', 'position': [0.15, 0, 0], 'density': 700, 'shape': "    \
    "{'capsule': [0.03, 0.3], 'rotate_deg': [0, 90, 0]}}, {'name': 'b', 'position': [0.45, 0, 0], 'density': 700," \
    " 'shape': {'capsule': [0.03, 0.3], 'rotate_deg': [0, 90, 0]}}], 'joints': [{'name': 'j1', 'kind': 'hinge', "  \
    "'parent': 'foot', 'child': 'a', 'position': [0, 0, 0], 'axis': [0, 1, 0], 'stiffness': 200}, {'name': 'j2', " \
    "'kind': 'hinge', 'parent': 'a', 'child': 'b', 'position': [0.3, 0, 0], 'axis': [0, 1, 0], 'stiffness': 150}]" \
    ", 'end_effectors': [{'name': 'tool', 'link': 'b', 'position': [0.6, 0, 0]}]"

/* Drives of undamped arms that start in equilibrium. */
static const char *const driven_arms[] = {
    "{" LINKS ", 'curves': {'turn': [[0, 0], [0.3, 8], [0.6, -3], [1, 0]]}, 'motors': [{'joint': 'j1', 'curve': "
    "'turn', 'degrees': true}], 'settle': true, 'time': {'integrator': 'trapezoidal', 'dt': 0.001, 'duration': 1}}",
    "{" LINKS ", 'forces': [{'end_effector': 'tool', 'force': [0, 0, 3], 'until': 0.2}], 'settle': true,"
    "'time': {'integrator': 'trapezoidal', 'dt': 0.001, 'duration': 1}}",
    "{" LINKS ", 'forces': [{'end_effector': 'tool', 'force': [0, 0, 2], 'torque': [0, 3, 0]}], "
    "'time': {'integrator': 'trapezoidal', 'dt': 0.001, 'duration': 1}}",
};

static void all_work_on_links_is_found_in_the_energies(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof driven_arms / sizeof *driven_arms; i++) {
        play p = begin(ctx, driven_arms[i], NULL);
        double most = 0, off = 0;
        for (int k = 0; k < 1000; k++) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            most = fmax(most, fabs(value(&p, "work")));
            off = fmax(off, fabs(value(&p, "balance")));
        }
        print_message("arm %zu: work up to %g J, balance within %g J\n", i, most, off);
        check(most > 0.01);
        check_below(off, 1e-4 * most);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* The full mechanism loses by backward Euler; smaller steps lose less, and nothing is gained. */
static void smaller_steps_of_a_full_mechanism_lose_less(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double lost[2], work[2];
    for (int fine = 0; fine < 2; fine++) {
        bough_run_def def = bough_default_run_def();
        def.engine = "full", def.integrator = "backward-euler", def.dt = fine ? 0.00025 : 0.001, def.duration = 0.5;
        play p = begin(ctx, driven_arms[0], &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        lost[fine] = -value(&p, "balance"), work[fine] = value(&p, "work");
        end(ctx, &p);
    }
    print_message("lost %g and %g J of %g J\n", lost[0], lost[1], work[1]);
    check(lost[1] > 0 && work[1] > 0.01);
    check_near(lost[0] / lost[1], 4, 1);
    check_near(work[0], work[1], 0.2 * work[1]);
    bough_context_destroy(ctx);
}

/* ---- energy out of nothing ---- */

static bool was_warned;
static void note_warning(void *user, const char *message) {
    (void)user, (void)message;
    was_warned = true;
}

/* An explicit method beyond its stable step, in a material in which nothing is ever not finite. The run ends with a
 * sentence that says what to do, and its last state is one that the account allows. */
static void a_run_that_makes_energy_fails(void **state) {
    (void)state;
    static const char *const text = "{" BAR ", 'material': {'model': 'linear', 'young': 1e6, 'density': 1000}, 'fix': "
                                    "'x0', 'gravity': [0, 0, -5], 'time': {'integrator': 'central-differences', "
                                    "'dt': 0.01, 'duration': 0.4%s}}";
    char path[300], scene[600];
    bough_context_def context = bough_default_context_def();
    context.thread_count = 1, context.warn = note_warning;
    bough_context *ctx = bough_context_create(&context);
    bough_run_report report;
    bough_run_def def = bough_default_run_def();
    snprintf(path, sizeof path, "%s", test_path("gain.state"));
    snprintf(scene, sizeof scene, text, "");
    def.max_halvings = 2, def.checkpoint = path;
    play p = begin(ctx, scene, &def);
    check_fails(ctx, bough_run_advance(ctx, p.run), BOUGH_ENERGY_GAINED, "more than the start and the work done");
    check(strstr(bough_message(ctx), "smaller time step or another integrator") && was_warned);
    bough_run_look(p.run, &report);
    check(report.retries >= 2 && report.time < 0.4);
    const double in_play = report.energy[1] + report.energy[0] + fabs(report.energy[2]);
    check_below(report.balance, 0.05 * in_play + 1e-4 * in_play);
    end(ctx, &p);
    def.checkpoint = NULL, def.energy_tolerance = -1; /* who asks for it gets it */
    p = begin(ctx, scene, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check(value(&p, "balance") > 1e6);
    end(ctx, &p);
    snprintf(scene, sizeof scene, text, ", 'energy_tolerance': 0");
    def.energy_tolerance = 0;
    p = begin(ctx, scene, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    end(ctx, &p);
    def.energy_tolerance = 0.02, def.max_halvings = 10; /* steps that are short enough keep it */
    p = begin(ctx, scene, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_below(fabs(value(&p, "balance")), 0.02 * fabs(value(&p, "external")) + 1);
    end(ctx, &p);
    def.energy_tolerance = NAN;
    check_ok(ctx, bough_scene_load(ctx, write_scene("energy.json", scene), &p.scene));
    check_fails(ctx, bough_run_create(ctx, p.scene, &def, &p.run), BOUGH_ERROR_ARGUMENT, "energy tolerance");
    bough_scene_destroy(ctx, p.scene);
    bough_context_destroy(ctx);
}

/* Work and balance are part of what a checkpoint keeps. */
static void an_account_goes_on_after_a_checkpoint(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *const texts[] = {driven_bars[0], driven_bars[1], driven_arms[0]};
    char path[300];
    snprintf(path, sizeof path, "%s", test_path("account.state"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bough_run_def def = bough_default_run_def();
        def.checkpoint = path, def.duration = 0.1;
        play p = begin(ctx, texts[i], &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        end(ctx, &p);
        def.duration = 0.2, def.checkpoint = NULL;
        play whole = begin(ctx, texts[i], &def);
        check_ok(ctx, bough_run_advance(ctx, whole.run));
        def.resume = path;
        play rest = begin(ctx, texts[i], &def);
        check_ok(ctx, bough_run_advance(ctx, rest.run));
        check(value(&whole, "work") != 0);
        check_near(value(&rest, "work"), value(&whole, "work"), 0);
        check_near(value(&rest, "balance"), value(&whole, "balance"), 0);
        end(ctx, &whole);
        end(ctx, &rest);
    }
    bough_context_destroy(ctx);
}

/* ---- hands ---- */

/* A rigid body that is at rest and gets an impulse p has p^2 / 2m. */
static void a_poke_gives_a_body_its_energy(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.live = true;
    play p = begin(ctx,
                   "{'bough': 1, 'bodies': [{'name': 'ball', 'mass': 2, 'shape': {'sphere': 0.1}}],"
                   "'gravity': [0, 0, 0], 'time': {'dt': 0.01, 'duration': 1}}",
                   &def);
    check_int(bough_run_thing_count(p.run), 1);
    const double impulse[3] = {0.5, 0, 0};
    const bough_look *surface = look_of(&p, 0);
    int32_t vertex = 0;
    for (int32_t v = 0; v < surface->vertex_count; v++) /* through the centre */
        if (surface->vertices[3 * v] > surface->vertices[3 * vertex])
            vertex = v;
    check_ok(ctx, bough_run_poke(ctx, p.run, 0, vertex, impulse));
    check_ok(ctx, bough_run_step(ctx, p.run));
    check_near(value(&p, "kinetic"), 0.5 * 0.25 / 2, 1e-3);
    check_near(value(&p, "work"), 2 * value(&p, "kinetic"), 1e-12); /* backward Euler takes half */
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_work_is_found_in_the_energies),
        cmocka_unit_test(damping_is_what_the_balance_loses),
        cmocka_unit_test(all_work_on_links_is_found_in_the_energies),
        cmocka_unit_test(smaller_steps_of_a_full_mechanism_lose_less),
        cmocka_unit_test(a_run_that_makes_energy_fails),
        cmocka_unit_test(an_account_goes_on_after_a_checkpoint),
        cmocka_unit_test(a_poke_gives_a_body_its_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
