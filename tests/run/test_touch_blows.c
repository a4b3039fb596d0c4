/* Blows: thin plates that hit the ground in the wind, and bars and a stone on a rough one, make no energy, and no run fails
 * for it. */
#include "play.h"

static const char plate[] =
    "{'bough': 1, 'components': {'leaf': {'mesh': {'generate': 'box', 'type': 'hex8', 'origin': [-0.02, %.6g, -0.002], "
    "'size': [0.3, %.6g, 0.003], 'cells': [8, 4, 1]}, 'material': {'model': 'stvk', 'young': %.6g, 'poisson': 0.3, "
    "'density': 80}, 'damping': {'mass': 0.6, 'stiffness': 0.0015}, 'interfaces': {'base': {'select': 'x0'}}, 'basis': "
    "{'r': 8}, 'samples': {'wind': 8, 'contact': 100}}}, 'parts': [{'name': 'l', 'component': 'leaf', 'flies': true, "
    "'position': [0, 0, 1], 'rotate_deg': [%.6g, %.6g, %.6g], 'velocity': [%.6g, 0, 0]}], 'gravity': [0, 0, -9.81], "
    "'obstacles': [{'name': 'ground', 'shape': {'plane': true}, 'friction': 0.6}], 'wind': {'velocity': [%.6g, 0, 0], "
    "'gust': 0.35, 'drag': 0.4, 'seed': 7}, 'time': {'integrator': 'hht', 'dt': 0.0041666666666666666, 'duration': 2}}";

static void plates_bounce_without_energy_from_nothing(void **unused) {
    (void)unused;
    static const struct {
        double width, young, turn[3], speed, wind;
    } cases[] = {{0.047028862772772732,
                  28979228.482076,
                  {-76.033493928284841, 4.062010393464277, 75.535800124547649},
                  3.7625096118034733,
                  7.54454386635996},
                 {0.070771403862300922,
                  2719250.2837792863,
                  {-52.518220327772397, -84.6395082623729, -43.849623820621851},
                  3.5048705661036337,
                  7.9978676800322939},
                 {0.079095964180702444,
                  205645751.00363925,
                  {37.631521359533451, 31.803101448040763, 51.548382090000587},
                  -1.8309295758409396,
                  11.051760815717872},
                 {0.025139330773147298,
                  4390806.4567973018,
                  {49.93766682779011, -9.6194856629831094, 87.470365145030911},
                  4.9231941757575477,
                  3.422612233349795},
                 {0.12138957240032193,
                  3629370.6097470489,
                  {33.449686600914589, -80.101519212792311, 72.14321075536489},
                  2.9699744585005021,
                  13.838468168704679}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bough_context *ctx = test_context(1);
        char text[sizeof plate + 200];
        const double w = cases[k].width;
        snprintf(text, sizeof text, plate, -w / 2, w, cases[k].young, cases[k].turn[0], cases[k].turn[1],
                 cases[k].turn[2], cases[k].speed, cases[k].wind);
        play p = begin_file(ctx, write_scene("plate.json", text), NULL);
        double most = 0, size = 0;
        for (int i = 0; i < 480; i++) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            most = fmax(most, value(&p, "balance"));
            size = fmax(size, bough_run_values(p.run)[BOUGH_COLUMN_KINETIC]);
        }
        printf("of %.3g J at most, %.2g come out of nothing\n", size, most);
        check_below(most / size, 0.15); /* nearly all of it by the wind, which is taken at the start of each step */
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

static const char heap[] =
    "{'bough': 1, 'components': {'bar': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.5, 0.1, 0.1], 'cells': "
    "[6, 2, 2], 'origin': [-0.25, -0.05, -0.05]}, 'material': {'young': 1e7, 'density': 500}, 'basis': {'r': 6}}, "
    "'stone': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.2, 0.2, 0.2], 'cells': [2, 2, 2], 'origin': "
    "[-0.1, -0.1, -0.1]}, 'material': {'young': 1e7, 'density': 2000}, 'basis': {'r': 0}}}, 'parts': [{'name': 'bar1', "
    "'component': 'bar', 'position': [0, 0, 0.06], 'velocity': [2, 0.3, 0]}, {'name': 'stone', 'component': 'stone', "
    "'position': [0, 0, 0.3]}, {'name': 'bar2', 'component': 'bar', 'position': [0.02, 0.02, 0.55], 'rotate_deg': [0, "
    "0, "
    "60]}], 'gravity': [0, 0, -9.81], 'obstacles': [{'name': 'ground', 'shape': {'plane': true}, 'friction': %.6g%s}], "
    "'contact': {'friction': %.6g, 'between': true, 'solids': [{'part': 'stone', 'shape': {'box': [0.2, 0.2, 0.2]}}]}, "
    "'time': {'dt': 0.0041666666666666666, 'duration': 1}}";

/* Contact with what stands still, and of parts with each other, takes energy and gives none, however rough they are: 17 J of
 * motion were 348 J with mu = 1e6. A ground that rises does work, and nothing is refused for that. */
static void rough_ground_gives_no_energy(void **unused) {
    (void)unused;
    static const double friction[] = {0, 0.5, 100, 1e3, 1e6};
    for (size_t k = 0; k < sizeof friction / sizeof *friction; k++)
        for (int rises = 0; rises < 2; rises++) {
            bough_context *ctx = test_context(1);
            char text[sizeof heap + 200];
            snprintf(text, sizeof text, heap, friction[k],
                     rises ? ", 'track': [{'time': 0}, {'time': 1, 'position': [0, 0, 0.3]}]" : "", friction[k]);
            play p = begin_file(ctx, write_scene("heap.json", text), NULL);
            double most = -INFINITY, least = INFINITY;
            for (int i = 0; i < 240; i++) {
                check_ok(ctx, bough_run_step(ctx, p.run));
                most = fmax(most, value(&p, "work")), least = fmin(least, value(&p, "work"));
            }
            printf("mu = %g%s: work of contacts %.3g to %.3g J\n", friction[k], rises ? ", rising" : "", least, most);
            if (rises)
                check(value(&p, "work") > 10);
            else
                check_below(most, 1e-3);
            end(ctx, &p);
            bough_context_destroy(ctx);
        }
}

static const char shelf[] =
    "{'bough': 1, 'components': {'arm': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': "
    "[8, "
    "2, 2], 'origin': [0, -0.05, -0.05]}, 'material': {'young': 3e8, 'density': 600}, 'damping': {'mass': 0.2, "
    "'stiffness': 0.002}, 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 8}}, "
    "'stone': "
    "{'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.2, 0.2, 0.2], 'cells': [2, 2, 2], 'origin': [-0.1, -0.1, "
    "-0.1]}, 'material': {'density': 2000}, 'damping': {'mass': 0.2, 'stiffness': 0.002}, 'basis': {'r': 0}}}, "
    "'parts': "
    "[{'name': 'a', 'component': 'arm', 'position': [0, 0, 0.3]}, {'name': 'b', 'component': 'arm', 'parent': 'a'}, "
    "{'name': 'stone', 'component': 'stone', 'position': [1.2, 0, 0.8]}], %s 'gravity': [0, 0, -9.81], 'obstacles': "
    "[{'name': 'ground', 'shape': {'plane': true}}], 'contact': {'solids': [{'part': 'stone', 'shape': {'box': [0.2, "
    "0.2, "
    "0.2]}}]}, 'probes': [{'name': 'stone', 'part': 'stone'}, {'name': 'push', 'contact': 'stone'}], 'time': {'dt': "
    "0.0041666666666666666, 'duration': 3}}";

/* A stone that says how it is damped, which means nothing for a rigid part, falls onto a shelf of two arms, whose end may
 * be tied to the world, and is borne by it. */
static void a_stone_lies_on_a_shelf(void **unused) {
    (void)unused;
    static const char *ties[] = {
        "",
        "'ties': [{'name': 't', 'parts': ['b'], 'interfaces': ['tip'], 'stiffness': 1e5, 'turning_stiffness': 1e4}],"};
    for (int tied = 0; tied < 2; tied++) {
        bough_context *ctx = test_context(1);
        char text[sizeof shelf + 200];
        snprintf(text, sizeof text, shelf, ties[tied]);
        play p = begin_file(ctx, write_scene("shelf.json", text), NULL);
        double most = 0, pushed = 0;
        for (int i = 0; i < 720; i++) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            most = fmax(most, value(&p, "work"));
            pushed += i < 360 ? 0 : value(&p, "push.fz") / 360;
        }
        printf("%s: the stone is at %.3f m, borne with %.5g N\n", tied ? "tied" : "free", value(&p, "stone.z"), pushed);
        check_near(pushed, 16 * 9.81, tied ? 0.5 : 8);
        check_below(most, 1e-3);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_stone_lies_on_a_shelf),
                                       cmocka_unit_test(plates_bounce_without_energy_from_nothing),
                                       cmocka_unit_test(rough_ground_gives_no_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
