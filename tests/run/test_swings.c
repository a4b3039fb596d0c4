/* Trees that swing for a minute: their steps keep the energy, are of second order, and damp as the full body does. */
#include "play.h"

#include <math.h>

#define BAR(size, cells, r)                                                                                        \
    "{'mesh': {'generate': 'box', 'type': 'hex8', 'size': [" size ", 0.25, 0.25], 'origin': [0, -0.125, -0.125], " \
    "'cells': [" cells ", 2, 2]}, 'material': {'young': 1e7, 'poisson': 0.4, 'density': 1000}, 'interfaces': "     \
    "{'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': " r "}}"
#define TIME(more) "'gravity': [0, 0, -9.81], 'time': {'dt': 0.01, 'duration': 60}" more "}"

/* Three links of a metre, as one beam, and a trunk that forks into twigs. */
static const char chain[] = "{'bough': 1, 'components': {'bar': " BAR(
    "1", "8", "16") "}, 'parts': [{'name': 'a', "
                    "'component': 'bar'}, {'name': 'b', 'component': 'bar', 'parent': 'a', 'interface': 'tip'},"
                    " {'name': 'tip', 'component': 'bar', 'parent': 'b', 'interface': 'tip'}], " TIME("");
static const char beam[] = "{'bough': 1, 'components': {'bar': " BAR(
    "3", "24", "20") "}, 'parts': [{'name': 'tip', 'component': 'bar'}], " TIME("");
static const char fork_text[] = "{'bough': 1, 'components': {'bar': " BAR(
    "1.2", "10", "14") "}, 'parts': [{'name': 'a', 'component': 'bar'}, "
                       "{'name': 'b', 'component': 'bar', 'parent': 'a', 'interface': 'tip', 'rotate_deg': [0, -35, "
                       "0], 'scale': 0.8}, "
                       "{'name': 'c', 'component': 'bar', 'parent': 'a', 'interface': 'tip', 'rotate_deg': [0, 35, 0], "
                       "'scale': 0.7}, "
                       "{'name': 'tip', 'component': 'bar', 'parent': 'b', 'interface': 'tip', 'rotate_deg': [0, 30, "
                       "20], 'scale': 0.5}, "
                       "{'name': 'e', 'component': 'bar', 'parent': 'c', 'interface': 'tip', 'rotate_deg': [0, 20, "
                       "-40], 'scale': 0.5}], " TIME("");

/* The chain with its end on a spring. */
static const char tied[] = "{'bough': 1, 'components': {'bar': " BAR(
    "1", "8", "16") "}, 'parts': [{'name': 'a', "
                    "'component': 'bar'}, {'name': 'b', 'component': 'bar', 'parent': 'a', 'interface': 'tip'},"
                    " {'name': 'tip', 'component': 'bar', 'parent': 'b', 'interface': 'tip'}], 'ties': [{'parts': "
                    "['tip'], 'interfaces': ['tip'], 'stiffness': 1e5}], " TIME("");

typedef struct {
    bough_context *ctx;
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *state;
    int32_t tip, vertex; /* where it is looked at */
} swing;

static swing hang(const char *text) {
    swing s = {.ctx = test_context(1)};
    check_ok(s.ctx, bough_scene_load(s.ctx, write_scene("swing.json", text), &s.scene));
    check_ok(s.ctx, bough_scene_model(s.ctx, s.scene, &s.model));
    check_ok(s.ctx, bough_tree_state_create(s.ctx, s.model, &s.state));
    s.tip = bough_tree_model_find_part(s.model, "tip");
    const bough_part_def *part = &bough_tree_model_describe(s.model)->parts[s.tip];
    const bough_component *c = bough_tree_model_describe(s.model)->components[part->component];
    double most = -INFINITY;
    for (int32_t v = 0; v < c->surface.vertex_count; v++) {
        double x[3], velocity[3];
        check_ok(s.ctx, bough_tree_state_vertex(s.ctx, s.model, s.state, s.tip, v, x, velocity));
        if (x[0] > most + 1e-9)
            most = x[0], s.vertex = v;
    }
    return s;
}

static void take_down(swing *s) {
    bough_tree_state_destroy(s->ctx, s->state);
    bough_tree_model_destroy(s->ctx, s->model);
    bough_scene_destroy(s->ctx, s->scene);
    bough_context_destroy(s->ctx);
}

static void look(const swing *s, double x[3], double v[3]) {
    check_ok(s->ctx, bough_tree_state_vertex(s->ctx, s->model, s->state, s->tip, s->vertex, x, v));
}

/* At rest and straight; dropped with `weight` times its weight, or thrown without any with the speed at its tip, in the
 * shape in which it would sag a little. */
static void set_off(swing *s, double weight, double speed) {
    const size_t n = (size_t)bough_tree_model_size(s->model);
    double x[3], v[3];
    bough_tree_state_destroy(s->ctx, s->state);
    check_ok(s->ctx, bough_tree_state_create(s->ctx, s->model, &s->state));
    if (speed > 0) {
        s->state->gravity[2] *= 0.02;
        check_ok(s->ctx, bough_tree_state_settle(s->ctx, s->model, s->state, NULL, NULL));
        memcpy(s->state->v, s->state->q, n * sizeof(double));
        memset(s->state->q, 0, n * sizeof(double));
        check_ok(s->ctx, bough_tree_state_update(s->ctx, s->model, s->state));
        look(s, x, v);
        const double now = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (size_t k = 0; k < n; k++)
            s->state->v[k] *= speed / now;
    }
    s->state->gravity[2] = -9.81 * weight;
    check_ok(s->ctx, bough_tree_state_update(s->ctx, s->model, s->state));
}

static double total(const swing *s, double *moving) {
    bough_tree_energies e;
    check_ok(s->ctx, bough_tree_state_energies(s->ctx, s->model, s->state, &e));
    *moving = e.kinetic + e.elastic;
    return e.kinetic + e.elastic + e.gravity;
}

typedef struct {
    double end, above, swing; /* in parts of the swing's energy, and that, J */
} drift;

static drift swing_for(swing *s, double seconds, double rate) {
    const int steps = (int)lround(seconds * rate);
    double moving;
    const double start = total(s, &moving);
    drift d = {0, 0, moving};
    double most = 0, last = 0;
    for (int i = 0; i < steps; i++) {
        check_ok(s->ctx, bough_tree_advance(s->ctx, s->model, s->state, 1 / rate, NULL));
        last = total(s, &moving) - start;
        most = fmax(most, last);
        d.swing = fmax(d.swing, i < 8 * rate ? moving : 0);
    }
    d.end = last / d.swing, d.above = most / d.swing;
    return d;
}

/* Requirements on undamped, held trees: 5 % after a minute, 15 % with steps of 1/60 s, never 2 % too much. */
static void check_swing(const char *name, const char *text, double weight, double speed, double rate) {
    swing s = hang(text);
    set_off(&s, weight, speed);
    const drift d = swing_for(&s, 60, rate);
    print_message("%s, %g of its weight, %g m/s, 1/%g s: %+.2f %% after 60 s, at most %+.2f %% (of %.3g J)\n", name,
                  weight, speed, rate, 100 * d.end, 100 * d.above, d.swing);
    check_below(d.above, 0.02);
    if (rate >= 60)
        check_below(fabs(d.end), rate < 120 ? 0.15 : 0.05);
    take_down(&s);
}

static void energy_is_kept_for_a_minute(void **state) {
    (void)state;
    check_swing("chain", chain, 1, 0, 60);
    check_swing("chain", chain, 0, 15, 120);
    check_swing("beam", beam, 1, 0, 60);
    check_swing("fork", fork_text, 1, 0, 30);
    check_swing("chain", chain, 0, 15, 30); /* steps are refused all the time: what is let pass must not add up */
    check_swing("tied chain", tied, 2, 0, 120);
}

static void energy_is_kept_at_any_step_and_speed(void **state) {
    (void)state;
    static const double rates[] = {30, 60, 120, 240, 1000};
    if (!test_long())
        test_skip("takes minutes: ./bough test --long");
    for (int i = 0; i < 5; i++) {
        for (double weight = 0.5; weight <= 2; weight *= 2)
            check_swing("chain", chain, weight, 0, rates[i]);
        for (double speed = 5; speed <= 15; speed += 5)
            check_swing("chain", chain, 0, speed, rates[i]);
        for (double speed = 0; speed <= 15; speed += 5) {
            check_swing("beam", beam, speed == 0, speed, rates[i]);
            check_swing("fork", fork_text, speed == 0, speed, rates[i]);
        }
        check_swing("tied chain", tied, 2, 0, rates[i]);
    }
}

/* Leaves of two blades, 0.1 m each and 2 or 0.5 mm thick, thrown at their ends: thin parts are stiff along, which long
 * steps miss. They may lose what they have, but never gain. */
static void thin_leaves_gain_nothing(void **state) {
    (void)state;
    static const double thickness[] = {0.002, 0.002, 0.0005}, speed[] = {1, 3, 3}, rates[] = {30, 60, 120};
    for (int i = 0; i < 3; i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "{'bough': 1, 'components': {'blade': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.1, 0.02, "
            "%g], 'cells': [16, 4, 1]}, 'material': {'young': 1e8, 'poisson': 0.3, 'density': 700}, 'interfaces': "
            "{'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 16}}}, 'parts': [{'name': 'a', "
            "'component': 'blade'}, {'name': 'tip', 'component': 'blade', 'parent': 'a', 'interface': 'tip'}], " TIME(
                ""),
            thickness[i]);
        swing s = hang(text);
        for (int k = 0; k < 3; k++) {
            set_off(&s, 0, speed[i]);
            const drift d = swing_for(&s, 20, rates[k]);
            print_message("leaf of %g mm, %g m/s, 1/%g s: %+.2f %% after 20 s, at most %+.2f %%\n", 1e3 * thickness[i],
                          speed[i], rates[k], 100 * d.end, 100 * d.above);
            check_below(d.above, 0.02);
        }
        take_down(&s);
    }
}

/* Settings of a second of motion. */
typedef struct {
    double speed;       /* thrown at, m/s; 0: let down by weight that comes smoothly */
    const char *method; /* NULL: the tree's own */
} motion;

enum { SAMPLES = 30 };

/* Steps a second that make the track; with a sixteenth of that and fewer it is compared. */
static int fine(void) {
    return test_long() ? 15360 : 3840;
}

static void go(swing *s, const motion *m, double rate) {
    const double share = m->method ? 0.5 : 1 + s->state->alpha; /* of the step, where it takes forces */
    if (m->speed == 0) {
        const double x = fmin((s->state->time + share / rate) / 0.8, 1);
        s->state->gravity[2] = -0.5 * 9.81 * x * x * x * (10 - 15 * x + 6 * x * x);
    }
    check_ok(s->ctx, bough_tree_step(s->ctx, s->model, s->state, 1 / rate));
}

/* Root mean square of how far the tip is from its track, over a second; fine steps make the track. m */
static double error_of(swing *s, const motion *m, int rate, double *track) {
    double sum = 0;
    set_off(s, 0, m->speed);
    if (m->method) {
        bough_integrator_def def = bough_default_integrator_def();
        def.name = m->method, s->state->passes = 2;
        check_ok(s->ctx, bough_tree_state_use_integrator(s->ctx, s->model, s->state, &def));
    }
    for (int i = 0; i < SAMPLES; i++) {
        double x[3], v[3];
        for (int k = 0; k < rate / SAMPLES; k++)
            go(s, m, rate);
        look(s, x, v);
        for (int d = 0; d < 3; d++) {
            if (rate == fine())
                track[3 * i + d] = x[d];
            sum += pow(x[d] - track[3 * i + d], 2);
        }
    }
    return sqrt(sum / SAMPLES);
}

/* Motion that the steps can follow: weight grows from nothing to half, and the tip goes down by 0.7 to 1 m. */
static void steps_are_of_second_order(void **state) {
    (void)state;
    static const struct {
        const char *name, *text;
    } trees[] = {{"chain", chain}, {"beam", beam}, {"fork", fork_text}, {"tied chain", tied}};
    for (int t = 0; t < 4; t++) {
        swing s = hang(trees[t].text);
        double track[3 * SAMPLES], last = 0;
        error_of(&s, &(motion){0, NULL}, fine(), track);
        for (int rate = 30; rate <= fine() / 16; rate *= 2) {
            const double error = error_of(&s, &(motion){0, NULL}, rate, track);
            print_message("%s let down: tip off by %.3g mm at 1/%d s, order %.2f\n", trees[t].name, 1e3 * error, rate,
                          last > 0 ? log2(last / error) : NAN);
            check(rate == 30 || last > exp2(1.8) * error);
            check_below(error, 1e-3 * 900 / (rate * rate)); /* 1 mm at 1/30 s */
            last = error;
        }
        take_down(&s);
    }
}

/* A throw also wakes vibrations that no step of 1/60 s follows. One pass is then as good as the implicit midpoint rule,
 * that solves for all it looks at. */
static void one_pass_is_as_good_as_the_midpoint_rule(void **state) {
    (void)state;
    static const char *const trees[] = {beam, fork_text};
    for (int t = 0; t < 2; t++) {
        swing s = hang(trees[t]);
        double track[3 * SAMPLES];
        error_of(&s, &(motion){5, NULL}, fine(), track);
        for (int rate = 60; rate <= fine() / 16; rate *= 2) {
            const double own = error_of(&s, &(motion){5, NULL}, rate, track);
            const double midpoint = error_of(&s, &(motion){5, "midpoint"}, rate, track);
            print_message("%s thrown at 5 m/s: tip off by %.3g mm at 1/%d s, %.3g mm with the midpoint rule\n",
                          t ? "fork" : "beam", 1e3 * own, rate, 1e3 * midpoint);
            check_below(own, 1.25 * midpoint);
        }
        take_down(&s);
    }
}

/* A run that blows up is no success. */
static void energy_out_of_nothing_ends_a_run(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const methods[] = {"newmark", "midpoint"};
    for (int m = 0; m < 2; m++) {
        bough_run_def def = bough_default_run_def();
        def.integrator = methods[m], def.passes = 1 + m, def.dt = 0.02;
        play p = begin_file(ctx, write_scene("swing.json", chain), &def);
        const bough_status status = bough_run_advance(ctx, p.run);
        bough_run_report report;
        bough_run_look(p.run, &report);
        print_message("%s: %s after %.3g s, %s\n", methods[m], bough_status_name(status), report.time,
                      status ? bough_message(ctx) : "");
        check(status == BOUGH_OK ? report.balance < 0.05 * report.energy[1] + 100 : status == BOUGH_ENERGY_GAINED);
        check(isfinite(report.energy[3]) && fabs(report.energy[3]) < 1e4);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Energy that stiffness damping of this ratio takes in five seconds from a beam of three parts, against the full one.
 */
static double lost(bough_context *ctx, const char *text, const char *engine) {
    bough_run_def def = bough_default_run_def();
    def.engine = engine, def.integrator = strcmp(engine, "full") ? NULL : "midpoint";
    play p = begin_file(ctx, write_scene("damped.json", text), &def);
    const double start = value(&p, "total");
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const double sum = start - value(&p, "total");
    end(ctx, &p);
    return sum;
}

static void damping_takes_what_it_takes_of_the_full_body(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const double ratios[] = {0.005, 0.0005, 0.02}, weights[] = {4, 0.7, 5.5};
    const double lowest = 2 * 3.14159265358979 * 0.63;
    for (int i = 0; i < (test_long() ? 3 : 1); i++)
        for (int k = 0; k < (test_long() ? 3 : 1); k++) {
            char text[2048];
            snprintf(
                text, sizeof text,
                "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [3, 0.25, 0.25], "
                "'origin': [0, -0.125, -0.125], 'cells': [24, 2, 2]}, 'sets': {'a': {'elements': 'x<1.001'}, 'b': "
                "{'elements': 'x>0.999&x<2.001'}, 'c': {'elements': 'x>1.999'}}, 'material': {'young': 1e7, "
                "'poisson': 0.4, 'density': 1000}, 'damping': {'mass': 0, 'stiffness': %.17g}, 'basis': {'r': 20}, "
                "'fix': 'x0'}, 'gravity': [0, 0, -%g], 'time': {'dt': %.17g, 'duration': 5}}",
                2 * ratios[i] / lowest, weights[k], test_long() ? 1.0 / 480 : 1.0 / 120);
            const double tree = lost(ctx, text, "tree"), full = lost(ctx, text, "full");
            print_message("ratio %g, %g m/s^2: %.4g J lost by the tree, %.4g J by the full body\n", ratios[i],
                          weights[k], tree, full);
            check_near(tree, full, 0.1 * full);
        }
    bough_context_destroy(ctx);
}

/* A door on a hinge moves as it does alone, to the bit, when something flies by. */
static void what_flies_by_leaves_joints_alone(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const kinds[] = {"'hinge', 'axis': [0, 1, 0]", "'ball'"};
    for (int k = 0; k < 2; k++) {
        double seen[2][3] = {{0}};
        for (int flies = 0; flies < 2; flies++) {
            char text[4096];
            snprintf(
                text, sizeof text,
                "{'bough': 1, 'components': {'bar': " BAR(
                    "1", "6",
                    "8") ", 'stone': {'mesh': {'generate': 'box', "
                         "'type': 'hex8', 'size': [1, 0.2, 0.2], 'cells': [4, 1, 1]}, 'material': {'young': 1e7, "
                         "'density': "
                         "500}, 'basis': {'r': 6}}}, 'parts': [{'name': 'a', 'component': 'bar'}, {'name': 'b', "
                         "'component': 'bar', 'parent': 'a', 'interface': 'tip', 'joint': {'kind': %s}}%s], 'probes': "
                         "[{'name': 'tip', 'part': 'b', 'nearest': [9, 0, 0]}], 'gravity': [0, 0.5, -9.81], 'time': "
                         "{'dt': "
                         "0.005, 'duration': 1}}",
                kinds[k], flies ? ", {'name': 'x', 'component': 'stone', 'flies': true, 'position': [0, 5, 0]}" : "");
            play p = begin_file(ctx, write_scene("door.json", text), NULL);
            check_ok(ctx, bough_run_advance(ctx, p.run));
            seen[flies][0] = value(&p, "tip.ux"), seen[flies][1] = value(&p, "tip.uy"),
            seen[flies][2] = value(&p, "tip.uz");
            end(ctx, &p);
        }
        check(fabs(seen[0][2]) > 0.01);
        check(memcmp(seen[0], seen[1], sizeof seen[0]) == 0);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_is_kept_for_a_minute),
        cmocka_unit_test(energy_is_kept_at_any_step_and_speed),
        cmocka_unit_test(thin_leaves_gain_nothing),
        cmocka_unit_test(steps_are_of_second_order),
        cmocka_unit_test(one_pass_is_as_good_as_the_midpoint_rule),
        cmocka_unit_test(energy_out_of_nothing_ends_a_run),
        cmocka_unit_test(damping_takes_what_it_takes_of_the_full_body),
        cmocka_unit_test(what_flies_by_leaves_joints_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
