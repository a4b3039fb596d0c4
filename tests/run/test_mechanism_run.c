/* Runs of mechanisms: what the statics say they settle at, reduced against full, checkpoints, hands, motors. */
#include "play.h"

#include <math.h>

/* A chain of three rods that hang along -x from a wall, with hinges about y. */
#define ROD(name, x) \
    "{'name': '" name "', 'position': [" x ", 0, 0], 'density': 1000, 'shape': {'box': [0.2, 0.02, 0.02]}}"
#define HINGE(name, parent, child, x, k)                                                                             \
    "{'name': '" name "', 'kind': 'hinge', 'parent': '" parent "', 'child': '" child "', 'position': [" x ", 0, 0]," \
    "'axis': [0, 1, 0], 'stiffness': " k ", 'damping': 0.2}"
#define CHAIN(k)                                                                                                  \
    "'bough': 1, 'links': [{'name': 'wall'}," ROD("a", "0.1") "," ROD("b", "0.3") "," ROD(                        \
        "c", "0.5") "],"                                                                                          \
                    "'joints': [" HINGE("h1", "wall", "a", "0", k) "," HINGE("h2", "a", "b", "0.2", k) "," HINGE( \
                        "h3", "b", "c", "0.4",                                                                    \
                        k) "],"                                                                                   \
                           "'end_effectors': [{'name': 'tip', 'link': 'c', 'position': [0.6, 0, 0]}],"            \
                           "'probes': [{'name': 'tip', 'end_effector': 'tip'}, {'name': 'b', 'link': 'b'}]"

static play begin_text(bough_context *ctx, const char *text, const bough_run_def *def) {
    return begin_file(ctx, write_scene("mechanism.json", text), def);
}

/* Rods of 0.08 kg: the hinges carry M_i = sum of m g times arms, and the tip sinks by sum M_i / k times its distance.
 */
static void a_chain_settles_where_statics_say(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    play p =
        begin_text(ctx, "{" CHAIN("1000") ", 'gravity': [0, 0, -9.81], 'time': {'dt': 0.01, 'duration': 20}}", &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    double sinks = 0;
    for (int j = 0; j < 3; j++) {
        double moment = 0;
        for (int i = j; i < 3; i++)
            moment += 0.08 * 9.81 * (0.1 + 0.2 * i - 0.2 * j);
        sinks += moment / 1000 * (0.6 - 0.2 * j);
    }
    check_near(value(&p, "tip.uz"), -sinks, 1e-3 * sinks);
    check(fabs(value(&p, "kinetic")) < 1e-12);
    end(ctx, &p);
    def.settle = true;
    p = begin_text(ctx, "{" CHAIN("1000") ", 'gravity': [0, 0, -9.81], 'time': {'dt': 0.01, 'duration': 1}}", &def);
    check_near(value(&p, "tip.uz"), -sinks, 1e-3 * sinks);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "tip.uz"), -sinks, 1e-3 * sinks);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_settles_where_statics_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
