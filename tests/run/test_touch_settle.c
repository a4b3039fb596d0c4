/* Equilibria of scenes in which parts touch: they are where damped runs come to rest, the forces of contacts balance, and
 * a run that starts there stays there. */
#include "play.h"

#include "tree/tree.h"

#define BAR(name, length, young, samples)                                                                            \
    "'" name "': {'mesh': {'generate': 'box', 'type': 'hex8', 'origin': [0, -0.04, -0.04], 'size': [" length         \
    ", 0.08, 0.08], 'cells': [12, 2, 2]}, 'basis': {'r': 12}, 'material': {'model': 'stvk', 'young': " young         \
    ", 'poisson': 0.3, 'density': 700}, 'damping': {'mass': 4, 'stiffness': 0.008}, 'samples': {'contact': " samples \
    ", "                                                                                                             \
    "'wind': 0}, 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}}"
#define SCENE(start, contact, more) SAMPLED("150", start, contact, more)
#define SAMPLED(samples, start, contact, more)                                                         \
    "{'bough': 1, 'components': {" BAR("bar", "1", "2e6", samples) ", " BAR(                           \
        "thick", "1.2", "8e6",                                                                         \
        samples) "}, 'gravity': [0, 0, "                                                               \
                 "-9.81], 'settle': " start                                                            \
                 ", 'parts': [{'name': 'a1', 'component': 'bar'}, {'name': 'a2', 'component': 'bar', " \
                 "'parent': 'a1', 'interface': 'tip'}" more                                            \
                 "], 'time': {'integrator': 'hht', 'dt': 0.0041666666666666666, "                      \
                 "'duration': 12}, 'probes': [{'name': 'tip', 'part': 'a2', 'nearest': [2, 0, 0]}, "   \
                 "{'name': 'on', 'contact': 'a1'"                                                      \
                 "}, {'name': 'tip_on', 'contact': 'a2'}], " contact "}"
#define STONE(start)                                                                                          \
    SCENE(start,                                                                                              \
          "'obstacles': [{'name': 'stone', 'shape': {'sphere': 0.3}, 'position': [1, 0, -0.6]}], 'contact': " \
          "{'friction': 0.3}",                                                                                \
          "")
#define GROUND(start)                                                                                          \
    SCENE(start,                                                                                               \
          "'obstacles': [{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, -0.3]}], 'contact': " \
          "{'friction': 0.3}",                                                                                 \
          "")
#define BRANCHES(start)                                           \
    SCENE(start, "'contact': {'friction': 0.3, 'between': true}", \
          ", {'name': 'b', 'component': 'thick', 'position': [0.8, -0.7, -0.15], 'rotate_deg': [0, 0, 90]}")
#define SOLID(start)                                                                                  \
    SCENE(start, "'contact': {'friction': 0.3, 'solids': [{'part': 'b', 'shape': {'sphere': 0.4}}]}", \
          ", {'name': 'b', 'component': 'thick', 'position': [0.9, 0, -0.6]}")
#define EDGE(start)                                                                                       \
    SCENE(start,                                                                                          \
          "'obstacles': [{'name': 'box', 'shape': {'box': [0.2, 1, 0.2]}, 'position': [1.2, 0, -0.5]}], " \
          "'contact': {'friction': 0.5}",                                                                 \
          "")

static play begin(bough_context *ctx, const char *text) {
    return begin_file(ctx, write_scene("settled.json", text), NULL);
}

static void tip_of(const play *p, double u[3]) {
    static const char *const names[] = {"tip.ux", "tip.uy", "tip.uz"};
    for (int d = 0; d < 3; d++)
        u[d] = value(p, names[d]);
}

static double distance(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static double settled_within(const play *p) {
    bough_run_report report;
    bough_run_look(p->run, &report);
    return report.settle_residual;
}

/* A damped run comes to rest in the equilibrium, two metres long and in height within 0.1 %. Friction holds a little
 * there, and next to none in the equilibrium: mostly sideways, where nothing else does. */
static void damped_runs_end_in_equilibrium(void **unused) {
    (void)unused;
    static const struct {
        const char *settled, *run;
    } cases[] = {{STONE("true"), STONE("false")}, {GROUND("true"), GROUND("false")}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bough_context *ctx = test_context(1);
        double settled[3], moved[3];
        play p = begin(ctx, cases[k].settled);
        check_below(settled_within(&p), 1e-9);
        tip_of(&p, settled);
        const double force = value(&p, "on.normal") + value(&p, "tip_on.normal");
        end(ctx, &p);
        p = begin(ctx, cases[k].run);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        tip_of(&p, moved);
        printf("settled tip at %.5f, run %.5f; force %.4f, %.4f N; apart %.2g m\n", settled[2], moved[2], force,
               value(&p, "on.normal") + value(&p, "tip_on.normal"), distance(settled, moved));
        check_near(moved[2], settled[2], 2e-3);
        check_below(distance(settled, moved), 4e-2);
        check_near((value(&p, "on.normal") + value(&p, "tip_on.normal")) / force, 1, 5e-3);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* A run from there does not move, does no work and makes no energy. What lies across something round, another part or a
 * solid, is kept from sliding off sideways by friction alone, and creeps. */
static void what_has_settled_stays(void **unused) {
    (void)unused;
    static const char *const scenes[] = {STONE("true"), GROUND("true"), BRANCHES("true"), SOLID("true"), EDGE("true")};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        bough_context *ctx = test_context(1);
        double start[3], now[3];
        play p = begin(ctx, scenes[k]);
        bough_run_report report;
        check_below(settled_within(&p), 1e-9);
        check(value(&p, "on.normal") + value(&p, "tip_on.normal") > 1);
        check_below(value(&p, "on.friction") + value(&p, "tip_on.friction"), 0.02 * 0.75 * 75);
        tip_of(&p, start);
        double fastest = 0;
        for (int i = 0; i < 480; i++) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            fastest = fmax(fastest, bough_run_values(p.run)[BOUGH_COLUMN_KINETIC]);
        }
        tip_of(&p, now);
        bough_run_look(p.run, &report);
        printf("scene %zu: drift %.2g m, most kinetic %.2g J, balance %.2g J\n", k, distance(start, now), fastest,
               value(&p, "balance"));
        const bool creeps = k == 2 || k == 3;
        check_below(distance(start, now), creeps ? 4e-2 : 2e-3);
        check_below(fastest, 1e-3);
        check_int((int)report.retries, 0);
        check_below(fabs(value(&p, "balance")), creeps ? 1e-2 : 2e-3);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* In the world, what obstacles and parts push each other with balances: the ground bears what the root does not. */
static void forces_of_contacts_are_listed(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin(ctx, STONE("true"));
    const bough_tree_model *model;
    const bough_tree_state *state;
    bough_run_contact contacts[64];
    check(bough_run_model(p.run, &model, &state));
    const int32_t count = bough_tree_state_contacts(state, 64, contacts);
    check(count > 0);
    for (int32_t i = 0; i < count && i < 64; i++) {
        double along = 0;
        for (int d = 0; d < 3; d++)
            along += contacts[i].force[d] * contacts[i].normal[d];
        check(along > 0);
        check_below(fabs(contacts[i].gap), 1e-8);
    }
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Parts that overlap at the start are pushed out; an obstacle on a track counts where it is then. */
static void overlaps_are_pushed_out(void **unused) {
    (void)unused;
    static const char *const scenes[] = {
        SCENE("true", "'obstacles': [{'name': 'stone', 'shape': {'sphere': 0.3}, 'position': [1.2, 0, -0.2]}]", ""),
        SCENE("true",
              "'obstacles': [{'name': 'stone', 'shape': {'sphere': 0.3}, 'track': [{'time': 0, 'position': [1.2, 0, "
              "-0.2]}, {'time': 1, "
              "'position': [1.2, 0, -2]}]}]",
              "")};
    double tips[2][3];
    for (int k = 0; k < 2; k++) {
        bough_context *ctx = test_context(1);
        play p = begin(ctx, scenes[k]);
        check_below(settled_within(&p), 1e-9);
        tip_of(&p, tips[k]);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
    check(tips[0][2] > -0.2); /* without the sphere it hangs down by more than a metre */
    check_below(distance(tips[0], tips[1]), 1e-9);
}

/* Six bars in hinges over a stone, and an arch of bars whose end is tied to the ground, on a stone. */
static void joints_and_ties_take_part(void **unused) {
    (void)unused;
#define LINK(name, parent, joint) \
    ", {'name': '" name "', 'component': 'bar', 'parent': '" parent "', 'interface': 'tip'" joint "}"
#define LINKS(joint) LINK("p1", "p0", joint) LINK("p2", "p1", joint) LINK("p3", "p2", joint) LINK("p4", "p3", joint)
#define HINGE ", 'joint': {'kind': 'hinge', 'axis': [0, 1, 0], 'stiffness': 20, 'damping': 2}"
#define LINKED(joint, height, more)                                                                                 \
    "{'bough': 1, 'components': {" BAR("bar", "0.5", "1e7",                                                         \
                                       "60") "}, 'gravity': [0, 0, -9.81], 'settle': true, "                        \
                                             "'parts': [{'name': 'p0', 'component': 'bar'}" LINKS(                  \
                                                 joint) "], 'time': {'integrator': 'hht', 'dt': 0.005, "            \
                                                        "'duration': 1}, 'obstacles': [{'name': 'stone', 'shape': " \
                                                        "{'sphere': 0.4}, 'position': [1.2, 0, " height "]}], "     \
                                                        "'contact': {'friction': 0.4}, 'probes': [{'name': 'tip', " \
                                                        "'part': 'p4', 'nearest': [2.5, 0, 0]}, {'name': "          \
                                                        "'on', 'contact': 'stone'}]" more "}"
    static const char *const scenes[] = {
        LINKED(HINGE, "-0.7", ""),
        LINKED("", "-0.45",
               ", 'ties': [{'name': 't', 'parts': ['p4'], 'interfaces': ['tip'], 'stiffness': 1e4, 'damping': 10, "
               "'turning_stiffness': 100, 'turning_damping': 1}]")};
    for (int k = 0; k < 2; k++) {
        bough_context *ctx = test_context(1);
        double start[3], now[3];
        play p = begin(ctx, scenes[k]);
        check_below(settled_within(&p), 1e-9);
        check(value(&p, "on.normal") > 10);
        tip_of(&p, start);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        tip_of(&p, now);
        printf("drift %.2g m\n", distance(start, now));
        check_below(distance(start, now), k == 0 ? 5e-2 : 1e-3); /* hinges swing by little forces */
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* A part that is held between two walls which leave it no room has no equilibrium. */
static void what_has_no_room_is_told(void **unused) {
    (void)unused;
    static const char text[] = SAMPLED("20", "true",
                                       "'obstacles': [{'name': 'floor', 'shape': {'plane': true}, 'position': [0, 0, "
                                       "-0.02]}, {'name': 'roof', 'shape': {'box': [10, 10, 1]}, "
                                       "'position': [0, 0, 0.52]}]",
                                       "");
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_run *run;
    check_ok(ctx, bough_scene_load(ctx, write_scene("settled.json", text), &scene));
    check_fails(ctx, bough_run_create(ctx, scene, NULL, &run), BOUGH_NO_CONVERGENCE, "leave a part no room");
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damped_runs_end_in_equilibrium), cmocka_unit_test(what_has_settled_stays),
        cmocka_unit_test(forces_of_contacts_are_listed),  cmocka_unit_test(overlaps_are_pushed_out),
        cmocka_unit_test(joints_and_ties_take_part),      cmocka_unit_test(what_has_no_room_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
