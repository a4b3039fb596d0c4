/* Supports that follow curves, with contact: what they hold is pressed onto things and dragged over them, and never led
 * into them. */
#include "play.h"

#include "base/vec.h"

#include <bough/mesh.h>

#define MATTER(young)                                                                                          \
    ", 'material': {'model': 'neo-hookean', 'young': " young ", 'poisson': 0.3, 'density': 1000}, 'damping': " \
    "{'stiffness': 0.004, 'mass': 20}"
#define BEAM                                                                                                           \
    "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.4, 0.04, 0.04], 'cells': [16, 2, 2]}" MATTER( \
        "1e6")
/* Its free end is 10 mm above a ramp that rises towards it by 1 : 10. */
#define SLOPE 0.1
#define RAMP(mu)                                                                                                      \
    "'obstacles': [{'name': 'ramp', 'shape': {'plane': true}, 'rotate_deg': [0, -5.710593137499643, 0], 'position': " \
    "[0.4, 0, -0.01], 'friction': " mu "}]"

static play begin_text(bough_context *ctx, const char *text) {
    const bough_run_def def = bough_default_run_def();
    return begin_file(ctx, write_scene("led.json", text), &def);
}

/* The sum of the forces of contact on the first body; every gap is positive. */
static bo_vec3 push_on(const play *p) {
    static bough_run_contact contacts[4000];
    bo_vec3 sum = {0, 0, 0};
    const int32_t count = bough_run_contacts(p->run, 4000, contacts);
    check(count <= 4000);
    for (int32_t i = 0; i < count; i++) {
        check(contacts[i].gap > 0);
        if (contacts[i].things[0] == 0)
            sum = bo_add(sum, bo_load3(contacts[i].force));
    }
    return sum;
}

/* The least height of a vertex over the ramp. */
static double lowest(const play *p) {
    const bough_mesh *mesh = bough_run_mesh(p->run);
    const double *u = bough_run_displacement(p->run), length = sqrt(1 + SLOPE * SLOPE);
    double low = INFINITY;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * v, *d = u + 3 * v;
        low = fmin(low, (x[2] + d[2] + 0.01 - SLOPE * (x[0] + d[0] - 0.4)) / length);
    }
    return low;
}

/* The ramp bears what it does where the support is displaced as far in an equilibrium. */
static double settled_force(bough_context *ctx) {
    play p = begin_text(ctx, BEAM ", 'settle': true, 'fix': {'select': 'x0', 'displacement': [0, 0, -0.03]}, " RAMP(
                                 "0") ", 'contact': {'distance': 2e-4, 'friction': 0}, 'time': {'dt': 0.005, "
                                      "'integrator': 'backward-euler', 'duration': 1}}");
    const double force = push_on(&p).z;
    end(ctx, &p);
    return force;
}

/* The support goes down, so that the beam is pressed onto the ramp, and then across it: friction is that of sliding. */
static void a_beam_is_pressed_onto_a_ramp_and_dragged(void **unused) {
    (void)unused;
    static const char *const methods[] = {"backward-euler", "tr-bdf2", "bdf2"};
    bough_context *ctx = test_context(1);
    const double expected = settled_force(ctx);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        char text[3000];
        snprintf(text, sizeof text,
                 BEAM
                 ", 'curves': {'press': [[0, 0], [0.2, 1], [2, 1]], 'drag': [[0, 0], [0.6, 0], [1, 1]]}, 'fix': "
                 "[{'select': 'x0', 'axes': 'z', 'displacement': [0, 0, -0.03], 'curve': 'press'}, {'select': 'x0', "
                 "'axes': 'xy', 'displacement': [0, 0.1, 0], 'curve': 'drag'}], " RAMP(
                     "0.3") ", 'contact': {'distance': 2e-4, 'friction': 0.3}, 'probes': [{'name': 'root', 'select': "
                            "'x0'}], 'time': {'integrator': '%s', 'dt': 0.005, 'duration': 1}}",
                 methods[m]);
        play p = begin_text(ctx, text);
        double pressed = 0, gap = INFINITY;
        for (int i = 0; i < 190; i++) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            push_on(&p);
            gap = fmin(gap, lowest(&p));
            if (i == 118)
                pressed = push_on(&p).z;
        }
        const bo_vec3 push = push_on(&p);
        const double length = sqrt(1 + SLOPE * SLOPE), normal = (push.z - SLOPE * push.x) / length,
                     friction = hypot(push.y, (push.x + SLOPE * push.z) / length) / normal;
        printf("%s: presses with %.5f N (equilibrium %.5f), dragged with %.5f N, friction %.5f of that; least gap %.2g "
               "mm; balance %.3g of %.3g J of work\n",
               methods[m], pressed, expected, normal, friction, 1e3 * gap, value(&p, "balance"), value(&p, "work"));
        check_near(pressed / expected, 1, 3e-2); /* friction has held the end on the way */
        check_near(friction, 0.3, 1e-9);
        check(push.y < 0);
        check(gap > 0);
        check_near(value(&p, "root.uy"), 0.1 * 0.875, 1e-12);
        check_below(value(&p, "balance"), 0.02 * fabs(value(&p, "work")));
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Led vertices touch, too: a cube whose upper face is led down is pressed until nothing is left, and then it is told. */
static void supports_are_not_led_into_anything(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(
        ctx,
        "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.1, 0.1, 0.1], 'cells': [2, 2, 2]}" MATTER(
            "1e5") ", 'curves': {'down': [[0, 0], [1, 1]]}, 'fix': {'select': 'z0', 'displacement': [0, 0, -0.1], "
                   "'curve': 'down'}, 'obstacles': [{'name': 'floor', 'shape': {'plane': true}, 'position': [0, 0, "
                   "-0.02]}], 'time': {'integrator': 'backward-euler', 'dt': 0.01, 'duration': 1}}");
    bough_status status = BOUGH_OK;
    int steps = 0;
    for (; status == BOUGH_OK && steps < 100; steps++) {
        status = bough_run_step(ctx, p.run);
        push_on(&p);
    }
    printf("after %d steps: %s\n", steps, bough_message(ctx));
    check(status > 0); /* a shorter step might have helped */
    check(strstr(bough_message(ctx), "a support would lead the body into floor"));
    check(steps >= 20 && steps <= 21);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Two held ends of different bodies are led towards each other. */
static void led_bodies_meet(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(
        ctx,
        "{'bough': 1, 'bodies': [{'name': 'a', 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.1, 0.1, 0.1], "
        "'cells': [2, 2, 2]}}, {'name': 'b', 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.1, 0.1, 0.1], "
        "'cells': [3, 3, 3]}, 'position': [0.01, 0.02, 0.11]}]" MATTER(
            "1e5") ", 'curves': {'down': [[0, 0], [1, 1]]}, 'fix': ['a.z0', {'select': 'b.z1', 'displacement': [0, 0, "
                   "-0.1], 'curve': 'down'}], 'contact': {'distance': 5e-4}, 'probes': [{'name': 'top', 'select': "
                   "'b.z1'}], 'time': {'integrator': 'backward-euler', 'dt': 0.01, 'duration': 1}}");
    for (int i = 0; i < 40; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    const double force = -push_on(&p).z;
    printf("pressed by %.4g mm with %.5g N\n", 30., force);
    check_near(value(&p, "top.uz"), -0.04, 1e-12);
    check(force > 100 && force < 400);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_beam_is_pressed_onto_a_ramp_and_dragged),
                                       cmocka_unit_test(supports_are_not_led_into_anything),
                                       cmocka_unit_test(led_bodies_meet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
