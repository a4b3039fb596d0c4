/* Sessions of bough view: states that are kept and gone back to, other files, motors, and stress as a field. */
#include "app/view_table.h"

#include <bough/component.h>

static json_t *states_of(const table *t) {
    return json_object_get(said(t, "states"), "states");
}

static size_t loose(const table *t) {
    return json_array_size(json_object_get(said(t, "parts"), "loose"));
}

/* ---- going back ---- */

static void a_saved_state_comes_back(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    steps(&t, 40);
    const int32_t tip = viewer_nearest(&t.seen, 2, 1.5, 0, 0);
    float before[3], after[3];
    memcpy(before, viewer_at(&t.seen, 2, tip), sizeof before);
    order(&t, "{'do': 'keep', 'name': 'bent'}");
    look_until(&t, json_array_size(states_of(&t)) == 1);
    check(!strcmp(json_string_value(json_object_get(json_array_get(states_of(&t), 0), "name")), "bent"));
    check_near(json_number_value(json_object_get(json_array_get(states_of(&t), 0), "time")), 0.08, 1e-9);
    order(&t, "{'do': 'cut', 'part': 2}");
    steps(&t, 60);
    check_int(loose(&t), 1);
    memcpy(after, viewer_at(&t.seen, 2, tip), sizeof after);
    check(fabsf(after[2] - before[2]) > 1e-3f);
    for (int k = 0; k < 2; k++) { /* also after a reset, which makes another run */
        order(&t, "{'do': 'restore', 'name': 'bent'}");
        look_until(&t, t.seen.layers[0].time < 0.081 && t.seen.layers[0].time > 0.079 && loose(&t) == 0);
        check_below(worst_difference(before, viewer_at(&t.seen, 2, tip), 1), 1e-5 * SIZE);
        order(&t, "{'do': 'reset'}");
        look_until(&t, t.seen.layers[0].time == 0);
    }
    steps(&t, 3); /* it goes on */
    order(&t, "{'do': 'forget', 'name': 'bent'}");
    look_until(&t, json_array_size(states_of(&t)) == 0);
    check(!said(&t, "error"));
    leave(&t);
}

static void states_have_their_limits(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    char text[64];
    look_until(&t, t.frames > 0);
    for (int i = 0; i < VIEW_STATES; i++) {
        snprintf(text, sizeof text, "{'do': 'keep', 'name': 'state %d'}", i);
        order(&t, text);
    }
    order(&t, "{'do': 'keep', 'name': 'state 3'}"); /* instead of the one before, and now the newest */
    look_until(&t,
               json_array_size(states_of(&t)) == VIEW_STATES &&
                   !strcmp(json_string_value(json_object_get(json_array_get(states_of(&t), VIEW_STATES - 1), "name")),
                           "state 3"));
    check(!said(&t, "error"));
    order(&t, "{'do': 'keep', 'name': 'one more'}");
    look_until(&t, said(&t, "error"));
    /* those of another engine are refused, and nothing happens */
    forget(&t, "error");
    order(&t, "{'do': 'engine', 'name': 'full'}");
    look_until(&t, t.seen.generation == 2);
    order(&t, "{'do': 'restore', 'name': 'state 3'}");
    look_until(&t, said(&t, "error"));
    check(strstr(json_string_value(json_object_get(said(&t, "error"), "text")), "tree"));
    steps(&t, 2);
    leave(&t);
}

/* The nearest moment of the last seconds that was kept: they are a quarter of a second apart. */
static void time_can_be_turned_back(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'dt', 'seconds': 0.01}");
    t.dt = 0.01;
    steps(&t, 120);
    look_until(&t, json_number_value(json_object_get(said(&t, "numbers"), "kept_from")) < 0.3);
    order(&t, "{'do': 'rewind', 'time': 0.8}");
    look_until(&t, fabs(t.seen.layers[0].time - 0.8) < 0.13);
    const double time = t.seen.layers[0].time;
    print_message("back at %g s\n", time);
    const int32_t tip = viewer_nearest(&t.seen, 2, 1.5, 0, 0);
    float there[3];
    memcpy(there, viewer_at(&t.seen, 2, tip), sizeof there);
    steps(&t, 20);
    check(fabsf(viewer_at(&t.seen, 2, tip)[2] - there[2]) > 1e-4f);
    order(&t, "{'do': 'rewind', 'time': 0.8}"); /* it is the same again */
    look_until(&t, fabs(t.seen.layers[0].time - time) < 1e-9);
    check_below(worst_difference(there, viewer_at(&t.seen, 2, tip), 1), 1e-5 * SIZE);
    check(!said(&t, "error"));
    leave(&t);
}

/* Time begins anew, and all are told so. */
static void a_ghost_says_that_time_begins_anew(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    steps(&t, 5);
    check(!said(&t, "note"));
    order(&t, "{'do': 'ghost', 'engine': 'tree', 'coupling': 'L1'}");
    look_until(&t, said(&t, "note"));
    check(strstr(json_string_value(json_object_get(said(&t, "note"), "text")), "time is 0 again"));
    leave(&t);
}

/* ---- other files ---- */

static int number_of(const table *t, const char *name) {
    const json_t *files = json_object_get(t->seen.stage, "files");
    for (size_t i = 0; i < json_array_size(files); i++)
        if (!strcmp(json_string_value(json_array_get(files, i)), name))
            return (int)i;
    fail_msg("%s is not offered", name);
    return -1;
}

static void open_file(table *t, const char *name) {
    char text[64];
    snprintf(text, sizeof text, "{'do': 'open', 'file': %d}", number_of(t, name));
    const uint32_t before = t->seen.generation;
    order(t, text);
    look_until(t, t->seen.generation > before);
    const int frames = t->frames;
    look_until(t, t->frames > frames);
    check(!strcmp(json_string_value(json_object_get(t->seen.stage, "file")), name));
}

static void write_mesh(bough_context *ctx, const char *name) {
    bough_box_def def = bough_default_box_def();
    bough_mesh *mesh;
    def.size[0] = 2, def.size[1] = def.size[2] = 0.5;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    check_ok(ctx, bough_mesh_write(ctx, mesh, test_path(name)));
    bough_mesh_destroy(ctx, mesh);
}

static double widest(table *t) {
    double most = 0;
    viewer_draw(&t->seen, 0);
    for (int32_t v = 0; v < t->seen.layers[0].vertex_count; v++)
        most = fmax(most, (double)t->seen.layers[0].drawn[3 * v]);
    return most;
}

/* Scenes, components and meshes below the folder are offered; nothing else, and nothing outside of it. */
static void other_files_are_opened(void **state) {
    (void)state;
    mkdir(test_path("shelf"), 0700);
    mkdir(test_path("shelf/deep"), 0700);
    bough_context *ctx = test_context(1);
    write_mesh(ctx, "shelf/box.msh");
    write_mesh(ctx, "shelf/deep/box.obj");
    bough_context_destroy(ctx);
    /* none of these is a scene */
    write_scene("shelf/notes.json", "{'hello': 1}");
    write_scene("shelf/no_bough.json", "{'mesh': 'box.msh'}");
    write_scene("shelf/no_mesh.json", "{'bough': 1}");
    write_scene("shelf/no_twig.json", "{'bough': 1, 'mesh': 'box.msh', 'interfaces': {}}");
    write_scene("shelf/no_leaf.json", "{'bough': 1, 'mesh': 'box.msh', 'basis': {}}");
    write_scene("shelf/.no_secret.json", STILL);
    write_scene("shelf/still.json", STILL);
    table t = sit_down(write_scene("shelf/chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    check(!strcmp(json_string_value(json_object_get(t.seen.stage, "file")), "chain.json"));
    const json_t *files = json_object_get(t.seen.stage, "files");
    for (size_t i = 0; i < json_array_size(files); i++) {
        const char *name = json_string_value(json_array_get(files, i));
        check(name[0] != '/' && !strstr(name, "..") && strcmp(name, "notes.json") != 0 && !strstr(name, "no_"));
    }
    order(&t, "{'do': 'keep', 'name': 'of the chain'}");
    open_file(&t, "box.msh");
    check_int(t.seen.layers[0].part_count, 1);
    check_near(widest(&t), 2, 1e-6);
    check(json_is_true(json_object_get(said(&t, "settings"), "paused"))); /* nobody expects it to fall */
    check_int(json_array_size(states_of(&t)), 0);
    open_file(&t, "deep/box.obj");
    check_near(widest(&t), 2, 0.01);
    open_file(&t, "still.json");
    check_int(t.seen.layers[0].part_count, 3);
    check_near(widest(&t), 1.5, 1e-6);
    steps(&t, 2);
    check(!said(&t, "error"));
    leave(&t);
}

/* bough view leaf.bough: a part of it, by the coordinates of its file. */
static void a_component_is_shown_by_itself(void **state) {
    (void)state;
    const char *path = write_scene("chain.json", HANGING);
    table t = sit_down(path, "tree", true); /* cooks it */
    leave(&t);
    t = sit_down(test_path("chain.cooked/b.bough"), NULL, false);
    look_until(&t, t.frames > 0);
    check_int(t.seen.layers[0].part_count, 1);
    check(json_is_true(json_object_get(said(&t, "settings"), "paused")));
    bough_context *ctx = test_context(1);
    bough_component *component;
    check_ok(ctx, bough_component_load(ctx, test_path("chain.cooked/b.bough"), &component));
    viewer_draw(&t.seen, 0);
    check_int(t.seen.layers[0].vertex_count, component->surface.vertex_count);
    check_below(worst_difference(t.seen.layers[0].drawn, component->surface.position, component->surface.vertex_count),
                1e-6);
    bough_component_destroy(ctx, component);
    bough_context_destroy(ctx);
    leave(&t);
}

/* Whoever names a file that is not there, or is something else, is told so. */
static void what_is_no_file_is_told(void **state) {
    (void)state;
    static const char *const names[] = {"none.bough", "none.msh", "text.bough", "text.obj"};
    test_write_text(test_path("text.bough"), "hello");
    test_write_text(test_path("text.obj"), "hello");
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *scene;
        bool at_rest;
        check(view_open_file(ctx, test_path(names[i]), test_path(""), &scene, &at_rest) != BOUGH_OK);
        check(scene == NULL && at_rest);
        print_message("%s\n", bough_message(ctx));
        check(strstr(bough_message(ctx), names[i]));
        check(!strstr(bough_message(ctx), "extension"));
    }
    bough_context_destroy(ctx);
}

static void what_cannot_be_opened_leaves_all_as_it_was(void **state) {
    (void)state;
    mkdir(test_path("bad"), 0700);
    write_scene("bad/broken.json", "{'bough': 1, 'mesh': 'nothing.msh'}");
    test_write_text(test_path("bad/empty.msh"), "$MeshFormat\n");
    table t = sit_down(write_scene("bad/chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    for (int k = 0; k < 2; k++) {
        char text[64];
        forget(&t, "error");
        snprintf(text, sizeof text, "{'do': 'open', 'file': %d}", number_of(&t, k ? "empty.msh" : "broken.json"));
        order(&t, text);
        look_until(&t, said(&t, "error"));
        steps(&t, 2);
        check_int(t.seen.generation, 1);
    }
    order(&t, "{'do': 'reset'}"); /* of the scene that is shown */
    look_until(&t, t.seen.layers[0].time == 0);
    leave(&t);
}

/* ---- motors ---- */

#define LINK(name, x) \
    "{'name': '" name "', 'position': [" x ", 0, 0], 'density': 1000, 'shape': {'box': [0.2, 0.02, 0.02]}}"
#define JOINT(name, parent, child, x)                                                                                \
    "{'name': '" name "', 'kind': 'hinge', 'parent': '" parent "', 'child': '" child "', 'position': [" x ", 0, 0]," \
    "'axis': [0, 1, 0], 'stiffness': 50, 'damping': 1}"
#define ARM                                                                                                  \
    "{'bough': 1, 'links': [{'name': 'wall'}," LINK("a", "0.1") "," LINK("b", "0.3") "], 'joints': [" JOINT( \
        "shoulder", "wall", "a",                                                                             \
        "0") "," JOINT("elbow", "a", "b",                                                                    \
                       "0.2") "], 'end_effectors': [{'name': 'tip', "                                        \
                              "'link': 'b', 'position': [0.4, 0, 0]}], 'curves': {'still': [[0, 0], [1, "    \
                              "0]]}, 'motors': [{'joint': 'elbow', 'curve': 'still'}], 'time': {'dt': 0.002" \
                              ", 'duration': 1}}"

static void motors_are_taken_over(void **state) {
    (void)state;
    table t = sit_down(write_scene("arm.json", ARM), NULL, true);
    look_until(&t, t.frames > 0);
    const json_t *motor = json_array_get(json_object_get(t.seen.stage, "motors"), 0);
    check(!strcmp(json_string_value(json_object_get(motor, "name")), "elbow"));
    check(!strcmp(json_string_value(json_object_get(motor, "unit")), "rad"));
    const int32_t tip = viewer_nearest(&t.seen, 2, 0.4, 0, 0);
    const double before = (double)viewer_at(&t.seen, 2, tip)[2];
    order(&t, "{'do': 'motor', 'motor': 0, 'value': 0.1}");
    look_until(&t, json_is_true(json_array_get(json_object_get(said(&t, "settings"), "motors"), 0)));
    steps(&t, 300);
    check_near((double)viewer_at(&t.seen, 2, tip)[2] - before, -0.2 * sin(0.1), 0.002);
    forget(&t, "numbers");
    look_until(&t, said(&t, "numbers"));
    check_near(json_number_value(json_array_get(json_object_get(said(&t, "numbers"), "motors"), 0)), 0.1, 1e-9);
    order(&t, "{'do': 'motor'}");
    look_until(&t, json_is_false(json_array_get(json_object_get(said(&t, "settings"), "motors"), 0)));
    steps(&t, 300);
    check_near((double)viewer_at(&t.seen, 2, tip)[2], before, 0.002);
    check(!said(&t, "error"));
    leave(&t);
}

/* Two rods along x, the second of which hangs at the first in a hinge about y with a spring of 5 N m / rad. */
#define ELBOW                                                                                                     \
    "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.5, 0.05, 0.05], " \
    "'cells': [5, 1, 1]}, 'material': {'young': 1e9, 'poisson': 0.3, 'density': 500}, 'interfaces': {'base': "    \
    "{'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 6}, 'samples': {'contact': 0, 'stress': 0}}}, "   \
    "'parts': [{'name': 'upper', 'component': 'rod'}, {'name': 'lower', 'component': 'rod', 'parent': 'upper', "  \
    "'joint': {'kind': 'hinge', 'axis': [0, 1, 0], 'stiffness': 5, 'damping': 0.5}}], 'gravity': [0, 0, 0], "     \
    "'time': {'dt': 0.01, 'duration': 1}}"

/* The slider of a part's joint is a torque: the part turns by torque / stiffness, and back when it is let go. */
static void parts_are_turned_in_their_joints(void **state) {
    (void)state;
    table t = sit_down(write_scene("elbow.json", ELBOW), "tree", true);
    t.dt = 0.01;
    look_until(&t, t.frames > 0);
    check_int(json_array_size(json_object_get(t.seen.stage, "motors")), 1);
    const json_t *motor = json_array_get(json_object_get(t.seen.stage, "motors"), 0);
    check(!strcmp(json_string_value(json_object_get(motor, "name")), "lower"));
    check(!strcmp(json_string_value(json_object_get(motor, "unit")), "N m"));
    const double high = json_number_value(json_object_get(motor, "high"));
    check(high >= 0.5 && json_number_value(json_object_get(motor, "low")) == -high);
    const int32_t tip = viewer_nearest(&t.seen, 1, 1, 0, 0);
    const double before = (double)viewer_at(&t.seen, 1, tip)[2];
    static const double torques[] = {0.5, -0.25, NAN};
    for (int k = 0; k < 3; k++) {
        char text[64];
        const bool held = k < 2;
        snprintf(text, sizeof text, "{'do': 'motor', 'motor': 0, 'value': %g}", torques[k]);
        order(&t, held ? text : "{'do': 'motor'}");
        look_until(&t, json_boolean_value(json_array_get(json_object_get(said(&t, "settings"), "motors"), 0)) == held);
        steps(&t, 300);
        const double risen = (double)viewer_at(&t.seen, 1, tip)[2] - before;
        print_message("%g N m: %g m\n", torques[k], risen);
        check_near(risen, held ? -0.5 * sin(torques[k] / 5) : 0, 1e-3); /* about y: what points along x goes down */
        forget(&t, "numbers");
        look_until(&t, said(&t, "numbers"));
        check_near(json_number_value(json_array_get(json_object_get(said(&t, "numbers"), "motors"), 0)),
                   held ? torques[k] : 0, 1e-9);
    }
    check(!said(&t, "error"));
    leave(&t);
}

/* ---- picking ---- */

#define TWO_SIZES                                                                                                     \
    "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.5, 0.05, 0.05], "     \
    "'cells': [5, 1, 1]}, 'material': {'young': 1e7, 'poisson': 0.3, 'density': 500}, 'interfaces': {'base': "        \
    "{'select': 'x0'}}, 'basis': {'r': 6}, 'samples': {'contact': 0, 'stress': 0}}}, 'parts': [{'name': 'small', "    \
    "'component': 'rod'}, {'name': 'large', 'component': 'rod', 'scale': 2, 'position': [0, 1, 0]}], 'time': {'dt': " \
    "0.005, 'duration': 1}}"

/* The same rod twice as large swings half as fast, f ~ sqrt(E) / length, and is eight times as heavy. */
static void a_larger_part_is_slower(void **state) {
    (void)state;
    table t = sit_down(write_scene("sizes.json", TWO_SIZES), "tree", true);
    double hz[2], mass[2];
    look_until(&t, t.frames > 0);
    for (int k = 0; k < 2; k++) {
        forget(&t, "pick");
        order(&t, k ? "{'do': 'pick', 'part': 1}" : "{'do': 'pick', 'part': 0}");
        look_until(&t, said(&t, "pick"));
        hz[k] = json_number_value(json_array_get(json_object_get(said(&t, "pick"), "frequencies"), 0));
        mass[k] = json_number_value(json_object_get(said(&t, "pick"), "mass"));
    }
    check(hz[0] > 1);
    check_near(hz[1], 0.5 * hz[0], 1e-9 * hz[0]);
    check_near(mass[1], 8 * mass[0], 1e-9 * mass[1]);
    leave(&t);
}

/* ---- stress ---- */

/* The full engine's stress is one number for each vertex, the mean of the elements there, as `pick` tells it: large at
 * the root of a beam that hangs, small at its tip. */
static void stress_of_a_body_is_a_field(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "full", true);
    look_until(&t, t.frames > 0);
    steps(&t, 60);
    order(&t, "{'do': 'colour', 'what': 1}");
    look_until(&t, t.coloured == 1 && t.coloured_at > 0.119 && t.field);
    const double ends[2] = {0, 1.5};
    double stress[2];
    for (int k = 0; k < 2; k++) {
        char text[64];
        const int32_t vertex = viewer_nearest(&t.seen, 0, ends[k], 0.1, 0.1);
        stress[k] = (double)t.colours[0] * t.field[vertex] / 65535;
        snprintf(text, sizeof text, "{'do': 'pick', 'part': 0, 'vertex': %d}", vertex);
        forget(&t, "pick");
        order(&t, text);
        look_until(&t, said(&t, "pick"));
        /* the corner of the mesh that is there, by its number in the mesh: 16 x 2 x 2 vertices, x first */
        const int32_t number = viewer_int(said(&t, "pick"), "vertex");
        check_int(number % 16, k ? 15 : 0);
        check_int(number / 16, 3);
        check_near(stress[k], json_number_value(json_object_get(said(&t, "pick"), "stress")),
                   2e-5 * (double)t.colours[0]);
    }
    print_message("root %g Pa, tip %g Pa\n", stress[0], stress[1]);
    check(stress[0] > 500 && stress[1] < 0.1 * stress[0]);
    leave(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_state_comes_back),
        cmocka_unit_test(states_have_their_limits),
        cmocka_unit_test(time_can_be_turned_back),
        cmocka_unit_test(a_ghost_says_that_time_begins_anew),
        cmocka_unit_test(other_files_are_opened),
        cmocka_unit_test(a_component_is_shown_by_itself),
        cmocka_unit_test(what_is_no_file_is_told),
        cmocka_unit_test(what_cannot_be_opened_leaves_all_as_it_was),
        cmocka_unit_test(parts_are_turned_in_their_joints),
        cmocka_unit_test(motors_are_taken_over),
        cmocka_unit_test(a_larger_part_is_slower),
        cmocka_unit_test(stress_of_a_body_is_a_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
