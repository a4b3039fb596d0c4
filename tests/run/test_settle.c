/* Full bodies settle on what they touch: forces balance weight, nothing moves afterwards, and what cannot rest is told. */
#include "play.h"

#include "base/vec.h"

#define G 9.81
/* A cube of 0.1 m whose lowest face is at z = 0; it weighs 1 kg. */
#define BOX(size, cells) "{'generate': 'box', 'type': 'hex8', 'size': " size ", 'cells': " cells "}"
#define CUBE "'mesh': " BOX("[0.1, 0.1, 0.1]", "[2, 2, 2]")
#define MATTER                                                                                                         \
    ", 'material': {'model': 'neo-hookean', 'young': 1e6, 'poisson': 0.3, 'density': 1000}, 'damping': {'stiffness': " \
    "0.002}"
#define GROUND(z) "{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, " z "]}"
#define TIME ", 'time': {'integrator': 'backward-euler', 'dt': 0.005, 'duration': 1}"
#define SCENE(body, gravity, obstacles, more) \
    "{'bough': 1, " body MATTER ", 'settle': true, 'gravity': " gravity ", 'obstacles': [" obstacles "]" more "}"
#define SUPPORT 1e-4 /* m: distance of contact where a scene says so */

static play begin_text(bough_context *ctx, const char *text) {
    const bough_run_def def = bough_default_run_def();
    return begin_file(ctx, write_scene("settle.json", text), &def);
}

static void advance(bough_context *ctx, play *p, int steps) {
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}

typedef struct {
    bo_vec3 on[4];  /* N: on each of the first things */
    double gaps[2]; /* m: least and largest of what pushes */
    double cone;    /* the largest friction over the normal force */
    int32_t count;
} pushes;

static pushes look(const play *p) {
    static bough_run_contact contacts[4000];
    pushes sum = {.gaps = {INFINITY, 0}, .count = bough_run_contacts(p->run, 4000, contacts)};
    check(sum.count > 0 && sum.count <= 4000);
    for (int32_t i = 0; i < sum.count; i++) {
        const bo_vec3 f = bo_load3(contacts[i].force), n = bo_load3(contacts[i].normal);
        const double normal = bo_dot(f, n);
        sum.gaps[0] = fmin(sum.gaps[0], contacts[i].gap);
        sum.gaps[1] = fmax(sum.gaps[1], contacts[i].gap);
        if (normal > 0)
            sum.cone = fmax(sum.cone, bo_norm(bo_mul_add(f, -normal, n)) / normal);
        for (int side = 0; side < 2; side++)
            if (contacts[i].things[side] < 4) {
                bo_vec3 *on = &sum.on[contacts[i].things[side]];
                *on = bo_mul_add(*on, side == 0 ? 1 : -1, f);
            }
    }
    return sum;
}

/* ---- one body ---- */

/* A cube high above the ground lies there, bears its weight, and goes on lying there. Friction holds what it strains, which
 * creep undoes in the run; without friction there is nothing to undo. */
static void lie_down(bough_context *ctx, double friction, double most_drift) {
    char text[2000];
    snprintf(text, sizeof text,
             SCENE(CUBE, "[0, 0, -9.81]", GROUND("-0.3"),
                   ", 'contact': {'distance': 1e-4, 'friction': %g}, 'probes': [{'name': 'cube', 'select': 'all'}], "
                   "'time': {'integrator': 'bdf2', 'dt': 0.016666666666666666, 'duration': 60}"),
             friction);
    play p = begin_text(ctx, text);
    bough_run_report report;
    bough_run_look(p.run, &report);
    const pushes start = look(&p);
    printf("settled to %.1e, bears %.12g N, gaps %.3g to %.3g of the support\n", report.settle_residual, start.on[0].z,
           start.gaps[0] / SUPPORT, start.gaps[1] / SUPPORT);
    check_below(report.settle_residual, 1e-8);
    check_near(start.on[0].z, G, 1e-8);
    check(start.gaps[0] > 0.1 * SUPPORT && start.gaps[1] < SUPPORT);
    const bo_vec3 at = bo_v3(value(&p, "cube.x"), value(&p, "cube.y"), value(&p, "cube.z"));
    const double energy = value(&p, "total");
    check_near(at.z, -0.25, 1e-3);
    const int steps = test_long() ? 3600 : 300;
    double most = -INFINITY;
    for (int i = 0; i < steps; i++) {
        advance(ctx, &p, 1);
        most = fmax(most, value(&p, "total") - energy);
    }
    const double drift = bo_norm(bo_sub(bo_v3(value(&p, "cube.x"), value(&p, "cube.y"), value(&p, "cube.z")), at));
    printf("friction %g: in %g s it drifts by %.2g m and gains %.2g J\n", friction, steps / 60., drift, most);
    check_below(drift, most_drift);
    check_below(most, 1e-11);
    end(ctx, &p);
}

static void a_cube_lies_on_the_ground_and_stays(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    lie_down(ctx, 0, 1e-9);
    lie_down(ctx, 0.5, 2e-5);
    bough_context_destroy(ctx);
}

/* A beam that is held at one end sags onto a ball: where it ends by itself, with damping and without friction. */
static void it_settles_where_a_run_ends(void **unused) {
    (void)unused;
    static const char *const settles[] = {"true", "false"};
    bough_context *ctx = test_context(1);
    double tip[2][3], force[2];
    for (int i = 0; i < 2; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "{'bough': 1, 'mesh': " BOX("[0.5, 0.05, 0.02]", "[20, 2, 1]") MATTER
                 ", 'settle': %s, 'fix': 'x0', 'gravity': [0, 0, -9.81], 'obstacles': [{'name': 'ball', 'shape': "
                 "{'sphere': 0.1}, 'position': [0.3, 0.025, -0.12], 'friction': 0}], 'contact': {'distance': 1e-4}, "
                 "'probes': [{'name': 'tip', 'select': 'x1'}], 'time': {'integrator': 'backward-euler', 'dt': 0.02, "
                 "'duration': 1}}",
                 settles[i]);
        play p = begin_text(ctx, text);
        advance(ctx, &p, i ? 250 : 0);
        for (int k = 0; k < 3; k++)
            tip[i][k] = value(&p, (const char *[]){"tip.x", "tip.y", "tip.z"}[k]);
        force[i] = look(&p).on[0].z;
        end(ctx, &p);
    }
    printf("the tip settles at %.6f, %.6f m and the ball bears %.5f N; a run ends at %.6f, %.6f m with %.5f N\n",
           tip[0][0], tip[0][2], force[0], tip[1][0], tip[1][2], force[1]);
    for (int k = 0; k < 3; k += 2)
        check_near(tip[0][k], tip[1][k], 2e-5); /* a part of the support distance: the run's barriers are stiffer */
    check_near(force[0] / force[1], 1, 1e-4);
    bough_context_destroy(ctx);
}

/* On a slope friction holds it, within its cone, where it first touches. */
static void friction_holds_what_lies_on_a_slope(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double angle = 20 * M_PI / 180;
    char text[2000];
    snprintf(text, sizeof text,
             SCENE(CUBE, "[%.17g, 0, %.17g]", GROUND("-0.002"),
                   ", 'contact': {'friction': 0.8}, 'probes': [{'name': 'cube', 'select': 'all'}]" TIME),
             G * sin(angle), -G * cos(angle));
    play p = begin_text(ctx, text);
    const pushes start = look(&p);
    printf("slope of %.4g: friction %.6g N, normal force %.6g N, at most %.3g of it; it went %.3g mm\n", tan(angle),
           -start.on[0].x, start.on[0].z, start.cone, 1e3 * value(&p, "cube.ux"));
    check_near(start.on[0].x, -G * sin(angle), 1e-9);
    check_near(start.on[0].z, G * cos(angle), 1e-9);
    check_below(start.cone, sqrt(0.8 * 0.5) * (1 + 1e-6));
    check_below(fabs(value(&p, "cube.ux")), 1e-3);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- several bodies ---- */

#define BLOCK                                                                                                         \
    "'mesh': {'generate': 'box', 'type': 'hex8', 'origin': [-0.05, -0.05, 0], 'size': [0.1, 0.1, 0.1], 'cells': [2, " \
    "2, 2]}"

static void a_stack_stands(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p =
        begin_text(ctx, SCENE("'bodies': [{'name': 'low', " BLOCK "}, {'name': 'middle', " BLOCK
                              ", 'position': [0.01, 0.005, 0.13], 'rotate_deg': [0, 0, 30]}, {'name': 'high', " BLOCK
                              ", 'position': [0, 0.01, 0.26], 'material': {'density': 500}}]",
                              "[0, 0, -9.81]", GROUND("-0.01"),
                              ", 'contact': {'distance': 1e-4}, 'probes': [{'name': 'high', 'select': 'high'}]" TIME));
    const pushes start = look(&p);
    const double z = value(&p, "high.z");
    printf("on the bodies act %.8g, %.8g and %.8g N; gaps from %.3g of the support, friction %.3g, the top at %.5f m\n",
           start.on[0].z, start.on[1].z, start.on[2].z, start.gaps[0] / SUPPORT, start.cone, z);
    /* Friction between bodies is listed as it acts at the nearest points, without the part that takes its torque off, which
     * is as much smaller as the gap is than an edge. */
    check_near(start.on[0].z, G, 2e-3 * G);
    check_near(start.on[1].z, G, 2e-3 * G);
    check_near(start.on[2].z, 0.5 * G, 1e-4 * G);
    check_near(start.on[3].z, -2.5 * G, 1e-9); /* the ground */
    check(start.gaps[0] > 0.1 * SUPPORT);
    check_below(start.cone, 0.5 * (1 + 1e-6));
    check_near(z, -0.01 + 0.25, 2e-3);
    advance(ctx, &p, 100);
    printf("the top moves by %.3g mm in half a second\n", 1e3 * (value(&p, "high.z") - z));
    check_near(value(&p, "high.z"), z, 5e-5);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A hook whose tongue is pressed onto its own floor by its weight. */
static void what_touches_itself_settles(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(
        ctx,
        "{'bough': 1, 'bodies': [{'name': 'floor', 'mesh': " BOX(
            "[0.3, 0.1, 0.02]",
            "[6, 2, 1]") "}, {'name': 'tongue', 'mesh': " BOX("[0.3, 0.05, 0.01]",
                                                              "[12, 2, 1]") ", 'position': [0, 0.02, 0.03]}]" MATTER
                                                                            ", 'settle': true, 'fix': ['floor.z0', "
                                                                            "'tongue.x0'], 'gravity': [0, 0, -9.81], "
                                                                            "'contact': {'distance': "
                                                                            "5e-4, 'friction': 0}, 'probes': [{'name': "
                                                                            "'tip', 'select': 'tongue.x1'}]" TIME "}");
    const pushes start = look(&p);
    printf("the tongue rests at %.5f m, pressed by %.4g N, gaps from %.3g of the support\n", value(&p, "tip.z"),
           start.on[1].z, start.gaps[0] / 5e-4);
    check(value(&p, "tip.z") > 0.025 && value(&p, "tip.z") < 0.026);
    check_near(start.on[0].z, -start.on[1].z, 1e-9);
    const double z = value(&p, "tip.z");
    advance(ctx, &p, 40);
    check_near(value(&p, "tip.z"), z, 1e-8);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- supports that are displaced ---- */

/* A cube is pressed onto a plane by a face that is displaced: the plane bears what the face gives. */
static void a_displaced_support_presses(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, SCENE(CUBE ", 'fix': {'select': 'z1', 'displacement': [0, 0, -0.03]}", "[0, 0, 0]",
                                   GROUND("-0.02"), ", 'contact': {'distance': 1e-4, 'friction': 0}" TIME));
    const pushes start = look(&p);
    printf("pressed by 10 mm of 0.1 m: %.5g N on 1 dm^2 of 1 MPa\n", start.on[0].z);
    check(start.on[0].z > 0.9 * 1e3 && start.on[0].z < 1.4 * 1e3); /* between a free side and one that is held */
    advance(ctx, &p, 20);
    check_near(look(&p).on[0].z / start.on[0].z, 1, 1e-6);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Without contact, loads and supports are those of the start, too. */
static void curves_count_with_their_values_at_the_start(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(
        ctx, "{'bough': 1, 'mesh': " BOX("[0.5, 0.05, 0.05]", "[10, 1, 1]") MATTER
        ", 'settle': true, 'curves': {'c': [[0, 1], [10, 1]]}, 'fix': {'select': 'x0', 'displacement': [0, 0, 0.02], "
        "'curve': 'c'}, 'forces': [{'select': 'x1', 'force': [0, 0, 0.05], 'curve': 'c'}], 'probes': [{'name': 'tip', "
        "'select': 'x1'}, {'name': 'root', 'select': 'x0'}]" TIME "}");
    const double z = value(&p, "tip.uz");
    printf("the tip settles at %.6g m\n", z);
    check_near(value(&p, "root.uz"), 0.02, 1e-15);
    check(z > 0.021);
    advance(ctx, &p, 50);
    check_near(value(&p, "tip.uz"), z, 1e-9);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- starts ---- */

#define SOFT_BLOCK(height, more, integrator)                                                                          \
    "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'tet4', 'size': [0.1, 0.1, 0.1], 'cells': [2, 2, 2], "          \
    "'origin': [0, 0, " height "]}, 'material': {'model': 'neo-hookean', 'young': 1e5, 'density': 1000}, 'gravity': " \
    "[0, 0, -9.81], 'obstacles': [{'name': 'ground', 'shape': {'plane': true}}], 'probes': [{'name': 'ground', "      \
    "'contact': 'ground'}]" more ", 'time': {'integrator': '" integrator "', 'dt': 0.01, 'duration': 0.1}}"

/* A block begins to creep in the run that follows an equilibrium in which friction has held it. No method is refused a step
 * for that, wherever the block was before it settled. */
static void runs_from_equilibria_go_on(void **unused) {
    (void)unused;
    static const char *const texts[] = {SOFT_BLOCK("1e-13", ", 'settle': true", "bdf2"),
                                        SOFT_BLOCK("0.01", ", 'settle': true", "tr-bdf2"),
                                        SOFT_BLOCK("0.01", ", 'settle': true", "sdirk")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bough_context *ctx = test_context(1);
        play p = begin_text(ctx, texts[i]);
        bough_run_report report;
        check_ok(ctx, bough_run_advance(ctx, p.run));
        bough_run_look(p.run, &report);
        printf("%lld steps refused, %g N, balance %g J\n", (long long)report.retries, value(&p, "ground.fz"),
               report.balance);
        check_int((int)report.retries, 0);
        check_near(value(&p, "ground.fz"), -G, 0.1 * G);
        check(report.balance < 1e-3); /* of 0.1 J that the block gave when it sank */
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* A block that is thrown along the ground stops where it meets it, however rough that is. */
static void rough_ground_stops_at_once(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p =
        begin_text(ctx, SOFT_BLOCK("0.01",
                                   ", 'initial': {'velocity': [2, 0, -1]}, 'contact': {'friction': 1e9, 'slip_speed': "
                                   "1e-4}",
                                   "bdf2"));
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check(value(&p, "balance") < 1e-9 && value(&p, "kinetic") < 2.5);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A gap of nothing but rounding has barriers that no step follows: it is told, with what to do. */
static void nothing_begins_on_the_brink(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *sentence; /* NULL: it runs */
    } cases[] = {
        {SOFT_BLOCK("1e-17", "", "bdf2"), "begins 1e-17 m from ground, whose repulsion would throw it off"},
        {SOFT_BLOCK("1e-7", "", "tr-bdf2"), "or let the scene settle"},
        {SOFT_BLOCK("0.0001", "", "bdf2"), NULL},
        {"{'bough': 1, 'bodies': [{'name': 'low', " CUBE "}, {'name': 'high', " CUBE
         ", 'position': [0, 0, 0.1000000000001]}], 'time': {'integrator': 'bdf2', 'dt': 0.01, 'duration': 0.1}}",
         "surfaces begin 1e-13 m from each other"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bough_context *ctx = test_context(1);
        play p = begin_text(ctx, cases[i].text);
        const bough_status status = bough_run_step(ctx, p.run);
        if (cases[i].sentence ? status != BOUGH_ERROR_ARGUMENT || !strstr(bough_message(ctx), cases[i].sentence)
                              : status != BOUGH_OK)
            fail_msg("scene %zu: status %d, %s", i, (int)status, bough_message(ctx));
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

/* ---- what has no equilibrium ---- */

static void what_cannot_rest_is_told(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {SCENE(CUBE, "[3.357, 0, -9.218]", GROUND("-0.002"), ", 'contact': {'friction': 0}" TIME),
         "the body slides or falls away without end"},
        {SCENE(CUBE, "[3.357, 0, -9.218]", GROUND("-0.002"), ", 'contact': {'friction': 0.2}" TIME),
         "the body slides or falls away without end"},
        {SCENE("'bodies': [{'name': 'lies', " CUBE "}, {'name': 'falls', " CUBE ", 'position': [5, 0, 0.15]}]",
               "[0, 0, -9.81]", "{'name': 'table', 'shape': {'box': [1, 1, 0.1]}, 'position': [0, 0, -0.06]}", TIME),
         "\"falls\" slides or falls away without end"},
        {SCENE(CUBE ", 'fix': {'select': 'z1', 'displacement': [0, 0, -0.15]}", "[0, 0, 0]", GROUND("-0.002"), TIME),
         "in the way of a support"},
    };
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bough_scene *scene = NULL;
        bough_run *run = NULL;
        const bough_run_def def = bough_default_run_def();
        check_ok(ctx, bough_scene_load(ctx, write_scene("wrong.json", wrong[i].text), &scene));
        const bough_status status = bough_run_create(ctx, scene, &def, &run);
        printf("%s\n", bough_message(ctx));
        if (status != BOUGH_NO_CONVERGENCE || !strstr(bough_message(ctx), wrong[i].sentence))
            fail_msg("scene %zu: status %d, %s", i, (int)status, bough_message(ctx));
        bough_run_destroy(ctx, run);
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

static void failed_allocations_leak_nothing(void **unused) {
    (void)unused;
    const char *path = write_scene(
        "memory.json",
        SCENE("'bodies': [{'name': 'low', 'mesh': " BOX(
                  "[0.1, 0.1, 0.1]",
                  "[1, 1, 1]") "}, {'name': 'high', 'mesh': " BOX("[0.1, 0.1, 0.1]",
                                                                  "[1, 1, 1]") ", 'position': [0.01, 0.02, 0.11]}]",
              "[0, 0, -9.81]", GROUND("-0.01"), ", 'contact': {'spacing': 0.06}" TIME));
    bool worked = false;
    long fail_at = 0;
    for (; !worked; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        bough_scene *scene;
        bough_run *run = NULL;
        const bough_run_def def = bough_default_run_def();
        check_ok(ctx, bough_scene_load(ctx, path, &scene));
        memory.fail_at = memory.calls + fail_at;
        const bough_status status = bough_run_create(ctx, scene, &def, &run);
        check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
        worked = status == BOUGH_OK && memory.calls <= memory.fail_at;
        bough_run_destroy(ctx, run);
        bough_scene_destroy(ctx, scene);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
    printf("%ld allocations failed\n", fail_at - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cube_lies_on_the_ground_and_stays),
                                       cmocka_unit_test(it_settles_where_a_run_ends),
                                       cmocka_unit_test(friction_holds_what_lies_on_a_slope),
                                       cmocka_unit_test(a_stack_stands),
                                       cmocka_unit_test(what_touches_itself_settles),
                                       cmocka_unit_test(a_displaced_support_presses),
                                       cmocka_unit_test(curves_count_with_their_values_at_the_start),
                                       cmocka_unit_test(runs_from_equilibria_go_on),
                                       cmocka_unit_test(rough_ground_stops_at_once),
                                       cmocka_unit_test(nothing_begins_on_the_brink),
                                       cmocka_unit_test(what_cannot_rest_is_told),
                                       cmocka_unit_test(failed_allocations_leak_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
