/* Scenes of one full body that touches obstacles: every shape holds it up, settings change the motion, runs resume to
 * the same bits, and what makes no sense gets a sentence. */
#include "play.h"

#include "base/vec.h"

#include <bough/mesh.h>

#define G 9.81
/* A cube of 0.1 m whose lowest face is at z = 0; it weighs 1 kg. */
#define CUBE                                                                                                 \
    "'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.1, 0.1, 0.1], 'cells': [2, 2, 2]}, 'material': " \
    "{'model': 'neo-hookean', 'young': 1e6, 'poisson': 0.3, 'density': 1000}, 'damping': {'stiffness': 0.002}"
#define SCENE_OF(gravity, obstacles, more, time)                                                                \
    "{'bough': 1, " CUBE ", 'gravity': " gravity ", 'obstacles': [" obstacles "], 'probes': [{'name': 'cube', " \
    "'select': 'all'}]" more ", 'time': {" time "}}"
#define SCENE(obstacles, more) \
    SCENE_OF("[0, 0, -9.81]", obstacles, more, "'integrator': 'backward-euler', 'dt': 0.005, 'duration': 1")
#define GROUND(more) "{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, -0.002]" more "}"

static play begin_text(bough_context *ctx, const char *text) {
    const bough_run_def def = bough_default_run_def();
    return begin_file(ctx, write_scene("touching.json", text), &def);
}

static void advance(bough_context *ctx, play *p, int steps) {
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}

/* The sum of all forces of contact; every gap is positive. */
static bo_vec3 push_on(const play *p, int32_t *count) {
    static bough_run_contact contacts[1000];
    bo_vec3 sum = {0, 0, 0};
    *count = bough_run_contacts(p->run, 1000, contacts);
    check(*count <= 1000);
    for (int32_t i = 0; i < *count; i++) {
        check(contacts[i].gap > 0 && contacts[i].things[0] == 0 && contacts[i].things[1] > 0);
        check_near(bo_norm(bo_load3(contacts[i].normal)), 1, 1e-12);
        sum = bo_add(sum, bo_load3(contacts[i].force));
    }
    return sum;
}

/* ---- shapes ---- */

static void every_shape_holds_it_up(void **unused) {
    (void)unused;
    static const char *const shapes[] = {
        "{'plane': true}, 'position': [0, 0, -0.002]",
        "{'box': [0.3, 0.3, 0.1]}, 'position': [0.05, 0.05, -0.052]",
        "[{'sphere': 0.2, 'position': [0, 0, 0]}, {'sphere': 0.2, 'position': [0.1, 0, 0]}, {'sphere': 0.2, "
        "'position': "
        "[0.05, 0.1, 0]}], 'position': [0, 0, -0.2005]",
        "[{'capsule': [0.05, 1], 'rotate_deg': [90, 0, 0]}, {'capsule': [0.05, 1], 'rotate_deg': [90, 0, 0], "
        "'position': [0.1, 0, 0]}], 'position': [0, 0, -0.052]",
        "{'cylinder': [0.3, 0.2]}, 'position': [0.05, 0.05, -0.103]",
        "{'height_field': {'size': [1, 1], 'heights': [[0, 0.01, 0], [0.01, -0.01, 0], [0, 0.02, 0]]}}, 'position': "
        "[0.05, 0.05, -0.03]"};
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[2000];
        int32_t count;
        snprintf(text, sizeof text, SCENE("{'name': 'rest', 'shape': %s}", ", 'contact': {'friction': 1}"), shapes[i]);
        play p = begin_text(ctx, text);
        const double start = value(&p, "cube.z");
        advance(ctx, &p, 200);
        const bo_vec3 push = push_on(&p, &count);
        printf("%.40s: %d contacts bear %.6g N, it sank by %.3g mm and moves at %.2g mm/s\n", shapes[i], count, push.z,
               1e3 * (start - value(&p, "cube.z")), 1e3 * fabs(value(&p, "cube.vz")));
        check_near(push.z, G, 1e-4 * G);
        check_below(start - value(&p, "cube.z"), 0.05);
        check_below(fabs(value(&p, "cube.vz")), 2e-3);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Two thin rods between the vertices of a coarse cube: it falls past them, but not where it has points on edges and faces
 * that are nearer to each other than the rods are thick. In between these a rod of the radius r goes no deeper than an arc
 * of it does over the spacing s, r - sqrt(r^2 - s^2 / 4). */
static void thin_rods_are_felt_between_vertices(void **unused) {
    (void)unused;
    const double radius = 0.004, spacing = 0.005, deepest = radius - sqrt(radius * radius - spacing * spacing / 4);
    bough_context *ctx = test_context(1);
    for (int between = 0; between < 2; between++) {
        char text[2000];
        int32_t count;
        snprintf(
            text, sizeof text,
            SCENE("{'name': 'rods', 'shape': [{'capsule': [0.004, 1], 'rotate_deg': [90, 0, 0], 'position': "
                  "[0.0275, 0, 0]}, {'capsule': [0.004, 1], 'rotate_deg': [90, 0, 0], 'position': [0.0725, 0, 0]}], "
                  "'position': [0, 0, -0.006]}",
                  ", 'contact': {'distance': 2e-4, 'friction': 1%s}"),
            between ? ", 'spacing': 0.005" : "");
        play p = begin_text(ctx, text);
        advance(ctx, &p, 100);
        const bo_vec3 push = push_on(&p, &count);
        printf("%s points between vertices: %d contacts bear %.5g N, it sank by %.4g mm\n",
               between ? "with" : "without", count, push.z, -1e3 * value(&p, "cube.uz"));
        if (between) {
            check_near(push.z, G, 1e-5 * G);
            check_below(-value(&p, "cube.uz"), 0.002 + deepest + 1e-3); /* it strains a little, too */
        } else {
            check_below(value(&p, "cube.uz"), -0.2);
        }
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* The surface of an octahedron as a file. */
static void write_octahedron(bool open) {
    static const char text[] =
        "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\nf 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 "
        "5\nf 3 1 6\nf 2 3 6\nf 4 2 6\n";
    char all[sizeof text + 10];
    snprintf(all, sizeof all, "%s%s", text, open ? "" : "f 1 4 6\n");
    test_write_text(test_path("octahedron.obj"), all);
}

/* It lies on a sloping face and slides off; nothing ever gets inside. */
static void a_mesh_is_an_obstacle(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_scene *none;
    int32_t count, most = 0;
    const char *text = SCENE("{'name': 'stone', 'shape': {'mesh': 'octahedron.obj', 'colour': [0.5, 0.5, 0.5]}, "
                             "'position': [0.02, 0.03, -1.01]}",
                             "");
    write_octahedron(false);
    play p = begin_text(ctx, text);
    for (int i = 0; i < 100; i++) {
        advance(ctx, &p, 1);
        push_on(&p, &count);
        most = count > most ? count : most;
    }
    check(most > 0);
    check(value(&p, "cube.x") > 0.05); /* towards the side on which more of it is */
    end(ctx, &p);
    write_octahedron(true);
    check_fails(ctx, bough_scene_load(ctx, write_scene("touching.json", text), &none), BOUGH_ERROR_FORMAT,
                "3 open edges");
    bough_context_destroy(ctx);
}

/* A start within the distance of contact is a start with energy, by any method. */
static void it_may_begin_near_an_obstacle(void **unused) {
    (void)unused;
    static const char *const methods[] = {"backward-euler", "bdf2", "sdirk", "tr-bdf2"};
    bough_context *ctx = test_context(1);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        char text[2000];
        snprintf(text, sizeof text,
                 SCENE_OF("[0, 0, -9.81]", "{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, -1e-4]}",
                          "", "'integrator': '%s', 'dt': 0.005, 'duration': 1"),
                 methods[m]);
        play p = begin_text(ctx, text);
        const double start = value(&p, "total");
        advance(ctx, &p, 100);
        printf("%s: %.3g J at the start, balance %.2g J, cube at %.3g mm\n", methods[m], start, value(&p, "balance"),
               1e3 * value(&p, "cube.uz"));
        check(value(&p, "balance") < 1e-6 && value(&p, "cube.uz") > -1e-4);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Ground that rises under a cube on rails, and slides sideways without friction, which changes nothing. */
static void what_is_held_stays_so(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    double ends[2];
    for (int slides = 0; slides < 2; slides++) {
        char text[2000];
        snprintf(
            text, sizeof text,
            "{'bough': 1, " CUBE ", 'fix': {'select': 'x0', 'axes': 'xy'}, 'gravity': [0, 0, -9.81], 'obstacles': "
            "[{'name': 'ground', 'shape': {'plane': true}, 'friction': 0, 'track': [{'time': 0, 'position': [0, 0, "
            "-0.002]}, {'time': 1, 'position': [%d, 0, 0.1]}]}], 'probes': [{'name': 'cube', 'select': 'all'}], "
            "'time': {'integrator': 'backward-euler', 'dt': 0.005, 'duration': 1}}",
            5 * slides);
        play p = begin_text(ctx, text);
        advance(ctx, &p, 150);
        ends[slides] = value(&p, "cube.z");
        check_below(fabs(value(&p, "cube.ux")), 1e-4);
        end(ctx, &p);
    }
    printf("lifted to %.6g and %.6g m\n", ends[0], ends[1]);
    check(ends[0] > 0.1);
    check_near(ends[0], ends[1], 1e-5);
    bough_context_destroy(ctx);
}

/* ---- settings ---- */

static double slide(bough_context *ctx, const char *obstacle, const char *contact, const char *column) {
    char text[2000];
    snprintf(text, sizeof text,
             SCENE_OF("[3, 0, -9.81]", "%s", ", 'contact': {%s}",
                      "'integrator': 'backward-euler', 'dt': 0.005, 'duration': 1"),
             obstacle, contact);
    play p = begin_text(ctx, text);
    advance(ctx, &p, 100);
    const double found = value(&p, column);
    end(ctx, &p);
    return found;
}

static void settings_change_the_motion(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double free = slide(ctx, GROUND(", 'friction': 0"), "'friction': 1", "cube.vx");
    const double some = slide(ctx, GROUND(", 'friction': 0.1"), "'friction': 0.1", "cube.vx");
    const double held = slide(ctx, GROUND(", 'friction': 0.6"), "'friction': 0.6", "cube.vx");
    printf("sliding at %.4g, %.4g, %.4g m/s\n", free, some, held);
    check_near(free, 1.5, 1e-8);
    check_near(some, 0.5 * (3 - 0.1 * G), 1e-3);
    check_below(held, 1e-3);
    const double quick = slide(ctx, GROUND(", 'friction': 0.6"), "'friction': 0.6, 'slip_speed': 0.01", "cube.vx");
    check_near(quick / held, 10, 0.5); /* it creeps in proportion */
    const double near = slide(ctx, GROUND(", 'friction': 0.6"), "'friction': 0.6, 'distance': 1e-4", "cube.uz");
    const double far = slide(ctx, GROUND(", 'friction': 0.6"), "'friction': 0.6, 'distance': 2e-3", "cube.uz");
    printf("sinks by %.4g and %.4g mm\n", -1e3 * near, -1e3 * far);
    check(near < -1.8e-3 && far > -1e-3);
    const double soft = slide(ctx, GROUND(""), "'stiffness': 0.1, 'distance': 2e-3", "cube.uz");
    check(soft < far);
    bough_context_destroy(ctx);
}

/* A press that comes down follows its track, and the body gives way to it. */
static void obstacles_move_along_tracks(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(
        ctx,
        SCENE(GROUND("") ", {'name': 'press', 'shape': {'plane': true, 'rotate_deg': [180, 0, 0]}, 'track': [{'time': "
                         "0, 'position': [0, 0, 0.11]}, {'time': 0.5, 'position': [0, 0, 0.07]}]}",
              ""));
    int32_t count;
    advance(ctx, &p, 120);
    push_on(&p, &count);
    const double z = value(&p, "cube.z"), work = value(&p, "work");
    printf("the cube is squeezed to %.4g m, by a work of %.4g J, balance %.3g J\n", 2 * (z + 0.002), work,
           value(&p, "balance"));
    check(count >= 18);
    check_near(z, 0.034, 1e-4); /* half way between -0.002 and 0.07 */
    check(work > 0.5);
    check_below(value(&p, "balance"), 1e-2 * work); /* damping takes a part, nothing is added */
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Two cubes in one mesh, one 1 cm above the other, as a file. */
static void write_two_cubes(bough_context *ctx) {
    bough_box_def box = bough_default_box_def();
    bough_mesh *one, *both;
    double x[2 * 81];
    int32_t elements[2 * 64];
    for (int k = 0; k < 3; k++)
        box.size[k] = 0.1, box.cells[k] = 2;
    box.type = BOUGH_HEX8;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &one));
    check_int(one->vertex_count, 27);
    for (int i = 0; i < 162; i++)
        x[i] = one->vertices[i % 81] + (i >= 81 && i % 3 == 2 ? 0.11 : i >= 81 && i % 3 == 0 ? 0.013 : 0);
    for (int i = 0; i < 128; i++)
        elements[i] = one->elements[i % 64] + (i >= 64 ? 27 : 0);
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_HEX8, 54, x, 16, elements, &both));
    check_ok(ctx, bough_mesh_write(ctx, both, test_path("two.msh")));
    bough_mesh_destroy(ctx, one), bough_mesh_destroy(ctx, both);
}

static void pieces_of_a_body_touch_if_told_so(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    double ends[2];
    write_two_cubes(ctx);
    for (int itself = 0; itself < 2; itself++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "{'bough': 1, 'mesh': 'two.msh', 'material': {'model': 'neo-hookean', 'young': 1e6, 'poisson': 0.3, "
                 "'density': 1000}, 'damping': {'stiffness': 0.002}, 'gravity': [0, 0, -9.81], 'obstacles': [" GROUND(
                     "") "], 'contact': {'itself': %s}, 'probes': [{'name': 'upper', 'select': 'z>0.105'}], 'time': "
                         "{'integrator': 'backward-euler', 'dt': 0.005, 'duration': 1}}",
                 itself ? "true" : "false");
        play p = begin_text(ctx, text);
        advance(ctx, &p, 100);
        ends[itself] = value(&p, "upper.uz");
        end(ctx, &p);
    }
    printf("the upper cube falls by %.4g mm onto the ground, or by %.4g mm onto the lower one\n", -1e3 * ends[0],
           -1e3 * ends[1]);
    check_near(ends[0], -0.112, 2e-3);
    check_near(ends[1], -0.012, 2e-3);
    bough_context_destroy(ctx);
}

/* ---- long runs, resuming ---- */

static void what_rests_stays_for_a_minute(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const char *text =
        SCENE_OF("[2, 0, -9.81]", GROUND(""), "", "'integrator': 'bdf2', 'dt': 0.016666666666666666, 'duration': 60");
    play p = begin_text(ctx, text);
    int32_t count;
    advance(ctx, &p, 120);
    const double x = value(&p, "cube.x"), z = value(&p, "cube.z");
    advance(ctx, &p, test_long() ? 3480 : 480);
    const double seconds = test_long() ? 58 : 8, creep = 1e-3 * (1 - sqrt(1 - 2 / (0.5 * G)));
    printf("it went %.4g mm in %g s (creep: %.4g), and %.3g nm down\n", 1e3 * (value(&p, "cube.x") - x), seconds,
           1e3 * creep * seconds, 1e9 * (z - value(&p, "cube.z")));
    check_near(value(&p, "cube.x") - x, creep * seconds, 1e-8);
    check_below(fabs(value(&p, "cube.z") - z), 1e-8);
    check_near(push_on(&p, &count).z, G, 1e-8);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void runs_resume_to_the_same_bits(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const char *scene = write_scene("touching.json", SCENE(GROUND(""), ""));
    const char *checkpoint = test_path("half.checkpoint");
    bough_run_def def = bough_default_run_def();
    play whole = begin_file(ctx, scene, &def), half = begin_file(ctx, scene, &def);
    advance(ctx, &whole, 60);
    advance(ctx, &half, 30);
    check_ok(ctx, bough_run_save(ctx, half.run, checkpoint));
    end(ctx, &half);
    def.resume = checkpoint;
    half = begin_file(ctx, scene, &def);
    advance(ctx, &half, 30);
    check(value(&half, "cube.z") == value(&whole, "cube.z") && value(&half, "total") == value(&whole, "total"));
    end(ctx, &half), end(ctx, &whole);
    bough_context_destroy(ctx);
}

/* ---- what makes no sense ---- */

static void wrong_scenes_are_told(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {SCENE("{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, 0.05]}", ""), "inside ground"},
        {SCENE("{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, 0]}", ""), "on the surface of ground"},
        {SCENE("{'name': 'ground', 'shape': []}", ""), "no shape in it"},
        {SCENE(GROUND(""), ", 'contact': {'distance': 10}"), "more than the size"},
        {SCENE("{'shape': {'plane': true}}", ""), "name"},
        {SCENE("{'name': 'ground'}", ""), "shape"},
        {SCENE("{'name': 'ground', 'shape': {'plane': true}, 'touch': true}", ""), "unknown key"},
        {SCENE(GROUND("") ", " GROUND(""), ""), "ground"},
        {SCENE(GROUND(", 'friction': -1"), ""), "friction"},
        {SCENE(GROUND(", 'track': [{'time': 0, 'position': [0, 0, 0]}]"), ""), "leave out"},
        {SCENE(GROUND(""), ", 'contact': {'distance': 0}"), "distance"},
        {SCENE(GROUND(""), ", 'contact': {'slip': 1}"), "slip_speed"},
        {"{'bough': 1, " CUBE ", 'contact': {'friction': 1}}", "nothing to touch"},
        {SCENE(GROUND(""), ", 'contact': {'itself': true, 'distance': 0.2}"), "nearer to itself"},
        {SCENE_OF("[0, 0, 0]", GROUND(""), "", "'integrator': 'trapezoidal', 'duration': 1"), "backward-euler"},
        {SCENE_OF("[0, 0, 0]", GROUND(""), "", "'integrator': 'rk4', 'duration': 1"), "backward-euler"},
        {SCENE_OF("[0, 0, 0]", GROUND(""), "", "'integrator': 'newmark', 'duration': 1"), "backward-euler"},
    };
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bough_scene *scene = NULL;
        bough_run *run = NULL;
        const bough_run_def def = bough_default_run_def();
        bough_status status = bough_scene_load(ctx, write_scene("wrong.json", wrong[i].text), &scene);
        if (status == BOUGH_OK)
            status = bough_run_create(ctx, scene, &def, &run);
        if (status == BOUGH_OK || !strstr(bough_message(ctx), wrong[i].sentence))
            fail_msg("scene %zu: status %d, %s", i, (int)status, bough_message(ctx));
        bough_run_destroy(ctx, run);
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_holds_it_up),       cmocka_unit_test(thin_rods_are_felt_between_vertices),
        cmocka_unit_test(a_mesh_is_an_obstacle),         cmocka_unit_test(it_may_begin_near_an_obstacle),
        cmocka_unit_test(what_is_held_stays_so),         cmocka_unit_test(settings_change_the_motion),
        cmocka_unit_test(obstacles_move_along_tracks),   cmocka_unit_test(pieces_of_a_body_touch_if_told_so),
        cmocka_unit_test(what_rests_stays_for_a_minute), cmocka_unit_test(runs_resume_to_the_same_bits),
        cmocka_unit_test(wrong_scenes_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
