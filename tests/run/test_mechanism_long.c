/* Mechanisms over minutes of simulated time: nothing is gained, nothing comes apart, and what rests stays where it is.
 * In ./bough test --long; otherwise some seconds of each. */
#include "play.h"

#include <math.h>

typedef struct {
    const char *path, *engine;
    double seconds, lead; /* simulated in a long test; and until motors and forces have ended */
    double gap;           /* largest error of a joint */
    const char *still;    /* a probe that rests then */
    double creep;         /* m in a minute */
} subject;

/* The last four of the hand and the walker touch things; the reduced ones stop where their search for impulses does
 * (1e-5 of the speeds at which things would meet), which is a creep of a few micrometres in a second. */
static const subject subjects[] = {
    {"arm/scene.json", "mechanism", 180, 20, 0.03, "tool", 1e-9},
    {"arm/scene.json", "full", 60, 20, 1e-9, "tool", 1e-9},
    {"helix/scene.json", "mechanism", 180, 20, 0.03, "tip", 1e-9},
    {"urdf-arm/arm.urdf", "mechanism", 180, 20, 0.01, NULL, 0},
    {"urdf-arm/arm.urdf", "full", 60, 20, 1e-9, NULL, 0},
    {"hand/scene.json", "mechanism", 120, 9, 0.15, "ball", 1e-6},
    {"hand/scene.json", "full", 60, 9, 1e-9, "ball", 2e-5},
    {"walker/scene.json", "mechanism", 120, 10, 0.03, "body", 5e-4},
    {"walker/scene.json", "full", 60, 10, 1e-9, "body", 2e-5},
};

static play begin_example(bough_context *ctx, const subject *s) {
    char path[1000];
    bough_run_def def = bough_default_run_def();
    def.engine = s->engine, def.duration = 1000;
    snprintf(path, sizeof path, "%s/examples/%s", BOUGH_SOURCE_DIR, s->path);
    return begin_file(ctx, path, &def);
}

static void read_place(const play *p, const char *probe, double x[3]) {
    static const char *const axes[3] = {".x", ".y", ".z"};
    char column[64];
    for (int d = 0; d < 3 && probe; d++) {
        snprintf(column, sizeof column, "%s%s", probe, axes[d]);
        x[d] = value(p, column);
    }
}

/* Motors and forces have ended, and springs with dampers are left: total energy only falls, but for what contact gives
 * back of overlaps, a thousandth of the energy that there was; and all comes to rest. */
static void watch(bough_context *ctx, const subject *s, double seconds) {
    play p = begin_example(ctx, s);
    double most_kinetic = 0, start[3] = {0}, end_place[3] = {0}, least = INFINITY, rise = 0, size = 0;
    bool noted = false;
    bough_run_gap now, worst;
    while (value(&p, "time") < seconds - 1e-9) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        const double total = value(&p, "total"), kinetic = value(&p, "kinetic");
        most_kinetic = fmax(most_kinetic, kinetic);
        size = fmax(size, fabs(value(&p, "elastic")) + kinetic + fabs(value(&p, "external")));
        if (value(&p, "time") < s->lead)
            continue;
        if (!noted)
            read_place(&p, s->still, start);
        noted = true;
        least = fmin(least, total);
        rise = fmax(rise, total - least);
    }
    check(bough_run_joint_gap(p.run, &now, &worst));
    read_place(&p, s->still, end_place);
    const double crept = noted ? hypot(hypot(end_place[0] - start[0], end_place[1] - start[1]), end_place[2] - start[2])
                               : 0,
                 minutes = fmax(0, (seconds - s->lead) / 60);
    if (test_long())
        printf("%-18s %-9s %4.0f s: joints %.2g, energy rises %.2g of %.2g J, kinetic at the end %.2g of %.2g J, crept "
               "%.2g m\n",
               s->path, s->engine, seconds, worst.error, rise, size, value(&p, "kinetic"), most_kinetic, crept);
    check_below(worst.error, s->gap);
    check_below(rise, 1e-3 * size);
    if (noted) {
        check_below(value(&p, "kinetic"), 1e-6 * most_kinetic);
        check_below(crept, s->creep * minutes + 1e-6);
    }
    end(ctx, &p);
}

static void minutes_pass(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        watch(ctx, &subjects[i], test_long() ? subjects[i].seconds : 0.5);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(minutes_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
