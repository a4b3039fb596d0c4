/* Scenes of several full bodies: each has a mesh, a material, a place and a motion of its own, they never pass through
 * each other, and what makes no sense gets a sentence. */
#include "play.h"

#include "base/vec.h"

#include <bough/mesh.h>

#define BOX(size) \
    "{'generate': 'box', 'type': 'hex8', 'origin': [-0.05, -0.05, -0.05], 'size': " size ", 'cells': [2, 2, 2]}"
#define CUBE BOX("[0.1, 0.1, 0.1]")
#define MATTER "'material': {'model': 'neo-hookean', 'young': 1e6, 'poisson': 0.3, 'density': 1000}"
#define SCENE(bodies, more) "{'bough': 1, 'bodies': [" bodies "], " MATTER more "}"
#define TIME(dt) ", 'time': {'integrator': 'backward-euler', 'dt': " dt ", 'duration': 1}"

static play begin_text(bough_context *ctx, const char *text) {
    const bough_run_def def = bough_default_run_def();
    return begin_file(ctx, write_scene("bodies.json", text), &def);
}

/* A heavy small cube lies on a large soft one: the ground bears both, the large one bears the small one, and contacts,
 * probes and selections know them by their names. */
static void bodies_bear_each_other(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(
        ctx, SCENE("{'name': 'below', 'mesh': " CUBE ", 'position': [0, 0, 0.051]}, {'name': 'above', 'mesh': " CUBE
                   ", 'position': [0, 0, 0.152], 'rotate_deg': [0, 0, 30], 'material': {'density': 2000}}",
                   ", 'damping': {'stiffness': 0.002}, 'gravity': [0, 0, -9.81], 'obstacles': [{'name': 'ground', "
                   "'shape': {'plane': true}}], 'contact': {'distance': 0.001}, 'probes': [{'name': 'top', 'select': "
                   "'above.z1'}, {'name': 'all of it', 'select': 'below'}]" TIME("0.005")));
    for (int i = 0; i < 200; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    static bough_run_contact contacts[2000];
    const int32_t count = bough_run_contacts(p.run, 2000, contacts);
    double ground = 0, between = 0;
    check_int(bough_run_thing_count(p.run), 3); /* the bodies, then the obstacle */
    check(!strcmp(bough_run_thing(p.run, 1)->name, "above"));
    check(!strcmp(bough_run_thing(p.run, 2)->name, "ground"));
    check_near(bough_run_thing(p.run, 0)->mass, 1, 1e-12);
    check_near(bough_run_thing(p.run, 1)->mass, 2, 1e-12);
    check(count > 8 && count <= 2000);
    for (int32_t i = 0; i < count; i++) {
        const int32_t *things = contacts[i].things;
        check(contacts[i].gap > 0);
        check(things[1] == 2 ? things[0] == 0 : things[0] != things[1]);
        if (things[1] == 2)
            ground += contacts[i].force[2];
        else
            between += (things[0] == 1 ? 1 : -1) * contacts[i].force[2];
    }
    printf("the ground bears %.6g N, the lower cube %.6g N; the top is at %.5f m\n", ground, between,
           value(&p, "top.z"));
    check_near(ground, 3 * 9.81, 1e-4);
    check_near(between, 2 * 9.81, 1e-3);
    check(value(&p, "top.z") > 0.19 && value(&p, "top.z") < 0.203);
    check_near(value(&p, "all of it.x"), 0, 1e-3);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Bodies that meet in flight keep their momentum, and begin with the velocity and the spin of each. */
static void bodies_that_collide_keep_their_momentum(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, SCENE("{'name': 'a', 'mesh': " CUBE
                                   ", 'velocity': [3, 0, 0], 'spin': [0, 0, 2]}, {'name': 'b', 'mesh': " CUBE
                                   ", 'position': [0.11, 0.02, 0.01], 'velocity': [-1, 0, 0]}",
                                   ", 'contact': {'distance': 0.001, 'friction': 0.5}" TIME("0.001")));
    check_near(value(&p, "momentum.x"), 3 - 1, 1e-12);
    check_near(value(&p, "angular_momentum.z"), 2 * 1. / 600 + 0.02 * 1, 1e-14);
    for (int i = 0; i < 60; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    printf("momentum %.12g, %.2g, %.2g kg m/s\n", value(&p, "momentum.x"), value(&p, "momentum.y"),
           value(&p, "momentum.z"));
    check_near(value(&p, "momentum.x"), 2, 1e-12);
    check_near(value(&p, "momentum.y"), 0, 2e-14);
    check_near(value(&p, "momentum.z"), 0, 2e-14);
    check_below(value(&p, "kinetic"), 0.9 * (0.5 * 9 + 0.5)); /* they have met */
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* The order of elimination depends on the pairs that have touched so far, and rounding on that order: a checkpoint has
 * them, too. */
static void runs_resume_to_the_same_bits(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const char *scene = write_scene(
        "falling.json",
        SCENE("{'name': 'below', 'mesh': " CUBE ", 'position': [0, 0, 0.1]}, {'name': 'above', 'mesh': " CUBE
              ", 'position': [0.01, 0, 0.25], 'rotate_deg': [0, 0, 20]}",
              ", 'gravity': [0, 0, -9.81], 'obstacles': [{'name': 'ground', 'shape': {'plane': true}}]" TIME("0.005")));
    const char *checkpoint = test_path("half.checkpoint");
    bough_run_def def = bough_default_run_def();
    play whole = begin_file(ctx, scene, &def), half = begin_file(ctx, scene, &def);
    for (int i = 0; i < 100; i++)
        check_ok(ctx, bough_run_step(ctx, whole.run));
    for (int i = 0; i < 60; i++)
        check_ok(ctx, bough_run_step(ctx, half.run));
    check(bough_run_contacts(half.run, 0, NULL) > 20);
    check_ok(ctx, bough_run_save(ctx, half.run, checkpoint));
    end(ctx, &half);
    def.resume = checkpoint;
    half = begin_file(ctx, scene, &def);
    for (int i = 60; i < 100; i++)
        check_ok(ctx, bough_run_step(ctx, half.run));
    for (int32_t c = 0; c < bough_run_column_count(whole.run); c++)
        if (bough_run_values(whole.run)[c] != bough_run_values(half.run)[c])
            fail_msg("%s: %.17g and %.17g", bough_run_column_name(whole.run, c), bough_run_values(whole.run)[c],
                     bough_run_values(half.run)[c]);
    end(ctx, &half), end(ctx, &whole);
    bough_context_destroy(ctx);
}

static void what_makes_no_sense_gets_a_sentence(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {SCENE("{'name': 'a', 'mesh': " CUBE "}, {'name': 'a', 'mesh': " CUBE "}", ""), "\"a\""},
        {SCENE("{'name': 'a', 'mesh': " CUBE "}, {'name': 'b'}", ""), "\"mesh\" is missing"},
        {SCENE("{'mesh': " CUBE "}", ""), "\"name\" is missing"},
        {SCENE("{'name': 'a b', 'mesh': " CUBE "}", ""), "letters, digits"},
        {SCENE("{'name': 'all', 'mesh': " CUBE "}", ""), "take another name"},
        {SCENE("{'name': 'a', 'mesh': " CUBE ", 'fix': 'x0'}", ""), "unknown key \"fix\""},
        {SCENE("{'name': 'a', 'mesh': " CUBE ", 'spin': [0, 0]}", ""), "spin"},
        {SCENE("{'name': 'a', 'mesh': " CUBE ", 'material': {'young': -1}}", ""), "young"},
        {SCENE("{'name': 'a', 'mesh': " CUBE "}", ", 'mesh': " CUBE), "does not go with \"bodies\""},
        {SCENE("{'name': 'a', 'mesh': " CUBE "}", ", 'regions': []"), "does not go with \"bodies\""},
        {SCENE("{'name': 'a', 'mesh': " CUBE "}, {'name': 'b', 'mesh': {'generate': 'box', 'size': [1, 1, 1]}}", ""),
         "elements of one type"},
        {SCENE("{'name': 'a', 'mesh': " CUBE "}", ", 'fix': 'b'"), "b"},
        {SCENE("{'name': 'a', 'mesh': " CUBE "}, 7", ""), "bodies[1]"},
        {SCENE("{'name': 'a', 'mesh': 'nowhere.msh'}", ""), "nowhere.msh"},
    };
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bough_scene *scene;
        const bough_status status = bough_scene_load(ctx, write_scene("wrong.json", cases[i].text), &scene);
        printf("%s\n", bough_message(ctx));
        check(status < 0 && !scene);
        check(strstr(bough_message(ctx), cases[i].sentence) != NULL);
    }
    bough_context_destroy(ctx);
}

/* Selections hold one of them, and "itself": false lets them pass through each other. */
static void bodies_can_be_held_or_pass(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int passes = 0; passes < 2; passes++) {
        char text[2000];
        snprintf(text, sizeof text,
                 SCENE("{'name': 'held', 'mesh': " CUBE "}, {'name': 'falls', 'mesh': " CUBE
                       ", 'position': [0, 0, 0.12]}",
                       ", 'fix': 'held', 'gravity': [0, 0, -9.81], 'contact': {'distance': 0.001, 'itself': %s}, "
                       "'probes': [{'name': 'falls', 'select': 'falls'}]" TIME("0.005")),
                 passes ? "false" : "true");
        play p = begin_text(ctx, text);
        for (int i = 0; i < 60; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        printf("after 0.3 s at %.4f m\n", value(&p, "falls.z"));
        check(passes ? value(&p, "falls.z") < -0.2 : value(&p, "falls.z") > 0.095);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* ---- overlaps at the start ---- */

/* A bar that is bent to more than a full turn, so that its ends are in each other. */
static void write_coil(bough_context *ctx) {
    bough_box_def box = bough_default_box_def();
    bough_mesh *mesh;
    box.type = BOUGH_HEX8, box.size[1] = box.size[2] = 0.05, box.cells[0] = 40;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        double *x = mesh->vertices + 3 * v;
        const double angle = 2.1 * M_PI * x[0], radius = 0.2 - x[1], z = x[2] + 0.02 * x[0];
        x[0] = radius * cos(angle), x[1] = radius * sin(angle), x[2] = z;
    }
    check_ok(ctx, bough_mesh_write(ctx, mesh, test_path("coil.msh")));
    bough_mesh_destroy(ctx, mesh);
}

static void what_overlaps_at_the_start_is_told(void **unused) {
    (void)unused;
#define BALL "'obstacles': [{'name': 'pea', 'shape': {'sphere': 0.005}, 'position': [0.02, 0.02, 0.02]}]"
#define COIL \
    "{'bough': 1, 'mesh': 'coil.msh', " MATTER ", 'contact': {'itself': true, 'distance': 1e-4}" TIME("0.01") "}"
    static const struct {
        const char *text, *sentence;
    } wrong[] = {
        {SCENE("{'name': 'a', 'mesh': " CUBE "}, {'name': 'b', 'mesh': " CUBE ", 'position': [0.09, 0.01, 0.02]}",
               TIME("0.01")),
         "\"a\" and \"b\" touch or overlap at the start, at (0.0"},
        {SCENE("{'name': 'a', 'mesh': " CUBE "}, {'name': 'b', 'mesh': " CUBE ", 'position': [0, 0, 0.1]}",
               TIME("0.01")),
         "\"a\" and \"b\" touch or overlap"},
        {SCENE("{'name': 'a', 'mesh': " CUBE
               "}, {'name': 'stone', 'mesh': " BOX("[0.02, 0.02, 0.02]") ", 'position': "
                                                                         "[0.03, 0.03, 0.03]}",
               TIME("0.01")),
         "\"stone\" is inside \"a\""},
        {SCENE("{'name': 'far', 'mesh': " CUBE ", 'position': [1, 0, 0]}, {'name': 'a', 'mesh': " CUBE "}",
               ", " BALL TIME("0.01")),
         "the obstacle \"pea\" is inside \"a\" at the start, at (0.02, 0.02, 0.02)"},
        {"{'bough': 1, 'mesh': " CUBE ", " MATTER ", " BALL TIME("0.01") "}",
         "the obstacle \"pea\" is inside the body"},
        {COIL, "the body crosses itself at the start"},
    };
    bough_context *ctx = test_context(1);
    write_coil(ctx);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bough_scene *scene = NULL;
        bough_run *run = NULL;
        const bough_run_def def = bough_default_run_def();
        check_ok(ctx, bough_scene_load(ctx, write_scene("wrong.json", wrong[i].text), &scene));
        check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, wrong[i].sentence);
        printf("%s\n", bough_message(ctx));
        bough_scene_destroy(ctx, scene);
    }
    /* they may where they pass through each other */
    play p = begin_text(ctx, SCENE("{'name': 'a', 'mesh': " CUBE "}, {'name': 'b', 'mesh': " CUBE
                                   ", 'position': [0.09, 0.01, 0.02]}",
                                   ", 'contact': {'itself': false}" TIME("0.01")));
    end(ctx, &p);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bodies_bear_each_other),
                                       cmocka_unit_test(bodies_that_collide_keep_their_momentum),
                                       cmocka_unit_test(bodies_can_be_held_or_pass),
                                       cmocka_unit_test(what_makes_no_sense_gets_a_sentence),
                                       cmocka_unit_test(what_overlaps_at_the_start_is_told),
                                       cmocka_unit_test(runs_resume_to_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
