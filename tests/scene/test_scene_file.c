/* Scene files: what they add to body files, every wrong file gets one sentence, nothing crashes or leaks. */
#include "hostile.h"

#include "fem/body.h"
#include "scene/entries.h"
#include "scene/scene.h"

#define BOX "'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 1, 1], 'cells': [2, 1, 1]}"
#define CURVES "'curves': {'ramp': [[0, 0], [1, 2], [3, 2], [4, -2]], 'one': [[5, 7]]}"

static void hello_scene(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, "{" BOX "}", &scene));
    check(strcmp(scene->integrator.name, "tr-bdf2") == 0);
    check_near(scene->dt, 0.01, 0);
    check_near(scene->duration, 0, 0);
    check_int(bough_body_mesh(bough_scene_body(scene))->element_count, 2);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void settings_are_passed_on(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx,
                            "{" BOX ", 'engine': {'kind': 'full'}, 'time': {'integrator': 'newmark', 'rho': 0.5,"
                            "'alpha': -0.1, 'beta': 0.3, 'gamma': 0.6, 'dt': 0.25, 'duration': 3, 'tolerance': 1e-3,"
                            "'max_iterations': 7}, 'initial': [{'velocity': [1, 2, 3]},"
                            "{'select': 'x1', 'velocity': [4, 5, 6]}],"
                            "'probes': [{'name': 'a', 'select': 'x1'}, {'name': 'b', 'stress_at': [0.7, 0.5, 0.5]},"
                            "{'name': 'c', 'stress_at': [-9, 0, 0]}]}",
                            &scene));
    check(strcmp(scene->integrator.name, "newmark") == 0);
    check_near(scene->integrator.rho, 0.5, 0);
    check_near(scene->integrator.alpha, -0.1, 0);
    check_near(scene->integrator.beta, 0.3, 0);
    check_near(scene->integrator.gamma, 0.6, 0);
    check_near(scene->integrator.tolerance, 1e-3, 0);
    check_int(scene->integrator.max_iterations, 7);
    check_near(scene->dt, 0.25, 0);
    check_near(scene->duration, 3, 0);
    const bough_mesh *mesh = bough_body_mesh(scene->body);
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        check_near(scene->velocity[3 * v + 1], mesh->vertices[3 * v] == 1 ? 5 : 2, 0);
    check_int(scene->probe_count, 3);
    check_int(scene->probes[0].count, 4);
    check_int(scene->probes[1].elements[0], 1);
    check_int(scene->probes[2].elements[0], 0);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void curves_are_linear_between_their_points(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, "{" BOX ", " CURVES "}", &scene));
    const bo_curve *ramp = &scene->drive.curves[bo_drive_find(&scene->drive, "ramp")];
    const double table[][3] = {{-1, 0, 0}, {0, 0, 2},    {0.5, 1, 2}, {1, 2, 0}, {2, 2, 0},
                               {3, 2, -4}, {3.5, 0, -4}, {4, -2, 0},  {9, -2, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        check_near(bo_curve_at(ramp, table[i][0]), table[i][1], 1e-15);
        check_near(bo_curve_slope(ramp, table[i][0]), table[i][2], 1e-15);
    }
    const bo_curve *one = &scene->drive.curves[bo_drive_find(&scene->drive, "one")];
    check_near(bo_curve_at(one, 0), 7, 0);
    check_near(bo_curve_at(one, 9), 7, 0);
    check_near(bo_curve_slope(one, 5), 0, 0);
    check_int(bo_drive_find(&scene->drive, "two"), -1);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* The later of two supports counts, whether it moves or not. */
static void supports_replace_each_other(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx,
             load_text(ctx,
                       "{" BOX ", " CURVES ", 'fix': [{'select': 'all', 'displacement': [1, 1, 1], 'curve': 'ramp'},"
                       "{'select': 'x1', 'axes': 'xy', 'displacement': [0.5, 0, 0]},"
                       "{'select': 'x1', 'axes': 'y', 'displacement': [0, 3, 0], 'curve': 'one'}]}",
                       &scene));
    const bough_mesh *mesh = bough_body_mesh(scene->body);
    double q[36], v[36];
    check_int(3 * mesh->vertex_count, 36);
    bo_drive_hold(&scene->drive, scene->load_case, 0.5, q, v);
    for (int32_t k = 0; k < mesh->vertex_count; k++) {
        bool end = mesh->vertices[3 * k] == 1;
        const double expected[3] = {end ? 0.5 : 1, end ? 21 : 1, 1}, speed[3] = {end ? 0 : 2, end ? 0 : 2, 2};
        for (int d = 0; d < 3; d++) {
            check_near(q[3 * k + d], expected[d], 1e-15);
            check_near(v[3 * k + d], speed[d], 1e-15);
        }
    }
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void wrong_scenes_are_told(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const struct {
        const char *entry, *sentence;
    } cases[] = {
        {"'tme': {}", ": unknown key \"tme\"; did you mean \"time\"?"},
        {"'time': {'step': 1}", "time: unknown key \"step\""},
        {"'time': {'integrator': 'bdf3'}", "time.integrator"},
        {"'time': {'dt': 0}", "time.dt: must be positive"},
        {"'time': {'duration': -1}", "time.duration: must be positive"},
        {"'time': {'gamma': 0.4}", "time.gamma"},
        {"'time': {'rho': 1.5}", "time.rho"},
        {"'time': {'max_iterations': 0}", "time.max_iterations"},
        {"'engine': {'kind': 'tree'}", "engine.kind"},
        {"'engine': 'full'", "engine: "},
        {"'curves': []", "curves: must be an object"},
        {"'curves': {'a': []}", "curves.a: a curve has 1 to"},
        {"'curves': {'a': [[0, 1], [0, 2]]}", "curves.a[1]: times must ascend"},
        {"'curves': {'a': [[0, 1, 2]]}", "curves.a[0]: must be a point [time, value]"},
        {"'curves': {'a': [0]}", "curves.a[0]: "},
        {"'curves': {'': [[0, 1]]}", "a curve needs a name"},
        {"'fix': {'select': 'x0', 'displacement': [1, 0, 0], 'curve': 'up'}", "fix.curve: there is no curve \"up\""},
        {CURVES ", 'fix': {'select': 'x0', 'curve': 'ramp'}", "fix: names a curve, but no displacement"},
        {"'forces': [{'select': 'x0', 'force': [1, 0, 0], 'curve': 'up'}]", "forces[0].curve: there is no curve"},
        {"'gravity': {'curve': 'up'}", "gravity: \"acceleration\" is missing"},
        {"'pressures': [{'faces': 'x0', 'pressure': 1, 'curve': 'up'}]", "pressures[0].curve: there is no curve"},
        {"'initial': {'select': 'x0'}", "initial: \"velocity\" is missing"},
        {"'initial': [{'velocity': [1, 2]}]", "initial[0].velocity"},
        {"'initial': {'select': 'x>9', 'velocity': [1, 2, 3]}", "initial.select"},
        {"'probes': [{'select': 'x0'}]", "probes[0]: \"name\" is missing"},
        {"'probes': [{'name': 'a'}]", "probes[0]: \"select\" is missing"},
        {"'probes': [{'name': 'a,b', 'select': 'x0'}]", "probes[0].name: is a column"},
        {"'probes': [{'name': 'a', 'select': 'x0'}, {'name': 'a', 'select': 'x1'}]", "is the name of another probe"},
        {"'probes': [{'name': 'a', 'select': 'x0', 'stress_at': [0, 0, 0]}]", "probes[0]: unknown key \"select\""},
        {"'probes': [{'name': 'a', 'select': 'x>9'}]", "probes[0].select"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        bough_scene *scene;
        snprintf(text, sizeof text, "{" BOX ", %s}", cases[i].entry);
        bough_status status = load_text(ctx, text, &scene);
        if (status != BOUGH_ERROR_FORMAT || scene || !strstr(bough_message(ctx), cases[i].sentence))
            fail_msg("%s: %s (%s)", cases[i].entry, bough_status_name(status), bough_message(ctx));
    }
    bough_context_destroy(ctx);
}

/* Body files have no curves. */
static void body_files_stay_what_they_are(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_body *body;
    bough_load_case *load_case;
    check_ok(ctx, load_text(ctx, "{" BOX ", " CURVES "}", &scene));
    bough_scene_destroy(ctx, scene);
    check_fails(ctx, bough_body_load(ctx, test_path("scene.json"), &body, &load_case), BOUGH_ERROR_FORMAT,
                "unknown key \"curves\"");
    (void)load_text(ctx, "{" BOX ", 'fix': {'select': 'x0', 'displacement': [1, 0, 0], 'curve': 'ramp'}}", &scene);
    check_fails(ctx, bough_body_load(ctx, test_path("scene.json"), &body, &load_case), BOUGH_ERROR_FORMAT,
                "unknown key \"curve\"");
    bough_context_destroy(ctx);
}

/* ---- hostile files ---- */

#define RICH                                                                                                        \
    "{" BOX ", " CURVES ", 'fix': {'select': 'x0', 'displacement': [1, 0, 0], 'curve': 'ramp'},"                    \
    "'gravity': {'acceleration': [0, 0, -1], 'curve': 'one'}, 'forces': [{'select': 'x1', 'force': [1, 0, 0],"      \
    "'curve': 'ramp'}], 'pressures': [{'faces': 'z1', 'pressure': 2, 'curve': 'one'}],"                             \
    "'initial': {'select': 'x1', 'velocity': [1, 0, 0]}, 'time': {'integrator': 'bdf2', 'dt': 0.1, 'duration': 1}," \
    "'probes': [{'name': 'a', 'select': 'x1'}, {'name': 'b', 'stress_at': [0, 0, 0]}]}"

static void truncations_and_mutations_do_no_harm(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, RICH, &scene));
    bough_scene_destroy(ctx, scene);
    char text[] = RICH;
    const size_t length = sizeof text - 1;
    for (size_t i = 0; i < length; i++) {
        char kept = text[i];
        text[i] = 0;
        check(load_text(ctx, text, &scene) != BOUGH_OK);
        text[i] = kept;
    }
    test_random r = {3};
    static const char letters[] = "{}[]',:0129eE.-xyz\\ ";
    for (int k = 0; k < (test_long() ? 20000 : 1500); k++) {
        char mutated[sizeof text];
        memcpy(mutated, text, sizeof text);
        for (int i = 0; i < 1 + k % 3; i++)
            mutated[test_bits(&r) % length] = letters[test_bits(&r) % (sizeof letters - 1)];
        if (load_text(ctx, mutated, &scene) == BOUGH_OK)
            bough_scene_destroy(ctx, scene);
        else
            check(bough_message(ctx)[0] && !scene);
    }
    bough_context_destroy(ctx);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    static const char *const rich = RICH;
    check_failed_allocations(read_scene, &rich, 1);
}

/* ---- docs ---- */

static void the_schema_has_the_readers_keys(void **state) {
    (void)state;
    const struct {
        const char *name;
        const char *const *keys;
    } blocks[] = {{"fix", KEYS(BO_MOVING_FIX_KEYS)},
                  {"force", KEYS(BO_MOVING_FORCE_KEYS)},
                  {"pressure", KEYS(BO_MOVING_PRESSURE_KEYS)},
                  {"gravity", KEYS(BO_MOVING_GRAVITY_KEYS)},
                  {"engine", KEYS(BO_ENGINE_KEYS)},
                  {"time", KEYS(BO_TIME_KEYS)},
                  {"initial", KEYS(BO_INITIAL_KEYS)},
                  {"probe", KEYS(BO_PROBE_KEYS)},
                  {"stress_probe", KEYS(BO_STRESS_PROBE_KEYS)},
                  {"contact_probe", KEYS(BO_CONTACT_PROBE_KEYS)},
                  {"part_probe", KEYS(BO_PART_PROBE_KEYS)},
                  {"part_stress_probe", KEYS(BO_PART_STRESS_PROBE_KEYS)},
                  {"part_force", KEYS(BO_PART_FORCE_KEYS)},
                  {"wind", KEYS(BO_MOVING_WIND_KEYS)},
                  {"wind_change", KEYS(BO_WIND_KEYS)},
                  {"event", KEYS(BO_EVENT_KEYS)},
                  {"break", KEYS(BO_BREAK_KEYS)},
                  {"break_tie", KEYS(BO_BREAK_TIE_KEYS)},
                  {"track_key", KEYS(BO_TRACK_KEYS)},
                  {"component", KEYS(BO_COMPONENT_BLOCK_KEYS)},
                  {"component_file", KEYS(BO_READY_COMPONENT_KEYS)},
                  {"component_to_cook", KEYS(BO_COOK_COMPONENT_KEYS)},
                  {"part", KEYS(BO_PART_KEYS)},
                  {"joint", KEYS(BO_JOINT_KEYS)},
                  {"tie", KEYS(BO_TIE_KEYS)},
                  {"object", KEYS(BO_OBJECT_KEYS)},
                  {"object_parts", KEYS(BO_GROUP_KEYS)},
                  {"object_scene", KEYS(BO_SCENE_OBJECT_KEYS)},
                  {"place", KEYS(BO_PLACE_KEYS)},
                  {"paint", KEYS(BO_PAINT_KEYS)},
                  {"object_basis", KEYS(BO_OBJECT_BASIS_KEYS)},
                  {"object_samples", KEYS(BO_OBJECT_SAMPLES_KEYS)},
                  {"link", KEYS(BO_LINK_KEYS)},
                  {"link_joint", KEYS(BO_LINK_JOINT_KEYS)},
                  {"end_effector", KEYS(BO_END_EFFECTOR_KEYS)},
                  {"motor", KEYS(BO_MOTOR_KEYS)},
                  {"link_force", KEYS(BO_LINK_FORCE_KEYS)},
                  {"link_probe", KEYS(BO_LINK_PROBE_KEYS)},
                  {"touch_probe", KEYS(BO_TOUCH_PROBE_KEYS)},
                  {"joint_probe", KEYS(BO_JOINT_PROBE_KEYS)},
                  {"collide", KEYS(BO_COLLIDE_KEYS)},
                  {"link_touch", KEYS(BO_LINK_TOUCH_KEYS)},
                  {"rigid_body", KEYS(BO_RIGID_BODY_KEYS)},
                  {"full_body", KEYS(BO_FULL_BODY_KEYS)},
                  {"obstacle", KEYS(BO_OBSTACLE_KEYS)},
                  {"body_obstacle", KEYS(BO_BODY_OBSTACLE_KEYS)},
                  {"contact", KEYS(BO_BODY_CONTACT_KEYS)},
                  {"shape", KEYS(BO_SHAPE_KEYS)},
                  {"shape_mesh", KEYS(BO_SHAPE_MESH_KEYS)},
                  {"height_field", KEYS(BO_HEIGHT_FIELD_KEYS)},
                  {"noise", KEYS(BO_NOISE_KEYS)},
                  {"blend", KEYS(BO_BLEND_KEYS)},
                  {"blend_load", KEYS(BO_BLEND_LOAD_KEYS)},
                  {"blend_random", KEYS(BO_BLEND_RANDOM_KEYS)},
                  {"helix", KEYS(BO_HELIX_KEYS)},
                  {"ladder", KEYS(BO_LADDER_KEYS)},
                  {"y", KEYS(BO_Y_KEYS)},
                  {"ring", KEYS(BO_RING_KEYS)}};
    json_t *schema = load_schema(BOUGH_SOURCE_DIR "/docs/scene.schema.json");
    json_t *of_body = load_schema(BOUGH_SOURCE_DIR "/docs/body.schema.json");
    const json_t *defs = json_object_get(schema, "$defs");
    check_same_keys("the scene", schema, KEYS(BO_SCENE_KEYS));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        check_same_keys(blocks[i].name, json_object_get(defs, blocks[i].name), blocks[i].keys);
    /* Keys that both kinds of files share read the same in both schemas. */
    static const char *const shared[] = {"box", "rod",      "voxels", "tets",   "mesh_file",
                                         "set", "material", "region", "damping"};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        check(json_equal(json_object_get(defs, shared[i]),
                         json_object_get(json_object_get(of_body, "$defs"), shared[i])));
    json_decref(schema);
    json_decref(of_body);
}

static void the_examples_work(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, example_of_docs("## Scene files"), &scene));
    check_int(scene->probe_count, 2);
    bough_scene_destroy(ctx, scene);
    static const char *const examples[] = {"beam", "pendulum"};
    for (size_t i = 0; i < 2; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/examples/%s/scene.json", BOUGH_SOURCE_DIR, examples[i]);
        check_ok(ctx, bough_scene_load(ctx, path, &scene));
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_scene),
        cmocka_unit_test(settings_are_passed_on),
        cmocka_unit_test(curves_are_linear_between_their_points),
        cmocka_unit_test(supports_replace_each_other),
        cmocka_unit_test(wrong_scenes_are_told),
        cmocka_unit_test(body_files_stay_what_they_are),
        cmocka_unit_test(truncations_and_mutations_do_no_harm),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(the_schema_has_the_readers_keys),
        cmocka_unit_test(the_examples_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
