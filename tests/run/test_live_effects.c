/* Commands to a live run move it as they should: every command on every engine that takes it, judged by the motion.
 * Commands that an engine cannot do are refused with a sentence. */
#include "run/stages.h"

/* Each with the gravity that is set and without; the part and vertex that hands take are near `at`. */
typedef struct {
    const char *name, *engine, *integrator;
    const char *weighed, *weightless;
    double mass; /* of what flies; 0: it is held */
    double at[3];
    int32_t part;
} stage;
static const stage stages[] = {
    {"tree, held", "tree", NULL, HELD("-4"), HELD("0"), 0, {1.5, 0, 0}, 2},
    {"tree, flying", "tree", NULL, FLYING("-4"), FLYING("0"), 15, {1.5, 0, 0}, 2},
    {"tree by bdf2", "tree", "bdf2", HELD("-4"), HELD("0"), 0, {1.5, 0, 0}, 2},
    {"whole chain", "full", NULL, HELD("-4"), HELD("0"), 0, {1.5, 0, 0}, 0},
    {"body, held", NULL, NULL, BODY(", 'fix': 'x0'", "-4"), BODY(", 'fix': 'x0'", "0"), 0, {1, 0, 0}, 0},
    {"body by tr-bdf2", NULL, "tr-bdf2", BODY("", "-4"), BODY("", "0"), 40, {1, 0, 0}, 0},
    {"body by bdf2", NULL, "bdf2", BODY("", "-4"), BODY("", "0"), 40, {1, 0, 0}, 0},
    {"body by hht", NULL, "hht", BODY("", "-4"), BODY("", "0"), 40, {1, 0, 0}, 0},
    {"body by generalised-alpha", NULL, "generalised-alpha", BODY("", "-4"), BODY("", "0"), 40, {1, 0, 0}, 0},
    {"body by midpoint", NULL, "midpoint", BODY("", "-4"), BODY("", "0"), 40, {1, 0, 0}, 0},
    {"body by backward Euler", NULL, "backward-euler", BODY("", "-4"), BODY("", "0"), 40, {1, 0, 0}, 0},
    {"body by siere", NULL, "siere", BODY(", 'fix': 'x0'", "-4"), BODY(", 'fix': 'x0'", "0"), 0, {1, 0, 0}, 0},
    {"links, reduced", NULL, NULL, LINKS("-4", REDUCED), LINKS("0", REDUCED), 0, {0.4, 0, 0}, 2},
    {"links by hht", NULL, "hht", LINKS("-4", REDUCED), LINKS("0", REDUCED), 0, {0.4, 0, 0}, 2},
    {"links, blended", NULL, NULL, LINKS("-4", BLEND), LINKS("0", BLEND), 0, {0.4, 0, 0}, 2},
    {"links, full", "full", NULL, LINKS("-4", REDUCED), LINKS("0", REDUCED), 0, {0.4, 0, 0}, 2},
    {"a ball", NULL, NULL, BALL("-4"), BALL("0"), 2, {0.1, 0, 0}, 0},
    {"joined bodies", NULL, NULL, JOINED("-4"), JOINED("0"), 0, {0.4, 0, 0}, 1},
    {"joined bodies by tr-bdf2", NULL, "tr-bdf2", JOINED("-4"), JOINED("0"), 0, {0.4, 0, 0}, 1},
    {"a part with a ball", NULL, NULL, BENT("-4"), BENT("0"), 0, {1, 0, 0}, 1},
    {"a full part with a ball", "full", NULL, BENT("-4"), BENT("0"), 0, {1, 0, 0}, 1},
    {"a body that flies", NULL, NULL, FLOWN("-4"), FLOWN("0"), 2, {0.1, 0, 0}, 0},
};
#define STAGES (sizeof stages / sizeof *stages)

static play begin(bough_context *ctx, const stage *s, bool weighed, double dt) {
    bough_run_def def = bough_default_run_def();
    def.live = true, def.engine = s->engine, def.integrator = s->integrator, def.dt = dt;
    return begin_file(ctx, write_scene("live.json", weighed ? s->weighed : s->weightless), &def);
}

static void steps(bough_context *ctx, const play *p, int count) {
    for (int k = 0; k < count; k++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}

/* The vertex of the part's surface nearest to s->at. */
static int32_t vertex_of(const play *p, const stage *s) {
    const bough_mesh *mesh = bough_run_mesh(p->run);
    const bough_thing *thing = bough_run_thing(p->run, s->part);
    const int32_t first = thing->first_vertex, end = first + thing->vertex_count;
    int32_t nearest = 0;
    double least = INFINITY;
    for (int32_t v = first; v < end; v++) {
        double sum = 0;
        for (int d = 0; d < 3; d++)
            sum += pow(mesh->vertices[3 * v + d] - s->at[d], 2);
        if (sum < least)
            least = sum, nearest = v - first;
    }
    return nearest;
}

static void check_same_motion(const play *a, const play *b, double tolerance) {
    const char *const columns[] = {"tip.ux", "tip.uy", "tip.uz", "tip.vx", "tip.vy", "tip.vz"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        check_near(value(a, columns[i]), value(b, columns[i]), tolerance);
}

/* Gravity that is set before the first step is that of the scene. */
static void gravity_weighs(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double gravity[3] = {0, 0, -4}, back[3] = {0, 0, 0};
    for (size_t i = 0; i < STAGES; i++) {
        const stage *s = &stages[i];
        print_message("%s\n", s->name);
        play set = begin(ctx, s, false, 0), own = begin(ctx, s, true, 0);
        check_ok(ctx, bough_run_set_gravity(ctx, set.run, gravity));
        steps(ctx, &set, 20);
        steps(ctx, &own, 20);
        check(value(&set, "tip.uz") < -1e-4);
        check_same_motion(&set, &own, 1e-8);
        if (s->mass > 0) { /* and from one step to the next */
            const double before = value(&set, "momentum.z"), z = value(&set, "tip.vz");
            check_near(before, -4 * 0.04 * s->mass, 1e-12 * s->mass);
            check_ok(ctx, bough_run_set_gravity(ctx, set.run, back));
            steps(ctx, &set, 5);
            check_near(value(&set, "momentum.z"), before, 1e-12 * s->mass);
            check_near(value(&set, "tip.vz"), z, 1e-12);
        }
        end(ctx, &set);
        end(ctx, &own);
    }
    bough_context_destroy(ctx);
}

/* The gravity that is set in one run acts in no other run of the same scene, neither beside it nor after it. */
static void gravity_is_of_one_run(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double gravity[3] = {0, 3, -4};
    for (size_t i = 0; i < STAGES; i++) {
        const stage *s = &stages[i];
        print_message("%s\n", s->name);
        bough_run_def def = bough_default_run_def();
        def.live = true, def.engine = s->engine, def.integrator = s->integrator;
        play alone = begin(ctx, s, false, 0), set = begin(ctx, s, false, 0), beside = {set.scene, NULL};
        check_ok(ctx, bough_run_create(ctx, set.scene, &def, &beside.run));
        steps(ctx, &alone, 10);
        for (int k = 0; k < 10; k++) {
            if (k == 2)
                check_ok(ctx, bough_run_set_gravity(ctx, set.run, gravity));
            steps(ctx, &set, 1);
            steps(ctx, &beside, 1);
        }
        check(value(&set, "tip.uz") < -1e-6);
        check_same_motion(&beside, &alone, 0);
        bough_run_destroy(ctx, beside.run);
        check_ok(ctx, bough_run_create(ctx, set.scene, &def, &beside.run));
        steps(ctx, &beside, 10);
        check_same_motion(&beside, &alone, 0);
        bough_run_destroy(ctx, beside.run);
        end(ctx, &set);
        end(ctx, &alone);
    }
    bough_context_destroy(ctx);
}

/* The weight of a run is taken away after 20 steps. Of what is held, where the forces of small deflections add up, it
 * then differs from a run that keeps its weight by what the opposite weight does to a run at rest. */
static void gravity_weighs_less_from_one_step_to_the_next(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double gravity[3] = {0, 0, -4}, none[3] = {0, 0, 0}, upwards[3] = {0, 0, 4};
    for (size_t i = 0; i < STAGES; i++) {
        const stage *s = &stages[i];
        if (s->mass > 0)
            continue; /* gravity_weighs looks at these */
        print_message("%s\n", s->name);
        play kept = begin(ctx, s, false, 0), relieved = begin(ctx, s, false, 0), lifted = begin(ctx, s, false, 0);
        check_ok(ctx, bough_run_set_gravity(ctx, kept.run, gravity));
        check_ok(ctx, bough_run_set_gravity(ctx, relieved.run, gravity));
        check_ok(ctx, bough_run_set_gravity(ctx, lifted.run, upwards));
        steps(ctx, &kept, 20);
        steps(ctx, &relieved, 20);
        check_ok(ctx, bough_run_set_gravity(ctx, relieved.run, none));
        for (int k = 0; k < 20; k++) {
            steps(ctx, &kept, 1), steps(ctx, &relieved, 1), steps(ctx, &lifted, 1);
            const double rises = value(&relieved, "tip.uz") - value(&kept, "tip.uz"), up = value(&lifted, "tip.uz");
            check(up > 5e-6);
            check_near(rises, up, 0.003 * up + 5e-7); /* bdf2 begins anew with a step of another method */
        }
        end(ctx, &kept);
        end(ctx, &relieved);
        end(ctx, &lifted);
    }
    bough_context_destroy(ctx);
}

/* An impulse is what the momentum gains, whatever the steps are by the time that it comes. */
static void a_poke_is_its_impulse(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double impulse[3] = {0, 0, 0.05};
    for (size_t i = 0; i < STAGES; i++) {
        const stage *s = &stages[i];
        print_message("%s\n", s->name);
        play late = begin(ctx, s, false, 0.02), fine = begin(ctx, s, false, 0.002);
        check_ok(ctx, bough_run_poke(ctx, late.run, s->part, vertex_of(&late, s), impulse));
        check_ok(ctx, bough_run_set_dt(ctx, late.run, 0.002));
        check_ok(ctx, bough_run_poke(ctx, fine.run, s->part, vertex_of(&fine, s), impulse));
        for (int k = 0; k < 5; k++) {
            steps(ctx, &late, 1);
            steps(ctx, &fine, 1);
            check_same_motion(&late, &fine, 1e-12);
            check(k > 0 || value(&late, "tip.vz") > 1e-4);
            if (s->mass > 0)
                check_near(value(&late, "momentum.z"), impulse[2], 1e-8);
        }
        check(value(&late, "work") > 0 || bough_run_state(late.run));
        end(ctx, &late);
        end(ctx, &fine);
    }
    bough_context_destroy(ctx);
}

/* A hand draws what it holds towards it, and no longer when it lets go. */
static void pulls_draw_until_they_are_released(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < STAGES; i++) {
        const stage *s = &stages[i];
        print_message("%s\n", s->name);
        play p = begin(ctx, s, false, 0), still = begin(ctx, s, false, 0);
        const double target[3] = {s->at[0], s->at[1], s->at[2] + 0.1};
        check_ok(ctx, bough_run_pull(ctx, p.run, 1, s->part, vertex_of(&p, s), target, 10, 0.1));
        steps(ctx, &p, 10);
        steps(ctx, &still, 30);
        check_same_motion(&still, &still, 0);
        check(value(&still, "tip.uz") == 0 || fabs(value(&still, "tip.uz")) < 1e-12);
        check(value(&p, "tip.vz") > 1e-4 && value(&p, "tip.uz") > 1e-6);
        bough_run_release(p.run, 1);
        steps(ctx, &p, 1); /* methods that keep the acceleration of the step before */
        const double momentum = value(&p, "momentum.z"), work = value(&p, "work");
        steps(ctx, &p, 10);
        check_near(value(&p, "work"), work, 0);
        if (s->mass > 0)
            check_near(value(&p, "momentum.z"), momentum, 1e-9);
        end(ctx, &p);
        end(ctx, &still);
    }
    bough_context_destroy(ctx);
}

/* A step that is set before the first one is that of the scene. */
static void steps_have_the_length_that_was_set(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < STAGES; i++) {
        const stage *s = &stages[i];
        play set = begin(ctx, s, true, 0.002), own = begin(ctx, s, true, 0.005);
        check_ok(ctx, bough_run_set_dt(ctx, set.run, 0.005));
        steps(ctx, &set, 10);
        steps(ctx, &own, 10);
        check_near(value(&set, "time"), 0.05, 1e-15);
        check(value(&set, "tip.uz") < -1e-4);
        check_same_motion(&set, &own, 1e-12);
        end(ctx, &set);
        end(ctx, &own);
    }
    bough_context_destroy(ctx);
}

/* Wind blows along; the engines that know none say so. */
static void wind_blows_or_is_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_wind wind = {.velocity = {0, 20, 0}};
    for (size_t i = 0; i < STAGES; i++) {
        const stage *s = &stages[i];
        play p = begin(ctx, s, false, 0);
        if (bough_run_state(p.run)) {
            wind = bough_run_state(p.run)->wind;
            wind.velocity[1] = 20;
            check_ok(ctx, bough_run_set_wind(ctx, p.run, &wind));
            steps(ctx, &p, 20);
            print_message("%s: %g m/s\n", s->name, value(&p, "tip.vy"));
            check(value(&p, "tip.vy") > 1e-4 && value(&p, "tip.uy") > 1e-6);
            check_ok(ctx, bough_run_set_wind(ctx, p.run, NULL));
            const double momentum = value(&p, "momentum.y");
            steps(ctx, &p, 20);
            check(s->mass == 0 || fabs(value(&p, "momentum.y")) <= fabs(momentum) * (1 + 1e-9));
        } else
            check_fails(ctx, bough_run_set_wind(ctx, p.run, &wind), BOUGH_ERROR_UNSUPPORTED, "knows no wind");
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* ---- what is done to the state of a tree ---- */

static play begin_tree(bough_context *ctx, const char *text, const char *coupling, const char *integrator) {
    bough_run_def def = bough_default_run_def();
    def.live = true, def.coupling = coupling, def.integrator = integrator;
    return begin_file(ctx, write_scene("tree.json", text), &def);
}

/* Each is as if the scene had been so from the start. */
static void trees_become_what_they_are_told(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_tree_model *model;
    const bough_tree_state *now;
    play own = begin_tree(ctx, HELD("-4"), "L1", NULL), told = begin_tree(ctx, HELD("-4"), "L3", NULL);
    check(bough_run_model(told.run, &model, &now));
    bough_run_state(told.run)->coupling = BOUGH_COUPLING_L1;
    steps(ctx, &own, 100);
    steps(ctx, &told, 100);
    play other = begin_tree(ctx, HELD("-4"), "L3", NULL);
    steps(ctx, &other, 100);
    check_same_motion(&told, &own, 1e-9);
    check(fabs(value(&other, "tip.uz") - value(&own, "tip.uz")) > 1e-2);
    end(ctx, &own);
    end(ctx, &told);

    bough_integrator_def def = bough_default_integrator_def();
    def.name = "backward-euler";
    own = begin_tree(ctx, HELD("-4"), "L3", "backward-euler"), told = begin_tree(ctx, HELD("-4"), "L3", NULL);
    check(bough_run_model(told.run, &model, &now));
    check_ok(ctx, bough_tree_state_use_integrator(ctx, model, bough_run_state(told.run), &def));
    steps(ctx, &own, 100);
    steps(ctx, &told, 100);
    check_same_motion(&told, &own, 1e-9);
    check(fabs(value(&told, "tip.uz") - value(&other, "tip.uz")) > 1e-4);
    end(ctx, &own);
    end(ctx, &told);

    own = begin_tree(ctx, CHAIN("8e6", ", 'fix': 'x0'", ", 'gravity': [0, 0, -4]"), "L3", NULL);
    told = begin_tree(ctx, HELD("-4"), "L3", NULL);
    check(bough_run_model(told.run, &model, &now));
    for (int32_t part = 0; part < 3; part++)
        check_ok(ctx,
                 bough_tree_state_set_stiffness(ctx, model, bough_run_state(told.run), part, 2)); /* of frequencies */
    steps(ctx, &own, 100);
    steps(ctx, &told, 100);
    check_same_motion(&told, &own, 1e-4);
    check(fabs(value(&told, "tip.uz") - value(&other, "tip.uz")) > 1e-2);
    end(ctx, &own);
    end(ctx, &told);

    told = begin_tree(ctx, HELD("-4"), "L3", NULL);
    check(bough_run_model(told.run, &model, &now));
    for (int32_t part = 0; part < 3; part++)
        check_ok(ctx, bough_tree_state_set_damping_ratio(ctx, model, bough_run_state(told.run), part, 0.3));
    steps(ctx, &told, 400);
    steps(ctx, &other, 300);
    check(value(&told, "total") < value(&other, "total") - 0.1 * fabs(value(&other, "external")));
    end(ctx, &told);
    end(ctx, &other);
    bough_context_destroy(ctx);
}

/* A word of the sentence that refuses to cut something off. */
static const char *refusal_of(const play *p, const stage *s) {
    bough_run_report report;
    bough_run_look(p->run, &report);
    return !strcmp(report.engine, "multibody") || strstr(s->name, "full part") ? "bodies and parts"
           : s->part > 0 || s->mass == 2                                       ? "links"
                                                                               : "no parts";
}

static int cut_told;
static void note_cut(void *data, const bough_run_change *changes, int32_t count) {
    (void)data, (void)changes;
    cut_told += count;
}

/* A part that is cut off falls, and the run knows of it. Other engines refuse. */
static void a_part_that_is_cut_off_falls(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_tree_model *model;
    const bough_tree_state *now;
    bough_run_def def = bough_default_run_def();
    def.live = true, def.tell = note_cut;
    for (size_t i = 0; i < STAGES; i++) {
        play other = begin(ctx, &stages[i], false, 0);
        if (!bough_run_state(other.run))
            check_fails(ctx, bough_run_change_parts(ctx, other.run, 1, &(bough_change){.kind = BOUGH_CHANGE_DETACH}),
                        BOUGH_ERROR_UNSUPPORTED, refusal_of(&other, &stages[i]));
        end(ctx, &other);
    }
    play p = begin_file(ctx, write_scene("cut.json", HELD("-4")), &def);
    check(bough_run_model(p.run, &model, &now));
    const double start = value(&p, "tip.z");
    const bough_change cut = {.kind = BOUGH_CHANGE_DETACH, .part = 2};
    check_ok(ctx, bough_run_change_parts(ctx, p.run, 1, &cut));
    check_int(cut_told, 1);
    int32_t count;
    const bough_run_change *changes = bough_run_changes(p.run, &count);
    check_int(count, 1);
    check(!strcmp(changes[0].change, "detach") && !strcmp(changes[0].name, "c") && changes[0].part == 2);
    check_fails(ctx, bough_run_change_parts(ctx, p.run, 1, &(bough_change){.part = 99}), BOUGH_ERROR_ARGUMENT, "part");
    check_int(cut_told, 1);
    steps(ctx, &p, 100);
    check_near(value(&p, "tip.z") - start, -0.5 * 4 * 0.2 * 0.2, 1e-11);
    check_near(value(&p, "tip.vz"), -4 * 0.2, 1e-11);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gravity_weighs),
        cmocka_unit_test(gravity_is_of_one_run),
        cmocka_unit_test(gravity_weighs_less_from_one_step_to_the_next),
        cmocka_unit_test(a_poke_is_its_impulse),
        cmocka_unit_test(pulls_draw_until_they_are_released),
        cmocka_unit_test(steps_have_the_length_that_was_set),
        cmocka_unit_test(wind_blows_or_is_refused),
        cmocka_unit_test(trees_become_what_they_are_told),
        cmocka_unit_test(a_part_that_is_cut_off_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
